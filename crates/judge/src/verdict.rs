//! What a judgement says.

use headland_base::SimTime;

use crate::run::ActionError;

/// The four answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It ended in `green`.
    Green,
    /// It touched `red`, or ended elsewhere.
    Red,
    /// The recording cannot decide it.
    Inconclusive,
    /// The test itself is at fault.
    Error,
}

impl Verdict {
    /// The word people and JSON read.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Green => "green",
            Verdict::Red => "red",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Error => "error",
        }
    }
}

/// What became of one machine the program starts with, or of one formula it requires.
#[derive(Clone, Debug, PartialEq)]
pub struct RootVerdict {
    /// The machine's or formula's name.
    pub name: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// When it was decided.
    pub time: SimTime,
    /// At which snapshot.
    pub tick: usize,
    /// Machines and states where it ended: `bouncer:bouncing/inner:rising`.
    pub path: String,
    /// Why, in words.
    pub reason: String,
    /// For a formula: by how much it holds (above zero) or not.
    pub robustness: Option<f64>,
    /// The transition that led to red: machine and number.
    pub by: Option<(u32, u32)>,
}

/// What a test says about a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Green where every root is.
    pub verdict: Verdict,
    /// Why, in words.
    pub reason: String,
    /// When it was decided.
    pub time: SimTime,
    /// One per root and required formula, in textual order.
    pub roots: Vec<RootVerdict>,
    /// Blocks that were abandoned, by place.
    pub errors: Vec<ActionError>,
    /// How often that happened in all.
    pub n_errors: u64,
    /// Snapshots there were.
    pub n_snapshots: usize,
    /// Transitions that fired.
    pub n_fired: u64,
}

impl Judgement {
    /// Of a test that could not be run at all.
    pub fn none(verdict: Verdict, reason: &str, n_snapshots: usize) -> Judgement {
        Judgement {
            verdict,
            reason: reason.to_string(),
            time: SimTime::ZERO,
            roots: Vec::new(),
            errors: Vec::new(),
            n_errors: 0,
            n_snapshots,
            n_fired: 0,
        }
    }

    /// The simulation broke its own rules: what is green is not decided.
    pub fn doubt(&mut self, time: SimTime, why: &str) {
        let reason = format!("the simulation is no evidence from {time} on: {why}");
        for root in self.roots.iter_mut().filter(|root| root.verdict == Verdict::Green) {
            (root.verdict, root.time, root.reason) = (Verdict::Inconclusive, time, reason.clone());
        }
        if self.verdict == Verdict::Green {
            (self.verdict, self.time, self.reason) = (Verdict::Inconclusive, time, reason);
        }
    }

    /// The recording was cut short: what a whole one would show is not decided, except what
    /// `stands` whatever would have followed. Nothing is green then.
    pub fn cut_short(&mut self, time: SimTime, stands: impl Fn(&RootVerdict) -> bool) {
        let reason = format!("interrupted at {time}, before it was decided");
        for root in self.roots.iter_mut().filter(|root| !stands(root)) {
            (root.verdict, root.time) = (Verdict::Inconclusive, time);
            root.reason.clone_from(&reason);
        }
        let is_decided = match self.verdict {
            Verdict::Error => true,
            Verdict::Red => self.roots.iter().any(|root| root.verdict == Verdict::Red),
            Verdict::Green | Verdict::Inconclusive => false,
        };
        if !is_decided {
            (self.verdict, self.time, self.reason) = (Verdict::Inconclusive, time, reason);
        }
    }

    /// It was found on something that turned out otherwise: neither green nor red is decided.
    pub fn withdraw(&mut self, time: SimTime, reason: &str) {
        let is_said = |verdict: Verdict| matches!(verdict, Verdict::Green | Verdict::Red);
        for root in self.roots.iter_mut().filter(|root| is_said(root.verdict)) {
            (root.verdict, root.time) = (Verdict::Inconclusive, time);
            root.reason = reason.to_string();
        }
        if is_said(self.verdict) {
            (self.verdict, self.time) = (Verdict::Inconclusive, time);
            self.reason = reason.to_string();
        }
    }
}

/// The verdict of several: an error outweighs red, red outweighs what is not decided.
pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Option<Verdict> {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Green => 0,
        Verdict::Inconclusive => 1,
        Verdict::Red => 2,
        Verdict::Error => 3,
    };
    verdicts.into_iter().max_by_key(rank)
}
