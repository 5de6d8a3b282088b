//! `ball.sdf`: a ball falls 3 m and bounces with a restitution of 0.7.

use headland_base::maths::sqrt;
use headland_record::Recording;

use super::reading::{Way, gravity};
use super::{ClosedForm, Measured};

/// Of the ball \[m\].
pub const RADIUS: f64 = 0.5;
/// Between ball and ground.
pub const RESTITUTION: f64 = 0.7;
/// How far it falls \[m\].
pub const DROP: f64 = 3.0;

/// Bounces whose tops are compared; the fourth still rises 17 cm.
const N_BOUNCES: usize = 4;
/// A rise or a fall of less than this is no turn \[m\]. Contacts that chatter stay below it.
const TURN: f64 = 0.01;
/// How long the fourth bounce is over, with room \[s\].
const SECS: f64 = 4.0;

/// What is known of it.
pub const FORMS: &[ClosedForm] = &[
    ClosedForm {
        name: "ball_impact",
        worlds: &["ball"],
        what: "when the ball first hits the ground",
        formula: "√(2·h/g)",
        unit: "s",
        usual: 0.002,
        of: impact,
    },
    ClosedForm {
        name: "ball_ratio",
        worlds: &["ball"],
        what: "of the first four bounces, the one furthest from its share of the height before",
        formula: "e² = 0.49",
        unit: "",
        usual: 0.01,
        of: ratio,
    },
];

/// In the air the ball only gets faster; the first sample at which it has got slower is after
/// the impact. The fall before it is extended to the ground, by no more than that sample.
fn impact(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "ball", SECS)?;
    let expected = sqrt(2.0 * DROP / -gravity(recording)?.z);
    let speed = |i: usize| way.motions[i].linear.z;
    let hit = (1..way.times.len())
        .find(|&i| speed(i) > speed(i - 1))
        .ok_or("the ball never hits the ground")?;
    let before = hit - 1;
    let height = way.poses[before].translation.z - RADIUS;
    let left = if speed(before) < 0.0 { height / -speed(before) } else { 0.0 };
    let until = way.times[hit] - way.times[before];
    Ok(Measured::new(expected, way.times[before] + left.min(until)))
}

fn ratio(recording: &Recording) -> Result<Measured, String> {
    let way = Way::of(recording, "ball", SECS)?;
    let tops = tops(way.poses.iter().map(|pose| pose.translation.z - RADIUS));
    let expected = RESTITUTION * RESTITUTION;
    // What does not come up again has reached none of the height before.
    let ratio = |i: usize| match (tops.get(i - 1), tops.get(i)) {
        (Some(before), Some(top)) => top / before,
        _ => 0.0,
    };
    let furthest = (1..=N_BOUNCES)
        .map(ratio)
        .max_by(|a, b| (a - expected).abs().total_cmp(&(b - expected).abs()))
        .expect("four bounces");
    Ok(Measured::new(expected, furthest))
}

/// The heights at which it turns from rising to falling, the first of which is the start, and
/// the last height where it still rises at the end.
fn tops(heights: impl Iterator<Item = f64>) -> Vec<f64> {
    let (mut tops, mut is_rising, mut extreme) = (Vec::new(), true, f64::NEG_INFINITY);
    for height in heights {
        if is_rising {
            extreme = extreme.max(height);
            if height < extreme - TURN {
                tops.push(extreme);
                (is_rising, extreme) = (false, height);
            }
        } else {
            extreme = extreme.min(height);
            if height > extreme + TURN {
                (is_rising, extreme) = (true, height);
            }
        }
    }
    if is_rising {
        tops.push(extreme);
    }
    tops
}
