//! Why a test is red: the transition, the event, its parts with their values, and the
//! assignments that fed them.
//!
//! ```text
//! bouncer: *-> red at 0.4 s
//!   higher                        true
//!     higher := ball pose z > top true      at 0.3 s
//!       ball pose z               1.3
//!       top                       1.0
//!         top := ball pose z      1.0      at 0 s
//! ```
//!
//! A machine that ended elsewhere than in green is explained by the ways out of its last
//! state and what each of them was at the last snapshot. A formula, required or read by an
//! event, is explained by the parts that decide it (`blame`), down to its atoms' values.

mod stretch;
mod witness;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use headland_base::SimTime;

use crate::blame::{Judged, Step};
use crate::code::{Code, GuardCode, Node, Op, Site};
use crate::formula;
use crate::judge::{JudgeOptions, judge_watched};
use crate::scene::Scene;
use crate::temporal::{NodeId, Truth};
use crate::value::Value;
use crate::verdict::{Judgement, RootVerdict, Verdict};
use crate::vocabulary::Quantity;

use stretch::{shortest, shortest_formula};
use witness::Witness;

/// Assignments that fed assignments are followed so far.
const MOST_DEPTH: u8 = 4;
/// Lines of one block with all that fed it; nobody reads more.
const MOST_LINES: usize = 400;

/// One line of an explanation.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// How far in.
    pub depth: usize,
    /// Where in the program.
    pub site: Site,
    /// What stands there.
    pub text: String,
    /// What it was.
    pub value: String,
    /// When, for an assignment and for a part of a formula.
    pub time: Option<SimTime>,
}

/// Why one root is red.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The root's name.
    pub root: String,
    /// What happened, in words.
    pub headline: String,
    /// When.
    pub time: SimTime,
    /// Parts, values and assignments.
    pub lines: Vec<Line>,
    /// The shortest stretch of snapshots found that still gives the same red.
    pub stretch: Option<Range<usize>>,
}

/// Explains every root that is red, and every formula that is not decided.
pub fn explain(code: &Code, scene: &Arc<Scene>, judgement: &Judgement) -> Vec<Explanation> {
    let is_wanted = |root: &&RootVerdict| match root.verdict {
        Verdict::Red => true,
        Verdict::Inconclusive => root.robustness.is_some(),
        Verdict::Green | Verdict::Error => false,
    };
    let wanted: Vec<&RootVerdict> = judgement.roots.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let range = 0..scene.times().len();
    let (formulas, atoms) = formula::columns(code, scene, &range, |_| 0.0);
    let judged =
        Judged { code, scene, range: &range, formulas: &formulas, atoms: &atoms, slack: 0.0 };
    let explainer = Explainer { code, scene, judged, reads: formula_reads(code) };
    wanted.into_iter().map(|root| explainer.root(root)).collect()
}

struct Explainer<'a> {
    code: &'a Code,
    scene: &'a Arc<Scene>,
    judged: Judged<'a>,
    /// Places where a block reads a formula.
    reads: BTreeMap<Site, NodeId>,
}

/// Where blocks read formulas, and which.
fn formula_reads(code: &Code) -> BTreeMap<Site, NodeId> {
    fn walk(code: &Code, node: &Node, out: &mut BTreeMap<Site, NodeId>) {
        if let Op::YesNo(channel) = node.op
            && let Quantity::Formula(id) = code.channels[channel as usize]
            && let Some(root) = code.formulas[id as usize].root
        {
            out.insert(node.site, root);
        }
        node.children().for_each(|child| walk(code, child, out));
    }
    let mut out = BTreeMap::new();
    code.blocks.iter().for_each(|block| walk(code, &block.body, &mut out));
    out
}

impl Explainer<'_> {
    fn root(&self, root: &RootVerdict) -> Explanation {
        let (code, scene) = (self.code, self.scene);
        let (headline, lines, stretch);
        if root.robustness.is_some() {
            headline = format!("{}: {}", root.name, root.reason);
            let required = code.required.iter().map(|id| &code.formulas[*id as usize]);
            let node = required.filter(|f| f.name == root.name).find_map(|formula| formula.root);
            let steps = node.map_or(Vec::new(), |node| self.judged.steps(node, root.tick));
            lines = self.lines_of(&steps, 0, 0);
            let is_red = root.verdict == Verdict::Red;
            stretch = is_red.then(|| shortest_formula(code, scene, &root.name, &steps)).flatten();
        } else {
            let wanted = root.by.map(|by| (root.tick, by));
            let mut watch = Witness::new(code, scene);
            watch.wanted = wanted;
            // Looking ahead passes over snapshots, but every block that matters is still run.
            judge_watched(code, scene, &JudgeOptions::default(), &mut watch);
            let seen;
            (headline, seen) = match root.by {
                Some((machine, transition)) => {
                    let machine = &code.machines[machine as usize];
                    let transition = &machine.transitions[transition as usize];
                    let why = match &transition.guard {
                        GuardCode::Always => " always fires".to_string(),
                        GuardCode::AfterNanos(nanos) => format!(" after {} ms", nanos / 1_000_000),
                        _ => String::new(),
                    };
                    let headline = format!("{}: {}{why}", machine.name, transition.arc);
                    (headline, watch.seen.unwrap_or_default())
                }
                None => {
                    let headline =
                        format!("{}: {}, and no way out held there", root.path, root.reason);
                    (headline, watch.last())
                }
            };
            lines = self.with_formulas(seen, root.tick);
            stretch = root.by.and_then(|by| shortest(code, scene, root.tick, by));
        }
        Explanation { root: root.name.clone(), headline, time: root.time, lines, stretch }
    }

    /// What was read of formulas, each with the parts that make it so. What fed an assignment
    /// was read when that was made.
    fn with_formulas(&self, lines: Vec<Line>, tick: usize) -> Vec<Line> {
        if self.reads.is_empty() {
            return lines;
        }
        let mut out = Vec::new();
        let mut assigned: Vec<(usize, usize)> = Vec::new();
        for line in lines {
            assigned.retain(|(depth, _)| *depth < line.depth);
            if let Some(time) = line.time {
                let after = self.scene.times().partition_point(|t| *t <= time);
                assigned.push((line.depth, after.saturating_sub(1)));
            }
            let at = assigned.last().map_or(tick, |(_, tick)| *tick);
            let (depth, formula) = (line.depth, self.reads.get(&line.site));
            out.push(line);
            if let Some(formula) = formula
                && out.len() < MOST_LINES
            {
                out.extend(self.lines_of(&self.judged.steps(*formula, at), depth + 1, 0));
            }
        }
        out
    }

    /// Parts of a formula, and what its atoms are made of.
    fn lines_of(&self, steps: &[Step], depth: usize, n_formulas: u8) -> Vec<Line> {
        let mut out = Vec::new();
        for step in steps {
            let site = self.code.temporal_sites[step.node.index()];
            let text = one_line(self.code.text(site));
            let text = match step.atom {
                Some(_) => one_line(text.trim_start_matches('[').trim_end_matches(']')),
                None => text,
            };
            let (value, time) = (degree(step), Some(self.scene.times()[step.tick]));
            out.push(Line { depth: depth + step.depth, site, text: text.clone(), value, time });
            let Some(atom) = step.atom else { continue };
            for mut line in self.atom(atom, step.tick) {
                // The whole was said with the formula.
                if line.text == text {
                    continue;
                }
                line.depth += depth + step.depth + usize::from(line.depth == 0);
                let (site, at) = (line.site, line.depth + 1);
                out.push(line);
                if let Some(formula) = self.reads.get(&site)
                    && n_formulas < MOST_DEPTH
                {
                    let steps = self.judged.steps(*formula, step.tick);
                    out.extend(self.lines_of(&steps, at, n_formulas + 1));
                }
            }
            if out.len() >= MOST_LINES {
                break;
            }
        }
        out
    }

    fn atom(&self, atom: usize, tick: usize) -> Vec<Line> {
        let mut watch = Witness::new(self.code, self.scene);
        let block = &self.code.blocks[self.code.atoms[atom] as usize];
        self.judged.stand_at(tick, &mut watch).evaluate_block(block);
        watch.lines()
    }
}

/// `false by 0.1`, `true`, `not known`.
fn degree(step: &Step) -> String {
    let word = match step.truth {
        Truth::True => "true",
        Truth::False => "false",
        Truth::Unknown => return "not known".to_string(),
    };
    if !step.robustness.is_finite() {
        return word.to_string();
    }
    // Six digits: the rest is what the difference of two numbers rounds to.
    let by = step.robustness.abs();
    let by: f64 = format!("{by:.5e}").parse().unwrap_or(by);
    format!("{word} by {}", Value::number(by))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
