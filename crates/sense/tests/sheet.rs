//! The contact sheet of the book: one picture of a yard, and what each imperfection makes of it.
//!
//! `UPDATE=1 cargo test -p headland-sense --test sheet` makes it anew; look at it before you keep
//! it. The same test measures how far blur and rolling shutter reach.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use headland_base::maths::{Vec2, quat_from_rotation_vector};
use headland_base::{Seed, Transform, Vec3};
use headland_sense::camera::{Camera, Pinhole, Shutter, View, cameras};
use headland_sense::image::Image;
use headland_sense::imperfect::{Darkroom, Imperfections, KNOBS, Sun};
use headland_sense::lens::{Lens, Table};
use headland_sense::render::{Frame, Raster, Wants};
use headland_sense::scene::{Scene, Show};
use headland_world::{Geometry, Link, Material, Model, Opaque, ReadOptions, Visual, World, read};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn yard() -> (World, Camera) {
    let read = read(&root().join("worlds/cameras.sdf"), &ReadOptions::default()).unwrap();
    let (all, faults) = cameras(&read.world, &read.places);
    assert!(faults.is_empty(), "{faults:?}");
    let mut eye = all.into_iter().find(|camera| camera.name.ends_with("::eye")).unwrap();
    eye.pinhole = Pinhole::from_fov(240, 180, 1.2);
    (read.world, eye)
}

/// A picture of the yard by a camera that turns to the left at 1.5 rad/s, the sun in view.
fn taken(scene: &mut Scene, camera: &Camera, how: &Imperfections) -> Image {
    let table = camera.table().unwrap();
    let start = scene.world_from_link()[camera.link_idx];
    let mut view_at = |_: &mut Scene, secs: f64| {
        let turn = quat_from_rotation_vector(Vec3::new(0.0, 0.0, 1.5 * secs));
        camera.view_on(Transform::new(turn * start.rotation, start.translation))
    };
    let mut renderer = Raster::new(2);
    let mut frame = how.shutter.take(&table, &mut renderer, scene, Wants::COLOUR, &mut view_at);
    let sun = Sun { pixel: Vec2::new(185.0, 22.0), colour: [1.0, 0.95, 0.85] };
    let size = (camera.pinhole.width, camera.pinhole.height);
    Darkroom::new(how, size, &Seed::new(2).child("sheet")).develop(&mut frame.rgb, Some(sun));
    frame.into_image()
}

/// How much each knob is turned.
const SHOWN: &[(&str, f64)] = &[
    ("motion_blur", 0.06),
    ("rolling_shutter", 0.25),
    ("drops", 14.0),
    ("leaf", 0.18),
    ("dirt", 0.25),
    ("defocus", 2.5),
    ("glare", 0.6),
    ("flare", 0.8),
    ("exposure", 1.0),
    ("low_contrast", 0.6),
    ("noise", 0.06),
    ("bayer", 1.0),
    ("jpeg", 6.0),
];

#[test]
fn the_sheet_of_the_book_is_drawn_by_this_test() {
    let (world, camera) = yard();
    let mut scene = Scene::of(&world, Show::Visuals);
    let mut pictures = vec![taken(&mut scene, &camera, &Imperfections::default())];
    for (name, value) in SHOWN {
        let mut how = Imperfections::default();
        *KNOBS.iter().find(|(known, ..)| known == name).unwrap().3(&mut how) = *value;
        let picture = taken(&mut scene, &camera, &how);
        assert_ne!(picture, pictures[0], "{name}");
        pictures.push(picture);
    }
    let rows: Vec<Image> = pictures.chunks(4).map(Image::side_by_side).collect();
    let width = rows[0].width;
    let mut rgb = Vec::new();
    for row in &rows {
        for line in row.rgb.chunks(row.width * 3) {
            rgb.extend_from_slice(line);
            rgb.resize(rgb.len() + (width - row.width) * 3, 255);
        }
        rgb.resize(rgb.len() + 4 * width * 3, 255);
    }
    let sheet = Image { width, height: rgb.len() / 3 / width, rgb };
    let path = root().join("docs/src/pictures/imperfections.png");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, sheet.to_png()).unwrap();
        return;
    }
    let kept = Image::from_png(&std::fs::read(&path).unwrap(), usize::MAX).unwrap();
    assert!(kept == sheet, "not as in {}", path.display());
}

/// A white post before black, seen by a camera that moves sideways at 1 m/s, 2 m away.
fn post(shutter: Shutter) -> Frame {
    let visual = Visual {
        name: "shape".to_string(),
        link_from_shape: Transform::IDENTITY,
        geometry: Geometry::Box { size: Vec3::new(0.02, 0.1, 4.0) },
        material: Material { emissive: Some([1.0; 4]), ..Material::default() },
        transparency: 0.0,
        cast_shadows: false,
    };
    let link = Link { name: "link".to_string(), visuals: vec![visual], ..Link::default() };
    let model = Model { name: "post".to_string(), links: vec![link], ..Model::default() };
    let black = Opaque {
        format: "sdf",
        kind: "scene".to_string(),
        name: None,
        xml: "<scene><background>0 0 0 1</background></scene>".to_string(),
    };
    let world = World { models: vec![model], opaque: vec![black], ..World::default() };
    let mut scene = Scene::of(&Arc::new(world), Show::Visuals);
    let pinhole = Pinhole::from_fov(200, 160, 1.0);
    let table = Table::new(&pinhole, &Lens::None).unwrap();
    let mut view_at = |_: &mut Scene, secs: f64| {
        let eye = Vec3::new(-2.0, -secs, 0.0);
        View::look_at(pinhole, eye, eye + Vec3::X)
    };
    let mut renderer = Raster::new(1);
    shutter.take(&table, &mut renderer, &mut scene, Wants::COLOUR, &mut view_at)
}

/// Columns of a row weighed by how white they are: their middle and how many.
fn white(frame: &Frame, row: usize) -> (f64, f64) {
    let at = |x: usize| f64::from(frame.rgb[(row * frame.width + x) * 3]) / 255.0;
    let sum: f64 = (0..frame.width).map(at).sum();
    ((0..frame.width).map(|x| x as f64 * at(x)).sum::<f64>() / sum, sum)
}

/// f·v·t/z pixels: the post leans by so much under a rolling shutter, and is smeared by so much
/// under a long exposure.
#[test]
fn blur_and_lean_are_as_long_as_the_motion() {
    let focal = Pinhole::from_fov(200, 160, 1.0).focal.x;
    let still = post(Shutter::default());
    // The near side of the post is 1.99 m away.
    let along = |secs: f64| focal * secs / 1.99;
    let rolling = post(Shutter { readout_secs: 0.2, ..Shutter::default() });
    let (top, bottom) = (white(&rolling, 4).0, white(&rolling, 155).0);
    let expected = along(0.2 * (155.0 - 4.0) / 159.0);
    assert!(((bottom - top).abs() - expected).abs() < 0.05, "{top} {bottom} {expected}");
    // It leans evenly, row by row: no row is further from the line than it moves in one.
    for row in 0..160 {
        let wanted = top + (bottom - top) * (row as f64 - 4.0) / 151.0;
        assert!((white(&rolling, row).0 - wanted).abs() < 0.2, "row {row}");
    }
    let last = white(&rolling, 159).0;
    assert!((last - white(&still, 80).0).abs() < 0.05, "the last row is of the look");
    let blurred = post(Shutter { exposure_secs: 0.3, n_samples: 64, readout_secs: 0.0 });
    let touched = |frame: &Frame| {
        (0..200).filter(|x| frame.rgb[(80 * frame.width + x) * 3] > 1).count() as f64
    };
    let (touched, width) = (touched(&blurred), touched(&still));
    assert!((touched - width - along(0.3)).abs() < 2.5, "{touched} {width} {}", along(0.3));
    assert_eq!(post(Shutter { n_samples: 9, ..Shutter::default() }), still);
}
