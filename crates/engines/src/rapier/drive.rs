//! What acts on rapier's bodies at every step: forces from outside, the efforts of motors,
//! springs and dampers, and the ties between axes that rapier has no joint for (screws and
//! mimics).
//!
//! An effort that is too stiff for the step to be a force becomes a motor of rapier's.
//!
//! A tie is a linear equation between axis speeds, `Σ cᵢ·q̇ᵢ = 0`. Before each step the
//! force that will keep it is computed from the speeds, the accelerations the known forces
//! would cause, and a share of the position error: `λ = −(J·v* + β·C/dt) / (J·M⁻¹·Jᵀ)`.

use headland_base::{Mat3, Vec3};
use headland_sim::joint::turned_inertia;
use headland_sim::lever::Side;
use headland_sim::{Action, Forces, Gains, Inputs, Lever, Model, Motion, State};
use headland_world::JointKind;
use rapier3d_f64::prelude as rp;

use super::N_SUBSTEPS;
use super::joints::{Inserted, left_to_drive};

/// Share of a tie's position error that is corrected per step.
const TIE_CORRECTION: f64 = 0.2;

/// Passes over the ties: chains of mimics need more than one.
const N_TIE_PASSES: usize = 8;

/// From `d·dt/m` or `k·dt²/m` on, an effort that gives way as its axis moves is left to
/// rapier to find; as a force it is exact at rest, but throws a link about from 2 and 4 on.
const STIFF: f64 = 0.5;

/// How far ahead a spring is read, in steps, so that it neither gains energy nor loses any.
///
/// An effort `−k·(q + α·dt·q̇)` that is held for a step of `n` substeps takes `(q, q̇)` to
/// `q + dt·q̇ + c·a·dt²` and `q̇ + a·dt` with `c = (n + 1)/2n`. The determinant of that map is
/// `1 + (1 − α − c)·k·dt²/m`: one, whatever the spring, for `α = 1 − c`. It then swings as
/// leapfrog does, too fast by `k·dt²/24m`. With `α = 0` every swing was larger than the last.
const LEAD: f64 = (N_SUBSTEPS as f64 - 1.0) / (2.0 * N_SUBSTEPS as f64);

/// Which axes act how, worked out once.
pub(super) struct Drive {
    ties: Vec<Tie>,
    /// Axes whose spring, or damper, is a force of ours: which, and which of the two.
    sprung: Vec<(usize, bool, bool)>,
    /// Of each rigid, about its centre and in its frame, rotors included: what rapier has.
    inertias: Vec<Mat3>,
    inserted: Inserted,
}

/// `Σ coefficient · speed = 0`, and the same sum of positions is `offset`.
struct Tie {
    terms: Vec<Term>,
    offset: f64,
}

#[derive(Clone, Copy)]
struct Term {
    joint_idx: usize,
    dof_idx: usize,
    action: Action,
    coefficient: f64,
}

impl Drive {
    pub(super) fn of(model: &Model, inertias: Vec<Mat3>, inserted: Inserted) -> Drive {
        let mut ties = Vec::new();
        for (joint_idx, joint) in model.joints.iter().enumerate() {
            if let JointKind::Screw { metres_per_radian, .. } = &joint.kind {
                let term = |action, coefficient| Term {
                    joint_idx,
                    dof_idx: joint.first_dof,
                    action,
                    coefficient,
                };
                ties.push(Tie {
                    terms: vec![term(Action::Slide, 1.0), term(Action::Turn, -metres_per_radian)],
                    offset: 0.0,
                });
            }
        }
        for (dof_idx, dof) in model.dofs.iter().enumerate() {
            if let Some(mimic) = dof.mimic {
                let term = |dof_idx: usize, coefficient| {
                    let joint_idx = model.dofs[dof_idx].joint_idx;
                    Term {
                        joint_idx,
                        dof_idx,
                        action: Action::of(&model.joints[joint_idx]),
                        coefficient,
                    }
                };
                ties.push(Tie {
                    terms: vec![term(dof_idx, 1.0), term(mimic.leader_dof, -mimic.multiplier)],
                    offset: mimic.offset,
                });
            }
        }
        let sprung = model.dofs.iter().enumerate().filter_map(|(i, dof)| {
            let (springs, damps) = left_to_drive(&dof.axis);
            (springs || damps).then_some((i, springs, damps))
        });
        let sprung = sprung.collect();
        Drive { ties, sprung, inertias, inserted }
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
        let gives_way = |(_, slope): &(f64, Gains)| *slope != Gains::default();
        let needs_masses = !self.ties.is_empty() || efforts.iter().any(gives_way);
        let masses = if needs_masses { self.masses(model, physics, handles) } else { Vec::new() };
        self.leave_stiff(model, dt, state, &masses, &mut efforts, physics);
        for (dof_idx, (effort, _)) in efforts.iter().enumerate().filter(|(_, e)| e.0 != 0.0) {
            let joint = &model.joints[model.dofs[dof_idx].joint_idx];
            let lever = Lever::of(model, state, joint, dof_idx, Action::of(joint));
            forces.add_along(&lever, *effort);
        }
        self.keep_ties(model, dt, state, &masses, &mut forces);
        put(&forces, model, physics, handles);
    }

    /// The effort on each axis, of its motor, spring and damper, and how it gives way.
    fn efforts(&self, model: &Model, inputs: &Inputs, state: &State) -> Vec<(f64, Gains)> {
        let given = |i: usize| {
            let effort = inputs.efforts.get(i).copied().unwrap_or_default();
            (effort, inputs.slopes.get(i).copied().unwrap_or_default())
        };
        let mut out: Vec<(f64, Gains)> = (0..model.dofs.len()).map(given).collect();
        for &(i, springs, damps) in &self.sprung {
            let (axis, now) = (&model.dofs[i].axis, &state.dofs[i]);
            let (effort, slope) = &mut out[i];
            if springs {
                *effort -= axis.spring_stiffness * (now.position - axis.spring_reference);
                slope.kp += axis.spring_stiffness;
            }
            if damps {
                *effort -= axis.damping * now.velocity;
                slope.kd += axis.damping;
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
        efforts: &mut [(f64, Gains)],
        physics: &mut rp::PhysicsWorld,
    ) {
        for (i, (effort, slope)) in efforts.iter_mut().enumerate() {
            let (mut target, mut damping) = (0.0, 0.0);
            if *slope != Gains::default() {
                let joint = &model.joints[model.dofs[i].joint_idx];
                let give = Lever::of(model, state, joint, i, Action::of(joint)).give(masses);
                if slope.kd * give * dt > STIFF || slope.kp * give * dt * dt > STIFF {
                    // `e − kp·dt·q̇ − kd·(q̇ − q̇₀)` is `d·(r − q̇)`, and rapier has a motor
                    // for that. Nothing of it may stay a force: on a light link that would be
                    // a jolt which a motor cannot take back in one pass.
                    damping = slope.kd + slope.kp * dt;
                    let effort = std::mem::take(effort);
                    target = (effort + slope.kd * state.dofs[i].velocity) / damping;
                } else {
                    *effort -= slope.kp * LEAD * dt * state.dofs[i].velocity;
                }
            }
            self.inserted.seats[i].follow(target, damping, physics);
        }
    }

    fn keep_ties(
        &self,
        model: &Model,
        dt: f64,
        state: &State,
        masses: &[(f64, Mat3)],
        forces: &mut Forces,
    ) {
        for _ in 0..N_TIE_PASSES {
            for tie in &self.ties {
                tie.keep(model, dt, state, masses, forces);
            }
        }
    }

    /// Inverse mass of every rigid, and inverse inertia in the world's frame.
    fn masses(
        &self,
        model: &Model,
        physics: &rp::PhysicsWorld,
        handles: &[rp::RigidBodyHandle],
    ) -> Vec<(f64, Mat3)> {
        model
            .rigids
            .iter()
            .zip(&self.inertias)
            .zip(handles)
            .map(|((rigid, inertia), handle)| {
                if rigid.motion != Motion::Dynamic {
                    return (0.0, Mat3::ZERO);
                }
                let turned = turned_inertia(*physics.bodies[*handle].rotation(), *inertia);
                (1.0 / rigid.mass, turned.inverse())
            })
            .collect()
    }
}

impl Tie {
    fn keep(
        &self,
        model: &Model,
        dt: f64,
        state: &State,
        masses: &[(f64, Mat3)],
        forces: &mut Forces,
    ) {
        let (mut speed, mut error, mut give) = (0.0, -self.offset, 0.0);
        let levers: Vec<(Lever, f64)> = self
            .terms
            .iter()
            .map(|term| {
                let joint = &model.joints[term.joint_idx];
                (Lever::of(model, state, joint, term.dof_idx, term.action), term.coefficient)
            })
            .collect();
        for (term, (lever, coefficient)) in self.terms.iter().zip(&levers) {
            error += coefficient * position_of(model, state, term);
            for Side { rigid_idx, force, torque, .. } in lever.sides() {
                let (inverse_mass, inverse_inertia) = masses[rigid_idx];
                let (velocity, omega) = centre_motion(model, state, rigid_idx);
                let (pull, twist) = forces.total[rigid_idx];
                let gravity = if model.rigids[rigid_idx].gravity && inverse_mass > 0.0 {
                    model.world.gravity
                } else {
                    Vec3::ZERO
                };
                let next_velocity = velocity + (gravity + pull * inverse_mass) * dt;
                let next_omega = omega + inverse_inertia * twist * dt;
                speed += coefficient * (force.dot(next_velocity) + torque.dot(next_omega));
            }
        }
        for (rigid_idx, force, torque) in combined(&levers) {
            let (inverse_mass, inverse_inertia) = masses[rigid_idx];
            give += inverse_mass * force.dot(force) + torque.dot(inverse_inertia * torque);
        }
        if give > 0.0 {
            let push = -(speed + TIE_CORRECTION * error / dt) / (give * dt);
            for (lever, coefficient) in &levers {
                forces.add_along(lever, push * coefficient);
            }
        }
    }
}

/// What the whole tie does to each rigid per unit of `λ`: terms that share a rigid add up.
fn combined(levers: &[(Lever, f64)]) -> Vec<(usize, Vec3, Vec3)> {
    let mut out: Vec<(usize, Vec3, Vec3)> = Vec::new();
    for (lever, coefficient) in levers {
        for Side { rigid_idx, force, torque, .. } in lever.sides() {
            let (force, torque) = (force * *coefficient, torque * *coefficient);
            match out.iter_mut().find(|(i, ..)| *i == rigid_idx) {
                Some((_, f, t)) => (*f, *t) = (*f + force, *t + torque),
                None => out.push((rigid_idx, force, torque)),
            }
        }
    }
    out
}

fn position_of(model: &Model, state: &State, term: &Term) -> f64 {
    let joint = &model.joints[term.joint_idx];
    match (&joint.kind, term.action) {
        // The slide of a screw has no axis of its own in the state.
        (JointKind::Screw { axis, .. }, Action::Slide) => {
            state.relative_motion(joint).parent_from_child.translation.dot(axis.direction)
        }
        _ => state.dofs[term.dof_idx].position,
    }
}

fn centre_motion(model: &Model, state: &State, rigid_idx: usize) -> (Vec3, Vec3) {
    let now = &state.rigids[rigid_idx];
    let arm = now.world_from_rigid.vector(model.rigids[rigid_idx].centre);
    (now.twist.linear + now.twist.angular.cross(arm), now.twist.angular)
}

/// Puts forces on rapier's bodies, in place of those of the step before.
fn put(
    forces: &Forces,
    model: &Model,
    physics: &mut rp::PhysicsWorld,
    handles: &[rp::RigidBodyHandle],
) {
    for (i, rigid) in model.rigids.iter().enumerate() {
        if rigid.motion == Motion::Dynamic {
            let body = &mut physics.bodies[handles[i]];
            body.reset_forces(false);
            body.reset_torques(false);
            let (force, torque) = forces.total[i];
            if force != Vec3::ZERO || torque != Vec3::ZERO {
                body.add_force(force, true);
                body.add_torque(torque, true);
            }
        }
    }
}
