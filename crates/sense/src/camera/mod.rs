//! Cameras: pinholes and where they look.
//!
//! ```text
//! <sensor type="camera"> ─ read ─► Camera ─ view, table ─► pictures of `headland render`
//!                                     └─── sensor ─► images and their CameraInfo in a run
//!
//! both by way of a Film: what is recorded is what is shown
//! ```
//!
//! The frames, once and for all. A camera of SDF looks along its own +x, with +y to the left and
//! +z up. Formulas of images are written in the *optical* frame, which is ROS's: +z forward, +x
//! to the right, +y down. [`sensor_from_optical`] turns the one into the other, and a [`View`]
//! holds the optical frame.
//!
//! Pixel (0, 0) is the centre of the top left pixel, as in OpenCV; u runs right, v down. The
//! image therefore reaches from −0.5 to width − 0.5, and the principal point of a camera that
//! says nothing of it is ((width − 1)/2, (height − 1)/2).

mod film;
mod info;
mod labels;
mod model;
mod read;
mod sensor;
mod shutter;

use headland_base::maths::{Vec2, tan};
use headland_base::{Quat, Transform, Vec3};

pub use film::{Film, depth_colour};
pub use info::camera_info;
pub(crate) use model::shows;
pub use model::{Camera, Coding, Format, Shows};
pub use read::cameras;
pub(crate) use sensor::KINDS;
pub use shutter::{Shutter, poses_after};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
