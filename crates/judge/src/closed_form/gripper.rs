//! `gripper_light.sdf` and `gripper_heavy.sdf`: two fingers press on a ball and lift it.

use headland_record::Recording;

use super::reading::{Way, gravity, joint_column};
use super::{ClosedForm, Measured};

/// Of the ball \[m\].
pub const RADIUS: f64 = 0.1;
/// Thickness of a finger's pad \[m\].
pub const PAD: f64 = 0.04;
/// Between pads and ball.
pub const FRICTION: f64 = 1.0;
/// Of the hand and both fingers \[kg\].
pub const HAND_MASS: f64 = 2.0;
/// Of the ball in each world \[kg\].
pub const BALL_MASSES: [(&str, f64); 2] = [("gripper_light", 1e-4), ("gripper_heavy", 0.65)];
/// When lifting begins, and when the height is measured \[s\].
pub const TIMES: (f64, f64) = (1.0, 4.0);

const WORLDS: &[&str] = &["gripper_light", "gripper_heavy"];

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm {
        name: "gripper_height",
        worlds: WORLDS,
        what: "how high the ball is after 4 s",
        formula: "r + a·t²/2 where 2·μ·F ≥ m·(g + a), else r",
        unit: "m",
        usual: 0.02,
        of: height,
    },
    ClosedForm {
        name: "gripper_gap",
        worlds: WORLDS,
        what: "how far the fingers are apart when lifting begins",
        formula: "2·r",
        unit: "m",
        usual: 0.005,
        of: |recording| gap(recording, TIMES.0),
    },
    ClosedForm {
        name: "gripper_gap_end",
        worlds: WORLDS,
        what: "how far the fingers are apart after 4 s",
        formula: "2·r where 2·μ·F ≥ m·(g + a), else 0",
        unit: "m",
        usual: 0.005,
        of: |recording| gap(recording, TIMES.1),
    },
];

/// The acceleration \[m/s²\] with which hand and ball are lifted together, if the fingers hold it:
/// with `a = F_lift/(M + m) − g` the ball asks for `m·(g + a)`, and two fingers that press with
/// `F` give up to `2·μ·F`.
fn lift(recording: &Recording) -> Result<Option<f64>, String> {
    let world = recording.facts.get("world").unwrap_or_default();
    let (_, mass) =
        BALL_MASSES.iter().find(|(name, _)| *name == world).ok_or("no mass of its ball")?;
    let gravity = gravity(recording)?.length();
    let last = |joint: &str| -> Result<f64, String> {
        let (_, efforts) = joint_column(recording, joint, "effort", TIMES.1)?;
        efforts.last().copied().ok_or_else(|| format!("no effort of `{joint}`"))
    };
    let acceleration = last("lift")? / (HAND_MASS + mass) - gravity;
    let grip = FRICTION * (last("close_left")? + last("close_right")?);
    let is_held = grip >= mass * (gravity + acceleration);
    Ok(is_held.then_some(acceleration))
}

fn height(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "ball", TIMES.1)?;
    let secs = TIMES.1 - TIMES.0;
    let rise = lift(recording)?.map_or(0.0, |acceleration| 0.5 * acceleration * secs * secs);
    Ok(Measured::new(RADIUS + rise, way.position_at(TIMES.1).z))
}

fn gap(recording: &Recording, secs: f64) -> Result<Measured, String> {
    let at = |finger: &str| {
        Way::of(recording, &format!("gripper/{finger}"), secs).map(|way| way.position_at(secs).x)
    };
    // Fingers that have left the ball behind close until they meet.
    let is_between = secs <= TIMES.0 || lift(recording)?.is_some();
    let expected = if is_between { 2.0 * RADIUS } else { 0.0 };
    Ok(Measured::new(expected, at("right")? - at("left")? - PAD))
}
