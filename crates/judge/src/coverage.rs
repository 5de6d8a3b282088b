//! Coverage: states no recording reached, transitions none took.

use std::collections::BTreeSet;

use crate::code::{Code, Site};
use crate::timeline::Timeline;

/// What a test did over all the recordings it was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    states: BTreeSet<(u32, u32)>,
    transitions: BTreeSet<(u32, u32)>,
}

/// A part of a test that nothing reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// `state rising of bouncer`, `falling -> red of bouncer`.
    pub what: String,
    /// Where it stands.
    pub site: Site,
}

impl Coverage {
    /// Takes in one more recording. The numbers are those of the same program.
    pub fn add(&mut self, timeline: &Timeline) {
        self.states.extend(&timeline.states);
        self.transitions.extend(&timeline.transitions);
    }

    /// Parts that were reached, and parts there are.
    pub fn count(&self, code: &Code) -> (usize, usize) {
        let parts = code.machines.iter().map(|m| m.states.len() + m.transitions.len());
        (self.states.len() + self.transitions.len(), parts.sum())
    }

    /// What nothing reached, in textual order.
    pub fn missed(&self, code: &Code) -> Vec<Missed> {
        let mut out = Vec::new();
        for (m, machine) in code.machines.iter().enumerate() {
            let name = &machine.name;
            for (s, state) in machine.states.iter().enumerate() {
                if !self.states.contains(&(m as u32, s as u32)) {
                    let what = format!("state {} of {name}", state.name);
                    out.push(Missed { what, site: state.site });
                }
            }
            for (t, transition) in machine.transitions.iter().enumerate() {
                if !self.transitions.contains(&(m as u32, t as u32)) {
                    let what = format!("{} of {name}", transition.arc);
                    out.push(Missed { what, site: transition.site });
                }
            }
        }
        out.sort_by_key(|missed| missed.site);
        out
    }
}
