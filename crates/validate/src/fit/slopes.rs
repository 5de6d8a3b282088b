//! Slopes by differences: how residuals change with each parameter.

use super::dense::Columns;
use super::marquardt::Options;
use super::{Bounds, BrokenOff, Evaluate};

/// The slopes of all residuals, a column per parameter; none where no side of a parameter has
/// residuals. Points are the same whatever the number of threads, and none is out of the bounds.
pub fn slopes(
    x: &[f64],
    residuals: &[f64],
    crew: &mut dyn Evaluate,
    bounds: &Bounds,
    options: &Options,
) -> Result<Option<Columns>, BrokenOff> {
    let at = |i: usize, h: f64| {
        let mut point = x.to_vec();
        point[i] = (x[i] + h).max(bounds.lower[i]).min(bounds.upper[i]);
        point
    };
    // Forwards and backwards, as far as there is room; in a range narrower than both, all of it.
    let sides = |i: usize, h: f64| -> Vec<Vec<f64>> {
        let (below, above) = (x[i] - bounds.lower[i], bounds.upper[i] - x[i]);
        let mut sides: Vec<f64> = [(h, above), (-h, below)]
            .iter()
            .filter(|(h, room)| h.abs() <= *room)
            .map(|s| s.0)
            .collect();
        if sides.is_empty() {
            sides.push(if above >= below { above } else { -below });
        }
        sides.into_iter().map(|h| at(i, h)).collect()
    };
    let n_sides = if options.is_central { 2 } else { 1 };
    let asked: Vec<(usize, Vec<f64>)> = (0..x.len())
        .flat_map(|i| {
            let sides = sides(i, options.difference[i]).into_iter().take(n_sides);
            sides.map(move |point| (i, point))
        })
        .collect();
    let answers = crew.all(asked.iter().map(|(_, point)| point.clone()).collect())?;
    let mut found: Vec<Vec<(f64, Vec<f64>)>> = vec![Vec::new(); x.len()];
    for ((i, point), answer) in asked.iter().zip(answers) {
        found[*i].extend(answer.map(|answer| (point[*i], answer)));
    }
    // Points beyond what can be simulated: the other side, and nearer.
    for (i, found) in found.iter_mut().enumerate().filter(|(_, found)| found.is_empty()) {
        let h = options.difference[i];
        let others = sides(i, h).into_iter().skip(n_sides).chain(sides(i, h / 16.0));
        for point in others {
            if let Some(answer) = crew.one(&point)? {
                found.push((point[i], answer));
                break;
            }
        }
    }
    let column = |(i, found): (usize, Vec<(f64, Vec<f64>)>)| {
        let mut found = found.into_iter();
        let ((to, mut ahead), other) = (found.next()?, found.next());
        let (from, behind) = other.as_ref().map_or((x[i], residuals), |(x, r)| (*x, r));
        // What was truly gone, after rounding.
        let h = to - from;
        ahead.iter_mut().zip(behind).for_each(|(a, b)| *a = (*a - b) / h);
        Some(ahead)
    };
    Ok(found.into_iter().enumerate().map(column).collect())
}
