//! A player in a run: its firmware and what orders it.

use headland_base::{Diagnostic, SimDuration};
use headland_sim::{Command, Commands, Controller, Mode, Model, State};

use crate::firmware::{Firmware, GettingUp, Order, Sensed, Tuning};
use crate::skeleton::{N_JOINTS, Skeleton};

/// A controller of one player.
pub struct Player {
    name: String,
    period: SimDuration,
    skeleton: Skeleton,
    firmware: Firmware,
    orders: Box<dyn FnMut(&Model, &State) -> Order>,
}

impl Player {
    /// Finds the robot in the model.
    pub fn new(
        model: &Model,
        robot: &str,
        period: SimDuration,
        tune: impl FnOnce(&mut Tuning),
        getting_up: GettingUp,
        orders: Box<dyn FnMut(&Model, &State) -> Order>,
    ) -> Result<Player, Vec<Diagnostic>> {
        let skeleton = Skeleton::find(model, robot)?;
        let mut tuning = Tuning::of(&skeleton);
        tune(&mut tuning);
        let gravity = model.world.gravity.length();
        let firmware = Firmware::new(skeleton.clone(), tuning, getting_up, gravity);
        Ok(Player { name: robot.to_string(), period, skeleton, firmware, orders })
    }
}

/// What the robot's own sensors would say, without noise.
pub fn sense(skeleton: &Skeleton, state: &State) -> Sensed {
    let root = &state.rigids[skeleton.root_rigid];
    let attitude = root.world_from_rigid.rotation;
    let mut joints = [0.0; N_JOINTS];
    for (angle, bone) in joints.iter_mut().zip(&skeleton.bones) {
        *angle = state.dofs[bone.dof_idx].position;
    }
    Sensed { joints, attitude, gyro: attitude.conjugate() * root.twist.angular }
}

impl Controller for Player {
    fn name(&self) -> &str {
        &self.name
    }

    fn period(&self) -> SimDuration {
        self.period
    }

    fn update(&mut self, model: &Model, state: &State, commands: &mut Commands) {
        let order = (self.orders)(model, state);
        let sensed = sense(&self.skeleton, state);
        let targets = self.firmware.tick(self.period.secs(), &sensed, order);
        for (target, bone) in targets.iter().zip(&self.skeleton.bones) {
            commands.set(bone.dof_idx, Command { mode: Mode::Position, target: *target });
        }
    }
}
