//! Least squares by slopes: Levenberg and Marquardt's method, within bounds.
//!
//! Each round takes the slopes of all residuals by differences, then tries steps
//! `(JᵀJ + λ·D²)·p = -Jᵀr`, longer with a small λ and straight down with a large one, until one
//! gains. `D` are the longest columns of J so far, so that units do not matter (Moré, 1978), and λ
//! follows how well the last step kept its promise (Nielsen, 1999). J is reduced to a triangle
//! once per step; every λ then costs a small system.
//!
//! A parameter that residuals hardly see has next to no `D` and takes steps of any length. Where
//! those do not gain, the λ that holds them back would hold back all else for good. So the more is
//! held back, the more a parameter's range counts as well: with a λ of one, as if the residuals saw
//! it.
//!
//! Slopes of many parameters are dear and a step is one evaluation. So a round goes on after its
//! first step with slopes that are corrected along the way gone, by what the residuals did there
//! (Broyden, 1965), as long as such steps keep half of their promise. A search ends on corrected
//! slopes only where the step before, with fresh ones, did what it promised to a hundredth: from
//! there the error was a parabola. What there is to gain is always judged by the step that nothing
//! holds back: a large λ makes promises small where the error is a long valley. Slopes taken
//! further than a standard error from where the search ends, and a tenth off on the way there, are
//! taken anew, for the intervals.
//!
//! Bounds: a parameter that stands at one and would go out stays there for the step; the others
//! are solved for without it. A step that crosses a bound ends on it, and is solved for again
//! without the parameters that met theirs.

use headland_base::maths::{cbrt, dot, sqrt};
use serde::{Deserialize, Serialize};

use super::dense::{Columns, norm};
use super::reduced::{Reduced, System, product};
use super::slopes::slopes;
use super::{Bounds, BrokenOff, Counted, Ended, Evaluate, Watch};

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Over how much of each parameter a slope is taken; see [`Options::new`].
    pub difference: Vec<f64>,
    /// Slopes from both sides: twice the evaluations, exact to the second order.
    pub is_central: bool,
    /// Steps of a round with corrected slopes, at most.
    pub most_corrections: usize,
    /// A search ends when a step changes the parameters by less than this share.
    pub least_step: f64,
    /// A search ends when a step gains less than this share of the cost.
    pub least_gain: f64,
    /// A search ends where no step, held back or not, could gain more than this share of a mean
    /// squared residual by its slopes: the square of how many standard errors it would go. That
    /// step is still tried; what it leaves is far less, of the second order.
    pub least_told: f64,
    /// A search ends when residuals and slopes are this close to a right angle.
    pub least_slope: f64,
    /// A search ends after so many evaluations.
    pub most_evaluations: usize,
}

impl Options {
    /// Slopes over a millionth of what each parameter may vary by: of a simulation in double
    /// precision that is far above its rounding, and far below where curves bend.
    pub fn new(x: &[f64], bounds: &Bounds) -> Options {
        Options {
            difference: x.iter().enumerate().map(|(i, x)| 1e-6 * bounds.width(i, *x)).collect(),
            is_central: false,
            // Slopes of three parameters cost no more than what they would be corrected by.
            most_corrections: if x.len() > 3 { 8 } else { 0 },
            least_step: 1e-9,
            least_gain: 1e-10,
            least_told: 0.04,
            least_slope: 1e-10,
            most_evaluations: 10_000,
        }
    }

    /// For functions that are exact to the last bits: slopes from both sides, and no end before
    /// the bits are used up.
    pub fn exact(x: &[f64]) -> Options {
        Options {
            difference: x.iter().map(|x| cbrt(f64::EPSILON) * x.abs().max(1.0)).collect(),
            is_central: true,
            most_corrections: 0,
            least_step: 1e-14,
            least_gain: 1e-15,
            least_told: 0.0,
            least_slope: 1e-14,
            most_evaluations: 100_000,
        }
    }

    /// So many evaluations are the slopes of `n` parameters.
    fn n_of_slopes(&self, n: usize) -> usize {
        n * if self.is_central { 2 } else { 1 }
    }
}

/// Where the search is at the beginning of a round: all it needs to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Where the round begins.
    x: Vec<f64>,
    /// Its sum of squared residuals; none before the first round.
    cost: Option<f64>,
    /// A better point of a round that was broken off, its cost, and after how many points it was
    /// found. It is found again when the search goes on, which begins the round anew.
    ahead: Option<(Vec<f64>, f64, usize)>,
    /// How much it is held back.
    lambda: f64,
    /// By how much more after a step that did not gain.
    growth: f64,
    /// The longest column of J so far, per parameter.
    scale: Vec<f64>,
    /// Where slopes were taken last.
    pub sloped_at: Vec<f64>,
    /// Rounds since the last that gained what can be told, after which steps are held back more.
    n_idle: usize,
    /// Rounds that are finished.
    pub n_rounds: usize,
    /// Points that were evaluated, as far as an uninterrupted search would have.
    pub n_evaluations: usize,
    /// Points of a round that met the limit. They are evaluated again when the search goes on.
    #[serde(default)]
    n_ahead: usize,
    /// After how many points which cost was the least so far. For whoever looks at the search: it
    /// goes on as well without.
    #[serde(default)]
    history: Vec<(usize, f64)>,
    /// Set at the end.
    pub ended: Option<Ended>,
    /// Other places were looked at, or need not be.
    #[serde(default)]
    pub is_compared: bool,
}

/// How residuals lie at the end of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Those of the best point.
    pub residuals: Vec<f64>,
    /// Where slopes were taken last.
    pub sloped_at: Vec<f64>,
    /// Those slopes, a column per parameter.
    pub slopes: Columns,
}

impl Search {
    /// From a point, which is moved into the bounds.
    pub fn new(x: &[f64], bounds: &Bounds) -> Search {
        Search {
            x: bounds.nearest(x),
            cost: None,
            ahead: None,
            lambda: 1e-3,
            growth: 2.0,
            scale: vec![0.0; x.len()],
            sloped_at: bounds.nearest(x),
            n_idle: 0,
            n_rounds: 0,
            n_evaluations: 0,
            n_ahead: 0,
            history: Vec::new(),
            ended: None,
            is_compared: false,
        }
    }

    /// Takes the place of a search that led to a worse point: their points add up.
    pub fn come_after(&mut self, earlier: &Search) {
        let is_ahead = |(_, cost): &(usize, f64)| earlier.cost.is_none_or(|had| *cost < had);
        let own = self.history.iter().copied().filter(is_ahead);
        self.history = earlier.history.iter().copied().chain(own).collect();
        self.n_evaluations = earlier.n_evaluations;
        self.n_rounds += earlier.n_rounds;
    }

    /// Begins anew from another point, with what was evaluated until then.
    pub fn move_to(&mut self, x: &[f64], bounds: &Bounds) {
        let history = std::mem::take(&mut self.history);
        let n_evaluations = self.n_evaluations;
        *self = Search { history, n_evaluations, ..Search::new(x, bounds) };
    }

    /// What was evaluated since is to be evaluated again: it is no part of the way.
    pub fn leave_out_since(&mut self, n_evaluations: usize) {
        self.n_ahead = self.n_evaluations - n_evaluations;
        self.n_evaluations = n_evaluations;
    }

    /// Points that were evaluated, those of a round that met the limit among them.
    pub fn n_points(&self) -> usize {
        self.n_evaluations + self.n_ahead
    }

    /// The best point so far and its sum of squared residuals, once there is one.
    pub fn best(&self) -> (&[f64], Option<f64>) {
        match &self.ahead {
            Some((x, cost, _)) => (x, Some(*cost)),
            None => (&self.x, self.cost),
        }
    }

    /// After how many points which cost was the least so far, up to the best one.
    pub fn history(&self) -> Vec<(usize, f64)> {
        let ahead = self.ahead.iter().map(|(_, cost, n)| (*n, *cost));
        self.history.iter().copied().chain(ahead).collect()
    }

    /// Whether it is one of so many parameters, whoever wrote it.
    pub fn is_sound(&self, n: usize) -> bool {
        let ahead = self.ahead.iter().map(|(x, ..)| x);
        let mut lists = [&self.x, &self.scale, &self.sloped_at].into_iter().chain(ahead);
        let costs = self.cost.iter().chain(self.ahead.iter().map(|(_, cost, _)| cost));
        lists.all(|list| list.len() == n && list.iter().all(|x| x.is_finite()))
            && costs.into_iter().all(|x| x.is_finite())
            && [self.lambda, self.growth].iter().all(|x| x.is_finite() && *x > 0.0)
    }

    /// Goes on until it has ended, or is told to stop: then it can go on later. The slopes of the
    /// last round, where it has ended after one.
    pub fn run(
        &mut self,
        crew: &mut dyn Evaluate,
        bounds: &Bounds,
        options: &Options,
        watch: &mut Watch<'_, Search>,
    ) -> Option<Linear> {
        let Ok(found) = crew.one(&self.x) else { return None };
        let Some(mut residuals) = found else {
            self.ended = Some(Ended::NoResiduals);
            return None;
        };
        if self.cost.is_none() {
            self.n_evaluations += 1;
            let cost = dot(&residuals, &residuals);
            self.cost = Some(cost);
            self.history.push((self.n_evaluations, cost));
        }
        // A search that had used up what it was allowed goes on where more is allowed.
        self.n_ahead = 0;
        self.ended = self.ended.filter(|ended| *ended != Ended::TooMany);
        let mut fresh = None;
        while self.ended.is_none() {
            // A round is slopes and at least one step.
            let n_round = options.n_of_slopes(self.x.len()) + 1;
            if self.n_evaluations + n_round > options.most_evaluations {
                self.ended = Some(Ended::TooMany);
                break;
            }
            // A round that is broken off leaves nothing behind but its best point.
            let mut next = Search { ahead: None, ..self.clone() };
            let mut counted = Counted::new(crew, self.n_evaluations, options.most_evaluations);
            match next.round(&mut residuals, &mut counted, bounds, options) {
                Ok(slopes) => (*self, fresh) = (next, slopes),
                Err(BrokenOff) => {
                    let is_better = next.cost < self.cost;
                    let n = next.n_evaluations;
                    self.ahead = next.cost.filter(|_| is_better).map(|cost| (next.x, cost, n));
                    if counted.is_over {
                        self.ended = Some(Ended::TooMany);
                        self.n_ahead = counted.n - self.n_evaluations;
                    }
                    return None;
                }
            }
            if self.ended.is_none() && watch(self).is_break() {
                break;
            }
        }
        fresh.map(|slopes| Linear { residuals, sloped_at: self.sloped_at.clone(), slopes })
    }

    /// Fresh slopes and the steps that are gone with them; the slopes come back.
    fn round(
        &mut self,
        residuals: &mut Vec<f64>,
        crew: &mut Counted<'_>,
        bounds: &Bounds,
        options: &Options,
    ) -> Result<Option<Columns>, BrokenOff> {
        let Some(fresh) = slopes(&self.x, residuals, crew, bounds, options)? else {
            self.ended = Some(Ended::NoResiduals);
            return Ok(None);
        };
        self.n_evaluations = crew.n;
        self.sloped_at.clone_from(&self.x);
        self.n_rounds += 1;
        for (scale, column) in self.scale.iter_mut().zip(&fresh) {
            *scale = scale.max(norm(column));
        }
        let (cost, lambda) = (dot(residuals, residuals), self.lambda);
        let begun = residuals.clone();
        let mut reduced = Reduced::of(&fresh, residuals);
        let mut gone = self.step(&reduced, Slopes::Fresh, residuals, crew, bounds, options)?;
        let is_straight = |gone: &Gone| (gone.gain / gone.promised - 1.0).abs() < 0.01;
        let kind = Slopes::Corrected { may_end: gone.as_ref().is_some_and(is_straight) };
        for _ in 0..options.most_corrections {
            let is_worth = |gone: &Gone| gone.gain > 0.5 * gone.promised;
            let Some(last) = gone.filter(is_worth).filter(|_| self.ended.is_none()) else { break };
            reduced.correct(&self.scale, &last.moved, &last.before, residuals);
            gone = self.step(&reduced, kind, residuals, crew, bounds, options)?;
        }
        // Slopes that lead nowhere, as those of stick and slip: steps are held back ever more, and
        // go on for good. In a long valley they gain as little, and are held back ever less.
        let gain = cost - dot(residuals, residuals);
        let is_idle = gain * residuals.len() as f64 <= options.least_told * cost;
        self.n_idle = match is_idle {
            true => self.n_idle + usize::from(self.lambda >= lambda),
            false => 0,
        };
        if self.ended.is_none() && self.n_idle >= MOST_IDLE && options.least_told > 0.0 {
            self.ended = Some(Ended::Rough);
        }
        self.slopes_at_the_end(fresh, (&begun, residuals), crew, bounds, options)
    }

    /// Those of the round, or fresh ones where the search has ended more than a standard error
    /// away and they did not tell the way there: what residuals were at its beginning and are.
    fn slopes_at_the_end(
        &mut self,
        slopes: Columns,
        (begun, residuals): (&[f64], &[f64]),
        crew: &mut Counted<'_>,
        bounds: &Bounds,
        options: &Options,
    ) -> Result<Option<Columns>, BrokenOff> {
        if self.ended.is_none() {
            return Ok(Some(slopes));
        }
        let gone: Vec<f64> = self.x.iter().zip(&self.sloped_at).map(|(x, at)| x - at).collect();
        let degrees = residuals.len().saturating_sub(self.x.len()).max(1) as f64;
        let told = product(&slopes, &gone);
        let missed: Vec<f64> =
            told.iter().zip(residuals.iter().zip(begun)).map(|(p, (new, r))| new - r - p).collect();
        let way = dot(&told, &told);
        let is_far = way > dot(residuals, residuals) / degrees;
        if !is_far || dot(&missed, &missed) < 0.01 * way {
            return Ok(Some(slopes));
        }
        // Where none can be taken, those of the round are better than nothing.
        let Some(again) = self::slopes(&self.x, residuals, crew, bounds, options)? else {
            return Ok(Some(slopes));
        };
        self.n_evaluations = crew.n;
        self.sloped_at.clone_from(&self.x);
        Ok(Some(again))
    }

    /// Tries steps until one is kept, or there is none to keep. With corrected slopes one is
    /// tried.
    fn step(
        &mut self,
        reduced: &Reduced<'_>,
        kind: Slopes,
        residuals: &mut Vec<f64>,
        crew: &mut Counted<'_>,
        bounds: &Bounds,
        options: &Options,
    ) -> Result<Option<Gone>, BrokenOff> {
        let is_fresh = kind == Slopes::Fresh;
        let cost = dot(residuals, residuals);
        let (gradient, lengths) = (reduced.gradient(), reduced.lengths());
        // What stands at a bound and would go out stays.
        let is_free: Vec<bool> = (0..self.x.len())
            .map(|i| {
                let out_below = self.x[i] <= bounds.lower[i] && gradient[i] > 0.0;
                let out_above = self.x[i] >= bounds.upper[i] && gradient[i] < 0.0;
                self.scale[i] > 0.0 && !out_below && !out_above
            })
            .collect();
        let steepest = (0..self.x.len())
            .filter(|i| is_free[*i] && lengths[*i] > 0.0)
            .map(|i| gradient[i].abs() / (lengths[i] * sqrt(cost)))
            .fold(0.0, f64::max);
        if cost == 0.0 || steepest <= options.least_slope {
            self.ended = is_fresh.then_some(Ended::NoSlope);
            return Ok(None);
        }
        let (small, told) = (options.least_gain * cost, options.least_told * cost);
        let told = told / residuals.len() as f64;
        let deviation = sqrt(cost / residuals.len() as f64);
        let seen = |i: usize| match bounds.upper[i] - bounds.lower[i] {
            width if width.is_finite() && width > 0.0 => LEAST_SEEN * deviation / width,
            _ => 0.0,
        };
        let seen: Vec<f64> = (0..self.x.len()).map(seen).collect();
        let system = System::new(reduced, &is_free, &self.scale, &seen);
        let going = |x: &[f64], lambda: f64| {
            let step = system.step(lambda, x, bounds);
            let point =
                bounds.nearest(&x.iter().zip(&step).map(|(x, p)| x + p).collect::<Vec<f64>>());
            let moved: Vec<f64> = point.iter().zip(x).map(|(new, x)| new - x).collect();
            let promised = -(2.0 * dot(gradient, &moved) + system.length_squared(&moved));
            (point, moved, promised)
        };
        // Much held back, a step promises less than there is; hardly held back, it may promise
        // less as well, where it is cut off at bounds.
        let lambda = self.lambda;
        let freer = std::iter::successors(Some(HARDLY_HELD), |freer| Some(10.0 * freer))
            .take_while(|freer| *freer < lambda)
            .chain([lambda]);
        let promises = freer.map(|freer| going(&self.x, freer).2);
        let most_promised = promises.fold(f64::NEG_INFINITY, f64::max);
        let is_told = most_promised <= told;
        loop {
            let (point, moved, promised) = going(&self.x, self.lambda);
            // Corrected slopes have no more to say.
            if let Slopes::Corrected { may_end } = kind
                && promised <= f64::max(small, told)
            {
                self.ended = (may_end && is_told).then_some(Ended::SmallGain);
                return Ok(None);
            }
            let found = crew.one(&point)?;
            self.n_evaluations = crew.n;
            let new_cost = found.as_ref().map_or(f64::INFINITY, |r| dot(r, r));
            let gain = cost - new_cost;
            let scaled = |x: &[f64]| {
                norm(&x.iter().zip(&self.scale).map(|(x, d)| x * d).collect::<Vec<f64>>())
            };
            let is_short =
                scaled(&moved) <= options.least_step * scaled(&self.x).max(f64::MIN_POSITIVE);
            let is_kept = promised > 0.0 && gain.is_finite() && gain > 1e-4 * promised;
            let mut gone = None;
            if is_kept {
                let kept = 2.0 * gain / promised - 1.0;
                self.lambda *= (1.0 - kept * kept * kept).clamp(1.0 / 3.0, 2.0);
                self.lambda = self.lambda.max(1e-20);
                self.growth = 2.0;
                (self.x, self.cost) = (point, Some(new_cost));
                self.history.push((self.n_evaluations, new_cost));
                let new = found.expect("a cost has residuals");
                let before = std::mem::replace(residuals, new);
                gone = Some(Gone { moved, before, gain, promised });
            } else if !is_fresh {
                return Ok(None);
            } else {
                self.lambda *= self.growth;
                self.growth *= 2.0;
            }
            if is_fresh {
                if (gain.abs() <= small && most_promised <= small) || is_told {
                    self.ended = Some(Ended::SmallGain);
                } else if is_short || self.lambda > 1e30 {
                    // Slopes that promise what no step keeps, however short.
                    let is_rough = !is_kept && options.least_told > 0.0;
                    self.ended = Some(if is_rough { Ended::Rough } else { Ended::SmallStep });
                }
            }
            if gone.is_some() || self.ended.is_some() {
                return Ok(gone);
            }
        }
    }
}

/// The λ that holds back no more than directions in which slopes by differences are noise.
const HARDLY_HELD: f64 = 1e-10;

/// A range that is seen changes the residuals by so many standard deviations of one. What the data
/// tell to a quarter of its range or better changes them by more, and its steps are as they would
/// be without.
const LEAST_SEEN: f64 = 4.0;

/// So many rounds without one between that gains what can be told, and steps held back more after
/// each, end a search.
const MOST_IDLE: usize = 3;

/// What slopes a step is of.
#[derive(Clone, Copy, PartialEq)]
enum Slopes {
    Fresh,
    Corrected {
        /// The search may end by what they promise.
        may_end: bool,
    },
}

/// A step that was kept.
struct Gone {
    moved: Vec<f64>,
    /// The residuals before it.
    before: Vec<f64>,
    gain: f64,
    promised: f64,
}
