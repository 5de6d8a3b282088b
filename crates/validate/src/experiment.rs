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

    /// The series of a key.
    pub fn series(&self, key: &str) -> Option<&Series> {
        let at = self.signals.iter().position(|signal| signal.key == key)?;
        Some(&self.signals[at].series)
    }
}

/// What to say where nothing was measured.
pub fn nothing_measured() -> Diagnostic {
    Diagnostic::error("no-samples", "there is no sample to compare a simulation with").help(
        "the table needs a row below its header, and `--start`, `--end` and `--key` leave some",
    )
}
