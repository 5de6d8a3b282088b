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
        let rmse = root_mean_square(errors.iter().copied());
        let mut sizes: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
        let mae = mean(&sizes);
        let first = |is_better: &dyn Fn(f64, f64) -> bool| {
            let mut best = 0;
            for (i, e) in errors.iter().enumerate() {
                if is_better(*e, errors[best]) {
                    best = i;
                }
            }
            (errors[best], times[best])
        };
        let (min, max) = (first(&|e, best| e < best), first(&|e, best| e > best));
        let worst = first(&|e, best| e.abs() > best.abs());
        let p95_abs = percentile(&mut sizes, 0.95);
        let median_abs = percentile(&mut sizes, 0.5);
        Some(Stats {
            n,
            bias,
            mae,
            rmse,
            std: root_mean_square(errors.iter().map(|e| e - bias)),
            sse: sum(errors.iter().map(|e| e * e)),
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
            let cross = sum(a.iter().zip(b).map(one)) / a.len() as f64;
            (cross / (std / unit_a * (deviation(b) / unit_b))).clamp(-1.0, 1.0)
        });
        Spread { std: Some(std), range: Some(range_a), correlation }
    }

    /// Of several numbers over time together.
    pub fn of_vector(components: &[Vec<f64>]) -> Spread {
        let is_constant = components.iter().all(|column| range(column).unwrap_or(0.0) == 0.0);
        // The squares of all components at a moment add up.
        let together = || {
            let each = components.iter().map(|c| deviation(c));
            root_mean_square(each) * sqrt(components.len() as f64)
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
    let unit = unit(largest(values.iter().copied()));
    unit * (sum(values.iter().map(|v| v / unit)) / values.len() as f64)
}

/// Standard deviation, of the population.
fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    root_mean_square(values.iter().map(|v| v - mean))
}

fn root_mean_square(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let count = values.len() as f64;
    let unit = unit(largest(values.clone()));
    unit * sqrt(sum(values.map(|v| (v / unit) * (v / unit))) / count)
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |largest, v| v.abs().max(largest))
}

/// What numbers up to `largest` are measured by so that their squares neither vanish nor
/// overflow: one, for all that people measure.
fn unit(largest: f64) -> f64 {
    let is_usual = largest == 0.0 || (1e-130..1e130).contains(&largest);
    if is_usual || !largest.is_finite() { 1.0 } else { largest }
}

/// Neumaier's sum: what a large number swallows of a small one is kept beside.
pub(super) fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut rest) = (0.0f64, 0.0f64);
    for value in values {
        let next = sum + value;
        rest += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + rest
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

/// One statistic: its name, what it says, whether it has the unit of the key, its value.
pub struct Statistic {
    /// What people type.
    pub name: &'static str,
    /// In a few words.
    pub what: &'static str,
    /// Whether it is in the unit of the key.
    pub has_unit: bool,
    /// Its value, where defined.
    pub of: fn(&Stats) -> Option<f64>,
}

/// Every statistic of errors, in the order tables show them. Those of a whole key, such as
/// coverage and lag, are in [`super::KEY_STATISTICS`].
pub const STATISTICS: &[Statistic] = &[
    Statistic { name: "n", what: "pairs", has_unit: false, of: |s| Some(s.n as f64) },
    Statistic { name: "bias", what: "mean of e = B - A", has_unit: true, of: |s| Some(s.bias) },
    Statistic { name: "mae", what: "mean of |e|", has_unit: true, of: |s| Some(s.mae) },
    Statistic {
        name: "rmse",
        what: "root of the mean of e²",
        has_unit: true,
        of: |s| Some(s.rmse),
    },
    Statistic {
        name: "std",
        what: "standard deviation of e, of the population",
        has_unit: true,
        of: |s| Some(s.std),
    },
    Statistic { name: "min", what: "lowest e", has_unit: true, of: |s| Some(s.min.0) },
    Statistic { name: "max", what: "highest e", has_unit: true, of: |s| Some(s.max.0) },
    Statistic { name: "max_abs", what: "largest |e|", has_unit: true, of: |s| Some(s.max_abs.0) },
    Statistic {
        name: "median_abs",
        what: "median of |e|",
        has_unit: true,
        of: |s| Some(s.median_abs),
    },
    Statistic {
        name: "p95_abs",
        what: "95th percentile of |e|",
        has_unit: true,
        of: |s| Some(s.p95_abs),
    },
    Statistic { name: "sse", what: "sum of e²", has_unit: false, of: |s| Some(s.sse) },
    Statistic {
        name: "nrmse_range",
        what: "RMSE over the range of A",
        has_unit: false,
        of: |s| s.nrmse_range,
    },
    Statistic {
        name: "nrmse_std",
        what: "RMSE over the standard deviation of A",
        has_unit: false,
        of: |s| s.nrmse_std,
    },
    Statistic { name: "r2", what: "1 - Σe²/Σ(a - mean)²", has_unit: false, of: |s| s.r2 },
    Statistic {
        name: "correlation",
        what: "Pearson's, of A and B",
        has_unit: false,
        of: |s| s.correlation,
    },
    Statistic {
        name: "fit",
        what: "100·(1 - |e|/|a - mean|), in percent",
        has_unit: false,
        of: |s| s.fit,
    },
    Statistic {
        name: "mismatch",
        what: "share of pairs that differ at all",
        has_unit: false,
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
