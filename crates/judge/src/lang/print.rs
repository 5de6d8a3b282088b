//! Trees back to text: one text for one meaning.
//!
//! Reading what was printed gives the same tree, and printing that gives the same text.
//! Comments between forms stay, at the end of their line if they stood there; parentheses
//! stay where the meaning needs them. Comments inside blocks stand before the statement they
//! were before or in.

use std::fmt::Write as _;

use super::ast::*;
use super::lex::{continues_name, is_binary, starts_name};
use super::temporal::begins_window;

/// Lines are broken where they can be when they would be longer.
const WIDTH: usize = 92;

/// The program as text.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { out: String::new(), text: &program.source.text };
    printer.top(&program.items);
    printer.out
}

/// An expression on one line, as it would be printed: for messages about it.
pub fn print_expr(expr: &Expr) -> String {
    let mut printer = Printer { out: String::new(), text: "" };
    printer.expr(expr, Level::Statement, None);
    printer.out
}

/// A block on one line with its brackets.
pub fn print_block(block: &Block) -> String {
    let mut printer = Printer { out: String::new(), text: "" };
    printer.flat_block(block);
    printer.out
}

/// A formula on one line.
pub fn print_temporal(temporal: &Temporal) -> String {
    let mut printer = Printer { out: String::new(), text: "" };
    printer.temporal(temporal, 1, None);
    printer.out
}

/// How tightly an expression holds together, the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Statement,
    Cascade,
    Keyword,
    Binary,
    Unary,
    Primary,
}

struct Printer<'a> {
    out: String,
    /// The text the tree was read from, to see which comments end a line.
    text: &'a str,
}

impl Printer<'_> {
    fn top(&mut self, items: &[Item]) {
        for (i, item) in items.iter().enumerate() {
            let before = i.checked_sub(1).map(|i| &items[i]);
            if before.is_some_and(|before| self.ends_line(item, span(before).end)) {
                self.trailing(item);
                continue;
            }
            if i > 0 {
                self.out.push('\n');
            }
            if before.is_some_and(|before| is_apart(before, &items[i..])) {
                self.out.push('\n');
            }
            self.item(item, 0);
        }
        if !items.is_empty() {
            self.out.push('\n');
        }
    }

    /// Whether an item is a comment that stands on the line that ends at `end`.
    fn ends_line(&self, item: &Item, end: usize) -> bool {
        let Item::Comment(_, span) = item else { return false };
        let between = self.text.get(end..span.start);
        !span.is_empty()
            && end > 0
            && between.is_some_and(|space| !space.contains(|c: char| !c.is_whitespace()))
            && between.is_some_and(|space| !space.contains(['\n', '\r']))
    }

    fn trailing(&mut self, item: &Item) {
        self.out.push(' ');
        self.item(item, 0);
    }

    fn item(&mut self, item: &Item, indent: usize) {
        match item {
            Item::Var(var) => {
                _ = write!(self.out, "(var {} := ", var.name.text);
                self.block(&var.init, indent, 1);
            }
            Item::Event(event) => {
                _ = write!(self.out, "(event {} ", event.name.text);
                self.block(&event.block, indent, 1);
            }
            Item::Formula(formula) => {
                _ = write!(self.out, "(formula {} := ", formula.name.text);
                self.temporal(&formula.body, 1, Some(indent));
            }
            Item::Require(name, _) => _ = write!(self.out, "(require {}", name.text),
            Item::Export(name, _) => _ = write!(self.out, "(export {}", name.text),
            Item::Import(import) => {
                self.out.push_str("(import ");
                self.quoted(&import.path);
            }
            Item::Spawn(spawn) => return self.spawn(spawn),
            Item::Machine(machine) => {
                return self.holder("machine", &machine.name, &machine.items, indent);
            }
            Item::State(state) => return self.holder("state", &state.name, &state.items, indent),
            Item::Action(action) => self.action(action, indent),
            Item::Transition(transition) => self.transition(transition, indent),
            Item::Comment(text, _) => {
                _ = write!(self.out, ";{}", text.replace(['\n', '\r'], " "));
                return;
            }
            Item::Broken(text, _) => {
                self.out.push_str(text);
                return;
            }
        }
        self.out.push(')');
    }

    fn spawn(&mut self, spawn: &Spawn) {
        _ = write!(self.out, "(spawn {} {})", spawn.machine.text, spawn.state.text);
    }

    fn holder(&mut self, word: &str, name: &Name, items: &[Item], indent: usize) {
        _ = write!(self.out, "({word} {}", name.text);
        if let [Item::Action(action)] = items {
            let start = self.out.len();
            self.out.push(' ');
            self.action(action, indent);
            self.out.push_str("))");
            let line = &self.out[self.out[..start].rfind('\n').map_or(0, |at| at + 1)..];
            if !line.contains('\n') && line.chars().count() <= WIDTH {
                return;
            }
            self.out.truncate(start);
        }
        let mut end = name.span.end;
        for item in items {
            if self.ends_line(item, end) {
                self.trailing(item);
            } else {
                self.new_line(indent + 2);
                self.item(item, indent + 2);
            }
            end = span(item).end;
        }
        if matches!(items.last(), Some(Item::Comment(..) | Item::Broken(..))) {
            self.new_line(indent);
        }
        self.out.push(')');
    }

    fn new_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn action(&mut self, action: &Action, indent: usize) {
        self.out.push_str(match action.moment {
            Moment::OnEntry => "(onentry ",
            Moment::OnExit => "(onexit ",
            Moment::Running => "(running ",
        });
        match &action.body {
            ActionBody::Block(block) => self.block(block, indent, 2),
            ActionBody::Spawn(spawn) => self.spawn(spawn),
        }
    }

    fn transition(&mut self, transition: &Transition, indent: usize) {
        let Transition { guard, is_exit, from, to, label, .. } = transition;
        let word = match guard {
            _ if *is_exit => "exit",
            Guard::Event(_) | Guard::Block(_) => "on",
            Guard::Always => "eps",
            Guard::AfterMillis(..) | Guard::AfterVar(_) | Guard::AfterBlock(_) => "ontime",
        };
        _ = write!(self.out, "({word}");
        match guard {
            Guard::Always => {}
            Guard::Event(name) | Guard::AfterVar(name) => _ = write!(self.out, " {}", name.text),
            Guard::AfterMillis(millis, _) => _ = write!(self.out, " {millis}"),
            Guard::Block(block) | Guard::AfterBlock(block) => {
                self.out.push(' ');
                self.block(block, indent, 12);
            }
        }
        match from {
            Some(from) => _ = write!(self.out, " {} -> {}", from.text, to.text),
            None => _ = write!(self.out, " *-> {}", to.text),
        }
        if let Some(label) = label {
            _ = write!(self.out, " {}", label.text);
        }
    }

    /// A block on this line if it fits with `after` more characters, else a statement a line.
    fn block(&mut self, block: &Block, indent: usize, after: usize) {
        let start = self.out.len();
        self.flat_block(block);
        if block.body.is_empty() || self.fits(after) {
            return;
        }
        self.out.truncate(start);
        self.block_head(block);
        for (i, statement) in block.body.iter().enumerate() {
            if i > 0 {
                self.out.push('.');
            }
            for comment in comments_of(block, i) {
                self.new_line(indent + 2);
                _ = write!(self.out, "\"{comment}\"");
            }
            self.new_line(indent + 2);
            self.expr(statement, Level::Statement, Some(indent + 2));
        }
        for (i, comment) in comments_of(block, block.body.len()).enumerate() {
            self.out.push_str(if i == 0 { "." } else { "" });
            self.new_line(indent + 2);
            _ = write!(self.out, "\"{comment}\"");
        }
        self.out.push(']');
    }

    /// Whether the line written last has room for `after` more.
    fn fits(&self, after: usize) -> bool {
        let line = self.out.rfind('\n').map_or(&self.out[..], |at| &self.out[at + 1..]);
        line.chars().count() + after <= WIDTH
    }

    fn flat_block(&mut self, block: &Block) {
        self.block_head(block);
        if !block.params.is_empty() || !block.temps.is_empty() {
            let is_empty = block.body.is_empty() && block.comments.is_empty();
            self.out.push_str(if is_empty { "" } else { " " });
        }
        for (i, statement) in block.body.iter().enumerate() {
            self.out.push_str(if i > 0 { ". " } else { "" });
            for comment in comments_of(block, i) {
                _ = write!(self.out, "\"{comment}\" ");
            }
            self.expr(statement, Level::Statement, None);
        }
        for (i, comment) in comments_of(block, block.body.len()).enumerate() {
            let stop = if i == 0 && !block.body.is_empty() { "." } else { "" };
            let space = if i > 0 || !stop.is_empty() { " " } else { "" };
            _ = write!(self.out, "{stop}{space}\"{comment}\"");
        }
        self.out.push(']');
    }

    fn block_head(&mut self, block: &Block) {
        self.out.push('[');
        for (i, param) in block.params.iter().enumerate() {
            _ = write!(self.out, "{}:{}", if i > 0 { " " } else { "" }, param.text);
        }
        if !block.params.is_empty() {
            self.out.push_str(" |");
        }
        if !block.temps.is_empty() {
            self.out.push_str(if block.params.is_empty() { "|" } else { " |" });
            for temp in &block.temps {
                _ = write!(self.out, " {}", temp.text);
            }
            self.out.push_str(" |");
        }
    }

    /// An expression where one of at least this level is needed. With an indent its blocks
    /// may be broken into lines.
    fn expr(&mut self, expr: &Expr, needed: Level, indent: Option<usize>) {
        if level(expr) < needed {
            self.out.push('(');
            self.bare(expr, indent);
            self.out.push(')');
        } else {
            self.bare(expr, indent);
        }
    }

    fn bare(&mut self, expr: &Expr, indent: Option<usize>) {
        match &expr.kind {
            ExprKind::Send(..) => self.sends(expr, indent),
            ExprKind::Cascade(receiver, messages) => {
                let needed = match messages.first() {
                    Some(first) if is_surprising(receiver, first) => Level::Primary,
                    first => first.map_or(Level::Unary, receiver_level),
                };
                self.expr(receiver, needed, indent);
                for (i, message) in messages.iter().enumerate() {
                    self.out.push_str(if i > 0 { ";" } else { "" });
                    self.message(message, indent);
                }
            }
            ExprKind::Assign(name, value) => {
                _ = write!(self.out, "{} := ", name.text);
                self.expr(value, Level::Statement, indent);
            }
            ExprKind::Return(value) => {
                self.out.push_str("^ ");
                self.expr(value, Level::Statement, indent);
            }
            ExprKind::Block(block) => match indent {
                Some(indent) => self.block(block, indent, 1),
                None => self.flat_block(block),
            },
            ExprKind::BraceArray(items) => {
                self.out.push('{');
                for (i, item) in items.iter().enumerate() {
                    self.out.push_str(if i > 0 { ". " } else { "" });
                    self.expr(item, Level::Statement, indent);
                }
                self.out.push('}');
            }
            ExprKind::LiteralArray(items) => {
                self.out.push_str("#(");
                for (i, item) in items.iter().enumerate() {
                    self.out.push_str(if i > 0 { " " } else { "" });
                    self.bare(item, None);
                }
                self.out.push(')');
            }
            ExprKind::Name(name) => self.out.push_str(name),
            ExprKind::Number(number) => self.out.push_str(&number_text(*number)),
            ExprKind::Str(text) => self.quoted(text),
            ExprKind::Symbol(text) => {
                self.out.push('#');
                if is_bare_symbol(text) { self.out.push_str(text) } else { self.quoted(text) }
            }
            ExprKind::Char(c) => _ = write!(self.out, "${c}"),
            ExprKind::Bool(value) => _ = write!(self.out, "{value}"),
            ExprKind::Nil => self.out.push_str("nil"),
            ExprKind::Broken(text) => self.out.push_str(text),
        }
    }

    /// A chain of sends, from its first receiver on: a long chain is deep on the left, and
    /// walking it costs no stack.
    fn sends(&mut self, expr: &Expr, indent: Option<usize>) {
        let mut messages = Vec::new();
        let mut receiver = expr;
        let mut needed = Level::Statement;
        while let ExprKind::Send(inner, message) = &receiver.kind
            && level(receiver) >= needed
        {
            messages.push(message);
            needed = receiver_level(message);
            if is_surprising(inner, message) {
                needed = Level::Primary;
            }
            receiver = inner;
        }
        self.expr(receiver, needed, indent);
        for message in messages.into_iter().rev() {
            self.message(message, indent);
        }
    }

    fn message(&mut self, message: &Message, indent: Option<usize>) {
        if message.args.is_empty() {
            _ = write!(self.out, " {}", message.selector);
        } else if message.selector.ends_with(':') {
            for (part, arg) in message.selector.split_terminator(':').zip(&message.args) {
                _ = write!(self.out, " {part}: ");
                self.expr(arg, Level::Binary, indent);
            }
        } else {
            _ = write!(self.out, " {} ", message.selector);
            self.expr(&message.args[0], Level::Unary, indent);
        }
    }

    fn quoted(&mut self, text: &str) {
        _ = write!(self.out, "'{}'", text.replace('\'', "''"));
    }

    /// Levels: 1 implies and iff, 2 or, 3 and, 4 until and since, 5 the rest.
    fn temporal(&mut self, temporal: &Temporal, needed: u8, indent: Option<usize>) {
        use TemporalKind::*;
        let own = match &temporal.kind {
            Implies(..) | Iff(..) => 1,
            Or(..) => 2,
            And(..) => 3,
            Until(..) | Since(..) => 4,
            _ => 5,
        };
        if own < needed {
            self.out.push('(');
        }
        match &temporal.kind {
            Atom(block) => match indent {
                Some(indent) => self.block(block, indent, 1),
                None => self.flat_block(block),
            },
            Name(name) => self.out.push_str(name),
            Broken(text) => self.out.push_str(text),
            Not(inner) => {
                self.out.push_str("not ");
                self.temporal(inner, 5, indent);
            }
            Always(window, inner) => self.unary("always", window, inner, indent),
            Eventually(window, inner) => self.unary("eventually", window, inner, indent),
            Historically(window, inner) => self.unary("historically", window, inner, indent),
            Once(window, inner) => self.unary("once", window, inner, indent),
            Implies(left, right) => self.infix(left, 2, " implies ", right, 1, indent),
            Iff(left, right) => self.infix(left, 2, " iff ", right, 1, indent),
            Or(left, right) => self.infix(left, 2, " or ", right, 3, indent),
            And(left, right) => self.infix(left, 3, " and ", right, 4, indent),
            Until(window, left, right) => {
                self.temporal(left, 5, indent);
                self.windowed(" until", window, right, 4, indent);
            }
            Since(window, left, right) => {
                self.temporal(left, 5, indent);
                self.windowed(" since", window, right, 4, indent);
            }
        }
        if own < needed {
            self.out.push(')');
        }
    }

    fn infix(
        &mut self,
        left: &Temporal,
        left_level: u8,
        word: &str,
        right: &Temporal,
        right_level: u8,
        indent: Option<usize>,
    ) {
        self.temporal(left, left_level, indent);
        self.out.push_str(word);
        self.temporal(right, right_level, indent);
    }

    fn unary(&mut self, word: &str, window: &Window, inner: &Temporal, indent: Option<usize>) {
        self.windowed(word, window, inner, 5, indent);
    }

    /// An operator, its window, and what it is about. A block that would be taken for a
    /// window gets parentheses.
    fn windowed(
        &mut self,
        word: &str,
        window: &Window,
        inner: &Temporal,
        needed: u8,
        indent: Option<usize>,
    ) {
        self.out.push_str(word);
        if *window != Window::default() {
            let end = window.to_nanos.map_or("inf".to_string(), seconds_text);
            _ = write!(self.out, "[{}, {end}]", seconds_text(window.from_nanos));
        }
        self.out.push(' ');
        let start = self.out.len();
        self.temporal(inner, needed, indent);
        if *window == Window::default() && begins_window(&self.out[start..]) {
            self.out.insert(start, '(');
            self.out.push(')');
        }
    }
}

/// The comments before or in a statement of a block.
fn comments_of(block: &Block, statement: usize) -> impl Iterator<Item = &str> {
    let here = block.comments.iter().filter(move |(before, _)| *before == statement);
    here.map(|(_, text)| text.as_str())
}

/// Whether a free line goes before the items that begin here: machines stand apart, with
/// the comments that lead to them.
fn is_apart(before: &Item, from_here: &[Item]) -> bool {
    if matches!(before, Item::Comment(..)) {
        return false;
    }
    let next = from_here.iter().find(|item| !matches!(item, Item::Comment(..)));
    matches!(before, Item::Machine(_)) || matches!(next, Some(Item::Machine(_)))
}

fn level(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::Assign(..) | ExprKind::Return(_) | ExprKind::Broken(_) => Level::Statement,
        ExprKind::Cascade(..) => Level::Cascade,
        ExprKind::Send(_, message) if message.args.is_empty() => Level::Unary,
        ExprKind::Send(_, message) if message.selector.ends_with(':') => Level::Keyword,
        ExprKind::Send(..) => Level::Binary,
        _ => Level::Primary,
    }
}

/// Whether people would read `receiver message` in another order than it is run:
/// `(1 + 2) * 3` keeps its parentheses, and `1 + 2 * 3` gets them.
pub(super) fn is_surprising(receiver: &Expr, message: &Message) -> bool {
    let ExprKind::Send(_, inner) = &receiver.kind else { return false };
    rank(&message.selector).zip(rank(&inner.selector)).is_some_and(|(outer, inner)| outer > inner)
}

/// How tightly people expect an operator to bind, where they expect anything.
fn rank(selector: &str) -> Option<u8> {
    Some(match selector {
        "*" | "/" | "//" | "\\\\" => 6,
        "+" | "-" => 5,
        "~" => 4,
        "<" | ">" | "<=" | ">=" | "=" | "==" | "~=" | "~~" | "!=" => 3,
        "&" => 2,
        "|" => 1,
        _ => return None,
    })
}

/// What a message needs before it.
fn receiver_level(message: &Message) -> Level {
    if message.args.is_empty() { Level::Unary } else { Level::Binary }
}

/// The shortest text that reads as this number.
fn number_text(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || (1e-5..1e16).contains(&size) {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

/// Nanoseconds as seconds, exactly.
fn seconds_text(nanos: i64) -> String {
    let (whole, part) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    if part == 0 {
        return whole.to_string();
    }
    format!("{whole}.{part:09}").trim_end_matches('0').to_string()
}

fn is_bare_symbol(text: &str) -> bool {
    if text.is_empty() || text.chars().all(is_binary) {
        return !text.is_empty();
    }
    let is_name =
        |part: &str| part.starts_with(starts_name) && !part.contains(|c| !continues_name(c));
    text.strip_suffix(':').unwrap_or(text).split(':').all(is_name)
}

/// The bytes an item came from.
pub(super) fn span(item: &Item) -> &Span {
    match item {
        Item::Var(var) => &var.span,
        Item::Event(event) => &event.span,
        Item::Formula(formula) => &formula.span,
        Item::Machine(machine) => &machine.span,
        Item::State(state) => &state.span,
        Item::Transition(transition) => &transition.span,
        Item::Action(action) => &action.span,
        Item::Spawn(spawn) => &spawn.span,
        Item::Import(import) => &import.span,
        Item::Require(_, span)
        | Item::Export(_, span)
        | Item::Comment(_, span)
        | Item::Broken(_, span) => span,
    }
}
