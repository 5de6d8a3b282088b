//! Search without slopes: CMA-ES, which learns the shape of the valley from its samples.
//!
//! The strategy of Hansen's tutorial (arXiv 1604.00772) with its standard constants: samples
//! about a mean, the better half moves the mean, two paths of its moves adapt step length and
//! covariance. For errors with many dips, or that jump: contact, stick and slip.
//!
//! Parameters are searched as shares of their range, which must be finite. A sample that leaves
//! it is evaluated at the nearest point within and counted as worse by how far it had gone, so
//! that the mean stays inside and a least point on the edge is found.
//!
//! The numbers of a round come from the seed and the round's number alone: nothing of a
//! generator is kept, so a search that is carried on draws what it would have drawn.

use headland_base::Seed;
use headland_base::maths::{dot, exp, log, pow, sqrt};
use headland_sense::noise::Dice;
use serde::{Deserialize, Serialize};

use super::dense::{Columns, norm, singular};
use super::{Bounds, BrokenOff, Ended, Evaluate, Watch};

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Samples per round; the strategy's own number where none is given.
    pub n_samples: Option<usize>,
    /// A search ends when the samples are closer together than this share of the range.
    pub least_spread: f64,
    /// A search ends when the best of many rounds differ by less than this share of the cost.
    pub least_gain: f64,
    /// A search ends after so many evaluations.
    pub most_evaluations: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { n_samples: None, least_spread: 1e-9, least_gain: 1e-12, most_evaluations: 20_000 }
    }
}

/// Where the search is: all it needs to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The best point so far.
    pub x: Vec<f64>,
    /// Its sum of squared residuals; none before the first.
    pub cost: Option<f64>,
    /// Middle of the samples, as shares of the range.
    mean: Vec<f64>,
    sigma: f64,
    covariance: Columns,
    sigma_path: Vec<f64>,
    covariance_path: Vec<f64>,
    /// The best of the last rounds.
    recent: Vec<f64>,
    /// Rounds that are finished.
    pub n_rounds: usize,
    /// Points that were evaluated.
    pub n_evaluations: usize,
    /// After how many points which cost was the least so far. For whoever looks at the search: it
    /// goes on as well without.
    #[serde(default)]
    pub history: Vec<(usize, f64)>,
    /// Set at the end.
    pub ended: Option<Ended>,
}

impl Search {
    /// From a point, over three tenths of each range at first.
    ///
    /// # Panics
    /// Where a bound is not finite or a range is empty: the caller has checked them.
    pub fn new(x: &[f64], bounds: &Bounds) -> Search {
        let n = x.len();
        let is_wide = |i: usize| {
            (bounds.upper[i] - bounds.lower[i]).is_finite() && bounds.upper[i] > bounds.lower[i]
        };
        assert!((0..n).all(is_wide), "a search without slopes needs finite ranges");
        let x = bounds.nearest(x);
        let mean = (0..n)
            .map(|i| (x[i] - bounds.lower[i]) / (bounds.upper[i] - bounds.lower[i]))
            .collect();
        Search {
            x,
            cost: None,
            mean,
            sigma: 0.3,
            covariance: (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect(),
            sigma_path: vec![0.0; n],
            covariance_path: vec![0.0; n],
            recent: Vec::new(),
            n_rounds: 0,
            n_evaluations: 0,
            history: Vec::new(),
            ended: None,
        }
    }

    /// Begins at a point that was found the best of `n` all over the range, of this cost: near it,
    /// since the others are worse.
    pub fn move_to(&mut self, x: &[f64], cost: f64, n: usize, bounds: &Bounds) {
        let n_evaluations = self.n_evaluations + n;
        let cost = Some(cost).filter(|cost| cost.is_finite());
        let history = cost.map(|cost| (n_evaluations, cost)).into_iter().collect();
        *self = Search { cost, n_evaluations, history, sigma: 0.1, ..Search::new(x, bounds) };
    }

    /// Whether it is one of so many parameters, whoever wrote it.
    pub fn is_sound(&self, n: usize) -> bool {
        let rows = [&self.x, &self.mean, &self.sigma_path, &self.covariance_path];
        let rows = rows.into_iter().chain(&self.covariance);
        self.covariance.len() == n
            && rows.clone().all(|row| row.len() == n)
            && rows.flatten().chain(&self.cost).all(|x| x.is_finite())
            && self.recent.iter().all(|x| !x.is_nan())
            && self.sigma.is_finite()
            && self.sigma > 0.0
    }

    /// Goes on until it has ended, or is told to stop: then it can go on later.
    pub fn run(
        &mut self,
        crew: &mut dyn Evaluate,
        bounds: &Bounds,
        seed: &Seed,
        options: &Options,
        watch: &mut Watch<'_, Search>,
    ) {
        // A search that had used up what it was allowed goes on where more is allowed.
        self.ended = self.ended.filter(|ended| *ended != Ended::TooMany);
        if self.n_evaluations == 0 && self.look_at_start(crew).is_err() {
            return;
        }
        while self.ended.is_none() {
            if self.n_evaluations + self.n_samples(options) > options.most_evaluations {
                self.ended = Some(Ended::TooMany);
                return;
            }
            // A round that is broken off has changed nothing.
            if self.round(crew, bounds, seed, options).is_err() || watch(self).is_break() {
                return;
            }
        }
    }

    /// The point it starts from is the first to beat: samples about it may all be worse.
    fn look_at_start(&mut self, crew: &mut dyn Evaluate) -> Result<(), BrokenOff> {
        let found = crew.one(&self.x)?;
        self.n_evaluations = 1;
        self.cost = found.map(|r| dot(&r, &r)).filter(|cost| cost.is_finite());
        self.history.extend(self.cost.map(|cost| (1, cost)));
        Ok(())
    }

    /// Samples of a round.
    fn n_samples(&self, options: &Options) -> usize {
        let n = self.mean.len() as f64;
        options.n_samples.unwrap_or(4 + (3.0 * log(n)) as usize).max(4)
    }

    fn round(
        &mut self,
        crew: &mut dyn Evaluate,
        bounds: &Bounds,
        seed: &Seed,
        options: &Options,
    ) -> Result<(), BrokenOff> {
        let (n, n_samples) = (self.mean.len(), self.n_samples(options));
        let law = Law::new(n, n_samples);

        // Samples: mean + sigma·B·D·z.
        // Of what is symmetric and positive, singular values and vectors are its own.
        let (values, axes) = singular(&self.covariance);
        let lengths: Vec<f64> = values.iter().map(|value| sqrt(value.max(0.0))).collect();
        let mut dice = Dice::new(&seed.child(&format!("round {}", self.n_rounds)));
        let steps: Vec<Vec<f64>> = (0..n_samples)
            .map(|_| {
                let along: Vec<f64> = lengths.iter().map(|length| length * dice.normal()).collect();
                combined(&axes, &along)
            })
            .collect();
        let wanted: Vec<Vec<f64>> = steps
            .iter()
            .map(|step| self.mean.iter().zip(step).map(|(m, y)| m + self.sigma * y).collect())
            .collect();
        let repaired: Vec<Vec<f64>> = wanted
            .iter()
            .map(|u: &Vec<f64>| u.iter().map(|u| u.clamp(0.0, 1.0)).collect())
            .collect();
        let points: Vec<Vec<f64>> = repaired.iter().map(|u| from_shares(u, bounds)).collect();
        let costs: Vec<f64> = crew
            .all(points.clone())?
            .iter()
            .map(|found| found.as_ref().map_or(f64::INFINITY, |r| dot(r, r)))
            .map(|cost| if cost.is_nan() { f64::INFINITY } else { cost })
            .collect();
        self.n_evaluations += n_samples;
        for (point, cost) in points.iter().zip(&costs) {
            if cost.is_finite() && self.cost.is_none_or(|best| *cost < best) {
                (self.x, self.cost) = (point.clone(), Some(*cost));
            }
        }
        if let Some(cost) = self.cost.filter(|cost| self.history.last().is_none_or(|l| *cost < l.1))
        {
            self.history.push((self.n_evaluations, cost));
        }

        // Ranks: what had to be moved into the range is worse by how far.
        let rank = |i: usize| {
            let gone: Vec<f64> = wanted[i].iter().zip(&repaired[i]).map(|(a, b)| a - b).collect();
            costs[i] * (1.0 + 10.0 * dot(&gone, &gone))
        };
        let ranks: Vec<f64> = (0..n_samples).map(rank).collect();
        let mut order: Vec<usize> = (0..n_samples).collect();
        order.sort_by(|i, j| ranks[*i].total_cmp(&ranks[*j]));
        self.n_rounds += 1;
        if ranks[order[0]].is_infinite() {
            // Nowhere can it be simulated: closer to where it could, at the start.
            self.sigma *= 0.5;
            if self.sigma < options.least_spread {
                self.ended = Some(Ended::NoResiduals);
            }
            return Ok(());
        }

        // Mean, paths, covariance, step length.
        let mut mean_step = vec![0.0; n];
        for (weight, i) in law.weights.iter().zip(&order) {
            mean_step.iter_mut().zip(&steps[*i]).for_each(|(sum, y)| *sum += weight * y);
        }
        self.mean.iter_mut().zip(&mean_step).for_each(|(m, y)| *m += self.sigma * y);
        let whitened: Vec<f64> = (0..n)
            .map(|k| if lengths[k] > 0.0 { dot(&axes[k], &mean_step) / lengths[k] } else { 0.0 })
            .collect();
        let whitened = combined(&axes, &whitened);
        let pull = sqrt(law.c_sigma * (2.0 - law.c_sigma) * law.mu_eff);
        for (path, w) in self.sigma_path.iter_mut().zip(&whitened) {
            *path = (1.0 - law.c_sigma) * *path + pull * w;
        }
        let expected =
            sqrt(n as f64) * (1.0 - 1.0 / (4.0 * n as f64) + 1.0 / (21.0 * (n * n) as f64));
        let length = norm(&self.sigma_path);
        let settled = 1.0 - pow(1.0 - law.c_sigma, 2.0 * self.n_rounds as f64);
        let is_steady = length / sqrt(settled) < (1.4 + 2.0 / (n as f64 + 1.0)) * expected;
        let pull = f64::from(is_steady) * sqrt(law.c_c * (2.0 - law.c_c) * law.mu_eff);
        for (path, y) in self.covariance_path.iter_mut().zip(&mean_step) {
            *path = (1.0 - law.c_c) * *path + pull * y;
        }
        let missing = if is_steady { 0.0 } else { law.c_1 * law.c_c * (2.0 - law.c_c) };
        let keep = 1.0 + missing - law.c_1 - law.c_mu;
        for column in 0..n {
            for row in 0..n {
                let best: f64 = law
                    .weights
                    .iter()
                    .zip(&order)
                    .map(|(weight, i)| weight * steps[*i][row] * steps[*i][column])
                    .sum();
                let path = self.covariance_path[row] * self.covariance_path[column];
                let entry = &mut self.covariance[column][row];
                *entry = keep * *entry + law.c_1 * path + law.c_mu * best;
            }
        }
        self.sigma *= exp((law.c_sigma / law.d_sigma) * (length / expected - 1.0)).min(2.0);
        self.sigma = self.sigma.min(1.0);

        // The end.
        self.recent.push(costs[order[0]]);
        let n_recent = 10 + (30 * n).div_ceil(n_samples);
        if self.recent.len() > n_recent {
            self.recent.remove(0);
        }
        let most = self.recent.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let least = self.recent.iter().fold(f64::INFINITY, |a, b| a.min(*b));
        if self.sigma * lengths[0] < options.least_spread {
            self.ended = Some(Ended::SmallStep);
        } else if self.recent.len() == n_recent && most - least <= options.least_gain * most {
            self.ended = Some(Ended::SmallGain);
        }
        Ok(())
    }
}

fn from_shares(shares: &[f64], bounds: &Bounds) -> Vec<f64> {
    let at = |(i, u): (usize, &f64)| bounds.lower[i] + u * (bounds.upper[i] - bounds.lower[i]);
    bounds.nearest(&shares.iter().enumerate().map(at).collect::<Vec<f64>>())
}

fn combined(axes: &Columns, along: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; along.len()];
    for (axis, a) in axes.iter().zip(along) {
        sum.iter_mut().zip(axis).for_each(|(sum, x)| *sum += a * x);
    }
    sum
}

/// The constants of the strategy (Hansen's table 1).
struct Law {
    weights: Vec<f64>,
    mu_eff: f64,
    c_sigma: f64,
    d_sigma: f64,
    c_c: f64,
    c_1: f64,
    c_mu: f64,
}

impl Law {
    fn new(n: usize, n_samples: usize) -> Law {
        let mu = n_samples / 2;
        let raw: Vec<f64> =
            (1..=mu).map(|i| log((n_samples as f64 + 1.0) / 2.0) - log(i as f64)).collect();
        let total: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|w| w / total).collect();
        let mu_eff = 1.0 / dot(&weights, &weights);
        let n = n as f64;
        let c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0);
        let d_sigma = 1.0 + 2.0 * (sqrt((mu_eff - 1.0) / (n + 1.0)) - 1.0).max(0.0) + c_sigma;
        let c_c = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n);
        let c_1 = 2.0 / ((n + 1.3) * (n + 1.3) + mu_eff);
        let c_mu =
            (2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((n + 2.0) * (n + 2.0) + mu_eff)).min(1.0 - c_1);
        Law { weights, mu_eff, c_sigma, d_sigma, c_c, c_1, c_mu }
    }
}
