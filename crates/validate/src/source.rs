//! Keys and what they mean in a model: `elbow/position` goes in, a number of any state comes out.
//!
//! ```text
//! [model::]element/property[/component]
//! ```
//!
//! | element | properties |
//! |---|---|
//! | a joint | `position`, `velocity`, `effort`, `acceleration` |
//! | a model, a link, the frame of a joint | `pose/{x,y,z,qx,qy,qz,qw,roll,pitch,yaw}`, `{linear,angular}_{vel,acc}/{x,y,z}` |
//! | a link, a model | `contact/{count,depth,force}` |
//!
//! Vectors are along the world's axes, or with `@body` behind their name along the element's own.
//! Sensors are in `sensing`. One list of names serves all: what can be read, what is suggested,
//! and what the book says.
//!
//! Deliberately absent: where the keys come from.

use headland_base::{Diagnostic, Transform, Vec3, names};
use headland_sim::{DofState, Model, Object, RigidState, State};
use headland_world::{JointKind, Twist};

/// What a joint has: the word, and others people use for it.
pub const JOINT_PROPERTIES: &[(&str, &[&str])] = &[
    ("position", &["pos"]),
    ("velocity", &["vel"]),
    ("effort", &["torque", "force"]),
    ("acceleration", &["acc"]),
];

/// The components of a pose.
pub const POSE_COMPONENTS: [&str; 10] =
    ["x", "y", "z", "qx", "qy", "qz", "qw", "roll", "pitch", "yaw"];

/// The vectors a frame has.
pub const VECTORS: [&str; 4] = ["linear_vel", "angular_vel", "linear_acc", "angular_acc"];

/// What is said of all contacts of an element.
pub const CONTACT_COMPONENTS: [&str; 3] = ["count", "depth", "force"];

/// What recordings call all contacts of a world.
const ALL_CONTACTS: &str = "contacts";

const AXES: [&str; 3] = ["x", "y", "z"];

/// What of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointQuantity {
    /// \[rad or m\]
    Position,
    /// \[rad/s or m/s\]
    Velocity,
    /// What its motor gave in the last step \[N·m or N\].
    Effort,
    /// The change of velocity over the last step \[rad/s² or m/s²\].
    Acceleration,
}

/// Something with a place: a model, a link, or the child side of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The rigid that carries it.
    pub rigid_idx: usize,
    /// Where it is in that rigid.
    pub rigid_from_frame: Transform,
}

/// What of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameQuantity {
    /// One of [`POSE_COMPONENTS`].
    Pose(usize),
    /// One of [`VECTORS`] and one of its components.
    Vector {
        /// Which vector.
        which: usize,
        /// 0, 1 or 2.
        axis: usize,
        /// Along the frame's own axes, not the world's.
        in_body: bool,
    },
}

/// Where a number of a key comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// An axis of a joint.
    Joint(usize, JointQuantity),
    /// A frame.
    Frame(Frame, FrameQuantity),
    /// Contacts of these bodies with others, or all there are: one of [`CONTACT_COMPONENTS`].
    Contact(Vec<usize>, usize),
    /// A number of what a sensor says: which of the replay's sensors, which of its numbers.
    Sensor(usize, usize),
}

/// A state and the step that led to it.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// What does not change.
    pub model: &'a Model,
    /// What does.
    pub state: &'a State,
    /// Rigids and axes before the step, and its length \[s\]; none before the first.
    pub before: Option<(&'a [RigidState], &'a [DofState], f64)>,
}

impl Source {
    /// Whether it is about the step that led to a state, which the first state does not have.
    pub fn is_of_step(&self) -> bool {
        match self {
            Source::Joint(_, JointQuantity::Effort | JointQuantity::Acceleration) => true,
            Source::Frame(_, FrameQuantity::Vector { which, .. }) => *which >= 2,
            Source::Contact(..) | Source::Sensor(..) => true,
            _ => false,
        }
    }

    /// What it is measured in; empty for a sensor's numbers, whose messages say, and for what has
    /// none.
    pub fn unit(&self, model: &Model) -> &'static str {
        match self {
            Source::Joint(i, quantity) => {
                let joint = &model.joints[model.dofs[*i].joint_idx];
                let slides = matches!(joint.kind, JointKind::Prismatic(_));
                let (turning, sliding) = match quantity {
                    JointQuantity::Position => ("rad", "m"),
                    JointQuantity::Velocity => ("rad/s", "m/s"),
                    JointQuantity::Effort => ("N·m", "N"),
                    JointQuantity::Acceleration => ("rad/s^2", "m/s^2"),
                };
                if slides { sliding } else { turning }
            }
            Source::Frame(_, FrameQuantity::Pose(component)) => match component {
                0..3 => "m",
                3..7 => "",
                _ => "rad",
            },
            Source::Frame(_, FrameQuantity::Vector { which, .. }) => {
                ["m/s", "rad/s", "m/s^2", "rad/s^2"][*which]
            }
            Source::Contact(_, component) => ["", "m", "N"][*component],
            Source::Sensor(..) => "",
        }
    }

    /// Whether the engine has to work out contacts for it.
    pub fn needs_contacts(&self) -> bool {
        matches!(self, Source::Contact(..))
    }

    /// The number now; of a sensor it is read elsewhere.
    #[inline]
    pub fn read(&self, now: &Moment<'_>) -> f64 {
        match self {
            Source::Joint(i, quantity) => read_joint(*i, *quantity, now),
            Source::Frame(frame, quantity) => frame.read(*quantity, now),
            Source::Contact(bodies, component) => read_contact(bodies, *component, now),
            Source::Sensor(..) => f64::NAN,
        }
    }

    /// The number on the way from one moment to the next; orientations turn along the shorter
    /// arc.
    pub fn read_between(&self, from: &Moment<'_>, to: &Moment<'_>, share: f64) -> f64 {
        if let Source::Frame(frame, FrameQuantity::Pose(component)) = self {
            let (a, b) = (frame.pose(&from.state.rigids), frame.pose(&to.state.rigids));
            let turn = headland_base::maths::slerp(a.rotation, b.rotation, share);
            let place = a.translation + (b.translation - a.translation) * share;
            return pose_component(&Transform::new(turn, place), *component);
        }
        let (a, b) = (self.read(from), self.read(to));
        // What is only known of a step is that of the step around the moment.
        if a.is_nan() { b } else { a + (b - a) * share }
    }
}

#[inline]
fn read_joint(dof_idx: usize, quantity: JointQuantity, now: &Moment<'_>) -> f64 {
    let dof = &now.state.dofs[dof_idx];
    match quantity {
        JointQuantity::Position => dof.position,
        JointQuantity::Velocity => dof.velocity,
        JointQuantity::Effort => now.before.map_or(f64::NAN, |_| dof.effort),
        JointQuantity::Acceleration => now
            .before
            .map_or(f64::NAN, |(_, dofs, secs)| (dof.velocity - dofs[dof_idx].velocity) / secs),
    }
}

fn read_contact(bodies: &[usize], component: usize, now: &Moment<'_>) -> f64 {
    if now.before.is_none() {
        return f64::NAN;
    }
    let is_one = |body: usize| bodies.contains(&body);
    let touching = now.state.contacts.iter();
    let touching = touching.filter(|c| bodies.is_empty() || is_one(c.body_a) != is_one(c.body_b));
    match component {
        0 => touching.count() as f64,
        1 => touching.map(|contact| contact.depth).fold(0.0, f64::max),
        _ => touching.fold(0.0, |sum, c| sum + c.force.dot(c.normal).max(0.0)),
    }
}

impl Frame {
    /// Where it is.
    pub fn pose(&self, rigids: &[RigidState]) -> Transform {
        rigids[self.rigid_idx].world_from_rigid * self.rigid_from_frame
    }

    /// How it moves, in the world's frame.
    pub fn twist(&self, rigids: &[RigidState]) -> Twist {
        let rigid = &rigids[self.rigid_idx];
        let arm = rigid.world_from_rigid.vector(self.rigid_from_frame.translation);
        let angular = rigid.twist.angular;
        Twist { linear: rigid.twist.linear + angular.cross(arm), angular }
    }

    fn read(&self, quantity: FrameQuantity, now: &Moment<'_>) -> f64 {
        match quantity {
            FrameQuantity::Pose(component) => {
                pose_component(&self.pose(&now.state.rigids), component)
            }
            FrameQuantity::Vector { which, axis, in_body } => {
                let Some(vector) = self.vector(which, now) else { return f64::NAN };
                let turn = self.pose(&now.state.rigids).rotation;
                if in_body { (turn.conjugate() * vector)[axis] } else { vector[axis] }
            }
        }
    }

    fn vector(&self, which: usize, now: &Moment<'_>) -> Option<Vec3> {
        let twist = self.twist(&now.state.rigids);
        if which < 2 {
            return Some(if which == 0 { twist.linear } else { twist.angular });
        }
        let (rigids, _, secs) = now.before?;
        let was = self.twist(rigids);
        let change =
            if which == 2 { twist.linear - was.linear } else { twist.angular - was.angular };
        Some(change / secs)
    }
}

fn pose_component(pose: &Transform, component: usize) -> f64 {
    let (p, q) = (pose.translation, pose.rotation);
    match component {
        0..3 => p[component],
        3..7 => q.to_array()[component - 3],
        _ => pose.rpy()[component - 7],
    }
}

/// Why a key means nothing in a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Unread {
    /// Nothing has that name and property; the nearest that is known.
    Unknown(Option<String>),
    /// Several have it.
    Ambiguous(Vec<String>),
    /// There is such a thing, and its numbers cannot be compared: pictures.
    NotComparable(String),
}

impl Unread {
    /// In words.
    pub fn told(&self, key: &str) -> Diagnostic {
        match self {
            Unread::Unknown(near) => {
                let near = near.as_ref().map(|near| format!("did you mean `{near}`? "));
                let help = "`--ignore-unknown` leaves such keys out, `--map` gives them new names";
                let message = format!("the model has nothing called `{key:.120}`");
                Diagnostic::error("unknown-key", message)
                    .help(format!("{}{help}", near.unwrap_or_default()))
            }
            Unread::Ambiguous(all) => {
                let message = format!("`{key:.120}` is a key of {} things", all.len());
                let help = format!("say which: `{}`", all.join("`, `"));
                Diagnostic::error("ambiguous-key", message).help(help)
            }
            Unread::NotComparable(kind) => {
                let message = format!("`{key:.120}` is of a {kind}, whose pictures are no signal");
                Diagnostic::error("not-comparable", message)
                    .help("`--ignore-unknown` leaves such keys out")
            }
        }
    }
}

/// The names of a model, to be looked up.
pub struct Names<'m> {
    model: &'m Model,
    frames: Vec<(String, Frame, Vec<usize>)>,
}

impl<'m> Names<'m> {
    /// Of a model: models, links and joints that have a place.
    pub fn of(model: &'m Model) -> Names<'m> {
        let mut frames: Vec<(String, Frame, Vec<usize>)> = Vec::new();
        for object in &model.objects {
            let Object { rigid_idx, rigid_from_object, .. } = object;
            let frame = Frame { rigid_idx: *rigid_idx, rigid_from_frame: *rigid_from_object };
            frames.push((object.name.clone(), frame, bodies_of(model, &object.name)));
        }
        for (i, body) in model.bodies.iter().enumerate() {
            if model.object(&body.name).is_none() {
                let rigid_from_frame = body.rigid_from_body;
                let frame = Frame { rigid_idx: body.rigid_idx, rigid_from_frame };
                frames.push((body.name.clone(), frame, vec![i]));
            }
        }
        for joint in &model.joints {
            if !frames.iter().any(|(name, ..)| *name == joint.name) {
                let rigid_from_frame = joint.child_from_joint;
                let frame = Frame { rigid_idx: joint.child_rigid, rigid_from_frame };
                frames.push((joint.name.clone(), frame, Vec::new()));
            }
        }
        Names { model, frames }
    }

    /// Every key in its plain form.
    pub fn keys(&self) -> Vec<String> {
        let all = CONTACT_COMPONENTS.iter().map(|part| format!("{ALL_CONTACTS}/{part}"));
        let mut keys: Vec<String> = all.collect();
        for dof in &self.model.dofs {
            keys.extend(JOINT_PROPERTIES.iter().map(|(word, _)| format!("{}/{word}", dof.name)));
        }
        for (name, _, bodies) in &self.frames {
            keys.extend(POSE_COMPONENTS.iter().map(|part| format!("{name}/pose/{part}")));
            for vector in VECTORS {
                keys.extend(AXES.iter().map(|axis| format!("{name}/{vector}/{axis}")));
            }
            if !bodies.is_empty() {
                keys.extend(CONTACT_COMPONENTS.iter().map(|part| format!("{name}/contact/{part}")));
            }
        }
        keys
    }

    /// What a key means. A name may have slashes and so has a key: every cut is tried.
    pub fn find(&self, key: &str) -> Result<Source, Unread> {
        let key = key.trim_start_matches('/');
        for (at, _) in key.match_indices('/') {
            let (name, property) = (&key[..at], &key[at + 1..]);
            if let Some(found) = self.find_cut(name, property) {
                return found;
            }
        }
        Err(Unread::Unknown(self.nearest(key, Vec::new())))
    }

    fn find_cut(&self, name: &str, property: &str) -> Option<Result<Source, Unread>> {
        // A joint that is called so goes before the contacts: `force` is a word for both.
        if let Some(quantity) = joint_quantity(property)
            && let Some(found) = self.find_joint(name, property)
        {
            return Some(found.map(|dof_idx| Source::Joint(dof_idx, quantity)));
        }
        if let Some(part) = contact_component(property).filter(|_| name == ALL_CONTACTS) {
            return Some(Ok(Source::Contact(Vec::new(), part)));
        }
        if let Some(part) = property.strip_prefix("contact/").and_then(contact_component) {
            let found = self.find_frame(name, property)?;
            return Some(found.and_then(|(_, bodies)| match bodies.is_empty() {
                true => Err(Unread::Unknown(None)),
                false => Ok(Source::Contact(bodies, part)),
            }));
        }
        let quantity = frame_quantity(property)?;
        let found = self.find_frame(name, property)?;
        Some(found.map(|(frame, _)| Source::Frame(frame, quantity)))
    }

    fn find_joint(&self, name: &str, property: &str) -> Option<Result<usize, Unread>> {
        let scoped = name.replace('/', "::");
        let model = self.model;
        if let Some(dof_idx) = model.find_dof(name).or_else(|| model.find_dof(&scoped)) {
            return Some(Ok(dof_idx));
        }
        let dofs = model.dofs.iter().filter(|dof| dof.name.rsplit("::").next() == Some(name));
        let alike: Vec<String> = dofs.map(|dof| format!("{}/{property}", dof.name)).collect();
        (alike.len() > 1).then_some(Err(Unread::Ambiguous(alike)))
    }

    fn find_frame(
        &self,
        name: &str,
        property: &str,
    ) -> Option<Result<(Frame, Vec<usize>), Unread>> {
        let scoped = name.replace('/', "::");
        let whole = |(known, ..): &&(String, Frame, Vec<usize>)| *known == name || *known == scoped;
        if let Some((_, frame, bodies)) = self.frames.iter().find(whole) {
            return Some(Ok((*frame, bodies.clone())));
        }
        let behind = format!("::{scoped}");
        let mut alike = self.frames.iter().filter(|(known, ..)| known.ends_with(&behind));
        let (first, frame, bodies) = alike.next()?;
        let others: Vec<&str> = alike.map(|(known, ..)| known.as_str()).collect();
        if others.is_empty() {
            return Some(Ok((*frame, bodies.clone())));
        }
        let all = std::iter::once(first.as_str()).chain(others);
        Some(Err(Unread::Ambiguous(all.map(|name| format!("{name}/{property}")).collect())))
    }

    /// The nearest known key, in the words of the one who asked: with or without the model's
    /// name.
    pub(crate) fn nearest(&self, key: &str, others: Vec<String>) -> Option<String> {
        let mut known = self.keys();
        known.extend(others);
        let short = |key: &String| {
            let (name, property) = key.split_once('/')?;
            Some(format!("{}/{property}", name.rsplit_once("::")?.1))
        };
        known.extend(known.clone().iter().filter_map(short));
        names::nearest(key, known.iter().map(String::as_str)).map(str::to_string)
    }
}

/// The bodies of a model or link by name.
fn bodies_of(model: &Model, name: &str) -> Vec<usize> {
    let below = format!("{name}::");
    let is_one = |body: &headland_sim::Body| body.name == name || body.name.starts_with(&below);
    (0..model.bodies.len()).filter(|i| is_one(&model.bodies[*i])).collect()
}

/// Which of [`CONTACT_COMPONENTS`] a word means; recordings say `normal_force`.
pub(crate) fn contact_component(word: &str) -> Option<usize> {
    let word = if word == "normal_force" { "force" } else { word };
    CONTACT_COMPONENTS.iter().position(|known| *known == word)
}

fn joint_quantity(word: &str) -> Option<JointQuantity> {
    let is_it = |(known, others): &(&str, &[&str])| *known == word || others.contains(&word);
    let at = JOINT_PROPERTIES.iter().position(is_it)?;
    Some(match at {
        0 => JointQuantity::Position,
        1 => JointQuantity::Velocity,
        2 => JointQuantity::Effort,
        _ => JointQuantity::Acceleration,
    })
}

/// `pose/x`, `linear_vel/x`, `linear_vel@body/x`, `linear_vel/x@body`.
fn frame_quantity(property: &str) -> Option<FrameQuantity> {
    let (vector, component) = property.split_once('/')?;
    if vector == "pose" {
        let at = POSE_COMPONENTS.iter().position(|known| *known == component)?;
        return Some(FrameQuantity::Pose(at));
    }
    let cut = |word: &str| -> (String, Option<String>) {
        match word.split_once('@') {
            Some((word, frame)) => (word.to_string(), Some(frame.to_string())),
            None => (word.to_string(), None),
        }
    };
    let ((vector, a), (component, b)) = (cut(vector), cut(component));
    let in_body = match a.or(b).as_deref() {
        None | Some("world") => false,
        Some("body") => true,
        Some(_) => return None,
    };
    let which = VECTORS.iter().position(|known| *known == vector)?;
    let axis = AXES.iter().position(|known| *known == component)?;
    Some(FrameQuantity::Vector { which, axis, in_body })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;

    /// Every key that is listed is read, in full and without its model's name: `force` is a word
    /// of contacts too, not only another for a joint's effort.
    #[test]
    fn every_key_that_is_listed_is_read() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds/pendulum.sdf");
        let world = headland_world::read(&path, &Default::default()).expect("a world").world;
        let model = Model::compile(&Arc::new(world)).expect("compiles");
        let names = Names::of(&model);
        let keys = names.keys();
        for key in keys.iter().map(String::as_str).chain(["bob/contact/force", "contacts/force"]) {
            assert!(names.find(key).is_ok(), "{key}");
        }
        assert!(keys.contains(&"contacts/force".to_string()), "{keys:?}");
        assert_eq!(names.find("bob/contact/force"), names.find("pendulum::bob/contact/force"));
        assert_eq!(names.find("hinge/force"), names.find("hinge/effort"));
    }
}
