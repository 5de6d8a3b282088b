//! What stands beside links and joints: `gazebo` blocks with friction, transmissions with
//! motors, and whatever else is kept as written.

use std::collections::BTreeMap;

use headland_base::Vec3;
use roxmltree::Node;

use super::Reader;
use crate::joint::{Axis, JointKind};
use crate::massless;
use crate::world::{Actuator, ActuatorKind, Link, Model};
use crate::xml;

/// Where links and joints are in their model, by name.
struct Names {
    links: BTreeMap<String, usize>,
    joints: BTreeMap<String, usize>,
}

impl Reader<'_> {
    /// Reads every block of the robot that is neither link, joint nor material.
    pub(super) fn extensions(&mut self, root: Node<'_, '_>, model: &mut Model) {
        fn positions<'a>(names: impl Iterator<Item = &'a String>) -> BTreeMap<String, usize> {
            names.enumerate().map(|(i, name)| (name.clone(), i)).collect()
        }
        let names = Names {
            links: positions(model.links.iter().map(|link| &link.name)),
            joints: positions(model.joints.iter().map(|joint| &joint.name)),
        };
        for node in root.children().filter(Node::is_element) {
            match node.tag_name().name() {
                "link" | "joint" | "material" => {}
                "transmission" if self.transmission(node, &names, model) => {}
                "gazebo" => self.gazebo(node, &names, model),
                "transmission" | "ros2_control" | "sensor" | "mujoco" | "loop_joint" | "frame" => {
                    model.opaque.push(self.kept.keep(&self.xml, "urdf", node));
                }
                _ => {}
            }
        }
        massless::number_repeats(model.actuators.iter_mut().map(|motor| &mut motor.name));
    }

    /// A motor per joint of a transmission whose interface we know. URDF gives no gains,
    /// so a position or velocity motor has none: the run's own apply. Nor a range: the effort
    /// limit of a joint is the joint's, whatever the gear.
    fn transmission(&mut self, node: Node<'_, '_>, names: &Names, model: &mut Model) -> bool {
        let mut understood = false;
        let actuator = xml::child(node, "actuator");
        for joint in xml::children(node, "joint") {
            let Some(name) = joint.attribute("name") else { continue };
            let interface = xml::child(joint, "hardwareInterface")
                .or_else(|| actuator.and_then(|a| xml::child(a, "hardwareInterface")));
            let word = interface.map(xml::text_of).unwrap_or_default();
            let kind = match word.trim().rsplit('/').next().unwrap_or_default() {
                "EffortJointInterface" => ActuatorKind::Motor,
                "PositionJointInterface" => ActuatorKind::Position { kp: 0.0, kv: 0.0 },
                "VelocityJointInterface" => ActuatorKind::Velocity { kv: 0.0 },
                _ => continue,
            };
            // A motor on a fixed joint has nothing to move.
            let driven = names.joints.get(name).map(|i| &model.joints[*i]);
            if driven.is_none_or(|joint| joint.kind.axes().is_empty()) {
                continue;
            }
            let gear = actuator.and_then(|a| xml::child(a, "mechanicalReduction"));
            let gear = gear.and_then(|g| self.xml.number(g)).unwrap_or(1.0);
            let mut actuator_name = format!("{name}_motor");
            if let Some(given) = actuator.and_then(|a| a.attribute("name")) {
                actuator_name = given.to_string();
            }
            model.actuators.push(Actuator {
                name: actuator_name,
                joint: name.to_string(),
                kind,
                gear,
                command_range: None,
                effort_range: None,
                ..Actuator::default()
            });
            understood = true;
        }
        understood
    }

    fn gazebo(&mut self, node: Node<'_, '_>, names: &Names, model: &mut Model) {
        let Some(reference) = node.attribute("reference") else {
            model.opaque.push(self.kept.keep(&self.xml, "urdf", node));
            return;
        };
        let mut all_understood = true;
        let mut link = names.links.get(reference).map(|i| &mut model.links[*i]);
        let mut joint = names.joints.get(reference).map(|i| &mut model.joints[*i]);
        for word in node.children().filter(Node::is_element) {
            let tag = word.tag_name().name();
            let understood = match (&mut link, &mut joint) {
                (Some(link), _) => self.link_word(link, tag, word),
                (None, Some(joint)) => match &mut joint.kind {
                    JointKind::Revolute(axis)
                    | JointKind::Continuous(axis)
                    | JointKind::Prismatic(axis) => self.joint_word(axis, tag, word),
                    _ => None,
                },
                (None, None) => None,
            };
            all_understood &= understood.is_some();
        }
        if !all_understood {
            let kept = self.kept.keep(&self.xml, "urdf", node);
            match (link, joint) {
                (Some(link), _) => link.opaque.push(kept),
                (None, Some(joint)) => joint.opaque.push(kept),
                (None, None) => model.opaque.push(kept),
            }
        }
    }

    /// What Gazebo says about a link; `None` for what is not understood.
    fn link_word(&mut self, link: &mut Link, tag: &str, word: Node<'_, '_>) -> Option<()> {
        match tag {
            "mu1" | "mu2" | "kp" | "kd" | "maxVel" | "minDepth" => {
                let value = self.word_number(word)?;
                for surface in link.collisions.iter_mut().map(|shape| &mut shape.surface) {
                    let field = match tag {
                        "mu1" => &mut surface.mu,
                        "mu2" => &mut surface.mu2,
                        "kp" => &mut surface.stiffness,
                        "kd" => &mut surface.damping,
                        "maxVel" => &mut surface.max_correction_speed,
                        _ => &mut surface.min_depth,
                    };
                    *field = Some(value);
                }
            }
            "fdir1" => {
                let numbers: [f64; 3] = self.word_numbers(word)?;
                for shape in &mut link.collisions {
                    shape.surface.friction_direction = Some(Vec3::from_array(numbers));
                }
            }
            "turnGravityOff" => link.gravity = !self.word_boolean(word)?,
            "gravity" => link.gravity = self.word_boolean(word)?,
            "material" => {} // a name in Gazebo's own scripts; the URDF has colours of its own
            _ => return None,
        }
        Some(())
    }

    fn joint_word(&mut self, axis: &mut Axis, tag: &str, word: Node<'_, '_>) -> Option<()> {
        match tag {
            "springStiffness" => axis.spring_stiffness = self.word_number(word)?,
            "springReference" => axis.spring_reference = self.word_number(word)?,
            "implicitSpringDamper" | "provideFeedback" | "disableFixedJointLumping" => {}
            _ => return None,
        }
        Some(())
    }

    fn word_number(&mut self, word: Node<'_, '_>) -> Option<f64> {
        self.word_numbers(word).map(|[number]| number)
    }

    /// Gazebo takes a value as text or as the attribute `value`; an empty one says nothing.
    fn word_numbers<const N: usize>(&mut self, word: Node<'_, '_>) -> Option<[f64; N]> {
        match word.attribute("value") {
            Some(_) => {
                let found = crate::assets::numbers(&mut self.xml, word, "value", (N, N), false)?;
                found.try_into().ok()
            }
            None if xml::text_of(word).trim().is_empty() => None,
            None => self.xml.array(word),
        }
    }

    fn word_boolean(&mut self, word: Node<'_, '_>) -> Option<bool> {
        let place = match word.attribute("value") {
            Some(_) => self.xml.attribute_place(word, "value"),
            None => self.xml.text_place(word),
        };
        let text = word.attribute("value").map_or_else(|| xml::text_of(word), str::to_string);
        if text.trim().is_empty() { None } else { self.xml.boolean_in(&text, place) }
    }
}
