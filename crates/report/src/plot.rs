//! Drawings of a test over a recording, as SVG: state bands, and the numbers it read.
//!
//! However many snapshots there are, a drawing has at most a few points per pixel: of all
//! values that fall on one pixel the lowest and the highest are drawn, and bands that are
//! thinner than a pixel are drawn as one.

use std::fmt::Write as _;
use std::ops::Range;

use headland_base::SimTime;
use headland_judge::code::Code;
use headland_judge::timeline::Band;
use headland_judge::vocabulary::Quantity;
use headland_judge::{Column, Timeline};

use crate::markup::escaped;
use crate::verdicts::Judged;

/// Width of everything with a time axis.
const WIDTH: f64 = 960.0;
/// Room on the left for names and scales.
pub(crate) const LEFT: f64 = 150.0;
/// Where the time axis ends, so that a mark at the very end is seen whole.
pub(crate) const RIGHT: f64 = WIDTH - 6.0;
pub(crate) const LANE_HEIGHT: f64 = 22.0;
pub(crate) const PLOT_HEIGHT: f64 = 84.0;
/// Where its frame begins, below the title.
const PLOT_TOP: f64 = 16.0;
/// Quantities beyond this many are named, not drawn.
const MOST_PLOTS: usize = 16;
/// Colours of states that are neither green nor red, in the order states appear.
const N_COLOURS: usize = 8;

/// Times to pixels.
pub(crate) struct Axis {
    start: f64,
    secs: f64,
}

impl Axis {
    fn new(times: &[SimTime]) -> Axis {
        Axis::over(std::iter::once(times))
    }

    /// From the first moment of all to the last.
    pub(crate) fn over<'a>(all: impl Iterator<Item = &'a [SimTime]>) -> Axis {
        let ends = all.filter_map(|times| Some((times.first()?.secs(), times.last()?.secs())));
        let span = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (start, end) = span.unwrap_or_default();
        Axis { start, secs: (end - start).max(1e-9) }
    }

    pub(crate) fn x(&self, secs: f64) -> f64 {
        LEFT + (secs - self.start) / self.secs * (RIGHT - LEFT)
    }
}

/// Bands, plots and the time axis of one verdict.
pub(crate) fn drawings(judged: &Judged) -> String {
    let times = judged.scene.times();
    if times.is_empty() {
        return String::new();
    }
    let axis = Axis::new(times);
    let marks = |from: f64, to: f64| marks(judged, &axis, from, to);
    let mut out = String::new();
    if let Some(timeline) = &judged.timeline
        && !timeline.lanes.is_empty()
    {
        let height = timeline.lanes.len() as f64 * LANE_HEIGHT;
        let bands = bands(&judged.code, timeline, times, &axis);
        out += &svg(height, "states over time", &(bands + &marks(0.0, height)));
        out += &legend(&judged.code, timeline);
    }
    let read: Vec<&Quantity> = judged.code.channels.iter().filter(|q| is_drawn(q)).collect();
    for quantity in read.iter().take(MOST_PLOTS) {
        let column = judged.scene.column(**quantity);
        let name = judged.code.vocabulary.written(**quantity).to_string();
        let unit = judged.code.vocabulary.unit(**quantity);
        let drawn = curve(&column, times, &axis, &name, unit, quantity.is_bool());
        out += &svg(PLOT_HEIGHT, &name, &(drawn + &marks(PLOT_TOP, PLOT_HEIGHT)));
    }
    if read.len() > MOST_PLOTS {
        out += &format!("<p class=\"more\">and {} more quantities</p>\n", read.len() - MOST_PLOTS);
    }
    out + &svg(18.0, "time", &ticks(&axis))
}

/// Whether a quantity is a curve.
pub(crate) fn is_drawn(quantity: &Quantity) -> bool {
    !matches!(quantity, Quantity::Formula(_) | Quantity::Time)
}

pub(crate) fn svg(height: f64, label: &str, inside: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">{inside}</svg>\n",
        escaped(label)
    )
}

/// The moment of the verdict, of the comparison nearest to flipping it, and of what decides
/// a formula.
fn marks(judged: &Judged, axis: &Axis, from: f64, to: f64) -> String {
    let line = |class: &str, time: SimTime, words: &str| {
        let x = axis.x(time.secs());
        format!(
            "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{from}\" y2=\"{to}\">\
             <title>{}</title></line>",
            escaped(words)
        )
    };
    let judgement = &judged.judgement;
    let word = judgement.verdict.word();
    let said = format!("{word} at {}: {}", judgement.time, judgement.reason);
    let mut out = String::new();
    if let crate::Sureness::Margin(margin) = &judged.sureness {
        let decides = format!("the margin is decided at {}", margin.time);
        out += &line("mark margin", margin.time, &decides);
    }
    for explanation in &judged.explanations {
        let root = judgement.roots.iter().find(|root| root.name == explanation.root);
        let is_formula = root.is_some_and(|root| root.robustness.is_some());
        let mut timed = explanation.lines.iter().rev().filter_map(|line| Some((line, line.time?)));
        if let (true, Some((last, time))) = (is_formula, timed.next()) {
            let decides =
                format!("{}: {} is {} at {time}", explanation.root, last.text, last.value);
            out += &line("mark decides", time, &decides);
        }
    }
    out + &line(&format!("mark {word}"), judgement.time, &said)
}

// --- bands -----------------------------------------------------------------------------

/// The states of one machine, by the path of its name, in one lane.
pub(crate) fn lane_bands(judged: &Judged, machine: &str, axis: &Axis) -> String {
    let Some(timeline) = &judged.timeline else { return String::new() };
    let Some(lane) = timeline.lanes.iter().position(|name| name == machine) else {
        return String::new();
    };
    let own = timeline.bands.iter().filter(|band| band.lane as usize == lane);
    let alone = Timeline {
        lanes: vec![String::new()],
        bands: own.map(|band| Band { lane: 0, ..band.clone() }).collect(),
        ..Timeline::default()
    };
    bands(&judged.code, &alone, judged.scene.times(), axis)
}

fn bands(code: &Code, timeline: &Timeline, times: &[SimTime], axis: &Axis) -> String {
    let end = times.last().map_or(axis.start, |time| time.secs());
    let x = |tick: usize| axis.x(times.get(tick).map_or(end, |time| time.secs()));
    let mut out = String::new();
    let mut busy: Vec<Option<Range<f64>>> = vec![None; timeline.lanes.len()];
    for (lane, name) in timeline.lanes.iter().enumerate() {
        let y = lane as f64 * LANE_HEIGHT;
        _ = write!(
            out,
            "<text class=\"name\" x=\"{}\" y=\"{}\">{}</text>",
            LEFT - 8.0,
            y + LANE_HEIGHT * 0.68,
            escaped(&shortened(name))
        );
    }
    for band in &timeline.bands {
        let (from, to) = (x(band.from), x(band.to));
        let lane = band.lane as usize;
        if to - from >= 1.0 {
            flush(&mut out, lane, busy[lane].take());
            out += &rectangle(code, band, from, to, times);
        } else {
            // Thinner than a pixel: drawn together with its thin neighbours.
            match &mut busy[lane] {
                Some(thin) if from - thin.end < 1.0 => thin.end = to.max(thin.end),
                other => flush(&mut out, lane, other.replace(from..to)),
            }
        }
    }
    for (lane, thin) in busy.into_iter().enumerate() {
        flush(&mut out, lane, thin);
    }
    out
}

fn flush(out: &mut String, lane: usize, thin: Option<Range<f64>>) {
    let Some(Range { start, end }) = thin else { return };
    let y = lane as f64 * LANE_HEIGHT + 2.0;
    _ = write!(
        out,
        "<rect class=\"thin\" x=\"{start:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{}\">\
         <title>too short to draw</title></rect>",
        (end - start).max(1.0),
        LANE_HEIGHT - 4.0
    );
}

fn rectangle(code: &Code, band: &Band, from: f64, to: f64, times: &[SimTime]) -> String {
    let machine = &code.machines[band.machine as usize];
    let state = &machine.states[band.state as usize].name;
    let y = f64::from(band.lane) * LANE_HEIGHT + 2.0;
    let (width, height) = (to - from, LANE_HEIGHT - 4.0);
    let until = times.get(band.to).map_or("the end".to_string(), SimTime::to_string);
    let title = format!("{}: {state}, {} to {until}", machine.name, times[band.from]);
    let class = colour_of(code, band.machine, band.state);
    // A name is written where it fits.
    let fits = state.chars().count() as f64 * 6.6 + 8.0 < width;
    let name = if fits {
        let (x, y) = (from + width / 2.0, y + height * 0.72);
        format!("<text class=\"in\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(state))
    } else {
        String::new()
    };
    format!(
        "<g><title>{}</title><rect class=\"{class}\" x=\"{from:.1}\" y=\"{y}\" \
         width=\"{width:.1}\" height=\"{height}\" rx=\"2\"/>{name}</g>",
        escaped(&title)
    )
}

/// Green and red are what they say; every other state has a colour by its number.
fn colour_of(code: &Code, machine: u32, state: u32) -> String {
    let own = &code.machines[machine as usize].states;
    match own[state as usize].name.as_str() {
        "green" => "sgreen".to_string(),
        "red" => "sred".to_string(),
        _ => {
            let before = code.machines[..machine as usize].iter().map(|m| m.states.len());
            let number = before.sum::<usize>() + state as usize;
            format!("s{}", number % N_COLOURS)
        }
    }
}

fn legend(code: &Code, timeline: &Timeline) -> String {
    let items = timeline.states.iter().map(|(m, s)| {
        let machine = &code.machines[*m as usize];
        let name = format!("{} · {}", machine.name, machine.states[*s as usize].name);
        let class = colour_of(code, *m, *s);
        format!(
            "<span><svg class=\"key\" viewBox=\"0 0 10 10\"><rect class=\"{class}\" width=\"10\" \
             height=\"10\" rx=\"2\"/></svg>{}</span>",
            escaped(&name)
        )
    });
    format!("<p class=\"legend\">{}</p>\n", items.collect::<Vec<_>>().join(" "))
}

/// The end of a long path is what tells machines apart.
pub(crate) fn shortened(name: &str) -> String {
    const MOST: usize = 21;
    let n = name.chars().count();
    if n <= MOST {
        return name.to_string();
    }
    format!("…{}", name.chars().skip(n - MOST + 1).collect::<String>())
}

// --- curves ----------------------------------------------------------------------------

fn curve(
    column: &Column,
    times: &[SimTime],
    axis: &Axis,
    name: &str,
    unit: &str,
    is_bool: bool,
) -> String {
    let frame = Frame { height: PLOT_HEIGHT, span: span(column) };
    let outline = frame.outline(name, unit);
    if frame.is_empty() {
        let x = LEFT - 8.0;
        return format!("{outline}<text class=\"scale\" x=\"{x}\" y=\"40\">not known</text>");
    }
    let scales = match is_bool {
        true => frame.scale("no", "yes"),
        false => frame.scale_of_numbers(),
    };
    let path = path(column, times, axis, |value| frame.y(value));
    format!("{outline}{scales}<path class=\"curve\" d=\"{path}\"/>")
}

/// The lowest and the highest that is known of a column; the wrong way round for none.
pub(crate) fn span(column: &Column) -> (f64, f64) {
    let known = column.values.iter().skip(column.first_known).filter(|v| v.is_finite());
    known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
}

/// What stands around curves: an outline with a title, and a scale beside it.
pub(crate) struct Frame {
    /// Of the whole drawing.
    pub(crate) height: f64,
    /// The lowest and the highest value in it.
    pub(crate) span: (f64, f64),
}

impl Frame {
    /// Whether nothing in it is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.span.0 > self.span.1
    }

    /// The outline, and above it the quantity with its unit.
    pub(crate) fn outline(&self, name: &str, unit: &str) -> String {
        let title = if unit.is_empty() { name.to_string() } else { format!("{name} [{unit}]") };
        format!(
            "<rect class=\"frame\" x=\"{LEFT}\" y=\"{PLOT_TOP}\" width=\"{}\" height=\"{}\"/>\
             <text class=\"title\" x=\"{}\" y=\"11\">{}</text>",
            RIGHT - LEFT,
            self.height - PLOT_TOP - 2.0,
            LEFT + 4.0,
            escaped(&title)
        )
    }

    /// What is drawn at its edges; a constant gets some room.
    fn ends(&self) -> (f64, f64) {
        let (low, high) = self.span;
        if high > low { (low, high) } else { (low - 0.5, high + 0.5) }
    }

    /// How far down a value is drawn.
    pub(crate) fn y(&self, value: f64) -> f64 {
        let ((low, high), bottom) = (self.ends(), self.height - 6.0);
        bottom - (value.clamp(low, high) - low) / (high - low) * (bottom - PLOT_TOP - 4.0)
    }

    /// Words beside both ends.
    fn scale(&self, lowest: &str, highest: &str) -> String {
        let (low, high) = self.ends();
        let one = |value: f64, words: &str| {
            let (x, y) = (LEFT - 8.0, self.y(value) + 4.0);
            format!("<text class=\"scale\" x=\"{x}\" y=\"{y:.1}\">{words}</text>")
        };
        one(high, highest) + &one(low, lowest)
    }

    /// The numbers of both ends.
    pub(crate) fn scale_of_numbers(&self) -> String {
        let (low, high) = self.ends();
        self.scale(&number(low, high - low), &number(high, high - low))
    }
}

/// As many digits as tell the two ends of a scale apart.
fn number(value: f64, span: f64) -> String {
    // What rounds to nothing has no sign.
    let value = if value.abs() < span * 1e-4 { 0.0 } else { value };
    match span {
        s if s >= 100.0 => format!("{value:.0}"),
        s if s >= 1.0 => format!("{value:.2}"),
        s if s >= 1e-2 => format!("{value:.4}"),
        _ => format!("{value:.3e}"),
    }
}

/// One line through the values; of those on one pixel only the first, the extremes and the
/// last.
pub(crate) fn path(
    column: &Column,
    times: &[SimTime],
    axis: &Axis,
    y: impl Fn(f64) -> f64,
) -> String {
    let mut out = String::new();
    let mut is_down = false;
    let mut pixel = i64::MIN;
    let mut pending: Vec<(f64, f64)> = Vec::new();
    let put = |out: &mut String, is_down: &mut bool, points: &mut Vec<(f64, f64)>| {
        for (x, y) in thinned(points) {
            let sign = if *is_down { 'L' } else { 'M' };
            _ = write!(out, "{sign}{x:.1} {y:.1}");
            *is_down = true;
        }
        points.clear();
    };
    for (i, time) in times.iter().enumerate() {
        let value = column.values[i];
        if i < column.first_known || !value.is_finite() {
            put(&mut out, &mut is_down, &mut pending);
            is_down = false;
            continue;
        }
        let x = axis.x(time.secs());
        if x as i64 != pixel {
            put(&mut out, &mut is_down, &mut pending);
            pixel = x as i64;
        }
        pending.push((x, y(value)));
    }
    put(&mut out, &mut is_down, &mut pending);
    out
}

fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= 3 {
        return points.to_vec();
    }
    let by_height = |a: &usize, b: &usize| points[*a].1.total_cmp(&points[*b].1);
    let lowest = (0..points.len()).min_by(by_height).unwrap_or(0);
    let highest = (0..points.len()).max_by(by_height).unwrap_or(0);
    let mut kept = vec![0, lowest, highest, points.len() - 1];
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|i| points[i]).collect()
}

// --- time ------------------------------------------------------------------------------

pub(crate) fn ticks(axis: &Axis) -> String {
    let step = round_step(axis.secs / 8.0);
    let first = (axis.start / step).ceil() as i64;
    let last = ((axis.start + axis.secs) / step).floor() as i64;
    let mut out = String::new();
    for k in first..=last.min(first + 40) {
        let secs = k as f64 * step;
        let x = axis.x(secs);
        let anchor = if x > WIDTH - 30.0 { " end" } else { "" };
        let text = if step >= 1.0 { format!("{secs:.0}") } else { short(secs) };
        _ = write!(
            out,
            "<line class=\"tick\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"4\"/>\
             <text class=\"time{anchor}\" x=\"{x:.1}\" y=\"15\">{text} s</text>"
        );
    }
    out
}

fn short(secs: f64) -> String {
    let text = format!("{secs:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The next of 1, 2, 5, 10, … at or above.
fn round_step(least: f64) -> f64 {
    let mut decade = 1e-9;
    while decade * 10.0 < least {
        decade *= 10.0;
    }
    [1.0, 2.0, 5.0].map(|f| f * decade).into_iter().find(|s| *s >= least).unwrap_or(decade * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (least, wanted) in [(0.6, 1.0), (0.13, 0.2), (3.0, 5.0), (1.0, 1.0), (7.0, 10.0)] {
            assert!((round_step(least) - wanted).abs() < 1e-9, "{least}");
        }
    }

    #[test]
    fn a_million_values_are_a_few_thousand_points_and_keep_their_extremes() {
        let n = 1_000_000;
        let times: Vec<SimTime> = (0..n).map(|i| SimTime::from_nanos(i * 1_000_000)).collect();
        let mut values: Vec<f64> = (0..n).map(|i| (i % 100) as f64).collect();
        values[654_321] = 5000.0;
        let column = Column::new(values, 0);
        let path = path(&column, &times, &Axis::new(&times), |v| v);
        assert!(path.len() < 60_000, "{}", path.len());
        assert!(path.contains("5000.0"), "the one high value is drawn");
    }

    #[test]
    fn what_is_not_a_number_leaves_a_gap() {
        let times: Vec<SimTime> = (0..5).map(|i| SimTime::from_nanos(i * 1_000_000_000)).collect();
        let column = Column::new(vec![f64::NAN, 1.0, f64::NAN, 2.0, 3.0], 1);
        let path = path(&column, &times, &Axis::new(&times), |v| v);
        assert_eq!(path.matches('M').count(), 2, "{path}");
    }
}
