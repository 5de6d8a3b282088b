//! What the player can do, on the engine that is always there.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, SimDuration, Source, Vec3};
use headland_play::firmware::tilt;
use headland_play::player::between_feet;
use headland_play::skeleton::Skeleton;
use headland_sim::{Cast, Model, Observer, Setup, State, run};
use headland_world::{Places, Read};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A ground with one player that is told `parameters`, at a pose, and whatever else.
fn field(pose: &str, parameters: &str, besides: &str) -> Read {
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

/// What was seen of a run.
#[derive(Default)]
struct Seen {
    skeleton: Option<Skeleton>,
    worst_tilt: f64,
    lowest: f64,
}

impl Observer for Seen {
    fn sample(&mut self, _: &Model, state: &State) -> Result<(), Diagnostic> {
        let root = self.skeleton.as_ref().expect("found before").root_rigid;
        let pose = state.rigids[root].world_from_rigid;
        let (roll, pitch) = tilt(pose.rotation);
        self.worst_tilt = self.worst_tilt.max(roll.abs()).max(pitch.abs());
        self.lowest = self.lowest.min(pose.translation.z);
        Ok(())
    }
}

struct Ran {
    model: Model,
    state: State,
    seen: Seen,
}

impl Ran {
    fn skeleton(&self) -> &Skeleton {
        self.seen.skeleton.as_ref().expect("found before")
    }

    /// How high the root is at the end, and how much of its z points up.
    fn height_and_up(&self) -> (f64, f64) {
        let root = self.state.rigids[self.skeleton().root_rigid].world_from_rigid;
        (root.translation.z, root.vector(Vec3::Z).z)
    }
}

fn play(read: Read, secs: f64) -> Ran {
    let model = Model::compile_read(&Arc::new(read.world), &read.places).expect("compiles");
    let mut cast = Cast::default();
    let hired = headland_play::cast(&model, &read.places).expect("a cast");
    cast.controllers.extend(hired.into_iter().map(|hired| hired.controller));
    let setup = Setup::new(&model, SimDuration::from_secs(secs).expect("a duration"));
    let entry = headland_engines::find("rapier").expect("embedded");
    let mut engine = (entry.make)(entry);
    let skeleton = Skeleton::find(&model, "robot").expect("a player");
    let mut seen = Seen { skeleton: Some(skeleton), lowest: f64::MAX, ..Seen::default() };
    let go_on = &mut |_| ControlFlow::Continue(());
    let end = run(&model, &setup, engine.as_mut(), &mut cast, &mut seen, go_on).expect("runs");
    assert!(end.contained.is_empty(), "{:?}", end.contained);
    Ran { model, state: end.state, seen }
}

fn walk(velocity: &str, secs: f64) -> Ran {
    let told = format!("<role>walk</role><velocity>{velocity}</velocity>");
    let ran = play(field("0 0 0 0 0 0", &told, ""), secs);
    assert!(ran.seen.worst_tilt < 0.15, "tilted by {}", ran.seen.worst_tilt);
    ran
}

const BALL: &str = r#"<model name="ball"><pose>0.175 0.059 0.07 0 0 0</pose><link name="link">
    <inertial auto="true"><mass>0.2</mass></inertial>
    <collision name="sphere"><geometry><sphere><radius>0.07</radius></sphere></geometry></collision>
    </link></model>
    <headland:region name="goal"><pose>3 0.059 0 0 0 0</pose>
    <geometry><box><size>1 1 1</size></box></geometry></headland:region>"#;

#[test]
fn it_stands() {
    let ran = play(field("0 0 0 0 0 0", "", ""), 5.0);
    assert!(ran.seen.worst_tilt < 0.02, "{}", ran.seen.worst_tilt);
    let at = between_feet(ran.skeleton(), &ran.state).at;
    assert!(at.length() < 0.03, "slid to {at}");
}

/// Without anybody who moves it, the servos hold it straight.
#[test]
fn it_stands_alone() {
    let mut read = field("0 0 0 0 0 0", "", "");
    read.world.models.iter_mut().for_each(|model| model.controllers.clear());
    assert!(play(read, 3.0).seen.worst_tilt < 0.05);
}

/// A metre in ten seconds, after a second to get ready, and straight.
#[test]
fn it_walks_forwards_and_straight() {
    let ran = walk("0.15 0 0", 11.0);
    let spot = between_feet(ran.skeleton(), &ran.state);
    assert!(spot.at.x > 1.2, "{}", spot.at);
    assert!(spot.at.y.abs() < 0.1 && spot.yaw.abs() < 0.1, "{spot:?}");
}

#[test]
fn it_turns_and_steps_aside_the_way_it_is_told() {
    for sign in [1.0, -1.0] {
        let ran = walk(&format!("0 0 {}", 0.5 * sign), 5.0);
        let spot = between_feet(ran.skeleton(), &ran.state);
        assert!(spot.yaw * sign > 1.0, "{spot:?}");
        let ran = walk(&format!("0 {} 0", 0.05 * sign), 6.0);
        let spot = between_feet(ran.skeleton(), &ran.state);
        assert!(spot.at.y * sign > 0.15 && spot.at.x.abs() < 0.1, "{spot:?}");
    }
}

#[test]
fn a_kick_moves_the_ball() {
    let told = "<role>striker</role><goal>goal</goal><kicks>1</kicks>";
    let ran = play(field("0 0 0 0 0 0", told, BALL), 6.0);
    let ball = ran.model.object("ball").expect("a ball");
    let at = ran.state.object_pose(&ran.model, ball).translation;
    assert!(at.x > 0.175 + 1.0, "the ball is at {at}");
    assert!(ran.seen.worst_tilt < 0.2, "{}", ran.seen.worst_tilt);
}

/// It gets up from the front and from the back: it was down, and is up again.
#[test]
fn what_has_fallen_gets_up() {
    for pitch in [1.5, -1.5] {
        let ran = play(field(&format!("0 0 0.1 0 {pitch} 0"), "", ""), 7.5);
        assert!(ran.seen.lowest < 0.1, "it lay at {}", ran.seen.lowest);
        let (height, up) = ran.height_and_up();
        assert!(height > 0.25 && up > 0.99, "at {height} m, {up} up, from {pitch}");
    }
}

/// What a world may ask wrongly is told at its place, all at once.
#[test]
fn slips_are_pointed_at() {
    let read = field(
        "0 0 0 0 0 0",
        "<role>striker</role><goal>gool</goal><kick>1</kick><kicks>one</kicks><ball>bal</ball>",
        BALL,
    );
    let model = Model::compile_read(&Arc::new(read.world), &read.places).expect("compiles");
    let Err(wrong) = headland_play::cast(&model, &read.places) else { panic!("all is wrong") };
    let codes: Vec<&str> = wrong.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["unknown-object", "unknown-region", "bad-parameter", "unknown-parameter"]);
    assert!(wrong.iter().all(|diagnostic| diagnostic.place.is_some()));
    let helps: Vec<&str> = wrong.iter().filter_map(|d| d.help.as_deref()).collect();
    assert!(helps.contains(&"did you mean `goal`?") && helps.contains(&"did you mean `kicks`?"));
    for (parameters, code) in [
        ("<role>goalie</role>", "unknown-role"),
        ("<role>keeper</role>", "missing-parameter"),
        ("<role>slalom</role>", "missing-parameter"),
    ] {
        let read = field("0 0 0 0 0 0", parameters, "");
        let model = Model::compile(&Arc::new(read.world)).expect("compiles");
        let Err(wrong) = headland_play::cast(&model, &Places::default()) else { panic!("{code}") };
        assert!(wrong.iter().all(|diagnostic| diagnostic.code == code), "{wrong:?}");
    }
}
