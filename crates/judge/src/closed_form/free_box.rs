//! `free_box_simple.sdf` and `free_box_complex.sdf`: a box that flies and tumbles, from the public
//! benchmark of Peters and Hsu, and its four errors, each the largest over 10 s.

use headland_base::maths::{Quat, Vec3, angle_between};
use headland_record::Recording;

use super::reading::{Part, Way, drift, energies, follow, gravity, worst};
use super::{ClosedForm, Measured};

/// \[kg\]
pub const MASS: f64 = 10.0;
/// Along x, y and z of the box \[kg·m²\]: a box of 0.1 m, 0.4 m, 0.9 m.
pub const MOMENTS: Vec3 = Vec3::new(10.0 / 12.0 * 0.97, 10.0 / 12.0 * 0.82, 10.0 / 12.0 * 0.17);
/// How long it is watched \[s\].
pub const SECS: f64 = 10.0;

/// Step of the reference \[s\]. With half of it the orientation after 10 s changes by less than
/// a nanoradian.
const REFERENCE_STEP: f64 = 5e-4;

const SIMPLE: &[&str] = &["free_box_simple"];
const COMPLEX: &[&str] = &["free_box_complex"];

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm { worlds: SIMPLE, usual: 1e-6, name: "simple_box_position", ..POSITION },
    ClosedForm { worlds: SIMPLE, usual: 1e-6, name: "simple_box_momentum", ..MOMENTUM },
    ClosedForm { worlds: SIMPLE, usual: 1e-6, name: "simple_box_energy", ..ENERGY },
    ClosedForm { worlds: SIMPLE, usual: 1e-3, name: "simple_box_orientation", ..ORIENTATION },
    ClosedForm { worlds: COMPLEX, usual: 0.05, name: "complex_box_position", ..POSITION },
    ClosedForm { worlds: COMPLEX, usual: 0.025, name: "complex_box_momentum", ..MOMENTUM },
    ClosedForm { worlds: COMPLEX, usual: 0.025, name: "complex_box_energy", ..ENERGY },
    ClosedForm { worlds: COMPLEX, usual: 0.5, name: "complex_box_orientation", ..ORIENTATION },
];

const POSITION: ClosedForm = ClosedForm {
    name: "",
    worlds: &[],
    what: "how far the centre is off its parabola, at most",
    formula: "p₀ + v₀·t + g·t²/2",
    unit: "m",
    usual: 0.0,
    of: position,
};
const MOMENTUM: ClosedForm = ClosedForm {
    what: "how much angular momentum changes, at most, as a share of it",
    formula: "|H − H₀|/|H₀|, H = R·I·Rᵀ·ω",
    unit: "",
    of: momentum,
    ..POSITION
};
const ENERGY: ClosedForm = ClosedForm {
    what: "how much energy changes, at most, as a share of it",
    formula: "|E − E₀|/E₀, E = m·v²/2 + ω·H/2 − m·g·p",
    unit: "",
    of: energy_drift,
    ..POSITION
};
const ORIENTATION: ClosedForm = ClosedForm {
    what: "how far it is turned from where Euler's equations turn it, at most",
    formula: "I·ω̇ = (I·ω) × ω, q̇ = q·ω/2, solved to 1e-9 rad",
    unit: "rad",
    of: orientation,
    ..POSITION
};

/// The box as one part.
pub fn part() -> Part {
    Part::new("box", MASS, Vec3::ZERO, MOMENTS)
}

fn position(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "box", SECS)?;
    let gravity = gravity(recording)?;
    let (p, v) = (way.poses[0].translation, way.motions[0].linear);
    let off = way
        .times
        .iter()
        .zip(way.poses)
        .map(|(&t, pose)| pose.translation.distance(p + v * t + gravity * (0.5 * t * t)));
    Ok(Measured::deviation(worst(off)))
}

fn momentum(recording: &Recording) -> Result<Measured, String> {
    let (way, part) = (Way::of(recording, "box", SECS)?, part());
    let at = |i: usize| part.angular_momentum(&way.poses[i], &way.motions[i]);
    let first = at(0);
    let off = (0..way.times.len()).map(|i| at(i).distance(first) / first.length());
    Ok(Measured::deviation(worst(off)))
}

fn energy_drift(recording: &Recording) -> Result<Measured, String> {
    let energies = energies(recording, &[part()], SECS)?;
    Ok(Measured::deviation(drift(&energies, energies[0])))
}

fn orientation(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "box", SECS)?;
    let mut most = 0.0;
    torque_free(&way.times, way.poses[0].rotation, way.motions[0].angular, |i, turn| {
        most = worst([most, angle_between(turn, way.poses[i].rotation)].into_iter());
    });
    Ok(Measured::deviation(most))
}

/// The orientation of a free body at each time, from its first one and its first angular
/// velocity in the world: `I·ω̇ = (I·ω) × ω` in the body's frame, and `q̇ = q·ω/2`.
pub fn torque_free(times: &[f64], turn: Quat, omega: Vec3, mut each: impl FnMut(usize, Quat)) {
    let in_body = turn.conjugate() * omega;
    let start = [in_body.x, in_body.y, in_body.z, turn.x, turn.y, turn.z, turn.w];
    let rate = |s: &[f64; 7]| {
        let (omega, q) = (Vec3::new(s[0], s[1], s[2]), Quat::from_xyzw(s[3], s[4], s[5], s[6]));
        let faster = (MOMENTS * omega).cross(omega) / MOMENTS;
        let turned = q * Quat::from_xyzw(omega.x, omega.y, omega.z, 0.0) * 0.5;
        [faster.x, faster.y, faster.z, turned.x, turned.y, turned.z, turned.w]
    };
    follow(times, start, REFERENCE_STEP, rate, |i, s| {
        each(i, Quat::from_xyzw(s[3], s[4], s[5], s[6]));
    });
}
