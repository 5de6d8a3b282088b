//! The renderer `wgpu` against `raster`, on whatever GPU there is, or what stands for one.
//!
//! `cargo test -p headland-sense --features wgpu --test gpu`. Where there is none, Debian's
//! mesa-vulkan-drivers has one in software; without, these tests say that they were left out.
#![cfg(feature = "wgpu")]
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use headland_base::Vec3;
use headland_sense::camera::{Pinhole, View};
use headland_sense::lens::{Lens, Table};
use headland_sense::render::{Frame, Gpu, Raster, Renderer, Wants};
use headland_sense::scene::{Scene, Show};
use headland_world::{ReadOptions, read};

fn gpu() -> Option<Gpu> {
    match Gpu::new(1) {
        Ok(gpu) => Some(gpu),
        Err(why) => {
            println!("left out: {why}; mesa-vulkan-drivers has one in software");
            None
        }
    }
}

/// Shares of pixels whose colours differ by more than 24 levels, and whose ids and depths differ.
fn apart(a: &Frame, b: &Frame) -> (f64, f64, f64) {
    let n = a.ids.len() as f64;
    let pixels = a.rgb.as_chunks::<3>().0.iter().zip(b.rgb.as_chunks::<3>().0);
    let off = pixels.filter(|(a, b)| (0..3).any(|i| a[i].abs_diff(b[i]) > 24)).count();
    let ids = a.ids.iter().zip(&b.ids).filter(|(a, b)| a != b).count();
    let same = a.ids.iter().zip(&b.ids).map(|(a, b)| a == b);
    let depths = a.depth.iter().zip(&b.depth).zip(same);
    let deep = depths
        .filter(|((a, b), same)| *same && a.is_finite() && (*a - *b).abs() > 2e-4 * a.abs() + 1e-4);
    (off as f64 / n, ids as f64 / n, deep.count() as f64 / n)
}

fn compare(gpu: &mut Gpu, what: &str, scene: &Scene, view: &View, table: Option<&Table>) {
    let mut draw = |renderer: &mut dyn Renderer| match table {
        Some(table) => table.render(renderer, scene, view, Wants::ALL),
        None => renderer.render(scene, view, Wants::ALL),
    };
    let (theirs, ours) = (draw(gpu), draw(&mut Raster::new(2)));
    assert!(ours.ids.iter().any(|id| *id != u32::MAX), "{what}: something is seen");
    let (colours, ids, depths) = apart(&ours, &theirs);
    println!("{what}: colours {colours:.4}, ids {ids:.5}, depths {depths:.5} apart");
    if let Some(folder) = std::env::var_os("HEADLAND_KEEP") {
        let name = what.replace(' ', "_");
        for (who, frame) in [("raster", ours), ("wgpu", theirs)] {
            let path = Path::new(&folder).join(format!("{name}_{who}.png"));
            std::fs::write(path, frame.into_image().to_png()).unwrap();
        }
    }
    // Rims of shadows are soft in one and sharp in the other.
    assert!(colours < 0.03 && ids < 0.002 && depths < 0.002, "{what}");
}

/// Every form by chance, with textures, lamps and lenses in the shipped worlds.
#[test]
fn it_shows_what_raster_shows() {
    let Some(mut gpu) = gpu() else { return };
    for seed in 0..3 {
        let mut dice = common::Dice(seed);
        let scene = common::scene(&common::world(&mut dice, 40, 2.0));
        let view =
            View::look_at(Pinhole::from_fov(160, 120, 1.0), Vec3::new(5.0, 1.0, 2.0), Vec3::ZERO);
        compare(&mut gpu, &format!("forms {seed}"), &scene, &view, None);
    }
    let shipped = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds"));
    for (name, eye, at) in [
        ("cameras", Vec3::new(-2.0, -3.0, 1.8), Vec3::new(1.0, 0.0, 0.3)),
        ("soccer-3v3", Vec3::new(-1.0, -4.5, 2.2), Vec3::new(0.0, 0.0, 0.2)),
    ] {
        let world =
            read(&shipped.join(name).with_extension("sdf"), &ReadOptions::default()).unwrap();
        let scene = Scene::of(&world.world, Show::Visuals);
        let pinhole = Pinhole::from_fov(200, 150, 1.0);
        let view = View::look_at(pinhole, eye, at);
        compare(&mut gpu, name, &scene, &view, None);
        let lens = Lens::Bouguet { k: [-0.28, 0.09, -0.012], p: [4e-4, -3e-4] };
        let table = Table::new(&pinhole, &lens).unwrap();
        compare(&mut gpu, &format!("{name} lens"), &scene, &view, Some(&table));
    }
}

#[test]
fn a_view_of_no_pixels_is_a_frame_of_none() {
    let Some(mut gpu) = gpu() else { return };
    let scene = common::scene(&common::world(&mut common::Dice(1), 3, 1.0));
    let none = Pinhole { width: 0, height: 0, ..Pinhole::from_fov(10, 10, 1.0) };
    let view = View::look_at(none, Vec3::X, Vec3::ZERO);
    assert_eq!(gpu.render(&scene, &view, Wants::ALL).rgb.len(), 0);
}
