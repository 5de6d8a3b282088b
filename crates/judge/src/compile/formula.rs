//! Temporal formulas into code.
//!
//! An atom is a block that reads the snapshot and nothing else: a formula speaks of the
//! whole recording at once, where a variable has no one value.

use headland_base::{Diagnostic, Findings, Place};

use crate::code::{Connective, FormulaCode, Literal, Node, Op, Operator, TemporalCode};
use crate::lang::ast::{Formula, Temporal, TemporalKind, Window};

use super::Compiler;

impl<'a> Compiler<'a> {
    pub(super) fn formula_code(
        &mut self,
        formula: &'a Formula,
        findings: &mut Findings,
    ) -> FormulaCode {
        let body = self.temporal(&formula.body, findings);
        FormulaCode { name: formula.name.text.clone(), body, site: self.site(&formula.span) }
    }

    fn temporal(&mut self, formula: &'a Temporal, findings: &mut Findings) -> TemporalCode {
        let mut over = |compiler: &mut Self, operator, window: &Window, inner: &'a Temporal| {
            TemporalCode::Over(operator, *window, Box::new(compiler.temporal(inner, findings)))
        };
        let connective = match &formula.kind {
            TemporalKind::Atom(block) => {
                let id = self.top_block(block);
                if let Some(site) = first_variable(&self.code.blocks[id as usize].body) {
                    let source = &self.code.sources[site.source as usize];
                    let place = Place::new(source, site.start as usize..site.end as usize);
                    findings.add(
                        Diagnostic::warning(
                            "formula-reads-variable",
                            "a formula can only read the recording",
                        )
                        .at(place)
                        .note("it speaks of all snapshots at once, where a variable has no one value")
                        .help("use an event of a machine for this"),
                    );
                    return TemporalCode::Missing(site);
                }
                return TemporalCode::Atom(id);
            }
            TemporalKind::Name(name) => {
                let known = self.formulas.iter().rfind(|(known, _)| known == name);
                return match known {
                    Some((_, id)) => TemporalCode::Formula(*id),
                    None => TemporalCode::Missing(self.site(&formula.span)),
                };
            }
            TemporalKind::Not(inner) => {
                return TemporalCode::Not(Box::new(self.temporal(inner, findings)));
            }
            TemporalKind::Always(w, f) => return over(self, Operator::Always, w, f),
            TemporalKind::Eventually(w, f) => return over(self, Operator::Eventually, w, f),
            TemporalKind::Historically(w, f) => return over(self, Operator::Historically, w, f),
            TemporalKind::Once(w, f) => return over(self, Operator::Once, w, f),
            TemporalKind::And(..) => Connective::And,
            TemporalKind::Or(..) => Connective::Or,
            TemporalKind::Implies(..) => Connective::Implies,
            TemporalKind::Iff(..) => Connective::Iff,
            TemporalKind::Until(window, ..) => Connective::Until(*window),
            TemporalKind::Since(window, ..) => Connective::Since(*window),
            TemporalKind::Broken(_) => return TemporalCode::Missing(self.site(&formula.span)),
        };
        let (TemporalKind::And(a, b)
        | TemporalKind::Or(a, b)
        | TemporalKind::Implies(a, b)
        | TemporalKind::Iff(a, b)
        | TemporalKind::Until(_, a, b)
        | TemporalKind::Since(_, a, b)) = &formula.kind
        else {
            unreachable!("every other kind has returned")
        };
        let first = Box::new(self.temporal(a, findings));
        TemporalCode::Two(connective, first, Box::new(self.temporal(b, findings)))
    }
}

/// The first place where a block reads or writes something that is not of the snapshot.
fn first_variable(node: &Node) -> Option<crate::code::Site> {
    let both = |a: &Node, b: &Node| first_variable(a).or_else(|| first_variable(b));
    match &node.op {
        Op::Var(..) | Op::Global(_) | Op::SetVar(..) | Op::SetGlobal(..) => Some(node.site),
        Op::Compare(_, a, b)
        | Op::Arithmetic(_, a, b)
        | Op::Tolerance(a, b)
        | Op::And(a, b)
        | Op::Or(a, b) => both(a, b),
        Op::Abs(a) | Op::Negated(a) | Op::Not(a) | Op::Return(a) | Op::SetLocal(_, _, a) => {
            first_variable(a)
        }
        Op::If(a, yes, no) => first_variable(a)
            .or_else(|| yes.as_deref().and_then(first_variable))
            .or_else(|| no.as_deref().and_then(first_variable)),
        Op::Sequence(nodes) | Op::Array(nodes) => nodes.iter().find_map(first_variable),
        Op::Send(receiver, _, args) => {
            first_variable(receiver).or_else(|| args.iter().find_map(first_variable))
        }
        Op::Literal(Literal::Nil | Literal::Bool(_)) => None,
        _ => None,
    }
}
