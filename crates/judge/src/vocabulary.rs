//! What a test can see: the names of a recording, the quantities behind them, their units.
//!
//! ```text
//! ball velocity z                            Quantity::Object(ball, Velocity, 2)   m/s
//! elbow effort                               Quantity::Joint(elbow, Effort)        N·m or N
//! ball inside: goal                          Quantity::Inside(ball, goal)          yes or no
//! recording channel: 'imu/orientation/x'     Quantity::Channel(…)
//! ```
//!
//! A vocabulary is names only, so the same test can be compiled for a recording and for a
//! run that is still going on. The numbers are a [`Scene`](crate::Scene)'s affair.

use std::collections::BTreeMap;
use std::fmt;

use headland_base::names::suggestion;

use crate::region::Region;

/// The six numbers of a pose, a velocity or an acceleration.
pub const COMPONENTS: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];

/// The parts of an orientation.
pub const QUATERNION: [&str; 4] = ["qx", "qy", "qz", "qw"];

/// Six numbers an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Six {
    /// Position, then roll, pitch and yaw.
    Pose,
    /// Linear velocity, then turning rates about the world's axes.
    Velocity,
    /// The same, differentiated.
    Acceleration,
}

/// What a joint has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JointPart {
    /// Where it is.
    Position,
    /// How fast it moves.
    Velocity,
    /// What drives it.
    Effort,
}

/// One number per snapshot. Indices are into the lists of the [`Vocabulary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Time of the snapshot.
    Time,
    /// A component (0 to 5) of an object's pose, velocity or acceleration.
    Object(u32, Six, u8),
    /// A component (0 to 3: x, y, z, w) of an object's orientation.
    Quaternion(u32, u8),
    /// A part of a joint.
    Joint(u32, JointPart),
    /// A recorded number by its key.
    Channel(u32),
    /// Whether two objects touch.
    Touches(u32, u32),
    /// Number of contacts of an object.
    ContactCount(u32),
    /// Sum of the normal forces on an object.
    ContactForce(u32),
    /// Whether an object's origin is in a region.
    Inside(u32, u32),
    /// Distance between the origins of two objects.
    Distance(u32, u32),
    /// Whether a formula of the program holds.
    Formula(u32),
}

impl Quantity {
    /// Whether it is yes or no rather than a number.
    pub fn is_bool(self) -> bool {
        matches!(self, Quantity::Touches(..) | Quantity::Inside(..) | Quantity::Formula(_))
    }
}

/// The names of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vocabulary {
    /// Things with a pose: `ball`, `arm`, `arm/wrist`.
    pub objects: Vec<String>,
    /// Joints: `elbow`, or `arm::elbow` where two robots have one.
    pub joints: Vec<String>,
    /// Keys of recorded numbers that belong to no object and no joint, with their units.
    pub channels: Vec<(String, &'static str)>,
    /// Tracks of texts: `events`, what the software under test said.
    pub reports: Vec<String>,
    /// Named regions.
    pub regions: Vec<(String, Region)>,
    /// What is known about the run: `seed`, `engine`, `mission.…`.
    pub facts: BTreeMap<String, String>,
    /// Whether velocities were recorded, per object.
    pub moving: Vec<bool>,
}

/// What a bare name of a recording stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// An object.
    Object(u32),
    /// A joint.
    Joint(u32),
    /// A region.
    Region(u32),
    /// A number by its key.
    Channel(u32),
    /// A track of texts.
    Report(u32),
    /// The recording itself.
    Recording,
    /// Time of the first snapshot.
    StartTime,
    /// Time of the last snapshot.
    StopTime,
}

/// Names that every recording has.
pub const ALWAYS: [&str; 3] = ["recording", "startTime", "stopTime"];

impl Vocabulary {
    /// What a bare name stands for: objects first, then joints, regions, reports, numbers.
    pub fn thing(&self, name: &str) -> Option<Thing> {
        match name {
            "recording" => return Some(Thing::Recording),
            "startTime" => return Some(Thing::StartTime),
            "stopTime" => return Some(Thing::StopTime),
            _ => {}
        }
        self.object(name)
            .map(Thing::Object)
            .or_else(|| self.joint(name).map(Thing::Joint))
            .or_else(|| self.region(name).map(Thing::Region))
            .or_else(|| self.report(name).map(Thing::Report))
            .or_else(|| self.channel(name).map(Thing::Channel))
    }

    /// An object by its name; `::` and `/` both lead to its parts.
    pub fn object(&self, name: &str) -> Option<u32> {
        let name = name.replace("::", "/");
        index(self.objects.iter().map(String::as_str), &name)
    }

    /// A joint by its name, alone or behind its robot's.
    pub fn joint(&self, name: &str) -> Option<u32> {
        let exact = index(self.joints.iter().map(String::as_str), name);
        exact.or_else(|| {
            let short = self.joints.iter().map(|full| full.rsplit("::").next().unwrap_or(full));
            let called: Vec<usize> =
                short.enumerate().filter(|(_, s)| *s == name).map(|(i, _)| i).collect();
            // One of several would be a guess.
            if let [only] = called[..] { u32::try_from(only).ok() } else { None }
        })
    }

    /// A joint of one robot. A name without a robot's before it may be any robot's.
    pub fn joint_of(&self, robot: &str, joint: &str) -> Option<u32> {
        let scope = format!("{}::", robot.replace('/', "::"));
        let exact = index(self.joints.iter().map(String::as_str), &format!("{scope}{joint}"));
        exact.or_else(|| {
            let found = self.joint(joint)?;
            let full = &self.joints[found as usize];
            (full.starts_with(&scope) || !full.contains("::")).then_some(found)
        })
    }

    /// A region by its name.
    pub fn region(&self, name: &str) -> Option<u32> {
        index(self.regions.iter().map(|(region, _)| region.as_str()), name)
    }

    /// A recorded number by its key.
    pub fn channel(&self, key: &str) -> Option<u32> {
        let key = key.trim_start_matches('/');
        index(self.channels.iter().map(|(channel, _)| channel.as_str()), key)
    }

    /// A track of texts by its topic.
    pub fn report(&self, topic: &str) -> Option<u32> {
        let topic = topic.trim_start_matches('/');
        index(self.reports.iter().map(String::as_str), topic)
    }

    /// Every name a block may use bare, for lints and nearest names.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        let channels = self.channels.iter().map(|(key, _)| key.as_str());
        let regions = self.regions.iter().map(|(name, _)| name.as_str());
        ALWAYS
            .into_iter()
            .chain(self.objects.iter().map(String::as_str))
            .chain(self.joints.iter().map(String::as_str))
            .chain(regions)
            .chain(self.reports.iter().map(String::as_str))
            .chain(channels)
    }

    /// The nearest name, in words.
    pub fn suggestion(&self, name: &str) -> Option<String> {
        suggestion(name, self.names())
    }

    /// Whether it is a difference of samples, so that there is none at the first.
    pub fn needs_two_samples(&self, quantity: Quantity) -> bool {
        match quantity {
            Quantity::Object(_, Six::Acceleration, _) => true,
            Quantity::Object(i, Six::Velocity, _) => {
                !self.moving.get(i as usize).copied().unwrap_or(false)
            }
            _ => false,
        }
    }

    /// The unit of a quantity; empty where it has none or nobody knows.
    pub fn unit(&self, quantity: Quantity) -> &'static str {
        match quantity {
            Quantity::Time => "s",
            Quantity::Object(_, six, component) => match (six, component < 3) {
                (Six::Pose, true) => "m",
                (Six::Pose, false) => "rad",
                (Six::Velocity, true) => "m/s",
                (Six::Velocity, false) => "rad/s",
                (Six::Acceleration, true) => "m/s²",
                (Six::Acceleration, false) => "rad/s²",
            },
            Quantity::Channel(i) => self.channels[i as usize].1,
            Quantity::Distance(..) => "m",
            Quantity::ContactForce(_) => "N",
            _ => "",
        }
    }

    /// The quantity as one would write it in a block.
    pub fn written(&self, quantity: Quantity) -> Written<'_> {
        Written { vocabulary: self, quantity }
    }
}

fn index<'a>(mut names: impl Iterator<Item = &'a str>, name: &str) -> Option<u32> {
    names.position(|n| n == name).and_then(|i| u32::try_from(i).ok())
}

/// A quantity as one would write it in a block.
pub struct Written<'a> {
    vocabulary: &'a Vocabulary,
    quantity: Quantity,
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = self.vocabulary;
        let object = |i: u32| Bare(&v.objects[i as usize], "object");
        match self.quantity {
            Quantity::Time => write!(f, "recording time"),
            Quantity::Object(i, six, component) => {
                let six = match six {
                    Six::Pose => "pose",
                    Six::Velocity => "velocity",
                    Six::Acceleration => "acceleration",
                };
                write!(f, "{} {six} {}", object(i), COMPONENTS[usize::from(component)])
            }
            Quantity::Quaternion(i, part) => {
                write!(f, "{} pose {}", object(i), QUATERNION[usize::from(part)])
            }
            Quantity::Joint(i, part) => {
                let part = match part {
                    JointPart::Position => "position",
                    JointPart::Velocity => "velocity",
                    JointPart::Effort => "effort",
                };
                write!(f, "{} {part}", Bare(&v.joints[i as usize], "joint"))
            }
            Quantity::Channel(i) => Bare(&v.channels[i as usize].0, "channel").fmt(f),
            Quantity::Touches(a, b) => write!(f, "{} touches: {}", object(a), object(b)),
            Quantity::ContactCount(i) => write!(f, "{} contacts", object(i)),
            Quantity::ContactForce(i) => write!(f, "{} contactForce", object(i)),
            Quantity::Inside(i, region) => {
                write!(f, "{} inside: {}", object(i), Bare(&v.regions[region as usize].0, "region"))
            }
            Quantity::Distance(a, b) => write!(f, "{} distanceTo: {}", object(a), object(b)),
            Quantity::Formula(i) => write!(f, "formula {i}"),
        }
    }
}

/// A name as it stands, or behind the message that finds it where it is no plain word.
struct Bare<'a>(&'a str, &'static str);

impl fmt::Display for Bare<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bare(name, kind) = self;
        if is_word(name) { f.write_str(name) } else { write!(f, "(recording {kind}: '{name}')") }
    }
}

/// Words that a block reads as something of its own.
const TAKEN: [&str; 6] = ["true", "false", "nil", "recording", "startTime", "stopTime"];

/// Whether a block can use a name of a recording without quotes.
pub fn is_word(name: &str) -> bool {
    if TAKEN.contains(&name) {
        return false;
    }
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
