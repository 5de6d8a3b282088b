//! A search that ended where the model does not fit, tried again from other delays.
//!
//! A delay that is looked for while the other numbers are wrong is found wrong, and they after
//! it: slopes lead into the nearest dip, which is a bad answer with narrow intervals. Such an
//! answer shows in what it leaves. Noise differs from sample to sample; what a wrong model leaves
//! comes in waves, where every sample is like the one before it. A search that leaves waves is
//! begun anew from delays all over their range, a few rounds each, and the best of these carried
//! to its end. Where waves are all that can be had, as with most real robots, that costs time and
//! changes nothing.

use std::ops::ControlFlow;

use headland_base::maths::dot;
use headland_world::parameter::Parameter;

use super::saved::lm_options;
use super::waves::NOTHING;
use super::{Tuning, Wanted};
use crate::fit::marquardt::{Linear, Search};
use crate::fit::sureness::Moment;
use crate::fit::{BrokenOff, Ended, Evaluate, Problem};

/// From so many delays.
const N_DELAYS: usize = 8;

/// With so many rounds of slopes each.
const N_ROUNDS: usize = 4;

/// What gains less than this share of the error is the same place.
const SAME: f64 = 1e-3;

/// Which number is the delay of commands, where it is sought.
pub(super) fn delay_of(tuning: &Tuning<'_>) -> Option<usize> {
    let is_delay = |wanted: &Wanted| wanted.parameters.iter().any(Parameter::is_command_delay);
    tuning.wanted.iter().position(is_delay)
}

/// Looks elsewhere, where a search that has ended left waves. It takes the place of the search
/// where it is better; the slopes of its last round come back, or those there were.
pub(super) fn look_elsewhere(
    search: &mut Search,
    linear: Option<Linear>,
    tuning: &Tuning<'_>,
    crew: &mut dyn Evaluate,
    most_evaluations: usize,
    watch: &mut dyn FnMut(&Search) -> ControlFlow<()>,
) -> Option<Linear> {
    let is_here = search.ended.is_some_and(Ended::is_converged);
    let Some(delay) = delay_of(tuning).filter(|_| is_here && !search.is_compared) else {
        return linear;
    };
    let n_before = search.n_evaluations;
    match found_elsewhere(search, linear.as_ref(), delay, tuning, crew, most_evaluations, watch) {
        // It is looked for again from the first delay on, where the search goes on.
        Err(BrokenOff) => {
            search.leave_out_since(n_before);
            linear
        }
        Ok(found) => {
            let linear = found.map_or(linear, |(better, linear)| {
                *search = better;
                linear
            });
            search.is_compared = true;
            linear
        }
    }
}

/// The better search and the slopes of its last round.
type Better = (Search, Option<Linear>);

fn found_elsewhere(
    search: &mut Search,
    linear: Option<&Linear>,
    delay: usize,
    tuning: &Tuning<'_>,
    crew: &mut dyn Evaluate,
    most_evaluations: usize,
    watch: &mut dyn FnMut(&Search) -> ControlFlow<()>,
) -> Result<Option<Better>, BrokenOff> {
    let residuals = match linear {
        Some(linear) => Some(linear.residuals.clone()),
        None => crew.one(search.best().0)?,
    };
    if !residuals.is_some_and(|residuals| has_strong_waves(&residuals, tuning.moments())) {
        return Ok(None);
    }
    let (bounds, options) = (tuning.bounds(), lm_options(tuning, most_evaluations));
    let (lower, upper) = (bounds.lower[delay], bounds.upper[delay]);
    let n_before = search.n_evaluations;
    let mut best: Option<Search> = None;
    for k in 0..N_DELAYS {
        if search.n_evaluations >= most_evaluations {
            return Err(BrokenOff);
        }
        let mut start = tuning.start();
        start[delay] = lower + (upper - lower) * (k as f64 + 0.5) / N_DELAYS as f64;
        let mut other = Search::new(&start, &bounds);
        other.n_evaluations = search.n_evaluations;
        let mut is_stopped = false;
        let mut few = |now: &Search| {
            // As it is put away: these points are evaluated again.
            let mut begun = search.clone();
            begun.n_evaluations = now.n_evaluations;
            begun.leave_out_since(n_before);
            is_stopped = watch(&begun).is_break();
            let is_enough = is_stopped || now.n_rounds >= N_ROUNDS;
            if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        other.run(crew, &bounds, &options, &mut few);
        search.n_evaluations = other.n_points();
        if is_stopped || tuning.is_broken_off() || other.ended == Some(Ended::TooMany) {
            return Err(BrokenOff);
        }
        let cost = |search: &Search| search.best().1.unwrap_or(f64::INFINITY);
        let to_beat = best.as_ref().map_or(cost(search) * (1.0 - SAME), cost);
        if cost(&other) < to_beat {
            best = Some(other);
        }
    }
    let Some(mut best) = best else { return Ok(None) };
    best.come_after(search);
    best.is_compared = true; // also where it is put away on the way
    let linear = best.run(crew, &bounds, &options, watch);
    Ok(Some((best, linear)))
}

/// Whether the residuals of any signal are like their neighbours in time: the mean square of what
/// lies between two is far less than the twice their own that noise has (von Neumann, 1941). By
/// signal, for velocities jump with every command while positions go in waves.
pub(super) fn has_strong_waves(residuals: &[f64], moments: &[Moment]) -> bool {
    let mut first = 0;
    // Signals stand one after the other, each from its first moment to its last.
    moments.chunk_by(|a, b| a < b).any(|signal| {
        let own = &residuals[first..first + signal.len()];
        first += signal.len();
        let between: f64 =
            own.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0])).sum();
        let squares = dot(own, own);
        squares > NOTHING * NOTHING * own.len() as f64 && between < WAVES * squares
    })
}

/// A tenth of what noise has. Of the shipped arm at its own step it is a quarter, all of it by steps,
/// which are not known on the way of a search; `waves` asks closer when it is over.
const WAVES: f64 = 0.2;

#[cfg(test)]
mod tests {
    use headland_base::Seed;
    use headland_base::maths::sin;
    use rand_chacha::rand_core::Rng;

    use super::*;

    /// Two signals of the same moments: one that is noise, and one that may be a wave under as
    /// much noise.
    #[test]
    fn strong_waves_are_told_from_noise_by_signal() {
        let mut dice = Seed::new(5).rng();
        let mut noise = || f64::from(dice.next_u32()) / f64::from(u32::MAX) - 0.5;
        let moments: Vec<Moment> =
            (0..2).flat_map(|_| (0..500).map(|i| Moment { series: 0, at_nanos: i })).collect();
        let mut residuals = |height: f64| -> Vec<f64> {
            let wave = |i: usize| if i < 500 { 0.0 } else { height * sin(i as f64 * 0.05) };
            (0..1000).map(|i| noise() + wave(i)).collect()
        };
        assert!(!has_strong_waves(&residuals(0.0), &moments));
        assert!(!has_strong_waves(&residuals(0.1), &moments), "less than the noise");
        assert!(has_strong_waves(&residuals(4.0), &moments));
        assert!(!has_strong_waves(&[], &[]));
        let rounding: Vec<f64> = residuals(4.0).iter().map(|residual| 1e-9 * residual).collect();
        assert!(!has_strong_waves(&rounding, &moments), "nothing is left");
    }
}
