//! Why a formula is what it is at a snapshot: the parts that decide, down to the atoms.
//!
//! ```text
//! always[0, 2] (a implies b)   false  at 0 s
//!   a implies b                false  at 0.7 s     the least of the window
//!     a                        true   at 0.7 s     both, because neither saves it
//!     b                        false  at 0.7 s
//! ```
//!
//! Of a least or a greatest the one that makes it is followed, the earliest where several
//! do; where every part is needed for the answer, all are. Columns of parts are computed
//! again on the way down instead of being kept: a recording may be long, a way is short.

use std::ops::Range;
use std::sync::Arc;

use headland_base::SimTime;

use crate::code::{Code, Node as Expression, Op, Site};
use crate::formula::{self, Atom, Evaluated, NOWHERE, of_comparison};
use crate::judge::new_run;
use crate::lang::ast::Window;
use crate::run::{Conditions, Nobody, Run, Watch};
use crate::scene::Scene;
use crate::temporal::{self, Degree, Node, NodeId, Robustness, Scratch, Truth};
use crate::value::Value;
use crate::vocabulary::Quantity;

/// Parts that are listed at most; nobody reads more.
const MOST_STEPS: usize = 40;

/// A part of a formula at a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// How far in.
    pub depth: usize,
    pub node: NodeId,
    /// At which snapshot of the recording.
    pub tick: usize,
    pub truth: Truth,
    /// By how much; NaN where that is not known.
    pub robustness: f64,
    /// The atom, for the last of a way.
    pub atom: Option<usize>,
}

/// Formulas over some snapshots of a recording.
pub(crate) struct Judged<'a> {
    pub code: &'a Code,
    pub scene: &'a Scene,
    pub range: &'a Range<usize>,
    pub formulas: &'a [Evaluated],
    pub atoms: &'a [Atom],
    /// Every comparison so much easier.
    pub slack: f64,
}

/// Truth first, and by how much where that is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Both(Truth, Robustness);

impl Degree for Both {
    const FALSE: Both = Both(Truth::FALSE, Robustness::FALSE);
    const TRUE: Both = Both(Truth::TRUE, Robustness::TRUE);

    fn not(self) -> Both {
        Both(self.0.not(), self.1.not())
    }
}

impl Judged<'_> {
    /// The parts that make a formula what it is at a snapshot, each before its own parts.
    pub(crate) fn steps(&self, root: NodeId, tick: usize) -> Vec<Step> {
        let nodes: Vec<Node> = self.code.temporal.nodes().map(|(_, node)| node).collect();
        let mut out = Vec::new();
        let mut open = vec![(0, root, tick - self.range.start)];
        while let Some((depth, id, i)) = open.pop() {
            if out.len() == MOST_STEPS {
                break;
            }
            let node = nodes[id.index()];
            let Both(truth, robustness) = self.column(id)[i];
            let atom = if let Node::Atom(atom) = node { Some(atom) } else { None };
            let (tick, robustness) = (self.range.start + i, robustness.value());
            out.push(Step { depth, node: id, tick, truth, robustness, atom });
            let parts = self.parts(node, i, truth);
            open.extend(parts.into_iter().rev().map(|(part, i)| (depth + 1, part, i)));
        }
        out
    }

    /// Which parts of a node decide it, and at which of the judged snapshots.
    fn parts(&self, node: Node, i: usize, truth: Truth) -> Vec<(NodeId, usize)> {
        let at = |id: NodeId| self.column(id)[i];
        let is_true = truth == Truth::True;
        match node {
            Node::Atom(_) => Vec::new(),
            Node::Not(f) => vec![(f, i)],
            Node::And(f, g) if is_true => vec![(f, i), (g, i)],
            Node::And(f, g) => vec![(if at(g) < at(f) { g } else { f }, i)],
            Node::Or(f, g) if truth == Truth::False => vec![(f, i), (g, i)],
            Node::Or(f, g) => vec![(if at(g) > at(f) { g } else { f }, i)],
            Node::Implies(f, g) if is_true => vec![(if at(g) > at(f).not() { g } else { f }, i)],
            Node::Implies(f, g) | Node::Iff(f, g) => vec![(f, i), (g, i)],
            Node::Always(w, f) => self.least(f, self.ahead(w, i)),
            Node::Eventually(w, f) => self.greatest(f, self.ahead(w, i)),
            Node::Historically(w, f) => self.least(f, self.behind(w, i)),
            Node::Once(w, f) => self.greatest(f, self.behind(w, i)),
            Node::Until(w, f, g) => {
                // Backwards from the far end would be the mirror; both go away from now.
                let reached = self.ahead(w, i);
                self.held_until(f, g, is_true, i..reached.end, |j| reached.contains(&j))
            }
            Node::Since(w, f, g) => {
                let reached = self.behind(w, i);
                let back = (reached.start..i + 1).rev();
                self.held_until(f, g, is_true, back, |j| reached.contains(&j))
            }
        }
    }

    /// `f until g`, going away from now: where g comes nearest, and what stood in the way.
    fn held_until(
        &self,
        f: NodeId,
        g: NodeId,
        is_true: bool,
        away: impl Iterator<Item = usize>,
        is_in_window: impl Fn(usize) -> bool,
    ) -> Vec<(NodeId, usize)> {
        let (held, reached) = (self.column(f), self.column(g));
        let mut worst: Option<(Both, usize)> = None;
        // How near it came, where, and the worst of f on the way there.
        let mut best = None;
        let mut most = Both::FALSE;
        for j in away {
            let so_far = worst.map_or(Both::TRUE, |(degree, _)| degree);
            let degree = reached[j].min(so_far);
            if is_in_window(j) && (best.is_none() || degree > most) {
                (most, best) = (degree, Some((j, worst)));
            }
            if worst.is_none_or(|(least, _)| held[j] < least) {
                worst = Some((held[j], j));
            }
        }
        let Some((j, worst)) = best else { return Vec::new() };
        match worst {
            Some((_, k)) if is_true => vec![(f, k), (g, j)],
            Some((least, k)) if least < reached[j] => vec![(f, k)],
            _ => vec![(g, j)],
        }
    }

    fn least(&self, f: NodeId, window: Range<usize>) -> Vec<(NodeId, usize)> {
        let column = self.column(f);
        window.min_by_key(|j| column[*j]).map(|j| (f, j)).into_iter().collect()
    }

    fn greatest(&self, f: NodeId, window: Range<usize>) -> Vec<(NodeId, usize)> {
        let column = self.column(f);
        // The first of the greatest: `max_by_key` would give the last.
        window.rev().max_by_key(|j| column[*j]).map(|j| (f, j)).into_iter().collect()
    }

    fn times(&self) -> &[SimTime] {
        &self.scene.times()[self.range.clone()]
    }

    fn ahead(&self, window: Window, i: usize) -> Range<usize> {
        let (times, now) = (self.times(), self.times()[i].nanos());
        let from = now.saturating_add(window.from_nanos.max(0));
        let to = window.to_nanos.map_or(i64::MAX, |to| now.saturating_add(to));
        let start = i + times[i..].partition_point(|time| time.nanos() < from);
        let end = i + times[i..].partition_point(|time| time.nanos() <= to);
        start..end.max(start)
    }

    fn behind(&self, window: Window, i: usize) -> Range<usize> {
        let (times, now) = (self.times(), self.times()[i].nanos());
        let to = now.saturating_sub(window.from_nanos.max(0));
        let from = window.to_nanos.map_or(i64::MIN, |to| now.saturating_sub(to));
        let end = times[..=i].partition_point(|time| time.nanos() <= to);
        let start = times[..=i].partition_point(|time| time.nanos() < from);
        start.min(end)..end
    }

    fn column(&self, id: NodeId) -> Vec<Both> {
        let fill = |atom: usize, column: &mut Vec<Both>| {
            let Atom { robustness, truth } = &self.atoms[atom];
            let both = truth.iter().zip(robustness);
            column.extend(both.map(|(truth, value)| Both(*truth, Robustness::new(*value))));
        };
        temporal::evaluate(&self.code.temporal, id, self.times(), fill, &mut Scratch::default())
    }

    /// A run that stands at a snapshot, to ask an atom there.
    pub(crate) fn stand_at<W: Watch>(&self, tick: usize, watch: W) -> Run<'_, &Scene, W> {
        let columns = self.code.channels.iter().map(|quantity| match quantity {
            Quantity::Formula(id) => Arc::clone(&self.formulas[*id as usize].holds),
            other => self.scene.column(*other),
        });
        let conditions = Conditions::over(self.times(), self.slack);
        let mut run = new_run(self.code, self.scene, watch, columns.collect(), conditions);
        (run.tick, run.row, run.time) = (tick, tick, self.scene.times()[tick]);
        run
    }

    /// Of the comparisons that decide a formula the one nearest to flipping, and at which
    /// snapshot.
    pub(crate) fn comparison(&self, root: NodeId, tick: usize) -> Option<(Site, usize)> {
        let mut nearest: Option<(f64, Site, usize)> = None;
        for step in self.steps(root, tick) {
            let Some(atom) = step.atom else { continue };
            let mut comparisons = Vec::new();
            let body = &self.code.blocks[self.code.atoms[atom] as usize].body;
            list_comparisons(body, &mut comparisons);
            let mut run = self.stand_at(step.tick, Nobody);
            for node in comparisons {
                let away = of_comparison(&mut run, node).0.abs();
                if away.is_finite() && nearest.is_none_or(|(least, ..)| away < least) {
                    nearest = Some((away, node.site, step.tick));
                }
            }
        }
        nearest.map(|(_, site, tick)| (site, tick))
    }

    /// What a formula depends on that is not known, and when, in words.
    pub(crate) fn unknown(&self, root: NodeId, tick: usize) -> Option<String> {
        let steps = self.steps(root, tick);
        let is_it = |step: &&Step| step.truth == Truth::Unknown && step.atom.is_some();
        let step = steps.iter().find(is_it)?;
        let block = &self.code.blocks[self.code.atoms[step.atom?] as usize];
        let mut run = self.stand_at(step.tick, Nobody);
        let site = match block.n_locals {
            0 => innermost_unknown(&mut run, &block.body)?,
            _ => block.body.site,
        };
        let text = self.code.text(site).split_whitespace().collect::<Vec<_>>().join(" ");
        let time = self.scene.times()[step.tick];
        Some(format!("the formula depends on `{text}`, which is not known at {time}"))
    }
}

/// The comparison that decides the first formula to be one thing with one slack and another
/// with another, and at which snapshot. A required formula is asked where it is judged, one
/// that events read at every snapshot.
pub(crate) fn flipping_comparison(
    code: &Code,
    scene: &Scene,
    (low, high): (f64, f64),
) -> Option<(Site, usize)> {
    let range = 0..scene.times().len();
    let (formulas, atoms) = formula::columns(code, scene, &range, |_| low);
    let (flipped, _) = formula::columns(code, scene, &range, |_| high);
    let read = code.channels.iter().filter_map(|quantity| match quantity {
        Quantity::Formula(id) => Some(*id),
        _ => None,
    });
    let asked = |id: u32| {
        let differs = |tick: &usize| {
            formulas[id as usize].truth_at(*tick) != flipped[id as usize].truth_at(*tick)
        };
        range.clone().find(differs).map(|tick| (tick, id))
    };
    let required = code.required.iter().filter_map(|id| {
        let tick = code.formulas[*id as usize].judged_at(range.len());
        let differs = formulas[*id as usize].truth_at(tick) != flipped[*id as usize].truth_at(tick);
        differs.then_some((tick, *id))
    });
    let (tick, id) = required.chain(read.filter_map(asked)).min()?;
    let judged =
        Judged { code, scene, range: &range, formulas: &formulas, atoms: &atoms, slack: low };
    judged.comparison(code.formulas[id as usize].root?, tick)
}

/// Comparisons that can be asked by themselves: without temporaries around them.
fn list_comparisons<'n>(node: &'n Expression, out: &mut Vec<&'n Expression>) {
    match &node.op {
        Op::Compare(..) => out.push(node),
        Op::And(..) | Op::Or(..) | Op::Not(_) => {
            node.children().for_each(|child| list_comparisons(child, out));
        }
        _ => {}
    }
}

/// The smallest part of an expression that has no value, or none that is a number.
fn innermost_unknown(run: &mut Run<'_, &Scene, Nobody>, node: &Expression) -> Option<Site> {
    if let Some(within) = node.children().find_map(|child| innermost_unknown(run, child)) {
        return Some(within);
    }
    if let Op::Literal(_) = node.op {
        return None;
    }
    let is_unknown = match run.evaluate(node, NOWHERE) {
        None | Some(Value::Nil) => true,
        Some(Value::Number(number)) => number.value.is_nan(),
        Some(_) => false,
    };
    is_unknown.then_some(node.site)
}
