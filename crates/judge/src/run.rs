//! A test that runs: the values it holds, and blocks evaluated over the snapshot at hand.
//!
//! | module | what |
//! |---|---|
//! | here | variables, errors, limits |
//! | `eval` | nodes into values |
//! | `quick` | plain conditions, without making values |
//! | `sends` | messages to numbers, texts, pairs, blocks, vectors |
//! | `collections` | messages to arrays and dictionaries |
//! | `hosts` | messages to things of the recording |
//! | `machine` | entering, leaving, stepping machines |
//! | `skim` | which snapshots can be passed over because nothing can happen there |
//!
//! Everything a hostile test can do is bounded: blocks within blocks by [`MOST_CALLS`],
//! expressions within expressions by [`MOST_NESTED`], the work of one block by [`FUEL`],
//! arrays and texts by [`MOST_ITEMS`], machines at once by [`MOST_INSTANCES`] and within
//! machines by [`MOST_DEEP`].

mod collections;
pub(crate) mod eval;
mod hosts;
pub(crate) mod machine;
pub(crate) mod quick;
mod sends;
pub(crate) mod skim;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::SimTime;
use headland_record::track::Remark;

use crate::code::{Code, Site};
use crate::scene::Column;
use crate::value::{Compare, Value};
use crate::vocabulary::Quantity;

/// Blocks that run within blocks, at most.
pub(crate) const MOST_CALLS: u32 = 200;
/// Messages one block may send in all, with everything it calls.
pub(crate) const MOST_MESSAGES: u32 = 100_000;
/// Expressions that cost what one message does.
pub(crate) const MESSAGE_FUEL: u32 = 40;
/// What one block may do in all: an expression takes one, a message [`MESSAGE_FUEL`].
pub(crate) const FUEL: u32 = MOST_MESSAGES * MESSAGE_FUEL;
/// Blocks that may run out of fuel before the test is given up.
pub(crate) const MOST_EXHAUSTED: u32 = 20;
/// Elements of an array, bytes of a text.
pub(crate) const MOST_ITEMS: usize = 100_000;
/// Machines within machines; a text cannot nest them so deep, but one may spawn itself.
pub(crate) const MOST_DEEP: u32 = 250;
/// Expressions within expressions, over all the blocks that call one another: what the
/// smallest stack we run on holds several times over.
pub(crate) const MOST_NESTED: u32 = 1500;
/// Machines that run at once.
pub(crate) const MOST_INSTANCES: usize = 10_000;
/// Lives of arguments and temporaries that blocks in variables hold on to.
pub(crate) const MOST_KEPT: usize = 100_000;

/// Where the numbers of the snapshot come from.
pub(crate) trait Now {
    /// A quantity that no channel carries, because a thing was kept in a variable.
    fn quantity(&self, quantity: Quantity, tick: usize) -> Option<f64>;
    /// What was said last on a track of texts, and when.
    fn said(&self, report: u32, now: SimTime) -> Option<(SimTime, &Remark)>;
}

/// A comparison of two numbers.
pub(crate) struct Compared {
    pub site: Site,
    pub tick: usize,
    pub compare: Compare,
    /// Left minus right.
    pub difference: f64,
    /// Sum of the tolerances.
    pub radius: f64,
    /// Whether slack applies to it.
    pub has_slack: bool,
    /// Whether it compares a measurement; asked of equalities alone.
    pub is_measured: bool,
}

/// A search through slacks: which way, and how far it is.
#[derive(Clone, Copy)]
pub(crate) struct Sweep {
    /// 1 where comparisons get easier, -1 where they get harder.
    pub sign: f64,
    /// The slack of the run.
    pub slack: f64,
}

impl Sweep {
    /// The amount at which a comparison turns over that has not yet; endless where it has, or
    /// never will.
    #[inline]
    pub(crate) fn turn(self, compare: Compare, d: f64, r: f64, is_measured: bool) -> f64 {
        let Sweep { sign, slack } = self;
        // Easier makes what fails hold, harder makes what holds fail.
        if compare.holds_as(is_measured, d, r, slack) == (sign > 0.0) {
            return f64::INFINITY;
        }
        let turn = compare.turns_over(is_measured, d, r).map_or(f64::INFINITY, |turn| sign * turn);
        // By rounding it may seem to lie behind us.
        let scale = d.abs().max(r).max(slack.abs());
        turn.max(slack.abs() + 4.0 * f64::EPSILON * scale)
    }
}

/// What may look on while a test runs. Every method does nothing by default, so a run that
/// nobody watches pays nothing.
#[allow(unused_variables)]
pub(crate) trait Watch {
    /// Whether it sees anything; where it does not, conditions may go the short way.
    const SEES: bool = true;

    /// Two numbers are compared.
    fn compared(&mut self, at: &Compared) {}
    /// The search through slacks this run belongs to, if any.
    fn sweep(&self) -> Option<Sweep> {
        None
    }
    /// Some comparison, perhaps of a snapshot that was passed over, turns over at an amount.
    fn turns_at(&mut self, amount: f64) {}
    /// Something depends on the slack in a way that is not followed.
    fn blurs(&mut self) {}
    /// The value of an assignment is about to be computed.
    fn assigning(&mut self, site: Site) {}
    /// A variable gets a value; without a frame it is a global.
    fn assigned(&mut self, site: Site, frame: Option<u32>, slot: u32, value: &Value) {}
    /// A variable was read.
    fn read(&mut self, site: Site, frame: Option<u32>, slot: u32) {}
    /// A part of an expression has a value.
    fn valued(&mut self, site: Site, value: &Value) {}
    /// A block begins for a reason: an event that is asked, an action.
    fn begins(&mut self, tick: usize, block: u32) {}
    /// A transition fires.
    fn fired(&mut self, tick: usize, machine: u32, transition: u32) {}
    /// An instance of a machine enters a state; `parent` is the instance around it.
    fn entered(&mut self, tick: usize, instance: u32, parent: u32, machine: u32, state: u32) {}
    /// An instance ends with the state it was spawned in.
    fn ended(&mut self, tick: usize, instance: u32) {}
}

/// Nobody looks on.
pub(crate) struct Nobody;
impl Watch for Nobody {
    const SEES: bool = false;
}

impl<W: Watch> Watch for &mut W {
    const SEES: bool = W::SEES;

    fn compared(&mut self, at: &Compared) {
        (**self).compared(at);
    }
    fn sweep(&self) -> Option<Sweep> {
        (**self).sweep()
    }
    fn turns_at(&mut self, amount: f64) {
        (**self).turns_at(amount);
    }
    fn blurs(&mut self) {
        (**self).blurs();
    }
    fn assigning(&mut self, site: Site) {
        (**self).assigning(site);
    }
    fn assigned(&mut self, site: Site, frame: Option<u32>, slot: u32, value: &Value) {
        (**self).assigned(site, frame, slot, value);
    }
    fn read(&mut self, site: Site, frame: Option<u32>, slot: u32) {
        (**self).read(site, frame, slot);
    }
    fn valued(&mut self, site: Site, value: &Value) {
        (**self).valued(site, value);
    }
    fn begins(&mut self, tick: usize, block: u32) {
        (**self).begins(tick, block);
    }
    fn fired(&mut self, tick: usize, machine: u32, transition: u32) {
        (**self).fired(tick, machine, transition);
    }
    fn entered(&mut self, tick: usize, instance: u32, parent: u32, machine: u32, state: u32) {
        (**self).entered(tick, instance, parent, machine, state);
    }
    fn ended(&mut self, tick: usize, instance: u32) {
        (**self).ended(tick, instance);
    }
}

/// Why a block was abandoned.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub site: Site,
    pub words: String,
    pub help: Option<String>,
    pub kind: FailureKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// Anything a test can do wrong.
    Wrong,
    /// A value that is not a number was compared: the robot's numbers broke, not the test.
    NotANumber,
    /// It would have gone on for ever.
    Exhausted,
}

/// How evaluating stops early.
pub(crate) enum Stop {
    Failed(Box<Failure>),
    /// `^`
    Return(Value),
}

pub(crate) type Evaluated = Result<Value, Stop>;

/// One kind of error at one place, however often it happened.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionError {
    /// Where in the program.
    pub site: Site,
    /// What went wrong the first time, with the values.
    pub words: String,
    /// What to do about it.
    pub help: Option<String>,
    /// When first.
    pub first: SimTime,
    /// In which machines and states.
    pub path: String,
    /// How often.
    pub count: u64,
}

/// Variables of one machine that runs, or of one that ran.
pub(crate) struct Frame {
    pub machine: u32,
    /// Frame of the machine around it; `u32::MAX` for none.
    pub outer: u32,
    pub values: Vec<Value>,
    /// Which life: a block kept from an earlier one must not see this one.
    pub life: u32,
    pub is_alive: bool,
}

/// No frame, no activation.
pub(crate) const NONE: u32 = u32::MAX;

/// Arguments and temporaries of a block that runs.
pub(crate) struct Activation {
    pub outer: u32,
    pub values: Vec<Value>,
}

/// What a block sees.
#[derive(Clone, Copy)]
pub(crate) struct Env {
    pub frame: u32,
    pub activation: u32,
}

/// How a run treats comparisons and where it looks.
#[derive(Clone, Copy)]
pub(crate) struct Conditions {
    /// Every comparison so much easier.
    pub slack: f64,
    /// Time of the first snapshot \[s\].
    pub start_secs: f64,
    /// Time of the last snapshot \[s\].
    pub stop_secs: f64,
}

impl Conditions {
    /// Of a recording with snapshots at these times, of which there is one at least.
    pub(crate) fn over(times: &[SimTime], slack: f64) -> Conditions {
        let (first, last) = (times[0], times[times.len() - 1]);
        Conditions { slack, start_secs: first.secs(), stop_secs: last.secs() }
    }
}

/// A test in the middle of a recording.
pub(crate) struct Run<'c, N, W> {
    pub code: &'c Code,
    pub now: N,
    pub watch: W,
    pub columns: Vec<Arc<Column>>,
    pub conditions: Conditions,
    /// Snapshot at hand: its number, its row in the columns, its time.
    pub tick: usize,
    pub row: usize,
    pub time: SimTime,
    pub globals: Vec<Value>,
    pub frames: Vec<Frame>,
    pub free_frames: Vec<u32>,
    pub activations: Vec<Activation>,
    /// Activations that blocks in variables hold on to come first.
    pub n_kept: usize,
    pub has_escaped: bool,
    pub fuel: u32,
    pub n_calls: u32,
    pub n_nested: u32,
    pub n_exhausted: u32,
    pub errors: BTreeMap<Site, ActionError>,
    pub n_errors: u64,
    /// Nobody will read what goes wrong.
    pub is_mute: bool,
    /// Where the last of them was.
    pub last_error: Option<Site>,
    pub not_a_number: Option<(SimTime, Site)>,
    /// What became of each block that was asked as a condition, by its number.
    pub asked: Vec<Asked>,
    /// The block that runs read a rate of change before there was a second sample.
    pub met_first_sample: Cell<bool>,
    pub machines: machine::Machines,
}

/// What became of a condition so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Asked {
    /// It was true or false at least once.
    pub is_answered: bool,
    /// Where it first failed.
    pub failed: Option<Site>,
}

impl<N: Now, W: Watch> Run<'_, N, W> {
    pub(crate) fn fail<T>(&self, site: Site, words: impl Into<String>) -> Result<T, Stop> {
        let kind = FailureKind::Wrong;
        Err(Stop::Failed(Box::new(Failure { site, words: words.into(), help: None, kind })))
    }

    /// Whether the words of an error at a place will not be read: finding the nearest name
    /// each time would cost more than all the rest.
    pub(crate) fn is_said(&self, site: Site) -> bool {
        self.is_mute || self.errors.contains_key(&site)
    }

    /// Counts an error, and keeps the words of the first at its place.
    pub(crate) fn note_failure(&mut self, failure: Failure) {
        self.n_errors += 1;
        self.last_error = Some(failure.site);
        match failure.kind {
            FailureKind::NotANumber => {
                self.not_a_number.get_or_insert((self.time, failure.site));
            }
            FailureKind::Exhausted => self.n_exhausted += 1,
            FailureKind::Wrong => {}
        }
        if let Some(known) = self.errors.get_mut(&failure.site) {
            known.count += 1;
            return;
        }
        let Failure { site, words, help, .. } = failure;
        let path = self.path();
        let error = ActionError { site, words, help, first: self.time, path, count: 1 };
        self.errors.insert(site, error);
    }
}
