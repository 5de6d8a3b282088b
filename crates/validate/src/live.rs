//! An experiment that still goes on: rows go in as they are measured, figures come out.
//!
//! The first rows are held until the state they start from can be read off them; from then on
//! the model is moved to the time of every row and compared with it at once. What is kept is a
//! handful of rows and a few numbers per key, however long it goes on. Rows that go back in time
//! or repeat one are left out and counted, and so are those whose times are days away.

use std::ops::ControlFlow;
use std::sync::Arc;

use headland_base::maths::{PI, wrap_angle};
use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_judge::compare::{Digits, Dropped, Running, Sampling, Series};
use headland_sim::{Engine, Model};

use crate::experiment::{Experiment, Signal};
use crate::infer::is_angle;
use crate::plan::is_long_way;
use crate::replay::{Replay, ReplayOptions, Stopped};

/// Rows from which a state is read off: a parabola has three points.
const N_ROWS: usize = 3;

/// An experiment that goes on.
pub struct Live {
    keys: Vec<String>,
    stage: Stage,
    /// The latest rows: times, and one number per key; not a number where there is none.
    recent: Vec<(SimTime, Vec<f64>)>,
    window: Option<SimDuration>,
    /// Whether full turns of angles do not matter.
    wraps: bool,
    last_reset: SimTime,
    running: Vec<Running>,
    /// How large the numbers of every key are.
    digits: Vec<Digits>,
    dropped: Dropped,
    n_stray: u64,
    n_rows: u64,
}

/// Called after every step with the time since the first sample; may break off.
pub type Tick<'t> = &'t mut dyn FnMut(SimTime) -> ControlFlow<()>;

/// What a replay needs until it can start.
type Waiting = (Model, Box<dyn Engine>, Experiment, ReplayOptions);

enum Stage {
    Waiting(Box<Waiting>),
    Going(Box<Replay>),
    /// It was refused, or broke.
    Over,
}

/// Why it cannot go on.
#[derive(Debug)]
pub enum Ended {
    /// It could not start.
    Refused(Vec<Diagnostic>),
    /// The engine broke.
    Stopped(Stopped),
}

impl Live {
    /// Waits for rows of these keys. Of `around` what was told and is known counts; `wraps` says
    /// whether full turns of angles do not matter.
    pub fn new(
        model: Model,
        engine: Box<dyn Engine>,
        keys: Vec<String>,
        around: Experiment,
        options: ReplayOptions,
        wraps: bool,
    ) -> Live {
        let window = options.window;
        let options = ReplayOptions { window: None, sampling: Some(Sampling::Exact), ..options };
        Live {
            running: vec![Running::default(); keys.len()],
            digits: vec![Digits::default(); keys.len()],
            keys,
            stage: Stage::Waiting(Box::new((model, engine, around, options))),
            recent: Vec::new(),
            window,
            wraps,
            last_reset: SimTime::ZERO,
            dropped: Dropped::default(),
            n_stray: 0,
            n_rows: 0,
        }
    }

    /// The keys.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The figures of every key so far.
    pub fn figures(&self) -> &[Running] {
        &self.running
    }

    /// What to say of keys whose numbers so far are too large for their errors to say anything.
    pub fn lacking_digits(&self) -> Vec<Diagnostic> {
        let Some(replay) = self.replay() else { return Vec::new() };
        let is_angle = |source| self.wraps && is_angle(replay.model(), source);
        let each = self.keys.iter().zip(&self.digits).zip(replay.sources());
        each.filter_map(|((key, digits), source)| digits.lacking(key, is_angle(source))).collect()
    }

    /// Rows that were left out because of their times.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// Rows that were left out because they are so long after the one before that to get there
    /// would take days.
    pub fn n_stray(&self) -> u64 {
        self.n_stray
    }

    /// Rows that were taken.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// The time of the latest row.
    pub fn latest(&self) -> Option<SimTime> {
        self.recent.last().map(|(time, _)| *time)
    }

    /// The replay, once it goes.
    pub fn replay(&self) -> Option<&Replay> {
        match &self.stage {
            Stage::Going(replay) => Some(replay),
            _ => None,
        }
    }

    /// Takes one more row: a number per key, not a number where there is none.
    pub fn row(&mut self, time: SimTime, numbers: &[f64]) -> Result<(), Ended> {
        self.row_until(time, numbers, &mut |_| ControlFlow::Continue(()))
    }

    /// The same; `tick` is called after every step, and may break it off. The way to a row may
    /// be long.
    pub fn row_until(
        &mut self,
        time: SimTime,
        numbers: &[f64],
        tick: Tick<'_>,
    ) -> Result<(), Ended> {
        assert_eq!(numbers.len(), self.keys.len(), "one number per key");
        match self.latest() {
            Some(latest) if time == latest => self.dropped.n_duplicate += 1,
            Some(latest) if time < latest => self.dropped.n_backward += 1,
            _ => return self.new_row(time, numbers, tick),
        }
        Ok(())
    }

    fn new_row(&mut self, time: SimTime, numbers: &[f64], tick: Tick<'_>) -> Result<(), Ended> {
        if self.is_stray(time) {
            self.n_stray += 1;
            return Ok(());
        }
        self.n_rows += 1;
        self.recent.push((time, numbers.to_vec()));
        match &self.stage {
            Stage::Waiting(_) if self.recent.len() < N_ROWS => return Ok(()),
            Stage::Waiting(_) => return self.begin(tick),
            _ => {}
        }
        if self.recent.len() > N_ROWS {
            self.recent.remove(0);
        }
        let row = experiment_of(&self.keys, &self.recent[self.recent.len() - 1..]);
        self.go_on(&row, tick)?;
        let is_due = |window: SimDuration| time - self.last_reset >= window;
        if self.window.is_some_and(is_due) {
            self.last_reset = time;
            let recent = experiment_of(&self.keys, &self.recent);
            if let Stage::Going(replay) = &mut self.stage {
                replay.put_back(&recent).map_err(Ended::Stopped)?;
            }
        }
        Ok(())
    }

    /// Whether the way from the latest row to a moment is one that nobody means. Of the first rows
    /// nobody knows yet which has strayed: they are refused together.
    fn is_stray(&self, time: SimTime) -> bool {
        match (&self.stage, self.latest()) {
            (Stage::Going(replay), Some(latest)) => {
                is_long_way(time - latest, replay.options().step)
            }
            _ => false,
        }
    }

    /// No more rows come. Fewer than were waited for are compared all the same.
    pub fn finish(&mut self, tick: Tick<'_>) -> Result<(), Ended> {
        match (&self.stage, self.recent.is_empty()) {
            (Stage::Waiting(_), false) => self.begin(tick),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, tick: Tick<'_>) -> Result<(), Ended> {
        let Stage::Waiting(waiting) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Ok(());
        };
        let (model, engine, around, options) = *waiting;
        if !engine.shortens_steps() {
            let message =
                "rows that still come may be at any moment, and this engine has whole steps";
            let help = "--engine native, rapier, ode or bullet shortens steps";
            return Err(Ended::Refused(vec![Diagnostic::error("whole-steps", message).help(help)]));
        }
        let first = experiment_of(&self.keys, &self.recent);
        let all = Experiment { signals: first.signals.clone(), ..around };
        let replay = Replay::new(model, engine, Arc::new(all), options).map_err(refused)?;
        self.last_reset = replay.plan().zero;
        self.stage = Stage::Going(Box::new(replay));
        let Stage::Going(replay) = &mut self.stage else { return Ok(()) };
        let simulated = replay.run_until(tick).map_err(Ended::Stopped)?.values.clone();
        self.add(&first, &simulated);
        Ok(())
    }

    fn go_on(&mut self, row: &Experiment, tick: Tick<'_>) -> Result<(), Ended> {
        let Stage::Going(replay) = &mut self.stage else { return Ok(()) };
        let simulated = replay.go_on(row.clone(), tick).map_err(Ended::Stopped)?.values.clone();
        self.add(row, &simulated);
        Ok(())
    }

    fn add(&mut self, measured: &Experiment, simulated: &[Vec<f64>]) {
        let Stage::Going(replay) = &self.stage else { return };
        for (i, (signal, values)) in measured.signals.iter().zip(simulated).enumerate() {
            let is_angle = self.wraps && is_angle(replay.model(), &replay.sources()[i]);
            let samples = signal.series.times.iter().zip(&signal.series.values).zip(values);
            for ((time, real), value) in samples.filter(|(_, value)| value.is_finite()) {
                let error = value - real;
                let error = if is_angle && error.abs() > PI { wrap_angle(error) } else { error };
                self.running[i].add(*time, error);
                self.digits[i].add_a(*real);
                self.digits[i].add_b(*value);
            }
        }
    }
}

/// Rows that come are not cut by their times, so that is no help here.
fn refused(faults: Vec<Diagnostic>) -> Ended {
    let help = "leave such rows out, or give the table whole, without --live";
    let told = |fault: Diagnostic| match fault.code {
        "stray-time" => fault.help(help),
        _ => fault,
    };
    Ended::Refused(faults.into_iter().map(told).collect())
}

/// Rows as signals; numbers that are none are no samples.
fn experiment_of(keys: &[String], rows: &[(SimTime, Vec<f64>)]) -> Experiment {
    let signal = |(i, key): (usize, &String)| {
        let there = rows.iter().filter(|(_, numbers)| numbers[i].is_finite());
        let (times, values) = there.map(|(time, numbers)| (*time, numbers[i])).unzip();
        let series = Series { times, values, ..Series::default() };
        Signal { key: key.clone(), series }
    };
    let signals = keys.iter().enumerate().map(signal).collect();
    Experiment { signals, ..Experiment::default() }
}
