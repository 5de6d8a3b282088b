//! Between the state of a world and the coordinates of a tree.

use headland_base::maths::Vec3;
use headland_base::{Quat, Transform};

use crate::joint::velocity_at;
use crate::model::Model;
use crate::state::State;
use crate::tree::{Lane, NodeKind, Tree, Turn, V3};

use super::Robot;

/// Positions and velocities of a tree whose links are as a state has them.
pub(super) fn read_state(
    model: &Model,
    tree: &Tree,
    robot: &Robot,
    state: &State,
) -> (Vec<f64>, Vec<f64>) {
    let (mut positions, mut velocities) = (vec![0.0; tree.n_positions], vec![0.0; tree.n_dofs]);
    for (i, node) in tree.nodes.iter().enumerate() {
        let (p, k) = (node.first_position, node.first_dof);
        match node.kind {
            NodeKind::Free => {
                let rigid = &state.rigids[robot.rigids[i].expect("a free node is a rigid")];
                let pose = rigid.world_from_rigid * node.rigid_from_node;
                let (at, q) = (pose.translation, pose.rotation);
                positions[p..p + 7].copy_from_slice(&[at.x, at.y, at.z, q.x, q.y, q.z, q.w]);
                let v = velocity_at(rigid.twist, rigid.world_from_rigid.translation, at);
                let w = rigid.twist.angular;
                velocities[k..k + 6].copy_from_slice(&[w.x, w.y, w.z, v.x, v.y, v.z]);
            }
            NodeKind::Ball => {
                let rigid = robot.rigids[i].expect("a ball joint carries a rigid");
                let (turn, spin) = relative_turn(model, tree, robot, state, i, rigid);
                positions[p..p + 4].copy_from_slice(&[turn.x, turn.y, turn.z, turn.w]);
                velocities[k..k + 3].copy_from_slice(&[spin.x, spin.y, spin.z]);
            }
            NodeKind::Turn | NodeKind::Slide | NodeKind::Screw { .. } => {
                let (dof, sign) = robot.dofs[k].expect("a joint with one axis has it");
                positions[p] = sign * state.dofs[dof].position;
                velocities[k] = sign * state.dofs[dof].velocity;
            }
        }
    }
    (positions, velocities)
}

/// How a ball joint's link is turned against what carries it, and how it turns, along its own
/// axes.
fn relative_turn(
    model: &Model,
    tree: &Tree,
    robot: &Robot,
    state: &State,
    node_idx: usize,
    rigid: usize,
) -> (Quat, Vec3) {
    let node = &tree.nodes[node_idx];
    let carrier = match node.parent {
        Some(parent) => robot.rigids[parent].map(|i| (i, tree.nodes[parent].rigid_from_node)),
        None => robot.anchor.map(|i| (i, Transform::IDENTITY)),
    };
    let (world_from_carrier, spin) = match carrier {
        Some((i, rigid_from_node)) => {
            let now = &state.rigids[i];
            (now.world_from_rigid * rigid_from_node, now.twist.angular)
        }
        None => (Transform::IDENTITY, Vec3::ZERO),
    };
    debug_assert!(rigid < model.rigids.len(), "an index of the model");
    let world_from_node = state.rigids[rigid].world_from_rigid * node.rigid_from_node;
    let world_from_joint = world_from_carrier * node.parent_from_joint;
    let turn = world_from_joint.rotation.conjugate() * world_from_node.rotation;
    let relative = state.rigids[rigid].twist.angular - spin;
    (turn, world_from_node.rotation.conjugate() * relative)
}

/// Where a robot's base stands and how it moves there.
pub(super) fn anchor_of(robot: &Robot, state: &State) -> (Transform, Vec3, Vec3) {
    robot.anchor.map_or((Transform::IDENTITY, Vec3::ZERO, Vec3::ZERO), |i| {
        let now = &state.rigids[i];
        (now.world_from_rigid, now.twist.angular, now.twist.linear)
    })
}

/// A free tree does not look at what carries it.
pub(super) fn at_nothing<L: Lane>() -> (Turn<L>, V3<L>) {
    (Turn::of(Quat::IDENTITY), V3::ZERO)
}
