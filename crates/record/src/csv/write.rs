//! Samples as a table: one row per moment, a cell only where there is a sample.
//!
//! The columns must be known before the first row, so a log is read twice: [`Layout`] finds
//! its keys, then the rows are written. Samples of one moment may come apart, and those of
//! different tracks out of order, by no more than the layout has seen; so long a row is held.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use headland_base::{Diagnostic, SimDuration, SimTime};

use super::header::COLUMNS_MAX;
use crate::decimal::{write_float, write_seconds};
use crate::layout::Layout;
use crate::recording::{
    Recording, contact_numbers, joint_names, motion_numbers, object_name, pose_numbers, scoped_keys,
};
use crate::sample::{Goal, Sample, Sort};
use crate::save::for_each_sample;
use crate::track::JOINT_KEYS;

/// Most cells that wait for their row: 64 MiB. Stamps of two clocks that have nothing to do
/// with each other would hold the whole log.
const HELD_CELLS_MAX: usize = 4 << 20;

/// Writes every number of a recording, one row per moment, a cell only where there is a
/// sample. Contacts are written as their count, depth and force; texts are not numbers.
pub fn write(out: &mut impl Write, recording: &Recording) -> Result<(), Diagnostic> {
    let mut layout = Layout::default();
    for_each_sample(recording, &mut layout)?;
    let mut table = TableGoal::new(out, "table", &layout)?;
    for_each_sample(recording, &mut table)?;
    table.finish().map(|_| ())
}

/// Where the numbers of a track stand.
#[derive(Default)]
struct TrackColumns {
    /// All of them; in a sample that lacks a number its cell says so.
    all: Vec<usize>,
    by_key: BTreeMap<String, usize>,
    joints: BTreeMap<String, [Option<usize>; 3]>,
    last: Option<SimTime>,
    /// Samples so far at that time.
    n_at_last: u32,
}

/// Cells of a row: columns and numbers.
type Cells = Vec<(usize, f64)>;

/// Writes samples as rows.
pub(crate) struct TableGoal<W: Write> {
    writer: ::csv::Writer<W>,
    name: String,
    tracks: Vec<TrackColumns>,
    n_columns: usize,
    n_announced: usize,
    /// Rows by time, and one more for each sample a track has at the same time again.
    held: BTreeMap<(SimTime, u32), Cells>,
    n_held_cells: usize,
    n_held_cells_max: usize,
    lateness: SimDuration,
    newest: SimTime,
    last_written: Option<SimTime>,
    n_backward: u64,
    /// Tracks whose keys another one has, and the scope they got.
    renamed: Vec<(String, String)>,
}

impl<W: Write> TableGoal<W> {
    /// Starts a table of the columns of a layout; `name` is what diagnostics call it.
    pub fn new(out: W, name: &str, layout: &Layout) -> Result<TableGoal<W>, Diagnostic> {
        let (keys, tracks, renamed) = columns(layout);
        if keys.len() > COLUMNS_MAX {
            let message = format!("`{name}` would have {} columns", keys.len());
            return Err(Diagnostic::error("too-many-columns", message)
                .help(format!("{COLUMNS_MAX} are the most; a rosbag2 folder holds any number")));
        }
        let mut table = TableGoal {
            writer: ::csv::Writer::from_writer(out),
            name: name.to_string(),
            n_columns: keys.len(),
            tracks,
            n_announced: 0,
            held: BTreeMap::new(),
            n_held_cells: 0,
            n_held_cells_max: HELD_CELLS_MAX,
            lateness: layout.lateness,
            newest: SimTime::from_nanos(i64::MIN),
            last_written: None,
            n_backward: 0,
            renamed,
        };
        let said = keys.iter().map(|key| match layout.units.get(key) {
            Some(unit) => format!("{key} [{unit}]"),
            None => key.clone(),
        });
        let header = ["time".to_string()].into_iter().chain(said);
        table.writer.write_record(header).map_err(|fault| table.cannot(fault.into()))?;
        Ok(table)
    }

    /// Writes the rows that are still held. Warnings say where rows had to go out of order
    /// and keys had to be told apart.
    pub fn finish(mut self) -> Result<Vec<Diagnostic>, Diagnostic> {
        while let Some((at, cells)) = self.held.pop_first() {
            self.row(at.0, &cells)?;
        }
        self.writer.flush().map_err(|fault| self.cannot(fault))?;
        let renamed = self.renamed.iter().map(|(topic, scope)| {
            let message = format!("the keys of topic `{topic}` are those of another topic");
            Diagnostic::warning("keys-shared", message)
                .note(format!("in `{}` they are scoped by `{scope}`", self.name))
        });
        let mut warnings: Vec<Diagnostic> = renamed.collect();
        if self.n_backward > 0 {
            let message = format!(
                "{} rows of `{}` are earlier than the row before",
                self.n_backward, self.name
            );
            let note = "the stamps of its topics are too far apart to be sorted on the way";
            warnings.push(Diagnostic::warning("rows-out-of-order", message).note(note));
        }
        Ok(warnings)
    }

    fn cannot(&self, fault: io::Error) -> Diagnostic {
        Diagnostic::error("not-written", format!("cannot write `{}`: {fault}", self.name))
    }

    /// Writes what nothing can join any more, and the oldest where too much waits.
    fn let_go(&mut self) -> Result<(), Diagnostic> {
        let before = self.newest - self.lateness;
        while let Some(entry) = self.held.first_entry() {
            if entry.key().0 >= before && self.n_held_cells <= self.n_held_cells_max {
                return Ok(());
            }
            let ((time, _), cells) = entry.remove_entry();
            self.n_held_cells -= cells.len();
            self.row(time, &cells)?;
        }
        Ok(())
    }

    fn row(&mut self, time: SimTime, cells: &[(usize, f64)]) -> Result<(), Diagnostic> {
        self.n_backward += u64::from(self.last_written.is_some_and(|last| time < last));
        self.last_written = Some(time);
        let mut row = vec![String::new(); self.n_columns + 1];
        row[0] = write_seconds(time);
        for (column, number) in cells {
            row[column + 1] = write_float(*number);
        }
        self.writer.write_record(&row).map_err(|fault| self.cannot(fault.into()))
    }
}

impl<W: Write> Goal for TableGoal<W> {
    fn track(&mut self, _: &str, _: &str, _: Sort) -> Result<(), Diagnostic> {
        self.n_announced += 1;
        // Somebody writes to the log while it is read.
        if self.n_announced > self.tracks.len() {
            return Err(changed(&self.name));
        }
        Ok(())
    }

    fn sample(
        &mut self,
        track: usize,
        time: SimTime,
        _: &str,
        sample: Sample<'_>,
    ) -> Result<(), Diagnostic> {
        let columns = &mut self.tracks[track];
        if columns.all.is_empty() {
            return Ok(());
        }
        columns.n_at_last = if columns.last == Some(time) { columns.n_at_last + 1 } else { 0 };
        columns.last = Some(time);
        let cells = self.held.entry((time, columns.n_at_last)).or_default();
        let n_before = cells.len();
        fill(cells, columns, sample);
        self.n_held_cells += cells.len() - n_before;
        self.newest = self.newest.max(time);
        self.let_go()
    }
}

/// What is said where the second reading finds more than the first.
fn changed(name: &str) -> Diagnostic {
    Diagnostic::error("log-changed", format!("the log changed while `{name}` was written"))
        .help("wait until it is whole, then export it again")
}

/// Topics, and the scope each got because another topic has its keys.
type Renamed = Vec<(String, String)>;

/// The keys of a table, each once, and where each track has its own: by topic, the joints at
/// the end.
fn columns(layout: &Layout) -> (Vec<String>, Vec<TrackColumns>, Renamed) {
    let (mut keys, mut used, mut renamed) = (Vec::new(), BTreeSet::new(), Vec::new());
    // The first scope under which a track shares no key with those before it.
    let mut tell_apart = |topic: &str,
                          scopes: &mut dyn Iterator<Item = String>,
                          keys_of: &dyn Fn(&str) -> Vec<String>| {
        let mut is_first = true;
        for scope in scopes {
            let own = keys_of(&scope);
            if own.iter().all(|key| !used.contains(key)) {
                if !is_first {
                    renamed.push((topic.to_string(), scope));
                }
                used.extend(own.iter().cloned());
                return own;
            }
            is_first = false;
        }
        unreachable!("there are more numbers than topics")
    };
    let mut tracks: Vec<TrackColumns> =
        layout.tracks.iter().map(|_| TrackColumns::default()).collect();
    let mut sorted: Vec<usize> = (0..tracks.len()).collect();
    sorted.sort_by_key(|at| &layout.tracks[*at].topic);
    for at in sorted.iter().copied() {
        let (seen, columns) = (&layout.tracks[at], &mut tracks[at]);
        let first = keys.len();
        let topic = seen.topic.trim_start_matches('/');
        let scope = match seen.sort {
            Sort::Numbers => topic,
            _ => object_name(topic),
        };
        let mut scopes = [scope.to_string(), topic.to_string()].into_iter().chain(numbered(topic));
        keys.extend(tell_apart(&seen.topic, &mut scopes, &|scope| {
            scoped_keys(scope, seen.sort, seen.keys.iter())
        }));
        columns.all.extend(first..keys.len());
        columns.by_key = seen.keys.iter().cloned().zip(first..).collect();
    }
    let joints: Vec<(usize, &str, [bool; 3])> = sorted
        .iter()
        .flat_map(|at| layout.tracks[*at].joints.iter().map(|(name, has)| (*at, &**name, *has)))
        .collect();
    let names = joint_names(joints.iter().map(|(at, name, _)| (&*layout.tracks[*at].topic, *name)));
    let mut named: Vec<_> = names.into_iter().zip(joints).collect();
    named.sort_by(|a, b| a.0.cmp(&b.0));
    for (key, (at, joint, has)) in named {
        let properties: Vec<usize> = (0..3).filter(|property| has[*property]).collect();
        let keys_of = |scope: &str| -> Vec<String> {
            properties.iter().map(|at| format!("{scope}/{}", JOINT_KEYS[*at])).collect()
        };
        let mut scopes = [key.clone()].into_iter().chain(numbered(&key));
        let mut places = [None; 3];
        for (property, at_column) in properties.iter().zip(keys.len()..) {
            places[*property] = Some(at_column);
            tracks[at].all.push(at_column);
        }
        keys.extend(tell_apart(&layout.tracks[at].topic, &mut scopes, &keys_of));
        tracks[at].joints.insert(joint.to_string(), places);
    }
    (keys, tracks, renamed)
}

/// `elbow_2`, `elbow_3` and so on.
fn numbered(scope: &str) -> impl Iterator<Item = String> {
    (2..).map(move |n: u32| format!("{scope}_{n}"))
}

/// Puts the numbers of a sample into a row. Every column of its track gets a cell.
fn fill(cells: &mut Cells, columns: &TrackColumns, sample: Sample<'_>) {
    let plain = |cells: &mut Cells, numbers: &[f64]| {
        cells.extend(columns.all.iter().copied().zip(numbers.iter().copied()));
    };
    let start = cells.len();
    let absent = |cells: &mut Cells| {
        cells.extend(columns.all.iter().map(|column| (*column, f64::NAN)));
    };
    // The columns of one track ascend, so a number finds its cell by halving. Of a key given
    // twice the first number counts.
    let set = |cells: &mut Cells, column: usize, number: f64| {
        let found = cells[start..].binary_search_by_key(&column, |(column, _)| *column);
        let cell = &mut cells[start + found.expect("every column of the track has a cell")];
        if cell.1.is_nan() {
            cell.1 = number;
        }
    };
    match sample {
        Sample::Pose(pose) => plain(cells, &pose_numbers(&pose)),
        Sample::Motion(motion) => plain(cells, &motion_numbers(&motion)),
        Sample::Contacts(now) => plain(cells, &contact_numbers(&now)),
        Sample::Numbers(numbers) => {
            absent(cells);
            for (key, number) in numbers {
                if let Some(column) = columns.by_key.get(&**key) {
                    set(cells, *column, *number);
                }
            }
        }
        Sample::Joints { names, lists } => {
            absent(cells);
            for (i, name) in names.iter().enumerate() {
                let Some(places) = columns.joints.get(name) else { continue };
                for (list, place) in lists.iter().zip(places) {
                    if let (Some(number), Some(column)) = (list.get(i), place) {
                        set(cells, *column, *number);
                    }
                }
            }
        }
        Sample::Remark(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use headland_base::Transform;
    use headland_base::maths::Vec3;

    use super::*;

    /// Two clocks that have nothing to do with each other: no order is possible in bounded
    /// memory, but nothing is lost and it is said.
    #[test]
    fn what_cannot_be_sorted_is_written_all_the_same() {
        let pour = |goal: &mut dyn Goal| {
            for topic in ["/a/pose", "/b/pose"] {
                goal.track(topic, "", Sort::Poses).unwrap();
            }
            for i in 0..100 {
                for (track, start) in [(0, 1_000_000), (1, 0)] {
                    let time = SimTime::from_nanos(start + i);
                    goal.sample(track, time, "", Sample::Pose(Transform::IDENTITY)).unwrap();
                }
            }
        };
        let mut layout = Layout::default();
        pour(&mut layout);
        assert_eq!(layout.lateness.nanos(), 1_000_000);
        for (n_held_cells_max, is_sorted) in [(HELD_CELLS_MAX, true), (50, false)] {
            let mut out = Vec::new();
            let mut table = TableGoal::new(&mut out, "t", &layout).unwrap();
            table.n_held_cells_max = n_held_cells_max;
            pour(&mut table);
            assert!(table.n_held_cells <= n_held_cells_max);
            let warnings = table.finish().unwrap();
            let codes: Vec<_> = warnings.iter().map(|w| w.code).collect();
            assert_eq!(codes, if is_sorted { vec![] } else { vec!["rows-out-of-order"] });
            assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 1 + 200);
        }
    }

    /// Two topics of one object, and a number and a joint that are called like it: every
    /// column has its own name, and a table made of them reads back.
    #[test]
    fn no_two_columns_have_one_name() {
        let pour = |goal: &mut dyn Goal| {
            let topics =
                ["/a", "/a/pose", "/a/pose/pose", "/a/pose/x", "/j/position", "/joint_states"];
            for (at, topic) in topics.iter().enumerate() {
                let sort = [Sort::Poses, Sort::Numbers, Sort::Joints][at.saturating_sub(1) / 2];
                goal.track(topic, "", sort).unwrap();
            }
            let at = |x: f64| Sample::Pose(Transform::from_translation(Vec3::new(x, 0.0, 0.0)));
            for (track, x) in [(0, 1.0), (1, 2.0), (2, 3.0)] {
                goal.sample(track, SimTime::ZERO, "", at(x)).unwrap();
            }
            for (track, x) in [(3, 4.0), (4, 5.0)] {
                let numbers = [("data".into(), x)];
                goal.sample(track, SimTime::ZERO, "", Sample::Numbers(&numbers)).unwrap();
            }
            let (names, lists) = (["j".to_string()], [&[6.0][..], &[], &[]]);
            goal.sample(5, SimTime::ZERO, "", Sample::Joints { names: &names, lists }).unwrap();
        };
        let mut layout = Layout::default();
        pour(&mut layout);
        let mut out = Vec::new();
        let mut table = TableGoal::new(&mut out, "t", &layout).unwrap();
        pour(&mut table);
        let warnings = table.finish().unwrap();
        assert!(warnings.iter().all(|warning| warning.code == "keys-shared"));
        assert_eq!(warnings.len(), 4);
        let (recording, _, findings) = crate::csv::read(&out[..], "t", &Default::default());
        assert!(findings.is_empty(), "{:?}", findings.into_vec());
        for (key, x) in [
            ("a/pose/x", 1.0),
            ("a/pose/pose/x", 2.0),
            ("a/pose/pose/pose/x", 3.0),
            ("a/pose/x_2", 4.0),
            ("j/position", 5.0),
            ("j_2/position", 6.0),
        ] {
            assert_eq!(recording.column(key).map(|c| c.values[0]), Some(x), "{key}");
        }
        // A trajectory is of one of them, and it is asked which.
        assert_eq!(layout.trajectory(Some("a")).unwrap_err().code, "which-object");
        assert_eq!(layout.trajectory(Some("/a/pose")).unwrap(), 1);
        assert_eq!(layout.trajectory(Some("/a")).unwrap(), 0);
    }
}
