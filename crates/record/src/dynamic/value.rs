//! A decoded message as a tree, as scoped numbers and as JSON.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

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
