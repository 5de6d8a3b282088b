//! Sensors that report objects, not light: the logical camera, which knows all that is in its
//! sight, and the detector, which errs as a detector does.
//!
//! ```text
//! models of the scene ─ frustum: in sight? ─┬─► logical camera: as it is ──► Detection3DArray
//!                                           └─► visible? noise, swaps ─────► Detection3DArray
//! ```
//!
//! An object is an outermost model, without the one that carries the sensor. Poses are those of
//! its frame, told in the frame of the sensor.

pub mod detector;
mod error;
mod frustum;
pub mod logical_camera;
pub(crate) mod noise_file;
mod objects;
