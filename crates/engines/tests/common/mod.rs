//! What tests of engines share: worlds from files and from text, watched runs, commands from
//! tables, and what is conserved.
#![allow(dead_code, reason = "each test file uses what it needs")]

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use headland_base::{Diagnostic, Mat3, Severity, SimDuration, SimTime, Source, Transform, Vec3};
use headland_engines::native;
use headland_sim::{
    Cast, Command, Commands, Controller, Engine, EngineEntry, EngineOptions, Gains, Mode, Model,
    Observer, RunEnd, Setup, State, run,
};
use headland_world::{Axis, ContactLaw, Integrator, JointKind, ReadOptions, Twist, World};

/// The workspace's root.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

pub const GRAVITY: f64 = 9.81;

/// A world that ships.
pub fn shipped(name: &str) -> World {
    let path = PathBuf::from(format!("{ROOT}/worlds/{name}.sdf"));
    headland_world::read(&path, &ReadOptions::default()).expect("a world that ships").world
}

/// The world of a text, in any format; files it names are looked for from the workspace's root.
pub fn world_of(text: &str) -> World {
    let source = Source::new("world", text.to_string());
    match headland_world::read_text(source, Path::new(ROOT), &ReadOptions::default()) {
        Ok(read) => read.world,
        Err(findings) => panic!("{findings:#?}\n{text}"),
    }
}

/// An SDF world of these models, in steps of 1 ms under gravity.
pub fn sdf_world(models: &str) -> World {
    world_of(&format!(
        r#"<sdf version="1.11" xmlns:headland="urn:headland:sdf"><world name="test">
        <gravity>0 0 -{GRAVITY}</gravity>
        <physics name="p" type="ode"><max_step_size>0.001</max_step_size></physics>
        {models}</world></sdf>"#
    ))
}

/// A level ground.
pub const GROUND: &str = r#"<model name="ground"><static>true</static><link name="link">
    <collision name="plane"><geometry><plane><normal>0 0 1</normal><size>100 100</size></plane>
    </geometry></collision></link></model>"#;

/// A cart that rolls along x at the detail `vehicle`: two wheels of 0.05 m on motors that take a
/// speed, and a box of 0.2 m around it.
pub fn cart(name: &str, pose: &str) -> String {
    let wheel = |side: &str, y: f64| {
        format!(
            r#"<link name="{side}"><pose>0 {y} 0.05 0 0 0</pose><inertial><mass>0.1</mass><inertia>
            <ixx>0.0001</ixx><iyy>0.0001</iyy><izz>0.0001</izz></inertia></inertial></link>
            <joint name="{side}_axle" type="continuous"><parent>body</parent><child>{side}</child>
            <axis><xyz>0 1 0</xyz></axis></joint>
            <headland:wheel joint="{side}_axle" radius="0.05"/>
            <headland:actuator name="{side}_motor" joint="{side}_axle" type="velocity" kv="1"/>"#
        )
    };
    format!(
        r#"<model name="{name}"><pose>{pose}</pose><headland:detail>vehicle</headland:detail>
        <link name="body"><pose>0 0 0.1 0 0 0</pose><inertial><mass>2</mass><inertia><ixx>0.01</ixx>
        <iyy>0.01</iyy><izz>0.01</izz></inertia></inertial><collision name="c"><geometry><box>
        <size>0.2 0.2 0.1</size></box></geometry></collision></link>{}{}</model>"#,
        wheel("left", 0.1),
        wheel("right", -0.1)
    )
}

/// Moves a world by an integrator, and by a law, of the native engine.
pub fn by(mut world: World, integrator: Integrator, law: ContactLaw) -> World {
    world.physics.native.integrator = Some(integrator);
    world.physics.native.law = Some(law);
    world
}

/// A run: how it goes and who takes part.
pub struct Play<'a> {
    pub engine: &'a EngineEntry,
    pub secs: f64,
    pub cast: Cast,
    pub gains: Option<Gains>,
    pub n_threads: usize,
}

impl Play<'_> {
    /// By the native engine, with nobody in it.
    pub fn native(secs: f64) -> Play<'static> {
        Play { engine: &native::ENTRY, secs, cast: Cast::default(), gains: None, n_threads: 1 }
    }

    pub fn with(mut self, controller: impl Controller + 'static) -> Self {
        self.cast.controllers.push(Box::new(controller));
        self
    }

    pub fn gains(mut self, kp: f64, kd: f64) -> Self {
        self.gains = Some(Gains { kp, kd });
        self
    }

    pub fn on_threads(mut self, n_threads: usize) -> Self {
        self.n_threads = n_threads;
        self
    }

    /// Runs a world and shows every state.
    pub fn watch(self, world: &World, see: impl FnMut(&Model, &State)) -> Ran {
        let mut engine = (self.engine.make)(self.engine);
        self.watch_by(engine.as_mut(), world, see)
    }

    /// The same by an engine at hand.
    pub fn watch_by(
        mut self,
        engine: &mut dyn Engine,
        world: &World,
        mut see: impl FnMut(&Model, &State),
    ) -> Ran {
        let model = Model::compile(&Arc::new(world.clone())).expect("a world that compiles");
        let mut setup = Setup::new(&model, SimDuration::from_secs(self.secs).expect("short"));
        setup.gains = self.gains;
        setup.n_threads = self.n_threads;
        let notes = engine.check(&model, &EngineOptions::new(model.world.physics.step));
        assert!(notes.iter().all(|note| note.severity != Severity::Error), "{notes:#?}");
        let mut eyes = Eyes { see: &mut see, events: Vec::new() };
        let go = &mut |_| ControlFlow::Continue(());
        let end = run(&model, &setup, engine, &mut self.cast, &mut eyes, go);
        let events = eyes.events;
        Ran { end: end.expect("runs"), events, model }
    }
}

struct Eyes<'a> {
    see: &'a mut dyn FnMut(&Model, &State),
    events: Vec<(SimTime, String, String)>,
}

impl Observer for Eyes<'_> {
    fn sample(&mut self, model: &Model, state: &State) -> Result<(), Diagnostic> {
        (self.see)(model, state);
        Ok(())
    }

    fn event(&mut self, at: SimTime, who: &str, kind: &str, _: &str) -> Result<(), Diagnostic> {
        self.events.push((at, who.to_string(), kind.to_string()));
        Ok(())
    }
}

/// How a run ended.
pub struct Ran {
    pub model: Model,
    pub end: RunEnd,
    /// When, who, and what happened.
    pub events: Vec<(SimTime, String, String)>,
}

pub fn pose_of(model: &Model, state: &State, name: &str) -> Transform {
    state.object_pose(model, model.object(name).unwrap_or_else(|| panic!("no object {name}")))
}

pub fn place_of(model: &Model, state: &State, name: &str) -> Vec3 {
    pose_of(model, state, name).translation
}

pub fn twist_of(model: &Model, state: &State, name: &str) -> Twist {
    state.object_twist(model, model.object(name).unwrap_or_else(|| panic!("no object {name}")))
}

/// Kinetic energy, rotors included, and potential energy of everything that moves \[J\].
pub fn energy(model: &Model, state: &State) -> f64 {
    let moving = |i: &usize| model.rigids[*i].motion == headland_sim::Motion::Dynamic;
    let links: f64 = (0..model.rigids.len())
        .filter(moving)
        .map(|i| {
            let rigid = &model.rigids[i];
            let centre = state.rigids[i].world_from_rigid.point(rigid.centre);
            state.kinetic_energy(model, i) - rigid.mass * model.world.gravity.dot(centre)
        })
        .sum();
    let rotors = model.dofs.iter().zip(&state.dofs);
    links
        + rotors
            .map(|(dof, now)| 0.5 * dof.axis.armature * now.velocity * now.velocity)
            .sum::<f64>()
}

/// Mass, centre, momentum, and angular momentum about the centre, of everything that moves.
pub struct Whole {
    pub mass: f64,
    pub centre: Vec3,
    pub line: Vec3,
    pub spin: Vec3,
}

pub fn whole(model: &Model, state: &State) -> Whole {
    let rigids = || {
        let both = model.rigids.iter().zip(&state.rigids);
        both.filter(|(rigid, _)| rigid.motion == headland_sim::Motion::Dynamic)
    };
    let mass: f64 = rigids().map(|(rigid, _)| rigid.mass).sum();
    let centre = rigids()
        .map(|(rigid, now)| now.world_from_rigid.point(rigid.centre) * rigid.mass)
        .sum::<Vec3>()
        / mass;
    let (mut line, mut spin) = (Vec3::ZERO, Vec3::ZERO);
    for (rigid, now) in rigids() {
        let at = now.world_from_rigid.point(rigid.centre);
        let arm = at - now.world_from_rigid.translation;
        let momentum = (now.twist.linear + now.twist.angular.cross(arm)) * rigid.mass;
        let turn = Mat3::from_quat(now.world_from_rigid.rotation);
        line += momentum;
        spin += (at - centre).cross(momentum)
            + turn * rigid.inertia * turn.transpose() * now.twist.angular;
    }
    Whole { mass, centre, line, spin }
}

/// Every axis of every joint, to be changed.
pub fn axes(world: &mut World, mut change: impl FnMut(&mut Axis)) {
    for joint in world.models.iter_mut().flat_map(|model| &mut model.joints) {
        match &mut joint.kind {
            JointKind::Revolute(axis)
            | JointKind::Continuous(axis)
            | JointKind::Prismatic(axis)
            | JointKind::Screw { axis, .. } => change(axis),
            JointKind::Universal(first, second) => {
                [first, second].into_iter().for_each(&mut change)
            }
            JointKind::Ball | JointKind::Fixed => {}
        }
    }
}

/// An axis, and what it is told.
pub type Told = (usize, Mode, f64);

/// Gives commands by a function of time, every millisecond.
pub struct By<F>(pub F);

impl<F: FnMut(f64, &Model, &State) -> Vec<Told>> Controller for By<F> {
    fn name(&self) -> &str {
        "test"
    }

    fn period(&self) -> SimDuration {
        SimDuration::from_nanos(1_000_000)
    }

    fn update(&mut self, model: &Model, state: &State, commands: &mut Commands) {
        for (dof, mode, target) in (self.0)(state.time.secs(), model, state) {
            commands.set(dof, Command { mode, target });
        }
    }
}

/// The efforts of a table that ships beside the worlds, each from its time on.
pub fn efforts_of(table: &str) -> impl Controller + use<> {
    let text = std::fs::read_to_string(format!("{ROOT}/worlds/{table}.csv")).expect("a table");
    let mut lines = text.lines();
    let joints: Vec<String> = lines
        .next()
        .expect("a head")
        .split(',')
        .skip(1)
        .map(|column| column.strip_suffix("/effort").expect("efforts only").to_string())
        .collect();
    let numbers = |line: &str| -> Vec<f64> {
        line.split(',').map(|number| number.parse().expect("a number")).collect()
    };
    let rows: Vec<Vec<f64>> = lines.map(numbers).collect();
    By(move |now, model: &Model, _: &State| {
        let row = rows.iter().rev().find(|row| row[0] <= now + 1e-9).expect("a row for the start");
        let axis = |joint: &String| model.dof(&format!("gripper::{joint}")).expect("an axis");
        joints.iter().zip(&row[1..]).map(|(j, x)| (axis(j), Mode::Effort, *x)).collect()
    })
}

/// The folder of public robots that the Python package `pybullet` brings; `None` where it is not
/// installed, which is a failure where `HEADLAND_REQUIRE_FOREIGN` is 1.
pub fn public_robots() -> Option<PathBuf> {
    package("pybullet_data")
}

/// The folder of a Python package, which is looked for and not loaded: what it needs itself may be
/// missing.
pub fn package(name: &str) -> Option<PathBuf> {
    let must = std::env::var("HEADLAND_REQUIRE_FOREIGN").as_deref() == Ok("1");
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        assert!(!must, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!("skipped: needs {name}; ./test installs it");
        return None;
    };
    let asked = format!(
        "from importlib.util import find_spec; print(*find_spec('{name}').submodule_search_locations)"
    );
    let output = std::process::Command::new(python)
        .args(["-B", "-c", &asked])
        .output()
        .expect("HEADLAND_PYTHON is an interpreter");
    assert!(output.status.success() || !must, "{name} is not installed");
    let path = String::from_utf8(output.stdout).expect("a path");
    output.status.success().then(|| PathBuf::from(path.trim()))
}
