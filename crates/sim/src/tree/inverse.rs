//! Velocities, the forces that motion by itself takes, and inverse dynamics.

use super::build::{Node, NodeKind, Tree};
use super::lane::{Lane, wide};
use super::place::Bodies;
use super::spatial::{V3, V6};

/// How the links of a tree move: scratch, made by [`move_bodies`].
#[derive(Clone, Debug)]
pub struct Motions<L> {
    /// One per node, in the common frame.
    pub velocities: Vec<V6<L>>,
    /// What each would accelerate by if no joint did.
    pub accelerations: Vec<V6<L>>,
}

impl<L: Lane> Motions<L> {
    /// Room for a tree's.
    pub fn new(tree: &Tree) -> Motions<L> {
        let none = vec![V6::ZERO; tree.nodes.len()];
        Motions { velocities: none.clone(), accelerations: none }
    }
}

wide! {
    /// How every link moves at these velocities, and how it would go on accelerating without any
    /// joint acceleration. `anchor` is how the base moves.
    pub fn move_bodies<'a, L>(
        tree: &'a Tree,
        bodies: &'a Bodies<L>,
        anchor: V6<L>,
        velocities: &'a [L],
        motions: &'a mut Motions<L>,
    ) {
        assert_eq!(velocities.len(), tree.n_dofs, "one velocity per column");
        for (i, node) in tree.nodes.iter().enumerate() {
            let (base, bias) = match node.parent {
                Some(parent) => (motions.velocities[parent], motions.accelerations[parent]),
                None => (anchor, V6::ZERO),
            };
            let own = own_motion(node, bodies, velocities);
            if node.kind == NodeKind::Free {
                // Its columns lie along the world's axes and do not turn with it.
                motions.velocities[i] = own;
                motions.accelerations[i] = V6::ZERO;
            } else {
                let velocity = base + own;
                motions.velocities[i] = velocity;
                motions.accelerations[i] = bias + velocity.cross_motion(own);
            }
        }
    }
}

/// What the columns of a node add to the motion of what carries it.
#[inline(always)]
fn own_motion<L: Lane>(node: &Node, bodies: &Bodies<L>, velocities: &[L]) -> V6<L> {
    let first = node.first_dof;
    if node.kind == NodeKind::Free {
        return V6::of_parts(velocities[first..first + 6].try_into().expect("six"));
    }
    // No fold: it is not inlined, and then narrow.
    let mut own = V6::ZERO;
    for (axis, velocity) in bodies.axes[node.columns()].iter().zip(&velocities[node.columns()]) {
        own += *axis * *velocity;
    }
    own
}

wide! {
    /// The velocities of [`move_bodies`] alone, for whom nothing accelerates by itself.
    pub fn move_only<'a, L>(
        tree: &'a Tree,
        bodies: &'a Bodies<L>,
        anchor: V6<L>,
        velocities: &'a [L],
        moved: &'a mut [V6<L>],
    ) {
        assert_eq!(velocities.len(), tree.n_dofs, "one velocity per column");
        for (i, node) in tree.nodes.iter().enumerate() {
            let own = own_motion(node, bodies, velocities);
            let base = node.parent.map_or(anchor, |parent| moved[parent]);
            moved[i] = if node.kind == NodeKind::Free { own } else { base + own };
        }
    }
}

wide! {
    /// The force each link takes to go on as [`Motions`] say, less what gravity gives it:
    /// `I·a + v ×* I·v − gravity`.
    pub fn bias_forces<'a, L>(
        tree: &'a Tree,
        bodies: &'a Bodies<L>,
        motions: &'a Motions<L>,
        gravity: V3<L>,
        forces: &'a mut [V6<L>],
    ) {
        for (i, node) in tree.nodes.iter().enumerate() {
            if node.rigid_idx.is_none() {
                forces[i] = V6::ZERO;
                continue;
            }
            let inertia = &bodies.inertias[i];
            let velocity = motions.velocities[i];
            let mut force = inertia.momentum(motions.accelerations[i])
                + velocity.cross_force(inertia.momentum(velocity));
            if node.gravity {
                let weight = V6 { turn: inertia.moment.cross(gravity), line: gravity * inertia.mass };
                force = force - weight;
            }
            forces[i] = force;
        }
    }
}

wide! {
    /// The effort of every column that brings about these accelerations (Newton and Euler, from the
    /// base outwards and back). Rotors count. `forces` act on the links from outside.
    #[allow(clippy::too_many_arguments, reason = "an algorithm's inputs, outputs and scratch")]
    pub fn inverse_dynamics<'a, L>(
        tree: &'a Tree,
        bodies: &'a Bodies<L>,
        gravity: V3<L>,
        accelerations: &'a [L],
        outside: Option<&'a [V6<L>]>,
        motions: &'a mut Motions<L>,
        forces: &'a mut [V6<L>],
        efforts: &'a mut [L],
    ) {
        // Joint accelerations add to what the links accelerate by, from the base outwards.
        for (i, node) in tree.nodes.iter().enumerate() {
            let mut gain = V6::ZERO;
            for k in node.columns() {
                gain += bodies.axes[k] * accelerations[k];
            }
            // `forces` holds the gain of the parents until the pass below needs it for forces.
            if let Some(parent) = node.parent {
                gain += forces[parent];
            }
            forces[i] = gain;
        }
        for (i, gain) in forces.iter().enumerate() {
            motions.accelerations[i] += *gain;
        }
        bias_forces(tree, bodies, motions, gravity, forces);
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            if let Some(outside) = outside {
                forces[i] = forces[i] - outside[i];
            }
            let force = forces[i];
            for k in node.columns() {
                efforts[k] = bodies.axes[k].dot(force) + accelerations[k] * L::of(node.armature);
            }
            if let Some(parent) = node.parent {
                forces[parent] += force;
            }
        }
    }
}
