//! What every other room leans on: time, seeds, frames, portable maths, diagnostics.
//!
//! ```text
//! time        integer nanoseconds, so that a thousand steps of 1 ms are one second
//! seed        one door for chance, split by name
//! maths       the house's vectors and the only trigonometry that may reach a recording
//! transform   rigid transforms, named `a_from_b`
//! diagnostic  what is wrong, where, and what to do about it, as data
//! names       "did you mean"
//! ```
//!
//! Deliberately absent: anything about robots, files or engines.

pub mod diagnostic;
pub mod glob;
pub mod maths;
pub mod names;
pub mod seed;
pub mod time;
pub mod transform;

pub use diagnostic::{Diagnostic, Findings, Place, Severity, Source, one_line};
pub use maths::{Mat3, Quat, Vec3};
pub use seed::Seed;
pub use time::{SimDuration, SimTime};
pub use transform::Transform;
