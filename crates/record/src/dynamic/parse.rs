//! The text of a definition, made into types that know their parts.
//!
//! Parts are made before wholes, so a type that is met again while it is being made
//! contains itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Source};

use super::{Count, Element, Field, Scalar, Type};

/// Deepest nesting of messages in messages; common ones have five levels.
const DEPTH_MAX: usize = 32;

/// The types of schema `name`, the whole message last; or every defect of the text.
pub(super) fn types(name: &str, text: &str) -> Result<Vec<Type>, Vec<Diagnostic>> {
    let source = Source::new(name, text);
    let mut parser = Parser {
        sections: sections(name, text),
        source: &source,
        numbers: BTreeMap::new(),
        types: Vec::new(),
        findings: Findings::new(),
    };
    parser.type_number(0, 0);
    if parser.findings.has_errors() { Err(parser.findings.into_vec()) } else { Ok(parser.types) }
}

/// One `MSG:` section: its name and its lines with their place in the text.
struct Section<'a> {
    name: String,
    lines: Vec<(usize, &'a str)>,
}

/// Cuts the text at its separators.
fn sections<'a>(name: &str, text: &'a str) -> Vec<Section<'a>> {
    let mut sections = vec![Section { name: short_name(name), lines: Vec::new() }];
    let (mut offset, mut is_head) = (0, false);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.len() >= 3 && trimmed.bytes().all(|b| b == b'=') {
            is_head = true;
        } else if let (true, Some(name)) = (is_head, trimmed.strip_prefix("MSG:")) {
            sections.push(Section { name: short_name(name.trim()), lines: Vec::new() });
            is_head = false;
        } else {
            let code = line.split('#').next().unwrap_or_default();
            let start = offset + (code.len() - code.trim_start().len());
            if !code.trim().is_empty() {
                let last = sections.last_mut().expect("starts with one");
                last.lines.push((start, code.trim()));
            }
        }
        offset += line.len();
    }
    sections
}

/// `package/Type` of `package/msg/Type`.
fn short_name(name: &str) -> String {
    name.replacen("/msg/", "/", 1)
}

struct Parser<'a> {
    sections: Vec<Section<'a>>,
    source: &'a Arc<Source>,
    /// Number of the type made from a section; `None` while it is being made.
    numbers: BTreeMap<usize, Option<usize>>,
    types: Vec<Type>,
    findings: Findings,
}

impl Parser<'_> {
    /// The type of a section, made on first need, so that parts come before wholes.
    fn type_number(&mut self, section: usize, depth: usize) -> Option<usize> {
        if let Some(number) = self.numbers.get(&section).copied() {
            if number.is_none() {
                let name = self.sections[section].name.clone();
                self.fault("recursive-definition", format!("`{name:.80}` contains itself"), None);
            }
            return number;
        }
        if depth > DEPTH_MAX {
            let message = format!("messages are nested more than {DEPTH_MAX} levels deep");
            self.fault("definition-too-deep", message, None);
            return None;
        }
        self.numbers.insert(section, None);
        let lines = std::mem::take(&mut self.sections[section].lines);
        let mut fields = Vec::new();
        for (offset, line) in lines {
            fields.extend(self.field(section, offset, line, depth));
        }
        let sizes = fields.iter().map(|field| self.field_bytes_min(field));
        let bytes_min = sizes.fold(0usize, usize::saturating_add).max(1);
        let number = self.types.len();
        self.types.push(Type { fields, bytes_min });
        self.numbers.insert(section, Some(number));
        Some(number)
    }

    fn field_bytes_min(&self, field: &Field) -> usize {
        let one = match &field.element {
            Element::Scalar(scalar) => scalar.bytes(),
            Element::Text => 4,
            Element::Message(number) => self.types[*number].bytes_min,
        };
        match field.count {
            Count::One => one,
            Count::Fixed(count) => one.saturating_mul(count),
            Count::Any => 4,
        }
    }

    fn fault(&mut self, code: &'static str, message: String, span: Option<(usize, usize)>) {
        let place = span.map(|(at, length)| Place::new(self.source, at..at + length));
        self.findings.push(Diagnostic::error(code, message).at_maybe(place));
    }

    fn field(&mut self, section: usize, at: usize, line: &str, depth: usize) -> Option<Field> {
        let mut words = line.split_whitespace();
        let (ty, name) = (words.next()?, words.next());
        let Some(name) = name else {
            let message = format!("`{line:.80}` is not a type and a name");
            self.fault("bad-definition", message, Some((at, line.len())));
            return None;
        };
        // A constant is in no message. `NAME=1` and `NAME = 1` are both written; a default
        // value is not: `string a =b` is no constant, but neither is it legal.
        if name.contains('=') || words.next().is_some_and(|word| word.starts_with('=')) {
            return None;
        }
        let (base, count) = match split_array(ty) {
            Some(parts) => parts,
            None => {
                let message = format!("`{ty:.80}` is not an array type");
                self.fault("bad-definition", message, Some((at, ty.len())));
                return None;
            }
        };
        let element = self.element(section, at, base, depth)?;
        Some(Field { name: Arc::from(name), element, count })
    }

    fn element(&mut self, section: usize, at: usize, base: &str, depth: usize) -> Option<Element> {
        if let Some(element) = built_in(base) {
            return Some(element);
        }
        let wanted = if base.contains('/') {
            short_name(base)
        } else {
            let scope = &self.sections[section].name;
            format!("{}/{base}", scope.split('/').next().unwrap_or_default())
        };
        // `Header` alone is the standard one, as in ROS 1.
        let found = self.sections.iter().position(|s| s.name == wanted).or_else(|| {
            let header = (base == "Header").then_some("std_msgs/Header");
            self.sections.iter().position(|s| Some(s.name.as_str()) == header)
        });
        let Some(found) = found else {
            let (code, message) = if base.starts_with("wstring") {
                ("unsupported-type", "`wstring` has no one wire format".to_string())
            } else {
                ("unknown-type", format!("the type `{base:.80}` is not defined here"))
            };
            self.fault(code, message, Some((at, base.len())));
            return None;
        };
        self.type_number(found, depth + 1).map(Element::Message)
    }
}

fn built_in(base: &str) -> Option<Element> {
    let int = |bytes, signed| Some(Element::Scalar(Scalar::Int { bytes, signed }));
    match base {
        "bool" => Some(Element::Scalar(Scalar::Bool)),
        "byte" | "char" | "uint8" => int(1, false),
        "uint16" => int(2, false),
        "uint32" => int(4, false),
        "uint64" => int(8, false),
        "int8" => int(1, true),
        "int16" => int(2, true),
        "int32" => int(4, true),
        "int64" => int(8, true),
        "float32" => Some(Element::Scalar(Scalar::Float { bytes: 4 })),
        "float64" => Some(Element::Scalar(Scalar::Float { bytes: 8 })),
        // ROS 1 names that old definitions still carry.
        "string" => Some(Element::Text),
        _ => base.strip_prefix("string<=").map(|_| Element::Text),
    }
}

/// `T`, `T[]`, `T[<=n]` and `T[n]`.
fn split_array(ty: &str) -> Option<(&str, Count)> {
    let Some((base, size)) = ty.split_once('[') else { return Some((ty, Count::One)) };
    let size = size.strip_suffix(']')?;
    if size.is_empty() || size.strip_prefix("<=").is_some_and(|n| n.parse::<u32>().is_ok()) {
        return Some((base, Count::Any));
    }
    size.parse::<u32>().ok().filter(|n| *n > 0).map(|n| (base, Count::Fixed(n as usize)))
}
