//! Points of a mesh go in, few enough for a convex hull come out.
//!
//! Parry's hull takes memory by the square of its points: 8,000 on the rims of a cylinder
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
    use parry3d_f64::shape::SharedShape;

    fn hull_volume(points: &[Vec3]) -> f64 {
        SharedShape::convex_hull(points).expect("a hull").mass_properties(1.0).mass()
    }

    /// A grid on every face, 100,000 points: the corners are what counts.
    #[test]
    fn a_box_of_many_points_keeps_its_corners() {
        let n = 130;
        let size = Vec3::new(1.0, 0.6, 0.2);
        let mut points = Vec::new();
        for i in 0..n {
            for j in 0..n {
                let (a, b) = (i as f64 / (n - 1) as f64 - 0.5, j as f64 / (n - 1) as f64 - 0.5);
                for c in [-0.5, 0.5] {
                    points.extend([Vec3::new(a, b, c), Vec3::new(c, a, b), Vec3::new(b, c, a)]);
                }
            }
        }
        points.iter_mut().for_each(|p| *p *= size);
        assert!(points.len() > 100_000);
        let kept = thinned(&points);
        assert!(kept.len() <= N_POINTS_MAX, "{}", kept.len());
        let off = hull_volume(&kept) / (size.x * size.y * size.z) - 1.0;
        assert!(off.abs() < 1e-9, "{off:e}");
        let note = check("crate", &points).expect("points are left out");
        assert!(note.message.contains("0.0e0 m further"), "{}", note.message);
    }

    /// Two rims of 50,000 points: the volume is that of the cylinder within 0.02 %.
    #[test]
    fn a_cylinder_of_many_points_keeps_its_volume() {
        let (radius, length, n) = (0.3, 0.8, 50_000);
        let rim = |i: usize, z: f64| {
            let turn = 2.0 * PI * i as f64 / n as f64;
            Vec3::new(radius * cos(turn), radius * sin(turn), z)
        };
        let points: Vec<Vec3> =
            (0..n).flat_map(|i| [rim(i, -0.5 * length), rim(i, 0.5 * length)]).collect();
        let kept = thinned(&points);
        assert!(kept.len() <= N_POINTS_MAX, "{}", kept.len());
        let off = hull_volume(&kept) / (PI * radius * radius * length) - 1.0;
        let lost = reach_lost(&points, &kept);
        eprintln!("{} points, volume off {off:e}, reach lost {lost:e} m", kept.len());
        assert!(off.abs() < 2e-4 && lost < 1e-4, "{off:e}, {lost:e} m");
    }

    #[test]
    fn few_points_stay_as_they_are_and_repeats_count_once() {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        assert_eq!(thinned(&corners), &corners[..]);
        let soup: Vec<Vec3> = (0..9000).map(|i| corners[i % 4]).collect();
        assert_eq!(thinned(&soup).len(), 4);
        assert!(check("soup", &soup).is_none(), "nothing is left out");
    }
}
