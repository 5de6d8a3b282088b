//! What the player can do, engine by engine: how far it walks, turns and kicks, how long it
//! takes to get up.
//!
//! `cargo run --release -p headland-play --example paces -- native rapier mujoco ode bullet`

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, SimDuration, Source, Vec3};
use headland_play::firmware::tilt;
use headland_play::gait::Spot;
use headland_play::player::between_feet;
use headland_play::skeleton::Skeleton;
use headland_sim::{Cast, Engine, Model, Observer, Setup, State, run};
use headland_world::Read;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A ball before the left foot, and a goal behind it.
pub const BALL: &str = r#"<model name="ball"><pose>0.175 0.059 0.07 0 0 0</pose><link name="link">
    <inertial auto="true"><mass>0.2</mass></inertial>
    <velocity_decay><linear>0.1</linear><angular>0.6</angular></velocity_decay>
    <collision name="sphere"><geometry><sphere><radius>0.07</radius></sphere></geometry></collision>
    </link></model>
    <headland:region name="goal"><pose>3 0.059 0 0 0 0</pose>
    <geometry><box><size>1 1 1</size></box></geometry></headland:region>"#;

/// A ground with one player that is told `parameters`, at a pose, and whatever else.
pub fn field(pose: &str, parameters: &str, besides: &str) -> Read {
    let text = format!(
        r#"<sdf version="1.11" xmlns:headland="urn:headland:sdf"><world name="field">
        <gravity>0 0 -9.81</gravity>
        <model name="ground"><static>true</static><link name="link"><collision name="plane">
          <geometry><plane/></geometry>
          <surface><friction><ode><mu>0.8</mu><mu2>0.8</mu2></ode></friction></surface>
        </collision></link></model>
        <include><uri>robots/player</uri><name>robot</name><pose>{pose}</pose>
          <headland:controller type="player">{parameters}</headland:controller></include>
        {besides}</world></sdf>"#
    );
    let source = Source::new("field.sdf", text);
    headland_world::read_text(source, Path::new(ROOT), &Default::default()).expect("reads")
}

/// What a run was like.
pub struct Ran {
    /// What moved.
    pub model: Model,
    /// Its end.
    pub state: State,
    /// The player.
    pub skeleton: Skeleton,
    /// The furthest it leant \[rad\].
    pub worst_tilt: f64,
    /// The lowest its hips were \[m\].
    pub lowest: f64,
    /// Since when it is upright on bent legs, where it was down before \[s\].
    pub up_since: Option<f64>,
}

impl Ran {
    /// Where it ended.
    pub fn spot(&self) -> Spot {
        between_feet(&self.skeleton, &self.state)
    }

    /// How high its hips are at the end, and how much of its z points up.
    pub fn height_and_up(&self) -> (f64, f64) {
        let root = self.state.rigids[self.skeleton.root_rigid].world_from_rigid;
        (root.translation.z, root.vector(Vec3::Z).z)
    }
}

struct Watch<'a> {
    skeleton: &'a Skeleton,
    see: &'a mut dyn FnMut(&Skeleton, &State),
    worst_tilt: f64,
    lowest: f64,
    up_since: Option<f64>,
}

impl Observer for Watch<'_> {
    fn sample(&mut self, _: &Model, state: &State) -> Result<(), Diagnostic> {
        (self.see)(self.skeleton, state);
        let pose = state.rigids[self.skeleton.root_rigid].world_from_rigid;
        let (roll, pitch) = tilt(pose.rotation);
        let lean = roll.abs().max(pitch.abs());
        self.worst_tilt = self.worst_tilt.max(lean);
        self.lowest = self.lowest.min(pose.translation.z);
        let is_up = lean < 0.2 && pose.translation.z > 0.25;
        self.up_since = self.up_since.or(Some(state.time.secs())).filter(|_| is_up);
        Ok(())
    }
}

/// Runs a field with its controllers.
pub fn play(engine: &str, read: Read, secs: f64) -> Ran {
    watch(engine, read, secs, &mut |_, _| {})
}

/// The same, with every state of it shown.
pub fn watch(engine: &str, read: Read, secs: f64, see: &mut dyn FnMut(&Skeleton, &State)) -> Ran {
    watch_on(made(engine).as_mut(), read, secs, see)
}

/// An engine by its name.
pub fn made(engine: &str) -> Box<dyn Engine> {
    let entry = headland_engines::find(engine).expect("an engine");
    (entry.make)(entry)
}

/// A field compiled, and who moves its players.
pub fn staged(read: Read) -> (Model, Cast) {
    let model = Model::compile_read(&Arc::new(read.world), &read.places).expect("compiles");
    let mut cast = Cast::default();
    let hired = headland_play::cast(&model, &read.places).expect("a cast");
    cast.controllers.extend(hired.into_iter().map(|hired| hired.controller));
    (model, cast)
}

/// The same on an engine at hand.
pub fn watch_on(
    engine: &mut dyn Engine,
    read: Read,
    secs: f64,
    see: &mut dyn FnMut(&Skeleton, &State),
) -> Ran {
    let (model, mut cast) = staged(read);
    let setup = Setup::new(&model, SimDuration::from_secs(secs).expect("a duration"));
    let skeleton = Skeleton::find(&model, "robot").expect("a player");
    let mut watch =
        Watch { skeleton: &skeleton, see, worst_tilt: 0.0, lowest: f64::MAX, up_since: None };
    let go_on = &mut |_| ControlFlow::Continue(());
    let end = run(&model, &setup, engine, &mut cast, &mut watch, go_on).expect("runs");
    assert!(end.contained.is_empty(), "{:?}", end.contained);
    let Watch { worst_tilt, lowest, up_since, .. } = watch;
    Ran { model, state: end.state, skeleton, worst_tilt, lowest, up_since }
}

/// A run of a walk.
pub fn walk(engine: &str, velocity: &str, secs: f64) -> Ran {
    let told = format!("<role>walk</role><velocity>{velocity}</velocity>");
    play(engine, field("0 0 0 0 0 0", &told, ""), secs)
}

/// A run of one kick.
pub fn kick(engine: &str, secs: f64) -> Ran {
    let told = "<role>striker</role><goal>goal</goal><kicks>1</kicks>";
    play(engine, field("0 0 0 0 0 0", told, BALL), secs)
}

/// A run that begins on the front (positive) or on the back.
pub fn get_up(engine: &str, pitch: f64, secs: f64) -> Ran {
    play(engine, field(&format!("0 0 0.1 0 {pitch} 0"), "", ""), secs)
}

#[allow(dead_code, reason = "tests use the rest")]
fn main() {
    let engines: Vec<String> = std::env::args().skip(1).collect();
    println!("engine    asked           20 s: ahead m  aside m  turned rad  worst tilt rad");
    for engine in &engines {
        for velocity in ["0.1 0 0", "0.2 0 0", "-0.1 0 0", "0 0.05 0", "0 0 0.5", "0.1 0.03 0.3"] {
            let ran = walk(engine, velocity, 20.0);
            let spot = ran.spot();
            println!(
                "{engine:8}  {velocity:14}  {:13.3}  {:7.3}  {:10.3}  {:14.3}",
                spot.at.x, spot.at.y, spot.yaw, ran.worst_tilt
            );
        }
    }
    println!("\nengine    kick: ball at 6.5 s, m  up from front s  up from back s");
    for engine in &engines {
        let ran = kick(engine, 6.5);
        let ball = ran.model.object("ball").expect("a ball");
        let rolled = ran.state.object_pose(&ran.model, ball).translation.x - 0.175;
        let up = [1.5, -1.5].map(|pitch| {
            let since = get_up(engine, pitch, 9.0).up_since;
            since.map_or("not".to_string(), |secs| format!("{secs:.1}"))
        });
        println!("{engine:8}  {rolled:22.2}  {:>15}  {:>14}", up[0], up[1]);
    }
}
