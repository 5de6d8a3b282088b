//! One who looks on while a test runs, and keeps what an explanation needs: the parts of the
//! last expression with their values, and who assigned what to which variable.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use headland_base::SimTime;

use super::{Line, MOST_DEPTH, MOST_LINES, one_line};
use crate::code::{Code, GuardCode, Site};
use crate::run::Watch;
use crate::scene::Scene;
use crate::value::Value;

/// Parts of one expression that are listed.
const MOST_PARTS: usize = 40;

/// A variable that got a value, and what that was made of.
struct Assignment {
    time: SimTime,
    site: Site,
    value: String,
    parts: Vec<(Site, String)>,
    fed_by: Vec<Rc<Assignment>>,
    depth: u8,
    /// More fed it than is kept.
    is_cut: bool,
}

/// Looks on and keeps what an explanation needs.
pub(super) struct Witness<'a> {
    code: &'a Code,
    scene: &'a Scene,
    /// The snapshot and the transition to be explained.
    pub(super) wanted: Option<(usize, (u32, u32))>,
    assigned: BTreeMap<(Option<u32>, u32), Rc<Assignment>>,
    tick: usize,
    block: u32,
    parts: Vec<(Site, String)>,
    read: Vec<Rc<Assignment>>,
    /// Assignments whose values are being computed, with how many parts and reads there were
    /// before: what came since is what they are made of.
    begun: Vec<(Site, usize, usize)>,
    /// Events asked since the last snapshot began, by the block; settling asks again.
    asked: Vec<(u32, Vec<Line>)>,
    /// The blocks of events; actions are no way out.
    guards: BTreeSet<u32>,
    pub(super) seen: Option<Vec<Line>>,
}

impl<'a> Witness<'a> {
    pub(super) fn new(code: &'a Code, scene: &'a Scene) -> Witness<'a> {
        Witness {
            code,
            scene,
            wanted: None,
            assigned: BTreeMap::new(),
            tick: 0,
            block: 0,
            parts: Vec::new(),
            read: Vec::new(),
            begun: Vec::new(),
            asked: Vec::new(),
            guards: guard_blocks(code),
            seen: None,
        }
    }

    /// The block that ran last: itself, its parts, what fed them.
    pub(super) fn lines(&self) -> Vec<Line> {
        let mut out = Vec::new();
        self.list(&self.parts, &self.read, 0, &mut BTreeSet::new(), &mut out);
        out
    }

    /// `told` are assignments that are in `out` already: what feeds two is said once.
    fn list(
        &self,
        parts: &[(Site, String)],
        fed_by: &[Rc<Assignment>],
        depth: usize,
        told: &mut BTreeSet<*const Assignment>,
        out: &mut Vec<Line>,
    ) {
        // The whole comes last and is said first; what is its own value says nothing.
        let mut said: Vec<Site> = Vec::new();
        for (site, value) in parts.iter().rev() {
            let text = self.code.text(*site);
            let is_told_below = fed_by.iter().any(|fed| fed.site == *site);
            if text == value || said.contains(site) || is_told_below {
                continue;
            }
            said.push(*site);
            let is_within = |outer: &&Site| {
                outer.source == site.source && outer.start <= site.start && site.end <= outer.end
            };
            let inset = said.iter().filter(is_within).count() - 1;
            let (text, value) = (one_line(text), value.clone());
            out.push(Line { depth: depth + inset, site: *site, text, value, time: None });
        }
        for assignment in fed_by {
            if out.len() >= MOST_LINES {
                return;
            }
            if !told.insert(Rc::as_ptr(assignment)) {
                continue;
            }
            out.push(Line {
                depth: depth + 1,
                site: assignment.site,
                text: one_line(self.code.text(assignment.site)),
                value: assignment.value.clone(),
                time: Some(assignment.time),
            });
            self.list(&assignment.parts, &assignment.fed_by, depth + 2, told, out);
            if assignment.is_cut {
                out.push(Line {
                    depth: depth + 2,
                    site: assignment.site,
                    text: "…".to_string(),
                    value: String::new(),
                    time: None,
                });
            }
        }
    }

    /// What the ways out were at the last snapshot.
    pub(super) fn last(mut self) -> Vec<Line> {
        self.close();
        self.asked.into_iter().flat_map(|(_, lines)| lines).collect()
    }

    fn close(&mut self) {
        if !self.parts.is_empty() && self.guards.contains(&self.block) {
            let lines = self.lines();
            match self.asked.iter_mut().find(|(block, _)| *block == self.block) {
                Some((_, before)) => *before = lines,
                None => self.asked.push((self.block, lines)),
            }
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.parts.clear();
        self.read.clear();
        self.begun.clear();
    }

    /// How many parts and reads there were before the value that is being computed.
    fn before(&self) -> (usize, usize) {
        self.begun.last().map_or((0, 0), |(_, n_parts, n_read)| (*n_parts, *n_read))
    }
}

fn guard_blocks(code: &Code) -> BTreeSet<u32> {
    let transitions = code.machines.iter().flat_map(|machine| &machine.transitions);
    let blocks = transitions.filter_map(|transition| match transition.guard {
        GuardCode::Block(block) | GuardCode::AfterBlock(block) => Some(block),
        _ => None,
    });
    blocks.collect()
}

impl Watch for Witness<'_> {
    fn begins(&mut self, tick: usize, block: u32) {
        // Only the last snapshot's events are kept; writing them down costs more than running
        // them, so it is put off until the next block begins there.
        if tick != self.tick || tick + 1 < self.scene.times().len() {
            self.asked.clear();
            self.forget();
        } else {
            self.close();
        }
        (self.tick, self.block) = (tick, block);
    }

    fn valued(&mut self, site: Site, value: &Value) {
        if self.parts.len() - self.before().0 < MOST_PARTS {
            self.parts.push((site, value.to_string()));
        }
    }

    fn read(&mut self, _: Site, frame: Option<u32>, slot: u32) {
        let known = &self.read[self.before().1..];
        if let Some(assignment) = self.assigned.get(&(frame, slot))
            && !known.iter().any(|known| Rc::ptr_eq(known, assignment))
            && known.len() < MOST_PARTS
        {
            self.read.push(Rc::clone(assignment));
        }
    }

    fn assigning(&mut self, site: Site) {
        self.begun.push((site, self.parts.len(), self.read.len()));
    }

    fn assigned(&mut self, site: Site, frame: Option<u32>, slot: u32, value: &Value) {
        // A first value is a block of its own. One that a `^` left behind never got there.
        let begun = self.begun.iter().rposition(|(begun, ..)| *begun == site);
        self.begun.truncate(begun.map_or(0, |i| i + 1));
        let (n_parts, n_read) = self.before();
        self.begun.pop();
        let (parts, read) = (self.parts.split_off(n_parts), self.read.split_off(n_read));
        let depth = read.iter().map(|fed| fed.depth + 1).max().unwrap_or(0);
        let is_deep = depth > MOST_DEPTH;
        let time = self.scene.times()[self.tick];
        let assignment = Assignment {
            time,
            site,
            value: value.to_string(),
            parts,
            is_cut: is_deep,
            fed_by: if is_deep { Vec::new() } else { read },
            depth: if is_deep { 0 } else { depth },
        };
        self.assigned.insert((frame, slot), Rc::new(assignment));
    }

    fn fired(&mut self, tick: usize, machine: u32, transition: u32) {
        if self.wanted == Some((tick, (machine, transition))) && self.seen.is_none() {
            self.seen = Some(self.lines());
        }
        self.asked.clear();
        self.forget();
    }
}
