//! Rigid transforms.
//!
//! A transform is named by the frames it connects: `world_from_link` takes a point
//! written in the link's frame and gives the same point in the world's. Names then
//! chain like the maths does: `world_from_link * link_from_sensor = world_from_sensor`.

use std::ops::Mul;

use crate::maths::{Quat, Vec3, quat_from_rpy, rpy_from_quat};

/// A rotation followed by a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Turns first. A unit quaternion.
    pub rotation: Quat,
    /// Moves second \[m\].
    pub translation: Vec3,
}

impl Default for Transform {
    fn default() -> Transform {
        Transform::IDENTITY
    }
}

impl Transform {
    /// The transform that moves nothing.
    pub const IDENTITY: Transform = Transform { rotation: Quat::IDENTITY, translation: Vec3::ZERO };

    /// From its two parts; `rotation` must be a unit quaternion.
    pub const fn new(rotation: Quat, translation: Vec3) -> Transform {
        Transform { rotation, translation }
    }

    /// A pure translation.
    pub const fn from_translation(translation: Vec3) -> Transform {
        Transform { rotation: Quat::IDENTITY, translation }
    }

    /// A pure rotation.
    pub const fn from_rotation(rotation: Quat) -> Transform {
        Transform { rotation, translation: Vec3::ZERO }
    }

    /// The `x y z roll pitch yaw` of SDF and URDF \[m, rad\].
    pub fn from_xyz_rpy(xyz: Vec3, rpy: Vec3) -> Transform {
        Transform { rotation: quat_from_rpy(rpy.x, rpy.y, rpy.z), translation: xyz }
    }

    /// Roll, pitch and yaw \[rad\].
    pub fn rpy(&self) -> Vec3 {
        rpy_from_quat(self.rotation)
    }

    /// `b_from_a` of `a_from_b`.
    #[inline]
    pub fn inverse(&self) -> Transform {
        let rotation = self.rotation.conjugate();
        Transform { rotation, translation: -(rotation * self.translation) }
    }

    /// The same point, written in the outer frame.
    #[inline]
    pub fn point(&self, point_inside: Vec3) -> Vec3 {
        self.rotation * point_inside + self.translation
    }

    /// The same direction, written in the outer frame.
    #[inline]
    pub fn vector(&self, vector_inside: Vec3) -> Vec3 {
        self.rotation * vector_inside
    }

    /// Whether every number in it is finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }
}

impl Mul for Transform {
    type Output = Transform;
    /// `a_from_b * b_from_c = a_from_c`. Exact where one side is the identity, so that
    /// a chain of frames that says nothing changes no bit.
    #[inline]
    fn mul(self, b_from_c: Transform) -> Transform {
        if b_from_c == Transform::IDENTITY {
            return self;
        }
        if self == Transform::IDENTITY {
            return b_from_c;
        }
        Transform {
            rotation: self.rotation * b_from_c.rotation,
            translation: self.point(b_from_c.translation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_undoes_and_points_chain() {
        let a_from_b = Transform::from_xyz_rpy(Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.1, 0.2, 0.3));
        let b_from_c =
            Transform::from_xyz_rpy(Vec3::new(-1.0, 0.5, 2.0), Vec3::new(2.0, -0.4, 1.0));
        let point = Vec3::new(0.3, -0.2, 0.9);
        let (once, twice) =
            ((a_from_b * b_from_c).point(point), a_from_b.point(b_from_c.point(point)));
        assert!(once.distance(twice) < 1e-12);
        let back = a_from_b.inverse() * a_from_b;
        assert!(back.translation.length() < 1e-12 && back.rotation.w > 1.0 - 1e-12);
    }
}
