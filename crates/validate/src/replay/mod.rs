//! The replay: a model goes through an experiment, and is looked at whenever somebody measured.
//!
//! ```text
//! Model · Engine ─┐
//! Experiment ─────┼─ Replay::new ─► Replay ─ run ─► Simulated
//! ReplayOptions ──┘   (all checks)     └ set_model_from, set_…, run again
//! ```
//!
//! Everything that can be refused is refused by [`Replay::new`]. A run starts from the same state
//! to the bit, however often and whatever ran before, and writes into the same buffers: an
//! optimiser calls it thousands of times.
//!
//! `meaning` says what keys mean in a model, `going` is one run.
//!
//! A sample is met exactly by shortening steps, or is that of the nearest step, or lies on the
//! way between two steps. With exact sampling commands come into force at their own nanosecond as
//! well, so that a delay can be fitted; on a grid of steps they wait for the next step.

mod going;
mod meaning;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use headland_base::{Diagnostic, Severity, SimDuration, SimTime};
use headland_judge::compare::{Sampling, Series};
use headland_sim::{Commands, Engine, EngineOptions, Fault, Gains, Model, State};

use crate::experiment::{Experiment, nothing_measured};
use crate::infer::Inference;
use crate::placing::{Known, place};
use crate::plan::Plan;
use crate::sensing::Sensors;
use crate::simulated::{Done, Simulated};
use crate::source::{Names, Source};
use crate::told::{Between, Script};

use going::At;
use meaning::{idle_gains, initial, meanings, motors, sampling_of};

pub use meaning::known_signals;
pub(crate) use meaning::wrong_unit;

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

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stopped::Fault(time, fault) => write!(f, "at {time}, {}", fault.0),
            Stopped::Interrupted(time) => write!(f, "somebody ended it at {time}"),
        }
    }
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
    /// Numbers of the first state that were measured, or are slopes of what was, and nobody gave.
    start_measured: Vec<Source>,
    notes: Vec<Diagnostic>,
    /// The engine has been started with this model and these options.
    is_started: bool,
    /// As the world has it before anything is measured.
    initial: State,
    start: State,
    commands: Commands,
    script: Script,
    at: At,
    out: Simulated,
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
        let refused = plan.stray(options.step);
        if let Some(fault) =
            refused.or_else(|| plan.too_coarse(&experiment, options.step, sampling))
        {
            return Err(vec![fault]);
        }
        notes.extend(headland_sim::checked(engine.as_ref(), &model, &options.of_engine()));
        if notes.iter().any(|note| note.severity == Severity::Error) {
            return Err(notes);
        }
        let start = initial(&model)?;
        let sensors = Sensors::of(&model, &start);
        let (sources, known) = meanings(&model, &sensors, &experiment)?;
        let commands = motors(&model, &experiment, &options)?;
        notes.extend(idle_gains(&model, &experiment, &options));
        let at = At::new(&start, &commands);
        let n_samples = experiment.signals.iter().map(|signal| signal.series.times.len());
        let out = Simulated {
            values: n_samples.map(|n| vec![f64::NAN; n]).collect(),
            times: (sampling == Sampling::Nearest).then(|| {
                let signals = experiment.signals.iter();
                signals.map(|signal| signal.series.times.clone()).collect()
            }),
            done: Done::default(),
        };
        let script = Script::new(&experiment.told, plan.zero, options.between);
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
            start_measured: Vec::new(),
            notes,
            is_started: false,
            initial: start.clone(),
            start,
            commands,
            script,
            at,
            out,
        };
        replay.infer();
        replay.settle();
        replay.refuse_unmet()?;
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
        let gift = self.known_by_gift();
        at_start.give_way(&self.model, &gift);
        for (source, value) in &self.given {
            at_start.tell(source, *value);
        }
        let is_given = |source: &Source| {
            let is_it = self.given.iter().any(|(given, _)| given == source);
            is_it || gift.tells_by_link(&self.model, source)
        };
        let left = |all: Vec<Source>| -> Vec<Source> {
            all.into_iter().filter(|source| !is_given(source)).collect()
        };
        let (measured, slopes) = (left(measured), left(slopes));
        self.started_from = StartedFrom {
            n_given: self.given.len(),
            n_measured: measured.len(),
            n_slopes: slopes.len(),
        };
        self.start_measured = [measured, slopes].concat();
        self.known = vec![at_start];
        for landing in self.plan.landings.iter().filter(|landing| landing.resets) {
            let mut known = Known::new();
            inference.at(zero + landing.time, &mut known);
            self.known.push(known);
        }
    }

    /// What somebody gave, and nothing that was measured.
    fn known_by_gift(&self) -> Known {
        let mut given = Known::new();
        for (source, value) in &self.given {
            given.tell(source, *value);
        }
        given
    }

    /// A link that hangs on a joint is where the joint lets it be. One that was given another
    /// place would start elsewhere without a word.
    fn refuse_unmet(&self) -> Result<(), Vec<Diagnostic>> {
        let Some(joint) = self.known_by_gift().unmet(&self.model, &self.start) else {
            return Ok(());
        };
        let bodies = &self.model.rigids[joint.child_rigid].body_idxs;
        let link = bodies.first().map_or("a link", |i| self.model.bodies[*i].name.as_str());
        let message = format!(
            "the state gives `{link}` a pose or a velocity that its joint `{}` does not let it \
             have",
            joint.name
        );
        let dofs = joint.first_dof..joint.first_dof + joint.kind.axes().len();
        let keys = self.model.dofs[dofs].iter();
        let keys: Vec<String> =
            keys.map(|dof| format!("`{0}/position` and `{0}/velocity`", dof.name)).collect();
        let help = match keys.is_empty() {
            true => "leave the link out, or give it all of its pose".to_string(),
            false => format!("give {} instead, or all of the link's pose", keys.join(", ")),
        };
        Err(vec![Diagnostic::error("state-not-met", message).help(help)])
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

    /// Another model for the next run, with other numbers in it: the same links, joints and names;
    /// and with these numbers of the first state in the place of what was measured or given. An
    /// error is what keeps it from moving, and then the old one stays.
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

    /// Whether somebody gave it, by itself or by the place of a link.
    pub fn is_told(&self, source: &Source) -> bool {
        self.is_given(source) || self.known_by_gift().tells_by_link(&self.model, source)
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

    /// What the last run did.
    pub fn done(&self) -> &Done {
        &self.out.done
    }

    /// The state a run starts from.
    pub fn start(&self) -> &State {
        &self.start
    }

    /// Where that comes from.
    pub fn started_from(&self) -> StartedFrom {
        self.started_from
    }

    /// Numbers of the first state that were measured, or are slopes of what was, and nobody gave.
    pub fn start_measured(&self) -> &[Source] {
        &self.start_measured
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
    /// met exactly. What comes back is of these samples alone. `tick` may break it off, as with
    /// [`Replay::run_until`].
    pub fn go_on(
        &mut self,
        since: Experiment,
        tick: &mut dyn FnMut(SimTime) -> ControlFlow<()>,
    ) -> Result<&Simulated, Stopped> {
        assert!(self.sampling == Sampling::Exact, "only exact sampling goes on");
        let told = std::mem::take(&mut Arc::make_mut(&mut self.experiment).told);
        self.plan = Plan::since(self.plan.zero, &since, None);
        let n_samples = since.signals.iter().map(|signal| signal.series.times.len());
        self.out.values = n_samples.map(|n| vec![f64::NAN; n]).collect();
        self.experiment = Arc::new(Experiment { told, ..since });
        self.go_exactly(tick)?;
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
}
