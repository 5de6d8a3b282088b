//! Lenses: the inverse undoes the model everywhere, folds are black, and OpenCV agrees.
//!
//! OpenCV is a Python package (`tests/foreign/requirements.txt`). Set `HEADLAND_PYTHON` to an
//! interpreter that has it; without it these tests say that they were skipped, and with
//! `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.

#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use headland_base::maths::Vec2;
use headland_base::{Transform, Vec3};
use headland_sense::camera::{Pinhole, View};
use headland_sense::image::Image;
use headland_sense::lens::{Lens, Table};
use headland_sense::render::{Raster, Wants};
use headland_sense::scene::{Scene, Show};
use headland_world::{Geometry, Link, Material, Model, TextureFile, Visual, World};
use serde_json::json;

struct Camera {
    name: &'static str,
    pinhole: Pinhole,
    lens: Lens,
}

fn bouguet(k1: f64, k2: f64, p1: f64, p2: f64, k3: f64) -> Lens {
    Lens::Bouguet { k: [k1, k2, k3], p: [p1, p2] }
}

/// Ten cameras from a telephoto lens to a fisheye that sees behind itself.
fn cameras() -> Vec<Camera> {
    let pinhole =
        |width: usize, height: usize, focal: [f64; 2], centre: [f64; 2], skew: f64| Pinhole {
            width,
            height,
            focal: Vec2::from_array(focal),
            centre: Vec2::from_array(centre),
            skew,
        };
    let vga = |focal: f64| pinhole(640, 480, [focal, focal], [319.5, 239.5], 0.0);
    vec![
        Camera {
            name: "bouguet_toolbox",
            pinhole: pinhole(640, 480, [657.3, 657.7], [302.7, 242.3], 4.2e-4),
            lens: bouguet(-0.25349, 0.11868, -2.8e-4, 5.0e-5, 0.0),
        },
        Camera {
            name: "webcam",
            pinhole: pinhole(640, 480, [532.8, 532.9], [342.5, 233.9], 0.0),
            lens: bouguet(-0.2811, 0.0251, 0.0012, -0.0001, 0.1635),
        },
        Camera {
            name: "telephoto",
            pinhole: pinhole(1024, 768, [2400.0, 2410.0], [500.0, 390.0], 0.0),
            lens: bouguet(0.08, -0.6, 1e-4, -2e-4, 1.3),
        },
        Camera {
            name: "pincushion",
            pinhole: vga(420.0),
            lens: bouguet(0.21, 0.05, 0.0, 0.0, 0.01),
        },
        Camera {
            name: "player_head",
            pinhole: vga(340.0),
            lens: bouguet(-0.28, 0.09, 4e-4, -3e-4, -0.012),
        },
        Camera {
            name: "wide_and_tilted",
            pinhole: pinhole(800, 600, [380.0, 377.0], [410.0, 290.0], -1e-3),
            lens: bouguet(-0.19, 0.03, 0.004, -0.006, -0.0017),
        },
        Camera {
            name: "fisheye_mild",
            pinhole: vga(300.0),
            lens: Lens::Fisheye { k: [-0.01, 0.003, -0.002, 0.0003] },
        },
        Camera {
            name: "fisheye_tumvi",
            pinhole: pinhole(512, 512, [190.98, 190.97], [254.93, 256.9], 0.0),
            lens: Lens::Fisheye { k: [0.0034823894, 7.150348e-4, -0.0020532361, 2.0293673e-4] },
        },
        Camera {
            name: "fisheye_skewed",
            pinhole: pinhole(640, 400, [220.0, 221.0], [318.0, 201.0], 2e-3),
            lens: Lens::Fisheye { k: [0.05, -0.02, 0.004, -0.0005] },
        },
        Camera {
            name: "fisheye_equidistant",
            pinhole: vga(160.0),
            lens: Lens::Fisheye { k: [0.0; 4] },
        },
    ]
}

/// Directions of all pixels that see something, with their pixels.
fn rays(camera: &Camera) -> Vec<(Vec2, Vec3)> {
    let Pinhole { width, height, .. } = camera.pinhole;
    let pixel = |i: usize| Vec2::new((i % width) as f64, (i / width) as f64);
    let fold = camera.lens.fold();
    (0..width * height)
        .filter_map(|i| {
            let direction =
                camera.lens.unproject_within(camera.pinhole.direction(pixel(i)), fold)?;
            Some((pixel(i), direction))
        })
        .collect()
}

#[test]
fn the_inverse_undoes_the_model_to_the_last_bits() {
    for camera in cameras() {
        let mut worst = 0.0f64;
        let (rays, fold) = (rays(&camera), camera.lens.fold());
        for (pixel, direction) in &rays {
            let place = camera.pinhole.direction(*pixel);
            let back = camera.lens.project_within(*direction, fold).expect("what is seen lands");
            worst = worst.max((back - place).length());
        }
        let n = camera.pinhole.width * camera.pinhole.height;
        eprintln!("{}: {} of {n} pixels see, worst {worst:.1e}", camera.name, rays.len());
        assert!(worst < 1e-12, "{}: {worst:e}", camera.name);
        assert!(rays.len() > n / 2, "{}", camera.name);
    }
}

/// What a strong barrel squeezes: r·(1 − r²/3) turns back at r = 1, where it is 2/3.
#[test]
fn beyond_the_fold_nothing_is_seen() {
    let lens = bouguet(-1.0 / 3.0, 0.0, 0.0, 0.0, 0.0);
    assert!((lens.fold() - 1.0).abs() < 1e-12);
    assert!(lens.project(Vec3::new(0.999, 0.0, 1.0)).is_some());
    assert_eq!(lens.project(Vec3::new(1.001, 0.0, 1.0)), None);
    assert_eq!(lens.project(Vec3::new(0.1, 0.0, -1.0)), None);
    assert!(lens.unproject(Vec2::new(0.666, 0.0)).is_some());
    assert_eq!(lens.unproject(Vec2::new(0.667, 0.0)), None);
    assert!(bouguet(0.1, 0.0, 0.0, 0.0, 0.0).fold() > 99.0);
    let fisheye = Lens::Fisheye { k: [0.0; 4] };
    let behind = fisheye.unproject(Vec2::new(2.5, 0.0)).unwrap();
    assert!(behind.z < -0.8 && (behind.length() - 1.0).abs() < 1e-12);
    // A fold that lies inside of the image is painted black; a lens that shows nothing is refused.
    let pinhole = Pinhole::from_fov(101, 101, 2.0);
    let table = Table::new(&pinhole, &lens).unwrap();
    let radius = pinhole.focal.x * 2.0 / 3.0 / 101.0;
    let share = headland_base::maths::PI * radius * radius;
    // The sky is nowhere black.
    let sky = table.render(
        &mut Raster::new(1),
        &Scene::of(&World::default(), Show::Visuals),
        &View::look_at(pinhole, Vec3::ZERO, Vec3::X),
        Wants::COLOUR,
    );
    let n_seen = sky.rgb.as_chunks::<3>().0.iter().filter(|rgb| **rgb != [0; 3]).count();
    let seen = n_seen as f64 / (101.0 * 101.0);
    assert!((seen - share).abs() < 0.01, "{seen} {share}");
    let off = Pinhole { centre: Vec2::splat(9e9), ..pinhole };
    assert_eq!(Table::new(&off, &lens).unwrap_err().code, "bad-lens");
    let none = Pinhole { width: 0, height: 0, ..pinhole };
    assert!(Table::new(&none, &lens).is_ok());
}

fn python(what: &str, folder: &Path) -> Option<String> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!("skipped: lens_check.py needs OpenCV; ./test installs it");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign/lens_check.py");
    let output = Command::new(python).arg("-B").arg(script).arg(what).arg(folder).output();
    let output = output.expect("HEADLAND_PYTHON is an interpreter");
    let faults = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "lens_check.py failed:\n{faults}");
    Some(String::from_utf8(output.stdout).expect("text"))
}

fn as_json(camera: &Camera) -> serde_json::Value {
    let (model, coefficients) = match camera.lens {
        Lens::Bouguet { k, p } => ("bouguet", vec![k[0], k[1], p[0], p[1], k[2]]),
        Lens::Fisheye { k } => ("fisheye", k.to_vec()),
        Lens::None => ("bouguet", vec![0.0; 5]),
    };
    let Pinhole { focal, centre, skew, .. } = camera.pinhole;
    json!({
        "name": camera.name, "model": model, "coefficients": coefficients, "skew": skew,
        "fx": focal.x, "fy": focal.y, "cx": centre.x, "cy": centre.y,
    })
}

/// Every pixel of ten images: the direction we find for it, projected by OpenCV, is the pixel.
#[test]
fn every_pixel_is_opencvs() {
    let folder = tempfile::tempdir().unwrap();
    let cameras = cameras();
    for (i, camera) in cameras.iter().enumerate() {
        let mut bytes: Vec<u8> = Vec::new();
        let fold = camera.lens.fold();
        for (pixel, direction) in rays(camera) {
            // OpenCV's fisheye divides by z, so it knows nothing behind.
            if direction.z < 0.01 {
                continue;
            }
            let place = camera.lens.project_within(direction, fold).expect("what is seen lands");
            let ours = camera.pinhole.pixel(place);
            assert!((ours - pixel).length() < 1e-9);
            let row = [direction.x, direction.y, direction.z, ours.x, ours.y];
            bytes.extend(row.iter().flat_map(|x| x.to_le_bytes()));
        }
        std::fs::write(folder.path().join(format!("rows{i}.f64")), bytes).unwrap();
    }
    let all: Vec<_> = cameras.iter().map(as_json).collect();
    std::fs::write(folder.path().join("cameras.json"), json!(all).to_string()).unwrap();
    let Some(printed) = python("project", folder.path()) else { return };
    eprint!("{printed}");
    assert_eq!(printed.lines().count(), 10);
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (n, off): (usize, f64) = (words[1].parse().unwrap(), words[2].parse().unwrap());
        assert!(n > 50_000 && off < 1e-6, "{line}");
    }
}

/// Coloured balls before a board of boxes; or before walls with a pattern all around.
fn gallery(is_patterned: bool) -> Scene {
    let mut dice = common::Dice(11);
    let one = |i: usize, dice: &mut common::Dice| {
        let is_ball = i.is_multiple_of(2);
        let geometry = match is_ball {
            true => Geometry::Sphere { radius: dice.within(0.2, 0.5) },
            false => Geometry::Box { size: Vec3::new(0.1, 0.8, 0.8) },
        };
        let at = Vec3::new(
            if is_ball { 3.0 } else { 4.5 },
            dice.within(-5.0, 5.0),
            dice.within(-4.0, 4.0),
        );
        let mut shape = common::visual("shape", Transform::IDENTITY, geometry);
        let colour = [dice.unit(), dice.unit(), dice.unit(), 1.0];
        shape.material = Material { diffuse: Some(colour), ..Material::default() };
        model(format!("thing{i}"), at, shape)
    };
    let mut models: Vec<Model> = (0..30).map(|i| one(i, &mut dice)).collect();
    if is_patterned {
        models.extend([Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z].iter().enumerate().map(
            |(i, at)| {
                let size = Vec3::splat(10.0) - at.abs() * 9.9;
                let mut shape =
                    common::visual("shape", Transform::IDENTITY, Geometry::Box { size });
                let file = TextureFile { path: "waves.png".to_string(), bytes: waves() };
                let texture_file = Some(Arc::new(file));
                shape.material = Material {
                    texture: Some("waves.png".to_string()),
                    texture_file,
                    ..Material::default()
                };
                model(format!("wall{i}"), *at * 5.0, shape)
            },
        ));
    }
    Scene::of(&World { models, ..World::default() }, Show::Visuals)
}

fn model(name: String, at: Vec3, shape: Visual) -> Model {
    let link = Link { name: "link".to_string(), visuals: vec![shape], ..Link::default() };
    let parent_from_model = Transform::from_translation(at);
    Model { name, parent_from_model, links: vec![link], ..Model::default() }
}

/// Waves of colour, 12 across a wall of 10 m: 25 pixels each in the widest of these cameras, so
/// that what is compared is the lens. Of waves of 12 pixels OpenCV, which mixes four pixels into
/// one, leaves 1.4 grey levels in that camera.
fn waves() -> Vec<u8> {
    use headland_base::maths::{TAU, sin};
    let n = 1024;
    let level = |x: f64| (128.0 + 50.0 * sin(TAU * x)) as u8;
    let at = |i: usize| {
        let (x, y) = ((i % n) as f64 / n as f64 * 12.0, (i / n) as f64 / n as f64 * 12.0);
        [level(x), level(y), level(x + y)]
    };
    Image { width: n, height: n, rgb: (0..n * n).flat_map(at).collect() }.to_png()
}

/// OpenCV undistorts what we saw through the lens to what we see without: the mean difference is
/// below one grey level, on plain surfaces and on patterned ones.
#[test]
fn opencv_undistorts_our_pictures() {
    for is_patterned in [false, true] {
        undistorted(&gallery(is_patterned));
    }
}

fn undistorted(scene: &Scene) {
    let folder = tempfile::tempdir().unwrap();
    let cameras: Vec<Camera> =
        cameras().into_iter().filter(|camera| camera.pinhole.skew == 0.0).collect();
    for (i, camera) in cameras.iter().enumerate() {
        let view = View::look_at(camera.pinhole, Vec3::ZERO, Vec3::X);
        let mut renderer = Raster::new(2);
        let table = Table::new(&camera.pinhole, &camera.lens).unwrap();
        let distorted = table.render(&mut renderer, scene, &view, Wants::COLOUR).into_image();
        let plain = Table::new(&camera.pinhole, &Lens::None).unwrap();
        let pinhole = plain.render(&mut renderer, scene, &view, Wants::COLOUR).into_image();
        assert!(distorted != pinhole);
        std::fs::write(folder.path().join(format!("distorted{i}.png")), distorted.to_png())
            .unwrap();
        std::fs::write(folder.path().join(format!("pinhole{i}.png")), pinhole.to_png()).unwrap();
    }
    let all: Vec<_> = cameras.iter().map(as_json).collect();
    std::fs::write(folder.path().join("cameras.json"), json!(all).to_string()).unwrap();
    let Some(printed) = python("undistort", folder.path()) else { return };
    eprint!("{printed}");
    assert_eq!(printed.lines().count(), cameras.len(), "a line for every camera");
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (share, off): (f64, f64) = (words[1].parse().unwrap(), words[2].parse().unwrap());
        assert!(share > 0.2 && off < 1.0, "{line}");
    }
}

/// Depths and ids through a lens are those of the pixel's own ray, on every side of the cube.
#[test]
fn depth_through_a_fisheye_is_along_the_cameras_axis() {
    let scene = gallery(false);
    let pinhole = Pinhole::from_fov(64, 64, 1.2);
    let lens = Lens::Fisheye { k: [0.0; 4] };
    let pinhole = Pinhole { focal: Vec2::splat(20.0), ..pinhole };
    let view = View::look_at(pinhole, Vec3::ZERO, Vec3::X);
    let table = Table::new(&pinhole, &lens).unwrap();
    let frame = table.render(&mut Raster::new(1), &scene, &view, Wants::ALL);
    let (mut n, mut n_aside) = (0, 0);
    for (i, depth) in frame.depth.iter().enumerate() {
        let pixel = Vec2::new((i % 64) as f64, (i / 64) as f64);
        let Some(direction) = lens.unproject(pinhole.direction(pixel)) else { continue };
        n_aside += usize::from(direction.truncate().abs().max_element() > direction.z);
        let world = view.world_from_optical.vector(direction);
        let ray = headland_sense::scene::Ray::new(Vec3::ZERO, world);
        let hit = scene.cast(&ray);
        assert_eq!(frame.ids[i], hit.map_or(u32::MAX, |hit| hit.item_idx as u32), "{i}");
        let Some(hit) = hit else { continue };
        n += 1;
        let wanted = hit.distance * direction.z;
        let off = (f64::from(*depth) - wanted).abs();
        assert!(off < 1e-6, "{i}: {depth} {wanted}");
    }
    // Those of the cube's other sides.
    assert!(n > 200 && n_aside > 500, "{n} {n_aside}");
}
