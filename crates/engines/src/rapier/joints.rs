//! Joints of ours as joints of rapier's. The joint's own frame is turned so that its axis
//! is rapier's x.

use headland_base::{Diagnostic, Mat3, Quat, Transform, Vec3};
use headland_sim::{Joint, Model, State};
use headland_world::{Axis, JointKind};
use rapier3d_f64::prelude as rp;

use super::drive::Drive;
use super::pose;

/// Mass and inertia of the cross in a universal joint, as a share of the lighter side's.
const CROSS_SHARE: f64 = 1e-3;

/// A motor this strong per speed is a brake: it stops the axis within a step unless that
/// takes more than the friction.
const BRAKE_DAMPING: f64 = 1e12;

/// What joints make rapier realise differently.
pub(super) fn check(model: &Model) -> Vec<Diagnostic> {
    let universal =
        model.joints.iter().filter(|joint| matches!(joint.kind, JointKind::Universal(..)));
    universal
        .map(|joint| {
            Diagnostic::remark(
                "realised",
                format!(
                    "joint `{}`: universal as two hinges with a light cross between",
                    joint.name
                ),
            )
        })
        .collect()
}

/// What the rotors of the motors that turn each rigid add to its inertia: `a·d·dᵀ` for each
/// axis `d` with armature `a`, in the rigid's frame.
pub(super) fn rotor_inertias(model: &Model) -> Vec<Mat3> {
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

/// Puts every joint into rapier's world and says which axes need help at every step.
pub(super) fn insert(
    model: &Model,
    state: &State,
    physics: &mut rp::PhysicsWorld,
    handles: &[rp::RigidBodyHandle],
) -> Drive {
    let ground = physics.insert_body(rp::RigidBodyBuilder::fixed());
    for joint in &model.joints {
        let parent = joint.parent_rigid.map_or(ground, |i| handles[i]);
        let child = handles[joint.child_rigid];
        let (from, to) = (joint.parent_from_joint, joint.child_from_joint);
        match &joint.kind {
            JointKind::Fixed => unreachable!("welded when the model was compiled"),
            JointKind::Ball => {
                let data = rp::GenericJointBuilder::new(rp::JointAxesMask::LOCKED_SPHERICAL_AXES);
                insert_one(physics, parent, child, frames(data, from, to, Quat::IDENTITY));
            }
            JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
                let data = hinge(axis, from, to);
                insert_one(physics, parent, child, data);
            }
            JointKind::Prismatic(axis) => {
                let data = rp::GenericJointBuilder::new(rp::JointAxesMask::LOCKED_PRISMATIC_AXES);
                let data = along(
                    frames(data, from, to, turn_x_to(axis.direction)),
                    rp::JointAxis::LinX,
                    axis,
                );
                insert_one(physics, parent, child, data);
            }
            JointKind::Screw { axis, .. } => {
                // Turn and slide are both free; `drive` ties them together.
                let locked = rp::JointAxesMask::LIN_Y
                    | rp::JointAxesMask::LIN_Z
                    | rp::JointAxesMask::ANG_Y
                    | rp::JointAxesMask::ANG_Z;
                let data = rp::GenericJointBuilder::new(locked);
                let data = along(
                    frames(data, from, to, turn_x_to(axis.direction)),
                    rp::JointAxis::AngX,
                    axis,
                );
                insert_one(physics, parent, child, data);
            }
            JointKind::Universal(first, second) => {
                let cross = insert_cross(model, joint, state, physics);
                insert_one(physics, parent, cross, hinge(first, from, Transform::IDENTITY));
                insert_one(physics, cross, child, hinge(second, Transform::IDENTITY, to));
            }
        }
    }
    Drive::of(model)
}

fn insert_one(
    physics: &mut rp::PhysicsWorld,
    parent: rp::RigidBodyHandle,
    child: rp::RigidBodyHandle,
    data: rp::GenericJointBuilder,
) {
    physics.insert_impulse_joint(parent, child, data.build());
}

fn hinge(
    axis: &Axis,
    parent_from_joint: Transform,
    child_from_joint: Transform,
) -> rp::GenericJointBuilder {
    let data = rp::GenericJointBuilder::new(rp::JointAxesMask::LOCKED_REVOLUTE_AXES);
    let data = frames(data, parent_from_joint, child_from_joint, turn_x_to(axis.direction));
    along(data, rp::JointAxis::AngX, axis)
}

fn frames(
    data: rp::GenericJointBuilder,
    parent_from_joint: Transform,
    child_from_joint: Transform,
    joint_from_rapier: Quat,
) -> rp::GenericJointBuilder {
    let turn = Transform::from_rotation(joint_from_rapier);
    data.local_frame1(pose(parent_from_joint * turn)).local_frame2(pose(child_from_joint * turn))
}

/// Limits, and the one motor an axis has: a brake where there is dry friction, otherwise
/// spring and damper.
fn along(
    mut data: rp::GenericJointBuilder,
    which: rp::JointAxis,
    axis: &Axis,
) -> rp::GenericJointBuilder {
    if axis.lower.is_finite() || axis.upper.is_finite() {
        data = data.limits(which, [axis.lower.max(-1e10), axis.upper.min(1e10)]);
    }
    if axis.friction > 0.0 {
        data = data
            .motor_model(which, rp::MotorModel::ForceBased)
            .set_motor(which, 0.0, 0.0, 0.0, BRAKE_DAMPING)
            .motor_max_force(which, axis.friction);
    } else if axis.damping > 0.0 || axis.spring_stiffness > 0.0 {
        data = data.motor_model(which, rp::MotorModel::ForceBased).set_motor(
            which,
            axis.spring_reference,
            0.0,
            axis.spring_stiffness,
            axis.damping,
        );
    }
    data
}

/// The light body between the two hinges of a universal joint.
fn insert_cross(
    model: &Model,
    joint: &Joint,
    state: &State,
    physics: &mut rp::PhysicsWorld,
) -> rp::RigidBodyHandle {
    let child = &model.rigids[joint.child_rigid];
    let now = &state.rigids[joint.child_rigid];
    let world_from_joint = match joint.parent_rigid {
        Some(i) => state.rigids[i].world_from_rigid * joint.parent_from_joint,
        None => joint.parent_from_joint,
    };
    let first = state.dofs[joint.first_dof].position;
    let turn =
        headland_sim::joint::joint_motion(&JointKind::Continuous(first_axis(joint)), &[first]);
    let size = child.inertia.col(0).x + child.inertia.col(1).y + child.inertia.col(2).z;
    let mass = rp::MassProperties::with_inertia_matrix(
        Vec3::ZERO,
        child.mass * CROSS_SHARE,
        Mat3::from_diagonal(Vec3::splat(size * CROSS_SHARE / 3.0)),
    );
    let point = world_from_joint.translation;
    let velocity =
        headland_sim::joint::velocity_at(now.twist, now.world_from_rigid.translation, point);
    physics.insert_body(
        rp::RigidBodyBuilder::dynamic()
            .pose(pose(world_from_joint * turn))
            .additional_mass_properties(mass)
            .linvel(velocity)
            .can_sleep(false)
            .allow_fast_rotation(true),
    )
}

fn first_axis(joint: &Joint) -> Axis {
    joint.kind.axes()[0].clone()
}

/// The shortest turn that takes x to `direction`.
fn turn_x_to(direction: Vec3) -> Quat {
    let cosine = direction.x;
    if cosine < -1.0 + 1e-9 {
        return Quat::from_xyzw(0.0, 0.0, 1.0, 0.0); // half a turn about z
    }
    let axis = Vec3::X.cross(direction);
    let turn = Quat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + cosine);
    turn * (1.0 / headland_base::maths::sqrt(turn.dot(turn)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_is_turned_to_every_direction() {
        for i in 0..200 {
            let (a, b) = (f64::from(i) * 0.37, f64::from(i) * 0.91);
            let (sin, cos) = (headland_base::maths::sin, headland_base::maths::cos);
            let direction = Vec3::new(cos(a) * cos(b), cos(a) * sin(b), sin(a));
            assert!((turn_x_to(direction) * Vec3::X).distance(direction) < 1e-9);
        }
        assert!((turn_x_to(-Vec3::X) * Vec3::X).distance(-Vec3::X) < 1e-12);
    }
}
