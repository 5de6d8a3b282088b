//! The block language: `[:each | | t | t := each + 1. t squared]`.
//!
//! A Smalltalk subset. Unary messages bind before binary ones, those before keyword
//! messages; binary ones go from left to right whatever their sign. What cannot be read
//! becomes [`ExprKind::Broken`] up to the end of its statement; the statements around it
//! stay.
//!
//! Every expression is at most [`MOST_HIGH`] nodes high and [`MOST_NESTED`] brackets deep,
//! so that whoever walks the tree may do so by recursion.

use super::ast::{Block, Expr, ExprKind, Message, Name};
use super::lex::{Failed, Read, Reader, continues_name, is_binary, starts_name};

/// Brackets of all kinds inside each other.
pub const MOST_NESTED: usize = 200;

/// Nodes on the longest way down through an expression: a chain of a thousand sends fits.
pub const MOST_HIGH: usize = 1100;

/// How often the text may be walked again, in all, to find the ends of broken statements.
const MOST_WALKED_AGAIN: usize = 8;

/// An expression and how high it is.
pub(super) type Tall = (Expr, usize);

impl Reader<'_> {
    /// A block, the reader standing on its `[`.
    pub fn block(&mut self) -> Read<Block> {
        self.block_comments.clear();
        self.block_at(1).map(|(block, _)| block)
    }

    fn block_at(&mut self, depth: usize) -> Read<(Block, usize)> {
        let start = self.pos;
        self.bump();
        let n_around = self.block_comments.len();
        let params = self.params()?;
        let temps = self.temps()?;
        let (mut body, mut comments) = (Vec::new(), Vec::new());
        let mut height = 0;
        loop {
            self.skip_block_space();
            let here = self.block_comments.drain(n_around..);
            comments.extend(here.map(|comment| (body.len(), comment)));
            match self.peek() {
                Some('.') => _ = self.bump(),
                Some(']') => break,
                None | Some(')' | '}') => {
                    self.report_unclosed(start, '[', "the block");
                    return Err(Failed);
                }
                Some(_) => {
                    let (expr, tall) = self.statement(depth);
                    height = height.max(tall);
                    let within = self.block_comments.drain(n_around..);
                    comments.extend(within.map(|comment| (body.len(), comment)));
                    body.push(expr);
                }
            }
        }
        self.bump();
        Ok((Block { params, temps, body, comments, span: start..self.pos }, height + 1))
    }

    /// One statement, whole or broken; never without going forward.
    fn statement(&mut self, depth: usize) -> Tall {
        let (start, n_comments) = (self.pos, self.block_comments.len());
        let result = self.expression(depth).and_then(|tall| {
            self.skip_block_space();
            match self.peek() {
                None | Some('.' | ']' | ')' | '}') => Ok(tall),
                Some(_) => {
                    let (found, span) = self.found();
                    let message = format!("{found} cannot follow a finished expression");
                    let help = "end the statement before it with `.`, or put a message between";
                    self.fail(span, "malformed-block", message, help)
                }
            }
        });
        match result {
            Ok(tall) => tall,
            Err(Failed) => {
                // Each of many brackets around a fault would walk to it again; nobody writes
                // so, and then the whole form is given up.
                if self.n_walked_again > MOST_WALKED_AGAIN * self.text.len() {
                    self.pos = self.text.len();
                } else if self.peek().is_some() {
                    self.skip_statement(start);
                    self.n_walked_again += self.pos - start;
                }
                // Its comments are part of the text that is kept as it was.
                self.block_comments.truncate(n_comments);
                let text = self.text[start..self.pos].trim_end().to_string();
                let end = start + text.len();
                (Expr { kind: ExprKind::Broken(text), span: start..end }, 1)
            }
        }
    }

    /// `:a :b |`
    fn params(&mut self) -> Read<Vec<Name>> {
        let mut params = Vec::new();
        loop {
            self.skip_block_space();
            if self.peek() != Some(':') {
                break;
            }
            self.bump();
            self.skip_block_space();
            params.push(self.local("argument")?);
        }
        if !params.is_empty() && !self.eat("|") && self.peek() != Some(']') {
            let (found, span) = self.found();
            let message = format!("expected `|` after the arguments of the block, found {found}");
            return self.fail(span, "malformed-block", message, "write `[:each | each abs]`");
        }
        Ok(params)
    }

    /// `| a b |`
    fn temps(&mut self) -> Read<Vec<Name>> {
        let mut temps = Vec::new();
        self.skip_block_space();
        let start = self.pos;
        if !self.eat("|") {
            return Ok(temps);
        }
        loop {
            self.skip_block_space();
            if self.eat("|") {
                return Ok(temps);
            }
            if !self.peek().is_some_and(starts_name) {
                let (found, _) = self.found();
                let message = format!("expected `|` after the temporaries, found {found}");
                let help = "write `[| a b | a := 1]`; a binary `|` needs something before it";
                return self.fail(start..start + 1, "malformed-block", message, help);
            }
            temps.push(self.local("temporary")?);
        }
    }

    fn local(&mut self, what: &str) -> Read<Name> {
        if let Some(name) = self.block_name() {
            return Ok(name);
        }
        let (found, span) = self.found();
        let message = format!("expected the name of a block {what}, found {found}");
        self.fail(span, "malformed-block", message, "a name is letters, digits and `_`")
    }

    /// `^ value`, `name := value`, or sends.
    fn expression(&mut self, depth: usize) -> Read<Tall> {
        // What stands before the value, the outermost first: no recursion for `a := b := 1`.
        let mut before: Vec<(Option<Name>, usize)> = Vec::new();
        loop {
            self.skip_block_space();
            let start = self.pos;
            if self.eat("^") {
                before.push((None, start));
            } else if let Some(name) = self.assigned() {
                before.push((Some(name), start));
            } else {
                break;
            }
        }
        let mut tall = self.cascade(depth)?;
        for (name, start) in before.into_iter().rev() {
            let span = start..tall.0.span.end;
            let value = Box::new(tall.0);
            let kind = match name {
                Some(name) => ExprKind::Assign(name, value),
                None => ExprKind::Return(value),
            };
            tall = (Expr { kind, span }, tall.1 + 1);
            self.check_height(&tall)?;
        }
        Ok(tall)
    }

    /// `name :=`, or nothing read.
    fn assigned(&mut self) -> Option<Name> {
        let start = self.pos;
        let name = self.block_name()?;
        self.skip_block_space();
        if self.eat(":=") {
            return Some(name);
        }
        self.pos = start;
        None
    }

    /// Sends to one receiver, perhaps several: `a first; second: 2`.
    fn cascade(&mut self, depth: usize) -> Read<Tall> {
        let (first, mut height) = self.keyword_send(depth)?;
        self.skip_block_space();
        if self.peek() != Some(';') {
            return Ok((first, height));
        }
        let start = first.span.start;
        let (receiver, message) = match first.kind {
            ExprKind::Send(receiver, message) if !self.is_parenthesised(start, &receiver) => {
                (receiver, message)
            }
            _ => {
                let span = self.pos..self.pos + 1;
                let message =
                    "`;` repeats a message to the same receiver, and there is none before it";
                let help = "write `receiver first; second`, or end the statement with `.`";
                return self.fail(span, "malformed-block", message.into(), help);
            }
        };
        let mut messages = vec![message];
        while self.eat(";") {
            self.skip_block_space();
            let (message, tall) = self.message(depth)?;
            height = height.max(tall + 1);
            messages.push(message);
            self.skip_block_space();
        }
        let end = messages.last().map_or(start, |m| self.message_end(m));
        let expr = Expr { kind: ExprKind::Cascade(receiver, messages), span: start..end };
        Ok((expr, height))
    }

    /// A send that was put in parentheses as a whole is a receiver, not a message to repeat:
    /// its span begins with the parenthesis, before its own receiver does.
    fn is_parenthesised(&self, start: usize, receiver: &Expr) -> bool {
        start < receiver.span.start
    }

    fn message_end(&self, message: &Message) -> usize {
        message.args.last().map_or(message.selector_span.end, |arg| arg.span.end)
    }

    /// One more message of a cascade.
    fn message(&mut self, depth: usize) -> Read<(Message, usize)> {
        if let Some(selector) = self.binary_selector() {
            let (arg, height) = self.unary_send(depth)?;
            return Ok((message(selector, vec![arg]), height));
        }
        if self.is_keyword() {
            return self.keyword_message(depth);
        }
        match self.block_name() {
            Some(name) => Ok((message(name, Vec::new()), 0)),
            None => {
                let (found, span) = self.found();
                let text = format!("expected a message after `;`, found {found}");
                self.fail(span, "malformed-block", text, "write `receiver first; second`")
            }
        }
    }

    /// `binary at: binary put: binary`
    fn keyword_send(&mut self, depth: usize) -> Read<Tall> {
        let (receiver, height) = self.binary_send(depth)?;
        self.skip_block_space();
        if !self.is_keyword() {
            return Ok((receiver, height));
        }
        let (message, tall) = self.keyword_message(depth)?;
        self.send((receiver, height), message, tall)
    }

    fn keyword_message(&mut self, depth: usize) -> Read<(Message, usize)> {
        let start = self.pos;
        let (mut selector, mut args, mut height) = (String::new(), Vec::new(), 0);
        let mut first_end = start;
        while self.is_keyword() {
            let part = self.block_name().map(|name| name.text).unwrap_or_default();
            self.bump();
            selector += &part;
            selector.push(':');
            if args.is_empty() {
                first_end = self.pos;
            }
            let (arg, tall) = self.binary_send(depth)?;
            height = height.max(tall);
            args.push(arg);
            self.skip_block_space();
        }
        Ok((message(Name { text: selector, span: start..first_end }, args), height))
    }

    /// Whether `name:` comes, and not `name :=`.
    fn is_keyword(&self) -> bool {
        let rest = self.rest();
        if !rest.chars().next().is_some_and(starts_name) {
            return false;
        }
        let after = rest.find(|c| !continues_name(c)).map_or("", |len| &rest[len..]);
        after.starts_with(':') && !after.starts_with(":=")
    }

    /// `unary + unary - unary`, from left to right.
    fn binary_send(&mut self, depth: usize) -> Read<Tall> {
        let mut left = self.unary_send(depth)?;
        loop {
            self.skip_block_space();
            let Some(selector) = self.binary_selector() else { return Ok(left) };
            let (arg, tall) = self.unary_send(depth)?;
            left = self.send(left, message(selector, vec![arg]), tall)?;
        }
    }

    /// A run of operator characters. A minus directly before a digit begins a number when
    /// something stands before it in the run: `3@-2`.
    pub fn binary_selector(&mut self) -> Option<Name> {
        let start = self.pos;
        while self.peek().is_some_and(is_binary) {
            let is_number = self.pos > start
                && self.peek() == Some('-')
                && self.peek_second().is_some_and(|c| c.is_ascii_digit());
            if is_number {
                break;
            }
            self.bump();
        }
        let text = self.text[start..self.pos].to_string();
        (self.pos > start).then_some(Name { text, span: start..self.pos })
    }

    /// `primary first second`
    fn unary_send(&mut self, depth: usize) -> Read<Tall> {
        let mut left = self.primary(depth)?;
        loop {
            self.skip_block_space();
            if self.is_keyword() {
                return Ok(left);
            }
            let Some(name) = self.block_name() else { return Ok(left) };
            left = self.send(left, message(name, Vec::new()), 0)?;
        }
    }

    fn send(&mut self, to: Tall, message: Message, args_height: usize) -> Read<Tall> {
        let span = to.0.span.start..self.message_end(&message);
        let height = to.1.max(args_height) + 1;
        let tall = (Expr { kind: ExprKind::Send(Box::new(to.0), message), span }, height);
        self.check_height(&tall)?;
        Ok(tall)
    }

    fn check_height(&mut self, tall: &Tall) -> Read<()> {
        if tall.1 <= MOST_HIGH {
            return Ok(());
        }
        let start = tall.0.span.start;
        let message = format!("the expression is more than {MOST_HIGH} operations high");
        let help = "keep parts of it in variables";
        self.fail(start..start + 1, "too-deep", message, help)
    }

    fn primary(&mut self, depth: usize) -> Read<Tall> {
        self.skip_block_space();
        let start = self.pos;
        if depth > MOST_NESTED {
            let message = format!("more than {MOST_NESTED} brackets inside each other");
            let help = "keep the inner parts in variables";
            return self.fail(start..start + 1, "too-deep", message, help);
        }
        match self.peek() {
            Some('[') => {
                let (block, height) = self.block_at(depth + 1)?;
                Ok((Expr { kind: ExprKind::Block(block), span: start..self.pos }, height + 1))
            }
            Some('(') => self.parenthesised(depth),
            Some('{') => self.brace_array(depth),
            _ => match self.literal(depth)? {
                Some(tall) => Ok(tall),
                None => self.name_or_fail(),
            },
        }
    }

    /// `( expression )`; the span takes the parentheses in.
    fn parenthesised(&mut self, depth: usize) -> Read<Tall> {
        let start = self.pos;
        self.bump();
        let (mut expr, height) = self.expression(depth + 1)?;
        self.skip_block_space();
        if !self.eat(")") {
            match self.peek() {
                None | Some(']' | '}') => self.report_unclosed(start, '(', "the expression"),
                Some(_) => {
                    let (found, span) = self.found();
                    let message = format!("expected `)` or a message, found {found}");
                    let help = "parentheses hold one expression";
                    return self.fail(span, "malformed-block", message, help);
                }
            }
            return Err(Failed);
        }
        expr.span = start..self.pos;
        Ok((expr, height))
    }

    /// `{a. b + 1}`
    fn brace_array(&mut self, depth: usize) -> Read<Tall> {
        let start = self.pos;
        self.bump();
        let (mut items, mut height) = (Vec::new(), 0);
        loop {
            self.skip_block_space();
            match self.peek() {
                Some('.') => _ = self.bump(),
                Some('}') => break,
                None | Some(']' | ')') => {
                    self.report_unclosed(start, '{', "the array");
                    return Err(Failed);
                }
                Some(_) => {
                    let (expr, tall) = self.statement(depth + 1);
                    height = height.max(tall);
                    items.push(expr);
                }
            }
        }
        self.bump();
        Ok((Expr { kind: ExprKind::BraceArray(items), span: start..self.pos }, height + 1))
    }

    fn name_or_fail(&mut self) -> Read<Tall> {
        if let Some(name) = self.block_name() {
            let kind = match name.text.as_str() {
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                "nil" => ExprKind::Nil,
                _ => ExprKind::Name(name.text),
            };
            return Ok((Expr { kind, span: name.span }, 1));
        }
        let (found, span) = self.found();
        let message = format!("expected a value, found {found}");
        let help = match self.peek() {
            Some('-') => "a minus sign stands directly before a number; else write `x negated`",
            Some(c) if is_binary(c) => "an operator needs a value on either side",
            Some(';') => "inside a block `;` is a cascade; comments are written \"so\"",
            _ => "write a name, a number, a string, or a bracketed expression",
        };
        self.fail(span, "malformed-block", message, help)
    }
}

fn message(selector: Name, args: Vec<Expr>) -> Message {
    Message { selector: selector.text, selector_span: selector.span, args }
}
