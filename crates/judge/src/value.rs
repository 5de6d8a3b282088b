//! What a block computes with.
//!
//! Numbers carry a tolerance: `ball velocity z ~ 0.1` is a number that is equal to
//! whatever lies within 0.1 of it. With the difference `d` of two numbers and the sum `r`
//! of their tolerances, exactly one of these holds:
//!
//! ```text
//! a < b   d < −r        a = b   −r <= d <= r        a > b   d > r
//! ```

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// A number with its tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// The number.
    pub value: f64,
    /// Never negative; 0 for a plain number.
    pub radius: f64,
}

impl Number {
    /// Without tolerance.
    pub const fn exact(value: f64) -> Number {
        Number { value, radius: 0.0 }
    }
}

/// How far one number is beyond another; `None` where one of them is not a number.
pub fn difference(a: Number, b: Number) -> Option<f64> {
    let d = a.value - b.value;
    if !d.is_nan() {
        return Some(d);
    }
    // Two of the same infinity are equal.
    (!a.value.is_nan() && !b.value.is_nan()).then_some(0.0)
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `=`, `==`
    Equal,
    /// `!=`, `~=`, `~~`
    NotEqual,
}

impl Compare {
    /// The comparison a selector asks for.
    pub fn from_selector(selector: &str) -> Option<Compare> {
        Some(match selector {
            "<" => Compare::Less,
            "<=" => Compare::LessEqual,
            ">" => Compare::Greater,
            ">=" => Compare::GreaterEqual,
            "=" | "==" => Compare::Equal,
            "!=" | "~=" | "~~" => Compare::NotEqual,
            _ => return None,
        })
    }

    /// As it is written.
    pub fn selector(self) -> &'static str {
        match self {
            Compare::Less => "<",
            Compare::LessEqual => "<=",
            Compare::Greater => ">",
            Compare::GreaterEqual => ">=",
            Compare::Equal => "=",
            Compare::NotEqual => "!=",
        }
    }

    /// Whether it holds for the difference `d` of two numbers and the sum `r` of their
    /// tolerances, with every comparison made `slack` easier (or harder, below zero).
    ///
    /// An equality without tolerance has nothing to tighten, so it is never made harder;
    /// nor is its negation made easier.
    #[inline]
    pub fn holds(self, d: f64, r: f64, slack: f64) -> bool {
        match self {
            Compare::Less => d < slack - r,
            Compare::LessEqual => d <= r + slack,
            Compare::Greater => d > r - slack,
            Compare::GreaterEqual => d >= -r - slack,
            Compare::Equal => d.abs() <= (r + slack).max(0.0),
            Compare::NotEqual => d.abs() > (r - slack).max(0.0),
        }
    }
}

impl Compare {
    /// How far it is from flipping: above zero where it holds, below where it does not.
    pub fn distance(self, d: f64, r: f64, slack: f64) -> f64 {
        match self {
            Compare::Less => (slack - r) - d,
            Compare::LessEqual => (r + slack) - d,
            Compare::Greater => d - (r - slack),
            Compare::GreaterEqual => d + r + slack,
            Compare::Equal => (r + slack).max(0.0) - d.abs(),
            Compare::NotEqual => d.abs() - (r - slack).max(0.0),
        }
    }
}

/// A block that can be run later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closure {
    /// Which block of the program.
    pub block: u32,
    /// The machine variables it sees, and which life of them.
    pub frame: (u32, u32),
    /// The arguments and temporaries it sees.
    pub activation: Option<u32>,
}

/// Something of the recording, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The recording itself.
    Recording,
    /// An object by its index.
    Object(u32),
    /// A joint by its index.
    Joint(u32),
    /// A region by its index.
    Region(u32),
    /// A track of texts by its index.
    Report(u32),
}

/// Six numbers, or four for an orientation, with one tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// x y z rx ry rz.
    pub components: [f64; 6],
    /// The orientation itself, for a pose.
    pub quaternion: Option<[f64; 4]>,
    /// Of each component.
    pub radius: f64,
}

/// Anything a block can hold.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing.
    Nil,
    /// Yes or no.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A character.
    Char(char),
    /// A text.
    Str(Arc<str>),
    /// A name.
    Symbol(Arc<str>),
    /// Values in order, shared by all who hold it.
    Array(Rc<RefCell<Vec<Value>>>),
    /// Values by key, in the order they came, shared by all who hold it.
    Dictionary(Rc<RefCell<Vec<(Value, Value)>>>),
    /// `key -> value`, and `x @ y`.
    Pair(Rc<(Value, Value)>),
    /// A block.
    Block(Closure),
    /// A pose, a velocity, an acceleration.
    Vector(Rc<Vector>),
    /// Something of the recording.
    Host(Host),
}

/// Arrays within arrays are compared and printed so deep and no deeper.
const MOST_DEPTH: usize = 32;

impl Value {
    /// A plain number.
    pub const fn number(value: f64) -> Value {
        Value::Number(Number::exact(value))
    }

    /// A text.
    pub fn text(text: &str) -> Value {
        Value::Str(text.into())
    }

    /// A fresh array.
    pub fn array(items: Vec<Value>) -> Value {
        Value::Array(Rc::new(RefCell::new(items)))
    }

    /// What it is, in the user's words.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Nil => "nil",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Char(_) => "a character",
            Value::Str(_) => "a string",
            Value::Symbol(_) => "a symbol",
            Value::Array(_) => "an array",
            Value::Dictionary(_) => "a dictionary",
            Value::Pair(_) => "a pair",
            Value::Block(_) => "a block",
            Value::Vector(_) => "a vector",
            Value::Host(Host::Recording) => "the recording",
            Value::Host(Host::Object(_)) => "an object",
            Value::Host(Host::Joint(_)) => "a joint",
            Value::Host(Host::Region(_)) => "a region",
            Value::Host(Host::Report(_)) => "a report",
        }
    }

    /// Whether two values are the same; numbers within their tolerances, `slack` easier.
    pub fn is_equal(&self, other: &Value, slack: f64) -> bool {
        self.equal_within(other, slack, MOST_DEPTH)
    }

    fn equal_within(&self, other: &Value, slack: f64, depth: usize) -> bool {
        let Some(deeper) = depth.checked_sub(1) else { return false };
        let pairwise = |a: &[Value], b: &[Value]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equal_within(b, slack, deeper))
        };
        match (self, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => {
                Compare::Equal.holds(a.value - b.value, a.radius + b.radius, slack)
            }
            (Value::Char(a), Value::Char(b)) => a == b,
            (Value::Str(a) | Value::Symbol(a), Value::Str(b) | Value::Symbol(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => {
                Rc::ptr_eq(a, b) || pairwise(&a.borrow(), &b.borrow())
            }
            (Value::Dictionary(a), Value::Dictionary(b)) => Rc::ptr_eq(a, b),
            (Value::Pair(a), Value::Pair(b)) => {
                a.0.equal_within(&b.0, slack, deeper) && a.1.equal_within(&b.1, slack, deeper)
            }
            (Value::Block(a), Value::Block(b)) => a == b,
            (Value::Vector(a), Value::Vector(b)) => {
                let r = a.radius + b.radius;
                let mut differences = a.components.iter().zip(&b.components).map(|(a, b)| a - b);
                differences.all(|d| Compare::Equal.holds(d, r, slack))
            }
            (Value::Host(a), Value::Host(b)) => a == b,
            _ => false,
        }
    }

    /// Whether a block is in it that sees arguments or temporaries.
    pub fn holds_activation(&self, depth: usize) -> bool {
        let Some(deeper) = depth.checked_sub(1) else { return true };
        match self {
            Value::Block(closure) => closure.activation.is_some(),
            Value::Array(items) => items.borrow().iter().any(|v| v.holds_activation(deeper)),
            Value::Dictionary(entries) => (entries.borrow().iter())
                .any(|(k, v)| k.holds_activation(deeper) || v.holds_activation(deeper)),
            Value::Pair(pair) => pair.0.holds_activation(deeper) || pair.1.holds_activation(deeper),
            _ => false,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let Some(deeper) = depth.checked_sub(1) else { return f.write_str("…") };
        match self {
            Value::Nil => f.write_str("nil"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Number(n) => write!(f, "{n}"),
            Value::Char(c) => write!(f, "${c}"),
            Value::Str(s) => write!(f, "'{}'", shortened(s)),
            Value::Symbol(s) => write!(f, "#{}", shortened(s)),
            Value::Array(items) => {
                f.write_str("{")?;
                for (i, item) in items.borrow().iter().take(8).enumerate() {
                    if i > 0 {
                        f.write_str(". ")?;
                    }
                    item.write(f, deeper)?;
                }
                if items.borrow().len() > 8 {
                    f.write_str(". …")?;
                }
                f.write_str("}")
            }
            Value::Dictionary(entries) => write!(f, "a dictionary of {}", entries.borrow().len()),
            Value::Pair(pair) => {
                pair.0.write(f, deeper)?;
                f.write_str(" -> ")?;
                pair.1.write(f, deeper)
            }
            Value::Vector(v) => {
                let [x, y, z, rx, ry, rz] = v.components;
                write!(f, "(x {x} y {y} z {z} rx {rx} ry {ry} rz {rz})")?;
                if v.radius > 0.0 { write!(f, " ~ {}", v.radius) } else { Ok(()) }
            }
            Value::Block(_) | Value::Host(_) => f.write_str(self.kind()),
        }
    }
}

fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(80)]
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value)?;
        if self.radius > 0.0 { write!(f, " ~ {}", self.radius) } else { Ok(()) }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, MOST_DEPTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A8: exactly one of `<`, `=`, `>` holds, and the others follow from them.
    #[test]
    fn exactly_one_of_less_equal_greater_holds() {
        let numbers = [-2.0, -1.0, -0.1, -0.0, 0.0, 0.1, 1.0, 1.1];
        for d in numbers {
            for r in [0.0, 0.1, 1.0] {
                let holds = |c: Compare| c.holds(d, r, 0.0);
                let [less, equal, greater] =
                    [Compare::Less, Compare::Equal, Compare::Greater].map(holds);
                assert_eq!(u8::from(less) + u8::from(equal) + u8::from(greater), 1, "{d} {r}");
                assert_eq!(holds(Compare::LessEqual), !greater);
                assert_eq!(holds(Compare::GreaterEqual), !less);
                assert_eq!(holds(Compare::NotEqual), !equal);
            }
        }
    }

    #[test]
    fn slack_makes_every_comparison_easier_and_never_harder() {
        let all = [
            Compare::Less,
            Compare::LessEqual,
            Compare::Greater,
            Compare::GreaterEqual,
            Compare::Equal,
            Compare::NotEqual,
        ];
        for compare in all {
            for i in -40..40 {
                let d = f64::from(i) * 0.05;
                let mut before = false;
                for slack in [-1.0, -0.5, 0.0, 0.5, 1.0] {
                    let now = compare.holds(d, 0.3, slack);
                    assert!(now || !before, "{compare:?} {d} {slack}");
                    before = now;
                }
            }
        }
    }
}
