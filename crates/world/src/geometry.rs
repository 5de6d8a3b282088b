//! Shapes. Lengths in metres; round shapes stand along their own z axis.

use std::sync::Arc;

use headland_base::maths::Vec2;
use headland_base::{Transform, Vec3};

/// The form of a collision, a visual or a region.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// Full lengths along x, y, z.
    Box {
        /// Full lengths.
        size: Vec3,
    },
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A disc drawn out along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Full length.
        length: f64,
    },
    /// A cylinder with a half ball on each end.
    Capsule {
        /// Radius.
        radius: f64,
        /// Length of the cylinder between the half balls.
        length: f64,
    },
    /// A ball stretched along x, y, z.
    Ellipsoid {
        /// Half axes.
        radii: Vec3,
    },
    /// Base at -length/2, tip at +length/2 on z.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Full length.
        length: f64,
    },
    /// Endless to touch, `size` to see.
    Plane {
        /// Unit normal.
        normal: Vec3,
        /// Full lengths of what is drawn.
        size: Vec2,
    },
    /// Triangles from a file.
    Mesh {
        /// The file, as the world names it; `inline://…` where there is none.
        uri: String,
        /// Stretch along x, y, z, already applied to `mesh`.
        scale: Vec3,
        /// Only this part of the file, and whether it is moved to its own centre.
        submesh: Option<(String, bool)>,
        /// The triangles.
        mesh: Arc<TriMesh>,
        /// Touches as its convex hull (SDF 1.11 `optimization`, MJCF's rule).
        convex: bool,
    },
    /// Heights from an image.
    Heightmap {
        /// The image, as the world names it; `inline://…` where there is none, or where it
        /// says something else.
        uri: String,
        /// Full lengths along x, y, and the height of a white pixel.
        size: Vec3,
        /// Where its centre is.
        position: Vec3,
        /// The heights.
        heights: Arc<HeightGrid>,
    },
    /// Flat outlines drawn out along z from 0 to `height`.
    Polyline {
        /// Each a closed outline, whichever way it runs; see [`outline_groups`] for which of
        /// them are holes.
        outlines: Vec<Vec<Vec2>>,
        /// Along z.
        height: f64,
    },
    /// Nothing to touch or see.
    Empty,
}

/// Triangles.
///
/// Held by construction: every index is below the number of vertices, every vertex is
/// finite, and there is at least one triangle.
#[derive(Clone, Debug, PartialEq)]
pub struct TriMesh {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    texture_places: Vec<[[f32; 2]; 3]>,
}

/// Why triangles were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TriMeshError {
    /// There is no triangle.
    Empty,
    /// A vertex is NaN or infinite.
    NotFinite {
        /// Which vertex.
        vertex: usize,
    },
    /// A triangle names a vertex that is not there.
    NoSuchVertex {
        /// Which triangle.
        triangle: usize,
        /// The index it names.
        index: u32,
    },
}

impl TriMesh {
    /// The only door in.
    pub fn new(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<TriMesh, TriMeshError> {
        if triangles.is_empty() {
            return Err(TriMeshError::Empty);
        }
        if let Some(vertex) = vertices.iter().position(|v| !v.is_finite()) {
            return Err(TriMeshError::NotFinite { vertex });
        }
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(index) = corners.iter().find(|i| **i as usize >= vertices.len()) {
                return Err(TriMeshError::NoSuchVertex { triangle, index: *index });
            }
        }
        Ok(TriMesh { vertices, triangles, texture_places: Vec::new() })
    }

    /// Corner points \[m\].
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// Corners of each triangle, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The same mesh with places on a texture: of the corners of every triangle, from the left
    /// and from the top, 0 to 1 across it. Others than one set per triangle are left out.
    pub fn with_texture_places(mut self, places: Vec<[[f32; 2]; 3]>) -> TriMesh {
        let is_fit = places.len() == self.triangles.len();
        let is_finite = |set: &[[f32; 2]; 3]| set.iter().flatten().all(|x| x.is_finite());
        self.texture_places =
            if is_fit && places.iter().all(is_finite) { places } else { Vec::new() };
        self
    }

    /// Where the corners of every triangle are on a texture; empty where the file does not say.
    pub fn texture_places(&self) -> &[[[f32; 2]; 3]] {
        &self.texture_places
    }
}

/// Heights on a regular grid over x (columns) and y (rows).
///
/// Held by construction: at least 2 by 2, every height finite. Row 0 is at the smallest
/// y, column 0 at the smallest x.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightGrid {
    n_columns: usize,
    n_rows: usize,
    heights: Vec<f64>,
}

impl HeightGrid {
    /// The only door in; `None` where a promise above is not kept.
    pub fn new(n_columns: usize, n_rows: usize, heights: Vec<f64>) -> Option<HeightGrid> {
        let fits = n_columns >= 2 && n_rows >= 2 && n_columns.checked_mul(n_rows)? == heights.len();
        (fits && heights.iter().all(|h| h.is_finite())).then_some(HeightGrid {
            n_columns,
            n_rows,
            heights,
        })
    }

    /// Samples along x.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Samples along y.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Height at a grid point \[m\], above the heightmap's own zero.
    pub fn height(&self, column: usize, row: usize) -> f64 {
        self.heights[row * self.n_columns + column]
    }
}

impl Geometry {
    /// The word files use.
    pub fn kind(&self) -> &'static str {
        match self {
            Geometry::Box { .. } => "box",
            Geometry::Sphere { .. } => "sphere",
            Geometry::Cylinder { .. } => "cylinder",
            Geometry::Capsule { .. } => "capsule",
            Geometry::Ellipsoid { .. } => "ellipsoid",
            Geometry::Cone { .. } => "cone",
            Geometry::Plane { .. } => "plane",
            Geometry::Mesh { .. } => "mesh",
            Geometry::Heightmap { .. } => "heightmap",
            Geometry::Polyline { .. } => "polyline",
            Geometry::Empty => "empty",
        }
    }

    /// The smallest box along the shape's own axes that holds it, as its lowest and
    /// highest corner; `None` for what has no end or no extent.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let around = |half: Vec3| Some((-half, half));
        match self {
            Geometry::Box { size } => around(*size * 0.5),
            Geometry::Sphere { radius } => around(Vec3::splat(*radius)),
            Geometry::Cylinder { radius, length } | Geometry::Cone { radius, length } => {
                around(Vec3::new(*radius, *radius, length * 0.5))
            }
            Geometry::Capsule { radius, length } => {
                around(Vec3::new(*radius, *radius, length * 0.5 + radius))
            }
            Geometry::Ellipsoid { radii } => around(*radii),
            Geometry::Mesh { mesh, .. } => bounds_of(mesh.vertices().iter().copied()),
            Geometry::Heightmap { size, position, heights, .. } => {
                let lowest = heights.heights.iter().copied().fold(f64::INFINITY, f64::min);
                let highest = heights.heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let (half_x, half_y) = (size.x * 0.5, size.y * 0.5);
                Some((
                    *position + Vec3::new(-half_x, -half_y, lowest),
                    *position + Vec3::new(half_x, half_y, highest),
                ))
            }
            Geometry::Polyline { outlines, height } => {
                let corners =
                    outlines.iter().flatten().flat_map(|p| [p.extend(0.0), p.extend(*height)]);
                bounds_of(corners)
            }
            Geometry::Plane { .. } | Geometry::Empty => None,
        }
    }
}

/// Which outlines are filled, and the holes in each: the index of an outer outline with
/// those of its holes.
///
/// Even-odd: an outline inside an odd number of others is a hole, one inside an even number
/// is filled, and a hole belongs to the filled outline directly around it. Outlines are
/// taken not to cross, so the first point of each decides.
pub fn outline_groups(outlines: &[Vec<Vec2>]) -> Vec<(usize, Vec<usize>)> {
    let boxes: Vec<(Vec2, Vec2)> = outlines
        .iter()
        .map(|outline| {
            let none = (Vec2::splat(f64::INFINITY), Vec2::splat(f64::NEG_INFINITY));
            outline.iter().fold(none, |(low, high), p| (low.min(*p), high.max(*p)))
        })
        .collect();
    let is_around = |j: usize, i: usize| {
        let (low, high) = boxes[j];
        outlines[i].first().is_some_and(|p| {
            p.cmpge(low).all() && p.cmple(high).all() && encloses(&outlines[j], *p)
        })
    };
    let n = outlines.len();
    let around = |i: usize| (0..n).filter(move |j| *j != i && is_around(*j, i));
    let depths: Vec<usize> = (0..n).map(|i| around(i).count()).collect();
    let mut holes_of: Vec<Vec<usize>> = vec![Vec::new(); n];
    for hole in (0..n).filter(|i| !depths[*i].is_multiple_of(2)) {
        if let Some(owner) = around(hole).max_by_key(|j| depths[*j]) {
            holes_of[owner].push(hole);
        }
    }
    let filled = (0..n).filter(|i| depths[*i].is_multiple_of(2));
    filled.map(|i| (i, std::mem::take(&mut holes_of[i]))).collect()
}

/// Whether a point lies inside an outline, by counting the edges to its right.
fn encloses(outline: &[Vec2], point: Vec2) -> bool {
    let mut inside = false;
    for (i, a) in outline.iter().enumerate() {
        let b = outline[(i + 1) % outline.len()];
        if (a.y > point.y) != (b.y > point.y) {
            let x = a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x);
            inside ^= point.x < x;
        }
    }
    inside
}

fn bounds_of(points: impl Iterator<Item = Vec3>) -> Option<(Vec3, Vec3)> {
    points.fold(None, |bounds, p| match bounds {
        None => Some((p, p)),
        Some((low, high)) => Some((low.min(p), high.max(p))),
    })
}

/// The corners of a box given by its bounds, in another frame.
pub fn corners_in(outer_from_shape: Transform, bounds: (Vec3, Vec3)) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        let pick = |bit: usize, low: f64, high: f64| if i & bit == 0 { low } else { high };
        outer_from_shape.point(Vec3::new(
            pick(1, bounds.0.x, bounds.1.x),
            pick(2, bounds.0.y, bounds.1.y),
            pick(4, bounds.0.z, bounds.1.z),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64, y: f64, half: f64, clockwise: bool) -> Vec<Vec2> {
        let mut corners: Vec<Vec2> = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(a, b)| Vec2::new(x + a * half, y + b * half))
            .to_vec();
        if clockwise {
            corners.reverse();
        }
        corners
    }

    /// A target of rings and a square beside it, in an order that helps nobody, each
    /// outline running either way.
    #[test]
    fn holes_belong_to_the_outline_around_them() {
        for turned in 0..16u32 {
            let runs = |bit: u32| turned & (1 << bit) != 0;
            let outlines = [
                square(0.0, 0.0, 1.0, runs(0)),  // an island in the hole
                square(10.0, 0.0, 1.0, runs(1)), // beside
                square(0.0, 0.0, 2.0, runs(2)),  // the hole
                square(0.0, 0.0, 3.0, runs(3)),  // the rim
            ];
            let wanted = vec![(0, vec![]), (1, vec![]), (3, vec![2])];
            assert_eq!(outline_groups(&outlines), wanted);
        }
        assert_eq!(outline_groups(&[]), vec![]);
        assert_eq!(outline_groups(&[vec![]]), vec![(0, vec![])]);
    }
}
