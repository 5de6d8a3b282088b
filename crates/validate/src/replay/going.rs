//! One run of a replay: from the start, landing by landing, to the end.
//!
//! What the motors are told, a step, and what is seen of it at a landing; and putting the state
//! back to what was measured.

use std::ops::ControlFlow;

use headland_base::{SimDuration, SimTime};
use headland_judge::compare::Sampling;
use headland_sim::{Commands, DofState, Inputs, LastStep, Look, Model, RigidState, State};

use super::{Replay, Stopped};
use crate::plan::{nearest_step, next_step};
use crate::sensing::Sensors;
use crate::simulated::Done;
use crate::source::{Moment, Source};

/// Where a run is: scratch.
pub(super) struct At {
    pub state: State,
    commands: Commands,
    inputs: Inputs,
    /// Rigids and axes before the last step, and its length; zero before the first.
    rigids_before: Vec<RigidState>,
    dofs_before: Vec<DofState>,
    dt: SimDuration,
    /// The whole state before the last step, and what led to it, where samples lie between steps.
    previous: Option<Previous>,
    /// Samples of the first moment that only the first step can tell.
    owed: Vec<(usize, usize)>,
    pub n_sampled: u64,
    pub dt_sum_nanos: i64,
    pub dt_max_nanos: i64,
}

/// The moment before the current one.
struct Previous {
    state: State,
    rigids_before: Vec<RigidState>,
    dofs_before: Vec<DofState>,
    dt: SimDuration,
}

impl At {
    pub fn new(start: &State, commands: &Commands) -> At {
        At {
            state: start.clone(),
            commands: commands.clone(),
            inputs: Inputs::default(),
            rigids_before: Vec::new(),
            dofs_before: Vec::new(),
            dt: SimDuration::ZERO,
            previous: None,
            owed: Vec::new(),
            n_sampled: 0,
            dt_sum_nanos: 0,
            dt_max_nanos: 0,
        }
    }

    fn now<'a>(&'a self, model: &'a Model) -> Moment<'a> {
        moment(model, &self.state, &self.rigids_before, &self.dofs_before, self.dt)
    }
}

impl Previous {
    fn moment<'a>(&'a self, model: &'a Model) -> Moment<'a> {
        moment(model, &self.state, &self.rigids_before, &self.dofs_before, self.dt)
    }
}

fn moment<'a>(
    model: &'a Model,
    state: &'a State,
    rigids: &'a [RigidState],
    dofs: &'a [DofState],
    dt: SimDuration,
) -> Moment<'a> {
    let before = (dt > SimDuration::ZERO).then(|| (rigids, dofs, dt.secs()));
    Moment { model, state, before }
}

/// A number now, or on the way to now from a moment before.
fn value(
    source: &Source,
    sensors: &Sensors,
    now: &Moment<'_>,
    from: Option<(f64, &Moment<'_>)>,
) -> f64 {
    match (source, from) {
        (Source::Sensor(sensor_idx, number), from) => {
            sensors.value(*sensor_idx, *number, from.map(|(share, _)| share))
        }
        (source, Some((share, from))) => source.read_between(from, now, share),
        (source, None) => source.read(now),
    }
}

impl Replay {
    pub(super) fn begin(&mut self) -> Result<(), Stopped> {
        self.out.done = Done::default();
        let at = &mut self.at;
        at.state.clone_from(&self.start);
        at.commands.clone_from(&self.commands);
        at.dt = SimDuration::ZERO;
        (at.n_sampled, at.dt_sum_nanos, at.dt_max_nanos) = (0, 0, 0);
        at.previous = None;
        at.owed.clear();
        at.inputs.skips_contacts =
            !(self.sources.iter().any(Source::needs_contacts) || self.sensors.need_contacts());
        self.script.rewind();
        self.sensors.start(&self.model);
        self.restart()
    }

    fn restart(&mut self) -> Result<(), Stopped> {
        let options = self.options.of_engine();
        let (model, state) = (&self.model, &self.at.state);
        let done = match std::mem::replace(&mut self.is_started, true) {
            true => self.engine.restart(model, state, &options),
            false => self.engine.start(model, state, &options),
        };
        done.map_err(|fault| Stopped::Fault(self.at.state.time, fault))
    }

    /// From landing to landing, steps shortened so that each is met to the nanosecond.
    pub(super) fn go_exactly(
        &mut self,
        tick: &mut dyn FnMut(SimTime) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        let may_shorten = self.engine.shortens_steps();
        let mut n_resets = 0;
        for i in 0..self.plan.landings.len() {
            let goal = self.plan.landings[i].time;
            while self.at.state.time - SimTime::ZERO < goal {
                let now = self.at.state.time - SimTime::ZERO;
                let change = self.command(now).filter(|change| may_shorten && *change < goal);
                let left = change.unwrap_or(goal).nanos() - now.nanos();
                let dt = next_step(SimDuration::from_nanos(left), self.options.step);
                self.step(dt, tick)?;
            }
            self.look(i, None);
            if self.plan.landings[i].resets {
                n_resets += 1;
                self.reset(n_resets)?;
            }
        }
        Ok(())
    }

    /// On a grid of whole steps that begins anew at every reset.
    pub(super) fn go_by_steps(
        &mut self,
        tick: &mut dyn FnMut(SimTime) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        let step = self.options.step;
        let is_between = self.sampling == Sampling::Interpolate;
        let (mut origin, mut n_resets, mut n_made) = (SimDuration::ZERO, 0, 0);
        for i in 0..self.plan.landings.len() {
            let goal = self.plan.landings[i].time;
            let way = SimDuration::from_nanos(goal.nanos() - origin.nanos());
            let rest = way.nanos() % step.nanos();
            let n_wanted = match is_between {
                true => way.nanos() / step.nanos() + i64::from(rest > 0),
                false => nearest_step(way, step),
            };
            while n_made < n_wanted {
                if is_between {
                    self.keep_previous();
                }
                self.command(self.at.state.time - SimTime::ZERO);
                self.step(step, tick)?;
                n_made += 1;
            }
            let share = (is_between && rest > 0).then(|| rest as f64 / step.nanos() as f64);
            self.look(i, share);
            if self.plan.landings[i].resets {
                n_resets += 1;
                (origin, n_made) = (goal, 0);
                self.at.state.time = SimTime::ZERO + goal;
                self.reset(n_resets)?;
            }
        }
        Ok(())
    }

    fn keep_previous(&mut self) {
        let at = &mut self.at;
        let previous = at.previous.get_or_insert_with(|| Previous {
            state: at.state.clone(),
            rigids_before: Vec::new(),
            dofs_before: Vec::new(),
            dt: SimDuration::ZERO,
        });
        previous.state.clone_from(&at.state);
        previous.rigids_before.clone_from(&at.rigids_before);
        previous.dofs_before.clone_from(&at.dofs_before);
        previous.dt = at.dt;
    }

    /// Gives the commands that are in force now; when the next comes.
    fn command(&mut self, now: SimDuration) -> Option<SimDuration> {
        let delay = self.options.command_delay.nanos();
        let given = SimDuration::from_nanos(now.nanos() - delay);
        let at = &mut self.at;
        at.commands.advance(at.state.time);
        let next = self.script.go_to(&self.experiment.told, given, &mut at.commands);
        next.map(|next| SimDuration::from_nanos(next.nanos().saturating_add(delay)))
    }

    fn step(
        &mut self,
        dt: SimDuration,
        tick: &mut dyn FnMut(SimTime) -> ControlFlow<()>,
    ) -> Result<(), Stopped> {
        let at = &mut self.at;
        at.commands.act(&self.model, &at.state, &mut at.inputs);
        at.dofs_before.clone_from(&at.state.dofs);
        let engine = self.engine.as_mut();
        headland_sim::step(
            &self.model,
            engine,
            &at.inputs,
            dt,
            &mut at.state,
            &mut at.rigids_before,
        )
        .map_err(|fault| Stopped::Fault(at.state.time, fault))?;
        let remarks = engine.take_remarks();
        at.dt = dt;
        let moment = self.plan.zero + (at.state.time - SimTime::ZERO);
        let done = &mut self.out.done;
        done.n_remarks += remarks.len() as u64;
        if let Some(first) = remarks.into_iter().next() {
            done.remark.get_or_insert((first, moment));
        }
        done.n_steps += 1;
        done.n_shortened += u64::from(dt < self.options.step);
        done.longest_step = done.longest_step.max(dt);
        done.step_squares += dt.secs() * dt.secs();
        self.note_contained();
        self.pay();
        match tick(self.at.state.time) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stopped::Interrupted(self.at.state.time)),
        }
    }

    fn note_contained(&mut self) {
        let At { state, rigids_before, .. } = &self.at;
        for (i, (was, now)) in rigids_before.iter().zip(&state.rigids).enumerate() {
            if now.is_contained && !was.is_contained {
                let name = self.model.bodies[self.model.rigids[i].body_idxs[0]].name.clone();
                let moment = self.plan.zero + (state.time - SimTime::ZERO);
                self.out.done.contained.push((name, moment));
            }
        }
    }

    /// Tells the samples of the first moment what only the first step tells.
    fn pay(&mut self) {
        // Samples may lie between any two steps.
        if self.sampling == Sampling::Interpolate || !self.at.owed.is_empty() {
            self.sense();
        }
        if self.at.owed.is_empty() {
            return;
        }
        let now = self.at.now(&self.model);
        for (signal, sample) in &self.at.owed {
            let value = value(&self.sources[*signal], &self.sensors, &now, None);
            self.out.values[*signal][*sample] = value;
        }
        self.at.owed.clear();
    }

    /// Lets the sensors look at the state.
    fn sense(&mut self) {
        if !self.sensors.are_idle() {
            let At { state, rigids_before, dt, .. } = &self.at;
            let is_moved = *dt > SimDuration::ZERO;
            let last_step = is_moved.then_some(LastStep { rigids: rigids_before, step: *dt });
            let n_threads = self.options.n_threads;
            self.sensors.look(&Look { model: &self.model, state, last_step, n_threads });
        }
    }

    /// Takes the samples of a landing from the state, or from between the last two.
    fn look(&mut self, landing: usize, share: Option<f64>) {
        if self.sampling != Sampling::Interpolate || self.at.dt == SimDuration::ZERO {
            self.sense();
        }
        let landing = &self.plan.landings[landing];
        let samples = &self.plan.samples[landing.samples.clone()];
        let (model, at) = (&self.model, &self.at);
        let now = at.now(model);
        let previous = at.previous.as_ref().map(|previous| previous.moment(model));
        let from = share.zip(previous.as_ref());
        for (signal, sample) in samples {
            self.out.values[*signal][*sample] =
                value(&self.sources[*signal], &self.sensors, &now, from);
        }
        if let Some(times) = &mut self.out.times {
            let time = self.plan.zero + (at.state.time - SimTime::ZERO);
            for (signal, sample) in samples {
                // A reset may set the clock back by half a step; samples stay in their order.
                let before = sample.checked_sub(1).map(|before| times[*signal][before]);
                let least = before.map(|before| before + SimDuration::from_nanos(1));
                times[*signal][*sample] = least.map_or(time, |least| time.max(least));
            }
        }
        let apart = match share {
            Some(share) => (share.min(1.0 - share) * self.options.step.nanos() as f64) as i64,
            None => (at.state.time - SimTime::ZERO).nanos() - landing.time.nanos(),
        };
        let at = &mut self.at;
        if at.dt == SimDuration::ZERO {
            let is_owed = |(signal, sample): &&(usize, usize)| {
                self.sources[*signal].is_of_step() && self.out.values[*signal][*sample].is_nan()
            };
            at.owed.extend(samples.iter().filter(is_owed).copied());
        }
        let n = samples.len();
        at.n_sampled += n as u64;
        at.dt_sum_nanos += apart.abs() * n as i64;
        at.dt_max_nanos = at.dt_max_nanos.max(apart.abs());
    }

    /// Puts the state back to what was measured; what nobody measured stays as it is.
    pub(super) fn reset(&mut self, known_idx: usize) -> Result<(), Stopped> {
        let placed = self.placed(&self.at.state, known_idx);
        self.at.state = placed;
        self.at.state.contacts.clear();
        // There is no step that led here, and commands of later are not yet given.
        self.at.dt = SimDuration::ZERO;
        self.at.commands.clone_from(&self.commands);
        self.script.rewind();
        self.out.done.n_resets += 1;
        if self.sampling == Sampling::Interpolate {
            self.sense();
        }
        self.restart()
    }
}
