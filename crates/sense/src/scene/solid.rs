//! Shapes as what a ray can meet: a form of the World goes in, a few surfaces come out.
//!
//! | form | surfaces |
//! |---|---|
//! | box | six flat faces |
//! | sphere, ellipsoid | one quadric |
//! | cylinder | a quadric between two heights, two discs |
//! | capsule | a quadric between two heights, two spheres |
//! | cone | a quadric between two heights, a disc |
//! | plane | one flat face, or one without end |
//! | mesh, heightmap, polyline | triangles under a tree |
//!
//! The renderers draw the same surfaces that rays meet, not triangles that come near them: a
//! ball is round at every distance, and depth is the distance a ray would go.
//!
//! Of a closed surface only the outside is seen. A camera inside a body therefore looks out of
//! it, and so does the beam of a lidar inside its housing. Planes, heightmaps and open meshes are
//! seen from both sides.

use std::sync::Arc;

use headland_base::Vec3;
use headland_base::maths::{Vec2, quat_between, sqrt};
use headland_sim::form;
use headland_world::Geometry;

use super::bvh::{Bounds, Ray};
use super::mesh::{Mesh, Shear};

/// One surface of a shape, in the shape's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Surface {
    /// A flat face of four corners, counter-clockwise seen from outside.
    Face {
        /// The corners.
        corners: [Vec3; 4],
        /// Outwards.
        normal: Vec3,
        /// Seen from behind too.
        two_sided: bool,
    },
    /// A plane through the origin without end, seen from both sides.
    Endless {
        /// Unit normal.
        normal: Vec3,
    },
    /// A disc across the z axis.
    Disc {
        /// Where on the axis.
        z: f64,
        /// How large.
        radius: f64,
        /// Whether its outside is up.
        is_up: bool,
    },
    /// Where `Σ qᵢ·(pᵢ − centreᵢ)² = level`, between two heights; greater is outside.
    Quadric {
        /// The three factors.
        q: Vec3,
        /// The middle.
        centre: Vec3,
        /// 1 of a ball or a tube, 0 of a cone.
        level: f64,
        /// Lowest and highest z; infinite where there is no end.
        slab: (f64, f64),
    },
}

impl Surface {
    /// Where a ray meets it from outside, and the normal there on the ray's side.
    pub(crate) fn cast(&self, ray: &Ray) -> Option<(f64, Vec3)> {
        let (o, d) = (ray.origin, ray.direction);
        let (distance, normal) = match *self {
            Surface::Face { corners, normal, two_sided } => {
                if !two_sided && d.dot(normal) >= 0.0 {
                    return None; // from behind: half of the faces of a box
                }
                let corners = corners.map(|corner| corner - o);
                let shear = Shear::along(d);
                if !shear.is_around(&corners.map(|corner| shear.flat(corner)), !two_sided) {
                    return None;
                }
                (corners[0].dot(normal) / d.dot(normal), normal)
            }
            Surface::Endless { normal } => (-o.dot(normal) / d.dot(normal), normal),
            Surface::Disc { z, radius, is_up } => {
                if is_up != (o.z > z) || (d.z < 0.0) != is_up {
                    return None;
                }
                let distance = (z - o.z) / d.z;
                let (x, y) = (o.x + distance * d.x, o.y + distance * d.y);
                if x * x + y * y > radius * radius {
                    return None;
                }
                (distance, if is_up { Vec3::Z } else { -Vec3::Z })
            }
            Surface::Quadric { q, centre, level, slab } => {
                let o = o - centre;
                let (a, b, c) = ((d * q).dot(d), (d * q).dot(o), (o * q).dot(o) - level);
                let square = b * b - a * c;
                if square < 0.0 || c == 0.0 {
                    return None;
                }
                // The root at which the ray goes from outside to inside.
                let distance = c / (sqrt(square) - b);
                let p = o + d * distance;
                if !(p.z + centre.z >= slab.0 && p.z + centre.z <= slab.1) {
                    return None;
                }
                let normal = p * q;
                let length = sqrt(normal.dot(normal));
                (distance, if length > 0.0 { normal / length } else { Vec3::Z })
            }
        };
        if !(distance >= ray.min && distance <= ray.max) {
            return None;
        }
        Some((distance, if d.dot(normal) <= 0.0 { normal } else { -normal }))
    }
}

/// What a shape is made of.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Its surfaces, where it has no triangles.
    pub surfaces: Vec<Surface>,
    /// Its triangles.
    pub mesh: Option<Arc<Mesh>>,
    /// Around it in its own frame; `None` for what has no end.
    pub bounds: Option<Bounds>,
}

/// Whether planes end where a World says they are drawn, or not at all, as they are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Planes {
    /// As they are seen.
    Drawn,
    /// As they are touched.
    Endless,
}

impl Solid {
    /// Of a form; `None` where there is nothing to see.
    pub fn of(geometry: &Geometry, planes: Planes) -> Option<Solid> {
        let (surfaces, bounds) = match geometry {
            Geometry::Box { size } => (box_faces(*size * 0.5), around(*size * 0.5)),
            Geometry::Sphere { radius } => {
                (vec![ellipsoid(Vec3::splat(*radius), 0.0)], around(Vec3::splat(*radius)))
            }
            Geometry::Ellipsoid { radii } => (vec![ellipsoid(*radii, 0.0)], around(*radii)),
            Geometry::Cylinder { radius, length } => {
                let half = length * 0.5;
                let discs = [(half, true), (-half, false)].map(|(z, is_up)| Surface::Disc {
                    z,
                    radius: *radius,
                    is_up,
                });
                let surfaces = std::iter::once(tube(*radius, half)).chain(discs).collect();
                (surfaces, around(Vec3::new(*radius, *radius, half)))
            }
            Geometry::Capsule { radius, length } => {
                let half = length * 0.5;
                let ball = |z: f64| ellipsoid(Vec3::splat(*radius), z);
                let surfaces = vec![tube(*radius, half), ball(half), ball(-half)];
                (surfaces, around(Vec3::new(*radius, *radius, half + radius)))
            }
            Geometry::Cone { radius, length } => {
                let (half, slope) = (length * 0.5, radius / length);
                let side = Surface::Quadric {
                    q: Vec3::new(1.0, 1.0, -slope * slope),
                    centre: Vec3::new(0.0, 0.0, half),
                    level: 0.0,
                    slab: (-half, half),
                };
                let base = Surface::Disc { z: -half, radius: *radius, is_up: false };
                (vec![side, base], around(Vec3::new(*radius, *radius, half)))
            }
            Geometry::Plane { normal, size } if planes == Planes::Drawn => {
                let corners = drawn_plane(*normal, *size * 0.5);
                let face = Surface::Face { corners, normal: *normal, two_sided: true };
                (vec![face], Some(Bounds::of(corners)))
            }
            Geometry::Plane { normal, .. } => (vec![Surface::Endless { normal: *normal }], None),
            Geometry::Mesh { mesh, .. } => {
                let (corners, triangles) = (mesh.vertices().to_vec(), mesh.triangles().to_vec());
                let places = mesh.texture_places().to_vec();
                return Some(Solid::of_mesh(Mesh::textured(corners, triangles, places)));
            }
            Geometry::Heightmap { size, position, heights, .. } => {
                let form::Triangles { mut corners, triangles } =
                    form::height_surface(*size, heights);
                corners.iter_mut().for_each(|corner| *corner += *position);
                return Some(Solid::of_mesh(Mesh::new(corners, triangles)));
            }
            Geometry::Polyline { outlines, height } => {
                let form::Triangles { corners, triangles } = form::prism_surface(outlines, *height);
                let is_any = !triangles.is_empty();
                return is_any.then(|| Solid::of_mesh(Mesh::new(corners, triangles)));
            }
            Geometry::Empty => return None,
        };
        Some(Solid { surfaces, mesh: None, bounds })
    }

    /// Whether there is a sheet in it, a plane: it is a ground or a wall, and has no inside.
    pub(crate) fn is_sheet(&self) -> bool {
        let is_one = |surface: &Surface| {
            matches!(surface, Surface::Endless { .. } | Surface::Face { two_sided: true, .. })
        };
        self.surfaces.iter().any(is_one)
    }

    /// Of triangles.
    pub fn of_mesh(mesh: Mesh) -> Solid {
        Solid { bounds: Some(mesh.bounds()), surfaces: Vec::new(), mesh: Some(Arc::new(mesh)) }
    }

    /// Where a ray, in the shape's frame, meets it first, and the normal there.
    pub fn cast(&self, ray: &Ray) -> Option<(f64, Vec3)> {
        let mut ray = *ray;
        let mut best = None;
        if let Some(met) = self.mesh.as_ref().and_then(|mesh| mesh.cast(&ray)) {
            best = Some((met.distance, met.normal));
            ray.max = met.distance;
        }
        for surface in &self.surfaces {
            if let Some(met) = surface.cast(&ray) {
                best = Some(met);
                ray.max = met.0;
            }
        }
        best
    }
}

fn around(half: Vec3) -> Option<Bounds> {
    Some(Bounds { low: -half, high: half })
}

fn ellipsoid(radii: Vec3, z: f64) -> Surface {
    Surface::Quadric {
        q: Vec3::ONE / (radii * radii),
        centre: Vec3::new(0.0, 0.0, z),
        level: 1.0,
        slab: (f64::NEG_INFINITY, f64::INFINITY),
    }
}

fn tube(radius: f64, half: f64) -> Surface {
    let q = 1.0 / (radius * radius);
    Surface::Quadric {
        q: Vec3::new(q, q, 0.0),
        centre: Vec3::ZERO,
        level: 1.0,
        slab: (-half, half),
    }
}

fn box_faces(half: Vec3) -> Vec<Surface> {
    let mut out = Vec::with_capacity(6);
    for axis in 0..3 {
        let mut unit = [Vec3::X, Vec3::Y, Vec3::Z];
        unit.rotate_left(axis);
        let [out_of, right, up] = unit;
        for side in [1.0, -1.0] {
            let turns = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            let mut corners = turns.map(|(a, b)| (out_of * side + right * a + up * b) * half);
            if side < 0.0 {
                corners.reverse();
            }
            out.push(Surface::Face { corners, normal: out_of * side, two_sided: false });
        }
    }
    out
}

/// The corners of a plane as it is drawn: a sheet across z, turned the short way to its normal.
fn drawn_plane(normal: Vec3, half: Vec2) -> [Vec3; 4] {
    // Opposite to z every axis is as short as any other; Gazebo takes x, and so does this.
    let turn = quat_between(Vec3::Z, normal);
    let turns = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    turns.map(|(a, b)| turn * Vec3::new(a * half.x, b * half.y, 0.0))
}
