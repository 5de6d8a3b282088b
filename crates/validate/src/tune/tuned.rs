//! What tuning gives: every number before and after, with how sure it is, and every error.

use headland_base::Diagnostic;
use headland_base::maths::sqrt;
use headland_world::parameter::Subject;

use super::derived::{Derived, derived};
use super::looked::{is_even, looked_at};
use super::missing::{Missing, SOMETHING_MISSING};
use super::residuals::Scale;
use super::starting_noise::{STARTS_UNSURE, draws_failed};
use super::starts::START_ASSUMED;
use super::waves::{NOTHING, waves_left};
use super::{Method, Search, Tuning};
use crate::fit::marquardt::Linear;
use crate::fit::sureness::{Worth, warnings};
use crate::fit::{BrokenOff, Counted, Ended, Evaluate};

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
        let is_end = |i: usize, is_upper: bool| {
            tuning.wanted.get(i).is_some_and(|wanted| wanted.ends_at(is_upper))
        };
        let all = warnings((&names, x), &tuning.start(), (&bounds, &is_end), worth, &halves);
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
