//! Looking at XML as text, before and instead of parsing it: what would cost the parser too
//! much, and what is nearly XML and can be mended.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Source};

use super::{MOST_ATTRIBUTES, MOST_DEPTH};

/// The text with its comments and its undeclared prefixes made legal.
pub(super) fn mended(source: &Arc<Source>, findings: &mut Findings) -> String {
    let mut bytes = source.text.clone().into_bytes();
    let comments = comments_with_dashes(&source.text);
    if let Some(first) = comments.first() {
        findings.push(
            Diagnostic::remark("dashes-in-comment", "`--` inside a comment is not legal XML")
                .at(Place::new(source, first.start..first.start + 1))
                .note("it is read all the same; other programs may refuse the file"),
        );
    }
    for comment in comments {
        bytes[comment].iter_mut().filter(|b| **b == b'-').for_each(|b| *b = b'=');
    }
    if let Some(late) = late_declaration(&source.text) {
        findings.push(
            Diagnostic::remark("late-declaration", "`<?xml … ?>` is legal only at the very start")
                .at(Place::new(source, late.clone()))
                .note("it is read all the same; other programs may refuse the file"),
        );
        bytes[late].fill(b' ');
    }
    let names = undeclared_names(&source.text);
    if let Some(first) = names.first() {
        let name = &source.text[first.clone()];
        let message = format!("the prefix of `{name}` is not declared");
        findings.push(
            Diagnostic::remark("undeclared-prefix", message)
                .at(Place::new(source, first.clone()))
                .note("it is read all the same; other programs may refuse the file")
                .help("declare it on the root element: xmlns:…=\"…\""),
        );
    }
    for name in names {
        bytes[name].iter_mut().filter(|b| **b == b':').for_each(|b| *b = b'.');
    }
    String::from_utf8(bytes).expect("one ASCII character for another")
}

/// The names of elements and attributes whose prefix no `xmlns:` declares. Ours must be
/// declared: passing over a misspelt region would be worse than refusing the file.
fn undeclared_names(text: &str) -> Vec<Range<usize>> {
    let declared: BTreeSet<&str> = text
        .match_indices("xmlns:")
        .map(|(at, found)| {
            let rest = &text[at + found.len()..];
            &rest[..rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(0)]
        })
        .chain(["xml", "xmlns", "headland"])
        .collect();
    let mut out = Vec::new();
    let mut i = 0;
    while let Some(found) = text[i..].find('<') {
        let at = i + found;
        let rest = &text[at..];
        let skip = |end: &str| at + rest.find(end).map_or(rest.len(), |found| found + end.len());
        if rest.starts_with("<!--") {
            i = skip("-->");
        } else if rest.starts_with("<![CDATA[") {
            i = skip("]]>");
        } else if rest.starts_with("<?") || rest.starts_with("<!") {
            i = skip(">");
        } else {
            let length = Tag::scan(rest.as_bytes()).length;
            for name in names_in_tag(&rest[..length]) {
                let range = at + name.start..at + name.end;
                let prefix = text[range.clone()].split_once(':').map(|(prefix, _)| prefix);
                if prefix.is_some_and(|prefix| !declared.contains(prefix)) {
                    out.push(range);
                }
            }
            i = at + length;
        }
    }
    out
}

/// The names in a tag: the element's and its attributes', outside the quotes.
fn names_in_tag(tag: &str) -> Vec<Range<usize>> {
    let (mut out, mut start, mut quote) = (Vec::new(), None, None);
    for (i, b) in tag.bytes().enumerate() {
        let is_name = !matches!(b, b'<' | b'>' | b'/' | b'=') && !b.is_ascii_whitespace();
        match (quote, b) {
            (Some(q), b) if q == b => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(b),
            (None, _) if is_name => {
                start.get_or_insert(i);
                continue;
            }
            (None, _) => {}
        }
        if let Some(start) = start.take() {
            out.push(start..i);
        }
    }
    out
}

/// An XML declaration that has something in front of it.
fn late_declaration(text: &str) -> Option<Range<usize>> {
    let before = text.find("<?xml ")?;
    let outside = !text[..before].contains("<!--") || text[..before].contains("-->");
    let end = before + text[before..].find("?>")? + 2;
    // Only spaces and comments may precede it: elsewhere it is not a declaration.
    (before > 0 && outside && end - before < 200).then_some(before..end)
}

/// What stands inside the comments that hold `--`, or end in `-`.
pub(super) fn comments_with_dashes(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut i = 0;
    while let Some(found) = text[i..].find("<!") {
        let at = i + found;
        let rest = &text[at..];
        if rest.starts_with("<![CDATA[") {
            i = at + rest.find("]]>").unwrap_or(rest.len());
        } else if let Some(body) = rest.strip_prefix("<!--") {
            let Some(length) = body.find("-->") else { break };
            let inside = &body[..length];
            if inside.contains("--") || inside.ends_with('-') {
                out.push(at + 4..at + 4 + length);
            }
            i = at + 4 + length + 3;
        } else {
            i = at + 2;
        }
    }
    out
}

/// What is nested deeper than any reader walks, or would make roxmltree compare too many
/// attributes with each other, and where. This scan only has to be right on well-formed text; anything else fails
/// in the parser.
pub(super) fn first_excess(text: &str) -> Option<(usize, Diagnostic)> {
    let bytes = text.as_bytes();
    let (mut depth, mut i) = (0usize, 0usize);
    while let Some(found) = memchr_lt(&bytes[i..]) {
        let at = i + found;
        let rest = &bytes[at..];
        if rest.starts_with(b"<!--") {
            i = at + find(rest, b"-->").unwrap_or(rest.len());
        } else if rest.starts_with(b"<![CDATA[") {
            i = at + find(rest, b"]]>").unwrap_or(rest.len());
        } else if rest.starts_with(b"<?") {
            i = at + find(rest, b"?>").unwrap_or(rest.len());
        } else if rest.starts_with(b"</") {
            depth = depth.saturating_sub(1);
            i = at + 2;
        } else {
            let tag = Tag::scan(rest);
            depth += usize::from(!tag.closes_itself);
            if depth > MOST_DEPTH {
                let message = format!("elements are nested more than {MOST_DEPTH} deep");
                let help = "real worlds stay below 20; is this file generated by a loop that does not end?";
                return Some((at, Diagnostic::error("too-deep", message).help(help)));
            }
            if tag.n_attributes > MOST_ATTRIBUTES {
                let message = format!("an element has more than {MOST_ATTRIBUTES} attributes");
                let help = "real elements have a dozen; is a quote missing?";
                return Some((at, Diagnostic::error("too-many-attributes", message).help(help)));
            }
            i = at + tag.length;
        }
    }
    None
}

fn memchr_lt(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|b| *b == b'<')
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|w| w == what).map(|i| i + what.len())
}

/// A start tag as the scan sees it; quotes may hold a `>`.
struct Tag {
    length: usize,
    closes_itself: bool,
    n_attributes: usize,
}

impl Tag {
    fn scan(bytes: &[u8]) -> Tag {
        let (mut quote, mut n_attributes) = (None, 0);
        for (i, b) in bytes.iter().enumerate() {
            match (quote, *b) {
                (Some(q), b) if q == b => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(*b),
                (None, b'=') => n_attributes += 1,
                (None, b'>') => {
                    let closes_itself = i > 0 && bytes[i - 1] == b'/';
                    return Tag { length: i + 1, closes_itself, n_attributes };
                }
                _ => {}
            }
        }
        Tag { length: bytes.len(), closes_itself: true, n_attributes }
    }
}
