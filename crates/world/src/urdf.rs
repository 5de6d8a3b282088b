//! URDF: a robot description goes in, a World with one model comes out.
//!
//! ```text
//! text ─ names, values, tree: every defect with its place
//!      └ urdf-rs: typed content ─► links, joints ─ merge massless ─► World
//! ```
//!
//! A link without `inertial` that is fixed to another is what ROS uses for a frame: it
//! becomes a [`Frame`] and its shapes go to the link it is fixed to. A root link named
//! `world` is the world itself.
//!
//! Deliberately absent: ground, sensors, controllers. `gazebo` blocks give friction and
//! are otherwise kept as written.

mod gazebo;
mod links;
mod schema;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Severity, Source, Transform, Vec3};
use roxmltree::Node;

use crate::assets::{Kept, Loaded, unit_vector};
use crate::geometry::TriMesh;
use crate::joint::{Axis, Joint, JointKind, Mimic};
use crate::places::Places;
use crate::read::ReadOptions;
use crate::world::{Model, World};
use crate::xml::{self, Xml};

/// Reads a robot, as far as it goes: it is good when the findings hold no error. `None`
/// where nothing can be made of it.
pub(crate) fn read(
    source: &Arc<Source>,
    base_dir: &Path,
    options: &ReadOptions,
    findings: &mut Findings,
) -> Option<(World, Places)> {
    let document = xml::parse(source).map_err(|diagnostic| findings.push(diagnostic)).ok()?;
    let root = document.root_element();
    let mut xml = Xml { source: source.clone(), lenient: options.lenient, findings };
    if !xml::is_named(root, "robot") {
        let message = format!("a URDF starts with `robot`, this with `{}`", xml::local_name(root));
        xml.error("not-urdf", message, root);
        return None;
    }
    if let Some(diagnostic) = crate::xacro::not_expanded(&xml, root) {
        xml.findings.push(diagnostic);
        return None;
    }
    xml.check_names(root, &schema::ROBOT);
    schema::check_values(&mut xml, root, is_version_1_2(root));
    let mut errors = xml.findings.kept().iter().filter(|found| found.severity == Severity::Error);
    let is_readable = errors.all(|found| has_stand_in(root, found));
    let mut of_tree = Findings::new();
    let mut tree_xml =
        Xml { source: source.clone(), lenient: options.lenient, findings: &mut of_tree };
    let tree = tree::check(&mut tree_xml, root);
    let of_tree = of_tree.into_vec();
    let is_parsable = of_tree.iter().all(|found| tree::CODES.contains(&found.code));
    let is_sound = of_tree.is_empty();
    xml.findings.extend(of_tree);
    if !is_readable || !is_parsable {
        return None;
    }
    let robot = typed(&mut xml, root)?;
    let mut reader = Reader {
        xml,
        base_dir,
        options,
        materials: materials_of(&robot),
        robot,
        meshes: Loaded::default(),
        kept: Kept::default(),
        places: Places::default(),
    };
    let mut model = reader.model(root, &tree?)?;
    if !is_sound {
        forget_loose_ends(&mut model);
    }
    let Reader { mut xml, kept, places, .. } = reader;
    kept.note(&mut xml);
    Some((World { models: vec![model], ..World::default() }, places))
}

fn is_version_1_2(root: Node<'_, '_>) -> bool {
    let number = |word: Option<&str>| word.and_then(|w| w.trim().parse::<u32>().ok());
    let mut parts = root.attribute("version").unwrap_or("1.0").split('.');
    (number(parts.next()), number(parts.next())) >= (Some(1), Some(2))
}

/// What `urdf-rs` is given for a word it would refuse the whole file for. The word is told;
/// what else is wrong with its link or joint is seen with this in its place.
fn stand_in(part: Node<'_, '_>) -> Option<(Range<usize>, &'static str)> {
    if let Some(kind) = tree::unknown_kind(part) {
        let turns = if xml::child(part, "limit").is_some() { "revolute" } else { "continuous" };
        return Some((kind, turns));
    }
    let mass = xml::child(xml::child(part, "inertial")?, "mass")?;
    let is_missing = mass.attribute("value").is_none_or(|value| value.trim().is_empty());
    is_missing.then_some((mass.range(), "<mass value=\"1\"/>"))
}

/// Whether a defect is a mass without value, which has a stand-in.
fn has_stand_in(root: Node<'_, '_>, found: &Diagnostic) -> bool {
    let is_here = |(gap, _): (Range<usize>, &str)| {
        found.place.as_ref().is_some_and(|place| gap.contains(&place.span.start))
    };
    found.code == "missing-attribute" && root.children().filter_map(stand_in).any(is_here)
}

/// The content as `urdf-rs` sees it, links and joints in file order. Only what it
/// understands is handed to it, so that its order is ours.
fn typed(xml: &mut Xml<'_>, root: Node<'_, '_>) -> Option<urdf_rs::Robot> {
    let text = &xml.source.text;
    let start = root.first_child().map_or(root.range().end, |first| first.range().start);
    let mut plain = text[root.range().start..start].trim_end().to_string();
    let parts: Vec<Node<'_, '_>> = root
        .children()
        .filter(|n| ["link", "joint", "material"].iter().any(|tag| xml::is_named(*n, tag)))
        .collect();
    if parts.is_empty() {
        xml.error("no-links", "this robot has no links", root);
        return None;
    }
    for part in &parts {
        let Range { start, end } = part.range();
        match stand_in(*part) {
            None => plain.push_str(&text[start..end]),
            Some((gap, word)) => {
                plain.push_str(&text[start..gap.start]);
                plain.push_str(word);
                plain.push_str(&text[gap.end..end]);
            }
        }
    }
    plain.push_str("</robot>");
    let refused =
        |why: String| Diagnostic::error("bad-urdf", "cannot make sense of this robot").note(why);
    let count = |tag: &str| parts.iter().filter(|n| xml::is_named(**n, tag)).count();
    let read = std::panic::catch_unwind(|| urdf_rs::read_from_string(&plain));
    let result = match read {
        Ok(Ok(robot))
            if robot.links.len() == count("link") && robot.joints.len() == count("joint") =>
        {
            Ok(robot)
        }
        Ok(Ok(_)) => Err(refused("links or joints went missing".into())),
        Ok(Err(error)) => Err(refused(error.to_string())),
        Err(_) => Err(refused("its XML is too unusual".into())),
    };
    let place = xml.place(root);
    result.map_err(|diagnostic| xml.findings.push(diagnostic.at(place))).ok()
}

struct Reader<'r> {
    xml: Xml<'r>,
    base_dir: &'r Path,
    options: &'r ReadOptions,
    robot: urdf_rs::Robot,
    materials: BTreeMap<String, urdf_rs::Material>,
    meshes: Loaded<TriMesh>,
    kept: Kept,
    places: Places,
}

impl Reader<'_> {
    fn model(&mut self, root: Node<'_, '_>, tree: &tree::Tree) -> Option<Model> {
        let name = self.robot.name.clone();
        self.places.insert(format_args!("model {name}"), self.xml.place(root));
        let link_nodes: Vec<_> = xml::children(root, "link").collect();
        let joint_nodes: Vec<_> = xml::children(root, "joint").collect();
        let model_from_link = self.link_poses(tree);

        let mut links = Vec::new();
        for (i, node) in link_nodes.iter().enumerate() {
            let link = self.link(i, *node, model_from_link[i]);
            let whole = format!("{name}::{}", link.name);
            self.remember(&format!("link {whole}"), *node, &["inertial"]);
            let shapes: Vec<_> = xml::children(*node, "collision").collect();
            if shapes.len() == link.collisions.len() {
                for (collision, shape) in link.collisions.iter().zip(shapes) {
                    let part = format_args!("collision {whole}::{}", collision.name);
                    self.places.insert(part, self.xml.place(shape));
                }
            }
            links.push(link);
        }
        let in_tree: BTreeSet<usize> = tree.edges_from_root.iter().map(|edge| edge.1).collect();
        let mut joints = Vec::new();
        for (i, node) in joint_nodes.iter().enumerate() {
            let joint = self.joint(i, *node);
            joints.extend(joint.filter(|_| in_tree.contains(&i)));
            let part = format!("joint {name}::{}", self.robot.joints[i].name);
            self.remember(&part, *node, &["axis", "limit"]);
        }
        let mut model = Model { name, links, joints, ..Model::default() };
        self.extensions(root, &mut model);
        links::merge_massless(&mut self.xml, root, &mut model, tree);
        Some(model)
    }

    fn remember(&mut self, part: &str, node: Node<'_, '_>, details: &[&str]) {
        self.places.insert(part, self.xml.place(node));
        for detail in details {
            if let Some(inner) = xml::child(node, detail) {
                self.places.insert(format_args!("{part}#{detail}"), self.xml.place(inner));
            }
        }
        for (outer, inner) in [("inertial", "mass"), ("inertial", "inertia")] {
            if let Some(inner_node) = xml::child(node, outer).and_then(|n| xml::child(n, inner)) {
                self.places.insert(format_args!("{part}#{inner}"), self.xml.place(inner_node));
            }
        }
    }

    /// Where each link is in the model's frame, which is the root link's.
    fn link_poses(&self, tree: &tree::Tree) -> Vec<Transform> {
        let mut poses = vec![Transform::IDENTITY; self.robot.links.len()];
        for (parent, joint, child) in &tree.edges_from_root {
            poses[*child] = poses[*parent] * links::pose(&self.robot.joints[*joint].origin);
        }
        poses
    }

    fn joint(&mut self, i: usize, node: Node<'_, '_>) -> Option<Joint> {
        use urdf_rs::JointType as Type;
        let joint = self.robot.joints[i].clone();
        let kind = match joint.joint_type {
            Type::Fixed => JointKind::Fixed,
            Type::Revolute => JointKind::Revolute(self.axis(&joint, node)),
            Type::Continuous => {
                let axis = self.axis(&joint, node);
                JointKind::Continuous(Axis {
                    lower: f64::NEG_INFINITY,
                    upper: f64::INFINITY,
                    ..axis
                })
            }
            Type::Prismatic => JointKind::Prismatic(self.axis(&joint, node)),
            Type::Spherical => JointKind::Ball,
            Type::Floating => {
                let message = format!("the floating joint `{}` leaves its child free", joint.name);
                let place = self.xml.place(node);
                self.xml.findings.push(Diagnostic::remark("floating-joint", message).at(place));
                return None;
            }
            Type::Planar => {
                let place = self.xml.place(node);
                let message =
                    format!("`{}` is a planar joint, which no engine here has", joint.name);
                self.xml.findings.push(
                    Diagnostic::error("unsupported-joint", message)
                        .at(place)
                        .help("use two prismatic joints and a continuous one"),
                );
                return None;
            }
        };
        Some(Joint {
            name: joint.name,
            parent: Some(joint.parent.link),
            child: joint.child.link,
            child_from_joint: Transform::IDENTITY,
            kind,
            opaque: Vec::new(),
        })
    }

    fn axis(&mut self, joint: &urdf_rs::Joint, node: Node<'_, '_>) -> Axis {
        let given = Vec3::from_array(*joint.axis.xyz);
        let axis_node = xml::child(node, "axis").unwrap_or(node);
        let direction = unit_vector(given);
        if direction.is_none() {
            let message = format!("the axis of `{}` has no direction", joint.name);
            self.xml.error("zero-vector", message, axis_node);
        } else if (given.length() - 1.0).abs() > 1e-3 {
            let place = self.xml.place(axis_node);
            let message =
                format!("the axis of `{}` has length {}, not 1", joint.name, given.length());
            self.xml.findings.push(Diagnostic::warning("non-unit-axis", message).at(place));
        }
        let mut axis = Axis::along(direction.unwrap_or(Vec3::Z));
        if let Some(limit) = xml::child(node, "limit") {
            (axis.lower, axis.upper) = (joint.limit.lower, joint.limit.upper);
            // A limit of zero on effort or speed is a file that does not know it.
            let unless_zero = |most: f64| if most == 0.0 { f64::INFINITY } else { most };
            axis.effort_max = unless_zero(joint.limit.effort);
            axis.velocity_max = unless_zero(joint.limit.velocity);
            if axis.lower > axis.upper {
                let message = format!("`{}` has its lower limit above its upper", joint.name);
                self.xml.error("bad-limits", message, limit);
                (axis.lower, axis.upper) = (f64::NEG_INFINITY, f64::INFINITY);
            }
        } else if joint.joint_type != urdf_rs::JointType::Continuous {
            let kind = node.attribute("type").unwrap_or_default();
            let message = format!("the {kind} joint `{}` has no `limit`", joint.name);
            self.xml.error("missing-element", message, node);
        }
        if let Some(dynamics) = &joint.dynamics {
            (axis.damping, axis.friction) = (dynamics.damping, dynamics.friction);
        }
        axis.mimic = joint.mimic.as_ref().map(|mimic| Mimic {
            leader: mimic.joint.clone(),
            leader_axis: 0,
            multiplier: mimic.multiplier.unwrap_or(1.0),
            offset: mimic.offset.unwrap_or(0.0),
            reference: 0.0,
        });
        axis
    }
}

/// Where links and joints do not form one tree, which is told: what is left is looked at for
/// itself, without a second word on who is missing.
fn forget_loose_ends(model: &mut Model) {
    let mut seen = BTreeSet::new();
    model.links.retain(|link| seen.insert(link.name.clone()));
    let mut joints_seen = BTreeSet::new();
    model.joints.retain(|joint| joints_seen.insert(joint.name.clone()));
    for joint in &mut model.joints {
        for axis in joint.kind.axes_mut() {
            axis.mimic = None;
        }
    }
}

/// Materials by name, for visuals that only name one.
fn materials_of(robot: &urdf_rs::Robot) -> BTreeMap<String, urdf_rs::Material> {
    let inner = robot.links.iter().flat_map(|link| &link.visual);
    let inner = inner.filter_map(|visual| visual.material.as_ref());
    let all = robot.materials.iter().chain(inner);
    all.filter(|m| m.color.is_some() || m.texture.is_some())
        .map(|m| (m.name.clone(), m.clone()))
        .collect()
}

#[cfg(test)]
mod tests;
