//! Margins: how sure a verdict is.
//!
//! Every comparison of the test is made harder, or easier, by the same amount until the
//! verdict flips. The smallest such amount is the margin, in the unit of the comparison
//! that flips it:
//!
//! ```text
//! steps of four from 1e-9 ─► the first that flips ─► bisection ─► the comparison between
//! ```
//!
//! What is not a measurement keeps out: comparing with `startTime` and `stopTime` has no
//! slack, and an equality without tolerance is never made harder. A test may flip, flip back
//! and flip again; the steps find the first flip to a factor of four, so a narrow one below
//! it can be missed.

use headland_base::SimTime;

use crate::blame::flipping_comparison;
use crate::code::{Code, Node, Op, Site};
use crate::judge::{JudgeOptions, judge_watched};
use crate::run::{Compared, Watch};
use crate::scene::Scene;
use crate::verdict::{Judgement, Verdict};
use crate::words;

/// The smallest amount tried, and the largest.
const SMALLEST: f64 = 1e-9;
const LARGEST: f64 = 1e6;
/// Each amount tried is so many times the one before.
const FACTOR: f64 = 4.0;
/// Halvings after that: the margin is then known to seven digits.
const N_HALVINGS: usize = 24;

/// How far a verdict is from flipping.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    /// So much harder or easier, the verdict still stands. In `unit`.
    pub amount: f64,
    /// Unit of the comparison that flips it; empty where it has none.
    pub unit: &'static str,
    /// Whether it flips when comparisons are made harder (or easier).
    pub is_harder: bool,
    /// What it flips to.
    pub flips_to: Verdict,
    /// The comparison that decides, where there is one: a formula decides as a whole.
    pub site: Option<Site>,
    /// When it decides.
    pub time: SimTime,
}

/// The margin of a judgement; `None` where no amount up to a million flips it.
pub fn margin(code: &Code, scene: &Scene, judgement: &Judgement) -> Option<Margin> {
    if judgement.n_snapshots == 0 || !matches!(judgement.verdict, Verdict::Green | Verdict::Red) {
        return None;
    }
    let search = Search { code, scene, verdict: judgement.verdict };
    let harder = search.first_flip(-1.0, LARGEST);
    let beyond = harder.map_or(LARGEST, |(_, high)| high);
    // Only a smaller amount could still win.
    let easier = search.first_flip(1.0, beyond);
    let (sign, (low, high)) = match (harder, easier) {
        (Some(harder), Some(easier)) if easier.1 < harder.1 => (1.0, easier),
        (Some(harder), _) => (-1.0, harder),
        (None, Some(easier)) => (1.0, easier),
        (None, None) => return None,
    };
    Some(search.describe(judgement, sign, low, high))
}

struct Search<'a> {
    code: &'a Code,
    scene: &'a Scene,
    verdict: Verdict,
}

impl Search<'_> {
    fn verdict_at(&self, slack: f64) -> Verdict {
        self.judged(slack, &mut crate::run::Nobody)
    }

    fn judged<W: Watch>(&self, slack: f64, watch: &mut W) -> Verdict {
        let options = JudgeOptions { slack, ..JudgeOptions::default() };
        judge_watched(self.code, self.scene, &options, watch).verdict
    }

    /// Amounts between which it flips, the first with the old verdict.
    fn first_flip(&self, sign: f64, largest: f64) -> Option<(f64, f64)> {
        let (mut low, mut high) = (0.0, SMALLEST);
        while self.verdict_at(sign * high) == self.verdict {
            if high >= largest {
                return None;
            }
            (low, high) = (high, high * FACTOR);
        }
        for _ in 0..N_HALVINGS {
            let middle = low + (high - low) * 0.5;
            if self.verdict_at(sign * middle) == self.verdict {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some((low, high))
    }

    fn describe(&self, judgement: &Judgement, sign: f64, low: f64, high: f64) -> Margin {
        // Up to the comparison that flips both runs are one; the earlier sight of it counts.
        let mut before = FirstFlip { low: sign * low, high: sign * high, found: None };
        self.judged(sign * low, &mut before);
        let mut after = FirstFlip { found: None, ..before };
        let flips_to = self.judged(sign * high, &mut after);
        let earlier = [before.found, after.found].into_iter().flatten();
        let found = earlier.min_by_key(|(tick, _)| *tick).map(|(tick, site)| (site, tick));
        let slacks = (sign * low, sign * high);
        let found = found.or_else(|| flipping_comparison(self.code, self.scene, slacks));
        let (site, time) = match found {
            Some((site, tick)) => (Some(site), self.scene.times()[tick]),
            None => (None, judgement.time),
        };
        let unit = site.and_then(|site| unit_at(self.code, site)).unwrap_or_default();
        Margin { amount: low, unit, is_harder: sign < 0.0, flips_to, site, time }
    }
}

/// The first comparison that is one thing with one slack and another with another.
struct FirstFlip {
    low: f64,
    high: f64,
    found: Option<(usize, Site)>,
}

impl Watch for FirstFlip {
    fn compared(&mut self, at: &Compared) {
        if self.found.is_some() || !at.has_slack {
            return;
        }
        let holds = |slack| at.compare.holds(at.difference, at.radius, slack);
        if holds(self.low) != holds(self.high) {
            self.found = Some((at.tick, at.site));
        }
    }
}

/// The unit of the comparison at a place.
pub fn unit_at(code: &Code, site: Site) -> Option<&'static str> {
    code.blocks.iter().find_map(|block| unit_within(code, &block.body, site))
}

/// The unit of the comparison at a place within a node.
fn unit_within(code: &Code, node: &Node, site: Site) -> Option<&'static str> {
    if let Op::Compare(_, a, b) = &node.op
        && site == node.site
    {
        return unit_of(code, a).or_else(|| unit_of(code, b)).or(Some(""));
    }
    node.children().find_map(|child| unit_within(code, child, site))
}

/// Assignments to variables are followed so far for a unit.
const MOST_FOLLOWED: u8 = 4;

/// The unit of a number, where all that goes into it has the same.
fn unit_of(code: &Code, node: &Node) -> Option<&'static str> {
    followed(code, node, 0)
}

fn followed(code: &Code, node: &Node, n_followed: u8) -> Option<&'static str> {
    let of = |node: &Node| followed(code, node, n_followed);
    let unit = match &node.op {
        Op::Channel(channel) => code.vocabulary.unit(code.channels[*channel as usize]),
        Op::StartTime | Op::StopTime => "s",
        Op::Tolerance(inner, _) | Op::Abs(inner) | Op::Negated(inner) => return of(inner),
        Op::Arithmetic(op, a, b) if op.keeps_unit() => return of(a).or_else(|| of(b)),
        Op::If(_, yes, no) => {
            return yes.as_deref().and_then(of).or_else(|| no.as_deref().and_then(of));
        }
        Op::Sequence(nodes) => return of(nodes.last()?),
        Op::SetVar(_, _, value) | Op::SetGlobal(_, value) | Op::SetLocal(_, _, value) => {
            return of(value);
        }
        // The length of a vector, and a component of it as the last message of a cascade.
        Op::Send(receiver, selector, _) => message_unit(code, receiver, selector)?,
        Op::Cascade(receiver, messages) => message_unit(code, receiver, &messages.last()?.0)?,
        Op::Var(..) | Op::Global(_) if n_followed < MOST_FOLLOWED => {
            return variable_unit(code, code.text(node.site), n_followed + 1);
        }
        _ => return None,
    };
    (!unit.is_empty()).then_some(unit)
}

/// The unit of a number that a pose, a velocity or an acceleration is asked for.
fn message_unit(code: &Code, receiver: &Node, selector: &str) -> Option<&'static str> {
    match &receiver.op {
        Op::Tolerance(inner, _) => message_unit(code, inner, selector),
        Op::Six(object, six) => {
            let component = if selector == "norm" { "x" } else { selector };
            Some(code.vocabulary.unit(words::component(*object, *six, component)?))
        }
        _ => None,
    }
}

/// The unit of what variables of a name are given, by their first value or an assignment.
fn variable_unit(code: &Code, name: &str, n_followed: u8) -> Option<&'static str> {
    let vars = code.globals.iter().chain(code.machines.iter().flat_map(|m| &m.vars));
    let firsts = vars.filter(|var| var.name == name).map(|var| var.init);
    let of_block = |id: u32| followed(code, &code.blocks[id as usize].body, n_followed);
    firsts.into_iter().find_map(of_block).or_else(|| {
        let bodies = code.blocks.iter().map(|block| &block.body);
        bodies.into_iter().find_map(|body| assigned_unit(code, body, name, n_followed))
    })
}

fn assigned_unit(code: &Code, node: &Node, name: &str, n_followed: u8) -> Option<&'static str> {
    if let Op::SetVar(_, _, value) | Op::SetGlobal(_, value) = &node.op
        && code.text(node.site).split(|c: char| c.is_whitespace() || c == ':').next() == Some(name)
        && let Some(unit) = followed(code, value, n_followed)
    {
        return Some(unit);
    }
    node.children().find_map(|child| assigned_unit(code, child, name, n_followed))
}
