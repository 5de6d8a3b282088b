//! How sure a statistic is: intervals by the circular block bootstrap.
//!
//! Errors of neighbouring samples are alike, so that drawing them one by one would promise far
//! too much. Blocks of neighbours are drawn instead (Künsch 1989), and the last sample has the
//! first as its neighbour (Politis and Romano 1992): else the ends would be drawn less often than
//! the middle, and the interval be about another number than the one it is for. Blocks are as long
//! as the errors remember: for an autocorrelation ρ from one sample to the next the best length for
//! a mean is (6n)^⅓ · (ρ / (1 − ρ²))^⅔ (Carlstein's rule for blocks that overlap). Sums over blocks are
//! differences of running sums, so a draw costs as many steps as it has blocks.
//!
//! All chance comes from a seed, split by the name of the key: a new key shifts no other.

use headland_base::Seed;
use headland_base::maths::{cbrt, sqrt};
use rand_chacha::rand_core::Rng;

use super::statistics::{mean, percentile};

/// How intervals are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// Draws.
    pub n_draws: usize,
    /// The share of cases in which the true value should lie inside, below 1.
    pub confidence: f64,
    /// Where chance comes from.
    pub seed: Seed,
}

/// From, to.
pub type Interval = (f64, f64);

/// The intervals of what is a mean or made of means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    /// Of the mean error.
    pub bias: Interval,
    /// Of the mean size.
    pub mae: Interval,
    /// Of the root mean square.
    pub rmse: Interval,
    /// Samples in a block.
    pub n_block: usize,
}

/// The intervals of errors in the order of time; `None` where they are too few to draw from.
pub fn intervals(key: &str, errors: &[f64], how: &Bootstrap) -> Option<Intervals> {
    let n = errors.len();
    if n < 8 || how.n_draws == 0 {
        return None;
    }
    let n_block = block_length(errors);
    let running = running(errors);
    let mut rng = how.seed.child("bootstrap").child(key).rng();
    let mut draws = [const { Vec::new() }; 3];
    for _ in 0..how.n_draws {
        let (mut sums, mut n_left) = ([0.0; 3], n);
        while n_left > 0 {
            let length = n_block.min(n_left);
            let start = below(rng.next_u64(), n as u64) as usize;
            let (end, over) = ((start + length).min(n), (start + length).saturating_sub(n));
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum += running[end][k] - running[start][k] + running[over][k];
            }
            n_left -= length;
        }
        for (all, sum) in draws.iter_mut().zip(sums) {
            all.push(sum / n as f64);
        }
    }
    let tail = (1.0 - how.confidence) / 2.0;
    let mut ends = |which: usize| {
        let all: &mut [f64] = &mut draws[which];
        (percentile(all, tail), percentile(all, 1.0 - tail))
    };
    let (bias, mae, square) = (ends(0), ends(1), ends(2));
    let rmse = (sqrt(square.0.max(0.0)), sqrt(square.1.max(0.0)));
    Some(Intervals { bias, mae, rmse, n_block })
}

/// A number below `n`, each as likely but for one part in 2⁶⁴/n.
fn below(random: u64, n: u64) -> u64 {
    ((u128::from(random) * u128::from(n)) >> 64) as u64
}

/// Sums of e, |e| and e² up to each place.
fn running(errors: &[f64]) -> Vec<[f64; 3]> {
    let mut out = Vec::with_capacity(errors.len() + 1);
    let mut sums = [0.0; 3];
    out.push(sums);
    for e in errors {
        for (sum, term) in sums.iter_mut().zip([*e, e.abs(), e * e]) {
            *sum += term;
        }
        out.push(sums);
    }
    out
}

/// How many neighbours are drawn together, at most a quarter of all.
pub fn block_length(errors: &[f64]) -> usize {
    let n = errors.len();
    let mean = mean(errors);
    let square: f64 = errors.iter().map(|e| (e - mean) * (e - mean)).sum();
    let cross: f64 = errors.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    if square == 0.0 {
        return 1;
    }
    let rho = (cross / square).clamp(0.0, 0.999);
    let remembered = cbrt((rho / (1.0 - rho * rho)) * (rho / (1.0 - rho * rho)));
    let length = cbrt(6.0 * n as f64) * remembered;
    (length as usize + 1).clamp(1, (n / 4).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::maths::{TAU, cos, log};

    /// An AR(1) series with mean `centre` and innovations of variance one, from its stationary
    /// distribution.
    fn ar1(seed: u64, n: usize, phi: f64, centre: f64) -> Vec<f64> {
        let mut rng = Seed::new(seed).child("ar1").rng();
        let mut normal = move || {
            let unit = |x: u64| ((x >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            let (u, v) = (unit(rng.next_u64()), unit(rng.next_u64()));
            sqrt(-2.0 * log(u)) * cos(TAU * v)
        };
        let mut x = normal() / sqrt(1.0 - phi * phi);
        (0..n)
            .map(|_| {
                let now = centre + x;
                x = phi * x + normal();
                now
            })
            .collect()
    }

    /// The promise of an interval is how often the truth lies in it. Of 400 series each; drawing
    /// sample by sample keeps it for white noise alone.
    #[test]
    fn the_truth_lies_inside_as_often_as_promised() {
        for (phi, least) in [(0.0, 0.92), (0.5, 0.90), (0.8, 0.88), (0.95, 0.80)] {
            let (centre, n_series) = (0.7, 400);
            let true_rmse = sqrt(centre * centre + 1.0 / (1.0 - phi * phi));
            let (mut n_bias, mut n_rmse, mut n_iid) = (0, 0, 0);
            for i in 0..n_series {
                let errors = ar1(i, 2000, phi, centre);
                let how = Bootstrap { n_draws: 400, confidence: 0.95, seed: Seed::new(i) };
                let got = intervals("e", &errors, &how).unwrap();
                let holds = |(low, high): Interval, x: f64| low <= x && x <= high;
                n_bias += usize::from(holds(got.bias, centre));
                n_rmse += usize::from(holds(got.rmse, true_rmse));
                let m = mean(&errors);
                let var: f64 = errors.iter().map(|e| (e - m) * (e - m)).sum::<f64>() / 2000.0;
                n_iid += usize::from((m - centre).abs() <= 1.96 * sqrt(var / 2000.0));
            }
            let share = |n: usize| n as f64 / n_series as f64;
            println!(
                "phi {phi}: bias {} rmse {} iid {}",
                share(n_bias),
                share(n_rmse),
                share(n_iid)
            );
            for (what, n) in [("bias", n_bias), ("rmse", n_rmse)] {
                assert!((least..=0.985).contains(&share(n)), "phi {phi}: {what} {}", share(n));
            }
            if phi >= 0.8 {
                assert!(share(n_iid) < 0.6, "phi {phi}: one by one {}", share(n_iid));
            }
        }
    }

    /// Of a swing that dies away every sample is drawn as often as every other: the interval is
    /// about the mean that is told.
    #[test]
    fn an_interval_holds_the_number_it_is_for() {
        let swing = |i: usize| cos(i as f64 * 0.05) * headland_base::maths::exp(-0.004 * i as f64);
        let errors: Vec<f64> = (0..800).map(swing).collect();
        let m = mean(&errors);
        let how = Bootstrap { n_draws: 4000, confidence: 0.02, seed: Seed::new(1) };
        let (low, high) = intervals("e", &errors, &how).unwrap().bias;
        let wide = Bootstrap { confidence: 0.95, ..how };
        let (from, to) = intervals("e", &errors, &wide).unwrap().bias;
        // The middle of all draws, to a share of their width that blocks without a neighbour
        // beyond the ends miss twice over.
        assert!((0.5 * (low + high) - m).abs() < 0.03 * (to - from), "{low}..{high} around {m}");
    }

    #[test]
    fn chance_is_the_seeds_and_the_keys() {
        let errors = ar1(1, 500, 0.5, 0.0);
        let how = |seed| Bootstrap { n_draws: 100, confidence: 0.95, seed: Seed::new(seed) };
        let of = |key: &str, seed| intervals(key, &errors, &how(seed)).unwrap();
        assert_eq!(of("a", 1), of("a", 1));
        assert_ne!(of("a", 1), of("b", 1));
        assert_ne!(of("a", 1), of("a", 2));
    }

    #[test]
    fn what_is_constant_is_certain_and_few_are_nothing() {
        let how = Bootstrap { n_draws: 50, confidence: 0.95, seed: Seed::new(0) };
        let got = intervals("e", &[2.0; 64], &how).unwrap();
        assert_eq!((got.bias, got.rmse, got.n_block), ((2.0, 2.0), (2.0, 2.0), 1));
        assert_eq!(intervals("e", &[2.0; 7], &how), None);
    }
}
