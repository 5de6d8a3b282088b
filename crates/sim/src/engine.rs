//! The one trait every physics engine stands behind.

use headland_base::{Diagnostic, SimDuration, Vec3};

use crate::control::Gains;
use crate::model::Model;
use crate::state::State;

/// One way to move a whole world through time.
///
/// An engine owns no truth: the model is given, the state is handed back after every step,
/// and two engines given the same pair may be compared sample by sample.
pub trait Engine {
    /// What it makes of the model, asked before the run: errors for what it cannot move at
    /// all, notes for what it realises differently from what was asked.
    fn check(&self, model: &Model) -> Vec<Diagnostic>;

    /// Builds its own picture of the model at `state`. Called once, after `check` found no
    /// error and before the first step.
    fn start(&mut self, model: &Model, state: &State, options: &EngineOptions)
    -> Result<(), Fault>;

    /// Moves the world by `dt` and writes where everything is into `state`: rigids and
    /// contacts. Time and joints are the run loop's.
    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault>;
}

/// What a run asks of any engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineOptions {
    /// Threads it may use; the result must not depend on it.
    pub n_threads: usize,
}

/// What acts on the world during one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// Effort of each axis's motor \[N·m or N\]; one per dof of the model.
    pub efforts: Vec<f64>,
    /// How each effort gives way as its axis moves on within the step: by `kp` per position
    /// and `kd` per velocity. None, or zeros, where it stays as it is. An engine that heeds
    /// it can follow gains that are stiff for the step.
    pub slopes: Vec<Gains>,
    /// Forces from outside.
    pub wrenches: Vec<Wrench>,
}

/// A force and a torque on a rigid, in the world's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrench {
    /// Which rigid.
    pub rigid_idx: usize,
    /// At its centre of mass \[N\].
    pub force: Vec3,
    /// \[N·m\]
    pub torque: Vec3,
}

/// An engine broke: not the world's fault, not the robot's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

/// An engine as help pages list it.
#[derive(Clone, Copy, Debug)]
pub struct EngineEntry {
    /// What `--engine` takes.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The version, when the engine is there.
    pub version: fn() -> Option<String>,
    /// What it cannot represent, or realises differently.
    pub limits: &'static [&'static str],
    /// How to get it.
    pub install: &'static str,
    /// Makes a fresh one.
    pub make: fn() -> Box<dyn Engine>,
}
