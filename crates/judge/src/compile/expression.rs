//! Blocks into nodes.
//!
//! Messages to things of the recording are folded while compiling: `ball velocity z` is
//! one channel, `(ball velocity ~ 0.1) z` is that channel with a tolerance. Blocks that
//! `and:`, `or:` and `ifTrue:` would run at once are compiled in place.

use std::sync::Arc;

use crate::code::{Arithmetic, BlockCode, Literal, Node, Op, Site};
use crate::lang::ast::{Block, Expr, ExprKind, Message, Name};
use crate::value::{Compare, Host};
use crate::vocabulary::{Quantity, Thing, Vocabulary};
use crate::words;

use super::{Compiler, Locals, names_of, number};

impl<'a> Compiler<'a> {
    /// A block of its own: an action, an event, a first value.
    pub(super) fn top_block(&mut self, block: &'a Block) -> u32 {
        let outer = std::mem::take(&mut self.locals);
        let id = self.block(block);
        self.locals = outer;
        id
    }

    /// A block that reads one name.
    pub(super) fn block_of_name(&mut self, name: &'a Name) -> u32 {
        let outer = std::mem::take(&mut self.locals);
        let site = self.site(&name.span);
        let body = self.name(&name.text, site);
        self.locals = outer;
        self.code.blocks.push(BlockCode { n_params: 0, n_locals: 0, body, site });
        number(self.code.blocks.len() - 1)
    }

    fn block(&mut self, block: &'a Block) -> u32 {
        let site = self.site(&block.span);
        let mut locals = Locals::default();
        for name in names_of(block) {
            locals.names.push((&name.text, locals.n_slots));
            locals.n_slots += 1;
        }
        self.locals.push(locals);
        let body = self.statements(&block.body, site);
        let n_locals = self.locals.pop().map_or(0, |locals| locals.n_slots);
        let n_params = block.params.len();
        self.code.blocks.push(BlockCode { n_params, n_locals: n_locals as usize, body, site });
        number(self.code.blocks.len() - 1)
    }

    fn statements(&mut self, body: &'a [Expr], site: Site) -> Node {
        match body {
            [] => Node { op: Op::Literal(Literal::Nil), site },
            [only] => self.expr(only),
            many => {
                let nodes = many.iter().map(|expr| self.expr(expr)).collect();
                Node { op: Op::Sequence(nodes), site }
            }
        }
    }

    fn expr(&mut self, expr: &'a Expr) -> Node {
        let site = self.site(&expr.span);
        let op = match &expr.kind {
            ExprKind::Number(n) => Op::Literal(Literal::Number(*n)),
            ExprKind::Str(s) => Op::Literal(Literal::Str(Arc::from(s.as_str()))),
            ExprKind::Symbol(s) => Op::Literal(Literal::Symbol(Arc::from(s.as_str()))),
            ExprKind::Char(c) => Op::Literal(Literal::Char(*c)),
            ExprKind::Bool(b) => Op::Literal(Literal::Bool(*b)),
            ExprKind::Nil => Op::Literal(Literal::Nil),
            ExprKind::LiteralArray(items) | ExprKind::BraceArray(items) => {
                Op::Array(items.iter().map(|item| self.expr(item)).collect())
            }
            ExprKind::Block(block) => Op::Block(self.block(block)),
            ExprKind::Name(name) => return self.name(name, site),
            ExprKind::Assign(name, value) => {
                let value = Box::new(self.expr(value));
                self.assignment(name, value)
            }
            ExprKind::Return(value) => Op::Return(Box::new(self.expr(value))),
            ExprKind::Send(receiver, message) => {
                let receiver = self.expr(receiver);
                self.send(receiver, message, site)
            }
            ExprKind::Cascade(receiver, messages) => {
                let receiver = Box::new(self.expr(receiver));
                let messages = messages.iter().map(|message| {
                    let args = message.args.iter().map(|arg| self.expr(arg)).collect();
                    let site = self.site(&message.selector_span);
                    (message.selector.as_str().into(), args, site)
                });
                let messages = messages.collect();
                Op::Cascade(receiver, messages)
            }
            ExprKind::Broken(_) => Op::Broken,
        };
        Node { op, site }
    }

    /// A block's own names, then the machine's and those around it, globals, formulas, and
    /// last the recording.
    fn name(&mut self, name: &str, site: Site) -> Node {
        let op = if let Some((hops, slot)) = self.local(name) {
            Op::Local(hops, slot)
        } else if let Some((hops, slot)) = self.machine_var(name) {
            Op::Var(hops, slot)
        } else if let Some(slot) = self.globals.iter().position(|known| *known == name) {
            Op::Global(number(slot))
        } else if let Some((_, id)) = self.formulas.iter().rfind(|(known, _)| *known == name) {
            let id = *id;
            Op::YesNo(self.channel(Quantity::Formula(id)))
        } else {
            match self.code.vocabulary.thing(name) {
                Some(Thing::Object(i)) => Op::Host(Host::Object(i)),
                Some(Thing::Joint(i)) => Op::Host(Host::Joint(i)),
                Some(Thing::Region(i)) => Op::Host(Host::Region(i)),
                Some(Thing::Report(i)) => Op::Host(Host::Report(i)),
                Some(Thing::Channel(i)) => Op::Channel(self.channel(Quantity::Channel(i))),
                Some(Thing::Recording) => Op::Host(Host::Recording),
                Some(Thing::StartTime) => Op::StartTime,
                Some(Thing::StopTime) => Op::StopTime,
                // The one class that programs name: `Array with: 1 with: 2`.
                None if name == "Array" => Op::Literal(Literal::Symbol(name.into())),
                None => Op::Unknown(name.to_string()),
            }
        };
        Node { op, site }
    }

    fn local(&self, name: &str) -> Option<(u32, u32)> {
        self.locals.iter().rev().enumerate().find_map(|(hops, locals)| {
            let found = locals.names.iter().rfind(|(known, _)| *known == name);
            found.map(|(_, slot)| (number(hops), *slot))
        })
    }

    fn machine_var(&self, name: &str) -> Option<(u32, u32)> {
        self.chain.iter().enumerate().skip(self.skip).find_map(|(hops, vars)| {
            let slot = vars.iter().position(|known| *known == name)?;
            Some((number(hops), number(slot)))
        })
    }

    fn assignment(&mut self, name: &Name, value: Box<Node>) -> Op {
        if let Some((hops, slot)) = self.local(&name.text) {
            Op::SetLocal(hops, slot, value)
        } else if let Some((hops, slot)) = self.machine_var(&name.text) {
            Op::SetVar(hops, slot, value)
        } else if let Some(slot) = self.globals.iter().position(|known| *known == name.text) {
            Op::SetGlobal(number(slot), value)
        } else {
            Op::Unassignable(name.text.clone())
        }
    }

    fn send(&mut self, receiver: Node, message: &'a Message, site: Site) -> Op {
        let selector = message.selector.as_str();
        if let Some(op) = self.in_place(&message.args, selector) {
            return op.with(receiver);
        }
        let mut args: Vec<Node> = message.args.iter().map(|arg| self.expr(arg)).collect();
        if selector == "fact:" && matches!(receiver.op, Op::Host(Host::Recording)) {
            self.check_fact(message);
        }
        let receiver = match self.fold(receiver, selector, &args, site) {
            Ok(op) => return op,
            Err(receiver) => receiver,
        };
        let receiver = Box::new(receiver);
        if let [_] = args[..] {
            if let Some(arithmetic) = Arithmetic::from_selector(selector) {
                return Op::Arithmetic(arithmetic, receiver, Box::new(args.remove(0)));
            }
            if let Some(compare) = Compare::from_selector(selector) {
                return Op::Compare(compare, receiver, Box::new(args.remove(0)));
            }
            if selector == "~" {
                return Op::Tolerance(receiver, Box::new(args.remove(0)));
            }
        }
        match selector {
            "abs" => Op::Abs(receiver),
            "negated" => Op::Negated(receiver),
            "not" => Op::Not(receiver),
            _ => Op::Send(receiver, selector.into(), args),
        }
    }

    /// A fact that the recording does not have is nil, which may be meant, or a slip.
    fn check_fact(&self, message: &Message) {
        let facts = &self.code.vocabulary.facts;
        let [Expr { kind: ExprKind::Str(text) | ExprKind::Symbol(text), span }] = &message.args[..]
        else {
            return;
        };
        // Without a recording there are none, and nobody can say.
        if facts.is_empty() || facts.contains_key(text) {
            return;
        }
        let help = headland_base::names::suggestion(text, facts.keys().map(String::as_str));
        let name = Name { text: text.clone(), span: span.clone() };
        let message = format!("the recording has no fact `{text:.80}`, so this is nil");
        self.warn(&name, "unknown-fact", message, help);
    }

    /// Messages whose arguments run at once, if at all.
    fn in_place(&mut self, args: &'a [Expr], selector: &str) -> Option<InPlace> {
        let mut arg = |i: usize| Box::new(self.argument(&args[i]));
        Some(match selector {
            "and:" | "&" => InPlace::And(arg(0)),
            "or:" | "|" => InPlace::Or(arg(0)),
            "ifTrue:" => InPlace::If(Some(arg(0)), None),
            "ifFalse:" => InPlace::If(None, Some(arg(0))),
            "ifTrue:ifFalse:" => {
                let yes = arg(0);
                InPlace::If(Some(yes), Some(arg(1)))
            }
            "ifFalse:ifTrue:" => {
                let no = arg(0);
                InPlace::If(Some(arg(1)), Some(no))
            }
            _ => return None,
        })
    }

    /// A literal block is compiled in place; of anything else the value is taken.
    fn argument(&mut self, arg: &'a Expr) -> Node {
        let ExprKind::Block(block) = &arg.kind else {
            let node = self.expr(arg);
            // Only these can turn out to be blocks.
            let may_be_block = matches!(
                node.op,
                Op::Local(..) | Op::Var(..) | Op::Global(_) | Op::Send(..) | Op::Cascade(..)
            );
            if !may_be_block {
                return node;
            }
            let site = node.site;
            return Node { op: Op::Send(Box::new(node), "value".into(), Vec::new()), site };
        };
        if !block.params.is_empty() || self.locals.is_empty() {
            let node = self.expr(arg);
            let site = node.site;
            return Node { op: Op::Send(Box::new(node), "value".into(), Vec::new()), site };
        }
        let site = self.site(&block.span);
        let around = self.locals.last_mut().expect("checked above");
        let n_names = around.names.len();
        let mut nodes = Vec::new();
        for temp in &block.temps {
            let slot = around.n_slots;
            around.names.push((&temp.text, slot));
            around.n_slots += 1;
            // Fresh on every run, as if the block were called.
            let nil = Box::new(Node { op: Op::Literal(Literal::Nil), site });
            nodes.push(Node { op: Op::SetLocal(0, slot, nil), site });
        }
        let body = self.statements(&block.body, site);
        self.locals.last_mut().expect("as before").names.truncate(n_names);
        if nodes.is_empty() {
            return body;
        }
        nodes.push(body);
        Node { op: Op::Sequence(nodes), site }
    }

    /// A message to something of the recording that is known while compiling.
    fn fold(
        &mut self,
        receiver: Node,
        selector: &str,
        args: &[Node],
        site: Site,
    ) -> Result<Op, Node> {
        let thing = match &receiver.op {
            Op::Host(host) => *host,
            Op::Six(object, six) => {
                return match words::component(*object, *six, selector) {
                    Some(quantity) => Ok(Op::Channel(self.channel(quantity))),
                    None => Err(receiver),
                };
            }
            Op::Tolerance(inner, _) if matches!(inner.op, Op::Six(..)) => {
                let around = receiver.site;
                let Op::Tolerance(inner, radius) = receiver.op else { unreachable!("matched") };
                // The channel stands where the whole stands: its value is that of the whole.
                return match self.fold(*inner, selector, args, site) {
                    Ok(op) => Ok(Op::Tolerance(Box::new(Node { op, site }), radius)),
                    Err(inner) => {
                        Err(Node { op: Op::Tolerance(Box::new(inner), radius), site: around })
                    }
                };
            }
            _ => return Err(receiver),
        };
        let argument = match args {
            [] => Some(words::Argument::None),
            [Node { op: Op::Host(host), .. }] => Some(words::Argument::Host(*host)),
            [Node { op: Op::Literal(Literal::Str(s) | Literal::Symbol(s)), .. }] => {
                Some(words::Argument::Text(s))
            }
            _ => None,
        };
        let vocabulary: &Vocabulary = &self.code.vocabulary;
        let meaning = argument.and_then(|arg| words::meaning(vocabulary, thing, selector, arg));
        match meaning {
            Some(words::Meaning::Quantity(quantity)) => {
                let channel = self.channel(quantity);
                Ok(if quantity.is_bool() { Op::YesNo(channel) } else { Op::Channel(channel) })
            }
            Some(words::Meaning::Six(object, six)) => Ok(Op::Six(object, six)),
            Some(words::Meaning::Host(host)) => Ok(Op::Host(host)),
            Some(words::Meaning::Text(text)) => Ok(Op::Literal(Literal::Str(text))),
            None => Err(receiver),
        }
    }
}

/// A message whose arguments were compiled in place.
enum InPlace {
    And(Box<Node>),
    Or(Box<Node>),
    If(Option<Box<Node>>, Option<Box<Node>>),
}

impl InPlace {
    fn with(self, receiver: Node) -> Op {
        let receiver = Box::new(receiver);
        match self {
            InPlace::And(arg) => Op::And(receiver, arg),
            InPlace::Or(arg) => Op::Or(receiver, arg),
            InPlace::If(yes, no) => Op::If(receiver, yes, no),
        }
    }
}
