//! Joints of ours as joints of rapier's. The joint's own frame is turned so that its axis
//! is rapier's x.

use headland_base::maths::{quat_between, quat_from_axis_angle};
use headland_base::{Diagnostic, Mat3, Quat, Transform, Vec3};
use headland_sim::joint::{joint_motion, velocity_at};
use headland_sim::{Joint, Model, Motion, State};
use headland_world::{Axis, JointKind, Twist};
use rapier3d_f64::prelude as rp;

use super::pose;

/// Mass and inertia of the cross in a universal joint, as a share of the lighter side's.
const CROSS_SHARE: f64 = 1e-3;

/// A motor this strong per speed is a brake: it stops the axis within a step unless that
/// takes more than the friction.
const BRAKE_DAMPING: f64 = 1e12;

/// Passes over its constraints that rapier makes more in every substep for what hangs on a
/// damped joint. It solves a damper and the joint it sits on one after the other; with no pass
/// more they do not agree, and a servo that carries a load with `kd·dt/I` = 0.6 rests 17 % too
/// far, at a speed it does not have. With 3 it is 0.3 %, with 7 20 ppm.
const N_DAMPED_PASSES: usize = 7;

/// What joints make rapier realise differently.
pub(super) fn check(model: &Model) -> Vec<Diagnostic> {
    let universal =
        model.joints.iter().filter(|joint| matches!(joint.kind, JointKind::Universal(..)));
    let universal = universal.map(|joint| {
        Diagnostic::remark(
            "realised",
            format!("joint `{}`: universal as two hinges with a light cross between", joint.name),
        )
    });
    let left_out = model.dofs.iter().filter(|dof| {
        let joint = &model.joints[dof.joint_idx];
        dof.axis.armature > 0.0 && matches!(joint.kind, JointKind::Prismatic(_))
    });
    let left_out = left_out.map(|dof| {
        let (name, armature) = (&dof.name, dof.axis.armature);
        let message = format!("joint `{name}`: the armature of {armature} kg is left out");
        Diagnostic::remark("realised", message)
    });
    universal.chain(left_out).collect()
}

/// What the axes need at every step.
pub(super) struct Inserted {
    pub(super) windows: Vec<Window>,
    /// One per axis of the model.
    pub(super) seats: Vec<Seat>,
}

/// Where rapier has an axis: between which bodies, and its frame in each.
pub(super) struct Seat {
    sides: Sides,
    /// The joint's frame, its x along the axis.
    frames: (rp::Pose, rp::Pose),
    which: rp::JointAxis,
    /// Made when it is first needed.
    motor: Option<rp::ImpulseJointHandle>,
}

impl Seat {
    fn of(sides: Sides, frames: Frames, axis: &Axis, which: rp::JointAxis) -> Seat {
        let turn = Transform::from_rotation(quat_between(Vec3::X, axis.direction));
        let frames = (pose(frames.0 * turn), pose(frames.1 * turn));
        Seat { sides, frames, which, motor: None }
    }

    /// Lets rapier push the axis with `damping · (target − velocity)` throughout the step. It
    /// is a joint of its own that holds nothing: rapier has one motor per joint and axis, and
    /// the first may be braking.
    pub(super) fn follow(&mut self, target: f64, damping: f64, physics: &mut rp::PhysicsWorld) {
        if self.motor.is_none() && damping == 0.0 {
            return;
        }
        let handle = *self.motor.get_or_insert_with(|| {
            let data = rp::GenericJointBuilder::new(rp::JointAxesMask::empty())
                .local_frame1(self.frames.0)
                .local_frame2(self.frames.1)
                .motor_model(self.which, rp::MotorModel::ForceBased);
            solve_thoroughly(physics, self.sides);
            insert_one(physics, self.sides, data)
        });
        let joint = physics.impulse_joints.get_mut(handle, true).expect("joints are never removed");
        joint.data.set_motor(self.which, 0.0, target, 0.0, damping);
        // A motor of no damping is none; rapier takes it for one that nothing can turn.
        if damping == 0.0 {
            joint.data.motor_axes.remove(self.which.into());
        }
    }
}

/// Puts every joint into rapier's world and says what needs help at every step.
pub(super) fn insert(
    model: &Model,
    state: &State,
    physics: &mut rp::PhysicsWorld,
    handles: &[rp::RigidBodyHandle],
) -> Inserted {
    let ground = physics.insert_body(rp::RigidBodyBuilder::fixed());
    let (mut windows, mut seats) = (Vec::new(), Vec::new());
    for joint in &model.joints {
        let parent = joint.parent_rigid.map_or(ground, |i| handles[i]);
        let child = handles[joint.child_rigid];
        if joint.kind.axes().iter().any(|axis| axis.damping > 0.0) {
            solve_thoroughly(physics, (parent, child));
        }
        let (from, to) = (joint.parent_from_joint, joint.child_from_joint);
        let mut hinge = |physics: &mut rp::PhysicsWorld, sides, axis_idx: usize, frames, locked| {
            let dof_idx = joint.first_dof + axis_idx;
            let axis = joint.kind.axes()[axis_idx];
            let at = state.dofs[dof_idx].position;
            seats.push(Seat::of(sides, frames, axis, rp::JointAxis::AngX));
            windows.extend(insert_hinge(physics, sides, frames, locked, axis, dof_idx, at));
        };
        match &joint.kind {
            JointKind::Fixed => unreachable!("welded when the model was compiled"),
            JointKind::Ball => {
                let data = rp::GenericJointBuilder::new(rp::JointAxesMask::LOCKED_SPHERICAL_AXES);
                insert_one(physics, (parent, child), in_frames(data, (from, to), Quat::IDENTITY));
            }
            JointKind::Revolute(_) | JointKind::Continuous(_) => {
                let locked = rp::JointAxesMask::LOCKED_REVOLUTE_AXES;
                hinge(physics, (parent, child), 0, (from, to), locked);
            }
            JointKind::Prismatic(axis) => {
                seats.push(Seat::of((parent, child), (from, to), axis, rp::JointAxis::LinX));
                let data = rp::GenericJointBuilder::new(rp::JointAxesMask::LOCKED_PRISMATIC_AXES);
                let data = in_frames(data, (from, to), quat_between(Vec3::X, axis.direction));
                let data = motor(data, rp::JointAxis::LinX, axis);
                insert_one(
                    physics,
                    (parent, child),
                    limited(data, rp::JointAxis::LinX, axis.lower, axis.upper),
                );
            }
            JointKind::Screw { .. } => {
                // Turn and slide are both free; `drive` ties them together.
                let locked = rp::JointAxesMask::LIN_Y
                    | rp::JointAxesMask::LIN_Z
                    | rp::JointAxesMask::ANG_Y
                    | rp::JointAxesMask::ANG_Z;
                hinge(physics, (parent, child), 0, (from, to), locked);
            }
            JointKind::Universal(..) => {
                let cross = insert_cross(model, joint, state, physics);
                let locked = rp::JointAxesMask::LOCKED_REVOLUTE_AXES;
                hinge(physics, (parent, cross), 0, (from, Transform::IDENTITY), locked);
                hinge(physics, (cross, child), 1, (Transform::IDENTITY, to), locked);
            }
        }
    }
    Inserted { windows, seats }
}

/// The two bodies of a joint.
type Sides = (rp::RigidBodyHandle, rp::RigidBodyHandle);
/// The joint's frame in each of them.
type Frames = (Transform, Transform);

/// Has rapier make more passes over what hangs together with these two.
fn solve_thoroughly(physics: &mut rp::PhysicsWorld, sides: Sides) {
    for side in [sides.0, sides.1] {
        physics.bodies[side].set_additional_pgs_iterations(N_DAMPED_PASSES);
    }
}

fn insert_one(
    physics: &mut rp::PhysicsWorld,
    sides: Sides,
    data: rp::GenericJointBuilder,
) -> rp::ImpulseJointHandle {
    physics.insert_impulse_joint(sides.0, sides.1, data.build())
}

/// An axis that turns, and the window its limits are seen through where they need one.
fn insert_hinge(
    physics: &mut rp::PhysicsWorld,
    sides: Sides,
    frames: Frames,
    locked: rp::JointAxesMask,
    axis: &Axis,
    dof_idx: usize,
    position: f64,
) -> Option<Window> {
    let data = in_frames(
        rp::GenericJointBuilder::new(locked),
        frames,
        quat_between(Vec3::X, axis.direction),
    );
    let data = motor(data, rp::JointAxis::AngX, axis);
    let is_plain = axis.lower >= -WINDOW_RADIANS && axis.upper <= WINDOW_RADIANS;
    if is_plain || (axis.lower.is_infinite() && axis.upper.is_infinite()) {
        insert_one(physics, sides, limited(data, rp::JointAxis::AngX, axis.lower, axis.upper));
        return None;
    }
    let frame = pose(frames.1 * Transform::from_rotation(quat_between(Vec3::X, axis.direction)));
    let handle = insert_one(physics, sides, data);
    let mut window =
        Window { handle, frame, lower: axis.lower, upper: axis.upper, dof_idx, centre: 0.0 };
    window.move_to(position, physics);
    Some(window)
}

/// Rapier sees an angle within half a turn either way; limits beyond that it drops without
/// a word. So limits that are wider, or open on one side, are shown to it through a window
/// that moves along: the child's frame is turned by the window's centre, and the limits are
/// those seen from there.
pub(super) struct Window {
    handle: rp::ImpulseJointHandle,
    /// The joint's frame in the child, at position zero.
    frame: rp::Pose,
    lower: f64,
    upper: f64,
    dof_idx: usize,
    centre: f64,
}

/// How far a window reaches to either side; half a turn, less some room.
const WINDOW_RADIANS: f64 = 3.0;

impl Window {
    /// Moves the window along when the axis has come a third of the way to its edge.
    pub(super) fn follow(&mut self, state: &State, physics: &mut rp::PhysicsWorld) {
        let position = state.dofs[self.dof_idx].position;
        if (position - self.centre).abs() > WINDOW_RADIANS / 3.0 {
            self.move_to(position, physics);
        }
    }

    fn move_to(&mut self, centre: f64, physics: &mut rp::PhysicsWorld) {
        self.centre = centre;
        let turn = Transform::from_rotation(quat_from_axis_angle(Vec3::X, -centre));
        let joint =
            physics.impulse_joints.get_mut(self.handle, true).expect("joints are never removed");
        joint.data.set_local_frame2(self.frame * pose(turn));
        let seen = |limit: f64| (limit - centre).clamp(-WINDOW_RADIANS, WINDOW_RADIANS);
        joint.data.set_limits(rp::JointAxis::AngX, [seen(self.lower), seen(self.upper)]);
    }
}

fn in_frames(
    data: rp::GenericJointBuilder,
    frames: Frames,
    joint_from_rapier: Quat,
) -> rp::GenericJointBuilder {
    let turn = Transform::from_rotation(joint_from_rapier);
    data.local_frame1(pose(frames.0 * turn)).local_frame2(pose(frames.1 * turn))
}

fn limited(
    data: rp::GenericJointBuilder,
    which: rp::JointAxis,
    lower: f64,
    upper: f64,
) -> rp::GenericJointBuilder {
    if lower.is_infinite() && upper.is_infinite() {
        return data;
    }
    data.limits(which, [lower.max(-1e10), upper.min(1e10)])
}

/// The one motor an axis has: a brake where there is dry friction, otherwise the damper. The
/// spring is `drive`'s: rapier's loses energy, and on a turn winds the shorter way round.
fn motor(
    data: rp::GenericJointBuilder,
    which: rp::JointAxis,
    axis: &Axis,
) -> rp::GenericJointBuilder {
    let data = data.motor_model(which, rp::MotorModel::ForceBased);
    if axis.friction > 0.0 {
        return data
            .set_motor(which, 0.0, 0.0, 0.0, BRAKE_DAMPING)
            .motor_max_force(which, axis.friction);
    }
    if axis.damping > 0.0 {
        return data.set_motor(which, 0.0, 0.0, 0.0, axis.damping);
    }
    data
}

/// What an axis's rapier motor leaves to `drive`: whether it springs, and whether it damps.
pub(super) fn left_to_drive(axis: &Axis) -> (bool, bool) {
    (axis.spring_stiffness > 0.0, axis.damping > 0.0 && axis.friction > 0.0)
}

/// The light body between the two hinges of a universal joint: it starts with the motion of
/// what carries the joint, and gravity pulls on it where it pulls on what hangs from it.
fn insert_cross(
    model: &Model,
    joint: &Joint,
    state: &State,
    physics: &mut rp::PhysicsWorld,
) -> rp::RigidBodyHandle {
    let (world_from_parent, carrier) = match joint.parent_rigid {
        Some(i) => (state.rigids[i].world_from_rigid, state.rigids[i].twist),
        None => (Transform::IDENTITY, Twist::default()),
    };
    let world_from_joint = world_from_parent * joint.parent_from_joint;
    let first = state.dofs[joint.first_dof].position;
    let turn = joint_motion(&JointKind::Continuous(first_axis(joint)), &[first]);
    let sides = [Some(joint.child_rigid), joint.parent_rigid].into_iter().flatten();
    let moving = sides.map(|i| &model.rigids[i]).filter(|rigid| rigid.motion == Motion::Dynamic);
    let lighter = moving.min_by(|a, b| a.mass.total_cmp(&b.mass));
    let (mass, inertia) = lighter.map_or((1.0, 1.0), |rigid| {
        let sum = rigid.inertia.col(0).x + rigid.inertia.col(1).y + rigid.inertia.col(2).z;
        (rigid.mass, sum / 3.0)
    });
    let mass = super::mass_of(
        Vec3::ZERO,
        mass * CROSS_SHARE,
        Mat3::from_diagonal(Vec3::splat(inertia * CROSS_SHARE)),
    );
    let point = world_from_joint.translation;
    let gravity = model.rigids[joint.child_rigid].gravity;
    physics.insert_body(
        rp::RigidBodyBuilder::dynamic()
            .pose(pose(world_from_joint * turn))
            .additional_mass_properties(mass)
            .linvel(velocity_at(carrier, world_from_parent.translation, point))
            .angvel(carrier.angular)
            .gravity_scale(if gravity { 1.0 } else { 0.0 })
            .can_sleep(false)
            .allow_fast_rotation(true),
    )
}

fn first_axis(joint: &Joint) -> Axis {
    joint.kind.axes()[0].clone()
}
