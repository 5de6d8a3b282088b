//! The letters of a program: where names, strings, comments and brackets begin and end.
//!
//! One [`Reader`] walks the text once. The outer forms, the blocks and the formulas read
//! through it; each asks for the kind of name and the kind of space of its own mode.
//! Line ends are LF, CR or CRLF, also mixed.
//!
//! Deliberately absent: any recursion. Looking for a closing bracket counts, so that a
//! million open ones cost a million steps and no stack.

use std::sync::Arc;

use headland_base::{Diagnostic, Findings, Place, Source};

use super::ast::{Name, Span};

/// What could not be read has been reported; the caller finds a place to go on.
#[derive(Debug)]
pub(super) struct Failed;

/// Something read, or a report already made.
pub(super) type Read<T> = Result<T, Failed>;

/// A walk over one text.
pub(super) struct Reader<'a> {
    pub source: &'a Arc<Source>,
    pub text: &'a str,
    pub findings: &'a mut Findings,
    /// Byte offset, always on a character.
    pub pos: usize,
    /// Comments met inside a form; its reader puts them before the form.
    pub comments: Vec<(String, Span)>,
    /// Comments met inside blocks that no block has taken yet.
    pub block_comments: Vec<String>,
    /// Up to where those were read: what is read again has none.
    comments_read_to: usize,
    /// A quote without a partner was met, so from here on strings end with their line.
    /// Otherwise each of many would be searched to the end of the file.
    quotes_run_out: [bool; 2],
    /// A form was never closed, so from here on forms end where the layout says.
    pub layout_decides: bool,
    /// How many bytes of broken statements were walked again to find their ends.
    pub n_walked_again: usize,
    /// Where the last unclosed bracket was noticed: one report per place is enough.
    unclosed_noticed_at: Option<usize>,
}

/// Characters a binary selector is made of.
pub(super) fn is_binary(c: char) -> bool {
    "+-*/\\~<>=@%|&?,!".contains(c)
}

/// Whether a name may begin so.
pub(super) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a name may go on so.
pub(super) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl<'a> Reader<'a> {
    pub fn new(source: &'a Arc<Source>, findings: &'a mut Findings) -> Reader<'a> {
        let text = source.text.as_str();
        Reader {
            source,
            text,
            findings,
            pos: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 },
            comments: Vec::new(),
            block_comments: Vec::new(),
            comments_read_to: 0,
            quotes_run_out: [false; 2],
            layout_decides: false,
            n_walked_again: 0,
            unclosed_noticed_at: None,
        }
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character after the next one.
    pub fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    pub fn eat(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        self.pos += if is_next { word.len() } else { 0 };
        is_next
    }

    /// A report at some bytes.
    pub fn report(&mut self, span: Span, diagnostic: Diagnostic) {
        self.findings.push(diagnostic.at(Place::new(self.source, span)));
    }

    /// An error that ends what is being read.
    pub fn fail<T>(
        &mut self,
        span: Span,
        code: &'static str,
        message: String,
        help: &str,
    ) -> Read<T> {
        self.report(span, Diagnostic::error(code, message).help(help));
        Err(Failed)
    }

    /// What stands at the reader, in words, and its bytes.
    pub fn found(&self) -> (String, Span) {
        let at = self.pos;
        let Some(c) = self.peek() else { return ("the end of the file".into(), at..at) };
        let len = if starts_name(c) {
            self.rest().find(|c| !continues_name(c)).unwrap_or(self.rest().len())
        } else if c.is_ascii_digit() {
            self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len())
        } else if ["->", ":=", "*->"].iter().any(|sign| self.rest().starts_with(sign)) {
            if c == '*' { 3 } else { 2 }
        } else {
            c.len_utf8()
        };
        let word: String = self.text[at..at + len].chars().take(40).collect();
        (format!("`{word}`"), at..at + len)
    }

    /// Space and comments between the tokens of outer forms.
    pub fn skip_outer_space(&mut self) {
        while let Some(c) = self.peek() {
            if c == ';' {
                let comment = self.outer_comment();
                self.comments.push(comment);
            } else if c.is_whitespace() {
                self.bump();
            } else {
                return;
            }
        }
    }

    /// `; words` up to the line end, which stays.
    pub fn outer_comment(&mut self) -> (String, Span) {
        let start = self.pos;
        let len = self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
        self.pos += len;
        (self.text[start + 1..self.pos].trim_end().to_string(), start..self.pos)
    }

    /// Space and `"comments"` inside a block.
    pub fn skip_block_space(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                '"' => {
                    let text = self.quoted('"', true);
                    if self.pos > self.comments_read_to {
                        self.comments_read_to = self.pos;
                        self.block_comments.push(text);
                    }
                }
                c if c.is_whitespace() => _ = self.bump(),
                _ => return,
            }
        }
    }

    /// What stands between two quotes, a doubled quote meaning one. Without a partner it
    /// ends with its line, and a report says where it began.
    pub fn quoted(&mut self, quote: char, reports: bool) -> String {
        let start = self.pos;
        self.pos += 1;
        let which = usize::from(quote == '"');
        let mut text = String::new();
        if !self.quotes_run_out[which] {
            while let Some(len) = self.rest().find(quote) {
                text.push_str(&self.rest()[..len]);
                self.pos += len + 1;
                // A doubled quote inside a comment only ends one and begins the next.
                if quote == '"' || self.peek() != Some(quote) {
                    return text;
                }
                text.push(quote);
                self.pos += 1;
            }
            self.quotes_run_out[which] = true;
        }
        self.pos = start + 1;
        text.clear();
        // A later one may still have its partner on the same line.
        loop {
            let Some(len) = self.rest().find([quote, '\n', '\r']) else {
                text.push_str(self.until_closing(self.rest()));
                break;
            };
            if !self.rest()[len..].starts_with(quote) {
                text.push_str(self.until_closing(&self.rest()[..len]));
                break;
            }
            text.push_str(&self.rest()[..len]);
            self.pos += len;
            self.pos += 1;
            if quote == '"' || self.peek() != Some(quote) {
                return text;
            }
            text.push(quote);
            self.pos += 1;
        }
        if reports {
            let (code, what) = if quote == '"' {
                ("unclosed-comment", "the comment that begins here has no closing `\"`")
            } else {
                ("unclosed-string", "the string that begins here has no closing `'`")
            };
            let help = "it was read up to the end of its line; close it there";
            self.report(start..self.pos, Diagnostic::error(code, what).help(help));
        }
        text
    }

    /// The rest of a line without the brackets at its end, which close what is around.
    fn until_closing(&mut self, line: &'a str) -> &'a str {
        let line = line.trim_end_matches(|c: char| ")]}".contains(c) || c.is_whitespace());
        self.pos += line.len();
        line
    }

    /// A name of the outer mode, where hyphens may stand inside: `t-fw`.
    pub fn outer_name(&mut self) -> Option<Name> {
        self.name_with(|rest, at| {
            rest[at..].starts_with('-') && rest[at + 1..].chars().next().is_some_and(continues_name)
        })
    }

    /// A name of the block mode.
    pub fn block_name(&mut self) -> Option<Name> {
        self.name_with(|_, _| false)
    }

    fn name_with(&mut self, goes_on_at: impl Fn(&str, usize) -> bool) -> Option<Name> {
        let rest = self.rest();
        rest.chars().next().filter(|c| starts_name(*c))?;
        let mut len = 0;
        loop {
            len += rest[len..].find(|c| !continues_name(c)).unwrap_or(rest.len() - len);
            if !goes_on_at(rest, len) {
                break;
            }
            len += 1;
        }
        let start = self.pos;
        self.pos += len;
        Some(Name { text: rest[..len].to_string(), span: start..self.pos })
    }

    /// Notes a bracket without a partner, once for each place where one was missed.
    pub fn report_unclosed(&mut self, opened: usize, bracket: char, what: &str) {
        if self.unclosed_noticed_at.replace(self.pos) == Some(self.pos) {
            return;
        }
        let partner = match bracket {
            '[' => ']',
            '{' => '}',
            _ => ')',
        };
        let (found, span) = self.found();
        let code = if bracket == '(' { "unclosed-parenthesis" } else { "unclosed-bracket" };
        // Counting lines walks the text; once nobody would read it, it is not done.
        let full = self.findings.is_full();
        let (line, column) = if full { (0, 0) } else { self.source.line_column(span.start) };
        let diagnostic =
            Diagnostic::error(code, format!("the `{bracket}` of {what} is never closed"))
                .note(format!("{found} came first, at line {line}, column {column}"))
                .help(format!("add the missing `{partner}`"));
        self.report(opened..opened + 1, diagnostic);
    }

    /// Goes past the form whose parenthesis opens at `start`: to its partner, or to the end
    /// of the file. Says whether there was a partner.
    pub fn skip_form(&mut self, start: usize) -> bool {
        self.pos = start;
        let mut brackets = Brackets::default();
        while let Some(c) = self.peek() {
            match c {
                ';' if !brackets.in_block() => {
                    self.outer_comment();
                    continue;
                }
                '\'' | '"' if brackets.in_block() => {
                    self.quoted(c, false);
                    continue;
                }
                '$' if brackets.in_block() => _ = self.bump(),
                c => _ = brackets.see(c),
            }
            self.bump();
            if brackets.open.is_empty() {
                return true;
            }
        }
        false
    }

    /// Goes to the end of a statement that begins at `start`: its full stop, or a bracket
    /// that closes something around it.
    pub fn skip_statement(&mut self, start: usize) {
        self.pos = start;
        let mut brackets = Brackets::default();
        while let Some(c) = self.peek() {
            match c {
                '\'' | '"' => {
                    self.quoted(c, false);
                    continue;
                }
                '$' => _ = self.bump(),
                '.' if brackets.open.is_empty() && !self.is_decimal_point() => return,
                c if !brackets.see(c) => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// The column of a byte that is the first of its line but for blanks, from 0. A line far
    /// too long to have been indented by a person has none.
    pub fn indent_of(&self, at: usize) -> Option<usize> {
        let before = self.text[..at].char_indices().rev().take(200);
        let mut column = 0;
        for (_, c) in before {
            match c {
                '\n' | '\r' => return Some(column),
                c if c.is_whitespace() => column += 1,
                _ => return None,
            }
        }
        (column == at).then_some(column)
    }

    fn is_decimal_point(&self) -> bool {
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        is_digit(self.text[..self.pos].chars().next_back()) && is_digit(self.peek_second())
    }
}

/// Open brackets, the innermost last, and how many of each kind.
#[derive(Default)]
struct Brackets {
    open: Vec<usize>,
    counts: [usize; 3],
}

impl Brackets {
    /// Takes note of a bracket; says whether a closing one has its partner here.
    fn see(&mut self, c: char) -> bool {
        if let Some(kind) = "([{".find(c) {
            self.open.push(kind);
            self.counts[kind] += 1;
        } else if let Some(kind) = ")]}".find(c) {
            if self.counts[kind] == 0 {
                return false;
            }
            // What was left open inside is closed with it.
            while let Some(last) = self.open.pop() {
                self.counts[last] -= 1;
                if last == kind {
                    break;
                }
            }
        }
        true
    }

    fn in_block(&self) -> bool {
        self.counts[1] > 0
    }
}
