//! How an effort on an axis acts on the two rigids of its joint, and the sum of all that acts.
//!
//! A model, a state and an axis go in; forces and torques about centres of mass come out, in
//! the world's frame. Deliberately absent: which efforts there are; that is `drive`.

use headland_base::{Mat3, Transform, Vec3};
use headland_sim::{Joint, Model, Motion, State};
use headland_world::JointKind;
use rapier3d_f64::prelude as rp;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Action {
    Turn,
    Slide,
}

impl Action {
    /// What an effort on an axis of this joint does.
    pub(super) fn of(joint: &Joint) -> Action {
        if matches!(joint.kind, JointKind::Prismatic(_)) { Action::Slide } else { Action::Turn }
    }
}

/// What a unit of effort on an axis does to the two rigids of its joint.
pub(super) struct Lever {
    child: Side,
    parent: Option<Side>,
}

/// What it does to one of them, about its centre of mass.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub(super) rigid_idx: usize,
    pub(super) force: Vec3,
    pub(super) torque: Vec3,
    /// From the centre of mass to the joint.
    arm: Vec3,
}

impl Lever {
    pub(super) fn of(
        model: &Model,
        state: &State,
        joint: &Joint,
        dof_idx: usize,
        action: Action,
    ) -> Lever {
        let world_from_parent =
            joint.parent_rigid.map_or(Transform::IDENTITY, |i| state.rigids[i].world_from_rigid);
        let world_from_child = state.rigids[joint.child_rigid].world_from_rigid;
        let world_from_joint = world_from_parent * joint.parent_from_joint;
        let point = world_from_child.point(joint.child_from_joint.translation);
        let dof = &model.dofs[dof_idx];
        // The second axis of a universal joint turns with the child.
        let axis = if dof.axis_idx == 1 {
            (world_from_child * joint.child_from_joint).vector(dof.axis.direction)
        } else {
            world_from_joint.vector(dof.axis.direction)
        };
        let side = |rigid_idx: usize, axis: Vec3| {
            let rigid = &model.rigids[rigid_idx];
            let arm = point - state.rigids[rigid_idx].world_from_rigid.point(rigid.centre);
            let (force, torque) = match action {
                Action::Turn => (Vec3::ZERO, axis),
                Action::Slide => (axis, arm.cross(axis)),
            };
            Side { rigid_idx, force, torque, arm }
        };
        Lever {
            child: side(joint.child_rigid, axis),
            parent: joint.parent_rigid.map(|i| side(i, -axis)),
        }
    }

    /// What a unit of effort accelerates, if each rigid could only turn about the axis, or
    /// only slide along it, with the other one held. `masses` are inverse, by rigid, inertias
    /// in the world's frame.
    pub(super) fn give(&self, masses: &[(f64, Mat3)]) -> f64 {
        let one = |side: Side| {
            let (inverse_mass, inverse_inertia) = masses[side.rigid_idx];
            if inverse_mass == 0.0 || side.force != Vec3::ZERO {
                return inverse_mass;
            }
            let (axis, way) = (side.torque, side.arm.cross(side.torque));
            1.0 / (1.0 / axis.dot(inverse_inertia * axis) + way.dot(way) / inverse_mass)
        };
        self.sides().map(one).sum()
    }

    pub(super) fn sides(&self) -> impl Iterator<Item = Side> {
        std::iter::once(self.child).chain(self.parent)
    }
}

/// Force and torque on each rigid's centre of mass, added up.
pub(super) struct Forces {
    pub(super) total: Vec<(Vec3, Vec3)>,
}

impl Forces {
    pub(super) fn new(model: &Model) -> Forces {
        Forces { total: vec![(Vec3::ZERO, Vec3::ZERO); model.rigids.len()] }
    }

    pub(super) fn add(&mut self, rigid_idx: usize, force: Vec3, torque: Vec3) {
        let (f, t) = &mut self.total[rigid_idx];
        *f += force;
        *t += torque;
    }

    pub(super) fn add_along(&mut self, lever: &Lever, effort: f64) {
        for Side { rigid_idx, force, torque, .. } in lever.sides() {
            self.add(rigid_idx, force * effort, torque * effort);
        }
    }

    /// Puts them on rapier's bodies, in place of those of the step before.
    pub(super) fn put(
        &self,
        model: &Model,
        physics: &mut rp::PhysicsWorld,
        handles: &[rp::RigidBodyHandle],
    ) {
        for (i, rigid) in model.rigids.iter().enumerate() {
            if rigid.motion == Motion::Dynamic {
                let body = &mut physics.bodies[handles[i]];
                body.reset_forces(false);
                body.reset_torques(false);
                let (force, torque) = self.total[i];
                if force != Vec3::ZERO || torque != Vec3::ZERO {
                    body.add_force(force, true);
                    body.add_torque(torque, true);
                }
            }
        }
    }
}
