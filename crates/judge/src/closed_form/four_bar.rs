//! `four_bar.sdf`: a crank, a coupler and a rocker, closed to a loop by the ground.

use headland_base::maths::{
    FRAC_PI_2, Mat3, PI, TAU, Vec3, acos, atan2, cos, quat_from_axis_angle, sin, sqrt, wrap_angle,
};
use headland_record::Recording;

use super::reading::{Part, drift, energies, gravity, joint_positions, worst};
use super::{ClosedForm, Measured};

/// Crank, coupler, rocker, and between the pivots \[m\].
pub const LENGTHS: [f64; 4] = [0.3, 1.0, 0.9, 0.8];
/// Of crank, coupler and rocker \[kg\].
pub const MASSES: [f64; 3] = [0.3, 1.0, 0.9];
/// Of each rod about its middle: across and along it \[kg·m²\].
pub const INERTIAS: [(f64, f64); 3] = [(0.00225, 2e-5), (0.083_333_3, 7e-5), (0.06075, 6e-5)];
/// The pivots' height \[m\].
pub const HEIGHT: f64 = 2.0;
/// How long it is watched \[s\].
pub const SECS: f64 = 5.0;

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm {
        name: "four_bar_angle",
        worlds: &["four_bar"],
        what: "how far the rocker's angle is off what the crank's says, at most",
        formula: "K1·cos φ − K2·cos θ + K3 = cos(θ − φ)",
        unit: "rad",
        usual: 0.001,
        of: angle,
    },
    ClosedForm {
        name: "four_bar_energy",
        worlds: &["four_bar"],
        what: "how much energy changes, at most, as a share of the largest kinetic energy",
        formula: "|E − E₀|/(E₀ − min V)",
        unit: "",
        usual: 0.02,
        of: energy_drift,
    },
];

/// The rocker's angle φ \[rad\] that Freudenstein's equation gives to the crank's θ, both
/// counter-clockwise from the line of the pivots, in the branch the linkage starts in.
///
/// From the rocker's pivot the crank's pin is seen at a distance `f` and an angle ψ; the triangle
/// of `f`, coupler and rocker has `cos γ = (c² + f² − b²)/(2·c·f)` there, and φ = ψ − γ.
pub fn rocker_angle(crank_angle: f64) -> f64 {
    let [a, b, c, d] = LENGTHS;
    let (x, z) = (a * cos(crank_angle) - d, a * sin(crank_angle));
    let f = sqrt(x * x + z * z);
    let gamma = acos((c * c + f * f - b * b) / (2.0 * c * f));
    wrap_angle(atan2(z, x) - gamma)
}

fn angle(recording: &Recording) -> Result<Measured, String> {
    // Both stand upright where their joints count from.
    let (_, crank) = joint_positions(recording, "crank_pivot", SECS)?;
    let (_, rocker) = joint_positions(recording, "rocker_pivot", SECS)?;
    let off = crank
        .iter()
        .zip(&rocker)
        .map(|(theta, phi)| wrap_angle(FRAC_PI_2 + phi - rocker_angle(FRAC_PI_2 + theta)));
    Ok(Measured::deviation(worst(off)))
}

/// The rods, each in the frame of its link: at the crank's pivot, at the rocker's pin, at the
/// rocker's pivot.
pub fn parts() -> [Part; 3] {
    let rod = |object, i: usize, centre: Vec3| {
        let (across, along) = INERTIAS[i];
        // The rod's own axis is z where it is upright; the coupler starts inclined.
        let turn = Mat3::from_quat(quat_from_axis_angle(Vec3::Y, atan2(centre.x, centre.z)));
        let inertia =
            turn * Mat3::from_diagonal(Vec3::new(across, across, along)) * turn.transpose();
        Part { object, mass: MASSES[i], centre, inertia }
    };
    [
        rod("four_bar/crank", 0, Vec3::new(0.0, 0.0, 0.15)),
        rod("four_bar/coupler", 1, Vec3::new(-0.4, 0.0, -0.3)),
        rod("four_bar/rocker", 2, Vec3::new(0.0, 0.0, 0.45)),
    ]
}

/// `V = Σ m·g·z` at a crank angle \[J\].
fn potential(crank_angle: f64, gravity: f64) -> f64 {
    let [a, _, c, _] = LENGTHS;
    let pin = a * sin(crank_angle);
    let rocker_pin = c * sin(rocker_angle(crank_angle));
    let heights = [0.5 * pin, 0.5 * (pin + rocker_pin), 0.5 * rocker_pin];
    MASSES.iter().zip(heights).map(|(mass, height)| mass * gravity * (HEIGHT + height)).sum()
}

fn energy_drift(recording: &Recording) -> Result<Measured, String> {
    let energies = energies(recording, &parts(), SECS)?;
    let gravity = gravity(recording)?.length();
    let lowest = (0..3600)
        .map(|i| potential(f64::from(i) / 3600.0 * TAU - PI, gravity))
        .fold(f64::INFINITY, f64::min);
    Ok(Measured::deviation(drift(&energies, energies[0] - lowest)))
}
