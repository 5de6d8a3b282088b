//! The house's vectors, and the only trigonometry that may reach a recording.
//!
//! `std`'s `sin` asks the platform, and platforms differ in the last bit. These are
//! `libm`'s, compiled into the program, so the bytes of a recording do not depend on
//! the C library of the machine. `clippy.toml` bans the others.

pub use glam::{DMat3 as Mat3, DQuat as Quat, DVec2 as Vec2, DVec3 as Vec3, DVec4 as Vec4};
pub use libm::{acos, asin, atan, atan2, cbrt, cos, erf, erfc, exp, expm1, fmod, hypot};
pub use libm::{log, log1p, log10, pow, sin, tan};
pub use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Square root; IEEE 754 defines it to the last bit, so every platform agrees.
///
/// `std`'s, for `libm`'s is an instruction written out, the same whatever is around it: lanes cannot
/// take eight at once, and among wide registers newer processors stop for it. Half of the time of
/// hard contacts went there.
#[inline(always)]
pub fn sqrt(x: f64) -> f64 {
    x.sqrt()
}

/// The length of a vector, for kernels over lanes: `glam`'s takes the root of `libm`.
#[inline(always)]
pub fn length(v: Vec3) -> f64 {
    sqrt(v.dot(v))
}

/// `Σ a·b` of two lists of numbers. In eight sums side by side, so that the processor may do several
/// at once; the order is always the same.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (chunks_a, chunks_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = chunks_a.remainder().iter().zip(chunks_b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in chunks_a.zip(chunks_b) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// Rotation from fixed-axis roll, pitch, yaw \[rad\], the convention of SDF and URDF:
/// `Rz(yaw) · Ry(pitch) · Rx(roll)`.
pub fn quat_from_rpy(roll: f64, pitch: f64, yaw: f64) -> Quat {
    let (sr, cr) = (sin(roll * 0.5), cos(roll * 0.5));
    let (sp, cp) = (sin(pitch * 0.5), cos(pitch * 0.5));
    let (sy, cy) = (sin(yaw * 0.5), cos(yaw * 0.5));
    Quat::from_xyzw(
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )
}

/// Roll, pitch, yaw \[rad\] of a unit quaternion, the inverse of [`quat_from_rpy`].
///
/// At the poles (pitch ±90°) roll and yaw turn about one axis; all of it is called yaw.
pub fn rpy_from_quat(q: Quat) -> Vec3 {
    let (x, y, z, w) = (q.x, q.y, q.z, q.w);
    let sin_pitch = (2.0 * (w * y - z * x)).clamp(-1.0, 1.0);
    if sin_pitch.abs() > 1.0 - 1e-12 {
        let yaw = 2.0 * atan2(z, w);
        return Vec3::new(0.0, asin(sin_pitch), wrap_angle(yaw));
    }
    Vec3::new(
        atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
        asin(sin_pitch),
        atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
    )
}

/// The same angle within (-π, π].
pub fn wrap_angle(angle: f64) -> f64 {
    // Most are there already, and a detour by π would round them.
    if angle > -PI && angle <= PI {
        return angle;
    }
    let turned = fmod(angle + PI, TAU);
    if turned <= 0.0 { turned + PI } else { turned - PI }
}

/// A unit quaternion, left untouched to the last bit where it already is one.
///
/// Normalising twice may change the last bit, and a world that is written and read back
/// must be the same world; so a quaternion within rounding of unit length is kept.
/// `None` when there is no direction to keep (zero or not finite).
pub fn unit_quat(q: Quat) -> Option<Quat> {
    let square = q.dot(q);
    if !square.is_finite() || square < 1e-24 {
        return None;
    }
    Some(if (square - 1.0).abs() <= 1e-14 { q } else { q * (1.0 / sqrt(square)) })
}

/// The shortest rotation's angle \[rad\] between two orientations; q and −q are the same.
pub fn angle_between(a: Quat, b: Quat) -> f64 {
    let d = a.conjugate() * b;
    2.0 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), d.w.abs())
}

/// Spherical interpolation along the shorter arc, `s` from 0 (`a`) to 1 (`b`).
pub fn slerp(a: Quat, b: Quat, s: f64) -> Quat {
    let cosine = a.dot(b);
    let (b, cosine) = if cosine < 0.0 { (-b, -cosine) } else { (b, cosine) };
    let blend = |wa: f64, wb: f64| {
        let q = a * wa + b * wb;
        q * (1.0 / sqrt(q.dot(q)))
    };
    // Close together the sine below vanishes; the chord is then the arc to 1e-13.
    if cosine > 1.0 - 1e-12 {
        return blend(1.0 - s, s);
    }
    let angle = acos(cosine.min(1.0));
    blend(sin((1.0 - s) * angle) / sin(angle), sin(s * angle) / sin(angle))
}

/// Rotation by `angle` \[rad\] about the unit vector `axis`.
pub fn quat_from_axis_angle(axis: Vec3, angle: f64) -> Quat {
    let (s, c) = (sin(angle * 0.5), cos(angle * 0.5));
    Quat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, c)
}

/// The shortest rotation that takes one unit vector to another; half a turn about x, or about z
/// where `from` lies along x, takes it to its opposite.
pub fn quat_between(from: Vec3, to: Vec3) -> Quat {
    let cosine = from.dot(to);
    if cosine < -1.0 + 1e-12 {
        let near = if from.x.abs() < 0.5 { Vec3::X } else { Vec3::Z };
        let across = near - from * near.dot(from);
        let across = across / sqrt(across.dot(across));
        return Quat::from_xyzw(across.x, across.y, across.z, 0.0);
    }
    let axis = from.cross(to);
    let turn = Quat::from_xyzw(axis.x, axis.y, axis.z, 1.0 + cosine);
    turn * (1.0 / sqrt(turn.dot(turn)))
}

/// Rotation whose rotation vector (axis times angle, \[rad\]) is `v`.
pub fn quat_from_rotation_vector(v: Vec3) -> Quat {
    let angle = sqrt(v.dot(v));
    if angle == 0.0 { Quat::IDENTITY } else { quat_from_axis_angle(v / angle, angle) }
}

/// Axis times angle of a rotation \[rad\], the shorter way round.
pub fn rotation_vector_from_quat(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let (v, length) = (Vec3::new(q.x, q.y, q.z), sqrt(q.x * q.x + q.y * q.y + q.z * q.z));
    // Near nothing the angle is twice the sine of its half.
    if length < 1e-12 { v * 2.0 } else { v * (2.0 * atan2(length, q.w) / length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn rotation_vectors_come_back() {
        for v in [Vec3::ZERO, Vec3::new(1e-14, 0.0, 0.0), Vec3::new(0.3, -1.2, 2.0)] {
            let back = rotation_vector_from_quat(quat_from_rotation_vector(v));
            assert!((back - v).length() < 1e-12, "{v} {back}");
            let negated = rotation_vector_from_quat(-quat_from_rotation_vector(v));
            assert!((negated - v).length() < 1e-12, "{v} {negated}");
        }
    }

    /// It goes there, and about an axis across both: no other turn is shorter.
    #[test]
    fn every_direction_is_turned_to_by_the_shortest_way() {
        let at = |i: u32| {
            let (a, b) = (f64::from(i) * 0.37, f64::from(i) * 0.91);
            Vec3::new(cos(a) * cos(b), cos(a) * sin(b), sin(a))
        };
        for i in 0..200 {
            for from in [Vec3::X, Vec3::Z, at(i + 7)] {
                for to in [at(i), from, -from] {
                    let turn = quat_between(from, to);
                    assert!((turn * from).distance(to) < 1e-12, "{from} to {to}");
                    let axis = Vec3::new(turn.x, turn.y, turn.z);
                    assert!(close(axis.dot(from), 0.0) && close(axis.dot(to), 0.0), "{axis}");
                }
            }
        }
    }

    #[test]
    fn rpy_is_three_turns_about_fixed_axes() {
        let (roll, pitch, yaw) = (0.3, -0.7, 1.9);
        let by_turns = quat_from_axis_angle(Vec3::Z, yaw)
            * quat_from_axis_angle(Vec3::Y, pitch)
            * quat_from_axis_angle(Vec3::X, roll);
        assert!(angle_between(quat_from_rpy(roll, pitch, yaw), by_turns) < 1e-12);
    }

    #[test]
    fn rpy_comes_back_and_the_poles_keep_the_orientation() {
        for i in -9..=9 {
            for j in -9..=9 {
                let (roll, pitch, yaw) = (f64::from(i) * 0.3, f64::from(j) * PI / 18.0, 0.4);
                let q = quat_from_rpy(roll, pitch, yaw);
                let rpy = rpy_from_quat(q);
                assert!(angle_between(q, quat_from_rpy(rpy.x, rpy.y, rpy.z)) < 1e-7);
            }
        }
    }

    #[test]
    fn unit_quaternions_are_kept_to_the_bit() {
        let once = unit_quat(Quat::from_xyzw(1.0, 2.0, 3.0, 4.0)).expect("has a direction");
        assert_eq!(unit_quat(once), Some(once));
        assert_eq!(unit_quat(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)), None);
        assert_eq!(unit_quat(Quat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0)), None);
    }

    #[test]
    fn slerp_moves_at_constant_speed_along_the_shorter_arc() {
        let (a, b) = (quat_from_rpy(0.0, 0.0, 0.1), -quat_from_rpy(0.0, 0.0, 1.3));
        for s in [0.0, 0.25, 0.5, 1.0] {
            assert!(close(rpy_from_quat(slerp(a, b, s)).z, 0.1 + 1.2 * s));
        }
    }

    #[test]
    fn angles_wrap_into_one_turn() {
        assert!(close(wrap_angle(3.0 * PI), PI));
        assert!(close(wrap_angle(-3.5 * PI), FRAC_PI_2));
        assert!(close(wrap_angle(0.5), 0.5));
    }
}
