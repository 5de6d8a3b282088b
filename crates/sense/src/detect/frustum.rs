//! What a camera that looks along +x has in sight: a pyramid without its tip.

use headland_base::maths::{PI, pow, tan};
use headland_base::{Transform, Vec3};
use headland_world::geometry::corners_in;

use crate::declare::element::Element;
use crate::scene::Bounds;

/// A pyramid about +x between two distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frustum {
    pub near: f64,
    pub far: f64,
    /// The slopes of its sides: y and z over x.
    slope: (f64, f64),
}

impl Frustum {
    pub fn new(near: f64, far: f64, horizontal_fov: f64, aspect_ratio: f64) -> Frustum {
        let wide = tan(0.5 * horizontal_fov);
        Frustum { near, far, slope: (wide, wide / aspect_ratio) }
    }

    /// The `<near>`, `<far>`, `<horizontal_fov>` and `<aspect_ratio>` of an element.
    pub fn read(element: Element<'_>) -> Option<Frustum> {
        let (near, far) = (element.number("near", 0.0), element.number("far", 1.0));
        let (fov, aspect) =
            (element.number("horizontal_fov", 1.0), element.number("aspect_ratio", 1.0));
        if !(near >= 0.0 && far > near) {
            let what = format!("it sees from {near} m to {far} m, which is nothing");
            element.fault(what, Some("0 ≤ near < far".to_string()));
            return None;
        }
        if !(fov > 0.0 && fov < PI && aspect > 0.0) {
            let what = format!("a horizontal_fov of {fov} rad at an aspect_ratio of {aspect}");
            let help = "more than 0 and less than π, and a ratio above 0".to_string();
            element.fault(what, Some(help));
            return None;
        }
        Some(Frustum::new(near, far, fov, aspect))
    }

    /// Its near corners in a circle, then its far ones.
    pub fn corners(&self) -> [Vec3; 8] {
        let (wide, high) = self.slope;
        let around = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
        std::array::from_fn(|i| {
            let x = if i < 4 { self.near } else { self.far };
            let (y, z) = around[i % 4];
            Vec3::new(x, y * wide * x, z * high * x)
        })
    }

    /// A place in it for three numbers from 0 to 1, such that even numbers fill it evenly.
    pub fn within(&self, [deep, across, up]: [f64; 3]) -> Vec3 {
        let (near, far) = (self.near * self.near * self.near, self.far * self.far * self.far);
        let x = pow(near + (far - near) * deep, 1.0 / 3.0);
        let (wide, high) = self.slope;
        Vec3::new(x, (2.0 * across - 1.0) * wide * x, (2.0 * up - 1.0) * high * x)
    }

    /// Whether one of some boxes along the world's axes may be in sight.
    pub fn meets_any(
        &self,
        sensor_from_world: Transform,
        mut boxes: impl Iterator<Item = Bounds>,
    ) -> bool {
        boxes.any(|bounds| self.meets(sensor_from_world, bounds))
    }

    /// Whether some of a box may be in sight: it is beyond none of the six sides. Gazebo asks the
    /// same of one box around a whole model.
    fn meets(&self, sensor_from_world: Transform, bounds: Bounds) -> bool {
        if bounds.is_empty() {
            return false;
        }
        let corners = corners_in(sensor_from_world, (bounds.low, bounds.high));
        let (wide, high) = self.slope;
        let beyond: [&dyn Fn(&Vec3) -> bool; 6] = [
            &|p| p.x < self.near,
            &|p| p.x > self.far,
            &|p| p.y > wide * p.x,
            &|p| p.y < -wide * p.x,
            &|p| p.z > high * p.x,
            &|p| p.z < -high * p.x,
        ];
        !beyond.iter().any(|is_beyond| corners.iter().all(is_beyond))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_in_sight_or_not() {
        let frustum = Frustum::new(0.5, 4.0, PI / 2.0, 2.0);
        let at = |x: f64, y: f64, z: f64| {
            let middle = Vec3::new(x, y, z);
            let half = Vec3::splat(0.1);
            let bounds = Bounds { low: middle - half, high: middle + half };
            frustum.meets(Transform::IDENTITY, bounds)
        };
        assert!(at(2.0, 0.0, 0.0) && at(2.0, 2.05, 0.0) && at(4.05, 0.0, 0.0));
        assert!(!at(2.0, 2.25, 0.0), "beyond the side");
        assert!(at(2.0, 0.0, 1.05) && !at(2.0, 0.0, 1.2), "half as high as wide");
        assert!(!at(0.3, 0.0, 0.0) && !at(4.2, 0.0, 0.0) && !at(-2.0, 0.0, 0.0));
        assert!(!frustum.meets(Transform::IDENTITY, Bounds::EMPTY));
    }
}
