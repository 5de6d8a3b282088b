//! What a model says that a World cannot say: a table of attributes goes in, one finding per
//! line of it comes out, with how often and where first.
//!
//! Whatever the schema lets through is honoured, told here, kept as written (with a note of
//! its own), or without effect on how rigid bodies move (colours, groups, the numbers of
//! MuJoCo's own solver). `worlds.md` lists all of them.

use std::collections::BTreeMap;

use headland_base::{Diagnostic, Place, Severity};
use roxmltree::Node;

use crate::xml::{self, Xml};

/// Motors that are read; those of other kinds are kept whole.
const MOTORS: &[&str] = &["general", "motor", "position", "velocity"];
/// What softens a constraint, wherever it stands.
const ANY: &[&str] = &["geom", "joint", "default", "equality", "weld", "connect"];
const TOUCHING: &[&str] = &["geom", "pair"];

/// One line: elements, attributes, the values that say nothing, and what is lost.
struct LeftOut {
    on: &'static [&'static str],
    attributes: &'static [&'static str],
    harmless: &'static [&'static str],
    severity: Severity,
    what: &'static str,
}

const fn lost(
    on: &'static [&'static str],
    attributes: &'static [&'static str],
    harmless: &'static [&'static str],
    what: &'static str,
) -> LeftOut {
    LeftOut { on, attributes, harmless, severity: Severity::Warning, what }
}

const fn softened(
    on: &'static [&'static str],
    attributes: &'static [&'static str],
    what: &'static str,
) -> LeftOut {
    LeftOut { on, attributes, harmless: &[], severity: Severity::Note, what }
}

const NO: &[&str] = &["false"];
const ON: &[&str] = &["enable"];
const OFF: &[&str] = &["disable"];

const TABLE: &[LeftOut] = &[
    lost(&["position"], &["timeconst"], &["0"], "the motor follows its command at once"),
    lost(MOTORS, &["delay"], &["0"], "commands act at once"),
    lost(MOTORS, &["armature"], &["0"], "write it on the joint"),
    lost(MOTORS, &["damping"], &["0"], "write it on the joint"),
    lost(MOTORS, &["input", "velrange", "ffrange"], &[], "a motor takes one command"),
    lost(&["joint"], &["actuatorgravcomp"], NO, "gravity is not made up for"),
    lost(&["body"], &["gravcomp"], &["0", "1"], "only 0 and 1 are read: gravity pulls in full"),
    lost(&["option"], &["density"], &["0"], "nothing moves through a fluid"),
    lost(&["option"], &["viscosity"], &["0"], "nothing moves through a fluid"),
    lost(&["option"], &["wind"], &["0 0 0"], "there is no wind"),
    lost(&["geom"], &["fluidshape", "fluidcoef"], &["none"], "nothing moves through a fluid"),
    lost(&["option"], &["collision"], &["all"], "every pair that may touch does"),
    lost(&["option"], &["actuatorgroupdisable"], &[], "every motor works"),
    lost(&["flag"], &["filterparent"], ON, "links that share a joint never touch"),
    lost(&["flag"], &["override"], OFF, "contacts are as each geom says"),
    lost(&["geom", "pair"], &["adhesion"], &["0"], "nothing sticks"),
    lost(&["geom"], &["surfacevel"], &["0 0 0"], "surfaces do not run"),
    lost(&["geom"], &["shellinertia"], NO, "the mass fills the whole shape"),
    lost(&["compiler"], &["exactmeshinertia"], NO, "say `inertia=\"exact\"` on the mesh"),
    lost(&["compiler"], &["inertiagrouprange"], &["0 5"], "geoms of every group have mass"),
    softened(
        ANY,
        &[
            "solref",
            "solimp",
            "solmix",
            "solreflimit",
            "solimplimit",
            "solreffriction",
            "solimpfriction",
        ],
        "contacts, limits and welds are as hard as the engine makes them",
    ),
    softened(TOUCHING, &["margin", "gap"], "shapes touch where they meet"),
    softened(&["joint"], &["margin"], "limits act where they are"),
    softened(&["geom"], &["priority"], "the friction of a pair is the engine's mean of both"),
    softened(&["mesh"], &["maxhullvert"], "the whole convex hull touches"),
];

/// Tells everything of the table that stands in the file, in the table's order.
pub(super) fn tell(xml: &mut Xml<'_>, root: Node<'_, '_>) {
    let mut found: BTreeMap<usize, (usize, Vec<&'static str>, Place)> = BTreeMap::new();
    for node in root.descendants().filter(|node| node.is_element() && !xml::is_prefixed(*node)) {
        let tag = node.tag_name().name();
        for (row, line) in TABLE.iter().enumerate().filter(|(_, line)| line.on.contains(&tag)) {
            for name in line.attributes {
                let Some(value) = node.attribute(*name) else { continue };
                if value.trim().is_empty() || says_nothing(value, line.harmless) {
                    continue;
                }
                let first = || (0, Vec::new(), xml.attribute_place(node, name));
                let (count, names, _) = found.entry(row).or_insert_with(first);
                *count += 1;
                if !names.contains(name) {
                    names.push(name);
                }
            }
        }
        if is_rolling(node) {
            let first = || (0, vec!["condim"], xml.attribute_place(node, "condim"));
            found.entry(TABLE.len()).or_insert_with(first).0 += 1;
        }
    }
    let rolling = "friction holds against sliding, not against spinning and rolling";
    for (row, (count, names, place)) in found {
        let (severity, what) = match TABLE.get(row) {
            Some(line) => (line.severity, line.what),
            None => (Severity::Note, rolling),
        };
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let often = if count == 1 { String::new() } else { format!(" ({count} times)") };
        let message = format!("{}{often} left out: {what}", names.join(", "));
        let mut diagnostic = Diagnostic::warning("left-out", message).at(place);
        diagnostic.severity = severity;
        xml.findings.push(diagnostic);
    }
}

/// Contacts of four or six dimensions.
fn is_rolling(node: Node<'_, '_>) -> bool {
    let is_touching = TOUCHING.contains(&node.tag_name().name());
    is_touching && matches!(node.attribute("condim").map(str::trim), Some("4" | "6"))
}

/// Whether a value is one of those that change nothing, also where it is written otherwise.
fn says_nothing(value: &str, harmless: &[&str]) -> bool {
    let numbers = |text: &str| -> Option<Vec<f64>> {
        text.split_whitespace().map(|word| word.parse().ok()).collect()
    };
    harmless.iter().any(|text| {
        value.trim() == *text || numbers(value).is_some_and(|given| Some(given) == numbers(text))
    })
}

/// What `flag` switches off, with all that hangs on it.
pub(super) struct Flags(Vec<String>);

impl Flags {
    pub(super) fn of(root: Node<'_, '_>) -> Flags {
        let flags = xml::children(root, "option")
            .flat_map(|option| option.children().filter(|n| xml::is_named(*n, "flag")));
        let is_off = |value: &str| value.trim() == "disable";
        let off = flags.flat_map(|flag| {
            flag.attributes().filter(move |a| is_off(a.value())).map(|a| a.name().to_string())
        });
        Flags(off.collect())
    }

    /// Whether a part of the physics is switched off, itself or with a larger one.
    pub(super) fn is_off(&self, word: &str) -> bool {
        let larger = match word {
            "contact" | "limit" | "frictionloss" | "equality" => "constraint",
            "spring" | "damper" => "passive",
            _ => word,
        };
        self.0.iter().any(|off| off == word || off == larger)
    }
}

/// An attribute of an element as it stands or as its defaults give it.
pub(super) fn inherited<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let given = |text: Option<&'a str>| text.filter(|text| !text.trim().is_empty());
    if let Some(own) = given(node.attribute(name)) {
        return Some(own);
    }
    let around = || node.ancestors().skip(1).find_map(|outer| outer.attribute("childclass"));
    let class = node.attribute("class").or_else(around).unwrap_or("main");
    let root = node.ancestors().filter(Node::is_element).last()?;
    let is_default = |node: &Node<'_, '_>| node.has_tag_name("default");
    let of_class = |node: &Node<'_, '_>| node.attribute("class").unwrap_or("main") == class;
    let start = root.descendants().filter(is_default).find(of_class)?;
    start.ancestors().filter(is_default).find_map(|level| {
        let same = level.children().filter(|n| n.tag_name().name() == node.tag_name().name());
        same.filter_map(|n| given(n.attribute(name))).next_back()
    })
}
