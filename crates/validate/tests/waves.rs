//! Whether a model that lacks something is told from one that is right: a pendulum is measured whose
//! mass and damping are sought, and which may have dry friction or drag besides, of which the model
//! has none.
#![allow(clippy::unwrap_used)]

mod common;

use common::planted::{dice, efforts, fitted, measured, set};
use common::{ms, shipped};
use headland_base::maths::sin;
use headland_base::{Seed, SimTime};
use headland_sense::noise::Dice;
use headland_validate::tune::Tuned;
use headland_validate::{Experiment, Told};
use headland_world::parameter::{Settings, Subject};

const MASS: &str = "link/bob/inertial/mass";
const DAMPING: &str = "joint/hinge/dynamics/damping";
const FRICTION: &str = "joint/hinge/dynamics/friction";
const SECS: f64 = 4.0;

/// As noisy as `worlds/measured/pendulum.csv`, at fifty samples a second.
const KEYS: Keys = [("hinge/position", 0.001), ("hinge/velocity", 0.005)];

/// What is measured, and how noisy it is.
type Keys = [(&'static str, f64); 2];

/// What the pendulum has and the model has not.
#[derive(Clone, Copy)]
enum Lacks {
    Nothing,
    /// Dry friction \[N·m\].
    Friction(f64),
    /// Drag by the square of its speed \[N·m·s²/rad²\].
    Drag(f64),
}

/// A pendulum that is driven, or with drag let go, and the answer of a search for its mass and
/// damping.
fn trial(
    seed: u64,
    lacks: Lacks,
    is_driven: bool,
    keys: &Keys,
) -> (Tuned, [(&'static str, f64); 2]) {
    let seed = Seed::new(seed).child("waves");
    let mut dice = dice(&seed.child("truth"));
    let truth = [(MASS, 0.7 + 0.8 * dice()), (DAMPING, 0.05 + 0.3 * dice())];
    let mut model = Subject { world: shipped("pendulum.sdf"), settings: Settings::default() };
    let mut planted = model.clone();
    truth.iter().for_each(|(path, value)| set(&mut planted, path, *value));
    if let Lacks::Friction(friction) = lacks {
        set(&mut planted, FRICTION, friction);
    }
    let told = match is_driven {
        true => efforts(&[(0, 2.5)], SECS, &seed.child("efforts")),
        false => Told::default(),
    };
    let mut experiment = measured(&planted, "rapier", keys, told, SECS, ms(0.1), &seed);
    if let Lacks::Drag(drag) = lacks {
        let_go(&mut experiment, truth[0].1, truth[1].1, drag, &seed.child("noise"));
    }
    // Of a pendulum that is let go nothing shows the mass.
    let mut wanted = vec![(DAMPING, 0.0, 2.0)];
    if is_driven {
        wanted.push((MASS, 0.3, 3.0));
    } else {
        set(&mut model, MASS, truth[0].1);
    }
    (fitted(model, &wanted, experiment, ms(1.0), 0.95), truth)
}

/// Of the bob about its centre, which hangs a metre down \[kg·m²\].
const BOB_INERTIA: f64 = 0.0104;

/// Puts the swing of a pendulum with drag in the place of what was measured; no engine has drag.
fn let_go(experiment: &mut Experiment, mass: f64, damping: f64, drag: f64, seed: &Seed) {
    let mut noise = Dice::new(seed);
    let (mut q, mut v, mut now) = (0.5, 0.0, SimTime::ZERO);
    let dt = ms(0.1);
    for i in 0..experiment.signals[0].series.times.len() {
        while now < experiment.signals[0].series.times[i] {
            let effort = -mass * 9.81 * sin(q) - damping * v - drag * v * v.abs();
            v += dt.secs() * effort / (mass + BOB_INERTIA);
            q += dt.secs() * v;
            now += dt;
        }
        for (k, value) in [q, v].into_iter().enumerate() {
            experiment.signals[k].series.values[i] = value + KEYS[k].1 * noise.normal();
        }
    }
}

/// How many answers are trusted, and how many hold the truth.
fn counts(n: u64, lacks: Lacks, is_driven: bool, keys: &Keys) -> (usize, usize) {
    let (mut n_trusted, mut n_right) = (0, 0);
    for seed in 0..n {
        let (found, truth) = trial(seed, lacks, is_driven, keys);
        n_trusted += usize::from(found.is_trusted());
        let is_right = |(path, truth): &(&str, f64)| {
            let number = found.numbers.iter().find(|number| number.name == *path);
            number.is_none_or(|one| (one.value - truth).abs() <= one.half_width.unwrap())
        };
        n_right += usize::from(truth.iter().all(is_right));
    }
    (n_trusted, n_right)
}

/// At most one of twenty models that are right is not trusted. Of forty each, all were.
#[test]
fn a_model_that_is_right_is_trusted() {
    for (is_driven, what) in [(true, "driven"), (false, "let go")] {
        let (n_trusted, n_right) = counts(20, Lacks::Nothing, is_driven, &KEYS);
        println!("{what}: {n_trusted} of 20 trusted, {n_right} right");
        assert!(n_trusted >= 19, "{what}: {n_trusted} of 20 trusted");
        assert!(n_right >= 17, "{what}: {n_right} of 20 in intervals of 95 %");
    }
}

/// Dry friction of a two-hundredth of the bob's weight, and drag of a fifth of the damping and more:
/// damping takes up most of either and is far off, with an interval that says otherwise.
#[test]
fn a_model_that_lacks_something_is_not_trusted() {
    for (lacks, is_driven, what) in [
        (Lacks::Friction(0.05), true, "friction, driven"),
        (Lacks::Friction(0.05), false, "friction, let go"),
        (Lacks::Drag(0.05), false, "drag, let go"),
    ] {
        let (n_trusted, n_right) = counts(20, lacks, is_driven, &KEYS);
        println!("without {what}: {n_trusted} of 20 trusted, {n_right} right");
        assert!(n_trusted <= 2, "{what}: {n_trusted} of 20 trusted");
        assert!(n_right <= 2, "{what}: it does no harm");
    }
}

/// An encoder beside a gyro is the rule: where one key has far more noise than the other, what moves
/// the numbers leaves a wave in the other, which is no lack of the model.
#[test]
fn keys_of_unequal_noise_are_no_lack() {
    for (position, velocity) in [(0.001, 0.05), (0.0003, 0.05), (0.02, 0.003)] {
        let keys = [("hinge/position", position), ("hinge/velocity", velocity)];
        let (n_trusted, n_right) = counts(20, Lacks::Nothing, false, &keys);
        println!("{position} rad, {velocity} rad/s: {n_trusted} of 20 trusted, {n_right} right");
        assert!(n_trusted >= 18 && n_right >= 16, "{keys:?}: {n_trusted} trusted, {n_right} right");
    }
}
