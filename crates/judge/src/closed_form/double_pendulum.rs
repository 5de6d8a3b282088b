//! `double_pendulum.sdf`: two rods, one hanging from the other.

use headland_base::maths::{Vec3, cos, sin};
use headland_record::Recording;

use super::reading::{Part, Way, drift, energies, follow, gravity, worst};
use super::{ClosedForm, Measured};

/// Of each rod \[kg\].
pub const MASS: f64 = 1.0;
/// Of each rod \[m\].
pub const LENGTH: f64 = 1.0;
/// Across a rod, about its middle \[kg·m²\].
pub const INERTIA: f64 = 0.083_333_3;
/// Along a rod \[kg·m²\].
pub const INERTIA_ALONG: f64 = 0.0002;
/// The shoulder's height \[m\].
pub const HEIGHT: f64 = 3.0;
/// Of shoulder and elbow at the start \[rad\].
pub const START: (f64, f64) = (1.2, 0.6);
/// How long it is watched \[s\].
pub const SECS: f64 = 5.0;
/// How long its way is compared \[s\]; later, engines part because the motion is chaotic.
pub const PATH_SECS: f64 = 2.0;

/// Step of the reference \[s\]. With half of it the way changes by less than a nanometre.
const REFERENCE_STEP: f64 = 5e-4;

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm {
        name: "double_pendulum_energy",
        worlds: &["double_pendulum"],
        what: "how much energy changes, at most, as a share of what it has above hanging",
        formula: "|E − E₀|/(E₀ − E_hanging)",
        unit: "",
        usual: 0.01,
        of: energy_drift,
    },
    ClosedForm {
        name: "double_pendulum_path",
        worlds: &["double_pendulum"],
        what: "how far the middle of the lower rod is off its way in the first 2 s, at most",
        formula: "Lagrange's equations, solved to 1 nm",
        unit: "m",
        usual: 0.02,
        of: path,
    },
];

/// Both rods, each in its own frame, which is its middle.
pub fn parts() -> [Part; 2] {
    let moments = Vec3::new(INERTIA, INERTIA, INERTIA_ALONG);
    ["double_pendulum/upper", "double_pendulum/lower"]
        .map(|object| Part::new(object, MASS, Vec3::ZERO, moments))
}

fn energy_drift(recording: &Recording) -> Result<Measured, String> {
    let energies = energies(recording, &parts(), SECS)?;
    let weight = MASS * gravity(recording)?.length();
    let hanging = weight * (2.0 * HEIGHT - 2.0 * LENGTH);
    Ok(Measured::deviation(drift(&energies, energies[0] - hanging)))
}

fn path(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "double_pendulum/lower", PATH_SECS)?;
    let times = &way.times[..way.n_until(PATH_SECS)];
    let mut most = 0.0;
    solve(times, gravity(recording)?.length(), |i, [upper, lower, ..]| {
        let off = way.poses[i].translation.distance(lower_middle(*upper, *lower));
        most = worst([most, off].into_iter());
    });
    Ok(Measured::deviation(most))
}

/// The middle of the lower rod, with both rods turned about y by these angles from hanging.
pub fn lower_middle(upper: f64, lower: f64) -> Vec3 {
    let x = -LENGTH * (sin(upper) + 0.5 * sin(lower));
    Vec3::new(x, 0.0, HEIGHT - LENGTH * (cos(upper) + 0.5 * cos(lower)))
}

/// Angles of both rods from hanging and their rates, at each time. Lagrange's equations of two
/// equal rods, with `Δ = θ₁ − θ₂`:
///
/// ```text
/// (I + 5/4·m·l²)·θ̈₁ + m·l²/2·cos Δ·θ̈₂ = −m·l²/2·sin Δ·θ̇₂² − 3/2·m·g·l·sin θ₁
/// m·l²/2·cos Δ·θ̈₁ + (I + 1/4·m·l²)·θ̈₂ =  m·l²/2·sin Δ·θ̇₁² − 1/2·m·g·l·sin θ₂
/// ```
pub fn solve(times: &[f64], gravity: f64, each: impl FnMut(usize, &[f64; 4])) {
    let (square, weight) = (MASS * LENGTH * LENGTH, MASS * gravity * LENGTH);
    let rate = |&[upper, lower, upper_rate, lower_rate]: &[f64; 4]| {
        let delta = upper - lower;
        let (a, d) = (INERTIA + 1.25 * square, INERTIA + 0.25 * square);
        let (b, s) = (0.5 * square * cos(delta), 0.5 * square * sin(delta));
        let first = -s * lower_rate * lower_rate - 1.5 * weight * sin(upper);
        let second = s * upper_rate * upper_rate - 0.5 * weight * sin(lower);
        let det = a * d - b * b;
        let upper_acc = (d * first - b * second) / det;
        let lower_acc = (a * second - b * first) / det;
        [upper_rate, lower_rate, upper_acc, lower_acc]
    };
    follow(times, [START.0, START.0 + START.1, 0.0, 0.0], REFERENCE_STEP, rate, each);
}
