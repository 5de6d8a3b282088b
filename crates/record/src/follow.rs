//! A recording that may still grow, sample by sample: messages go in, numbers by key come out.
//!
//! The keys are those of a [`Recording`](crate::Recording) of the messages so far: a joint has its
//! short name as long as no other robot has one of that name. Nothing is kept but the names.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use headland_base::{Diagnostic, Findings, SimTime};

use crate::load::LoadOptions;
use crate::reader::Reader;
use crate::recording::{
    contact_numbers, joint_names, motion_numbers, number_topic, object_name, pose_numbers,
    scoped_keys,
};
use crate::sample::{Goal, Sample, Sort};
use crate::sampler::Sampler;
use crate::track::JOINT_KEYS;

/// What one message says.
#[derive(Debug)]
pub struct Said<'a> {
    /// When.
    pub time: SimTime,
    /// Every key so far; grows, and never changes the places of those it has.
    pub keys: &'a Keys,
    /// Which of the keys, and its number.
    pub numbers: &'a [(usize, f64)],
}

/// The keys of all numbers so far.
#[derive(Debug, Default)]
pub struct Keys(Vec<Key>);

#[derive(Debug)]
enum Key {
    Plain(String),
    /// What it is called depends on which other joints there are.
    Joint {
        topic: String,
        joint: String,
        property: &'static str,
    },
}

impl Keys {
    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What they are called, as far as is known by now.
    pub fn names(&self) -> Vec<String> {
        let joint = |key: &Key| match key {
            Key::Joint { topic, joint, .. } => Some((topic.clone(), joint.clone())),
            Key::Plain(_) => None,
        };
        let joints: BTreeSet<(String, String)> = self.0.iter().filter_map(joint).collect();
        let names = joint_names(joints.iter().map(|(topic, joint)| (&**topic, &**joint)));
        let called: BTreeMap<&(String, String), String> = joints.iter().zip(names).collect();
        let name = |key: &Key| match (key, joint(key)) {
            (Key::Joint { property, .. }, Some(of)) => format!("{}/{property}", called[&of]),
            (Key::Plain(name), _) => name.clone(),
            (Key::Joint { .. }, None) => unreachable!("a joint is one"),
        };
        self.0.iter().map(name).collect()
    }
}

/// Hands every message with numbers to `each`, in the order of the file, until `each` has enough.
/// Times of one topic never go back; those of different topics stand as they were written.
pub fn follow<R: Read>(
    reader: Reader<R>,
    options: &LoadOptions,
    each: &mut dyn FnMut(Said<'_>) -> bool,
) -> Findings {
    let mut sampler = Sampler::new(options);
    let mut goal = Numbers {
        each,
        keys: Keys::default(),
        tracks: Vec::new(),
        numbers: Vec::new(),
        is_enough: false,
    };
    sampler.read(reader, &mut goal).expect("it takes everything");
    sampler.finish(&mut goal)
}

struct Numbers<'e> {
    each: &'e mut dyn FnMut(Said<'_>) -> bool,
    keys: Keys,
    tracks: Vec<Topic>,
    numbers: Vec<(usize, f64)>,
    is_enough: bool,
}

struct Topic {
    name: String,
    sort: Sort,
    /// By what a number is called within the topic.
    keys: BTreeMap<String, usize>,
}

impl Numbers<'_> {
    /// The place of a number of a track among all keys.
    fn place(&mut self, track: usize, within: &str, key: impl FnOnce(&str) -> Key) -> usize {
        let topic = &mut self.tracks[track];
        match topic.keys.get(within) {
            Some(place) => *place,
            None => {
                self.keys.0.push(key(&topic.name));
                topic.keys.insert(within.to_string(), self.keys.len() - 1);
                self.keys.len() - 1
            }
        }
    }

    fn plain(&mut self, track: usize, numbers: &[f64]) {
        let Topic { name, sort, .. } = &self.tracks[track];
        let all = scoped_keys(object_name(name), *sort, std::iter::empty());
        for (key, number) in all.iter().zip(numbers) {
            let place = self.place(track, key, |_| Key::Plain(key.clone()));
            self.numbers.push((place, *number));
        }
    }

    fn joints(&mut self, track: usize, names: &[String], lists: [&[f64]; 3]) {
        for (i, joint) in names.iter().enumerate() {
            for (property, list) in JOINT_KEYS.iter().zip(lists) {
                let Some(number) = list.get(i).filter(|number| !number.is_nan()) else { continue };
                let place = self.place(track, &format!("{joint}/{property}"), |topic| {
                    let (topic, joint) = (topic.to_string(), joint.clone());
                    Key::Joint { topic, joint, property }
                });
                self.numbers.push((place, *number));
            }
        }
    }
}

impl Goal for Numbers<'_> {
    fn track(&mut self, topic: &str, _schema: &str, sort: Sort) -> Result<(), Diagnostic> {
        self.tracks.push(Topic { name: topic.to_string(), sort, keys: BTreeMap::new() });
        Ok(())
    }

    fn sample(
        &mut self,
        track: usize,
        time: SimTime,
        _frame_id: &str,
        sample: Sample<'_>,
    ) -> Result<(), Diagnostic> {
        self.numbers.clear();
        match sample {
            Sample::Pose(pose) => self.plain(track, &pose_numbers(&pose)),
            Sample::Motion(motion) => self.plain(track, &motion_numbers(&motion)),
            Sample::Contacts(now) => self.plain(track, &contact_numbers(&now)),
            Sample::Joints { names, lists } => self.joints(track, names, lists),
            Sample::Numbers(numbers) => {
                for (within, number) in numbers {
                    let key = |topic: &str| {
                        Key::Plain(number_topic(topic.trim_start_matches('/'), within))
                    };
                    let place = self.place(track, within, key);
                    self.numbers.push((place, *number));
                }
            }
            Sample::Remark(_) => return Ok(()),
        }
        let (keys, numbers) = (&self.keys, &self.numbers[..]);
        self.is_enough = !(self.each)(Said { time, keys, numbers });
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.is_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Float64;
    use crate::{ImportOptions, Kind, Memory, WriteOptions, Writer, load};
    use headland_base::Transform;

    /// Whole or cut anywhere, it says what a recording in memory has.
    #[test]
    fn it_says_what_a_recording_has() {
        let file = Memory::new();
        let mut writer = Writer::new(file.clone(), "m", &WriteOptions::new("test")).unwrap();
        let pose = writer.channel("/ball/pose", Kind::PoseStamped).unwrap();
        let number = writer.channel("/battery", Kind::Float64).unwrap();
        let arm = writer.channel("/arm/joint_states", Kind::JointState).unwrap();
        let leg = writer.channel("/arm/encoder", Kind::JointState).unwrap();
        let other = writer.channel("/other/joint_states", Kind::JointState).unwrap();
        for i in 0..50 {
            let time = SimTime::from_nanos(i * 1_000_000);
            writer.pose(pose, time, "world", &Transform::IDENTITY).unwrap();
            writer.message(number, time, &Float64 { data: i as f64 }).unwrap();
            let own = ["elbow".into(), "wrist".into()];
            writer.joint_states(arm, time, &own, &[i as f64, 0.1], &[], &[0.5, 0.6]).unwrap();
            writer.joint_states(leg, time, &["elbow".into()], &[-1.0], &[], &[]).unwrap();
            // Another robot with a joint of that name comes late.
            if i > 40 {
                writer.joint_states(other, time, &["elbow".into()], &[7.0], &[], &[]).unwrap();
            }
        }
        writer.finish().unwrap();
        let bytes = file.bytes();
        let options = ImportOptions::default().load;
        for end in [bytes.len(), bytes.len() / 2, 3] {
            let mut by_place: Vec<Vec<f64>> = Vec::new();
            let mut names = Vec::new();
            follow(Reader::new(&bytes[..end], "m"), &options, &mut |said| {
                by_place.resize(said.keys.len(), Vec::new());
                said.numbers.iter().for_each(|(place, number)| by_place[*place].push(*number));
                names = said.keys.names();
                true
            });
            let columns: BTreeMap<String, Vec<f64>> = names.into_iter().zip(by_place).collect();
            let (recording, _) = load(Reader::new(&bytes[..end], "m"), &options);
            let there = |key: &&String| !recording.column(key).unwrap().values.is_empty();
            let keys = recording.keys();
            assert_eq!(
                columns.keys().collect::<Vec<_>>(),
                keys.iter().filter(there).collect::<Vec<_>>()
            );
            for (key, values) in &columns {
                assert_eq!(values[..], recording.column(key).unwrap().values[..], "{key}");
            }
        }
    }
}
