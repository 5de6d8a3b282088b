//! Contact: who touches whom, where and how deep, and what forces come of it.
//!
//! ```text
//! Model + Movers ─ Scene::of ─► Scene (constant)
//! Scene + poses ─ Detector::detect ─► ContactPoints
//! ContactPoint + velocities ─ soft::soft · soft::soft_coulomb ─► force and torque
//! all contacts and loops, as one matrix ─ hard::impact · hard::solve · hard::ease ─► impulses
//! ```
//!
//! Deliberately absent: motion. Nothing here knows masses, joints or time steps; whoever moves
//! bodies asks for points and applies what the laws answer.
//!
//! Start reading at [`Detector`]. `docs/src/contact.md` has the laws and their limits.

mod apart;
mod boxes;
mod convex;
mod detector;
mod form;
pub mod hard;
mod manifold;
mod movers;
mod pair;
mod plane;
mod polygon;
mod round;
mod scene;
pub mod soft;
mod surface;
mod touching;

pub use detector::{Detector, Posed};
pub use form::Form;
pub use movers::Movers;
pub use scene::Scene;

use headland_base::{Transform, Vec3};

/// Two forms touch in at most this many points.
pub const N_POINTS_MAX: usize = 8;

/// One point where two bodies touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// The body with the smaller index.
    pub body_a: usize,
    /// The other.
    pub body_b: usize,
    /// Which of a's shapes.
    pub shape_a: usize,
    /// Which of b's shapes.
    pub shape_b: usize,
    /// Halfway between the two surfaces, in the world \[m\].
    pub position: Vec3,
    /// Unit, from a to b.
    pub normal: Vec3,
    /// How far they overlap along the normal \[m\]; negative is a gap.
    pub depth: f64,
    /// Which corner or edge of the two shapes made it. The same bodies, shapes and number a
    /// step later are the same point, as far as that can be known: for warm starts.
    pub feature: u32,
}

/// Where two forms touch, or come within `margin` \[m\]: for one pair, without a scene.
/// Normals point from the first to the second.
pub fn touching(
    (form_a, world_from_a): (&Form, &Transform),
    (form_b, world_from_b): (&Form, &Transform),
    margin: f64,
) -> Vec<FormContact> {
    let mut touches = Vec::new();
    if world_from_a.is_finite() && world_from_b.is_finite() {
        let a = manifold::Side { form: form_a, world_from_form: world_from_a };
        let b = manifold::Side { form: form_b, world_from_form: world_from_b };
        pair::touches(&a, &b, margin, &mut convex::Search::new(), &mut touches);
    }
    let told = touches.iter().map(|touch| FormContact {
        position: touch.position,
        normal: touch.normal,
        depth: touch.depth,
    });
    told.collect()
}

/// One point where two forms touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FormContact {
    /// Halfway between the two surfaces, in the world \[m\].
    pub position: Vec3,
    /// Unit, from the first form to the second.
    pub normal: Vec3,
    /// How far they overlap along the normal \[m\]; negative is a gap.
    pub depth: f64,
}
