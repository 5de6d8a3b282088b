//! An MCAP stream goes in, a [`Recording`] comes out: ours, or one others made.
//!
//! | message | track |
//! |---|---|
//! | PoseStamped | poses, under its topic |
//! | TwistStamped | velocities, under its topic |
//! | Odometry on `/odom` | poses `/odom/pose` and velocities `/odom/twist` |
//! | TFMessage on `/tf` | poses `/tf/<child>/pose`, one track per child frame |
//! | JointState | joints |
//! | Imu, WrenchStamped, LaserScan, Float64, anything else with a definition | scalars by field |
//! | Contacts | contacts |
//! | String, Event | texts |
//!
//! A sample earlier than the one before it on its track is left out and counted, and so is
//! a pose whose quaternion has no direction: ROS's default is all zeros.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use headland_base::maths::{Quat, Vec3, unit_quat};
use headland_base::{Diagnostic, Findings, SimTime, Transform};

use crate::cdr;
use crate::dynamic::{Definition, Value};
use crate::messages::{self, Header, Kind};
use crate::reader::{Channel, Item, RawMessage, Reader};
use crate::recording::Recording;
use crate::track::{Data, Motion, Remark, Track};

/// Which of its two times a message is filed under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamp {
    /// When it was measured: the header's stamp, where there is one and it is not zero.
    #[default]
    Header,
    /// When it was recorded.
    Log,
}

/// How a recording is loaded.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// Which time counts.
    pub stamp: Stamp,
    /// Most numbers kept, about: a small compressed file can unfold to terabytes.
    pub n_values_max: usize,
    /// Most keys of one scalar track; a point cloud is no set of signals.
    pub n_keys_max: usize,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions { stamp: Stamp::Header, n_values_max: 500_000_000, n_keys_max: 4096 }
    }
}

/// Reads everything. What could not be read is in the findings; what could is returned.
pub fn load<R: Read>(reader: Reader<R>, options: &LoadOptions) -> (Recording, Findings) {
    load_parts([reader], options)
}

/// Reads a recording that was split into several files, in their order.
pub(crate) fn load_parts<R: Read>(
    parts: impl IntoIterator<Item = Reader<R>>,
    options: &LoadOptions,
) -> (Recording, Findings) {
    let mut loader = Loader {
        options: *options,
        recording: Recording::new(),
        tracks: Vec::new(),
        by_topic: BTreeMap::new(),
        handlers: Vec::new(),
        n_values: 0,
        cropped: BTreeSet::new(),
        is_full: false,
        findings: Findings::new(),
    };
    for part in parts {
        loader.part(part);
    }
    loader.finish()
}

/// A track on its way.
struct Growing {
    topic: String,
    track: Track,
    n_backward: usize,
    /// Poses that turn nowhere.
    n_undirected: usize,
}

/// What to do with the messages of a channel.
enum Handler {
    Pose(usize),
    Twist(usize),
    Odometry {
        pose: usize,
        twist: usize,
    },
    /// Prefix of the topics, and the track of each child frame.
    Tf {
        topic: String,
        children: BTreeMap<String, usize>,
    },
    Joints(usize),
    Contacts(usize),
    Text(usize),
    Event(usize),
    Scalars {
        track: usize,
        definition: Box<Definition>,
    },
    Skip,
}

struct Loader {
    options: LoadOptions,
    recording: Recording,
    tracks: Vec<Growing>,
    by_topic: BTreeMap<String, usize>,
    /// By channel number.
    handlers: Vec<Handler>,
    n_values: usize,
    /// Tracks whose messages have more numbers than are kept.
    cropped: BTreeSet<usize>,
    /// No more messages are taken.
    is_full: bool,
    findings: Findings,
}

impl Loader {
    fn part<R: Read>(&mut self, mut reader: Reader<R>) {
        // Each file numbers its channels anew.
        self.handlers.clear();
        while let Some(item) = reader.next() {
            match item {
                Item::Header { profile, library } => {
                    self.recording.facts.profile = profile;
                    self.recording.facts.library = library;
                }
                Item::Channel(channel) => self.channel(&channel),
                Item::Message(message) => self.message(&message),
                Item::Attachment(file) => self.recording.attachments.push(file),
                Item::Metadata { name, entries } => {
                    self.recording.facts.metadata.entry(name).or_default().extend(entries);
                }
            }
        }
        self.findings.extend(reader.into_findings().into_vec());
    }

    fn finish(mut self) -> (Recording, Findings) {
        for Growing { topic, track, n_backward, n_undirected } in self.tracks {
            if n_backward > 0 {
                let message = format!(
                    "{n_backward} samples of `{topic}` are earlier than the one before them"
                );
                let warning = Diagnostic::warning("time-went-back", message);
                self.findings.push(warning.note("they were left out"));
            }
            if n_undirected > 0 {
                let n_all = n_undirected + track.len();
                let message = format!(
                    "{n_undirected} of {n_all} poses of `{topic}` have a quaternion without direction"
                );
                let error = Diagnostic::error("bad-pose", message);
                self.findings.push(error.note("they were left out"));
            }
            self.recording.insert(topic, track);
        }
        (self.recording, self.findings)
    }

    /// The track of a topic. A second channel of the same topic and sort joins the first.
    fn track(&mut self, topic: &str, schema: &str, data: Data) -> Option<usize> {
        if let Some(at) = self.by_topic.get(topic) {
            let known = &self.tracks[*at].track;
            if std::mem::discriminant(known.data()) == std::mem::discriminant(&data) {
                return Some(*at);
            }
            let message = format!("topic `{topic}` carries `{}` and `{schema}`", known.schema());
            let help = "only the first is kept";
            self.findings.push(Diagnostic::warning("topic-has-two-types", message).help(help));
            return None;
        }
        let track = Track::empty(schema, data);
        let topic_name = topic.to_string();
        self.tracks.push(Growing { topic: topic_name, track, n_backward: 0, n_undirected: 0 });
        self.by_topic.insert(topic.to_string(), self.tracks.len() - 1);
        Some(self.tracks.len() - 1)
    }

    fn channel(&mut self, channel: &Channel) {
        let handler = self.handler(channel).unwrap_or(Handler::Skip);
        let at = usize::from(channel.id);
        if self.handlers.len() <= at {
            self.handlers.resize_with(at + 1, || Handler::Skip);
        }
        self.handlers[at] = handler;
    }

    fn handler(&mut self, channel: &Channel) -> Option<Handler> {
        let topic = channel.topic.as_str();
        // What we know by name needs no definition, in whatever language it is written.
        let schema = channel.schema.as_deref().filter(|schema| {
            let is_known = Kind::from_name(&schema.name).is_some();
            channel.message_encoding == "cdr" && (is_known || schema.encoding == "ros2msg")
        });
        let Some(schema) = schema else {
            let encoding = channel.schema.as_ref().map_or("no schema", |s| &s.encoding);
            let message = format!(
                "topic `{topic}` is `{}` with `{encoding}`, and only `cdr` with `ros2msg` is read",
                channel.message_encoding
            );
            self.findings.push(Diagnostic::warning("unknown-encoding", message));
            return None;
        };
        let name = schema.name.as_str();
        Some(match Kind::from_name(name) {
            Some(Kind::PoseStamped) => {
                Handler::Pose(self.track(topic, name, Data::Poses(vec![]))?)
            }
            Some(Kind::TwistStamped) => {
                Handler::Twist(self.track(topic, name, Data::Motions(vec![]))?)
            }
            Some(Kind::Odometry) => Handler::Odometry {
                pose: self.track(&format!("{topic}/pose"), name, Data::Poses(vec![]))?,
                twist: self.track(&format!("{topic}/twist"), name, Data::Motions(vec![]))?,
            },
            Some(Kind::TfMessage) => {
                Handler::Tf { topic: topic.to_string(), children: BTreeMap::new() }
            }
            Some(Kind::JointState) => {
                Handler::Joints(self.track(topic, name, Data::Joints(vec![]))?)
            }
            Some(Kind::Contacts) => {
                Handler::Contacts(self.track(topic, name, Data::Contacts(vec![]))?)
            }
            Some(Kind::Text) => Handler::Text(self.track(topic, name, Data::Remarks(vec![]))?),
            Some(Kind::Event) => Handler::Event(self.track(topic, name, Data::Remarks(vec![]))?),
            _ => {
                let text = match Kind::from_name(name) {
                    Some(kind) => kind.definition(),
                    None => String::from_utf8_lossy(&schema.data).into_owned(),
                };
                let definition = match Definition::parse(name, &text) {
                    Ok(definition) => Box::new(definition),
                    Err(faults) => {
                        self.findings.extend(faults);
                        return None;
                    }
                };
                let track = self.track(topic, name, Data::Scalars(BTreeMap::new()))?;
                Handler::Scalars { track, definition }
            }
        })
    }

    fn message(&mut self, message: &RawMessage) {
        let at = usize::from(message.channel.id);
        if self.is_full {
            return;
        }
        let mut handler = std::mem::replace(&mut self.handlers[at], Handler::Skip);
        if let Err(fault) = self.handle(&mut handler, message) {
            let topic = &message.channel.topic;
            self.findings.push(fault.note(format!("on topic `{topic}` at {}", message.log_time)));
        }
        self.handlers[at] = handler;
        // Every number kept came from a payload, but for the tables, which count their own.
        self.n_values += 4 + message.payload.len() / 8;
        if self.n_values > self.options.n_values_max {
            self.is_full = true;
            let message = format!(
                "more than {} numbers; what comes after {} is left out",
                self.options.n_values_max, message.log_time
            );
            self.findings.push(
                Diagnostic::error("recording-too-large", message)
                    .help("export the topics you need to a smaller file first"),
            );
        }
    }

    fn handle(&mut self, handler: &mut Handler, message: &RawMessage) -> Result<(), Diagnostic> {
        let payload = message.payload;
        let stamp = self.options.stamp;
        let time_of = |header: &Header| time_of(header.stamp.sim(), message.log_time, stamp);
        match handler {
            Handler::Skip => {}
            Handler::Pose(track) => {
                if let Some((header, frame, n)) = cdr::decode_stamped::<7>(payload) {
                    let rotation = Quat::from_xyzw(n[3], n[4], n[5], n[6]);
                    let parts = (rotation, Vec3::new(n[0], n[1], n[2]));
                    let time = self::time_of(header, message.log_time, stamp);
                    self.pose(*track, time, frame, parts);
                    return Ok(());
                }
                let pose: messages::PoseStamped = messages::decode(payload)?;
                let time = time_of(&pose.header);
                self.pose(*track, time, &pose.header.frame_id, parts_of(&pose.pose));
            }
            Handler::Twist(track) => {
                if let Some((header, frame, n)) = cdr::decode_stamped::<6>(payload) {
                    let time = self::time_of(header, message.log_time, stamp);
                    let linear = Vec3::new(n[0], n[1], n[2]);
                    let angular = Vec3::new(n[3], n[4], n[5]);
                    self.motion(*track, time, frame, Motion { linear, angular });
                    return Ok(());
                }
                let twist: messages::TwistStamped = messages::decode(payload)?;
                let time = time_of(&twist.header);
                self.motion(*track, time, &twist.header.frame_id, motion_of(&twist.twist));
            }
            Handler::Odometry { pose, twist } => {
                let both: messages::Odometry = messages::decode(payload)?;
                let time = time_of(&both.header);
                self.pose(*pose, time, &both.header.frame_id, parts_of(&both.pose.pose));
                self.motion(*twist, time, &both.child_frame_id, motion_of(&both.twist.twist));
            }
            Handler::Tf { topic, children } => {
                let tf: messages::TfMessage = messages::decode(payload)?;
                for one in tf.transforms {
                    let track = match children.get(&one.child_frame_id) {
                        Some(track) => *track,
                        None => {
                            let child = one.child_frame_id.trim_start_matches('/');
                            let topic = format!("{topic}/{child}/pose");
                            let name = Kind::TfMessage.name();
                            let Some(track) = self.track(&topic, name, Data::Poses(vec![])) else {
                                continue;
                            };
                            children.insert(one.child_frame_id.clone(), track);
                            track
                        }
                    };
                    let parts =
                        ((&one.transform.rotation).into(), (&one.transform.translation).into());
                    self.pose(track, time_of(&one.header), &one.header.frame_id, parts);
                }
            }
            Handler::Joints(track) => {
                let mut state: messages::JointState = messages::decode(payload)?;
                if state.name.len() > self.options.n_keys_max {
                    state.name.truncate(self.options.n_keys_max);
                    self.crop(*track, message);
                }
                let n_joints_max = self.options.n_keys_max;
                if let Some(track) = self.growing(*track, time_of(&state.header)) {
                    let lists = [&state.position[..], &state.velocity, &state.effort];
                    let before = track.joints().map_or(0, <[_]>::len) * track.len();
                    let time = time_of(&state.header);
                    track.push_joints(time, &state.name, lists, n_joints_max);
                    let after = track.joints().map_or(0, <[_]>::len) * track.len();
                    self.n_values += 3 * (after - before);
                }
            }
            Handler::Contacts(track) => {
                let now: messages::Contacts = messages::decode(payload)?;
                if let Some(track) = self.growing(*track, time_of(&now.header)) {
                    track.set_frame(&now.header.frame_id);
                    track.push_contacts(time_of(&now.header), now.contacts);
                }
            }
            Handler::Text(track) => {
                let text: messages::Text = messages::decode(payload)?;
                if let Some(track) = self.growing(*track, message.log_time) {
                    let remark = Remark { text: text.data, ..Remark::default() };
                    track.push_remark(message.log_time, remark);
                }
            }
            Handler::Event(track) => {
                let event: messages::Event = messages::decode(payload)?;
                if let Some(track) = self.growing(*track, time_of(&event.header)) {
                    let messages::Event { header, source, kind, text } = event;
                    track.push_remark(time_of(&header), Remark { source, kind, text });
                }
            }
            Handler::Scalars { track, definition } => {
                let value = definition.decode(payload)?;
                self.scalars(*track, &value, message);
            }
        }
        Ok(())
    }

    /// The track, unless a sample of this time would go back; that is counted.
    fn growing(&mut self, at: usize, time: SimTime) -> Option<&mut Track> {
        let growing = &mut self.tracks[at];
        if growing.track.accepts(time) {
            return Some(&mut growing.track);
        }
        growing.n_backward += 1;
        None
    }

    /// A pose as others wrote it; a [`Transform`] promises a unit quaternion.
    fn pose(&mut self, at: usize, time: SimTime, frame: &str, (turn, place): (Quat, Vec3)) {
        let Some(rotation) = unit_quat(turn) else {
            self.tracks[at].n_undirected += 1;
            return;
        };
        if let Some(track) = self.growing(at, time) {
            track.set_frame(frame);
            track.push_pose(time, Transform::new(rotation, place));
        }
    }

    fn motion(&mut self, track: usize, time: SimTime, frame: &str, motion: Motion) {
        if let Some(track) = self.growing(track, time) {
            track.set_frame(frame);
            track.push_motion(time, motion);
        }
    }

    /// Says once per track that its messages have more than is kept.
    fn crop(&mut self, track: usize, message: &RawMessage) {
        if self.cropped.insert(track) {
            let (topic, most) = (&message.channel.topic, self.options.n_keys_max);
            let message = format!("topic `{topic}`: only {most} keys are kept");
            self.findings.push(Diagnostic::warning("too-many-keys", message));
        }
    }

    fn scalars(&mut self, track: usize, value: &Value, message: &RawMessage) {
        let time = match header_stamp(value) {
            Some(header) => time_of(header, message.log_time, self.options.stamp),
            None => message.log_time,
        };
        let n_keys_max = self.options.n_keys_max;
        let mut numbers = Vec::new();
        let all = value.for_each_number(&mut |key, number| {
            // The stamp is the time of the sample, not one of its numbers.
            if key.starts_with("header/stamp/") {
                return true;
            }
            numbers.push((key.to_string(), number));
            numbers.len() <= n_keys_max
        });
        if !all {
            numbers.truncate(n_keys_max);
            self.crop(track, message);
        }
        let Some(track) = self.growing(track, time) else { return };
        let n_known = track.scalars().map_or(0, BTreeMap::len);
        if n_known >= n_keys_max {
            let columns = track.scalars().expect("made for scalars");
            numbers.retain(|(key, _)| columns.contains_key(key));
        }
        // A new key fills its whole past with NaN, so what is counted is the table.
        let before = n_known * track.len();
        track.push_scalars(time, numbers.iter().map(|(key, number)| (&**key, *number)));
        let after = track.scalars().map_or(0, BTreeMap::len) * track.len();
        self.n_values += after - before;
    }
}

fn parts_of(pose: &messages::Pose) -> (Quat, Vec3) {
    ((&pose.orientation).into(), (&pose.position).into())
}

fn motion_of(twist: &messages::Twist) -> Motion {
    Motion { linear: (&twist.linear).into(), angular: (&twist.angular).into() }
}

fn time_of(header: SimTime, log: SimTime, stamp: Stamp) -> SimTime {
    if stamp == Stamp::Header && header != SimTime::ZERO { header } else { log }
}

/// The stamp of a message that starts with a header.
fn header_stamp(value: &Value) -> Option<SimTime> {
    let stamp = value.field("header")?.field("stamp")?;
    match (stamp.field("sec")?, stamp.field("nanosec")?) {
        (Value::Int(sec), Value::UInt(nanosec)) => {
            let nanos = sec.checked_mul(1_000_000_000)?.checked_add_unsigned(*nanosec)?;
            Some(SimTime::from_nanos(nanos))
        }
        _ => None,
    }
}
