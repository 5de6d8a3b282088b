//! Forward dynamics by articulated bodies, split so that one factorisation serves many solves.

use super::build::Tree;
use super::lane::{Lane, wide};
use super::place::Bodies;
use super::spatial::{ArticulatedInertia, V6};

/// What each column gives way by when everything beyond it is free to move: made by [`factor`],
/// good as long as positions stay.
#[derive(Clone, Debug)]
pub struct Factor<L> {
    /// The force that a unit of a column's acceleration takes.
    pub reach: Vec<V6<L>>,
    /// Acceleration per effort of a column.
    pub give: Vec<L>,
    inertias: Vec<ArticulatedInertia<L>>,
}

impl<L: Lane> Factor<L> {
    /// Room for a tree's.
    pub fn new(tree: &Tree) -> Factor<L> {
        Factor {
            reach: vec![V6::ZERO; tree.n_dofs],
            give: vec![L::ZERO; tree.n_dofs],
            inertias: vec![ArticulatedInertia::ZERO; tree.nodes.len()],
        }
    }
}

wide! {
    /// Eliminates column after column, from the tips to the base. `stiffening` is added to the
    /// inertia of each column: rotors, and dampers and springs taken implicitly.
    pub fn factor<'a, L>(
    tree: &'a Tree, bodies: &'a Bodies<L>, stiffening: &'a [L], factor: &'a mut Factor<L>
    ) {
        assert_eq!(stiffening.len(), tree.n_dofs, "one per column");
        for (i, own) in bodies.inertias.iter().enumerate() {
            factor.inertias[i] = ArticulatedInertia::of(own);
        }
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let mut inertia = factor.inertias[i];
            for k in node.columns().rev() {
                let axis = bodies.axes[k];
                let reach = inertia.force(axis);
                let give = L::of(1.0) / (axis.dot(reach) + stiffening[k]);
                inertia.give_way(reach, give);
                factor.reach[k] = reach;
                factor.give[k] = give;
            }
            if let Some(parent) = node.parent {
                factor.inertias[parent] += inertia;
            }
        }
    }
}

wide! {
    /// The acceleration of every column under `efforts`, while the links take `forces` (which are
    /// used up) to go on as they do.
    ///
    /// With efforts and forces of zero but for one link's impulse, this is the response to it.
    pub fn solve<'a, L>(
        tree: &'a Tree,
        bodies: &'a Bodies<L>,
        factor: &'a Factor<L>,
        efforts: &'a [L],
        forces: &'a mut [V6<L>],
        accelerations: &'a mut [L],
    ) {
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let mut force = forces[i];
            for k in node.columns().rev() {
                let left = efforts[k] - bodies.axes[k].dot(force);
                accelerations[k] = left;
                force += factor.reach[k] * (left * factor.give[k]);
            }
            if let Some(parent) = node.parent {
                forces[parent] += force;
            }
        }
        // From here on `forces` holds the accelerations of the links.
        for (i, node) in tree.nodes.iter().enumerate() {
            let mut motion = node.parent.map_or(V6::ZERO, |parent| forces[parent]);
            for k in node.columns() {
                let gained = (accelerations[k] - factor.reach[k].dot(motion)) * factor.give[k];
                accelerations[k] = gained;
                motion += bodies.axes[k] * gained;
            }
            forces[i] = motion;
        }
    }
}

/// One half of a solve: what a unit force on a link does on its way to the base.
///
/// With `M⁻¹ = Zᵀ·G·Z`, where `G` is [`Factor::give`], this is a column of `Z·Jᵀ`, and the
/// response of one direction `a` to another `b` is `Σ a[k]·G[k]·b[k]` over the columns both
/// have. Forces at any point of a link follow from the six of it.
#[derive(Clone, Debug, Default)]
pub struct Half {
    /// Columns from the link to the base, in that order.
    pub columns: Vec<usize>,
    /// What is left at each column, for the six unit forces about the common origin: moments
    /// along x, y, z, then forces.
    pub lefts: Vec<[f64; 6]>,
}

impl Half {
    /// Of the six unit forces on a link of one lane. Writes over what was there.
    pub fn of<L: Lane>(
        &mut self,
        tree: &Tree,
        bodies: &Bodies<L>,
        factor: &Factor<L>,
        node_idx: usize,
        lane: usize,
    ) {
        self.columns.clear();
        self.lefts.clear();
        let mut forces = UNITS;
        let mut column = Some(tree.nodes[node_idx].columns().end - 1);
        while let Some(k) = column {
            let axis = bodies.axes[k].get(lane);
            let lefts = forces.map(|force| axis.dot(force));
            let reach = factor.reach[k].get(lane) * factor.give[k].get(lane);
            for (force, left) in forces.iter_mut().zip(lefts) {
                *force = *force - reach * left;
            }
            self.columns.push(k);
            self.lefts.push(lefts);
            column = tree.column_parents[k];
        }
    }

    /// Of a unit effort on a column of one lane; it is the first of the six, the others are
    /// nothing.
    pub fn of_column<L: Lane>(
        &mut self,
        tree: &Tree,
        bodies: &Bodies<L>,
        factor: &Factor<L>,
        column: usize,
        lane: usize,
    ) {
        self.columns.clear();
        self.lefts.clear();
        // What the column does not take itself goes on to what carries it.
        let mut force = factor.reach[column].get(lane) * factor.give[column].get(lane);
        self.columns.push(column);
        self.lefts.push([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let mut above = tree.column_parents[column];
        while let Some(k) = above {
            let left = -bodies.axes[k].get(lane).dot(force);
            force += factor.reach[k].get(lane) * (left * factor.give[k].get(lane));
            self.columns.push(k);
            self.lefts.push([left, 0.0, 0.0, 0.0, 0.0, 0.0]);
            above = tree.column_parents[k];
        }
    }

    /// How six unit forces on one link move another of the same tree: row by row.
    pub fn response(&self, other: &Half, give: impl Fn(usize) -> f64) -> [[f64; 6]; 6] {
        let mut out = [[0.0; 6]; 6];
        // Both lists end at the base, so columns they share are at their ends.
        for ((k, a), (j, b)) in self
            .columns
            .iter()
            .zip(&self.lefts)
            .rev()
            .zip(other.columns.iter().zip(&other.lefts).rev())
        {
            if k != j {
                break;
            }
            let give = give(*k);
            for (row, left) in out.iter_mut().zip(a) {
                let left = left * give;
                for (entry, right) in row.iter_mut().zip(b) {
                    *entry += left * right;
                }
            }
        }
        out
    }
}

const UNITS: [V6<f64>; 6] = {
    let mut units = [V6::ZERO; 6];
    units[0].turn.x = 1.0;
    units[1].turn.y = 1.0;
    units[2].turn.z = 1.0;
    units[3].line.x = 1.0;
    units[4].line.y = 1.0;
    units[5].line.z = 1.0;
    units
};
