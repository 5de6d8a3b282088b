//! Strict reading of XML dialects: what may stand where is a table, and whatever is not
//! in the table is reported with its place and the nearest name that is.
//!
//! ```text
//! text ─ parse ─► roxmltree document ─ check_names(table) ─► every unknown name
//!                                    └ Xml: typed values ──► every malformed value
//! ```
//!
//! SDF, URDF and MJCF each bring their own table; the checking is the same.

mod scan;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Source, Vec3};
use roxmltree::{Document, ExpandedName, Node, NodeType, ParsingOptions};
use scan::{first_excess, mended};

/// What may stand in an element. Tables of these are statics that point at each other,
/// so a model may hold a model.
pub struct Element {
    /// The tag.
    pub name: &'static str,
    /// Attributes it may have.
    pub attributes: &'static [&'static str],
    /// Elements that may stand inside it.
    pub children: &'static [&'static Element],
    /// Whatever stands inside is somebody else's business (sensors, plugins).
    pub opaque: bool,
}

/// The most attributes of one element, far above what any of the formats has.
const MOST_ATTRIBUTES: usize = 1_000;

/// The deepest nesting any reader walks into; real files stay below 20.
pub const MOST_DEPTH: usize = 200;

/// The most nodes a document may have, so that a huge file ends in words.
const MOST_NODES: u32 = 8_000_000;

/// Our own namespace for what SDF has no word for.
pub const HEADLAND_NAMESPACE: &str = "urn:headland:sdf";

/// Parses, or says where the text stops being XML.
///
/// Document types are refused outright, and with them every entity bomb.
pub fn parse(source: &Arc<Source>) -> Result<Document<'_>, Diagnostic> {
    if let Some((offset, excess)) = first_excess(&source.text) {
        return Err(excess.at(Place::new(source, offset..offset + 1)));
    }
    let options =
        ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..Default::default() };
    Document::parse_with_options(&source.text, options).map_err(|error| {
        let pos = error.pos();
        let offset = offset_of(&source.text, pos.row as usize, pos.col as usize);
        let place = Place::new(source, offset..offset + 1);
        let diagnostic = Diagnostic::error("not-xml", strip_position(&error.to_string())).at(place);
        match error {
            roxmltree::Error::DtdDetected => diagnostic
                .note("document types can define entities that expand without end")
                .help("remove the <!DOCTYPE …> at the top"),
            roxmltree::Error::UnknownNamespace(prefix, _) => {
                let uri = if prefix == "headland" { HEADLAND_NAMESPACE } else { "…" };
                diagnostic.help(format!("declare it on the root element: xmlns:{prefix}=\"{uri}\""))
            }
            roxmltree::Error::NodesLimitReached => {
                diagnostic.note(format!("at most {MOST_NODES} elements and texts are read"))
            }
            _ => diagnostic,
        }
    })
}

/// Parses, and hands the document on. Text that is not quite XML in one of the ways that
/// robot worlds are wrong in is mended first, with a note:
///
/// - `<?xml … ?>` below a comment or an empty line;
/// - `--` inside a comment: command lines with options stand in many;
/// - a prefix that is never declared: `gz:type`. What it marks is somebody else's anyway.
///
/// Characters are replaced one for one, so that places stay true; what is quoted from the
/// file is quoted from `source`, as it was written.
pub fn with_document<T>(
    source: &Arc<Source>,
    findings: &mut Findings,
    then: impl FnOnce(&Document<'_>, &mut Findings) -> T,
) -> Result<T, Diagnostic> {
    let refused = match parse(source) {
        Ok(document) => return Ok(then(&document, findings)),
        Err(refused) => refused,
    };
    if refused.code != "not-xml" {
        return Err(refused);
    }
    let mended = Source::new(source.path.clone(), mended(source, findings));
    match parse(&mended) {
        Ok(document) => Ok(then(&document, findings)),
        Err(still) => {
            let place = still.place.as_ref().map(|place| Place::new(source, place.span.clone()));
            Err(still.at_maybe(place))
        }
    }
}

/// roxmltree ends its messages with the position, which we show our own way.
fn strip_position(message: &str) -> String {
    message.rsplit_once(" at ").map_or(message, |(text, _)| text).to_string()
}

fn offset_of(text: &str, row: usize, column: usize) -> usize {
    let line_start =
        text.split_inclusive('\n').take(row.saturating_sub(1)).map(str::len).sum::<usize>();
    let line = text[line_start..].lines().next().unwrap_or_default();
    line_start + line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(i, _)| i)
}

/// How often a name that is not known stood in a document, by what is said of it.
type Times = BTreeMap<String, usize>;

/// A document being read: where it is from, how strict to be, what was found so far.
pub struct Xml<'a> {
    /// The text.
    pub source: Arc<Source>,
    /// Unknown names are warnings.
    pub lenient: bool,
    /// Everything found so far.
    pub findings: &'a mut Findings,
}

impl Xml<'_> {
    /// The place of an element's name in its start tag.
    pub fn place(&self, node: Node<'_, '_>) -> Place {
        let start = node.range().start;
        let name_end = start + 1 + qualified_name_len(&self.source.text[start + 1..]);
        Place::new(&self.source, start + 1..name_end)
    }

    /// The place of an attribute, or of its element when it has none of that name.
    pub fn attribute_place(&self, node: Node<'_, '_>, name: &str) -> Place {
        let found = node.attributes().find(|a| a.name() == name);
        found.map_or_else(|| self.place(node), |a| Place::new(&self.source, a.range()))
    }

    /// The place of an element's text, or of its name when it is empty.
    pub fn text_place(&self, node: Node<'_, '_>) -> Place {
        let texts = node
            .children()
            .find(|child| child.is_text() && child.text().is_some_and(|t| !t.trim().is_empty()));
        texts.map_or_else(
            || self.place(node),
            |text| Place::new(&self.source, trimmed(&self.source.text, text.range())),
        )
    }

    /// An error at an element's name.
    pub fn error(&mut self, code: &'static str, message: impl Into<String>, node: Node<'_, '_>) {
        let place = self.place(node);
        self.findings.push(Diagnostic::error(code, message).at(place));
    }

    /// Checks every name below `root` against the table, without recursion. Elements of
    /// other namespaces than ours are passed over: extensions are what namespaces are for.
    pub fn check_names(&mut self, root: Node<'_, '_>, table: &'static Element) {
        let n_known = self.findings.kept().len();
        let mut times = Times::new();
        let mut open = vec![(root, table)];
        while let Some((node, element)) = open.pop() {
            self.check_attributes(node, element, &mut times);
            if element.opaque {
                continue;
            }
            let n_before = open.len();
            for child in node.children() {
                if child.node_type() == NodeType::Text {
                    self.check_text(child, element);
                    continue;
                }
                if !child.is_element() || is_foreign(child) || self.was_prefixed(child) {
                    continue;
                }
                match element.children.iter().find(|known| is(known.name, child.tag_name())) {
                    Some(known) => open.push((child, *known)),
                    None => self.unknown_element(child, &local_name(child), element, &mut times),
                }
            }
            open[n_before..].reverse(); // so that findings come in file order
        }
        self.say_how_often(n_known, &times);
    }

    /// Adds to each warning that stands for several how many those are.
    fn say_how_often(&mut self, n_known: usize, times: &Times) {
        if times.values().all(|n| *n == 1) {
            return;
        }
        let mut idx = 0;
        *self.findings = std::mem::take(self.findings).map(|mut diagnostic| {
            let is_ours = idx >= n_known;
            idx += 1;
            let counted = times.get(&diagnostic.message).filter(|n| is_ours && **n > 1);
            if let Some(n) = counted {
                diagnostic.message += &format!(" ({n} times)");
            }
            diagnostic
        });
    }

    /// Whether a name that is not known is the first of its kind to be told. An error is told
    /// wherever it stands; of warnings, which change nothing, the first is and the others are
    /// counted.
    fn is_first(&self, message: &str, times: &mut Times) -> bool {
        if !self.lenient {
            return true;
        }
        if let Some(n) = times.get_mut(message) {
            *n += 1;
            return false;
        }
        if !self.findings.is_full() {
            times.insert(message.to_string(), 1);
        }
        true
    }

    /// Whether the file gave the element a prefix that [`mended`] took away.
    fn was_prefixed(&self, node: Node<'_, '_>) -> bool {
        node.tag_name().name().contains('.')
            && self.source.text[self.place(node).span].contains(':')
    }

    /// Text has no meaning where elements stand: `<box>1 1 1</box>`.
    fn check_text(&mut self, text: Node<'_, '_>, element: &'static Element) {
        let is_blank = text.text().is_none_or(|text| text.trim_ascii().is_empty());
        if is_blank || element.children.is_empty() {
            return;
        }
        let place = Place::new(&self.source, trimmed(&self.source.text, text.range()));
        let message = format!("text in `{}` means nothing", element.name);
        let known = element.children.iter().take(12).map(|known| format!("`{}`", known.name));
        let known: Vec<String> = known.collect();
        self.findings.push(
            Diagnostic::warning("stray-text", message)
                .at(place)
                .help(format!("it holds elements: {}", known.join(", "))),
        );
    }

    fn check_attributes(
        &mut self,
        node: Node<'_, '_>,
        element: &'static Element,
        times: &mut Times,
    ) {
        for attribute in node.attributes() {
            let name = match attribute.namespace() {
                None => Cow::Borrowed(attribute.name()),
                Some(HEADLAND_NAMESPACE) => Cow::Owned(format!("headland:{}", attribute.name())),
                Some(_) => continue, // somebody else's extension
            };
            if element.opaque || element.attributes.contains(&name.as_ref()) {
                continue;
            }
            let place = Place::new(&self.source, attribute.range());
            let written = &self.source.text[attribute.range()];
            if written.split('=').next().is_some_and(|name| name.contains(':'))
                && attribute.namespace().is_none()
            {
                continue; // a prefix nobody declared
            }
            let message = format!("no attribute `{name}` on `{}`", element.name);
            if !self.is_first(&message, times) {
                continue;
            }
            let help = self.findings.suggestion(&name, element.attributes.iter().copied());
            self.unknown("unknown-attribute", message, place, help);
        }
    }

    fn unknown_element(
        &mut self,
        child: Node<'_, '_>,
        tag: &str,
        element: &'static Element,
        times: &mut Times,
    ) {
        let message = format!("no element `{tag}` in `{}`", element.name);
        if !self.is_first(&message, times) {
            return;
        }
        let place = self.place(child);
        let help = self.findings.suggestion(tag, element.children.iter().map(|known| known.name));
        self.unknown("unknown-element", message, place, help);
    }

    /// A name the format does not have: an error, or a warning when lenient.
    pub fn unknown(
        &mut self,
        code: &'static str,
        message: String,
        place: Place,
        help: Option<String>,
    ) {
        let make = if self.lenient { Diagnostic::warning } else { Diagnostic::error };
        let mut diagnostic = make(code, message).at(place).help_maybe(help);
        if !self.lenient && diagnostic.help.is_none() {
            diagnostic = diagnostic.help("--lenient ignores what is unknown");
        }
        self.findings.push(diagnostic);
    }

    /// The numbers in a text, each finite or, with `infinite_ok`, infinite. `None`, with
    /// a finding, when any is malformed.
    pub fn numbers(&mut self, text: &str, place: &Place, infinite_ok: bool) -> Option<Vec<f64>> {
        let mut out = Vec::new();
        let mut good = true;
        for word in text.split_whitespace() {
            match word.parse::<f64>() {
                Ok(x) if x.is_finite() || (infinite_ok && !x.is_nan()) => out.push(x),
                Ok(_) => {
                    good = false;
                    self.findings.push(
                        Diagnostic::error("not-finite", format!("`{word}` is not a finite number"))
                            .at(place.clone()),
                    );
                }
                Err(_) => {
                    good = false;
                    let shown: String = word.chars().take(40).collect();
                    self.findings.push(
                        Diagnostic::error("not-a-number", format!("`{shown}` is not a number"))
                            .at(place.clone()),
                    );
                }
            }
        }
        good.then_some(out)
    }

    /// Exactly `N` finite numbers in an element's text.
    pub fn array<const N: usize>(&mut self, node: Node<'_, '_>) -> Option<[f64; N]> {
        if let Some(numbers) = well_formed(node) {
            return Some(numbers);
        }
        let text = text_of(node);
        let place = self.text_place(node);
        let numbers = self.numbers(&text, &place, false)?;
        self.exactly(numbers, node, &place)
    }

    fn exactly<const N: usize>(
        &mut self,
        numbers: Vec<f64>,
        node: Node<'_, '_>,
        place: &Place,
    ) -> Option<[f64; N]> {
        let found = numbers.len();
        numbers.try_into().ok().or_else(|| {
            let plural = if N == 1 { "number" } else { "numbers" };
            let message = format!("`{}` takes {N} {plural}, found {found}", local_name(node));
            self.findings.push(Diagnostic::error("wrong-count", message).at(place.clone()));
            None
        })
    }

    /// Three finite numbers in an element's text.
    pub fn vec3(&mut self, node: Node<'_, '_>) -> Option<Vec3> {
        self.array::<3>(node).map(Vec3::from_array)
    }

    /// One finite number in an element's text.
    pub fn number(&mut self, node: Node<'_, '_>) -> Option<f64> {
        self.array::<1>(node).map(|[x]| x)
    }

    /// One number in an element's text, `inf` and `-inf` included.
    pub fn number_or_infinite(&mut self, node: Node<'_, '_>) -> Option<f64> {
        let text = text_of(node);
        let place = self.text_place(node);
        let numbers = self.numbers(&text, &place, true)?;
        self.exactly(numbers, node, &place).map(|[x]: [f64; 1]| x)
    }

    /// `true`, `false`, `1` or `0` in an element's text.
    pub fn boolean(&mut self, node: Node<'_, '_>) -> Option<bool> {
        match node.text() {
            Some("true" | "1") => return Some(true),
            Some("false" | "0") => return Some(false),
            _ => {}
        }
        let text = text_of(node);
        let place = self.text_place(node);
        self.boolean_in(&text, place)
    }

    /// `true`, `false`, `1` or `0`.
    pub fn boolean_in(&mut self, text: &str, place: Place) -> Option<bool> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            other => {
                let shown: String = other.chars().take(40).collect();
                let message = format!("`{shown}` is neither `true` nor `false`");
                self.findings.push(Diagnostic::error("not-a-boolean", message).at(place));
                None
            }
        }
    }
}

/// The numbers of an element that holds exactly `N` finite ones and nothing else. The
/// road nearly every value takes: no place, no allocation.
fn well_formed<const N: usize>(node: Node<'_, '_>) -> Option<[f64; N]> {
    let only = node.first_child().filter(|child| child.next_sibling().is_none())?;
    let mut words = only.text().filter(|_| only.is_text())?.split_ascii_whitespace();
    let mut out = [0.0; N];
    for x in &mut out {
        *x = words.next()?.parse().ok().filter(|x: &f64| x.is_finite())?;
    }
    words.next().is_none().then_some(out)
}

/// The first child element of that name.
pub fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    children(node, name).next()
}

/// The child elements of that name; `headland:region` for our own namespace.
pub fn children<'a, 'i, 'n>(
    node: Node<'a, 'i>,
    name: &'n str,
) -> impl Iterator<Item = Node<'a, 'i>> + use<'a, 'i, 'n> {
    node.children().filter(move |child| is_named(*child, name))
}

/// Whether an element has that name; `headland:region` for our own namespace.
pub fn is_named(node: Node<'_, '_>, name: &str) -> bool {
    if !node.is_element() {
        return false;
    }
    // Most names differ in the first letters, which is the quickest question.
    let tag = node.tag_name();
    match name.strip_prefix("headland:") {
        Some(ours) => tag.name() == ours && tag.namespace() == Some(HEADLAND_NAMESPACE),
        None => tag.name() == name && !is_prefixed(node),
    }
}

/// The name as tables spell it: plain, or `headland:…` for our own namespace.
pub fn local_name(node: Node<'_, '_>) -> String {
    match node.tag_name().namespace() {
        Some(HEADLAND_NAMESPACE) => format!("headland:{}", node.tag_name().name()),
        _ => node.tag_name().name().to_string(),
    }
}

/// Whether a tag is the one tables spell `name`: [`local_name`] without making it.
fn is(name: &str, tag: ExpandedName<'_, '_>) -> bool {
    match tag.namespace() {
        Some(HEADLAND_NAMESPACE) => name.strip_prefix("headland:") == Some(tag.name()),
        _ => tag.name() == name,
    }
}

/// Whether an element has no text of its own but spaces.
pub fn is_blank(node: Node<'_, '_>) -> bool {
    let mut texts = node.children().filter(Node::is_text).filter_map(|child| child.text());
    texts.all(|text| text.trim().is_empty())
}

/// All of an element's own text, joined.
pub fn text_of(node: Node<'_, '_>) -> String {
    node.children().filter(Node::is_text).filter_map(|child| child.text()).collect()
}

/// The element as written, from `<` to `>`.
pub fn verbatim<'t>(source: &'t Source, node: Node<'_, '_>) -> &'t str {
    &source.text[node.range()]
}

/// An element of somebody else's namespace. A default namespace (`xmlns="…"` on the
/// root) is not one: some files carry it and mean plain SDF.
fn is_foreign(node: Node<'_, '_>) -> bool {
    is_prefixed(node) && node.tag_name().namespace() != Some(HEADLAND_NAMESPACE)
}

pub fn is_prefixed(node: Node<'_, '_>) -> bool {
    let namespace = node.tag_name().namespace();
    namespace.is_some()
        && node.lookup_prefix(namespace.unwrap_or_default()).is_some_and(|p| !p.is_empty())
}

fn qualified_name_len(text: &str) -> usize {
    text.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(text.len())
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start().len());
    start..start + slice.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    static RADIUS: Element =
        Element { name: "radius", attributes: &[], children: &[], opaque: false };
    static BALL: Element =
        Element { name: "ball", attributes: &["name"], children: &[&RADIUS, &BALL], opaque: false };

    fn findings_of(text: &str, lenient: bool) -> Vec<Diagnostic> {
        let source = Source::new("t.xml", text);
        let mut findings = Findings::new();
        match parse(&source) {
            Ok(document) => {
                let mut xml = Xml { source: source.clone(), lenient, findings: &mut findings };
                xml.check_names(document.root_element(), &BALL);
            }
            Err(diagnostic) => findings.push(diagnostic),
        }
        findings.into_vec()
    }

    #[test]
    fn every_unknown_name_is_reported_with_its_place_and_the_nearest() {
        let found = findings_of(
            "<ball nam='a'>\n <radios/>\n <ball><x:y xmlns:x='z'/><raduis/></ball></ball>",
            false,
        );
        let summary: Vec<_> = found
            .iter()
            .map(|d| (d.code, d.place.as_ref().unwrap().label(), d.help.clone().unwrap()))
            .collect();
        assert_eq!(
            summary,
            [
                ("unknown-attribute", "t.xml:1:7".into(), "did you mean `name`?".into()),
                ("unknown-element", "t.xml:2:3".into(), "did you mean `radius`?".into()),
                ("unknown-element", "t.xml:3:27".into(), "did you mean `radius`?".into()),
            ] as [(&str, String, String); 3]
        );
        assert!(
            findings_of("<ball nam='a'/>", true)
                .iter()
                .all(|d| d.severity == headland_base::Severity::Warning)
        );
    }

    #[test]
    fn hostile_documents_are_refused_with_words() {
        let laughs = "<!DOCTYPE a [<!ENTITY b 'x'><!ENTITY c '&b;&b;'>]><ball>&c;</ball>";
        assert_eq!(findings_of(laughs, false)[0].code, "not-xml");
        let deep = "<ball>".repeat(1_000_000);
        assert_eq!(findings_of(&deep, false)[0].code, "too-deep");
        let wide =
            format!("<ball {}/>", (0..100_000).map(|i| format!("a{i}='1' ")).collect::<String>());
        assert_eq!(findings_of(&wide, false)[0].code, "too-many-attributes");
        let quoted = format!("<ball name='{}'/>", "<ball>".repeat(300).replace('<', "&lt;"));
        assert!(findings_of(&quoted, false).is_empty());
        for broken in
            ["", "<", "<ball", "<ball></bal>", "\u{0}", "<ball>&nope;</ball>", "<a:ball/>"]
        {
            assert_eq!(findings_of(broken, false)[0].code, "not-xml", "{broken:?}");
        }
    }

    #[test]
    fn what_is_not_quite_xml_is_read_and_noted() {
        let text = "<ball gz:a='>'><!-- gz --verbose --->\n <gz::x gz:type='b:c'/>\
                    <![CDATA[ <!-- -- --> <gz:y> ]]><!-- - --><radios/></ball>";
        let source = Source::new("t.xml", text);
        let mut findings = Findings::new();
        let read = with_document(&source, &mut findings, |document, findings| {
            let mut xml = Xml { source: source.clone(), lenient: false, findings };
            xml.check_names(document.root_element(), &BALL);
            verbatim(&source, document.root_element()).to_string()
        });
        assert_eq!(read.as_deref(), Ok(text), "quoted as it was written");
        let found: Vec<_> =
            findings.into_vec().into_iter().map(|d| (d.code, d.place.unwrap().label())).collect();
        let wanted = [
            ("dashes-in-comment", "t.xml:1:20"),
            ("undeclared-prefix", "t.xml:1:7"),
            ("stray-text", "t.xml:2:24"),
            ("unknown-element", "t.xml:2:67"),
        ];
        assert_eq!(found, wanted.map(|(code, place)| (code, place.to_string())));
        assert!(scan::comments_with_dashes("<!-- never closed -- ").is_empty());
        let late = Source::new("t.xml", "<!-- ours -->\n<?xml version='1.0'?>\n<ball/>");
        let mut findings = Findings::new();
        assert_eq!(with_document(&late, &mut findings, |_, _| ()), Ok(()));
        assert_eq!(findings.into_vec()[0].code, "late-declaration");
        let ours = Source::new("t.xml", "<ball><headland:x/></ball>");
        let refused = with_document(&ours, &mut Findings::new(), |_, _| ()).unwrap_err();
        assert!(refused.help.is_some_and(|help| help.contains(HEADLAND_NAMESPACE)));
    }

    #[test]
    fn comments_and_quotes_do_not_count_as_depth() {
        let text = format!("<ball><!-- {} --><radius a='>' /></ball>", "<ball>".repeat(400));
        assert_eq!(findings_of(&text, false)[0].code, "unknown-attribute");
    }
}
