//! Controllers and the commands they give.
//!
//! ```text
//! Controller ─ update ─► Commands ─ efforts ─► Inputs ─► Engine
//! ```
//!
//! A command is held until it is replaced. Position and velocity commands become efforts
//! here, by one formula for every engine, so that the same gains mean the same everywhere.
//! A servo with gains of its own holds zero until it is told otherwise, as MuJoCo's do.
//! Where several motors drive an axis their efforts add up; a command goes to all of them.
//!
//! A motor gives no more than its limits, of which one may depend on the speed. One with a
//! rate of its own computes its effort at its ticks, from what is commanded and measured
//! then, and holds it in between.

use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_world::{Actuator, ActuatorKind, Axis, TorqueSpeed, join_scope};

use crate::engine::{Inputs, Order, Saturated};
use crate::model::Model;
use crate::state::{DofState, State};

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

/// One motor of an axis: how commands become efforts, seen from the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Motor {
    /// None where its description has none, and another motor of the axis has some.
    gains: Option<Gains>,
    /// Targets are clamped to this range; it belongs to one mode.
    target_range: Option<(Mode, f64, f64)>,
    /// Efforts are clamped to this range.
    effort_range: (f64, f64),
    /// What it can give at which speed.
    torque_speed: Option<TorqueSpeed>,
    /// How long it holds an effort; `None` where it computes one in every step.
    period: Option<SimDuration>,
    /// What it follows before the first command.
    at_start: Option<Command>,
}

/// What a motor with a rate of its own computed last.
#[derive(Clone, Copy, Debug)]
struct Tick {
    /// Counted from time zero: the n-th multiple of its period.
    n: i64,
    effort: f64,
}

/// The commands in force.
#[derive(Clone, Debug)]
pub struct Commands {
    held: Vec<Option<Command>>,
    /// Whether an axis was ever told something; before, each of its motors holds its own.
    is_told: Vec<bool>,
    /// Those of each axis, at least one.
    motors: Vec<Vec<Motor>>,
    /// What each motor holds; `None` before its first tick, and of one without a rate.
    ticks: Vec<Vec<Option<Tick>>>,
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
        let mut motors = motors_of(model);
        for axis in &mut motors {
            if axis.is_empty() {
                axis.push(Motor::default());
            }
            if axis.iter().all(|motor| motor.gains.is_none()) {
                axis[0].gains = default_gains;
            }
        }
        Commands {
            held: motors.iter().map(|axis| axis.iter().find_map(|m| m.at_start)).collect(),
            is_told: vec![false; motors.len()],
            ticks: motors.iter().map(|axis| vec![None; axis.len()]).collect(),
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
        self.is_told[dof_idx] = true;
        self.given_at = self.now;
        self.n_given += 1;
    }

    /// Lets an axis go.
    pub fn release(&mut self, dof_idx: usize) {
        self.held[dof_idx] = None;
        self.is_told[dof_idx] = true;
        self.given_at = self.now;
        self.n_given += 1;
    }

    /// The command in force for an axis; before the first one, what its first servo holds.
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
        let can_follow = |motors: &[Motor], mode| motors.iter().any(|m| m.can_follow(mode));
        held.filter(|(_, (command, motors))| command.is_some_and(|c| !can_follow(motors, c.mode)))
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
    /// `kp·(target − q) − kd·q̇` for a position, `kd·(target − q̇)` for a velocity, of every
    /// motor within its own limits, added up within those of the axis. An effort is shared
    /// out: the first motor gives what it can, the next one the rest. At the speed limit of
    /// the axis nothing pushes further. At a limit of its effort a motor does not give way, nor
    /// does one that holds its effort until its next tick. To be called once a step.
    pub fn act(&mut self, model: &Model, state: &State, inputs: &mut Inputs) {
        let expired = self.is_expired();
        inputs.efforts.clear();
        inputs.slopes.clear();
        inputs.limits.clear();
        inputs.saturated.clear();
        inputs.orders.clear();
        for (i, (dof, now)) in model.dofs.iter().zip(&state.dofs).enumerate() {
            let (effort, slope) = if expired {
                self.let_go(i);
                STILL
            } else {
                self.act_on(i, &dof.axis, now)
            };
            let limits = self.limits(i, &dof.axis, now);
            if slope == STILL.1 && effort != 0.0 && !expired {
                inputs.saturated.extend(self.saturated(i, limits, now, effort));
            }
            inputs.limits.push(limits);
            inputs.efforts.push(effort);
            inputs.slopes.push(slope);
            inputs.orders.push(self.order(i, expired));
        }
    }

    fn order(&self, dof_idx: usize, expired: bool) -> Order {
        match self.held[dof_idx] {
            _ if expired => Order::LetGo,
            _ if !self.is_told[dof_idx] => Order::Nothing,
            None => Order::LetGo,
            Some(command) if command.target.is_nan() => Order::LetGo,
            Some(command) => Order::Follow(command),
        }
    }

    fn act_on(&mut self, dof_idx: usize, axis: &Axis, now: &DofState) -> (f64, Gains) {
        let (is_told, time) = (self.is_told[dof_idx], self.now);
        let (mut asked, mut slope) = STILL;
        // A command that is no number moves nothing.
        let Some(held) = self.held[dof_idx].filter(|command| !command.target.is_nan()) else {
            self.let_go(dof_idx);
            return STILL;
        };
        let mut rest = held.target;
        for (motor, tick) in self.motors[dof_idx].iter().zip(&mut self.ticks[dof_idx]) {
            let command = match held.mode {
                _ if !is_told => motor.at_start,
                Mode::Effort => Some(Command { target: rest, ..held }),
                Mode::Position | Mode::Velocity => Some(held),
            };
            let Some(command) = command else { continue };
            let (effort, gains) = motor.give(command, now, time, tick);
            rest -= effort;
            asked += effort;
            slope = Gains { kp: slope.kp + gains.kp, kd: slope.kd + gains.kd };
        }
        let too_fast = now.velocity.abs() > axis.velocity_max && asked * now.velocity > 0.0;
        if too_fast || asked.is_nan() {
            return STILL;
        }
        let effort = clamp(asked, (-axis.effort_max, axis.effort_max));
        (effort, if effort == asked { slope } else { Gains::default() })
    }

    /// What an axis can give now, where it has one motor.
    fn limits(&self, dof_idx: usize, axis: &Axis, now: &DofState) -> (f64, f64) {
        let of_axis = (-axis.effort_max, axis.effort_max);
        match self.motors[dof_idx][..] {
            [motor] => within(within(motor.effort_range, motor.range_at(now.velocity)), of_axis),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Whether an axis gives all it can, what it would give without its limits. Known of an axis
    /// with one motor that computes its effort in every step.
    fn saturated(
        &self,
        dof_idx: usize,
        (low, high): (f64, f64),
        now: &DofState,
        effort: f64,
    ) -> Option<Saturated> {
        let [motor] = self.motors[dof_idx][..] else { return None };
        let command = if self.is_told[dof_idx] { self.held[dof_idx] } else { motor.at_start }?;
        if motor.period.is_some() {
            return None;
        }
        let (asked, slope) = motor.ask(command, now);
        let is_known = asked.is_finite() && low <= high && slope != Gains::default();
        (is_known && asked != effort).then_some(Saturated {
            dof_idx,
            beyond: asked - effort,
            slope,
            room: (low - effort, high - effort),
        })
    }

    /// What motors hold is gone; a new command waits for their next tick.
    fn let_go(&mut self, dof_idx: usize) {
        for (motor, tick) in self.motors[dof_idx].iter().zip(&mut self.ticks[dof_idx]) {
            *tick = motor.period.map(|period| Tick { n: n_periods(self.now, period), effort: 0.0 });
        }
    }
}

/// The motors of every axis.
fn motors_of(model: &Model) -> Vec<Vec<Motor>> {
    let mut motors = vec![Vec::new(); model.dofs.len()];
    model.world.visit_models(&mut |at| {
        for actuator in &at.model.actuators {
            if let Some(i) = model.dof(&join_scope(at.scope, &actuator.joint)) {
                motors[i].push(Motor::of(actuator));
            }
        }
    });
    motors
}

/// How long each axis lags behind a position it is told \[s\]: `kd/kp` of its servos, which is
/// how slowly one with much damping comes. None where no servo holds a position.
pub(crate) fn servo_lags(model: &Model) -> Vec<Option<f64>> {
    let lag = |motors: &Vec<Motor>| {
        let gains = motors.iter().filter_map(|motor| motor.gains);
        let (kp, kd) = gains.fold((0.0, 0.0), |(p, d), gains| (p + gains.kp, d + gains.kd));
        (kp > 0.0).then(|| kd / kp)
    };
    motors_of(model).iter().map(lag).collect()
}

/// What lies in both of two ranges.
fn within(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.max(other.0), one.1.min(other.1))
}

/// Of a motor that gives nothing.
const STILL: (f64, Gains) = (0.0, Gains { kp: 0.0, kd: 0.0 });

impl Default for Motor {
    fn default() -> Motor {
        let effort_range = (f64::NEG_INFINITY, f64::INFINITY);
        Motor {
            gains: None,
            target_range: None,
            effort_range,
            torque_speed: None,
            period: None,
            at_start: None,
        }
    }
}

impl Motor {
    /// What an actuator says. Its own side turns `gear` times as far as the joint: gains
    /// count twice through the gear, ranges once.
    fn of(actuator: &Actuator) -> Motor {
        let mut motor = Motor::default();
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
            motor.gains = Some(Gains { kp: kp * gear * gear, kd: kd * gear * gear });
            // Without `kp` to hold a position by, what is left of a servo is a damper.
            let mode = if kp == 0.0 { Mode::Velocity } else { mode };
            motor.at_start = Some(Command { mode, target: 0.0 });
        }
        if let Some(range) = actuator.command_range {
            let (low, high) = scaled(range, if mode == Mode::Effort { gear } else { 1.0 / gear });
            motor.target_range = Some((mode, low, high));
        }
        if let Some(range) = actuator.effort_range {
            motor.effort_range = scaled(range, gear);
        }
        motor.torque_speed = actuator.torque_speed.map(|curve| TorqueSpeed {
            stall_effort: curve.stall_effort * gear.abs(),
            no_load_speed: curve.no_load_speed / gear.abs(),
        });
        // More often than a nanosecond is all the time.
        let period = actuator.rate.and_then(|rate| SimDuration::from_secs(1.0 / rate));
        motor.period = period.filter(|period| *period > SimDuration::ZERO);
        motor
    }

    /// The effort this motor gives now, and how it gives way.
    #[inline]
    fn give(
        &self,
        command: Command,
        now: &DofState,
        time: SimTime,
        tick: &mut Option<Tick>,
    ) -> (f64, Gains) {
        let (asked, slope) = match self.period {
            None => self.follow(command, now),
            Some(period) => (self.sampled(command, now, n_periods(time, period), tick), STILL.1),
        };
        // Its speed is the motor's own: it limits also what is held.
        let effort = clamp(asked, self.range_at(now.velocity));
        (effort, if effort == asked { slope } else { Gains::default() })
    }

    /// What was computed at the latest tick, the `n`-th.
    fn sampled(&self, command: Command, now: &DofState, n: i64, tick: &mut Option<Tick>) -> f64 {
        match tick {
            Some(held) if held.n == n => held.effort,
            _ => tick.insert(Tick { n, effort: self.follow(command, now).0 }).effort,
        }
    }

    /// What it can give at a speed: with the motion less and less, against it all it has.
    fn range_at(&self, velocity: f64) -> (f64, f64) {
        let Some(curve) = self.torque_speed else { return (f64::NEG_INFINITY, f64::INFINITY) };
        let left =
            |speed: f64| curve.stall_effort * (1.0 - (speed / curve.no_load_speed).clamp(0.0, 1.0));
        (-left(-velocity), left(velocity))
    }

    /// The effort a command asks of this motor, and how that gives way.
    fn ask(&self, command: Command, now: &DofState) -> (f64, Gains) {
        let gains = self.gains.unwrap_or_default();
        let target = self.target(command);
        match command.mode {
            Mode::Position => (gains.kp * (target - now.position) - gains.kd * now.velocity, gains),
            Mode::Velocity => (gains.kd * (target - now.velocity), Gains { kp: 0.0, ..gains }),
            Mode::Effort => (target, Gains::default()),
        }
    }

    /// The same within its range.
    fn follow(&self, command: Command, now: &DofState) -> (f64, Gains) {
        let (asked, slope) = self.ask(command, now);
        if asked.is_nan() {
            return STILL;
        }
        let effort = clamp(asked, self.effort_range);
        (effort, if effort == asked { slope } else { Gains::default() })
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

/// How many periods have begun since time zero, the one of this moment not counted.
fn n_periods(time: SimTime, period: SimDuration) -> i64 {
    time.nanos().div_euclid(period.nanos())
}

/// Like `f64::clamp`, but ranges that do not overlap (a limit of a world and one of a motor)
/// give the lower end instead of a panic. What is no number stays so.
fn clamp(value: f64, (low, high): (f64, f64)) -> f64 {
    let value = if value > high { high } else { value };
    if value < low { low } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actuator(kind: ActuatorKind, gear: f64) -> Actuator {
        Actuator {
            name: "a".into(),
            joint: "j".into(),
            kind,
            gear,
            command_range: Some((-1.0, 2.0)),
            effort_range: Some((-3.0, 3.0)),
            ..Actuator::default()
        }
    }

    #[test]
    fn an_actuator_is_seen_from_its_joint() {
        let geared = Motor::of(&actuator(ActuatorKind::Position { kp: 5.0, kv: 0.5 }, -2.0));
        assert_eq!(geared.gains, Some(Gains { kp: 20.0, kd: 2.0 }));
        assert_eq!(geared.effort_range, (-6.0, 6.0));
        assert_eq!(geared.target(Command { mode: Mode::Position, target: -7.0 }), -1.0);
        assert_eq!(geared.target(Command { mode: Mode::Position, target: 7.0 }), 0.5);
        assert_eq!(geared.target(Command { mode: Mode::Effort, target: 7.0 }), 7.0);
        let holds = Command { mode: Mode::Position, target: 0.0 };
        assert_eq!(geared.at_start, Some(holds), "a servo holds zero from the start");
        let damper = Motor::of(&actuator(ActuatorKind::Position { kp: 0.0, kv: 0.5 }, 1.0));
        assert!(damper.at_start.is_some_and(|held| damper.can_follow(held.mode)));
        let direct = Motor::of(&actuator(ActuatorKind::Motor, 4.0));
        assert_eq!((direct.gains, direct.effort_range), (None, (-12.0, 12.0)));
        assert_eq!(direct.at_start, None, "a motor gives nothing until it is told to");
        assert_eq!(direct.target(Command { mode: Mode::Effort, target: 70.0 }), 8.0);
    }
}
