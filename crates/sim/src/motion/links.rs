//! Where the links of a pack are as a state has them: worked out side by side, told robot by
//! robot.

use headland_base::{Quat, Transform};

use crate::state::State;
use crate::tree::{Bodies, Lane, NodeKind, Tree, Turn, V3, V6};

use super::{FASTEST, Robot};

/// Every link of every robot: scratch, made by [`Links::find`].
#[derive(Clone, Debug)]
pub(super) struct Links<L> {
    /// The rigid in its node's frame, where that is not the frame itself.
    offsets: Vec<Option<Transform>>,
    links: Vec<Link<L>>,
}

#[derive(Clone, Copy, Debug)]
struct Link<L> {
    turn: Turn<L>,
    at: V3<L>,
    angular: V3<L>,
    linear: V3<L>,
}

impl<L: Lane> Links<L> {
    pub fn new(tree: &Tree) -> Links<L> {
        let offset = |node: &crate::tree::Node| {
            let node_from_rigid = node.rigid_from_node.inverse();
            (node.rigid_from_node != Transform::IDENTITY).then_some(node_from_rigid)
        };
        let nowhere = Link {
            turn: Turn::of(Quat::IDENTITY),
            at: V3::ZERO,
            angular: V3::ZERO,
            linear: V3::ZERO,
        };
        Links {
            offsets: tree.nodes.iter().map(offset).collect(),
            links: vec![nowhere; tree.nodes.len()],
        }
    }

    /// Of nodes that are placed and move like this, about the bodies' origin.
    #[inline(always)]
    pub fn find(&mut self, tree: &Tree, bodies: &Bodies<L>, motions: &[V6<L>]) {
        for (i, link) in self.links.iter_mut().enumerate() {
            if tree.nodes[i].rigid_idx.is_none() {
                continue; // nobody asks where nothing is
            }
            let (placed, motion) = (&bodies.nodes[i], motions[i]);
            let (turn, at) = match self.offsets[i] {
                None => (placed.turn, placed.at),
                Some(offset) => (
                    placed.turn * Turn::of(offset.rotation),
                    placed.at + placed.rotation * V3::of(offset.translation),
                ),
            };
            let linear = motion.velocity_at(at);
            *link = Link { turn, at: at + bodies.origin, angular: motion.turn, linear };
        }
    }

    pub fn pose(&self, robot: usize, node: usize) -> Transform {
        let link = &self.links[node];
        Transform::new(link.turn.get(robot), link.at.get(robot))
    }

    /// Writes poses, twists and axes.
    pub fn write(
        &self,
        tree: &Tree,
        robots: &[Robot],
        (positions, velocities): (&[L], &[L]),
        state: &mut State,
    ) {
        // Link by link, as they lie in memory.
        for (node, link) in self.links.iter().enumerate() {
            for (lane, robot) in robots.iter().enumerate() {
                let Some(rigid) = robot.rigids[node] else { continue };
                let rigid = &mut state.rigids[rigid];
                rigid.world_from_rigid = Transform::new(link.turn.get(lane), link.at.get(lane));
                rigid.twist.linear = link.linear.get(lane);
                rigid.twist.angular = link.angular.get(lane);
                rigid.is_contained |= robot.is_lost;
            }
        }
        for node in &tree.nodes {
            if let NodeKind::Free | NodeKind::Ball = node.kind {
                continue;
            }
            let (q, v) = (&positions[node.first_position], &velocities[node.first_dof]);
            for (lane, robot) in robots.iter().enumerate() {
                let Some((dof, sign)) = robot.dofs[node.first_dof] else { continue };
                let dof = &mut state.dofs[dof];
                (dof.position, dof.velocity) = (sign * q.get(lane), sign * v.get(lane));
            }
        }
    }
}

/// What is a number in every lane whose numbers are all finite and no speed beyond what moves.
#[inline(always)]
#[expect(clippy::eq_op, reason = "what is not finite is no zero here")]
pub(super) fn alarm<L: Lane>(positions: &[L], velocities: &[L]) -> L {
    let mut sum = L::ZERO;
    for q in positions {
        sum += *q - *q;
    }
    let mut squares = L::ZERO;
    for v in velocities {
        squares += *v * *v;
    }
    sum + squares.map(|square| if square <= FASTEST * FASTEST { 0.0 } else { f64::NAN })
}

/// Whether a lane's alarm went off.
pub(super) fn is_alarmed<L: Lane>(alarm: L, lane: usize) -> bool {
    alarm.get(lane).is_nan()
}
