//! A comparison as text: a table for people, Markdown, CSV and JSON for the rest.
//!
//! The statistics shown are chosen by name. What is undefined is said: `-` in tables, an empty
//! cell in CSV, `null` in JSON.

use headland_base::SimTime;
use headland_judge::compare::{
    Compared, Counts, Dropped, Held, Intervals, KEY_STATISTICS, KeyCompared, STATISTICS, Stats,
};
use serde_json::{Map, Value, json};

use crate::table::{Align, table};
use crate::units::count;

/// What a table shows where nobody says.
pub const USUAL_STATISTICS: &[&str] = &[
    "n",
    "coverage_a",
    "bias",
    "mae",
    "rmse",
    "max_abs",
    "max_abs_at",
    "r2",
    "lag",
    "rmse_after_lag",
];

/// A comparison with the names of both sides and what became of its limits.
pub struct Comparison<'c> {
    /// What A is called.
    pub name_a: &'c str,
    /// What B is called.
    pub name_b: &'c str,
    /// What was found.
    pub compared: &'c Compared,
    /// What became of the limits.
    pub held: &'c [Held],
    /// Names of the statistics tables show.
    pub statistics: &'c [String],
    /// Whether statistics are also shown with the lag taken out.
    pub shows_after_lag: bool,
    /// How B came to be, where it was made for this: a name and what is to say, each.
    pub made: &'c [(String, String)],
}

/// A number of a table: five digits that matter.
pub(crate) fn shown(value: Option<f64>) -> String {
    let Some(value) = value else { return "-".to_string() };
    if value == 0.0 {
        return "0".to_string();
    }
    let magnitude = value.abs();
    if value.fract() == 0.0 && magnitude < 1e9 {
        return format!("{value:.0}");
    }
    if !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let n_places = match magnitude {
        m if m >= 1000.0 => 1,
        m if m >= 100.0 => 2,
        m if m >= 10.0 => 3,
        m if m >= 1.0 => 4,
        m if m >= 0.1 => 5,
        m if m >= 0.01 => 6,
        _ => 7,
    };
    let text = format!("{value:.n_places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A statistic of a table: of a moment on a clock that counts from long ago, every digit.
pub(crate) fn shown_of(name: &str, value: Option<f64>) -> String {
    match value {
        Some(secs) if name.ends_with("_at") && secs.abs() >= 1e5 => format!("{secs:.3}"),
        _ => shown(value),
    }
}

fn header(statistics: &[String]) -> Vec<(&str, Align)> {
    let mut header = vec![("key", Align::Left), ("unit", Align::Left)];
    header.extend(statistics.iter().map(|name| (name.as_str(), Align::Right)));
    header
}

fn row(key: &KeyCompared, statistics: &[String]) -> Vec<String> {
    let mut row = vec![key.key.clone(), key.unit.to_string()];
    row.extend(statistics.iter().map(|name| shown_of(name, key.statistic(name))));
    row
}

/// Rows of the phases: of a phase alone, and so without coverage and lag.
fn phase_rows(compared: &Compared, statistics: &[String]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for key in &compared.keys {
        for (phase, stats) in &key.phases {
            let mut row = vec![key.key.clone(), phase.clone(), key.unit.to_string()];
            row.extend(
                statistics.iter().map(|name| shown_of(name, of_stats(stats.as_ref(), name))),
            );
            rows.push(row);
        }
    }
    rows
}

/// A statistic of errors alone by its name.
pub(crate) fn of_stats(stats: Option<&Stats>, name: &str) -> Option<f64> {
    let Some(stats) = stats else { return (name == "n").then_some(0.0) };
    let known = STATISTICS.iter().find(|statistic| statistic.name == name);
    match name {
        "max_abs_at" => Some(stats.max_abs.1.secs()),
        "min_at" => Some(stats.min.1.secs()),
        "max_at" => Some(stats.max.1.secs()),
        _ => known.and_then(|statistic| (statistic.of)(stats)),
    }
}

/// Statistics that phases have.
pub(crate) fn of_phases(statistics: &[String]) -> Vec<String> {
    let of_errors =
        |name: &&String| STATISTICS.iter().any(|s| s.name == **name) || name.ends_with("_at");
    statistics.iter().filter(of_errors).cloned().collect()
}

/// The comparison for people.
pub fn comparison(all: &Comparison) -> String {
    let Comparison { compared, statistics, .. } = all;
    let rows: Vec<Vec<String>> = compared.keys.iter().map(|key| row(key, statistics)).collect();
    let mut out = made_lines(all.made);
    out += &table(&header(statistics), &rows);
    let phased = of_phases(statistics);
    let rows = phase_rows(compared, &phased);
    if !rows.is_empty() {
        let mut names = vec![("key", Align::Left), ("phase", Align::Left), ("unit", Align::Left)];
        names.extend(phased.iter().map(|name| (name.as_str(), Align::Right)));
        out += &format!("\n{}", table(&names, &rows));
    }
    let rows = after_lag_rows(compared, &phased);
    if all.shows_after_lag && !rows.is_empty() {
        let mut names = vec![("with the lag taken out", Align::Left), ("lag", Align::Right)];
        names.extend(phased.iter().map(|name| (name.as_str(), Align::Right)));
        out += &format!("\n{}", table(&names, &rows));
    }
    let rows = interval_rows(compared);
    if !rows.is_empty() {
        let mut names = INTERVAL_NAMES.map(|name| (name, Align::Right));
        names[0].1 = Align::Left;
        out += &format!("\n{}", table(&names, &rows));
    }
    for line in remarks(compared) {
        out += &format!("{line}\n");
    }
    for held in all.held {
        out += &format!("{}\n", held_words(held));
    }
    out
}

/// How B came to be, a line each.
fn made_lines(made: &[(String, String)]) -> String {
    let width = made.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut out: String =
        made.iter().map(|(name, what)| format!("{name:<width$}  {what}\n")).collect();
    if !made.is_empty() {
        out.push('\n');
    }
    out
}

pub(crate) fn after_lag_rows(compared: &Compared, statistics: &[String]) -> Vec<Vec<String>> {
    let known = compared.keys.iter().filter_map(|key| Some((key, key.lag.as_ref()?)));
    let row = |(key, lag): (&KeyCompared, &headland_judge::compare::Lag)| {
        let mut row = vec![key.key.clone(), shown(Some(lag.secs))];
        let stats = key.after_lag.as_ref();
        row.extend(statistics.iter().map(|name| shown_of(name, of_stats(stats, name))));
        row
    };
    known.map(row).collect()
}

/// What a table of intervals has above its columns.
pub(crate) const INTERVAL_NAMES: [&str; 8] =
    ["key", "bias from", "to", "mae from", "to", "rmse from", "to", "block"];

/// A row for every key that has intervals.
pub(crate) fn interval_rows(compared: &Compared) -> Vec<Vec<String>> {
    let row = |key: &KeyCompared| {
        let found = key.intervals?;
        let mut row = vec![key.key.clone()];
        row.extend(interval_ends(&found).map(|end| shown(Some(end))));
        row.push(found.n_block.to_string());
        Some(row)
    };
    compared.keys.iter().filter_map(row).collect()
}

fn interval_ends(found: &Intervals) -> [f64; 6] {
    let Intervals { bias, mae, rmse, .. } = found;
    [bias.0, bias.1, mae.0, mae.1, rmse.0, rmse.1]
}

/// One limit in words.
pub fn held_words(held: &Held) -> String {
    let value = shown_of(&held.statistic, held.value);
    match held.is_broken {
        Some(true) => format!("broken: {} ({}: {value})", held.threshold, held.key),
        Some(false) => format!("kept: {} ({}: {value})", held.threshold, held.key),
        None => format!("undefined: {} ({})", held.threshold, held.key),
    }
}

/// What became of samples that are in no pair, in words: each thing once, with its keys.
pub fn remarks(compared: &Compared) -> Vec<String> {
    let mut out: Vec<(String, Vec<&str>)> = Vec::new();
    for key in &compared.keys {
        for words in left_over(&key.counts) {
            match out.iter_mut().find(|(known, _)| *known == words) {
                Some((_, keys)) => keys.push(&key.key),
                None => out.push((words, vec![&key.key])),
            }
        }
        if key.lag.as_ref().is_some_and(|lag| lag.is_at_edge) {
            let words = "the lag is at the edge of what was searched".to_string();
            match out.iter_mut().find(|(known, _)| *known == words) {
                Some((_, keys)) => keys.push(&key.key),
                None => out.push((words, vec![&key.key])),
            }
        }
    }
    let n_all = compared.keys.len();
    let mut lines: Vec<String> = out
        .into_iter()
        .map(|(words, keys)| match keys.len() {
            n if n == n_all && n > 1 => format!("every key: {words}"),
            n if n > 4 => format!("{} and {} more: {words}", keys[..3].join(", "), n - 3),
            _ => format!("{}: {words}", keys.join(", ")),
        })
        .collect();
    lines.extend(some(&compared.only_b, "only in B"));
    let unknown: Vec<String> = compared.unknown.iter().map(|(key, _)| key.clone()).collect();
    lines.extend(some(&unknown, "only in A"));
    lines
}

fn some(keys: &[String], place: &str) -> Option<String> {
    let shown = keys.iter().take(6).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if keys.len() > 6 { ", …" } else { "" };
    let n = count(keys.len() as u64, "key");
    (!keys.is_empty()).then(|| format!("{n} {place}: {shown}{more}"))
}

fn left_over(counts: &Counts) -> Vec<String> {
    let mut out = Vec::new();
    for (n, n_all, side) in
        [(counts.n_unmatched_a, counts.n_a, 'A'), (counts.n_unmatched_b, counts.n_b, 'B')]
    {
        if n > 0 {
            let n_all = count(n_all as u64, "sample");
            out.push(format!("{n} of {n_all} of {side} in no pair"));
        }
    }
    for (dropped, side) in [(counts.dropped_a, 'A'), (counts.dropped_b, 'B')] {
        let Dropped { n_duplicate, n_backward, n_not_finite, n_incomplete, n_undirected } = dropped;
        for (n, why) in [
            (n_duplicate, "at the time of the one before"),
            (n_backward, "earlier than the one before"),
            (n_not_finite, "not finite"),
            (n_incomplete, "some of its components are missing"),
            (n_undirected, "a rotation without a direction"),
        ] {
            if n > 0 {
                let n = count(n as u64, "sample");
                out.push(format!("{n} of {side} left out: {why}"));
            }
        }
    }
    out
}

// --- Markdown and CSV --------------------------------------------------------------------

/// The comparison as Markdown.
pub fn comparison_markdown(all: &Comparison, build: &str) -> String {
    let Comparison { name_a, name_b, compared, held, statistics, .. } = all;
    let mut out = format!("# {} against {}\n\n", mark(name_b), mark(name_a));
    for (name, what) in all.made {
        out += &format!("- {}: {}\n", mark(name), mark(what));
    }
    if !all.made.is_empty() {
        out += "\n";
    }
    let names: Vec<String> = header(statistics).iter().map(|(name, _)| name.to_string()).collect();
    out +=
        &lines(&names, &compared.keys.iter().map(|key| row(key, statistics)).collect::<Vec<_>>());
    let phased = of_phases(statistics);
    let rows = phase_rows(compared, &phased);
    if !rows.is_empty() {
        let mut names = vec!["key".to_string(), "phase".to_string(), "unit".to_string()];
        names.extend(phased);
        out += &format!("\n## Phases\n\n{}", lines(&names, &rows));
    }
    let rows = interval_rows(compared);
    if !rows.is_empty() {
        let names = INTERVAL_NAMES.map(str::to_string);
        out += &format!("\n## Intervals\n\n{}", lines(&names, &rows));
    }
    let remarks = remarks(compared);
    if !(remarks.is_empty() && held.is_empty()) {
        out += "\n";
    }
    for line in remarks.into_iter().chain(held.iter().map(held_words)) {
        out += &format!("- {}\n", mark(&line));
    }
    out + &format!("\ne = B - A; A is the reference. {}\n", mark(build))
}

pub(crate) fn lines(names: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        format!("| {} |\n", cells.iter().map(|cell| mark(cell)).collect::<Vec<_>>().join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(names.len()));
    line(names) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}

/// What would be markup, written out.
pub(crate) fn mark(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '<' | '[' | ']' | '\\' | '#' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Ends of intervals in a CSV, and how long the blocks were.
const INTERVAL_COLUMNS: [&str; 7] =
    ["bias_from", "bias_to", "mae_from", "mae_to", "rmse_from", "rmse_to", "block"];

/// Every statistic as CSV, one row per key, and one per key and phase. Intervals are of the
/// whole key, and empty where nobody asked.
pub fn comparison_csv(compared: &Compared) -> String {
    let of_errors = STATISTICS.iter().map(|statistic| statistic.name);
    let of_keys = KEY_STATISTICS.iter().map(|(name, ..)| *name);
    let names: Vec<&str> = of_errors.chain(of_keys).collect();
    let mut out =
        format!("key,phase,kind,unit,{},{}\n", names.join(","), INTERVAL_COLUMNS.join(","));
    let cell = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:?}"));
    for key in &compared.keys {
        let head = |phase: &str| {
            format!("{},{},{},{}", quoted(&key.key), quoted(phase), key.kind.word(), key.unit)
        };
        let values: Vec<String> = names.iter().map(|name| cell(key.statistic(name))).collect();
        let intervals: Vec<String> = match &key.intervals {
            Some(found) => {
                let ends = interval_ends(found).map(|end| cell(Some(end)));
                ends.into_iter().chain([found.n_block.to_string()]).collect()
            }
            None => vec![String::new(); INTERVAL_COLUMNS.len()],
        };
        out += &format!("{},{},{}\n", head(""), values.join(","), intervals.join(","));
        for (phase, stats) in &key.phases {
            let values: Vec<String> =
                names.iter().map(|name| cell(of_stats(stats.as_ref(), name))).collect();
            let none = ",".repeat(INTERVAL_COLUMNS.len());
            out += &format!("{},{}{none}\n", head(phase), values.join(","));
        }
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_string()
}

// --- JSON --------------------------------------------------------------------------------

/// Everything, for programs.
pub fn comparison_json(all: &Comparison) -> Value {
    let Comparison { name_a, name_b, compared, held, .. } = all;
    let span = |span: Option<(SimTime, SimTime)>| span.map(|(a, b)| [a.nanos(), b.nanos()]);
    let unknown = compared.unknown.iter().map(|(key, near)| json!({"key": key, "nearest": near}));
    let held = held.iter().map(|held| {
        json!({
            "threshold": held.threshold, "key": held.key, "value": held.value,
            "broken": held.is_broken,
        })
    });
    let made: Map<String, Value> =
        all.made.iter().map(|(name, what)| (name.clone(), what.clone().into())).collect();
    let mut out = json!({
        "a": name_a, "b": name_b,
        "span_a_ns": span(compared.span_a), "span_b_ns": span(compared.span_b),
        "keys": compared.keys.iter().map(key_json).collect::<Vec<_>>(),
        "only_a": unknown.collect::<Vec<_>>(), "only_b": compared.only_b,
        "thresholds": held.collect::<Vec<_>>(),
    });
    if let Some(out) = out.as_object_mut().filter(|_| !made.is_empty()) {
        out.insert("made".to_string(), Value::Object(made));
    }
    out
}

fn key_json(key: &KeyCompared) -> Value {
    let counts = &key.counts;
    let dropped = |dropped: Dropped| {
        json!({
            "duplicate": dropped.n_duplicate, "backward": dropped.n_backward,
            "not_finite": dropped.n_not_finite, "incomplete": dropped.n_incomplete,
            "undirected": dropped.n_undirected,
        })
    };
    let statistics: Map<String, Value> =
        KEY_STATISTICS.iter().map(|(name, _, of)| ((*name).to_string(), of(key).into())).collect();
    let phases: Vec<Value> = (key.phases.iter())
        .map(|(name, stats)| json!({"phase": name, "statistics": stats.as_ref().map(stats_json)}))
        .collect();
    let intervals = key.intervals.map(|found| {
        json!({
            "bias": [found.bias.0, found.bias.1], "mae": [found.mae.0, found.mae.1],
            "rmse": [found.rmse.0, found.rmse.1], "block": found.n_block,
        })
    });
    let mut out = json!({
        "key": key.key, "kind": key.kind.word(), "unit": key.unit,
        "samples_a": counts.n_a, "samples_b": counts.n_b,
        "dropped_a": dropped(counts.dropped_a), "dropped_b": dropped(counts.dropped_b),
        "tolerance_s": key.tolerance.map(|tolerance| tolerance.secs()),
        "dt_mean": counts.dt_mean_secs,
        "lag_at_edge": key.lag.as_ref().map(|lag| lag.is_at_edge),
        "statistics": key.stats.as_ref().map(stats_json),
        "after_lag": key.after_lag.as_ref().map(stats_json),
        "intervals": intervals, "phases": phases,
    });
    if let Some(out) = out.as_object_mut() {
        out.extend(statistics);
    }
    out
}

fn stats_json(stats: &Stats) -> Value {
    let values = STATISTICS.iter().map(|one| (one.name.to_string(), (one.of)(stats).into()));
    let mut out: Map<String, Value> = values.collect();
    out.insert("n".to_string(), stats.n.into());
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_five_digits() {
        for (value, wanted) in [
            (0.0, "0"),
            (12.0, "12"),
            (0.063_656_12, "0.063656"),
            (-0.006_331, "-0.006331"),
            (1234.567, "1234.6"),
            (73.3671, "73.367"),
            (1e-9, "1.000e-9"),
            (2.5e12, "2.500e12"),
        ] {
            assert_eq!(shown(Some(value)), wanted);
        }
        assert_eq!(shown(None), "-");
    }
}
