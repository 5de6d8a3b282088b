//! What joints do by themselves: springs, dampers and motors, taken implicitly.

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
    /// What the column moves at least: its own link alone, and its rotor.
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
                let own = own_inertia(&tree.nodes[tree.column_nodes[k]]);
                out.least_inertia[k].set(lane, own + axis.armature);
            }
        }
        out
    }
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
