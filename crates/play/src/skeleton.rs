//! A player found in a model: which joint is which, where everything is, what it weighs.
//!
//! A compiled model and the name of a robot go in; lengths, masses and indices come out. The
//! file the robot was read from stays the one truth: no length is written down here.
//!
//! Deliberately absent: motion. Everything here is constant, or a function of joint angles.

use headland_base::maths::quat_from_axis_angle;
use headland_base::{Diagnostic, Transform, Vec3, names};
use headland_sim::Model;
use headland_world::{JointKind, join_scope};

use crate::leg::Leg;

/// How many joints a player has.
pub const N_JOINTS: usize = 21;

/// The joints of a player, by name. Every array of joints has this order; what carries a joint
/// stands before it.
pub const JOINTS: [&str; N_JOINTS] = [
    "left_hip_yaw",
    "left_hip_roll",
    "left_hip_pitch",
    "left_knee",
    "left_ankle_pitch",
    "left_ankle_roll",
    "right_hip_yaw",
    "right_hip_roll",
    "right_hip_pitch",
    "right_knee",
    "right_ankle_pitch",
    "right_ankle_roll",
    "waist_yaw",
    "head_pan",
    "head_tilt",
    "left_shoulder_pitch",
    "left_shoulder_roll",
    "left_elbow",
    "right_shoulder_pitch",
    "right_shoulder_roll",
    "right_elbow",
];

/// One number per joint of a player, in the order of [`JOINTS`] \[rad\].
pub type Joints = [f64; N_JOINTS];

/// Where the joints of each part begin in [`JOINTS`].
pub mod part {
    /// The waist's one joint.
    pub const WAIST: usize = 12;
    /// Pan, then tilt.
    pub const HEAD: usize = 13;
}

/// Left or right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where +y points.
    Left,
    /// Where −y points.
    Right,
}

impl Side {
    /// Both, in the order of arrays by side.
    pub const BOTH: [Side; 2] = [Side::Left, Side::Right];

    /// 0 or 1.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }

    /// +1 for left, −1 for right: the sign of y.
    pub fn sign(self) -> f64 {
        match self {
            Side::Left => 1.0,
            Side::Right => -1.0,
        }
    }

    /// Where the leg's six joints begin in [`JOINTS`]: yaw, roll and pitch of the hip, knee,
    /// pitch and roll of the ankle.
    pub fn leg(self) -> usize {
        6 * self.index()
    }

    /// Where the arm's three joints begin in [`JOINTS`]: pitch and roll of the shoulder, elbow.
    pub fn arm(self) -> usize {
        15 + 3 * self.index()
    }
}

/// A player's constants. The root is the rigid that carries both legs.
#[derive(Clone, Debug)]
pub struct Skeleton {
    /// The rigid that carries the legs, in the model.
    pub root_rigid: usize,
    /// One per joint.
    pub bones: Vec<Bone>,
    /// Left and right.
    pub legs: [Leg; 2],
    /// Both feet's bodies, left and right, in the model.
    pub foot_bodies: [usize; 2],
    /// The whole weighs this \[kg\].
    pub mass: f64,
    root_mass: f64,
    root_centre: Vec3,
}

/// What a joint carries, up to the next joints.
#[derive(Clone, Copy, Debug)]
pub struct Bone {
    /// The axis in [`Model::dofs`].
    pub dof_idx: usize,
    /// Lowest and highest angle \[rad\].
    pub range: (f64, f64),
    /// The bone that carries it; `None` is the root.
    parent: Option<usize>,
    parent_from_joint: Transform,
    joint_from_child: Transform,
    axis: Vec3,
    mass: f64,
    centre: Vec3,
}

/// One fault for all joints that are not there: a robot of another kind lacks most of them.
fn lacks(model: &Model, robot: &str, missing: &[&str]) -> Diagnostic {
    let listed: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let (listed, joints) = (listed.join(", "), if missing.len() == 1 { "joint" } else { "joints" });
    let message = format!("`{robot}` is no player: it lacks the turning {joints} {listed}");
    let known: Vec<&str> = model.dofs.iter().map(|dof| dof.name.as_str()).collect();
    let near = |name: &&str| names::suggestion(&join_scope(robot, name), known.iter().copied());
    let fault = Diagnostic::error("not-a-player", message);
    match missing {
        [name] => fault.help_maybe(near(name)),
        _ => fault.help("the controller `player` moves robots with the joints of robots/player"),
    }
}

impl Skeleton {
    /// Finds a player, or says everything that is missing.
    pub fn find(model: &Model, robot: &str) -> Result<Skeleton, Vec<Diagnostic>> {
        let (mut missing, mut dofs) = (Vec::new(), Vec::new());
        for name in JOINTS {
            let found = model.dof(&join_scope(robot, name)).filter(|i| {
                matches!(
                    model.joints[model.dofs[*i].joint_idx].kind,
                    JointKind::Revolute(_) | JointKind::Continuous(_)
                )
            });
            match found {
                Some(dof_idx) => dofs.push(dof_idx),
                None => missing.push(name),
            }
        }
        if !missing.is_empty() {
            return Err(vec![lacks(model, robot, &missing)]);
        }
        Skeleton::of(model, robot, &dofs)
    }

    fn of(model: &Model, robot: &str, dofs: &[usize]) -> Result<Skeleton, Vec<Diagnostic>> {
        let joint_of = |i: usize| &model.joints[model.dofs[dofs[i]].joint_idx];
        let fault = |text: String| vec![Diagnostic::error("not-a-player", text)];
        let Some(root_rigid) = joint_of(Side::Left.leg()).parent_rigid else {
            return Err(fault(format!("the legs of `{robot}` hang from the world")));
        };
        let carried: Vec<usize> = (0..N_JOINTS).map(|i| joint_of(i).child_rigid).collect();
        let mut bones = Vec::new();
        for i in 0..N_JOINTS {
            let joint = joint_of(i);
            let parent = joint.parent_rigid;
            let bone = carried[..i].iter().position(|rigid| Some(*rigid) == parent);
            if bone.is_none() && parent != Some(root_rigid) {
                return Err(fault(format!("`{}` is not carried by the player", joint.name)));
            }
            let axis = &model.dofs[dofs[i]].axis;
            let rigid = &model.rigids[joint.child_rigid];
            bones.push(Bone {
                dof_idx: dofs[i],
                range: (axis.lower, axis.upper),
                parent: bone,
                parent_from_joint: joint.parent_from_joint,
                joint_from_child: joint.child_from_joint.inverse(),
                axis: axis.direction,
                mass: rigid.mass,
                centre: rigid.centre,
            });
        }
        let root = &model.rigids[root_rigid];
        let poses = poses_of(&bones, &[0.0; N_JOINTS]);
        let mut legs = Vec::new();
        let mut foot_bodies = Vec::new();
        for side in Side::BOTH {
            let foot_rigid = carried[side.leg() + 5];
            let sole = sole_of(model, foot_rigid).ok_or_else(|| {
                fault(format!("the {side:?} foot of `{robot}` has no shape to stand on"))
            })?;
            foot_bodies.push(sole.0);
            let leg = Leg::of(&bones, &poses, side, poses[side.leg() + 5].point(sole.1));
            legs.push(leg.map_err(|text| fault(format!("`{robot}`: {text}")))?);
        }
        Ok(Skeleton {
            root_rigid,
            legs: [legs[0], legs[1]],
            foot_bodies: [foot_bodies[0], foot_bodies[1]],
            mass: root.mass + bones.iter().map(|bone| bone.mass).sum::<f64>(),
            root_mass: root.mass,
            root_centre: root.centre,
            bones,
        })
    }

    /// Where each bone is in the root's frame.
    pub fn poses(&self, joints: &Joints) -> [Transform; N_JOINTS] {
        poses_of(&self.bones, joints)
    }

    /// The centre of mass in the root's frame \[m\].
    pub fn centre(&self, joints: &Joints) -> Vec3 {
        let poses = self.poses(joints);
        let bones = self.bones.iter().zip(&poses);
        let moment = bones.fold(self.root_centre * self.root_mass, |sum, (bone, pose)| {
            sum + pose.point(bone.centre) * bone.mass
        });
        moment / self.mass
    }

    /// The nearest angles within every joint's range.
    pub fn clamped(&self, mut joints: Joints) -> Joints {
        for (angle, bone) in joints.iter_mut().zip(&self.bones) {
            *angle = angle.max(bone.range.0).min(bone.range.1);
        }
        joints
    }
}

impl Bone {
    /// Where the joint itself is in the root's frame, given where its carrier is.
    pub(crate) fn root_from_joint(&self, poses: &[Transform]) -> Transform {
        self.parent.map_or(self.parent_from_joint, |i| poses[i] * self.parent_from_joint)
    }

    /// The way it turns, in the joint's frame.
    pub(crate) fn axis(&self) -> Vec3 {
        self.axis
    }
}

fn poses_of(bones: &[Bone], joints: &Joints) -> [Transform; N_JOINTS] {
    let mut poses = [Transform::IDENTITY; N_JOINTS];
    for (i, bone) in bones.iter().enumerate() {
        let turn = Transform::from_rotation(quat_from_axis_angle(bone.axis, joints[i]));
        poses[i] = bone.root_from_joint(&poses) * turn * bone.joint_from_child;
    }
    poses
}

/// The body of a foot that reaches lowest, and the middle of its underside in the rigid's frame.
fn sole_of(model: &Model, rigid_idx: usize) -> Option<(usize, Vec3)> {
    let bodies = model.rigids[rigid_idx].body_idxs.iter();
    let soles = bodies.flat_map(|&body_idx| {
        let body = &model.bodies[body_idx];
        body.shapes.iter().filter_map(move |shape| {
            let (low, high) = shape.geometry.bounds()?;
            let rigid_from_shape = body.rigid_from_body * shape.body_from_shape;
            let corners = headland_world::geometry::corners_in(rigid_from_shape, (low, high));
            let low = corners.iter().fold(corners[0], |a, b| a.min(*b));
            let high = corners.iter().fold(corners[0], |a, b| a.max(*b));
            Some((body_idx, Vec3::new(0.5 * (low.x + high.x), 0.5 * (low.y + high.y), low.z)))
        })
    });
    soles.min_by(|a, b| a.1.z.total_cmp(&b.1.z))
}
