//! Temporal formulas over columns: how true a formula is at every sample.
//!
//! ```text
//! times, one column per atom ─┐
//!                             ├─ robustness / truth ─► one column: the formula at every sample
//! Formula ────────────────────┘
//! sample ── Monitor ─► the formula now (what looks back only)
//! ```
//!
//! Time is the samples: a window of a sample holds the samples whose distance in time lies
//! in it, both ends included, and nothing is guessed between samples. Looking ahead begins
//! at the sample itself and looking behind ends with it, so of samples with one and the
//! same time stamp the earlier in the column is the past of the later. *Always* over no
//! sample is true, *eventually* over none is false, so a window cut off by the end of the
//! recording judges what there is. In `f until g`, f need not hold at the moment g comes.
//!
//! What a formula is as a whole is its first value for what looks ahead, its last for what
//! looks back: the caller chooses.
//!
//! Deliberately absent: the language, and what an atom is. Atoms come as columns: positive
//! is true, negative false, NaN not known ([`degree`] says how the last travels).

pub mod columns;
pub mod degree;
mod live;

use headland_base::SimTime;

pub use degree::{Degree, Robustness, Truth};
pub use live::{LooksAhead, Monitor, TimeWentBack};

use crate::lang::ast::Window;

/// A node of a [`Formula`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(usize);

impl NodeId {
    /// Its place among the nodes.
    pub fn index(self) -> usize {
        self.0
    }
}

/// An atom, or an operator on earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// The atom of this number.
    Atom(usize),
    /// `not f`
    Not(NodeId),
    /// `f and g`
    And(NodeId, NodeId),
    /// `f or g`
    Or(NodeId, NodeId),
    /// `f implies g`
    Implies(NodeId, NodeId),
    /// `f iff g`
    Iff(NodeId, NodeId),
    /// `always[a,b] f`
    Always(Window, NodeId),
    /// `eventually[a,b] f`
    Eventually(Window, NodeId),
    /// `historically[a,b] f`
    Historically(Window, NodeId),
    /// `once[a,b] f`
    Once(Window, NodeId),
    /// `f until[a,b] g`
    Until(Window, NodeId, NodeId),
    /// `f since[a,b] g`
    Since(Window, NodeId, NodeId),
}

impl Node {
    /// The nodes it is made of.
    pub fn children(self) -> impl Iterator<Item = NodeId> {
        let (first, second) = match self {
            Node::Atom(_) => (None, None),
            Node::Not(f)
            | Node::Always(_, f)
            | Node::Eventually(_, f)
            | Node::Historically(_, f)
            | Node::Once(_, f) => (Some(f), None),
            Node::And(f, g)
            | Node::Or(f, g)
            | Node::Implies(f, g)
            | Node::Iff(f, g)
            | Node::Until(_, f, g)
            | Node::Since(_, f, g) => (Some(f), Some(g)),
        };
        first.into_iter().chain(second)
    }

    /// The word of an operator that looks ahead, and the word of its mirror.
    pub fn looks_ahead(self) -> Option<(&'static str, &'static str)> {
        match self {
            Node::Always(..) => Some(("always", "historically")),
            Node::Eventually(..) => Some(("eventually", "once")),
            Node::Until(..) => Some(("until", "since")),
            _ => None,
        }
    }
}

/// Formulas that may share parts.
///
/// Nodes stand in a list, each after those it is made of. So a part that two formulas use
/// is computed once, and no depth of nesting is a depth of calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Formula {
    nodes: Vec<Node>,
}

impl Formula {
    /// Nothing yet.
    pub fn new() -> Formula {
        Formula::default()
    }

    /// Adds a node over nodes that are already there.
    pub fn push(&mut self, node: Node) -> NodeId {
        let id = NodeId(self.nodes.len());
        assert!(node.children().all(|child| child < id), "{node:?} is made of earlier nodes");
        self.nodes.push(node);
        id
    }

    /// Every node, in order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        self.nodes.iter().enumerate().map(|(index, node)| (NodeId(index), *node))
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node and all it is made of, in order.
    pub fn nodes_of(&self, root: NodeId) -> impl Iterator<Item = Node> + '_ {
        let used = self.used_by(root);
        self.nodes.iter().zip(used).filter_map(|(node, is_used)| is_used.then_some(*node))
    }

    /// For each node, whether `root` needs it.
    fn used_by(&self, root: NodeId) -> Vec<bool> {
        let mut used = vec![false; self.nodes.len()];
        used[root.0] = true;
        for index in (0..=root.0).rev() {
            if used[index] {
                self.nodes[index].children().for_each(|child| used[child.0] = true);
            }
        }
        used
    }
}

/// Memory of columns, kept from one evaluation to the next: fresh pages cost more than the
/// formula. Nothing in it is needed for an answer.
#[derive(Clone, Debug)]
pub struct Scratch<D> {
    spare: Vec<Vec<D>>,
}

impl<D> Default for Scratch<D> {
    fn default() -> Scratch<D> {
        Scratch { spare: Vec::new() }
    }
}

impl<D> Scratch<D> {
    /// Takes back a column that is no longer needed.
    pub fn give_back(&mut self, column: Vec<D>) {
        self.spare.push(column);
    }

    fn take(&mut self) -> Vec<D> {
        let mut column = self.spare.pop().unwrap_or_default();
        column.clear();
        column
    }
}

/// How far the formula is from being false (positive) or true (negative) at every sample;
/// NaN where that is not known. `atoms` has a column for each atom, by its number.
pub fn robustness(
    formula: &Formula,
    root: NodeId,
    times: &[SimTime],
    atoms: &[&[f64]],
) -> Vec<f64> {
    let mut out = Vec::new();
    robustness_into(formula, root, times, atoms, &mut Scratch::default(), &mut out);
    out
}

/// [`robustness`] for those who ask again and again: `out` is emptied and filled.
pub fn robustness_into(
    formula: &Formula,
    root: NodeId,
    times: &[SimTime],
    atoms: &[&[f64]],
    scratch: &mut Scratch<Robustness>,
    out: &mut Vec<f64>,
) {
    let fill = |atom: usize, column: &mut Vec<Robustness>| {
        column.extend(atoms[atom].iter().map(|value| Robustness::new(*value)));
    };
    let column = evaluate(formula, root, times, fill, scratch);
    out.clear();
    out.extend(column.iter().map(|degree| degree.value()));
    scratch.give_back(column);
}

/// Whether the formula holds at every sample.
///
/// Agrees with the sign of [`robustness`] wherever that is positive or negative, and is
/// sharper where it is 0: there the atoms' own truth decides.
pub fn truth(formula: &Formula, root: NodeId, times: &[SimTime], atoms: &[&[Truth]]) -> Vec<Truth> {
    let fill = |atom: usize, column: &mut Vec<Truth>| column.extend_from_slice(atoms[atom]);
    evaluate(formula, root, times, fill, &mut Scratch::default())
}

/// The formula at every sample; `fill` puts the column of an atom into an empty vector.
pub fn evaluate<D: Degree>(
    formula: &Formula,
    root: NodeId,
    times: &[SimTime],
    fill: impl Fn(usize, &mut Vec<D>),
    scratch: &mut Scratch<D>,
) -> Vec<D> {
    assert!(times.is_sorted(), "the times of a recording never decrease");
    // How often a column is still to be read; at zero its memory serves the next.
    let used = formula.used_by(root);
    let mut n_reads = vec![0; formula.len()];
    for (id, node) in formula.nodes().filter(|(id, _)| used[id.0]) {
        node.children().for_each(|child| n_reads[child.0] += 1);
        n_reads[id.0] += usize::from(id == root);
    }
    let mut columns: Vec<Vec<D>> = vec![Vec::new(); formula.len()];
    for (id, node) in formula.nodes().filter(|(id, _)| used[id.0]) {
        let mut out = scratch.take();
        let column = |child: NodeId| columns[child.0].as_slice();
        match node {
            Node::Atom(atom) => fill(atom, &mut out),
            Node::Not(f) => columns::not(column(f), &mut out),
            Node::And(f, g) => columns::and(column(f), column(g), &mut out),
            Node::Or(f, g) => columns::or(column(f), column(g), &mut out),
            Node::Implies(f, g) => columns::implies(column(f), column(g), &mut out),
            Node::Iff(f, g) => columns::iff(column(f), column(g), &mut out),
            Node::Always(w, f) => columns::always(times, w, column(f), &mut out),
            Node::Eventually(w, f) => columns::eventually(times, w, column(f), &mut out),
            Node::Historically(w, f) => columns::historically(times, w, column(f), &mut out),
            Node::Once(w, f) => columns::once(times, w, column(f), &mut out),
            Node::Until(w, f, g) => columns::until(times, w, column(f), column(g), &mut out),
            Node::Since(w, f, g) => columns::since(times, w, column(f), column(g), &mut out),
        }
        assert_eq!(out.len(), times.len(), "one value per sample");
        columns[id.0] = out;
        for child in node.children() {
            n_reads[child.0] -= 1;
            if n_reads[child.0] == 0 {
                scratch.give_back(std::mem::take(&mut columns[child.0]));
            }
        }
    }
    std::mem::take(&mut columns[root.0])
}
