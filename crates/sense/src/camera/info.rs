//! `sensor_msgs/CameraInfo`: what OpenCV and ROS need to know of a camera.
//!
//! With K and D of it, `cv2.undistort` makes the image of a lens that of the pinhole with the
//! same K. P is that pinhole's; of the cameras of a pair its fourth column says where the camera
//! is beside the first: −fx·baseline.

use headland_record::messages::CameraInfo;

use super::Pinhole;
use crate::lens::Lens;

/// Of a camera that stands `baseline` metres to the right of the one its pictures are compared
/// with. The header is left empty.
pub fn camera_info(pinhole: &Pinhole, lens: &Lens, baseline: f64) -> CameraInfo {
    let (fx, fy) = (pinhole.focal.x, pinhole.focal.y);
    let (cx, cy, s) = (pinhole.centre.x, pinhole.centre.y, fx * pinhole.skew);
    let (model, d) = match *lens {
        Lens::None => ("plumb_bob", vec![0.0; 5]),
        Lens::Bouguet { k: [k1, k2, k3], p: [p1, p2] } => ("plumb_bob", vec![k1, k2, p1, p2, k3]),
        Lens::Fisheye { k } => ("equidistant", k.to_vec()),
    };
    CameraInfo {
        height: pinhole.height as u32,
        width: pinhole.width as u32,
        distortion_model: model.to_string(),
        d,
        k: [fx, s, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
        r: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        // Not −0 where there is no other.
        p: [fx, s, cx, 0.0 - fx * baseline, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        ..CameraInfo::default()
    }
}
