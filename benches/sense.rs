//! A camera of 640 × 480 over a soccer field with six humanoids, one core, against the software
//! renderers people have: MuJoCo's on Mesa and PyBullet's TinyRenderer, which draw the same shapes
//! from the same place in the same run.
//!
//! Targets: `raster` at 5 times MuJoCo's and TinyRenderer's frames, with shadows and without; a
//! lens adds at most 15 % to a frame; 271 beams among 1,000 objects at a million rays a second; sensors
//! that are switched off cost nothing.
//!
//! `HEADLAND_PYTHON` names an interpreter with the peers; `benches/run` sets it up. Seconds are
//! processor seconds, the least of some rounds.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use headland_base::maths::{PI, cos, sin};
use headland_base::{Seed, SimDuration, Transform, Vec3};
use headland_bench::drawn::{as_json, frames_of_peers};
use headland_bench::{best_of_thread, check_value, is_full};
use headland_engines::rapier;
use headland_sense::camera::{Pinhole, View};
use headland_sense::declare::{Declaration, declare};
use headland_sense::lens::{Lens, Table};
use headland_sense::render::{Daylight, Flat, Raster, Renderer, Wants};
use headland_sense::scene::{Ray, Scene, Show};
use headland_sim::{Cast, Look, Setup, Unobserved, run};
use headland_world::{Geometry, Link, Model, Opaque, Places, ReadOptions, Visual, World, read};

fn soccer() -> World {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../worlds/soccer-3v3.sdf");
    read(&path, &ReadOptions::default()).expect("a shipped world").world
}

/// The same world in a light that throws none.
fn without_shadows(world: &World) -> World {
    let mut world = world.clone();
    world.lights.iter_mut().for_each(|light| light.cast_shadows = false);
    assert!(!world.lights.is_empty(), "the sun of our own throws shadows");
    world
}

const EYE: Vec3 = Vec3::new(-1.0, -4.5, 2.2);
const AT: Vec3 = Vec3::new(0.0, 0.0, 0.2);
const FOV: f64 = 1.0;

fn frames() {
    let world = soccer();
    let mut scene = Scene::of(&world, Show::Visuals);
    let view = View::look_at(Pinhole::from_fov(640, 480, FOV), EYE, AT);
    let (n_frames, n_rounds) = if is_full() { (20, 5) } else { (1, 1) };
    let poses: Vec<Transform> = scene.world_from_link().to_vec();
    let mut unlit = scene.clone();
    let mut seconds = Vec::new();
    let mut pictures: Vec<u8> = Vec::new();
    let lens = Lens::Bouguet { k: [-0.28, 0.09, -0.012], p: [4e-4, -3e-4] };
    let table = Table::new(&view.pinhole, &lens).expect("a lens that shows something");
    {
        let (mut raster, mut flat, mut bent) = (Raster::new(1), Flat::new(1), Raster::new(1));
        let mut shadowless = Scene::of(&without_shadows(&world), Show::Visuals);
        let mut raster_without = Raster::new(1);
        let mut draw_shadowless = || {
            for _ in 0..n_frames {
                shadowless.place(&poses);
                black_box(raster_without.render(&shadowless, &view, Wants::COLOUR));
            }
        };
        let mut draw_raster = || {
            for _ in 0..n_frames {
                scene.place(&poses);
                pictures = black_box(raster.render(&scene, &view, Wants::COLOUR)).rgb;
            }
        };
        let mut other = unlit.clone();
        let mut draw_bent = || {
            for _ in 0..n_frames {
                other.place(&poses);
                black_box(table.render(&mut bent, &other, &view, Wants::COLOUR));
            }
        };
        let mut draw_flat = || {
            for _ in 0..n_frames {
                unlit.place(&poses);
                black_box(flat.render(&unlit, &view, Wants::COLOUR));
            }
        };
        // The first frame of each makes what the others find made.
        draw_raster();
        draw_shadowless();
        draw_flat();
        draw_bent();
        let spent = best_of_thread(
            n_rounds,
            &mut [&mut draw_raster, &mut draw_shadowless, &mut draw_flat, &mut draw_bent],
        );
        seconds.extend(spent.iter().map(|(_, cpu)| cpu / n_frames as f64));
    }
    println!(
        "640 x 480, {} shapes, one core; check {}",
        scene.items().len(),
        check_value(&pictures)
    );
    let mut rows = vec![
        ("headland raster shadows".to_string(), seconds[0]),
        ("headland raster no shadows".to_string(), seconds[1]),
        ("headland flat".to_string(), seconds[2]),
        ("headland raster shadows lens".to_string(), seconds[3]),
    ];
    let sun = Daylight::of(&scene).direction;
    rows.extend(frames_of_peers(&as_json(&world, &view, sun), n_frames, &["mujoco", "pybullet"]));
    println!("{:<30}{:>10}{:>12}{:>18}", "renderer", "ms/frame", "frames/s", "raster is faster");
    for (name, secs) in &rows {
        // Like with like.
        let times = secs / seconds[usize::from(name.ends_with("no shadows"))];
        println!("{name:<30}{:>10.2}{:>12.1}{times:>17.1}x", secs * 1e3, 1.0 / secs);
    }
    println!("the lens adds {:.0} % to a frame", (seconds[3] / seconds[0] - 1.0) * 100.0);
}

const N_THINGS: usize = 1000;
const N_BEAMS: usize = 271;

/// A thousand things around the origin, and a lidar among them of 271 beams over 270°, as of a
/// common scanner.
fn crowd(noise: &str) -> World {
    let thing = |i: usize| {
        // Spread by the golden angle, so that none is in another's place.
        let (radius, turn) = (0.5 * (i as f64 + 4.0).sqrt(), 2.399_963 * i as f64);
        let geometry = match i % 4 {
            0 => Geometry::Box { size: Vec3::new(0.2, 0.3, 1.0) },
            1 => Geometry::Sphere { radius: 0.2 },
            2 => Geometry::Cylinder { radius: 0.15, length: 1.0 },
            _ => Geometry::Capsule { radius: 0.1, length: 0.5 },
        };
        let shape = Visual {
            name: "shape".to_string(),
            link_from_shape: Transform::IDENTITY,
            geometry,
            material: headland_world::Material::default(),
            transparency: 0.0,
            cast_shadows: true,
        };
        let at = Vec3::new(radius * cos(turn), radius * sin(turn), 0.0);
        Model {
            name: format!("thing_{i}"),
            is_static: true,
            parent_from_model: Transform::from_xyz_rpy(at, Vec3::new(0.0, 0.0, turn)),
            links: vec![Link { name: "link".to_string(), visuals: vec![shape], ..Link::default() }],
            ..Model::default()
        }
    };
    let xml = format!(
        "<sensor name='lidar' type='gpu_lidar'><lidar><scan><horizontal><samples>{N_BEAMS}\
         </samples><min_angle>-2.356194</min_angle><max_angle>2.356194</max_angle></horizontal>\
         </scan><range><min>0.05</min><max>30</max></range>{noise}</lidar></sensor>"
    );
    let sensor =
        Opaque { format: "sdf", kind: "sensor".to_string(), name: Some("lidar".to_string()), xml };
    let base = Link { name: "base".to_string(), opaque: vec![sensor], ..Link::default() };
    let robot = Model { name: "robot".to_string(), links: vec![base], ..Model::default() };
    let models = std::iter::once(robot).chain((0..N_THINGS).map(thing)).collect();
    World { models, ..World::default() }
}

/// Rays alone, and the whole sensor: scene, beams, noise and the message in bytes.
fn beams() {
    let n_scans = if is_full() { 400 } else { 2 };
    let n_rounds = if is_full() { 5 } else { 1 };
    let per_second = |secs: f64| (N_BEAMS * n_scans) as f64 / secs * 1e-6;
    let at = |s: usize| Vec3::new(0.3 * sin(s as f64), 0.3 * cos(s as f64), 0.05);

    let world = crowd("");
    let mut scene = Scene::of(&world, Show::Visuals);
    let mut poses: Vec<Transform> = scene.world_from_link().to_vec();
    let mut sum = 0.0;
    let mut cast = || {
        for s in 0..n_scans {
            for beam in 0..N_BEAMS {
                let angle = (beam as f64 - 135.0) * PI / 180.0;
                let ray =
                    Ray { max: 30.0, ..Ray::new(at(s), Vec3::new(cos(angle), sin(angle), 0.0)) };
                sum += scene.cast(&ray).map_or(0.0, |hit| hit.distance);
            }
        }
    };
    cast();
    let rays = best_of_thread(n_rounds, &mut [&mut cast])[0].1;
    let refit = best_of_thread(
        3,
        &mut [&mut || {
            poses.iter_mut().for_each(|pose| pose.translation.z += 1e-9);
            scene.place(&poses);
        }],
    )[0]
    .1;
    println!(
        "a lidar of {N_BEAMS} beams among {N_THINGS} things, one core; check {}",
        check_value(&sum.to_le_bytes())
    );
    println!("  rays alone            {:>6.2} million a second", per_second(rays));
    println!("  moving all the things {:>6.0} µs", refit * 1e6);
    let noise = "<noise type='gaussian'><stddev>0.01</stddev></noise>";
    for (name, noise) in [("exact", ""), ("with noise", noise)] {
        let world = Arc::new(crowd(noise));
        let places = Places::default();
        let model = headland_sim::Model::compile_read(&world, &places).expect("a sound world");
        let (declared, _) = declare(&model, &places);
        let sensor = declared.into_iter().find_map(Declaration::into_sensor);
        let mut sensor = sensor.expect("a lidar");
        sensor.start(&model, &Seed::new(0));
        let mut state = headland_sim::State::initial(&model);
        let body = model.bodies.iter().find(|body| body.name == "robot::base").expect("a base");
        let mut bytes = Vec::new();
        let mut scan = || {
            for s in 0..n_scans {
                state.time += SimDuration::from_nanos(1_000_000);
                state.rigids[body.rigid_idx].world_from_rigid.translation = at(s);
                let look = Look { model: &model, state: &state, last_step: None, n_threads: 1 };
                sensor.sample(&look, &mut |_, cdr| bytes = cdr);
            }
        };
        // The first scan makes the scene.
        scan();
        let secs = best_of_thread(n_rounds, &mut [&mut scan])[0].1;
        let rate = per_second(secs);
        println!(
            "  scans, {name:<14} {rate:>6.2} million rays a second, {} bytes each",
            bytes.len()
        );
    }
}

/// Takes the sensors out of a world.
fn without_sensors(models: &mut [Model]) {
    for model in models {
        model.links.iter_mut().for_each(|link| link.opaque.retain(|kept| kept.kind != "sensor"));
        model.joints.iter_mut().for_each(|joint| joint.opaque.retain(|kept| kept.kind != "sensor"));
        without_sensors(&mut model.models);
    }
}

/// A run of a world with sensors that nobody asks for, against one of the world without them.
fn switched_off() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../worlds/sensors.sdf");
    let with = read(&path, &ReadOptions::default()).expect("a shipped world").world;
    let mut bare = with.clone();
    without_sensors(&mut bare.models);
    assert!(bare != with, "there are sensors in it");
    let secs = if is_full() { 10.0 } else { 0.1 };
    let models = [with, bare]
        .map(|world| headland_sim::Model::compile(&Arc::new(world)).expect("a sound world"));
    let go = |model: &headland_sim::Model| {
        let setup = Setup::new(model, SimDuration::from_secs(secs).expect("short"));
        let mut engine = (rapier::ENTRY.make)(&rapier::ENTRY);
        let tick = &mut |_| ControlFlow::Continue(());
        let cast = &mut Cast::default();
        run(model, &setup, engine.as_mut(), cast, &mut Unobserved, tick).expect("runs");
    };
    models.iter().for_each(go);
    let n_rounds = if is_full() { 9 } else { 1 };
    let spent = best_of_thread(n_rounds, &mut [&mut || go(&models[0]), &mut || go(&models[1])]);
    println!(
        "sensors switched off add {:+.1} % to {secs} s of a run",
        (spent[0].1 / spent[1].1 - 1.0) * 100.0
    );
}

/// The first look of several cameras, which makes the scene that they share.
fn sharing() {
    let world = Arc::new(soccer());
    let places = Places::default();
    let model = headland_sim::Model::compile_read(&world, &places).expect("a sound world");
    let (declared, _) = declare(&model, &places);
    let cameras = declared.into_iter().filter(|sensor| sensor.makes_pictures);
    let mut cameras: Vec<_> = cameras.filter_map(Declaration::into_sensor).collect();
    cameras.iter_mut().for_each(|camera| camera.start(&model, &Seed::new(0)));
    let mut state = headland_sim::State::initial(&model);
    let compile = best_of_thread(
        3,
        &mut [&mut || {
            black_box(Scene::of(&world, Show::Visuals));
        }],
    )[0]
    .1;
    let mut look_all = || {
        state.time += SimDuration::from_nanos(1_000_000);
        let look = Look { model: &model, state: &state, last_step: None, n_threads: 1 };
        cameras.iter_mut().for_each(|camera| {
            camera.sample(&look, &mut |_, cdr| {
                black_box(cdr);
            })
        });
    };
    let first = best_of_thread(1, &mut [&mut look_all])[0].1;
    let later = best_of_thread(if is_full() { 5 } else { 1 }, &mut [&mut look_all])[0].1;
    println!(
        "{} cameras share a scene: it takes {:.1} ms to make, their first look {:.1} ms more than \
         later ones ({:.1} ms)",
        cameras.len(),
        compile * 1e3,
        (first - later) * 1e3,
        later * 1e3
    );
}

fn main() {
    frames();
    beams();
    switched_off();
    sharing();
}
