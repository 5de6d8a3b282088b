//! Things that touch: sliding, sticking, bouncing, standing.

use super::*;

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
