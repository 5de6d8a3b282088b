//! An experiment that still goes on: row by row the same figures as from the whole.

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use common::*;
use headland_base::SimTime;
use headland_base::maths::{TAU, cos, sqrt};
use headland_judge::compare::Dropped;
use headland_validate::live::Ended;
use headland_validate::{Experiment, Live, Replay, ReplayOptions, Stopped};

fn live(keys: &[&str], options: ReplayOptions) -> Live {
    let keys = keys.iter().map(ToString::to_string).collect();
    let model = model_of(shipped("pendulum.sdf"));
    Live::new(model, engine("native"), keys, Experiment::default(), options, true)
}

#[test]
fn row_by_row_is_the_whole() {
    let times = jittered(SimTime::from_secs(100.0).unwrap(), 400);
    let swing = signal("hinge/position", &times, |t| 0.5 * cos(3.1 * t));
    let whole = {
        let experiment = Arc::new(experiment(vec![swing.clone()]));
        let model = model_of(shipped("pendulum.sdf"));
        let options = ReplayOptions::new(ms(1.0));
        let mut replay = Replay::new(model, engine("native"), experiment, options).unwrap();
        replay.run().unwrap().values[0].clone()
    };
    let mut live = live(&["hinge/position", "hinge/effort"], ReplayOptions::new(ms(1.0)));
    for (i, (time, value)) in times.iter().zip(&swing.series.values).enumerate() {
        live.row(*time, &[*value, f64::NAN]).unwrap();
        if i % 100 == 50 {
            live.row(*time, &[9.0, 9.0]).unwrap();
            live.row(times[i - 1], &[9.0, 9.0]).unwrap();
        }
    }
    live.finish(&mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    let errors: Vec<f64> = whole.iter().zip(&swing.series.values).map(|(b, a)| b - a).collect();
    let rmse = sqrt(errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64);
    let [position, effort] = live.figures() else { panic!("two keys") };
    assert_eq!((position.n, effort.n), (400, 0));
    assert!((position.rmse().unwrap() - rmse).abs() < 1e-12 * rmse, "{rmse}");
    assert_eq!(position.last, errors.last().copied(), "to the bit");
    assert_eq!(live.dropped(), Dropped { n_duplicate: 4, n_backward: 4, ..Dropped::default() });
    assert_eq!((live.n_rows(), live.latest()), (400, times.last().copied()));
}

/// Windows put it back to the rows so far.
#[test]
fn windows_keep_a_wrong_model_near() {
    let times = jittered(SimTime::ZERO, 800);
    let run = |window| {
        let mut live =
            live(&["hinge/position"], ReplayOptions { window, ..ReplayOptions::new(ms(1.0)) });
        for time in &times {
            live.row(*time, &[0.5 * cos(2.6 * time.secs())]).unwrap();
        }
        live.figures()[0].rmse().unwrap()
    };
    let (whole, windowed) = (run(None), run(Some(ms(100.0))));
    assert!(windowed < 0.05 * whole, "{windowed} {whole}");
}

/// The way to a row may be a day; whoever watches may end it, and what was compared stays.
#[test]
fn the_way_to_a_row_can_be_broken_off() {
    let mut live = live(&["hinge/position"], ReplayOptions::new(ms(1.0)));
    for time in [0.0, 0.01, 0.02, 0.03].map(|t| SimTime::from_secs(t).unwrap()) {
        live.row(time, &[0.5]).unwrap();
    }
    let mut n_steps = 0;
    let far = SimTime::from_secs(86_400.0).unwrap();
    let ended = live.row_until(far, &[0.5], &mut |_| {
        n_steps += 1;
        if n_steps < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(matches!(ended, Err(Ended::Stopped(Stopped::Interrupted(_)))), "{ended:?}");
    assert_eq!((n_steps, live.figures()[0].n), (100, 4));
}

/// A joint that counts its turns, and one of which they do not matter.
#[test]
fn full_turns_count_where_somebody_says_so() {
    let off = |wraps| {
        let keys = vec!["hinge/position".to_string()];
        let model = model_of(shipped("pendulum.sdf"));
        let (nothing, options) = (Experiment::default(), ReplayOptions::new(ms(1.0)));
        let mut live = Live::new(model, engine("native"), keys, nothing, options, wraps);
        for (i, time) in [0.0, 0.01, 0.02, 0.03].into_iter().enumerate() {
            let turns = if i == 3 { TAU } else { 0.0 };
            live.row(SimTime::from_secs(time).unwrap(), &[turns]).unwrap();
        }
        live.figures()[0].max_abs.unwrap().0
    };
    assert!(off(true) < 1e-9 && (off(false) - TAU).abs() < 1e-9, "{} {}", off(true), off(false));
}

#[test]
fn what_cannot_go_on_is_said() {
    let mut slipped = live(&["hinge/positon"], ReplayOptions::new(ms(1.0)));
    let rows = [0.0, 0.01, 0.02].map(|t| SimTime::from_secs(t).unwrap());
    assert!(slipped.row(rows[0], &[0.5]).is_ok() && slipped.row(rows[1], &[0.5]).is_ok());
    let Err(Ended::Refused(faults)) = slipped.row(rows[2], &[0.5]) else { panic!("refused") };
    assert_eq!(faults[0].code, "unknown-key");
    let mut short = live(&["hinge/position"], ReplayOptions::new(ms(1.0)));
    short.row(rows[0], &[0.5]).unwrap();
    short.finish(&mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert_eq!(short.figures()[0].n, 1, "one row is compared with itself");
    let mut nothing = live(&["hinge/position"], ReplayOptions::new(ms(1.0)));
    nothing.finish(&mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    assert_eq!(nothing.figures()[0].n, 0);
}
