//! What the player can do, on the engine that is always there.

use std::ops::ControlFlow;
use std::sync::Arc;

use headland_base::{Diagnostic, SimDuration, SimTime, Vec3};
use headland_play::player::between_feet;
use headland_sim::{
    Command, Commands, Engine, EngineOptions, Fault, Inputs, Model, Observer, Setup, State, Wrench,
    run,
};
use headland_world::{ContactLaw, Detail, Places, Read};

#[path = "../examples/paces.rs"]
mod paces;

use paces::{BALL, Ran, field, get_up, kick, play};

/// The engine that is always there.
const ENGINE: &str = "rapier";

fn walk(velocity: &str, secs: f64) -> Ran {
    let ran = paces::walk(ENGINE, velocity, secs);
    assert!(ran.worst_tilt < 0.15, "tilted by {}", ran.worst_tilt);
    ran
}

#[test]
fn it_stands() {
    let ran = play(ENGINE, field("0 0 0 0 0 0", "", ""), 5.0);
    assert!(ran.worst_tilt < 0.02, "{}", ran.worst_tilt);
    let at = ran.spot().at;
    assert!(at.length() < 0.03, "slid to {at}");
}

/// Without anybody who moves it, the servos hold it straight.
#[test]
fn it_stands_alone() {
    let mut read = field("0 0 0 0 0 0", "", "");
    read.world.models.iter_mut().for_each(|model| model.controllers.clear());
    assert!(play(ENGINE, read, 3.0).worst_tilt < 0.05);
}

/// A metre in ten seconds, after a second to get ready, and straight.
#[test]
fn it_walks_forwards_and_straight() {
    let ran = walk("0.15 0 0", 11.0);
    let spot = ran.spot();
    assert!(spot.at.x > 1.2, "{}", spot.at);
    assert!(spot.at.y.abs() < 0.1 && spot.yaw.abs() < 0.1, "{spot:?}");
}

#[test]
fn it_turns_and_steps_aside_the_way_it_is_told() {
    for sign in [1.0, -1.0] {
        let ran = walk(&format!("0 0 {}", 0.5 * sign), 5.0);
        let spot = ran.spot();
        assert!(spot.yaw * sign > 1.0, "{spot:?}");
        let ran = walk(&format!("0 {} 0", 0.05 * sign), 6.0);
        let spot = ran.spot();
        assert!(spot.at.y * sign > 0.15 && spot.at.x.abs() < 0.1, "{spot:?}");
    }
}

#[test]
fn a_kick_moves_the_ball() {
    let ran = kick(ENGINE, 5.5);
    let ball = ran.model.object("ball").expect("a ball");
    let at = ran.state.object_pose(&ran.model, ball).translation;
    assert!(at.x > 0.175 + 1.0, "the ball is at {at}");
    assert!(ran.worst_tilt < 0.2, "{}", ran.worst_tilt);
}

/// It gets up from the front and from the back: it was down, and is up again.
#[test]
fn what_has_fallen_gets_up() {
    for pitch in [1.5, -1.5] {
        let ran = get_up(ENGINE, pitch, 7.5);
        assert!(ran.lowest < 0.1, "it lay at {}", ran.lowest);
        let (height, up) = ran.height_and_up();
        assert!(height > 0.25 && up > 0.99, "at {height} m, {up} up, from {pitch}");
    }
}

/// A field whose player is moved at a detail.
fn at(detail: Detail, pose: &str, parameters: &str, besides: &str) -> Read {
    let mut read = field(pose, parameters, besides);
    read.world.set_detail("robot", detail).expect("there is a robot");
    read
}

/// The same commands walk, turn and kick at every detail of our own engine.
#[test]
fn it_plays_at_every_detail() {
    let details = [Detail::Kinematic, Detail::ComFixed, Detail::Com, Detail::Articulated];
    for detail in details {
        let walk = "<role>walk</role><velocity>0.15 0 0.2</velocity>";
        let ran = play("native", at(detail, "0 0 0 0 0 0", walk, ""), 6.0);
        let spot = ran.spot();
        assert!(spot.yaw > 0.6 && spot.at.length() > 0.4, "{detail:?}: {spot:?}");
        assert!(ran.worst_tilt < 0.2, "{detail:?}: {}", ran.worst_tilt);
        let kick = "<role>striker</role><goal>goal</goal><kicks>1</kicks>";
        let ran = play("native", at(detail, "0 0 0 0 0 0", kick, BALL), 5.5);
        let ball = ran.model.object("ball").expect("a ball");
        let at = ran.state.object_pose(&ran.model, ball).translation;
        assert!(at.x > 0.175 + 0.5, "{detail:?}: the ball is at {at}");
    }
}

/// Walks as `kinematic` in steps of any usual length: hips as high and as fast, and as far.
#[test]
fn it_walks_kinematically_in_longer_steps() {
    let mut walks = Vec::new();
    for millis in [1_i64, 4, 8] {
        let told = "<role>walk</role><velocity>0.15 0 0</velocity>";
        let mut read = at(Detail::Kinematic, "0 0 0 0 0 0", told, "");
        read.world.physics.step = SimDuration::from_nanos(millis * 1_000_000);
        // Of the hips, once it is under way: lowest and highest, the furthest from one sample to
        // the next as a speed, and the fastest.
        let (mut low, mut high, mut jump, mut fastest) = (f64::MAX, 0.0_f64, 0.0_f64, 0.0_f64);
        let mut last = None;
        let ran = paces::watch("native", read, 10.0, &mut |skeleton, state| {
            if state.time.secs() < 2.0 {
                return;
            }
            let hips = &state.rigids[skeleton.root_rigid];
            let at = hips.world_from_rigid.translation;
            (low, high) = (low.min(at.z), high.max(at.z));
            if let Some(last) = last.replace(at) {
                jump = jump.max((at - last).length() / (millis as f64 * 1e-3));
            }
            fastest = fastest.max(hips.twist.linear.length());
        });
        let way = ran.spot().at.x;
        eprintln!(
            "{millis} ms: {way:.3} m, {low:.4} to {high:.4} m high, {jump:.3} {fastest:.3} m/s"
        );
        walks.push((way, low, high, jump, fastest));
    }
    // Hips that go level and evenly are nowhere faster than twice what a step makes of 0.15 m/s,
    // and say so.
    let first = walks[0].0;
    for (way, low, high, jump, fastest) in walks {
        assert!((way / first - 1.0).abs() < 0.02, "{way} m, and {first} m in steps of 1 ms");
        assert!(high - low < 1e-3, "{low} m to {high} m high");
        assert!(jump < 0.45 && fastest < 0.45, "{jump} m/s, {fastest} m/s");
    }
}

/// Where a robot can fall, it gets up.
#[test]
fn it_gets_up_at_every_detail_that_can_fall() {
    for detail in [Detail::Com, Detail::Articulated] {
        for pitch in [1.5, -1.5] {
            let pose = format!("0 0 0.1 0 {pitch} 0");
            let (height, up) = play("native", at(detail, &pose, "", ""), 9.0).height_and_up();
            assert!(height > 0.25 && up > 0.99, "{detail:?}: {height} m, {up} up, from {pitch}");
        }
    }
}

/// An engine that shoves a player besides.
struct Shoving {
    engine: Box<dyn Engine>,
    /// At the hips \[N\].
    force: Vec3,
}

/// From when, and for how long, it shoves \[s\].
const SHOVE: (f64, f64) = (3.0, 0.2);

impl Engine for Shoving {
    fn check(&self, model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
        self.engine.check(model, options)
    }

    fn start(
        &mut self,
        model: &Model,
        state: &State,
        options: &EngineOptions,
    ) -> Result<(), Fault> {
        self.engine.start(model, state, options)
    }

    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        let since = state.time.secs() - SHOVE.0;
        if !(0.0..SHOVE.1).contains(&since) {
            return self.engine.step(model, inputs, dt, state);
        }
        let rigid_idx = model.objects[model.object("robot").expect("a player")].rigid_idx;
        let mut inputs = inputs.clone();
        inputs.wrenches.push(Wrench { rigid_idx, force: self.force, torque: Vec3::ZERO });
        self.engine.step(model, &inputs, dt, state)
    }

    fn knows_joints(&self) -> bool {
        self.engine.knows_joints()
    }
}

/// Whoever is shoved over while walking, from whichever side, gets up by itself and walks on.
#[test]
fn what_is_shoved_over_gets_up_and_walks_on() {
    for detail in [Detail::Com, Detail::Articulated] {
        for (x, y) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
            let told = "<role>walk</role><velocity>0.15 0 0</velocity>";
            let mut read = at(detail, "0 0 0 0 0 0", told, "");
            read.world.physics.native.law = Some(ContactLaw::Hard);
            let mut engine =
                Shoving { engine: paces::made("native"), force: Vec3::new(x, y, 0.0) * 40.0 };
            // Before the shove it is on its feet; then down; where it is up for good, a way begins.
            let (mut lowest_before, mut up_at) = (f64::MAX, None);
            let ran = paces::watch_on(&mut engine, read, 20.0, &mut |skeleton, state| {
                let hips = state.rigids[skeleton.root_rigid].world_from_rigid;
                if state.time.secs() < SHOVE.0 {
                    lowest_before = lowest_before.min(hips.translation.z);
                }
                let is_up = hips.translation.z > 0.25 && hips.vector(Vec3::Z).z > 0.98;
                up_at = up_at.or(Some(between_feet(skeleton, state).at)).filter(|_| is_up);
            });
            let who = format!("{detail:?}, shoved by {x}, {y}");
            let (height, up) = ran.height_and_up();
            assert!(lowest_before > 0.25, "{who}: fell by itself, {lowest_before} m");
            assert!(ran.lowest < 0.12, "{who}: its hips were never below {} m", ran.lowest);
            assert!(height > 0.25 && up > 0.98, "{who}: {height} m, {up} up");
            let way = (ran.spot().at - up_at.expect("it is up")).length();
            assert!(way > 0.5, "{who}: {way} m since it is up");
        }
    }
}

/// When the commands of a run changed.
struct Changes {
    n_dofs: usize,
    held: Vec<Option<Command>>,
    times: Vec<SimTime>,
}

impl Observer for Changes {
    fn commands(&mut self, now: SimTime, commands: &Commands) -> Result<(), Diagnostic> {
        let held: Vec<_> = (0..self.n_dofs).map(|i| commands.held(i)).collect();
        if held != self.held {
            self.times.push(now);
        }
        self.held = held;
        Ok(())
    }
}

/// The firmware runs at its own rate in a world that steps every millisecond: what the servos are
/// told changes at each multiple of its period, and at no other moment.
#[test]
fn the_firmware_keeps_its_own_time() {
    for (rate_hz, period_millis) in [(50.0, 20), (125.0, 8)] {
        let told = "<role>walk</role><velocity>0.15 0 0.2</velocity>";
        let mut read = field("0 0 0 0 0 0", told, "");
        assert_eq!(read.world.physics.step, SimDuration::from_nanos(1_000_000));
        for model in &mut read.world.models {
            model.controllers.iter_mut().for_each(|wish| wish.rate_hz = Some(rate_hz));
        }
        let (model, mut cast) = paces::staged(read);
        let setup = Setup::new(&model, SimDuration::from_secs(4.0).expect("a duration"));
        let mut changes = Changes { n_dofs: model.dofs.len(), held: vec![], times: vec![] };
        let go_on = &mut |_| ControlFlow::Continue(());
        run(&model, &setup, paces::made(ENGINE).as_mut(), &mut cast, &mut changes, go_on)
            .expect("runs");
        let ticks = |millis: std::ops::Range<i64>| -> Vec<SimTime> {
            let at = millis.filter(|millis| millis % period_millis == 0);
            at.map(|millis| SimTime::from_nanos(millis * 1_000_000)).collect()
        };
        // From 2 s on it walks, and every tick has another answer.
        let walking = ticks(2000..4000);
        let n_before = changes.times.len() - walking.len();
        assert_eq!(changes.times[n_before..], walking, "{rate_hz} Hz");
        // Before that it may stand still, and only leave ticks out.
        let early = ticks(0..2000);
        assert!(changes.times[..n_before].iter().all(|time| early.contains(time)), "{rate_hz} Hz");
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
