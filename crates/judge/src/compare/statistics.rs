//! What is said of an error over time: e = B − A, one number per pair.
//!
//! Definitions are those of NumPy: `std` is of the population, percentiles lie on the line
//! between two values. What is undefined is `None` and said so: nothing can be explained of a
//! reference that never changes. Sums are compensated, so that the answer does not depend on
//! how long a recording is; numbers whose squares a double cannot hold are measured by the
//! largest of them, so that it does not depend on the unit either.

use headland_base::SimTime;
use headland_base::maths::sqrt;

/// All there is to say of the errors of one key. There is at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// Pairs.
    pub n: usize,
    /// Mean error.
    pub bias: f64,
    /// Mean size of the error.
    pub mae: f64,
    /// Root of the mean square.
    pub rmse: f64,
    /// Standard deviation of the error, of the population.
    pub std: f64,
    /// Sum of the squares.
    pub sse: f64,
    /// The lowest error, and when.
    pub min: (f64, SimTime),
    /// The highest error, and when.
    pub max: (f64, SimTime),
    /// The largest error of either sign, and when.
    pub max_abs: (f64, SimTime),
    /// Half of the errors are smaller than this.
    pub median_abs: f64,
    /// Nineteen of twenty errors are smaller than this.
    pub p95_abs: f64,
    /// RMSE over the range of A.
    pub nrmse_range: Option<f64>,
    /// RMSE over the standard deviation of A.
    pub nrmse_std: Option<f64>,
    /// 1 − Σe² / Σ(a − ā)².
    pub r2: Option<f64>,
    /// Pearson's correlation of A and B.
    pub correlation: Option<f64>,
    /// 100·(1 − ‖e‖ / ‖a − ā‖) \[%\].
    pub fit: Option<f64>,
    /// Share of the pairs that differ at all.
    pub mismatch: f64,
}

/// What a reference is like, as far as errors are measured by it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Standard deviation of A, of the population, where A is not constant.
    pub std: Option<f64>,
    /// Highest less lowest, where A is not constant and has such.
    pub range: Option<f64>,
    /// Correlation with B, where neither is constant.
    pub correlation: Option<f64>,
}

impl Stats {
    /// Of errors at times, both as long; `None` for none.
    pub fn of(times: &[SimTime], errors: &[f64], spread: &Spread) -> Option<Stats> {
        assert_eq!(times.len(), errors.len(), "one error per time");
        let n = errors.len();
        if n == 0 {
            return None;
        }
        let count = n as f64;
        let bias = mean(errors);
        let rmse = root_mean_square(errors, 0.0);
        let mut sizes: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        let mae = mean(&sizes);
        let when = |best: usize| (errors[best], times[best]);
        let (min, max) = (when(first_by(errors, |e| -e)), when(first_by(errors, |e| e)));
        let worst = when(first_by(errors, f64::abs));
        let p95_abs = percentile(&mut sizes, 0.95);
        let median_abs = percentile(&mut sizes, 0.5);
        Some(Stats {
            n,
            bias,
            mae,
            rmse,
            std: root_mean_square(errors, bias),
            sse: sum(errors, |e| e * e),
            min,
            max,
            max_abs: (worst.0.abs(), worst.1),
            median_abs,
            p95_abs,
            nrmse_range: spread.range.map(|range| rmse / range),
            nrmse_std: spread.std.map(|std| rmse / std),
            r2: spread.std.map(|std| 1.0 - (rmse / std) * (rmse / std)),
            correlation: spread.correlation,
            fit: spread.std.map(|std| 100.0 * (1.0 - rmse / std)),
            mismatch: errors.iter().filter(|e| **e != 0.0).count() as f64 / count,
        })
    }
}

impl Spread {
    /// Of one number over time, beside the other side's.
    pub fn of(a: &[f64], b: &[f64]) -> Spread {
        let (Some(range_a), Some(range_b)) = (range(a), range(b)) else { return Spread::default() };
        if range_a == 0.0 {
            return Spread::default();
        }
        let std = deviation(a);
        let correlation = (range_b > 0.0).then(|| {
            let (mean_a, mean_b) = (mean(a), mean(b));
            let (unit_a, unit_b) = (unit(range_a), unit(range_b));
            let one = |(a, b): (&f64, &f64)| ((a - mean_a) / unit_a) * ((b - mean_b) / unit_b);
            let products: Vec<f64> = a.iter().zip(b).map(one).collect();
            let cross = sum(&products, |product| product) / a.len() as f64;
            (cross / (std / unit_a * (deviation(b) / unit_b))).clamp(-1.0, 1.0)
        });
        Spread { std: Some(std), range: Some(range_a), correlation }
    }

    /// Of several numbers over time together.
    pub fn of_vector(components: &[Vec<f64>]) -> Spread {
        let is_constant = components.iter().all(|column| range(column).unwrap_or(0.0) == 0.0);
        // The squares of all components at a moment add up.
        let together = || {
            let each: Vec<f64> = components.iter().map(|c| deviation(c)).collect();
            root_mean_square(&each, 0.0) * sqrt(components.len() as f64)
        };
        Spread { std: (!is_constant).then(together), range: None, correlation: None }
    }
}

fn range(values: &[f64]) -> Option<f64> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some(high - low)
}

/// Of values that are there.
pub(super) fn mean(values: &[f64]) -> f64 {
    match unit(largest(values, 0.0)) {
        1.0 => sum(values, |v| v) / values.len() as f64,
        unit => unit * (sum(values, |v| v / unit) / values.len() as f64),
    }
}

/// Standard deviation, of the population.
fn deviation(values: &[f64]) -> f64 {
    root_mean_square(values, mean(values))
}

/// Of the ways from `centre`.
fn root_mean_square(values: &[f64], centre: f64) -> f64 {
    let count = values.len() as f64;
    match unit(largest(values, centre)) {
        1.0 => sqrt(sum(values, |v| (v - centre) * (v - centre)) / count),
        unit => {
            let square = |v: f64| ((v - centre) / unit) * ((v - centre) / unit);
            unit * sqrt(sum(values, square) / count)
        }
    }
}

/// The largest way from `centre`.
fn largest(values: &[f64], centre: f64) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0f64; LANES];
    for chunk in chunks {
        for (lane, v) in lanes.iter_mut().zip(chunk) {
            let size = (v - centre).abs();
            *lane = if size > *lane { size } else { *lane };
        }
    }
    lanes.iter().copied().chain(rest.iter().map(|v| (v - centre).abs())).fold(0.0, f64::max)
}

/// Where what is said of a value is highest, the first of several.
fn first_by(values: &[f64], of: impl Fn(f64) -> f64) -> usize {
    let mut best = 0;
    for (i, v) in values.iter().enumerate() {
        if of(*v) > of(values[best]) {
            best = i;
        }
    }
    best
}

/// What numbers up to `largest` are measured by so that their squares neither vanish nor
/// overflow: one, for all that people measure.
fn unit(largest: f64) -> f64 {
    let is_usual = largest == 0.0 || (1e-130..1e130).contains(&largest);
    if is_usual || !largest.is_finite() { 1.0 } else { largest }
}

/// Sums side by side, so that the processor may do several at once; the order is always the same.
const LANES: usize = 8;

/// The sum of what `of` says of every value. What a large number swallows of a small one is kept
/// beside (Knuth's two-sum).
fn sum(values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let (mut sums, mut lost) = ([0.0f64; LANES], [0.0f64; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for ((sum, lost), v) in sums.iter_mut().zip(&mut lost).zip(chunk) {
            add(sum, lost, of(*v));
        }
    }
    let (mut sum, mut all_lost) = (0.0, lost.iter().sum::<f64>());
    let others = rest.iter().map(|v| of(*v));
    others.chain(sums).for_each(|term| add(&mut sum, &mut all_lost, term));
    // Beyond the largest number there is nothing to keep beside.
    if (sum + all_lost).is_nan() { sum } else { sum + all_lost }
}

#[inline(always)]
fn add(sum: &mut f64, lost: &mut f64, term: f64) {
    let next = *sum + term;
    let taken = next - *sum;
    *lost += (*sum - (next - taken)) + (term - taken);
    *sum = next;
}

/// The value below which a share of all lies, on the line between two neighbours; sorts only
/// as far as it must. Values are finite and there is one.
pub(super) fn percentile(values: &mut [f64], share: f64) -> f64 {
    let place = share * (values.len() - 1) as f64;
    let below = place as usize;
    let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    match above.iter().copied().reduce(f64::min) {
        Some(high) => low + (high - low) * (place - below as f64),
        None => low,
    }
}

/// One statistic: its name, what it says, its value.
pub struct Statistic {
    /// What people type.
    pub name: &'static str,
    /// In a few words.
    pub what: &'static str,
    /// Its value, where defined.
    pub of: fn(&Stats) -> Option<f64>,
}

/// Every statistic of errors, in the order tables show them. Those of a whole key, such as
/// coverage and lag, are in [`super::KEY_STATISTICS`].
pub const STATISTICS: &[Statistic] = &[
    Statistic { name: "n", what: "pairs", of: |s| Some(s.n as f64) },
    Statistic { name: "bias", what: "mean of e = B - A", of: |s| Some(s.bias) },
    Statistic { name: "mae", what: "mean of |e|", of: |s| Some(s.mae) },
    Statistic { name: "rmse", what: "root of the mean of e²", of: |s| Some(s.rmse) },
    Statistic {
        name: "std",
        what: "standard deviation of e, of the population",
        of: |s| Some(s.std),
    },
    Statistic { name: "min", what: "lowest e", of: |s| Some(s.min.0) },
    Statistic { name: "max", what: "highest e", of: |s| Some(s.max.0) },
    Statistic { name: "max_abs", what: "largest |e|", of: |s| Some(s.max_abs.0) },
    Statistic { name: "median_abs", what: "median of |e|", of: |s| Some(s.median_abs) },
    Statistic { name: "p95_abs", what: "95th percentile of |e|", of: |s| Some(s.p95_abs) },
    Statistic { name: "sse", what: "sum of e²", of: |s| Some(s.sse) },
    Statistic { name: "nrmse_range", what: "RMSE over the range of A", of: |s| s.nrmse_range },
    Statistic {
        name: "nrmse_std",
        what: "RMSE over the standard deviation of A",
        of: |s| s.nrmse_std,
    },
    Statistic {
        name: "r2",
        what: "share of how A varies that B has too: 1 - Σe²/Σ(a - mean)²",
        of: |s| s.r2,
    },
    Statistic { name: "correlation", what: "Pearson's, of A and B", of: |s| s.correlation },
    Statistic { name: "fit", what: "100·(1 - |e|/|a - mean|), in percent", of: |s| s.fit },
    Statistic {
        name: "mismatch",
        what: "share of pairs that differ at all",
        of: |s| Some(s.mismatch),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(a: &[f64], b: &[f64]) -> Stats {
        let times: Vec<SimTime> = (0..a.len() as i64).map(SimTime::from_nanos).collect();
        let errors: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
        Stats::of(&times, &errors, &Spread::of(a, b)).unwrap()
    }

    #[test]
    fn by_hand() {
        let s = stats(&[0.0, 1.0, 2.0, 3.0], &[1.0, 1.0, 0.0, 3.0]); // e = 1 0 -2 0
        assert_eq!((s.n, s.bias, s.mae, s.sse), (4, -0.25, 0.75, 5.0));
        assert_eq!((s.rmse, s.median_abs), (sqrt(1.25), 0.5));
        assert_eq!((s.min, s.max), ((-2.0, SimTime::from_nanos(2)), (1.0, SimTime::ZERO)));
        assert_eq!(s.max_abs, (2.0, SimTime::from_nanos(2)));
        assert!((s.p95_abs - 1.85).abs() < 1e-15);
        assert_eq!((s.r2, s.nrmse_range), (Some(0.0), Some(sqrt(1.25) / 3.0)));
        assert_eq!((s.fit, s.mismatch), (Some(0.0), 0.5));
    }

    #[test]
    fn nothing_is_explained_of_what_never_changes() {
        let s = stats(&[0.1, 0.1, 0.1], &[0.1, 0.2, 0.3]);
        assert_eq!((s.r2, s.fit, s.correlation, s.nrmse_std, s.nrmse_range), Default::default());
        let s = stats(&[0.1, 0.2, 0.3], &[0.1, 0.1, 0.1]);
        assert!(s.r2.is_some() && s.correlation.is_none());
        let one = stats(&[1.0], &[3.0]);
        assert_eq!((one.n, one.std, one.p95_abs, one.r2), (1, 0.0, 2.0, None));
        assert!(Stats::of(&[], &[], &Spread::default()).is_none());
    }

    /// Volts of a nerve or metres to a star: the unit is the user's business.
    #[test]
    fn the_unit_changes_nothing() {
        let (a, b) = ([0.0, 1.0, 2.0, 3.0, 0.5], [1.0, 1.0, 0.0, 3.0, 0.25]);
        let plain = stats(&a, &b);
        // Powers of two, so that nothing is rounded.
        for power in [-1000, -700, -500, 500, 700, 1000] {
            let unit = headland_base::maths::pow(2.0, f64::from(power));
            let far = stats(&a.map(|v| v * unit), &b.map(|v| v * unit));
            let close = |got: f64, want: f64| (got - want).abs() <= 1e-14 * want.abs();
            for (got, want) in [
                (far.bias, plain.bias),
                (far.mae, plain.mae),
                (far.rmse, plain.rmse),
                (far.std, plain.std),
            ] {
                assert!(close(got / unit, want), "2^{power}: {got} for {want}");
            }
            for (got, want) in [
                (far.r2, plain.r2),
                (far.fit, plain.fit),
                (far.correlation, plain.correlation),
                (far.nrmse_std, plain.nrmse_std),
            ] {
                assert!(close(got.unwrap(), want.unwrap()), "2^{power}: {got:?} for {want:?}");
            }
        }
    }

    #[test]
    fn a_large_offset_swallows_nothing() {
        let a: Vec<f64> = (0..10_000).map(|i| 1e9 + f64::from(i % 7)).collect();
        let b: Vec<f64> = a.iter().map(|a| a + 0.25).collect();
        let s = stats(&a, &b);
        assert_eq!((s.bias, s.rmse, s.std, s.correlation), (0.25, 0.25, 0.0, Some(1.0)));
    }
}
