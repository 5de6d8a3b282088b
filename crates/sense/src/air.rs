//! Height and pressure: altimeters and barometers.
//!
//! An altimeter says how far it is above where it started, and how fast it rises. A barometer
//! says the pressure of air at rest at its height, where the temperature falls evenly with the
//! geopotential height: `p = p₀·(T/T₀)^(−g₀·M/(R·L))`, the standard atmosphere up to 11 km.
//! `<reference_altitude>` is added to its height; the elevation of `<spherical_coordinates>` is
//! not.

use headland_base::Seed;
use headland_base::maths::{exp, pow};
use headland_record::messages::{Altimeter, FluidPressure, Kind as Message, encode};
use headland_sim::{Look, Model};

use crate::declare::element::Element;
use crate::declare::surroundings::{Air, air};
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Since};
use crate::noise::{Channel, Noise};

/// `<sensor type="altimeter">`.
pub const ALTIMETER: Kind =
    Kind { words: &["altimeter"], on: On::Link, elements: &["altimeter"], read: read_altimeter };

/// `<sensor type="air_pressure">`.
pub const BAROMETER: Kind = Kind {
    words: &["air_pressure"],
    on: On::Link,
    elements: &["air_pressure"],
    read: read_barometer,
};

struct Height {
    mount: Mount,
    /// In the world \[m\].
    reference: f64,
    noise: [Noise; 2],
    channels: Option<[Channel; 2]>,
    since: Since,
}

struct Barometer {
    mount: Mount,
    air: Air,
    /// Added to the height in the world \[m\].
    raised: f64,
    noise: Noise,
    channel: Option<Channel>,
    since: Since,
}

fn read_altimeter(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let settings = element.child("altimeter");
    if let Some(settings) = settings {
        settings.only(&["vertical_position", "vertical_velocity"]);
    }
    let noise = ["vertical_position", "vertical_velocity"]
        .map(|what| settings.map_or(Noise::default(), |it| it.noise_at(&[what])));
    let (mount, since) = (site.mount.clone(), Since::default());
    Some(Box::new(Height { mount, reference: 0.0, noise, channels: None, since }))
}

fn read_barometer(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let settings = element.child("air_pressure");
    if let Some(settings) = settings {
        settings.only(&["pressure", "reference_altitude"]);
    }
    Some(Box::new(Barometer {
        mount: site.mount.clone(),
        air: air(&site.model.world, site.places, element),
        raised: settings.map_or(0.0, |it| it.number("reference_altitude", 0.0)),
        noise: settings.map_or(Noise::default(), |it| it.noise_at(&["pressure"])),
        channel: None,
        since: Since::default(),
    }))
}

/// Of still air at a height above its reference \[Pa\].
fn pressure_at(air: &Air, height: f64) -> f64 {
    const EARTH_RADIUS: f64 = 6_356_766.0; // of the standard atmosphere, for geopotential heights
    const G_M_PER_R: f64 = 9.806_65 * 0.028_964_4 / 8.314_32; // K/m
    let height = EARTH_RADIUS * height / (EARTH_RADIUS + height);
    if air.gradient == 0.0 {
        return air.pressure * exp(-G_M_PER_R * height / air.temperature);
    }
    let warmth = (1.0 + air.gradient * height / air.temperature).max(0.0);
    air.pressure * pow(warmth, -G_M_PER_R / air.gradient)
}

impl Measure for Height {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::Altimeter)]
    }

    fn start(&mut self, model: &Model, seed: &Seed) {
        self.reference = self.mount.world_from_sensor_at_start(model).translation.z;
        let [position, velocity] = &self.noise;
        let position = position.channel(&seed.child("position"));
        self.channels = Some([position, velocity.channel(&seed.child("velocity"))]);
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let dt_secs = self.since.secs(look.state.time);
        let rigids = &look.state.rigids;
        let height = self.mount.world_from_sensor(rigids).translation.z - self.reference;
        let [position, velocity] = self.channels.as_mut().expect("started before it is asked");
        let message = Altimeter {
            header: self.mount.header(look),
            vertical_position: position.value(height, dt_secs),
            vertical_velocity: velocity.value(self.mount.twist(rigids).linear.z, dt_secs),
            vertical_reference: self.reference,
        };
        say(0, encode(&message));
    }
}

impl Measure for Barometer {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::FluidPressure)]
    }

    fn start(&mut self, _: &Model, seed: &Seed) {
        self.channel = Some(self.noise.channel(seed));
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let dt_secs = self.since.secs(look.state.time);
        let height = self.mount.world_from_sensor(&look.state.rigids).translation.z + self.raised;
        let channel = self.channel.as_mut().expect("started before it is asked");
        let message = FluidPressure {
            header: self.mount.header(look),
            fluid_pressure: channel.value(pressure_at(&self.air, height), dt_secs),
            variance: self.noise.variance(),
        };
        say(0, encode(&message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of the standard atmosphere of 1976, at geometric heights.
    #[test]
    fn pressures_are_those_of_the_tables() {
        let air = Air { temperature: 288.15, gradient: -0.0065, pressure: 101_325.0 };
        for (height, wanted) in
            [(0.0, 101_325.0), (1000.0, 89_876.0), (5000.0, 54_048.0), (10_000.0, 26_500.0)]
        {
            let pressure = pressure_at(&air, height);
            assert!((pressure - wanted).abs() < 1.0, "{height} m: {pressure} Pa");
        }
        // With nearly no gradient it is as with none.
        let [even, nearly] = [0.0, -1e-9].map(|gradient| Air { gradient, ..air });
        assert!((pressure_at(&even, 3000.0) - pressure_at(&nearly, 3000.0)).abs() < 0.01);
        assert_eq!(pressure_at(&air, 1e5), 0.0);
    }
}
