//! Renderers: depth is that of rays, every number of threads gives the same bytes, and there is
//! no view that breaks them.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Dice, scene, visual, world};
use headland_base::maths::{PI, Vec2, sqrt};
use headland_base::{Transform, Vec3};
use headland_sense::camera::{Pinhole, View};
use headland_sense::render::{Flat, Frame, NO_ITEM, RENDERERS, Raster, Renderer, Wants};
use headland_sense::scene::{Ray, Scene, Show};
use headland_world::{Geometry, Link, Material, Model, Opaque, World};

/// The renderers that this build and this machine have.
fn here() -> Vec<(&'static str, impl Fn(usize) -> Box<dyn Renderer>)> {
    let here = RENDERERS.iter().filter(|(_, _, make)| make(1).is_ok());
    here.map(|(name, _, make)| (*name, move |n: usize| make(n).unwrap())).collect()
}

fn by_rays(scene: &Scene, view: &View) -> (Vec<f64>, Vec<u32>) {
    let (mut depth, mut ids) = (Vec::new(), Vec::new());
    for v in 0..view.pinhole.height {
        for u in 0..view.pinhole.width {
            let ray = Ray {
                origin: view.world_from_optical.translation,
                direction: view.direction(Vec2::new(u as f64, v as f64)),
                min: view.near,
                max: view.far,
            };
            let hit = scene.cast(&ray);
            depth.push(hit.map_or(f64::INFINITY, |hit| hit.distance));
            ids.push(hit.map_or(NO_ITEM, |hit| hit.item_idx as u32));
        }
    }
    (depth, ids)
}

fn view_of(dice: &mut Dice, i: usize) -> View {
    let mut pinhole = Pinhole::from_fov(160, 120, dice.within(0.4, 2.0));
    pinhole.focal.y *= dice.within(0.9, 1.1);
    pinhole.skew = if i.is_multiple_of(2) { 0.0 } else { 0.01 };
    pinhole.centre += Vec2::new(dice.within(-9.0, 9.0), dice.within(-9.0, 9.0));
    let eye = dice.direction() * dice.within(0.5, 5.0);
    let mut view = View::look_at(pinhole, eye, dice.vector(0.5));
    view.near = dice.within(0.05, 0.5);
    view.far = dice.within(5.0, 8.0);
    view
}

/// As many metres: the last at which single precision, which depths are written in, rounds by less
/// than a micrometre.
const FURTHEST: f64 = 32.0;

/// 60 cameras by chance among 40 things of every form, some inside of them, cut off near and
/// far: every pixel's depth is the ray's to a micrometre, and so is the item.
#[test]
fn depth_is_that_of_rays_at_every_pixel() {
    let mut dice = Dice(7);
    let (mut worst, mut n_seen, mut n_far) = (0.0f64, 0, 0);
    for i in 0..60 {
        // Every third of them in a wide place.
        let scale = if i % 3 == 0 { 4.0 } else { 1.0 };
        let world = world(&mut dice, 40, 2.0 * scale);
        let scene = scene(&world);
        let mut view = view_of(&mut dice, i);
        view.world_from_optical.translation *= scale;
        view.far = (view.far * scale).min(FURTHEST);
        let wants = Wants { colour: false, depth: true, ids: true };
        let frame = Flat::new(2).render(&scene, &view, wants);
        let (depth, ids) = by_rays(&scene, &view);
        for (at, (wanted, got)) in depth.iter().zip(&frame.depth).enumerate() {
            let off = if wanted.is_infinite() && got.is_infinite() {
                0.0
            } else {
                (wanted - f64::from(*got)).abs()
            };
            assert!(off <= 1e-6, "scene {i}, pixel {} {}: {wanted} {got}", at % 160, at / 160);
            worst = worst.max(off);
            n_seen += usize::from(got.is_finite());
            n_far += usize::from(got.is_finite() && *got > 16.0);
        }
        assert_eq!(ids, frame.ids, "scene {i}");
        assert!(frame.rgb.is_empty());
    }
    eprintln!("{n_seen} pixels, {n_far} beyond 16 m, worst {worst:.1e} m");
    assert!(n_seen > 200_000 && n_far > 2_000, "{n_seen} {n_far}");
}

/// The same of an endless plane up to the horizon and of surfaces that coincide.
#[test]
fn planes_without_end_and_ties_are_those_of_rays() {
    let plane = |z: f64| {
        let geometry = Geometry::Plane { normal: Vec3::Z, size: Vec2::ONE };
        headland_world::Collision {
            name: format!("plane {z}"),
            link_from_shape: Transform::from_translation(Vec3::new(0.0, 0.0, z)),
            geometry,
            surface: Default::default(),
        }
    };
    let link = Link {
        name: "link".to_string(),
        collisions: vec![plane(0.0), plane(-1e-7), plane(0.0)],
        ..Link::default()
    };
    let model = Model { name: "ground".to_string(), links: vec![link], ..Model::default() };
    let scene = Scene::of(&World { models: vec![model], ..World::default() }, Show::Collisions);
    let pinhole = Pinhole::from_fov(80, 60, 1.2);
    let mut view = View::look_at(pinhole, Vec3::new(0.0, 0.0, 1.0), Vec3::new(9.0, 1.0, 0.5));
    view.far = 12.0;
    let frame = Flat::new(1).render(&scene, &view, Wants::ALL);
    let (depth, _) = by_rays(&scene, &view);
    let off = |(a, b): (&f64, &f32)| if a.is_infinite() { 0.0 } else { (a - f64::from(*b)).abs() };
    assert!(depth.iter().zip(&frame.depth).map(off).fold(0.0, f64::max) < 1e-6);
    let n_seen = frame.depth.iter().filter(|d| d.is_finite()).count();
    assert!(n_seen > 1000 && n_seen < 4000, "{n_seen}");
}

#[test]
fn every_number_of_threads_gives_the_same_bytes() {
    let mut dice = Dice(8);
    let world = world(&mut dice, 60, 2.0);
    let scene = scene(&world);
    let view = view_of(&mut dice, 0);
    for (name, make) in here() {
        let alone = make(1).render(&scene, &view, Wants::ALL);
        for n_threads in [2, 3, 16] {
            assert!(make(n_threads).render(&scene, &view, Wants::ALL) == alone, "{name}");
        }
        // What was drawn before changes nothing.
        let mut used = make(1);
        used.render(&scene, &view_of(&mut dice, 1), Wants::COLOUR);
        assert!(used.render(&scene, &view, Wants::ALL) == alone, "{name}");
    }
}

fn thing(name: &str, at: Vec3, geometry: Geometry, rgb: [f64; 3], transparency: f64) -> Model {
    let mut shape = visual("shape", Transform::IDENTITY, geometry);
    let colour = Some([rgb[0], rgb[1], rgb[2], 1.0]);
    shape.material = Material { diffuse: colour, ..Material::default() };
    shape.transparency = transparency;
    let link = Link { name: "link".to_string(), visuals: vec![shape], ..Link::default() };
    Model {
        name: name.to_string(),
        parent_from_model: Transform::from_translation(at),
        links: vec![link],
        ..Model::default()
    }
}

fn ball_on_ground() -> World {
    let plane = Geometry::Plane { normal: Vec3::Z, size: Vec2::splat(20.0) };
    let ball = Geometry::Sphere { radius: 0.5 };
    World {
        models: vec![
            thing("ground", Vec3::ZERO, plane, [0.5, 0.5, 0.5], 0.0),
            thing("ball", Vec3::new(0.0, 0.0, 0.5), ball, [0.9, 0.1, 0.1], 0.0),
        ],
        ..World::default()
    }
}

fn from_above(scene: &Scene) -> Frame {
    let pinhole = Pinhole::from_fov(400, 400, 0.8);
    let view = View::look_at(pinhole, Vec3::new(0.0, 0.0, 8.0), Vec3::ZERO);
    Raster::new(1).render(scene, &view, Wants::COLOUR)
}

/// A place on the ground is in the shadow where the sun's ray through it passes through the ball,
/// and in the sun where it does not; the rim is soft within 3 cm.
#[test]
fn a_shadow_is_where_the_sun_throws_it() {
    let scene = scene(&ball_on_ground());
    let light = headland_sense::render::Daylight::of(&scene);
    let image = from_above(&scene).into_image();
    let grey = |u: usize, v: usize| f64::from(image.pixel(u, v)[1]);
    let is_red = |u: usize, v: usize| image.pixel(u, v)[0] > image.pixel(u, v)[1];
    let bright = grey(2, 2);
    let view =
        View::look_at(Pinhole::from_fov(400, 400, 0.8), Vec3::new(0.0, 0.0, 8.0), Vec3::ZERO);
    let d = light.direction;
    let (mut inside, mut outside) = (0, 0);
    for v in 0..400 {
        for u in 0..400 {
            if is_red(u, v) {
                continue;
            }
            let ray = view.direction(Vec2::new(u as f64, v as f64));
            let point = view.world_from_optical.translation + ray * 8.0;
            // How far the sun's ray through the point passes from the ball's middle.
            let from = point - Vec3::new(0.0, 0.0, 0.5);
            let miss = from.cross(d).length();
            let share = grey(u, v) / bright;
            if miss < 0.47 {
                assert!(share < 0.75, "{u} {v}: {share}");
                inside += 1;
            } else if miss > 0.53 {
                assert!(share > 0.99, "{u} {v}: {share}");
                outside += 1;
            }
        }
    }
    assert!(inside > 500 && outside > 100_000, "{inside} {outside}");
}

/// Half of what is behind is seen through what is half transparent, and depth looks through.
#[test]
fn what_is_transparent_lets_colours_through() {
    let sheet = |z: f64, rgb, transparency| {
        let geometry = Geometry::Box { size: Vec3::new(4.0, 4.0, 0.1) };
        thing(&format!("sheet{z}"), Vec3::new(0.0, 0.0, z), geometry, rgb, transparency)
    };
    let models = |transparency| {
        vec![sheet(0.0, [1.0, 0.0, 0.0], 0.0), sheet(1.0, [0.0, 0.0, 1.0], transparency)]
    };
    let frame = |transparency| {
        let world = World { models: models(transparency), ..World::default() };
        let view = View::look_at(
            Pinhole::from_fov(9, 9, 0.1),
            Vec3::new(0.2, 0.1, 8.0),
            Vec3::new(0.2, 0.1, 0.0),
        );
        Raster::new(1).render(&scene(&world), &view, Wants::ALL)
    };
    let pixel = |frame: &Frame| [frame.rgb[120], frame.rgb[121], frame.rgb[122]].map(f64::from);
    let (shut, half, open) = (frame(0.0), frame(0.6), frame(1.0));
    assert!(pixel(&shut)[2] > 100.0 && pixel(&open)[0] > 100.0);
    for c in 0..3 {
        let wanted = 0.4 * pixel(&shut)[c] + 0.6 * pixel(&open)[c];
        // The half opaque sheet throws no shadow; the shut one has none to throw on itself.
        assert!((pixel(&half)[c] - wanted).abs() < 2.0, "{:?} {wanted}", pixel(&half));
    }
    assert!((shut.depth[40] - 6.95).abs() < 1e-6 && (half.depth[40] - 7.95).abs() < 1e-6);
    assert_eq!((shut.ids[40], half.ids[40]), (1, 0));
}

/// The border of a ball is mixed: the sum of the shares that it has of pixels is the area of its
/// outline, a circle of f·r/√(d² − r²) pixels about the axis.
#[test]
fn edges_are_smooth() {
    // It shines evenly by itself, before a black sky.
    let mut ball = ball_on_ground().models.remove(1);
    let material = &mut ball.links[0].visuals[0].material;
    (material.diffuse, material.emissive) = (Some([0.0, 0.0, 0.0, 1.0]), Some([1.0; 4]));
    let xml = "<scene><background>0 0 0</background></scene>".to_string();
    let sky = Opaque { format: "sdf", kind: "scene".to_string(), name: None, xml };
    let world = World { models: vec![ball], opaque: vec![sky], ..World::default() };
    let pinhole = Pinhole::from_fov(64, 64, 0.4);
    let view = View::look_at(pinhole, Vec3::new(0.0, -5.0, 0.5), Vec3::new(0.0, 0.0, 0.5));
    let frame = Raster::new(1).render(&scene(&world), &view, Wants::COLOUR);
    let shares = frame.rgb.iter().step_by(3).map(|red| f64::from(*red) / 255.0);
    let radius = pinhole.focal.x * 0.5 / sqrt(25.0 - 0.25);
    // A share has steps of a quarter. On about 8 r pixels of the border it is therefore wrong by
    // 1/4/√12 each; three times as much in all. Of hard edges it would be four times as much.
    let wrong = 0.25 * sqrt(8.0 * radius / 12.0);
    let (area, wanted) = (shares.sum::<f64>(), PI * radius * radius);
    assert!((area - wanted).abs() < 3.0 * wrong, "{area} {wanted}");
    let n_mixed = frame.rgb.iter().step_by(3).filter(|red| (1..255).contains(*red)).count();
    assert!((n_mixed as f64) > 4.0 * radius, "{n_mixed}: at least half of the border is mixed");
}

#[test]
fn no_view_breaks_a_renderer() {
    let mut dice = Dice(9);
    let world = world(&mut dice, 30, 1.0);
    let scene = scene(&world);
    let empty = Scene::of(&World::default(), Show::Everything);
    for (_, make) in here() {
        for (width, height) in [(0, 0), (0, 5), (5, 0), (1, 1), (65, 17), (3, 200)] {
            let pinhole = Pinhole::from_fov(width, height, 1.0);
            // In the middle of things, and on one of them.
            for eye in [Vec3::ZERO, scene.world_from_item(0).translation] {
                let view = View::look_at(pinhole, eye, Vec3::new(1.0, 0.2, 0.1));
                let frame = make(2).render(&scene, &view, Wants::ALL);
                assert_eq!(frame.rgb.len(), width * height * 3);
                assert_eq!(frame.depth.len(), width * height);
                let frame = make(2).render(&empty, &view, Wants::ALL);
                assert!(frame.depth.iter().all(|depth| depth.is_infinite()));
            }
        }
    }
    // Straight down, and at nothing.
    for at in [Vec3::new(0.0, 0.0, -1.0), Vec3::ZERO] {
        let view = View::look_at(Pinhole::from_fov(8, 8, 1.0), Vec3::ZERO, at);
        assert!(view.world_from_optical.is_finite());
    }
}
