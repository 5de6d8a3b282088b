//! `slider.sdf`: a cart on a rail with dry friction comes to rest.

use headland_record::Recording;

use super::reading::Way;
use super::{ClosedForm, Measured};

/// Of the cart \[kg\].
pub const MASS: f64 = 2.0;
/// Of the rail \[N\].
pub const FRICTION: f64 = 3.0;
/// At the start \[m/s\].
pub const SPEED: f64 = 3.0;
/// How long it is watched, a second longer than it moves \[s\].
pub const SECS: f64 = 3.0;

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm {
        name: "slider_distance",
        worlds: &["slider"],
        what: "where the cart stops",
        formula: "m·v²/(2·F)",
        unit: "m",
        usual: 0.005,
        of: distance,
    },
    ClosedForm {
        name: "slider_creep",
        worlds: &["slider"],
        what: "how far it moves from 2.5 s to 3 s",
        formula: "0",
        unit: "m",
        usual: 1e-5,
        of: creep,
    },
];

fn distance(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "slider", SECS)?;
    let expected = MASS * SPEED * SPEED / (2.0 * FRICTION);
    Ok(Measured::new(expected, way.position_at(SECS).x - way.poses[0].translation.x))
}

fn creep(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "slider", SECS)?;
    Ok(Measured::deviation(way.position_at(2.5).distance(way.position_at(SECS))))
}
