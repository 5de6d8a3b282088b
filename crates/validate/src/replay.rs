//! The replay: a model goes through an experiment, and is looked at whenever somebody measured.
//!
//! ```text
//! Model · Engine ─┐
//! Experiment ─────┼─ Replay::new ─► Replay ─ run ─► Simulated
//! ReplayOptions ──┘   (all checks)     └ set_model, set_… , run again
//! ```
//!
//! Everything that can be refused is refused by [`Replay::new`]. A run starts from the same state
//! to the bit, however often and whatever ran before, and writes into the same buffers: an
//! optimiser calls it thousands of times.
//!
//! A sample is met exactly by shortening steps, or is that of the nearest step, or lies on the
//! way between two steps. With exact sampling commands come into force at their own nanosecond as
//! well, so that a delay can be fitted; on a grid of steps they wait for the next step.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use headland_base::{Diagnostic, Severity, SimDuration, SimTime};
use headland_judge::compare::{Sampling, Series};
use headland_sim::{
    Commands, DofState, Engine, EngineOptions, Fault, Gains, Inputs, LastStep, Look, Mode, Model,
    RigidState, State,
};

use crate::experiment::{Experiment, nothing_measured};
use crate::given;
use crate::infer::Inference;
use crate::placing::{Known, place};
use crate::plan::{Plan, nearest_step, next_step};
use crate::sensing::Sensors;
use crate::simulated::{Done, Simulated};
use crate::source::{Moment, Names, Source, Unread, contact_component};
use crate::told::{Between, Line};

/// How an experiment is repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOptions {
    /// The longest step.
    pub step: SimDuration,
    /// How a sample is met; by default exactly, or on the way between two steps where the
    /// engine cannot shorten one.
    pub sampling: Option<Sampling>,
    /// Put the state back to what was measured every so often.
    pub window: Option<SimDuration>,
    /// How commands last.
    pub between: Between,
    /// How much later than their stamps commands reach the motors.
    pub command_delay: SimDuration,
    /// Gains of axes whose model gives none.
    pub gains: Option<Gains>,
    /// Threads the engine may use; the result does not depend on it.
    pub n_threads: usize,
    /// Engines stay at their own defaults.
    pub raw: bool,
    /// How long a step may take outside, where it can be told.
    pub patience: Duration,
}

impl ReplayOptions {
    /// Exact sampling, no windows, commands held, at a step.
    pub fn new(step: SimDuration) -> ReplayOptions {
        let EngineOptions { n_threads, raw, patience, .. } = EngineOptions::new(step);
        ReplayOptions {
            step,
            sampling: None,
            window: None,
            between: Between::Held,
            command_delay: SimDuration::ZERO,
            gains: None,
            n_threads,
            raw,
            patience,
        }
    }

    fn of_engine(&self) -> EngineOptions {
        let ReplayOptions { step, n_threads, raw, patience, .. } = *self;
        EngineOptions { step, n_threads, raw, patience }
    }
}

/// Where the first state comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartedFrom {
    /// Numbers somebody gave.
    pub n_given: usize,
    /// Positions and velocities of the first samples.
    pub n_measured: usize,
    /// Velocities that are slopes of the first samples.
    pub n_slopes: usize,
}

/// Why a replay did not reach its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Stopped {
    /// The engine broke, at this time since the first sample.
    Fault(SimTime, Fault),
    /// Somebody asked.
    Interrupted(SimTime),
}

/// An experiment that can be repeated any number of times.
pub struct Replay {
    model: Model,
    engine: Box<dyn Engine>,
    experiment: Arc<Experiment>,
    options: ReplayOptions,
    sampling: Sampling,
    plan: Plan,
    /// By signal.
    sources: Vec<Source>,
    sensors: Sensors,
    /// Numbers of the first state that somebody gave.
    given: Vec<(Source, f64)>,
    /// What is known at the first landing, and at every one that resets, in their order.
    known: Vec<Known>,
    started_from: StartedFrom,
    notes: Vec<Diagnostic>,
    /// The engine has been started with this model and these options.
    is_started: bool,
    /// As the world has it before anything is measured.
    initial: State,
    start: State,
    commands: Commands,
    lines: Vec<Line>,
    at: At,
    out: Simulated,
}

/// Where a run is: scratch.
struct At {
    state: State,
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
    n_sampled: u64,
    dt_sum_nanos: i64,
    dt_max_nanos: i64,
}

/// The moment before the current one.
struct Previous {
    state: State,
    rigids_before: Vec<RigidState>,
    dofs_before: Vec<DofState>,
    dt: SimDuration,
}

impl At {
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
    /// Prepares a replay, or says everything that stands in its way. Every key of the experiment
    /// has to mean something in the model: leave others out before, with [`known_signals`].
    pub fn new(
        model: Model,
        engine: Box<dyn Engine>,
        experiment: Arc<Experiment>,
        options: ReplayOptions,
    ) -> Result<Replay, Vec<Diagnostic>> {
        assert!(options.step > SimDuration::ZERO, "a step is longer than nothing");
        if experiment.first().is_none() {
            return Err(vec![nothing_measured()]);
        }
        let plan = Plan::of(&experiment, options.window);
        let (sampling, mut notes) = sampling_of(&plan, &options, engine.as_ref())?;
        if let Some(fault) = plan.too_coarse(&experiment, options.step, sampling) {
            return Err(vec![fault]);
        }
        notes.extend(engine.check(&model, &options.of_engine()));
        notes.extend(headland_sim::coarse_step(&model, options.step));
        if notes.iter().any(|note| note.severity == Severity::Error) {
            return Err(notes);
        }
        let start = initial(&model)?;
        let sensors = Sensors::of(&model, &start);
        let (sources, known) = meanings(&model, &sensors, &experiment)?;
        let commands = motors(&model, &experiment, &options)?;
        let at = At {
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
        };
        let n_samples = experiment.signals.iter().map(|signal| signal.series.times.len());
        let out = Simulated {
            values: n_samples.map(|n| vec![f64::NAN; n]).collect(),
            times: (sampling == Sampling::Nearest).then(|| {
                let signals = experiment.signals.iter();
                signals.map(|signal| signal.series.times.clone()).collect()
            }),
            done: Done::default(),
        };
        let lines = experiment.told.lines(plan.zero);
        let mut replay = Replay {
            model,
            engine,
            experiment,
            options,
            sampling,
            plan,
            given: known,
            sources,
            sensors,
            known: Vec::new(),
            started_from: StartedFrom::default(),
            notes,
            is_started: false,
            initial: start.clone(),
            start,
            commands,
            lines,
            at,
            out,
        };
        replay.infer();
        replay.settle();
        Ok(replay)
    }

    /// What the first state, and every one that resets, is known by.
    fn infer(&mut self) {
        let signals: Vec<(Source, &Series)> = self
            .sources
            .iter()
            .cloned()
            .zip(self.experiment.signals.iter().map(|signal| &signal.series))
            .collect();
        let inference = Inference::of(&self.model, &signals);
        let zero = self.plan.zero;
        let mut at_start = Known::new();
        let (measured, slopes) = inference.at(zero, &mut at_start);
        for (source, value) in &self.given {
            at_start.tell(source, *value);
        }
        let is_given = |source: &Source| self.given.iter().any(|(given, _)| given == source);
        let n_left = |all: &[Source]| all.iter().filter(|source| !is_given(source)).count();
        self.started_from = StartedFrom {
            n_given: self.given.len(),
            n_measured: n_left(&measured),
            n_slopes: n_left(&slopes),
        };
        self.known = vec![at_start];
        for landing in self.plan.landings.iter().filter(|landing| landing.resets) {
            let mut known = Known::new();
            inference.at(zero + landing.time, &mut known);
            self.known.push(known);
        }
    }

    /// The state a run starts from, and the sensors that start with it.
    fn settle(&mut self) {
        self.start = self.placed(&self.initial, 0);
        self.start_sensors();
    }

    fn start_sensors(&mut self) {
        let wanted = self.sources.iter().filter_map(|source| match source {
            Source::Sensor(sensor_idx, _) => Some(*sensor_idx),
            _ => None,
        });
        let wanted: Vec<usize> = wanted.collect();
        if !wanted.is_empty() {
            // What a sensor starts with is what the replay starts with.
            self.sensors = Sensors::of(&self.model, &self.start);
            wanted.into_iter().for_each(|sensor_idx| self.sensors.want(sensor_idx));
        }
    }

    fn placed(&self, from: &State, known_idx: usize) -> State {
        match &self.known[known_idx] {
            known if known.is_empty() => from.clone(),
            known => place(&self.model, from, known),
        }
    }

    /// Another model for the next run, with other numbers in it: the same links, joints and
    /// names. An error is what keeps it from moving, and then the old one stays.
    pub fn set_model(&mut self, model: Model) -> Result<(), Vec<Diagnostic>> {
        let (sources, given) = meanings(&model, &self.sensors, &self.experiment)?;
        let commands = motors(&model, &self.experiment, &self.options)?;
        self.initial = initial(&model)?;
        self.commands = commands;
        self.model = model;
        self.is_started = false;
        // What is known of the start depends on what keys mean, and on no number of the model.
        if sources != self.sources || given != self.given {
            (self.sources, self.given) = (sources, given);
            self.infer();
        }
        self.settle();
        Ok(())
    }

    /// [`Replay::set_model`], with these numbers of the first state in the place of what was
    /// measured or given.
    pub fn set_model_from(
        &mut self,
        model: Model,
        start: &[(Source, f64)],
    ) -> Result<(), Vec<Diagnostic>> {
        let commands = motors(&model, &self.experiment, &self.options)?;
        self.initial = initial(&model)?;
        self.commands = commands;
        self.model = model;
        self.is_started = false;
        let mut known = self.known[0].clone();
        for (source, value) in start {
            known.tell(source, *value);
        }
        let measured = std::mem::replace(&mut self.known[0], known);
        self.start = self.placed(&self.initial, 0);
        self.known[0] = measured;
        self.start_sensors();
        Ok(())
    }

    /// Whether somebody gave this number of the first state.
    pub fn is_given(&self, source: &Source) -> bool {
        let names = Names::of(&self.model);
        self.experiment.known.iter().any(|(key, _)| names.find(key).as_ref() == Ok(source))
    }

    /// Another delay of commands for the next run.
    pub fn set_command_delay(&mut self, delay: SimDuration) {
        self.options.command_delay = delay;
    }

    /// Other gains, of axes whose model gives none, for the next run.
    pub fn set_gains(&mut self, gains: Option<Gains>) -> Result<(), Vec<Diagnostic>> {
        let options = ReplayOptions { gains, ..self.options.clone() };
        self.commands = motors(&self.model, &self.experiment, &options)?;
        self.options = options;
        Ok(())
    }

    /// Another step for the next run.
    pub fn set_step(&mut self, step: SimDuration) -> Result<(), Vec<Diagnostic>> {
        assert!(step > SimDuration::ZERO, "a step is longer than nothing");
        let options = ReplayOptions { step, ..self.options.clone() };
        let (sampling, _) = sampling_of(&self.plan, &options, self.engine.as_ref())?;
        if sampling != self.sampling {
            let message = format!("with a step of {step} samples would be met in another way");
            return Err(vec![Diagnostic::error("step-changes-sampling", message)]);
        }
        self.options = options;
        self.is_started = false;
        Ok(())
    }

    /// The model as it is now.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What is repeated.
    pub fn experiment(&self) -> &Arc<Experiment> {
        &self.experiment
    }

    /// How it is repeated.
    pub fn options(&self) -> &ReplayOptions {
        &self.options
    }

    /// How samples are met.
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// The moments of the experiment.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The state a run starts from.
    pub fn start(&self) -> &State {
        &self.start
    }

    /// Where that comes from.
    pub fn started_from(&self) -> StartedFrom {
        self.started_from
    }

    /// What the engine realises differently, and what else is worth knowing.
    pub fn notes(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// What each signal is read from, in the order of the experiment.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Repeats the experiment from its start to its end.
    pub fn run(&mut self) -> Result<&Simulated, Stopped> {
        self.run_until(&mut |_| ControlFlow::Continue(()))
    }

    /// The same; `tick` is called after every step with the time since the first sample, and may
    /// break it off.
    pub fn run_until(
        &mut self,
        tick: &mut dyn FnMut(SimTime) -> ControlFlow<()>,
    ) -> Result<&Simulated, Stopped> {
        self.begin()?;
        match self.sampling {
            Sampling::Exact => self.go_exactly(tick)?,
            _ => self.go_by_steps(tick)?,
        }
        let at = &self.at;
        self.out.done.dt_max = SimDuration::from_nanos(at.dt_max_nanos);
        self.out.done.dt_mean_secs = at.dt_sum_nanos as f64 / at.n_sampled.max(1) as f64 * 1e-9;
        Ok(&self.out)
    }

    /// Goes on from where it is with what was measured since: the same keys in the same order,
    /// some of them perhaps without a sample, and every time later than any before. Samples are
    /// met exactly. What comes back is of these samples alone.
    pub fn go_on(&mut self, since: Experiment) -> Result<&Simulated, Stopped> {
        assert!(self.sampling == Sampling::Exact, "only exact sampling goes on");
        let told = self.experiment.told.clone();
        self.plan = Plan::since(self.plan.zero, &since, None);
        let n_samples = since.signals.iter().map(|signal| signal.series.times.len());
        self.out.values = n_samples.map(|n| vec![f64::NAN; n]).collect();
        self.experiment = Arc::new(Experiment { told, ..since });
        self.go_exactly(&mut |_| ControlFlow::Continue(()))?;
        Ok(&self.out)
    }

    /// Puts the state to what was measured lately, at the moment where the replay is. What
    /// nobody measured stays as it is.
    pub fn put_back(&mut self, recent: &Experiment) -> Result<(), Stopped> {
        let signals: Vec<(Source, &Series)> = self
            .sources
            .iter()
            .cloned()
            .zip(recent.signals.iter().map(|signal| &signal.series))
            .collect();
        let now = self.plan.zero + (self.at.state.time - SimTime::ZERO);
        let mut known = Known::new();
        Inference::of(&self.model, &signals).at(now, &mut known);
        self.known.push(known);
        let done = self.reset(self.known.len() - 1);
        self.known.pop();
        done
    }

    // --- one run -------------------------------------------------------------------------

    fn begin(&mut self) -> Result<(), Stopped> {
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
        self.lines.iter_mut().for_each(Line::rewind);
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
    fn go_exactly(
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
    fn go_by_steps(
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
        self.at.commands.advance(self.at.state.time);
        let mut next: Option<SimDuration> = None;
        for line in &mut self.lines {
            let is_new = line.go_to(given);
            if (is_new || self.options.between == Between::Linear)
                && let Some(command) = line.command(given, self.options.between)
            {
                self.at.commands.set(line.dof_idx, command);
            }
            let change = line.next_change();
            next = [next, change].into_iter().flatten().min();
        }
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
        engine.take_remarks();
        at.dt = dt;
        self.out.done.n_steps += 1;
        self.out.done.n_shortened += u64::from(dt < self.options.step);
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
        let model = &self.model;
        let now = self.at.now(model);
        let previous = self.at.previous.as_ref().map(|previous| previous.moment(model));
        for (signal, sample) in &self.plan.samples[landing.samples.clone()] {
            let source = &self.sources[*signal];
            let from = share.zip(previous.as_ref());
            self.out.values[*signal][*sample] = value(source, &self.sensors, &now, from);
            if let Some(times) = &mut self.out.times {
                let time = self.plan.zero + (self.at.state.time - SimTime::ZERO);
                // A reset may set the clock back by half a step; samples stay in their order.
                let before = sample.checked_sub(1).map(|before| times[*signal][before]);
                let least = before.map(|before| before + SimDuration::from_nanos(1));
                times[*signal][*sample] = least.map_or(time, |least| time.max(least));
            }
        }
        let is_first = self.at.dt == SimDuration::ZERO;
        let apart = match share {
            Some(share) => (share.min(1.0 - share) * self.options.step.nanos() as f64) as i64,
            None => (self.at.state.time - SimTime::ZERO).nanos() - landing.time.nanos(),
        };
        let samples = self.plan.samples[landing.samples.clone()].iter();
        let owed = samples.filter(|(signal, sample)| {
            let is_missing = self.out.values[*signal][*sample].is_nan();
            is_first && is_missing && self.sources[*signal].is_of_step()
        });
        let owed: Vec<(usize, usize)> = owed.copied().collect();
        let n = landing.samples.len();
        let at = &mut self.at;
        at.owed.extend(owed);
        at.n_sampled += n as u64;
        at.dt_sum_nanos += apart.abs() * n as i64;
        at.dt_max_nanos = at.dt_max_nanos.max(apart.abs());
    }

    /// Puts the state back to what was measured; what nobody measured stays as it is.
    fn reset(&mut self, known_idx: usize) -> Result<(), Stopped> {
        let placed = self.placed(&self.at.state, known_idx);
        self.at.state = placed;
        self.at.state.contacts.clear();
        // There is no step that led here, and commands of later are not yet given.
        self.at.dt = SimDuration::ZERO;
        self.at.commands.clone_from(&self.commands);
        self.lines.iter_mut().for_each(Line::rewind);
        self.out.done.n_resets += 1;
        if self.sampling == Sampling::Interpolate {
            self.sense();
        }
        self.restart()
    }
}

/// A model before anything is measured: as it was written, with the `<state>` of its world.
fn initial(model: &Model) -> Result<State, Vec<Diagnostic>> {
    let initial = State::initial(model);
    let given = given::of_world(&model.world)?;
    if given.is_empty() {
        return Ok(initial);
    }
    let (names, mut known) = (Names::of(model), Known::new());
    let mut faults = Vec::new();
    for (key, value) in given {
        match names.find(&key) {
            Ok(source) => _ = known.tell(&source, value),
            Err(unread) => faults.push(unread.told(&key).note("the world's <state> says it")),
        }
    }
    if faults.is_empty() { Ok(place(model, &initial, &known)) } else { Err(faults) }
}

/// What every signal, and every number that was given, means in a model; or all that mean
/// nothing.
#[expect(clippy::type_complexity, reason = "a pair of lists")]
fn meanings(
    model: &Model,
    sensors: &Sensors,
    experiment: &Experiment,
) -> Result<(Vec<Source>, Vec<(Source, f64)>), Vec<Diagnostic>> {
    let names = Names::of(model);
    let (mut sources, mut given, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for signal in &experiment.signals {
        match meaning(&names, sensors, &signal.key) {
            Ok(source) => sources.push(source),
            Err(unread) => faults.push(unread.told(&signal.key)),
        }
    }
    for (key, value) in &experiment.known {
        match names.find(key) {
            Ok(source) => given.push((source, *value)),
            Err(unread) => faults.push(unread.told(key)),
        }
    }
    if faults.is_empty() { Ok((sources, given)) } else { Err(faults) }
}

/// What a key means: of the model, else of one of its sensors.
fn meaning(names: &Names<'_>, sensors: &Sensors, key: &str) -> Result<Source, Unread> {
    let unread = match names.find(key) {
        Err(unread) => unread,
        found => return found,
    };
    if let Some(found) = sensors.find(key) {
        return found.map(|(sensor_idx, number)| Source::Sensor(sensor_idx, number));
    }
    // What a sensor of contacts says is what its link feels.
    if let Some((name, part)) = key.rsplit_once('/')
        && contact_component(part).is_some()
        && let Some(link) = sensors.touching_link(name.trim_end_matches("/contact"))
    {
        return names.find(&format!("{link}/contact/{part}"));
    }
    let near = names.nearest(key, sensors.keys());
    Err(if matches!(unread, Unread::Unknown(_)) { Unread::Unknown(near) } else { unread })
}

/// The signals that mean something in a model, and what is to say of each of the others.
pub fn known_signals(model: &Model, experiment: Experiment) -> (Experiment, Vec<Diagnostic>) {
    let names = Names::of(model);
    let sensors = Sensors::of(model, &State::initial(model));
    let mut unread = Vec::new();
    let Experiment { signals, told, known } = experiment;
    let signals =
        signals.into_iter().filter(|signal| match meaning(&names, &sensors, &signal.key) {
            Ok(_) => true,
            Err(why) => {
                unread.push(why.told(&signal.key));
                false
            }
        });
    let signals = signals.collect();
    (Experiment { signals, told, known }, unread)
}

/// The motors at the start, or every joint without gains to follow what it is told.
fn motors(
    model: &Model,
    experiment: &Experiment,
    options: &ReplayOptions,
) -> Result<Commands, Vec<Diagnostic>> {
    let commands = Commands::new(model, options.gains, None);
    let mut all = commands.clone();
    for (_, dof_idx, command) in experiment.told.commands() {
        if command.mode != Mode::Effort {
            all.set(*dof_idx, *command);
        }
    }
    let missing = all.missing_gains(model);
    if missing.is_empty() { Ok(commands) } else { Err(missing) }
}

/// How samples can be met.
fn sampling_of(
    plan: &Plan,
    options: &ReplayOptions,
    engine: &dyn Engine,
) -> Result<(Sampling, Vec<Diagnostic>), Vec<Diagnostic>> {
    let can_be_exact = engine.shortens_steps() || plan.fits(options.step);
    match options.sampling {
        Some(Sampling::Exact) if !can_be_exact => {
            let message = format!(
                "samples lie between steps of {}, and this engine cannot shorten a step",
                options.step
            );
            let step = plan.common_step();
            let finer = (step.nanos() >= FINEST).then(|| format!("--step {}, ", step.secs()));
            let help = format!("use {}--sampling interp or nearest", finer.unwrap_or_default());
            Err(vec![Diagnostic::error("cannot-shorten-step", message).help(help)])
        }
        Some(sampling) => Ok((sampling, Vec::new())),
        None if can_be_exact => Ok((Sampling::Exact, Vec::new())),
        None => {
            let message = "this engine cannot shorten a step: samples between two steps are \
                           interpolated";
            Ok((Sampling::Interpolate, vec![Diagnostic::remark("realised", message)]))
        }
    }
}

/// The finest step that is worth suggesting: 10 µs.
const FINEST: i64 = 10_000;
