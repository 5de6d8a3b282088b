//! The report card: probe worlds on physics engines, against closed forms.
//!
//! ```text
//! probe × step ─┬─ error of every measure, per engine
//!               ├─ verdict and margin of every test, per engine (a Matrix)
//!               └─ speed, or why the run broke, per engine
//! ```
//!
//! A card goes in; one text table, JSON, or one HTML page comes out.

use std::fmt::Write as _;

use headland_judge::{Measured, Verdict};
use serde_json::{Value, json};

use crate::json::verdicts_json;
use crate::markup::escaped;
use crate::matrix::{MAGENTA, YELLOW, ansi, cell_text, sureness_text};
use crate::overlay::{overlay, parted};
use crate::page::framed;
use crate::table::{Align, painted};
use crate::units::quantity;
use crate::verdicts::{Cell, Matrix};

/// Engines and how they did.
#[derive(Debug, Default)]
pub struct Card {
    /// Name and version of each engine that ran: the columns.
    pub engines: Vec<(String, String)>,
    /// Name of each that is not there, and the command that installs it.
    pub missing: Vec<(String, String)>,
    /// One per probe and step.
    pub probes: Vec<Probed>,
}

/// One probe at one step.
#[derive(Debug)]
pub struct Probed {
    /// Its name.
    pub name: String,
    /// What it is about, in one line.
    pub what: String,
    /// The step \[s\].
    pub step_secs: f64,
    /// What was measured against closed forms.
    pub measures: Vec<MeasureRow>,
    /// Tests over engines.
    pub matrix: Matrix,
    /// How each engine's run went.
    pub runs: Vec<Ran>,
}

/// One measure, per engine.
#[derive(Clone, Debug)]
pub struct MeasureRow {
    /// The closed form's: `slide_distance`.
    pub name: String,
    /// In words.
    pub what: String,
    /// By which it is expected.
    pub formula: String,
    /// Of the measure and of its error; nothing for a share.
    pub unit: String,
    /// An error up to this is usual; more is worth a look.
    pub usual: f64,
    /// One per engine.
    pub cells: Vec<Result<Measured, String>>,
}

/// How a run went.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Simulated seconds per second, recording included.
    pub real_time_factor: Option<f64>,
    /// Why it broke.
    pub fault: Option<String>,
    /// What the engine realises differently from what was asked.
    pub realised: Vec<String>,
}

/// One line of the table: its name, and per engine a text and a colour.
struct Line {
    name: String,
    cells: Vec<(String, &'static str)>,
}

fn lines(probed: &Probed, is_last_step: bool) -> Vec<Line> {
    let broken = |i: usize| probed.runs.get(i).is_some_and(|ran| ran.fault.is_some());
    let mut out = Vec::new();
    for row in &probed.measures {
        let cells = row.cells.iter().enumerate().map(|(i, cell)| match cell {
            Ok(measure) if measure.error <= row.usual => (quantity(measure.error, &row.unit), ""),
            Ok(measure) => (format!("{} !", quantity(measure.error, &row.unit)), YELLOW),
            Err(_) if broken(i) => ("broke".to_string(), MAGENTA),
            Err(_) => ("—".to_string(), ""),
        });
        let expected = row.cells.iter().flatten().map(|measure| measure.expected).next();
        let wanted = expected.filter(|wanted| *wanted != 0.0);
        let wanted = wanted.map_or(String::new(), |w| format!(" ({})", quantity(w, &row.unit)));
        out.push(Line { name: format!("{}{wanted}", row.name), cells: cells.collect() });
    }
    for row in &probed.matrix.rows {
        let cells = row.cells.iter().map(|cell| (short_verdict(cell), ansi(cell)));
        out.push(Line { name: row.test.clone(), cells: cells.collect() });
    }
    let speed = |ran: &Ran| match ran.real_time_factor {
        Some(factor) => (format!("{}×", quantity(factor, "")), ""),
        None => ("broke".to_string(), MAGENTA),
    };
    if is_last_step || !probed.runs.is_empty() {
        out.push(Line {
            name: "speed".to_string(),
            cells: probed.runs.iter().map(speed).collect(),
        });
    }
    out
}

/// Shorter than in a matrix: the moment of a red is on the page.
fn short_verdict(cell: &Cell) -> String {
    let Cell::Judged(judged) = cell else { return "broke".to_string() };
    judged.judgement.verdict.word().to_string() + &sureness_text(&judged.sureness)
}

/// One table; names of engines head the columns.
pub fn card(card: &Card, colour: bool) -> String {
    let names = card.engines.iter().map(|(name, _)| (name.as_str(), Align::Left));
    let header: Vec<(&str, Align)> = std::iter::once(("", Align::Left)).chain(names).collect();
    let (mut rows, mut paints) = (Vec::new(), Vec::new());
    for (i, probed) in card.probes.iter().enumerate() {
        let is_last = card.probes.get(i + 1).is_none_or(|next| next.name != probed.name);
        rows.push(vec![heading(probed)]);
        paints.push(Vec::new());
        for line in lines(probed, is_last) {
            let cells = line.cells.iter().map(|(text, _)| text.clone());
            rows.push(std::iter::once(format!("  {}", line.name)).chain(cells).collect());
            paints.push(line.cells.iter().map(|(_, paint)| *paint).collect());
        }
    }
    let mut out = painted(&header, &rows, |r, c| {
        let paint = c.checked_sub(1).and_then(|c| paints[r].get(c)).copied();
        paint.filter(|_| colour).unwrap_or("")
    });
    out += "\n";
    out += &faults(card);
    out += &partings(card);
    for (name, install) in &card.missing {
        _ = writeln!(out, "not there: {name}; to get it: {install}");
    }
    out
}

fn heading(probed: &Probed) -> String {
    format!("{}, step {}", probed.name, quantity(probed.step_secs, "s"))
}

fn faults(card: &Card) -> String {
    let mut out = String::new();
    for probed in &card.probes {
        for ((name, _), ran) in card.engines.iter().zip(&probed.runs) {
            if let Some(fault) = &ran.fault {
                _ = writeln!(out, "{}: {name} broke: {fault}", heading(probed));
            }
        }
    }
    out
}

/// Where engines part, a line per test that tells them apart.
fn partings(card: &Card) -> String {
    let mut out = String::new();
    for (i, probed) in card.probes.iter().enumerate() {
        // At coarser steps they part everywhere; that is on the page.
        if i > 0 && card.probes[i - 1].name == probed.name {
            continue;
        }
        for row in &probed.matrix.rows {
            let said = parted(&row.cells, &probed.matrix.recordings);
            for words in said.iter().filter(|words| !words.starts_with("all ")) {
                _ = writeln!(out, "{}, {}: {words}", heading(probed), row.test);
            }
        }
    }
    out
}

/// For programs.
pub fn card_json(card: &Card) -> Value {
    let probes = card.probes.iter().map(|probed| {
        let measures = probed.measures.iter().map(|row| {
            let cells = row.cells.iter().map(|cell| match cell {
                Ok(m) => json!({"expected": m.expected, "measured": m.measured, "error": m.error}),
                Err(why) => json!({"missing": why}),
            });
            json!({"name": row.name, "unit": row.unit, "engines": cells.collect::<Vec<_>>()})
        });
        let runs = probed.runs.iter().map(|ran| {
            json!({
                "real_time_factor": ran.real_time_factor, "fault": ran.fault,
                "realised": ran.realised,
            })
        });
        json!({
            "probe": probed.name, "what": probed.what, "step_secs": probed.step_secs,
            "measures": measures.collect::<Vec<_>>(), "tests": verdicts_json(&probed.matrix),
            "runs": runs.collect::<Vec<_>>(),
        })
    });
    let engines =
        card.engines.iter().map(|(name, version)| json!({"name": name, "version": version}));
    let missing = card.missing.iter().map(|(name, how)| json!({"name": name, "install": how}));
    json!({
        "engines": engines.collect::<Vec<_>>(), "missing": missing.collect::<Vec<_>>(),
        "probes": probes.collect::<Vec<_>>(),
    })
}

/// One page that needs nothing but itself. `build` says who made it.
pub fn card_page(card: &Card, build: &str) -> String {
    let mut out = String::from("<h1>Report card of the physics engines</h1>\n<p>");
    for (i, (name, version)) in card.engines.iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        _ = write!(out, "{comma}<b>{}</b> {}", escaped(name), escaped(version));
    }
    out += "</p>\n";
    out += &contents(card);
    for (i, probed) in card.probes.iter().enumerate() {
        let is_first = i == 0 || card.probes[i - 1].name != probed.name;
        out += &section(card, probed, i, is_first);
    }
    for (name, install) in &card.missing {
        _ = writeln!(
            out,
            "<p class=\"more\">not there: {}; to get it: <code>{}</code></p>",
            escaped(name),
            escaped(install)
        );
    }
    framed("Report card of the physics engines", &out, build)
}

/// Every probe and step with the worst verdict of every engine, as links.
fn contents(card: &Card) -> String {
    let head: String =
        card.engines.iter().map(|(name, _)| format!("<th>{}</th>", escaped(name))).collect();
    let mut out = format!(
        "<div class=\"scroll\"><table>\n<thead><tr><th>probe</th>{head}</tr></thead>\n<tbody>\n"
    );
    for (i, probed) in card.probes.iter().enumerate() {
        _ = write!(out, "<tr><th><a href=\"#p{i}\">{}</a></th>", escaped(&heading(probed)));
        for engine in 0..card.engines.len() {
            let word = worst(probed, engine);
            _ = write!(out, "<td><a class=\"pill {word}\" href=\"#p{i}\">{word}</a></td>");
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}

fn worst(probed: &Probed, engine: usize) -> &'static str {
    if probed.runs.get(engine).is_some_and(|ran| ran.fault.is_some()) {
        return "broke";
    }
    let cells = probed.matrix.rows.iter().filter_map(|row| row.cells.get(engine));
    let rank = |cell: &&Cell| match cell.verdict() {
        None => 4,
        Some(Verdict::Error) => 3,
        Some(Verdict::Red) => 2,
        Some(Verdict::Inconclusive) => 1,
        Some(Verdict::Green) => 0,
    };
    cells.max_by_key(rank).map_or("missing", Cell::word)
}

fn section(card: &Card, probed: &Probed, number: usize, is_first: bool) -> String {
    let mut out = format!(
        "<section id=\"p{number}\">\n<h2>{} <span class=\"on\">{}</span></h2>\n",
        escaped(&heading(probed)),
        escaped(&probed.what)
    );
    let head: String =
        card.engines.iter().map(|(name, _)| format!("<th>{}</th>", escaped(name))).collect();
    _ = writeln!(
        out,
        "<div class=\"scroll\"><table class=\"card\">\n<thead><tr><th></th>{head}</tr></thead>\n<tbody>"
    );
    for row in &probed.measures {
        _ = write!(
            out,
            "<tr><th title=\"{}\">{}</th>",
            escaped(&format!("{}: {}", row.what, row.formula)),
            escaped(&row.name)
        );
        for cell in &row.cells {
            let (text, title, class) = match cell {
                Ok(m) => (
                    quantity(m.error, &row.unit),
                    format!("{} instead of {}", m.measured, m.expected),
                    if m.error <= row.usual { "" } else { "unusual" },
                ),
                Err(why) => ("—".to_string(), why.clone(), ""),
            };
            _ = write!(
                out,
                "<td class=\"{class}\" title=\"{}\">{}</td>",
                escaped(&title),
                escaped(&text)
            );
        }
        out += "</tr>\n";
    }
    for row in &probed.matrix.rows {
        _ = write!(out, "<tr><th>{}</th>", escaped(&row.test));
        for cell in &row.cells {
            let (word, text) = (cell.word(), escaped(&short_verdict(cell)));
            let title = match cell {
                Cell::Judged(judged) => format!("{}: {}", cell_text(cell), judged.judgement.reason),
                Cell::Missing(why) => why.clone(),
            };
            _ = write!(
                out,
                "<td><span class=\"pill {word}\" title=\"{}\">{text}</span></td>",
                escaped(&title)
            );
        }
        out += "</tr>\n";
    }
    out += "<tr><th title=\"simulated seconds per second, recording included\">speed</th>";
    for ran in &probed.runs {
        let text =
            ran.real_time_factor.map_or("broke".to_string(), |f| format!("{} ×", quantity(f, "")));
        _ = write!(out, "<td>{text}</td>");
    }
    out += "</tr>\n</tbody></table></div>\n";
    if is_first {
        out += &measured(probed);
    }
    out += &said(card, probed);
    for row in probed.matrix.rows.iter().filter(|_| is_first) {
        let drawn = overlay(row, &probed.matrix.recordings, 1);
        if !drawn.is_empty() {
            _ = writeln!(out, "<h3>{}</h3>\n{drawn}", escaped(&row.test));
        }
    }
    out + "</section>\n"
}

/// What the measures are.
fn measured(probed: &Probed) -> String {
    let items = probed.measures.iter().map(|row| {
        format!(
            "<li><b>{}</b>: {}; expected <code>{}</code></li>\n",
            escaped(&row.name),
            escaped(&row.what),
            escaped(&row.formula)
        )
    });
    format!("<ul class=\"facts\">\n{}</ul>\n", items.collect::<String>())
}

/// Why runs broke, and what engines realise differently.
fn said(card: &Card, probed: &Probed) -> String {
    let mut items = String::new();
    for ((name, _), ran) in card.engines.iter().zip(&probed.runs) {
        if let Some(fault) = &ran.fault {
            _ = writeln!(
                items,
                "<li><b class=\"error\">{} broke</b>: {}</li>",
                escaped(name),
                escaped(fault)
            );
        }
        for words in &ran.realised {
            _ = writeln!(items, "<li>{}: {}</li>", escaped(name), escaped(words));
        }
    }
    if items.is_empty() {
        return items;
    }
    format!(
        "<details><summary>asked and realised</summary>\n<ul class=\"facts\">\n{items}</ul></details>\n"
    )
}
