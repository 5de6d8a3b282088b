//! Expectation and maximisation: a mixture goes in, the nearest best one comes out.

use headland_base::maths::{exp, log};

use super::Points;
use crate::noise::{Cluster, Mixture};

/// Where a climb ended.
#[derive(Clone, Debug)]
pub struct Course {
    pub mixture: Mixture,
    /// Mean over the points.
    pub log_likelihood: f64,
}

impl Course {
    /// The largest cluster first.
    pub fn sort(&mut self) {
        let mut clusters = self.mixture.clusters().to_vec();
        clusters.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        self.mixture = Mixture::new(clusters).expect("the same clusters");
    }
}

/// When a climb is over.
#[derive(Clone, Copy, Debug)]
pub struct Enough {
    /// A round gains less than this, per point.
    pub gain: f64,
    /// So many rounds were made.
    pub n_rounds: usize,
}

/// Variances of a cluster are at least this share of those of all points: without it a cluster
/// shrinks around a few equal points until its density is infinite.
pub(super) const LEAST_VARIANCE: f64 = 1e-8;

/// Climbs from a mixture towards the nearest top. `None` where a cluster is left with fewer
/// points than it has directions.
///
/// Every round raises the likelihood (Dempster, Laird and Rubin 1977), but where clusters
/// overlap by less and less; hence the limits.
pub fn climb(points: &Points, mixture: Mixture, enough: Enough) -> Option<Course> {
    let (n, k) = (points.len(), mixture.clusters().len());
    let mut shares = vec![0.0; n * k];
    let mut mixture = mixture;
    let mut log_likelihood = expect(points, &mixture, &mut shares);
    for _ in 0..enough.n_rounds {
        mixture = maximise(points, &shares, k)?;
        let before = std::mem::replace(&mut log_likelihood, expect(points, &mixture, &mut shares));
        if log_likelihood - before < enough.gain {
            break;
        }
    }
    log_likelihood.is_finite().then_some(Course { mixture, log_likelihood })
}

/// A share below e to this, 4·10⁻¹⁸, is lost when it is added to one.
const LEAST_LOG_SHARE: f64 = -40.0;

/// To which share each point is of each cluster; the mean log-likelihood.
fn expect(points: &Points, mixture: &Mixture, shares: &mut [f64]) -> f64 {
    let k = mixture.clusters().len();
    let mut scratch = vec![0.0; points.n_dims()];
    let mut sum = 0.0;
    for (point, row) in points.iter().zip(shares.chunks_exact_mut(k)) {
        for (i, share) in row.iter_mut().enumerate() {
            *share = mixture.cluster_log_density(i, point, &mut scratch);
        }
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for share in row.iter_mut() {
            // Far from a cluster, which most points are from most, nothing is left of it.
            let below = *share - top;
            *share = if below > LEAST_LOG_SHARE { exp(below) } else { 0.0 };
        }
        let all: f64 = row.iter().sum();
        row.iter_mut().for_each(|share| *share /= all);
        sum += top + log(all);
    }
    sum / points.len() as f64
}

/// The mixture that suits the shares best.
pub(super) fn maximise(points: &Points, shares: &[f64], k: usize) -> Option<Mixture> {
    let d = points.n_dims();
    let mut clusters = Vec::with_capacity(k);
    for c in 0..k {
        let shared = || points.iter().zip(shares.iter().skip(c).step_by(k));
        let total: f64 = shared().map(|(_, share)| share).sum();
        if total.is_nan() || total < d as f64 + 1.0 {
            return None;
        }
        let mut mean = vec![0.0; d];
        for (point, share) in shared() {
            mean.iter_mut().zip(point).for_each(|(m, x)| *m += share * x);
        }
        mean.iter_mut().for_each(|m| *m /= total);
        let mut covariance = vec![0.0; d * d];
        for (point, share) in shared() {
            for i in 0..d {
                let x = share * (point[i] - mean[i]);
                for j in 0..=i {
                    covariance[i * d + j] += x * (point[j] - mean[j]);
                }
            }
        }
        for i in 0..d {
            for j in 0..=i {
                covariance[i * d + j] /= total;
                covariance[j * d + i] = covariance[i * d + j];
            }
        }
        floor(&mut covariance, d);
        clusters.push(Cluster { weight: total, mean, covariance });
    }
    Mixture::new(clusters).ok()
}

/// Keeps every direction from vanishing: where one has, all get a little.
fn floor(covariance: &mut [f64], d: usize) {
    if least_pivot(covariance, d) < LEAST_VARIANCE {
        (0..d).for_each(|i| covariance[i * d + i] += LEAST_VARIANCE);
    }
}

/// The smallest variance that is left in a direction when those before it are known.
fn least_pivot(covariance: &[f64], d: usize) -> f64 {
    let mut rest = covariance.to_vec();
    let mut least = f64::INFINITY;
    for i in 0..d {
        let pivot = rest[i * d + i];
        least = least.min(pivot);
        if pivot <= 0.0 {
            return 0.0;
        }
        for j in i + 1..d {
            let slope = rest[j * d + i] / pivot;
            for l in i + 1..d {
                rest[j * d + l] -= slope * rest[i * d + l];
            }
        }
    }
    least
}
