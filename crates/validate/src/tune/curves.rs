//! What every key did: measured, simulated by the model as it was, and by the tuned one. For
//! drawings; it is not asked for where nobody draws, since it takes two simulations of everything.

use std::sync::Arc;

use headland_base::SimTime;
use headland_sim::Model;

use super::Tuning;
use crate::Signal;
use crate::infer::angles_of;
use crate::source::Names;

/// One key of one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The recording.
    pub course: String,
    /// The key.
    pub key: String,
    /// What the model measures it in.
    pub unit: String,
    /// When it was measured.
    pub times: Vec<SimTime>,
    /// What was measured.
    pub measured: Vec<f64>,
    /// By the model as it was; nothing where it cannot be simulated.
    pub before: Option<Moved>,
    /// By the tuned model.
    pub after: Option<Moved>,
    /// So many samples, from the first, were fitted.
    pub n_fitted: usize,
}

/// What a model made of a key, one number per sample; no number where it has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moved {
    /// Simulated.
    pub values: Vec<f64>,
    /// Simulated minus measured, angles the shorter way round.
    pub errors: Vec<f64>,
}

/// By course and signal, at a point; `None` where it cannot be simulated.
type All = Option<Vec<Vec<Moved>>>;

/// Every key of every recording, of what is held out too, at the point of the given model and at
/// `x`.
pub fn curves(tuning: &Tuning<'_>, given: &[f64], x: &[f64]) -> Vec<Curve> {
    let before = moved(tuning, given);
    let after = moved(tuning, x);
    let of = |all: &All, course: usize, signal: usize| Some(all.as_ref()?[course][signal].clone());
    let units = units(tuning);
    let mut out = Vec::new();
    for (c, course) in tuning.courses.iter().enumerate() {
        for (s, signal) in course.experiment.signals.iter().enumerate() {
            let fitted = tuning.fitted[c].as_ref().and_then(|fitted| fitted.series(&signal.key));
            out.push(Curve {
                course: course.name.clone(),
                key: signal.key.clone(),
                unit: units[c][s].clone(),
                times: signal.series.times.clone(),
                measured: signal.series.values.clone(),
                before: of(&before, c, s),
                after: of(&after, c, s),
                n_fitted: fitted.map_or(0, |series| series.times.len()),
            });
        }
    }
    out
}

/// What the model measures each signal in, by course; the table's own word where it has none.
pub(super) fn units(tuning: &Tuning<'_>) -> Vec<Vec<String>> {
    let model = Model::compile(&Arc::new(tuning.subject.world.clone())).ok();
    let names = model.as_ref().map(|model| (model, Names::of(model)));
    let unit = |signal: &Signal| {
        let known = names.as_ref().and_then(|(model, names)| {
            names.find(&signal.key).ok().map(|source| source.unit(model))
        });
        known.filter(|unit| !unit.is_empty()).unwrap_or(signal.series.unit.word()).to_string()
    };
    let courses = tuning.courses.iter();
    courses.map(|course| course.experiment.signals.iter().map(unit).collect()).collect()
}

fn moved(tuning: &Tuning<'_>, x: &[f64]) -> All {
    let mut replays = tuning.replays(&tuning.subject, &tuning.whole()).ok()?;
    let angles: Vec<Vec<bool>> = replays.iter().flatten().map(angles_of).collect();
    let mut out = Vec::new();
    let is_whole = tuning.simulate(&mut replays, x, &mut |course, experiment, values| {
        let signals = experiment.signals.iter().zip(&angles[course]).zip(values);
        let each = signals.map(|((signal, is_angle), values)| {
            let both = values.iter().zip(&signal.series.values);
            let errors = both.map(|(s, m)| Tuning::difference(*is_angle, *s, *m)).collect();
            Moved { values: values.clone(), errors }
        });
        out.push(each.collect());
    });
    (is_whole && out.len() == tuning.courses.len()).then_some(out)
}
