//! Where a search begins: at the best of some points all over what has many dips.
//!
//! Commands come in steps, so an error has a dip for every whole number of their intervals; a body
//! that lands otherwise rolls otherwise, so it has one for many a friction. Slopes lead into the
//! nearest: the others have to be looked at.

use headland_base::maths::{dot, pow};

use super::elsewhere::delay_of;
use super::{Method, Search, Tuning, Wanted};
use crate::fit::{Bounds, BrokenOff, Evaluate};

/// Between so many delays the range is divided.
const N_DELAYS: usize = 24;

/// So many points for each number of a surface.
const N_SURFACES: usize = 24;

/// Numbers of surfaces that are looked at; more would take thousands of points to be any use.
pub(super) const MOST_SURFACES: usize = 4;

/// Which numbers are of surfaces.
pub(super) fn surfaces(tuning: &Tuning<'_>) -> Vec<usize> {
    let is_surface = |one: &Wanted| one.parameters.iter().any(|number| number.is_of_surface());
    (0..tuning.wanted.len()).filter(|i| is_surface(&tuning.wanted[*i])).collect()
}

/// The points to look at, around a start; none where nothing is sought that has many dips. A
/// search without slopes looks at many delays by itself.
pub(super) fn scanned(tuning: &Tuning<'_>, method: Method, start: &[f64]) -> Vec<Vec<f64>> {
    let bounds = tuning.bounds();
    let place = |point: &mut Vec<f64>, i: usize, share: f64| {
        point[i] = bounds.lower[i] + (bounds.upper[i] - bounds.lower[i]) * share;
    };
    let mut points = Vec::new();
    if let Some(delay) = scanned_delay(tuning, method) {
        for k in 0..=N_DELAYS {
            let mut point = start.to_vec();
            place(&mut point, delay, k as f64 / N_DELAYS as f64);
            points.push(point);
        }
    }
    points.extend(surface_points(tuning, start));
    points
}

/// The delay, where it is looked at all over.
fn scanned_delay(tuning: &Tuning<'_>, method: Method) -> Option<usize> {
    delay_of(tuning).filter(|_| method == Method::Lm)
}

/// What [`scanned`] looks at, in words.
pub(super) fn what_is_scanned(tuning: &Tuning<'_>, method: Method) -> Option<&'static str> {
    let n_surfaces = surfaces(tuning).len();
    match (scanned_delay(tuning, method), (1..=MOST_SURFACES).contains(&n_surfaces)) {
        (Some(_), true) => Some("delays and surfaces"),
        (Some(_), false) => Some("delays"),
        (None, true) => Some("surfaces"),
        (None, false) => None,
    }
}

/// Points all over the ranges of surfaces, around a start; none where none, or too many, are
/// sought.
pub(super) fn surface_points(tuning: &Tuning<'_>, start: &[f64]) -> Vec<Vec<f64>> {
    let (bounds, surfaces) = (tuning.bounds(), surfaces(tuning));
    if surfaces.len() > MOST_SURFACES {
        return Vec::new();
    }
    let point = |k: usize| {
        let mut point = start.to_vec();
        for (base, i) in [2, 3, 5, 7].into_iter().zip(&surfaces) {
            let share = radical_inverse(k + 1, base);
            point[*i] = bounds.lower[*i] + (bounds.upper[*i] - bounds.lower[*i]) * share;
        }
        point
    };
    (0..N_SURFACES * surfaces.len()).map(point).collect()
}

/// Begins at the best of them, and of some near that, or stays where it is.
pub(super) fn scan(
    search: &mut Search,
    points: Vec<Vec<f64>>,
    tuning: &Tuning<'_>,
    crew: &mut dyn Evaluate,
) -> Result<(), BrokenOff> {
    if points.is_empty() {
        return Ok(());
    }
    let mut n = 0;
    let mut costs = |points: Vec<Vec<f64>>| -> Result<Vec<f64>, BrokenOff> {
        n += points.len();
        let cost = |found: &Option<Vec<f64>>| {
            found.as_ref().map_or(f64::INFINITY, |residuals| dot(residuals, residuals))
        };
        Ok(crew.all(points)?.iter().map(cost).collect())
    };
    let start = search.best().0.to_vec();
    let here = costs(vec![start.clone()])?[0];
    let (best, cost) = Looking::new(tuning, N_ROUNDS).best((start, here), points, &mut costs)?;
    search.begin_at((&best, cost), n, &tuning.bounds());
    Ok(())
}

/// So often the best is looked for nearer: each time within a quarter of the distance, so that
/// what is left is a thousandth of a range.
const N_ROUNDS: usize = 3;

/// Points in a round, for each number: six about the best, and the least of a parabola.
const N_NEAR: usize = 7;

/// So many points at most are looked at by [`scan`].
pub(super) fn n_scanned(tuning: &Tuning<'_>, points: &[Vec<f64>]) -> usize {
    let n_near = N_ROUNDS * N_NEAR * Looking::new(tuning, N_ROUNDS).numbers.len();
    if points.is_empty() { 0 } else { 1 + points.len() + n_near }
}

/// A point and its cost.
type Costed = (Vec<f64>, f64);

/// The cost of every point.
type Costs<'c, E> = dyn FnMut(Vec<Vec<f64>>) -> Result<Vec<f64>, E> + 'c;

/// Looks for the least of an error with many dips: at points all over, then ever nearer to the best
/// of them, along one number after the other. Without the second an answer that slopes cannot
/// better, as where contacts jump, would be one of the few points all over.
pub(super) struct Looking {
    /// Which are looked for.
    numbers: Vec<usize>,
    bounds: Bounds,
    n_rounds: usize,
}

impl Looking {
    /// For the numbers of surfaces, where they are looked at all over.
    pub fn new(tuning: &Tuning<'_>, n_rounds: usize) -> Looking {
        let numbers = surfaces(tuning);
        let numbers = if numbers.len() > MOST_SURFACES { Vec::new() } else { numbers };
        Looking { numbers, bounds: tuning.bounds(), n_rounds }
    }

    /// The best of `points` and of those near the best of them, or where it is already.
    pub fn best<E>(
        &self,
        here: Costed,
        points: Vec<Vec<f64>>,
        costs: &mut Costs<'_, E>,
    ) -> Result<Costed, E> {
        if points.is_empty() {
            return Ok(here);
        }
        let mut best = least(here, points, costs)?;
        // As far apart as points all over are.
        let n = self.numbers.len() as f64;
        let apart = pow(N_SURFACES as f64 * n, -1.0 / n.max(1.0));
        for round in 0..self.n_rounds {
            let step = 0.25 * apart * pow(0.25, round as f64);
            for i in &self.numbers {
                let width = self.bounds.upper[*i] - self.bounds.lower[*i];
                best = self.nearer(best, *i, step * width, costs)?;
            }
        }
        Ok(best)
    }

    /// The best of six points about one, and of the least of the parabola through the best three.
    fn nearer<E>(
        &self,
        (x, cost): Costed,
        i: usize,
        step: f64,
        costs: &mut Costs<'_, E>,
    ) -> Result<Costed, E> {
        let at = |value: f64| {
            let mut point = x.clone();
            point[i] = value.clamp(self.bounds.lower[i], self.bounds.upper[i]);
            point
        };
        let offsets = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0];
        let points: Vec<Vec<f64>> = offsets.iter().map(|k| at(x[i] + k * step)).collect();
        let found = costs(points.clone())?;
        let mut all: Vec<Costed> = points.into_iter().zip(found).collect();
        all.insert(3, (x.clone(), cost));
        let best = (0..all.len()).min_by(|a, b| all[*a].1.total_cmp(&all[*b].1)).unwrap_or(3);
        let vertex = match all.get(best.wrapping_sub(1)..best + 2) {
            Some([a, b, c]) => vertex([a, b, c].map(|(x, cost)| (x[i], *cost))),
            _ => None,
        };
        let best = all.swap_remove(best);
        match vertex {
            Some(value) => least(best, vec![at(value)], costs),
            None => Ok(best),
        }
    }
}

/// The best of some points, or where it is already.
fn least<E>(here: Costed, points: Vec<Vec<f64>>, costs: &mut Costs<'_, E>) -> Result<Costed, E> {
    let found = costs(points.clone())?;
    let each = points.into_iter().zip(found);
    Ok(each.fold(here, |best, one| if one.1 < best.1 { one } else { best }))
}

/// Where the parabola through three points is least; nothing where it is not between them.
fn vertex([(a, fa), (b, fb), (c, fc)]: [(f64, f64); 3]) -> Option<f64> {
    let (left, right) = ((fb - fa) / (b - a), (fc - fb) / (c - b));
    let bend = (right - left) / (c - a);
    let at = 0.5 * (a + b) - 0.5 * left / bend;
    (bend > 0.0 && at > a && at < c).then_some(at)
}

/// The digits of `k` behind the point, in their reverse order: points that fill a range evenly
/// however many there are (Halton, 1960).
fn radical_inverse(mut k: usize, base: usize) -> f64 {
    let (mut sum, mut digit) = (0.0, 1.0 / base as f64);
    while k > 0 {
        sum += (k % base) as f64 * digit;
        k /= base;
        digit /= base as f64;
    }
    sum
}

#[cfg(test)]
mod tests {
    use headland_base::maths::sin;

    use super::*;

    /// Dips all over a long valley: the least is found between the points all over, and not on
    /// them; within bounds; after as many points as were said.
    #[test]
    fn the_best_of_points_is_looked_for_nearer() {
        let bounds = Bounds { lower: vec![0.05; 2], upper: vec![1.0; 2] };
        for (least_at, numbers) in [(0.3171, vec![0]), (0.731, vec![1]), (0.05, vec![0])] {
            let i: usize = numbers[0];
            let looking = Looking { numbers, bounds: bounds.clone(), n_rounds: N_ROUNDS };
            let cost = |x: &Vec<f64>| {
                let off = x[i] - least_at;
                let dip = sin(30.0 * off);
                assert!((0.05..=1.0).contains(&x[i]), "{x:?}");
                off * off + 0.005 * dip * dip
            };
            let mut n = 0;
            let mut costs = |points: Vec<Vec<f64>>| -> Result<Vec<f64>, BrokenOff> {
                n += points.len();
                Ok(points.iter().map(cost).collect())
            };
            let point = |k: usize| {
                let mut point = vec![0.5; 2];
                point[i] = 0.05 + 0.95 * radical_inverse(k + 1, 2);
                point
            };
            let points: Vec<Vec<f64>> = (0..N_SURFACES).map(point).collect();
            let here = (vec![0.5; 2], cost(&vec![0.5; 2]));
            let (best, _) = looking.best(here, points, &mut costs).unwrap();
            assert!((best[i] - least_at).abs() < 1e-4, "{best:?} for {least_at}");
            assert_eq!(best[1 - i], 0.5);
            assert!(n <= N_SURFACES + N_ROUNDS * N_NEAR, "{n}");
        }
    }

    #[test]
    fn a_parabola_is_least_where_it_is() {
        let parabola = |x: f64| (x, 3.0 + 2.0 * (x - 0.7) * (x - 0.7));
        let found = vertex([parabola(0.4), parabola(0.9), parabola(1.5)]).unwrap();
        assert!((found - 0.7).abs() < 1e-12, "{found}");
        assert_eq!(vertex([parabola(0.8), parabola(0.9), parabola(1.5)]), None, "beyond");
        assert_eq!(vertex([(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]), None, "level");
        assert_eq!(vertex([(0.0, f64::INFINITY), (1.0, 1.0), (2.0, 2.0)]), None, "nothing there");
    }
}
