//! How far every key of every recording is off at a point, fitted and held out.

use std::ops::Range;
use std::sync::Arc;

use headland_base::maths::{dot, sqrt};

use super::curves::units;
use super::residuals::Used;
use super::tuned::KeyError;
use super::{Course, Tuning};
use crate::infer::angles_of;
use crate::{Experiment, Replay};

impl Tuning<'_> {
    /// Every key of every course at two points.
    pub(super) fn errors(&self, before: Option<&Errors>, after: Option<&Errors>) -> Vec<KeyError> {
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
    pub(super) fn rms(&self, errors: &Errors) -> f64 {
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

    /// Which residuals are of each signal.
    pub(super) fn signal_ranges(&self) -> Vec<Range<usize>> {
        let mut first = 0;
        let range = |used: &Used| {
            let n = used.seen.iter().filter(|is_seen| **is_seen).count();
            first += n;
            first - n..first
        };
        self.signals.iter().flatten().map(range).collect()
    }

    /// The errors of every course by the residuals of a point; nothing where something is held out.
    pub(super) fn sums_of(&self, residuals: &[f64]) -> Option<Errors> {
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
    pub(super) fn sums<const N: usize>(&self, points: [&[f64]; N]) -> [Option<Errors>; N] {
        let mut replays = self.replays(&self.subject, &self.whole()).unwrap_or_default();
        points.map(|x| self.sums_at(&mut replays, x))
    }

    fn sums_at(&self, replays: &mut [Option<Replay>], x: &[f64]) -> Option<Errors> {
        let angles: Vec<Vec<bool>> = replays.iter().flatten().map(angles_of).collect();
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
pub(super) type Errors = Vec<Vec<Sums>>;

/// Sums of squares and counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    fitted: (f64, usize),
    held_out: (f64, usize),
}
