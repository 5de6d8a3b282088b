//! The tree as one body: its mass, centre, inertia and momentum; and Jacobians of its points.

use super::build::Tree;
use super::inverse::Motions;
use super::lane::Lane;
use super::place::Bodies;
use super::spatial::{Inertia, Sym3, V3, V6};

/// A whole tree, as if it were frozen.
#[derive(Clone, Copy, Debug)]
pub struct Whole<L> {
    /// \[kg\]
    pub mass: L,
    /// Centre of mass, from the common origin.
    pub centre: V3<L>,
    /// About the centre, along the world's axes.
    pub inertia: Sym3<L>,
}

/// Mass, centre and inertia of a whole tree.
#[inline(always)]
pub fn whole_body<L: Lane>(bodies: &Bodies<L>) -> Whole<L> {
    let mut sum = Inertia::ZERO;
    for inertia in &bodies.inertias {
        sum += *inertia;
    }
    let centre = sum.moment * (L::of(1.0) / sum.mass);
    let back = Inertia::about_origin(-sum.mass, centre, Sym3::ZERO);
    Whole { mass: sum.mass, centre, inertia: sum.inertia + back.inertia }
}

impl<L: Lane> Motions<L> {
    /// Momentum of a whole tree about a point given from the common origin.
    #[inline(always)]
    pub fn momentum_about(&self, bodies: &Bodies<L>, point: V3<L>) -> V6<L> {
        let mut sum = V6::ZERO;
        for (inertia, velocity) in bodies.inertias.iter().zip(&self.velocities) {
            sum += inertia.momentum(*velocity);
        }
        V6 { turn: sum.turn - point.cross(sum.line), line: sum.line }
    }
}

/// How a point of a link, given from the common origin, moves per unit of each column; zero for
/// columns that do not carry the link.
pub fn point_jacobian<L: Lane>(
    tree: &Tree,
    bodies: &Bodies<L>,
    node_idx: usize,
    point: V3<L>,
    jacobian: &mut [V3<L>],
) {
    jacobian.fill(V3::ZERO);
    let mut column = Some(tree.nodes[node_idx].columns().end - 1);
    while let Some(k) = column {
        jacobian[k] = bodies.axes[k].velocity_at(point);
        column = tree.column_parents[k];
    }
}
