//! The model as it was given, for comparison: from the start that fits it best.
//!
//! Where recordings start is fitted with the numbers of the model, and a better start alone makes
//! any model look better. So the tuned model is compared with the given one whose start was found
//! in the same way: what is left between them is what the numbers did.

use std::ops::ControlFlow;

use headland_base::maths::dot;

use super::Tuning;
use crate::fit::{Bounds, BrokenOff, Evaluate, Problem, marquardt};

/// Rounds at most. Starts are near those of the tuned model, or what was measured, and a few find
/// them.
const MOST_ROUNDS: usize = 10;

/// A point and its residuals.
pub(super) struct Given {
    /// No numbers for what stays as the model has it, then where recordings start.
    pub x: Vec<f64>,
    /// Nothing where it cannot be simulated.
    pub residuals: Option<Vec<f64>>,
}

impl Tuning<'_> {
    /// The given model from the start that fits it best; from where it was measured where no
    /// start is fitted. `x` is the point of the tuned model.
    pub(super) fn given(&self, crew: &mut dyn Evaluate, x: &[f64]) -> Result<Given, BrokenOff> {
        let (n, untuned) = (self.wanted.len(), self.untuned());
        if self.starts.is_empty() {
            let residuals = Some(self.untuned.clone());
            return Ok(Given { x: untuned, residuals });
        }
        let of_starts = |all: &[f64]| all[n..].to_vec();
        let bounds = self.bounds();
        let bounds = Bounds { lower: of_starts(&bounds.lower), upper: of_starts(&bounds.upper) };
        let mut crew = Fixed { crew, fixed: &untuned[..n] };
        // From where the tuned model starts, or as it was measured: whichever fits better.
        let cost = |residuals: &[f64]| dot(residuals, residuals);
        let tuned = crew.one(&of_starts(x))?.map_or(f64::INFINITY, |found| cost(&found));
        let is_better = tuned < cost(&self.untuned);
        let starts = of_starts(if is_better { x } else { &untuned });
        let options = marquardt::Options {
            // A round is slopes and a step or two.
            most_evaluations: MOST_ROUNDS * (starts.len() + 2),
            ..marquardt::Options::new(&starts, &bounds)
        };
        let mut search = marquardt::Search::new(&starts, &bounds);
        search.run(&mut crew, &bounds, &options, &mut |_| ControlFlow::Continue(()));
        if self.is_broken_off() {
            return Err(BrokenOff);
        }
        let starts = search.best().0.to_vec();
        let residuals = crew.one(&starts)?;
        Ok(Given { x: [&untuned[..n], &starts].concat(), residuals })
    }
}

/// Evaluates points of which the first numbers are always the same.
struct Fixed<'a> {
    crew: &'a mut dyn Evaluate,
    fixed: &'a [f64],
}

impl Evaluate for Fixed<'_> {
    fn all(&mut self, points: Vec<Vec<f64>>) -> Result<Vec<Option<Vec<f64>>>, BrokenOff> {
        self.crew.all(points.iter().map(|point| [self.fixed, point].concat()).collect())
    }

    fn n_threads(&self) -> usize {
        self.crew.n_threads()
    }
}
