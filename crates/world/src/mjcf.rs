//! MJCF: a MuJoCo model goes in, a World comes out.
//!
//! ```text
//! files ─ include ─► one text ─ names, values ─► every defect with its place
//!                             └ mjcf-rs: defaults, angles, orientations ─► World
//! ```
//!
//! Each body that stands in the world, with all it carries, is a model named after it; the
//! geoms of the world itself are the static model `worldbody`. Sites become frames. What
//! has no place in a World (sensors, tendons, keyframes, …) is kept as written.
//!
//! Deliberately absent: soft bodies, and whatever MuJoCo makes out of rules (`replicate`,
//! `composite`, `attach`).

mod actuators;
mod bodies;
mod geoms;
mod include;
mod left_out;
mod reflected;
#[rustfmt::skip]
mod schema;
mod values;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Severity, SimDuration, Source, Vec3};
use roxmltree::Node;

use crate::assets::{Kept, Loaded};
use crate::geometry::TriMesh;
use crate::places::Places;
use crate::read::ReadOptions;
use crate::world::{Physics, World};
use crate::xml::{self, Xml};

pub(crate) use include::Expanded;

/// Puts every include in place and hands the whole to `read`. What that finds is said of the
/// files that were included, as they are written.
pub(crate) fn with_includes(
    source: &Arc<Source>,
    base_dir: &Path,
    findings: &mut Findings,
    read: impl FnOnce(&Expanded, &mut Findings) -> Option<(World, Places)>,
) -> Option<(World, Places)> {
    let expanded = Expanded::new(source, base_dir, findings)?;
    let mut own = Findings::new();
    let made = read(&expanded, &mut own);
    findings.append(own.map(|mut diagnostic| {
        diagnostic.place = diagnostic.place.map(|place| expanded.original(place));
        diagnostic
    }));
    made.map(|(world, places)| (world, places.map(|place| expanded.original(place))))
}

/// Reads a model whose includes are in place, as far as it goes: it is good when the findings
/// hold no error. Places are in that text. `None` where nothing can be made of it.
pub(crate) fn read_whole(
    expanded: &Expanded,
    base_dir: &Path,
    options: &ReadOptions,
    findings: &mut Findings,
) -> Option<(World, Places)> {
    let source = &expanded.source;
    let document = xml::parse(source).map_err(|diagnostic| findings.push(diagnostic)).ok()?;
    let root = document.root_element();
    let mut xml = Xml { source: source.clone(), lenient: options.lenient, findings };
    if !xml::is_named(root, "mujoco") {
        let message =
            format!("an MJCF starts with `mujoco`, this with `{}`", xml::local_name(root));
        xml.error("not-mjcf", message, root);
        return None;
    }
    xml.check_names(root, &schema::MUJOCO);
    values::check(&mut xml, expanded, root);
    // Without an included file nothing is known of its defaults and names, on which all that
    // follows depends.
    if has_blocking_errors(xml.findings) || !expanded.is_whole {
        return None;
    }
    if root.first_child().is_none() {
        return Some((World::default(), Places::default()));
    }
    let model = typed(&mut xml, root, base_dir)?;
    let mut reader = Reader {
        xml,
        base_dir,
        model: &model,
        meshes: Loaded::default(),
        kept: Kept::default(),
        places: Places::default(),
        notes: bodies::Notes::default(),
        ratios: reflected::Ratios::default(),
        says_convex: root
            .descendants()
            .any(|n| n.has_tag_name("mesh") && n.attribute("inertia") == Some("convex")),
        flags: left_out::Flags::of(root),
        rubbing_masks: rubbing_masks(&model),
        used_meshes: BTreeSet::new(),
        told: BTreeSet::new(),
    };
    let world = reader.world(root);
    let Reader { mut xml, kept, places, .. } = reader;
    left_out::tell(&mut xml, root);
    kept.note(&mut xml);
    Some((world, places))
}

/// Whether what was found leaves nothing to build on. Two of one name do not: each is read,
/// and who names it gets the first.
fn has_blocking_errors(findings: &Findings) -> bool {
    let blocks =
        |found: &Diagnostic| found.severity == Severity::Error && found.code != "duplicate-name";
    findings.has_errors() && (findings.n_only_counted() > 0 || findings.kept().iter().any(blocks))
}

/// The content as `mjcf-rs` resolves it: defaults applied, angles in radians, orientations
/// as quaternions. It reads settings and defaults where it meets them, so they come first.
fn typed(xml: &mut Xml<'_>, root: Node<'_, '_>, base_dir: &Path) -> Option<mjcf_rs::Model> {
    let text = &xml.source.text;
    let start_tag = root.first_child().map_or(root.range().end, |first| first.range().start);
    let mut plain = text[root.range().start..start_tag].trim_end().to_string();
    for part in ["compiler", "option", "default", "asset", "worldbody", "contact", "actuator"] {
        for section in xml::children(root, part) {
            push_what_counts(&mut plain, text, section);
        }
    }
    plain.push_str("</mujoco>");
    let read = std::panic::catch_unwind(|| mjcf_rs::Model::from_str(&plain, base_dir));
    let why = match read {
        Ok(Ok(model)) => return Some(model),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "its contents make no sense".to_string(),
    };
    let place = xml.place(root);
    let message = "cannot make sense of this model";
    xml.findings.push(Diagnostic::error("bad-mjcf", message).note(why).at(place));
    None
}

/// Appends an element without what does not count: an empty attribute, which MuJoCo takes
/// for one that is not there, and elements of other namespaces, which `mjcf-rs` would take
/// for MuJoCo's own.
fn push_what_counts(out: &mut String, text: &str, section: Node<'_, '_>) {
    let mut at = section.range().start;
    for node in section.descendants().filter(Node::is_element) {
        let mut cuts: Vec<std::ops::Range<usize>> = Vec::new();
        if xml::is_prefixed(node) {
            cuts.push(node.range());
        } else {
            let attributes = node.attributes();
            let empty = attributes.filter(|attribute| attribute.value().trim().is_empty());
            cuts.extend(empty.map(|attribute| attribute.range()));
        }
        for cut in cuts {
            // What stands inside something that is already cut is gone.
            if cut.start >= at {
                out.push_str(&text[at..cut.start]);
                at = cut.end;
            }
        }
    }
    out.push_str(&text[at..section.range().end]);
}

/// `contype` and `conaffinity` of the geoms whose contacts have friction.
fn rubbing_masks(model: &mjcf_rs::Model) -> BTreeSet<(u32, u32)> {
    let geoms = model.bodies.iter().flat_map(|entry| &entry.body.geoms);
    geoms.filter(|geom| geom.condim != 1).map(|g| (g.contype, g.conaffinity)).collect()
}

struct Reader<'r> {
    xml: Xml<'r>,
    base_dir: &'r Path,
    model: &'r mjcf_rs::Model,
    meshes: Loaded<TriMesh>,
    kept: Kept,
    places: Places,
    notes: bodies::Notes,
    ratios: reflected::Ratios,
    /// A mesh of the file asks for the mass of its convex hull.
    says_convex: bool,
    flags: left_out::Flags,
    /// `contype` and `conaffinity` of the geoms whose contacts have friction.
    rubbing_masks: BTreeSet<(u32, u32)>,
    /// The meshes that geoms asked for.
    used_meshes: BTreeSet<String>,
    /// What was said of a geom, and where: its shape may be asked for twice.
    told: BTreeSet<(&'static str, usize)>,
}

impl Reader<'_> {
    fn world(&mut self, root: Node<'_, '_>) -> World {
        let option = &self.model.option;
        let is_weightless = self.flags.is_off("gravity");
        let gravity = if is_weightless { Vec3::ZERO } else { Vec3::from_array(option.gravity) };
        let mut world = World {
            name: self.model.name.clone().unwrap_or_else(|| "default".to_string()),
            gravity,
            physics: Physics { engine: Some("mujoco".to_string()), ..Physics::default() },
            ..World::default()
        };
        match SimDuration::from_secs(option.timestep).filter(|step| step.nanos() > 0) {
            Some(step) => world.physics.step = step,
            None => {
                let message = format!("a timestep of {} s is not possible", option.timestep);
                let given = xml::children(root, "option").filter(|n| n.has_attribute("timestep"));
                let node = given.last().unwrap_or(root);
                let place = self.xml.attribute_place(node, "timestep");
                self.xml.findings.push(Diagnostic::error("bad-step", message).at(place));
            }
        }
        self.bodies(root, &mut world);
        self.unused_meshes(root);
        self.actuators(root, &mut world);
        self.resolve_ratios(&mut world);
        self.couplings(root, &mut world);
        self.excludes(root, &mut world);
        self.finish(&mut world);
        self.keep_the_rest(root, &mut world);
        world
    }

    /// What a World has no place for, one note per kind.
    fn keep_the_rest(&mut self, root: Node<'_, '_>, world: &mut World) {
        for section in ["tendon", "sensor", "keyframe", "custom", "extension", "deformable"] {
            for node in xml::children(root, section) {
                world.opaque.push(self.kept.keep(&self.xml, "mjcf", node));
            }
        }
        for contact in xml::children(root, "contact") {
            for pair in xml::children(contact, "pair") {
                world.opaque.push(self.kept.keep(&self.xml, "mjcf", pair));
            }
        }
        for node in root.descendants().filter(|n| {
            matches!(n.tag_name().name(), "camera" | "light" | "plugin")
                && n.ancestors().any(|a| xml::is_named(a, "worldbody"))
        }) {
            world.opaque.push(self.kept.keep(&self.xml, "mjcf", node));
        }
    }
}

#[cfg(test)]
mod tests;
