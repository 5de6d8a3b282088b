//! What a robot sees.
//!
//! ```text
//! World ─► scene ─┬─ cast(ray) ───────────────► lidars, beams
//! poses ─► poses ─┘
//!                 └─ render(view, lens) ─► frame ─ imperfections ─► image
//! ```
//!
//! A scene is the World as surfaces, with a tree over them; poses move it. A view is a camera at
//! a place. A renderer draws a scene in a view, and there are several, one list of them. A lens
//! says where each of its pixels looks.
//!
//! Sensors that a World declares are read by `declare`, one file per kind, and take part in runs
//! as `sim` asks of a sensor; `noise` is what all of them share.
//!
//! Deliberately absent: control; what software does with what it sees.

mod air;
mod axes;
pub mod camera;
pub mod declare;
mod detect;
mod encoder;
pub mod fit;
mod foot_pressure;
mod force_torque;
pub mod geodesy;
pub mod image;
pub mod imperfect;
mod imu;
pub mod jpeg;
pub mod lens;
mod magnetometer;
pub mod mounted;
mod navsat;
pub mod noise;
mod odometry;
pub mod overlay;
pub mod picture;
pub mod poses;
pub mod rays;
pub mod render;
pub mod scene;
mod touch;
pub mod view;
