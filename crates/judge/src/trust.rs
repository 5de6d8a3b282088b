//! Greens that rest on nothing: a condition towards red that could never be asked.
//!
//! Errors inside a block are tolerated, because most are a value that is not there yet. But
//! where the only ways to red have failed every time they were asked, as with a misspelt
//! name, green says nothing about the robot. Such a green is inconclusive.
//!
//! ```text
//! a condition that failed and never answered, to a state that was never entered
//!   └─► that state is red, or leads on to a way to red that never answered either
//! ```

use std::collections::BTreeSet;

use crate::code::{Code, EntryCode, GuardCode, SpawnCode, Target, TransitionCode};
use crate::run::{Asked, Now, Run, Watch};

/// A state: its machine and its number.
type At = (u32, u32);

/// Why a green root is not to be trusted, and when that showed.
pub(crate) struct Doubt {
    pub time: headland_base::SimTime,
    pub reason: String,
}

/// What speaks against the green of a root.
pub(crate) fn doubt<N: Now, W: Watch>(run: &Run<'_, N, W>, root: &SpawnCode) -> Option<Doubt> {
    let code = run.code;
    if run.asked.iter().all(|asked| asked.failed.is_none()) {
        return None;
    }
    let start = (root.machine?, root.state?);
    let lead = Ways { code, asked: &run.asked };
    let machines: BTreeSet<u32> =
        lead.reached(start, |_| true).into_iter().map(|(machine, _)| machine).collect();
    let ways = machines.into_iter().flat_map(|id| {
        let transitions = &code.machines[id as usize].transitions;
        transitions.iter().map(move |transition| (id, transition))
    });
    ways.filter_map(|(machine, transition)| {
        let asked = run.asked[guard_block(transition)? as usize];
        let site = asked.failed.filter(|_| !asked.is_answered)?;
        let targets = lead.targets(machine, transition);
        let was_entered = |(m, s): &At| run.machines.entered[*m as usize][*s as usize];
        if targets.iter().any(was_entered) || !lead.leads_to_red(&targets) {
            return None;
        }
        let error = run.errors.get(&site)?;
        let text = code.text(code.blocks[guard_block(transition)? as usize].site);
        let words = &error.words;
        let help = error.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        let place = code.place(site).label();
        let arc = &transition.arc;
        let reason = format!(
            "`{arc}` was never decided: `{text}` at {place} failed every time: {words}{help}"
        );
        Some(Doubt { time: error.first, reason })
    })
    .min_by_key(|doubt| doubt.time)
}

fn guard_block(transition: &TransitionCode) -> Option<u32> {
    match transition.guard {
        GuardCode::Block(block) | GuardCode::AfterBlock(block) => Some(block),
        GuardCode::Always | GuardCode::AfterNanos(_) | GuardCode::Missing => None,
    }
}

struct Ways<'a> {
    code: &'a Code,
    asked: &'a [Asked],
}

impl Ways<'_> {
    /// Where a transition leads; an exit may lead into any machine that has such a state.
    fn targets(&self, machine: u32, transition: &TransitionCode) -> Vec<At> {
        match &transition.target {
            Target::State(state) => vec![(machine, *state)],
            Target::Missing => Vec::new(),
            Target::Exit(name) => {
                let all = (0..).zip(&self.code.machines);
                all.filter_map(|(id, machine)| {
                    let state = machine.states.iter().position(|state| state.name == *name)?;
                    Some((id, state as u32))
                })
                .collect()
            }
        }
    }

    fn is_red(&self, (machine, state): At) -> bool {
        self.code.machines[machine as usize].states[state as usize].name == "red"
    }

    /// Whether red follows from a state by a way that nobody has answered. One that was
    /// answered has been asked where the test did go.
    fn leads_to_red(&self, from: &[At]) -> bool {
        let is_unanswered = |transition: &TransitionCode| {
            guard_block(transition).is_none_or(|block| !self.asked[block as usize].is_answered)
        };
        from.iter().any(|start| {
            self.reached(*start, is_unanswered).into_iter().any(|state| self.is_red(state))
        })
    }

    /// Every state that may follow from one, itself too, by transitions that count.
    fn reached(&self, start: At, counts: impl Fn(&TransitionCode) -> bool) -> BTreeSet<At> {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![start]);
        while let Some(at) = waiting.pop() {
            if !seen.insert(at) {
                continue;
            }
            let machine = &self.code.machines[at.0 as usize];
            let state = &machine.states[at.1 as usize];
            for way in &state.ways_out {
                let transition = &machine.transitions[*way as usize];
                // To red it must be one that counts; on the way there any will do.
                let targets = self.targets(at.0, transition).into_iter();
                waiting.extend(targets.filter(|to| counts(transition) || !self.is_red(*to)));
            }
            for entry in &state.on_entry {
                if let EntryCode::Spawn(SpawnCode { machine: Some(m), state: Some(s), .. }) = entry
                {
                    waiting.push((*m, *s));
                }
            }
        }
        seen
    }
}
