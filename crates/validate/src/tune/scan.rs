//! Where a search begins: at the best of some points all over what has many dips.
//!
//! Commands come in steps, so an error has a dip for every whole number of their intervals; a body
//! that lands otherwise rolls otherwise, so it has one for many a friction. Slopes lead into the
//! nearest: the others have to be looked at.

use headland_base::maths::dot;

use super::elsewhere::delay_of;
use super::{Method, Search, Tuning, Wanted};
use crate::fit::{BrokenOff, Evaluate};

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
    if let Some(delay) = delay_of(tuning).filter(|_| method == Method::Lm) {
        for k in 0..=N_DELAYS {
            let mut point = start.to_vec();
            place(&mut point, delay, k as f64 / N_DELAYS as f64);
            points.push(point);
        }
    }
    points.extend(surface_points(tuning, start));
    points
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

/// Begins at the best of them, or stays where it is.
pub(super) fn scan(
    search: &mut Search,
    points: Vec<Vec<f64>>,
    tuning: &Tuning<'_>,
    crew: &mut dyn Evaluate,
) -> Result<(), BrokenOff> {
    if points.is_empty() {
        return Ok(());
    }
    let start = search.best().0.to_vec();
    let points: Vec<Vec<f64>> = [start].into_iter().chain(points).collect();
    let cost = |found: &Option<Vec<f64>>| {
        found.as_ref().map_or(f64::INFINITY, |residuals| dot(residuals, residuals))
    };
    let costs: Vec<f64> = crew.all(points.clone())?.iter().map(cost).collect();
    let best = (0..points.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b])).unwrap_or(0);
    search.begin_at((&points[best], costs[best]), points.len(), &tuning.bounds());
    Ok(())
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
