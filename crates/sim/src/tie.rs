//! Ties between axes: screws and mimics as forces, for engines that have no joint for them.
//!
//! A tie is a linear equation between axis speeds, `Σ cᵢ·q̇ᵢ = 0`. Before each step the
//! force that will keep it is computed from the speeds, the accelerations the known forces
//! would cause, and a share of the position error: `λ = −(J·v* + β·C/dt) / (J·M⁻¹·Jᵀ)`.

use headland_base::{Mat3, Vec3};
use headland_world::JointKind;

use crate::lever::{Action, Forces, Lever, Side};
use crate::model::Model;
use crate::state::State;

/// Share of a tie's position error that is corrected per step.
const TIE_CORRECTION: f64 = 0.2;

/// Passes over the ties: chains of mimics need more than one.
const N_TIE_PASSES: usize = 8;

/// Every tie of a model.
#[derive(Clone, Debug)]
pub struct Ties {
    ties: Vec<Tie>,
}

/// `Σ coefficient · speed = 0`, and the same sum of positions is `offset`.
#[derive(Clone, Debug)]
struct Tie {
    terms: Vec<Term>,
    offset: f64,
}

#[derive(Clone, Copy, Debug)]
struct Term {
    joint_idx: usize,
    dof_idx: usize,
    action: Action,
    coefficient: f64,
}

impl Ties {
    /// Between the turn and the slide of every screw, and between every mimic and its leader.
    pub fn of(model: &Model) -> Ties {
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
        Ties { ties }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ties.is_empty()
    }

    /// Adds the forces that keep every tie to those that are known to act. `masses` are
    /// inverse, by rigid, inertias in the world's frame.
    pub fn keep(
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
