//! Student's distribution: how far an estimate may be from the truth.

use headland_base::maths::{PI, exp, log, log1p};

/// The `t` that a number of Student's distribution is below with the probability `p`.
///
/// By halving: the distribution function is exact to some units in the last place, and so is
/// what it is asked for.
pub fn quantile(p: f64, degrees: f64) -> f64 {
    if !(p > 0.0 && p < 1.0 && degrees > 0.0) {
        return f64::NAN;
    }
    if p < 0.5 {
        return -quantile(1.0 - p, degrees);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while cumulative(high, degrees) < p && high < 1e300 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if cumulative(middle, degrees) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The probability of a number below `t`.
pub fn cumulative(t: f64, degrees: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(degrees / (degrees + t * t), 0.5 * degrees, 0.5);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The regularised incomplete beta function by its continued fraction.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// Lentz's way to evaluate it.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let whole = |d: f64| if d.abs() < TINY { TINY } else { d };
    let mut c = 1.0;
    let mut d = 1.0 / whole(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / whole(1.0 + term * d);
            c = whole(1.0 + term / c);
            change = c * d;
            h *= change;
        }
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h
}

/// Logarithm of the gamma function for positive numbers: Stirling's series, reached by the
/// recurrence where it is not exact yet.
fn log_gamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 12.0 {
        below += log(x);
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let terms =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let series = terms.iter().rev().fold(0.0, |sum, term| sum * z + term) / x;
    (x - 0.5) * log(x) - x + 0.5 * log(2.0 * PI) + series - below
}

#[cfg(test)]
mod tests {
    use headland_base::maths::{sqrt, tan};

    use super::*;

    /// With one degree it is Cauchy's distribution, with two it has a closed form.
    #[test]
    fn closed_forms() {
        for p in [0.6, 0.9, 0.975, 0.9995] {
            let cauchy = tan(PI * (p - 0.5));
            assert!((quantile(p, 1.0) / cauchy - 1.0).abs() < 1e-11, "{p}");
            let a = 2.0 * p - 1.0;
            let two = a * sqrt(2.0 / (1.0 - a * a));
            assert!((quantile(p, 2.0) / two - 1.0).abs() < 1e-11, "{p}");
            assert_eq!(quantile(1.0 - p, 2.0), -quantile(p, 2.0));
        }
    }

    /// From printed tables, and towards the normal distribution.
    #[test]
    fn tables() {
        for (degrees, wanted) in [
            (5.0, 2.570_581_836),
            (10.0, 2.228_138_852),
            (30.0, 2.042_272_456),
            (1e6, 1.959_966_356),
        ] {
            assert!((quantile(0.975, degrees) - wanted).abs() < 1e-8, "{degrees}");
        }
        assert!(quantile(0.0, 3.0).is_nan() && quantile(0.5, 0.0).is_nan());
    }
}
