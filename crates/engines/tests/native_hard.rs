//! The hard law through the worlds that ship, against the closed forms their headers give.

mod common;

use std::sync::Arc;

use common::{GRAVITY, Play, by, efforts_of, place_of, pose_of, sdf_world, shipped, twist_of};
use headland_base::maths::{PI, angle_between, atan2, cos, sin, sqrt};
use headland_base::{Quat, SimDuration, Vec3};
use headland_engines::native;
use headland_sim::{Engine, EngineOptions, Inputs, Model, Motion, State, Wrench};
use headland_world::{ContactLaw, Integrator};

const SLOPE: f64 = 20.0 * PI / 180.0;

const BOTH: [Integrator; 2] = [Integrator::SemiImplicit, Integrator::Rk4];

/// Of the way down the slope that a point went.
fn downhill(way: Vec3) -> f64 {
    way.dot(Vec3::new(cos(SLOPE), 0.0, -sin(SLOPE)))
}

/// What slides goes g·(sin α − μ·cos α)·t²/2, and half a step more, since velocities lead; it
/// stays flat and does not turn. What sticks does not creep.
#[test]
fn cylinders_and_boxes_slide_and_stick() {
    let wanted = 0.5 * GRAVITY * (sin(SLOPE) - 0.2 * cos(SLOPE)) * 9.0;
    let scenes = [("cylinders", "slide", "stick"), ("slope", "slider", "sticker")];
    let by_both = scenes.iter().flat_map(|scene| BOTH.map(|integrator| (scene, integrator)));
    for ((world, slides, sticks), integrator) in by_both {
        let world = by(shipped(world), integrator, ContactLaw::Hard);
        let mut starts: Option<[(Vec3, Quat); 2]> = None;
        let (mut turned, mut crept, mut slid) = (0.0_f64, 0.0_f64, 0.0);
        Play::native(3.0).watch(&world, |model, state| {
            let now = [slides, sticks].map(|name| {
                let pose = pose_of(model, state, name);
                (pose.translation, pose.rotation)
            });
            let starts = starts.get_or_insert(now);
            turned = turned.max(angle_between(now[0].1, starts[0].1));
            crept = crept.max(now[1].0.distance(starts[1].0));
            slid = downhill(now[0].0 - starts[0].0);
        });
        eprintln!(
            "{}: slid {slid:.4} m of {wanted:.4}, turned {turned:e} rad; stuck within {crept:e} m",
            integrator.word()
        );
        assert!((slid - wanted).abs() < 4e-3, "{slid} m, not {wanted}");
        assert!(turned < 1e-3, "{turned} rad");
        // The depth that is left alone, and nothing else.
        assert!(crept < 2e-5, "crept {crept} m");
    }
}

/// The tall cylinder turns about the lowest point of its rim: ½·I·ω² = m·g·ρ·(cos β − cos(β + θ)),
/// β being how far its centre hangs over that point at the start.
#[test]
fn the_tall_cylinder_tips_as_a_pendulum_does() {
    let world = shipped("cylinders");
    let mut start = None;
    let mut seen = Vec::new();
    Play::native(1.5).watch(&world, |model, state| {
        let rotation = pose_of(model, state, "tip").rotation;
        let angle = angle_between(rotation, *start.get_or_insert(rotation));
        seen.push((angle, twist_of(model, state, "tip").angular.length()));
    });
    let (radius, half) = (0.1_f64, 0.4_f64);
    let arm = sqrt(radius * radius + half * half);
    let beta = SLOPE - atan2(radius, half);
    let per_mass = arm * arm + (3.0 * radius * radius + 4.0 * half * half) / 12.0;
    let mut n_compared = 0;
    for (angle, speed) in seen.iter().filter(|(angle, _)| (0.2..0.7).contains(angle)) {
        let wanted = sqrt(2.0 * GRAVITY * arm * (cos(beta) - cos(beta + angle)) / per_mass);
        assert!((speed / wanted - 1.0).abs() < 0.02, "at {angle}: {speed} rad/s, not {wanted}");
        n_compared += 1;
    }
    assert!(n_compared > 20, "it tips: {n_compared} samples");
    assert!(seen.iter().any(|(angle, _)| *angle > 1.2), "it lies down");
}

/// A box and a cylinder on a heightmap that is a slope of tan α = 0.25, on several of its triangles:
/// with little friction they slide as on a plane, with much they stay where they are.
#[test]
fn boxes_and_cylinders_slide_and_stick_on_a_heightmap() {
    let slope = headland_base::maths::atan(0.25);
    let heights: String =
        (0..41).flat_map(|_| (0..41).map(|x| format!("{} ", 0.0625 * f64::from(x)))).collect();
    let ground = format!(
        r#"<model name="ground"><static>true</static><link name="link"><collision name="c"><geometry>
        <heightmap><uri>inline://slope</uri><size>10 10 1</size>
        <headland:heights columns="41" rows="41">{heights}</headland:heights></heightmap></geometry>
        </collision></link></model>"#
    );
    // Up to 0.6 m wide, over triangles of 0.25 m.
    let shapes = [
        ("box", "<box><size>0.6 0.5 0.2</size></box>", [0.024, 0.033, 0.051]),
        (
            "cylinder",
            "<cylinder><radius>0.3</radius><length>0.2</length></cylinder>",
            [0.026, 0.026, 0.045],
        ),
    ];
    let thing = |name: &str, y: f64, geometry: &str, [x, yy, z]: [f64; 3], mu: f64| {
        let (above, at) = (0.1 / cos(slope), 0.13);
        let height = 1.25 + 0.25 * at + above;
        format!(
            r#"<model name="{name}"><pose>{at} {y} {height} 0 {} 0</pose><link name="link"><inertial>
            <mass>1</mass><inertia><ixx>{x}</ixx><iyy>{yy}</iyy><izz>{z}</izz></inertia></inertial>
            <collision name="c"><geometry>{geometry}</geometry><surface><friction><ode><mu>{mu}</mu>
            <mu2>{mu}</mu2></ode></friction></surface></collision></link></model>"#,
            -slope
        )
    };
    let mut things = String::new();
    for (i, (name, geometry, moments)) in shapes.iter().enumerate() {
        let y = 2.0 * i as f64 - 3.0;
        things += &thing(&format!("{name}_slides"), y, geometry, *moments, 0.1);
        things += &thing(&format!("{name}_sticks"), y + 1.0, geometry, *moments, 0.6);
    }
    let wanted = 0.5 * GRAVITY * (sin(slope) - 0.1 * cos(slope));
    for integrator in BOTH {
        let world = by(sdf_world(&format!("{ground}{things}")), integrator, ContactLaw::Hard);
        let mut start: Option<State> = None;
        let ran = Play::native(1.0).watch(&world, |_, state| {
            start.get_or_insert_with(|| state.clone());
        });
        for (name, ..) in shapes {
            for (what, wanted, allowed) in [("slides", wanted, 2e-3), ("sticks", 0.0, 2e-5)] {
                let name = format!("{name}_{what}");
                let pose = |state: &State| pose_of(&ran.model, state, &name);
                let (from, to) = (pose(start.as_ref().expect("a start")), pose(&ran.end.state));
                let way =
                    (from.translation - to.translation).dot(Vec3::new(cos(slope), 0.0, sin(slope)));
                let turned = angle_between(from.rotation, to.rotation);
                let off = (to.translation - from.translation).dot(Vec3::new(
                    -sin(slope),
                    0.0,
                    cos(slope),
                ));
                let word = integrator.word();
                eprintln!(
                    "{name} by {word}: {way} m of {wanted}, turned {turned:e} rad, rose {off:e} m"
                );
                assert!((way - wanted).abs() < allowed, "{name} by {word}: {way} m, not {wanted}");
                assert!(
                    turned < 1e-3 && off.abs() < 2e-5,
                    "{name} by {word}: {turned} rad, {off} m"
                );
            }
        }
    }
}

/// Twenty boxes stand where they were put.
#[test]
fn the_stack_stands() {
    let world = shipped("stack");
    let (mut worst, mut fastest) = (0.0_f64, 0.0_f64);
    Play::native(1.0).watch(&world, |model, state| {
        for i in 0..20 {
            let name = format!("box_{i}");
            let wanted = Vec3::Z * (0.25 + 0.5 * f64::from(i));
            worst = worst.max(place_of(model, state, &name).distance(wanted));
            fastest = fastest.max(twist_of(model, state, &name).linear.length());
        }
    });
    eprintln!("the stack stands within {worst:e} m, faster than {fastest:e} m/s nowhere");
    // Every box may sink by the 10 µm that are left alone, and by what a step makes good of more.
    assert!(worst < 20.0 * 2e-5, "{worst} m");
    assert!(fastest < 0.02, "{fastest} m/s");
}

/// The four grips: ball and fingers at the end of 4 s. Lifted, the ball is at r + a·t²/2 and the
/// fingers 2·r apart; too heavy for them, it stays on the ground while they go up and close.
#[test]
fn both_grippers_lift_what_they_can() {
    let grips = [
        ("gripper_light", "gripper_light_3n", true),
        ("gripper_light", "gripper_light_4n", true),
        ("gripper_heavy", "gripper_heavy_3n", false),
        ("gripper_heavy", "gripper_heavy_4n", true),
    ];
    let by_both = grips.into_iter().flat_map(|grip| BOTH.map(|integrator| (grip, integrator)));
    for ((world, table, is_held), integrator) in by_both {
        let world = by(shipped(world), integrator, ContactLaw::Hard);
        let mut narrowest = f64::INFINITY;
        let ran = Play::native(4.0).with(efforts_of(table)).watch(&world, |model, state| {
            let at = |name: &str| place_of(model, state, name);
            let gap = at("gripper::right").x - at("gripper::left").x - 0.04;
            // While the ball is between them.
            let ball = at("ball");
            if (at("gripper::left").z - ball.z).abs() < 0.08 {
                narrowest = narrowest.min(gap);
            }
        });
        let at = |name: &str| place_of(&ran.model, &ran.end.state, name);
        let gap = at("gripper::right").x - at("gripper::left").x - 0.04;
        let height = at("ball").z;
        let table = format!("{table} by {}", integrator.word());
        eprintln!("{table}: ball at {height:.5} m, fingers {gap:.6} m apart, once {narrowest:.6}");
        let wanted = if is_held { 0.1 + 0.5 * 9.0 } else { 0.1 };
        // Half a step of the lift: velocities lead.
        assert!((height - wanted).abs() < 2e-3, "{table}: {height}, not {wanted}");
        // The ball is round, so pads above its middle are nearer than its diameter.
        assert!(narrowest > 0.199, "{table}: closed through the ball, {narrowest}");
        if is_held {
            assert!((gap - 0.2).abs() < 5e-5, "{table}: {gap}");
            assert!((at("ball").x).abs() < 1e-4, "{table}: {}", at("ball"));
        } else {
            assert!(at("gripper::hand").z > 1.5, "{table}: the hand goes up without it");
        }
    }
}

/// Two balls that meet in the air, without a loss: v₁' = (m₁ − m₂)/(m₁ + m₂)·v and
/// v₂' = 2·m₁/(m₁ + m₂)·v, whichever of them is declared first.
#[test]
fn balls_that_meet_share_what_they_have() {
    let ball = |name: &str, mass: f64, x: f64| {
        format!(
            r#"<model name="{name}"><pose>{x} 0 1 0 0 0</pose><link name="link">
            <gravity>false</gravity><inertial><mass>{mass}</mass><inertia>
            <ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
            <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry>
            <surface><bounce><restitution_coefficient>1</restitution_coefficient></bounce>
            </surface></collision></link></model>"#
        )
    };
    for (light, heavy) in [(1.0, 3.0), (1.0, 1000.0), (2.0, 2.0)] {
        let (a, b) = (ball("light", light, 0.0), ball("heavy", heavy, 0.5));
        for models in [[&a, &b], [&b, &a]] {
            let world = sdf_world(&models.map(String::as_str).concat());
            let model = Model::compile(&Arc::new(world)).expect("compiles");
            let rigid = |name: &str| model.bodies[model.object(name).expect("a ball")].rigid_idx;
            let (one, other) = (rigid("light"), rigid("heavy"));
            let mut state = State::initial(&model);
            state.rigids[one].twist.linear = Vec3::X * 2.0;
            let mut engine = (native::ENTRY.make)(&native::ENTRY);
            let options = EngineOptions::new(SimDuration::from_nanos(1_000_000));
            engine.start(&model, &state, &options).expect("starts");
            for _ in 0..400 {
                engine.step(&model, &Inputs::default(), options.step, &mut state).expect("steps");
            }
            let speed = |rigid: usize| state.rigids[rigid].twist.linear.x;
            let wanted = [2.0 * (light - heavy), 4.0 * light].map(|v| v / (light + heavy));
            let got = [speed(one), speed(other)];
            for (got, wanted) in got.into_iter().zip(wanted) {
                assert!((got - wanted).abs() < 1e-9, "{light} on {heavy} kg: {got}, not {wanted}");
            }
        }
    }
}

/// A plate that comes down a hair's breadth askew turns about where it stands. Its other corners
/// then move across the ground by the height of that hair: if friction asked each of them for rest
/// where it is, no motion would do, and the solver would look for one in hundreds of sweeps.
#[test]
fn corners_that_come_down_are_in_one_plane() {
    for tilt in ["0.0002 0 0", "0 0.0002 0", "0.0003 -0.0001 0.5", "-0.002 0.001 1"] {
        let plate = format!(
            r#"<model name="plate"><pose>0 0 0.0252 {tilt}</pose><link name="link">
            <inertial auto="true"><density>1000</density></inertial>
            <collision name="box"><geometry><box><size>0.2 0.1 0.05</size></box></geometry>
            <surface><friction><ode><mu>1</mu><mu2>1</mu2></ode></friction></surface></collision>
            </link></model>"#
        );
        let world = sdf_world(&format!("{}{plate}", common::GROUND));
        let model = Model::compile(&Arc::new(world)).expect("compiles");
        let mut state = State::initial(&model);
        let mut engine = native::Native::default();
        let options = EngineOptions::new(SimDuration::from_nanos(1_000_000));
        engine.start(&model, &state, &options).expect("starts");
        let mut n_contacts = 0;
        for _ in 0..100 {
            engine.step(&model, &Inputs::default(), options.step, &mut state).expect("steps");
            n_contacts = n_contacts.max(state.contacts.len());
        }
        let n_sweeps = engine.n_sweeps();
        eprintln!("tilted by {tilt}: {n_contacts} contacts, {n_sweeps} sweeps");
        assert_eq!(n_contacts, 4, "all of it came down");
        assert!(n_sweeps < 100, "{n_sweeps} sweeps in as many steps");
    }
}

/// Boxes on boxes, each heavier by up to a million than the one that carries it, and tall columns
/// under a weight: six rows for two sides keep the digits that twelve lost.
#[test]
fn ladders_of_masses_stand() {
    let column = |top: f64| [vec![1.0; 19], vec![top]].concat();
    for masses in [
        &column(500.0)[..],
        &column(5000.0),
        &[1.0; 30],
        &[1.0, 30.0, 9e2, 27e3, 81e4],
        &[1.0, 1e2, 1e4, 1e6],
        &[1.0, 32.0, 1e3, 32e3, 1e6],
        &[1.0, 1e6, 1.0, 1e6],
        &[1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6],
    ] {
        let boxes: String = masses
            .iter()
            .enumerate()
            .map(|(i, mass)| {
                let (z, inertia) = (0.05 + 0.1 * i as f64, mass * 0.01 / 6.0);
                format!(
                    r#"<model name="box{i}"><pose>0 0 {z} 0 0 0</pose><link name="link">
                    <inertial><mass>{mass}</mass><inertia><ixx>{inertia}</ixx><iyy>{inertia}</iyy>
                    <izz>{inertia}</izz></inertia></inertial><collision name="box"><geometry><box>
                    <size>0.1 0.1 0.1</size></box></geometry></collision></link></model>"#
                )
            })
            .collect();
        let world = sdf_world(&format!("{}{boxes}", common::GROUND));
        let mut off = 0.0_f64;
        Play::native(1.0).watch(&world, |model, state| {
            for i in 0..masses.len() {
                let wanted = Vec3::Z * (0.05 + 0.1 * i as f64);
                off = off.max(place_of(model, state, &format!("box{i}")).distance(wanted));
            }
        });
        eprintln!("{masses:?} kg: off by {off:e} m");
        assert!(off < 1e-6, "{masses:?} kg: {off} m");
    }
}

/// A cube of 0.1 m and 1 kg whose middle is there, with friction `mu`.
fn cube(name: &str, at: Vec3, mu: f64) -> String {
    let Vec3 { x, y, z } = at;
    format!(
        r#"<model name="{name}"><pose>{x} {y} {z} 0 0 0</pose><link name="link">
        <inertial><mass>1</mass><inertia><ixx>0.00167</ixx><iyy>0.00167</iyy><izz>0.00167</izz>
        </inertia></inertial><collision name="box"><geometry><box><size>0.1 0.1 0.1</size></box>
        </geometry><surface><friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction></surface>
        </collision></link></model>"#
    )
}

/// Bricks without a gap between them: those beside each other touch and do not press. They stand as
/// if they did not, on the ground with their weight, and no sweep looks for more.
#[test]
fn bricks_side_by_side_stand_by_themselves() {
    let places =
        (0..27).map(|i| Vec3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9)));
    let cubes =
        places.enumerate().map(|(i, at)| cube(&format!("cube{i}"), at * 0.1 + Vec3::Z * 0.05, 1.0));
    let world = sdf_world(&format!("{}{}", common::GROUND, cubes.collect::<String>()));
    let model = Model::compile(&Arc::new(world)).expect("compiles");
    let start = State::initial(&model);
    let (mut state, mut engine) = (start.clone(), native::Native::default());
    let options = EngineOptions::new(SimDuration::from_nanos(1_000_000));
    engine.start(&model, &state, &options).expect("starts");
    for _ in 0..50 {
        engine.step(&model, &Inputs::default(), options.step, &mut state).expect("steps");
    }
    let place = |state: &State, i: usize| state.rigids[i].world_from_rigid.translation;
    let apart = (0..model.rigids.len()).map(|i| place(&state, i).distance(place(&start, i)));
    let moved = apart.fold(0.0, f64::max);
    let is_ground =
        |body: usize| model.rigids[model.bodies[body].rigid_idx].motion == Motion::Static;
    let on_ground = state.contacts.iter().filter(|c| is_ground(c.body_a) || is_ground(c.body_b));
    let weight: f64 = on_ground.map(|contact| contact.force.z.abs()).sum();
    eprintln!("moved {moved:e} m, {weight} N on the ground, {} sweeps", engine.n_sweeps());
    assert!(moved < 1e-12 && engine.n_sweeps() == 0, "{moved} m, {} sweeps", engine.n_sweeps());
    assert!((weight - 27.0 * GRAVITY).abs() < 1e-9 * weight, "{weight} N");
}

/// Cubes that rest side by side and did nothing to each other until the first is pushed: it takes
/// the others along.
#[test]
fn what_did_not_press_presses_when_it_is_pushed() {
    let cubes =
        (0..3).map(|i| cube(&format!("cube{i}"), Vec3::new(0.1 * f64::from(i), 0.0, 0.05), 0.0));
    let world = sdf_world(&format!("{}{}", common::GROUND, cubes.collect::<String>()));
    let model = Model::compile(&Arc::new(world)).expect("compiles");
    let mut state = State::initial(&model);
    let mut engine = native::Native::default();
    let options = EngineOptions::new(SimDuration::from_nanos(1_000_000));
    engine.start(&model, &state, &options).expect("starts");
    let rigid =
        |i: usize| model.bodies[model.object(&format!("cube{i}")).expect("a cube")].rigid_idx;
    let mut inputs = Inputs::default();
    let force = Vec3::X * 6.0;
    for n in 0..40 {
        if n == 20 {
            let torque = Vec3::ZERO;
            inputs.wrenches.push(Wrench { rigid_idx: rigid(0), force, torque });
        }
        engine.step(&model, &inputs, options.step, &mut state).expect("steps");
    }
    // 6 N on 3 kg for 20 ms, by each of them.
    for i in 0..3 {
        let speed = state.rigids[rigid(i)].twist.linear;
        assert!((speed - Vec3::X * 0.04).length() < 1e-7, "cube {i}: {speed}");
    }
}

/// Two steps of one stair are two flat sides, though their normals are the same and one rigid has
/// both: who stands on both touches each where it is.
#[test]
fn steps_of_a_stair_are_no_one_plane() {
    let part = |name: &str, x: f64, z: f64| {
        format!(
            r#"<collision name="{name}"><pose>{x} 0 {z} 0 0 0</pose><geometry><box>
            <size>0.3 0.3 0.1</size></box></geometry></collision>"#
        )
    };
    let stair = [part("low", -0.2, -0.05), part("high", 0.2, 0.05)].concat();
    let bridge = [part("left", -0.2, 0.05), part("right", 0.2, 0.15)].concat();
    let world = sdf_world(&format!(
        r#"<model name="stair"><static>true</static><link name="link">{stair}</link></model>
        <model name="bridge"><link name="link"><inertial><mass>2</mass><inertia><ixx>0.1</ixx>
        <iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>{bridge}</link></model>"#
    ));
    let (mut n_low, mut n_high) = (0, 0);
    Play::native(0.1).watch(&world, |_, state| {
        for contact in &state.contacts {
            let at = contact.position;
            let wanted = if at.x < 0.0 { 0.0 } else { 0.1 };
            assert!((at.z - wanted).abs() < 1e-4, "{at}");
            n_low += u32::from(at.x < 0.0);
            n_high += u32::from(at.x > 0.0);
        }
    });
    assert!(n_low > 0 && n_high > 0, "{n_low} {n_high}");
}

/// A ball of 2 m/s that hits a row of others, all alike and without loss, stops; the last of the row
/// goes on at its speed, whether they touch or have a hair between them.
#[test]
fn a_row_of_balls_hands_the_push_on() {
    for gap in [0.0, 1e-9, 1e-6, 1e-4, 1e-3, 5e-3] {
        let ball = |i: i32| {
            let (x, speed) = if i == 0 { (-0.3, 2.0) } else { (f64::from(i) * (0.2 + gap), 0.0) };
            format!(
                r#"<model name="b{i}"><pose>{x} 0 5 0 0 0</pose><link name="link">
                <headland:twist>{speed} 0 0 0 0 0</headland:twist>
                <gravity>false</gravity><inertial><mass>1</mass><inertia><ixx>0.004</ixx>
                <iyy>0.004</iyy><izz>0.004</izz></inertia></inertial><collision name="c"><geometry>
                <sphere><radius>0.1</radius></sphere></geometry><surface><friction><ode><mu>0</mu>
                <mu2>0</mu2></ode></friction><bounce><restitution_coefficient>1
                </restitution_coefficient></bounce></surface></collision></link></model>"#
            )
        };
        let world = sdf_world(&(0..5).map(ball).collect::<String>());
        let mut speeds = [0.0; 5];
        Play::native(0.4).watch(&world, |model, state| {
            speeds = [0, 1, 2, 3, 4].map(|i| twist_of(model, state, &format!("b{i}")).linear.x);
        });
        assert!((speeds[4] - 2.0).abs() < 1e-9, "{gap} m: {speeds:?}");
        assert!(speeds[..4].iter().all(|speed| speed.abs() < 1e-9), "{gap} m: {speeds:?}");
    }
}

/// A bar of a metre that spins about its middle hits a post as thin as itself, however fast its end
/// comes: what turns is looked at as far ahead as its end moves.
#[test]
fn what_turns_does_not_pass_through() {
    for speed in [5.0, 50.0, 80.0, 100.0, 300.0] {
        let post = r#"<model name="post"><static>true</static><pose>0.45 0 5 0 0 0</pose>
            <link name="link"><collision name="c"><geometry><box><size>0.01 0.01 1</size></box>
            </geometry></collision></link></model>"#;
        let bar = format!(
            r#"<model name="bar"><pose>0 0 5 0 0 1.5</pose><link name="link">
            <headland:twist>0 0 0 0 0 {speed}</headland:twist><gravity>false</gravity><inertial>
            <mass>1</mass><inertia><ixx>0.001</ixx><iyy>0.083</iyy><izz>0.083</izz></inertia>
            </inertial><collision name="c"><geometry><box><size>1 0.01 0.01</size></box></geometry>
            </collision></link></model>"#
        );
        let world = sdf_world(&format!("{post}{bar}"));
        let mut left = speed;
        Play::native(6.0 / speed).watch(&world, |model, state| {
            left = twist_of(model, state, "bar").angular.z;
        });
        assert!(left < 0.9 * speed, "{left} of {speed} rad/s: it went through");
    }
}

/// What slides over the seam between two floors of one height slides on: the next one's side is not
/// in its way, foreseen or not, whatever its height is to rounding. The same down a wall of two blocks.
#[test]
fn what_slides_over_a_seam_slides_on() {
    let block = |name: &str, pose: &str, size: &str, mu: f64| {
        format!(
            r#"<model name="{name}"><static>true</static><pose>{pose} 0 0 0</pose><link name="link">
            <collision name="c"><geometry><box><size>{size}</size></box></geometry>{}</collision>
            </link></model>"#,
            rubs(mu)
        )
    };
    let thing = |pose: &str, vx: f64, form: &str, mu: f64| {
        format!(
            r#"<model name="thing"><pose>{pose}</pose><link name="link">
            <headland:twist>{vx} 0 0 0 0 0</headland:twist><inertial auto="true"><density>1000</density>
            </inertial><collision name="c"><geometry>{form}</geometry>{}</collision></link></model>"#,
            rubs(mu)
        )
    };
    let cube = "<box><size>0.2 0.2 0.2</size></box>";
    let tube = "<cylinder><radius>0.1</radius><length>0.2</length></cylinder>";
    let floor = |gap: f64| {
        let x = 1.0 + gap;
        block("one", "-1 0 -0.05", "2 2 0.1", 0.1)
            + &block("two", &format!("{x} 0 -0.05"), "2 2 0.1", 0.1)
    };
    let slid = 2.0 * 2.0 / (2.0 * 0.1 * common::GRAVITY);
    for integrator in [Integrator::SemiImplicit, Integrator::Rk4] {
        for step_nanos in [500_000, 1_000_000, 2_000_000, 5_000_000] {
            for (what, gap, pose, form) in [
                ("a cube", 0.0, "-0.5 0 0.1 0 0 0", cube),
                ("a cube over a gap", 1e-4, "-0.5 0 0.1 0 0 0", cube),
                ("a cube over an overlap", -0.01, "-0.5 0 0.1 0 0 0", cube),
                ("a cube that is turned", 0.0, "-0.5 0 0.1 0 0 0.4", cube),
                ("a tube", 0.0, "-0.5 0 0.1 0 0 0", tube),
            ] {
                let world = sdf_world(&format!("{}{}", floor(gap), thing(pose, 2.0, form, 0.1)));
                let mut world = common::by(world, integrator, ContactLaw::Hard);
                world.physics.step = SimDuration::from_nanos(step_nanos);
                let ran = Play::native(2.5).watch(&world, |_, _| {});
                let at = place_of(&ran.model, &ran.end.state, "thing");
                let what = format!("{what} by {} in {step_nanos} ns: at {at}", integrator.word());
                let step = step_nanos as f64 * 1e-9;
                assert!((at.x + 0.5 - slid).abs() < 1e-3 + 2.0 * step, "{what}");
                assert!(at.y.abs() < 1e-3 && (at.z - 0.1).abs() < 1e-4, "{what}");
            }
            let wall = block("one", "-0.1 0 0.5", "0.2 2 1", 0.0)
                + &block("two", "-0.1 0 1.5", "0.2 2 1", 0.0);
            let world = sdf_world(&format!("{wall}{}", thing("0.1 0 1.5 0 0 0", 0.0, cube, 0.0)));
            let mut world = common::by(world, integrator, ContactLaw::Hard);
            world.physics.step = SimDuration::from_nanos(step_nanos);
            let ran = Play::native(0.5).watch(&world, |_, _| {});
            let (at, spin) = (
                place_of(&ran.model, &ran.end.state, "thing"),
                common::twist_of(&ran.model, &ran.end.state, "thing").angular,
            );
            let step = step_nanos as f64 * 1e-9;
            let fallen = 1.5 - 0.5 * common::GRAVITY * 0.25;
            let what = format!("a wall by {} in {step} s: at {at}", integrator.word());
            assert!((at.z - fallen).abs() < 5.0 * step && (at.x - 0.1).abs() < 1e-4, "{what}");
            assert!(spin.length() < 1e-6, "{what}: {spin}");
        }
    }
}

fn rubs(mu: f64) -> String {
    format!("<surface><friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction></surface>")
}
