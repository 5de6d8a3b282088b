//! Scenes: who is asked about whom, in which order, at what cost; and that nothing depends on
//! what was asked before.

use std::path::Path;
use std::sync::Arc;

use headland_base::maths::{Vec2, quat_from_rotation_vector};
use headland_base::{Seed, Source, Transform, Vec3};
use headland_sim::Model;
use headland_sim::contact::{ContactPoint, Detector, Form, Movers, Scene, touching};
use headland_world::{
    Axis, Collision, Geometry, Inertial, Joint, JointKind, Link, Model as Robot, ReadOptions,
    Surface, Touches, World,
};
use rand_chacha::rand_core::Rng;

fn shape(geometry: Geometry, link_from_shape: Transform) -> Collision {
    let surface = Surface::default();
    Collision { name: "touch".into(), geometry, link_from_shape, surface }
}

fn link(name: &str, at: Transform, geometry: Geometry) -> Link {
    Link {
        name: name.into(),
        model_from_link: at,
        inertial: Inertial { mass: 1.0, ..Inertial::default() },
        gravity: true,
        collisions: vec![shape(geometry, Transform::IDENTITY)],
        ..Link::default()
    }
}

fn at(x: f64, y: f64, z: f64) -> Transform {
    Transform::from_translation(Vec3::new(x, y, z))
}

fn ground() -> Robot {
    let plane = Geometry::Plane { normal: Vec3::Z, size: Vec2::ONE };
    let links = vec![link("floor", Transform::IDENTITY, plane)];
    Robot { name: "ground".into(), is_static: true, links, ..Robot::default() }
}

fn thing(name: &str, place: Transform, geometry: Geometry) -> Robot {
    Robot { name: name.into(), links: vec![link("body", place, geometry)], ..Robot::default() }
}

fn compiled(models: Vec<Robot>) -> Model {
    Model::compile(&Arc::new(World { models, ..World::default() })).expect("a model")
}

fn poses(model: &Model) -> Vec<Transform> {
    model.rigids.iter().map(|rigid| rigid.world_from_rigid).collect()
}

fn pairs(points: &[ContactPoint]) -> Vec<(usize, usize)> {
    let mut out: Vec<_> = points.iter().map(|point| (point.body_a, point.body_b)).collect();
    out.dedup();
    out
}

/// Things of every kind, thrown together at random.
fn heap(n: usize, spread: f64, seed: u64) -> Model {
    let mut dice = Seed::new(seed).rng();
    let mut within =
        move |span: f64| (f64::from(dice.next_u32()) / f64::from(u32::MAX) - 0.5) * span;
    let mut models = vec![ground()];
    for i in 0..n {
        let turn = quat_from_rotation_vector(Vec3::new(within(6.0), within(6.0), within(6.0)));
        let place = Vec3::new(within(spread), within(spread), within(spread) * 0.5 + 0.2);
        let geometry = match i % 6 {
            0 => Geometry::Box { size: Vec3::new(0.4, 0.3, 0.2) },
            1 => Geometry::Sphere { radius: 0.2 },
            2 => Geometry::Capsule { radius: 0.1, length: 0.4 },
            3 => Geometry::Cylinder { radius: 0.2, length: 0.3 },
            4 => Geometry::Ellipsoid { radii: Vec3::new(0.3, 0.2, 0.1) },
            _ => Geometry::Box { size: Vec3::splat(0.25) },
        };
        models.push(thing(&format!("thing{i}"), Transform::new(turn, place), geometry));
    }
    compiled(models)
}

/// Every pair asked, one after the other.
fn by_brute_force(model: &Model, margin: f64) -> Vec<(usize, usize)> {
    let form = |i: usize| {
        let shape = &model.bodies[i].shapes[0];
        Form::parts(&shape.geometry, i == 0).expect("a form").remove(0).1
    };
    let poses = poses(model);
    let n = model.bodies.len();
    let all = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    all.filter(|&(i, j)| !touching((&form(i), &poses[i]), (&form(j), &poses[j]), margin).is_empty())
        .collect()
}

#[test]
fn nothing_near_is_overlooked() {
    let mut n_found = 0;
    for seed in 0..6 {
        let model = heap(60, 2.0, seed);
        let scene = Scene::of(&model, &Movers::forces());
        for margin in [0.0, 0.01] {
            let mut detector = Detector::new(&scene);
            let found = pairs(detector.detect(&scene, &poses(&model), margin));
            assert_eq!(found, by_brute_force(&model, margin), "seed {seed}, margin {margin}");
            n_found += found.len();
        }
    }
    assert!(n_found > 300, "the heaps touched only {n_found} times");
}

/// A detector that has seen a hundred other steps answers as a fresh one does, to the bit.
#[test]
fn history_changes_no_byte() {
    let model = heap(40, 1.5, 7);
    let scene = Scene::of(&model, &Movers::forces());
    let mut worn = Detector::new(&scene);
    let mut poses = poses(&model);
    for step in 0..100 {
        for (i, pose) in poses.iter_mut().enumerate().skip(1) {
            let way = if (i + step / 30) % 2 == 0 { 1.0 } else { -1.0 };
            let turn = quat_from_rotation_vector(Vec3::new(0.003, -0.02, 0.01) * way);
            *pose = Transform::new(
                (turn * pose.rotation).normalize(),
                pose.translation + Vec3::new(0.004, 0.002, -0.003) * way,
            );
        }
        let fresh = Detector::new(&scene).detect(&scene, &poses, 0.005).to_vec();
        assert!(!fresh.is_empty());
        assert_eq!(worn.detect(&scene, &poses, 0.005), &fresh[..], "step {step}");
    }
}

/// A robot of twelve links, folded up at random, that may touch itself.
fn folded(seed: u64) -> Robot {
    let mut dice = Seed::new(seed).child("folded").rng();
    let mut within =
        move |span: f64| (f64::from(dice.next_u32()) / f64::from(u32::MAX) - 0.5) * span;
    let mut links = Vec::new();
    for i in 0..12 {
        let geometry = match i % 4 {
            0 => Geometry::Capsule { radius: 0.06, length: 0.3 },
            1 => Geometry::Sphere { radius: 0.08 },
            2 => Geometry::Box { size: Vec3::new(0.2, 0.1, 0.15) },
            _ => Geometry::Capsule { radius: 0.05, length: 0.2 },
        };
        let turn = quat_from_rotation_vector(Vec3::new(within(6.0), within(6.0), within(6.0)));
        let place = Vec3::new(within(1.2), within(1.2), within(1.2) + 2.0);
        links.push(link(&format!("link{i}"), Transform::new(turn, place), geometry));
    }
    let hinge = |i: usize| Joint {
        name: format!("hinge{i}"),
        parent: Some(format!("link{}", i - 1)),
        child: format!("link{i}"),
        child_from_joint: Transform::IDENTITY,
        kind: JointKind::Continuous(Axis::along(Vec3::Y)),
        opaque: vec![],
    };
    let joints = (1..12).map(hinge).collect();
    Robot { name: "folded".into(), links, joints, self_collide: true, ..Robot::default() }
}

/// What is known to be apart within a robot is passed over, and nothing comes of it: small steps,
/// jumps, quaternions of the other sign, margins that come and go, links that leave the finite and
/// come back, long ways, and several questions in one step.
#[test]
fn what_is_known_to_be_apart_changes_no_byte() {
    let (mut n_points, mut n_passed) = (0, 0);
    for seed in 0..6 {
        let model = compiled(vec![ground(), folded(seed)]);
        let scene = Scene::of(&model, &Movers::forces());
        let mut worn = Detector::new(&scene);
        let mut dice = Seed::new(seed).child("ways").rng();
        let mut within =
            move |span: f64| (f64::from(dice.next_u32()) / f64::from(u32::MAX) - 0.5) * span;
        let mut poses = poses(&model);
        for step in 0..400 {
            let span = if step % 97 == 96 { 0.8 } else { 0.02 };
            for (i, pose) in poses.iter_mut().enumerate().skip(1) {
                let turn = quat_from_rotation_vector(Vec3::new(within(span), 0.0, within(span)));
                let moved = Vec3::new(within(span), within(span), within(span));
                let mut rotation = (turn * pose.rotation).normalize();
                if (step + i) % 50 == 0 {
                    rotation = -rotation;
                }
                *pose = Transform::new(rotation, pose.translation + moved);
            }
            let mut seen = poses.clone();
            if step % 41 > 38 {
                seen[4].translation.x = f64::NAN;
            }
            if step == 200 {
                seen.iter_mut().skip(1).for_each(|pose| pose.translation.x += 500.0);
            }
            for margin in [[0.0, 0.02, 0.005][step % 3], 0.01] {
                let mut new = Detector::new(&scene);
                let fresh = new.detect(&scene, &seen, margin).to_vec();
                assert_eq!(worn.detect(&scene, &seen, margin), &fresh[..], "{seed}, step {step}");
                n_points += fresh.len();
                n_passed += new.n_inner_asked() - worn.n_inner_asked();
            }
        }
    }
    println!("{n_points} points; {n_passed} pairs were passed over");
    assert!(n_points > 1000 && n_passed > 10_000, "{n_points} points, {n_passed} passed over");
}

/// Each of the world's words about pairs of links takes away, or puts on, what it says and no more.
#[test]
fn the_world_says_pair_by_pair_who_touches() {
    let cube = || Geometry::Box { size: Vec3::splat(0.2) };
    let robot = |name: &str, x: f64, self_collide: bool| {
        let links = vec![
            link("foot", at(x, 0.0, 0.099), cube()),
            link("knee", at(x, 0.0, 0.29), cube()),
            link("hip", at(x + 0.1, 0.0, 0.25), cube()),
        ];
        let hinge = |name: &str, parent: &str, child: &str| Joint {
            name: name.into(),
            parent: Some(parent.into()),
            child: child.into(),
            child_from_joint: Transform::IDENTITY,
            kind: JointKind::Continuous(Axis::along(Vec3::Y)),
            opaque: vec![],
        };
        let joints = vec![hinge("ankle", "foot", "knee"), hinge("thigh", "knee", "hip")];
        Robot { name: name.into(), links, joints, self_collide, ..Robot::default() }
    };
    let find = |change: &dyn Fn(&mut World)| {
        let models = vec![ground(), robot("one", 0.0, true), robot("two", 0.29, false)];
        let mut world = World { models, ..World::default() };
        change(&mut world);
        let model = Model::compile(&Arc::new(world)).expect("a model");
        let scene = Scene::of(&model, &Movers::forces());
        pairs(Detector::new(&scene).detect(&scene, &poses(&model), 0.0))
    };
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
    // Bodies: 0 floor, 1 to 3 robot one, 4 to 6 robot two. Neighbours on a joint do not touch;
    // within robot one the foot and the hip do, within robot two nothing does.
    let all = [(0, 1), (0, 4), (1, 3), (3, 4), (3, 5)];
    assert_eq!(find(&|_| {}), all);
    let without = find(&|world| world.models[1].contact_excludes.push(pair("hip", "foot")));
    assert_eq!(without, [(0, 1), (0, 4), (3, 4), (3, 5)]);
    let set = names(&["foot", "knee", "hip"]);
    let without = find(&|world| world.models[1].contact_sets.push(set.clone()));
    assert_eq!(without, [(0, 1), (0, 4), (3, 4), (3, 5)]);
    let set = names(&["one::hip", "two::foot", "two::knee"]);
    let without = find(&|world| world.contact_sets.push(set.clone()));
    assert_eq!(without, [(0, 1), (0, 4), (1, 3)]);
    let feet = Touches::Links(names(&["foot"]));
    let without = find(&|world| world.models[1].touches = feet.clone());
    assert_eq!(without, [(0, 1), (0, 4)]);
    let nobody = |world: &mut World| {
        world.models[..2].iter_mut().for_each(|model| model.touches = Touches::None);
    };
    assert_eq!(find(&nobody), []);
    // Switched on: two neighbours, and two of a robot that does not collide with itself.
    let neighbours = find(&|world| world.models[1].contact_pairs.push(pair("knee", "foot")));
    assert_eq!(neighbours, [(0, 1), (0, 4), (1, 2), (1, 3), (3, 4), (3, 5)]);
    let own = |world: &mut World| world.models[2].contact_pairs.push(pair("foot", "hip"));
    assert_eq!(find(&own), [(0, 1), (0, 4), (1, 3), (3, 4), (3, 5), (4, 6)]);
    // What takes no part in contacts is not brought back by a pair.
    let without = find(&|world| {
        own(world);
        world.models[2].touches = feet.clone();
    });
    assert_eq!(without, [(0, 1), (0, 4), (1, 3), (3, 4)]);
}

#[test]
fn masks_and_what_nobody_moves_are_left_alone() {
    let mut models =
        vec![ground(), thing("box", at(0.0, 0.0, 0.0), Geometry::Sphere { radius: 0.3 })];
    models[0].links[0].collisions[0].surface.collide_bitmask = Some(0b01);
    models[1].links[0].collisions[0].surface.collide_bitmask = Some(0b10);
    let model = compiled(models.clone());
    let scene = Scene::of(&model, &Movers::forces());
    assert!(Detector::new(&scene).detect(&scene, &poses(&model), 0.0).is_empty());
    models[1].links[0].collisions[0].surface.collide_bitmask = Some(0b11);
    let model = compiled(models.clone());
    let scene = Scene::of(&model, &Movers::forces());
    assert_eq!(Detector::new(&scene).detect(&scene, &poses(&model), 0.0).len(), 1);
    models[1].is_static = true;
    let model = compiled(models);
    let scene = Scene::of(&model, &Movers::forces());
    assert!(Detector::new(&scene).detect(&scene, &poses(&model), 0.0).is_empty());
}

/// Balls in one heap, with random masks: those touch of which one collides with a category of the
/// other, and a ball without a category is of those that it collides with.
#[test]
fn masks_meet_one_way_or_the_other() {
    let mut dice = Seed::new(24).rng();
    for _ in 0..100 {
        let mut mask = || (!dice.next_u32().is_multiple_of(4)).then(|| dice.next_u32() % 8);
        let masks: Vec<_> = (0..8).map(|_| (mask(), mask())).collect();
        let ball = |(i, &(category_bitmask, collide_bitmask)): (usize, &(_, _))| {
            let place = at(0.01 * i as f64, 0.0, 1.0);
            let mut ball = thing(&format!("ball{i}"), place, Geometry::Sphere { radius: 0.3 });
            let surface = &mut ball.links[0].collisions[0].surface;
            (surface.category_bitmask, surface.collide_bitmask) =
                (category_bitmask, collide_bitmask);
            ball
        };
        let model = compiled(masks.iter().enumerate().map(ball).collect());
        let scene = Scene::of(&model, &Movers::forces());
        let found = pairs(Detector::new(&scene).detect(&scene, &poses(&model), 0.0));
        let both = |(category, collide): (Option<u32>, Option<u32>)| {
            let collide = collide.unwrap_or(0xffff);
            (category.unwrap_or(collide), collide)
        };
        let meet = |&(i, j): &(usize, usize)| {
            let (a, b) = (both(masks[i]), both(masks[j]));
            (a.0 & b.1) | (b.0 & a.1) != 0
        };
        let all = (0..8).flat_map(|i| (i + 1..8).map(move |j| (i, j)));
        assert_eq!(found, all.filter(meet).collect::<Vec<_>>(), "{masks:?}");
    }
}

/// As robots of Gym are written: they touch the floor, not themselves and not each other.
#[test]
fn a_robot_without_affinity_touches_the_floor_alone() {
    let robot = |name: &str, x: f64| {
        format!(
            "<body name='{name}' pos='{x} 0 0.2'><freejoint/><geom size='0.25'/>\
             <body name='{name}_hip' pos='0.2 0 0'><joint axis='0 0 1'/><geom size='0.1'/>\
             <body name='{name}_foot' pos='-0.2 0 0'><joint axis='0 1 0'/><geom size='0.25'/>\
             </body></body></body>"
        )
    };
    let touches = |defaults: &str| {
        let text = format!(
            "<mujoco><default><geom {defaults}/></default><worldbody>\
             <geom name='floor' type='plane' size='5 5 1' contype='1' conaffinity='1'/>{}{}\
             </worldbody></mujoco>",
            robot("ant", 0.0),
            robot("bug", 0.1)
        );
        let source = Source::new("ants.xml", text);
        let read = headland_world::read_text(source, Path::new("."), &ReadOptions::default());
        let read = read.unwrap_or_else(|findings| panic!("{findings:?}"));
        let notes: Vec<&str> = read.findings.iter().map(|note| note.code).collect();
        let model = Model::compile(&Arc::new(read.world)).expect("a model");
        let scene = Scene::of(&model, &Movers::forces());
        let found = pairs(Detector::new(&scene).detect(&scene, &poses(&model), 0.0));
        (found, notes.contains(&"contact-masks"))
    };
    assert_eq!(touches("conaffinity='0'"), (vec![(0, 1), (0, 3), (0, 4), (0, 6)], false));
    let (all, _) = touches("");
    assert!(all.contains(&(1, 3)) && all.contains(&(1, 4)), "{all:?}");
}

#[test]
fn a_pose_that_is_not_a_number_touches_nothing_and_spoils_nothing() {
    let model = heap(20, 0.8, 3);
    let scene = Scene::of(&model, &Movers::forces());
    let whole = Detector::new(&scene).detect(&scene, &poses(&model), 0.0).to_vec();
    let mut broken = poses(&model);
    broken[5].translation.y = f64::NAN;
    broken[9].rotation.w = f64::INFINITY;
    let found = Detector::new(&scene).detect(&scene, &broken, 0.0).to_vec();
    let wanted: Vec<ContactPoint> = whole
        .into_iter()
        .filter(|point| ![5, 9].iter().any(|i| point.body_a == *i || point.body_b == *i))
        .collect();
    assert!(!wanted.is_empty());
    assert_eq!(found, wanted);
}

/// How the number of pairs looked at closely grows: with what is near, not with the square of
/// what is there.
#[test]
fn pairs_looked_at_grow_with_what_is_near() {
    for n in [10, 30, 100, 300, 1000] {
        let spread = 0.8 * headland_base::maths::cbrt(n as f64);
        let model = heap(n, spread, 1);
        let scene = Scene::of(&model, &Movers::forces());
        let mut detector = Detector::new(&scene);
        let n_points = detector.detect(&scene, &poses(&model), 0.0).len();
        println!("{n} bodies: {} pairs, {n_points} points", detector.n_pairs());
        assert!(detector.n_pairs() < 6 * n + 20, "{} pairs of {n} bodies", detector.n_pairs());
    }
}
