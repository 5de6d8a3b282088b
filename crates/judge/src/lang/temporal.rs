//! Temporal formulas: `always ([v < 0] implies eventually[0, 1] [v > 0])`.
//!
//! From the loosest to the tightest: `implies` and `iff` (to the right), `or`, `and`,
//! `until` and `since` (to the right), then `not`, `always`, `eventually`, `historically`,
//! `once`, then a block, a name, or a formula in parentheses.
//! `[` directly before a number and then `,`, `:` or a unit is a window; else a block.
//!
//! [`parse_formulas`] reads a file of nothing but formulas; all of them are required.

use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Source, names};

use super::ast::*;
use super::block::{MOST_HIGH, MOST_NESTED};
use super::lex::{Failed, Read, Reader, continues_name, starts_name};

/// Words that a formula cannot be called, because in formulas they mean something.
pub const OPERATORS: &[&str] = &[
    "implies",
    "iff",
    "or",
    "and",
    "until",
    "since",
    "not",
    "always",
    "eventually",
    "historically",
    "once",
];

/// A formula and how high it is.
type Tall = (Temporal, usize);

/// Reads a file of formulas, `name := formula` one after the other, each ended by the next
/// or by a full stop. Never fails; each one becomes a formula and a requirement.
pub fn parse_formulas(source: &Arc<Source>, findings: &mut Findings) -> Program {
    let mut reader = Reader::new(source, findings);
    let mut items = Vec::new();
    loop {
        reader.skip_outer_space();
        items.extend(reader.comments.drain(..).map(|(text, span)| Item::Comment(text, span)));
        if reader.peek().is_none() {
            break;
        }
        let start = reader.pos;
        match reader.definition() {
            Ok(formula) => {
                items.extend(
                    reader.comments.drain(..).map(|(text, span)| Item::Comment(text, span)),
                );
                let name = formula.name.clone();
                items.push(Item::Formula(formula));
                items.push(Item::Require(name.clone(), name.span));
            }
            Err(Failed) => {
                reader.comments.clear();
                reader.skip_definition(start);
                let text = reader.text[start..reader.pos].trim_end();
                items.push(Item::Broken(text.to_string(), start..start + text.len()));
            }
        }
    }
    Program { source: Arc::clone(source), items }
}

impl Reader<'_> {
    /// `name := formula`, perhaps with a full stop.
    fn definition(&mut self) -> Read<Formula> {
        let start = self.pos;
        let name = self.outer_name();
        self.skip_outer_space();
        let Some(name) = name.filter(|_| self.eat(":=")) else {
            self.pos = start;
            let (found, span) = self.found();
            let message = format!("expected `name := formula`, found {found}");
            let help = "as in `low := always [ball pose z < 1]`";
            return self.fail(span, "malformed-formula", message, help);
        };
        self.check_formula_name(&name);
        let body = self.temporal()?;
        let end = body.span.end;
        self.skip_outer_space();
        let is_over = self.eat(".") || self.peek().is_none() || self.is_definition();
        if !is_over {
            return self.after_temporal();
        }
        Ok(Formula { name, body, span: start..end })
    }

    /// Whether `name :=` comes.
    fn is_definition(&self) -> bool {
        let rest = self.rest();
        if !rest.starts_with(starts_name) {
            return false;
        }
        let len = rest.find(|c| !continues_name(c) && c != '-').unwrap_or(rest.len());
        rest[len..].trim_start().starts_with(":=")
    }

    /// Past a definition that cannot be read: to the next one, or after a full stop.
    fn skip_definition(&mut self, start: usize) {
        self.pos = start;
        self.outer_name();
        self.skip_outer_space();
        self.eat(":=");
        loop {
            self.skip_outer_space();
            self.comments.clear();
            match self.peek() {
                None => return,
                Some('[') => _ = self.skip_form(self.pos),
                Some('.') => {
                    self.bump();
                    if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
                        return;
                    }
                }
                Some(_) if self.pos > start && self.is_definition() => return,
                Some(_) if self.outer_name().is_none() => _ = self.bump(),
                Some(_) => {}
            }
        }
    }

    pub fn check_formula_name(&mut self, name: &Name) {
        if OPERATORS.contains(&name.text.as_str()) {
            let message = format!("`{}` means something in formulas", name.text);
            let diagnostic = Diagnostic::error("reserved-name", message)
                .help("call the formula something else, so that others can use it");
            self.report(name.span.clone(), diagnostic);
        }
    }

    /// A formula is over and something else comes.
    pub fn after_temporal<T>(&mut self) -> Read<T> {
        if self.peek().is_none() {
            return Err(Failed);
        }
        let (found, span) = self.found();
        let message = format!("{found} cannot follow a finished formula");
        let help = self.misspelt_operator(&found).unwrap_or_else(|| {
            "join formulas with `and`, `or`, `implies`, `iff`, `until` or `since`".to_string()
        });
        self.fail(span, "malformed-formula", message, &help)
    }

    /// The operator that the word at hand, or the one before it, is a slip for.
    fn misspelt_operator(&self, found: &str) -> Option<String> {
        let is_end = |c: char| !continues_name(c);
        let before = self.text[..self.pos].trim_end().trim_end_matches('[').trim_end();
        let before = before.rsplit(is_end).next().unwrap_or_default();
        [found.trim_matches('`'), before].into_iter().find_map(|word| {
            if OPERATORS.contains(&word) {
                return None;
            }
            let near = names::nearest(word, OPERATORS.iter().copied())?;
            Some(format!("did you mean `{near}` by `{word}`?"))
        })
    }

    /// A whole formula.
    pub fn temporal(&mut self) -> Read<Temporal> {
        self.implication(1).map(|(temporal, _)| temporal)
    }

    fn implication(&mut self, depth: usize) -> Read<Tall> {
        // To the right: all parts are read, then joined from the last to the first.
        let mut parts = vec![(self.disjunction(depth)?, "")];
        while let Some(word) = self.operator(&["implies", "iff"]) {
            parts.push((self.disjunction(depth)?, word));
        }
        let (mut right, mut word) = parts.pop().expect("at least one part");
        while let Some((left, before)) = parts.pop() {
            let make = if word == "iff" { TemporalKind::Iff } else { TemporalKind::Implies };
            right = self.join(left, right, make)?;
            word = before;
        }
        Ok(right)
    }

    fn disjunction(&mut self, depth: usize) -> Read<Tall> {
        let mut left = self.conjunction(depth)?;
        while self.operator(&["or"]).is_some() {
            let right = self.conjunction(depth)?;
            left = self.join(left, right, TemporalKind::Or)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self, depth: usize) -> Read<Tall> {
        let mut left = self.stretch(depth)?;
        while self.operator(&["and"]).is_some() {
            let right = self.stretch(depth)?;
            left = self.join(left, right, TemporalKind::And)?;
        }
        Ok(left)
    }

    /// `f until[a, b] g`
    fn stretch(&mut self, depth: usize) -> Read<Tall> {
        let mut parts = vec![(self.unary(depth)?, "", Window::default())];
        while let Some(word) = self.operator(&["until", "since"]) {
            let window = self.window()?;
            parts.push((self.unary(depth)?, word, window));
        }
        let (mut right, mut word, mut window) = parts.pop().expect("at least one part");
        while let Some((left, before, window_before)) = parts.pop() {
            let is_until = word == "until";
            right = self.join(left, right, |left, right| {
                let make = if is_until { TemporalKind::Until } else { TemporalKind::Since };
                make(window, left, right)
            })?;
            (word, window) = (before, window_before);
        }
        Ok(right)
    }

    fn join(
        &mut self,
        left: Tall,
        right: Tall,
        make: impl FnOnce(Box<Temporal>, Box<Temporal>) -> TemporalKind,
    ) -> Read<Tall> {
        let span = left.0.span.start..right.0.span.end;
        let height = left.1.max(right.1) + 1;
        self.check_formula_height(span.start, height)?;
        Ok((Temporal { kind: make(Box::new(left.0), Box::new(right.0)), span }, height))
    }

    fn check_formula_height(&mut self, start: usize, height: usize) -> Read<()> {
        if height <= MOST_HIGH {
            return Ok(());
        }
        let message = format!("the formula is more than {MOST_HIGH} operators high");
        self.fail(start..start + 1, "too-deep", message, "give its parts names of their own")
    }

    /// Operators before a primary, without recursion: `not not not f`.
    fn unary(&mut self, depth: usize) -> Read<Tall> {
        let mut before = Vec::new();
        loop {
            self.skip_outer_space();
            let start = self.pos;
            let words = &["not", "always", "eventually", "historically", "once"];
            let Some(word) = self.operator(words) else { break };
            let window = if word == "not" { Window::default() } else { self.window()? };
            before.push((word, window, start));
        }
        let (mut temporal, mut height) = self.temporal_primary(depth)?;
        for (word, window, start) in before.into_iter().rev() {
            let span = start..temporal.span.end;
            let inner = Box::new(temporal);
            let kind = match word {
                "not" => TemporalKind::Not(inner),
                "always" => TemporalKind::Always(window, inner),
                "eventually" => TemporalKind::Eventually(window, inner),
                "historically" => TemporalKind::Historically(window, inner),
                _ => TemporalKind::Once(window, inner),
            };
            temporal = Temporal { kind, span };
            height += 1;
            self.check_formula_height(start, height)?;
        }
        Ok((temporal, height))
    }

    fn temporal_primary(&mut self, depth: usize) -> Read<Tall> {
        self.skip_outer_space();
        let start = self.pos;
        match self.peek() {
            Some('[') => {
                let block = self.block()?;
                Ok((Temporal { kind: TemporalKind::Atom(block), span: start..self.pos }, 1))
            }
            Some('(') => {
                if depth >= MOST_NESTED {
                    let message = format!("more than {MOST_NESTED} parentheses inside each other");
                    let help = "give the inner parts names of their own";
                    return self.fail(start..start + 1, "too-deep", message, help);
                }
                self.bump();
                let (mut temporal, height) = self.implication(depth + 1)?;
                self.skip_outer_space();
                if !self.eat(")") {
                    if self.peek().is_none() {
                        self.report_unclosed(start, '(', "the formula");
                    }
                    return self.after_temporal();
                }
                temporal.span = start..self.pos;
                Ok((temporal, height))
            }
            _ => self.temporal_name(),
        }
    }

    fn temporal_name(&mut self) -> Read<Tall> {
        let (found, span) = self.found();
        let start = self.pos;
        match self.outer_name() {
            Some(name) if !OPERATORS.contains(&name.text.as_str()) => {
                Ok((Temporal { kind: TemporalKind::Name(name.text), span: name.span }, 1))
            }
            _ => {
                self.pos = start;
                let message = format!("expected a condition, found {found}");
                let help = "write a block such as `[ball pose z > 0]`, the name of a formula, \
                            or a formula in parentheses";
                self.fail(span, "malformed-formula", message, help)
            }
        }
    }

    /// One of these words, if it comes next.
    fn operator(&mut self, words: &[&'static str]) -> Option<&'static str> {
        self.skip_outer_space();
        let start = self.pos;
        let name = self.outer_name();
        let word = name.and_then(|name| words.iter().copied().find(|word| *word == name.text));
        // `once := …` in a file of formulas begins the next one.
        if word.is_none() || self.rest().trim_start().starts_with(":=") {
            self.pos = start;
            return None;
        }
        word
    }

    /// `[0, 1.5]`, `[0:500 ms]`, `[1, inf]`, or nothing: from now without end.
    fn window(&mut self) -> Read<Window> {
        self.skip_outer_space();
        let start = self.pos;
        if !begins_window(self.rest()) {
            return Ok(Window::default());
        }
        self.bump();
        let from_nanos = self.window_end(start)?;
        self.skip_outer_space();
        if !self.eat(",") && !self.eat(":") {
            return self.bad_window(start, "a window has two ends");
        }
        self.skip_outer_space();
        let to_nanos = if self.eat("inf") { None } else { Some(self.window_end(start)?) };
        self.skip_outer_space();
        if !self.eat("]") {
            return self.bad_window(start, "a window ends with `]`");
        }
        if from_nanos < 0 || to_nanos.is_some_and(|to| to < 0) {
            return self.bad_window(start, "a window cannot begin before now");
        }
        if to_nanos.is_some_and(|to| to < from_nanos) {
            return self.bad_window(start, "the window ends before it begins");
        }
        Ok(Window { from_nanos, to_nanos })
    }

    fn bad_window<T>(&mut self, start: usize, what: &str) -> Read<T> {
        let end = self.pos.max(start + 1);
        let help = "write `[0, 1.5]` for the next second and a half, `[0, 500 ms]`, or `[1, inf]`; \
                    for the past use `once` and `historically`";
        self.fail(start..end, "bad-window", what.to_string(), help)
    }

    /// One end in nanoseconds, exactly: `1.5`, `1.5 s`, `250 ms`.
    fn window_end(&mut self, start: usize) -> Read<i64> {
        self.skip_outer_space();
        let sign = if self.eat("-") { -1 } else { 1 };
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (whole, part) = rest[..len].split_once('.').unwrap_or((&rest[..len], ""));
        self.pos += len;
        self.skip_outer_space();
        let scale = match self.operator(&["s", "ms"]) {
            Some("ms") => 6,
            _ => 9,
        };
        let digits = format!("{whole}{part:0<scale$}");
        if whole.is_empty() || part.len() > scale || digits.len() > 30 {
            return self.bad_window(start, "the end of the window is not a time in nanoseconds");
        }
        match digits.parse::<i128>().ok().and_then(|nanos| i64::try_from(nanos).ok()) {
            Some(nanos) => Ok(sign * nanos),
            None => self.bad_window(start, "the end of the window is not a time in nanoseconds"),
        }
    }
}

/// Whether a text begins with a window rather than a block.
pub(super) fn begins_window(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('[') else { return false };
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    let len = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let after = rest[len..].trim_start();
    let is_unit = |unit: &str| {
        after.strip_prefix(unit).is_some_and(|after| !after.starts_with(continues_name))
    };
    let is_split = after.starts_with([',', ':']) && !after.starts_with(":=");
    rest.starts_with(|c: char| c.is_ascii_digit()) && (is_split || is_unit("s") || is_unit("ms"))
}
