//! The sensors that a World declares: `<sensor>` of links and joints go in, sensors for a run
//! come out, and every defect with its place.
//!
//! ```text
//! <sensor type="imu"> ─ head: name, topic, frame, pose, timing ─┐
//!                     └ KINDS: one reader per type ─ Measure ───┴► Declaration ─► sim::Sensor
//! ```
//!
//! What all kinds share is read here: `<update_rate>` (0 is every step), `<topic>`, `<pose>` with
//! `relative_to`, `<frame_id>`, and of ours `<headland:phase>`, `<headland:latency>` and
//! `<headland:dropout>`. `<visualize>`, `<enable_metrics>` and `<plugin>` change nothing: a run
//! records every sensor it takes along. Pictures are large and slow to make, so a camera is taken
//! along where it is `<always_on>` or asked for.
//!
//! A topic is `/robot/sensor` or what `<topic>` says, with a number where another has it. The
//! frame of what is measured is `robot/link/sensor`, or what `<frame_id>` says.
//!
//! Deliberately absent: what a kind measures. Adding one is a file and a line of [`KINDS`].

pub mod element;
mod found;
mod frame;
mod inside;
pub mod surroundings;

use std::collections::BTreeSet;

use headland_base::{Diagnostic, Place, SimDuration, names};
use headland_sim::recorder::{free_topic, own_topics, topic_name};
use headland_sim::{Model, Sensor, Timing};
use headland_world::resource::Resources;
use headland_world::{Places, join_scope};

use crate::mounted::{Measure, Mount, Mounted, Sight};
use crate::noise::Dropout;
use crate::rays;
use crate::scene::SharedScene;
use crate::{
    air, camera, detect, encoder, foot_pressure, force_torque, imu, magnetometer, navsat, odometry,
    touch,
};
use element::Element;
use found::Found;
pub use found::{JointSite, sensors_of};
pub use inside::with_noise_inside;

/// A kind of sensor.
pub struct Kind {
    /// The words of `type` that mean it; the first is its name.
    pub words: &'static [&'static str],
    /// What it may be declared on.
    pub on: On,
    /// The element that holds what is its own, beside what all sensors have; some have several
    /// names, some none.
    pub elements: &'static [&'static str],
    /// Reads what is its own. Nothing where it cannot be, which is said.
    pub read: fn(Element<'_>, &Site<'_>) -> Option<Box<dyn Measure>>,
}

/// What a sensor may be declared on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// A link.
    Link,
    /// A joint.
    Joint,
    /// Either.
    Both,
}

/// Every kind, in reading order.
pub const KINDS: &[&Kind] = &[
    &imu::KIND,
    &force_torque::KIND,
    &encoder::KIND,
    &touch::CONTACT,
    &touch::BUMPER,
    &foot_pressure::KIND,
    &navsat::KIND,
    &air::ALTIMETER,
    &air::BAROMETER,
    &magnetometer::KIND,
    &odometry::KIND,
    &rays::lidar::KIND,
    &rays::lidar::DRAWN,
    &rays::range::PROXIMITY,
    &rays::range::SONAR,
    &rays::break_beam::KIND,
    &detect::logical_camera::KIND,
    &detect::detector::KIND,
    &camera::KINDS[0],
    &camera::KINDS[1],
    &camera::KINDS[2],
    &camera::KINDS[3],
    &camera::KINDS[4],
    &camera::KINDS[5],
];

/// Where a sensor was declared.
pub struct Site<'a> {
    /// What it is in.
    pub model: &'a Model,
    /// Where that was written.
    pub places: &'a Places,
    /// Its whole name.
    pub name: &'a str,
    /// Where it is. Of a sensor of a joint: on the child link, in the frame of the joint.
    pub mount: Mount,
    /// Of a sensor of a joint.
    pub joint: Option<JointSite>,
    /// When it looks.
    pub timing: Timing,
    /// The scene that all sensors of a run look at.
    pub scene: SharedScene,
    /// Where files that it names are looked for.
    pub resources: &'a Resources,
}

/// A sensor that a World declares.
pub struct Declaration {
    /// The whole name: `robot::link::imu`.
    pub name: String,
    /// The first word of its kind.
    pub kind: &'static str,
    /// The topic of what it says, or of all of it where it says several things.
    pub topic: String,
    /// When it looks.
    pub timing: Timing,
    /// It makes pictures.
    pub makes_pictures: bool,
    /// It makes pictures and is not `<always_on>`: it waits until somebody asks for it.
    pub waits: bool,
    /// Where it was written.
    pub place: Option<Place>,
    /// What is wrong with it, and what is odd.
    pub findings: Vec<Diagnostic>,
    sensor: Option<Mounted>,
}

impl Declaration {
    /// What it says, topics and types of messages.
    pub fn outputs(&self) -> &[headland_sim::Output] {
        self.sensor.as_ref().map_or(&[], |sensor| sensor.outputs())
    }

    /// What whoever reads its messages should know of how they come about.
    pub fn about(&self) -> Option<&str> {
        self.sensor.as_ref().and_then(Mounted::about)
    }

    /// Where it looks, for people to see.
    pub fn sight(&self) -> Option<Sight<'_>> {
        self.sensor.as_ref().and_then(Mounted::sight)
    }

    /// The sensor, for a run; none where it could not be made. Ask `findings` first.
    pub fn into_sensor(self) -> Option<Box<dyn Sensor>> {
        self.sensor.map(|sensor| Box::new(sensor) as Box<dyn Sensor>)
    }
}

/// Every sensor of a World, in its order, and what was found about those that are none we know.
pub fn declare(model: &Model, places: &Places) -> (Vec<Declaration>, Vec<Diagnostic>) {
    declare_with(model, places, &Resources::default())
}

/// The same, with folders to look for files in.
pub fn declare_with(
    model: &Model,
    places: &Places,
    resources: &Resources,
) -> (Vec<Declaration>, Vec<Diagnostic>) {
    let mut all = Declared { resources: resources.clone(), ..Declared::default() };
    let own = own_topics(model);
    let is_own = |topic: &str| {
        let parts = ["", "/pose", "/twist"].map(|part| format!("{topic}{part}"));
        parts.iter().any(|topic| own.contains(topic))
    };
    for found in sensors_of(&model.world, places) {
        all.add(model, places, found, &is_own);
    }
    (all.sensors, all.findings)
}

#[derive(Default)]
struct Declared {
    /// Topics of the sensors before.
    taken: BTreeSet<String>,
    sensors: Vec<Declaration>,
    findings: Vec<Diagnostic>,
    scene: SharedScene,
    resources: Resources,
}

impl Declared {
    /// The kind of an element; says what is none.
    fn kind(element: Element<'_>) -> Option<&'static Kind> {
        let Some(word) = element.attribute("type") else {
            element.unknown("it has no `type`, and is left out", None);
            return None;
        };
        if let Some(kind) = KINDS.iter().find(|kind| kind.words.contains(&word)) {
            return Some(kind);
        }
        let words = KINDS.iter().flat_map(|kind| kind.words).copied();
        let near = names::nearest(word, words).map(|near| format!("did you mean `{near}`?"));
        let all: Vec<&str> = KINDS.iter().map(|kind| kind.words[0]).collect();
        let help = near.unwrap_or_else(|| format!("known here: {}", all.join(", ")));
        element.unknown(format!("no sensor is of type `{word:.40}`; it is left out"), Some(help));
        None
    }

    fn add(
        &mut self,
        model: &Model,
        places: &Places,
        found: Found<'_>,
        is_own: &dyn Fn(&str) -> bool,
    ) {
        let rest = found.read(("sensor", "bad-sensor"), |element| {
            let read = self.read(model, places, &found, element, is_own);
            let findings = element.take_findings();
            match read {
                Some(read) => self.sensors.push(Declaration { findings, ..read }),
                None => self.findings.extend(findings),
            }
        });
        self.findings.extend(rest);
    }

    fn read(
        &mut self,
        model: &Model,
        places: &Places,
        found: &Found<'_>,
        element: Element<'_>,
        is_own: &dyn Fn(&str) -> bool,
    ) -> Option<Declaration> {
        let kind = Declared::kind(element)?;
        if found.joint.is_some() != (kind.on == On::Joint) && kind.on != On::Both {
            let (wanted, is) = match kind.on {
                On::Joint => ("joint", "link"),
                _ => ("link", "joint"),
            };
            element.error(format!(
                "a sensor of type `{}` stands in a {wanted}, and this is a {is}",
                kind.words[0]
            ));
            return None;
        }
        let sensor_name = element.attribute("name").unwrap_or(kind.words[0]);
        let name = join_scope(&found.owner, sensor_name);
        let timing = timing(element);
        let own_pose = found.owner_from_sensor(element);
        let body_from_sensor = match &found.joint {
            Some(joint) => joint.child_from_joint * own_pose,
            None => own_pose,
        };
        let said = ["frame_id", "gz_frame_id", "ignition_frame_id"];
        let said = said.iter().find_map(|name| element.text_in(name));
        let frame_id = said.map_or_else(|| name.replace("::", "/"), str::to_string);
        let mount = Mount::on(model, found.body_idx, body_from_sensor, frame_id);
        let mut known = COMMON.to_vec();
        known.extend(kind.elements);
        element.only(&known);
        element.nothing_twice();
        let (joint, place) = (found.joint.clone(), element.place());
        let (scene, resources) = (self.scene.clone(), &self.resources);
        let site = Site { model, places, name: &name, mount, joint, timing, scene, resources };
        let measure = (kind.read)(element, &site);
        let topic = match element.text_in("topic") {
            Some(said) => topic_name(&said.trim_start_matches('/').replace('/', "::")),
            None => topic_name(&join_scope(&found.robot, sensor_name)),
        };
        let topic = self.free_topic(&topic, measure.as_deref(), is_own);
        let dropout: Dropout = element.dropout();
        let sensor = measure.map(|measure| Mounted::new(measure, (&name, &topic), timing, dropout));
        let makes_pictures = camera::shows(kind.words[0]).is_some();
        let waits = makes_pictures && !element.flag("always_on", false);
        let (kind, findings) = (kind.words[0], Vec::new());
        Some(Declaration {
            name,
            kind,
            topic,
            timing,
            makes_pictures,
            waits,
            place,
            findings,
            sensor,
        })
    }

    /// A topic under which nothing that it says is already said; taken from now on.
    fn free_topic(
        &mut self,
        topic: &str,
        measure: Option<&dyn Measure>,
        is_own: &dyn Fn(&str) -> bool,
    ) -> String {
        let said = measure.map(|measure| measure.outputs()).unwrap_or_default();
        let mut behind: Vec<String> = said.into_iter().map(|(behind, _)| behind).collect();
        behind.push(String::new());
        let all = |topic: &str| behind.iter().map(|b| format!("{topic}{b}")).collect::<Vec<_>>();
        let is_taken = |topic: &String| is_own(topic) || self.taken.contains(topic);
        let topic = free_topic(topic, |topic| all(topic).iter().any(is_taken));
        self.taken.extend(all(&topic));
        topic
    }
}

/// Elements that every sensor may have.
const COMMON: &[&str] = &[
    "always_on",
    "enable_metrics",
    "frame_id",
    "gz_frame_id",
    "headland:dropout",
    "headland:latency",
    "headland:phase",
    "ignition_frame_id",
    "plugin",
    "pose",
    "topic",
    "update_rate",
    "visualize",
];

fn timing(element: Element<'_>) -> Timing {
    let not_negative = |value: f64| value >= 0.0;
    let rate = element.number_that("update_rate", 0.0, "zero or more", not_negative);
    let secs = |name: &str| {
        let secs = element.number_that(name, 0.0, "zero or more", not_negative);
        SimDuration::from_secs(secs).unwrap_or(LONGEST)
    };
    // A rate that no clock has is still more than every step.
    let shortest = SimDuration::from_nanos(1);
    let period = match rate {
        0.0 => SimDuration::ZERO,
        rate => SimDuration::from_secs(1.0 / rate).unwrap_or(LONGEST).max(shortest),
    };
    Timing { period, phase: secs("headland:phase"), latency: secs("headland:latency") }
}

/// Longer than any run.
const LONGEST: SimDuration = SimDuration::from_nanos(i64::MAX);
