//! The links of a robot as its base sees them: for details whose base is found last.
//!
//! Where the base is follows from the joints, so its links are placed without it, once; and
//! turned into the world once, link by link and not axis by axis, when it is known.

use headland_base::{Quat, Transform};

use crate::tree::wide;
use crate::tree::{HalfTurns, Lane, M3, NodeKind, Tree, Turn, V3, V6};

use super::links::Links;

/// Where every node is in the base's frame, and how it moves there.
#[derive(Clone, Debug)]
pub struct Seen<L> {
    nodes: Vec<SeenNode<L>>,
    halves: HalfTurns<L>,
}

#[derive(Clone, Copy, Debug)]
struct SeenNode<L> {
    turn: Turn<L>,
    rotation: M3<L>,
    at: V3<L>,
    /// About the base's origin.
    motion: V6<L>,
}

/// A base in the world: where it is, and how it moves, about its own origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base<L> {
    pub turn: Turn<L>,
    pub at: V3<L>,
    pub motion: V6<L>,
}

impl<L: Lane> Seen<L> {
    /// Room for a tree's.
    pub(super) fn new(tree: &Tree) -> Seen<L> {
        let turn = Turn::of(Quat::IDENTITY);
        let base = SeenNode { turn, rotation: turn.matrix(), at: V3::ZERO, motion: V6::ZERO };
        Seen { nodes: vec![base; tree.nodes.len()], halves: HalfTurns::new(tree) }
    }

    /// Where a node is in the base's frame.
    pub(super) fn base_from_node(&self, node: usize, lane: usize) -> Transform {
        let seen = &self.nodes[node];
        Transform::new(seen.turn.get(lane), seen.at.get(lane))
    }

    /// Where a frame of a node is in the base's frame.
    #[inline(always)]
    pub(super) fn base_from(&self, node: usize, (turn, at): &(Turn<L>, V3<L>)) -> (Turn<L>, V3<L>) {
        let seen = &self.nodes[node];
        (seen.turn * *turn, seen.at + seen.rotation * *at)
    }

    /// How a node moves, seen from the base.
    pub(super) fn motion(&self, node: usize, lane: usize) -> V6<f64> {
        self.nodes[node].motion.get(lane)
    }

    /// The motion that a unit of a column's velocity is, seen from the base; of joints with one
    /// axis.
    pub(super) fn axis(&self, tree: &Tree, column: usize, lane: usize) -> V6<f64> {
        let node = tree.column_nodes[column];
        let seen = &self.nodes[node];
        let z = V3::of(seen.rotation.z.get(lane));
        let about = V6 { turn: z, line: V3::of(seen.at.get(lane)).cross(z) };
        match tree.nodes[node].kind {
            NodeKind::Slide => V6 { turn: V3::ZERO, line: z },
            NodeKind::Screw { metres_per_radian } => {
                V6 { turn: z, line: about.line + z * metres_per_radian }
            }
            NodeKind::Turn | NodeKind::Ball | NodeKind::Free => about,
        }
    }
}

wide! {
    /// Places every node of a tree with a free base by the positions and velocities of its
    /// joints; those of the base do not matter.
    pub(super) fn see<'a, L>(
        tree: &'a Tree,
        positions: &'a [L],
        velocities: &'a [L],
        seen: &'a mut Seen<L>,
    ) {
        seen.halves.find(positions);
        // In three passes. Turns wait for one another, their matrices for nothing; and in one
        // pass the compiler did parts of several numbers in one register.
        for (i, node) in tree.nodes.iter().enumerate().skip(1) {
            let parent = seen.nodes[node.parent.expect("hangs on a free base")].turn;
            let constant = node.parent_from_joint.rotation;
            seen.nodes[i].turn = match node.kind {
                NodeKind::Turn | NodeKind::Screw { .. } => {
                    parent * Turn::of_then_about_z(constant, seen.halves.at(node.first_position))
                }
                NodeKind::Ball => {
                    let q = &positions[node.first_position..node.first_position + 4];
                    let own = Turn { v: V3 { x: q[0], y: q[1], z: q[2] }, w: q[3] };
                    parent * (Turn::of(constant) * own)
                }
                NodeKind::Slide | NodeKind::Free => parent * Turn::of(constant),
            };
        }
        for node in seen.nodes.iter_mut().skip(1) {
            node.rotation = node.turn.matrix();
        }
        for (i, node) in tree.nodes.iter().enumerate().skip(1) {
            let parent = &seen.nodes[node.parent.expect("hangs on a free base")];
            let (q, v) = (&positions[node.first_position..], &velocities[node.columns()]);
            let offset = node.parent_from_joint.translation;
            // Axes of one joint have no way between them.
            let mut at = parent.at;
            if offset != headland_base::Vec3::ZERO {
                at += parent.rotation * V3::of(offset);
            }
            let (parent_motion, rotation) = (parent.motion, seen.nodes[i].rotation);
            let z = rotation.z;
            let about = |spin: V3<L>| V6 { turn: spin, line: at.cross(spin) };
            let own = match node.kind {
                NodeKind::Turn => about(z * v[0]),
                NodeKind::Slide => V6 { turn: V3::ZERO, line: z * v[0] },
                NodeKind::Screw { metres_per_radian } => {
                    let spin = about(z * v[0]);
                    let pitch = L::of(metres_per_radian);
                    V6 { turn: spin.turn, line: spin.line + z * (v[0] * pitch) }
                }
                NodeKind::Ball => {
                    let M3 { x, y, z } = rotation;
                    about(x * v[0] + y * v[1] + z * v[2])
                }
                NodeKind::Free => V6::ZERO,
            };
            match node.kind {
                NodeKind::Slide => at += z * q[0],
                NodeKind::Screw { metres_per_radian } => {
                    at += z * (q[0] * L::of(metres_per_radian));
                }
                NodeKind::Turn | NodeKind::Ball | NodeKind::Free => {}
            }
            let seen = &mut seen.nodes[i];
            (seen.at, seen.motion) = (at, parent_motion + own);
        }
    }
}

wide! {
    /// Puts every link into the world, where the base is.
    pub(super) fn put_links<'a, L>(
        seen: &'a Seen<L>,
        base: &'a Base<L>,
        links: &'a mut Links<L>,
    ) {
        let rotation = base.turn.matrix();
        for link in links.each() {
            let node = &seen.nodes[link.node];
            let (turn, at) = match link.offset {
                None => (node.turn, node.at),
                Some(offset) => (
                    node.turn * Turn::of(offset.rotation),
                    node.at + node.rotation * V3::of(offset.translation),
                ),
            };
            let arm = rotation * at;
            let linear = rotation * node.motion.velocity_at(at) + base.motion.velocity_at(arm);
            let angular = rotation * node.motion.turn + base.motion.turn;
            link.put(base.turn * turn, base.at + arm, angular, linear);
        }
        links.find_fastest();
    }
}
