//! Temporal formulas over a recording.
//!
//! ```text
//! atom, a block ─► by how much it holds at every snapshot ─► temporal ─► the formula's column
//! ```
//!
//! A comparison holds by the distance to where it would flip: `b − a` for `a < b`, with the
//! tolerance on its side. `and:` is the smaller of two, `or:` the larger, `not` the negative.
//! Yes and no hold without limit.

use std::ops::Range;
use std::sync::Arc;

use headland_base::SimTime;

use crate::code::{BlockCode, Code, FormulaCode, Literal, Node, Op};
use crate::judge::new_run;
use crate::run::eval::{Give, combine, has_slack};
use crate::run::{Conditions, Env, NONE, Nobody, Now, Run, Watch};
use crate::scene::{Column, Scene};
use crate::temporal::{self, Degree, Robustness, Truth};
use crate::value::{Compare, Number, Value, difference};
use crate::verdict::{RootVerdict, Verdict};
use crate::vocabulary::Quantity;

/// A formula at every snapshot.
pub(crate) struct Evaluated {
    /// By how much it holds; NaN where that is not known. Of the judged snapshots only.
    robustness: Vec<f64>,
    truth: Vec<Truth>,
    /// Whether it holds, 1 and 0, by the recording's own snapshot numbers.
    pub holds: Arc<Column>,
}

/// Every formula of a program over some snapshots of a recording, and their atoms.
pub(crate) fn columns(
    code: &Code,
    scene: &Scene,
    range: &Range<usize>,
    slack_at: impl Fn(usize) -> f64,
) -> (Vec<Evaluated>, Vec<Atom>) {
    if code.formulas.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let times = &scene.times()[range.clone()];
    let unknown = Arc::new(Column::new(vec![f64::NAN; range.end], range.end));
    let channels = code.channels.iter().map(|quantity| match quantity {
        // A formula is known to those after it.
        Quantity::Formula(_) => Arc::clone(&unknown),
        other => scene.column(*other),
    });
    let conditions = Conditions::over(times, slack_at(range.start));
    let mut run = new_run(code, scene, Nobody, channels.collect(), conditions);
    let mut out: Vec<Evaluated> = Vec::new();
    let mut atoms: Vec<Atom> = Vec::new();
    for (id, formula) in code.formulas.iter().enumerate() {
        for block in &code.atoms[atoms.len()..formula.n_atoms] {
            let block = &code.blocks[*block as usize];
            let mut atom = Atoms { run: &mut run, range, times, slack_at: &slack_at };
            atoms.push(atom.of_block(block));
        }
        let evaluated = match formula.root {
            None => Evaluated {
                robustness: vec![f64::NAN; range.len()],
                truth: vec![Truth::Unknown; range.len()],
                holds: Arc::clone(&unknown),
            },
            Some(root) => {
                let degrees: Vec<&[f64]> = atoms.iter().map(|a| &a.robustness[..]).collect();
                let truths: Vec<&[Truth]> = atoms.iter().map(|a| &a.truth[..]).collect();
                let truth = temporal::truth(&code.temporal, root, times, &truths);
                let holds = truth.iter().map(|truth| match truth {
                    Truth::True => 1.0,
                    Truth::False => 0.0,
                    Truth::Unknown => f64::NAN,
                });
                let before = std::iter::repeat_n(f64::NAN, range.start);
                Evaluated {
                    robustness: temporal::robustness(&code.temporal, root, times, &degrees),
                    holds: Arc::new(Column::new(before.chain(holds).collect(), range.start)),
                    truth,
                }
            }
        };
        let own = Quantity::Formula(id as u32);
        if let Some(channel) = code.channels.iter().position(|quantity| *quantity == own) {
            run.columns[channel] = Arc::clone(&evaluated.holds);
        }
        out.push(evaluated);
    }
    (out, atoms)
}

impl Evaluated {
    /// Whether it holds at one of the judged snapshots.
    pub(crate) fn truth_at(&self, i: usize) -> Truth {
        self.truth[i]
    }

    /// The formula as a whole: its first value, or its last where it only looks back.
    pub(crate) fn verdict(
        &self,
        formula: &FormulaCode,
        range: &Range<usize>,
        times: &[SimTime],
    ) -> RootVerdict {
        let i = formula.judged_at(range.len());
        let tick = range.start + i;
        let robustness = Some(self.robustness[i]);
        RootVerdict { robustness, ..verdict_of(formula, self.truth[i], tick, times[tick]) }
    }
}

/// The verdict of a formula that is so true at the snapshot that decides it; how far it is
/// from the opposite is left open.
pub(crate) fn verdict_of(
    formula: &FormulaCode,
    truth: Truth,
    tick: usize,
    time: SimTime,
) -> RootVerdict {
    let (verdict, reason) = match truth {
        Truth::True => (Verdict::Green, "the formula holds"),
        Truth::False => (Verdict::Red, "the formula does not hold"),
        Truth::Unknown if formula.root.is_none() => {
            (Verdict::Error, "the formula could not be read, or needs itself")
        }
        Truth::Unknown => (Verdict::Inconclusive, "the formula depends on an unknown value"),
    };
    RootVerdict {
        name: formula.name.clone(),
        verdict,
        time,
        tick,
        path: formula.name.clone(),
        reason: reason.to_string(),
        robustness: Some(f64::NAN),
        by: None,
    }
}

/// A formula sees no machine.
pub(crate) const NOWHERE: Env = Env { frame: NONE, activation: NONE };

fn of_numbers(compare: Compare, give: Give, a: Number, b: Number, slack: f64) -> (f64, Truth) {
    let Some(d) = difference(a, b) else { return (f64::NAN, Truth::Unknown) };
    let (r, is_measured) = (a.radius + b.radius, give.is_measured);
    let slack = if give.has_slack { slack } else { 0.0 };
    let holds = compare.holds_as(is_measured, d, r, slack);
    (compare.distance(is_measured, d, r, slack), Truth::from(holds))
}

/// Tells a search through slacks how far each formula is from turning over. Its robustness
/// changes no faster than the slack, so nothing turns over before that.
pub(crate) fn turn<W: Watch>(code: &Code, formulas: &[Evaluated], slack: f64, watch: &mut W) {
    let mut tell = |robustness: f64| {
        if robustness.is_nan() {
            watch.blurs();
        } else {
            // At zero it may turn over at once.
            watch.turns_at(slack.abs() + robustness.abs().max(f64::EPSILON * slack.abs()));
        }
    };
    for (id, evaluated) in (0..).zip(formulas) {
        if code.channels.contains(&Quantity::Formula(id)) {
            evaluated.robustness.iter().for_each(|robustness| tell(*robustness));
        } else if code.required.contains(&id) {
            let first = evaluated.robustness.first();
            let looks_back = code.formulas[id as usize].looks_back;
            let decides = if looks_back { evaluated.robustness.last() } else { first };
            tell(decides.copied().unwrap_or(f64::NAN));
        }
    }
}

/// A comparison at the snapshot at hand, of whatever is compared. What is nil is not known.
pub(crate) fn of_comparison<N: Now>(run: &mut Run<'_, N, Nobody>, node: &Node) -> (f64, Truth) {
    let Op::Compare(compare, a, b) = &node.op else { unreachable!("called with one") };
    let (give, slack) = (run.give(node), run.conditions.slack);
    match (run.evaluate(a, NOWHERE), run.evaluate(b, NOWHERE)) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => of_numbers(*compare, give, a, b, slack),
        (None | Some(Value::Nil), _) | (_, None | Some(Value::Nil)) => (f64::NAN, Truth::Unknown),
        _ => degree_of(run.evaluate(node, NOWHERE)),
    }
}

/// Yes and no hold without limit.
pub(crate) fn degree_of(value: Option<Value>) -> (f64, Truth) {
    match value {
        Some(Value::Bool(true)) => (f64::INFINITY, Truth::True),
        Some(Value::Bool(false)) => (f64::NEG_INFINITY, Truth::False),
        _ => (f64::NAN, Truth::Unknown),
    }
}

/// An atom at every judged snapshot.
pub(crate) struct Atom {
    pub robustness: Vec<f64>,
    pub truth: Vec<Truth>,
}

/// A number at every judged snapshot.
enum Operand {
    /// The same everywhere.
    Scalar(Number),
    /// One each, with one tolerance for all.
    Column(Vec<f64>, f64),
    /// One each; `None` where there is none.
    Each(Vec<Option<Number>>),
}

impl Operand {
    fn at(&self, i: usize) -> Option<Number> {
        match self {
            Operand::Scalar(n) => Some(*n),
            Operand::Column(values, radius) => Some(Number { value: values[i], radius: *radius }),
            Operand::Each(numbers) => numbers[i],
        }
    }
}

struct Atoms<'r, 'c> {
    run: &'r mut Run<'c, &'c Scene, Nobody>,
    range: &'r Range<usize>,
    times: &'r [SimTime],
    slack_at: &'r dyn Fn(usize) -> f64,
}

impl Atoms<'_, '_> {
    /// A block with temporaries is asked as a whole: its parts mean nothing without them.
    fn of_block(&mut self, block: &BlockCode) -> Atom {
        if block.n_locals == 0 {
            return self.degrees(&block.body);
        }
        let n = self.times.len();
        let at = |i: usize| {
            self.stand_at(i);
            degree_of(self.run.evaluate_block(block))
        };
        let (robustness, truth) = (0..n).map(at).unzip();
        Atom { robustness, truth }
    }

    fn degrees(&mut self, node: &Node) -> Atom {
        match &node.op {
            Op::Compare(..) => self.comparison(node),
            Op::And(a, b) | Op::Or(a, b) => {
                let (mut first, second) = (self.degrees(a), self.degrees(b));
                let is_and = matches!(node.op, Op::And(..));
                let pick = |a: f64, b: f64| {
                    let (a, b) = (Robustness::new(a), Robustness::new(b));
                    if is_and { a.min(b).value() } else { a.max(b).value() }
                };
                let numbers = first.robustness.iter_mut().zip(&second.robustness);
                numbers.for_each(|(a, b)| *a = pick(*a, *b));
                let truths = first.truth.iter_mut().zip(&second.truth);
                truths.for_each(|(a, b)| *a = if is_and { (*a).min(*b) } else { (*a).max(*b) });
                first
            }
            Op::Not(a) => {
                let mut inner = self.degrees(a);
                inner.robustness.iter_mut().for_each(|r| *r = -*r);
                inner.truth.iter_mut().for_each(|truth| *truth = truth.not());
                inner
            }
            // Anything, asked at every snapshot.
            _ => {
                let n = self.times.len();
                let at = |i: usize| degree_of(self.ask(node, i));
                let (robustness, truth) = (0..n).map(at).unzip();
                Atom { robustness, truth }
            }
        }
    }

    fn ask(&mut self, node: &Node, i: usize) -> Option<Value> {
        self.stand_at(i);
        self.run.evaluate(node, NOWHERE)
    }

    fn stand_at(&mut self, i: usize) {
        let tick = self.range.start + i;
        (self.run.tick, self.run.row, self.run.time) = (tick, tick, self.times[i]);
        self.run.conditions.slack = (self.slack_at)(tick);
    }

    fn comparison(&mut self, node: &Node) -> Atom {
        let Op::Compare(compare, a, b) = &node.op else { unreachable!("called with one") };
        let is_measured = compare.is_equality() && self.run.is_measured(node);
        let give = Give { has_slack: has_slack(node), is_measured };
        let (a, b) = (self.operand(a), self.operand(b));
        let n = self.times.len();
        let mut out = Atom { robustness: Vec::with_capacity(n), truth: Vec::with_capacity(n) };
        for i in 0..n {
            let (robustness, truth) = match (a.at(i), b.at(i)) {
                (Some(a), Some(b)) => {
                    let slack = (self.slack_at)(self.range.start + i);
                    of_numbers(*compare, give, a, b, slack)
                }
                // Not known, or texts and the like: asked one by one.
                _ => {
                    self.stand_at(i);
                    of_comparison(self.run, node)
                }
            };
            out.robustness.push(robustness);
            out.truth.push(truth);
        }
        out
    }

    fn operand(&mut self, node: &Node) -> Operand {
        match &node.op {
            Op::Literal(Literal::Number(n)) => Operand::Scalar(Number::exact(*n)),
            Op::StartTime => Operand::Scalar(Number::exact(self.run.conditions.start_secs)),
            Op::StopTime => Operand::Scalar(Number::exact(self.run.conditions.stop_secs)),
            Op::Channel(channel) => {
                let column = &self.run.columns[*channel as usize];
                if self.range.start < column.first_known {
                    return self.asked(node);
                }
                Operand::Column(column.values[self.range.clone()].to_vec(), 0.0)
            }
            Op::Tolerance(inner, radius) => match (self.operand(inner), self.operand(radius)) {
                (Operand::Column(values, r), Operand::Scalar(radius)) if radius.value >= 0.0 => {
                    Operand::Column(values, r + radius.value)
                }
                _ => self.asked(node),
            },
            Op::Arithmetic(op, a, b) => {
                let (a, b) = (self.operand(a), self.operand(b));
                let both = |i: usize| combine(*op, a.at(i)?, b.at(i)?);
                Operand::Each((0..self.times.len()).map(both).collect())
            }
            _ => self.asked(node),
        }
    }

    fn asked(&mut self, node: &Node) -> Operand {
        let n = self.times.len();
        let ask = |i: usize| match self.ask(node, i) {
            Some(Value::Number(n)) => Some(n),
            _ => None,
        };
        Operand::Each((0..n).map(ask).collect())
    }
}
