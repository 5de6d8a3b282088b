//! Starts that are as they were measured, noise and all: intervals hold the truth as often as they
//! say, and are not wider than that takes.
#![allow(clippy::unwrap_used)]

mod common;

use std::ops::ControlFlow;
use std::sync::Arc;

use common::{engine, ms, shipped, world_of};
use headland_base::maths::sqrt;
use headland_base::{Diagnostic, Seed, SimDuration, SimTime};
use headland_judge::compare::Series;
use headland_sense::noise::Dice;
use headland_sim::{Engine, EngineOptions, Fault, Inputs, Model, State};
use headland_validate::fit::crew::with_crew;
use headland_validate::tune::{
    Course, MakeEngine, Method, Plan, Saved, Tuned, Tuning, UNTRUSTED, Wanted, search, tuned,
};
use headland_validate::{Experiment, Replay, ReplayOptions, Signal, Told};
use headland_world::parameter::{Settings, Subject, find};

/// How many experiments are made of each kind.
const N_TRIALS: u64 = 40;

/// Other experiments, for whoever wants to see more: `HEADLAND_FIRST_SEED=3000`.
fn first_seed() -> u64 {
    std::env::var("HEADLAND_FIRST_SEED").map_or(0, |text| text.parse().unwrap())
}

/// What is planted, how it is measured, and how it is looked for.
struct Trial {
    subject: Subject,
    path: &'static str,
    planted: f64,
    bounds: (f64, f64),
    /// Keys, where they begin, and the noise of each.
    keys: &'static [(&'static str, f64, f64)],
    /// What else is true at the start, and nobody measures.
    known: &'static [(&'static str, f64)],
    n_rows: usize,
    row: f64,
    /// Made by this engine, at a fifth of the step it is fitted with.
    engine: &'static str,
    window: Option<f64>,
}

impl Trial {
    fn measured(&self, seed: &Seed) -> Experiment {
        let mut planted = self.subject.clone();
        for number in find(&planted.world, self.path).unwrap() {
            number.set(&mut planted, self.planted).unwrap();
        }
        let secs = |i: usize| SimTime::from_secs(i as f64 * self.row).unwrap();
        let times: Vec<SimTime> = (0..self.n_rows).map(secs).collect();
        let signal = |key: &str, values: Vec<f64>| Signal {
            key: key.to_string(),
            series: Series { times: times.clone(), values, ..Series::default() },
        };
        let blank = self.keys.iter().map(|(key, from, _)| signal(key, vec![*from; times.len()]));
        let known = self.known.iter().map(|(key, value)| (key.to_string(), *value)).collect();
        let blank = Experiment { signals: blank.collect(), told: Told::default(), known };
        let model = Model::compile(&Arc::new(planted.world)).unwrap();
        let options = ReplayOptions::new(ms(0.2));
        let mut replay = Replay::new(model, engine(self.engine), Arc::new(blank), options).unwrap();
        let values = replay.run().unwrap().values.clone();
        let mut noise = Dice::new(&seed.child("noise"));
        let noisy = |(values, (key, _, size)): (Vec<f64>, &(&str, f64, f64))| {
            signal(key, values.iter().map(|v| v + size * noise.normal()).collect())
        };
        let signals = values.into_iter().zip(self.keys).map(noisy).collect();
        Experiment { signals, ..Experiment::default() }
    }

    fn found(&self, seed: &Seed, n_threads: usize) -> Tuned {
        self.found_on(&|| engine("native"), seed, n_threads, 2_000)
    }

    fn found_on(&self, make: &MakeEngine<'_>, seed: &Seed, n_threads: usize, most: usize) -> Tuned {
        let experiment = Arc::new(self.measured(seed));
        let course = Course { name: "made".into(), experiment, is_held_out: false };
        let window = self.window.map(|secs| ms(1e3 * secs));
        let options = ReplayOptions { window, ..ReplayOptions::new(ms(1.0)) };
        let plan = Plan { engine: "native".into(), options, train_share: 1.0, fits_start: true };
        let (lower, upper) = self.bounds;
        let wanted = vec![Wanted::new(&self.subject, self.path, lower, upper).unwrap()];
        let courses = vec![course];
        let tuning = Tuning::new(self.subject.clone(), wanted, courses, plan, make).unwrap();
        with_crew(&tuning, n_threads, |crew| {
            let mut saved = Saved::new(Method::Lm, &tuning, 0);
            let watch = &mut |_: &Saved| ControlFlow::Continue(());
            let linear = search(&mut saved, &tuning, crew, most, watch);
            tuned(&tuning, &saved.search, linear, crew, 0.95).unwrap()
        })
    }

    /// The share of trials whose interval holds what was planted, and how wide the middle interval
    /// is, in intervals that would be made of how far answers lie from the truth.
    fn held(&self, what: &str) -> (f64, f64) {
        let seed = |i: u64| Seed::new(first_seed() + i).child(what);
        let half = |first: u64| -> Vec<Tuned> {
            (first..N_TRIALS).step_by(2).map(|i| self.found(&seed(i), 1)).collect()
        };
        let all = std::thread::scope(|scope| {
            let other = scope.spawn(|| half(1));
            [half(0), other.join().unwrap()].concat()
        });
        let each: Vec<(f64, f64)> = all
            .iter()
            .map(|found| &found.numbers[0])
            .map(|number| (number.value - self.planted, number.half_width.unwrap()))
            .collect();
        let n_trusted = all.iter().filter(|found| found.is_trusted()).count();
        let n_held = each.iter().filter(|(off, half)| off.abs() <= *half).count();
        let mut halves: Vec<f64> = each.iter().map(|(_, half)| *half).collect();
        halves.sort_by(f64::total_cmp);
        let off = sqrt(each.iter().map(|(off, _)| off * off).sum::<f64>() / each.len() as f64);
        let width = halves[halves.len() / 2] / (1.96 * off);
        println!(
            "{what}: {n_held} of {N_TRIALS} hold it, {n_trusted} are trusted, the middle interval is \
             {width:.2} times what the answers ask for; off by {off:.3e} in the root mean square"
        );
        (n_held as f64 / N_TRIALS as f64, width)
    }
}

fn pendulum(window: f64) -> Trial {
    Trial {
        subject: Subject { world: shipped("pendulum.sdf"), settings: Settings::default() },
        path: "joint/hinge/dynamics/damping",
        planted: 0.12,
        bounds: (0.0, 1.0),
        keys: &[("hinge/position", 0.5, 0.002), ("hinge/velocity", 0.0, 0.01)],
        known: &[],
        n_rows: 400,
        row: 0.01,
        engine: "rapier",
        window: Some(window),
    }
}

/// A body that slides through the air, slower and slower; of its velocity nothing is measured.
fn glider() -> Trial {
    const WORLD: &str = r#"<sdf version="1.11"><world name="w"><gravity>0 0 0</gravity>
        <model name="glider"><link name="body">
        <inertial><mass>1</mass></inertial></link></model></world></sdf>"#;
    let world = world_of(WORLD);
    Trial {
        subject: Subject { world, settings: Settings::default() },
        path: "link/body/velocity_decay/linear",
        planted: 0.6,
        bounds: (0.0, 5.0),
        keys: &[("body/pose/x", 0.0, 0.0005), ("body/pose/y", 0.0, 0.0005)],
        known: &[("body/linear_vel/x", 1.0), ("body/linear_vel/y", 0.5)],
        n_rows: 150,
        row: 0.02,
        engine: "native",
        window: None,
    }
}

/// Windows start from what was measured. Noise of a start is in all that follows it; that of what
/// is forecast is in residuals, and counts once.
#[test]
fn intervals_by_windows_hold_the_truth_and_are_no_wider_than_that_takes() {
    // Twenty windows, and four, of which nobody can tell for sure how far they disagree. Every
    // sample at which a window ends is the start of the next, and its noise moves the two against
    // each other, which no residual tells: so intervals are wider than answers ask for. With noise
    // of starts counted beside what residuals show of it they were 1.95 times as wide.
    for (window, widest) in [(0.2, 1.65), (1.0, 1.9)] {
        let (share, width) = pendulum(window).held(&format!("windows of {window} s"));
        assert!(share >= 0.85, "windows of {window} s: {share}");
        assert!((0.8..widest).contains(&width), "windows of {window} s: {width}");
    }
}

/// A free body starts as it was measured, without any window: nobody looks for its start.
#[test]
fn a_free_body_that_starts_as_measured_has_intervals_that_heed_it() {
    let (share, width) = glider().held("a glider");
    assert!(share >= 0.85, "{share}");
    assert!((0.8..1.6).contains(&width), "{width}");
}

/// How many threads simulate changes no bit of any interval.
#[test]
fn starts_with_more_noise_say_the_same_on_any_number_of_threads() {
    for (what, trial) in [("a glider", glider()), ("windows", pendulum(1.0))] {
        let seed = Seed::new(7).child(what);
        let [one, two, five] = [1, 2, 5].map(|n_threads| trial.found(&seed, n_threads));
        assert_eq!(one.numbers, two.numbers, "{what}");
        assert_eq!(one.numbers, five.numbers, "{what}");
        assert_eq!(one.n_after, five.n_after, "{what}");
    }
}

/// Breaks where a body starts faster or slower than it may.
struct Fussy {
    engine: Box<dyn Engine>,
    speeds: std::ops::Range<f64>,
}

impl Engine for Fussy {
    fn check(&self, model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
        self.engine.check(model, options)
    }

    fn start(
        &mut self,
        model: &Model,
        state: &State,
        options: &EngineOptions,
    ) -> Result<(), Fault> {
        if !self.speeds.contains(&state.rigids[0].twist.linear.x) {
            return Err(Fault("no such start".to_string()));
        }
        self.engine.start(model, state, options)
    }

    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        self.engine.step(model, inputs, dt, state)
    }

    fn knows_joints(&self) -> bool {
        self.engine.knows_joints()
    }

    fn shortens_steps(&self) -> bool {
        self.engine.shortens_steps()
    }
}

/// Starts with more noise that cannot be simulated are told, and where they are most of them the
/// answer is not to be trusted; on any number of threads.
#[test]
fn starts_that_break_are_told() {
    let (trial, seed) = (glider(), Seed::new(7).child("a glider"));
    let series = &trial.measured(&seed).signals[0].series;
    let [a, b, c] = [0, 1, 2].map(|i| series.values[i]);
    let measured = (4.0 * b - 3.0 * a - c) / (2.0 * trial.row);
    for (room, code) in [(0.04, "starts-broke"), (0.004, "starts-unsure")] {
        let make = || -> Box<dyn Engine> {
            let speeds = measured - 10.0 * room..measured + room;
            let speeds = if code == "starts-unsure" { measured - room..speeds.end } else { speeds };
            Box::new(Fussy { engine: engine("native"), speeds })
        };
        let [one, two] = [1, 2].map(|n_threads| trial.found_on(&make, &seed, n_threads, 2_000));
        let told: Vec<&Diagnostic> =
            one.warnings.iter().filter(|warning| warning.code.starts_with("starts-")).collect();
        assert!(told.len() == 1 && told[0].code == code, "{room}: {:?}", one.warnings);
        assert!(told[0].message.contains(" of 12 simulations"), "{told:?}");
        assert_eq!(UNTRUSTED.contains(&told[0].code), code == "starts-unsure");
        assert_eq!(one.warnings, two.warnings, "{room}");
        assert_eq!(one.numbers, two.numbers, "{room}");
    }
}

/// A search that had to end early tells no interval, so nothing is simulated for one.
#[test]
fn no_start_is_drawn_for_a_search_that_met_its_limit() {
    let (trial, seed) = (pendulum(1.0), Seed::new(7).child("windows"));
    let make = || engine("native");
    let [cut, whole] = [2, 2_000].map(|most| trial.found_on(&make, &seed, 1, most));
    assert!(cut.n_evaluations <= 2, "{}", cut.n_evaluations);
    assert!(cut.numbers[0].half_width.is_none() && whole.numbers[0].half_width.is_some());
    assert!(cut.n_after < 12 && 12 < whole.n_after, "{} and {}", cut.n_after, whole.n_after);
}
