//! Which sample of one side belongs to which of the other.
//!
//! Two lists of times go in, each strictly increasing; pairs come out, and how well they fit.
//! Nothing is left unsaid: whoever is in no pair is counted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headland_base::{SimDuration, SimTime};

/// How a sample of B is found for a moment of A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// Only at the very same nanosecond.
    Exact,
    /// The nearest, within the tolerance.
    #[default]
    Nearest,
    /// On the way between the two samples around it; orientations turn along the shorter arc.
    Interpolate,
}

/// How often a sample may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// Once: the closest pair of all first, then the closest of the rest.
    #[default]
    OneToOne,
    /// As evo does: each moment of the side with fewer samples takes the nearest of the
    /// other, which may be taken again.
    Evo,
}

/// A moment of A and where B is then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Index of the sample of A.
    pub a: usize,
    /// Index of the sample of B, or of the one before.
    pub b: usize,
    /// How far on the way to the next sample of B, from 0 to below 1.
    pub share: f64,
}

/// Who belongs to whom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairing {
    /// In the order of A.
    pub pairs: Vec<Pair>,
    /// Samples of A without one of B.
    pub n_unmatched_a: usize,
    /// Samples of B that no pair uses.
    pub n_unmatched_b: usize,
    /// The largest distance in time within a pair; of interpolated ones to the nearer sample.
    pub dt_max: SimDuration,
    /// The mean distance in time \[s\].
    pub dt_mean_secs: f64,
}

/// Pairs two lists of strictly increasing times. `tolerance` is the most a pair may be apart;
/// for [`Sampling::Interpolate`] the most to the nearer of the two samples around.
pub fn pair(
    times_a: &[SimTime],
    times_b: &[SimTime],
    sampling: Sampling,
    rule: Rule,
    tolerance: Option<SimDuration>,
) -> Pairing {
    let tolerance_nanos = tolerance.map_or(i64::MAX, SimDuration::nanos);
    if sampling == Sampling::Interpolate {
        return interpolated(times_a, times_b, tolerance_nanos);
    }
    let most = if sampling == Sampling::Exact { 0 } else { tolerance_nanos };
    let matched = match rule {
        // The common case of two tables with the same rows.
        Rule::OneToOne if times_a == times_b => (0..times_a.len()).map(|i| (i, i)).collect(),
        Rule::OneToOne => one_to_one(times_a, times_b, most),
        Rule::Evo => as_evo(times_a, times_b, most),
    };
    let distance = |(a, b): &(usize, usize)| distance(times_a[*a], times_b[*b]);
    let dts: Vec<i64> = matched.iter().map(distance).collect();
    let pairs = matched.iter().map(|(a, b)| Pair { a: *a, b: *b, share: 0.0 }).collect();
    finished(pairs, &dts, times_a.len(), times_b.len())
}

fn distance(a: SimTime, b: SimTime) -> i64 {
    (a - b).nanos().saturating_abs()
}

fn finished(pairs: Vec<Pair>, dts: &[i64], n_a: usize, n_b: usize) -> Pairing {
    let mut used_a = vec![false; n_a];
    let mut used_b = vec![false; n_b];
    for pair in &pairs {
        used_a[pair.a] = true;
        used_b[pair.b] = true;
        if pair.share > 0.0 {
            used_b[pair.b + 1] = true;
        }
    }
    let n_unused = |used: &[bool]| used.iter().filter(|used| !**used).count();
    let sum: f64 = dts.iter().map(|dt| *dt as f64).sum();
    Pairing {
        n_unmatched_a: n_unused(&used_a),
        n_unmatched_b: n_unused(&used_b),
        dt_max: SimDuration::from_nanos(dts.iter().copied().max().unwrap_or(0)),
        dt_mean_secs: if dts.is_empty() { 0.0 } else { sum / dts.len() as f64 * 1e-9 },
        pairs,
    }
}

/// The closest pair of all first. It is always made of neighbours in the merged order of both
/// sides, because whoever stands between the two is closer to one of them; so a heap of
/// neighbours is enough, however large the tolerance.
fn one_to_one(times_a: &[SimTime], times_b: &[SimTime], most: i64) -> Vec<(usize, usize)> {
    let merged = merged(times_a, times_b);
    const NONE: usize = usize::MAX;
    let mut before: Vec<usize> = (0..merged.len()).map(|i| i.wrapping_sub(1)).collect();
    let mut after: Vec<usize> = (1..=merged.len()).collect();
    if let Some(last) = after.last_mut() {
        *last = NONE;
    }
    let mut is_gone = vec![false; merged.len()];
    let dt = |i: usize, j: usize| -> Option<i64> {
        let apart = distance(merged[i].time, merged[j].time);
        (merged[i].is_a != merged[j].is_a && apart <= most).then_some(apart)
    };
    let mut heap = BinaryHeap::new();
    for i in 1..merged.len() {
        heap.extend(dt(i - 1, i).map(|dt| Reverse((dt, i - 1, i))));
    }
    let mut matched = Vec::new();
    while let Some(Reverse((_, i, j))) = heap.pop() {
        if is_gone[i] || is_gone[j] {
            continue;
        }
        (is_gone[i], is_gone[j]) = (true, true);
        let (a, b) = if merged[i].is_a { (i, j) } else { (j, i) };
        matched.push((merged[a].index, merged[b].index));
        let (left, right) = (before[i], after[j]);
        if left != NONE {
            after[left] = right;
        }
        if right != NONE {
            before[right] = left;
        }
        if left != NONE && right != NONE {
            heap.extend(dt(left, right).map(|dt| Reverse((dt, left, right))));
        }
    }
    matched.sort_unstable();
    matched
}

struct Merged {
    time: SimTime,
    is_a: bool,
    index: usize,
}

fn merged(times_a: &[SimTime], times_b: &[SimTime]) -> Vec<Merged> {
    let mut all = Vec::with_capacity(times_a.len() + times_b.len());
    let (mut a, mut b) = (0, 0);
    while a < times_a.len() || b < times_b.len() {
        let is_a = b == times_b.len() || (a < times_a.len() && times_a[a] <= times_b[b]);
        let (time, index) = if is_a { (times_a[a], a) } else { (times_b[b], b) };
        all.push(Merged { time, is_a, index });
        if is_a {
            a += 1;
        } else {
            b += 1;
        }
    }
    all
}

/// Each moment of the side with fewer samples takes the nearest of the other, the earlier one
/// where two are as near.
fn as_evo(times_a: &[SimTime], times_b: &[SimTime], most: i64) -> Vec<(usize, usize)> {
    let is_b_longer = times_b.len() > times_a.len();
    let (short, long) = if is_b_longer { (times_a, times_b) } else { (times_b, times_a) };
    let mut matched = Vec::new();
    for (i, time) in short.iter().enumerate() {
        let Some(j) = nearest(long, *time) else { continue };
        if distance(*time, long[j]) <= most {
            matched.push(if is_b_longer { (i, j) } else { (j, i) });
        }
    }
    matched
}

/// The sample nearest to a moment, the earlier of two.
fn nearest(times: &[SimTime], time: SimTime) -> Option<usize> {
    let after = times.partition_point(|t| *t < time);
    let before = after.checked_sub(1);
    match (before, times.get(after)) {
        (Some(before), Some(next)) => {
            let is_before = distance(times[before], time) <= distance(*next, time);
            Some(if is_before { before } else { after })
        }
        (Some(before), None) => Some(before),
        (None, Some(_)) => Some(after),
        (None, None) => None,
    }
}

fn interpolated(times_a: &[SimTime], times_b: &[SimTime], most: i64) -> Pairing {
    let (mut pairs, mut dts) = (Vec::new(), Vec::new());
    let mut before = 0;
    for (a, time) in times_a.iter().enumerate() {
        while times_b.get(before + 1).is_some_and(|next| next <= time) {
            before += 1;
        }
        let Some(from) = times_b.get(before).filter(|from| *from <= time) else { continue };
        let gone = distance(*time, *from);
        let (share, dt) = match times_b.get(before + 1) {
            _ if gone == 0 => (0.0, 0),
            Some(to) => {
                let whole = distance(*to, *from);
                (gone as f64 / whole as f64, gone.min(whole - gone))
            }
            None => continue, // nothing is known after the last sample
        };
        if dt <= most {
            pairs.push(Pair { a, b: before, share });
            dts.push(dt);
        }
    }
    finished(pairs, &dts, times_a.len(), times_b.len())
}

/// The middle one of the intervals between times, the lower of two.
pub fn median_interval(times: &[SimTime]) -> Option<SimDuration> {
    let mut intervals: Vec<i64> = times.windows(2).map(|w| (w[1] - w[0]).nanos()).collect();
    if intervals.is_empty() {
        return None;
    }
    let middle = (intervals.len() - 1) / 2;
    let (_, median, _) = intervals.select_nth_unstable(middle);
    Some(SimDuration::from_nanos(*median))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: &[i64]) -> Vec<SimTime> {
        nanos.iter().map(|n| SimTime::from_nanos(*n)).collect()
    }

    fn matched(a: &[i64], b: &[i64], rule: Rule, most: i64) -> Vec<(usize, usize)> {
        let tolerance = Some(SimDuration::from_nanos(most));
        let pairing = pair(&at(a), &at(b), Sampling::Nearest, rule, tolerance);
        pairing.pairs.iter().map(|pair| (pair.a, pair.b)).collect()
    }

    #[test]
    fn the_closest_pair_is_served_first() {
        // 10 is nearest to 12, but 12 is nearer to 13; so 10 takes what is left.
        assert_eq!(matched(&[10, 13], &[0, 12], Rule::OneToOne, 100), [(0, 0), (1, 1)]);
        assert_eq!(matched(&[10, 13], &[0, 12], Rule::OneToOne, 5), [(1, 1)]);
        // evo uses 12 twice.
        assert_eq!(matched(&[10, 13], &[0, 12, 99], Rule::Evo, 100), [(0, 1), (1, 1)]);
        // Of two as near, the earlier.
        assert_eq!(matched(&[10], &[8, 12], Rule::OneToOne, 5), [(0, 0)]);
        assert_eq!(matched(&[10], &[8, 12], Rule::Evo, 5), [(0, 0)]);
    }

    /// Two roads: the heap of neighbours, and sorting every pair there is.
    #[test]
    fn one_to_one_is_greedy_over_all_pairs() {
        let mut state = 12345u64;
        let mut next = |below: i64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) as i64) % below
        };
        for _ in 0..200 {
            // So far apart that no two distances are equal.
            let mut list = |n: i64| {
                let mut all: Vec<i64> = (0..n).map(|_| next(1_000_000_000)).collect();
                all.sort_unstable();
                all.dedup();
                all
            };
            let (a, b) = (list(25), list(40));
            let most = next(100_000_000);
            let mut all: Vec<(i64, usize, usize)> = Vec::new();
            for (i, x) in a.iter().enumerate() {
                all.extend(b.iter().enumerate().map(|(j, y)| ((x - y).abs(), i, j)));
            }
            all.retain(|(dt, ..)| *dt <= most);
            all.sort_unstable();
            let (mut used_a, mut used_b, mut wanted) = ([false; 25], [false; 40], Vec::new());
            for (_, i, j) in all {
                if !used_a[i] && !used_b[j] {
                    (used_a[i], used_b[j]) = (true, true);
                    wanted.push((i, j));
                }
            }
            wanted.sort_unstable();
            assert_eq!(matched(&a, &b, Rule::OneToOne, most), wanted);
        }
    }

    #[test]
    fn everything_unmatched_is_counted() {
        let pairing = pair(
            &at(&[0, 10, 20, 30]),
            &at(&[1, 9, 11, 50]),
            Sampling::Nearest,
            Rule::OneToOne,
            Some(SimDuration::from_nanos(2)),
        );
        assert_eq!(pairing.pairs.len(), 2);
        assert_eq!((pairing.n_unmatched_a, pairing.n_unmatched_b), (2, 2));
        assert_eq!(pairing.dt_max.nanos(), 1);
        assert!((pairing.dt_mean_secs - 1e-9).abs() < 1e-18);
        let exact = pair(
            &at(&[0, 10, 20]),
            &at(&[0, 11, 20]),
            Sampling::Exact,
            Rule::OneToOne,
            Some(SimDuration::from_nanos(5)),
        );
        assert_eq!(exact.pairs.len(), 2);
    }

    #[test]
    fn between_two_samples_there_is_a_share() {
        let (a, b) = (at(&[5, 10, 15, 40, 41]), at(&[10, 20, 40]));
        let pairing = pair(&a, &b, Sampling::Interpolate, Rule::OneToOne, None);
        let got: Vec<(usize, usize, f64)> =
            pairing.pairs.iter().map(|pair| (pair.a, pair.b, pair.share)).collect();
        assert_eq!(got, [(1, 0, 0.0), (2, 0, 0.5), (3, 2, 0.0)]);
        assert_eq!((pairing.n_unmatched_a, pairing.n_unmatched_b), (2, 0));
        // A gap that is too wide is no line.
        let near = Some(SimDuration::from_nanos(4));
        assert_eq!(pair(&a, &b, Sampling::Interpolate, Rule::OneToOne, near).pairs.len(), 2);
    }

    #[test]
    fn nothing_pairs_with_nothing() {
        for sampling in [Sampling::Exact, Sampling::Nearest, Sampling::Interpolate] {
            for rule in [Rule::OneToOne, Rule::Evo] {
                assert!(pair(&[], &at(&[1]), sampling, rule, None).pairs.is_empty());
                assert!(pair(&at(&[1]), &[], sampling, rule, None).pairs.is_empty());
            }
        }
        assert_eq!(median_interval(&at(&[3])), None);
        assert_eq!(median_interval(&at(&[0, 1, 3, 100])), Some(SimDuration::from_nanos(2)));
    }
}
