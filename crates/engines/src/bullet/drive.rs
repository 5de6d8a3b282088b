//! What acts on Bullet's bodies at every step: forces from outside, the efforts of motors,
//! springs and dampers, and the ties of screws and mimics, as forces about centres of mass.
//!
//! An effort that is too stiff for the step to be a force becomes a damper that the shim
//! solves together with the joint (`Axis` in shim.cpp).

use headland_base::{Mat3, Vec3};
use headland_sim::lever::inverse_masses;
use headland_sim::{Action, Effort, Forces, Inputs, Lever, Model, State, Ties};

use super::Seat;

/// Scratch of every step, kept so that none allocates.
pub(super) struct Drive {
    ties: Ties,
    /// Of each rigid, about its centre and in its frame, rotors included.
    inertias: Vec<Mat3>,
    forces: Forces,
    efforts: Vec<Effort>,
    masses: Vec<(f64, Mat3)>,
    /// Six numbers per body of Bullet's.
    pub(super) flat_forces: Vec<f64>,
    /// Three numbers per axis: position, the damper's target speed, its damping.
    pub(super) aims: Vec<f64>,
}

impl Drive {
    pub(super) fn of(model: &Model, inertias: Vec<Mat3>, n_bodies: usize) -> Drive {
        Drive {
            ties: Ties::of(model),
            inertias,
            forces: Forces::new(model),
            efforts: Vec::new(),
            masses: Vec::new(),
            flat_forces: vec![0.0; 6 * n_bodies],
            aims: vec![0.0; 3 * model.dofs.len()],
        }
    }

    /// Works out what acts during the next step.
    pub(super) fn aim(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: f64,
        state: &State,
        seats: &[Seat],
    ) {
        self.forces.total.fill((Vec3::ZERO, Vec3::ZERO));
        for wrench in &inputs.wrenches {
            self.forces.add(wrench.rigid_idx, wrench.force, wrench.torque);
        }
        self.gather(model, inputs, state);
        if self.efforts.iter().any(Effort::gives_way) || !self.ties.is_empty() {
            self.weigh(model, state);
        }
        for dof_idx in 0..model.dofs.len() {
            self.act(model, dof_idx, dt, state);
        }
        self.ties.keep(model, dt, state, &self.masses, &mut self.forces);
        for (seat, (force, torque)) in seats.iter().zip(&self.forces.total) {
            if let Some(i) = seat.body_idx {
                self.flat_forces[6 * i..6 * i + 3].copy_from_slice(&force.to_array());
                self.flat_forces[6 * i + 3..6 * i + 6].copy_from_slice(&torque.to_array());
            }
        }
    }

    /// The effort on each axis, of its motor, spring and damper, and how it gives way.
    fn gather(&mut self, model: &Model, inputs: &Inputs, state: &State) {
        self.efforts.clear();
        self.efforts.extend(model.dofs.iter().enumerate().map(|(i, dof)| {
            let (axis, now) = (&dof.axis, &state.dofs[i]);
            Effort::of_motor(inputs, i).with_spring(axis, now).with_damper(axis, now)
        }));
    }

    /// Inverse mass of every rigid, and inverse inertia in the world's frame.
    fn weigh(&mut self, model: &Model, state: &State) {
        let rotation = |i: usize| state.rigids[i].world_from_rigid.rotation;
        self.masses = inverse_masses(model, &self.inertias, rotation);
    }

    /// Makes a force of an effort, or where it is stiff, a damper.
    fn act(&mut self, model: &Model, dof_idx: usize, dt: f64, state: &State) {
        let effort = self.efforts[dof_idx];
        let (dof, now) = (&model.dofs[dof_idx], &state.dofs[dof_idx]);
        let joint = &model.joints[dof.joint_idx];
        let action = Action::of(joint);
        let (mut push, mut damping) = (0.0, 0.0); // effort = push − damping·(speed after)
        if effort != Effort::default() {
            let lever = Lever::of(model, state, joint, dof_idx, action);
            if effort.gives_way() && effort.is_stiff(lever.give(&self.masses), dt) {
                (push, damping) = effort.as_damper(now.velocity, dt);
            } else {
                self.forces.add_along(&lever, effort.value);
            }
        }
        if action == Action::Slide && dof.axis.armature > 0.0 {
            // A rotor resists a change of speed: `−a·(q̇ − q̇₀)/dt`.
            let rotor = dof.axis.armature / dt;
            damping += rotor;
            push += rotor * now.velocity;
        }
        let target = if damping > 0.0 { push / damping } else { 0.0 };
        self.aims[3 * dof_idx..3 * dof_idx + 3].copy_from_slice(&[now.position, target, damping]);
    }
}
