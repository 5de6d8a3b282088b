//! What acts on rapier's bodies at every step: forces from outside, the efforts of motors,
//! springs and dampers, and the ties between axes that rapier has no joint for (screws and
//! mimics).
//!
//! An effort that is too stiff for the step to be a force becomes a motor of rapier's.

use headland_base::{Mat3, Vec3};
use headland_sim::lever::inverse_masses;
use headland_sim::{Action, Effort, Forces, Inputs, Lever, Model, Motion, State, Ties};
use rapier3d_f64::prelude as rp;

use super::N_SUBSTEPS;
use super::joints::{Inserted, left_to_drive};

/// How far ahead a spring is read, in steps, so that it neither gains energy nor loses any.
///
/// An effort `−k·(q + α·dt·q̇)` that is held for a step of `n` substeps takes `(q, q̇)` to
/// `q + dt·q̇ + c·a·dt²` and `q̇ + a·dt` with `c = (n + 1)/2n`. The determinant of that map is
/// `1 + (1 − α − c)·k·dt²/m`: one, whatever the spring, for `α = 1 − c`. It then swings as
/// leapfrog does, too fast by `k·dt²/24m`. With `α = 0` every swing was larger than the last.
const LEAD: f64 = (N_SUBSTEPS as f64 - 1.0) / (2.0 * N_SUBSTEPS as f64);

/// Which axes act how, worked out once.
pub(super) struct Drive {
    ties: Ties,
    /// Axes whose spring, or damper, is a force of ours: which, and which of the two.
    sprung: Vec<(usize, bool, bool)>,
    /// Of each rigid, about its centre and in its frame, rotors included: what rapier has.
    inertias: Vec<Mat3>,
    inserted: Inserted,
    /// Of each rigid, whether a force was put on it in the last step.
    is_pushed: Vec<bool>,
}

impl Drive {
    pub(super) fn of(model: &Model, inertias: Vec<Mat3>, inserted: Inserted) -> Drive {
        let sprung = model.dofs.iter().enumerate().filter_map(|(i, dof)| {
            let (springs, damps) = left_to_drive(&dof.axis);
            (springs || damps).then_some((i, springs, damps))
        });
        let sprung = sprung.collect();
        let is_pushed = vec![false; model.rigids.len()];
        Drive { ties: Ties::of(model), sprung, inertias, inserted, is_pushed }
    }

    /// Puts this step's forces on rapier's bodies.
    pub(super) fn apply(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: f64,
        state: &State,
        physics: &mut rp::PhysicsWorld,
        handles: &[rp::RigidBodyHandle],
    ) {
        for window in &mut self.inserted.windows {
            window.follow(state, physics);
        }
        let mut forces = Forces::new(model);
        for wrench in &inputs.wrenches {
            forces.add(wrench.rigid_idx, wrench.force, wrench.torque);
        }
        let mut efforts = self.efforts(model, inputs, state);
        // Most worlds have neither, and inverting every inertia takes its time.
        let needs_masses = !self.ties.is_empty() || efforts.iter().any(Effort::gives_way);
        let masses = if needs_masses {
            inverse_masses(model, &self.inertias, |i| *physics.bodies[handles[i]].rotation())
        } else {
            Vec::new()
        };
        self.leave_stiff(model, dt, state, &masses, &mut efforts, physics);
        for (dof_idx, effort) in efforts.iter().enumerate().filter(|(_, e)| e.value != 0.0) {
            let joint = &model.joints[model.dofs[dof_idx].joint_idx];
            let lever = Lever::of(model, state, joint, dof_idx, Action::of(joint));
            forces.add_along(&lever, effort.value);
        }
        self.ties.keep(model, dt, state, &masses, &mut forces);
        put(&forces, model, &mut self.is_pushed, physics, handles);
    }

    /// The effort on each axis, of its motor, spring and damper, and how it gives way.
    fn efforts(&self, model: &Model, inputs: &Inputs, state: &State) -> Vec<Effort> {
        let mut out: Vec<Effort> =
            (0..model.dofs.len()).map(|i| Effort::of_motor(inputs, i)).collect();
        for &(i, springs, damps) in &self.sprung {
            let (axis, now) = (&model.dofs[i].axis, &state.dofs[i]);
            if springs {
                out[i] = out[i].with_spring(axis, now);
            }
            if damps {
                out[i] = out[i].with_damper(axis, now);
            }
        }
        out
    }

    /// Leaves to rapier the efforts that are too stiff to be forces, and takes them out.
    fn leave_stiff(
        &mut self,
        model: &Model,
        dt: f64,
        state: &State,
        masses: &[(f64, Mat3)],
        efforts: &mut [Effort],
        physics: &mut rp::PhysicsWorld,
    ) {
        for (i, effort) in efforts.iter_mut().enumerate() {
            let (mut target, mut damping) = (0.0, 0.0);
            if effort.gives_way() {
                let joint = &model.joints[model.dofs[i].joint_idx];
                let give = Lever::of(model, state, joint, i, Action::of(joint)).give(masses);
                if effort.is_stiff(give, dt) {
                    // `push − d·q̇` is `d·(r − q̇)`, and rapier has a motor
                    // for that. Nothing of it may stay a force: on a light link that would be
                    // a jolt which a motor cannot take back in one pass.
                    let push;
                    (push, damping) = std::mem::take(effort).as_damper(state.dofs[i].velocity, dt);
                    target = push / damping;
                } else {
                    effort.value -= effort.slope.kp * LEAD * dt * state.dofs[i].velocity;
                }
            }
            self.inserted.seats[i].follow(target, damping, physics);
        }
    }
}

/// Puts forces on rapier's bodies, in place of those of the step before. Rapier looks through
/// every body that was reached for writing. Not reaching for all of them in every step, and
/// sorting pairs instead of points (contacts.rs), took a step of twenty stacked boxes from 16 %
/// over rapier's own to 9 %.
fn put(
    forces: &Forces,
    model: &Model,
    is_pushed: &mut [bool],
    physics: &mut rp::PhysicsWorld,
    handles: &[rp::RigidBodyHandle],
) {
    for (i, rigid) in model.rigids.iter().enumerate() {
        let (force, torque) = forces.total[i];
        let is_to_push = force != Vec3::ZERO || torque != Vec3::ZERO;
        let was_pushed = std::mem::replace(&mut is_pushed[i], is_to_push);
        if rigid.motion == Motion::Dynamic && (is_to_push || was_pushed) {
            let body = &mut physics.bodies[handles[i]];
            body.reset_forces(false);
            body.reset_torques(false);
            if is_to_push {
                body.add_force(force, true);
                body.add_torque(torque, true);
            }
        }
    }
}
