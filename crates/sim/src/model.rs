//! The model: a World compiled to flat lists that an engine can walk.
//!
//! ```text
//! World (nested models, names) ── Model::compile ──► bodies, rigids, joints (indices)
//! ```
//!
//! A *body* is a link, which is what people name and recordings show. A *rigid* is a set
//! of bodies that fixed joints hold together; it is what an engine moves. Welding is done
//! here, once and exactly, instead of asking every engine to hold a weld with a spring.

use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Mat3, Transform, Vec3, names};
use headland_world::{
    Axis, Geometry, Joint as WorldJoint, JointKind, Link, Surface, Twist, World, join_scope,
};

use crate::joint::joint_motion;

/// Everything about a world that does not change while it moves.
#[derive(Clone, Debug)]
pub struct Model {
    /// The world it was compiled from.
    pub world: Arc<World>,
    /// Every link, in the world's order.
    pub bodies: Vec<Body>,
    /// What engines move.
    pub rigids: Vec<Rigid>,
    /// Every joint that is not fixed.
    pub joints: Vec<Joint>,
    /// Every axis of every joint, in order.
    pub dofs: Vec<Dof>,
    /// What recordings show: models and links by name.
    pub objects: Vec<Object>,
    /// Pairs of bodies that never touch, smaller index first, sorted.
    pub contact_excludes: Vec<(usize, usize)>,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Body {
    /// The whole name: `robot::arm::wrist`.
    pub name: String,
    /// The outermost model's name.
    pub robot: String,
    /// The rigid that carries it.
    pub rigid_idx: usize,
    /// Where it is in its rigid.
    pub rigid_from_body: Transform,
    /// Bodies of one model collide with each other only where the model says so.
    pub self_collide: bool,
    /// Its shapes.
    pub shapes: Vec<Shape>,
}

/// A shape that touches.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Where it is in its body.
    pub body_from_shape: Transform,
    /// Its form.
    pub geometry: Geometry,
    /// What it is like to touch.
    pub surface: Surface,
}

/// Bodies held together by fixed joints. Its frame is that of its first body.
#[derive(Clone, Debug)]
pub struct Rigid {
    /// The bodies, in the world's order; never empty.
    pub body_idxs: Vec<usize>,
    /// What moves it.
    pub motion: Motion,
    /// Total mass \[kg\].
    pub mass: f64,
    /// Centre of mass in the rigid's frame \[m\].
    pub centre: Vec3,
    /// About the centre of mass, in the rigid's frame \[kg·m²\].
    pub inertia: Mat3,
    /// Gravity pulls on it.
    pub gravity: bool,
    /// Damping of free motion \[1/s\], linear and angular.
    pub velocity_decay: (f64, f64),
    /// Where it is when time starts.
    pub world_from_rigid: Transform,
    /// How its frame's origin moves when time starts.
    pub twist: Twist,
}

/// What moves a rigid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Nothing.
    Static,
    /// Its own velocity, whatever pushes it.
    Kinematic,
    /// Forces.
    Dynamic,
}

/// A joint between two rigids. Joints within one rigid are gone.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The whole name: `robot::elbow`.
    pub name: String,
    /// The outermost model's name; empty for a joint of the world itself.
    pub robot: String,
    /// The rigid that carries it; `None` is the world.
    pub parent_rigid: Option<usize>,
    /// The rigid it carries.
    pub child_rigid: usize,
    /// The joint's frame in the parent rigid (or the world), constant.
    pub parent_from_joint: Transform,
    /// The joint's frame in the child rigid, constant.
    pub child_from_joint: Transform,
    /// How it moves.
    pub kind: JointKind,
    /// Where its axes are in [`Model::dofs`].
    pub first_dof: usize,
}

/// One axis of a joint: what a command addresses.
#[derive(Clone, Debug)]
pub struct Dof {
    /// The joint's whole name, with `_axis1` or `_axis2` where it has two.
    pub name: String,
    /// The same, seen from its robot.
    pub name_in_robot: String,
    /// The joint it belongs to.
    pub joint_idx: usize,
    /// Which of the joint's axes.
    pub axis_idx: usize,
    /// Limits, damping and the rest.
    pub axis: Axis,
    /// Follows another: position = multiplier · (leader − reference) + offset.
    pub mimic: Option<DofMimic>,
}

/// A mimic with its leader found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DofMimic {
    /// The axis that is followed.
    pub leader_dof: usize,
    /// Slope.
    pub multiplier: f64,
    /// Added to `multiplier · leader`.
    pub offset: f64,
}

/// Something a recording shows under its own name: a model, or a link of a model that
/// has several.
#[derive(Clone, Debug)]
pub struct Object {
    /// `ball`, `robot`, `robot::arm`.
    pub name: String,
    /// The rigid that carries it.
    pub rigid_idx: usize,
    /// Where its frame is in that rigid.
    pub rigid_from_object: Transform,
    /// Half its extent along its own axes, where its shapes have one \[m\].
    pub bounds: Option<(Vec3, Vec3)>,
}

impl Model {
    /// Compiles a world, or says everything that keeps it from moving.
    pub fn compile(world: &Arc<World>) -> Result<Model, Vec<Diagnostic>> {
        let mut findings = Findings::new();
        let links = Links::of(world);
        let joints = found_joints(world, &links, &mut findings);
        if findings.has_errors() {
            return Err(findings.into_vec());
        }
        let (bodies, mut rigids) = weld(&links, &joints);
        let mut joints = moving_joints(&joints, &links, &bodies, &rigids);
        let dofs = list_dofs(&mut joints, &mut findings);
        let objects = list_objects(world, &links, &bodies);
        let contact_excludes = list_excludes(world, &links, &mut findings);
        if findings.has_errors() {
            return Err(findings.into_vec());
        }
        place_at_initial_positions(&joints, &dofs, &mut rigids);
        Ok(Model {
            world: Arc::clone(world),
            bodies,
            rigids,
            joints,
            dofs,
            objects,
            contact_excludes,
        })
    }

    /// The axes of a joint.
    pub fn dofs_of(&self, joint: &Joint) -> &[Dof] {
        &self.dofs[joint.first_dof..joint.first_dof + joint.kind.axes().len()]
    }

    /// The index of an object by name.
    pub fn object(&self, name: &str) -> Option<usize> {
        self.objects.iter().position(|object| object.name == name)
    }

    /// The index of a joint axis by its whole name.
    pub fn dof(&self, name: &str) -> Option<usize> {
        self.dofs.iter().position(|dof| dof.name == name)
    }
}

/// The world's links with an index by name.
struct Links<'a> {
    placed: Vec<headland_world::PlacedLink<'a>>,
    by_name: BTreeMap<String, usize>,
}

impl<'a> Links<'a> {
    fn of(world: &'a World) -> Links<'a> {
        let placed = world.links();
        let by_name = placed.iter().enumerate().map(|(i, link)| (link.name.clone(), i)).collect();
        Links { placed, by_name }
    }

    fn find(&self, scope: &str, name: &str, what: &str, findings: &mut Findings) -> Option<usize> {
        let whole = join_scope(scope, name);
        let found = self.by_name.get(&whole).copied();
        if found.is_none() {
            let near = names::suggestion(&whole, self.by_name.keys().map(String::as_str));
            findings.push(
                Diagnostic::error("unknown-link", format!("{what}: no link `{whole}`"))
                    .help_maybe(near),
            );
        }
        found
    }
}

/// A joint with its links found.
struct FoundJoint<'a> {
    name: String,
    robot: &'a str,
    scope: String,
    joint: &'a WorldJoint,
    parent: Option<usize>,
    child: usize,
}

fn found_joints<'a>(
    world: &'a World,
    links: &Links<'a>,
    findings: &mut Findings,
) -> Vec<FoundJoint<'a>> {
    let mut out = Vec::new();
    for placed in world.joints() {
        let what = format!("joint `{}`", placed.name);
        let child = links.find(&placed.scope, &placed.joint.child, &what, findings);
        let parent = match &placed.joint.parent {
            Some(name) => links.find(&placed.scope, name, &what, findings).map(Some),
            None => Some(None),
        };
        if let (Some(child), Some(parent)) = (child, parent) {
            let (name, robot, scope) = (placed.name, placed.robot, placed.scope);
            out.push(FoundJoint { name, robot, scope, joint: placed.joint, parent, child });
        }
    }
    out
}

/// Groups links into rigids and adds up their masses.
fn weld(links: &Links<'_>, joints: &[FoundJoint<'_>]) -> (Vec<Body>, Vec<Rigid>) {
    let n_links = links.placed.len();
    let world_node = n_links; // what is fixed to the world is static
    let mut sets = UnionFind::new(n_links + 1);
    for joint in joints.iter().filter(|joint| joint.joint.kind == JointKind::Fixed) {
        sets.join(joint.child, joint.parent.unwrap_or(world_node));
    }
    let welded_to_static: Vec<bool> = {
        let mut roots = vec![false; n_links + 1];
        roots[sets.root(world_node)] = true;
        for (i, placed) in links.placed.iter().enumerate() {
            roots[sets.root(i)] |= placed.is_static;
        }
        roots
    };

    let mut rigid_of_root = BTreeMap::new();
    let mut bodies = Vec::with_capacity(n_links);
    let mut rigids: Vec<Rigid> = Vec::new();
    for (i, placed) in links.placed.iter().enumerate() {
        let root = sets.root(i);
        let is_static = welded_to_static[root];
        // Static links stay apart: they need no welding, and each keeps its own frame.
        let key = if is_static { (i, true) } else { (root, false) };
        let rigid_idx = *rigid_of_root.entry(key).or_insert_with(|| {
            rigids.push(new_rigid(placed, is_static));
            rigids.len() - 1
        });
        let rigid = &mut rigids[rigid_idx];
        let rigid_from_body = if rigid.body_idxs.is_empty() {
            Transform::IDENTITY
        } else {
            rigid.world_from_rigid.inverse() * placed.world_from_link
        };
        rigid.body_idxs.push(i);
        bodies.push(Body {
            name: placed.name.clone(),
            robot: placed.robot.to_string(),
            rigid_idx,
            rigid_from_body,
            self_collide: placed.model.self_collide,
            shapes: shapes_of(placed.link),
        });
    }
    for rigid in &mut rigids {
        add_masses(rigid, &bodies, links);
    }
    (bodies, rigids)
}

fn new_rigid(placed: &headland_world::PlacedLink<'_>, is_static: bool) -> Rigid {
    let motion = match (is_static, placed.link.kinematic) {
        (true, _) => Motion::Static,
        (false, true) => Motion::Kinematic,
        (false, false) => Motion::Dynamic,
    };
    Rigid {
        body_idxs: Vec::new(),
        motion,
        mass: 0.0,
        centre: Vec3::ZERO,
        inertia: Mat3::ZERO,
        gravity: placed.link.gravity,
        velocity_decay: placed.link.velocity_decay,
        world_from_rigid: placed.world_from_link,
        twist: placed.link.initial_twist,
    }
}

fn shapes_of(link: &Link) -> Vec<Shape> {
    link.collisions
        .iter()
        .map(|collision| Shape {
            body_from_shape: collision.link_from_shape,
            geometry: collision.geometry.clone(),
            surface: collision.surface.clone(),
        })
        .collect()
}

/// Mass, centre and inertia of several links in the rigid's frame. With
/// `I' = R·I·Rᵀ` and the parallel-axis theorem `I += m·(d²·1 − d·dᵀ)`.
fn add_masses(rigid: &mut Rigid, bodies: &[Body], links: &Links<'_>) {
    let parts: Vec<(f64, Vec3, Mat3)> = rigid
        .body_idxs
        .iter()
        .map(|&i| {
            let inertial = &links.placed[i].link.inertial;
            let rigid_from_inertial = bodies[i].rigid_from_body * inertial.link_from_inertial;
            let turn = Mat3::from_quat(rigid_from_inertial.rotation);
            let inertia = turn * inertial.inertia * turn.transpose();
            (inertial.mass, rigid_from_inertial.translation, inertia)
        })
        .collect();
    if let [(mass, centre, inertia)] = parts[..] {
        (rigid.mass, rigid.centre, rigid.inertia) = (mass, centre, inertia);
        return;
    }
    rigid.mass = parts.iter().map(|(mass, ..)| mass).sum();
    if rigid.mass > 0.0 {
        let moment = parts.iter().fold(Vec3::ZERO, |sum, (mass, centre, _)| sum + *centre * *mass);
        rigid.centre = moment / rigid.mass;
    }
    for (mass, centre, inertia) in parts {
        rigid.inertia += inertia + parallel_axis(mass, centre - rigid.centre);
    }
}

/// `m·(d²·1 − d·dᵀ)`: what a point mass off the centre adds.
fn parallel_axis(mass: f64, d: Vec3) -> Mat3 {
    let outer = Mat3::from_cols(d * d.x, d * d.y, d * d.z);
    (Mat3::from_diagonal(Vec3::splat(d.dot(d))) - outer) * mass
}

fn moving_joints(
    found: &[FoundJoint<'_>],
    links: &Links<'_>,
    bodies: &[Body],
    rigids: &[Rigid],
) -> Vec<Joint> {
    found
        .iter()
        .filter(|found| found.joint.kind != JointKind::Fixed)
        .filter(|found| {
            found.parent.map(|i| bodies[i].rigid_idx) != Some(bodies[found.child].rigid_idx)
        })
        .map(|found| {
            let child = &bodies[found.child];
            let world_from_joint =
                links.placed[found.child].world_from_link * found.joint.child_from_joint;
            let parent_rigid = found.parent.map(|i| bodies[i].rigid_idx);
            let world_from_parent =
                parent_rigid.map_or(Transform::IDENTITY, |i| rigids[i].world_from_rigid);
            Joint {
                name: found.name.clone(),
                robot: if found.robot.is_empty() {
                    child.robot.clone()
                } else {
                    found.robot.to_string()
                },
                parent_rigid,
                child_rigid: child.rigid_idx,
                parent_from_joint: world_from_parent.inverse() * world_from_joint,
                child_from_joint: child.rigid_from_body * found.joint.child_from_joint,
                kind: with_whole_mimics(&found.joint.kind, &found.scope),
                first_dof: 0,
            }
        })
        .collect()
}

/// Mimics name their leader within the scope; from here on names are whole.
fn with_whole_mimics(kind: &JointKind, scope: &str) -> JointKind {
    let mut kind = kind.clone();
    let axes: Vec<&mut Axis> = match &mut kind {
        JointKind::Fixed | JointKind::Ball => Vec::new(),
        JointKind::Revolute(a) | JointKind::Continuous(a) | JointKind::Prismatic(a) => vec![a],
        JointKind::Screw { axis, .. } => vec![axis],
        JointKind::Universal(a, b) => vec![a, b],
    };
    for axis in axes {
        if let Some(mimic) = &mut axis.mimic {
            mimic.leader = join_scope(scope, &mimic.leader);
        }
    }
    kind
}

fn list_dofs(joints: &mut [Joint], findings: &mut Findings) -> Vec<Dof> {
    let mut dofs = Vec::new();
    for (joint_idx, joint) in joints.iter_mut().enumerate() {
        joint.first_dof = dofs.len();
        let axes: Vec<Axis> = joint.kind.axes().into_iter().cloned().collect();
        let n_axes = axes.len();
        for (axis_idx, axis) in axes.into_iter().enumerate() {
            let suffix = if n_axes > 1 { format!("_axis{}", axis_idx + 1) } else { String::new() };
            let name = format!("{}{suffix}", joint.name);
            let in_robot =
                name.strip_prefix(&format!("{}::", joint.robot)).unwrap_or(&name).to_string();
            dofs.push(Dof {
                name,
                name_in_robot: in_robot,
                joint_idx,
                axis_idx,
                axis,
                mimic: None,
            });
        }
    }
    let starts: BTreeMap<&str, (usize, usize)> =
        joints.iter().map(|j| (j.name.as_str(), (j.first_dof, j.kind.axes().len()))).collect();
    for i in 0..dofs.len() {
        let Some(mimic) = &dofs[i].axis.mimic else { continue };
        let leader = starts.get(mimic.leader.as_str()).filter(|(_, n)| mimic.leader_axis < *n);
        match leader {
            Some((start, _)) => {
                let offset = mimic.offset - mimic.multiplier * mimic.reference;
                let leader_dof = start + mimic.leader_axis;
                dofs[i].mimic = Some(DofMimic { leader_dof, multiplier: mimic.multiplier, offset });
            }
            None => findings.push(
                Diagnostic::error(
                    "unknown-joint",
                    format!(
                        "joint `{}` follows `{}`, which does not move",
                        dofs[i].name, mimic.leader
                    ),
                )
                .help_maybe(names::suggestion(&mimic.leader, starts.keys().copied())),
            ),
        }
    }
    dofs
}

fn list_objects(world: &World, links: &Links<'_>, bodies: &[Body]) -> Vec<Object> {
    let mut out = Vec::new();
    world.visit_models(&mut |at| {
        let names: Vec<String> =
            at.model.links.iter().map(|link| join_scope(at.scope, &link.name)).collect();
        let canonical = at.model.canonical_link.as_ref().map(|name| join_scope(at.scope, name));
        let Some(canonical) = canonical.or_else(|| names.first().cloned()) else { return };
        let Some(&carrier) = links.by_name.get(&canonical) else { return };
        let world_from_carrier = links.placed[carrier].world_from_link;
        let body = &bodies[carrier];
        let carrier_from_model = world_from_carrier.inverse() * at.world_from_model;
        let only_link = if names.len() == 1 { Some(carrier) } else { None };
        let bounds = only_link.and_then(|i| bounds_in(&bodies[i], carrier_from_model.inverse()));
        out.push(Object {
            name: at.scope.to_string(),
            rigid_idx: body.rigid_idx,
            rigid_from_object: body.rigid_from_body * carrier_from_model,
            bounds,
        });
        if names.len() > 1 {
            out.extend(names.iter().map(|name| {
                let body = &bodies[links.by_name[name]];
                Object {
                    name: name.clone(),
                    rigid_idx: body.rigid_idx,
                    rigid_from_object: body.rigid_from_body,
                    bounds: bounds_in(body, Transform::IDENTITY),
                }
            }));
        }
    });
    out
}

fn bounds_in(body: &Body, object_from_body: Transform) -> Option<(Vec3, Vec3)> {
    let corners = body.shapes.iter().filter_map(|shape| {
        let bounds = shape.geometry.bounds()?;
        Some(headland_world::geometry::corners_in(object_from_body * shape.body_from_shape, bounds))
    });
    corners.flatten().fold(None, |bounds, p| match bounds {
        None => Some((p, p)),
        Some((low, high)) => Some((low.min(p), high.max(p))),
    })
}

fn list_excludes(world: &World, links: &Links<'_>, findings: &mut Findings) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    world.visit_models(&mut |at| {
        for (a, b) in &at.model.contact_excludes {
            let what = format!("contact exclude in `{}`", at.scope);
            let pair = (
                links.find(at.scope, a, &what, findings),
                links.find(at.scope, b, &what, findings),
            );
            if let (Some(a), Some(b)) = pair {
                out.push((a.min(b), a.max(b)));
            }
        }
    });
    out.sort_unstable();
    out.dedup();
    out
}

/// Link poses are given with every joint at zero; this moves whatever a joint carries to
/// where the joint starts.
fn place_at_initial_positions(joints: &[Joint], dofs: &[Dof], rigids: &mut [Rigid]) {
    if dofs.iter().all(|dof| dof.axis.initial_position == 0.0) {
        return;
    }
    let mut joints_by_parent: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    let mut is_placed = vec![true; rigids.len()];
    for (i, joint) in joints.iter().enumerate() {
        joints_by_parent.entry(joint.parent_rigid).or_default().push(i);
        is_placed[joint.child_rigid] = false;
    }
    // From the world and every rigid nothing carries, outwards; each rigid is placed once,
    // so a loop is cut where it closes.
    let mut open: Vec<Option<usize>> =
        (0..rigids.len()).filter(|i| is_placed[*i]).map(Some).collect();
    open.push(None);
    while let Some(parent) = open.pop() {
        for &i in joints_by_parent.get(&parent).map_or(&[] as &[usize], Vec::as_slice) {
            let joint = &joints[i];
            if std::mem::replace(&mut is_placed[joint.child_rigid], true) {
                continue;
            }
            let positions: Vec<f64> = dofs
                [joint.first_dof..joint.first_dof + joint.kind.axes().len()]
                .iter()
                .map(|dof| dof.axis.initial_position)
                .collect();
            let world_from_parent =
                parent.map_or(Transform::IDENTITY, |i| rigids[i].world_from_rigid);
            rigids[joint.child_rigid].world_from_rigid = world_from_parent
                * joint.parent_from_joint
                * joint_motion(&joint.kind, &positions)
                * joint.child_from_joint.inverse();
            open.push(Some(joint.child_rigid));
        }
    }
}

/// Sets of indices that are joined one pair at a time.
struct UnionFind(Vec<usize>);

impl UnionFind {
    fn new(n: usize) -> UnionFind {
        UnionFind((0..n).collect())
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    /// The smaller index stays the root, so the result does not depend on the order.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
