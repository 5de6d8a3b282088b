//! What MJCF's attributes hold, which words they take, which names must exist: everything
//! that can be wrong in a file whose element names are right.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::{Diagnostic, Place};
use roxmltree::Node;

use super::include::Expanded;
use crate::assets::numbers;
use crate::xml::Xml;

const POSED: &[&str] = &["body", "frame", "geom", "site", "inertial"];
const MOTORS: &[&str] = &["general", "motor", "position", "velocity", "intvelocity", "damper"];

/// Elements, attribute, fewest and most numbers.
const NUMBERS: &[(&[&str], &str, usize, usize)] = &[
    (POSED, "pos", 3, 3),
    (POSED, "quat", 4, 4),
    (POSED, "axisangle", 4, 4),
    (POSED, "euler", 3, 3),
    (POSED, "xyaxes", 6, 6),
    (POSED, "zaxis", 3, 3),
    (&["body"], "gravcomp", 1, 1),
    (&["inertial", "geom"], "mass", 1, 1),
    (&["inertial"], "diaginertia", 3, 3),
    (&["inertial"], "fullinertia", 6, 6),
    (&["joint"], "pos", 3, 3),
    (&["joint"], "axis", 3, 3),
    (&["joint"], "range", 2, 2),
    (&["joint"], "stiffness", 1, 1),
    (&["joint"], "damping", 1, 1),
    (&["joint"], "armature", 1, 1),
    (&["joint"], "frictionloss", 1, 1),
    (&["joint"], "ref", 1, 1),
    (&["joint"], "springref", 1, 1),
    (&["joint"], "springdamper", 2, 2),
    (&["geom", "site"], "size", 1, 3),
    (&["geom", "site"], "fromto", 6, 6),
    (&["geom"], "friction", 1, 3),
    (&["geom"], "density", 1, 1),
    (&["geom", "site", "material"], "rgba", 4, 4),
    (&["mesh"], "scale", 3, 3),
    (&["mesh"], "refpos", 3, 3),
    (&["mesh"], "refquat", 4, 4),
    (&["hfield"], "size", 4, 4),
    (&["option"], "timestep", 1, 1),
    (&["option"], "gravity", 3, 3),
    (&["compiler"], "boundmass", 1, 1),
    (&["compiler"], "boundinertia", 1, 1),
    (&["compiler"], "settotalmass", 1, 1),
    (MOTORS, "gear", 1, 6),
    (MOTORS, "ctrlrange", 2, 2),
    (MOTORS, "forcerange", 2, 2),
    (MOTORS, "kp", 1, 1),
    (MOTORS, "kv", 1, 1),
    (MOTORS, "gainprm", 1, 10),
    (MOTORS, "biasprm", 1, 10),
];

/// Whole numbers that must not be negative.
const COUNTS: &[(&str, &str)] = &[
    ("geom", "contype"),
    ("geom", "conaffinity"),
    ("geom", "condim"),
    ("hfield", "nrow"),
    ("hfield", "ncol"),
];

const YES_NO: &[&str] = &["true", "false"];
const YES_NO_AUTO: &[&str] = &["true", "false", "auto"];

/// Elements, attribute, the words it takes.
const WORDS: &[(&[&str], &str, &[&str])] = &[
    (&["compiler"], "angle", &["degree", "radian"]),
    (&["compiler"], "coordinate", &["local", "global"]),
    (&["compiler"], "inertiafromgeom", YES_NO_AUTO),
    (&["compiler"], "autolimits", YES_NO),
    (&["compiler"], "balanceinertia", YES_NO),
    (&["compiler"], "strippath", YES_NO),
    (&["compiler"], "discardvisual", YES_NO),
    (&["body"], "mocap", YES_NO),
    (&["joint"], "type", &["hinge", "slide", "ball", "free"]),
    (&["joint"], "limited", YES_NO_AUTO),
    (
        &["geom"],
        "type",
        &["plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"],
    ),
    (MOTORS, "ctrllimited", YES_NO_AUTO),
    (MOTORS, "forcelimited", YES_NO_AUTO),
];

/// Elements that make bodies out of a rule. Without them the model would be another one,
/// so they are refused rather than passed over.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("attach", "put the other model's bodies into this file"),
    ("replicate", "write the copies out: MuJoCo's `compile` command does"),
    ("composite", "write the bodies out: MuJoCo's `compile` command does"),
    ("flexcomp", "soft bodies are not read"),
];

/// Checks every value below `root`, in file order.
pub fn check(xml: &mut Xml<'_>, expanded: &Expanded, root: Node<'_, '_>) {
    for node in root.descendants().filter(Node::is_element) {
        let tag = node.tag_name().name();
        // The joint of an equality or a tendon has attributes of its own.
        let inside = node.parent().map(|p| p.tag_name().name()).unwrap_or_default();
        if matches!(inside, "equality" | "fixed" | "sensor" | "spatial") {
            continue;
        }
        for (_, name, fewest, most) in NUMBERS.iter().filter(|row| row.0.contains(&tag)) {
            // MuJoCo takes an empty attribute for one that is not there.
            if node.attribute(*name).is_some_and(|text| !text.trim().is_empty()) {
                _ = numbers(xml, node, name, (*fewest, *most), false);
            }
        }
        for (_, name) in COUNTS.iter().filter(|row| row.0 == tag) {
            check_count(xml, node, name);
        }
        for (_, name, words) in WORDS.iter().filter(|row| row.0.contains(&tag)) {
            if let Some(word) = node.attribute(*name).filter(|word| !words.contains(word)) {
                let place = xml.attribute_place(node, name);
                let help = xml.findings.suggestion(word, words.iter().copied());
                xml.findings.push(
                    Diagnostic::error("unknown-word", format!("`{name}` cannot be `{word}`"))
                        .at(place)
                        .help_maybe(help),
                );
            }
        }
        check_special(xml, node, tag, inside);
    }
    if expanded.is_whole {
        check_classes(xml, root);
    }
    check_repeated_names(xml, expanded, root);
}

fn check_count(xml: &mut Xml<'_>, node: Node<'_, '_>, name: &str) {
    if let Some(text) = node.attribute(name).filter(|t| t.trim().parse::<u32>().is_err()) {
        let shown: String = text.chars().take(40).collect();
        let place = xml.attribute_place(node, name);
        let message = format!("`{shown}` is not a whole number from 0");
        xml.findings.push(Diagnostic::error("not-a-number", message).at(place));
    }
}

fn check_special(xml: &mut Xml<'_>, node: Node<'_, '_>, tag: &str, inside: &str) {
    if let Some((_, help)) = UNSUPPORTED.iter().find(|row| row.0 == tag) {
        let place = xml.place(node);
        let message = format!("`{tag}` is not read");
        xml.findings.push(Diagnostic::error("unsupported-element", message).at(place).help(*help));
    }
    let is_joint = matches!(tag, "joint" | "freejoint");
    if is_joint && inside == "worldbody" {
        xml.error("joint-in-world", "the world itself has no joints", node);
    }
    if (is_joint || tag == "inertial") && inside == "frame" {
        let place = xml.place(node);
        xml.findings.push(
            Diagnostic::error("unsupported-element", format!("`{tag}` inside `frame` is not read"))
                .at(place)
                .help("write it directly in its body"),
        );
    }
    if let ("compiler", Some(seq)) = (tag, node.attribute("eulerseq"))
        && (seq.len() != 3 || !seq.bytes().all(|c| b"xyzXYZ".contains(&c)))
    {
        let place = xml.attribute_place(node, "eulerseq");
        let message = "`eulerseq` takes three letters of `xyzXYZ`";
        xml.findings.push(Diagnostic::error("unknown-word", message).at(place));
    }
    if let ("compiler", Some("global")) = (tag, node.attribute("coordinate")) {
        let place = xml.attribute_place(node, "coordinate");
        let message = "global coordinates are not read, nor by MuJoCo since 2.3.4";
        xml.findings.push(Diagnostic::error("unsupported-element", message).at(place));
    }
}

/// Every `class` and `childclass` names a default that is there.
fn check_classes(xml: &mut Xml<'_>, root: Node<'_, '_>) {
    let is_default = |node: &Node<'_, '_>| node.has_tag_name("default");
    let mut known: BTreeSet<&str> =
        root.descendants().filter(is_default).filter_map(|node| node.attribute("class")).collect();
    known.insert("main");
    for node in root.descendants().filter(|node| node.is_element() && !is_default(node)) {
        for name in ["class", "childclass"] {
            let Some(class) = node.attribute(name).filter(|class| !known.contains(class)) else {
                continue;
            };
            let place = xml.attribute_place(node, name);
            let help = xml.findings.suggestion(class, known.iter().copied());
            xml.findings.push(
                Diagnostic::error("no-such-class", format!("there is no default class `{class}`"))
                    .at(place)
                    .help_maybe(help),
            );
        }
    }
}

/// Bodies, joints, geoms, sites and meshes each have names of their own.
fn check_repeated_names(xml: &mut Xml<'_>, expanded: &Expanded, root: Node<'_, '_>) {
    let mut seen: BTreeMap<(&str, &str), Place> = BTreeMap::new();
    for node in root.descendants().filter(Node::is_element) {
        let tag = node.tag_name().name();
        let inside = node.parent().map(|p| p.tag_name().name()).unwrap_or_default();
        let kind = match (tag, inside) {
            ("body", "body" | "worldbody" | "frame") => "bodies",
            ("joint" | "freejoint", "body") => "joints",
            ("geom", "body" | "worldbody" | "frame") => "geoms",
            ("site", "body" | "worldbody" | "frame") => "sites",
            ("mesh", "asset") => "meshes",
            (_, "actuator") => "actuators",
            _ => continue,
        };
        let Some(name) = node.attribute("name") else { continue };
        let place = xml.place(node);
        if let Some(first) = seen.get(&(kind, name)) {
            let message = format!("two {kind} are named `{name}`");
            let first = xml.findings.label(&expanded.original(first.clone()));
            xml.findings.push(
                Diagnostic::error("duplicate-name", message)
                    .note(format!("first at {first}"))
                    .at(place),
            );
        } else {
            seen.insert((kind, name), place);
        }
    }
}
