//! Mutation: small changes of a test that no recording notices.
//!
//! A comparison is turned round, a transition dropped, a constant changed. Where every
//! recording still gets the verdict it got, the test does not depend on that part: nothing
//! it was shown could tell. A test none of whose changes is noticed cannot fail.

use headland_base::{Findings, Place};

use crate::compile::{Import, compile};
use crate::judge::{JudgeOptions, judge};
use crate::lang::ast::{
    ActionBody, Block, Expr, ExprKind, Guard, Item, Program, Span, Temporal, TemporalKind,
};
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
    let verdicts = |program: &Program| -> Vec<Vec<Verdict>> {
        let of_scene = |scene: &&Scene| {
            let mut findings = Findings::new();
            let code = compile(program, scene.vocabulary(), import, &mut findings);
            let judgement = judge(&code, scene, &JudgeOptions::default());
            judgement.roots.iter().map(|root| root.verdict).collect()
        };
        scenes.iter().map(of_scene).collect()
    };
    let wanted = verdicts(program);
    let (mut unnoticed, mut n_tried) = (Vec::new(), 0);
    for (mutant, changed) in mutants(program) {
        n_tried += 1;
        if verdicts(&changed) == wanted {
            unnoticed.push(mutant);
        }
    }
    (unnoticed, n_tried)
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
