//! Standing, and walking as told: for tests and measurements.

use super::{Role, RoleEntry, Sight};
use crate::firmware::Order;
use crate::gait::Walk;

/// How help pages list it.
pub(super) const STAND: RoleEntry = RoleEntry {
    name: "stand",
    summary: "stands and looks at the ball",
    make: |_| Box::new(Told(Order::Stand)),
};

/// How help pages list it.
pub(super) const WALK: RoleEntry = RoleEntry {
    name: "walk",
    summary: "walks with <velocity>: forwards and to the left in m/s, turn in rad/s",
    make: |told| {
        let [forward, left, turn] = told.numbers("velocity").unwrap_or([0.1, 0.0, 0.0]);
        Box::new(Told(Order::Walk(Walk { forward, left, turn })))
    },
};

/// Always the same.
struct Told(Order);

impl Role for Told {
    fn decide(&mut self, _: &Sight) -> Order {
        self.0
    }
}
