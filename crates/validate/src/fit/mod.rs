//! Fitting: residuals as a function of parameters go in, the parameters that make them least come
//! out, with how sure they are.
//!
//! ```text
//! Problem ── crew (threads) ──► residuals ──┬── marquardt: least squares by slopes
//!                                           ├── cma: search without slopes
//!                                           └── sureness: intervals, what was not seen
//! ```
//!
//! Both searches are values that go from step to step: they can be written as JSON, read and
//! carried on, and arrive at the same bits as one that was never interrupted. Points that are
//! evaluated side by side are told apart by their place in a list, so the number of threads
//! changes no bit either.
//!
//! Both are written here and not taken from crates: `levenberg-marquardt` knows no bounds, wants
//! the whole Jacobian from one call and keeps its state to itself, and `cmaes` draws from a
//! generator it owns; neither can be written to disk and carried on.
//!
//! Deliberately absent: worlds, simulation, files. A problem is anything that has residuals.
//!
//! Start reading at [`Problem`].

pub mod cma;
pub mod crew;
pub mod dense;
pub mod marquardt;
pub(crate) mod reduced;
pub mod slopes;
pub mod student;
pub mod sureness;
mod windows;

use std::ops::ControlFlow;

/// Something whose parameters are wanted.
pub trait Problem: Sync {
    /// What a thread needs to evaluate points one after another: an engine, buffers.
    type Worker;

    /// A fresh one, made on the thread that uses it; none where none can be made, as where memory
    /// or processes run out. The other threads do the work then.
    fn worker(&self) -> Option<Self::Worker>;

    /// The residuals at a point, always as many; none where it has none, as where a simulation
    /// leaves the finite. Must not depend on what the worker did before.
    fn residuals(&self, worker: &mut Self::Worker, x: &[f64]) -> Option<Vec<f64>>;

    /// Whether somebody wants no more evaluations. What comes of one that is under way then says
    /// nothing.
    fn is_broken_off(&self) -> bool {
        false
    }
}

/// Somebody wants no more evaluations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenOff;

/// Evaluates many points.
pub trait Evaluate {
    /// The residuals at each, in their order.
    fn all(&mut self, points: Vec<Vec<f64>>) -> Result<Vec<Option<Vec<f64>>>, BrokenOff>;

    /// The residuals at one.
    fn one(&mut self, point: &[f64]) -> Result<Option<Vec<f64>>, BrokenOff> {
        Ok(self.all(vec![point.to_vec()])?.pop().flatten())
    }

    /// How many it evaluates side by side.
    fn n_threads(&self) -> usize;
}

/// Counts what is evaluated, and evaluates no more than so many.
pub(crate) struct Counted<'c> {
    crew: &'c mut dyn Evaluate,
    /// Points so far.
    pub n: usize,
    most: usize,
    /// It was broken off by the limit, and by nobody else.
    pub is_over: bool,
}

impl<'c> Counted<'c> {
    /// So many were evaluated already, and so many may be in all.
    pub fn new(crew: &'c mut dyn Evaluate, n: usize, most: usize) -> Counted<'c> {
        Counted { crew, n, most, is_over: false }
    }
}

impl Evaluate for Counted<'_> {
    fn all(&mut self, points: Vec<Vec<f64>>) -> Result<Vec<Option<Vec<f64>>>, BrokenOff> {
        if self.n.saturating_add(points.len()) > self.most {
            self.is_over = true;
            return Err(BrokenOff);
        }
        self.n += points.len();
        self.crew.all(points)
    }

    fn n_threads(&self) -> usize {
        self.crew.n_threads()
    }
}

/// Between which values each parameter is sought.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Each the lowest it may be; -∞ where it is not bound.
    pub lower: Vec<f64>,
    /// Each the highest it may be; +∞ where it is not bound.
    pub upper: Vec<f64>,
}

impl Bounds {
    /// No bounds for `n` parameters.
    pub fn none(n: usize) -> Bounds {
        Bounds { lower: vec![f64::NEG_INFINITY; n], upper: vec![f64::INFINITY; n] }
    }

    /// The nearest point within.
    pub fn nearest(&self, x: &[f64]) -> Vec<f64> {
        let bounds = self.lower.iter().zip(&self.upper);
        x.iter().zip(bounds).map(|(x, (lower, upper))| x.max(*lower).min(*upper)).collect()
    }

    /// How wide it is along a parameter; what is not bound is as wide as it is large.
    pub fn width(&self, i: usize, x: f64) -> f64 {
        let width = self.upper[i] - self.lower[i];
        if width.is_finite() && width > 0.0 { width } else { x.abs().max(1.0) }
    }
}

/// Told after every round, with the search as it is then; `Break` ends it with what it has.
pub type Watch<'a, Search> = dyn FnMut(&Search) -> ControlFlow<()> + 'a;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// A further step would be shorter than can be told.
    SmallStep,
    /// A further step would gain less than can be told.
    SmallGain,
    /// No direction within the bounds leads down.
    NoSlope,
    /// Round after round steps gain nothing, though slopes say that there is something to gain:
    /// the error is rough, as where joints stick and slip.
    Rough,
    /// So many evaluations were allowed.
    TooMany,
    /// The start has no residuals, or no point near it has.
    NoResiduals,
}

impl Ended {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Ended::SmallStep => "converged: the parameters no longer change",
            Ended::SmallGain => "converged: the error no longer changes",
            Ended::NoSlope => "converged: no direction leads down",
            Ended::Rough => "converged as far as a rough error lets: no step gains any more",
            Ended::TooMany => "stopped: as many evaluations as were allowed",
            Ended::NoResiduals => "stopped: the simulation broke at every point that was tried",
        }
    }

    /// Whether a least point was found, as far as can be told.
    pub fn is_converged(self) -> bool {
        matches!(self, Ended::SmallStep | Ended::SmallGain | Ended::NoSlope | Ended::Rough)
    }
}

#[cfg(test)]
mod limits;
#[cfg(test)]
mod tests;
