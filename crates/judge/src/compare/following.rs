//! A side that still comes: samples of B, one by one, against an A that is whole.
//!
//! The figures of [`Running`] are kept per key, and one sample: however long it goes on, nothing
//! else grows. Pairs are those of a whole comparison but for two things: where two samples of B
//! want the same of A the closer one gets it, and the other none; and where nobody says how far
//! apart they may be, it is half of A's interval, because B's is not known yet.

use headland_base::glob::matches;
use headland_base::maths::{PI, wrap_angle};
use headland_base::{Diagnostic, SimTime};
use headland_record::Unit;
use headland_record::track::joint_key;

use super::digits::Digits;
use super::items::{What, items};
use super::pairing::{Sampling, median_interval};
use super::running::Running;
use super::side::{Dropped, Series, Side};
use super::{Options, units_differ, unknown_key, unknown_patterns};

/// B, as it comes.
pub struct Following {
    keys: Vec<Followed>,
    sampling: Sampling,
    latest: Option<SimTime>,
    n_rows: u64,
}

struct Followed {
    key: String,
    /// Where its numbers stand in a row.
    column: usize,
    a: Series,
    is_angle: bool,
    most_nanos: i64,
    /// The first sample of A that B has not come to.
    next: usize,
    /// The first sample of A after all that are in a pair.
    after_pairs: usize,
    previous: Option<(SimTime, f64)>,
    /// The best so far for a sample of A: which, the number of B, how far apart.
    held: Option<(usize, f64, i64)>,
    running: Running,
    digits: Digits,
    n_b: u64,
    dropped: Dropped,
}

/// A column of what comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// What its numbers are called.
    pub key: String,
    /// What they are in once they are SI.
    pub unit: Unit,
}

/// The code of what is said of two keys that mean one signal.
pub const SIGNAL_TWICE: &str = "signal-twice";

/// What to say of two columns that are one signal.
pub fn signal_twice(first: &str, second: &str) -> Diagnostic {
    let message = format!("`{first:.120}` and `{second:.120}` are the same signal");
    Diagnostic::error(SIGNAL_TWICE, message)
        .help("keep one of these columns; --key selects, --map gives new names")
}

/// How many samples are in no pair so far, of all keys together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// Of those of A that B has come past.
    pub n_a: u64,
    /// Of B; where it is interpolated they belong to no pair alone, and none is counted.
    pub n_b: u64,
}

impl Following {
    /// Waits for rows with these columns. An error is a key nobody knows, or one in other units;
    /// what is wanted, and how a sample of B is found, is as with [`super::compare`].
    pub fn new(
        a: &Side<'_>,
        columns: &[Heading],
        options: &Options,
    ) -> Result<Following, Vec<Diagnostic>> {
        let mut all = items(a.keys());
        all.retain(|item| item.what == What::Number);
        // Short words mean what they mean in a whole table: `hinge/pos` is `hinge/position`.
        let whole: Vec<Option<String>> =
            columns.iter().map(|column| joint_key(&column.key)).collect();
        let is = |i: usize, key: &str| columns[i].key == key || whole[i].as_deref() == Some(key);
        let has = |pattern: &str| {
            let keys = columns.iter().map(|column| column.key.as_str());
            keys.chain(whole.iter().flatten().map(String::as_str)).any(|key| matches(pattern, key))
        };
        let mut unknown = unknown_patterns(&all, has, options);
        let (mut keys, mut differing) = (Vec::new(), Vec::new());
        for item in all {
            let is_wanted = options.selection.wants(&item.key, item.is_usual);
            if !is_wanted {
                continue;
            }
            let mut there = (0..columns.len()).filter(|i| is(*i, &item.key));
            let (found, other) = (there.next(), there.next());
            if let (Some(first), Some(second)) = (found, other) {
                differing.push(signal_twice(&columns[first].key, &columns[second].key));
                continue;
            }
            let Some(column) = found else {
                let known = columns.iter().map(|column| column.key.as_str());
                let near = headland_base::names::nearest(&item.key, known);
                unknown.push(unknown_key(&item.key, near));
                continue;
            };
            differing.extend(units_differ(&item.key, a.unit(&item.key), columns[column].unit));
            keys.extend(Followed::new(a, item.key, column, options));
        }
        // A key in other units, or in two columns, is not unknown.
        if !options.ignores_unknown {
            differing.extend(unknown);
        }
        if !differing.is_empty() {
            return Err(differing);
        }
        Ok(Following { keys, sampling: options.sampling, latest: None, n_rows: 0 })
    }

    /// Takes one more row: a number per column, not a number where there is none.
    pub fn row(&mut self, time: SimTime, numbers: &[f64]) {
        self.n_rows += 1;
        self.latest = self.latest.max(Some(time));
        for key in &mut self.keys {
            key.sample(time, numbers[key.column], self.sampling);
        }
    }

    /// No more comes.
    pub fn finish(&mut self) {
        self.keys.iter_mut().for_each(Followed::settle);
    }

    /// Every key and its figures so far.
    pub fn figures(&self) -> impl Iterator<Item = (&str, &Running)> {
        self.keys.iter().map(|key| (key.key.as_str(), &key.running))
    }

    /// What to say of keys whose numbers so far are too large for their errors to say anything.
    pub fn lacking_digits(&self) -> Vec<Diagnostic> {
        self.keys.iter().filter_map(|key| key.digits.lacking(&key.key, key.is_angle)).collect()
    }

    /// Rows so far.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// The latest time of a row.
    pub fn latest(&self) -> Option<SimTime> {
        self.latest
    }

    /// Samples in no pair.
    pub fn unmatched(&self) -> Unmatched {
        let mut out = Unmatched::default();
        for key in &self.keys {
            let n_pairs = key.running.n + u64::from(key.held.is_some());
            out.n_a += (key.next.max(key.after_pairs) as u64).saturating_sub(n_pairs);
            if self.sampling != Sampling::Interpolate {
                out.n_b += key.n_b.saturating_sub(n_pairs);
            }
        }
        out
    }

    /// Samples of B that were left out, of all keys together.
    pub fn dropped(&self) -> Dropped {
        let mut out = Dropped::default();
        for Dropped { n_duplicate, n_backward, n_not_finite, .. } in
            self.keys.iter().map(|key| key.dropped)
        {
            out.n_duplicate += n_duplicate;
            out.n_backward += n_backward;
            out.n_not_finite += n_not_finite;
        }
        out
    }
}

impl Followed {
    fn new(a: &Side<'_>, key: String, column: usize, options: &Options) -> Option<Followed> {
        let mut series = a.series(&key)?;
        let from = options.start.map_or(0, |start| series.times.partition_point(|t| *t < start));
        let to = options.end.map_or(series.times.len(), |end| {
            series.times.partition_point(|t| *t <= end).max(from)
        });
        series.times = series.times[from..to].to_vec();
        series.values = series.values[from..to].to_vec();
        let half = || median_interval(&series.times).map_or(0, |middle| middle.nanos() / 2);
        let most_nanos = match (options.sampling, options.tolerance) {
            (Sampling::Exact, _) => 0,
            (_, Some(most)) => most.nanos(),
            (Sampling::Interpolate, None) => i64::MAX,
            (Sampling::Nearest, None) => half(),
        };
        let is_angle = options.wraps && a.is_angle(&key);
        Some(Followed {
            key,
            column,
            digits: Digits::of(&series.values, &[]),
            a: series,
            is_angle,
            most_nanos,
            next: 0,
            after_pairs: 0,
            previous: None,
            held: None,
            running: Running::default(),
            n_b: 0,
            dropped: Dropped::default(),
        })
    }

    fn sample(&mut self, time: SimTime, value: f64, sampling: Sampling) {
        if value.is_nan() {
            return; // no sample of this key at this time
        }
        match self.previous {
            _ if value.is_infinite() => self.dropped.n_not_finite += 1,
            Some((last, _)) if time == last => self.dropped.n_duplicate += 1,
            Some((last, _)) if time < last => self.dropped.n_backward += 1,
            previous => {
                self.n_b += 1;
                match sampling {
                    Sampling::Interpolate => self.interpolate(previous, (time, value)),
                    _ => self.nearest(time, value),
                }
                self.previous = Some((time, value));
            }
        }
    }

    fn nearest(&mut self, time: SimTime, value: f64) {
        let times = &self.a.times;
        while times.get(self.next).is_some_and(|t| *t <= time) {
            self.next += 1;
        }
        let around = [self.next.checked_sub(1), Some(self.next)].into_iter().flatten();
        let apart = |i: usize| Some(((*times.get(i)? - time).nanos().saturating_abs(), i));
        // The earlier of two that are as near.
        let Some((dt, a)) = around.filter_map(apart).min() else { return };
        if dt > self.most_nanos {
            return;
        }
        self.after_pairs = a + 1;
        match self.held {
            Some((held, _, held_dt)) if held == a && held_dt <= dt => {}
            Some((held, ..)) if held == a => self.held = Some((a, value, dt)),
            _ => {
                self.settle();
                self.held = Some((a, value, dt));
            }
        }
    }

    /// All moments of A up to now, on the way from the sample of B before.
    fn interpolate(&mut self, previous: Option<(SimTime, f64)>, (time, value): (SimTime, f64)) {
        while let Some(at) = self.a.times.get(self.next).copied().filter(|at| *at <= time) {
            let a = self.next;
            self.next += 1;
            let found = match previous {
                _ if at == time => Some(value),
                Some((last, from)) if at > last => {
                    let (gone, whole) = ((at - last).nanos(), (time - last).nanos());
                    let way = value - from;
                    let way = if self.is_angle { wrap_angle(way) } else { way };
                    let is_near = gone.min(whole - gone) <= self.most_nanos;
                    is_near.then(|| from + gone as f64 / whole as f64 * way)
                }
                _ => None, // nothing is known before the first sample
            };
            if let Some(b) = found {
                self.add(a, b);
            }
        }
    }

    /// The pair that is held is made.
    fn settle(&mut self) {
        if let Some((a, b, _)) = self.held.take() {
            self.add(a, b);
        }
    }

    fn add(&mut self, a: usize, b: f64) {
        self.digits.add_b(b);
        let error = b - self.a.values[a];
        let turns = self.is_angle && error.abs() > PI;
        let error = if turns { wrap_angle(error) } else { error };
        self.running.add(self.a.times[a], error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{KeyMap, compare};
    use headland_base::Seed;
    use headland_record::Recording;
    use headland_record::csv::{TableOptions, read};
    use rand_chacha::rand_core::Rng as _;

    fn recording(rows: &[(i64, f64)]) -> Recording {
        let row = |(millis, value): &(i64, f64)| format!("{millis}e-3,{value:?}\n");
        let text: String = rows.iter().map(row).collect();
        read(format!("time,q/position\n{text}").as_bytes(), "t", &TableOptions::default()).0
    }

    fn heading(key: &str) -> Heading {
        Heading { key: key.to_string(), unit: Unit::Unsaid }
    }

    /// Jittered stamps, angles that jump by a turn, stamps that repeat or go back: what comes row
    /// by row has the figures of the whole, however B is found.
    #[test]
    fn row_by_row_is_the_whole() {
        let mut rng = Seed::new(5).child("following").rng();
        let mut jitter = |most: u64| (rng.next_u64() % most) as i64;
        let angle = |millis: i64| wrap_angle(9.0 * headland_base::maths::sin(millis as f64 * 1e-3));
        let a: Vec<(i64, f64)> =
            (0..700).map(|i| 10 * i + jitter(3)).map(|t| (t, angle(t))).collect();
        let mut b: Vec<(i64, f64)> =
            (3..650).map(|i| 10 * i + jitter(4)).map(|t| (t, angle(t - 15))).collect();
        b.insert(100, b[99]);
        b.insert(200, b[190]);
        let (whole_a, whole_b, map) = (recording(&a), recording(&b), KeyMap::default());
        let side = Side::new(&whole_a, &map);
        for sampling in [Sampling::Exact, Sampling::Nearest, Sampling::Interpolate] {
            let options = Options { sampling, ..Options::default() };
            let wanted = compare(&side, &Side::new(&whole_b, &map), &options).unwrap();
            let (wanted, counts) = (wanted.keys[0].stats.as_ref().unwrap(), wanted.keys[0].counts);
            let columns = ["other", "q/position"].map(heading);
            let mut following = Following::new(&side, &columns, &options).unwrap();
            for (millis, value) in &b {
                following.row(SimTime::from_nanos(millis * 1_000_000), &[0.5, *value]);
            }
            following.finish();
            let (_, found) = following.figures().next().unwrap();
            assert_eq!(found.n, wanted.n as u64, "{sampling:?}");
            assert!((found.rmse().unwrap() - wanted.rmse).abs() < 1e-12, "{sampling:?}");
            assert_eq!(found.max_abs.unwrap().0, wanted.max_abs.0, "{sampling:?}");
            let Dropped { n_duplicate, n_backward, .. } = following.dropped();
            assert_eq!((n_duplicate, n_backward), (1, 1));
            // What A has after the last of B is not yet missed.
            let n_a = following.unmatched().n_a;
            assert!(n_a <= counts.n_unmatched_a as u64, "{sampling:?} {n_a}");
            if sampling != Sampling::Interpolate {
                assert_eq!(following.unmatched().n_b, counts.n_unmatched_b as u64);
            }
        }
    }

    #[test]
    fn a_key_that_does_not_come_is_named() {
        let a = recording(&[(0, 1.0), (10, 2.0)]);
        let map = KeyMap::default();
        let (side, columns) = (Side::new(&a, &map), ["q/positon"].map(heading));
        let faults = Following::new(&side, &columns, &Options::default()).err().unwrap();
        assert_eq!(faults[0].code, "unknown-key");
        let options = Options { ignores_unknown: true, ..Options::default() };
        assert_eq!(Following::new(&side, &columns, &options).unwrap().figures().count(), 0);
    }

    /// Short words of joints are known as in whole tables, and two columns of one signal refused,
    /// whatever is ignored.
    #[test]
    fn short_words_are_known_and_two_columns_of_one_signal_refused() {
        let a = recording(&[(0, 1.0), (10, 2.0)]);
        let map = KeyMap::default();
        let side = Side::new(&a, &map);
        let patterns = vec!["q/*".to_string()];
        for ignores_unknown in [false, true] {
            let selection = super::super::Selection { patterns: patterns.clone() };
            let options = Options { ignores_unknown, selection, ..Options::default() };
            let made = |keys: &[&str]| {
                let columns: Vec<Heading> = keys.iter().map(|key| heading(key)).collect();
                let made = Following::new(&side, &columns, &options);
                made.map(|following| following.figures().count()).map_err(|all| all[0].code)
            };
            assert_eq!(made(&["q/pos"]), Ok(1));
            assert_eq!(made(&["q/pos", "q/velocity"]), Ok(1));
            assert_eq!(made(&["q/pos", "q/position"]), Err("signal-twice"));
            assert_eq!(made(&["p/pos", "p/position", "q/position"]), Ok(1), "of nobody's concern");
        }
    }

    /// Whatever is ignored: a key in other units is not unknown.
    #[test]
    fn a_key_in_other_units_is_refused() {
        let mut a = recording(&[(0, 1.0), (10, 2.0)]);
        a.say_unit("q/position", "rad");
        let (map, mut column) = (KeyMap::default(), heading("q/position"));
        let side = Side::new(&a, &map);
        let options = Options { ignores_unknown: true, ..Options::default() };
        for (unit, code) in [
            (Unit::Si("rad"), None),
            (Unit::Unsaid, None),
            (Unit::Si("m"), Some("units-differ")),
            (Unit::Unknown, Some("unknown-unit")),
        ] {
            column.unit = unit;
            let made = Following::new(&side, &[column.clone()], &options);
            assert_eq!(made.err().map(|faults| faults[0].code), code, "{unit:?}");
        }
    }
}
