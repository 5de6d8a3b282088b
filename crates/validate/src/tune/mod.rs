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
//! gives them or windows start it again and again; what the noise of other starts does to the
//! answer is looked at in the end: `starting_noise`. What the model was like before is told from the
//! start that fits it best as well: `given`.
//!
//! Deliberately absent: files, pages, any engine by name.
//!
//! `wanted` is what is asked for, `residuals` how a point of the search is evaluated, `saved` a
//! search that can be put away, `tuned` the answer; `looked` says how sure it is, `waves`,
//! `carried` and `missing` whether it is to be trusted.

mod carried;
mod curves;
mod derived;
mod elsewhere;
mod errors;
mod given;
mod looked;
mod missing;
mod residuals;
mod saved;
mod scan;
mod starting_noise;
mod starts;
mod tuned;
mod wanted;
mod waves;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use headland_base::{Diagnostic, SimDuration};
use headland_sim::{Engine, Gains};
use headland_world::parameter::{Parameter, Subject};

use crate::fit::sureness::Moment;
use crate::fit::{Bounds, Problem};
use crate::source::Source;
use crate::{Done, Experiment, Replay, ReplayOptions};
use residuals::{Scale, Used, fitted_part};
use starting_noise::starts_as_measured;
use starts::{A_LITTLE, Start, assumed, assumed_beside, guesses_of, starts_of};
use wanted::{are_of_one_body, is_time, outside};

pub use curves::{Curve, Moved, curves};
pub use derived::Derived;
pub use residuals::Replays;
pub use saved::{Method, Saved, Search, search};
pub use starts::assumed_starts;
pub use tuned::{KeyError, Tuned, TunedNumber, UNTRUSTED, tuned};
pub use wanted::Wanted;

/// Makes a fresh engine, on whichever thread it is to run.
pub type MakeEngine<'a> = dyn Fn() -> Box<dyn Engine> + Sync + 'a;

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
    /// Why threads have nothing to simulate with.
    lacking: Arc<Mutex<Vec<Diagnostic>>>,
    /// Told of every step.
    beat: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Numbers of the first states that are fitted, in the order in which they stand in `x`.
    pub(crate) starts: Vec<Start>,
    /// What to say of starts that matter and that nobody measured, gave or looks for.
    assumed: Vec<Diagnostic>,
    /// Some starts, or those of windows, are as they were measured, noise and all.
    starts_as_measured: bool,
    /// Per key its scale.
    pub(crate) scales: Vec<(String, Scale)>,
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
        // What scales others comes first.
        wanted.sort_by_key(|wanted| wanted.parameters.first().map(Parameter::order));
        refuse_wanted(&wanted)?;
        let fitted = courses.iter().map(|course| fitted_part(course, plan.train_share)).collect();
        let mut tuning = Tuning {
            subject,
            wanted,
            courses,
            fitted,
            plan,
            make_engine,
            stop,
            lacking: Arc::default(),
            beat: None,
            starts: Vec::new(),
            assumed: Vec::new(),
            starts_as_measured: false,
            scales: Vec::new(),
            signals: Vec::new(),
            moments: Vec::new(),
            notes: Vec::new(),
            steps: Steps::default(),
            untuned: Vec::new(),
            starts_untuned: true,
        };
        tuning.prepare()?;
        Ok(tuning)
    }

    /// Checks everything, and finds scales and starts: simulates the model as it was given.
    fn prepare(&mut self) -> Result<(), Vec<Diagnostic>> {
        let tuning = self;
        // What is held out is refused now as well, and not when the search is over.
        if tuning.plan.train_share < 1.0 || tuning.fitted.contains(&None) {
            let whole = tuning.replays(&tuning.subject, &tuning.whole())?;
            tuning.notes.extend(tuning.assumed_of_held_out(&whole));
            let courses = tuning.courses.iter().zip(&whole).filter(|(one, _)| one.is_held_out);
            tuning.notes.extend(courses.filter_map(|(course, replay)| {
                let n_moments = replay.as_ref()?.plan().landings.len();
                (n_moments < 2).then(|| one_moment(&course.name))
            }));
        }
        let mut replays = tuning.replays(&tuning.subject, &tuning.fitted)?;
        for note in replays.iter().flatten().flat_map(|replay| replay.notes()) {
            if !tuning.notes.contains(note) {
                tuning.notes.push(note.clone());
            }
        }
        let outside = tuning.wanted.iter().filter_map(|one| outside(&tuning.subject, one));
        tuning.notes.extend(outside);
        // What is held out has no part in the search, nor has where it starts.
        let each = replays.iter().enumerate();
        let fitted = each.filter_map(|(course, replay)| Some((course, replay.as_ref()?)));
        let starts: Vec<Start> = fitted.flat_map(starts_of).collect();
        let guesses: Vec<Start> = starts.iter().filter(|start| start.is_guess).cloned().collect();
        let fits_start = tuning.plan.fits_start && tuning.plan.options.window.is_none();
        if fits_start {
            tuning.starts = starts;
        }
        tuning.starts_as_measured = tuning.plan.options.window.is_some()
            || replays.iter().enumerate().any(|(course, replay)| {
                let of_course = tuning.starts.iter().filter(|start| start.course == course);
                let sought: Vec<Start> = of_course.cloned().collect();
                replay.as_ref().is_some_and(|replay| starts_as_measured(replay, &sought))
            });
        tuning.scale(&mut replays)?;
        let mut sources: Vec<&Source> = Vec::new();
        for guess in &guesses {
            if !sources.contains(&&guess.source) {
                sources.push(&guess.source);
            }
        }
        for source in sources {
            let of_it = guesses.iter().filter(|guess| guess.source == *source);
            let of_it: Vec<Start> = of_it.cloned().collect();
            let replay = replays[of_it[0].course].as_ref().expect("it starts");
            match tuning.matters(&of_it) {
                true if fits_start => {}
                true => tuning.assumed.push(assumed(&of_it[0], replay)),
                // Wherever it starts, the same comes out.
                false => {
                    tuning.starts.retain(|start| !(start.is_guess && start.source == *source));
                }
            }
        }
        tuning.starts_untuned &= tuning.begins_as_given();
        if tuning.moments.len() <= tuning.n() {
            return Err(vec![tuning.too_few_samples()]);
        }
        Ok(())
    }

    /// What to say of starts that were neither measured nor given, where what is held out depends
    /// on them. Nothing is fitted to it, so that the answer is as good without.
    fn assumed_of_held_out(&self, whole: &[Option<Replay>]) -> Vec<Diagnostic> {
        let mut told = Vec::new();
        for (i, course) in self.courses.iter().enumerate().filter(|(_, one)| one.is_held_out) {
            let Some(replay) = &whole[i] else { continue };
            let guesses = guesses_of((i, replay));
            if guesses.is_empty() {
                continue;
            }
            // As if it were all that is fitted.
            let mut alone = self.clone();
            alone.fitted = vec![None; self.courses.len()];
            alone.fitted[i] = Some(Arc::clone(&course.experiment));
            let scaled = self.replays(&self.subject, &alone.fitted);
            if scaled.and_then(|mut replays| alone.scale(&mut replays)).is_err() {
                continue; // it is told when its errors are looked at
            }
            if alone.matters(&guesses) {
                told.push(assumed_beside(&guesses, replay, &course.name));
            }
        }
        told
    }

    /// Whether anything that is fitted depends on where recordings start: with the numbers that the
    /// model has, or with others of those sought. On a rail whose spring is sought all places are
    /// the same for as long as it has none.
    fn matters(&self, starts: &[Start]) -> bool {
        let mut moved = self.clone();
        moved.starts = starts.to_vec();
        moved.starts_untuned = false;
        let there = |numbers: &[f64], share: f64| {
            let places = starts.iter().map(|start| start.value + share * start.room);
            let x: Vec<f64> = numbers.iter().copied().chain(places).collect();
            Some(moved.alone(&x)?.0)
        };
        let is_other = |a: &[f64], b: &[f64]| {
            let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            apart.fold(0.0, f64::max) > waves::NOTHING
        };
        let as_given = vec![f64::NAN; self.wanted.len()];
        if there(&as_given, A_LITTLE).is_none_or(|there| is_other(&there, &self.untuned)) {
            return true;
        }
        let middle = self.wanted.iter().map(|wanted| 0.5 * (wanted.lower + wanted.upper));
        let middle: Vec<f64> = middle.collect();
        let both = there(&middle, 0.0).zip(there(&middle, A_LITTLE));
        both.is_some_and(|(here, there)| is_other(&here, &there))
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
        let mut worker = self.worker()?;
        let residuals = self.residuals(&mut worker, x)?;
        let mut steps = Steps::default();
        worker.0.iter().flatten().for_each(|replay| steps.add(replay.done()));
        Some((residuals, steps))
    }

    /// What to say of threads that could not simulate, where there were any: the others did their
    /// work.
    pub fn lacking(&self) -> Option<Diagnostic> {
        let all = self.lacking.lock().expect("no panic");
        let first = all.first()?;
        let threads =
            if all.len() == 1 { "1 thread".into() } else { format!("{} threads", all.len()) };
        let message = format!("{threads} could not begin to simulate: {}", first.message);
        Some(
            Diagnostic::warning("threads-lacking", message)
                .help("fewer --threads need less memory and fewer processes"),
        )
    }

    fn n(&self) -> usize {
        self.wanted.len() + self.starts.len()
    }

    /// Whether some recordings, or windows, start as they were measured, noise and all.
    pub fn starts_as_measured(&self) -> bool {
        self.starts_as_measured
    }

    /// What engines realise differently, and what else is worth knowing.
    pub fn notes(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// What the courses that are fitted are called, in the order of their numbers in starts.
    pub fn fitted_courses(&self) -> impl Iterator<Item = &str> {
        self.courses.iter().filter(|course| !course.is_held_out).map(|course| &*course.name)
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

    /// Whether the numbers there are the model's own: all of them within the bounds, and those that
    /// one path names the same.
    pub fn begins_as_given(&self) -> bool {
        self.subject_at(&self.start()).as_ref() == Ok(&self.subject)
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

    /// Over how much of each parameter slopes are taken. Times are whole nanoseconds. Of a delay
    /// it is a part of a step: commands that come a little later make the steps around them a
    /// little longer or shorter, and where joints stick and slip samples jump with that, by little,
    /// but not by less over less. Over a microsecond such jumps were taken for slopes, and an
    /// interval of the delay was too narrow by a third.
    pub fn differences(&self) -> Vec<f64> {
        let bounds = self.bounds();
        let is_delay = |one: &Wanted| one.parameters.iter().any(Parameter::is_command_delay);
        let least = |i: usize| match self.wanted.get(i) {
            Some(one) if is_delay(one) => f64::max(1e-6, 0.05 * self.step().secs()),
            Some(one) if one.parameters.iter().any(is_time) => 1e-6,
            // Contacts jump; over less a jump is taken for a slope.
            Some(one) if one.parameters.iter().any(Parameter::is_of_surface) => {
                1e-3 * bounds.width(i, 1.0)
            }
            _ => 0.0,
        };
        (0..self.n()).map(|i| f64::max(1e-6 * bounds.width(i, 1.0), least(i))).collect()
    }

    /// Over how much of each number slopes are taken at least to tell how sure it is: a fiftieth
    /// of the range of what contacts depend on, whose error has jumps closer together than that.
    pub(crate) fn least_of_surfaces(&self) -> Vec<f64> {
        let bounds = self.bounds();
        let least = |i: usize| match self.wanted.get(i) {
            Some(one) if one.parameters.iter().any(Parameter::is_of_surface) => {
                0.02 * bounds.width(i, 1.0)
            }
            _ => 0.0,
        };
        (0..self.n()).map(least).collect()
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

    /// Has somebody told of every step from now on, on whichever thread it is made.
    pub fn on_step(&mut self, beat: Arc<dyn Fn() + Send + Sync>) {
        self.beat = Some(beat);
    }
}

/// What to say of a recording that is held out and says nothing.
fn one_moment(course: &str) -> Diagnostic {
    let message = format!(
        "`{course}` is held out and has one moment, from which the simulation starts: its errors are \
         nothing, and say nothing"
    );
    Diagnostic::warning("one-moment", message)
        .help("hold a table out that has at least two rows whose times rise")
}

/// Refuses to look for nothing, and for one number twice.
fn refuse_wanted(wanted: &[Wanted]) -> Result<(), Vec<Diagnostic>> {
    if wanted.is_empty() {
        let message = "no parameter is named to be tuned";
        return Err(vec![
            Diagnostic::error("nothing-to-tune", message)
                .help("name some: --param 'joint/elbow/dynamics/damping=0..2'"),
        ]);
    }
    for (i, one) in wanted.iter().enumerate() {
        let is_there = |other: &Wanted| {
            let both =
                one.parameters.iter().flat_map(|p| other.parameters.iter().map(move |o| (p, o)));
            both.into_iter().any(|(p, o)| p == o || are_of_one_body(p, o) || are_of_one_body(o, p))
        };
        if let Some(other) = wanted[..i].iter().find(|other| is_there(other)) {
            let message = format!("`{}` and `{}` set the same number", other.name, one.name);
            return Err(vec![
                Diagnostic::error("same-parameter", message).help("keep one of them"),
            ]);
        }
    }
    Ok(())
}

/// How late commands are.
pub fn delay_of(subject: &Subject) -> SimDuration {
    SimDuration::from_secs(subject.settings.command_delay).unwrap_or(SimDuration::ZERO)
}

/// Gains of axes that have none.
pub fn gains_of(subject: &Subject) -> Option<Gains> {
    subject.settings.gains.map(|(kp, kd)| Gains { kp, kd })
}
