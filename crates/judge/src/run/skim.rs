//! Looking ahead: which snapshots can be passed over because nothing can happen there.
//!
//! Between two transitions no variable changes, so every event of the active states is a
//! function of the snapshot alone. Where it is made of plain comparisons and arithmetic over
//! clean columns, it is evaluated over hundreds of snapshots at a time, and the machine is
//! stepped again only where one of them may hold. The step itself is the plain one, so
//! looking ahead can cost time but never change an answer: whatever is not understood here,
//! and whatever might be an error there, is simply not passed over.

use std::cell::Cell;
use std::ops::Range;

use headland_base::SimTime;

use crate::code::{Arithmetic, GuardCode, Literal, Node, Op, Target};
use crate::value::{Compare, Number, Value};

use super::eval::{combine, has_slack, takes_second};
use super::machine::{Root, whole_nanos};
use super::{Now, Run, Sweep, Watch};

/// Snapshots evaluated at once. From 128 to 1024 it makes no difference; the buffers of a
/// few operands fit the first cache.
const BLOCK: usize = 256;
/// After a look ahead that gained little, so many snapshots are stepped plainly.
const PATIENCE: usize = 32;
/// What is little.
const WORTHWHILE: usize = 4;
/// Operands within operands; the buffers of each level are on the stack.
const MOST_DEPTH: usize = 12;

/// An event with its variables put in.
enum Lane<'a> {
    /// The same number everywhere.
    Scalar(f64),
    /// Yes or no everywhere.
    Flag(bool),
    /// A clean column.
    Column(&'a [f64]),
    Arithmetic(Arithmetic, Box<(Lane<'a>, Lane<'a>)>),
    Abs(Box<Lane<'a>>),
    Negated(Box<Lane<'a>>),
    /// With the sum of the tolerances and the slack.
    Compare(Compare, Box<(Lane<'a>, Lane<'a>)>, f64, Slack),
    /// A column of 1 and 0.
    YesNo(&'a [f64]),
    And(Box<(Lane<'a>, Lane<'a>)>),
    Or(Box<(Lane<'a>, Lane<'a>)>),
    Not(Box<Lane<'a>>),
}

/// The slack of a comparison, and whether it has any to give.
#[derive(Clone, Copy)]
struct Slack {
    amount: f64,
    is_free: bool,
}

/// What is known about a number beforehand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sanity {
    Finite,
    MayBeInfinite,
    Unknown,
}

/// How far looking ahead has paid lately.
#[derive(Default)]
pub(crate) struct Patience {
    plain_until: usize,
}

/// The first snapshot from `tick` on, and before `end`, at which anything may happen.
pub(crate) fn next_stir<N: Now, W: Watch>(
    run: &mut Run<'_, N, W>,
    times: &[SimTime],
    tick: usize,
    end: usize,
    patience: &mut Patience,
) -> usize {
    if tick < patience.plain_until {
        return tick;
    }
    let (next, turns_at) = look(run, times, tick, end).unwrap_or((tick, f64::INFINITY));
    run.watch.turns_at(turns_at);
    if next - tick < WORTHWHILE {
        patience.plain_until = tick + PATIENCE;
    }
    next
}

/// With the nearest amount at which a comparison that is passed over turns over, where that
/// is sought. `None` where the active states do something at every snapshot, or something that is not
/// understood here.
fn look<N: Now, W: Watch>(
    run: &Run<'_, N, W>,
    times: &[SimTime],
    tick: usize,
    end: usize,
) -> Option<(usize, f64)> {
    let turns_at = Cell::new(f64::INFINITY);
    let mut ahead = Ahead { run, times, tick, end, lanes: Vec::new(), turns_at };
    for root in &run.machines.roots {
        if let Root { instance: Some(instance), red: None } = root {
            ahead.collect(*instance)?;
        }
    }
    let next = first_hit(&ahead.lanes, tick, ahead.end);
    let mut turns_at = f64::INFINITY;
    if let Some(sweep) = run.watch.sweep().filter(|_| next > tick) {
        let lanes = ahead.lanes.iter().map(|lane| lane.turns_at(sweep, tick..next));
        turns_at = lanes.fold(ahead.turns_at.get(), f64::min);
    }
    Some((next, turns_at))
}

struct Ahead<'a, 'c, N, W> {
    run: &'a Run<'c, N, W>,
    times: &'a [SimTime],
    tick: usize,
    /// Something happens here at the latest.
    end: usize,
    lanes: Vec<Lane<'a>>,
    /// The nearest amount at which a comparison of two numbers that never change turns over.
    turns_at: Cell<f64>,
}

impl<'a, N: Now, W: Watch> Ahead<'a, '_, N, W> {
    /// The ways out of an instance's state and of those below it.
    fn collect(&mut self, id: u32) -> Option<()> {
        let run = self.run;
        let instance = &run.machines.instances[id as usize];
        let machine = &run.code.machines[instance.machine as usize];
        let state = &machine.states[instance.state as usize];
        if !state.running.is_empty() {
            return None;
        }
        for &way in &state.ways_out {
            let transition = &machine.transitions[way as usize];
            if transition.target == Target::Missing {
                continue;
            }
            match &transition.guard {
                GuardCode::Missing => {}
                GuardCode::Always => return None,
                GuardCode::AfterNanos(nanos) => {
                    let is_before = |t: &SimTime| (*t - instance.entered).nanos() < *nanos;
                    self.happens_after(is_before);
                }
                GuardCode::AfterBlock(block) => {
                    let block = &run.code.blocks[*block as usize];
                    let (Lane::Scalar(millis), _) = self.number(&block.body, instance.frame, 0)?
                    else {
                        return None;
                    };
                    let nanos = whole_nanos(millis);
                    let is_before = |t: &SimTime| ((*t - instance.entered).nanos() as f64) < nanos;
                    self.happens_after(is_before);
                }
                GuardCode::Block(block) => {
                    let block = &run.code.blocks[*block as usize];
                    if block.n_locals > 0 {
                        return None;
                    }
                    match self.flag(&block.body, instance.frame, 0)? {
                        Lane::Flag(false) => {}
                        Lane::Flag(true) => return None,
                        lane => self.lanes.push(lane),
                    }
                }
            }
        }
        instance.children.iter().try_for_each(|child| self.collect(*child))
    }

    fn happens_after(&mut self, is_before: impl Fn(&SimTime) -> bool) {
        let waiting = self.times[self.tick..self.end].partition_point(is_before);
        self.end = self.end.min(self.tick + waiting);
    }

    /// A condition with its variables put in.
    fn flag(&self, node: &Node, frame: u32, depth: usize) -> Option<Lane<'a>> {
        if depth > MOST_DEPTH {
            return None;
        }
        let deeper = depth + 1;
        Some(match &node.op {
            Op::Literal(Literal::Bool(b)) => Lane::Flag(*b),
            Op::Var(..) | Op::Global(_) => match self.variable(node, frame)? {
                Value::Bool(b) => Lane::Flag(*b),
                _ => return None,
            },
            Op::YesNo(channel) => Lane::YesNo(self.column(*channel)?),
            Op::Compare(compare, a, b) => {
                let (left, r) = self.number(a, frame, deeper)?;
                let (right, s) = self.number(b, frame, deeper)?;
                let is_free = has_slack(node);
                let amount = if is_free { self.run.conditions.slack } else { 0.0 };
                if amount != 0.0 && compare.is_equality() && self.run.is_measured(node) {
                    return None; // slack means something else there
                }
                match (&left, &right) {
                    (Lane::Scalar(x), Lane::Scalar(y)) => {
                        let d = x - y;
                        if d.is_nan() {
                            return None;
                        }
                        if let Some(sweep) = self.run.watch.sweep().filter(|_| is_free) {
                            let turn = sweep.turn(*compare, d, r + s, false);
                            self.turns_at.set(self.turns_at.get().min(turn));
                        }
                        Lane::Flag(compare.holds(d, r + s, amount))
                    }
                    _ => {
                        let slack = Slack { amount, is_free };
                        Lane::Compare(*compare, Box::new((left, right)), r + s, slack)
                    }
                }
            }
            Op::And(a, b) => match (self.flag(a, frame, deeper)?, self.flag(b, frame, deeper)) {
                (Lane::Flag(false), _) => Lane::Flag(false),
                (_, None) => return None,
                (Lane::Flag(true), Some(b)) => b,
                // The left side is asked first: it must not be one that could be an error.
                (a, Some(Lane::Flag(false))) if a.is_safe() => Lane::Flag(false),
                (a, Some(b)) if a.is_safe() => Lane::And(Box::new((a, b))),
                _ => return None,
            },
            Op::Or(a, b) => match (self.flag(a, frame, deeper)?, self.flag(b, frame, deeper)) {
                (Lane::Flag(true), _) => Lane::Flag(true),
                (_, None) => return None,
                (Lane::Flag(false), Some(b)) => b,
                (a, Some(b)) => Lane::Or(Box::new((a, b))),
            },
            Op::Not(a) => match self.flag(a, frame, deeper)? {
                Lane::Flag(b) => Lane::Flag(!b),
                a if a.is_safe() => Lane::Not(Box::new(a)),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// A number with its variables put in, and its tolerance, which must be one number.
    fn number(&self, node: &Node, frame: u32, depth: usize) -> Option<(Lane<'a>, f64)> {
        if depth > MOST_DEPTH {
            return None;
        }
        let deeper = depth + 1;
        Some(match &node.op {
            Op::Literal(Literal::Number(n)) => (Lane::Scalar(*n), 0.0),
            Op::StartTime => (Lane::Scalar(self.run.conditions.start_secs), 0.0),
            Op::StopTime => (Lane::Scalar(self.run.conditions.stop_secs), 0.0),
            Op::Var(..) | Op::Global(_) => match self.variable(node, frame)? {
                Value::Number(n) => (Lane::Scalar(n.value), n.radius),
                _ => return None,
            },
            Op::Channel(channel) => (Lane::Column(self.column(*channel)?), 0.0),
            Op::Tolerance(inner, radius) => {
                let (inner, r) = self.number(inner, frame, deeper)?;
                match self.number(radius, frame, deeper)? {
                    (Lane::Scalar(radius), _) if radius >= 0.0 => (inner, r + radius),
                    _ => return None,
                }
            }
            Op::Abs(a) => {
                let (a, r) = self.number(a, frame, deeper)?;
                (Lane::Abs(Box::new(a)), r)
            }
            Op::Negated(a) => {
                let (a, r) = self.number(a, frame, deeper)?;
                (Lane::Negated(Box::new(a)), r)
            }
            Op::Arithmetic(op, a, b) => {
                let (a, r) = self.number(a, frame, deeper)?;
                let (b, s) = self.number(b, frame, deeper)?;
                arithmetic(*op, (a, r), (b, s))?
            }
            _ => return None,
        })
    }

    fn variable(&self, node: &Node, frame: u32) -> Option<&'a Value> {
        let run = self.run;
        match &node.op {
            Op::Global(slot) => run.globals.get(*slot as usize),
            Op::Var(hops, slot) => {
                let frame = &run.frames[run.frame_out(frame, *hops) as usize];
                frame.values.get(*slot as usize)
            }
            _ => None,
        }
    }

    fn column(&self, channel: u32) -> Option<&'a [f64]> {
        let column = &*self.run.columns[channel as usize];
        column.is_clean().then_some(&column.values[..])
    }
}

fn arithmetic<'a>(
    op: Arithmetic,
    (a, r): (Lane<'a>, f64),
    (b, s): (Lane<'a>, f64),
) -> Option<(Lane<'a>, f64)> {
    if let (Lane::Scalar(x), Lane::Scalar(y)) = (&a, &b) {
        let both = combine(op, Number { value: *x, radius: r }, Number { value: *y, radius: s })?;
        return Some((Lane::Scalar(both.value), both.radius));
    }
    let radius = match (op, &a, &b) {
        (Arithmetic::Add | Arithmetic::Subtract, _, _) => r + s,
        (Arithmetic::Divide, _, Lane::Scalar(y)) if *y != 0.0 && s == 0.0 => {
            if r == 0.0 {
                0.0
            } else {
                r * (1.0 / y).abs()
            }
        }
        (Arithmetic::Divide, _, _) => return None, // by zero somewhere, perhaps
        (_, _, _) if r == 0.0 && s == 0.0 => 0.0,
        (Arithmetic::Multiply, _, Lane::Scalar(y)) if s == 0.0 => r * y.abs(),
        (Arithmetic::Multiply, Lane::Scalar(x), _) if r == 0.0 => s * x.abs(),
        _ => return None, // the tolerance differs from snapshot to snapshot
    };
    Some((Lane::Arithmetic(op, Box::new((a, b))), radius))
}

impl Lane<'_> {
    /// Whether, as a condition, it cannot meet anything that is not a number.
    fn is_safe(&self) -> bool {
        match self {
            Lane::Flag(_) | Lane::YesNo(_) => true,
            Lane::Compare(_, both, ..) => match (both.0.sanity(), both.1.sanity()) {
                // The difference of two infinities is not a number.
                (Sanity::Finite, b) => b != Sanity::Unknown,
                (a, Sanity::Finite) => a != Sanity::Unknown,
                _ => false,
            },
            Lane::And(both) | Lane::Or(both) => both.0.is_safe() && both.1.is_safe(),
            Lane::Not(a) => a.is_safe(),
            _ => unreachable!("a number is no condition"),
        }
    }

    fn sanity(&self) -> Sanity {
        match self {
            Lane::Scalar(x) if x.is_finite() => Sanity::Finite,
            Lane::Scalar(x) if x.is_nan() => Sanity::Unknown,
            Lane::Scalar(_) => Sanity::MayBeInfinite,
            Lane::Column(_) => Sanity::Finite,
            Lane::Abs(a) | Lane::Negated(a) => a.sanity(),
            Lane::Arithmetic(_, both) => match (both.0.sanity(), both.1.sanity()) {
                // Sums and products of finite numbers may overflow, no more.
                (Sanity::Finite, Sanity::Finite) => Sanity::MayBeInfinite,
                _ => Sanity::Unknown,
            },
            _ => unreachable!("a condition is no number"),
        }
    }

    /// Its numbers at the snapshots from `low` on, as many as `out` takes.
    fn numbers(&self, low: usize, out: &mut [f64]) {
        match self {
            Lane::Scalar(x) => out.fill(*x),
            Lane::Column(column) => out.copy_from_slice(&column[low..low + out.len()]),
            Lane::Abs(a) => {
                a.numbers(low, out);
                out.iter_mut().for_each(|x| *x = x.abs());
            }
            Lane::Negated(a) => {
                a.numbers(low, out);
                out.iter_mut().for_each(|x| *x = -*x);
            }
            Lane::Arithmetic(op, both) => {
                let mut other = [0.0; BLOCK];
                let other = &mut other[..out.len()];
                both.0.numbers(low, out);
                both.1.numbers(low, other);
                let pairs = out.iter_mut().zip(other.iter());
                match op {
                    Arithmetic::Add => pairs.for_each(|(a, b)| *a += b),
                    Arithmetic::Subtract => pairs.for_each(|(a, b)| *a -= b),
                    Arithmetic::Multiply => pairs.for_each(|(a, b)| *a *= b),
                    Arithmetic::Divide => pairs.for_each(|(a, b)| *a /= b),
                    Arithmetic::Max => pairs.for_each(|(a, b)| {
                        *a = if takes_second(b > a, *b) { *b } else { *a };
                    }),
                    Arithmetic::Min => pairs.for_each(|(a, b)| {
                        *a = if takes_second(b < a, *b) { *b } else { *a };
                    }),
                }
            }
            _ => unreachable!("a condition is no number"),
        }
    }

    /// The nearest amount at which a comparison in it turns over at any of these snapshots.
    fn turns_at(&self, sweep: Sweep, rows: Range<usize>) -> f64 {
        match self {
            Lane::Compare(compare, both, r, slack) if slack.is_free => {
                let (mut left, mut right) = ([0.0; BLOCK], [0.0; BLOCK]);
                let mut nearest = f64::INFINITY;
                for low in rows.clone().step_by(BLOCK) {
                    let n = BLOCK.min(rows.end - low);
                    both.0.numbers(low, &mut left[..n]);
                    both.1.numbers(low, &mut right[..n]);
                    let pairs = left[..n].iter().zip(&right[..n]);
                    let turns = pairs.map(|(a, b)| sweep.turn(*compare, a - b, *r, false));
                    nearest = turns.fold(nearest, f64::min);
                }
                nearest
            }
            Lane::And(both) | Lane::Or(both) => {
                both.0.turns_at(sweep, rows.clone()).min(both.1.turns_at(sweep, rows))
            }
            Lane::Not(a) => a.turns_at(sweep, rows),
            _ => f64::INFINITY,
        }
    }

    /// Where it holds, as 1 and 0; what might be an error counts as holding.
    fn mask(&self, low: usize, out: &mut [u8]) {
        match self {
            Lane::Flag(b) => out.fill(u8::from(*b)),
            Lane::YesNo(column) => {
                let values = &column[low..low + out.len()];
                out.iter_mut().zip(values).for_each(|(m, x)| *m = u8::from(*x > 0.5));
            }
            Lane::Compare(compare, both, r, slack) => match &**both {
                (Lane::Column(column), Lane::Scalar(x)) if x.is_finite() => {
                    let values = &column[low..low + out.len()];
                    compare_all(*compare, values.iter().map(|v| v - x), *r, slack.amount, out);
                }
                (a, b) => {
                    let (mut left, mut right) = ([0.0; BLOCK], [0.0; BLOCK]);
                    let (left, right) = (&mut left[..out.len()], &mut right[..out.len()]);
                    a.numbers(low, left);
                    b.numbers(low, right);
                    let d = left.iter().zip(right.iter()).map(|(a, b)| a - b);
                    compare_all(*compare, d, *r, slack.amount, out);
                    let odd = left.iter().zip(right.iter());
                    for (m, (a, b)) in out.iter_mut().zip(odd) {
                        *m |= u8::from((a - b).is_nan());
                    }
                }
            },
            // The left side of an `and:` is safe; what might be an error elsewhere holds
            // there, so it is kept wherever it would be asked.
            Lane::And(both) | Lane::Or(both) => {
                let mut other = [0; BLOCK];
                let other = &mut other[..out.len()];
                both.0.mask(low, out);
                both.1.mask(low, other);
                let pairs = out.iter_mut().zip(other.iter());
                if matches!(self, Lane::And(_)) {
                    pairs.for_each(|(a, b)| *a &= b);
                } else {
                    pairs.for_each(|(a, b)| *a |= b);
                }
            }
            Lane::Not(a) => {
                a.mask(low, out);
                out.iter_mut().for_each(|m| *m ^= 1);
            }
            _ => unreachable!("a number is no condition"),
        }
    }
}

/// One loop per comparison, so that each is a plain pass over the numbers.
#[inline]
fn compare_all(
    compare: Compare,
    differences: impl Iterator<Item = f64>,
    r: f64,
    slack: f64,
    out: &mut [u8],
) {
    let each = out.iter_mut().zip(differences);
    match compare {
        Compare::Less => each.for_each(|(m, d)| *m = u8::from(Compare::Less.holds(d, r, slack))),
        Compare::LessEqual => {
            each.for_each(|(m, d)| *m = u8::from(Compare::LessEqual.holds(d, r, slack)));
        }
        Compare::Greater => {
            each.for_each(|(m, d)| *m = u8::from(Compare::Greater.holds(d, r, slack)));
        }
        Compare::GreaterEqual => {
            each.for_each(|(m, d)| *m = u8::from(Compare::GreaterEqual.holds(d, r, slack)));
        }
        Compare::Equal => each.for_each(|(m, d)| *m = u8::from(Compare::Equal.holds(d, r, slack))),
        Compare::NotEqual => {
            each.for_each(|(m, d)| *m = u8::from(Compare::NotEqual.holds(d, r, slack)));
        }
    }
}

/// The first snapshot at which any lane holds; blocks grow while nothing does.
fn first_hit(lanes: &[Lane<'_>], from: usize, end: usize) -> usize {
    if lanes.is_empty() {
        return end;
    }
    let mut mask = [0; BLOCK];
    let (mut low, mut size) = (from, BLOCK / 8);
    while low < end {
        let mut n = size.min(end - low);
        let mut hit = None;
        for lane in lanes {
            lane.mask(low, &mut mask[..n]);
            if let Some(i) = mask[..n].iter().position(|m| *m != 0) {
                hit = Some(low + i);
                n = i; // the others matter only before it
            }
        }
        if let Some(hit) = hit {
            return hit;
        }
        low += n;
        size = (size * 2).min(BLOCK);
    }
    end
}
