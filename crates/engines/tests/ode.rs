//! What is particular to `ode`: the same numbers as by hand, friction that means what SDF
//! means, ODE as it comes, and what it says. Closed forms that hold for every engine are in
//! `identities`.
//!
//! Without libode these tests say that they were skipped; with `HEADLAND_REQUIRE_FOREIGN=1`
//! that is a failure.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use headland_base::maths::{PI, cos, exp, sin};
use headland_base::{Mat3, Quat, Severity, SimDuration, SimTime, Transform, Vec3};
use headland_engines::ode;
use headland_sim::{
    Cast, Engine, EngineOptions, Inputs, Model, Observer, Setup, State, Unobserved, Wrench, run,
};
use headland_world::*;

const GRAVITY: f64 = 9.81;
const STEP: f64 = 1e-3;

type Model_ = headland_world::Model;

/// Whether libode is there; says so where it is not.
fn is_there() -> bool {
    let found = (ode::ENTRY.find)(&ode::ENTRY);
    if let Err(why) = &found {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").as_deref() == Ok("1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but {why}");
        eprintln!("skipped: {why}; {}", ode::ENTRY.install);
    }
    found.is_ok()
}

/// A world that is stepped by hand.
struct Hand {
    model: Model,
    state: State,
    engine: Box<dyn Engine>,
}

impl Hand {
    fn of(world: &World) -> Hand {
        Hand::with(world, false)
    }

    fn with(world: &World, raw: bool) -> Hand {
        let model = Model::compile(&Arc::new(world.clone())).expect("a world that compiles");
        let mut engine = (ode::ENTRY.make)(&ode::ENTRY);
        let options = EngineOptions { raw, ..EngineOptions::new(step()) };
        let notes = engine.check(&model, &options);
        assert!(notes.iter().all(|it| it.severity != Severity::Error), "{notes:?}");
        let state = State::initial(&model);
        engine.start(&model, &state, &options).expect("starts");
        Hand { model, state, engine }
    }

    fn step(&mut self, inputs: &Inputs) {
        self.engine.step(&self.model, inputs, step(), &mut self.state).expect("a step");
        self.state.time += step();
        self.state.measure_joints(&self.model);
    }

    fn run(&mut self, n_steps: usize) -> &State {
        (0..n_steps).for_each(|_| self.step(&Inputs::default()));
        &self.state
    }
}

fn step() -> SimDuration {
    SimDuration::from_secs(STEP).expect("a millisecond")
}

fn world(models: Vec<Model_>) -> World {
    World { gravity: Vec3::new(0.0, 0.0, -GRAVITY), models, ..World::default() }
}

fn thing(
    name: &str,
    place: Transform,
    mass: f64,
    inertia: Vec3,
    shape: Option<Geometry>,
) -> Model_ {
    let collision = |geometry| Collision {
        name: "shape".into(),
        link_from_shape: Transform::IDENTITY,
        geometry,
        surface: Surface::default(),
    };
    let inertial = Inertial {
        mass,
        inertia: Mat3::from_diagonal(inertia),
        origin: InertiaOrigin::Given,
        ..Inertial::default()
    };
    let link = Link {
        name: "link".into(),
        inertial,
        collisions: shape.into_iter().map(collision).collect(),
        gravity: true,
        ..Link::default()
    };
    Model_ { name: name.into(), parent_from_model: place, links: vec![link], ..Model_::default() }
}

fn up(z: f64) -> Transform {
    Transform::from_translation(Vec3::new(0.0, 0.0, z))
}

fn ground(normal: Vec3) -> Model_ {
    let plane = Geometry::Plane { normal, size: headland_base::maths::Vec2::ONE };
    Model_ { is_static: true, ..thing("ground", Transform::IDENTITY, 1.0, Vec3::ONE, Some(plane)) }
}

fn ball(z: f64) -> Model_ {
    let shape = Geometry::Sphere { radius: 0.5 };
    thing("ball", up(z), 1.5, Vec3::splat(0.15), Some(shape))
}

fn block(place: Transform) -> Model_ {
    let shape = Geometry::Box { size: Vec3::new(0.6, 0.4, 0.2) };
    thing("block", place, 2.0, Vec3::new(0.04, 0.06, 0.08), Some(shape))
}

fn with_surface(mut model: Model_, surface: &Surface) -> Model_ {
    model.links[0].collisions.iter_mut().for_each(|it| it.surface = surface.clone());
    model
}

fn friction(mu: f64) -> Surface {
    Surface { mu: Some(mu), mu2: Some(mu), ..Surface::default() }
}

fn jointed(mut model: Model_, kind: JointKind, child_from_joint: Transform) -> Model_ {
    model.joints.push(Joint {
        name: "joint".into(),
        parent: None,
        child: "link".into(),
        child_from_joint,
        kind,
        opaque: Vec::new(),
    });
    model
}

fn stack(n: usize) -> World {
    let mut models = vec![ground(Vec3::Z)];
    for i in 0..n {
        let cube = Some(Geometry::Box { size: Vec3::splat(0.5) });
        let place = up(0.25 + 0.5 * i as f64);
        models.push(thing(&format!("box_{i}"), place, 1.0, Vec3::splat(0.0417), cube));
    }
    world(models)
}

/// Sine and cosine of half of 20°, from which both sides make the slope by the same sums.
fn half_slope() -> (f64, f64) {
    (sin(10.0 * PI / 180.0), cos(10.0 * PI / 180.0))
}

fn slope() -> World {
    let (s, c) = half_slope();
    let normal = Vec3::new(2.0 * c * s, 0.0, 1.0 - 2.0 * s * s);
    let turn = Quat::from_xyzw(0.0, s, 0.0, c);
    let block = block(Transform::new(turn, Vec3::new(0.1 * normal.x, 0.0, 0.1 * normal.z)));
    let surface = friction(0.2);
    world(vec![with_surface(ground(normal), &surface), with_surface(block, &surface)])
}

fn pendulum() -> World {
    let bob = Transform::from_translation(Vec3::X);
    let bob = thing("pendulum", bob, 2.0, Vec3::splat(0.02), None);
    let hinge = JointKind::Continuous(Axis::along(Vec3::Y));
    world(vec![jointed(bob, hinge, Transform::from_translation(-Vec3::X))])
}

fn bouncing_ball() -> World {
    let surface = Surface { restitution: Some(0.7), ..Surface::default() };
    world(vec![with_surface(ground(Vec3::Z), &surface), with_surface(ball(3.5), &surface)])
}

/// What a Python program makes of the same world with libode's own functions.
fn by_hand(case: &str, n_steps: usize) -> Option<Vec<Vec<f64>>> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").as_deref() == Ok("1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        eprintln!("skipped: HEADLAND_PYTHON names no interpreter");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign/ode_by_hand.py");
    let (s, c) = half_slope();
    let found = (ode::ENTRY.find)(&ode::ENTRY).expect("was there a moment ago");
    let output = Command::new(python)
        .arg("-B")
        .arg(script)
        .args([case, &n_steps.to_string(), &s.to_string(), &c.to_string()])
        .env("HEADLAND_ODE", found.place)
        .output()
        .expect("HEADLAND_PYTHON is an interpreter");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("numbers");
    let numbers = |line: &str| line.split(' ').map(|it| it.parse().expect("a number")).collect();
    Some(text.lines().map(numbers).collect())
}

/// The same scenario through libode's own functions ends with the same bits.
#[test]
fn every_number_is_the_one_ode_gives_by_hand() {
    if !is_there() {
        return;
    }
    let cases = [
        ("ball", bouncing_ball(), 2500),
        ("slope", slope(), 3000),
        ("pendulum", pendulum(), 2000),
        ("stack", stack(4), 1000),
    ];
    for (case, world, n_steps) in cases {
        let Some(theirs) = by_hand(case, n_steps) else { return };
        let mut hand = Hand::of(&world);
        hand.run(n_steps);
        let moving = hand.model.rigids.iter().zip(&hand.state.rigids);
        let moving = moving.filter(|(rigid, _)| rigid.motion != headland_sim::Motion::Static);
        let ours: Vec<Vec<f64>> = moving
            .map(|(_, now)| {
                let (p, q) = (now.world_from_rigid.translation, now.world_from_rigid.rotation);
                let (v, w) = (now.twist.linear, now.twist.angular);
                vec![p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z]
            })
            .collect();
        assert_eq!(ours.len(), theirs.len(), "{case}");
        assert_eq!(ours, theirs, "{case}");
    }
}

/// `v = −g·t` and `z = z₀ − g·dt²·n·(n + 1)/2`, the sums a first-order step makes.
#[test]
fn free_fall_is_the_sum_of_its_steps() {
    if !is_there() {
        return;
    }
    let mut hand = Hand::of(&world(vec![ball(100.0)]));
    for n in 1..=2000 {
        hand.step(&Inputs::default());
        let (n, now) = (f64::from(n), &hand.state.rigids[0]);
        let z = 100.0 - GRAVITY * STEP * STEP * n * (n + 1.0) / 2.0;
        assert!((now.world_from_rigid.translation.z - z).abs() < 1e-10, "{n}");
        assert!((now.twist.linear.z + GRAVITY * n * STEP).abs() < 1e-10, "{n}");
    }
}

/// A wrench accelerates by `F/m` and `I⁻¹·τ`, an effort on an axis by `τ/I`.
#[test]
fn wrenches_and_efforts_accelerate() {
    if !is_there() {
        return;
    }
    let mut free = ball(0.0);
    free.links[0].gravity = false;
    let mut hand = Hand::of(&world(vec![free]));
    let wrench =
        Wrench { rigid_idx: 0, force: Vec3::new(3.0, 0.0, 1.5), torque: Vec3::new(0.0, 0.0, 0.3) };
    let inputs = Inputs { wrenches: vec![wrench], ..Inputs::default() };
    (0..500).for_each(|_| hand.step(&inputs));
    let twist = hand.state.rigids[0].twist;
    assert!(twist.linear.distance(Vec3::new(1.0, 0.0, 0.5)) < 1e-12, "{twist:?}");
    assert!(twist.angular.distance(Vec3::new(0.0, 0.0, 1.0)) < 1e-12, "{twist:?}");

    let mut wheel = thing("wheel", Transform::IDENTITY, 1.0, Vec3::splat(0.01), None);
    wheel.links[0].gravity = false;
    let axle = JointKind::Continuous(Axis { armature: 0.03, ..Axis::along(Vec3::Z) });
    let mut hand = Hand::of(&world(vec![jointed(wheel, axle, Transform::IDENTITY)]));
    let inputs = Inputs { efforts: vec![0.02], ..Inputs::default() };
    (0..1000).for_each(|_| hand.step(&inputs));
    let speed = hand.state.dofs[0].velocity;
    assert!((speed - 0.5).abs() < 1e-9, "the rotor counts: {speed}");
}

/// ODE has one seed for all worlds. Two that take turns end as each does alone.
#[test]
fn two_worlds_that_take_turns_do_not_feel_each_other() {
    if !is_there() {
        return;
    }
    let alone = Hand::of(&stack(4)).run(400).clone();
    assert_eq!(alone, *Hand::of(&stack(4)).run(400), "twice the same");
    let (mut one, mut other) = (Hand::of(&stack(4)), Hand::of(&stack(6)));
    for _ in 0..400 {
        one.step(&Inputs::default());
        other.step(&Inputs::default());
    }
    assert_eq!(alone, one.state);
}

/// Friction by direction: down a slope of 20° a block slides with the mu that lies along it,
/// `a = g·(sin α − μ·cos α)`, and sticks when it is turned about. Tolerance 0.2 %; 1 mm.
#[test]
fn friction_follows_its_direction() {
    if !is_there() {
        return;
    }
    let alpha = 20.0 * PI / 180.0;
    for (direction, mu) in [(Vec3::X, 0.1), (Vec3::Y, 0.6)] {
        let mut world = slope();
        let surface = Surface {
            mu: Some(0.1),
            mu2: Some(0.6),
            friction_direction: Some(direction),
            ..Surface::default()
        };
        world.models[0] = with_surface(world.models[0].clone(), &Surface::default());
        world.models[1] = with_surface(world.models[1].clone(), &surface);
        let mut hand = Hand::of(&world);
        let start = hand.state.rigids[1].world_from_rigid.translation;
        let end = hand.run(2000).rigids[1].world_from_rigid.translation;
        let way = end.distance(start);
        let wanted = 0.5 * GRAVITY * (sin(alpha) - mu * cos(alpha)).max(0.0) * 4.0;
        assert!((way - wanted).abs() < 2e-3 * wanted + 1e-3, "{direction}: {way} of {wanted}");
    }
}

/// A contact of stiffness kp gives by `m·g/kp`, kd and the other surface's kp included: two
/// springs in a row. Tolerance 0.1 %.
#[test]
fn a_soft_contact_gives_by_the_load_over_its_stiffness() {
    if !is_there() {
        return;
    }
    let surface = Surface { stiffness: Some(1e4), damping: Some(100.0), ..Surface::default() };
    let mut world =
        world(vec![with_surface(ground(Vec3::Z), &surface), with_surface(ball(0.5), &surface)]);
    world.physics.ode.surface_layer = Some(0.0);
    let mut hand = Hand::of(&world);
    let depth = 0.5 - hand.run(5000).rigids[1].world_from_rigid.translation.z;
    let wanted = 1.5 * GRAVITY / 5e3;
    assert!((depth / wanted - 1.0).abs() < 1e-3, "{depth} of {wanted}");
    let contact = hand.state.contacts[0];
    assert!((contact.depth - depth).abs() < 1e-9 && (contact.force.z - 1.5 * GRAVITY).abs() < 1e-3);
}

/// A ball that spins on a patch of radius a slows by `3π/16·a·μ·m·g/I`. Tolerance 0.5 %.
#[test]
fn torsional_friction_slows_a_spin() {
    if !is_there() {
        return;
    }
    let surface = Surface { torsional: Some((0.4, 0.05)), ..Surface::default() };
    let mut spun = with_surface(ball(0.5), &surface);
    spun.links[0].initial_twist.angular = Vec3::Z;
    let mut hand = Hand::of(&world(vec![with_surface(ground(Vec3::Z), &surface), spun]));
    let omega = hand.run(500).rigids[1].twist.angular.z;
    let wanted = 1.0 - 3.0 * PI / 16.0 * 0.05 * 0.4 * 1.5 * GRAVITY / 0.15 * 0.5;
    assert!((omega - wanted).abs() < 0.005 * (1.0 - wanted), "{omega} of {wanted}");
}

/// Slip is speed per force: a block on four corners, pushed below its friction, drifts with
/// `slip·F/4`. Tolerance 1 %.
#[test]
fn slip_is_speed_per_force() {
    if !is_there() {
        return;
    }
    let surface = Surface { slip: Some((0.02, 0.02)), ..friction(1.0) };
    let mut hand = Hand::of(&world(vec![
        with_surface(ground(Vec3::Z), &Surface::default()),
        with_surface(block(up(0.1)), &surface),
    ]));
    let push = Wrench { rigid_idx: 1, force: Vec3::new(4.0, 0.0, 0.0), torque: Vec3::ZERO };
    let inputs = Inputs { wrenches: vec![push], ..Inputs::default() };
    (0..2000).for_each(|_| hand.step(&inputs));
    let speed = hand.state.rigids[1].twist.linear.x;
    assert!((speed - 0.02).abs() < 2e-4, "{speed}");
}

/// `velocity_decay` is a rate: after t the speed is `e^(−d·t)` of what it was, at any step.
#[test]
fn velocity_decays_at_its_rate() {
    if !is_there() {
        return;
    }
    let mut thrown = ball(0.0);
    thrown.links[0].gravity = false;
    thrown.links[0].velocity_decay = (0.7, 0.3);
    thrown.links[0].initial_twist = Twist { linear: Vec3::X, angular: Vec3::Z };
    let world = world(vec![thrown]);
    let twist = Hand::of(&world).run(1000).rigids[0].twist;
    assert!((twist.linear.x - exp(-0.7)).abs() < 1e-12, "{twist:?}");
    assert!((twist.angular.z - exp(-0.3)).abs() < 1e-12, "{twist:?}");
    let twist = Hand::with(&world, true).run(1000).rigids[0].twist;
    assert_eq!(twist.linear.x, 1.0, "raw ODE has no damping");
}

/// A joint whose child never moves holds its parent, with the signs of the axis as ever.
#[test]
fn a_joint_to_what_never_moves_limits_its_parent() {
    if !is_there() {
        return;
    }
    let mut moving = thing("moving", up(1.0), 1.0, Vec3::splat(0.01), None);
    moving.links[0].gravity = false;
    let post = Model_ { is_static: true, ..thing("post", up(1.0), 1.0, Vec3::ONE, None) };
    for (kind, action) in [(0, Vec3::ZERO), (1, Vec3::Z)] {
        let axis = Axis { lower: -0.2, upper: 0.5, ..Axis::along(Vec3::Z) };
        let kind = if kind == 0 { JointKind::Revolute(axis) } else { JointKind::Prismatic(axis) };
        let mut world = world(vec![moving.clone(), post.clone()]);
        world.joints.push(Joint {
            name: "joint".into(),
            parent: Some("moving::link".into()),
            child: "post::link".into(),
            child_from_joint: Transform::IDENTITY,
            kind,
            opaque: Vec::new(),
        });
        let mut hand = Hand::of(&world);
        for (push, limit) in [(0.02, 0.5), (-0.02, -0.2)] {
            let effort = push * (1.0 + 49.0 * action.z);
            let inputs = Inputs { efforts: vec![effort], ..Inputs::default() };
            (0..3000).for_each(|_| hand.step(&inputs));
            let position = hand.state.dofs[0].position;
            assert!((position - limit).abs() < 2e-3, "{position} at the limit {limit}");
        }
    }
}

/// The finding: fifteen boxes on one another, and `dWorldStep`, which a world may ask for,
/// throws the top one metres away and complains. The quick solver holds them. Raw ODE, whose
/// friction has no bound where nothing is said, complains and holds.
#[test]
fn dworldstep_loses_a_stack_that_the_quick_solver_holds() {
    if !is_there() {
        return;
    }
    let lost = |hand: &mut Hand| {
        let mut worst: f64 = 0.0;
        for _ in 0..2000 {
            hand.step(&Inputs::default());
            let z = hand.state.rigids[15].world_from_rigid.translation.z;
            worst = worst.max((z - 7.25).abs());
        }
        (worst, hand.engine.take_remarks())
    };
    let (worst, remarks) = lost(&mut Hand::of(&stack(15)));
    eprintln!("quick: off by {worst} m");
    assert!(worst < 0.01 && remarks.is_empty(), "{worst} m, {remarks:?}");

    let mut asking = stack(15);
    asking.physics.ode.solver = Some(OdeSolver::World);
    let (worst, remarks) = lost(&mut Hand::of(&asking));
    eprintln!("world: off by {worst} m; {remarks:?}");
    assert!(worst > 5.0, "it stands after all, off by {worst}");
    assert!(remarks[0].contains("LCP internal error"), "{remarks:?}");
    assert!(remarks.len() < 10, "each is told once, and when its count has a digit more");

    let (worst, remarks) = lost(&mut Hand::with(&stack(15), true));
    eprintln!("raw: off by {worst} m; {remarks:?}");
    assert!(worst < 0.1 && remarks[0].contains("LCP internal error"), "{worst}, {remarks:?}");
}

/// What ODE says on the way is in the recording, at the moment it was said.
#[test]
fn what_ode_says_is_an_event_of_the_run() {
    if !is_there() {
        return;
    }
    #[derive(Default)]
    struct Ears(Vec<(SimTime, String, String)>);
    impl Observer for Ears {
        fn event(
            &mut self,
            now: SimTime,
            source: &str,
            kind: &str,
            text: &str,
        ) -> Result<(), headland_base::Diagnostic> {
            self.0.push((now, format!("{source} {kind}"), text.to_string()));
            Ok(())
        }
    }
    let mut world = stack(10);
    world.physics.ode.solver = Some(OdeSolver::World);
    let model = Model::compile(&Arc::new(world)).expect("compiles");
    let setup = Setup::new(&model, SimDuration::from_secs(1.0).expect("short"));
    let mut engine = (ode::ENTRY.make)(&ode::ENTRY);
    let mut ears = Ears::default();
    let go = &mut |_| std::ops::ControlFlow::Continue(());
    run(&model, &setup, engine.as_mut(), &mut Cast::default(), &mut ears, go).expect("runs");
    let (_, kind, text) = &ears.0[0];
    assert_eq!(kind, "engine remark");
    assert!(text.starts_with("ODE says: LCP internal error"), "{text}");
    // And one that says nothing leaves nothing.
    let model = Model::compile(&Arc::new(stack(3))).expect("compiles");
    let mut ears = Ears::default();
    run(&model, &setup, engine.as_mut(), &mut Cast::default(), &mut ears, go).expect("runs");
    assert!(ears.0.is_empty(), "{:?}", ears.0);
}

/// ODE ends its process when a rotation overflows. What spins out of hand is contained before
/// that, and the other body falls on.
#[test]
fn a_spin_out_of_hand_is_contained() {
    if !is_there() {
        return;
    }
    struct Wind(f64);
    impl headland_sim::Controller for Wind {
        fn name(&self) -> &str {
            "wind"
        }
        fn period(&self) -> SimDuration {
            step()
        }
        fn update(&mut self, _: &Model, _: &State, commands: &mut headland_sim::Commands) {
            self.0 *= 1e3;
            let mode = headland_sim::Mode::Effort;
            commands.set(0, headland_sim::Command { mode, target: self.0 });
        }
    }
    let wheel = thing("wheel", Transform::IDENTITY, 1.0, Vec3::splat(0.01), None);
    let axle = JointKind::Continuous(Axis::along(Vec3::Z));
    let models = vec![jointed(wheel, axle, Transform::IDENTITY), ball(50.0)];
    let model = Model::compile(&Arc::new(world(models))).expect("compiles");
    let setup = Setup::new(&model, SimDuration::from_secs(1.0).expect("short"));
    let mut engine = (ode::ENTRY.make)(&ode::ENTRY);
    let mut cast = Cast { controllers: vec![Box::new(Wind(1.0))], ..Cast::default() };
    let go = &mut |_| std::ops::ControlFlow::Continue(());
    let mut nobody = Unobserved;
    let end = run(&model, &setup, engine.as_mut(), &mut cast, &mut nobody, go).expect("runs");
    assert_eq!(end.contained.len(), 1);
    assert_eq!(end.contained[0].0, "wheel::link");
    let fallen = 50.0 - end.state.rigids[1].world_from_rigid.translation.z;
    assert!((fallen - 0.5 * GRAVITY).abs() < 0.01, "{fallen}");
}

/// Raw ODE reads mu as a force in N: the block of 2 kg is braked by 0.2 N on each corner.
#[test]
fn raw_friction_is_a_force() {
    if !is_there() {
        return;
    }
    let mut hand = Hand::with(&slope(), true);
    let start = hand.state.rigids[1].world_from_rigid.translation;
    let way = hand.run(3000).rigids[1].world_from_rigid.translation.distance(start);
    let alpha = 20.0 * PI / 180.0;
    let wanted = 0.5 * (GRAVITY * sin(alpha) - 4.0 * 0.2 / 2.0) * 9.0;
    assert!((way / wanted - 1.0).abs() < 0.05, "{way} of {wanted}; by SDF it is 6.802");
}

fn notes(world: &World, raw: bool) -> Vec<headland_base::Diagnostic> {
    let model = Model::compile(&Arc::new(world.clone())).expect("compiles");
    let options = EngineOptions { raw, ..EngineOptions::new(step()) };
    (ode::ENTRY.make)(&ode::ENTRY).check(&model, &options)
}

#[test]
fn what_ode_cannot_do_is_refused_by_name() {
    if !is_there() {
        return;
    }
    let plane = Model_ { is_static: false, ..ground(Vec3::Z) };
    let found = notes(&world(vec![plane]), false);
    assert_eq!((found[0].code, found[0].severity), ("engine-cannot", Severity::Error));
    assert!(found[0].message.contains("`ground::link`"), "{}", found[0].message);

    let skew = Axis::along(Vec3::new(0.6, 0.8, 0.0));
    let kind = JointKind::Universal(Axis::along(Vec3::X), skew);
    let found = notes(&world(vec![jointed(ball(0.0), kind, Transform::IDENTITY)]), false);
    assert_eq!((found[0].code, found[0].severity), ("engine-cannot", Severity::Error));
    assert!(found[0].message.contains("`ball::joint`"), "{}", found[0].message);

    let flat = thing("flat", up(0.0), 1.0, Vec3::new(0.1, 0.0, 0.1), None);
    let found = notes(&world(vec![flat]), false);
    assert_eq!((found[0].code, found[0].severity), ("engine-cannot", Severity::Error));
}

#[test]
fn what_ode_does_differently_is_said() {
    if !is_there() {
        return;
    }
    let cone = Geometry::Cone { radius: 0.2, length: 0.5 };
    let world = world(vec![thing("hat", up(1.0), 1.0, Vec3::splat(0.01), Some(cone))]);
    let found = notes(&world, false);
    assert_eq!((found.len(), found[0].code), (1, "realised"));
    assert!(found[0].message.contains("`hat::link`: its cone touches as"), "{found:?}");
    let found = notes(&world, true);
    assert!(found[0].message.starts_with("ode as it comes: dWorldStep"), "{found:?}");
}

/// Every kind of shape that moves comes to rest on a plane, on a box, and on another of its
/// kind, and does not fall through.
#[test]
fn every_shape_rests_on_a_plane_a_box_and_its_kind() {
    if !is_there() {
        return;
    }
    let shapes = [
        Geometry::Box { size: Vec3::splat(0.4) },
        Geometry::Sphere { radius: 0.2 },
        Geometry::Cylinder { radius: 0.2, length: 0.4 },
        Geometry::Capsule { radius: 0.2, length: 0.4 },
        Geometry::Cone { radius: 0.2, length: 0.4 },
        Geometry::Ellipsoid { radii: Vec3::new(0.3, 0.3, 0.2) },
    ];
    for shape in shapes {
        let (low, _) = shape.bounds().expect("it has an end");
        let box_ground = Model_ {
            is_static: true,
            ..thing(
                "box",
                up(-0.5),
                1.0,
                Vec3::ONE,
                Some(Geometry::Box { size: Vec3::new(4.0, 4.0, 1.0) }),
            )
        };
        for (under, rest) in [(ground(Vec3::Z), -low.z), (box_ground, -low.z)] {
            let top = thing("top", up(rest + 0.002), 1.0, Vec3::splat(0.02), Some(shape.clone()));
            let mut hand = Hand::of(&world(vec![under, top]));
            let z = hand.run(500).rigids[1].world_from_rigid.translation.z;
            assert!((z - rest).abs() < 2e-3, "{}: {z} of {rest}", shape.kind());
        }
        let below = Model_ {
            is_static: true,
            ..thing("below", up(0.0), 1.0, Vec3::ONE, Some(shape.clone()))
        };
        let over =
            thing("over", up(-2.0 * low.z + 0.002), 1.0, Vec3::splat(0.02), Some(shape.clone()));
        let mut hand = Hand::of(&world(vec![below, over]));
        let mut touched = false;
        for _ in 0..60 {
            hand.step(&Inputs::default());
            touched |= !hand.state.contacts.is_empty();
        }
        assert!(touched, "{} on its kind", shape.kind());
    }
}
