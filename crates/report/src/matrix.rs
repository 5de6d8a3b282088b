//! Verdicts as a table of tests and recordings.

use headland_base::one_line;
use headland_judge::{Judgement, Verdict};

use crate::table::{Align, coloured, painted, widths};
use crate::units::{count, quantity};
use crate::verdicts::{Cell, Judged, Matrix, Sureness};

/// Wider than this, recordings become rows.
const WIDE: usize = 120;

const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
pub(crate) const YELLOW: &str = "\x1b[33m";
pub(crate) const MAGENTA: &str = "\x1b[35m";

/// The table: a row per test, a column per recording; the other way round where that would
/// be too wide to read.
pub fn matrix(matrix: &Matrix, colour: bool) -> String {
    let texts: Vec<Vec<String>> =
        matrix.rows.iter().map(|row| row.cells.iter().map(cell_text).collect()).collect();
    let tests: Vec<&str> = matrix.rows.iter().map(|row| row.test.as_str()).collect();
    let recordings: Vec<&str> = matrix.recordings.iter().map(String::as_str).collect();
    let upright = Layout::new("test", &tests, &recordings, |t, r| texts[t][r].clone());
    let turned = Layout::new("recording", &recordings, &tests, |r, t| texts[t][r].clone());
    let ansi = |test: usize, recording: usize| {
        if colour { ansi(&matrix.rows[test].cells[recording]) } else { "" }
    };
    if upright.width() > WIDE && turned.width() < upright.width() {
        turned.render(|row, column| ansi(column, row))
    } else {
        upright.render(ansi)
    }
}

struct Layout<'a> {
    header: Vec<(&'a str, Align)>,
    rows: Vec<Vec<String>>,
}

impl<'a> Layout<'a> {
    fn new(
        corner: &'a str,
        down: &[&str],
        across: &[&'a str],
        text: impl Fn(usize, usize) -> String,
    ) -> Layout<'a> {
        let header = std::iter::once((corner, Align::Left));
        let header = header.chain(across.iter().map(|name| (*name, Align::Left))).collect();
        let row = |(r, name): (usize, &&str)| {
            let cells = (0..across.len()).map(|c| text(r, c));
            std::iter::once((*name).to_string()).chain(cells).collect()
        };
        Layout { header, rows: down.iter().enumerate().map(row).collect() }
    }

    fn width(&self) -> usize {
        widths(&self.header, &self.rows).into_iter().map(|width| width + 2).sum()
    }

    fn render(&self, ansi: impl Fn(usize, usize) -> &'static str) -> String {
        painted(&self.header, &self.rows, |r, c| c.checked_sub(1).map_or("", |c| ansi(r, c)))
    }
}

pub(crate) fn ansi(cell: &Cell) -> &'static str {
    match cell.verdict() {
        Some(Verdict::Green) => GREEN,
        Some(Verdict::Red) => RED,
        Some(Verdict::Inconclusive) => YELLOW,
        Some(Verdict::Error) | None => MAGENTA,
    }
}

/// ` 3.1 mm`, ` ∞`: what stands behind a verdict.
pub(crate) fn sureness_text(sureness: &Sureness) -> String {
    match sureness {
        Sureness::NotAsked => String::new(),
        Sureness::Unshakable => " ∞".to_string(),
        Sureness::AtLeast(amount) => format!(" ≥ {}", quantity(*amount, "")),
        Sureness::Margin(margin) => {
            let at_most = if margin.is_exact { "" } else { "≤ " };
            format!(" {at_most}{}", quantity(margin.amount, margin.unit))
        }
    }
}

/// The verdict; of a run that was broken off before anything was decided, that.
pub(crate) fn verdict_word(judged: &Judged) -> &'static str {
    match judged.judgement.verdict {
        Verdict::Inconclusive if judged.scene.interruption().is_some() => "interrupted",
        verdict => verdict.word(),
    }
}

/// `green 3.1 mm`, `red at 1.420 s by 2 mm`: what stands in a cell. Blocks that had to be
/// abandoned are counted behind it: `green 3.1 mm, 2 action errors`.
pub fn cell_text(cell: &Cell) -> String {
    let Cell::Judged(judged) = cell else { return "not judged".to_string() };
    let margin = sureness_text(&judged.sureness);
    let Judgement { verdict, time, n_errors, .. } = &judged.judgement;
    let has_amount = matches!(judged.sureness, Sureness::Margin(_) | Sureness::AtLeast(_));
    let by = if has_amount { " by" } else { "" };
    let said = match verdict {
        Verdict::Green => format!("green{margin}"),
        Verdict::Red => format!("red at {time}{by}{margin}"),
        Verdict::Inconclusive | Verdict::Error => verdict_word(judged).to_string(),
    };
    match n_errors {
        0 => said,
        n => format!("{said}, {}", count(*n, "action error")),
    }
}

/// What is not green, a line each, and how many there are of every verdict.
pub fn summary(matrix: &Matrix, colour: bool) -> String {
    let mut out = String::new();
    for (row, recording, cell) in matrix.cells() {
        let (time, reason) = match cell {
            Cell::Judged(judged) if judged.judgement.verdict == Verdict::Green => continue,
            Cell::Judged(judged) => {
                (format!(" at {}", judged.judgement.time), judged.judgement.reason.as_str())
            }
            Cell::Missing(why) => (String::new(), why.as_str()),
        };
        let word = match cell.verdict() {
            Some(verdict) => verdict.word(),
            None => "not judged",
        };
        let word = if colour { coloured(ansi(cell), word) } else { word.to_string() };
        out += &format!("{} on {recording}: {word}{time}: {}\n", row.test, one_line(reason));
    }
    out + &counts(matrix) + "\n"
}

/// `3 green, 1 red`
fn counts(matrix: &Matrix) -> String {
    let count = |wanted: Option<Verdict>| {
        matrix.cells().filter(|(_, _, cell)| cell.verdict() == wanted).count()
    };
    let verdicts = [Verdict::Green, Verdict::Red, Verdict::Inconclusive, Verdict::Error];
    let named = verdicts.map(|verdict| (count(Some(verdict)), verdict.word()));
    let all = named.into_iter().chain([(count(None), "not judged")]);
    let said: Vec<String> =
        all.filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    if said.is_empty() { "nothing was judged".to_string() } else { said.join(", ") }
}
