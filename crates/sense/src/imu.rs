//! Inertial measurement: how fast it turns, and what it feels along its own axes.
//!
//! An accelerometer feels everything but gravity: `f = R⁻¹·(a − g)`, with `a` the acceleration of
//! the sensor's own point, off the centre of its body or not. At rest it reads +9.8 upwards, in
//! free fall nothing. The acceleration is the mean over the last step, `(v⁺ − v⁻)/h`, so that what
//! is read adds up to the velocities of the run to the last bits; before the first step there
//! is none, and nothing is said.
//!
//! Orientation is that of the sensor from a reference: the orientation it starts with (`CUSTOM`
//! without more, which is SDF's default), one that is given, or `ENU`, `NED` or `NWU`, where the
//! world's axes are east, north and up unless `<spherical_coordinates>` says otherwise.
//!
//! Deliberately absent: cross-axis sensitivity, scale errors and temperature.

use headland_base::maths::quat_from_rpy;
use headland_base::{Quat, Seed};
use headland_record::messages::{self, Kind as Message, encode};
use headland_sim::{Look, Model};

use crate::axes::{AxisChannels, AxisNoise};
use crate::declare::element::Element;
use crate::declare::surroundings::{enu_from_named, on_earth};
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Since};

/// `<sensor type="imu">`.
pub const KIND: Kind = Kind { words: &["imu"], on: On::Link, elements: &["imu"], read };

/// What orientations are told from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reference {
    /// That which it starts with.
    Start,
    /// One that is known: `world_from_reference`.
    Known(Quat),
    /// Nothing is told.
    None,
}

struct Imu {
    mount: Mount,
    reference: Reference,
    /// `world_from_reference`, once it is known.
    world_from_reference: Quat,
    gyro: AxisNoise,
    accelerometer: AxisNoise,
    channels: Option<[AxisChannels; 2]>,
    since: Since,
}

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let imu = element.child("imu");
    let mut reference = Reference::Start;
    let [mut gyro, mut accelerometer] = [AxisNoise::default(); 2];
    if let Some(imu) = imu {
        imu.only(&[
            "angular_velocity",
            "enable_orientation",
            "linear_acceleration",
            "noise",
            "orientation_reference_frame",
        ]);
        if let Some(frame) = imu.child("orientation_reference_frame") {
            let earth = on_earth(&site.model.world, site.places, element);
            let world_from_enu = earth.map(|earth| earth.enu_from_world.conjugate());
            reference = read_reference(frame, world_from_enu.unwrap_or_default());
        }
        if !imu.flag("enable_orientation", true) {
            reference = Reference::None;
        }
        [gyro, accelerometer] = old_noise(imu);
        gyro = imu.child("angular_velocity").map_or(gyro, AxisNoise::read);
        accelerometer = imu.child("linear_acceleration").map_or(accelerometer, AxisNoise::read);
    }
    Some(Box::new(Imu {
        mount: site.mount.clone(),
        reference,
        world_from_reference: Quat::IDENTITY,
        gyro,
        accelerometer,
        channels: None,
        since: Since::default(),
    }))
}

/// SDF up to 1.4: one `<noise>` with `<rate>` and `<accel>` for all axes.
fn old_noise(imu: Element<'_>) -> [AxisNoise; 2] {
    let Some(noise) = imu.child("noise") else { return Default::default() };
    let is_none = noise.text_in("type").or(noise.attribute("type")) == Some("none");
    let of = |name: &str| {
        let number = |inner: &str| noise.child(name).map_or(0.0, |n| n.number(inner, 0.0));
        let size = |inner: &str| {
            let is_good = |value: f64| value >= 0.0;
            noise.child(name).map_or(0.0, |n| n.number_that(inner, 0.0, "zero or more", is_good))
        };
        let all = crate::noise::Noise {
            mean: number("mean"),
            stddev: size("stddev"),
            bias_mean: number("bias_mean"),
            bias_stddev: size("bias_stddev"),
            ..crate::noise::Noise::default()
        };
        AxisNoise::all(if is_none { crate::noise::Noise::default() } else { all })
    };
    [of("rate"), of("accel")]
}

fn read_reference(frame: Element<'_>, world_from_enu: Quat) -> Reference {
    frame.only(&["custom_rpy", "localization"]);
    let mut known = vec![("CUSTOM", None)];
    known.extend(enu_from_named().map(|(name, turn)| (name, Some(turn))));
    match frame.word("localization", &known) {
        Some(enu_from_reference) => Reference::Known(world_from_enu * enu_from_reference),
        None => match frame.child("custom_rpy") {
            Some(rpy) => {
                let parent = rpy.attribute("parent_frame").filter(|parent| *parent != "world");
                if let Some(parent) = parent {
                    rpy.error(format!("a parent_frame `{parent:.40}` is not read, only the world"));
                }
                let [roll, pitch, yaw] = rpy.values::<3>().unwrap_or_default();
                Reference::Known(quat_from_rpy(roll, pitch, yaw))
            }
            None => Reference::Start,
        },
    }
}

impl Measure for Imu {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::Imu)]
    }

    fn start(&mut self, model: &Model, seed: &Seed) {
        self.world_from_reference = match self.reference {
            Reference::Start => self.mount.world_from_sensor_at_start(model).rotation,
            Reference::Known(known) => known,
            Reference::None => Quat::IDENTITY,
        };
        let gyro = self.gyro.channels(&seed.child("angular_velocity"));
        let accelerometer = self.accelerometer.channels(&seed.child("linear_acceleration"));
        self.channels = Some([gyro, accelerometer]);
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let Some(acceleration) = self.mount.acceleration(look) else { return };
        let dt_secs = self.since.secs(look.state.time);
        let rigids = &look.state.rigids;
        let world_from_sensor = self.mount.world_from_sensor(rigids).rotation;
        let sensor_from_world = world_from_sensor.conjugate();
        let turning = sensor_from_world * self.mount.twist(rigids).angular;
        let felt = sensor_from_world * (acceleration - look.model.world.gravity);
        let [gyro, accelerometer] = self.channels.as_mut().expect("started before it is asked");
        let (turning, felt) = (gyro.value(turning, dt_secs), accelerometer.value(felt, dt_secs));
        let mut orientation_covariance = [0.0; 9];
        let orientation = match self.reference {
            Reference::None => {
                orientation_covariance[0] = -1.0; // ROS: there is none
                Quat::IDENTITY
            }
            _ => self.world_from_reference.conjugate() * world_from_sensor,
        };
        let message = messages::Imu {
            header: self.mount.header(look),
            orientation: orientation.into(),
            orientation_covariance,
            angular_velocity: turning.into(),
            angular_velocity_covariance: self.gyro.covariance(),
            linear_acceleration: felt.into(),
            linear_acceleration_covariance: self.accelerometer.covariance(),
        };
        say(0, encode(&message));
    }
}
