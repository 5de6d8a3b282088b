//! A model and what was measured: the same experiment, simulated.
//!
//! ```text
//! table ─ compare::Side ─► Experiment ─┐
//! commands ─ Told ─────────────┘       ├─ Replay ─► Simulated ─ recording ─► judge::compare
//! World ─ Model ─ Engine ──────────────┘
//! ```
//!
//! Fitting (`fit`) and tuning (`tune`) stand on top: the numbers of the model that make the same
//! experiment come out as it was measured.
//!
//! The input sets the sampling: the model is looked at whenever somebody measured, at exactly
//! that time after the first sample. Where the experiment starts from is given, or read off the
//! first samples; where motion is chaotic, windows start it again from what was measured.
//!
//! Deliberately absent: statistics, which are `judge`'s; pages; any engine by name: one comes in
//! as a value.
//!
//! Start reading at [`Replay`]; [`source`] is what keys mean.

pub mod experiment;
pub mod fit;
pub mod given;
pub mod infer;
pub mod live;
pub mod placing;
pub mod plan;
pub mod replay;
pub mod sensing;
pub mod simulated;
pub mod source;
pub mod told;
pub mod tune;

pub use experiment::{Experiment, Signal};
pub use live::Live;
pub use replay::{Replay, ReplayOptions, StartedFrom, Stopped, known_signals};
pub use simulated::{Done, Simulated};
pub use told::{Between, Told};
