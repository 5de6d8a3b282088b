//! The supporter: keeps behind the ball and to a side, out of the striker's way.

use headland_base::maths::Vec2;

use super::{Role, RoleEntry, Sight, direction, walk_to};
use crate::firmware::Order;
use crate::gait::Spot;

/// How help pages list it.
pub(super) const ENTRY: RoleEntry = RoleEntry {
    name: "supporter",
    summary: "keeps <distance> (0.8 0.7 m) behind the ball and to its left, seen towards <goal>",
    make: |told| {
        let goal = told.region("goal").map_or(Vec2::ZERO, |goal| goal.middle.at);
        let [behind, left] = told.numbers("distance").unwrap_or([0.8, 0.7]);
        Box::new(Supporter { goal, place: Vec2::new(-behind, left) })
    },
};

/// Nearer than this it stays, further than that it follows \[m\].
const SLACK: (f64, f64) = (0.1, 0.3);

struct Supporter {
    goal: Vec2,
    /// Seen from the ball, towards the goal.
    place: Vec2,
}

impl Role for Supporter {
    fn decide(&mut self, sight: &Sight) -> Order {
        let Some(ball) = sight.ball else { return Order::Stand };
        let line = Spot { at: ball.at, yaw: direction(ball.at, self.goal) };
        let at = line.point(self.place);
        let target = Spot { at, yaw: direction(at, ball.at) };
        let slack = if sight.doing == crate::firmware::Doing::Walking { SLACK.0 } else { SLACK.1 };
        match (sight.me.at - target.at).length() < slack {
            true => Order::Stand,
            false => Order::Walk(walk_to(sight.me, target)),
        }
    }
}
