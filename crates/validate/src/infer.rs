//! The state of a moment from what was measured around it.
//!
//! Positions are those measured, on a straight line between two samples where there is none at
//! the moment itself. Velocities are those measured, else the slope of a parabola through the
//! three samples at the moment: central differences, and at the ends the same from one side.

use headland_base::SimTime;
use headland_base::maths::{PI, Quat, Vec3, rotation_vector_from_quat, unit_quat, wrap_angle};
use headland_judge::compare::Series;
use headland_sim::Model;
use headland_world::JointKind;

use crate::Replay;
use crate::placing::Known;
use crate::source::{Frame, FrameQuantity, JointQuantity, Source};

/// What was measured of the state, ready to be asked at any moment.
#[derive(Clone, Debug, Default)]
pub struct Inference<'a> {
    parts: Vec<Part<'a>>,
}

/// Something that is measured, and what follows of it.
#[derive(Clone, Debug)]
enum Part<'a> {
    /// The slope of a number, as a velocity.
    Slope { of: Source, series: &'a Series, is_angle: bool },
    /// The slope of an orientation, as an angular velocity.
    Turn { of: Frame, series: Vec<&'a Series> },
    /// A number that is a position or a velocity itself. Comes after the slopes, over which it is
    /// told.
    Number { source: Source, series: &'a Series, is_angle: bool },
}

impl<'a> Inference<'a> {
    /// From what was measured: what each key means, and its samples.
    pub fn of(model: &Model, signals: &[(Source, &'a Series)]) -> Inference<'a> {
        let mut parts = Vec::new();
        for (source, series) in signals {
            let is_angle = is_angle(model, source);
            if let Some(of) = velocity_of(source).filter(|of| !is_told_in_body(signals, of)) {
                parts.push(Part::Slope { of, series, is_angle });
            }
        }
        for (source, _) in signals {
            let Source::Frame(frame, FrameQuantity::Pose(3)) = source else { continue };
            let series = (3..7).filter_map(|part| {
                let wanted = Source::Frame(*frame, FrameQuantity::Pose(part));
                let at = signals.iter().position(|(source, _)| *source == wanted)?;
                Some(signals[at].1)
            });
            let series: Vec<&Series> = series.collect();
            let is_even = series.iter().all(|one| one.times == series[0].times);
            let [spin, ..] = spin_of(frame);
            if series.len() == 4 && is_even && !is_told_in_body(signals, &spin) {
                parts.push(Part::Turn { of: *frame, series });
            }
        }
        let numbers = signals.iter().filter(|(source, _)| Known::new().tell(source, 0.0));
        parts.extend(numbers.map(|(source, series)| Part::Number {
            source: source.clone(),
            series,
            is_angle: is_angle(model, source),
        }));
        Inference { parts }
    }

    /// Tells what is known of a moment: what was measured, and which velocities are slopes.
    pub fn at(&self, time: SimTime, known: &mut Known) -> (Vec<Source>, Vec<Source>) {
        let (mut measured, mut slopes) = (Vec::new(), Vec::new());
        for part in &self.parts {
            match part {
                Part::Slope { of, series, is_angle } => {
                    if let Some(slope) = slope_at(series, time, *is_angle) {
                        known.tell(of, slope);
                        slopes.push(of.clone());
                    }
                }
                Part::Turn { of, series } => {
                    if let Some(spin) = spin_at(series, time) {
                        for (axis, source) in spin_of(of).into_iter().enumerate() {
                            known.tell(&source, spin[axis]);
                            slopes.push(source);
                        }
                    }
                }
                Part::Number { source, series, is_angle } => {
                    // A velocity that was not measured here is better told by the slope.
                    let is_slope = slopes.contains(source);
                    if is_slope && !covers(&series.times, time) {
                        continue;
                    }
                    if let Some(value) = value_at(series, time, *is_angle) {
                        known.tell(source, value);
                        measured.push(source.clone());
                        slopes.retain(|slope| slope != source);
                    }
                }
            }
        }
        (measured, slopes)
    }
}

/// Whether a moment lies within what was sampled, or at most an interval outside.
fn covers(times: &[SimTime], time: SimTime) -> bool {
    match times {
        [] => false,
        [only] => *only == time,
        [first, second, ..] => {
            let (last, before) = (times[times.len() - 1], times[times.len() - 2]);
            time >= *first - (*second - *first) && time <= last + (last - before)
        }
    }
}

/// The angular velocity of a frame along the world's axes.
fn spin_of(frame: &Frame) -> [Source; 3] {
    [0, 1, 2]
        .map(|axis| Source::Frame(*frame, FrameQuantity::Vector { which: 1, axis, in_body: false }))
}

/// Whether full turns of a number do not matter: of what turns, not of what slides.
pub fn is_angle(model: &Model, source: &Source) -> bool {
    match source {
        Source::Joint(i, JointQuantity::Position) => {
            let joint = &model.joints[model.dofs[*i].joint_idx];
            !matches!(joint.kind, JointKind::Prismatic(_))
        }
        Source::Frame(_, FrameQuantity::Pose(component)) => *component >= 7,
        _ => false,
    }
}

/// Of each signal of a replay, whether full turns of it do not matter.
pub(crate) fn angles_of(replay: &Replay) -> Vec<bool> {
    replay.sources().iter().map(|source| is_angle(replay.model(), source)).collect()
}

/// The velocity that the slope of a position is. Of turns it is more than a slope of numbers.
fn velocity_of(source: &Source) -> Option<Source> {
    match source {
        Source::Joint(i, JointQuantity::Position) => {
            Some(Source::Joint(*i, JointQuantity::Velocity))
        }
        Source::Frame(frame, FrameQuantity::Pose(axis @ 0..3)) => {
            let which = FrameQuantity::Vector { which: 0, axis: *axis, in_body: false };
            Some(Source::Frame(*frame, which))
        }
        _ => None,
    }
}

/// Whether the velocity of a frame was measured along the frame's own axes.
fn is_told_in_body(signals: &[(Source, &Series)], velocity: &Source) -> bool {
    let Source::Frame(frame, FrameQuantity::Vector { which, .. }) = velocity else { return false };
    signals.iter().any(|(source, _)| match source {
        Source::Frame(other, FrameQuantity::Vector { which: other_which, in_body: true, .. }) => {
            other == frame && other_which == which
        }
        _ => false,
    })
}

/// The two samples around a moment, or the nearest two, and how far between them it is.
fn around(times: &[SimTime], time: SimTime) -> Option<(usize, usize, f64)> {
    let after = times.partition_point(|t| *t < time);
    if times.get(after) == Some(&time) {
        return Some((after, after, 0.0));
    }
    match (after, times.len()) {
        (_, 0) => None,
        (_, 1) => Some((0, 0, 0.0)),
        (after, n) => {
            let (a, b) = (after.clamp(1, n - 1) - 1, after.clamp(1, n - 1));
            let share = (time - times[a]).secs() / (times[b] - times[a]).secs();
            Some((a, b, share.clamp(-1.0, 2.0)))
        }
    }
}

fn value_at(series: &Series, time: SimTime, is_angle: bool) -> Option<f64> {
    let (a, b, share) = around(&series.times, time)?;
    let way = series.values[b] - series.values[a];
    let way = if is_angle && way.abs() > PI { wrap_angle(way) } else { way };
    Some(series.values[a] + way * share)
}

/// Three neighbouring samples at a moment, or as many as there are.
fn neighbours(times: &[SimTime], time: SimTime) -> std::ops::Range<usize> {
    let at = times.partition_point(|t| *t < time);
    let first = at.saturating_sub(1).min(times.len().saturating_sub(3));
    first..(first + 3).min(times.len())
}

fn slope_at(series: &Series, time: SimTime, is_angle: bool) -> Option<f64> {
    let near = neighbours(&series.times, time);
    let first = *series.values.get(near.start)?;
    let mut last = first;
    let points: Vec<(f64, f64)> = near
        .map(|i| {
            let way = series.values[i] - last;
            last += if is_angle && way.abs() > PI { wrap_angle(way) } else { way };
            ((series.times[i] - time).secs(), last - first)
        })
        .collect();
    slope_at_zero(&points)
}

/// How an orientation turns, in the world's frame.
fn spin_at(series: &[&Series], time: SimTime) -> Option<Vec3> {
    let near = neighbours(&series[0].times, time);
    let turn = |i: usize| {
        let part = |part: usize| series[part].values.get(i).copied();
        unit_quat(Quat::from_xyzw(part(0)?, part(1)?, part(2)?, part(3)?))
    };
    let first = turn(near.start)?;
    let mut ways = [Vec::new(), Vec::new(), Vec::new()];
    for i in near {
        let way = rotation_vector_from_quat(turn(i)? * first.conjugate());
        let secs = (series[0].times[i] - time).secs();
        (0..3).for_each(|axis| ways[axis].push((secs, way[axis])));
    }
    let [x, y, z] = [0, 1, 2].map(|axis| slope_at_zero(&ways[axis]));
    Some(Vec3::new(x?, y?, z?))
}

/// The slope at zero of the parabola through three points, or of the line through two.
fn slope_at_zero(points: &[(f64, f64)]) -> Option<f64> {
    match points {
        [(x0, y0), (x1, y1)] => Some((y1 - y0) / (x1 - x0)),
        [(x0, y0), (x1, y1), (x2, y2)] => {
            // The derivatives of Lagrange's three polynomials at zero.
            let l0 = -(x1 + x2) / ((x0 - x1) * (x0 - x2));
            let l1 = -(x0 + x2) / ((x1 - x0) * (x1 - x2));
            let l2 = -(x0 + x1) / ((x2 - x0) * (x2 - x1));
            Some(l0 * y0 + l1 * y1 + l2 * y2)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(f: impl Fn(f64) -> f64) -> Series {
        let times: Vec<SimTime> =
            [0, 10, 25, 30, 50].map(|ms| SimTime::from_nanos(ms * 1_000_000)).to_vec();
        let values = times.iter().map(|t| f(t.secs())).collect();
        Series { times, values, ..Series::default() }
    }

    /// A parabola's slope is found exactly, at samples, between them and at the ends.
    #[test]
    fn slopes_of_parabolas_are_exact() {
        let parabola = series(|t| 0.3 + 2.0 * t - 7.0 * t * t);
        for ms in [0, 10, 12, 25, 41, 50] {
            let time = SimTime::from_nanos(ms * 1_000_000);
            let slope = slope_at(&parabola, time, false).unwrap();
            assert!((slope - (2.0 - 14.0 * time.secs())).abs() < 1e-12, "{ms} ms: {slope}");
        }
    }

    #[test]
    fn an_angle_may_jump_by_a_turn() {
        let angle = series(|t| wrap_angle(3.1 + 4.0 * t));
        assert!((slope_at(&angle, SimTime::ZERO, true).unwrap() - 4.0).abs() < 1e-9);
        let between = value_at(&angle, SimTime::from_nanos(12_000_000), true).unwrap();
        assert!((wrap_angle(between - 3.148)).abs() < 1e-12);
    }

    /// A steady spin about a slanted axis.
    #[test]
    fn a_spin_is_read_off_orientations() {
        let spin = Vec3::new(0.5, -1.0, 2.0);
        let turn = |t: f64| {
            headland_base::maths::quat_from_rotation_vector(spin * t)
                * headland_base::maths::quat_from_rpy(0.3, 0.2, 0.1)
        };
        let parts: Vec<Series> = (0..4).map(|i| series(|t| turn(t).to_array()[i])).collect();
        let found =
            spin_at(&parts.iter().collect::<Vec<_>>(), SimTime::from_nanos(10_000_000)).unwrap();
        assert!((found - spin).length() < 1e-9, "{found}");
    }
}
