//! Messages of types we do not know, decoded by the definition their file embeds.
//!
//! ```text
//! ros2msg text ─ parse ─► Definition ─┐
//!                                     ├─► Value ─► JSON, or scoped scalars `pose/position/x`
//! CDR payload ────────────────────────┘
//! ```
//!
//! Definitions and payloads come from files others wrote, so nothing in them is believed:
//! a type that contains itself, an array longer than the payload, a nesting without end
//! are diagnostics. Libraries for this recurse and allocate as the file says, which is why
//! the hundred lines are here.
//!
//! Deliberately absent: `wstring`, whose wire format differs between vendors.

use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Source};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::messages::{Endian, split_payload};

/// Longest definition text; the largest in common use is some tens of kilobytes.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Deepest nesting of messages in messages; common ones have five levels.
const DEPTH_MAX: usize = 32;
/// Most values decoded from one message, bytes and number lists apart.
const VALUES_MAX: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Bool,
    Int { bytes: u8, signed: bool },
    Float { bytes: u8 },
}

impl Scalar {
    fn bytes(self) -> usize {
        match self {
            Scalar::Bool => 1,
            Scalar::Int { bytes, .. } | Scalar::Float { bytes } => usize::from(bytes),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Element {
    Scalar(Scalar),
    Text,
    /// Index into the definition's types.
    Message(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    One,
    Fixed(usize),
    Any,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: Arc<str>,
    element: Element,
    count: Count,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Type {
    fields: Vec<Field>,
    /// No message of this type is shorter; padding not counted.
    bytes_min: usize,
}

/// A parsed message definition: every type in it is known and none contains itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    name: String,
    types: Vec<Type>,
}

/// A decoded message or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A signed integer of any width.
    Int(i64),
    /// An unsigned integer of any width.
    UInt(u64),
    /// A float; 32-bit ones are widened, which loses nothing.
    Float(f64),
    /// A text.
    Text(String),
    /// A list of bytes, as images are.
    Bytes(Vec<u8>),
    /// A list of floats.
    Floats(Vec<f64>),
    /// A list of anything else.
    List(Vec<Value>),
    /// Named values, in the order of the definition.
    Message(Vec<(Arc<str>, Value)>),
}

/// One `MSG:` section: its name and its lines with their place in the text.
struct Section<'a> {
    name: String,
    lines: Vec<(usize, &'a str)>,
}

impl Definition {
    /// Parses the embedded text of schema `name` (`package/msg/Type`).
    pub fn parse(name: &str, text: &str) -> Result<Definition, Vec<Diagnostic>> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(vec![Diagnostic::error(
                "definition-too-long",
                format!("the definition of `{name:.80}` has {} bytes", text.len()),
            )]);
        }
        let source = Source::new(name, text);
        let mut parser = Parser {
            sections: sections(name, text),
            source: &source,
            numbers: BTreeMap::new(),
            types: Vec::new(),
            findings: Findings::new(),
        };
        parser.type_number(0, 0);
        if parser.findings.has_errors() {
            return Err(parser.findings.into_vec());
        }
        let types = parser.types.into_iter().flatten().collect();
        Ok(Definition { name: name.to_string(), types })
    }

    /// The schema name it was parsed from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Decodes one payload.
    pub fn decode(&self, payload: &[u8]) -> Result<Value, Diagnostic> {
        let (endian, body) = split_payload(payload)?;
        let mut cursor = Cursor { body, at: 0, endian, n_values: 0 };
        // The first type finished is the innermost; the whole message is the last.
        let root = self.types.len() - 1;
        self.message(&mut cursor, root).map_err(|fault| {
            Diagnostic::error(
                "bad-message",
                format!(
                    "{} bytes are not a `{:.80}`: {fault} at byte {}",
                    payload.len(),
                    self.name,
                    cursor.at + 4
                ),
            )
        })
    }

    fn message(&self, cursor: &mut Cursor, number: usize) -> Result<Value, &'static str> {
        let ty = &self.types[number];
        cursor.room_for(ty.bytes_min)?;
        if ty.fields.is_empty() {
            cursor.take(1)?; // ROS pads a message without fields
        }
        let mut fields = Vec::with_capacity(ty.fields.len());
        for field in &ty.fields {
            fields.push((Arc::clone(&field.name), self.field(cursor, field)?));
        }
        Ok(Value::Message(fields))
    }

    fn field(&self, cursor: &mut Cursor, field: &Field) -> Result<Value, &'static str> {
        let count = match field.count {
            Count::One => return self.element(cursor, &field.element),
            Count::Fixed(count) => count,
            Count::Any => cursor.unsigned(4)? as usize,
        };
        // Before anything is allocated: so many elements must fit into what is left.
        cursor.room_for(count.saturating_mul(self.bytes_min(&field.element)))?;
        match field.element {
            Element::Scalar(Scalar::Int { bytes: 1, signed: false }) => {
                Ok(Value::Bytes(cursor.take(count)?.to_vec()))
            }
            Element::Scalar(Scalar::Float { bytes }) => {
                let floats = (0..count).map(|_| cursor.float(bytes)).collect::<Result<_, _>>()?;
                Ok(Value::Floats(floats))
            }
            _ => {
                let values = (0..count).map(|_| self.element(cursor, &field.element));
                Ok(Value::List(values.collect::<Result<_, _>>()?))
            }
        }
    }

    fn element(&self, cursor: &mut Cursor, element: &Element) -> Result<Value, &'static str> {
        cursor.n_values += 1;
        if cursor.n_values > VALUES_MAX {
            return Err("too many values");
        }
        Ok(match element {
            Element::Scalar(Scalar::Bool) => Value::Bool(cursor.take(1)?[0] != 0),
            Element::Scalar(Scalar::Int { bytes, signed: false }) => {
                Value::UInt(cursor.unsigned(*bytes)?)
            }
            Element::Scalar(Scalar::Int { bytes, signed: true }) => {
                let unused_bits = 64 - 8 * u32::from(*bytes);
                Value::Int(((cursor.unsigned(*bytes)? << unused_bits) as i64) >> unused_bits)
            }
            Element::Scalar(Scalar::Float { bytes }) => Value::Float(cursor.float(*bytes)?),
            Element::Text => Value::Text(cursor.text()?),
            Element::Message(number) => self.message(cursor, *number)?,
        })
    }

    fn bytes_min(&self, element: &Element) -> usize {
        match element {
            Element::Scalar(scalar) => scalar.bytes(),
            Element::Text => 4,
            Element::Message(number) => self.types[*number].bytes_min,
        }
    }
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
    types: Vec<Option<Type>>,
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
        self.types.push(Some(Type { fields, bytes_min }));
        self.numbers.insert(section, Some(number));
        Some(number)
    }

    fn field_bytes_min(&self, field: &Field) -> usize {
        let one = match &field.element {
            Element::Scalar(scalar) => scalar.bytes(),
            Element::Text => 4,
            Element::Message(number) => self.types[*number].as_ref().map_or(1, |ty| ty.bytes_min),
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

struct Cursor<'a> {
    body: &'a [u8],
    at: usize,
    endian: Endian,
    n_values: usize,
}

impl<'a> Cursor<'a> {
    fn room_for(&self, n_bytes: usize) -> Result<(), &'static str> {
        let left = self.body.len().saturating_sub(self.at);
        if n_bytes <= left { Ok(()) } else { Err("it ends too early") }
    }

    fn take(&mut self, n_bytes: usize) -> Result<&'a [u8], &'static str> {
        let end = self.at.checked_add(n_bytes).ok_or("it ends too early")?;
        let bytes = self.body.get(self.at..end).ok_or("it ends too early")?;
        self.at = end;
        Ok(bytes)
    }

    /// An aligned number of 1, 2, 4 or 8 bytes.
    fn unsigned(&mut self, n_bytes: u8) -> Result<u64, &'static str> {
        let n_bytes = usize::from(n_bytes);
        self.at = self.at.next_multiple_of(n_bytes);
        let bytes = self.take(n_bytes)?;
        let mut wide = [0; 8];
        match self.endian {
            Endian::Little => {
                wide[..n_bytes].copy_from_slice(bytes);
                Ok(u64::from_le_bytes(wide))
            }
            Endian::Big => {
                wide[8 - n_bytes..].copy_from_slice(bytes);
                Ok(u64::from_be_bytes(wide))
            }
        }
    }

    fn float(&mut self, n_bytes: u8) -> Result<f64, &'static str> {
        let bits = self.unsigned(n_bytes)?;
        Ok(if n_bytes == 4 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) })
    }

    fn text(&mut self) -> Result<String, &'static str> {
        let n_bytes = self.unsigned(4)? as usize;
        let bytes = self.take(n_bytes)?;
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        // A text that is no UTF-8 is shown with its wrong letters marked, not refused.
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

impl Value {
    /// The field of a message.
    pub fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Message(fields) => fields.iter().find(|(n, _)| &**n == name).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The number this is, if it is one; a bool is 0 or 1.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
            Value::Int(n) => Some(*n as f64),
            Value::UInt(n) => Some(*n as f64),
            Value::Float(x) => Some(*x),
            _ => None,
        }
    }

    /// Every number in it with its scoped key: `pose/position/x`, `ranges/0`. Texts and
    /// bytes have none. Ends early when `each` says false.
    pub fn for_each_number(&self, each: &mut impl FnMut(&str, f64) -> bool) -> bool {
        self.walk(&mut String::new(), each)
    }

    fn walk(&self, key: &mut String, each: &mut impl FnMut(&str, f64) -> bool) -> bool {
        match self {
            Value::Message(fields) => {
                fields.iter().all(|(name, value)| scoped(key, name, |key| value.walk(key, each)))
            }
            Value::Floats(floats) => (floats.iter().enumerate())
                .all(|(i, float)| scoped(key, &i.to_string(), |key| each(key, *float))),
            Value::List(values) => (values.iter().enumerate())
                .all(|(i, value)| scoped(key, &i.to_string(), |key| value.walk(key, each))),
            Value::Bytes(_) | Value::Text(_) => true,
            number => number.number().is_none_or(|number| each(key, number)),
        }
    }

    /// One line of JSON. What JSON has no number for is a text: `"NaN"`, `"Infinity"`.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("maps with text keys always have a JSON form")
    }
}

fn scoped<T>(key: &mut String, part: &str, f: impl FnOnce(&mut String) -> T) -> T {
    let length = key.len();
    if length > 0 {
        key.push('/');
    }
    key.push_str(part);
    let result = f(key);
    key.truncate(length);
    result
}

/// A float that JSON can say.
struct JsonFloat(f64);

impl Serialize for JsonFloat {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => out.serialize_f64(x),
            x if x.is_nan() => out.serialize_str("NaN"),
            x if x > 0.0 => out.serialize_str("Infinity"),
            _ => out.serialize_str("-Infinity"),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Bool(yes) => out.serialize_bool(*yes),
            Value::Int(n) => out.serialize_i64(*n),
            Value::UInt(n) => out.serialize_u64(*n),
            Value::Float(x) => JsonFloat(*x).serialize(out),
            Value::Text(text) => out.serialize_str(text),
            Value::Bytes(bytes) => out.collect_seq(bytes),
            Value::Floats(floats) => {
                let mut list = out.serialize_seq(Some(floats.len()))?;
                for float in floats {
                    list.serialize_element(&JsonFloat(*float))?;
                }
                list.end()
            }
            Value::List(values) => out.collect_seq(values),
            Value::Message(fields) => {
                let mut map = out.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(&**name, value)?;
                }
                map.end()
            }
        }
    }
}
