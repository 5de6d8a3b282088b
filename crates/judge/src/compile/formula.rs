//! Temporal formulas into code.
//!
//! An atom is a block that reads the snapshot and nothing else: a formula speaks of the
//! whole recording at once, where a variable has no one value.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::{Diagnostic, Findings, Place};

use crate::code::{BlockCode, FormulaCode, Node as Expression, Op, Site};
use crate::lang::ast::{Block, Expr, ExprKind, Formula, Item, Temporal, TemporalKind};
use crate::temporal::{Node, NodeId};

use super::Compiler;

impl<'a> Compiler<'a> {
    pub(super) fn formula_code(
        &mut self,
        formula: &'a Formula,
        findings: &mut Findings,
    ) -> FormulaCode {
        let root = self.temporal(&formula.body, findings);
        // With the formulas it names.
        let nodes: Vec<Node> =
            root.map_or(Vec::new(), |root| self.code.temporal.nodes_of(root).collect());
        let is_behind =
            |node: &Node| matches!(node, Node::Historically(..) | Node::Once(..) | Node::Since(..));
        let looks_back =
            nodes.iter().any(is_behind) && nodes.iter().all(|node| node.looks_ahead().is_none());
        let (name, site) = (formula.name.text.clone(), self.site(&formula.span));
        FormulaCode { name, root, n_atoms: self.code.atoms.len(), looks_back, site }
    }

    fn temporal(&mut self, formula: &'a Temporal, findings: &mut Findings) -> Option<NodeId> {
        let node = match &formula.kind {
            TemporalKind::Atom(block) => {
                let id = self.top_block(block);
                if let Some(site) =
                    first_variable(&self.code.blocks, &self.code.blocks[id as usize].body)
                {
                    self.reads_variable(site, findings);
                    return None;
                }
                self.code.atoms.push(id);
                Node::Atom(self.code.atoms.len() - 1)
            }
            TemporalKind::Name(name) => {
                let (_, id) = self.formulas.iter().rfind(|(known, _)| known == name)?;
                return self.code.formulas[*id as usize].root;
            }
            TemporalKind::Not(f) => Node::Not(self.temporal(f, findings)?),
            TemporalKind::Always(w, f) => Node::Always(*w, self.temporal(f, findings)?),
            TemporalKind::Eventually(w, f) => Node::Eventually(*w, self.temporal(f, findings)?),
            TemporalKind::Historically(w, f) => Node::Historically(*w, self.temporal(f, findings)?),
            TemporalKind::Once(w, f) => Node::Once(*w, self.temporal(f, findings)?),
            TemporalKind::And(f, g)
            | TemporalKind::Or(f, g)
            | TemporalKind::Implies(f, g)
            | TemporalKind::Iff(f, g)
            | TemporalKind::Until(_, f, g)
            | TemporalKind::Since(_, f, g) => {
                // Both are read, so that both are checked.
                let (f, g) = (self.temporal(f, findings), self.temporal(g, findings));
                let (f, g) = (f?, g?);
                match &formula.kind {
                    TemporalKind::And(..) => Node::And(f, g),
                    TemporalKind::Or(..) => Node::Or(f, g),
                    TemporalKind::Implies(..) => Node::Implies(f, g),
                    TemporalKind::Iff(..) => Node::Iff(f, g),
                    TemporalKind::Until(window, ..) => Node::Until(*window, f, g),
                    TemporalKind::Since(window, ..) => Node::Since(*window, f, g),
                    _ => unreachable!("of two formulas"),
                }
            }
            TemporalKind::Broken(_) => return None,
        };
        let site = self.site(&formula.span);
        self.code.temporal_sites.push(site);
        Some(self.code.temporal.push(node))
    }

    fn reads_variable(&self, site: Site, findings: &mut Findings) {
        let source = &self.code.sources[site.source as usize];
        let place = Place::new(source, site.start as usize..site.end as usize);
        findings.push(
            Diagnostic::warning("formula-reads-variable", "a formula can only read the recording")
                .at(place)
                .note("it speaks of all snapshots at once, where a variable has no one value")
                .help("use an event of a machine for this"),
        );
    }
}

/// The formulas of one scope, each after those of them that it mentions, otherwise as they
/// stand. Of two with one name the first counts. Those that need themselves come last, and
/// find a name that is not there.
pub(super) fn in_order(items: &[Item]) -> Vec<&Formula> {
    let mut by_name: BTreeMap<&str, &Formula> = BTreeMap::new();
    let mut waiting = Vec::new();
    for item in items {
        let Item::Formula(formula) = item else { continue };
        if by_name.contains_key(formula.name.text.as_str()) {
            continue;
        }
        by_name.insert(&formula.name.text, formula);
        let mut names = BTreeSet::new();
        names_in(&formula.body, &mut names);
        waiting.push((formula, names));
    }
    let mut out = Vec::new();
    while !waiting.is_empty() {
        let n_before = waiting.len();
        waiting.retain(|(formula, names)| {
            let is_ready = !names.iter().any(|name| by_name.contains_key(name));
            if is_ready {
                by_name.remove(formula.name.text.as_str());
                out.push(*formula);
            }
            !is_ready
        });
        if waiting.len() == n_before {
            out.extend(waiting.drain(..).map(|(formula, _)| formula));
        }
    }
    out
}

/// Every name a formula mentions. Its height is bounded by the parser.
fn names_in<'a>(formula: &'a Temporal, names: &mut BTreeSet<&'a str>) {
    use TemporalKind::*;
    match &formula.kind {
        Atom(block) => names_in_block(block, names),
        Name(name) => _ = names.insert(name),
        Not(f) | Always(_, f) | Eventually(_, f) | Historically(_, f) | Once(_, f) => {
            names_in(f, names);
        }
        And(f, g) | Or(f, g) | Implies(f, g) | Iff(f, g) | Until(_, f, g) | Since(_, f, g) => {
            names_in(f, names);
            names_in(g, names);
        }
        Broken(_) => {}
    }
}

fn names_in_block<'a>(block: &'a Block, names: &mut BTreeSet<&'a str>) {
    block.body.iter().for_each(|expr| names_in_expr(expr, names));
}

fn names_in_expr<'a>(expr: &'a Expr, names: &mut BTreeSet<&'a str>) {
    match &expr.kind {
        ExprKind::Name(name) => _ = names.insert(name),
        ExprKind::Assign(_, value) | ExprKind::Return(value) => names_in_expr(value, names),
        ExprKind::Block(block) => names_in_block(block, names),
        ExprKind::BraceArray(items) => items.iter().for_each(|item| names_in_expr(item, names)),
        ExprKind::Send(receiver, message) => {
            names_in_expr(receiver, names);
            message.args.iter().for_each(|arg| names_in_expr(arg, names));
        }
        ExprKind::Cascade(receiver, messages) => {
            names_in_expr(receiver, names);
            let args = messages.iter().flat_map(|message| &message.args);
            args.for_each(|arg| names_in_expr(arg, names));
        }
        _ => {}
    }
}

/// The first place where a block reads or writes something that is not of the snapshot.
fn first_variable(blocks: &[BlockCode], node: &Expression) -> Option<Site> {
    match &node.op {
        Op::Var(..) | Op::Global(_) | Op::SetVar(..) | Op::SetGlobal(..) => Some(node.site),
        Op::Block(id) => first_variable(blocks, &blocks[*id as usize].body),
        _ => node.children().find_map(|child| first_variable(blocks, child)),
    }
}
