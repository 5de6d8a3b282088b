//! How sure a fit is: intervals, and what the data could not see.
//!
//! The textbook's interval is `t·√(s²·[(JᵀJ)⁻¹]ᵢᵢ)` with `s² = r·r/(n - p)`: right where
//! residuals are independent. Those of a simulation beside a recording are not: what the model
//! gets wrong, it gets wrong for many samples in a row, and a hundred samples that say the same
//! count for one. So the spread of the estimate is also taken from the residuals as they are, by
//! the sandwich `(JᵀJ)⁻¹·M·(JᵀJ)⁻¹` whose middle sums the products of `Jᵀr` at moments up to some
//! lag apart (Newey and West, 1987; the lag by Andrews' rule, 1991, after prewhitening). The wider
//! of the two is what is told, and the degrees of freedom are those of so many independent samples
//! as would give it. What residuals do not show is heeded apart, by [`Worth::heed_starts`]: what
//! the noise of starts does, and where a recording is repeated in windows, each from a start of its
//! own, how far windows disagree, which `windows` has.

use headland_base::maths::{cbrt, dot, pow, sqrt};

use super::Bounds;
use super::dense::{Columns, singular, slices, triangle};
use super::student::quantile;
use super::windows;

/// To which moment a residual belongs. Residuals are correlated within a series (a recording, or
/// a window of one), not across.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Which series.
    pub series: usize,
    /// When in it.
    pub at_nanos: i64,
}

/// How sure one parameter is.
#[derive(Clone, Debug, PartialEq)]
pub struct Sureness {
    /// Half the width of the interval; none where the data does not bound it.
    pub half_width: Option<f64>,
    /// The textbook's half width, of independent residuals.
    pub textbook_half_width: Option<f64>,
    /// The spread of the estimate.
    pub standard_error: f64,
    /// Student's degrees of freedom of its interval.
    pub degrees: f64,
    /// So many independent samples would say as much.
    pub n_effective: f64,
    /// How far windows disagree about it, where there are any: their starts are as they were
    /// measured.
    pub windows: Option<ByWindows>,
}

/// How sure a parameter is by how far windows disagree about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByWindows {
    /// So many windows say something of it.
    pub n: f64,
    /// The spread of the estimate.
    pub standard_error: f64,
}

impl ByWindows {
    /// Student's degrees of freedom.
    fn degrees(self) -> f64 {
        (self.n - 1.0).max(1.0)
    }
}

/// Parameters that can change together without the data telling.
#[derive(Clone, Debug, PartialEq)]
pub struct Unseen {
    /// How much of each, as shares of their ranges; the largest is 1.
    pub direction: Vec<f64>,
    /// Standard error along it, in ranges; infinite where the data says nothing at all.
    pub standard_error: f64,
}

/// What a fit is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Worth {
    /// One per parameter.
    pub parameters: Vec<Sureness>,
    /// What the data cannot see, least seen first.
    pub unseen: Vec<Unseen>,
    /// Spread of a residual \[weighted\]: `√(r·r/(n - p))`.
    pub residual_spread: f64,
    /// Correlations between estimates, a column per parameter.
    pub correlations: Columns,
    /// Covariances of the estimates as told.
    pub covariance: Columns,
    /// `(JᵀJ)⁻¹` over what can be seen.
    inverse: Columns,
    /// `R` of `J = Q·R`, and `Qᵀ·r`.
    triangle: (Columns, Vec<f64>),
}

/// Within this share of its range a parameter is near its bound.
const NEAR_BOUND: f64 = 1e-3;

/// Along a direction whose residuals change by less than this share of those of the clearest,
/// slopes by differences are noise.
const NOISE: f64 = 1e-7;

/// A standard error of so many ranges says that the data cannot tell one end of the range from
/// the other.
const UNSEEN: f64 = 0.5;

/// With fewer windows that say something of a parameter there is no telling how far they disagree.
const FEW_WINDOWS: f64 = 1.5;

/// What a fit at `x` is worth, from its residuals, their slopes and to which moments they belong.
/// `are_windows` where each series starts from what was measured, noise and all. `confidence` is
/// 0.95 for intervals that hold the truth in 95 of 100 experiments.
pub fn worth(
    x: &[f64],
    bounds: &Bounds,
    residuals: &[f64],
    slopes: &Columns,
    (moments, are_windows): (&[Moment], bool),
    confidence: f64,
) -> Worth {
    let (n, p) = (residuals.len(), x.len());
    let degrees = (n as f64 - p as f64).max(0.0);
    let variance = if degrees > 0.0 { dot(residuals, residuals) / degrees } else { f64::INFINITY };

    // In shares of the ranges, so that units do not matter.
    let widths: Vec<f64> = x.iter().enumerate().map(|(i, x)| bounds.width(i, *x)).collect();
    let triangle = triangle(&slices(slopes), residuals);
    let mut r = triangle.0.clone();
    for (column, width) in r.iter_mut().zip(&widths) {
        column.iter_mut().for_each(|r| *r *= width);
    }
    let (values, vectors) = singular(&r);
    let clearest = values.first().copied().unwrap_or(0.0);
    let is_noise = |value: f64| value.is_nan() || value <= NOISE * clearest;

    // (JᵀJ)⁻¹ over what can be seen.
    let mut bread: Columns = vec![vec![0.0; p]; p];
    for (value, vector) in values.iter().zip(&vectors).filter(|(value, _)| !is_noise(**value)) {
        for i in 0..p {
            for j in 0..p {
                bread[i][j] += vector[i] * vector[j] / (value * value);
            }
        }
    }
    let mut middle = middle(slopes, residuals, moments);
    for (column, a) in middle.iter_mut().zip(&widths) {
        column.iter_mut().zip(&widths).for_each(|(entry, b)| *entry *= a * b);
    }
    let small = if degrees > 0.0 { n as f64 / degrees } else { 1.0 };
    let sandwich = product(&product(&bread, &middle), &bread);

    let windows = are_windows.then(|| {
        let in_shares = slopes.iter().zip(&widths);
        let in_shares = in_shares.map(|(column, width)| column.iter().map(|s| s * width).collect());
        windows::spread(&in_shares.collect(), residuals, moments, &bread)
    });

    let mut is_lost = vec![false; p];
    let mut unseen = Vec::new();
    for (value, vector) in values.iter().zip(&vectors).rev() {
        let along = product_along(&sandwich, vector) * small;
        let error = if is_noise(*value) {
            f64::INFINITY
        } else {
            sqrt(along.max(variance / (value * value)))
        };
        if error > UNSEEN {
            let most =
                vector.iter().fold(0.0_f64, |most, v| if v.abs() > most.abs() { *v } else { most });
            unseen.push(Unseen {
                direction: vector.iter().map(|v| v / most).collect(),
                standard_error: error,
            });
        }
        if error.is_infinite() {
            is_lost.iter_mut().zip(vector).for_each(|(lost, v)| *lost |= v.abs() > 1e-3);
        }
    }

    let mut deviations = vec![0.0; p];
    let parameters: Vec<Sureness> = (0..p)
        .map(|i| {
            let plain = variance * bread[i][i];
            let robust = sandwich[i][i] * small;
            // Never fewer than two: what comes out of so few is wide enough.
            let n_effective = n as f64 * (plain / robust.max(plain)).clamp(2.0 / n as f64, 1.0);
            let told = robust.max(plain);
            let level = 0.5 + 0.5 * confidence;
            let half = |variance: f64, degrees: f64| {
                let half = widths[i] * sqrt(variance) * quantile(level, degrees);
                (!is_lost[i] && half.is_finite()).then_some(half)
            };
            let own_degrees = (n_effective - p as f64).max(1.0).min(degrees);
            deviations[i] = sqrt(told);
            Sureness {
                half_width: half(told, own_degrees),
                textbook_half_width: half(plain, degrees),
                standard_error: widths[i] * deviations[i],
                degrees: own_degrees,
                n_effective,
                windows: windows.as_ref().map(|windows| ByWindows {
                    n: windows.n_windows[i],
                    standard_error: widths[i] * sqrt(windows.variance[i]),
                }),
            }
        })
        .collect();
    // How estimates hang together, by both: neither need be the wider for every one.
    let both = |i: usize, j: usize| variance * bread[i][j] + small * sandwich[i][j];
    let correlation = |i: usize, j: usize| {
        let scale = sqrt(both(i, i) * both(j, j));
        if scale > 0.0 { both(i, j) / scale } else { f64::from(i == j) }
    };
    let correlations: Columns =
        (0..p).map(|j| (0..p).map(|i| correlation(i, j)).collect()).collect();
    let in_units = |of: &dyn Fn(usize, usize) -> f64| -> Columns {
        (0..p).map(|j| (0..p).map(|i| of(i, j) * widths[i] * widths[j]).collect()).collect()
    };
    let covariance = in_units(&|i, j| correlations[j][i] * deviations[i] * deviations[j]);
    let inverse = in_units(&|i, j| bread[j][i]);
    let residual_spread = sqrt(variance);
    Worth { parameters, unseen, residual_spread, correlations, covariance, inverse, triangle }
}

impl Sureness {
    /// Half the width of an interval that is one of `n`, of which every one holds its number at
    /// once with this confidence. Each then holds its own with the `n`-th root of it, which is
    /// enough however estimates hang together: hanging together only helps (Šidák, 1967). None
    /// where the data does not bound it.
    pub fn joint_half_width(&self, confidence: f64, n: usize) -> Option<f64> {
        let each = pow(confidence, 1.0 / n.max(1) as f64);
        // Of a width that was kept because it was the wider one the joint one is no narrower.
        let alone = self.half_width?;
        Some((self.standard_error * quantile(0.5 + 0.5 * each, self.degrees)).max(alone))
    }
}

impl Worth {
    /// With what residuals do not show: what the noise of starts does to each estimate, told by
    /// some answers to more such noise, and how far windows disagree. Errors of two sources add as
    /// squares do. Of what noise in starts does residuals show a part, each window another start,
    /// and all of it or nothing where there are many or one: `shown` is the variance of each
    /// estimate that they would tell of this noise alone, which counts already. Windows disagree by
    /// all of it, so the wider of the two counts, and not their sum; but for what noise does to all
    /// windows alike, which no disagreement shows.
    pub fn heed_starts(&mut self, answers: &[Vec<f64>], shown: &[f64], confidence: f64) {
        let n = answers.len().max(1) as f64;
        let level = 0.5 + 0.5 * confidence;
        let wide = |(variance, degrees): (f64, f64)| sqrt(variance) * quantile(level, degrees);
        for i in 0..self.parameters.len() {
            let sure = &self.parameters[i];
            let own = sure.standard_error * sure.standard_error;
            let mean = answers.iter().map(|a| a[i]).sum::<f64>() / n;
            let other = answers.iter().map(|a| a[i] * a[i]).sum::<f64>() / n;
            let hidden = (other - shown.get(i).unwrap_or(&0.0)).max(0.0);
            let mut told = sum((own, sure.degrees), (hidden, n));
            if let Some(windows) = sure.windows {
                let spread = windows.standard_error * windows.standard_error;
                let by_windows = sum((spread, windows.degrees()), (mean * mean, n));
                told = if wide(by_windows) > wide(told) { by_windows } else { told };
            }
            let (variance, degrees) = told;
            if variance.is_finite() && variance > own {
                self.widen(i, variance, degrees, wide(told));
            }
        }
    }

    /// Makes the spread of an estimate larger, and its interval no narrower than this.
    fn widen(&mut self, i: usize, variance: f64, degrees: f64, half: f64) {
        let sure = &mut self.parameters[i];
        let own = sure.standard_error * sure.standard_error;
        sure.degrees = degrees;
        sure.standard_error = sqrt(variance);
        sure.half_width = sure.half_width.map(|narrow| narrow.max(half));
        // Correlations stay: a row and a column, their crossing twice.
        if own > 0.0 {
            let times = sqrt(variance / own);
            self.covariance[i].iter_mut().for_each(|entry| *entry *= times);
            self.covariance.iter_mut().for_each(|column| column[i] *= times);
        } else {
            self.covariance[i][i] = variance;
        }
    }

    /// By how much the sum of squared residuals rises on the way `gone`, as slopes tell it.
    pub fn rise(&self, gone: &[f64]) -> f64 {
        let (r, right) = &self.triangle;
        let mut along = vec![0.0; right.len()];
        for (column, gone) in r.iter().zip(gone) {
            along.iter_mut().zip(column).for_each(|(sum, r)| *sum += r * gone);
        }
        dot(&along, &along) + 2.0 * dot(&along, right)
    }

    /// How far the estimate goes when residuals change: `(JᵀJ)⁻¹·Jᵀ·change`.
    pub fn answer(&self, slopes: &Columns, change: &[f64]) -> Vec<f64> {
        let pull: Vec<f64> = slopes.iter().map(|column| dot(column, change)).collect();
        self.answer_to(&pull)
    }

    /// The same of `Jᵀ·change`.
    pub fn answer_to(&self, pull: &[f64]) -> Vec<f64> {
        self.inverse.iter().map(|row| dot(row, pull)).collect()
    }
}

/// A sum of two variances, each with its degrees of freedom (Satterthwaite, 1946).
fn sum((a, of_a): (f64, f64), (b, of_b): (f64, f64)) -> (f64, f64) {
    let both = a + b;
    if b > 0.0 { (both, both * both / (a * a / of_a + b * b / of_b)) } else { (a, of_a) }
}

/// `g = Jᵀr` summed over the residuals of each moment, moment by moment.
struct Scores {
    /// Numbers per moment.
    p: usize,
    values: Vec<f64>,
    /// The moments of each series.
    series: Vec<std::ops::Range<usize>>,
}

impl Scores {
    fn of(slopes: &Columns, residuals: &[f64], moments: &[Moment]) -> Scores {
        let p = slopes.len();
        let (places, series) = places(moments);
        let n = series.last().map_or(0, |last| last.end);
        let mut values = vec![0.0; n * p];
        for (i, column) in slopes.iter().enumerate() {
            for ((slope, residual), place) in column.iter().zip(residuals).zip(&places) {
                values[place * p + i] += slope * residual;
            }
        }
        Scores { p, values, series }
    }

    fn at(&self, moment: usize) -> &[f64] {
        &self.values[moment * self.p..(moment + 1) * self.p]
    }

    /// How much of a score is carried over from one moment to the next.
    fn carried(&self) -> Vec<f64> {
        let (mut cross, mut own) = (vec![0.0; self.p], vec![0.0; self.p]);
        for t in self.series.iter().flat_map(|series| series.clone().skip(1)) {
            for (i, (before, now)) in self.at(t - 1).iter().zip(self.at(t)).enumerate() {
                cross[i] += before * now;
                own[i] += before * before;
            }
        }
        let share = |(cross, own): (&f64, &f64)| match *own > 0.0 {
            true => (cross / own).clamp(-0.97, 0.97),
            false => 0.0,
        };
        cross.iter().zip(&own).map(share).collect()
    }

    /// Without what a first-order process explains.
    fn fresh(&self, memory: &[f64]) -> Scores {
        let mut values = Vec::with_capacity(self.values.len());
        for series in &self.series {
            for t in series.clone() {
                let rest = |(i, score): (usize, &f64)| match t == series.start {
                    // As spread out as the others.
                    true => score * sqrt(1.0 - memory[i] * memory[i]),
                    false => score - memory[i] * self.at(t - 1)[i],
                };
                values.extend(self.at(t).iter().enumerate().map(rest));
            }
        }
        Scores { p: self.p, values, series: self.series.clone() }
    }

    /// Andrews' lag for triangular weights, each score taken for a first-order process.
    fn n_lags(&self) -> usize {
        let (mut over, mut under) = (0.0, 0.0);
        for rho in self.carried() {
            // Every parameter weighs the same, whatever its units: by its own variance.
            let (minus, plus) = (1.0 - rho, 1.0 + rho);
            over += 4.0 * rho * rho / (minus * minus * minus * minus * minus * minus * plus * plus);
            under += 1.0 / (minus * minus * minus * minus);
        }
        if under <= 0.0 {
            return 0;
        }
        let longest = self.series.iter().map(|series| series.len()).max().unwrap_or(0);
        let n_moments = self.values.len() / self.p;
        let n_lags = (1.1447 * cbrt(over / under * n_moments as f64)) as usize;
        n_lags.min(longest.saturating_sub(1))
    }

    /// `Σ w(lag)·Σ gₜ·gₜ₊ₗₐ₉ᵀ`, both ways, each lag with a smaller weight: never negative. What
    /// surrounds a moment is summed first, so that a lag costs no product of all with all.
    fn lagged_sum(&self) -> Columns {
        let n_lags = self.n_lags();
        let mut sum = vec![vec![0.0; self.p]; self.p];
        let mut around = vec![0.0; self.p];
        for series in &self.series {
            for t in series.clone() {
                around.copy_from_slice(self.at(t));
                for lag in 1..=n_lags {
                    let weight = 1.0 - lag as f64 / (n_lags + 1) as f64;
                    let before = t.checked_sub(lag).filter(|t| *t >= series.start);
                    let after = Some(t + lag).filter(|t| *t < series.end);
                    for score in before.into_iter().chain(after).map(|t| self.at(t)) {
                        around.iter_mut().zip(score).for_each(|(a, score)| *a += weight * score);
                    }
                }
                for (column, a) in sum.iter_mut().zip(&around) {
                    column.iter_mut().zip(self.at(t)).for_each(|(sum, score)| *sum += a * score);
                }
            }
        }
        sum
    }
}

/// The place of every row's moment among all moments in their order, and which of those belong to
/// each series.
fn places(moments: &[Moment]) -> (Vec<usize>, Vec<std::ops::Range<usize>>) {
    let n_rising = 1 + moments.windows(2).take_while(|pair| pair[0] < pair[1]).count();
    let first = &moments[..n_rising.min(moments.len())];
    // Where every key was measured at the same moments, one key after another, they are in order.
    let is_repeated = !first.is_empty() && moments.chunks(n_rising).all(|chunk| chunk == first);
    let rows: Vec<usize> = match is_repeated {
        true => Vec::new(),
        false => {
            let mut rows: Vec<usize> = (0..moments.len()).collect();
            rows.sort_by_key(|row| moments[*row]);
            rows
        }
    };
    let mut series: Vec<std::ops::Range<usize>> = Vec::new();
    let (mut n, mut last): (usize, Option<Moment>) = (0, None);
    let mut place = |moment: Moment| {
        if last != Some(moment) {
            if last.map(|last| last.series) != Some(moment.series) {
                series.push(n..n);
            }
            n += 1;
            series.last_mut().expect("one was pushed").end = n;
            last = Some(moment);
        }
        n - 1
    };
    let places = match is_repeated {
        true => {
            first.iter().for_each(|moment| _ = place(*moment));
            (0..moments.len()).map(|row| row % n_rising).collect()
        }
        false => {
            let mut places = vec![0; moments.len()];
            rows.into_iter().for_each(|row| places[row] = place(moments[row]));
            places
        }
    };
    (places, series)
}

/// The middle of the sandwich.
fn middle(slopes: &Columns, residuals: &[f64], moments: &[Moment]) -> Columns {
    let scores = Scores::of(slopes, residuals, moments);
    // What a first-order process explains is taken out first and put back into the sum: the lags
    // that are left are few (Andrews and Monahan, 1992).
    let memory = scores.carried();
    let mut sum = scores.fresh(&memory).lagged_sum();
    for (j, column) in sum.iter_mut().enumerate() {
        for (i, entry) in column.iter_mut().enumerate() {
            *entry /= (1.0 - memory[i]) * (1.0 - memory[j]);
        }
    }
    sum
}

fn product(a: &Columns, b: &Columns) -> Columns {
    b.iter()
        .map(|column| {
            (0..a.len()).map(|i| (0..a.len()).map(|k| a[k][i] * column[k]).sum()).collect()
        })
        .collect()
}

fn product_along(matrix: &Columns, v: &[f64]) -> f64 {
    matrix.iter().zip(v).map(|(column, vj)| vj * dot(column, v)).sum()
}

/// To six digits.
fn short(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// Whether a parameter stands at its lower (false) or upper (true) bound, or near it and its
/// interval, where it has one, reaches it.
pub fn at_bound(i: usize, x: &[f64], bounds: &Bounds, half_width: Option<f64>) -> Option<bool> {
    // In a wide range a thousandth of it is not near.
    let room = NEAR_BOUND * (bounds.upper[i] - bounds.lower[i]);
    let room = half_width.map_or(room, |half| half.min(room));
    let room = if room.is_finite() { room } else { 0.0 };
    match () {
        () if x[i] - bounds.lower[i] <= room => Some(false),
        () if bounds.upper[i] - x[i] <= room => Some(true),
        () => None,
    }
}

/// What a person is told of parameters at a bound and of what was not seen, in a search that came
/// from `start`. `halves` are the half widths as they are told, each of nothing where none is. Beyond
/// a lower (false) or upper (true) bound that `is_end` there is nothing, so whoever stands there may
/// be right.
pub fn warnings(
    (names, x): (&[String], &[f64]),
    start: &[f64],
    (bounds, is_end): (&Bounds, &dyn Fn(usize, bool) -> bool),
    worth: &Worth,
    halves: &[Option<f64>],
) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    for (i, sureness) in worth.parameters.iter().enumerate() {
        // Where none is told, the one there is still says what is near.
        let half = halves[i].or(sureness.half_width);
        let Some(is_upper) = at_bound(i, x, bounds, half) else { continue };
        if sureness.half_width.is_some() && is_end(i, is_upper) {
            continue;
        }
        // What nobody sees stands where it was put.
        if sureness.half_width.is_none() && x[i] == start[i] {
            continue;
        }
        let (word, bound) =
            if is_upper { ("upper", bounds.upper[i]) } else { ("lower", bounds.lower[i]) };
        let (place, reached) = match (x[i] == bound, halves[i]) {
            (true, _) => ("stands at", ""),
            (false, Some(_)) => ("is near", ", which its interval reaches"),
            (false, None) => ("is near", ""),
        };
        let little = match halves[i] {
            Some(_) => ", and its interval means little",
            None => "",
        };
        let message = format!(
            "`{}` = {} {place} its {word} bound {}{reached}: the best value may be beyond{little}",
            names[i],
            short(x[i]),
            short(bound)
        );
        out.push(("at-bound", message));
    }
    for (i, sureness) in worth.parameters.iter().enumerate() {
        // What slopes cannot see is told below.
        let is_seen = worth.unseen.iter().all(|unseen| unseen.direction[i].abs() <= 0.05);
        let width = bounds.upper[i] - bounds.lower[i];
        if halves[i].is_some_and(|half| 2.0 * half > width) && is_seen {
            let message = format!(
                "the data cannot decide about `{}`: its interval is wider than {} to {}, in which \
                 it was sought",
                names[i],
                short(bounds.lower[i]),
                short(bounds.upper[i]),
            );
            out.push(("not-seen", message));
        }
        let is_alone = sureness.windows.is_some_and(|windows| windows.n < FEW_WINDOWS);
        if is_alone && halves[i].is_some() {
            let message = format!(
                "nearly all that is known of `{}` comes from one window: how far windows disagree \
                 about it cannot be told, and its interval heeds noise alone",
                names[i]
            );
            out.push(("few-windows", message));
        }
    }
    for unseen in &worth.unseen {
        let parts: Vec<(usize, f64)> = unseen
            .direction
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, share)| share.abs() > 0.05)
            .collect();
        let [(i, _)] = parts.as_slice() else {
            let terms: Vec<String> = parts
                .iter()
                .map(|(i, share)| {
                    format!("`{}` {:+.2e}", names[*i], share * bounds.width(*i, x[*i]))
                })
                .collect();
            let message = format!(
                "the data cannot tell these apart: {} together leave the error as it is; fix one \
                 of them, or move the robot otherwise",
                terms.join(", ")
            );
            out.push(("not-seen", message));
            continue;
        };
        out.push((
            "not-seen",
            format!(
                "the data cannot see `{}`: from here, a change of it leaves the error as it is",
                names[*i]
            ),
        ));
    }
    out
}
