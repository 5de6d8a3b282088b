//! Figures while rows come: a line now and then, and a table at the end.

use std::io::IsTerminal as _;

use headland_base::SimTime;
use headland_judge::compare::Running;
use headland_report::{Align, count};
use serde_json::{Map, Value, json};

use crate::context::{Context, to_stderr};
use crate::progress::Progress;

/// How often figures are shown \[s\].
const SHOW_SECS: f64 = 1.0;
/// Keys of a line; more do not fit.
const MOST_IN_A_LINE: usize = 4;

/// Something that was not compared, and how often.
pub struct Loss {
    /// For programs.
    pub name: &'static str,
    /// How many.
    pub n: u64,
    /// Of what: `row`.
    pub what: &'static str,
    /// In words.
    pub why: &'static str,
}

/// How it stands.
pub struct Standing<'s> {
    /// Of the latest row.
    pub time: Option<SimTime>,
    /// Rows so far.
    pub n_rows: u64,
    /// What is compared.
    pub keys: Vec<(&'s str, &'s Running)>,
    /// What is not.
    pub losses: Vec<Loss>,
}

/// Shows figures now and then: a line that is written over on a terminal, else one a second.
pub struct Figures<'c> {
    context: &'c Context,
    clock: Progress,
    shown_at: f64,
    is_terminal: bool,
}

impl<'c> Figures<'c> {
    /// Nothing shown yet.
    pub fn new(context: &'c Context) -> Figures<'c> {
        let is_terminal = std::io::stderr().is_terminal() && !context.json();
        Figures { context, clock: Progress::new(false, None), shown_at: 0.0, is_terminal }
    }

    /// Shows them where it is time.
    pub fn show<'s>(&mut self, standing: impl FnOnce() -> Standing<'s>) {
        let now = self.clock.secs();
        if now - self.shown_at < SHOW_SECS {
            return;
        }
        let standing = standing();
        if standing.n_rows == 0 {
            return;
        }
        self.shown_at = now;
        match (self.context.json(), self.is_terminal) {
            (true, _) => self.context.print(&format!("{}\n", as_json(&standing))),
            (false, true) => to_stderr(&format!("\r\u{1b}[K{}", line(&standing))),
            (false, false) => self.context.say(&line(&standing)),
        }
    }

    /// Shows the last of them.
    pub fn finish(&self, standing: &Standing<'_>) {
        if self.is_terminal {
            to_stderr("\r\u{1b}[K");
        }
        self.context.print(&match self.context.json() {
            true => format!("{}\n", as_json(standing)),
            false => table(standing),
        });
    }
}

fn line(standing: &Standing<'_>) -> String {
    let time = standing.time.unwrap_or(SimTime::ZERO);
    let mut out = format!("{time}: {}", count(standing.n_rows, "row"));
    for (key, running) in standing.keys.iter().take(MOST_IN_A_LINE) {
        if let Some(rmse) = running.rmse() {
            out += &format!(", {key} rmse {rmse:.4}");
        }
    }
    for loss in standing.losses.iter().filter(|loss| loss.name == "lost" && loss.n > 0) {
        out += &format!(", {} lost", loss.n);
    }
    out
}

fn table(standing: &Standing<'_>) -> String {
    let names = ["n", "bias", "mae", "rmse", "max_abs", "max_abs_at"];
    let mut head = vec![("key", Align::Left)];
    head.extend(names.map(|name| (name, Align::Right)));
    let row = |(key, running): &(&str, &Running)| {
        let (most, at) = running.max_abs.unwrap_or_default();
        let numbers = [running.bias, running.mae, running.rmse().unwrap_or_default(), most];
        let cell = |value: f64| if running.n > 0 { format!("{value:.6}") } else { "-".into() };
        let mut row = vec![key.to_string(), running.n.to_string()];
        row.extend(numbers.map(cell));
        row.push(if running.n > 0 { at.to_string() } else { "-".into() });
        row
    };
    let rows: Vec<Vec<String>> = standing.keys.iter().map(row).collect();
    let lost = standing.losses.iter().filter(|loss| loss.n > 0);
    let lost = lost.map(|loss| format!("{} {}\n", count(loss.n, loss.what), loss.why));
    headland_report::table(&head, &rows) + &lost.collect::<String>()
}

fn as_json(standing: &Standing<'_>) -> Value {
    let keys = standing.keys.iter().map(|(key, running)| {
        json!({
            "key": key, "n": running.n, "bias": running.bias, "mae": running.mae,
            "rmse": running.rmse(), "max_abs": running.max_abs.map(|(most, _)| most),
            "max_abs_at": running.max_abs.map(|(_, at)| at.secs()), "last": running.last,
        })
    });
    let mut out = Map::new();
    out.insert("time".to_string(), standing.time.map(SimTime::secs).into());
    out.insert("rows".to_string(), standing.n_rows.into());
    for loss in &standing.losses {
        out.insert(loss.name.to_string(), loss.n.into());
    }
    out.insert("keys".to_string(), keys.collect::<Vec<_>>().into());
    Value::Object(out)
}
