//! The names URDF has, and what each attribute holds.

use headland_base::Diagnostic;
use roxmltree::Node;

use crate::assets::numbers;
use crate::xml::{Element, Xml};

const fn element(
    name: &'static str,
    attributes: &'static [&'static str],
    children: &'static [&'static Element],
) -> Element {
    Element { name, attributes, children, opaque: false }
}

const fn opaque(name: &'static str) -> Element {
    Element { name, attributes: &[], children: &[], opaque: true }
}

/// The root, and through it everything.
pub static ROBOT: Element = element(
    "robot",
    &["name", "version"],
    &[
        &LINK,
        &JOINT,
        &MATERIAL,
        &TRANSMISSION,
        &GAZEBO,
        &ROS2_CONTROL,
        &SENSOR,
        &MUJOCO,
        &LOOP_JOINT,
        &FRAME,
    ],
);

static LINK: Element = element(
    "link",
    &["name", "type"],
    &[&INERTIAL, &VISUAL, &COLLISION, &SELF_COLLISION_CHECKING, &CONTACT],
);
static INERTIAL: Element = element("inertial", &[], &[&ORIGIN, &MASS, &INERTIA]);
static ORIGIN: Element = element("origin", &["xyz", "rpy", "quat_xyzw"], &[]);
static MASS: Element = element("mass", &["value"], &[]);
static INERTIA: Element = element("inertia", &["ixx", "ixy", "ixz", "iyy", "iyz", "izz"], &[]);
static VISUAL: Element = element("visual", &["name", "group"], &[&ORIGIN, &GEOMETRY, &MATERIAL]);
static COLLISION: Element =
    element("collision", &["name", "group"], &[&ORIGIN, &GEOMETRY, &VERBOSE, &MATERIAL]);
static GEOMETRY: Element =
    element("geometry", &["name"], &[&BOX, &CYLINDER, &SPHERE, &CAPSULE, &MESH]);
static BOX: Element = element("box", &["size"], &[]);
static CYLINDER: Element = element("cylinder", &["radius", "length"], &[]);
static CAPSULE: Element = element("capsule", &["radius", "length"], &[]);
static SPHERE: Element = element("sphere", &["radius"], &[]);
static MESH: Element = element("mesh", &["filename", "scale"], &[]);
static MATERIAL: Element = element("material", &["name"], &[&COLOR, &TEXTURE]);
static COLOR: Element = element("color", &["rgba"], &[]);
static TEXTURE: Element = element("texture", &["filename"], &[]);

static JOINT: Element = element(
    "joint",
    &["name", "type"],
    &[&ORIGIN, &PARENT, &CHILD, &AXIS, &CALIBRATION, &DYNAMICS, &LIMIT, &MIMIC, &SAFETY_CONTROLLER],
);
static PARENT: Element = element("parent", &["link"], &[]);
static CHILD: Element = element("child", &["link"], &[]);
static AXIS: Element = element("axis", &["xyz", "rpy"], &[]);
static CALIBRATION: Element =
    element("calibration", &["rising", "falling", "reference_position"], &[]);
static DYNAMICS: Element = element("dynamics", &["damping", "friction"], &[]);
static LIMIT: Element = element(
    "limit",
    &["lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"],
    &[],
);
static MIMIC: Element = element("mimic", &["joint", "multiplier", "offset"], &[]);
static SAFETY_CONTROLLER: Element = element(
    "safety_controller",
    &["soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"],
    &[],
);

static TRANSMISSION: Element = opaque("transmission");
static GAZEBO: Element = opaque("gazebo");
static ROS2_CONTROL: Element = opaque("ros2_control");
static SENSOR: Element = opaque("sensor");
static VERBOSE: Element = opaque("verbose");
// Not of the specification, but of the simulators that read URDF most.
static MUJOCO: Element = opaque("mujoco");
static LOOP_JOINT: Element = opaque("loop_joint");
static FRAME: Element = opaque("frame");
static CONTACT: Element = opaque("contact");
static SELF_COLLISION_CHECKING: Element = opaque("self_collision_checking");

/// Element, and the attribute or element in it that exporters write, the official tutorial
/// among them, and that no reader gives a meaning. A warning, not an error.
const MEANINGLESS: &[(&str, &str)] = &[
    ("axis", "rpy"),
    ("collision", "group"),
    ("collision", "material"),
    ("geometry", "name"),
    ("link", "type"),
    ("visual", "group"),
];

/// What an attribute holds.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    /// A name or a file.
    Text,
    /// A name that may be empty: exporters write `material name=""`.
    TextOrEmpty,
    /// So many finite numbers.
    Numbers(usize),
    /// So many numbers, none below zero.
    Sizes(usize),
    /// One number, `inf` included.
    Limit,
}
use Holds::{Limit, Numbers, Sizes, Text, TextOrEmpty};

/// Element, attribute, what it holds, whether it must be there.
const VALUES: &[(&str, &str, Holds, bool)] = &[
    ("robot", "name", Text, true),
    ("link", "name", Text, true),
    ("joint", "name", Text, true),
    ("joint", "type", Text, true),
    ("material", "name", TextOrEmpty, true),
    ("origin", "xyz", Numbers(3), false),
    ("origin", "rpy", Numbers(3), false),
    ("origin", "quat_xyzw", Numbers(4), false),
    ("mass", "value", Numbers(1), true),
    ("inertia", "ixx", Numbers(1), true),
    ("inertia", "ixy", Numbers(1), true),
    ("inertia", "ixz", Numbers(1), true),
    ("inertia", "iyy", Numbers(1), true),
    ("inertia", "iyz", Numbers(1), true),
    ("inertia", "izz", Numbers(1), true),
    ("box", "size", Sizes(3), true),
    ("cylinder", "radius", Sizes(1), true),
    ("cylinder", "length", Sizes(1), true),
    ("capsule", "radius", Sizes(1), true),
    ("capsule", "length", Sizes(1), true),
    ("sphere", "radius", Sizes(1), true),
    ("mesh", "filename", Text, true),
    ("mesh", "scale", Numbers(3), false),
    ("color", "rgba", Numbers(4), true),
    ("texture", "filename", Text, true),
    ("parent", "link", Text, true),
    ("child", "link", Text, true),
    ("axis", "xyz", Numbers(3), true),
    ("calibration", "rising", Numbers(1), false),
    ("calibration", "falling", Numbers(1), false),
    ("dynamics", "damping", Numbers(1), false),
    ("dynamics", "friction", Numbers(1), false),
    ("limit", "lower", Limit, false),
    ("limit", "upper", Limit, false),
    ("limit", "effort", Limit, true),
    ("limit", "velocity", Limit, true),
    ("mimic", "joint", Text, true),
    ("mimic", "multiplier", Numbers(1), false),
    ("mimic", "offset", Numbers(1), false),
    ("safety_controller", "k_velocity", Numbers(1), true),
    ("safety_controller", "k_position", Numbers(1), false),
    ("safety_controller", "soft_lower_limit", Limit, false),
    ("safety_controller", "soft_upper_limit", Limit, false),
];

/// Checks every value below `root`: there where it must be, and of the right form.
/// Findings come in file order.
pub fn check_values(xml: &mut Xml<'_>, root: Node<'_, '_>, version_1_2: bool) {
    let mut open: Vec<(Node<'_, '_>, &Element)> = vec![(root, &ROBOT)];
    while let Some((node, table)) = open.pop() {
        for (_, attribute, holds, required) in VALUES.iter().filter(|row| row.0 == table.name) {
            // Since URDF 1.2 a limit that is not given does not limit.
            let required = *required && !(version_1_2 && *holds == Limit);
            check_value(xml, node, attribute, *holds, required);
        }
        for (_, word) in MEANINGLESS.iter().filter(|row| row.0 == table.name) {
            warn_of_meaningless(xml, node, word);
        }
        check_repeated(xml, node, table);
        let known = |inner: Node<'_, '_>| {
            table.children.iter().find(|e| crate::xml::is_named(inner, e.name) && !e.opaque)
        };
        let mut children: Vec<_> =
            node.children().filter_map(|inner| Some((inner, *known(inner)?))).collect();
        children.reverse();
        open.extend(children);
    }
}

/// Elements that may stand more than once in their parent.
const MANY: [&str; 10] = [
    "link",
    "joint",
    "material",
    "transmission",
    "gazebo",
    "ros2_control",
    "sensor",
    "visual",
    "collision",
    "frame",
];

fn check_repeated(xml: &mut Xml<'_>, node: Node<'_, '_>, table: &Element) {
    for known in table.children.iter().filter(|known| !known.opaque) {
        // `material` may repeat in a robot only.
        if MANY.contains(&known.name) && (known.name != "material" || table.name == "robot") {
            continue;
        }
        if let Some(second) = crate::xml::children(node, known.name).nth(1) {
            let message = format!("`{}` has more than one `{}`", table.name, known.name);
            xml.error("repeated-element", message, second);
        }
    }
}

fn warn_of_meaningless(xml: &mut Xml<'_>, node: Node<'_, '_>, word: &str) {
    let place = match crate::xml::child(node, word) {
        Some(inner) => xml.place(inner),
        None if node.has_attribute(word) => xml.attribute_place(node, word),
        None => return,
    };
    let message = format!("`{word}` in `{}` has no meaning", node.tag_name().name());
    xml.findings.push(Diagnostic::warning("no-meaning", message).at(place));
}

fn check_value(
    xml: &mut Xml<'_>,
    node: Node<'_, '_>,
    attribute: &str,
    holds: Holds,
    required: bool,
) {
    let given = node.attribute(attribute);
    if required && given.is_none_or(|text| holds != TextOrEmpty && text.trim().is_empty()) {
        let message = format!("`{}` has no attribute `{attribute}`", node.tag_name().name());
        return xml.error("missing-attribute", message, node);
    }
    match holds {
        Text | TextOrEmpty => {}
        Numbers(n) => _ = numbers(xml, node, attribute, (n, n), false),
        Limit => _ = numbers(xml, node, attribute, (1, 1), true),
        Sizes(n) => {
            let found = numbers(xml, node, attribute, (n, n), false);
            if found.is_some_and(|sizes| sizes.iter().any(|x| *x < 0.0)) {
                let place = xml.attribute_place(node, attribute);
                let message = format!("`{attribute}` must not be negative");
                xml.findings.push(Diagnostic::error("not-positive", message).at(place));
            }
        }
    }
}
