//! Where a robot's soles are, and where the ground is that they stand on.

use headland_base::maths::{TAU, cos, quat_from_rpy, rpy_from_quat, sin, sqrt};
use headland_base::{Transform, Vec3};
use headland_world::geometry::corners_in;
use headland_world::{Foot, Geometry, join_scope};

use crate::model::{Model, Motion};
use crate::tree::Tree;

use super::Robot;

/// What a robot stands on.
#[derive(Clone, Debug)]
pub(super) struct Sole {
    /// The node it belongs to.
    pub node: usize,
    /// x forward, z up, in its middle.
    pub node_from_sole: Transform,
    /// Half its length and half its width \[m\].
    pub half: [f64; 2],
}

impl Sole {
    /// How high its lowest corner is above a height, where the sole is.
    #[inline(always)]
    pub fn clearance(&self, world_from_sole: &Transform, ground: f64) -> f64 {
        let q = world_from_sole.rotation;
        // How far its x and y axes point upwards.
        let rise_x = 2.0 * (q.x * q.z - q.w * q.y);
        let rise_y = 2.0 * (q.y * q.z + q.w * q.x);
        let lower = rise_x.abs() * self.half[0] + rise_y.abs() * self.half[1];
        world_from_sole.translation.z - lower - ground
    }
}

/// A foot as the world declares it, and the body it is on, where the robot has that.
pub(super) struct DeclaredFoot<'a> {
    pub foot: &'a Foot,
    /// The link's whole name.
    pub name: String,
    pub body_idx: Option<usize>,
}

/// The feet of the outermost model a robot comes from, in file order.
pub(super) fn declared_feet<'a>(model: &'a Model, robot: &Robot) -> Vec<DeclaredFoot<'a>> {
    let bodies = || bodies_of(model, robot);
    let mut out = Vec::new();
    for_models_of(model, robot, &mut |scope, part| {
        out.extend(part.feet.iter().map(|foot| {
            let name = join_scope(scope, &foot.link);
            let body_idx = bodies().find(|i| model.bodies[*i].name == name);
            DeclaredFoot { foot, name, body_idx }
        }));
    });
    out
}

/// Every body of a robot.
pub(super) fn bodies_of<'a>(
    model: &'a Model,
    robot: &'a Robot,
) -> impl Iterator<Item = usize> + 'a {
    let rigids = robot.rigids.iter().flatten();
    rigids.flat_map(|rigid| model.rigids[*rigid].body_idxs.iter().copied())
}

/// Calls `see` for the outermost model a robot comes from and those in it, with whole names.
pub(super) fn for_models_of<'a>(
    model: &'a Model,
    robot: &Robot,
    see: &mut impl FnMut(&str, &'a headland_world::Model),
) {
    fn visit<'a>(
        part: &'a headland_world::Model,
        outer: &str,
        see: &mut impl FnMut(&str, &'a headland_world::Model),
    ) {
        let scope = join_scope(outer, &part.name);
        see(&scope, part);
        part.models.iter().for_each(|inner| visit(inner, &scope, see));
    }
    let Some(first) = bodies_of(model, robot).next() else { return };
    let name = &model.bodies[first].robot;
    if let Some(outermost) = model.world.models.iter().find(|part| part.name == *name) {
        visit(outermost, "", see);
    }
}

/// Every sole of a robot.
pub(super) fn soles_of(model: &Model, tree: &Tree, robot: &Robot) -> Vec<Sole> {
    let feet = declared_feet(model, robot).into_iter();
    let soles = feet.filter_map(|declared| {
        let body_idx = declared.body_idx?;
        let body = &model.bodies[body_idx];
        let node = robot.rigids.iter().position(|rigid| *rigid == Some(body.rigid_idx))?;
        let (body_from_sole, half) = sole_in_body(model, body_idx, declared.foot)?;
        let node_from_rigid = tree.nodes[node].rigid_from_node.inverse();
        Some(Sole {
            node,
            node_from_sole: node_from_rigid * body.rigid_from_body * body_from_sole,
            half,
        })
    });
    soles.collect()
}

/// A sole in its link, and half its size: as the foot says, and what it leaves open as the
/// link's shapes say. None where neither says where it is.
pub(super) fn sole_in_body(
    model: &Model,
    body_idx: usize,
    foot: &Foot,
) -> Option<(Transform, [f64; 2])> {
    let body = &model.bodies[body_idx];
    let world_from_body = model.rigids[body.rigid_idx].world_from_rigid * body.rigid_from_body;
    let given_half = foot.size.map(|size| size.map(|length| length * 0.5));
    if let Some(body_from_sole) = foot.link_from_sole {
        let half = given_half.unwrap_or_else(|| {
            let face = lowest_face(model, body_idx, body_from_sole.inverse());
            face.iter().fold([0.0, 0.0], |[x, y], p| [p.x.abs().max(x), p.y.abs().max(y)])
        });
        return Some((body_from_sole, half));
    }
    // Upright as the link stands in its robot when time starts, and turned as it is: whoever
    // starts tilted has soles that are tilted.
    let robot = model.world.models.iter().find(|part| part.name == body.robot);
    let world_from_robot = robot.map_or(Transform::IDENTITY, |part| part.parent_from_model);
    let robot_from_body = world_from_robot.inverse() * world_from_body;
    let yaw = rpy_from_quat(robot_from_body.rotation).z;
    let upright_from_robot = Transform::from_rotation(quat_from_rpy(0.0, 0.0, yaw)).inverse();
    let upright_from_body = upright_from_robot * robot_from_body;
    let face = lowest_face(model, body_idx, upright_from_body);
    let (low, high) = face.iter().fold(None, |bounds, p| match bounds {
        None => Some((*p, *p)),
        Some((low, high)) => Some((p.min(low), p.max(high))),
    })?;
    let middle = Vec3::new((low.x + high.x) * 0.5, (low.y + high.y) * 0.5, low.z);
    let half = [(high.x - low.x) * 0.5, (high.y - low.y) * 0.5];
    let upright_from_sole = Transform::from_translation(middle);
    Some((upright_from_body.inverse() * upright_from_sole, given_half.unwrap_or(half)))
}

/// Points this much above the lowest one still belong to the face below \[m\].
const FACE: f64 = 1e-3;

/// The lowest points of a body's shapes, seen from a frame.
fn lowest_face(model: &Model, body_idx: usize, frame_from_body: Transform) -> Vec<Vec3> {
    let shapes = model.bodies[body_idx].shapes.iter();
    let mut points: Vec<Vec3> = shapes
        .flat_map(|shape| low_points(&shape.geometry, frame_from_body * shape.body_from_shape))
        .collect();
    let lowest = points.iter().fold(f64::INFINITY, |low, p| low.min(p.z));
    points.retain(|p| p.z <= lowest + FACE);
    points
}

/// Points among which the lowest of a shape are.
fn low_points(geometry: &Geometry, frame_from_shape: Transform) -> Vec<Vec3> {
    let down = frame_from_shape.rotation.conjugate() * -Vec3::Z;
    let inside: Vec<Vec3> = match geometry {
        Geometry::Box { size } => {
            return corners_in(frame_from_shape, (*size * -0.5, *size * 0.5)).to_vec();
        }
        Geometry::Sphere { radius } => vec![down * *radius],
        Geometry::Capsule { radius, length } => {
            let end = Vec3::Z * (length * 0.5);
            vec![end + down * *radius, down * *radius - end]
        }
        Geometry::Ellipsoid { radii } => {
            let stretched = *radii * down;
            vec![*radii * stretched / sqrt(stretched.dot(stretched)).max(f64::MIN_POSITIVE)]
        }
        Geometry::Cylinder { radius, length } => {
            let rims = [-0.5, 0.5].map(|end| rim(*radius, end * length));
            rims.into_iter().flatten().collect()
        }
        Geometry::Cone { radius, length } => {
            rim(*radius, -0.5 * length).into_iter().chain([Vec3::Z * (length * 0.5)]).collect()
        }
        Geometry::Mesh { mesh, .. } => mesh.vertices().to_vec(),
        Geometry::Polyline { outlines, height } => {
            let ends = |p: &headland_base::maths::Vec2| [p.extend(0.0), p.extend(*height)];
            outlines.iter().flatten().flat_map(ends).collect()
        }
        Geometry::Plane { .. } | Geometry::Heightmap { .. } | Geometry::Empty => Vec::new(),
    };
    inside.into_iter().map(|p| frame_from_shape.point(p)).collect()
}

/// Points around a disc's edge.
fn rim(radius: f64, z: f64) -> Vec<Vec3> {
    let angles = (0..64).map(|i| f64::from(i) * (TAU / 64.0));
    angles.map(|angle| Vec3::new(radius * cos(angle), radius * sin(angle), z)).collect()
}

/// How high the ground is: that of [`level_ground`], or zero.
pub(super) fn ground_height(model: &Model) -> f64 {
    level_ground(model).unwrap_or(0.0)
}

/// The height of the highest level plane that never moves.
pub(super) fn level_ground(model: &Model) -> Option<f64> {
    let fixed = model.rigids.iter().filter(|rigid| rigid.motion == Motion::Static);
    let mut highest: Option<f64> = None;
    for rigid in fixed {
        for body_idx in &rigid.body_idxs {
            let body = &model.bodies[*body_idx];
            for shape in &body.shapes {
                let Geometry::Plane { normal, .. } = &shape.geometry else { continue };
                let pose = rigid.world_from_rigid * body.rigid_from_body * shape.body_from_shape;
                if pose.vector(*normal).z > 1.0 - 1e-9 {
                    let z = pose.translation.z;
                    highest = Some(highest.map_or(z, |other| other.max(z)));
                }
            }
        }
    }
    highest
}
