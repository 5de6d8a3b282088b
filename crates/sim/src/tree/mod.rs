//! A robot as a kinematic tree, and the rigid-body algorithms over it, each O(n).
//!
//! ```text
//! Model ─ Forest::of ─► Tree (constant)
//! positions ─ place ─► Bodies ─┬─ move_bodies ─► Motions ─ bias_forces ─► forces
//!                              ├─ factor ─► Factor ─ solve ─► accelerations, or responses
//!                              ├─ mass_matrix, whole_body, point_jacobian
//!                              └─ inverse_dynamics ─► efforts
//! ```
//!
//! Everything of one tree is expressed in one frame: the world's axes, at the tree's own
//! origin (where its first link is). So nothing is transformed from link to link, the joint
//! kinds matter in [`place`] alone, and a joint with several axes is as many columns.
//!
//! Forward dynamics is Featherstone's articulated-body algorithm in three passes, of which the
//! middle one, [`factor`], depends on positions alone: one factorisation serves the motion of a
//! step and the response to every contact in it.
//!
//! All of it is written over [`Lane`]: one robot, or as many robots of one model as the
//! processor has lanes, to the same bits. Deliberately absent: time, contacts, motors.

mod articulated;
mod build;
mod composite;
mod inverse;
mod lane;
mod place;
mod spatial;
mod whole;

pub use articulated::{Factor, Half, factor, solve};
pub use build::{Forest, Node, NodeKind, Tree};
pub use composite::mass_matrix;
pub use inverse::{Motions, bias_forces, inverse_dynamics, move_bodies, move_only};
pub(crate) use lane::wide;
pub use lane::{Kernel, Lane, Lanes, widely, widest};
pub(crate) use place::HalfTurns;
pub use place::{Bodies, Placed, place, place_only, place_some};
pub use spatial::{ArticulatedInertia, Inertia, M3, Sym3, Turn, V3, V6};
pub use whole::{Whole, point_jacobian, whole_body};
