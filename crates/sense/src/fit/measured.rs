//! Measurements, row by row: where a detector put an object, whether it saw it, how sure it was.
//! Deviations from the truth come out, with what is lost and how. Angles go round: 179° and −179°
//! are 2° apart, and their mean is 180°.
//!
//! However many rows come, memory is bounded: past twice [`MOST_KEPT`] every second row that was
//! kept is let go, and so on. Means, losses and scores are those of all rows.

use std::collections::BTreeMap;

use headland_base::maths::{PI, TAU, atan2, cos, sin, sqrt};

use super::Points;
use crate::noise::{Dropout, Score};

/// So many rows say all there is to say about a mixture.
pub const MOST_KEPT: usize = 20_000;

/// So many different objects are told apart; the rest are one.
const MOST_OBJECTS: usize = 10_000;

/// What deviations are from.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    /// The mean of each object: the object stood still and nobody knows where.
    Mean,
    /// These numbers, in SI; nothing where the table has deviations already.
    Given(Vec<f64>),
}

/// What is gathered while rows come.
#[derive(Clone, Debug)]
pub struct Gathering {
    n_dims: usize,
    /// Of every number, whether it goes round.
    is_angle: Vec<bool>,
    objects: BTreeMap<String, usize>,
    of_object: Vec<OfObject>,
    /// Kept rows: the object, and the numbers one row after the other.
    kept: Vec<usize>,
    numbers: Vec<f64>,
    /// Of the rows that were seen, so many for each that is kept.
    every: usize,
    n_seen: usize,
    scores: Sums,
}

#[derive(Clone, Debug, Default)]
struct OfObject {
    n: f64,
    sums: Vec<f64>,
    /// Of angles: sums of cosines and sines, and the least and the most.
    turns: Vec<[f64; 4]>,
    n_lost: usize,
    n_rows: usize,
    n_runs: usize,
    was_lost: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    n: f64,
    mean: f64,
    square: f64,
}

/// What measurements came to.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Deviations from the truth.
    pub points: Points,
    /// The mean of each object, by name; in SI.
    pub means: Vec<(String, Vec<f64>)>,
    /// Rows of the table.
    pub n_rows: usize,
    /// Rows without a measurement.
    pub n_lost: usize,
    /// Runs of such rows.
    pub n_runs: usize,
    /// Of the rows with a measurement, one of so many is in `points`.
    pub every: usize,
    /// Of all rows with one.
    pub score: Option<Score>,
}

impl Gathering {
    /// Of measurements with so many numbers each.
    pub fn new(n_dims: usize) -> Gathering {
        Gathering::with_angles(std::iter::repeat_n(false, n_dims))
    }

    /// The same, where some of the numbers are angles \[rad\].
    pub fn with_angles(is_angle: impl IntoIterator<Item = bool>) -> Gathering {
        let is_angle: Vec<bool> = is_angle.into_iter().collect();
        Gathering {
            n_dims: is_angle.len(),
            is_angle,
            objects: BTreeMap::new(),
            of_object: Vec::new(),
            kept: Vec::new(),
            numbers: Vec::new(),
            every: 1,
            n_seen: 0,
            scores: Sums::default(),
        }
    }

    /// How many numbers a measurement has.
    pub fn n_dims(&self) -> usize {
        self.n_dims
    }

    /// One more row: numbers in SI, of which any that is not a number says that the object was
    /// not seen.
    pub fn row(&mut self, object: &str, numbers: &[f64], is_found: bool, score: Option<f64>) {
        let object_idx = self.object(object);
        let of = &mut self.of_object[object_idx];
        of.n_rows += 1;
        if !is_found || !numbers.iter().all(|number| number.is_finite()) {
            of.n_lost += 1;
            of.n_runs += usize::from(!of.was_lost);
            of.was_lost = true;
            return;
        }
        of.was_lost = false;
        of.n += 1.0;
        of.sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        for (d, [c, s, low, high]) in of.turns.iter_mut().enumerate() {
            if self.is_angle[d] {
                (*c, *s) = (*c + cos(numbers[d]), *s + sin(numbers[d]));
                (*low, *high) = (low.min(numbers[d]), high.max(numbers[d]));
            }
        }
        if let Some(score) = score.filter(|score| score.is_finite()) {
            self.scores.add(score);
        }
        if self.n_seen.is_multiple_of(self.every) {
            self.kept.push(object_idx);
            self.numbers.extend_from_slice(numbers);
            if self.kept.len() >= 2 * MOST_KEPT {
                self.thin_out();
            }
        }
        self.n_seen += 1;
    }

    fn object(&mut self, name: &str) -> usize {
        if let Some(i) = self.objects.get(name) {
            return *i;
        }
        let name = if self.objects.len() < MOST_OBJECTS { name } else { "…" };
        let fresh = self.of_object.len();
        let i = *self.objects.entry(name.to_string()).or_insert(fresh);
        if i == fresh {
            let sums = vec![0.0; self.n_dims];
            let turns = vec![[0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY]; self.n_dims];
            self.of_object.push(OfObject { sums, turns, ..OfObject::default() });
        }
        i
    }

    fn thin_out(&mut self) {
        let n = self.kept.len() / 2;
        for i in 0..n {
            self.kept[i] = self.kept[2 * i];
            self.numbers
                .copy_within(2 * i * self.n_dims..(2 * i + 1) * self.n_dims, i * self.n_dims);
        }
        self.kept.truncate(n);
        self.numbers.truncate(n * self.n_dims);
        self.every *= 2;
    }

    /// Everything that came, as deviations.
    pub fn finish(self, truth: &Truth) -> Measured {
        let means: Vec<Vec<f64>> = self.of_object.iter().map(OfObject::mean).collect();
        let from = |object: usize| match truth {
            Truth::Mean => means[object].clone(),
            Truth::Given(given) => given.clone(),
        };
        let rows = self.kept.iter().zip(self.numbers.chunks_exact(self.n_dims.max(1)));
        let deviations = rows.flat_map(|(object, numbers)| {
            let from = from(*object);
            let off = numbers.iter().zip(from).zip(&self.is_angle);
            off.map(|((number, from), is_angle)| match is_angle {
                true => the_shorter_way(number - from),
                false => number - from,
            })
            .collect::<Vec<f64>>()
        });
        let points = Points::new(deviations.collect(), self.n_dims.max(1));
        let sum = |of: fn(&OfObject) -> usize| self.of_object.iter().map(of).sum();
        let named = self.objects.into_iter().map(|(name, i)| (name, means[i].clone())).collect();
        Measured {
            points,
            means: named,
            n_rows: sum(|of| of.n_rows),
            n_lost: sum(|of| of.n_lost),
            n_runs: sum(|of| of.n_runs),
            every: self.every,
            score: self.scores.score(),
        }
    }
}

impl OfObject {
    /// Of angles that are within half a turn of each other the plain mean, and of others that of
    /// their directions.
    fn mean(&self) -> Vec<f64> {
        let one = |(sum, [c, s, low, high]): (&f64, &[f64; 4])| match high - low > PI {
            true => atan2(*s, *c),
            false => sum / self.n.max(1.0),
        };
        self.sums.iter().zip(&self.turns).map(one).collect()
    }
}

/// An angle between −π and π: the same direction.
fn the_shorter_way(angle: f64) -> f64 {
    if angle.abs() <= PI { angle } else { angle - TAU * (angle / TAU).round() }
}

impl Measured {
    /// How objects are lost: in runs, where there are fewer runs than losses each for itself
    /// would make, at a confidence of 99.9 %.
    pub fn dropout(&self) -> Dropout {
        let (n, lost, runs) = (self.n_rows as f64, self.n_lost as f64, self.n_runs as f64);
        if lost == 0.0 || n == 0.0 {
            return Dropout::default();
        }
        let rate = lost / n;
        let expected = n * rate * (1.0 - rate);
        let error = sqrt((expected * (1.0 - 3.0 * rate * (1.0 - rate))).max(0.0));
        let bursty = Dropout { rate, burst: Some(lost / runs) };
        let is_bursty = runs < expected - 3.29 * error && bursty.fault().is_none();
        if is_bursty { bursty } else { Dropout { rate, burst: None } }
    }

    /// Between which shares the rate of losses is, at a confidence of 95 % (Wilson).
    pub fn dropout_between(&self) -> (f64, f64) {
        let n = (self.n_rows as f64).max(1.0);
        let (p, z) = (self.n_lost as f64 / n, 1.96);
        let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z * sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n)) / (1.0 + z * z / n);
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }
}

impl Sums {
    /// Welford's way, which loses nothing where numbers are close to each other.
    fn add(&mut self, x: f64) {
        self.n += 1.0;
        let before = x - self.mean;
        self.mean += before / self.n;
        self.square += before * (x - self.mean);
    }

    fn score(&self) -> Option<Score> {
        let stddev = sqrt(self.square / self.n.max(1.0));
        (self.n > 0.0).then_some(Score { mean: self.mean, stddev })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::Seed;

    #[test]
    fn deviations_are_from_the_mean_of_each_object() {
        let mut all = Gathering::new(1);
        for (object, x) in [("a", 1.0), ("b", 10.0), ("a", 3.0), ("b", 10.5), ("b", f64::NAN)] {
            all.row(object, &[x], true, Some(0.5));
        }
        let measured = all.clone().finish(&Truth::Mean);
        let points: Vec<f64> = measured.points.iter().map(|p| p[0]).collect();
        assert_eq!(points, [-1.0, -0.25, 1.0, 0.25]);
        assert_eq!((measured.n_rows, measured.n_lost, measured.n_runs), (5, 1, 1));
        assert_eq!(measured.score, Some(Score { mean: 0.5, stddev: 0.0 }));
        let given = all.finish(&Truth::Given(vec![1.0]));
        assert_eq!(given.points.at(1), [9.0]);
    }

    /// Angles around ±π are as close to each other as they are anywhere else: turned by any angle,
    /// and counted from any turn, they deviate by the same.
    #[test]
    fn angles_go_round() {
        let deviations = |turned: f64, truth: &dyn Fn(f64) -> Truth| -> Vec<f64> {
            let mut all = Gathering::with_angles([false, true]);
            for i in -20..=20 {
                let angle = the_shorter_way(turned + f64::from(i) * 0.01);
                all.row("", &[turned, angle], true, None);
            }
            let measured = all.finish(&truth(turned));
            assert!((the_shorter_way(measured.means[0].1[1] - turned)).abs() < 1e-12, "{turned}");
            measured.points.iter().map(|p| p[1]).collect()
        };
        let truths: [&dyn Fn(f64) -> Truth; 2] =
            [&|_| Truth::Mean, &|at| Truth::Given(vec![0.0, at + TAU])];
        for turned in [0.0, 1.0, 3.1, PI, -3.1, 2.0 * PI, 100.0 * PI + 3.0] {
            for truth in truths {
                for (i, off) in (-20..=20).zip(deviations(turned, truth)) {
                    assert!((off - f64::from(i) * 0.01).abs() < 1e-12, "{turned}: {off}");
                }
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_what_is_counted_is_counted() {
        let mut all = Gathering::new(2);
        for i in 0..200_000 {
            all.row("", &[f64::from(i), 0.5], i % 10 != 0, None);
        }
        let measured = all.finish(&Truth::Given(vec![0.0, 0.0]));
        assert!(measured.points.len() < 2 * MOST_KEPT && measured.points.len() > MOST_KEPT / 2);
        assert_eq!((measured.every, measured.n_rows, measured.n_lost), (8, 200_000, 20_000));
        let (low, high) = measured.dropout_between();
        assert!(low < 0.1 && high > 0.1 && high - low < 0.003);
        // One in ten exactly is more even than chance, and no run is longer than one.
        assert_eq!(measured.dropout(), Dropout { rate: 0.1, burst: None });
    }

    #[test]
    fn losses_in_runs_are_told_from_losses_each_for_itself() {
        for (burst, seed) in [(None, 1), (Some(4.0), 2), (None, 3), (Some(2.0), 4)] {
            let mut dropper = Dropout { rate: 0.2, burst }.dropper(&Seed::new(seed));
            let mut all = Gathering::new(1);
            (0..5000).for_each(|_| all.row("", &[0.0], !dropper.loses(), None));
            let found = all.finish(&Truth::Mean).dropout();
            assert!((found.rate - 0.2).abs() < 0.05, "{found:?}");
            assert_eq!(found.burst.is_some(), burst.is_some(), "{found:?}");
            if let (Some(a), Some(b)) = (found.burst, burst) {
                assert!((a / b - 1.0).abs() < 0.2, "{a} {b}");
            }
        }
    }
}
