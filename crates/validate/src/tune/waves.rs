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

use headland_base::maths::{dot, sqrt};
use headland_base::{Diagnostic, Seed};
use headland_sense::noise::Dice;

use crate::fit::dense::{Columns, root};
use crate::fit::student::quantile;
use crate::fit::sureness::Worth;

/// What a model leaves, and what is known of where it comes from.
pub(super) struct Left<'a> {
    pub residuals: &'a [f64],
    /// How many are of each signal.
    pub n_samples: Vec<usize>,
    /// What of it steps make.
    pub by_steps: Option<Vec<f64>>,
    /// What the noise of starts may make of it, one for each start that was drawn.
    pub by_starts: Vec<Vec<f64>>,
    /// What numbers make of it that noise has moved, one for each noise that was drawn.
    pub by_numbers: Vec<Vec<f64>>,
}

/// So often noise is drawn anew: the most of them is what one in fifty is beyond.
const N_NOISES: usize = 48;

/// What numbers make of noise as large as what is left of each signal. Only how noise pulls at the
/// numbers is drawn, `Jᵀ·noise`: to draw all of it took as long as ten simulations of an arm.
pub(super) fn moved_by_noise(
    residuals: &[f64],
    n_samples: &[usize],
    slopes: &Columns,
    worth: &Worth,
) -> Vec<Vec<f64>> {
    let mut spread = vec![vec![0.0; slopes.len()]; slopes.len()];
    let mut first = 0;
    for &n in n_samples {
        let signal = first..first + n;
        first += n;
        let own = &residuals[signal.clone()];
        let square = dot(own, own) / n.max(1) as f64;
        for (i, a) in slopes.iter().enumerate() {
            for (j, b) in slopes.iter().enumerate().skip(i) {
                spread[i][j] += square * dot(&a[signal.clone()], &b[signal.clone()]);
            }
        }
    }
    let root = root(&spread);
    let mut dice = Dice::new(&Seed::new(0).child("noise"));
    let mut drawn = || {
        let mut pull = vec![0.0; slopes.len()];
        for column in &root {
            let part = dice.normal();
            pull.iter_mut().zip(column).for_each(|(pull, entry)| *pull += part * entry);
        }
        let mut moved = vec![0.0; residuals.len()];
        for (gone, column) in worth.answer_to(&pull).iter().zip(slopes) {
            moved.iter_mut().zip(column).for_each(|(moved, slope)| *moved += gone * slope);
        }
        moved
    };
    (0..N_NOISES).map(|_| drawn()).collect()
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
    /// The samples of each signal.
    pub fn signals(&self) -> Vec<Range<usize>> {
        let mut first = 0;
        let ends = self.n_samples.iter().map(|n| {
            first += n;
            first - n..first
        });
        ends.collect()
    }

    /// What is left without what steps make.
    pub fn without_steps(&self) -> Vec<f64> {
        let steps = self.by_steps.as_deref().unwrap_or(&[]).iter().chain(std::iter::repeat(&0.0));
        self.residuals.iter().zip(steps).map(|(left, step)| left - step).collect()
    }

    /// Whether what is left of any signal may for a good part be the noise of a start, or that of
    /// another signal by way of the numbers.
    pub fn is_carried_over(&self) -> bool {
        let square = |values: &[f64]| dot(values, values);
        self.signals().into_iter().any(|signal| {
            let own = square(&self.residuals[signal.clone()]);
            let draws = self.by_numbers.iter().chain(&self.by_starts);
            let draws = draws.map(|draw| square(&draw[signal.clone()]));
            draws.fold(0.0, f64::max) > CARRIED_OVER * own
        })
    }

    /// Whether waves are left of any signal that are neither chance nor explained.
    pub fn has_waves(&self) -> bool {
        let signals = self.signals();
        let n_tests: usize = signals.iter().map(|signal| lengths(signal.len()).count()).sum();
        let level = 1.0 - FALSE_ALARMS / n_tests.max(1) as f64;
        let left = self.without_steps();
        signals.into_iter().any(|signal| self.waves_in(&left, signal, level))
    }

    fn waves_in(&self, left: &[f64], signal: Range<usize>, level: f64) -> bool {
        let left = &left[signal.clone()];
        let by_steps = self.by_steps.as_ref().map(|all| &all[signal.clone()]);
        let square = |values: &[f64]| dot(values, values) / values.len().max(1) as f64;
        let least = f64::max(LITTLE * square(left), NOTHING * NOTHING);
        lengths(left.len()).any(|length| {
            let means = |values: &[f64]| -> Vec<f64> {
                let chunks = values.chunks_exact(length);
                chunks.map(|chunk| chunk.iter().sum::<f64>() / length as f64).collect()
            };
            let left = means(left);
            let steps = by_steps.map_or(0.0, |steps| square(&means(steps)));
            let most = |draws: &[Vec<f64>]| {
                let alike = draws.iter().map(|draw| alike(&means(&draw[signal.clone()])));
                alike.fold(0.0, f64::max)
            };
            let explained = STEPS_UNSURE * STEPS_UNSURE * steps
                + most(&self.by_starts)
                + most(&self.by_numbers);
            let waves = alike(&left) - explained;
            let (share, degrees) = (waves / square(&left), left.len() as f64 - 2.0);
            let t = share * sqrt(degrees / (1.0 - share * share).max(f64::MIN_POSITIVE));
            waves > least && t > quantile(level, degrees)
        })
    }
}

/// How alike neighbours are: the mean of their products.
fn alike(values: &[f64]) -> f64 {
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
    use headland_base::maths::sin;

    use super::*;

    const N: usize = 500;

    /// One signal of noise, and one with a slow wave under it.
    fn residuals(height: f64, seed: u64) -> Vec<f64> {
        let mut dice = Dice::new(&Seed::new(seed));
        let wave = |i: usize| if i < N { 0.0 } else { height * sin(i as f64 * 0.05) };
        (0..2 * N).map(|i| dice.normal() + wave(i)).collect()
    }

    fn left(residuals: &[f64]) -> Left<'_> {
        Left {
            residuals,
            n_samples: vec![N, N],
            by_steps: None,
            by_starts: Vec::new(),
            by_numbers: Vec::new(),
        }
    }

    /// How many of a hundred have waves.
    fn n_told(height: f64, explain: impl Fn(&mut Left<'_>)) -> usize {
        let is_told = |seed: &u64| {
            let residuals = residuals(height, *seed);
            let mut left = left(&residuals);
            explain(&mut left);
            left.has_waves()
        };
        (0..100).filter(is_told).count()
    }

    #[test]
    fn waves_are_told_from_noise() {
        let counts = [0.0, 0.5, 1.0].map(|height| n_told(height, |_| ()));
        println!("of 100 with waves of none, half and all of the noise's deviation: {counts:?}");
        let [none, half, all] = counts;
        assert!(none <= 4 && half >= 90 && all == 100, "{counts:?}");
        let nothing = Left { n_samples: Vec::new(), ..left(&[]) };
        assert!(!nothing.has_waves());
        let rounding: Vec<f64> = residuals(4.0, 1).iter().map(|residual| 1e-8 * residual).collect();
        assert!(!left(&rounding).has_waves(), "nothing is left");
    }

    /// The same wave where steps make it, or noise in starts.
    #[test]
    fn waves_that_are_explained_are_none() {
        let wave = |times: f64| -> Vec<f64> {
            let at = |i: usize| if i < N { 0.0 } else { times * sin(i as f64 * 0.05) };
            (0..2 * N).map(at).collect()
        };
        let by_steps = |times| n_told(1.0, move |left| left.by_steps = Some(wave(times)));
        let by_starts = n_told(1.0, |left| left.by_starts = vec![wave(0.1), wave(1.2)]);
        let by_numbers = n_told(1.0, |left| left.by_numbers = vec![wave(0.1), wave(1.2)]);
        let counts = [by_steps(1.0), by_steps(1.2), by_steps(0.2), by_starts];
        assert!(counts[0] <= 4 && counts[1] <= 4 && counts[2] == 100, "{counts:?}");
        assert!(by_starts <= 4 && by_numbers <= 4, "{counts:?}, {by_numbers}");
    }
}
