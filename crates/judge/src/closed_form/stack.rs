//! `stack.sdf`: twenty boxes on top of each other.

use headland_record::Recording;

use super::reading::{Way, worst};
use super::{ClosedForm, Measured};

/// How many.
pub const N_BOXES: usize = 20;
/// Edge of a box \[m\].
pub const EDGE: f64 = 0.5;
/// How long they are watched \[s\].
pub const SECS: f64 = 3.0;

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm {
        name: "stack_height",
        worlds: &["stack", "stack_direct"],
        what: "how high the top box is after 3 s",
        formula: "(n − 1/2)·edge",
        unit: "m",
        usual: 0.01,
        of: height,
    },
    ClosedForm {
        name: "stack_drift",
        worlds: &["stack", "stack_direct"],
        what: "how far any box moves to the side, at most",
        formula: "0",
        unit: "m",
        usual: 0.005,
        of: drift,
    },
];

fn height(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, &format!("box_{}", N_BOXES - 1), SECS)?;
    Ok(Measured::new((N_BOXES as f64 - 0.5) * EDGE, way.position_at(SECS).z))
}

fn drift(recording: &Recording) -> Result<Measured, String> {
    let mut most = 0.0;
    for i in 0..N_BOXES {
        let way = Way::of(recording, &format!("box_{i}"), SECS)?;
        let first = way.poses[0].translation;
        let aside = way.poses.iter().map(|p| (p.translation - first).truncate().length());
        most = worst([most, worst(aside)].into_iter());
    }
    Ok(Measured::deviation(most))
}
