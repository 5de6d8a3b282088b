//! The short way through plain conditions: comparisons and arithmetic over the snapshot and
//! variables that hold numbers, without making a value of every part.
//!
//! Whatever is odd (nil, not a number, a division by zero, a message) is `None`, and the
//! whole block goes the long way, which says what is wrong. Nothing here has an effect, so
//! going both ways costs time only.

use crate::code::{Literal, Node, Op};
use crate::value::{Number, Value};

use super::eval::{combine, has_slack};
use super::{Now, Run, Watch};

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

    #[inline]
    fn quick_number(&self, node: &Node, frame: u32) -> Option<Number> {
        Some(match &node.op {
            Op::Channel(channel) => Number::exact(self.quick_channel(*channel)?),
            Op::Literal(Literal::Number(n)) => Number::exact(*n),
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

    fn quick_variable(&self, hops: u32, slot: u32, mut frame: u32) -> &Value {
        for _ in 0..hops {
            frame = self.frames[frame as usize].outer;
        }
        &self.frames[frame as usize].values[slot as usize]
    }
}
