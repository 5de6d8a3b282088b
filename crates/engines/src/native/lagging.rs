//! Friction as a force, in steps that are too long for it.
//!
//! A force `−c·u` against a sliding speed throws what it slows down back as soon as
//! `h·c·R > 2`, with `R` what the point answers to an impulse; Coulomb's limit makes of that a
//! chatter between both sides of it, in which things crept three times too fast and a robot that
//! stood drifted by 9 mm/s. Rows are the cure of the law without a limit ([`super::rub`]) and take
//! three times as long as all the rest of a robot that lies. Here friction sees a mixture of the
//! speed and of one that lags behind it:
//!
//! ```text
//! F = −c·(β·u + (1−β)·w)      w ← w + γ·(u − w)      β = 0.4/ρ   γ = 0.2/ρ   ρ = 4·h·c·(R_a + R_b)
//! ```
//!
//! That is a damper the step can follow beside a spring and a damper in series: it makes no
//! energy, and is the law itself for what slides steadily and for every step short enough
//! (`ρ ≤ 0.4`). What it costs is that things give in by `μ/s_μ` for the time of the lag, `h·ρ/0.2`:
//! 2 mm at most in steps of 1 ms on the default surface.
//!
//! Integrators of several stages follow at each of them by its share: the speed at which steps begin
//! is not the one they have on the whole, where a spring pushes in one half of a step and lets go in
//! the other.

use headland_base::Vec3;
use headland_base::maths::{length, sqrt};
use headland_sim::contact::soft::{PointMotion, SurfaceLaw};
use headland_sim::{Model, Motion, Rigid};

/// What friction at a point sees: kept from step to step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    /// The share that is the speed itself.
    direct: f64,
    /// Sliding \[m/s\] and spinning speed \[rad/s\], as they lag behind.
    speeds: [Vec3; 2],
}

/// One look at how things move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// The step it is of \[s\].
    pub step: f64,
    /// The share of the step that it stands for.
    pub share: f64,
}

/// The share of the momentum of what slides that friction may take in a step. Far from 2, for
/// things are touched from several sides.
const DIRECT: f64 = 0.4;

/// The same of friction that lags. Half of the other: what it swings by dies out in some steps.
const FOLLOWING: f64 = 0.2;

/// Points at which two flat sides touch: each takes its share.
const POINTS: f64 = 4.0;

/// Friction is not taken to be stronger than this many times what stops a thing in a step. What
/// answers is sought link by link, as if no joint held them, which is too much by ten times for
/// most; the lag need not be as long as that says.
const STRONGEST: f64 = 20.0;

impl Lag {
    /// Friction that sees what is.
    pub const NONE: Lag = Lag { direct: 1.0, speeds: [Vec3::ZERO; 2] };

    /// Moves on, at a point that answers so much \[1/kg\]; one that was not there before has
    /// nothing to lag behind.
    #[inline]
    pub fn follow(
        &mut self,
        look: Look,
        response: f64,
        law: &SurfaceLaw,
        motion: &PointMotion,
        is_known: bool,
    ) {
        let pressure = law.stiffness * motion.depth;
        let strength = (POINTS * look.step * law.sliding * pressure * response).min(STRONGEST);
        if strength.is_nan() || strength <= DIRECT {
            *self = Lag::NONE;
            return;
        }
        let starts = !is_known || self.direct == 1.0;
        let share = 1.0 / strength;
        let follows = if starts { 1.0 } else { look.share * FOLLOWING * share };
        self.direct = DIRECT * share;
        // Beyond these friction is at its limit: `μ/s_μ`, and that by the radius `√(s_ν/s_μ)`.
        let fastest = law.mu / law.sliding;
        let squares = [fastest * fastest, fastest * law.mu / law.spinning];
        let (_, now) = parts_of(motion);
        for ((lags, now), most) in self.speeds.iter_mut().zip(now).zip(squares) {
            *lags = within(*lags + (now - *lags) * follows, most);
        }
    }

    /// How friction sees two things move.
    #[inline]
    pub fn seen(&self, motion: PointMotion) -> PointMotion {
        if self.direct == 1.0 {
            return motion;
        }
        let (closing, now) = parts_of(&motion);
        let mixed = |k: usize| now[k] * self.direct + self.speeds[k] * (1.0 - self.direct);
        PointMotion { velocity: closing + mixed(0), angular_velocity: mixed(1), ..motion }
    }
}

/// Along the normal, and how it slides and spins.
fn parts_of(motion: &PointMotion) -> (Vec3, [Vec3; 2]) {
    let closing = motion.normal * motion.velocity.dot(motion.normal);
    (closing, [motion.velocity - closing, motion.angular_velocity])
}

/// No longer than the root of `square_max`. What is no number is nothing: it must not be kept.
fn within(v: Vec3, square_max: f64) -> Vec3 {
    let square = v.length_squared();
    if square <= square_max {
        v
    } else if square.is_finite() {
        v * sqrt(square_max / square)
    } else {
        Vec3::ZERO
    }
}

/// How much a point of each rigid may answer to an impulse \[1/kg\], by how far its shapes reach
/// from its origin \[m\]. About the mean of its axes: friction is held to a fifth of what would be
/// too much.
pub(super) fn responses(model: &Model, reaches: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
    let mut out = vec![0.0; model.rigids.len()];
    for (rigid, reach) in reaches {
        let Rigid { motion, mass, centre, inertia, .. } = &model.rigids[rigid];
        if *motion == Motion::Dynamic {
            let inverse = inertia.inverse();
            let turning = (inverse.x_axis.x + inverse.y_axis.y + inverse.z_axis.z) / 3.0;
            let arm = reach + length(*centre);
            out[rigid] = 1.0 / mass + arm * arm * turning;
        }
    }
    out
}
