//! Forms: a geometry as collision queries see it, in its own frame, along its own z.
//!
//! ```text
//! Geometry ─ Form::parts ─► convex forms · plane · triangles · heights
//! convex form ─ support, face ─► the queries of convex.rs
//! ```
//!
//! A convex form is a *core* and a radius around it: a sphere is a point, a capsule a
//! segment, everything else has no radius. Deliberately absent: poses.

use std::sync::Arc;

use headland_base::maths::{FRAC_PI_2, cos, quat_from_axis_angle, sin, sqrt};
use headland_base::{Transform, Vec3};
use headland_world::{Geometry, HeightGrid, TriMesh};
use parry3d_f64::shape::{
    ConvexPolyhedron, HeightField, HeightFieldFlags, SupportMap, TriMesh as Triangles, TriMeshFlags,
};
use parry3d_f64::utils::Array2;

use super::polygon::Polygon;
use crate::form::prisms;
use crate::hull;

/// A geometry as collision queries see it. Lengths in metres.
#[derive(Clone, Debug)]
pub enum Form {
    /// Everything below a plane through the origin.
    Plane {
        /// Unit normal, out of the solid side.
        normal: Vec3,
    },
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A cylinder along z with a half ball on each end.
    Capsule {
        /// Half the length between the centres of the half balls.
        half_length: f64,
        /// Radius.
        radius: f64,
    },
    /// A box.
    Box {
        /// Half lengths.
        half: Vec3,
    },
    /// A disc drawn out along z.
    Cylinder {
        /// Half length.
        half_length: f64,
        /// Radius.
        radius: f64,
    },
    /// Base at -half_length, tip at +half_length on z.
    Cone {
        /// Half length.
        half_length: f64,
        /// Radius of the base.
        radius: f64,
    },
    /// A ball stretched along x, y, z.
    Ellipsoid {
        /// Half axes.
        radii: Vec3,
    },
    /// A convex polyhedron.
    Hull(Arc<ConvexPolyhedron>),
    /// One triangle of a surface.
    Facet {
        /// Counter-clockwise seen from outside.
        corners: [Vec3; 3],
    },
    /// Triangles of something that does not move, solid behind each.
    Triangles(Arc<Triangles>),
    /// Heights over x and z, y up: parry's own frame, which [`Form::parts`] places.
    Heights(Arc<HeightField>),
}

impl Form {
    /// The parts of a geometry and where they are in its frame; `None` where no body can be
    /// made of it. A mesh that moves touches as its convex hull, as in every engine.
    pub fn parts(geometry: &Geometry, is_fixed: bool) -> Option<Vec<(Transform, Form)>> {
        let plain = |form| Some(vec![(Transform::IDENTITY, form)]);
        match geometry {
            Geometry::Box { size } => plain(Form::Box { half: *size * 0.5 }),
            Geometry::Sphere { radius } => plain(Form::Sphere { radius: *radius }),
            Geometry::Cylinder { radius, length } => {
                plain(Form::Cylinder { half_length: length * 0.5, radius: *radius })
            }
            Geometry::Capsule { radius, length } => {
                plain(Form::Capsule { half_length: length * 0.5, radius: *radius })
            }
            Geometry::Cone { radius, length } => {
                plain(Form::Cone { half_length: length * 0.5, radius: *radius })
            }
            Geometry::Ellipsoid { radii } if radii.x == radii.y && radii.y == radii.z => {
                plain(Form::Sphere { radius: radii.x })
            }
            Geometry::Ellipsoid { radii } => plain(Form::Ellipsoid { radii: *radii }),
            Geometry::Plane { normal, .. } => plain(Form::Plane { normal: *normal }),
            Geometry::Mesh { mesh, convex, .. } if *convex || !is_fixed => {
                plain(hull_of(&hull::thinned(mesh.vertices()))?)
            }
            Geometry::Mesh { mesh, .. } => plain(triangles_of(mesh)?),
            Geometry::Heightmap { size, position, heights, .. } => {
                // Takes parry's y axis to our z.
                let upright = Transform::from_rotation(quat_from_axis_angle(Vec3::X, FRAC_PI_2));
                let placed = Transform::from_translation(*position) * upright;
                Some(vec![(placed, heights_of(*size, heights))])
            }
            Geometry::Polyline { outlines, height } => {
                let prisms = prisms(outlines, *height);
                let hull = |corners: &[Vec3; 6]| Some((Transform::IDENTITY, hull_of(corners)?));
                (!prisms.is_empty()).then(|| prisms.iter().map(hull).collect())?
            }
            Geometry::Empty => Some(Vec::new()),
        }
    }

    /// The smallest box along its own axes that holds it, lowest and highest corner; `None`
    /// for a plane.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let around = |half: Vec3| Some((-half, half));
        match self {
            Form::Plane { .. } => None,
            Form::Sphere { radius } => around(Vec3::splat(*radius)),
            Form::Capsule { half_length, radius } => {
                around(Vec3::new(*radius, *radius, half_length + radius))
            }
            Form::Box { half } => around(*half),
            Form::Cylinder { half_length, radius } | Form::Cone { half_length, radius } => {
                around(Vec3::new(*radius, *radius, *half_length))
            }
            Form::Ellipsoid { radii } => around(*radii),
            Form::Hull(hull) => {
                let first = hull.points()[0];
                let grow = |(low, high): (Vec3, Vec3), p: &Vec3| (low.min(*p), high.max(*p));
                Some(hull.points().iter().fold((first, first), grow))
            }
            Form::Facet { corners: [p, q, r] } => Some((p.min(*q).min(*r), p.max(*q).max(*r))),
            Form::Triangles(mesh) => Some((mesh.local_aabb().mins, mesh.local_aabb().maxs)),
            Form::Heights(field) => Some((field.root_aabb().mins, field.root_aabb().maxs)),
        }
    }

    /// The radius around its core \[m\].
    pub(super) fn rounding(&self) -> f64 {
        match self {
            Form::Sphere { radius } | Form::Capsule { radius, .. } => *radius,
            _ => 0.0,
        }
    }

    /// The point of its core that lies furthest along `dir`, which need not be of unit length.
    pub(super) fn core_support(&self, dir: Vec3) -> Vec3 {
        match self {
            Form::Capsule { half_length, .. } => Vec3::new(0.0, 0.0, half_length.copysign(dir.z)),
            Form::Box { half } => {
                Vec3::new(half.x.copysign(dir.x), half.y.copysign(dir.y), half.z.copysign(dir.z))
            }
            Form::Cylinder { half_length, radius } => {
                rim(*radius, dir).with_z(half_length.copysign(dir.z))
            }
            Form::Cone { half_length, radius } => {
                let base = rim(*radius, dir).with_z(-*half_length);
                let tip = Vec3::new(0.0, 0.0, *half_length);
                if tip.dot(dir) > base.dot(dir) { tip } else { base }
            }
            Form::Ellipsoid { radii } => {
                // The gradient of (x/a)² + … is parallel to dir at (a²·dx, …)/|(a·dx, …)|.
                let stretched = *radii * dir;
                let length = sqrt(stretched.dot(stretched));
                let x_axis = Vec3::new(radii.x, 0.0, 0.0);
                if length > 0.0 { *radii * stretched / length } else { x_axis }
            }
            Form::Hull(hull) => hull.local_support_point(dir),
            Form::Facet { corners: [p, q, r] } => {
                let best = if q.dot(dir) > p.dot(dir) { q } else { p };
                if r.dot(dir) > best.dot(dir) { *r } else { *best }
            }
            Form::Sphere { .. } | Form::Plane { .. } => Vec3::ZERO,
            Form::Triangles(_) | Form::Heights(_) => Vec3::ZERO,
        }
    }

    /// The unit normal of what is flat about it near the unit vector `dir`, to the last bit: of
    /// a face, or of the straight line up a round side.
    pub(super) fn flat_normal(&self, dir: Vec3) -> Option<Vec3> {
        match self {
            Form::Box { .. } => {
                let mut normal = Vec3::ZERO;
                let axis = longest(dir.abs());
                normal[axis] = 1.0_f64.copysign(dir[axis]);
                Some(normal)
            }
            Form::Capsule { .. } => flat_unit(dir),
            Form::Cylinder { .. } if dir.z.abs() > LEVEL => Some(Vec3::Z * dir.z.signum()),
            Form::Cylinder { .. } => flat_unit(dir),
            Form::Cone { half_length, radius } => {
                let length = sqrt(4.0 * half_length * half_length + radius * radius);
                let (out, up) = (2.0 * half_length / length, radius / length);
                let side = flat_unit(dir).map(|flat| (flat * out).with_z(up));
                side.filter(|side| side.dot(dir) > -dir.z).or(Some(-Vec3::Z))
            }
            Form::Hull(hull) => Some(hull.faces()[hull_face_towards(hull, dir)].normal),
            Form::Facet { corners: [p, q, r] } => {
                let normal = (*q - *p).cross(*r - *p).try_normalize()?;
                Some(if normal.dot(dir) < 0.0 { -normal } else { normal })
            }
            _ => None,
        }
    }

    /// Shows the unit normals of its faces.
    pub(super) fn each_face_normal(&self, mut see: impl FnMut(Vec3)) {
        let mut both = |normal: Vec3| {
            see(normal);
            see(-normal);
        };
        match self {
            Form::Box { .. } => [Vec3::X, Vec3::Y, Vec3::Z].into_iter().for_each(both),
            Form::Cylinder { .. } => both(Vec3::Z),
            Form::Cone { .. } => see(-Vec3::Z),
            Form::Hull(hull) => hull.faces().iter().for_each(|face| see(face.normal)),
            Form::Facet { .. } => self.flat_normal(Vec3::Z).into_iter().for_each(both),
            _ => {}
        }
    }

    /// The face, edge or point of its core that looks along the unit vector `dir`. Round
    /// faces become polygons of `n_round` corners that start towards `hint`.
    pub(super) fn core_face(&self, dir: Vec3, hint: Vec3, n_round: usize, out: &mut Polygon) {
        out.clear();
        match self {
            Form::Box { half } => box_face(*half, dir, out),
            Form::Capsule { half_length, .. } => {
                out.push(Vec3::new(0.0, 0.0, -half_length));
                out.push(Vec3::new(0.0, 0.0, *half_length));
            }
            // A side is seen up to 45° from the level.
            Form::Cylinder { half_length, radius } if dir.z.abs() > LEVEL => {
                disc(*radius, half_length.copysign(dir.z), dir, hint, n_round, out);
            }
            Form::Cylinder { half_length, radius } => {
                let side = rim(*radius, dir);
                out.push(side.with_z(-half_length));
                out.push(side.with_z(*half_length));
            }
            Form::Cone { half_length, radius } => {
                // The side's outward normal climbs by radius over length.
                let length = sqrt(4.0 * half_length * half_length + radius * radius);
                let flat = sqrt(dir.x * dir.x + dir.y * dir.y);
                let along_side = (flat * 2.0 * half_length + dir.z * radius) / length;
                if along_side > -dir.z {
                    out.push(rim(*radius, dir).with_z(-half_length));
                    out.push(Vec3::new(0.0, 0.0, *half_length));
                } else {
                    disc(*radius, -half_length, dir, hint, n_round, out);
                }
            }
            Form::Hull(hull) => hull_face(hull, dir, out),
            Form::Facet { corners } => corners.iter().for_each(|corner| out.push(*corner)),
            _ => out.push(self.core_support(dir)),
        }
    }
}

/// Sine of 45°.
const LEVEL: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The point of a circle about z furthest along `dir`.
fn rim(radius: f64, dir: Vec3) -> Vec3 {
    let flat = sqrt(dir.x * dir.x + dir.y * dir.y);
    if flat > 0.0 {
        Vec3::new(dir.x * radius / flat, dir.y * radius / flat, 0.0)
    } else {
        Vec3::new(radius, 0.0, 0.0)
    }
}

/// A direction with its z taken away, of unit length.
fn flat_unit(dir: Vec3) -> Option<Vec3> {
    dir.with_z(0.0).try_normalize()
}

/// The index of the largest entry, the first of equal ones.
pub(super) fn longest(size: Vec3) -> usize {
    if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    }
}

fn box_face(half: Vec3, dir: Vec3, out: &mut Polygon) {
    let axis = longest(dir.abs());
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    for (su, sv) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        let mut corner = Vec3::ZERO;
        corner[axis] = half[axis].copysign(dir[axis]);
        corner[u] = su * half[u];
        corner[v] = sv * half[v];
        out.push(corner);
    }
}

/// A disc at height `z` as a polygon with its first corner towards `hint`, or towards `dir`
/// where the hint lies on the axis. Corners are on the rim.
fn disc(radius: f64, z: f64, dir: Vec3, hint: Vec3, n_corners: usize, out: &mut Polygon) {
    let is_off_axis = hint.x * hint.x + hint.y * hint.y > 1e-12 * radius * radius;
    let is_tilted = dir.x * dir.x + dir.y * dir.y > TILTED * TILTED;
    let start = match (is_tilted, is_off_axis) {
        (true, _) => rim(1.0, dir),
        (false, true) => rim(1.0, hint),
        (false, false) => Vec3::X,
    };
    for i in 0..n_corners {
        let turn = 2.0 * headland_base::maths::PI * i as f64 / n_corners as f64;
        let (s, c) = quarter_exact(turn, i * 4, n_corners);
        let (x, y) = (start.x * c - start.y * s, start.x * s + start.y * c);
        out.push(Vec3::new(radius * x, radius * y, z));
    }
}

/// Sine and cosine, exact at quarter turns, so that a square on a rim is one to the last bit.
fn quarter_exact(turn: f64, quarters_num: usize, quarters_den: usize) -> (f64, f64) {
    if quarters_num.is_multiple_of(quarters_den) {
        match quarters_num / quarters_den {
            0 => (0.0, 1.0),
            1 => (1.0, 0.0),
            2 => (0.0, -1.0),
            _ => (-1.0, 0.0),
        }
    } else {
        (sin(turn), cos(turn))
    }
}

/// Tilts below this \[rad\] are rounding: which point of a flat disc lies deepest is then
/// nobody's business, and points fixed in the disc keep still.
pub(super) const TILTED: f64 = 1e-6;

fn hull_face_towards(hull: &ConvexPolyhedron, dir: Vec3) -> usize {
    let mut best = (f64::NEG_INFINITY, 0);
    for (i, face) in hull.faces().iter().enumerate() {
        let along = face.normal.dot(dir);
        if along > best.0 {
            best = (along, i);
        }
    }
    best.1
}

fn hull_face(hull: &ConvexPolyhedron, dir: Vec3, out: &mut Polygon) {
    let face = &hull.faces()[hull_face_towards(hull, dir)];
    let (first, n) = (face.first_vertex_or_edge as usize, face.num_vertices_or_edges as usize);
    let corners = &hull.vertices_adj_to_face()[first..first + n];
    // Of very many corners every few are taken.
    let stride = n.div_ceil(Polygon::N_MAX / 2).max(1);
    corners.iter().step_by(stride).for_each(|&corner| out.push(hull.points()[corner as usize]));
}

fn hull_of(points: &[Vec3]) -> Option<Form> {
    Some(Form::Hull(Arc::new(ConvexPolyhedron::from_convex_hull(points)?)))
}

fn triangles_of(mesh: &TriMesh) -> Option<Form> {
    // Contacts with the edges between two triangles of one flat face would trip a sliding box.
    let flags = TriMeshFlags::FIX_INTERNAL_EDGES;
    let (vertices, triangles) = (mesh.vertices().to_vec(), mesh.triangles().to_vec());
    Some(Form::Triangles(Arc::new(Triangles::with_flags(vertices, triangles, flags).ok()?)))
}

/// Parry's field lies over x and z with y up; after the turn upright its z is our −y, so its
/// first row is our last.
fn heights_of(size: Vec3, heights: &HeightGrid) -> Form {
    let (n_rows, n_columns) = (heights.n_rows(), heights.n_columns());
    let mut data = Vec::with_capacity(n_rows * n_columns); // column by column
    for column in 0..n_columns {
        data.extend((0..n_rows).rev().map(|row| heights.height(column, row)));
    }
    let scale = Vec3::new(size.x, 1.0, size.y);
    let flags = HeightFieldFlags::FIX_INTERNAL_EDGES;
    Form::Heights(Arc::new(HeightField::with_flags(
        Array2::new(n_rows, n_columns, data),
        scale,
        flags,
    )))
}

/// What parry's own search asks of a form: the furthest point of its core.
impl SupportMap for Form {
    fn local_support_point(&self, dir: Vec3) -> Vec3 {
        self.core_support(dir)
    }
}
