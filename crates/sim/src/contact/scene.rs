//! The scene: every shape of a model that can touch something, compiled once.
//!
//! Constant. Poses come with each call of [`Detector::detect`](super::Detector::detect).

use std::collections::BTreeMap;

use headland_base::maths::sqrt;
use headland_base::{Diagnostic, Transform, Vec3};

use super::form::Form;
use super::movers::Movers;
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
    /// The shapes of each rigid.
    pub(super) clusters: Vec<Cluster>,
    /// Clusters that are swept together.
    pub(super) groups: Vec<Group>,
    /// Pairs of clusters within a group that may touch, group by group.
    pub(super) inner: Vec<(u32, u32)>,
    pub(super) n_rigids: usize,
    filter: TouchFilter,
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
    pub(super) mover: Mover,
    /// Which categories it collides with, and which it is of.
    mask: u32,
    category: u32,
    /// Shapes of one robot share a number.
    robot: usize,
    pub(super) rigid_from_shape: Transform,
    pub(super) form: Form,
    /// A ball around it: centre in the rigid's frame, and in its own, and radius \[m\].
    pub(super) centre_in_rigid: Vec3,
    pub(super) centre: Vec3,
    pub(super) radius: f64,
    /// Half lengths of the box around it, about `centre` and along its own axes \[m\].
    pub(super) half: Vec3,
}

/// What moves a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mover {
    Forces,
    /// Forces, but all of its robot at once.
    ForcesOnWhole,
    /// It goes where it is told.
    Orders,
    Nothing,
}

/// The shapes of one rigid, which never touch one another: a range of the scene's shapes.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) rigid_idx: usize,
    /// A ball around all of them, in the rigid's frame.
    pub(super) centre_in_rigid: Vec3,
    pub(super) radius: f64,
    /// Radius of a ball about the rigid's own origin.
    pub(super) reach: f64,
}

/// The clusters of one robot, or one by itself: a range of the scene's clusters.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) mover: Mover,
    /// Which of [`Scene::inner`] are its own.
    pub(super) inner: std::ops::Range<usize>,
}

/// A robot of more clusters than this is swept cluster by cluster: asking every pair of them
/// would cost the square.
const N_CLUSTERS_MAX: usize = 32;

impl Scene {
    /// How far from its origin the shapes of each rigid reach \[m\].
    pub fn reaches(&self) -> impl Iterator<Item = (usize, f64)> {
        self.clusters.iter().map(|cluster| (cluster.rigid_idx, cluster.reach))
    }

    /// Compiles a model whose bodies are moved so. What cannot be built is left out here and said by
    /// [`Scene::check`].
    pub fn of(model: &Model, movers: &Movers) -> Scene {
        let mut shapes: Vec<SceneShape> = Vec::new();
        let mut planes = Vec::new();
        let mut idx = 0;
        // A robot goes by its first body.
        let mut robots: BTreeMap<&str, usize> = BTreeMap::new();
        for (body_idx, body) in model.bodies.iter().enumerate() {
            let robot = *robots.entry(&body.robot).or_insert(body_idx);
            for (part_of, form_in_rigid) in parts_of(model, body_idx) {
                let mut shape = scene_shape(model, body_idx, part_of, idx, form_in_rigid);
                idx += 1;
                shape.robot = robot;
                if shape.mover == Mover::Forces {
                    shape.mover = mover_of(movers, body_idx);
                }
                let list = if shape.is_plane() { &mut planes } else { &mut shapes };
                list.push(shape);
            }
        }
        shapes.sort_by_key(|shape| (shape.robot, shape.rigid_idx, shape.idx));
        let mut scene = Scene {
            clusters: clusters_of(&shapes),
            groups: Vec::new(),
            inner: Vec::new(),
            shapes,
            planes,
            n_rigids: model.rigids.len(),
            filter: TouchFilter::of(model),
        };
        scene.group();
        scene
    }

    /// Puts the clusters of a robot together, and lists which of them may touch one another.
    fn group(&mut self) {
        let robot_of = |cluster: &Cluster| self.shapes[cluster.first].robot;
        let mut first = 0;
        while first < self.clusters.len() {
            let shape = &self.shapes[self.clusters[first].first];
            let own = self.clusters[first..].iter().map(robot_of);
            let n_own = own.take_while(|robot| *robot == shape.robot).count();
            let mover = shape.mover;
            let is_one = |cluster: &Cluster| self.shapes[cluster.first].mover == mover;
            let goes_together = mover != Mover::Nothing
                && n_own <= N_CLUSTERS_MAX
                && self.clusters[first..first + n_own].iter().all(is_one);
            let size = if goes_together { n_own } else { 1 };
            for group_first in (first..first + n_own).step_by(size) {
                let mover = self.shapes[self.clusters[group_first].first].mover;
                let first_inner = self.inner.len();
                for i in group_first..group_first + size {
                    let partners = (i + 1..group_first + size).filter(|j| self.may_meet(i, *j));
                    let pairs: Vec<(u32, u32)> = partners.map(|j| (i as u32, j as u32)).collect();
                    self.inner.extend(pairs);
                }
                let inner = first_inner..self.inner.len();
                self.groups.push(Group {
                    first: group_first,
                    end: group_first + size,
                    mover,
                    inner,
                });
            }
            first += n_own;
        }
    }

    /// Whether a shape of one cluster may touch one of another.
    fn may_meet(&self, i: usize, j: usize) -> bool {
        let shapes = |cluster: usize| {
            let Cluster { first, end, .. } = self.clusters[cluster];
            &self.shapes[first..end]
        };
        shapes(i).iter().any(|a| shapes(j).iter().any(|b| self.may_touch(a, b)))
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

    /// Whether two parts may touch: one of them moves and something comes of it, their masks
    /// meet, and the world does not rule it out.
    pub(super) fn may_touch(&self, a: &SceneShape, b: &SceneShape) -> bool {
        let matters = match (a.mover, b.mover) {
            (Mover::Nothing, Mover::Nothing) => false,
            (Mover::Forces, _) | (_, Mover::Forces) => true,
            (Mover::Nothing, _) | (_, Mover::Nothing) => true,
            (Mover::Orders | Mover::ForcesOnWhole, Mover::Orders | Mover::ForcesOnWhole) => {
                a.robot != b.robot
            }
        };
        matters
            && (a.category & b.mask) | (b.category & a.mask) != 0
            && self.filter.may_touch(a.body_idx, b.body_idx)
    }
}

/// What moves a body that could move.
fn mover_of(movers: &Movers, body_idx: usize) -> Mover {
    if movers.is_led(body_idx) {
        Mover::Orders
    } else if movers.is_whole(body_idx) {
        Mover::ForcesOnWhole
    } else {
        Mover::Forces
    }
}

impl SceneShape {
    fn is_plane(&self) -> bool {
        matches!(self.form, Form::Plane { .. })
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
    let surface = &body.shapes[shape_idx].surface;
    let (low, high) = form.bounds().unwrap_or((Vec3::ZERO, Vec3::ZERO));
    let (centre, half) = ((low + high) * 0.5, (high - low) * 0.5);
    SceneShape {
        idx,
        body_idx,
        shape_idx,
        rigid_idx: body.rigid_idx,
        mover: match model.rigids[body.rigid_idx].motion {
            Motion::Dynamic => Mover::Forces,
            Motion::Kinematic | Motion::Static => Mover::Nothing,
        },
        robot: 0,
        mask: surface.collide_bitmask(),
        category: surface.category_bitmask(),
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

fn clusters_of(shapes: &[SceneShape]) -> Vec<Cluster> {
    let mut out = Vec::new();
    let mut first = 0;
    for own in shapes.chunk_by(|a, b| a.rigid_idx == b.rigid_idx) {
        let end = first + own.len();
        let (centre_in_rigid, radius) = ball_around(own);
        let reach = centre_in_rigid.length() + radius;
        let rigid_idx = own[0].rigid_idx;
        out.push(Cluster { first, end, rigid_idx, centre_in_rigid, radius, reach });
        first = end;
    }
    out
}

/// A ball around the balls of some shapes of one rigid.
fn ball_around(shapes: &[SceneShape]) -> (Vec3, f64) {
    if let [only] = shapes {
        return (only.centre_in_rigid, only.radius);
    }
    let nothing = (Vec3::splat(f64::INFINITY), Vec3::splat(f64::NEG_INFINITY));
    let (low, high) = shapes.iter().fold(nothing, |(low, high), shape| {
        let reach = Vec3::splat(shape.radius);
        (low.min(shape.centre_in_rigid - reach), high.max(shape.centre_in_rigid + reach))
    });
    let centre = (low + high) * 0.5;
    let reach = |shape: &SceneShape| (shape.centre_in_rigid - centre).length() + shape.radius;
    (centre, shapes.iter().map(reach).fold(0.0, f64::max))
}
