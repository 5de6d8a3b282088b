//! Named regions: where a thing may or must be.
//!
//! A recording carries them as facts (`headland.regions`), so a test needs no world.

use headland_base::Transform;
use headland_base::maths::{Quat, Vec3, unit_quat};
use serde_json::Value;

/// A region of the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Where its own frame is.
    pub world_from_region: Transform,
    /// Its form, around the origin of its frame.
    pub shape: RegionShape,
}

/// The form of a region.
#[derive(Clone, Debug, PartialEq)]
pub enum RegionShape {
    /// Side lengths.
    Box(Vec3),
    /// A ball.
    Sphere {
        /// \[m\]
        radius: f64,
    },
    /// Along z.
    Cylinder {
        /// \[m\]
        radius: f64,
        /// \[m\]
        length: f64,
    },
    /// Outlines in the xy plane, from z = 0 upwards; inside an odd number of them is inside.
    Polyline {
        /// Corners, closed.
        outlines: Vec<Vec<[f64; 2]>>,
        /// \[m\]
        height: f64,
    },
}

impl Region {
    /// Reads the fact of a recording; `None` where it is not one of the forms we know.
    pub fn from_fact(text: &str) -> Option<Region> {
        let fact: Value = serde_json::from_str(text).ok()?;
        let numbers = |key: &str| -> Option<Vec<f64>> {
            fact.get(key)?.as_array()?.iter().map(Value::as_f64).collect()
        };
        let number = |key: &str| fact.get(key)?.as_f64();
        let [x, y, z] = numbers("position")?.try_into().ok()?;
        let [qx, qy, qz, qw] = numbers("orientation_xyzw")?.try_into().ok()?;
        let rotation = unit_quat(Quat::from_xyzw(qx, qy, qz, qw))?;
        let shape = match fact.get("shape")?.as_str()? {
            "box" => RegionShape::Box(Vec3::from_array(numbers("size")?.try_into().ok()?)),
            "sphere" => RegionShape::Sphere { radius: number("radius")? },
            "cylinder" => {
                RegionShape::Cylinder { radius: number("radius")?, length: number("length")? }
            }
            "polyline" => RegionShape::Polyline {
                outlines: serde_json::from_value(fact.get("outlines")?.clone()).ok()?,
                height: number("height")?,
            },
            _ => return None,
        };
        Some(Region { world_from_region: Transform::new(rotation, Vec3::new(x, y, z)), shape })
    }

    /// Whether a point of the world is in it; its border belongs to it.
    pub fn contains(&self, point_in_world: Vec3) -> bool {
        let p = self.world_from_region.inverse().point(point_in_world);
        match &self.shape {
            RegionShape::Box(size) => (p.abs() * 2.0).cmple(*size).all(),
            RegionShape::Sphere { radius } => p.length_squared() <= radius * radius,
            RegionShape::Cylinder { radius, length } => {
                p.x * p.x + p.y * p.y <= radius * radius && p.z.abs() * 2.0 <= *length
            }
            RegionShape::Polyline { outlines, height } => {
                let n_around = outlines.iter().filter(|line| is_around(line, p.x, p.y)).count();
                (0.0..=*height).contains(&p.z) && n_around % 2 == 1
            }
        }
    }
}

/// Whether a ray from the point to the right crosses the outline an odd number of times.
fn is_around(outline: &[[f64; 2]], x: f64, y: f64) -> bool {
    let mut is_inside = false;
    for (i, [x1, y1]) in outline.iter().enumerate() {
        let [x0, y0] = outline[(i + outline.len() - 1) % outline.len()];
        if (*y1 > y) != (y0 > y) && x < (x0 - x1) * (y - y1) / (y0 - y1) + x1 {
            is_inside = !is_inside;
        }
    }
    is_inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_turn_with_their_frame_and_own_their_border() {
        let region = Region::from_fact(
            r#"{"shape":"box","size":[2.0,4.0,1.0],"position":[1,0,0],
                "orientation_xyzw":[0,0,0.7071067811865476,0.7071067811865476]}"#,
        )
        .unwrap();
        assert!(region.contains(Vec3::new(1.0 - 1.9, 0.9, 0.4)));
        assert!(!region.contains(Vec3::new(1.0 - 0.9, 1.9, 0.0)));
        let ball = |radius| Region {
            world_from_region: Transform::IDENTITY,
            shape: RegionShape::Sphere { radius },
        };
        assert!(ball(1.0).contains(Vec3::X));
        assert!(!ball(0.999).contains(Vec3::X));
    }

    #[test]
    fn a_hole_is_not_inside() {
        let square = |r: f64| vec![[-r, -r], [r, -r], [r, r], [-r, r]];
        let region = Region {
            world_from_region: Transform::IDENTITY,
            shape: RegionShape::Polyline { outlines: vec![square(2.0), square(1.0)], height: 1.0 },
        };
        assert!(region.contains(Vec3::new(1.5, 0.0, 0.5)));
        assert!(!region.contains(Vec3::new(0.5, 0.0, 0.5)));
        assert!(!region.contains(Vec3::new(1.5, 0.0, 1.5)));
    }

    #[test]
    fn facts_that_are_no_region_are_none() {
        for text in ["", "{}", "[]", r#"{"shape":"box","size":[1,2],"position":[0,0,0]}"#] {
            assert_eq!(Region::from_fact(text), None, "{text}");
        }
    }
}
