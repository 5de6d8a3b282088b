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

use headland_base::one_line;
use headland_judge::{ClosedForm, Measured, Verdict};
use serde_json::{Value, json};

use crate::json::verdicts_json;
use crate::markup::escaped;
use crate::matrix::{MAGENTA, YELLOW, ansi, cell_text, sureness_text, verdict_word};
use crate::overlay::{Courses, courses, overlay, parted_items};
use crate::page::framed;
use crate::table::{Align, painted};
use crate::units::quantity;
use crate::verdicts::{Cell, Matrix};

/// Engines and how they did.
#[derive(Debug, Default)]
pub struct Card {
    /// Name and version of each engine that ran: the columns.
    pub engines: Vec<(String, String)>,
    /// Those that were left out.
    pub missing: Vec<LeftOut>,
    /// One per probe and step.
    pub probes: Vec<Probed>,
}

/// An engine that takes no part.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why, in a line.
    pub why: String,
    /// The command that installs it.
    pub install: String,
}

impl LeftOut {
    fn to_html(&self) -> String {
        format!(
            "<p class=\"more\">left out: <b>{}</b>: {}; to get it: <code>{}</code></p>\n",
            escaped(&self.name),
            escaped(&self.why),
            escaped(&self.install)
        )
    }
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
    /// What is expected.
    pub form: &'static ClosedForm,
    /// One per engine.
    pub cells: Vec<Result<Measured, String>>,
}

/// How a run went, in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Went {
    /// To its end.
    #[default]
    Whole,
    /// Somebody broke it off.
    Interrupted,
    /// The engine cannot have this world.
    Refused,
    /// The engine crashed, hung, could not start or is not there.
    Broke,
}

impl Went {
    /// What stands in a cell that has nothing else.
    fn word(self) -> &'static str {
        match self {
            Went::Whole => "—",
            Went::Interrupted => "interrupted",
            Went::Refused => "cannot",
            Went::Broke => "broke",
        }
    }

    fn ansi(self) -> &'static str {
        match self {
            Went::Whole => "",
            Went::Interrupted => YELLOW,
            Went::Refused | Went::Broke => MAGENTA,
        }
    }
}

/// How a run went.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Simulated seconds per second, recording included.
    pub real_time_factor: Option<f64>,
    /// In a word.
    pub went: Went,
    /// Why it did not come to its end.
    pub fault: Option<String>,
    /// What the engine realises differently from what was asked.
    pub realised: Vec<String>,
}

/// One line of the table: its name, and per engine a text and a colour.
struct Line {
    name: String,
    cells: Vec<(String, &'static str)>,
}

/// How an engine's run went.
fn went(probed: &Probed, engine: usize) -> Went {
    probed.runs.get(engine).map_or(Went::Whole, |ran| ran.went)
}

fn lines(probed: &Probed) -> Vec<Line> {
    let mut out = Vec::new();
    for row in &probed.measures {
        let cells = row.cells.iter().enumerate().map(|(i, cell)| match cell {
            Ok(measure) => {
                (error_text(measure, row), if row.form.is_usual(measure) { "" } else { YELLOW })
            }
            Err(_) => (went(probed, i).word().to_string(), went(probed, i).ansi()),
        });
        out.push(Line { name: with_expected(row), cells: cells.collect() });
    }
    for row in &probed.matrix.rows {
        let cells = row.cells.iter().enumerate();
        let cells = cells.map(|(i, cell)| (short_verdict(cell, went(probed, i)), ansi(cell)));
        out.push(Line { name: row.test.clone(), cells: cells.collect() });
    }
    let speed = |ran: &Ran| match ran.real_time_factor {
        Some(factor) => (format!("{}×", quantity(factor, "")), ""),
        None => (ran.went.word().to_string(), ran.went.ansi()),
    };
    out.push(Line { name: "speed".to_string(), cells: probed.runs.iter().map(speed).collect() });
    out
}

/// `ball_ratio (0.49)`: a measure, and what it should be where that is not nothing.
fn with_expected(row: &MeasureRow) -> String {
    let expected = row.cells.iter().flatten().map(|measure| measure.expected).next();
    let wanted = expected.filter(|wanted| *wanted != 0.0);
    let wanted = wanted.map_or(String::new(), |w| format!(" ({})", quantity(w, row.form.unit)));
    format!("{}{wanted}", row.form.name)
}

/// How far off, with a mark where that is more than usual.
fn error_text(measure: &Measured, row: &MeasureRow) -> String {
    let mark = if row.form.is_usual(measure) { "" } else { " !" };
    format!("{}{mark}", quantity(measure.error, row.form.unit))
}

/// Shorter than in a matrix: the moment of a red is on the page.
fn short_verdict(cell: &Cell, went: Went) -> String {
    match cell {
        Cell::Judged(judged) => verdict_word(judged).to_string() + &sureness_text(&judged.sureness),
        Cell::Missing(_) => went.word().to_string(),
    }
}

/// One table; names of engines head the columns.
pub fn card(card: &Card, colour: bool) -> String {
    let names = card.engines.iter().map(|(name, _)| (name.as_str(), Align::Left));
    let header: Vec<(&str, Align)> = std::iter::once(("", Align::Left)).chain(names).collect();
    let (mut rows, mut paints) = (Vec::new(), Vec::new());
    for probed in &card.probes {
        rows.push(vec![heading(probed)]);
        paints.push(Vec::new());
        for line in lines(probed) {
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
    for LeftOut { name, why, install } in &card.missing {
        _ = writeln!(out, "left out: {name}: {}; to get it: {install}", one_line(why));
    }
    out
}

fn heading(probed: &Probed) -> String {
    format!("{}, step {}", probed.name, quantity(probed.step_secs, "s"))
}

/// Why runs did not come to their end, each reason of an engine once.
fn faults(card: &Card) -> String {
    /// An engine, how its run went, and why.
    type Reason<'a> = (&'a str, Went, &'a str);
    let mut reasons: Vec<(Reason<'_>, Vec<String>)> = Vec::new();
    for probed in &card.probes {
        for ((name, _), ran) in card.engines.iter().zip(&probed.runs) {
            let Some(fault) = &ran.fault else { continue };
            let reason = (name.as_str(), ran.went, fault.as_str());
            match reasons.iter_mut().find(|(seen, _)| *seen == reason) {
                Some((_, places)) => places.push(heading(probed)),
                None => reasons.push((reason, vec![heading(probed)])),
            }
        }
    }
    let mut out = String::new();
    for ((name, went, fault), places) in reasons {
        let place = match places.as_slice() {
            all if all.len() == card.probes.len() && all.len() > 1 => "every run".to_string(),
            [one] => one.clone(),
            [first, rest @ ..] => format!("{first}, and {} more", rest.len()),
            [] => continue,
        };
        let reason = if went == Went::Interrupted { String::new() } else { format!(": {fault}") };
        let did = match went {
            Went::Whole => "is no evidence",
            Went::Interrupted => "was interrupted",
            Went::Refused | Went::Broke => went.word(),
        };
        _ = writeln!(out, "{place}: {name} {did}{}", one_line(&reason));
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
            if let Courses::Parted(said) = courses(&row.cells, &probed.matrix.recordings) {
                for words in said {
                    _ = writeln!(out, "{}, {}: {words}", heading(probed), row.test);
                }
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
            json!({"name": row.form.name, "unit": row.form.unit, "engines": cells.collect::<Vec<_>>()})
        });
        let runs = probed.runs.iter().map(|ran| {
            json!({
                "real_time_factor": ran.real_time_factor, "fault": ran.fault,
                "went": went_json(ran.went), "realised": ran.realised,
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
    let missing = card.missing.iter().map(|left_out| {
        let LeftOut { name, why, install } = left_out;
        json!({"name": name, "why": why, "install": install})
    });
    json!({
        "engines": engines.collect::<Vec<_>>(), "missing": missing.collect::<Vec<_>>(),
        "probes": probes.collect::<Vec<_>>(),
    })
}

fn went_json(went: Went) -> &'static str {
    if went == Went::Whole { "whole" } else { went.word() }
}

/// One page that needs nothing but itself. `build` says who made it.
pub fn card_page(card: &Card, build: &str) -> String {
    let mut out = String::from("<h1>Report card of the physics engines</h1>\n<p>");
    for (i, (name, version)) in card.engines.iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        _ = write!(out, "{comma}<b>{}</b> {}", escaped(name), escaped(version));
    }
    out += "</p>\n<p class=\"more\">The worst verdict of each engine, and behind it how many numbers \
            are further from their closed form than is usual for a sound engine at a step of 1 ms. \
            Curves and states are drawn for the finest step of each probe; where engines part is \
            said for every step.</p>\n";
    out += &contents(card);
    for (i, probed) in card.probes.iter().enumerate() {
        let is_first = i == 0 || card.probes[i - 1].name != probed.name;
        out += &section(card, probed, i, is_first);
    }
    out += &card.missing.iter().map(LeftOut::to_html).collect::<String>();
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
            _ = write!(
                out,
                "<td><a class=\"pill {word}\" href=\"#p{i}\">{word}</a>{}</td>",
                unusual(probed, engine)
            );
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}

/// ` 2 !`: how many numbers are further off than usual.
fn unusual(probed: &Probed, engine: usize) -> String {
    let is_off = |row: &&MeasureRow| match row.cells.get(engine) {
        Some(Ok(measure)) => !row.form.is_usual(measure),
        _ => false,
    };
    let names: Vec<&str> = probed.measures.iter().filter(is_off).map(|row| row.form.name).collect();
    if names.is_empty() {
        return String::new();
    }
    let title = format!("further off than usual: {}", names.join(", "));
    format!(" <span class=\"unusual\" title=\"{}\">{}&nbsp;!</span>", escaped(&title), names.len())
}

fn worst(probed: &Probed, engine: usize) -> &'static str {
    if went(probed, engine) != Went::Whole {
        return went(probed, engine).word();
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
            escaped(&format!("{}: {}", row.form.what, row.form.formula)),
            escaped(&with_expected(row))
        );
        for (i, cell) in row.cells.iter().enumerate() {
            let (text, title, class) = match cell {
                Ok(m) => (
                    error_text(m, row),
                    format!("{} instead of {}", m.measured, m.expected),
                    if row.form.is_usual(m) { "" } else { "unusual" },
                ),
                Err(why) => (went(probed, i).word().to_string(), why.clone(), "more"),
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
        for (i, cell) in row.cells.iter().enumerate() {
            let (word, sureness, title) = match cell {
                Cell::Judged(judged) => (
                    verdict_word(judged),
                    sureness_text(&judged.sureness),
                    format!("{}: {}", cell_text(cell), judged.judgement.reason),
                ),
                Cell::Missing(why) => (went(probed, i).word(), String::new(), why.clone()),
            };
            _ = write!(
                out,
                "<td class=\"verdict\" title=\"{}\"><span class=\"pill {word}\">{word}</span> \
                 <span class=\"margin\">{}</span></td>",
                escaped(&title),
                escaped(sureness.trim())
            );
        }
        out += "</tr>\n";
    }
    out += "<tr><th title=\"simulated seconds per second, recording included\">speed</th>";
    for ran in &probed.runs {
        let speed = ran.real_time_factor.map(|factor| format!("{} ×", quantity(factor, "")));
        _ = write!(out, "<td>{}</td>", speed.as_deref().unwrap_or(ran.went.word()));
    }
    out += "</tr>\n</tbody></table></div>\n";
    if is_first {
        out += &measured(probed);
    }
    out += &said(card, probed);
    for row in &probed.matrix.rows {
        let drawn = match is_first {
            true => overlay(row, &probed.matrix.recordings, 1),
            false => parted_items(&row.cells, &probed.matrix.recordings),
        };
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
            escaped(row.form.name),
            escaped(row.form.what),
            escaped(row.form.formula)
        )
    });
    format!("<ul class=\"facts\">\n{}</ul>\n", items.collect::<String>())
}

/// Why runs did not come to their end, and what engines realise differently: each sentence
/// once, with the engines it is about.
fn said(card: &Card, probed: &Probed) -> String {
    let (mut faults, mut sentences) = (String::new(), Vec::<(&str, Vec<&str>)>::new());
    for ((name, _), ran) in card.engines.iter().zip(&probed.runs) {
        if let Some(fault) = &ran.fault {
            _ = writeln!(
                faults,
                "<li><b class=\"error\">{} {}</b>: {}</li>",
                escaped(name),
                ran.went.word(),
                escaped(fault)
            );
        }
        for words in &ran.realised {
            match sentences.iter_mut().find(|(seen, _)| seen == words) {
                Some((_, names)) => names.push(name),
                None => sentences.push((words, vec![name])),
            }
        }
    }
    if !faults.is_empty() {
        faults = format!("<ul class=\"facts\">\n{faults}</ul>\n");
    }
    if sentences.is_empty() {
        return faults;
    }
    let item = |(words, names): &(&str, Vec<&str>)| {
        format!("<li><b>{}</b>: {}</li>\n", escaped(&names.join(", ")), escaped(words))
    };
    let items: String = sentences.iter().map(item).collect();
    format!(
        "{faults}<details><summary>asked and realised</summary>\n\
         <ul class=\"facts\">\n{items}</ul></details>\n"
    )
}

#[cfg(test)]
mod tests {
    use headland_judge::CLOSED_FORMS;

    use super::*;

    /// An error that is no number is as far off as can be: marked in the table, in the overview
    /// of the page and in its cell.
    #[test]
    fn an_error_that_is_no_number_is_marked_everywhere() {
        let form = &CLOSED_FORMS[0][0];
        let of = |error: f64| {
            let cells = vec![Ok(Measured { expected: 1.0, measured: 1.0 + error, error })];
            let probed = Probed {
                name: "probe".into(),
                what: "something".into(),
                step_secs: 1e-3,
                measures: vec![MeasureRow { form, cells }],
                matrix: Matrix::default(),
                runs: vec![Ran::default()],
            };
            let engines = vec![("engine".into(), "1".into())];
            let it = Card { engines, missing: Vec::new(), probes: vec![probed] };
            (card(&it, false), card_page(&it, "build"))
        };
        for (error, is_marked) in [(0.0, false), (2.0 * form.usual, true), (f64::NAN, true)] {
            let (text, page) = of(error);
            assert_eq!(text.contains(" !"), is_marked, "{error}: {text}");
            assert_eq!(page.contains("1&nbsp;!"), is_marked, "{error}");
            assert_eq!(page.contains("<td class=\"unusual\""), is_marked, "{error}");
        }
    }
}
