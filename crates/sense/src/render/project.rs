//! Surfaces on the way to the image: a scene and a view go in, patches with formulas in pixel
//! coordinates come out.
//!
//! Every pixel is a ray. In a perspective view all rays start at the eye and their directions are
//! linear in the pixel (u, v); in a parallel one, for shadows, the directions are equal and the
//! origins are linear. *Nearness* w says how far a ray goes: 1/t in perspective, −t in parallel,
//! where t counts directions; larger is nearer. Then for both kinds of view
//!
//! - w of a plane is linear in (u, v);
//! - the volume that a ray spans with an edge is linear, and its sign says on which side of the
//!   edge the ray passes, also for edges that reach behind the eye: nothing is clipped;
//! - the ray meets a quadric where a quadratic Δ(u, v) is not negative, and there
//!   w = (β + √Δ)·k with β linear. Heights along the axis are s·w + L with L linear.
//!
//! So a pixel costs a few products and sums, and a root where it is round. Coefficients are made
//! in double precision; [`super::tile`] moves them to the corner of a piece of the image and
//! goes on in single.

use headland_base::maths::sqrt;
use headland_base::{Transform, Vec3};

use super::linear::{Linear, Quadratic, Rays};
use crate::camera::View;
use crate::scene::{Bounds, Mesh, Scene, Surface};

/// A rectangle of pixels, its right and bottom border not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub left: i32,
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
}

impl Rect {
    fn of(extent: [f64; 4], width: usize, height: usize) -> Rect {
        // Samples lie up to half a pixel from the centre.
        let low = |x: f64, n: usize| (x - 0.5).ceil().clamp(0.0, n as f64) as i32;
        let high = |x: f64, n: usize| ((x + 0.5).floor() + 1.0).clamp(0.0, n as f64) as i32;
        Rect {
            left: low(extent[0], width),
            top: low(extent[1], height),
            right: high(extent[2], width),
            bottom: high(extent[3], height),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }
}

/// The box around nothing: left, top, right, bottom \[pixels\].
const NOWHERE: [f64; 4] = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];

/// A box made so large that a pixel is in it.
fn around(out: [f64; 4], [u, v]: [f64; 2]) -> [f64; 4] {
    [out[0].min(u), out[1].min(v), out[2].max(u), out[3].max(v)]
}

/// How a patch is cut and how near it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// A flat piece inside of up to four edges.
    Flat { edges: [Linear; 4], n_edges: u8, w: Linear },
    /// A flat piece inside of a conic.
    Disc { inside: Quadratic, w: Linear },
    /// A piece of a quadric, between two heights where `slab`.
    Round { square: Quadratic, beta: Linear, k: f64, slab: Option<[(f64, Linear); 2]> },
}

/// A piece of surface in pixel coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch {
    pub form: Form,
    pub rect: Rect,
    /// Which item of the scene.
    pub item: u32,
    /// Which surface or triangle of it.
    pub part: u32,
}

/// An image plane and where patches land on it.
pub(crate) struct Canvas {
    pub rays: Rays,
    pub width: usize,
    pub height: usize,
    /// The optical frame, for the boxes around patches.
    optical_from_world: Transform,
    /// Pixel of (x/z, y/z): what the pinhole says; in parallel, of (x, y).
    pixel: [[f64; 3]; 2],
    near: f64,
}

impl Canvas {
    /// What a camera sees.
    pub fn of_view(view: &View) -> Canvas {
        let p = &view.pinhole;
        Canvas {
            rays: Rays::of_view(view),
            width: p.width,
            height: p.height,
            optical_from_world: view.world_from_optical.inverse(),
            pixel: [[p.focal.x, p.focal.x * p.skew, p.centre.x], [0.0, p.focal.y, p.centre.y]],
            near: view.near,
        }
    }

    /// What the light sees: parallel rays along +z of its frame, `size` metres a pixel, pixel
    /// (0, 0) at `corner` of the frame's x and y.
    pub fn parallel(
        world_from_light: Transform,
        corner: [f64; 2],
        size: f64,
        (width, height): (usize, usize),
    ) -> Canvas {
        let turn = |x: f64, y: f64, z: f64| world_from_light.vector(Vec3::new(x, y, z));
        let start = world_from_light.point(Vec3::new(corner[0], corner[1], 0.0));
        Canvas {
            rays: Rays {
                origin: [start, turn(size, 0.0, 0.0), turn(0.0, size, 0.0)],
                direction: [turn(0.0, 0.0, 1.0), Vec3::ZERO, Vec3::ZERO],
                is_parallel: true,
            },
            width,
            height,
            optical_from_world: world_from_light.inverse(),
            pixel: [[1.0 / size, 0.0, -corner[0] / size], [0.0, 1.0 / size, -corner[1] / size]],
            near: f64::NEG_INFINITY,
        }
    }

    /// The box around what is in front of the eye of a piece that lies between points of the optical
    /// frame. A piece that reaches behind it ends where it comes to be too near, on the way from some
    /// point in front to some behind. Without that whatever stands beside the eye would be looked for
    /// all over the picture, and a frame take the longer the more stands there.
    fn extent<const N: usize>(&self, points: [Vec3; N]) -> [f64; 4] {
        let mut out = NOWHERE;
        for p in points {
            if let Some(pixel) = self.pixel_of(p) {
                out = around(out, pixel);
                continue;
            }
            let nearest = self.nearest();
            for q in points.into_iter().filter(|q| q.z > nearest) {
                let cut = p + (q - p) * ((nearest - p.z) / (q.z - p.z));
                out = around(out, self.pixel_at(Vec3::new(cut.x, cut.y, nearest)));
            }
        }
        out
    }

    /// The box around a round piece between such points: where all of it is in front of the eye, the
    /// conic that it is in the picture says more.
    fn extent_of_conic<const N: usize>(&self, conic: &Quadratic, points: [Vec3; N]) -> [f64; 4] {
        let is_in_front = points.iter().all(|p| self.pixel_of(*p).is_some());
        let conic = conic.extent().filter(|_| is_in_front);
        conic.unwrap_or_else(|| self.extent(points))
    }

    /// Nothing nearer along the axis has a pixel.
    fn nearest(&self) -> f64 {
        self.near * 0.5
    }

    fn pixel_of(&self, p: Vec3) -> Option<[f64; 2]> {
        (self.rays.is_parallel || p.z >= self.nearest()).then(|| self.pixel_at(p))
    }

    fn pixel_at(&self, p: Vec3) -> [f64; 2] {
        let scale = if self.rays.is_parallel { 1.0 } else { 1.0 / p.z };
        let (x, y) = (p.x * scale, p.y * scale);
        self.pixel.map(|[a, b, c]| a * x + b * y + c)
    }

    fn rect(&self, extent: Option<[f64; 4]>) -> Rect {
        let all = [-1.0, -1.0, self.width as f64, self.height as f64];
        Rect::of(extent.unwrap_or(all), self.width, self.height)
    }

    /// Whether a box may be seen at all.
    fn may_see(&self, optical_from_item: Transform, bounds: Option<Bounds>) -> bool {
        let Some(bounds) = bounds else { return true };
        let corners =
            headland_world::geometry::corners_in(optical_from_item, (bounds.low, bounds.high));
        if !self.rays.is_parallel && corners.iter().all(|corner| corner.z < self.near) {
            return false;
        }
        !self.rect(Some(self.extent(corners))).is_empty()
    }

    /// Adds the patches of an item of the scene.
    pub fn add(&self, scene: &Scene, item_idx: usize, scratch: &mut Scratch, out: &mut Vec<Patch>) {
        let solid = &scene.items()[item_idx].solid;
        let world_from_item = scene.world_from_item(item_idx);
        if !world_from_item.is_finite() {
            return;
        }
        let optical_from_item = self.optical_from_world * world_from_item;
        if !self.may_see(optical_from_item, solid.bounds) {
            return;
        }
        let item = item_idx as u32;
        if let Some(mesh) = &solid.mesh {
            self.add_mesh(mesh, optical_from_item, item, scratch, out);
        }
        if solid.surfaces.is_empty() {
            return;
        }
        let rays = self.rays.moved(scene.item_from_world(item_idx));
        for (part, surface) in solid.surfaces.iter().enumerate() {
            if let Some((form, extent)) = self.surface(&rays, optical_from_item, surface) {
                let rect = self.rect(extent);
                if !rect.is_empty() {
                    out.push(Patch { form, rect, item, part: part as u32 });
                }
            }
        }
    }

    fn surface(
        &self,
        rays: &Rays,
        optical_from_item: Transform,
        surface: &Surface,
    ) -> Option<(Form, Option<[f64; 4]>)> {
        match *surface {
            Surface::Face { corners, normal, two_sided } => {
                let (w, is_front) = rays.plane(normal, normal.dot(corners[0]))?;
                if !is_front && !two_sided {
                    return None;
                }
                let side = |i: usize| {
                    let (a, b) = (corners[i], corners[(i + 1) % 4]);
                    if is_front { rays.edge(a, b).0 } else { rays.edge(b, a).0 }
                };
                let edges = std::array::from_fn(side);
                let extent = self.extent(corners.map(|corner| optical_from_item.point(corner)));
                Some((Form::Flat { edges, n_edges: 4, w }, Some(extent)))
            }
            Surface::Endless { normal } => {
                let (w, _) = rays.plane(normal, 0.0)?;
                Some((Form::Flat { edges: [Linear::default(); 4], n_edges: 0, w }, None))
            }
            Surface::Disc { z, radius, is_up } => {
                let normal = if is_up { Vec3::Z } else { -Vec3::Z };
                let (w, is_front) = rays.plane(normal, normal.z * z)?;
                if !is_front {
                    return None;
                }
                let (o, d) = (rays.origin[0], rays.direction[0]);
                let inside = if rays.is_parallel {
                    let x = rays.across(Vec3::X).plus(w.scaled(-d.x));
                    let y = rays.across(Vec3::Y).plus(w.scaled(-d.y));
                    let rim = Quadratic { c: radius * radius, ..Quadratic::default() };
                    rim.plus(x.squared(), -1.0).plus(y.squared(), -1.0)
                } else {
                    let x = rays.along(Vec3::X).plus(w.scaled(o.x));
                    let y = rays.along(Vec3::Y).plus(w.scaled(o.y));
                    w.scaled(radius).squared().plus(x.squared(), -1.0).plus(y.squared(), -1.0)
                };
                let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
                    .map(|(a, b)| optical_from_item.point(Vec3::new(a * radius, b * radius, z)));
                Some((Form::Disc { inside, w }, Some(self.extent_of_conic(&inside, corners))))
            }
            Surface::Quadric { q, centre, level, slab } => {
                let mut rays = *rays;
                rays.origin[0] -= centre;
                let (o, d) = (rays.origin[0], rays.direction[0]);
                let product = |f: [Vec3; 3]| Quadratic {
                    uu: (f[1] * q).dot(f[1]),
                    uv: 2.0 * (f[1] * q).dot(f[2]),
                    vv: (f[2] * q).dot(f[2]),
                    u: 2.0 * (f[0] * q).dot(f[1]),
                    v: 2.0 * (f[0] * q).dot(f[2]),
                    c: (f[0] * q).dot(f[0]),
                };
                let (square, beta, k) = if rays.is_parallel {
                    let (a, b) = ((d * q).dot(d), rays.across(d * q));
                    let mut c = product(rays.origin);
                    c.c -= level;
                    (b.squared().plus(c, -a), b, 1.0 / a)
                } else {
                    let c = (o * q).dot(o) - level;
                    let b = rays.along(o * q);
                    (b.squared().plus(product(rays.direction), -c), b.scaled(-1.0), 1.0 / c)
                };
                if !k.is_finite() {
                    return None;
                }
                let bounds_of_slab = (slab.0 > f64::NEG_INFINITY).then_some(slab);
                let height = |z: f64| match rays.is_parallel {
                    true => {
                        let mut along_axis = rays.across(Vec3::Z);
                        along_axis.c += centre.z - z;
                        (-d.z, along_axis)
                    }
                    false => (o.z + centre.z - z, rays.along(Vec3::Z)),
                };
                let slab = bounds_of_slab.map(|(low, high)| [height(low), height(high)]);
                let reach = |z: f64| match level > 0.0 {
                    true => 1.0 / sqrt(q.x),
                    false => (centre.z - z).abs() * sqrt(-q.z / q.x),
                };
                let extent = match bounds_of_slab {
                    Some((low, high)) => {
                        let rims: [Vec3; 8] = std::array::from_fn(|i| {
                            let z = if i < 4 { low } else { high };
                            let r = reach(z);
                            let (x, y) = [(-r, -r), (r, -r), (r, r), (-r, r)][i % 4];
                            optical_from_item.point(Vec3::new(x, y, z))
                        });
                        self.extent(rims)
                    }
                    None => {
                        let r = Vec3::new(1.0 / sqrt(q.x), 1.0 / sqrt(q.y), 1.0 / sqrt(q.z));
                        let box_ = (centre - r, centre + r);
                        let corners = headland_world::geometry::corners_in(optical_from_item, box_);
                        self.extent_of_conic(&square, corners)
                    }
                };
                Some((Form::Round { square, beta, k, slab }, Some(extent)))
            }
        }
    }

    fn add_mesh(
        &self,
        mesh: &Mesh,
        optical_from_item: Transform,
        item: u32,
        scratch: &mut Scratch,
        out: &mut Vec<Patch>,
    ) {
        let rays = self.rays.moved(self.optical_from_world);
        scratch.points.clear();
        scratch.points.extend(mesh.corners().iter().map(|corner| {
            let point = optical_from_item.point(*corner);
            (point, self.pixel_of(point))
        }));
        for (part, triangle) in mesh.triangles().iter().enumerate() {
            let corners = triangle.map(|i| scratch.points[i as usize]);
            let in_front =
                corners.iter().try_fold(NOWHERE, |out, (_, pixel)| Some(around(out, (*pixel)?)));
            let extent = in_front.unwrap_or_else(|| self.extent(corners.map(|(point, _)| point)));
            let rect = self.rect(Some(extent));
            if rect.is_empty() {
                continue;
            }
            let [a, b, c] = corners.map(|(point, _)| point);
            let normal = (b - a).cross(c - a);
            let Some((w, is_front)) = rays.plane(normal, normal.dot(a)) else { continue };
            if !is_front && mesh.is_closed() {
                continue;
            }
            let (b, c) = if is_front { (b, c) } else { (c, b) };
            let sides = [rays.edge(a, b), rays.edge(b, c), rays.edge(c, a)];
            let edges = [sides[0].0, sides[1].0, sides[2].0, Linear::default()];
            let form = Form::Flat { edges, n_edges: 3, w };
            out.push(Patch { form, rect, item, part: part as u32 });
        }
    }
}

/// Room to work in, kept from frame to frame.
#[derive(Default)]
pub(crate) struct Scratch {
    points: Vec<(Vec3, Option<[f64; 2]>)>,
}

#[cfg(test)]
mod tests {
    use headland_world::{Geometry, Link, Material, Model, Visual, World};

    use super::*;
    use crate::camera::Pinhole;
    use crate::scene::Show;

    /// The rectangles of a thing's patches, seen from the origin along x: 160 × 120 pixels.
    fn rects(geometry: Geometry, at: Vec3) -> Vec<Rect> {
        let visual = Visual {
            name: "visual".to_string(),
            link_from_shape: Transform::IDENTITY,
            geometry,
            material: Material::default(),
            transparency: 0.0,
            cast_shadows: true,
        };
        let model = Model {
            name: "thing".to_string(),
            is_static: true,
            parent_from_model: Transform::from_translation(at),
            links: vec![Link {
                name: "link".to_string(),
                visuals: vec![visual],
                ..Link::default()
            }],
            ..Model::default()
        };
        let world = World { models: vec![model], ..World::default() };
        let scene = Scene::of(&world, Show::Visuals);
        let view = View::look_at(Pinhole::from_fov(160, 120, 1.0), Vec3::ZERO, Vec3::X);
        let mut out = Vec::new();
        Canvas::of_view(&view).add(&scene, 0, &mut Scratch::default(), &mut out);
        out.into_iter().map(|patch| patch.rect).collect()
    }

    /// What stands beside the eye reaches behind it and in front of it, and is not in the picture.
    #[test]
    fn what_stands_beside_the_eye_is_nowhere() {
        for y in [-2.0, 2.0, 40.0] {
            for geometry in [
                Geometry::Box { size: Vec3::splat(0.5) },
                Geometry::Sphere { radius: 0.25 },
                Geometry::Capsule { radius: 0.2, length: 0.5 },
                Geometry::Cylinder { radius: 0.2, length: 0.5 },
            ] {
                assert_eq!(rects(geometry.clone(), Vec3::new(0.0, y, 0.0)), [], "{geometry:?}");
            }
        }
    }

    /// A wall to the left, from far behind to far in front, is in the left half only.
    #[test]
    fn what_reaches_behind_the_eye_is_where_it_is_in_front() {
        let wall = Geometry::Box { size: Vec3::new(100.0, 0.1, 1.0) };
        let rects = rects(wall, Vec3::new(0.0, 1.0, 0.0));
        assert!(!rects.is_empty(), "it is seen");
        for rect in rects {
            // Its near side ends 50 m ahead and 0.95 m to the left.
            let last = 79.5 - 0.95 / 50.0 * 80.0 / headland_base::maths::tan(0.5);
            assert!(rect.left == 0, "{rect:?}");
            assert!((f64::from(rect.right) - 1.0 - last).abs() < 2.0, "{rect:?}, not {last}");
        }
    }
}
