//! Machines: entering, leaving, stepping.
//!
//! ```text
//! step of an instance at a snapshot
//!   1. transitions out of the current state, in textual order; the first that holds fires
//!   2. otherwise the state's `running` blocks
//!   3. then each child, in the order they were spawned; an exit of a child leaves our state
//! ```
//!
//! So: outer before inner, at most one transition per instance and snapshot, `running` only
//! where no transition of its own fired, and what was just entered waits for the next
//! snapshot.

use std::collections::BTreeMap;

use headland_base::SimTime;

use crate::code::{EntryCode, GuardCode, MachineCode, SpawnCode, Target};
use crate::value::Value;

use super::{
    Failure, FailureKind, Frame, MOST_DEEP, MOST_EXHAUSTED, MOST_INSTANCES, NONE, Now, Run, Watch,
};

/// Ticks on the last snapshot; machines that spawn machines could fire for very long.
const MOST_SETTLING: usize = 10_000;

/// A machine that runs.
pub(crate) struct Instance {
    pub machine: u32,
    pub state: u32,
    pub frame: u32,
    pub parent: u32,
    /// Machines around it.
    pub depth: u32,
    /// When it entered its state.
    pub entered: SimTime,
    pub entered_tick: usize,
    pub children: Vec<u32>,
}

/// Every machine that runs.
#[derive(Default)]
pub(crate) struct Machines {
    pub instances: Vec<Instance>,
    pub free: Vec<u32>,
    /// One per root of the program; `None` where it could not start.
    pub roots: Vec<Root>,
    /// The instance whose block runs.
    pub at: u32,
    /// While settling: whether each transition fired, by instance and machine, because none
    /// may twice.
    pub settled: Option<BTreeMap<(u32, u32), Vec<bool>>>,
    pub n_fired: u64,
    /// Whether each state of each machine was entered.
    pub entered: Vec<Vec<bool>>,
    /// Where the roots were spawned.
    pub started: (usize, SimTime),
}

/// A machine the program starts with.
pub(crate) struct Root {
    pub instance: Option<u32>,
    /// When a state called `red` was entered, by which path.
    pub red: Option<Red>,
}

/// How a root came to touch red.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Red {
    pub tick: usize,
    pub time: SimTime,
    pub path: String,
    /// Machine and transition; `None` where it started in red.
    pub by: Option<(u32, u32)>,
}

/// How the step of an instance ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stepped {
    /// Nothing fired in it.
    Stayed,
    /// Something fired in it or in one of its children.
    Moved,
    /// An exit of it fires: the state of the machine around it to go to.
    Exits(u32, (u32, u32)),
}

impl<N: Now, W: Watch> Run<'_, N, W> {
    /// Globals get their first values and the roots are spawned, with the first snapshot in
    /// sight.
    pub(crate) fn start(&mut self) {
        let code = self.code;
        self.machines.started = (self.tick, self.time);
        let of_machine = |machine: &MachineCode| vec![false; machine.states.len()];
        self.machines.entered = code.machines.iter().map(of_machine).collect();
        self.globals = vec![Value::Nil; code.globals.len()];
        for (slot, var) in code.globals.iter().enumerate() {
            if let Some(value) = self.run_block(var.init, NONE) {
                self.watch.assigned(var.site, None, slot as u32, &value);
                self.globals[slot] = value;
            }
        }
        for (i, spawn) in code.roots.iter().enumerate() {
            self.machines.roots.push(Root { instance: None, red: None });
            let instance = self.spawn(spawn, NONE, i as u32, None);
            self.machines.roots[i].instance = instance;
        }
    }

    /// One snapshot. Whether anything fired.
    pub(crate) fn step(&mut self) -> bool {
        let mut has_moved = false;
        for root in 0..self.machines.roots.len() {
            let Root { instance: Some(instance), red: None } = self.machines.roots[root] else {
                continue;
            };
            has_moved |= self.step_instance(instance, root as u32) != Stepped::Stayed;
        }
        has_moved
    }

    /// Whether no root can change any more.
    pub(crate) fn is_over(&self) -> bool {
        let is_still = |root: &Root| root.instance.is_none() || root.red.is_some();
        self.machines.roots.iter().all(is_still) || self.n_exhausted >= MOST_EXHAUSTED
    }

    fn step_instance(&mut self, id: u32, root: u32) -> Stepped {
        self.machines.at = id;
        let code = self.code;
        let Instance { machine, state, .. } = self.machines.instances[id as usize];
        let machine_code = &code.machines[machine as usize];
        let state_code = &machine_code.states[state as usize];
        for &way in &state_code.ways_out {
            let transition = &machine_code.transitions[way as usize];
            if self.has_settled(id, machine, way) {
                continue;
            }
            // What leads nowhere is not asked: an event of it would be run for nothing.
            let Some(target) = self.state_led_to(id, &transition.target) else { continue };
            if !self.guard_holds(id, &transition.guard) {
                continue;
            }
            self.machines.n_fired += 1;
            self.watch.fired(self.tick, machine, way);
            if let Some(settled) = &mut self.machines.settled {
                let n = machine_code.transitions.len();
                let fired = settled.entry((id, machine)).or_insert_with(|| vec![false; n]);
                fired[way as usize] = true;
            }
            if let Target::Exit(_) = transition.target {
                return Stepped::Exits(target, (machine, way));
            }
            self.leave(id);
            self.enter(id, target, root, Some((machine, way)));
            return Stepped::Moved;
        }
        // Settling is no new snapshot: what runs at every snapshot has run here.
        if self.machines.settled.is_none() {
            let frame = self.machines.instances[id as usize].frame;
            for &block in &state_code.running {
                self.run_block(block, frame);
            }
        }
        self.step_children(id, root)
    }

    fn step_children(&mut self, id: u32, root: u32) -> Stepped {
        let mut stepped = Stepped::Stayed;
        let mut i = 0;
        while let Some(&child) = self.machines.instances[id as usize].children.get(i) {
            match self.step_instance(child, root) {
                Stepped::Stayed => {}
                Stepped::Moved => stepped = Stepped::Moved,
                Stepped::Exits(target, by) => {
                    self.leave(id);
                    self.enter(id, target, root, Some(by));
                    return Stepped::Moved;
                }
            }
            if self.machines.roots[root as usize].red.is_some() {
                return Stepped::Moved;
            }
            i += 1;
        }
        stepped
    }

    fn has_settled(&self, instance: u32, machine: u32, transition: u32) -> bool {
        let settled = self.machines.settled.as_ref();
        let fired = settled.and_then(|settled| settled.get(&(instance, machine)));
        fired.is_some_and(|fired| fired[transition as usize])
    }

    /// The state a transition of an instance leads to: its own, or for an exit one of the
    /// machine around it.
    fn state_led_to(&self, id: u32, target: &Target) -> Option<u32> {
        let name = match target {
            Target::State(state) => return Some(*state),
            Target::Missing => return None,
            Target::Exit(name) => name,
        };
        let parent = self.machines.instances[id as usize].parent;
        let machine = self.machines.instances.get(parent as usize)?.machine;
        let states = &self.code.machines[machine as usize].states;
        states.iter().position(|state| state.name == *name).map(|i| i as u32)
    }

    fn guard_holds(&mut self, id: u32, guard: &GuardCode) -> bool {
        let Instance { frame, entered, .. } = self.machines.instances[id as usize];
        match guard {
            GuardCode::Always => true,
            GuardCode::Missing => false,
            GuardCode::AfterNanos(nanos) => (self.time - entered).nanos() >= *nanos,
            GuardCode::Block(block) => {
                if !W::SEES
                    && let Some(holds) =
                        self.quick_flag(&self.code.blocks[*block as usize].body, frame)
                {
                    self.asked[*block as usize].is_answered = true;
                    return holds;
                }
                let is_known = self.ask(*block, frame, "an event is true or false", |value| {
                    if let Value::Bool(b) = value { Some(*b) } else { None }
                });
                is_known.unwrap_or(false)
            }
            GuardCode::AfterBlock(block) => {
                let wants = "a timeout is a number of milliseconds";
                let millis = self.ask(*block, frame, wants, |value| {
                    if let Value::Number(millis) = value { Some(millis.value) } else { None }
                });
                let waited = (self.time - entered).nanos() as f64;
                millis.is_some_and(|millis| waited >= whole_nanos(millis))
            }
        }
    }

    /// The answer of a condition; `None` where it failed or is of the wrong kind, which is
    /// remembered: a condition that never answers decides nothing.
    fn ask<T>(
        &mut self,
        block: u32,
        frame: u32,
        wants: &str,
        kind: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let n_before = self.n_errors;
        let value = self.run_block(block, frame);
        let answer = value.as_ref().and_then(kind);
        if let (None, Some(odd)) = (&answer, &value) {
            self.odd_guard(block, odd, wants);
        }
        let asked = &mut self.asked[block as usize];
        asked.is_answered |= answer.is_some();
        if self.n_errors > n_before {
            asked.failed = asked.failed.or(self.last_error);
        }
        answer
    }

    fn odd_guard(&mut self, block: u32, value: &Value, wants: &str) {
        let words = format!("{wants}, not {}", super::eval::shown(value));
        let site = self.code.blocks[block as usize].site;
        self.note_failure(Failure { site, words, help: None, kind: FailureKind::Wrong });
    }

    /// Starts a machine below `parent`; `None` where it names nothing. `by` is the
    /// transition that led here, as for [`Run::enter`].
    fn spawn(
        &mut self,
        spawn: &SpawnCode,
        parent: u32,
        root: u32,
        by: Option<(u32, u32)>,
    ) -> Option<u32> {
        let (Some(machine), Some(state)) = (spawn.machine, spawn.state) else { return None };
        let depth = self.machines.instances.get(parent as usize).map_or(0, |p| p.depth + 1);
        let n_running = self.machines.instances.len() - self.machines.free.len();
        if n_running >= MOST_INSTANCES || depth >= MOST_DEEP {
            let words = if depth >= MOST_DEEP {
                format!("machines spawn machines more than {MOST_DEEP} deep")
            } else {
                format!("more than {MOST_INSTANCES} machines at once")
            };
            let kind = FailureKind::Exhausted;
            self.note_failure(Failure { site: spawn.site, words, help: None, kind });
            return None;
        }
        let outer = self.frame_around(machine, parent);
        let frame = self.new_frame(machine, outer);
        let (entered, entered_tick, children) = (self.time, self.tick, Vec::new());
        let instance =
            Instance { machine, state, frame, parent, depth, entered, entered_tick, children };
        let id = match self.machines.free.pop() {
            Some(id) => {
                self.machines.instances[id as usize] = instance;
                id
            }
            None => {
                self.machines.instances.push(instance);
                self.machines.instances.len() as u32 - 1
            }
        };
        if parent != NONE {
            self.machines.instances[parent as usize].children.push(id);
        }
        let code = self.code;
        self.machines.at = id;
        for (slot, var) in code.machines[machine as usize].vars.iter().enumerate() {
            if let Some(value) = self.run_block(var.init, frame) {
                self.watch.assigned(var.site, Some(frame), slot as u32, &value);
                self.frames[frame as usize].values[slot] = value;
            }
        }
        self.enter(id, state, root, by);
        Some(id)
    }

    /// The variables of the machine that a machine was written in: it is the spawning one or
    /// one written around it, because no other is in sight.
    fn frame_around(&self, machine: u32, parent: u32) -> u32 {
        let Some(outer) = self.code.machines[machine as usize].outer else { return NONE };
        let mut frame = self.machines.instances[parent as usize].frame;
        while self.frames[frame as usize].machine != outer {
            frame = self.frames[frame as usize].outer;
        }
        frame
    }

    fn new_frame(&mut self, machine: u32, outer: u32) -> u32 {
        let n_vars = self.code.machines[machine as usize].vars.len();
        let mut values = Vec::new();
        let (id, life) = match self.free_frames.pop() {
            Some(id) => {
                let old = &mut self.frames[id as usize];
                values = std::mem::take(&mut old.values);
                (id, old.life.wrapping_add(1))
            }
            None => (self.frames.len() as u32, 0),
        };
        values.clear();
        values.resize(n_vars, Value::Nil);
        let frame = Frame { machine, outer, values, life, is_alive: true };
        match self.frames.get_mut(id as usize) {
            Some(old) => *old = frame,
            None => self.frames.push(frame),
        }
        id
    }

    /// Enters a state: timers restart, then its entry actions and machines, in the same
    /// instant.
    fn enter(&mut self, id: u32, state: u32, root: u32, by: Option<(u32, u32)>) {
        let code = self.code;
        let instance = &mut self.machines.instances[id as usize];
        instance.state = state;
        (instance.entered, instance.entered_tick) = (self.time, self.tick);
        let Instance { machine, frame, parent, .. } = *instance;
        self.machines.at = id;
        self.machines.entered[machine as usize][state as usize] = true;
        self.watch.entered(self.tick, id, parent, machine, state);
        let state_code = &code.machines[machine as usize].states[state as usize];
        for entry in &state_code.on_entry {
            match entry {
                EntryCode::Block(block) => {
                    self.run_block(*block, frame);
                }
                EntryCode::Spawn(spawn) => {
                    self.spawn(spawn, id, root, by);
                    self.machines.at = id;
                }
            }
        }
        if state_code.name == "red" && self.machines.roots[root as usize].red.is_none() {
            let red = Red { tick: self.tick, time: self.time, path: self.path(), by };
            self.machines.roots[root as usize].red = Some(red);
        }
    }

    /// Leaves the current state: children first, the deepest before the others, then its
    /// exit actions.
    fn leave(&mut self, id: u32) {
        let children = std::mem::take(&mut self.machines.instances[id as usize].children);
        for child in children {
            self.leave(child);
            let frame = self.machines.instances[child as usize].frame;
            self.frames[frame as usize].is_alive = false;
            self.free_frames.push(frame);
            self.machines.free.push(child);
            self.watch.ended(self.tick, child);
        }
        self.machines.at = id;
        let code = self.code;
        let Instance { machine, state, frame, .. } = self.machines.instances[id as usize];
        for &block in &code.machines[machine as usize].states[state as usize].on_exit {
            self.run_block(block, frame);
        }
    }

    /// Keeps ticking on the last snapshot until nothing fires, each transition of an
    /// instance once at most.
    pub(crate) fn settle(&mut self) {
        self.machines.settled = Some(BTreeMap::new());
        let n_transitions: usize = self.code.machines.iter().map(|m| m.transitions.len()).sum();
        let n_instances = self.machines.instances.len();
        for _ in 0..=n_transitions.saturating_mul(n_instances).min(MOST_SETTLING) {
            if self.is_over() || !self.step() {
                break;
            }
        }
    }

    /// Machines and states from the root to where we are: `bouncer:bouncing/inner:rising`.
    pub(crate) fn path(&self) -> String {
        let mut parts = Vec::new();
        let mut id = self.machines.at;
        while let Some(instance) = self.machines.instances.get(id as usize) {
            let machine = &self.code.machines[instance.machine as usize];
            let state = &machine.states[instance.state as usize];
            parts.push(format!("{}:{}", machine.name, state.name));
            id = instance.parent;
        }
        parts.reverse();
        parts.join("/")
    }
}

/// Whole nanoseconds, so that 500 ms at ticks of 100 ms fire on the fifth.
pub(super) fn whole_nanos(millis: f64) -> f64 {
    (millis * 1e6).round()
}
