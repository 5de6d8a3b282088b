//! One thing worth telling the user: what, where, and what to do about it.
//!
//! Data, not text, until the last moment: the terminal, JSON and later the studio each
//! render it their own way, and a test can ask for the code instead of the wording.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::names;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Probably not what was meant; we go on.
    Warning,
    /// We cannot do what was asked.
    Error,
}

impl Severity {
    /// The word people and JSON read.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }

    fn ansi(self) -> &'static str {
        match self {
            Severity::Note => "\x1b[1;36m",
            Severity::Warning => "\x1b[1;33m",
            Severity::Error => "\x1b[1;31m",
        }
    }
}

/// A text that diagnostics point into, with the name people know it by.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The path as the user would type it.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// A shared source.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { path: path.into(), text: text.into() })
    }

    /// Line and column, both from 1, the column in characters. LF, CR and CRLF each end one
    /// line, also when a text mixes them.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let offset = self.floor_boundary(offset);
        let start = self.line_start(offset);
        let bytes = &self.text.as_bytes()[..start];
        let is_end = |(i, b): (usize, &u8)| match b {
            b'\n' => true,
            b'\r' => bytes.get(i + 1) != Some(&b'\n'),
            _ => false,
        };
        let line = bytes.iter().enumerate().filter(|pair| is_end(*pair)).count() + 1;
        (line, self.text[start..offset].chars().count() + 1)
    }

    /// Where the line of a character begins. The LF of a CRLF belongs to the line it ends.
    fn line_start(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let is_inside =
            offset > 0 && bytes[offset - 1] == b'\r' && bytes.get(offset) == Some(&b'\n');
        let before = &bytes[..offset - usize::from(is_inside)];
        before.iter().rposition(|b| matches!(b, b'\n' | b'\r')).map_or(0, |i| i + 1)
    }

    fn floor_boundary(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset.min(self.text.len()))
    }
}

/// Where in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The text it is in.
    pub source: Arc<Source>,
    /// Byte range in that text.
    pub span: Range<usize>,
}

impl Place {
    /// A byte range of a source.
    pub fn new(source: &Arc<Source>, span: Range<usize>) -> Place {
        Place { source: Arc::clone(source), span }
    }

    /// `path:line:column`.
    pub fn label(&self) -> String {
        let (line, column) = self.source.line_column(self.span.start);
        format!("{}:{line}:{column}", self.source.path)
    }
}

/// One finding about the user's input, or about what we are about to do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error, warning or note.
    pub severity: Severity,
    /// Stable and searchable: `unknown-element`. The wording may improve; this may not.
    pub code: &'static str,
    /// One line, no full stop, the reader's words rather than ours.
    pub message: String,
    /// Where, when it is somewhere in a text.
    pub place: Option<Place>,
    /// Facts that help to understand.
    pub notes: Vec<String>,
    /// The next thing to try.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Something we cannot do.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, message)
    }

    /// Something that is probably not meant.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, message)
    }

    /// Something worth knowing.
    pub fn remark(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Note, code, message)
    }

    fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            code,
            message: message.into(),
            place: None,
            notes: Vec::new(),
            help: None,
        }
    }

    /// The same, pointing at a place.
    pub fn at(mut self, place: Place) -> Diagnostic {
        self.place = Some(place);
        self
    }

    /// The same, pointing at a place if there is one.
    pub fn at_maybe(mut self, place: Option<Place>) -> Diagnostic {
        self.place = place.or(self.place);
        self
    }

    /// The same, with one more fact.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// The same, with the next thing to try.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The same, with a next thing to try if there is one.
    pub fn help_maybe(mut self, help: Option<String>) -> Diagnostic {
        self.help = help.or(self.help);
        self
    }

    /// Plain text, or text with terminal colours, with the source line and a caret
    /// under the fault.
    pub fn render(&self, colour: bool) -> String {
        let paint = |ansi: &str, text: &str| {
            if colour { format!("{ansi}{text}\x1b[0m") } else { text.to_string() }
        };
        let head = format!("{}[{}]", self.severity.word(), self.code);
        let mut out =
            format!("{}: {}\n", paint(self.severity.ansi(), &head), printable(&self.message));
        if let Some(place) = &self.place {
            _ = writeln!(out, " --> {}", printable(&place.label()));
            let (line, indent, carets) = excerpt(place);
            if !line.trim().is_empty() {
                let carets = paint(self.severity.ansi(), &"^".repeat(carets));
                _ = writeln!(out, "  | {line}\n  | {:indent$}{carets}", "");
            }
        }
        for note in &self.notes {
            _ = writeln!(out, "note: {}", printable(note));
        }
        if let Some(help) = &self.help {
            _ = writeln!(out, "{}: {}", paint("\x1b[1;32m", "help"), printable(help));
        }
        out
    }

    /// The form programs read: one object, the place as file, line and column.
    pub fn to_json(&self) -> Value {
        let place = self.place.as_ref().map(|place| {
            let (line, column) = place.source.line_column(place.span.start);
            let (end_line, end_column) = place.source.line_column(place.span.end);
            json!({
                "file": place.source.path, "line": line, "column": column,
                "end_line": end_line, "end_column": end_column,
            })
        });
        json!({
            "severity": self.severity.word(), "code": self.code, "message": self.message,
            "place": place, "notes": self.notes, "help": self.help,
        })
    }
}

/// One finding where several could be: `?` makes the list.
impl From<Diagnostic> for Vec<Diagnostic> {
    fn from(diagnostic: Diagnostic) -> Vec<Diagnostic> {
        vec![diagnostic]
    }
}

/// How much of a source line is shown; a generated file may be one line of megabytes.
const EXCERPT_CHARS: usize = 96;

/// The line around the place, the column of the caret in it, and the caret's length.
fn excerpt(place: &Place) -> (String, usize, usize) {
    let text = &place.source.text;
    let start = place.source.floor_boundary(place.span.start);
    let end = place.source.floor_boundary(place.span.end.max(start));
    let line_start = place.source.line_start(start);
    let before: Vec<char> = text[line_start..start].chars().collect();
    // A fault far out in a long line is shown with what directly precedes it.
    let skipped = before.len().saturating_sub(EXCERPT_CHARS / 2);
    let rest = text[line_start..].chars().skip(skipped).take_while(|c| *c != '\n' && *c != '\r');
    let line: String = rest.take(EXCERPT_CHARS).map(printable_char).collect();
    let indent = before.len() - skipped;
    let fault_chars = text[start..end]
        .chars()
        .take_while(|c| *c != '\n' && *c != '\r')
        .take(EXCERPT_CHARS)
        .count();
    let room = line.chars().count().saturating_sub(indent);
    (line, indent, fault_chars.min(room).max(1))
}

/// Somebody else's words on one line of ours: nothing in them ends a line or moves a cursor.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { ' ' } else { printable_char(c) }).collect()
}

/// Control characters from a hostile file must not reach the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { printable_char(c) }).collect()
}

fn printable_char(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// Everything found while reading one input: all of it, not only the first.
///
/// Bounded, because a hostile file can hold a million faults: past [`Findings::MOST`]
/// they are only counted.
#[derive(Clone, Debug)]
pub struct Findings {
    list: Vec<Diagnostic>,
    most: usize,
    n_dropped: usize,
    n_errors: usize,
}

impl Default for Findings {
    fn default() -> Findings {
        Findings::at_most(Findings::MOST)
    }
}

impl Findings {
    /// How many findings are kept; the rest are counted.
    pub const MOST: usize = 200;

    /// No findings yet.
    pub fn new() -> Findings {
        Findings::default()
    }

    /// No findings yet, of which only the first few are to be kept: the same fault may be in
    /// every row of a table.
    pub fn at_most(most: usize) -> Findings {
        Findings { list: Vec::new(), most, n_dropped: 0, n_errors: 0 }
    }

    /// One more.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.n_errors += usize::from(diagnostic.severity == Severity::Error);
        if !self.is_full() {
            self.list.push(diagnostic);
        } else {
            self.n_dropped += 1;
        }
    }

    /// Those of another list behind these; what it only counted stays counted.
    pub fn append(&mut self, other: Findings) {
        let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
        self.n_errors += other.n_errors - other.list.iter().filter(is_error).count();
        self.n_dropped += other.n_dropped;
        self.extend(other.list);
    }

    /// Without those that are not wanted; what is only counted stays counted.
    pub fn retain(&mut self, mut is_wanted: impl FnMut(&Diagnostic) -> bool) {
        let n_errors = &mut self.n_errors;
        self.list.retain(|diagnostic| {
            let is_kept = is_wanted(diagnostic);
            *n_errors -= usize::from(!is_kept && diagnostic.severity == Severity::Error);
            is_kept
        });
    }

    /// Each of those that are kept, changed; not how much it matters.
    pub fn map(mut self, change: impl FnMut(Diagnostic) -> Diagnostic) -> Findings {
        self.list = self.list.into_iter().map(change).collect();
        self
    }

    /// How many are counted and not kept.
    pub fn n_only_counted(&self) -> usize {
        self.n_dropped
    }

    /// So many of those that are only counted have been counted elsewhere.
    pub fn discount(&mut self, n_counted_elsewhere: usize) {
        self.n_dropped = self.n_dropped.saturating_sub(n_counted_elsewhere);
    }

    /// All that is kept, in the order found.
    pub fn kept(&self) -> &[Diagnostic] {
        &self.list
    }

    /// Whether further ones are only counted, so that nothing need be found out for them.
    pub fn is_full(&self) -> bool {
        self.list.len() >= self.most
    }

    /// [`names::suggestion`] for the next finding; none once nobody would read it.
    pub fn suggestion<'a>(
        &self,
        wrong: &str,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Option<String> {
        if self.is_full() { None } else { names::suggestion(wrong, known) }
    }

    /// [`Place::label`] for the next finding; empty once nobody would read it, because
    /// counting lines walks the text.
    pub fn label(&self, place: &Place) -> String {
        if self.is_full() { String::new() } else { place.label() }
    }

    /// Whether any of them forbids going on.
    pub fn has_errors(&self) -> bool {
        self.n_errors > 0
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All that is kept, in the order found, and a last word on those that are not.
    pub fn into_vec(mut self) -> Vec<Diagnostic> {
        if self.n_dropped > 0 {
            let kept = self.list.iter().filter(|d| d.severity == Severity::Error).count();
            let make = if self.n_errors > kept { Diagnostic::error } else { Diagnostic::remark };
            self.list
                .push(make("more-findings", format!("and {} more like these", self.n_dropped)));
        }
        self.list
    }
}

impl Extend<Diagnostic> for Findings {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, iter: T) {
        for diagnostic in iter {
            self.push(diagnostic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_sees_the_line_and_a_caret() {
        let source = Source::new("ball.sdf", "<sdf>\n\t<radios>1</radios>\n</sdf>");
        let text = Diagnostic::error("unknown-element", "no element `radios` in `sphere`")
            .at(Place::new(&source, 8..14))
            .note("SDF 1.10")
            .help("did you mean `radius`?")
            .render(false);
        let wanted = "error[unknown-element]: no element `radios` in `sphere`
 --> ball.sdf:2:3
  |  <radios>1</radios>
  |   ^^^^^^
note: SDF 1.10
help: did you mean `radius`?
";
        assert_eq!(text, wanted);
    }

    #[test]
    fn every_kind_of_line_end_ends_one_line() {
        let source = Source::new("a", "a\rb\r\nc\nd\r\re");
        let lines: Vec<_> = (0..=11).map(|at| source.line_column(at)).collect();
        let wanted = [
            (1, 1),
            (1, 2),
            (2, 1),
            (2, 2),
            (2, 3),
            (3, 1),
            (3, 2),
            (4, 1),
            (4, 2),
            (5, 1),
            (6, 1),
            (6, 2),
        ];
        assert_eq!(lines, wanted);
        let text = Diagnostic::error("e", "m").at(Place::new(&source, 5..6)).render(false);
        assert_eq!(text, "error[e]: m\n --> a:3:1\n  | c\n  | ^\n");
        let text = Diagnostic::error("e", "m").at(Place::new(&source, 2..3)).render(false);
        assert_eq!(text, "error[e]: m\n --> a:2:1\n  | b\n  | ^\n");
    }

    #[test]
    fn a_program_reads_the_same_as_json() {
        let source = Source::new("a.csv", "time,é,x\n1,2\n");
        let json =
            Diagnostic::warning("short-row", "2 cells").at(Place::new(&source, 10..13)).to_json();
        assert_eq!(
            json["place"],
            json!({"file": "a.csv", "line": 2, "column": 1, "end_line": 2, "end_column": 4})
        );
        assert_eq!(json["severity"], "warning");
    }

    #[test]
    fn hostile_places_and_texts_are_harmless() {
        let source = Source::new("x", format!("{}é\u{1b}[31m", "a".repeat(1_000_000)));
        for span in [
            0..usize::MAX,
            1_000_001..1_000_002,
            Range { start: 5_000_000, end: 1 },
            999_990..1_000_004,
        ] {
            let text =
                Diagnostic::error("e", "\u{1b}[2J").at(Place::new(&source, span)).render(false);
            assert!(text.len() < 1000 && !text.contains('\u{1b}'));
        }
    }

    #[test]
    fn a_flood_is_counted_not_kept() {
        let mut findings = Findings::new();
        let place = Place::new(&Source::new("a", "b"), 0..1);
        assert_eq!(findings.label(&place), "a:1:1");
        assert_eq!(findings.suggestion("bix", ["box"]).as_deref(), Some("did you mean `box`?"));
        findings.extend((0..1000).map(|i| Diagnostic::warning("w", i.to_string())));
        assert!(findings.is_full());
        assert_eq!(
            (findings.label(&place), findings.suggestion("bix", ["box"])),
            (String::new(), None)
        );
        findings.push(Diagnostic::error("e", "late"));
        assert!(findings.has_errors());
        // One list behind another: what either only counted stays counted.
        let mut all = Findings::new();
        all.push(Diagnostic::warning("w", "first"));
        all.append(findings.clone());
        assert!(all.has_errors());
        let list = all.into_vec();
        assert!(list[Findings::MOST].message.contains("802 more"), "{:?}", list.last());
        assert_eq!(list[Findings::MOST].severity, Severity::Error);
        let list = findings.into_vec();
        assert_eq!(list.len(), Findings::MOST + 1);
        assert!(list[Findings::MOST].message.contains("801 more"));
        assert_eq!(list[Findings::MOST].severity, Severity::Error);
    }

    #[test]
    fn few_may_be_enough() {
        let mut few = Findings::at_most(3);
        few.extend((0..10).map(|i| Diagnostic::error("e", i.to_string())));
        let list = few.into_vec();
        assert_eq!((list.len(), list[3].message.as_str()), (4, "and 7 more like these"));
        assert_eq!(list[3].severity, Severity::Error);
    }

    #[test]
    fn what_was_told_elsewhere_is_neither_kept_nor_counted_again() {
        let mut findings = Findings::new();
        findings.extend((0..250).map(|i| Diagnostic::error("e", i.to_string())));
        assert_eq!(findings.n_only_counted(), 50);
        let mut again = findings.clone();
        again.retain(|_| false);
        again.discount(findings.n_only_counted());
        let mut odd = findings.clone();
        odd.retain(|diagnostic| diagnostic.message.ends_with('1'));
        findings.append(again);
        let list = findings.map(|diagnostic| diagnostic.note("seen")).into_vec();
        assert_eq!((list.len(), list[199].notes.len()), (201, 1));
        assert_eq!(list[200].message, "and 50 more like these");
        odd.discount(50);
        assert_eq!((odd.kept().len(), odd.has_errors()), (20, true));
        odd.retain(|_| false);
        assert!(odd.is_empty());
    }
}
