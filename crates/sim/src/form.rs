//! Shapes as points and triangles, for engines that have no better: outlines drawn out, fields of
//! heights, balls. [`crate::hull`] makes few points of many.
//!
//! Deliberately absent: which engine needs what.

use headland_base::Vec3;
use headland_base::maths::{Vec2, sqrt};
use headland_world::HeightGrid;
use headland_world::geometry::outline_groups;

/// Corners, and triangles of them that face outwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// The corners.
    pub corners: Vec<Vec3>,
    /// Three corners each, by index.
    pub triangles: Vec<[u32; 3]>,
}

/// An outline with its holes, cut into triangles.
struct Cut {
    points: Vec<Vec2>,
    /// Where each ring begins, and how many points it has; the outer one first.
    rings: Vec<(usize, usize)>,
    triangles: Vec<[usize; 3]>,
}

fn cuts(outlines: &[Vec<Vec2>]) -> Vec<Cut> {
    let cut = |(outer, holes): (usize, Vec<usize>)| {
        let (mut points, mut rings) = (Vec::new(), Vec::new());
        for ring in std::iter::once(outer).chain(holes) {
            rings.push((points.len(), outlines[ring].len()));
            points.extend_from_slice(&outlines[ring]);
        }
        let hole_starts: Vec<usize> = rings[1..].iter().map(|(start, _)| *start).collect();
        let mut corners: Vec<usize> = Vec::new();
        let flat = points.iter().map(|p: &Vec2| [p.x, p.y]);
        earcut::Earcut::new().earcut(flat, &hole_starts, &mut corners);
        Cut { points, rings, triangles: corners.as_chunks::<3>().0.to_vec() }
    };
    outline_groups(outlines).into_iter().map(cut).collect()
}

/// Outlines drawn out, holes left open, as convex prisms: the six corners of each. None where
/// they have no inside.
pub fn prisms(outlines: &[Vec<Vec2>], height: f64) -> Vec<[Vec3; 6]> {
    let of_cut = |cut: Cut| {
        let prism = |triangle: &[usize; 3]| {
            let at = |k: usize| cut.points[triangle[k / 2]].extend((k % 2) as f64 * height);
            std::array::from_fn(at)
        };
        cut.triangles.iter().map(prism).collect::<Vec<_>>()
    };
    cuts(outlines).into_iter().flat_map(of_cut).collect()
}

/// The surface of the same: a floor, a roof and walls.
pub fn prism_surface(outlines: &[Vec<Vec2>], height: f64) -> Triangles {
    let mut out = Triangles::default();
    for Cut { points, rings, triangles } in cuts(outlines) {
        let first = out.corners.len();
        out.corners.extend(points.iter().flat_map(|p| [p.extend(0.0), p.extend(height)]));
        let (low, high) =
            (|i: usize| (first + 2 * i) as u32, |i: usize| (first + 2 * i + 1) as u32);
        for [a, b, c] in triangles {
            let is_up = (points[b] - points[a]).perp_dot(points[c] - points[a]) > 0.0;
            let (b, c) = if is_up { (b, c) } else { (c, b) };
            out.triangles.extend([[high(a), high(b), high(c)], [low(a), low(c), low(b)]]);
        }
        for (i, (start, n)) in rings.into_iter().enumerate() {
            // The solid lies to the left of an outline that runs counter-clockwise, and to the
            // right of such a hole.
            let is_left = (i == 0) == is_left(&points[start..start + n]);
            for k in 0..n {
                let (a, b) = (start + k, start + (k + 1) % n);
                let (a, b) = if is_left { (a, b) } else { (b, a) };
                out.triangles.extend([[low(a), low(b), high(b)], [low(a), high(b), high(a)]]);
            }
        }
    }
    out
}

/// Whether an outline runs counter-clockwise.
fn is_left(outline: &[Vec2]) -> bool {
    let next = outline.iter().cycle().skip(1);
    outline.iter().zip(next).map(|(a, b)| a.perp_dot(*b)).sum::<f64>() > 0.0
}

/// A field of heights about its own middle: two triangles per cell, facing up; the first row is
/// the one of least y.
pub fn height_surface(size: Vec3, heights: &HeightGrid) -> Triangles {
    let (n_rows, n_columns) = (heights.n_rows(), heights.n_columns());
    let along = |i: usize, n: usize, length: f64| (i as f64 / (n - 1) as f64 - 0.5) * length;
    let mut out = Triangles::default();
    let at = |column: usize, row: usize| (row * n_columns + column) as u32;
    for row in 0..n_rows {
        for column in 0..n_columns {
            let (x, y) = (along(column, n_columns, size.x), along(row, n_rows, size.y));
            out.corners.push(Vec3::new(x, y, heights.height(column, row)));
            if column + 1 < n_columns && row + 1 < n_rows {
                let (a, b) = (at(column, row), at(column + 1, row));
                let (c, d) = (at(column + 1, row + 1), at(column, row + 1));
                out.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    out
}

/// 642 points on the unit sphere: an icosahedron whose edges are halved three times.
pub fn sphere_points() -> Vec<Vec3> {
    let golden = (1.0 + sqrt(5.0)) * 0.5;
    let mut points: Vec<Vec3> = Vec::new();
    for a in [-1.0, 1.0] {
        for b in [-golden, golden] {
            points.extend([Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)]);
        }
    }
    // Neighbours on an icosahedron are exactly 2 apart; after each halving, about half that.
    let mut edge = 2.0;
    for _ in 0..3 {
        let n = points.len();
        for i in 0..n {
            for j in i + 1..n {
                if points[i].distance(points[j]) < edge * 1.3 {
                    points.push((points[i] + points[j]) * 0.5);
                }
            }
        }
        edge *= 0.5;
    }
    points.into_iter().map(Vec3::normalize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(half: f64) -> Vec<Vec2> {
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, y)| Vec2::new(x, y) * half)
            .to_vec()
    }

    /// By the sum of the cones from the origin to every triangle.
    fn volume(surface: &Triangles) -> f64 {
        let at = |i: u32| surface.corners[i as usize];
        let one = |[a, b, c]: &[u32; 3]| at(*a).dot(at(*b).cross(at(*c))) / 6.0;
        surface.triangles.iter().map(one).sum()
    }

    /// Two roads to the volume of a frame: its surface, and the prisms it is cut into. Whichever
    /// way its outlines run.
    #[test]
    fn prisms_fill_what_their_surface_holds() {
        let wanted = (4.0 - 1.0) * 0.3;
        for reversed in [[false, false], [true, false], [false, true], [true, true]] {
            let mut outlines = [square(1.0), square(0.5)];
            for (outline, reversed) in outlines.iter_mut().zip(reversed) {
                if reversed {
                    outline.reverse();
                }
            }
            assert!((volume(&prism_surface(&outlines, 0.3)) - wanted).abs() < 1e-12);
            let of_prism = |p: &[Vec3; 6]| 0.5 * (p[2] - p[0]).cross(p[4] - p[0]).z.abs() * 0.3;
            let cut: f64 = prisms(&outlines, 0.3).iter().map(of_prism).sum();
            assert!((cut - wanted).abs() < 1e-12);
        }
        assert!(prisms(&[], 1.0).is_empty());
        let line = vec![Vec2::ZERO, Vec2::X];
        assert!(prisms(&[line], 1.0).is_empty(), "a line has no inside");
    }

    #[test]
    fn points_of_a_ball_lie_on_it_once_each() {
        let points = sphere_points();
        assert_eq!(points.len(), 642);
        assert!(points.iter().all(|p| (p.length() - 1.0).abs() < 1e-12));
        let nearest = |i: usize| {
            let others = points.iter().enumerate().filter(|(j, _)| *j != i);
            others.map(|(_, q)| points[i].distance(*q)).fold(f64::INFINITY, f64::min)
        };
        assert!((0..642).all(|i| nearest(i) > 0.1));
    }
}
