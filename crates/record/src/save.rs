//! A recording in memory written as MCAP, its tracks merged by time.
//!
//! Scalars become one `std_msgs/Float64` channel per key, which every plotting tool knows;
//! a NaN is the absence of a sample and is not written.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use headland_base::{Diagnostic, SimTime};

use crate::messages::{Float64, Kind, Text};
use crate::recording::Recording;
use crate::track::{Data, JointColumns, Track};
use crate::writer::{ChannelId, ContactRef, Writer};

/// Where the samples of a track go.
enum Target {
    One(ChannelId),
    PerKey(BTreeMap<String, ChannelId>),
}

/// Writes facts, files and every track. The writer stays open.
pub fn save(recording: &Recording, writer: &mut Writer) -> Result<(), Diagnostic> {
    for (name, entries) in &recording.facts.metadata {
        writer.metadata(name, entries.clone())?;
    }
    for file in &recording.attachments {
        writer.attach(&file.name, &file.media_type, file.bytes.clone())?;
    }
    let tracks: Vec<(&String, &Track)> = recording.tracks().iter().collect();
    let mut targets = Vec::new();
    for (topic, track) in &tracks {
        targets.push(target(writer, topic, track)?);
    }
    let first =
        |(at, (_, track)): (usize, &(_, &Track))| Some(Reverse((*track.times().first()?, at, 0)));
    let mut waiting: BinaryHeap<Reverse<(SimTime, usize, usize)>> =
        tracks.iter().enumerate().filter_map(first).collect();
    while let Some(Reverse((time, at, index))) = waiting.pop() {
        let track = tracks[at].1;
        sample(writer, &targets[at], track, time, index)?;
        if let Some(next) = track.times().get(index + 1) {
            waiting.push(Reverse((*next, at, index + 1)));
        }
    }
    Ok(())
}

fn target(writer: &mut Writer, topic: &str, track: &Track) -> Result<Target, Diagnostic> {
    let kind = match track.data() {
        Data::Poses(_) => Kind::PoseStamped,
        Data::Motions(_) => Kind::TwistStamped,
        Data::Joints(_) => Kind::JointState,
        Data::Contacts(_) => Kind::Contacts,
        Data::Remarks(_) if track.schema() == Kind::Text.name() => Kind::Text,
        Data::Remarks(_) => Kind::Event,
        Data::Scalars(columns) => {
            let mut channels = BTreeMap::new();
            for key in columns.keys() {
                let topic =
                    if key == "data" { topic.to_string() } else { format!("{topic}/{key}") };
                channels.insert(key.clone(), writer.channel(&topic, Kind::Float64)?);
            }
            return Ok(Target::PerKey(channels));
        }
    };
    writer.channel(topic, kind).map(Target::One)
}

fn sample(
    writer: &mut Writer,
    target: &Target,
    track: &Track,
    time: SimTime,
    index: usize,
) -> Result<(), Diagnostic> {
    let (channel, frame) = (target, track.frame_id());
    match (track.data(), channel) {
        (Data::Poses(poses), Target::One(id)) => writer.pose(*id, time, frame, &poses[index]),
        (Data::Motions(motions), Target::One(id)) => {
            writer.twist(*id, time, frame, motions[index].linear, motions[index].angular)
        }
        (Data::Joints(joints), Target::One(id)) => {
            let names: Vec<String> = joints.iter().map(|joint| joint.name.clone()).collect();
            // A quantity that some joints lack is NaN for those, and not there if all do.
            let list = |of: fn(&JointColumns) -> &Vec<f64>| -> Vec<f64> {
                if joints.iter().all(|joint| of(joint).is_empty()) {
                    return Vec::new();
                }
                joints
                    .iter()
                    .map(|joint| of(joint).get(index).copied().unwrap_or(f64::NAN))
                    .collect()
            };
            let lists = [list(|j| &j.position), list(|j| &j.velocity), list(|j| &j.effort)];
            writer.joint_states(*id, time, &names, &lists[0], &lists[1], &lists[2])
        }
        (Data::Contacts(contacts), Target::One(id)) => {
            writer.contacts(*id, time, frame, contacts[index].iter().map(ContactRef::from))
        }
        (Data::Remarks(remarks), Target::One(id)) => {
            let remark = &remarks[index];
            if track.schema() == Kind::Text.name() {
                return writer.message(*id, time, &Text { data: remark.text.clone() });
            }
            writer.event(*id, time, &remark.source, &remark.kind, &remark.text)
        }
        (Data::Scalars(columns), Target::PerKey(ids)) => {
            for (key, id) in ids {
                let data = columns[key][index];
                if !data.is_nan() {
                    writer.message(*id, time, &Float64 { data })?;
                }
            }
            Ok(())
        }
        _ => unreachable!("the target was made for the track"),
    }
}
