//! Margins: how sure a verdict is.
//!
//! Every comparison of the test is made harder, or easier, by the same amount until the
//! verdict flips. The smallest such amount is the margin, in the unit of the comparison
//! that flips it:
//!
//! ```text
//! run with an amount ─► the next amount at which any comparison it made would turn over
//!        ▲                                          │ nothing changes before that
//!        └──────────── go just beyond it ◄──────────┘
//! ```
//!
//! Both ways, the nearer first, until the verdict flips or nothing is left to turn over. That
//! misses no flip, however often a test flips and flips back. A formula takes part by its
//! robustness, which no smaller amount can bring to zero.
//!
//! A long recording has more amounts than there is time for. When the work is used up, the
//! rest is searched in steps of a constant factor and by halving; a flip found so is said to
//! be at most the margin, because a nearer one is not excluded, and where none is found the
//! margin is at least what was searched without gaps. Tried before: steps and halving
//! alone, which took a verdict that flips back within one step for one that never flips.
//!
//! What is not a measurement keeps out: comparing with `startTime` and `stopTime` has no
//! slack, and an equality without tolerance is made harder only where it compares a
//! measurement, a channel that does not hold whole numbers alone.

use headland_base::SimTime;

use crate::blame::flipping_comparison;
use crate::code::{Code, Node, Op, Site};
use crate::judge::{JudgeOptions, judge_watched};
use crate::run::{Compared, Nobody, Sweep, Watch};
use crate::scene::Scene;
use crate::verdict::{Judgement, Verdict};
use crate::words;

/// The smallest amount tried, and the largest.
const SMALLEST: f64 = 1e-9;
const LARGEST: f64 = 1e6;
/// Just beyond an amount: by so much of it, and by so much more.
const BEYOND: (f64, f64) = (1e-9, 1e-12);
/// Snapshots that may be judged for the search without gaps: a tenth of a second or so. A
/// recording of ten thousand gets three hundred rounds, which suffices for most tests.
const WORK: usize = 3_000_000;
/// Rounds it gets however long the recording is, and however short.
const ROUNDS: std::ops::RangeInclusive<usize> = 8..=1000;
/// Steps that cover what is left: more for a short recording, and for the longest still so
/// many that each is by a factor of four at most.
const STEPS: std::ops::RangeInclusive<usize> = 26..=120;
/// Halvings after that; the last digits are those of the comparison that turns over.
const N_HALVINGS: usize = 16;

/// How far a verdict is from flipping.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    /// So much harder or easier, the verdict still stands. In `unit`, to nine digits.
    pub amount: f64,
    /// Whether every smaller amount was excluded; else the margin is this at most.
    pub is_exact: bool,
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

/// How sure a verdict is.
#[derive(Clone, Debug, PartialEq)]
pub enum Sureness {
    /// Nobody asked, or there is nothing that could flip.
    NotAsked,
    /// No amount up to a million flips it.
    Unshakable,
    /// Nothing below this flips it, and beyond it no flip was found.
    AtLeast(f64),
    /// So much flips it.
    Margin(Margin),
}

impl Sureness {
    /// The margin, where a flip was found.
    pub fn margin(&self) -> Option<&Margin> {
        match self {
            Sureness::Margin(margin) => Some(margin),
            _ => None,
        }
    }
}

/// How sure a judgement is; green and red alone have a margin.
pub fn margin(code: &Code, scene: &Scene, judgement: &Judgement) -> Sureness {
    if judgement.n_snapshots == 0 || !matches!(judgement.verdict, Verdict::Green | Verdict::Red) {
        return Sureness::NotAsked;
    }
    let search = Search { code, scene, verdict: judgement.verdict };
    let rounds = WORK / judgement.n_snapshots;
    let mut ways = [Way::new(-1.0), Way::new(1.0)];
    for _ in 0..rounds.clamp(*ROUNDS.start(), *ROUNDS.end()) {
        let nearest = ways.iter().filter_map(Way::flip_amount).fold(f64::INFINITY, f64::min);
        let open = ways.iter_mut().filter(|way| way.is_open() && way.cleared < nearest);
        let Some(way) = open.min_by(|a, b| a.cleared.total_cmp(&b.cleared)) else { break };
        search.advance(way);
    }
    // What was found without gaps bounds the rest.
    let mut nearest = ways.iter().filter_map(Way::flip_amount).fold(LARGEST, f64::min);
    let mut is_exact = true;
    let mut cleared = LARGEST;
    for way in &mut ways {
        if way.end != End::Endless && way.end != End::Flips && way.cleared < nearest {
            is_exact = false;
            cleared = cleared.min(way.cleared);
            search.in_steps(way, nearest);
            nearest = way.flip_amount().unwrap_or(nearest).min(nearest);
        }
    }
    let flips = ways.iter().filter(|way| way.end == End::Flips);
    let Some(way) = flips.min_by(|a, b| a.critical.total_cmp(&b.critical)) else {
        return if is_exact { Sureness::Unshakable } else { Sureness::AtLeast(rounded(cleared)) };
    };
    // Whatever is nearer than what was cleared is excluded after all.
    let is_exact = is_exact || way.critical <= cleared;
    Sureness::Margin(search.describe(judgement, way, is_exact))
}

/// To nine digits: differences of decimal numbers have noise in the last ones.
fn rounded(amount: f64) -> f64 {
    format!("{amount:.8e}").parse().unwrap_or(amount)
}

/// The amounts in one direction, as far as they were searched.
struct Way {
    /// Below zero where comparisons are made harder.
    sign: f64,
    /// No smaller amount flips the verdict.
    cleared: f64,
    /// The amount at which something turns over that `at` is just beyond.
    critical: f64,
    /// To be tried next.
    at: f64,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// There is more to search.
    Open,
    /// Something compares that says not at which amount it turns over.
    Blurred,
    /// Nothing is left that could turn over.
    Endless,
    /// `at` flips the verdict, and nothing turns over between `critical` and `at`.
    Flips,
}

impl Way {
    /// An amount with which the verdict stands and one with which it flips; nothing else turns
    /// over in between.
    fn sides(&self) -> (f64, f64) {
        let before = self.critical - (self.critical * BEYOND.0).max(BEYOND.1);
        (self.sign * before.max(0.0), self.sign * self.at)
    }

    fn new(sign: f64) -> Way {
        Way { sign, cleared: 0.0, critical: 0.0, at: SMALLEST, end: End::Open }
    }

    fn is_open(&self) -> bool {
        self.end == End::Open
    }

    fn flip_amount(&self) -> Option<f64> {
        (self.end == End::Flips).then_some(self.critical)
    }
}

struct Search<'a> {
    code: &'a Code,
    scene: &'a Scene,
    verdict: Verdict,
}

impl Search<'_> {
    fn judged<W: Watch>(&self, slack: f64, watch: &mut W) -> Verdict {
        let options = JudgeOptions { slack, ..JudgeOptions::default() };
        judge_watched(self.code, self.scene, &options, watch).verdict
    }

    fn is_flipped(&self, slack: f64) -> bool {
        self.judged(slack, &mut Nobody) != self.verdict
    }

    /// Tries the next amount, and finds the one after it.
    fn advance(&self, way: &mut Way) {
        let mut next = NextTurn::beyond(way.sign, way.at);
        if self.judged(way.sign * way.at, &mut next) != self.verdict {
            way.end = End::Flips;
            return;
        }
        way.cleared = way.at;
        if next.is_blurred {
            way.end = End::Blurred;
        } else if next.amount > LARGEST {
            way.end = End::Endless;
        } else {
            (way.cleared, way.critical) = (next.amount, next.amount);
            way.at = next.amount + (next.amount * BEYOND.0).max(BEYOND.1);
        }
    }

    /// Steps of a constant factor up to an amount, then halving.
    fn in_steps(&self, way: &mut Way, largest: f64) {
        let start = way.cleared.max(SMALLEST);
        let n_steps = (WORK / self.scene.times().len()).clamp(*STEPS.start(), *STEPS.end());
        let factor = headland_base::maths::pow(LARGEST / start, 1.0 / n_steps as f64);
        let (mut low, mut high) = (start, start * factor);
        while !self.is_flipped(way.sign * high) {
            if high >= largest {
                return;
            }
            (low, high) = (high, high * factor);
        }
        for _ in 0..N_HALVINGS {
            let middle = low + (high - low) * 0.5;
            if self.is_flipped(way.sign * middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        // Between the two the one that turns over says it to the last digit.
        let mut next = NextTurn::beyond(way.sign, low);
        self.judged(way.sign * low, &mut next);
        way.critical = if (low..=high).contains(&next.amount) { next.amount } else { low };
        (way.at, way.end) = (high, End::Flips);
    }

    fn describe(&self, judgement: &Judgement, way: &Way, is_exact: bool) -> Margin {
        let (high, is_harder) = (way.sign * way.at, way.sign < 0.0);
        let flips_to = self.judged(high, &mut Nobody);
        let formula = || {
            let (site, tick) = flipping_comparison(self.code, self.scene, way.sides())?;
            Some((tick, site))
        };
        let (site, time) = match self.decider(way).or_else(formula) {
            Some((tick, site)) => (Some(site), self.scene.times()[tick]),
            None => (None, judgement.time),
        };
        let unit = site.and_then(|site| unit_at(self.code, site)).unwrap_or_default();
        let amount = rounded(way.critical);
        Margin { amount, is_exact, unit, is_harder, flips_to, site, time }
    }

    /// The comparison that turns the verdict, and its snapshot. Many may turn over at one
    /// amount, most of them without effect: the amount is applied up to a snapshot only, and
    /// the snapshot is sought at which that begins to matter.
    fn decider(&self, way: &Way) -> Option<(usize, Site)> {
        if self.code.roots.is_empty() {
            return None; // formulas alone, which decide as a whole
        }
        let (low, high) = way.sides();
        let up_to = |end: usize| JudgeOptions {
            slack: low,
            slack_before: Some((end, high)),
            ..JudgeOptions::default()
        };
        let verdict =
            |end: usize| judge_watched(self.code, self.scene, &up_to(end), &mut Nobody).verdict;
        let (mut stands, mut flips) = (0, self.scene.times().len());
        while flips - stands > 1 {
            let middle = stands + (flips - stands) / 2;
            if verdict(middle) == self.verdict {
                stands = middle;
            } else {
                flips = middle;
            }
        }
        // Up to it both runs are one; whichever does not pass over it sees it turn.
        [stands, flips].into_iter().find_map(|end| {
            let mut watch = Turns { tick: stands, low, high, found: None };
            judge_watched(self.code, self.scene, &up_to(end), &mut watch);
            watch.found.map(|site| (stands, site))
        })
    }
}

/// The nearest amount beyond the one a run is judged with at which one of its comparisons
/// turns over.
struct NextTurn {
    sweep: Sweep,
    amount: f64,
    is_blurred: bool,
}

impl NextTurn {
    fn beyond(sign: f64, at: f64) -> NextTurn {
        let sweep = Sweep { sign, slack: sign * at };
        NextTurn { sweep, amount: f64::INFINITY, is_blurred: false }
    }
}

impl Watch for NextTurn {
    fn compared(&mut self, at: &Compared) {
        if at.has_slack {
            self.turns_at(self.sweep.turn(at.compare, at.difference, at.radius, at.is_measured));
        }
    }

    fn sweep(&self) -> Option<Sweep> {
        Some(self.sweep)
    }

    fn turns_at(&mut self, amount: f64) {
        self.amount = self.amount.min(amount);
    }

    fn blurs(&mut self) {
        self.is_blurred = true;
    }
}

/// The first comparison at a snapshot that is one thing with one slack and another with
/// another.
struct Turns {
    tick: usize,
    low: f64,
    high: f64,
    found: Option<Site>,
}

impl Watch for Turns {
    fn compared(&mut self, at: &Compared) {
        if self.found.is_some() || !at.has_slack || at.tick != self.tick {
            return;
        }
        let holds = |slack| at.compare.holds_as(at.is_measured, at.difference, at.radius, slack);
        if holds(self.low) != holds(self.high) {
            self.found = Some(at.site);
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
