//! Errors of poses: along which axes they are, and how they covary there.

use headland_base::maths::quat_from_rotation_vector;
use headland_base::{Mat3, Quat, Transform, Vec3};

use crate::noise::perception::AXES;
use crate::noise::sdf::NamedMixture;

/// A pose with an error along the axes of a frame: shifted, and turned about its own origin.
pub(super) fn disturbed(
    world_from_model: Transform,
    world_from_frame: Quat,
    axes: &[String],
    error: &[f64],
) -> Transform {
    let mut by_axis = [0.0; 6];
    for (axis, error) in axes.iter().zip(error) {
        if let Some(i) = AXES.iter().position(|known| known == axis) {
            by_axis[i] = *error;
        }
    }
    let [x, y, z, roll, pitch, yaw] = by_axis;
    let shift = world_from_frame * Vec3::new(x, y, z);
    let turn = quat_from_rotation_vector(world_from_frame * Vec3::new(roll, pitch, yaw));
    Transform::new(turn * world_from_model.rotation, world_from_model.translation + shift)
}

/// The covariance of all clusters together, turned into the frame of the sensor.
pub(super) fn covariance(named: &NamedMixture, sensor_from_frame: Quat) -> [[f64; 6]; 6] {
    let n = named.axes.len();
    let own = named.mixture.covariance();
    let mut in_frame = [[0.0; 6]; 6];
    let at: Vec<Option<usize>> =
        named.axes.iter().map(|axis| AXES.iter().position(|known| known == axis)).collect();
    for i in 0..n {
        for j in 0..n {
            if let (Some(a), Some(b)) = (at[i], at[j]) {
                in_frame[a][b] = own[i * n + j];
            }
        }
    }
    let turn = Mat3::from_quat(sensor_from_frame);
    let mut out = [[0.0; 6]; 6];
    for (a, b) in [(0, 0), (0, 3), (3, 0), (3, 3)] {
        let column = |j: usize| {
            Vec3::new(in_frame[a][b + j], in_frame[a + 1][b + j], in_frame[a + 2][b + j])
        };
        let turned = turn * Mat3::from_cols(column(0), column(1), column(2)) * turn.transpose();
        for i in 0..3 {
            for j in 0..3 {
                out[a + i][b + j] = turned.col(j)[i];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Cluster, Mixture};
    use headland_base::maths::{FRAC_PI_2, quat_from_rpy};

    /// Turned by a quarter about z, what varied along x varies along y.
    #[test]
    fn covariances_turn_with_the_frame() {
        let cluster = Cluster {
            weight: 1.0,
            mean: vec![0.0; 3],
            covariance: vec![4.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.25],
        };
        let axes = ["x", "z", "yaw"].map(String::from).to_vec();
        let named = NamedMixture { axes, mixture: Mixture::new(vec![cluster]).unwrap() };
        let out = covariance(&named, quat_from_rpy(0.0, 0.0, FRAC_PI_2));
        let wanted = [(1, 1, 4.0), (1, 2, 0.5), (2, 1, 0.5), (2, 2, 1.0), (5, 5, 0.25)];
        for (i, row) in out.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                let it = wanted.iter().find(|(a, b, _)| (*a, *b) == (i, j)).map_or(0.0, |w| w.2);
                assert!((value - it).abs() < 1e-15, "{i} {j}: {value}");
            }
        }
    }

    #[test]
    fn errors_are_along_the_axes_of_their_frame() {
        let pose = Transform::new(quat_from_rpy(0.0, 0.0, 1.0), Vec3::new(1.0, 2.0, 3.0));
        let axes = ["y", "yaw"].map(String::from);
        let moved = disturbed(pose, quat_from_rpy(0.0, 0.0, FRAC_PI_2), &axes, &[0.1, 0.2]);
        assert!((moved.translation - Vec3::new(0.9, 2.0, 3.0)).length() < 1e-15);
        let turned = headland_base::maths::rpy_from_quat(moved.rotation);
        assert!((turned - Vec3::new(0.0, 0.0, 1.2)).length() < 1e-12);
    }
}
