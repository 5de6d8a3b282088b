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

mod parse;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::Diagnostic;

use crate::cdr::{Endian, split_payload};
use crate::reader::Channel;

pub use value::Value;

/// Longest definition text; the largest in common use is some tens of kilobytes.
const TEXT_BYTES_MAX: usize = 1 << 20;
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

impl Definition {
    /// Parses the embedded text of schema `name` (`package/msg/Type`).
    pub fn parse(name: &str, text: &str) -> Result<Definition, Vec<Diagnostic>> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(vec![Diagnostic::error(
                "definition-too-long",
                format!("the definition of `{name:.80}` has {} bytes", text.len()),
            )]);
        }
        Ok(Definition { name: name.to_string(), types: parse::types(name, text)? })
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

/// The definitions of one file's channels, each parsed once.
#[derive(Default)]
pub struct Decoder {
    definitions: BTreeMap<u16, Result<Definition, Vec<Diagnostic>>>,
}

impl Decoder {
    /// Knows no channel yet.
    pub fn new() -> Decoder {
        Decoder::default()
    }

    /// What decodes a channel's messages, or every reason why nothing does.
    pub fn definition(&mut self, channel: &Channel) -> Result<&Definition, &[Diagnostic]> {
        let parse = || match channel.ros2_schema() {
            Some(schema) => Definition::parse(&schema.name, &String::from_utf8_lossy(&schema.data)),
            None => {
                let message = format!("topic `{}` is not `cdr` with `ros2msg`", channel.topic);
                Err(vec![Diagnostic::warning("unknown-encoding", message)])
            }
        };
        let parsed = self.definitions.entry(channel.id).or_insert_with(parse);
        parsed.as_ref().map_err(Vec::as_slice)
    }
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

// --- from ROS 1 --------------------------------------------------------------------------

impl Definition {
    /// A message as ROS 1 wrote it, in the way of ROS 2: little-endian CDR, and headers without
    /// their `seq`. `None` where the bytes are no such message.
    pub(crate) fn cdr_of_ros1(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut copy = Copying { rest: bytes, out: vec![0, 1, 0, 0], n_values: 0 };
        copy.message(self, self.types.len() - 1)?;
        copy.rest.is_empty().then_some(copy.out)
    }
}

/// The fields a header of ROS 1 has.
const ROS1_HEADER: [&str; 3] = ["seq", "stamp", "frame_id"];

struct Copying<'a> {
    rest: &'a [u8],
    out: Vec<u8>,
    n_values: usize,
}

impl<'a> Copying<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    fn length(&mut self) -> Option<usize> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?) as usize)
    }

    /// Aligned, as CDR wants it.
    fn put(&mut self, bytes: &[u8]) {
        let at = self.out.len() - 4;
        self.out.resize(4 + at.next_multiple_of(bytes.len().max(1)), 0);
        self.out.extend_from_slice(bytes);
    }

    fn message(&mut self, definition: &Definition, number: usize) -> Option<()> {
        let fields = &definition.types[number].fields;
        if fields.is_empty() {
            self.put(&[0]); // ROS 2 pads a message without fields
        }
        let is_header = fields.iter().map(|field| &*field.name).eq(ROS1_HEADER);
        for (i, field) in fields.iter().enumerate() {
            if is_header && i == 0 {
                self.take(4)?;
                continue;
            }
            self.field(definition, field)?;
        }
        Some(())
    }

    fn field(&mut self, definition: &Definition, field: &Field) -> Option<()> {
        let count = match field.count {
            Count::One => 1,
            Count::Fixed(count) => count,
            Count::Any => {
                let count = self.length()?;
                self.put(&(count as u32).to_le_bytes());
                count
            }
        };
        if let Element::Scalar(Scalar::Int { bytes: 1, .. } | Scalar::Bool) = field.element {
            let bytes = self.take(count)?;
            self.out.extend_from_slice(bytes);
            return Some(());
        }
        for _ in 0..count {
            self.n_values += 1;
            if self.n_values > VALUES_MAX {
                return None;
            }
            match &field.element {
                Element::Scalar(scalar) => {
                    let bytes = self.take(scalar.bytes())?;
                    self.put(bytes);
                }
                Element::Text => {
                    let n = self.length()?;
                    let text = self.take(n)?;
                    self.put(&u32::try_from(n + 1).ok()?.to_le_bytes());
                    self.out.extend_from_slice(text);
                    self.out.push(0);
                }
                Element::Message(number) => self.message(definition, *number)?,
            }
        }
        Some(())
    }
}
