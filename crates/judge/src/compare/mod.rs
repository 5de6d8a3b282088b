//! Two recordings against one another, key by key: how far B is from A.
//!
//! ```text
//! Recording A ─ Side ─┐   items: numbers, vectors, orientations, paths
//!                     ├─► pairing ─► errors e = B − A ─► Stats, Lag, Intervals, phases
//! Recording B ─ Side ─┘                                    │
//!                                       Threshold ─► Held ◄┘
//! ```
//!
//! A is the reference: what was measured. B is what is compared with it: a simulation of the
//! same. Times are those of the recordings; nothing is shifted that nobody asks to shift.
//!
//! Deliberately absent: where the recordings come from, and any drawing. A replay of a model
//! becomes a recording first, and is then compared here like any other.
//!
//! Start reading at [`compare`]; `one` is what happens to one key.

mod bootstrap;
mod correlate;
mod digits;
mod following;
mod items;
mod lag;
mod one;
mod pairing;
mod path;
mod phases;
mod running;
mod samples;
mod side;
mod statistics;
mod threshold;

use std::collections::BTreeMap;

use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_record::Unit;

pub use bootstrap::{Bootstrap, Interval, Intervals, block_length, intervals};
pub use digits::{Digits, NO_DIGITS};
pub use following::{Following, Heading, SIGNAL_TWICE, Unmatched, signal_twice};
pub use lag::{Lag, SHIFTS, lag};
pub use pairing::{Pair, Pairing, Rule, Sampling, median_interval, pair};
pub use path::{Fit, Similarity, absolute, relative, umeyama};
pub use phases::{Phase, parse as parse_phases};
pub use running::Running;
pub use side::{Dropped, KeyMap, Selection, Series, Side};
pub use statistics::{STATISTICS, Spread, Statistic, Stats};
pub use threshold::{Held, Relation, Threshold, statistic_names};

use items::{Item, What, items};
use one::Workshop;

/// How two sides are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How a sample of B is found for a moment of A.
    pub sampling: Sampling,
    /// How often a sample may be used.
    pub rule: Rule,
    /// The most a pair may be apart. By default half of the middle interval of B; 10 ms where
    /// pairs are made as evo makes them; any distance where B is interpolated.
    pub tolerance: Option<SimDuration>,
    /// Only moments of A from here on.
    pub start: Option<SimTime>,
    /// Only moments of A up to here.
    pub end: Option<SimTime>,
    /// Stretches with statistics of their own.
    pub phases: Vec<Phase>,
    /// Which keys.
    pub selection: Selection,
    /// Whether keys of A that B does not have are only counted.
    pub ignores_unknown: bool,
    /// Whether positions of joints are angles, of which full turns do not matter.
    pub wraps: bool,
    /// Keys of which somebody knows whether they are angles: a slider is none.
    pub angles: BTreeMap<String, bool>,
    /// Units of keys, as somebody knows them; what a side itself says counts more.
    pub units: BTreeMap<String, &'static str>,
    /// The longest lag looked for; by default 200 intervals of A.
    pub lag_max: Option<SimDuration>,
    /// Paths of poses, as evo compares them, after this move of B.
    pub paths: Option<Fit>,
    /// Pairs in a step of a relative error.
    pub delta: usize,
    /// Intervals of statistics.
    pub bootstrap: Option<Bootstrap>,
    /// Whether pairs and curves are kept for drawings.
    pub keeps_series: bool,
    /// Threads; the answer is the same.
    pub n_threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            sampling: Sampling::Nearest,
            rule: Rule::OneToOne,
            tolerance: None,
            start: None,
            end: None,
            phases: Vec::new(),
            selection: Selection::default(),
            ignores_unknown: false,
            wraps: true,
            angles: BTreeMap::new(),
            units: BTreeMap::new(),
            lag_max: None,
            paths: None,
            delta: 1,
            bootstrap: None,
            keeps_series: false,
            n_threads: 1,
        }
    }
}

/// What a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A number.
    Number,
    /// A number of which full turns do not matter.
    Angle,
    /// Several numbers; the error is their distance.
    Vector,
    /// An orientation; the error is the angle between two, in degrees.
    Orientation,
    /// An error of a path.
    Path,
}

impl KeyKind {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            KeyKind::Number => "number",
            KeyKind::Angle => "angle",
            KeyKind::Vector => "vector",
            KeyKind::Orientation => "orientation",
            KeyKind::Path => "path",
        }
    }
}

/// How many samples there were and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Samples of A, within start and end.
    pub n_a: usize,
    /// Samples of B, within start and end.
    pub n_b: usize,
    /// Of A without one of B.
    pub n_unmatched_a: usize,
    /// Of B that no pair uses.
    pub n_unmatched_b: usize,
    /// Left out of A.
    pub dropped_a: Dropped,
    /// Left out of B.
    pub dropped_b: Dropped,
    /// The largest distance in time within a pair.
    pub dt_max: SimDuration,
    /// The mean distance in time \[s\].
    pub dt_mean_secs: f64,
}

impl Counts {
    /// Share of A's samples that are in a pair.
    pub fn coverage_a(&self) -> Option<f64> {
        (self.n_a > 0).then(|| (self.n_a - self.n_unmatched_a) as f64 / self.n_a as f64)
    }

    /// Share of B's samples that are in a pair.
    pub fn coverage_b(&self) -> Option<f64> {
        (self.n_b > 0).then(|| (self.n_b - self.n_unmatched_b) as f64 / self.n_b as f64)
    }
}

/// Pairs, for a drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Of A.
    pub times: Vec<SimTime>,
    /// Values of both sides; empty for what is no number.
    pub a: Vec<f64>,
    /// As B stands beside A: full turns of an angle are taken out.
    pub b: Vec<f64>,
    /// B − A.
    pub errors: Vec<f64>,
}

/// One key, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyCompared {
    /// Its name.
    pub key: String,
    /// What it is.
    pub kind: KeyKind,
    /// Of the error: `m`, `deg`, …; empty where nobody knows.
    pub unit: &'static str,
    /// What became of the samples.
    pub counts: Counts,
    /// First and last moment of A's samples.
    pub span_a: Option<(SimTime, SimTime)>,
    /// First and last moment of B's samples.
    pub span_b: Option<(SimTime, SimTime)>,
    /// The most a pair may have been apart; `None` for any distance.
    pub tolerance: Option<SimDuration>,
    /// Of all pairs; `None` where there is none.
    pub stats: Option<Stats>,
    /// How late B is, where that can be said.
    pub lag: Option<Lag>,
    /// With the lag taken out, B interpolated at the moments of A.
    pub after_lag: Option<Stats>,
    /// How sure the statistics are.
    pub intervals: Option<Intervals>,
    /// Phase by phase.
    pub phases: Vec<(String, Option<Stats>)>,
    /// Pairs, where they were to be kept.
    pub drawn: Option<Drawn>,
}

/// Statistics of a key as a whole: name, what it says, value.
pub type KeyStatistic = (&'static str, &'static str, fn(&KeyCompared) -> Option<f64>);

/// Statistics that are not of the errors alone, in the order tables show them.
pub const KEY_STATISTICS: &[KeyStatistic] = &[
    ("coverage_a", "share of A's samples that are paired", |key| key.counts.coverage_a()),
    ("coverage_b", "share of B's samples that are paired", |key| key.counts.coverage_b()),
    ("unmatched_a", "samples of A in no pair", |key| Some(key.counts.n_unmatched_a as f64)),
    ("unmatched_b", "samples of B in no pair", |key| Some(key.counts.n_unmatched_b as f64)),
    ("max_abs_at", "when |e| is largest, in s", |key| Some(key.stats.as_ref()?.max_abs.1.secs())),
    ("min_at", "when e is lowest, in s", |key| Some(key.stats.as_ref()?.min.1.secs())),
    ("max_at", "when e is highest, in s", |key| Some(key.stats.as_ref()?.max.1.secs())),
    ("dt_max", "largest distance in time within a pair, in s", |key| {
        key.stats.as_ref().map(|_| key.counts.dt_max.secs())
    }),
    ("lag", "how late B is, in s", |key| Some(key.lag.as_ref()?.secs)),
    ("lag_correlation", "correlation at that lag", |key| Some(key.lag.as_ref()?.correlation)),
    ("rmse_after_lag", "RMSE once the lag is taken out", |key| Some(key.after_lag.as_ref()?.rmse)),
];

impl KeyCompared {
    /// A statistic by its name; `None` where it is undefined here or nothing has that name.
    pub fn statistic(&self, name: &str) -> Option<f64> {
        if name == "n" {
            return Some(self.stats.as_ref().map_or(0.0, |stats| stats.n as f64));
        }
        if let Some(statistic) = STATISTICS.iter().find(|statistic| statistic.name == name) {
            return (statistic.of)(self.stats.as_ref()?);
        }
        KEY_STATISTICS.iter().find(|(known, ..)| *known == name).and_then(|(_, _, of)| of(self))
    }
}

/// Two sides, compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// By key.
    pub keys: Vec<KeyCompared>,
    /// Keys of A that B does not have, and the nearest it has.
    pub unknown: Vec<(String, Option<String>)>,
    /// Keys of B that A does not have.
    pub only_b: Vec<String>,
    /// First and last moment of A.
    pub span_a: Option<(SimTime, SimTime)>,
    /// First and last moment of B, shifted as it was compared.
    pub span_b: Option<(SimTime, SimTime)>,
    /// Paths that could not be aligned, keys whose numbers are too large to compare, and why.
    pub refused: Vec<Diagnostic>,
}

impl Compared {
    /// Whether there is any pair at all.
    pub fn has_pairs(&self) -> bool {
        self.keys.iter().any(|key| key.stats.is_some())
    }

    /// Nothing could be paired: in words, with what is there.
    pub fn no_pair(&self) -> Diagnostic {
        let tolerances = self.keys.iter().filter_map(|key| key.tolerance).max();
        let within = tolerances.map_or(String::new(), |most| format!(" within {most}"));
        no_pair(&format!("no sample of A has one of B{within}"), self.span_a, self.span_b)
    }
}

/// Nothing could be paired: in words, with the first and the last moment of either side.
pub fn no_pair(
    message: &str,
    a: Option<(SimTime, SimTime)>,
    b: Option<(SimTime, SimTime)>,
) -> Diagnostic {
    let range = |span: Option<(SimTime, SimTime)>| match span {
        Some((first, last)) => format!("from {first} to {last}"),
        None => "no sample".to_string(),
    };
    let fault = Diagnostic::error("no-pair", message)
        .note(format!("A has {}", range(a)))
        .note(format!("B has {}", range(b)));
    let overlap = a.zip(b).is_some_and(|(a, b)| a.0 <= b.1 && b.0 <= a.1);
    fault.help(match overlap {
        true => "give a larger `--tolerance`, or `--sampling interp`",
        false => "shift B: `--t-offset`; `compare` has `--relative` where both begin alike",
    })
}

/// Compares B with A. An error is a key nobody knows.
pub fn compare(a: &Side, b: &Side, options: &Options) -> Result<Compared, Vec<Diagnostic>> {
    let all = items(a.keys());
    let mut faults = unknown_patterns(&all, |pattern| b.has(pattern), options);
    let wanted: Vec<&Item> = all
        .iter()
        .filter(|item| match item.what {
            What::Path => {
                options.paths.is_some()
                    && path_keys(item).iter().any(|key| options.selection.wants(key, true))
            }
            _ => options.selection.wants(&item.key, item.is_usual),
        })
        .collect();
    let mut unknown = Vec::new();
    let mut known: Vec<&Item> = Vec::new();
    for item in wanted {
        match &item.what {
            What::Number if !b.has(&item.key) => {
                unknown.push((item.key.clone(), b.nearest_key(&item.key).map(str::to_string)));
            }
            What::Number => known.push(item),
            // The components say what is missing.
            _ if components(item).iter().all(|key| b.has(key)) => known.push(item),
            _ => {}
        }
    }
    faults.extend(a.merged());
    faults.extend(b.merged());
    let mut keys: Vec<String> = known.iter().flat_map(|item| components(item)).collect();
    keys.sort_unstable();
    keys.dedup();
    faults.extend(keys.iter().filter_map(|key| units_differ(key, a.unit(key), b.unit(key))));
    if !options.ignores_unknown {
        faults.extend(unknown.iter().map(|(key, near)| unknown_key(key, near.as_deref())));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let (keys, refused) = on_threads(&known, a, b, options);
    let is_only_b = |key: &&str| options.selection.wants(key, true) && !a.has(key);
    let only_b = b.keys().filter(is_only_b).map(str::to_string).collect();
    Ok(Compared { keys, unknown, only_b, span_a: a.span(), span_b: b.span(), refused })
}

/// Two sides that say different units of one number, or one that says a unit nobody knows.
fn units_differ(key: &str, a: Unit, b: Unit) -> Option<Diagnostic> {
    match (a, b) {
        (Unit::Unknown, _) => Some(unknown_unit(key, "A")),
        (_, Unit::Unknown) => Some(unknown_unit(key, "B")),
        (Unit::Si(a), Unit::Si(b)) if a != b => {
            let message = format!("`{key:.120}` is in {a} in A and in {b} in B");
            let help = "put the units in the headers right, or leave the key out with --key";
            Some(Diagnostic::error(UNITS_DIFFER, message).help(help))
        }
        _ => None,
    }
}

/// The code of what is said of a key in units that another side, or a model, does not have it in.
pub const UNITS_DIFFER: &str = "units-differ";

/// What to say of a key whose unit nobody knows, and where that is.
pub fn unknown_unit(key: &str, place: &str) -> Diagnostic {
    let message = format!("`{key:.120}` is in a unit that nobody knows in {place}");
    Diagnostic::error("unknown-unit", message)
        .help("leave the brackets out where it is SI already, or leave the key out")
}

/// Whether a fault is of units: a key in others is known all the same.
pub fn is_of_units(fault: &Diagnostic) -> bool {
    matches!(fault.code, UNITS_DIFFER | "unknown-unit")
}

/// A key of A that B does not have, and the nearest it has.
fn unknown_key(key: &str, near: Option<&str>) -> Diagnostic {
    let near = near.map(|near| format!("did you mean `{near}`? "));
    let help = format!("{}`--ignore-unknown` leaves such keys out", near.unwrap_or_default());
    Diagnostic::error("unknown-key", format!("`{key:.120}` is in A and not in B")).help(help)
}

/// The keys of B that an item needs.
fn components(item: &Item) -> Vec<String> {
    match &item.what {
        What::Number => vec![item.key.clone()],
        What::Vector(keys) => keys.clone(),
        What::Orientation(keys) => keys.to_vec(),
        What::Path => {
            let pose = item.key.trim_end_matches("/path");
            ["x", "y", "z", "qx", "qy", "qz", "qw"].map(|part| format!("{pose}/{part}")).to_vec()
        }
    }
}

/// What a path is compared as.
fn path_keys(item: &Item) -> [String; 4] {
    let pose = item.key.trim_end_matches("/path");
    ["ape", "ape_angle", "rpe", "rpe_angle"].map(|part| format!("{pose}/{part}"))
}

/// Patterns that no key fits.
fn unknown_patterns(
    all: &[Item],
    has: impl Fn(&str) -> bool,
    options: &Options,
) -> Vec<Diagnostic> {
    let mut keys: Vec<String> = Vec::new();
    for item in all {
        match (&item.what, options.paths) {
            (What::Path, Some(_)) => keys.extend(path_keys(item)),
            (What::Path, None) => {}
            _ => keys.push(item.key.clone()),
        }
    }
    let fits = |pattern: &str| keys.iter().any(|key| headland_base::glob::matches(pattern, key));
    let unknown = options.selection.patterns.iter().filter(|pattern| !fits(pattern));
    unknown
        .map(|pattern| {
            let fault =
                Diagnostic::error("unknown-key", format!("no key of A fits `{pattern:.120}`"))
                    .help_maybe(headland_base::names::suggestion(
                        pattern,
                        keys.iter().map(String::as_str),
                    ));
            match has(pattern) {
                true => fault.note("B has it"),
                false => fault,
            }
        })
        .collect()
}

/// Compares items on several threads, each a stretch of them, in their order.
fn on_threads(
    items: &[&Item],
    a: &Side,
    b: &Side,
    options: &Options,
) -> (Vec<KeyCompared>, Vec<Diagnostic>) {
    let work = |items: &[&Item]| {
        let mut workshop = Workshop::new(a, b, options);
        let keys: Vec<KeyCompared> = items.iter().flat_map(|item| workshop.item(item)).collect();
        (keys, workshop.refused)
    };
    let n_each = items.len().div_ceil(options.n_threads.max(1)).max(1);
    let mut parts = items.chunks(n_each);
    let first = parts.next().unwrap_or_default();
    let (mut keys, mut refused) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        let others: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        let own = work(first);
        let joined = others.into_iter().map(|other| other.join().expect("no panic"));
        for (more, faults) in std::iter::once(own).chain(joined) {
            keys.extend(more);
            refused.extend(faults);
        }
    });
    (keys, refused)
}
