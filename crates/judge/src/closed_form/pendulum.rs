//! `pendulum.sdf`: a bob on a rod swings from 0.5 rad.

use headland_base::maths::{TAU, Vec3, cos, sqrt};
use headland_record::Recording;

use super::reading::{Part, drift, energies, gravity, joint_positions};
use super::{ClosedForm, Measured};

/// Of the bob \[kg\].
pub const MASS: f64 = 1.0;
/// From the hinge to its centre \[m\].
pub const LENGTH: f64 = 1.0;
/// Of the bob about its centre \[kg·m²\].
pub const INERTIA: f64 = 0.0104;
/// Where it is let go \[rad\].
pub const START: f64 = 0.5;
/// How long it is watched \[s\].
pub const SECS: f64 = 10.0;

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm {
        name: "pendulum_period",
        worlds: &["pendulum"],
        what: "how long a swing to and fro takes, over all of 10 s",
        formula: "2π·√(I/(m·g·l))/agm(1, cos(θ₀/2))",
        unit: "s",
        usual: 0.002,
        of: measured_period,
    },
    ClosedForm {
        name: "pendulum_energy",
        worlds: &["pendulum"],
        what: "how much energy changes, at most, as a share of the swing's",
        formula: "|E − E₀|/(m·g·l·(1 − cos θ₀))",
        unit: "",
        usual: 0.01,
        of: energy_drift,
    },
];

/// The exact period of a pendulum \[s\] with `inertia` about its hinge, let go at `start`. It is
/// `4·√(I/mgl)·K(sin(θ₀/2))`, and the complete elliptic integral is `K(k) = π/(2·agm(1, √(1−k²)))`.
pub fn period(inertia: f64, mass: f64, gravity: f64, length: f64, start: f64) -> f64 {
    let small = TAU * sqrt(inertia / (mass * gravity * length));
    small / arithmetic_geometric_mean(1.0, cos(0.5 * start))
}

/// The limit of `a, b → (a + b)/2, √(a·b)`; the distance is squared in every round.
fn arithmetic_geometric_mean(mut a: f64, mut b: f64) -> f64 {
    for _ in 0..6 {
        (a, b) = (0.5 * (a + b), sqrt(a * b));
    }
    a
}

fn measured_period(recording: &Recording) -> Result<Measured, String> {
    let (times, positions) = joint_positions(recording, "hinge", SECS)?;
    let about_hinge = INERTIA + MASS * LENGTH * LENGTH;
    let expected = period(about_hinge, MASS, gravity(recording)?.length(), LENGTH, START);
    let crossings: Vec<f64> = (1..times.len())
        .filter(|&i| (positions[i - 1] > 0.0) != (positions[i] > 0.0))
        .map(|i| {
            let share = positions[i - 1] / (positions[i - 1] - positions[i]);
            times[i - 1] + share * (times[i] - times[i - 1])
        })
        .collect();
    let (Some(first), Some(last)) = (crossings.first(), crossings.last()) else {
        return Err("the pendulum never passes its lowest point".to_string());
    };
    if crossings.len() < 3 {
        return Err("the pendulum makes no whole swing".to_string());
    }
    Ok(Measured::new(expected, 2.0 * (last - first) / (crossings.len() - 1) as f64))
}

/// The bob, in the frame of its model, which is the hinge.
pub fn part() -> Part {
    Part::new("pendulum", MASS, Vec3::new(0.0, 0.0, -LENGTH), Vec3::splat(INERTIA))
}

fn energy_drift(recording: &Recording) -> Result<Measured, String> {
    let swing = MASS * gravity(recording)?.length() * LENGTH * (1.0 - cos(START));
    Ok(Measured::deviation(drift(&energies(recording, &[part()], SECS)?, swing)))
}
