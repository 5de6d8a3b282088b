//! What noise in starts does to an answer.
//!
//! Where a start is not looked for, as in windows and of a free body, a model starts from what was
//! measured, and a noise of a fraction of a millimetre between two rows is a velocity that is wrong
//! by centimetres a second. All that follows is wrong with it, in a way that residuals do not show:
//! it looks like what the model does. So the simulation is repeated some times from starts with as
//! much noise again laid over them, and how far the answer would go each time says how far the
//! noise that is in it has moved it (the parametric bootstrap). What it is compared with stays what
//! it was: the noise of that is in the residuals, and intervals heed it already. By slopes where
//! these hold. Numbers of surfaces, whose error jumps, are looked for anew, in a measurement that is
//! noisier as a whole: by slopes nobody knows what noise does to them. Noise moves those one way: a
//! cube at rest that is said to move is stopped best by more friction than there is. So it counts
//! how far answers go, and not how far they are from each other.

use std::convert::Infallible;
use std::sync::Arc;

use headland_base::maths::{dot, sqrt};
use headland_base::{Diagnostic, Seed, SimTime};
use headland_sense::noise::Dice;

use super::scan::{Looking, surface_points};
use super::{Start, Tuning};
use crate::fit::crew::side_by_side;
use crate::fit::{BrokenOff, Problem};
use crate::source::{JointQuantity, Source};
use crate::{Experiment, Replay, Signal};

/// So many starts more.
const N_DRAWS: usize = 12;

/// So often the best of a draw is looked for nearer; its answer need not be finer than intervals.
const N_ROUNDS: usize = 2;

/// What starts with more noise say.
#[derive(Default)]
pub(super) struct Draws {
    pub told: Vec<Noisier>,
    /// So many could not be simulated.
    pub n_failed: usize,
    pub n_simulations: usize,
}

/// What one more start says.
pub(super) struct Noisier {
    /// How residuals change.
    pub change: Vec<f64>,
    /// How far the best of the points that were looked at is; of surfaces alone.
    pub gone: Vec<f64>,
}

/// Whether a model starts from numbers that were measured and that nobody looks for.
pub(super) fn starts_as_measured(replay: &Replay, starts: &[Start]) -> bool {
    let is_sought = |source: &Source| starts.iter().any(|start| start.source == *source);
    let is_left = |source: &&Source| match source {
        // A link on a joint stands where the joint puts it.
        Source::Frame(frame, _) => {
            let joints = &replay.model().joints;
            let joint = joints.iter().find(|joint| joint.child_rigid == frame.rigid_idx);
            !joint.is_some_and(|joint| {
                let dofs = joint.first_dof..joint.first_dof + joint.kind.axes().len();
                let both = [JointQuantity::Position, JointQuantity::Velocity];
                dofs.flat_map(|dof| both.map(|quantity| Source::Joint(dof, quantity)))
                    .all(|source| is_sought(&source) || replay.is_given(&source))
            })
        }
        source => !is_sought(source),
    };
    replay.start_measured().iter().any(|source| is_left(&source))
}

impl Tuning<'_> {
    /// What more noise in starts does at a point; nothing where all starts are fitted or given. The
    /// same for the same problem, on any number of threads.
    pub(super) fn noise_of_starts(
        &self,
        x: &[f64],
        residuals: &[f64],
        n_threads: usize,
    ) -> Result<Draws, BrokenOff> {
        if !self.starts_as_measured {
            return Ok(Draws::default());
        }
        let drawn = |draw: &usize| self.drawn(*draw, x, residuals);
        let draws: Vec<usize> = (0..N_DRAWS).collect();
        let mut all = side_by_side(&draws, n_threads, drawn);
        // Memory and processes may be too few for all at once: what one thread can do, it does, so
        // that their number changes nothing.
        for (draw, found) in draws.iter().zip(&mut all).filter(|(_, found)| found.is_none()) {
            *found = drawn(draw);
        }
        if self.is_broken_off() {
            return Err(BrokenOff);
        }
        let mut out = Draws::default();
        for one in all {
            let (noisier, n_simulations) = one.unwrap_or_default();
            out.n_simulations += n_simulations;
            out.n_failed += usize::from(noisier.is_none());
            out.told.extend(noisier);
        }
        Ok(out)
    }

    /// What one more start says, if it can be simulated, and after how many simulations; nothing
    /// where there is nothing to simulate with.
    fn drawn(&self, draw: usize, x: &[f64], residuals: &[f64]) -> Option<(Option<Noisier>, usize)> {
        let seed = Seed::new(0).child(&format!("start noise {draw}"));
        let mut noisy = self.clone();
        for (i, experiment) in noisy.fitted.iter_mut().flatten().enumerate() {
            let seed = seed.child(&format!("recording {i}"));
            *experiment = Arc::new(with_noise(experiment, &seed));
        }
        noisy.starts_untuned = false;
        let mut worker = noisy.worker()?;
        // For slopes, what was measured stays what it was, but for where the model starts.
        let there = noisy.residuals_of_fitted(&mut worker, x, &self.fitted);
        let Some(there) = there else { return Some((None, 1)) };
        let change = there.iter().zip(residuals).map(|(new, old)| new - old).collect();
        let points = surface_points(self, x);
        if points.is_empty() {
            return Some((Some(Noisier { change, gone: vec![0.0; x.len()] }), 1));
        }
        // What has no slopes is looked for in a measurement that is noisier as a whole.
        let mut n_simulations = 1;
        let mut costs = |points: Vec<Vec<f64>>| -> Result<Vec<f64>, Infallible> {
            n_simulations += points.len();
            let mut residuals = |point: &Vec<f64>| noisy.residuals(&mut worker, point);
            let cost = |r: Option<Vec<f64>>| r.map_or(f64::INFINITY, |r| dot(&r, &r));
            Ok(points.iter().map(|point| cost(residuals(point))).collect())
        };
        let here = vec![x.to_vec()];
        let Ok(cost) = costs(here);
        let looking = Looking::new(self, N_ROUNDS);
        let Ok((best, _)) = looking.best((x.to_vec(), cost[0]), points, &mut costs);
        let gone = best.iter().zip(x).map(|(new, x)| new - x).collect();
        Some((Some(Noisier { change, gone }), n_simulations))
    }
}

/// What to say of starts that broke.
pub(super) fn draws_failed(n_failed: usize) -> Option<Diagnostic> {
    let few = format!(
        "{n_failed} of {N_DRAWS} simulations from starts with more noise in them broke: how far that \
         noise moves the answer is told by the others, and intervals may be too narrow"
    );
    let help = "a smaller --step may keep them going; `--state` gives starts without noise";
    match n_failed {
        0 => None,
        n if 2 * n > N_DRAWS => Some(Diagnostic::warning(STARTS_UNSURE, few).help(help)),
        _ => Some(Diagnostic::warning("starts-broke", few).help(help)),
    }
}

/// Most starts with more noise broke.
pub(super) const STARTS_UNSURE: &str = "starts-unsure";

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
