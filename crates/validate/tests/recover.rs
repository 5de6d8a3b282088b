//! Known truth: numbers are planted, an experiment is made with them by another engine with an
//! integrator of its own, noise is laid over it, and tuning on the native engine has to find the
//! numbers within its own intervals.
#![allow(clippy::unwrap_used)]

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use common::planted::{dice, efforts, fitted, measured, set, time};
use common::{engine, ms, shipped};
use headland_base::{Seed, SimTime};
use headland_judge::compare::Series;
use headland_sense::noise::Dice;
use headland_sim::Model;
use headland_validate::fit::crew::with_crew;
use headland_validate::tune::{Course, Method, Plan, Saved, Tuned, Tuning, Wanted, search, tuned};
use headland_validate::{Experiment, Replay, ReplayOptions, Signal, Told};
use headland_world::parameter::{Settings, Subject, pseudo};

/// How many experiments are made; the figure.
const N_TRIALS: u64 = 50;

/// Other experiments, for whoever wants to see more than fifty: `HEADLAND_FIRST_SEED=3000`.
fn first_seed() -> u64 {
    std::env::var("HEADLAND_FIRST_SEED").map_or(0, |text| text.parse().unwrap())
}

/// Counts how often each planted number lies in its interval.
#[derive(Default)]
struct Held {
    each: Vec<(String, usize)>,
    /// Per number and trial its interval, in textbook intervals of independent noise and exact
    /// steps: intervals that hold the truth by being wide are worth nothing.
    widths: Vec<(String, f64)>,
    /// Trials in which all were in their own intervals.
    n_all: usize,
    /// Trials in which all were in those that are to hold them at once.
    n_joint: usize,
    n_trials: usize,
    /// Trials whose answer nothing speaks against.
    n_trusted: usize,
}

impl Held {
    fn count(&mut self, found: &Tuned, truth: &[(&str, f64)]) {
        let (mut is_all, mut is_joint) = (true, true);
        for (path, value) in truth {
            let number = found.numbers.iter().find(|number| number.name == *path).unwrap();
            let half = number.half_width.unwrap_or_else(|| panic!("{path}: {:?}", found.warnings));
            let is_in = (number.value - value).abs() <= half;
            is_all &= is_in;
            let joint = number.joint_half_width.unwrap();
            assert!(joint > half, "{path}: {joint} is to hold more than {half}");
            is_joint &= (number.value - value).abs() <= joint;
            let width = half / number.textbook_half_width.unwrap();
            self.widths.push((path.to_string(), width));
            if let Some((_, n)) = self.each.iter_mut().find(|(name, _)| name == path) {
                *n += usize::from(is_in);
            } else {
                self.each.push((path.to_string(), usize::from(is_in)));
            }
        }
        self.n_all += usize::from(is_all);
        self.n_joint += usize::from(is_joint);
        self.n_trials += 1;
        self.n_trusted += usize::from(found.is_trusted());
        for link in found.subject.world.links() {
            let inertial = &link.link.inertial;
            assert!(pseudo::is_physical(inertial.mass, &inertial.inertia), "{}", link.name);
        }
    }

    fn shown(&self) -> String {
        let each = self.each.iter().map(|(name, n)| {
            format!("{name}: {n} (intervals {:.1} times the textbook's)", self.width(name))
        });
        let each: Vec<String> = each.collect();
        format!(
            "of {} trials, {} trusted, {}; all at once: {}, in intervals made for that {}",
            self.n_trials,
            self.n_trusted,
            each.join(", "),
            self.n_all,
            self.n_joint
        )
    }

    /// The middle one of a number.
    fn width(&self, name: &str) -> f64 {
        let mut all: Vec<f64> = self
            .widths
            .iter()
            .filter(|(known, _)| known == name)
            .map(|(_, width)| *width)
            .collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    }

    fn at_least(&self, share: f64) -> bool {
        self.each.iter().all(|(_, n)| *n as f64 >= share * self.n_trials as f64)
    }
}

/// Every trial, half of them on another thread; what is counted does not depend on it.
fn on_two_threads(n_trials: u64, trial: &(dyn Fn(u64, &mut Held) + Sync)) -> Held {
    let half = |first: u64| {
        let mut held = Held::default();
        (first..n_trials).step_by(2).for_each(|i| trial(i, &mut held));
        held
    };
    let (mut held, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        (half(0), other.join().unwrap())
    });
    for (name, n) in other.each {
        let mine = held.each.iter_mut().find(|(known, _)| *known == name).unwrap();
        mine.1 += n;
    }
    held.widths.extend(other.widths);
    held.n_all += other.n_all;
    held.n_joint += other.n_joint;
    held.n_trials += other.n_trials;
    held.n_trusted += other.n_trusted;
    held
}

/// Mass, inertia, friction, damping and delay of a driven pendulum, all of them unknown, measured
/// at a fine step on rapier and, in every second trial, on MuJoCo where it is installed.
#[test]
fn planted_numbers_measured_on_other_engines_are_found_within_their_intervals() {
    let mujoco = headland_engines::find("mujoco").unwrap();
    let found = (mujoco.find)(mujoco);
    if let Err(why) = &found {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but there is no mujoco: {why}");
        println!("all on rapier: there is no mujoco: {why}");
    }
    const MASS: &str = "link/bob/inertial/mass";
    const INERTIA: &str = "link/bob/inertial/inertia/trace";
    const DAMPING: &str = "joint/hinge/dynamics/damping";
    const FRICTION: &str = "joint/hinge/dynamics/friction";
    const DELAY: &str = "command/delay";
    let held = on_two_threads(N_TRIALS, &|trial, held: &mut Held| {
        let engine_name = if trial % 2 == 1 && found.is_ok() { "mujoco" } else { "rapier" };
        let seed = Seed::new(first_seed() + trial).child("pendulum");
        let mut dice = dice(&seed.child("truth"));
        let truth = [
            (MASS, 0.7 + 0.8 * dice()),
            (INERTIA, 0.3 + 0.9 * dice()),
            (DAMPING, 0.05 + 0.3 * dice()),
            (FRICTION, 0.1 + 0.4 * dice()),
            (DELAY, 0.005 + 0.03 * dice()),
        ];
        let untuned = Subject { world: shipped("pendulum.sdf"), settings: Settings::default() };
        let mut planted = untuned.clone();
        truth.iter().for_each(|(path, value)| set(&mut planted, path, *value));
        let told = efforts(&[(0, 2.5)], 4.0, &seed.child("efforts"));
        let keys = [("hinge/position", 0.01), ("hinge/velocity", 0.05)];
        let experiment = measured(&planted, engine_name, &keys, told, 4.0, ms(0.1), &seed);
        let wanted = [
            (MASS, 0.3, 3.0),
            (INERTIA, 0.01, 3.0),
            (DAMPING, 0.0, 2.0),
            (FRICTION, 0.0, 2.0),
            (DELAY, 0.0, 0.1),
        ];
        held.count(&fitted(untuned, &wanted, experiment, ms(1.0), 0.95), &truth);
    });
    println!("{}", held.shown());
    assert!(held.at_least(0.9), "{}", held.shown());
    assert!(held.n_joint as f64 >= 0.9 * held.n_trials as f64, "{}", held.shown());
    assert!(held.each.iter().all(|(name, _)| held.width(name) < 1.5), "{}", held.shown());
}

/// The dampings of an arm of two joints, which pull at each other.
#[test]
fn an_arm_measured_on_another_engine_is_found() {
    let shoulder = "joint/shoulder/dynamics/damping";
    let elbow = "joint/elbow/dynamics/damping";
    let mut held = Held::default();
    for trial in 0..6 {
        let seed = Seed::new(trial).child("arm");
        let mut dice = dice(&seed.child("truth"));
        let truth = [(shoulder, 0.2 + 0.3 * dice()), (elbow, 0.1 + 0.2 * dice())];
        let untuned =
            Subject { world: shipped("double_pendulum.sdf"), settings: Settings::default() };
        let mut planted = untuned.clone();
        truth.iter().for_each(|(path, value)| set(&mut planted, path, *value));
        let told = efforts(&[(0, 1.5), (1, 0.5)], 2.0, &seed.child("efforts"));
        let keys = [("elbow/position", 0.02), ("shoulder/position", 0.02)];
        let experiment = measured(&planted, "rapier", &keys, told, 2.0, ms(0.5), &seed);
        let wanted = [(shoulder, 0.0, 2.0), (elbow, 0.0, 2.0)];
        held.count(&fitted(untuned, &wanted, experiment, ms(1.0), 0.95), &truth);
    }
    println!("{}", held.shown());
    assert!(held.each.iter().all(|(_, n)| *n >= 5), "{}", held.shown());
}

/// How often a cube that is tossed on another engine is measured anew.
const N_TOSSES: u64 = 10;

/// The friction of a tossed cube, two of whose tosses are fitted without slopes. The model is put
/// back to what was measured every 0.3 s, velocities are slopes of three noisy samples, and the
/// error jumps with every edge that lands: an interval by slopes alone was a hundred times too
/// narrow.
#[test]
fn the_friction_of_a_tossed_cube_lies_in_its_interval() {
    const NOISE: [(&str, f64, f64); 7] = [
        ("cube/pose/qw", 1.0, 0.0005),
        ("cube/pose/qx", 0.0, 0.0005),
        ("cube/pose/qy", 0.0, 0.0005),
        ("cube/pose/qz", 0.0, 0.0005),
        ("cube/pose/x", 0.0, 0.0002),
        ("cube/pose/y", 0.0, 0.0002),
        ("cube/pose/z", 0.4, 0.0002),
    ];
    let path = "surface/*/mu*";
    let untuned = Subject { world: shipped("measured/cube.sdf"), settings: Settings::default() };
    let mut planted = untuned.clone();
    set(&mut planted, path, 0.25);
    let toss = |trial: u64| {
        let seed = Seed::new(first_seed() + trial).child("toss");
        let mut dice = dice(&seed.child("throw"));
        let mut throw = |key: &str, fastest: f64| (key.to_string(), fastest * (dice() - 0.5));
        let known = vec![
            ("cube/linear_vel/x".to_string(), 1.0),
            throw("cube/linear_vel/y", 0.6),
            ("cube/linear_vel/z".to_string(), 0.5),
            throw("cube/angular_vel/x", 8.0),
            throw("cube/angular_vel/y", 8.0),
            throw("cube/angular_vel/z", 4.0),
        ];
        let times: Vec<SimTime> = (0..222).map(|i| time(f64::from(i) * 0.006757)).collect();
        let signal = |key: &str, values: Vec<f64>| Signal {
            key: key.to_string(),
            series: Series { times: times.clone(), values, ..Series::default() },
        };
        let blank = NOISE.map(|(key, start, _)| signal(key, vec![start; times.len()]));
        let blank = Experiment { signals: blank.into(), told: Told::default(), known };
        let model = Model::compile(&Arc::new(planted.world.clone())).unwrap();
        let options = ReplayOptions::new(ms(0.5));
        let mut replay = Replay::new(model, engine("rapier"), Arc::new(blank), options).unwrap();
        let values = replay.run().unwrap().values.clone();
        let mut noise = Dice::new(&seed.child("noise"));
        let noisy = |(values, (key, _, size)): (Vec<f64>, (&str, f64, f64))| {
            signal(key, values.iter().map(|v| v + size * noise.normal()).collect())
        };
        let signals = values.into_iter().zip(NOISE).map(noisy).collect();
        let experiment = Experiment { signals, ..Experiment::default() };
        let course =
            Course { name: "toss".into(), experiment: Arc::new(experiment), is_held_out: false };
        let options = ReplayOptions { window: Some(ms(300.0)), ..ReplayOptions::new(ms(1.0)) };
        let plan = Plan { engine: "native".into(), options, train_share: 1.0, fits_start: true };
        let make = || engine("native");
        let wanted = vec![Wanted::new(&untuned, path, 0.05, 1.0).unwrap()];
        let tuning = Tuning::new(untuned.clone(), wanted, vec![course], plan, &make).unwrap();
        let method = if trial % 5 == 1 { Method::Cma } else { Method::Lm };
        with_crew(&tuning, 1, |crew| {
            let mut saved = Saved::new(method, &tuning, trial);
            let watch = &mut |_: &Saved| ControlFlow::Continue(());
            let linear = search(&mut saved, &tuning, crew, 2_000, watch);
            tuned(&tuning, &saved.search, linear, crew, 0.95).unwrap()
        })
    };
    let found: Vec<(f64, f64, bool)> = std::thread::scope(|scope| {
        let half = |first: u64| (first..N_TOSSES).step_by(2).map(toss).collect::<Vec<Tuned>>();
        let other = scope.spawn(move || half(1));
        let all = [half(0), other.join().unwrap()].concat();
        let numbers = all.iter().map(|found| (&found.numbers[0], found.is_trusted()));
        numbers.map(|(one, is)| (one.value, one.half_width.unwrap_or(f64::MAX), is)).collect()
    });
    let is_held = |(value, half, _): &&(f64, f64, bool)| (value - 0.25).abs() <= *half;
    let n_held = found.iter().filter(is_held).count();
    let missed = || found.iter().filter(|one| !is_held(one));
    let n_trusted = missed().filter(|(.., is_trusted)| *is_trusted).count();
    println!("{n_held} of {N_TOSSES}, {n_trusted} of the others are trusted: {found:?}");
    // Contacts of another engine are not those of this one, and no interval knows of that: of twenty
    // others (HEADLAND_FIRST_SEED=1000 and 2000) 8 and 4 held it. So it is asked for that nobody is
    // told to trust an answer that misses, and of these ten for more than the half that intervals
    // by slopes alone held.
    assert!(n_trusted == 0 && missed().count() > 0, "{found:?}");
    assert!(10 * n_held as u64 >= 7 * N_TOSSES, "{n_held} of {N_TOSSES}: {found:?}");
    // Intervals that hold the truth by being wide are worth nothing. Not every toss slides far
    // enough to tell; some do.
    let n_narrow = found.iter().filter(|(_, half, _)| *half < 0.475).count();
    assert!(4 * n_narrow as u64 > N_TOSSES, "{found:?}");
}
