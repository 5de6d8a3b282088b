//! What was measured, told and known at the start: the values a replay repeats.

use headland_base::{Diagnostic, SimTime};
use headland_judge::compare::{Series, Side};

use crate::told::Told;

/// One key as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Its name.
    pub key: String,
    /// Its samples: times strictly increase, values are finite.
    pub series: Series,
}

/// An experiment: what somebody did and measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// What was measured, by key, sorted.
    pub signals: Vec<Signal>,
    /// What joints were told, on the clock of the measurement.
    pub told: Told,
    /// Numbers of the first moment that somebody knows: keys and values.
    pub known: Vec<(String, f64)>,
}

impl Experiment {
    /// What one side of a comparison measured, from `start` to `end`.
    pub fn of(side: &Side<'_>, start: Option<SimTime>, end: Option<SimTime>) -> Experiment {
        let signal = |key: &str| {
            let mut series = side.series(key)?;
            let from = start.map_or(0, |start| series.times.partition_point(|t| *t < start));
            let to = end.map_or(series.times.len(), |end| {
                series.times.partition_point(|t| *t <= end).max(from)
            });
            series.times = series.times[from..to].to_vec();
            series.values = series.values[from..to].to_vec();
            (from < to).then(|| Signal { key: key.to_string(), series })
        };
        let signals = side.keys().filter_map(signal).collect();
        Experiment { signals, ..Experiment::default() }
    }

    /// The first moment of all: time zero of the replay.
    pub fn first(&self) -> Option<SimTime> {
        self.signals.iter().filter_map(|signal| signal.series.times.first()).min().copied()
    }

    /// The last moment of all.
    pub fn last(&self) -> Option<SimTime> {
        self.signals.iter().filter_map(|signal| signal.series.times.last()).max().copied()
    }

    /// Samples that were never measured, the furthest of a key: beyond anything that robots do, and
    /// beyond most others of the key. A sum of squares would be such samples alone.
    pub fn stray_samples(&self, recording: &str) -> Vec<Diagnostic> {
        let told = |signal: &Signal| {
            let Series { times, values, .. } = &signal.series;
            let each = times.iter().zip(values).map(|(time, value)| (*time, *value));
            let far = each.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
            if far.1.abs() <= ABSURD {
                return None;
            }
            let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
            let half = sizes.len() / 2;
            let usual = *sizes.select_nth_unstable_by(half, f64::total_cmp).1;
            let is_stray = far.1.abs() > APART * usual;
            is_stray.then(|| stray_sample(recording, &signal.key, far, usual))
        };
        self.signals.iter().filter_map(told).collect()
    }

    /// Samples that were left out because they are infinite.
    pub fn infinite_samples(&self, recording: &str) -> Vec<Diagnostic> {
        let infinite = self.signals.iter().filter(|one| one.series.dropped.n_not_finite > 0);
        let told = infinite.map(|Signal { key, series }| {
            let n = series.dropped.n_not_finite;
            let samples = if n == 1 { "1 sample".into() } else { format!("{n} samples") };
            let message =
                format!("{samples} of `{key:.120}` in `{recording}` left out: not finite");
            Diagnostic::warning("not-finite", message)
        });
        told.collect()
    }

    /// The series of a key.
    pub fn series(&self, key: &str) -> Option<&Series> {
        let at = self.signals.iter().position(|signal| signal.key == key)?;
        Some(&self.signals[at].series)
    }
}

/// In SI nothing that moves measures more, be it pascals; counters do, all of their samples.
const ABSURD: f64 = 1e9;

/// So many times the usual size of a sample a stray one has at least.
const APART: f64 = 1e6;

fn stray_sample(
    recording: &str,
    key: &str,
    (time, value): (SimTime, f64),
    usual: f64,
) -> Diagnostic {
    let message = format!(
        "`{recording}` has {value:e} for `{key:.120}` at {time}, where half of its samples are \
         within {usual:.2e}"
    );
    Diagnostic::warning("stray-sample", message)
        .help("leave that cell empty, or cut it off with --start and --end")
}

/// What to say where nothing was measured.
pub fn nothing_measured() -> Diagnostic {
    Diagnostic::error("no-samples", "there is no sample to compare a simulation with").help(
        "the table needs a row below its header, and `--start`, `--end` and `--key` leave some",
    )
}
