//! What there is before time starts.
//!
//! ```text
//! SDF · URDF · MJCF ── read ──► World ── sdf::write ──► SDF
//!   meshes, images ──────┘        │
//!                                 └─ check: physical nonsense, with file, line and column
//! ```
//!
//! Reading is strict: a name the format does not have is an error with its place and the
//! nearest name it has, and every defect is reported, not only the first.
//!
//! Deliberately absent: motion. Nothing here knows an engine, a step or a clock.
//!
//! Start reading at [`World`], then [`read`](read()).

mod assets;
mod besides;
#[cfg(test)]
mod cases;
pub mod check;
mod files;
pub mod geometry;
pub mod heightmap;
pub mod inertia;
pub mod joint;
mod massless;
pub mod mesh;
mod mjcf;
mod native;
pub mod parameter;
mod places;
mod read;
pub mod resource;
pub mod sdf;
mod urdf;
mod world;
mod xacro;
mod xml;

pub use geometry::{Geometry, HeightGrid, TriMesh};
pub use inertia::{InertiaOrigin, Inertial};
pub use joint::{Axis, Joint, JointKind, Mimic};
pub use native::{
    ALL_ROBOTS, ContactLaw, ControllerWish, Detail, Foot, Integrator, NativeSettings, SurfaceLaw,
    TorqueSpeed, Touches, Wheel,
};
pub use places::{Places, WorldFile};
pub use read::{Format, Read, ReadOptions, read, read_text};
pub use world::*;
