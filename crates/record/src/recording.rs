//! A recording in memory: facts, attached files, and one track per thing.
//!
//! ```text
//! ball/pose/z  ─► Recording::column ─► times, values, unit
//! ball         ─► Recording::object ─► its poses, its velocities
//! ```
//!
//! Keys are `element/property[/component]`, the same for every source: a column of a CSV
//! file, a field of a message, a joint. Units are SI and radians.
//!
//! Deliberately absent: who made the recording. `load`, `csv` and `tum` fill it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use headland_base::names::suggestion;
use headland_base::{Diagnostic, SimDuration, SimTime, Transform};

use crate::messages::Contact;
use crate::reader::Attachment;
use crate::sample::Sort;
use crate::track::{JOINT_KEYS, JointColumns, LeftOut, Motion, Track};
use crate::unit::Unit;

/// Name of the metadata record that holds the facts of a Headland run.
pub const FACTS: &str = "headland";

/// What is known about how a recording came to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The file's profile: `ros2`.
    pub profile: String,
    /// Who wrote the file.
    pub library: String,
    /// Named facts by the name of their metadata record.
    pub metadata: BTreeMap<String, BTreeMap<String, String>>,
}

impl Facts {
    /// One fact of a Headland run: `engine`, `seed`, `step_ns`, ….
    pub fn get(&self, key: &str) -> Option<&str> {
        self.metadata.get(FACTS)?.get(key).map(String::as_str)
    }

    /// The engine that moved the world.
    pub fn engine(&self) -> Option<&str> {
        self.get("engine")
    }

    /// The seed of the run.
    pub fn seed(&self) -> Option<u64> {
        self.get("seed")?.parse().ok()
    }

    /// The step of the run.
    pub fn step(&self) -> Option<SimDuration> {
        self.get("step_ns")?.parse().ok().map(SimDuration::from_nanos)
    }
}

/// A whole recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// What is known about how it came to be.
    pub facts: Facts,
    /// The world, the mission, the tests: files beside the messages.
    pub attachments: Vec<Attachment>,
    tracks: BTreeMap<String, Track>,
    /// What keys are measured in, where the source says so and its form does not.
    units: BTreeMap<String, Unit>,
    /// Those of `units` that nobody knows, as they were written.
    unknown_units: BTreeMap<String, String>,
}

/// One quantity over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Column<'a> {
    /// When, never decreasing.
    pub times: &'a [SimTime],
    /// What; NaN where a sample does not have it.
    pub values: Cow<'a, [f64]>,
    /// `m`, `rad`, `m/s`, …; `Unit::Unsaid` where it has none or nobody said.
    pub unit: Unit,
    /// Samples of its track that were left out because of their times.
    pub left_out: LeftOut,
}

impl<'a> Column<'a> {
    fn new(track: &'a Track, values: Cow<'a, [f64]>, unit: &'static str) -> Column<'a> {
        Column { times: track.times(), values, unit: Unit::si(unit), left_out: track.left_out() }
    }
}

/// A joint that a key may mean.
struct CalledJoint<'a> {
    /// The key with the robot's name.
    full_key: String,
    track: &'a Track,
    values: &'a [f64],
}

impl Recording {
    /// Nothing recorded.
    pub fn new() -> Recording {
        Recording::default()
    }

    /// Adds a track, replacing one of the same topic.
    pub fn insert(&mut self, topic: impl Into<String>, track: Track) {
        self.tracks.insert(topic.into(), track);
    }

    /// Says what a key is measured in: of joints nothing else does.
    pub fn say_unit(&mut self, key: &str, unit: &'static str) {
        self.unknown_units.remove(key);
        self.units.insert(key.to_string(), Unit::si(unit));
    }

    /// Says that a key is measured in what nobody knows, and how that was written: it is compared
    /// with nothing.
    pub fn say_unknown_unit(&mut self, key: &str, word: &str) {
        self.units.insert(key.to_string(), Unit::Unknown);
        self.unknown_units.insert(key.to_string(), word.to_string());
    }

    /// What was said so, and is known.
    pub fn said_units(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let known = self.units.iter().filter(|(_, unit)| **unit != Unit::Unknown);
        known.map(|(key, unit)| (key.as_str(), unit.word()))
    }

    /// What was said so, and nobody knows.
    pub fn unknown_units(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unknown_units.iter().map(|(key, word)| (key.as_str(), word.as_str()))
    }

    /// Every track by its topic.
    pub fn tracks(&self) -> &BTreeMap<String, Track> {
        &self.tracks
    }

    /// The track of a topic.
    pub fn track(&self, topic: &str) -> Option<&Track> {
        self.tracks.get(topic)
    }

    /// The track of a topic written with or without its leading slash.
    pub fn track_called(&self, name: &str) -> Option<&Track> {
        self.tracks.get(name).or_else(|| self.tracks.get(&format!("/{name}")))
    }

    /// First and last moment of all tracks.
    pub fn span(&self) -> Option<(SimTime, SimTime)> {
        let firsts = self.tracks.values().filter_map(|track| track.times().first());
        let lasts = self.tracks.values().filter_map(|track| track.times().last());
        Some((*firsts.min()?, *lasts.max()?))
    }

    /// Names of the objects whose poses were recorded, sorted.
    pub fn objects(&self) -> Vec<&str> {
        let poses = self.tracks.iter().filter(|(_, track)| track.poses().is_some());
        poses.map(|(topic, _)| object_name(topic)).collect()
    }

    /// When an object was where.
    pub fn poses(&self, object: &str) -> Option<(&[SimTime], &[Transform])> {
        let track = self.of_object(object, "pose", |track| track.poses().is_some())?;
        Some((track.times(), track.poses()?))
    }

    /// When an object moved how.
    pub fn motions(&self, object: &str) -> Option<(&[SimTime], &[Motion])> {
        let track = self.of_object(object, "twist", |track| track.motions().is_some())?;
        Some((track.times(), track.motions()?))
    }

    fn of_object(&self, object: &str, part: &str, fits: impl Fn(&Track) -> bool) -> Option<&Track> {
        let topics = object_topics(object, part);
        topics.iter().filter_map(|topic| self.tracks.get(topic)).find(|track| fits(track))
    }

    /// Every joint with the track it is in, and the robot's name where two have the joint.
    pub fn joints(&self) -> Vec<(String, &Track, &JointColumns)> {
        let tracks = self.tracks.iter().filter_map(|(t, track)| Some((t, track, track.joints()?)));
        let all: Vec<(&str, &Track, &JointColumns)> = tracks
            .flat_map(|(topic, track, joints)| joints.iter().map(move |j| (&**topic, track, j)))
            .collect();
        let names = joint_names(all.iter().map(|(topic, _, joint)| (*topic, &*joint.name)));
        let named =
            names.into_iter().zip(all).map(|(name, (_, track, joint))| (name, track, joint));
        let mut named: Vec<_> = named.collect();
        named.sort_by(|a, b| a.0.cmp(&b.0));
        named
    }

    /// One quantity by its scoped key: `ball/pose/z`, `ball/linear_vel/x`,
    /// `elbow/position`, `arm::elbow/velocity`, `imu/linear_acceleration/x`. A joint that
    /// several robots have is found by its full name only.
    pub fn column(&self, key: &str) -> Option<Column<'_>> {
        let mut column = self
            .object_column(key)
            .or_else(|| self.joint_column(key))
            .or_else(|| self.scalar_column(key))
            .or_else(|| self.contact_column(key))?;
        if let Some(said) = self.units.get(key) {
            column.unit = *said;
        }
        Some(column)
    }

    /// The same, or a diagnostic that names the nearest key there is.
    pub fn require_column(&self, key: &str) -> Result<Column<'_>, Diagnostic> {
        self.column(key).ok_or_else(|| {
            let joints = self.joints_called(key);
            if joints.len() > 1 {
                let full: Vec<String> =
                    joints.iter().map(|j| format!("`{}`", j.full_key)).collect();
                let message = format!("`{key:.120}` is a key of {} joints", joints.len());
                return Diagnostic::error("ambiguous-key", message)
                    .help(format!("say which: {}", full.join(" or ")));
            }
            let keys = self.keys();
            Diagnostic::error("unknown-key", format!("no `{key:.120}` in the recording"))
                .help_maybe(suggestion(key, keys.iter().map(String::as_str)))
        })
    }

    fn object_column(&self, key: &str) -> Option<Column<'_>> {
        let (rest, component) = key.rsplit_once('/')?;
        let (object, property) = rest.rsplit_once('/')?;
        if property == "pose" {
            let track = self.of_object(object, "pose", |track| track.poses().is_some())?;
            let (pick, unit) = pose_component(component)?;
            let values = track.poses()?.iter().map(pick).collect();
            return Some(Column::new(track, values, unit));
        }
        let (pick_vector, unit): (fn(&Motion) -> &_, _) = match property {
            "linear_vel" => (|motion| &motion.linear, "m/s"),
            "angular_vel" => (|motion| &motion.angular, "rad/s"),
            _ => return None,
        };
        let axis = ["x", "y", "z"].iter().position(|axis| *axis == component)?;
        let track = self.of_object(object, "twist", |track| track.motions().is_some())?;
        let values = track.motions()?.iter().map(|motion| pick_vector(motion)[axis]).collect();
        Some(Column::new(track, values, unit))
    }

    fn joint_column(&self, key: &str) -> Option<Column<'_>> {
        match self.joints_called(key)[..] {
            [CalledJoint { ref full_key, track, values }] => {
                let unit = self.units.get(full_key).copied().unwrap_or_default();
                Some(Column { unit, ..Column::new(track, values.into(), "") })
            }
            _ => None,
        }
    }

    /// The joints a key may mean: the one whose full name it has, else all with its short
    /// name.
    fn joints_called(&self, key: &str) -> Vec<CalledJoint<'_>> {
        let (mut called, mut measured) = (Vec::new(), Vec::new());
        let Some((name, property)) = key.rsplit_once('/') else { return called };
        for (topic, track) in &self.tracks {
            for joint in track.joints().unwrap_or_default() {
                let Some(values) = joint.property(property) else { continue };
                let full = scoped_joint(topic, &joint.name);
                let is_it = full == name;
                let candidate =
                    CalledJoint { full_key: format!("{full}/{property}"), track, values };
                if is_it {
                    return vec![candidate];
                }
                if joint.name == name {
                    let list = if is_joint_state(topic) { &mut called } else { &mut measured };
                    list.push(candidate);
                }
            }
        }
        if called.is_empty() { measured } else { called }
    }

    fn scalar_column(&self, key: &str) -> Option<Column<'_>> {
        // The topic may have slashes and so may the key within it: every cut is tried.
        let cuts = key.match_indices('/').map(|(at, _)| (&key[..at], &key[at + 1..]));
        for (topic, within) in cuts.chain([(key, "data")]) {
            let track = self.track_called(topic);
            let column = track.and_then(|track| Some((track, track.scalars()?.get(within)?)));
            if let Some((track, values)) = column {
                let unit = scalar_unit(track.schema(), within);
                return Some(Column::new(track, values.into(), unit));
            }
        }
        None
    }

    /// `contacts/count`, `contacts/depth` (the deepest), `contacts/normal_force` (their sum).
    fn contact_column(&self, key: &str) -> Option<Column<'_>> {
        let (topic, what) = key.rsplit_once('/')?;
        let track = self.track_called(topic)?;
        let moments = track.contacts()?.iter();
        let at = CONTACT_KEYS.iter().position(|key| *key == what)?;
        let values = moments.map(|now| contact_numbers(now)[at]).collect();
        Some(Column::new(track, values, ["", "m", "N"][at]))
    }

    /// The keys of one track; those of joints are known to the whole recording only.
    pub fn keys_of(&self, topic: &str) -> Vec<String> {
        let Some(track) = self.track_called(topic) else { return Vec::new() };
        let numbers = track.scalars().into_iter().flat_map(BTreeMap::keys);
        plain_keys(topic, track.data().sort(), numbers)
    }

    /// Every key [`Recording::column`] answers in its plain form, sorted.
    pub fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for topic in self.tracks.keys() {
            keys.extend(self.keys_of(topic));
        }
        for (name, _, joint) in self.joints() {
            let there = JOINT_KEYS.iter().filter(|property| joint.property(property).is_some());
            keys.extend(there.map(|property| format!("{name}/{property}")));
        }
        keys.sort();
        keys
    }
}

/// Properties of an object with poses.
pub(crate) const POSE_KEYS: [&str; 7] =
    ["pose/x", "pose/y", "pose/z", "pose/qx", "pose/qy", "pose/qz", "pose/qw"];

/// Their numbers.
pub(crate) fn pose_numbers(pose: &Transform) -> [f64; 7] {
    let (p, q) = (pose.translation, pose.rotation);
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w]
}

/// Properties of an object with velocities.
pub(crate) const MOTION_KEYS: [&str; 6] = [
    "linear_vel/x",
    "linear_vel/y",
    "linear_vel/z",
    "angular_vel/x",
    "angular_vel/y",
    "angular_vel/z",
];

/// Their numbers.
pub(crate) fn motion_numbers(motion: &Motion) -> [f64; 6] {
    let (v, w) = (motion.linear, motion.angular);
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

/// What is said of all contacts of a moment.
pub(crate) const CONTACT_KEYS: [&str; 3] = ["count", "depth", "normal_force"];

/// How many there are, how deep the deepest is, how strongly they push together.
pub(crate) fn contact_numbers(now: &[Contact]) -> [f64; 3] {
    let depth = now.iter().map(|c| c.depth).fold(0.0, f64::max);
    // A fold and not a sum: the sum of nothing is −0.
    let force = now.iter().fold(0.0, |sum, c| sum + c.normal_force);
    [now.len() as f64, depth, force]
}

/// The keys of a track that is no set of joints; `numbers` are those within a track of them.
pub(crate) fn plain_keys<'k>(
    topic: &str,
    sort: Sort,
    numbers: impl Iterator<Item = &'k String>,
) -> Vec<String> {
    let scope = match sort {
        Sort::Numbers => topic.trim_start_matches('/'),
        _ => object_name(topic),
    };
    scoped_keys(scope, sort, numbers)
}

/// The same under another name than the topic's own.
pub(crate) fn scoped_keys<'k>(
    scope: &str,
    sort: Sort,
    numbers: impl Iterator<Item = &'k String>,
) -> Vec<String> {
    let under = |parts: &[&str]| parts.iter().map(|part| format!("{scope}/{part}")).collect();
    match sort {
        Sort::Poses => under(&POSE_KEYS),
        Sort::Motions => under(&MOTION_KEYS),
        Sort::Contacts => under(&CONTACT_KEYS),
        Sort::Numbers => numbers.map(|key| number_topic(scope, key)).collect(),
        Sort::Joints | Sort::Remarks => Vec::new(),
    }
}

/// What one number of a track is called: a plain one is its topic.
pub(crate) fn number_topic(topic: &str, key: &str) -> String {
    if key == "data" { topic.to_string() } else { format!("{topic}/{key}") }
}

/// `ball` of `/ball/pose` and `/ball/twist`; the topic itself where it ends in neither.
pub fn object_name(topic: &str) -> &str {
    let name = topic.trim_start_matches('/');
    name.strip_suffix("/pose").or_else(|| name.strip_suffix("/twist")).unwrap_or(name)
}

/// Where the poses or velocities of an object may be: `/ball/pose`, else `/ball` itself.
pub(crate) fn object_topics(object: &str, part: &str) -> [String; 3] {
    [format!("/{object}/{part}"), format!("/{object}"), object.to_string()]
}

/// `arm::elbow` of joint `elbow` on `/arm/joint_states`.
pub fn scoped_joint(topic: &str, joint: &str) -> String {
    let robot = topic.trim_start_matches('/');
    let robot = robot.strip_suffix("joint_states").unwrap_or(robot).trim_end_matches('/');
    if robot.is_empty() {
        joint.to_string()
    } else {
        format!("{}::{joint}", robot.replace('/', "::"))
    }
}

/// What each joint, by its topic and its own name, is called in a key: with its robot where
/// two have a joint of that name. What an encoder says of a joint takes no name from the
/// joint's own state.
pub(crate) fn joint_names<'a>(
    joints: impl Iterator<Item = (&'a str, &'a str)> + Clone,
) -> Vec<String> {
    // By joint: how many states, how many others.
    let mut n_called: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (topic, joint) in joints.clone() {
        n_called.entry(joint).or_default()[usize::from(!is_joint_state(topic))] += 1;
    }
    let name = |(topic, joint): (&str, &str)| {
        let is_only = match (is_joint_state(topic), n_called[joint]) {
            (true, [n_states, _]) => n_states == 1,
            (false, n_called) => n_called == [0, 1],
        };
        if is_only { joint.to_string() } else { scoped_joint(topic, joint) }
    };
    joints.map(name).collect()
}

/// Whether a topic is where the state of a robot's joints is.
pub(crate) fn is_joint_state(topic: &str) -> bool {
    topic.ends_with("joint_states")
}

type PickNumber = fn(&Transform) -> f64;

fn pose_component(component: &str) -> Option<(PickNumber, &'static str)> {
    let found: (PickNumber, _) = match component {
        "x" => (|t| t.translation.x, "m"),
        "y" => (|t| t.translation.y, "m"),
        "z" => (|t| t.translation.z, "m"),
        "qx" => (|t| t.rotation.x, ""),
        "qy" => (|t| t.rotation.y, ""),
        "qz" => (|t| t.rotation.z, ""),
        "qw" => (|t| t.rotation.w, ""),
        "roll" => (|t| t.rpy().x, "rad"),
        "pitch" => (|t| t.rpy().y, "rad"),
        "yaw" => (|t| t.rpy().z, "rad"),
        _ => return None,
    };
    Some(found)
}

/// The unit of a field of a sensor message.
fn scalar_unit(schema: &str, key: &str) -> &'static str {
    let type_name = schema.rsplit('/').next().unwrap_or_default();
    let unit = |field: &str| match (type_name, field) {
        ("Imu", "angular_velocity") => Some("rad/s"),
        ("Imu", "linear_acceleration") => Some("m/s^2"),
        ("WrenchStamped", "force") => Some("N"),
        ("WrenchStamped", "torque") => Some("N·m"),
        ("MagneticField", "magnetic_field") => Some("T"),
        ("FluidPressure", "fluid_pressure") => Some("Pa"),
        ("NavSatFix", "latitude" | "longitude") => Some("deg"),
        ("NavSatFix", "altitude") => Some("m"),
        ("Altimeter", "vertical_position" | "vertical_reference") => Some("m"),
        ("Altimeter", "vertical_velocity") => Some("m/s"),
        ("FootPressure", "normal_force" | "cells") => Some("N"),
        ("FootPressure", "centre_of_pressure") => Some("m"),
        ("LaserScan", "ranges" | "range_min" | "range_max") => Some("m"),
        ("LaserScan", "angle_min" | "angle_max" | "angle_increment") => Some("rad"),
        ("LaserScan", "time_increment" | "scan_time") => Some("s"),
        _ => None,
    };
    key.split('/').find_map(unit).unwrap_or_default()
}
