//! The slalom: through gates, one after the other.

use headland_base::maths::hypot;

use super::{Role, RoleEntry, Sight, walk_towards};
use crate::firmware::Order;
use crate::told::Area;

/// How help pages list it.
pub(super) const ENTRY: RoleEntry = RoleEntry {
    name: "slalom",
    summary: "walks through <gates>, regions by name in their order",
    make: |told| Box::new(Slalom { gates: told.regions("gates"), next: 0 }),
};

/// A gate is passed this near to its middle \[m\].
const PASSED: f64 = 0.1;
/// How fast \[m/s\].
const SPEED: f64 = 0.17;

struct Slalom {
    gates: Vec<Area>,
    next: usize,
}

impl Role for Slalom {
    fn decide(&mut self, sight: &Sight) -> Order {
        let Some(gate) = self.gates.get(self.next) else { return Order::Stand };
        let way = sight.me.see(gate.middle.at);
        if hypot(way.x, way.y) < PASSED {
            self.next += 1;
        }
        Order::Walk(walk_towards(way, SPEED))
    }
}
