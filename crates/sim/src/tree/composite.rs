//! The mass matrix, by composite inertias.

use super::build::Tree;
use super::lane::{Lane, wide};
use super::place::Bodies;
use super::spatial::Inertia;

wide! {
    /// The joint-space mass matrix, row by row, rotors included. `composites` is scratch.
    ///
    /// Only columns on one branch meet: the loop over a column's ancestors is all there is.
    pub fn mass_matrix<'a, L>(
        tree: &'a Tree,
        bodies: &'a Bodies<L>,
        composites: &'a mut Vec<Inertia<L>>,
        matrix: &'a mut [L],
    ) {
        let n = tree.n_dofs;
        assert_eq!(matrix.len(), n * n, "square");
        matrix.fill(L::ZERO);
        composites.clear();
        composites.extend_from_slice(&bodies.inertias);
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let composite = composites[i];
            for k in node.columns() {
                let force = composite.momentum(bodies.axes[k]);
                let mut column = Some(k);
                while let Some(j) = column {
                    let entry = bodies.axes[j].dot(force);
                    matrix[k * n + j] = entry;
                    matrix[j * n + k] = entry;
                    column = tree.column_parents[j];
                }
                matrix[k * n + k] += L::of(node.armature);
            }
            if let Some(parent) = node.parent {
                composites[parent] += composite;
            }
        }
    }
}
