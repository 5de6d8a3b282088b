//! Controllers and the commands they give.
//!
//! ```text
//! Controller ─ update ─► Commands ─ efforts ─► Inputs ─► Engine
//! ```
//!
//! A command is held until it is replaced. Position and velocity commands become efforts
//! here, by one formula for every engine, so that the same gains mean the same everywhere.
//! A servo with gains of its own holds zero until it is told otherwise, as MuJoCo's do.

use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_world::{Actuator, ActuatorKind, Axis, join_scope};

use crate::engine::Inputs;
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

/// What moves one axis: how commands become efforts, seen from the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Motor {
    gains: Option<Gains>,
    /// Targets are clamped to this range; it belongs to one mode.
    target_range: Option<(Mode, f64, f64)>,
    /// Efforts are clamped to this range.
    effort_range: (f64, f64),
    /// What it follows before the first command.
    at_start: Option<Command>,
}

/// The commands in force.
#[derive(Clone, Debug)]
pub struct Commands {
    held: Vec<Option<Command>>,
    motors: Vec<Motor>,
    given_at: SimTime,
    now: SimTime,
    watchdog: Option<SimDuration>,
    n_given: u64,
}

impl Commands {
    /// No command given yet. Motors are the actuators of the world; `default_gains` stands
    /// in where an axis has none. A position or velocity actuator that has gains holds zero,
    /// or what is nearest to it in its range.
    pub fn new(
        model: &Model,
        default_gains: Option<Gains>,
        watchdog: Option<SimDuration>,
    ) -> Commands {
        let plain = |axis: &Axis| Motor {
            gains: default_gains,
            target_range: None,
            effort_range: (-axis.effort_max, axis.effort_max),
            at_start: None,
        };
        let mut motors: Vec<Motor> = model.dofs.iter().map(|dof| plain(&dof.axis)).collect();
        model.world.visit_models(&mut |at| {
            for actuator in &at.model.actuators {
                if let Some(i) = model.dof(&join_scope(at.scope, &actuator.joint)) {
                    motors[i].take(actuator);
                }
            }
        });
        Commands {
            held: motors.iter().map(|motor| motor.at_start).collect(),
            motors,
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

    /// Every axis that holds a position or velocity command without gains to follow it; a
    /// position needs `kp`, a velocity `kd`.
    pub fn missing_gains(&self, model: &Model) -> Vec<Diagnostic> {
        let held = self.held.iter().zip(&self.motors).enumerate();
        held.filter(|(_, (command, motor))| command.is_some_and(|c| !motor.can_follow(c.mode)))
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

    /// The effort of every axis now, and how it gives way.
    ///
    /// `kp·(target − q) − kd·q̇` for a position, `kd·(target − q̇)` for a velocity, within
    /// the limits of the axis and its motor. A motor at its speed limit does not push
    /// further. At a limit of its effort it does not give way.
    pub fn act(&self, model: &Model, state: &State, inputs: &mut Inputs) {
        let expired = self.is_expired();
        inputs.efforts.clear();
        inputs.slopes.clear();
        for (i, (dof, now)) in model.dofs.iter().zip(&state.dofs).enumerate() {
            let still = (0.0, Gains::default());
            let acts = self.held[i].filter(|_| !expired).map_or(still, |command| {
                let motor = &self.motors[i];
                let gains = motor.gains.unwrap_or_default();
                let target = motor.target(command);
                let (asked, slope) = match command.mode {
                    Mode::Position => {
                        (gains.kp * (target - now.position) - gains.kd * now.velocity, gains)
                    }
                    Mode::Velocity => {
                        (gains.kd * (target - now.velocity), Gains { kp: 0.0, ..gains })
                    }
                    Mode::Effort => (target, Gains::default()),
                };
                let too_fast =
                    now.velocity.abs() > dof.axis.velocity_max && asked * now.velocity > 0.0;
                // A command that is no number moves nothing.
                if too_fast || asked.is_nan() {
                    return still;
                }
                let effort = clamp(asked, motor.effort_range);
                (effort, if effort == asked { slope } else { Gains::default() })
            });
            inputs.efforts.push(acts.0);
            inputs.slopes.push(acts.1);
        }
    }
}

impl Motor {
    /// Takes over what an actuator says. Its own side turns `gear` times as far as the
    /// joint: gains count twice through the gear, ranges once.
    fn take(&mut self, actuator: &Actuator) {
        let gear = actuator.gear; // never zero: the world's check refuses it
        let scaled = |(low, high): (f64, f64), by: f64| {
            let (a, b) = (low * by, high * by);
            (a.min(b), a.max(b))
        };
        let (mode, kp, kd) = match actuator.kind {
            ActuatorKind::Motor => (Mode::Effort, 0.0, 0.0),
            ActuatorKind::Position { kp, kv } => (Mode::Position, kp, kv),
            ActuatorKind::Velocity { kv } => (Mode::Velocity, 0.0, kv),
        };
        // A description without gains (URDF has none) leaves them to the run.
        if kp != 0.0 || kd != 0.0 {
            self.gains = Some(Gains { kp: kp * gear * gear, kd: kd * gear * gear });
            self.at_start = Some(Command { mode, target: 0.0 });
        }
        if let Some(range) = actuator.command_range {
            let (low, high) = scaled(range, if mode == Mode::Effort { gear } else { 1.0 / gear });
            self.target_range = Some((mode, low, high));
        }
        if let Some(range) = actuator.effort_range {
            let (low, high) = scaled(range, gear);
            self.effort_range = (self.effort_range.0.max(low), self.effort_range.1.min(high));
        }
    }

    fn can_follow(&self, mode: Mode) -> bool {
        match (mode, self.gains) {
            (Mode::Effort, _) => true,
            (Mode::Position, Some(gains)) => gains.kp != 0.0,
            (Mode::Velocity, Some(gains)) => gains.kd != 0.0,
            (_, None) => false,
        }
    }

    fn target(&self, command: Command) -> f64 {
        match self.target_range {
            Some((mode, low, high)) if mode == command.mode => clamp(command.target, (low, high)),
            _ => command.target,
        }
    }
}

/// Like `f64::clamp`, but ranges that do not overlap (a limit of a world and one of a motor)
/// give the lower end instead of a panic.
fn clamp(value: f64, (low, high): (f64, f64)) -> f64 {
    value.min(high).max(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motor() -> Motor {
        Motor { gains: None, target_range: None, effort_range: (-10.0, 10.0), at_start: None }
    }

    fn actuator(kind: ActuatorKind, gear: f64) -> Actuator {
        Actuator {
            name: "a".into(),
            joint: "j".into(),
            kind,
            gear,
            command_range: Some((-1.0, 2.0)),
            effort_range: Some((-3.0, 3.0)),
        }
    }

    #[test]
    fn an_actuator_is_seen_from_its_joint() {
        let mut geared = motor();
        geared.take(&actuator(ActuatorKind::Position { kp: 5.0, kv: 0.5 }, -2.0));
        assert_eq!(geared.gains, Some(Gains { kp: 20.0, kd: 2.0 }));
        assert_eq!(geared.effort_range, (-6.0, 6.0));
        assert_eq!(geared.target(Command { mode: Mode::Position, target: -7.0 }), -1.0);
        assert_eq!(geared.target(Command { mode: Mode::Position, target: 7.0 }), 0.5);
        assert_eq!(geared.target(Command { mode: Mode::Effort, target: 7.0 }), 7.0);
        let holds = Command { mode: Mode::Position, target: 0.0 };
        assert_eq!(geared.at_start, Some(holds), "a servo holds zero from the start");
        let mut direct = motor();
        direct.take(&actuator(ActuatorKind::Motor, 4.0));
        assert_eq!((direct.gains, direct.effort_range), (None, (-10.0, 10.0)));
        assert_eq!(direct.at_start, None, "a motor gives nothing until it is told to");
        assert_eq!(direct.target(Command { mode: Mode::Effort, target: 70.0 }), 8.0);
    }
}
