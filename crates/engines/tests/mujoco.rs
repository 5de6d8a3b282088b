//! MuJoCo through our adapter: the same steps as by its own package, forces and loops that do
//! what they say, and what it refuses or breaks on said in words.
//!
//! Without a MuJoCo these tests say that they were skipped; with `HEADLAND_REQUIRE_FOREIGN=1`
//! that is a failure. The comparison needs `HEADLAND_PYTHON`, an interpreter with `mujoco`.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use headland_base::maths::{angle_between, cos, pow, sin};
use headland_base::{Mat3, Severity, SimDuration, Transform, Vec3};
use headland_engines::mujoco::{self, ENTRY};
use headland_sim::{Engine, EngineOptions, Gains, Inputs, Model, State, Wrench};
use headland_world::*;

type Thing = headland_world::Model;

const STEP_SECS: f64 = 1e-3;

fn is_here() -> bool {
    match (ENTRY.find)(&ENTRY) {
        Ok(found) => {
            eprintln!("MuJoCo {} at {}", found.version, found.place);
            true
        }
        Err(why) => {
            let required = std::env::var_os("HEADLAND_REQUIRE_FOREIGN").is_some_and(|v| v == "1");
            assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but there is no mujoco: {why}");
            eprintln!("skipped: {why}");
            false
        }
    }
}

fn options() -> EngineOptions {
    EngineOptions::new(SimDuration::from_secs(STEP_SECS).unwrap())
}

/// A world on the engine, to be stepped by hand.
struct Bench {
    model: Model,
    state: State,
    engine: Box<dyn Engine>,
    inputs: Inputs,
}

impl Bench {
    fn of(world: World) -> Bench {
        let model = Model::compile(&Arc::new(world)).expect("a world that compiles");
        let mut engine = (ENTRY.make)(&ENTRY);
        for finding in engine.check(&model, &options()) {
            assert!(finding.severity != Severity::Error, "{}", finding.message);
        }
        let state = State::initial(&model);
        engine.start(&model, &state, &options()).expect("starts");
        let inputs = Inputs { efforts: vec![0.0; model.dofs.len()], ..Inputs::default() };
        Bench { model, state, engine, inputs }
    }

    fn step(&mut self, n_steps: usize) {
        for _ in 0..n_steps {
            self.engine
                .step(&self.model, &self.inputs, options().step, &mut self.state)
                .expect("steps");
            self.state.measure_joints(&self.model);
        }
    }
}

fn world(models: Vec<Thing>) -> World {
    World { gravity: Vec3::new(0.0, 0.0, -9.81), models, ..World::default() }
}

fn link(name: &str, at: Vec3, mass: f64, geometry: Option<Geometry>) -> Link {
    let collisions = geometry.into_iter().map(|geometry| Collision {
        name: "shape".into(),
        link_from_shape: Transform::IDENTITY,
        geometry,
        surface: Surface::default(),
    });
    Link {
        name: name.to_string(),
        model_from_link: Transform::from_translation(at),
        inertial: Inertial {
            mass,
            inertia: Mat3::from_diagonal(Vec3::new(0.02, 0.03, 0.04) * mass),
            origin: InertiaOrigin::Given,
            ..Inertial::default()
        },
        collisions: collisions.collect(),
        gravity: true,
        ..Link::default()
    }
}

fn thing(name: &str, link: Link) -> Thing {
    Thing { name: name.to_string(), links: vec![link], ..Thing::default() }
}

fn ground(surface: Surface) -> Thing {
    let size = headland_base::maths::Vec2::new(100.0, 100.0);
    let mut link = link("link", Vec3::ZERO, 1.0, Some(Geometry::Plane { normal: Vec3::Z, size }));
    link.collisions[0].surface = surface;
    Thing { is_static: true, ..thing("ground", link) }
}

fn cube(name: &str, at: Vec3) -> Thing {
    thing(name, link("link", at, 1.0, Some(Geometry::Box { size: Vec3::splat(0.5) })))
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

/// The same MJCF, stepped by MuJoCo's own package, ends where we do: to 1e-9 in every
/// position and every element of every rotation.
fn same_as_by_hand(what: &str, world: World, n_steps: usize, efforts: &[(&str, f64)]) {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        eprintln!("skipped: no interpreter with mujoco; ./test installs one");
        return;
    };
    let mut bench = Bench::of(world);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.xml");
    std::fs::write(&file, mujoco::mjcf_of(&bench.model, &options()).unwrap()).unwrap();
    for (name, effort) in efforts {
        let dof = bench.model.dof(name).expect("an axis");
        bench.inputs.efforts[dof] = *effort;
    }
    bench.step(n_steps);
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign");
    let words = efforts.iter().flat_map(|(name, effort)| [name.to_string(), effort.to_string()]);
    let output = Command::new(python)
        .arg("-B")
        .arg(scripts.join("mujoco_steps.py"))
        .arg(&file)
        .arg(n_steps.to_string())
        .args(words)
        .current_dir(folder.path())
        .output()
        .expect("HEADLAND_PYTHON is an interpreter");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let (mut n_compared, mut worst) = (0, 0.0f64);
    for line in printed.lines() {
        let (name, numbers) = line.split_once('\t').unwrap();
        let numbers: Vec<f64> = numbers.split('\t').map(|word| word.parse().unwrap()).collect();
        let body = bench.model.bodies.iter().find(|body| body.name == name).expect("a link");
        let rigid = &bench.model.rigids[body.rigid_idx];
        if rigid.body_idxs[0] != bench.model.bodies.iter().position(|b| b.name == name).unwrap() {
            continue;
        }
        let now = bench.state.rigids[body.rigid_idx].world_from_rigid;
        // MuJoCo has the frame of what floats at its centre of mass.
        let floats = !bench.model.joints.iter().any(|joint| joint.child_rigid == body.rigid_idx);
        let is_still = rigid.motion == headland_sim::Motion::Static;
        let point = if floats && !is_still { now.point(rigid.centre) } else { now.translation };
        let turn = Mat3::from_quat(now.rotation).transpose().to_cols_array();
        for (ours, theirs) in point.to_array().iter().chain(&turn).zip(&numbers) {
            worst = worst.max((ours - theirs).abs());
        }
        n_compared += 1;
    }
    eprintln!("{what}: {n_compared} links, off by {worst:e} at most after {n_steps} steps");
    assert!(n_compared > 0 && worst < 1e-9, "{what}: {worst:e}");
}

#[test]
fn a_bouncing_ball_is_where_mujoco_has_it() {
    if !is_here() {
        return;
    }
    let surface = Surface { restitution: Some(0.7), mu: Some(0.3), ..Surface::default() };
    let mut ball = link("link", Vec3::Z * 2.0, 1.5, Some(Geometry::Sphere { radius: 0.5 }));
    ball.inertial.link_from_inertial = Transform::from_translation(Vec3::new(0.05, 0.0, 0.1));
    ball.initial_twist = Twist { linear: Vec3::X, angular: Vec3::new(1.0, 2.0, 3.0) };
    ball.collisions[0].surface = surface.clone();
    same_as_by_hand("ball", world(vec![ground(surface), thing("ball", ball)]), 3000, &[]);
}

#[test]
fn boxes_on_a_slope_and_in_a_stack_are_where_mujoco_has_them() {
    if !is_here() {
        return;
    }
    let boxes = (0..4).map(|i| cube(&format!("box{i}"), Vec3::Z * (0.25 + 0.5 * f64::from(i))));
    let mut stack = world(std::iter::once(ground(Surface::default())).chain(boxes).collect());
    stack.gravity = Vec3::new(9.81 * sin(0.2), 0.0, -9.81 * cos(0.2));
    // The last one slides: of two surfaces the lesser holds.
    stack.models[4].links[0].collisions[0].surface.mu = Some(0.1);
    same_as_by_hand("boxes", stack, 500, &[]);
}

#[test]
fn joints_under_efforts_are_where_mujoco_has_them() {
    if !is_here() {
        return;
    }
    same_as_by_hand("arm", world(vec![arm()]), 1500, &[("arm::shoulder", 2.0), ("arm::nut", 0.1)]);
}

/// A hinge with a spring and a limit, a slide with friction on it, a screw on that, a
/// universal joint and a ball joint.
fn arm() -> Thing {
    let names = ["upper", "slider", "screw", "cross", "bob"];
    let at = |i: usize| Vec3::new(0.3 * i as f64, 0.0, 2.0);
    let links = names.iter().enumerate().map(|(i, name)| link(name, at(i), 1.0, None)).collect();
    let back = Vec3::new(-0.15, 0.0, 0.0);
    let mut shoulder = Axis::along(Vec3::Y);
    (shoulder.spring_stiffness, shoulder.damping, shoulder.upper) = (20.0, 0.5, 0.6);
    shoulder.initial_position = 0.2;
    let mut slide = Axis::along(Vec3::X);
    (slide.friction, slide.lower, slide.upper) = (1.0, -0.1, 0.1);
    let mut nut = Axis::along(Vec3::X);
    (nut.armature, nut.initial_position) = (0.01, 0.4);
    let (mut first, mut second) = (Axis::along(Vec3::Y), Axis::along(Vec3::Z));
    (first.initial_position, second.initial_position) = (0.3, -0.2);
    Thing {
        name: "arm".into(),
        links,
        joints: vec![
            joint("shoulder", None, "upper", back, JointKind::Revolute(shoulder)),
            joint("slide", Some("upper"), "slider", back, JointKind::Prismatic(slide)),
            joint(
                "nut",
                Some("slider"),
                "screw",
                back,
                JointKind::Screw { axis: nut, metres_per_radian: 0.01 },
            ),
            joint("cross", Some("screw"), "cross", back, JointKind::Universal(first, second)),
            joint("ball", Some("cross"), "bob", back, JointKind::Ball),
        ],
        ..Thing::default()
    }
}

/// What the joints of the arm hold stays held: to 0.1 mm and 0.1 mrad.
#[test]
fn every_kind_of_joint_keeps_its_constraint() {
    if !is_here() {
        return;
    }
    let mut bench = Bench::of(world(vec![arm()]));
    let start = bench.state.clone();
    assert!((start.dofs[0].position - 0.2).abs() < 1e-12);
    bench.step(2000);
    for joint in &bench.model.joints {
        let at = bench.state.relative_motion(joint).parent_from_child;
        let dofs = &bench.state.dofs[joint.first_dof..];
        let off = match &joint.kind {
            JointKind::Prismatic(axis) => {
                let along = axis.direction * dofs[0].position;
                at.translation.distance(along)
                    + angle_between(at.rotation, headland_base::Quat::IDENTITY)
            }
            JointKind::Screw { axis, metres_per_radian } => {
                at.translation.distance(axis.direction * dofs[0].position * *metres_per_radian)
            }
            _ => at.translation.length(),
        };
        assert!(off < 1e-4, "{}: {off}", joint.name);
    }
    assert!(bench.state != start);
}

/// An effort accelerates by effort over inertia, a wrench by force over mass; a rigid without
/// gravity stays; one with a decay loses `1/(1 + λ·dt)` of its speed in every step. To 1e-9.
#[test]
fn forces_do_what_they_say() {
    if !is_here() {
        return;
    }
    let wheel = link("wheel", Vec3::ZERO, 2.0, None);
    let axle =
        joint("axle", None, "wheel", Vec3::ZERO, JointKind::Continuous(Axis::along(Vec3::Z)));
    let wheel = Thing { joints: vec![axle], ..thing("wheel", wheel) };
    let mut pushed = link("link", Vec3::X * 5.0, 4.0, None);
    pushed.gravity = false;
    let mut decaying = link("link", Vec3::Y * 5.0, 1.0, None);
    (decaying.gravity, decaying.velocity_decay) = (false, (2.0, 3.0));
    decaying.initial_twist = Twist { linear: Vec3::X, angular: Vec3::Z };
    let models = vec![wheel, thing("pushed", pushed), thing("decaying", decaying)];
    let mut bench = Bench::of(world(models));
    bench.inputs.efforts[0] = 0.3;
    bench.inputs.wrenches =
        vec![Wrench { rigid_idx: 1, force: Vec3::new(2.0, 0.0, 1.0), torque: Vec3::ZERO }];
    bench.step(1000);
    let inertia = 0.04 * 2.0;
    assert!((bench.state.dofs[0].velocity - 0.3 / inertia).abs() < 1e-9);
    let v = bench.state.rigids[1].twist.linear;
    assert!(v.distance(Vec3::new(0.5, 0.0, 0.25)) < 1e-9, "{v}");
    let left = |lambda: f64| pow(1.0 + lambda * STEP_SECS, -1000.0);
    let now = bench.state.rigids[2].twist;
    assert!((now.linear.x - left(2.0)).abs() < 1e-9, "{now:?}");
    assert!((now.angular.z - left(3.0)).abs() < 1e-9, "{now:?}");
    assert!(now.linear.z.abs() < 1e-12);
    // What is no longer pushed is no longer pushed.
    bench.inputs.wrenches.clear();
    bench.inputs.efforts[0] = 0.0;
    bench.step(100);
    assert!(bench.state.rigids[1].twist.linear.distance(v) < 1e-9);
}

/// A servo with `kd·dt/I` = 50 would be lost as a force; as a damper it stops within a step.
#[test]
fn a_stiff_servo_is_part_of_the_solution() {
    if !is_here() {
        return;
    }
    if (ENTRY.find)(&ENTRY).unwrap().version.starts_with("2.") {
        return; // there it is not, and a note says so
    }
    let mut bench = Bench::of(world(vec![arm()]));
    for _ in 0..500 {
        let n = bench.model.dofs.len();
        let kd = 2000.0;
        bench.inputs.slopes = vec![Gains { kp: 0.0, kd }; n];
        bench.inputs.efforts = bench.state.dofs.iter().map(|dof| -kd * dof.velocity).collect();
        bench.step(1);
    }
    for dof in &bench.state.dofs {
        assert!(dof.velocity.abs() < 0.05, "{dof:?}");
    }
}

/// A four-bar linkage: three links, two hinges to the world and one that closes the loop.
#[test]
fn a_loop_stays_closed() {
    if !is_here() {
        return;
    }
    let bar = |name: &str, at: Vec3| link(name, at, 1.0, None);
    let hinge = |name: &str, parent, child: &str, at| {
        joint(name, parent, child, at, JointKind::Continuous(Axis::along(Vec3::Y)))
    };
    let model = Thing {
        name: "four".into(),
        links: vec![
            bar("left", Vec3::new(0.0, 0.0, 0.5)),
            bar("top", Vec3::new(0.5, 0.0, 1.0)),
            bar("right", Vec3::new(1.0, 0.0, 0.5)),
        ],
        joints: vec![
            hinge("a", None, "left", Vec3::new(0.0, 0.0, -0.5)),
            hinge("b", Some("left"), "top", Vec3::new(-0.5, 0.0, 0.0)),
            hinge("c", Some("top"), "right", Vec3::new(0.0, 0.0, 0.5)),
            hinge("d", None, "right", Vec3::new(0.0, 0.0, -0.5)),
        ],
        ..Thing::default()
    };
    let mut bench = Bench::of(world(vec![model]));
    bench.inputs.efforts[0] = 1.0;
    let mut swung = 0.0f64;
    for _ in 0..2000 {
        bench.step(1);
        for joint in &bench.model.joints {
            let at = bench.state.relative_motion(joint).parent_from_child;
            let gap = at.translation.length();
            let lean = (at.rotation * Vec3::Y).distance(Vec3::Y);
            assert!(gap < 1e-3 && lean < 1e-3, "{}: {gap} {lean}", joint.name);
        }
        swung = swung.max(bench.state.dofs[0].position.abs());
        // Opposite bars of a parallelogram turn alike.
        let [a, _, _, d] = [0, 1, 2, 3].map(|i| bench.state.dofs[i].position);
        assert!((a - d).abs() < 2e-3, "{a} {d}");
    }
    assert!(swung > 0.1, "{swung}");
}

/// Who touches whom, where, and with what force, for boxes on each other.
#[test]
fn contacts_name_both_sides() {
    if !is_here() {
        return;
    }
    let lower = cube("lower", Vec3::Z * 0.25);
    let upper = cube("upper", Vec3::Z * 0.75);
    let mut bench = Bench::of(world(vec![ground(Surface::default()), lower, upper]));
    bench.step(1500);
    let force = |a: usize, b: usize| -> Vec3 {
        let pair = bench.state.contacts.iter().filter(|c| (c.body_a, c.body_b) == (a, b));
        pair.map(|c| c.force).sum()
    };
    let weight = Vec3::Z * 9.81;
    assert!(force(0, 1).distance(weight * 2.0) < 1e-3, "{}", force(0, 1));
    assert!(force(1, 2).distance(weight) < 1e-3, "{}", force(1, 2));
    assert_eq!(force(0, 2), Vec3::ZERO);
    for contact in &bench.state.contacts {
        assert!(contact.normal.distance(Vec3::Z) < 1e-6, "{contact:?}");
        assert!(contact.depth > 0.0 && contact.depth < 1e-3, "{contact:?}");
        let z = if contact.body_a == 0 { 0.0 } else { 0.5 };
        assert!((contact.position.z - z).abs() < 2e-3, "{contact:?}");
    }
    assert!(bench.state.contacts.len() >= 8);
}

/// The lesser friction of two holds, also where neither surface has both lesser numbers.
#[test]
fn of_two_surfaces_the_lesser_of_each_holds() {
    if !is_here() {
        return;
    }
    let surface =
        |mu: f64, e: f64| Surface { mu: Some(mu), restitution: Some(e), ..Surface::default() };
    let mut slider = cube("box", Vec3::Z * 0.25);
    slider.links[0].collisions[0].surface = surface(0.8, 0.0);
    slider.links[0].initial_twist.linear = Vec3::X * 2.0;
    let mut bench = Bench::of(world(vec![ground(surface(0.2, 0.9)), slider]));
    bench.step(500);
    let speed = bench.state.rigids[1].twist.linear;
    // Older ones have one damper for friction and contact, and a box that slides hops.
    let is_old = (ENTRY.find)(&ENTRY).unwrap().version.starts_with("2.");
    let slack = if is_old { 0.05 } else { 0.02 };
    assert!((speed.x - (2.0 - 0.2 * 9.81 * 0.5)).abs() < slack, "{speed}");
    assert!(is_old || speed.z.abs() < 0.05, "{speed}");
}

#[test]
fn the_same_twice_is_the_same_bytes() {
    if !is_here() {
        return;
    }
    let run = || {
        let boxes = (0..5).map(|i| cube(&format!("box{i}"), Vec3::Z * (0.3 + 0.6 * f64::from(i))));
        let mut bench =
            Bench::of(world(std::iter::once(ground(Surface::default())).chain(boxes).collect()));
        bench.step(800);
        bench.state
    };
    let (first, second) = (run(), run());
    assert_eq!(first, second);
    assert!(!first.contacts.is_empty());
}

/// What MuJoCo only warns of, before it goes back to the start, is a fault in its own words,
/// and nothing is written beside the user's files.
#[test]
fn a_world_that_is_lost_is_a_fault() {
    if !is_here() {
        return;
    }
    let mut lost = link("link", Vec3::ZERO, 1.0, None);
    lost.initial_twist.linear = Vec3::X;
    let mut bench = Bench::of(world(vec![thing("lost", lost)]));
    bench.inputs.wrenches =
        vec![Wrench { rigid_idx: 0, force: Vec3::X * 1e30, torque: Vec3::ZERO }];
    let fault = (0..10).find_map(|_| {
        bench.engine.step(&bench.model, &bench.inputs, options().step, &mut bench.state).err()
    });
    let words = fault.expect("a fault").0;
    assert!(words.contains("mujoco") && words.contains("unstable"), "{words}");
    assert!(!Path::new("MUJOCO_LOG.TXT").exists());
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    if !is_here() {
        return;
    }
    let refused = |world: World| -> String {
        let model = Model::compile(&Arc::new(world)).unwrap();
        let found = (ENTRY.make)(&ENTRY).check(&model, &options());
        let errors = found.into_iter().filter(|d| d.severity == Severity::Error);
        let errors: Vec<String> = errors.map(|d| format!("{}: {}", d.code, d.message)).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].clone()
    };
    // An inertia no body can have.
    let mut impossible = link("link", Vec3::ZERO, 1.0, None);
    impossible.inertial.inertia = Mat3::from_diagonal(Vec3::new(1.0, 1.0, 9.0));
    let words = refused(world(vec![thing("impossible", impossible)]));
    assert!(words.starts_with("engine-cannot") && words.contains("impossible::link"), "{words}");
    // A loop of slides.
    let slide = |name: &str, parent, child: &str| {
        joint(name, parent, child, Vec3::ZERO, JointKind::Prismatic(Axis::along(Vec3::X)))
    };
    let model = Thing {
        name: "loop".into(),
        links: vec![link("a", Vec3::ZERO, 1.0, None), link("b", Vec3::ZERO, 1.0, None)],
        joints: vec![slide("x", None, "a"), slide("y", Some("a"), "b"), slide("z", None, "b")],
        ..Thing::default()
    };
    let words = refused(world(vec![model]));
    assert!(words.starts_with("engine-cannot") && words.contains("loop::z"), "{words}");
}

/// A joint whose parent hangs on its child: the child stands still.
#[test]
fn a_joint_may_hang_its_parent() {
    if !is_here() {
        return;
    }
    let bob = link("bob", Vec3::new(0.0, 0.0, -1.0), 1.0, None);
    let post = Thing { is_static: true, ..thing("post", link("link", Vec3::ZERO, 1.0, None)) };
    let mut world = world(vec![post, thing("bob", bob)]);
    let axis = Axis::along(Vec3::Y);
    world.joints = vec![joint(
        "hinge",
        Some("bob::bob"),
        "post::link",
        Vec3::ZERO,
        JointKind::Continuous(axis),
    )];
    let mut bench = Bench::of(world);
    bench.inputs.efforts[0] = 0.5;
    bench.step(300);
    // Effort on the child pushes the parent the other way; positions count the same.
    let q = bench.state.dofs[0].position;
    assert!(q > 0.01, "{q}");
    let gap = bench.state.relative_motion(&bench.model.joints[0]).parent_from_child.translation;
    assert!(gap.length() < 1e-9, "{gap}");
}

/// With `raw` the engine keeps its own defaults, and says so.
#[test]
fn raw_is_said_and_differs() {
    if !is_here() {
        return;
    }
    let surface = Surface { restitution: Some(0.7), ..Surface::default() };
    let mut ball = link("link", Vec3::Z * 1.5, 1.0, Some(Geometry::Sphere { radius: 0.5 }));
    ball.collisions[0].surface = surface.clone();
    let model =
        Model::compile(&Arc::new(world(vec![ground(surface), thing("ball", ball)]))).unwrap();
    let raw = EngineOptions { raw: true, ..options() };
    let said = (ENTRY.make)(&ENTRY).check(&model, &raw);
    assert!(said.iter().any(|d| d.message.contains("its own defaults")), "{said:?}");
    assert!(said.iter().all(|d| d.severity != Severity::Error), "{said:?}");
    let text = mujoco::mjcf_of(&model, &raw).unwrap();
    assert!(!text.contains("solref") && !text.contains("integrator"), "{text}");
    let text = mujoco::mjcf_of(&model, &options()).unwrap();
    assert!(text.contains("solref") && text.contains("elliptic"), "{text}");
}

/// Every world that ships is taken and moves for half a second, as asked and with `raw`.
#[test]
fn worlds_that_ship_move() {
    if !is_here() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|end| end == "sdf")).collect();
    files.sort();
    assert!(files.len() >= 7);
    for file in files {
        let world = read(&file, &ReadOptions::default()).expect("a world").world;
        let model = Model::compile(&Arc::new(world)).expect("a model");
        for raw in [false, true] {
            let options = EngineOptions { raw, ..EngineOptions::new(model.world.physics.step) };
            let mut engine = (ENTRY.make)(&ENTRY);
            for finding in engine.check(&model, &options) {
                let at = file.display();
                assert!(finding.severity != Severity::Error, "{at}: {}", finding.message);
            }
            let mut state = State::initial(&model);
            let start = state.clone();
            engine.start(&model, &state, &options).expect("starts");
            for _ in 0..(0.5 / options.step.secs()) as usize {
                let inputs = Inputs::default();
                let moved = engine.step(&model, &inputs, options.step, &mut state);
                assert!(moved.is_ok(), "{}: {moved:?}", file.display());
                state.measure_joints(&model);
            }
            assert!(state.rigids.iter().all(|rigid| rigid.world_from_rigid.is_finite()));
            assert!(state.rigids != start.rigids, "{}: nothing moves", file.display());
        }
    }
}
