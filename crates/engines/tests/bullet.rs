//! What the engine `bullet` promises: closed forms and conservation, with the tolerance beside
//! each, what it refuses, and that it is Bullet: the same worlds written by hand against
//! Bullet's own interface (`bullet_by_hand.cpp`) come out the same.
//!
//! Without Bullet these are skipped, unless `HEADLAND_REQUIRE_FOREIGN` is set.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use headland_base::maths::{PI, TAU, cos, exp, sin, sqrt};
use headland_base::{Diagnostic, Severity, SimDuration, Source, Transform, Vec3};
use headland_engines::bullet::ENTRY;
use headland_sim::{Engine, EngineOptions, Inputs, Model, State, Wrench};
use headland_world::Twist;

const GRAVITY: f64 = 9.81;

/// Whether there is a Bullet to test.
fn is_there() -> bool {
    match (ENTRY.find)(&ENTRY) {
        Ok(_) => true,
        Err(why) => {
            let must = std::env::var_os("HEADLAND_REQUIRE_FOREIGN").is_some();
            assert!(!must, "bullet is not there: {why}");
            eprintln!("skipped: bullet is not there: {why}");
            false
        }
    }
}

/// A world of these models, in SDF.
fn compile(models: &str) -> Model {
    compile_with(models, |_| {})
}

fn compile_with(models: &str, change: impl FnOnce(&mut headland_world::World)) -> Model {
    let text = format!(
        "<sdf version='1.11' xmlns:headland='urn:headland:sdf'><world name='w'>\
         <gravity>0 0 -{GRAVITY}</gravity>{models}</world></sdf>"
    );
    let read =
        headland_world::read_text(Source::new("w.sdf", text), Path::new("."), &Default::default());
    let mut world = read.unwrap_or_else(|findings| panic!("{findings:#?}")).world;
    change(&mut world);
    Model::compile(&Arc::new(world)).unwrap_or_else(|findings| panic!("{findings:#?}"))
}

fn options(step: f64) -> EngineOptions {
    EngineOptions::new(SimDuration::from_secs(step).expect("short"))
}

/// A world that moves, step by step.
struct Motion {
    model: Model,
    state: State,
    engine: Box<dyn Engine>,
    options: EngineOptions,
    inputs: Inputs,
}

impl Motion {
    fn start(model: Model, options: EngineOptions) -> Motion {
        let mut engine = (ENTRY.make)(&ENTRY);
        let said = engine.check(&model, &options);
        assert!(said.iter().all(|d| d.severity != Severity::Error), "{said:#?}");
        let state = State::initial(&model);
        engine.start(&model, &state, &options).expect("starts");
        let inputs = Inputs { efforts: vec![0.0; model.dofs.len()], ..Inputs::default() };
        Motion { model, state, engine, options, inputs }
    }

    fn of(models: &str) -> Motion {
        Motion::start(compile(models), options(1e-3))
    }

    fn step(&mut self) {
        let dt = self.options.step;
        self.engine.step(&self.model, &self.inputs, dt, &mut self.state).expect("steps");
        self.state.time += dt;
        self.state.measure_joints(&self.model);
    }

    /// Steps for a while and shows every state.
    fn go(&mut self, secs: f64, mut see: impl FnMut(&Motion)) {
        let n = (secs / self.options.step.secs()).round() as usize;
        for _ in 0..n {
            self.step();
            see(self);
        }
    }

    fn pose(&self, rigid_idx: usize) -> Transform {
        self.state.rigids[rigid_idx].world_from_rigid
    }

    fn twist(&self, rigid_idx: usize) -> Twist {
        self.state.rigids[rigid_idx].twist
    }

    fn time(&self) -> f64 {
        self.state.time.secs()
    }
}

fn inertial(mass: f64, ixx: f64, iyy: f64, izz: f64) -> String {
    format!(
        "<inertial><mass>{mass}</mass><inertia><ixx>{ixx}</ixx><iyy>{iyy}</iyy><izz>{izz}</izz>\
         </inertia></inertial>"
    )
}

fn collision(geometry: &str, surface: &str) -> String {
    format!(
        "<collision name='c'><geometry>{geometry}</geometry><surface>{surface}</surface>\
         </collision>"
    )
}

fn friction(mu: f64) -> String {
    format!("<friction><ode><mu>{mu}</mu><mu2>{mu}</mu2></ode></friction>")
}

fn bouncing(e: f64) -> String {
    format!("<bounce><restitution_coefficient>{e}</restitution_coefficient></bounce>")
}

const PLANE: &str = "<plane><normal>0 0 1</normal></plane>";

fn thing(name: &str, pose: &str, inside: &str) -> String {
    format!("<model name='{name}'><pose>{pose}</pose><link name='link'>{inside}</link></model>")
}

fn ground(pose: &str, surface: &str) -> String {
    let shape = collision(PLANE, surface);
    format!(
        "<model name='ground'><static>true</static><pose>{pose}</pose><link name='link'>{shape}\
         </link></model>"
    )
}

/// A box of 0.6 × 0.4 × 0.2 m on a slope.
fn box_on_slope(alpha: f64, surface: &str, of_ground: &str) -> String {
    let at = format!("{} 0 {} 0 {alpha} 0", 0.1 * sin(alpha), 0.1 * cos(alpha));
    let mass = inertial(2.0, 0.2 / 6.0, 0.4 / 6.0, 0.52 / 6.0);
    let shape = collision("<box><size>0.6 0.4 0.2</size></box>", surface);
    ground(&format!("0 0 0 0 {alpha} 0"), of_ground) + &thing("box", &at, &(mass + &shape))
}

fn ball(z: f64, surface: &str) -> String {
    let shape = collision("<sphere><radius>0.5</radius></sphere>", surface);
    thing("ball", &format!("0 0 {z} 0 0 0"), &(inertial(1.5, 0.15, 0.15, 0.15) + &shape))
}

/// A bob of 2 kg 1 m below a joint with the world.
fn hanging(kind: &str, axes: &str, gravity: bool) -> String {
    let mass = inertial(2.0, 0.02, 0.02, 0.02);
    format!(
        "<model name='bob'><link name='bob'><pose>0 0 -1 0 0 0</pose><gravity>{gravity}</gravity>\
         {mass}</link><joint name='joint' type='{kind}'><parent>world</parent><child>bob</child>\
         <pose>0 0 1 0 0 0</pose>{axes}</joint></model>"
    )
}

/// Semi-implicit Euler to the last digits: `z = z₀ − g·dt²·n·(n + 1)/2`.
#[test]
fn free_fall_is_that_of_its_integrator() {
    if !is_there() {
        return;
    }
    let mut motion = Motion::of(&ball(100.0, ""));
    let mut n = 0.0;
    motion.go(2.0, |motion| {
        n += 1.0;
        let wanted = 100.0 - GRAVITY * 1e-6 * n * (n + 1.0) / 2.0;
        let z = motion.pose(0).translation.z;
        assert!((z - wanted).abs() < 1e-9, "{z} vs {wanted}");
        assert!((motion.twist(0).linear.z + GRAVITY * motion.time()).abs() < 1e-9);
    });
}

/// `a = g·(sin α − μ·cos α)` down 20° with μ = 0.2 for 3 s: 6.802 m. Tolerance 0.2 %. With
/// μ = 1 it stays, within 0.1 mm.
#[test]
fn a_box_slides_and_sticks_as_friction_says() {
    if !is_there() {
        return;
    }
    let alpha = 20.0 * PI / 180.0;
    let way = |mu: f64| {
        let mut motion = Motion::of(&box_on_slope(alpha, &friction(mu), ""));
        let start = motion.pose(1).translation;
        motion.go(3.0, |_| {});
        (motion.pose(1).translation - start).dot(Vec3::new(cos(alpha), 0.0, -sin(alpha)))
    };
    let wanted = 4.5 * GRAVITY * (sin(alpha) - 0.2 * cos(alpha));
    let (slid, crept) = (way(0.2), way(1.0));
    eprintln!("slid {slid} of {wanted}, crept {crept:e}");
    assert!((slid / wanted - 1.0).abs() < 2e-3, "{slid} vs {wanted}");
    assert!(crept.abs() < 1e-4, "{crept}");
}

/// `2π·√(I/(m·g·l))·(1 + θ²/16)` within 0.1 %; the rod stretches less than 0.1 mm.
#[test]
fn a_pendulum_keeps_its_period_and_its_length() {
    if !is_there() {
        return;
    }
    let axis = "<axis><xyz>0 1 0</xyz><headland:initial_position>0.1</headland:initial_position>\
                </axis>";
    let mut motion = Motion::of(&hanging("continuous", axis, true));
    let (mut crossings, mut before, mut stretch) = (Vec::new(), (0.0, 0.1), 0.0_f64);
    motion.go(20.0, |motion| {
        let (t, q) = (motion.time(), motion.state.dofs[0].position);
        if before.1 < 0.0 && q >= 0.0 {
            crossings.push(before.0 + (t - before.0) * before.1 / (before.1 - q));
        }
        before = (t, q);
        stretch = stretch.max((motion.pose(0).translation.length() - 1.0).abs());
    });
    let measured = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
    let wanted = TAU * sqrt(2.02 / (2.0 * GRAVITY)) * (1.0 + 0.01 / 16.0);
    eprintln!("period {measured} of {wanted}, stretch {stretch:e}");
    assert!((measured / wanted - 1.0).abs() < 1e-3, "{measured} vs {wanted}");
    assert!(stretch < 1e-4, "{stretch}");
}

/// A free box about no principal axis, its inertia not along its frame: angular momentum
/// within 2 %, energy within 3 % over 5 s, of an integrator of first order.
#[test]
fn a_tumbling_box_keeps_angular_momentum_and_energy() {
    if !is_there() {
        return;
    }
    let mass = "<inertial><pose>0.1 0.2 -0.1 0.3 -0.4 0.5</pose><mass>10</mass><inertia>\
                <ixx>0.81</ixx><iyy>0.68</iyy><izz>0.14</izz></inertia></inertial>";
    let model = compile_with(&thing("box", "0 0 0 0 0 0", mass), |world| {
        world.gravity = Vec3::ZERO;
        world.models[0].links[0].initial_twist.angular = Vec3::new(0.1, 5.0, 0.1);
    });
    let mut motion = Motion::start(model, options(1e-3));
    let (mut first, mut worst) = (None, (0.0_f64, 0.0_f64));
    motion.go(5.0, |motion| {
        let turn = motion.pose(0).rotation;
        let omega = turn.conjugate() * motion.twist(0).angular;
        let momentum = turn * (motion.model.rigids[0].inertia * omega);
        let now = (momentum, motion.state.kinetic_energy(&motion.model, 0));
        let start = *first.get_or_insert(now);
        worst.0 = worst.0.max(now.0.distance(start.0) / start.0.length());
        worst.1 = worst.1.max((now.1 / start.1 - 1.0).abs());
    });
    eprintln!("momentum off {:e}, energy off {:e}", worst.0, worst.1);
    assert!(worst.0 < 0.02 && worst.1 < 0.03, "{worst:?}");
}

/// The height of the first apex over that of the drop, of a ball with e = 0.7.
fn first_apex(step: f64) -> f64 {
    let model = compile(&(ground("0 0 0 0 0 0", &bouncing(0.7)) + &ball(3.5, &bouncing(0.7))));
    let mut motion = Motion::start(model, options(step));
    let (mut has_landed, mut apex) = (false, 0.0_f64);
    motion.go(3.0, |motion| {
        let (z, v) = (motion.pose(1).translation.z - 0.5, motion.twist(1).linear.z);
        has_landed |= v >= 0.0 || z < 0.05;
        if has_landed && v > 0.0 {
            apex = apex.max(z);
        }
    });
    apex / 3.0
}

/// The finding this engine is here to show. Bullet sees a contact up to 20 mm ahead and takes
/// off the speed that would close the gap, so in steps of 1 ms a ball that should come back to
/// 49 % of its height stays on the ground; in steps of 1/60 s it comes back. If this fails,
/// Bullet has changed, and the book and `realise.rs` must say so.
#[test]
fn a_ball_bounces_at_sixty_hertz_and_not_in_steps_of_a_millisecond() {
    if !is_there() {
        return;
    }
    let (coarse, fine) = (first_apex(1.0 / 60.0), first_apex(1e-3));
    eprintln!("apex ratio {coarse} at 1/60 s, {fine} at 1 ms; e² is 0.49");
    assert!((coarse / 0.49 - 1.0).abs() < 0.1, "{coarse}");
    assert!(fine < 0.01, "{fine}");
    let model = compile(&ball(1.0, &bouncing(0.7)));
    let said = (ENTRY.make)(&ENTRY).check(&model, &options(1e-3));
    assert!(said.iter().any(|d| d.code == "realised" && d.message.contains("restitution 0.7")));
}

/// A ball, a universal joint, a slider and a hinge under gravity and a sideways force: what
/// they hold stays within 0.1 mm and 1 mrad, and what they leave free moves.
#[test]
fn joints_of_every_kind_hold_what_they_hold() {
    if !is_there() {
        return;
    }
    let xyz = |axis: &str, v: &str| format!("<{axis}><xyz>{v}</xyz></{axis}>");
    let slope = xyz("axis", "0.6 0 0.8");
    let cross = xyz("axis", "1 0 0") + &xyz("axis2", "0 1 0");
    for (kind, axes) in [
        ("revolute", xyz("axis", "0 1 0")),
        ("continuous", xyz("axis", "0.6 0.8 0")),
        ("prismatic", slope),
        ("ball", String::new()),
        ("universal", cross),
    ] {
        let mut motion = Motion::of(&hanging(kind, &axes, true));
        let (mut moved, mut off, mut turned) = (0.0_f64, 0.0_f64, 0.0_f64);
        motion.inputs.wrenches =
            vec![Wrench { rigid_idx: 0, force: Vec3::new(3.0, 1.0, 0.0), torque: Vec3::Z * 0.05 }];
        motion.go(2.0, |motion| {
            let joint = &motion.model.joints[0];
            let seen = motion.state.relative_motion(joint).parent_from_child;
            let turn = |v: Vec3| seen.rotation * v;
            match kind {
                "prismatic" => {
                    let axis = Vec3::new(0.6, 0.0, 0.8);
                    let along = axis * seen.translation.dot(axis);
                    off = off.max(seen.translation.distance(along));
                    turned = turned.max(turn(Vec3::X).distance(Vec3::X));
                    turned = turned.max(turn(Vec3::Z).distance(Vec3::Z));
                    moved = moved.max(along.length());
                }
                _ => {
                    off = off.max(seen.translation.length());
                    moved = moved.max(turn(Vec3::Z).distance(Vec3::Z));
                }
            }
            match kind {
                "revolute" => turned = turned.max(turn(Vec3::Y).distance(Vec3::Y)),
                "continuous" => {
                    let axis = Vec3::new(0.6, 0.8, 0.0);
                    turned = turned.max(turn(axis).distance(axis));
                }
                "universal" => turned = turned.max(Vec3::X.dot(turn(Vec3::Y)).abs()),
                _ => {}
            }
        });
        eprintln!("{kind}: off {off:e} m, turned {turned:e}, moved {moved}");
        assert!(off < 1e-4 && turned < 1e-3, "{kind}: {off} m, {turned} rad");
        assert!(moved > 0.1, "{kind}: it hardly moved, {moved}");
    }
}

/// An effort turns by `τ/I` about the hinge and pushes by `F/m`; a wrench by `F/m` and `τ/I`;
/// an armature adds to both. Within 0.2 % after a second.
#[test]
fn efforts_and_wrenches_accelerate_by_inertia() {
    if !is_there() {
        return;
    }
    for (kind, armature, inertia) in [
        ("continuous", 0.0, 2.02),
        ("prismatic", 0.0, 2.0),
        ("continuous", 3.0, 5.02),
        ("prismatic", 3.0, 5.0),
    ] {
        let (effort, axis) = (1.5, "<axis><xyz>0 1 0</xyz></axis>");
        let model = compile_with(&hanging(kind, axis, false), |world| {
            use headland_world::JointKind::{Continuous, Prismatic};
            match &mut world.models[0].joints[0].kind {
                Continuous(axis) | Prismatic(axis) => axis.armature = armature,
                other => unreachable!("{other:?}"),
            }
        });
        let mut motion = Motion::start(model, options(1e-3));
        motion.inputs.efforts[0] = effort;
        motion.go(1.0, |_| {});
        let (speed, wanted) = (motion.state.dofs[0].velocity, effort / inertia);
        assert!((speed / wanted - 1.0).abs() < 2e-3, "{kind} {armature}: {speed} vs {wanted}");
    }
    let mut motion = Motion::of(&ball(0.0, ""));
    let force = Vec3::new(3.0, 0.0, 1.5 * GRAVITY);
    motion.inputs.wrenches = vec![Wrench { rigid_idx: 0, force, torque: Vec3::new(0.0, 0.3, 0.0) }];
    motion.go(1.0, |_| {});
    let (twist, wanted) = (motion.twist(0), (Vec3::X * 2.0, Vec3::Y * 2.0));
    assert!(twist.linear.distance(wanted.0) < 1e-9, "{twist:?}");
    assert!(twist.angular.distance(wanted.1) < 1e-9, "{twist:?}");
}

/// A motor drives an axis against its limit and it stays there, within 1 mm or 1 mrad, also
/// more than a turn away.
#[test]
fn limits_stop_also_beyond_a_turn() {
    if !is_there() {
        return;
    }
    for (kind, upper) in [("revolute", 0.5), ("revolute", 9.0), ("prismatic", 0.25)] {
        let axis = format!(
            "<axis><xyz>0 1 0</xyz><limit><lower>-0.1</lower><upper>{upper}</upper></limit></axis>"
        );
        let mut motion = Motion::of(&hanging(kind, &axis, false));
        let mut furthest = 0.0_f64;
        motion.inputs.efforts[0] = 4.0;
        motion.go(4.0, |motion| furthest = furthest.max(motion.state.dofs[0].position));
        let end = motion.state.dofs[0].position;
        assert!((end - upper).abs() < 1e-3 && furthest < upper + 1e-3, "{kind}: {end}, {furthest}");
    }
}

/// Contact forces on what rests add up to its weight, within 1 %, and point up from the ground.
#[test]
fn contacts_carry_the_weight() {
    if !is_there() {
        return;
    }
    let mut motion = Motion::of(&box_on_slope(10.0 * PI / 180.0, "", ""));
    motion.go(1.0, |_| {});
    let contacts = &motion.state.contacts;
    let total = contacts.iter().fold(Vec3::ZERO, |sum, contact| sum + contact.force);
    let wanted = Vec3::Z * (2.0 * GRAVITY);
    assert!(total.distance(wanted) < 0.01 * wanted.z, "{total} vs {wanted}");
    for contact in contacts {
        assert!((contact.body_a, contact.body_b) == (0, 1) && contact.normal.z > 0.9);
        assert!(contact.depth.abs() < 1e-3, "{contact:?}");
    }
}

/// Velocity decay: `v = v₀·e^(−c·t)`, within a millionth.
#[test]
fn velocity_decays_as_asked() {
    if !is_there() {
        return;
    }
    let decay = "<velocity_decay><linear>0.5</linear><angular>2</angular></velocity_decay>";
    let inside = inertial(1.0, 0.1, 0.1, 0.1) + "<gravity>false</gravity>" + decay;
    let model = compile_with(&thing("puck", "0 0 0 0 0 0", &inside), |world| {
        let twist = Twist { linear: Vec3::X, angular: Vec3::Z };
        world.models[0].links[0].initial_twist = twist;
    });
    let mut motion = Motion::start(model.clone(), options(1e-3));
    motion.go(1.0, |_| {});
    let twist = motion.twist(0);
    assert!((twist.linear.x / exp(-0.5) - 1.0).abs() < 1e-6, "{twist:?}");
    assert!((twist.angular.z / exp(-2.0) - 1.0).abs() < 1e-6, "{twist:?}");
    let mut raw = Motion::start(model, EngineOptions { raw: true, ..options(1e-3) });
    raw.go(1.0, |_| {});
    assert!((raw.twist(0).linear.x - 1.0).abs() < 1e-12, "raw: Bullet's own damping is none");
}

/// Every shape rests where its form says, on a plane and on a box, within 1 mm. A capsule and
/// an ellipsoid lie down, so they stand on end only with a foot; here they lie.
#[test]
fn shapes_rest_where_their_form_says() {
    if !is_there() {
        return;
    }
    let boxed = collision("<box><size>4 4 1</size></box>", "");
    let block = "<model name='ground'><static>true</static><pose>0 0 -0.5 0 0 0</pose><link \
                 name='link'>"
        .to_string()
        + &boxed
        + "</link></model>";
    for (geometry, turn, height) in [
        ("<box><size>0.3 0.3 0.4</size></box>", 0.0, 0.2),
        ("<sphere><radius>0.2</radius></sphere>", 0.0, 0.2),
        ("<cylinder><radius>0.2</radius><length>0.3</length></cylinder>", 0.0, 0.15),
        ("<capsule><radius>0.1</radius><length>0.4</length></capsule>", PI / 2.0, 0.1),
        ("<cone><radius>0.2</radius><length>0.3</length></cone>", 0.0, 0.15),
        ("<ellipsoid><radii>0.4 0.3 0.2</radii></ellipsoid>", 0.0, 0.2),
    ] {
        let inside = inertial(1.0, 0.02, 0.02, 0.02) + &collision(geometry, "");
        let above = thing("thing", &format!("0 0 {} {turn} 0 0", height + 0.05), &inside);
        for below in [ground("0 0 0 0 0 0", ""), block.clone()] {
            let mut motion = Motion::of(&(below + &above));
            motion.go(2.0, |_| {});
            let z = motion.pose(1).translation.z;
            eprintln!("{geometry}: {z}");
            assert!((z - height).abs() < 1e-3, "{geometry} rests at {z}, not {height}");
        }
    }
}

/// A ball rests on a heightmap, a mesh and the hull of one at 0.7 m, within 1 mm, and a box
/// that is carried by a belt moves as the belt does, within 1 %.
#[test]
fn grounds_of_every_kind_carry() {
    use headland_base::maths::Vec2;
    use headland_world::{Geometry, HeightGrid, TriMesh};
    if !is_there() {
        return;
    }
    let corners = [(-5.0, -5.0), (5.0, -5.0), (5.0, 5.0), (-5.0, 5.0)];
    let mesh = |convex: bool| {
        let at = |z: f64| corners.iter().map(move |(x, y)| Vec3::new(*x, *y, z));
        let points: Vec<Vec3> = at(0.7).chain(at(0.0)).collect();
        let triangles = vec![[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6]];
        let mesh = Arc::new(TriMesh::new(points, triangles).expect("four triangles"));
        let (uri, scale) = ("flat.stl".to_string(), Vec3::ONE);
        Geometry::Mesh { uri, scale, submesh: None, mesh, convex }
    };
    let outline = corners.iter().map(|(x, y)| Vec2::new(*x, *y)).collect();
    let grounds = [
        mesh(false),
        mesh(true),
        Geometry::Polyline { outlines: vec![outline], height: 0.7 },
        Geometry::Heightmap {
            uri: "flat.png".into(),
            size: Vec3::new(10.0, 10.0, 1.0),
            position: Vec3::ZERO,
            heights: Arc::new(HeightGrid::new(5, 4, vec![0.7; 20]).expect("a grid")),
        },
    ];
    for geometry in grounds {
        let models = ground("0 0 0 0 0 0", "") + &ball(1.3, "");
        let model = compile_with(&models, |world| {
            world.models[0].links[0].collisions[0].geometry = geometry.clone();
        });
        let mut motion = Motion::start(model, options(1e-3));
        motion.go(1.0, |_| {});
        let z = motion.pose(1).translation.z;
        assert!((z - 1.2).abs() < 1e-3, "on a {} it rests at {z}", geometry.kind());
    }

    let belt = inertial(1.0, 1.0, 1.0, 1.0) + &collision("<box><size>40 2 0.2</size></box>", "");
    let cargo =
        inertial(5.0, 0.03, 0.03, 0.03) + &collision("<box><size>0.2 0.2 0.2</size></box>", "");
    let models = thing("belt", "0 0 -0.1 0 0 0", &belt) + &thing("cargo", "0 0 0.1 0 0 0", &cargo);
    let model = compile_with(&models, |world| {
        let link = &mut world.models[0].links[0];
        link.kinematic = true;
        link.initial_twist.linear = Vec3::X * 0.8;
    });
    let mut motion = Motion::start(model, options(1e-3));
    motion.go(2.0, |motion| {
        let wanted = Vec3::new(0.8 * motion.time(), 0.0, -0.1);
        assert!(motion.pose(0).translation.distance(wanted) < 1e-9);
    });
    let speed = motion.twist(1).linear.x;
    assert!((speed / 0.8 - 1.0).abs() < 0.01, "{speed}");
}

/// On a slide of 2 kg: `v = e^(−d·t/m)` within 0.5 %, a stop after `m·v₀²/2F` within 5 mm,
/// `cos(√(k/m)·t)` within 2 %, and a damper of `d·dt/m` = 50 that holds within 1 mm.
#[test]
fn dampers_friction_and_springs_follow_their_closed_forms() {
    use headland_world::{Axis, JointKind::Prismatic};
    if !is_there() {
        return;
    }
    let end = |change: &dyn Fn(&mut Axis), speed: f64, secs: f64| {
        let axis = "<axis><xyz>1 0 0</xyz></axis>";
        let model = compile_with(&hanging("prismatic", axis, true), |world| {
            world.models[0].links[0].initial_twist.linear = Vec3::X * speed;
            let Prismatic(axis) = &mut world.models[0].joints[0].kind else { unreachable!() };
            change(axis);
        });
        let mut motion = Motion::start(model, options(1e-3));
        motion.go(secs, |_| {});
        motion.state.dofs[0]
    };
    let damped = end(&|axis| axis.damping = 3.0, 1.0, 1.0);
    assert!((damped.velocity / exp(-1.5) - 1.0).abs() < 5e-3, "{damped:?}");
    let braked = end(&|axis| axis.friction = 1.0, 1.0, 3.0);
    assert!((braked.position - 1.0).abs() < 5e-3 && braked.velocity.abs() < 1e-6, "{braked:?}");
    let sprung = |axis: &mut Axis| (axis.spring_stiffness, axis.spring_reference) = (8.0, -1.0);
    let sprung = end(&sprung, 0.0, 3.0);
    assert!((sprung.position - (cos(6.0) - 1.0)).abs() < 0.02, "{sprung:?}");
    let stiff = end(&|axis| axis.damping = 1e5, 1.0, 1.0);
    assert!(stiff.position.abs() < 1e-3, "{stiff:?}");
}

/// A servo, as a spring and a damper of the inputs, whose damper is stiff for the step
/// (`kd·dt/I` = 0.6) rests where its spring carries the load, within 0.1 %.
#[test]
fn a_stiff_servo_rests_where_its_spring_carries_the_load() {
    if !is_there() {
        return;
    }
    let inside = inertial(1.0, 0.04 / 6.0, 1.04 / 12.0, 1.04 / 12.0);
    let models = format!(
        "<model name='arm'><link name='beam'><pose>0.5 0 0 0 0 0</pose>{inside}</link><joint \
         name='hinge' type='continuous'><parent>world</parent><child>beam</child><pose>-0.5 0 0 0 \
         0 0</pose><axis><xyz>0 1 0</xyz></axis></joint></model>"
    );
    let mut motion = Motion::of(&models);
    let gains = headland_sim::Gains { kp: 1e3, kd: 200.0 };
    motion.inputs.slopes = vec![gains];
    for _ in 0..5000 {
        let now = motion.state.dofs[0];
        motion.inputs.efforts[0] = -gains.kp * now.position - gains.kd * now.velocity;
        motion.step();
    }
    let now = motion.state.dofs[0];
    let wanted = 0.5 * GRAVITY * cos(now.position) / gains.kp;
    eprintln!("{now:?} of {wanted}");
    assert!((now.position / wanted - 1.0).abs() < 1e-3, "{now:?} of {wanted}");
}

/// The other finding: cubes dropped flat do not stay where they are. As asked they end less
/// than 0.5 m aside, but not within the millimetre in which `rapier` leaves them.
#[test]
fn cubes_dropped_flat_end_aside() {
    if !is_there() {
        return;
    }
    let mut models = ground("0 0 0 0 0 0", &friction(0.5));
    for (i, side) in [0.05, 0.3, 1.0].into_iter().enumerate() {
        for (j, height) in [0.5, 2.0, 5.0, 7.7].into_iter().enumerate() {
            let m = 2.0 * side * side / 6.0;
            let form = format!("<box><size>{side} {side} {side}</size></box>");
            let at = format!("{} {} {} 0 0 0", 4 * i, 4 * j, height + 0.5 * side);
            let inside = inertial(2.0, m, m, m) + &collision(&form, &friction(0.5));
            models += &thing(&format!("cube{i}{j}"), &at, &inside);
        }
    }
    let aside = |raw: bool| {
        let mut motion = Motion::start(compile(&models), EngineOptions { raw, ..options(1e-3) });
        motion.go(5.0, |_| {});
        let way = |i: usize| {
            let way =
                motion.pose(i).translation - motion.model.rigids[i].world_from_rigid.translation;
            Vec3::new(way.x, way.y, 0.0).length()
        };
        (1..motion.model.rigids.len()).map(way).fold(0.0, f64::max)
    };
    let (asked, raw) = (aside(false), aside(true));
    eprintln!("{asked} m aside as asked, {raw} m raw");
    assert!(asked > 1e-3 && asked < 0.5, "{asked}");
    assert!(raw > asked, "{raw} against {asked}");
}

/// A four-bar linkage, closed by its last joint: the loop stays shut within 0.2 mm for 3 s
/// while it swings, and energy within 2 %.
#[test]
fn a_loop_of_joints_stays_shut() {
    if !is_there() {
        return;
    }
    let bar = |name: &str, pose: &str| {
        let mass = inertial(1.0, 0.08, 0.08, 0.01);
        format!("<link name='{name}'><pose>{pose}</pose>{mass}</link>")
    };
    let hinge = |name: &str, parent: &str, child: &str, at: &str| {
        format!(
            "<joint name='{name}' type='continuous'><parent>{parent}</parent><child>{child}\
             </child><pose>{at}</pose><axis><xyz>0 1 0</xyz></axis></joint>"
        )
    };
    // Two bars of 1 m hang from the world 1 m apart, leaning 0.3 rad, and a third joins them.
    let (x, z) = (sin(0.3), -cos(0.3));
    let models = String::from("<model name='four'>")
        + &bar("left", &format!("{} 0 {} 0 -0.3 0", 0.5 * x, 0.5 * z))
        + &bar("right", &format!("{} 0 {} 0 -0.3 0", 1.0 + 0.5 * x, 0.5 * z))
        + &bar("across", &format!("{} 0 {z} 0 {} 0", x + 0.5, PI / 2.0))
        + &hinge("a", "world", "left", "0 0 0.5 0 0 0")
        + &hinge("b", "world", "right", "0 0 0.5 0 0 0")
        + &hinge("c", "left", "across", "0 0 -0.5 0 0 0")
        + &hinge("d", "right", "across", "0 0 0.5 0 0 0")
        + "</model>";
    let mut motion = Motion::of(&models);
    let (mut gap, mut start, mut lost, mut swung) = (0.0_f64, None, 0.0_f64, 0.0_f64);
    motion.go(3.0, |motion| {
        for joint in &motion.model.joints {
            let seen = motion.state.relative_motion(joint).parent_from_child;
            gap = gap.max(seen.translation.length());
        }
        let energy: f64 = (0..3)
            .map(|i| {
                motion.state.kinetic_energy(&motion.model, i)
                    + GRAVITY * motion.pose(i).translation.z
            })
            .sum();
        lost = lost.max((energy - *start.get_or_insert(energy)).abs());
        swung = swung.max(motion.state.dofs[0].position.abs());
    });
    eprintln!("gap {gap:e} m, energy off {lost:e} J, swung {swung}");
    assert!(gap < 2e-4 && swung > 0.5, "{gap}, {swung}");
    assert!(lost < 0.02 * 2.0 * GRAVITY, "{lost}");
}

/// A stack, a chain and a slide, twice: not one bit differs, in any step.
#[test]
fn twice_the_same_to_the_last_bit() {
    if !is_there() {
        return;
    }
    let cube =
        inertial(1.0, 0.04, 0.04, 0.04) + &collision("<box><size>0.5 0.5 0.5</size></box>", "");
    let mut models =
        ground("0 0 0 0 0 0", "") + &hanging("continuous", "<axis><xyz>0 1 0</xyz></axis>", true);
    for i in 0..8 {
        let at = format!(
            "{} {} {} 0 0 {}",
            5.0 + 0.05 * f64::from(i),
            0.1,
            0.3 + 0.6 * f64::from(i),
            0.2 * f64::from(i)
        );
        models += &thing(&format!("cube{i}"), &at, &cube);
    }
    let (mut one, mut two) = (Motion::of(&models), Motion::of(&models));
    for _ in 0..1500 {
        one.step();
        two.step();
        assert_eq!(one.state, two.state, "at {}", one.time());
    }
    assert!(!one.state.contacts.is_empty());
    let moved = one.pose(9).translation.distance(one.model.rigids[9].world_from_rigid.translation);
    assert!(moved > 0.1, "the stack fell, {moved}");
}

/// `--raw` leaves Bullet its product rule and its default of 0.5: 0.5 asked of the box and
/// nothing of the ground is 0.25, and the box slides as 0.25 says, within 3 %. As asked it
/// would be the lesser of 0.5 and SDF's 1, and hold.
#[test]
fn raw_is_what_bullet_does_by_itself() {
    if !is_there() {
        return;
    }
    let alpha = 20.0 * PI / 180.0;
    let way = |raw: bool| {
        let model = compile(&box_on_slope(alpha, &friction(0.5), ""));
        let mut motion = Motion::start(model, EngineOptions { raw, ..options(1e-3) });
        let start = motion.pose(1).translation;
        motion.go(3.0, |_| {});
        (motion.pose(1).translation - start).length()
    };
    let wanted = 4.5 * GRAVITY * (sin(alpha) - 0.25 * cos(alpha));
    let (raw, asked) = (way(true), way(false));
    eprintln!("raw {raw} of {wanted}, as asked {asked:e}");
    assert!((raw / wanted - 1.0).abs() < 0.03, "{raw} vs {wanted}");
    assert!(asked < 1e-3, "{asked}");
    let model = compile(&ball(1.0, ""));
    let said = (ENTRY.make)(&ENTRY).check(&model, &EngineOptions { raw: true, ..options(1e-3) });
    assert!(said.iter().any(|d| d.code == "realised" && d.message.starts_with("raw:")));
}

/// What Bullet cannot do is refused by name, all of it at once.
#[test]
fn what_bullet_cannot_do_is_refused_by_name() {
    if !is_there() {
        return;
    }
    let inside = inertial(1.0, 0.1, 0.1, 0.1);
    let skew = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0.6 0.8 0</xyz></axis2>";
    let models =
        hanging("universal", skew, true).replace("'bob'", "'skew'").replace("bob<", "skew<")
            + &thing("raft", "0 0 0 0 0 0", &(inside + &collision(PLANE, "")));
    let said: Vec<Diagnostic> = (ENTRY.make)(&ENTRY).check(&compile(&models), &options(1e-3));
    let refused: Vec<&str> = said
        .iter()
        .filter(|d| d.severity == Severity::Error && d.code == "engine-cannot")
        .map(|d| d.message.as_str())
        .collect();
    assert_eq!(refused.len(), 2, "{said:#?}");
    assert!(refused.iter().any(|m| m.contains("`skew::joint`") && m.contains("right angle")));
    assert!(refused.iter().any(|m| m.contains("`raft::link`") && m.contains("stand still")));
}

/// `bullet_by_hand.cpp`, compiled.
struct ByHand(tempfile::TempDir);

impl ByHand {
    fn compile() -> ByHand {
        let folder = tempfile::tempdir().expect("a folder");
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_string());
        let done = Command::new(compiler)
            .args(["-std=c++14", "-O2", "-ffp-contract=off", "-DBT_USE_DOUBLE_PRECISION"])
            .arg("-I/usr/include/bullet")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bullet_by_hand.cpp"))
            .arg("-o")
            .arg(folder.path().join("by_hand"))
            .args(["-lBulletDynamics-float64", "-lBulletCollision-float64", "-lLinearMath-float64"])
            .output()
            .expect("a compiler");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        ByHand(folder)
    }

    /// Ten numbers after every tenth step.
    fn run(&self, what: &str, dt: f64, n: usize, start: Transform) -> Vec<Vec<f64>> {
        let (p, q) = (start.translation, start.rotation);
        let numbers = [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(|x| format!("{x:?}"));
        let said = Command::new(self.0.path().join("by_hand"))
            .args([what, &format!("{dt:?}"), &n.to_string()])
            .args(numbers)
            .output()
            .expect("runs");
        assert!(said.status.success());
        eprint!("{what} by hand: {}", String::from_utf8_lossy(&said.stderr));
        let text = String::from_utf8(said.stdout).expect("numbers");
        let row = |line: &str| line.split(' ').map(|x| x.parse().expect("a number")).collect();
        text.lines().map(row).collect()
    }
}

/// The same worlds by hand through Bullet's own interface: pose and velocity are the same to
/// 1e-9 at every tenth step, to the end.
#[test]
fn by_hand_through_bullets_own_interface_it_is_the_same() {
    if !is_there() {
        return;
    }
    let by_hand = ByHand::compile();
    let alpha = 20.0 * PI / 180.0;
    let axis = "<axis><xyz>0 1 0</xyz><headland:initial_position>0.7</headland:initial_position>\
                </axis>";
    let e = bouncing(0.7);
    let ball = ground("0 0 0 0 0 0", &e) + &ball(3.5, &e);
    for (what, models, rigid_idx, step) in [
        ("ball", ball.clone(), 1, 1e-3),
        ("ball", ball, 1, 1.0 / 64.0),
        ("box", box_on_slope(alpha, &friction(0.2), ""), 1, 1e-3),
        ("pendulum", hanging("continuous", axis, true), 0, 1e-3),
        ("stack", stack(20), 20, 1e-3),
    ] {
        let mut motion = Motion::start(compile(&models), options(step));
        let n = if what == "stack" { 500 } else { 3000 };
        let wanted = by_hand.run(what, step, n, motion.pose(rigid_idx));
        let mut worst = 0.0_f64;
        for (i, wanted) in wanted.iter().enumerate() {
            for _ in 0..10 {
                motion.step();
            }
            let (pose, v) = (motion.pose(rigid_idx), motion.twist(rigid_idx).linear);
            let (p, q) = (pose.translation, pose.rotation);
            let is = [p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z];
            let turned: f64 = (3..7).map(|i| is[i] * wanted[i]).sum();
            for (k, (is, wanted)) in is.iter().zip(wanted).enumerate() {
                // A quaternion and its negative are one turn.
                let sign = if (3..7).contains(&k) && turned < 0.0 { -1.0 } else { 1.0 };
                worst = worst.max((is - sign * wanted).abs());
            }
            assert!(worst < 1e-9, "{what} in steps of {step}: off by {worst:e} at {i}");
        }
        assert_eq!(wanted.len(), n / 10);
        eprintln!("{what} in steps of {step}: {worst:e} at most over {n} steps");
    }
}

/// Cubes of 0.5 m and 1 kg on each other.
fn stack(n: usize) -> String {
    let i = 0.25 / 6.0;
    let cube = inertial(1.0, i, i, i) + &collision("<box><size>0.5 0.5 0.5</size></box>", "");
    let mut out = ground("0 0 0 0 0 0", "");
    for i in 0..n {
        out += &thing(&format!("cube{i}"), &format!("0 0 {} 0 0 0", 0.25 + 0.5 * i as f64), &cube);
    }
    out
}

/// A body that goes non-finite is taken out, and the rest of the world goes on.
#[test]
fn what_goes_non_finite_is_left_behind() {
    if !is_there() {
        return;
    }
    let mut motion = Motion::of(&(ball(50.0, "") + &stack(1)));
    motion.inputs.wrenches =
        vec![Wrench { rigid_idx: 0, force: Vec3::X * f64::INFINITY, torque: Vec3::ZERO }];
    motion.step();
    assert!(!motion.pose(0).is_finite() || !motion.twist(0).linear.is_finite());
    let was = motion.model.rigids[0].world_from_rigid;
    motion.state.rigids[0].world_from_rigid = was;
    motion.state.rigids[0].twist = Twist::default();
    motion.state.rigids[0].is_contained = true;
    motion.go(1.0, |motion| {
        assert_eq!(motion.pose(0), was);
        assert!(motion.pose(2).is_finite());
    });
    assert!((motion.pose(2).translation.z - 0.25).abs() < 1e-3);
}
