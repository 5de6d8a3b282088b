//! Sensors that send rays: lidars, range finders, light barriers.
//!
//! ```text
//! fan: where beams go ─┐
//! the shared scene ────┼─► beam: echo ─► receiver: reading ─► message
//! pose of the sensor ──┘
//! ```
//!
//! `ray` and `lidar` meet collisions, as Gazebo's sensor on the CPU does; `gpu_ray` and
//! `gpu_lidar` meet visuals, as what it draws does. `<headland:sees>` says otherwise. Shapes are
//! met from outside, so a sensor inside its housing looks out of it; those of its own link are
//! looked through where they are nearer than its smallest distance, as in Gazebo, and met beyond.

pub mod beam;
pub mod break_beam;
pub mod fan;
pub mod lidar;
pub mod range;

mod read;
