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

use std::ops::Range;
use std::sync::Arc;

use headland_base::Diagnostic;
use headland_base::maths::{dot, sqrt};
use headland_world::parameter::{Parameter, find};

use super::Tuning;
use super::residuals::OfJoint;
use super::waves::{FALSE_ALARMS, Left, STEPS_UNSURE};
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
    let along = Along::of(left, &without_steps, slopes);
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
            let signals: Vec<bool> = joints.iter().map(|of| of == joint).collect();
            let Some((t, estimate)) = along.share_of(change, &signals, worth) else { continue };
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

/// What is left and what makes it, to be laid along patterns. A pattern is a change of some signals
/// less what numbers take up of it, `c − J·g`, and never written out: there are as many as joints,
/// and each is as long as the data. A product with it is one with `c` in its own signals, less `g`
/// times one with `J`, which is the same for all patterns.
struct Along<'a> {
    left: &'a Left<'a>,
    slopes: &'a Columns,
    without_steps: Pulled<'a>,
    by_steps: Option<Pulled<'a>>,
    by_starts: Vec<Pulled<'a>>,
}

/// Numbers per sample, and `Jᵀ` times them.
struct Pulled<'a> {
    values: &'a [f64],
    pull: Vec<f64>,
}

impl<'a> Along<'a> {
    fn of(left: &'a Left<'a>, without_steps: &'a [f64], slopes: &'a Columns) -> Along<'a> {
        let pulled = |values: &'a [f64]| {
            let pull = slopes.iter().map(|column| dot(column, values)).collect();
            Pulled { values, pull }
        };
        Along {
            left,
            slopes,
            without_steps: pulled(without_steps),
            by_steps: left.by_steps.as_deref().map(pulled),
            by_starts: left.by_starts.iter().map(|draw| pulled(draw)).collect(),
        }
    }

    /// How much of the pattern that a change of some signals leaves is in what is left: beyond what
    /// steps may make of it, in standard errors of what noise and starts do; and how much more of
    /// what was added would take it out. Nothing where numbers take it up wholly.
    fn share_of(&self, change: &[f64], is_of: &[bool], worth: &Worth) -> Option<(f64, f64)> {
        let signals = || self.left.signals.iter().zip(is_of);
        let own = |(signal, is_of): (&Range<usize>, &bool)| is_of.then(|| &change[signal.clone()]);
        let pull_of = |(signal, is_of): (&Range<usize>, &bool)| -> Vec<f64> {
            let Some(own) = own((signal, is_of)) else { return vec![0.0; self.slopes.len()] };
            self.slopes.iter().map(|column| dot(&column[signal.clone()], own)).collect()
        };
        let pulls: Vec<Vec<f64>> = signals().map(pull_of).collect();
        let pull = (0..self.slopes.len()).map(|i| pulls.iter().map(|pull| pull[i]).sum());
        let taken_up = worth.answer_to(&pull.collect::<Vec<f64>>());
        // |c − J·g|², signal by signal.
        let wholes: Vec<f64> = signals().map(|s| own(s).map_or(0.0, |own| dot(own, own))).collect();
        let products = self.left.by_numbers.products();
        let square = |i: usize| {
            let moved: Vec<f64> = products[i].iter().map(|row| dot(row, &taken_up)).collect();
            (wholes[i] - 2.0 * dot(&pulls[i], &taken_up) + dot(&moved, &taken_up)).max(0.0)
        };
        let squares: Vec<f64> = (0..wholes.len()).map(square).collect();
        let (square, whole): (f64, f64) = (squares.iter().sum(), wholes.iter().sum());
        // Of what numbers take up wholly nothing but rounding is left.
        if square <= ROUNDING * whole {
            return None;
        }
        let along = |other: &Pulled<'_>| {
            let each = signals().filter_map(|(signal, is_of)| {
                Some(dot(&other.values[signal.clone()], own((signal, is_of))?))
            });
            each.sum::<f64>() - dot(&other.pull, &taken_up)
        };
        let noise = |(signal, square): (&Range<usize>, &f64)| {
            let own = &self.without_steps.values[signal.clone()];
            dot(own, own) / own.len().max(1) as f64 * square
        };
        let by_noise: f64 = self.left.signals.iter().zip(&squares).map(noise).sum();
        let by_starts = self.by_starts.iter().map(along).map(|along| along * along).sum::<f64>();
        let by_starts = by_starts / self.by_starts.len().max(1) as f64;
        let by_steps = STEPS_UNSURE * self.by_steps.as_ref().map_or(0.0, along).abs();
        let found = along(&self.without_steps);
        Some(((found.abs() - by_steps) / sqrt(by_noise + by_starts), -found / square))
    }
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

#[cfg(test)]
mod tests {
    use headland_base::Seed;
    use headland_sense::noise::Dice;

    use super::*;
    use crate::fit::Bounds;
    use crate::fit::sureness::{Moment, worth};
    use crate::tune::carried::Carried;
    use crate::tune::waves::not_taken_up;

    /// The other road: the pattern written out, sample by sample.
    #[test]
    fn patterns_are_as_if_they_were_written_out() {
        let mut dice = Dice::new(&Seed::new(2).child("missing"));
        let (signals, n) = ([0..40, 40..110, 110..150], 150);
        let mut column = || -> Vec<f64> { (0..n).map(|_| dice.normal()).collect() };
        let (residuals, slopes): (_, Columns) = (column(), (0..3).map(|_| column()).collect());
        let (by_steps, by_starts) = (Some(column()), vec![column(), column()]);
        let moments = (0..n as i64).map(|at_nanos| Moment { series: 0, at_nanos });
        let moments: Vec<Moment> = moments.collect();
        let bounds = Bounds::none(3);
        let worth = worth(&[0.0; 3], &bounds, &residuals, &slopes, (&moments, false), 0.95);
        let by_numbers = Carried::new(&residuals, &signals, &slopes, &worth);
        let residuals = &residuals;
        let left = Left { residuals, signals: &signals, by_steps, by_starts, by_numbers };
        let without_steps = left.without_steps();
        let along = Along::of(&left, &without_steps, &slopes);
        let (change, is_of) = (column(), [true, false, true]);

        let mut pattern = change.clone();
        pattern[signals[1].clone()].fill(0.0);
        let pattern = not_taken_up(pattern, &slopes, &worth);
        let noise = |signal: &Range<usize>| {
            let (own, pattern) = (&without_steps[signal.clone()], &pattern[signal.clone()]);
            dot(own, own) / own.len() as f64 * dot(pattern, pattern)
        };
        let by_noise: f64 = signals.iter().map(noise).sum();
        let starts =
            left.by_starts.iter().map(|draw| dot(draw, &pattern)).map(|along| along * along);
        let by_starts = starts.sum::<f64>() / 2.0;
        let by_steps = STEPS_UNSURE * dot(left.by_steps.as_ref().unwrap(), &pattern).abs();
        let found = dot(&without_steps, &pattern);
        let t = (found.abs() - by_steps) / sqrt(by_noise + by_starts);
        let estimate = -found / dot(&pattern, &pattern);

        let got = along.share_of(&change, &is_of, &worth).expect("it is not taken up");
        assert!((got.0 - t).abs() < 1e-12 && (got.1 / estimate - 1.0).abs() < 1e-12, "{got:?}");
        // What a number does itself is taken up wholly.
        let own: Vec<f64> = slopes[0].iter().map(|slope| 3.0 * slope).collect();
        assert_eq!(along.share_of(&own, &[true; 3], &worth), None);
    }
}
