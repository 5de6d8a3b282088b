//! Messages to numbers, texts, pairs, blocks and vectors: the Smalltalk that tests use.

use headland_base::maths;

use crate::code::{Arithmetic, Site};
use crate::value::{Compare, Number, Pair, Value};

use super::eval::Give;
use super::{Evaluated, MOST_ITEMS, Now, Run, Stop, Watch};

impl<N: Now, W: Watch> Run<'_, N, W> {
    /// Any message that has no node of its own.
    pub(super) fn send(
        &mut self,
        site: Site,
        receiver: &Value,
        selector: &str,
        args: &[Value],
    ) -> Evaluated {
        self.burn(site)?;
        if let Some(value) = self.ask_anything(site, receiver, selector, args)? {
            return Ok(value);
        }
        if let [arg] = args
            && let Some(value) = self.operator(site, receiver, selector, arg)?
        {
            return Ok(value);
        }
        let answer = match receiver {
            Value::Number(n) => self.ask_number(site, *n, selector, args)?,
            Value::Str(text) | Value::Symbol(text) => self.ask_text(site, text, selector, args)?,
            Value::Array(items) => self.ask_array(site, items, selector, args)?,
            Value::Dictionary(entries) => self.ask_dictionary(site, entries, selector, args)?,
            Value::Pair(pair) => self.ask_pair(site, pair, selector, args)?,
            Value::Block(_) => self.ask_block(site, receiver, selector, args)?,
            Value::Vector(vector) => self.ask_vector(vector, selector, args),
            Value::Host(host) => self.ask_host(site, *host, selector, args)?,
            Value::Char(c) => match selector {
                "asString" => Some(Value::text(&c.to_string())),
                "asInteger" | "value" => Some(Value::number(f64::from(u32::from(*c)))),
                _ => None,
            },
            Value::Bool(b) => (selector == "not").then_some(Value::Bool(!b)),
            Value::Nil => None,
        };
        match answer {
            Some(value) => Ok(value),
            None => self.not_understood(site, receiver, selector),
        }
    }

    /// Operators have nodes of their own, except within a cascade; so have `abs`, `negated`
    /// and `not` below.
    fn operator(
        &mut self,
        site: Site,
        receiver: &Value,
        selector: &str,
        arg: &Value,
    ) -> Result<Option<Value>, Stop> {
        if let Some(arithmetic) = Arithmetic::from_selector(selector) {
            return self.arithmetic(arithmetic, site, receiver, arg).map(Some);
        }
        if let Some(compare) = Compare::from_selector(selector) {
            let holds = self.compare(compare, site, Give::PLAIN, receiver, arg)?;
            return Ok(Some(Value::Bool(holds)));
        }
        if selector == "~" {
            return self.tolerance(site, receiver.clone(), arg.clone()).map(Some);
        }
        Ok(None)
    }

    /// What every value understands.
    fn ask_anything(
        &mut self,
        site: Site,
        receiver: &Value,
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let is_nil = matches!(receiver, Value::Nil);
        let answer = match (selector, args) {
            ("isNil", []) => Value::Bool(is_nil),
            ("notNil" | "isNotNil", []) => Value::Bool(!is_nil),
            ("isNumber", []) => Value::Bool(matches!(receiver, Value::Number(_))),
            ("isString", []) => Value::Bool(matches!(receiver, Value::Str(_))),
            ("isSymbol", []) => Value::Bool(matches!(receiver, Value::Symbol(_))),
            ("isArray", []) => Value::Bool(matches!(receiver, Value::Array(_))),
            ("isBlock", []) => Value::Bool(matches!(receiver, Value::Block(_))),
            ("yourself", []) => receiver.clone(),
            ("->" | "@", [other]) => Value::pair(receiver.clone(), other.clone()),
            ("asString" | "printString", []) => match receiver {
                Value::Str(s) | Value::Symbol(s) => Value::Str(s.clone()),
                Value::Char(c) => Value::text(&c.to_string()),
                other => Value::text(&other.to_string()),
            },
            ("ifNil:", [other]) => {
                if is_nil {
                    self.value_of(site, other)?
                } else {
                    receiver.clone()
                }
            }
            ("ifNotNil:", [then]) => {
                if is_nil {
                    Value::Nil
                } else {
                    self.value_with(site, then, receiver)?
                }
            }
            ("ifNil:ifNotNil:", [other, then]) => {
                if is_nil {
                    self.value_of(site, other)?
                } else {
                    self.value_with(site, then, receiver)?
                }
            }
            // Anything but a block is its own value, which old programs rely on.
            ("value", [])
                if !matches!(receiver, Value::Block(_) | Value::Pair(_) | Value::Char(_)) =>
            {
                receiver.clone()
            }
            _ => return Ok(None),
        };
        Ok(Some(answer))
    }

    /// The value of a block without arguments, or anything else as it is.
    pub(super) fn value_of(&mut self, site: Site, value: &Value) -> Evaluated {
        match value {
            Value::Block(closure) => self.call(site, *closure, &[]),
            other => Ok(other.clone()),
        }
    }

    /// A block that may or may not want to see the value.
    pub(super) fn value_with(&mut self, site: Site, block: &Value, arg: &Value) -> Evaluated {
        let Value::Block(closure) = block else { return Ok(block.clone()) };
        let n_params = self.code.blocks[closure.block as usize].n_params;
        let args: &[Value] = if n_params == 0 { &[] } else { std::slice::from_ref(arg) };
        self.call(site, *closure, args)
    }

    fn ask_number(
        &mut self,
        site: Site,
        n: Number,
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let x = n.value;
        let plain = |value: f64| Ok(Some(Value::number(value)));
        if args.is_empty() {
            return match selector {
                "sqrt" => plain(maths::sqrt(x)),
                "abs" => Ok(Some(Value::Number(Number { value: x.abs(), ..n }))),
                "negated" => Ok(Some(Value::Number(Number { value: -x, ..n }))),
                "squared" => plain(x * x),
                "sin" => plain(maths::sin(x)),
                "cos" => plain(maths::cos(x)),
                "tan" => plain(maths::tan(x)),
                "arcTan" => plain(maths::atan2(x, 1.0)),
                "exp" => plain(maths::exp(x)),
                "ln" => plain(maths::log(x)),
                "floor" => plain(x.floor()),
                "ceiling" => plain(x.ceil()),
                "rounded" => plain(x.round()),
                "truncated" | "asInteger" => plain(x.trunc()),
                "asFloat" | "asNumber" => Ok(Some(Value::Number(n))),
                "sign" => plain(if x == 0.0 { 0.0 } else { x.signum() }),
                "degreesToRadians" => plain(x.to_radians()),
                "radiansToDegrees" => plain(x.to_degrees()),
                "reciprocal" if x != 0.0 => plain(1.0 / x),
                "isNaN" => Ok(Some(Value::Bool(x.is_nan()))),
                "isInfinite" => Ok(Some(Value::Bool(x.is_infinite()))),
                "isZero" => Ok(Some(Value::Bool(x.abs() <= n.radius))),
                "even" => Ok(Some(Value::Bool(x % 2.0 == 0.0))),
                "odd" => Ok(Some(Value::Bool(x % 2.0 != 0.0))),
                "radius" => plain(n.radius),
                "atRandom" => self.fail(site, "a test has no chance of its own: it would judge the same recording now so, now so"),
                _ => Ok(None),
            };
        }
        if let ("timesRepeat:", [block]) = (selector, args) {
            for _ in 0..loops(x) {
                self.burn(site)?;
                self.value_of(site, block)?;
            }
            return Ok(Some(Value::Number(n)));
        }
        if let ("to:do:", [Value::Number(last), Value::Block(block)]) = (selector, args) {
            let mut i = x;
            while i <= last.value {
                self.burn(site)?;
                self.call(site, *block, &[Value::number(i)])?;
                i += 1.0;
            }
            return Ok(Some(Value::Number(n)));
        }
        match (selector, args) {
            ("//", [Value::Number(b)]) if b.value != 0.0 => plain((x / b.value).floor()),
            ("\\\\", [Value::Number(b)]) if b.value != 0.0 => {
                plain(x - b.value * (x / b.value).floor())
            }
            ("//" | "\\\\", [Value::Number(_)]) => self.fail(site, format!("{x} divided by zero")),
            ("raisedTo:" | "**", [Value::Number(b)]) => plain(maths::pow(x, b.value)),
            ("between:and:", [Value::Number(low), Value::Number(high)]) => {
                let is_between =
                    self.compare_numbers(Compare::GreaterEqual, site, Give::PLAIN, n, *low)?
                        && self.compare_numbers(Compare::LessEqual, site, Give::PLAIN, n, *high)?;
                Ok(Some(Value::Bool(is_between)))
            }
            ("roundTo:", [Value::Number(b)]) if b.value != 0.0 => {
                plain((x / b.value).round() * b.value)
            }
            _ => Ok(None),
        }
    }

    fn ask_text(
        &mut self,
        site: Site,
        text: &str,
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        Ok(Some(match (selector, args) {
            ("size", []) => Value::number(text.chars().count() as f64),
            ("isEmpty", []) => Value::Bool(text.is_empty()),
            ("isNotEmpty" | "notEmpty", []) => Value::Bool(!text.is_empty()),
            ("asSymbol", []) => Value::Symbol(text.into()),
            ("asNumber", []) => text.trim().parse().map_or(Value::Nil, Value::number),
            (",", [other]) => {
                let other = match other {
                    Value::Str(s) | Value::Symbol(s) => s.to_string(),
                    other => return self.not_understood(site, other, "asString"),
                };
                if text.len() + other.len() > MOST_ITEMS {
                    return self.fail(site, format!("a text of more than {MOST_ITEMS} bytes"));
                }
                Value::text(&format!("{text}{other}"))
            }
            ("includesSubstring:", [Value::Str(part) | Value::Symbol(part)]) => {
                Value::Bool(text.contains(&**part))
            }
            ("beginsWith:", [Value::Str(part) | Value::Symbol(part)]) => {
                Value::Bool(text.starts_with(&**part))
            }
            ("endsWith:", [Value::Str(part) | Value::Symbol(part)]) => {
                Value::Bool(text.ends_with(&**part))
            }
            // `Array with: 1 with: 2`
            (with, items) if text == "Array" && is_with(with) => Value::array(items.to_vec()),
            _ => return Ok(None),
        }))
    }

    fn ask_pair(
        &mut self,
        site: Site,
        pair: &Pair,
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        Ok(Some(match (selector, args) {
            ("x" | "key", []) => pair.0.clone(),
            ("y" | "value", []) => pair.1.clone(),
            ("distanceTo:" | "dist:", [Value::Pair(other)]) => {
                let corners = [&pair.0, &pair.1, &other.0, &other.1].map(Clone::clone);
                let n = self.numbers(site, &corners)?;
                let (dx, dy) = (n[0] - n[2], n[1] - n[3]);
                Value::number(maths::sqrt(dx * dx + dy * dy))
            }
            _ => return Ok(None),
        }))
    }

    fn ask_block(
        &mut self,
        site: Site,
        block: &Value,
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let Value::Block(closure) = block else { unreachable!("called with a block") };
        Ok(Some(match selector {
            "value"
            | "value:"
            | "value:value:"
            | "value:value:value:"
            | "value:value:value:value:" => self.call(site, *closure, args)?,
            "numArgs" => Value::number(self.code.blocks[closure.block as usize].n_params as f64),
            "whileTrue:" | "whileFalse:" => {
                let wants = selector == "whileTrue:";
                while let Value::Bool(now) = self.call(site, *closure, &[])?
                    && now == wants
                {
                    self.burn(site)?;
                    self.value_of(site, &args[0])?;
                }
                Value::Nil
            }
            _ => return Ok(None),
        }))
    }

    fn ask_vector(
        &self,
        vector: &crate::value::Vector,
        selector: &str,
        args: &[Value],
    ) -> Option<Value> {
        let number = |value: f64| Some(Value::Number(Number { value, radius: vector.radius }));
        let [x, y, z, ..] = vector.components;
        match (selector, args) {
            ("norm", []) => number(maths::sqrt(x * x + y * y + z * z)),
            ("distanceTo:", [Value::Vector(other)]) => {
                let d = [0, 1, 2].map(|i| vector.components[i] - other.components[i]);
                number(maths::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]))
            }
            (name, []) => {
                let component = crate::vocabulary::COMPONENTS.iter().position(|c| *c == name);
                if let Some(i) = component {
                    return number(vector.components[i]);
                }
                let part = crate::vocabulary::QUATERNION.iter().position(|c| *c == name)?;
                number(vector.quaternion?[part])
            }
            _ => None,
        }
    }
}

fn is_with(selector: &str) -> bool {
    !selector.is_empty() && selector.split_terminator(':').all(|part| part == "with")
}

/// How often, or how many: never more than an array may hold.
pub(super) fn loops(x: f64) -> usize {
    if x.is_nan() { 0 } else { x.clamp(0.0, MOST_ITEMS as f64 + 1.0) as usize }
}
