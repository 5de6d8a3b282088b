//! Sensors of a model, asked whenever somebody measured, without their noise.
//!
//! What a sensor says is a message; its numbers are named as recordings name them,
//! `robot/imu/linear_acceleration/x`, or in the short words of [`SHORT`]: `imu/imu/ax`. Rates and
//! latencies do not matter here: the measurement says when. Noise and dropouts are taken out of
//! what the model declares, since the measurement has its own.
//!
//! Deliberately absent: what any one sensor measures. That is `sense`.

use std::sync::Arc;

use headland_base::Seed;
use headland_record::{Definition, Kind};
use headland_sense::declare::declare;
use headland_sim::{LastStep, Look, Model, RigidState, Sensor, State};
use headland_world::{Opaque, Places, World};

use crate::source::Unread;

/// The type of a message, the property, and per component the short word and the field.
pub type Short = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Short words for numbers of messages.
pub const SHORT: &[Short] = &[
    (
        "sensor_msgs/msg/Imu",
        "imu",
        &[
            ("ax", "linear_acceleration/x"),
            ("ay", "linear_acceleration/y"),
            ("az", "linear_acceleration/z"),
            ("gx", "angular_velocity/x"),
            ("gy", "angular_velocity/y"),
            ("gz", "angular_velocity/z"),
            ("qx", "orientation/x"),
            ("qy", "orientation/y"),
            ("qz", "orientation/z"),
            ("qw", "orientation/w"),
        ],
    ),
    (
        "geometry_msgs/msg/WrenchStamped",
        "force_torque",
        &[
            ("fx", "wrench/force/x"),
            ("fy", "wrench/force/y"),
            ("fz", "wrench/force/z"),
            ("tx", "wrench/torque/x"),
            ("ty", "wrench/torque/y"),
            ("tz", "wrench/torque/z"),
        ],
    ),
    (
        "sensor_msgs/msg/NavSatFix",
        "gps",
        &[("lat", "latitude"), ("lon", "longitude"), ("alt", "altitude")],
    ),
];

/// What recordings call numbers of messages that are tracks of their own there: the type, what
/// stands before the component, and before its field.
const RECORDED: &[(&str, &str, &str)] = &[
    ("geometry_msgs/msg/TwistStamped", "linear_vel/", "twist/linear/"),
    ("geometry_msgs/msg/TwistStamped", "angular_vel/", "twist/angular/"),
    ("geometry_msgs/msg/PoseStamped", "pose/q", "pose/orientation/"),
    ("geometry_msgs/msg/PoseStamped", "pose/", "pose/position/"),
    ("nav_msgs/msg/Odometry", "pose/q", "pose/pose/orientation/"),
    ("nav_msgs/msg/Odometry", "pose/", "pose/pose/position/"),
    ("nav_msgs/msg/Odometry", "linear_vel/", "twist/twist/linear/"),
    ("nav_msgs/msg/Odometry", "angular_vel/", "twist/twist/angular/"),
    // An encoder says one joint.
    ("sensor_msgs/msg/JointState", "position", "position/0"),
    ("sensor_msgs/msg/JointState", "velocity", "velocity/0"),
    ("sensor_msgs/msg/JointState", "effort", "effort/0"),
];

/// Where a message has many of one kind: the type, the property, and what stands before the
/// number.
pub const COUNTED: &[(&str, &str, &str)] = &[("sensor_msgs/msg/LaserScan", "range", "ranges")];

/// A sensor of the model and what it says.
struct Asked {
    sensor: Box<dyn Sensor>,
    /// `robot::link::imu`.
    name: String,
    /// The numbers of all its messages: which output, and the key within.
    keys: Vec<(usize, String)>,
    definitions: Vec<Option<Definition>>,
    /// Those that somebody wants are read.
    is_wanted: bool,
    /// The latest reading, by key, and the one before.
    values: Vec<f64>,
    values_before: Vec<f64>,
}

/// The sensors of a model.
#[derive(Default)]
pub struct Sensors {
    asked: Vec<Asked>,
    /// Those that make pictures: name and kind.
    pictures: Vec<(String, &'static str)>,
}

impl Sensors {
    /// Every sensor the model declares, at a state it starts from. What is wrong with one is
    /// said where somebody asks for it.
    pub fn of(model: &Model, start: &State) -> Sensors {
        let quiet = quiet(model, start);
        let (declared, _) = declare(&quiet, &Places::default());
        let mut sensors = Sensors::default();
        for declaration in declared {
            let (name, kind) = (declaration.name.clone(), declaration.kind);
            if declaration.makes_pictures {
                sensors.pictures.push((name, kind));
                continue;
            }
            let Some(sensor) = declaration.into_sensor() else { continue };
            sensors.asked.push(Asked::of(sensor, name, &quiet, start));
        }
        sensors
    }

    /// Whether the model has none.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.pictures.is_empty()
    }

    /// Every key in its plain form.
    pub fn keys(&self) -> Vec<String> {
        let keys = self.asked.iter().flat_map(|asked| {
            asked.keys.iter().map(|(output, key)| {
                let topic = asked.sensor.outputs()[*output].topic.trim_start_matches('/');
                format!("{topic}/{key}")
            })
        });
        keys.collect()
    }

    /// What a key means: which sensor, which of its numbers.
    pub fn find(&self, key: &str) -> Option<Result<(usize, usize), Unread>> {
        let key = key.trim_start_matches('/');
        let cuts = key.match_indices('/').map(|(at, _)| (&key[..at], &key[at + 1..]));
        // A message of one number is called as its topic is.
        for (name, property) in cuts.chain([(key, "data")]) {
            // `arm::encoder::elbow` is the joint that `/arm/encoder` says.
            let encoder = name.rsplit_once("::").map(|(topic, _)| topic.replace("::", "/"));
            let is_joint = matches!(property, "position" | "velocity" | "effort");
            let name = encoder.as_deref().filter(|name| is_joint && self.has(name)).unwrap_or(name);
            if let Some((name, kind)) = self.pictures.iter().find(|(n, _)| is_called(n, name)) {
                let what = format!("{kind} `{name}`");
                return Some(Err(Unread::NotComparable(what)));
            }
            let called = self.asked.iter().enumerate().filter(|(_, asked)| asked.is_called(name));
            let found: Vec<(usize, usize)> =
                called.filter_map(|(i, asked)| Some((i, asked.number(name, property)?))).collect();
            match found[..] {
                [] => {}
                [only] => return Some(Ok(only)),
                [..] => {
                    let whole =
                        |(i, _): &(usize, usize)| format!("{}/{property}", self.asked[*i].name);
                    return Some(Err(Unread::Ambiguous(found.iter().map(whole).collect())));
                }
            }
        }
        None
    }

    fn has(&self, name: &str) -> bool {
        self.asked.iter().any(|asked| asked.is_called(name))
    }

    /// Marks a sensor as one that is read.
    pub fn want(&mut self, sensor_idx: usize) {
        self.asked[sensor_idx].is_wanted = true;
    }

    /// Whether one that is read looks at contacts.
    pub fn need_contacts(&self) -> bool {
        self.asked.iter().any(|asked| asked.is_wanted && asked.sensor.needs_contacts())
    }

    /// Whether none is read.
    pub fn are_idle(&self) -> bool {
        self.asked.iter().all(|asked| !asked.is_wanted)
    }

    /// Starts them anew.
    pub fn start(&mut self, model: &Model) {
        for asked in self.asked.iter_mut().filter(|asked| asked.is_wanted) {
            asked.sensor.start(model, &Seed::new(0));
            asked.values.fill(f64::NAN);
            asked.values_before.fill(f64::NAN);
        }
    }

    /// Lets all that are read look.
    pub fn look(&mut self, look: &Look<'_>) {
        for asked in self.asked.iter_mut().filter(|asked| asked.is_wanted) {
            asked.look(look);
        }
    }

    /// The latest reading of a number, or on the way to it from the one before.
    pub fn value(&self, sensor_idx: usize, number: usize, share: Option<f64>) -> f64 {
        let asked = &self.asked[sensor_idx];
        let (before, now) = (asked.values_before[number], asked.values[number]);
        match share {
            Some(share) if !before.is_nan() => before + (now - before) * share,
            _ => now,
        }
    }

    /// The link of a sensor of contacts, by the sensor's name.
    pub fn touching_link(&self, name: &str) -> Option<&str> {
        let feels = |asked: &&Asked| {
            let is_contacts = |name: &str| Kind::from_name(name) == Some(Kind::Contacts);
            asked.sensor.outputs().iter().any(|output| is_contacts(output.message_type))
        };
        let found = self.asked.iter().find(|asked| asked.is_called(name)).filter(feels)?;
        found.name.rsplit_once("::").map(|(link, _)| link)
    }
}

impl Asked {
    fn of(mut sensor: Box<dyn Sensor>, name: String, model: &Model, start: &State) -> Asked {
        sensor.start(model, &Seed::new(0));
        let definition =
            |name: &str| Definition::parse(name, &Kind::from_name(name)?.definition()).ok();
        let definitions: Vec<Option<Definition>> =
            sensor.outputs().iter().map(|output| definition(output.message_type)).collect();
        // What it says where nothing moves: the names of its numbers.
        let rigids: Vec<RigidState> = start.rigids.clone();
        let last_step = Some(LastStep { rigids: &rigids, step: model.world.physics.step });
        let look = Look { model, state: start, last_step, n_threads: 1 };
        let mut keys = Vec::new();
        sensor.sample(&look, &mut |output, cdr| {
            let Some(definition) = &definitions[output] else { return };
            let Ok(value) = definition.decode(&cdr) else { return };
            value.for_each_number(&mut |key, _| {
                keys.push((output, key.to_string()));
                keys.len() < MOST_NUMBERS
            });
        });
        let values = vec![f64::NAN; keys.len()];
        let values_before = values.clone();
        Asked { sensor, name, keys, definitions, is_wanted: false, values, values_before }
    }

    fn is_called(&self, name: &str) -> bool {
        let outputs = self.sensor.outputs().iter();
        is_called(&self.name, name)
            || outputs.map(|output| output.topic.trim_start_matches('/')).any(|topic| topic == name)
    }

    fn number(&self, name: &str, property: &str) -> Option<usize> {
        let outputs = self.sensor.outputs();
        let field = |message_type: &str| -> String {
            let (head, part) = property.split_once('/').unwrap_or((property, ""));
            let short = SHORT.iter().find(|(kind, word, _)| *kind == message_type && *word == head);
            if let Some((_, field)) =
                short.and_then(|(_, _, all)| all.iter().find(|(word, _)| *word == part))
            {
                return (*field).to_string();
            }
            let recorded = RECORDED.iter().find_map(|(kind, before, field)| {
                let part = property.strip_prefix(before).filter(|_| *kind == message_type)?;
                let is_it = part.is_empty() || before.ends_with(['/', 'q']);
                is_it.then(|| format!("{field}{part}"))
            });
            if let Some(field) = recorded {
                return field;
            }
            let counted =
                COUNTED.iter().find(|(kind, word, _)| *kind == message_type && *word == head);
            counted.map_or(property.to_string(), |(_, _, before)| format!("{before}/{part}"))
        };
        let is_it = |(output, key): &(usize, String)| {
            let Some(output) = outputs.get(*output) else { return false };
            let is_topic = output.topic.trim_start_matches('/') == name;
            (is_topic || is_called(&self.name, name)) && *key == field(output.message_type)
        };
        self.keys.iter().position(is_it)
    }

    fn look(&mut self, look: &Look<'_>) {
        let Asked { sensor, keys, definitions, values, values_before, .. } = self;
        values_before.clone_from(values);
        values.fill(f64::NAN);
        sensor.sample(look, &mut |output, cdr| {
            let Some(definition) = &definitions[output] else { return };
            let Ok(value) = definition.decode(&cdr) else { return };
            // Numbers come in one order; where there are fewer or more of them than at the start,
            // as of contacts, they are found by name.
            let mut next = keys.iter().position(|(of, _)| *of == output).unwrap_or(0);
            value.for_each_number(&mut |key, number| {
                let is_it = |(of, known): &(usize, String)| *of == output && known == key;
                let at = match keys.get(next) {
                    Some(known) if is_it(known) => Some(next),
                    _ => keys.iter().position(is_it),
                };
                if let Some(at) = at {
                    values[at] = number;
                    next = at + 1;
                }
                true
            });
        });
    }
}

/// Most numbers of one sensor that can be asked for.
const MOST_NUMBERS: usize = 100_000;

/// Whether a whole name, or its last parts, is meant.
fn is_called(whole: &str, name: &str) -> bool {
    let scoped = name.replace('/', "::");
    whole == scoped || whole.ends_with(&format!("::{scoped}"))
}

/// The model with instruments without faults, standing where a replay starts.
fn quiet(model: &Model, start: &State) -> Model {
    let mut world = World::clone(&model.world);
    still(&mut world.models);
    for joint in &mut world.joints {
        joint.opaque.iter_mut().for_each(quieten);
    }
    let mut quiet = model.clone();
    quiet.world = Arc::new(world);
    for (rigid, now) in quiet.rigids.iter_mut().zip(&start.rigids) {
        rigid.world_from_rigid = now.world_from_rigid;
    }
    quiet
}

/// Readers bound the nesting, so the recursion is shallow.
fn still(models: &mut [headland_world::Model]) {
    for model in models {
        model.links.iter_mut().flat_map(|link| &mut link.opaque).for_each(quieten);
        model.joints.iter_mut().flat_map(|joint| &mut joint.opaque).for_each(quieten);
        model.opaque.iter_mut().for_each(quieten);
        still(&mut model.models);
    }
}

/// Takes noise and dropouts out of an element, by writing blanks over them.
fn quieten(kept: &mut Opaque) {
    let text = headland_sense::declare::element::parsable(&kept.xml);
    let Ok(document) = roxmltree::Document::parse(&text) else { return };
    let is_fault = |node: &roxmltree::Node<'_, '_>| {
        node.is_element() && matches!(node.tag_name().name(), "noise" | "dropout")
    };
    let faults: Vec<_> = document.descendants().filter(is_fault).map(|node| node.range()).collect();
    let mut bytes = text.clone().into_bytes();
    faults.into_iter().for_each(|range| bytes[range].fill(b' '));
    kept.xml = String::from_utf8(bytes).expect("whole elements became blanks");
}
