//! Lidars: one row of beams makes a `LaserScan`, several make an organised `PointCloud2`.
//!
//! All beams are sent at one instant, or, with `<headland:rolling>`, one column after the other
//! over that many seconds from the moment of the look on. The sensor is then where its velocity of
//! now takes it until each beam goes out; everything else stands where it is now.
//!
//! So a message carries the moment of its first beam, as ROS wants it, and that is the moment of
//! the look, at which live tests have a snapshot as recordings do. A real one is known when the
//! turn is over: that is for `<headland:latency>` to say.

use headland_base::{Seed, SimDuration, Transform, Vec3};
use headland_record::messages::{
    Header, Kind as Message, LaserScan, PointCloud2, PointField, encode,
};
use headland_sim::{Look, Model};
use headland_world::Twist;

use super::beam::{Reading, Receiver};
use super::read::{Optics, optics};
use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Sight, Since};
use crate::poses::moved_on;
use crate::scene::{Scene, SharedScene, Show};

/// `<sensor type="lidar">` and its elder names, and a laser profiler, which is a fine one: they
/// meet collisions.
pub const KIND: Kind = Kind {
    words: &["lidar", "ray", "headland:laser_profiler", "laser_profiler"],
    on: On::Link,
    elements: ELEMENTS,
    read: |element, site| lidar(element, site, Show::Collisions),
};

/// `<sensor type="gpu_lidar">` and its elder name: they meet visuals.
pub const DRAWN: Kind = Kind {
    words: &["gpu_lidar", "gpu_ray"],
    on: On::Link,
    elements: ELEMENTS,
    read: |element, site| lidar(element, site, Show::Visuals),
};

pub(super) const ELEMENTS: &[&str] = &["lidar", "ray"];

fn lidar(element: Element<'_>, site: &Site<'_>, unsaid: Show) -> Option<Box<dyn Measure>> {
    let optics = optics(element, unsaid)?;
    let period = site.timing.period;
    if period > SimDuration::ZERO && optics.rolling_secs > period.secs() {
        let (turn, period) = (optics.rolling_secs, period.secs());
        element.error(format!("a turn takes {turn} s, and the next begins after {period} s"));
        return None;
    }
    Some(Box::new(Lidar {
        mount: site.mount.clone(),
        scene: site.scene.clone(),
        scan_secs: period.secs(),
        optics,
        receiver: None,
        since: Since::default(),
        readings: Vec::new(),
    }))
}

struct Lidar {
    mount: Mount,
    scene: SharedScene,
    optics: Optics,
    scan_secs: f64,
    receiver: Option<Receiver>,
    since: Since,
    /// Of the look at hand: scratch.
    readings: Vec<Reading>,
}

impl Measure for Lidar {
    fn outputs(&self) -> Vec<(String, Message)> {
        let is_flat = self.optics.fan.vertical.n == 1;
        vec![(String::new(), if is_flat { Message::LaserScan } else { Message::PointCloud2 })]
    }

    fn start(&mut self, _model: &Model, seed: &Seed) {
        self.receiver = Some(Receiver::new(self.optics.beam, seed));
    }

    fn sight(&self) -> Option<Sight<'_>> {
        let Optics { fan, beam, show, .. } = &self.optics;
        Some(Sight::Beams { mount: &self.mount, directions: fan.directions(), beam, show: *show })
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let now = look.state.time;
        let dt_secs = self.since.secs(now);
        let pose = self.mount.world_from_sensor(&look.state.rigids);
        let sweep = Sweeping {
            now: pose,
            twist: self.mount.twist(&look.state.rigids),
            rolling_secs: self.optics.rolling_secs,
            n_columns: self.optics.fan.horizontal.n,
        };
        let shared = self.scene.clone();
        shared.see(self.optics.show, look, |scene| self.scan(scene, &sweep, dt_secs));
        let header = self.mount.header(look);
        let message = match self.optics.fan.vertical.n {
            1 => encode(&self.laser_scan(header, &sweep)),
            _ => encode(&self.cloud(header, &sweep)),
        };
        say(0, message);
    }
}

/// Where the sensor is as each column of beams goes out.
struct Sweeping {
    now: Transform,
    twist: Twist,
    rolling_secs: f64,
    n_columns: usize,
}

impl Sweeping {
    /// Between one column and the next \[s\].
    fn increment(&self) -> f64 {
        self.rolling_secs / self.n_columns as f64
    }

    fn pose(&self, column: usize) -> Transform {
        if self.rolling_secs == 0.0 {
            return self.now;
        }
        moved_on(self.now, self.twist, self.increment() * column as f64)
    }
}

impl Lidar {
    fn scan(&mut self, scene: &Scene, sweep: &Sweeping, dt_secs: f64) {
        let Optics { fan, beam, .. } = &self.optics;
        let receiver = self.receiver.as_mut().expect("started before it is asked");
        let own_link = self.mount.body_idx;
        self.readings.clear();
        let (mut dt_secs, mut pose) = (dt_secs, sweep.now);
        for (i, direction) in fan.directions().iter().enumerate() {
            if sweep.rolling_secs > 0.0 {
                pose = sweep.pose(i % sweep.n_columns);
            }
            let echo = beam.echo(scene, pose.translation, pose.vector(*direction), own_link);
            // Time passes between looks; the beams of one are of one moment to the bias.
            self.readings.push(receiver.read(echo, std::mem::take(&mut dt_secs)));
        }
    }

    fn laser_scan(&self, header: Header, sweep: &Sweeping) -> LaserScan {
        let (fan, beam) = (&self.optics.fan.horizontal, &self.optics.beam);
        LaserScan {
            header,
            angle_min: fan.angle(0) as f32,
            angle_max: fan.angle(fan.n - 1) as f32,
            angle_increment: fan.increment() as f32,
            time_increment: sweep.increment() as f32,
            scan_time: self.scan_secs as f32,
            range_min: beam.min as f32,
            range_max: beam.max as f32,
            ranges: self.readings.iter().map(|reading| reading.range() as f32).collect(),
            intensities: self.readings.iter().map(|reading| reading.intensity() as f32).collect(),
        }
    }

    /// Rows from below, as the fan has them. What is no point is not a number.
    fn cloud(&self, header: Header, sweep: &Sweeping) -> PointCloud2 {
        const F32: u8 = 7;
        const U16: u8 = 4;
        let fan = &self.optics.fan;
        let (width, height) = (fan.horizontal.n as u32, fan.vertical.n as u32);
        let is_rolling = sweep.rolling_secs > 0.0;
        let mut fields: Vec<PointField> = vec![
            field("x", 0, F32),
            field("y", 4, F32),
            field("z", 8, F32),
            field("intensity", 12, F32),
            field("ring", 16, U16),
        ];
        let mut point_step = 20;
        if is_rolling {
            fields.push(field("time", 20, F32));
            point_step = 24;
        }
        let mut data = Vec::with_capacity(self.readings.len() * point_step as usize);
        for (i, (reading, direction)) in self.readings.iter().zip(fan.directions()).enumerate() {
            let point = match reading {
                Reading::At { distance, .. } => *direction * *distance,
                _ => Vec3::splat(f64::NAN),
            };
            let [x, y, z] = point.to_array().map(|x| x as f32);
            let numbers = [x, y, z, reading.intensity() as f32];
            data.extend(numbers.into_iter().flat_map(f32::to_le_bytes));
            let (ring, column) = (i / fan.horizontal.n, i % fan.horizontal.n);
            data.extend(u32::from(ring as u16).to_le_bytes());
            if is_rolling {
                data.extend(((sweep.increment() * column as f64) as f32).to_le_bytes());
            }
        }
        PointCloud2 {
            header,
            height,
            width,
            fields,
            is_bigendian: false,
            point_step,
            row_step: point_step * width,
            data,
            is_dense: self.readings.iter().all(|reading| matches!(reading, Reading::At { .. })),
        }
    }
}

fn field(name: &str, offset: u32, datatype: u8) -> PointField {
    PointField { name: name.to_string(), offset, datatype, count: 1 }
}
