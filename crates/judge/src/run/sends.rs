//! Messages to numbers, texts, arrays, dictionaries and blocks: the Smalltalk that tests use.

use std::rc::Rc;

use headland_base::maths;

use crate::code::{Arithmetic, Site};
use crate::value::{Compare, Entries, Items, Number, Pair, Value};

use super::eval::shown;
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
            let holds = self.compare(compare, site, true, receiver, arg)?;
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
    fn value_with(&mut self, site: Site, block: &Value, arg: &Value) -> Evaluated {
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
                    self.compare_numbers(Compare::GreaterEqual, site, true, n, *low)?
                        && self.compare_numbers(Compare::LessEqual, site, true, n, *high)?;
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

    fn ask_array(
        &mut self,
        site: Site,
        array: &Rc<Items>,
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        if let Some(answer) = self.read_array(site, &array.borrow(), selector, args)? {
            return Ok(Some(answer));
        }
        let n = array.borrow().len();
        match (selector, args) {
            ("at:put:", [Value::Number(i), value]) => {
                let Some(i) = index(n, i.value) else { return self.no_item(site, i.value, n) };
                self.may_hold(site, value, array)?;
                array.borrow_mut()[i] = value.clone();
                Ok(Some(value.clone()))
            }
            ("add:", [value]) => {
                self.may_have_items(site, n + 1)?;
                self.may_hold(site, value, array)?;
                array.borrow_mut().push(value.clone());
                Ok(Some(value.clone()))
            }
            _ => self.run_over_array(site, array, selector, args),
        }
    }

    /// What only looks at an array and runs no block, so that the array can be lent.
    fn read_array(
        &mut self,
        site: Site,
        items: &[Value],
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let n = items.len();
        let answer = match (selector, args) {
            ("size", []) => Value::number(n as f64),
            ("isEmpty", []) => Value::Bool(n == 0),
            ("isNotEmpty" | "notEmpty", []) => Value::Bool(n != 0),
            ("first", []) => self.item(site, items, 1.0)?,
            ("last", []) => self.item(site, items, n as f64)?,
            ("at:", [Value::Number(i)]) => self.item(site, items, i.value)?,
            _ => return self.read_whole_array(site, items, selector, args),
        };
        Ok(Some(answer))
    }

    /// The same where every element is looked at, which is more work.
    fn read_whole_array(
        &mut self,
        site: Site,
        items: &[Value],
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let n = items.len();
        self.burn_for(site, n)?;
        Ok(Some(match (selector, args) {
            ("asArray" | "asOrderedCollection", []) => Value::array(items.to_vec()),
            ("reversed" | "reverse", []) => Value::array(items.iter().rev().cloned().collect()),
            ("min" | "max", []) => self.extreme(site, items, selector == "max")?,
            ("sum", []) => {
                let numbers = self.numbers(site, items)?;
                Value::number(numbers.iter().fold(0.0, |sum, x| sum + x))
            }
            ("asDictionary", []) => {
                let entries: Result<Vec<_>, Stop> =
                    items.iter().map(|item| self.entry(site, item)).collect();
                Value::Dictionary(Rc::new(entries?.into()))
            }
            (",", [Value::Array(other)]) => {
                let other = other.borrow();
                self.may_have_items(site, n + other.len())?;
                Value::array(items.iter().chain(other.iter()).cloned().collect())
            }
            ("first:", [Value::Number(k)]) => Value::array(items[..loops(k.value).min(n)].to_vec()),
            ("last:", [Value::Number(k)]) => {
                Value::array(items[n.saturating_sub(loops(k.value))..].to_vec())
            }
            ("copyFrom:to:", [Value::Number(from), Value::Number(to)]) => {
                let (from, to) = (loops(from.value).max(1) - 1, loops(to.value).min(n));
                Value::array(items.get(from..to.max(from)).unwrap_or_default().to_vec())
            }
            ("indexOf:", [value]) => {
                let found = items.iter().position(|item| item.is_equal(value, 0.0));
                Value::number(found.map_or(0.0, |i| i as f64 + 1.0))
            }
            ("includes:", [value]) => {
                Value::Bool(items.iter().any(|item| item.is_equal(value, 0.0)))
            }
            _ => return Ok(None),
        }))
    }

    /// What runs blocks. They may change the array: they see it, we see a copy.
    fn run_over_array(
        &mut self,
        site: Site,
        array: &Rc<Items>,
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let items = array.borrow().clone();
        Ok(Some(match (selector, args) {
            ("at:ifAbsent:", [Value::Number(i), other]) => match index(items.len(), i.value) {
                Some(i) => items[i].clone(),
                None => self.value_of(site, other)?,
            },
            ("isEmpty:ifNotEmpty:" | "ifEmpty:ifNotEmpty:", [empty, other]) => {
                if items.is_empty() {
                    self.value_of(site, empty)?
                } else {
                    self.value_with(site, other, &Value::Array(Rc::clone(array)))?
                }
            }
            (_, [block @ Value::Block(_)]) => return self.over(site, items, selector, block),
            ("detect:ifNone:", [block @ Value::Block(_), none]) => {
                for item in items {
                    if self.is_true(site, selector, block, &item)? {
                        return Ok(Some(item));
                    }
                }
                self.value_of(site, none)?
            }
            ("inject:into:", [first, Value::Block(block)]) => {
                let mut total = first.clone();
                for item in items {
                    total = self.call(site, *block, &[total, item])?;
                }
                total
            }
            _ => return Ok(None),
        }))
    }

    fn may_have_items(&self, site: Site, n: usize) -> Result<(), Stop> {
        if n <= MOST_ITEMS {
            return Ok(());
        }
        self.fail(site, format!("an array of more than {MOST_ITEMS} elements"))
    }

    fn entry(&self, site: Site, item: &Value) -> Result<(Value, Value), Stop> {
        let Value::Pair(pair) = item else {
            return self.fail(site, format!("{} is no `key -> value`", shown(item)));
        };
        self.may_be_entry(site, &pair.0, &pair.1)?;
        Ok((pair.0.clone(), pair.1.clone()))
    }

    /// A block over every element.
    fn over(
        &mut self,
        site: Site,
        items: Vec<Value>,
        selector: &str,
        block: &Value,
    ) -> Result<Option<Value>, Stop> {
        let Value::Block(closure) = block else { unreachable!("called with a block") };
        let mut kept = Vec::new();
        for item in items {
            match selector {
                "do:" => {
                    self.call(site, *closure, &[item])?;
                }
                "collect:" => kept.push(self.call(site, *closure, &[item])?),
                "select:" | "reject:" => {
                    if self.is_true(site, selector, block, &item)? == (selector == "select:") {
                        kept.push(item);
                    }
                }
                "anySatisfy:" | "allSatisfy:" => {
                    let wants = selector == "anySatisfy:";
                    if self.is_true(site, selector, block, &item)? == wants {
                        return Ok(Some(Value::Bool(wants)));
                    }
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(match selector {
            "anySatisfy:" => Value::Bool(false),
            "allSatisfy:" => Value::Bool(true),
            "do:" => Value::Nil,
            "collect:" | "select:" | "reject:" => Value::array(kept),
            _ => return Ok(None),
        }))
    }

    fn is_true(
        &mut self,
        site: Site,
        selector: &str,
        block: &Value,
        item: &Value,
    ) -> Result<bool, Stop> {
        match self.value_with(site, block, item)? {
            Value::Bool(b) => Ok(b),
            other => self.not_boolean(site, selector, &other),
        }
    }

    fn ask_dictionary(
        &mut self,
        site: Site,
        dictionary: &Entries,
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
        let place = |key: &Value| {
            dictionary.borrow().iter().position(|(known, _)| known.is_equal(key, 0.0))
        };
        let at = |i: usize| dictionary.borrow()[i].1.clone();
        Ok(Some(match (selector, args) {
            ("size", []) => Value::number(dictionary.borrow().len() as f64),
            ("isEmpty", []) => Value::Bool(dictionary.borrow().is_empty()),
            ("isNotEmpty" | "notEmpty", []) => Value::Bool(!dictionary.borrow().is_empty()),
            ("keys", []) => {
                Value::array(dictionary.borrow().iter().map(|(key, _)| key.clone()).collect())
            }
            ("values", []) => {
                Value::array(dictionary.borrow().iter().map(|(_, value)| value.clone()).collect())
            }
            ("includesKey:", [key]) => Value::Bool(place(key).is_some()),
            ("at:", [key]) => match place(key) {
                Some(i) => at(i),
                None => return self.fail(site, format!("no entry {}", shown(key))),
            },
            ("at:ifAbsent:", [key, other]) => match place(key) {
                Some(i) => at(i),
                None => self.value_of(site, other)?,
            },
            ("at:put:", [key, value]) => {
                self.may_be_entry(site, key, value)?;
                self.keep_if_block(value, site)?;
                let place = place(key);
                let mut entries = dictionary.borrow_mut();
                match place {
                    Some(i) => entries[i].1 = value.clone(),
                    None if entries.len() >= MOST_ITEMS => {
                        let words = format!("a dictionary of more than {MOST_ITEMS} entries");
                        return self.fail(site, words);
                    }
                    None => entries.push((key.clone(), value.clone())),
                }
                value.clone()
            }
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

    fn item(&self, site: Site, items: &[Value], i: f64) -> Evaluated {
        match index(items.len(), i) {
            Some(i) => Ok(items[i].clone()),
            None => self.no_item(site, i, items.len()),
        }
    }

    fn no_item<T>(&self, site: Site, i: f64, n: usize) -> Result<T, Stop> {
        self.fail(site, format!("no element {i} in an array of {n}"))
    }

    fn numbers(&self, site: Site, items: &[Value]) -> Result<Vec<f64>, Stop> {
        let number = |item: &Value| match item {
            Value::Number(n) => Ok(n.value),
            other => self.fail(site, format!("{} is no number", shown(other))),
        };
        items.iter().map(number).collect()
    }

    fn extreme(&self, site: Site, items: &[Value], wants_max: bool) -> Evaluated {
        let numbers = self.numbers(site, items)?;
        let pick = |a: f64, b: f64| if (b > a) == wants_max { b } else { a };
        match numbers.into_iter().reduce(pick) {
            Some(value) => Ok(Value::number(value)),
            None => self.fail(site, "an empty array has no extremes"),
        }
    }

    /// An array within itself would never be let go.
    fn may_hold(&mut self, site: Site, value: &Value, array: &Rc<Items>) -> Result<(), Stop> {
        match value.holds_array(array) {
            Some(false) => self.keep_if_block(value, site),
            Some(true) => self.fail(site, "an array cannot hold itself"),
            None => self.fail(site, "this array is too large and too deep to go into another"),
        }
    }

    /// What could hold the dictionary itself must not go into it.
    fn may_be_entry(&self, site: Site, key: &Value, value: &Value) -> Result<(), Stop> {
        let is_plain =
            |v: &Value| !matches!(v, Value::Dictionary(_) | Value::Array(_) | Value::Pair(_));
        if is_plain(key) && is_plain(value) {
            return Ok(());
        }
        self.fail(site, "a dictionary holds plain values only")
    }
}

fn is_with(selector: &str) -> bool {
    !selector.is_empty() && selector.split_terminator(':').all(|part| part == "with")
}

/// Smalltalk counts from 1.
fn index(n: usize, i: f64) -> Option<usize> {
    let is_whole = i.fract() == 0.0 && i >= 1.0 && i <= n as f64;
    is_whole.then(|| i as usize - 1)
}

/// How often, or how many: never more than an array may hold.
fn loops(x: f64) -> usize {
    if x.is_nan() { 0 } else { x.clamp(0.0, MOST_ITEMS as f64 + 1.0) as usize }
}
