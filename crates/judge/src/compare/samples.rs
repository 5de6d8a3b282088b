//! Samples made ready to be compared: cut to a range, brought to the moments that components
//! share, taken between two, angles without their jumps.

use std::borrow::Cow;
use std::collections::BTreeMap;

use headland_base::SimTime;
use headland_base::maths::{PI, Quat, TAU, slerp, unit_quat, wrap_angle};

use super::pairing::Pair;
use super::side::Series;

/// Those from one place up to another.
pub(super) fn cut(mut series: Series, from: usize, to: usize) -> Series {
    let to = to.max(from);
    series.times.truncate(to);
    series.values.truncate(to);
    series.times.drain(..from);
    series.values.drain(..from);
    series
}

/// Components at the moments that all of them have; at how many others only some are there is
/// counted with the first.
pub(super) fn even(mut columns: Vec<Series>) -> Vec<Series> {
    if columns.iter().all(|column| column.times == columns[0].times) {
        return columns;
    }
    let mut n_there: BTreeMap<SimTime, usize> = BTreeMap::new();
    for time in columns.iter().flat_map(|column| &column.times) {
        *n_there.entry(*time).or_default() += 1;
    }
    let n_wanted = columns.len();
    for column in &mut columns {
        keep(column, |i, times| n_there[&times[i]] == n_wanted);
    }
    columns[0].dropped.n_incomplete = n_there.values().filter(|n| **n < n_wanted).count();
    columns
}

/// The samples of which `is_kept` says so, by their place among the times.
fn keep(series: &mut Series, is_kept: impl Fn(usize, &[SimTime]) -> bool) {
    let kept: Vec<bool> = (0..series.times.len()).map(|i| is_kept(i, &series.times)).collect();
    let mut of_times = kept.iter();
    series.times.retain(|_| *of_times.next().expect("one per time"));
    let mut of_values = kept.iter();
    series.values.retain(|_| *of_values.next().expect("one per value"));
}

/// The orientations in the four columns from `first` on. Moments whose quaternion has no
/// direction are taken out of every column and counted with the first.
pub(super) fn turns(columns: &mut [Series], first: usize) -> Vec<Quat> {
    let at = |columns: &[Series], i: usize| {
        let part = |k: usize| columns[first + k].values[i];
        unit_quat(Quat::from_xyzw(part(0), part(1), part(2), part(3)))
    };
    let all: Vec<Option<Quat>> = (0..columns[0].times.len()).map(|i| at(columns, i)).collect();
    let n_undirected = all.iter().filter(|turn| turn.is_none()).count();
    if n_undirected > 0 {
        columns.iter_mut().for_each(|column| keep(column, |i, _| all[i].is_some()));
        columns[0].dropped.n_undirected = n_undirected;
    }
    all.into_iter().flatten().collect()
}

pub(super) fn turn_between(turns: &[Quat], pair: &Pair) -> Quat {
    match pair.share {
        0.0 => turns[pair.b],
        share => slerp(turns[pair.b], turns[pair.b + 1], share),
    }
}

/// The value of B for a pair; of an angle along the shorter way.
pub(super) fn between(values: &[f64], pair: &Pair, is_angle: bool) -> f64 {
    let from = values[pair.b];
    if pair.share == 0.0 {
        return from;
    }
    let way = values[pair.b + 1] - from;
    from + pair.share * if is_angle { wrap_angle(way) } else { way }
}

/// The values of a number; of an angle with its full turns.
pub(super) fn whole(series: &Series, is_angle: bool) -> Cow<'_, [f64]> {
    if is_angle { unwrapped(&series.values).into() } else { series.values[..].into() }
}

/// Without the jumps of an angle that is kept within a turn. Turns are counted whole, so that a
/// long way adds up no rounding.
fn unwrapped(values: &[f64]) -> Vec<f64> {
    let mut last = values.first().copied().unwrap_or_default();
    let one = |value: &f64| {
        if (value - last).abs() > PI {
            last = value - TAU * ((value - last) / TAU).round();
        } else {
            last = *value;
        }
        last
    };
    values.iter().map(one).collect()
}
