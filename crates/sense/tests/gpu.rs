//! The renderer `wgpu` against `raster` and against rays, on whatever GPU there is.
//!
//! `HEADLAND_GPU=1 ./test` runs it, with a GPU in software (Debian's mesa-vulkan-drivers) where
//! there is no other. Without that variable these tests say where there is none that they were
//! left out.
#![cfg(feature = "wgpu")]
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use headland_base::Vec3;
use headland_base::maths::Vec2;
use headland_sense::camera::{Pinhole, View};
use headland_sense::lens::{Lens, Table};
use headland_sense::overlay;
use headland_sense::render::{Frame, Gpu, NO_ITEM, Raster, Renderer, Wants};
use headland_sense::scene::{Hit, Ray, Scene, Show};
use headland_world::{ReadOptions, read};

/// Half a step of single precision, as a share of the number.
const ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

/// A ray is turned into a thing's frame (3 products and sums of each of origin and direction), its
/// distance is a quotient of two such sums, and each of those rounds once or twice: 24 times in
/// all. What is off across a ray is off along it by as much over the cosine to the surface.
const N_ROUNDINGS: f64 = 24.0;

/// The same across a ray, in pixels: of 200 pixels in 1 rad one is 5 mrad, and 24 roundings of an
/// eye's distance are 1.4e-6 of it.
const OFF_PIXELS: f64 = 1e-3;

fn gpu() -> Option<Gpu> {
    match Gpu::new(1) {
        Ok(gpu) => Some(gpu),
        Err(why) => {
            let is_wanted = std::env::var("HEADLAND_GPU").is_ok_and(|value| value == "1");
            assert!(!is_wanted, "HEADLAND_GPU=1, and there is none: {why}");
            println!("left out: {why}");
            None
        }
    }
}

fn cast(scene: &Scene, view: &View, pixel: Vec2) -> Option<Hit> {
    let ray = Ray {
        origin: view.world_from_optical.translation,
        direction: view.direction(pixel),
        min: view.near,
        max: view.far,
    };
    let counts = |i: usize| {
        let look = &scene.items()[i].look;
        look.opacity >= 0.5 && !look.is_mark
    };
    scene.cast_where(&ray, counts)
}

/// Whether rounding can make another item, or nothing, seen at a pixel: there is one so little
/// beside it, or so little behind what is seen.
fn may_be(scene: &Scene, view: &View, pixel: Vec2, id: u32) -> bool {
    let around = [-1.0, 0.0, 1.0].map(|x| [-1.0, 0.0, 1.0].map(|y| Vec2::new(x, y) * OFF_PIXELS));
    let seen: Vec<Option<Hit>> =
        around.as_flattened().iter().map(|off| cast(scene, view, pixel + *off)).collect();
    let is_it = |hit: &Option<Hit>| hit.map_or(NO_ITEM, |hit| hit.item_idx as u32) == id;
    let is_beside = seen.iter().any(is_it);
    let only = |i: usize| i as u32 == id;
    let ray = Ray::new(view.world_from_optical.translation, view.direction(pixel));
    let own = scene.cast_where(&ray, only);
    let first = cast(scene, view, pixel);
    let is_near = match (own, first) {
        (Some(own), Some(first)) => own.distance - first.distance <= deepest(view, pixel, &own),
        _ => false,
    };
    is_beside || is_near
}

/// How far the depth at a pixel may be off \[m\].
fn deepest(view: &View, pixel: Vec2, hit: &Hit) -> f64 {
    let direction = view.direction(pixel);
    let cosine = hit.normal.dot(direction).abs() / direction.length();
    let reach = hit.distance.max(view.world_from_optical.translation.length());
    N_ROUNDINGS * ROUNDING * reach / cosine.max(1e-3)
}

/// Draws by both and compares; hands back the mean difference of colours.
fn compare(gpu: &mut Gpu, what: &str, scene: &Scene, view: &View, table: Option<&Table>) -> f64 {
    let draw = |renderer: &mut dyn Renderer| match table {
        Some(table) => table.render(renderer, scene, view, Wants::ALL),
        None => renderer.render(scene, view, Wants::ALL),
    };
    let (theirs, ours) = (draw(gpu), draw(&mut Raster::new(2)));
    // On one adapter every picture comes out the same.
    assert!(draw(gpu) == theirs, "{what}: twice the same");
    // And it drew them itself: nothing is learnt from comparing `raster` with itself.
    assert_eq!(gpu.take_findings(), [], "{what}");
    assert!(ours.ids.iter().any(|id| *id != NO_ITEM), "{what}: something is seen");
    if table.is_none() {
        exact(what, scene, view, &theirs);
    }
    let n_other = ours.ids.iter().zip(&theirs.ids).filter(|(a, b)| a != b).count();
    let sum: u64 = ours.rgb.iter().zip(&theirs.rgb).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    let mean = sum as f64 / ours.rgb.len() as f64;
    let n = ours.ids.len();
    println!("{what}: colours {mean:.3} levels apart, {n_other} of {n} ids");
    assert!(n_other as f64 <= 1e-3 * n as f64, "{what}: {n_other} of {n}");
    if let Some(folder) = std::env::var_os("HEADLAND_KEEP") {
        let name = what.replace(' ', "_");
        for (who, frame) in [("raster", ours), ("wgpu", theirs)] {
            let path = Path::new(&folder).join(format!("{name}_{who}.png"));
            std::fs::write(path, frame.into_image().to_png()).unwrap();
        }
    }
    mean
}

/// Ids and depths are those of rays, but for rounding.
fn exact(what: &str, scene: &Scene, view: &View, frame: &Frame) {
    let mut worst = 0.0f64;
    for (i, (id, depth)) in frame.ids.iter().zip(&frame.depth).enumerate() {
        let pixel = Vec2::new((i % frame.width) as f64, (i / frame.width) as f64);
        let hit = cast(scene, view, pixel);
        let wanted = hit.map_or(NO_ITEM, |hit| hit.item_idx as u32);
        if *id != wanted {
            assert!(may_be(scene, view, pixel, *id), "{what}: {pixel} is {id} and not {wanted}");
            continue;
        }
        let Some(hit) = hit else { continue };
        let off = (f64::from(*depth) - hit.distance).abs();
        let most = deepest(view, pixel, &hit);
        // Or another part of the same item is within rounding of the ray.
        let around = [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
            .map(|(x, y)| cast(scene, view, pixel + Vec2::new(x, y) * OFF_PIXELS));
        let is_beside = || {
            let near = |other: &Option<Hit>| {
                other.is_some_and(|other| (f64::from(*depth) - other.distance).abs() < 2.0 * most)
            };
            around.iter().any(near)
        };
        assert!(off <= most || is_beside(), "{what}: {pixel}: {depth} {hit:?}, {off:e} {most:e}");
        worst = worst.max(if off <= most { off / most } else { 0.0 });
    }
    println!("{what}: depths off by up to {worst:.2} of what rounding allows");
}

/// Every form by chance, with textures, lamps, lenses and marks in the shipped worlds.
#[test]
fn it_shows_what_raster_shows() {
    let Some(mut gpu) = gpu() else { return };
    let pinhole = Pinhole::from_fov(200, 150, 1.0);
    for seed in 0..3 {
        let mut dice = common::Dice(seed);
        let scene = common::scene(&common::world(&mut dice, 40, 2.0));
        let view = View::look_at(pinhole, Vec3::new(5.0, 1.0, 2.0), Vec3::ZERO);
        let mean = compare(&mut gpu, &format!("forms {seed}"), &scene, &view, None);
        assert!(mean < 1.0, "{mean}");
    }
    let shipped = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds"));
    for (name, eye, at) in [
        ("cameras", Vec3::new(-2.0, -3.0, 1.8), Vec3::new(1.0, 0.0, 0.3)),
        ("soccer-3v3", Vec3::new(-1.0, -4.5, 2.2), Vec3::new(0.0, 0.0, 0.2)),
        ("beams", Vec3::new(-3.2, -4.6, 3.2), Vec3::new(-0.1, -0.3, 0.35)),
    ] {
        let world =
            read(&shipped.join(name).with_extension("sdf"), &ReadOptions::default()).unwrap();
        let scene = Scene::of(&world.world, Show::Visuals);
        let view = View::look_at(pinhole, eye, at);
        let lens = Lens::Bouguet { k: [-0.28, 0.09, -0.012], p: [4e-4, -3e-4] };
        let table = Table::new(&pinhole, &lens).unwrap();
        let marked = scene.with_marks(overlay::frames(&scene, 3.0));
        for (what, scene, table) in [
            (name.to_string(), &scene, None),
            (format!("{name} lens"), &scene, Some(&table)),
            (format!("{name} marks"), &marked, None),
        ] {
            // Rims of shadows are soft in one and sharp in the other.
            let mean = compare(&mut gpu, &what, scene, &view, table);
            assert!(mean < 1.0, "{what}: {mean}");
        }
    }
}

/// Panes that lie in each other are each seen once, and what is behind however many is seen too: the
/// light that `n` panes of opacity `a` let through is (1 − a)ⁿ.
#[test]
fn panes_in_each_other_and_behind_each_other_let_light_through() {
    let Some(mut gpu) = gpu() else { return };
    let pane = |i: usize, x: f64, clear: f64| {
        format!(
            "<model name='pane{i}'><static>true</static><pose>{x} 0 0 0 0 0</pose><link name='l'>
             <visual name='v'><transparency>{clear}</transparency><cast_shadows>false</cast_shadows>
             <geometry><box><size>0.01 3 3</size></box></geometry><material>
             <diffuse>0 0 0 1</diffuse></material></visual></link></model>"
        )
    };
    let wall = "<model name='wall'><static>true</static><pose>6 0 0 0 0 0</pose><link name='l'>
        <visual name='v'><geometry><box><size>0.1 9 9</size></box></geometry><material>
        <diffuse>0 0 0 1</diffuse><emissive>0.9 0.9 0.9 1</emissive></material></visual></link>
        </model>";
    let draw = |renderer: &mut dyn Renderer, panes: &str| {
        let text = format!(
            "<sdf version='1.11'><world name='w'><light name='sun' type='directional'>
             <direction>-1 0 -1</direction><diffuse>0 0 0 1</diffuse></light>{wall}{panes}</world>
             </sdf>"
        );
        let source = headland_base::Source::new("panes.sdf", text);
        let world = headland_world::read_text(source, Path::new(""), &ReadOptions::default());
        let scene = Scene::of(&world.unwrap().world, Show::Visuals);
        let view = View::look_at(Pinhole::from_fov(31, 31, 0.5), Vec3::ZERO, Vec3::X);
        let frame = renderer.render(&scene, &view, Wants::COLOUR);
        f64::from(frame.rgb[(15 * 31 + 15) * 3])
    };
    let all = |n: usize, x: &dyn Fn(usize) -> f64, clear: f64| -> String {
        (0..n).map(|i| pane(i, x(i), clear)).collect()
    };
    let bare = draw(&mut gpu, "");
    assert!(bare > 200.0, "{bare}");
    let (same, behind): (&dyn Fn(usize) -> f64, &dyn Fn(usize) -> f64) =
        (&|_| 2.0, &|i| 2.0 + 0.05 * i as f64);
    for (n, at, clear) in [(1, same, 0.6), (2, same, 0.6), (3, same, 0.8), (12, behind, 0.95)] {
        let panes = all(n, at, clear);
        let (ours, theirs) = (draw(&mut Raster::new(1), &panes), draw(&mut gpu, &panes));
        assert!((ours - theirs).abs() <= 2.0, "{n} panes: raster {ours}, wgpu {theirs}");
        let wanted = bare * (0..n).fold(1.0, |light, _| light * clear);
        assert!((theirs - wanted).abs() <= 3.0, "{n} panes: {theirs} and not {wanted}");
    }
    // More than it takes apart: what is opaque behind them is there still.
    let theirs = draw(&mut gpu, &all(40, behind, 0.97));
    assert!(theirs > 0.25 * bare, "{theirs} of {bare}");
    assert_eq!(gpu.take_findings(), []);
}

/// Another GPU may round otherwise, so a sensor says which one draws for it.
#[test]
fn a_sensor_names_the_gpu_that_draws_for_it() {
    let Some(gpu) = gpu() else { return };
    let text = "<sdf version='1.11' xmlns:headland='urn:headland:sdf'><world name='w'>
        <model name='r'><link name='l'><sensor name='s' type='camera'><camera>
        <headland:renderer>wgpu</headland:renderer></camera></sensor></link></model></world></sdf>";
    let source = headland_base::Source::new("w.sdf", text);
    let read = headland_world::read_text(source, Path::new(""), &ReadOptions::default()).unwrap();
    let world = std::sync::Arc::new(read.world);
    let model = headland_sim::Model::compile_read(&world, &read.places).unwrap();
    let (declared, _) = headland_sense::declare::declare(&model, &read.places);
    let name = gpu.machine().unwrap();
    println!("drawn on {name}");
    assert_eq!(declared[0].about(), Some(&*format!("drawn by wgpu on {name}")));
}

/// What does not fit is drawn by `raster`, and that is said once, with the reason; a picture that
/// fits is drawn by the GPU again.
#[test]
fn what_does_not_fit_is_drawn_by_raster_and_said() {
    if gpu().is_none() {
        return;
    }
    let scene = common::scene(&common::world(&mut common::Dice(1), 12, 1.0));
    let view = |width: usize| {
        let pinhole = Pinhole::from_fov(width, 60, 1.0);
        View::look_at(pinhole, Vec3::new(4.0, 1.0, 2.0), Vec3::ZERO)
    };
    for (most_bytes, why) in [(64, "what there is to see takes"), (60_000, "the picture takes")] {
        let mut gpu = Gpu::with_at_most(1, most_bytes).unwrap();
        let large = gpu.render(&scene, &view(200), Wants::ALL);
        assert!(large == Raster::new(1).render(&scene, &view(200), Wants::ALL), "{why}");
        let told = gpu.take_findings();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].code, "renderer-fell-back");
        assert!(told[0].message.contains(why), "{}", told[0].message);
        gpu.render(&scene, &view(200), Wants::ALL);
        assert_eq!(gpu.take_findings(), [], "said once");
    }
    let mut small = Gpu::with_at_most(1, 60_000).unwrap();
    let mut whole = gpu().unwrap();
    assert!(
        small.render(&scene, &view(40), Wants::ALL) == whole.render(&scene, &view(40), Wants::ALL)
    );
    assert_eq!(small.take_findings(), []);
}

#[test]
fn a_view_of_no_pixels_is_a_frame_of_none() {
    let Some(mut gpu) = gpu() else { return };
    let scene = common::scene(&common::world(&mut common::Dice(1), 3, 1.0));
    let none = Pinhole { width: 0, height: 0, ..Pinhole::from_fov(10, 10, 1.0) };
    let view = View::look_at(none, Vec3::X, Vec3::ZERO);
    assert_eq!(gpu.render(&scene, &view, Wants::ALL).rgb.len(), 0);
}
