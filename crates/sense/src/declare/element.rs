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

use crate::noise::sdf::{self, Defect};
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
    whose: String,
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
    let mut text = xml.to_string();
    if text.contains("headland:") && !text.contains("xmlns:headland") {
        let end = name_end(&text, 1);
        text.insert_str(end, &format!(" xmlns:headland=\"{NAMESPACE}\""));
    }
    for _ in 0..16 {
        match Document::parse(&text) {
            Err(roxmltree::Error::UnknownNamespace(prefix, _)) => {
                text = text.replace(&format!("{prefix}:"), &format!("{prefix}."));
            }
            _ => break,
        }
    }
    text
}

fn name_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let n = rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/');
    start + n.unwrap_or(rest.len())
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
        Piece { document, told: Told { code, whose, place, origin, findings } }
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
        let n_added = std::iter::once(0).chain(ends).take(64).find(is_rest)?;
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
        let in_file = |offset: usize| {
            let n_added = if offset > origin.n_before { origin.n_added } else { 0 };
            origin.start + offset - n_added
        };
        Some(Place::new(&origin.source, in_file(range.start)..in_file(range.end)))
    }
}

/// An element of a piece.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    node: Node<'a, 'a>,
    told: &'a Told,
}

impl<'a> Element<'a> {
    /// The node, for readers of their own.
    pub fn node(self) -> Node<'a, 'a> {
        self.node
    }

    /// Its name, ours with their prefix.
    pub fn name(self) -> String {
        let tag = self.node.tag_name();
        match tag.namespace() {
            Some(NAMESPACE) => format!("headland:{}", tag.name()),
            _ => tag.name().to_string(),
        }
    }

    fn is(self, name: &str) -> bool {
        let tag = self.node.tag_name();
        let is_ours = tag.namespace() == Some(NAMESPACE);
        match name.strip_prefix("headland:") {
            Some(ours) => is_ours && tag.name() == ours,
            None => !is_ours && tag.name() == name,
        }
    }

    /// Every element inside it.
    pub fn elements(self) -> impl Iterator<Item = Element<'a>> {
        let told = self.told;
        self.node.children().filter(Node::is_element).map(move |node| Element { node, told })
    }

    /// Every element of that name inside it; `headland:phase` is one of ours.
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
        let text = self.text();
        let words: Vec<&str> = text.split_whitespace().take(N + 1).collect();
        let numbers: Option<Vec<f64>> = words
            .iter()
            .map(|word| word.parse::<f64>().ok().filter(|value| value.is_finite()))
            .collect();
        let wanted = if N == 1 { "a number".to_string() } else { format!("{N} numbers") };
        let values = numbers.and_then(|numbers| <[f64; N]>::try_from(numbers).ok());
        if values.is_none() {
            let shown: String = text.chars().take(40).collect();
            self.error(format!("`{shown}` in <{}> is not {wanted}", self.name()));
        }
        values
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
        let Some(noise) = self.child(name) else { return Noise::default() };
        let mut defects = Vec::new();
        let read = sdf::noise(noise.node, &mut defects);
        self.defects(defects);
        read
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
        let Some(dropout) = self.child("headland:dropout") else { return Dropout::default() };
        let mut defects = Vec::new();
        let read = sdf::dropout(dropout.node, &mut defects);
        self.defects(defects);
        read
    }

    /// Notes what a reader of its own found in this piece.
    pub fn defects(self, defects: Vec<Defect>) {
        for defect in defects {
            let start = defect.span.start + 1;
            let name = start..name_end(self.node.document().input_text(), start);
            self.note(Diagnostic::error, defect.what, defect.help, name);
        }
    }

    /// Says which elements inside it mean nothing here. Those of somebody else's namespace are
    /// passed over.
    pub fn only(self, known: &[&str]) {
        for child in self.elements() {
            let tag = child.node.tag_name();
            let is_foreign = tag.namespace().is_some_and(|name| name != NAMESPACE);
            let name = child.name();
            if is_foreign || name.contains('.') || known.contains(&name.as_str()) {
                continue;
            }
            let help = names::suggestion(&name, known.iter().copied());
            let message = format!("<{name}> in <{}> means nothing here", self.name());
            child.push(|_, text| Diagnostic::warning("unknown-element", text), message, help);
        }
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
        self.note(make, message, help, self.name_range());
    }

    fn note(
        self,
        make: fn(&'static str, String) -> Diagnostic,
        message: String,
        help: Option<String>,
        range: Range<usize>,
    ) {
        let Told { code, whose, findings, .. } = self.told;
        let diagnostic = make(code, format!("{whose}: {message}")).help_maybe(help);
        findings.borrow_mut().push(diagnostic.at_maybe(self.told.place(range)));
    }
}
