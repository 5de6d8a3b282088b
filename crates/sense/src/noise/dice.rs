//! Random numbers of the kinds that noise needs, the same on every machine.

use headland_base::Seed;
use headland_base::maths::{TAU, cos, log, sin, sqrt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Dice {
    rng: ChaCha8Rng,
    /// The second of two normal numbers that were made together.
    spare: Option<f64>,
}

impl Dice {
    /// The stream of a seed, from its beginning.
    pub fn new(seed: &Seed) -> Dice {
        Dice { rng: seed.rng(), spare: None }
    }

    /// Evenly within 0 (included) and 1 (excluded): 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True for a share of the calls. 0 is never and 1 is always.
    pub fn chance(&mut self, share: f64) -> bool {
        self.uniform() < share
    }

    /// From 0 to `n`, excluded, each as often. 0 where there is nothing to choose from.
    pub fn below(&mut self, n: usize) -> usize {
        // The error of the product is 2⁻⁵³·n, far below what any run could show.
        ((self.uniform() * n as f64) as usize).min(n.saturating_sub(1))
    }

    /// Normal, mean 0 and standard deviation 1, by Box and Muller: two uniform numbers make two
    /// normal ones, up to 8.5 deviations out.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // Within 0 (excluded) and 1 (included), for the logarithm.
        let radius = sqrt(-2.0 * log(1.0 - self.uniform()));
        let angle = TAU * self.uniform();
        self.spare = Some(radius * sin(angle));
        radius * cos(angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::channel::test_tools::{kolmogorov, normal_cdf};

    /// Kolmogorov and Smirnov: at a confidence of 99.9 % the largest distance between the shares
    /// of a sample and of its law is below 1.95/√n.
    #[test]
    fn uniform_and_normal_numbers_are_what_they_are_called() {
        for seed in 0..4 {
            let mut dice = Dice::new(&Seed::new(seed).child("dice"));
            let even: Vec<f64> = (0..100_000).map(|_| dice.uniform()).collect();
            assert!(kolmogorov(&even, |x| x) < 1.95, "uniform, seed {seed}");
            // As many as it takes to tell a bell from one that is 5 % wider.
            let bell: Vec<f64> = (0..100_000).map(|_| dice.normal()).collect();
            assert!(kolmogorov(&bell, normal_cdf) < 1.95, "normal, seed {seed}");
            // The test can fail.
            assert!(kolmogorov(&bell, |x| normal_cdf(x / 1.05)) > 1.95);
        }
    }

    /// χ² of 9 degrees of freedom is below 27.9 at a confidence of 99.9 %.
    #[test]
    fn choices_are_even() {
        let mut dice = Dice::new(&Seed::new(5));
        let mut counts = [0usize; 10];
        (0..100_000).for_each(|_| counts[dice.below(10)] += 1);
        let excess = |n: &usize| *n as f64 - 1e4;
        let chi2: f64 = counts.iter().map(|n| excess(n) * excess(n) / 1e4).sum();
        assert!(chi2 < 27.9, "{counts:?}");
        assert_eq!((dice.below(1), dice.below(0)), (0, 0));
    }

    /// Neighbours in the stream know nothing of each other: |r| < 3.29/√n at 99.9 %.
    #[test]
    fn normal_numbers_are_independent_of_their_neighbours() {
        let mut dice = Dice::new(&Seed::new(8));
        let x: Vec<f64> = (0..40_000).map(|_| dice.normal()).collect();
        for lag in [1, 2, 3, 10] {
            let n = (x.len() - lag) as f64;
            let r: f64 = (lag..x.len()).map(|i| x[i] * x[i - lag]).sum::<f64>() / n;
            assert!(r.abs() < 3.29 / sqrt(n), "lag {lag}: {r}");
        }
    }
}
