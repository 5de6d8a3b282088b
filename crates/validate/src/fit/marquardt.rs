//! Least squares by slopes: Levenberg and Marquardt's method, within bounds.
//!
//! Each round takes the slopes of all residuals by differences, then tries steps
//! `(JᵀJ + λ·D²)·p = -Jᵀr`, longer with a small λ and straight down with a large one, until one
//! gains. `D` are the longest columns of J so far, so that units do not matter (Moré, 1978), and λ
//! follows how well the last step kept its promise (Nielsen, 1999). J is reduced to a triangle
//! once per round; every λ then costs a small system.
//!
//! Bounds: a parameter that stands at one and would go out stays there for the round; the others
//! are solved for without it. A step that crosses a bound ends on it, and is solved for again
//! without the parameters that met theirs.

use std::ops::ControlFlow;

use headland_base::maths::{cbrt, sqrt};
use serde::{Deserialize, Serialize};

use super::dense::{Columns, back_substitute, dot, norm, triangle};
use super::{Bounds, Ended, Evaluate, Progress, Watch};

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Over how much of each parameter a slope is taken; see [`Options::new`].
    pub difference: Vec<f64>,
    /// Slopes from both sides: twice the evaluations, exact to the second order.
    pub is_central: bool,
    /// A search ends when a step changes the parameters by less than this share.
    pub least_step: f64,
    /// A search ends when a step gains less than this share of the cost.
    pub least_gain: f64,
    /// A search ends when residuals and slopes are this close to a right angle.
    pub least_slope: f64,
    /// A search ends after so many evaluations.
    pub most_evaluations: usize,
}

impl Options {
    /// Slopes over a millionth of what each parameter may vary by: of a simulation in double
    /// precision that is far above its rounding, and far below where curves bend.
    pub fn new(x: &[f64], bounds: &Bounds) -> Options {
        Options {
            difference: x.iter().enumerate().map(|(i, x)| 1e-6 * bounds.width(i, *x)).collect(),
            is_central: false,
            least_step: 1e-9,
            least_gain: 1e-10,
            least_slope: 1e-10,
            most_evaluations: 10_000,
        }
    }

    /// For functions that are exact to the last bits: slopes from both sides, and no end before
    /// the bits are used up.
    pub fn exact(x: &[f64]) -> Options {
        Options {
            difference: x.iter().map(|x| cbrt(f64::EPSILON) * x.abs().max(1.0)).collect(),
            is_central: true,
            least_step: 1e-14,
            least_gain: 1e-15,
            least_slope: 1e-14,
            most_evaluations: 100_000,
        }
    }
}

/// Where the search is: all it needs to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The best point so far.
    pub x: Vec<f64>,
    /// Its sum of squared residuals; none before the first round.
    pub cost: Option<f64>,
    /// How much it is held back.
    lambda: f64,
    /// By how much more after a step that did not gain.
    growth: f64,
    /// The longest column of J so far, per parameter.
    scale: Vec<f64>,
    /// Rounds that are finished.
    pub n_rounds: usize,
    /// Points that were evaluated, as far as an uninterrupted search would have.
    pub n_evaluations: usize,
    /// Set at the end.
    pub ended: Option<Ended>,
}

impl Search {
    /// From a point, which is moved into the bounds.
    pub fn new(x: &[f64], bounds: &Bounds) -> Search {
        Search {
            x: bounds.nearest(x),
            cost: None,
            lambda: 1e-3,
            growth: 2.0,
            scale: vec![0.0; x.len()],
            n_rounds: 0,
            n_evaluations: 0,
            ended: None,
        }
    }

    /// Whether it is one of so many parameters, whoever wrote it.
    pub fn is_sound(&self, n: usize) -> bool {
        let is_number = |x: &f64| x.is_finite();
        self.x.len() == n
            && self.scale.len() == n
            && self.x.iter().chain(&self.scale).chain(&self.cost).all(is_number)
            && [self.lambda, self.growth].iter().all(|x| x.is_finite() && *x > 0.0)
    }

    /// Goes on until it has ended, or is told to stop: then it can go on later.
    pub fn run(
        &mut self,
        crew: &mut dyn Evaluate,
        bounds: &Bounds,
        options: &Options,
        watch: &mut Watch<'_>,
    ) {
        let Some(mut residuals) = crew.one(&self.x) else {
            self.ended = Some(Ended::NoResiduals);
            return;
        };
        if self.cost.is_none() {
            self.n_evaluations += 1;
            self.cost = Some(dot(&residuals, &residuals));
        }
        // A search that had used up what it was allowed goes on where more is allowed.
        self.ended = self.ended.filter(|ended| *ended != Ended::TooMany);
        while self.ended.is_none() {
            if self.n_evaluations >= options.most_evaluations {
                self.ended = Some(Ended::TooMany);
                return;
            }
            // A round that is broken off leaves nothing behind: it is done again.
            let mut next = self.clone();
            if next.round(&mut residuals, crew, bounds, options, watch).is_break() {
                return;
            }
            *self = next;
            if self.ended.is_none() && self.tell(watch).is_break() {
                return;
            }
        }
    }

    fn tell(&self, watch: &mut Watch<'_>) -> ControlFlow<()> {
        watch(&Progress {
            n_rounds: self.n_rounds,
            n_evaluations: self.n_evaluations,
            best_cost: self.cost.unwrap_or(f64::INFINITY),
            best: &self.x,
        })
    }

    fn round(
        &mut self,
        residuals: &mut Vec<f64>,
        crew: &mut dyn Evaluate,
        bounds: &Bounds,
        options: &Options,
        watch: &mut Watch<'_>,
    ) -> ControlFlow<()> {
        let cost = dot(residuals, residuals);
        let Some(slopes) = slopes(&self.x, residuals, crew, bounds, options) else {
            self.ended = Some(Ended::NoResiduals);
            return ControlFlow::Continue(());
        };
        self.n_evaluations += self.x.len() * if options.is_central { 2 } else { 1 };
        let gradient: Vec<f64> = slopes.iter().map(|column| dot(column, residuals)).collect();
        let lengths: Vec<f64> = slopes.iter().map(|column| norm(column)).collect();
        for (scale, length) in self.scale.iter_mut().zip(&lengths) {
            *scale = scale.max(*length);
        }
        // What stands at a bound and would go out stays.
        let is_free: Vec<bool> = (0..self.x.len())
            .map(|i| {
                let out_below = self.x[i] <= bounds.lower[i] && gradient[i] > 0.0;
                let out_above = self.x[i] >= bounds.upper[i] && gradient[i] < 0.0;
                self.scale[i] > 0.0 && !out_below && !out_above
            })
            .collect();
        let steepest = (0..self.x.len())
            .filter(|i| is_free[*i] && lengths[*i] > 0.0)
            .map(|i| gradient[i].abs() / (lengths[i] * sqrt(cost)))
            .fold(0.0, f64::max);
        // The negated form also ends at a cost of zero, where the share is no number.
        if cost == 0.0 || steepest <= options.least_slope {
            self.ended = Some(Ended::NoSlope);
            return ControlFlow::Continue(());
        }
        let system = System::new(&slopes, residuals, &is_free, &self.scale);
        loop {
            let step = system.step(self.lambda, &self.x, bounds);
            let point: Vec<f64> =
                bounds.nearest(&self.x.iter().zip(&step).map(|(x, p)| x + p).collect::<Vec<f64>>());
            let moved: Vec<f64> = point.iter().zip(&self.x).map(|(new, x)| new - x).collect();
            let promised = -(2.0 * dot(&gradient, &moved) + length_squared(&slopes, &moved));
            let found = crew.one(&point);
            self.n_evaluations += 1;
            let new_cost = found.as_ref().map_or(f64::INFINITY, |r| dot(r, r));
            let gain = cost - new_cost;
            let scaled = |x: &[f64]| {
                norm(&x.iter().zip(&self.scale).map(|(x, d)| x * d).collect::<Vec<f64>>())
            };
            let is_short =
                scaled(&moved) <= options.least_step * scaled(&self.x).max(f64::MIN_POSITIVE);
            let is_kept = promised > 0.0 && gain.is_finite() && gain > 1e-4 * promised;
            if is_kept {
                let kept = 2.0 * gain / promised - 1.0;
                self.lambda *= (1.0 - kept * kept * kept).clamp(1.0 / 3.0, 2.0);
                self.lambda = self.lambda.max(1e-20);
                self.growth = 2.0;
                (self.x, self.cost) = (point, Some(new_cost));
                *residuals = found.expect("a cost has residuals");
                self.n_rounds += 1;
            } else {
                self.lambda *= self.growth;
                self.growth *= 2.0;
            }
            let small = options.least_gain * cost;
            if gain.abs() <= small && promised <= small {
                self.ended = Some(Ended::SmallGain);
            } else if is_short || self.lambda > 1e30 {
                self.ended = Some(Ended::SmallStep);
            }
            if is_kept || self.ended.is_some() {
                return ControlFlow::Continue(());
            }
            self.tell(watch)?;
        }
    }
}

/// The slopes of all residuals, a column per parameter; none where no side of a parameter has
/// residuals. Points are the same whatever the number of threads.
pub fn slopes(
    x: &[f64],
    residuals: &[f64],
    crew: &mut dyn Evaluate,
    bounds: &Bounds,
    options: &Options,
) -> Option<Columns> {
    let at = |i: usize, h: f64| {
        let mut point = x.to_vec();
        point[i] += h;
        point
    };
    // Towards the middle of the bounds, which are never left.
    let side = |i: usize| {
        let h = options.difference[i];
        if x[i] + h <= bounds.upper[i] { h } else { -h }
    };
    let mut points: Vec<Vec<f64>> = (0..x.len()).map(|i| at(i, side(i))).collect();
    if options.is_central {
        let back = |i: usize| if x[i] - side(i) >= bounds.lower[i] { -side(i) } else { 0.0 };
        points.extend((0..x.len()).map(|i| at(i, back(i))));
    }
    let mut found = crew.all(points.clone());
    // A point beyond what can be simulated: the other side.
    for i in 0..x.len() {
        if found[i].is_none() {
            points[i] = at(i, -side(i));
            found[i] = crew.one(&points[i]);
        }
    }
    let column = |i: usize| {
        let ahead = found[i].as_ref()?;
        let behind = options.is_central.then(|| found[i + x.len()].as_deref()).flatten();
        let (behind, from) = match behind {
            Some(behind) => (behind, points[i + x.len()][i]),
            None => (residuals, x[i]),
        };
        // What was truly gone, after rounding.
        let h = points[i][i] - from;
        Some(ahead.iter().zip(behind).map(|(a, b)| (a - b) / h).collect())
    };
    (0..x.len()).map(column).collect()
}

/// `|J·p|²`.
fn length_squared(slopes: &Columns, step: &[f64]) -> f64 {
    let mut moved = vec![0.0; slopes.first().map_or(0, Vec::len)];
    for (column, p) in slopes.iter().zip(step) {
        moved.iter_mut().zip(column).for_each(|(sum, j)| *sum += j * p);
    }
    dot(&moved, &moved)
}

/// The linear problem of one round, reduced to a triangle.
struct System {
    /// Of the free parameters: which they are.
    free: Vec<usize>,
    r: Columns,
    right: Vec<f64>,
    scale: Vec<f64>,
    n: usize,
}

impl System {
    fn new(slopes: &Columns, residuals: &[f64], is_free: &[bool], scale: &[f64]) -> System {
        let free: Vec<usize> = (0..slopes.len()).filter(|i| is_free[*i]).collect();
        let columns: Columns = free.iter().map(|i| slopes[*i].clone()).collect();
        let (r, right) = triangle(columns, residuals.iter().map(|r| -r).collect());
        let scale = free.iter().map(|i| scale[*i]).collect();
        System { free, r, right, scale, n: slopes.len() }
    }

    /// The step for a λ. Parameters that meet a bound stop there and the others are solved for
    /// again, at most once for each.
    fn step(&self, lambda: f64, x: &[f64], bounds: &Bounds) -> Vec<f64> {
        let mut fixed: Vec<Option<f64>> = vec![None; self.free.len()];
        loop {
            let p = self.solve(lambda, &fixed);
            let mut is_changed = false;
            for (k, i) in self.free.iter().enumerate() {
                let room = (bounds.lower[*i] - x[*i], bounds.upper[*i] - x[*i]);
                if fixed[k].is_none() && !(room.0..=room.1).contains(&p[k]) {
                    fixed[k] = Some(p[k].max(room.0).min(room.1));
                    is_changed = true;
                }
            }
            if !is_changed {
                let mut step = vec![0.0; self.n];
                self.free.iter().zip(p).for_each(|(i, p)| step[*i] = p);
                return step;
            }
        }
    }

    /// `min |R·p - q|² + λ·|D·p|²` over what is not fixed.
    fn solve(&self, lambda: f64, fixed: &[Option<f64>]) -> Vec<f64> {
        let open: Vec<usize> = (0..fixed.len()).filter(|k| fixed[*k].is_none()).collect();
        let mut right = self.right.clone();
        for (column, value) in self.r.iter().zip(fixed) {
            if let Some(value) = value {
                right.iter_mut().zip(column).for_each(|(q, r)| *q -= r * value);
            }
        }
        right.resize(right.len() + open.len(), 0.0);
        let held = sqrt(lambda);
        let columns: Columns = open
            .iter()
            .enumerate()
            .map(|(row, k)| {
                let mut column = self.r[*k].clone();
                column.extend(
                    (0..open.len()).map(|i| if i == row { held * self.scale[*k] } else { 0.0 }),
                );
                column
            })
            .collect();
        let (r, right) = triangle(columns, right);
        let found = back_substitute(&r, &right);
        let mut p: Vec<f64> = fixed.iter().map(|value| value.unwrap_or(0.0)).collect();
        open.iter().zip(found).for_each(|(k, value)| p[*k] = value);
        p
    }
}
