//! Noise in several dimensions with clusters: a mixture of Gaussians.
//!
//! Detectors of real cells err in clusters, for the same part is found by another edge from one
//! picture to the next. `headland fit-noise` fits a mixture to measurements.

use headland_base::Seed;
use headland_base::maths::{PI, exp, log, sqrt};

use super::dice::Dice;

/// One Gaussian of a mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Its share of the readings; those of a mixture are scaled to one.
    pub weight: f64,
    /// Its middle, one number per dimension.
    pub mean: Vec<f64>,
    /// Its covariance, row after row.
    pub covariance: Vec<f64>,
}

/// A mixture of Gaussians.
///
/// Held by construction: at least one cluster, all of one dimension, weights that are not
/// negative and sum to one, finite numbers, covariances that are symmetric and of which none is
/// negative in any direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    clusters: Vec<Cluster>,
    /// Lower triangles with `factor · factorᵀ = covariance`.
    factors: Vec<Vec<f64>>,
    /// Logarithm of each one's weighted density at its middle; minus infinity where it is flat in
    /// some direction, for there is no density.
    log_peaks: Vec<f64>,
}

impl Mixture {
    /// From its clusters; everything that is wrong with them, in words.
    pub fn new(mut clusters: Vec<Cluster>) -> Result<Mixture, Vec<String>> {
        let mut faults = Vec::new();
        let n = clusters.first().map_or(0, |first| first.mean.len());
        if n == 0 {
            return Err(vec!["a mixture has at least one cluster of one dimension".to_string()]);
        }
        let mut factors = Vec::new();
        for (i, cluster) in clusters.iter().enumerate() {
            let which = format!("cluster {}", i + 1);
            if !(cluster.weight >= 0.0 && cluster.weight.is_finite()) {
                faults.push(format!("{which}: a weight of {} is no share", cluster.weight));
            }
            if cluster.mean.len() != n || cluster.covariance.len() != n * n {
                faults.push(format!("{which}: it has not {n} dimensions, as the first has"));
                continue;
            }
            let numbers = cluster.mean.iter().chain(&cluster.covariance);
            if !numbers.into_iter().all(|x| x.is_finite()) {
                faults.push(format!("{which}: its numbers are not finite"));
                continue;
            }
            match cholesky(&cluster.covariance, n) {
                Some(factor) => factors.push(factor),
                None => faults.push(format!(
                    "{which}: its covariance is none: not symmetric, or negative in some direction"
                )),
            }
        }
        let sum: f64 = clusters.iter().map(|cluster| cluster.weight).sum();
        if faults.is_empty() && sum <= 0.0 {
            faults.push("the weights of all clusters are zero".to_string());
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        clusters.iter_mut().for_each(|cluster| cluster.weight /= sum);
        let peak = |(cluster, factor): (&Cluster, &Vec<f64>)| {
            let pivots = || (0..n).map(|i| factor[i * n + i]);
            if pivots().any(|pivot| pivot == 0.0) {
                return f64::NEG_INFINITY;
            }
            let log_det: f64 = pivots().map(log).sum();
            log(cluster.weight) - 0.5 * n as f64 * log(2.0 * PI) - log_det
        };
        let log_peaks = clusters.iter().zip(&factors).map(peak).collect();
        Ok(Mixture { clusters, factors, log_peaks })
    }

    /// Its clusters.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// How many numbers a reading has.
    pub fn n_dims(&self) -> usize {
        self.clusters[0].mean.len()
    }

    /// Mean of all readings.
    pub fn mean(&self) -> Vec<f64> {
        let of = |i: usize| self.clusters.iter().map(|c| c.weight * c.mean[i]).sum();
        (0..self.n_dims()).map(of).collect()
    }

    /// Covariance of all readings, row after row: within the clusters and between them.
    pub fn covariance(&self) -> Vec<f64> {
        let (n, mean) = (self.n_dims(), self.mean());
        let of = |k: usize| {
            let (i, j) = (k / n, k % n);
            let one = |c: &Cluster| {
                c.weight * (c.covariance[k] + (c.mean[i] - mean[i]) * (c.mean[j] - mean[j]))
            };
            self.clusters.iter().map(one).sum()
        };
        (0..n * n).map(of).collect()
    }

    /// Logarithm of the weighted density of one cluster at a point; minus infinity where a
    /// cluster is flat in some direction. `scratch` has room for a point.
    #[inline]
    pub fn cluster_log_density(&self, cluster_idx: usize, x: &[f64], scratch: &mut [f64]) -> f64 {
        let peak = self.log_peaks[cluster_idx];
        if peak == f64::NEG_INFINITY {
            return peak;
        }
        let (cluster, factor) = (&self.clusters[cluster_idx], &self.factors[cluster_idx]);
        let n = x.len();
        let mut square = 0.0;
        // Forward substitution: factor · y = x − mean.
        for i in 0..n {
            let row = &factor[i * n..i * n + i + 1];
            let sum: f64 = row[..i].iter().zip(&scratch[..i]).map(|(l, y)| l * y).sum();
            scratch[i] = (x[i] - cluster.mean[i] - sum) / row[i];
            square += scratch[i] * scratch[i];
        }
        peak - 0.5 * square
    }

    /// Logarithm of the density at a point.
    pub fn log_density(&self, x: &[f64]) -> f64 {
        let mut scratch = vec![0.0; x.len()];
        let logs: Vec<f64> = (0..self.clusters.len())
            .map(|i| self.cluster_log_density(i, x, &mut scratch))
            .collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if top.is_finite() { top + log(logs.iter().map(|x| exp(x - top)).sum()) } else { top }
    }

    /// Who draws from it.
    pub fn sampler(&self, seed: &Seed) -> Sampler {
        Sampler {
            mixture: self.clone(),
            choice: Dice::new(&seed.child("cluster")),
            white: Dice::new(&seed.child("white")),
        }
    }
}

/// Draws from a mixture, one reading after the other.
#[derive(Clone, Debug)]
pub struct Sampler {
    mixture: Mixture,
    choice: Dice,
    white: Dice,
}

impl Sampler {
    /// The next reading, and the cluster that it came from.
    pub fn draw(&mut self) -> (usize, Vec<f64>) {
        let n = self.mixture.n_dims();
        let clusters = &self.mixture.clusters;
        let mut left = self.choice.uniform();
        let is_it = |cluster: &Cluster| {
            left -= cluster.weight;
            left < 0.0
        };
        // Rounding may leave a trace beyond the last one.
        let i = clusters.iter().position(is_it).unwrap_or(clusters.len() - 1);
        let white: Vec<f64> = (0..n).map(|_| self.white.normal()).collect();
        let factor = &self.mixture.factors[i];
        let of = |row: usize| {
            let l = &factor[row * n..row * n + row + 1];
            clusters[i].mean[row] + l.iter().zip(&white).map(|(l, w)| l * w).sum::<f64>()
        };
        (i, (0..n).map(of).collect())
    }
}

/// The lower triangle whose product with its transpose is a covariance; directions without
/// any deviation are allowed. `None` where it is no covariance.
pub(crate) fn cholesky(covariance: &[f64], n: usize) -> Option<Vec<f64>> {
    let scale = (0..n).map(|i| covariance[i * n + i].abs()).fold(0.0, f64::max);
    // What sums of products of doubles, up to 6 of them, are off by, a thousand times.
    let slack = 1e-12 * scale;
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            if (covariance[i * n + j] - covariance[j * n + i]).abs() > slack {
                return None;
            }
            let sum: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let rest = covariance[i * n + j] - sum;
            l[i * n + j] = match i == j {
                true if rest > slack => sqrt(rest),
                true if rest >= -slack => 0.0,
                true => return None,
                false if l[j * n + j] > 0.0 => rest / l[j * n + j],
                // Flat along j: what varies along i must not vary with it.
                false if rest.abs() <= sqrt(slack * scale) => 0.0,
                false => return None,
            };
        }
    }
    Some(l)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::channel::test_tools::{kolmogorov, normal_cdf};

    fn two() -> Mixture {
        Mixture::new(vec![
            Cluster {
                weight: 3.0,
                mean: vec![0.0, 1.0],
                covariance: vec![0.04, 0.018, 0.018, 0.01],
            },
            Cluster { weight: 1.0, mean: vec![2.0, -1.0], covariance: vec![0.09, 0.0, 0.0, 0.25] },
        ])
        .unwrap()
    }

    #[test]
    fn draws_have_the_declared_shares_means_and_covariances() {
        let mixture = two();
        let mut sampler = mixture.sampler(&Seed::new(2));
        let n = 40_000;
        let draws: Vec<(usize, Vec<f64>)> = (0..n).map(|_| sampler.draw()).collect();
        let share = draws.iter().filter(|(i, _)| *i == 0).count() as f64 / n as f64;
        assert!((share - 0.75).abs() < 3.29 * sqrt(0.75 * 0.25 / n as f64), "{share}");
        for (c, cluster) in mixture.clusters().iter().enumerate() {
            let of: Vec<&Vec<f64>> =
                draws.iter().filter(|(i, _)| *i == c).map(|(_, x)| x).collect();
            // Every direction of a Gaussian is Gaussian.
            for (a, b) in [(1.0, 0.0), (0.0, 1.0), (0.6, -0.8), (0.5, 2.0)] {
                let v = &cluster.covariance;
                let deviation = sqrt(a * a * v[0] + 2.0 * a * b * v[1] + b * b * v[3]);
                let middle = a * cluster.mean[0] + b * cluster.mean[1];
                let along: Vec<f64> = of.iter().map(|x| a * x[0] + b * x[1]).collect();
                let law = |x: f64| normal_cdf((x - middle) / deviation);
                assert!(kolmogorov(&along, law) < 1.95, "cluster {c} along {a} {b}");
            }
        }
        let (mean, covariance) = (mixture.mean(), mixture.covariance());
        for i in 0..2 {
            let m = draws.iter().map(|(_, x)| x[i]).sum::<f64>() / n as f64;
            assert!((m - mean[i]).abs() < 3.29 * sqrt(covariance[i * 2 + i] / n as f64));
        }
        let cross = |(_, x): &(usize, Vec<f64>)| (x[0] - mean[0]) * (x[1] - mean[1]);
        let sampled = draws.iter().map(cross).sum::<f64>() / n as f64;
        assert!((sampled - covariance[1]).abs() < 0.02, "{sampled} {}", covariance[1]);
    }

    /// A density is one over all, by the rectangle rule, which is exact to rounding for it.
    #[test]
    fn the_density_sums_to_one() {
        let (mixture, h) = (two(), 0.02);
        let mut sum = 0.0;
        for i in -150..250 {
            for j in -250..250 {
                sum += exp(mixture.log_density(&[f64::from(i) * h, f64::from(j) * h])) * h * h;
            }
        }
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    }

    #[test]
    fn a_flat_direction_stays_flat() {
        let flat =
            Cluster { weight: 1.0, mean: vec![1.0, 2.0], covariance: vec![4.0, 2.0, 2.0, 1.0] };
        let mixture = Mixture::new(vec![flat]).unwrap();
        let mut sampler = mixture.sampler(&Seed::new(1));
        for _ in 0..100 {
            let (_, x) = sampler.draw();
            assert!((x[0] - 1.0 - 2.0 * (x[1] - 2.0)).abs() < 1e-12);
        }
        assert_eq!(mixture.log_density(&[1.0, 2.0]), f64::NEG_INFINITY);
    }

    #[test]
    fn what_is_no_mixture_is_said_and_all_of_it() {
        let of = |weight, covariance: &[f64]| Cluster {
            weight,
            mean: vec![0.0, 0.0],
            covariance: covariance.to_vec(),
        };
        assert_eq!(Mixture::new(Vec::new()).unwrap_err().len(), 1);
        let bad = vec![
            of(-1.0, &[1.0, 0.0, 0.0, 1.0]),
            of(1.0, &[1.0, 2.0, 2.0, 1.0]),
            of(1.0, &[1.0, 0.5, 0.4, 1.0]),
            of(1.0, &[1.0, f64::NAN, 0.0, 1.0]),
            of(1.0, &[1.0]),
        ];
        assert_eq!(Mixture::new(bad).unwrap_err().len(), 5);
        assert_eq!(Mixture::new(vec![of(0.0, &[1.0, 0.0, 0.0, 1.0])]).unwrap_err().len(), 1);
    }
}
