//! Same bytes: a robot does not notice how many others are computed beside it.

mod common;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use common::{By, GROUND, Play, Told, by, cart, sdf_world};
use headland_base::maths::sin;
use headland_base::{Diagnostic, SimDuration, Vec3};
use headland_engines::native::{self, Native};
use headland_sim::{Cast, Dof, Mode, Model, Motion, Observer, Setup, State, run};
use headland_world::{ContactLaw, Detail, Integrator, World};

/// Robots one through the other at a detail, each leaning, heading and swinging its joints another
/// way, so that each goes another way, and a wall before them; they touch the ground and the wall
/// and not each other.
fn crowd(robots: &[usize], detail: Detail) -> World {
    let robot = |i: &usize| {
        let (name, i) = (format!("robot_{i}"), *i as f64);
        if detail == Detail::Vehicle {
            return cart(&name, &format!("0.05 0 0 0 0 {}", 0.02 * (i - 4.0)));
        }
        let (roll, pitch) = (0.03 * (i - 4.0), 0.4 - 0.05 * i);
        // Who walks upright falls on nothing, and has its toes at the wall.
        let x = if detail == Detail::Kinematic { 0.065 } else { 0.0 };
        format!(
            r#"<include><uri>robots/player</uri><name>{name}</name>
            <pose>{x} 0 0.05 {roll} {pitch} 0</pose></include>"#
        )
    };
    let robots: String = robots.iter().map(robot).collect();
    let mut world = sdf_world(&format!("{GROUND}{WALL}{robots}"));
    let mut links = Vec::new();
    for model in world.models.iter_mut().filter(|model| !model.is_static) {
        model.detail = Some(detail);
        links.extend(model.links.iter().map(|link| format!("{}::{}", model.name, link.name)));
    }
    world.contact_sets = vec![links];
    world
}

/// A wall that whoever goes forwards meets, a little askew.
const WALL: &str = r#"<model name="wall"><static>true</static><pose>0.2 0 0.5 0 0 0.03</pose>
    <link name="link"><collision name="c"><geometry><box><size>0.1 4 1</size></box></geometry>
    </collision></link></model>"#;

/// Speeds of all joints, each another one, which also hangs on the number of its robot; carts go
/// forwards, and joints with servos to and fro.
fn swing(now: f64, model: &Model, _: &State) -> Vec<Told> {
    let of = |(k, dof): (usize, &Dof)| {
        let (robot, joint) = dof.name.split_once("::").expect("a joint of a robot");
        let (_, number) = robot.split_once('_').expect("a number");
        let number: f64 = number.parse().expect("a number");
        let place = joint.bytes().map(f64::from).sum::<f64>();
        let speed = match joint.ends_with("axle") {
            true => 8.0 + sin(place + number),
            false => 0.8 * sin(place + 0.3 * number + 20.0 * now),
        };
        (k, Mode::Velocity, speed)
    };
    model.dofs.iter().enumerate().map(of).collect()
}

/// The bits of every robot's state, step by step: what identifies a robot is its name.
fn bits(world: World, secs: f64, n_threads: usize) -> Vec<(String, Vec<u64>)> {
    struct Keep(Vec<(String, Vec<u64>)>, usize);
    impl Observer for Keep {
        fn sample(&mut self, model: &Model, state: &State) -> Result<(), Diagnostic> {
            for (rigid, now) in model.rigids.iter().zip(&state.rigids) {
                let body = &model.bodies[rigid.body_idxs[0]].name;
                let Some((robot, _)) = body.split_once("::") else { continue };
                if !robot.starts_with("robot_") {
                    continue;
                }
                if !self.0.iter().any(|(name, _)| name == robot) {
                    self.0.push((robot.to_string(), Vec::new()));
                }
                assert!(!now.is_contained, "{body} is lost");
                let of = self.0.iter_mut().find(|(name, _)| name == robot).expect("pushed");
                let (at, turn) = (now.world_from_rigid.translation, now.world_from_rigid.rotation);
                let twist = now.twist;
                of.1.extend(at.to_array().map(f64::to_bits));
                of.1.extend(turn.to_array().map(f64::to_bits));
                of.1.extend(twist.linear.to_array().map(f64::to_bits));
                of.1.extend(twist.angular.to_array().map(f64::to_bits));
            }
            self.1 = self.1.max(state.contacts.len());
            Ok(())
        }
    }
    let model = Model::compile(&Arc::new(world)).expect("compiles");
    let mut setup = Setup::new(&model, SimDuration::from_secs(secs).expect("short"));
    setup.record_period = SimDuration::from_nanos(20_000_000);
    setup.n_threads = n_threads;
    let mut engine = (native::ENTRY.make)(&native::ENTRY);
    let mut keep = Keep(Vec::new(), 0);
    let mut cast = Cast::default();
    cast.controllers.push(Box::new(By(swing)));
    let go = &mut |_| ControlFlow::Continue(());
    run(&model, &setup, engine.as_mut(), &mut cast, &mut keep, go).expect("runs");
    // Whoever does as it is told falls on nothing; its joints have their orders.
    let is_told = |model: &headland_world::Model| {
        matches!(model.detail, Some(Detail::Kinematic | Detail::Vehicle))
    };
    assert!(keep.1 > 0 || model.world.models.iter().any(is_told), "they fall on the ground");
    keep.0
}

/// Alone, in a lane of 8, in two lanes of 8, and as the one left over: the same bits, at every
/// detail, by every law, looked at once in a step and in stages, on one thread and on two.
#[test]
fn a_robot_alone_is_to_the_bit_the_robot_in_a_crowd() {
    for (detail, integrator, law) in [
        (Detail::Articulated, Integrator::SemiImplicit, ContactLaw::Hard),
        (Detail::Articulated, Integrator::SemiImplicit, ContactLaw::Soft),
        (Detail::Articulated, Integrator::SemiImplicit, ContactLaw::SoftCoulomb),
        (Detail::Articulated, Integrator::Rk4, ContactLaw::SoftCoulomb),
        (Detail::Articulated, Integrator::Rk4, ContactLaw::Hard),
        (Detail::Com, Integrator::SemiImplicit, ContactLaw::Hard),
        (Detail::Com, Integrator::SemiImplicit, ContactLaw::SoftCoulomb),
        (Detail::Com, Integrator::Rk4, ContactLaw::Soft),
        (Detail::ComFixed, Integrator::SemiImplicit, ContactLaw::Hard),
        (Detail::ComFixed, Integrator::Rk4, ContactLaw::SoftCoulomb),
        (Detail::Kinematic, Integrator::SemiImplicit, ContactLaw::Hard),
        (Detail::Kinematic, Integrator::Rk4, ContactLaw::Soft),
        (Detail::Vehicle, Integrator::SemiImplicit, ContactLaw::Hard),
        (Detail::Vehicle, Integrator::Rk4, ContactLaw::Soft),
    ] {
        let what = format!("{} by {}, {}", detail.word(), integrator.word(), law.word());
        let of = |robots: &[usize], n_threads| {
            bits(by(crowd(robots, detail), integrator, law), 0.16, n_threads)
        };
        let alone: Vec<_> = (0..17).flat_map(|i| of(&[i], 1)).collect();
        let is_own = alone.windows(2).all(|two| two[0].1 != two[1].1);
        assert!(is_own, "{what}: each goes its own way");
        for (n, n_threads) in [(8, 1), (16, 1), (17, 1), (17, 2)] {
            let robots: Vec<usize> = (0..n).collect();
            let crowd = of(&robots, n_threads);
            assert_eq!(crowd.len(), n);
            for (in_crowd, alone) in crowd.iter().zip(&alone) {
                assert_eq!(in_crowd.0, alone.0);
                let differs = in_crowd.1.iter().zip(&alone.1).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{} of {n}, {what}", alone.0);
            }
        }
    }
}

/// Rows of what presses against what stands before it, front to back: players at each detail
/// (`a`rticulated, `c`om, com-`f`ixed, `k`inematic), `b`oxes and carts (`v`ehicle).
const ROWS: [&str; 8] = ["a", "fb", "acb", "caab", "akcbb", "aafkbbb", "vb", "vakv"];

/// The rows, side by side, so that each is an island or several. Neighbours overlap by a
/// millimetre, and what goes forwards goes at half a metre per second.
fn rows() -> World {
    let mut models = GROUND.to_string();
    let mut details: Vec<(String, Detail)> = Vec::new();
    for (row, things) in ROWS.iter().enumerate() {
        let (mut x, y) = (0.0, 0.5 * row as f64);
        for (place, thing) in things.chars().enumerate() {
            let name = format!("robot_{row}{place}");
            // How far it reaches back and forth: a sole from 63 mm behind to 87 mm before.
            let (back, front) = match thing {
                'b' => (0.05, 0.05),
                'v' => (0.1, 0.1),
                _ => (0.063, 0.087),
            };
            x += back;
            models += &match thing {
                'b' => block(&name, x, y),
                'v' => cart(&name, &format!("{x} {y} 0 0 0 0")),
                _ => format!(
                    "<include><uri>robots/player</uri><name>{name}</name>\
                     <pose>{x} {y} 0 0 0 0</pose></include>"
                ),
            };
            details.push((name, detail_of(thing)));
            x += front - 1e-3;
        }
    }
    let mut world = sdf_world(&models);
    for (name, detail) in details {
        world.set_detail(&name, detail).expect("a robot");
    }
    world
}

fn detail_of(thing: char) -> Detail {
    match thing {
        'c' => Detail::Com,
        'f' => Detail::ComFixed,
        'k' => Detail::Kinematic,
        'v' => Detail::Vehicle,
        _ => Detail::Articulated,
    }
}

/// A box of 0.1 m that moves back into what stands behind it.
fn block(name: &str, x: f64, y: f64) -> String {
    format!(
        r#"<model name="{name}"><pose>{x} {y} 0.05 0 0 0</pose><link name="link">
        <headland:twist>-0.5 0 0 0 0 0</headland:twist><inertial><mass>1</mass><inertia>
        <ixx>0.00167</ixx><iyy>0.00167</iyy><izz>0.00167</izz></inertia></inertial>
        <collision name="c"><geometry><box><size>0.1 0.1 0.1</size></box></geometry></collision>
        </link></model>"#
    )
}

/// How many robots there are in each island of what forces move, the smallest first.
fn islands(model: &Model, state: &State) -> Vec<usize> {
    let robot = |body: usize| model.bodies[body].name.split("::").next().expect("a name");
    let is_moved = |body: usize| {
        let told =
            |thing: &Option<Detail>| matches!(thing, Some(Detail::Kinematic | Detail::Vehicle));
        let named = model.world.models.iter().find(|other| other.name == robot(body));
        model.rigids[model.bodies[body].rigid_idx].motion == Motion::Dynamic
            && !told(&named.expect("a robot").detail)
    };
    // Each robot's leader, brought together contact by contact.
    let mut leaders: BTreeMap<&str, &str> = BTreeMap::new();
    for contact in &state.contacts {
        for body in [contact.body_a, contact.body_b] {
            if is_moved(body) {
                leaders.entry(robot(body)).or_insert(robot(body));
            }
        }
        let (a, b) = (contact.body_a, contact.body_b);
        if is_moved(a) && is_moved(b) {
            let (kept, left) = (leaders[robot(a)], leaders[robot(b)]);
            leaders.values_mut().filter(|leader| **leader == left).for_each(|own| *own = kept);
        }
    }
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    leaders.values().for_each(|leader| *sizes.entry(leader).or_default() += 1);
    let mut sizes: Vec<usize> = sizes.into_values().collect();
    sizes.sort_unstable();
    sizes
}

/// What a run did, bit for bit: poses, twists, joints and contacts with their forces, step by step;
/// and the sizes of islands there were.
fn every_bit(world: &World, secs: f64, n_threads: usize) -> (Vec<u64>, Vec<Vec<usize>>) {
    let (mut bits, mut sizes) = (Vec::new(), Vec::new());
    let play = Play::native(secs).with(By(swing)).on_threads(n_threads);
    let ran = play.watch(world, |model, state| {
        let vector = |v: Vec3| v.to_array().map(f64::to_bits);
        for now in &state.rigids {
            bits.extend(vector(now.world_from_rigid.translation));
            bits.extend(now.world_from_rigid.rotation.to_array().map(f64::to_bits));
            bits.extend([now.twist.linear, now.twist.angular].into_iter().flat_map(vector));
        }
        for now in &state.dofs {
            bits.extend([now.position, now.velocity, now.effort].map(f64::to_bits));
        }
        for contact in &state.contacts {
            let at = [contact.position, contact.normal, contact.force];
            bits.extend([contact.body_a as u64, contact.body_b as u64, contact.depth.to_bits()]);
            bits.extend(at.into_iter().flat_map(vector));
        }
        sizes.push(islands(model, state));
    });
    assert!(ran.end.contained.is_empty(), "{:?}", ran.end.contained);
    (bits, sizes)
}

/// Twenty-eight robots at every detail that press each other, in islands of one to four: the same
/// bits on 1, 2, 3 and 8 threads, by every law and integrator. By `adaptive`, too, whose inner
/// steps are those of whoever needs the shortest.
#[test]
fn threads_change_no_bit_of_those_who_press_each_other() {
    let n_robots: usize = ROWS.iter().map(|row| row.len()).sum();
    assert!(n_robots >= 16, "fewer are stepped on one thread");
    let adaptive = Integrator::Adaptive { tolerance: Some(1e-4) };
    for law in [ContactLaw::Hard, ContactLaw::Soft, ContactLaw::SoftCoulomb] {
        for (integrator, secs) in
            [(Integrator::SemiImplicit, 0.02), (Integrator::Rk4, 0.01), (adaptive, 0.001)]
        {
            let (world, what) = (by(rows(), integrator, law), format!("{law:?} {integrator:?}"));
            let (alone, sizes) = every_bit(&world, secs, 1);
            let most = sizes.iter().filter_map(|sizes| sizes.last()).max().expect("islands");
            let n_sizes = |sizes: &Vec<usize>| sizes.chunk_by(|a, b| a == b).count();
            let different = sizes.iter().map(n_sizes).max().expect("islands");
            eprintln!("{what}: islands of up to {most}, of {different} sizes at once");
            assert!(*most >= 4 && different >= 3, "{what}: {sizes:?}");
            for n_threads in [2, 3, 8] {
                let (bits, _) = every_bit(&world, secs, n_threads);
                assert_eq!(bits.len(), alone.len(), "{what} on {n_threads} threads");
                let differs = bits.iter().zip(&alone).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{what} on {n_threads} threads");
            }
        }
    }
}

/// An arm of two hinges that hangs high and swings from where it leans.
fn arm(name: &str, x: f64, lean: f64) -> String {
    let link = |link: &str, z: f64| {
        format!(
            r#"<link name="{link}"><pose>0 0 {z} 0 0 0</pose><inertial><pose>0 0 -0.25 0 0 0</pose>
            <mass>1</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.01</izz></inertia></inertial>
            </link>"#
        )
    };
    format!(
        r#"<model name="{name}"><pose>{x} 0 5 0 0 0</pose>{}{}<joint name="shoulder"
        type="continuous"><parent>world</parent><child>upper</child><axis><xyz>0 1 0</xyz>
        <headland:initial_position>{lean}</headland:initial_position></axis></joint>
        <joint name="elbow" type="continuous"><parent>upper</parent><child>lower</child>
        <axis><xyz>0 1 0</xyz></axis></joint></model>"#,
        link("upper", 0.0),
        link("lower", -0.5),
    )
}

/// Positions and velocities of an arm's joints, step by step, and how many inner steps that took.
fn swung(arms: &str, tolerance: f64) -> (Vec<[f64; 4]>, u64) {
    let adaptive = Integrator::Adaptive { tolerance: Some(tolerance) };
    let mut world = by(sdf_world(arms), adaptive, ContactLaw::Hard);
    world.physics.step = SimDuration::from_nanos(20_000_000);
    let (mut engine, mut out) = (Native::default(), Vec::new());
    Play::native(1.0).watch_by(&mut engine, &world, |model, state| {
        let dof = |name: &str| state.dofs[model.dof(name).expect("a joint")];
        let [a, b] = [dof("arm::shoulder"), dof("arm::elbow")];
        out.push([a.position, b.position, a.velocity, b.velocity]);
    });
    (out, engine.n_inner_steps())
}

/// One inner step serves the whole world, so by `adaptive` a robot in a crowd is not to the bit the
/// robot alone, but it is as near to it as the tolerance says: each inner step is off by at most the
/// tolerance of `1 + |y|`, steps add up, and what is off grows as two motions do that begin a hair
/// apart.
#[test]
fn a_robot_in_a_crowd_is_within_the_tolerance_of_the_one_alone() {
    let (robot, others) = (arm("arm", 0.0, 1.0), arm("one", 3.0, 2.8) + &spinner());
    let furthest = |one: &[[f64; 4]], other: &[[f64; 4]]| {
        let both = one.iter().flatten().zip(other.iter().flatten());
        both.map(|(a, b)| (a - b).abs() / (1.0 + a.abs())).fold(0.0, f64::max)
    };
    let hair = 1e-7;
    let aside = arm("arm", 0.0, 1.0 + hair);
    let growth = furthest(&swung(&robot, 1e-11).0, &swung(&aside, 1e-11).0) / hair;
    for tolerance in [1e-6, 1e-8] {
        let ((alone, n_alone), (beside, n_beside)) =
            (swung(&robot, tolerance), swung(&(robot.clone() + &others), tolerance));
        let apart = furthest(&alone, &beside);
        let bound = (n_alone + n_beside) as f64 * tolerance * growth.max(1.0);
        eprintln!("{tolerance:e}: {n_alone} and {n_beside} inner steps, {apart:e} of {bound:e}");
        assert!(n_beside > n_alone, "the others need shorter ones");
        assert!(apart > 0.0 && apart < bound, "{tolerance}: {apart} apart, {bound} at most");
    }
}

/// A mass on a spring that swings at 300 rad/s, far away from all others.
fn spinner() -> String {
    r#"<model name="quick"><pose>0 50 5 0 0 0</pose><link name="link"><inertial><mass>1</mass>
    <inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
    <joint name="rail" type="prismatic"><parent>world</parent><child>link</child><axis>
    <xyz>1 0 0</xyz><headland:initial_position>0.01</headland:initial_position><dynamics>
    <spring_stiffness>9e4</spring_stiffness></dynamics></axis></joint></model>"#
        .to_string()
}
