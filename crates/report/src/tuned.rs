//! What tuning found: every number before and after, with how sure it is, and how far off the
//! model was and is. As text, JSON or Markdown; the page is in `tuned_page`.

use headland_base::SimTime;
use serde_json::{Value, json};

use crate::compared::{lines, mark};
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
    /// Half the width of an interval that is wide enough to hold this number while those of all
    /// others hold theirs; nothing where there is but one number, or no interval.
    pub joint_half_width: Option<f64>,
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

/// A key of a recording, measured and simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedCurve {
    /// The recording.
    pub recording: String,
    /// The key.
    pub key: String,
    /// Its unit; empty where nobody knows.
    pub unit: String,
    /// When it was measured.
    pub times: Vec<SimTime>,
    /// What was measured.
    pub measured: Vec<f64>,
    /// By the model as it was given: its values, and how far they are off; nothing where it broke.
    pub before: Option<(Vec<f64>, Vec<f64>)>,
    /// The same by the tuned model.
    pub after: Option<(Vec<f64>, Vec<f64>)>,
    /// So many samples, from the first, were fitted.
    pub n_fitted: usize,
}

/// Where a search began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Began {
    /// At the model's own numbers.
    AsGiven,
    /// At others: its own lie outside of the bounds, or differ where one path names several.
    Elsewhere,
    /// At the best of points all over the ranges.
    LookedAllOver,
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
    /// What the keys did; nothing where nobody draws it.
    pub curves: Vec<TunedCurve>,
    /// Some recordings, or windows, start as they were measured, and intervals heed their noise.
    pub heeds_starts: bool,
    /// Where the search began.
    pub began: Began,
    /// How the search went: after so many simulations the least error so far, as in `rms`.
    pub search: Vec<(usize, f64)>,
    /// Root mean square of all weighted residuals, before and after, each from the start that fits
    /// best where starts are looked for.
    pub rms: (Option<f64>, f64),
    /// Samples that were fitted.
    pub n_residuals: usize,
    /// Simulations that were made in the search.
    pub n_evaluations: usize,
    /// Simulations that looked at its answer.
    pub n_after: usize,
    /// Why the search ended, in words.
    pub ended: String,
    /// Whether it ended at a least point.
    pub is_converged: bool,
    /// Whether it did, and no warning says that the answer is not to be trusted.
    pub is_trusted: bool,
    /// What to be careful with: codes and words.
    pub warnings: Vec<(String, String)>,
    /// How often intervals hold the truth: 0.95.
    pub confidence: f64,
}

impl TuneReport {
    /// What stands above the columns of a table of numbers; where there are several, each has an
    /// interval of its own and one that holds it while those of all others hold theirs.
    fn header(&self, has_joint: bool) -> Vec<(String, Align)> {
        let sure = format!("± {:.0} %", 100.0 * self.confidence);
        let mut header = vec![
            ("number".to_string(), Align::Left),
            ("unit".to_string(), Align::Left),
            ("before".to_string(), Align::Right),
            ("after".to_string(), Align::Right),
        ];
        match has_joint {
            true => header.extend([
                (format!("each {sure}"), Align::Left),
                (format!("all {sure}"), Align::Left),
            ]),
            false => header.push((sure, Align::Left)),
        }
        header.push(("sought in".to_string(), Align::Left));
        header
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.header(self.has_joint()).into_iter().map(|(name, _)| name).collect()
    }

    /// Whether there are intervals that hold all numbers at once.
    pub(crate) fn has_joint(&self) -> bool {
        let mut numbers = self.numbers.iter().chain(&self.derived);
        numbers.any(|number| number.joint_half_width.is_some())
    }

    pub(crate) fn headline(&self) -> String {
        let rms = match self.rms.0 {
            Some(before) => format!("{} before, {} after", short(before), short(self.rms.1)),
            None => format!("{} after", short(self.rms.1)),
        };
        // A start that fits better is no merit of the numbers: both have theirs.
        let start = match (self.rms.0.is_some() && !self.starts.is_empty(), self.is_converged) {
            (false, _) => "",
            (true, true) => ", both from the start that fits best",
            (true, false) => ", before from the start that fits it best",
        };
        // What is held out has no start that was looked for.
        let is_held = |error: &TunedError| error.fitted.is_none() && error.held_out.is_some();
        let held = match self.errors.iter().any(is_held) {
            true => "; tables that are held out start as they were measured",
            false => "",
        };
        format!(
            "{} in {}, and {} more to look at the answer; error {rms}{start} (root mean square \
             over {}, each in standard deviations of its key){held}",
            self.ended,
            count(self.n_evaluations as u64, "simulation"),
            self.n_after,
            count(self.n_residuals as u64, "sample"),
        )
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let has_joint = self.has_joint();
        self.numbers.iter().chain(&self.derived).map(|number| row(number, has_joint)).collect()
    }

    /// Where recordings start, as a table: these numbers hold each for itself.
    pub(crate) fn starts(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let names = self.header(false).into_iter().map(|(name, _)| name).collect();
        (names, self.starts.iter().map(|number| row(number, false)).collect())
    }

    pub(crate) fn error_rows(&self) -> Vec<Vec<String>> {
        let pair = |pair: Option<(f64, f64)>| match pair {
            Some((before, after)) => [short(before), short(after)],
            None => [String::new(), String::new()],
        };
        let row = |error: &TunedError| {
            let mut cells = vec![error.recording.clone(), error.key.clone(), error.unit.clone()];
            // Somebody broke the look at the answer off. What is held out has no fitted error.
            let is_unknown = error.fitted.is_none() && error.held_out.is_none();
            cells.extend(match is_unknown {
                true => ["not known", "not known"].map(str::to_string),
                false => pair(error.fitted),
            });
            if self.has_held_out() {
                cells.extend(pair(error.held_out));
            }
            cells
        };
        self.errors.iter().map(row).collect()
    }

    pub(crate) fn error_header(&self) -> Vec<(&'static str, Align)> {
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

/// Six digits, and no more zeros than needed.
pub(crate) fn short(x: f64) -> String {
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

/// The cells of one number.
pub(crate) fn row(number: &TunedRow, has_joint: bool) -> Vec<String> {
    let interval = |half: Option<f64>| {
        half.map_or("unknown".to_string(), |half| format!("± {}", short_error(half)))
    };
    let mut cells = vec![
        number.name.clone(),
        number.unit.clone(),
        match number.before[..] {
            [] => "not said".to_string(),
            [one] => short(one),
            [least, .., most] => format!("{}..{}", short(least), short(most)),
        },
        short(number.value),
        interval(number.half_width),
    ];
    if has_joint {
        cells.push(interval(number.joint_half_width));
    }
    let sought = number.bounds.map(|(a, b)| format!("{}..{}", short(a), short(b)));
    cells.push(sought.unwrap_or_default());
    cells
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
    let header = report.header(report.has_joint());
    let header: Vec<(&str, Align)> = header.iter().map(|(name, a)| (name.as_str(), *a)).collect();
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
            "joint_half_width": number.joint_half_width,
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
    let search = report.search.iter().map(|(n, rms)| json!({"simulations": n, "rms": rms}));
    let search: Vec<Value> = search.collect();
    let made: serde_json::Map<String, Value> =
        report.made.iter().map(|(name, words)| (name.clone(), json!(words))).collect();
    json!({
        "model": report.model, "made": made, "parameters": list(&report.numbers),
        "derived": list(&report.derived), "starts": list(&report.starts),
        "errors": report.errors.iter().map(error).collect::<Vec<_>>(),
        "rms": {"before": report.rms.0, "after": report.rms.1},
        "search": search,
        "n_samples": report.n_residuals, "n_simulations": report.n_evaluations,
        "n_simulations_after": report.n_after,
        "ended": report.ended, "converged": report.is_converged,
        "trusted": report.is_trusted,
        "confidence": report.confidence, "warnings": warnings,
    })
}

/// What is worth knowing to read the tables.
pub(crate) fn explained(report: &TuneReport) -> String {
    let percent = 100.0 * report.confidence;
    let joint = match report.has_joint() {
        true => format!(
            " The intervals under \"all\" are wider, so that in about {percent:.0} of 100 \
             experiments or more every one of them holds its value at once, whether or not the \
             values hang together (Šidák, 1967)."
        ),
        false => String::new(),
    };
    let noise = match report.heeds_starts {
        true => {
            " What was measured is where simulations start, and its noise is in all that follows: \
             how far more such noise would move the value widens its interval as well."
        }
        false => "",
    };
    let start = match report.starts.is_empty() {
        true => "",
        false => {
            " Where recordings start is found with the numbers; before is the model as it was \
             given, from the start that fits it best, so that what is gained between before and \
             after is gained by the numbers alone."
        }
    };
    format!(
        "An interval of {percent:.0} % holds the true value in about {percent:.0} of 100 such \
         experiments, if the model is right but for these numbers.{joint} It heeds that errors of \
         neighbouring samples hang together, and is widened by how far ever shorter steps would \
         move the value, as far as a run with half the step tells.{noise} A residual is the error of a \
         sample divided by the standard deviation of what was measured of its key, so that all \
         keys weigh alike.{start}"
    )
}

/// As Markdown.
pub fn tuned_markdown(report: &TuneReport, build: &str) -> String {
    let mut out = format!("# {} tuned\n\n", mark(&report.model));
    for (name, words) in &report.made {
        out += &format!("- {}: {}\n", mark(name), mark(words));
    }
    out += &format!("\n{}\n\n", mark(&report.headline()));
    out += &lines(&report.names(), &report.rows());
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
        let (names, rows) = report.starts();
        out += &format!("\n## Where recordings start\n\n{}", lines(&names, &rows));
    }
    out + &format!("\n{}\n\n{}\n", mark(&explained(report)), mark(build))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn report() -> TuneReport {
        let number = |name: &str, half_width| TunedRow {
            name: name.to_string(),
            unit: "kg".to_string(),
            before: vec![1.0],
            value: 1.234_567_89,
            half_width,
            joint_half_width: half_width.map(|half| 1.5 * half),
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
            curves: vec![curve()],
            heeds_starts: false,
            began: Began::AsGiven,
            search: vec![(1, 0.5), (8, 0.06), (12, 0.05)],
            rms: (Some(0.5), 0.05),
            n_residuals: 80,
            n_evaluations: 12,
            n_after: 5,
            ended: "converged: the error no longer changes".to_string(),
            is_converged: true,
            is_trusted: true,
            warnings: vec![("at-bound".to_string(), "`x` stands at its <bound>".to_string())],
            confidence: 0.95,
        }
    }

    fn curve() -> TunedCurve {
        let n = 10;
        TunedCurve {
            recording: "a.csv".to_string(),
            key: "elbow/position".to_string(),
            unit: "rad".to_string(),
            times: (0..n).map(|i| SimTime::from_nanos(i * 100_000_000)).collect(),
            measured: (0..n).map(|i| i as f64).collect(),
            before: Some(((0..n).map(|i| 2.0 * i as f64).collect(), vec![1.0; n as usize])),
            after: Some(((0..n).map(|i| i as f64 + 0.01).collect(), vec![0.01; n as usize])),
            n_fitted: 8,
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
    fn every_form_has_every_number() {
        let report = report();
        let text = tuned(&report);
        assert!(text.contains("1.23457") && text.contains("± 0.012") && text.contains("unknown"));
        assert!(text.contains("held out before"), "{text}");
        let markdown = tuned_markdown(&report, "build");
        assert!(markdown.contains("a\\|b") && markdown.contains("## Errors"), "{markdown}");
        let json = tuned_json(&report);
        assert_eq!(json["parameters"][0]["half_width"], 0.012_34);
        assert_eq!(json["parameters"][1]["half_width"], Value::Null);
        assert_eq!(json["search"][1]["simulations"], 8);
        assert_eq!(json["errors"][0]["rmse_held_out"]["after"], 0.02);
    }

    /// Somebody ended it while the answer was looked at: no cell is left empty for that.
    #[test]
    fn errors_that_nobody_looked_at_are_not_known() {
        let mut report = report();
        let error = &mut report.errors[0];
        (error.fitted, error.held_out) = (None, None);
        let cells = &report.error_rows()[0];
        assert_eq!(cells[3..5], ["not known", "not known"], "{cells:?}");
    }

    /// One number has one interval; several have another that holds them together.
    #[test]
    fn intervals_that_hold_all_at_once_are_told_where_there_are_several_numbers() {
        let report = report();
        let text = tuned(&report);
        assert!(text.contains("each ± 95 %") && text.contains("all ± 95 %"), "{text}");
        assert!(text.contains("± 0.019"), "{text}");
        assert_eq!(tuned_json(&report)["parameters"][0]["joint_half_width"], 1.5 * 0.012_34);
        assert!(tuned_markdown(&report, "build").contains("every one of them"));
        let mut one = report;
        one.numbers.truncate(1);
        one.numbers[0].joint_half_width = None;
        let text = tuned(&one);
        assert!(!text.contains("all ±") && text.contains("  ± 95 %"), "{text}");
        assert!(!tuned_markdown(&one, "build").contains("every one of them"));
    }
}
