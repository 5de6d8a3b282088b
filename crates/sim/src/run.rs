//! The run loop: the one place where time moves.
//!
//! For every step, in this order:
//!
//! ```text
//! controllers that are due look at x⁻ and give commands
//! commands and x⁻ become efforts
//! the engine moves x⁻ to x⁺, time moves by one step
//! what went non-finite is put back and contained
//! joints are measured on x⁺
//! sensors that are due look at x⁺; what arrives by now of what they saw is handed on
//! the observer sees x⁺ if it is due
//! the run ends if the duration is over, the condition holds, or somebody asks
//! ```
//!
//! Controllers, sensors and the observer also see the state at time zero. Nothing here
//! asks what time it is outside.
//!
//! Contacts can cost an engine more than reading everything else. So after a step at which
//! nobody looks at them there are none; a state that is observed always has them.

use std::ops::ControlFlow;
use std::time::Duration;

use headland_base::{Diagnostic, Seed, SimDuration, SimTime};

use crate::condition::Condition;
use crate::control::{Commands, Controller, Gains};
use crate::engine::{Engine, EngineOptions, Fault, Inputs};
use crate::model::Model;
use crate::sensor::{Due, LastStep, Letter, Look, Mail, Sensor};
use crate::state::{RigidState, State};
use crate::step::step;

/// How a run is to go: one value.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The step.
    pub step: SimDuration,
    /// How long it lasts; without one only a condition ends it.
    pub duration: Option<SimDuration>,
    /// How often the observer sees the state.
    pub record_period: SimDuration,
    /// Where all chance comes from.
    pub seed: Seed,
    /// Threads the engine may use; the result does not depend on it.
    pub n_threads: usize,
    /// Engines stay at their own defaults.
    pub raw: bool,
    /// How long a step may take outside, where it can be told.
    pub patience: Duration,
    /// Gains of axes whose model gives none.
    pub gains: Option<Gains>,
    /// Motors let go when no command has come for this long.
    pub watchdog: Option<SimDuration>,
    /// Ends the run when it holds.
    pub until: Option<Condition>,
}

impl Setup {
    /// A run of `duration` at the world's own step, every step observed.
    pub fn new(model: &Model, duration: SimDuration) -> Setup {
        let step = model.world.physics.step;
        Setup {
            step,
            duration: Some(duration),
            record_period: step,
            seed: Seed::new(0),
            n_threads: 1,
            raw: false,
            patience: EngineOptions::new(step).patience,
            gains: None,
            watchdog: None,
            until: None,
        }
    }

    /// What it asks of the engine.
    pub fn engine_options(&self) -> EngineOptions {
        let Setup { step, n_threads, raw, patience, .. } = *self;
        EngineOptions { step, n_threads, raw, patience }
    }
}

/// Who takes part in a run.
#[derive(Default)]
pub struct Cast {
    /// The software under test.
    pub controllers: Vec<Box<dyn Controller>>,
    /// What looks at the world.
    pub sensors: Vec<Box<dyn Sensor>>,
}

/// What sees a run, each part only if it cares. The recorder is one; a benchmark without a
/// recorder is another.
pub trait Observer {
    /// The state at a moment that is to be kept.
    fn sample(&mut self, _model: &Model, _state: &State) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// Commands changed; called after the controllers of a step.
    fn commands(&mut self, _now: SimTime, _commands: &Commands) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// A sensor has looked, and this is on its way.
    fn looked(&mut self, _letter: &Letter) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// A sensor's message has arrived. Outputs of all sensors are counted through, in the
    /// order of the cast.
    fn message(&mut self, _letter: &Letter) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// Something that happened once: `kind` is a stable word, `text` is for people.
    fn event(
        &mut self,
        _now: SimTime,
        _source: &str,
        _kind: &str,
        _text: &str,
    ) -> Result<(), Diagnostic> {
        Ok(())
    }
}

/// An observer that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its duration was over.
    Duration,
    /// Its condition held.
    Condition,
    /// Somebody asked.
    Interrupted,
    /// The engine broke; everything up to then was observed.
    Fault(Fault),
}

/// How a run went.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// The last state.
    pub state: State,
    /// Steps made.
    pub n_steps: u64,
    /// Why it ended.
    pub ending: Ending,
    /// Rigids that went non-finite or beyond measure, by the name of their first body, with the
    /// moment.
    pub contained: Vec<(String, SimTime)>,
    /// What the engine said as it went, with the moment; of very many the first.
    pub remarks: Vec<(String, SimTime)>,
    /// Messages of sensors that had not arrived when it ended, and are lost.
    pub n_under_way: usize,
    /// What sensors said about themselves, each thing once.
    pub findings: Vec<Diagnostic>,
}

/// Runs a model to its end. An error is the engine's that cannot start, a controller's that
/// commands what no motor can follow (all of it at once), or the observer's.
///
/// `engine` must have been asked its `check` by the caller, who has the notes to show;
/// `tick` is called after every step and may break the run off.
pub fn run(
    model: &Model,
    setup: &Setup,
    engine: &mut dyn Engine,
    cast: &mut Cast,
    observer: &mut dyn Observer,
    tick: &mut dyn FnMut(SimTime) -> ControlFlow<()>,
) -> Result<RunEnd, Vec<Diagnostic>> {
    let mut run = Run::prepare(model, setup, engine, cast, observer)?;
    let ending = run.go(tick)?;
    let n_under_way = run.mail.n_under_way();
    let Run { state, n_steps, contained, remarks, findings, .. } = run;
    Ok(RunEnd { state, n_steps, ending, contained, remarks, n_under_way, findings })
}

struct Run<'a> {
    model: &'a Model,
    setup: &'a Setup,
    engine: &'a mut dyn Engine,
    cast: &'a mut Cast,
    observer: &'a mut dyn Observer,
    state: State,
    commands: Commands,
    inputs: Inputs,
    controllers_due: Vec<Due>,
    sensors: Vec<SensorPlan>,
    mail: Mail,
    observer_due: Due,
    last_sample: Option<SimTime>,
    n_steps: u64,
    contained: Vec<(String, SimTime)>,
    watchdog_bit: bool,
    remarks: Vec<(String, SimTime)>,
    findings: Vec<Diagnostic>,
    /// Somebody asked it to end.
    is_ending: bool,
    /// The contacts of the state are those of its last step.
    has_contacts: bool,
    /// Where the rigids were before the step: scratch, empty before the first.
    before: Vec<RigidState>,
}

/// What is known of a sensor before the run.
struct SensorPlan {
    due: Due,
    latency: SimDuration,
    /// Of all outputs of all sensors.
    first_output: usize,
    needs_contacts: bool,
}

/// Starts the sensors, each with the seed of its name.
fn start_sensors(model: &Model, setup: &Setup, cast: &mut Cast) -> Vec<SensorPlan> {
    let mut first_output = 0;
    let mut plan = |sensor: &mut Box<dyn Sensor>| {
        let seed = setup.seed.child("sensor").child(sensor.name());
        sensor.start(model, &seed);
        let timing = sensor.timing();
        let plan = SensorPlan {
            due: timing.due(setup.step),
            latency: timing.latency,
            first_output,
            needs_contacts: sensor.needs_contacts(),
        };
        first_output += sensor.outputs().len();
        plan
    };
    cast.sensors.iter_mut().map(&mut plan).collect()
}

/// Remarks of an engine, and of all sensors, that are kept; one that never stops talking is heard
/// this often.
const MOST_REMARKS: usize = 100;

impl<'a> Run<'a> {
    fn prepare(
        model: &'a Model,
        setup: &'a Setup,
        engine: &'a mut dyn Engine,
        cast: &'a mut Cast,
        observer: &'a mut dyn Observer,
    ) -> Result<Run<'a>, Vec<Diagnostic>> {
        assert!(setup.step > SimDuration::ZERO, "a step is longer than nothing");
        let state = State::initial(model);
        engine
            .start(model, &state, &setup.engine_options())
            .map_err(|Fault(text)| vec![Diagnostic::error("engine-start", text)])?;
        Ok(Run {
            model,
            setup,
            engine,
            observer,
            commands: Commands::new(model, setup.gains, setup.watchdog),
            inputs: Inputs::default(),
            controllers_due: cast.controllers.iter().map(|c| Due::every(c.period())).collect(),
            sensors: start_sensors(model, setup, cast),
            mail: Mail::default(),
            cast,
            observer_due: Due::every(setup.record_period),
            last_sample: None,
            n_steps: 0,
            contained: Vec::new(),
            watchdog_bit: false,
            remarks: Vec::new(),
            findings: Vec::new(),
            is_ending: false,
            has_contacts: true,
            before: Vec::new(),
            state,
        })
    }

    fn go(
        &mut self,
        tick: &mut dyn FnMut(SimTime) -> ControlFlow<()>,
    ) -> Result<Ending, Vec<Diagnostic>> {
        self.observe()?;
        let ending = loop {
            if let Some(ending) = self.ended()? {
                break ending;
            }
            self.control()?;
            if let Err(fault) = self.advance()? {
                let now = self.state.time;
                self.observer.event(now, "engine", "fault", &fault.0)?;
                break Ending::Fault(fault);
            }
            self.observe()?;
            // Where this step was nobody's, the next one is made with contacts and is the last.
            self.is_ending |= tick(self.state.time).is_break();
            if self.is_ending && self.has_contacts {
                break Ending::Interrupted;
            }
        };
        if self.last_sample != Some(self.state.time) && self.has_contacts {
            self.observer.sample(self.model, &self.state)?;
        }
        let n_under_way = self.mail.n_under_way();
        if n_under_way > 0 {
            let messages = if n_under_way == 1 { "message" } else { "messages" };
            let text = format!("{n_under_way} {messages} of sensors had not arrived and are lost");
            self.observer.event(self.state.time, "run", "under-way", &text)?;
        }
        Ok(ending)
    }

    fn ended(&mut self) -> Result<Option<Ending>, Diagnostic> {
        let now = self.state.time;
        if let Some(condition) = &self.setup.until
            && condition.holds(self.model, &self.state)
        {
            self.observer.event(now, "run", "condition", &condition.text)?;
            return Ok(Some(Ending::Condition));
        }
        let over = self.setup.duration.is_some_and(|duration| now - SimTime::ZERO >= duration);
        Ok(over.then_some(Ending::Duration))
    }

    fn control(&mut self) -> Result<(), Vec<Diagnostic>> {
        let (now, before) = (self.state.time, self.commands.n_given());
        self.commands.advance(now);
        for (controller, due) in self.cast.controllers.iter_mut().zip(&mut self.controllers_due) {
            if due.is_due(now) {
                controller.update(self.model, &self.state, &mut self.commands);
            }
        }
        if self.commands.n_given() != before {
            let missing = self.commands.missing_gains(self.model);
            if !missing.is_empty() {
                return Err(missing);
            }
            self.watchdog_bit = false;
            self.observer.commands(now, &self.commands)?;
        }
        if self.commands.is_expired() && !std::mem::replace(&mut self.watchdog_bit, true) {
            self.observer.event(
                now,
                "watchdog",
                "expired",
                "no command came in time; motors let go",
            )?;
        }
        self.commands.act(self.model, &self.state, &mut self.inputs);
        self.inputs.skips_contacts = !self.looks_next();
        Ok(())
    }

    /// Whether somebody will look at the contacts after the next step. A condition may end the
    /// run at any step, and the last state is observed.
    fn looks_next(&self) -> bool {
        let then = self.state.time + self.setup.step;
        let is_last = self.setup.duration.is_some_and(|duration| then - SimTime::ZERO >= duration);
        let sensors = self.sensors.iter().filter(|sensor| sensor.needs_contacts);
        let sensors = sensors.map(|sensor| &sensor.due);
        let dues = self.controllers_due.iter().chain(sensors).chain([&self.observer_due]);
        is_last
            || self.is_ending
            || self.setup.until.is_some()
            || dues.into_iter().any(|due| due.will_be(then))
    }

    /// One step of the engine. The outer error is the observer's, the inner the engine's.
    fn advance(&mut self) -> Result<Result<(), Fault>, Diagnostic> {
        let then = self.state.time;
        let Run { model, engine, inputs, state, before, .. } = self;
        let done = step(model, &mut **engine, inputs, self.setup.step, state, before);
        for text in self.engine.take_remarks() {
            let text = match self.remarks.len() {
                n if n < MOST_REMARKS => text,
                MOST_REMARKS => {
                    format!("of more than {MOST_REMARKS} remarks the others are not kept")
                }
                _ => break,
            };
            self.observer.event(then, "engine", "remark", &text)?;
            self.remarks.push((text, then));
        }
        if let Err(fault) = done {
            return Ok(Err(fault));
        }
        self.has_contacts = !self.inputs.skips_contacts;
        self.n_steps += 1;
        for (i, was) in self.before.iter().enumerate() {
            if self.state.rigids[i].is_contained && !was.is_contained {
                let name = self.model.bodies[self.model.rigids[i].body_idxs[0]].name.clone();
                let text = "position or velocity went non-finite or beyond measure; held at its last good pose";
                self.observer.event(self.state.time, &name, "non-finite", text)?;
                self.contained.push((name, self.state.time));
            }
        }
        Ok(Ok(()))
    }

    fn observe(&mut self) -> Result<(), Diagnostic> {
        let now = self.state.time;
        self.deliver()?; // what arrived since the last step comes before what happens now
        self.sense()?;
        self.deliver()?;
        if self.observer_due.is_due(now) {
            self.last_sample = Some(now);
            self.observer.sample(self.model, &self.state)?;
        }
        Ok(())
    }

    /// Hands on what has arrived.
    fn deliver(&mut self) -> Result<(), Diagnostic> {
        while let Some(letter) = self.mail.arrived(self.state.time) {
            self.observer.message(&letter)?;
        }
        Ok(())
    }

    /// Sensors that are due look.
    fn sense(&mut self) -> Result<(), Diagnostic> {
        let stamp = self.state.time;
        let last_step =
            (self.n_steps > 0).then_some(LastStep { rigids: &self.before, step: self.setup.step });
        let n_threads = self.setup.n_threads;
        let look = Look { model: self.model, state: &self.state, last_step, n_threads };
        for (sensor, plan) in self.cast.sensors.iter_mut().zip(&mut self.sensors) {
            if !plan.due.is_due(stamp) {
                continue;
            }
            let arrival = stamp + plan.latency;
            let mut said = Vec::new();
            sensor.sample(&look, &mut |output, cdr| {
                let output_idx = plan.first_output + output;
                said.push(Letter { output_idx, stamp, arrival, cdr });
            });
            for letter in said {
                self.observer.looked(&letter)?;
                self.mail.send(letter);
            }
            for finding in sensor.take_findings() {
                if !self.findings.contains(&finding) && self.findings.len() < MOST_REMARKS {
                    self.observer.event(stamp, sensor.name(), finding.code, &finding.message)?;
                    self.findings.push(finding);
                }
            }
        }
        Ok(())
    }
}
