//! What a camera on every robot costs: a frame of 640 × 480, without shadows, of two rows of robots
//! that face each other as teams do, from the head of one in the middle.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;

use headland_base::maths::PI;
use headland_base::{Quat, Transform, Vec3};
use headland_bench::drawn::{as_json, frames_of_peers};
use headland_bench::{best_of_thread, is_full};
use headland_sense::camera::{Pinhole, View};
use headland_sense::lens::{Lens, Table};
use headland_sense::render::{Daylight, Raster, Renderer, Wants};
use headland_sense::scene::{Scene, Show};
use headland_world::{Light, LightKind, World};

use super::steps::placed;

/// How a camera sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Eye {
    /// Straight.
    Plain,
    /// Through a wide lens.
    Lens,
}

/// Frames of teams of one robot; each is drawn once however often it is asked for.
pub struct Pictures<'a> {
    world: &'a World,
    ours: RefCell<BTreeMap<(usize, Eye), f64>>,
    theirs: RefCell<BTreeMap<usize, f64>>,
}

/// From one team to the other \[m\].
const APART: f64 = 6.0;

/// Where the camera of the humanoid is, above the ground and in front of its middle and its arms \[m\].
const HEAD: (f64, f64) = (1.45, 0.35);

impl<'a> Pictures<'a> {
    /// Of a world with one robot.
    pub fn of(world: &'a World) -> Pictures<'a> {
        Pictures { world, ours: RefCell::default(), theirs: RefCell::default() }
    }

    /// Seconds of a frame of ours, of so many robots.
    pub fn ours(&self, n: usize, eye: Eye) -> f64 {
        once(&self.ours, (n, eye), || draw(&teams(self.world, n), n, eye))
    }

    /// The same of MuJoCo's on Mesa; it has no lenses.
    pub fn theirs(&self, n: usize, eye: Eye) -> f64 {
        if eye == Eye::Lens {
            return f64::NAN;
        }
        once(&self.theirs, n, || draw_by_mujoco(&teams(self.world, n), n))
    }
}

/// What is known, or else found out now.
fn once<K: Ord>(known: &RefCell<BTreeMap<K, f64>>, which: K, secs: impl FnOnce() -> f64) -> f64 {
    *known.borrow_mut().entry(which).or_insert_with(secs)
}

fn draw(world: &World, n: usize, eye: Eye) -> f64 {
    let mut scene = Scene::of(world, Show::Visuals);
    let poses = scene.world_from_link().to_vec();
    let lens = Lens::Bouguet { k: [-0.28, 0.09, -0.012], p: [4e-4, -3e-4] };
    let view = view(n);
    let table = Table::new(&view.pinhole, &lens).expect("a lens that shows something");
    let mut raster = Raster::new(1);
    let mut frame = || {
        scene.place(&poses);
        black_box(match eye {
            Eye::Plain => raster.render(&scene, &view, Wants::COLOUR),
            Eye::Lens => table.render(&mut raster, &scene, &view, Wants::COLOUR),
        });
    };
    // The first makes what the others find made.
    frame();
    let n_rounds = if is_full() { 20 } else { 1 };
    best_of_thread(n_rounds, &mut [&mut frame])[0].1
}

fn draw_by_mujoco(world: &World, n: usize) -> f64 {
    let sun = Daylight::of(&Scene::of(world, Show::Visuals)).direction;
    let n_frames = if is_full() { 20 } else { 1 };
    let frames = frames_of_peers(&as_json(world, &view(n), sun), n_frames, &["mujoco"]);
    let plain = frames.into_iter().find(|(name, _)| name == "mujoco no shadows");
    plain.map_or(f64::NAN, |(_, secs)| secs)
}

/// Every second robot on the other side, looking back.
fn place(i: usize) -> Transform {
    let side = if i.is_multiple_of(2) { -0.5 } else { 0.5 };
    let turn = Quat::from_rotation_z(if side < 0.0 { 0.0 } else { PI });
    Transform::new(turn, Vec3::new(side * APART, 2.0 * (i / 2) as f64, 0.0))
}

fn teams(world: &World, n: usize) -> World {
    let mut world = placed(world, n, place);
    // Every humanoid carries a lamp; one sun for all of them.
    for robot in &mut world.models {
        robot.links.iter_mut().for_each(|link| link.lights.clear());
    }
    world.lights = vec![Light {
        name: "sun".to_string(),
        kind: LightKind::Directional,
        scope_from_light: Transform::IDENTITY,
        diffuse: [0.9, 0.9, 0.9, 1.0],
        specular: [0.1, 0.1, 0.1, 1.0],
        direction: Vec3::new(-0.4, 0.3, -0.9),
        intensity: 1.0,
        attenuation: [1000.0, 1.0, 0.0, 0.0],
        cast_shadows: false,
        spot: None,
    }];
    world
}

/// From one in the middle of its row: it sees most.
fn view(n: usize) -> View {
    let (world_from_robot, pinhole) = (place(n / 2), Pinhole::from_fov(640, 480, 1.0));
    let eye = world_from_robot.point(Vec3::new(HEAD.1, 0.0, HEAD.0));
    View::look_at(pinhole, eye, world_from_robot.point(Vec3::new(APART, 0.0, 1.0)))
}
