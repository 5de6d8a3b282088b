//! Samples of one thing over time, in columns.
//!
//! Held by construction, so no reader checks again: times never decrease, and every column
//! is as long as the times. What is absent from a sample is NaN.

use std::collections::BTreeMap;

use headland_base::maths::Vec3;
use headland_base::{SimTime, Transform};

use crate::messages::Contact;

/// How an object moves, both written in the frame of the track.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// \[m/s\].
    pub linear: Vec3,
    /// \[rad/s\].
    pub angular: Vec3,
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
        let column = match property {
            "position" | "pos" => &self.position,
            "velocity" | "vel" => &self.velocity,
            "effort" | "torque" | "force" => &self.effort,
            _ => return None,
        };
        (!column.is_empty()).then_some(column)
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

/// One thing over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    schema: String,
    frame_id: String,
    times: Vec<SimTime>,
    data: Data,
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
        Ok(Track { schema: schema.to_string(), frame_id: frame_id.to_string(), times, data })
    }

    /// A track without samples, to be filled by this crate's readers.
    pub(crate) fn empty(schema: &str, data: Data) -> Track {
        Track { schema: schema.to_string(), frame_id: String::new(), times: Vec::new(), data }
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

    /// Whether a sample of this time may follow.
    pub(crate) fn accepts(&self, time: SimTime) -> bool {
        self.times.last().is_none_or(|last| time >= *last)
    }

    pub(crate) fn set_frame(&mut self, frame_id: &str) {
        if self.frame_id.is_empty() {
            self.frame_id = frame_id.to_string();
        }
    }

    pub(crate) fn push_pose(&mut self, time: SimTime, pose: Transform) {
        let Data::Poses(poses) = &mut self.data else { unreachable!("made for poses") };
        poses.push(pose);
        self.times.push(time);
    }

    pub(crate) fn push_motion(&mut self, time: SimTime, motion: Motion) {
        let Data::Motions(motions) = &mut self.data else { unreachable!("made for motions") };
        motions.push(motion);
        self.times.push(time);
    }

    pub(crate) fn push_contacts(&mut self, time: SimTime, now: Vec<Contact>) {
        let Data::Contacts(contacts) = &mut self.data else { unreachable!("made for contacts") };
        contacts.push(now);
        self.times.push(time);
    }

    pub(crate) fn push_remark(&mut self, time: SimTime, remark: Remark) {
        let Data::Remarks(remarks) = &mut self.data else { unreachable!("made for remarks") };
        remarks.push(remark);
        self.times.push(time);
    }

    /// One sample of joints. Lists shorter than the names leave the rest absent; joints
    /// beyond `n_joints_max` are not taken.
    pub(crate) fn push_joints(
        &mut self,
        time: SimTime,
        names: &[String],
        lists: [&[f64]; 3],
        n_joints_max: usize,
    ) {
        let Data::Joints(joints) = &mut self.data else { unreachable!("made for joints") };
        let n_before = self.times.len();
        let mut index: Option<BTreeMap<String, usize>> = None;
        for (i, name) in names.iter().enumerate() {
            // Nearly always the joints come in the same order; else they are looked up.
            let at = if joints.get(i).is_some_and(|joint| joint.name == *name) {
                i
            } else {
                let index = index.get_or_insert_with(|| {
                    joints.iter().enumerate().map(|(i, joint)| (joint.name.clone(), i)).collect()
                });
                match index.get(name) {
                    Some(at) => *at,
                    None if joints.len() >= n_joints_max => continue,
                    None => {
                        index.insert(name.clone(), joints.len());
                        joints.push(JointColumns { name: name.clone(), ..JointColumns::default() });
                        joints.len() - 1
                    }
                }
            };
            let joint = &mut joints[at];
            let columns = [&mut joint.position, &mut joint.velocity, &mut joint.effort];
            for (column, list) in columns.into_iter().zip(lists) {
                // A name given twice in one message: the first counts.
                if let (Some(value), true) = (list.get(i), column.len() <= n_before) {
                    column.resize(n_before, f64::NAN);
                    column.push(*value);
                }
            }
        }
        self.times.push(time);
        for joint in joints {
            for column in [&mut joint.position, &mut joint.velocity, &mut joint.effort] {
                if !column.is_empty() {
                    column.resize(n_before + 1, f64::NAN);
                }
            }
        }
    }

    /// One sample of numbers; a key never seen before is absent from the samples so far.
    pub(crate) fn push_scalars<'a>(
        &mut self,
        time: SimTime,
        numbers: impl Iterator<Item = (&'a str, f64)>,
    ) {
        let Data::Scalars(columns) = &mut self.data else { unreachable!("made for scalars") };
        let n_before = self.times.len();
        for (key, number) in numbers {
            let column = match columns.get_mut(key) {
                Some(column) => column,
                None => columns.entry(key.to_string()).or_default(),
            };
            if column.len() <= n_before {
                column.resize(n_before, f64::NAN);
                column.push(number);
            }
        }
        self.times.push(time);
        for column in columns.values_mut() {
            column.resize(n_before + 1, f64::NAN);
        }
    }
}

fn lengths(data: &Data) -> Vec<usize> {
    match data {
        Data::Poses(list) => vec![list.len()],
        Data::Motions(list) => vec![list.len()],
        Data::Contacts(list) => vec![list.len()],
        Data::Remarks(list) => vec![list.len()],
        Data::Scalars(columns) => columns.values().map(Vec::len).collect(),
        Data::Joints(joints) => (joints.iter())
            .flat_map(|joint| [&joint.position, &joint.velocity, &joint.effort])
            .filter(|column| !column.is_empty())
            .map(Vec::len)
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
        track.push_joints(at(0), &names(&["a"]), [&[1.0], &[], &[]], 9);
        track.push_joints(at(1), &names(&["b", "a"]), [&[2.0, 3.0], &[4.0], &[]], 9);
        track.push_joints(at(2), &names(&["b", "b"]), [&[5.0, 6.0], &[], &[]], 9);
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
