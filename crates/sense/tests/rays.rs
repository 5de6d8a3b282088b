//! Rays against closed forms, against every item one by one, and against holes.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Dice, ball_mesh, form, mesh, scene, visual, world};
use headland_base::{Transform, Vec3};
use headland_sense::scene::{Hit, Planes, Ray, Scene, Solid};
use headland_world::{Geometry, Link, Model, TriMesh, World};

fn solid(geometry: &Geometry) -> Solid {
    Solid::of(geometry, Planes::Drawn).unwrap()
}

fn along(geometry: &Geometry, origin: [f64; 3], direction: [f64; 3]) -> Option<(f64, Vec3)> {
    solid(geometry).cast(&Ray::new(Vec3::from_array(origin), Vec3::from_array(direction)))
}

#[test]
fn distances_and_normals_are_those_of_the_closed_forms() {
    let close = |hit: Option<(f64, Vec3)>, distance: f64, normal: [f64; 3]| {
        let (d, n) = hit.expect("a hit");
        assert!((d - distance).abs() < 1e-12, "{d} {distance}");
        assert!((n - Vec3::from_array(normal)).length() < 1e-12, "{n}");
    };
    let ball = Geometry::Sphere { radius: 0.5 };
    close(along(&ball, [-2.0, 0.0, 0.0], [1.0, 0.0, 0.0]), 1.5, [-1.0, 0.0, 0.0]);
    // A chord at 0.3 from the middle: √(0.5² − 0.3²) = 0.4.
    close(along(&ball, [-2.0, 0.3, 0.0], [2.0, 0.0, 0.0]), 0.8, [-0.8, 0.6, 0.0]);
    assert_eq!(along(&ball, [-2.0, 0.6, 0.0], [1.0, 0.0, 0.0]), None);

    let tube = Geometry::Cylinder { radius: 0.5, length: 2.0 };
    close(along(&tube, [-2.0, 0.0, 0.9], [1.0, 0.0, 0.0]), 1.5, [-1.0, 0.0, 0.0]);
    assert_eq!(along(&tube, [-2.0, 0.0, 1.1], [1.0, 0.0, 0.0]), None);
    close(along(&tube, [0.3, 0.2, 3.0], [0.0, 0.0, -1.0]), 2.0, [0.0, 0.0, 1.0]);
    close(along(&tube, [0.3, 0.2, -3.0], [0.0, 0.0, 1.0]), 2.0, [0.0, 0.0, -1.0]);

    let capsule = Geometry::Capsule { radius: 0.5, length: 1.0 };
    close(along(&capsule, [0.0, 0.0, 3.0], [0.0, 0.0, -1.0]), 2.0, [0.0, 0.0, 1.0]);
    close(along(&capsule, [-2.0, 0.0, 0.8], [1.0, 0.0, 0.0]), 1.6, [-0.8, 0.0, 0.6]);

    let egg = Geometry::Ellipsoid { radii: Vec3::new(1.0, 2.0, 0.5) };
    close(along(&egg, [0.0, -5.0, 0.0], [0.0, 1.0, 0.0]), 3.0, [0.0, -1.0, 0.0]);

    // Half way up, a cone is half as wide; its normal leans by its slope.
    let cone = Geometry::Cone { radius: 0.5, length: 1.0 };
    let lean = 1.0 / 1.25f64.sqrt();
    close(along(&cone, [-2.0, 0.0, 0.0], [1.0, 0.0, 0.0]), 1.75, [-lean, 0.0, 0.5 * lean]);
    // From above its tip, inside of the cone that is not there.
    close(along(&cone, [0.0, 0.1, 5.0], [0.0, 0.0, -1.0]), 4.7, [0.0, lean, 0.5 * lean]);
    close(along(&cone, [0.1, 0.1, -2.0], [0.0, 0.0, 1.0]), 1.5, [0.0, 0.0, -1.0]);

    let crate_ = Geometry::Box { size: Vec3::new(2.0, 1.0, 4.0) };
    close(along(&crate_, [-3.0, 0.2, 1.0], [1.0, 0.0, 0.0]), 2.0, [-1.0, 0.0, 0.0]);
    close(along(&crate_, [0.2, 0.2, 9.0], [0.0, 0.0, -1.0]), 7.0, [0.0, 0.0, 1.0]);

    let sheet =
        Geometry::Plane { normal: Vec3::Z, size: headland_base::maths::Vec2::new(4.0, 2.0) };
    close(along(&sheet, [1.9, 0.9, 2.0], [0.0, 0.0, -1.0]), 2.0, [0.0, 0.0, 1.0]);
    close(along(&sheet, [1.9, 0.9, -2.0], [0.0, 0.0, 1.0]), 2.0, [0.0, 0.0, -1.0]);
    assert_eq!(along(&sheet, [1.9, 1.1, 2.0], [0.0, 0.0, -1.0]), None);
    let endless = Solid::of(&sheet, Planes::Endless).unwrap();
    let ray = Ray::new(Vec3::new(0.0, 0.0, 1.0), Vec3::new(1.0, 0.0, -1e-3));
    assert!((endless.cast(&ray).unwrap().0 - 1000.0).abs() < 1e-9);
}

/// What is inside of a closed body looks out of it.
#[test]
fn a_closed_body_is_not_met_from_inside() {
    let mut dice = Dice(5);
    for kind in (0..10).filter(|kind| ![6, 8, 9].contains(kind)) {
        let geometry = form(kind, &mut dice);
        for _ in 0..50 {
            let ray = Ray::new(Vec3::new(0.01, 0.005, 0.01), dice.direction());
            assert_eq!(solid(&geometry).cast(&ray), None, "{}", geometry.kind());
        }
    }
}

fn one_by_one(scene: &Scene, ray: &Ray) -> Option<Hit> {
    (0..scene.items().len())
        .filter_map(|i| scene.cast_where(ray, |other| other == i))
        .min_by(|a, b| a.distance.total_cmp(&b.distance))
}

/// The tree finds what asking every item one by one finds, before and after everything moved.
#[test]
fn the_tree_misses_nothing_and_is_refitted() {
    let mut dice = Dice(1);
    let world = world(&mut dice, 200, 4.0);
    let mut scene = scene(&world);
    let mut n_hits = 0;
    for round in 0..3 {
        for _ in 0..1000 {
            let ray = Ray { max: 6.0, ..Ray::new(dice.vector(5.0), dice.direction()) };
            let hit = scene.cast(&ray);
            let wanted = one_by_one(&scene, &ray);
            let distance = |hit: Option<Hit>| hit.map(|hit| hit.distance);
            assert_eq!(distance(hit), distance(wanted), "round {round}");
            n_hits += usize::from(hit.is_some());
        }
        let poses: Vec<Transform> = scene.links().iter().map(|_| dice.pose(4.0)).collect();
        scene.place(&poses);
    }
    assert!(n_hits > 500, "{n_hits}");
}

/// A mesh of a ball is met where the ball is, within the flatness of its faces, and no ray that
/// passes well inside slips between its triangles; nor through the corners, aimed at exactly.
#[test]
fn no_ray_slips_between_triangles() {
    let (radius, n) = (0.8, 24);
    let ball = ball_mesh(radius, n);
    let corners = ball.vertices().to_vec();
    let triangles = ball.triangles().to_vec();
    let geometry = mesh(ball);
    let solid = solid(&geometry);
    let mut dice = Dice(2);
    let mut check = |target: Vec3| {
        let origin = dice.direction() * 3.0;
        let ray = Ray::new(origin, target - origin);
        let (distance, _) = solid.cast(&ray).expect("no hole");
        let off = (ray.origin + ray.direction * distance).length() / radius;
        assert!(off > 0.98 && off < 1.0 + 1e-9, "{off}");
    };
    let mut inside = Dice(3);
    for _ in 0..5000 {
        check(inside.vector(0.3));
    }
    // At corners and middles of edges that face the origin of the ray.
    for corner in &corners {
        let ray = Ray::new(
            *corner * 3.0 + Vec3::new(1e-3, 2e-3, 0.0),
            -(*corner * 2.0 + Vec3::new(1e-3, 2e-3, 0.0)),
        );
        assert!((solid.cast(&ray).expect("a corner").0 - 1.0).abs() < 1e-6);
    }
    for [a, b, _] in triangles {
        let middle = (corners[a as usize] + corners[b as usize]) * 0.5;
        let ray = Ray::new(middle * 2.5, -middle);
        assert!((solid.cast(&ray).expect("an edge").0 - 1.5).abs() < 1e-9);
    }
}

/// Inside out, a closed mesh is turned around; with a hole it is seen from both sides.
#[test]
fn closed_meshes_show_their_outside_and_open_ones_both_sides() {
    let ball = ball_mesh(1.0, 8);
    let mut turned: Vec<[u32; 3]> = ball.triangles().to_vec();
    turned.iter_mut().for_each(|t| t.swap(0, 1));
    let turned = mesh(TriMesh::new(ball.vertices().to_vec(), turned).unwrap());
    assert!(along(&turned, [3.0, 0.1, 0.05], [-1.0, 0.0, 0.0]).unwrap().0 < 2.2);
    assert!(along(&turned, [0.0, 0.1, 0.05], [-1.0, 0.0, 0.0]).is_none());
    let open = ball.triangles()[4..].to_vec();
    let open = mesh(TriMesh::new(ball.vertices().to_vec(), open).unwrap());
    assert!(along(&open, [0.0, 0.1, 0.05], [-1.0, 0.0, 0.0]).is_some());
}

#[test]
fn what_is_nowhere_is_not_met_and_comes_back() {
    let shape = visual("shape", Transform::IDENTITY, Geometry::Sphere { radius: 1.0 });
    let link = Link { name: "link".to_string(), visuals: vec![shape], ..Link::default() };
    let model = Model { name: "ball".to_string(), links: vec![link], ..Model::default() };
    let mut scene = scene(&World { models: vec![model], ..World::default() });
    let ray = Ray::new(Vec3::new(-3.0, 0.0, 0.0), Vec3::X);
    assert!(scene.cast(&ray).is_some());
    scene.place(&[Transform::from_translation(Vec3::new(f64::NAN, 0.0, 0.0))]);
    assert_eq!(scene.cast(&ray), None);
    scene.place(&[Transform::from_translation(Vec3::new(1.0, 0.0, 0.0))]);
    assert!((scene.cast(&ray).unwrap().distance - 3.0).abs() < 1e-12);
    assert_eq!(scene.items()[0].name, "ball::link::shape");
    let empty = Scene::of(&World::default(), headland_sense::scene::Show::Everything);
    assert_eq!(empty.cast(&ray), None);
}
