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
//! F = −c·(β·u + (1−β)·w)      w ← w + γ·(u − w)      β = 0.4/ρ   γ = 0.2/ρ
//! ρ = 4·h·c·(R_a + R_b), 20 at most
//! ```
//!
//! That is a damper the step can follow beside a spring and a damper in series: pressed evenly it
//! makes no energy, and it is the law itself for what slides steadily and for every step short
//! enough (`ρ ≤ 0.4`). What it costs is that things give in by `μ/s_μ` for the time of the lag,
//! `h·ρ/0.2`, 2 mm at most in steps of 1 ms on the default surface, and that what was stopped swings
//! back by some `μ/s_μ`. What is too strong even for that, such as a few grams gripped by tens of
//! newtons at 1 ms, chatters as it would without.
//!
//! Spin does not lag: nothing rests on its friction, and what turned a ball back was seen. Where it
//! could stop a thing several times in a step it is taken as weak as a step can follow.
//!
//! Integrators of several stages follow at each of them by its share: the speed at which steps begin
//! is not the one they have on the whole, where a spring pushes in one half of a step and lets go in
//! the other. The inner steps of the adaptive one are short enough by themselves.

use headland_base::Vec3;
use headland_sim::contact::soft::{PointMotion, SurfaceLaw, held_within};
use headland_sim::tree::Forest;
use headland_sim::{Model, Rigid};

use super::packing::is_moved_by_forces;

/// What friction at a point sees: kept from step to step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    /// The share that is the speed itself.
    direct: f64,
    /// Sliding speed as it lags behind \[m/s\].
    sliding: Vec3,
    /// The share of the spin that friction sees.
    spinning: f64,
}

/// One look at how things move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// The step it is of \[s\].
    pub step: f64,
    /// The share of the step that it stands for.
    pub share: f64,
    /// Only of points whose robots are looked at in stages, or only of others.
    pub at_stages: Option<bool>,
}

/// How much a point of a rigid may answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Response {
    /// To an impulse \[1/kg\].
    pub sliding: f64,
    /// To one that turns it \[1/(kg·m²)\].
    pub spinning: f64,
}

impl std::ops::Add for Response {
    type Output = Response;

    fn add(self, other: Response) -> Response {
        Response { sliding: self.sliding + other.sliding, spinning: self.spinning + other.spinning }
    }
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
    pub const NONE: Lag = Lag { direct: 1.0, sliding: Vec3::ZERO, spinning: 1.0 };

    /// Moves on, at a point that answers so much.
    #[inline]
    pub fn follow(
        &mut self,
        look: Look,
        response: Response,
        law: &SurfaceLaw,
        motion: &PointMotion,
    ) {
        let pressure = POINTS * look.step * law.stiffness * motion.depth;
        let spin_strength = pressure * law.spinning * response.spinning;
        // All points together stop it at most.
        self.spinning = if spin_strength > 1.0 { 1.0 / spin_strength } else { 1.0 };
        let strength = pressure * law.sliding * response.sliding;
        // Numbers that are none do not lag, either.
        if strength.is_nan() || strength <= DIRECT {
            (self.direct, self.sliding) = (1.0, Vec3::ZERO);
            return;
        }
        let starts = self.direct == 1.0;
        let share = 1.0 / strength.min(STRONGEST);
        self.direct = DIRECT * share;
        let before = across(motion.normal, self.sliding);
        let now = across(motion.normal, motion.velocity);
        // Beyond that friction is at its limit.
        let fastest = law.mu / law.sliding;
        let follows = if starts {
            // From nothing on: at first as much as takes out what there is.
            (share - self.direct) / (1.0 - self.direct)
        } else {
            look.share * FOLLOWING * share
        };
        let lags = held_within(before + (now - before) * follows, fastest * fastest);
        // What is no number must not be kept.
        self.sliding = if lags.is_finite() { lags } else { Vec3::ZERO };
    }

    /// How friction sees two things move.
    #[inline]
    pub fn seen(&self, motion: PointMotion) -> PointMotion {
        let angular_velocity = motion.angular_velocity * self.spinning;
        if self.direct == 1.0 {
            return PointMotion { angular_velocity, ..motion };
        }
        let now = across(motion.normal, motion.velocity);
        // The plane may have turned since.
        let lags = across(motion.normal, self.sliding);
        let velocity = motion.velocity - (now - lags) * (1.0 - self.direct);
        PointMotion { velocity, angular_velocity, ..motion }
    }
}

/// What of it is not along the normal.
fn across(normal: Vec3, v: Vec3) -> Vec3 {
    v - normal * v.dot(normal)
}

/// How much a point of each rigid that forces move may answer, by how far its shapes reach from its
/// origin \[m\]. Sliding is about the mean of its axes: friction is held to a fifth of what would be
/// too much. Spin is of all of them, as needles that were turned up without end asked for.
pub(super) fn responses(
    model: &Model,
    reaches: impl Iterator<Item = (usize, f64)>,
) -> Vec<Response> {
    let mut is_moved = vec![false; model.rigids.len()];
    for tree in Forest::of(model).trees.iter().filter(|tree| is_moved_by_forces(model, tree)) {
        tree.nodes.iter().filter_map(|node| node.rigid_idx).for_each(|i| is_moved[i] = true);
    }
    let mut out = vec![Response::default(); model.rigids.len()];
    for (rigid, reach) in reaches.filter(|(rigid, _)| is_moved[*rigid]) {
        let Rigid { mass, centre, inertia, .. } = &model.rigids[rigid];
        let inverse = inertia.inverse();
        let spinning = inverse.x_axis.x + inverse.y_axis.y + inverse.z_axis.z;
        let arm = reach + centre.length();
        out[rigid] = Response { sliding: 1.0 / mass + arm * arm * spinning / 3.0, spinning };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_sim::contact::soft::soft_coulomb;

    const LOOK: Look = Look { step: 1e-3, share: 1.0, at_stages: None };

    fn motion(velocity: Vec3, angular_velocity: Vec3) -> PointMotion {
        PointMotion { depth: 1e-3, normal: Vec3::Z, velocity, angular_velocity }
    }

    fn answering(sliding: f64) -> Response {
        Response { sliding, spinning: 0.0 }
    }

    /// In steps short enough, and in the end for what slides steadily, friction sees what is.
    #[test]
    fn what_slides_steadily_is_not_changed() {
        let law = SurfaceLaw::default();
        let slides = motion(Vec3::new(3e-3, 1e-3, 0.0), Vec3::new(0.0, 0.0, 0.1));
        for response in [1e-3, 1.0, 100.0] {
            let mut lag = Lag::NONE;
            (0..4_000).for_each(|_| lag.follow(LOOK, answering(response), &law, &slides));
            let off = lag.seen(slides).velocity - slides.velocity;
            assert!(off.length() < 1e-15, "{response}: {off}");
        }
        let mut lag = Lag::NONE;
        lag.follow(LOOK, answering(1e-3), &law, &motion(Vec3::X, Vec3::ZERO));
        assert_eq!(lag.seen(slides), slides, "a short step has no lag");
    }

    /// A mass that friction alone slows down, many times too strong for the step: it stops without
    /// being thrown back by more than it came with, and never has more energy than before.
    #[test]
    fn what_lags_makes_no_energy() {
        let law = SurfaceLaw { mu: 1e9, ..SurfaceLaw::default() };
        for mass in [3.0, 1.0, 0.3] {
            let (mut lag, mut speed) = (Lag::NONE, 0.02_f64);
            let mut fastest = speed;
            for _ in 0..3_000 {
                // Four points, as of a flat side.
                let now = motion(Vec3::X * speed, Vec3::ZERO);
                lag.follow(LOOK, answering(1.0 / mass), &law, &now);
                let force = soft_coulomb(&law, &lag.seen(now)).force.x;
                speed += 4.0 * LOOK.step * force / mass;
                assert!(speed.abs() <= fastest, "{mass} kg: {speed} m/s");
                fastest = fastest.max(speed.abs());
            }
            assert!(speed.abs() < 1e-6, "{mass} kg: {speed} m/s are left");
        }
    }

    /// A plane that turns: what lags stays within it, so springs see how things close and no more.
    #[test]
    fn what_lags_stays_in_the_plane() {
        let law = SurfaceLaw::default();
        let mut lag = Lag::NONE;
        lag.follow(LOOK, answering(10.0), &law, &motion(Vec3::X * 0.01, Vec3::ZERO));
        let turned = PointMotion { normal: Vec3::X, ..motion(Vec3::X * -1e-4, Vec3::ZERO) };
        assert_eq!(lag.seen(turned).velocity.x, -1e-4);
    }

    /// A ball that spins, however strong its friction and light it is, only slows down.
    #[test]
    fn spin_is_not_turned_back() {
        for (spinning, inertia) in [(0.05, 4e-3), (0.05, 1e-8), (1e3, 4e-3), (1e12, 1e-10)] {
            let law = SurfaceLaw { spinning, mu: 1e30, ..SurfaceLaw::default() };
            let (mut lag, mut spin) = (Lag::NONE, 5.0_f64);
            for _ in 0..500 {
                let now = motion(Vec3::ZERO, Vec3::Z * spin);
                lag.follow(LOOK, Response { sliding: 1.0, spinning: 1.0 / inertia }, &law, &now);
                let next = spin + LOOK.step * soft_coulomb(&law, &lag.seen(now)).torque.z / inertia;
                assert!((0.0..spin).contains(&next), "{spinning}, {inertia}: {next} after {spin}");
                spin = next;
            }
            assert!(spin < 1e-6, "{spinning}, {inertia}: {spin} rad/s are left");
        }
    }

    /// Nothing of a law, and numbers that are none, leave numbers.
    #[test]
    fn what_is_no_number_is_not_kept() {
        let still = motion(Vec3::ZERO, Vec3::ZERO);
        for (sliding, spinning, mu) in [(0.0, 0.0, 0.0), (50.0, 0.0, 0.0), (0.0, 0.05, 0.0)] {
            let law = SurfaceLaw { sliding, spinning, mu, ..SurfaceLaw::default() };
            let mut lag = Lag::NONE;
            let response = Response { sliding: 100.0, spinning: 1e4 };
            for velocity in [1.0, f64::NAN, f64::INFINITY] {
                lag.follow(LOOK, response, &law, &motion(Vec3::X * velocity, Vec3::Z * velocity));
            }
            let seen = lag.seen(still);
            assert!(seen.velocity.is_finite() && seen.angular_velocity.is_finite(), "{law:?}");
            assert!(soft_coulomb(&law, &seen).torque.is_finite(), "{law:?}");
        }
    }
}
