//! Kinematics of a leg of six joints, in closed form both ways.
//!
//! Yaw, roll and pitch of the hip meet in one point, pitch and roll of the ankle in another,
//! and the knee turns as the two pitches do. Where the foot is to be then decides the angles:
//! the distance from ankle to hip gives the knee, its direction seen from the foot gives the
//! ankle, and what rotation is left is the hip's.

use headland_base::maths::{acos, atan2, quat_from_axis_angle, sqrt};
use headland_base::{Mat3, Transform, Vec3};

use crate::skeleton::{Bone, Side};

/// A leg's lengths, in the root's frame with all joints at zero \[m\].
#[derive(Clone, Copy, Debug)]
pub struct Leg {
    /// Where the axes of the hip meet.
    pub hip: Vec3,
    /// From knee to hip.
    pub thigh: Vec3,
    /// From ankle to knee.
    pub shank: Vec3,
    /// From ankle to the middle of the sole.
    pub sole: Vec3,
}

/// The six angles of a leg: yaw, roll, pitch, knee, pitch, roll \[rad\].
pub type LegJoints = [f64; 6];

/// How far axes may miss each other \[m\].
const MEET: f64 = 1e-6;

impl Leg {
    /// Reads the lengths off the bones at zero, or says what is not as a leg must be.
    pub(crate) fn of(
        bones: &[Bone],
        poses: &[Transform],
        side: Side,
        sole: Vec3,
    ) -> Result<Leg, String> {
        let joints: Vec<Transform> =
            (0..6).map(|i| bones[side.leg() + i].root_from_joint(poses)).collect();
        let wanted = [Vec3::Z, Vec3::X, Vec3::Y, Vec3::Y, Vec3::Y, Vec3::X];
        for (i, (joint, wanted)) in joints.iter().zip(wanted).enumerate() {
            let axis = joint.vector(bones[side.leg() + i].axis());
            if (axis - wanted).length() > MEET {
                return Err(format!(
                    "the axis of `{}` is {axis}, not {wanted}",
                    crate::skeleton::JOINTS[side.leg() + i]
                ));
            }
        }
        let at = |i: usize| joints[i].translation;
        let (hip, knee, ankle) = (at(2), at(3), at(4));
        let misses =
            |point: Vec3, axis: Vec3, through: Vec3| (through - point).cross(axis).length() > MEET;
        if misses(at(0), Vec3::Z, hip) || misses(at(1), Vec3::X, hip) {
            return Err(format!("the axes of the {side:?} hip do not meet in a point"));
        }
        if misses(at(5), Vec3::X, ankle) {
            return Err(format!("the axes of the {side:?} ankle do not meet in a point"));
        }
        let (thigh, shank) = (hip - knee, knee - ankle);
        if thigh.y.abs() > MEET || shank.y.abs() > MEET {
            return Err(format!("the {side:?} knee is not in the plane of hip and ankle"));
        }
        Ok(Leg { hip, thigh, shank, sole: sole - ankle })
    }

    /// How far the ankle can be from the hip \[m\].
    pub fn reach(&self) -> f64 {
        self.thigh.length() + self.shank.length()
    }

    /// Where the sole is in the root's frame.
    pub fn root_from_sole(&self, q: &LegJoints) -> Transform {
        let turn = |axis, angle| Transform::from_rotation(quat_from_axis_angle(axis, angle));
        Transform::from_translation(self.hip)
            * turn(Vec3::Z, q[0])
            * turn(Vec3::X, q[1])
            * turn(Vec3::Y, q[2])
            * Transform::from_translation(-self.thigh)
            * turn(Vec3::Y, q[3])
            * Transform::from_translation(-self.shank)
            * turn(Vec3::Y, q[4])
            * turn(Vec3::X, q[5])
            * Transform::from_translation(self.sole)
    }

    /// The angles that put the sole there with the knee bent forwards. A pose out of reach is
    /// approached as far as the leg goes, with the foot turned as asked.
    pub fn angles(&self, root_from_sole: Transform) -> LegJoints {
        let turn = root_from_sole.rotation;
        let ankle = root_from_sole.point(-self.sole);
        // From ankle to hip, seen from the foot.
        let r = turn.conjugate() * (self.hip - ankle);
        let polar = |v: Vec3| (sqrt(v.x * v.x + v.z * v.z), atan2(v.x, v.z));
        let ((a, alpha), (b, beta)) = (polar(self.shank), polar(self.thigh));
        // |shank + Ry(−knee)·thigh| is that distance: the law of cosines.
        let cosine = (r.dot(r) - a * a - b * b) / (2.0 * a * b);
        let knee = acos(cosine.clamp(-1.0, 1.0)) - alpha + beta;
        let ankle_roll = atan2(r.y, r.z);
        let upright = sqrt(r.y * r.y + r.z * r.z);
        let (bx, bz) = {
            let turned = quat_from_axis_angle(Vec3::Y, -knee) * self.thigh;
            (self.shank.x + turned.x, self.shank.z + turned.z)
        };
        let ankle_pitch = atan2(bx, bz) - atan2(r.x, upright);
        let hip = turn
            * quat_from_axis_angle(Vec3::X, -ankle_roll)
            * quat_from_axis_angle(Vec3::Y, -ankle_pitch - knee);
        // Rz(yaw)·Rx(roll)·Ry(pitch), read off its matrix.
        let m = Mat3::from_quat(hip);
        let (m01, m11, m21) = (m.y_axis.x, m.y_axis.y, m.y_axis.z);
        let (m20, m22) = (m.x_axis.z, m.z_axis.z);
        let yaw = atan2(-m01, m11);
        let roll = atan2(m21, sqrt(m01 * m01 + m11 * m11));
        let pitch = atan2(-m20, m22);
        [yaw, roll, pitch, knee, ankle_pitch, ankle_roll]
    }
}
