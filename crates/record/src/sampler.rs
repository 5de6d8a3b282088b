//! Messages of an MCAP go in, samples come out: ours, or those others made.
//!
//! | message | track |
//! |---|---|
//! | PoseStamped | poses, under its topic |
//! | TwistStamped | velocities, under its topic |
//! | Odometry on `/odom` | poses `/odom/pose` and velocities `/odom/twist` |
//! | TFMessage on `/tf` | poses `/tf/<child>/pose`, one track per child frame |
//! | JointState | joints |
//! | Imu, WrenchStamped, LaserScan, Float64, anything else with a definition | numbers by field |
//! | Contacts | contacts |
//! | String, Event | texts |
//!
//! A sample earlier than the one before it on its track is left out and counted, and so is
//! a pose whose quaternion has no direction: ROS's default is all zeros.
//!
//! Deliberately absent: the samples so far. What is kept per track is its last time, its
//! counts and its keys. Start reading at [`Sampler::read`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use headland_base::maths::{Quat, Vec3, unit_quat};
use headland_base::{Diagnostic, Findings, SimTime, Transform};

use crate::cdr;
use crate::dynamic::{Definition, Value};
use crate::load::{LoadOptions, Stamp};
use crate::messages::{self, Header, Kind};
use crate::reader::{Channel, Item, RawMessage, Reader, Schema};
use crate::sample::{Goal, Sample, Sort};
use crate::track::{LeftOut, Motion, Remark};

/// Most tracks of a recording: a file may name a new child frame in every message.
const TRACKS_MAX: usize = 100_000;

/// What is known of a track while its samples pass.
struct Passing {
    topic: String,
    schema: String,
    sort: Sort,
    last: Option<SimTime>,
    n_samples: usize,
    n_backward: usize,
    /// Poses that turn nowhere.
    n_undirected: usize,
    /// Joints or numbers seen so far.
    keys: BTreeSet<String>,
    /// Whether its messages have more keys than are kept, and that was said.
    is_cropped: bool,
}

/// What to do with the messages of a channel; numbers are those of tracks.
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
        children: BTreeMap<String, Option<usize>>,
    },
    Joints(usize),
    Contacts(usize),
    Text(usize),
    Event(usize),
    Numbers {
        track: usize,
        definition: Box<Definition>,
    },
    Skip,
}

/// Why a message did not become a sample.
enum Fault {
    /// It cannot be decoded: a finding, and the next one may be better.
    Message(Diagnostic),
    /// The goal takes no more: the end.
    Goal(Diagnostic),
}

/// Turns the messages of one recording, in one file or several, into samples.
pub(crate) struct Sampler {
    options: LoadOptions,
    tracks: Vec<Passing>,
    by_topic: BTreeMap<String, usize>,
    /// By channel number.
    handlers: Vec<Handler>,
    has_too_many_tracks: bool,
    findings: Findings,
}

impl Sampler {
    pub fn new(options: &LoadOptions) -> Sampler {
        Sampler {
            options: *options,
            tracks: Vec::new(),
            by_topic: BTreeMap::new(),
            handlers: Vec::new(),
            has_too_many_tracks: false,
            findings: Findings::new(),
        }
    }

    /// Reads one file through. An `Err` is the goal's.
    pub fn read<R: Read>(
        &mut self,
        mut reader: Reader<R>,
        goal: &mut dyn Goal,
    ) -> Result<(), Diagnostic> {
        // Each file numbers its channels anew.
        self.handlers.clear();
        while let Some(item) = reader.next() {
            match item {
                Item::Channel(channel) => self.channel(&channel, goal)?,
                Item::Message(message) if !goal.is_full() => self.message(&message, goal)?,
                Item::Message(_) => {}
                aside => goal.aside(aside),
            }
        }
        self.findings.append(reader.into_findings());
        Ok(())
    }

    /// What was wrong with all that was read.
    pub fn finish(mut self, goal: &mut dyn Goal) -> Findings {
        for (at, track) in self.tracks.into_iter().enumerate() {
            let Passing { topic, n_samples, n_backward, n_undirected, .. } = track;
            if n_backward > 0 {
                goal.left_out(at, LeftOut { n_backward, n_duplicate: 0 });
                let message = format!(
                    "{n_backward} samples of `{topic}` are earlier than the one before them"
                );
                let warning = Diagnostic::warning("time-went-back", message);
                self.findings.push(warning.note("they were left out"));
            }
            if n_undirected > 0 {
                let n_all = n_undirected + n_samples;
                let message = format!(
                    "{n_undirected} of {n_all} poses of `{topic}` have a quaternion without direction"
                );
                let error = Diagnostic::error("bad-pose", message);
                self.findings.push(error.note("they were left out"));
            }
        }
        self.findings
    }

    /// The track of a topic. A second channel of the same topic and sort joins the first.
    fn track(
        &mut self,
        topic: &str,
        schema: &str,
        sort: Sort,
        goal: &mut dyn Goal,
    ) -> Result<Option<usize>, Diagnostic> {
        if let Some(at) = self.by_topic.get(topic) {
            let known = &self.tracks[*at];
            if known.sort == sort {
                return Ok(Some(*at));
            }
            let message = format!("topic `{topic}` carries `{}` and `{schema}`", known.schema);
            let help = "only the first is kept";
            self.findings.push(Diagnostic::warning("topic-has-two-types", message).help(help));
            return Ok(None);
        }
        if self.tracks.len() >= TRACKS_MAX {
            if !std::mem::replace(&mut self.has_too_many_tracks, true) {
                let message = format!("only the first {TRACKS_MAX} topics and frames are kept");
                self.findings.push(Diagnostic::error("too-many-tracks", message));
            }
            return Ok(None);
        }
        goal.track(topic, schema, sort)?;
        self.tracks.push(Passing {
            topic: topic.to_string(),
            schema: schema.to_string(),
            sort,
            last: None,
            n_samples: 0,
            n_backward: 0,
            n_undirected: 0,
            keys: BTreeSet::new(),
            is_cropped: false,
        });
        self.by_topic.insert(topic.to_string(), self.tracks.len() - 1);
        Ok(Some(self.tracks.len() - 1))
    }

    fn channel(&mut self, channel: &Channel, goal: &mut dyn Goal) -> Result<(), Diagnostic> {
        let handler = match self.readable(channel) {
            Some(schema) => self.handler(channel, schema, goal)?,
            None => None,
        };
        let at = usize::from(channel.id);
        if self.handlers.len() <= at {
            self.handlers.resize_with(at + 1, || Handler::Skip);
        }
        self.handlers[at] = handler.unwrap_or(Handler::Skip);
        Ok(())
    }

    /// The type of a channel's messages, if we can decode them. What we know by name needs no
    /// definition, in whatever language it is written.
    fn readable<'c>(&mut self, channel: &'c Channel) -> Option<&'c Schema> {
        let schema = channel.schema.as_deref().filter(|schema| {
            let is_known = Kind::from_name(&schema.name).is_some();
            channel.message_encoding == "cdr" && (is_known || schema.encoding == "ros2msg")
        });
        if schema.is_none() {
            let encoding = channel.schema.as_ref().map_or("no schema", |s| &s.encoding);
            let message = format!(
                "topic `{}` is `{}` with `{encoding}`, and only `cdr` with `ros2msg` is read",
                channel.topic, channel.message_encoding
            );
            self.findings.push(Diagnostic::warning("unknown-encoding", message));
        }
        schema
    }

    fn handler(
        &mut self,
        channel: &Channel,
        schema: &Schema,
        goal: &mut dyn Goal,
    ) -> Result<Option<Handler>, Diagnostic> {
        let (topic, name) = (channel.topic.as_str(), schema.name.as_str());
        let mut track = |topic: &str, sort| self.track(topic, name, sort, goal);
        Ok(match Kind::from_name(name) {
            Some(Kind::PoseStamped) => track(topic, Sort::Poses)?.map(Handler::Pose),
            Some(Kind::TwistStamped) => track(topic, Sort::Motions)?.map(Handler::Twist),
            Some(Kind::Odometry) => {
                let pose = track(&format!("{topic}/pose"), Sort::Poses)?;
                let twist = track(&format!("{topic}/twist"), Sort::Motions)?;
                pose.zip(twist).map(|(pose, twist)| Handler::Odometry { pose, twist })
            }
            Some(Kind::TfMessage) => {
                Some(Handler::Tf { topic: topic.to_string(), children: BTreeMap::new() })
            }
            Some(Kind::JointState) => track(topic, Sort::Joints)?.map(Handler::Joints),
            Some(Kind::Contacts) => track(topic, Sort::Contacts)?.map(Handler::Contacts),
            Some(Kind::Text) => track(topic, Sort::Remarks)?.map(Handler::Text),
            Some(Kind::Event) => track(topic, Sort::Remarks)?.map(Handler::Event),
            known => {
                let text = match known {
                    Some(kind) => kind.definition(),
                    None => String::from_utf8_lossy(&schema.data).into_owned(),
                };
                match Definition::parse(name, &text).map(Box::new) {
                    Ok(definition) => track(topic, Sort::Numbers)?
                        .map(|track| Handler::Numbers { track, definition }),
                    Err(faults) => {
                        self.findings.extend(faults);
                        None
                    }
                }
            }
        })
    }

    fn message(&mut self, message: &RawMessage, goal: &mut dyn Goal) -> Result<(), Diagnostic> {
        let at = usize::from(message.channel.id);
        let mut handler = std::mem::replace(&mut self.handlers[at], Handler::Skip);
        let handled = self.handle(&mut handler, message, goal);
        self.handlers[at] = handler;
        match handled {
            Ok(()) => Ok(()),
            Err(Fault::Goal(fault)) => Err(fault),
            Err(Fault::Message(fault)) => {
                let topic = &message.channel.topic;
                let note = format!("on topic `{topic}` at {}", message.log_time);
                self.findings.push(fault.note(note));
                Ok(())
            }
        }
    }

    fn handle(
        &mut self,
        handler: &mut Handler,
        message: &RawMessage,
        goal: &mut dyn Goal,
    ) -> Result<(), Fault> {
        match handler {
            Handler::Skip => Ok(()),
            Handler::Pose(track) => self.pose_stamped(*track, message, goal),
            Handler::Twist(track) => self.twist_stamped(*track, message, goal),
            Handler::Odometry { pose, twist } => {
                let both: messages::Odometry = decode(message)?;
                let time = self.time(&both.header, message);
                self.pose(*pose, time, &both.header.frame_id, parts_of(&both.pose.pose), goal)?;
                let motion = Sample::Motion(motion_of(&both.twist.twist));
                self.give(*twist, time, &both.child_frame_id, motion, goal)
            }
            Handler::Tf { topic, children } => self.transforms(topic, children, message, goal),
            Handler::Joints(track) => self.joints(*track, message, goal),
            Handler::Contacts(track) => {
                let now: messages::Contacts = decode(message)?;
                let time = self.time(&now.header, message);
                let sample = Sample::Contacts(now.contacts);
                self.give(*track, time, &now.header.frame_id, sample, goal)
            }
            Handler::Text(track) => {
                let text: messages::Text = decode(message)?;
                let remark = Remark { text: text.data, ..Remark::default() };
                self.give(*track, message.log_time, "", Sample::Remark(remark), goal)
            }
            Handler::Event(track) => {
                let messages::Event { header, source, kind, text } = decode(message)?;
                let remark = Remark { source, kind, text };
                let time = self.time(&header, message);
                self.give(*track, time, "", Sample::Remark(remark), goal)
            }
            Handler::Numbers { track, definition } => {
                let value = definition.decode(message.payload).map_err(Fault::Message)?;
                self.numbers(*track, &value, message, goal)
            }
        }
    }

    /// When a message with a header happened.
    fn time(&self, header: &Header, message: &RawMessage) -> SimTime {
        time_of(header.stamp.sim(), message, self.options.stamp)
    }

    /// Hands a sample on, unless its time goes back; that is counted.
    fn give(
        &mut self,
        at: usize,
        time: SimTime,
        frame_id: &str,
        sample: Sample<'_>,
        goal: &mut dyn Goal,
    ) -> Result<(), Fault> {
        let track = &mut self.tracks[at];
        if track.last.is_some_and(|last| time < last) {
            track.n_backward += 1;
            return Ok(());
        }
        track.last = Some(time);
        track.n_samples += 1;
        goal.sample(at, time, frame_id, sample).map_err(Fault::Goal)
    }

    /// A pose as others wrote it; a [`Transform`] promises a unit quaternion.
    fn pose(
        &mut self,
        at: usize,
        time: SimTime,
        frame_id: &str,
        (turn, place): (Quat, Vec3),
        goal: &mut dyn Goal,
    ) -> Result<(), Fault> {
        let Some(rotation) = unit_quat(turn) else {
            self.tracks[at].n_undirected += 1;
            return Ok(());
        };
        self.give(at, time, frame_id, Sample::Pose(Transform::new(rotation, place)), goal)
    }

    fn pose_stamped(
        &mut self,
        track: usize,
        message: &RawMessage,
        goal: &mut dyn Goal,
    ) -> Result<(), Fault> {
        if let Some((header, frame, n)) = cdr::decode_stamped::<7>(message.payload) {
            let parts = (Quat::from_xyzw(n[3], n[4], n[5], n[6]), Vec3::new(n[0], n[1], n[2]));
            let time = time_of(header, message, self.options.stamp);
            return self.pose(track, time, frame, parts, goal);
        }
        let pose: messages::PoseStamped = decode(message)?;
        let time = self.time(&pose.header, message);
        self.pose(track, time, &pose.header.frame_id, parts_of(&pose.pose), goal)
    }

    fn twist_stamped(
        &mut self,
        track: usize,
        message: &RawMessage,
        goal: &mut dyn Goal,
    ) -> Result<(), Fault> {
        if let Some((header, frame, n)) = cdr::decode_stamped::<6>(message.payload) {
            let (linear, angular) = (Vec3::new(n[0], n[1], n[2]), Vec3::new(n[3], n[4], n[5]));
            let time = time_of(header, message, self.options.stamp);
            return self.give(track, time, frame, Sample::Motion(Motion { linear, angular }), goal);
        }
        let twist: messages::TwistStamped = decode(message)?;
        let time = self.time(&twist.header, message);
        let motion = Sample::Motion(motion_of(&twist.twist));
        self.give(track, time, &twist.header.frame_id, motion, goal)
    }

    /// Each child frame is a track of its own, announced when it is first met.
    fn transforms(
        &mut self,
        topic: &str,
        children: &mut BTreeMap<String, Option<usize>>,
        message: &RawMessage,
        goal: &mut dyn Goal,
    ) -> Result<(), Fault> {
        let tf: messages::TfMessage = decode(message)?;
        for one in tf.transforms {
            let track = match children.get(&one.child_frame_id) {
                Some(track) => *track,
                None => {
                    let topic =
                        format!("{topic}/{}/pose", one.child_frame_id.trim_start_matches('/'));
                    let schema = Kind::TfMessage.name();
                    let track =
                        self.track(&topic, schema, Sort::Poses, goal).map_err(Fault::Goal)?;
                    if children.len() < TRACKS_MAX {
                        children.insert(one.child_frame_id.clone(), track);
                    }
                    track
                }
            };
            let Some(track) = track else { continue };
            let (turn, place) = (&one.transform.rotation, &one.transform.translation);
            let time = self.time(&one.header, message);
            self.pose(track, time, &one.header.frame_id, (turn.into(), place.into()), goal)?;
        }
        Ok(())
    }

    fn joints(
        &mut self,
        at: usize,
        message: &RawMessage,
        goal: &mut dyn Goal,
    ) -> Result<(), Fault> {
        let state: messages::JointState = decode(message)?;
        let time = self.time(&state.header, message);
        let mut names = state.name;
        if names.len() > self.options.n_keys_max {
            names.truncate(self.options.n_keys_max);
            self.crop(at, message);
        }
        let mut lists = [state.position, state.velocity, state.effort];
        // Joints beyond the limit are left out, with their numbers.
        let kept: Vec<bool> = names.iter().map(|name| self.keeps(at, name)).collect();
        if kept.contains(&false) {
            for list in &mut lists {
                retain(list, &kept);
            }
            retain(&mut names, &kept);
        }
        let lists = [&lists[0][..], &lists[1], &lists[2]];
        self.give(at, time, "", Sample::Joints { names: &names, lists }, goal)
    }

    fn numbers(
        &mut self,
        at: usize,
        value: &Value,
        message: &RawMessage,
        goal: &mut dyn Goal,
    ) -> Result<(), Fault> {
        let time = match header_stamp(value) {
            Some(header) => time_of(header, message, self.options.stamp),
            None => message.log_time,
        };
        let n_keys_max = self.options.n_keys_max;
        let mut numbers = Vec::new();
        let all = value.for_each_number(&mut |key, number| {
            // The stamp is the time of the sample, not one of its numbers.
            if key.starts_with("header/stamp/") {
                return true;
            }
            numbers.push((Cow::from(key.to_string()), number));
            numbers.len() <= n_keys_max
        });
        if !all {
            numbers.truncate(n_keys_max);
            self.crop(at, message);
        }
        numbers.retain(|(key, _)| self.keeps(at, key));
        self.give(at, time, "", Sample::Numbers(&numbers), goal)
    }

    /// Whether a key is among the first ones of its track.
    fn keeps(&mut self, at: usize, key: &str) -> bool {
        let keys = &mut self.tracks[at].keys;
        if keys.contains(key) {
            return true;
        }
        let has_room = keys.len() < self.options.n_keys_max;
        if has_room {
            keys.insert(key.to_string());
        }
        has_room
    }

    /// Says once per track that its messages have more than is kept.
    fn crop(&mut self, at: usize, message: &RawMessage) {
        if !std::mem::replace(&mut self.tracks[at].is_cropped, true) {
            let (topic, most) = (&message.channel.topic, self.options.n_keys_max);
            let message = format!("topic `{topic}`: only {most} keys are kept");
            self.findings.push(Diagnostic::warning("too-many-keys", message));
        }
    }
}

fn decode<M: messages::Message + serde::de::DeserializeOwned>(
    message: &RawMessage,
) -> Result<M, Fault> {
    messages::decode(message.payload).map_err(Fault::Message)
}

/// Keeps the items of a list that may be shorter than `kept`.
fn retain<T>(list: &mut Vec<T>, kept: &[bool]) {
    let mut at = 0;
    list.retain(|_| {
        at += 1;
        kept.get(at - 1).copied().unwrap_or(false)
    });
}

fn parts_of(pose: &messages::Pose) -> (Quat, Vec3) {
    ((&pose.orientation).into(), (&pose.position).into())
}

fn motion_of(twist: &messages::Twist) -> Motion {
    Motion { linear: (&twist.linear).into(), angular: (&twist.angular).into() }
}

/// A stamp of zero is what those write who set none. It is believed of the first message of a
/// channel that was also sent at zero: a sensor may look when time starts and be heard later.
fn time_of(header: SimTime, message: &RawMessage, stamp: Stamp) -> SimTime {
    let is_sent_at_zero = message.sequence == 0 && message.publish_time == SimTime::ZERO;
    let is_set = header != SimTime::ZERO || is_sent_at_zero;
    if stamp == Stamp::Header && is_set { header } else { message.log_time }
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
