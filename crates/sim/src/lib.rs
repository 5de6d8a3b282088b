//! A world in motion.
//!
//! ```text
//! World ─ Model::compile ─► Model ─┐
//!                                  ├─ run ─► State after every step ─► Observer
//! Engine · Controllers · Sensors ──┘
//! ```
//!
//! The model is constant, the state is small and complete, and whatever else an engine
//! keeps is its own scratch. One loop moves time: [`run()`].
//!
//! Deliberately absent: judging, files, wall clocks, and every particular engine.

pub mod coarse;
pub mod condition;
pub mod constraint;
pub mod contact;
pub mod control;
pub mod effort;
pub mod engine;
pub mod form;
pub mod hull;
pub mod joint;
pub mod lever;
pub mod model;
pub mod motion;
pub mod recorder;
pub mod run;
pub mod sensor;
pub mod state;
pub mod step;
pub mod tie;
pub mod touch;
pub mod tree;

pub use coarse::{checked, coarse_step};
pub use condition::Condition;
pub use control::{Command, Commands, Controller, Gains, Mode};
pub use effort::Effort;
pub use engine::{
    Engine, EngineEntry, EngineOptions, Fault, Found, Housing, Inputs, Order, Saturated, Unusable,
    Wrench,
};
pub use lever::{Action, Forces, Lever};
pub use model::{Body, Dof, Joint, Model, Motion, Object, Rigid, Shape};
pub use recorder::Recorder;
pub use run::{Cast, Ending, Observer, RunEnd, Setup, Unobserved, run};
pub use sensor::{Due, LastStep, Letter, Look, Output, Sensor, Timing, too_fast};
pub use state::{Contact, DofState, RigidState, State};
pub use step::step;
pub use tie::Ties;
pub use touch::{SurfacePair, TouchFilter, asked_of_contacts};
