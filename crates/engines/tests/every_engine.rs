//! What a world says about contacts and motors means the same on every engine that is there.

use std::ops::ControlFlow;
use std::sync::Arc;

use headland_base::maths::exp;
use headland_base::{Diagnostic, Mat3, Severity, SimDuration, Transform, Vec3};
use headland_engines::ENGINES;
use headland_sim::{
    Cast, Command, Commands, Controller, EngineEntry, EngineOptions, Mode, Model, Observer, Setup,
    State, run,
};
use headland_world::{
    Actuator, Axis, Collision, Geometry, InertiaOrigin, Inertial, Joint, JointKind, Link,
    Model as Robot, Surface, TorqueSpeed, Touches, World,
};

/// The engines that are there; all must be where `HEADLAND_REQUIRE_FOREIGN` is 1.
fn engines() -> impl Iterator<Item = &'static EngineEntry> {
    ENGINES.iter().filter(|entry| match (entry.find)(entry) {
        Ok(_) => true,
        Err(why) => {
            let must = std::env::var("HEADLAND_REQUIRE_FOREIGN").as_deref() == Ok("1");
            assert!(!must, "{}: {why}", entry.name);
            eprintln!("not asked of {}: {why}", entry.name);
            false
        }
    })
}

/// Runs a world and gives its last state. None of these worlds is refused.
fn last(world: World, engine: &EngineEntry, secs: f64, cast: &mut Cast) -> (Model, State) {
    last_as(world, engine, secs, cast, false)
}

/// The same, raw if asked for.
fn last_as(
    world: World,
    engine: &EngineEntry,
    secs: f64,
    cast: &mut Cast,
    raw: bool,
) -> (Model, State) {
    struct Blind;
    impl Observer for Blind {
        fn sample(&mut self, _: &Model, _: &State) -> Result<(), Diagnostic> {
            Ok(())
        }
    }
    let model = Model::compile(&Arc::new(world)).expect("a world that compiles");
    let mut setup = Setup::new(&model, SimDuration::from_secs(secs).expect("short"));
    setup.raw = raw;
    let mut made = (engine.make)(engine);
    let options = EngineOptions { raw, ..EngineOptions::new(model.world.physics.step) };
    let notes = made.check(&model, &options);
    let refusals: Vec<_> = notes.iter().filter(|note| note.severity == Severity::Error).collect();
    assert!(refusals.is_empty(), "{}: {refusals:?}", engine.name);
    let go = &mut |_| ControlFlow::Continue(());
    let end = run(&model, &setup, made.as_mut(), cast, &mut Blind, go).expect(engine.name);
    (model, end.state)
}

fn link(name: &str, inertia: f64, geometry: Option<Geometry>) -> Link {
    let collision = |geometry| Collision {
        name: "shape".into(),
        link_from_shape: Transform::IDENTITY,
        geometry,
        surface: Surface::default(),
    };
    Link {
        name: name.into(),
        inertial: Inertial {
            mass: 1.0,
            inertia: Mat3::from_diagonal(Vec3::splat(inertia)),
            origin: InertiaOrigin::Given,
            ..Inertial::default()
        },
        collisions: geometry.into_iter().map(collision).collect(),
        gravity: true,
        ..Link::default()
    }
}

const RADIUS: f64 = 0.1;

fn ball(name: &str, x: f64, z: f64) -> Robot {
    let shape = Geometry::Sphere { radius: RADIUS };
    Robot {
        name: name.into(),
        parent_from_model: Transform::from_translation(Vec3::new(x, 0.0, z)),
        links: vec![link("link", 0.004, Some(shape))],
        ..Robot::default()
    }
}

/// Two balls of one model, one on the other, nothing between them.
fn two_balls(name: &str, x: f64) -> Robot {
    let [mut low, mut high] = [ball("low", 0.0, RADIUS), ball("high", 0.0, 0.31)];
    let link = |robot: &mut Robot| {
        let mut link = robot.links.remove(0);
        link.name = robot.name.clone();
        link.model_from_link = robot.parent_from_model;
        link
    };
    let links = vec![link(&mut low), link(&mut high)];
    let at = Transform::from_translation(Vec3::X * x);
    Robot {
        name: name.into(),
        parent_from_model: at,
        links,
        self_collide: true,
        ..Robot::default()
    }
}

/// A ball that touches nothing falls through the ground; one of a set with the ball below it
/// falls through that and lies on the ground, and so does one of a pair that is switched off; one
/// of no set stays on top for the while.
#[test]
fn who_touches_whom_is_the_same_on_every_engine() {
    let floor = Geometry::Box { size: Vec3::new(20.0, 20.0, 1.0) };
    let ground = Robot {
        is_static: true,
        parent_from_model: Transform::from_translation(Vec3::new(0.0, 0.0, -0.5)),
        ..Robot {
            name: "ground".into(),
            links: vec![link("link", 1.0, Some(floor))],
            ..Robot::default()
        }
    };
    let world = World {
        models: vec![
            ground,
            Robot { touches: Touches::None, ..ball("ghost", 0.0, 0.3) },
            ball("below", 1.0, RADIUS),
            ball("through", 1.0, 0.31),
            ball("under", 2.0, RADIUS),
            ball("top", 2.0, 0.31),
            Robot {
                contact_excludes: vec![("low".into(), "high".into())],
                ..two_balls("off", 3.0)
            },
            two_balls("on", 4.0),
        ],
        contact_sets: vec![vec!["below::link".into(), "through::link".into()]],
        ..World::default()
    };
    for engine in engines() {
        let (model, state) = last(world.clone(), engine, 0.5, &mut Cast::default());
        let height = |name: &str| {
            let object = &model.objects[model.object(name).expect(name)];
            let world_from_rigid = state.rigids[object.rigid_idx].world_from_rigid;
            (world_from_rigid * object.rigid_from_object).translation.z
        };
        let name = engine.name;
        assert!(height("ghost") < -0.7, "{name}: {}", height("ghost"));
        assert!((height("through") - RADIUS).abs() < 0.02, "{name}: {}", height("through"));
        assert!((height("below") - RADIUS).abs() < 0.02, "{name}: {}", height("below"));
        assert!(height("top") > 0.25, "{name}: {}", height("top"));
        let off = height("off::high");
        assert!((off - RADIUS).abs() < 0.02, "{name}: {off}");
        assert!(height("on::high") > 0.25, "{name}: {}", height("on::high"));
    }
}

/// A bench with an arm on a hinge above its back: the ball at its end sinks through the bench,
/// which is its neighbour and does not collide with it, unless the pair is switched on; then it
/// comes to rest on top.
#[test]
fn a_pair_is_switched_on_alike_on_every_engine() {
    const ARM: f64 = 0.4;
    let bench = |name: &str, y: f64, is_on: bool| {
        let boxed = Geometry::Box { size: Vec3::new(1.0, 0.4, 0.2) };
        let mut bench = link("bench", 1.0, Some(boxed));
        bench.inertial.mass = 10.0;
        bench.model_from_link = Transform::from_translation(Vec3::Z * 0.1);
        let mut arm = link("arm", 0.01, Some(Geometry::Sphere { radius: 0.05 }));
        arm.inertial.mass = 0.2;
        // What slides inwards under a hinge above it would wedge itself.
        let surface = &mut arm.collisions[0].surface;
        (surface.mu, surface.mu2) = (Some(0.0), Some(0.0));
        arm.model_from_link = Transform::from_translation(Vec3::new(ARM, 0.0, 0.5));
        let axis = Axis { damping: 0.3, ..Axis::along(Vec3::Y) };
        let hinge = Joint {
            name: "hinge".into(),
            parent: Some("bench".into()),
            child: "arm".into(),
            child_from_joint: Transform::from_translation(Vec3::X * -ARM),
            kind: JointKind::Continuous(axis),
            opaque: vec![],
        };
        let on = is_on.then(|| ("arm".to_string(), "bench".to_string()));
        Robot {
            name: name.into(),
            parent_from_model: Transform::from_translation(Vec3::Y * y),
            links: vec![bench, arm],
            joints: vec![hinge],
            contact_pairs: on.into_iter().collect(),
            ..Robot::default()
        }
    };
    let floor = Geometry::Box { size: Vec3::new(20.0, 20.0, 1.0) };
    let ground = Robot {
        name: "ground".into(),
        is_static: true,
        parent_from_model: Transform::from_translation(Vec3::new(0.0, 0.0, -0.5)),
        links: vec![link("link", 1.0, Some(floor))],
        ..Robot::default()
    };
    let models = vec![ground, bench("on", 0.0, true), bench("off", 2.0, false)];
    let world = World { models, ..World::default() };
    for (engine, raw) in engines().flat_map(|engine| [(engine, false), (engine, true)]) {
        if raw && engine.name == "pybullet" {
            continue; // by itself it holds every joint with a motor
        }
        let (model, state) = last_as(world.clone(), engine, 3.0, &mut Cast::default(), raw);
        let [on, off] = ["on::arm", "off::arm"].map(|name| {
            let idx = model.object(name).expect(name);
            state.object_pose(&model, idx).translation.z
        });
        assert!((on - 0.25).abs() < 0.01, "{}, raw {raw}: {on}", engine.name);
        assert!(off < 0.12, "{}, raw {raw}: {off}", engine.name);
    }
}

/// A ball stays on the ball below it where one collides with a category of the other, and falls
/// through it onto the ground where neither does: what MuJoCo calls `contype` and `conaffinity`.
#[test]
fn masks_mean_the_same_on_every_engine() {
    const TOP: u32 = 1 << 31;
    let cases = [
        ((1, 0), (1, 0), false), // two of a kind that only others may touch
        ((1, 0), (1, 1), true),
        ((0, 1), (1, 0), true),
        ((0, 1), (0, 1), false),
        ((2, 4), (4, 1), true),
        ((2, 4), (1, 2), true),
        ((2, 4), (2, 4), false),
        ((2, 4), (1, 8), false),
        ((2, 2), (6, 4), true),
        ((TOP, 1), (2, TOP), true),
    ];
    let masked = |mut robot: Robot, (category, collide): (u32, u32)| {
        let surface = &mut robot.links[0].collisions[0].surface;
        // The ground is of a category of its own, which every ball collides with.
        surface.category_bitmask = Some(category);
        surface.collide_bitmask = Some(collide | GROUND);
        robot
    };
    const GROUND: u32 = 1 << 16;
    let floor = Geometry::Box { size: Vec3::new(40.0, 20.0, 1.0) };
    let mut ground = Robot {
        name: "ground".into(),
        is_static: true,
        parent_from_model: Transform::from_translation(Vec3::new(0.0, 0.0, -0.5)),
        links: vec![link("link", 1.0, Some(floor))],
        ..Robot::default()
    };
    let surface = &mut ground.links[0].collisions[0].surface;
    (surface.category_bitmask, surface.collide_bitmask) = (Some(GROUND), Some(0));
    let mut models = vec![ground];
    for (i, (below, above, _)) in cases.iter().enumerate() {
        models.push(masked(ball(&format!("below{i}"), i as f64, RADIUS), *below));
        models.push(masked(ball(&format!("above{i}"), i as f64, 0.31), *above));
    }
    let world = World { models, ..World::default() };
    // MuJoCo is given the pairs, but raw the masks.
    for (engine, raw) in engines().flat_map(|engine| [(engine, false), (engine, true)]) {
        let (model, state) = last_as(world.clone(), engine, 0.5, &mut Cast::default(), raw);
        for (i, (below, above, meet)) in cases.into_iter().enumerate() {
            let object = &model.objects[model.object(&format!("above{i}")).expect("a ball")];
            let z = state.rigids[object.rigid_idx].world_from_rigid.translation.z;
            let is_right = if meet { z > 0.25 } else { (z - RADIUS).abs() < 0.02 };
            let name = engine.name;
            assert!(is_right, "{name}, raw {raw}: {below:?} under {above:?} is at {z}");
        }
    }
}

/// A motor at full effort comes up to its no-load speed exponentially:
/// ω(t) = ω0·(1 − exp(−t·stall/(ω0·I))). The step makes an error of at most `ω0·h/(2e·τ)`.
#[test]
fn a_torque_speed_curve_is_the_same_on_every_engine() {
    struct FullAhead;
    impl Controller for FullAhead {
        fn name(&self) -> &str {
            "full ahead"
        }
        fn period(&self) -> SimDuration {
            SimDuration::from_nanos(1_000_000)
        }
        fn update(&mut self, _: &Model, _: &State, commands: &mut Commands) {
            commands.set(0, Command { mode: Mode::Effort, target: 1e3 });
        }
    }
    let (inertia, stall_effort, no_load_speed) = (0.2, 8.0, 6.0);
    let axle = Joint {
        name: "axle".into(),
        parent: None,
        child: "wheel".into(),
        child_from_joint: Transform::IDENTITY,
        kind: JointKind::Continuous(Axis::along(Vec3::Z)),
        opaque: Vec::new(),
    };
    let motor = Actuator {
        name: "motor".into(),
        joint: "axle".into(),
        torque_speed: Some(TorqueSpeed { stall_effort, no_load_speed }),
        ..Actuator::default()
    };
    let robot = Robot {
        name: "robot".into(),
        links: vec![link("wheel", inertia, None)],
        joints: vec![axle],
        actuators: vec![motor],
        ..Robot::default()
    };
    let world = World { models: vec![robot], ..World::default() };
    let time_constant = no_load_speed * inertia / stall_effort; // 150 ms
    for engine in engines() {
        for secs in [0.15, 1.0] {
            let mut cast = Cast::default();
            cast.controllers.push(Box::new(FullAhead));
            let (_, state) = last(world.clone(), engine, secs, &mut cast);
            let wanted = no_load_speed * (1.0 - exp(-secs / time_constant));
            let found = state.dofs[0].velocity;
            let slack = 0.19 * no_load_speed * 1e-3 / time_constant + 1e-3 * no_load_speed;
            assert!((found - wanted).abs() < slack, "{}: {found}, not {wanted}", engine.name);
        }
    }
}
