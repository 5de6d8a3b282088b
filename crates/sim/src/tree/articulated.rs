//! Forward dynamics by articulated bodies, split so that one factorisation serves many solves.

use super::build::{NodeKind, Tree};
use super::lane::{Kernel, Lane, wide, widely};
use super::place::Bodies;
use super::spatial::{ArticulatedInertia, V6};

/// What each column gives way by when everything beyond it is free to move: made by [`factor`],
/// good as long as positions stay.
#[derive(Clone, Debug)]
pub struct Factor<L> {
    /// The force that a unit of a column's acceleration takes; of a free base only up to the
    /// column's own entry, the rest being asked of nobody.
    pub reach: Vec<V6<L>>,
    /// Acceleration per effort of a column.
    pub give: Vec<L>,
    /// What each node carries, without itself.
    carried: Vec<ArticulatedInertia<L>>,
}

impl<L: Lane> Factor<L> {
    /// Room for a tree's.
    pub fn new(tree: &Tree) -> Factor<L> {
        Factor {
            reach: vec![V6::ZERO; tree.n_dofs],
            give: vec![L::ZERO; tree.n_dofs],
            carried: vec![ArticulatedInertia::ZERO; tree.nodes.len()],
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
        for i in tree.outwards.iter().copied().rev() {
            let node = &tree.nodes[i];
            if node.kind == NodeKind::Free {
                continue; // below
            }
            let mut inertia = ArticulatedInertia::of(&bodies.inertias[i]);
            if node.is_inner {
                inertia += factor.carried[i];
            }
            for k in node.columns().rev() {
                let axis = bodies.axes[k];
                let reach = inertia.force(axis);
                let give = L::of(1.0) / (axis.dot(reach) + stiffening[k]);
                inertia.give_way(reach, give);
                factor.reach[k] = reach;
                factor.give[k] = give;
            }
            match node.parent {
                Some(parent) if node.is_last => factor.carried[parent] = inertia,
                Some(parent) => factor.carried[parent] += inertia,
                None => {}
            }
        }
        if tree.is_free() {
            let mut whole = ArticulatedInertia::of(&bodies.inertias[0]);
            if tree.nodes[0].is_inner {
                whole += factor.carried[0];
            }
            factor_free(
                &whole,
                stiffening[..6].try_into().expect("six"),
                (&mut factor.reach[..6]).try_into().expect("six"),
                (&mut factor.give[..6]).try_into().expect("six"),
            );
        }
    }
}

wide! {
    /// [`factor`] of a base that moves freely. Its columns are the frame's own axes, so each one's
    /// force is a column of the inertia itself, and one that is eliminated is asked for nothing
    /// more: an eighth of the work of six axes that lie anyhow. A function of its own: within the
    /// other both were compiled into something that took half as long again.
    fn factor_free<'a, L>(
        inertia: &'a ArticulatedInertia<L>,
        stiffening: &'a [L; 6],
        reach: &'a mut [V6<L>; 6],
        give: &'a mut [L; 6],
    ) {
        let mut columns = inertia.columns();
        eliminate::<5, L>(&mut columns, stiffening, reach, give);
        eliminate::<4, L>(&mut columns, stiffening, reach, give);
        eliminate::<3, L>(&mut columns, stiffening, reach, give);
        eliminate::<2, L>(&mut columns, stiffening, reach, give);
        eliminate::<1, L>(&mut columns, stiffening, reach, give);
        eliminate::<0, L>(&mut columns, stiffening, reach, give);
    }
}

/// One of the six. Written out: as loops, whose lengths hang on each other, it stays in memory and
/// takes as long as six axes that lie anyhow.
#[inline(always)]
fn eliminate<const K: usize, L: Lane>(
    columns: &mut [[L; 6]; 6],
    stiffening: &[L; 6],
    reach: &mut [V6<L>; 6],
    give: &mut [L; 6],
) {
    let own = columns[K];
    give[K] = L::of(1.0) / (own[K] + stiffening[K]);
    reach[K] = V6::of_parts(own);
    lessen::<0, K, L>(&mut columns[0], &own, give[K]);
    lessen::<1, K, L>(&mut columns[1], &own, give[K]);
    lessen::<2, K, L>(&mut columns[2], &own, give[K]);
    lessen::<3, K, L>(&mut columns[3], &own, give[K]);
    lessen::<4, K, L>(&mut columns[4], &own, give[K]);
}

/// Takes column `K` out of column `J`, which is before it.
#[inline(always)]
fn lessen<const J: usize, const K: usize, L: Lane>(column: &mut [L; 6], own: &[L; 6], give: L) {
    if J < K {
        let share = own[J] * give;
        for i in 0..=J {
            column[i] -= own[i] * share;
        }
    }
}

/// [`solve`] of such a base, both ways: its acceleration.
#[inline(always)]
fn solve_free<L: Lane>(
    factor: &Factor<L>,
    efforts: &[L],
    force: V6<L>,
    accelerations: &mut [L],
) -> V6<L> {
    let (mut force, mut motion) = (force.parts(), [L::ZERO; 6]);
    let mut lefts = motion;
    for k in (0..6).rev() {
        lefts[k] = efforts[k] - force[k];
        let (reach, share) = (factor.reach[k].parts(), lefts[k] * factor.give[k]);
        for i in 0..k {
            force[i] += reach[i] * share;
        }
    }
    for k in 0..6 {
        let reach = factor.reach[k].parts();
        let mut left = lefts[k];
        for i in 0..k {
            left -= reach[i] * motion[i];
        }
        motion[k] = left * factor.give[k];
        accelerations[k] = motion[k];
    }
    V6::of_parts(motion)
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
        for i in tree.outwards.iter().copied().rev() {
            let node = &tree.nodes[i];
            let mut force = forces[i];
            if node.kind == NodeKind::Free {
                forces[i] = solve_free(factor, efforts, force, accelerations);
                continue;
            }
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
        for i in tree.outwards.iter().copied() {
            let node = &tree.nodes[i];
            if node.kind == NodeKind::Free {
                continue; // above
            }
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
    /// How much each of them gives way.
    pub gives: Vec<f64>,
    /// What is left at each column, for the six unit forces about the common origin: moments
    /// along x, y, z, then forces; and two zeros, which fill a register.
    pub lefts: Vec<[f64; 8]>,
}

impl Half {
    /// Of nothing that moves.
    pub fn clear(&mut self) {
        self.columns.clear();
        self.gives.clear();
        self.lefts.clear();
    }

    /// Of the six unit forces on a link of one lane. Writes over what was there.
    pub fn of<L: Lane>(
        &mut self,
        tree: &Tree,
        bodies: &Bodies<L>,
        factor: &Factor<L>,
        node_idx: usize,
        lane: usize,
    ) {
        self.clear();
        widely(Climb { tree, bodies, factor, node_idx, lane, half: self });
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
        self.clear();
        let mut push = |column: usize, give: f64, left: f64| {
            self.columns.push(column);
            self.gives.push(give);
            self.lefts.push([left, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        };
        // What the column does not take itself goes on to what carries it.
        let mut force = factor.reach[column].get(lane) * factor.give[column].get(lane);
        push(column, factor.give[column].get(lane), 1.0);
        let mut above = tree.column_parents[column];
        while let Some(k) = above {
            let give = factor.give[k].get(lane);
            let left = -bodies.axes[k].get(lane).dot(force);
            force += factor.reach[k].get(lane) * (left * give);
            push(k, give, left);
            above = tree.column_parents[k];
        }
    }

    /// How six unit forces on one link move another of the same tree: row by row.
    pub fn response(&self, other: &Half) -> [[f64; 6]; 6] {
        let mut out = [[0.0; 6]; 6];
        // Both lists end at the base, so columns they share are at their ends.
        let own = self.columns.iter().zip(&self.gives).zip(&self.lefts).rev();
        let others = other.columns.iter().zip(&other.lefts).rev();
        for (((k, give), a), (j, b)) in own.zip(others) {
            if k != j {
                break;
            }
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

/// The way from a link to the base, six forces side by side.
struct Climb<'a, L> {
    tree: &'a Tree,
    bodies: &'a Bodies<L>,
    factor: &'a Factor<L>,
    node_idx: usize,
    lane: usize,
    half: &'a mut Half,
}

impl<L: Lane> Kernel for Climb<'_, L> {
    #[inline(always)]
    fn run(self) {
        let Climb { tree, bodies, factor, node_idx, lane, half } = self;
        // By what they are along and about the axes; the six forces side by side.
        let mut forces = [[0.0; 8]; 6];
        (0..6).for_each(|i| forces[i][i] = 1.0);
        let mut column = Some(tree.nodes[node_idx].columns().end - 1);
        while let Some(k) = column {
            let give = factor.give[k].get(lane);
            let axis = bodies.axes[k].get(lane).parts();
            let reach = factor.reach[k].get(lane).parts();
            // Two by two: each column waits for the one before, and a sum of six in a row was
            // most of what it waited for.
            let mut lefts = [0.0; 8];
            for l in 0..8 {
                let two = |i: usize| axis[i] * forces[i][l] + axis[i + 1] * forces[i + 1][l];
                lefts[l] = (two(0) + two(2)) + two(4);
            }
            for (part, forces) in reach.iter().zip(&mut forces) {
                let part = part * give;
                for l in 0..8 {
                    forces[l] -= part * lefts[l];
                }
            }
            half.columns.push(k);
            half.gives.push(give);
            half.lefts.push(lefts);
            column = tree.column_parents[k];
        }
    }
}
