//! A comparison as drawings: per key both sides over one another, the error below, how errors
//! are spread, and the correlation at every lag; and all of it as one page that needs nothing
//! but itself.
//!
//! However long a recording is, a drawing has a few points per pixel.

use std::fmt::Write as _;

use headland_base::SimTime;
use headland_judge::Column;
use headland_judge::compare::{Drawn, KEY_STATISTICS, KeyCompared, KeyKind, STATISTICS};

use crate::compared::{
    Comparison, INTERVAL_NAMES, after_lag_rows, held_words, interval_rows, of_phases, of_stats,
    remarks, shown, shown_of,
};
use crate::markup::escaped;
use crate::page::framed;
use crate::plot::{Axis, Frame, LEFT, RIGHT, path, span, ticks};

const OVERLAY_HEIGHT: f64 = 150.0;
const STRIP_HEIGHT: f64 = 84.0;
const SMALL_HEIGHT: f64 = 130.0;
/// Where the two small drawings beside one another meet.
const MIDDLE: f64 = (LEFT + RIGHT) / 2.0;
const N_BINS: usize = 41;
/// Keys beyond this many are in the table and not drawn.
const MOST_DRAWN: usize = 60;

/// What the colours are where there is no page around a drawing.
const ALONE: &str = "<style>\
    svg{background:#fff;font-family:system-ui,sans-serif}text{font-size:11px;fill:#5c636e}\
    .title{fill:#22252a}.scale,.name{text-anchor:end}.time{text-anchor:middle}\
    .time.end{text-anchor:end}.tick{stroke:#5c636e}.frame{fill:none;stroke:#d9d7d0}\
    .curve{fill:none;stroke:#2a6099;stroke-width:1.3;stroke-linejoin:round}\
    .l0{stroke:#1f5fa8}.l1{stroke:#c2551a}.l4{stroke:#b0214f}.zero{stroke:#9aa2ae;\
    stroke-dasharray:3 3}.bin{fill:#b9cfe6}.best{stroke:#b0214f;stroke-dasharray:3 3}\
    .phase{fill:#f3cfa5;opacity:.35}</style>";

/// The drawings of one key as an SVG file; `None` where nothing was kept to draw.
pub fn comparison_svg(key: &KeyCompared, names: (&str, &str)) -> Option<String> {
    let (inside, height) = drawing(key, names)?;
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 {height}\" width=\"960\" \
         height=\"{height}\">{ALONE}{inside}</svg>\n"
    ))
}

/// All of it as one page. `build` says who made it.
pub fn comparison_page(all: &Comparison, build: &str) -> String {
    let title = format!("{} against {}", all.name_b, all.name_a);
    let n_broken = all.held.iter().filter(|held| held.is_broken == Some(true)).count();
    let pill = match (all.held.is_empty(), n_broken) {
        (true, _) => String::new(),
        (false, 0) => " <span class=\"pill green\">limits kept</span>".to_string(),
        (false, n) => format!(" <span class=\"pill red\">{n} broken</span>"),
    };
    let mut out = format!("<h1>{}{pill}</h1>\n", escaped(&title));
    out += &said(all);
    out += &overview(all);
    let drawn = all.compared.keys.iter().filter(|key| is_worth_drawing(key));
    for (i, key) in drawn.clone().take(MOST_DRAWN).enumerate() {
        out += &section(key, (all.name_a, all.name_b), i);
    }
    let n_more = drawn.count().saturating_sub(MOST_DRAWN);
    if n_more > 0 {
        _ = writeln!(out, "<p class=\"more\">and {n_more} more keys, not drawn</p>");
    }
    framed(&title, &out, build)
}

/// Whoever looks for differences has no use for a flat line.
fn is_worth_drawing(key: &KeyCompared) -> bool {
    key.drawn.is_some() && key.stats.as_ref().is_some_and(|stats| stats.max_abs.0 > 0.0)
}

/// How many keys differ, as a sentence.
fn glance(keys: &[KeyCompared]) -> String {
    let paired: Vec<_> = keys.iter().filter_map(|key| key.stats.as_ref()).collect();
    let n_same = paired.iter().filter(|stats| stats.max_abs.0 == 0.0).count();
    let n = paired.len();
    let keys = if n == 1 { "key was" } else { "keys were" };
    match n_same {
        _ if n == 0 => "No pair was found.".to_string(),
        0 => format!("{n} {keys} compared."),
        _ if n_same == n => format!("{n} {keys} compared, and nothing differs."),
        _ => format!("{n} {keys} compared; {n_same} do not differ at all and are not drawn."),
    }
}

fn said(all: &Comparison) -> String {
    let a = escaped(all.name_a);
    let b = escaped(all.name_b);
    let mut out = format!(
        "<p>A is <b>{a}</b>, the reference; B is <b>{b}</b>. An error is B − A. A cell without a \
         value is undefined: nothing can be explained of a reference that never changes. {}</p>\n",
        glance(&all.compared.keys)
    );
    if !all.made.is_empty() {
        out += "<table class=\"made\">\n";
        for (name, what) in all.made {
            _ = writeln!(out, "<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(what));
        }
        out += "</table>\n";
    }
    let lines: Vec<String> = all.held.iter().map(held_words).chain(remarks(all.compared)).collect();
    if !lines.is_empty() {
        out += "<ul class=\"facts\">\n";
        for line in lines {
            let line = escaped(&line);
            _ = match line.starts_with("broken: ") {
                true => writeln!(out, "<li><b class=\"red\">{line}</b></li>"),
                false => writeln!(out, "<li>{line}</li>"),
            };
        }
        out += "</ul>\n";
    }
    out
}

fn overview(all: &Comparison) -> String {
    let head: String =
        all.statistics.iter().map(|name| format!("<th>{}</th>", escaped(name))).collect();
    let mut out = format!(
        "<div class=\"scroll\"><table class=\"card\">\n<thead><tr><th>key</th><th>unit</th>{head}\
         </tr></thead>\n<tbody>\n"
    );
    let mut n_drawn = 0;
    for key in &all.compared.keys {
        let name = escaped(&key.key);
        let name = match is_worth_drawing(key) && n_drawn < MOST_DRAWN {
            true => {
                n_drawn += 1;
                format!("<a href=\"#k{}\">{name}</a>", n_drawn - 1)
            }
            false => name,
        };
        let broken = |statistic: &str| {
            all.held.iter().any(|held| {
                held.key == key.key && held.is_broken == Some(true) && held.statistic == statistic
            })
        };
        _ = write!(out, "<tr><th>{name}</th><td>{}</td>", escaped(key.unit));
        for name in all.statistics {
            let class = if broken(name) { " class=\"unusual\"" } else { "" };
            _ = write!(out, "<td{class}>{}</td>", shown_of(name, key.statistic(name)));
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n" + &glossary(all) + &without_lag(all) + &sureness(all)
}

/// What each column says, for whoever sees such a table for the first time.
fn glossary(all: &Comparison) -> String {
    let what = |name: &str| {
        let of_errors = STATISTICS.iter().map(|statistic| (statistic.name, statistic.what));
        let of_keys = KEY_STATISTICS.iter().map(|(name, what, _)| (*name, *what));
        of_errors.chain(of_keys).find(|(known, _)| *known == name).map(|(_, what)| what)
    };
    let terms: String = all
        .statistics
        .iter()
        .filter_map(|name| {
            Some(format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(what(name)?)))
        })
        .collect();
    format!("<details><summary>What the columns say</summary><dl>\n{terms}</dl></details>\n")
}

/// The statistics once the lag is taken out, where somebody asked for it.
fn without_lag(all: &Comparison) -> String {
    let statistics = of_phases(all.statistics);
    let rows = after_lag_rows(all.compared, &statistics);
    if !all.shows_after_lag || rows.is_empty() {
        return String::new();
    }
    let names = ["key", "lag"].into_iter().chain(statistics.iter().map(String::as_str));
    let names: Vec<String> = names.map(str::to_string).collect();
    format!("<h2>With the lag taken out</h2>\n{}", numbers_table(&names, rows))
}

/// The intervals, where somebody asked for them.
fn sureness(all: &Comparison) -> String {
    let rows = interval_rows(all.compared);
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<h2>How sure</h2>\n<p>Intervals by the bootstrap, of blocks of neighbouring errors.</p>\n{}",
        numbers_table(&INTERVAL_NAMES.map(str::to_string), rows)
    )
}

/// A table whose rows begin with a name.
fn numbers_table(names: &[String], rows: Vec<Vec<String>>) -> String {
    let cells = |tag: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect()
    };
    let mut out = format!(
        "<div class=\"scroll\"><table class=\"card\">\n<thead><tr>{}</tr></thead>\n<tbody>\n",
        cells("th", names)
    );
    for row in rows {
        let (key, numbers) = row.split_at(1);
        _ = writeln!(out, "<tr>{}{}</tr>", cells("th", key), cells("td", numbers));
    }
    out + "</tbody></table></div>\n"
}

fn section(key: &KeyCompared, names: (&str, &str), number: usize) -> String {
    let mut out = format!("<section id=\"k{number}\">\n<h2>{}</h2>\n", escaped(&key.key));
    if let Some((inside, height)) = drawing(key, names) {
        _ = writeln!(
            out,
            "<svg viewBox=\"0 0 960 {height}\" role=\"img\" aria-label=\"{}\">{inside}</svg>",
            escaped(&key.key)
        );
    }
    let phases: Vec<String> = (key.phases.iter())
        .map(|(name, stats)| {
            let of = |statistic| shown(of_stats(stats.as_ref(), statistic));
            format!(
                "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                escaped(name),
                of("n"),
                of("bias"),
                of("rmse"),
                of("max_abs")
            )
        })
        .collect();
    if !phases.is_empty() {
        _ = writeln!(
            out,
            "<table><thead><tr><th>phase</th><th>n</th><th>bias</th><th>rmse</th><th>max_abs</th>\
             </tr></thead><tbody>{}</tbody></table>",
            phases.join("")
        );
    }
    out + "</section>\n"
}

/// The drawings of one key, one below the other, and how high they are together.
fn drawing(key: &KeyCompared, names: (&str, &str)) -> Option<(String, f64)> {
    let drawn = key.drawn.as_ref()?;
    if drawn.times.is_empty() {
        return None;
    }
    // Seconds of an epoch are ten digits that nobody reads.
    let first = drawn.times[0];
    let is_epoch = first.secs().abs() > 1e6;
    let times: Vec<SimTime> = match is_epoch {
        true => drawn.times.iter().map(|time| SimTime::ZERO + (*time - first)).collect(),
        false => drawn.times.clone(),
    };
    let axis = Axis::over(std::iter::once(&times[..]));
    let mut parts = Vec::new();
    if !drawn.a.is_empty() {
        parts.push((overlay(key, drawn, &times, &axis, names), OVERLAY_HEIGHT));
    }
    parts.push((residual(key, drawn, &times, &axis), STRIP_HEIGHT));
    parts.push((ticks(&axis), 20.0));
    parts.push((spread_and_lag(key, drawn), SMALL_HEIGHT));
    if is_epoch {
        let note = format!("<text class=\"time end\" x=\"{RIGHT}\" y=\"11\">from {first}</text>");
        parts.push((note, 16.0));
    }
    let (mut out, mut y) = (String::new(), 0.0);
    for (part, height) in parts {
        _ = write!(out, "<g transform=\"translate(0 {y})\">{part}</g>");
        y += height + 4.0;
    }
    Some((out, y))
}

fn overlay(
    key: &KeyCompared,
    drawn: &Drawn,
    times: &[SimTime],
    axis: &Axis,
    (name_a, name_b): (&str, &str),
) -> String {
    let columns = [&drawn.a, &drawn.b].map(|values| Column::new(values.clone(), 0));
    let both = columns.each_ref().map(span);
    let (low, high) = (both[0].0.min(both[1].0), both[0].1.max(both[1].1));
    let frame = Frame { height: OVERLAY_HEIGHT, span: (low, high) };
    let mut out = frame.outline(&key.key, key.unit) + &frame.scale_of_numbers();
    for (column, class) in columns.iter().zip(["l0", "l1 d1"]) {
        let line = path(column, times, axis, |value| frame.y(value));
        _ = write!(out, "<path class=\"curve {class}\" d=\"{line}\"/>");
    }
    let legend = |x: f64, class: &str, name: &str| {
        format!(
            "<line class=\"curve {class}\" x1=\"{x}\" x2=\"{}\" y1=\"7\" y2=\"7\"/>\
             <text x=\"{}\" y=\"11\">{}</text>",
            x + 22.0,
            x + 27.0,
            escaped(name)
        )
    };
    out + &legend(MIDDLE, "l0", &format!("A: {}", shortened(name_a)))
        + &legend(MIDDLE + 200.0, "l1 d1", &format!("B: {}", shortened(name_b)))
}

fn shortened(name: &str) -> String {
    let n = name.chars().count();
    match n > 23 {
        true => format!("…{}", name.chars().skip(n - 22).collect::<String>()),
        false => name.to_string(),
    }
}

/// The error over time, with nothing at all marked.
fn residual(key: &KeyCompared, drawn: &Drawn, times: &[SimTime], axis: &Axis) -> String {
    let column = Column::new(drawn.errors.clone(), 0);
    let (low, high) = span(&column);
    let frame = Frame { height: STRIP_HEIGHT, span: (low.min(0.0), high.max(0.0)) };
    let what = match key.kind {
        KeyKind::Number | KeyKind::Angle => "B − A",
        KeyKind::Vector => "distance",
        KeyKind::Orientation => "angle between",
        KeyKind::Path => "error",
    };
    let name = if drawn.a.is_empty() { format!("{}: {what}", key.key) } else { what.to_string() };
    let zero = frame.y(0.0);
    let line = path(&column, times, axis, |value| frame.y(value));
    format!(
        "{}{}<line class=\"zero\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{zero:.1}\" y2=\"{zero:.1}\"/>\
         <path class=\"curve l4\" d=\"{line}\"/>",
        frame.outline(&name, key.unit),
        frame.scale_of_numbers()
    )
}

/// How often which error, and beside it the correlation at every lag.
fn spread_and_lag(key: &KeyCompared, drawn: &Drawn) -> String {
    let has_lag = key.lag.as_ref().is_some_and(|lag| lag.curve.len() > 1);
    let right = if has_lag { MIDDLE - 50.0 } else { RIGHT };
    let mut out = histogram(&drawn.errors, key.unit, right);
    if let Some(lag) = key.lag.as_ref().filter(|_| has_lag) {
        out += &lag_curve(&lag.curve, lag.secs, MIDDLE + 50.0);
    }
    out
}

const BOTTOM: f64 = SMALL_HEIGHT - 18.0;
const TOP: f64 = 16.0;

fn small_frame(left: f64, right: f64, title: &str) -> String {
    format!(
        "<rect class=\"frame\" x=\"{left}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/>\
         <text class=\"title\" x=\"{}\" y=\"11\">{}</text>",
        right - left,
        BOTTOM - TOP,
        left + 4.0,
        escaped(title)
    )
}

fn edge(x: f64, text: &str) -> String {
    format!("<text class=\"time\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>", BOTTOM + 14.0, escaped(text))
}

fn histogram(errors: &[f64], unit: &str, right: f64) -> String {
    let low = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let high = errors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
    let mut counts = [0usize; N_BINS];
    for error in errors {
        let at = (error - low) / (high - low) * N_BINS as f64;
        counts[(at as usize).min(N_BINS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let title = match unit {
        "" => "how often which error".to_string(),
        unit => format!("how often which error [{unit}]"),
    };
    let mut out = small_frame(LEFT, right, &title);
    let width = (right - LEFT) / N_BINS as f64;
    for (i, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
        let height = (*n as f64 / most as f64) * (BOTTOM - TOP - 4.0);
        _ = write!(
            out,
            "<rect class=\"bin\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\">\
             <title>{n} from {} on</title></rect>",
            LEFT + i as f64 * width,
            BOTTOM - height,
            (width - 1.0).max(0.5),
            shown(Some(low + (high - low) * i as f64 / N_BINS as f64))
        );
    }
    if low < 0.0 && high > 0.0 {
        let x = LEFT + -low / (high - low) * (right - LEFT);
        _ = write!(
            out,
            "<line class=\"zero\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>"
        );
    }
    let scale =
        format!("<text class=\"scale\" x=\"{}\" y=\"{}\">{most}</text>", LEFT - 8.0, TOP + 10.0);
    out + &scale + &edge(LEFT + 20.0, &shown(Some(low))) + &edge(right - 20.0, &shown(Some(high)))
}

fn lag_curve(curve: &[(f64, f64)], best: f64, left: f64) -> String {
    let (from, to) = (curve[0].0, curve[curve.len() - 1].0);
    let known = || curve.iter().map(|(_, c)| *c).filter(|c| c.is_finite());
    let (low, high) = (known().fold(1.0, f64::min), known().fold(-1.0, f64::max));
    let low = if high > low { low } else { high - 1.0 };
    let x = |secs: f64| left + (secs - from) / (to - from) * (RIGHT - left);
    let y = |c: f64| BOTTOM - 3.0 - (c - low) / (high - low) * (BOTTOM - TOP - 8.0);
    let mut line = String::new();
    let mut is_down = false;
    for (secs, c) in curve {
        if c.is_finite() {
            _ = write!(line, "{}{:.1} {:.1}", if is_down { 'L' } else { 'M' }, x(*secs), y(*c));
        }
        is_down = c.is_finite();
    }
    let at = x(best.clamp(from, to));
    let title = format!("correlation by lag; best where B is {} s late", shown(Some(best)));
    let scale = |c: f64, y: f64| {
        let text = shown(Some((c * 1e4).round() / 1e4));
        format!("<text class=\"scale\" x=\"{}\" y=\"{y}\">{text}</text>", left - 6.0)
    };
    format!(
        "{}<path class=\"curve\" d=\"{line}\"/>\
         <line class=\"best\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>{}{}{}{}",
        small_frame(left, RIGHT, &title),
        scale(high, TOP + 10.0),
        scale(low, BOTTOM - 2.0),
        edge(left + 20.0, &format!("{} s", shown(Some(from)))),
        edge(RIGHT - 20.0, &format!("{} s", shown(Some(to))))
    )
}
