//! What is probably not meant inside blocks and formulas.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::names;

use super::ast::*;
use super::lex::continues_name;
use super::lint::Lint;
use super::print::{is_surprising, print_expr};
use super::scopes::Declared;
use crate::vocabulary::ALWAYS;

/// So many undeclared names are compared with the declared ones.
const MOST_SLIPS: usize = 400;

/// Longer words are nobody's name, and every part of one is looked at.
const MOST_HYPHENATED: usize = 100;

/// Where a block stands, and the names it declares itself, the innermost last.
struct Inside<'a> {
    machine: Option<usize>,
    locals: Vec<&'a str>,
    /// For the initialiser of a variable: which one of its scope it is.
    initialises: Option<usize>,
}

impl<'a> Lint<'a> {
    pub fn action(&mut self, block: &'a Block, machine: Option<usize>) {
        let mut inside = Inside { machine, locals: Vec::new(), initialises: None };
        self.block(block, &mut inside);
    }

    /// The first value of the `nth` variable of a scope: it sees those before it.
    pub fn initialiser(&mut self, block: &'a Block, machine: Option<usize>, nth: usize) {
        let mut inside = Inside { machine, locals: Vec::new(), initialises: Some(nth) };
        self.block(block, &mut inside);
    }

    /// A block that must answer `true` or `false`.
    pub fn condition(
        &mut self,
        block: &'a Block,
        machine: Option<usize>,
        what: impl FnOnce() -> String,
    ) {
        self.action(block, machine);
        let is_never = match block.body.last().map(|expr| &expr.kind) {
            None => true,
            Some(kind) => matches!(
                kind,
                ExprKind::Number(_)
                    | ExprKind::Str(_)
                    | ExprKind::Symbol(_)
                    | ExprKind::Char(_)
                    | ExprKind::Nil
                    | ExprKind::LiteralArray(_)
                    | ExprKind::BraceArray(_)
                    | ExprKind::Block(_)
            ),
        };
        if is_never {
            let help = || Some("compare something: `[ball velocity z > 0]`".to_string());
            let message = || format!("{} is neither true nor false, so it never holds", what());
            self.warn(&block.span, "not-a-condition", message, help);
        }
    }

    /// A formula and its atoms. Its height is bounded by the parser.
    pub fn temporal(&mut self, temporal: &'a Temporal, machine: Option<usize>) {
        use TemporalKind::*;
        match &temporal.kind {
            Atom(block) => self.condition(block, machine, || "this condition".to_string()),
            Name(name) => self.formula_name(name, &temporal.span, machine),
            Not(inner)
            | Always(_, inner)
            | Eventually(_, inner)
            | Historically(_, inner)
            | Once(_, inner) => self.temporal(inner, machine),
            And(left, right)
            | Or(left, right)
            | Implies(left, right)
            | Iff(left, right)
            | Until(_, left, right)
            | Since(_, left, right) => {
                self.temporal(left, machine);
                self.temporal(right, machine);
            }
            Broken(_) => {}
        }
    }

    /// A formula that is named.
    pub fn formula_name(&mut self, name: &str, span: &Span, machine: Option<usize>) {
        match self.scopes.formula(machine, name) {
            Some(declared) => self.formula_uses.entry(declared).or_default().n_reads += 1,
            None => {
                let known = self.scopes.formula_names(machine);
                let name = Name { text: name.to_string(), span: span.clone() };
                self.unknown("formula", "here", "unknown-formula", &name, known);
            }
        }
    }

    /// Formulas that need themselves, directly or through others: those that are left when
    /// every formula that needs only decided ones is taken away, again and again.
    pub fn circles(&mut self) {
        let scopes = self.scopes;
        let mut all: Vec<Declared> = (0..scopes.formulas.len()).map(|i| (None, i)).collect();
        for (idx, machine) in scopes.machines.iter().enumerate() {
            all.extend((0..machine.formulas.len()).map(|i| (Some(idx), i)));
        }
        let mut needed_by: BTreeMap<Declared, Vec<Declared>> = BTreeMap::new();
        let mut n_needed: BTreeMap<Declared, usize> = BTreeMap::new();
        for formula in all {
            let named = self.named_in(formula);
            n_needed.insert(formula, named.len());
            for other in named {
                needed_by.entry(other).or_default().push(formula);
            }
        }
        let is_free = |(formula, n): (&Declared, &usize)| (*n == 0).then_some(*formula);
        let mut decided: Vec<Declared> = n_needed.iter().filter_map(is_free).collect();
        while let Some(formula) = decided.pop() {
            n_needed.remove(&formula);
            for other in needed_by.remove(&formula).unwrap_or_default() {
                let n = n_needed.get_mut(&other).expect("what needs this one is undecided");
                *n -= 1;
                if *n == 0 {
                    decided.push(other);
                }
            }
        }
        for formula in n_needed.into_keys() {
            let name = &scopes.formula_at(formula).name;
            let message = || format!("the formula `{}` needs itself, or one that does", name.text);
            let help = || Some("break the circle; it can never be decided".to_string());
            self.fault(&name.span, "circular-formula", message, help);
        }
    }

    /// The formulas that a formula names.
    fn named_in(&self, (owner, idx): Declared) -> Vec<Declared> {
        use TemporalKind::*;
        let mut named = Vec::new();
        let mut waiting = vec![&self.scopes.formula_at((owner, idx)).body];
        while let Some(temporal) = waiting.pop() {
            match &temporal.kind {
                Name(name) => named.extend(self.scopes.formula(owner, name)),
                Not(inner)
                | Always(_, inner)
                | Eventually(_, inner)
                | Historically(_, inner)
                | Once(_, inner) => waiting.push(inner),
                And(left, right)
                | Or(left, right)
                | Implies(left, right)
                | Iff(left, right)
                | Until(_, left, right)
                | Since(_, left, right) => waiting.extend([&**left, right]),
                Atom(_) | Broken(_) => {}
            }
        }
        named
    }

    fn block(&mut self, block: &'a Block, inside: &mut Inside<'a>) {
        let n_outside = inside.locals.len();
        for local in block.params.iter().chain(&block.temps) {
            let name = local.text.as_str();
            let is_var = self.scopes.var(inside.machine, name).is_some();
            let is_host = self.host.is_some_and(|host| host.contains(name));
            if inside.locals.contains(&name) || is_var || is_host {
                let message = || format!("`{name}` hides something of that name outside the block");
                let help = || Some("rename one of them, unless two are meant".to_string());
                self.warn(&local.span, "shadowed-name", message, help);
            }
            inside.locals.push(name);
        }
        for statement in &block.body {
            self.expr(statement, inside);
        }
        inside.locals.truncate(n_outside);
    }

    /// An expression. Its height is bounded by the parser.
    fn expr(&mut self, expr: &'a Expr, inside: &mut Inside<'a>) {
        match &expr.kind {
            ExprKind::Name(name) => self.read(name, &expr.span, inside),
            ExprKind::Assign(name, value) => {
                self.expr(value, inside);
                if let (ExprKind::Block(_), Some(declared)) =
                    (&value.kind, self.scopes.var(inside.machine, &name.text))
                {
                    self.holds_block.insert(declared);
                }
                self.assign(name, inside);
            }
            ExprKind::Return(value) => self.expr(value, inside),
            ExprKind::Block(block) => self.block(block, inside),
            ExprKind::BraceArray(items) => {
                for item in items {
                    self.expr(item, inside);
                }
            }
            ExprKind::Send(receiver, message) => {
                let is_hyphen = message.selector == "-"
                    && self.hyphenated(&message.args[0].span, inside).is_some();
                if !is_hyphen {
                    self.order(expr, receiver, message);
                }
                self.legacy(expr, receiver, message, inside);
                self.expr(receiver, inside);
                for arg in &message.args {
                    self.expr(arg, inside);
                }
            }
            ExprKind::Cascade(receiver, messages) => {
                self.expr(receiver, inside);
                for arg in messages.iter().flat_map(|message| &message.args) {
                    self.expr(arg, inside);
                }
            }
            _ => {}
        }
    }

    /// Whether names that nobody here knows may be those of an importer.
    fn is_module(&self) -> bool {
        !self.scopes.exports.is_empty()
    }

    fn read(&mut self, name: &'a str, span: &Span, inside: &Inside<'a>) {
        if inside.locals.contains(&name) {
            return;
        }
        if let Some(declared) = self.scopes.var(inside.machine, name) {
            self.var_uses.entry(declared).or_default().n_reads += 1;
            let is_later = inside.initialises.is_some_and(|nth| declared.1 >= nth);
            if is_later && declared.0 == inside.machine {
                let message = || format!("`{name}` has no value yet when this runs");
                let help = || Some("variables get their first values in textual order".to_string());
                self.warn(span, "used-too-early", message, help);
            }
            return;
        }
        if let Some(declared) = self.scopes.formula(inside.machine, name) {
            self.formula_uses.entry(declared).or_default().n_reads += 1;
            return;
        }
        let is_recorded = self.host.is_some_and(|host| host.contains(name));
        if let Some(place) = self.hyphenated(span, inside).filter(|_| !is_recorded) {
            return self.warn_hyphenated(place, inside);
        }
        match self.host {
            Some(host) if host.contains(name) || name == "Array" || self.is_module() => {}
            Some(host) => {
                let known = self.seen(inside);
                let message = || format!("nothing is called `{name}`");
                self.warn(span, "unknown-name", message, || {
                    let all: BTreeSet<&str> =
                        host.iter().map(String::as_str).chain(known).collect();
                    names::suggestion(name, all)
                });
            }
            None => {
                let Some(near) = self.slip(name, inside) else { return };
                let message = || format!("`{name}` is not declared");
                let help = || Some(format!("did you mean the variable `{near}`?"));
                self.warn(span, "unknown-name", message, help);
            }
        }
    }

    /// The variable that a name is a slip for. Many names are asked again and again, and
    /// comparing is slow, so each is asked once in a machine and a flood is not asked at all.
    fn slip(&mut self, name: &'a str, inside: &Inside<'a>) -> Option<&'a str> {
        if let Some(known) = self.slips.get(&(inside.machine, name)) {
            return *known;
        }
        if self.slips.len() >= MOST_SLIPS {
            return None;
        }
        let slip = slip_for(name, &self.seen(inside));
        self.slips.insert((inside.machine, name), slip);
        slip
    }

    /// The names of variables seen from a block.
    fn seen(&self, inside: &Inside<'a>) -> Vec<&'a str> {
        let mut names = inside.locals.clone();
        names.extend(self.scopes.var_names(inside.machine));
        names
    }

    fn assign(&mut self, name: &Name, inside: &Inside<'a>) {
        if inside.locals.contains(&name.text.as_str()) {
            return;
        }
        if let Some(declared) = self.scopes.var(inside.machine, &name.text) {
            self.var_uses.entry(declared).or_default().n_writes += 1;
            return;
        }
        if self.is_module() {
            return;
        }
        let is_recorded = self.host.is_some_and(|host| host.contains(&name.text))
            || ALWAYS.contains(&name.text.as_str());
        if is_recorded {
            let message = || format!("`{}` is of the recording and cannot be assigned", name.text);
            let help = || Some("declare a variable under another name".to_string());
            return self.warn(&name.span, "undeclared-assignment", message, help);
        }
        let known = self.seen(inside);
        let message = || format!("`{}` is assigned but not declared", name.text);
        self.warn(&name.span, "undeclared-assignment", message, || {
            let near = names::nearest(&name.text, known);
            Some(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it: `(var {} := [nil])`", name.text),
            })
        });
    }

    /// `1 + 2 * 3` is nine here, and people expect seven.
    fn order(&mut self, expr: &Expr, receiver: &Expr, message: &Message) {
        let ExprKind::Send(first, inner) = &receiver.kind else { return };
        let is_parenthesised = receiver.span.start < first.span.start;
        // A chain begins where all its parts begin; one word on it is enough.
        if is_parenthesised
            || !is_surprising(receiver, message)
            || self.last_order == Some(expr.span.start)
        {
            return;
        }
        self.last_order = Some(expr.span.start);
        let text = || format!("`{}` goes before `{}` here", inner.selector, message.selector);
        let help = || {
            let read = format!("({})", short(receiver));
            Some(format!(
                "it is read from left to right, as `{read} {} ...`; say so with parentheses",
                message.selector
            ))
        };
        self.warn(&expr.span, "operator-order", text, help);
    }

    /// `x value: e`, which old programs wrote for `x := e`.
    fn legacy(&mut self, expr: &Expr, receiver: &Expr, message: &Message, inside: &Inside<'a>) {
        let ExprKind::Name(name) = &receiver.kind else { return };
        if message.selector != "value:" || inside.locals.contains(&name.as_str()) {
            return;
        }
        let Some(declared) = self.scopes.var(inside.machine, name) else { return };
        let first = self.scopes.var_at(declared).init.body.last();
        if first.is_some_and(|value| matches!(value.kind, ExprKind::Block(_))) {
            return;
        }
        // Whether it ever holds a block shows at the end.
        let help = format!("write `{name} := {}`", short(&message.args[0]));
        self.old_assignments.push((declared, expr.span.clone(), help));
    }

    /// Old assignments to variables that never get a block; the others call it.
    pub fn old_assignments(&mut self) {
        for (declared, span, help) in std::mem::take(&mut self.old_assignments) {
            if self.holds_block.contains(&declared) {
                continue;
            }
            self.var_uses.entry(declared).or_default().n_writes += 1;
            let name = &self.scopes.var_at(declared).name.text;
            let text = || format!("`{name} value: ...` is an old way to assign");
            self.warn(&span, "legacy-assignment", text, || Some(help));
        }
    }

    /// `my-var` in a block is a difference, though outside of blocks it is a name: the place
    /// of the longest such name in sight that a word is part of.
    fn hyphenated(&self, span: &Span, inside: &Inside<'a>) -> Option<Span> {
        let text = self.text(&(0..usize::MAX));
        let joins = |c: char| continues_name(c) || c == '-';
        let before = text[..span.start].trim_end_matches(joins).len();
        let after = text[span.end..].find(|c| !joins(c)).map_or(text.len(), |i| span.end + i);
        if after - before > MOST_HYPHENATED {
            return None;
        }
        let is_cut = |i: &usize| text.as_bytes()[*i] == b'-';
        let starts = (before..=span.start).filter(|i| *i == before || is_cut(&(*i - 1)));
        let mut spans = starts.flat_map(|start| {
            let ends = (span.end..=after).rev().filter(|i| *i == after || is_cut(i));
            ends.map(move |end| start..end)
        });
        spans.find(|place| {
            let name = &text[place.clone()];
            let is_recorded = || self.host.is_some_and(|host| host.contains(name));
            *place != *span && (self.scopes.var(inside.machine, name).is_some() || is_recorded())
        })
    }

    fn warn_hyphenated(&mut self, place: Span, inside: &Inside<'a>) {
        let name = self.text(&place);
        let help = if let Some(declared) = self.scopes.var(inside.machine, name) {
            self.var_uses.entry(declared).or_default().n_reads += 1;
            format!("in blocks names have no hyphens: call it `{}`", name.replace('-', "_"))
        } else {
            format!(
                "write `(recording channel: '{name}')`, or `object:`, `joint:`, `region:`, \
                 `report:`, whichever it is"
            )
        };
        if self.last_hyphen.replace(place.start) == Some(place.start) {
            return; // said at the first of its words
        }
        let message = || format!("in a block `{name}` is `{}`", name.replace('-', " - "));
        self.warn(&place, "hyphenated-name", message, || Some(help));
    }
}

/// An expression in a few words.
fn short(expr: &Expr) -> String {
    let text = print_expr(expr);
    if text.chars().count() <= 40 { text } else { "...".to_string() }
}

/// The variable that a name is a slip for. Without a recording every name may be something
/// of it, so a name must be very near: one letter, and not merely another number.
fn slip_for<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let letters = |text: &str| text.trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase();
    let near = names::nearest(name, known.iter().copied())?;
    let is_long = name.chars().count() >= 4;
    let is_case = name.to_lowercase() == near.to_lowercase();
    let is_number = letters(name) == letters(near) && !is_case;
    (is_case || is_long && !is_number).then_some(near)
}
