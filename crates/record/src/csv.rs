//! Tables in and out: a header of scoped keys, then one row per time.
//!
//! ```text
//! time,ball/pose/x,ball/pose/y,…,elbow/position [deg]
//! 0.000,0.0,0.0,…,12.5
//! ```
//!
//! Coming in, columns that belong together become one track: the seven of a pose, the six
//! of a velocity, the joints of a robot. The rest are scalars under their own key. Cells
//! may be empty, and each key keeps the first of equal times and drops what goes back; both
//! are counted. Rows are read one at a time; the `csv` crate writes, but a reader of its
//! sort would let one open quote swallow the file.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use headland_base::maths::{PI, Quat, Vec3, quat_from_rpy, unit_quat};
use headland_base::{Diagnostic, Findings, SimTime, Transform};

use crate::decimal::{TimeUnit, parse_time, write_float, write_seconds};
use crate::lines::Lines;
use crate::messages::Kind;
use crate::recording::{MOTION_KEYS, POSE_KEYS, Recording, object_name};
use crate::track::{Data, JointColumns, Motion, Track};

/// How a table is read.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// Unit of the time column; by default what its header says, else seconds, or
    /// nanoseconds where the first time is beyond any number of seconds (1e14).
    pub time_unit: Option<TimeUnit>,
    /// Names of the columns of a table that has no header.
    pub columns: Option<Vec<String>>,
}

/// What a table had in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableReport {
    /// Rows below the header.
    pub n_rows: usize,
    /// Rows of which at least one value came at the time of the one before and was dropped.
    pub n_duplicate: usize,
    /// Rows of which at least one value came earlier than the one before and was dropped.
    pub n_backward: usize,
}

/// Names a column of times has.
const TIME_NAMES: [&str; 5] = ["time", "t", "timestamp", "__time", "stamp"];

/// Most columns of a table.
const COLUMNS_MAX: usize = 100_000;

/// Reads a table. Every defect is a finding; what could be read is returned.
pub fn read(
    input: impl BufRead,
    name: &str,
    options: &TableOptions,
) -> (Recording, TableReport, Findings) {
    let mut findings = Findings::new();
    let mut lines = Lines::new(input, name);
    let mut report = TableReport::default();
    let Some(mut table) = Table::open(&mut lines, name, options, &mut findings) else {
        return (Recording::new(), report, findings);
    };
    if let Some((number, text)) = table.first_row.take() {
        table.row(number, &text, &mut report, &mut findings);
    }
    while let Some(line) = lines.next(&mut findings) {
        if !line.text.trim().is_empty() && !line.text.trim_start().starts_with('#') {
            table.row(line.number, line.text, &mut report, &mut findings);
        }
    }
    for (count, code, what) in [
        (report.n_duplicate, "time-repeated", "repeat the time of the row before"),
        (report.n_backward, "time-went-back", "are earlier than the row before"),
    ] {
        if count > 0 {
            let message = format!("{count} of {} rows of `{name}` {what}", report.n_rows);
            findings.push(Diagnostic::warning(code, message).note("their values were left out"));
        }
    }
    (table.recording(), report, findings)
}

/// How cells are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delimiter {
    Sign(char),
    Blanks,
}

impl Delimiter {
    /// The sign most used in the header outside quotes; blanks where there is none.
    fn of_header(header: &str) -> Delimiter {
        let count = |sign: char| {
            let outside = header.split('"').step_by(2);
            outside.map(|part| part.matches(sign).count()).sum::<usize>()
        };
        let best = [',', '\t', ';'].into_iter().rev().max_by_key(|sign| count(*sign));
        best.filter(|sign| count(*sign) > 0).map_or(Delimiter::Blanks, Delimiter::Sign)
    }

    /// Up to `most` cells of a row, without quotes and the blanks around them.
    fn split(self, row: &str, most: usize) -> Vec<String> {
        let mut cells = vec![String::new()];
        let (mut is_quoted, mut is_gap) = (false, true);
        for sign in row.chars() {
            let is_end = match self {
                Delimiter::Sign(delimiter) => sign == delimiter,
                Delimiter::Blanks => sign.is_whitespace(),
            };
            if sign == '"' {
                is_quoted = !is_quoted;
                is_gap = false;
            } else if is_end && !is_quoted {
                // A run of blanks is one gap, and one at the start is none.
                if self != Delimiter::Blanks || !is_gap {
                    if cells.len() == most {
                        break;
                    }
                    cells.push(String::new());
                }
                is_gap = true;
            } else {
                cells.last_mut().expect("starts with one").push(sign);
                is_gap = false;
            }
        }
        if self == Delimiter::Blanks && is_gap && cells.len() > 1 {
            cells.pop();
        }
        cells.iter().map(|cell| cell.trim().to_string()).collect()
    }
}

/// A column's key, and what its numbers are multiplied by to be SI.
#[derive(Clone, Debug, PartialEq)]
struct ColumnHead {
    key: String,
    unit: Option<String>,
    factor: f64,
}

/// `elbow/position [deg]`: key, unit and factor.
fn column_head(cell: &str) -> Result<ColumnHead, ColumnHead> {
    let cell = cell.trim();
    let parts = cell.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let (key, unit) = match parts {
        Some((key, unit)) => (key.trim(), Some(unit.trim().to_string())),
        None => (cell, None),
    };
    let factor = match unit.as_deref().unwrap_or_default() {
        "deg" | "deg/s" | "deg/s^2" => Some(PI / 180.0),
        "mm" | "mm/s" | "mm/s^2" | "ms" | "mN" => Some(1e-3),
        "cm" | "cm/s" => Some(1e-2),
        "km" | "kN" => Some(1e3),
        "us" => Some(1e-6),
        "ns" => Some(1e-9),
        "g" => Some(9.80665), // accelerations; nobody logs a mass over time
        "" | "m" | "s" | "rad" | "m/s" | "rad/s" | "m/s^2" | "rad/s^2" | "N" | "Nm" | "N·m"
        | "m s^-1" | "rad s^-1" | "m s^-2" | "rad s^-2" | "-" | "1" => Some(1.0),
        _ => None,
    };
    let head =
        ColumnHead { key: key.trim_matches('/').to_string(), unit, factor: factor.unwrap_or(1.0) };
    if factor.is_some() { Ok(head) } else { Err(head) }
}

/// One track on its way: which columns it takes and what it has so far.
enum Group {
    /// Columns of x y z and of the quaternion or roll, pitch, yaw.
    Pose {
        position: [usize; 3],
        rotation: Vec<usize>,
        track: Track,
    },
    Motion {
        columns: [usize; 6],
        track: Track,
    },
    Joints {
        columns: Vec<JointColumn>,
        times: Vec<SimTime>,
    },
    Scalar {
        column: usize,
        track: Track,
    },
}

struct JointColumn {
    column: usize,
    joint: String,
    /// 0 position, 1 velocity, 2 effort.
    property: usize,
    values: Vec<f64>,
}

struct Table {
    name: String,
    delimiter: Delimiter,
    time_column: usize,
    time_unit: Option<TimeUnit>,
    heads: Vec<ColumnHead>,
    groups: Vec<(String, Group)>,
    /// The first row, where the table has no header and a row was read to see how it is cut.
    first_row: Option<(usize, String)>,
    /// Numbers of the row at hand.
    cells: Vec<Option<f64>>,
}

impl Table {
    fn open(
        lines: &mut Lines<impl BufRead>,
        name: &str,
        options: &TableOptions,
        findings: &mut Findings,
    ) -> Option<Table> {
        let (number, header, is_marked) = loop {
            let Some(line) = lines.next(findings) else {
                findings.push(Diagnostic::error("empty-table", format!("`{name}` has no header")));
                return None;
            };
            let text = line.text.trim();
            let marked = text.strip_prefix('#').filter(|rest| is_marked_header(rest));
            if text.is_empty() || (text.starts_with('#') && marked.is_none()) {
                continue;
            }
            let whole = line.text.to_string();
            break (line.number, marked.map_or(whole, ToString::to_string), marked.is_some());
        };
        let delimiter = Delimiter::of_header(&header);
        let (cells, first_row) = match &options.columns {
            Some(columns) if is_marked => (columns.clone(), None),
            Some(columns) => (columns.clone(), Some((number, header))),
            None => (header_cells(delimiter, &header), None),
        };
        if cells.len() > COLUMNS_MAX {
            let message = format!("`{name}` has {} columns", cells.len());
            findings.push(Diagnostic::error("too-many-columns", message));
            return None;
        }
        let heads = heads(&cells, name, findings);
        let is_time = |head: &ColumnHead| TIME_NAMES.contains(&head.key.to_lowercase().as_str());
        let Some(time_column) = heads.iter().position(is_time) else {
            findings.push(
                Diagnostic::error(
                    "no-time-column",
                    format!("`{name}` line {number}: no column is called `time`"),
                )
                .note(format!("its columns start with `{:.60}`", cells.join("`, `")))
                .help("name the column of times `time`, or say the names of the columns"),
            );
            return None;
        };
        let said = heads[time_column].unit.as_deref().and_then(TimeUnit::from_name);
        let groups = groups(&heads, time_column);
        Some(Table {
            name: name.to_string(),
            delimiter,
            time_column,
            time_unit: options.time_unit.or(said),
            cells: vec![None; heads.len()],
            heads,
            groups,
            first_row,
        })
    }

    fn row(
        &mut self,
        number: usize,
        text: &str,
        report: &mut TableReport,
        findings: &mut Findings,
    ) {
        report.n_rows += 1;
        let cells = self.delimiter.split(text, self.heads.len() + 1);
        let fault = |code, message: String| {
            Diagnostic::error(code, format!("`{}` line {number}: {message}", self.name))
        };
        if cells.len() > self.heads.len() && cells[self.heads.len()..].iter().any(|c| !c.is_empty())
        {
            let message = format!("more cells than the {} names of the header", self.heads.len());
            findings.push(fault("long-row", message).help("each column needs a name"));
        }
        let time_text = cells.get(self.time_column).map_or("", String::as_str);
        let unit = self.time_unit.unwrap_or_else(|| guess_unit(time_text));
        let Some(time) = parse_time(time_text, unit) else {
            findings.push(fault("bad-time", format!("`{time_text:.40}` is no time")));
            return;
        };
        self.time_unit = Some(unit);
        for (i, head) in self.heads.iter().enumerate() {
            let cell = cells.get(i).map_or("", String::as_str);
            self.cells[i] = match number_of(cell) {
                Ok(number) => number.map(|number| number * head.factor),
                Err(()) if i == self.time_column => None,
                Err(()) => {
                    let message = format!("`{cell:.40}` in column `{:.60}` is no number", head.key);
                    findings.push(fault("not-a-number", message));
                    None
                }
            };
        }
        let (mut duplicate, mut backward) = (false, false);
        for (_, group) in &mut self.groups {
            match group.take(time, &self.cells) {
                Taken::Kept => {}
                Taken::Duplicate => duplicate = true,
                Taken::Backward => backward = true,
                Taken::Bad => {
                    let message = "a rotation without a direction".to_string();
                    findings.push(Diagnostic::error(
                        "bad-pose",
                        format!("`{}` line {number}: {message}", self.name),
                    ));
                }
            }
        }
        report.n_duplicate += usize::from(duplicate);
        report.n_backward += usize::from(backward);
    }

    fn recording(self) -> Recording {
        let mut recording = Recording::new();
        for (topic, group) in self.groups {
            recording.insert(topic, group.track());
        }
        recording
    }
}

/// EuRoC writes `#timestamp [ns],…`: a comment that is the header.
fn is_marked_header(rest: &str) -> bool {
    let cells = header_cells(Delimiter::of_header(rest), rest);
    let first = column_head(&cells[0]).unwrap_or_else(|head| head).key.to_lowercase();
    cells.len() > 1 && TIME_NAMES.contains(&first.as_str())
}

/// The cells of a header; between blanks a unit belongs to the name before it.
fn header_cells(delimiter: Delimiter, header: &str) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    for cell in delimiter.split(header, COLUMNS_MAX + 1) {
        match cells.last_mut() {
            Some(last) if delimiter == Delimiter::Blanks && cell.starts_with('[') => {
                *last = format!("{last} {cell}");
            }
            _ => cells.push(cell),
        }
    }
    cells
}

fn heads(cells: &[String], name: &str, findings: &mut Findings) -> Vec<ColumnHead> {
    let mut seen = BTreeMap::new();
    let mut heads = Vec::new();
    for (i, cell) in cells.iter().enumerate() {
        let head = column_head(cell).unwrap_or_else(|head| {
            let unit = head.unit.as_deref().unwrap_or_default();
            findings.push(
                Diagnostic::warning(
                    "unknown-unit",
                    format!("`{name}`: unit `{unit:.40}` of column `{:.60}`", head.key),
                )
                .note("its numbers are taken as they are"),
            );
            head
        });
        if let (false, Some(first)) = (head.key.is_empty(), seen.insert(head.key.clone(), i + 1)) {
            let message =
                format!("`{name}`: columns {first} and {} are both `{:.60}`", i + 1, head.key);
            findings.push(Diagnostic::error("column-repeated", message).help("rename one of them"));
        }
        heads.push(head);
    }
    heads
}

/// Which columns make a track together.
fn groups(heads: &[ColumnHead], time_column: usize) -> Vec<(String, Group)> {
    let mut groups: Vec<(String, Group)> = Vec::new();
    let mut is_taken = vec![false; heads.len()];
    is_taken[time_column] = true;
    let mut robots: BTreeMap<String, usize> = BTreeMap::new();
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, head) in heads.iter().enumerate() {
        keys.entry(&head.key).or_insert(i);
    }
    let all_of = |object: &str, parts: &[&str]| -> Option<Vec<usize>> {
        parts.iter().map(|part| keys.get(format!("{object}/{part}").as_str()).copied()).collect()
    };
    for (i, head) in heads.iter().enumerate() {
        if is_taken[i] || head.key.is_empty() || keys[head.key.as_str()] != i {
            continue;
        }
        let group = pose_group(&head.key, all_of)
            .or_else(|| motion_group(&head.key, all_of))
            .or_else(|| {
                joint_of(&head.key).map(|(robot, joint, property)| {
                    let column = JointColumn { column: i, joint, property, values: Vec::new() };
                    (robot, Group::Joints { columns: vec![column], times: Vec::new() })
                })
            });
        let (topic, group) = group.unwrap_or_else(|| {
            let track = Track::empty(Kind::Float64.name(), Data::Scalars(BTreeMap::new()));
            (format!("/{}", head.key), Group::Scalar { column: i, track })
        });
        for column in group.columns() {
            is_taken[column] = true;
        }
        // Joints of one robot share a track.
        let Group::Joints { columns, .. } = group else {
            groups.push((topic, group));
            continue;
        };
        let at = *robots.entry(topic.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push((topic, Group::Joints { columns, times: Vec::new() }));
        } else if let Group::Joints { columns: known, .. } = &mut groups[at].1 {
            known.extend(columns);
        }
    }
    groups
}

fn pose_group(
    key: &str,
    all_of: impl Fn(&str, &[&str]) -> Option<Vec<usize>>,
) -> Option<(String, Group)> {
    let (object, _) = key.rsplit_once("/pose/")?;
    let position = all_of(object, &["pose/x", "pose/y", "pose/z"])?.try_into().ok()?;
    let rotation = all_of(object, &POSE_KEYS[3..])
        .or_else(|| all_of(object, &["pose/roll", "pose/pitch", "pose/yaw"]))?;
    let track = Track::empty(Kind::PoseStamped.name(), Data::Poses(Vec::new()));
    Some((format!("/{object}/pose"), Group::Pose { position, rotation, track }))
}

fn motion_group(
    key: &str,
    all_of: impl Fn(&str, &[&str]) -> Option<Vec<usize>>,
) -> Option<(String, Group)> {
    let found = key.rsplit_once("/linear_vel/").or_else(|| key.rsplit_once("/angular_vel/"));
    let (object, _) = found?;
    let columns = all_of(object, &MOTION_KEYS)?.try_into().ok()?;
    let track = Track::empty(Kind::TwistStamped.name(), Data::Motions(Vec::new()));
    Some((format!("/{object}/twist"), Group::Motion { columns, track }))
}

/// Topic, joint and property of `arm::elbow/position`.
fn joint_of(key: &str) -> Option<(String, String, usize)> {
    let (name, property) = key.rsplit_once('/')?;
    let property = match property {
        "position" | "pos" => 0,
        "velocity" | "vel" => 1,
        "effort" | "torque" | "force" => 2,
        _ => return None,
    };
    Some(match name.rsplit_once("::") {
        Some((robot, joint)) => {
            (format!("/{}/joint_states", robot.replace("::", "/")), joint.to_string(), property)
        }
        None => ("/joint_states".to_string(), name.to_string(), property),
    })
}

fn guess_unit(time: &str) -> TimeUnit {
    let is_huge = time.parse::<f64>().is_ok_and(|number| number.abs() > 1e14);
    if is_huge { TimeUnit::Nanos } else { TimeUnit::Seconds }
}

/// The number in a cell, or none in an empty one.
fn number_of(cell: &str) -> Result<Option<f64>, ()> {
    match cell {
        "" | "nan" | "NaN" | "NAN" | "-nan" => Ok(None),
        "true" | "True" => Ok(Some(1.0)),
        "false" | "False" => Ok(Some(0.0)),
        _ => cell.parse().map(Some).map_err(|_| ()),
    }
}

enum Taken {
    Kept,
    Duplicate,
    Backward,
    Bad,
}

/// Whether a sample may follow the last one; equal times may not.
fn follows(times: &[SimTime], time: SimTime) -> Option<Taken> {
    match times.last() {
        Some(last) if time == *last => Some(Taken::Duplicate),
        Some(last) if time < *last => Some(Taken::Backward),
        _ => None,
    }
}

impl Group {
    fn columns(&self) -> Vec<usize> {
        match self {
            Group::Pose { position, rotation, .. } => [&position[..], rotation].concat(),
            Group::Motion { columns, .. } => columns.to_vec(),
            Group::Joints { columns, .. } => columns.iter().map(|joint| joint.column).collect(),
            Group::Scalar { column, .. } => vec![*column],
        }
    }

    /// Takes its cells of one row.
    fn take(&mut self, time: SimTime, cells: &[Option<f64>]) -> Taken {
        let numbers = |columns: &[usize]| -> Option<Vec<f64>> {
            columns.iter().map(|column| cells[*column]).collect()
        };
        match self {
            Group::Pose { position, rotation, track } => {
                let (Some(p), Some(r)) = (numbers(&position[..]), numbers(rotation)) else {
                    return Taken::Kept;
                };
                if let Some(dropped) = follows(track.times(), time) {
                    return dropped;
                }
                let rotation = match r[..] {
                    [qx, qy, qz, qw] => unit_quat(Quat::from_xyzw(qx, qy, qz, qw)),
                    _ => Some(quat_from_rpy(r[0], r[1], r[2])),
                };
                let Some(rotation) = rotation else { return Taken::Bad };
                track.push_pose(time, Transform::new(rotation, Vec3::new(p[0], p[1], p[2])));
            }
            Group::Motion { columns, track } => {
                let Some(v) = numbers(&columns[..]) else { return Taken::Kept };
                if let Some(dropped) = follows(track.times(), time) {
                    return dropped;
                }
                let (linear, angular) = (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]));
                track.push_motion(time, Motion { linear, angular });
            }
            Group::Scalar { column, track } => {
                let Some(number) = cells[*column] else { return Taken::Kept };
                if let Some(dropped) = follows(track.times(), time) {
                    return dropped;
                }
                track.push_scalars(time, [("data", number)].into_iter());
            }
            Group::Joints { columns, times } => return take_joints(columns, times, time, cells),
        }
        Taken::Kept
    }

    fn track(self) -> Track {
        match self {
            Group::Pose { track, .. }
            | Group::Motion { track, .. }
            | Group::Scalar { track, .. } => track,
            Group::Joints { columns, times } => {
                let mut joints: Vec<JointColumns> = Vec::new();
                for column in columns {
                    let known = joints.iter().position(|joint| joint.name == column.joint);
                    let at = known.unwrap_or_else(|| {
                        let name = column.joint.clone();
                        joints.push(JointColumns { name, ..JointColumns::default() });
                        joints.len() - 1
                    });
                    let joint = &mut joints[at];
                    let place = [&mut joint.position, &mut joint.velocity, &mut joint.effort];
                    *place.into_iter().nth(column.property).expect("three properties") =
                        column.values;
                }
                let schema = Kind::JointState.name();
                Track::new(schema, "", times, Data::Joints(joints)).expect("rows are even")
            }
        }
    }
}

/// Joints that came in another row of the same time are filled in: the first value of each
/// key counts, not the first row.
fn take_joints(
    columns: &mut [JointColumn],
    times: &mut Vec<SimTime>,
    time: SimTime,
    cells: &[Option<f64>],
) -> Taken {
    if columns.iter().all(|joint| cells[joint.column].is_none()) {
        return Taken::Kept;
    }
    match follows(times, time) {
        Some(Taken::Duplicate) => {
            let mut taken = Taken::Kept;
            for joint in columns {
                let last = joint.values.last_mut().expect("there is a row of this time");
                match cells[joint.column] {
                    Some(number) if last.is_nan() => *last = number,
                    Some(_) => taken = Taken::Duplicate,
                    None => {}
                }
            }
            taken
        }
        Some(dropped) => dropped,
        None => {
            times.push(time);
            for joint in columns {
                joint.values.push(cells[joint.column].unwrap_or(f64::NAN));
            }
            Taken::Kept
        }
    }
}

/// A column to be written: its times and its values.
struct Written<'a> {
    key: String,
    times: &'a [SimTime],
    value: Box<dyn Fn(usize) -> f64 + 'a>,
}

/// Writes every number of a recording, one row per moment, a cell only where there is a
/// sample. Contacts are written as their count, depth and force; texts are not numbers.
pub fn write(out: &mut impl Write, recording: &Recording) -> Result<(), Diagnostic> {
    let columns = written_columns(recording);
    let failed = |fault: &dyn std::fmt::Display| {
        Diagnostic::error("table-not-written", format!("cannot write the table: {fault}"))
    };
    let mut writer = ::csv::Writer::from_writer(out);
    let names = columns.iter().map(|column| column.key.as_str());
    writer.write_record(["time"].into_iter().chain(names)).map_err(|fault| failed(&fault))?;
    let mut next = vec![0; columns.len()];
    let mut row: Vec<String> = Vec::new();
    loop {
        let waiting = columns.iter().zip(&next).filter_map(|(column, at)| column.times.get(*at));
        let Some(time) = waiting.min().copied() else { break };
        row.clear();
        row.push(write_seconds(time));
        for (column, at) in columns.iter().zip(&mut next) {
            row.push(match column.times.get(*at) {
                Some(t) if *t == time => {
                    *at += 1;
                    write_float((column.value)(*at - 1))
                }
                _ => String::new(),
            });
        }
        writer.write_record(&row).map_err(|fault| failed(&fault))?;
    }
    writer.flush().map_err(|fault| failed(&fault))
}

fn written_columns(recording: &Recording) -> Vec<Written<'_>> {
    let mut columns: Vec<Written<'_>> = Vec::new();
    for (topic, track) in recording.tracks() {
        let (times, object) = (track.times(), object_name(topic));
        match track.data() {
            Data::Poses(poses) => columns.extend(POSE_KEYS.iter().enumerate().map(|(i, key)| {
                let value = Box::new(move |at: usize| pose_number(&poses[at], i));
                Written { key: format!("{object}/{key}"), times, value }
            })),
            Data::Motions(list) => {
                columns.extend(MOTION_KEYS.iter().enumerate().map(|(i, key)| {
                    let value = Box::new(move |at: usize| motion_number(&list[at], i));
                    Written { key: format!("{object}/{key}"), times, value }
                }))
            }
            Data::Scalars(scalars) => columns.extend(scalars.iter().map(|(key, values)| {
                let topic = topic.trim_start_matches('/');
                let key = if key == "data" { topic.to_string() } else { format!("{topic}/{key}") };
                Written { key, times, value: Box::new(move |at| values[at]) }
            })),
            Data::Contacts(_) => {
                for what in ["count", "depth", "normal_force"] {
                    let key = format!("{object}/{what}");
                    if let Some(column) = recording.column(&key) {
                        let value = Box::new(move |at: usize| column.values[at]);
                        columns.push(Written { key, times, value });
                    }
                }
            }
            Data::Joints(_) | Data::Remarks(_) => {}
        }
    }
    for (name, track, joint) in recording.joints() {
        for property in ["position", "velocity", "effort"] {
            if let Some(values) = joint.property(property) {
                let (key, times) = (format!("{name}/{property}"), track.times());
                columns.push(Written { key, times, value: Box::new(move |at| values[at]) });
            }
        }
    }
    columns
}

fn pose_number(pose: &Transform, i: usize) -> f64 {
    let (p, q) = (pose.translation, pose.rotation);
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w][i]
}

fn motion_number(motion: &Motion, i: usize) -> f64 {
    if i < 3 { motion.linear[i] } else { motion.angular[i - 3] }
}
