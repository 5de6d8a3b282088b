//! One HTML page that needs nothing but itself: the matrix, and for every verdict its reason,
//! its margin, state bands above the numbers the test read, the explanation, what went wrong.
//!
//! No scripts, no outside resources; light or dark as the reader's system is.

use std::fmt::Write as _;

use headland_judge::{Explanation, Verdict};

use crate::explained::{is_explained, margin_words, robustness};
use crate::markup::escaped;
use crate::matrix::cell_text;
use crate::overlay::overlay;
use crate::plot::drawings;
use crate::units::count;
use crate::verdicts::{Cell, Judged, Matrix, Row, Spot};

const STYLE: &str = include_str!("page.css");

/// The page. `build` says who made it.
pub fn page(matrix: &Matrix, build: &str) -> String {
    let mut out = format!("<h1>{}</h1>\n", escaped(&title(matrix)));
    out += &overview(matrix);
    for (r, row) in matrix.rows.iter().enumerate() {
        let drawn = overlay(row, &matrix.recordings, 2);
        if !drawn.is_empty() {
            let name = escaped(&row.test);
            _ = writeln!(out, "<section>\n<h2>{name}: all together</h2>\n{drawn}</section>");
        }
        for (c, (recording, cell)) in matrix.recordings.iter().zip(&row.cells).enumerate() {
            out += &section(&row.test, recording, cell, &format!("r{r}c{c}"));
        }
        out += &around(row);
    }
    framed(&title(matrix), &out, build)
}

/// What is inside a page, as a page.
pub(crate) fn framed(title: &str, inside: &str, build: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{inside}\
         <footer>{}</footer>\n</main>\n</body>\n</html>\n",
        escaped(title),
        escaped(build)
    )
}

fn title(matrix: &Matrix) -> String {
    let n = |wanted: Verdict| {
        matrix.cells().filter(|(_, _, cell)| cell.verdict() == Some(wanted)).count()
    };
    let (n_all, n_green) = (matrix.cells().count(), n(Verdict::Green));
    format!("{n_green} of {} green", count(n_all as u64, "verdict"))
}

fn overview(matrix: &Matrix) -> String {
    let head: String =
        matrix.recordings.iter().map(|name| format!("<th>{}</th>", escaped(name))).collect();
    let mut out = format!(
        "<div class=\"scroll\"><table>\n<thead><tr><th>test</th>{head}</tr></thead>\n<tbody>\n"
    );
    for (r, row) in matrix.rows.iter().enumerate() {
        _ = write!(out, "<tr><th>{}</th>", escaped(&row.test));
        for (c, cell) in row.cells.iter().enumerate() {
            let (word, text) = (cell.word(), escaped(&cell_text(cell)));
            _ = write!(out, "<td><a class=\"pill {word}\" href=\"#r{r}c{c}\">{text}</a></td>");
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}

fn section(test: &str, recording: &str, cell: &Cell, id: &str) -> String {
    let (word, text) = (cell.word(), escaped(&cell_text(cell)));
    let mut out = format!(
        "<section id=\"{id}\">\n<h2>{} <span class=\"on\">on</span> {} \
         <span class=\"pill {word}\">{text}</span></h2>\n",
        escaped(test),
        escaped(recording)
    );
    match cell {
        Cell::Missing(why) => _ = writeln!(out, "<p>{}</p>", escaped(why)),
        Cell::Judged(judged) => out += &details(judged),
    }
    out + "</section>\n"
}

fn details(judged: &Judged) -> String {
    let judgement = &judged.judgement;
    let mut out = String::from("<ul class=\"facts\">\n");
    for root in &judgement.roots {
        let word = root.verdict.word();
        _ = writeln!(
            out,
            "<li><b class=\"{word}\">{word}</b> at {}: {} <code>{}</code>{}</li>",
            root.time,
            escaped(&root.reason),
            escaped(&root.path),
            robustness(root)
        );
    }
    if !judgement.roots.iter().any(|root| root.verdict == judgement.verdict) {
        _ = writeln!(out, "<li>{}</li>", escaped(&judgement.reason));
    }
    if let Some(words) = margin_words(judged) {
        _ = writeln!(out, "<li>{}</li>", with_code(&words));
    }
    let snapshots = count(judgement.n_snapshots as u64, "snapshot");
    let fired = match judged.code.machines.is_empty() {
        true => String::new(), // formulas alone
        false => format!(", {} fired", count(judgement.n_fired, "transition")),
    };
    _ = writeln!(out, "<li>{snapshots}{fired}</li>\n</ul>");
    out += &drawings(judged);
    if is_explained(judged) {
        out += "<h3>Why</h3>\n";
        out += &judged.explanations.iter().map(|e| explanation(judged, e)).collect::<String>();
    }
    out + &errors(judged)
}

/// What stands between two backticks is of the program.
pub(crate) fn with_code(words: &str) -> String {
    let parts = words.split('`').enumerate();
    let marked = parts.map(|(i, part)| match i % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    });
    marked.collect()
}

fn explanation(judged: &Judged, explanation: &Explanation) -> String {
    let mut out = format!("<p>{}, at {}</p>\n", escaped(&explanation.headline), explanation.time);
    if !explanation.lines.is_empty() {
        out += "<table class=\"why\">\n";
    }
    for line in &explanation.lines {
        let when = line.time.map_or(String::new(), |time| format!("at {time}"));
        _ = writeln!(
            out,
            "<tr><td class=\"place\">{}</td><td style=\"padding-left:{}em\"><code>{}</code></td>\
             <td class=\"value\">{}</td><td class=\"place\">{when}</td></tr>",
            escaped(&judged.code.place(line.site).label()),
            1 + line.depth * 2,
            escaped(&line.text),
            escaped(&line.value)
        );
    }
    if !explanation.lines.is_empty() {
        out += "</table>\n";
    }
    if let Some(stretch) = &explanation.stretch {
        let times = &judged.scene.times()[stretch.clone()];
        if let (Some(from), Some(to)) = (times.first(), times.last()) {
            let snapshots = count(times.len() as u64, "snapshot");
            _ = writeln!(out, "<p>The same red with {snapshots} alone, {from} to {to}.</p>");
        }
    }
    out
}

fn errors(judged: &Judged) -> String {
    if judged.judgement.errors.is_empty() {
        return String::new();
    }
    let rows = judged.judgement.errors.iter().map(|error| {
        format!(
            "<tr><td class=\"place\">{}</td><td>{}</td><td>{}</td>\
             <td class=\"place\">first at {} in {}</td></tr>\n",
            escaped(&judged.code.place(error.site).label()),
            escaped(&error.words),
            escaped(&count(error.count, "time")),
            error.first,
            escaped(&error.path)
        )
    });
    let rows: String = rows.collect();
    format!("<h3>Blocks that were abandoned</h3>\n<table class=\"why\">\n{rows}</table>\n")
}

/// What is said of a test over all its recordings.
fn around(row: &Row) -> String {
    let mut out = String::new();
    if let Some(covered) = row.coverage.as_ref().filter(|covered| covered.n_parts > 0) {
        let head =
            format!("{} of {} states and transitions reached", covered.n_reached, covered.n_parts);
        out += &spots(&head, "never reached: ", &covered.missed);
    }
    if let Some(survived) = &row.survivors {
        let n_noticed = survived.n_tried - survived.unnoticed.len();
        let head = format!("{n_noticed} of {} small changes noticed", survived.n_tried);
        out += &spots(&head, "nobody notices: ", &survived.unnoticed);
    }
    if out.is_empty() {
        return out;
    }
    format!("<section>\n<h2>{} over all recordings</h2>\n{out}</section>\n", escaped(&row.test))
}

fn spots(head: &str, before: &str, spots: &[Spot]) -> String {
    let mut out = format!("<h3>{}</h3>\n", escaped(head));
    if spots.is_empty() {
        return out;
    }
    out += "<ul class=\"facts\">\n";
    for spot in spots {
        _ = writeln!(
            out,
            "<li><span class=\"place\">{}</span> {before}{}</li>",
            escaped(&spot.place.label()),
            escaped(&spot.what)
        );
    }
    out + "</ul>\n"
}
