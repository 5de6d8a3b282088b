//! Tuning: a model and what was measured go in, the numbers of the model that fit best come out.
//!
//! ```text
//! Subject · Wanted (path, bounds) ─┐
//! Experiments ── Replay each ──────┼─ Tuning (a fit::Problem) ─ Search ─► Tuned
//! ReplayOptions · engine ──────────┘
//! ```
//!
//! A residual is `(simulated − measured) / scale` of one sample. The scale of a key is the
//! standard deviation of all that was measured of it over the recordings that are fitted, so that
//! metres and radians weigh alike; a key that never changes is taken as it is. Every sample is
//! used. Angles are subtracted the shorter way round.
//!
//! Where a recording starts is known only as well as its first samples. So the positions and
//! velocities of the joints that were measured are fitted too, per recording, unless somebody
//! gives them or windows start it again and again.
//!
//! Deliberately absent: files, pages, any engine by name.

mod saved;
mod tuned;

use std::sync::Arc;

use headland_base::maths::{sqrt, wrap_angle};
use headland_base::{Diagnostic, SimDuration};
use headland_sim::{Engine, Gains, Model};
use headland_world::parameter::{self, Parameter, Subject, pseudo};

use crate::fit::sureness::Moment;
use crate::fit::{Bounds, Problem};
use crate::infer::is_angle;
use crate::source::{JointQuantity, Source};
use crate::{Experiment, Replay, ReplayOptions};

pub use saved::{Method, Saved, Search, search};
pub use tuned::{Derived, KeyError, Tuned, TunedNumber, tuned};

/// Makes a fresh engine, on whichever thread it is to run.
pub type MakeEngine<'a> = dyn Fn() -> Box<dyn Engine> + Sync + 'a;

/// A number that is wanted: everything a path names, with one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// As it was written, or the number's own path.
    pub name: String,
    /// All that get the value.
    pub parameters: Vec<Parameter>,
    /// The lowest it may be.
    pub lower: f64,
    /// The highest it may be.
    pub upper: f64,
    /// Where the search starts; what it is now, or the middle where it is outside or unknown.
    pub start: f64,
}

impl Wanted {
    /// What a path names, between bounds.
    pub fn new(
        subject: &Subject,
        path: &str,
        lower: f64,
        upper: f64,
    ) -> Result<Wanted, Diagnostic> {
        let parameters = parameter::find(&subject.world, path)?;
        if !(lower < upper && lower.is_finite() && upper.is_finite()) {
            let message = format!("`{path}` cannot be sought from {lower} to {upper}");
            return Err(Diagnostic::error("bad-bounds", message)
                .help("the lower bound comes first: PATH=0.5..2"));
        }
        // A bound that the number itself cannot have is refused before the search, not in it.
        for value in [lower, upper] {
            let is_inertia = |fault: &Diagnostic| fault.code == "bad-inertia";
            for one in &parameters {
                one.set(&mut subject.clone(), value).or_else(|fault| match is_inertia(&fault) {
                    true => Ok(()), // depends on the others; the search stays out of it
                    false => Err(fault),
                })?;
            }
        }
        let now = parameters[0].get(subject).filter(|now| (lower..=upper).contains(now));
        let start = now.unwrap_or(0.5 * (lower + upper));
        let name = if parameters.len() == 1 { parameters[0].path() } else { path }.to_string();
        Ok(Wanted { name, parameters, lower, upper, start })
    }

    /// All ten numbers of a link's inertia, of which every choice is a body: mass and the spread
    /// of mass within a factor, the centre of mass within as much of the link's extent.
    pub fn inertia(subject: &Subject, link: &str, factor: f64) -> Result<Vec<Wanted>, Diagnostic> {
        if !(factor > 1.0 && factor.is_finite()) {
            let message =
                format!("the inertia of `{link}` cannot be sought within a factor of {factor}");
            return Err(Diagnostic::error("bad-bounds", message).help("a factor is more than 1"));
        }
        let prefix = if link.contains('/') { link.to_string() } else { format!("link/{link}") };
        let log = 0.5 * headland_base::maths::log(factor);
        let list = parameter::list(&subject.world);
        pseudo::NAMES
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let found = parameter::find_in(&list, &format!("{prefix}/inertial/pseudo/{name}"))?;
                let now = found[0].get(subject).unwrap_or(0.0);
                let room = if i < 4 { log } else { (factor - 1.0) * extent(subject, &found[0]) };
                Ok(Wanted {
                    name: found[0].path().to_string(),
                    parameters: found,
                    lower: now - room,
                    upper: now + room,
                    start: now,
                })
            })
            .collect()
    }
}

/// How far mass is from the centre of a link, from its own coordinates \[m\].
fn extent(subject: &Subject, coordinate: &Parameter) -> f64 {
    let stem = coordinate.whole_path().rsplit_once('/').map_or("", |(stem, _)| stem);
    let list = parameter::list(&subject.world);
    let length = |name: &str| {
        let found = parameter::find_in(&list, &format!("{stem}/{name}")).ok();
        let value = found.and_then(|found| found[0].get(subject)).unwrap_or(0.0);
        if name.starts_with('d') { headland_base::maths::exp(value) } else { value }
    };
    let all = ["d1", "d2", "d3", "s12", "s23", "s13"].map(length);
    sqrt(all.iter().map(|x| x * x).sum::<f64>())
}

/// One recording and what it is for.
#[derive(Clone, Debug)]
pub struct Course {
    /// What it is called.
    pub name: String,
    /// What was measured and told.
    pub experiment: Arc<Experiment>,
    /// It is looked at and not fitted.
    pub is_held_out: bool,
}

/// How to tune, beside what is wanted.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How recordings are repeated.
    pub options: ReplayOptions,
    /// The share of every recording, from its start, that is fitted; the rest is held out.
    pub train_share: f64,
    /// Fit where joints are and how fast they go at the start of every recording.
    pub fits_start: bool,
}

/// A problem to be solved: everything checked, every scale known.
pub struct Tuning<'a> {
    pub(crate) subject: Subject,
    pub(crate) wanted: Vec<Wanted>,
    pub(crate) courses: Vec<Course>,
    pub(crate) plan: Plan,
    make_engine: &'a MakeEngine<'a>,
    /// Per course and axis that is fitted: the place in `x` of its position and velocity.
    starts: Vec<Start>,
    /// Per key its scale.
    pub(crate) scales: Vec<(String, f64)>,
    /// Per course and signal: scale, whether it is an angle, which samples are fitted.
    signals: Vec<Vec<Used>>,
    /// To which moment each residual belongs.
    moments: Vec<Moment>,
    /// What engines realise differently, and what else is worth knowing.
    notes: Vec<Diagnostic>,
}

/// A number of the first state of a course that is fitted.
#[derive(Clone, Debug)]
struct Start {
    course: usize,
    name: String,
    source: Source,
    value: f64,
    room: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Used {
    pub scale: f64,
    pub is_angle: bool,
    /// Samples before this are fitted, where they are `seen`.
    pub n_fitted: usize,
    /// The model had a number at the start of the search.
    pub seen: Vec<bool>,
}

/// What a thread keeps: a replay per course.
pub struct Replays(Vec<Replay>);

impl<'a> Tuning<'a> {
    /// Checks everything that can be checked before a search.
    pub fn new(
        subject: Subject,
        mut wanted: Vec<Wanted>,
        courses: Vec<Course>,
        plan: Plan,
        make_engine: &'a MakeEngine<'a>,
    ) -> Result<Tuning<'a>, Vec<Diagnostic>> {
        if wanted.is_empty() {
            let message = "no parameter is named to be tuned";
            return Err(vec![
                Diagnostic::error("nothing-to-tune", message)
                    .help("name some: --param 'joint/elbow/dynamics/damping=0..2'"),
            ]);
        }
        // What scales others comes first.
        wanted.sort_by_key(|wanted| wanted.parameters[0].order());
        for (i, one) in wanted.iter().enumerate() {
            let is_there =
                |other: &Wanted| one.parameters.iter().any(|p| other.parameters.contains(p));
            if let Some(other) = wanted[..i].iter().find(|other| is_there(other)) {
                let message = format!("`{}` and `{}` set the same number", other.name, one.name);
                return Err(vec![
                    Diagnostic::error("same-parameter", message).help("keep one of them"),
                ]);
            }
        }
        let mut tuning = Tuning {
            subject,
            wanted,
            courses,
            plan,
            make_engine,
            starts: Vec::new(),
            scales: Vec::new(),
            signals: Vec::new(),
            moments: Vec::new(),
            notes: Vec::new(),
        };
        let mut replays = tuning.replays(&tuning.subject)?;
        tuning.notes = replays.iter().flat_map(|replay| replay.notes().to_vec()).collect();
        tuning.notes.dedup();
        if tuning.plan.fits_start && tuning.plan.options.window.is_none() {
            // What is held out has no part in the search, nor has where it starts.
            let is_fitted = |course: &usize| !tuning.courses[*course].is_held_out;
            let fitted = replays.iter().enumerate().filter(|(course, _)| is_fitted(course));
            tuning.starts = fitted.flat_map(starts_of).collect();
        }
        tuning.scale(&mut replays)?;
        if tuning.moments.len() <= tuning.n() {
            let message =
                format!("{} samples cannot tell {} parameters", tuning.moments.len(), tuning.n());
            return Err(vec![
                Diagnostic::error("too-few-samples", message)
                    .help("give more or longer recordings, or fewer parameters"),
            ]);
        }
        Ok(tuning)
    }

    fn n(&self) -> usize {
        self.wanted.len() + self.starts.len()
    }

    /// What engines realise differently, and what else is worth knowing.
    pub fn notes(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// What `x` is made of: the parameters, then what recordings start from.
    pub fn names(&self) -> Vec<String> {
        let wanted = self.wanted.iter().map(|wanted| wanted.name.clone());
        wanted.chain(self.starts.iter().map(|start| start.name.clone())).collect()
    }

    /// Where the search starts.
    pub fn start(&self) -> Vec<f64> {
        let wanted = self.wanted.iter().map(|wanted| wanted.start);
        wanted.chain(self.starts.iter().map(|start| start.value)).collect()
    }

    /// What it would be without tuning: what the model says now.
    pub fn untuned(&self) -> Vec<f64> {
        let now = |wanted: &Wanted| wanted.parameters[0].get(&self.subject).unwrap_or(wanted.start);
        let wanted = self.wanted.iter().map(now);
        wanted.chain(self.starts.iter().map(|start| start.value)).collect()
    }

    /// Between which values the search stays.
    pub fn bounds(&self) -> Bounds {
        let lower = self.wanted.iter().map(|wanted| wanted.lower);
        let upper = self.wanted.iter().map(|wanted| wanted.upper);
        let below = self.starts.iter().map(|start| start.value - start.room);
        let above = self.starts.iter().map(|start| start.value + start.room);
        Bounds { lower: lower.chain(below).collect(), upper: upper.chain(above).collect() }
    }

    /// Over how much of each parameter slopes are taken: times are whole nanoseconds.
    pub fn differences(&self) -> Vec<f64> {
        let bounds = self.bounds();
        let least = |i: usize| match self.wanted.get(i) {
            Some(one) if one.parameters.iter().any(is_time) => 1e-6,
            _ => 0.0,
        };
        (0..self.n()).map(|i| f64::max(1e-6 * bounds.width(i, 1.0), least(i))).collect()
    }

    /// The longest step, before tuning.
    pub fn step(&self) -> SimDuration {
        self.plan.options.step
    }

    /// To which moment each residual belongs.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// The world and settings with the values of `x`, or why there are none.
    pub fn subject_at(&self, x: &[f64]) -> Result<Subject, Diagnostic> {
        let mut subject = self.subject.clone();
        for (wanted, value) in self.wanted.iter().zip(x) {
            for parameter in &wanted.parameters {
                parameter.set(&mut subject, *value)?;
            }
        }
        Ok(subject)
    }

    fn options_of(&self, subject: &Subject) -> ReplayOptions {
        let mut options = self.plan.options.clone();
        options.command_delay = delay_of(subject);
        options.gains = gains_of(subject);
        if self.tunes_step() {
            options.step = subject.world.physics.step;
        }
        options
    }

    fn tunes_step(&self) -> bool {
        let is_step = |parameter: &Parameter| parameter.path() == "physics/step";
        self.wanted.iter().any(|wanted| wanted.parameters.iter().any(is_step))
    }

    fn replays(&self, subject: &Subject) -> Result<Vec<Replay>, Vec<Diagnostic>> {
        let model = Model::compile(&Arc::new(subject.world.clone()))?;
        let options = self.options_of(subject);
        let replay = |course: &Course| {
            let experiment = Arc::clone(&course.experiment);
            Replay::new(model.clone(), (self.make_engine)(), experiment, options.clone())
        };
        self.courses.iter().map(replay).collect()
    }

    /// Scales, angles, and which samples the model has a number for.
    fn scale(&mut self, replays: &mut [Replay]) -> Result<(), Vec<Diagnostic>> {
        self.scales = scales(&self.courses);
        let mut series = 0;
        for (course, replay) in self.courses.iter().zip(replays.iter_mut()) {
            let window = self.plan.options.window.map(SimDuration::nanos);
            let end = replay.plan().duration().nanos() as f64 * self.plan.train_share;
            let (zero, mut latest) = (replay.plan().zero, 0);
            let angles: Vec<bool> =
                replay.sources().iter().map(|source| is_angle(replay.model(), source)).collect();
            let simulated = replay.run().map_err(|stopped| {
                let message = format!(
                    "the simulation of `{}` broke at the start of the search: {stopped:?}",
                    course.name
                );
                vec![Diagnostic::error("engine-fault", message)]
            })?;
            let mut used = Vec::new();
            for (i, signal) in course.experiment.signals.iter().enumerate() {
                let since: Vec<i64> =
                    signal.series.times.iter().map(|time| (*time - zero).nanos()).collect();
                let n_fitted = match course.is_held_out {
                    true => 0,
                    false => since.partition_point(|nanos| *nanos as f64 <= end),
                };
                let seen: Vec<bool> = simulated.values[i].iter().map(|v| v.is_finite()).collect();
                for at in (0..n_fitted).filter(|at| seen[*at]) {
                    let part = window.map_or(0, |window| (since[at] / window.max(1)) as usize);
                    latest = latest.max(part);
                    self.moments.push(Moment { series: series + part, at_nanos: since[at] });
                }
                let known = self.scales.iter().find(|(key, _)| *key == signal.key);
                let scale = known.map_or(1.0, |(_, scale)| *scale);
                used.push(Used { scale, is_angle: angles[i], n_fitted, seen });
            }
            series += latest + 1;
            self.signals.push(used);
        }
        Ok(())
    }

    /// Simulates every course at `x`, and hands over what came out, course by course.
    fn simulate(
        &self,
        replays: &mut [Replay],
        x: &[f64],
        see: &mut dyn FnMut(usize, &[Vec<f64>]) -> bool,
    ) -> bool {
        let Ok(subject) = self.subject_at(x) else { return false };
        let options = self.options_of(&subject);
        let Ok(model) = Model::compile(&Arc::new(subject.world)) else { return false };
        for (i, replay) in replays.iter_mut().enumerate() {
            replay.set_command_delay(options.command_delay);
            let values = self.starts.iter().zip(&x[self.wanted.len()..]);
            let start: Vec<(Source, f64)> = values
                .filter(|(start, _)| start.course == i)
                .map(|(start, value)| (start.source.clone(), *value))
                .collect();
            let is_ready = (options.step == replay.options().step
                || replay.set_step(options.step).is_ok())
                && (options.gains == replay.options().gains
                    || replay.set_gains(options.gains).is_ok())
                && replay.set_model_from(model.clone(), &start).is_ok();
            if !is_ready {
                return false;
            }
            match replay.run() {
                Ok(simulated) if simulated.done.contained.is_empty() => {
                    if !see(i, &simulated.values) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// The difference of a sample, the shorter way round for an angle.
    fn difference(used: &Used, simulated: f64, measured: f64) -> f64 {
        let apart = simulated - measured;
        if used.is_angle { wrap_angle(apart) } else { apart }
    }
}

impl Problem for Tuning<'_> {
    type Worker = Replays;

    fn worker(&self) -> Replays {
        // What could be refused was refused when the problem was made.
        Replays(self.replays(&self.subject).unwrap_or_default())
    }

    fn residuals(&self, worker: &mut Replays, x: &[f64]) -> Option<Vec<f64>> {
        let mut out = Vec::with_capacity(self.moments.len());
        if worker.0.len() != self.courses.len() {
            return None;
        }
        let is_whole = self.simulate(&mut worker.0, x, &mut |course, values| {
            let signals = &self.courses[course].experiment.signals;
            for ((used, signal), values) in self.signals[course].iter().zip(signals).zip(values) {
                for at in (0..used.n_fitted).filter(|at| used.seen[*at]) {
                    let apart = Self::difference(used, values[at], signal.series.values[at]);
                    if !apart.is_finite() {
                        return false;
                    }
                    out.push(apart / used.scale);
                }
            }
            true
        });
        is_whole.then_some(out)
    }
}

fn is_time(parameter: &Parameter) -> bool {
    parameter.is_command_delay() || parameter.path() == "physics/step"
}

/// How late commands are.
pub fn delay_of(subject: &Subject) -> SimDuration {
    SimDuration::from_secs(subject.settings.command_delay).unwrap_or(SimDuration::ZERO)
}

/// Gains of axes that have none.
pub fn gains_of(subject: &Subject) -> Option<Gains> {
    subject.settings.gains.map(|(kp, kd)| Gains { kp, kd })
}

/// The standard deviation of each key over the courses that are fitted.
fn scales(courses: &[Course]) -> Vec<(String, f64)> {
    let mut keys: Vec<&str> = Vec::new();
    for course in courses {
        keys.extend(course.experiment.signals.iter().map(|signal| signal.key.as_str()));
    }
    keys.sort_unstable();
    keys.dedup();
    let scale = |key: &str| {
        let fitted = courses.iter().filter(|course| !course.is_held_out);
        let values: Vec<f64> = fitted
            .filter_map(|course| course.experiment.series(key))
            .flat_map(|series| series.values.iter().copied())
            .collect();
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let spread = sqrt(values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n);
        if spread > 1e-12 * mean.abs() && spread > 0.0 { spread } else { 1.0 }
    };
    keys.into_iter().map(|key| (key.to_string(), scale(key))).collect()
}

/// Positions and velocities of the joints that were measured and nobody gave.
fn starts_of((course, replay): (usize, &Replay)) -> Vec<Start> {
    let (model, experiment) = (replay.model(), replay.experiment());
    let mut out = Vec::new();
    for (source, signal) in replay.sources().iter().zip(&experiment.signals) {
        let Source::Joint(dof, JointQuantity::Position) = source else { continue };
        let name = &model.dofs[*dof].name;
        let most = signal.series.values.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let least = signal.series.values.iter().fold(f64::INFINITY, |a, b| a.min(*b));
        let range = (most - least).max(1e-3);
        let now = &replay.start().dofs[*dof];
        let numbers = [
            (JointQuantity::Position, "position", now.position, range),
            (JointQuantity::Velocity, "velocity", now.velocity, 10.0 * range + now.velocity.abs()),
        ];
        for (quantity, word, value, room) in numbers {
            let source = Source::Joint(*dof, quantity);
            if replay.is_given(&source) {
                continue;
            }
            let name = format!("start/{}/{name}/{word}", course + 1);
            out.push(Start { course, name, source, value, room });
        }
    }
    out
}
