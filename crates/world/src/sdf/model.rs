//! `model`: what stands in it, read first and then put in its place.
//!
//! ```text
//! children ─ read ─► Contents: poses as written ─ settle ─► Settled: poses in the scope
//! ```
//!
//! The world is a scope too, and uses the same two steps.

use headland_base::{Diagnostic, Place, Transform, names};
use roxmltree::Node as Element;

use super::frames::{self, Lost, MovesWith, Named, Node, Pose, Scope};
use super::joint::JointDraft;
use super::link::{LinkDraft, Part};
use super::native::{self, link_from_sole};
use super::reader::{Reader, UNNAMED};
use super::siblings::Siblings;
use super::tidy;
use crate::check::is_reserved;
use crate::world::join_scope;
use crate::xml::{self, HEADLAND_NAMESPACE, Xml};
use crate::{
    Actuator, ActuatorKind, Foot, Frame, Joint, Light, Link, Model, Opaque, Places, Region,
    TorqueSpeed,
};

/// The most models inside each other; real ones stay below 5.
const MOST_NESTED_MODELS: usize = 40;

/// A model whose inside is finished and whose own place is still to be worked out.
pub(super) struct ModelDraft {
    pub model: Model,
    pub pose: Pose,
    pub placement: Option<Named>,
    pub scope: Scope,
    pub place: Place,
}

struct FrameDraft {
    name: String,
    place: Place,
    pose: Pose,
    attached_to: Option<Named>,
}

/// What stands in a scope, with poses as written.
#[derive(Default)]
pub(super) struct Contents {
    links: Vec<LinkDraft>,
    models: Vec<ModelDraft>,
    frames: Vec<FrameDraft>,
    joints: Vec<JointDraft>,
    /// Joints of merged models, which are finished but can still be referred to.
    finished_joints: Vec<(Joint, Place)>,
    /// The frames of models that were merged into this scope.
    merged: Vec<Node>,
    /// What includes that could not be read would have brought.
    lost: Lost,
    pub lights: Vec<(Light, Pose)>,
    pub regions: Vec<(Region, Pose)>,
    /// Included things that are kept, not interpreted.
    pub opaque: Vec<Opaque>,
    /// Feet with their poses as written.
    feet: Vec<(Foot, Option<Pose>)>,
    /// What models that were merged into this scope bring besides the above.
    pub brought: Model,
    links_seen: Siblings,
    models_seen: Siblings,
    frames_seen: Siblings,
    joints_seen: Siblings,
    pub lights_seen: Siblings,
    pub regions_seen: Siblings,
    pub contact_sets_seen: Siblings,
    feet_seen: Siblings,
    wheels_seen: Siblings,
}

/// What stands in a scope, with poses in the scope.
pub(super) struct Settled {
    pub links: Vec<Link>,
    pub models: Vec<Model>,
    pub frames: Vec<Frame>,
    pub joints: Vec<Joint>,
    pub lights: Vec<Light>,
    pub regions: Vec<Region>,
    pub feet: Vec<Foot>,
    pub scope: Scope,
}

impl Reader<'_, '_> {
    /// A `model`; `whole` is the whole name of the scope its parts are in.
    pub fn model(&mut self, node: Element<'_, '_>, name: String, whole: &str) -> ModelDraft {
        let mut model = Model {
            name,
            is_static: self.flag(node, "static", false),
            self_collide: self.flag(node, "self_collide", false),
            canonical_link: node.attribute("canonical_link").map(|s| s.trim().to_string()),
            detail: self.detail(node),
            touches: self.touches(node, whole).unwrap_or_default(),
            ..Model::default()
        };
        model.canonical_link = model.canonical_link.filter(|link| !link.is_empty());
        let mut contents = Contents::default();
        if self.nesting < MOST_NESTED_MODELS {
            self.nesting += 1;
            self.model_children(node, whole, &mut model, &mut contents);
            self.nesting -= 1;
        } else {
            let message = format!("models are nested more than {MOST_NESTED_MODELS} deep");
            self.xml.error("too-deep", message, node);
        }
        model.opaque.append(&mut contents.opaque);
        let brought = std::mem::take(&mut contents.brought);
        let canonical = self.attribute(node, "canonical_link");
        let settled = contents.settle(&mut self.xml, &self.shared.places, false, canonical);
        (model.links, model.models) = (settled.links, settled.models);
        (model.frames, model.joints) = (settled.frames, settled.joints);
        model.feet = settled.feet;
        native::take_over(&mut model, brought);
        native::forget_lost(&mut model, &settled.scope);
        ModelDraft {
            model,
            pose: self.pose(node),
            placement: self.attribute(node, "placement_frame"),
            scope: settled.scope,
            place: self.xml.place(node),
        }
    }

    fn model_children(
        &mut self,
        node: Element<'_, '_>,
        whole: &str,
        model: &mut Model,
        contents: &mut Contents,
    ) {
        for child in node.children().filter(Element::is_element) {
            let tag = child.tag_name();
            if tag.namespace() == Some(HEADLAND_NAMESPACE) {
                match tag.name() {
                    "actuator" => model.actuators.extend(self.actuator(child, whole)),
                    "contact_exclude" => {
                        let pair = self.two_links(child, "contact_exclude", whole);
                        model.contact_excludes.extend(pair);
                    }
                    "contact_pair" => {
                        let pair = self.two_links(child, "contact_pair", whole);
                        model.contact_pairs.extend(pair);
                    }
                    "contact_set" => {
                        let seen = &mut contents.contact_sets_seen;
                        model.contact_sets.extend(self.contact_set(child, whole, seen));
                    }
                    "controller" => model.controllers.extend(self.controller(child, whole)),
                    "foot" => {
                        let seen = &mut contents.feet_seen;
                        contents.feet.extend(self.foot(child, whole, seen));
                    }
                    "wheel" => {
                        model.wheels.extend(self.wheel(child, whole, &mut contents.wheels_seen));
                    }
                    "foreign" => model.opaque.extend(self.foreign(child)),
                    _ => {}
                }
                continue;
            }
            match tag.name() {
                "link" => {
                    let Some(name) = self.unique_name(child, &mut contents.links_seen) else {
                        continue;
                    };
                    let whole = join_scope(whole, &name);
                    contents.links.push(self.link(child, name, &whole));
                }
                "plugin" => {
                    self.plugin_place(child, "model", whole, model.opaque.len());
                    model.opaque.push(self.keep(child));
                }
                "gripper" | "model_state" => model.opaque.push(self.keep(child)),
                _ => self.shared_child(child, whole, contents),
            }
        }
    }

    /// What may stand in a model and in the world alike.
    pub fn shared_child(&mut self, child: Element<'_, '_>, whole: &str, contents: &mut Contents) {
        match child.tag_name().name() {
            "model" => {
                let Some(name) = self.unique_name(child, &mut contents.models_seen) else { return };
                let whole = join_scope(whole, &name);
                let place = self.xml.place(child);
                self.shared.places.insert(format_args!("model {whole}"), place);
                contents.models.push(self.model(child, name, &whole));
            }
            "joint" => {
                let Some(name) = self.unique_name(child, &mut contents.joints_seen) else { return };
                let whole = join_scope(whole, &name);
                contents.joints.push(self.joint(child, name, &whole));
            }
            "frame" => {
                let Some(name) = self.unique_name(child, &mut contents.frames_seen) else { return };
                let place = self.xml.place(child);
                if is_reserved(&name) {
                    let message = format!("the name `{name}` is reserved, a frame cannot have it");
                    let diagnostic = Diagnostic::error("reserved-name", message);
                    self.xml.findings.push(diagnostic.at(place.clone()));
                }
                contents.frames.push(FrameDraft {
                    name,
                    place,
                    pose: self.pose(child),
                    attached_to: self.attribute(child, "attached_to"),
                });
            }
            "include" => self.include(child, whole, contents),
            _ => {}
        }
    }

    fn actuator(&mut self, node: Element<'_, '_>, whole: &str) -> Option<Actuator> {
        let name = self.required_attribute(node, "name");
        let joint = self.required_attribute(node, "joint");
        if let Some(name) = &name {
            let part = format!("actuator {}", join_scope(whole, &name.name));
            self.note_attributes(&part, node);
        }
        let torque_speed = self.torque_speed(node);
        let rate = self.numbers_in(node, "rate").map(|[rate]| rate);
        let word = self.required_attribute(node, "type")?;
        let mut gain = |name| self.numbers_in(node, name).map_or(0.0, |[x]| x);
        let kind = match word.name.as_str() {
            "motor" => ActuatorKind::Motor,
            "position" => ActuatorKind::Position { kp: gain("kp"), kv: gain("kv") },
            "velocity" => ActuatorKind::Velocity { kv: gain("kv") },
            other => {
                let known = ["motor", "position", "velocity"];
                self.xml.findings.push(
                    Diagnostic::error("unknown-word", format!("no kind of actuator `{other}`"))
                        .at(word.place)
                        .help_maybe(names::suggestion(other, known)),
                );
                return None;
            }
        };
        let mut range = |name| self.numbers_in(node, name).map(|[low, high]| (low, high));
        let (command_range, effort_range) = (range("command_range"), range("effort_range"));
        let gear = self.numbers_in(node, "gear").map_or(1.0, |[gear]| gear);
        Some(Actuator {
            name: name?.name,
            joint: joint?.name,
            kind,
            gear,
            command_range,
            effort_range,
            torque_speed,
            rate,
        })
    }

    /// The two ends of a motor's line from effort to speed; one alone is none.
    fn torque_speed(&mut self, node: Element<'_, '_>) -> Option<TorqueSpeed> {
        const ENDS: [&str; 2] = ["stall_effort", "no_load_speed"];
        if ENDS.iter().all(|end| self.attribute(node, end).is_none()) {
            return None;
        }
        let ends = ENDS.map(|end| {
            self.required_attribute(node, end)?;
            self.numbers_in(node, end).map(|[number]| number)
        });
        Some(TorqueSpeed { stall_effort: ends[0]?, no_load_speed: ends[1]? })
    }

    /// The two links that an element names, each noted where it stands, and the element itself.
    fn two_links(
        &mut self,
        node: Element<'_, '_>,
        kind: &str,
        whole: &str,
    ) -> Option<(String, String)> {
        let ends = ["first", "second"].map(|end| self.required_attribute(node, end));
        for end in ends.iter().flatten() {
            let part = join_scope(whole, &end.name);
            self.shared.places.insert(format_args!("{kind} {part}"), end.place.clone());
        }
        let [first, second] = ends;
        let (first, second) = (first?.name, second?.name);
        let both = [&first, &second].map(|name| join_scope(whole, name)).join(" ");
        let place = self.xml.place(node);
        self.shared.places.insert(format_args!("{kind} {both}"), place);
        Some((first, second))
    }
}

impl Contents {
    /// One more model, unless a sibling has its name.
    pub fn add_model(
        &mut self,
        reader: &mut Reader<'_, '_>,
        node: Element<'_, '_>,
        draft: ModelDraft,
    ) {
        if reader.is_new(&draft.model.name, "model", node, &mut self.models_seen) {
            self.models.push(draft);
        }
    }

    /// The last model that was added.
    pub fn take_model(&mut self) -> Option<ModelDraft> {
        self.models.pop()
    }

    /// An include that gives nothing, which is reported: the frame its pose is in must be
    /// there all the same, and what it would have brought is not missed a second time.
    pub fn lose(&mut self, element: Element<'_, '_>, place: Place, name: Option<&str>, pose: Pose) {
        match name {
            Some(name) => _ = self.lost.names.insert(name.to_string()),
            None => self.lost.has_nameless = true,
        }
        let unnamed = format!("{UNNAMED}{}", element.id().get());
        self.merged.push(node(&unnamed, &place, pose, None, MovesWith::Scope));
    }

    /// All that stands in a finished model, without the model around it
    /// (`include merge="true"`): placed through a frame that stands where the model would.
    pub fn merge(&mut self, reader: &mut Reader<'_, '_>, node: Element<'_, '_>, draft: ModelDraft) {
        let ModelDraft { mut model, pose, placement, mut scope, place } = draft;
        let name = format!("_merged__{}__model__", model.name);
        let through = Named { name: name.clone(), place: place.clone() };
        let canonical = scope.canonical.clone();
        let inner = scope.clone();
        let posed = |transform| Pose { transform, relative_to: Some(through.clone()) };
        for link in std::mem::take(&mut model.links) {
            if reader.is_new(&link.name, "link", node, &mut self.links_seen) {
                let pose = posed(link.model_from_link);
                self.links.push(LinkDraft::finished(link, pose, place.clone()));
            }
        }
        for inner in std::mem::take(&mut model.models) {
            if reader.is_new(&inner.name, "model", node, &mut self.models_seen) {
                self.models.push(ModelDraft {
                    pose: posed(inner.parent_from_model),
                    placement: None,
                    scope: scope.take_inner(&inner.name),
                    place: place.clone(),
                    model: inner,
                });
            }
        }
        for frame in std::mem::take(&mut model.frames) {
            if reader.is_new(&frame.name, "frame", node, &mut self.frames_seen) {
                let attached_to = frame.attached_to.filter(|to| to != "__model__");
                let attached_to = attached_to.or_else(|| canonical.clone());
                self.frames.push(FrameDraft {
                    name: frame.name,
                    pose: posed(frame.scope_from_frame),
                    attached_to: attached_to.map(|name| Named { name, place: place.clone() }),
                    place: place.clone(),
                });
            }
        }
        for joint in std::mem::take(&mut model.joints) {
            if reader.is_new(&joint.name, "joint", node, &mut self.joints_seen) {
                self.finished_joints.push((joint, place.clone()));
            }
        }
        self.opaque.append(&mut model.opaque);
        native::take_over(&mut self.brought, model);
        self.merged.push(Node {
            name,
            place,
            pose,
            default_base: None,
            moves_with: canonical.map_or(MovesWith::Scope, MovesWith::Like),
            inner: Some(inner),
            placement,
        });
    }

    /// The contents of a finished model, to be settled again: how a model that another
    /// format gave gets its scope. Readers bound the nesting, so the recursion is shallow.
    fn of(model: &Model, xml: &mut Xml<'_>, place: &Place) -> Contents {
        let named = |name: String| Named { name, place: place.clone() };
        let links = model.links.iter().map(|link| {
            LinkDraft::finished(link.clone(), Pose::plain(link.model_from_link), place.clone())
        });
        let frames = model.frames.iter().map(|frame| FrameDraft {
            name: frame.name.clone(),
            place: place.clone(),
            pose: Pose {
                transform: frame.scope_from_frame,
                relative_to: Some(named("__model__".to_string())),
            },
            attached_to: frame.attached_to.clone().map(named),
        });
        let joints = model.joints.iter().map(|joint| (joint.clone(), place.clone()));
        Contents {
            links: links.collect(),
            models: model
                .models
                .iter()
                .map(|inner| ModelDraft::of(inner.clone(), xml, place))
                .collect(),
            frames: frames.collect(),
            finished_joints: joints.collect(),
            ..Contents::default()
        }
    }

    /// Puts everything in its place.
    pub fn settle(
        mut self,
        xml: &mut Xml<'_>,
        places: &Places,
        is_world: bool,
        canonical: Option<Named>,
    ) -> Settled {
        self.report_shared_names(xml);
        let nodes = self.nodes();
        let n_joints = self.joints.len() + self.finished_joints.len();
        let (transforms, scope) = frames::resolve(xml, is_world, self.lost, canonical, nodes);
        let (placed, joints_placed) = transforms.split_at(transforms.len() - n_joints);

        let mut placed = placed.iter().copied();
        let mut next = || tidy(placed.next().expect("one transform per node"));
        let links = self.links.into_iter().map(|draft| draft.place(xml, &scope, next())).collect();
        let models = self.models.into_iter().map(|draft| draft.place(next())).collect();
        let frames = self.frames.into_iter().map(|draft| draft.place(next())).collect();
        let joints = self.joints.into_iter().zip(joints_placed);
        let mut joints: Vec<Joint> = joints
            .filter_map(|(draft, scope_from_joint)| {
                draft.place(xml, places, &scope, *scope_from_joint)
            })
            .collect();
        joints.extend(self.finished_joints.into_iter().map(|(joint, _)| joint));
        let lights = self.lights.into_iter().map(|(mut light, pose)| {
            light.scope_from_light = in_scope(xml, &scope, pose);
            light
        });
        let lights = lights.collect();
        let regions = self.regions.into_iter().map(|(mut region, pose)| {
            region.world_from_region = in_scope(xml, &scope, pose);
            region
        });
        let regions = regions.collect();
        let feet = self.feet.into_iter().map(|(mut foot, pose)| {
            let in_scope = |pose| in_scope(xml, &scope, pose);
            let pose = pose.map(|pose| link_from_sole(&scope, &foot.link, pose, in_scope));
            foot.link_from_sole = pose;
            foot
        });
        let feet = feet.collect();
        Settled { links, models, frames, joints, lights, regions, feet, scope }
    }

    /// Everything that has a frame, in the order [`Contents::settle`] takes the answers:
    /// links, models, frames, what models were merged through, joints. What only this step
    /// needs is taken out of the drafts.
    fn nodes(&mut self) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(
            self.links.len()
                + self.models.len()
                + self.frames.len()
                + self.merged.len()
                + self.joints.len()
                + self.finished_joints.len(),
        );
        for draft in &mut self.links {
            let pose = std::mem::take(&mut draft.pose);
            nodes.push(node(&draft.link.name, &draft.place, pose, None, MovesWith::Itself));
        }
        for draft in &mut self.models {
            let pose = std::mem::take(&mut draft.pose);
            nodes.push(Node {
                inner: Some(std::mem::take(&mut draft.scope)),
                placement: draft.placement.take(),
                ..node(&draft.model.name, &draft.place, pose, None, MovesWith::Inner)
            });
        }
        for draft in &mut self.frames {
            let pose = std::mem::take(&mut draft.pose);
            let base = draft.attached_to.as_ref().map(|named| named.name.clone());
            let moves_with = draft.attached_to.clone().map_or(MovesWith::Scope, MovesWith::Named);
            nodes.push(node(&draft.name, &draft.place, pose, base, moves_with));
        }
        nodes.append(&mut self.merged);
        for draft in &self.joints {
            let child = draft.child.as_ref().map(|named| named.name.clone());
            let like = child.clone().map_or(MovesWith::Scope, MovesWith::Like);
            nodes.push(node(&draft.name, &draft.place, draft.pose.clone(), child, like));
        }
        for (joint, place) in &self.finished_joints {
            let pose = Pose::plain(joint.child_from_joint);
            let like = MovesWith::Like(joint.child.clone());
            nodes.push(node(&joint.name, place, pose, Some(joint.child.clone()), like));
        }
        nodes
    }

    /// `relative_to="arm"` should mean one thing. Newer versions of SDF forbid that a link
    /// and a joint share a name, older ones do not; here the first kind has the name.
    fn report_shared_names(&self, xml: &mut Xml<'_>) {
        let kinds = [
            ("link", &self.links_seen),
            ("model", &self.models_seen),
            ("frame", &self.frames_seen),
            ("joint", &self.joints_seen),
        ];
        for (i, (kind, names)) in kinds.iter().enumerate() {
            for (name, place) in names.iter() {
                let mut earlier = kinds[..i].iter();
                let first = earlier.find_map(|(other, names)| Some((other, names.find(name)?)));
                let Some((other, first)) = first else { continue };
                let message = format!("a {other} and a {kind} are both named `{name}`");
                let first = xml.findings.label(first);
                xml.findings.push(
                    Diagnostic::warning("shared-name", message)
                        .at(place.clone())
                        .note(format!("the {other} is at {first}"))
                        .note(format!("where a frame is named, `{name}` means the {other}"))
                        .help("SDF 1.7 and later forbid this; rename one of them"),
                );
            }
        }
    }
}

fn node(
    name: &str,
    place: &Place,
    pose: Pose,
    default_base: Option<String>,
    moves_with: MovesWith,
) -> Node {
    Node {
        name: name.to_string(),
        place: place.clone(),
        pose,
        default_base,
        moves_with,
        inner: None,
        placement: None,
    }
}

/// A pose that names a frame, in the scope itself.
fn in_scope(xml: &mut Xml<'_>, scope: &Scope, pose: Pose) -> Transform {
    let Some(named) = pose.relative_to else { return pose.transform };
    match scope.find(&named.name) {
        Ok(found) => tidy(found.scope_from_frame * pose.transform),
        Err(missing) => {
            missing.report(&named.name, &named.place, xml.findings);
            pose.transform
        }
    }
}

impl ModelDraft {
    fn place(mut self, scope_from_model: Transform) -> Model {
        self.model.parent_from_model = scope_from_model;
        self.model
    }

    /// A model that another format gave, with its scope.
    pub fn of(mut model: Model, xml: &mut Xml<'_>, place: &Place) -> ModelDraft {
        let pose = Pose::plain(std::mem::take(&mut model.parent_from_model));
        let canonical = model.canonical_link.clone();
        let canonical = canonical.map(|name| Named { name, place: place.clone() });
        let scope = Contents::of(&model, xml, place)
            .settle(xml, &Places::default(), false, canonical)
            .scope;
        ModelDraft { model, pose, placement: None, scope, place: place.clone() }
    }
}

impl FrameDraft {
    fn place(self, scope_from_frame: Transform) -> Frame {
        let attached_to = self.attached_to.map(|named| named.name);
        Frame { name: self.name, scope_from_frame, attached_to }
    }
}

impl LinkDraft {
    /// A link all of whose parts are in their places.
    fn finished(link: Link, pose: Pose, place: Place) -> LinkDraft {
        LinkDraft { link, pose, parts: Vec::new(), derive: None, place }
    }

    fn place(self, xml: &mut Xml<'_>, scope: &Scope, scope_from_link: Transform) -> Link {
        let mut link = self.link;
        link.model_from_link = scope_from_link;
        for (part, pose) in self.parts {
            let of_itself = pose.relative_to.as_ref().is_some_and(|named| named.name == link.name);
            let link_from_part = if of_itself {
                pose.transform
            } else {
                tidy(scope_from_link.inverse() * in_scope(xml, scope, pose))
            };
            match part {
                Part::Collision(i) => link.collisions[i].link_from_shape = link_from_part,
                Part::Visual(i) => link.visuals[i].link_from_shape = link_from_part,
                Part::Light(i) => link.lights[i].scope_from_light = link_from_part,
            }
        }
        if let Some(derive) = self.derive {
            let derived = derive.inertial(&link.collisions, xml.findings);
            link.inertial = derived.unwrap_or_default();
        }
        link
    }
}

/// Whether a child stands in the world and is kept as written.
pub(super) fn is_kept_in_world(child: Element<'_, '_>) -> bool {
    const KEPT: &[&str] = &[
        "actor",
        "atmosphere",
        "audio",
        "gui",
        "magnetic_field",
        "particle_emitter",
        "plugin",
        "population",
        "road",
        "scene",
        "spherical_coordinates",
        "state",
        "wind",
    ];
    KEPT.iter().any(|name| xml::is_named(child, name))
}
