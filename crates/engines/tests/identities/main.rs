//! What engines promise, asked of each in turn: closed forms and conservation, with the
//! tolerance stated beside each. No golden numbers.

use std::ops::ControlFlow;
use std::sync::Arc;

use headland_base::maths::{PI, TAU, Vec2, cos, quat_from_axis_angle, sin, sqrt};
use headland_base::{Diagnostic, Mat3, SimDuration, Transform, Vec3};
use headland_engines::{bullet, mujoco, native, ode, rapier};
use headland_sim::{
    Cast, Commands, Controller, EngineEntry, EngineOptions, Mode, Model, Observer, Setup, State,
    run,
};
use headland_world::*;

mod contact;
mod free;
mod joints;
mod motors;

/// The engines that are asked. Others have their own tests, beside their own packages.
const ASKED: &[EngineEntry] = &[rapier::ENTRY, native::ENTRY, mujoco::ENTRY, ode::ENTRY];

/// Those asked that are there; all must be where `HEADLAND_REQUIRE_FOREIGN` is 1.
fn engines() -> impl Iterator<Item = &'static EngineEntry> {
    those_there(ASKED)
}

fn those_there(asked: &'static [EngineEntry]) -> impl Iterator<Item = &'static EngineEntry> {
    asked.iter().filter(|entry| match (entry.find)(entry) {
        Ok(_) => true,
        Err(why) => {
            assert!(
                std::env::var("HEADLAND_REQUIRE_FOREIGN").as_deref() != Ok("1"),
                "{}: {why}",
                entry.name
            );
            eprintln!("not asked of {}: {why}", entry.name);
            false
        }
    })
}

/// A tolerance, and the one of MuJoCo, whose contacts and integrator are of another kind.
fn tolerance(engine: &EngineEntry, usual: f64, of_mujoco: f64) -> f64 {
    if engine.name == "mujoco" { of_mujoco } else { usual }
}

const GRAVITY: f64 = 9.81;

/// Runs a world on an engine for `secs` and shows every state to `see`.
fn watch(
    world: &World,
    engine: &EngineEntry,
    secs: f64,
    mut see: impl FnMut(&Model, &State),
) -> State {
    watch_cast(world, engine, secs, &mut Cast::default(), &mut see)
}

fn watch_cast(
    world: &World,
    engine: &EngineEntry,
    secs: f64,
    cast: &mut Cast,
    see: &mut dyn FnMut(&Model, &State),
) -> State {
    struct Eyes<'a>(&'a mut dyn FnMut(&Model, &State));
    impl Observer for Eyes<'_> {
        fn sample(&mut self, model: &Model, state: &State) -> Result<(), Diagnostic> {
            (self.0)(model, state);
            Ok(())
        }
    }
    let model = Model::compile(&Arc::new(world.clone())).expect("a world that compiles");
    let setup = Setup::new(&model, SimDuration::from_secs(secs).expect("short"));
    let mut engine = (engine.make)(engine);
    let notes = engine.check(&model, &EngineOptions::new(model.world.physics.step));
    assert!(notes.iter().all(|d| d.severity != headland_base::Severity::Error));
    let mut eyes = Eyes(see);
    let go = &mut |_| ControlFlow::Continue(());
    run(&model, &setup, engine.as_mut(), cast, &mut eyes, go).expect("runs").state
}

fn world(models: Vec<Model_>) -> World {
    World { gravity: Vec3::new(0.0, 0.0, -GRAVITY), models, ..World::default() }
}

type Model_ = headland_world::Model;

fn link(name: &str, at: Vec3, mass: f64, geometry: Option<Geometry>) -> Link {
    let inertia = match &geometry {
        Some(Geometry::Sphere { radius }) => {
            Mat3::from_diagonal(Vec3::splat(0.4 * mass * radius * radius))
        }
        Some(Geometry::Box { size }) => {
            let s = *size * *size;
            Mat3::from_diagonal(Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (mass / 12.0))
        }
        _ => Mat3::from_diagonal(Vec3::splat(0.01 * mass)),
    };
    Link {
        name: name.to_string(),
        model_from_link: Transform::from_translation(at),
        inertial: Inertial { mass, inertia, origin: InertiaOrigin::Given, ..Inertial::default() },
        collisions: geometry
            .into_iter()
            .map(|geometry| shape(geometry, Surface::default()))
            .collect(),
        gravity: true,
        ..Link::default()
    }
}

fn shape(geometry: Geometry, surface: Surface) -> Collision {
    Collision { name: "shape".into(), link_from_shape: Transform::IDENTITY, geometry, surface }
}

/// A model of one link, whose frame is the link's.
fn thing(name: &str, mut link: Link) -> Model_ {
    let parent_from_model = std::mem::take(&mut link.model_from_link);
    Model_ { name: name.to_string(), parent_from_model, links: vec![link], ..Model_::default() }
}

/// The same, turned about the world's origin.
fn turned(turn: f64, mut model: Model_) -> Model_ {
    let turn = Transform::from_rotation(quat_from_axis_angle(Vec3::Y, turn));
    model.parent_from_model = turn * model.parent_from_model;
    model
}

fn ground(surface: Surface, tilt: f64) -> Model_ {
    let normal = Vec3::Z;
    let size = headland_base::maths::Vec2::new(100.0, 100.0);
    let mut link = link("link", Vec3::ZERO, 1.0, None);
    link.collisions.push(shape(Geometry::Plane { normal, size }, surface));
    turned(tilt, Model_ { is_static: true, ..thing("ground", link) })
}

fn ball(at: Vec3) -> Link {
    link("link", at, 1.5, Some(Geometry::Sphere { radius: 0.5 }))
}

fn joint(name: &str, parent: Option<&str>, child: &str, at: Vec3, kind: JointKind) -> Joint {
    Joint {
        name: name.into(),
        parent: parent.map(str::to_string),
        child: child.into(),
        child_from_joint: Transform::from_translation(at),
        kind,
        opaque: Vec::new(),
    }
}

fn speed_of(state: &State, model: &Model, name: &str) -> Vec3 {
    state.object_twist(model, model.object(name).expect("an object")).linear
}

fn place_of(state: &State, model: &Model, name: &str) -> Vec3 {
    state.object_pose(model, model.object(name).expect("an object")).translation
}

/// Gives one axis a constant effort.
struct Push(usize, f64);

impl Controller for Push {
    fn name(&self) -> &str {
        "push"
    }
    fn period(&self) -> SimDuration {
        SimDuration::from_nanos(1_000_000)
    }
    fn update(&mut self, _: &Model, _: &State, commands: &mut Commands) {
        commands.set(self.0, headland_sim::Command { mode: Mode::Effort, target: self.1 });
    }
}

/// A wheel on a hinge without gravity, pushed by a constant torque.
fn wheel(kind: JointKind, turn_speed: f64) -> World {
    let mut disc = link("disc", Vec3::ZERO, 1.0, None);
    disc.gravity = false;
    disc.initial_twist.angular = Vec3::new(0.0, 0.0, turn_speed);
    let axle = joint("axle", None, "disc", Vec3::ZERO, kind);
    world(vec![Model_ { joints: vec![axle], ..thing("wheel", disc) }])
}
