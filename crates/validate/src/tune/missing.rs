//! Whether what a tuned model leaves looks like friction or damping that nobody looks for.
//!
//! What a model lacks is mostly taken up by the numbers that are sought: damping that stands for dry
//! friction leaves little behind, and is far from the truth with a narrow interval. What is left
//! then hides in the noise unless one knows what to look for. So the answer is simulated once more
//! with a little more friction, and once with a little more damping, in all joints at once. What of
//! that change no number takes up is the pattern that a lack would leave. Noise is like it only so
//! much; what is more, and would move a number out of its interval, says that the answer is not to be
//! trusted, and what to seek as well. A drag that grows as the square of speed is neither, but leaves
//! the same pattern upside down.

use std::sync::Arc;

use headland_base::Diagnostic;
use headland_base::maths::{dot, sqrt};
use headland_world::parameter::{Parameter, find};

use super::Tuning;
use super::residuals::OfJoint;
use super::waves::{FALSE_ALARMS, Left, STEPS_UNSURE, not_taken_up};
use crate::fit::dense::Columns;
use crate::fit::student::quantile;
use crate::fit::sureness::Worth;

/// What may be missing in a joint: what it is called, and the end of its path.
const KINDS: [(&str, &str); 2] = [("dry friction", "friction"), ("damping", "damping")];

/// So much is added, in its own unit, or this share of what there is where that is more.
const ADDED: (f64, f64) = (1e-6, 0.01);

/// What is added must change residuals by less than this share of them, so that it is a slope.
const MOST_CHANGED: f64 = 0.1;

/// Share of a pattern, as squares, that slopes by differences leave of what they take up.
const ROUNDING: f64 = 1e-9;

/// The warning's code.
pub(super) const SOMETHING_MISSING: &str = "something-missing";

/// Something that is missing.
pub(super) struct Missing {
    /// What it is called, and the end of its path.
    kind: (&'static str, &'static str),
    /// Which joint has too little of it, where one was measured.
    joint: Option<String>,
    /// It would be less than the model says, which may say that there is none.
    is_less: bool,
    is_there: bool,
    /// Which number it would move furthest, and how many times its interval.
    moved: (String, f64),
}

/// What was added, and how residuals change per unit of it.
pub(super) struct Added {
    kind: (&'static str, &'static str),
    change: Vec<f64>,
    /// The model has some of it, somewhere.
    is_there: bool,
}

impl Tuning<'_> {
    /// How a little more of what is not sought changes residuals, and after how many simulations
    /// that is known.
    pub(super) fn added(&self, x: &[f64], residuals: &[f64]) -> (Vec<Added>, usize) {
        let each = KINDS.iter().map(|kind| self.added_of(*kind, x, residuals));
        let (added, counts): (Vec<Option<Added>>, Vec<usize>) = each.unzip();
        (added.into_iter().flatten().collect(), counts.into_iter().sum())
    }

    fn added_of(
        &self,
        kind: (&'static str, &'static str),
        x: &[f64],
        residuals: &[f64],
    ) -> (Option<Added>, usize) {
        let mut times = 1.0;
        // Once is enough but for robots so small that little is much.
        for n_before in 0..3 {
            let Some(more) = self.with_more(kind.1, x, times) else {
                return (None, n_before);
            };
            let (more, added, is_there) = more;
            let Some((there, _)) = more.alone(x) else { return (None, n_before + 1) };
            let change: Vec<f64> =
                there.iter().zip(residuals).map(|(new, old)| (new - old) / added).collect();
            let share = added * sqrt(dot(&change, &change) / dot(residuals, residuals));
            if share <= MOST_CHANGED {
                return (Some(Added { kind, change, is_there }), n_before + 1);
            }
            times *= 0.1 * MOST_CHANGED / share;
        }
        (None, 3)
    }

    /// The same with a little more in all joints of which nobody looks for it, how much more, and
    /// whether there was any.
    fn with_more(&self, end: &str, x: &[f64], times: f64) -> Option<(Self, f64, bool)> {
        let all = find(&self.subject.world, &format!("joint/*/dynamics/{end}")).ok()?;
        let all: Vec<Parameter> = all.into_iter().filter(|one| !self.seeks(one)).collect();
        let at = self.subject_at(x).ok()?;
        let now = |one: &Parameter| one.get(&at).unwrap_or(0.0);
        let most = all.iter().map(now).fold(0.0, f64::max);
        let added = times * f64::max(ADDED.0, ADDED.1 * most);
        let mut more = self.clone();
        for one in &all {
            one.set(&mut more.subject, now(one) + added).ok()?;
        }
        more.starts_untuned = false;
        // An engine that has no friction is no thread that could not work.
        more.lacking = Arc::default();
        (!all.is_empty()).then_some((more, added, most > 0.0))
    }

    fn seeks(&self, parameter: &Parameter) -> bool {
        self.wanted.iter().any(|wanted| wanted.parameters.contains(parameter))
    }

    fn seeks_in(&self, joint: &OfJoint, end: &str) -> bool {
        let path = format!("{}dynamics/{end}", joint.path);
        find(&self.subject.world, &path).is_ok_and(|all| all.iter().all(|one| self.seeks(one)))
    }
}

/// What is missing, if anything is: of all that looks like it, what moves a number furthest. `halves`
/// are the intervals as they are told.
pub(super) fn missing(
    tuning: &Tuning<'_>,
    left: &Left<'_>,
    all: &[Added],
    (slopes, worth): (&Columns, &Worth),
    halves: &[Option<f64>],
) -> Option<Missing> {
    let without_steps = left.without_steps();
    let signals = left.signals();
    let joints: Vec<&Option<OfJoint>> = tuning.signals.iter().flatten().map(|u| &u.joint).collect();
    let mut each = joints.clone();
    each.sort();
    each.dedup();
    let level = 1.0 - 0.5 * FALSE_ALARMS / (each.len() * all.len()).max(1) as f64;
    let least = quantile(level, without_steps.len() as f64 - slopes.len() as f64);
    let mut worst: Option<Missing> = None;
    for Added { kind, change, is_there } in all {
        let answer = worth.answer(slopes, change);
        let is_sought = |joint: &OfJoint| tuning.seeks_in(joint, kind.1);
        for joint in each.iter().filter(|joint| !joint.as_ref().is_some_and(is_sought)) {
            // As it shows in this joint alone: friction of another is another pattern.
            let mut pattern = vec![0.0; change.len()];
            for (signal, _) in signals.iter().zip(&joints).filter(|(_, of)| of == &joint) {
                pattern[signal.clone()].copy_from_slice(&change[signal.clone()]);
            }
            let whole = dot(&pattern, &pattern);
            let pattern = not_taken_up(pattern, slopes, worth);
            // Of what numbers take up wholly nothing but rounding is left.
            if dot(&pattern, &pattern) <= ROUNDING * whole {
                continue;
            }
            let (t, estimate) = share_of(&pattern, left, &without_steps);
            let times = |i: usize| Some((answer[i] * estimate / halves[i]?).abs());
            let moved = (0..tuning.wanted.len()).filter_map(|i| Some((i, times(i)?)));
            let Some((i, times)) = moved.max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
            let is_worse = worst.as_ref().is_none_or(|worst| times > worst.moved.1);
            if t > least && times > 1.0 && is_worse {
                worst = Some(Missing {
                    kind: *kind,
                    joint: joint.as_ref().map(|joint| joint.name.clone()),
                    is_less: estimate < 0.0,
                    is_there: *is_there,
                    moved: (tuning.wanted[i].name.clone(), times),
                });
            }
        }
    }
    worst
}

/// How much of a pattern is in what is left: beyond what steps may make of it, in standard errors of
/// what noise and starts do; and how much more of what was added would take it out.
fn share_of(pattern: &[f64], left: &Left<'_>, without_steps: &[f64]) -> (f64, f64) {
    let along = |values: &[f64]| dot(values, pattern);
    let noise = |signal: std::ops::Range<usize>| {
        let (own, pattern) = (&without_steps[signal.clone()], &pattern[signal]);
        dot(own, own) / own.len().max(1) as f64 * dot(pattern, pattern)
    };
    let by_noise: f64 = left.signals().into_iter().map(noise).sum();
    let by_starts: f64 = left.by_starts.iter().map(|draw| along(draw) * along(draw)).sum();
    let by_starts = by_starts / left.by_starts.len().max(1) as f64;
    let by_steps = STEPS_UNSURE * left.by_steps.as_deref().map_or(0.0, along).abs();
    let found = along(without_steps);
    ((found.abs() - by_steps) / sqrt(by_noise + by_starts), -found / dot(pattern, pattern))
}

impl Missing {
    /// In words.
    pub fn told(&self) -> Diagnostic {
        let ((what, end), (number, times)) = (self.kind, &self.moved);
        let joint = self.joint.as_ref().map_or("a joint".to_string(), |name| format!("`{name}`"));
        let like = match (self.is_less, self.is_there) {
            (false, _) => format!("more {what} than the model has"),
            (true, true) => format!("less {what} than the model has"),
            (true, false) => format!("the opposite of {what}, of which the model has none"),
        };
        let message = format!(
            "what the tuned model leaves looks like {like}, most of all in {joint}; the same in all \
             joints would move `{number}` by {times:.1} times its interval, and the intervals know \
             nothing of that"
        );
        let help = match (self.is_less, self.is_there) {
            (true, false) => "the robot has something else that the model lacks, such as drag that \
                              grows faster than speed; look at the residuals on the page of `--report`"
                .to_string(),
            _ => format!("seek its `dynamics/{end}` as well"),
        };
        Diagnostic::warning(SOMETHING_MISSING, message).help(help)
    }
}
