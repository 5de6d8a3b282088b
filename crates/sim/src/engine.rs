//! The one trait every physics engine stands behind.

use std::time::Duration;

use headland_base::{Diagnostic, SimDuration, Vec3};

use crate::control::{Command, Gains};
use crate::model::Model;
use crate::state::State;

/// One way to move a whole world through time.
///
/// An engine owns no truth: the model is given, the state is handed back after every step,
/// and two engines given the same pair may be compared sample by sample.
pub trait Engine {
    /// What it makes of the model, asked before the run: errors for what it cannot move at
    /// all, notes of code `realised` for what it realises differently from what was asked.
    fn check(&self, model: &Model, options: &EngineOptions) -> Vec<Diagnostic>;

    /// Builds its own picture of the model at `state`. Called once, after `check` found no
    /// error and before the first step.
    fn start(&mut self, model: &Model, state: &State, options: &EngineOptions)
    -> Result<(), Fault>;

    /// Puts the world back to `state`, after a `start` with the same model and options. What
    /// comes then is to the bit what comes after `start`; some engines need not build anew what
    /// does not change.
    fn restart(
        &mut self,
        model: &Model,
        state: &State,
        options: &EngineOptions,
    ) -> Result<(), Fault> {
        self.start(model, state, options)
    }

    /// Moves the world by `dt` and writes where everything is into `state`: rigids and, unless
    /// the inputs say that nobody looks, contacts. Time and joints are the run loop's.
    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault>;

    /// Whether it writes the positions and velocities of joints into the state itself, because
    /// they are what it computes with. The run loop reads them off the rigids otherwise.
    fn knows_joints(&self) -> bool {
        false
    }

    /// Whether a step may be shorter than the one it was started with. Whoever wants the state
    /// at a moment between two steps shortens one where it may, and interpolates otherwise.
    fn shortens_steps(&self) -> bool {
        false
    }

    /// Per rigid, whether it may sink into what it falls on where steps are long. All may where
    /// contacts are seen only once things overlap.
    fn may_sink(&self, model: &Model) -> Vec<bool> {
        vec![true; model.rigids.len()]
    }

    /// What it had to say in the last step, for people: warnings of its own that are no fault.
    /// Asked after every step; most have nothing.
    fn take_remarks(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// What a run asks of any engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineOptions {
    /// The step of the run, the same from beginning to end. Some engines want it early.
    pub step: SimDuration,
    /// Threads it may use; the result must not depend on it.
    pub n_threads: usize,
    /// Leave whatever the world does not say outright at the engine's own defaults, and its
    /// combination rules, damping and solver settings too: what somebody gets who only loads
    /// the world.
    pub raw: bool,
    /// A step may take this long; an engine that runs as a program is ended after it.
    pub patience: Duration,
}

impl EngineOptions {
    /// Everything as asked, on one thread, with a minute for a step.
    pub fn new(step: SimDuration) -> EngineOptions {
        EngineOptions { step, n_threads: 1, raw: false, patience: Duration::from_secs(60) }
    }
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
    /// The least and the most each effort may be while it gives way; one per dof, or none.
    pub limits: Vec<(f64, f64)>,
    /// Axes whose motor is at its limit, and what it would do if it were not. Most steps have none.
    pub saturated: Vec<Saturated>,
    /// Forces from outside.
    pub wrenches: Vec<Wrench>,
    /// Nobody looks at the contacts of this step, and what is written there is thrown away. An
    /// engine that has to work for them may leave them out; the motion must not change by it.
    pub skips_contacts: bool,
    /// What each axis was told, for an engine that has motors of its own: efforts are what
    /// comes of it by headland's formula. None, or one per dof.
    pub orders: Vec<Order>,
}

/// A motor that gives all it can at the start of a step. A stiff one that is held there for the step
/// may overshoot, and be thrown back at its other limit in the next: where in the step it has come
/// near enough to give less only an engine can say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturated {
    /// The axis.
    pub dof_idx: usize,
    /// How much more it asks for than it gives \[N·m or N\].
    pub beyond: f64,
    /// How what it asks for gives way as the axis moves on.
    pub slope: Gains,
    /// By how much its effort may still change: down, and up \[N·m or N\].
    pub room: (f64, f64),
}

/// What an axis was told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Order {
    /// Nothing so far: its motors do what they do by themselves.
    #[default]
    Nothing,
    /// To let go.
    LetGo,
    /// To follow this.
    Follow(Command),
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
    /// Where it lives.
    pub housing: Housing,
    /// The text of an adapter that is part of headland, or the path of one that is not.
    /// Nothing for engines that are no programs.
    pub source: &'static str,
    /// How much longer than others it may take before it can be asked anything: for what it
    /// compiles on first use.
    pub preparation: Duration,
    /// Looks for it: its version and where it was found, or why it cannot be used.
    pub find: fn(&EngineEntry) -> Result<Found, Unusable>,
    /// What it cannot represent, or realises differently.
    pub limits: &'static [&'static str],
    /// The command that installs it.
    pub install: &'static str,
    /// Makes a fresh one. One that is not there says so in its `check`.
    pub make: fn(&EngineEntry) -> Box<dyn Engine>,
}

/// Where an engine lives, and so what it can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Housing {
    /// Part of headland, in Rust.
    Embedded,
    /// A library in another language. It can take its process down, so a run on it is a
    /// process of its own.
    Library,
    /// A program of its own at the other end of a pipe.
    Program,
}

/// An engine that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its version, as it says it.
    pub version: String,
    /// The file or the interpreter that was found.
    pub place: String,
}

/// Why an engine cannot be used. Made from a text it is one that is there: that is what most
/// faults are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// In words.
    pub why: String,
    /// Something of it was found, and does not work: another version, a symbol it lacks, a hang.
    /// Who asks for all engines wants to hear of it; of one that is not there, only how to get it.
    pub is_there: bool,
}

impl Unusable {
    /// Nothing of it was found.
    pub fn absent(why: impl Into<String>) -> Unusable {
        Unusable { why: why.into(), is_there: false }
    }
}

impl From<String> for Unusable {
    fn from(why: String) -> Unusable {
        Unusable { why, is_there: true }
    }
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl EngineEntry {
    /// Its version, if it is there.
    pub fn version(&self) -> Option<String> {
        (self.find)(self).ok().map(|found| found.version)
    }

    /// What to say of one that is not there, or does not load.
    pub fn missing(&self, why: &str) -> Diagnostic {
        Diagnostic::error("engine-missing", format!("engine `{}` cannot be used: {why}", self.name))
            .help(format!("to get it: {}", self.install))
    }
}
