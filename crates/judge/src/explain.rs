//! Why a test is red: the transition, the event, its parts with their values, and the
//! assignments that fed them.
//!
//! ```text
//! bouncer: *-> red at 0.4 s
//!   higher                        true
//!     higher := ball pose z > top true      at 0.3 s
//!       ball pose z               1.3
//!       top                       1.0
//!         top := ball pose z      1.0      at 0 s
//! ```
//!
//! A machine that ended elsewhere than in green is explained by the ways out of its last
//! state and what each of them was at the last snapshot.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use headland_base::SimTime;

use crate::code::{Code, GuardCode, Site};
use crate::judge::{JudgeOptions, judge, judge_watched};
use crate::run::Watch;
use crate::scene::Scene;
use crate::value::Value;
use crate::verdict::{Judgement, RootVerdict, Verdict};

/// Assignments that fed assignments are followed so far.
const MOST_DEPTH: u8 = 4;
/// Parts of one expression that are listed.
const MOST_PARTS: usize = 40;
/// Lines of one block with all that fed it; nobody reads more.
const MOST_LINES: usize = 400;
/// Every length of a stretch is tried up to this one; beyond it lengths are halved.
const EXHAUSTIVE: usize = 1000;

/// One line of an explanation.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// How far in.
    pub depth: usize,
    /// Where in the program.
    pub site: Site,
    /// What stands there.
    pub text: String,
    /// What it was.
    pub value: String,
    /// When, for an assignment.
    pub time: Option<SimTime>,
}

/// Why one root is red.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The root's name.
    pub root: String,
    /// What happened, in words.
    pub headline: String,
    /// When.
    pub time: SimTime,
    /// Parts, values and assignments.
    pub lines: Vec<Line>,
    /// The shortest stretch of snapshots found that still gives the same red.
    pub stretch: Option<Range<usize>>,
}

/// Explains every root that is red.
pub fn explain(code: &Code, scene: &Scene, judgement: &Judgement) -> Vec<Explanation> {
    let red = judgement.roots.iter().filter(|root| root.verdict == Verdict::Red);
    red.map(|root| explain_root(code, scene, root)).collect()
}

fn explain_root(code: &Code, scene: &Scene, root: &RootVerdict) -> Explanation {
    let wanted = root.by.map(|by| (root.tick, by));
    let mut watch = Witness { wanted, ..Witness::new(code, scene) };
    // Looking ahead passes over snapshots, but every block that matters is still run.
    judge_watched(code, scene, &JudgeOptions::default(), &mut watch);
    let (headline, lines) = match root.by {
        Some((machine, transition)) => {
            let machine = &code.machines[machine as usize];
            let transition = &machine.transitions[transition as usize];
            let why = match &transition.guard {
                GuardCode::Always => " always fires".to_string(),
                GuardCode::AfterNanos(nanos) => format!(" after {} ms", nanos / 1_000_000),
                _ => String::new(),
            };
            (format!("{}: {}{why}", machine.name, transition.arc), watch.seen.unwrap_or_default())
        }
        None if root.robustness.is_some() => {
            (format!("{}: {}", root.name, root.reason), Vec::new())
        }
        None => {
            (format!("{}: {}, and no way out held there", root.path, root.reason), watch.last())
        }
    };
    let stretch = root.by.and_then(|by| shortest(code, scene, root.tick, by));
    Explanation { root: root.name.clone(), headline, time: root.time, lines, stretch }
}

/// The shortest stretch, ending where it turned red or one snapshot later, that turns red by
/// the same transition. One later, because a test may look out for the end and go to green.
fn shortest(code: &Code, scene: &Scene, tick: usize, by: (u32, u32)) -> Option<Range<usize>> {
    let ends = [tick + 1, tick + 2].into_iter().filter(|end| *end <= scene.times().len());
    let found = ends.filter_map(|end| shortest_to(code, scene, end, by));
    found.min_by_key(Range::len)
}

fn shortest_to(code: &Code, scene: &Scene, end: usize, by: (u32, u32)) -> Option<Range<usize>> {
    let is_same = |length: usize| {
        let range = Some(end - length..end);
        let options = JudgeOptions { range, ..JudgeOptions::default() };
        judge(code, scene, &options).roots.iter().any(|root| root.by == Some(by))
    };
    if let Some(length) = (1..=end.min(EXHAUSTIVE)).find(|length| is_same(*length)) {
        return Some(end - length..end);
    }
    if end <= EXHAUSTIVE || !is_same(end) {
        return None;
    }
    // Halving: the shortest it finds, which need not be the shortest there is.
    let (mut fails, mut works) = (EXHAUSTIVE, end);
    while works - fails > 1 {
        let middle = fails + (works - fails) / 2;
        if is_same(middle) {
            works = middle;
        } else {
            fails = middle;
        }
    }
    Some(end - works..end)
}

/// A variable that got a value, and what that was made of.
struct Assignment {
    time: SimTime,
    site: Site,
    value: String,
    parts: Vec<(Site, String)>,
    fed_by: Vec<Rc<Assignment>>,
    depth: u8,
}

/// Looks on and keeps what an explanation needs.
struct Witness<'a> {
    code: &'a Code,
    scene: &'a Scene,
    /// The snapshot and the transition to be explained.
    wanted: Option<(usize, (u32, u32))>,
    assigned: BTreeMap<(Option<u32>, u32), Rc<Assignment>>,
    tick: usize,
    block: u32,
    parts: Vec<(Site, String)>,
    read: Vec<Rc<Assignment>>,
    /// Events asked since the last snapshot began.
    asked: Vec<Vec<Line>>,
    seen: Option<Vec<Line>>,
}

impl<'a> Witness<'a> {
    fn new(code: &'a Code, scene: &'a Scene) -> Witness<'a> {
        Witness {
            code,
            scene,
            wanted: None,
            assigned: BTreeMap::new(),
            tick: 0,
            block: 0,
            parts: Vec::new(),
            read: Vec::new(),
            asked: Vec::new(),
            seen: None,
        }
    }

    /// The block that ran last: itself, its parts, what fed them.
    fn lines(&self) -> Vec<Line> {
        let mut out = Vec::new();
        self.list(&self.parts, &self.read, 0, &mut out);
        out
    }

    fn list(
        &self,
        parts: &[(Site, String)],
        fed_by: &[Rc<Assignment>],
        depth: usize,
        out: &mut Vec<Line>,
    ) {
        // The whole comes last and is said first; what is its own value says nothing.
        let mut said: Vec<Site> = Vec::new();
        for (site, value) in parts.iter().rev() {
            let text = self.code.text(*site);
            if text == value || said.contains(site) {
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
            out.push(Line {
                depth: depth + 1,
                site: assignment.site,
                text: one_line(self.code.text(assignment.site)),
                value: assignment.value.clone(),
                time: Some(assignment.time),
            });
            self.list(&assignment.parts, &assignment.fed_by, depth + 2, out);
        }
    }

    /// What the ways out were at the last snapshot.
    fn last(mut self) -> Vec<Line> {
        self.close();
        self.asked.concat()
    }

    fn close(&mut self) {
        if !self.parts.is_empty() {
            let lines = self.lines();
            self.asked.push(lines);
            self.parts.clear();
            self.read.clear();
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Watch for Witness<'_> {
    fn begins(&mut self, tick: usize, block: u32) {
        // Only the last snapshot's events are kept; writing them down costs more than running
        // them, so it is put off until the next block begins there.
        if tick != self.tick || tick + 1 < self.scene.times().len() {
            self.asked.clear();
            self.parts.clear();
            self.read.clear();
        } else {
            self.close();
        }
        (self.tick, self.block) = (tick, block);
    }

    fn valued(&mut self, site: Site, value: &Value) {
        if self.parts.len() < MOST_PARTS {
            self.parts.push((site, value.to_string()));
        }
    }

    fn read(&mut self, _: Site, frame: Option<u32>, slot: u32) {
        if let Some(assignment) = self.assigned.get(&(frame, slot))
            && !self.read.iter().any(|known| Rc::ptr_eq(known, assignment))
            && self.read.len() < MOST_PARTS
        {
            self.read.push(Rc::clone(assignment));
        }
    }

    fn assigned(&mut self, site: Site, frame: Option<u32>, slot: u32, value: &Value) {
        let depth = self.read.iter().map(|fed| fed.depth + 1).max().unwrap_or(0);
        let is_deep = depth > MOST_DEPTH;
        let time = self.scene.times()[self.tick];
        let assignment = Assignment {
            time,
            site,
            value: value.to_string(),
            parts: std::mem::take(&mut self.parts),
            fed_by: if is_deep { Vec::new() } else { std::mem::take(&mut self.read) },
            depth: if is_deep { 0 } else { depth },
        };
        self.read.clear();
        self.assigned.insert((frame, slot), Rc::new(assignment));
    }

    fn fired(&mut self, tick: usize, machine: u32, transition: u32) {
        if self.wanted == Some((tick, (machine, transition))) && self.seen.is_none() {
            self.seen = Some(self.lines());
        }
        self.asked.clear();
        self.parts.clear();
        self.read.clear();
    }
}
