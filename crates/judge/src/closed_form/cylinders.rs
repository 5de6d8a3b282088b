//! `cylinders.sdf`: on a slope one cylinder slides, one sticks, one tips.

use headland_base::maths::{PI, Vec3, angle_between, cos, sin};
use headland_record::Recording;

use super::reading::{Way, gravity, worst};
use super::{ClosedForm, Measured};

/// Of the slope, downwards along x \[rad\].
pub const SLOPE: f64 = 20.0 * PI / 180.0;
/// Of the cylinder that slides.
pub const SLIDE_FRICTION: f64 = 0.2;
/// How long they are watched \[s\].
pub const SECS: f64 = 3.0;

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm {
        name: "slide_distance",
        worlds: &["cylinders"],
        what: "how far the cylinder with μ = 0.2 slides down the slope in 3 s",
        formula: "g·(sin α − μ·cos α)·t²/2",
        unit: "m",
        usual: 0.014,
        of: slide_distance,
    },
    ClosedForm {
        name: "slide_tilt",
        worlds: &["cylinders"],
        what: "how far it turns on the way, at most",
        formula: "0",
        unit: "rad",
        usual: 0.01,
        of: |recording| tilt(recording, "slide"),
    },
    ClosedForm {
        name: "stick_drift",
        worlds: &["cylinders"],
        what: "how far the cylinder with μ = 1 moves, at most",
        formula: "0",
        unit: "m",
        usual: 0.001,
        of: stick_drift,
    },
];

fn slide_distance(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "slide", SECS)?;
    let gravity = gravity(recording)?.length();
    let expected = 0.5 * gravity * (sin(SLOPE) - SLIDE_FRICTION * cos(SLOPE)) * SECS * SECS;
    let downhill = Vec3::new(cos(SLOPE), 0.0, -sin(SLOPE));
    let moved = way.position_at(SECS) - way.poses[0].translation;
    Ok(Measured::new(expected, moved.dot(downhill)))
}

fn tilt(recording: &Recording, object: &str) -> Result<Measured, String> {
    let way = Way::of(recording, object, SECS)?;
    let first = way.poses[0].rotation;
    let turned = way.poses.iter().map(|pose| angle_between(first, pose.rotation));
    Ok(Measured::deviation(worst(turned)))
}

fn stick_drift(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "stick", SECS)?;
    let first = way.poses[0].translation;
    let moved = way.poses.iter().map(|pose| pose.translation.distance(first));
    Ok(Measured::deviation(worst(moved)))
}
