//! Cameras: pinholes, where they look, and the `<camera>` sensors of a World.
//!
//! The frames, once and for all. A camera of SDF looks along its own +x, with +y to the left and
//! +z up. Formulas of images are written in the *optical* frame, which is ROS's: +z forward, +x
//! to the right, +y down. [`sensor_from_optical`] turns the one into the other, and a [`View`]
//! holds the optical frame.
//!
//! Pixel (0, 0) is the centre of the top left pixel, as in OpenCV; u runs right, v down. The
//! image therefore reaches from −0.5 to width − 0.5, and the principal point of a camera that
//! says nothing of it is ((width − 1)/2, (height − 1)/2).

use headland_base::maths::{PI, Vec2, tan};
use headland_base::{Diagnostic, Quat, Transform, Vec3};
use headland_world::{Opaque, World};
use roxmltree::{Document, Node};

use crate::lens::Lens;

/// The largest image, a side \[pixels\].
pub const MOST_PIXELS_A_SIDE: usize = 16_384;

/// The largest image in all, as large as 4096 by 4096 \[pixels\].
pub const MOST_PIXELS: usize = 1 << 24;

/// How a pinhole maps directions to pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pinhole {
    /// Pixels along u.
    pub width: usize,
    /// Pixels along v.
    pub height: usize,
    /// Focal lengths \[pixels\].
    pub focal: Vec2,
    /// The pixel that the optical axis meets.
    pub centre: Vec2,
    /// Bouguet's α: u = fx·(x + α·y) + cx.
    pub skew: f64,
}

impl Pinhole {
    /// From the angle between the left and the right border of the image \[rad\].
    pub fn from_fov(width: usize, height: usize, horizontal_fov: f64) -> Pinhole {
        let focal = width as f64 * 0.5 / tan(horizontal_fov * 0.5);
        let middle = |n: usize| (n as f64 - 1.0) * 0.5;
        Pinhole {
            width,
            height,
            focal: Vec2::splat(focal),
            centre: Vec2::new(middle(width), middle(height)),
            skew: 0.0,
        }
    }

    /// The pixel of a direction (x, y, 1).
    pub fn pixel(&self, direction: Vec2) -> Vec2 {
        let x = direction.x + self.skew * direction.y;
        Vec2::new(self.focal.x * x + self.centre.x, self.focal.y * direction.y + self.centre.y)
    }

    /// The direction (x, y, 1) of a pixel.
    pub fn direction(&self, pixel: Vec2) -> Vec2 {
        let y = (pixel.y - self.centre.y) / self.focal.y;
        Vec2::new((pixel.x - self.centre.x) / self.focal.x - self.skew * y, y)
    }

    /// The pixel of a point in the optical frame; `None` for what is behind.
    pub fn project(&self, point_in_optical: Vec3) -> Option<Vec2> {
        let z = point_in_optical.z;
        (z > 0.0).then(|| self.pixel(Vec2::new(point_in_optical.x / z, point_in_optical.y / z)))
    }
}

/// The optical frame in that of an SDF camera: its z is the sensor's x, its x the sensor's −y.
pub fn sensor_from_optical() -> Transform {
    Transform::from_rotation(Quat::from_xyzw(-0.5, 0.5, -0.5, 0.5))
}

/// A camera at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// How it maps directions to pixels.
    pub pinhole: Pinhole,
    /// Where it is and looks: +z forward, +x right, +y down.
    pub world_from_optical: Transform,
    /// Nothing nearer along the axis is seen \[m\].
    pub near: f64,
    /// Nothing further along the axis is seen \[m\].
    pub far: f64,
}

impl View {
    /// From one point to another, upright. Straight up or down, the world's +x is up in the
    /// image.
    pub fn look_at(pinhole: Pinhole, eye: Vec3, at: Vec3) -> View {
        let unit = |v: Vec3| v / headland_base::maths::sqrt(v.dot(v));
        let forward = if (at - eye).length_squared() > 0.0 { unit(at - eye) } else { Vec3::X };
        let up = if forward.z.abs() > 1.0 - 1e-9 { Vec3::X } else { Vec3::Z };
        let right = unit(forward.cross(up));
        let down = forward.cross(right);
        let turned = headland_base::Mat3::from_cols(right, down, forward);
        let rotation = Quat::from_mat3(&turned);
        let world_from_optical = Transform::new(rotation, eye);
        View { pinhole, world_from_optical, near: 0.01, far: 1000.0 }
    }

    /// The direction of a pixel in the world; its length along the axis is 1, so distances along
    /// it are depths.
    pub fn direction(&self, pixel: Vec2) -> Vec3 {
        self.world_from_optical.vector(self.pinhole.direction(pixel).extend(1.0))
    }
}

/// A camera that a World declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// The whole name: `robot::head::head_camera`.
    pub name: String,
    /// The link that carries it, in the order of [`World::links`].
    pub link_idx: usize,
    /// Where its optical frame is in the link.
    pub link_from_optical: Transform,
    /// What it would see without a lens.
    pub pinhole: Pinhole,
    /// What its lens does.
    pub lens: Lens,
    /// Nothing nearer or further is seen \[m\].
    pub clip: (f64, f64),
    /// Images per second; every step where the file says nothing.
    pub rate: Option<f64>,
}

impl Camera {
    /// The camera where its link is now.
    pub fn view(&self, world_from_link: &[Transform]) -> View {
        View {
            pinhole: self.pinhole,
            world_from_optical: world_from_link[self.link_idx] * self.link_from_optical,
            near: self.clip.0,
            far: self.clip.1,
        }
    }
}

/// Kinds of SDF sensors that take pictures.
const KINDS: &[&str] = &["camera", "depth", "depth_camera", "rgbd", "rgbd_camera"];

/// Every camera of a World, in its order, and what is wrong with the others.
pub fn cameras(world: &World) -> (Vec<Camera>, Vec<Diagnostic>) {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for (link_idx, placed) in world.links().iter().enumerate() {
        for opaque in placed.link.opaque.iter().filter(|o| o.kind == "sensor" && o.format == "sdf")
        {
            let name = format!("{}::{}", placed.name, opaque.name.as_deref().unwrap_or("sensor"));
            match camera(opaque, name, link_idx) {
                Ok(camera) => found.extend(camera),
                Err(fault) => faults.push(fault),
            }
        }
    }
    (found, faults)
}

/// The camera of a sensor; nothing where it is another kind of sensor.
fn camera(opaque: &Opaque, name: String, link_idx: usize) -> Result<Option<Camera>, Diagnostic> {
    let xml = with_namespaces(&opaque.xml);
    let bad = |what: String| Diagnostic::error("bad-camera", format!("camera `{name}`: {what}"));
    let document = Document::parse(&xml).map_err(|error| bad(error.to_string()))?;
    let sensor = document.root_element();
    let kind = sensor.attribute("type").unwrap_or_default();
    if !KINDS.contains(&kind) {
        return Ok(None);
    }
    let none = || bad("there is no <camera> in it".to_string());
    let node = child(sensor, "camera").ok_or_else(none)?;
    let number = |path: &[&str], default: f64| -> Result<f64, Diagnostic> {
        let Some(text) = text_at(node, path) else { return Ok(default) };
        let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| bad(format!("`{text}` in <{}> is no number", path.join("><"))))
    };
    let side = |what: &str, default: f64| -> Result<usize, Diagnostic> {
        let n = number(&["image", what], default)?;
        if n >= 1.0 && n <= MOST_PIXELS_A_SIDE as f64 && n.fract() == 0.0 {
            return Ok(n as usize);
        }
        Err(bad(format!(
            "its image is {n} pixels {}",
            if what == "width" { "wide" } else { "high" }
        ))
        .help(format!("give a whole number from 1 to {MOST_PIXELS_A_SIDE}")))
    };
    // SDF's defaults.
    let (width, height) = (side("width", 320.0)?, side("height", 240.0)?);
    if width * height > MOST_PIXELS {
        return Err(bad(format!("its image of {width} × {height} pixels is too large")));
    }
    let fov = number(&["horizontal_fov"], 1.047)?;
    if !(fov > 0.0 && fov < PI) {
        return Err(bad(format!("a horizontal_fov of {fov} rad is no angle of a pinhole"))
            .help("give more than 0 and less than π; a fisheye lens sees more"));
    }
    let mut pinhole = Pinhole::from_fov(width, height, fov);
    let at = |name: &'static str| ["lens", "intrinsics", name];
    if let Some(intrinsics) = child(node, "lens").and_then(|lens| child(lens, "intrinsics")) {
        let has = |name: &str| child(intrinsics, name).is_some();
        pinhole.focal.x = number(&at("fx"), pinhole.focal.x)?;
        pinhole.focal.y = number(&at("fy"), pinhole.focal.y)?;
        // Gazebo counts from the corner of the image, where its default is the middle.
        if has("cx") {
            pinhole.centre.x = number(&at("cx"), 0.0)? - 0.5;
        }
        if has("cy") {
            pinhole.centre.y = number(&at("cy"), 0.0)? - 0.5;
        }
        pinhole.skew = number(&at("s"), 0.0)? / pinhole.focal.x;
    }
    if !(pinhole.focal.x > 0.0 && pinhole.focal.y > 0.0) {
        return Err(bad("its focal lengths are not positive".to_string()));
    }
    let of = |name: &'static str| number(&["distortion", name], 0.0);
    let lens = Lens::Bouguet { k: [of("k1")?, of("k2")?, of("k3")?], p: [of("p1")?, of("p2")?] };
    let clip = (number(&["clip", "near"], 0.1)?, number(&["clip", "far"], 100.0)?);
    if !(clip.0 > 0.0 && clip.0 < clip.1) {
        let what = format!("it sees from {} m to {} m, which is nothing", clip.0, clip.1);
        return Err(bad(what).help("<clip>: 0 < near < far"));
    }
    let rate = text_at(sensor, &["update_rate"]).and_then(|text| text.trim().parse::<f64>().ok());
    let rate = rate.filter(|rate| rate.is_finite() && *rate > 0.0);
    let pose = |node: Node<'_, '_>| pose(node).map_err(&bad);
    let link_from_sensor = pose(sensor)? * pose(node)?;
    let link_from_optical = link_from_sensor * sensor_from_optical();
    let lens = lens.or_none();
    Ok(Some(Camera { name, link_idx, link_from_optical, pinhole, lens, clip, rate }))
}

/// What a piece of a file needs to stand alone: prefixes it uses are bound to something.
fn with_namespaces(xml: &str) -> String {
    if !xml.contains("headland:") || xml.contains("xmlns:headland") {
        return xml.to_string();
    }
    let end = xml.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(xml.len());
    format!("{} xmlns:headland=\"urn:headland:sdf\"{}", &xml[..end], &xml[end..])
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|child| child.tag_name().name() == name)
}

fn text_at<'a>(node: Node<'a, '_>, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(node, |node, name| child(node, name))?.text()
}

fn pose(node: Node<'_, '_>) -> Result<Transform, String> {
    let Some(pose) = child(node, "pose") else { return Ok(Transform::IDENTITY) };
    if let Some(frame) = pose.attribute("relative_to").filter(|frame| !frame.is_empty()) {
        return Err(format!(
            "its pose is relative to `{frame}`; only that in its link is understood"
        ));
    }
    let text = pose.text().unwrap_or_default();
    let numbers: Option<Vec<f64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    let numbers = numbers.filter(|all| all.iter().all(|x: &f64| x.is_finite()));
    let degrees = pose.attribute("degrees").is_some_and(|word| word == "true" || word == "1");
    let scale = if degrees { PI / 180.0 } else { 1.0 };
    match numbers.as_deref() {
        Some([]) => Ok(Transform::IDENTITY),
        Some([x, y, z, roll, pitch, yaw]) => Ok(Transform::from_xyz_rpy(
            Vec3::new(*x, *y, *z),
            Vec3::new(*roll, *pitch, *yaw) * scale,
        )),
        _ => Err(format!("`{text}` is no pose of six numbers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_world::{Link, Model};

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
    fn sdf_looks_along_x_and_ros_along_z() {
        let turned = sensor_from_optical();
        assert!((turned.vector(Vec3::Z) - Vec3::X).length() < 1e-15);
        assert!((turned.vector(Vec3::X) + Vec3::Y).length() < 1e-15);
        assert!((turned.vector(Vec3::Y) + Vec3::Z).length() < 1e-15);
    }

    /// The border of the image, half a pixel beyond the last centre, is at half the angle.
    #[test]
    fn the_first_pixel_is_counted_from_its_centre() {
        let pinhole = Pinhole::from_fov(640, 480, 1.2);
        let border = pinhole.direction(Vec2::new(639.5, 239.5));
        assert!((border.x - tan(0.6)).abs() < 1e-12 && border.y.abs() < 1e-12);
        for pixel in [Vec2::ZERO, Vec2::new(12.0, 400.5)] {
            let skewed = Pinhole { skew: 0.02, ..pinhole };
            assert!((skewed.pixel(skewed.direction(pixel)) - pixel).length() < 1e-9);
        }
        assert_eq!(pinhole.project(Vec3::new(0.0, 0.0, -1.0)), None);
    }

    #[test]
    fn views_look_where_they_are_told_and_stand_upright() {
        let pinhole = Pinhole::from_fov(101, 101, 1.0);
        let view = View::look_at(pinhole, Vec3::new(3.0, -2.0, 1.0), Vec3::new(0.0, 1.0, 0.5));
        let in_optical = |p: Vec3| view.world_from_optical.inverse().point(p);
        let at = pinhole.project(in_optical(Vec3::new(0.0, 1.0, 0.5))).unwrap();
        assert!((at - Vec2::splat(50.0)).length() < 1e-9);
        let above = pinhole.project(in_optical(Vec3::new(0.0, 1.0, 0.9))).unwrap();
        assert!((above.x - 50.0).abs() < 1e-9 && above.y < 50.0);
    }

    #[test]
    fn cameras_are_read_from_sdf() {
        let (found, faults) = cameras(&world(
            "<sensor name='eye' type='camera'><pose>1 0 0 0 0 0</pose><update_rate>20</update_rate>\
             <camera><horizontal_fov>2</horizontal_fov><image><width>64</width><height>48</height>\
             </image><clip><near>0.02</near><far>30</far></clip>\
             <distortion><k1>-0.1</k1><p2>0.01</p2></distortion></camera></sensor>",
        ));
        assert!(faults.is_empty());
        let camera = &found[0];
        assert_eq!((camera.name.as_str(), camera.link_idx), ("robot::head::eye", 0));
        assert_eq!(camera.pinhole, Pinhole::from_fov(64, 48, 2.0));
        assert_eq!(camera.lens, Lens::Bouguet { k: [-0.1, 0.0, 0.0], p: [0.0, 0.01] });
        assert_eq!((camera.clip, camera.rate), ((0.02, 30.0), Some(20.0)));
        let view = camera.view(&[Transform::IDENTITY]);
        assert_eq!(view.world_from_optical.translation, Vec3::X);
        let (found, faults) = cameras(&world("<sensor name='eye' type='imu'/>"));
        assert!(found.is_empty() && faults.is_empty());
    }

    #[test]
    fn cameras_that_cannot_be_are_refused_in_words() {
        let of = |inside: &str| {
            let xml = format!("<sensor type='camera'><camera>{inside}</camera></sensor>");
            let (found, faults) = cameras(&world(&xml));
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
        assert!(of("<pose>1 2 3</pose>").contains("no pose"));
        assert!(of("<pose relative_to='map'>0 0 0 0 0 0</pose>").contains("`map`"));
        let (_, faults) = cameras(&world("<sensor type='camera'/>"));
        assert!(faults[0].message.contains("no <camera>"));
    }
}
