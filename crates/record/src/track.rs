//! Samples of one thing over time, in columns.
//!
//! Held by construction, so no reader checks again: times never decrease, and every column
//! is as long as the times. What is absent from a sample is NaN.

use std::borrow::Cow;
use std::collections::BTreeMap;

use headland_base::maths::Vec3;
use headland_base::{SimTime, Transform};

use crate::messages::Contact;
use crate::sample::{Sample, Sort};

/// How an object moves, both written in the frame of the track.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// \[m/s\].
    pub linear: Vec3,
    /// \[rad/s\].
    pub angular: Vec3,
}

/// Samples that were left out because of their times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// At the time of the one before.
    pub n_duplicate: usize,
    /// Earlier than the one before.
    pub n_backward: usize,
}

/// What a joint may have, in the order messages list it.
pub(crate) const JOINT_KEYS: [&str; 3] = ["position", "velocity", "effort"];

/// Which of [`JOINT_KEYS`] a word means, or one of the short names people use.
pub(crate) fn joint_property(word: &str) -> Option<usize> {
    match word {
        "position" | "pos" => Some(0),
        "velocity" | "vel" => Some(1),
        "effort" | "torque" | "force" => Some(2),
        _ => None,
    }
}

/// The key of a joint's number with the whole word of its property, as recordings have it:
/// `hinge/position` for `hinge/pos`. Nothing where it is none of a joint's.
pub fn joint_key(key: &str) -> Option<String> {
    let (name, property) = key.rsplit_once('/')?;
    Some(format!("{name}/{}", JOINT_KEYS[joint_property(property)?]))
}

/// One joint. A quantity nobody recorded is an empty column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointColumns {
    /// Its name in the model.
    pub name: String,
    /// \[rad\] or \[m\].
    pub position: Vec<f64>,
    /// \[rad/s\] or \[m/s\].
    pub velocity: Vec<f64>,
    /// \[N·m\] or \[N\].
    pub effort: Vec<f64>,
}

impl JointColumns {
    /// Column of `position`, `velocity` or `effort`, or of the short names people use.
    pub fn property(&self, property: &str) -> Option<&[f64]> {
        let column = self.columns()[joint_property(property)?];
        (!column.is_empty()).then_some(column)
    }

    /// In the order of [`JOINT_KEYS`].
    pub(crate) fn columns(&self) -> [&[f64]; 3] {
        [&self.position, &self.velocity, &self.effort]
    }

    fn columns_mut(&mut self) -> [&mut Vec<f64>; 3] {
        [&mut self.position, &mut self.velocity, &mut self.effort]
    }
}

/// Something that was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remark {
    /// Who said it; empty for a plain text.
    pub source: String,
    /// What kind of thing; empty for a plain text.
    pub kind: String,
    /// In words.
    pub text: String,
}

/// What a track holds, one entry per time.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// `frame_from_object`.
    Poses(Vec<Transform>),
    /// Velocities.
    Motions(Vec<Motion>),
    /// Joints of one robot, in the order first seen.
    Joints(Vec<JointColumns>),
    /// Numbers by scoped key.
    Scalars(BTreeMap<String, Vec<f64>>),
    /// All contacts of a moment.
    Contacts(Vec<Vec<Contact>>),
    /// Texts and events.
    Remarks(Vec<Remark>),
}

impl Data {
    pub(crate) fn empty(sort: Sort) -> Data {
        match sort {
            Sort::Poses => Data::Poses(Vec::new()),
            Sort::Motions => Data::Motions(Vec::new()),
            Sort::Joints => Data::Joints(Vec::new()),
            Sort::Numbers => Data::Scalars(BTreeMap::new()),
            Sort::Contacts => Data::Contacts(Vec::new()),
            Sort::Remarks => Data::Remarks(Vec::new()),
        }
    }

    pub(crate) fn sort(&self) -> Sort {
        match self {
            Data::Poses(_) => Sort::Poses,
            Data::Motions(_) => Sort::Motions,
            Data::Joints(_) => Sort::Joints,
            Data::Scalars(_) => Sort::Numbers,
            Data::Contacts(_) => Sort::Contacts,
            Data::Remarks(_) => Sort::Remarks,
        }
    }
}

/// One thing over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    schema: String,
    frame_id: String,
    times: Vec<SimTime>,
    data: Data,
    left_out: LeftOut,
}

/// Why samples are no track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackError {
    /// The sample at this index is earlier than the one before it.
    TimeWentBack {
        /// Which.
        index: usize,
    },
    /// A column is not as long as the times.
    LengthsDiffer {
        /// Length of the times.
        n_times: usize,
        /// Length of the column.
        n_values: usize,
    },
}

impl Track {
    /// The only door in from outside. `schema` is the ROS type it is written as.
    pub fn new(
        schema: &str,
        frame_id: &str,
        times: Vec<SimTime>,
        data: Data,
    ) -> Result<Track, TrackError> {
        if let Some(index) = times.windows(2).position(|w| w[1] < w[0]) {
            return Err(TrackError::TimeWentBack { index: index + 1 });
        }
        let n_times = times.len();
        if let Some(n_values) = lengths(&data).into_iter().find(|n| *n != n_times) {
            return Err(TrackError::LengthsDiffer { n_times, n_values });
        }
        let (schema, frame_id) = (schema.to_string(), frame_id.to_string());
        Ok(Track { schema, frame_id, times, data, left_out: LeftOut::default() })
    }

    /// A track without samples, to be filled by this crate's readers.
    pub(crate) fn empty(schema: &str, data: Data) -> Track {
        Track {
            schema: schema.to_string(),
            frame_id: String::new(),
            times: Vec::new(),
            data,
            left_out: LeftOut::default(),
        }
    }

    /// The ROS type its messages had.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The frame its numbers are written in, as far as the recording says.
    pub fn frame_id(&self) -> &str {
        &self.frame_id
    }

    /// When, never decreasing.
    pub fn times(&self) -> &[SimTime] {
        &self.times
    }

    /// What, as long as the times.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The poses, where this is a track of poses.
    pub fn poses(&self) -> Option<&[Transform]> {
        if let Data::Poses(poses) = &self.data { Some(poses) } else { None }
    }

    /// The velocities, where this is a track of them.
    pub fn motions(&self) -> Option<&[Motion]> {
        if let Data::Motions(motions) = &self.data { Some(motions) } else { None }
    }

    /// The joints, where this is a track of them.
    pub fn joints(&self) -> Option<&[JointColumns]> {
        if let Data::Joints(joints) = &self.data { Some(joints) } else { None }
    }

    /// The columns by key, where this is a track of numbers.
    pub fn scalars(&self) -> Option<&BTreeMap<String, Vec<f64>>> {
        if let Data::Scalars(columns) = &self.data { Some(columns) } else { None }
    }

    /// The contacts, where this is a track of them.
    pub fn contacts(&self) -> Option<&[Vec<Contact>]> {
        if let Data::Contacts(contacts) = &self.data { Some(contacts) } else { None }
    }

    /// The texts and events, where this is a track of them.
    pub fn remarks(&self) -> Option<&[Remark]> {
        if let Data::Remarks(remarks) = &self.data { Some(remarks) } else { None }
    }

    /// Samples its reader left out because of their times.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    pub(crate) fn set_left_out(&mut self, left_out: LeftOut) {
        self.left_out = left_out;
    }

    pub(crate) fn set_frame(&mut self, frame_id: &str) {
        if self.frame_id.is_empty() && !frame_id.is_empty() {
            self.frame_id = frame_id.to_string();
        }
    }

    /// Adds a sample of the track's own sort, not earlier than the last, and says how many
    /// numbers it takes, about. A new key fills its whole past with NaN, so what is counted
    /// for joints and numbers is the growth of the table.
    pub(crate) fn push(&mut self, time: SimTime, sample: Sample<'_>) -> usize {
        assert!(self.times.last().is_none_or(|last| time >= *last), "times never decrease");
        let n_added = match (&mut self.data, sample) {
            (Data::Poses(poses), Sample::Pose(pose)) => {
                poses.push(pose);
                8
            }
            (Data::Motions(motions), Sample::Motion(motion)) => {
                motions.push(motion);
                7
            }
            (Data::Joints(joints), Sample::Joints { names, lists }) => {
                push_joints(joints, self.times.len(), names, lists)
            }
            (Data::Scalars(columns), Sample::Numbers(numbers)) => {
                push_numbers(columns, self.times.len(), numbers)
            }
            (Data::Contacts(contacts), Sample::Contacts(now)) => {
                contacts.push(now);
                20 * contacts.last().map_or(0, Vec::len) // eleven numbers and two names
            }
            (Data::Remarks(remarks), Sample::Remark(remark)) => {
                let n_letters = remark.source.len() + remark.kind.len() + remark.text.len();
                remarks.push(remark);
                9 + n_letters / 8
            }
            _ => unreachable!("a sample of the sort the track was announced with"),
        };
        self.times.push(time);
        n_added + 4
    }
}

/// One sample of joints after `n_before`. Lists shorter than the names leave the rest absent.
fn push_joints(
    joints: &mut Vec<JointColumns>,
    n_before: usize,
    names: &[String],
    lists: [&[f64]; 3],
) -> usize {
    let n_values_before = joints.len() * n_before;
    let mut index: Option<BTreeMap<String, usize>> = None;
    for (i, name) in names.iter().enumerate() {
        // Nearly always the joints come in the same order; else they are looked up.
        let at = if joints.get(i).is_some_and(|joint| joint.name == *name) {
            i
        } else {
            let index = index.get_or_insert_with(|| {
                joints.iter().enumerate().map(|(i, joint)| (joint.name.clone(), i)).collect()
            });
            *index.entry(name.clone()).or_insert_with(|| {
                joints.push(JointColumns { name: name.clone(), ..JointColumns::default() });
                joints.len() - 1
            })
        };
        for (column, list) in joints[at].columns_mut().into_iter().zip(lists) {
            let Some(value) = list.get(i) else { continue };
            // What was never there but as NaN is not there; and of a name given twice in one
            // message the first counts.
            if (column.is_empty() && value.is_nan()) || column.len() > n_before {
                continue;
            }
            column.resize(n_before, f64::NAN);
            column.push(*value);
        }
    }
    let columns = joints.iter_mut().flat_map(JointColumns::columns_mut);
    for column in columns.filter(|column| !column.is_empty()) {
        column.resize(n_before + 1, f64::NAN);
    }
    3 * (joints.len() * (n_before + 1) - n_values_before)
}

/// One sample of numbers after `n_before`; a key never seen before is absent from those.
fn push_numbers(
    columns: &mut BTreeMap<String, Vec<f64>>,
    n_before: usize,
    numbers: &[(Cow<'_, str>, f64)],
) -> usize {
    // A column of a table, over and over.
    if let ([(key, number)], 1) = (numbers, columns.len())
        && let Some((_, column)) = columns.iter_mut().next().filter(|(known, _)| *known == key)
    {
        column.push(*number);
        return 1;
    }
    let n_values_before = columns.len() * n_before;
    for (key, number) in numbers {
        let column = match columns.get_mut(&**key) {
            Some(column) => column,
            None => columns.entry(key.to_string()).or_default(),
        };
        if column.len() <= n_before {
            column.resize(n_before, f64::NAN);
            column.push(*number);
        }
    }
    for column in columns.values_mut() {
        column.resize(n_before + 1, f64::NAN);
    }
    columns.len() * (n_before + 1) - n_values_before
}

fn lengths(data: &Data) -> Vec<usize> {
    match data {
        Data::Poses(list) => vec![list.len()],
        Data::Motions(list) => vec![list.len()],
        Data::Contacts(list) => vec![list.len()],
        Data::Remarks(list) => vec![list.len()],
        Data::Scalars(columns) => columns.values().map(Vec::len).collect(),
        Data::Joints(joints) => (joints.iter())
            .flat_map(JointColumns::columns)
            .filter(|column| !column.is_empty())
            .map(<[f64]>::len)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: i64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    #[test]
    fn the_door_refuses_what_is_no_track() {
        let poses = |n| Data::Poses(vec![Transform::IDENTITY; n]);
        assert_eq!(
            Track::new("", "", vec![at(1), at(1), at(0)], poses(3)),
            Err(TrackError::TimeWentBack { index: 2 })
        );
        assert_eq!(
            Track::new("", "", vec![at(1)], poses(3)),
            Err(TrackError::LengthsDiffer { n_times: 1, n_values: 3 })
        );
        assert_eq!(Track::new("", "", vec![at(1), at(1)], poses(2)).unwrap().len(), 2);
    }

    #[test]
    fn joints_that_come_and_go_keep_their_columns_even() {
        let mut track = Track::empty("", Data::Joints(Vec::new()));
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut push = |nanos, list: &[&str], lists: [&[f64]; 3]| {
            track.push(at(nanos), Sample::Joints { names: &names(list), lists });
        };
        push(0, &["a"], [&[1.0], &[f64::NAN], &[]]);
        push(1, &["b", "a"], [&[2.0, 3.0], &[4.0], &[]]);
        push(2, &["b", "b"], [&[5.0, 6.0], &[], &[]]);
        let joints = track.joints().unwrap();
        assert_eq!(joints[0].position[..2], [1.0, 3.0]);
        assert!(joints[0].position[2].is_nan() && joints[0].velocity.is_empty());
        assert_eq!(joints[1].position[1..], [2.0, 5.0]);
        assert_eq!(joints[1].velocity[1], 4.0);
        assert!(joints[1].velocity[0].is_nan() && joints[1].velocity.len() == 3);
        let rebuilt = Track::new("", "", track.times().to_vec(), Data::Joints(joints.to_vec()));
        assert!(rebuilt.is_ok());
    }
}
