//! A search that can be put away: what `--resume` reads and Ctrl-C writes.

use std::ops::ControlFlow;

use headland_base::{Diagnostic, Seed};
use headland_sim::Mode;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Tuning;
use super::elsewhere::look_elsewhere;
use super::scan::{n_scanned, scan, scanned, what_is_scanned};
use crate::fit::{Bounds, Ended, Evaluate, cma, marquardt};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By slopes: Levenberg and Marquardt's.
    Lm,
    /// Without slopes: CMA-ES.
    Cma,
}

impl Method {
    /// Every method with its word.
    pub const ALL: &[(&str, Method)] = &[("lm", Method::Lm), ("cma", Method::Cma)];

    /// What it is called.
    pub fn word(self) -> &'static str {
        match self {
            Method::Lm => "lm",
            Method::Cma => "cma",
        }
    }
}

/// Where a search of either kind is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Search {
    /// By slopes.
    Lm(marquardt::Search),
    /// Without slopes.
    Cma(cma::Search),
}

impl Search {
    /// At its start.
    pub fn new(method: Method, tuning: &Tuning<'_>) -> Search {
        let (x, bounds) = (tuning.start(), tuning.bounds());
        match method {
            Method::Lm => Search::Lm(marquardt::Search::new(&x, &bounds)),
            Method::Cma => Search::Cma(cma::Search::new(&x, &bounds)),
        }
    }

    /// The best point so far, and its cost once there is one.
    pub fn best(&self) -> (&[f64], Option<f64>) {
        match self {
            Search::Lm(search) => search.best(),
            Search::Cma(search) => (&search.x, search.cost),
        }
    }

    /// Why it ended; nothing while it can go on.
    pub fn ended(&self) -> Option<Ended> {
        match self {
            Search::Lm(search) => search.ended,
            Search::Cma(search) => search.ended,
        }
    }

    /// Points that were evaluated.
    pub fn n_evaluations(&self) -> usize {
        match self {
            Search::Lm(search) => search.n_points(),
            Search::Cma(search) => search.n_evaluations,
        }
    }

    /// Rounds that are finished.
    pub fn n_rounds(&self) -> usize {
        match self {
            Search::Lm(search) => search.n_rounds,
            Search::Cma(search) => search.n_rounds,
        }
    }

    /// After how many points which cost was the least so far.
    pub fn history(&self) -> Vec<(usize, f64)> {
        match self {
            Search::Lm(search) => search.history(),
            Search::Cma(search) => search.history.clone(),
        }
    }

    /// Where slopes tell how sure the best point is.
    pub fn sloped_at(&self) -> &[f64] {
        match self {
            // Those of the last round, which are as good as there.
            Search::Lm(search) if search.ended.is_some_and(Ended::is_converged) => {
                &search.sloped_at
            }
            _ => self.best().0,
        }
    }

    /// Begins at a point, after so many were looked at for it. What it would have begun with comes
    /// first in its history.
    pub(super) fn begin_at(&mut self, (x, cost): (&[f64], f64), n: usize, bounds: &Bounds) {
        match self {
            Search::Lm(search) => {
                search.n_evaluations += n;
                if search.best().0 != x || search.best().1.is_none() {
                    search.move_to(x, bounds);
                }
            }
            Search::Cma(search) => search.move_to(x, cost, n, bounds),
        }
    }

    /// Which it is.
    pub fn method(&self) -> Method {
        match self {
            Search::Lm(_) => Method::Lm,
            Search::Cma(_) => Method::Cma,
        }
    }
}

/// A search with what it belongs to, as it is on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// Of the form of the file.
    pub version: u32,
    /// Of everything the search depends on: parameters, bounds, data, model, options.
    pub fingerprint: String,
    /// The engine it searches with.
    pub engine: String,
    /// The seed a person gave.
    pub seed: u64,
    /// Delays and surfaces were looked at, as far as any are sought: fewer simulations than that
    /// takes may have been allowed.
    pub is_scanned: bool,
    /// Where it is.
    pub search: Search,
}

const VERSION: u32 = 5;

impl Saved {
    /// A search at its start.
    pub fn new(method: Method, tuning: &Tuning<'_>, seed: u64) -> Saved {
        let search = Search::new(method, tuning);
        let engine = tuning.plan.engine.clone();
        let fingerprint = fingerprint(tuning);
        Saved { version: VERSION, fingerprint, engine, seed, is_scanned: false, search }
    }

    /// Whether the search began at the best of points all over what has many dips.
    pub fn looked_all_over(&self, tuning: &Tuning<'_>) -> bool {
        let has_dips = || !scanned(tuning, self.search.method(), &tuning.start()).is_empty();
        self.is_scanned && has_dips()
    }

    /// Points to look at before the search, where that is still to be done within so many
    /// evaluations.
    fn to_scan(&self, tuning: &Tuning<'_>, most_evaluations: usize) -> Option<Vec<Vec<f64>>> {
        let points = scanned(tuning, self.search.method(), self.search.best().0);
        // One more: the point that it starts from.
        let n = self.search.n_evaluations() + n_scanned(tuning, &points) + 1;
        (!self.is_scanned && n <= most_evaluations).then_some(points)
    }

    /// What is tried all over its range before the search, in words, where that is still to be
    /// done. It is put away only after that.
    pub fn looking_at(&self, tuning: &Tuning<'_>, most_evaluations: usize) -> Option<&'static str> {
        self.to_scan(tuning, most_evaluations)?;
        what_is_scanned(tuning, self.search.method())
    }

    /// As text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and words")
    }

    /// From text, for the search that [`Saved::new`] would begin: another's cannot be carried on.
    pub fn from_json(
        text: &str,
        method: Method,
        tuning: &Tuning<'_>,
        seed: u64,
    ) -> Result<Saved, Diagnostic> {
        let saved: Saved = serde_json::from_str(text).map_err(|fault| {
            Diagnostic::error(
                "bad-resume",
                format!("this is no search that can be resumed: {fault}"),
            )
            .help("`--resume` takes the file that an earlier `headland tune --resume` wrote")
        })?;
        let n = tuning.start().len();
        let is_sound = match &saved.search {
            Search::Lm(search) => search.is_sound(n),
            Search::Cma(search) => search.is_sound(n),
        };
        let wanted = Saved::new(method, tuning, seed);
        let (had, has) = (saved.search.method(), wanted.search.method());
        let other = if had != has {
            format!("it was started with --method {}, not {}", had.word(), has.word())
        } else if saved.engine != wanted.engine {
            format!("it was started on the engine {:?}, not {}", saved.engine, wanted.engine)
        } else if saved.seed != wanted.seed && had == Method::Cma {
            format!("it was started with --seed {}, not {}", saved.seed, wanted.seed)
        } else if (saved.version, &saved.fingerprint) != (VERSION, &wanted.fingerprint) || !is_sound
        {
            "other parameters, bounds, data, model or options".to_string()
        } else {
            return Ok(Saved { seed, ..saved });
        };
        Err(Diagnostic::error(
            "other-search",
            format!("this search is of another problem: {other}"),
        )
        .help("give what it was started with, or remove the file to start anew"))
    }
}

/// The same for the same problem alone. Threads and limits are no part of it.
fn fingerprint(tuning: &Tuning<'_>) -> String {
    let mut hash = Sha256::new();
    let bounds = tuning.bounds();
    for (i, name) in tuning.names().iter().enumerate() {
        hash.update(name.as_bytes());
        for number in [tuning.start()[i], bounds.lower[i], bounds.upper[i]] {
            hash.update(number.to_bits().to_le_bytes());
        }
    }
    hash.update(headland_world::sdf::write(&tuning.subject.world).as_bytes());
    hash.update(format!("{:?}{:?}", tuning.subject.settings, tuning.plan).as_bytes());
    for course in &tuning.courses {
        hash.update([u8::from(course.is_held_out)]);
        for (time, dof, command) in course.experiment.told.commands() {
            let mode = match command.mode {
                Mode::Position => 0,
                Mode::Velocity => 1,
                Mode::Effort => 2_u64,
            };
            for word in [time.nanos() as u64, *dof as u64, mode, command.target.to_bits()] {
                hash.update(word.to_le_bytes());
            }
        }
        hash.update(format!("{:?}", course.experiment.known).as_bytes());
        for signal in &course.experiment.signals {
            hash.update(signal.key.as_bytes());
            for (time, value) in signal.series.times.iter().zip(&signal.series.values) {
                hash.update(time.nanos().to_le_bytes());
                hash.update(value.to_bits().to_le_bytes());
            }
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Carries a search on until it has ended, is told to stop, or has made so many evaluations.
/// `watch` sees it after every round, as it can be put away. The slopes of its last round come
/// back, where it has ended with some.
pub fn search(
    saved: &mut Saved,
    tuning: &Tuning<'_>,
    crew: &mut dyn Evaluate,
    most_evaluations: usize,
    watch: &mut dyn FnMut(&Saved) -> ControlFlow<()>,
) -> Option<marquardt::Linear> {
    let bounds = tuning.bounds();
    if let Some(points) = saved.to_scan(tuning, most_evaluations) {
        scan(&mut saved.search, points, tuning, crew).ok()?;
        saved.is_scanned = true;
    }
    let about = saved.clone();
    match &mut saved.search {
        Search::Lm(search) => {
            let options = lm_options(tuning, most_evaluations);
            let mut told = |search: &marquardt::Search| {
                watch(&Saved { search: Search::Lm(search.clone()), ..about.clone() })
            };
            let linear = search.run(crew, &bounds, &options, &mut told);
            look_elsewhere(search, linear, tuning, crew, most_evaluations, &mut told)
        }
        Search::Cma(search) => {
            let options = cma::Options { most_evaluations, ..cma::Options::default() };
            let seed = Seed::new(saved.seed).child("tune");
            let mut told = |search: &cma::Search| {
                watch(&Saved { search: Search::Cma(search.clone()), ..about.clone() })
            };
            search.run(crew, &bounds, &seed, &options, &mut told);
            None
        }
    }
}

/// Slopes as this problem wants them.
pub(super) fn lm_options(tuning: &Tuning<'_>, most_evaluations: usize) -> marquardt::Options {
    let base = marquardt::Options::new(&tuning.start(), &tuning.bounds());
    marquardt::Options { difference: tuning.differences(), most_evaluations, ..base }
}
