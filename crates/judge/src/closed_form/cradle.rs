//! `cradle.sdf`: five balls on rods, of which the first is let go.

use headland_base::maths::{Vec3, cos, sqrt};
use headland_record::Recording;

use super::pendulum::period;
use super::reading::{Part, Way, drift, energies, gravity, worst};
use super::{ClosedForm, Measured};

/// Of each ball \[kg\].
pub const MASS: f64 = 1.0;
/// From hinge to centre \[m\].
pub const LENGTH: f64 = 1.0;
/// Of each ball about its centre \[kg·m²\].
pub const INERTIA: f64 = 0.004;
/// Where the first is let go \[rad\].
pub const START: f64 = 0.5;
/// How long they are watched \[s\]; the last ball comes back at 1.5 s.
pub const SECS: f64 = 2.0;

const BALLS: [&str; 5] = ["ball_1", "ball_2", "ball_3", "ball_4", "ball_5"];
const ABOUT_HINGE: f64 = INERTIA + MASS * LENGTH * LENGTH;

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm {
        name: "cradle_speed",
        worlds: &["cradle"],
        what: "how fast the last ball leaves",
        formula: "ω = √(2·m·g·l·(1 − cos θ₀)/I), that of the first",
        unit: "rad/s",
        usual: 0.031,
        of: speed,
    },
    ClosedForm {
        name: "cradle_rest",
        worlds: &["cradle"],
        what: "how fast the others are when it is at its highest, at most",
        formula: "0, half a period after the start",
        unit: "rad/s",
        usual: 0.031,
        of: rest,
    },
    ClosedForm {
        name: "cradle_energy",
        worlds: &["cradle"],
        what: "how much energy changes, at most, as a share of the swing's",
        formula: "|E − E₀|/(m·g·l·(1 − cos θ₀))",
        unit: "",
        usual: 0.04,
        of: energy_drift,
    },
];

/// The balls, in the frames of their models, which are the hinges.
pub fn parts() -> [Part; 5] {
    BALLS.map(|ball| Part::new(ball, MASS, Vec3::new(0.0, 0.0, -LENGTH), Vec3::splat(INERTIA)))
}

fn swing_energy(recording: &Recording) -> Result<f64, String> {
    Ok(MASS * gravity(recording)?.length() * LENGTH * (1.0 - cos(START)))
}

fn speed(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, BALLS[4], SECS)?;
    let expected = sqrt(2.0 * swing_energy(recording)? / ABOUT_HINGE);
    Ok(Measured::new(expected, worst(way.motions.iter().map(|motion| motion.angular.y))))
}

fn rest(recording: &Recording) -> Result<Measured, String> {
    let gravity = gravity(recording)?.length();
    let top = 0.5 * period(ABOUT_HINGE, MASS, gravity, LENGTH, START);
    let mut most = 0.0;
    for ball in &BALLS[..4] {
        let rate = Way::of(recording, ball, SECS)?.turn_rate_at(top).y;
        most = worst([most, rate].into_iter());
    }
    Ok(Measured::deviation(most))
}

fn energy_drift(recording: &Recording) -> Result<Measured, String> {
    let energies = energies(recording, &parts(), SECS)?;
    Ok(Measured::deviation(drift(&energies, swing_energy(recording)?)))
}
