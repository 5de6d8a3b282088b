//! Shapes of ours as geoms of MuJoCo's, and the assets they need.
//!
//! A geometry goes in; the parts it is made of come out, each with where it is in the shape
//! and MuJoCo's own words for it. Vertices go into the text, heights into files.

use std::fmt::Write;

use headland_base::maths::{TAU, cos, quat_between, sin, sqrt};
use headland_base::{Transform, Vec3};
use headland_sim::form::prisms;
use headland_world::{Geometry, HeightGrid};

/// Points on the rim of the base of a cone; its tip is one more.
pub(super) const N_CONE_POINTS: usize = 64;

/// Triangles of a still mesh that are geoms of their own; one with more touches as its hull.
const N_TRIANGLES_MAX: usize = 5000;

/// How thick a heightmap is below its lowest point \[m\].
const FIELD_BASE: f64 = 1.0;

/// Meshes and heightmaps, written once.
#[derive(Default)]
pub(super) struct Assets {
    /// What goes between `<asset>` and `</asset>`.
    pub(super) text: String,
    /// Files the text names.
    pub(super) files: Vec<(String, Vec<u8>)>,
    n_meshes: usize,
}

/// One geom: where it is in the shape, and its `type` and `size`, or what stands for them.
pub(super) struct Part {
    pub(super) shape_from_geom: Transform,
    pub(super) words: String,
}

/// Whether a mesh touches as its triangles, one by one, instead of as its hull.
pub(super) fn is_in_triangles(geometry: &Geometry, is_still: bool) -> bool {
    match geometry {
        Geometry::Mesh { mesh, convex, .. } => {
            is_still && !convex && mesh.triangles().len() <= N_TRIANGLES_MAX
        }
        _ => false,
    }
}

/// The geoms of a geometry.
pub(super) fn parts(geometry: &Geometry, is_still: bool, assets: &mut Assets) -> Vec<Part> {
    let at = |shape_from_geom, words| vec![Part { shape_from_geom, words }];
    let plain = |words: String| at(Transform::IDENTITY, words);
    match geometry {
        Geometry::Box { size } => {
            let half = *size * 0.5;
            plain(format!("type=\"box\" size=\"{} {} {}\"", half.x, half.y, half.z))
        }
        Geometry::Sphere { radius } => plain(format!("type=\"sphere\" size=\"{radius}\"")),
        Geometry::Cylinder { radius, length } => {
            plain(format!("type=\"cylinder\" size=\"{radius} {}\"", length * 0.5))
        }
        Geometry::Capsule { radius, length } => {
            plain(format!("type=\"capsule\" size=\"{radius} {}\"", length * 0.5))
        }
        Geometry::Ellipsoid { radii } => {
            plain(format!("type=\"ellipsoid\" size=\"{} {} {}\"", radii.x, radii.y, radii.z))
        }
        Geometry::Cone { radius, length } => {
            let rim = (0..N_CONE_POINTS).map(|i| {
                let angle = TAU * i as f64 / N_CONE_POINTS as f64;
                Vec3::new(radius * cos(angle), radius * sin(angle), -0.5 * length)
            });
            let points: Vec<Vec3> = rim.chain([Vec3::new(0.0, 0.0, 0.5 * length)]).collect();
            plain(assets.mesh(&points))
        }
        Geometry::Plane { normal, .. } => at(
            Transform::from_rotation(quat_between(Vec3::Z, *normal)),
            "type=\"plane\" size=\"0 0 1\"".to_string(),
        ),
        Geometry::Mesh { mesh, .. } if is_in_triangles(geometry, is_still) => {
            let slabs = mesh
                .triangles()
                .iter()
                .filter_map(|corners| slab(corners.map(|i| mesh.vertices()[i as usize])));
            hulls(slabs, assets)
        }
        Geometry::Mesh { mesh, .. } => plain(assets.mesh(mesh.vertices())),
        Geometry::Heightmap { size, position, heights, .. } => {
            let (words, lowest) = assets.field(*size, heights);
            at(Transform::from_translation(*position + Vec3::Z * lowest), words)
        }
        Geometry::Polyline { outlines, height } => prisms(outlines, *height)
            .iter()
            .map(|points| Part { shape_from_geom: Transform::IDENTITY, words: assets.mesh(points) })
            .collect(),
        Geometry::Empty => Vec::new(),
    }
}

fn hulls(all: impl Iterator<Item = Vec<Vec3>>, assets: &mut Assets) -> Vec<Part> {
    let part = |points: Vec<Vec3>| Part {
        shape_from_geom: Transform::IDENTITY,
        words: assets.mesh(&points),
    };
    all.map(part).collect()
}

/// A triangle with something behind it, a tenth of its size thick; none where it has no area.
fn slab(corners: [Vec3; 3]) -> Option<Vec<Vec3>> {
    let [a, b, c] = corners;
    let across = (b - a).cross(c - a);
    let twice_area = sqrt(across.dot(across));
    (twice_area > 1e-12).then(|| {
        let thickness = (0.1 * sqrt(0.5 * twice_area)).clamp(1e-4, 0.1);
        let back = across * (-thickness / twice_area);
        corners.into_iter().flat_map(|p| [p, p + back]).collect()
    })
}

impl Assets {
    /// The hull of points.
    fn mesh(&mut self, points: &[Vec3]) -> String {
        let name = format!("m{}", self.n_meshes);
        self.n_meshes += 1;
        let _ = write!(self.text, "    <mesh name=\"{name}\" vertex=\"");
        for point in points {
            let _ = write!(self.text, "{} {} {} ", point.x, point.y, point.z);
        }
        self.text.push_str("\"/>\n");
        format!("type=\"mesh\" mesh=\"{name}\"")
    }

    /// A heightmap, and its lowest height.
    fn field(&mut self, size: Vec3, heights: &HeightGrid) -> (String, f64) {
        let (n_rows, n_columns) = (heights.n_rows(), heights.n_columns());
        let all =
            || (0..n_rows).flat_map(|row| (0..n_columns).map(move |c| heights.height(c, row)));
        let lowest = all().fold(f64::INFINITY, f64::min);
        let highest = all().fold(f64::NEG_INFINITY, f64::max);
        // MuJoCo's own format: rows, columns, then heights, which it stretches from 0 to 1.
        let mut bytes = Vec::with_capacity(8 + 4 * n_rows * n_columns);
        for count in [n_rows, n_columns] {
            bytes.extend(i32::try_from(count).unwrap_or(i32::MAX).to_ne_bytes());
        }
        for height in all() {
            bytes.extend(((height - lowest) as f32).to_ne_bytes());
        }
        let name = format!("f{}", self.files.len());
        let file = format!("{name}.bin");
        let rise = (highest - lowest).max(1e-6);
        let _ = writeln!(
            self.text,
            "    <hfield name=\"{name}\" file=\"{file}\" size=\"{} {} {rise} {FIELD_BASE}\"/>",
            size.x * 0.5,
            size.y * 0.5,
        );
        self.files.push((file, bytes));
        (format!("type=\"hfield\" hfield=\"{name}\""), lowest)
    }
}
