//! What noise in starts does to an answer.
//!
//! Where no start is looked for, as in windows, a model starts from what was measured, and a noise
//! of a fraction of a millimetre between two rows is a velocity that is wrong by centimetres a
//! second. All that follows is wrong with it, in a way that residuals do not show: it looks like
//! what the model does. So the measurement is repeated some times with as much noise again laid
//! over it, and how far the answer would go each time says how far the noise that is in it has
//! moved it (the parametric bootstrap). By slopes where these hold; numbers of surfaces, whose
//! error jumps, are looked for anew. Noise moves those one way: a cube at rest that is said to
//! move is stopped best by more friction than there is. So it counts how far answers go, and not
//! how far they are from each other.

use std::sync::Arc;

use headland_base::maths::{dot, sqrt};
use headland_base::{Seed, SimTime};
use headland_sense::noise::Dice;

use super::Tuning;
use super::scan::surface_points;
use crate::fit::{BrokenOff, Problem};
use crate::{Experiment, Signal};

/// So many more measurements.
const N_DRAWS: usize = 12;

impl Tuning<'_> {
    /// Whether starts are as they were measured, noise and all.
    pub(super) fn starts_noisy(&self) -> bool {
        self.plan.options.window.is_some() || !self.plan.fits_start
    }

    /// What more noise does at a point; nothing where starts are fitted. The same for the same
    /// problem.
    pub(super) fn noise_of_starts(
        &self,
        x: &[f64],
        residuals: &[f64],
    ) -> Result<Vec<Noisier>, BrokenOff> {
        if !self.starts_noisy() {
            return Ok(Vec::new());
        }
        let points = surface_points(self, x);
        let mut out = Vec::new();
        for draw in 0..N_DRAWS {
            let seed = Seed::new(0).child(&format!("start noise {draw}"));
            let mut noisy = self.clone();
            for (i, experiment) in noisy.fitted.iter_mut().flatten().enumerate() {
                let seed = seed.child(&format!("recording {i}"));
                *experiment = Arc::new(with_noise(experiment, &seed));
            }
            noisy.starts_untuned = false;
            let Some(mut worker) = noisy.worker() else { break };
            let there = noisy.residuals(&mut worker, x);
            let cost = |r: &Vec<f64>| dot(r, r);
            let mut best = (x, there.as_ref().map_or(f64::INFINITY, cost));
            for point in &points {
                let found = noisy.residuals(&mut worker, point);
                let found = found.as_ref().map_or(f64::INFINITY, cost);
                best = if found < best.1 { (point, found) } else { best };
            }
            if self.is_broken_off() {
                return Err(BrokenOff);
            }
            let Some(there) = there else { continue };
            let change = there.iter().zip(residuals).map(|(new, old)| new - old).collect();
            let gone = best.0.iter().zip(x).map(|(new, x)| new - x).collect();
            out.push(Noisier { change, gone, n_simulations: 1 + points.len() });
        }
        Ok(out)
    }
}

/// What one more measurement says.
pub(super) struct Noisier {
    /// How residuals change.
    pub change: Vec<f64>,
    /// How far the best of the points that were looked at is; of surfaces alone.
    pub gone: Vec<f64>,
    pub n_simulations: usize,
}

/// The same measurement with as much noise again.
fn with_noise(experiment: &Experiment, seed: &Seed) -> Experiment {
    let mut noisy = experiment.clone();
    for Signal { key, series } in &mut noisy.signals {
        let size = noise(&series.times, &series.values);
        let mut dice = Dice::new(&seed.child(key));
        series.values.iter_mut().for_each(|value| *value += size * dice.normal());
    }
    noisy
}

/// The standard deviation of the noise of samples: how far each is from the cubic through two
/// neighbours on either side. Their median, for samples about an impact are far from any cubic.
fn noise(times: &[SimTime], values: &[f64]) -> f64 {
    let mut far: Vec<f64> = Vec::new();
    for (times, values) in times.windows(5).zip(values.windows(5)) {
        let at = |i: usize| (times[i] - times[2]).secs();
        let (mut between, mut weights) = (0.0, 1.0);
        for i in [0, 1, 3, 4] {
            let others = [0, 1, 3, 4].into_iter().filter(|j| *j != i);
            let weight: f64 = others.map(|j| at(j) / (at(j) - at(i))).product();
            between += weight * values[i];
            weights += weight * weight;
        }
        far.push((values[2] - between).abs() / sqrt(weights));
    }
    far.retain(|far| far.is_finite());
    far.sort_by(f64::total_cmp);
    // The median of what is normal is 0.6745 of its deviation.
    far.get(far.len() / 2).map_or(0.0, |median| median / 0.6745)
}

#[cfg(test)]
mod tests {
    use headland_base::maths::sin;

    use super::*;

    /// Stamps that jitter, a swing, a jump, and noise of a known size.
    #[test]
    fn the_noise_of_samples_is_told_from_their_motion() {
        let mut dice = Dice::new(&Seed::new(3));
        let secs: Vec<f64> =
            (0..400).map(|i| 0.01 * (f64::from(i) + 0.2 * dice.normal())).collect();
        let times: Vec<SimTime> = secs.iter().map(|t| SimTime::from_secs(*t).unwrap()).collect();
        let swing = |t: f64| sin(5.0 * t) + if t > 2.0 { 1.0 } else { 0.0 };
        for size in [0.0, 1e-3, 1e-2] {
            let values: Vec<f64> = secs.iter().map(|t| swing(*t) + size * dice.normal()).collect();
            let found = noise(&times, &values);
            assert!((found - size).abs() <= 0.2 * size + 1e-5, "{found} for {size}");
        }
        assert_eq!(noise(&times[..3], &[1.0, 2.0, 3.0]), 0.0);
    }
}
