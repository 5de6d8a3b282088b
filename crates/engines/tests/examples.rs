//! The examples the book shows do what they say.

use std::path::Path;

use headland_base::maths::{FRAC_PI_2, TAU};
use headland_base::{Severity, Source};
use headland_record::{LoadOptions, Reader, load};
use headland_sim::{Engine as _, EngineOptions, Model};

#[allow(dead_code, reason = "its `main` is not called here")]
#[path = "../examples/free_flight.rs"]
mod free_flight;
#[allow(dead_code, reason = "its `main` is not called here")]
#[path = "../examples/lift_pendulum.rs"]
mod lift_pendulum;

const WORLDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds");

/// The torque law has no error at rest, so the bob ends at the horizontal: to a milliradian,
/// at the height of its hinge. The altimeter is never more than its noise away from the pose.
#[test]
fn lift_pendulum_ends_at_the_horizontal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lifted.mcap");
    let end = lift_pendulum::lift(&Path::new(WORLDS).join("pendulum.sdf"), &file).expect("runs");
    let angle = end.state.dofs[0].position;
    assert!((angle.abs() - FRAC_PI_2).abs() < 1e-3 && angle.abs() < TAU, "{angle}");

    let (recording, findings) = load(Reader::open(&file).expect("opens"), &LoadOptions::default());
    assert!(!findings.has_errors());
    let column = |key: &str| recording.column(key).unwrap_or_else(|| panic!("no {key}"));
    let (seen, truth) = (column("pendulum/altitude"), column("pendulum/pose/z"));
    assert_eq!(seen.values.len(), 251, "50 Hz for five seconds, both ends");
    let mut worst: f64 = 0.0;
    for (time, value) in seen.times.iter().zip(seen.values.iter()) {
        let at = truth.times.binary_search(time).expect("a pose at every step");
        worst = worst.max((value - truth.values[at]).abs());
    }
    assert!(worst <= 1e-3 + 1e-12 && worst > 5e-4, "noise of up to {worst}");
}

#[test]
fn free_flight_is_exact_and_refuses_joints() {
    let off = free_flight::fall(&Path::new(WORLDS).join("ball.sdf")).expect("runs");
    assert!(off.abs() < 1e-12, "{off}");
    let text = std::fs::read_to_string(format!("{WORLDS}/pendulum.sdf")).expect("a world");
    let source = Source::new("pendulum.sdf", text);
    let read = headland_world::read_text(source, Path::new(WORLDS), &Default::default());
    let model = Model::compile(&std::sync::Arc::new(read.expect("a world").world)).expect("one");
    let refused =
        free_flight::FreeFlight.check(&model, &EngineOptions::new(model.world.physics.step));
    assert!(refused.iter().any(|d| d.severity == Severity::Error && d.code == "no-joints"));
}
