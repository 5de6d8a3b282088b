//! Textures lie on forms the way Gazebo lays them, meshes have theirs where their file says, and
//! lamps light what is near.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use headland_base::maths::PI;
use headland_base::{Severity, Source, Vec3};
use headland_sense::camera::{Pinhole, View};
use headland_sense::image::Image;
use headland_sense::render::{Raster, Renderer, Wants};
use headland_sense::scene::{Scene, Show, bad_looks};
use headland_world::{Read, ReadOptions, read_text};

/// Red, green, blue and grey quarters: top left, top right, bottom left, bottom right.
fn quarters() -> Vec<u8> {
    let at = |i: usize| match (i % 64 < 32, i / 64 < 32) {
        (true, true) => [250, 20, 20],
        (false, true) => [20, 250, 20],
        (true, false) => [20, 20, 250],
        (false, false) => [128, 128, 128],
    };
    let rgb = (0..64 * 64).flat_map(at).collect();
    Image { width: 64, height: 64, rgb }.to_png()
}

fn world(folder: &Path, lights: &str, geometry: &str, material: &str) -> Read {
    std::fs::write(folder.join("quarters.png"), quarters()).unwrap();
    let text = format!(
        "<?xml version='1.0'?><sdf version='1.11'><world name='w'>{lights}
         <model name='thing'><static>true</static><link name='link'><visual name='v'>
         <geometry>{geometry}</geometry>
         <material>{material}</material></visual></link></model></world></sdf>"
    );
    read_text(Source::new("w.sdf", text), folder, &ReadOptions::default()).unwrap()
}

const QUARTERS: &str = "<pbr><metal><albedo_map>quarters.png</albedo_map></metal></pbr>";

fn drawn(read: &Read, eye: Vec3) -> Image {
    let scene = Scene::of(&read.world, Show::Visuals);
    let view = View::look_at(Pinhole::from_fov(101, 101, 0.6), eye, Vec3::ZERO);
    Raster::new(1).render(&scene, &view, Wants::COLOUR).into_image()
}

/// Which of red, green and blue is strongest; none of grey.
fn colour(image: &Image, x: usize, y: usize) -> char {
    let [r, g, b] = image.pixel(x, y).map(i32::from);
    match (r, g, b) {
        _ if r > g + 60 && r > b + 60 => 'r',
        _ if g > r + 60 && g > b + 60 => 'g',
        _ if b > r + 60 && b > g + 60 => 'b',
        _ => '-',
    }
}

/// The quarters around the middle, from the top left.
fn seen(image: &Image) -> String {
    [(40, 40), (60, 40), (40, 60), (60, 60)].iter().map(|(x, y)| colour(image, *x, *y)).collect()
}

#[test]
fn every_side_of_a_box_and_a_plane_shows_the_picture_upright() {
    let folder = tempfile::tempdir().unwrap();
    let cube = "<box><size>1 1 1</size></box>";
    let read = world(folder.path(), "", cube, QUARTERS);
    assert!(read.findings.iter().all(|f| f.severity < Severity::Warning), "{:?}", read.findings);
    for eye in [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y] {
        assert_eq!(seen(&drawn(&read, eye * 3.0)), "rgb-", "{eye}");
    }
    // From above, a view has x up: the picture's top, at +y, is to the left.
    let above = drawn(&read, Vec3::Z * 3.0);
    assert_eq!(seen(&above), "g-rb", "turned by a quarter");
    let plane = "<plane><normal>0 0 1</normal><size>1 1</size></plane>";
    let flat = world(folder.path(), "", plane, QUARTERS);
    assert_eq!(seen(&drawn(&flat, Vec3::Z * 3.0)), "g-rb");
    // A colour beside the picture tints it.
    let tinted = format!("<diffuse>1 0 0 1</diffuse>{QUARTERS}");
    let tinted = world(folder.path(), "", cube, &tinted);
    // On the side where the sun is: red stays as it is, of the rest nothing is left.
    let (red, plain) = (drawn(&tinted, -Vec3::X * 3.0), drawn(&read, -Vec3::X * 3.0));
    assert!(red.pixel(40, 40)[0] > 100, "{:?}", red.pixel(40, 40));
    for (x, y) in [(40, 40), (60, 40), (40, 60), (60, 60)] {
        assert_eq!(red.pixel(x, y), [plain.pixel(x, y)[0], 0, 0], "{x} {y}");
    }
    // Far away it is a mean, and does not flicker.
    let far = drawn(&read, Vec3::X * 900.0);
    let [r, g, b] = far.pixel(50, 50).map(i32::from);
    assert!((r - g).abs() < 60 && (g - b).abs() < 60, "{r} {g} {b}");
}

/// Two triangles whose file puts the picture's top left quarter over all of them.
#[test]
fn a_mesh_has_its_texture_where_its_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let obj = "v 0 -0.5 -0.5\nv 0 0.5 -0.5\nv 0 0.5 0.5\nv 0 -0.5 0.5\n\
               vt 0 0.5\nvt 0.5 0.5\nvt 0.5 1\nvt 0 1\nf 1/1 2/2 3/3\nf 1/1 3/3 4/4\n";
    std::fs::write(folder.path().join("sheet.obj"), obj).unwrap();
    let mesh = "<mesh><uri>sheet.obj</uri></mesh>";
    let red = drawn(&world(folder.path(), "", mesh, QUARTERS), Vec3::X * 3.0);
    assert_eq!(seen(&red), "rrrr");
    std::fs::write(
        folder.path().join("sheet.obj"),
        obj.replace("0.5\nvt 0 1", "1\nvt 0 1")
            .replace("vt 0 0.5\nvt 0.5 0.5\nvt 0.5 1", "vt 0 0\nvt 1 0\nvt 1 1"),
    )
    .unwrap();
    let whole = drawn(&world(folder.path(), "", mesh, QUARTERS), Vec3::X * 3.0);
    assert_eq!(seen(&whole), "rgb-");
}

/// COLLADA counts vertices and places on the texture apart, and from the bottom; a node that
/// mirrors its mesh mirrors the picture on it.
#[test]
fn a_collada_mesh_has_its_texture_too() {
    let folder = tempfile::tempdir().unwrap();
    let dae = |places: &str, scale: &str| {
        format!(
            "<?xml version='1.0'?><COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'>
             <library_geometries><geometry id='g'><mesh>
             <source id='p'><float_array id='pa' count='12'>0 -0.5 -0.5 0 0.5 -0.5 0 0.5 0.5 0 -0.5 0.5</float_array>
             <technique_common><accessor source='#pa' count='4' stride='3'/></technique_common></source>
             <source id='t'><float_array id='ta' count='8'>{places}</float_array>
             <technique_common><accessor source='#ta' count='4' stride='2'/></technique_common></source>
             <vertices id='v'><input semantic='POSITION' source='#p'/></vertices>
             <polylist count='1'><input semantic='VERTEX' source='#v' offset='0'/>
             <input semantic='TEXCOORD' source='#t' offset='1' set='0'/><vcount>4</vcount>
             <p>0 3 1 2 2 1 3 0</p></polylist></mesh></geometry></library_geometries>
             <library_visual_scenes><visual_scene id='s'><node><scale>{scale}</scale>
             <instance_geometry url='#g'/></node></visual_scene></library_visual_scenes>
             <scene><instance_visual_scene url='#s'/></scene></COLLADA>"
        )
    };
    let mesh = "<mesh><uri>sheet.dae</uri></mesh>";
    let shown = |text: String| {
        std::fs::write(folder.path().join("sheet.dae"), text).unwrap();
        seen(&drawn(&world(folder.path(), "", mesh, QUARTERS), Vec3::X * 3.0))
    };
    // Corners are counted the other way round than places.
    assert_eq!(shown(dae("0 1 1 1 1 0 0 0", "1 1 1")), "rgb-");
    assert_eq!(shown(dae("0 1 0.5 1 0.5 0.5 0 0.5", "1 1 1")), "rrrr");
    assert_eq!(shown(dae("0 1 1 1 1 0 0 0", "1 -1 1")), "gr-b");
}

#[test]
fn textures_that_are_not_there_or_no_pictures_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let cube = "<box><size>1 1 1</size></box>";
    let named = QUARTERS.replace("quarters", "nowhere");
    let read = world(folder.path(), "", cube, &named);
    let told = read.findings.iter().find(|f| f.code == "missing-texture").unwrap();
    assert!(told.message.contains("`nowhere.png`") && told.place.is_some());
    std::fs::write(folder.path().join("broken.png"), b"no picture").unwrap();
    let read = world(folder.path(), "", cube, &QUARTERS.replace("quarters", "broken"));
    let told = bad_looks(&read.world);
    assert_eq!((told.len(), told[0].code), (1, "bad-texture"));
    let plain = drawn(&read, Vec3::X * 3.0);
    assert_eq!(colour(&plain, 50, 50), '-');
}

/// A lamp lights what faces it by its distance, a spot only what is in its cone; a world with a
/// lamp has no sun of ours.
#[test]
fn lamps_light_what_is_near() {
    let folder = tempfile::tempdir().unwrap();
    let wall = "<box><size>0.1 6 6</size></box>";
    let white = "<diffuse>1 1 1 1</diffuse>";
    let lamp = |kind: &str, more: &str| {
        format!(
            "<light name='lamp' type='{kind}'><pose>1 0 0 0 0 0</pose><diffuse>0.5 0.5 0.5 1</diffuse>
             <direction>-1 0 0</direction><attenuation><range>9</range><constant>0</constant>
             <linear>0</linear><quadratic>1</quadratic></attenuation>{more}</light>"
        )
    };
    let point = drawn(&world(folder.path(), &lamp("point", ""), wall, white), Vec3::X * 5.0);
    let dark = drawn(
        &world(folder.path(), &lamp("point", "").replace("0.5 0.5 0.5", "0 0 0"), wall, white),
        Vec3::X * 5.0,
    );
    let lit = |image: &Image, x: usize| {
        f64::from(image.pixel(x, 50)[0]) - f64::from(dark.pixel(x, 50)[0])
    };
    // 0.95 m from the lamp; a slant of α gives cos³α of that.
    let middle = lit(&point, 50);
    assert!((middle - 255.0 * 0.5 / (0.95 * 0.95)).abs() < 2.0, "{middle}");
    let focal = Pinhole::from_fov(101, 101, 0.6).focal.x;
    let aside = 30.0 / focal * 4.95;
    let cos = 0.95 / (0.95f64 * 0.95 + aside * aside).sqrt();
    assert!((lit(&point, 80) / middle - cos * cos * cos).abs() < 0.03);
    let cone = format!(
        "<spot><inner_angle>{}</inner_angle><outer_angle>{}</outer_angle><falloff>1</falloff></spot>",
        PI / 6.0,
        PI / 5.0
    );
    let spot = drawn(&world(folder.path(), &lamp("spot", &cone), wall, white), Vec3::X * 5.0);
    assert!((lit(&spot, 50) - middle).abs() < 1.0 && lit(&spot, 80).abs() < 1.0);
}

/// What stands before a lamp throws a shadow as large as rays say, unless the light or the thing
/// throws none; and the bulb around a lamp does not hide it.
#[test]
fn lamps_throw_shadows() {
    let folder = tempfile::tempdir().unwrap();
    let shadow = |light: &str, plate: &str| {
        let text = format!(
            "<sdf version='1.11'><world name='w'>
             <light name='lamp' type='point'><pose>2 0 0 0 0 0</pose><diffuse>0.5 0.5 0.5 1</diffuse>
             <attenuation><range>9</range><constant>1</constant></attenuation>{light}</light>
             <model name='wall'><static>true</static><link name='link'><visual name='v'>
             <geometry><box><size>0.1 6 6</size></box></geometry>
             <material><diffuse>1 1 1 1</diffuse></material></visual></link></model>
             <model name='plate'><static>true</static><pose>1.025 0 0 0 0 0</pose><link name='link'>
             <visual name='v'><geometry><box><size>0.01 0.2 0.2</size></box></geometry>{plate}
             </visual></link></model></world></sdf>"
        );
        let read = read_text(Source::new("w.sdf", text), folder.path(), &ReadOptions::default());
        let scene = Scene::of(&read.unwrap().world, Show::Visuals);
        // From beside the plate, so that it does not hide its shadow.
        let view = View::look_at(
            Pinhole::from_fov(201, 201, 0.6),
            Vec3::new(2.0, 3.0, 0.0),
            Vec3::new(0.05, 0.0, 0.0),
        );
        let image = Raster::new(1).render(&scene, &view, Wants::COLOUR).into_image();
        let level = |y: f64, z: f64| {
            let in_optical = view.world_from_optical.inverse().point(Vec3::new(0.05, y, z));
            let at = view.pinhole.project(in_optical).unwrap();
            image.pixel(at.x.round() as usize, at.y.round() as usize)[0]
        };
        let lit = level(0.0, 0.35);
        // 0.97 m from the lamp to the plate, 1.95 m to the wall: 0.1 becomes 0.2010.
        let half = 0.1 * 1.95 / 0.97;
        [-half + 0.02, half - 0.02, -half - 0.02, half + 0.02]
            .map(|z| level(0.0, z) + 20 < lit)
            .to_vec()
    };
    let on = "<cast_shadows>true</cast_shadows>";
    assert_eq!(shadow(on, ""), [true, true, false, false]);
    assert_eq!(shadow("<cast_shadows>false</cast_shadows>", ""), [false; 4]);
    assert_eq!(shadow(on, "<cast_shadows>false</cast_shadows>"), [false; 4]);
}

/// Names of Gazebo's plain colours are those colours; others are told.
#[test]
fn materials_by_name_are_colours() {
    let folder = tempfile::tempdir().unwrap();
    let cube = "<box><size>1 1 1</size></box>";
    let script = |name: &str, more: &str| {
        format!(
            "<script><uri>file://media/materials/scripts/gazebo.material</uri><name>{name}</name>\
             </script>{more}"
        )
    };
    let drawn = |material: &str| {
        let read = world(folder.path(), "", cube, material);
        (drawn(&read, -Vec3::X * 3.0).pixel(50, 50), bad_looks(&read.world))
    };
    let (red, told) = drawn(&script("Gazebo/Red", ""));
    assert!(red[0] > 100 && red[1] == 0 && told.is_empty(), "{red:?} {told:?}");
    let (green, _) = drawn(&script("Gazebo/Red", "<diffuse>0 1 0 1</diffuse>"));
    assert!(green[1] > 100 && green[0] == 0, "what the file says itself goes first: {green:?}");
    let (grey, told) = drawn(&script("Mine/Chequered", ""));
    assert!(grey[0] == grey[1] && told.len() == 1, "{grey:?}");
    assert_eq!(told[0].code, "unknown-material");
    assert!(told[0].message.contains("`Mine/Chequered`"), "{}", told[0].message);
}
