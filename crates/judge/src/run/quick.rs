//! The short way through plain conditions: comparisons and arithmetic over the snapshot and
//! variables that hold numbers, without making a value of every part.
//!
//! Whatever is odd (nil, not a number, a division by zero, a message) is `None`, and the
//! whole block goes the long way, which says what is wrong. Nothing here has an effect, so
//! going both ways costs time only.

use headland_base::SimTime;

use crate::code::{GuardCode, Literal, Node, Op, Target};
use crate::value::{Number, Value};

use super::eval::{combine, has_slack};
use super::machine::Root;
use super::{Now, Run, Watch};

/// A way out of a state that is active.
enum Ready<'c> {
    /// A condition, and the variables it sees.
    Flag(&'c Node, u32),
    /// A moment.
    At(SimTime),
}

/// Every way out of the states that are active, while they are.
#[derive(Default)]
pub(crate) struct WaysOut<'c> {
    ready: Vec<Ready<'c>>,
    /// Whether that is all that can happen: no state runs anything or always leaves.
    is_all: bool,
}

impl<'c> WaysOut<'c> {
    /// To be asked again after every step.
    pub(crate) fn find<N: Now, W: Watch>(&mut self, run: &Run<'c, N, W>) {
        self.ready.clear();
        let roots = run.machines.roots.iter();
        let active = roots.filter_map(|root| match root {
            Root { instance, red: None } => *instance,
            _ => None,
        });
        // Somebody who looks on must see every event that is asked.
        self.is_all = !W::SEES && active.into_iter().all(|id| self.of_instance(run, id));
    }

    fn of_instance<N: Now, W: Watch>(&mut self, run: &Run<'c, N, W>, id: u32) -> bool {
        let instance = &run.machines.instances[id as usize];
        let machine = &run.code.machines[instance.machine as usize];
        let state = &machine.states[instance.state as usize];
        if !state.running.is_empty() {
            return false;
        }
        for &way in &state.ways_out {
            let transition = &machine.transitions[way as usize];
            if transition.target == Target::Missing {
                continue;
            }
            self.ready.push(match &transition.guard {
                GuardCode::Missing => continue,
                GuardCode::Block(block) => {
                    Ready::Flag(&run.code.blocks[*block as usize].body, instance.frame)
                }
                GuardCode::AfterNanos(nanos) => {
                    let Some(at) = instance.entered.nanos().checked_add(*nanos) else { continue };
                    Ready::At(SimTime::from_nanos(at))
                }
                GuardCode::Always | GuardCode::AfterBlock(_) => return false,
            });
        }
        instance.children.iter().all(|child| self.of_instance(run, *child))
    }

    /// Whether nothing happens at the snapshot at hand: a step there would change nothing.
    #[inline]
    pub(crate) fn are_shut<N: Now, W: Watch>(&self, run: &Run<'c, N, W>) -> bool {
        self.is_all
            && self.ready.iter().all(|way| match way {
                Ready::Flag(node, frame) => run.quick_flag(node, *frame) == Some(false),
                Ready::At(time) => run.time < *time,
            })
    }
}

impl<N: Now, W: Watch> Run<'_, N, W> {
    /// A condition, where it is a plain one.
    pub(super) fn quick_flag(&self, node: &Node, frame: u32) -> Option<bool> {
        Some(match &node.op {
            Op::Compare(compare, a, b) => {
                let (a, b) = (self.quick_number(a, frame)?, self.quick_number(b, frame)?);
                let d = a.value - b.value;
                if d.is_nan() {
                    return None;
                }
                let slack = self.conditions.slack;
                let slack = if slack != 0.0 && has_slack(node) { slack } else { 0.0 };
                if slack != 0.0 && compare.is_equality() && self.is_measured(node) {
                    return None; // slack means something else there
                }
                compare.holds(d, a.radius + b.radius, slack)
            }
            Op::And(a, b) => self.quick_flag(a, frame)? && self.quick_flag(b, frame)?,
            Op::Or(a, b) => self.quick_flag(a, frame)? || self.quick_flag(b, frame)?,
            Op::Not(a) => !self.quick_flag(a, frame)?,
            Op::YesNo(channel) => self.quick_channel(*channel)? > 0.5,
            Op::Literal(Literal::Bool(b)) => *b,
            Op::Var(hops, slot) => match self.quick_variable(*hops, *slot, frame) {
                Value::Bool(b) => *b,
                _ => return None,
            },
            Op::Global(slot) => match &self.globals[*slot as usize] {
                Value::Bool(b) => *b,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// A number, where it is a plain one. The two that tests are full of are looked at
    /// first, without a call.
    #[inline(always)]
    fn quick_number(&self, node: &Node, frame: u32) -> Option<Number> {
        match &node.op {
            Op::Channel(channel) => Some(Number::exact(self.quick_channel(*channel)?)),
            Op::Literal(Literal::Number(n)) => Some(Number::exact(*n)),
            _ => self.longer_number(node, frame),
        }
    }

    fn longer_number(&self, node: &Node, frame: u32) -> Option<Number> {
        Some(match &node.op {
            Op::Tolerance(inner, radius) => {
                let (inner, radius) =
                    (self.quick_number(inner, frame)?, self.quick_number(radius, frame)?);
                if radius.value < 0.0 || radius.value.is_nan() {
                    return None;
                }
                Number { value: inner.value, radius: inner.radius + radius.value }
            }
            Op::StartTime => Number::exact(self.conditions.start_secs),
            Op::StopTime => Number::exact(self.conditions.stop_secs),
            Op::Var(hops, slot) => match self.quick_variable(*hops, *slot, frame) {
                Value::Number(n) => *n,
                _ => return None,
            },
            Op::Global(slot) => match &self.globals[*slot as usize] {
                Value::Number(n) => *n,
                _ => return None,
            },
            Op::Arithmetic(op, a, b) => {
                combine(*op, self.quick_number(a, frame)?, self.quick_number(b, frame)?)?
            }
            Op::Abs(a) => {
                let n = self.quick_number(a, frame)?;
                Number { value: n.value.abs(), ..n }
            }
            Op::Negated(a) => {
                let n = self.quick_number(a, frame)?;
                Number { value: -n.value, ..n }
            }
            _ => return None,
        })
    }

    #[inline]
    fn quick_channel(&self, channel: u32) -> Option<f64> {
        let value = self.columns[channel as usize].values[self.row];
        (!value.is_nan()).then_some(value)
    }

    fn quick_variable(&self, hops: u32, slot: u32, frame: u32) -> &Value {
        &self.frames[self.frame_out(frame, hops) as usize].values[slot as usize]
    }
}
