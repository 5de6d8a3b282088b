//! Controllers and the commands they give.
//!
//! ```text
//! Controller ─ update ─► Commands ─ efforts ─► Inputs ─► Engine
//! ```
//!
//! A command is held until it is replaced. Position and velocity commands become efforts
//! here, by one formula for every engine, so that the same gains mean the same everywhere.

use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_world::{ActuatorKind, World, join_scope};

use crate::model::Model;
use crate::state::State;

/// The software under test, in process.
pub trait Controller {
    /// Its name, for progress and errors.
    fn name(&self) -> &str;

    /// How often it runs. It is called at time zero, then at the first step at or after
    /// each multiple.
    fn period(&self) -> SimDuration;

    /// Looks at the world and gives commands.
    fn update(&mut self, model: &Model, state: &State, commands: &mut Commands);
}

/// What a command sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Position \[rad or m\].
    Position,
    /// Velocity \[rad/s or m/s\].
    Velocity,
    /// Effort \[N·m or N\].
    Effort,
}

impl Mode {
    /// Every mode with its word.
    pub const ALL: &[(&str, Mode)] =
        &[("position", Mode::Position), ("velocity", Mode::Velocity), ("effort", Mode::Effort)];
}

/// A command to one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Command {
    /// What it sets.
    pub mode: Mode,
    /// To what.
    pub target: f64,
}

/// How an axis's motor turns an error into an effort.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gains {
    /// Effort per position error.
    pub kp: f64,
    /// Effort per velocity error.
    pub kd: f64,
}

/// The commands in force.
#[derive(Clone, Debug)]
pub struct Commands {
    held: Vec<Option<Command>>,
    gains: Vec<Option<Gains>>,
    given_at: SimTime,
    now: SimTime,
    watchdog: Option<SimDuration>,
    n_given: u64,
}

impl Commands {
    /// No command yet. Gains are the actuators' of the world; `default_gains` stands in
    /// where an axis has none.
    pub fn new(
        model: &Model,
        default_gains: Option<Gains>,
        watchdog: Option<SimDuration>,
    ) -> Commands {
        let mut gains = vec![default_gains; model.dofs.len()];
        for (dof_idx, found) in actuator_gains(model, &model.world) {
            gains[dof_idx] = Some(found);
        }
        Commands {
            held: vec![None; model.dofs.len()],
            gains,
            given_at: SimTime::ZERO,
            now: SimTime::ZERO,
            watchdog,
            n_given: 0,
        }
    }

    /// Gives a command; it holds until the next one to the same axis.
    pub fn set(&mut self, dof_idx: usize, command: Command) {
        self.held[dof_idx] = Some(command);
        self.given_at = self.now;
        self.n_given += 1;
    }

    /// Lets an axis go.
    pub fn release(&mut self, dof_idx: usize) {
        self.held[dof_idx] = None;
        self.given_at = self.now;
        self.n_given += 1;
    }

    /// The command in force for an axis.
    pub fn held(&self, dof_idx: usize) -> Option<Command> {
        self.held[dof_idx]
    }

    /// How many commands were given so far; changes when one is.
    pub fn n_given(&self) -> u64 {
        self.n_given
    }

    /// Tells the commands what time it is.
    pub fn advance(&mut self, now: SimTime) {
        self.now = now;
    }

    /// Whether the watchdog has let go: commands were given, and none for too long.
    pub fn is_expired(&self) -> bool {
        let limit = self.watchdog.filter(|_| self.n_given > 0);
        limit.is_some_and(|limit| self.now - self.given_at > limit)
    }

    /// Every axis that holds a position or velocity command without gains to follow it.
    pub fn missing_gains(&self, model: &Model) -> Vec<Diagnostic> {
        let held = self.held.iter().zip(&self.gains).enumerate();
        held.filter(|(_, (command, gains))| {
            gains.is_none() && command.is_some_and(|command| command.mode != Mode::Effort)
        })
        .map(|(i, _)| {
            Diagnostic::error(
                "no-gains",
                format!(
                    "joint `{}` has no gains to follow a position or velocity",
                    model.dofs[i].name
                ),
            )
            .help("give the model a <headland:actuator> with kp and kv, or pass --gains KP,KD")
        })
        .collect()
    }

    /// The effort of every axis now.
    ///
    /// `kp·(target − q) − kd·q̇` for a position, `kd·(target − q̇)` for a velocity, within
    /// the axis's effort limit. A motor at its speed limit does not push further.
    pub fn efforts(&self, model: &Model, state: &State, out: &mut Vec<f64>) {
        let expired = self.is_expired();
        out.clear();
        out.extend(model.dofs.iter().zip(&state.dofs).enumerate().map(|(i, (dof, now))| {
            let Some(command) = self.held[i].filter(|_| !expired) else { return 0.0 };
            let gains = self.gains[i].unwrap_or_default();
            let asked = match command.mode {
                Mode::Position => {
                    gains.kp * (command.target - now.position) - gains.kd * now.velocity
                }
                Mode::Velocity => gains.kd * (command.target - now.velocity),
                Mode::Effort => command.target,
            };
            let too_fast = now.velocity.abs() > dof.axis.velocity_max && asked * now.velocity > 0.0;
            if too_fast { 0.0 } else { asked.clamp(-dof.axis.effort_max, dof.axis.effort_max) }
        }));
    }
}

/// Gains of the axes that actuators of the world drive.
fn actuator_gains(model: &Model, world: &World) -> Vec<(usize, Gains)> {
    let mut out = Vec::new();
    world.visit_models(&mut |at| {
        for actuator in &at.model.actuators {
            let gains = match actuator.kind {
                ActuatorKind::Motor => continue,
                ActuatorKind::Position { kp, kv } => Gains { kp, kd: kv },
                ActuatorKind::Velocity { kv } => Gains { kp: 0.0, kd: kv },
            };
            // A motor of a format without gains has zeros; the run's own stand in for them.
            let is_given = gains != Gains::default();
            if let Some(i) = model.dof(&join_scope(at.scope, &actuator.joint)).filter(|_| is_given)
            {
                out.push((i, gains));
            }
        }
    });
    out
}
