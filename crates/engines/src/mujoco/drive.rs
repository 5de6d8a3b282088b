//! What acts on MuJoCo's model at every step.
//!
//! Efforts and wrenches go in; generalised forces, forces on bodies and dampers come out, in
//! MuJoCo's numbering. Springs, dampers, friction and limits of axes are in the model.
//!
//! An effort that gives way as its axis moves on, by `kp` and `kd`, becomes `e + kd·q̇` and a
//! damper of `kd + kp·dt`, which MuJoCo solves with the step: then the effort at its end is
//! `e − kd·(q̇' − q̇) − kp·dt·q̇'`, whatever it does to the axis. The part of `kp` takes energy
//! out, so it is there only where the step is too coarse for a spring that keeps its own.

use headland_base::Vec3;
use headland_sim::effort::STIFF;
use headland_sim::joint::turned_inertia;
use headland_sim::lever::Side;
use headland_sim::{Action, EngineOptions, Forces, Inputs, Joint, Lever, Model, Motion, State};

use super::library::{Applied, BodyId, Library};
use super::mjcf::{Written, has_gravcomp};
use super::realise;

/// Which numbers of MuJoCo's are whose, worked out once.
pub(super) struct Drive {
    applied: Applied,
    velocity_of: Vec<Option<usize>>,
    brake_of: Vec<Option<usize>>,
    /// One per rigid.
    body_of: Vec<usize>,
    /// Rigids whose free motion is damped.
    decaying: Vec<usize>,
    /// Rigids whose weight is taken off by a force.
    weightless: Vec<usize>,
    /// Axes of joints that close a loop: MuJoCo knows nothing of them.
    loose: Vec<usize>,
    needs_centres: bool,
    forces: Forces,
    has_forces: bool,
    dt: f64,
}

impl Drive {
    pub(super) fn of(
        model: &Model,
        options: &EngineOptions,
        library: &Library,
        written: &Written,
        bodies: &[BodyId],
    ) -> Drive {
        let body_of: Vec<usize> = bodies.iter().map(|body| body.number()).collect();
        let n_bodies = model.bodies.len() + 1;
        let moving = |i: &usize| model.rigids[*i].motion == Motion::Dynamic;
        let rigids = || (0..model.rigids.len()).filter(moving);
        let mut applied = Applied::default();
        applied.qfrc = vec![0.0; written.n_velocities];
        applied.xfrc = vec![0.0; 6 * n_bodies];
        applied.brakes = vec![0.0; written.n_actuators];
        let needs_centres = library.needs_force_actuators();
        if needs_centres {
            applied.centres = vec![[0.0; 3]; n_bodies];
        }
        let is_loose = |i: &usize| written.closing.contains(&model.dofs[*i].joint_idx);
        Drive {
            applied,
            velocity_of: written.velocity_of.clone(),
            brake_of: written.brake_of.clone(),
            body_of,
            decaying: rigids()
                .filter(|i| !options.raw && model.rigids[*i].velocity_decay != (0.0, 0.0))
                .collect(),
            weightless: if has_gravcomp(library) {
                Vec::new()
            } else {
                rigids().filter(|i| !model.rigids[*i].gravity).collect()
            },
            loose: (0..model.dofs.len()).filter(is_loose).collect(),
            needs_centres,
            forces: Forces::new(model),
            has_forces: false,
            dt: options.step.secs(),
        }
    }

    /// What acts in this step.
    pub(super) fn act(&mut self, model: &Model, inputs: &Inputs, state: &State) -> &mut Applied {
        self.efforts(model, inputs, state);
        if self.has_forces {
            self.forces.total.fill((Vec3::ZERO, Vec3::ZERO));
            self.applied.xfrc.fill(0.0);
        }
        self.has_forces = !inputs.wrenches.is_empty()
            || !self.decaying.is_empty()
            || !self.weightless.is_empty()
            || !self.loose.is_empty();
        if self.has_forces {
            self.wrenches(model, inputs, state);
        }
        &mut self.applied
    }

    fn efforts(&mut self, model: &Model, inputs: &Inputs, state: &State) {
        self.applied.qfrc.fill(0.0);
        for (i, velocity) in self.velocity_of.iter().enumerate() {
            let Some(velocity) = *velocity else { continue };
            let mut effort = inputs.efforts.get(i).copied().unwrap_or_default();
            let slope = inputs.slopes.get(i).copied().unwrap_or_default();
            if let Some(brake) = self.brake_of[i] {
                let is_stiff = slope.kp > 0.0 && {
                    let most = STIFF / (slope.kp * self.dt * self.dt);
                    give(model, state, i) > most
                };
                let from_kp = if is_stiff { slope.kp * self.dt } else { 0.0 };
                self.applied.brakes[brake] = slope.kd + from_kp;
                effort += slope.kd * state.dofs[i].velocity;
            }
            self.applied.qfrc[velocity] = effort;
        }
    }

    fn wrenches(&mut self, model: &Model, inputs: &Inputs, state: &State) {
        for wrench in &inputs.wrenches {
            self.forces.add(wrench.rigid_idx, wrench.force, wrench.torque);
        }
        for &i in &self.weightless {
            self.forces.add(i, -model.world.gravity * model.rigids[i].mass, Vec3::ZERO);
        }
        for &i in &self.decaying {
            let (rigid, now) = (&model.rigids[i], &state.rigids[i]);
            let arm = now.world_from_rigid.vector(rigid.centre);
            let velocity = now.twist.linear + now.twist.angular.cross(arm);
            let inertia = turned_inertia(now.world_from_rigid.rotation, rigid.inertia);
            let (force, torque) = realise::decay(
                rigid.velocity_decay,
                self.dt,
                velocity * rigid.mass,
                inertia * now.twist.angular,
            );
            self.forces.add(i, force, torque);
        }
        for &i in &self.loose {
            let (dof, now) = (&model.dofs[i], &state.dofs[i]);
            let joint = &model.joints[dof.joint_idx];
            let effort = inputs.efforts.get(i).copied().unwrap_or_default()
                - dof.axis.damping * now.velocity
                - dof.axis.spring_stiffness * (now.position - dof.axis.spring_reference);
            if effort != 0.0 {
                let lever = Lever::of(model, state, joint, i, Action::of(joint));
                self.forces.add_along(&lever, effort);
            }
        }
        for (i, (force, torque)) in self.forces.total.iter().enumerate() {
            let body = self.body_of[i];
            let rigid = &model.rigids[i];
            if rigid.motion != Motion::Dynamic {
                continue;
            }
            let wrench = &mut self.applied.xfrc[6 * body..6 * body + 6];
            wrench[..3].copy_from_slice(&force.to_array());
            wrench[3..].copy_from_slice(&torque.to_array());
            if self.needs_centres {
                let centre = state.rigids[i].world_from_rigid.point(rigid.centre);
                self.applied.centres[body] = centre.to_array();
            }
        }
    }
}

/// What a unit of effort on an axis accelerates, if each of its two rigids could only turn
/// about it or slide along it.
fn give(model: &Model, state: &State, dof_idx: usize) -> f64 {
    let joint = &model.joints[model.dofs[dof_idx].joint_idx];
    let action = Action::of(joint);
    let one = |side: Side| {
        let rigid = &model.rigids[side.rigid_idx];
        if rigid.motion != Motion::Dynamic {
            return 0.0;
        }
        let now = &state.rigids[side.rigid_idx].world_from_rigid;
        let arm = now.vector(rigid.centre) + now.translation - place_of(state, joint);
        let armature = model.dofs[dof_idx].axis.armature;
        match action {
            Action::Slide => 1.0 / (rigid.mass + armature),
            Action::Turn => {
                let axis = side.torque;
                let way = arm.cross(axis);
                let own = axis.dot(turned_inertia(now.rotation, rigid.inertia) * axis);
                1.0 / (own + rigid.mass * way.dot(way) + armature)
            }
        }
    };
    Lever::of(model, state, joint, dof_idx, action).sides().map(one).sum()
}

/// Where a joint is in the world.
fn place_of(state: &State, joint: &Joint) -> Vec3 {
    let child = &state.rigids[joint.child_rigid].world_from_rigid;
    child.point(joint.child_from_joint.translation)
}
