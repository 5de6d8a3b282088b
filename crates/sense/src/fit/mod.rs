//! Fitting: measured deviations go in, a mixture of Gaussians comes out, with how sure it is.
//!
//! ```text
//! points ─ standardise ─► for each number of clusters: several starts ─ EM ─► the best
//!                         the number by BIC ─► mixture ─ resampling ─► standard errors
//! ```
//!
//! Everything random comes from one seed, so the same table gives the same mixture.
//!
//! Deliberately absent: tables and files; that is `headland fit-noise`.

mod em;
pub mod measured;
mod start;

use headland_base::Seed;
use headland_base::maths::{log, sqrt};

use crate::noise::{Cluster, Dice, Mixture};
use em::{Course, Enough};

/// Points: so many numbers each, one after the other.
#[derive(Clone, Debug)]
pub struct Points {
    values: Vec<f64>,
    n_dims: usize,
}

impl Points {
    /// From numbers row after row; all are finite.
    pub fn new(values: Vec<f64>, n_dims: usize) -> Points {
        assert!(n_dims > 0 && values.len().is_multiple_of(n_dims), "whole points");
        assert!(values.iter().all(|value| value.is_finite()), "finite points");
        Points { values, n_dims }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.values.len() / self.n_dims
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Numbers per point.
    pub fn n_dims(&self) -> usize {
        self.n_dims
    }

    /// One after the other.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.n_dims)
    }

    /// One of them.
    pub fn at(&self, i: usize) -> &[f64] {
        &self.values[i * self.n_dims..(i + 1) * self.n_dims]
    }

    /// Mean and standard deviation of each number.
    pub fn spread(&self) -> Vec<(f64, f64)> {
        let n = self.len().max(1) as f64;
        let one = |d: usize| {
            let mean = self.iter().map(|p| p[d]).sum::<f64>() / n;
            let square = self.iter().map(|p| (p[d] - mean) * (p[d] - mean)).sum::<f64>() / n;
            (mean, sqrt(square))
        };
        (0..self.n_dims).map(one).collect()
    }
}

/// How to fit.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// So many clusters; the best number by BIC where nothing is said.
    pub n_clusters: Option<usize>,
    /// The most clusters to try.
    pub most_clusters: usize,
    /// Where all chance comes from.
    pub seed: Seed,
    /// How often points are drawn anew to see how much the answer moves; 0 for not at all.
    pub n_resamples: usize,
}

impl Default for FitOptions {
    fn default() -> FitOptions {
        FitOptions { n_clusters: None, most_clusters: 6, seed: Seed::new(0), n_resamples: 40 }
    }
}

/// What a number of clusters came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// How many clusters.
    pub n_clusters: usize,
    /// Mean logarithm of the density at the points.
    pub log_likelihood: f64,
    /// Bayes' criterion by Schwarz: less is better.
    pub bic: f64,
}

/// A mixture that was fitted.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The mixture; its clusters by weight, the largest first.
    pub mixture: Mixture,
    /// Mean logarithm of its density at the points.
    pub log_likelihood: f64,
    /// Every number of clusters that was tried and did not collapse.
    pub tried: Vec<Tried>,
    /// Standard errors, in the same order; empty where none were asked for.
    pub errors: Vec<ClusterErrors>,
}

/// Standard errors of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterErrors {
    /// Of its weight.
    pub weight: f64,
    /// Of its middle.
    pub mean: Vec<f64>,
    /// Of its standard deviations.
    pub stddev: Vec<f64>,
}

/// Why points cannot be fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There are not enough of them for one cluster.
    TooFew {
        /// So many are needed.
        needed: usize,
    },
    /// A number is so large that its square is none, as what some write for "no reading".
    TooLarge {
        /// Which.
        dim: usize,
    },
    /// A number is the same in all of them.
    Constant {
        /// Which.
        dim: usize,
    },
    /// So many clusters have fewer points than a cluster needs in every start.
    Collapsed {
        /// How many were asked for.
        n_clusters: usize,
    },
}

/// The largest number that is fitted: products of four of them are still numbers.
pub const MOST: f64 = 1e75;

/// Starts per number of clusters; as many of the best go on.
const N_STARTS: usize = 8;
const N_FINALISTS: usize = 2;

/// To see which starts are worth more.
const GLANCE: Enough = Enough { gain: 1e-5, n_rounds: 20 };
/// To compare numbers of clusters, whose criteria differ by whole numbers.
const COMPARE: Enough = Enough { gain: 1e-6, n_rounds: 300 };
/// To the top.
const TOP: Enough = Enough { gain: 1e-12, n_rounds: 5000 };
/// To see how much the answer moves.
const RESAMPLE: Enough = Enough { gain: 1e-7, n_rounds: 100 };

/// Fits a mixture.
pub fn fit(points: &Points, options: &FitOptions) -> Result<Fit, Unfit> {
    let (n, dims) = (points.len(), points.n_dims());
    let needed = dims + 2;
    if n < needed {
        return Err(Unfit::TooFew { needed });
    }
    let is_large = |dim: &usize| points.iter().any(|point| point[*dim].abs() > MOST);
    if let Some(dim) = (0..dims).find(is_large) {
        return Err(Unfit::TooLarge { dim });
    }
    let spread = points.spread();
    // Numbers that differ by rounding alone are one number.
    let is_constant = |(mean, stddev): &(f64, f64)| *stddev <= 1e-12 * mean.abs();
    if let Some(dim) = spread.iter().position(is_constant) {
        return Err(Unfit::Constant { dim });
    }
    let standard = standardised(points, &spread);
    let counts = match options.n_clusters {
        Some(n) => n..=n,
        None => 1..=options.most_clusters.min(n / needed).max(1),
    };
    let log_scale: f64 = spread.iter().map(|(_, stddev)| log(*stddev)).sum();
    let (mut tried, mut best): (Vec<Tried>, Option<(f64, Course)>) = (Vec::new(), None);
    for k in counts.clone() {
        let Some(course) = best_course(&standard, k, &options.seed.child(&k.to_string())) else {
            continue;
        };
        let log_likelihood = course.log_likelihood - log_scale;
        let bic = -2.0 * n as f64 * log_likelihood + n_parameters(k, dims) as f64 * log(n as f64);
        tried.push(Tried { n_clusters: k, log_likelihood, bic });
        if best.as_ref().is_none_or(|(least, _)| bic < *least) {
            best = Some((bic, course));
        }
    }
    let collapsed = || Unfit::Collapsed { n_clusters: *counts.start() };
    let (_, course) = best.ok_or_else(collapsed)?;
    let mut course = em::climb(&standard, course.mixture, TOP).ok_or_else(collapsed)?;
    course.sort();
    let errors = resampled(&standard, &course, options)
        .into_iter()
        .map(|errors| errors.scaled(&spread))
        .collect();
    let log_likelihood = course.log_likelihood - log_scale;
    let mixture = unstandardised(&course.mixture, &spread);
    Ok(Fit { mixture, log_likelihood, tried, errors })
}

/// Weights that sum to one, means, and triangles of covariances.
fn n_parameters(n_clusters: usize, n_dims: usize) -> usize {
    n_clusters - 1 + n_clusters * n_dims + n_clusters * n_dims * (n_dims + 1) / 2
}

fn best_course(points: &Points, n_clusters: usize, seed: &Seed) -> Option<Course> {
    let n_starts = if n_clusters == 1 { 1 } else { N_STARTS };
    let starts = (0..n_starts).filter_map(|i| {
        start::start(points, n_clusters, &mut Dice::new(&seed.child(&i.to_string())))
    });
    let mut courses: Vec<Course> =
        starts.filter_map(|start| em::climb(points, start, GLANCE)).collect();
    courses.sort_by(|a, b| b.log_likelihood.total_cmp(&a.log_likelihood));
    courses.truncate(N_FINALISTS);
    let finished =
        courses.into_iter().filter_map(|course| em::climb(points, course.mixture, COMPARE));
    finished.reduce(|a, b| if b.log_likelihood > a.log_likelihood { b } else { a })
}

fn standardised(points: &Points, spread: &[(f64, f64)]) -> Points {
    let one = |p: &[f64]| -> Vec<f64> {
        p.iter().zip(spread).map(|(x, (mean, stddev))| (x - mean) / stddev).collect()
    };
    Points::new(points.iter().flat_map(one).collect(), points.n_dims())
}

fn unstandardised(mixture: &Mixture, spread: &[(f64, f64)]) -> Mixture {
    let n = spread.len();
    let one = |cluster: &Cluster| Cluster {
        weight: cluster.weight,
        mean: (0..n).map(|i| spread[i].0 + cluster.mean[i] * spread[i].1).collect(),
        covariance: (0..n * n)
            .map(|k| cluster.covariance[k] * spread[k / n].1 * spread[k % n].1)
            .collect(),
    };
    Mixture::new(mixture.clusters().iter().map(one).collect())
        .expect("a mixture along stretched axes is one")
}

impl ClusterErrors {
    fn scaled(self, spread: &[(f64, f64)]) -> ClusterErrors {
        let scale = |errors: Vec<f64>| -> Vec<f64> {
            errors.iter().zip(spread).map(|(error, (_, stddev))| error * stddev).collect()
        };
        ClusterErrors { weight: self.weight, mean: scale(self.mean), stddev: scale(self.stddev) }
    }
}

/// Efron's bootstrap: as many points drawn from the points, fitted from the answer on, so that
/// clusters keep their numbers; the deviation of what comes out is the standard error.
fn resampled(points: &Points, course: &Course, options: &FitOptions) -> Vec<ClusterErrors> {
    if options.n_resamples < 2 {
        return Vec::new();
    }
    let (n, dims) = (points.len(), points.n_dims());
    let k = course.mixture.clusters().len();
    // Per cluster: weight, means, deviations.
    let width = 1 + 2 * dims;
    let (mut n_done, mut sums, mut squares) = (0.0, vec![0.0; k * width], vec![0.0; k * width]);
    let seed = options.seed.child("resample");
    for i in 0..options.n_resamples {
        let mut dice = Dice::new(&seed.child(&i.to_string()));
        let drawn = (0..n).flat_map(|_| points.at(dice.below(n)).to_vec()).collect();
        let drawn = Points::new(drawn, dims);
        let Some(course) = em::climb(&drawn, course.mixture.clone(), RESAMPLE) else { continue };
        n_done += 1.0;
        for (c, cluster) in course.mixture.clusters().iter().enumerate() {
            let deviations = (0..dims).map(|d| sqrt(cluster.covariance[d * dims + d]));
            let numbers = std::iter::once(cluster.weight)
                .chain(cluster.mean.iter().copied())
                .chain(deviations);
            for (slot, x) in numbers.enumerate() {
                sums[c * width + slot] += x;
                squares[c * width + slot] += x * x;
            }
        }
    }
    if n_done < 2.0 {
        return Vec::new();
    }
    let error = |slot: usize| {
        let mean = sums[slot] / n_done;
        sqrt(((squares[slot] / n_done - mean * mean) * n_done / (n_done - 1.0)).max(0.0))
    };
    let one = |c: usize| ClusterErrors {
        weight: error(c * width),
        mean: (0..dims).map(|d| error(c * width + 1 + d)).collect(),
        stddev: (0..dims).map(|d| error(c * width + 1 + dims + d)).collect(),
    };
    (0..k).map(one).collect()
}

#[cfg(test)]
mod tests;
