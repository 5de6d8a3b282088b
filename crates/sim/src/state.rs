//! The state: everything about a world that changes while it moves. Small, saved, compared.

use headland_base::{SimTime, Transform, Vec3};
use headland_world::Twist;

use crate::joint::{RelativeMotion, measure_axes, velocity_at};
use crate::model::{Joint, Model};

/// Where everything is and how it moves, at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The moment.
    pub time: SimTime,
    /// One per rigid of the model.
    pub rigids: Vec<RigidState>,
    /// One per axis of the model's joints.
    pub dofs: Vec<DofState>,
    /// What touches what, as the engine saw it in its last step.
    pub contacts: Vec<Contact>,
}

/// Where a rigid is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidState {
    /// Pose of its frame.
    pub world_from_rigid: Transform,
    /// Velocity of its frame's origin, and angular velocity, in the world's frame.
    pub twist: Twist,
    /// It went non-finite and was taken out of the motion; its pose is the last good one.
    pub is_contained: bool,
}

/// Where an axis is and how it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DofState {
    /// \[rad or m\]
    pub position: f64,
    /// \[rad/s or m/s\]
    pub velocity: f64,
    /// What its motor gives \[N·m or N\].
    pub effort: f64,
}

/// Two bodies that touch at a point. The same form from every engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Body with the smaller index.
    pub body_a: usize,
    /// Body with the larger index.
    pub body_b: usize,
    /// Where, in the world \[m\].
    pub position: Vec3,
    /// Unit vector from `body_a` towards `body_b`.
    pub normal: Vec3,
    /// How far they overlap \[m\]; negative when they are only about to touch.
    pub depth: f64,
    /// What `body_a` does to `body_b` here, friction included, in the world's frame \[N\].
    pub force: Vec3,
}

impl State {
    /// The model before time starts.
    pub fn initial(model: &Model) -> State {
        let rigids = model
            .rigids
            .iter()
            .map(|rigid| RigidState {
                world_from_rigid: rigid.world_from_rigid,
                twist: rigid.twist,
                is_contained: false,
            })
            .collect();
        let dofs = model
            .dofs
            .iter()
            .map(|dof| DofState { position: dof.axis.initial_position, ..DofState::default() })
            .collect();
        let mut state = State { time: SimTime::ZERO, rigids, dofs, contacts: Vec::new() };
        state.measure_joints(model);
        state
    }

    /// Reads every joint's positions and velocities off the rigids it connects.
    pub fn measure_joints(&mut self, model: &Model) {
        model.joints.iter().for_each(|joint| self.measure_joint(model, joint));
    }

    /// Reads one joint's positions and velocities off the rigids it connects.
    pub fn measure_joint(&mut self, model: &Model, joint: &Joint) {
        let n_axes = model.dofs_of(joint).len();
        let motion = self.relative_motion(joint);
        let dofs = &mut self.dofs[joint.first_dof..joint.first_dof + n_axes];
        let previous = [0, 1].map(|i| dofs.get(i).map_or(0.0, |dof| dof.position));
        let measured = measure_axes(&joint.kind, &motion, &previous).into_iter().flatten();
        for (dof, (position, velocity)) in dofs.iter_mut().zip(measured) {
            (dof.position, dof.velocity) = (position, velocity);
        }
    }

    /// How a joint's child side moves against its parent side.
    pub fn relative_motion(&self, joint: &Joint) -> RelativeMotion {
        let child = &self.rigids[joint.child_rigid];
        let (world_from_parent, parent_twist) = match joint.parent_rigid {
            Some(i) => (self.rigids[i].world_from_rigid, self.rigids[i].twist),
            None => (Transform::IDENTITY, Twist::default()),
        };
        let world_from_p = world_from_parent * joint.parent_from_joint;
        let world_from_c = child.world_from_rigid * joint.child_from_joint;
        let point = world_from_c.translation;
        let linear = velocity_at(child.twist, child.world_from_rigid.translation, point)
            - velocity_at(parent_twist, world_from_parent.translation, point);
        let parent_from_world = world_from_p.inverse();
        RelativeMotion {
            parent_from_child: parent_from_world * world_from_c,
            twist: Twist {
                linear: parent_from_world.vector(linear),
                angular: parent_from_world.vector(child.twist.angular - parent_twist.angular),
            },
        }
    }

    /// Where an object is.
    pub fn object_pose(&self, model: &Model, object_idx: usize) -> Transform {
        let object = &model.objects[object_idx];
        self.rigids[object.rigid_idx].world_from_rigid * object.rigid_from_object
    }

    /// How an object's origin moves, and its angular velocity, in the world's frame.
    pub fn object_twist(&self, model: &Model, object_idx: usize) -> Twist {
        let object = &model.objects[object_idx];
        let rigid = &self.rigids[object.rigid_idx];
        let offset = rigid.world_from_rigid.vector(object.rigid_from_object.translation);
        Twist {
            linear: rigid.twist.linear + rigid.twist.angular.cross(offset),
            angular: rigid.twist.angular,
        }
    }

    /// Kinetic energy of a rigid \[J\]: `½·m·v² + ½·ω·I·ω`, about its centre of mass.
    pub fn kinetic_energy(&self, model: &Model, rigid_idx: usize) -> f64 {
        let (rigid, now) = (&model.rigids[rigid_idx], &self.rigids[rigid_idx]);
        let velocity =
            now.twist.linear + now.twist.angular.cross(now.world_from_rigid.vector(rigid.centre));
        let omega = now.world_from_rigid.rotation.conjugate() * now.twist.angular;
        0.5 * rigid.mass * velocity.dot(velocity) + 0.5 * omega.dot(rigid.inertia * omega)
    }
}
