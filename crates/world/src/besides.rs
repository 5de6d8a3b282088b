//! What is wrong besides: a file of another format that was refused goes in, every further
//! defect comes out.
//!
//! ```text
//! text + its errors ─ mend: a bad number is 1, what is unknown is gone ─► text ─ read again
//!        ▲                                                                          │
//!        └──────────────────────── until it reads, or nothing helps ◄──── new errors┘
//! ```
//!
//! The readers of URDF and MJCF go in stages (names and values, the typed content, links and
//! joints, the finished world), and each needs the one before to be sound. One letter in a
//! mass must not hide a shape without size, so what the first stages refused is mended and
//! the later ones get their look.
//!
//! Bytes are replaced one for one, so that places stay true. The mended text is good for
//! nothing else: the world made of it is thrown away, and so is what is said of the elements
//! that were mended.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use headland_base::{Diagnostic, Place, Severity, Source};
use roxmltree::{Attribute, Node};

use crate::xml;

/// Each round mends what one stage refused; there are four stages.
const MOST_ROUNDS: usize = 8;

/// What a file can do without: where nothing nearer helps, these are taken out whole.
const SPARE: &[&str] = &[
    // URDF
    "axis",
    "calibration",
    "collision",
    "dynamics",
    "gazebo",
    "inertial",
    "joint",
    "limit",
    "material",
    "mimic",
    "origin",
    "safety_controller",
    "transmission",
    "visual",
    // MJCF
    "camera",
    "exclude",
    "general",
    "geom",
    "light",
    "motor",
    "pair",
    "position",
    "site",
    "velocity",
];

/// Of those, the ones that are shapes of a body.
const SHAPES: &[&str] = &["collision", "geom", "site", "visual"];

/// Attributes whose numbers are wrong when they are zero.
const SIZES: &[&str] = &["axis", "length", "radius", "scale", "size", "xyz"];

/// Attributes that are wrong or right together with others of their element: with a 1 among
/// them, they may become wrong.
const COMPARED: &[&str] = &[
    "ctrlrange",
    "diaginertia",
    "forcerange",
    "fullinertia",
    "ixx",
    "ixy",
    "ixz",
    "iyy",
    "iyz",
    "izz",
    "lower",
    "range",
    "upper",
];

/// What is said of an element that lacks something.
const LACKS: &[&str] =
    &["missing-attribute", "no-such-hfield", "no-such-mesh", "unsupported-geom", "wrong-count"];

/// What is said of a body whose shapes weigh something else, or are not all there.
const WEIGHS: &[&str] =
    &["bad-inertia", "bad-mass", "default-inertia", "massless-link", "massless-links", "no-volume"];

/// What is said of a name that is not there.
const MISSES_A_NAME: &[&str] = &[
    "no-such-body",
    "no-such-hfield",
    "no-such-joint",
    "no-such-link",
    "no-such-mesh",
    "unknown-joint",
    "unknown-link",
];

/// Every error and warning that those in `known` hide. `read` reads a text and says whether a world came
/// of it, and what was found.
pub(crate) fn besides(
    source: &Arc<Source>,
    known: &[Diagnostic],
    read: impl Fn(&Arc<Source>) -> (bool, Vec<Diagnostic>),
) -> Vec<Diagnostic> {
    let mut mended = Mended { text: source.text.clone(), ..Mended::default() };
    let mut wrong: Vec<Diagnostic> = known.to_vec();
    let mut told: Vec<(&str, usize)> = known.iter().filter_map(code_and_start).collect();
    let mut out = Vec::new();
    for _ in 0..MOST_ROUNDS {
        if !mended.mend(source, &wrong) {
            break;
        }
        let (is_world, found) = read(&Source::new(source.path.clone(), mended.text.clone()));
        wrong = found;
        wrong.retain(|diagnostic| diagnostic.severity >= Severity::Warning);
        for diagnostic in &wrong {
            let Some(place) = diagnostic.place.as_ref() else { continue };
            let Some(key) = code_and_start(diagnostic) else { continue };
            let is_ours = place.source.path == source.path;
            let is_missed = mended.misses(diagnostic);
            if is_ours
                && !is_missed
                && !mended.is_touched(diagnostic.code, place.span.start)
                && !told.contains(&key)
            {
                told.push(key);
                out.push(diagnostic.clone().at(Place::new(source, place.span.clone())));
            }
        }
        if is_world {
            break;
        }
    }
    out
}

fn code_and_start(diagnostic: &Diagnostic) -> Option<(&'static str, usize)> {
    diagnostic.place.as_ref().map(|place| (diagnostic.code, place.span.start))
}

#[derive(Default)]
struct Mended {
    text: String,
    /// Start tags, their names or attributes, about which nothing is believed any more.
    touched: Vec<Range<usize>>,
    /// Names of elements of which only these codes are not believed.
    doubted: Vec<(Range<usize>, &'static [&'static str])>,
    /// A joint was taken out: who holds whom is not known any more.
    is_joint_gone: bool,
    /// The names of all that was taken out.
    gone: BTreeSet<String>,
}

impl Mended {
    fn is_touched(&self, code: &str, at: usize) -> bool {
        self.touched.iter().any(|range| range.contains(&at))
            || self
                .doubted
                .iter()
                .any(|(range, codes)| range.contains(&at) && codes.contains(&code))
    }

    /// Whether something is missed that only mending took away.
    fn misses(&self, diagnostic: &Diagnostic) -> bool {
        match diagnostic.code {
            "two-roots" => self.is_joint_gone,
            code if MISSES_A_NAME.contains(&code) => {
                diagnostic.message.split('`').any(|word| self.gone.contains(word))
            }
            _ => false,
        }
    }

    /// Mends what can be mended; whether anything was.
    fn mend(&mut self, source: &Source, wrong: &[Diagnostic]) -> bool {
        let before = Source::new(source.path.clone(), self.text.clone());
        let Ok(document) = xml::parse(&before) else { return false };
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        for diagnostic in wrong.iter().filter(|d| d.severity == Severity::Error) {
            let Some(place) = diagnostic.place.as_ref() else { continue };
            if place.source.path != source.path {
                continue;
            }
            let at = place.span.start;
            let Some(node) = innermost(document.root_element(), at) else { continue };
            let attribute = node.attributes().find(|attribute| attribute.range().contains(&at));
            self.mend_one(&mut bytes, diagnostic.code, node, attribute);
        }
        self.text = String::from_utf8(bytes).expect("whole characters gave way to ASCII");
        self.text != before.text
    }

    fn mend_one(
        &mut self,
        bytes: &mut [u8],
        code: &str,
        node: Node<'_, '_>,
        attribute: Option<Attribute<'_, '_>>,
    ) {
        match (code, attribute) {
            ("bad-step" | "not-a-number" | "not-finite" | "not-positive", Some(attribute)) => {
                with_good_numbers(&mut bytes[attribute.range()]);
                self.touched.push(match COMPARED.contains(&attribute.name()) {
                    true => start_tag(node),
                    false => attribute.range(),
                });
                if node.has_tag_name("inertial") {
                    self.touched.extend(node.parent_element().map(start_tag)); // its body's
                }
            }
            // URDF reads a mass without value as one of 1 kg.
            ("missing-attribute", None) if node.has_tag_name("mass") => {
                self.touched.push(start_tag(node));
            }
            // What is not there any more cannot be wrong together with others.
            ("unknown-attribute", Some(attribute)) => {
                let is_compared = node.attributes().any(|a| COMPARED.contains(&a.name()));
                self.touched.push(if is_compared { start_tag(node) } else { name_of(node) });
                match node.parent_element() {
                    Some(body) if node.has_tag_name("inertial") => {
                        self.doubted.push((name_of(body), WEIGHS));
                    }
                    _ => self.doubt_weight_around(node),
                }
                blank(&mut bytes[attribute.range()]);
            }
            ("wrong-count", Some(attribute)) => {
                let name = attribute.name();
                let is_missed = COMPARED.contains(&name) || SIZES.contains(&name);
                self.touched.push(if is_missed { start_tag(node) } else { attribute.range() });
                if node.has_tag_name("inertial") {
                    self.touched.extend(node.parent_element().map(start_tag)); // its body's
                }
                blank(&mut bytes[attribute.range()]);
            }
            // Without its class an element lacks what that would have given it.
            ("no-such-class", Some(attribute)) => {
                self.touched.push(attribute.range());
                self.doubted.push((name_of(node), LACKS));
                self.doubt_weight_around(node);
                blank(&mut bytes[attribute.range()]);
            }
            // MJCF reads both, and a joint of no known kind as a hinge.
            ("duplicate-name", _) if is_mjcf(node) => {}
            ("unknown-word", Some(attribute)) if node.has_tag_name("joint") => {
                self.touched.push(attribute.range());
                // URDF takes one of no known kind for one that turns.
                if is_mjcf(node) {
                    blank(&mut bytes[attribute.range()]);
                }
            }
            ("not-positive" | "zero-vector", None) => {
                for sized in node.attributes().filter(|a| SIZES.contains(&a.name())) {
                    with_good_numbers(&mut bytes[sized.range()]);
                    self.touched.push(sized.range());
                }
            }
            ("bad-limits", None) => {
                self.touched.push(start_tag(node));
                for end in node.attributes().filter(|a| COMPARED.contains(&a.name())) {
                    blank(&mut bytes[end.range()]);
                }
            }
            ("unknown-element", None) => self.take_out(bytes, node),
            // These leave every joint readable for itself.
            ("cycle" | "no-such-link" | "two-parents" | "two-roots", _) => {}
            _ => {
                self.touched.push(start_tag(node));
                let is_spare = |node: &Node<'_, '_>| SPARE.contains(&node.tag_name().name());
                match (node.ancestors().find(is_spare), attribute) {
                    (Some(spare), _) => self.take_out(bytes, spare),
                    (None, Some(attribute)) => blank(&mut bytes[attribute.range()]),
                    (None, None) if code == "unsupported-element" => self.take_out(bytes, node),
                    (None, None) => {}
                }
            }
        }
    }

    /// Without an element, what is said of those around it may be its absence; without a
    /// shape, only what is said of their mass. Not so where a body says its mass itself: then
    /// it has it with or without this shape.
    fn take_out(&mut self, bytes: &mut [u8], node: Node<'_, '_>) {
        self.is_joint_gone |= node.has_tag_name("joint");
        let named = node.descendants().filter_map(|node| node.attribute("name"));
        self.gone.extend(named.map(str::to_string));
        if SHAPES.contains(&node.tag_name().name()) {
            self.touched.push(start_tag(node));
            self.doubt_weight_around(node);
        } else {
            self.touched.extend(node.ancestors().filter(Node::is_element).map(start_tag));
        }
        blank(&mut bytes[node.range()]);
    }

    fn doubt_weight_around(&mut self, node: Node<'_, '_>) {
        let has_inertial = |body: Node<'_, '_>| xml::child(body, "inertial").is_some();
        if !node.parent_element().is_some_and(has_inertial) {
            let around = node.ancestors().filter(Node::is_element);
            self.doubted.extend(around.map(|around| (name_of(around), WEIGHS)));
        }
    }
}

fn is_mjcf(node: Node<'_, '_>) -> bool {
    node.document().root_element().has_tag_name("mujoco")
}

/// The start tag up to the end of the name, where findings of the whole element point.
fn name_of(node: Node<'_, '_>) -> Range<usize> {
    let start = node.range().start;
    start..start + 1 + node.tag_name().name().len()
}

/// The innermost element around a place.
fn innermost<'a, 'i>(root: Node<'a, 'i>, at: usize) -> Option<Node<'a, 'i>> {
    let holds = |node: &Node<'_, '_>| node.is_element() && node.range().contains(&at);
    let mut found = Some(root).filter(holds)?;
    while let Some(inner) = found.children().find(holds) {
        found = inner;
    }
    Some(found)
}

fn start_tag(node: Node<'_, '_>) -> Range<usize> {
    let end = node.first_child().map_or(node.range().end, |first| first.range().start);
    node.range().start..end
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

/// `name="0.1 x nan"` becomes `name="0.1 1 1  "`.
fn with_good_numbers(attribute: &mut [u8]) {
    let Some(quote) = attribute.iter().position(|byte| matches!(byte, b'"' | b'\'')) else {
        return;
    };
    let last = attribute.len() - 1;
    for word in attribute[quote + 1..last].split_mut(u8::is_ascii_whitespace) {
        let number = str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok());
        if !word.is_empty() && number.is_none_or(|x| !x.is_finite() || x <= 0.0) {
            blank(word);
            word[0] = b'1';
        }
    }
}
