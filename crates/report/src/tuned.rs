//! What tuning found: every number before and after, with how sure it is, and how far off the
//! model was and is. As text, JSON, Markdown, or one page that needs nothing but itself.

use serde_json::{Value, json};

use crate::compared::{lines, mark};
use crate::markup::escaped;
use crate::page::framed;
use crate::table::{Align, table};
use crate::units::count;

/// One number of the model, or of where a recording starts.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedRow {
    /// Its path.
    pub name: String,
    /// What it is measured in.
    pub unit: String,
    /// What it was; nothing where nobody had said, several where it stands for several numbers.
    pub before: Vec<f64>,
    /// What it is.
    pub value: f64,
    /// Half the width of its interval; nothing where the data does not bound it.
    pub half_width: Option<f64>,
    /// How far it would go if steps became ever shorter, which its interval heeds; nothing where
    /// nobody could tell.
    pub step_shift: Option<f64>,
    /// Between which values it was sought; nothing for one that follows from others.
    pub bounds: Option<(f64, f64)>,
}

/// How far a key of a recording is off: root mean square errors.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedError {
    /// The recording.
    pub recording: String,
    /// The key.
    pub key: String,
    /// Its unit; empty where nobody knows.
    pub unit: String,
    /// What its residuals were divided by.
    pub scale: f64,
    /// Over what was fitted, before and after.
    pub fitted: Option<(f64, f64)>,
    /// Over what was held out, before and after.
    pub held_out: Option<(f64, f64)>,
    /// Samples fitted and held out.
    pub n_samples: (usize, usize),
}

/// All of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneReport {
    /// The model that was tuned.
    pub model: String,
    /// What was done, as name and words: engine, step, method.
    pub made: Vec<(String, String)>,
    /// The numbers that were sought.
    pub numbers: Vec<TunedRow>,
    /// Numbers that follow from them.
    pub derived: Vec<TunedRow>,
    /// Where recordings were found to start.
    pub starts: Vec<TunedRow>,
    /// Every key of every recording.
    pub errors: Vec<TunedError>,
    /// Root mean square of all weighted residuals, before and after.
    pub rms: (Option<f64>, f64),
    /// Samples that were fitted.
    pub n_residuals: usize,
    /// Simulations that were made.
    pub n_evaluations: usize,
    /// Why the search ended, in words.
    pub ended: String,
    /// Whether it ended at a least point.
    pub is_converged: bool,
    /// What to be careful with: codes and words.
    pub warnings: Vec<(String, String)>,
    /// How often intervals hold the truth: 0.95.
    pub confidence: f64,
}

impl TuneReport {
    fn interval_words(&self) -> String {
        format!("± {:.0} %", 100.0 * self.confidence)
    }

    fn headline(&self) -> String {
        let rms = match self.rms.0 {
            Some(before) => format!("{} before, {} after", short(before), short(self.rms.1)),
            None => format!("{} after", short(self.rms.1)),
        };
        format!(
            "{} in {}; error {rms} (root mean square over {}, each in standard deviations of its key)",
            self.ended,
            count(self.n_evaluations as u64, "simulation"),
            count(self.n_residuals as u64, "sample"),
        )
    }

    fn rows(&self) -> Vec<Vec<String>> {
        self.numbers.iter().chain(&self.derived).map(row).collect()
    }

    fn error_rows(&self) -> Vec<Vec<String>> {
        let pair = |pair: Option<(f64, f64)>| match pair {
            Some((before, after)) => [short(before), short(after)],
            None => [String::new(), String::new()],
        };
        let row = |error: &TunedError| {
            let mut cells = vec![error.recording.clone(), error.key.clone(), error.unit.clone()];
            cells.extend(pair(error.fitted));
            if self.has_held_out() {
                cells.extend(pair(error.held_out));
            }
            cells
        };
        self.errors.iter().map(row).collect()
    }

    fn error_header(&self) -> Vec<(&'static str, Align)> {
        let mut header = vec![
            ("recording", Align::Left),
            ("key", Align::Left),
            ("unit", Align::Left),
            ("rmse before", Align::Right),
            ("after", Align::Right),
        ];
        if self.has_held_out() {
            header.extend([("held out before", Align::Right), ("after", Align::Right)]);
        }
        header
    }

    fn has_held_out(&self) -> bool {
        self.errors.iter().any(|error| error.held_out.is_some())
    }
}

const HEADER: [&str; 6] = ["number", "unit", "before", "after", "interval", "sought in"];

/// Six digits, and no more zeros than needed.
fn short(x: f64) -> String {
    if x == 0.0 {
        return "0".to_string();
    }
    let size = x.abs();
    if !(1e-4..1e6).contains(&size) {
        return format!("{x:.4e}");
    }
    let places = [1e5, 1e4, 1e3, 1e2, 1e1, 1.0, 0.1, 1e-2, 1e-3]
        .iter()
        .position(|step| size >= *step)
        .unwrap_or(9);
    let text = format!("{x:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

fn row(number: &TunedRow) -> Vec<String> {
    vec![
        number.name.clone(),
        number.unit.clone(),
        match number.before[..] {
            [] => "not said".to_string(),
            [one] => short(one),
            [least, .., most] => format!("{}..{}", short(least), short(most)),
        },
        short(number.value),
        number.half_width.map_or("unknown".to_string(), |half| format!("± {}", short_error(half))),
        number.bounds.map_or(String::new(), |(a, b)| format!("{}..{}", short(a), short(b))),
    ]
}

/// An uncertainty has two digits.
fn short_error(x: f64) -> String {
    let text = format!("{x:.1e}");
    match text.parse::<f64>() {
        Ok(x) if x == 0.0 || (1e-4..1e6).contains(&x) => short(x),
        _ => text,
    }
}

/// As text for people.
pub fn tuned(report: &TuneReport) -> String {
    let mut out = format!("{}\n", report.headline());
    let [number, unit, before, after, _, sought] = HEADER;
    let interval = report.interval_words();
    let header = [
        (number, Align::Left),
        (unit, Align::Left),
        (before, Align::Right),
        (after, Align::Right),
        (interval.as_str(), Align::Left),
        (sought, Align::Left),
    ];
    out += &format!("\n{}", table(&header, &report.rows()));
    out += &format!("\n{}", table(&report.error_header(), &report.error_rows()));
    out
}

/// For programs.
pub fn tuned_json(report: &TuneReport) -> Value {
    let number = |number: &TunedRow| {
        let before = match number.before[..] {
            [] => Value::Null,
            [one] => json!(one),
            _ => json!(number.before),
        };
        json!({
            "path": number.name, "unit": number.unit, "before": before,
            "value": number.value, "half_width": number.half_width,
            "step_shift": number.step_shift,
            "lower": number.bounds.map(|bounds| bounds.0),
            "upper": number.bounds.map(|bounds| bounds.1),
        })
    };
    let pair = |pair: Option<(f64, f64)>| {
        pair.map(|(before, after)| json!({"before": before, "after": after}))
    };
    let error = |error: &TunedError| {
        json!({
            "recording": error.recording, "key": error.key, "unit": error.unit,
            "scale": error.scale, "rmse": pair(error.fitted),
            "rmse_held_out": pair(error.held_out),
            "n_fitted": error.n_samples.0, "n_held_out": error.n_samples.1,
        })
    };
    let list = |rows: &[TunedRow]| rows.iter().map(number).collect::<Vec<_>>();
    let warnings: Vec<Value> = report
        .warnings
        .iter()
        .map(|(code, words)| json!({"code": code, "message": words}))
        .collect();
    let made: serde_json::Map<String, Value> =
        report.made.iter().map(|(name, words)| (name.clone(), json!(words))).collect();
    json!({
        "model": report.model, "made": made, "parameters": list(&report.numbers),
        "derived": list(&report.derived), "starts": list(&report.starts),
        "errors": report.errors.iter().map(error).collect::<Vec<_>>(),
        "rms": {"before": report.rms.0, "after": report.rms.1},
        "n_samples": report.n_residuals, "n_simulations": report.n_evaluations,
        "ended": report.ended, "converged": report.is_converged,
        "confidence": report.confidence, "warnings": warnings,
    })
}

/// What is worth knowing to read the tables.
fn explained(report: &TuneReport) -> String {
    format!(
        "An interval of {:.0} % holds the true value in {:.0} of 100 such experiments, if the model \
         is right but for these numbers. It heeds that errors of neighbouring samples hang \
         together, and is widened by how far ever shorter steps would move the value, as far as a \
         run with half the step tells. A residual is the error of a sample divided by the \
         standard deviation of what was measured of its key, so that all keys weigh alike.",
        100.0 * report.confidence,
        100.0 * report.confidence
    )
}

/// As Markdown.
pub fn tuned_markdown(report: &TuneReport, build: &str) -> String {
    let mut out = format!("# {} tuned\n\n", mark(&report.model));
    for (name, words) in &report.made {
        out += &format!("- {}: {}\n", mark(name), mark(words));
    }
    out += &format!("\n{}\n\n", mark(&report.headline()));
    let mut header: Vec<String> = HEADER.iter().map(ToString::to_string).collect();
    header[4] = report.interval_words();
    out += &lines(&header, &report.rows());
    if !report.warnings.is_empty() {
        out += "\n";
    }
    for (_, words) in &report.warnings {
        out += &format!("- {}\n", mark(words));
    }
    let header: Vec<String> =
        report.error_header().iter().map(|(name, _)| (*name).to_string()).collect();
    out += &format!("\n## Errors\n\n{}", lines(&header, &report.error_rows()));
    if !report.starts.is_empty() {
        let rows: Vec<Vec<String>> = report.starts.iter().map(row).collect();
        let mut names: Vec<String> = HEADER.iter().map(ToString::to_string).collect();
        names[4] = report.interval_words();
        out += &format!("\n## Where recordings start\n\n{}", lines(&names, &rows));
    }
    out + &format!("\n{}\n\n{}\n", mark(&explained(report)), mark(build))
}

/// As one page.
pub fn tuned_page(report: &TuneReport, build: &str) -> String {
    let title = format!("{} tuned", report.model);
    let pill = match report.is_converged {
        true => "<span class=\"pill green\">converged</span>",
        false => "<span class=\"pill red\">not converged</span>",
    };
    let mut out = format!("<h1>{} {pill}</h1>\n", escaped(&title));
    out += &format!("<p>{}</p>\n<ul class=\"facts\">\n", escaped(&report.headline()));
    for (name, words) in &report.made {
        out += &format!("<li>{}: {}</li>\n", escaped(name), escaped(words));
    }
    for (_, words) in &report.warnings {
        out += &format!("<li><b>careful:</b> {}</li>\n", escaped(words));
    }
    out += "</ul>\n";
    let mut header: Vec<String> = HEADER.iter().map(ToString::to_string).collect();
    header[4] = report.interval_words();
    header.push("where in its range".to_string());
    let rows = report.numbers.iter().chain(&report.derived).map(|number| {
        let cells = row(number).iter().map(|cell| escaped(cell)).collect::<Vec<_>>();
        (cells, drawn(number))
    });
    let rows: Vec<Vec<String>> = rows
        .map(|(mut cells, drawing)| {
            cells.push(drawing);
            cells
        })
        .collect();
    out += &html_table(&header, &rows);
    out += "<h2>Errors</h2>\n";
    let header: Vec<String> =
        report.error_header().iter().map(|(name, _)| (*name).to_string()).collect();
    let plain = |rows: Vec<Vec<String>>| -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| escaped(cell)).collect()).collect()
    };
    out += &html_table(&header, &plain(report.error_rows()));
    if !report.starts.is_empty() {
        out += "<h2>Where recordings start</h2>\n";
        let mut names: Vec<String> = HEADER.iter().map(ToString::to_string).collect();
        names[4] = report.interval_words();
        out += &html_table(&names, &plain(report.starts.iter().map(row).collect()));
    }
    out += &format!("<p>{}</p>\n", escaped(&explained(report)));
    framed(&title, &out, build)
}

fn html_table(header: &[String], rows: &[Vec<String>]) -> String {
    let mut out = "<div class=\"scroll\"><table class=\"tuned\">\n<thead><tr>".to_string();
    for name in header {
        out += &format!("<th>{}</th>", escaped(name));
    }
    out += "</tr></thead>\n";
    for row in rows {
        out += "<tr>";
        for cell in row {
            out += &format!("<td>{cell}</td>");
        }
        out += "</tr>\n";
    }
    out + "</table></div>\n"
}

/// The range, the interval in it, where the number was and where it is.
fn drawn(number: &TunedRow) -> String {
    let Some((lower, upper)) = number.bounds else { return String::new() };
    let place = |x: f64| 4.0 + 192.0 * ((x - lower) / (upper - lower)).clamp(0.0, 1.0);
    let mut out = "<svg class=\"range\" viewBox=\"0 0 200 16\">\
         <line x1=\"4\" x2=\"196\" y1=\"8\" y2=\"8\" stroke=\"#9aa2ae\"/>"
        .to_string();
    if let Some(half) = number.half_width {
        let (from, to) = (place(number.value - half), place(number.value + half));
        out += &format!(
            "<rect x=\"{from:.1}\" y=\"4\" width=\"{:.1}\" height=\"8\" fill=\"#b9cfe6\"/>",
            (to - from).max(1.0)
        );
    }
    for before in number.before.iter().filter(|before| (lower..=upper).contains(before)) {
        let x = place(*before);
        out +=
            &format!("<circle cx=\"{x:.1}\" cy=\"8\" r=\"3\" fill=\"none\" stroke=\"#5c636e\"/>");
    }
    out + &format!(
        "<circle cx=\"{:.1}\" cy=\"8\" r=\"3\" fill=\"#1f5fa8\"/></svg>",
        place(number.value)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> TuneReport {
        let number = |name: &str, half_width| TunedRow {
            name: name.to_string(),
            unit: "kg".to_string(),
            before: vec![1.0],
            value: 1.234_567_89,
            half_width,
            step_shift: None,
            bounds: Some((0.5, 2.0)),
        };
        TuneReport {
            model: "arm<1>.sdf".to_string(),
            made: vec![("engine".to_string(), "native".to_string())],
            numbers: vec![number("link/a|b/inertial/mass", Some(0.012_34)), number("x", None)],
            derived: Vec::new(),
            starts: vec![TunedRow {
                bounds: None,
                before: Vec::new(),
                ..number("start", Some(1e-9))
            }],
            errors: vec![TunedError {
                recording: "a.csv".to_string(),
                key: "elbow/position".to_string(),
                unit: "rad".to_string(),
                scale: 0.4,
                fitted: Some((0.1, 0.01)),
                held_out: Some((0.2, 0.02)),
                n_samples: (80, 20),
            }],
            rms: (Some(0.5), 0.05),
            n_residuals: 80,
            n_evaluations: 12,
            ended: "converged: the error no longer changes".to_string(),
            is_converged: true,
            warnings: vec![("at-bound".to_string(), "`x` stands at its <bound>".to_string())],
            confidence: 0.95,
        }
    }

    #[test]
    fn numbers_are_short_and_uncertainties_shorter() {
        for (x, wanted) in [
            (1.234_567_89, "1.23457"),
            (0.012_345_678, "0.0123457"),
            (123_456.7, "123457"),
            (2.0, "2"),
            (100.0, "100"),
            (1e-9, "1.0000e-9"),
            (-0.5, "-0.5"),
            (0.0, "0"),
        ] {
            assert_eq!(short(x), wanted);
        }
        assert_eq!(short_error(0.012_34), "0.012");
        assert_eq!(short_error(9.96), "10");
        assert_eq!(short_error(6.41e-6), "6.4e-6");
    }

    #[test]
    fn every_form_has_every_number_and_no_markup_of_others() {
        let report = report();
        let text = tuned(&report);
        assert!(text.contains("1.23457") && text.contains("± 0.012") && text.contains("unknown"));
        assert!(text.contains("held out before"), "{text}");
        let page = tuned_page(&report, "build");
        assert!(page.contains("arm&lt;1&gt;.sdf") && page.contains("&lt;bound&gt;"));
        assert!(!page.contains("<bound>"));
        let markdown = tuned_markdown(&report, "build");
        assert!(markdown.contains("a\\|b") && markdown.contains("## Errors"), "{markdown}");
        let json = tuned_json(&report);
        assert_eq!(json["parameters"][0]["half_width"], 0.012_34);
        assert_eq!(json["parameters"][1]["half_width"], Value::Null);
        assert_eq!(json["errors"][0]["rmse_held_out"]["after"], 0.02);
    }
}
