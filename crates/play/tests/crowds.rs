//! Players that run into each other, fall on each other and get stuck, at every detail beside
//! every other, under the hard law: they give way, and nobody is thrown about.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use headland_base::maths::sqrt;
use headland_base::{Diagnostic, SimDuration, Source, Vec3};
use headland_sim::{Cast, Model, Observer, Setup, State, run};
use headland_world::Detail;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

const DETAILS: [Detail; 4] =
    [Detail::Kinematic, Detail::ComFixed, Detail::Com, Detail::Articulated];

const GRAVITY: f64 = 9.81;

/// From where one is dropped on the other \[m\], and how tall a player is.
const DROP: f64 = 0.75;
const TALL: f64 = 0.7;

/// What the joints of the player are limited to \[rad/s\].
const JOINT_SPEED: f64 = 7.0;

const STEP: f64 = 1e-3;

const WALK: &str = "<role>walk</role><velocity>0.2 0 0</velocity>";
const STAND: &str = "<role>stand</role>";

const GROUND: &str = r#"<model name="ground"><static>true</static><link name="link">
    <collision name="plane"><geometry><plane/></geometry>
    <surface><friction><ode><mu>0.8</mu><mu2>0.8</mu2></ode></friction></surface>
    </collision></link></model>"#;

/// A wall to walk against, and a ball before it.
const WALL_AND_BALL: &str = r#"<model name="wall"><static>true</static><pose>0.6 0 0.5 0 0 0</pose>
    <link name="l"><collision name="c"><geometry><box><size>0.1 2 1</size></box></geometry>
    </collision></link></model>
    <model name="ball"><pose>0.4 0.03 0.07 0 0 0</pose><link name="l">
    <inertial auto="true"><mass>0.2</mass></inertial>
    <collision name="c"><geometry><sphere><radius>0.07</radius></sphere></geometry></collision>
    </link></model>"#;

fn player(name: &str, pose: &str, told: &str, detail: Detail) -> String {
    format!(
        r#"<include><uri>robots/player</uri><name>{name}</name><pose>{pose}</pose>
        <headland:detail>{}</headland:detail>
        <headland:controller type="player">{told}</headland:controller></include>"#,
        detail.word()
    )
}

/// What was the worst in a run, and what it ended with.
#[derive(Default)]
struct Watch {
    fastest: (f64, f64),
    hardest: (f64, f64),
    /// Whether players touched each other.
    n_between: usize,
    /// Poses of one robot's links.
    of_robot: Option<&'static str>,
    seen: Vec<(Vec3, Vec3)>,
    /// The largest difference of momentum from what gravity gives \[N·s\].
    momentum_off: Option<f64>,
    start: Option<Vec<Vec3>>,
}

impl Observer for Watch {
    fn sample(&mut self, model: &Model, state: &State) -> Result<(), Diagnostic> {
        let now = state.time.secs();
        for rigid in &state.rigids {
            let speed = rigid.twist.linear.length();
            assert!(speed.is_finite());
            if speed > self.fastest.0 {
                self.fastest = (speed, now);
            }
        }
        for contact in &state.contacts {
            let force = contact.force.length();
            if force > self.hardest.0 {
                self.hardest = (force, now);
            }
            let [a, b] = [contact.body_a, contact.body_b].map(|i| &model.bodies[i].robot);
            let is_player = |name: &str| name == "a" || name == "b";
            self.n_between += usize::from(a != b && is_player(a) && is_player(b));
        }
        if let Some(name) = self.of_robot {
            let of = model.rigids.iter().zip(&state.rigids);
            let of = of.filter(|(rigid, _)| model.bodies[rigid.body_idxs[0]].robot == name);
            let both = |(_, now): (_, &headland_sim::RigidState)| {
                (now.world_from_rigid.translation, now.twist.linear)
            };
            self.seen.extend(of.map(both));
        }
        if let Some(off) = &mut self.momentum_off {
            let start = self.start.get_or_insert_with(|| centres(model, state));
            let mut sum = Vec3::ZERO;
            let mut mass = 0.0;
            for ((name, m), centre) in robots(model).into_iter().zip(start) {
                sum += momentum(model, state, name, m, *centre);
                mass += m;
            }
            *off = off.max((sum - Vec3::new(0.0, 0.0, -GRAVITY * mass * now)).length());
        }
        Ok(())
    }
}

/// Every robot that moves, and its mass.
fn robots(model: &Model) -> Vec<(&str, f64)> {
    let mass = |name: &str| {
        let of = model.rigids.iter().filter(|r| model.bodies[r.body_idxs[0]].robot == name);
        of.map(|rigid| rigid.mass).sum()
    };
    ["a", "b"].map(|name| (name, mass(name))).into()
}

fn base_of(model: &Model, name: &str) -> usize {
    let is_of = |r: &headland_sim::Rigid| model.bodies[r.body_idxs[0]].robot == name;
    model.rigids.iter().position(is_of).expect("a robot")
}

/// Where the centre of mass of each robot is in its first link.
fn centres(model: &Model, state: &State) -> Vec<Vec3> {
    let one = |(name, mass): (&str, f64)| {
        let mut sum = Vec3::ZERO;
        for (rigid, now) in model.rigids.iter().zip(&state.rigids) {
            if model.bodies[rigid.body_idxs[0]].robot == name {
                sum += now.world_from_rigid.point(rigid.centre) * rigid.mass;
            }
        }
        let base = state.rigids[base_of(model, name)].world_from_rigid;
        base.inverse().point(sum / mass)
    };
    robots(model).into_iter().map(one).collect()
}

/// Of all links; of a robot whose mass is taken to stay where it was, of that centre.
fn momentum(model: &Model, state: &State, name: &str, mass: f64, centre: Vec3) -> Vec3 {
    let detail = model.world.models.iter().find(|robot| robot.name == name);
    if detail.and_then(|robot| robot.detail) == Some(Detail::ComFixed) {
        let base = &state.rigids[base_of(model, name)];
        let arm = base.world_from_rigid.vector(centre);
        return (base.twist.linear + base.twist.angular.cross(arm)) * mass;
    }
    let mut sum = Vec3::ZERO;
    for (rigid, now) in model.rigids.iter().zip(&state.rigids) {
        if model.bodies[rigid.body_idxs[0]].robot == name {
            let arm = now.world_from_rigid.vector(rigid.centre);
            sum += (now.twist.linear + now.twist.angular.cross(arm)) * rigid.mass;
        }
    }
    sum
}

/// Runs what stands in a world, and says what the heaviest robot weighs \[kg\].
fn play(inside: &str, secs: f64, mut watch: Watch) -> (Watch, f64) {
    let text = format!(
        r#"<sdf version="1.11" xmlns:headland="urn:headland:sdf"><world name="crowd">
        <gravity>0 0 -{GRAVITY}</gravity><physics name="p" type="ode">
        <max_step_size>{STEP}</max_step_size></physics>{inside}</world></sdf>"#
    );
    let source = Source::new("crowd.sdf", text);
    let read = headland_world::read_text(source, Path::new(ROOT), &Default::default());
    let read = read.expect("reads");
    let model = Model::compile_read(&Arc::new(read.world), &read.places).expect("compiles");
    let mut cast = Cast::default();
    let hired = headland_play::cast(&model, &read.places).expect("a cast");
    cast.controllers.extend(hired.into_iter().map(|hired| hired.controller));
    let setup = Setup::new(&model, SimDuration::from_secs(secs).expect("a duration"));
    let entry = headland_engines::find("native").expect("an engine");
    let mut engine = (entry.make)(entry);
    let go_on = &mut |_| ControlFlow::Continue(());
    let end = run(&model, &setup, engine.as_mut(), &mut cast, &mut watch, go_on).expect("runs");
    assert!(end.contained.is_empty(), "{:?}", end.contained);
    (watch, robots(&model).into_iter().map(|(_, mass)| mass).fold(0.0, f64::max))
}

/// Nothing is faster than what fell from as high as anything was, with limbs of its own and of
/// another that swing as fast as motors can. Nothing is pressed harder than to stop two robots
/// at that speed within a step.
fn assert_plausible(what: &str, watch: &Watch, mass: f64) {
    let speed_max = sqrt(2.0 * GRAVITY * (DROP + TALL)) + 2.0 * JOINT_SPEED * TALL;
    let force_max = 2.0 * mass * speed_max / STEP;
    let ((speed, then), (force, when)) = (watch.fastest, watch.hardest);
    eprintln!("{what}: at most {speed:.2} m/s at {then} s, {force:.0} N at {when} s");
    assert!(speed < speed_max, "{what}: {speed} m/s at {then} s");
    assert!(force < force_max, "{what}: {force} N at {when} s");
}

/// All pairs of details, in either place.
fn pairs() -> impl Iterator<Item = (Detail, Detail)> {
    DETAILS.into_iter().flat_map(|a| DETAILS.into_iter().map(move |b| (a, b)))
}

#[test]
fn whoever_is_dropped_on_another_falls_off() {
    for (a, b) in pairs() {
        let what = format!("{} falls on {}", b.word(), a.word());
        let (below, above) = (
            player("a", "0 0 0 0 0 0", STAND, a),
            player("b", &format!("0.05 0 {DROP} 0 0.3 0"), STAND, b),
        );
        let (watch, mass) = play(&[GROUND, &below, &above].concat(), 1.5, Watch::default());
        assert_plausible(&what, &watch, mass);
        assert!(watch.n_between > 0, "{what}: they touched");
    }
}

#[test]
fn whoever_walks_into_another_is_stopped() {
    for (i, a) in DETAILS.into_iter().enumerate() {
        for b in &DETAILS[i..] {
            let what = format!("{} meets {}", a.word(), b.word());
            let left = player("a", "-0.25 0.02 0 0 0 0", WALK, a);
            let right = player("b", "0.25 -0.02 0 0 0 3.14159", WALK, *b);
            let (watch, mass) = play(&[GROUND, &left, &right].concat(), 4.0, Watch::default());
            assert_plausible(&what, &watch, mass);
            assert!(watch.n_between > 0, "{what}: they touched");
        }
    }
}

#[test]
fn a_ball_between_a_player_and_a_wall_gives_way() {
    for detail in DETAILS {
        let walks = player("a", "0 0 0 0 0 0", WALK, detail);
        let (watch, mass) = play(&[GROUND, WALL_AND_BALL, &walks].concat(), 4.0, Watch::default());
        assert_plausible(&format!("{} with a ball", detail.word()), &watch, mass);
    }
}

/// Two that fall together, hooked into each other, with legs that step: whatever they do to each
/// other, what they have together is what gravity gave.
#[test]
fn who_presses_another_gives_it_what_it_takes_itself() {
    let details = [Detail::ComFixed, Detail::Com, Detail::Articulated];
    for (i, a) in details.into_iter().enumerate() {
        for b in &details[i..] {
            let left = player("a", "-0.05 0.02 0 0 0 0", WALK, a);
            let right = player("b", "0.05 -0.02 0.1 0 0 3.14159", WALK, *b);
            let watch = Watch { momentum_off: Some(0.0), ..Watch::default() };
            let (watch, mass) = play(&[left, right].concat(), 1.0, watch);
            let what = format!("{} and {}", a.word(), b.word());
            let off = watch.momentum_off.expect("was measured");
            eprintln!("{what}: {off:e} N·s off, {} contacts", watch.n_between);
            assert!(watch.n_between > 50, "{what}: they pressed, {}", watch.n_between);
            // Rounding of a thousand steps; and of masses that turn about joints by steps of first
            // order, what one turns by within a step.
            let is_stepped = a == Detail::Articulated || *b == Detail::Articulated;
            let swing = if is_stepped { STEP * JOINT_SPEED * JOINT_SPEED * TALL } else { 0.0 };
            assert!(off < (1e-9 + swing) * mass, "{what}: {off} N·s");
        }
    }
}

/// Somebody beside a jam does not notice it: to the bit as if they were far apart.
#[test]
fn others_go_on() {
    for (a, b) in [(Detail::Kinematic, Detail::Com), (Detail::Com, Detail::Com)] {
        let seen = |apart: f64| {
            let left = player("a", "-0.25 0.02 0 0 0 0", WALK, a);
            let right = player("b", &format!("{apart} -0.02 0 0 0 3.14159"), WALK, b);
            let third = player("c", "0 4 0 0 0 0", WALK, Detail::Articulated);
            let watch = Watch { of_robot: Some("c"), ..Watch::default() };
            play(&[GROUND, &left, &right, &third].concat(), 4.0, watch).0
        };
        let (jammed, free) = (seen(0.25), seen(9.0));
        assert!(jammed.n_between > 0 && free.n_between == 0);
        assert!(jammed.seen == free.seen && !free.seen.is_empty(), "{} {}", a.word(), b.word());
    }
}
