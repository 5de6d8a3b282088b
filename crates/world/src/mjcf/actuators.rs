//! What acts on joints and between bodies: actuators, joint couplings, contact excludes,
//! the total mass.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::Diagnostic;
use mjcf_rs::extras as mj;
use roxmltree::Node;

use super::Reader;
use super::left_out::inherited;
use crate::joint::{Joint, JointKind, Mimic};
use crate::massless;
use crate::world::{Actuator, ActuatorKind, World};
use crate::xml;

impl Reader<'_> {
    /// Motors on joints; what drives tendons, sites or bodies is kept as written.
    pub(super) fn actuators(&mut self, root: Node<'_, '_>, world: &mut World) {
        self.set_total_mass(world);
        let nodes: Vec<Node<'_, '_>> = xml::children(root, "actuator")
            .flat_map(|section| {
                section.children().filter(|n| n.is_element() && !xml::is_prefixed(*n))
            })
            .collect();
        let model = self.model;
        if nodes.len() != model.actuators.len() {
            return self.not_as_written("actuators", root);
        }
        let joints = joints_by_name(world);
        for (given, node) in model.actuators.iter().zip(nodes) {
            let Some(joint) = &given.joint else {
                world.opaque.push(self.kept.keep(&self.xml, "mjcf", node));
                continue;
            };
            let Some((owner, driven)) = joints.get(joint.as_str()).copied() else {
                self.no_such_joint(world, joint, node, "joint");
                continue;
            };
            let has_axis = !world.models[owner].joints[driven].kind.axes().is_empty();
            let works = has_axis && !self.flags.is_off("actuation");
            let Some((kind, gain)) = kind_of(given).filter(|_| works) else {
                world.opaque.push(self.kept.keep(&self.xml, "mjcf", node));
                continue;
            };
            let autolimits = model.compiler.autolimits;
            let range = |limited: mjcf_rs::Tristate, range: Option<[f64; 2]>| {
                range.filter(|_| limited.resolve(autolimits, true)).map(|[low, high]| (low, high))
            };
            let name = given.name.clone().unwrap_or_else(|| format!("{joint}_motor"));
            let effort_range = range(given.force_limited, given.force_range)
                .map(|(low, high)| (low / gain, high / gain))
                .map(|(a, b)| (a.min(b), a.max(b)));
            let part = format!("actuator {}::{name}", world.models[owner].name);
            let place = self.place_of(node);
            self.places.insert(part, place);
            let mut command_range = range(given.ctrl_limited, given.ctrl_range);
            if command_range.is_none() && matches!(kind, ActuatorKind::Position { .. }) {
                command_range = self.range_of_joint(node, &world.models[owner].joints[driven]);
            }
            if self.flags.is_off("clampctrl") {
                command_range = None;
            }
            world.models[owner].actuators.push(Actuator {
                name,
                joint: joint.clone(),
                kind,
                gear: given.gear[0] * gain,
                command_range,
                // The force range bounds what the gain gives, and is then geared; here the
                // gain is part of the gear, so it is taken out of the range.
                effort_range,
                ..Actuator::default()
            });
            self.note_servo(node, owner, &mut world.models[owner]);
        }
        for model in &mut world.models {
            massless::number_repeats(model.actuators.iter_mut().map(|motor| &mut motor.name));
        }
    }

    /// `inheritrange`: commands reach so many times as far as the joint does, from its middle.
    fn range_of_joint(&mut self, node: Node<'_, '_>, joint: &Joint) -> Option<(f64, f64)> {
        let text = inherited(node, "inheritrange")?;
        let place = self.xml.attribute_place(node, "inheritrange");
        let times = *self.xml.numbers(text, &place, false)?.first()?;
        let axis = *joint.kind.axes().first()?;
        if times == 0.0 || self.flags.is_off("limit") {
            return None;
        }
        if times < 0.0 || !axis.lower.is_finite() || !axis.upper.is_finite() {
            let message = "`inheritrange` is more than zero, and its joint has limits";
            self.xml.findings.push(Diagnostic::error("bad-actuator", message).at(place));
            return None;
        }
        let (middle, half) = ((axis.lower + axis.upper) / 2.0, (axis.upper - axis.lower) / 2.0);
        Some((middle - half * times, middle + half * times))
    }

    fn no_such_joint(&mut self, world: &World, joint: &str, node: Node<'_, '_>, attribute: &str) {
        let mut seen = BTreeSet::new(); // two may have one name, which is told
        let known = world.models.iter().flat_map(|m| m.joints.iter().map(|j| j.name.as_str()));
        let known = known.filter(move |name| seen.insert(*name));
        let is_free = !self.xml.findings.is_full() && self.model.joint_by_name(joint).is_some();
        let place = self.xml.attribute_place(node, attribute);
        let diagnostic = match is_free {
            true => Diagnostic::error(
                "unsupported-joint",
                format!("`{joint}` is a free joint, which nothing drives here"),
            ),
            false => Diagnostic::error("no-such-joint", format!("there is no joint `{joint}`"))
                .help_maybe(self.xml.findings.suggestion(joint, known)),
        };
        self.xml.findings.push(diagnostic.at(place));
    }

    /// `equality joint` with a straight line is a joint that follows another; every other
    /// equality is kept as written.
    pub(super) fn couplings(&mut self, root: Node<'_, '_>, world: &mut World) {
        if self.flags.is_off("equality") {
            return;
        }
        let nodes = xml::children(root, "equality")
            .flat_map(|section| section.children().filter(Node::is_element));
        let joints = joints_by_name(world);
        for node in nodes {
            if self.coupling(node, &joints, world).is_none() {
                world.opaque.push(self.kept.keep(&self.xml, "mjcf", node));
            }
        }
    }

    fn coupling(
        &mut self,
        node: Node<'_, '_>,
        joints: &BTreeMap<String, (usize, usize)>,
        world: &mut World,
    ) -> Option<()> {
        if !xml::is_named(node, "joint") || node.attribute("active") == Some("false") {
            return None;
        }
        let (follower, leader) = (node.attribute("joint1")?, node.attribute("joint2")?);
        let mut slope = [0.0, 1.0, 0.0, 0.0, 0.0];
        if let Some(given) = crate::assets::numbers(&mut self.xml, node, "polycoef", (1, 5), false)
        {
            slope[..given.len()].copy_from_slice(&given);
        }
        if slope[2..] != [0.0; 3] {
            return None;
        }
        let ((owner, follower), (leaders_owner, _)) =
            (*joints.get(follower)?, *joints.get(leader)?);
        if owner != leaders_owner {
            return None;
        }
        let (JointKind::Revolute(axis) | JointKind::Continuous(axis) | JointKind::Prismatic(axis)) =
            &mut world.models[owner].joints[follower].kind
        else {
            return None;
        };
        axis.mimic = Some(Mimic {
            leader: leader.to_string(),
            leader_axis: 0,
            multiplier: slope[1],
            offset: slope[0],
            reference: 0.0,
        });
        Some(())
    }

    /// Pairs of bodies that never touch, where one model holds both.
    pub(super) fn excludes(&mut self, root: Node<'_, '_>, world: &mut World) {
        let excludes = xml::children(root, "contact")
            .flat_map(|section| section.children().filter(|n| xml::is_named(*n, "exclude")));
        let bodies: BTreeSet<&str> =
            self.model.bodies.iter().filter_map(|b| b.body.name.as_deref()).collect();
        let links = world.models.iter().enumerate();
        let owners: BTreeMap<String, usize> = links
            .flat_map(|(i, model)| model.links.iter().map(move |link| (link.name.clone(), i)))
            .collect();
        for node in excludes {
            let ends = ["body1", "body2"].map(|end| node.attribute(end).unwrap_or_default());
            for (end, name) in ["body1", "body2"].iter().zip(ends) {
                if name != "world" && !bodies.contains(name) {
                    let known = bodies.iter().copied();
                    let place = self.xml.attribute_place(node, end);
                    let help = self.xml.findings.suggestion(name, known);
                    self.xml.findings.push(
                        Diagnostic::error("no-such-body", format!("there is no body `{name}`"))
                            .at(place)
                            .help_maybe(help),
                    );
                }
            }
            let [first, second] = ends.map(|name| owners.get(name).copied());
            match first.filter(|owner| second == Some(*owner)) {
                Some(owner) => {
                    let model = &mut world.models[owner];
                    model.contact_excludes.push((ends[0].to_string(), ends[1].to_string()));
                }
                None => world.opaque.push(self.kept.keep(&self.xml, "mjcf", node)),
            }
        }
    }

    /// The compiler's `settotalmass`.
    fn set_total_mass(&mut self, world: &mut World) {
        let wanted = self.model.compiler.set_total_mass;
        let moving = || world.models.iter().filter(|model| !model.is_static);
        let total: f64 =
            moving().flat_map(|model| &model.links).map(|link| link.inertial.mass).sum();
        if wanted > 0.0 && total > 0.0 {
            let links = world.models.iter_mut().filter(|m| !m.is_static).flat_map(|m| &mut m.links);
            for link in links {
                link.inertial.mass *= wanted / total;
                link.inertial.inertia *= wanted / total;
            }
        }
    }
}

/// The model and the position in it of every joint; the first where names repeat.
fn joints_by_name(world: &World) -> BTreeMap<String, (usize, usize)> {
    let mut found = BTreeMap::new();
    for (m, model) in world.models.iter().enumerate() {
        for (j, joint) in model.joints.iter().enumerate() {
            found.entry(joint.name.clone()).or_insert((m, j));
        }
    }
    found
}

/// What a command means, and the gain that goes into the gear, which is not zero; `None`
/// for muscles and the like.
///
/// A `general` actuator gives `gain·command + b0 + b1·position + b2·velocity`: with no bias
/// it is a motor, with `b1 = −gain` it holds a position, with `b2 = −gain` a velocity.
fn kind_of(given: &mj::Actuator) -> Option<(ActuatorKind, f64)> {
    let word =
        |word: &Option<String>, default: &str| word.clone().unwrap_or_else(|| default.into());
    match given.kind {
        mj::ActuatorKind::Motor => Some((ActuatorKind::Motor, 1.0)),
        mj::ActuatorKind::Position => {
            let (kp, kv) = (given.kp.unwrap_or(1.0), given.kv.unwrap_or(0.0));
            Some((ActuatorKind::Position { kp, kv }, 1.0))
        }
        mj::ActuatorKind::Velocity => {
            Some((ActuatorKind::Velocity { kv: given.kv.unwrap_or(1.0) }, 1.0))
        }
        mj::ActuatorKind::General => {
            let at = |list: &[f64], i: usize, default: f64| list.get(i).copied().unwrap_or(default);
            let gain = at(&given.gainprm, 0, 1.0);
            let b = [0, 1, 2].map(|i| at(&given.biasprm, i, 0.0));
            if word(&given.gain_type, "fixed") != "fixed" || word(&given.dyn_type, "none") != "none"
            {
                return None;
            }
            match word(&given.bias_type, "none").as_str() {
                "none" if gain != 0.0 => Some((ActuatorKind::Motor, gain)),
                "affine" if b[0] == 0.0 && gain == -b[1] && gain > 0.0 => {
                    Some((ActuatorKind::Position { kp: gain, kv: -b[2] }, 1.0))
                }
                "affine" if b[0] == 0.0 && b[1] == 0.0 && gain == -b[2] && gain > 0.0 => {
                    Some((ActuatorKind::Velocity { kv: gain }, 1.0))
                }
                _ => None,
            }
        }
        _ => None,
    }
}
