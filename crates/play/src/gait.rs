//! The walking pattern: a velocity goes in, feet and centre of mass come out.
//!
//! ```text
//! Walk ─ plan ─► strides to come ─► ZMP to come ─ backwards ─► DCM now ─► centre of mass
//!                     └─► where the swing foot is
//! ```
//!
//! Steps have a fixed duration: first both feet carry and the weight moves over the next
//! support, then the other foot swings. The centre of mass moves as a linear inverted pendulum
//! above the point the weight is meant to be on (the ZMP). Of its two modes one dies away by
//! itself; the other, the divergent component of motion `ξ = c + ċ/ω`, is found by going
//! backwards through the strides to come, from rest at their end, where each stretch of ZMP has
//! a closed form. So a change of mind, a start and a stop need nothing of their own.
//!
//! Everything is in a plane of the gait's own, which starts between the feet. Deliberately
//! absent: legs, and what a gyroscope says.

use headland_base::maths::{PI, Vec2, cos, exp, sin, wrap_angle};

use crate::skeleton::Side;

/// A velocity to walk with, seen from the robot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Walk {
    /// Forwards \[m/s\].
    pub forward: f64,
    /// To the left \[m/s\].
    pub left: f64,
    /// To the left \[rad/s\].
    pub turn: f64,
}

/// What the legs are to do next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Wish {
    /// Come to a stand.
    #[default]
    Stand,
    /// Walk.
    Walk(Walk),
    /// Kick with the foot of that side; from a stand, and before it a stand is come to.
    Kick(Side),
}

/// How steps are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// From one touch-down to the next \[s\].
    pub step_secs: f64,
    /// The share of a step in which both feet carry.
    pub double_share: f64,
    /// How long the weight takes to move over the first support, and back at the end \[s\].
    pub shift_secs: f64,
    /// How high the swing foot is lifted \[m\].
    pub lift: f64,
    /// From one foot to the other while standing \[m\].
    pub width: f64,
    /// How far the weight stays inside of the middle of a sole \[m\].
    pub inside: f64,
    /// The fastest walk.
    pub limits: Walk,
    /// How much the velocity changes from step to step, at most.
    pub change: Walk,
    /// How a kick is made.
    pub kick: Kick,
}

/// How a kick is made: the foot is lifted back, swung and brought home while the other carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kick {
    /// Until it is back, until it has swung, until it is home again \[s\].
    pub secs: [f64; 3],
    /// How far back it goes \[m\].
    pub back: f64,
    /// How far it swings beyond its place \[m\].
    pub ahead: f64,
    /// How high it is \[m\].
    pub lift: f64,
}

impl Kick {
    fn total_secs(&self) -> f64 {
        self.secs.iter().sum()
    }

    /// How far ahead of its place the foot is, and how high.
    fn at(&self, secs: f64) -> (f64, f64) {
        let [back, swing, home] = self.secs;
        let way = |from: f64, to: f64, share: f64| from + (to - from) * ease(share);
        if secs < back {
            // Up first, so that the toes do not scrape.
            (way(0.0, -self.back, 2.0 * secs / back - 1.0), way(0.0, self.lift, 2.0 * secs / back))
        } else if secs < back + swing {
            (way(-self.back, self.ahead, (secs - back) / swing), self.lift)
        } else {
            let share = (secs - back - swing) / home;
            (way(self.ahead, 0.0, 1.5 * share), way(self.lift, 0.0, 2.5 * share - 1.5))
        }
    }
}

/// A place on the ground and where it faces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// \[m\]
    pub at: Vec2,
    /// \[rad\]
    pub yaw: f64,
}

impl Spot {
    /// The spot that is there and so turned, seen from this one.
    pub fn then(self, ahead: Vec2, turn: f64) -> Spot {
        Spot { at: self.point(ahead), yaw: self.yaw + turn }
    }

    /// The same point, written in the outer plane.
    pub fn point(self, inside: Vec2) -> Vec2 {
        self.at + turned(inside, self.yaw)
    }

    /// A point of the outer plane, seen from this spot.
    pub fn see(self, outside: Vec2) -> Vec2 {
        turned(outside - self.at, -self.yaw)
    }

    fn towards(self, other: Spot, share: f64) -> Spot {
        let turn = wrap_angle(other.yaw - self.yaw);
        Spot { at: self.at + (other.at - self.at) * share, yaw: self.yaw + turn * share }
    }
}

fn turned(v: Vec2, angle: f64) -> Vec2 {
    let (s, c) = (sin(angle), cos(angle));
    Vec2::new(c * v.x - s * v.y, s * v.x + c * v.y)
}

/// One step, or a while of standing.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stride {
    /// The foot that carries alone; none while standing.
    support: Option<Side>,
    /// The weight moves from here …
    zmp_from: Vec2,
    /// … to here while both feet carry.
    zmp_to: Vec2,
    double_secs: f64,
    single_secs: f64,
    /// Both feet before and after.
    feet_from: [Spot; 2],
    feet_to: [Spot; 2],
    is_kick: bool,
}

/// A stretch of time in which the ZMP moves evenly.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    secs: f64,
    from: Vec2,
    to: Vec2,
}

/// What the body is to do now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Footing {
    /// Where the centre of mass is to be.
    pub centre: Vec2,
    /// Where each sole is to be.
    pub feet: [Spot; 2],
    /// How high each sole is \[m\].
    pub lifts: [f64; 2],
    /// Where the body faces \[rad\].
    pub yaw: f64,
    /// The foot that carries alone.
    pub support: Option<Side>,
    /// Nothing moves any more.
    pub is_still: bool,
    /// A kick is under way.
    pub is_kick: bool,
}

/// A gait under way.
#[derive(Clone, Debug)]
pub struct Gait {
    pace: Pace,
    /// Of the pendulum \[1/s\].
    omega: f64,
    stride: Stride,
    elapsed: f64,
    centre: Vec2,
    /// The velocity in force.
    walk: Walk,
}

/// Strides that are looked ahead; what comes after weighs less than a thousandth.
const N_AHEAD: usize = 3;

impl Gait {
    /// Standing with the feet side by side; `omega` is √(g/height) of the centre of mass.
    pub fn new(pace: Pace, omega: f64) -> Gait {
        let foot =
            |side: Side| Spot { at: Vec2::new(0.0, 0.5 * pace.width * side.sign()), yaw: 0.0 };
        let feet = [foot(Side::Left), foot(Side::Right)];
        Gait {
            pace,
            omega,
            stride: standing(&pace, Vec2::ZERO, feet),
            elapsed: 0.0,
            centre: Vec2::ZERO,
            walk: Walk::default(),
        }
    }

    /// Stands, whatever it was doing.
    pub fn reset(&mut self) {
        *self = Gait::new(self.pace, self.omega);
    }

    /// Goes on for `dt` seconds.
    pub fn tick(&mut self, dt: f64, wish: Wish) -> Footing {
        self.elapsed += dt;
        let secs = self.stride.secs();
        if self.elapsed >= secs {
            self.elapsed = if self.stride.is_still() { 0.0 } else { self.elapsed - secs };
            self.walk = self.pace.eased(self.walk, wish);
            self.stride = plan(&self.pace, &self.stride, self.eased(wish));
        }
        let dcm = self.dcm(self.eased(wish));
        self.centre += (dcm - self.centre) * (1.0 - exp(-self.omega * dt));
        self.footing()
    }

    /// A walk ends, as it begins, step by step.
    fn eased(&self, wish: Wish) -> Wish {
        match wish {
            Wish::Walk(_) => Wish::Walk(self.walk),
            _ if self.walk != Walk::default() => Wish::Walk(self.walk),
            _ => wish,
        }
    }

    /// The divergent component of motion that ends at rest after the strides to come.
    fn dcm(&self, wish: Wish) -> Vec2 {
        // One kick is looked ahead to at most: it is asked for anew.
        let wish = if self.stride.is_kick { Wish::Stand } else { wish };
        let mut stretches = self.stride.rest(self.elapsed);
        let mut last = self.stride;
        for _ in 0..N_AHEAD {
            last = plan(&self.pace, &last, if last.is_kick { Wish::Stand } else { wish });
            stretches.extend(last.rest(0.0));
        }
        let end = mean(last.feet_to);
        stretches.push(Stretch { secs: self.pace.shift_secs, from: last.zmp_to, to: end });
        dcm_before(&stretches, end, self.omega)
    }

    fn footing(&self) -> Footing {
        let stride = &self.stride;
        let swung = ((self.elapsed - stride.double_secs) / stride.single_secs).clamp(0.0, 1.0);
        let mut feet = stride.feet_to;
        let mut lifts = [0.0; 2];
        if let Some(support) = stride.support {
            let swing = support.other().index();
            // The foot is over its place a little before it comes down on it.
            let share = ease((swung / 0.9).min(1.0));
            feet[swing] = stride.feet_from[swing].towards(stride.feet_to[swing], share);
            lifts[swing] = self.pace.lift * bump(swung);
            if stride.is_kick {
                let (ahead, lift) = self.pace.kick.at(swung * stride.single_secs);
                feet[swing] = stride.feet_to[swing].then(Vec2::new(ahead, 0.0), 0.0);
                lifts[swing] = lift;
            }
        }
        let [left, right] = feet;
        Footing {
            centre: self.centre,
            feet,
            lifts,
            yaw: left.yaw + 0.5 * wrap_angle(right.yaw - left.yaw),
            support: stride.support.filter(|_| self.elapsed > stride.double_secs),
            is_still: stride.is_still(),
            is_kick: stride.is_kick,
        }
    }
}

impl Stride {
    fn is_still(&self) -> bool {
        self.support.is_none() && self.zmp_from == self.zmp_to
    }

    fn secs(&self) -> f64 {
        self.double_secs + self.single_secs
    }

    /// The ZMP from a moment to its end.
    fn rest(&self, elapsed: f64) -> Vec<Stretch> {
        let single = Stretch { secs: self.single_secs, from: self.zmp_to, to: self.zmp_to };
        if elapsed >= self.double_secs {
            return vec![Stretch { secs: (self.secs() - elapsed).max(0.0), ..single }];
        }
        let from = self.zmp_from + (self.zmp_to - self.zmp_from) * (elapsed / self.double_secs);
        vec![Stretch { secs: self.double_secs - elapsed, from, to: self.zmp_to }, single]
    }
}

impl Pace {
    /// One step's change of the velocity towards what is asked, within the limits.
    fn eased(&self, now: Walk, wish: Wish) -> Walk {
        let asked = if let Wish::Walk(walk) = wish { walk } else { Walk::default() };
        let ease = |now: f64, asked: f64, limit: f64, change: f64| {
            now + (asked.clamp(-limit, limit) - now).clamp(-change, change)
        };
        Walk {
            forward: ease(now.forward, asked.forward, self.limits.forward, self.change.forward),
            left: ease(now.left, asked.left, self.limits.left, self.change.left),
            turn: ease(now.turn, asked.turn, self.limits.turn, self.change.turn),
        }
    }

    /// Where the weight is when it is on a foot.
    fn zmp_on(&self, feet: &[Spot; 2], side: Side) -> Vec2 {
        feet[side.index()].point(Vec2::new(0.0, -self.inside * side.sign()))
    }

    /// Where the swing foot goes. Sideways and turning, the foot on that side makes all of the
    /// way and the other one follows, so that feet neither meet nor cross.
    fn placed(&self, feet: &[Spot; 2], swing: Side, walk: Walk) -> Spot {
        let leads = |velocity: f64| velocity * swing.sign() > 0.0;
        let share = |velocity: f64| if leads(velocity) { 2.0 * velocity } else { 0.0 };
        let step = self.step_secs;
        let support = feet[swing.other().index()];
        let half = Vec2::new(0.0, 0.5 * self.width * swing.sign());
        support
            .then(half, 0.0)
            .then(Vec2::new(walk.forward, share(walk.left)) * step, share(walk.turn) * step)
            .then(half, 0.0)
    }
}

/// What comes after a stride.
fn plan(pace: &Pace, last: &Stride, wish: Wish) -> Stride {
    let feet = last.feet_to;
    let stand = standing(pace, last.zmp_to, feet);
    let (support, walk) = match (last.support, wish) {
        (None, Wish::Stand) => return stand,
        (Some(_), Wish::Stand | Wish::Kick(_)) if is_side_by_side(pace, &feet) => return stand,
        (None, Wish::Kick(side)) => return kicking(pace, last, side),
        // The first to swing is the foot on the side where it goes.
        (None, Wish::Walk(walk)) if walk.left + 0.1 * walk.turn > 0.0 => (Side::Right, walk),
        (None, Wish::Walk(walk)) => (Side::Left, walk),
        (Some(support), Wish::Walk(walk)) => (support.other(), walk),
        (Some(support), _) => (support.other(), Walk::default()),
    };
    let swing = support.other();
    let mut feet_to = feet;
    feet_to[swing.index()] = pace.placed(&feet, swing, walk);
    let double_secs = pace.double_share * pace.step_secs;
    Stride {
        support: Some(support),
        zmp_from: last.zmp_to,
        zmp_to: pace.zmp_on(&feet, support),
        double_secs: if last.support.is_none() { pace.shift_secs } else { double_secs },
        single_secs: pace.step_secs - double_secs,
        feet_from: feet,
        feet_to,
        is_kick: false,
    }
}

/// The weight moves over one foot and stays there while the other kicks.
fn kicking(pace: &Pace, last: &Stride, side: Side) -> Stride {
    Stride {
        support: Some(side.other()),
        zmp_from: last.zmp_to,
        zmp_to: pace.zmp_on(&last.feet_to, side.other()),
        double_secs: pace.shift_secs,
        single_secs: pace.kick.total_secs(),
        feet_from: last.feet_to,
        feet_to: last.feet_to,
        is_kick: true,
    }
}

/// Both feet carry, and the weight moves between them.
fn standing(pace: &Pace, zmp_from: Vec2, feet: [Spot; 2]) -> Stride {
    let zmp_to = mean(feet);
    // Once it stands, a walk may begin at any tick.
    let double_secs = if zmp_from == zmp_to { 0.0 } else { pace.shift_secs };
    Stride {
        support: None,
        zmp_from,
        zmp_to,
        double_secs,
        single_secs: 0.0,
        feet_from: feet,
        feet_to: feet,
        is_kick: false,
    }
}

fn mean(feet: [Spot; 2]) -> Vec2 {
    (feet[0].at + feet[1].at) * 0.5
}

fn is_side_by_side(pace: &Pace, feet: &[Spot; 2]) -> bool {
    let right = feet[0].see(feet[1].at);
    (right - Vec2::new(0.0, -pace.width)).length() < 1e-3
        && wrap_angle(feet[0].yaw - feet[1].yaw).abs() < 1e-3
}

/// The DCM at the beginning of the stretches, where it is `end` after the last.
///
/// With `ξ̇ = ω·(ξ − z)` and `z` moving at `s` there is `ξ = z + s/ω + const·e^{ωt}`.
fn dcm_before(stretches: &[Stretch], end: Vec2, omega: f64) -> Vec2 {
    stretches.iter().rev().filter(|stretch| stretch.secs > 0.0).fold(end, |after, stretch| {
        let lead = (stretch.to - stretch.from) / (stretch.secs * omega);
        stretch.from + lead + (after - stretch.to - lead) * exp(-omega * stretch.secs)
    })
}

/// From 0 to 1, beginning and ending at rest.
pub(crate) fn ease(share: f64) -> f64 {
    let s = share.clamp(0.0, 1.0);
    s * s * s * (10.0 + s * (6.0 * s - 15.0))
}

/// From 0 up to 1 and back to 0, beginning and ending at rest.
fn bump(share: f64) -> f64 {
    let s = sin(PI * share.clamp(0.0, 1.0));
    s * s
}

#[cfg(test)]
mod tests {
    use super::*;

    const OMEGA: f64 = 5.7;
    const DT: f64 = 0.008;

    fn pace() -> Pace {
        Pace {
            step_secs: 0.4,
            double_share: 0.3,
            shift_secs: 0.5,
            lift: 0.03,
            width: 0.12,
            inside: 0.01,
            limits: Walk { forward: 0.2, left: 0.06, turn: 0.8 },
            change: Walk { forward: 0.05, left: 0.03, turn: 0.3 },
            kick: Kick { secs: [0.5, 0.2, 0.6], back: 0.05, ahead: 0.12, lift: 0.045 },
        }
    }

    fn tick_for(gait: &mut Gait, secs: f64, wish: Wish, see: &mut dyn FnMut(&Footing)) -> Footing {
        let n_ticks = (secs / DT).round() as usize;
        let mut last = gait.tick(0.0, wish);
        for _ in 0..n_ticks {
            last = gait.tick(DT, wish);
            see(&last);
        }
        last
    }

    /// Two roads: the closed form goes backwards, small steps of the pendulum go forwards.
    #[test]
    fn the_dcm_ends_where_it_must() {
        let p = Vec2::new;
        let stretches = [
            Stretch { secs: 0.3, from: p(0.0, 0.0), to: p(0.02, 0.06) },
            Stretch { secs: 0.28, from: p(0.02, 0.06), to: p(0.02, 0.06) },
            Stretch { secs: 0.12, from: p(0.02, 0.06), to: p(0.08, -0.06) },
        ];
        let end = p(0.05, -0.01);
        let mut dcm = dcm_before(&stretches, end, OMEGA);
        let h = 1e-5;
        for stretch in stretches {
            let n = (stretch.secs / h).round() as usize;
            for i in 0..n {
                let at = |share: f64| stretch.from + (stretch.to - stretch.from) * share;
                // The midpoint rule.
                let half = dcm + (dcm - at(i as f64 / n as f64)) * (0.5 * h * OMEGA);
                dcm += (half - at((i as f64 + 0.5) / n as f64)) * (h * OMEGA);
            }
        }
        assert!((dcm - end).length() < 1e-6, "{dcm} vs {end}");
    }

    /// A walk is as long as its steps, straight to the last bit that matters, and ends at rest
    /// in the middle of both feet.
    #[test]
    fn a_walk_goes_straight_and_ends_at_rest() {
        let mut gait = Gait::new(pace(), OMEGA);
        let walk = Wish::Walk(Walk { forward: 0.1, ..Walk::default() });
        tick_for(&mut gait, 10.0, walk, &mut |_| ());
        let stopped = tick_for(&mut gait, 4.0, Wish::Stand, &mut |_| ());
        assert!(stopped.is_still);
        let [left, right] = stopped.feet;
        assert!((left.at.x - right.at.x).abs() < 1e-12 && stopped.yaw.abs() < 1e-12);
        assert!((left.at.y - 0.06).abs() < 1e-9 && (right.at.y + 0.06).abs() < 1e-9);
        // 24 or 25 steps of 4 cm after the first, which is half as long.
        assert!((0.9..1.05).contains(&left.at.x), "{}", left.at.x);
        assert!((stopped.centre - mean(stopped.feet)).length() < 1e-6);
    }

    /// The centre of mass stays between the feet's outer edges, and feet never meet.
    #[test]
    fn the_weight_stays_over_the_feet() {
        for walk in [
            Walk { forward: 0.2, left: 0.0, turn: 0.0 },
            Walk { forward: -0.1, left: 0.05, turn: -0.5 },
            Walk { forward: 0.0, left: -0.06, turn: 0.8 },
        ] {
            let mut gait = Gait::new(pace(), OMEGA);
            tick_for(&mut gait, 8.0, Wish::Walk(walk), &mut |footing| {
                let [left, right] = footing.feet;
                let middle = Spot { at: mean(footing.feet), yaw: footing.yaw };
                let apart = middle.see(left.at) - middle.see(right.at);
                assert!(apart.y > 0.09, "{walk:?}: feet {} m apart", apart.y);
                let centre = middle.see(footing.centre);
                assert!(centre.y.abs() < 0.5 * apart.y && centre.x.abs() < 0.06, "{centre}");
            });
        }
    }

    /// A kick comes from a stand, lifts one foot, and brings it home.
    #[test]
    fn a_kick_comes_home() {
        for side in Side::BOTH {
            let mut gait = Gait::new(pace(), OMEGA);
            let before = gait.tick(DT, Wish::Stand);
            let (mut furthest, mut highest): (f64, f64) = (0.0, 0.0);
            // It is told to kick until the kick has begun.
            let mut wish = Wish::Kick(side);
            let mut last = before;
            for _ in 0..500 {
                last = gait.tick(DT, wish);
                if last.is_kick {
                    wish = Wish::Stand;
                }
                let i = side.index();
                furthest = furthest.max(last.feet[i].at.x - before.feet[i].at.x);
                highest = highest.max(last.lifts[i]);
                assert_eq!(last.feet[side.other().index()], before.feet[side.other().index()]);
            }
            assert!((furthest - 0.12).abs() < 1e-3 && (highest - 0.045).abs() < 1e-3);
            assert!(last.is_still && last.feet == before.feet);
        }
    }
}
