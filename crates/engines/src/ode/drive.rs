//! What acts on ODE's bodies at every step: forces from outside, the efforts of motors,
//! springs and dampers, and the ties of screws and mimics.
//!
//! ODE ends a step with `q + dt·q̇⁺`, so a spring that is read at its start neither gains
//! energy nor loses any. An effort that is too stiff for that becomes a motor of ODE's, which
//! is solved with the joint it sits on.

use headland_base::{Mat3, Vec3};
use headland_sim::lever::inverse_masses;
use headland_sim::{Action, Effort, Forces, Inputs, Lever, Model, Motion, State, Ties};

use super::ffi::{Api, Handle};
use super::joints::Joints;

/// A force or torque beyond this \[N or N·m\] is none: ODE would end the process over it.
const STRONGEST: f64 = 1e100;

/// Which axes act how, and room for what acts.
pub(super) struct Drive {
    ties: Ties,
    /// Of each rigid, about its centre and in its frame, rotors included: what ODE has.
    inertias: Vec<Mat3>,
    forces: Forces,
    efforts: Vec<Effort>,
    /// Rigids that this step's forces would tear out of all numbers; they were spared them.
    pub torn: Vec<usize>,
}

impl Drive {
    pub(super) fn of(model: &Model, inertias: Vec<Mat3>) -> Drive {
        Drive {
            ties: Ties::of(model),
            inertias,
            forces: Forces::new(model),
            efforts: Vec::new(),
            torn: Vec::new(),
        }
    }

    /// Puts this step's forces on ODE's bodies.
    #[allow(clippy::too_many_arguments, reason = "what a step has, and ODE's side of it")]
    pub(super) unsafe fn apply(
        &mut self,
        api: &Api,
        world: Handle,
        bodies: &[Handle],
        joints: &mut Joints,
        model: &Model,
        inputs: &Inputs,
        dt: f64,
        state: &State,
    ) {
        self.torn.clear();
        if model.dofs.is_empty() && inputs.wrenches.is_empty() {
            return;
        }
        self.forces.total.fill((Vec3::ZERO, Vec3::ZERO));
        for wrench in &inputs.wrenches {
            self.forces.add(wrench.rigid_idx, wrench.force, wrench.torque);
        }
        self.add_up(model, inputs, state);
        // Most worlds need none, and inverting every inertia takes its time.
        let gives_way = self.efforts.iter().any(Effort::gives_way);
        let masses = if gives_way || !self.ties.is_empty() {
            inverse_masses(model, &self.inertias, |i| state.rigids[i].world_from_rigid.rotation)
        } else {
            Vec::new()
        };
        // SAFETY: the caller's promises.
        unsafe { self.leave_stiff(api, world, joints, model, dt, state, &masses) };
        for (dof_idx, effort) in self.efforts.iter().enumerate().filter(|(_, e)| e.value != 0.0) {
            let joint = &model.joints[model.dofs[dof_idx].joint_idx];
            let lever = Lever::of(model, state, joint, dof_idx, Action::of(joint));
            self.forces.add_along(&lever, effort.value);
        }
        self.ties.keep(model, dt, state, &masses, &mut self.forces);
        for (i, (force, torque)) in self.forces.total.iter().enumerate() {
            if model.rigids[i].motion != Motion::Dynamic || state.rigids[i].is_contained {
                continue;
            }
            if !(force.length() < STRONGEST && torque.length() < STRONGEST) {
                self.torn.push(i);
                continue;
            }
            // SAFETY: what moves has a body.
            unsafe {
                if *force != Vec3::ZERO {
                    (api.dBodyAddForce)(bodies[i], force.x, force.y, force.z);
                }
                if *torque != Vec3::ZERO {
                    (api.dBodyAddTorque)(bodies[i], torque.x, torque.y, torque.z);
                }
            }
        }
    }

    /// The effort on each axis, of its motor, spring and damper, and how it gives way.
    fn add_up(&mut self, model: &Model, inputs: &Inputs, state: &State) {
        self.efforts.clear();
        self.efforts.extend(model.dofs.iter().enumerate().map(|(i, dof)| {
            let (axis, now) = (&dof.axis, &state.dofs[i]);
            Effort::of_motor(inputs, i).with_spring(axis, now).with_damper(axis, now)
        }));
    }

    /// Leaves to ODE the efforts that are too stiff to be forces, and takes them out.
    #[allow(clippy::too_many_arguments, reason = "as above")]
    unsafe fn leave_stiff(
        &mut self,
        api: &Api,
        world: Handle,
        joints: &mut Joints,
        model: &Model,
        dt: f64,
        state: &State,
        masses: &[(f64, Mat3)],
    ) {
        for (i, effort) in self.efforts.iter_mut().enumerate() {
            let (mut target, mut damping) = (0.0, 0.0);
            if effort.gives_way() {
                let joint = &model.joints[model.dofs[i].joint_idx];
                let give = Lever::of(model, state, joint, i, Action::of(joint)).give(masses);
                if effort.is_stiff(give, dt) {
                    // `push − d·q̇⁺` is `d·(r − q̇⁺)`.
                    let push;
                    (push, damping) = std::mem::take(effort).as_damper(state.dofs[i].velocity, dt);
                    target = push / damping;
                }
            }
            // SAFETY: the caller's promises.
            unsafe { joints.follow(api, world, model, state, i, target, damping) };
        }
    }
}
