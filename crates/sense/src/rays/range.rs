//! Range finders: the nearest thing in a cone or a fan, as one `sensor_msgs/Range`.

use headland_base::maths::{PI, TAU, atan, cos, sin, sqrt};
use headland_base::{Seed, Vec3};
use headland_record::messages::{self, Kind as Message, encode};
use headland_sim::{Look, Model};

use super::beam::{Beam, Echo, Reading, Receiver};
use super::lidar::ELEMENTS;
use super::read::{miss, optics, sees};
use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Sight, Since};
use crate::scene::{Scene, SharedScene, Show};

/// A proximity sensor or a range finder: the nearest echo of its beams.
pub const PROXIMITY: Kind = Kind {
    words: &["headland:proximity", "headland:range", "proximity", "range"],
    on: On::Link,
    elements: ELEMENTS,
    read: proximity,
};

/// `<sensor type="sonar">`: a cone of sound, or all around.
pub const SONAR: Kind = Kind { words: &["sonar"], on: On::Link, elements: &["sonar"], read: sonar };

const ULTRASOUND: u8 = 0;
const INFRARED: u8 = 1;

/// What all of these have.
pub(super) struct Finder {
    mount: Mount,
    scene: SharedScene,
    show: Show,
    directions: Vec<Vec3>,
    beam: Beam,
    field_of_view: f64,
    radiation_type: u8,
    receiver: Option<Receiver>,
    since: Since,
}

/// Reads a finder with the `<lidar>` or `<ray>` of others.
pub(super) fn finder(element: Element<'_>, site: &Site<'_>) -> Option<Finder> {
    let optics = optics(element, Show::Collisions)?;
    let [wide, high] = [optics.fan.horizontal, optics.fan.vertical].map(|s| s.last - s.first);
    Some(Finder {
        mount: site.mount.clone(),
        scene: site.scene.clone(),
        show: optics.show,
        directions: optics.fan.directions().to_vec(),
        beam: optics.beam,
        field_of_view: wide.max(high).max(optics.beam.divergence),
        radiation_type: INFRARED,
        receiver: None,
        since: Since::default(),
    })
}

fn proximity(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    Some(Box::new(finder(element, site)?))
}

/// Between two rings of directions, and nearly between neighbours on one \[rad\]. Nothing that is
/// half as wide again passes between them.
const RING: f64 = PI / 180.0;

/// Rings of a cone at most: beyond 24° they are further apart.
const MOST_RINGS: usize = 24;

/// Rings of directions within a cone about x: 1, 6, 12, 18 and so on.
fn cone(half_angle: f64) -> Vec<Vec3> {
    let n_rings = ((half_angle / RING).ceil() as usize).clamp(1, MOST_RINGS);
    let ring = |r: usize| {
        let aside = half_angle * r as f64 / n_rings as f64;
        (0..(6 * r).max(1)).map(move |i| {
            let turn = TAU * i as f64 / (6 * r).max(1) as f64;
            Vec3::new(cos(aside), sin(aside) * cos(turn), sin(aside) * sin(turn))
        })
    };
    (0..=n_rings).flat_map(ring).collect()
}

/// Directions all around, evenly: a spiral by the golden angle. Of 4000 each has a 4000th of the
/// sphere, which is 3.2° wide.
fn all_around() -> Vec<Vec3> {
    let n = 4000;
    let golden = PI * (3.0 - sqrt(5.0));
    let one = |i: usize| {
        let z = 1.0 - (2 * i + 1) as f64 / n as f64;
        let flat = sqrt(1.0 - z * z);
        let turn = golden * i as f64;
        Vec3::new(flat * cos(turn), flat * sin(turn), z)
    };
    (0..n).map(one).collect()
}

fn sonar(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let Some(sonar) = element.child("sonar") else {
        element.error("there is no <sonar> in it");
        return None;
    };
    sonar.only(&["geometry", "min", "max", "radius", "noise", "headland:miss", "headland:sees"]);
    let (min, max) = (sonar.number("min", 0.0), sonar.number("max", 1.0));
    let radius = sonar.number("radius", 0.5);
    if !(min >= 0.0 && max > min && radius >= 0.0) {
        let what = format!("it hears from {min} m to {max} m at a radius of {radius} m");
        sonar.fault(what, Some("0 ≤ min < max, and a radius of zero or more".to_string()));
        return None;
    }
    let is_cone = sonar.word("geometry", &[("cone", true), ("sphere", false)]);
    // Sound comes straight on as far as max; its axis is that of the cone, which Gazebo lays
    // along −z and everybody else along x: x.
    let half_angle = atan(radius / max);
    let noise = sonar.noise();
    Some(Box::new(Finder {
        mount: site.mount.clone(),
        scene: site.scene.clone(),
        show: sees(sonar, Show::Collisions),
        directions: if is_cone { cone(half_angle) } else { all_around() },
        beam: Beam { min, max, resolution: 0.0, divergence: 0.0, miss: miss(sonar), noise },
        field_of_view: if is_cone { 2.0 * half_angle } else { TAU },
        radiation_type: ULTRASOUND,
        receiver: None,
        since: Since::default(),
    }))
}

impl Finder {
    pub(super) fn switch_on(&mut self, seed: &Seed) {
        self.receiver = Some(Receiver::new(self.beam, seed));
    }

    /// The nearest echo of all beams, read as one.
    pub(super) fn find(&mut self, look: &Look<'_>) -> Reading {
        let dt_secs = self.since.secs(look.state.time);
        let pose = self.mount.world_from_sensor(&look.state.rigids);
        let echo = |scene: &Scene| {
            let one = |direction: &Vec3| {
                let direction = pose.vector(*direction);
                self.beam.echo(scene, pose.translation, direction, self.mount.body_idx)
            };
            let nearer = |a: Echo, b: Echo| if b.distance < a.distance { b } else { a };
            self.directions.iter().filter_map(one).reduce(nearer)
        };
        let echo = self.scene.see(self.show, look, echo);
        self.receiver.as_mut().expect("started before it is asked").read(echo, dt_secs)
    }

    pub(super) fn message(&self, look: &Look<'_>, reading: Reading) -> messages::Range {
        messages::Range {
            header: self.mount.header(look),
            radiation_type: self.radiation_type,
            field_of_view: self.field_of_view as f32,
            min_range: self.beam.min as f32,
            max_range: self.beam.max as f32,
            range: reading.range() as f32,
            variance: self.beam.noise.variance() as f32,
        }
    }
}

impl Measure for Finder {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::Range)]
    }

    fn start(&mut self, _model: &Model, seed: &Seed) {
        self.switch_on(seed);
    }

    fn sight(&self) -> Option<Sight<'_>> {
        let Finder { mount, directions, beam, show, .. } = self;
        Some(Sight::Beams { mount, directions, beam, show: *show })
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let reading = self.find(look);
        say(0, encode(&self.message(look, reading)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Dice;

    /// Whatever is wider than is said of a sonar is met, anywhere in its cone.
    #[test]
    fn nothing_wider_than_said_is_missed() {
        let mut dice = Dice::new(&Seed::new(1));
        let furthest = |rays: &[Vec3], to: Vec3| {
            let nearest = rays.iter().map(|ray| ray.dot(to)).fold(-1.0, f64::max);
            headland_base::maths::acos(nearest.clamp(-1.0, 1.0))
        };
        for (half_angle, wide) in
            [(0.05, 1.5), (0.25, 1.5), (0.4, 1.5), (PI / 4.0, 1.5 * 45.0 / 24.0)]
        {
            let rays = cone(half_angle);
            for _ in 0..500 {
                let (aside, turn) = (half_angle * sqrt(dice.uniform()), TAU * dice.uniform());
                let to = Vec3::new(cos(aside), sin(aside) * cos(turn), sin(aside) * sin(turn));
                assert!(furthest(&rays, to) < 0.5 * wide * PI / 180.0, "{half_angle} {aside}");
            }
        }
        let rays = all_around();
        for _ in 0..500 {
            let (z, turn) = (2.0 * dice.uniform() - 1.0, TAU * dice.uniform());
            let to = Vec3::new(sqrt(1.0 - z * z) * cos(turn), sqrt(1.0 - z * z) * sin(turn), z);
            assert!(furthest(&rays, to) < 2.5 * PI / 180.0, "{to}");
        }
    }
}
