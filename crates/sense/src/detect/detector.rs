//! A detector of objects that errs as one does: it starts from where objects are, and reports
//! poses with noise that comes in clusters, misses some, mixes up those that are alike, and says
//! how sure it is.
//!
//! ```xml
//! <sensor name="vision" type="headland:detector"><update_rate>5</update_rate>
//!   <headland:detector>
//!     <near>0.2</near><far>2</far><horizontal_fov>1.2</horizontal_fov>
//!     <objects>gear_* tray</objects>
//!     <file>gears.noise.xml</file>
//!     <swap_rate>0.1</swap_rate>
//!     <false_rate>0.05</false_rate>
//!     <least_visible>0.3</least_visible>
//!     <frame>world</frame>
//!   </headland:detector>
//! </sensor>
//! ```
//!
//! The noise is that of the file, which `headland fit-noise` writes, or of the same elements
//! written here; what is here goes first. Its axes are those of the sensor, the world or the
//! object, by `<frame>`. Every object draws from a stream of its own name, so that one more moves
//! no number of another.
//!
//! `<false_rate>` is how many objects it reports per look, on average, that are not there: alike
//! to one that is, anywhere in its sight, and numbered `gear_false_1`, so that a test can count
//! them.
//!
//! Deliberately absent: pictures.

use headland_base::maths::{TAU, exp, quat_from_rotation_vector};
use headland_base::{Quat, Seed, Transform, Vec3, glob};
use headland_record::messages::{Detection3D, Detection3DArray, Header, Kind as Message, encode};
use headland_sim::{Look, Model};

use super::error::{covariance, disturbed};
use super::frustum::Frustum;
use super::noise_file::of_file;
use super::objects::{Object, objects};
use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Sight};
use crate::noise::{Dice, Dropper, Perception, Sampler};
use crate::scene::{Ray, Scene, SharedScene, Show};

/// `<sensor type="headland:detector">`.
pub const KIND: Kind = Kind {
    words: &["headland:detector", "detector"],
    on: On::Link,
    elements: &["headland:detector"],
    read,
};

/// The most objects that are not there, per look.
const MOST_FALSE: f64 = 100.0;

/// What the axes of the noise are those of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Frame {
    Sensor,
    World,
    Object,
}

struct Detector {
    mount: Mount,
    scene: SharedScene,
    frustum: Frustum,
    /// Patterns of names; all objects where there is none.
    wanted: Vec<String>,
    perception: Perception,
    frame: Frame,
    swap_rate: f64,
    least_visible: f64,
    /// Objects that are not there, per look.
    false_rate: f64,
    seed: Seed,
    ghosts: Option<Dice>,
    n_ghosts: u64,
    known: Option<Vec<Known>>,
}

/// An object and what the detector draws for it.
struct Known {
    object: Object,
    noise: Option<Sampler>,
    dropper: Dropper,
    score: Dice,
    swap: Dice,
}

/// What was found of an object in one look.
struct Found<'a> {
    object: &'a Object,
    sensor_from_model: Transform,
    covariance: [[f64; 6]; 6],
    score: f64,
    /// It is mistaken for one that is alike, where it is the first of those that are mixed up.
    is_mistaken: bool,
    /// Its place in the row in which alike ones are mixed up, from 0 to 1.
    place_in_row: f64,
}

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let Some(detector) = element.child("headland:detector") else {
        element.error("there is no <headland:detector> in it");
        return None;
    };
    detector.only(&[
        "near",
        "far",
        "horizontal_fov",
        "aspect_ratio",
        "objects",
        "file",
        "frame",
        "swap_rate",
        "false_rate",
        "least_visible",
        "score",
        "headland:mixture",
        "headland:dropout",
    ]);
    let file = detector.child("file");
    let mut perception = file.and_then(|file| of_file(file, site.resources)).unwrap_or_default();
    let said = Perception::read(detector);
    perception.mixture = said.mixture.or(perception.mixture);
    perception.score = said.score.or(perception.score);
    if detector.child("headland:dropout").is_some() {
        perception.dropout = said.dropout;
    }
    let is_share = |value: f64| (0.0..=1.0).contains(&value);
    let share = |name: &str| detector.number_that(name, 0.0, "a share from 0 to 1", is_share);
    let frames = [("sensor", Frame::Sensor), ("world", Frame::World), ("object", Frame::Object)];
    let wanted: Vec<String> = detector
        .text_in("objects")
        .unwrap_or_default()
        .split_whitespace()
        .map(String::from)
        .collect();
    let robots: Vec<&str> = site.model.world.models.iter().map(|model| &*model.name).collect();
    for pattern in &wanted {
        if !robots.iter().any(|name| glob::matches(pattern, name)) {
            let help = headland_base::names::suggestion(pattern, robots.iter().copied());
            detector.warn(format!("no object fits `{pattern}`"), help);
        }
    }
    Some(Box::new(Detector {
        mount: site.mount.clone(),
        scene: site.scene.clone(),
        frustum: Frustum::read(detector)?,
        wanted,
        perception,
        frame: detector.word("frame", &frames),
        swap_rate: share("swap_rate"),
        least_visible: share("least_visible"),
        false_rate: detector.number_that("false_rate", 0.0, "from 0 to 100", |rate| {
            (0.0..=MOST_FALSE).contains(&rate)
        }),
        seed: Seed::new(0),
        ghosts: None,
        n_ghosts: 0,
        known: None,
    }))
}

impl Measure for Detector {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::Detection3DArray)]
    }

    fn start(&mut self, _model: &Model, seed: &Seed) {
        (self.ghosts, self.n_ghosts) = (Some(Dice::new(&seed.child("false"))), 0);
        (self.seed, self.known) = (seed.clone(), None);
    }

    fn sight(&self) -> Option<Sight<'_>> {
        Some(Sight::Pyramid { mount: &self.mount, corners: self.frustum.corners() })
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let header = self.mount.header(look);
        let shared = self.scene.clone();
        let detections = shared.see(Show::Everything, look, |scene| {
            let mut known = self.known.take().unwrap_or_else(|| self.meet(look.model, scene));
            let pose = self.mount.world_from_sensor(&look.state.rigids);
            let found: Vec<Found<'_>> =
                known.iter_mut().filter_map(|known| self.find(scene, pose, known)).collect();
            let names = Detector::mixed_up(&found);
            let report = |(found, name): (&Found<'_>, &str)| -> Detection3D {
                let Found { object, sensor_from_model, covariance, score, .. } = found;
                object.detection(&header, *sensor_from_model, *covariance, *score, name)
            };
            let mut detections: Vec<Detection3D> = found.iter().zip(names).map(report).collect();
            detections.extend(self.not_there(&known, &header));
            self.known = Some(known);
            detections
        });
        say(0, encode(&Detection3DArray { header, detections }));
    }
}

impl Detector {
    /// Every object that it may report, each with its streams.
    fn meet(&self, model: &Model, scene: &Scene) -> Vec<Known> {
        let is_wanted = |object: &Object| {
            self.wanted.is_empty()
                || self.wanted.iter().any(|wanted| glob::matches(wanted, &object.name))
        };
        let known = |object: Object| {
            let seed = self.seed.child("object").child(&object.name);
            let mixture = self.perception.mixture.as_ref();
            Known {
                noise: mixture.map(|named| named.mixture.sampler(&seed)),
                dropper: self.perception.dropout.dropper(&seed),
                score: Dice::new(&seed.child("score")),
                swap: Dice::new(&seed.child("swap")),
                object,
            }
        };
        let all = objects(model, scene, self.mount.body_idx).into_iter();
        all.filter(is_wanted).map(known).collect()
    }

    /// What it finds of an object. As much is drawn for one that is out of sight.
    fn find<'a>(
        &self,
        scene: &Scene,
        world_from_sensor: Transform,
        known: &'a mut Known,
    ) -> Option<Found<'a>> {
        let error = known.noise.as_mut().map(|noise| noise.draw().1);
        let is_lost = known.dropper.loses();
        let score = self.perception.score.map_or(1.0, |score| score.draw(&mut known.score));
        let (is_mistaken, place_in_row) = (known.swap.chance(self.swap_rate), known.swap.uniform());
        let object = &known.object;
        let sensor_from_world = world_from_sensor.inverse();
        let is_in_sight = self.frustum.meets_any(sensor_from_world, object.boxes_now(scene));
        if is_lost || !is_in_sight || !self.is_visible(scene, world_from_sensor.translation, object)
        {
            return None;
        }
        let world_from_model = object.world_from_model(scene);
        let (sensor_from_model, covariance) = match (&self.perception.mixture, error) {
            (Some(named), Some(error)) => {
                let world_from_frame = match self.frame {
                    Frame::Sensor => world_from_sensor.rotation,
                    Frame::World => Quat::IDENTITY,
                    Frame::Object => world_from_model.rotation,
                };
                let moved = disturbed(world_from_model, world_from_frame, &named.axes, &error);
                let sensor_from_frame = sensor_from_world.rotation * world_from_frame;
                (sensor_from_world * moved, covariance(named, sensor_from_frame))
            }
            _ => (sensor_from_world * world_from_model, [[0.0; 6]; 6]),
        };
        Some(Found { object, sensor_from_model, covariance, score, is_mistaken, place_in_row })
    }

    /// Whether enough of it is not behind something else.
    fn is_visible(&self, scene: &Scene, eye: Vec3, object: &Object) -> bool {
        if self.least_visible <= 0.0 {
            return true;
        }
        let sights = object.sights(scene);
        let is_seen = |sight: &&Vec3| {
            let ray = Ray { max: 1.0, ..Ray::new(eye, **sight - eye) };
            let own = |i: usize| scene.items()[i].link_idx == self.mount.body_idx;
            let hit = scene.cast_where(&ray, |i| !own(i));
            hit.is_none_or(|hit| scene.items()[hit.item_idx].model_idx == object.model_idx)
        };
        let n_seen = sights.iter().filter(is_seen).count();
        n_seen as f64 >= self.least_visible * sights.len() as f64
    }

    /// Objects that are not there: as many as Poisson's law has for their rate, each alike to one
    /// that there is, anywhere in sight and turned about the upright anyhow.
    fn not_there(&mut self, known: &[Known], header: &Header) -> Vec<Detection3D> {
        let dice = self.ghosts.as_mut().expect("started before it is asked");
        let (least, mut left, mut n) = (exp(-self.false_rate), dice.uniform(), 0);
        while left > least {
            left *= dice.uniform();
            n += 1;
        }
        let mut one = || {
            let place = self.frustum.within(std::array::from_fn(|_| dice.uniform()));
            let turn = quat_from_rotation_vector(Vec3::Z * (TAU * dice.uniform()));
            let score = self.perception.score.map_or(1.0, |score| score.draw(dice));
            let object = &known.get(dice.below(known.len()))?.object;
            self.n_ghosts += 1;
            let name = format!("{}_false_{}", object.class, self.n_ghosts);
            Some(object.detection(header, Transform::new(turn, place), [[0.0; 6]; 6], score, &name))
        };
        (0..n).filter_map(|_| one()).collect()
    }

    /// The names under which objects are reported: now and then those that are alike are mixed up.
    ///
    /// All that are found and alike stand in a row in random order and are taken two by two, three
    /// at the end where they are odd; each such group passes its names on with the declared chance.
    /// So every one has another's name as often as declared, and every name is there once.
    fn mixed_up<'a>(found: &[Found<'a>]) -> Vec<&'a str> {
        let mut names: Vec<&str> = found.iter().map(|found| found.object.name.as_str()).collect();
        let mut row: Vec<usize> = (0..found.len()).collect();
        row.sort_by(|a, b| {
            let (a, b) = (&found[*a], &found[*b]);
            let class = a.object.class.cmp(&b.object.class);
            class.then(a.place_in_row.total_cmp(&b.place_in_row))
        });
        for mut alike in row.chunk_by(|a, b| found[*a].object.class == found[*b].object.class) {
            while alike.len() >= 2 {
                let (group, rest) = alike.split_at(if alike.len() == 3 { 3 } else { 2 });
                if found[group[0]].is_mistaken {
                    group.windows(2).for_each(|pair| names.swap(pair[0], pair[1]));
                }
                alike = rest;
            }
        }
        names
    }
}
