//! Replays against closed forms: landing, commands, windows, the state they start from.

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use common::*;
use headland_base::{SimDuration, SimTime};
use headland_judge::compare::Sampling;
use headland_sim::{Command, Mode, State};
use headland_validate::placing::{Known, place};
use headland_validate::source::{Moment, Names};
use headland_validate::{Between, Experiment, Replay, ReplayOptions, Stopped, Told};

fn start() -> SimTime {
    SimTime::from_secs(1_700_000_000.25).expect("a time")
}

/// A parabola is met at every odd nanosecond: the start is read off the first rows, and every
/// landing is exact.
#[test]
fn a_fall_is_met_at_every_sample() {
    let times = jittered(start(), 300);
    let fall = signal("ball/pose/z", &times, |t| 42.0 + 3.0 * t - 4.905 * t * t);
    let drift = signal("ball/pose/x", &times, |t| 1.0 - 0.5 * t);
    let speed = signal("ball/linear_vel/z", &times[5..], |t| {
        3.0 - 9.81 * (t + (times[5] - times[0]).secs())
    });
    let wanted = [&fall, &speed, &drift].map(|signal| signal.series.values.clone());
    let experiment = Arc::new(experiment(vec![fall, speed, drift]));
    let model = exactly(world_of(BALL));
    let options = ReplayOptions::new(ms(5.0));
    let mut replay = Replay::new(model, engine("native"), experiment, options).unwrap();
    let simulated = replay.run().unwrap();
    for (got, wanted) in simulated.values.iter().zip(&wanted) {
        assert!(furthest(got, wanted) < 2e-9, "{}", furthest(got, wanted));
    }
    let done = &simulated.done;
    assert_eq!((done.dt_max, done.dt_mean_secs), (SimDuration::ZERO, 0.0));
    assert!(done.n_shortened > 250, "steps were shortened: {}", done.n_shortened);
    assert_eq!((done.n_resets, done.contained.len()), (0, 0));
}

#[test]
fn the_same_bits_twice_and_from_a_fresh_replay() {
    let times = jittered(start(), 200);
    let signals = || {
        vec![
            signal("shoulder/position", &times, |t| 1.2 - 0.1 * t),
            signal("elbow/position", &times, |t| 0.6 + 0.2 * t),
        ]
    };
    let fresh = || {
        let options = ReplayOptions { window: Some(ms(500.0)), ..ReplayOptions::new(ms(1.0)) };
        let experiment = Arc::new(experiment(signals()));
        let model = model_of(shipped("double_pendulum.sdf"));
        Replay::new(model, engine("native"), experiment, options).unwrap()
    };
    let mut replay = fresh();
    let first = replay.run().unwrap().clone();
    assert_eq!(first.done.n_resets, 3);
    assert_eq!(*replay.run().unwrap(), first, "a run starts from the same state");
    let mut n_ticks = 0;
    let stopped = replay.run_until(&mut |_| {
        n_ticks += 1;
        if n_ticks == 700 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(Stopped::Interrupted(_))));
    assert_eq!(*replay.run().unwrap(), first, "also after one that was broken off");
    assert_eq!(*fresh().run().unwrap(), first);
}

/// A force on a rail from an odd moment on, and later: x = F/(2m)·(t − t₁)², to the nanosecond.
#[test]
fn commands_come_into_force_at_their_own_nanosecond() {
    let times = jittered(start(), 100);
    let at = |nanos: i64| start() + SimDuration::from_nanos(nanos);
    let effort = |target: f64| Command { mode: Mode::Effort, target };
    // One from before the start is in force at the start.
    let told = [(at(-5_000_000_000), effort(0.0)), (at(123_456_789), effort(6.0))];
    let told = || Told::new(told.iter().map(|(t, c)| (*t, 0, *c)).collect());
    for delay in [SimDuration::ZERO, SimDuration::from_nanos(31_415_926)] {
        let from = 0.123_456_789 + delay.secs();
        let form = |t: f64| if t < from { 0.0 } else { 1.5 * (t - from) * (t - from) };
        let place = signal("rail/position", &times, form);
        let force = signal("rail/effort", &times, |t| if t <= from { 0.0 } else { 6.0 });
        let wanted = [place.series.values.clone(), force.series.values.clone()];
        let mut repeated = experiment(vec![place, force]);
        repeated.told = told();
        let options = ReplayOptions { command_delay: delay, ..ReplayOptions::new(ms(4.0)) };
        let model = exactly(world_of(RAIL));
        let mut replay = Replay::new(model, engine("native"), Arc::new(repeated), options).unwrap();
        let simulated = replay.run().unwrap();
        for (got, wanted) in simulated.values.iter().zip(&wanted) {
            assert!(furthest(got, wanted) < 1e-12, "{}", furthest(got, wanted));
        }
    }
}

/// A force that grows evenly between two commands: x = F'·t³/(6m), where it is followed finely.
#[test]
fn commands_may_be_on_a_line() {
    let times = jittered(start(), 60);
    let effort = |target: f64| Command { mode: Mode::Effort, target };
    let end = start() + ms(1_000.0);
    let place = signal("rail/position", &times, |t| 12.0 * t * t * t / 12.0);
    let wanted = place.series.values.clone();
    let mut repeated = experiment(vec![place]);
    repeated.told = Told::new(vec![(start(), 0, effort(0.0)), (end, 0, effort(12.0))]);
    let options = ReplayOptions { between: Between::Linear, ..ReplayOptions::new(ms(0.1)) };
    let model = exactly(world_of(RAIL));
    let mut replay = Replay::new(model, engine("native"), Arc::new(repeated), options).unwrap();
    let far = furthest(&replay.run().unwrap().values[0], &wanted);
    assert!(far < 2e-4 && far > 1e-6, "held for a step of 0.1 ms: {far}");
}

/// With windows an error of the model shows as what it does within one window; without, as all
/// it ever did.
#[test]
fn windows_start_again_from_what_was_measured() {
    let times = jittered(start(), 400);
    let last = (times[399] - times[0]).secs();
    // Measured where things fall by 1 m/s² more than in the model.
    let fall = || signal("ball/pose/z", &times, |t| 42.0 - 5.405 * t * t);
    let run = |window: Option<SimDuration>| {
        let options = ReplayOptions { window, ..ReplayOptions::new(ms(5.0)) };
        let experiment = Arc::new(experiment(vec![fall()]));
        let model = exactly(world_of(BALL));
        let mut replay = Replay::new(model, engine("native"), experiment, options).unwrap();
        let simulated = replay.run().unwrap();
        (furthest(&simulated.values[0], &fall().series.values), simulated.done.n_resets)
    };
    let (whole, no_resets) = run(None);
    assert!((whole - 0.5 * last * last).abs() < 1e-6, "{whole}");
    assert_eq!(no_resets, 0);
    let (windowed, n_resets) = run(Some(ms(200.0)));
    // The window ends with the first sample that is not before its end.
    let longest = 0.5 * 0.213 * 0.213;
    assert!(windowed <= longest && windowed >= 0.5 * 0.2 * 0.2, "{windowed}");
    assert!((15..=20).contains(&n_resets), "{n_resets} in {last} s");
}

/// On a grid: the nearest step is at most half a step away, and the way between two steps is
/// straight.
#[test]
fn samples_on_a_grid() {
    let times = jittered(start(), 200);
    let fall = |t: f64| 42.0 + 3.0 * t - 4.905 * t * t;
    let run = |sampling: Sampling, window: Option<SimDuration>| {
        let options =
            ReplayOptions { sampling: Some(sampling), window, ..ReplayOptions::new(ms(4.0)) };
        let experiment = Arc::new(experiment(vec![signal("ball/pose/z", &times, fall)]));
        let model = exactly(world_of(BALL));
        let mut replay = Replay::new(model, engine("native"), experiment, options).unwrap();
        replay.run().unwrap().clone()
    };
    let seconds: Vec<f64> = times.iter().map(|time| (*time - times[0]).secs()).collect();
    for window in [None, Some(ms(300.0))] {
        let near = run(Sampling::Nearest, window);
        let stamps = &near.times.as_ref().unwrap()[0];
        for ((stamp, time), value) in stamps.iter().zip(&times).zip(&near.values[0]) {
            assert!((*stamp - *time).nanos().abs() <= 2_000_000);
            let wanted = fall((*stamp - times[0]).secs());
            assert!((value - wanted).abs() < 1e-8, "{value} {wanted}");
        }
        assert!(near.done.dt_max <= ms(2.0) && near.done.dt_max > ms(1.5));
        assert!((0.0005..0.0015).contains(&near.done.dt_mean_secs), "{}", near.done.dt_mean_secs);
        assert_eq!(near.done.n_shortened, 0);
        // A chord of a parabola over h = 4 ms is at most g·h²/8 off.
        let between = run(Sampling::Interpolate, window);
        let wanted: Vec<f64> = seconds.iter().map(|t| fall(*t)).collect();
        let far = furthest(&between.values[0], &wanted);
        assert!(far <= 9.81 * 0.004 * 0.004 / 8.0 + 1e-9 && far > 1e-5, "{far}");
        assert!(between.times.is_none() && between.done.dt_max <= ms(2.0));
    }
}

/// A pendulum on every embedded engine against an integration of its own equation.
#[test]
fn pendulums_agree_with_their_equation() {
    let times = jittered(start(), 250);
    let seconds: Vec<f64> = times.iter().map(|time| (*time - times[0]).secs()).collect();
    let k = 9.81 / 1.0104;
    let truth = swing(k, (0.5, 0.0), &seconds);
    let (angles, rates): (Vec<f64>, Vec<f64>) = truth.into_iter().unzip();
    let run = |name: &str, step: SimDuration, is_exact: bool| {
        let mut angle = signal("hinge/pos", &times, |_| 0.0);
        let mut rate = signal("pendulum::hinge/velocity", &times, |_| 0.0);
        angle.series.values.clone_from(&angles);
        rate.series.values.clone_from(&rates);
        let experiment = Arc::new(experiment(vec![angle, rate]));
        let world = shipped("pendulum.sdf");
        let model = if is_exact { exactly(world) } else { model_of(world) };
        let options = ReplayOptions::new(step);
        let mut replay = Replay::new(model, engine(name), experiment, options).unwrap();
        let simulated = replay.run().unwrap();
        (furthest(&simulated.values[0], &angles), furthest(&simulated.values[1], &rates))
    };
    let (angle, rate) = run("native", ms(1.0), true);
    assert!(angle < 1e-9 && rate < 1e-8, "rk4: {angle} {rate}");
    for name in ["native", "rapier"] {
        let (coarse, _) = run(name, ms(2.0), false);
        let (fine, rate) = run(name, ms(0.5), false);
        assert!(fine < 2e-3 && rate < 1e-2, "{name}: {fine} {rate}");
        assert!(fine < 0.5 * coarse, "{name}: a finer step is nearer: {coarse} {fine}");
    }
}

#[test]
fn what_cannot_be_repeated_is_refused_before_it_starts() {
    let times = jittered(start(), 50);
    let refused = |key: &str, options: ReplayOptions| {
        let experiment = Arc::new(experiment(vec![signal(key, &times, |t| t)]));
        let model = model_of(shipped("pendulum.sdf"));
        let faults = Replay::new(model, engine("native"), experiment, options).err().unwrap();
        let fault = &faults[0];
        format!("{}: {} | {}", fault.code, fault.message, fault.help.clone().unwrap_or_default())
    };
    let unknown = refused("hinge/positon", ReplayOptions::new(ms(1.0)));
    assert!(unknown.contains("unknown-key") && unknown.contains("`hinge/position`"), "{unknown}");
    let nearest =
        ReplayOptions { sampling: Some(Sampling::Nearest), ..ReplayOptions::new(ms(20.0)) };
    let coarse = refused("hinge/position", nearest);
    assert!(coarse.contains("step-too-coarse") && coarse.contains("of 50 samples"), "{coarse}");
    let model = model_of(shipped("pendulum.sdf"));
    let nothing = Arc::new(experiment(Vec::new()));
    let options = ReplayOptions::new(ms(1.0));
    let faults = Replay::new(model, engine("native"), nothing, options).err().unwrap();
    assert_eq!(faults[0].code, "no-samples");
    let mut told = experiment(vec![signal("hinge/position", &times, |t| t)]);
    let command = Command { mode: Mode::Position, target: 1.0 };
    told.told = Told::new(vec![(start(), 0, command)]);
    let model = model_of(shipped("pendulum.sdf"));
    let options = ReplayOptions::new(ms(1.0));
    let faults = Replay::new(model, engine("native"), Arc::new(told), options).err().unwrap();
    assert_eq!(faults[0].code, "no-gains");
}

/// A replay with another model, delay and step is a fresh one with them, to the bit.
#[test]
fn another_model_is_a_fresh_replay() {
    let times = jittered(start(), 150);
    let repeated = || {
        let signals = ["shoulder", "elbow"]
            .map(|joint| signal(&format!("{joint}/position"), &times, |t| 0.1 * t));
        let mut repeated = experiment(signals.to_vec());
        let command = Command { mode: Mode::Position, target: 0.3 };
        repeated.told = Told::new(vec![(start() + ms(33.3), 1, command)]);
        Arc::new(repeated)
    };
    let arm = |mass: f64| {
        let mut world = shipped("measured/arm.sdf");
        world.models[0].links[1].inertial.mass = mass;
        model_of(world)
    };
    let fresh = |mass: f64, delay: f64, step: f64| {
        let options = ReplayOptions { command_delay: ms(delay), ..ReplayOptions::new(ms(step)) };
        Replay::new(arm(mass), engine("native"), repeated(), options).unwrap()
    };
    let mut replay = fresh(1.0, 0.0, 1.0);
    let first = replay.run().unwrap().clone();
    replay.set_model_from(arm(1.7), &[]).unwrap();
    replay.set_command_delay(ms(12.34));
    replay.set_step(ms(0.7)).unwrap();
    let other = replay.run().unwrap().clone();
    assert_ne!(first.values, other.values);
    assert_eq!(other, *fresh(1.7, 12.34, 0.7).run().unwrap());
    replay.set_model_from(arm(1.0), &[]).unwrap();
    replay.set_command_delay(SimDuration::ZERO);
    replay.set_step(ms(1.0)).unwrap();
    assert_eq!(*replay.run().unwrap(), first);
}

/// A link's pose that is given sets its joint, whatever the table says of it; one that the joint
/// does not allow is refused.
#[test]
fn a_state_may_place_a_link_on_a_joint() {
    let model = || model_of(shipped("pendulum.sdf"));
    let (of, times) = (model(), jittered(start(), 50));
    let names = Names::of(&of);
    let mut known = Known::new();
    known.tell(&names.find("hinge/position").unwrap(), 0.9);
    let state = place(&of, &State::initial(&of), &known);
    let pose = ["x", "y", "z", "qx", "qy", "qz", "qw"].map(|part| {
        let key = format!("bob/pose/{part}");
        let now = Moment { model: &of, state: &state, before: None };
        let value = names.find(&key).unwrap().read(&now);
        (key, value)
    });
    let replay = |known: Vec<(String, f64)>| {
        let measured = signal("hinge/position", &times, |t| 0.5 - t);
        let experiment = Experiment { known, ..experiment(vec![measured]) };
        let options = ReplayOptions::new(ms(1.0));
        Replay::new(model(), engine("native"), Arc::new(experiment), options)
    };
    let mut placed = replay(pose.to_vec()).unwrap();
    assert_eq!(placed.started_from().n_measured, 0);
    assert!((placed.run().unwrap().values[0][0] - 0.9).abs() < 1e-9);
    // Its place alone says nothing of how a hinge is turned, and none is there.
    let Err(faults) = replay(vec![("bob/pose/x".to_string(), 5.0)]) else { panic!("refused") };
    assert_eq!(faults[0].code, "state-not-met");
    // With a joint beside it that says otherwise.
    let both = pose.iter().cloned().chain([("hinge/position".to_string(), 0.1)]).collect();
    let Err(faults) = replay(both) else { panic!("refused") };
    assert_eq!(faults[0].code, "state-not-met");
}
