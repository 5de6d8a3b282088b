//! The words of the recording: which message to which thing means which quantity.
//!
//! One table, read by the compiler (which folds what it can), by the interpreter (for things
//! kept in variables) and by `headland test --vocabulary`.

use std::sync::Arc;

use crate::value::Host;
use crate::vocabulary::{COMPONENTS, JointPart, QUATERNION, Quantity, Six, Vocabulary};

/// The argument of a message.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// None: a unary message.
    None,
    /// Something of the recording.
    Host(Host),
    /// A text.
    Text(&'a str),
}

/// What a message to a thing means.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// One number, or yes or no, per snapshot.
    Quantity(Quantity),
    /// Six numbers.
    Six(u32, Six),
    /// Another thing.
    Host(Host),
    /// A text that never changes.
    Text(Arc<str>),
}

/// A word of the table, for `--vocabulary`.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// What receives it: `object`, `joint`, ….
    pub receiver: &'static str,
    /// As written.
    pub message: &'static str,
    /// What it answers, with the unit.
    pub answers: &'static str,
}

impl Word {
    /// The selectors it stands for: `distanceTo:` of `distanceTo: other`, all six of `x y z …`.
    pub fn selectors(&self) -> impl Iterator<Item = &'static str> {
        let is_unary = !self.message.contains([':', '~']);
        let n_parts = if is_unary { usize::MAX } else { 1 };
        self.message.split_whitespace().take(n_parts)
    }
}

/// Every word, in reading order.
pub const WORDS: &[Word] = &[
    Word {
        receiver: "object",
        message: "pose",
        answers: "x y z [m], rx ry rz (roll, pitch, yaw) [rad], qx qy qz qw",
    },
    Word {
        receiver: "object",
        message: "velocity",
        answers: "x y z [m/s], rx ry rz about the world's axes [rad/s]",
    },
    Word {
        receiver: "object",
        message: "acceleration",
        answers: "x y z [m/s²], rx ry rz [rad/s²], differences of velocities",
    },
    Word { receiver: "object", message: "time", answers: "time of the snapshot [s]" },
    Word { receiver: "object", message: "name", answers: "its name" },
    Word { receiver: "object", message: "distanceTo: other", answers: "between the origins [m]" },
    Word {
        receiver: "object",
        message: "inside: region",
        answers: "whether its origin is in the region",
    },
    Word {
        receiver: "object",
        message: "touches: other",
        answers: "whether the two are in contact",
    },
    Word { receiver: "object", message: "contacts", answers: "number of contact points" },
    Word { receiver: "object", message: "contactForce", answers: "sum of the normal forces [N]" },
    Word {
        receiver: "object",
        message: "link: 'name'",
        answers: "one of its links; `arm wrist` for short",
    },
    Word {
        receiver: "object",
        message: "joint: 'name'",
        answers: "one of its joints; `arm elbow` for short",
    },
    Word { receiver: "vector", message: "x y z rx ry rz", answers: "one component" },
    Word { receiver: "vector", message: "norm", answers: "length of x y z" },
    Word {
        receiver: "vector",
        message: "~ radius",
        answers: "the same with a tolerance on every component",
    },
    Word { receiver: "joint", message: "position", answers: "[rad] or [m]" },
    Word { receiver: "joint", message: "velocity", answers: "[rad/s] or [m/s]" },
    Word { receiver: "joint", message: "effort", answers: "[N·m] or [N]" },
    Word { receiver: "report", message: "text", answers: "what was said last" },
    Word { receiver: "report", message: "kind", answers: "its kind" },
    Word { receiver: "report", message: "source", answers: "who said it" },
    Word { receiver: "report", message: "age", answers: "seconds since it was said" },
    Word { receiver: "recording", message: "time", answers: "time of the snapshot [s]" },
    Word {
        receiver: "recording",
        message: "duration",
        answers: "from the first to the last snapshot [s]",
    },
    Word {
        receiver: "recording",
        message: "object: 'name'",
        answers: "an object whose name is no plain word",
    },
    Word { receiver: "recording", message: "joint: 'name'", answers: "a joint" },
    Word { receiver: "recording", message: "channel: 'key'", answers: "a recorded number" },
    Word { receiver: "recording", message: "region: 'name'", answers: "a region" },
    Word { receiver: "recording", message: "report: 'topic'", answers: "a track of texts" },
    Word {
        receiver: "recording",
        message: "fact: 'name'",
        answers: "what is known about the run: a number where it is one, else a text",
    },
];

/// A component of a vector.
pub fn component(object: u32, six: Six, selector: &str) -> Option<Quantity> {
    let index = |names: &[&str]| {
        let found = names.iter().position(|name| *name == selector)?;
        u8::try_from(found).ok()
    };
    index(&COMPONENTS).map(|i| Quantity::Object(object, six, i)).or_else(|| {
        let part = index(&QUATERNION)?;
        (six == Six::Pose).then_some(Quantity::Quaternion(object, part))
    })
}

/// What a message to a thing means, where that does not depend on the snapshot.
pub fn meaning(
    vocabulary: &Vocabulary,
    thing: Host,
    selector: &str,
    arg: Argument<'_>,
) -> Option<Meaning> {
    match thing {
        Host::Object(i) => of_object(vocabulary, i, selector, arg),
        Host::Joint(i) => {
            let part = match selector {
                "position" => JointPart::Position,
                "velocity" => JointPart::Velocity,
                "effort" => JointPart::Effort,
                "name" => return Some(text(&vocabulary.joints[i as usize])),
                _ => return None,
            };
            Some(Meaning::Quantity(Quantity::Joint(i, part)))
        }
        Host::Region(i) => (selector == "name").then(|| text(&vocabulary.regions[i as usize].0)),
        Host::Report(_) => None,
        Host::Recording => of_recording(vocabulary, selector, arg),
    }
}

fn text(text: &str) -> Meaning {
    Meaning::Text(text.into())
}

fn of_object(
    vocabulary: &Vocabulary,
    i: u32,
    selector: &str,
    arg: Argument<'_>,
) -> Option<Meaning> {
    let name = &vocabulary.objects[i as usize];
    let meaning = match (selector, arg) {
        ("pose", _) => Meaning::Six(i, Six::Pose),
        ("velocity", _) => Meaning::Six(i, Six::Velocity),
        ("acceleration", _) => Meaning::Six(i, Six::Acceleration),
        ("time", _) => Meaning::Quantity(Quantity::Time),
        ("name", _) => text(name),
        ("contacts", _) => Meaning::Quantity(Quantity::ContactCount(i)),
        ("contactForce", _) => Meaning::Quantity(Quantity::ContactForce(i)),
        ("distanceTo:", Argument::Host(Host::Object(other))) => {
            Meaning::Quantity(Quantity::Distance(i, other))
        }
        ("touches:", Argument::Host(Host::Object(other))) => {
            Meaning::Quantity(Quantity::Touches(i, other))
        }
        ("inside:", Argument::Host(Host::Region(region))) => {
            Meaning::Quantity(Quantity::Inside(i, region))
        }
        ("link:", Argument::Text(link)) => {
            Meaning::Host(Host::Object(vocabulary.object(&format!("{name}/{link}"))?))
        }
        ("joint:", Argument::Text(joint)) => {
            Meaning::Host(Host::Joint(vocabulary.joint_of(name, joint)?))
        }
        (part, Argument::None) => {
            let link = vocabulary.object(&format!("{name}/{part}")).map(Host::Object);
            let joint = || vocabulary.joint_of(name, part).map(Host::Joint);
            Meaning::Host(link.or_else(joint)?)
        }
        _ => return None,
    };
    Some(meaning)
}

fn of_recording(vocabulary: &Vocabulary, selector: &str, arg: Argument<'_>) -> Option<Meaning> {
    if let ("time", Argument::None) = (selector, arg) {
        return Some(Meaning::Quantity(Quantity::Time));
    }
    let Argument::Text(name) = arg else { return None };
    Some(match selector {
        "object:" => Meaning::Host(Host::Object(vocabulary.object(name)?)),
        "joint:" => Meaning::Host(Host::Joint(vocabulary.joint(name)?)),
        "region:" => Meaning::Host(Host::Region(vocabulary.region(name)?)),
        "report:" => Meaning::Host(Host::Report(vocabulary.report(name)?)),
        "channel:" => Meaning::Quantity(Quantity::Channel(vocabulary.channel(name)?)),
        _ => return None,
    })
}
