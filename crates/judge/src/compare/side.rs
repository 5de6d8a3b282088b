//! One of the two sides: the numbers of a recording by key, ready to be compared.
//!
//! A [`Recording`] goes in; [`Series`] come out, one at a time, so that memory holds the
//! recording and the key at hand. A series has strictly increasing times and finite values:
//! of equal times the first is kept, and everything left out is counted.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::names::nearest;
use headland_base::{Diagnostic, Findings, SimDuration, SimTime, glob};
use headland_record::{LeftOut, Recording, Unit};

/// New names of keys: `/imu/data/angular_velocity/* -> torso/angular_vel/*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyMap {
    rules: Vec<(String, String)>,
}

impl KeyMap {
    /// Reads one rule per line, `OLD -> NEW`; a `*` in both stands for the same letters. `#`
    /// starts a comment. Every line that is no rule is a finding.
    pub fn parse(text: &str, name: &str) -> (KeyMap, Findings) {
        let (mut rules, mut findings) = (Vec::new(), Findings::new());
        for (i, line) in text.lines().enumerate() {
            let line = line.trim_start_matches('\u{feff}').trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parts = line.split_once("->").map(|(old, new)| (old.trim(), new.trim()));
            let n_stars = |text: &str| text.matches('*').count();
            match parts {
                Some((old, new))
                    if !old.is_empty()
                        && !new.is_empty()
                        && n_stars(old) <= 1
                        && n_stars(old) == n_stars(new) =>
                {
                    let bare = |key: &str| key.trim_start_matches('/').to_string();
                    rules.push((bare(old), bare(new)));
                }
                _ => {
                    let message = format!("`{name}` line {}: `{line:.80}` is no rule", i + 1);
                    let help = "a rule is `OLD -> NEW`; one `*` may stand in both";
                    findings.push(Diagnostic::error("bad-key-map", message).help(help));
                }
            }
        }
        (KeyMap { rules }, findings)
    }

    /// The name a key gets: by the first rule that fits, else its own.
    pub fn renamed(&self, key: &str) -> String {
        let fits = |old: &str| -> Option<String> {
            let Some((head, tail)) = old.split_once('*') else {
                return (old == key).then(String::new);
            };
            let middle = key.strip_prefix(head)?.strip_suffix(tail)?;
            Some(middle.to_string())
        };
        let found = self.rules.iter().find_map(|(old, new)| Some(new.replace('*', &fits(old)?)));
        found.unwrap_or_else(|| key.to_string())
    }
}

/// What was left out of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Samples at the time of the one before.
    pub n_duplicate: usize,
    /// Samples earlier than the one before.
    pub n_backward: usize,
    /// Infinities.
    pub n_not_finite: usize,
    /// Moments at which some components of a vector are there and others are not.
    pub n_incomplete: usize,
    /// Quaternions of which nobody can say where they turn.
    pub n_undirected: usize,
}

/// One number over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Strictly increasing.
    pub times: Vec<SimTime>,
    /// Finite, one per time.
    pub values: Vec<f64>,
    /// `m`, `rad`, …; `Unit::Unsaid` where nobody said.
    pub unit: Unit,
    /// What was left out.
    pub dropped: Dropped,
}

/// One side of a comparison.
pub struct Side<'r> {
    recording: &'r Recording,
    /// What keys are called here, and in the recording.
    keys: BTreeMap<String, String>,
    /// Those that would get a name another has, with that name.
    merged: Vec<(String, [String; 2])>,
    /// Those that are angles of joints.
    joint_angles: BTreeSet<String>,
    /// Added to every time.
    shift: SimDuration,
}

impl<'r> Side<'r> {
    /// A recording whose keys get new names.
    pub fn new(recording: &'r Recording, map: &KeyMap) -> Side<'r> {
        let mut keys = BTreeMap::new();
        let mut merged = Vec::new();
        for key in recording.keys() {
            let renamed = map.renamed(&key);
            match keys.get(&renamed) {
                Some(other) => merged.push((renamed, [String::clone(other), key])),
                None => _ = keys.insert(renamed, key),
            }
        }
        let joints = recording.joints().into_iter();
        let joint_angles = joints.map(|(name, ..)| map.renamed(&format!("{name}/position")));
        let joint_angles = joint_angles.collect();
        Side { recording, keys, merged, joint_angles, shift: SimDuration::ZERO }
    }

    /// Keys that would all get one name: nobody could tell which is meant.
    pub fn merged(&self) -> Vec<Diagnostic> {
        let fault = |(name, [a, b]): &(String, [String; 2])| {
            let message = format!("`{a:.120}` and `{b:.120}` would both be `{name:.120}`");
            Diagnostic::error("keys-merged", message)
                .help("give them different names in the rules of --map")
        };
        self.merged.iter().map(fault).collect()
    }

    /// The same with this added to its times.
    pub fn shifted(mut self, by: SimDuration) -> Side<'r> {
        self.shift = SimDuration::from_nanos(self.shift.nanos().saturating_add(by.nanos()));
        self
    }

    /// The same with its first moment at zero.
    pub fn from_its_start(self) -> Side<'r> {
        let first = self.recording.span().map_or(SimTime::ZERO, |(first, _)| first);
        self.shifted(SimTime::ZERO - first)
    }

    /// Every key.
    pub fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.keys.keys().map(String::as_str)
    }

    /// Whether a key is there, in its plain form or in another the recording answers.
    pub fn has(&self, key: &str) -> bool {
        self.own_key(key).is_some()
    }

    /// The key in the recording's own words.
    fn own_key(&self, key: &str) -> Option<String> {
        if let Some(own) = self.keys.get(key) {
            return Some(own.clone());
        }
        self.recording.column(key).is_some().then(|| key.to_string())
    }

    /// The known key nearest to one that is not there.
    pub fn nearest_key(&self, key: &str) -> Option<&str> {
        nearest(key, self.keys())
    }

    /// What a key is measured in.
    pub fn unit(&self, key: &str) -> Unit {
        let column = self.own_key(key).and_then(|own| self.recording.column(&own));
        column.map_or(Unit::Unsaid, |column| column.unit)
    }

    /// Whether a key is an angle: the position of a joint that nobody says slides, or roll, pitch
    /// and yaw of a pose.
    pub fn is_angle(&self, key: &str) -> bool {
        if !matches!(self.unit(key), Unit::Unsaid | Unit::Si("rad")) {
            return false;
        }
        let is_rpy = ["/pose/roll", "/pose/pitch", "/pose/yaw"].iter().any(|e| key.ends_with(e));
        is_rpy || self.joint_angles.contains(key)
    }

    /// First and last moment.
    pub fn span(&self) -> Option<(SimTime, SimTime)> {
        let (first, last) = self.recording.span()?;
        Some((first + self.shift, last + self.shift))
    }

    /// The samples of a key.
    pub fn series(&self, key: &str) -> Option<Series> {
        let column = self.recording.column(&self.own_key(key)?)?;
        let LeftOut { n_duplicate, n_backward } = column.left_out;
        let mut dropped = Dropped { n_duplicate, n_backward, ..Dropped::default() };
        let n = column.times.len();
        let (mut times, mut values) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut last = None;
        for (time, value) in column.times.iter().zip(column.values.iter()) {
            if value.is_nan() {
                continue; // no sample of this key at this time
            }
            if value.is_infinite() {
                dropped.n_not_finite += 1;
            } else if last == Some(*time) {
                dropped.n_duplicate += 1;
            } else {
                last = Some(*time);
                times.push(*time + self.shift);
                values.push(*value);
            }
        }
        Some(Series { times, values, unit: column.unit, dropped })
    }
}

/// Which keys are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Patterns; none wants everything.
    pub patterns: Vec<String>,
}

impl Selection {
    /// Whether a key is wanted. One that is usually left out, such as a component of a
    /// quaternion, is wanted where a pattern names it.
    pub fn wants(&self, key: &str, is_usual: bool) -> bool {
        if self.patterns.is_empty() {
            return is_usual;
        }
        let end = |text: &str| text.rsplit('/').next().unwrap_or_default().to_string();
        self.patterns
            .iter()
            .any(|pattern| glob::matches(pattern, key) && (is_usual || end(pattern) == end(key)))
    }
}

impl Selection {
    /// Which columns of a table with these names are needed to answer; all of them where a
    /// pattern fits none, so that the nearest can be named.
    pub fn columns(&self, names: &[String], map: &KeyMap) -> Vec<bool> {
        let keys: Vec<String> = names.iter().map(|name| map.renamed(name)).collect();
        // What components are together, by where they stand.
        const TOGETHER: [&str; 11] = [
            "norm",
            "position",
            "orientation",
            "angle",
            "ape",
            "ape_angle",
            "rpe",
            "rpe_angle",
            "roll",
            "pitch",
            "yaw",
        ];
        let fits = |pattern: &str, key: &str| {
            let base = key.rsplit_once('/').map(|(base, _)| base);
            glob::matches(pattern, key)
                || base.is_some_and(|base| {
                    TOGETHER.iter().any(|part| glob::matches(pattern, &format!("{base}/{part}")))
                })
        };
        let is_lost = |pattern: &String| !keys.iter().any(|key| fits(pattern, key));
        if self.patterns.is_empty() || self.patterns.iter().any(is_lost) {
            return vec![true; names.len()];
        }
        keys.iter().map(|key| self.patterns.iter().any(|pattern| fits(pattern, key))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_record::csv::{TableOptions, read};

    fn recording(text: &str) -> Recording {
        read(text.as_bytes(), "t.csv", &TableOptions::default()).0
    }

    #[test]
    fn keys_get_new_names() {
        let text = "# a comment\n/imu/w/* -> torso/angular_vel/*\nq1 -> elbow/position\n";
        let (map, findings) = KeyMap::parse(text, "map");
        assert!(findings.is_empty());
        assert_eq!(map.renamed("imu/w/x"), "torso/angular_vel/x");
        assert_eq!(map.renamed("q1"), "elbow/position");
        assert_eq!(map.renamed("q11"), "q11");
        let (_, findings) = KeyMap::parse("a\n* -> b\n-> c\n", "map");
        assert_eq!(findings.into_vec().len(), 3);
        let log = recording("time,q1,imu/w/x\n0,1,2\n");
        let side = Side::new(&log, &map);
        assert_eq!(side.keys().collect::<Vec<_>>(), ["elbow/position", "torso/angular_vel/x"]);
        assert_eq!(side.series("elbow/position").unwrap().values, [1.0]);
        assert!(side.series("torso/angular_vel/y").is_none());
    }

    #[test]
    fn each_key_counts_what_was_left_out() {
        let log = recording("time,a,b\n0,1,\n1,2,\n1,3,7\n0.5,4,8\n2,inf,\n3,nan,9\n4,5,\n");
        let side = Side::new(&log, &KeyMap::default());
        let a = side.series("a").unwrap();
        assert_eq!(a.values, [1.0, 2.0, 5.0]);
        let dropped = |n_duplicate, n_backward, n_not_finite| Dropped {
            n_duplicate,
            n_backward,
            n_not_finite,
            ..Dropped::default()
        };
        assert_eq!(a.dropped, dropped(1, 1, 1));
        let b = side.series("b").unwrap();
        assert_eq!(b.values, [7.0, 9.0]);
        assert_eq!(b.dropped, dropped(0, 1, 0));
        let later = Side::new(&log, &KeyMap::default()).shifted(SimDuration::from_nanos(5));
        assert_eq!(later.series("a").unwrap().times[0].nanos(), 5);
    }

    #[test]
    fn only_columns_that_are_needed_are_read() {
        let names: Vec<String> =
            ["time", "a/pose/x", "a/pose/y", "b", "c"].map(String::from).to_vec();
        let columns = |patterns: &[&str]| {
            let patterns = patterns.iter().map(ToString::to_string).collect();
            Selection { patterns }.columns(&names, &KeyMap::default())
        };
        assert_eq!(columns(&["a/pose/position"]), [false, true, true, false, false]);
        assert_eq!(columns(&["b", "*/x"]), [false, true, false, true, false]);
        assert_eq!(columns(&["b", "bb"]), [true; 5]);
    }

    #[test]
    fn what_is_usually_left_out_can_be_named() {
        let selection = |p: &str| Selection { patterns: vec![p.to_string()] };
        assert!(Selection::default().wants("a", true) && !Selection::default().wants("a", false));
        assert!(!selection("ball/*").wants("ball/pose/qx", false));
        assert!(selection("*/qx").wants("ball/pose/qx", false));
    }
}
