//! Nodes into values.

use crate::code::{Arithmetic, BlockCode, Literal, Node, Op, Site};
use crate::value::{Closure, Compare, Number, Value, Vector, difference};
use crate::vocabulary::{Quantity, Six};

use super::{
    Activation, Compared, Env, Evaluated, FUEL, Failure, FailureKind, Frame, MESSAGE_FUEL,
    MOST_CALLS, MOST_KEPT, MOST_MESSAGES, MOST_NESTED, NONE, Now, Run, Stop, Watch,
};

/// Values of an array that are copied in about the time of one message.
const VALUES_PER_FUEL: usize = 64;

impl<N: Now, W: Watch> Run<'_, N, W> {
    /// Runs a block of the program itself; `None` where it was abandoned.
    pub(crate) fn run_block(&mut self, block: u32, frame: u32) -> Option<Value> {
        self.fuel = FUEL;
        self.n_calls = 0;
        self.met_first_sample.set(false);
        self.watch.begins(self.tick, block);
        let code = self.code;
        let block = &code.blocks[block as usize];
        let activation =
            if block.n_locals == 0 { NONE } else { self.activate(block.n_locals, NONE, &[]) };
        let mut result = self.eval(&block.body, Env { frame, activation });
        // A first value may be a block that sees the temporaries of its initialiser.
        if let Ok(value) | Err(Stop::Return(value)) = &result
            && let Err(stop) = self.keep_if_block(value, block.site)
        {
            result = Err(stop);
        }
        self.forget_activations();
        match result {
            Ok(value) | Err(Stop::Return(value)) => Some(value),
            // Nothing has a rate of change at its first sample. That is nobody's fault: the
            // block is abandoned and nothing is counted.
            Err(Stop::Failed(failure))
                if failure.kind == FailureKind::Wrong && self.met_first_sample.get() =>
            {
                None
            }
            Err(Stop::Failed(failure)) => {
                self.note_failure(*failure);
                None
            }
        }
    }

    /// A node on its own, outside any machine; `None` where it is an error.
    pub(crate) fn evaluate(&mut self, node: &Node, env: Env) -> Option<Value> {
        self.fuel = FUEL;
        self.n_calls = 0;
        self.is_mute = true;
        let result = self.eval(node, env);
        self.is_mute = false;
        self.forget_activations();
        match result {
            Ok(value) | Err(Stop::Return(value)) => Some(value),
            Err(Stop::Failed(_)) => None,
        }
    }

    /// The same for a block with temporaries of its own.
    pub(crate) fn evaluate_block(&mut self, block: &BlockCode) -> Option<Value> {
        let activation =
            if block.n_locals == 0 { NONE } else { self.activate(block.n_locals, NONE, &[]) };
        self.evaluate(&block.body, Env { frame: NONE, activation })
    }

    fn activate(&mut self, n_locals: usize, outer: u32, args: &[Value]) -> u32 {
        let mut values = args.to_vec();
        values.resize(n_locals, Value::Nil);
        self.activations.push(Activation { outer, values });
        u32::try_from(self.activations.len() - 1).expect("bounded by fuel and what is kept")
    }

    /// Temporaries end with the block, unless a variable now holds a block that sees them.
    fn forget_activations(&mut self) {
        if self.has_escaped {
            self.has_escaped = false;
            self.n_kept = self.activations.len();
        } else {
            self.activations.truncate(self.n_kept);
        }
    }

    /// A node's value; expressions within expressions are counted.
    pub(crate) fn eval(&mut self, node: &Node, env: Env) -> Evaluated {
        if self.n_nested >= MOST_NESTED {
            let words = format!("expressions nest more than {MOST_NESTED} deep");
            return self.exhausted(node.site, words);
        }
        let Some(rest) = self.fuel.checked_sub(1) else {
            return self.exhausted(node.site, format!("a block took more than {FUEL} steps"));
        };
        self.fuel = rest;
        self.n_nested += 1;
        let value = self.eval_nested(node, env);
        self.n_nested -= 1;
        value
    }

    fn eval_nested(&mut self, node: &Node, env: Env) -> Evaluated {
        let value = match &node.op {
            Op::Compare(compare, a, b) => {
                let (a, b) = (self.eval(a, env)?, self.eval(b, env)?);
                let give = self.give(node);
                Value::Bool(self.compare(*compare, node.site, give, &a, &b)?)
            }
            Op::Channel(channel) => self.read_channel(*channel),
            Op::YesNo(channel) => match self.read_channel(*channel) {
                // Neither yes nor no is not known.
                Value::Number(n) if n.value.is_nan() => Value::Nil,
                Value::Number(n) => Value::Bool(n.value > 0.5),
                other => other,
            },
            Op::Literal(literal) => of_literal(literal),
            Op::Var(hops, slot) => {
                let frame = self.frame_out(env.frame, *hops);
                self.watch.read(node.site, Some(frame), *slot);
                self.frames[frame as usize].values[*slot as usize].clone()
            }
            Op::Global(slot) => {
                self.watch.read(node.site, None, *slot);
                self.globals[*slot as usize].clone()
            }
            Op::Local(hops, slot) => {
                let activation = self.activation_out(env.activation, *hops);
                self.activations[activation as usize].values[*slot as usize].clone()
            }
            Op::StartTime => Value::number(self.conditions.start_secs),
            Op::StopTime => Value::number(self.conditions.stop_secs),
            Op::Tolerance(inner, radius) => {
                let (inner, radius) = (self.eval(inner, env)?, self.eval(radius, env)?);
                self.tolerance(node.site, inner, radius)?
            }
            Op::And(a, b) => match self.eval(a, env)? {
                Value::Bool(true) => self.eval(b, env)?,
                Value::Bool(false) => Value::Bool(false),
                other => return self.not_boolean(a.site, "and:", &other),
            },
            Op::Or(a, b) => match self.eval(a, env)? {
                Value::Bool(false) => self.eval(b, env)?,
                Value::Bool(true) => Value::Bool(true),
                other => return self.not_boolean(a.site, "or:", &other),
            },
            Op::Not(a) => match self.eval(a, env)? {
                Value::Bool(b) => Value::Bool(!b),
                other => return self.not_boolean(a.site, "not", &other),
            },
            Op::Arithmetic(arithmetic, a, b) => {
                let (a, b) = (self.eval(a, env)?, self.eval(b, env)?);
                self.arithmetic(*arithmetic, node.site, &a, &b)?
            }
            Op::Abs(a) => {
                let n = self.number(a, env, "abs")?;
                Value::Number(Number { value: n.value.abs(), ..n })
            }
            Op::Negated(a) => match self.eval(a, env)? {
                Value::Number(n) => Value::Number(Number { value: -n.value, ..n }),
                Value::Vector(v) => {
                    let components = v.components.map(|c| -c);
                    Value::Vector(Vector { components, quaternion: None, ..(*v).clone() }.into())
                }
                other => return self.not_understood(a.site, &other, "negated"),
            },
            Op::SetVar(hops, slot, value) => {
                self.watch.assigning(node.site);
                let value = self.eval(value, env)?;
                self.keep_if_block(&value, node.site)?;
                let frame = self.frame_out(env.frame, *hops);
                self.watch.assigned(node.site, Some(frame), *slot, &value);
                self.frames[frame as usize].values[*slot as usize] = value.clone();
                value
            }
            Op::SetGlobal(slot, value) => {
                self.watch.assigning(node.site);
                let value = self.eval(value, env)?;
                self.keep_if_block(&value, node.site)?;
                self.watch.assigned(node.site, None, *slot, &value);
                self.globals[*slot as usize] = value.clone();
                value
            }
            Op::SetLocal(hops, slot, value) => {
                let value = self.eval(value, env)?;
                let activation = self.activation_out(env.activation, *hops);
                if (activation as usize) < self.n_kept {
                    self.keep_if_block(&value, node.site)?;
                }
                self.activations[activation as usize].values[*slot as usize] = value.clone();
                value
            }
            Op::If(condition, yes, no) => {
                let branch = match self.eval(condition, env)? {
                    Value::Bool(true) => yes,
                    Value::Bool(false) => no,
                    other => return self.not_boolean(condition.site, "ifTrue:", &other),
                };
                match branch {
                    Some(branch) => self.eval(branch, env)?,
                    None => Value::Nil,
                }
            }
            Op::Sequence(nodes) => {
                let mut last = Value::Nil;
                for node in nodes {
                    last = self.eval(node, env)?;
                }
                last
            }
            Op::Return(value) => return Err(Stop::Return(self.eval(value, env)?)),
            Op::Array(nodes) => {
                let items: Result<Vec<Value>, Stop> =
                    nodes.iter().map(|node| self.eval(node, env)).collect();
                Value::array(items?)
            }
            Op::Block(block) => {
                let life = self.frames.get(env.frame as usize).map_or(0, |frame| frame.life);
                Value::Block(Closure {
                    block: *block,
                    frame: (env.frame, life),
                    activation: (env.activation != NONE).then_some(env.activation),
                })
            }
            Op::Host(host) => Value::Host(*host),
            Op::Six(object, six) => self.vector(*object, *six),
            Op::Send(target, selector, args) => {
                let receiver = self.eval(target, env)?;
                if W::SEES && is_old_assignment(target, &receiver, selector) {
                    self.watch.assigning(target.site);
                }
                let args: Result<Vec<Value>, Stop> =
                    args.iter().map(|arg| self.eval(arg, env)).collect();
                let args = args?;
                match self.old_assignment(target, &receiver, selector, &args, env)? {
                    Some(value) => value,
                    None => self.send(node.site, &receiver, selector, &args)?,
                }
            }
            Op::Cascade(receiver, messages) => {
                // The receiver of a cascade is the receiver of its first message.
                let receiver = self.eval(receiver, env)?;
                let mut last = Value::Nil;
                for (selector, args, site) in messages {
                    let args: Result<Vec<Value>, Stop> =
                        args.iter().map(|arg| self.eval(arg, env)).collect();
                    last = self.send(*site, &receiver, selector, &args?)?;
                }
                last
            }
            Op::Unknown(name) => return self.unknown(node.site, name),
            Op::Unassignable(name) => return self.unassignable(node.site, name),
            Op::Broken => return self.fail(node.site, "this could not be read"),
        };
        self.watch.valued(node.site, &value);
        Ok(value)
    }

    #[inline]
    fn read_channel(&self, channel: u32) -> Value {
        let column = &*self.columns[channel as usize];
        let value = column.values[self.row];
        if value.is_nan() && self.tick < column.first_known {
            self.note_unknown(self.code.channels[channel as usize]);
            return Value::Nil;
        }
        Value::number(value)
    }

    /// A quantity was read that is not known here.
    fn note_unknown(&self, quantity: Quantity) {
        if self.code.vocabulary.needs_two_samples(quantity) {
            self.met_first_sample.set(true);
        }
    }

    /// The assignment, where it is one.
    fn old_assignment(
        &mut self,
        target: &Node,
        receiver: &Value,
        selector: &str,
        args: &[Value],
        env: Env,
    ) -> Result<Option<Value>, Stop> {
        let [value] = args else { return Ok(None) };
        if !is_old_assignment(target, receiver, selector) {
            return Ok(None);
        }
        let (frame, slot) = match &target.op {
            Op::Var(hops, slot) => (Some(self.frame_out(env.frame, *hops)), *slot),
            Op::Global(slot) => (None, *slot),
            _ => return Ok(None),
        };
        self.keep_if_block(value, target.site)?;
        self.watch.assigned(target.site, frame, slot, value);
        match frame {
            Some(frame) => self.frames[frame as usize].values[slot as usize] = value.clone(),
            None => self.globals[slot as usize] = value.clone(),
        }
        Ok(Some(value.clone()))
    }

    /// A quantity of a thing that was kept in a variable.
    pub(super) fn quantity(&self, quantity: Quantity) -> Value {
        match self.now.quantity(quantity, self.tick) {
            None => {
                self.note_unknown(quantity);
                Value::Nil
            }
            Some(value) if quantity.is_bool() => Value::Bool(value > 0.5),
            Some(value) => Value::number(value),
        }
    }

    /// Six numbers at once; nil where one of them is not known yet.
    pub(super) fn vector(&self, object: u32, six: Six) -> Value {
        let read = |quantity| self.now.quantity(quantity, self.tick);
        let mut components = [0.0; 6];
        for (i, component) in (0..).zip(&mut components) {
            let quantity = Quantity::Object(object, six, i);
            let Some(value) = read(quantity) else {
                self.note_unknown(quantity);
                return Value::Nil;
            };
            *component = value;
        }
        let part = |i| read(Quantity::Quaternion(object, i)).unwrap_or(f64::NAN);
        let quaternion = (six == Six::Pose).then(|| [0, 1, 2, 3].map(part));
        Value::Vector(Vector { components, quaternion, radius: 0.0 }.into())
    }

    /// The frame so many machines out.
    #[inline]
    pub(super) fn frame_out(&self, mut frame: u32, hops: u32) -> u32 {
        for _ in 0..hops {
            frame = self.frames[frame as usize].outer;
        }
        frame
    }

    fn activation_out(&self, mut activation: u32, hops: u32) -> u32 {
        for _ in 0..hops {
            activation = self.activations[activation as usize].outer;
        }
        activation
    }

    /// To be asked wherever a value is put that outlives the block that runs.
    pub(super) fn keep_if_block(&mut self, value: &Value, site: Site) -> Result<(), Stop> {
        if value.holds_activation() {
            if self.activations.len() > MOST_KEPT {
                return self.fail(site, "too many blocks with temporaries are kept in variables");
            }
            self.has_escaped = true;
        }
        Ok(())
    }

    /// Calls a block.
    pub(super) fn call(&mut self, site: Site, closure: Closure, args: &[Value]) -> Evaluated {
        let code = self.code;
        let block = &code.blocks[closure.block as usize];
        if block.n_params != args.len() {
            let (wants, gets) = (block.n_params, args.len());
            return self.fail(site, format!("a block with {wants} arguments was given {gets}"));
        }
        let (frame, life) = closure.frame;
        let is_gone = |f: &Frame| !f.is_alive || f.life != life;
        if frame != NONE && self.frames.get(frame as usize).is_none_or(is_gone) {
            return self.fail(site, "this block belongs to a machine that has ended");
        }
        self.burn(site)?;
        if self.n_calls >= MOST_CALLS {
            let words = format!("blocks call blocks more than {MOST_CALLS} deep");
            return self.exhausted(site, words);
        }
        self.n_calls += 1;
        let activation = self.activate(block.n_locals, closure.activation.unwrap_or(NONE), args);
        let result = self.eval(&block.body, Env { frame, activation });
        self.n_calls -= 1;
        result
    }

    /// One unit of work.
    pub(super) fn burn(&mut self, site: Site) -> Result<(), Stop> {
        match self.fuel.checked_sub(MESSAGE_FUEL) {
            Some(rest) => {
                self.fuel = rest;
                Ok(())
            }
            None => self.exhausted(site, format!("a block sent about {MOST_MESSAGES} messages")),
        }
    }

    /// Work that grows with the number of values it looks at.
    pub(super) fn burn_for(&mut self, site: Site, n_values: usize) -> Result<(), Stop> {
        for _ in 0..n_values / VALUES_PER_FUEL {
            self.burn(site)?;
        }
        Ok(())
    }

    fn exhausted<T>(&self, site: Site, words: String) -> Result<T, Stop> {
        let help = Some("does it call itself for ever?".to_string());
        let kind = FailureKind::Exhausted;
        Err(Stop::Failed(Box::new(Failure { site, words, help, kind })))
    }

    /// What slack does to the comparison of a node. Only an equality asks what it compares,
    /// and only where there is slack or somebody looks on.
    pub(crate) fn give(&self, node: &Node) -> Give {
        let is_equality = matches!(node.op, Op::Compare(Compare::Equal | Compare::NotEqual, ..));
        let matters = is_equality && (W::SEES || self.conditions.slack != 0.0);
        Give { has_slack: has_slack(node), is_measured: matters && self.is_measured(node) }
    }

    /// Whether a channel is read that holds other than whole numbers: a measurement rather
    /// than a count or a mode.
    pub(crate) fn is_measured(&self, node: &Node) -> bool {
        match &node.op {
            Op::Channel(channel) => !self.columns[*channel as usize].is_whole,
            _ => node.children().any(|child| self.is_measured(child)),
        }
    }

    fn number(&mut self, node: &Node, env: Env, selector: &str) -> Result<Number, Stop> {
        match self.eval(node, env)? {
            Value::Number(n) => Ok(n),
            other => self.not_understood(node.site, &other, selector),
        }
    }

    pub(super) fn compare(
        &mut self,
        compare: Compare,
        site: Site,
        give: Give,
        a: &Value,
        b: &Value,
    ) -> Result<bool, Stop> {
        let slack = if give.has_slack { self.conditions.slack } else { 0.0 };
        if !matches!((a, b), (Value::Number(_), Value::Number(_)))
            && [a, b].into_iter().all(Value::may_hold_numbers)
        {
            self.watch.blurs();
        }
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => {
                self.compare_numbers(compare, site, give, *a, *b)
            }
            _ => match compare {
                Compare::Equal => Ok(a.is_equal(b, slack)),
                Compare::NotEqual => Ok(!a.is_equal(b, -slack)),
                _ => match (a, b) {
                    (Value::Char(a), Value::Char(b)) => Ok(ordered(compare, a.cmp(b))),
                    (Value::Str(a) | Value::Symbol(a), Value::Str(b) | Value::Symbol(b)) => {
                        Ok(ordered(compare, a.cmp(b)))
                    }
                    _ => {
                        let selector = compare.selector();
                        self.fail(
                            site,
                            format!("cannot compare {} {selector} {}", shown(a), shown(b)),
                        )
                    }
                },
            },
        }
    }

    pub(super) fn compare_numbers(
        &mut self,
        compare: Compare,
        site: Site,
        give: Give,
        a: Number,
        b: Number,
    ) -> Result<bool, Stop> {
        let Some(difference) = difference(a, b) else {
            let text = self.code.text(site);
            let words = format!("`{text}` compares {a} with {b}: not a number");
            let help = Some("ask `isNaN` first where that may happen".to_string());
            let kind = FailureKind::NotANumber;
            return Err(Stop::Failed(Box::new(Failure { site, words, help, kind })));
        };
        let (tick, radius) = (self.tick, a.radius + b.radius);
        let Give { has_slack, is_measured } = give;
        let compared = Compared { site, tick, compare, difference, radius, has_slack, is_measured };
        self.watch.compared(&compared);
        let slack = if has_slack { self.conditions.slack } else { 0.0 };
        Ok(compare.holds_as(is_measured, difference, radius, slack))
    }

    pub(super) fn tolerance(&mut self, site: Site, inner: Value, radius: Value) -> Evaluated {
        let r = match radius {
            Value::Number(n) if n.value >= 0.0 => n.value,
            other => {
                return self
                    .fail(site, format!("a tolerance is a number of 0 or more, not {other}"));
            }
        };
        match inner {
            Value::Number(n) => Ok(Value::Number(Number { radius: n.radius + r, ..n })),
            Value::Vector(v) => {
                Ok(Value::Vector(Vector { radius: v.radius + r, ..(*v).clone() }.into()))
            }
            other => self.not_understood(site, &other, "~"),
        }
    }

    pub(super) fn arithmetic(
        &mut self,
        op: Arithmetic,
        site: Site,
        a: &Value,
        b: &Value,
    ) -> Evaluated {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => match combine(op, *a, *b) {
                Some(number) => Ok(Value::Number(number)),
                None => self.fail(site, format!("{a} divided by zero")),
            },
            (Value::Vector(a), Value::Vector(b)) if is_sum(op) => {
                let mut components = a.components;
                for (c, other) in components.iter_mut().zip(&b.components) {
                    *c = if op == Arithmetic::Add { *c + other } else { *c - other };
                }
                let radius = a.radius + b.radius;
                Ok(Value::Vector(Vector { components, quaternion: None, radius }.into()))
            }
            (Value::Vector(v), Value::Number(n)) if !op.keeps_unit() => {
                let each = |c: &f64| combine(op, Number::exact(*c), *n).map(|n| n.value);
                let scaled: Option<Vec<f64>> = v.components.iter().map(each).collect();
                let radius = combine(op, Number::exact(v.radius), *n).map(|n| n.value.abs());
                let (Some(scaled), Some(radius)) = (scaled, radius) else {
                    return self.fail(site, "a vector divided by zero");
                };
                let components = scaled.try_into().expect("as many as there were");
                Ok(Value::Vector(Vector { components, quaternion: None, radius }.into()))
            }
            (Value::Pair(a), Value::Pair(b)) if is_sum(op) && a.is_point() && b.is_point() => {
                let x = self.arithmetic(op, site, &a.0, &b.0)?;
                let y = self.arithmetic(op, site, &a.1, &b.1)?;
                Ok(Value::pair(x, y))
            }
            (Value::Pair(a), Value::Number(_)) if a.is_point() => {
                let x = self.arithmetic(op, site, &a.0, b)?;
                let y = self.arithmetic(op, site, &a.1, b)?;
                Ok(Value::pair(x, y))
            }
            _ => {
                let sign = op.selector();
                self.fail(site, format!("cannot compute {} {sign} {}", shown(a), shown(b)))
            }
        }
    }

    pub(super) fn not_boolean<T>(
        &self,
        site: Site,
        selector: &str,
        value: &Value,
    ) -> Result<T, Stop> {
        self.fail(site, format!("`{selector}` needs true or false, not {}", shown(value)))
    }

    pub(super) fn not_understood<T>(
        &self,
        site: Site,
        receiver: &Value,
        selector: &str,
    ) -> Result<T, Stop> {
        if self.is_said(site) {
            return self.fail(site, String::new());
        }
        let words = match receiver {
            Value::Vector(_) => format!("a vector does not understand `{selector}`"),
            _ => format!("{} does not understand `{selector}`", shown(receiver)),
        };
        let help = self.nearest_word(receiver, selector);
        let kind = FailureKind::Wrong;
        Err(Stop::Failed(Box::new(Failure { site, words, help, kind })))
    }

    fn unassignable<T>(&self, site: Site, name: &str) -> Result<T, Stop> {
        let is_recorded = self.code.vocabulary.thing(name).is_some();
        let words = if is_recorded {
            format!("`{name}` is of the recording and cannot be assigned")
        } else {
            format!("no variable is called `{name}`")
        };
        let help = Some(if is_recorded {
            "declare a variable under another name".to_string()
        } else {
            format!("declare it: `(var {name} := [nil])`")
        });
        let kind = FailureKind::Wrong;
        Err(Stop::Failed(Box::new(Failure { site, words, help, kind })))
    }

    fn unknown<T>(&self, site: Site, name: &str) -> Result<T, Stop> {
        if self.is_said(site) {
            return self.fail(site, String::new());
        }
        let failure = Failure {
            site,
            words: format!("no variable, object or channel is called `{name}`"),
            help: self.code.vocabulary.suggestion(name),
            kind: FailureKind::Wrong,
        };
        Err(Stop::Failed(Box::new(failure)))
    }
}

/// What slack does to a comparison.
#[derive(Clone, Copy)]
pub(crate) struct Give {
    /// Whether it does anything.
    pub has_slack: bool,
    /// Whether an equality can be made harder than exact.
    pub is_measured: bool,
}

impl Give {
    /// Of a comparison of which no more is known.
    pub(super) const PLAIN: Give = Give { has_slack: true, is_measured: false };
}

/// Where the recording begins and ends is no measurement, so comparing with it has no slack.
pub(crate) fn has_slack(comparison: &Node) -> bool {
    let is_bound = |node: &Node| matches!(node.op, Op::StartTime | Op::StopTime);
    !matches!(&comparison.op, Op::Compare(_, a, b) if is_bound(a) || is_bound(b))
}

/// `x value: e` once assigned to the variable x, unless x held a block.
fn is_old_assignment(target: &Node, receiver: &Value, selector: &str) -> bool {
    selector == "value:"
        && matches!(target.op, Op::Var(..) | Op::Global(_))
        && !matches!(receiver, Value::Block(_))
}

fn is_sum(op: Arithmetic) -> bool {
    matches!(op, Arithmetic::Add | Arithmetic::Subtract)
}

/// Sums add tolerances, products scale them by the other number; `None` is a division by
/// zero.
pub(crate) fn combine(op: Arithmetic, a: Number, b: Number) -> Option<Number> {
    let (value, radius) = match op {
        Arithmetic::Add => (a.value + b.value, a.radius + b.radius),
        Arithmetic::Subtract => (a.value - b.value, a.radius + b.radius),
        Arithmetic::Multiply => {
            (a.value * b.value, scaled(a.radius, b.value) + scaled(b.radius, a.value))
        }
        Arithmetic::Divide if b.value == 0.0 => return None,
        Arithmetic::Divide => {
            let quotient = a.value / b.value;
            (quotient, scaled(a.radius, 1.0 / b.value) + scaled(b.radius, quotient / b.value))
        }
        Arithmetic::Max => {
            return Some(if takes_second(b.value > a.value, b.value) { b } else { a });
        }
        Arithmetic::Min => {
            return Some(if takes_second(b.value < a.value, b.value) { b } else { a });
        }
    };
    Some(Number { value, radius })
}

/// Of two numbers the second where it wins; one that is not a number always does.
#[inline]
pub(crate) fn takes_second(wins: bool, second: f64) -> bool {
    wins || second.is_nan()
}

/// Nothing times anything is nothing, also times infinity.
fn scaled(radius: f64, by: f64) -> f64 {
    if radius == 0.0 { 0.0 } else { radius * by.abs() }
}

fn ordered(compare: Compare, order: std::cmp::Ordering) -> bool {
    match compare {
        Compare::Less => order.is_lt(),
        Compare::LessEqual => order.is_le(),
        Compare::Greater => order.is_gt(),
        Compare::GreaterEqual => order.is_ge(),
        Compare::Equal => order.is_eq(),
        Compare::NotEqual => order.is_ne(),
    }
}

fn of_literal(literal: &Literal) -> Value {
    match literal {
        Literal::Nil => Value::Nil,
        Literal::Bool(b) => Value::Bool(*b),
        Literal::Number(n) => Value::number(*n),
        Literal::Char(c) => Value::Char(*c),
        Literal::Str(s) => Value::Str(s.clone()),
        Literal::Symbol(s) => Value::Symbol(s.clone()),
    }
}

/// A value with its kind where the value alone would puzzle.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Nil | Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Block(_) | Value::Host(_) => value.kind().to_string(),
        _ => format!("{} {value}", value.kind()),
    }
}
