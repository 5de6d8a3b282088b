//! One key: both sides' samples go in, everything that is said of it comes out.
//!
//! Keys of one table have the same times, so the pairs of the last key are kept and used again
//! where the times are the same.

use std::sync::Arc;

use headland_base::maths::{PI, Vec3, angle_between, sqrt, wrap_angle};
use headland_base::{Diagnostic, SimDuration, SimTime, Transform};
use headland_record::Unit;

use super::bootstrap::intervals;
use super::digits::Digits;
use super::items::{Item, What};
use super::lag::lag;
use super::pairing::{Pair, Pairing, Rule, Sampling, median_interval, pair};
use super::path::{absolute, relative, umeyama};
use super::samples::{between, cut, even, turn_between, turns, whole};
use super::side::{Series, Side};
use super::statistics::{Spread, Stats};
use super::{Counts, Drawn, KeyCompared, KeyKind, Options, components, path_keys};

const DEGREES: f64 = 180.0 / PI;
/// How far apart evo lets a pair be where nobody says.
const EVO_TOLERANCE: SimDuration = SimDuration::from_nanos(10_000_000);

/// Compares one item after the other.
pub(super) struct Workshop<'s> {
    a: &'s Side<'s>,
    b: &'s Side<'s>,
    options: &'s Options,
    /// The pairs of the last key.
    last: Option<LastPairs>,
    /// Paths that could not be aligned.
    pub refused: Vec<Diagnostic>,
}

/// The times of a key and the pairs they make.
struct LastPairs {
    times_a: Vec<SimTime>,
    times_b: Vec<SimTime>,
    tolerance: Option<SimDuration>,
    pairing: Arc<Pairing>,
}

/// What errors are measured by.
enum Reference {
    /// A number on both sides; of an angle with its full turns.
    Number { a: Vec<f64>, b: Vec<f64> },
    /// The components of A.
    Vector(Vec<Vec<f64>>),
    /// Nothing: angles and paths.
    None,
}

/// The errors of a key.
struct Errors {
    times: Vec<SimTime>,
    errors: Vec<f64>,
    reference: Reference,
}

impl Errors {
    fn stats(&self) -> Option<Stats> {
        let spread = match &self.reference {
            Reference::Number { a, b } => Spread::of(a, b),
            Reference::Vector(components) => Spread::of_vector(components),
            Reference::None => Spread::default(),
        };
        Stats::of(&self.times, &self.errors, &spread)
    }

    /// Those at moments that are wanted.
    fn part(&self, is_wanted: impl Fn(SimTime) -> bool) -> Errors {
        let kept: Vec<bool> = self.times.iter().map(|time| is_wanted(*time)).collect();
        let of = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(v, _)| *v).collect()
        };
        let times = self.times.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(t, _)| *t);
        let reference = match &self.reference {
            Reference::Number { a, b } => Reference::Number { a: of(a), b: of(b) },
            Reference::Vector(all) => Reference::Vector(all.iter().map(|c| of(c)).collect()),
            Reference::None => Reference::None,
        };
        Errors { times: times.collect(), errors: of(&self.errors), reference }
    }
}

impl<'s> Workshop<'s> {
    pub fn new(a: &'s Side, b: &'s Side, options: &'s Options) -> Workshop<'s> {
        Workshop { a, b, options, last: None, refused: Vec::new() }
    }

    /// Everything that is said of an item: one key, or of a path several.
    pub fn item(&mut self, item: &Item) -> Vec<KeyCompared> {
        match &item.what {
            What::Number => self.number(&item.key).into_iter().collect(),
            What::Vector(keys) => self.vector(&item.key, keys).into_iter().collect(),
            What::Orientation(keys) => self.orientation(&item.key, keys).into_iter().collect(),
            What::Path => self.path(item).unwrap_or_default(),
        }
    }

    fn number(&mut self, key: &str) -> Option<KeyCompared> {
        let (a, b) = (self.trimmed_a(key)?, self.trimmed_b(key)?);
        let told = self.options.angles.get(key).copied();
        let slides = !matches!(self.unit(key, &a, &b), "" | "rad");
        let is_angle =
            told.unwrap_or_else(|| !slides && (self.a.is_angle(key) || self.b.is_angle(key)));
        let is_angle = self.options.wraps && is_angle;
        let (pairing, tolerance) = self.pairing(&a.times, &b.times);
        let kind = if is_angle { KeyKind::Angle } else { KeyKind::Number };
        self.refused.extend(Digits::of(&a.values, &b.values).lacking(key, is_angle));
        let whole_a = whole(&a, is_angle);
        let errors = number_errors((&a, &whole_a), &b, &pairing.pairs, is_angle);
        let unit = self.unit(key, &a, &b);
        let mut out = self.compared(key, kind, unit, (&a, &b), (&pairing, tolerance), &errors);
        let whole_b = whole(&b, is_angle);
        out.lag = lag((&a.times, &whole_a), (&b.times, &whole_b), self.options.lag_max);
        drop(whole_b);
        out.after_lag = out.lag.as_ref().and_then(|lag| {
            let back = SimDuration::from_secs(-lag.secs)?;
            let mut shifted = b;
            shifted.times.iter_mut().for_each(|time| *time += back);
            let pairing =
                pair(&a.times, &shifted.times, Sampling::Interpolate, Rule::OneToOne, None);
            number_errors((&a, &whole_a), &shifted, &pairing.pairs, is_angle).stats()
        });
        if self.options.keeps_series
            && let Reference::Number { a, b } = errors.reference
        {
            out.drawn = Some(Drawn { times: errors.times, a, b, errors: errors.errors });
        } else if let Some(lag) = &mut out.lag {
            lag.curve = Vec::new();
        }
        Some(out)
    }

    fn vector(&mut self, key: &str, keys: &[String]) -> Option<KeyCompared> {
        let (a, b) = (self.columns_a(keys)?, self.columns_b(keys)?);
        let (pairing, tolerance) = self.pairing(&a[0].times, &b[0].times);
        let pairs = &pairing.pairs;
        let component = |series: &Series| -> Vec<f64> {
            pairs.iter().map(|pair| series.values[pair.a]).collect()
        };
        let components: Vec<Vec<f64>> = a.iter().map(component).collect();
        let apart = |(i, pair): (usize, &Pair)| {
            let square = |(c, b): (usize, &Series)| {
                let e = between(&b.values, pair, false) - components[c][i];
                e * e
            };
            sqrt(b.iter().enumerate().map(square).sum())
        };
        let errors = Errors {
            times: pairs.iter().map(|pair| a[0].times[pair.a]).collect(),
            errors: pairs.iter().enumerate().map(apart).collect(),
            reference: Reference::Vector(components),
        };
        let unit = self.unit(&keys[0], &a[0], &b[0]);
        let sides = (&a[0], &b[0]);
        let mut out =
            self.compared(key, KeyKind::Vector, unit, sides, (&pairing, tolerance), &errors);
        self.draw(&mut out, errors);
        Some(out)
    }

    fn orientation(&mut self, key: &str, keys: &[String; 4]) -> Option<KeyCompared> {
        let (mut a, mut b) = (self.columns_a(keys)?, self.columns_b(keys)?);
        let (turns_a, turns_b) = (turns(&mut a, 0), turns(&mut b, 0));
        let (pairing, tolerance) = self.pairing(&a[0].times, &b[0].times);
        let pairs = &pairing.pairs;
        let angle =
            |pair: &Pair| angle_between(turns_a[pair.a], turn_between(&turns_b, pair)) * DEGREES;
        let errors = Errors {
            times: pairs.iter().map(|pair| a[0].times[pair.a]).collect(),
            errors: pairs.iter().map(angle).collect(),
            reference: Reference::None,
        };
        let sides = (&a[0], &b[0]);
        let kind = KeyKind::Orientation;
        let mut out = self.compared(key, kind, "deg", sides, (&pairing, tolerance), &errors);
        self.draw(&mut out, errors);
        Some(out)
    }

    fn path(&mut self, item: &Item) -> Option<Vec<KeyCompared>> {
        let keys = components(item);
        let (mut a, mut b) = (self.columns_a(&keys)?, self.columns_b(&keys)?);
        let (turns_a, turns_b) = (turns(&mut a, 3), turns(&mut b, 3));
        let (pairing, tolerance) = self.pairing(&a[0].times, &b[0].times);
        let pairs = &pairing.pairs;
        let place = |sides: &[Series], of: &dyn Fn(&Series) -> f64| {
            Vec3::new(of(&sides[0]), of(&sides[1]), of(&sides[2]))
        };
        let path_a: Vec<Transform> = pairs
            .iter()
            .map(|pair| Transform::new(turns_a[pair.a], place(&a, &|s| s.values[pair.a])))
            .collect();
        let mut path_b: Vec<Transform> = pairs
            .iter()
            .map(|pair| {
                let turn = turn_between(&turns_b, pair);
                Transform::new(turn, place(&b, &|s| between(&s.values, pair, false)))
            })
            .collect();
        let places = |path: &[Transform]| -> Vec<Vec3> {
            path.iter().map(|pose| pose.translation).collect()
        };
        let fit = self.options.paths.unwrap_or_default();
        match umeyama(&places(&path_a), &places(&path_b), fit) {
            Ok(moved) if moved != super::Similarity::IDENTITY => {
                path_b = path_b.iter().map(|pose| moved.pose(pose)).collect();
            }
            Ok(_) => {}
            Err(fault) => {
                let object = item.key.trim_end_matches("/pose/path");
                self.refused.push(
                    Diagnostic::warning(fault.code, format!("`{object:.80}`: {}", fault.message))
                        .help_maybe(fault.help),
                );
                path_b.clear();
            }
        }
        let is_refused = path_b.len() != path_a.len();
        let path_a = if is_refused { &[][..] } else { &path_a[..] };
        let times: Vec<SimTime> = match is_refused {
            true => Vec::new(),
            false => pairs.iter().map(|pair| a[0].times[pair.a]).collect(),
        };
        let (ape, ape_angle) = absolute(path_a, &path_b);
        let (ends, rpe, rpe_angle) = relative(path_a, &path_b, self.options.delta);
        let end_times: Vec<SimTime> = ends.iter().map(|end| times[*end]).collect();
        let degrees = |all: Vec<f64>| all.into_iter().map(|angle| angle * DEGREES).collect();
        let all = [
            (ape, &times, "m"),
            (degrees(ape_angle), &times, "deg"),
            (rpe, &end_times, "m"),
            (degrees(rpe_angle), &end_times, "deg"),
        ];
        let mut out = Vec::new();
        for (key, (errors, times, unit)) in path_keys(item).iter().zip(all) {
            if !self.options.selection.wants(key, true) {
                continue;
            }
            let errors = Errors { times: times.clone(), errors, reference: Reference::None };
            let (kind, sides) = (KeyKind::Path, (&a[0], &b[0]));
            let mut one = self.compared(key, kind, unit, sides, (&pairing, tolerance), &errors);
            self.draw(&mut one, errors);
            out.push(one);
        }
        Some(out)
    }

    fn draw(&self, out: &mut KeyCompared, errors: Errors) {
        if self.options.keeps_series {
            let (times, errors) = (errors.times, errors.errors);
            out.drawn = Some(Drawn { times, errors, ..Drawn::default() });
        }
    }

    /// What is said of every kind of key.
    fn compared(
        &self,
        key: &str,
        kind: KeyKind,
        unit: &'static str,
        (a, b): (&Series, &Series),
        (pairing, tolerance): (&Pairing, Option<SimDuration>),
        errors: &Errors,
    ) -> KeyCompared {
        let span = |series: &Series| Some((*series.times.first()?, *series.times.last()?));
        let phases = self
            .options
            .phases
            .iter()
            .map(|phase| (phase.name.clone(), errors.part(|time| phase.holds(time)).stats()));
        let how = self.options.bootstrap.as_ref();
        KeyCompared {
            key: key.to_string(),
            kind,
            unit,
            counts: Counts {
                n_a: a.times.len(),
                n_b: b.times.len(),
                n_unmatched_a: pairing.n_unmatched_a,
                n_unmatched_b: pairing.n_unmatched_b,
                dropped_a: a.dropped,
                dropped_b: b.dropped,
                dt_max: pairing.dt_max,
                dt_mean_secs: pairing.dt_mean_secs,
            },
            span_a: span(a),
            span_b: span(b),
            tolerance,
            stats: errors.stats(),
            lag: None,
            after_lag: None,
            intervals: how.and_then(|how| intervals(key, &errors.errors, how)),
            phases: phases.collect(),
            drawn: None,
        }
    }

    // --- samples -------------------------------------------------------------------------

    fn trimmed_a(&self, key: &str) -> Option<Series> {
        let series = self.a.series(key)?;
        let Options { start, end, .. } = self.options;
        let from = start.map_or(0, |start| series.times.partition_point(|t| *t < start));
        let to = end.map_or(series.times.len(), |end| series.times.partition_point(|t| *t <= end));
        Some(cut(series, from, to))
    }

    /// B, with what lies within the tolerance of the ends; where it is interpolated, with one
    /// sample more at each.
    fn trimmed_b(&self, key: &str) -> Option<Series> {
        let series = self.b.series(key)?;
        let Options { start, end, sampling, .. } = self.options;
        if start.is_none() && end.is_none() {
            return Some(series);
        }
        let around = match sampling {
            Sampling::Exact => SimDuration::ZERO,
            _ => self.tolerance(&[], &series.times).unwrap_or(SimDuration::ZERO),
        };
        let n_more = usize::from(*sampling == Sampling::Interpolate);
        let from = start.map_or(0, |start| {
            series.times.partition_point(|t| *t < start - around).saturating_sub(n_more)
        });
        let to = end.map_or(series.times.len(), |end| {
            (series.times.partition_point(|t| *t <= end + around) + n_more).min(series.times.len())
        });
        Some(cut(series, from, to))
    }

    /// Components at the moments that all of them have.
    fn columns_a(&self, keys: &[String]) -> Option<Vec<Series>> {
        Some(even(keys.iter().map(|key| self.trimmed_a(key)).collect::<Option<_>>()?))
    }

    fn columns_b(&self, keys: &[String]) -> Option<Vec<Series>> {
        Some(even(keys.iter().map(|key| self.trimmed_b(key)).collect::<Option<_>>()?))
    }

    /// What a key is measured in, as far as a side or somebody else knows.
    fn unit(&self, key: &str, a: &Series, b: &Series) -> &'static str {
        let told = || self.options.units.get(key).copied().unwrap_or_default();
        [a.unit, b.unit]
            .map(Unit::word)
            .into_iter()
            .find(|unit| !unit.is_empty())
            .unwrap_or_else(told)
    }

    // --- pairs ---------------------------------------------------------------------------

    fn pairing(
        &mut self,
        times_a: &[SimTime],
        times_b: &[SimTime],
    ) -> (Arc<Pairing>, Option<SimDuration>) {
        if let Some(last) = &self.last
            && last.times_a == times_a
            && last.times_b == times_b
        {
            return (last.pairing.clone(), last.tolerance);
        }
        let tolerance = self.tolerance(times_a, times_b);
        let Options { sampling, rule, .. } = self.options;
        let pairing = Arc::new(pair(times_a, times_b, *sampling, *rule, tolerance));
        self.last = Some(LastPairs {
            times_a: times_a.to_vec(),
            times_b: times_b.to_vec(),
            tolerance,
            pairing: pairing.clone(),
        });
        (pairing, tolerance)
    }

    fn tolerance(&self, times_a: &[SimTime], times_b: &[SimTime]) -> Option<SimDuration> {
        match (self.options.sampling, self.options.rule) {
            (Sampling::Exact, _) => Some(SimDuration::ZERO),
            (_, _) if self.options.tolerance.is_some() => self.options.tolerance,
            (Sampling::Interpolate, _) => None,
            (_, Rule::Evo) => Some(EVO_TOLERANCE),
            (_, Rule::OneToOne) => {
                let middle = median_interval(times_b).or_else(|| median_interval(times_a));
                let half = middle.map_or(0, |middle| middle.nanos() / 2);
                Some(SimDuration::from_nanos(half))
            }
        }
    }
}

/// The errors of a number. `whole_a` is A with the full turns of an angle: that it jumps by a
/// turn where it passes ±π is no part of how much it moves.
fn number_errors(
    (a, whole_a): (&Series, &[f64]),
    b: &Series,
    pairs: &[Pair],
    is_angle: bool,
) -> Errors {
    let values_a: Vec<f64> = pairs.iter().map(|pair| whole_a[pair.a]).collect();
    let mut values_b: Vec<f64> =
        pairs.iter().map(|pair| between(&b.values, pair, is_angle)).collect();
    let error = |(pair, b): (&Pair, &f64)| b - a.values[pair.a];
    let mut errors: Vec<f64> = pairs.iter().zip(&values_b).map(error).collect();
    if is_angle {
        for ((error, a), b) in errors.iter_mut().zip(&values_a).zip(&mut values_b) {
            if error.abs() > PI {
                *error = wrap_angle(*error);
            }
            if (*b - a).abs() > PI {
                *b = a + *error;
            }
        }
    }
    Errors {
        times: pairs.iter().map(|pair| a.times[pair.a]).collect(),
        errors,
        reference: Reference::Number { a: values_a, b: values_b },
    }
}
