//! What a program is told: the model and the state as one JSON object in plain words.
//!
//! The page `docs/src/engine-protocol.md` says what each field means; a name changed here is
//! changed there. Numbers are the shortest decimals that come back to the same bits; what is
//! not finite is `null`.

use headland_base::{Mat3, Transform, Vec3};
use headland_sim::form::{height_surface, prisms};
use headland_sim::{EngineOptions, Inputs, Model, Motion, State, TouchFilter};
use headland_world::{Geometry, JointKind, Twist};
use serde::Serialize;

/// The world before time starts.
#[derive(Serialize)]
pub(super) struct Start<'a> {
    r#do: &'static str,
    step_ns: i64,
    gravity: Row,
    raw: bool,
    pair_rule: &'static str,
    bodies: Vec<Body<'a>>,
    rigids: Vec<Rigid<'a>>,
    joints: Vec<Joint<'a>>,
    apart: Vec<(usize, usize)>,
}

/// What acts during a step.
#[derive(Serialize)]
pub(super) struct Step<'a> {
    r#do: &'static str,
    efforts: &'a [f64],
    /// Rigid, force, torque.
    wrenches: Vec<(usize, f64, f64, f64, f64, f64, f64)>,
}

type Row = [f64; 3];
/// x, y, z, then the quaternion w, x, y, z.
pub(super) type Pose = [f64; 7];

#[derive(Serialize)]
struct Body<'a> {
    name: &'a str,
    rigid: usize,
}

#[derive(Serialize)]
struct Rigid<'a> {
    name: &'a str,
    motion: &'static str,
    mass: f64,
    centre: Row,
    inertia: [Row; 3],
    gravity: bool,
    linear_decay: f64,
    angular_decay: f64,
    pose: Pose,
    velocity: [f64; 6],
    shapes: Vec<Shape>,
}

#[derive(Serialize)]
struct Shape {
    body: usize,
    pose: Pose,
    #[serde(flatten)]
    form: Form,
    mu: f64,
    mu2: f64,
    restitution: f64,
    mask: u32,
    category: u32,
    /// Which of the three above the world says outright.
    said: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    friction_direction: Option<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slip: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    torsional: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bounce_threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stiffness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    damping: Option<f64>,
}

#[derive(Serialize)]
#[serde(tag = "form", rename_all = "lowercase")]
enum Form {
    Box { size: Row },
    Sphere { radius: f64 },
    Cylinder { radius: f64, length: f64 },
    Capsule { radius: f64, length: f64 },
    Ellipsoid { radii: Row },
    Cone { radius: f64, length: f64 },
    Plane { normal: Row },
    Mesh { vertices: Vec<Row>, triangles: Vec<[u32; 3]>, convex: bool },
    Prism { parts: Vec<[Row; 6]> },
}

#[derive(Serialize)]
struct Joint<'a> {
    name: &'a str,
    kind: &'static str,
    parent: Option<usize>,
    child: usize,
    parent_from_joint: Pose,
    child_from_joint: Pose,
    #[serde(skip_serializing_if = "Option::is_none")]
    metres_per_radian: Option<f64>,
    axes: Vec<Axis>,
}

#[derive(Serialize)]
struct Axis {
    dof: usize,
    direction: Row,
    position: f64,
    velocity: f64,
    lower: f64,
    upper: f64,
    effort_max: f64,
    velocity_max: f64,
    damping: f64,
    friction: f64,
    spring_stiffness: f64,
    spring_reference: f64,
    armature: f64,
    mimic: Option<Mimic>,
}

#[derive(Serialize)]
struct Mimic {
    leader: usize,
    multiplier: f64,
    offset: f64,
}

impl<'a> Start<'a> {
    pub(super) fn of(model: &'a Model, state: &State, options: &EngineOptions) -> Start<'a> {
        Start {
            r#do: "start",
            step_ns: options.step.nanos(),
            gravity: row(model.world.gravity),
            raw: options.raw,
            pair_rule: "lesser",
            bodies: model
                .bodies
                .iter()
                .map(|body| Body { name: &body.name, rigid: body.rigid_idx })
                .collect(),
            rigids: (0..model.rigids.len()).map(|i| rigid(model, state, i)).collect(),
            joints: model.joints.iter().map(|joint| self::joint(model, state, joint)).collect(),
            apart: apart(model),
        }
    }
}

impl<'a> Step<'a> {
    pub(super) fn of(inputs: &'a Inputs) -> Step<'a> {
        let wrench = |w: &headland_sim::Wrench| {
            let (f, t) = (w.force, w.torque);
            (w.rigid_idx, f.x, f.y, f.z, t.x, t.y, t.z)
        };
        Step {
            r#do: "step",
            efforts: &inputs.efforts,
            wrenches: inputs.wrenches.iter().map(wrench).collect(),
        }
    }
}

fn rigid<'a>(model: &'a Model, state: &State, rigid_idx: usize) -> Rigid<'a> {
    let (rigid, now) = (&model.rigids[rigid_idx], &state.rigids[rigid_idx]);
    Rigid {
        name: &model.bodies[rigid.body_idxs[0]].name,
        motion: match rigid.motion {
            Motion::Static => "static",
            Motion::Kinematic => "kinematic",
            Motion::Dynamic => "dynamic",
        },
        mass: rigid.mass,
        centre: row(rigid.centre),
        inertia: rows(rigid.inertia),
        gravity: rigid.gravity,
        linear_decay: rigid.velocity_decay.0,
        angular_decay: rigid.velocity_decay.1,
        pose: pose(now.world_from_rigid),
        velocity: velocity(now.twist),
        shapes: rigid.body_idxs.iter().flat_map(|i| shapes(model, *i)).collect(),
    }
}

fn shapes(model: &Model, body_idx: usize) -> Vec<Shape> {
    let body = &model.bodies[body_idx];
    let one = |shape: &headland_sim::Shape| {
        let (form, shape_from_form) = form(&shape.geometry)?;
        let surface = &shape.surface;
        let said = [
            ("mu", surface.mu.is_some()),
            ("mu2", surface.mu2.is_some()),
            ("restitution", surface.restitution.is_some()),
        ];
        Some(Shape {
            body: body_idx,
            pose: pose(body.rigid_from_body * shape.body_from_shape * shape_from_form),
            form,
            mu: surface.mu(),
            mu2: surface.mu2(),
            restitution: surface.restitution(),
            mask: surface.collide_bitmask(),
            category: surface.category_bitmask(),
            said: said.iter().filter(|(_, is_said)| *is_said).map(|(word, _)| *word).collect(),
            friction_direction: surface.friction_direction.map(row),
            slip: surface.slip.filter(|slip| *slip != (0.0, 0.0)),
            torsional: surface.torsional,
            bounce_threshold: surface.bounce_threshold.filter(|speed| *speed > 0.0),
            stiffness: surface.stiffness,
            damping: surface.damping,
        })
    };
    body.shapes.iter().filter_map(one).collect()
}

/// A geometry in fewer words, and where it is in the shape: heightmaps are triangles,
/// outlines are cut into convex prisms, what is empty is left out.
fn form(geometry: &Geometry) -> Option<(Form, Transform)> {
    let form = match geometry {
        Geometry::Box { size } => Form::Box { size: row(*size) },
        Geometry::Sphere { radius } => Form::Sphere { radius: *radius },
        Geometry::Cylinder { radius, length } => {
            Form::Cylinder { radius: *radius, length: *length }
        }
        Geometry::Capsule { radius, length } => Form::Capsule { radius: *radius, length: *length },
        Geometry::Ellipsoid { radii } => Form::Ellipsoid { radii: row(*radii) },
        Geometry::Cone { radius, length } => Form::Cone { radius: *radius, length: *length },
        Geometry::Plane { normal, .. } => Form::Plane { normal: row(*normal) },
        Geometry::Mesh { mesh, convex, .. } => {
            triangles(mesh.vertices(), mesh.triangles(), *convex)
        }
        Geometry::Heightmap { size, position, heights, .. } => {
            let made = height_surface(*size, heights);
            let form = triangles(&made.corners, &made.triangles, false);
            return Some((form, Transform::from_translation(*position)));
        }
        Geometry::Polyline { outlines, height } => {
            let parts = prisms(outlines, *height).into_iter().map(|part| part.map(row));
            Form::Prism { parts: parts.collect() }
        }
        Geometry::Empty => return None,
    };
    Some((form, Transform::IDENTITY))
}

fn triangles(vertices: &[Vec3], triangles: &[[u32; 3]], convex: bool) -> Form {
    let vertices = vertices.iter().copied().map(row).collect();
    Form::Mesh { vertices, triangles: triangles.to_vec(), convex }
}

fn joint<'a>(model: &Model, state: &State, joint: &'a headland_sim::Joint) -> Joint<'a> {
    let axis = |(i, dof): (usize, &headland_sim::Dof)| {
        let (axis, now) = (&dof.axis, &state.dofs[joint.first_dof + i]);
        Axis {
            dof: joint.first_dof + i,
            direction: row(axis.direction),
            position: now.position,
            velocity: now.velocity,
            lower: axis.lower,
            upper: axis.upper,
            effort_max: axis.effort_max,
            velocity_max: axis.velocity_max,
            damping: axis.damping,
            friction: axis.friction,
            spring_stiffness: axis.spring_stiffness,
            spring_reference: axis.spring_reference,
            armature: axis.armature,
            mimic: dof.mimic.map(|mimic| Mimic {
                leader: mimic.leader_dof,
                multiplier: mimic.multiplier,
                offset: mimic.offset,
            }),
        }
    };
    Joint {
        name: &joint.name,
        kind: joint.kind.word(),
        parent: joint.parent_rigid,
        child: joint.child_rigid,
        parent_from_joint: pose(joint.parent_from_joint),
        child_from_joint: pose(joint.child_from_joint),
        metres_per_radian: match joint.kind {
            JointKind::Screw { metres_per_radian, .. } => Some(metres_per_radian),
            _ => None,
        },
        axes: model.dofs_of(joint).iter().enumerate().map(axis).collect(),
    }
}

/// Pairs of bodies with shapes on two rigids, of which one moves, that never touch.
fn apart(model: &Model) -> Vec<(usize, usize)> {
    let filter = TouchFilter::of(model);
    let solid: Vec<usize> =
        (0..model.bodies.len()).filter(|i| !model.bodies[*i].shapes.is_empty()).collect();
    let mut out = Vec::new();
    for (n, &i) in solid.iter().enumerate() {
        for &j in &solid[n + 1..] {
            let (a, b) = (model.bodies[i].rigid_idx, model.bodies[j].rigid_idx);
            let moves = [a, b].iter().any(|rigid| model.rigids[*rigid].motion != Motion::Static);
            if a != b && moves && !filter.may_touch(i, j) {
                out.push((i, j));
            }
        }
    }
    out
}

fn row(v: Vec3) -> Row {
    [v.x, v.y, v.z]
}

fn rows(m: Mat3) -> [Row; 3] {
    let m = m.transpose();
    [row(m.col(0)), row(m.col(1)), row(m.col(2))]
}

fn pose(transform: Transform) -> Pose {
    let (t, q) = (transform.translation, transform.rotation);
    [t.x, t.y, t.z, q.w, q.x, q.y, q.z]
}

fn velocity(twist: Twist) -> [f64; 6] {
    let (v, w) = (twist.linear, twist.angular);
    [v.x, v.y, v.z, w.x, w.y, w.z]
}
