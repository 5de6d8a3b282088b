//! Patches: points at which two links hold on to each other, taken as one.
//!
//! Four corners of a foot that sticks are twelve rows, but all they say is that the foot does not
//! move: six. Of what the corners do against each other nothing moves, and the least of it is
//! known in closed form. With points `r` from their centre, `Σ r = 0`, a force `f` and a moment
//! `τ` come of
//!
//! ```text
//! λ_i = f/n + ω × r_i,   T·ω = τ,   T = Σ (|r|²·1 − r·rᵀ)
//! ```
//!
//! and of no smaller impulses. So where points of two links held in the last step, six rows that
//! hold stand for all that press, which takes an eighth of the time to solve. If every point of the
//! answer pushes and stays within its cone, it is an answer of the whole problem, whose law it
//! keeps point by point. If not, `choosing` looks for other patches, or the whole problem is solved.

use headland_base::maths::sqrt;
use headland_base::{Mat3, Vec3};
use headland_sim::constraint::Blocks;
use headland_sim::contact::hard::{Contact, Row, Strength};

use super::contacts::Touch;

/// Points of two links that held, together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    /// Blocks of the points: contacts of the two links that follow each other.
    pub first: usize,
    pub n: usize,
    /// The block of its force; that of its moment is the next one.
    pub block: usize,
    pub parts: Parts,
    pub spread: Spread,
    pub target: Target,
}

impl Patch {
    /// What its rows in a block are to do.
    pub fn rows(&self, block: usize) -> [Row; 3] {
        let Target { velocity, spin } = self.target;
        let target = if block == self.block { velocity } else { spin * self.spread.radius };
        target.to_array().map(Row::held)
    }
}

/// A patch before its rows.
pub(super) struct Patching {
    /// How b moves at its centre against a if nothing kicks, and turns, times its radius \[m/s\].
    pub free: [Vec3; 2],
    /// Source, sign, and where the centre is from its robot's origin.
    pub sides: [Option<(usize, f64, Vec3)>; 2],
}

impl Patching {
    /// Opens its two blocks: along the world's axes three of its force, and three of its moment in
    /// units of its radius.
    pub fn open(&self, radius: f64, blocks: &mut Blocks) {
        let axes = [Vec3::X, Vec3::Y, Vec3::Z];
        let row = |turn: Vec3, line: Vec3| [turn.x, turn.y, turn.z, line.x, line.y, line.z];
        blocks.open(3, self.free[0].to_array());
        for (source, sign, arm) in self.sides.iter().flatten() {
            blocks.side(*source, &axes.map(|axis| row(arm.cross(axis * *sign), axis * *sign)));
        }
        blocks.open(3, self.free[1].to_array());
        for (source, sign, _) in self.sides.iter().flatten() {
            blocks.side(*source, &axes.map(|axis| row(axis * (*sign * radius), Vec3::ZERO)));
        }
    }
}

/// Where some points are, as far as it says what they can hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    n: usize,
    pub centre: Vec3,
    /// How far from it the points are, about \[m\]: a unit of a moment's row is a unit of impulse
    /// at this distance.
    pub radius: f64,
    /// `T⁻¹` \[1/m²\].
    inverse: Mat3,
}

/// How two links shall move against each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// At the centre \[m/s\].
    pub velocity: Vec3,
    /// \[rad/s\]
    pub spin: Vec3,
}

/// A point of a patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub position: Vec3,
    /// Normal and tangents.
    pub directions: [Vec3; 3],
    pub mu: f64,
    pub is_part: bool,
    /// What it does: nothing is known of it yet, or it is as strong as it can be.
    pub impulse: Option<Vec3>,
}

/// Fewer points leave something free.
const N_LEAST: usize = 3;

/// Of more points than this nobody knows the least: they are solved point by point.
const N_MOST: usize = 16;

/// So many points within their cones hold all that press: the links could only tilt about the line
/// through them, which lifts some of the others.
const N_HELD: usize = 2;

/// Share of Coulomb's limit up to which a point holds.
const HOLDS: f64 = 0.999;

/// How far from its target a point may be left \[m/s\]: gaps under a foot are those of a plane but
/// for rounding, those under a ball are not.
const OFF: f64 = 1e-9;

/// Determinants of `T`, against what they are of points all around, below which points lie on a
/// line.
const ON_A_LINE: f64 = 1e-5;

/// The contacts of two links, if those that press held in the last step, and how the links are to
/// move against each other: where gaps are closed, not at all. What touches for the first time is
/// taken to press and to hold.
pub(super) fn held(
    touches: &[Touch],
    contacts: &[Contact],
    strengths: &[Strength],
) -> Option<(Parts, Spread, Target)> {
    if !(N_LEAST..=N_MOST).contains(&touches.len()) {
        return None;
    }
    let parts = Parts::of(touches);
    let mut n_held = 0;
    for ((touch, contact), strength) in touches.iter().zip(contacts).zip(strengths) {
        if contact.restitution > 0.0 || *strength != Strength::ENDLESS {
            return None;
        }
        let [normal, first, second] = touch.impulse;
        let most = HOLDS * contact.mu * normal;
        let holds = match parts {
            Parts::Pressed => first * first + second * second < most * most,
            Parts::Fresh => parts.has(touch, contact) && contact.mu > 0.0,
        };
        n_held += usize::from(holds);
    }
    if n_held < N_HELD {
        return None;
    }
    let pressing = touches.iter().zip(contacts).filter(|(touch, at)| parts.has(touch, at));
    let spread = Spread::of(pressing.clone().map(|(touch, _)| touch.point.position))?;
    let speeds = pressing.map(|(touch, contact)| {
        (touch.point.position - spread.centre, touch.point.normal * contact.target)
    });
    let target = spread.motion(speeds);
    let is_met = |(touch, contact): (&Touch, &Contact)| {
        let arm = touch.point.position - spread.centre;
        let speed = target.velocity + target.spin.cross(arm);
        if parts.has(touch, contact) {
            (speed - touch.point.normal * contact.target).length() <= OFF
        } else {
            speed.dot(touch.point.normal) - contact.target >= -OFF
        }
    };
    touches.iter().zip(contacts).all(is_met).then_some((parts, spread, target))
}

/// Which contacts of two links are part of a patch: the others are near, or touch and do not press.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// Those that pressed in the last step.
    Pressed,
    /// Nothing pressed: those that touch.
    Fresh,
}

impl Parts {
    fn of(touches: &[Touch]) -> Parts {
        let pressed = touches.iter().any(|touch| touch.impulse[0] > 0.0);
        if pressed { Parts::Pressed } else { Parts::Fresh }
    }

    pub fn has(self, touch: &Touch, contact: &Contact) -> bool {
        match self {
            Parts::Pressed => touch.impulse[0] > 0.0,
            Parts::Fresh => contact.target == 0.0,
        }
    }
}

impl Spread {
    /// None where too few points, or all on a line, leave something free.
    fn of(points: impl Iterator<Item = Vec3> + Clone) -> Option<Spread> {
        let (sum, n) = points.clone().fold((Vec3::ZERO, 0), |(sum, n), at| (sum + at, n + 1));
        if n < N_LEAST {
            return None;
        }
        let centre = sum / n as f64;
        let mut spread = Mat3::ZERO;
        for at in points {
            let r = at - centre;
            let outer = Mat3::from_cols(r * r.x, r * r.y, r * r.z);
            spread += Mat3::from_diagonal(Vec3::splat(r.length_squared())) - outer;
        }
        let mean = (spread.x_axis.x + spread.y_axis.y + spread.z_axis.z) / 3.0;
        let volume = spread.determinant();
        if volume.is_nan() || volume <= ON_A_LINE * mean * mean * mean {
            return None;
        }
        let radius = sqrt(mean / n as f64);
        Some(Spread { n, centre, radius, inverse: spread.inverse() })
    }

    /// The motion of one body that comes nearest to speeds of the points, each at its arm.
    fn motion(&self, speeds: impl Iterator<Item = (Vec3, Vec3)>) -> Target {
        let (mut sum, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        for (arm, speed) in speeds {
            sum += speed;
            moment += arm.cross(speed);
        }
        Target { velocity: sum / self.n as f64, spin: self.inverse * moment }
    }
}

/// Shares an impulse and a moment about the centre out over the points, the least that comes to
/// it. A point that would pull or slide does what it can, and the others the rest. `false` where
/// they cannot.
pub(super) fn share_out(whole: &Spread, force: Vec3, moment: Vec3, points: &mut [Point]) -> bool {
    let (mut spread, mut force, mut moment) = (*whole, force, moment);
    loop {
        let (even, turn) = (force / spread.n as f64, spread.inverse * moment);
        let mut is_right = true;
        let centre = spread.centre;
        let at = |point: &Point| even + turn.cross(point.position - centre);
        let (mut taken, mut taken_moment) = (Vec3::ZERO, Vec3::ZERO);
        for point in points.iter_mut().filter(|point| point.is_part && point.impulse.is_none()) {
            let wanted = at(point);
            if let Some(most) = point.nearest(wanted) {
                is_right = false;
                point.impulse = Some(most);
                taken += most;
                taken_moment += (point.position - centre).cross(most);
            }
        }
        if is_right {
            let rest = points.iter_mut().filter(|point| point.is_part && point.impulse.is_none());
            rest.for_each(|point| point.impulse = Some(at(point)));
            return true;
        }
        let rest = points.iter().filter(|point| point.is_part && point.impulse.is_none());
        let Some(next) = Spread::of(rest.map(|point| point.position)) else { return false };
        force -= taken;
        moment = moment - taken_moment - (next.centre - centre).cross(force);
        spread = next;
    }
}

impl Point {
    /// What of an impulse beyond the cone the point can do; none where it is within.
    fn nearest(&self, impulse: Vec3) -> Option<Vec3> {
        let [normal, first, second] = self.directions.map(|direction| impulse.dot(direction));
        let length = sqrt(first * first + second * second);
        if normal >= 0.0 && length <= self.mu * normal {
            return None;
        }
        // The nearest of the cone: along its side, or at its tip.
        let along = (normal + self.mu * length) / (1.0 + self.mu * self.mu);
        // A little inside, so that rounding does not put it beyond.
        let part = (1.0 - 1e-12) * self.mu * along / length;
        let [n, t1, t2] = self.directions;
        let is_tip = along.is_nan() || along <= 0.0;
        Some(if is_tip { Vec3::ZERO } else { n * along + (t1 * first + t2 * second) * part })
    }
}

#[cfg(test)]
mod tests {
    use headland_base::Seed;
    use rand_chacha::rand_core::Rng;

    use super::*;

    /// Corners of a sole of 20 by 10 cm, with friction all the same.
    fn corners(mu: f64) -> Vec<Point> {
        let at = [(0.1, 0.05), (0.1, -0.05), (-0.1, 0.05), (-0.1, -0.05)];
        let point = |(x, y): (f64, f64)| Point {
            position: Vec3::new(x + 0.3, y - 0.2, 0.7),
            directions: [Vec3::Z, Vec3::X, Vec3::Y],
            mu,
            is_part: true,
            impulse: None,
        };
        at.into_iter().map(point).collect()
    }

    fn spread_of(points: &[Point]) -> Spread {
        Spread::of(points.iter().map(|point| point.position)).expect("not on a line")
    }

    /// Force and moment about the centre that impulses come to.
    fn sums(spread: &Spread, points: &[Point]) -> (Vec3, Vec3) {
        points.iter().fold((Vec3::ZERO, Vec3::ZERO), |(force, moment), point| {
            let impulse = point.impulse.expect("shared out");
            (force + impulse, moment + (point.position - spread.centre).cross(impulse))
        })
    }

    /// Whatever is asked of them, points either refuse or do just that, each within its cone; and
    /// both happens.
    #[test]
    fn what_is_shared_out_comes_to_the_whole() {
        let mut dice = Seed::new(1).rng();
        let mut number = || f64::from(dice.next_u32()) / f64::from(u32::MAX) - 0.5;
        let (mut n_done, mut n_refused, mut n_at_their_limit) = (0, 0, 0);
        for _ in 0..2_000 {
            let mut points = corners(0.5);
            let spread = spread_of(&points);
            let force = Vec3::new(0.8 * number(), 0.8 * number(), 1.0);
            let moment = Vec3::new(0.1 * number(), 0.2 * number(), 0.05 * number());
            if !share_out(&spread, force, moment, &mut points) {
                n_refused += 1;
                continue;
            }
            n_done += 1;
            let (got_force, got_moment) = sums(&spread, &points);
            assert!((got_force - force).length() < 1e-13, "{got_force} for {force}");
            assert!((got_moment - moment).length() < 1e-13, "{got_moment} for {moment}");
            for impulse in points.iter().filter_map(|point| point.impulse) {
                let across = sqrt(impulse.x * impulse.x + impulse.y * impulse.y);
                assert!(impulse.z >= 0.0 && across <= 0.5 * impulse.z * (1.0 + 1e-12));
                n_at_their_limit += u32::from(across > 0.5 * impulse.z * (1.0 - 1e-9));
            }
        }
        assert!(n_done > 200 && n_refused > 200, "{n_done} {n_refused}");
        assert!(n_at_their_limit > 20, "{n_at_their_limit}");
    }

    /// Nothing smaller comes to the same: any change that moves nothing makes it longer.
    #[test]
    fn what_is_shared_out_is_the_least() {
        let mut points = corners(10.0);
        let spread = spread_of(&points);
        assert!(share_out(
            &spread,
            Vec3::new(0.1, 0.0, 1.0),
            Vec3::new(0.0, 0.02, 0.01),
            &mut points
        ));
        // Pulling two neighbours apart by as much as the other two push together.
        let idle = [Vec3::Y, -Vec3::Y, -Vec3::Y, Vec3::Y];
        let along: f64 =
            points.iter().zip(idle).map(|(p, idle)| p.impulse.unwrap_or_default().dot(idle)).sum();
        let moment = |(p, idle): (&Point, Vec3)| (p.position - spread.centre).cross(idle);
        let idle_moment: Vec3 = points.iter().zip(idle).map(moment).sum();
        assert!(idle_moment.length() < 1e-15 && along.abs() < 1e-15, "{idle_moment} {along}");
    }

    #[test]
    fn points_on_a_line_are_no_patch() {
        let at = |x: f64| Vec3::new(x, 2.0 * x, 1.0);
        assert!(Spread::of([0.0, 0.1, 0.3].into_iter().map(at)).is_none());
        assert!(Spread::of([0.0, 0.1].into_iter().map(at)).is_none());
        assert!(Spread::of([Vec3::ZERO, Vec3::X, Vec3::NAN].into_iter()).is_none());
    }
}
