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

/// The engines that are asked. Others have their own tests, beside their own packages.
const ASKED: &[EngineEntry] = &[rapier::ENTRY, native::ENTRY, mujoco::ENTRY, ode::ENTRY];

/// The engines that are asked about screws and mimics.
const ASKED_OF_TIES: &[EngineEntry] =
    &[rapier::ENTRY, native::ENTRY, mujoco::ENTRY, ode::ENTRY, bullet::ENTRY];

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

/// A first-order integrator is off by at most g·dt·t/2 in the position of a free body.
fn first_order(t: f64) -> f64 {
    0.5 * GRAVITY * 1e-3 * t + 1e-9
}

#[test]
fn free_fall() {
    for engine in engines() {
        watch(
            &world(vec![thing("ball", ball(Vec3::new(0.0, 0.0, 100.0)))]),
            engine,
            2.0,
            |model, state| {
                let t = state.time.secs();
                let z = place_of(state, model, "ball").z;
                let wanted = 100.0 - 0.5 * GRAVITY * t * t;
                assert!(
                    (z - wanted).abs() <= first_order(t),
                    "{}: {z} vs {wanted} at {t}",
                    engine.name
                );
                let v = speed_of(state, model, "ball").z;
                assert!((v + GRAVITY * t).abs() < 1e-9, "{}: {v} at {t}", engine.name);
            },
        );
    }
}

#[test]
fn projectile_and_nothing_clamps_it() {
    let mut thrown = ball(Vec3::ZERO);
    thrown.initial_twist =
        Twist { linear: Vec3::new(600.0, -30.0, 50.0), angular: Vec3::new(1.0, 2.0, 3.0) };
    for engine in engines() {
        watch(&world(vec![thing("ball", thrown.clone())]), engine, 3.0, |model, state| {
            let t = state.time.secs();
            let wanted =
                Vec3::new(600.0, -30.0, 50.0) * t - Vec3::new(0.0, 0.0, 0.5 * GRAVITY * t * t);
            let off = place_of(state, model, "ball").distance(wanted);
            assert!(off <= first_order(t) + 1e-6, "{}: off by {off} at {t}", engine.name);
        });
    }
}

/// A rod on a hinge: T = 2π·√(I/(m·g·l)) for small swings, times (1 + θ²/16) for the first
/// order in the amplitude. Tolerance 0.1 %.
#[test]
fn pendulum_period() {
    let (length, mass, amplitude) = (1.0, 2.0, 0.1);
    let mut bob = link("bob", Vec3::new(0.0, 0.0, -length), mass, None);
    bob.inertial.inertia = Mat3::from_diagonal(Vec3::splat(0.02));
    let mut axis = Axis::along(Vec3::Y);
    axis.initial_position = amplitude;
    let hinge =
        joint("hinge", None, "bob", Vec3::new(0.0, 0.0, length), JointKind::Continuous(axis));
    let model = Model_ { joints: vec![hinge], ..thing("pendulum", bob) };
    let about_hinge = 0.02 + mass * length * length;
    let period =
        TAU * sqrt(about_hinge / (mass * GRAVITY * length)) * (1.0 + amplitude * amplitude / 16.0);
    for engine in engines() {
        let mut crossings = Vec::new();
        let mut before = (0.0, amplitude);
        let mut worst_length: f64 = 0.0;
        watch(&world(vec![model.clone()]), engine, 20.0, |model, state| {
            let (t, q) = (state.time.secs(), state.dofs[0].position);
            if before.1 < 0.0 && q >= 0.0 {
                crossings.push(before.0 + (t - before.0) * before.1 / (before.1 - q));
            }
            before = (t, q);
            worst_length =
                worst_length.max((place_of(state, model, "pendulum").length() - length).abs());
        });
        let measured =
            (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
        assert!((measured / period - 1.0).abs() < 1e-3, "{}: {measured} vs {period}", engine.name);
        assert!(worst_length < 1e-4, "{}: the rod stretches by {worst_length}", engine.name);
        eprintln!("{}: period {measured} wanted {period}, stretch {worst_length:e}", engine.name);
    }
}

/// Down a slope of 20° with μ = 0.2: a = g·(sin α − μ·cos α). Tolerance 0.2 % of the way.
#[test]
fn slide_on_an_incline() {
    let (alpha, mu) = (20.0 * PI / 180.0, 0.2);
    let surface = Surface { mu: Some(mu), mu2: Some(mu), ..Surface::default() };
    let mut block = link(
        "link",
        Vec3::new(0.0, 0.0, 0.1),
        2.0,
        Some(Geometry::Box { size: Vec3::new(0.6, 0.4, 0.2) }),
    );
    block.collisions[0].surface = surface.clone();
    let block = turned(alpha, thing("block", block));
    let down = Vec3::new(cos(alpha), 0.0, -sin(alpha));
    for engine in engines() {
        let mut start = None;
        let end = watch(
            &world(vec![ground(surface.clone(), alpha), block.clone()]),
            engine,
            3.0,
            |model, state| {
                start.get_or_insert(place_of(state, model, "block"));
            },
        );
        let model =
            Model::compile(&Arc::new(world(vec![ground(surface.clone(), alpha), block.clone()])))
                .unwrap();
        let way = (place_of(&end, &model, "block") - start.unwrap()).dot(down);
        let wanted = 0.5 * GRAVITY * (sin(alpha) - mu * cos(alpha)) * 9.0;
        assert!((way / wanted - 1.0).abs() < 2e-3, "{}: {way} vs {wanted}", engine.name);
    }
}

/// The same slope with μ = 1 holds: it moves less than 0.1 mm in 3 s.
#[test]
fn stick_on_an_incline() {
    let alpha = 20.0 * PI / 180.0;
    let block = link(
        "link",
        Vec3::new(0.0, 0.0, 0.1),
        2.0,
        Some(Geometry::Box { size: Vec3::new(0.6, 0.4, 0.2) }),
    );
    let block = turned(alpha, thing("block", block));
    for engine in engines() {
        let mut places = Vec::new();
        watch(
            &world(vec![ground(Surface::default(), alpha), block.clone()]),
            engine,
            3.0,
            |model, state| {
                places.push(place_of(state, model, "block"));
            },
        );
        let off = places[0].distance(places[places.len() - 1]);
        assert!(off < 1e-4, "{}: crept {off}", engine.name);
        eprintln!("{}: crept {off}", engine.name);
    }
}

/// What is symmetric stays so: cubes dropped flat land where they were, turned or not, however
/// large, from however high. Tolerance 1 mm, and 1 mrad, after 5 s.
#[test]
fn a_flat_drop_stays_where_it_is() {
    let surface = || Surface { mu: Some(0.5), mu2: Some(0.5), ..Surface::default() };
    let mut models = vec![ground(surface(), 0.0)];
    for (i, side) in [0.05, 0.3, 1.0].into_iter().enumerate() {
        for (j, height) in [0.5, 2.0, 5.0, 7.7].into_iter().enumerate() {
            for (k, yaw) in [0.0, 0.4].into_iter().enumerate() {
                let at = Vec3::new(4.0 * i as f64, 4.0 * j as f64 + 40.0 * k as f64, height);
                let cube = Geometry::Box { size: Vec3::splat(side) };
                let mut cube = link("link", at + Vec3::Z * (0.5 * side), 2.0, Some(cube));
                cube.collisions[0].surface = surface();
                let mut model = thing(&format!("cube_{i}{j}{k}"), cube);
                model.parent_from_model.rotation = quat_from_axis_angle(Vec3::Z, yaw);
                models.push(model);
            }
        }
    }
    for engine in engines() {
        let (mut first, mut worst) = (Vec::new(), (0.0_f64, 0.0_f64));
        let end = watch(&world(models.clone()), engine, 5.0, |_, state| {
            if first.is_empty() {
                first.clone_from(&state.rigids);
            }
        });
        for (was, is) in first.iter().zip(&end.rigids).skip(1) {
            let (was, is) = (was.world_from_rigid, is.world_from_rigid);
            let way = is.translation - was.translation;
            let ahead = was.vector(Vec3::X).distance(is.vector(Vec3::X));
            let up = was.vector(Vec3::Z).distance(is.vector(Vec3::Z));
            let aside = Vec3::new(way.x, way.y, 0.0).length();
            worst = (worst.0.max(aside), worst.1.max(ahead).max(up));
            assert!(way.z < -0.49, "{}: it fell", engine.name);
        }
        eprintln!("{}: {:e} m aside, {:e} rad", engine.name, worst.0, worst.1);
        assert!(worst.0 < 1e-3 && worst.1 < 1e-3, "{}: {worst:?}", engine.name);
    }
}

/// Apex heights of a ball that bounces with e = 0.7 fall by e² = 0.49 each. Tolerance 2 %.
#[test]
fn bounces_lose_the_square_of_restitution() {
    let surface = Surface { restitution: Some(0.7), ..Surface::default() };
    let mut dropped = ball(Vec3::new(0.0, 0.0, 3.5));
    dropped.collisions[0].surface = surface.clone();
    for engine in engines() {
        let (mut apexes, mut before) = (Vec::new(), 0.0);
        watch(
            &world(vec![ground(surface.clone(), 0.0), thing("ball", dropped.clone())]),
            engine,
            4.0,
            |model, state| {
                let v = speed_of(state, model, "ball").z;
                if before > 0.0 && v <= 0.0 {
                    apexes.push(place_of(state, model, "ball").z - 0.5);
                }
                before = v;
            },
        );
        eprintln!("{}: apexes {apexes:?}", engine.name);
        let mut height = 3.0;
        for apex in &apexes[..4] {
            assert!(
                (apex / height / 0.49 - 1.0).abs() < tolerance(engine, 0.02, 0.08),
                "{}: {apex} after {height}",
                engine.name
            );
            height = *apex;
        }
    }
}

/// What lies still is carried: the contact forces on it add up to its weight, and friction
/// on a slope holds the rest. Tolerance 1 %.
#[test]
fn contact_forces_carry_the_weight() {
    let alpha = 10.0 * PI / 180.0;
    let block = link(
        "link",
        Vec3::new(0.0, 0.0, 0.1),
        2.0,
        Some(Geometry::Box { size: Vec3::new(0.6, 0.4, 0.2) }),
    );
    let block = turned(alpha, thing("block", block));
    for engine in engines() {
        let end = watch(
            &world(vec![ground(Surface::default(), alpha), block.clone()]),
            engine,
            1.0,
            |_, _| {},
        );
        let total = end.contacts.iter().fold(Vec3::ZERO, |sum, contact| sum + contact.force);
        let wanted = Vec3::new(0.0, 0.0, 2.0 * GRAVITY);
        assert!(total.distance(wanted) < 0.01 * wanted.z, "{}: {total} vs {wanted}", engine.name);
        assert_eq!((end.contacts[0].body_a, end.contacts[0].body_b), (0, 1), "{}", engine.name);
        assert!(end.contacts[0].normal.z > 0.9, "{}: from the ground up", engine.name);
    }
}

/// Two boxes fall on each other and on a slope. A run of which every seventh step is observed
/// shows the same states, contacts and all, to the bit.
#[test]
fn what_nobody_looks_at_changes_nothing() {
    let alpha = 10.0 * PI / 180.0;
    let block = |name: &str, z: f64| {
        let size = Vec3::new(0.6, 0.4, 0.2);
        turned(
            alpha,
            thing(name, link("link", Vec3::new(0.0, 0.0, z), 2.0, Some(Geometry::Box { size }))),
        )
    };
    let slope = ground(Surface::default(), alpha);
    let world = world(vec![slope, block("lower", 0.11), block("upper", 0.33)]);
    let model = Model::compile(&Arc::new(world.clone())).expect("a world that compiles");
    for engine in engines() {
        let mut all = Vec::new();
        watch(&world, engine, 0.5, |_, state| all.push(state.clone()));
        struct Sees(Vec<State>);
        impl Observer for Sees {
            fn sample(&mut self, _: &Model, state: &State) -> Result<(), Diagnostic> {
                self.0.push(state.clone());
                Ok(())
            }
        }
        let mut setup = Setup::new(&model, SimDuration::from_secs(0.5).expect("short"));
        setup.record_period = setup.step * 7;
        let (mut seen, mut engine_) = (Sees(Vec::new()), (engine.make)(engine));
        let go = &mut |_| ControlFlow::Continue(());
        run(&model, &setup, engine_.as_mut(), &mut Cast::default(), &mut seen, go).expect("runs");
        assert_eq!(seen.0.len(), 500 / 7 + 2, "{}", engine.name);
        for state in &seen.0 {
            let i = usize::try_from(state.time.nanos() / setup.step.nanos()).expect("small");
            assert_eq!(*state, all[i], "{} at step {i}", engine.name);
        }
        assert!(all[500].contacts.len() > 4, "{}: both touch", engine.name);
    }
}

/// A free box keeps its momentum and its energy while it tumbles about no principal axis.
/// Tolerance 1 % over 5 s, for ODE 3 %.
#[test]
fn a_tumbling_box_keeps_angular_momentum_and_energy() {
    let mut tumbling =
        link("link", Vec3::ZERO, 10.0, Some(Geometry::Box { size: Vec3::new(0.1, 0.4, 0.9) }));
    tumbling.gravity = false;
    tumbling.initial_twist.angular = Vec3::new(0.1, 5.0, 0.1);
    for engine in engines() {
        let (mut first, mut worst) = (None, (0.0f64, 0.0f64));
        watch(&world(vec![thing("box", tumbling.clone())]), engine, 5.0, |model, state| {
            let turn = state.rigids[0].world_from_rigid.rotation;
            let omega = turn.conjugate() * state.rigids[0].twist.angular;
            let now = (turn * (model.rigids[0].inertia * omega), state.kinetic_energy(model, 0));
            let (momentum, energy) = *first.get_or_insert(now);
            worst.0 = worst.0.max(now.0.distance(momentum) / momentum.length());
            worst.1 = worst.1.max((now.1 / energy - 1.0).abs());
        });
        eprintln!("{}: momentum off {:e}, energy off {:e}", engine.name, worst.0, worst.1);
        // ODE's torque of a spinning body is first order in the step, and damps.
        let most = if engine.name == "ode" { 0.03 } else { tolerance(engine, 0.01, 0.02) };
        assert!(worst.0 < most && worst.1 < most, "{}: {worst:?}", engine.name);
    }
}

/// A nut on a frictionless screw falls slower than free: with x = p·θ,
/// a = g / (1 + I/(m·p²)). Tolerance 1 %, and the thread holds to 0.1 mm.
/// A motor of 1 N·m per kg·m² turns any body about any of its axes with 1 rad/s², whichever of
/// its moments are equal, and however small they are.
#[test]
fn a_torque_turns_a_body_by_its_own_moment() {
    let shapes = [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0], [2.0, 3.0, 1.5], [1.0; 3]];
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    for (moments, scale) in shapes.iter().flat_map(|m| [(m, 0.1), (m, 1e-6)]) {
        for (k, axis) in axes.into_iter().enumerate() {
            let mut wheel = link("wheel", Vec3::Z, 1.0, Some(Geometry::Sphere { radius: 0.01 }));
            wheel.collisions[0].link_from_shape = Transform::from_translation(Vec3::X * 0.02);
            wheel.inertial.inertia =
                Mat3::from_diagonal(Vec3::from_array(moments.map(|m| m * scale)));
            wheel.gravity = false;
            let hinge = JointKind::Continuous(Axis::along(axis));
            let hinge = joint("hinge", None, "wheel", Vec3::ZERO, hinge);
            let model = Model_ { joints: vec![hinge], ..thing("wheel", wheel) };
            for engine in engines() {
                let torque = moments[k] * scale;
                let mut cast =
                    Cast { controllers: vec![Box::new(Push(0, torque))], ..Cast::default() };
                let end =
                    watch_cast(&world(vec![model.clone()]), engine, 0.5, &mut cast, &mut |_, _| {});
                let speed = end.dofs[0].velocity;
                assert!(
                    (speed - 0.5).abs() < 5e-3,
                    "{}: {moments:?} × {scale} about {axis}: {speed}",
                    engine.name
                );
            }
        }
    }
}

#[test]
fn a_nut_on_a_screw_falls_as_its_thread_says() {
    let pitch = 0.02;
    let mut nut = link("nut", Vec3::ZERO, 1.0, None);
    nut.inertial.inertia = Mat3::from_diagonal(Vec3::new(1e-3, 1e-3, 4e-4));
    let kind = JointKind::Screw { axis: Axis::along(Vec3::Z), metres_per_radian: pitch };
    let model = Model_ {
        joints: vec![joint("thread", None, "nut", Vec3::ZERO, kind)],
        ..thing("nut", nut)
    };
    let wanted = GRAVITY / (1.0 + 4e-4 / (pitch * pitch));
    for engine in those_there(ASKED_OF_TIES) {
        watch(&world(vec![model.clone()]), engine, 1.0, |model, state| {
            let t = state.time.secs();
            let z = place_of(state, model, "nut").z;
            assert!(
                (z - pitch * state.dofs[0].position).abs() < 1e-4,
                "{}: the thread slips",
                engine.name
            );
            let fallen = 0.5 * wanted * t * t;
            assert!(
                (z + fallen).abs() < 0.01 * fallen + 2e-4,
                "{}: {z} vs {fallen} at {t}",
                engine.name
            );
        });
    }
}

/// A follower keeps to its leader while a motor drives the leader: within 2 mrad.
#[test]
fn a_mimic_follows_its_leader() {
    let arm = |name: &str, x: f64| {
        let mut arm = link(name, Vec3::new(x, 0.0, 0.0), 1.0, None);
        arm.gravity = false;
        arm
    };
    let mut following = Axis::along(Vec3::Z);
    following.mimic = Some(Mimic {
        leader: "first".into(),
        leader_axis: 0,
        multiplier: -2.0,
        offset: 0.3,
        reference: 0.0,
    });
    following.initial_position = 0.3;
    let model = Model_ {
        links: vec![arm("a", 0.0), arm("b", 1.0)],
        joints: vec![
            joint("first", None, "a", Vec3::ZERO, JointKind::Continuous(Axis::along(Vec3::Z))),
            joint("second", None, "b", Vec3::ZERO, JointKind::Continuous(following)),
        ],
        ..thing("pair", arm("unused", 0.0))
    };
    for engine in those_there(ASKED_OF_TIES) {
        let mut cast = Cast { controllers: vec![Box::new(Push(0, 0.02))], ..Cast::default() };
        let end =
            watch_cast(&world(vec![model.clone()]), engine, 2.0, &mut cast, &mut |_, state| {
                let off = state.dofs[1].position - (-2.0 * state.dofs[0].position + 0.3);
                assert!(off.abs() < 2e-3, "{}: off by {off} at {}", engine.name, state.time);
            });
        // The motor turns both: τ = (I1 + 4·I2)·q̈.
        let wanted = 0.5 * 0.02 / (0.01 + 4.0 * 0.01) * 4.0;
        let q = end.dofs[0].position;
        assert!((q / wanted - 1.0).abs() < 0.01, "{}: {q} vs {wanted}", engine.name);
    }
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

/// A rod that a servo holds level sags until the spring of the servo carries it:
/// `kp·q = m·g·l·cos q`. It holds from the start, without a command; and a velocity servo is
/// a damper, and sinks with `m·g·l·cos q/kv`. Tolerance 0.1 %.
#[test]
fn a_servo_sags_by_the_load_over_its_gain() {
    let arm = |kind: ActuatorKind, effort_range: Option<(f64, f64)>, damping: f64| {
        let rod = link("rod", Vec3::new(0.5, 0.0, 0.0), 2.0, None);
        let hinge = JointKind::Continuous(Axis { damping, ..Axis::along(Vec3::Y) });
        let hinge = joint("hinge", None, "rod", Vec3::new(-0.5, 0.0, 0.0), hinge);
        let servo = Actuator {
            name: "servo".into(),
            joint: "hinge".into(),
            kind,
            gear: 1.0,
            command_range: None,
            effort_range,
            ..Actuator::default()
        };
        let mut model = Model_ { name: "arm".into(), links: vec![rod], ..Model_::default() };
        (model.joints, model.actuators) = (vec![hinge], vec![servo]);
        world(vec![model])
    };
    let load = 2.0 * GRAVITY * 0.5;
    for engine in engines() {
        for kp in [50.0, 5e3] {
            let stiff = ActuatorKind::Position { kp, kv: 0.04 * kp };
            let end = watch(&arm(stiff, None, 0.0), engine, 6.0, |_, _| {});
            let (q, effort) = (end.dofs[0].position, end.dofs[0].effort);
            let wanted = load * cos(q) / kp;
            assert!((q / wanted - 1.0).abs() < 1e-3, "{}: sags {q} of {wanted}", engine.name);
            assert!((effort / -load / cos(q) - 1.0).abs() < 1e-3, "{}: {effort}", engine.name);
        }
        // Too weak to hold it: it gives what it has, and the rod ends up hanging.
        let weak = ActuatorKind::Position { kp: 5e3, kv: 0.0 };
        let end = watch(&arm(weak, Some((-1.0, 1.0)), 2.0), engine, 8.0, |_, _| {});
        let (q, effort) = (end.dofs[0].position, end.dofs[0].effort);
        assert!((cos(q) * load - 1.0).abs() < 0.02 && effort == -1.0, "{}: {q}", engine.name);

        let damper = ActuatorKind::Velocity { kv: 200.0 };
        let end = watch(&arm(damper, None, 0.0), engine, 1.0, |_, _| {});
        let wanted = load * cos(end.dofs[0].position) / 200.0;
        let speed = end.dofs[0].velocity;
        assert!((speed / wanted - 1.0).abs() < 1e-3, "{}: {speed} of {wanted}", engine.name);
    }
}

/// A link on one axis without gravity that starts 0.1 from where a spring of 1,000 N/m, or of
/// as many N·m/rad as makes it swing as fast, would have it; `servo` puts a motor's `kp` in the
/// spring's place, and a hinge sits 0.3 m from the centre of mass where `is_off_centre`.
fn sprung(slides: bool, is_off_centre: bool, servo: bool, step_millis: i64) -> World {
    let mut block = link("block", Vec3::ZERO, 1.0, None);
    block.gravity = false;
    block.inertial.inertia = Mat3::from_diagonal(Vec3::splat(0.1));
    let arm = if is_off_centre { Vec3::new(-0.3, 0.0, 0.0) } else { Vec3::ZERO };
    let stiffness = 1e3 * if slides { 1.0 } else { 0.1 + arm.dot(arm) };
    let spring_stiffness = if servo { 0.0 } else { stiffness };
    let axis = Axis { spring_stiffness, initial_position: 0.1, ..Axis::along(Vec3::Y) };
    let kind = if slides { JointKind::Prismatic(axis) } else { JointKind::Continuous(axis) };
    let servo = servo.then(|| Actuator {
        name: "servo".into(),
        joint: "axis".into(),
        kind: ActuatorKind::Position { kp: stiffness, kv: 0.0 },
        gear: 1.0,
        command_range: None,
        effort_range: None,
        ..Actuator::default()
    });
    let joints = vec![joint("axis", None, "block", arm, kind)];
    let actuators = servo.into_iter().collect();
    let mut world = world(vec![Model_ { joints, actuators, ..thing("block", block) }]);
    world.physics.step = SimDuration::from_nanos(step_millis * 1_000_000);
    world
}

/// Nothing damps, so nothing dies away or builds up: a spring, or a servo without `kv`, on a
/// hinge, on a hinge off the centre of mass and on a slide keeps its amplitude over 60 swings
/// and the period `2π·√(m/k)`, in steps of 1 and of 2 ms. Tolerances 1 %, and 0.05 %.
#[test]
fn an_undamped_spring_keeps_its_amplitude_and_its_period() {
    let period = TAU / sqrt(1e3);
    let cases = [(false, false), (false, true), (true, false)]
        .into_iter()
        .flat_map(|(slides, off)| [(slides, off, false), (slides, off, true)])
        .flat_map(|(slides, off, servo)| [(slides, off, servo, 1), (slides, off, servo, 2)]);
    for (slides, off, servo, millis) in cases {
        for engine in engines() {
            let (mut crossings, mut before, mut late) = (Vec::new(), (0.0, 0.1), 0.0_f64);
            watch(&sprung(slides, off, servo, millis), engine, 12.0, |_, state| {
                let (t, q) = (state.time.secs(), state.dofs[0].position);
                if before.1 < 0.0 && q >= 0.0 {
                    crossings.push(before.0 + (t - before.0) * before.1 / (before.1 - q));
                }
                before = (t, q);
                if t > 11.0 {
                    late = late.max(q.abs());
                }
            });
            let n = crossings.len() - 1;
            let measured = (crossings[n] - crossings[0]) / n as f64;
            let case = format!(
                "{}: slides {slides}, off centre {off}, servo {servo}, {millis} ms",
                engine.name
            );
            eprintln!("{case}: amplitude {late}, period off {:e}", measured / period - 1.0);
            assert!((late / 0.1 - 1.0).abs() < 1e-2, "{case}: amplitude {late}");
            assert!((measured / period - 1.0).abs() < 5e-4, "{case}: {measured} of {period}");
        }
    }
}

/// Two motors on one joint add up, in either order: what one carries as a spring the other
/// slows as a damper, and two springs are as stiff as both. Each keeps to its own range, and
/// an effort that is asked for is given once. Tolerance 0.1 %.
#[test]
fn motors_on_one_joint_add_up() {
    let motor = |name: &str, kind: ActuatorKind, effort_range: Option<(f64, f64)>| Actuator {
        name: name.into(),
        joint: "hinge".into(),
        kind,
        gear: 1.0,
        command_range: None,
        effort_range,
        ..Actuator::default()
    };
    let arm = |actuators: Vec<Actuator>| {
        let rod = link("rod", Vec3::new(0.5, 0.0, 0.0), 2.0, None);
        let hinge = JointKind::Continuous(Axis::along(Vec3::Y));
        let hinge = joint("hinge", None, "rod", Vec3::new(-0.5, 0.0, 0.0), hinge);
        let mut model = Model_ { name: "arm".into(), links: vec![rod], ..Model_::default() };
        (model.joints, model.actuators) = (vec![hinge], actuators);
        world(vec![model])
    };
    let load = 2.0 * GRAVITY * 0.5;
    let spring = motor("spring", ActuatorKind::Position { kp: 1e3, kv: 0.0 }, None);
    let weak = ActuatorKind::Position { kp: 1e3, kv: 0.0 };
    let weak = motor("weak", weak, Some((-2.0, 2.0)));
    let damper = motor("damper", ActuatorKind::Velocity { kv: 40.0 }, None);
    // Held up by `kp·q`, by twice that, and by `kp·q + 2`.
    for (actuators, kp, given) in [
        (vec![spring.clone(), damper.clone()], 1e3, 0.0),
        (vec![damper.clone(), spring.clone()], 1e3, 0.0),
        (vec![spring.clone(), damper.clone(), spring.clone()], 2e3, 0.0),
        (vec![damper.clone(), spring.clone(), weak], 1e3, 2.0),
    ] {
        for engine in engines() {
            let end = watch(&arm(actuators.clone()), engine, 4.0, |_, _| {});
            let (q, effort) = (end.dofs[0].position, end.dofs[0].effort);
            let wanted = (load * cos(q) - given) / kp;
            assert!((q / wanted - 1.0).abs() < 1e-3, "{}: sags {q} of {wanted}", engine.name);
            assert!((effort / -load / cos(q) - 1.0).abs() < 1e-3, "{}: {effort}", engine.name);
        }
    }
    for engine in engines() {
        let mut cast = Cast { controllers: vec![Box::new(Push(0, -load))], ..Cast::default() };
        let both = arm(vec![spring.clone(), damper.clone()]);
        let end = watch_cast(&both, engine, 0.5, &mut cast, &mut |_, _| {});
        assert_eq!(end.dofs[0].effort, -load, "{}", engine.name);
        assert!(end.dofs[0].position.abs() < 1e-3, "{}: {:?}", engine.name, end.dofs[0]);
    }
}

/// A servo whose damper is stiff for the step (`kd·dt/I` = 0.6) rests where its spring carries
/// the load, and stands still there. Position and effort within 0.1 %, velocity 1e-5 rad/s.
#[test]
fn a_stiff_servo_stands_still_where_its_spring_carries_the_load() {
    let size = Vec3::new(1.0, 0.2, 0.2);
    let beam = link("beam", Vec3::new(0.5, 0.0, 0.0), 1.0, Some(Geometry::Box { size }));
    let hinge = JointKind::Continuous(Axis::along(Vec3::Y));
    let servo = Actuator {
        name: "servo".into(),
        joint: "hinge".into(),
        kind: ActuatorKind::Position { kp: 1e3, kv: 200.0 },
        gear: 1.0,
        command_range: None,
        effort_range: None,
        ..Actuator::default()
    };
    let model = Model_ {
        name: "arm".into(),
        joints: vec![joint("hinge", None, "beam", Vec3::new(-0.5, 0.0, 0.0), hinge)],
        links: vec![beam],
        actuators: vec![servo],
        ..Model_::default()
    };
    for engine in engines() {
        let end = watch(&world(vec![model.clone()]), engine, 5.0, |_, _| {});
        let dof = end.dofs[0];
        let load = 0.5 * GRAVITY * cos(dof.position);
        eprintln!("{}: {dof:?} under {load}", engine.name);
        assert!((dof.position * 1e3 / load - 1.0).abs() < 1e-3, "{}: {dof:?}", engine.name);
        assert!((dof.effort / -load - 1.0).abs() < 1e-3, "{}: {dof:?}", engine.name);
        assert!(dof.velocity.abs() < 1e-5, "{}: {dof:?}", engine.name);
    }
}

/// A servo whose damper is stiff for the step, and which is too weak for its load, gives what it
/// has from the moment it is at its limit: `½·I·ω² = m·g·l·sin q − τ·q`, within 1 %. What it
/// did before is over within a step or two.
#[test]
fn a_stiff_servo_at_its_limit_pushes_on() {
    let size = Vec3::new(1.0, 0.2, 0.2);
    let beam = link("beam", Vec3::new(0.5, 0.0, 0.0), 1.0, Some(Geometry::Box { size }));
    let inertia = beam.inertial.inertia.y_axis.y + 0.25;
    let hinge = JointKind::Continuous(Axis::along(Vec3::Y));
    let servo = Actuator {
        name: "servo".into(),
        joint: "hinge".into(),
        kind: ActuatorKind::Position { kp: 1e3, kv: 200.0 },
        gear: 1.0,
        effort_range: Some((-2.0, 2.0)),
        ..Actuator::default()
    };
    let model = Model_ {
        name: "arm".into(),
        joints: vec![joint("hinge", None, "beam", Vec3::new(-0.5, 0.0, 0.0), hinge)],
        links: vec![beam],
        actuators: vec![servo],
        ..Model_::default()
    };
    for engine in engines() {
        let end = watch(&world(vec![model.clone()]), engine, 0.4, |_, _| {});
        let dof = end.dofs[0];
        let (kinetic, work) = (
            0.5 * inertia * dof.velocity * dof.velocity,
            0.5 * GRAVITY * sin(dof.position) - 2.0 * dof.position,
        );
        assert_eq!(dof.effort, -2.0, "{}", engine.name);
        assert!(dof.position > 0.3, "{}: {dof:?}", engine.name);
        assert!((kinetic / work - 1.0).abs() < 0.01, "{}: {kinetic} of {work}", engine.name);
    }
}

/// Dry friction and a damper on one axis: `m·v̇ = −F − d·v` stops after `m/d·ln(1 + d·v₀/F)`,
/// and a damper that is stiff for the step (`d·dt/m` = 50) holds instead of throwing. Where it
/// stops: within 1 %.
#[test]
fn friction_and_a_damper_share_an_axis() {
    let slider = |damping: f64, friction: f64| {
        let mut cart = link("cart", Vec3::ZERO, 2.0, None);
        cart.initial_twist.linear = Vec3::new(1.0, 0.0, 0.0);
        let axis = Axis { damping, friction, ..Axis::along(Vec3::X) };
        let rail = joint("rail", None, "cart", Vec3::ZERO, JointKind::Prismatic(axis));
        world(vec![Model_ { joints: vec![rail], ..thing("cart", cart) }])
    };
    for engine in engines() {
        // x = m/d·(v₀ − F/d·ln(1 + d·v₀/F)) when it stops.
        let (m, d, f) = (2.0, 3.0, 1.0);
        let wanted = m / d * (1.0 - f / d * headland_base::maths::log(1.0 + d / f));
        let end = watch(&slider(d, f), engine, 2.0, |_, _| {});
        let way = end.dofs[0].position;
        assert!((way / wanted - 1.0).abs() < 0.01, "{}: {way} of {wanted}", engine.name);
        let end = watch(&slider(1e5, 1.0), engine, 1.0, |_, _| {});
        assert!(end.dofs[0].position.abs() < 1e-3, "{}: {:?}", engine.name, end.dofs[0]);
    }
}

/// A universal joint is not a ball joint: a bob that hangs from one swings both ways and
/// keeps the right angle between the axes, so it cannot spin about its own length.
#[test]
fn a_universal_joint_swings_both_ways_and_does_not_spin() {
    let mut bob = link("bob", Vec3::new(0.0, 0.0, -1.0), 1.0, None);
    bob.inertial.inertia = Mat3::from_diagonal(Vec3::new(0.01, 0.02, 0.015));
    let mut first = Axis::along(Vec3::X);
    first.initial_position = 0.8;
    let mut second = Axis::along(Vec3::Y);
    second.initial_position = 0.5;
    let hinge = joint("cross", None, "bob", Vec3::Z, JointKind::Universal(first, second));
    let model = Model_ { joints: vec![hinge], ..thing("pendulum", bob) };
    for engine in engines() {
        let (mut energy, mut swung) = (None, [0.0f64; 2]);
        watch(&world(vec![model.clone()]), engine, 5.0, |model, state| {
            let turn = state.relative_motion(&model.joints[0]).parent_from_child.rotation;
            let right_angle = Vec3::X.dot(turn * Vec3::Y);
            assert!(right_angle.abs() < 2e-3, "{}: the cross bends by {right_angle}", engine.name);
            let now =
                state.kinetic_energy(model, 0) + GRAVITY * place_of(state, model, "pendulum").z;
            let start = *energy.get_or_insert(now);
            assert!(
                (now - start).abs() < 0.02 * GRAVITY,
                "{}: energy {now} of {start}",
                engine.name
            );
            for (far, dof) in swung.iter_mut().zip(&state.dofs) {
                *far = far.max(-dof.position);
            }
        });
        assert!(swung[0] > 0.5 && swung[1] > 0.3, "{}: it only reached {swung:?}", engine.name);
    }
}

/// Damping slows exponentially, dry friction stops in finite time, a spring swings.
#[test]
fn damping_friction_and_springs_follow_their_closed_forms() {
    let slider = |axis: Axis, speed: f64| {
        let mut cart = link("cart", Vec3::ZERO, 2.0, None);
        cart.initial_twist.linear = Vec3::new(speed, 0.0, 0.0);
        let rail = joint("rail", None, "cart", Vec3::ZERO, JointKind::Prismatic(axis));
        world(vec![Model_ { joints: vec![rail], ..thing("cart", cart) }])
    };
    for engine in engines() {
        let damped = Axis { damping: 3.0, ..Axis::along(Vec3::X) };
        let end = watch(&slider(damped, 1.0), engine, 1.0, |_, _| {});
        let wanted = headland_base::maths::exp(-1.5);
        assert!(
            (end.dofs[0].velocity / wanted - 1.0).abs() < 5e-3,
            "{}: {:?}",
            engine.name,
            end.dofs[0]
        );

        // v = v0 − (F/m)·t, so it stops after v0²·m/(2·F).
        let braked = Axis { friction: 1.0, ..Axis::along(Vec3::X) };
        let end = watch(&slider(braked, 1.0), engine, 3.0, |_, _| {});
        assert!((end.dofs[0].position - 1.0).abs() < 5e-3, "{}: {:?}", engine.name, end.dofs[0]);
        assert!(end.dofs[0].velocity.abs() < 1e-6, "{}: {:?}", engine.name, end.dofs[0]);

        // x = cos(√(k/m)·t) about the spring's rest.
        let sprung = Axis { spring_stiffness: 8.0, spring_reference: -1.0, ..Axis::along(Vec3::X) };
        let end = watch(&slider(sprung, 0.0), engine, PI, |_, _| {});
        let wanted = -1.0 + cos(2.0 * end.time.secs());
        assert!(
            (end.dofs[0].position - wanted).abs() < 2e-2,
            "{}: {:?} vs {wanted}",
            engine.name,
            end.dofs[0]
        );
    }
}

/// Limits hold: a cart pushed against one stays there, within 1 mm.
#[test]
fn a_limit_holds() {
    let mut cart = link("cart", Vec3::ZERO, 2.0, None);
    cart.initial_twist.linear = Vec3::new(1.0, 0.0, 0.0);
    let axis = Axis { lower: -0.1, upper: 0.25, ..Axis::along(Vec3::X) };
    let rail = joint("rail", None, "cart", Vec3::ZERO, JointKind::Prismatic(axis));
    let world = world(vec![Model_ { joints: vec![rail], ..thing("cart", cart) }]);
    for engine in engines() {
        let mut cast = Cast { controllers: vec![Box::new(Push(0, 5.0))], ..Cast::default() };
        let end = watch_cast(&world, engine, 2.0, &mut cast, &mut |_, state| {
            assert!(state.dofs[0].position < 0.252, "{}: {:?}", engine.name, state.dofs[0]);
        });
        assert!((end.dofs[0].position - 0.25).abs() < 1e-3, "{}: {:?}", engine.name, end.dofs[0]);
    }
}

/// A stack of ten boxes stands: the top is within 5 mm of where it started.
#[test]
fn a_stack_stands() {
    let mut models = vec![ground(Surface::default(), 0.0)];
    for i in 0..10 {
        let at = Vec3::new(0.0, 0.0, 0.25 + 0.5 * f64::from(i));
        let link = link("link", at, 1.0, Some(Geometry::Box { size: Vec3::splat(0.5) }));
        models.push(thing(&format!("box{i}"), link));
    }
    for engine in engines() {
        let mut heights = Vec::new();
        watch(&world(models.clone()), engine, 3.0, |model, state| {
            heights.push(state.rigids[model.rigids.len() - 1].world_from_rigid.translation.z);
        });
        let low = heights[0] - heights[heights.len() - 1];
        eprintln!("{}: the top sank by {low}", engine.name);
        assert!(low.abs() < 5e-3, "{}: the top sank by {low}", engine.name);
    }
}

/// A body that is thrown into infinity is contained; the others go on.
#[test]
fn a_body_that_goes_non_finite_is_contained() {
    let mut lost = ball(Vec3::new(5.0, 0.0, 50.0));
    lost.initial_twist.linear = Vec3::new(1e308, 1e308, 0.0);
    let models = vec![thing("lost", lost), thing("ball", ball(Vec3::new(0.0, 0.0, 50.0)))];
    // MuJoCo goes back to the start of time then, which its own tests say is a fault.
    for engine in engines().filter(|engine| engine.name != "mujoco") {
        let end = watch(&world(models.clone()), engine, 2.0, |_, state| {
            assert!(state.rigids.iter().all(|r| r.world_from_rigid.is_finite()), "{}", engine.name);
        });
        assert!(end.rigids[0].is_contained, "{}", engine.name);
        let z = end.rigids[1].world_from_rigid.translation.z;
        assert!((z - (50.0 - 2.0 * GRAVITY)).abs() < first_order(2.0), "{}: {z}", engine.name);
    }
}

/// Links welded by fixed joints are one body: thrown with a spin, their common centre of mass
/// falls as a point does, off the frame of either link. Tolerance as for free fall.
#[test]
fn fixed_joints_are_exact() {
    let mut model = Model_ {
        links: vec![ball(Vec3::ZERO), link("tip", Vec3::new(1.0, 0.0, 0.0), 0.5, None)],
        joints: vec![joint("weld", Some("link"), "tip", Vec3::ZERO, JointKind::Fixed)],
        ..thing("tool", ball(Vec3::ZERO))
    };
    model.links[0].initial_twist.angular = Vec3::new(0.0, 3.0, 0.0);
    for engine in engines() {
        watch(&world(vec![model.clone()]), engine, 1.0, |model, state| {
            assert_eq!(model.rigids.len(), 1);
            let t = state.time.secs();
            let (hub, tip) =
                (place_of(state, model, "tool::link"), place_of(state, model, "tool::tip"));
            // The centre is a quarter of the way to the tip, and starts with ω × r of it.
            let centre = hub * 0.75 + tip * 0.25;
            let wanted = Vec3::new(0.25, 0.0, -0.75 * t - 0.5 * GRAVITY * t * t);
            let off = centre.distance(wanted);
            assert!(off < first_order(t), "{}: {off} at {t}", engine.name);
        });
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

/// Limits of a turn hold wherever they are: near, beyond half a turn, beyond several turns,
/// and open on one side. Within 5 mrad.
#[test]
fn limits_of_a_turn_hold_beyond_half_a_turn() {
    let free = (f64::NEG_INFINITY, f64::INFINITY);
    for (lower, upper) in
        [(-1.0, 1.0), (-4.0, 4.0), (-1.0, 20.0), (free.0, 1.0), (free.0, 9.0), (0.0, 6.2)]
    {
        let axis = Axis { lower, upper, ..Axis::along(Vec3::Z) };
        for engine in those_there(ASKED_OF_TIES) {
            for kind in [
                JointKind::Revolute(axis.clone()),
                JointKind::Screw { axis: axis.clone(), metres_per_radian: 0.001 },
            ] {
                let mut cast =
                    Cast { controllers: vec![Box::new(Push(0, 0.05))], ..Cast::default() };
                let end =
                    watch_cast(&wheel(kind.clone(), 0.0), engine, 4.0, &mut cast, &mut |_, _| {});
                let off = end.dofs[0].position - upper;
                assert!(
                    off.abs() < 5e-3,
                    "{}: {} to {upper} is off by {off}",
                    engine.name,
                    kind.word()
                );
            }
        }
    }
}

/// A spring pulls from where it is, also from more than half a turn away:
/// q = q0·cos(√(k/I)·t). Tolerance 1 % of q0.
#[test]
fn a_spring_unwinds_all_its_turns() {
    for start in [0.5, 4.0, 15.0] {
        let axis = Axis { spring_stiffness: 0.04, initial_position: start, ..Axis::along(Vec3::Z) };
        for engine in engines() {
            watch(&wheel(JointKind::Continuous(axis.clone()), 0.0), engine, 3.0, |_, state| {
                let wanted = start * cos(2.0 * state.time.secs());
                let off = (state.dofs[0].position - wanted).abs();
                assert!(off < 0.01 * start, "{}: off by {off} from {start}", engine.name);
            });
        }
    }
}

/// A bob on a ball joint keeps its energy and its angular momentum about the vertical, and
/// stays at its distance. Tolerance 1 %, and 0.1 mm.
#[test]
fn a_ball_joint_keeps_energy_and_momentum_about_the_vertical() {
    let mut bob = link("bob", Vec3::new(0.6, 0.0, -0.8), 1.0, None);
    bob.initial_twist.linear = Vec3::new(0.0, 1.5, 0.0);
    let socket = joint("socket", None, "bob", Vec3::new(-0.6, 0.0, 0.8), JointKind::Ball);
    // The bob turns with its arm: ω = r × v / r².
    bob.initial_twist.angular = Vec3::new(0.6, 0.0, -0.8).cross(Vec3::new(0.0, 1.5, 0.0));
    let model = Model_ { joints: vec![socket], ..thing("pendulum", bob) };
    for engine in engines() {
        let mut first = None;
        watch(&world(vec![model.clone()]), engine, 5.0, |model, state| {
            let (place, velocity) =
                (place_of(state, model, "pendulum"), speed_of(state, model, "pendulum"));
            let spin = model.rigids[0].inertia.col(2).z * state.rigids[0].twist.angular.z;
            let now = (
                state.kinetic_energy(model, 0) + GRAVITY * place.z,
                place.cross(velocity).z + spin,
            );
            let start = *first.get_or_insert(now);
            assert!(
                (now.0 - start.0).abs() < 0.01 * GRAVITY,
                "{}: {now:?} of {start:?}",
                engine.name
            );
            assert!((now.1 / start.1 - 1.0).abs() < 0.01, "{}: {now:?} of {start:?}", engine.name);
            assert!((place.length() - 1.0).abs() < 1e-4, "{}: {}", engine.name, place.length());
        });
    }
}

/// A kinematic body keeps its velocity whatever lies on it, and friction takes what lies on
/// it along: after a second the box moves as the belt does. Within 1 %.
#[test]
fn a_kinematic_belt_carries_what_lies_on_it() {
    let mut belt = link(
        "link",
        Vec3::new(0.0, 0.0, -0.1),
        1.0,
        Some(Geometry::Box { size: Vec3::new(40.0, 2.0, 0.2) }),
    );
    belt.kinematic = true;
    belt.initial_twist.linear = Vec3::new(0.8, 0.0, 0.0);
    let cargo =
        link("link", Vec3::new(0.0, 0.0, 0.1), 5.0, Some(Geometry::Box { size: Vec3::splat(0.2) }));
    for engine in engines() {
        let models = vec![thing("belt", belt.clone()), thing("cargo", cargo.clone())];
        watch(&world(models), engine, 2.0, |model, state| {
            let t = state.time.secs();
            let off = place_of(state, model, "belt").distance(Vec3::new(0.8 * t, 0.0, -0.1));
            assert!(off < 1e-9, "{}: the belt is off by {off}", engine.name);
            let speed = speed_of(state, model, "cargo").x;
            let slack = tolerance(engine, 0.01, 0.02);
            let is_carried = (speed / 0.8 - 1.0).abs() < slack;
            assert!(t < 1.0 || is_carried, "{}: {speed} at {t}", engine.name);
        });
    }
}

/// A ball comes to rest on whatever is below: on a heightmap that is a plane of slope zero at
/// 0.7 m, on a mesh of the same, on a prism with a second one beside it. Within 2 mm.
#[test]
fn heightmaps_meshes_and_prisms_carry() {
    let flat = |z: f64| {
        let corner = |x: f64, y: f64| Vec3::new(x, y, z);
        let corners =
            vec![corner(-5.0, -5.0), corner(5.0, -5.0), corner(5.0, 5.0), corner(-5.0, 5.0)];
        let mesh = TriMesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]).expect("two triangles");
        let (uri, scale) = ("flat.stl".to_string(), Vec3::ONE);
        Geometry::Mesh { uri, scale, submesh: None, mesh: Arc::new(mesh), convex: false }
    };
    let square = |x: f64| -> Vec<Vec2> {
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .iter()
            .map(|(a, b)| Vec2::new(x + a, *b))
            .collect()
    };
    let heights = HeightGrid::new(5, 4, vec![0.7; 20]).expect("a grid");
    let grounds = [
        Geometry::Heightmap {
            uri: "flat.png".into(),
            size: Vec3::new(10.0, 10.0, 1.0),
            position: Vec3::ZERO,
            heights: Arc::new(heights),
        },
        flat(0.7),
        Geometry::Polyline { outlines: vec![square(0.0)], height: 0.7 },
        Geometry::Polyline { outlines: vec![square(5.0), square(0.0)], height: 0.7 },
    ];
    for geometry in grounds {
        let mut below = link("link", Vec3::ZERO, 1.0, None);
        below.collisions.push(shape(geometry.clone(), Surface::default()));
        let below = Model_ { is_static: true, ..thing("ground", below) };
        for engine in engines() {
            let models = vec![below.clone(), thing("ball", ball(Vec3::new(0.1, 0.2, 1.3)))];
            let end = watch(&world(models), engine, 2.0, |_, _| {});
            let z = end.rigids[1].world_from_rigid.translation.z;
            assert!(
                (z - 1.2).abs() < 2e-3,
                "{}: on a {} it rests at {z}",
                engine.name,
                geometry.kind()
            );
        }
    }
}

/// A heightmap is the right way round: a ball rolls down to the low side, which is −x.
#[test]
fn a_heightmap_slopes_the_way_its_heights_say() {
    let heights: Vec<f64> =
        (0..5).flat_map(|_| (0..5).map(|column| 0.2 * f64::from(column))).collect();
    let along_y: Vec<f64> =
        (0..5).flat_map(|row| (0..5).map(move |_| 0.2 * f64::from(row))).collect();
    for (heights, low) in [(heights, -Vec3::X), (along_y, -Vec3::Y)] {
        let geometry = Geometry::Heightmap {
            uri: "slope.png".into(),
            size: Vec3::new(10.0, 10.0, 1.0),
            position: Vec3::ZERO,
            heights: Arc::new(HeightGrid::new(5, 5, heights).expect("a grid")),
        };
        let mut below = link("link", Vec3::ZERO, 1.0, None);
        below.collisions.push(shape(geometry, Surface::default()));
        let below = Model_ { is_static: true, ..thing("ground", below) };
        for engine in engines() {
            let models = vec![below.clone(), thing("ball", ball(Vec3::new(0.0, 0.0, 1.0)))];
            let end = watch(&world(models), engine, 2.0, |_, _| {});
            let went = end.rigids[1].world_from_rigid.translation.dot(low);
            // Rolling without slip: a = g·sin α/(1 + 2/5) with tan α = 0.08.
            let wanted = 0.5 * GRAVITY * 0.08 / 1.0064 / 1.4 * 4.0;
            eprintln!("{}: {went} of {wanted}", engine.name);
            assert!((went / wanted - 1.0).abs() < 0.05, "{}: {went} of {wanted}", engine.name);
        }
    }
}
