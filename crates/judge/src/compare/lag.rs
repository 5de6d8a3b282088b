//! How late B is: the shift at which it looks most like A.
//!
//! Both go onto one grid with the middle interval of A. At each whole shift the correlation of
//! what overlaps is taken; a parabola through the best and its neighbours says the rest.
//! Deliberately absent: applying it. A lag is reported, and whoever wants it gone shifts the
//! times on purpose.

use std::sync::{Mutex, PoisonError};

use headland_base::maths::sqrt;
use headland_base::{SimDuration, SimTime};
use headland_record::align::{Method, resample};

use super::correlate::products;
use super::pairing::median_interval;
use super::statistics::mean;

/// Most shifts looked at to either side, where nobody says how far.
pub const SHIFTS: usize = 200;
/// Most points of the grid; a longer recording gets a wider one. This is what bounds the memory of
/// a key, whatever the recording and however wide the lags: both signals on it and their running
/// sums take some 60 MB, on each thread. Shifts as far as two thirds of the grid take transforms
/// of twice its length, some 170 MB with all that goes with them.
const GRID_MAX: usize = 1 << 20;
/// Shifts beyond this many are wide: the transforms of fewer take some megabytes beside the
/// signals.
const WIDE: usize = 1 << 14;
/// Whoever looks at wide lags. One key at a time does, so that threads do not multiply what the
/// transforms take.
static LOOKS_WIDE: Mutex<()> = Mutex::new(());
/// What overlaps must be at least so many points, and a third of the whole.
const OVERLAP_MIN: usize = 8;

/// Most points of a curve.
const CURVE_MAX: usize = 4000;

/// A correlation that changes less than this over all shifts says nothing.
const FLAT: f64 = 1e-6;

/// How late B is.
#[derive(Clone, Debug, PartialEq)]
pub struct Lag {
    /// \[s\]; positive where B is late.
    pub secs: f64,
    /// The correlation there.
    pub correlation: f64,
    /// Whether it lies at the edge of what was looked at, so that the true one may be further.
    pub is_at_edge: bool,
    /// The correlation at the shifts that were looked at \[s\], for a drawing: at each, or the
    /// highest of neighbours where there are more than anybody can see.
    pub curve: Vec<(f64, f64)>,
}

/// The lag of B, both sides with strictly increasing times; `None` where a side is too short or
/// never changes.
pub fn lag(
    (times_a, a): (&[SimTime], &[f64]),
    (times_b, b): (&[SimTime], &[f64]),
    most: Option<SimDuration>,
) -> Option<Lag> {
    let start = (*times_a.first()?).max(*times_b.first()?);
    let end = (*times_a.last()?).min(*times_b.last()?);
    let span = (end - start).nanos();
    if span <= 0 {
        return None;
    }
    let coarsest = span / (GRID_MAX as i64 - 1) + 1;
    let step = match median_interval(times_a)?.nanos().max(1) {
        step if span / step < GRID_MAX as i64 => step,
        _ => coarsest,
    };
    let n = (span / step) as usize + 1;
    let grid = || (0..n as i64).map(|i| start + SimDuration::from_nanos(i * step));
    let on_grid = |times: &[SimTime], values: &[f64]| -> Option<Vec<f64>> {
        if times.len() >= n && times.iter().copied().zip(grid()).all(|(time, on)| time == on) {
            return centred(&values[..n]);
        }
        let grid: Vec<SimTime> = grid().collect();
        let found = resample(times, values, &grid, Method::Interpolate).into_iter();
        centred(&found.collect::<Option<Vec<f64>>>()?)
    };
    let n_least = OVERLAP_MIN.max(n / 3);
    let shifts = most.map_or(SHIFTS, |most| (most.nanos() / step) as usize);
    let shifts = shifts.min(n.checked_sub(n_least)?);
    // Whoever broke while looking has left nothing behind.
    let _alone = (shifts > WIDE).then(|| LOOKS_WIDE.lock().unwrap_or_else(PoisonError::into_inner));
    let found = correlations(&on_grid(times_a, a)?, &on_grid(times_b, b)?, shifts);
    let (best, _) =
        (found.iter().enumerate()).filter(|(_, c)| c.is_finite()).max_by(|(i, x), (j, y)| {
            // Of shifts as good, the one nearest to none.
            x.total_cmp(y).then_with(|| j.abs_diff(shifts).cmp(&i.abs_diff(shifts)))
        })?;
    // A straight line looks the same at every shift, up to rounding.
    let lowest = found.iter().copied().filter(|c| c.is_finite()).fold(f64::INFINITY, f64::min);
    if found[best] - lowest < FLAT && shifts > 0 {
        return None;
    }
    let step_secs = SimDuration::from_nanos(step).secs();
    let is_at_edge = shifts > 0 && (best == 0 || best == 2 * shifts);
    let beyond = if is_at_edge || shifts == 0 { 0.0 } else { peak(&found[best - 1..=best + 1]) };
    let shift_secs = |i: usize| (i as f64 - shifts as f64) * step_secs;
    Some(Lag {
        secs: shift_secs(best) + beyond * step_secs,
        correlation: found[best],
        is_at_edge,
        curve: curve(&found).into_iter().map(|(i, c)| (shift_secs(i), c)).collect(),
    })
}

/// Shifts and correlations, few enough to be drawn.
fn curve(found: &[f64]) -> Vec<(usize, f64)> {
    let n_each = found.len().div_ceil(CURVE_MAX).max(1);
    let highest = |(k, some): (usize, &[f64])| {
        let is_better = |i: usize, best: usize| some[i] > some[best] || some[best].is_nan();
        let better = |best, i| if is_better(i, best) { i } else { best };
        let best = (1..some.len()).fold(0, better);
        (k * n_each + best, some[best])
    };
    found.chunks(n_each).enumerate().map(highest).collect()
}

/// Less its mean, measured by the largest of what is left; `None` for what never changes.
fn centred(values: &[f64]) -> Option<Vec<f64>> {
    let first = values.first()?;
    if values.iter().all(|v| v == first) {
        return None;
    }
    let mean = mean(values);
    let largest = values.iter().fold(0.0, |most, v| (v - mean).abs().max(most));
    Some(values.iter().map(|v| (v - mean) / largest).collect())
}

/// Pearson's correlation of `a[i]` and `b[i + shift]`, over what overlaps, for every shift from
/// `-shifts` to `shifts`; NaN where a side does not change within the overlap.
fn correlations(a: &[f64], b: &[f64], shifts: usize) -> Vec<f64> {
    let n = a.len();
    let (sums_a, sums_b) = (running(a), running(b));
    let crosses = products(a, b, shifts);
    let one = |shift: i64| {
        let (from_a, from_b) = ((-shift).max(0) as usize, shift.max(0) as usize);
        let m = n - from_a.max(from_b);
        let cross = crosses[(shift + shifts as i64) as usize];
        let over = |sums: &[(f64, f64)], from: usize| {
            (sums[from + m].0 - sums[from].0, sums[from + m].1 - sums[from].1)
        };
        let ((sum_a, squares_a), (sum_b, squares_b)) =
            (over(&sums_a, from_a), over(&sums_b, from_b));
        let count = m as f64;
        let (var_a, var_b) = (squares_a - sum_a * sum_a / count, squares_b - sum_b * sum_b / count);
        // What is left of rounding is no change.
        if var_a <= 1e-12 * squares_a.abs() || var_b <= 1e-12 * squares_b.abs() {
            return f64::NAN;
        }
        ((cross - sum_a * sum_b / count) / (sqrt(var_a) * sqrt(var_b))).clamp(-1.0, 1.0)
    };
    (-(shifts as i64)..=shifts as i64).map(one).collect()
}

/// Sums of values and of their squares up to each place.
fn running(values: &[f64]) -> Vec<(f64, f64)> {
    let mut out = Vec::with_capacity(values.len() + 1);
    let mut sums = (0.0, 0.0);
    out.push(sums);
    for v in values {
        sums = (sums.0 + v, sums.1 + v * v);
        out.push(sums);
    }
    out
}

/// Where a parabola through three neighbours peaks, from the middle one.
fn peak(three: &[f64]) -> f64 {
    let bend = three[0] - 2.0 * three[1] + three[2];
    if bend < 0.0 { 0.5 * (three[0] - three[2]) / bend } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::maths::sin;

    fn sampled(n: usize, step_secs: f64, of: impl Fn(f64) -> f64) -> (Vec<SimTime>, Vec<f64>) {
        let times: Vec<SimTime> =
            (0..n).map(|i| SimTime::from_secs(i as f64 * step_secs).unwrap()).collect();
        let values = times.iter().map(|t| of(t.secs())).collect();
        (times, values)
    }

    fn of(a: &(Vec<SimTime>, Vec<f64>), b: &(Vec<SimTime>, Vec<f64>)) -> Option<Lag> {
        lag((&a.0, &a.1), (&b.0, &b.1), None)
    }

    #[test]
    fn a_delay_is_found_to_a_part_of_a_sample_with_its_sign() {
        let wave = |t: f64| sin(3.0 * t) + 0.4 * sin(11.0 * t);
        let a = sampled(2000, 0.002, wave);
        for late in [0.03, -0.03, 0.0, 0.0473, -0.0111] {
            let b = sampled(2000, 0.002, |t| wave(t - late));
            let got = of(&a, &b).unwrap();
            assert!((got.secs - late).abs() < 2e-5, "{late}: {}", got.secs);
            assert!(got.correlation > 0.9999 && !got.is_at_edge);
        }
        // Another rate on the other side changes nothing.
        let b = sampled(1333, 0.003, |t| wave(t - 0.03));
        assert!((of(&a, &b).unwrap().secs - 0.03).abs() < 1e-4);
    }

    #[test]
    fn what_has_no_lag_says_so() {
        let a = sampled(100, 0.01, sin);
        assert_eq!(of(&a, &sampled(100, 0.01, |_| 1.0)), None);
        assert_eq!(of(&sampled(100, 0.01, |_| 0.1), &a), None);
        assert_eq!(of(&sampled(100, 0.01, |t| 2.0 * t), &sampled(100, 0.01, |t| t - 0.3)), None);
        assert_eq!(of(&sampled(1, 0.01, sin), &a), None);
        assert_eq!(of(&sampled(0, 0.01, sin), &a), None);
        assert_eq!(of(&sampled(5, 0.01, sin), &sampled(5, 0.01, sin)), None);
        let late = (
            a.0.iter().map(|t| *t + SimDuration::from_nanos(5_000_000_000)).collect(),
            a.1.clone(),
        );
        assert_eq!(of(&a, &late), None);
    }

    /// Shifts as far as a third of the whole overlaps: what took the square of its length.
    #[test]
    fn a_lag_of_half_the_recording_is_found() {
        let wave = |t: f64| sin(3.0 * t) + 0.4 * sin(11.0 * t) + sin(0.0007 * t * t);
        let a = sampled(60_000, 0.01, wave);
        let b = sampled(60_000, 0.01, |t| wave(t - 299.9937));
        let wide = lag((&a.0, &a.1), (&b.0, &b.1), SimDuration::from_secs(3600.0)).unwrap();
        assert!((wide.secs - 299.9937).abs() < 1e-4 && !wide.is_at_edge, "{}", wide.secs);
        assert!(wide.curve.len() <= CURVE_MAX, "{}", wide.curve.len());
        assert!(wide.curve.iter().any(|(_, c)| *c == wide.correlation), "the best is drawn");
    }

    #[test]
    fn a_lag_beyond_the_search_is_said_to_be_at_its_edge() {
        let a = sampled(2000, 0.01, |t| sin(0.3 * t));
        let b = sampled(2000, 0.01, |t| sin(0.3 * (t - 3.0)));
        assert!(of(&a, &b).unwrap().is_at_edge);
        let most = SimDuration::from_secs(5.0);
        let wide = lag((&a.0, &a.1), (&b.0, &b.1), most).unwrap();
        assert!((wide.secs - 3.0).abs() < 1e-3 && !wide.is_at_edge, "{}", wide.secs);
    }
}
