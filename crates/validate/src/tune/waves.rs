//! Whether what a tuned model leaves is noise.
//!
//! An interval says how far a number may be off if the model is right but for it. Then what is left
//! is noise, which differs from sample to sample; what a wrong model leaves comes in waves, where
//! every sample is like the one before it. How alike two noisy neighbours are by chance is known, so
//! what is more alike than that is a wave: the correlation of neighbours by Student's test. Long
//! waves under much noise show when samples are averaged first, so the means of two, four, eight …
//! are tested as well.
//!
//! Three things leave waves where a model is right, and are taken out. Steps do: how much is known
//! from a simulation with steps of half the length, less what numbers take up, by which intervals were
//! widened. Starts that nobody looks for do: as much as starts with more noise. And numbers do that
//! the noise of one signal has moved, in another that has less: as much as noise drawn anew moves
//! them.

use std::ops::Range;

use headland_base::Diagnostic;
use headland_base::maths::{dot, sqrt};

use super::carried::Carried;
use crate::fit::dense::Columns;
use crate::fit::student::quantile;
use crate::fit::sureness::Worth;

/// What a model leaves, and what is known of where it comes from.
pub(super) struct Left<'a> {
    pub residuals: &'a [f64],
    /// Which are of each signal.
    pub signals: &'a [Range<usize>],
    /// What of it steps make.
    pub by_steps: Option<Vec<f64>>,
    /// What the noise of starts may make of it, one for each start that was drawn.
    pub by_starts: Vec<Vec<f64>>,
    /// What numbers make of it that noise has moved.
    pub by_numbers: Carried<'a>,
}

/// Of models that are right this share is said to leave waves, at the most.
pub(super) const FALSE_ALARMS: f64 = 0.02;

/// With fewer means of samples there is nothing to be said of them.
const FEW: usize = 16;

/// What steps make is known to about this share of itself, by steps of two lengths.
pub(super) const STEPS_UNSURE: f64 = 0.33;

/// From this share of what is left on, as squares, it is a good part.
const CARRIED_OVER: f64 = 0.25;

/// Waves of less than this share of all that is left, as squares, are let be: however little a model
/// lacks, enough samples show it.
const LITTLE: f64 = 0.01;

/// Residuals are in standard deviations of their key; a millionth of one is nothing.
pub(super) const NOTHING: f64 = 1e-6;

/// What of a change of residuals no number takes up.
pub(super) fn not_taken_up(mut change: Vec<f64>, slopes: &Columns, worth: &Worth) -> Vec<f64> {
    for (gone, column) in worth.answer(slopes, &change).iter().zip(slopes) {
        change.iter_mut().zip(column).for_each(|(rest, slope)| *rest -= gone * slope);
    }
    change
}

/// As much of what steps make as is left, at most all of it: what was measured may itself be a
/// simulation of such steps, or of half of them.
pub(super) fn as_left(mut by_steps: Vec<f64>, residuals: &[f64]) -> Vec<f64> {
    let square = dot(&by_steps, &by_steps);
    let share =
        if square > 0.0 { (dot(residuals, &by_steps) / square).clamp(0.0, 1.0) } else { 0.0 };
    by_steps.iter_mut().for_each(|step| *step *= share);
    by_steps
}

impl Left<'_> {
    /// What is left without what steps make.
    pub fn without_steps(&self) -> Vec<f64> {
        let steps = self.by_steps.as_deref().unwrap_or(&[]).iter().chain(std::iter::repeat(&0.0));
        self.residuals.iter().zip(steps).map(|(left, step)| left - step).collect()
    }

    /// Whether what is left of any signal may for a good part be the noise of a start, or that of
    /// another signal by way of the numbers.
    pub fn is_carried_over(&self) -> bool {
        let square = |values: &[f64]| dot(values, values);
        self.signals.iter().enumerate().any(|(i, signal)| {
            let own = square(&self.residuals[signal.clone()]);
            let by_starts = self.by_starts.iter().map(|draw| square(&draw[signal.clone()]));
            let most = by_starts.fold(self.by_numbers.most_squares(i), f64::max);
            most > CARRIED_OVER * own
        })
    }

    /// Whether waves are left of any signal that are neither chance nor explained.
    pub fn has_waves(&self) -> bool {
        let n_tests = |signal: &Range<usize>| lengths(signal.len()).count();
        let n_tests: usize = self.signals.iter().map(n_tests).sum();
        let level = 1.0 - FALSE_ALARMS / n_tests.max(1) as f64;
        let left = self.without_steps();
        (0..self.signals.len()).any(|i| self.waves_in(&left, i, level))
    }

    fn waves_in(&self, left: &[f64], signal_idx: usize, level: f64) -> bool {
        let signal = self.signals[signal_idx].clone();
        let left = &left[signal.clone()];
        let by_steps = self.by_steps.as_ref().map(|all| &all[signal.clone()]);
        let square = |values: &[f64]| dot(values, values) / values.len().max(1) as f64;
        let least = f64::max(LITTLE * square(left), NOTHING * NOTHING);
        lengths(left.len()).any(|length| {
            let left = means(left, length);
            let steps = by_steps.map_or(0.0, |steps| square(&means(steps, length)));
            let degrees = left.len() as f64 - 2.0;
            let is_told = |waves: f64| {
                let share = waves / square(&left);
                let t = share * sqrt(degrees / (1.0 - share * share).max(f64::MIN_POSITIVE));
                waves > least && t > quantile(level, degrees)
            };
            let by_starts = self.by_starts.iter();
            let by_starts = by_starts.map(|draw| alike(&means(&draw[signal.clone()], length)));
            let waves =
                alike(&left) - STEPS_UNSURE * STEPS_UNSURE * steps - by_starts.fold(0.0, f64::max);
            // What numbers carry over takes longest to find out, and only makes waves smaller.
            is_told(waves) && is_told(waves - self.by_numbers.most_alike(signal_idx, length))
        })
    }
}

/// The means of so many samples each; what is left over in the end is in none.
pub(super) fn means(values: &[f64], length: usize) -> Vec<f64> {
    let chunks = values.chunks_exact(length);
    chunks.map(|chunk| chunk.iter().sum::<f64>() / length as f64).collect()
}

/// How alike neighbours are: the mean of their products.
pub(super) fn alike(values: &[f64]) -> f64 {
    let products: f64 = values.windows(2).map(|pair| pair[0] * pair[1]).sum();
    products / values.len().saturating_sub(1).max(1) as f64
}

/// Over how many samples means are taken.
fn lengths(n_samples: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |length| Some(2 * length))
        .take_while(move |length| n_samples / length >= FEW)
}

/// What to say where residuals are no noise.
pub(super) fn waves_left() -> Diagnostic {
    let message = "what the tuned model leaves comes in waves, not as noise: it lacks something that \
                   the robot has, or better values were not found; the intervals are about the best \
                   values of this model and know nothing of that";
    Diagnostic::warning("waves-left", message).help(
        "look at the residuals on the page of `--report`; seek what may be missing as well, or \
         begin elsewhere with `--set`, or with `--method cma`; where there is next to no noise, a \
         smaller `--step` or `--integrator rk4` may be all it lacks",
    )
}

#[cfg(test)]
mod tests {
    use headland_base::Seed;
    use headland_base::maths::sin;
    use headland_sense::noise::Dice;

    use super::*;
    use crate::fit::Bounds;
    use crate::fit::sureness::{Moment, worth};

    const N: usize = 500;

    /// One signal of noise, and one with a slow wave under it.
    fn residuals(height: f64, seed: u64) -> Vec<f64> {
        let mut dice = Dice::new(&Seed::new(seed));
        let wave = |i: usize| if i < N { 0.0 } else { height * sin(i as f64 * 0.05) };
        (0..2 * N).map(|i| dice.normal() + wave(i)).collect()
    }

    /// With what numbers make of it, of which each draw makes so many waves.
    fn has_waves(residuals: &[f64], by_numbers: &[f64], explain: impl Fn(&mut Left<'_>)) -> bool {
        let signals = [0..residuals.len() / 2, residuals.len() / 2..residuals.len()];
        let (slopes, noise) = (vec![wave(1.0)], self::residuals(0.0, 0));
        let moments = (0..noise.len() as i64).map(|at_nanos| Moment { series: 0, at_nanos });
        let moments: Vec<Moment> = moments.collect();
        let worth = worth(&[0.0], &Bounds::none(1), &noise, &slopes, (&moments, false), 0.95);
        let carried = Carried::new(residuals, &signals, &slopes, &worth);
        let draws = by_numbers.iter().map(|times| vec![*times]).collect();
        let by_numbers = carried.with_draws(draws);
        let (signals, by_steps, by_starts) = (&signals, None, Vec::new());
        let mut left = Left { residuals, signals, by_steps, by_starts, by_numbers };
        explain(&mut left);
        left.has_waves()
    }

    /// How many of a hundred have waves.
    fn n_told(height: f64, by_numbers: &[f64], explain: impl Fn(&mut Left<'_>)) -> usize {
        let is_told = |seed: &u64| has_waves(&residuals(height, *seed), by_numbers, &explain);
        (0..100).filter(is_told).count()
    }

    fn wave(times: f64) -> Vec<f64> {
        let at = |i: usize| if i < N { 0.0 } else { times * sin(i as f64 * 0.05) };
        (0..2 * N).map(at).collect()
    }

    #[test]
    fn waves_are_told_from_noise() {
        let counts = [0.0, 0.5, 1.0].map(|height| n_told(height, &[], |_| ()));
        println!("of 100 with waves of none, half and all of the noise's deviation: {counts:?}");
        let [none, half, all] = counts;
        assert!(none <= 4 && half >= 90 && all == 100, "{counts:?}");
        assert!(!has_waves(&[], &[], |_| ()));
        let rounding: Vec<f64> = residuals(4.0, 1).iter().map(|residual| 1e-8 * residual).collect();
        assert!(!has_waves(&rounding, &[], |_| ()), "nothing is left");
    }

    /// The same wave where steps make it, or noise in starts.
    #[test]
    fn waves_that_are_explained_are_none() {
        let by_steps = |times| n_told(1.0, &[], move |left| left.by_steps = Some(wave(times)));
        let by_starts = n_told(1.0, &[], |left| left.by_starts = vec![wave(0.1), wave(1.2)]);
        let by_numbers = n_told(1.0, &[0.1, 1.2], |_| ());
        let counts = [by_steps(1.0), by_steps(1.2), by_steps(0.2), by_starts];
        assert!(counts[0] <= 4 && counts[1] <= 4 && counts[2] == 100, "{counts:?}");
        assert!(by_starts <= 4 && by_numbers <= 4, "{counts:?}, {by_numbers}");
    }
}
