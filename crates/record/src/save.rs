//! Samples written as messages of a new recording, and a recording in memory as a source of
//! samples.
//!
//! Numbers become one `std_msgs/Float64` channel per key, which every plotting tool knows;
//! a NaN is the absence of a sample and is not written.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use headland_base::{Diagnostic, SimTime};

use crate::messages::{Float64, Kind, Text};
use crate::recording::{Recording, number_topic};
use crate::sample::{Goal, Sample, Sort};
use crate::track::{Data, Track};
use crate::writer::{ChannelId, ContactRef, Writer};

/// Writes facts, files and every track. The writer stays open.
pub fn save(recording: &Recording, writer: &mut Writer) -> Result<(), Diagnostic> {
    for (name, entries) in &recording.facts.metadata {
        writer.metadata(name, entries.clone())?;
    }
    for file in &recording.attachments {
        writer.copied_file(file.clone())?;
    }
    let mut saving = Saving { writer, channels: Channels::default() };
    for_each_sample(recording, &mut saving)
}

struct Saving<'w> {
    writer: &'w mut Writer,
    channels: Channels,
}

impl Goal for Saving<'_> {
    fn track(&mut self, topic: &str, schema: &str, sort: Sort) -> Result<(), Diagnostic> {
        self.channels.announce(self.writer, topic, schema, sort)
    }

    fn sample(
        &mut self,
        track: usize,
        time: SimTime,
        frame_id: &str,
        sample: Sample<'_>,
    ) -> Result<(), Diagnostic> {
        self.channels.put(self.writer, track, time, frame_id, sample)
    }
}

/// Where the samples of a track go.
enum Channel {
    One(ChannelId),
    Text(ChannelId),
    PerKey { topic: String, ids: BTreeMap<String, ChannelId> },
}

/// The channels of a recording that is written from samples, by track.
#[derive(Default)]
pub(crate) struct Channels(Vec<Channel>);

impl Channels {
    /// The channel of a new track.
    pub fn announce(
        &mut self,
        writer: &mut Writer,
        topic: &str,
        schema: &str,
        sort: Sort,
    ) -> Result<(), Diagnostic> {
        let kind = match sort {
            Sort::Poses => Kind::PoseStamped,
            Sort::Motions => Kind::TwistStamped,
            Sort::Joints => Kind::JointState,
            Sort::Contacts => Kind::Contacts,
            Sort::Remarks if schema == Kind::Text.name() => {
                self.0.push(Channel::Text(writer.channel(topic, Kind::Text)?));
                return Ok(());
            }
            Sort::Remarks => Kind::Event,
            Sort::Numbers => {
                let mut ids = BTreeMap::new();
                // A plain number is its topic, which is there even if it never says anything.
                if schema == Kind::Float64.name() {
                    ids.insert("data".to_string(), writer.channel(topic, Kind::Float64)?);
                }
                self.0.push(Channel::PerKey { topic: topic.to_string(), ids });
                return Ok(());
            }
        };
        self.0.push(Channel::One(writer.channel(topic, kind)?));
        Ok(())
    }

    /// Writes a sample of an announced track.
    pub fn put(
        &mut self,
        writer: &mut Writer,
        track: usize,
        time: SimTime,
        frame_id: &str,
        sample: Sample<'_>,
    ) -> Result<(), Diagnostic> {
        match (&mut self.0[track], sample) {
            (Channel::One(id), Sample::Pose(pose)) => writer.pose(*id, time, frame_id, &pose),
            (Channel::One(id), Sample::Motion(motion)) => {
                writer.twist(*id, time, frame_id, motion.linear, motion.angular)
            }
            (Channel::One(id), Sample::Joints { names, lists: [position, velocity, effort] }) => {
                writer.joint_states(*id, time, names, position, velocity, effort)
            }
            (Channel::One(id), Sample::Contacts(contacts)) => {
                writer.contacts(*id, time, frame_id, contacts.iter().map(ContactRef::from))
            }
            (Channel::Text(id), Sample::Remark(remark)) => {
                writer.message(*id, time, &Text { data: remark.text })
            }
            (Channel::One(id), Sample::Remark(remark)) => {
                writer.event(*id, time, &remark.source, &remark.kind, &remark.text)
            }
            (Channel::PerKey { topic, ids }, Sample::Numbers(numbers)) => {
                for (key, data) in numbers.iter().filter(|(_, data)| !data.is_nan()) {
                    let id = match ids.get(&**key) {
                        Some(id) => *id,
                        None => {
                            let id = writer.channel(&number_topic(topic, key), Kind::Float64)?;
                            *ids.entry(key.to_string()).or_insert(id)
                        }
                    };
                    writer.message(id, time, &Float64 { data: *data })?;
                }
                Ok(())
            }
            _ => unreachable!("a sample of the sort the track was announced with"),
        }
    }
}

/// Every sample of a recording in memory, its tracks merged by time.
pub(crate) fn for_each_sample(
    recording: &Recording,
    goal: &mut dyn Goal,
) -> Result<(), Diagnostic> {
    let tracks: Vec<(&String, &Track)> = recording.tracks().iter().collect();
    for (topic, track) in &tracks {
        goal.track(topic, track.schema(), track.data().sort())?;
    }
    for (key, unit) in recording.said_units() {
        goal.unit(key, unit);
    }
    for (key, word) in recording.unknown_units() {
        goal.unknown_unit(key, word);
    }
    let first =
        |(at, (_, track)): (usize, &(_, &Track))| Some(Reverse((*track.times().first()?, at, 0)));
    let mut waiting: BinaryHeap<Reverse<(SimTime, usize, usize)>> =
        tracks.iter().enumerate().filter_map(first).collect();
    while let Some(Reverse((time, at, index))) = waiting.pop() {
        let track = tracks[at].1;
        one_sample(track, index, |sample| goal.sample(at, time, track.frame_id(), sample))?;
        if let Some(next) = track.times().get(index + 1) {
            waiting.push(Reverse((*next, at, index + 1)));
        }
    }
    Ok(())
}

fn one_sample<T>(track: &Track, index: usize, give: impl FnOnce(Sample<'_>) -> T) -> T {
    match track.data() {
        Data::Poses(poses) => give(Sample::Pose(poses[index])),
        Data::Motions(motions) => give(Sample::Motion(motions[index])),
        Data::Joints(joints) => {
            let names: Vec<String> = joints.iter().map(|joint| joint.name.clone()).collect();
            // A quantity that some joints lack is NaN for those, and not there if all do.
            let list = |property: usize| -> Vec<f64> {
                let columns = joints.iter().map(|joint| joint.columns()[property]);
                if columns.clone().all(<[f64]>::is_empty) {
                    return Vec::new();
                }
                columns.map(|column| column.get(index).copied().unwrap_or(f64::NAN)).collect()
            };
            let lists = [0, 1, 2].map(list);
            give(Sample::Joints { names: &names, lists: lists.each_ref().map(|list| &list[..]) })
        }
        Data::Scalars(columns) => {
            let numbers: Vec<(Cow<'_, str>, f64)> =
                columns.iter().map(|(key, values)| (Cow::from(key), values[index])).collect();
            give(Sample::Numbers(&numbers))
        }
        Data::Contacts(contacts) => give(Sample::Contacts(contacts[index].clone())),
        Data::Remarks(remarks) => give(Sample::Remark(remarks[index].clone())),
    }
}
