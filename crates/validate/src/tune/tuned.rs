//! What tuning gives: every number before and after, with how sure it is, and every error.

use std::sync::Arc;

use headland_base::Diagnostic;
use headland_base::maths::{dot, sqrt};
use headland_world::parameter::Subject;

use super::curves::units;
use super::derived::{Derived, derived};
use super::elsewhere::has_strong_waves;
use super::missing::{Missing, SOMETHING_MISSING, missing};
use super::residuals::{Scale, Used};
use super::saved::lm_options;
use super::scan::{MOST_SURFACES, surfaces};
use super::starting_noise::{Draws, Noisier, STARTS_UNSURE, draws_failed};
use super::starts::START_ASSUMED;
use super::waves::{Left, NOTHING, as_left, not_taken_up, waves_left};
use super::{Course, Method, Search, Tuning};
use crate::fit::dense::Columns;
use crate::fit::marquardt::Linear;
use crate::fit::sureness::{Moment, Worth, warnings, worth};
use crate::fit::{Bounds, BrokenOff, Counted, Ended, Evaluate, Problem, slopes};
use crate::infer::is_angle;
use crate::{Experiment, Replay};

/// One number that was sought.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedNumber {
    /// Its path.
    pub name: String,
    /// What it is measured in.
    pub unit: String,
    /// What the model said; nothing where it said nothing, several where a path names several
    /// that differ.
    pub before: Vec<f64>,
    /// What fits best.
    pub value: f64,
    /// Half the width of its interval, with what steps move it by; nothing where the data does
    /// not bound it.
    pub half_width: Option<f64>,
    /// The same of an interval wide enough that it and those of all other numbers of the model
    /// hold the truth at once; nothing where there is but one number, and for a start.
    pub joint_half_width: Option<f64>,
    /// What it would be if residuals were independent and steps exact.
    pub textbook_half_width: Option<f64>,
    /// How far it would go if steps became ever shorter; nothing where nobody could tell.
    pub step_shift: Option<f64>,
    /// Where it was sought.
    pub lower: f64,
    /// Where it was sought.
    pub upper: f64,
    /// It is of the start of a recording, not of the model.
    pub is_start: bool,
}

/// How far a key is off, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyError {
    /// The recording.
    pub course: String,
    /// The key.
    pub key: String,
    /// Its unit, where it is known.
    pub unit: String,
    /// What its residuals were divided by.
    pub scale: f64,
    /// Root mean square error over what was fitted, before and after.
    pub fitted: Option<(f64, f64)>,
    /// The same over what was held out.
    pub held_out: Option<(f64, f64)>,
    /// Samples fitted and held out.
    pub n_samples: (usize, usize),
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The world and settings with the values found.
    pub subject: Subject,
    /// What was sought, in the order of the search.
    pub numbers: Vec<TunedNumber>,
    /// What follows from it.
    pub derived: Vec<Derived>,
    /// Every key of every recording.
    pub errors: Vec<KeyError>,
    /// Root mean square of all weighted residuals that were fitted: of the given model from the
    /// start that fits it best, and of the tuned one.
    pub rms: (Option<f64>, f64),
    /// The point of the given model: no numbers for its own, then where recordings start.
    pub given: Vec<f64>,
    /// Residuals that were fitted.
    pub n_residuals: usize,
    /// Points that were evaluated in the search.
    pub n_evaluations: usize,
    /// Simulations that looked at its answer: intervals, what steps do to it, and the given model.
    pub n_after: usize,
    /// Why it ended; nothing where it was interrupted.
    pub ended: Option<Ended>,
    /// A parameter at its bound, one the data cannot see.
    pub warnings: Vec<Diagnostic>,
    /// How sure intervals are to hold the truth.
    pub confidence: f64,
    /// The rest of what is known of it; nothing where the search was broken off.
    pub worth: Option<Worth>,
}

/// Warnings that say that the answer is not to be trusted: the best values may be elsewhere, or
/// intervals do not say how far off they are.
pub const UNTRUSTED: &[&str] = &[
    "worse-than-given",
    "at-bound",
    "not-seen",
    "rough-error",
    "waves-left",
    SOMETHING_MISSING,
    "no-better-than-mean",
    STARTS_UNSURE,
    START_ASSUMED,
];

impl Tuned {
    /// Whether the search has ended by itself and nothing says that its answer is not to be
    /// trusted.
    pub fn is_trusted(&self) -> bool {
        let is_found = self.worth.is_some() && self.ended.is_some_and(Ended::is_converged);
        is_found && self.warnings.iter().all(|warning| !UNTRUSTED.contains(&warning.code))
    }
}

/// Looks at the best point of a search: errors, slopes, intervals. `linear` is what the search
/// came back with. Nothing where the model cannot be simulated there, or no point is known yet;
/// of a search that was broken off, the numbers alone.
pub fn tuned(
    tuning: &Tuning<'_>,
    search: &Search,
    linear: Option<Linear>,
    crew: &mut dyn Evaluate,
    confidence: f64,
) -> Option<Tuned> {
    let (x, cost) = search.best();
    let n_residuals = tuning.moments().len();
    let mut crew = Counted::new(crew, 0, usize::MAX);
    let looked = match looked_at(tuning, search, linear, &mut crew, confidence) {
        Ok(looked) => Some(looked?),
        Err(BrokenOff) => None,
    };
    let worth = looked.as_ref().map(|looked| &looked.worth);
    let shifts = looked.as_ref().and_then(|looked| looked.shifts.as_ref());
    let (names, bounds) = (tuning.names(), tuning.bounds());
    // On the way slopes say nothing of where it will end.
    let is_found = search.ended().is_some_and(Ended::is_converged);
    let derived = derived(tuning, x, worth.filter(|_| is_found), shifts, confidence);
    // What stands in one table holds at once.
    let n_together = tuning.wanted.len() + derived.len();
    let number = |i: usize| {
        let wanted = tuning.wanted.get(i);
        let sureness = worth.map(|worth| &worth.parameters[i]);
        let step_shift = shifts.map(|shifts| shifts[i]);
        let moved = step_shift.map_or(0.0, f64::abs);
        let (unit, before) = match wanted {
            Some(wanted) => (units_of(tuning, wanted), before(tuning, wanted)),
            None => {
                let start = &tuning.starts[i - tuning.wanted.len()];
                (start.unit.to_string(), vec![tuning.start()[i]])
            }
        };
        TunedNumber {
            name: names[i].clone(),
            unit,
            before,
            value: x[i],
            half_width: sureness
                .filter(|_| is_found)
                .and_then(|sureness| sureness.half_width)
                .map(|half| half + moved),
            joint_half_width: sureness
                .filter(|_| is_found && n_together > 1 && wanted.is_some())
                .and_then(|sureness| sureness.joint_half_width(confidence, n_together))
                .map(|half| half + moved),
            textbook_half_width: sureness
                .filter(|_| is_found)
                .and_then(|sureness| sureness.textbook_half_width),
            step_shift,
            lower: bounds.lower[i],
            upper: bounds.upper[i],
            is_start: wanted.is_none(),
        }
    };
    let numbers: Vec<TunedNumber> = (0..x.len()).map(number).collect();
    let mut told = tuning.assumed.clone();
    if let Some(worth) = worth {
        let said = |(code, text): (&'static str, String)| Diagnostic::warning(code, text);
        // As they are told, with all that widened them.
        let halves: Vec<Option<f64>> = numbers.iter().map(|number| number.half_width).collect();
        let all = warnings((&names, x), &tuning.start(), &bounds, worth, &halves);
        told.extend(all.into_iter().map(said));
    }
    let rms_after = sqrt(cost? / n_residuals.max(1) as f64);
    let rms_before = looked.as_ref().and_then(|looked| Some(tuning.rms(looked.before.as_ref()?)));
    told.extend(rms_before.and_then(|before| worse(before, rms_after)));
    // A key that does not change has no deviation to count in, and windows start from noise.
    let has_deviations = tuning.scales.iter().all(|(_, scale)| *scale != Scale::Constant);
    if has_deviations && tuning.plan.options.window.is_none() && rms_after >= 1.0 {
        told.push(no_better_than_mean(rms_after));
    }
    if let Some(worth) = worth.filter(|_| is_found) {
        told.extend(coarse_step(tuning, &numbers, worth));
        // Where nothing is left there is nothing but rounding to be rough.
        let is_left = rms_after > NOTHING;
        let roughness = looked.as_ref().and_then(|looked| looked.roughness.filter(|_| is_left));
        told.extend(roughness.and_then(|times| rough_error(search.method(), times)));
        told.extend(looked.as_ref().filter(|looked| looked.has_waves).map(|_| waves_left()));
        let missing = looked.as_ref().and_then(|looked| looked.missing.as_ref());
        told.extend(missing.map(Missing::told));
        told.extend(looked.as_ref().and_then(|looked| draws_failed(looked.n_broken_starts)));
    }
    let (before, after) = looked.as_ref().map_or((&None, &None), |l| (&l.before, &l.after));
    Some(Tuned {
        derived,
        errors: tuning.errors(before.as_ref(), after.as_ref()),
        rms: (rms_before, rms_after),
        given: looked.as_ref().map_or_else(|| tuning.untuned(), |looked| looked.given.clone()),
        n_residuals,
        n_evaluations: search.n_evaluations(),
        n_after: looked.as_ref().map_or(crew.n, |l| crew.n + l.n_beside - l.n_again),
        ended: search.ended(),
        warnings: told,
        confidence,
        subject: tuning.subject_at(x).ok()?,
        numbers,
        worth: looked.map(|looked| looked.worth),
    })
}

/// Errors are in standard deviations of their keys, so a model that says nothing but the mean has 1.
fn no_better_than_mean(rms: f64) -> Diagnostic {
    let message = format!(
        "what the tuned model leaves is {rms:.3} standard deviations: the mean of what was measured \
         says as much"
    );
    Diagnostic::warning("no-better-than-mean", message)
        .help("is it the right model, table and start? `headland validate` shows both over another")
}

/// What simulations say of a point.
struct Looked {
    worth: Worth,
    /// How far each number would go if steps became ever shorter.
    shifts: Option<Vec<f64>>,
    /// See [`roughness`].
    roughness: Option<f64>,
    /// What is left is no noise.
    has_waves: bool,
    missing: Option<Missing>,
    /// Starts with more noise that could not be simulated.
    n_broken_starts: usize,
    /// The point of the given model.
    given: Vec<f64>,
    before: Option<Errors>,
    after: Option<Errors>,
    /// Simulations that no crew made.
    n_beside: usize,
    /// Simulations that were made again, of those that the search counts.
    n_again: usize,
}

fn looked_at(
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
    let finer = || tuning.halved()?.alone(x);
    // Of a search that goes on nobody is told how sure it is.
    let is_found = search.ended().is_some_and(Ended::is_converged);
    let is_left = dot(residuals, residuals) > NOTHING * NOTHING * residuals.len() as f64;
    let (added, n_added) =
        if is_found && is_left { tuning.added(x, residuals) } else { Default::default() };
    let looks = || {
        let draws = match is_found {
            true => tuning.noise_of_starts(x, residuals, n_threads),
            false => Ok(Draws::default()),
        };
        let around = |draws| looked_around(tuning, x, residuals, slopes, draws, crew, confidence);
        (draws.and_then(around), both())
    };
    // Twice as many steps take as long as the two other simulations on as many threads.
    let (finer, (around, [before, after])) = if n_threads > 1 {
        std::thread::scope(|scope| {
            let finer = scope.spawn(finer);
            let looked = looks();
            let finer = finer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (finer, looked)
        })
    } else {
        (finer(), looks())
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
    let left = Left {
        residuals,
        n_samples: tuning.n_samples(),
        by_steps: by_steps.map(|change| as_left(not_taken_up(change), residuals)),
        by_starts: draws.told.iter().map(|noisier| not_taken_up(noisier.change.clone())).collect(),
    };
    let has_waves = has_strong_waves(residuals, tuning.moments()) || left.has_waves();
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
fn is_even(times: f64) -> bool {
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

/// What to say where the error is no parabola within the intervals.
fn rough_error(method: Method, times: f64) -> Option<Diagnostic> {
    if is_even(times) {
        return None;
    }
    let what = match times {
        times if times.is_infinite() => "cannot be simulated everywhere".to_string(),
        times if times < 0.0 => "falls where slopes say that it rises".to_string(),
        times => format!("rises {times:.1} times as much as slopes say"),
    };
    let message = format!(
        "within the intervals the error {what}: it is rough or bent there, and the intervals are \
         not to be trusted"
    );
    let help = match method {
        Method::Lm => {
            "joints that stick and contacts that jump do that; `--method cma` needs no \
                       slopes, `--window` keeps simulations near what was measured"
        }
        Method::Cma => {
            "joints that stick and contacts that jump do that; `--window` keeps \
                        simulations near what was measured, other values of --seed show how far \
                        searches differ"
        }
    };
    Some(Diagnostic::warning("rough-error", message).help(help))
}

/// What to say where no value that was tried is as good as what the model had.
fn worse(before: f64, after: f64) -> Option<Diagnostic> {
    // Both are sums over the same samples; what rounding makes is no difference.
    (after > before * (1.0 + 1e-6)).then(|| {
        let message = format!(
            "the model as it was given fits better: its error is {before:.6}, and {after:.6} with \
             the best values that were found"
        );
        Diagnostic::warning("worse-than-given", message).help(
            "widen the bounds so that they hold the model's own values, and give `--most` more",
        )
    })
}

/// What a number is measured in. A star may name what turns and what slides: then every unit once.
fn units_of(tuning: &Tuning<'_>, wanted: &super::Wanted) -> String {
    let mut all: Vec<&str> = Vec::new();
    for unit in wanted.parameters.iter().map(|parameter| parameter.unit(&tuning.subject)) {
        if !all.contains(&unit) {
            all.push(unit);
        }
    }
    all.join(", ")
}

/// What the model said of a number, every value once.
fn before(tuning: &Tuning<'_>, wanted: &super::Wanted) -> Vec<f64> {
    let all = wanted.parameters.iter().filter_map(|parameter| parameter.get(&tuning.subject));
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// What to say where steps move numbers further than noise does.
fn coarse_step(tuning: &Tuning<'_>, numbers: &[TunedNumber], worth: &Worth) -> Option<Diagnostic> {
    if numbers.iter().all(|number| number.step_shift.is_none()) {
        let half = tuning.halved()?.step();
        let message = format!(
            "how far steps move the numbers could not be told: the simulation with steps of {half} \
             broke; intervals heed noise alone"
        );
        let help = format!("see it break: headland validate --step {}", half.secs());
        return Some(Diagnostic::warning("step-error", message).help(help));
    }
    let far = |number: &TunedNumber, half: Option<f64>| Some(number.step_shift?.abs() / half?);
    let sought = numbers.iter().zip(&worth.parameters).filter(|(number, _)| !number.is_start);
    let moved: Vec<(&TunedNumber, f64)> = sought
        .filter_map(|(number, sure)| Some((number, far(number, sure.half_width)?)))
        .filter(|(_, share)| *share > 1.0)
        .collect();
    let (worst, share) = moved.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let message = format!(
        "steps of {} move {} of {} numbers further than noise does, `{}` most: by about {:.1e}, \
         {share:.1} times its interval; intervals were widened by it",
        tuning.steps.longest,
        moved.len(),
        tuning.wanted.len(),
        worst.name,
        worst.step_shift.unwrap_or(0.0).abs(),
    );
    let help = "a smaller --step makes them narrow; so does --integrator rk4 on the native engine, \
                where there is neither dry friction nor contact";
    Some(Diagnostic::warning("step-error", message).help(help))
}

impl Tuning<'_> {
    /// Every key of every course at two points.
    fn errors(&self, before: Option<&Errors>, after: Option<&Errors>) -> Vec<KeyError> {
        let units = units(self);
        let mut out = Vec::new();
        for (c, course) in self.courses.iter().enumerate() {
            for (s, signal) in course.experiment.signals.iter().enumerate() {
                let root = |sums: Option<&Errors>, is_held: bool| {
                    let sums = &sums?[c][s];
                    let (sum, n) = if is_held { sums.held_out } else { sums.fitted };
                    (n > 0).then(|| sqrt(sum / n as f64))
                };
                let both = |is_held: bool| Some((root(before, is_held)?, root(after, is_held)?));
                let counts = |sums: &Errors| (sums[c][s].fitted.1, sums[c][s].held_out.1);
                out.push(KeyError {
                    course: course.name.clone(),
                    key: signal.key.clone(),
                    unit: units[c][s].clone(),
                    scale: self.scale_of(&signal.key),
                    fitted: both(false),
                    held_out: both(true),
                    n_samples: after.map_or((0, 0), counts),
                });
            }
        }
        out
    }

    /// Root mean square of the weighted errors of what is fitted.
    fn rms(&self, errors: &Errors) -> f64 {
        let (mut sum, mut n) = (0.0, 0);
        for (course, errors) in self.courses.iter().zip(errors) {
            for (signal, sums) in course.experiment.signals.iter().zip(errors) {
                let scale = self.scale_of(&signal.key);
                sum += sums.fitted.0 / (scale * scale);
                n += sums.fitted.1;
            }
        }
        sqrt(sum / n.max(1) as f64)
    }

    /// How many residuals are of each signal, in their order.
    fn n_samples(&self) -> Vec<usize> {
        let n = |used: &Used| used.seen.iter().filter(|is_seen| **is_seen).count();
        self.signals.iter().flatten().map(n).collect()
    }

    /// The errors of every course by the residuals of a point; nothing where something is held out.
    fn sums_of(&self, residuals: &[f64]) -> Option<Errors> {
        let is_whole = |(course, fitted): (&Course, &Option<Arc<Experiment>>)| {
            fitted.as_ref().is_some_and(|fitted| Arc::ptr_eq(fitted, &course.experiment))
        };
        if !self.courses.iter().zip(&self.fitted).all(is_whole) {
            return None;
        }
        let mut rest = residuals;
        let mut sums = |used: &Used| {
            let (own, others) = rest.split_at(used.seen.iter().filter(|is_seen| **is_seen).count());
            rest = others;
            Sums { fitted: (dot(own, own) * used.scale * used.scale, own.len()), ..Sums::default() }
        };
        Some(self.signals.iter().map(|used| used.iter().map(&mut sums).collect()).collect())
    }

    /// The errors of every course, whole, at some points.
    fn sums<const N: usize>(&self, points: [&[f64]; N]) -> [Option<Errors>; N] {
        let mut replays = self.replays(&self.subject, &self.whole()).unwrap_or_default();
        points.map(|x| self.sums_at(&mut replays, x))
    }

    fn sums_at(&self, replays: &mut [Option<Replay>], x: &[f64]) -> Option<Errors> {
        let angles: Vec<Vec<bool>> = replays
            .iter()
            .flatten()
            .map(|replay| {
                replay.sources().iter().map(|source| is_angle(replay.model(), source)).collect()
            })
            .collect();
        let mut out: Errors = Vec::new();
        let is_whole = self.simulate(replays, x, &mut |course, experiment, values| {
            let signals = experiment.signals.iter().zip(&angles[course]).zip(values);
            let sums = signals.map(|((signal, is_angle), values)| {
                let n_fitted = self.fitted[course]
                    .as_ref()
                    .and_then(|fitted| fitted.series(&signal.key))
                    .map_or(0, |series| series.times.len());
                let mut sums = Sums::default();
                for (at, value) in values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                    let apart = Self::difference(*is_angle, *value, signal.series.values[at]);
                    let sum = if at < n_fitted { &mut sums.fitted } else { &mut sums.held_out };
                    sum.0 += apart * apart;
                    sum.1 += 1;
                }
                sums
            });
            out.push(sums.collect());
        });
        (is_whole && out.len() == self.courses.len()).then_some(out)
    }
}

/// By course and signal.
type Errors = Vec<Vec<Sums>>;

/// Sums of squares and counts.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    fitted: (f64, usize),
    held_out: (f64, usize),
}
