//! What simulations about a point say of it: how sure every number is, how far steps and starts move
//! it, and whether what is left is noise.

use std::thread::ScopedJoinHandle;

use headland_base::maths::{dot, sqrt};

use super::carried::Carried;
use super::elsewhere::has_strong_waves;
use super::errors::Errors;
use super::missing::{Missing, missing};
use super::saved::lm_options;
use super::scan::{MOST_SURFACES, surfaces};
use super::starting_noise::{Draws, Noisier};
use super::waves::{Left, NOTHING, as_left, not_taken_up};
use super::{Method, Search, Tuning};
use crate::fit::dense::Columns;
use crate::fit::marquardt::Linear;
use crate::fit::sureness::{Moment, Worth, worth};
use crate::fit::{Bounds, BrokenOff, Counted, Ended, Evaluate, Problem, slopes};

/// What simulations say of a point.
pub(super) struct Looked {
    pub worth: Worth,
    /// How far each number would go if steps became ever shorter.
    pub shifts: Option<Vec<f64>>,
    /// See [`roughness`].
    pub roughness: Option<f64>,
    /// What is left is no noise.
    pub has_waves: bool,
    pub missing: Option<Missing>,
    /// Starts with more noise that could not be simulated.
    pub n_broken_starts: usize,
    /// The point of the given model.
    pub given: Vec<f64>,
    pub before: Option<Errors>,
    pub after: Option<Errors>,
    /// Simulations that no crew made.
    pub n_beside: usize,
    /// Simulations that were made again, of those that the search counts.
    pub n_again: usize,
}

pub(super) fn looked_at(
    tuning: &Tuning<'_>,
    search: &Search,
    linear: Option<Linear>,
    crew: &mut dyn Evaluate,
    confidence: f64,
) -> Result<Option<Looked>, BrokenOff> {
    let ((x, _), at) = (search.best(), search.sloped_at());
    let (linear, n_again) = match linear.filter(|linear| linear.sloped_at == at) {
        Some(linear) => (linear, 0),
        None => {
            let mut again = Counted::new(crew, 0, usize::MAX);
            let (Some(residuals), Some(there)) = (again.one(x)?, again.one(at)?) else {
                return Ok(None);
            };
            let options = lm_options(tuning, 0);
            let found = slopes::slopes(at, &there, &mut again, &tuning.bounds(), &options)?;
            let Some(slopes) = found else { return Ok(None) };
            // A search by slopes had them, and counted them, before it was put away.
            let n_again = if search.method() == Method::Lm { again.n } else { 0 };
            (Linear { residuals, sloped_at: at.to_vec(), slopes }, n_again)
        }
    };
    let Linear { residuals, slopes, .. } = linear;
    let residuals = &residuals;
    let n_threads = crew.n_threads();
    let given = tuning.given(crew, x)?;
    // What is all fitted was simulated as the model is, and at the best point.
    let known = |residuals: &Vec<f64>| tuning.sums_of(residuals);
    let is_known = tuning.sums_of(residuals).is_some();
    let both = || match [given.residuals.as_ref().and_then(known), known(residuals)] {
        [_, None] => tuning.sums([&given.x, x]),
        known => known,
    };
    // Of a search that goes on nobody is told how sure it is.
    let is_found = search.ended().is_some_and(Ended::is_converged);
    let is_left = dot(residuals, residuals) > NOTHING * NOTHING * residuals.len() as f64;
    let added = || match is_found && is_left {
        true => tuning.added(x, residuals),
        false => Default::default(),
    };
    let finer = || tuning.halved()?.alone(x);
    let looks = || {
        let draws = match is_found {
            true => tuning.noise_of_starts(x, residuals, n_threads),
            false => Ok(Draws::default()),
        };
        let around = |draws| looked_around(tuning, x, residuals, slopes, draws, crew, confidence);
        (draws.and_then(around), both())
    };
    // Twice as many steps and friction take twice as long each as a simulation of the crew: whoever
    // has threads does all at once.
    let (finer, (added, n_added), (around, [before, after])) = if n_threads > 1 {
        std::thread::scope(|scope| {
            let (finer, added) = (scope.spawn(finer), scope.spawn(added));
            let looked = looks();
            (joined(finer), joined(added), looked)
        })
    } else {
        (finer(), added(), looks())
    };
    let Around { slopes, worth, roughness, draws } = around?;
    if tuning.is_broken_off() {
        return Err(BrokenOff);
    }
    // Errors of steps go with the sum of their squares: where all are halved, and the sum with
    // them, what the halves change all of it changes twice.
    let by_steps = finer.map(|(finer, steps)| -> Vec<f64> {
        let times = tuning.steps.squares / (tuning.steps.squares - steps.squares);
        finer.iter().zip(residuals).map(|(f, r)| times * (r - f)).collect()
    });
    let shifts = by_steps.as_ref().map(|change| worth.answer(&slopes, change));
    let not_taken_up = |change: Vec<f64>| not_taken_up(change, &slopes, &worth);
    let signals = tuning.signal_ranges();
    let left = Left {
        residuals,
        signals: &signals,
        by_steps: by_steps.map(|change| as_left(not_taken_up(change), residuals)),
        by_starts: draws.told.iter().map(|noisier| not_taken_up(noisier.change.clone())).collect(),
        by_numbers: Carried::new(residuals, &signals, &slopes, &worth),
    };
    // Whoever only looks at neighbours does not know of noise that numbers have carried over.
    let is_strong = || has_strong_waves(residuals, tuning.moments()) && !left.is_carried_over();
    let has_waves = left.has_waves() || is_strong();
    let shift = |i: usize| shifts.as_ref().map_or(0.0, |shifts: &Vec<f64>| shifts[i].abs());
    let halves = worth.parameters.iter().enumerate();
    let halves: Vec<Option<f64>> =
        halves.map(|(i, sureness)| Some(sureness.half_width? + shift(i))).collect();
    let missing = missing(tuning, &left, &added, (&slopes, &worth), &halves);
    let n_beside = n_added
        + draws.n_simulations
        + usize::from(shifts.is_some())
        + if is_known { 0 } else { 2 };
    let (given, n_broken_starts) = (given.x, draws.n_failed);
    Ok(Some(Looked {
        worth,
        shifts,
        roughness,
        has_waves,
        missing,
        n_broken_starts,
        given,
        before,
        after,
        n_beside,
        n_again,
    }))
}

/// What a thread made; a panic on it is the caller's.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// So often slopes are taken again over a longer way.
const MOST_LONGER: usize = 3;

/// What lies around a point.
struct Around {
    slopes: Columns,
    worth: Worth,
    /// See [`roughness`].
    roughness: Option<f64>,
    draws: Draws,
}

/// What a point is worth, by slopes that hold as far as its intervals go. Those of a search are
/// taken over next to nothing. Where contacts jump they are the slopes between two jumps, and
/// intervals by them as narrow as these are steep; so where the error does not rise as they say
/// they are taken again, over as much as each number may be off.
fn looked_around(
    tuning: &Tuning<'_>,
    x: &[f64],
    residuals: &[f64],
    mut slopes: Columns,
    draws: Draws,
    crew: &mut dyn Evaluate,
    confidence: f64,
) -> Result<Around, BrokenOff> {
    let bounds = tuning.bounds();
    let moments = (tuning.moments(), tuning.plan.options.window.is_some());
    // Where they were looked for anew.
    let surfaces = surfaces(tuning);
    let surfaces = if surfaces.len() > MOST_SURFACES { Vec::new() } else { surfaces };
    let mut n_longer = 0;
    // Between two jumps of a contact the error may be even, and rough about them.
    let least = tuning.least_of_surfaces();
    if least.iter().any(|least| *least > 0.0)
        && let Some(longer) = slopes_over(tuning, x, residuals, &least, crew)?
    {
        slopes = longer;
    }
    loop {
        let mut worth = worth(x, &bounds, residuals, &slopes, moments, confidence);
        let answer = |noisier: &Noisier| {
            let mut answer = worth.answer(&slopes, &noisier.change);
            surfaces.iter().for_each(|i| answer[*i] = noisier.gone[*i]);
            answer
        };
        let answers: Vec<Vec<f64>> = draws.told.iter().map(answer).collect();
        let mut shown = shown(x, &bounds, &slopes, tuning.moments(), &worth, &draws.told);
        surfaces.iter().for_each(|i| shown[*i] = 0.0);
        worth.heed_starts(&answers, &shown, confidence);
        let times = roughness(tuning, x, residuals, &worth, crew)?;
        if n_longer == MOST_LONGER || times.is_none_or(is_even) {
            return Ok(Around { slopes, worth, roughness: times, draws });
        }
        let far = |i: usize| {
            let most = 0.25 * bounds.width(i, x[i]);
            worth.parameters[i].standard_error.min(most).max(least[i])
        };
        let far: Vec<f64> = (0..x.len()).map(far).collect();
        n_longer += 1;
        match slopes_over(tuning, x, residuals, &far, crew)? {
            Some(longer) => slopes = longer,
            None => n_longer = MOST_LONGER,
        }
    }
}

/// The variance of each estimate that residuals would tell if there were no noise but that of
/// starts: by what of their change no estimate takes up.
fn shown(
    x: &[f64],
    bounds: &Bounds,
    slopes: &Columns,
    moments: &[Moment],
    around: &Worth,
    draws: &[Noisier],
) -> Vec<f64> {
    let mut sums = vec![0.0; x.len()];
    for noisier in draws {
        let rest = not_taken_up(noisier.change.clone(), slopes, around);
        let told = worth(x, bounds, &rest, slopes, (moments, false), 0.95);
        let each = sums.iter_mut().zip(&told.parameters);
        each.for_each(|(sum, sure)| *sum += sure.standard_error * sure.standard_error);
    }
    let n = draws.len().max(1) as f64;
    sums.into_iter().map(|sum| sum / n).collect()
}

/// Slopes over at least so much of each number, to both sides.
fn slopes_over(
    tuning: &Tuning<'_>,
    x: &[f64],
    residuals: &[f64],
    least: &[f64],
    crew: &mut dyn Evaluate,
) -> Result<Option<Columns>, BrokenOff> {
    let mut options = lm_options(tuning, 0);
    options.is_central = true;
    let each = options.difference.iter_mut().zip(least);
    each.for_each(|(difference, least)| *difference = difference.max(*least));
    slopes::slopes(x, residuals, crew, &tuning.bounds(), &options)
}

/// Whether the error rises about as much as slopes say.
pub(super) fn is_even(times: f64) -> bool {
    (0.2..=5.0).contains(&times)
}

/// How many times as much as its slopes say the error rises at two points to either side of the
/// best one, about as far as intervals go: about once where these are worth what they say. Infinite
/// where there is nothing to simulate, negative where it falls.
fn roughness(
    tuning: &Tuning<'_>,
    x: &[f64],
    residuals: &[f64],
    worth: &Worth,
    crew: &mut dyn Evaluate,
) -> Result<Option<f64>, BrokenOff> {
    let bounds = tuning.bounds();
    // Each number as far as it may be, with what goes with it of the others; all of them at once,
    // so that two simulations tell.
    let mut way = vec![0.0; x.len()];
    for (i, column) in worth.covariance.iter().enumerate().filter(|(i, c)| c[*i] > 0.0) {
        // The way on, not back, where estimates go against each other.
        let sign = if way[i] < 0.0 { -1.0 } else { 1.0 };
        way.iter_mut().zip(column).for_each(|(way, c)| *way += sign * c / sqrt(column[i]));
    }
    let times = 2.0 / sqrt(x.len() as f64);
    let points = [times, -times].map(|times| {
        let point: Vec<f64> = x.iter().zip(&way).map(|(x, way)| x + times * way).collect();
        bounds.nearest(&point)
    });
    let gone = |point: &Vec<f64>| -> Vec<f64> { point.iter().zip(x).map(|(p, x)| p - x).collect() };
    let expected: f64 = points.iter().map(|point| worth.rise(&gone(point))).sum();
    // Where nothing rises by its slopes there is nothing to compare with.
    if expected.is_nan() || expected <= 0.0 {
        return Ok(None);
    }
    let (mut risen, least) = (0.0, dot(residuals, residuals));
    for found in crew.all(points.to_vec())? {
        risen += found.map_or(f64::INFINITY, |there| dot(&there, &there)) - least;
    }
    Ok(Some(risen / expected))
}
