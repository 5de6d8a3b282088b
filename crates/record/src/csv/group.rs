//! Columns of a table that make one track together, and the samples they make.
//!
//! A group holds the sample of the row at hand until a row of another time comes: cells of
//! one moment may stand in several rows. Nothing older is kept but the last time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use headland_base::maths::{Quat, Vec3, quat_from_rpy, unit_quat};
use headland_base::{Diagnostic, Findings, SimTime, Transform};

use super::header::ColumnHead;
use crate::messages::Kind;
use crate::recording::{MOTION_KEYS, POSE_KEYS};
use crate::sample::{Goal, Sample, Sort};
use crate::track::{LeftOut, Motion, joint_property};

/// Columns of one track.
pub(super) struct Group {
    pub topic: String,
    columns: Columns,
    /// Time of the sample it has or had last.
    last: Option<SimTime>,
    held: Option<Held>,
    /// Rows so far with some of its cells, but not all that are needed.
    pub n_incomplete: usize,
    /// Rows so far that came too late for it.
    pub left_out: LeftOut,
}

/// Which columns a group takes.
enum Columns {
    /// Columns of x y z and of the quaternion or roll, pitch, yaw.
    Pose {
        position: [usize; 3],
        rotation: Vec<usize>,
    },
    Motion([usize; 6]),
    Joints {
        /// In the order first met.
        names: Vec<String>,
        columns: Vec<JointColumn>,
    },
    Number(usize),
}

struct JointColumn {
    column: usize,
    /// Index of its name.
    joint: usize,
    /// Index of position, velocity or effort.
    property: usize,
}

/// A sample that waits for the rest of its moment.
enum Held {
    Pose(Transform),
    Motion(Motion),
    /// One number per column, NaN where there is none yet.
    Joints(Vec<f64>),
    Number(f64),
}

/// Which columns make a track together, by topic.
pub(super) fn groups(
    heads: &[ColumnHead],
    time_column: usize,
    name: &str,
    findings: &mut Findings,
) -> Vec<Group> {
    let mut groups: BTreeMap<String, Columns> = BTreeMap::new();
    let mut is_taken = vec![false; heads.len()];
    is_taken[time_column] = true;
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
        let (topic, columns) = pose_group(&head.key, all_of)
            .or_else(|| motion_group(&head.key, all_of))
            // `a/pose/confidence` stands beside a pose and is no part of it.
            .filter(|(_, columns)| columns.all().contains(&i))
            .or_else(|| joint_group(&head.key, i))
            .unwrap_or_else(|| (format!("/{}", head.key), Columns::Number(i)));
        for column in columns.all() {
            is_taken[column] = true;
        }
        let Some(known) = groups.get_mut(&topic) else {
            groups.insert(topic, columns);
            continue;
        };
        if let Some(first) = known.same_signal(&columns) {
            let message = format!(
                "`{name}`: columns `{:.60}` and `{:.60}` are both the same signal",
                heads[first].key, head.key
            );
            findings.push(
                Diagnostic::error("column-repeated", message)
                    .note("of the two only the first can be read")
                    .help("keep one of them"),
            );
            continue;
        }
        if !known.join(columns) {
            let message = format!(
                "`{name}`: column `{:.60}` and another would both be topic `{topic:.60}`",
                head.key
            );
            let note = "only the first is kept";
            findings.push(Diagnostic::error("topic-has-two-types", message).note(note));
        }
    }
    let group = |(topic, columns)| Group {
        topic,
        columns,
        last: None,
        held: None,
        n_incomplete: 0,
        left_out: LeftOut::default(),
    };
    groups.into_iter().map(group).collect()
}

fn pose_group(
    key: &str,
    all_of: impl Fn(&str, &[&str]) -> Option<Vec<usize>>,
) -> Option<(String, Columns)> {
    let (object, _) = key.rsplit_once("/pose/")?;
    let position = all_of(object, &["pose/x", "pose/y", "pose/z"])?.try_into().ok()?;
    let rotation = all_of(object, &POSE_KEYS[3..])
        .or_else(|| all_of(object, &["pose/roll", "pose/pitch", "pose/yaw"]))?;
    Some((format!("/{object}/pose"), Columns::Pose { position, rotation }))
}

fn motion_group(
    key: &str,
    all_of: impl Fn(&str, &[&str]) -> Option<Vec<usize>>,
) -> Option<(String, Columns)> {
    let found = key.rsplit_once("/linear_vel/").or_else(|| key.rsplit_once("/angular_vel/"));
    let (object, _) = found?;
    let columns = all_of(object, &MOTION_KEYS)?.try_into().ok()?;
    Some((format!("/{object}/twist"), Columns::Motion(columns)))
}

/// `arm::elbow/position`: one joint of a robot.
fn joint_group(key: &str, column: usize) -> Option<(String, Columns)> {
    let (name, property) = key.rsplit_once('/')?;
    let property = joint_property(property)?;
    let (topic, joint) = match name.rsplit_once("::") {
        Some((robot, joint)) => (format!("/{}/joint_states", robot.replace("::", "/")), joint),
        None => ("/joint_states".to_string(), name),
    };
    let columns = vec![JointColumn { column, joint: 0, property }];
    Some((topic, Columns::Joints { names: vec![joint.to_string()], columns }))
}

impl Columns {
    /// Takes in others of the same topic, where they can share a track: joints of one robot.
    fn join(&mut self, other: Columns) -> bool {
        match (self, other) {
            (
                Columns::Joints { names, columns },
                Columns::Joints { names: new_names, columns: new },
            ) => {
                let name = &new_names[0];
                let joint = names.iter().position(|known| known == name).unwrap_or_else(|| {
                    names.push(name.clone());
                    names.len() - 1
                });
                columns.extend(new.into_iter().map(|column| JointColumn { joint, ..column }));
                true
            }
            _ => false,
        }
    }

    /// The column that says what one of another joint column says: `hinge/pos` beside
    /// `hinge/position`.
    fn same_signal(&self, other: &Columns) -> Option<usize> {
        let (Columns::Joints { names, columns }, Columns::Joints { names: of, columns: new }) =
            (self, other)
        else {
            return None;
        };
        let is_same = |known: &&JointColumn| {
            new.iter()
                .any(|new| names[known.joint] == of[new.joint] && known.property == new.property)
        };
        columns.iter().find(is_same).map(|known| known.column)
    }

    fn all(&self) -> Vec<usize> {
        match self {
            Columns::Pose { position, rotation } => [&position[..], rotation].concat(),
            Columns::Motion(columns) => columns.to_vec(),
            Columns::Joints { columns, .. } => columns.iter().map(|joint| joint.column).collect(),
            Columns::Number(column) => vec![*column],
        }
    }

    /// What one row says, where it says anything.
    fn read(&self, cells: &[Option<f64>]) -> Option<Result<Held, Taken>> {
        let numbers = |columns: &[usize]| -> Option<Vec<f64>> {
            columns.iter().map(|column| cells[*column]).collect()
        };
        if let Columns::Pose { .. } | Columns::Motion(_) = self {
            let all = self.all();
            let n_there = all.iter().filter(|column| cells[**column].is_some()).count();
            if n_there > 0 && n_there < all.len() {
                return Some(Err(Taken::Incomplete));
            }
        }
        Some(Ok(match self {
            Columns::Pose { position, rotation } => {
                let (p, r) = (numbers(position)?, numbers(rotation)?);
                let rotation = match r[..] {
                    [qx, qy, qz, qw] => unit_quat(Quat::from_xyzw(qx, qy, qz, qw)),
                    _ => Some(quat_from_rpy(r[0], r[1], r[2])),
                };
                let Some(rotation) = rotation else { return Some(Err(Taken::Bad)) };
                Held::Pose(Transform::new(rotation, Vec3::new(p[0], p[1], p[2])))
            }
            Columns::Motion(columns) => {
                let v = numbers(columns)?;
                let (linear, angular) = (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]));
                Held::Motion(Motion { linear, angular })
            }
            Columns::Number(column) => Held::Number(cells[*column]?),
            Columns::Joints { columns, .. } => {
                if columns.iter().all(|joint| cells[joint.column].is_none()) {
                    return None;
                }
                let number = |joint: &JointColumn| cells[joint.column].unwrap_or(f64::NAN);
                Held::Joints(columns.iter().map(number).collect())
            }
        }))
    }
}

pub(super) enum Taken {
    Kept,
    Duplicate,
    Backward,
    /// Some of the cells, but not all that are needed.
    Incomplete,
    Bad,
}

impl Group {
    /// Its column, where it is a number under its own key.
    pub fn number(&self) -> Option<usize> {
        match self.columns {
            Columns::Number(column) => Some(column),
            _ => None,
        }
    }

    /// Sort and ROS type of the track.
    pub fn sort(&self) -> (Sort, Kind) {
        match &self.columns {
            Columns::Pose { .. } => (Sort::Poses, Kind::PoseStamped),
            Columns::Motion(_) => (Sort::Motions, Kind::TwistStamped),
            Columns::Joints { .. } => (Sort::Joints, Kind::JointState),
            Columns::Number(_) => (Sort::Numbers, Kind::Float64),
        }
    }

    /// What its cells make together.
    pub fn what(&self) -> &'static str {
        match self.sort().0 {
            Sort::Poses => "a pose",
            _ => "a velocity",
        }
    }

    /// Takes its cells of one row. Equal times may not follow each other, but joints of one
    /// moment are gathered: the first value of each key counts, not the first row.
    pub fn take(&mut self, time: SimTime, cells: &[Option<f64>]) -> Taken {
        let Some(read) = self.columns.read(cells) else { return Taken::Kept };
        if let Err(Taken::Incomplete) = read {
            return Taken::Incomplete;
        }
        match self.last {
            Some(last) if time < last => return Taken::Backward,
            Some(last) if time == last => {
                return match (&mut self.held, read) {
                    (Some(Held::Joints(known)), Ok(Held::Joints(new))) => gather(known, &new),
                    _ => Taken::Duplicate,
                };
            }
            _ => {}
        }
        match read {
            Ok(held) => {
                (self.held, self.last) = (Some(held), Some(time));
                Taken::Kept
            }
            Err(taken) => taken,
        }
    }

    /// Hands the held sample on; `track` is this group's number.
    pub fn give(&mut self, track: usize, goal: &mut dyn Goal) -> Result<(), Diagnostic> {
        let (Some(held), Some(time)) = (self.held.take(), self.last) else { return Ok(()) };
        match (held, &self.columns) {
            (Held::Pose(pose), _) => goal.sample(track, time, "", Sample::Pose(pose)),
            (Held::Motion(motion), _) => goal.sample(track, time, "", Sample::Motion(motion)),
            (Held::Number(number), _) => {
                let numbers = [(Cow::from("data"), number)];
                goal.sample(track, time, "", Sample::Numbers(&numbers))
            }
            (Held::Joints(values), Columns::Joints { names, columns }) => {
                // A quantity that no joint has is an empty list.
                let mut lists = [const { Vec::new() }; 3];
                for (joint, value) in columns.iter().zip(values) {
                    let list = &mut lists[joint.property];
                    list.resize(names.len(), f64::NAN);
                    list[joint.joint] = value;
                }
                let lists = lists.each_ref().map(|list: &Vec<f64>| &list[..]);
                goal.sample(track, time, "", Sample::Joints { names, lists })
            }
            (Held::Joints(_), _) => unreachable!("held by the columns that made it"),
        }
    }
}

fn gather(known: &mut [f64], new: &[f64]) -> Taken {
    let mut taken = Taken::Kept;
    for (known, new) in known.iter_mut().zip(new).filter(|(_, new)| !new.is_nan()) {
        if known.is_nan() {
            *known = *new;
        } else {
            taken = Taken::Duplicate;
        }
    }
    taken
}
