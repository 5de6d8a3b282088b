//! Mutation: small changes of a test that no recording notices.
//!
//! A comparison is turned round, a transition dropped, a constant changed, in a formula an
//! operator or a window. Where every recording still gets the verdict it got, the test does
//! not depend on that part: nothing it was shown could tell. A test none of whose changes is
//! noticed cannot fail. Machines that are imported belong to the test and are changed too.

use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::{Findings, Place, SimDuration, Source};

use crate::compile::{Import, compile};
use crate::judge::{JudgeOptions, judge};
use crate::lang::ast::{
    ActionBody, Block, Expr, ExprKind, Guard, Item, Program, Span, Temporal, TemporalKind, Window,
};
use crate::lang::{parse, print};
use crate::scene::Scene;
use crate::verdict::Verdict;

/// More changes than this are not tried; the first ones in the text are.
pub const MOST_MUTANTS: usize = 1000;

/// A change of a test.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// In words: `< turned into >=`.
    pub what: String,
    /// Where.
    pub place: Place,
}

/// Every small change of a program, in textual order, with the changed program. Made one by
/// one: each is as large as the program.
pub fn mutants(program: &Program) -> impl Iterator<Item = (Mutant, Program)> {
    (0..MOST_MUTANTS).map_while(|index| {
        let mut changed = program.clone();
        let mut change = Change { left: index, done: None };
        change.items(&mut changed.items);
        let (what, span) = change.done?;
        Some((Mutant { what, place: Place::new(&program.source, span) }, changed))
    })
}

/// The changes that no recording notices, and how many were tried.
pub fn survivors(program: &Program, scenes: &[&Scene], import: Import<'_>) -> (Vec<Mutant>, usize) {
    let wanted = verdicts(program, scenes, import);
    let (mut unnoticed, mut n_tried) = (Vec::new(), 0);
    let mut try_out = |mutant: Mutant, got: Vec<Vec<Verdict>>| {
        n_tried += 1;
        if got == wanted {
            unnoticed.push(mutant);
        }
    };
    for (mutant, changed) in mutants(program) {
        try_out(mutant, verdicts(&changed, scenes, import));
    }
    for (path, module) in modules(program, import) {
        for (mutant, changed) in mutants(&module).filter(|(m, _)| is_exported(&module, m)) {
            let text = Source::new(module.source.path.clone(), print(&changed));
            let import = |wanted: &str| match wanted == path {
                true => Ok(Arc::clone(&text)),
                false => import(wanted),
            };
            try_out(mutant, verdicts(program, scenes, &import));
        }
    }
    (unnoticed, n_tried)
}

/// What each recording's roots get.
fn verdicts(program: &Program, scenes: &[&Scene], import: Import<'_>) -> Vec<Vec<Verdict>> {
    let of_scene = |scene: &&Scene| {
        let mut findings = Findings::new();
        let code = compile(program, scene.vocabulary(), import, &mut findings);
        let judgement = judge(&code, scene, &JudgeOptions::default());
        judgement.roots.iter().map(|root| root.verdict).collect()
    };
    scenes.iter().map(of_scene).collect()
}

/// What a program imports, by its path, once. A part that cannot be read would be lost in
/// printing, so such a file is left alone.
fn modules(program: &Program, import: Import<'_>) -> BTreeMap<String, Program> {
    let paths = program.items.iter().filter_map(|item| match item {
        Item::Import(form) => Some(form.path.clone()),
        _ => None,
    });
    let read = paths.filter_map(|path| {
        let mut findings = Findings::new();
        let module = parse(&import(&path).ok()?, &mut findings);
        (!findings.has_errors()).then_some((path, module))
    });
    read.collect()
}

/// Whether a change is within a machine that a file exports; nothing else comes along.
fn is_exported(module: &Program, mutant: &Mutant) -> bool {
    let exports = |name: &str| {
        let mut items = module.items.iter();
        items.any(|item| matches!(item, Item::Export(exported, _) if exported.text == name))
    };
    module.items.iter().any(|item| match item {
        Item::Machine(machine) => {
            exports(&machine.name.text) && machine.span.contains(&mutant.place.span.start)
        }
        _ => false,
    })
}

/// Walks a program to its `left`-th place for a change and makes it.
struct Change {
    left: usize,
    done: Option<(String, Span)>,
}

impl Change {
    /// Whether this place is the one.
    fn is_here(&mut self) -> bool {
        if self.done.is_some() {
            return false;
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                false
            }
            None => true,
        }
    }

    fn items(&mut self, items: &mut Vec<Item>) {
        let mut dropped = None;
        for (i, item) in items.iter_mut().enumerate() {
            if let Item::Transition(transition) = item
                && self.is_here()
            {
                let from = transition.from.as_ref().map_or("*", |from| from.text.as_str());
                let what = format!("{from} -> {} dropped", transition.to.text);
                self.done = Some((what, transition.span.clone()));
                dropped = Some(i);
                break;
            }
            self.item(item);
            if self.done.is_some() {
                break;
            }
        }
        if let Some(i) = dropped {
            items.remove(i);
        }
    }

    fn item(&mut self, item: &mut Item) {
        match item {
            Item::Var(var) => self.block(&mut var.init),
            Item::Event(event) => self.block(&mut event.block),
            Item::Formula(formula) => self.temporal(&mut formula.body),
            Item::Machine(machine) => self.items(&mut machine.items),
            Item::State(state) => self.items(&mut state.items),
            Item::Transition(transition) => match &mut transition.guard {
                Guard::Block(block) | Guard::AfterBlock(block) => self.block(block),
                Guard::AfterMillis(millis, span) if self.is_here() => {
                    let doubled = millis.saturating_mul(2).max(1);
                    let what = format!("{millis} turned into {doubled}");
                    self.done = Some((what, span.clone()));
                    *millis = doubled;
                }
                _ => {}
            },
            Item::Action(action) => {
                if let ActionBody::Block(block) = &mut action.body {
                    self.block(block);
                }
            }
            _ => {}
        }
    }

    fn block(&mut self, block: &mut Block) {
        block.body.iter_mut().for_each(|expr| self.expr(expr));
    }

    fn temporal(&mut self, formula: &mut Temporal) {
        self.operator(formula);
        self.window(formula);
        match &mut formula.kind {
            TemporalKind::Atom(block) => self.block(block),
            TemporalKind::Not(f)
            | TemporalKind::Always(_, f)
            | TemporalKind::Eventually(_, f)
            | TemporalKind::Historically(_, f)
            | TemporalKind::Once(_, f) => self.temporal(f),
            TemporalKind::And(f, g)
            | TemporalKind::Or(f, g)
            | TemporalKind::Implies(f, g)
            | TemporalKind::Iff(f, g)
            | TemporalKind::Until(_, f, g)
            | TemporalKind::Since(_, f, g) => {
                self.temporal(f);
                self.temporal(g);
            }
            TemporalKind::Name(_) | TemporalKind::Broken(_) => {}
        }
    }

    /// `always` into `eventually` and the like.
    fn operator(&mut self, formula: &mut Temporal) {
        let Some((word, instead)) = other_operator(&formula.kind) else { return };
        if !self.is_here() {
            return;
        }
        self.done = Some((format!("{word} {instead}"), formula.span.clone()));
        let kind = std::mem::replace(&mut formula.kind, TemporalKind::Name(String::new()));
        formula.kind = match kind {
            TemporalKind::Not(f) => f.kind,
            TemporalKind::Always(w, f) => TemporalKind::Eventually(w, f),
            TemporalKind::Eventually(w, f) => TemporalKind::Always(w, f),
            TemporalKind::Historically(w, f) => TemporalKind::Once(w, f),
            TemporalKind::Once(w, f) => TemporalKind::Historically(w, f),
            TemporalKind::And(f, g) => TemporalKind::Or(f, g),
            TemporalKind::Or(f, g) => TemporalKind::And(f, g),
            TemporalKind::Implies(f, g) => TemporalKind::And(f, g),
            TemporalKind::Iff(f, g) => TemporalKind::And(f, g),
            TemporalKind::Until(w, _, g) => TemporalKind::Eventually(w, g),
            TemporalKind::Since(w, _, g) => TemporalKind::Once(w, g),
            kind @ (TemporalKind::Atom(_) | TemporalKind::Name(_) | TemporalKind::Broken(_)) => {
                kind
            }
        };
    }

    /// Each end of a window that is written.
    fn window(&mut self, formula: &mut Temporal) {
        let span = formula.span.clone();
        let (TemporalKind::Always(window, _)
        | TemporalKind::Eventually(window, _)
        | TemporalKind::Historically(window, _)
        | TemporalKind::Once(window, _)
        | TemporalKind::Until(window, ..)
        | TemporalKind::Since(window, ..)) = &mut formula.kind
        else {
            return;
        };
        if window.from_nanos == 0 && window.to_nanos.is_none() {
            return; // none is written
        }
        let to = window.to_nanos;
        let later = match window.from_nanos {
            0 => to.map_or(0, |to| to / 2),
            from => from.saturating_mul(2).min(to.unwrap_or(i64::MAX)),
        };
        let longer = to.map(|to| to.saturating_mul(2).max(1));
        for changed in
            [Window { from_nanos: later, ..*window }, Window { to_nanos: longer, ..*window }]
        {
            if changed != *window && self.is_here() {
                let what = format!("{} turned into {}", written(*window), written(changed));
                self.done = Some((what, span));
                *window = changed;
                return;
            }
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        let span = expr.span.clone();
        match &mut expr.kind {
            ExprKind::Number(n) if self.is_here() => {
                let changed = if *n == 0.0 { 1.0 } else { *n * 2.0 };
                self.done = Some((format!("{n} turned into {changed}"), span));
                *n = changed;
            }
            ExprKind::Bool(b) if self.is_here() => {
                self.done = Some((format!("{b} turned into {}", !*b), span));
                *b = !*b;
            }
            ExprKind::Send(receiver, message) => {
                if let Some(opposite) = opposite(&message.selector)
                    && self.is_here()
                {
                    let what = format!("{} turned into {opposite}", message.selector);
                    self.done = Some((what, message.selector_span.clone()));
                    message.selector = opposite.to_string();
                }
                self.expr(receiver);
                message.args.iter_mut().for_each(|arg| self.expr(arg));
            }
            ExprKind::Cascade(receiver, messages) => {
                self.expr(receiver);
                let args = messages.iter_mut().flat_map(|message| &mut message.args);
                args.for_each(|arg| self.expr(arg));
            }
            ExprKind::Assign(_, value) | ExprKind::Return(value) => self.expr(value),
            ExprKind::Block(block) => self.block(block),
            ExprKind::LiteralArray(items) | ExprKind::BraceArray(items) => {
                items.iter_mut().for_each(|item| self.expr(item));
            }
            _ => {}
        }
    }
}

/// `[0, 0.5]`
fn written(window: Window) -> String {
    let secs = |nanos: i64| SimDuration::from_nanos(nanos).secs();
    let to = window.to_nanos.map_or("…".to_string(), |to| secs(to).to_string());
    format!("[{}, {to}]", secs(window.from_nanos))
}

/// The word of an operator, and what becomes of it.
fn other_operator(kind: &TemporalKind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        TemporalKind::Not(_) => ("not", "dropped"),
        TemporalKind::Always(..) => ("always", "turned into eventually"),
        TemporalKind::Eventually(..) => ("eventually", "turned into always"),
        TemporalKind::Historically(..) => ("historically", "turned into once"),
        TemporalKind::Once(..) => ("once", "turned into historically"),
        TemporalKind::And(..) => ("and", "turned into or"),
        TemporalKind::Or(..) => ("or", "turned into and"),
        TemporalKind::Implies(..) => ("implies", "turned into and"),
        TemporalKind::Iff(..) => ("iff", "turned into and"),
        TemporalKind::Until(..) => ("until", "turned into eventually, without its left side"),
        TemporalKind::Since(..) => ("since", "turned into once, without its left side"),
        TemporalKind::Atom(_) | TemporalKind::Name(_) | TemporalKind::Broken(_) => return None,
    })
}

fn opposite(selector: &str) -> Option<&'static str> {
    Some(match selector {
        "<" => ">=",
        ">=" => "<",
        ">" => "<=",
        "<=" => ">",
        "=" | "==" => "!=",
        "!=" | "~=" | "~~" => "=",
        "and:" => "or:",
        "or:" => "and:",
        _ => return None,
    })
}
