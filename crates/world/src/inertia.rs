//! Mass and inertia, and how we know them: given by the file, or derived from the
//! collision shapes and a density.

use std::collections::BTreeMap;

use headland_base::maths::{PI, Vec2, sqrt};
use headland_base::{Diagnostic, Mat3, Transform, Vec3};

use crate::geometry::{Geometry, TriMesh, outline_groups};
use crate::world::Collision;

/// Mass, centre of mass and inertia of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Inertial {
    /// \[kg\]
    pub mass: f64,
    /// Where the inertial frame (its origin is the centre of mass) is in the link's.
    pub link_from_inertial: Transform,
    /// About the centre of mass, in the inertial frame \[kg·m²\]; symmetric.
    pub inertia: Mat3,
    /// Who says so.
    pub origin: InertiaOrigin,
}

/// How we know an inertia.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InertiaOrigin {
    /// The file gives it.
    Given,
    /// Nobody gave it: SDF's default of 1 kg and 1 kg·m².
    Default,
    /// Computed from the collision shapes at this density \[kg/m³\].
    Derived {
        /// The density used.
        density: f64,
    },
}

impl Default for Inertial {
    fn default() -> Inertial {
        Inertial {
            mass: 1.0,
            link_from_inertial: Transform::IDENTITY,
            inertia: Mat3::IDENTITY,
            origin: InertiaOrigin::Default,
        }
    }
}

impl Inertial {
    /// In the place of one that could not be read or computed, which is reported: nobody is
    /// to say as well that the link has none.
    pub(crate) fn stand_in() -> Inertial {
        Inertial { origin: InertiaOrigin::Given, ..Inertial::default() }
    }
}

/// Mass, centre and inertia of shapes filled with one material.
///
/// Shapes that overlap count twice, as in SDF's automatic inertia. The inertial frame
/// stands at the centre of mass with the link's orientation.
pub fn derive(collisions: &[Collision], density: f64) -> Result<Inertial, Diagnostic> {
    is_density(density)?;
    let parts: Vec<_> = collisions.iter().map(|collision| (collision, density)).collect();
    derive_each(&parts)
}

/// The same with a density per shape; the result is labelled with their mean.
pub(crate) fn derive_each(parts: &[(&Collision, f64)]) -> Result<Inertial, Diagnostic> {
    let first = parts.first().map_or(1.0, |(_, own)| *own);
    let is_uniform = parts.iter().all(|(_, own)| *own == first);
    parts.iter().try_for_each(|(_, own)| is_density(*own))?;
    // Moments of solids that differ are summed as if each were so many times as large.
    let common = if is_uniform { first } else { 1.0 };
    let (mut whole, mut cubic_metres) = (Moments::default(), 0.0);
    for (collision, own) in parts {
        let volume = volume_of(&collision.geometry).map_err(|why| {
            let kind = collision.geometry.kind();
            let message = format!("no mass can be derived from the {kind} `{}`", collision.name);
            Diagnostic::error("no-volume", message).note(why).help("give the link an <inertial>")
        })?;
        cubic_metres += volume.volume;
        whole.add(&volume.times(own / common).moved(&collision.link_from_shape));
    }
    if whole.volume <= 0.0 {
        return Err(Diagnostic::error("no-volume", "no mass can be derived without a shape")
            .help("give the link an <inertial> or a collision"));
    }
    let (mass, centre, inertia) = whole.at_density(common);
    if !(mass.is_finite() && centre.is_finite() && inertia.is_finite()) {
        return Err(Diagnostic::error("no-volume", "the shapes are too large to give a mass"));
    }
    Ok(Inertial {
        mass,
        link_from_inertial: Transform::from_translation(centre),
        inertia,
        origin: InertiaOrigin::Derived {
            density: if is_uniform { first } else { mass / cubic_metres },
        },
    })
}

fn is_density(density: f64) -> Result<(), Diagnostic> {
    if density.is_finite() && density > 0.0 {
        return Ok(());
    }
    let message = format!("a density of {density} kg/m³ gives no mass");
    Err(Diagnostic::error("bad-density", message).help("water is 1000, steel 7850"))
}

/// Volume integrals about a frame's origin: of 1, of position, and of its products.
///
/// They add: two solids side by side are the sum of their moments, so parallel axes need
/// no formula of their own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    /// ∫ dV
    pub volume: f64,
    /// ∫ p dV
    pub first: Vec3,
    /// ∫ p pᵀ dV
    pub second: Mat3,
}

impl Default for Moments {
    fn default() -> Moments {
        Moments { volume: 0.0, first: Vec3::ZERO, second: Mat3::ZERO }
    }
}

impl Moments {
    /// Of a shape about its own frame, or why it has none.
    pub fn of(geometry: &Geometry) -> Result<Moments, String> {
        volume_of(geometry)
    }

    /// Of the inside of a closed surface.
    pub fn of_mesh(mesh: &TriMesh) -> Result<Moments, String> {
        closed_mesh(mesh)
    }

    /// The same solid, so many times as dense.
    pub fn times(&self, factor: f64) -> Moments {
        Moments {
            volume: self.volume * factor,
            first: self.first * factor,
            second: self.second * factor,
        }
    }

    /// A solid centred on the origin and symmetric about its axes: ∫ x², y², z² dV.
    fn centred(volume: f64, squares: Vec3) -> Moments {
        Moments { volume, first: Vec3::ZERO, second: Mat3::from_diagonal(squares) }
    }

    /// Two solids side by side.
    pub fn add(&mut self, other: &Moments) {
        self.volume += other.volume;
        self.first += other.first;
        self.second += other.second;
    }

    /// The same solid, written in the outer frame.
    pub fn moved(&self, outer_from_shape: &Transform) -> Moments {
        let turn = Mat3::from_quat(outer_from_shape.rotation);
        let (shift, first) = (outer_from_shape.translation, turn * self.first);
        let crossed = outer(first, shift);
        Moments {
            volume: self.volume,
            first: first + shift * self.volume,
            second: turn * self.second * turn.transpose()
                + crossed
                + crossed.transpose()
                + outer(shift, shift) * self.volume,
        }
    }

    /// Mass, centre of mass, and inertia about it.
    pub fn at_density(&self, density: f64) -> (f64, Vec3, Mat3) {
        let centre = self.first / self.volume;
        let about_centre = self.second - outer(centre, centre) * self.volume;
        // I = ∫ (p·p 1 − p pᵀ) ρ dV
        let trace = about_centre.x_axis.x + about_centre.y_axis.y + about_centre.z_axis.z;
        let inertia = (Mat3::from_diagonal(Vec3::splat(trace)) - about_centre) * density;
        (self.volume * density, centre, symmetric(inertia))
    }
}

/// a bᵀ
pub(crate) fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn symmetric(m: Mat3) -> Mat3 {
    (m + m.transpose()) * 0.5
}

fn volume_of(geometry: &Geometry) -> Result<Moments, String> {
    let moments = match geometry {
        Geometry::Box { size } => {
            let volume = size.x * size.y * size.z;
            Moments::centred(volume, *size * *size * (volume / 12.0))
        }
        Geometry::Sphere { radius } => ellipsoid(Vec3::splat(*radius)),
        Geometry::Ellipsoid { radii } => ellipsoid(*radii),
        Geometry::Cylinder { radius, length } => cylinder(*radius, *length),
        Geometry::Capsule { radius, length } => capsule(*radius, *length),
        Geometry::Cone { radius, length } => cone(*radius, *length),
        Geometry::Mesh { mesh, .. } => closed_mesh(mesh)?,
        Geometry::Polyline { outlines, height } => prism(outlines, *height)?,
        Geometry::Plane { .. } => return Err("a plane has no thickness".into()),
        Geometry::Heightmap { .. } => return Err("a heightmap has no underside".into()),
        Geometry::Empty => return Err("it has no extent".into()),
    };
    if moments.volume > 0.0 && moments.volume.is_finite() {
        Ok(moments)
    } else {
        Err(format!("its volume is {} m³", moments.volume))
    }
}

fn ellipsoid(radii: Vec3) -> Moments {
    let volume = 4.0 / 3.0 * PI * radii.x * radii.y * radii.z;
    Moments::centred(volume, radii * radii * (volume / 5.0))
}

fn cylinder(radius: f64, length: f64) -> Moments {
    let volume = PI * radius * radius * length;
    let across = volume * radius * radius / 4.0;
    Moments::centred(volume, Vec3::new(across, across, volume * length * length / 12.0))
}

/// A cylinder and two half balls, whose centres lie 3/8 of the radius beyond its ends.
fn capsule(radius: f64, length: f64) -> Moments {
    let mut whole = cylinder(radius, length);
    let half_volume = 2.0 / 3.0 * PI * radius * radius * radius;
    let across = half_volume * radius * radius / 5.0;
    let half = length * 0.5;
    // ∫ (half + z)² over the half ball: half² + 2·half·(3/8 r) + r²/5, times its volume.
    let along = half_volume * (half * half + 0.75 * half * radius + radius * radius / 5.0);
    let two_halves = Vec3::new(across, across, along) * 2.0;
    whole.add(&Moments::centred(2.0 * half_volume, two_halves));
    whole
}

/// Base at −length/2, so its centre of mass is at −length/4.
fn cone(radius: f64, length: f64) -> Moments {
    let volume = PI * radius * radius * length / 3.0;
    let across = volume * radius * radius * 3.0 / 20.0;
    // From the tip at +length/2: ∫ s² dV = 3/5 length² V, mean of s = 3/4 length.
    let along = volume * length * length * (3.0 / 5.0 - 3.0 / 4.0 + 1.0 / 4.0);
    Moments {
        volume,
        first: Vec3::new(0.0, 0.0, -volume * length / 4.0),
        second: Mat3::from_diagonal(Vec3::new(across, across, along)),
    }
}

/// Signed tetrahedra from the origin to each triangle; right for any closed surface.
fn closed_mesh(mesh: &TriMesh) -> Result<Moments, String> {
    let mut edges = BTreeMap::new();
    for triangle in mesh.triangles() {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            *edges.entry((triangle[a], triangle[b])).or_insert(0i64) += 1;
            *edges.entry((triangle[b], triangle[a])).or_insert(0i64) -= 1;
        }
    }
    // Closed: along every edge, as many triangles run one way as the other.
    let n_open = edges.values().filter(|n| **n > 0).count();
    if n_open > 0 {
        return Err(format!("its surface is not closed: {n_open} edges have one side only"));
    }
    // Far from the origin the tetrahedra are large and cancel; a corner of the mesh is near.
    let near = mesh.vertices()[0];
    let mut whole = Moments::default();
    for triangle in mesh.triangles() {
        let [a, b, c] = triangle.map(|i| mesh.vertices()[i as usize] - near);
        whole.add(&tetrahedron(a, b, c));
    }
    if whole.volume < 0.0 {
        return Err("its triangles face inwards, so its volume is negative".into());
    }
    Ok(whole.moved(&Transform::from_translation(near)))
}

/// The tetrahedron of the origin and three corners, negative when seen from inside.
fn tetrahedron(a: Vec3, b: Vec3, c: Vec3) -> Moments {
    let volume = a.dot(b.cross(c)) / 6.0;
    let sum = a + b + c;
    Moments {
        volume,
        first: sum * (volume / 4.0),
        second: (outer(a, a) + outer(b, b) + outer(c, c) + outer(sum, sum)) * (volume / 20.0),
    }
}

/// Outlines drawn out along z, without their holes, whichever way each runs.
fn prism(outlines: &[Vec<Vec2>], height: f64) -> Result<Moments, String> {
    let area = |i: usize| {
        let moments = flat_moments(&outlines[i]);
        if moments.volume < 0.0 { moments.times(-1.0) } else { moments }
    };
    let mut whole = Moments::default();
    for (outer, holes) in outline_groups(outlines) {
        whole.add(&area(outer));
        for hole in holes {
            whole.add(&area(hole).times(-1.0));
        }
    }
    // ∫ over z from 0 to height.
    let half = height * 0.5;
    let (first, flat) = (whole.first, whole.second);
    let z_mixed = Vec3::new(first.x, first.y, 0.0) * (height * half);
    let mut second = flat * height + outer(z_mixed, Vec3::Z) + outer(Vec3::Z, z_mixed);
    second.z_axis.z += whole.volume * height * height * height / 3.0;
    Ok(Moments {
        volume: whole.volume * height,
        first: first * height + Vec3::Z * (whole.volume * height * half),
        second,
    })
}

/// Area integrals of a polygon at z = 0, by signed triangles from the origin.
fn flat_moments(outline: &[Vec2]) -> Moments {
    let mut whole = Moments::default();
    for (i, a) in outline.iter().enumerate() {
        let b = outline[(i + 1) % outline.len()];
        let area = (a.x * b.y - a.y * b.x) * 0.5;
        let (a, b) = (a.extend(0.0), b.extend(0.0));
        let sum = a + b;
        whole.add(&Moments {
            volume: area,
            first: sum * (area / 3.0),
            second: (outer(a, a) + outer(b, b) + outer(sum, sum)) * (area / 12.0),
        });
    }
    whole
}

/// The principal moments of a symmetric inertia, smallest first; see [`principal`].
pub fn principal_moments(inertia: &Mat3) -> [f64; 3] {
    let (mut moments, _) = principal(inertia);
    moments.sort_by(f64::total_cmp);
    moments
}

/// Principal moments of a symmetric inertia and the rotation whose columns are their axes,
/// by Jacobi rotations: each turns one off-diagonal entry to zero, and a few sweeps leave
/// none. Portable, unlike an eigenvalue routine of the platform.
pub fn principal(inertia: &Mat3) -> ([f64; 3], Mat3) {
    let mut a = symmetric(*inertia).to_cols_array_2d();
    let mut axes = Mat3::IDENTITY;
    let scale = a.iter().flatten().fold(0.0f64, |most, x| most.max(x.abs()));
    // Cubic convergence: real inertias need four sweeps, nothing finite needs thirty.
    for _ in 0..30 {
        let largest = a[0][1].abs().max(a[0][2].abs()).max(a[1][2].abs());
        if largest <= scale * 1e-17 || !largest.is_finite() {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let sign = if theta < 0.0 { -1.0 } else { 1.0 };
            let t = sign / (theta.abs() + sqrt(theta * theta + 1.0));
            let c = 1.0 / sqrt(t * t + 1.0);
            let s = t * c;
            let mut turn = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            (turn[p][p], turn[q][q], turn[p][q], turn[q][p]) = (c, c, -s, s);
            let turn = Mat3::from_cols_array_2d(&turn);
            let turned = turn.transpose() * Mat3::from_cols_array_2d(&a) * turn;
            a = symmetric(turned).to_cols_array_2d();
            (a[p][q], a[q][p]) = (0.0, 0.0);
            axes *= turn;
        }
    }
    ([a[0][0], a[1][1], a[2][2]], axes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Surface;
    use headland_base::maths::{TAU, cos, quat_from_rpy, sin};
    use std::sync::Arc;

    fn shape(geometry: Geometry) -> Collision {
        Collision {
            name: "shape".into(),
            link_from_shape: Transform::IDENTITY,
            geometry,
            surface: Surface::default(),
        }
    }

    fn mesh_shape(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Geometry {
        Geometry::Mesh {
            uri: "made".into(),
            scale: Vec3::ONE,
            submesh: None,
            mesh: Arc::new(TriMesh::new(vertices, triangles).unwrap()),
            convex: false,
        }
    }

    /// A solid of revolution from (radius, z) of its profile, bottom to top, first and
    /// last on the axis.
    fn turned(profile: &[(f64, f64)], n_around: u32, stretch: Vec3) -> Geometry {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for (radius, z) in profile {
            for i in 0..n_around {
                let angle = TAU * f64::from(i) / f64::from(n_around);
                vertices.push(Vec3::new(radius * cos(angle), radius * sin(angle), *z) * stretch);
            }
        }
        for ring in 0..profile.len() as u32 - 1 {
            for i in 0..n_around {
                let (a, b) = (ring * n_around + i, ring * n_around + (i + 1) % n_around);
                triangles.push([a, b, b + n_around]);
                triangles.push([a, b + n_around, a + n_around]);
            }
        }
        // The first and the last ring are points: weld them, or the surface is open there.
        let last = (profile.len() as u32 - 1) * n_around;
        let welded = |i: u32| match i {
            i if i < n_around => 0,
            i if i >= last => last,
            i => i,
        };
        let triangles = triangles
            .into_iter()
            .map(|t| t.map(welded))
            .filter(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0])
            .collect();
        mesh_shape(vertices, triangles)
    }

    fn relative_difference(a: &Inertial, b: &Inertial) -> f64 {
        let scale = principal_moments(&a.inertia)[2];
        let inertia =
            (a.inertia - b.inertia).to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let centre = a.link_from_inertial.translation.distance(b.link_from_inertial.translation);
        ((a.mass - b.mass).abs() / a.mass).max(inertia / scale).max(centre)
    }

    /// Two independent roads: the closed form, and the tetrahedra of a fine triangulation,
    /// which lies inside the solid by about (π/n)²/2.
    #[test]
    fn closed_forms_agree_with_tetrahedra() {
        let arc = |centre_z: f64, from: f64, to: f64, r: f64| {
            (0..=200).map(move |i| {
                let angle = from + (to - from) * f64::from(i) / 200.0;
                (r * cos(angle), centre_z + r * sin(angle))
            })
        };
        let quarter = TAU / 4.0;
        let ball: Vec<_> = arc(0.0, -quarter, quarter, 1.0).collect();
        let pill: Vec<_> =
            arc(-0.6, -quarter, 0.0, 0.3).chain(arc(0.6, 0.0, quarter, 0.3)).collect();
        let disc = [(0.0, -0.7), (0.4, -0.7), (0.4, 0.7), (0.0, 0.7)];
        let spike = [(0.0, -0.7), (0.4, -0.7), (0.0, 0.7)];
        let radii = Vec3::new(0.3, 0.5, 0.9);
        let pairs = [
            (Geometry::Ellipsoid { radii }, turned(&ball, 400, radii)),
            (Geometry::Sphere { radius: 0.8 }, turned(&ball, 400, Vec3::splat(0.8))),
            (Geometry::Capsule { radius: 0.3, length: 1.2 }, turned(&pill, 400, Vec3::ONE)),
            (Geometry::Cylinder { radius: 0.4, length: 1.4 }, turned(&disc, 400, Vec3::ONE)),
            (Geometry::Cone { radius: 0.4, length: 1.4 }, turned(&spike, 400, Vec3::ONE)),
        ];
        for (closed, fine) in pairs {
            let a = derive(&[shape(closed.clone())], 700.0).unwrap();
            let b = derive(&[shape(fine)], 700.0).unwrap();
            let difference = relative_difference(&a, &b);
            assert!(difference < 3e-4, "{}: {difference}", closed.kind());
        }
    }

    fn box_mesh(size: Vec3) -> Geometry {
        let vertices = crate::geometry::corners_in(Transform::IDENTITY, (size * -0.5, size * 0.5));
        let quads =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
        mesh_shape(vertices.to_vec(), triangles.collect())
    }

    #[test]
    fn a_box_is_a_mesh_is_a_prism() {
        let size = Vec3::new(0.2, 0.5, 1.1);
        let plain = derive(&[shape(Geometry::Box { size })], 1000.0).unwrap();
        assert!(
            relative_difference(&plain, &derive(&[shape(box_mesh(size))], 1000.0).unwrap()) < 1e-12
        );
        let outline =
            [(-0.1, -0.25), (0.1, -0.25), (0.1, 0.25), (-0.1, 0.25)].map(|(x, y)| Vec2::new(x, y));
        let prism = Geometry::Polyline { outlines: vec![outline.to_vec()], height: 1.1 };
        let mut lowered = shape(prism);
        lowered.link_from_shape = Transform::from_translation(Vec3::new(0.0, 0.0, -0.55));
        assert!(relative_difference(&plain, &derive(&[lowered], 1000.0).unwrap()) < 1e-12);
    }

    #[test]
    fn a_hole_is_what_is_missing_whichever_way_it_runs() {
        let square = |half: f64, turned: bool| {
            let mut outline = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                .map(|(x, y)| Vec2::new(x, y) * half);
            if turned {
                outline.reverse();
            }
            outline.to_vec()
        };
        let solid = |outlines| shape(Geometry::Polyline { outlines, height: 0.3 });
        for turned in [false, true] {
            let frame = solid(vec![square(1.0, false), square(0.5, turned)]);
            let both = derive(&[frame, solid(vec![square(0.5, false)])], 10.0).unwrap();
            let full = derive(&[solid(vec![square(1.0, true)])], 10.0).unwrap();
            assert!(relative_difference(&full, &both) < 1e-12);
        }
    }

    /// Outlines side by side are two solids, each with its own hole, in any order and
    /// running any way.
    #[test]
    fn outlines_side_by_side_each_count() {
        let square = |x: f64, half: f64, turned: bool| {
            let mut outline = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                .map(|(a, b)| Vec2::new(x + a * half, b * half));
            if turned {
                outline.reverse();
            }
            outline.to_vec()
        };
        let prism = |outlines| shape(Geometry::Polyline { outlines, height: 0.5 });
        for turned in [false, true] {
            let both = prism(vec![
                square(5.0, 0.5, turned),
                square(-5.0, 1.0, false),
                square(5.0, 2.0, !turned),
            ]);
            let apart = [
                prism(vec![square(-5.0, 1.0, true)]),
                prism(vec![square(5.0, 2.0, true), square(5.0, 0.5, true)]),
            ];
            let both = derive(&[both], 2.0).unwrap();
            assert!((both.mass - (4.0 + 16.0 - 1.0) * 0.5 * 2.0).abs() < 1e-12);
            assert!(relative_difference(&both, &derive(&apart, 2.0).unwrap()) < 1e-12);
        }
    }

    #[test]
    fn two_halves_add_to_the_whole() {
        let half = |x: f64| Collision {
            link_from_shape: Transform::from_translation(Vec3::new(x, 0.0, 0.0)),
            ..shape(Geometry::Box { size: Vec3::new(0.5, 0.3, 0.2) })
        };
        let whole =
            derive(&[shape(Geometry::Box { size: Vec3::new(1.0, 0.3, 0.2) })], 2.0).unwrap();
        assert!(
            relative_difference(&whole, &derive(&[half(-0.25), half(0.25)], 2.0).unwrap()) < 1e-12
        );
    }

    /// Moving the link's frame moves the centre and turns the inertia, nothing else.
    #[test]
    fn a_turned_shape_has_a_turned_inertia() {
        let at = Transform::new(quat_from_rpy(0.4, -1.1, 2.3), Vec3::new(3.0, -2.0, 0.5));
        for geometry in [
            Geometry::Cone { radius: 0.3, length: 0.8 },
            box_mesh(Vec3::new(0.2, 0.5, 1.1)),
            Geometry::Capsule { radius: 0.1, length: 0.8 },
        ] {
            let own = derive(&[shape(geometry.clone())], 900.0).unwrap();
            let moved = Collision { link_from_shape: at, ..shape(geometry) };
            let moved = derive(&[moved], 900.0).unwrap();
            let turn = Mat3::from_quat(at.rotation);
            let wanted = Inertial {
                link_from_inertial: Transform::from_translation(
                    at.point(own.link_from_inertial.translation),
                ),
                inertia: turn * own.inertia * turn.transpose(),
                ..own.clone()
            };
            assert!(relative_difference(&moved, &wanted) < 1e-11);
            let (a, b) = (principal_moments(&own.inertia), principal_moments(&moved.inertia));
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-11 * a));
        }
    }

    #[test]
    fn principal_moments_are_the_ones_that_were_turned_away() {
        for moments in [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0], [1e-9, 5.0, 5.0], [0.0, 0.0, 0.0]] {
            let turn = Mat3::from_quat(quat_from_rpy(0.7, 0.2, -2.9));
            let inertia = turn * Mat3::from_diagonal(Vec3::from_array(moments)) * turn.transpose();
            for (found, wanted) in principal_moments(&inertia).iter().zip(moments) {
                assert!((found - wanted).abs() < 1e-14, "{found} for {wanted}");
            }
            let (values, axes) = principal(&inertia);
            let again = axes * Mat3::from_diagonal(Vec3::from_array(values)) * axes.transpose();
            assert!((again - inertia).to_cols_array().iter().all(|x| x.abs() < 1e-14));
        }
        assert!(principal_moments(&Mat3::from_diagonal(Vec3::NAN))[0].is_nan());
    }

    #[test]
    fn what_has_no_inside_is_refused_with_words() {
        let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
        let flat = mesh_shape(corners.clone(), vec![[0, 1, 2], [0, 2, 1]]);
        let open = mesh_shape(corners, vec![[0, 1, 2]]);
        let plane = Geometry::Plane { normal: Vec3::Z, size: Vec2::ONE };
        for (geometry, word) in [
            (open, "not closed"),
            (flat, "volume is 0"),
            (plane, "no thickness"),
            (Geometry::Empty, "no extent"),
        ] {
            let diagnostic = derive(&[shape(geometry)], 1.0).unwrap_err();
            assert_eq!(diagnostic.code, "no-volume");
            assert!(diagnostic.notes[0].contains(word), "{diagnostic:?}");
        }
        assert_eq!(derive(&[], 1.0).unwrap_err().code, "no-volume");
        assert_eq!(derive(&[], f64::NAN).unwrap_err().code, "bad-density");
    }
}
