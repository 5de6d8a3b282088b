//! Things drawn for people: contacts, forces, frames, centres of mass, collision shapes, paths.
//!
//! Each is a set of marks, shapes that stand in the world, to be laid over a scene by
//! [`Scene::with_marks`](crate::scene::Scene::with_marks). They are seen through what hides them,
//! fainter. Sizes come from the caller, who knows how far away the eye is.

use std::collections::BTreeMap;
use std::sync::Arc;

use headland_base::maths::{quat_between, sqrt};
use headland_base::{Quat, Transform, Vec3};
use headland_sim::{Model, Motion};
use headland_world::{Geometry, Places};

use crate::declare::{Declaration, declare};
use crate::mounted::{Mount, Sight};
use crate::scene::{Look, Planes, Scene, Show, Solid};

/// Every kind of mark with what it shows, in the order help lists them.
pub const KINDS: &[(&str, &str, Kind)] = &[
    ("contacts", "where things touch, and which way they are pushed apart", Kind::Contacts),
    (
        "forces",
        "what contacts push with, as long as the weight of everything is high",
        Kind::Forces,
    ),
    ("com", "the centre of mass of everything that moves", Kind::Com),
    ("frames", "the axes of every link that moves: x red, y green, z blue", Kind::Frames),
    ("collisions", "the shapes that touch", Kind::Collisions),
    (
        "beams",
        "what lidars, range finders and barriers meet, and what detectors have in sight",
        Kind::Beams,
    ),
    ("trajectories", "the way of everything that moves up to now", Kind::Trajectories),
];

/// A kind of mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Points and normals.
    Contacts,
    /// Arrows.
    Forces,
    /// Balls.
    Com,
    /// Three sticks each.
    Frames,
    /// Shapes.
    Collisions,
    /// Points, lines and edges.
    Beams,
    /// Lines.
    Trajectories,
}

impl Kind {
    /// Whether only something that happened has it.
    pub fn needs_recording(self) -> bool {
        matches!(self, Kind::Contacts | Kind::Forces | Kind::Trajectories)
    }
}

/// A shape that stands in the world.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Where.
    pub world_from_mark: Transform,
    /// What.
    pub solid: Arc<Solid>,
    /// In which colour.
    pub look: Look,
}

/// A point where two bodies touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Where, in the world \[m\].
    pub position: Vec3,
    /// Unit normal from the one to the other.
    pub normal: Vec3,
    /// What the one does to the other \[N\].
    pub force: Vec3,
}

const RED: [f32; 3] = [0.88, 0.16, 0.14];
const GREEN: [f32; 3] = [0.16, 0.66, 0.22];
const BLUE: [f32; 3] = [0.16, 0.36, 0.92];
const ORANGE: [f32; 3] = [0.98, 0.55, 0.08];
const YELLOW: [f32; 3] = [0.98, 0.86, 0.12];
const MAGENTA: [f32; 3] = [0.86, 0.16, 0.70];

fn paint(colour: [f32; 3], opacity: f32) -> Look {
    // Some light of its own, so that a mark is seen in the shadow too.
    let glow = colour.map(|c| c * 0.3);
    Look { colour, glow, opacity, shine: 0.0, casts_shadow: false, is_mark: true }
}

fn mark(world_from_mark: Transform, geometry: &Geometry, look: Look) -> Option<Mark> {
    let solid = Arc::new(Solid::of(geometry, Planes::Drawn)?);
    world_from_mark.is_finite().then_some(Mark { world_from_mark, solid, look })
}

fn ball(at: Vec3, radius: f64, colour: [f32; 3]) -> Option<Mark> {
    mark(Transform::from_translation(at), &Geometry::Sphere { radius }, paint(colour, 1.0))
}

/// The short turn that takes z to a direction, which has a length.
fn turn_to(direction: Vec3) -> Quat {
    quat_between(Vec3::Z, direction / sqrt(direction.dot(direction)))
}

/// A round stick from a point along a vector.
fn stick(from: Vec3, along: Vec3, radius: f64, colour: [f32; 3]) -> Option<Mark> {
    let length = sqrt(along.dot(along));
    if length.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) || !length.is_finite() {
        return None;
    }
    let pose = Transform::new(turn_to(along), from + along * 0.5);
    mark(pose, &Geometry::Capsule { radius, length }, paint(colour, 1.0))
}

/// A stick with a tip.
fn arrow(from: Vec3, along: Vec3, radius: f64, colour: [f32; 3]) -> Vec<Mark> {
    let length = sqrt(along.dot(along));
    if length.partial_cmp(&(radius * 1e-3)) != Some(std::cmp::Ordering::Greater) {
        return Vec::new();
    }
    let tip = (6.0 * radius).min(length * 0.6);
    let shaft = stick(from, along * ((length - tip) / length), radius, colour);
    let pose = Transform::new(turn_to(along), from + along * ((length - tip * 0.5) / length));
    let cone = Geometry::Cone { radius: 2.6 * radius, length: tip };
    shaft.into_iter().chain(mark(pose, &cone, paint(colour, 1.0))).collect()
}

/// Balls where things touch, and sticks along the normals. `size` is that of the picture's
/// content \[m\].
pub fn contacts(touches: &[Touch], size: f64) -> Vec<Mark> {
    let one = |touch: &Touch| {
        let point = ball(touch.position, size * 0.008, ORANGE);
        let normal = stick(touch.position, touch.normal * (size * 0.05), size * 0.003, ORANGE);
        point.into_iter().chain(normal)
    };
    touches.iter().flat_map(one).collect()
}

/// An arrow per force; `weight` \[N\] is a third of `size` long.
pub fn forces(touches: &[Touch], weight: f64, size: f64) -> Vec<Mark> {
    let scale = if weight > 0.0 { size / 3.0 / weight } else { 0.0 };
    let one = |touch: &Touch| {
        // Thrusts of a hundred weights leave the picture anyway.
        let along = (touch.force * scale).clamp_length_max(size * 2.0);
        arrow(touch.position, along, size * 0.005, MAGENTA)
    };
    touches.iter().flat_map(one).collect()
}

/// A ball at the centre of mass of every outermost model that moves.
pub fn centres_of_mass(model: &Model, world_from_link: &[Transform], size: f64) -> Vec<Mark> {
    let mut sums: BTreeMap<&str, (f64, Vec3)> = BTreeMap::new();
    for rigid in model.rigids.iter().filter(|rigid| rigid.motion == Motion::Dynamic) {
        let body_idx = rigid.body_idxs[0];
        let body = &model.bodies[body_idx];
        let world_from_rigid = world_from_link[body_idx] * body.rigid_from_body.inverse();
        let sum = sums.entry(&body.robot).or_insert((0.0, Vec3::ZERO));
        sum.0 += rigid.mass;
        sum.1 += world_from_rigid.point(rigid.centre) * rigid.mass;
    }
    let placed = sums.values().filter(|(mass, _)| *mass > 0.0);
    placed.filter_map(|(mass, sum)| ball(*sum / *mass, size * 0.014, YELLOW)).collect()
}

/// The weight of all that moves \[N\].
pub fn weight(model: &Model) -> f64 {
    let moving = model.rigids.iter().filter(|rigid| rigid.motion == Motion::Dynamic);
    let gravity = model.world.gravity;
    moving.map(|rigid| rigid.mass).sum::<f64>() * sqrt(gravity.dot(gravity))
}

/// The axes of every link that moves.
pub fn frames(scene: &Scene, size: f64) -> Vec<Mark> {
    let moving = (0..scene.links().len()).filter(|i| !scene.is_static(*i));
    let axes = moving.flat_map(|i| {
        let pose = scene.world_from_link()[i];
        [(Vec3::X, RED), (Vec3::Y, GREEN), (Vec3::Z, BLUE)].map(|(axis, colour)| {
            stick(pose.translation, pose.vector(axis) * (size * 0.05), size * 0.0025, colour)
        })
    });
    axes.flatten().collect()
}

/// A sensor of more beams is drawn by where they end alone.
const MOST_LINES: usize = 24;

/// A beam that meets nothing is drawn so far at most \[m\]: the range of some has no end.
const LONGEST_LINE: f64 = 50.0;

/// Ends of beams of one sensor that are drawn, at most; of more every second, third and so on. In a
/// picture they would cover each other, and a lidar may have millions.
const MOST_ENDS: usize = 20_000;

/// What is drawn of a World beside what happened in it: compiled for the first picture, for all.
#[derive(Default)]
pub struct Sights {
    declared: Option<Vec<Declaration>>,
    scenes: Vec<(Show, Scene)>,
}

/// The scene that shows so much, where it is now.
fn placed<'s>(
    scenes: &'s mut Vec<(Show, Scene)>,
    show: Show,
    model: &Model,
    world_from_link: &[Transform],
) -> &'s Scene {
    let known = scenes.iter().position(|(known, _)| *known == show);
    let i = known.unwrap_or_else(|| {
        scenes.push((show, Scene::of(&model.world, show)));
        scenes.len() - 1
    });
    scenes[i].1.place(world_from_link);
    &scenes[i].1
}

impl Sights {
    /// The shapes that touch, where they have an end.
    pub fn collisions(&mut self, model: &Model, world_from_link: &[Transform]) -> Vec<Mark> {
        let scene = placed(&mut self.scenes, Show::Collisions, model, world_from_link);
        let bounded = (0..scene.items().len()).filter(|i| scene.items()[*i].solid.bounds.is_some());
        let one = |i: usize| Mark {
            world_from_mark: scene.world_from_item(i),
            solid: Arc::clone(&scene.items()[i].solid),
            look: paint(ORANGE, 0.45),
        };
        bounded.map(one).filter(|mark| mark.world_from_mark.is_finite()).collect()
    }

    /// Where the beams of sensors end, with lines where they are few, and the edges of what
    /// detectors and logical cameras have in sight. Without noise, and at this moment.
    pub fn beams(&mut self, model: &Model, world_from_link: &[Transform], size: f64) -> Vec<Mark> {
        let declared = self.declared.get_or_insert_with(|| declare(model, &Places::default()).0);
        let mut marks = Vec::new();
        // One ball for all ends.
        let Some(end) = ball(Vec3::ZERO, size * 0.0035, RED) else { return marks };
        for sight in declared.iter().filter_map(Declaration::sight) {
            match sight {
                Sight::Beams { mount, directions, beam, show } => {
                    let scene = placed(&mut self.scenes, show, model, world_from_link);
                    let pose = sensor_pose(model, mount, world_from_link);
                    let every = directions.len().div_ceil(MOST_ENDS).max(1);
                    for direction in directions.iter().step_by(every) {
                        let (from, along) = (pose.translation, pose.vector(*direction));
                        let echo = beam.echo(scene, from, along, mount.body_idx);
                        if directions.len() <= MOST_LINES {
                            let length = echo.map_or(beam.max, |echo| echo.distance);
                            let along = along * length.min(LONGEST_LINE);
                            let colour = if echo.is_some() { RED } else { GREEN };
                            marks.extend(stick(from, along, size * 0.0012, colour));
                        }
                        let far = echo.filter(|echo| echo.distance >= beam.min);
                        let at = far.map(|echo| from + along * echo.distance);
                        marks.extend(at.filter(|at| at.is_finite()).map(|at| Mark {
                            world_from_mark: Transform::from_translation(at),
                            ..end.clone()
                        }));
                    }
                }
                Sight::Pyramid { mount, corners } => {
                    let pose = sensor_pose(model, mount, world_from_link);
                    let corners = corners.map(|corner| pose.point(corner));
                    for i in 0..4 {
                        for (a, b) in [(i, (i + 1) % 4), (i + 4, (i + 1) % 4 + 4), (i, i + 4)] {
                            let edge = corners[b] - corners[a];
                            marks.extend(stick(corners[a], edge, size * 0.0015, BLUE));
                        }
                    }
                }
            }
        }
        marks
    }
}

fn sensor_pose(model: &Model, mount: &Mount, world_from_link: &[Transform]) -> Transform {
    let body = &model.bodies[mount.body_idx];
    let world_from_rigid = world_from_link[mount.body_idx] * body.rigid_from_body.inverse();
    world_from_rigid * mount.rigid_from_sensor
}

/// A line through points.
pub fn path(points: &[Vec3], size: f64) -> Vec<Mark> {
    let segment = |pair: &[Vec3]| stick(pair[0], pair[1] - pair[0], size * 0.003, YELLOW);
    points.windows(2).filter_map(segment).collect()
}
