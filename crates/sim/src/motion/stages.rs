//! Integrators of several stages: tables of weights, and what a pack keeps between stages.

use crate::tree::Lane;

/// A Runge-Kutta method by its table.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// For every stage, the weights of the stages before it.
    pub stages: &'static [&'static [f64]],
    /// Weights of the result.
    pub result: &'static [f64],
    /// Weights of the difference to the result of lower order, where there is one.
    pub error: &'static [f64],
}

/// The classical one of fourth order.
pub const RK4: Method = Method {
    stages: &[&[], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
    result: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    error: &[],
};

/// Dormand and Prince's pair of fifth and fourth order.
pub const DORMAND_PRINCE: Method = Method {
    stages: &[
        &[],
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ],
    result: &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0],
    error: &[
        71.0 / 57600.0,
        0.0,
        -71.0 / 16695.0,
        71.0 / 1920.0,
        -17253.0 / 339200.0,
        22.0 / 525.0,
        -1.0 / 40.0,
    ],
};

/// What is kept between the stages of one step: scratch.
#[derive(Clone, Debug)]
pub(super) struct Stages<L> {
    pub positions: Vec<L>,
    pub velocities: Vec<L>,
    /// How fast both change, stage by stage.
    pub rates: Vec<(Vec<L>, Vec<L>)>,
}

impl<L: Lane> Stages<L> {
    pub fn new(n_positions: usize, n_dofs: usize) -> Stages<L> {
        let (positions, velocities) = (vec![L::ZERO; n_positions], vec![L::ZERO; n_dofs]);
        let rates = vec![(positions.clone(), velocities.clone()); DORMAND_PRINCE.stages.len()];
        Stages { positions, velocities, rates }
    }

    /// `y₀ + h·Σ wᵢ·kᵢ`.
    #[inline(always)]
    pub fn blend(&self, weights: &[f64], dt: f64, positions: &mut [L], velocities: &mut [L]) {
        positions.copy_from_slice(&self.positions);
        velocities.copy_from_slice(&self.velocities);
        for (weight, (q, v)) in weights.iter().zip(&self.rates) {
            if *weight != 0.0 {
                let share = L::of(weight * dt);
                positions.iter_mut().zip(q).for_each(|(to, rate)| *to += share * *rate);
                velocities.iter_mut().zip(v).for_each(|(to, rate)| *to += share * *rate);
            }
        }
    }

    /// The largest difference between the two orders in a lane, seen against `1 + |y|`.
    pub fn error(&self, weights: &[f64], dt: f64, lane: usize) -> f64 {
        let mut worst = 0.0_f64;
        let mut look = |start: L, rate: &dyn Fn(usize) -> L| {
            let stages = weights.iter().enumerate();
            let sum: f64 = stages.map(|(i, weight)| weight * dt * rate(i).get(lane)).sum();
            let error = sum.abs() / (1.0 + start.get(lane).abs());
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        };
        for (i, start) in self.positions.iter().enumerate() {
            look(*start, &|stage| self.rates[stage].0[i]);
        }
        for (i, start) in self.velocities.iter().enumerate() {
            look(*start, &|stage| self.rates[stage].1[i]);
        }
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conditions of order one and two, and that the pair differs by weights that sum to
    /// nothing.
    #[test]
    fn tables_keep_their_order() {
        for method in [RK4, DORMAND_PRINCE] {
            let nodes: Vec<f64> = method.stages.iter().map(|row| row.iter().sum()).collect();
            let sum: f64 = method.result.iter().sum();
            let moment = |p: usize| -> f64 {
                let power = |c: f64| (0..p).fold(1.0, |power, _| power * c);
                method.result.iter().zip(&nodes).map(|(b, c)| b * power(*c)).sum()
            };
            assert!((sum - 1.0).abs() < 1e-14);
            for p in 1..=3 {
                assert!((moment(p) - 1.0 / (p + 1) as f64).abs() < 1e-14, "order {}", p + 1);
            }
            assert!(method.error.iter().sum::<f64>().abs() < 1e-14);
        }
    }
}
