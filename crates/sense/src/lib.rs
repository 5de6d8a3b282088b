//! What a robot sees.
//!
//! ```text
//! World ─► scene ─┬─ cast(ray) ───────────────► lidars, beams
//! poses ─► poses ─┘
//!                 └─ render(view) ─► frame ─ lens ─► image
//! ```
//!
//! A scene is the World as surfaces, with a tree over them; poses move it. A view is a camera at
//! a place. A renderer draws a scene in a view, and there are several, one list of them. A lens
//! bends what a pinhole saw.
//!
//! Deliberately absent: control; what software does with what it sees.

mod axes;
pub mod camera;
pub mod declare;
pub mod fit;
pub mod image;
mod imu;
pub mod lens;
pub mod mounted;
pub mod noise;
pub mod overlay;
pub mod picture;
pub mod poses;
pub mod rays;
pub mod render;
pub mod scene;
pub mod view;
