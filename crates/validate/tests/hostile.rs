//! Tables and states that are hardly any go through the readers, and never take anything down.

mod common;

use std::sync::Arc;

use common::*;
use headland_base::{SimDuration, SimTime};
use headland_judge::compare::{KeyMap, Sampling, Side};
use headland_record::csv::{TableOptions, read};
use headland_validate::{Between, Experiment, Replay, ReplayOptions, Told, given, known_signals};
use proptest::prelude::*;

/// A table of words that a table may have, and of some that it may not.
fn table() -> impl Strategy<Value = String> {
    let head = prop::sample::select(vec![
        "time",
        "hinge/position",
        "hinge/velocity",
        "hinge/effort",
        "pendulum::hinge/pos",
        "hinge/",
        "/position",
        "hinge/positoin",
        "pendulum/pose/x",
        "bob/pose/qw",
        "bob/linear_vel@body/x",
        "bob/contact/force",
        "\"a/b\"/pos",
        "é/position",
        "hinge/position [deg]",
        "bob/pose/yaw",
        "pendulum/linear_acc/z",
        "x",
        "",
    ]);
    let cell = prop_oneof![
        (-1e3f64..1e3).prop_map(|x| x.to_string()),
        prop::sample::select(vec!["", "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "0", "x"])
            .prop_map(str::to_string),
    ];
    let time = prop_oneof![
        (0u32..4000).prop_map(|ms| format!("{}e-3", ms)),
        prop::sample::select(vec!["", "nan", "1e30", "-5", "9e18"]).prop_map(str::to_string),
    ];
    let row = (time, prop::collection::vec(cell, 0..6));
    (prop::collection::vec(head, 0..6), prop::collection::vec(row, 0..12)).prop_map(
        |(heads, rows)| {
            let mut out = format!("time,{}\n", heads.join(","));
            for (time, cells) in rows {
                out += &format!("{time},{}\n", cells.join(","));
            }
            out
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_table_is_an_experiment_a_state_or_a_command_or_says_why_not(
        measured in table(), told in table(), state in table(), way in 0usize..12,
    ) {
        let model = model_of(shipped("pendulum.sdf"));
        let recording = |text: &str| read(text.as_bytes(), "t.csv", &TableOptions::default()).0;
        let (log, map) = (recording(&measured), KeyMap::default());
        let side = Side::new(&log, &map);
        let (mut experiment, unread) = known_signals(&model, Experiment::of(&side, None, None));
        prop_assert!(unread.iter().all(|fault| !fault.message.is_empty()));
        experiment.told = Told::read(&recording(&told), "c.csv", &model).unwrap_or_default();
        experiment.known = given::of_table(&recording(&state), "s.csv").unwrap_or_default();
        let sampling = [None, Some(Sampling::Nearest), Some(Sampling::Interpolate)][way % 3];
        let options = ReplayOptions {
            sampling,
            window: (way % 2 == 0).then(|| ms(50.0)),
            between: if way % 4 < 2 { Between::Held } else { Between::Linear },
            command_delay: SimDuration::from_nanos(way as i64 * 1_234_567),
            gains: Some(headland_sim::Gains { kp: 5.0, kd: 0.5 }),
            ..ReplayOptions::new(ms(20.0))
        };
        let last = experiment.last().zip(experiment.first());
        if last.is_some_and(|(last, first)| last - first > ms(10_000.0)) {
            return Ok(()); // it would take its time, which is what was asked
        }
        let n_samples = experiment.signals.iter().map(|signal| signal.series.times.len());
        let n_samples: Vec<usize> = n_samples.collect();
        if let Ok(mut replay) =
            Replay::new(model, engine("native"), Arc::new(experiment), options)
        {
            if let Ok(simulated) = replay.run() {
                let lengths: Vec<usize> = simulated.values.iter().map(Vec::len).collect();
                prop_assert_eq!(lengths, n_samples);
                let again = simulated.clone();
                let bits = |all: &[Vec<f64>]| -> Vec<u64> {
                    all.iter().flatten().map(|value| value.to_bits()).collect()
                };
                let second = replay.run().expect("as the first");
                prop_assert_eq!(bits(&again.values), bits(&second.values));
            }
        }
    }

    #[test]
    fn any_text_is_a_state_of_sdf_or_says_why_not(text in "[<>/a-z='\" 0-9.\\-]{0,80}") {
        let whole = format!("<sdf><state><model name='m'>{text}</model></state></sdf>");
        for text in [text, whole] {
            if let Err(faults) = given::of_sdf(&text, "s.sdf") {
                prop_assert!(!faults.is_empty());
            }
        }
    }
}

/// Years between two rows are no reason to hang: the tick may break it off.
#[test]
fn a_long_way_can_be_broken_off() {
    let times = [SimTime::ZERO, SimTime::from_secs(1e8).unwrap()];
    let experiment = Arc::new(experiment(vec![signal("hinge/position", &times, |_| 0.5)]));
    let model = model_of(shipped("pendulum.sdf"));
    let mut replay =
        Replay::new(model, engine("native"), experiment, ReplayOptions::new(ms(1.0))).unwrap();
    let mut n_ticks = 0;
    let stopped = replay.run_until(&mut |_| {
        n_ticks += 1;
        if n_ticks < 1000 {
            std::ops::ControlFlow::Continue(())
        } else {
            std::ops::ControlFlow::Break(())
        }
    });
    assert!(stopped.is_err());
}
