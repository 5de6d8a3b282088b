//! A curve in a terminal, drawn with braille dots: two columns and four rows of dots in
//! every character.

/// What to draw.
#[derive(Clone, Copy, Debug)]
pub struct Chart<'a> {
    /// Said above the curve, with the unit.
    pub title: &'a str,
    /// Said below, with the unit.
    pub x_label: &'a str,
    /// Characters across, without the scale on the left.
    pub n_columns: usize,
    /// Characters down.
    pub n_rows: usize,
    /// The lowest value shown, where it should not be the lowest drawn.
    pub floor: Option<f64>,
}

/// Draws points in the order they come. Empty where there is nothing finite to draw.
pub fn chart(chart: &Chart<'_>, points: &[(f64, f64)]) -> String {
    let finite: Vec<(f64, f64)> =
        points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let Some(((x_low, x_high), (mut y_low, mut y_high))) = ranges(&finite) else {
        return String::new();
    };
    if let Some(floor) = chart.floor {
        y_low = y_low.min(floor);
    }
    if y_high <= y_low {
        (y_low, y_high) = (y_low - 0.5, y_high + 0.5);
    }
    let dots = plot(chart, &finite, (x_low, x_high), (y_low, y_high));

    let label = |row: usize| {
        let share = 1.0 - row as f64 / (chart.n_rows - 1).max(1) as f64;
        if row == 0 || row + 1 == chart.n_rows || row == chart.n_rows / 2 {
            let value = y_low + share * (y_high - y_low);
            // A floor of −4 µm under a curve of 3 m is zero to whoever looks.
            let shown = if value.abs() < 1e-4 * (y_high - y_low) { 0.0 } else { value };
            format!("{:>8}", short(shown))
        } else {
            " ".repeat(8)
        }
    };
    let mut out = format!("{:>8}  {}\n", "", chart.title);
    for (row, cells) in dots.chunks(chart.n_columns).enumerate() {
        let line: String = cells.iter().map(|bits| braille(*bits)).collect();
        out += &format!("{} ┤{}\n", label(row), line.trim_end_matches('\u{2800}'));
    }
    out += &format!("{:>8} └{}\n", "", "─".repeat(chart.n_columns));
    let (left, right) = (short(x_low), short(x_high));
    let middle = format!(
        "{:^width$}",
        chart.x_label,
        width = chart.n_columns.saturating_sub(left.len() + right.len())
    );
    out += &format!("{:>8}  {left}{middle}{right}\n", "");
    out
}

type Range = (f64, f64);

fn ranges(points: &[(f64, f64)]) -> Option<(Range, Range)> {
    let first = points.first()?;
    Some(points.iter().fold(((first.0, first.0), (first.1, first.1)), |(xs, ys), (x, y)| {
        ((xs.0.min(*x), xs.1.max(*x)), (ys.0.min(*y), ys.1.max(*y)))
    }))
}

/// One byte of dots per character. Between two points the gap is filled, so that a curve
/// stays one line however steep it is.
fn plot(chart: &Chart<'_>, points: &[(f64, f64)], xs: Range, ys: Range) -> Vec<u8> {
    let (width, height) = (chart.n_columns * 2, chart.n_rows * 4);
    let scale = |value: f64, range: Range, n: usize| {
        let share = if range.1 > range.0 { (value - range.0) / (range.1 - range.0) } else { 0.5 };
        (share.clamp(0.0, 1.0) * (n - 1) as f64).round() as usize
    };
    let mut cells = vec![0u8; chart.n_columns * chart.n_rows];
    let mut dot = |x: usize, y: usize| {
        let y = height - 1 - y;
        cells[(y / 4) * chart.n_columns + x / 2] |= DOTS[y % 4][x % 2];
    };
    let mut before: Option<(usize, usize)> = None;
    for (x, y) in points {
        let (x, y) = (scale(*x, xs, width), scale(*y, ys, height));
        let (from_x, from_y) = before.unwrap_or((x, y));
        for step in from_y.min(y)..=from_y.max(y) {
            let is_first_half = step.abs_diff(from_y) <= step.abs_diff(y);
            dot(if is_first_half { from_x } else { x }, step);
        }
        dot(x, y);
        before = Some((x, y));
    }
    cells
}

/// Bits of the braille block, by row and column within a character.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

fn braille(bits: u8) -> char {
    char::from_u32(0x2800 + u32::from(bits)).expect("the block has 256 characters")
}

/// At most eight characters, three digits that matter.
fn short(value: f64) -> String {
    let magnitude = value.abs();
    match magnitude {
        _ if magnitude == 0.0 => "0".to_string(),
        _ if !(1e-3..1e5).contains(&magnitude) => format!("{value:.1e}"),
        _ if magnitude < 1.0 => format!("{value:.3}"),
        _ if magnitude < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Chart<'_> =
        Chart { title: "z [m]", x_label: "t [s]", n_columns: 8, n_rows: 3, floor: None };

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        let points: Vec<(f64, f64)> = (0..=100).map(|i| (f64::from(i), f64::from(i))).collect();
        let text = chart(&SMALL, &points);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        // Of eight columns, the last of the top row and the first of the bottom row.
        let (top, top_dots) = lines[1].split_once('┤').expect("an axis");
        let (bottom, bottom_dots) = lines[3].split_once('┤').expect("an axis");
        assert!(top.trim() == "100" && bottom.trim() == "0", "{text}");
        let bits = |dots: &str, column| {
            let shown = dots.chars().nth(column).map_or(0, |c| u32::from(c) - 0x2800);
            u8::try_from(shown).expect("of the block")
        };
        assert!(bits(top_dots, 7) & DOTS[0][1] != 0 && bits(top_dots, 0) == 0, "{text}");
        assert!(bits(bottom_dots, 0) & DOTS[3][0] != 0 && bits(bottom_dots, 7) == 0, "{text}");
    }

    #[test]
    fn nothing_finite_draws_nothing_and_a_constant_draws_a_line() {
        assert_eq!(chart(&SMALL, &[]), "");
        assert_eq!(chart(&SMALL, &[(f64::NAN, 1.0), (1.0, f64::INFINITY)]), "");
        assert!(!chart(&SMALL, &[(0.0, 2.0), (1.0, 2.0)]).is_empty());
        assert!(!chart(&SMALL, &[(0.0, 2.0)]).is_empty());
    }
}
