//! Odometry: where a robot thinks it is, counted from where it started.
//!
//! ```xml
//! <sensor name="odometry" type="headland:odometry"><update_rate>50</update_rate>
//!   <headland:odometry>
//!     <linear><x><noise type="gaussian"><stddev>0.02</stddev></noise></x></linear>
//!     <angular><z><noise type="gaussian"><bias_stddev>0.01</bias_stddev></noise></z></angular>
//!   </headland:odometry>
//! </sensor>
//! ```
//!
//! Without noise it is exact: the pose of the sensor from that which it starts with, and its
//! twist along its own axes. With noise it is dead reckoning: what moved since the last message
//! is read with the noise of velocities, and what was read adds up, errors included.
//!
//! Deliberately absent: wheels. What they slip, an engine tells, and encoders count.

use headland_base::maths::quat_from_rotation_vector;
use headland_base::{Seed, Transform};
use headland_record::messages::{Header, Kind as Message, Odometry, encode};
use headland_sim::{Look, Model};

use crate::axes::{AxisChannels, AxisNoise};
use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Since};

/// `<sensor type="headland:odometry">`.
pub const KIND: Kind =
    Kind { words: &["headland:odometry"], on: On::Link, elements: &["headland:odometry"], read };

struct Reckoner {
    mount: Mount,
    /// What its poses are told in: `robot/odom`.
    frame_id: String,
    noise: [AxisNoise; 2],
    channels: Option<[AxisChannels; 2]>,
    world_from_start: Transform,
    /// The true pose and the reckoned one of the last message.
    before: Option<[Transform; 2]>,
    since: Since,
}

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let settings = element.child("headland:odometry");
    if let Some(settings) = settings {
        settings.only(&["angular", "linear"]);
    }
    let noise = ["linear", "angular"].map(|what| {
        settings.and_then(|settings| settings.child(what)).map(AxisNoise::read).unwrap_or_default()
    });
    let robot = &site.model.bodies[site.mount.body_idx].robot;
    Some(Box::new(Reckoner {
        mount: site.mount.clone(),
        frame_id: format!("{robot}/odom"),
        noise,
        channels: None,
        world_from_start: Transform::IDENTITY,
        before: None,
        since: Since::default(),
    }))
}

impl Reckoner {
    /// The reckoned pose, from the true one.
    fn reckon(&mut self, truth: Transform, dt_secs: f64) -> Transform {
        let Some([true_before, reckoned]) = self.before else { return truth };
        if self.noise == [AxisNoise::default(); 2] {
            return truth;
        }
        let moved = true_before.inverse() * truth;
        let [linear, angular] = self.channels.as_mut().expect("started before it is asked");
        let zero = headland_base::Vec3::ZERO;
        let drift = linear.value(zero, dt_secs) * dt_secs;
        let turn = quat_from_rotation_vector(angular.value(zero, dt_secs) * dt_secs);
        reckoned * Transform::new(moved.rotation * turn, moved.translation + drift)
    }
}

impl Measure for Reckoner {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::Odometry)]
    }

    fn start(&mut self, model: &Model, seed: &Seed) {
        self.world_from_start = self.mount.world_from_sensor_at_start(model);
        let [linear, angular] = &self.noise;
        let linear = linear.channels(&seed.child("linear"));
        self.channels = Some([linear, angular.channels(&seed.child("angular"))]);
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let dt_secs = self.since.secs(look.state.time);
        let rigids = &look.state.rigids;
        let world_from_sensor = self.mount.world_from_sensor(rigids);
        let truth = self.world_from_start.inverse() * world_from_sensor;
        let reckoned = self.reckon(truth, dt_secs);
        let twist = self.mount.twist(rigids);
        let sensor_from_world = world_from_sensor.rotation.conjugate();
        let mut message = Odometry {
            header: Header::new(look.state.time, &self.frame_id),
            child_frame_id: self.mount.frame_id.clone(),
            ..Odometry::default()
        };
        message.pose.pose = (&reckoned).into();
        // What was read of the velocities: the mean over the time since the last message.
        let (mut linear, mut angular) =
            (sensor_from_world * twist.linear, sensor_from_world * twist.angular);
        if let (Some([true_before, before]), true) = (self.before, dt_secs > 0.0) {
            let errors = [true_before.inverse() * truth, before.inverse() * reckoned];
            let [true_move, read_move] = errors;
            linear += (read_move.translation - true_move.translation) / dt_secs;
            let turn = true_move.rotation.conjugate() * read_move.rotation;
            angular += headland_base::maths::rotation_vector_from_quat(turn) / dt_secs;
        }
        message.twist.twist.linear = linear.into();
        message.twist.twist.angular = angular.into();
        let variances = self.noise.map(|noise| noise.variances()).concat();
        for (i, variance) in variances.into_iter().enumerate() {
            message.twist.covariance[i][i] = variance;
        }
        self.before = Some([truth, reckoned]);
        say(0, encode(&message));
    }
}
