//! One element of a sensor: values come out, and every defect is noted with its place.
//!
//! A World keeps sensors as they were written. Here such a piece is parsed again, and what is
//! found wrong in it points into the file it came from.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use headland_base::maths::{PI, unit_quat};
use headland_base::{Diagnostic, Place, Quat, Source, Transform, Vec3, names};
use headland_world::Opaque;
use roxmltree::{Document, Node};

use crate::noise::sdf;
use crate::noise::{Dropout, Noise};

/// Our own namespace, as files declare it.
const NAMESPACE: &str = "urn:headland:sdf";

/// A piece of a file, parsed, and what was found wrong with it so far.
pub struct Piece<'d> {
    document: &'d Document<'d>,
    told: Told,
}

/// What is said about a piece.
struct Told {
    code: &'static str,
    /// Whose defects they are: ``sensor `robot::imu` ``.
    whose: Option<String>,
    /// Of the whole piece.
    place: Option<Place>,
    origin: Option<Origin>,
    findings: RefCell<Vec<Diagnostic>>,
}

/// Where a piece was cut out of.
struct Origin {
    source: Arc<Source>,
    /// Of its `<`.
    start: usize,
    /// Where in it something was put in that the file has not: prefixes declared anew.
    n_before: usize,
    n_added: usize,
}

/// The text of a piece as something that can be parsed alone: every prefix is declared, and
/// those that nobody declares become part of the name, letter for letter.
pub fn parsable(xml: &str) -> String {
    declared(xml).0
}

/// The same, and where in it something was put in that the text has not.
fn declared(xml: &str) -> (String, Range<usize>) {
    let (mut text, mut put_in) = (xml.to_string(), 0..0);
    // Each time one prefix; a sensor with more of them that nobody declares is no XML.
    for _ in 0..MOST_PREFIXES {
        match Document::parse(&text) {
            Err(roxmltree::Error::UnknownNamespace(prefix, _)) if prefix == "headland" => {
                let Some(start) = root_start(&text) else { break };
                let end = name_end(&text, start);
                let declaration = format!(" xmlns:headland=\"{NAMESPACE}\"");
                put_in = end..end + declaration.len();
                text.insert_str(end, &declaration);
            }
            Err(roxmltree::Error::UnknownNamespace(prefix, _)) => {
                text = text.replace(&format!("{prefix}:"), &format!("{prefix}."));
            }
            _ => break,
        }
    }
    (text, put_in)
}

/// Where the name of the outermost element begins, behind a prologue and comments; nowhere in what
/// is no XML.
fn root_start(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('<')?;
        let rest = &text[at..];
        let skipped = [("<!--", "-->"), ("<?", "?>"), ("<!", ">")];
        match skipped.iter().find(|(opening, _)| rest.starts_with(opening)) {
            Some((opening, closing)) => {
                at += opening.len() + rest[opening.len()..].find(closing)? + closing.len();
            }
            None => return Some(at + 1),
        }
    }
}

/// Elements of which a sensor may have several: cameras of a pair, clusters of a mixture, joints and
/// collisions that are watched.
const MAY_REPEAT: &[&str] = &["camera", "cluster", "collision", "joint", "headland:joint"];

/// Elements whose insides mean nothing here.
const STRANGERS: &[&str] = &["plugin", "metadata"];

/// Prefixes in a piece that nobody declares, at most: every one costs a reading of the piece.
const MOST_PREFIXES: usize = 16;

/// Attributes that a World may have put in when it cut a piece out, at most: declarations of
/// prefixes, of which files have a few.
const MOST_ADDED: usize = 64;

fn name_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let n = rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/');
    start + n.unwrap_or(rest.len())
}

/// Shows a text of its own, or a piece of a World whose place nobody asks for, as an element; what
/// was found wrong points into the text. An error where it is no XML.
pub fn alone<T>(
    xml: &str,
    then: impl FnOnce(Element<'_>) -> T,
) -> Result<(T, Vec<Diagnostic>), String> {
    let (text, put_in) = declared(xml);
    let origin = Origin {
        source: Source::new("", xml),
        start: 0,
        n_before: put_in.start,
        n_added: put_in.len(),
    };
    let document = Document::parse(&text).map_err(|error| in_words(&error, &text, &origin))?;
    let origin = Some(origin);
    let told =
        Told { code: "bad-sensor", whose: None, place: None, origin, findings: RefCell::default() };
    let made = then(Element { node: document.root_element(), told: &told });
    Ok((made, told.findings.into_inner()))
}

/// Why a text is no XML, with the place in what was written rather than in what was parsed.
fn in_words(error: &roxmltree::Error, text: &str, origin: &Origin) -> String {
    let (said, at) = (error.to_string(), error.pos());
    let Some(what) = said.strip_suffix(&format!(" at {at}")) else { return said };
    let line = text.split_inclusive('\n').take(at.row.saturating_sub(1) as usize);
    let line_start: usize = line.map(str::len).sum();
    let column = text.get(line_start..).unwrap_or_default().char_indices();
    let offset = column.map(|(i, _)| i).nth(at.col.saturating_sub(1) as usize);
    let offset = offset.map_or(text.len(), |i| line_start + i);
    let (row, column) = origin.source.line_column(origin.in_file(offset));
    format!("{what} at {row}:{column}")
}

impl<'d> Piece<'d> {
    /// A piece of what a World keeps, parsed from [`parsable`]; `place` is that of its name.
    pub fn new(
        code: &'static str,
        whose: String,
        kept: &Opaque,
        text: &str,
        document: &'d Document<'d>,
        place: Option<&Place>,
    ) -> Piece<'d> {
        let origin = place.and_then(|place| Origin::of(kept, text, place));
        let (place, findings) = (place.cloned(), RefCell::default());
        Piece { document, told: Told { code, whose: Some(whose), place, origin, findings } }
    }

    /// Its outermost element.
    pub fn root(&self) -> Element<'_> {
        Element { node: self.document.root_element(), told: &self.told }
    }

    /// Everything that was found wrong.
    pub fn into_findings(self) -> Vec<Diagnostic> {
        self.told.findings.into_inner()
    }
}

impl Origin {
    /// Where in the file a place in the piece is.
    fn in_file(&self, offset: usize) -> usize {
        let n_added = if offset > self.n_before { self.n_added } else { 0 };
        // What was put in is nowhere in the file; the name before it is.
        self.start + (offset - n_added.min(offset)).max(self.n_before.min(offset))
    }

    /// Finds the piece in its file. A place that is not its own, but that of what is around it,
    /// is of no use for what is inside.
    fn of(kept: &Opaque, text: &str, place: &Place) -> Option<Origin> {
        let source = &place.source.text;
        let start = place.span.start.checked_sub(1)?;
        if source.get(place.span.clone()) != Some(&kept.kind) {
            return None;
        }
        let n_before = 1 + kept.kind.len();
        let (written, read) = (source.get(start + n_before..)?, text.get(n_before..)?);
        // Nothing was put in, or attributes, each of which ends with a quote.
        let ends = read.match_indices('"').map(|(at, _)| at + 1);
        let is_rest = |n: &usize| begins(written, &read[*n..]);
        let n_added = std::iter::once(0).chain(ends).take(MOST_ADDED).find(is_rest)?;
        Some(Origin { source: Arc::clone(&place.source), start, n_before, n_added })
    }
}

/// Whether one begins with the other, but for prefixes that nobody declared.
fn begins(whole: &str, part: &str) -> bool {
    let is_same = |(a, b): (u8, u8)| a == b || (a == b':' && b == b'.');
    whole.len() >= part.len() && whole.bytes().zip(part.bytes()).all(is_same)
}

impl Told {
    fn place(&self, range: Range<usize>) -> Option<Place> {
        let Some(origin) = &self.origin else { return self.place.clone() };
        let range = origin.in_file(range.start)..origin.in_file(range.end);
        Some(Place::new(&origin.source, range))
    }
}

/// An element of a piece.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    node: Node<'a, 'a>,
    told: &'a Told,
}

impl<'a> Element<'a> {
    /// Its name, ours with their prefix.
    pub fn name(self) -> String {
        let tag = self.node.tag_name();
        match tag.namespace() {
            Some(NAMESPACE) => format!("headland:{}", tag.name()),
            _ => tag.name().to_string(),
        }
    }

    fn is_ours(node: Node<'_, '_>) -> bool {
        node.tag_name().namespace() == Some(NAMESPACE)
    }

    /// Whether it is called so; `headland:phase` is one of ours. Inside of ours every name is, with
    /// our prefix or without any.
    fn is(self, name: &str) -> bool {
        let tag = self.node.tag_name();
        let ours = name.strip_prefix("headland:");
        if self.node.parent().is_some_and(Element::is_ours) {
            let is_foreign = tag.namespace().is_some_and(|namespace| namespace != NAMESPACE);
            return !is_foreign && tag.name() == ours.unwrap_or(name);
        }
        Element::is_ours(self.node) == ours.is_some() && tag.name() == ours.unwrap_or(name)
    }

    /// Every element inside it.
    pub fn elements(self) -> impl Iterator<Item = Element<'a>> {
        let told = self.told;
        self.node.children().filter(Node::is_element).map(move |node| Element { node, told })
    }

    /// Every element of that name inside it.
    pub fn children(self, name: &str) -> impl Iterator<Item = Element<'a>> {
        self.elements().filter(move |element| element.is(name))
    }

    /// The first element of that name.
    pub fn child(self, name: &str) -> Option<Element<'a>> {
        self.children(name).next()
    }

    /// An element some levels down.
    pub fn at(self, path: &[&str]) -> Option<Element<'a>> {
        path.iter().try_fold(self, |element, name| element.child(name))
    }

    /// Its own text without the spaces around it.
    pub fn text(self) -> &'a str {
        self.node.text().unwrap_or_default().trim()
    }

    /// The text of an element inside it, where it says something.
    pub fn text_in(self, name: &str) -> Option<&'a str> {
        self.child(name).map(Element::text).filter(|text| !text.is_empty())
    }

    /// An attribute without the spaces around it, where it says something.
    pub fn attribute(self, name: &str) -> Option<&'a str> {
        self.node.attribute(name).map(str::trim).filter(|text| !text.is_empty())
    }

    /// Its number; what is none is said.
    pub fn value(self) -> Option<f64> {
        self.values::<1>().map(|[value]| value)
    }

    /// So many numbers; what are none is said.
    pub fn values<const N: usize>(self) -> Option<[f64; N]> {
        <[f64; N]>::try_from(self.numbers(N)?).ok()
    }

    /// The same of a number that is known only now.
    pub fn numbers(self, n: usize) -> Option<Vec<f64>> {
        let text = self.text();
        let number = |word: &str| word.parse::<f64>().ok().filter(|value| value.is_finite());
        let numbers: Option<Vec<f64>> = text.split_whitespace().take(n + 1).map(number).collect();
        let numbers = numbers.filter(|numbers| numbers.len() == n);
        if numbers.is_none() {
            let wanted = if n == 1 { "a number".to_string() } else { format!("{n} numbers") };
            let shown: String = text.chars().take(40).collect();
            self.error(format!("`{shown}` in <{}> is not {wanted}", self.name()));
        }
        numbers
    }

    /// The number of an element inside it, or what holds without.
    pub fn number(self, name: &str, default: f64) -> f64 {
        self.child(name).and_then(Element::value).unwrap_or(default)
    }

    /// The same of a number that must be such; `wanted` says what.
    pub fn number_that(
        self,
        name: &str,
        default: f64,
        wanted: &str,
        is_good: impl Fn(f64) -> bool,
    ) -> f64 {
        let Some(child) = self.child(name) else { return default };
        let Some(value) = child.value() else { return default };
        if is_good(value) {
            return value;
        }
        child.error(format!("<{name}> is {value}, and must be {wanted}"));
        default
    }

    /// The flag of an element inside it, or what holds without.
    pub fn flag(self, name: &str, default: bool) -> bool {
        let Some(child) = self.child(name) else { return default };
        match child.text().to_ascii_lowercase().as_str() {
            "true" | "1" => true,
            "false" | "0" => false,
            _ => {
                child.error(format!("`{}` is neither `true` nor `false`", child.text()));
                default
            }
        }
    }

    /// One of several words of an element inside it, or the first.
    pub fn word<T: Copy>(self, name: &str, known: &[(&'static str, T)]) -> T {
        let Some(child) = self.child(name).filter(|child| !child.text().is_empty()) else {
            return known[0].1;
        };
        let text = child.text();
        if let Some((_, found)) = known.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)) {
            return *found;
        }
        let help = names::suggestion(text, known.iter().map(|(word, _)| *word));
        child.push(Diagnostic::error, format!("no <{name}> is called `{text:.40}`"), help);
        known[0].1
    }

    /// The pose inside it, and the frame that it names.
    pub fn pose(self) -> (Transform, Option<(Element<'a>, &'a str)>) {
        let Some(pose) = self.child("pose") else { return (Transform::IDENTITY, None) };
        let frame = pose.attribute("relative_to").or_else(|| pose.attribute("frame"));
        let frame = frame.map(|frame| (pose, frame));
        if pose.text().is_empty() {
            return (Transform::IDENTITY, frame);
        }
        let is_degrees = matches!(pose.attribute("degrees"), Some("true" | "1"));
        let scale = if is_degrees { PI / 180.0 } else { 1.0 };
        let transform = match pose.attribute("rotation_format") {
            Some("quat_xyzw") => pose.values::<7>().and_then(|[x, y, z, qx, qy, qz, qw]| {
                let turn = unit_quat(Quat::from_xyzw(qx, qy, qz, qw));
                if turn.is_none() {
                    pose.error("its quaternion has no direction");
                }
                Some(Transform::new(turn?, Vec3::new(x, y, z)))
            }),
            _ => pose.values::<6>().map(|[x, y, z, roll, pitch, yaw]| {
                let rpy = Vec3::new(roll, pitch, yaw) * scale;
                Transform::from_xyz_rpy(Vec3::new(x, y, z), rpy)
            }),
        };
        (transform.unwrap_or_default(), frame)
    }

    /// The `<noise>` inside it; none where there is none.
    pub fn noise(self) -> Noise {
        self.noise_called("noise")
    }

    /// The same of another name.
    pub fn noise_called(self, name: &str) -> Noise {
        self.child(name).map_or_else(Noise::default, sdf::noise)
    }

    /// The `<noise>` of an element some levels down, of a sensor whose readings come together and
    /// are lost together.
    pub fn noise_at(self, path: &[&str]) -> Noise {
        let Some(element) = self.at(path) else { return Noise::default() };
        let noise = element.noise();
        if let Some(written) = element.child("noise").filter(|_| noise.dropout.rate > 0.0) {
            let help = "<headland:dropout> in the <sensor> itself loses all of a reading";
            written.fault("one number of a reading is not lost by itself", Some(help.to_string()));
        }
        noise
    }

    /// The `<headland:dropout>` inside it.
    pub fn dropout(self) -> Dropout {
        self.child("headland:dropout").map_or_else(Dropout::default, sdf::dropout)
    }

    /// Says of elements that stand twice anywhere inside it, where only the first would be heeded:
    /// the file says two things, or one thing twice, which is only warned of.
    pub fn nothing_twice(self) {
        let says = |element: Element<'a>| {
            let text = &element.node.document().input_text()[element.node.range()];
            text.split_whitespace().collect::<String>()
        };
        let mut first: Vec<Element<'a>> = Vec::new();
        for child in self.elements() {
            let (name, is_foreign) = (child.name(), child.is_foreign());
            if is_foreign || STRANGERS.contains(&name.as_str()) {
                continue;
            }
            child.nothing_twice();
            match first.iter().find(|known| known.name() == name) {
                None => first.push(child),
                Some(_) if MAY_REPEAT.contains(&name.as_str()) => {}
                Some(known) => {
                    let message = format!("<{name}> stands twice in <{}>", self.name());
                    let make = match says(*known) == says(child) {
                        true => |_, text| Diagnostic::warning("repeated-element", text),
                        false => |_, text| Diagnostic::error("repeated-element", text),
                    };
                    child.push(make, message, None);
                }
            }
        }
    }

    /// Whether it is of somebody else's namespace.
    fn is_foreign(self) -> bool {
        let tag = self.node.tag_name();
        // Prefixes that nobody declares became part of the name.
        tag.namespace().is_some_and(|name| name != NAMESPACE) || tag.name().contains('.')
    }

    /// Warns of elements inside it that mean nothing here.
    pub fn only(self, known: &[&str]) {
        for (child, name, help) in self.strangers(known) {
            let message = format!("<{name}> in <{}> means nothing here", self.name());
            child.push(|_, text| Diagnostic::warning("unknown-element", text), message, help);
        }
    }

    /// The same where a word that is not understood would make all of it say something else.
    pub fn nothing_but(self, known: &[&str]) {
        for (child, name, help) in self.strangers(known) {
            child.fault(format!("<{}> has no element <{name}>", self.name()), help);
        }
    }

    /// Elements inside it that are not known, with their names and what may have been meant. Those
    /// of somebody else's namespace are passed over.
    fn strangers(self, known: &[&str]) -> Vec<(Element<'a>, String, Option<String>)> {
        let is_known = |child: &Element<'_>| known.iter().any(|name| child.is(name));
        self.elements()
            .filter(|child| !child.is_foreign() && !is_known(child))
            .map(|child| {
                let name = child.name();
                let ours =
                    known.iter().find(|known| known.strip_prefix("headland:") == Some(&name));
                let meant = ours.map(|ours| format!("did you mean `{ours}`?"));
                let near = || names::suggestion(&name, known.iter().copied());
                let help = meant.or_else(near);
                (child, name, help)
            })
            .collect()
    }

    /// A defect.
    pub fn error(self, message: impl Into<String>) {
        self.push(Diagnostic::error, message.into(), None);
    }

    /// A defect, and what to do where that is known.
    pub fn fault(self, message: impl Into<String>, help: Option<String>) {
        self.push(Diagnostic::error, message.into(), help);
    }

    /// Something odd that does no harm.
    pub fn warn(self, message: impl Into<String>, help: Option<String>) {
        self.push(Diagnostic::warning, message.into(), help);
    }

    /// Something worth knowing.
    pub fn remark(self, message: impl Into<String>) {
        self.push(Diagnostic::remark, message.into(), None);
    }

    /// That it is left out because nobody knows such a sensor.
    pub fn unknown(self, message: impl Into<String>, help: Option<String>) {
        let make = |_, text| Diagnostic::warning("unknown-sensor-type", text);
        self.push(make, message.into(), help);
    }

    /// All that was said since the last call about the piece it is in.
    pub fn take_findings(self) -> Vec<Diagnostic> {
        self.told.findings.take()
    }

    /// Takes over what was found elsewhere, each finding once.
    pub fn add(self, findings: Vec<Diagnostic>) {
        let mut all = self.told.findings.borrow_mut();
        for finding in findings {
            if !all.contains(&finding) {
                all.push(finding);
            }
        }
    }

    /// Where it was written.
    pub fn place(self) -> Option<Place> {
        self.told.place(self.name_range())
    }

    fn name_range(self) -> Range<usize> {
        let start = self.node.range().start + 1;
        start..name_end(self.node.document().input_text(), start)
    }

    fn push(
        self,
        make: fn(&'static str, String) -> Diagnostic,
        message: String,
        help: Option<String>,
    ) {
        let Told { code, whose, findings, .. } = self.told;
        let message = match whose {
            Some(whose) => format!("{whose}: {message}"),
            None => message,
        };
        let diagnostic = make(code, message).help_maybe(help);
        findings.borrow_mut().push(diagnostic.at_maybe(self.place()));
    }
}
