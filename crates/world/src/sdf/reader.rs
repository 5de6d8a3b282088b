//! What every part of the SDF reader shares: one file being read, the caches and bounds
//! across all of them, and the small values (names, flags, poses) found everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use headland_base::maths::{PI, unit_quat};
use headland_base::{Diagnostic, Quat, Severity, Source, Transform, Vec3};
use roxmltree::Node;

use super::frames::{Named, Pose};
use super::siblings::Siblings;
use crate::assets::{Kept, Loaded};
use crate::read::ReadOptions;
use crate::xml::{self, Xml};
use crate::{HeightGrid, Opaque, Places, TriMesh};

/// What is shared by all files of one world.
pub(super) struct Shared<'o> {
    pub options: &'o ReadOptions,
    /// The folder of the outermost file; what is kept by name is named from here.
    pub root_dir: PathBuf,
    pub places: Places,
    /// The files being read, outermost first, to find includes that go round.
    pub chain: Vec<PathBuf>,
    /// What was told of included files: code, how much it matters, file and where in it.
    pub told: BTreeSet<(&'static str, Severity, String, Option<usize>)>,
    /// Files included so far.
    pub texts: BTreeMap<PathBuf, Text>,
    pub meshes: Loaded<TriMesh>,
    pub heightmaps: Loaded<HeightGrid>,
    pub n_includes: usize,
    pub n_included_bytes: usize,
}

impl<'o> Shared<'o> {
    /// Nothing read yet but the outermost file.
    pub fn new(options: &'o ReadOptions, root_dir: PathBuf, own_path: PathBuf) -> Shared<'o> {
        Shared {
            options,
            root_dir,
            places: Places::default(),
            chain: vec![own_path],
            told: BTreeSet::new(),
            texts: BTreeMap::new(),
            meshes: Loaded::default(),
            heightmaps: Loaded::default(),
            n_includes: 0,
            n_included_bytes: 0,
        }
    }
}

/// A file that was included.
#[derive(Clone)]
pub(super) struct Text {
    pub source: Arc<Source>,
    /// How many of its findings were past what is kept; they are counted once.
    pub n_only_counted: usize,
}

/// One file being read.
pub(super) struct Reader<'r, 'o> {
    pub xml: Xml<'r>,
    pub shared: &'r mut Shared<'o>,
    /// The 6 of SDF 1.6.
    pub version: u32,
    /// The folder of this file; what it names is looked for from here.
    pub dir: PathBuf,
    /// What was kept without understanding it.
    pub kept: Kept,
    /// How many models are around the one being read.
    pub nesting: usize,
}

/// Elements that change what happens in a world, so that a reader wants to be told that
/// nothing is done with them. The others (scene, gui, …) are kept silently.
const WORTH_A_NOTE: &[&str] = &[
    "actor",
    "battery",
    "gripper",
    "model_state",
    "particle_emitter",
    "plugin",
    "population",
    "projector",
    "road",
    "soft_contact",
    "state",
    "wind",
];

/// How a name starts that was made up for a part without one of its own.
pub(super) const UNNAMED: &str = "unnamed_";

impl Reader<'_, '_> {
    /// The one child of that name. A second one is reported: the file says two things, or
    /// one thing twice, which only deserves a warning.
    pub fn one<'a, 'i>(&mut self, node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
        let mut found = xml::children(node, name);
        let first = found.next()?;
        if let Some(second) = found.next() {
            let message = format!("`{name}` stands twice in `{}`", xml::local_name(node));
            let says = |node| xml::verbatim(&self.xml.source, node);
            let is_empty = !second.has_children();
            let adds_nothing = is_empty || says(first) == says(second);
            let make = if adds_nothing { Diagnostic::warning } else { Diagnostic::error };
            let diagnostic = make("repeated-element", message)
                .at(self.xml.place(second))
                .note(format!("first at {}", self.xml.findings.label(&self.xml.place(first))));
            self.xml.findings.push(diagnostic);
        }
        Some(first)
    }

    /// The one child of that name, which must be there.
    pub fn required<'a, 'i>(&mut self, node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
        let found = self.one(node, name);
        if found.is_none() {
            let message = format!("`{}` has no `{name}`", xml::local_name(node));
            self.xml.error("missing-element", message, node);
        }
        found
    }

    /// The number in a child, if it is there and well formed.
    pub fn number_in(&mut self, node: Node<'_, '_>, name: &str) -> Option<f64> {
        let child = self.one(node, name)?;
        self.xml.number(child)
    }

    /// The number in a child that must be there and more than zero.
    pub fn positive_in(&mut self, node: Node<'_, '_>, name: &str) -> Option<f64> {
        let child = self.required(node, name)?;
        let number = self.xml.number(child)?;
        self.positive(child, number)
    }

    /// A number that must be more than zero.
    pub fn positive(&mut self, node: Node<'_, '_>, number: f64) -> Option<f64> {
        if number > 0.0 {
            return Some(number);
        }
        let message = format!("`{}` must be more than zero, found {number}", xml::local_name(node));
        let place = self.xml.text_place(node);
        self.xml.findings.push(Diagnostic::error("not-positive", message).at(place));
        None
    }

    /// The flag in a child, or what holds without it.
    pub fn flag(&mut self, node: Node<'_, '_>, name: &str, default: bool) -> bool {
        self.one(node, name).and_then(|child| self.xml.boolean(child)).unwrap_or(default)
    }

    /// The trimmed text of a child that must say something.
    pub fn required_text(&mut self, node: Node<'_, '_>, name: &str) -> Option<Named> {
        let child = self.required(node, name)?;
        self.text(child)
    }

    /// The trimmed text of an element that must say something.
    pub fn text(&mut self, node: Node<'_, '_>) -> Option<Named> {
        let text = xml::text_of(node).trim().to_string();
        if text.is_empty() {
            let message = format!("`{}` is empty", xml::local_name(node));
            self.xml.error("empty-element", message, node);
            return None;
        }
        Some(Named { name: text, place: self.xml.text_place(node) })
    }

    /// An attribute that says something.
    pub fn attribute(&self, node: Node<'_, '_>, name: &str) -> Option<Named> {
        let value = node.attribute(name).map(str::trim).filter(|value| !value.is_empty())?;
        Some(Named { name: value.to_string(), place: self.xml.attribute_place(node, name) })
    }

    /// An attribute that must say something.
    pub fn required_attribute(&mut self, node: Node<'_, '_>, name: &str) -> Option<Named> {
        let found = self.attribute(node, name);
        if found.is_none() {
            let message = format!("`{}` has no attribute `{name}`", xml::local_name(node));
            self.xml.error("missing-attribute", message, node);
        }
        found
    }

    /// The numbers in an attribute, exactly `N` of them.
    pub fn numbers_in<const N: usize>(
        &mut self,
        node: Node<'_, '_>,
        name: &str,
    ) -> Option<[f64; N]> {
        let named = self.attribute(node, name)?;
        let numbers = self.xml.numbers(&named.name, &named.place, true)?;
        let found = numbers.len();
        numbers.try_into().ok().or_else(|| {
            let message = format!("`{name}` takes {N} numbers, found {found}");
            self.xml.findings.push(Diagnostic::error("wrong-count", message).at(named.place));
            None
        })
    }

    /// The name of an element, reporting a missing one and one its siblings already have.
    /// `None` means the element should be left out.
    pub fn unique_name(&mut self, node: Node<'_, '_>, seen: &mut Siblings) -> Option<String> {
        // What stands inside is read all the same, for its defects.
        let made_up = || format!("{UNNAMED}{}", node.id().get());
        match node.attribute("name").map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) => {
                let kind = node.tag_name().name();
                if self.is_new(name, kind, node, seen) {
                    return Some(name.to_string());
                }
                if !self.xml.findings.is_full() {
                    self.shared.places.stand_in(made_up(), name);
                }
            }
            None => {
                self.required_attribute(node, "name");
            }
        }
        Some(made_up())
    }

    /// Whether no sibling has that name yet; reports when one has.
    pub fn is_new(
        &mut self,
        name: &str,
        kind: &str,
        node: Node<'_, '_>,
        seen: &mut Siblings,
    ) -> bool {
        let place = self.xml.place(node);
        if let Some(first) = seen.find(name) {
            let message = format!("two {} are named `{name}`", plural(kind));
            let by_include = kind == "model" && xml::is_named(node, "include");
            let help = by_include.then(|| "give each its own: <name>…</name>".to_string());
            self.xml.findings.push(
                Diagnostic::error("duplicate-name", message)
                    .note(format!("first at {}", self.xml.findings.label(first)))
                    .at(place)
                    .help_maybe(help),
            );
            return false;
        }
        seen.insert(name, place);
        true
    }

    /// The pose of an element: its `pose` child, or the identity.
    pub fn pose(&mut self, node: Node<'_, '_>) -> Pose {
        self.one(node, "pose").map(|child| self.pose_of(child)).unwrap_or_default()
    }

    /// A `pose` element.
    pub fn pose_of(&mut self, node: Node<'_, '_>) -> Pose {
        let transform = self.transform(node).unwrap_or_default();
        let frame = self.attribute(node, "frame");
        let relative_to = self.attribute(node, "relative_to");
        // 1.5 and 1.6 called it `frame`; later versions do not have that name.
        match frame {
            Some(frame) if self.version >= 7 => {
                let help = Some("since SDF 1.7 it is `relative_to`".to_string());
                let message = "no attribute `frame` on `pose`".to_string();
                self.xml.unknown("unknown-attribute", message, frame.place, help);
                Pose { transform, relative_to }
            }
            frame => Pose { transform, relative_to: relative_to.or(frame) },
        }
    }

    fn transform(&mut self, node: Node<'_, '_>) -> Option<Transform> {
        // A word that is neither is reported; it does not hide what else is wrong.
        let degrees = self
            .attribute(node, "degrees")
            .and_then(|named| self.xml.boolean_in(&named.name, named.place))
            .unwrap_or(false);
        let format = self.attribute(node, "rotation_format");
        if xml::is_blank(node) {
            return Some(Transform::IDENTITY);
        }
        match format.as_ref().map_or("euler_rpy", |named| named.name.as_str()) {
            "euler_rpy" => {
                let [x, y, z, roll, pitch, yaw] = self.xml.array(node)?;
                let scale = if degrees { PI / 180.0 } else { 1.0 };
                let rpy = Vec3::new(roll * scale, pitch * scale, yaw * scale);
                Some(Transform::from_xyz_rpy(Vec3::new(x, y, z), rpy))
            }
            "quat_xyzw" => {
                let [x, y, z, qx, qy, qz, qw] = self.xml.array(node)?;
                if degrees {
                    let place = self.xml.attribute_place(node, "degrees");
                    let message = "a quaternion is not in degrees";
                    self.xml.findings.push(Diagnostic::error("bad-rotation", message).at(place));
                }
                let Some(rotation) = unit_quat(Quat::from_xyzw(qx, qy, qz, qw)) else {
                    let message = "this quaternion has no direction";
                    let place = self.xml.text_place(node);
                    self.xml.findings.push(
                        Diagnostic::error("bad-rotation", message)
                            .at(place)
                            .help("no rotation is written 0 0 0 1"),
                    );
                    return None;
                };
                Some(Transform::new(rotation, Vec3::new(x, y, z)))
            }
            _ => {
                let named = format.expect("another word than the default was written");
                let message = format!("no rotation format `{}`", named.name);
                self.xml.findings.push(
                    Diagnostic::error("bad-rotation", message)
                        .at(named.place)
                        .help("known here: `euler_rpy`, `quat_xyzw`"),
                );
                let place = self.xml.text_place(node);
                _ = self.xml.numbers(&xml::text_of(node), &place, false); // are they some?
                None
            }
        }
    }

    /// Red, green, blue, and alpha where it is given, of a child.
    pub fn colour_in(&mut self, node: Node<'_, '_>, name: &str) -> Option<[f64; 4]> {
        let child = self.one(node, name)?;
        self.colour(child)
    }

    /// The colour that an element is.
    pub fn colour(&mut self, node: Node<'_, '_>) -> Option<[f64; 4]> {
        let text = xml::text_of(node);
        if text.split_whitespace().count() == 3 {
            let [r, g, b] = self.xml.array(node)?;
            return Some([r, g, b, 1.0]);
        }
        self.xml.array(node)
    }

    /// Keeps an element as written, and counts it for the note at the end of the file.
    pub fn keep(&mut self, node: Node<'_, '_>) -> Opaque {
        let kind = node.tag_name().name();
        let kept = Opaque {
            format: "sdf",
            kind: kind.to_string(),
            name: node.attribute("name").map(str::to_string),
            xml: self_contained(&self.xml.source, node),
        };
        if WORTH_A_NOTE.contains(&kind) && !kept.is_label() {
            self.kept.count(kind, || self.xml.place(node));
        }
        kept
    }

    /// Remembers where a sensor was written: which of the things its owner keeps it is.
    pub fn sensor_place(&mut self, node: Node<'_, '_>, kind: &str, owner: &str, idx: usize) {
        let place = self.xml.place(node);
        self.shared.places.insert(format_args!("{kind} {owner}#sensor {idx}"), place);
    }

    /// The same of a plugin.
    pub fn plugin_place(&mut self, node: Node<'_, '_>, kind: &str, owner: &str, idx: usize) {
        let place = self.xml.place(node);
        self.shared.places.insert(format_args!("{kind} {owner}#plugin {idx}"), place);
    }

    /// Says of an element that changes what happens that nothing is done with it.
    pub fn not_interpreted(&mut self, node: Node<'_, '_>) {
        let owner = node.parent_element().map(xml::local_name).unwrap_or_default();
        let message = format!("`{}` in `{owner}` is not interpreted", xml::local_name(node));
        let place = self.xml.place(node);
        self.xml.findings.push(Diagnostic::remark("not-interpreted", message).at(place));
    }

    /// A `headland:foreign` element: something another format said, kept through SDF.
    pub fn foreign(&mut self, node: Node<'_, '_>) -> Option<Opaque> {
        let format = self.required_attribute(node, "format")?;
        let known = ["sdf", "urdf", "mjcf"].into_iter().find(|word| *word == format.name);
        if known.is_none() {
            let message = format!("no format `{}`", format.name);
            self.xml.findings.push(
                Diagnostic::error("unknown-word", message)
                    .at(format.place)
                    .help("known here: `sdf`, `urdf`, `mjcf`"),
            );
        }
        Some(Opaque {
            format: known?,
            kind: self.required_attribute(node, "kind")?.name,
            name: node.attribute("name").map(str::to_string),
            xml: xml::text_of(node),
        })
    }

    /// One note per kind of element that was kept without understanding it.
    pub fn note_what_was_kept(&mut self) {
        std::mem::take(&mut self.kept).note(&mut self.xml);
    }
}

/// The plural of an element's name.
fn plural(word: &str) -> String {
    match word.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{word}s"),
    }
}

/// The element as written, with the namespace prefixes it borrows from its surroundings
/// declared on itself, so that it can stand in another file.
fn self_contained(source: &Source, node: Node<'_, '_>) -> String {
    let text = xml::verbatim(source, node);
    let name_end = text.find(|c: char| c.is_whitespace() || c == '>' || c == '/');
    let (name, rest) = text.split_at(name_end.unwrap_or(text.len()));
    let own_tag = &rest[..rest.find('>').unwrap_or(rest.len())];
    let mut out = name.to_string();
    for namespace in node.namespaces() {
        let Some(prefix) = namespace.name().filter(|prefix| *prefix != "xml") else { continue };
        if text.contains(&format!("{prefix}:")) && !own_tag.contains(&format!("xmlns:{prefix}")) {
            out.push_str(&format!(
                " xmlns:{prefix}=\"{}\"",
                super::write::escaped(namespace.uri())
            ));
        }
    }
    out.push_str(rest);
    out
}
