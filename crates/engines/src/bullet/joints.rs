//! Joints of ours as constraints of Bullet's, and what each axis has beside them. A screw is a
//! slider that may turn; `Ties` keep the turn and the slide together.

use headland_base::maths::quat_between;
use headland_base::{Mat3, Quat, Transform, Vec3};
use headland_sim::{Fault, Joint, Model, Motion};
use headland_world::JointKind;

use super::Seat;
use super::realise::Surfaces;
use super::shim::{AxisDef, Link, World};

/// Puts every joint into Bullet's world, and every axis, in the order of the model's.
pub(super) fn insert(
    model: &Model,
    seats: &[Seat],
    world: &mut World<Surfaces>,
) -> Result<(), Fault> {
    for joint in &model.joints {
        let parent = side(model, seats, joint.parent_rigid);
        let child = side(model, seats, Some(joint.child_rigid));
        let (from, to) =
            (parent.frame * joint.parent_from_joint, child.frame * joint.child_from_joint);
        if parent.body_idx.is_some() || child.body_idx.is_some() {
            let (link, turn) = link_of(joint);
            let turn = Transform::from_rotation(turn);
            world.joint(link, parent.body_idx, child.body_idx, (from * turn, to * turn))?;
        }
        for (axis_idx, axis) in joint.kind.axes().iter().enumerate() {
            // The second axis of a universal joint turns with the child.
            let in_child = axis_idx == 1;
            let frame = if in_child { to } else { from };
            let def = AxisDef {
                direction: frame.vector(axis.direction).to_array(),
                point: to.translation.to_array(),
                lower: axis.lower,
                upper: axis.upper,
                friction: axis.friction,
                parent: -1,
                child: -1,
                slides: i32::from(matches!(joint.kind, JointKind::Prismatic(_))),
                in_child: i32::from(in_child),
            };
            world.axis(parent.body_idx, child.body_idx, def)?;
        }
    }
    Ok(())
}

/// One side of a joint: a body of Bullet's, or the world for what never moves.
struct Side {
    body_idx: Option<usize>,
    /// The rigid's frame in it.
    frame: Transform,
}

fn side(model: &Model, seats: &[Seat], rigid_idx: Option<usize>) -> Side {
    let Some(i) = rigid_idx else {
        return Side { body_idx: None, frame: Transform::IDENTITY };
    };
    match (seats[i].body_idx, model.rigids[i].motion) {
        (Some(body_idx), Motion::Dynamic | Motion::Kinematic) => {
            Side { body_idx: Some(body_idx), frame: seats[i].rigid_from_body.inverse() }
        }
        _ => Side { body_idx: None, frame: model.rigids[i].world_from_rigid },
    }
}

/// The constraint, and how the joint's frame is turned for it.
fn link_of(joint: &Joint) -> (Link, Quat) {
    match &joint.kind {
        JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
            (Link::Hinge, quat_between(Vec3::Z, axis.direction))
        }
        JointKind::Prismatic(axis) => (Link::Slider, quat_between(Vec3::X, axis.direction)),
        JointKind::Screw { axis, .. } => (Link::Piston, quat_between(Vec3::X, axis.direction)),
        JointKind::Ball => (Link::Ball, Quat::IDENTITY),
        JointKind::Universal(first, second) => {
            let (z, x) = (first.direction, second.direction);
            (Link::Universal, Quat::from_mat3(&Mat3::from_cols(x, z.cross(x), z)))
        }
        JointKind::Fixed => unreachable!("welded when the model was compiled"),
    }
}
