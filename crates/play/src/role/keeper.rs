//! The keeper: stays before its goal, between the ball and the middle of it, and clears a ball
//! that lies near.

use headland_base::maths::Vec2;

use super::striker::Striker;
use super::{Role, RoleEntry, Sight, direction, walk_to};
use crate::firmware::Order;
use crate::gait::Spot;

/// How help pages list it.
pub(super) const ENTRY: RoleEntry = RoleEntry {
    name: "keeper",
    summary: "stays before <own_goal> and kicks a ball that comes near towards <goal>",
    make: |told| {
        let (own, goal) = (told.region("own_goal"), told.region("goal"));
        let own = own.map_or((Vec2::ZERO, 0.0), |own| (own.middle.at, own.half_size.y));
        let goal = goal.map_or(Vec2::ZERO, |goal| goal.middle.at);
        Box::new(Keeper {
            own: Spot { at: own.0, yaw: direction(own.0, goal) },
            half_width: own.1,
            clearing: Striker::new(goal, None),
        })
    },
};

/// How far before the middle of its goal it stands \[m\].
const BEFORE: f64 = 0.45;
/// A ball that is nearer than this and slower than that is cleared \[m, m/s\].
const NEAR: f64 = 0.8;
const SLOW: f64 = 0.1;

struct Keeper {
    /// The middle of its goal, facing the other one.
    own: Spot,
    half_width: f64,
    clearing: Striker,
}

impl Role for Keeper {
    fn decide(&mut self, sight: &Sight) -> Order {
        let Some(ball) = sight.ball else { return Order::Stand };
        let seen = self.own.see(ball.at);
        let is_near = seen.x > 0.0 && (seen - Vec2::new(BEFORE, 0.0)).length() < NEAR;
        if is_near && ball.velocity.length() < SLOW {
            return self.clearing.decide(sight);
        }
        // On the way from the ball to the goal's middle, as far as the goal is wide.
        let most = 0.7 * self.half_width;
        let aside = (seen.y * BEFORE / seen.x.max(BEFORE)).clamp(-most, most);
        let target = self.own.then(Vec2::new(BEFORE, aside), 0.0);
        let miss = sight.me.see(target.at);
        let is_there = miss.length() < 0.05 && (sight.me.yaw - target.yaw).abs() < 0.15;
        if is_there { Order::Stand } else { Order::Walk(walk_to(sight.me, target)) }
    }
}
