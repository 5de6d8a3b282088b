//! One test over several recordings, drawn over one another: a lane of states for each, and
//! every number the test read as a curve for each.
//!
//! Deliberately absent: what a single recording shows; that is `plot`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use headland_judge::vocabulary::Quantity;
use headland_judge::{Column, Course, companies, parting};

use crate::markup::escaped;
use crate::page::with_code;
use crate::plot::{Axis, Frame, LANE_HEIGHT, LEFT, PLOT_HEIGHT, is_drawn, lane_bands, path};
use crate::plot::{shortened, span, svg, ticks};
use crate::verdicts::{Cell, Judged, Matrix, Row};

/// Colours of curves. Those beyond have them again, dashed and then dotted.
const N_COLOURS: usize = 8;
/// Unbroken, dashed and dotted.
const N_STROKES: usize = 3;
/// Quantities beyond this many are left to the drawings of each recording.
const MOST_PLOTS: usize = 6;
const HEIGHT: f64 = 1.6 * PLOT_HEIGHT;

/// A recording that was judged, with its column's name.
struct Line<'a> {
    name: &'a str,
    judged: &'a Judged,
}

fn lines<'a>(cells: &'a [Cell], recordings: &'a [String]) -> Vec<Line<'a>> {
    let cells = recordings.iter().zip(cells);
    cells
        .filter_map(|(name, cell)| match cell {
            Cell::Judged(judged) if !judged.scene.times().is_empty() => Some(Line { name, judged }),
            _ => None,
        })
        .collect()
}

/// Bands and curves of a row, if there are enough recordings to draw.
pub(crate) fn overlay(row: &Row, recordings: &[String], n_least: usize) -> String {
    let lines = lines(&row.cells, recordings);
    if lines.len() < n_least {
        return String::new();
    }
    let axis = Axis::over(lines.iter().map(|line| line.judged.scene.times()));
    let mut out = bands(&lines, &axis);
    out += &parted_items(&row.cells, recordings);
    let quantities = lines[0].judged.code.channels.iter().filter(|quantity| is_drawn(quantity));
    let mut is_drawn = false;
    for quantity in quantities.take(MOST_PLOTS) {
        out += &curves(&lines, *quantity, &axis);
        is_drawn = true;
    }
    if is_drawn {
        out += &svg(18.0, "time", &ticks(&axis));
        out += &legend(&lines);
    }
    out
}

/// Where recordings part, test by test, among those of each group of columns.
pub fn partings(matrix: &Matrix, groups: &[Range<usize>]) -> String {
    let mut out = String::new();
    for row in &matrix.rows {
        for group in groups.iter().filter(|group| group.len() > 1) {
            let (cells, names) = (&row.cells[group.clone()], &matrix.recordings[group.clone()]);
            for said in courses(cells, names).in_words() {
                _ = writeln!(out, "{}: {said}", row.test);
            }
        }
    }
    out
}

/// How the ways of recordings through the states of one test compare, in words.
pub(crate) enum Courses {
    /// There are no two of them.
    Alone,
    /// All take the same transitions.
    Same(String),
    /// Where the others part from the first.
    Parted(Vec<String>),
}

impl Courses {
    /// All that is to be said.
    fn in_words(self) -> Vec<String> {
        match self {
            Courses::Alone => Vec::new(),
            Courses::Same(words) => vec![words],
            Courses::Parted(said) => said,
        }
    }
}

/// Which recordings take the same transitions, and where the others part from the first.
pub(crate) fn courses(cells: &[Cell], recordings: &[String]) -> Courses {
    let lines = lines(cells, recordings);
    let courses: Vec<(&str, Course<'_>)> = lines
        .iter()
        // Of one that was broken off nobody knows what it would have done.
        .filter(|line| line.judged.scene.interruption().is_none())
        .filter_map(|line| {
            let Judged { code, scene, timeline, .. } = line.judged;
            let timeline = timeline.as_ref()?;
            Some((line.name, Course { code, timeline, times: scene.times() }))
        })
        .collect();
    let (names, courses): (Vec<&str>, Vec<Course<'_>>) = courses.into_iter().unzip();
    if courses.len() < 2 {
        return Courses::Alone;
    }
    let companies = companies(&courses);
    let Some(first) = companies.first() else { return Courses::Alone };
    let list = |company: &[usize]| company.iter().map(|i| names[*i]).collect::<Vec<_>>().join(", ");
    if companies.len() == 1 {
        let is_cut = courses.iter().any(|course| course.timeline.is_cut);
        let kept = if is_cut { ", as far as they are kept" } else { "" };
        return Courses::Same(format!("all take the same transitions{kept}: {}", list(first)));
    }
    let from_first = |company: &Vec<usize>| {
        let parting = self::parting(courses[first[0]], courses[company[0]])?;
        let told = |step: &Option<(headland_base::SimTime, String)>| match step {
            Some((time, arc)) => format!("`{arc}` at {time}"),
            None => "nothing more".to_string(),
        };
        // The same transitions, but not at the same moment.
        let others = company[1..].iter().filter_map(|i| {
            let time = self::parting(courses[first[0]], courses[*i])?.time;
            (time != parting.time).then(|| format!("; {} at {time}", names[*i]))
        });
        Some(format!(
            "{} and {} part at {}, after {} in common: {} against {}{}",
            list(first),
            list(company),
            parting.time,
            crate::count(parting.n_shared as u64, "transition"),
            told(&parting.first),
            told(&parting.second),
            others.collect::<String>()
        ))
    };
    Courses::Parted(companies[1..].iter().filter_map(from_first).collect())
}

/// The same as a list on a page; nothing where there is nothing to compare.
pub(crate) fn parted_items(cells: &[Cell], recordings: &[String]) -> String {
    let said = courses(cells, recordings).in_words();
    if said.is_empty() {
        return String::new();
    }
    let items: String = said.iter().map(|said| format!("<li>{}</li>\n", with_code(said))).collect();
    format!("<ul class=\"facts\">\n{items}</ul>\n")
}

fn bands(lines: &[Line<'_>], axis: &Axis) -> String {
    let Some(machine) = busiest(lines) else { return String::new() };
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        let y = i as f64 * LANE_HEIGHT;
        _ = write!(
            out,
            "<text class=\"name\" x=\"{}\" y=\"{}\">{}</text>\
             <g transform=\"translate(0 {y})\">{}</g>",
            LEFT - 8.0,
            y + LANE_HEIGHT * 0.68,
            escaped(&shortened(line.name)),
            lane_bands(line.judged, &machine, axis)
        );
    }
    let height = lines.len() as f64 * LANE_HEIGHT;
    let states = svg(height, &format!("states of {machine}"), &out);
    format!("<p class=\"more\">states of <code>{}</code></p>\n{states}", escaped(&machine))
}

/// The machine that changes its state most often: in it recordings differ first.
fn busiest(lines: &[Line<'_>]) -> Option<String> {
    let mut n_bands: BTreeMap<&str, usize> = BTreeMap::new();
    for timeline in lines.iter().filter_map(|line| line.judged.timeline.as_ref()) {
        for band in &timeline.bands {
            *n_bands.entry(&timeline.lanes[band.lane as usize]).or_default() += 1;
        }
    }
    // Of several the outermost, whose name is the shortest.
    let by_bands = |(name, n): &(&&str, &usize)| (**n, std::cmp::Reverse(name.len()));
    n_bands.iter().max_by_key(by_bands).map(|(name, _)| name.to_string())
}

fn curves(lines: &[Line<'_>], quantity: Quantity, axis: &Axis) -> String {
    let vocabulary = &lines[0].judged.code.vocabulary;
    let name = vocabulary.written(quantity).to_string();
    // The same words may be another number of another recording's list.
    let columns: Vec<(usize, &Line<'_>, std::sync::Arc<Column>)> = lines
        .iter()
        .enumerate()
        .filter_map(|(i, line)| {
            let code = &line.judged.code;
            let own = code
                .channels
                .iter()
                .find(|own| code.vocabulary.written(**own).to_string() == name)?;
            Some((i, line, line.judged.scene.column(*own)))
        })
        .collect();
    let span = range(columns.iter().map(|(_, _, column)| column.as_ref()));
    let frame = Frame { height: HEIGHT, span };
    let mut out = frame.outline(&name, vocabulary.unit(quantity));
    if frame.is_empty() {
        return svg(HEIGHT, &name, &out);
    }
    out += &frame.scale_of_numbers();
    for (i, line, column) in &columns {
        let path = path(column, line.judged.scene.times(), axis, |value| frame.y(value));
        _ = write!(
            out,
            "<path class=\"{}\" d=\"{path}\"><title>{}</title></path>",
            stroke(*i),
            escaped(line.name)
        );
    }
    svg(HEIGHT, &name, &out)
}

/// How the curve of a recording is drawn, by its place among them.
fn stroke(i: usize) -> String {
    format!("curve l{} d{}", i % N_COLOURS, i / N_COLOURS % N_STROKES)
}

/// The range most curves stay in: one that explodes must not flatten the others.
fn range<'a>(columns: impl Iterator<Item = &'a Column>) -> (f64, f64) {
    let mut spans: Vec<(f64, f64)> = columns.map(span).filter(|(low, high)| low <= high).collect();
    let all = |spans: &[(f64, f64)]| {
        spans.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), span| {
            (low.min(span.0), high.max(span.1))
        })
    };
    spans.sort_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
    let usual = spans[..spans.len().div_ceil(2).max(spans.len().saturating_sub(2))].to_vec();
    let (low, high) = all(&usual);
    let (lowest, highest) = all(&spans);
    let room = 2.0 * (high - low);
    (lowest.max(low - room), highest.min(high + room))
}

fn legend(lines: &[Line<'_>]) -> String {
    let items = lines.iter().enumerate().map(|(i, line)| {
        format!(
            "<span><svg class=\"key\" viewBox=\"0 0 10 10\"><line class=\"{}\" x1=\"0\" \
             x2=\"10\" y1=\"5\" y2=\"5\"/></svg>{}</span>",
            stroke(i),
            escaped(line.name)
        )
    });
    format!("<p class=\"legend\">{}</p>\n", items.collect::<Vec<_>>().join(" "))
}
