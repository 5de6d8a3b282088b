//! Literals of the block language: numbers, strings, symbols, characters, literal arrays.

use super::ast::{Expr, ExprKind};
use super::block::{MOST_NESTED, Tall};
use super::lex::{Failed, Read, Reader, is_binary};

impl Reader<'_> {
    /// A literal, or nothing read.
    pub fn literal(&mut self, depth: usize) -> Read<Option<Tall>> {
        let start = self.pos;
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let kind = match self.peek() {
            Some('\'') => ExprKind::Str(self.quoted('\'', true)),
            Some('$') => {
                self.bump();
                match self.bump() {
                    Some(c) => ExprKind::Char(c),
                    None => {
                        let message = "expected a character after `$`".to_string();
                        return self.fail(
                            start..start + 1,
                            "malformed-block",
                            message,
                            "as in `$a`",
                        );
                    }
                }
            }
            Some('-') if is_digit(self.peek_second()) => {
                self.bump();
                ExprKind::Number(-self.number()?)
            }
            c if is_digit(c) => ExprKind::Number(self.number()?),
            Some('#') if self.peek_second() == Some('(') => {
                self.bump();
                let (items, height) = self.literal_array(depth + 1)?;
                let kind = ExprKind::LiteralArray(items);
                return Ok(Some((Expr { kind, span: start..self.pos }, height)));
            }
            Some('#') => {
                self.bump();
                match self.symbol() {
                    Some(symbol) => ExprKind::Symbol(symbol),
                    None => {
                        let (found, span) = self.found();
                        let message = format!("expected a symbol after `#`, found {found}");
                        let help = "as in `#front`, `#at:put:`, `#'two words'` or `#(1 2 3)`";
                        return self.fail(span, "malformed-block", message, help);
                    }
                }
            }
            _ => return Ok(None),
        };
        Ok(Some((Expr { kind, span: start..self.pos }, 1)))
    }

    /// What follows a `#`.
    fn symbol(&mut self) -> Option<String> {
        if self.peek() == Some('\'') {
            return Some(self.quoted('\'', true));
        }
        self.bare_symbol()
    }

    /// `front`, `at:put:`, `+`.
    fn bare_symbol(&mut self) -> Option<String> {
        let start = self.pos;
        if self.peek().is_some_and(is_binary) {
            return self.binary_selector().map(|name| name.text);
        }
        self.block_name()?;
        while self.peek() == Some(':') && self.peek_second() != Some('=') {
            self.bump();
            if self.block_name().is_none() {
                break;
            }
        }
        Some(self.text[start..self.pos].to_string())
    }

    /// `(1 2 #(3) foo $a 'x' true)`, the reader standing on its parenthesis.
    fn literal_array(&mut self, depth: usize) -> Read<(Vec<Expr>, usize)> {
        let start = self.pos;
        if depth > MOST_NESTED {
            let message = format!("more than {MOST_NESTED} brackets inside each other");
            return self.fail(start..start + 1, "too-deep", message, "use shallower arrays");
        }
        self.bump();
        let (mut items, mut height) = (Vec::new(), 0);
        loop {
            self.skip_block_space();
            let at = self.pos;
            match self.peek() {
                Some(')') => break,
                None | Some(']' | '}') => {
                    self.report_unclosed(start, '(', "the literal array");
                    return Err(Failed);
                }
                Some('(') => {
                    let (inner, tall) = self.literal_array(depth + 1)?;
                    height = height.max(tall);
                    let kind = ExprKind::LiteralArray(inner);
                    items.push(Expr { kind, span: at..self.pos });
                    continue;
                }
                _ => {}
            }
            if let Some((expr, tall)) = self.literal(depth)? {
                height = height.max(tall);
                items.push(expr);
                continue;
            }
            let Some(symbol) = self.bare_symbol() else {
                let (found, span) = self.found();
                let message = format!("{found} cannot stand in a literal array");
                let help = "it holds numbers, strings, symbols, characters and arrays of those; \
                            for expressions write `{a. b}`";
                return self.fail(span, "malformed-block", message, help);
            };
            let kind = match symbol.as_str() {
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                "nil" => ExprKind::Nil,
                _ => ExprKind::Symbol(symbol),
            };
            height = height.max(1);
            items.push(Expr { kind, span: at..self.pos });
        }
        self.bump();
        Ok((items, height + 1))
    }

    /// `3`, `0.5`, `1e-3`, `16rFF`, without a sign.
    fn number(&mut self) -> Read<f64> {
        let start = self.pos;
        self.digits();
        if self.peek() == Some('r') && self.peek_second().is_some_and(|c| c.is_ascii_alphanumeric())
        {
            return self.radix_number(start);
        }
        if self.peek() == Some('.') && self.peek_second().is_some_and(|c| c.is_ascii_digit()) {
            self.bump();
            self.digits();
        }
        self.exponent();
        let text = &self.text[start..self.pos];
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => {
                let message = "the number is too large".to_string();
                let help = "the largest is about 1.8e308";
                self.fail(start..self.pos, "not-a-number", message, help)
            }
        }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.pos += 1;
        }
    }

    /// `e5`, `e-5`, or nothing read: `2 e` is a message.
    fn exponent(&mut self) {
        let rest = self.rest();
        let Some(after) = rest.strip_prefix(['e', 'E']) else { return };
        let digits = after.strip_prefix('-').unwrap_or(after);
        if digits.starts_with(|c: char| c.is_ascii_digit()) {
            self.pos += rest.len() - digits.len();
            self.digits();
        }
    }

    fn radix_number(&mut self, start: usize) -> Read<f64> {
        let radix = self.text[start..self.pos].parse::<u32>().ok().filter(|r| (2..=36).contains(r));
        self.bump();
        let digits_start = self.pos;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric()) {
            self.pos += 1;
        }
        let digits = &self.text[digits_start..self.pos];
        let number = radix.and_then(|radix| {
            digits.chars().try_fold(0.0, |sum, c| {
                Some(sum * f64::from(radix) + f64::from(c.to_digit(radix)?))
            })
        });
        match number.filter(|n| n.is_finite()) {
            Some(number) => Ok(number),
            None => {
                let text: String = self.text[start..self.pos].chars().take(40).collect();
                let message = format!("`{text}` is not a number");
                let help = "write the base from 2 to 36, `r`, and digits of that base: `16rFF`";
                self.fail(start..self.pos, "not-a-number", message, help)
            }
        }
    }
}
