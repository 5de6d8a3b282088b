//! Bodies that fit exactly between others: nothing squeezes them unless something presses.
//!
//! The impulses of such a fit are not unique. Two walls could push a cube between them as hard as
//! they like, against each other, and hold it by friction. Rigid things have no memory of having
//! been pressed: of all answers the one without a squeeze is meant.

mod common;

use std::sync::Arc;

use common::{GRAVITY, GROUND, sdf_world};
use headland_base::{SimDuration, Vec3};
use headland_engines::native;
use headland_sim::{Engine, EngineOptions, Inputs, Model, Motion, State, Wrench};

const MU: f64 = 0.5;

const STEP: SimDuration = SimDuration::from_nanos(1_000_000);

fn friction() -> String {
    format!("<surface><friction><ode><mu>{MU}</mu><mu2>{MU}</mu2></ode></friction></surface>")
}

/// A cube of 0.1 m and 1 kg whose middle is there.
fn cube(name: &str, at: Vec3) -> String {
    let Vec3 { x, y, z } = at;
    format!(
        r#"<model name="{name}"><pose>{x} {y} {z} 0 0 0</pose><link name="link">
        <inertial><mass>1</mass><inertia><ixx>0.00167</ixx><iyy>0.00167</iyy><izz>0.00167</izz>
        </inertia></inertial><collision name="box"><geometry><box><size>0.1 0.1 0.1</size></box>
        </geometry>{}</collision></link></model>"#,
        friction()
    )
}

/// What stands still, 3 m long.
fn wall(name: &str, at: Vec3, size: [f64; 2]) -> String {
    let (Vec3 { x, y, z }, [width, height]) = (at, size);
    format!(
        r#"<model name="{name}"><static>true</static><pose>{x} {y} {z} 0 0 0</pose><link name="link">
        <collision name="box"><geometry><box><size>3 {width} {height}</size></box></geometry>{}
        </collision></link></model>"#,
        friction()
    )
}

/// Two walls with `room` between them.
fn walls(room: f64) -> String {
    let at = |name: &str, sign: f64| {
        wall(name, Vec3::new(0.0, sign * 0.5 * (room + 0.1), 0.3), [0.1, 1.6])
    };
    at("left", -1.0) + &at("right", 1.0)
}

/// A world in which things move.
struct Yard {
    model: Model,
    state: State,
    engine: native::Native,
    inputs: Inputs,
}

impl Yard {
    /// With every cube at this velocity.
    fn of(models: &str, velocity: Vec3) -> Yard {
        let model = Model::compile(&Arc::new(sdf_world(models))).expect("compiles");
        let mut state = State::initial(&model);
        for (rigid, now) in model.rigids.iter().zip(&mut state.rigids) {
            if rigid.motion != Motion::Static {
                now.twist.linear = velocity;
            }
        }
        let mut engine = native::Native::default();
        engine.start(&model, &state, &EngineOptions::new(STEP)).expect("starts");
        Yard { model, state, engine, inputs: Inputs::default() }
    }

    fn rigid(&self, name: &str) -> usize {
        self.model.objects[self.model.object(name).expect("is there")].rigid_idx
    }

    /// From now on.
    fn push(&mut self, name: &str, force: Vec3) {
        let rigid_idx = self.rigid(name);
        self.inputs.wrenches = vec![Wrench { rigid_idx, force, torque: Vec3::ZERO }];
    }

    fn run(&mut self, n_steps: usize) {
        for _ in 0..n_steps {
            self.engine.step(&self.model, &self.inputs, STEP, &mut self.state).expect("steps");
        }
    }

    fn place(&self, name: &str) -> Vec3 {
        self.state.rigids[self.rigid(name)].world_from_rigid.translation
    }

    fn speed(&self, name: &str) -> Vec3 {
        self.state.rigids[self.rigid(name)].twist.linear
    }
}

/// How far what falls freely comes in so many steps: velocities lead by half of one.
fn fall(n_steps: usize) -> f64 {
    let n = n_steps as f64;
    0.5 * GRAVITY * 1e-6 * n * (n + 1.0)
}

/// A cube in a slot of its own width, thrown at one of its walls: it hits, and then falls as if
/// there were no walls.
#[test]
fn a_cube_that_hit_a_wall_of_its_slot_falls() {
    for speed in [0.0, 0.01, 0.5, -2.0] {
        let cube = cube("cube", Vec3::Z * 0.5);
        let mut yard = Yard::of(&(walls(0.1) + &cube), Vec3::Y * speed);
        yard.run(10);
        let (from, before) = (yard.place("cube"), yard.speed("cube").z);
        yard.run(200);
        let fallen = from.z - yard.place("cube").z + 0.2 * before;
        eprintln!("{speed} m/s: fallen {fallen} of {} m", fall(200));
        assert!((fallen - fall(200)).abs() < 1e-6, "{speed} m/s: fallen by {fallen} m");
    }
}

/// A dozen that fill their slot, a crowd that is not looked through in each step, do so together.
/// Looked through in each, they fell by half as far after a blow.
#[test]
fn a_row_that_fills_its_slot_falls() {
    for speed in [0.0, 0.5] {
        let at = |i: i32| Vec3::new(0.0, 0.1 * (f64::from(i) - 5.5), 0.5);
        let row: String = (0..12).map(|i| cube(&format!("cube{i}"), at(i))).collect();
        let mut yard = Yard::of(&(walls(1.2) + &row), Vec3::Y * speed);
        yard.run(10);
        let before: Vec<_> = (0..12)
            .map(|i| format!("cube{i}"))
            .map(|n| (yard.place(&n), yard.speed(&n).z))
            .collect();
        yard.run(200);
        for (i, (from, before)) in before.into_iter().enumerate() {
            let fallen = from.z - yard.place(&format!("cube{i}")).z + 0.2 * before;
            eprintln!("{speed} m/s, cube {i}: fallen {fallen} of {} m", fall(200));
            assert!((fallen - fall(200)).abs() < 1e-5, "{speed} m/s, cube {i}: {fallen} m");
        }
    }
}

/// The same where the wall was leant on for a while: as long as something presses it slides by
/// what that leaves, and when nothing does, it falls.
#[test]
fn a_cube_falls_when_nothing_presses_it_any_more() {
    let mut yard = Yard::of(&(walls(0.1) + &cube("cube", Vec3::Z * 0.5)), Vec3::ZERO);
    yard.push("cube", Vec3::Y * 30.0);
    yard.run(100);
    let held = yard.place("cube");
    assert!(held.distance(Vec3::Z * 0.5) < 1e-9, "30 N hold it: {held}");
    yard.push("cube", Vec3::Y * 10.0);
    yard.run(100);
    let speed = yard.speed("cube").z;
    let wanted = -0.1 * (GRAVITY - MU * 10.0);
    assert!((speed - wanted).abs() < 1e-3 * wanted.abs(), "10 N slow it down: {speed}, {wanted}");
    yard.inputs.wrenches.clear();
    yard.run(100);
    let gained = yard.speed("cube").z - speed;
    eprintln!("gained {gained} m/s");
    assert!((gained + 0.1 * GRAVITY).abs() < 0.02 * GRAVITY * 0.1, "it falls: {gained} m/s");
}

/// What slides along a channel that it fits exactly, beside walls or under a ceiling, stops where
/// friction with the ground alone stops it; so do two beside each other.
#[test]
fn what_slides_along_a_channel_is_slowed_by_the_ground_alone() {
    let ceiling = wall("ceiling", Vec3::Z * 0.15, [0.5, 0.1]);
    let one = cube("cube", Vec3::Z * 0.05);
    let two =
        cube("cube", Vec3::new(0.0, -0.05, 0.05)) + &cube("other", Vec3::new(0.0, 0.05, 0.05));
    // v²/(2·μ·g), in steps whose velocities lead.
    let speeds = (1..).map(|n| 1.0 - f64::from(n) * MU * GRAVITY * 1e-3);
    let way: f64 = speeds.take_while(|speed| *speed > 0.0).map(|speed| speed * 1e-3).sum();
    for (what, models) in [
        ("beside walls", walls(0.1) + &one),
        ("under a ceiling", ceiling.clone() + &one),
        ("within both", walls(0.1) + &ceiling + &one),
        ("two between walls", walls(0.2) + &two),
    ] {
        let mut yard = Yard::of(&format!("{GROUND}{models}"), Vec3::X);
        yard.run(500);
        let slid = yard.place("cube").x;
        eprintln!("{what}: slid {slid} of {way} m");
        assert!((slid - way).abs() < 1e-5 * way, "{what}: {slid} of {way} m");
    }
}

/// A peg that spins in a square pipe of its own width falls, and spins on: what touches it on all
/// sides presses nowhere.
#[test]
fn a_peg_that_spins_in_a_pipe_of_its_width_falls() {
    let side = |name: &str, x: f64, y: f64, size: &str| {
        format!(
            r#"<model name="{name}"><static>true</static><pose>{x} {y} 0 0 0 0</pose><link name="link">
            <collision name="box"><geometry><box><size>{size}</size></box></geometry>{}
            </collision></link></model>"#,
            friction()
        )
    };
    let pipe = [
        side("west", -0.1, 0.0, "0.1 0.3 3"),
        side("east", 0.1, 0.0, "0.1 0.3 3"),
        side("south", 0.0, -0.1, "0.3 0.1 3"),
        side("north", 0.0, 0.1, "0.3 0.1 3"),
    ]
    .concat();
    let peg = format!(
        r#"<model name="cube"><pose>0 0 1 0 0 0</pose><link name="link">
        <headland:twist>0 0 0 0 0 5</headland:twist><inertial><mass>1</mass><inertia>
        <ixx>0.00146</ixx><iyy>0.00146</iyy><izz>0.00125</izz></inertia></inertial>
        <collision name="round"><geometry><cylinder><radius>0.05</radius><length>0.1</length>
        </cylinder></geometry>{}</collision></link></model>"#,
        friction()
    );
    let mut yard = Yard::of(&(pipe + &peg), Vec3::ZERO);
    yard.run(300);
    let fallen = 1.0 - yard.place("cube").z;
    let spin = yard.state.rigids[yard.rigid("cube")].twist.angular;
    eprintln!("fallen {fallen} of {} m, spins at {spin}", fall(300));
    assert!((fallen - fall(300)).abs() < 1e-6, "fallen by {fallen} m");
    assert!(spin.distance(Vec3::Z * 5.0) < 1e-6, "{spin}");
}

/// A wheel that rolls on a ground, between walls that its flat sides touch or along one: nothing
/// presses it against them, and it rolls on. A wall that pushed would be held against by the
/// ground's friction, and brake it.
#[test]
fn a_wheel_that_touches_a_wall_rolls_on() {
    let wheel = r#"<model name="cube"><pose>0 0 0.1 1.5707963267948966 0 0</pose><link name="link">
        <headland:twist>2 0 0 0 20 0</headland:twist><inertial><mass>1</mass><inertia>
        <ixx>0.005833333333333334</ixx><iyy>0.005833333333333334</iyy><izz>0.005</izz></inertia>
        </inertial><collision name="round"><geometry><cylinder><radius>0.1</radius>
        <length>0.2</length></cylinder></geometry><surface><friction><ode><mu>1</mu><mu2>1</mu2></ode>
        </friction></surface></collision></link></model>"#;
    let one = wall("left", Vec3::new(0.0, -0.15, 0.5), [0.1, 1.0]);
    for (what, models) in [("between walls", walls(0.2)), ("along a wall", one)] {
        let mut yard = Yard::of(&format!("{GROUND}{models}{wheel}"), Vec3::X * 2.0);
        yard.run(500);
        let (way, speed) = (yard.place("cube"), yard.speed("cube"));
        eprintln!("{what}: at {way}, {speed} m/s");
        assert!(speed.distance(Vec3::X * 2.0) < 2e-5, "{what}: {speed} m/s");
        assert!(way.distance(Vec3::new(1.0, 0.0, 0.1)) < 1e-5, "{what}: at {way}");
    }
}

/// A row of cubes between two fingers that press a twentieth harder than friction needs to carry
/// it: it hangs still. Where on their sides the cubes press each other is not unique, and what
/// wanders there turns them out of the row.
#[test]
fn a_row_of_cubes_is_held_by_little_more_than_it_needs() {
    for n in 1..=4 {
        let (half, force) = (0.05 * f64::from(n), 1.05 * f64::from(n) * GRAVITY * 0.5 / MU);
        let finger = |name: &str, sign: f64| {
            format!(
                r#"<link name="{name}"><pose>{} 0 0 0 0 0</pose><inertial><mass>0.1</mass></inertial>
                <collision name="box"><geometry><box><size>0.05 0.2 0.2</size></box></geometry>{}
                </collision></link><joint name="to_{name}" type="prismatic"><parent>world</parent>
                <child>{name}</child><axis><xyz>{} 0 0</xyz><limit><lower>-1</lower><upper>1</upper>
                </limit></axis></joint>"#,
                sign * (half + 0.025),
                friction(),
                -sign,
            )
        };
        let hand = format!(
            r#"<model name="hand"><pose>0 0 2 0 0 0</pose>{}{}</model>"#,
            finger("left", -1.0),
            finger("right", 1.0)
        );
        let at = |i: i32| Vec3::new(0.05 + 0.1 * f64::from(i) - half, 0.0, 2.0);
        let cubes: String = (0..n).map(|i| cube(&format!("cube_{i}"), at(i))).collect();
        let mut yard = Yard::of(&(hand + &cubes), Vec3::ZERO);
        yard.inputs.efforts = vec![force; 2];
        yard.run(500);
        for i in 0..n {
            let off = yard.place(&format!("cube_{i}")).distance(at(i));
            assert!(off < 1e-6, "cube {i} of {n} is {off} m away");
        }
    }
}
