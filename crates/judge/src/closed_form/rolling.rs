//! `rolling.sdf`: a ball rolls down a slope, another slides on the flat until it rolls.

use headland_base::maths::{PI, Vec3, cos, sin};
use headland_record::Recording;

use super::reading::{Way, gravity};
use super::{ClosedForm, Measured};

/// Of both balls \[m\].
pub const RADIUS: f64 = 0.1;
/// Of the slope, downwards along x \[rad\].
pub const SLOPE: f64 = 20.0 * PI / 180.0;
/// Speed of the ball that slides, at the start \[m/s\].
pub const THROW: f64 = 3.5;
/// How long they are watched \[s\].
pub const SECS: f64 = 2.0;

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm {
        name: "rolling_acceleration",
        worlds: &["rolling"],
        what: "with what acceleration a ball rolls down the slope, over 2 s",
        formula: "5/7·g·sin α",
        unit: "m/s²",
        usual: 0.012,
        of: acceleration,
    },
    ClosedForm {
        name: "rolling_speed",
        worlds: &["rolling"],
        what: "how fast the ball that was thrown without spin is once it rolls",
        formula: "5/7·v₀",
        unit: "m/s",
        usual: 0.0125,
        of: |recording| {
            let way = Way::of(recording, "slides", SECS)?;
            Ok(Measured::new(5.0 / 7.0 * THROW, way.velocity_at(SECS).x))
        },
    },
    ClosedForm {
        name: "rolling_slip",
        worlds: &["rolling"],
        what: "how fast it slips on the ground then",
        formula: "v − ω·r = 0",
        unit: "m/s",
        usual: 0.01,
        of: |recording| {
            let way = Way::of(recording, "slides", SECS)?;
            let slip = way.velocity_at(SECS).x - way.turn_rate_at(SECS).y * RADIUS;
            Ok(Measured::new(0.0, slip))
        },
    },
];

fn acceleration(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "rolls", SECS)?;
    let expected = 5.0 / 7.0 * gravity(recording)?.length() * sin(SLOPE);
    let downhill = Vec3::new(cos(SLOPE), 0.0, -sin(SLOPE));
    let moved = (way.position_at(SECS) - way.poses[0].translation).dot(downhill);
    Ok(Measured::new(expected, 2.0 * moved / (SECS * SECS)))
}
