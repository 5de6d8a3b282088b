//! The recorder: an observer that writes a recording.
//!
//! | topic | message | when |
//! |---|---|---|
//! | `/<object>/pose` | geometry_msgs/PoseStamped | every sample; once for what never moves |
//! | `/<object>/twist` | geometry_msgs/TwistStamped | every sample |
//! | `/<robot>/joint_states` | sensor_msgs/JointState | every sample |
//! | `/<robot>/joint_command` | headland_msgs/JointCommand | when commands change |
//! | `/contacts` | headland_msgs/Contacts | every sample |
//! | `/events` | headland_msgs/Event | when something happens once |
//! | each output of a sensor | its own | when a message of it arrives |
//!
//! An object is a model, by its own frame, or a link of a model that has several.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::{Diagnostic, SimTime};
use headland_record::messages::{Header, JointCommand, Kind};
use headland_record::{ChannelId, ContactRef, Writer};

use crate::control::{Commands, Mode};
use crate::model::{Model, Motion};
use crate::run::Observer;
use crate::sensor::{Letter, Sensor};
use crate::state::State;

/// Every pose is written in this frame.
const WORLD_FRAME: &str = "world";

/// Writes what it observes.
pub struct Recorder<'a> {
    writer: &'a mut Writer,
    moving: Vec<MovingObject>,
    still: Vec<(usize, ChannelId)>,
    robots: Vec<RobotChannels>,
    sensors: Vec<ChannelId>,
    contacts: ChannelId,
    events: ChannelId,
}

struct MovingObject {
    object_idx: usize,
    pose: ChannelId,
    twist: ChannelId,
}

struct RobotChannels {
    dof_idxs: Vec<usize>,
    names: Vec<String>,
    states: ChannelId,
    commands: ChannelId,
    is_commanded: bool,
}

impl<'a> Recorder<'a> {
    /// Opens the channels of a model and of its sensors.
    pub fn start(
        writer: &'a mut Writer,
        model: &Model,
        sensors: &[Box<dyn Sensor>],
    ) -> Result<Recorder<'a>, Diagnostic> {
        writer.metadata("headland.objects", object_facts(model))?;
        writer.metadata("headland.regions", region_facts(model))?;
        let topics = object_topics(model);
        let (mut moving, mut still) = (Vec::new(), Vec::new());
        for (object_idx, (object, topic)) in model.objects.iter().zip(&topics).enumerate() {
            let pose = writer.channel(&format!("{topic}/pose"), Kind::PoseStamped)?;
            if model.rigids[object.rigid_idx].motion == Motion::Static {
                still.push((object_idx, pose));
            } else {
                let twist = writer.channel(&format!("{topic}/twist"), Kind::TwistStamped)?;
                moving.push(MovingObject { object_idx, pose, twist });
            }
        }
        let robots = robot_channels(writer, model)?;
        let outputs = sensors.iter().flat_map(|sensor| sensor.outputs());
        let sensors = outputs
            .map(|output| {
                let (topic, name) = (&output.topic, output.message_type);
                let kind = Kind::from_name(name).ok_or_else(|| {
                    let message = format!("sensor `{topic}`: no message type `{name}`");
                    Diagnostic::error("unknown-message", message)
                })?;
                writer.channel(topic, kind)
            })
            .collect::<Result<_, Diagnostic>>()?;
        let contacts = writer.channel("/contacts", Kind::Contacts)?;
        let events = writer.channel("/events", Kind::Event)?;
        Ok(Recorder { writer, moving, still, robots, sensors, contacts, events })
    }

    /// The file behind it, for whoever has more to write into it.
    pub fn writer(&mut self) -> &mut Writer {
        self.writer
    }
}

impl Observer for Recorder<'_> {
    fn sample(&mut self, model: &Model, state: &State) -> Result<(), Diagnostic> {
        let now = state.time;
        for (object_idx, channel) in self.still.drain(..) {
            self.writer.pose(channel, now, WORLD_FRAME, &state.object_pose(model, object_idx))?;
        }
        for object in &self.moving {
            let pose = state.object_pose(model, object.object_idx);
            let twist = state.object_twist(model, object.object_idx);
            self.writer.pose(object.pose, now, WORLD_FRAME, &pose)?;
            self.writer.twist(object.twist, now, WORLD_FRAME, twist.linear, twist.angular)?;
        }
        for robot in &self.robots {
            let column = |f: fn(&crate::DofState) -> f64| -> Vec<f64> {
                robot.dof_idxs.iter().map(|i| f(&state.dofs[*i])).collect()
            };
            let (q, v, f) = (column(|d| d.position), column(|d| d.velocity), column(|d| d.effort));
            self.writer.joint_states(robot.states, now, &robot.names, &q, &v, &f)?;
        }
        let contacts = state.contacts.iter().map(|contact| ContactRef {
            body_a: &model.bodies[contact.body_a].name,
            body_b: &model.bodies[contact.body_b].name,
            position: contact.position,
            normal: contact.normal,
            depth: contact.depth,
            normal_force: contact.force.dot(contact.normal).max(0.0),
            force: contact.force,
        });
        self.writer.contacts(self.contacts, now, WORLD_FRAME, contacts)
    }

    fn commands(&mut self, now: SimTime, commands: &Commands) -> Result<(), Diagnostic> {
        for robot in &mut self.robots {
            let held = robot.dof_idxs.iter().zip(&robot.names);
            let held: Vec<_> =
                held.filter_map(|(i, name)| commands.held(*i).map(|c| (name, c))).collect();
            // An empty message says that the last command no longer holds.
            if held.is_empty() && !robot.is_commanded {
                continue;
            }
            robot.is_commanded = !held.is_empty();
            let message = JointCommand {
                header: Header::new(now, ""),
                name: held.iter().map(|(name, _)| (*name).clone()).collect(),
                mode: held.iter().map(|(_, command)| mode_number(command.mode)).collect(),
                target: held.iter().map(|(_, command)| command.target).collect(),
            };
            self.writer.message(robot.commands, now, &message)?;
        }
        Ok(())
    }

    fn message(&mut self, letter: &Letter) -> Result<(), Diagnostic> {
        let channel = self.sensors[letter.output_idx];
        self.writer.raw(channel, letter.arrival, letter.stamp, &letter.cdr)
    }

    fn event(
        &mut self,
        now: SimTime,
        source: &str,
        kind: &str,
        text: &str,
    ) -> Result<(), Diagnostic> {
        self.writer.event(self.events, now, source, kind, text)
    }
}

fn mode_number(mode: Mode) -> u8 {
    match mode {
        Mode::Position => JointCommand::POSITION,
        Mode::Velocity => JointCommand::VELOCITY,
        Mode::Effort => JointCommand::EFFORT,
    }
}

fn robot_channels(writer: &mut Writer, model: &Model) -> Result<Vec<RobotChannels>, Diagnostic> {
    let mut out = Vec::new();
    for (topic, dof_idxs) in robot_topics(model) {
        out.push(RobotChannels {
            names: dof_idxs.iter().map(|i| model.dofs[*i].name_in_robot.clone()).collect(),
            dof_idxs,
            states: writer.channel(&format!("{topic}/joint_states"), Kind::JointState)?,
            commands: writer.channel(&command_topic(&topic), Kind::JointCommand)?,
            is_commanded: false,
        });
    }
    Ok(out)
}

/// The topic of every robot, `/arm`, with its axes in the order its messages list them.
pub fn robot_topics(model: &Model) -> Vec<(String, Vec<usize>)> {
    let mut dofs_by_robot: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, dof) in model.dofs.iter().enumerate() {
        dofs_by_robot.entry(model.joints[dof.joint_idx].robot.as_str()).or_default().push(i);
    }
    let topics = unique_topics(dofs_by_robot.keys().copied());
    topics.into_iter().zip(dofs_by_robot.into_values()).collect()
}

/// Every topic that a recording of the model has without sensors.
pub fn own_topics(model: &Model) -> BTreeSet<String> {
    let mut out = BTreeSet::from(["/contacts", "/events", "/verdicts"].map(str::to_string));
    for topic in object_topics(model) {
        out.extend([format!("{topic}/pose"), format!("{topic}/twist")]);
    }
    for (topic, _) in robot_topics(model) {
        out.extend([format!("{topic}/joint_states"), command_topic(&topic)]);
    }
    out
}

/// Where the commands to a robot are recorded.
pub fn command_topic(robot_topic: &str) -> String {
    format!("{robot_topic}/joint_command")
}

/// The topics of the model's objects, in their order: `/ball`, `/robot/arm`.
pub fn object_topics(model: &Model) -> Vec<String> {
    unique_topics(model.objects.iter().map(|object| object.name.as_str()))
}

/// A topic per name: `robot::arm` is `/robot/arm`. Two names that differ only in what a
/// topic cannot hold get numbers.
fn unique_topics<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let free = |name| {
        let free = free_topic(&topic_name(name), |topic| taken.contains(topic));
        taken.insert(free.clone());
        free
    };
    names.map(free).collect()
}

/// The topic, or the first of it with a number that is not taken: `/robot/imu_2`.
pub fn free_topic(topic: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|n| format!("{topic}_{n}"));
    let free = std::iter::once(topic.to_string()).chain(numbered).find(|t| !is_taken(t));
    free.expect("numbers do not end")
}

/// The topic of a scoped name. ROS 2 topics are made of letters, digits and underscores, and
/// no part starts with a digit.
pub fn topic_name(name: &str) -> String {
    let parts = name.split("::").map(|part| {
        let clean: String = part
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
            .collect();
        let starts_well = clean.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if starts_well { format!("/{clean}") } else { format!("/_{clean}") }
    });
    parts.collect()
}

/// `ball` → `{"topic": "/ball", "low": […], "high": […]}`: what a judge needs to know of an
/// object that its track does not say.
fn object_facts(model: &Model) -> BTreeMap<String, String> {
    let topics = object_topics(model);
    let facts = model.objects.iter().zip(topics).map(|(object, topic)| {
        let is_static = model.rigids[object.rigid_idx].motion == Motion::Static;
        let mut fact = format!("{{\"topic\":{topic:?},\"static\":{is_static}");
        if let Some((low, high)) = object.bounds {
            fact += &format!(",\"low\":{:?},\"high\":{:?}", low.to_array(), high.to_array());
        }
        (object.name.clone(), fact + "}")
    });
    facts.collect()
}

/// `goal` → `{"shape": "box", "size": […], "position": […], "orientation_xyzw": […]}`.
fn region_facts(model: &Model) -> BTreeMap<String, String> {
    use headland_world::Geometry;
    let facts = model.world.regions.iter().map(|region| {
        let size = match &region.geometry {
            Geometry::Box { size } => format!("\"size\":{:?}", size.to_array()),
            Geometry::Sphere { radius } => format!("\"radius\":{radius:?}"),
            Geometry::Cylinder { radius, length } => {
                format!("\"radius\":{radius:?},\"length\":{length:?}")
            }
            Geometry::Polyline { outlines, height } => {
                let outlines: Vec<Vec<[f64; 2]>> = outlines
                    .iter()
                    .map(|line| line.iter().map(|p| p.to_array()).collect())
                    .collect();
                format!("\"outlines\":{outlines:?},\"height\":{height:?}")
            }
            _ => "\"size\":null".to_string(),
        };
        let at = region.world_from_region;
        let fact = format!(
            "{{\"shape\":\"{}\",{size},\"position\":{:?},\"orientation_xyzw\":{:?}}}",
            region.geometry.kind(),
            at.translation.to_array(),
            at.rotation.to_array()
        );
        (region.name.clone(), fact)
    });
    facts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_hold_only_what_ros_allows() {
        assert_eq!(topic_name("robot::arm-1::2nd link"), "/robot/arm_1/_2nd_link");
        assert_eq!(topic_name("ball"), "/ball");
        assert_eq!(unique_topics(["a-b", "a_b", "c"].into_iter()), ["/a_b", "/a_b_2", "/c"]);
    }
}
