//! Whether the links and joints of a robot form one tree, and everything that keeps them
//! from it.

use std::collections::BTreeMap;
use std::ops::Range;

use headland_base::{Diagnostic, Place};
use roxmltree::Node;

use crate::xml::{self, Xml};

/// The tree, by positions in the file.
pub struct Tree {
    /// The link no joint carries.
    pub root: usize,
    /// Parent link, joint, child link; outer before inner.
    pub edges_from_root: Vec<(usize, usize, usize)>,
}

/// Defects that leave every link and joint readable for itself.
pub const CODES: &[&str] = &[
    "cycle",
    "duplicate-name",
    "no-such-joint",
    "no-such-link",
    "two-parents",
    "two-roots",
    "unknown-word",
];

/// The tree of a robot; reports every duplicate name, unknown link, joint that is not
/// whole, second parent, cycle and second root.
pub fn check(xml: &mut Xml<'_>, robot: Node<'_, '_>) -> Option<Tree> {
    let links: Vec<Node<'_, '_>> = xml::children(robot, "link").collect();
    let joints: Vec<Node<'_, '_>> = xml::children(robot, "joint").collect();
    let link_by_name = by_name(xml, &links, "links");
    let joint_by_name = by_name(xml, &joints, "joints");
    for link in &links {
        check_link(xml, *link);
    }
    if links.is_empty() {
        xml.error("no-links", "this robot has no links", robot);
        return None;
    }

    let mut carried_by: BTreeMap<usize, usize> = BTreeMap::new();
    let mut children: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    let mut is_whole = true; // every joint has two ends
    for (i, joint) in joints.iter().enumerate() {
        let ends = joint_ends(xml, *joint, &link_by_name);
        check_joint(xml, *joint, &joint_by_name);
        let Some((parent, child)) = ends else {
            is_whole = false;
            continue;
        };
        if let Some(first) = carried_by.get(&child) {
            let name = links[child].attribute("name").unwrap_or_default();
            let place = xml.place(*joint);
            let first = xml.findings.label(&xml.place(joints[*first]));
            xml.findings.push(
                Diagnostic::error("two-parents", format!("the link `{name}` has two parents"))
                    .note(format!("the first joint is at {first}"))
                    .at(place)
                    .help("URDF has trees only; close a loop in SDF or MJCF"),
            );
            continue;
        }
        carried_by.insert(child, i);
        children.entry(parent).or_default().push((i, child));
    }
    connected(xml, &links, &carried_by, &children, is_whole)
}

fn by_name<'a>(
    xml: &mut Xml<'_>,
    nodes: &[Node<'a, '_>],
    plural: &str,
) -> BTreeMap<&'a str, usize> {
    let mut first: BTreeMap<&str, (usize, Place)> = BTreeMap::new();
    for (i, node) in nodes.iter().enumerate() {
        let Some(name) = node.attribute("name") else { continue };
        let place = xml.place(*node);
        if let Some((_, before)) = first.get(name) {
            let message = format!("two {plural} are named `{name}`");
            let before = xml.findings.label(before);
            xml.findings.push(
                Diagnostic::error("duplicate-name", message)
                    .note(format!("first at {before}"))
                    .at(place),
            );
        } else {
            first.insert(name, (i, place));
        }
    }
    first.into_iter().map(|(name, (i, _))| (name, i)).collect()
}

fn check_link(xml: &mut Xml<'_>, link: Node<'_, '_>) {
    for inertial in xml::children(link, "inertial") {
        for part in ["mass", "inertia"] {
            if xml::child(inertial, part).is_none() {
                xml.error("missing-element", format!("`inertial` has no `{part}`"), inertial);
            }
        }
    }
    for shape in
        link.children().filter(|n| xml::is_named(*n, "visual") || xml::is_named(*n, "collision"))
    {
        let tag = shape.tag_name().name();
        let Some(geometry) = xml::child(shape, "geometry") else {
            xml.error("missing-element", format!("`{tag}` has no `geometry`"), shape);
            continue;
        };
        let n_shapes = geometry.children().filter(Node::is_element).count();
        if n_shapes != 1 {
            let message = format!("`geometry` has one shape, found {n_shapes}");
            let code = if n_shapes == 0 { "missing-element" } else { "repeated-element" };
            xml.error(code, message, geometry);
        }
    }
}

/// Parent and child, where the joint names two links that are there.
fn joint_ends(
    xml: &mut Xml<'_>,
    joint: Node<'_, '_>,
    link_by_name: &BTreeMap<&str, usize>,
) -> Option<(usize, usize)> {
    let mut end = |tag: &str| {
        let Some(node) = xml::child(joint, tag) else {
            let name = joint.attribute("name").unwrap_or_default();
            xml.error("missing-element", format!("the joint `{name}` has no `{tag}`"), joint);
            return None;
        };
        let name = node.attribute("link")?;
        let found = link_by_name.get(name).copied();
        if found.is_none() {
            let place = xml.attribute_place(node, "link");
            let help = xml.findings.suggestion(name, link_by_name.keys().copied());
            xml.findings.push(
                Diagnostic::error("no-such-link", format!("there is no link `{name}`"))
                    .at(place)
                    .help_maybe(help),
            );
        }
        found
    };
    let (parent, child) = (end("parent"), end("child"));
    Some((parent?, child?))
}

/// The kinds of joint URDF has.
const KINDS: [&str; 7] =
    ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"];

/// Where a joint names its kind, if that is none URDF has.
pub(super) fn unknown_kind(joint: Node<'_, '_>) -> Option<Range<usize>> {
    if !xml::is_named(joint, "joint") {
        return None;
    }
    let kind = joint.attribute_node("type")?;
    (!KINDS.contains(&kind.value())).then(|| kind.range_value())
}

fn check_joint(xml: &mut Xml<'_>, joint: Node<'_, '_>, joint_by_name: &BTreeMap<&str, usize>) {
    if let Some(kind) = joint.attribute("type").filter(|kind| !KINDS.contains(kind)) {
        let place = xml.attribute_place(joint, "type");
        let help = xml.findings.suggestion(kind, KINDS);
        xml.findings.push(
            Diagnostic::error("unknown-word", format!("no kind of joint `{kind}`"))
                .at(place)
                .help_maybe(help),
        );
    }
    if let Some(mimic) = xml::child(joint, "mimic")
        && let Some(leader) = mimic.attribute("joint")
        && !joint_by_name.contains_key(leader)
    {
        let place = xml.attribute_place(mimic, "joint");
        let help = xml.findings.suggestion(leader, joint_by_name.keys().copied());
        xml.findings.push(
            Diagnostic::error("no-such-joint", format!("there is no joint `{leader}`"))
                .at(place)
                .help_maybe(help),
        );
    }
}

/// Walks from the root; links that are not reached hang in a cycle or from another root.
fn connected(
    xml: &mut Xml<'_>,
    links: &[Node<'_, '_>],
    carried_by: &BTreeMap<usize, usize>,
    children: &BTreeMap<usize, Vec<(usize, usize)>>,
    is_whole: bool,
) -> Option<Tree> {
    let name = |i: usize| links[i].attribute("name").unwrap_or_default();
    let roots: Vec<usize> = (0..links.len()).filter(|i| !carried_by.contains_key(i)).collect();
    // A link without a name, or with another's, is no joint's child: that is told already.
    let names: std::collections::BTreeSet<&str> = (0..links.len()).map(name).collect();
    let are_named = names.len() == links.len() && !names.contains("");
    for other in roots.iter().skip(1).filter(|_| are_named && is_whole) {
        let message = format!("`{}` and `{}` are both roots", name(roots[0]), name(*other));
        let place = xml.place(links[*other]);
        xml.findings.push(
            Diagnostic::error("two-roots", message)
                .at(place)
                .help("a robot is one tree; connect them by a joint"),
        );
    }
    let mut reached = vec![false; links.len()];
    let mut edges_from_root = Vec::new();
    let mut open = roots.clone();
    while let Some(parent) = open.pop() {
        reached[parent] = true;
        for (joint, child) in children.get(&parent).into_iter().flatten() {
            edges_from_root.push((parent, *joint, *child));
            open.push(*child);
        }
    }
    if let Some(lost) = reached.iter().position(|r| !r) {
        let message = format!("`{}` carries itself, through its own children", name(lost));
        xml.error("cycle", message, links[lost]);
    }
    // Whatever is wrong is told; a robot of several trees has the first one's root.
    Some(Tree { root: roots.first().copied().unwrap_or(0), edges_from_root })
}
