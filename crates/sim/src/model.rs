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
    Axis, Geometry, JointKind, Places, Surface, Twist, World, WorldFile, join_scope,
};

mod joints;
mod objects;
mod weld;

use joints::{found_joints, list_dofs, moving_joints, place_at_initial_positions};
use objects::{list_excludes, list_objects, list_pairs};
use weld::weld;

use crate::control::servo_lags;

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
    /// How long each of them lags behind a position it is told \[s\], where a servo holds it.
    pub servo_lags: Vec<Option<f64>>,
    /// What recordings show: models and links by name.
    pub objects: Vec<Object>,
    /// Pairs of bodies that never touch, smaller index first, sorted.
    pub contact_excludes: Vec<(usize, usize)>,
    /// Pairs of bodies that may touch though they are neighbours or of a robot that does not
    /// collide with itself, smaller index first, sorted.
    pub contact_pairs: Vec<(usize, usize)>,
    /// The file the world was read from, where it was compiled with its places.
    pub file: Option<WorldFile>,
    /// Where in the lists a name is, the first of equals: with a look through all of them for each
    /// of a thousand robots' a run took 15 s to start.
    object_idxs: BTreeMap<String, usize>,
    dof_idxs: BTreeMap<String, usize>,
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
    /// The lowest and highest corner of a box along its own axes that holds its shapes, where
    /// they have an end \[m\].
    pub bounds: Option<(Vec3, Vec3)>,
}

impl Model {
    /// Compiles a world, or says everything that keeps it from moving.
    pub fn compile(world: &Arc<World>) -> Result<Model, Vec<Diagnostic>> {
        Model::compile_read(world, &Places::default())
    }

    /// Compiles a world that was read from files, or says everything that keeps it from moving
    /// and where that was written.
    pub fn compile_read(world: &Arc<World>, places: &Places) -> Result<Model, Vec<Diagnostic>> {
        let mut findings = Findings::new();
        let links = Links::of(world, places);
        let joints = found_joints(world, &links, &mut findings);
        if findings.has_errors() {
            return Err(findings.into_vec());
        }
        let (bodies, mut rigids) = weld(&links, &joints, &mut findings);
        let mut joints = moving_joints(&joints, &links, &bodies, &rigids);
        let dofs = list_dofs(&mut joints, &mut findings);
        let objects = list_objects(world, &links, &bodies);
        let contact_excludes = list_excludes(world, &links, &mut findings);
        let contact_pairs = list_pairs(world, &links, &mut findings);
        if findings.has_errors() {
            return Err(findings.into_vec());
        }
        place_at_initial_positions(&joints, &dofs, &mut rigids);
        let mut model = Model {
            object_idxs: first_of_names(objects.iter().map(|object| &object.name)),
            dof_idxs: first_of_names(dofs.iter().map(|dof| &dof.name)),
            world: Arc::clone(world),
            bodies,
            rigids,
            joints,
            servo_lags: Vec::new(),
            dofs,
            objects,
            contact_excludes,
            contact_pairs,
            file: places.file().cloned(),
        };
        model.servo_lags = servo_lags(&model);
        Ok(model)
    }

    /// What forces are to move and cannot, for want of mass: asked by every engine that divides
    /// by it.
    pub fn massless(&self) -> Vec<Diagnostic> {
        let moving = self.rigids.iter().filter(|rigid| rigid.motion == Motion::Dynamic);
        let massless = moving.filter(|rigid| rigid.mass <= 0.0);
        let told = massless.map(|rigid| {
            let name = &self.bodies[rigid.body_idxs[0]].name;
            Diagnostic::error("no-mass", format!("link `{name}` moves but has no mass"))
                .help("give it an <inertial>, or derive one with --derive-inertia DENSITY")
        });
        told.collect()
    }

    /// The axes of a joint.
    pub fn dofs_of(&self, joint: &Joint) -> &[Dof] {
        // Counted by hand: every loop asks in every step, and a list of axes is memory.
        let n_axes = match joint.kind {
            JointKind::Fixed | JointKind::Ball => 0,
            JointKind::Universal(..) => 2,
            JointKind::Revolute(_)
            | JointKind::Continuous(_)
            | JointKind::Prismatic(_)
            | JointKind::Screw { .. } => 1,
        };
        &self.dofs[joint.first_dof..joint.first_dof + n_axes]
    }

    /// The index of an object by name.
    pub fn object(&self, name: &str) -> Option<usize> {
        self.object_idxs.get(name).copied()
    }

    /// The index of a joint axis by its whole name.
    pub fn dof(&self, name: &str) -> Option<usize> {
        self.dof_idxs.get(name).copied()
    }

    /// The index of a joint axis as people call it: by its whole name, by its name in its
    /// robot, or by its last part, as long as only one has it.
    pub fn find_dof(&self, name: &str) -> Option<usize> {
        let only = |fits: &dyn Fn(&Dof) -> bool| {
            let mut found =
                self.dofs.iter().enumerate().filter(|(_, dof)| fits(dof)).map(|(i, _)| i);
            found.next().filter(|_| found.next().is_none())
        };
        self.dof(name)
            .or_else(|| only(&|dof| dof.name_in_robot == name))
            .or_else(|| only(&|dof| dof.name.rsplit("::").next() == Some(name)))
    }
}

/// The world's links with an index by name.
struct Links<'a> {
    placed: Vec<headland_world::PlacedLink<'a>>,
    by_name: BTreeMap<String, usize>,
    /// Where they were written.
    places: &'a Places,
}

impl<'a> Links<'a> {
    fn of(world: &'a World, places: &'a Places) -> Links<'a> {
        let placed = world.links();
        let by_name = placed.iter().enumerate().map(|(i, link)| (link.name.clone(), i)).collect();
        Links { placed, by_name, places }
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

fn first_of_names<'a>(
    names: impl DoubleEndedIterator<Item = &'a String> + ExactSizeIterator,
) -> BTreeMap<String, usize> {
    names.enumerate().rev().map(|(i, name)| (name.clone(), i)).collect()
}
