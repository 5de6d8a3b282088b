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

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use headland_base::maths::{TAU, exp, quat_from_rotation_vector};
use headland_base::{Mat3, Quat, Seed, Transform, Vec3};
use headland_record::messages::{Detection3D, Detection3DArray, Header, Kind as Message, encode};
use headland_sim::{Look, Model};
use headland_world::resource::Resources;

use super::frustum::Frustum;
use super::objects::{Object, objects};
use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Sight};
use crate::noise::perception::AXES;
use crate::noise::sdf::NamedMixture;
use crate::noise::{Dice, Dropper, Perception, Sampler};
use crate::rays::stage::Stage;
use crate::scene::{Ray, Scene, Show};

/// `<sensor type="headland:detector">`.
pub const KIND: Kind = Kind {
    words: &["headland:detector", "detector"],
    on: On::Link,
    elements: &["headland:detector"],
    read,
};

/// The most objects that are not there, per look.
const MOST_FALSE: f64 = 100.0;

/// The largest file of noise \[bytes\].
const MOST_BYTES: u64 = 1 << 20;

/// What the axes of the noise are those of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Frame {
    Sensor,
    World,
    Object,
}

struct Detector {
    mount: Mount,
    stage: Stage,
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
    swaps: Option<Dice>,
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
}

/// What was found of an object in one look.
struct Found<'a> {
    object: &'a Object,
    sensor_from_model: Transform,
    covariance: [[f64; 6]; 6],
    score: f64,
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
    let mut defects = Vec::new();
    let said = Perception::read(detector.node(), &mut defects);
    detector.defects(defects);
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
        if !robots.iter().any(|name| fits(pattern, name)) {
            let help = headland_base::names::suggestion(pattern, robots.iter().copied());
            detector.warn(format!("no object fits `{pattern}`"), help);
        }
    }
    Some(Box::new(Detector {
        mount: site.mount.clone(),
        stage: site.stage.clone(),
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
        swaps: None,
        ghosts: None,
        n_ghosts: 0,
        known: None,
    }))
}

/// The noise of a file, which is looked for as meshes are: from the folder of the file that names
/// it, and in the folders of a search path.
fn of_file(element: Element<'_>, resources: &Resources) -> Option<Perception> {
    let faults = match noise_text(element, resources) {
        Ok((path, text)) => match Perception::of_text(&text) {
            Ok(perception) => return Some(perception),
            Err(faults) => faults
                .into_iter()
                .map(|why| (format!("`{}`: {why}", path.display()), None))
                .collect(),
        },
        Err(fault) => vec![fault],
    };
    for (fault, help) in faults {
        let help = help.unwrap_or_else(|| "`headland fit-noise` writes such a file".to_string());
        element.fault(format!("cannot use {fault}"), Some(help));
    }
    None
}

/// The file that a `<file>` names, and its text; or why there is none, and what to do.
pub(crate) fn noise_text(
    element: Element<'_>,
    resources: &Resources,
) -> Result<(PathBuf, String), (String, Option<String>)> {
    let place = element.place();
    let folder = place.as_ref().and_then(|place| Path::new(&place.source.path).parent());
    let path =
        resources.resolve(element.text(), folder.unwrap_or(Path::new(""))).map_err(|why| {
            let what = if why.code == "missing-file" { "it is not there" } else { &why.message };
            (format!("`{}`: {what}", element.text()), why.help)
        })?;
    let mut text = String::new();
    let read =
        File::open(&path).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
    let fault = match read {
        Err(error) => error.to_string(),
        Ok(n) if n as u64 > MOST_BYTES => format!("it is larger than {MOST_BYTES} bytes"),
        Ok(_) => return Ok((path, text)),
    };
    Err((format!("`{}`: {fault}", path.display()), None))
}

/// Whether a name fits a pattern in which `*` is anything.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|i| rest.is_char_boundary(*i)).any(|i| fits(after, &rest[i..]))
        }),
    }
}

impl Measure for Detector {
    fn outputs(&self) -> Vec<(&'static str, Message)> {
        vec![("", Message::Detection3DArray)]
    }

    fn start(&mut self, _model: &Model, seed: &Seed) {
        self.swaps = Some(Dice::new(&seed.child("swap")));
        (self.ghosts, self.n_ghosts) = (Some(Dice::new(&seed.child("false"))), 0);
        (self.seed, self.known) = (seed.clone(), None);
    }

    fn sight(&self) -> Option<Sight<'_>> {
        Some(Sight::Pyramid { mount: &self.mount, corners: self.frustum.corners() })
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let header = self.mount.header(look);
        let stage = self.stage.clone();
        let detections = stage.see(Show::Everything, look, |scene| {
            let mut known = self.known.take().unwrap_or_else(|| self.meet(look.model, scene));
            let pose = self.mount.world_from_sensor(&look.state.rigids);
            let found: Vec<Found<'_>> =
                known.iter_mut().filter_map(|known| self.find(scene, pose, known)).collect();
            let names = self.mixed_up(&found);
            let report = |(found, name): (&Found<'_>, &str)| -> Detection3D {
                let Found { object, sensor_from_model, covariance, score } = found;
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
            self.wanted.is_empty() || self.wanted.iter().any(|wanted| fits(wanted, &object.name))
        };
        let known = |object: Object| {
            let seed = self.seed.child("object").child(&object.name);
            let mixture = self.perception.mixture.as_ref();
            Known {
                noise: mixture.map(|named| named.mixture.sampler(&seed)),
                dropper: self.perception.dropout.dropper(&seed),
                score: Dice::new(&seed.child("score")),
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
        Some(Found { object, sensor_from_model, covariance, score })
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

    /// The names under which objects are reported: now and then two that are alike are mixed up.
    fn mixed_up<'a>(&mut self, found: &[Found<'a>]) -> Vec<&'a str> {
        let mut names: Vec<&str> = found.iter().map(|found| found.object.name.as_str()).collect();
        let dice = self.swaps.as_mut().expect("started before it is asked");
        for i in 0..found.len() {
            if self.swap_rate > 0.0 && dice.chance(self.swap_rate) {
                let is_alike =
                    |j: &usize| *j != i && found[*j].object.class == found[i].object.class;
                let alike: Vec<usize> = (0..found.len()).filter(is_alike).collect();
                if !alike.is_empty() {
                    names.swap(i, alike[dice.below(alike.len())]);
                }
            }
        }
        names
    }
}

/// A pose with an error along the axes of a frame: shifted, and turned about its own origin.
fn disturbed(
    world_from_model: Transform,
    world_from_frame: Quat,
    axes: &[String],
    error: &[f64],
) -> Transform {
    let mut by_axis = [0.0; 6];
    for (axis, error) in axes.iter().zip(error) {
        if let Some(i) = AXES.iter().position(|known| known == axis) {
            by_axis[i] = *error;
        }
    }
    let [x, y, z, roll, pitch, yaw] = by_axis;
    let shift = world_from_frame * Vec3::new(x, y, z);
    let turn = quat_from_rotation_vector(world_from_frame * Vec3::new(roll, pitch, yaw));
    Transform::new(turn * world_from_model.rotation, world_from_model.translation + shift)
}

/// The covariance of all clusters together, turned into the frame of the sensor.
fn covariance(named: &NamedMixture, sensor_from_frame: Quat) -> [[f64; 6]; 6] {
    let n = named.axes.len();
    let own = named.mixture.covariance();
    let mut in_frame = [[0.0; 6]; 6];
    let at: Vec<Option<usize>> =
        named.axes.iter().map(|axis| AXES.iter().position(|known| known == axis)).collect();
    for i in 0..n {
        for j in 0..n {
            if let (Some(a), Some(b)) = (at[i], at[j]) {
                in_frame[a][b] = own[i * n + j];
            }
        }
    }
    let turn = Mat3::from_quat(sensor_from_frame);
    let mut out = [[0.0; 6]; 6];
    for (a, b) in [(0, 0), (0, 3), (3, 0), (3, 3)] {
        let column = |j: usize| {
            Vec3::new(in_frame[a][b + j], in_frame[a + 1][b + j], in_frame[a + 2][b + j])
        };
        let turned = turn * Mat3::from_cols(column(0), column(1), column(2)) * turn.transpose();
        for i in 0..3 {
            for j in 0..3 {
                out[a + i][b + j] = turned.col(j)[i];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Cluster, Mixture};
    use headland_base::maths::{FRAC_PI_2, quat_from_rpy};

    #[test]
    fn patterns_fit_names() {
        for (pattern, name, is_fit) in [
            ("gear", "gear", true),
            ("gear_*", "gear_12", true),
            ("*_tray", "kit_tray", true),
            ("*", "ünï", true),
            ("g*r_*", "gear_1", true),
            ("gear", "gear_1", false),
            ("gear_*", "gea", false),
        ] {
            assert_eq!(fits(pattern, name), is_fit, "{pattern} {name}");
        }
    }

    /// Turned by a quarter about z, what varied along x varies along y.
    #[test]
    fn covariances_turn_with_the_frame() {
        let cluster = Cluster {
            weight: 1.0,
            mean: vec![0.0; 3],
            covariance: vec![4.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.25],
        };
        let axes = ["x", "z", "yaw"].map(String::from).to_vec();
        let named = NamedMixture { axes, mixture: Mixture::new(vec![cluster]).unwrap() };
        let out = covariance(&named, quat_from_rpy(0.0, 0.0, FRAC_PI_2));
        let wanted = [(1, 1, 4.0), (1, 2, 0.5), (2, 1, 0.5), (2, 2, 1.0), (5, 5, 0.25)];
        for (i, row) in out.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                let it = wanted.iter().find(|(a, b, _)| (*a, *b) == (i, j)).map_or(0.0, |w| w.2);
                assert!((value - it).abs() < 1e-15, "{i} {j}: {value}");
            }
        }
    }

    #[test]
    fn errors_are_along_the_axes_of_their_frame() {
        let pose = Transform::new(quat_from_rpy(0.0, 0.0, 1.0), Vec3::new(1.0, 2.0, 3.0));
        let axes = ["y", "yaw"].map(String::from);
        let moved = disturbed(pose, quat_from_rpy(0.0, 0.0, FRAC_PI_2), &axes, &[0.1, 0.2]);
        assert!((moved.translation - Vec3::new(0.9, 2.0, 3.0)).length() < 1e-15);
        let turned = headland_base::maths::rpy_from_quat(moved.rotation);
        assert!((turned - Vec3::new(0.0, 0.0, 1.2)).length() < 1e-12);
    }
}
