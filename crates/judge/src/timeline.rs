//! What a test did, snapshot by snapshot: who was in which state, and what fired.
//!
//! The bands beside a plot, the coverage of a test and the text cases are made of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::Code;
use crate::judge::{JudgeOptions, judge_watched};
use crate::run::Watch;
use crate::scene::Scene;
use crate::verdict::Judgement;

/// Bands and transitions are kept up to this many each; the rest is counted.
pub const MOST_KEPT: usize = 1_000_000;

/// A stretch of snapshots in one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// Which lane.
    pub lane: u32,
    /// The machine's number.
    pub machine: u32,
    /// The state's number.
    pub state: u32,
    /// Entered at this snapshot.
    pub from: usize,
    /// Left at this snapshot, or the number of snapshots.
    pub to: usize,
}

/// A transition that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fired {
    /// At this snapshot.
    pub tick: usize,
    /// The machine's number.
    pub machine: u32,
    /// The transition's number in it.
    pub transition: u32,
}

/// What a test did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Machines by the path of their names: `bounceLower`, `bounceLower/bouncer`.
    pub lanes: Vec<String>,
    /// In the order they began.
    pub bands: Vec<Band>,
    /// In the order they fired.
    pub fired: Vec<Fired>,
    /// Whether there was more than was kept.
    pub is_cut: bool,
    /// Every state that was entered, as machine and state.
    pub states: BTreeSet<(u32, u32)>,
    /// Every transition that fired, as machine and transition.
    pub transitions: BTreeSet<(u32, u32)>,
}

/// Judges and keeps what happened.
pub fn timeline(code: &Code, scene: &Scene, options: &JudgeOptions) -> (Judgement, Timeline) {
    let mut watch =
        Recorder { code, out: Timeline::default(), open: BTreeMap::new(), lanes: BTreeMap::new() };
    let judgement = judge_watched(code, scene, options, &mut watch);
    let end = options.range.clone().map_or(scene.times().len(), |range| range.end);
    let Recorder { mut out, open, .. } = watch;
    for (band, _) in open.into_values() {
        if let Some(band) = out.bands.get_mut(band) {
            band.to = end;
        }
    }
    (judgement, out)
}

struct Recorder<'c> {
    code: &'c Code,
    out: Timeline,
    /// The band each instance is in, and its lane.
    open: BTreeMap<u32, (usize, u32)>,
    lanes: BTreeMap<String, u32>,
}

impl Recorder<'_> {
    fn lane(&mut self, parent: u32, machine: u32) -> u32 {
        let name = &self.code.machines[machine as usize].name;
        let path = match self.open.get(&parent) {
            Some((_, lane)) => format!("{}/{name}", self.out.lanes[*lane as usize]),
            None => name.clone(),
        };
        if let Some(lane) = self.lanes.get(&path) {
            return *lane;
        }
        let lane = self.out.lanes.len() as u32;
        self.out.lanes.push(path.clone());
        self.lanes.insert(path, lane);
        lane
    }

    fn close(&mut self, instance: u32, tick: usize) {
        if let Some((band, _)) = self.open.get(&instance)
            && let Some(band) = self.out.bands.get_mut(*band)
        {
            band.to = tick;
        }
    }
}

impl Watch for Recorder<'_> {
    fn fired(&mut self, tick: usize, machine: u32, transition: u32) {
        self.out.transitions.insert((machine, transition));
        if self.out.fired.len() < MOST_KEPT {
            self.out.fired.push(Fired { tick, machine, transition });
        } else {
            self.out.is_cut = true;
        }
    }

    fn entered(&mut self, tick: usize, instance: u32, parent: u32, machine: u32, state: u32) {
        self.out.states.insert((machine, state));
        self.close(instance, tick);
        let known = self.open.get(&instance).map(|(_, lane)| *lane);
        let lane = known.unwrap_or_else(|| self.lane(parent, machine));
        self.open.insert(instance, (self.out.bands.len(), lane));
        if self.out.bands.len() < MOST_KEPT {
            self.out.bands.push(Band { lane, machine, state, from: tick, to: tick });
        } else {
            self.out.is_cut = true;
        }
    }

    fn ended(&mut self, tick: usize, instance: u32) {
        self.close(instance, tick);
        self.open.remove(&instance);
    }
}
