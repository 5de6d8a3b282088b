//! Joint coordinates: from positions to the motion they mean, and back from the poses and
//! velocities any engine reports. One meaning for every engine.

use headland_base::maths::{Quat, Vec3, atan2, quat_from_axis_angle, wrap_angle};
use headland_base::{Mat3, Transform};
use headland_world::{JointKind, Twist};

/// Where the child side of a joint is, seen from its parent side, at these positions.
pub fn joint_motion(kind: &JointKind, positions: &[f64]) -> Transform {
    match kind {
        JointKind::Fixed | JointKind::Ball => Transform::IDENTITY,
        JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
            Transform::from_rotation(quat_from_axis_angle(axis.direction, positions[0]))
        }
        JointKind::Prismatic(axis) => Transform::from_translation(axis.direction * positions[0]),
        JointKind::Screw { axis, metres_per_radian } => Transform::new(
            quat_from_axis_angle(axis.direction, positions[0]),
            axis.direction * (positions[0] * metres_per_radian),
        ),
        JointKind::Universal(first, second) => Transform::from_rotation(
            quat_from_axis_angle(first.direction, positions[0])
                * quat_from_axis_angle(second.direction, positions[1]),
        ),
    }
}

/// The motion of a joint's child side against its parent side.
#[derive(Clone, Copy, Debug)]
pub struct RelativeMotion {
    /// The child side in the parent side's frame.
    pub parent_from_child: Transform,
    /// Velocity of the child side's origin against the parent side, in the parent's frame.
    pub twist: Twist,
}

/// Position and velocity of each axis. `previous` holds the last positions, so that an
/// angle goes on counting past half a turn.
pub fn measure_joint(
    kind: &JointKind,
    motion: &RelativeMotion,
    previous: &[f64],
) -> Vec<(f64, f64)> {
    measure_axes(kind, motion, previous).into_iter().flatten().collect()
}

/// The same of up to two axes, without a list.
pub(crate) fn measure_axes(
    kind: &JointKind,
    motion: &RelativeMotion,
    previous: &[f64],
) -> [Option<(f64, f64)>; 2] {
    let (turn, twist) = (motion.parent_from_child.rotation, motion.twist);
    match kind {
        JointKind::Fixed | JointKind::Ball => [None; 2],
        JointKind::Revolute(axis) | JointKind::Continuous(axis) | JointKind::Screw { axis, .. } => {
            let angle = nearest_turn(angle_about(turn, axis.direction), previous[0]);
            [Some((angle, twist.angular.dot(axis.direction))), None]
        }
        JointKind::Prismatic(axis) => {
            let way = motion.parent_from_child.translation.dot(axis.direction);
            [Some((way, twist.linear.dot(axis.direction))), None]
        }
        JointKind::Universal(first, second) => {
            // R = R1(q1)·R2(q2), so R·a2 = R1·a2 shows q1, and Rᵀ·a1 = R2(−q2)·a1 shows q2.
            let (a1, a2) = (first.direction, second.direction);
            let q1 = angle_between_about(a1, a2, turn * a2);
            let q2 = -angle_between_about(a2, a1, turn.conjugate() * a1);
            // ω = q̇1·a1 + q̇2·b with b = R1·a2: two unknowns, solved by their dot products.
            let b = quat_from_axis_angle(a1, q1) * a2;
            let (c, w1, w2) = (a1.dot(b), twist.angular.dot(a1), twist.angular.dot(b));
            let det = (1.0 - c * c).max(1e-12);
            [
                Some((nearest_turn(q1, previous[0]), (w1 - c * w2) / det)),
                Some((nearest_turn(q2, previous[1]), (w2 - c * w1) / det)),
            ]
        }
    }
}

/// The turn about `axis` \[rad\] of a rotation that is mostly about it.
fn angle_about(turn: Quat, axis: Vec3) -> f64 {
    wrap_angle(2.0 * atan2(Vec3::new(turn.x, turn.y, turn.z).dot(axis), turn.w))
}

/// The turn about `axis` that takes `from` to `to`, both seen along the axis.
fn angle_between_about(axis: Vec3, from: Vec3, to: Vec3) -> f64 {
    let (from, to) = (from - axis * from.dot(axis), to - axis * to.dot(axis));
    atan2(axis.dot(from.cross(to)), from.dot(to))
}

/// The same angle, in the turn closest to `previous`.
fn nearest_turn(angle: f64, previous: f64) -> f64 {
    previous + wrap_angle(angle - previous)
}

/// The velocity of a point that moves with a frame whose origin moves by `twist`.
pub fn velocity_at(twist: Twist, origin: Vec3, point: Vec3) -> Vec3 {
    twist.linear + twist.angular.cross(point - origin)
}

/// A symmetric inertia turned into another frame: `R·I·Rᵀ`.
pub fn turned_inertia(turn: Quat, inertia: Mat3) -> Mat3 {
    let r = Mat3::from_quat(turn);
    r * inertia * r.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_world::Axis;

    fn axis(x: f64, y: f64, z: f64) -> Axis {
        Axis::along(Vec3::new(x, y, z).normalize())
    }

    /// Two roads to one number: positions make a motion, the motion is measured.
    #[test]
    fn measuring_undoes_moving() {
        let kinds = [
            JointKind::Revolute(axis(1.0, 2.0, 3.0)),
            JointKind::Prismatic(axis(0.0, 1.0, -1.0)),
            JointKind::Screw { axis: axis(0.0, 0.0, 1.0), metres_per_radian: 0.01 },
            JointKind::Universal(axis(1.0, 0.0, 0.0), axis(0.0, 1.0, 0.0)),
            JointKind::Universal(axis(1.0, 0.0, 0.0), axis(1.0, 2.0, 0.0)),
        ];
        for kind in &kinds {
            let n = kind.axes().len();
            let at = |t: f64| -> Vec<f64> { [0.4 + 0.9 * t, -0.7 + 0.3 * t][..n].to_vec() };
            let dt = 1e-6;
            let (before, now, after) = (
                joint_motion(kind, &at(-dt)),
                joint_motion(kind, &at(0.0)),
                joint_motion(kind, &at(dt)),
            );
            let turned = after.rotation * before.rotation.conjugate();
            let angular = Vec3::new(turned.x, turned.y, turned.z) * (2.0 / (2.0 * dt));
            let linear = (after.translation - before.translation) / (2.0 * dt);
            let motion =
                RelativeMotion { parent_from_child: now, twist: Twist { linear, angular } };
            let previous = vec![0.0; n];
            for ((position, velocity), (wanted, speed)) in measure_joint(kind, &motion, &previous)
                .into_iter()
                .zip(at(0.0).into_iter().zip([0.9, 0.3]))
            {
                assert!(
                    (position - wanted).abs() < 1e-12,
                    "{}: {position} vs {wanted}",
                    kind.word()
                );
                assert!((velocity - speed).abs() < 1e-7, "{}: {velocity} vs {speed}", kind.word());
            }
        }
    }

    #[test]
    fn an_angle_goes_on_counting_past_half_a_turn() {
        let kind = JointKind::Continuous(axis(0.0, 0.0, 1.0));
        let mut position = vec![0.0];
        for i in 0..=1000 {
            let angle = f64::from(i) * 0.02;
            let motion = RelativeMotion {
                parent_from_child: joint_motion(&kind, &[angle]),
                twist: Twist::default(),
            };
            position = measure_joint(&kind, &motion, &position).iter().map(|(p, _)| *p).collect();
            assert!((position[0] - angle).abs() < 1e-9);
        }
    }
}
