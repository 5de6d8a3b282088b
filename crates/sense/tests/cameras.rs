//! Cameras as a run asks them: messages of every kind hold what was seen, on any number of
//! threads, and odd cameras are defined or refused before the run.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use headland_base::maths::{Vec2, log, tan};
use headland_base::{Diagnostic, Seed, Severity, SimTime, Source, Vec3};
use headland_record::messages::{CameraInfo, CompressedImage, Image, PointCloud2, decode};
use headland_sense::camera::Pinhole;
use headland_sense::declare::declare;
use headland_sense::image;
use headland_sense::picture::{From, Shot, Stage};
use headland_sense::render::{Wants, renderer};
use headland_sense::scene::{Scene, Show};
use headland_sim::{Look, Model, State};
use headland_world::{ReadOptions, read_text};

const THINGS: &str = "
  <light name='sun' type='directional'><direction>0.3 0.4 -0.8</direction></light>
  <model name='ground'><static>true</static><link name='link'><visual name='v'>
    <geometry><plane><size>20 20</size></plane></geometry>
    <material><diffuse>0.5 0.6 0.5 1</diffuse></material></visual></link></model>
  <model name='wall'><static>true</static><pose>3 0 1 0 0 0</pose>
    <plugin name='gz::sim::systems::Label' filename='gz-sim-label-system'><label>40</label></plugin>
    <link name='link'><visual name='v'><geometry><box><size>0.2 3 2</size></box></geometry>
    <material><diffuse>0.8 0.3 0.2 1</diffuse></material></visual></link></model>
  <model name='ball'><pose>2 0.4 0.9 0 0 0</pose><link name='link'>
    <visual name='v'><geometry><sphere><radius>0.3</radius></sphere></geometry>
    <material><diffuse>0.2 0.3 0.8 1</diffuse></material></visual></link></model>";

/// A world with a robot that carries these sensors, 1 m above the ground, looking along +x.
fn model(sensors: &str) -> (Model, headland_world::Places) {
    let text = format!(
        "<?xml version='1.0'?><sdf version='1.11' xmlns:headland='urn:headland:sdf'>
         <world name='w'>{THINGS}
         <model name='robot'><pose>0 0 1 0 0 0</pose><link name='head'>{sensors}</link></model>
         </world></sdf>"
    );
    let source = Source::new("cameras.sdf", text);
    let read = read_text(source, Path::new(""), &ReadOptions::default()).unwrap();
    (Model::compile_read(&Arc::new(read.world), &read.places).unwrap(), read.places)
}

/// What the sensors say at time zero: topics and bytes.
fn said(sensors: &str, n_threads: usize) -> Vec<(String, Vec<u8>)> {
    said_from(sensors, n_threads, &|_, topic| Seed::new(3).child(topic))
}

/// The same, each from the seed of its name and its first topic.
fn said_from(
    sensors: &str,
    n_threads: usize,
    seed: &dyn Fn(&str, &str) -> Seed,
) -> Vec<(String, Vec<u8>)> {
    let (model, places) = model(sensors);
    let (declared, findings) = declare(&model, &places);
    let told: Vec<&Diagnostic> =
        declared.iter().flat_map(|d| &d.findings).chain(&findings).collect();
    assert!(told.iter().all(|f| f.severity < Severity::Warning), "{told:?}");
    let mut state = State::initial(&model);
    for (rigid, about) in state.rigids.iter_mut().zip(&model.rigids) {
        let name = &model.bodies[about.body_idxs[0]].name;
        if name.starts_with("robot") {
            rigid.twist.angular = Vec3::new(0.0, 0.0, 2.0);
        }
    }
    let mut out = Vec::new();
    for declaration in declared {
        let mut sensor = declaration.into_sensor().unwrap();
        let topics: Vec<String> = sensor.outputs().iter().map(|o| o.topic.clone()).collect();
        let seed = seed(sensor.name(), &topics[0]);
        sensor.start(&model, &seed);
        let look = Look { model: &model, state: &state, last_step: None, n_threads };
        sensor.sample(&look, &mut |output, cdr| out.push((topics[output].clone(), cdr)));
    }
    out
}

fn camera(kind: &str, name: &str, inside: &str) -> String {
    format!(
        "<sensor name='{name}' type='{kind}'><update_rate>10</update_rate><camera name='{name}'>
         <horizontal_fov>1.2</horizontal_fov><image><width>96</width><height>64</height></image>
         {inside}</camera></sensor>"
    )
}

fn message<M: headland_record::messages::Message>(all: &[(String, Vec<u8>)], topic: &str) -> M {
    let known: Vec<&str> = all.iter().map(|(topic, _)| topic.as_str()).collect();
    let found = all.iter().find(|(known, _)| known == topic);
    decode(&found.unwrap_or_else(|| panic!("no {topic} in {known:?}")).1).unwrap()
}

#[test]
fn every_kind_of_camera_says_what_it_sees() {
    let sensors = [
        camera("camera", "eye", ""),
        camera("depth_camera", "depth", ""),
        camera("rgbd_camera", "both", ""),
        camera("segmentation_camera", "things", "<segmentation_type>instance</segmentation_type>"),
        camera("segmentation", "classes", ""),
    ]
    .concat();
    let all = said(&sensors, 1);
    let image: Image = message(&all, "/robot/eye/image_raw");
    assert_eq!((image.width, image.height, image.step), (96, 64, 288));
    assert_eq!((image.encoding.as_str(), image.data.len()), ("rgb8", 96 * 64 * 3));
    assert_eq!(image.header.frame_id, "robot/head/eye_optical");
    let info: CameraInfo = message(&all, "/robot/eye/camera_info");
    let focal = 48.0 / tan(0.6);
    assert_eq!((info.k[0], info.k[2], info.k[5]), (focal, 47.5, 31.5));
    assert_eq!((info.p[0], info.p[3], info.d), (focal, 0.0, vec![0.0; 5]));
    assert_eq!(info.distortion_model, "plumb_bob");

    // The wall's near side is 2.9 m away, wherever it is seen.
    let depth: Image = message(&all, "/robot/depth/depth/image_raw");
    assert_eq!(depth.encoding, "32FC1");
    let depths: Vec<f32> =
        depth.data.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let at = |x: usize, y: usize| depths[y * 96 + x];
    assert!((at(80, 31) - 2.9).abs() < 1e-6, "{}", at(80, 31));
    assert!(at(48, 0).is_infinite() && at(48, 0) > 0.0, "the sky is infinitely far");
    let ball = depths.iter().copied().fold(f32::INFINITY, f32::min);
    assert!(ball < 1.9, "{ball}");

    // Points lie on the rays of their pixels, and their z is the depth.
    let both: Image = message(&all, "/robot/both/depth/image_raw");
    assert_eq!(both.data, depth.data);
    assert_eq!(message::<Image>(&all, "/robot/both/image_raw").data, image.data);
    let cloud: PointCloud2 = message(&all, "/robot/both/points");
    assert_eq!((cloud.width, cloud.height, cloud.data.len()), (96, 64, 96 * 64 * 16));
    let pinhole = Pinhole::from_fov(96, 64, 1.2);
    for (i, point) in cloud.data.as_chunks::<16>().0.iter().enumerate() {
        let number = |at: usize| f32::from_le_bytes(point[at..at + 4].try_into().unwrap());
        if depths[i].is_infinite() {
            assert!(number(8).is_nan());
            continue;
        }
        let pixel = pinhole.project(Vec3::new(
            f64::from(number(0)),
            f64::from(number(4)),
            f64::from(number(8)),
        ));
        let own = Vec2::new((i % 96) as f64, (i / 96) as f64);
        assert!((pixel.unwrap() - own).length() < 1e-4 && number(8) == depths[i]);
        let rgb = &image.data[i * 3..i * 3 + 3];
        assert_eq!(point[12..16], [rgb[2], rgb[1], rgb[0], 0]);
    }

    // Things are numbered in the order of the file; classes are what models say.
    let label = |topic: &str, x: usize, y: usize| {
        let labels: Image = message(&all, topic);
        assert_eq!(labels.encoding, "16UC1");
        let at = (y * 96 + x) * 2;
        u16::from_le_bytes([labels.data[at], labels.data[at + 1]])
    };
    let things = "/robot/things/labels_map";
    assert_eq!(
        [(48, 0), (80, 31), (48, 63), (33, 34)].map(|(x, y)| label(things, x, y)),
        [0, 2, 1, 3]
    );
    let classes = "/robot/classes/labels_map";
    assert_eq!([(80, 31), (48, 63)].map(|(x, y)| label(classes, x, y)), [40, 0]);
    let coloured: Image = message(&all, "/robot/things/colored_map");
    assert_eq!(coloured.data[(31 * 96 + 80) * 3..][..3], [0, 128, 0]);
}

#[test]
fn formats_and_codings_hold_the_same_picture() {
    let format = |word: &str| {
        let xml = camera("camera", word, "");
        xml.replace("</height>", &format!("</height><format>{word}</format>"))
    };
    let coding = |name: &str, xml: &str| {
        camera("camera", name, &format!("<headland:encoding{xml}</headland:encoding>"))
    };
    let words = ["R8G8B8", "B8G8R8", "L8", "L16", "BAYER_RGGB8", "BAYER_GRBG8"];
    let mut sensors: String = words.map(format).concat();
    sensors += &coding("png", ">png");
    sensors += &coding("jpeg", " quality='95'>jpeg");
    let all = said(&sensors, 1);
    let of = |word: &str| message::<Image>(&all, &format!("/robot/{word}/image_raw"));
    let rgb = of("R8G8B8");
    let pixel = |i: usize| [rgb.data[i * 3], rgb.data[i * 3 + 1], rgb.data[i * 3 + 2]];
    let names = words.map(|word| of(word).encoding);
    assert_eq!(names, ["rgb8", "bgr8", "mono8", "mono16", "bayer_rggb8", "bayer_grbg8"]);
    let turned = of("B8G8R8").data;
    for i in 0..96 * 64 {
        let [r, g, b] = pixel(i);
        assert_eq!(turned[i * 3..i * 3 + 3], [b, g, r]);
    }
    let (bayer, other, grey) = (of("BAYER_RGGB8").data, of("BAYER_GRBG8").data, of("L8").data);
    for (x, y, first, second) in [(0, 0, 0, 1), (1, 0, 1, 0), (0, 1, 1, 2), (1, 1, 2, 1)] {
        let i = (y + 20) * 96 + x + 40;
        assert_eq!((bayer[i], other[i]), (pixel(i)[first], pixel(i)[second]));
        let [r, g, b] = pixel(i).map(f64::from);
        assert!((f64::from(grey[i]) - (0.299 * r + 0.587 * g + 0.114 * b)).abs() < 0.51);
    }
    let wide = of("L16").data;
    assert!(wide.as_chunks::<2>().0.iter().zip(&grey).all(|(wide, grey)| {
        (f64::from(u16::from_le_bytes(*wide)) / 257.0 - f64::from(*grey)).abs() < 0.51
    }));
    let png: CompressedImage = message(&all, "/robot/png/image_raw/compressed");
    assert_eq!(png.format, "png");
    assert_eq!(image::Image::from_png(&png.data, usize::MAX).unwrap().rgb, rgb.data);
    let jpeg: CompressedImage = message(&all, "/robot/jpeg/image_raw/compressed");
    assert_eq!((jpeg.format.as_str(), &jpeg.data[..3]), ("jpeg", &[0xff, 0xd8, 0xff][..]));
}

/// `render --camera` shows what the camera takes at the same moment of a run from the same seed:
/// through its lens, by its renderer, with all its imperfections. One of several too.
#[test]
fn a_picture_through_a_camera_is_the_one_that_it_takes() {
    let knobs = "<headland:renderer>flat</headland:renderer><distortion><k1>-0.2</k1></distortion>
        <headland:imperfections><drops>5</drops><dirt>0.2</dirt><noise>0.02</noise>
        <rolling_shutter>0.03</rolling_shutter></headland:imperfections>";
    let alone = camera("camera", "worn", knobs);
    let pair = camera("multicamera", "pair", knobs).replace("name='pair'>\n", "name='left'>\n");
    let (model, places) = model(&(alone + &pair));
    let (cameras, faults) = headland_sense::camera::cameras(&model.world, &places);
    assert_eq!((cameras.len(), faults.len()), (2, 0));
    assert_eq!(cameras[1].sensor_name(), "robot::head::pair");
    let (declared, _) = declare(&model, &places);
    let mut stage = Stage::new(&model, None).unwrap();
    for (declaration, camera) in declared.into_iter().zip(cameras) {
        let mut sensor = declaration.into_sensor().unwrap();
        sensor.start(&model, &Seed::new(0).child("sensor").child(sensor.name()));
        let state = State::initial(&model);
        let look = Look { model: &model, state: &state, last_step: None, n_threads: 1 };
        let mut taken = Vec::new();
        sensor.sample(&look, &mut |_, cdr| taken.push(cdr));
        let taken: Image = decode(&taken[0]).unwrap();
        let mut renderers = [renderer(camera.renderer, 1).unwrap()];
        let perfect = {
            let table = camera.table().unwrap();
            let scene = Scene::of(&model.world, Show::Visuals);
            let view = camera.view(scene.world_from_link());
            table.render(&mut *renderers[0], &scene, &view, Wants::COLOUR).rgb
        };
        let shot = Shot { from: From::Cameras(vec![camera]), draw: Vec::new(), caption: false };
        let shown = |_, shown: image::Image| {
            assert!(shown.rgb == taken.data && shown.rgb != perfect);
            Ok(())
        };
        stage.shoot(&shot, &mut renderers, &[SimTime::ZERO], shown).unwrap();
    }
}

/// The noise of a picture is that of its moment: each of a run can be shown alone, and two differ.
#[test]
fn a_picture_of_any_moment_has_the_noise_of_the_run() {
    let noise = "<noise type='gaussian'><stddev>0.05</stddev>
        <headland:dropout><rate>0.1</rate></headland:dropout></noise>";
    let colour = noise.replace("<headland:dropout><rate>0.1</rate></headland:dropout>", "");
    for (kind, noise) in [("camera", &*colour), ("depth_camera", noise)] {
        let sensors = camera(kind, "eye", noise);
        let (model, places) = model(&sensors);
        let (cameras, _) = headland_sense::camera::cameras(&model.world, &places);
        let clip = cameras[0].clip;
        let mut sensor = declare(&model, &places).0.remove(0).into_sensor().unwrap();
        sensor.start(&model, &Seed::new(0).child("sensor").child(sensor.name()));
        let mut state = State::initial(&model);
        let shot = Shot { from: From::Cameras(cameras), draw: Vec::new(), caption: false };
        let mut before = Vec::new();
        for millis in [0, 100, 200] {
            state.time = SimTime::from_nanos(millis * 1_000_000);
            let look = Look { model: &model, state: &state, last_step: None, n_threads: 1 };
            let mut taken = Vec::new();
            sensor.sample(&look, &mut |_, cdr| taken.push(cdr));
            let taken: Image = decode(&taken[0]).unwrap();
            let wanted = match kind {
                "camera" => taken.data,
                _ => {
                    let depths = taken.data.as_chunks::<4>().0.iter();
                    let colour = |b: &[u8; 4]| {
                        headland_sense::camera::depth_colour(f32::from_le_bytes(*b), clip)
                    };
                    depths.flat_map(colour).collect()
                }
            };
            assert!(wanted != before, "{kind}");
            let keep = |_, image: image::Image| {
                assert!(image.rgb == wanted, "{kind} at {millis} ms");
                Ok(())
            };
            let mut renderers = [renderer("raster", 1).unwrap()];
            let mut stage = Stage::new(&model, None).unwrap();
            stage.shoot(&shot, &mut renderers, &[state.time], keep).unwrap();
            before = wanted;
        }
    }
}

/// What `render` shows of all cameras of these sensors, side by side.
fn shown(sensors: &str) -> image::Image {
    let (model, places) = model(sensors);
    let (cameras, faults) = headland_sense::camera::cameras(&model.world, &places);
    assert!(faults.is_empty(), "{faults:?}");
    let mut renderers: Vec<_> =
        cameras.iter().map(|camera| renderer(camera.renderer, 1).unwrap()).collect();
    let shot = Shot { from: From::Cameras(cameras), draw: Vec::new(), caption: false };
    let mut out = None;
    let mut stage = Stage::new(&model, None).unwrap();
    let keep = |_, image| {
        out = Some(image);
        Ok(())
    };
    stage.shoot(&shot, &mut renderers, &[SimTime::ZERO], keep).unwrap();
    out.unwrap()
}

/// A part of a picture.
fn columns(image: &image::Image, columns: std::ops::Range<usize>) -> Vec<u8> {
    let rows = image.rgb.chunks_exact(image.width * 3);
    rows.flat_map(|row| &row[columns.start * 3..columns.end * 3]).copied().collect()
}

/// Depths in greys, with noise in metres and lost ones in red: what the message of the same moment
/// has, by the formula that the help states, and no grain of colours on it.
#[test]
fn a_depth_camera_shows_its_depths() {
    let (near, far) = (0.5f64, 12.0f64);
    let clip = format!("<clip><near>{near}</near><far>{far}</far></clip>");
    let noise = "<noise><type>gaussian</type><stddev>0.05</stddev><mean>0.3</mean>
        <headland:dropout><rate>0.1</rate></headland:dropout></noise>";
    let of = |inside: &str| {
        let sensors = camera("depth_camera", "depth", inside);
        // As a run of seed 0, which pictures of a world are drawn from.
        let seed = |name: &str, _: &str| Seed::new(0).child("sensor").child(name);
        let said = said_from(&sensors, 1, &seed);
        let depths: Image = message(&said, "/robot/depth/depth/image_raw");
        let words = depths.data.as_chunks::<4>().0.iter();
        (words.map(|word| f32::from_le_bytes(*word)).collect::<Vec<f32>>(), shown(&sensors))
    };
    let (perfect, _) = of(&clip);
    let (depths, shown) = of(&format!("{clip}{noise}"));
    let grey = |depth: f32| {
        let share = log(f64::from(depth).clamp(near, far) / near) / log(far / near);
        255.0 - 223.0 * share
    };
    let (mut sum, mut n_seen, mut n_lost) = (0.0, 0, 0);
    for (i, depth) in depths.iter().enumerate() {
        let pixel = &shown.rgb[i * 3..i * 3 + 3];
        if depth.is_nan() {
            assert_eq!(pixel, [255, 0, 0]);
            n_lost += 1;
        } else if depth.is_infinite() {
            assert_eq!(pixel, [0, 0, 0]);
        } else {
            assert!((f64::from(pixel[0]) - grey(*depth)).abs() <= 0.501, "{pixel:?} {depth}");
            assert!(pixel[0] == pixel[1] && pixel[1] == pixel[2]);
            sum += f64::from(depth - perfect[i]);
            n_seen += 1;
        }
    }
    assert!(n_seen > 1000 && depths.contains(&f32::INFINITY) && n_lost > 100, "{n_seen} {n_lost}");
    // The mean of so many, within four of its deviations.
    let off = sum / f64::from(n_seen) - 0.3;
    assert!(off.abs() < 4.0 * 0.05 / f64::from(n_seen).sqrt(), "{off}");
}

/// As REP 117 has it: −∞ too near, +∞ too far or nothing, and noise makes no depth outside of what
/// the camera measures.
#[test]
fn depths_are_within_the_clip_or_infinite() {
    let depths = |kind: &str, inside: &str| -> Vec<f32> {
        let all = said(&camera(kind, "d", inside), 1);
        let image: Image = message(&all, "/robot/d/depth/image_raw");
        image.data.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    };
    let (near, far) = (2.0, 4.0);
    let clip = format!("<clip><near>{near}</near><far>{far}</far></clip>");
    let noise = "<headland:depth_noise type='gaussian'><stddev>0.3</stddev></headland:depth_noise>";
    for kind in ["depth_camera", "rgbd_camera"] {
        let all = depths(kind, "");
        let clipped = depths(kind, &clip);
        for (whole, clipped) in all.iter().zip(&clipped) {
            let wanted = match *whole {
                depth if depth < near => f32::NEG_INFINITY,
                depth if depth > far => f32::INFINITY,
                depth => depth,
            };
            assert_eq!(*clipped, wanted, "{kind}");
        }
        for sought in [f32::NEG_INFINITY, f32::INFINITY] {
            assert!(clipped.contains(&sought), "{kind}: {sought}");
        }
        let noisy = depths(kind, &format!("{clip}{noise}"));
        let finite = || noisy.iter().filter(|depth| depth.is_finite());
        assert!(finite().all(|depth| (near..=far).contains(depth)) && finite().count() > 500);
        let pushed = clipped.iter().zip(&noisy).filter(|(a, b)| a.is_finite() && b.is_infinite());
        assert!(pushed.count() > 20, "{kind}");
    }
}

/// Each kind shows its messages: labels in their colours, of an rgbd camera colours and depths, of a
/// pair both pictures, and grey ones where its format is.
#[test]
fn every_kind_of_camera_shows_what_it_records() {
    let labels = camera("segmentation_camera", "labels", "");
    let coloured: Image = message(&said(&labels, 1), "/robot/labels/colored_map");
    assert!(shown(&labels).rgb == coloured.data);
    assert!(coloured.data.iter().any(|byte| *byte > 0));

    let both = camera("rgbd_camera", "both", "");
    let colours: Image = message(&said(&both, 1), "/robot/both/image_raw");
    let beside = shown(&both);
    let width = colours.width as usize;
    assert_eq!(beside.width, 2 * width + 4);
    assert!(columns(&beside, 0..width) == colours.data);
    let depths = shown(&camera("depth_camera", "both", ""));
    assert!(columns(&beside, width + 4..2 * width + 4) == depths.rgb);

    let one = |name: &str, y: f64| {
        format!(
            "<camera name='{name}'><pose>0 {y} 0 0 0 0</pose><image><width>40</width>
             <height>30</height><format>L8</format></image></camera>"
        )
    };
    let two = one("left", 0.06) + &one("right", -0.06);
    let pair = format!("<sensor name='pair' type='multicamera'>{two}</sensor>");
    let beside = shown(&pair);
    for (side, at) in [("left", 0), ("right", 44)] {
        let grey: Image = message(&said(&pair, 1), &format!("/robot/pair/{side}/image_raw"));
        assert_eq!(grey.encoding, "mono8");
        let wanted: Vec<u8> = grey.data.iter().flat_map(|byte| [*byte; 3]).collect();
        assert!(columns(&beside, at..at + 40) == wanted, "{side}");
    }
}

/// What has no visual is not seen by a camera, neither in a run nor in a picture.
#[test]
fn what_has_no_visual_is_not_in_the_picture_of_a_camera() {
    let hidden = "<collision name='c'><pose>1 0 0 0 0 0</pose><geometry><sphere>
        <radius>0.4</radius></sphere></geometry></collision>";
    let eye = camera("camera", "eye", "");
    assert!(shown(&format!("{eye}{hidden}")).rgb == shown(&eye).rgb);
}

/// The baseline is in the right camera's P, and a point shifts by f·b/z between the pictures.
#[test]
fn a_pair_of_cameras_knows_its_baseline() {
    let one = |name: &str, y: f64| {
        format!(
            "<camera name='{name}'><pose>0 {y} 0 0 0 0</pose><horizontal_fov>1.2</horizontal_fov>
             <image><width>320</width><height>200</height></image></camera>"
        )
    };
    let pair = format!(
        "<sensor name='pair' type='multicamera'>{}{}</sensor>",
        one("left", 0.06),
        one("right", -0.06)
    );
    let all = said(&pair, 1);
    let [left, right]: [CameraInfo; 2] =
        ["left", "right"].map(|side| message(&all, &format!("/robot/pair/{side}/camera_info")));
    assert_eq!(left.p[3], 0.0);
    assert!((right.p[3] + right.p[0] * 0.12).abs() < 1e-9, "{:?}", right.p);
    assert_eq!(left.header.frame_id, "robot/head/pair/left_optical");
    assert_eq!(left.header.stamp, right.header.stamp);
    // The blue ball's middle.
    let [a, b]: [Image; 2] =
        ["left", "right"].map(|side| message(&all, &format!("/robot/pair/{side}/image_raw")));
    let middle = |image: &Image| {
        let blue = |i: &usize| {
            let p = &image.data[i * 3..i * 3 + 3];
            p[2] > 90 && p[2] > p[0] + 40 && i / 320 > 60 && p[0] < 90
        };
        let columns: Vec<f64> = (0..320 * 200).filter(blue).map(|i| (i % 320) as f64).collect();
        assert!(columns.len() > 500);
        columns.iter().sum::<f64>() / columns.len() as f64
    };
    let shift = middle(&a) - middle(&b);
    let expected = right.p[0] * 0.12 / 2.0;
    assert!((shift - expected).abs() < 1.0, "{shift} {expected}");
}

/// P is by where cameras stand, not by their order in the file; and cameras that cannot be compared
/// row by row are told, and have none.
#[test]
fn the_right_one_of_a_pair_is_the_one_on_the_right() {
    let one = |name: &str, pose: &str, width: usize| {
        format!(
            "<camera name='{name}'><pose>{pose}</pose><image><width>{width}</width>
             <height>12</height></image></camera>"
        )
    };
    let pair = |a: &str, b: &str| format!("<sensor name='p' type='multicamera'>{a}{b}</sensor>");
    let left = one("left", "0 0.06 0 0 0 0", 16);
    let right = one("right", "0 -0.06 0 0 0 0", 16);
    for sensor in [pair(&left, &right), pair(&right, &left)] {
        let all = said(&sensor, 1);
        let [left, right]: [CameraInfo; 2] =
            ["left", "right"].map(|side| message(&all, &format!("/robot/p/{side}/camera_info")));
        assert_eq!(left.p[3], 0.0);
        assert!((right.p[3] + right.p[0] * 0.12).abs() < 1e-9, "{:?}", right.p);
    }
    for (odd, why) in [
        (one("right", "0 -0.06 0 0 0 0", 20), "another size"),
        (one("right", "0 -0.06 0 0 0 0.1", 16), "another way"),
        (one("right", "0.1 -0.06 0 0 0 0", 16), "along its rows"),
    ] {
        let (model, places) = model(&pair(&left, &odd));
        let (declared, _) = declare(&model, &places);
        let told = &declared[0].findings;
        assert_eq!((told.len(), told[0].severity), (1, Severity::Warning), "{told:?}");
        assert!(told[0].message.contains(why), "{told:?}");
        let mut sensor = declared.into_iter().next().unwrap().into_sensor().unwrap();
        sensor.start(&model, &Seed::new(0));
        let state = State::initial(&model);
        let look = Look { model: &model, state: &state, last_step: None, n_threads: 1 };
        let topics: Vec<String> = sensor.outputs().iter().map(|o| o.topic.clone()).collect();
        let mut all = Vec::new();
        sensor.sample(&look, &mut |output, cdr| all.push((topics[output].clone(), cdr)));
        for side in ["left", "right"] {
            let info: CameraInfo = message(&all, &format!("/robot/p/{side}/camera_info"));
            assert_eq!(info.p[3], 0.0, "{side}");
        }
    }
}

/// A calibration of OpenCV comes out as it was pasted, and the picture is that of it: the point on
/// the optical axis is seen at the principal point.
#[test]
fn a_pasted_calibration_is_the_camera_info() {
    let lens = "<lens><intrinsics><fx>80.5</fx><fy>81.25</fy><cx>40.5</cx><cy>30.25</cy><s>0.5</s>
        </intrinsics></lens>";
    let sensors = camera("depth_camera", "eye", lens);
    let all = said(&sensors, 1);
    let info: CameraInfo = message(&all, "/robot/eye/camera_info");
    let pasted = [80.5, 0.5, 40.5, 0.0, 81.25, 30.25, 0.0, 0.0, 1.0];
    let off = info.k.iter().zip(pasted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // A skew is kept as a share of the focal length.
    assert!(off < 1e-15 && info.k[2] == 40.5 && info.k[5] == 30.25, "{:?}", info.k);
    // The ball is at (1.9, 0.4, −0.1) before the camera; its silhouette in row 34 is a circle's.
    let depth: Image = message(&all, "/robot/eye/depth/image_raw");
    let depths: Vec<f32> =
        depth.data.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let seen: Vec<usize> = (0..96).filter(|x| depths[34 * 96 + x] < 2.2).collect();
    let ray = |u: f64| {
        let y = (34.0 - info.k[5]) / info.k[4];
        let x = (u - info.k[2] - info.k[1] * y) / info.k[0];
        Vec3::new(1.0, -x, -y)
    };
    let meets = |u: f64| {
        let (centre, d) = (Vec3::new(2.0, 0.4, -0.1), ray(u));
        let along = centre.dot(d) / d.dot(d);
        (centre - d * along).length() < 0.3
    };
    let wanted: Vec<usize> = (0..96).filter(|x| meets(*x as f64)).collect();
    assert_eq!(seen, wanted);
    assert!(seen.len() > 10);
}

#[test]
fn a_fisheye_of_sdf_is_equidistant_and_ends_at_its_cutoff() {
    let fisheye = "<sensor name='fish' type='wideanglecamera'><camera>
        <horizontal_fov>3.4</horizontal_fov><image><width>121</width><height>121</height></image>
        <lens><type>equidistant</type><cutoff_angle>1.2</cutoff_angle></lens></camera></sensor>";
    let all = said(fisheye, 1);
    let info: CameraInfo = message(&all, "/robot/fish/camera_info");
    assert_eq!((info.distortion_model.as_str(), info.d.len()), ("equidistant", 4));
    assert!((info.k[0] - 121.0 / 3.4).abs() < 1e-12);
    let image: Image = message(&all, "/robot/fish/image_raw");
    let is_black = |x: usize| image.data[(60 * 121 + x) * 3..][..3] == [0, 0, 0];
    let reach = (1.2 * info.k[0]) as usize;
    assert!(!is_black(60 + reach) && is_black(60 + reach + 2), "{reach}");
}

/// Every kind with every knob: the same bytes on one thread and on three.
#[test]
fn the_number_of_threads_changes_no_byte() {
    let knobs = "<noise><type>gaussian</type><stddev>0.01</stddev></noise>
        <distortion><k1>-0.2</k1></distortion><headland:imperfections>
        <motion_blur>0.02</motion_blur><rolling_shutter>0.03</rolling_shutter><drops>5</drops>
        <leaf>0.1</leaf><dirt>0.1</dirt><defocus>1</defocus><glare>0.2</glare><flare>0.5</flare>
        <exposure>0.5</exposure><low_contrast>0.2</low_contrast><bayer>1</bayer><jpeg>40</jpeg>
        </headland:imperfections>";
    let sensors = [camera("camera", "worn", knobs), camera("rgbd_camera", "both", knobs)].concat();
    assert!(said(&sensors, 1) == said(&sensors, 3));
    // One more sensor changes nothing that the others say.
    let more = [camera("camera", "new", knobs), sensors.clone()].concat();
    assert!(said(&more, 2).ends_with(&said(&sensors, 1)));
}

/// A label that is none is refused where it stands, as soon as a camera would show it.
#[test]
fn labels_that_are_none_are_refused() {
    for label in ["70000", "-1", "abc", "1.5", "", "65535", "0"] {
        let things = THINGS.replace("<label>40</label>", &format!("<label>{label}</label>"));
        let sensor = camera("segmentation_camera", "classes", "");
        let text = format!(
            "<sdf version='1.11'><world name='w'>{things}<model name='robot'>\
             <link name='head'>{sensor}</link></model></world></sdf>"
        );
        let source = Source::new("labels.sdf", text.clone());
        let read = read_text(source, Path::new(""), &ReadOptions::default()).unwrap();
        let model = Model::compile_read(&Arc::new(read.world), &read.places).unwrap();
        let (declared, _) = declare(&model, &read.places);
        let told = &declared[0].findings;
        if matches!(label, "65535" | "0") {
            assert!(told.is_empty(), "{told:?}");
            continue;
        }
        assert_eq!((told.len(), told[0].code), (1, "bad-label"), "{label}: {told:?}");
        let place = told[0].place.as_ref().unwrap();
        assert_eq!(&text[place.span.clone()], "plugin", "{label}");
        assert!(told[0].message.contains(label) && told[0].message.contains("`wall`"));
    }
}

/// What would be expected to matter and does not is told.
#[test]
fn what_is_not_heeded_is_told() {
    let fisheye = "<lens><type>equidistant</type></lens>";
    for (inside, expected) in [
        ("<distortion><center>0.4 0.5</center></distortion>".to_string(), "<center> is not heeded"),
        ("<lens><projection><p_cx>1</p_cx></projection></lens>".to_string(), "<projection> is not"),
        ("<lens><scale_to_hfov>false</scale_to_hfov></lens>".to_string(), "<scale_to_hfov> is not"),
        (format!("{fisheye}<distortion><p1>0.1</p1></distortion>"), "<p1> is not heeded"),
        ("<noise><stddev>0.1</stddev></noise>".to_string(), "noise without a type is none"),
        (String::new(), ""),
        ("<distortion><center>0.5 0.5</center><k1>0.1</k1></distortion>".to_string(), ""),
        (format!("{fisheye}<distortion><p1>0</p1></distortion>"), ""),
        ("<noise type='none'><stddev>0.1</stddev></noise>".to_string(), ""),
    ] {
        let (model, places) = model(&camera("camera", "odd", &inside));
        let told = &declare(&model, &places).0[0].findings;
        match expected {
            "" => assert!(told.is_empty(), "{inside}: {told:?}"),
            _ => {
                assert_eq!((told.len(), told[0].severity), (1, Severity::Warning), "{told:?}");
                assert!(told[0].message.contains(expected), "{told:?}");
            }
        }
    }
}

/// What stands twice and says two things is refused where it stands the second time.
#[test]
fn what_stands_twice_is_told() {
    for inside in [
        "<image><width>32</width></image><image><width>16</width></image>",
        "<headland:imperfections><glare>0.1</glare><glare>0.9</glare></headland:imperfections>",
        "<headland:imperfections><glare>0.1</glare></headland:imperfections>\
         <headland:imperfections><defocus>3</defocus></headland:imperfections>",
    ] {
        let sensor = format!("<sensor name='bad' type='camera'><camera>{inside}</camera></sensor>");
        assert!(refused(&sensor).contains("stands twice in"), "{inside}");
    }
    let twice = "<sensor name='a' type='camera'><update_rate>5</update_rate>\
                 <update_rate>6</update_rate><camera/></sensor>";
    assert!(refused(twice).contains("<update_rate> stands twice in <sensor>"));
    let same = twice.replace('6', "5");
    assert_eq!(refused(&same), "");
    let (model, places) = model(&same);
    let told = &declare(&model, &places).0[0].findings;
    assert_eq!((told[0].code, told[0].severity), ("repeated-element", Severity::Warning));
}

fn refused(sensor: &str) -> String {
    let (model, places) = model(sensor);
    let (declared, findings) = declare(&model, &places);
    let all = declared.iter().flat_map(|d| &d.findings).chain(&findings);
    let errors: Vec<String> = all
        .filter(|f| f.severity == Severity::Error)
        .map(|f| {
            let place = f.place.as_ref().map(|place| place.source.path.clone()).unwrap_or_default();
            format!("{place}: {}", f.message)
        })
        .collect();
    errors.join("\n")
}

#[test]
fn odd_cameras_are_defined_or_refused_before_the_run() {
    // One pixel.
    let one =
        "<sensor name='one' type='rgbd_camera'><camera><image><width>1</width><height>1</height>
        </image><distortion><k1>-0.1</k1></distortion><headland:imperfections><defocus>1</defocus>
        <glare>0.5</glare><bayer>1</bayer><jpeg>50</jpeg><drops>2</drops><leaf>0.5</leaf>
        <motion_blur>0.1</motion_blur><rolling_shutter>0.1</rolling_shutter>
        </headland:imperfections></camera></sensor>";
    assert_eq!(message::<Image>(&said(one, 1), "/robot/one/image_raw").data.len(), 3);
    // Inside of a body: the ball's own outside is not seen from within.
    let inside =
        "<sensor name='in' type='depth_camera'><pose>2 0.4 -0.1 0 0 0</pose><camera/></sensor>";
    let depth: Image = message(&said(inside, 1), "/robot/in/depth/image_raw");
    let middle = (120 * 320 + 160) * 4;
    let depth = f32::from_le_bytes(depth.data[middle..middle + 4].try_into().unwrap());
    assert!((depth - 0.9).abs() < 1e-3, "the wall is seen: {depth}");
    // A lens that folds inside the image is black there; one that shows nothing is refused.
    let folds = camera("camera", "fold", "<distortion><k1>-1.5</k1></distortion>");
    let image: Image = message(&said(&folds, 1), "/robot/fold/image_raw");
    assert_eq!(image.data[..3], [0, 0, 0]);
    assert!(image.data[(32 * 96 + 48) * 3] > 0);
    let cases = [
        ("<image><width>0</width></image>", "0 pixels wide"),
        ("<image><width>640</width><height>480</height><format>R7</format></image>", "`R7`"),
        ("<clip><near>2</near><far>2</far></clip>", "from 2 m to 2 m, which is nothing"),
        ("<headland:renderer>opengl</headland:renderer>", "`opengl`"),
        #[cfg(not(feature = "wgpu"))]
        ("<headland:renderer>wgpu</headland:renderer>", "feature `wgpu`"),
        ("<headland:encoding>gif</headland:encoding>", "`gif`"),
        ("<headland:encoding quality='0'>jpeg</headland:encoding>", "`0`"),
        ("<lens><type>stereographic</type></lens>", "`stereographic`"),
        (
            "<headland:imperfections><dirt>7</dirt></headland:imperfections>",
            "<dirt> is 7, and must be from 0 to 0.9",
        ),
    ];
    for (inside, expected) in cases {
        let sensor = format!("<sensor name='bad' type='camera'><camera>{inside}</camera></sensor>");
        let told = refused(&sensor);
        assert!(told.contains(expected), "{inside}: {told}");
        assert!(told.starts_with("cameras.sdf:"), "{told}");
    }
    assert!(refused("<sensor name='bad' type='camera'/>").contains("there is no <camera> in it"));
    let two = "<sensor name='bad' type='camera'><camera/><camera/></sensor>";
    assert!(refused(two).contains("more than one <camera>"));
    let alike =
        "<sensor name='bad' type='multicamera'><camera name='a'/><camera name='a'/></sensor>";
    assert!(refused(alike).contains("are called `a`"));
}
