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
use headland_world::{Places, World, join_scope};

use crate::declare::element::Element;
use crate::declare::sensors_of;
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
pub fn cameras(world: &World, places: &Places) -> (Vec<Camera>, Vec<Diagnostic>) {
    let (mut cameras, mut faults) = (Vec::new(), Vec::new());
    for found in sensors_of(world, places).iter().filter(|found| found.joint.is_none()) {
        let (mut of_it, mut is_camera) = (None, false);
        let wrong = found.read(("camera", "bad-camera"), |sensor| {
            if KINDS.contains(&sensor.attribute("type").unwrap_or_default()) {
                is_camera = true;
                let name = join_scope(&found.owner, sensor.attribute("name").unwrap_or("sensor"));
                let link_from_sensor = found.owner_from_sensor(sensor);
                of_it = camera(sensor, name, found.body_idx, link_from_sensor);
            }
        });
        match wrong.is_empty() {
            true => cameras.extend(of_it),
            false if is_camera => faults.extend(wrong),
            false => {}
        }
    }
    (cameras, faults)
}

/// The camera of a sensor that is one; what is wrong is said.
fn camera(
    sensor: Element<'_>,
    name: String,
    link_idx: usize,
    link_from_sensor: Transform,
) -> Option<Camera> {
    let Some(node) = sensor.child("camera") else {
        sensor.error("there is no <camera> in it");
        return None;
    };
    let (width, height) = image_size(node)?;
    let fov = node.number("horizontal_fov", 1.047);
    if !(fov > 0.0 && fov < PI) {
        let what = format!("a horizontal_fov of {fov} rad is no angle of a pinhole");
        let help = "give more than 0 and less than π; a fisheye lens sees more";
        node.fault(what, Some(help.to_string()));
        return None;
    }
    let mut pinhole = Pinhole::from_fov(width, height, fov);
    if let Some(intrinsics) = node.at(&["lens", "intrinsics"]) {
        pinhole.focal.x = intrinsics.number("fx", pinhole.focal.x);
        pinhole.focal.y = intrinsics.number("fy", pinhole.focal.y);
        // Gazebo counts from the corner of the image, where its default is the middle.
        pinhole.centre.x = intrinsics.number("cx", pinhole.centre.x + 0.5) - 0.5;
        pinhole.centre.y = intrinsics.number("cy", pinhole.centre.y + 0.5) - 0.5;
        pinhole.skew = intrinsics.number("s", 0.0) / pinhole.focal.x;
    }
    if !(pinhole.focal.x > 0.0 && pinhole.focal.y > 0.0) {
        node.error("its focal lengths are not positive");
        return None;
    }
    let of = |name: &str| node.child("distortion").map_or(0.0, |lens| lens.number(name, 0.0));
    let lens = Lens::Bouguet { k: [of("k1"), of("k2"), of("k3")], p: [of("p1"), of("p2")] };
    let clip =
        |name: &str, default| node.child("clip").map_or(default, |c| c.number(name, default));
    let clip = (clip("near", 0.1), clip("far", 100.0));
    if !(clip.0 > 0.0 && clip.0 < clip.1) {
        let what = format!("it sees from {} m to {} m, which is nothing", clip.0, clip.1);
        node.fault(what, Some("<clip>: 0 < near < far".to_string()));
        return None;
    }
    let rate = Some(sensor.number("update_rate", 0.0)).filter(|rate| *rate > 0.0);
    let (sensor_from_camera, frame) = node.pose();
    if let Some((at, frame)) = frame {
        at.error(format!("its pose is relative to `{frame}`; only that in its link is understood"));
    }
    let link_from_optical = link_from_sensor * sensor_from_camera * sensor_from_optical();
    let lens = lens.or_none();
    Some(Camera { name, link_idx, link_from_optical, pinhole, lens, clip, rate })
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
        assert_eq!((camera.clip, camera.rate), ((0.02, 30.0), Some(20.0)));
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
