//! Points of a mesh go in, few enough for a convex hull come out.
//!
//! A hull can take memory by the square of its points: rapier's of 8,000 on the rims of a cylinder
//! asked for three gigabytes. So of many points only those are kept that lie furthest out in
//! one of a fixed set of directions. Corners are kept, and the box around them all is exact.

use std::borrow::Cow;

use headland_base::maths::{PI, cos, sin, sqrt};
use headland_base::{Diagnostic, Vec3};

/// Up to this many points a mesh is hulled as it is.
const N_POINTS_MAX: usize = 1030;

/// Directions spread over the sphere, beside the six along the axes.
const N_DIRECTIONS: usize = N_POINTS_MAX - 6;

/// Other directions, in which is measured how much further the points left out reach.
const N_PROBES: usize = 256;

/// The points to hull: all of them, each once, or the outermost ones.
pub fn thinned(points: &[Vec3]) -> Cow<'_, [Vec3]> {
    if points.len() <= N_POINTS_MAX {
        return Cow::Borrowed(points);
    }
    let mut kept = without_repeats(points);
    if kept.len() > N_POINTS_MAX {
        kept = without_repeats(&outermost(&kept));
    }
    Cow::Owned(kept)
}

/// Says when points are left out, and how much further they reach.
pub fn check(link: &str, points: &[Vec3]) -> Option<Diagnostic> {
    if points.len() <= N_POINTS_MAX {
        return None;
    }
    let all = without_repeats(points);
    let kept = thinned(points);
    (kept.len() < all.len()).then(|| {
        let message = format!(
            "link `{link}`: {} of its mesh's {} points make the hull; seen from {N_PROBES} sides \
             the others reach {:.1e} m further at most",
            kept.len(),
            all.len(),
            reach_lost(&all, &kept)
        );
        Diagnostic::remark("realised", message)
    })
}

/// Every point once, in the order of their coordinates.
fn without_repeats(points: &[Vec3]) -> Vec<Vec3> {
    // Adding zero makes −0 and 0 the same.
    let mut out: Vec<Vec3> = points.iter().map(|p| *p + Vec3::ZERO).collect();
    let order = |p: &Vec3, q: &Vec3| {
        p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z))
    };
    out.sort_unstable_by(order);
    out.dedup();
    out
}

fn outermost(points: &[Vec3]) -> Vec<Vec3> {
    let axes = [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|axis| [axis, -axis]);
    axes.chain(directions(N_DIRECTIONS)).map(|direction| furthest(points, direction)).collect()
}

/// The first of the points that lie furthest along a direction.
fn furthest(points: &[Vec3], direction: Vec3) -> Vec3 {
    let mut best = (f64::NEG_INFINITY, points[0]);
    for point in points {
        let reach = point.dot(direction);
        if reach > best.0 {
            best = (reach, *point);
        }
    }
    best.1
}

fn reach_lost(all: &[Vec3], kept: &[Vec3]) -> f64 {
    let lost =
        |direction: Vec3| (furthest(all, direction) - furthest(kept, direction)).dot(direction);
    directions(N_PROBES).map(lost).fold(0.0, f64::max)
}

/// `n` unit vectors spread evenly over the sphere: heights in equal steps, each turned from
/// the one before by the golden angle.
fn directions(n: usize) -> impl Iterator<Item = Vec3> {
    let golden_angle = PI * (3.0 - sqrt(5.0));
    (0..n).map(move |i| {
        let z = 1.0 - (2.0 * i as f64 + 1.0) / n as f64;
        let (radius, turn) = (sqrt(1.0 - z * z), golden_angle * i as f64);
        Vec3::new(radius * cos(turn), radius * sin(turn), z)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_stay_as_they_are_and_repeats_count_once() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        assert_eq!(thinned(&corners), &corners[..]);
        let soup: Vec<Vec3> = (0..9000).map(|i| corners[i % 4]).collect();
        assert_eq!(thinned(&soup).len(), 4);
        assert!(check("soup", &soup).is_none(), "nothing is left out");
    }
}
