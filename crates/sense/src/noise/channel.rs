//! One number of an instrument, reading after reading.

use headland_base::Seed;
use headland_base::maths::{exp, expm1, sqrt};

use super::Noise;
use super::dice::Dice;
use super::dropout::Dropper;

/// An instrument that has been switched on: its noise, and what it has drawn so far.
#[derive(Clone, Debug)]
pub struct Channel {
    noise: Noise,
    bias: f64,
    walk: f64,
    white: Dice,
    walking: Dice,
    is_outlier: Dice,
    outlier: Dice,
    dropper: Dropper,
}

impl Channel {
    pub(super) fn new(noise: Noise, seed: &Seed) -> Channel {
        let dice = |name: &str| Dice::new(&seed.child(name));
        let bias = noise.bias_mean + noise.bias_stddev * dice("bias").normal();
        Channel {
            noise,
            bias,
            walk: 0.0,
            white: dice("white"),
            walking: dice("walk"),
            is_outlier: dice("is outlier"),
            outlier: dice("outlier"),
            dropper: noise.dropout.dropper(seed),
        }
    }

    /// What the instrument says, where the truth is `truth` and `dt_secs` have passed since it
    /// was last asked; nothing where the reading is lost.
    pub fn read(&mut self, truth: f64, dt_secs: f64) -> Option<f64> {
        let said = self.value(truth, dt_secs);
        (!self.dropper.loses()).then_some(said)
    }

    /// What the instrument says, for instruments whose readings are lost in another way, all
    /// axes at once: its dropout is not asked.
    pub fn value(&mut self, truth: f64, dt_secs: f64) -> f64 {
        self.pass(dt_secs);
        let noise = &self.noise;
        let mut said = truth + self.bias + self.walk + noise.mean;
        if noise.stddev != 0.0 {
            said += noise.stddev * self.white.normal();
        }
        let outliers = noise.outliers;
        if outliers.rate > 0.0 {
            // Drawn also where it is not used, so that another rate moves the same outliers in.
            let far = outliers.spread * self.outlier.normal();
            said += if self.is_outlier.chance(outliers.rate) { far } else { 0.0 };
        }
        quantised(said, noise.precision)
    }

    /// Draws what is new in every reading from another seed from now on; what lasts, the bias and
    /// where it has wandered to, stays.
    pub fn turn_to(&mut self, seed: &Seed) {
        let dice = |name: &str| Dice::new(&seed.child(name));
        self.white = dice("white");
        (self.is_outlier, self.outlier) = (dice("is outlier"), dice("outlier"));
        self.dropper = self.noise.dropout.dropper(seed);
    }

    /// Whether the next reading is lost.
    pub fn loses(&mut self) -> bool {
        self.dropper.loses()
    }

    /// Lets the bias wander. Exact for any length of time: the Ornstein-Uhlenbeck process
    /// `db = −b/τ·dt + σ·dW` after `h` has mean `b·exp(−h/τ)` and variance
    /// `σ²·τ/2·(1 − exp(−2h/τ))`; without `τ` it is a random walk, of variance `σ²·h`.
    fn pass(&mut self, dt_secs: f64) {
        let sigma = self.noise.walk_density;
        if sigma == 0.0 || dt_secs <= 0.0 {
            return;
        }
        let (keeps, variance) = match self.noise.walk_time_secs {
            Some(tau) => (exp(-dt_secs / tau), -0.5 * tau * expm1(-2.0 * dt_secs / tau)),
            None => (1.0, dt_secs),
        };
        self.walk = keeps * self.walk + sigma * sqrt(variance) * self.walking.normal();
    }
}

/// The multiple of `step` that is nearest, away from zero where two are; the number itself where
/// there is no step.
pub fn quantised(x: f64, step: f64) -> f64 {
    if step > 0.0 { (x / step).round() * step } else { x }
}

#[cfg(test)]
pub(crate) mod test_tools {
    use headland_base::maths::{erfc, sqrt};

    pub fn normal_cdf(x: f64) -> f64 {
        0.5 * erfc(-x / sqrt(2.0))
    }

    /// √n times the largest distance between the shares of a sample and of a law. By Kolmogorov
    /// it stays below 1.95 in 99.9 % of samples of that law.
    pub fn kolmogorov(sample: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
        let mut sorted = sample.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let distance = |(i, x): (usize, &f64)| {
            let share = cdf(*x);
            (share - i as f64 / n).max((i as f64 + 1.0) / n - share)
        };
        sqrt(n) * sorted.iter().enumerate().map(distance).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::test_tools::{kolmogorov, normal_cdf};
    use super::*;
    use crate::noise::{Dropout, Outliers};

    const N: usize = 20_000;

    fn readings(noise: Noise, seed: u64, dt_secs: f64) -> Vec<f64> {
        let mut channel = noise.channel(&Seed::new(seed));
        (0..N).map(|_| channel.value(1.5, dt_secs)).collect()
    }

    fn mean(x: &[f64]) -> f64 {
        x.iter().sum::<f64>() / x.len() as f64
    }

    #[test]
    fn without_noise_readings_are_the_truth() {
        assert!(readings(Noise::default(), 1, 0.1).iter().all(|x| *x == 1.5));
        let mut channel = Noise::default().channel(&Seed::new(1));
        assert_eq!(channel.read(-7.25, 0.1), Some(-7.25));
    }

    #[test]
    fn white_noise_has_the_declared_law() {
        let noise = Noise { mean: 0.2, stddev: 0.03, ..Noise::default() };
        for seed in 0..4 {
            let law = |x: f64| normal_cdf((x - 1.7) / 0.03);
            assert!(kolmogorov(&readings(noise, seed, 0.1), law) < 1.95, "seed {seed}");
        }
    }

    /// One draw per instrument, the same in each of its readings.
    #[test]
    fn biases_are_drawn_once_and_have_the_declared_law() {
        let noise = Noise { bias_mean: 0.5, bias_stddev: 0.1, ..Noise::default() };
        let seed = Seed::new(9);
        let one = |i: usize| {
            let mut channel = noise.channel(&seed.child(&i.to_string()));
            let first = channel.value(0.0, 0.1);
            assert_eq!(channel.value(0.0, 0.1), first);
            first
        };
        let biases: Vec<f64> = (0..4000).map(one).collect();
        assert!(kolmogorov(&biases, |x| normal_cdf((x - 0.5) / 0.1)) < 1.95);
    }

    /// A wandering bias with a memory: its deviation is σ·√(τ/2) and its correlation over a time
    /// t is exp(−t/τ), whatever the rate of the readings.
    #[test]
    fn a_walk_with_a_memory_has_its_deviation_and_its_correlation() {
        let (sigma, tau) = (0.2, 2.0);
        let noise = Noise { walk_density: sigma, walk_time_secs: Some(tau), ..Noise::default() };
        let stationary = sigma * sqrt(tau / 2.0);
        for (rate_hz, seed) in [(1.0, 1), (4.0, 2), (10.0, 3)] {
            let x: Vec<f64> = readings(noise, seed, 1.0 / rate_hz);
            let x = &x[(20.0 * rate_hz) as usize..];
            let m = mean(x);
            // Readings within τ say nearly the same: so many are independent.
            let n_independent = x.len() as f64 / (rate_hz * tau);
            assert!((m - 1.5).abs() < 3.29 * stationary / sqrt(n_independent) * 1.5, "mean {m}");
            let at = |lag: usize| {
                let pairs = (lag..x.len()).map(|i| (x[i] - m) * (x[i - lag] - m));
                pairs.sum::<f64>() / (x.len() - lag) as f64
            };
            let variance = at(0);
            let error = 3.29 * sqrt(2.0 / n_independent);
            assert!((variance / (stationary * stationary) - 1.0).abs() < error, "{variance}");
            for secs in [1.0, 2.0, 4.0] {
                let r = at((secs * rate_hz) as usize) / variance;
                let wanted = exp(-secs / tau);
                assert!((r - wanted).abs() < 3.29 / sqrt(n_independent), "{secs} s: {r}");
            }
        }
    }

    /// Without a memory its variance grows as σ²·t; steps of any two lengths are the same walk.
    #[test]
    fn a_walk_without_memory_grows_with_the_root_of_time() {
        let noise = Noise { walk_density: 0.3, ..Noise::default() };
        let end = |i: usize, dts: &[f64]| {
            let mut channel = noise.channel(&Seed::new(4).child(&i.to_string()));
            dts.iter().for_each(|dt| _ = channel.value(0.0, *dt));
            channel.bias + channel.walk
        };
        for dts in [vec![0.25; 16], vec![0.5, 1.5, 2.0], vec![4.0]] {
            let ends: Vec<f64> = (0..3000).map(|i| end(i, &dts)).collect();
            assert!(kolmogorov(&ends, |x| normal_cdf(x / 0.6)) < 1.95, "{} steps", dts.len());
        }
    }

    #[test]
    fn readings_are_multiples_and_no_further_than_half_of_one() {
        let noise = Noise { stddev: 0.02, precision: 0.01, ..Noise::default() };
        let coarse = readings(noise, 6, 0.1);
        let fine = readings(Noise { precision: 0.0, ..noise }, 6, 0.1);
        for (c, f) in coarse.iter().zip(&fine) {
            assert!(((c / 0.01).round() * 0.01 - c).abs() < 1e-15);
            assert!((c - f).abs() <= 0.005 + 1e-12);
        }
        // Rounding adds its own variance: Sheppard.
        let m = mean(&coarse);
        let variance = coarse.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / N as f64;
        let error = 3.29 * sqrt(2.0 / N as f64);
        assert!((variance / noise.variance() - 1.0).abs() < error, "{variance}");
    }

    #[test]
    fn outliers_have_their_share_and_their_spread() {
        let noise = Noise { outliers: Outliers { rate: 0.05, spread: 2.0 }, ..Noise::default() };
        let far: Vec<f64> =
            readings(noise, 2, 0.1).into_iter().filter(|x| *x != 1.5).map(|x| x - 1.5).collect();
        let share = far.len() as f64 / N as f64;
        assert!((share - 0.05).abs() < 3.29 * sqrt(0.05 * 0.95 / N as f64), "{share}");
        assert!(kolmogorov(&far, |x| normal_cdf(x / 2.0)) < 1.95);
    }

    /// Every knob has its own stream: what another adds is the same to the bit, where sums of
    /// numbers can tell.
    #[test]
    fn no_knob_shifts_another() {
        let quiet = Noise { stddev: 0.25, ..Noise::default() };
        let plain = readings(quiet, 7, 0.1);
        let lossy = Noise { dropout: Dropout { rate: 0.3, burst: Some(3.0) }, ..quiet };
        let mut channel = lossy.channel(&Seed::new(7));
        for x in &plain {
            let read = channel.read(1.5, 0.1);
            assert!(read.is_none_or(|read| read == *x));
        }
        let rare = Noise { outliers: Outliers { rate: 0.01, spread: 5.0 }, ..quiet };
        let often = Noise { outliers: Outliers { rate: 0.2, spread: 5.0 }, ..quiet };
        let (rare, often) = (readings(rare, 7, 0.1), readings(often, 7, 0.1));
        let mut n_far = 0;
        for i in 0..N {
            // What is an outlier at a small rate is the same one at a large rate.
            assert!(rare[i] == plain[i] || rare[i] == often[i]);
            n_far += usize::from(rare[i] != plain[i]);
        }
        assert!(n_far > 100);
        let walking = Noise { walk_density: 0.1, bias_mean: 1.0, bias_stddev: 0.5, ..quiet };
        let mut walking = walking.channel(&Seed::new(7));
        for x in &plain {
            let said = walking.value(1.5, 0.1) - (walking.bias + walking.walk);
            assert!((said - x).abs() < 1e-12);
        }
    }
}
