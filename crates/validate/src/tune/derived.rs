//! Numbers of the model that follow from what was sought: mass, centre of mass and inertia of the
//! links that were sought by their ten numbers, with intervals by the slopes of each with respect
//! to those.

use headland_base::maths::sqrt;
use headland_world::parameter::{self, Parameter};

use super::Tuning;
use crate::fit::sureness::{Sureness, Worth};

/// A number of the model that follows from what was sought: of a body tuned by its ten numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Its path.
    pub name: String,
    /// What it is measured in.
    pub unit: String,
    /// What it was.
    pub before: f64,
    /// What it is.
    pub value: f64,
    /// Half the width of its interval, from those it follows from.
    pub half_width: Option<f64>,
    /// The same of an interval that holds the truth at once with those of all other numbers.
    pub joint_half_width: Option<f64>,
}

const PARTS: [&str; 10] = [
    "mass",
    "com/x",
    "com/y",
    "com/z",
    "inertia/ixx",
    "inertia/ixy",
    "inertia/ixz",
    "inertia/iyy",
    "inertia/iyz",
    "inertia/izz",
];

/// All of them. `worth` is of the sought numbers, `shifts` how far ever shorter steps would move
/// those.
pub(super) fn derived(
    tuning: &Tuning<'_>,
    x: &[f64],
    worth: Option<&Worth>,
    shifts: Option<&Vec<f64>>,
    confidence: f64,
) -> Vec<Derived> {
    let is_first = |parameter: &Parameter| parameter.path().ends_with("/inertial/pseudo/alpha");
    let links = tuning.wanted.iter().flat_map(|wanted| &wanted.parameters).filter(|p| is_first(p));
    let list = parameter::list(&tuning.subject.world);
    let found: Vec<Parameter> = links
        .flat_map(|link| {
            let stem = link.whole_path().strip_suffix("pseudo/alpha").unwrap_or_default();
            PARTS.map(|part| format!("{stem}{part}"))
        })
        .filter_map(|path| parameter::find_in(&list, &path).ok()?.into_iter().next())
        .collect();
    let at = |parameter: &Parameter, x: &[f64]| {
        tuning.subject_at(x).ok().and_then(|subject| parameter.get(&subject))
    };
    let found: Vec<(Parameter, f64, f64)> = found
        .into_iter()
        .filter_map(|parameter| {
            let (value, before) = (at(&parameter, x)?, parameter.get(&tuning.subject)?);
            Some((parameter, value, before))
        })
        .collect();
    // Those that stand in the table, as its other rows count them.
    let n_together = tuning.wanted.len() + found.len();
    let one = |(parameter, value, before): (Parameter, f64, f64)| {
        let of_one = |i: usize, by: f64| {
            let mut x = x.to_vec();
            x[i] += by;
            at(&parameter, &x)
        };
        let slopes: Option<Vec<f64>> =
            (0..tuning.wanted.len()).map(|i| slope(value, |by| of_one(i, by))).collect();
        // Without a slope it is not known how sure the number is, and it has no interval.
        let half = |of: &dyn Fn(&Sureness) -> Option<f64>| {
            let (worth, slopes) = (worth?, slopes.as_ref()?);
            let moved = shifts.map_or(0.0, |shifts| moved(slopes, shifts));
            half_width(slopes, worth, of).map(|half| half + moved)
        };
        Derived {
            name: parameter.path().to_string(),
            unit: parameter.unit(&tuning.subject).to_string(),
            before,
            value,
            half_width: half(&|sureness| sureness.half_width),
            joint_half_width: half(&|sureness| sureness.joint_half_width(confidence, n_together)),
        }
    };
    found.into_iter().map(one).collect()
}

/// The slope of a number that is `value` here, and so much a little ahead or behind: from both
/// sides, or from the one that there is.
fn slope(value: f64, of: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    const BY: f64 = 1e-5;
    match (of(BY), of(-BY)) {
        (Some(ahead), Some(behind)) => Some((ahead - behind) / (2.0 * BY)),
        (Some(ahead), None) => Some((ahead - value) / BY),
        (None, Some(behind)) => Some((value - behind) / BY),
        (None, None) => None,
    }
}

/// How far steps move a number that follows from others.
fn moved(slopes: &[f64], shifts: &[f64]) -> f64 {
    slopes.iter().zip(shifts).map(|(slope, shift)| slope * shift).sum::<f64>().abs()
}

/// From half widths of those it follows from; nothing where one of them has none.
fn half_width(slopes: &[f64], worth: &Worth, of: &dyn Fn(&Sureness) -> Option<f64>) -> Option<f64> {
    let (mut variance, mut factor) = (0.0, 0.0_f64);
    for (i, a) in slopes.iter().enumerate().filter(|(_, a)| **a != 0.0) {
        let half = of(&worth.parameters[i])?;
        let deviation = sqrt(worth.covariance[i][i]);
        if deviation > 0.0 {
            factor = factor.max(half / deviation);
        }
        for (j, b) in slopes.iter().enumerate() {
            variance += a * b * worth.covariance[i][j];
        }
    }
    Some(factor * sqrt(variance.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the edge of what a body can be, one side has no number: the other tells the slope.
    #[test]
    fn a_slope_is_that_of_the_side_there_is() {
        let line = |by: f64| Some(7.0 + 3.0 * by);
        for is_there in [|_: f64| true, |by: f64| by > 0.0, |by: f64| by < 0.0] {
            let found = slope(7.0, |by| line(by).filter(|_| is_there(by)));
            assert!((found.expect("a side") - 3.0).abs() < 1e-6, "{found:?}");
        }
        assert_eq!(slope(7.0, |_| None), None);
    }
}
