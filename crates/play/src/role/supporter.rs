//! The supporter: keeps behind the ball and to a side, out of the striker's way.

use headland_base::maths::Vec2;

use super::{Role, RoleEntry, Sight, direction, walk_to};
use crate::firmware::Order;
use crate::gait::Spot;
use crate::told::Area;

/// How help pages list it.
pub(super) const ENTRY: RoleEntry = RoleEntry {
    name: "supporter",
    summary: "keeps <distance> (0.8 0.7 m) behind the ball and to its left, seen towards <goal>, within <field>",
    make: |told| {
        let goal = told.region("goal").map_or(Vec2::ZERO, |goal| goal.middle.at);
        let [behind, left] = told.numbers("distance").unwrap_or([0.8, 0.7]);
        let field = told.region_if_any("field");
        Box::new(Supporter { goal, place: Vec2::new(-behind, left), field })
    },
};

/// Nearer than this it stays, further than that it follows \[m\].
const SLACK: (f64, f64) = (0.1, 0.3);
/// So far within the lines it keeps \[m\].
const WITHIN: f64 = 0.3;

struct Supporter {
    goal: Vec2,
    /// Seen from the ball, towards the goal.
    place: Vec2,
    /// Where it stays, wherever the ball goes.
    field: Option<Area>,
}

impl Role for Supporter {
    fn decide(&mut self, sight: &Sight) -> Order {
        let Some(ball) = sight.ball else { return Order::Stand };
        let line = Spot { at: ball.at, yaw: direction(ball.at, self.goal) };
        let at = line.point(self.place);
        let at = self.field.map_or(at, |field| field.nearest(at, WITHIN));
        let target = Spot { at, yaw: direction(at, ball.at) };
        let slack = if sight.doing == crate::firmware::Doing::Walking { SLACK.0 } else { SLACK.1 };
        match (sight.me.at - target.at).length() < slack {
            true => Order::Stand,
            false => Order::Walk(walk_to(sight.me, target)),
        }
    }
}
