//! Sensors that send rays: lidars, range finders, light barriers.
//!
//! ```text
//! fan: where beams go ─┐
//! stage: the scene ────┼─► beam: echo ─► reading ─► message
//! pose of the sensor ──┘
//! ```
//!
//! `ray` and `lidar` meet collisions, as Gazebo's CPU sensor does; `gpu_ray` and `gpu_lidar` meet
//! visuals, as what it draws does. `<headland:sees>` says otherwise.

pub mod beam;
pub mod fan;
pub mod stage;
