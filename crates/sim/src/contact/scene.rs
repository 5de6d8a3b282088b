//! The scene: every shape of a model that can touch something, compiled once.
//!
//! Constant. Poses come with each call of [`Detector::detect`](super::Detector::detect).

use std::collections::BTreeMap;

use headland_base::maths::sqrt;
use headland_base::{Diagnostic, Transform, Vec3};

use super::form::Form;
use super::scope::ContactScope;
use crate::hull;
use crate::model::{Model, Motion};
use crate::touch::TouchFilter;

/// Everything about contact that does not change while a world moves.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Every part of every shape, bodies in the model's order. Never a plane.
    pub(super) shapes: Vec<SceneShape>,
    /// Planes: they have no end, so they stand apart and are asked first.
    pub(super) planes: Vec<SceneShape>,
    /// Sets of shapes that never touch one another: ranges of `shapes`.
    pub(super) clusters: Vec<Cluster>,
    pub(super) n_rigids: usize,
    filter: TouchFilter,
    scope: ContactScope,
}

/// One part of one shape.
#[derive(Clone, Debug)]
pub(super) struct SceneShape {
    /// Its rank among all parts, planes included: contacts come in this order.
    pub(super) idx: u32,
    pub(super) body_idx: usize,
    /// Which of the body's shapes.
    pub(super) shape_idx: usize,
    pub(super) rigid_idx: usize,
    pub(super) is_dynamic: bool,
    pub(super) mask: u32,
    pub(super) rigid_from_shape: Transform,
    pub(super) form: Form,
    /// A ball around it: centre in the rigid's frame, and in its own, and radius \[m\].
    pub(super) centre_in_rigid: Vec3,
    pub(super) centre: Vec3,
    pub(super) radius: f64,
    /// Half lengths of the box around it, about `centre` and along its own axes \[m\].
    pub(super) half: Vec3,
}

/// Shapes that never touch one another: those of a robot that does not collide with itself, or
/// else those of one rigid.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) is_dynamic: bool,
}

impl Scene {
    /// Compiles a model within a scope. What cannot be built is left out here and said by
    /// [`Scene::check`].
    pub fn of(model: &Model, scope: &ContactScope) -> Scene {
        let mut listed: Vec<((usize, usize), SceneShape)> = Vec::new();
        let mut planes = Vec::new();
        let mut idx = 0;
        // A robot goes by its first body.
        let mut robots: BTreeMap<&str, usize> = BTreeMap::new();
        for (body_idx, body) in model.bodies.iter().enumerate() {
            if !scope.holds(body_idx) {
                continue;
            }
            for (part_of, form_in_rigid) in parts_of(model, body_idx) {
                let shape = scene_shape(model, body_idx, part_of, idx, form_in_rigid);
                idx += 1;
                if matches!(shape.form, Form::Plane { .. }) {
                    planes.push(shape);
                } else {
                    let robot = *robots.entry(&body.robot).or_insert(body_idx);
                    listed.push((cluster_key(model, body_idx, robot), shape));
                }
            }
        }
        listed.sort_by_key(|(key, shape)| (*key, shape.idx));
        let clusters = clusters_of(&listed);
        Scene {
            shapes: listed.into_iter().map(|(_, shape)| shape).collect(),
            planes,
            clusters,
            n_rigids: model.rigids.len(),
            filter: TouchFilter::of(model),
            scope: scope.clone(),
        }
    }

    /// What cannot be touched as it is, said before a run.
    pub fn check(model: &Model) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        for body in &model.bodies {
            let is_fixed = model.rigids[body.rigid_idx].motion == Motion::Static;
            for shape in &body.shapes {
                let name = &body.name;
                if Form::parts(&shape.geometry, is_fixed).is_none() {
                    let kind = shape.geometry.kind();
                    let message = format!("link `{name}`: nothing to touch comes of its {kind}");
                    out.push(Diagnostic::error("bad-shape", message));
                }
                if let headland_world::Geometry::Mesh { mesh, convex, .. } = &shape.geometry
                    && (*convex || !is_fixed)
                {
                    out.extend(hull::check(name, mesh.vertices()));
                    let message =
                        format!("link `{name}` moves: its mesh touches as its convex hull");
                    out.extend((!convex).then(|| Diagnostic::remark("realised", message)));
                }
            }
        }
        out
    }

    /// Parts of shapes that are looked at, planes included.
    pub fn n_shapes(&self) -> usize {
        self.shapes.len() + self.planes.len()
    }

    /// Whether two parts may touch: one of them moves by forces, their masks share a bit, and
    /// neither the world nor the scope rules it out.
    pub(super) fn may_touch(&self, a: &SceneShape, b: &SceneShape) -> bool {
        (a.is_dynamic || b.is_dynamic)
            && a.mask & b.mask != 0
            && self.filter.may_touch(a.body_idx, b.body_idx)
            && (!self.scope.has_pairs_off() || self.scope.holds_pair(a.body_idx, b.body_idx))
    }
}

/// The parts of a body's shapes, each with the index of its shape, placed in the rigid.
fn parts_of(model: &Model, body_idx: usize) -> Vec<(usize, (Transform, Form))> {
    let body = &model.bodies[body_idx];
    let is_fixed = model.rigids[body.rigid_idx].motion == Motion::Static;
    let mut out = Vec::new();
    for (shape_idx, shape) in body.shapes.iter().enumerate() {
        let rigid_from_shape = body.rigid_from_body * shape.body_from_shape;
        for (shape_from_part, form) in Form::parts(&shape.geometry, is_fixed).unwrap_or_default() {
            out.push((shape_idx, (rigid_from_shape * shape_from_part, form)));
        }
    }
    out
}

fn scene_shape(
    model: &Model,
    body_idx: usize,
    shape_idx: usize,
    idx: u32,
    (rigid_from_shape, form): (Transform, Form),
) -> SceneShape {
    let body = &model.bodies[body_idx];
    let (low, high) = form.bounds().unwrap_or((Vec3::ZERO, Vec3::ZERO));
    let (centre, half) = ((low + high) * 0.5, (high - low) * 0.5);
    SceneShape {
        idx,
        body_idx,
        shape_idx,
        rigid_idx: body.rigid_idx,
        is_dynamic: model.rigids[body.rigid_idx].motion == Motion::Dynamic,
        mask: body.shapes[shape_idx].surface.collide_bitmask(),
        centre_in_rigid: rigid_from_shape.point(centre),
        radius: ball_radius(&form, half),
        rigid_from_shape,
        form,
        centre,
        half,
    }
}

/// Radius of a ball about the middle of its bounds.
fn ball_radius(form: &Form, half: Vec3) -> f64 {
    match form {
        Form::Sphere { radius } => *radius,
        Form::Capsule { half_length, radius } => half_length + radius,
        Form::Ellipsoid { radii } => radii.max_element(),
        Form::Cylinder { half_length, radius } | Form::Cone { half_length, radius } => {
            sqrt(half_length * half_length + radius * radius)
        }
        _ => sqrt(half.dot(half)),
    }
}

/// Bodies with the same key never touch one another.
fn cluster_key(model: &Model, body_idx: usize, robot: usize) -> (usize, usize) {
    let body = &model.bodies[body_idx];
    let is_dynamic = model.rigids[body.rigid_idx].motion == Motion::Dynamic;
    if body.self_collide || !is_dynamic { (body.rigid_idx, 1) } else { (robot, 0) }
}

fn clusters_of(listed: &[((usize, usize), SceneShape)]) -> Vec<Cluster> {
    let mut out: Vec<Cluster> = Vec::new();
    for (i, (key, shape)) in listed.iter().enumerate() {
        match out.last_mut() {
            Some(cluster) if i > 0 && listed[i - 1].0 == *key => {
                cluster.end = i + 1;
                cluster.is_dynamic |= shape.is_dynamic;
            }
            _ => out.push(Cluster { first: i, end: i + 1, is_dynamic: shape.is_dynamic }),
        }
    }
    out
}
