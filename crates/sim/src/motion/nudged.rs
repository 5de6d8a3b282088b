//! How far overlapping things are pushed apart in a step, at most.
//!
//! What is asked for is where contacts are. What joints make of it may be anything: a leg that is
//! nearly straight has to bend far to lift its foot a little.

use crate::tree::{Lane, NodeKind, Tree};

/// The fastest a base or a slide is pushed \[m/s\].
const MOST_ALONG: f64 = 1.0;

/// The fastest anything is turned by it \[rad/s\].
const MOST_ABOUT: f64 = 10.0;

/// The fastest a base is turned and pushed.
pub(super) const MOST_OF_BASE: [f64; 6] =
    [MOST_ABOUT, MOST_ABOUT, MOST_ABOUT, MOST_ALONG, MOST_ALONG, MOST_ALONG];

/// The fastest each column of a tree is pushed \[m/s or rad/s\].
pub(super) fn fastest_nudges(tree: &Tree) -> Vec<f64> {
    let mut out = vec![MOST_ABOUT; tree.n_dofs];
    for node in &tree.nodes {
        match node.kind {
            NodeKind::Free => out[node.columns()].copy_from_slice(&MOST_OF_BASE),
            NodeKind::Slide => out[node.columns()].fill(MOST_ALONG),
            NodeKind::Turn | NodeKind::Screw { .. } | NodeKind::Ball => {}
        }
    }
    out
}

/// By what all speeds of each lane are to be multiplied, so that none is above what it may be.
pub(super) fn slowing<L: Lane>(speeds: &[L], mosts: &[f64]) -> L {
    let mut out = L::of(1.0);
    for lane in 0..L::WIDTH {
        let shares = speeds.iter().zip(mosts).map(|(speed, most)| speed.get(lane).abs() / most);
        out.set(lane, 1.0 / shares.fold(1.0, f64::max));
    }
    out
}
