//! How an effort on an axis acts on the two rigids of its joint, and the sum of all that acts.
//!
//! A model, a state and an axis go in; forces and torques about centres of mass come out, in
//! the world's frame, for engines that know no joint coordinates. Deliberately absent: which
//! efforts there are; that is each engine's own.

use headland_base::{Mat3, Quat, Transform, Vec3};
use headland_world::JointKind;

use crate::joint::turned_inertia;
use crate::model::{Joint, Model, Motion};
use crate::state::State;

/// What an effort does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It turns the child about the axis.
    Turn,
    /// It pushes the child along the axis.
    Slide,
}

impl Action {
    /// What an effort on an axis of this joint does.
    pub fn of(joint: &Joint) -> Action {
        if matches!(joint.kind, JointKind::Prismatic(_)) { Action::Slide } else { Action::Turn }
    }
}

/// What a unit of effort on an axis does to the two rigids of its joint.
#[derive(Clone, Copy, Debug)]
pub struct Lever {
    child: Side,
    parent: Option<Side>,
}

/// What it does to one of them, about its centre of mass.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Which rigid.
    pub rigid_idx: usize,
    /// At its centre of mass.
    pub force: Vec3,
    /// About its centre of mass.
    pub torque: Vec3,
    /// From the centre of mass to the joint.
    arm: Vec3,
}

impl Lever {
    /// Of one axis, where the state has its joint.
    pub fn of(
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
    pub fn give(&self, masses: &[(f64, Mat3)]) -> f64 {
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

    /// The child's side, and the parent's where that is not the world.
    pub fn sides(&self) -> impl Iterator<Item = Side> {
        std::iter::once(self.child).chain(self.parent)
    }
}

/// What the rotors of the motors that turn each rigid add to its inertia: `a·d·dᵀ` for each
/// axis `d` with armature `a`, in the rigid's frame.
pub fn rotor_inertias(model: &Model) -> Vec<Mat3> {
    let mut out = vec![Mat3::ZERO; model.rigids.len()];
    for joint in &model.joints {
        if matches!(joint.kind, JointKind::Prismatic(_)) {
            continue;
        }
        for axis in joint.kind.axes() {
            let d = joint.child_from_joint.vector(axis.direction);
            out[joint.child_rigid] += Mat3::from_cols(d * d.x, d * d.y, d * d.z) * axis.armature;
        }
    }
    out
}

/// Inverse mass of every rigid, and inverse inertia in the world's frame; zeros for what no
/// force moves. `inertias` are in the rigids' frames, `rotation` says how a rigid is turned.
pub fn inverse_masses(
    model: &Model,
    inertias: &[Mat3],
    rotation: impl Fn(usize) -> Quat,
) -> Vec<(f64, Mat3)> {
    let one = |(i, inertia): (usize, &Mat3)| {
        let rigid = &model.rigids[i];
        if rigid.motion != Motion::Dynamic {
            return (0.0, Mat3::ZERO);
        }
        (1.0 / rigid.mass, turned_inertia(rotation(i), *inertia).inverse())
    };
    inertias.iter().enumerate().map(one).collect()
}

/// Force and torque on each rigid's centre of mass, added up.
#[derive(Clone, Debug)]
pub struct Forces {
    /// One pair per rigid of the model.
    pub total: Vec<(Vec3, Vec3)>,
}

impl Forces {
    /// Nothing on any rigid.
    pub fn new(model: &Model) -> Forces {
        Forces { total: vec![(Vec3::ZERO, Vec3::ZERO); model.rigids.len()] }
    }

    /// A force and a torque more, at the centre of mass.
    pub fn add(&mut self, rigid_idx: usize, force: Vec3, torque: Vec3) {
        let (f, t) = &mut self.total[rigid_idx];
        *f += force;
        *t += torque;
    }

    /// An effort on an axis more.
    pub fn add_along(&mut self, lever: &Lever, effort: f64) {
        for Side { rigid_idx, force, torque, .. } in lever.sides() {
            self.add(rigid_idx, force * effort, torque * effort);
        }
    }
}
