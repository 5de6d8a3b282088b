//! The striker: goes behind the ball, turns towards the goal, kicks.

use headland_base::maths::{Vec2, wrap_angle};

use super::{Ball, Role, RoleEntry, Sight, direction, is_busy, walk_to};
use crate::firmware::{Doing, Order};
use crate::gait::Spot;
use crate::skeleton::Side;

/// How help pages list it.
pub(super) const ENTRY: RoleEntry = RoleEntry {
    name: "striker",
    summary: "goes behind the ball and kicks it into <goal>; <kicks> times, or without end",
    make: |told| {
        let goal = told.region("goal");
        let kicks = told.numbers("kicks").map(|[n]: [f64; 1]| n);
        Box::new(Striker::new(goal.map_or(Vec2::ZERO, |goal| goal.middle.at), kicks))
    },
};

/// How far the ball is ahead of the feet when it is kicked \[m\].
const KICK_AHEAD: f64 = 0.165;
/// How far it may be off, ahead and to the side \[m\], and off the way to the goal \[rad\].
const KICK_SLACK: (f64, f64, f64) = (0.035, 0.03, 0.2);
/// When to stop for a kick: as above.
const STOP_SLACK: (f64, f64, f64) = (0.02, 0.015, 0.1);
/// Behind the ball it is safe to turn at this distance \[m\].
const BEHIND: f64 = 0.3;
/// So far to the side of the ball is the way round it \[m\].
const BESIDE: f64 = 0.35;

/// How far to the side it aims past somebody who stands in the way \[rad\].
const AROUND: f64 = 0.6;

/// A striker.
pub(super) struct Striker {
    goal: Vec2,
    n_kicks_left: Option<f64>,
    side: Side,
    /// How far beside the goal it aims, to get past somebody \[rad\].
    around: f64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Approaching,
    Stopping,
    Kicking { has_begun: bool },
}

impl Striker {
    /// With a goal, and so many kicks, or without end.
    pub(super) fn new(goal: Vec2, n_kicks: Option<f64>) -> Striker {
        Striker {
            goal,
            n_kicks_left: n_kicks,
            side: Side::Left,
            around: 0.0,
            state: State::Approaching,
        }
    }

    /// Where the ball is to go \[rad\].
    fn aim(&self, ball: Ball) -> f64 {
        direction(ball.at, self.goal) + self.around
    }

    /// Past somebody who stands in the way; decided before the ball is reached.
    fn look_for_a_way(&mut self, sight: &Sight, ball: Ball) {
        if (ball.at - sight.me.at).length() < 2.0 * BEHIND {
            return;
        }
        let line = Spot { at: ball.at, yaw: direction(ball.at, self.goal) };
        let seen = sight.others.iter().map(|other| line.see(*other));
        let mut in_the_way = seen.filter(|at| at.x > 0.0 && at.x < 0.9 && at.y.abs() < 0.25);
        self.around = in_the_way.next().map_or(0.0, |at| if at.y > 0.0 { -AROUND } else { AROUND });
    }

    /// How far the feet are from where they kick from: ahead, to the left, turned.
    fn miss(&self, sight: &Sight, ball: Ball) -> (f64, f64, f64) {
        let seen = sight.me.see(ball.at);
        let turn = wrap_angle(self.aim(ball) - sight.me.yaw);
        (seen.x - KICK_AHEAD, seen.y - self.side.sign() * sight.half_width, turn)
    }

    /// Where to walk to.
    fn target(&mut self, sight: &Sight, ball: Ball) -> Spot {
        self.look_for_a_way(sight, ball);
        let line = Spot { at: ball.at, yaw: self.aim(ball) };
        let me = line.see(sight.me.at);
        // The foot on whose side the ball is; a change of mind needs a reason.
        if me.y.abs() > 0.5 * sight.half_width {
            self.side = if me.y > 0.0 { Side::Right } else { Side::Left };
        }
        let aside = -self.side.sign() * sight.half_width;
        let away = if me.y < 0.0 { -BESIDE } else { BESIDE };
        let off = wrap_angle(line.yaw - sight.me.yaw).abs();
        let spot = if me.x > -0.5 * KICK_AHEAD {
            // Beside or before the ball: out to the side first, then back.
            let ahead = if me.y.abs() < 0.8 * BESIDE { me.x } else { -BEHIND };
            Vec2::new(ahead, away)
        } else if (me.y - aside).abs() > 0.08 || off > 0.4 {
            Vec2::new(-BEHIND, aside)
        } else {
            Vec2::new(-KICK_AHEAD, aside)
        };
        line.then(spot, 0.0)
    }
}

fn is_within(miss: (f64, f64, f64), slack: (f64, f64, f64)) -> bool {
    miss.0.abs() < slack.0 && miss.1.abs() < slack.1 && miss.2.abs() < slack.2
}

impl Role for Striker {
    fn decide(&mut self, sight: &Sight) -> Order {
        let Some(ball) = sight.ball else { return Order::Stand };
        if is_busy(sight.doing) {
            self.state = State::Approaching;
        }
        let miss = self.miss(sight, ball);
        self.state = match self.state {
            State::Approaching if is_within(miss, STOP_SLACK) => State::Stopping,
            State::Stopping if sight.doing == Doing::Standing => {
                match is_within(miss, KICK_SLACK) {
                    true => State::Kicking { has_begun: false },
                    false => State::Approaching,
                }
            }
            State::Kicking { has_begun: true } if sight.doing == Doing::Standing => {
                self.n_kicks_left = self.n_kicks_left.map(|n| n - 1.0);
                State::Approaching
            }
            State::Kicking { has_begun } => {
                State::Kicking { has_begun: has_begun || sight.doing == Doing::Kicking }
            }
            state => state,
        };
        if self.n_kicks_left.is_some_and(|n| n < 1.0) {
            return Order::Stand;
        }
        match self.state {
            State::Approaching => Order::Walk(walk_to(sight.me, self.target(sight, ball))),
            State::Stopping => Order::Stand,
            State::Kicking { .. } => Order::Kick(self.side),
        }
    }
}
