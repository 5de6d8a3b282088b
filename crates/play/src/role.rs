//! What players do on the field: one file per role.
//!
//! ```text
//! truth of the world ─ Sight ─► Role ─ Order ─► firmware
//! ```
//!
//! A role sees where the ball, the robots and itself truly are. A real robot would have to find
//! that out with its cameras; until these have pictures, the truth stands in. What it orders is
//! what a real robot could be ordered: walk, kick, stand.

use headland_base::maths::{Vec2, atan2, cos, hypot, wrap_angle};

use crate::firmware::{Doing, Order};
use crate::gait::{Spot, Walk};
use crate::told::Told;

mod keeper;
mod slalom;
mod striker;
mod supporter;
mod walker;

/// What a role sees, seconds and metres of the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    /// Time of the run \[s\].
    pub secs: f64,
    /// Between the own feet.
    pub me: Spot,
    /// What the body is doing.
    pub doing: Doing,
    /// The ball, where there is one.
    pub ball: Option<Ball>,
    /// The other players.
    pub others: Vec<Vec2>,
    /// From the middle between the feet to each \[m\].
    pub half_width: f64,
}

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Above which point of the ground it is.
    pub at: Vec2,
    /// How it moves \[m/s\].
    pub velocity: Vec2,
}

/// One way to play.
pub trait Role {
    /// Looks and orders.
    fn decide(&mut self, sight: &Sight) -> Order;
}

/// A role as help pages list it.
pub struct RoleEntry {
    /// What `<role>` takes.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Makes one of what it is told; what is missing is noted there.
    pub make: fn(&mut Told<'_>) -> Box<dyn Role>,
}

/// Every role, in the order help pages list them. Adding one is one file and one line here.
pub const ROLES: &[RoleEntry] =
    &[walker::STAND, walker::WALK, striker::ENTRY, keeper::ENTRY, supporter::ENTRY, slalom::ENTRY];

/// From here on a player turns towards where it goes; nearer, it walks sideways \[m\].
const FAR: f64 = 0.5;

/// The walk from one spot to another: far away with the face ahead, near in any direction.
fn walk_to(me: Spot, target: Spot) -> Walk {
    let way = me.see(target.at);
    let distance = hypot(way.x, way.y);
    if distance > FAR {
        return walk_towards(way, 0.2);
    }
    let turn = wrap_angle(target.yaw - me.yaw);
    // Feet that turn a lot go nowhere else.
    let share = (1.2 - turn.abs()).clamp(0.2, 1.0);
    Walk {
        forward: share * way.x.clamp(-0.15, 0.15),
        left: share * way.y.clamp(-0.06, 0.06),
        turn: (1.2 * turn).clamp(-0.6, 0.6),
    }
}

/// The walk towards a point seen ahead, at most so fast.
fn walk_towards(way: Vec2, speed: f64) -> Walk {
    let bearing = atan2(way.y, way.x);
    let ahead = cos(bearing).max(0.0);
    Walk {
        forward: if bearing.abs() < 0.9 { speed * ahead * ahead } else { 0.0 },
        left: 0.0,
        turn: (1.3 * bearing).clamp(-0.6, 0.6),
    }
}

/// Where to look from one point to another \[rad\].
fn direction(from: Vec2, to: Vec2) -> f64 {
    atan2(to.y - from.y, to.x - from.x)
}

/// Whether the body cannot follow orders now.
fn is_busy(doing: Doing) -> bool {
    matches!(doing, Doing::Falling | Doing::GettingUp)
}
