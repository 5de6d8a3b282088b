//! Tuning: a model and what was measured go in, the numbers of the model that fit best come out.
//!
//! ```text
//! Subject · Wanted (path, bounds) ─┐
//! Experiments ── Replay each ──────┼─ Tuning (a fit::Problem) ─ Search ─► Tuned
//! ReplayOptions · engine ──────────┘
//! ```
//!
//! A residual is `(simulated − measured) / scale` of one sample. The scale of a key is the
//! standard deviation of what was measured of it over all that is fitted, so that metres and
//! radians weigh alike; a key that never changes is taken as it is. Every sample is used. Angles
//! are subtracted the shorter way round. What is held out is not simulated in a search.
//!
//! Where a recording starts is known only as well as its first samples. So the positions and
//! velocities of the joints that were measured are fitted too, per recording, unless somebody
//! gives them or windows start it again and again.
//!
//! Deliberately absent: files, pages, any engine by name.

mod curves;
mod derived;
mod saved;
mod tuned;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use headland_base::maths::{sqrt, wrap_angle};
use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_sim::{Engine, Gains, Model};
use headland_world::parameter::{self, Parameter, Subject, pseudo};

use crate::fit::sureness::Moment;
use crate::fit::{Bounds, Problem};
use crate::infer::is_angle;
use crate::source::{JointQuantity, Source};
use crate::{Done, Experiment, Replay, ReplayOptions, Signal};

pub use curves::{Curve, Moved, curves};
pub use derived::Derived;
pub use saved::{Method, Saved, Search, search};
pub use tuned::{KeyError, Tuned, TunedNumber, tuned};

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
    /// Where the search starts; what it is now, on the mean where it is several numbers, or the
    /// middle where that is outside or unknown.
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
        let now: Vec<f64> = parameters.iter().filter_map(|one| one.get(subject)).collect();
        let now = now.iter().sum::<f64>() / now.len() as f64;
        let is_within = (lower..=upper).contains(&now);
        let start = if is_within { now } else { 0.5 * (lower + upper) };
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
    /// What moves the model, in words: a search belongs to it.
    pub engine: String,
    /// How recordings are repeated.
    pub options: ReplayOptions,
    /// The share of every recording, from its start, that is fitted; the rest is held out.
    pub train_share: f64,
    /// Fit where joints are and how fast they go at the start of every recording.
    pub fits_start: bool,
}

/// A problem to be solved: everything checked, every scale known.
#[derive(Clone)]
pub struct Tuning<'a> {
    pub(crate) subject: Subject,
    pub(crate) wanted: Vec<Wanted>,
    pub(crate) courses: Vec<Course>,
    /// Per course what is fitted of it; nothing of one that is held out.
    fitted: Vec<Option<Arc<Experiment>>>,
    pub(crate) plan: Plan,
    make_engine: &'a MakeEngine<'a>,
    /// Somebody may want it to end.
    stop: Arc<AtomicBool>,
    /// Told of every step.
    beat: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Numbers of the first states that are fitted, in the order in which they stand in `x`.
    pub(crate) starts: Vec<Start>,
    /// Per key its scale.
    pub(crate) scales: Vec<(String, f64)>,
    /// Per course and signal of what is fitted.
    signals: Vec<Vec<Used>>,
    /// To which moment each residual belongs.
    moments: Vec<Moment>,
    /// What engines realise differently, and what else is worth knowing.
    notes: Vec<Diagnostic>,
    /// Those of what is fitted, at the start of the search.
    pub(crate) steps: Steps,
    /// The residuals of the model as it is, of what is fitted.
    untuned: Vec<f64>,
    /// The search starts from the model as it is, which is simulated already.
    starts_untuned: bool,
}

/// How long steps are. Samples and commands shorten them, so it is not what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Steps {
    pub longest: SimDuration,
    /// The sum of all squares \[s²\].
    pub squares: f64,
}

impl Steps {
    fn add(&mut self, done: &Done) {
        self.longest = self.longest.max(done.longest_step);
        self.squares += done.step_squares;
    }
}

/// A number of the first state of a course that is fitted.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    course: usize,
    name: String,
    pub unit: &'static str,
    source: Source,
    value: f64,
    room: f64,
}

/// How the samples of a signal become residuals.
#[derive(Clone, Debug)]
struct Used {
    scale: f64,
    is_angle: bool,
    /// The model had a number at the start of the search.
    seen: Vec<bool>,
}

/// Takes which course it is, what was measured of it, and its samples simulated.
type See<'a> = dyn FnMut(usize, &Experiment, &[Vec<f64>]) + 'a;

/// What a thread keeps: a replay for each course that is simulated.
pub struct Replays(Vec<Option<Replay>>);

impl<'a> Tuning<'a> {
    /// Checks everything that can be checked before a search.
    pub fn new(
        subject: Subject,
        wanted: Vec<Wanted>,
        courses: Vec<Course>,
        plan: Plan,
        make_engine: &'a MakeEngine<'a>,
    ) -> Result<Tuning<'a>, Vec<Diagnostic>> {
        let never = Arc::new(AtomicBool::new(false));
        Tuning::heeding(never, subject, wanted, courses, plan, make_engine)
    }

    /// The same; simulations end, and with them whatever waits for one, as soon as `stop` is set.
    pub fn heeding(
        stop: Arc<AtomicBool>,
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
            let is_there = |other: &Wanted| {
                let both = one
                    .parameters
                    .iter()
                    .flat_map(|p| other.parameters.iter().map(move |o| (p, o)));
                both.into_iter()
                    .any(|(p, o)| p == o || are_of_one_body(p, o) || are_of_one_body(o, p))
            };
            if let Some(other) = wanted[..i].iter().find(|other| is_there(other)) {
                let message = format!("`{}` and `{}` set the same number", other.name, one.name);
                return Err(vec![
                    Diagnostic::error("same-parameter", message).help("keep one of them"),
                ]);
            }
        }
        let fitted = courses.iter().map(|course| fitted_part(course, plan.train_share)).collect();
        let mut tuning = Tuning {
            subject,
            wanted,
            courses,
            fitted,
            plan,
            make_engine,
            stop,
            beat: None,
            starts: Vec::new(),
            scales: Vec::new(),
            signals: Vec::new(),
            moments: Vec::new(),
            notes: Vec::new(),
            steps: Steps::default(),
            untuned: Vec::new(),
            starts_untuned: true,
        };
        // What is held out is refused now as well, and not when the search is over.
        if tuning.plan.train_share < 1.0 || tuning.fitted.contains(&None) {
            tuning.replays(&tuning.subject, &tuning.whole())?;
        }
        let mut replays = tuning.replays(&tuning.subject, &tuning.fitted)?;
        let all_notes = replays.iter().flatten().flat_map(|replay| replay.notes().to_vec());
        tuning.notes = all_notes.collect();
        tuning.notes.dedup();
        if tuning.plan.fits_start && tuning.plan.options.window.is_none() {
            // What is held out has no part in the search, nor has where it starts.
            let each = replays.iter().enumerate();
            let fitted = each.filter_map(|(course, replay)| Some((course, replay.as_ref()?)));
            tuning.starts = fitted.flat_map(starts_of).collect();
        }
        tuning.scale(&mut replays)?;
        tuning.starts_untuned &= tuning.subject_at(&tuning.start()).as_ref() == Ok(&tuning.subject);
        if tuning.moments.len() <= tuning.n() {
            return Err(vec![tuning.too_few_samples()]);
        }
        Ok(tuning)
    }

    fn too_few_samples(&self) -> Diagnostic {
        let (n, n_wanted, n_starts) = (self.moments.len(), self.wanted.len(), self.starts.len());
        let samples = if n == 1 { "1 sample".to_string() } else { format!("{n} samples") };
        let numbers =
            if self.n() == 1 { "1 number".into() } else { format!("{} numbers", self.n()) };
        let mut told =
            Diagnostic::error("too-few-samples", format!("{samples} cannot tell {numbers}"))
                .help("give more or longer recordings, or look for fewer numbers");
        if n_starts > 0 {
            told = told.note(format!(
                "{n_wanted} of the model and {n_starts} of where recordings start, which --state \
                 or --start-as-measured would give"
            ));
        }
        told
    }

    /// The same with steps half as long as the longest that is taken; nothing where the step
    /// itself is looked for.
    pub(crate) fn halved(&self) -> Option<Tuning<'a>> {
        let mut halved = self.clone();
        halved.plan.options.step = SimDuration::from_nanos(self.steps.longest.nanos() / 2);
        halved.starts_untuned = false; // what is known is of whole steps
        (!self.tunes_step() && halved.step() > SimDuration::ZERO).then_some(halved)
    }

    /// The residuals at a point by a worker of its own, and the steps that were taken.
    pub(crate) fn alone(&self, x: &[f64]) -> Option<(Vec<f64>, Steps)> {
        let mut worker = self.worker();
        let residuals = self.residuals(&mut worker, x)?;
        let mut steps = Steps::default();
        worker.0.iter().flatten().for_each(|replay| steps.add(replay.done()));
        Some((residuals, steps))
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

    /// What it would be without tuning. A parameter that is no number stays what the model says:
    /// a path may name several, which need not be the same.
    pub fn untuned(&self) -> Vec<f64> {
        let wanted = self.wanted.iter().map(|_| f64::NAN);
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

    /// What moves the model, in words.
    pub fn engine(&self) -> &str {
        &self.plan.engine
    }

    /// The longest step, before tuning.
    pub fn step(&self) -> SimDuration {
        self.plan.options.step
    }

    /// To which moment each residual belongs.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// The world and settings with the values of `x`, or why there are none. What is no number
    /// stays as it is.
    pub fn subject_at(&self, x: &[f64]) -> Result<Subject, Diagnostic> {
        let mut subject = self.subject.clone();
        for (wanted, value) in self.wanted.iter().zip(x).filter(|(_, value)| !value.is_nan()) {
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

    /// Every course whole, what is held out among them.
    pub(crate) fn whole(&self) -> Vec<Option<Arc<Experiment>>> {
        self.courses.iter().map(|course| Some(Arc::clone(&course.experiment))).collect()
    }

    fn replays(
        &self,
        subject: &Subject,
        experiments: &[Option<Arc<Experiment>>],
    ) -> Result<Vec<Option<Replay>>, Vec<Diagnostic>> {
        let model = Model::compile(&Arc::new(subject.world.clone()))?;
        let options = self.options_of(subject);
        let replay = |experiment: &Option<Arc<Experiment>>| {
            let Some(experiment) = experiment else { return Ok(None) };
            let engine = (self.make_engine)();
            Replay::new(model.clone(), engine, Arc::clone(experiment), options.clone()).map(Some)
        };
        experiments.iter().map(replay).collect()
    }

    /// Scales, angles, and which samples the model has a number for.
    fn scale(&mut self, replays: &mut [Option<Replay>]) -> Result<(), Vec<Diagnostic>> {
        self.scales = scales(&self.courses, &self.fitted);
        let mut series = 0;
        for (course, replay) in self.courses.iter().zip(replays.iter_mut()) {
            let Some(replay) = replay else {
                self.signals.push(Vec::new());
                continue;
            };
            let angles: Vec<bool> =
                replay.sources().iter().map(|source| is_angle(replay.model(), source)).collect();
            let (experiment, plan) = (Arc::clone(replay.experiment()), replay.plan().clone());
            let simulated = replay.run_until(&mut self.tick()).map_err(|stopped| {
                let message = format!(
                    "the simulation of `{}` broke at the start of the search: {stopped:?}",
                    course.name
                );
                vec![Diagnostic::error("engine-fault", message)]
            })?;
            self.steps.add(&simulated.done);
            self.starts_untuned &= simulated.done.contained.is_empty();
            let signals = experiment.signals.iter().zip(angles).zip(&simulated.values);
            let used: Vec<Used> = signals
                .map(|((signal, is_angle), values)| Used {
                    scale: self.scale_of(&signal.key),
                    is_angle,
                    seen: values.iter().map(|value| value.is_finite()).collect(),
                })
                .collect();
            let signals = experiment.signals.iter().zip(&used).zip(&simulated.values);
            for ((signal, used), values) in signals {
                self.untuned.extend(residuals_of(used, values, &signal.series.values));
            }
            // A window ends with the samples at which the state is put back.
            let mut moments: Vec<Vec<Moment>> = vec![Vec::new(); used.len()];
            for landing in &plan.landings {
                for (signal, sample) in &plan.samples[landing.samples.clone()] {
                    if used[*signal].seen[*sample] {
                        moments[*signal].push(Moment { series, at_nanos: landing.time.nanos() });
                    }
                }
                series += usize::from(landing.resets);
            }
            series += 1;
            self.moments.extend(moments.into_iter().flatten());
            self.signals.push(used);
        }
        Ok(())
    }

    /// Has somebody told of every step from now on, on whichever thread it is made.
    pub fn on_step(&mut self, beat: Arc<dyn Fn() + Send + Sync>) {
        self.beat = Some(beat);
    }

    /// Breaks a simulation off when somebody wants it to end.
    fn tick(&self) -> impl FnMut(SimTime) -> ControlFlow<()> + use<> {
        let (stop, beat) = (Arc::clone(&self.stop), self.beat.clone());
        move |_| {
            if let Some(beat) = &beat {
                beat();
            }
            match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
    }

    /// What the errors of a key are divided by.
    pub(crate) fn scale_of(&self, key: &str) -> f64 {
        self.scales.iter().find(|(known, _)| known == key).map_or(1.0, |(_, scale)| *scale)
    }

    /// Simulates every course there is a replay for at `x`, and hands over what came out, course
    /// by course.
    fn simulate(&self, replays: &mut [Option<Replay>], x: &[f64], see: &mut See<'_>) -> bool {
        if self.is_broken_off() {
            return false;
        }
        let Ok(subject) = self.subject_at(x) else { return false };
        let options = self.options_of(&subject);
        let Ok(model) = Model::compile(&Arc::new(subject.world)) else { return false };
        let mut tick = self.tick();
        let each = replays.iter_mut().enumerate();
        for (i, replay) in each.filter_map(|(i, replay)| Some((i, replay.as_mut()?))) {
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
            let experiment = Arc::clone(replay.experiment());
            match replay.run_until(&mut tick) {
                Ok(simulated) if simulated.done.contained.is_empty() => {
                    see(i, &experiment, &simulated.values);
                }
                _ => return false,
            }
        }
        true
    }

    /// The difference of a sample, the shorter way round for an angle.
    fn difference(is_angle: bool, simulated: f64, measured: f64) -> f64 {
        let apart = simulated - measured;
        if is_angle { wrap_angle(apart) } else { apart }
    }
}

impl Problem for Tuning<'_> {
    type Worker = Replays;

    fn worker(&self) -> Replays {
        // What could be refused was refused when the problem was made.
        Replays(self.replays(&self.subject, &self.fitted).unwrap_or_default())
    }

    fn residuals(&self, worker: &mut Replays, x: &[f64]) -> Option<Vec<f64>> {
        if self.starts_untuned && x == self.start() && !self.is_broken_off() {
            return Some(self.untuned.clone());
        }
        let mut out = Vec::with_capacity(self.moments.len());
        if worker.0.len() != self.courses.len() {
            return None;
        }
        let is_whole = self.simulate(&mut worker.0, x, &mut |course, experiment, values| {
            let signals = experiment.signals.iter().zip(values);
            for (used, (signal, values)) in self.signals[course].iter().zip(signals) {
                out.extend(residuals_of(used, values, &signal.series.values));
            }
        });
        (is_whole && out.iter().all(|r| r.is_finite())).then_some(out)
    }

    fn is_broken_off(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The residuals of a signal, of the samples that are used.
fn residuals_of<'a>(
    used: &'a Used,
    simulated: &'a [f64],
    measured: &'a [f64],
) -> impl Iterator<Item = f64> + 'a {
    let samples = simulated.iter().zip(measured).zip(&used.seen).filter(|(_, is_seen)| **is_seen);
    samples.map(|((value, measured), _)| {
        Tuning::difference(used.is_angle, *value, *measured) / used.scale
    })
}

/// What is fitted of a course: its first part, or nothing of one that is held out.
fn fitted_part(course: &Course, share: f64) -> Option<Arc<Experiment>> {
    let whole = &course.experiment;
    if course.is_held_out || share >= 1.0 {
        return (!course.is_held_out).then(|| Arc::clone(whole));
    }
    let (first, last) = (whole.first()?, whole.last()?);
    let end = (last - first).nanos() as f64 * share;
    let part = |signal: &Signal| {
        let mut part = signal.clone();
        let n = part.series.times.partition_point(|time| (*time - first).nanos() as f64 <= end);
        part.series.times.truncate(n);
        part.series.values.truncate(n);
        (n > 0).then_some(part)
    };
    let signals = whole.signals.iter().filter_map(part).collect();
    Some(Arc::new(Experiment { signals, told: whole.told.clone(), known: whole.known.clone() }))
}

/// Whether a number is among the ten of a whole inertia and the other sets a part of the same
/// inertia.
fn are_of_one_body(ten: &Parameter, part: &Parameter) -> bool {
    let inertial = |parameter: &Parameter| {
        let path = parameter.whole_path();
        path.find("/inertial/").map(|at| path[..at].to_string())
    };
    let is_ten = |parameter: &Parameter| parameter.whole_path().contains("/inertial/pseudo/");
    is_ten(ten) && !is_ten(part) && inertial(ten) == inertial(part)
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

/// The standard deviation of each key over what is fitted.
fn scales(courses: &[Course], fitted: &[Option<Arc<Experiment>>]) -> Vec<(String, f64)> {
    let mut keys: Vec<&str> = Vec::new();
    for course in courses {
        keys.extend(course.experiment.signals.iter().map(|signal| signal.key.as_str()));
    }
    keys.sort_unstable();
    keys.dedup();
    let scale = |key: &str| {
        let all = fitted.iter().flatten().filter_map(|experiment| experiment.series(key));
        let values: Vec<f64> = all.flat_map(|series| series.values.iter().copied()).collect();
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
        let units = if is_angle(model, source) { ["rad", "rad/s"] } else { ["m", "m/s"] };
        let reach = 10.0 * range + now.velocity.abs();
        let numbers = [
            (JointQuantity::Position, "position", units[0], now.position, range),
            (JointQuantity::Velocity, "velocity", units[1], now.velocity, reach),
        ];
        for (quantity, word, unit, value, room) in numbers {
            let source = Source::Joint(*dof, quantity);
            if replay.is_given(&source) {
                continue;
            }
            let name = format!("start/{}/{name}/{word}", course + 1);
            out.push(Start { course, name, unit, source, value, room });
        }
    }
    out
}
