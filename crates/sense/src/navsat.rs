//! Satellite navigation: latitude, longitude and height of the antenna, and its velocity.
//!
//! Exact on the WGS 84 ellipsoid, from `<spherical_coordinates>` of the world. Noise of positions
//! is in metres, as SDF says (Gazebo adds it to degrees), along east, north and up; that of
//! velocities in metres per second. The velocity is said on `<topic>/velocity`, along east, north
//! and up.
//!
//! Deliberately absent: satellites, multipath and the geoid; heights are above the ellipsoid.

use headland_base::maths::PI;
use headland_base::{Quat, Seed, Vec3};
use headland_record::messages::{
    Header, Kind as Message, NavSatFix, NavSatStatus, Twist, TwistStamped, encode,
};
use headland_sim::{Look, Model};

use crate::axes::{AxisChannels, AxisNoise};
use crate::declare::element::Element;
use crate::declare::surroundings::{OnEarth, on_earth};
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Since};
use crate::noise::Noise;

/// `<sensor type="navsat">`, or `gps` as it was called before.
pub const KIND: Kind =
    Kind { words: &["navsat", "gps"], on: On::Link, elements: &["navsat", "gps"], read };

struct NavSat {
    mount: Mount,
    earth: OnEarth,
    noise: [AxisNoise; 2],
    channels: Option<[AxisChannels; 2]>,
    since: Since,
}

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let Some(earth) = on_earth(&site.model.world, site.places, element) else {
        let help = "put <spherical_coordinates> into the world";
        element.fault("nothing says where on the Earth the world is", Some(help.to_string()));
        return None;
    };
    let settings = element.child("navsat").or_else(|| element.child("gps"));
    let noise = ["position_sensing", "velocity_sensing"].map(|sensing| {
        let of = |way: &str| settings.map_or(Noise::default(), |it| it.noise_at(&[sensing, way]));
        AxisNoise::level(of("horizontal"), of("vertical"))
    });
    if let Some(settings) = settings {
        settings.only(&["position_sensing", "velocity_sensing"]);
        for sensing in ["position_sensing", "velocity_sensing"] {
            if let Some(sensing) = settings.child(sensing) {
                sensing.only(&["horizontal", "vertical"]);
            }
        }
    }
    let (mount, since) = (site.mount.clone(), Since::default());
    Some(Box::new(NavSat { mount, earth, noise, channels: None, since }))
}

impl Measure for NavSat {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::NavSatFix), ("/velocity".to_string(), Message::TwistStamped)]
    }

    fn start(&mut self, _: &Model, seed: &Seed) {
        let [position, velocity] = &self.noise;
        let position = position.channels(&seed.child("position"));
        self.channels = Some([position, velocity.channels(&seed.child("velocity"))]);
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let dt_secs = self.since.secs(look.state.time);
        let rigids = &look.state.rigids;
        let enu_from_world: Quat = self.earth.enu_from_world;
        let [position, velocity] = self.channels.as_mut().expect("started before it is asked");
        let at = self.mount.world_from_sensor(rigids).translation;
        let off = position.value(Vec3::ZERO, dt_secs);
        let fix = self.earth.geodetic(at + enu_from_world.conjugate() * off);
        let is_known = self.noise[0].variances() != [0.0; 3];
        let position_covariance_type =
            if is_known { NavSatFix::DIAGONAL_KNOWN } else { NavSatFix::UNKNOWN };
        let to_degrees = 180.0 / PI;
        let message = NavSatFix {
            header: self.mount.header(look),
            status: NavSatStatus { status: NavSatStatus::FIX, service: NavSatStatus::GPS },
            latitude: fix.latitude * to_degrees,
            longitude: fix.longitude * to_degrees,
            altitude: fix.height,
            position_covariance: self.noise[0].covariance(),
            position_covariance_type,
        };
        say(0, encode(&message));
        let linear = enu_from_world * self.mount.twist(rigids).linear;
        let linear = velocity.value(linear, dt_secs).into();
        let twist = Twist { linear, ..Twist::default() };
        say(1, encode(&TwistStamped { header: Header::new(look.state.time, "enu"), twist }));
    }
}
