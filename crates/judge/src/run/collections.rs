//! Messages to arrays and dictionaries.
//!
//! Both are shared by all who hold them, so a block that runs over one may change it: what
//! runs blocks works on a copy, what only looks is lent the elements.

use std::rc::Rc;

use crate::code::Site;
use crate::value::{Entries, Items, Value};

use super::eval::shown;
use super::sends::loops;
use super::{Evaluated, MOST_ITEMS, Now, Run, Stop, Watch};

impl<N: Now, W: Watch> Run<'_, N, W> {
    pub(super) fn ask_array(
        &mut self,
        site: Site,
        array: &Rc<Items>,
        selector: &str,
        args: &[Value],
    ) -> Result<Option<Value>, Stop> {
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
            _ => {
                // Lent no longer than this line: blocks may change the array.
                let answer = self.read_array(site, &array.borrow(), selector, args)?;
                if answer.is_some() {
                    return Ok(answer);
                }
                self.run_over_array(site, array, selector, args)
            }
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

    pub(super) fn ask_dictionary(
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

    fn item(&self, site: Site, items: &[Value], i: f64) -> Evaluated {
        match index(items.len(), i) {
            Some(i) => Ok(items[i].clone()),
            None => self.no_item(site, i, items.len()),
        }
    }

    fn no_item<T>(&self, site: Site, i: f64, n: usize) -> Result<T, Stop> {
        self.fail(site, format!("no element {i} in an array of {n}"))
    }

    pub(super) fn numbers(&self, site: Site, items: &[Value]) -> Result<Vec<f64>, Stop> {
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
}

/// Smalltalk counts from 1.
fn index(n: usize, i: f64) -> Option<usize> {
    let is_whole = i.fract() == 0.0 && i >= 1.0 && i <= n as f64;
    is_whole.then(|| i as usize - 1)
}
