//! Bodies and joints: MuJoCo's tree becomes models, links and joints.

use headland_base::{Diagnostic, Place, Quat, Transform, Vec3};
use mjcf_rs::body as mj;
use roxmltree::Node;

use super::Reader;
use super::left_out::inherited;
use crate::assets::unit_vector;
use crate::inertia::Inertial;
use crate::joint::{Axis, Joint, JointKind};
use crate::massless;
use crate::world::{Frame, Link, Model, World};
use crate::xml;

/// The elements of one body, in the order `mjcf-rs` has them.
#[derive(Default)]
struct BodyNodes<'a, 'i> {
    body: Option<Node<'a, 'i>>,
    geoms: Vec<GeomNode<'a, 'i>>,
}

/// A geom, and whether a frame stands around it.
#[derive(Clone, Copy)]
pub struct GeomNode<'a, 'i> {
    pub node: Node<'a, 'i>,
    pub in_frame: bool,
}

/// Facts that are told once, with how often they hold.
#[derive(Default)]
pub struct Notes {
    pub chained: Told,
    pub shifted: Told,
    /// Geoms of one contact dimension that rub all the same.
    pub rubbing: (usize, Option<Place>),
    /// Ball and free joints by kind and by what is left out of them.
    pub axisless: Vec<((mj::JointType, Vec<&'static str>), Told)>,
}

/// The names it holds of, and where the first stands.
#[derive(Default)]
pub struct Told {
    names: Vec<String>,
    first: Option<Place>,
}

impl Told {
    fn add(&mut self, name: &str, place: Place) {
        self.names.push(name.to_string());
        self.first.get_or_insert(place);
    }
}

/// The share of a body's mass that each link between two of its joints gets.
const CARRIER_SHARE: f64 = 1e-3;

pub fn transform(pose: &mjcf_rs::Pose) -> Transform {
    let (q, t) = (pose.rotation, pose.translation);
    Transform::new(Quat::from_xyzw(q.x, q.y, q.z, q.w), Vec3::new(t.x, t.y, t.z))
}

impl Reader<'_> {
    /// Every body, as a link of the model it belongs to.
    pub(super) fn bodies(&mut self, root: Node<'_, '_>, world: &mut World) {
        let still = self.still_bodies();
        let mut nodes = vec![BodyNodes::default()];
        for worldbody in xml::children(root, "worldbody") {
            collect(worldbody, 0, false, &mut nodes);
        }
        let geoms_fit = nodes
            .iter()
            .zip(&self.model.bodies)
            .all(|(nodes, entry)| nodes.geoms.len() == entry.body.geoms.len());
        if nodes.len() != self.model.bodies.len() || !geoms_fit {
            return self.not_as_written("bodies", root);
        }
        let names = self.body_names();
        let n = self.model.bodies.len();
        // Which model and link each body is, where it is in its model, and whether its
        // whole model stands still.
        let mut model_of: Vec<Option<usize>> = vec![None; n];
        let mut model_from_body = vec![Transform::IDENTITY; n];

        if let Some(model) = self.worldbody(&nodes[0]) {
            world.models.push(model);
        }
        for id in 1..n {
            let entry = &self.model.bodies[id];
            let parent = entry.parent.unwrap_or(0);
            let pose = transform(&entry.body.pose);
            let Some(node) = nodes[id].body else { continue };
            if parent == 0 {
                model_of[id] = Some(world.models.len());
                let name = names[id].clone();
                self.places.insert(format_args!("model {name}"), self.place_of(node));
                let is_static = still[id];
                world.models.push(Model {
                    name,
                    parent_from_model: pose,
                    is_static,
                    self_collide: true,
                    ..Model::default()
                });
            } else {
                model_of[id] = model_of[parent];
                model_from_body[id] = model_from_body[parent] * pose;
            }
            let Some(model) = model_of[id].map(|m| &mut world.models[m]) else { continue };
            let inertial = self.inertial(id, &nodes[id].geoms, node, model.is_static);
            let mut link = Link {
                name: names[id].clone(),
                model_from_link: model_from_body[id],
                inertial,
                gravity: entry.body.gravcomp != 1.0,
                kinematic: entry.body.mocap,
                ..Link::default()
            };
            self.shapes(&mut link, &entry.body.geoms, &nodes[id].geoms);
            self.places
                .insert(format_args!("link {}::{}", model.name, link.name), self.place_of(node));
            let parent_link = (parent != 0).then(|| names[parent].clone());
            self.sites(&entry.body, &link, &mut model.frames);
            self.joints(&entry.body, node, parent_link, link, model);
        }
    }

    /// What `mjcf-rs` found is not what stands in the file, so places and kinds cannot be
    /// matched.
    pub(super) fn not_as_written(&mut self, what: &str, root: Node<'_, '_>) {
        let message = format!("cannot make sense of the {what} of this model");
        self.xml.error("bad-mjcf", message, root);
    }

    pub(super) fn place_of(&self, node: Node<'_, '_>) -> Place {
        self.xml.place(node)
    }

    /// Every body's name, made up where the file gives none.
    fn body_names(&self) -> Vec<String> {
        let given = |id: usize| self.model.bodies[id].body.name.clone();
        let mut names: Vec<String> = (0..self.model.bodies.len())
            .map(|id| given(id).unwrap_or_else(|| format!("body_{id}")))
            .collect();
        massless::number_repeats(names.iter_mut());
        names
    }

    /// What stands in the world itself.
    fn worldbody(&mut self, nodes: &BodyNodes<'_, '_>) -> Option<Model> {
        let body = &self.model.bodies[0].body;
        let mut link = Link {
            name: "link".into(),
            gravity: true,
            inertial: Inertial::default(),
            ..Link::default()
        };
        self.shapes(&mut link, &body.geoms, &nodes.geoms);
        let mut model = Model { name: "worldbody".into(), is_static: true, ..Model::default() };
        self.sites(body, &link, &mut model.frames);
        let is_empty =
            link.collisions.is_empty() && link.visuals.is_empty() && model.frames.is_empty();
        model.links.push(link);
        (!is_empty).then_some(model)
    }

    /// For each body, whether neither it nor anything it carries has a joint.
    fn still_bodies(&self) -> Vec<bool> {
        let bodies = &self.model.bodies;
        let stays = |body: &mj::Body| body.joints.is_empty() && !body.mocap;
        let mut still: Vec<bool> = bodies.iter().map(|entry| stays(&entry.body)).collect();
        // Children come after their parents, so from the end each is known before it is asked.
        for id in (1..bodies.len()).rev() {
            if let Some(parent) = bodies[id].parent {
                still[parent] &= still[id];
            }
        }
        still
    }

    fn sites(&mut self, body: &mj::Body, link: &Link, frames: &mut Vec<Frame>) {
        for site in &body.sites {
            let Some(name) = &site.name else { continue };
            frames.push(Frame {
                name: name.clone(),
                scope_from_frame: link.model_from_link * transform(&site.pose),
                attached_to: Some(link.name.clone()),
            });
        }
    }

    /// Puts a body into its model, with the joints that carry it.
    fn joints(
        &mut self,
        body: &mj::Body,
        node: Node<'_, '_>,
        parent: Option<String>,
        mut link: Link,
        model: &mut Model,
    ) {
        let joint_nodes: Vec<Node<'_, '_>> = node
            .children()
            .filter(|n| xml::is_named(*n, "joint") || xml::is_named(*n, "freejoint"))
            .collect();
        let is_free = body.joints.iter().any(|joint| joint.type_ == mj::JointType::Free);
        if body.joints.is_empty() && !model.is_static && !body.mocap {
            let name = format!("{}_weld", link.name);
            self.remember_joint(model, &name, node);
            model.joints.push(joint_of(name, parent, &link.name, Vec3::ZERO, JointKind::Fixed));
        } else if is_free && body.joints.len() == 1 && parent.is_none() {
            self.note_springs(model, "", &joint_nodes);
            // A `freejoint` takes nothing from the defaults, a `joint` that is free does.
            if let [node] = joint_nodes[..]
                && xml::is_named(node, "joint")
            {
                self.note_axisless(&body.joints[0], node, &link.name);
            }
        } else if let Some((name, at, kind)) = self.universal(body, &joint_nodes) {
            self.remember_joint(model, &name, node);
            model.joints.push(joint_of(name.clone(), parent, &link.name, at, kind));
            self.note_springs(model, &name, &joint_nodes);
        } else {
            if is_free {
                let message = "a free joint stands alone, in a body of the world";
                self.xml.error("free-joint", message, node);
            }
            // Beside a free one, which is wrong, the others get their look.
            let joints = body.joints.iter().enumerate();
            let joints: Vec<(usize, &mj::Joint)> =
                joints.filter(|(_, joint)| joint.type_ != mj::JointType::Free).collect();
            let n_joints = joints.len();
            let whole = link.inertial.clone();
            let share = |part: f64| Inertial {
                mass: whole.mass * part,
                inertia: whole.inertia * part,
                ..whole.clone()
            };
            let mut parent = parent;
            for (nth, (k, joint)) in joints.into_iter().enumerate() {
                let joint_node = joint_nodes.get(k).copied().unwrap_or(node);
                let Some((name, at, kind)) = self.joint(joint, joint_node, &link.name, k) else {
                    continue;
                };
                let is_last = nth + 1 == n_joints;
                let child =
                    if is_last { link.name.clone() } else { format!("{}_{name}", link.name) };
                if !is_last {
                    model.links.push(Link {
                        name: child.clone(),
                        model_from_link: link.model_from_link,
                        inertial: share(CARRIER_SHARE),
                        gravity: link.gravity,
                        ..Link::default()
                    });
                }
                self.remember_joint(model, &name, joint_node);
                model.joints.push(joint_of(name.clone(), parent, &child, at, kind));
                self.note_springs(model, &name, &[joint_node]);
                parent = Some(child);
            }
            if n_joints > 1 {
                let place = self.xml.place(node);
                self.notes.chained.add(&link.name, place);
                link.inertial = share(1.0 - CARRIER_SHARE * (n_joints - 1) as f64);
            }
        }
        model.links.push(link);
    }

    fn remember_joint(&mut self, model: &Model, name: &str, node: Node<'_, '_>) {
        self.places.insert(format_args!("joint {}::{name}", model.name), self.place_of(node));
    }

    /// Two hinges at one point with axes at a right angle are a universal joint.
    fn universal(
        &mut self,
        body: &mj::Body,
        nodes: &[Node<'_, '_>],
    ) -> Option<(String, Vec3, JointKind)> {
        let [first, second] = body.joints.as_slice() else { return None };
        let hinges = [first, second].iter().all(|joint| joint.type_ == mj::JointType::Hinge);
        let axes = (
            unit_vector(Vec3::from_array(first.axis))?,
            unit_vector(Vec3::from_array(second.axis))?,
        );
        // Motors and followers name the two joints apart, so these must not be named.
        let unnamed = first.name.is_none() && second.name.is_none();
        if !hinges || !unnamed || first.pos != second.pos || axes.0.dot(axes.1).abs() > 1e-9 {
            return None;
        }
        let name = format!("{}_universal", body.name.clone().unwrap_or_default());
        let (a, b) = (self.axis(first, *nodes.first()?), self.axis(second, *nodes.last()?));
        Some((name, Vec3::from_array(first.pos), JointKind::Universal(a, b)))
    }

    /// Name, anchor in the body's frame, and kind.
    fn joint(
        &mut self,
        joint: &mj::Joint,
        node: Node<'_, '_>,
        body: &str,
        k: usize,
    ) -> Option<(String, Vec3, JointKind)> {
        let name = joint.name.clone().unwrap_or_else(|| match k {
            0 => format!("{body}_joint"),
            _ => format!("{body}_joint_{k}"),
        });
        let kind = match joint.type_ {
            mj::JointType::Hinge => {
                let axis = self.axis(joint, node);
                match axis.lower.is_finite() || axis.upper.is_finite() {
                    true => JointKind::Revolute(axis),
                    false => JointKind::Continuous(axis),
                }
            }
            mj::JointType::Slide => JointKind::Prismatic(self.axis(joint, node)),
            mj::JointType::Ball => {
                self.note_axisless(joint, node, &name);
                JointKind::Ball
            }
            mj::JointType::Free => return None,
        };
        if joint.ref_ != 0.0 {
            let place = self.xml.place(node);
            self.notes.shifted.add(&name, place);
        }
        Some((name, Vec3::from_array(joint.pos), kind))
    }

    /// A joint without an axis has nothing here that holds along one: remembers what the file gives
    /// it and MuJoCo would heed.
    fn note_axisless(&mut self, joint: &mj::Joint, node: Node<'_, '_>, name: &str) {
        let is_limited =
            joint.limited.resolve(self.model.compiler.autolimits, joint.range.is_some());
        let is_ball = joint.type_ == mj::JointType::Ball;
        let given = [
            ("`range`", is_ball && is_limited && !self.flags.is_off("limit")),
            ("`stiffness`", joint.stiffness != 0.0 && !self.flags.is_off("spring")),
            ("`damping`", joint.damping != 0.0 && !self.flags.is_off("damper")),
            ("`frictionloss`", joint.frictionloss != 0.0 && !self.flags.is_off("frictionloss")),
            ("`armature`", joint.armature != 0.0),
        ];
        let lost: Vec<&str> = given.iter().filter(|(_, is)| *is).map(|(word, _)| *word).collect();
        if lost.is_empty() {
            return;
        }
        let (place, kind) = (self.xml.place(node), (joint.type_, lost));
        match self.notes.axisless.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, told)) => told.add(name, place),
            None => {
                let mut told = Told::default();
                told.add(name, place);
                self.notes.axisless.push((kind, told));
            }
        }
    }

    /// Positions here are zero where the file draws the model, MuJoCo's are `ref` there.
    fn axis(&mut self, joint: &mj::Joint, node: Node<'_, '_>) -> Axis {
        let direction = unit_vector(Vec3::from_array(joint.axis));
        if direction.is_none() {
            self.xml.error("zero-vector", "the axis of this joint has no direction", node);
        }
        let mut axis = Axis::along(direction.unwrap_or(Vec3::Z));
        let is_limited =
            joint.limited.resolve(self.model.compiler.autolimits, joint.range.is_some());
        if let Some([lower, upper]) = joint.range.filter(|_| is_limited) {
            if lower > upper {
                self.xml.error("bad-limits", "the lower limit is above the upper", node);
            } else if !self.flags.is_off("limit") {
                (axis.lower, axis.upper) = (lower - joint.ref_, upper - joint.ref_);
            }
        }
        let unless = |flag: &str, value: f64| if self.flags.is_off(flag) { 0.0 } else { value };
        axis.damping = unless("damper", joint.damping);
        axis.friction = unless("frictionloss", joint.frictionloss);
        axis.armature = joint.armature;
        axis.spring_stiffness = unless("spring", joint.stiffness);
        if joint.stiffness != 0.0 || inherited(node, "springdamper").is_some() {
            axis.spring_reference = joint.springref - joint.ref_;
        }
        axis.effort_max = self.effort_max(node);
        axis
    }

    /// `actuatorfrcrange`: what all motors of the joint together may give, either way.
    fn effort_max(&mut self, node: Node<'_, '_>) -> f64 {
        let is_limited = match inherited(node, "actuatorfrclimited").map(str::trim) {
            Some("true") => true,
            Some("false") => false,
            _ => self.model.compiler.autolimits,
        };
        let Some(text) = inherited(node, "actuatorfrcrange").filter(|_| is_limited) else {
            return f64::INFINITY;
        };
        let place = self.xml.attribute_place(node, "actuatorfrcrange");
        let Some(numbers) = self.xml.numbers(text, &place, false) else { return f64::INFINITY };
        match numbers[..] {
            [low, high] if low < high && low <= 0.0 && high >= 0.0 => {
                if low != -high && self.told.insert(("left-out", 0)) {
                    let message = "an `actuatorfrcrange` that is not the same either way is \
                                   taken as its larger side";
                    self.xml.findings.push(Diagnostic::warning("left-out", message).at(place));
                }
                high.max(-low)
            }
            _ => {
                let message = "`actuatorfrcrange` takes two numbers, the first not above zero, \
                               the second not below";
                self.xml.findings.push(Diagnostic::error("bad-limits", message).at(place));
                f64::INFINITY
            }
        }
    }

    /// Gives massless bodies up, makes names differ, and tells what was done.
    pub(super) fn finish(&mut self, world: &mut World) {
        let mut merged = Told::default();
        for model in world.models.iter_mut().filter(|model| !model.is_static) {
            for name in massless::merge(model) {
                let place = self.places.find(&format!("link {}::{name}", model.name));
                merged.first = merged.first.take().or(place);
                merged.names.push(name);
            }
            massless::separate_names(model);
        }
        for model in world.models.iter_mut().filter(|model| model.is_static) {
            massless::free_reserved_names(model);
        }
        let notes = std::mem::take(&mut self.notes);
        let told = [
            ("massless-links", merged, "bodies without mass that became frames"),
            ("chained-joints", notes.chained, "bodies with a light link between each two joints"),
            ("shifted-joints", notes.shifted, "joints whose zero here is MuJoCo's `ref`"),
        ];
        let told = told.map(|(code, told, what)| (code, told, what.to_string()));
        let axisless = notes.axisless.into_iter().map(|((kind, lost), told)| match kind {
            mj::JointType::Ball => {
                ("ball-joint", told, format!("ball joints without their {}", listed(&lost)))
            }
            _ => ("left-out", told, format!("free joints without their {}", listed(&lost))),
        });
        for (code, Told { names, first }, what) in told.into_iter().chain(axisless) {
            if names.is_empty() {
                continue;
            }
            let shown: Vec<String> = names.iter().take(6).map(|name| format!("`{name}`")).collect();
            let more = if names.len() > 6 { ", …" } else { "" };
            let message = format!("{what}: {}{more}", shown.join(", "));
            self.xml.findings.push(Diagnostic::remark(code, message).at_maybe(first));
        }
        let (n_rubbing, first) = notes.rubbing;
        if n_rubbing > 0 {
            let who = match n_rubbing {
                1 => "1 geom with `condim` 1 may touch one with more, and rubs".to_string(),
                n => format!("{n} geoms with `condim` 1 may touch one with more, and rub"),
            };
            let message = format!("{who} on everything: MuJoCo lets only such pairs rub");
            self.xml.findings.push(Diagnostic::remark("contact-friction", message).at_maybe(first));
        }
        let mut names: Vec<&mut String> = world.models.iter_mut().map(|m| &mut m.name).collect();
        massless::number_repeats(names.iter_mut().map(|name| &mut **name));
    }
}

/// `a`, `b` and `c`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_string(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

fn joint_of(name: String, parent: Option<String>, child: &str, at: Vec3, kind: JointKind) -> Joint {
    Joint {
        name,
        parent,
        child: child.to_string(),
        child_from_joint: Transform::from_translation(at),
        kind,
        opaque: Vec::new(),
    }
}

/// Walks bodies as `mjcf-rs` does: in file order, through frames.
fn collect<'a, 'i>(
    node: Node<'a, 'i>,
    body: usize,
    in_frame: bool,
    nodes: &mut Vec<BodyNodes<'a, 'i>>,
) {
    for inner in node.children().filter(|n| n.is_element() && !xml::is_prefixed(*n)) {
        match inner.tag_name().name() {
            "geom" => nodes[body].geoms.push(GeomNode { node: inner, in_frame }),
            "body" => {
                nodes.push(BodyNodes { body: Some(inner), geoms: Vec::new() });
                let id = nodes.len() - 1;
                collect(inner, id, false, nodes);
            }
            "frame" => collect(inner, body, true, nodes),
            _ => {}
        }
    }
}
