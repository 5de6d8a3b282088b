//! What tuning gives: every number before and after, with how sure it is, and every error.

use headland_base::Diagnostic;
use headland_base::maths::sqrt;
use headland_world::parameter::{self, Parameter, Subject};

use super::saved::lm_options;
use super::{Search, Tuning};
use crate::fit::sureness::{Worth, warnings, worth};
use crate::fit::{Ended, Evaluate, Problem, marquardt};

/// One number that was sought.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedNumber {
    /// Its path.
    pub name: String,
    /// What it is measured in.
    pub unit: String,
    /// What the model said; nothing where it said nothing.
    pub before: Option<f64>,
    /// What fits best.
    pub value: f64,
    /// Half the width of its interval; nothing where the data does not bound it.
    pub half_width: Option<f64>,
    /// What it would be if residuals were independent.
    pub textbook_half_width: Option<f64>,
    /// Where it was sought.
    pub lower: f64,
    /// Where it was sought.
    pub upper: f64,
    /// It is of the start of a recording, not of the model.
    pub is_start: bool,
}

/// A number of the model that follows from what was sought: of a body tuned by its ten numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Its path.
    pub name: String,
    /// What it is measured in.
    pub unit: String,
    /// What it was.
    pub before: f64,
    /// What it is.
    pub value: f64,
    /// Half the width of its interval, from those it follows from.
    pub half_width: Option<f64>,
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
    /// Root mean square of all weighted residuals that were fitted, before and after.
    pub rms: (Option<f64>, f64),
    /// Residuals that were fitted.
    pub n_residuals: usize,
    /// Points that were evaluated.
    pub n_evaluations: usize,
    /// Why it ended; nothing where it was interrupted.
    pub ended: Option<Ended>,
    /// A parameter at its bound, one the data cannot see.
    pub warnings: Vec<Diagnostic>,
    /// How sure intervals are to hold the truth.
    pub confidence: f64,
    /// The rest of what is known of it.
    pub worth: Worth,
}

/// Looks at the best point of a search: errors, slopes, intervals. Nothing where the model
/// cannot be simulated there.
pub fn tuned(
    tuning: &Tuning<'_>,
    search: &Search,
    crew: &mut dyn Evaluate,
    confidence: f64,
) -> Option<Tuned> {
    let (x, _) = search.best();
    let bounds = tuning.bounds();
    let residuals = crew.one(x)?;
    let options = lm_options(tuning, 0);
    let slopes = marquardt::slopes(x, &residuals, crew, &bounds, &options)?;
    let worth = worth(x, &bounds, &residuals, &slopes, tuning.moments(), confidence);
    let untuned = tuning.untuned();
    let rms = |r: &[f64]| sqrt(r.iter().map(|r| r * r).sum::<f64>() / r.len().max(1) as f64);
    let rms = (crew.one(&untuned).map(|r| rms(&r)), rms(&residuals));
    let names = tuning.names();
    let told = |(code, text): (&'static str, String)| Diagnostic::warning(code, text);
    let warnings = warnings(&names, x, &bounds, &worth).into_iter().map(told).collect();
    let subject = tuning.subject_at(x).ok()?;
    let number = |i: usize| {
        let wanted = tuning.wanted.get(i);
        let first = wanted.map(|wanted| &wanted.parameters[0]);
        let unit = match first {
            Some(parameter) => parameter.unit(&tuning.subject),
            None if names[i].ends_with("velocity") => "rad/s",
            None => "rad",
        };
        TunedNumber {
            name: names[i].clone(),
            unit: unit.to_string(),
            before: match first {
                Some(parameter) => parameter.get(&tuning.subject),
                None => Some(untuned[i]),
            },
            value: x[i],
            half_width: worth.parameters[i].half_width,
            textbook_half_width: worth.parameters[i].textbook_half_width,
            lower: bounds.lower[i],
            upper: bounds.upper[i],
            is_start: wanted.is_none(),
        }
    };
    Some(Tuned {
        numbers: (0..x.len()).map(number).collect(),
        derived: derived(tuning, x, &worth),
        errors: tuning.errors(&untuned, x),
        rms,
        n_residuals: residuals.len(),
        n_evaluations: search.n_evaluations(),
        ended: search.ended(),
        warnings,
        confidence,
        subject,
        worth,
    })
}

/// Mass, centre of mass and inertia of the links that were sought by their ten numbers, with
/// intervals by the slopes of each with respect to those.
fn derived(tuning: &Tuning<'_>, x: &[f64], worth: &Worth) -> Vec<Derived> {
    let is_first = |parameter: &Parameter| parameter.path().ends_with("/inertial/pseudo/alpha");
    let links = tuning.wanted.iter().flat_map(|wanted| &wanted.parameters).filter(|p| is_first(p));
    let list = parameter::list(&tuning.subject.world);
    let mut out = Vec::new();
    for link in links {
        let stem = link.whole_path().strip_suffix("pseudo/alpha").unwrap_or_default();
        let parts = [
            "mass",
            "com/x",
            "com/y",
            "com/z",
            "inertia/ixx",
            "inertia/ixy",
            "inertia/ixz",
            "inertia/iyy",
            "inertia/iyz",
            "inertia/izz",
        ];
        for part in parts {
            let Ok(found) = parameter::find_in(&list, &format!("{stem}{part}")) else { continue };
            let at =
                |x: &[f64]| tuning.subject_at(x).ok().and_then(|subject| found[0].get(&subject));
            let (Some(value), Some(before)) = (at(x), found[0].get(&tuning.subject)) else {
                continue;
            };
            let slope = |i: usize| {
                let (mut ahead, mut behind) = (x.to_vec(), x.to_vec());
                ahead[i] += 1e-5;
                behind[i] -= 1e-5;
                Some((at(&ahead)? - at(&behind)?) / 2e-5)
            };
            let slopes: Vec<f64> =
                (0..tuning.wanted.len()).map(|i| slope(i).unwrap_or(0.0)).collect();
            out.push(Derived {
                name: found[0].path().to_string(),
                unit: found[0].unit(&tuning.subject).to_string(),
                before,
                value,
                half_width: half_width(&slopes, worth),
            });
        }
    }
    out
}

/// Nothing where one of those it follows from has none.
fn half_width(slopes: &[f64], worth: &Worth) -> Option<f64> {
    let (mut variance, mut factor) = (0.0, 0.0_f64);
    for (i, a) in slopes.iter().enumerate().filter(|(_, a)| **a != 0.0) {
        let half = worth.parameters[i].half_width?;
        let deviation = sqrt(worth.covariance[i][i]);
        if deviation > 0.0 {
            factor = factor.max(half / deviation);
        }
        for (j, b) in slopes.iter().enumerate() {
            variance += a * b * worth.covariance[i][j];
        }
    }
    Some(factor * sqrt(variance.max(0.0)))
}

impl Tuning<'_> {
    /// Every key of every course at two points.
    fn errors(&self, before: &[f64], after: &[f64]) -> Vec<KeyError> {
        let (before, after) = (self.sums(before), self.sums(after));
        let mut out = Vec::new();
        for (c, course) in self.courses.iter().enumerate() {
            for (s, signal) in course.experiment.signals.iter().enumerate() {
                let root = |sums: &Option<Vec<Vec<Sums>>>, is_held: bool| {
                    let sums = &sums.as_ref()?[c][s];
                    let (sum, n) = if is_held { sums.held_out } else { sums.fitted };
                    (n > 0).then(|| sqrt(sum / n as f64))
                };
                let both = |is_held: bool| Some((root(&before, is_held)?, root(&after, is_held)?));
                let n = after
                    .as_ref()
                    .map_or((0, 0), |sums| (sums[c][s].fitted.1, sums[c][s].held_out.1));
                out.push(KeyError {
                    course: course.name.clone(),
                    key: signal.key.clone(),
                    unit: signal.series.unit.to_string(),
                    scale: self.signals[c][s].scale,
                    fitted: both(false),
                    held_out: both(true),
                    n_samples: n,
                });
            }
        }
        out
    }

    fn sums(&self, x: &[f64]) -> Option<Vec<Vec<Sums>>> {
        let mut worker = self.worker();
        let mut out = Vec::new();
        let is_whole = self.simulate(&mut worker.0, x, &mut |course, values| {
            let signals = &self.courses[course].experiment.signals;
            let sums = self.signals[course].iter().zip(signals).zip(values);
            out.push(
                sums.map(|((used, signal), values)| {
                    let mut sums = Sums::default();
                    for (at, value) in values.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                        let apart = Self::difference(used, *value, signal.series.values[at]);
                        let sum =
                            if at < used.n_fitted { &mut sums.fitted } else { &mut sums.held_out };
                        sum.0 += apart * apart;
                        sum.1 += 1;
                    }
                    sums
                })
                .collect(),
            );
            true
        });
        is_whole.then_some(out)
    }
}

/// Sums of squares and counts.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    fitted: (f64, usize),
    held_out: (f64, usize),
}
