//! Forward kinematics: from positions to where every link is.

use headland_base::maths::Vec3;

use super::build::{NodeKind, Tree};
use super::lane::{Lane, wide};
use super::spatial::{Inertia, M3, Sym3, Turn, V3, V6};

/// Where the links of a tree are: scratch, made by [`place`].
#[derive(Clone, Debug)]
pub struct Bodies<L> {
    /// Where in the world the origin of the common frame is.
    pub origin: V3<L>,
    /// One per node.
    pub nodes: Vec<Placed<L>>,
    /// One per node, in the common frame; made by [`place`], not by [`place_only`].
    pub inertias: Vec<Inertia<L>>,
    /// One per column: the motion that a unit of its velocity is.
    pub axes: Vec<V6<L>>,
    /// About each node's centre, in its own frame: constant, kept in the form of the lane.
    about_centre: Vec<Sym3<L>>,
    halves: HalfTurns<L>,
}

/// Sines and cosines of half of every joint's position, as those that turn need them: scratch.
#[derive(Clone, Debug)]
pub(crate) struct HalfTurns<L> {
    /// Positions before it are those of a free base, which is turned by a quaternion.
    first: usize,
    sines: Vec<L>,
    cosines: Vec<L>,
}

impl<L: Lane> HalfTurns<L> {
    /// Room for a tree's.
    pub fn new(tree: &Tree) -> HalfTurns<L> {
        let first = if tree.is_free() { NodeKind::Free.n_positions() } else { 0 };
        let none = vec![L::ZERO; tree.n_positions];
        HalfTurns { first, sines: none.clone(), cosines: none }
    }

    /// All of them. They wait for nothing, and so are found before links, of which each waits for
    /// the one that carries it.
    #[inline(always)]
    pub fn find(&mut self, positions: &[L]) {
        let from = self.first..;
        L::half_sin_cos_each(
            &positions[from.clone()],
            &mut self.sines[from.clone()],
            &mut self.cosines[from],
        );
    }

    /// Sine and cosine of half a joint's position.
    #[inline(always)]
    pub fn at(&self, position: usize) -> (L, L) {
        (self.sines[position], self.cosines[position])
    }
}

/// Where one link is.
#[derive(Clone, Copy, Debug)]
pub struct Placed<L> {
    /// How its frame is turned in the world.
    pub turn: Turn<L>,
    /// The same as a matrix.
    pub rotation: M3<L>,
    /// Its frame's origin, from the common origin, along the world's axes.
    pub at: V3<L>,
}

impl<L: Lane> Bodies<L> {
    /// Room for a tree's.
    pub fn new(tree: &Tree) -> Bodies<L> {
        let unturned = Turn::of(headland_base::Quat::IDENTITY);
        let nowhere = Placed { turn: unturned, rotation: unturned.matrix(), at: V3::ZERO };
        let mut axes = vec![V6::ZERO; tree.n_dofs];
        if tree.is_free() {
            for (k, e) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
                axes[k].turn = V3::of(e);
                axes[3 + k].line = V3::of(e);
            }
        }
        Bodies {
            origin: V3::ZERO,
            nodes: vec![nowhere; tree.nodes.len()],
            inertias: vec![Inertia::ZERO; tree.nodes.len()],
            axes,
            about_centre: tree.nodes.iter().map(|node| Sym3::of(node.inertia)).collect(),
            halves: HalfTurns::new(tree),
        }
    }

    /// Where a link is in the world, seen from one lane.
    pub fn world_from_node(&self, node_idx: usize, lane: usize) -> headland_base::Transform {
        let placed = &self.nodes[node_idx];
        let at = placed.at.get(lane) + self.origin.get(lane);
        headland_base::Transform::new(placed.turn.get(lane), at)
    }
}

wide! {
    /// Where the links of a tree are at these positions, how its axes lie, and its inertias.
    /// `anchor` is where the base stands; a free tree does not look at it.
    pub fn place<'a, L>(
        tree: &'a Tree,
        anchor: &'a (Turn<L>, V3<L>),
        positions: &'a [L],
        bodies: &'a mut Bodies<L>,
    ) {
        place_only(tree, anchor, positions, bodies);
        for (i, node) in tree.nodes.iter().enumerate() {
            if node.rigid_idx.is_none() {
                continue; // nothing is there, and the room was made with nothing in it
            }
            let placed = &bodies.nodes[i];
            let centre = placed.at + placed.rotation * V3::of(node.centre);
            let about_centre = bodies.about_centre[i].turned(&placed.rotation);
            bodies.inertias[i] = Inertia::about_origin(L::of(node.mass), centre, about_centre);
        }
    }
}

wide! {
    /// [`place`] without inertias, for whom only kinematics matter.
    pub fn place_only<'a, L>(
        tree: &'a Tree,
        anchor: &'a (Turn<L>, V3<L>),
        positions: &'a [L],
        bodies: &'a mut Bodies<L>,
    ) {
        assert_eq!(positions.len(), tree.n_positions, "one position per coordinate");
        bodies.halves.find(positions);
        for i in 0..tree.nodes.len() {
            place_node(tree, anchor, positions, i, bodies);
        }
    }
}

wide! {
    /// [`place_only`] of some nodes: parents are among them, before their children.
    pub fn place_some<'a, L>(
        tree: &'a Tree,
        anchor: &'a (Turn<L>, V3<L>),
        positions: &'a [L],
        node_idxs: &'a [usize],
        bodies: &'a mut Bodies<L>,
    ) {
        bodies.halves.find(positions);
        for i in node_idxs {
            place_node(tree, anchor, positions, *i, bodies);
        }
    }
}

#[inline(always)]
fn place_node<L: Lane>(
    tree: &Tree,
    anchor: &(Turn<L>, V3<L>),
    positions: &[L],
    i: usize,
    bodies: &mut Bodies<L>,
) {
    let (node, unit) = (&tree.nodes[i], L::of(1.0));
    let q = &positions[node.first_position..node.first_position + node.kind.n_positions()];
    if node.kind == NodeKind::Free {
        bodies.origin = V3 { x: q[0], y: q[1], z: q[2] };
        let turn = Turn { v: V3 { x: q[3], y: q[4], z: q[5] }, w: q[6] };
        bodies.nodes[i] = Placed { turn, rotation: turn.matrix(), at: V3::ZERO };
        return; // its axes are the world's, and stand there since the room was made
    }
    let (parent_turn, parent_at, offset) = match node.parent {
        Some(parent) => {
            let placed = &bodies.nodes[parent];
            let offset = placed.rotation * V3::of(node.parent_from_joint.translation);
            (placed.turn, placed.at, offset)
        }
        None => {
            // The origin is where the first joint is, so nothing is left of the offset.
            let offset = anchor.0.matrix() * V3::of(node.parent_from_joint.translation);
            bodies.origin = anchor.1 + offset;
            (anchor.0, V3::ZERO, V3::ZERO)
        }
    };
    let at = parent_at + offset;
    let constant = node.parent_from_joint.rotation;
    let placed = match node.kind {
        NodeKind::Turn | NodeKind::Screw { .. } => {
            let half = bodies.halves.at(node.first_position);
            let turn = parent_turn * Turn::of_then_about_z(constant, half);
            Placed { turn, rotation: turn.matrix(), at }
        }
        NodeKind::Slide => {
            let turn = parent_turn * Turn::of(constant);
            Placed { turn, rotation: turn.matrix(), at }
        }
        NodeKind::Ball => {
            let own = Turn { v: V3 { x: q[0], y: q[1], z: q[2] }, w: q[3] };
            let turn = parent_turn * (Turn::of(constant) * own);
            Placed { turn, rotation: turn.matrix(), at }
        }
        NodeKind::Free => unreachable!("done above"),
    };
    let z = placed.rotation.z;
    let about = |axis: V3<L>, at: V3<L>| V6 { turn: axis, line: at.cross(axis) };
    let first = node.first_dof;
    bodies.nodes[i] = placed;
    match node.kind {
        NodeKind::Turn => bodies.axes[first] = about(z, at),
        NodeKind::Slide => {
            bodies.nodes[i].at = at + z * q[0];
            bodies.axes[first] = V6 { turn: V3::ZERO, line: z * unit };
        }
        NodeKind::Screw { metres_per_radian } => {
            let pitch = L::of(metres_per_radian);
            bodies.nodes[i].at = at + z * (q[0] * pitch);
            let turning = about(z, at);
            bodies.axes[first] = V6 { turn: turning.turn, line: turning.line + z * pitch };
        }
        NodeKind::Ball => {
            let M3 { x, y, z } = placed.rotation;
            for (k, axis) in [x, y, z].into_iter().enumerate() {
                bodies.axes[first + k] = about(axis, at);
            }
        }
        NodeKind::Free => unreachable!("done above"),
    }
}
