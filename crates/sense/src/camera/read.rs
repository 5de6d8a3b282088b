//! Cameras as a World declares them: `<sensor>` with `<camera>` goes in, a [`Camera`] comes out,
//! or everything that is wrong with it.
//!
//! | type | shows |
//! |---|---|
//! | `camera`, `wideanglecamera` | colours |
//! | `depth_camera`, `depth` | depths |
//! | `rgbd_camera`, `rgbd` | both, and points |
//! | `segmentation_camera`, `segmentation` | which thing or class is where |
//! | `multicamera` | colours, of several cameras at the same moment |
//!
//! Of ours: `headland:renderer`, `headland:encoding`, `headland:imperfections`, and
//! `headland:depth_noise`, which is to depths what `noise` is to colours.

use headland_base::maths::PI;
use headland_base::{Diagnostic, Transform};
use headland_world::{Places, World, join_scope};

use super::model::{Camera, Coding, Format, Shows, shows};
use super::{MOST_PIXELS, MOST_PIXELS_A_SIDE, Pinhole, sensor_from_optical};
use crate::declare::element::Element;
use crate::declare::sensors_of;
use crate::imperfect::Imperfections;
use crate::lens::Lens;
use crate::noise::Noise;
use crate::render::RENDERERS;

/// Every camera of a World, in its order, and what is wrong with the others. Whether its renderer
/// is to be had on this machine is asked by whoever draws: that may be with another.
pub fn cameras(world: &World, places: &Places) -> (Vec<Camera>, Vec<Diagnostic>) {
    let (mut cameras, mut faults) = (Vec::new(), Vec::new());
    for found in sensors_of(world, places).iter().filter(|found| found.joint.is_none()) {
        let (mut of_it, mut is_camera) = (Vec::new(), false);
        let mut wrong = found.read(("camera", "bad-camera"), |sensor| {
            if shows(sensor.attribute("type").unwrap_or_default()).is_some() {
                is_camera = true;
                let name = join_scope(&found.owner, sensor.attribute("name").unwrap_or("sensor"));
                let link_from_sensor = found.owner_from_sensor(sensor);
                of_it.extend(cameras_of(sensor, &name, found.body_idx, link_from_sensor));
            }
        });
        wrong.retain(|finding| finding.severity == headland_base::Severity::Error);
        match wrong.is_empty() {
            true => cameras.extend(of_it),
            false if is_camera => faults.extend(wrong),
            false => {}
        }
    }
    (cameras, faults)
}

/// The cameras of a sensor that takes pictures; what is wrong is said.
pub(crate) fn cameras_of(
    sensor: Element<'_>,
    name: &str,
    link_idx: usize,
    link_from_sensor: Transform,
) -> Vec<Camera> {
    let word = sensor.attribute("type").unwrap_or_default();
    let shows = shows(word).unwrap_or(Shows::Colour);
    let nodes: Vec<Element<'_>> = sensor.children("camera").collect();
    if nodes.is_empty() {
        sensor.error("there is no <camera> in it");
    }
    if nodes.len() > 1 && word != "multicamera" {
        nodes[1].fault(
            "there is more than one <camera> in it",
            Some("a sensor of type `multicamera` has several".to_string()),
        );
    }
    let mut names: Vec<String> = Vec::new();
    let one = |(i, node): (usize, &Element<'_>)| {
        let own = node.attribute("name").map_or_else(|| format!("camera_{i}"), str::to_string);
        if names.contains(&own) {
            node.error(format!("two cameras in it are called `{own:.40}`"));
        }
        names.push(own.clone());
        let (name, among) = match word {
            "multicamera" => (join_scope(name, &own), Some(own)),
            _ => (name.to_string(), None),
        };
        camera(*node, (name, among), link_idx, link_from_sensor, shows)
    };
    nodes.iter().enumerate().filter_map(one).collect()
}

/// What may be in a `<camera>`.
const KNOWN: &[&str] = &[
    "box_type",
    "camera_info_topic",
    "clip",
    "depth_camera",
    "distortion",
    "headland:depth_noise",
    "headland:encoding",
    "headland:imperfections",
    "headland:renderer",
    "horizontal_fov",
    "image",
    "lens",
    "noise",
    "optical_frame_id",
    "pose",
    "save",
    "segmentation_type",
    "trigger_topic",
    "triggered",
    "visibility_mask",
];

fn camera(
    node: Element<'_>,
    (name, among): (String, Option<String>),
    link_idx: usize,
    link_from_sensor: Transform,
    shows: Shows,
) -> Option<Camera> {
    node.only(KNOWN);
    if let Some(save) = node.child("save") {
        save.remark("<save> is passed over: pictures go into the recording");
    }
    for (unheeded, why) in [
        ("visibility_mask", "it sees all that is visible"),
        ("camera_info_topic", "its CameraInfo is beside its pictures"),
        ("box_type", "boxes are the detector's"),
    ] {
        if let Some(element) = node.child(unheeded) {
            element.warn(format!("<{unheeded}> is not heeded: {why}"), None);
        }
    }
    if node.flag("triggered", false) {
        node.warn("it is not triggered by a topic, but looks at its own rate", None);
    }
    let (pinhole, lens, cutoff) = optics(node)?;
    let clip = clip(node)?;
    let (sensor_from_camera, frame) = node.pose();
    if let Some((at, frame)) = frame {
        at.error(format!("its pose is relative to `{frame}`; only that in its link is understood"));
    }
    let link_from_optical = link_from_sensor * sensor_from_camera * sensor_from_optical();
    let format =
        node.child("image").map_or(Format::Rgb8, |image| image.word("format", Format::ALL));
    let renderers: Vec<(&str, &str)> =
        RENDERERS.iter().map(|(name, _, _)| (*name, *name)).collect();
    let renderer = node.word("headland:renderer", &renderers);
    let shows = match shows {
        Shows::Classes => node.word("segmentation_type", SEGMENTATIONS),
        other => other,
    };
    let mut imperfections = Imperfections::read(node);
    let noise = node.noise();
    let is_white = noise == Noise { mean: noise.mean, ..Noise::gaussian(noise.stddev) };
    if let Some(written) = node.child("noise").filter(|_| !is_white && shows != Shows::Depth) {
        written.warn("of the noise of colours only <mean> and <stddev> are heeded", None);
    }
    // One knob: where both are given, the element of ours is meant.
    if imperfections.noise == 0.0 {
        imperfections.noise = noise.stddev;
        imperfections.noise_mean = noise.mean;
    }
    // Of a camera that shows depths alone both mean those, and there are no colours to spoil.
    let plain = Noise { mean: imperfections.noise_mean, stddev: imperfections.noise, ..noise };
    if shows == Shows::Depth {
        (imperfections.noise, imperfections.noise_mean) = (0.0, 0.0);
    }
    let depth_noise = match (node.child("headland:depth_noise"), shows) {
        (Some(_), Shows::Depth | Shows::Both) => node.noise_called("headland:depth_noise"),
        (Some(element), _) => {
            element.warn("a camera of this type shows no depths", None);
            Noise::default()
        }
        (None, Shows::Depth) => plain,
        (None, _) => Noise::default(),
    };
    let optical_frame_id = node.text_in("optical_frame_id").map(str::to_string);
    Some(Camera {
        name,
        among,
        link_idx,
        link_from_optical,
        pinhole,
        lens: lens.or_none(),
        cutoff,
        clip,
        shows,
        format,
        coding: coding(node),
        renderer,
        imperfections,
        depth_noise,
        optical_frame_id,
    })
}

const SEGMENTATIONS: &[(&str, Shows)] =
    &[("semantic", Shows::Classes), ("instance", Shows::Things), ("panoptic", Shows::Things)];

/// `raw`, `png`, `jpeg`, or `jpeg` of a quality: `<headland:encoding quality="80">jpeg</…>`.
fn coding(node: Element<'_>) -> Coding {
    let codings = [("raw", Coding::Raw), ("png", Coding::Png), ("jpeg", Coding::Jpeg(90))];
    let coding = node.word("headland:encoding", &codings);
    let said = node.child("headland:encoding").and_then(|e| Some((e, e.attribute("quality")?)));
    match (coding, said) {
        (Coding::Jpeg(_), Some((element, said))) => {
            let quality = said.parse::<u8>().ok().filter(|quality| (1..=100).contains(quality));
            if quality.is_none() {
                element.error(format!("a quality of `{said:.20}` is not a number from 1 to 100"));
            }
            Coding::Jpeg(quality.unwrap_or(90))
        }
        _ => coding,
    }
}

/// Nearest and furthest; those of a depth camera may stand in its own element.
fn clip(node: Element<'_>) -> Option<(f64, f64)> {
    let outer = node.child("clip");
    let inner = node.at(&["depth_camera", "clip"]);
    let of = |name: &str, default: f64| {
        let default = outer.map_or(default, |clip| clip.number(name, default));
        inner.map_or(default, |clip| clip.number(name, default))
    };
    let clip = (of("near", 0.1), of("far", 100.0));
    if clip.0 > 0.0 && clip.0 < clip.1 {
        return Some(clip);
    }
    let what = format!("it sees from {} m to {} m, which is nothing", clip.0, clip.1);
    inner.or(outer).unwrap_or(node).fault(what, Some("<clip>: 0 < near < far".to_string()));
    None
}

/// What a `<lens>` does with angles.
#[derive(Clone, Copy, PartialEq)]
enum Mapping {
    Pinhole,
    Equidistant,
}

/// Pixels, lens, and the angle beyond which it sees nothing.
fn optics(node: Element<'_>) -> Option<(Pinhole, Lens, f64)> {
    let (width, height) = image_size(node)?;
    let element = node.child("lens");
    let mappings = [
        ("gnomonical", Mapping::Pinhole),
        ("gnomonic", Mapping::Pinhole),
        ("equidistant", Mapping::Equidistant),
    ];
    let mapping = element.map_or(Mapping::Pinhole, |lens| lens.word("type", &mappings));
    let fov = node.number("horizontal_fov", 1.047);
    let most = if mapping == Mapping::Equidistant { 2.0 * PI } else { PI };
    if !(fov > 0.0 && fov < most) {
        let what = format!("a horizontal_fov of {fov} rad is no angle of a pinhole");
        let help = "give more than 0 and less than π; a fisheye (<lens><type>equidistant) sees \
                    up to 2 π";
        node.fault(what, Some(help.to_string()));
        return None;
    }
    let mut pinhole = match mapping {
        Mapping::Pinhole => Pinhole::from_fov(width, height, fov),
        Mapping::Equidistant => {
            // Any angle of a pinhole: only the pixels and the middle are of use.
            let mut pinhole = Pinhole::from_fov(width, height, 1.0);
            pinhole.focal = headland_base::maths::Vec2::splat(width as f64 / fov);
            pinhole
        }
    };
    if let Some(intrinsics) = element.and_then(|lens| lens.child("intrinsics")) {
        pinhole.focal.x = intrinsics.number("fx", pinhole.focal.x);
        pinhole.focal.y = intrinsics.number("fy", pinhole.focal.y);
        // SDF does not say from where pixels are counted. A calibration is pasted here, and Gazebo
        // sends the numbers on in K as they are, so they mean what K means to OpenCV.
        pinhole.centre.x = intrinsics.number("cx", pinhole.centre.x);
        pinhole.centre.y = intrinsics.number("cy", pinhole.centre.y);
        pinhole.skew = intrinsics.number("s", 0.0) / pinhole.focal.x;
    }
    if !(pinhole.focal.x > 0.0 && pinhole.focal.y > 0.0) {
        node.error("its focal lengths are not positive");
        return None;
    }
    let of = |name: &str| node.child("distortion").map_or(0.0, |lens| lens.number(name, 0.0));
    unheeded(node, mapping);
    let lens = match mapping {
        Mapping::Pinhole => {
            Lens::Bouguet { k: [of("k1"), of("k2"), of("k3")], p: [of("p1"), of("p2")] }
        }
        Mapping::Equidistant => {
            Lens::Fisheye { k: [of("k1"), of("k2"), of("k3"), of("headland:k4")] }
        }
    };
    // SDF's default is a quarter turn, which cuts a fisheye of more.
    let cutoff = match (mapping, element) {
        (Mapping::Equidistant, Some(lens)) => {
            lens.number_that("cutoff_angle", (fov * 0.5).max(PI * 0.5), "above 0", |x| x > 0.0)
        }
        _ => f64::INFINITY,
    };
    Some((pinhole, lens, cutoff))
}

/// Says what of a `<lens>` and a `<distortion>` is not heeded.
fn unheeded(node: Element<'_>, mapping: Mapping) {
    if let Some(lens) = node.child("lens") {
        let known = ["type", "scale_to_hfov", "custom_function", "cutoff_angle"];
        lens.only(&[&known[..], &["env_texture_size", "intrinsics", "projection"]].concat());
        for (name, why) in [
            ("projection", "<intrinsics> says where the picture is"),
            ("custom_function", "a lens is a pinhole or `equidistant`"),
        ] {
            if let Some(element) = lens.child(name) {
                element.warn(format!("<{name}> is not heeded: {why}"), None);
            }
        }
        if !lens.flag("scale_to_hfov", true) {
            let what = "<scale_to_hfov> is not heeded: the picture is horizontal_fov wide";
            lens.warn(what, Some("<intrinsics> says otherwise".to_string()));
        }
    }
    let Some(distortion) = node.child("distortion") else { return };
    let mut known = vec!["k1", "k2", "k3", "p1", "p2", "center"];
    known.extend((mapping == Mapping::Equidistant).then_some("headland:k4"));
    distortion.only(&known);
    if let Some(center) = distortion.child("center")
        && center.values::<2>().is_some_and(|center| center != [0.5, 0.5])
    {
        let help = "<cx> and <cy> in <lens><intrinsics>".to_string();
        let what = "<center> is not heeded: a lens bends about the principal point";
        center.warn(what, Some(help));
    }
    for name in ["p1", "p2"].into_iter().filter(|_| mapping == Mapping::Equidistant) {
        if let Some(element) = distortion.child(name).filter(|it| it.value() != Some(0.0)) {
            let what = format!("<{name}> is not heeded: a fisheye has k1, k2, k3 and headland:k4");
            element.warn(what, None);
        }
    }
}

/// Width and height; SDF's defaults are 320 and 240.
fn image_size(camera: Element<'_>) -> Option<(usize, usize)> {
    let image = camera.child("image");
    let side = |what: &str, default: f64| {
        let n = image.map_or(default, |image| image.number(what, default));
        if n >= 1.0 && n <= MOST_PIXELS_A_SIDE as f64 && n.fract() == 0.0 {
            return Some(n as usize);
        }
        let way = if what == "width" { "wide" } else { "high" };
        let help = format!("give a whole number from 1 to {MOST_PIXELS_A_SIDE}");
        image.unwrap_or(camera).fault(format!("its image is {n} pixels {way}"), Some(help));
        None
    };
    let (width, height) = (side("width", 320.0), side("height", 240.0));
    let (width, height) = (width?, height?);
    if width * height > MOST_PIXELS {
        camera.error(format!("its image of {width} × {height} pixels is too large"));
        return None;
    }
    Some((width, height))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::Vec3;
    use headland_world::{Link, Model, Opaque};

    fn world(xml: &str) -> World {
        let sensor = Opaque {
            format: "sdf",
            kind: "sensor".to_string(),
            name: Some("eye".to_string()),
            xml: xml.to_string(),
        };
        let link = Link { name: "head".to_string(), opaque: vec![sensor], ..Link::default() };
        let model = Model { name: "robot".to_string(), links: vec![link], ..Model::default() };
        World { models: vec![model], ..World::default() }
    }

    #[test]
    fn cameras_are_read_from_sdf() {
        let (found, faults) = cameras(
            &world(
                "<sensor name='eye' type='camera'><pose>1 0 0 0 0 0</pose><update_rate>20</update_rate>\
             <camera><horizontal_fov>2</horizontal_fov><image><width>64</width><height>48</height>\
             </image><clip><near>0.02</near><far>30</far></clip>\
             <distortion><k1>-0.1</k1><p2>0.01</p2></distortion></camera></sensor>",
            ),
            &Places::default(),
        );
        assert!(faults.is_empty());
        let camera = &found[0];
        assert_eq!((camera.name.as_str(), camera.link_idx), ("robot::head::eye", 0));
        assert_eq!(camera.pinhole, Pinhole::from_fov(64, 48, 2.0));
        assert_eq!(camera.lens, Lens::Bouguet { k: [-0.1, 0.0, 0.0], p: [0.0, 0.01] });
        assert_eq!(camera.clip, (0.02, 30.0));
        let view = camera.view(&[Transform::IDENTITY]);
        assert_eq!(view.world_from_optical.translation, Vec3::X);
        let (found, faults) =
            cameras(&world("<sensor name='eye' type='imu'/>"), &Places::default());
        assert!(found.is_empty() && faults.is_empty());
    }

    #[test]
    fn cameras_that_cannot_be_are_refused_in_words() {
        let of = |inside: &str| {
            let xml = format!("<sensor type='camera'><camera>{inside}</camera></sensor>");
            let (found, faults) = cameras(&world(&xml), &Places::default());
            assert!(found.is_empty(), "{inside}");
            assert_eq!(faults[0].code, "bad-camera");
            faults[0].message.clone()
        };
        assert!(of("<image><width>0</width></image>").contains("0 pixels wide"));
        assert!(of("<image><height>2.5</height></image>").contains("2.5 pixels high"));
        assert!(of("<image><width>16384</width><height>16384</height></image>").contains("pixels"));
        assert!(of("<horizontal_fov>3.5</horizontal_fov>").contains("3.5 rad"));
        assert!(of("<horizontal_fov>wide</horizontal_fov>").contains("`wide`"));
        assert!(of("<clip><near>2</near><far>1</far></clip>").contains("from 2 m to 1 m"));
        assert!(of("<pose>1 2 3</pose>").contains("not 6 numbers"));
        assert!(of("<pose relative_to='map'>0 0 0 0 0 0</pose>").contains("`map`"));
        let (_, faults) = cameras(&world("<sensor type='camera'/>"), &Places::default());
        assert!(faults[0].message.contains("no <camera>"));
    }
}
