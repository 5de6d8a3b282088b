//! The magnetic field along a sensor's own axes.
//!
//! It is the same everywhere in a world: `<magnetic_field>`, in tesla along the world's axes.
//!
//! Deliberately absent: iron and currents nearby, which bend it.

use headland_base::{Seed, Vec3};
use headland_record::messages::{Kind as Message, MagneticField, encode};
use headland_sim::{Look, Model};

use crate::axes::{AxisChannels, AxisNoise};
use crate::declare::element::Element;
use crate::declare::surroundings::magnetic_field;
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Since};

/// `<sensor type="magnetometer">`.
pub const KIND: Kind =
    Kind { words: &["magnetometer"], on: On::Link, elements: &["magnetometer"], read };

struct Magnetometer {
    mount: Mount,
    /// In the world's axes \[T\].
    field: Vec3,
    noise: AxisNoise,
    channels: Option<AxisChannels>,
    since: Since,
}

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    Some(Box::new(Magnetometer {
        mount: site.mount.clone(),
        field: magnetic_field(&site.model.world, site.places, element),
        noise: element.child("magnetometer").map(AxisNoise::read).unwrap_or_default(),
        channels: None,
        since: Since::default(),
    }))
}

impl Measure for Magnetometer {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::MagneticField)]
    }

    fn start(&mut self, _: &Model, seed: &Seed) {
        self.channels = Some(self.noise.channels(seed));
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let dt_secs = self.since.secs(look.state.time);
        let turn = self.mount.world_from_sensor(&look.state.rigids).rotation;
        let channels = self.channels.as_mut().expect("started before it is asked");
        let field = channels.value(turn.conjugate() * self.field, dt_secs);
        let message = MagneticField {
            header: self.mount.header(look),
            magnetic_field: field.into(),
            magnetic_field_covariance: self.noise.covariance(),
        };
        say(0, encode(&message));
    }
}
