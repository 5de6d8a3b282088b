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
use std::mem;
use std::ops::Deref;
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

    /// Whether it is `=` or `!=`.
    #[inline]
    pub fn is_equality(self) -> bool {
        matches!(self, Compare::Equal | Compare::NotEqual)
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
    /// The same, where a measurement is compared or not. An equality of a measurement can be
    /// made harder than exact: it then fails.
    pub fn holds_as(self, is_measured: bool, d: f64, r: f64, slack: f64) -> bool {
        match self {
            Compare::Equal if is_measured => d.abs() <= r + slack,
            Compare::NotEqual if is_measured => d.abs() > r - slack,
            _ => self.holds(d, r, slack),
        }
    }

    /// The slack at which it turns over, holding with more and not with less; `None` where it
    /// never does.
    pub fn turns_over(self, is_measured: bool, d: f64, r: f64) -> Option<f64> {
        match self {
            Compare::Less => Some(d + r),
            Compare::LessEqual => Some(d - r),
            Compare::Greater => Some(r - d),
            Compare::GreaterEqual => Some(-r - d),
            Compare::Equal => (is_measured || d != 0.0).then(|| d.abs() - r),
            Compare::NotEqual => (is_measured || d != 0.0).then(|| r - d.abs()),
        }
    }

    /// How far it is from flipping: above zero where it holds, below where it does not.
    pub fn distance(self, is_measured: bool, d: f64, r: f64, slack: f64) -> f64 {
        match self {
            Compare::Equal if is_measured => (r + slack) - d.abs(),
            Compare::NotEqual if is_measured => d.abs() - (r - slack),
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
    Array(Rc<Items>),
    /// Plain values by key, in the order they came, shared by all who hold it.
    Dictionary(Rc<Entries>),
    /// `key -> value`, and `x @ y`.
    Pair(Rc<Pair>),
    /// A block.
    Block(Closure),
    /// A pose, a velocity, an acceleration.
    Vector(Rc<Vector>),
    /// Something of the recording.
    Host(Host),
}

/// Values by key.
pub type Entries = RefCell<Vec<(Value, Value)>>;

/// The elements of an array.
#[derive(Debug)]
pub struct Items(RefCell<Vec<Value>>);

impl Deref for Items {
    type Target = RefCell<Vec<Value>>;

    fn deref(&self) -> &RefCell<Vec<Value>> {
        &self.0
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        let_go(mem::take(self.0.get_mut()));
    }
}

/// Two values; nobody changes them.
#[derive(Debug)]
pub struct Pair(pub Value, pub Value);

impl Pair {
    /// Whether it is two numbers: `x @ y`.
    pub fn is_point(&self) -> bool {
        matches!((&self.0, &self.1), (Value::Number(_), Value::Number(_)))
    }

    fn take(&mut self) -> [Value; 2] {
        [mem::replace(&mut self.0, Value::Nil), mem::replace(&mut self.1, Value::Nil)]
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if !self.is_point() {
            let_go(self.take().into());
        }
    }
}

/// Lets values go one by one: a test can chain arrays and pairs longer than any stack is
/// deep.
fn let_go(mut waiting: Vec<Value>) {
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(items) => {
                if let Some(mut items) = Rc::into_inner(items) {
                    waiting.append(items.0.get_mut());
                }
            }
            Value::Pair(pair) => {
                if let Some(mut pair) = Rc::into_inner(pair) {
                    waiting.extend(pair.take());
                }
            }
            _ => {}
        }
    }
}

/// How far values within values are searched, compared and printed. An array may hold
/// another many times over, so what lies below it must be counted, not only how deep.
#[derive(Clone, Copy)]
struct Patience {
    depth: usize,
    n_values: usize,
}

impl Patience {
    const FULL: Patience = Patience { depth: 32, n_values: 200_000 };
    /// Of a text somebody reads.
    const SHORT: Patience = Patience { depth: 8, n_values: 64 };

    /// One value more; `None` where it is at an end.
    fn spend(&mut self) -> Option<()> {
        self.n_values = self.n_values.checked_sub(1)?;
        (self.depth > 0).then_some(())
    }

    /// The same one step deeper; what is spent there is spent here.
    fn deeper<T>(&mut self, visit: impl FnOnce(&mut Patience) -> T) -> T {
        self.depth -= 1;
        let out = visit(self);
        self.depth += 1;
        out
    }
}

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
        Value::Array(Rc::new(Items(RefCell::new(items))))
    }

    /// `first -> second`
    pub fn pair(first: Value, second: Value) -> Value {
        Value::Pair(Rc::new(Pair(first, second)))
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

    /// Whether numbers may be in it that are compared with it.
    pub(crate) fn may_hold_numbers(&self) -> bool {
        matches!(self, Value::Number(_) | Value::Array(_) | Value::Pair(_) | Value::Vector(_))
    }

    /// Whether two values are the same; numbers within their tolerances, `slack` easier.
    /// What is too deep or too large to be compared is not.
    pub fn is_equal(&self, other: &Value, slack: f64) -> bool {
        self.equal_within(other, slack, &mut Patience::FULL.clone())
    }

    fn equal_within(&self, other: &Value, slack: f64, patience: &mut Patience) -> bool {
        if patience.spend().is_none() {
            return false;
        }
        let mut all = |pairs: &mut dyn Iterator<Item = (&Value, &Value)>| {
            patience.deeper(|patience| {
                for (a, b) in pairs {
                    if !a.equal_within(b, slack, patience) {
                        return false;
                    }
                }
                true
            })
        };
        match (self, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => difference(*a, *b)
                .is_some_and(|d| Compare::Equal.holds(d, a.radius + b.radius, slack)),
            (Value::Char(a), Value::Char(b)) => a == b,
            (Value::Str(a) | Value::Symbol(a), Value::Str(b) | Value::Symbol(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => {
                let (items, others) = (a.borrow(), b.borrow());
                let is_as_long = items.len() == others.len();
                Rc::ptr_eq(a, b) || is_as_long && all(&mut items.iter().zip(others.iter()))
            }
            (Value::Dictionary(a), Value::Dictionary(b)) => Rc::ptr_eq(a, b),
            (Value::Pair(a), Value::Pair(b)) => all(&mut [(&a.0, &b.0), (&a.1, &b.1)].into_iter()),
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

    /// Whether a block is in it that sees arguments or temporaries, or may be: what is too
    /// deep or too large to be searched counts as if.
    pub fn holds_activation(&self) -> bool {
        let sees = |v: &Value| matches!(v, Value::Block(closure) if closure.activation.is_some());
        self.has(&sees, &mut Patience::FULL.clone()).unwrap_or(true)
    }

    /// Whether an array is in it; `None` where it is too deep or too large to be searched.
    pub fn holds_array(&self, array: &Rc<Items>) -> Option<bool> {
        let is_it = |v: &Value| matches!(v, Value::Array(items) if Rc::ptr_eq(items, array));
        self.has(&is_it, &mut Patience::FULL.clone())
    }

    /// Whether it is, or holds, what is looked for.
    fn has(&self, is_it: &impl Fn(&Value) -> bool, patience: &mut Patience) -> Option<bool> {
        patience.spend()?;
        if is_it(self) {
            return Some(true);
        }
        let mut any = |values: &mut dyn Iterator<Item = &Value>| {
            patience.deeper(|patience| {
                for value in values {
                    if value.has(is_it, patience)? {
                        return Some(true);
                    }
                }
                Some(false)
            })
        };
        match self {
            Value::Array(items) => any(&mut items.borrow().iter()),
            Value::Dictionary(entries) => {
                any(&mut entries.borrow().iter().flat_map(|(key, value)| [key, value]))
            }
            Value::Pair(pair) => any(&mut [&pair.0, &pair.1].into_iter()),
            _ => Some(false),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, patience: &mut Patience) -> fmt::Result {
        if patience.spend().is_none() {
            return f.write_str("…");
        }
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
                    patience.deeper(|patience| item.write(f, patience))?;
                }
                if items.borrow().len() > 8 {
                    f.write_str(". …")?;
                }
                f.write_str("}")
            }
            Value::Dictionary(entries) => write!(f, "a dictionary of {}", entries.borrow().len()),
            Value::Pair(pair) => {
                patience.deeper(|patience| pair.0.write(f, patience))?;
                f.write_str(" -> ")?;
                patience.deeper(|patience| pair.1.write(f, patience))
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
        self.write(f, &mut Patience::SHORT.clone())
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
