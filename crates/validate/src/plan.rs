//! When a replay has to be where: all times are known, so all of it is planned.
//!
//! Time is counted from the first sample of all signals. Deliberately absent: moving anything.

use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_judge::compare::{Sampling, median_interval};

use crate::experiment::Experiment;

/// A moment at which something was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landing {
    /// Since the first.
    pub time: SimDuration,
    /// Which samples: a range of [`Plan::samples`].
    pub samples: std::ops::Range<usize>,
    /// The state is put back to what was measured here, after it was looked at.
    pub resets: bool,
}

/// The moments of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// In their order; the first is at zero.
    pub landings: Vec<Landing>,
    /// Signal and sample of it, in the order of time.
    pub samples: Vec<(usize, usize)>,
    /// Time zero on the clock of the measurement.
    pub zero: SimTime,
}

impl Plan {
    /// Every sample at its moment; with a window the state is put back every so often.
    pub fn of(experiment: &Experiment, window: Option<SimDuration>) -> Plan {
        let Some(zero) = experiment.first() else { return Plan::default() };
        Plan::since(zero, experiment, window)
    }

    /// The same on a clock that began earlier.
    pub fn since(zero: SimTime, experiment: &Experiment, window: Option<SimDuration>) -> Plan {
        let all = samples_by_time(experiment);
        let mut landings: Vec<Landing> = Vec::new();
        for (i, (time, ..)) in all.iter().enumerate() {
            let time = *time - zero;
            match landings.last_mut() {
                Some(last) if last.time == time => last.samples.end = i + 1,
                _ => landings.push(Landing { time, samples: i..i + 1, resets: false }),
            }
        }
        let mut since = SimDuration::ZERO;
        for landing in &mut landings {
            let is_over =
                |window: SimDuration| landing.time.nanos() - since.nanos() >= window.nanos();
            if window.is_some_and(is_over) {
                landing.resets = true;
                since = landing.time;
            }
        }
        let samples = all.into_iter().map(|(_, signal, at)| (signal, at)).collect();
        Plan { landings, samples, zero }
    }

    /// Whether every moment is a whole number of steps.
    pub fn fits(&self, step: SimDuration) -> bool {
        self.landings.iter().all(|landing| landing.time.nanos() % step.nanos() == 0)
    }

    /// The longest step of which every moment is a whole number.
    pub fn common_step(&self) -> SimDuration {
        let gcd = |mut a: i64, mut b: i64| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let all = self.landings.iter().fold(0, |all, landing| gcd(landing.time.nanos(), all));
        SimDuration::from_nanos(all)
    }

    /// How long the experiment lasted.
    pub fn duration(&self) -> SimDuration {
        self.landings.last().map_or(SimDuration::ZERO, |last| last.time)
    }

    /// Refuses a step with which most samples could not be paired, before anything moves.
    pub fn too_coarse(
        &self,
        experiment: &Experiment,
        step: SimDuration,
        sampling: Sampling,
    ) -> Option<Diagnostic> {
        if sampling != Sampling::Nearest {
            return None;
        }
        let times = experiment.signals.iter().map(|signal| &signal.series.times);
        let times = times.max_by_key(|times| times.len())?;
        let middle = median_interval(times)?;
        if step <= middle {
            return None;
        }
        let mut steps: Vec<i64> =
            times.iter().map(|time| nearest_step(*time - self.zero, step)).collect();
        steps.dedup();
        let message = format!(
            "the middle interval of the samples is {middle} and the step {step}: at most {} of {} \
             samples can be paired one to one",
            steps.len(),
            times.len()
        );
        let help = format!("use --step {}, --sampling exact or --sampling interp", middle.secs());
        Some(Diagnostic::error("step-too-coarse", message).help(help))
    }
}

/// So many steps through which nothing was measured are never meant: a day in milliseconds.
const MOST_STEPS: i64 = 100_000_000;
/// So many are refused as well where the gap is out of proportion to all the others: hours in
/// milliseconds. A row of a resting pose minutes before or after a short motion is sound.
const MANY_STEPS: i64 = 10_000_000;
/// A gap so many times as long as all others together, and as their middle one, is out of
/// proportion: a thousand pauses of one recording would not make it.
const OUT_OF_PROPORTION: i64 = 1000;

/// Whether nobody means a way of so many steps.
pub(crate) fn is_long_way(gap: SimDuration, step: SimDuration) -> bool {
    gap.nanos() / step.nanos() >= MOST_STEPS
}

impl Plan {
    /// Refuses a gap in time that no experiment has, before a run through it takes days: a stray
    /// stamp, or two clocks in one table. Sparse samples have gaps that are all alike.
    pub fn stray(&self, step: SimDuration) -> Option<Diagnostic> {
        let gap = |i: usize| self.landings[i].time.nanos() - self.landings[i - 1].time.nanos();
        let at = (1..self.landings.len()).max_by_key(|i| gap(*i))?;
        let longest = gap(at);
        let n_steps = longest / step.nanos();
        let others = self.duration().nanos() - longest;
        let mut gaps: Vec<i64> = (1..self.landings.len()).filter(|i| *i != at).map(gap).collect();
        gaps.sort_unstable();
        let middle = gaps.get(gaps.len() / 2).copied();
        let is_odd = middle.is_some_and(|middle| {
            longest / OUT_OF_PROPORTION > others.max(middle) && n_steps >= MANY_STEPS
        });
        if !is_odd && !is_long_way(SimDuration::from_nanos(longest), step) {
            return None;
        }
        let moment = |i: usize| self.zero + self.landings[i].time;
        let (before, after) = (moment(at - 1), moment(at));
        let message = format!(
            "nothing was measured from {before} to {after}: to get there would take {:.1e} steps \
             of {step}",
            n_steps as f64
        );
        let usual = middle.map_or(String::new(), |middle| {
            format!("; the others are {} apart", SimDuration::from_nanos(middle))
        });
        let (n_before, n_after) = (at, self.landings.len() - at);
        // The side with fewer moments is the one that strayed. To the nanosecond, as it is written.
        let said = |time: SimTime| time.to_string().trim_end_matches(" s").to_string();
        let help = match n_before <= n_after {
            true => format!("--start {} leaves out what is before", said(after)),
            false => format!("--end {} leaves out what is after", said(before)),
        };
        let moments = |n: usize| format!("{n} moment{}", if n == 1 { "" } else { "s" });
        Some(
            Diagnostic::error("stray-time", message)
                .note(format!("{} before, {} after{usual}", moments(n_before), moments(n_after)))
                .help(help),
        )
    }
}

/// When which sample of which signal was taken, in the order of time.
fn samples_by_time(experiment: &Experiment) -> Vec<(SimTime, usize, usize)> {
    let signals = &experiment.signals;
    let times = |signal: usize| &signals[signal].series.times;
    // The rows of a table: all are known at once.
    if (1..signals.len()).all(|signal| times(signal) == times(0)) && !signals.is_empty() {
        let rows = times(0).iter().enumerate();
        return rows
            .flat_map(|(at, time)| (0..signals.len()).map(move |signal| (*time, signal, at)))
            .collect();
    }
    let mut all: Vec<(SimTime, usize, usize)> = (0..signals.len())
        .flat_map(|signal| {
            times(signal).iter().enumerate().map(move |(at, time)| (*time, signal, at))
        })
        .collect();
    // Each signal is in order already, which this sort sees and the unstable one does not.
    all.sort();
    all
}

/// The number of steps nearest to a time; between two the earlier.
pub fn nearest_step(time: SimDuration, step: SimDuration) -> i64 {
    let (whole, rest) = (time.nanos() / step.nanos(), time.nanos() % step.nanos());
    whole + i64::from(2 * rest > step.nanos())
}

/// The next step on the way over `left`: whole ones, and the last two share what is left, so
/// that the end is met exactly and no step is much shorter than the others.
pub fn next_step(left: SimDuration, step: SimDuration) -> SimDuration {
    match (left.nanos(), step.nanos()) {
        (left, step) if left >= 2 * step => SimDuration::from_nanos(step),
        (left, step) if left > step => SimDuration::from_nanos((left + 1) / 2),
        (left, _) => SimDuration::from_nanos(left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(nanos: i64) -> SimDuration {
        SimDuration::from_nanos(nanos)
    }

    #[test]
    fn every_way_is_met_exactly_and_in_even_steps() {
        for left in 1..60 {
            let (mut rest, mut steps) = (left, Vec::new());
            while rest > 0 {
                let dt = next_step(ns(rest), ns(10)).nanos();
                assert!(dt > 0 && dt <= 10 && dt <= rest, "{left}: {dt} of {rest}");
                rest -= dt;
                steps.push(dt);
            }
            assert_eq!(steps.len() as i64, (left + 9) / 10, "{left}: no step more than needed");
            assert!(left < 10 || steps.iter().all(|dt| *dt >= 5), "{left}: {steps:?}");
        }
    }

    fn plan(millis: &[i64]) -> Plan {
        let landing = |ms: &i64| Landing { time: ns(ms * 1_000_000), samples: 0..0, resets: false };
        Plan { landings: millis.iter().map(landing).collect(), ..Plan::default() }
    }

    /// Stamps of two clocks are refused; sparse samples, a pause and a first row that is early are
    /// not.
    #[test]
    fn a_stray_stamp_is_told_from_sparse_samples() {
        let epoch = 1_700_000_000_000;
        let stray = |millis: &[i64]| plan(millis).stray(ns(1_000_000)).map(|fault| fault.help);
        let help = |millis: &[i64]| stray(millis).flatten().unwrap_or_default();
        assert!(help(&[0, epoch, epoch + 100]).starts_with("--start 1700000000.000 "));
        assert!(help(&[0, epoch]).starts_with("--start"), "54 years are no experiment");
        assert!(help(&[0, 10, 20, epoch]).starts_with("--end 0.020 "));
        for sound in [
            &[0][..],
            &[0, 100_000],
            &[0, 60_000, 120_000, 180_000],
            &[0, 10, 20, 600_000, 600_010, 600_020, 1_200_000],
            &[0, 5_000, 5_010, 5_020, 5_030],
            &[0, 3_600_000, 7_200_000],
            // A row at zero and a tenth of a second of data long after; a rest long after.
            &[0, 200_000, 200_020, 200_040, 200_060, 200_080, 200_100],
            &[0, 20, 40, 60, 80, 100, 120_000],
        ] {
            assert_eq!(stray(sound), None, "{sound:?}");
        }
        // With steps of a minute a day is no long way.
        assert_eq!(plan(&[0, 86_400_000]).stray(ns(60_000_000_000)), None);
    }

    #[test]
    fn the_nearest_step_of_a_tie_is_the_earlier() {
        let nearest = [0, 4, 5, 6, 10, 15, 16].map(|t| nearest_step(ns(t), ns(10)));
        assert_eq!(nearest, [0, 0, 0, 1, 1, 1, 2]);
    }
}
