//! Flat polygons of a few corners, and cutting one by the sides of another. No heap.

use headland_base::Vec3;

/// Corners in order; one is a point, two an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polygon {
    corners: [Vec3; Polygon::N_MAX],
    n: usize,
}

impl Polygon {
    /// A face has at most half as many, and each side that cuts adds at most one.
    pub(super) const N_MAX: usize = 32;

    pub(super) fn new() -> Polygon {
        Polygon { corners: [Vec3::ZERO; Polygon::N_MAX], n: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.n = 0;
    }

    /// What does not fit is left out; see [`Polygon::N_MAX`] for why nothing is.
    pub(super) fn push(&mut self, corner: Vec3) {
        if self.n < Polygon::N_MAX {
            self.corners[self.n] = corner;
            self.n += 1;
        }
    }

    pub(super) fn corners(&self) -> &[Vec3] {
        &self.corners[..self.n]
    }

    pub(super) fn corners_mut(&mut self) -> &mut [Vec3] {
        &mut self.corners[..self.n]
    }

    /// Unit normal by Newell's sum; `None` for points, edges and polygons without area.
    pub(super) fn normal(&self) -> Option<Vec3> {
        let corners = self.corners();
        if corners.len() < 3 {
            return None;
        }
        let origin = corners[0];
        let sum = corners
            .windows(2)
            .fold(Vec3::ZERO, |sum, side| sum + (side[0] - origin).cross(side[1] - origin));
        let length = sum.length();
        (length > 0.0).then(|| sum / length)
    }

    /// What of it lies on the inner side of a plane through `point` whose normal `outward`
    /// points away from what is kept.
    pub(super) fn cut(&self, point: Vec3, outward: Vec3) -> Polygon {
        let mut out = Polygon::new();
        let side = |p: Vec3| (p - point).dot(outward);
        let n_edges = if self.n == 2 { 1 } else { self.n };
        if self.n < 3 {
            self.corners().first().filter(|p| side(**p) <= 0.0).iter().for_each(|p| out.push(**p));
        }
        for i in 0..n_edges {
            let (a, b) = (self.corners[i], self.corners[(i + 1) % self.n]);
            if self.n == 1 {
                break;
            }
            let (da, db) = (side(a), side(b));
            if (da < 0.0 && db > 0.0) || (da > 0.0 && db < 0.0) {
                out.push(a + (b - a) * (da / (da - db)));
            }
            if db <= 0.0 {
                out.push(b);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Polygon {
        let mut out = Polygon::new();
        for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            out.push(Vec3::new(x, y, 0.0));
        }
        out
    }

    fn area(polygon: &Polygon) -> f64 {
        let corners = polygon.corners();
        (1..corners.len().max(2) - 1)
            .map(|i| (corners[i] - corners[0]).cross(corners[i + 1] - corners[0]).z * 0.5)
            .sum()
    }

    #[test]
    fn cutting_keeps_the_area_inside() {
        let half = square().cut(Vec3::ZERO, Vec3::X);
        assert_eq!((area(&half), half.corners().len()), (2.0, 4));
        let corner = square().cut(Vec3::new(0.5, 0.5, 0.0), Vec3::new(1.0, 1.0, 0.0));
        assert_eq!((area(&corner), corner.corners().len()), (3.5, 5));
        assert!(square().cut(Vec3::new(-2.0, 0.0, 0.0), Vec3::X).corners().is_empty());
        assert_eq!(square().normal(), Some(Vec3::Z));
    }

    #[test]
    fn edges_and_points_are_cut_too() {
        let mut edge = Polygon::new();
        edge.push(Vec3::new(-1.0, 0.0, 0.0));
        edge.push(Vec3::new(1.0, 0.0, 0.0));
        let cut = edge.cut(Vec3::new(0.25, 0.0, 0.0), Vec3::X);
        assert_eq!(cut.corners(), &[Vec3::new(-1.0, 0.0, 0.0), Vec3::new(0.25, 0.0, 0.0)]);
        let mut point = Polygon::new();
        point.push(Vec3::X);
        assert_eq!(point.cut(Vec3::ZERO, -Vec3::X).corners().len(), 1);
        assert!(point.cut(Vec3::ZERO, Vec3::X).corners().is_empty());
    }
}
