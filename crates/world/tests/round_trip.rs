//! What is written reads back as the same World: for worlds nobody would write by hand.

use std::path::Path;

use headland_base::maths::{Vec2, sqrt, unit_quat};
use headland_base::{Mat3, Quat, SimDuration, Source, Transform, Vec3};
use headland_world::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn name() -> impl Strategy<Value = String> {
    // Everything that is awkward in XML, in scopes and on a terminal.
    "[a-zA-Z<>&\"'é.-][a-zA-Z0-9<>&\"'é._-]{0,6}"
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![-10.0..10.0, -1e-300..1e300, Just(0.0), Just(0.1), Just(1.0 / 3.0)]
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![1e-3..1e3, Just(1.0), 1e-300..1e300]
}

fn vec3() -> impl Strategy<Value = Vec3> {
    [-10.0..10.0, -10.0..10.0, -10.0..10.0].prop_map(Vec3::from_array)
}

fn unit() -> impl Strategy<Value = Vec3> {
    vec3().prop_filter_map("has a direction", |v| {
        let length = sqrt(v.dot(v));
        (length > 1e-3).then(|| v / length)
    })
}

fn transform() -> impl Strategy<Value = Transform> {
    let rotation = [-1.0..1.0, -1.0..1.0, -1.0..1.0, -1.0..1.0]
        .prop_filter_map("has a direction", |q: [f64; 4]| unit_quat(Quat::from_array(q)));
    prop_oneof![
        Just(Transform::IDENTITY),
        (rotation, vec3())
            .prop_map(|(rotation, translation)| Transform::new(rotation, translation)),
    ]
}

fn geometry() -> impl Strategy<Value = Geometry> {
    let size = || [positive(), positive(), positive()].prop_map(Vec3::from_array);
    let outline = prop::collection::vec([-1.0..1.0, -1.0..1.0], 3..6)
        .prop_map(|points| points.into_iter().map(Vec2::from_array).collect::<Vec<_>>());
    prop_oneof![
        size().prop_map(|size| Geometry::Box { size }),
        positive().prop_map(|radius| Geometry::Sphere { radius }),
        (positive(), positive()).prop_map(|(radius, length)| Geometry::Cylinder { radius, length }),
        (positive(), positive()).prop_map(|(radius, length)| Geometry::Capsule { radius, length }),
        (positive(), positive()).prop_map(|(radius, length)| Geometry::Cone { radius, length }),
        size().prop_map(|radii| Geometry::Ellipsoid { radii }),
        (unit(), positive(), positive())
            .prop_map(|(normal, x, y)| Geometry::Plane { normal, size: Vec2::new(x, y) }),
        (prop::collection::vec(outline, 1..3), positive())
            .prop_map(|(outlines, height)| Geometry::Polyline { outlines, height }),
        Just(Geometry::Empty),
    ]
}

fn surface() -> impl Strategy<Value = Surface> {
    let maybe = || prop::option::of(0.0..1.0);
    (
        [maybe(), maybe(), maybe(), maybe(), maybe(), maybe()],
        [maybe(), maybe(), maybe(), maybe()],
        prop::option::of((0.0..1.0, 0.0..1.0)),
        prop::option::of((0.0..1.0, 0.0..1.0)),
        prop::option::of(unit()),
        [prop::option::of(any::<u32>()), prop::option::of(any::<u32>())],
        prop::option::of("[a-z<&]{1,5}"),
    )
        .prop_map(|(a, b, slip, torsional, friction_direction, masks, surface_type)| Surface {
            laser_retro: a[1],
            mu: a[0],
            mu2: a[1],
            friction_direction,
            slip,
            torsional,
            rolling: b[3].filter(|mu| *mu != 0.0),
            restitution: a[2],
            bounce_threshold: a[3],
            stiffness: a[4],
            damping: a[5],
            soft_cfm: b[0],
            soft_erp: b[1],
            max_correction_speed: b[2],
            min_depth: b[3],
            collide_bitmask: masks[0],
            category_bitmask: masks[1],
            surface_type,
        })
}

fn colour() -> impl Strategy<Value = Option<[f64; 4]>> {
    prop::option::of([0.0..1.0, 0.0..1.0, 0.0..1.0, 0.0..1.0])
}

/// Something of another format, or of SDF's own that is kept.
fn opaque(kind: &'static str) -> impl Strategy<Value = Vec<Opaque>> {
    let foreign = (name(), prop::option::of(name()), "[ -~\n\t\ré]{0,20}")
        .prop_map(|(kind, name, xml)| Opaque { format: "mjcf", kind, name, xml });
    let own = Just(Opaque {
        format: "sdf",
        kind: kind.into(),
        xml: format!("<{kind} name=\"p\"><gz:a b='>'> <!-- kept --> &lt;</gz:a></{kind}>"),
        name: Some("p".into()),
    });
    prop::collection::vec(prop_oneof![foreign, own], 0..3)
}

fn light() -> impl Strategy<Value = Light> {
    let kind =
        prop_oneof![Just(LightKind::Point), Just(LightKind::Spot), Just(LightKind::Directional)];
    let rgba = || [0.0..1.0, 0.0..1.0, 0.0..1.0, 0.0..1.0];
    let spot = prop::option::of([0.0..1.0, 0.0..1.0, 0.0..1.0]);
    (kind, transform(), rgba(), rgba(), vec3(), number(), rgba(), any::<bool>(), spot).prop_map(
        |(kind, at, diffuse, specular, direction, intensity, attenuation, cast_shadows, spot)| {
            Light {
                name: "light".into(),
                kind,
                scope_from_light: at,
                diffuse,
                specular,
                direction,
                intensity,
                attenuation,
                cast_shadows,
                spot,
            }
        },
    )
}

fn inertial() -> impl Strategy<Value = Inertial> {
    let origin = prop_oneof![
        Just(InertiaOrigin::Given),
        Just(InertiaOrigin::Default),
        positive().prop_map(|density| InertiaOrigin::Derived { density }),
    ];
    let given = (1e-3..1e3, transform(), [1.0..1.4, 1.0..1.4, 1.0..1.4], -0.1..0.1, origin);
    let given = given.prop_map(|(mass, link_from_inertial, moments, xy, origin)| Inertial {
        mass,
        link_from_inertial,
        inertia: Mat3::from_diagonal(Vec3::from_array(moments))
            + Mat3::from_cols(Vec3::Y * xy, Vec3::X * xy, Vec3::ZERO),
        origin,
    });
    prop_oneof![Just(Inertial::default()), given]
}

fn link(name: &'static str) -> impl Strategy<Value = Link> {
    let collision = (transform(), geometry(), surface()).prop_map(|(at, geometry, surface)| {
        Collision { name: "touch".into(), link_from_shape: at, geometry, surface }
    });
    let material = ([colour(), colour(), colour(), colour()], prop::option::of("[a-z<]{1,4}"));
    let visual = (transform(), geometry(), material, 0.0..1.0, any::<bool>()).prop_map(
        |(link_from_shape, geometry, (colours, texture), transparency, cast_shadows)| Visual {
            name: "look".into(),
            link_from_shape,
            geometry,
            material: Material {
                ambient: colours[0],
                diffuse: colours[1],
                specular: colours[2],
                emissive: colours[3],
                laser_retro: (transparency > 0.5).then_some(transparency),
                texture,
                texture_file: None,
                opaque: Vec::new(),
            },
            transparency,
            cast_shadows,
        },
    );
    (
        transform(),
        inertial(),
        prop::option::of(collision),
        prop::option::of(visual),
        prop::option::of(light()),
        (any::<bool>(), any::<bool>(), vec3(), vec3(), (0.0..1.0, 0.0..1.0)),
        opaque("sensor"),
    )
        .prop_map(move |(at, inertial, collision, visual, light, rest, opaque)| Link {
            name: name.into(),
            model_from_link: at,
            inertial,
            collisions: collision.into_iter().collect(),
            visuals: visual.into_iter().collect(),
            lights: light.into_iter().collect(),
            gravity: rest.0,
            kinematic: rest.1,
            initial_twist: Twist { linear: rest.2, angular: rest.3 },
            velocity_decay: rest.4,
            opaque,
        })
}

fn axis() -> impl Strategy<Value = Axis> {
    let limit = || prop_oneof![Just(f64::INFINITY), 0.0..5.0];
    (
        unit(),
        [limit(), limit(), limit(), limit()],
        [0.0..5.0, 0.0..5.0, 0.0..5.0],
        [number(), number()],
        prop::option::of([number(), number(), number()]),
        prop_oneof![Just(0.0), number()],
    )
        .prop_map(|(direction, limits, losses, spring, mimic, initial_position)| Axis {
            direction,
            lower: -limits[0],
            upper: limits[1],
            effort_max: limits[2],
            velocity_max: limits[3],
            damping: losses[0],
            friction: losses[1],
            armature: losses[2],
            spring_stiffness: spring[0].abs(),
            spring_reference: spring[1],
            mimic: mimic.map(|[multiplier, offset, reference]| Mimic {
                leader: "leader".into(),
                leader_axis: 1,
                multiplier,
                offset,
                reference,
            }),
            initial_position,
        })
}

fn joint(name: &'static str, parent: Option<&'static str>) -> impl Strategy<Value = Joint> {
    let kind = prop_oneof![
        Just(JointKind::Fixed),
        Just(JointKind::Ball),
        axis().prop_map(JointKind::Revolute),
        axis().prop_map(|axis| JointKind::Continuous(Axis {
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            ..axis
        })),
        axis().prop_map(JointKind::Prismatic),
        (axis(), axis()).prop_map(|(first, second)| JointKind::Universal(first, second)),
        (axis(), number().prop_filter("a thread", |pitch| *pitch != 0.0))
            .prop_map(|(axis, metres_per_radian)| JointKind::Screw { axis, metres_per_radian }),
    ];
    (kind, transform(), opaque("sensor")).prop_map(move |(kind, child_from_joint, opaque)| Joint {
        name: name.into(),
        parent: parent.map(str::to_string),
        child: if parent == Some("inner::c") { "b" } else { "a" }.into(),
        child_from_joint,
        kind,
        opaque,
    })
}

fn leader() -> impl Strategy<Value = Joint> {
    (axis(), axis()).prop_map(|(first, second)| Joint {
        name: "leader".into(),
        parent: None,
        child: "inner::c".into(),
        child_from_joint: Transform::IDENTITY,
        kind: JointKind::Universal(Axis { mimic: None, ..first }, Axis { mimic: None, ..second }),
        opaque: Vec::new(),
    })
}

fn actuator() -> impl Strategy<Value = Actuator> {
    let gain = || number().prop_map(f64::abs);
    let kind = prop_oneof![
        Just(ActuatorKind::Motor),
        (gain(), gain()).prop_map(|(kp, kv)| ActuatorKind::Position { kp, kv }),
        gain().prop_map(|kv| ActuatorKind::Velocity { kv }),
    ];
    let sorted = |(a, b): (f64, f64)| (a.min(b), a.max(b));
    let range = || prop::option::of((number(), number()).prop_map(sorted));
    let gear = number().prop_filter("turns something", |gear| *gear != 0.0);
    let curve = (positive(), positive())
        .prop_map(|(stall_effort, no_load_speed)| TorqueSpeed { stall_effort, no_load_speed });
    let limits = (prop::option::of(curve), prop::option::of(positive()));
    (name(), kind, gear, range(), range(), limits).prop_map(
        |(name, kind, gear, command_range, effort_range, (torque_speed, rate))| Actuator {
            name,
            joint: "leader".into(),
            kind,
            gear,
            command_range,
            effort_range,
            torque_speed,
            rate,
        },
    )
}

fn one_of<T: Clone + std::fmt::Debug + 'static>(
    all: &'static [(&'static str, T)],
) -> impl Strategy<Value = T> {
    prop::sample::select(all).prop_map(|(_, one)| one)
}

/// What is said to our own engine in a model, and a joint that turns a wheel.
fn casting() -> impl Strategy<Value = Model> {
    let some_links = || prop::sample::subsequence(vec!["a", "b", "inner::c"], 2..=3);
    let names = |names: Vec<&str>| names.into_iter().map(str::to_string).collect::<Vec<_>>();
    let touches = prop_oneof![
        one_of(Touches::WORDS),
        some_links().prop_map(move |links| Touches::Links(names(links))),
    ];
    let sole = (prop::option::of(transform()), prop::option::of([positive(), positive()]));
    let foot = sole.prop_map(|(link_from_sole, size)| Foot {
        link: "inner::c".into(),
        link_from_sole,
        size,
    });
    let wheel = (positive(), prop::option::of(Just("steer".to_string())));
    let wheel =
        wheel.prop_map(|(radius, steers_by)| Wheel { joint: "wheel".into(), radius, steers_by });
    let parameter = ("[a-z_é][a-z0-9é.-]{0,4}", "([!-~é]([ -~\n\t\ré]{0,9}[!-~é])?)?");
    let parameters = prop::collection::vec(parameter, 0..3);
    let controller = (name(), prop::option::of(positive()), parameters)
        .prop_map(|(kind, rate_hz, parameters)| ControllerWish { kind, rate_hz, parameters });
    let sets = prop::collection::vec(some_links().prop_map(names), 0..3);
    let controllers = prop::collection::vec(controller, 0..3);
    let detail = prop::option::of(one_of(Detail::ALL));
    (touches, foot, prop::option::of(wheel), sets, controllers, detail).prop_map(
        |(touches, foot, wheel, contact_sets, controllers, detail)| Model {
            touches,
            feet: vec![foot],
            wheels: wheel.into_iter().collect(),
            contact_pairs: pair_outside(&contact_sets),
            contact_sets,
            controllers,
            detail,
            ..Model::default()
        },
    )
}

/// A pair that is on, where no set keeps it apart.
fn pair_outside(sets: &[Vec<String>]) -> Vec<(String, String)> {
    let (a, b) = ("b".to_string(), "a".to_string());
    let is_apart = sets.iter().any(|set| set.contains(&a) && set.contains(&b));
    if is_apart { Vec::new() } else { vec![(a, b)] }
}

fn turning(name: &str) -> Joint {
    Joint {
        name: name.into(),
        parent: Some("b".into()),
        child: "a".into(),
        child_from_joint: Transform::IDENTITY,
        kind: JointKind::Continuous(Axis::along(Vec3::Y)),
        opaque: Vec::new(),
    }
}

fn native() -> impl Strategy<Value = NativeSettings> {
    let integrator = prop_oneof![
        one_of(Integrator::ALL),
        (1e-300..=Integrator::LOOSEST)
            .prop_map(|error| Integrator::Adaptive { tolerance: Some(error) }),
    ];
    let maybe = || prop::option::of(positive());
    let row = (maybe(), prop::option::of(0.0..=1.0), maybe(), maybe(), maybe());
    let laws = prop::collection::btree_map(prop::option::of((name(), name())), row, 0..3);
    (prop::option::of(one_of(ContactLaw::ALL)), prop::option::of(integrator), laws).prop_filter_map(
        "each pair once",
        |(law, integrator, laws)| {
            let pairs: std::collections::BTreeSet<_> = laws
                .keys()
                .map(|pair| pair.clone().map(|(a, b)| (a.clone().min(b.clone()), a.max(b))))
                .collect();
            let is_once = pairs.len() == laws.len();
            let laws = laws.into_iter().map(|(pair, row)| SurfaceLaw {
                first: pair.clone().map(|pair| pair.0),
                second: pair.map(|pair| pair.1),
                stiffness: row.0,
                separation: row.1,
                sliding: row.2,
                spinning: row.3,
                mu: row.4,
            });
            is_once.then(|| NativeSettings { law, integrator, surface_laws: laws.collect() })
        },
    )
}

fn model() -> impl Strategy<Value = Model> {
    let inner = (transform(), link("c")).prop_map(|(at, link)| Model {
        name: "inner".into(),
        parent_from_model: at,
        links: vec![link],
        ..Model::default()
    });
    let frames = (transform(), prop::option::of(Just("inner::c".to_string()))).prop_map(
        |(scope_from_frame, attached_to)| {
            vec![Frame { name: "frame".into(), scope_from_frame, attached_to }]
        },
    );
    (
        name(),
        transform(),
        (any::<bool>(), any::<bool>(), casting()),
        (link("a"), link("b"), inner, frames),
        (joint("j", Some("b")), joint("k", Some("inner::c")), leader()),
        prop::collection::vec(actuator(), 0..2),
        opaque("plugin"),
    )
        .prop_map(
            |(name, at, rest, (a, b, inner, frames), (j, k, leader), actuators, opaque)| {
                let (is_static, self_collide, mut casting) = rest;
                if j.kind == JointKind::Fixed {
                    casting.contact_pairs.clear(); // `a` and `b` are one
                }
                Model {
                    name,
                    parent_from_model: at,
                    is_static,
                    self_collide,
                    canonical_link: Some("b".into()),
                    links: vec![a, b],
                    joints: vec![j, k, leader, turning("wheel"), turning("steer")],
                    frames,
                    models: vec![inner],
                    actuators,
                    contact_excludes: vec![("a".into(), "inner::c".into())],
                    opaque,
                    ..casting
                }
            },
        )
}

fn ode() -> impl Strategy<Value = OdeSettings> {
    let some = || prop::option::of(positive());
    let solver = prop::option::of(prop_oneof![Just(OdeSolver::Quick), Just(OdeSolver::World)]);
    let settings = (solver, prop::option::of(1u32..1000), some(), some(), some(), some(), some());
    settings.prop_map(|(solver, n_iterations, over_relaxation, cfm, erp, speed, layer)| {
        OdeSettings {
            solver,
            n_iterations,
            over_relaxation,
            cfm,
            erp,
            max_correction_speed: speed,
            surface_layer: layer,
        }
    })
}

fn world() -> impl Strategy<Value = World> {
    let engine = prop::option::of(Just("ode".to_string()));
    let physics = (1i64..10_000_000_000, positive(), engine, prop::option::of(1u32..99), ode());
    let physics = (physics, native());
    let solid = geometry().prop_filter("has an inside", |geometry| {
        ["box", "sphere", "cylinder", "polyline"].contains(&geometry.kind())
    });
    (name(), vec3(), physics, model(), transform(), light(), (transform(), solid), opaque("plugin"))
        .prop_map(|(name, gravity, (physics, native), model, at, light, region, opaque)| World {
            name,
            gravity,
            physics: Physics {
                step: SimDuration::from_nanos(physics.0),
                real_time_factor: physics.1,
                engine: physics.2,
                max_contacts: physics.3,
                ode: physics.4,
                native,
            },
            joints: vec![Joint {
                name: "mount".into(),
                parent: None,
                child: format!("{}::b", model.name),
                child_from_joint: at,
                kind: JointKind::Fixed,
                opaque: Vec::new(),
            }],
            frames: vec![Frame {
                name: "mark".into(),
                scope_from_frame: at,
                attached_to: Some(model.name.clone()),
            }],
            contact_sets: vec![vec![
                format!("{}::b", model.name),
                format!("{}::inner::c", model.name),
            ]],
            models: vec![model],
            lights: vec![light],
            regions: vec![Region {
                name: "goal".into(),
                world_from_region: region.0,
                geometry: region.1,
            }],
            opaque,
        })
}

/// How many random cases a test tries: `PROPTEST_CASES` where it is set.
fn n_random(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Seeded, so that every run asks the same questions. The strategies above are one deep
/// value, which needs more stack than a test has.
#[test]
fn what_is_written_is_read_back() {
    let big_stack = std::thread::Builder::new().stack_size(256 << 20);
    big_stack.spawn(many_worlds).unwrap().join().unwrap();
}

fn many_worlds() {
    let config = Config { cases: n_random(1_000), failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    TestRunner::new_with_rng(config, rng)
        .run(&world(), |world| {
            let text = sdf::write(&world);
            let source = Source::new("written.sdf", text.as_str());
            let again = read_text(source, Path::new(""), &ReadOptions::default());
            let again = again.map_err(|findings| {
                let all: String = findings.iter().map(|d| d.render(false)).collect();
                TestCaseError::fail(format!("{all}\n{text}"))
            })?;
            prop_assert_eq!(again.world, world);
            Ok(())
        })
        .expect("every world comes back");
}

/// A mesh that was found around the file that names it is found again from any folder.
#[test]
fn a_mesh_of_a_package_is_found_from_another_folder() {
    let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let package = home.path().join("bot_description");
    std::fs::create_dir_all(package.join("meshes")).unwrap();
    std::fs::create_dir_all(package.join("urdf")).unwrap();
    let corner = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(package.join("meshes/part.obj"), corner).unwrap();
    let shape = |scheme: &str| format!("{scheme}://bot_description/meshes/part.obj");
    let urdf = format!(
        "<robot name='bot'><link name='base'><inertial><mass value='1'/>\
         <inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>\
         <collision><geometry><mesh filename='{}'/></geometry></collision></link></robot>",
        shape("package")
    );
    let sdf = format!(
        "<sdf version='1.9'><model name='bot'><static>true</static><link name='base'>\
         <collision name='c'><geometry><mesh><uri>{}</uri></mesh></geometry></collision>\
         </link></model></sdf>",
        shape("model")
    );
    for (name, text) in [("bot.urdf", urdf), ("bot.sdf", sdf)] {
        let path = package.join("urdf").join(name);
        std::fs::write(&path, text).unwrap();
        let read = headland_world::read(&path, &ReadOptions::default()).unwrap();
        let written = elsewhere.path().join("written.sdf");
        std::fs::write(&written, sdf::write(&read.world)).unwrap();
        let again = headland_world::read(&written, &ReadOptions::default()).unwrap();
        assert_eq!(again.world, read.world, "{name}");
    }
}
