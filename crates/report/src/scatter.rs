//! Points and the clusters found in them, as a picture: SVG.

use std::fmt::Write as _;

use headland_base::maths::{PI, atan2, sqrt};

use crate::markup::escaped;

/// A cluster as it is drawn: an ellipse of one and one of two standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct Ellipse {
    /// Its middle.
    pub mean: (f64, f64),
    /// Variances and the covariance: xx, xy, yy.
    pub covariance: (f64, f64, f64),
    /// Its share, 0 to 1.
    pub weight: f64,
}

/// One panel of a picture of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// What is along x and y, with units.
    pub labels: (String, String),
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// The clusters.
    pub ellipses: Vec<Ellipse>,
}

/// The side of a panel, and the room around it for numbers \[pixels\].
const SIDE: f64 = 420.0;
const MARGIN: f64 = 64.0;
/// More points than these are thinned out: nobody sees them one by one.
const MOST_POINTS: usize = 4000;
const COLOURS: [&str; 8] =
    ["#c8452f", "#2f6fc8", "#2f9150", "#9a52b8", "#c98a1b", "#1f9a9a", "#b8456f", "#6b6b6b"];

/// Panels side by side, as one SVG file.
pub fn scatter(title: &str, panels: &[Scatter]) -> String {
    let step = SIDE + 1.4 * MARGIN;
    let (width, height) = (step * panels.len().max(1) as f64 + MARGIN * 0.4, SIDE + 2.0 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"28\" font-size=\"16\">{}</text>\n",
        escaped(title)
    );
    for (i, panel) in panels.iter().enumerate() {
        out += &drawn(panel, MARGIN + step * i as f64);
    }
    out + "</svg>\n"
}

/// Where numbers are on a panel.
struct Scale {
    low: (f64, f64),
    per_unit: (f64, f64),
    left: f64,
}

impl Scale {
    fn new(panel: &Scatter, left: f64) -> Scale {
        let range = |pick: fn(&(f64, f64)) -> f64| {
            let values = panel.points.iter().map(pick).filter(|value| value.is_finite());
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
            if low < high { (low, high) } else { (low.min(0.0) - 1.0, low.max(0.0) + 1.0) }
        };
        let (xs, ys) = (range(|p| p.0), range(|p| p.1));
        let pad = |(low, high): (f64, f64)| (low - 0.06 * (high - low), high + 0.06 * (high - low));
        let (xs, ys) = (pad(xs), pad(ys));
        let per_unit = (SIDE / (xs.1 - xs.0), SIDE / (ys.1 - ys.0));
        Scale { low: (xs.0, ys.0), per_unit, left }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let down = SIDE - (y - self.low.1) * self.per_unit.1;
        (self.left + (x - self.low.0) * self.per_unit.0, MARGIN + down)
    }
}

fn drawn(panel: &Scatter, left: f64) -> String {
    let scale = Scale::new(panel, left);
    let bottom = MARGIN + SIDE;
    let mut out = format!(
        "<rect x=\"{left:.1}\" y=\"{MARGIN}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"#f7f7f5\" \
         stroke=\"#999\"/>\n"
    );
    let every = panel.points.len().div_ceil(MOST_POINTS).max(1);
    for point in panel.points.iter().step_by(every) {
        let (x, y) = scale.at(*point);
        if x.is_finite() && y.is_finite() {
            _ = write!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.6\" fill=\"#333\" \
                 fill-opacity=\"0.35\"/>"
            );
        }
    }
    out.push('\n');
    for (i, ellipse) in panel.ellipses.iter().enumerate() {
        out += &rings(ellipse, &scale, COLOURS[i % COLOURS.len()], i + 1);
    }
    for share in [0.0, 0.5, 1.0] {
        let (x, y) = (
            scale.low.0 + share * SIDE / scale.per_unit.0,
            scale.low.1 + share * SIDE / scale.per_unit.1,
        );
        let (px, py) = (left + share * SIDE, bottom - share * SIDE);
        _ = writeln!(
            out,
            "<text x=\"{px:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{}</text>",
            bottom + 18.0,
            short(x),
            left - 6.0,
            py + 4.0,
            short(y)
        );
    }
    _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text x=\"{left:.1}\" y=\"{:.1}\">{}</text>",
        left + SIDE / 2.0,
        bottom + 40.0,
        escaped(&panel.labels.0),
        MARGIN - 8.0,
        escaped(&panel.labels.1)
    );
    out
}

/// One and two deviations around a middle, and its number.
fn rings(ellipse: &Ellipse, scale: &Scale, colour: &str, number: usize) -> String {
    // In pixels, where y runs down.
    let (sx, sy) = (scale.per_unit.0, -scale.per_unit.1);
    let (xx, xy, yy) = ellipse.covariance;
    let (xx, xy, yy) = (xx * sx * sx, xy * sx * sy, yy * sy * sy);
    let (middle, half) = (0.5 * (xx + yy), sqrt(0.25 * (xx - yy) * (xx - yy) + xy * xy));
    let (long, wide) = (sqrt(middle + half), sqrt((middle - half).max(0.0)));
    let turn = 0.5 * atan2(2.0 * xy, xx - yy) * 180.0 / PI;
    let (cx, cy) = scale.at(ellipse.mean);
    let ring = |n: f64, stroke: f64| {
        format!(
            "<ellipse cx=\"{cx:.1}\" cy=\"{cy:.1}\" rx=\"{:.2}\" ry=\"{:.2}\" \
             transform=\"rotate({turn:.2} {cx:.1} {cy:.1})\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"{stroke}\"/>",
            n * long,
            n * wide
        )
    };
    format!(
        "<g><title>cluster {number}: {:.1} %</title>{}{}<text x=\"{cx:.1}\" y=\"{:.1}\" \
         text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\" stroke=\"#fff\" \
         stroke-width=\"3\" paint-order=\"stroke\" fill=\"{colour}\">{number}</text></g>\n",
        100.0 * ellipse.weight,
        ring(1.0, 2.4),
        ring(2.0, 1.2),
        cy + 5.0
    )
}

fn short(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude < 1e-12 => "0".to_string(),
        magnitude if !(1e-3..1e5).contains(&magnitude) => format!("{value:.1e}"),
        magnitude if magnitude < 1.0 => format!("{value:.3}"),
        magnitude if magnitude < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ellipse of a cluster that is turned by 45° has its axes along the diagonals.
    #[test]
    fn pictures_are_well_formed_and_ellipses_lie_where_points_do() {
        let points = vec![(-1.0, -1.0), (1.0, 1.0), (0.0, 0.0), (f64::NAN, 0.0)];
        let ellipse = Ellipse { mean: (0.0, 0.0), covariance: (1.0, 0.8, 1.0), weight: 1.0 };
        let panel = Scatter {
            labels: ("x [mm] <".to_string(), "y [mm]".to_string()),
            points,
            ellipses: vec![ellipse],
        };
        let svg = scatter("a & b", &[panel.clone(), panel]);
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let count = |name: &str| document.descendants().filter(|n| n.has_tag_name(name)).count();
        assert_eq!((count("circle"), count("ellipse")), (6, 4));
        let ring = document.descendants().find(|n| n.has_tag_name("ellipse")).expect("one");
        // Upwards to the right, which is −45° where y runs down; √1.8 and √0.2 deviations.
        assert!(ring.attribute("transform").is_some_and(|t| t.starts_with("rotate(-45.00")));
        let number = |name: &str| ring.attribute(name).unwrap_or_default().parse::<f64>();
        let (rx, ry) = (number("rx").unwrap_or(0.0), number("ry").unwrap_or(1.0));
        assert!((rx / ry - 3.0).abs() < 1e-3, "{rx} {ry}");
    }

    #[test]
    fn one_point_is_a_picture_too() {
        let panel = Scatter {
            labels: (String::new(), String::new()),
            points: vec![(5.0, 5.0)],
            ellipses: Vec::new(),
        };
        assert!(roxmltree::Document::parse(&scatter("", &[panel])).is_ok());
    }
}
