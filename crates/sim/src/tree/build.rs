//! From a model's rigids and joints to trees.

use std::collections::BTreeMap;

use headland_base::maths::{Quat, Vec3, sqrt};
use headland_base::{Mat3, Transform};
use headland_world::JointKind;

use crate::joint::turned_inertia;
use crate::model::{Joint, Model, Motion};

/// Every tree of a model, and which of them moves a rigid.
#[derive(Clone, Debug)]
pub struct Forest {
    /// In the order of their first rigids.
    pub trees: Vec<Tree>,
    /// Tree and node of every rigid; none for what no force moves.
    pub places: Vec<Option<(usize, usize)>>,
}

/// Rigids connected by joints, constant.
///
/// Held by construction: parents come before their children, columns of a node follow each
/// other, and a node without a parent stands on the base.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The outermost model's name of its first rigid.
    pub robot: String,
    /// The links, parents first.
    pub nodes: Vec<Node>,
    /// The rigid that carries a tree that is not free; `None` is the world. It may move by
    /// itself, as a belt does.
    pub anchor: Option<usize>,
    /// Joints of the model that would close a loop, cut out of the tree.
    pub loops: Vec<usize>,
    /// Length of a vector of positions.
    pub n_positions: usize,
    /// Length of a vector of velocities, accelerations or efforts.
    pub n_dofs: usize,
    /// For every column, the one nearest towards the base, for walks along a branch.
    pub column_parents: Vec<Option<usize>>,
    /// For every column, the node it moves.
    pub column_nodes: Vec<usize>,
    /// Nodes by how many others carry them. Neighbours in this list are links of different limbs,
    /// which do not wait for each other.
    pub outwards: Vec<usize>,
}

/// One link with the joint that carries it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The node that carries it.
    pub parent: Option<usize>,
    /// How it moves against that.
    pub kind: NodeKind,
    /// The joint's frame, z along its axis, in the parent's node (or in the anchor).
    pub parent_from_joint: Transform,
    /// Where its positions begin.
    pub first_position: usize,
    /// Where its columns begin.
    pub first_dof: usize,
    /// \[kg\]; zero between the two axes of a universal joint.
    pub mass: f64,
    /// Centre of mass in the node's frame.
    pub centre: Vec3,
    /// About that, in the node's frame.
    pub inertia: Mat3,
    /// Gravity pulls on it.
    pub gravity: bool,
    /// Linear and angular damping of free motion \[1/s\].
    pub velocity_decay: (f64, f64),
    /// The rigid it is, where it is one.
    pub rigid_idx: Option<usize>,
    /// The node's frame in that rigid.
    pub rigid_from_node: Transform,
    /// The axis of the model it moves along, and −1 where the tree runs against the joint.
    pub dof: Option<(usize, f64)>,
    /// Of that axis's rotor.
    pub armature: f64,
    /// Whether it carries others.
    pub is_inner: bool,
    /// Of those that its parent carries it is the last in [`Tree::outwards`], so the first on the
    /// way back.
    pub is_last: bool,
}

/// How a node moves against its parent. Positions and velocities, in order:
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NodeKind {
    /// Freely: place and quaternion (x, y, z, w) in the world; angular and linear velocity of
    /// its origin along the world's axes.
    Free,
    /// About z: an angle, its speed.
    Turn,
    /// Along z: a distance, its speed.
    Slide,
    /// About z and along it: an angle, its speed.
    Screw {
        /// Advance.
        metres_per_radian: f64,
    },
    /// About a point: a quaternion, angular velocity along the node's own axes.
    Ball,
}

impl NodeKind {
    /// Positions it takes.
    pub fn n_positions(self) -> usize {
        match self {
            NodeKind::Free => 7,
            NodeKind::Ball => 4,
            _ => 1,
        }
    }

    /// Columns it has.
    pub fn n_dofs(self) -> usize {
        match self {
            NodeKind::Free => 6,
            NodeKind::Ball => 3,
            _ => 1,
        }
    }
}

impl Node {
    /// Its columns.
    pub fn columns(&self) -> std::ops::Range<usize> {
        self.first_dof..self.first_dof + self.kind.n_dofs()
    }
}

impl Tree {
    /// Whether its base moves freely; then that is its first node, and has the first six columns.
    pub fn is_free(&self) -> bool {
        self.nodes.first().is_some_and(|base| base.kind == NodeKind::Free)
    }

    /// Whether both are the same robot, but for which rigids and axes of the model they are.
    pub fn is_same_model(&self, other: &Tree) -> bool {
        let apart = |node: &Node| Node {
            rigid_idx: node.rigid_idx.map(|_| 0),
            dof: node.dof.map(|(_, sign)| (0, sign)),
            ..node.clone()
        };
        self.anchor.is_some() == other.anchor.is_some()
            && self.loops.len() == other.loops.len()
            && self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).all(|(a, b)| apart(a) == apart(b))
    }
}

impl Forest {
    /// Every rigid that forces move, in trees. Total: what cannot be a tree is cut open and
    /// listed in [`Tree::loops`].
    pub fn of(model: &Model) -> Forest {
        Growing::new(model).grow()
    }
}

struct Growing<'a> {
    model: &'a Model,
    /// Joints at each rigid, in the model's order.
    joints_at: BTreeMap<usize, Vec<usize>>,
    places: Vec<Option<(usize, usize)>>,
    /// Joints that are in a tree, or cut.
    is_used: Vec<bool>,
    trees: Vec<Tree>,
}

impl<'a> Growing<'a> {
    fn new(model: &'a Model) -> Growing<'a> {
        let mut joints_at: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (i, joint) in model.joints.iter().enumerate() {
            for rigid in joint.parent_rigid.into_iter().chain([joint.child_rigid]) {
                joints_at.entry(rigid).or_default().push(i);
            }
        }
        Growing {
            model,
            joints_at,
            places: vec![None; model.rigids.len()],
            is_used: vec![false; model.joints.len()],
            trees: Vec::new(),
        }
    }

    fn grow(mut self) -> Forest {
        for rigid_idx in 0..self.model.rigids.len() {
            if self.is_moved(rigid_idx) && self.places[rigid_idx].is_none() {
                self.plant(rigid_idx);
            }
        }
        Forest { trees: self.trees, places: self.places }
    }

    fn is_moved(&self, rigid_idx: usize) -> bool {
        self.model.rigids[rigid_idx].motion == Motion::Dynamic
    }

    /// A tree for everything that hangs together with a rigid.
    fn plant(&mut self, rigid_idx: usize) {
        let members = self.connected(rigid_idx);
        let mut tree = Tree {
            robot: self.model.bodies[self.model.rigids[members[0]].body_idxs[0]].robot.clone(),
            nodes: Vec::new(),
            anchor: None,
            loops: Vec::new(),
            n_positions: 0,
            n_dofs: 0,
            column_parents: Vec::new(),
            column_nodes: Vec::new(),
            outwards: Vec::new(),
        };
        let root = match self.first_anchor(&members) {
            Some((joint_idx, anchor)) => {
                tree.anchor = anchor;
                self.is_used[joint_idx] = true;
                let joint = &self.model.joints[joint_idx];
                let is_forward = joint.parent_rigid == anchor && self.is_moved(joint.child_rigid);
                self.hang(&mut tree, None, joint, is_forward)
            }
            None => {
                let root = self.root_of(&members);
                self.set_free(&mut tree, root);
                root
            }
        };
        self.grow_from(&mut tree, root);
        tree.outwards = outwards(&tree.nodes);
        for i in tree.outwards.iter().rev() {
            if let Some(parent) = tree.nodes[*i].parent {
                tree.nodes[*i].is_last = !std::mem::replace(&mut tree.nodes[parent].is_inner, true);
            }
        }
        self.trees.push(tree);
    }

    /// Hangs everything on a rigid that is in the tree: branch after branch, each to its tip,
    /// in the model's order.
    fn grow_from(&mut self, tree: &mut Tree, root: usize) {
        let mut waiting = vec![(root, self.joints_of(root))];
        while let Some((rigid, joints)) = waiting.last_mut() {
            let (rigid, Some(joint_idx)) = (*rigid, joints.pop()) else {
                waiting.pop();
                continue;
            };
            if std::mem::replace(&mut self.is_used[joint_idx], true) {
                continue;
            }
            let joint = &self.model.joints[joint_idx];
            let is_forward = joint.parent_rigid == Some(rigid);
            let other = if is_forward { Some(joint.child_rigid) } else { joint.parent_rigid };
            if other.is_some_and(|i| self.is_moved(i) && self.places[i].is_none()) {
                let here = self.places[rigid].map(|(_, node_idx)| node_idx);
                let other = self.hang(tree, here, joint, is_forward);
                waiting.push((other, self.joints_of(other)));
            } else {
                tree.loops.push(joint_idx);
            }
        }
    }

    /// Joints at a rigid, the last one first.
    fn joints_of(&self, rigid_idx: usize) -> Vec<usize> {
        self.joints_at(rigid_idx).iter().rev().copied().collect()
    }

    /// Joints at a rigid, in the model's order.
    fn joints_at(&self, rigid_idx: usize) -> &[usize] {
        self.joints_at.get(&rigid_idx).map_or(&[], Vec::as_slice)
    }

    /// Everything that joints connect with a rigid, in order.
    fn connected(&self, rigid_idx: usize) -> Vec<usize> {
        let (mut found, mut i) = (vec![rigid_idx], 0);
        while i < found.len() {
            for joint_idx in self.joints_at(found[i]) {
                let joint = &self.model.joints[*joint_idx];
                for other in joint.parent_rigid.into_iter().chain([joint.child_rigid]) {
                    if self.is_moved(other) && !found.contains(&other) {
                        found.push(other);
                    }
                }
            }
            i += 1;
        }
        found.sort_unstable();
        found
    }

    /// The first joint that holds one of them to the world, or to what no force moves.
    fn first_anchor(&self, members: &[usize]) -> Option<(usize, Option<usize>)> {
        let mut joints: Vec<usize> =
            members.iter().flat_map(|rigid| self.joints_at(*rigid)).copied().collect();
        joints.sort_unstable();
        // One of both ends of each is a member.
        joints.into_iter().find_map(|i| {
            let joint = &self.model.joints[i];
            let ends = [joint.parent_rigid, Some(joint.child_rigid)];
            let anchor = ends.into_iter().find(|end| end.is_none_or(|end| !self.is_moved(end)))?;
            Some((i, anchor))
        })
    }

    /// The first that no joint carries; the first of all where each is carried.
    fn root_of(&self, members: &[usize]) -> usize {
        let is_carried = |rigid: &usize| {
            let joints = self.joints_at(*rigid).iter().map(|i| &self.model.joints[*i]);
            joints.into_iter().any(|j| j.child_rigid == *rigid && j.parent_rigid.is_some())
        };
        members.iter().copied().find(|rigid| !is_carried(rigid)).unwrap_or(members[0])
    }

    /// The first node of a free tree, at its rigid's own centre of mass: a single body then
    /// flies along a parabola whatever its frame is.
    fn set_free(&mut self, tree: &mut Tree, rigid_idx: usize) {
        let rigid_from_node = Transform::from_translation(self.model.rigids[rigid_idx].centre);
        let node = self.node(tree, NodeKind::Free, Some(rigid_idx), rigid_from_node);
        self.push(tree, node);
    }

    /// A joint and the rigid it carries, which is given back.
    fn hang(
        &mut self,
        tree: &mut Tree,
        parent: Option<usize>,
        joint: &Joint,
        is_forward: bool,
    ) -> usize {
        let node_from_rigid =
            parent.map_or(Transform::IDENTITY, |i| tree.nodes[i].rigid_from_node.inverse());
        let (near, far) = if is_forward {
            (joint.parent_from_joint, joint.child_from_joint)
        } else {
            (joint.child_from_joint, joint.parent_from_joint)
        };
        let rigid = if is_forward { Some(joint.child_rigid) } else { joint.parent_rigid };
        let rigid = rigid.expect("a tree grows towards rigids, not towards the world");
        let sign = if is_forward { 1.0 } else { -1.0 };
        let kinds: Vec<(NodeKind, Vec3, Option<usize>)> = match &joint.kind {
            JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
                vec![(NodeKind::Turn, axis.direction, Some(0))]
            }
            JointKind::Prismatic(axis) => vec![(NodeKind::Slide, axis.direction, Some(0))],
            JointKind::Screw { axis, metres_per_radian } => {
                let kind = NodeKind::Screw { metres_per_radian: *metres_per_radian };
                vec![(kind, axis.direction, Some(0))]
            }
            JointKind::Ball => vec![(NodeKind::Ball, Vec3::Z, None)],
            JointKind::Universal(first, second) => {
                let mut both = vec![
                    (NodeKind::Turn, first.direction, Some(0)),
                    (NodeKind::Turn, second.direction, Some(1)),
                ];
                if !is_forward {
                    both.reverse();
                }
                both
            }
            JointKind::Fixed => unreachable!("welded when the model was compiled"),
        };
        let n = kinds.len();
        let (mut parent, mut from_joint) = (parent, node_from_rigid * near);
        for (i, (kind, axis, axis_idx)) in kinds.into_iter().enumerate() {
            let joint_from_z = Transform::from_rotation(from_z_to(axis));
            let is_last = i + 1 == n;
            let (rigid_idx, rigid_from_node) = if is_last {
                (Some(rigid), far * joint_from_z)
            } else {
                (None, Transform::IDENTITY)
            };
            let mut node = self.node(tree, kind, rigid_idx, rigid_from_node);
            node.parent = parent;
            node.parent_from_joint = from_joint * joint_from_z;
            node.dof = axis_idx.map(|i| (joint.first_dof + i, sign));
            node.armature = node.dof.map_or(0.0, |(dof, _)| self.model.dofs[dof].axis.armature);
            parent = Some(self.push(tree, node));
            from_joint = joint_from_z.inverse();
        }
        rigid
    }

    fn node(
        &self,
        tree: &Tree,
        kind: NodeKind,
        rigid_idx: Option<usize>,
        rigid_from_node: Transform,
    ) -> Node {
        let mut node = Node {
            parent: None,
            kind,
            parent_from_joint: Transform::IDENTITY,
            first_position: tree.n_positions,
            first_dof: tree.n_dofs,
            mass: 0.0,
            centre: Vec3::ZERO,
            inertia: Mat3::ZERO,
            gravity: false,
            velocity_decay: (0.0, 0.0),
            rigid_idx,
            rigid_from_node,
            dof: None,
            armature: 0.0,
            is_inner: false,
            is_last: false,
        };
        if let Some(i) = rigid_idx {
            let (rigid, node_from_rigid) = (&self.model.rigids[i], rigid_from_node.inverse());
            node.mass = rigid.mass;
            node.centre = node_from_rigid.point(rigid.centre);
            node.inertia = turned_inertia(node_from_rigid.rotation, rigid.inertia);
            node.gravity = rigid.gravity;
            node.velocity_decay = rigid.velocity_decay;
        }
        node
    }

    fn push(&mut self, tree: &mut Tree, node: Node) -> usize {
        let node_idx = tree.nodes.len();
        let mut above = node.parent.map(|i| tree.nodes[i].columns().end - 1);
        for column in node.columns() {
            tree.column_parents.push(above);
            tree.column_nodes.push(node_idx);
            above = Some(column);
        }
        tree.n_positions += node.kind.n_positions();
        tree.n_dofs += node.kind.n_dofs();
        if let Some(rigid) = node.rigid_idx {
            self.places[rigid] = Some((self.trees.len(), node_idx));
        }
        tree.nodes.push(node);
        node_idx
    }
}

/// Nodes by how many others carry them, see [`Tree::outwards`].
fn outwards(nodes: &[Node]) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(nodes.len());
    for node in nodes {
        depths.push(node.parent.map_or(0, |parent| depths[parent] + 1));
    }
    let mut all: Vec<usize> = (0..nodes.len()).collect();
    all.sort_by_key(|i| depths[*i]);
    all
}

/// The shortest turn that takes z to a unit vector; about x where that is −z.
fn from_z_to(axis: Vec3) -> Quat {
    if axis == Vec3::Z {
        return Quat::IDENTITY;
    }
    if axis.z < -1.0 + 1e-12 {
        return Quat::from_xyzw(1.0, 0.0, 0.0, 0.0);
    }
    let q = Quat::from_xyzw(-axis.y, axis.x, 0.0, 1.0 + axis.z);
    q * (1.0 / sqrt(q.dot(q)))
}
