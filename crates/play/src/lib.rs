//! Controllers that ship: gait firmware, kicks, getting up, soccer behaviour.
//!
//! ```text
//! truth of the world ─► behaviour ─ Order ─► firmware ─ angles ─► servos
//!                        joints, attitude, gyroscope ─┘
//! ```

pub mod firmware;
pub mod gait;
pub mod leg;
pub mod motion;
pub mod player;
pub mod skeleton;
