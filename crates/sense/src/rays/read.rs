//! What a file says of rays: `<lidar>` or `<ray>`, and our own elements in it.

use headland_base::maths::PI;

use super::beam::{Beam, Miss};
use super::fan::{Fan, Sweep};
use crate::declare::element::Element;
use crate::scene::Show;

/// The most beams of one sensor.
const MOST_BEAMS: f64 = 4_000_000.0;

/// What is read of every sensor with rays.
pub struct Optics {
    pub fan: Fan,
    pub beam: Beam,
    pub show: Show,
    /// How long a turn takes \[s\]; 0 where all beams are sent at once.
    pub rolling_secs: f64,
}

/// What may stand in the element; the rest is said.
const KNOWN: [&str; 8] = [
    "scan",
    "range",
    "noise",
    "visibility_mask",
    "headland:divergence",
    "headland:miss",
    "headland:rolling",
    "headland:sees",
];

/// Reads the `<lidar>` or `<ray>` of a sensor. Nothing where it cannot be, which is said.
pub fn optics(sensor: Element<'_>, unsaid: Show) -> Option<Optics> {
    let Some(element) = sensor.child("lidar").or_else(|| sensor.child("ray")) else {
        sensor.error("there is neither a <lidar> nor a <ray> in it");
        return None;
    };
    element.only(&KNOWN);
    if let Some(mask) = element.child("visibility_mask") {
        mask.warn("<visibility_mask> is not heeded: beams meet all that is there", None);
    }
    let horizontal = element.at(&["scan", "horizontal"]).map(sweep);
    let vertical = element.at(&["scan", "vertical"]).map(sweep);
    if let Some(scan) = element.child("scan") {
        scan.only(&["horizontal", "vertical"]);
    }
    let (horizontal, vertical) = match (horizontal, vertical) {
        (Some(None), _) | (_, Some(None)) => return None,
        (horizontal, vertical) => (
            horizontal.flatten().unwrap_or(Sweep::AHEAD),
            vertical.flatten().unwrap_or(Sweep::AHEAD),
        ),
    };
    let n_beams = horizontal.n as f64 * vertical.n as f64;
    if n_beams > MOST_BEAMS {
        element.error(format!("it has {n_beams} beams, and {MOST_BEAMS} are the most"));
        return None;
    }
    let beam = beam(element)?;
    let not_negative = |value: f64| value >= 0.0;
    let rolling_secs =
        element.number_that("headland:rolling", 0.0, "zero seconds or more", not_negative);
    let show = sees(element, unsaid);
    Some(Optics { fan: Fan::new(horizontal, vertical), beam, show, rolling_secs })
}

/// Which shapes it meets.
pub fn sees(element: Element<'_>, unsaid: Show) -> Show {
    let words = [
        ("", unsaid),
        ("visuals", Show::Visuals),
        ("collisions", Show::Collisions),
        ("everything", Show::Both),
    ];
    element.word("headland:sees", &words)
}

/// `<samples>` times `<resolution>` angles from `<min_angle>` to `<max_angle>`.
fn sweep(element: Element<'_>) -> Option<Sweep> {
    element.only(&["samples", "resolution", "min_angle", "max_angle"]);
    let samples = element.number("samples", 1.0);
    let resolution = element.number("resolution", 1.0);
    let n = (samples * resolution).round();
    if !(samples >= 1.0 && samples.fract() == 0.0 && (1.0..=MOST_BEAMS).contains(&n)) {
        let what = format!("{samples} samples at a resolution of {resolution} are no beams");
        let help = format!("a whole number of samples from 1 to {MOST_BEAMS}");
        element.fault(what, Some(help));
        return None;
    }
    let (first, last) = (element.number("min_angle", 0.0), element.number("max_angle", 0.0));
    if last < first {
        element.error(format!("max_angle {last} is less than min_angle {first}"));
        return None;
    }
    if last - first > 2.0 * PI + 1e-9 {
        element.error(format!("from {first} to {last} rad is more than one turn"));
        return None;
    }
    Some(Sweep { n: n as usize, first, last })
}

fn beam(element: Element<'_>) -> Option<Beam> {
    let (mut min, mut max, mut resolution) = (0.0, f64::INFINITY, 0.0);
    if let Some(range) = element.child("range") {
        range.only(&["min", "max", "resolution"]);
        min = range.number("min", 0.0);
        max = match range.text_in("max") {
            Some("inf" | "+inf" | "infinity" | ".inf") => f64::INFINITY,
            _ => range.number("max", f64::INFINITY),
        };
        resolution = range.number_that("resolution", 0.0, "zero or more", |value| value >= 0.0);
        if !(min >= 0.0 && max > min) {
            let what = format!("it measures from {min} m to {max} m, which is nothing");
            range.fault(what, Some("0 ≤ min < max".to_string()));
            return None;
        }
    }
    let is_narrow = |angle: f64| (0.0..1.0).contains(&angle);
    let divergence = element.number_that("headland:divergence", 0.0, "from 0 to 1 rad", is_narrow);
    Some(Beam { min, max, resolution, divergence, miss: miss(element), noise: element.noise() })
}

/// The `<headland:miss>` of an element: which echoes are lost.
pub(super) fn miss(element: Element<'_>) -> Miss {
    let Some(child) = element.child("headland:miss") else { return Miss::default() };
    child.only(&["rate", "weak"]);
    let is_share = |value: f64| (0.0..=1.0).contains(&value);
    let share = |name: &str| child.number_that(name, 0.0, "a share from 0 to 1", is_share);
    if child.child("rate").is_none() && child.child("weak").is_none() {
        child.warn("it misses nothing: there is neither a <rate> nor a <weak> in it", None);
    }
    Miss { rate: share("rate"), weak: share("weak") }
}
