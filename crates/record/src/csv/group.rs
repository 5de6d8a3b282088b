//! Columns of a table that make one track together, and the track they make.

use std::collections::BTreeMap;

use headland_base::maths::{Quat, Vec3, quat_from_rpy, unit_quat};
use headland_base::{SimTime, Transform};

use super::header::ColumnHead;
use crate::messages::Kind;
use crate::recording::{MOTION_KEYS, POSE_KEYS};
use crate::track::{Data, JointColumns, Motion, Track};

/// One track on its way: which columns it takes and what it has so far.
pub(super) enum Group {
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

pub(super) struct JointColumn {
    column: usize,
    joint: String,
    /// 0 position, 1 velocity, 2 effort.
    property: usize,
    values: Vec<f64>,
}

/// Which columns make a track together.
pub(super) fn groups(heads: &[ColumnHead], time_column: usize) -> Vec<(String, Group)> {
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

pub(super) enum Taken {
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
    pub fn take(&mut self, time: SimTime, cells: &[Option<f64>]) -> Taken {
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

    pub fn track(self) -> Track {
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
