//! Temporal formulas into code.
//!
//! An atom is a block that reads the snapshot and nothing else: a formula speaks of the
//! whole recording at once, where a variable has no one value.

use headland_base::{Diagnostic, Findings, Place};

use crate::code::{BlockCode, FormulaCode, Node as Expression, Op, Site};
use crate::lang::ast::{Formula, Temporal, TemporalKind};
use crate::temporal::{Node, NodeId};

use super::Compiler;

impl<'a> Compiler<'a> {
    pub(super) fn formula_code(
        &mut self,
        formula: &'a Formula,
        findings: &mut Findings,
    ) -> FormulaCode {
        let first = self.code.temporal.len();
        let root = self.temporal(&formula.body, findings);
        let own = self.code.temporal.nodes().skip(first);
        let own: Vec<Node> = own.map(|(_, node)| node).collect();
        let is_behind =
            |node: &Node| matches!(node, Node::Historically(..) | Node::Once(..) | Node::Since(..));
        let looks_back =
            own.iter().any(is_behind) && own.iter().all(|node| node.looks_ahead().is_none());
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

/// The first place where a block reads or writes something that is not of the snapshot.
fn first_variable(blocks: &[BlockCode], node: &Expression) -> Option<Site> {
    match &node.op {
        Op::Var(..) | Op::Global(_) | Op::SetVar(..) | Op::SetGlobal(..) => Some(node.site),
        Op::Block(id) => first_variable(blocks, &blocks[*id as usize].body),
        _ => node.children().find_map(|child| first_variable(blocks, child)),
    }
}
