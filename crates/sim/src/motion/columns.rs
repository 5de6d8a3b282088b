//! What joints do by themselves: springs, dampers and motors, taken implicitly.

use headland_base::maths::sqrt;
use headland_base::{Mat3, Transform, Vec3};

use crate::engine::Inputs;
use crate::model::Model;
use crate::tree::{Lane, Node, NodeKind, Tree};

use super::Robot;

/// The constants of every column, lane by lane.
#[derive(Clone, Debug)]
pub struct Columns<L> {
    /// Effort per speed.
    pub damping: Vec<L>,
    /// Effort per displacement.
    pub stiffness: Vec<L>,
    /// Where the spring rests, in the tree's coordinate.
    pub rest: Vec<L>,
    /// Of the rotor.
    pub armature: Vec<L>,
    /// What the column moves at least: its own link against the one that carries it, each by
    /// itself, and its rotor. What else hangs on either only adds to it.
    pub least_inertia: Vec<L>,
}

impl<L: Lane> Columns<L> {
    /// Of the robots in a pack. Lanes beyond them repeat the first one.
    pub fn of(model: &Model, tree: &Tree, robots: &[Robot]) -> Columns<L> {
        let zeros = vec![L::ZERO; tree.n_dofs];
        let mut out = Columns {
            damping: zeros.clone(),
            stiffness: zeros.clone(),
            rest: zeros.clone(),
            armature: zeros.clone(),
            least_inertia: zeros,
        };
        for lane in 0..L::WIDTH {
            for (k, dof) in robots[lane.min(robots.len() - 1)].dofs.iter().enumerate() {
                let Some((dof, sign)) = dof else { continue };
                let axis = &model.dofs[*dof].axis;
                out.damping[k].set(lane, axis.damping);
                out.stiffness[k].set(lane, axis.spring_stiffness);
                out.rest[k].set(lane, sign * axis.spring_reference);
                out.armature[k].set(lane, axis.armature);
                let least = least_inertia(tree, tree.column_nodes[k]);
                out.least_inertia[k].set(lane, least + axis.armature);
            }
        }
        out
    }
}

/// What a node and the link that carries it oppose to its axis, wherever the axis stands. A link
/// in the air gives way to whatever turns on it: a heavy arm on a light base moves the base.
fn least_inertia(tree: &Tree, node_idx: usize) -> f64 {
    let node = &tree.nodes[node_idx];
    let Some((carrier, carrier_from_joint)) = carrier_of(tree, node) else {
        return own_inertia(node);
    };
    // Both in the joint's frame, whose z is the axis.
    let joint_from_carrier = carrier_from_joint.inverse();
    let turn = Mat3::from_quat(joint_from_carrier.rotation);
    let inertia = turn * carrier.inertia * turn.transpose();
    let centre = joint_from_carrier.point(carrier.centre);
    // As fast as its own centre against the other's, a pair has this mass.
    let mass = node.mass * carrier.mass / (node.mass + carrier.mass);
    match node.kind {
        NodeKind::Slide => {
            // Both may turn while they slide, by as much as their centres are beside each other.
            let beside = (node.centre - centre).with_z(0.0);
            let about = Vec3::Z.cross(beside).try_normalize().unwrap_or(Vec3::X);
            let turning = about.dot((inertia + node.inertia) * about);
            let arm = mass * beside.length_squared();
            if arm > 0.0 { mass * turning / (turning + arm) } else { mass }
        }
        NodeKind::Screw { metres_per_radian } => {
            turning_pair(mass, (node.inertia, node.centre), (inertia, centre))
                + mass * metres_per_radian * metres_per_radian
        }
        NodeKind::Turn | NodeKind::Ball | NodeKind::Free => {
            turning_pair(mass, (node.inertia, node.centre), (inertia, centre))
        }
    }
}

/// Two free links that turn against each other about z: the least of
/// `I₁·a² + I₂·b² + m·|a·r₁ + b·r₂|²` over `a + b = 1`, which is where the joint stands as it
/// opposes least, with their centres at `r` from the axis.
fn turning_pair(mass: f64, first: (Mat3, Vec3), second: (Mat3, Vec3)) -> f64 {
    let radius = |centre: Vec3| sqrt(centre.x * centre.x + centre.y * centre.y);
    let (r1, r2) = (radius(first.1), radius(second.1));
    let a = first.0.z_axis.z + mass * r1 * r1;
    let b = second.0.z_axis.z + mass * r2 * r2;
    let c = mass * r1 * r2;
    let sum = a + b + 2.0 * c;
    if sum > 0.0 { (a * b - c * c).max(0.0) / sum } else { 0.0 }
}

/// The link that carries a node, and the node's joint in its frame; none on the ground. Between
/// the axes of a universal joint there is nothing, and what carries that carries all.
fn carrier_of<'a>(tree: &'a Tree, node: &Node) -> Option<(&'a Node, Transform)> {
    let mut from_joint = node.parent_from_joint;
    let mut carrier = &tree.nodes[node.parent?];
    while carrier.mass == 0.0 {
        from_joint = carrier.parent_from_joint * from_joint;
        carrier = &tree.nodes[carrier.parent?];
    }
    Some((carrier, from_joint))
}

/// What a node's own link opposes to its own axis.
fn own_inertia(node: &Node) -> f64 {
    let about_axis = node.inertia.z_axis.z
        + node.mass * (node.centre.x * node.centre.x + node.centre.y * node.centre.y);
    match node.kind {
        NodeKind::Slide => node.mass,
        NodeKind::Screw { metres_per_radian } => {
            about_axis + node.mass * metres_per_radian * metres_per_radian
        }
        NodeKind::Turn | NodeKind::Ball | NodeKind::Free => about_axis,
    }
}

/// Efforts of the motors and how they give way, gathered from the model's axes.
#[derive(Clone, Debug)]
pub struct Motors<L> {
    /// At the beginning of the step.
    pub efforts: Vec<L>,
    /// Less of it per displacement.
    pub kp: Vec<L>,
    /// Less of it per speed.
    pub kd: Vec<L>,
}

impl<L: Lane> Motors<L> {
    /// Room for them.
    pub fn new(n_columns: usize) -> Motors<L> {
        let zeros = vec![L::ZERO; n_columns];
        Motors { efforts: zeros.clone(), kp: zeros.clone(), kd: zeros }
    }

    /// What the inputs say, lane by lane.
    pub fn gather(&mut self, inputs: &Inputs, robots: &[Robot]) {
        for (lane, robot) in robots.iter().enumerate() {
            for (k, dof) in robot.dofs.iter().enumerate() {
                let Some((dof, sign)) = *dof else { continue };
                if let Some(effort) = inputs.efforts.get(dof) {
                    self.efforts[k].set(lane, sign * effort);
                }
                if let Some(slope) = inputs.slopes.get(dof) {
                    self.kp[k].set(lane, slope.kp);
                    self.kd[k].set(lane, slope.kd);
                }
            }
        }
    }
}
