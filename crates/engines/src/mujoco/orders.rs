//! What acts on a user's own file: controls of its actuators, and forces where it has none.
//!
//! An actuator that is told nothing gets a control of zero, as in MuJoCo. A position or a
//! velocity goes to it as its control, an effort through its gear; what the actuators of an
//! axis cannot do is refused in words. An axis without an actuator takes its effort as a force.

use headland_base::Vec3;
use headland_sim::{Command, Fault, Inputs, Mode, Model, Order, State};
use headland_world::{Actuator, ActuatorKind, join_scope};

use super::library::{Applied, Library, Sim};
use super::roster::{Roster, Whereabouts};

/// Which actuators are whose.
pub(super) struct Orders {
    applied: Applied,
    /// Of each axis.
    motors: Vec<Vec<Motor>>,
    had_wrenches: bool,
    /// Whether forces and controls can be handed over.
    version: Result<(), String>,
}

/// An actuator of the file.
struct Motor {
    kind: ActuatorKind,
    gear: f64,
    /// What it can give, seen from the joint.
    efforts: (f64, f64),
    /// Its number; none where it has no name and could be another.
    control_at: Option<usize>,
}

impl Orders {
    pub(super) fn of(model: &Model, sim: &Sim<'_>, roster: &Roster) -> Orders {
        let counts = sim.counts().unwrap_or_default();
        let mut applied = Applied::default();
        applied.qfrc = vec![0.0; counts.n_velocities];
        applied.xfrc = vec![0.0; 6 * counts.n_bodies];
        applied.brakes = vec![0.0; counts.n_controls];
        let nameless = nameless(model, sim, counts.n_controls);
        let mut nameless = nameless.iter().flatten().copied();
        let mut motors: Vec<Vec<Motor>> = model.dofs.iter().map(|_| Vec::new()).collect();
        model.world.visit_models(&mut |at| {
            for actuator in &at.model.actuators {
                let own = sim.actuator(&actuator.name).or_else(|| nameless.next());
                if let Some(i) = model.dof(&join_scope(at.scope, &actuator.joint)) {
                    motors[i].push(Motor::of(actuator, own));
                }
            }
        });
        debug_assert_eq!(roster.axes.len(), motors.len());
        Orders { applied, motors, had_wrenches: false, version: can_push(sim.library()) }
    }

    /// What acts in this step.
    pub(super) fn act(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        state: &State,
        sim: &Sim<'_>,
        roster: &Roster,
    ) -> Result<&mut Applied, Fault> {
        for i in 0..model.dofs.len() {
            let order = inputs.orders.get(i).copied().unwrap_or_default();
            let effort = inputs.efforts.get(i).copied().unwrap_or_default();
            let done = if self.motors[i].is_empty() {
                self.push(i, effort, roster)
            } else {
                self.tell(i, order, effort, roster)
            };
            done.map_err(|why| Fault(format!("mujoco: joint `{}`: {why}", model.dofs[i].name)))?;
        }
        if self.had_wrenches {
            self.applied.xfrc.fill(0.0);
        }
        self.had_wrenches = !inputs.wrenches.is_empty();
        if self.had_wrenches {
            self.version.clone().map_err(|why| Fault(format!("mujoco: {why}")))?;
            self.wrenches(model, inputs, state, sim, roster);
        }
        Ok(&mut self.applied)
    }

    /// A force on an axis.
    fn push(&mut self, dof_idx: usize, effort: f64, roster: &Roster) -> Result<(), String> {
        match roster.axes[dof_idx] {
            Some((velocity, _)) => self.applied.qfrc[velocity] = effort,
            None if effort != 0.0 => {
                self.version.clone()?;
                return Err("it is not found in what mujoco loads, so nothing can push it".into());
            }
            None => {}
        }
        Ok(())
    }

    /// Controls for the actuators of an axis.
    fn tell(
        &mut self,
        dof_idx: usize,
        order: Order,
        effort: f64,
        roster: &Roster,
    ) -> Result<(), String> {
        let motors = &self.motors[dof_idx];
        let is_plain = motors.iter().all(|motor| motor.kind == ActuatorKind::Motor);
        let command = match order {
            Order::Nothing => None,
            Order::LetGo if is_plain => None,
            Order::LetGo => return Err("its actuator in the file cannot let go".into()),
            Order::Follow(command) => Some(command),
        };
        if command.is_some() {
            self.version.clone()?;
        }
        let reference = roster.axes[dof_idx].map(|(_, reference)| reference);
        let mut rest = effort;
        for motor in motors {
            let Some(at) = motor.control_at else {
                match command {
                    None => continue,
                    Some(_) => return Err("its actuator in the file needs a name".into()),
                }
            };
            self.applied.brakes[at] = match command {
                None => 0.0,
                Some(_) if is_plain => {
                    let (low, high) = motor.efforts;
                    let given = rest.min(high).max(low);
                    rest -= given;
                    given / motor.gear
                }
                Some(command) => motor.control(command, reference)?,
            };
        }
        let follows = |mode: Mode| motors.iter().any(|motor| motor.follows(mode));
        match command {
            Some(command) if !is_plain && !follows(command.mode) => {
                Err(cannot_follow(command.mode))
            }
            _ => Ok(()),
        }
    }

    /// Forces on bodies, at MuJoCo's centres of mass.
    fn wrenches(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        state: &State,
        sim: &Sim<'_>,
        roster: &Roster,
    ) {
        for wrench in &inputs.wrenches {
            let body = match &roster.rigids[wrench.rigid_idx] {
                Whereabouts::Still => continue,
                Whereabouts::Body(body) => *body,
                Whereabouts::Between(carrier) => carrier.body,
            };
            let rigid = &model.rigids[wrench.rigid_idx];
            let at = state.rigids[wrench.rigid_idx].world_from_rigid.point(rigid.centre);
            let arm = at - Vec3::from_array(sim.centre(body));
            let torque = wrench.torque + arm.cross(wrench.force);
            let start = 6 * body.number();
            let both = wrench.force.to_array().into_iter().chain(torque.to_array());
            for (sum, part) in self.applied.xfrc[start..start + 6].iter_mut().zip(both) {
                *sum += part;
            }
        }
    }
}

impl Motor {
    fn of(actuator: &Actuator, control_at: Option<usize>) -> Motor {
        let gear = actuator.gear;
        let ranges = [actuator.command_range, actuator.effort_range].into_iter().flatten();
        let ends = ranges.map(|(a, b)| (a * gear, b * gear)).map(|(a, b)| (a.min(b), a.max(b)));
        let all = (f64::NEG_INFINITY, f64::INFINITY);
        let efforts = ends.fold(all, |(a, b), (low, high)| (a.max(low), b.min(high)));
        Motor { kind: actuator.kind, gear, efforts, control_at }
    }

    fn follows(&self, mode: Mode) -> bool {
        match self.kind {
            ActuatorKind::Motor => false,
            ActuatorKind::Position { .. } => mode == Mode::Position,
            ActuatorKind::Velocity { .. } => mode == Mode::Velocity,
        }
    }

    /// What it is told for a command, among others that may follow it.
    fn control(&self, command: Command, reference: Option<f64>) -> Result<f64, String> {
        let zero = || reference.ok_or("it is not found in what mujoco loads".to_string());
        match (self.kind, command.mode) {
            (ActuatorKind::Position { .. }, Mode::Position) => {
                Ok(self.gear * (command.target + zero()?))
            }
            (ActuatorKind::Velocity { .. }, Mode::Velocity) => Ok(self.gear * command.target),
            (ActuatorKind::Position { .. }, mode) => Err(cannot_follow(mode)),
            (ActuatorKind::Motor | ActuatorKind::Velocity { .. }, _) => Ok(0.0),
        }
    }
}

fn cannot_follow(mode: Mode) -> String {
    let word = Mode::ALL.iter().find(|(_, m)| *m == mode).map_or("", |(word, _)| word);
    format!("its actuators in the file follow no {word}; without --raw headland's own do")
}

fn can_push(library: &Library) -> Result<(), String> {
    let version = library.version();
    (!library.needs_force_actuators()).then_some(()).ok_or_else(|| {
        format!("MuJoCo {version} has no function for commands and forces on a file; 2.3.7 has")
    })
}

/// The numbers of actuators without a name, where it is certain that ours have the same order:
/// one model has them all, and there are as many.
fn nameless(model: &Model, sim: &Sim<'_>, n_controls: usize) -> Option<Vec<usize>> {
    let (mut n, mut n_models) = (0, 0);
    model.world.visit_models(&mut |at| {
        let own = at.model.actuators.iter().filter(|a| sim.actuator(&a.name).is_none()).count();
        n += own;
        n_models += usize::from(own > 0);
    });
    let theirs: Vec<usize> =
        (0..n_controls).filter(|i| sim.name_of_actuator(*i).is_none()).collect();
    (n_models <= 1 && n == theirs.len()).then_some(theirs)
}
