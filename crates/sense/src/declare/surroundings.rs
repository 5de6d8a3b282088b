//! What a World says of where on the Earth it is, of its magnetic field and of its air.

use headland_base::maths::{FRAC_PI_2, PI, quat_from_rpy};
use headland_base::{Diagnostic, Quat, Vec3};
use headland_world::{Places, World};
use roxmltree::Document;

use super::element::{Element, Piece, parsable};
use crate::geodesy::Geodetic;

/// Where on the Earth a World is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnEarth {
    /// The World's origin.
    pub origin: Geodetic,
    /// Turns the World's axes to east, north and up.
    pub enu_from_world: Quat,
}

impl OnEarth {
    /// Where a point of the World is on the Earth.
    pub fn geodetic(&self, point_in_world: Vec3) -> Geodetic {
        let enu = self.enu_from_world * point_in_world;
        Geodetic::from_ecef(self.origin.to_ecef() + self.origin.ecef_from_enu() * enu)
    }
}

/// How the air of a World is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// At height zero \[K\].
    pub temperature: f64,
    /// Upwards \[K/m\].
    pub gradient: f64,
    /// At height zero \[Pa\].
    pub pressure: f64,
}

/// What the first `<spherical_coordinates>` says; none where there is none. What is wrong with it
/// is told to `element`, which is of the sensor that asks.
pub fn on_earth(world: &World, places: &Places, element: Element<'_>) -> Option<OnEarth> {
    read(world, places, "spherical_coordinates", element, |it| {
        it.only(&[
            "elevation",
            "heading_deg",
            "latitude_deg",
            "longitude_deg",
            "surface_model",
            "world_frame_orientation",
        ]);
        it.word("surface_model", &[("EARTH_WGS84", ())]);
        // The World's x and y, turned by the heading, are these two.
        let enu_from_named = it.word("world_frame_orientation", &enu_from_named());
        let degrees = |name, most: f64| {
            it.number_that(name, 0.0, &format!("within ±{most}"), |x| x.abs() <= most)
        };
        let (latitude, longitude) =
            (degrees("latitude_deg", 90.0), degrees("longitude_deg", 360.0));
        let height = it.number("elevation", 0.0);
        // A compass counts from north to east.
        let heading = it.number("heading_deg", 0.0) * PI / 180.0;
        OnEarth {
            origin: Geodetic::from_degrees(latitude, longitude, height),
            enu_from_world: enu_from_named * quat_from_rpy(0.0, 0.0, -heading),
        }
    })
}

/// The names of axes on the Earth, and how those lie in east, north, up.
pub fn enu_from_named() -> [(&'static str, Quat); 3] {
    [
        ("ENU", Quat::IDENTITY),
        ("NED", quat_from_rpy(PI, 0.0, FRAC_PI_2)),
        ("NWU", quat_from_rpy(0.0, 0.0, FRAC_PI_2)),
    ]
}

/// The magnetic field in the World's axes \[T\]; SDF's default where nothing is said.
pub fn magnetic_field(world: &World, places: &Places, element: Element<'_>) -> Vec3 {
    let said = read(world, places, "magnetic_field", element, |it| it.values::<3>());
    said.flatten().map_or(Vec3::new(5.5645e-6, 22.8758e-6, -42.3884e-6), Vec3::from_array)
}

/// The air; that of the standard atmosphere where nothing is said.
pub fn air(world: &World, places: &Places, element: Element<'_>) -> Air {
    let standard = Air { temperature: 288.15, gradient: -0.0065, pressure: 101_325.0 };
    let said = read(world, places, "atmosphere", element, |it| {
        it.only(&["pressure", "temperature", "temperature_gradient"]);
        let positive = |value: f64| value > 0.0;
        let more = "more than zero";
        Air {
            temperature: it.number_that("temperature", standard.temperature, more, positive),
            gradient: it.number("temperature_gradient", standard.gradient),
            pressure: it.number_that("pressure", standard.pressure, more, positive),
        }
    });
    said.unwrap_or(standard)
}

fn read<T>(
    world: &World,
    places: &Places,
    kind: &str,
    sensor: Element<'_>,
    then: impl FnOnce(Element<'_>) -> T,
) -> Option<T> {
    let kept = world.opaque.iter().find(|kept| kept.kind == kind && kept.format == "sdf")?;
    let text = parsable(&kept.xml);
    let document = match Document::parse(&text) {
        Ok(document) => document,
        Err(error) => {
            sensor.error(format!("<{kind}> of the world: {error}"));
            return None;
        }
    };
    let place = places.find(&format!("world#{kind}"));
    let whose = format!("<{kind}> of the world");
    let piece = Piece::new("bad-sensor", whose, kept, &text, &document, place.as_ref());
    let out = then(piece.root());
    let findings: Vec<Diagnostic> = piece.into_findings();
    sensor.add(findings);
    Some(out)
}
