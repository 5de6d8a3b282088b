//! What tuning found, as one page that needs nothing but itself: the numbers and where they lie in
//! their ranges, how the error went down, and per key what was measured with the model before and
//! after.

use std::fmt::Write as _;

use headland_base::SimTime;
use headland_base::maths::{log10, pow};
use headland_judge::Column;

use crate::markup::escaped;
use crate::page::{framed, with_code};
use crate::plot::{Axis, Frame, LEFT, RIGHT, path, span, svg, ticks};
use crate::tuned::{Began, TuneReport, TunedCurve, TunedRow, explained, row, short};

const OVERLAY_HEIGHT: f64 = 170.0;
const STRIP_HEIGHT: f64 = 90.0;
const SEARCH_HEIGHT: f64 = 140.0;
/// Keys beyond this many are in the table and not drawn.
const MOST_DRAWN: usize = 60;

/// How the three curves are drawn: what was measured lies below the others and is seen between
/// their dashes.
const MEASURED: &str = "curve l7 wide";
const BEFORE: &str = "curve l1 d1";
const AFTER: &str = "curve l0";

/// All of it as one page. `build` says who made it.
pub fn tuned_page(report: &TuneReport, build: &str) -> String {
    let title = format!("{} tuned", report.model);
    let pill = match (report.is_converged, report.is_trusted) {
        (true, true) => "<span class=\"pill green\">converged</span>",
        (true, false) => "<span class=\"pill inconclusive\">converged, not to be trusted</span>",
        (false, _) => "<span class=\"pill red\">not converged</span>",
    };
    let mut out = format!("<h1>{} {pill}</h1>\n", escaped(&title));
    _ = writeln!(out, "<p>{}</p>", escaped(&report.headline()));
    // What speaks against the numbers stands before them, and apart from how they were found.
    for (_, words) in &report.warnings {
        _ = writeln!(out, "<p class=\"careful\"><b>careful:</b> {}</p>", with_code(words));
    }
    out += "<table class=\"made\">\n";
    for (name, words) in &report.made {
        _ = writeln!(out, "<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(words));
    }
    out += "</table>\n";
    out += &numbers(report);
    out += &format!("<p>{}</p>\n", escaped(&explained(report)));
    out += &search(report);
    out += "<section>\n<h2>Errors</h2>\n";
    let header: Vec<String> =
        report.error_header().iter().map(|(name, _)| (*name).to_string()).collect();
    out += &html_table(&header, &plain(&report.error_rows()));
    out += "</section>\n";
    if !report.curves.is_empty() {
        out += KEY;
    }
    for curve in report.curves.iter().take(MOST_DRAWN) {
        out += &section(curve);
    }
    let n_more = report.curves.len().saturating_sub(MOST_DRAWN);
    if n_more > 0 {
        _ = writeln!(out, "<p class=\"more\">and {n_more} more keys, not drawn</p>");
    }
    if !report.starts.is_empty() {
        let (names, rows) = report.starts();
        out += "<section>\n<h2>Where recordings start</h2>\n<p>Found together with the numbers \
                above, so that noise in the first rows is not taken for the model's fault.</p>\n";
        out += &html_table(&names, &plain(&rows));
        out += "</section>\n";
    }
    framed(&title, &out, build)
}

/// How to read the drawings of a key.
const KEY: &str = "<p>Below, for every key: what was measured, and what the model made of the same \
    experiment before and after tuning; then how far it was off, simulated minus measured. What is \
    left at the bottom is drawn as large as it fits. A model that is right leaves noise there: an \
    even band around zero. Waves and steps that are left are something that none of the tuned \
    numbers can explain.</p>\n";

fn numbers(report: &TuneReport) -> String {
    let mut header = report.names();
    header.push("where in its range".to_string());
    let has_joint = report.has_joint();
    let rows = report.numbers.iter().chain(&report.derived).map(|number| {
        let mut cells: Vec<String> =
            row(number, has_joint).iter().map(|cell| escaped(cell)).collect();
        cells.push(drawn(number));
        cells
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let wide = if has_joint { ", pale that of all at once" } else { "" };
    format!(
        "{}<p class=\"more\">○ before, ● after; the bar is the interval{wide}.</p>\n",
        html_table(&header, &rows)
    )
}

fn plain(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|cell| escaped(cell)).collect()).collect()
}

fn html_table(header: &[String], rows: &[Vec<String>]) -> String {
    // Numbers under one another, by their ends.
    let is_number = |cell: &str| cell.is_empty() || cell.parse::<f64>().is_ok();
    let is_numbers = |i: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(i));
        cells.clone().any(|cell| !cell.is_empty()) && cells.all(|cell| is_number(cell))
    };
    // The unit of what has none is a 1, and a word all the same.
    let is_unit = |i: usize| header.get(i).is_some_and(|name| name == "unit");
    let class = |i: usize| if is_numbers(i) && !is_unit(i) { " class=\"number\"" } else { "" };
    let mut out = "<div class=\"scroll\"><table class=\"tuned\">\n<thead><tr>".to_string();
    for (i, name) in header.iter().enumerate() {
        _ = write!(out, "<th{}>{}</th>", class(i), escaped(name));
    }
    out += "</tr></thead>\n";
    for row in rows {
        out += "<tr>";
        for (i, cell) in row.iter().enumerate() {
            _ = write!(out, "<td{}>{cell}</td>", class(i));
        }
        out += "</tr>\n";
    }
    out + "</table></div>\n"
}

/// The range, the intervals in it, where the number was and where it is.
fn drawn(number: &TunedRow) -> String {
    let Some((lower, upper)) = number.bounds else { return String::new() };
    let place = |x: f64| 4.0 + 192.0 * ((x - lower) / (upper - lower)).clamp(0.0, 1.0);
    let mut out = "<svg class=\"range\" viewBox=\"0 0 200 16\">\
         <line class=\"tick\" x1=\"4\" x2=\"196\" y1=\"8\" y2=\"8\"/>"
        .to_string();
    let bars = [(number.joint_half_width, "pale"), (number.half_width, "s0")];
    for (half, class) in bars.into_iter().filter_map(|(half, class)| Some((half?, class))) {
        let (from, to) = (place(number.value - half), place(number.value + half));
        _ = write!(
            out,
            "<rect class=\"{class}\" x=\"{from:.1}\" y=\"4\" width=\"{:.1}\" height=\"8\"/>",
            (to - from).max(1.0)
        );
    }
    for before in number.before.iter().filter(|before| (lower..=upper).contains(before)) {
        let x = place(*before);
        _ = write!(out, "<circle class=\"hollow\" cx=\"{x:.1}\" cy=\"8\" r=\"3\"/>");
    }
    let x = place(number.value);
    out + &format!("<circle class=\"full\" cx=\"{x:.1}\" cy=\"8\" r=\"3\"/></svg>")
}

// --- the search ------------------------------------------------------------------------

/// The least error so far over the simulations made, each decade as high as the next.
fn search(report: &TuneReport) -> String {
    let points: Vec<(f64, f64)> = report
        .search
        .iter()
        .filter(|(_, rms)| *rms > 0.0 && rms.is_finite())
        .map(|(n, rms)| (*n as f64, log10(*rms)))
        .collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    if points.len() < 2 {
        return nothing_better(report, pow(10.0, first.1));
    }
    let least = points.iter().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
    let most = points.iter().map(|(_, y)| *y).fold(f64::NEG_INFINITY, f64::max);
    let frame = Frame { height: SEARCH_HEIGHT, span: (least, most) };
    let end = (report.n_evaluations as f64).max(last.0);
    let x = |n: f64| LEFT + (n - first.0) / (end - first.0).max(1.0) * (RIGHT - LEFT);
    let mut inside = frame.outline("least error so far, logarithmic", "");
    for y in [most, least].into_iter().take(if most > least { 2 } else { 1 }) {
        _ = write!(
            inside,
            "<text class=\"scale\" x=\"{}\" y=\"{:.1}\">{}</text>",
            LEFT - 8.0,
            frame.y(y) + 4.0,
            short(pow(10.0, y))
        );
    }
    // It stays what it is until a better point is found.
    let mut line = format!("M{:.1} {:.1}", x(first.0), frame.y(first.1));
    for (n, y) in &points[1..] {
        _ = write!(line, "H{:.1}V{:.1}", x(*n), frame.y(*y));
    }
    _ = write!(line, "H{:.1}", x(end));
    _ = write!(inside, "<path class=\"{AFTER}\" d=\"{line}\"/>");
    for (n, y) in points.iter().filter(|_| points.len() <= 200) {
        _ = write!(
            inside,
            "<circle class=\"full\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"><title>{} after {n} \
             simulations</title></circle>",
            x(*n),
            frame.y(*y),
            short(pow(10.0, *y))
        );
    }
    let ends = format!(
        "<text class=\"time\" x=\"{LEFT}\" y=\"11\">{}</text>\
         <text class=\"time end\" x=\"{RIGHT}\" y=\"11\">{end} simulations</text>",
        first.0
    );
    _ = write!(inside, "<g transform=\"translate(0 {SEARCH_HEIGHT})\">{ends}</g>");
    // What stands at the head as before is the given model from the start that fits it best.
    let begun = pow(10.0, first.1);
    let is_other = report.rms.0.is_some_and(|before| (begun / before - 1.0).abs() > 1e-6);
    let otherwise = match report.rms.0.filter(|_| is_other) {
        Some(before) => format!(
            " It begins at {}{}; the {} before at the head of this page {}.",
            short(begun),
            begins_at(report),
            short(before),
            match report.starts.is_empty() {
                true => "is of the model as it was given",
                false => "is of the given model from the start that fits it best",
            }
        ),
        None => String::new(),
    };
    format!(
        "<section>\n<h2>The search</h2>\n<p>Root mean square of all residuals, from where the \
         search began to the values above.{otherwise} Where the line stays level the search looks around: one \
         simulation per number says which way is down.</p>\n{}</section>\n",
        svg(SEARCH_HEIGHT + 16.0, "how the error went down", &inside)
    )
}

/// Of a search that ended where it began there is nothing to draw.
fn nothing_better(report: &TuneReport, begun: f64) -> String {
    if report.n_evaluations < 2 {
        return String::new();
    }
    format!(
        "<section>\n<h2>The search</h2>\n<p>It began at {}{}, and found nothing better in {} \
         simulations.</p>\n</section>\n",
        short(begun),
        begins_at(report),
        report.n_evaluations
    )
}

/// What the point at which a search begins has that the given model has not.
fn begins_at(report: &TuneReport) -> String {
    let why = [
        (report.began == Began::LookedAllOver, "at the best of some points all over the ranges"),
        (
            report.began == Began::Elsewhere,
            "with numbers within the bounds and one for each path, which the model's own are not",
        ),
        (!report.starts.is_empty(), "with the recordings starting as they were measured"),
    ];
    let why: Vec<&str> = why.into_iter().filter(|(is, _)| *is).map(|(_, words)| words).collect();
    if why.is_empty() { String::new() } else { format!(", {}", why.join(" and ")) }
}

// --- keys ------------------------------------------------------------------------------

fn section(curve: &TunedCurve) -> String {
    let held = match curve.n_fitted {
        0 => " <span class=\"pill inconclusive\">held out</span>",
        _ => "",
    };
    let mut out = format!(
        "<section>\n<h2>{} <span class=\"on\">in</span> {}{held}</h2>\n",
        escaped(&curve.key),
        escaped(&curve.recording)
    );
    if let (Some(first), Some(last)) = (curve.times.first(), curve.times.last()) {
        // Seconds of an epoch are ten digits that nobody reads.
        let is_epoch = first.secs().abs() > 1e6;
        let shifted =
            |time: &SimTime| if is_epoch { SimTime::ZERO + (*time - *first) } else { *time };
        let times: Vec<SimTime> = curve.times.iter().map(shifted).collect();
        let axis = Axis::over(std::iter::once(&times[..]));
        let cut = times.get(curve.n_fitted).filter(|_| curve.n_fitted > 0);
        let cut = cut.map(|time| axis.x(time.secs()));
        let (mut inside, mut y) = (String::new(), 0.0);
        for (part, height) in drawings(curve, &times, &axis) {
            let mark = cut.map_or(String::new(), |x| {
                format!(
                    "<line class=\"mark margin\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"16\" \
                     y2=\"{height}\"><title>held out from here</title></line>"
                )
            });
            _ = write!(inside, "<g transform=\"translate(0 {y})\">{part}{mark}</g>");
            y += height + 4.0;
        }
        _ = write!(inside, "<g transform=\"translate(0 {y})\">{}</g>", ticks(&axis));
        out += &svg(y + 20.0, &curve.key, &inside);
        if is_epoch {
            _ = writeln!(out, "<p class=\"more\">from {first} to {last}</p>");
        }
        if cut.is_some() {
            out += "<p class=\"more\">Held out from the dashed line on: it had no part in the \
                    search.</p>\n";
        }
    }
    out + "</section>\n"
}

/// One below the other, each with its height.
fn drawings(curve: &TunedCurve, times: &[SimTime], axis: &Axis) -> Vec<(String, f64)> {
    let values = |side: &Option<(Vec<f64>, Vec<f64>)>| side.as_ref().map(|side| side.0.clone());
    let errors = |side: &Option<(Vec<f64>, Vec<f64>)>| side.as_ref().map(|side| side.1.clone());
    let (before, after) = (BEFORE, AFTER);
    let over = [
        (Some(curve.measured.clone()), MEASURED, "measured"),
        (values(&curve.before), before, "before"),
        (values(&curve.after), after, "after"),
    ];
    let both = [(errors(&curve.before), before, "before"), (errors(&curve.after), after, "after")];
    let left = [(errors(&curve.after), after, "")];
    let unit = curve.unit.as_str();
    let mut out =
        vec![(curves(&curve.key, unit, OVERLAY_HEIGHT, times, axis, over), OVERLAY_HEIGHT)];
    if curve.before.is_some() {
        let drawn = curves("error before and after", unit, STRIP_HEIGHT, times, axis, both);
        out.push((drawn, STRIP_HEIGHT));
    }
    let drawn = curves("error that is left", unit, STRIP_HEIGHT, times, axis, left);
    out.push((drawn, STRIP_HEIGHT));
    out
}

/// Curves in one frame, with their names above it and zero marked where it is inside.
fn curves<const N: usize>(
    title: &str,
    unit: &str,
    height: f64,
    times: &[SimTime],
    axis: &Axis,
    all: [(Option<Vec<f64>>, &str, &str); N],
) -> String {
    let all: Vec<(Column, &str, &str)> = all
        .into_iter()
        .filter_map(|(values, class, name)| Some((Column::new(values?, 0), class, name)))
        .collect();
    let spans = all.iter().map(|(column, ..)| span(column)).filter(|(low, high)| low <= high);
    let (low, high) = spans.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), span| {
        (low.min(span.0), high.max(span.1))
    });
    let frame = Frame { height, span: (low, high) };
    let mut out = frame.outline(title, unit);
    if frame.is_empty() {
        return out;
    }
    out += &frame.scale_of_numbers();
    if low < 0.0 && high > 0.0 {
        let zero = frame.y(0.0);
        _ = write!(
            out,
            "<line class=\"zero\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{zero:.1}\" y2=\"{zero:.1}\"/>"
        );
    }
    for (column, class, _) in &all {
        let line = path(column, times, axis, |value| frame.y(value));
        _ = write!(out, "<path class=\"{class}\" d=\"{line}\"/>");
    }
    let named = all.iter().filter(|(.., name)| !name.is_empty());
    for (i, (_, class, name)) in named.enumerate() {
        let x = RIGHT - 100.0 * (all.len() - i) as f64;
        _ = write!(
            out,
            "<line class=\"{class}\" x1=\"{x}\" x2=\"{}\" y1=\"7\" y2=\"7\"/>\
             <text x=\"{}\" y=\"11\">{name}</text>",
            x + 22.0,
            x + 27.0
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuned::tests::report;

    #[test]
    fn the_page_has_every_number_and_no_markup_of_others() {
        let page = tuned_page(&report(), "build");
        assert!(page.contains("arm&lt;1&gt;.sdf") && page.contains("&lt;bound&gt;"));
        assert!(!page.contains("<bound>"));
        for said in ["1.23457", "all ± 95 %", "Where recordings start", "held out from here"] {
            assert!(page.contains(said), "{said}");
        }
    }

    #[test]
    fn an_answer_that_is_not_to_be_trusted_is_not_green() {
        let mut report = report();
        assert!(tuned_page(&report, "test").contains("pill green"));
        report.is_trusted = false;
        let page = tuned_page(&report, "test");
        assert!(!page.contains("pill green") && page.contains("not to be trusted</span>"));
    }

    /// The curve begins where the search did, and the head tells of another start: it says so.
    #[test]
    fn where_the_curve_begins_is_told_where_the_head_says_otherwise() {
        let mut report = report();
        report.rms.0 = Some(report.search[0].1);
        assert!(!tuned_page(&report, "test").contains("It begins at"));
        report.rms.0 = Some(0.5 * report.search[0].1);
        let page = tuned_page(&report, "test");
        let begun = format!("It begins at {}", short(report.search[0].1));
        assert!(page.contains(&begun) && page.contains(&short(report.rms.0.unwrap_or(0.0))));
        // Why, in every case: where numbers are, and where recordings start.
        let (all_over, within, measured) =
            ("best of some points all over", "numbers within the bounds", "as they were measured");
        let starts = std::mem::take(&mut report.starts);
        assert!(!starts.is_empty());
        for (began, with_starts, wanted) in [
            (Began::AsGiven, true, [false, false, true]),
            (Began::LookedAllOver, false, [true, false, false]),
            (Began::LookedAllOver, true, [true, false, true]),
            (Began::Elsewhere, false, [false, true, false]),
            (Began::Elsewhere, true, [false, true, true]),
        ] {
            report.began = began;
            report.starts = if with_starts { starts.clone() } else { Vec::new() };
            let page = tuned_page(&report, "test");
            let rest = page.split("It begins at").nth(1).unwrap_or_default();
            let rest = rest.split("</p>").next().unwrap_or_default();
            let got = [all_over, within, measured].map(|words| rest.contains(words));
            assert_eq!(got, wanted, "{began:?} {with_starts}: {rest}");
        }
    }

    /// Measured, before and after over one another, before and after below, what is left at the
    /// bottom; and the search above them.
    #[test]
    fn curves_and_the_search_are_drawn() {
        let page = tuned_page(&report(), "build");
        let n = |class: &str| page.matches(&format!("<path class=\"{class}\"")).count();
        assert_eq!((n(MEASURED), n(BEFORE), n(AFTER)), (1, 2, 4));
        assert!(page.contains("0.05 after 12 simulations"), "the last point of the search");
        // A search of one point, and a model that broke before it was tuned.
        let mut report = report();
        report.search.truncate(1);
        report.rms.0 = None;
        report.curves[0].before = None;
        let page = tuned_page(&report, "build");
        let n = |class: &str| page.matches(&format!("<path class=\"{class}\"")).count();
        assert_eq!((n(MEASURED), n(BEFORE), n(AFTER)), (1, 0, 2));
        assert!(page.contains("It began at 0.5, ") && page.contains("found nothing better in"));
    }

    /// Numbers stand at the right of their column, words and units at the left; what speaks against
    /// an answer stands before it.
    #[test]
    fn numbers_are_told_from_words_in_tables() {
        let header = ["number", "unit", "before"].map(str::to_string);
        let row = |cells: [&str; 3]| cells.map(str::to_string).to_vec();
        let shown = html_table(&header, &[row(["mu", "1", "0.6"]), row(["nu", "1", ""])]);
        assert_eq!(shown.matches("class=\"number\"").count(), 3, "{shown}");
        assert!(shown.contains("<td class=\"number\">0.6</td>") && shown.contains("<td>1</td>"));
        let mut report = report();
        report.warnings = vec![("at-bound".to_string(), "at its bound".to_string())];
        let page = tuned_page(&report, "test");
        let at = |words: &str| page.find(words).unwrap_or(usize::MAX);
        assert!(at("<p class=\"careful\">") < at("<table class=\"tuned\">"), "{page:.2000}");
    }

    #[test]
    fn what_is_no_number_breaks_no_drawing() {
        let mut report = report();
        let curve = &mut report.curves[0];
        curve.measured = vec![f64::NAN; curve.times.len()];
        curve.before = Some((curve.measured.clone(), curve.measured.clone()));
        curve.after = curve.before.clone();
        assert!(!tuned_page(&report, "build").contains("NaN"));
        report.curves[0].times.clear();
        report.curves[0].measured.clear();
        (report.curves[0].before, report.curves[0].after) = (None, None);
        report.search.clear();
        let page = tuned_page(&report, "build");
        assert!(!page.contains("NaN") && !page.contains("inf"));
    }
}
