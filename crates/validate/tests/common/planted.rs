//! Experiments with known truth: numbers are planted, an engine moves the model, noise is laid over
//! what it did, and tuning on the native engine looks for them.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::sync::Arc;

use headland_base::maths::{TAU, sin};
use headland_base::{Seed, SimDuration, SimTime};
use headland_judge::compare::Series;
use headland_sense::noise::Dice;
use headland_sim::{Command, Mode, Model};
use headland_validate::fit::crew::with_crew;
use headland_validate::tune::{Course, Method, Plan, Saved, Tuned, Tuning, Wanted, search, tuned};
use headland_validate::{Experiment, Replay, ReplayOptions, Signal, Told};
use headland_world::parameter::{Subject, find};
use rand_chacha::rand_core::Rng as _;

use super::engine;

pub fn time(secs: f64) -> SimTime {
    SimTime::from_secs(secs).unwrap()
}

pub fn set(subject: &mut Subject, path: &str, value: f64) {
    for parameter in find(&subject.world, path).unwrap() {
        parameter.set(subject, value).unwrap();
    }
}

/// From 0 to 1.
pub fn dice(seed: &Seed) -> impl FnMut() -> f64 + use<> {
    let mut rng = seed.rng();
    move || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Efforts that change twenty times a second, as a motor is told.
pub fn efforts(joints: &[(usize, f64)], secs: f64, seed: &Seed) -> Told {
    let mut dice = dice(seed);
    let phases: Vec<(f64, f64)> =
        (0..3).map(|k| (0.4 + 0.7 * f64::from(k) + 0.2 * dice(), TAU * dice())).collect();
    let mut commands = Vec::new();
    for (dof, size) in joints {
        for i in 0..(secs * 20.0) as usize {
            let t = i as f64 / 20.0;
            let wave = |(k, (hertz, phase)): (usize, &(f64, f64))| {
                sin(TAU * hertz * t + phase + *dof as f64 * (1.0 + k as f64))
            };
            let target = size * phases.iter().enumerate().map(wave).sum::<f64>();
            commands.push((time(t), *dof, Command { mode: Mode::Effort, target }));
        }
    }
    Told::new(commands)
}

/// What an engine makes of the subject at moments 20 ms apart, with noise.
pub fn measured(
    truth: &Subject,
    engine_name: &'static str,
    keys: &[(&str, f64)],
    told: Told,
    secs: f64,
    step: SimDuration,
    seed: &Seed,
) -> Experiment {
    let times: Vec<SimTime> = (0..=(secs * 50.0) as usize).map(|i| time(i as f64 / 50.0)).collect();
    let signal = |key: &str, values: Vec<f64>| Signal {
        key: key.to_string(),
        series: Series { times: times.clone(), values, ..Series::default() },
    };
    let model = Model::compile(&Arc::new(truth.world.clone())).unwrap();
    let start = headland_sim::State::initial(&model);
    let known: Vec<(String, f64)> = model
        .dofs
        .iter()
        .zip(&start.dofs)
        .flat_map(|(dof, now)| {
            [
                (format!("{}/position", dof.name), now.position),
                (format!("{}/velocity", dof.name), 0.0),
            ]
        })
        .collect();
    let blank = keys.iter().map(|(key, _)| signal(key, vec![0.0; times.len()])).collect();
    let blank = Arc::new(Experiment { signals: blank, told: told.clone(), known });
    let options = ReplayOptions {
        command_delay: SimDuration::from_secs(truth.settings.command_delay).unwrap(),
        ..ReplayOptions::new(step)
    };
    let mut replay = Replay::new(model, engine(engine_name), blank, options).unwrap();
    let values = replay.run().unwrap().values.clone();
    let mut dice = Dice::new(&seed.child("noise"));
    let noisy = |(values, (key, noise)): (Vec<f64>, &(&str, f64))| {
        signal(key, values.iter().map(|v| v + noise * dice.normal()).collect())
    };
    let signals = values.into_iter().zip(keys).map(noisy).collect();
    Experiment { signals, told, known: Vec::new() }
}

pub fn fitted(
    subject: Subject,
    wanted: &[(&str, f64, f64)],
    experiment: Experiment,
    step: SimDuration,
    confidence: f64,
) -> Tuned {
    let wanted = wanted
        .iter()
        .map(|(path, lower, upper)| Wanted::new(&subject, path, *lower, *upper).unwrap());
    solved(subject.clone(), wanted.collect(), experiment, step, confidence)
}

pub fn solved(
    subject: Subject,
    wanted: Vec<Wanted>,
    experiment: Experiment,
    step: SimDuration,
    confidence: f64,
) -> Tuned {
    let course =
        Course { name: "made".to_string(), experiment: Arc::new(experiment), is_held_out: false };
    let (engine_name, options) = ("native".to_string(), ReplayOptions::new(step));
    let plan = Plan { engine: engine_name, options, train_share: 1.0, fits_start: true };
    let make = || engine("native");
    let tuning = Tuning::new(subject, wanted, vec![course], plan, &make).unwrap();
    with_crew(&tuning, 1, |crew| {
        let mut saved = Saved::new(Method::Lm, &tuning, 0);
        let linear = search(&mut saved, &tuning, crew, 2_000, &mut |_| ControlFlow::Continue(()));
        assert!(saved.search.ended().unwrap().is_converged(), "{:?}", saved.search);
        tuned(&tuning, &saved.search, linear, crew, confidence).unwrap()
    })
}
