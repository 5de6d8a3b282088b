//! Paths of poses against one another: absolute and relative pose errors, as evo has them.
//!
//! ```text
//! APE at i           distance and angle between A_i and B_i
//! RPE from i to j    those between the steps A_i⁻¹A_j and B_i⁻¹B_j
//! ```
//!
//! B may first be moved onto A as a whole, turned and shifted, or scaled too (Umeyama 1991).
//! The turn is found as the largest eigenvector of Horn's 4×4 matrix (1987), which is never a
//! reflection and says by the gap to the second one whether there is a best turn at all.

use headland_base::maths::{Quat, Vec3, angle_between, sqrt, unit_quat};
use headland_base::{Diagnostic, Transform};

/// How B is moved onto A before its path is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// Not at all.
    #[default]
    None,
    /// Turned and shifted.
    Rigid,
    /// Turned, shifted and scaled.
    Scaled,
}

/// `a ≈ scale · rotation · b + translation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similarity {
    /// Turns B.
    pub rotation: Quat,
    /// Shifts it \[m\].
    pub translation: Vec3,
    /// Stretches it.
    pub scale: f64,
}

impl Similarity {
    /// Changes nothing.
    pub const IDENTITY: Similarity =
        Similarity { rotation: Quat::IDENTITY, translation: Vec3::ZERO, scale: 1.0 };

    /// A pose of B, moved.
    pub fn pose(&self, pose: &Transform) -> Transform {
        let place = self.rotation * (pose.translation * self.scale) + self.translation;
        let turn = self.rotation * pose.rotation;
        Transform::new(unit_quat(turn).unwrap_or(turn), place)
    }
}

/// The best move of B's places onto A's, pair by pair. Refused with words where there is none.
pub fn umeyama(a: &[Vec3], b: &[Vec3], fit: Fit) -> Result<Similarity, Diagnostic> {
    assert_eq!(a.len(), b.len(), "pairs");
    if fit == Fit::None {
        return Ok(Similarity::IDENTITY);
    }
    let refused = |what: &str| {
        Diagnostic::error("align-degenerate", format!("the paths cannot be aligned: {what}"))
            .help("compare them where they are: `--align none`")
    };
    if a.len() < 3 {
        return Err(refused(&format!("{} pairs, and three are needed", a.len())));
    }
    let count = a.len() as f64;
    let mean = |all: &[Vec3]| all.iter().fold(Vec3::ZERO, |sum, p| sum + *p) / count;
    let (mean_a, mean_b) = (mean(a), mean(b));
    // Rows of B's places times columns of A's, about their means.
    let (mut s, mut square_b, mut square_a) = ([[0.0; 3]; 3], 0.0, 0.0);
    for (p, q) in a.iter().zip(b) {
        let (p, q) = (*p - mean_a, *q - mean_b);
        square_a += p.dot(p);
        square_b += q.dot(q);
        for (row, x) in s.iter_mut().zip(q.to_array()) {
            for (cell, y) in row.iter_mut().zip(p.to_array()) {
                *cell += x * y;
            }
        }
    }
    if !(square_a.is_finite() && square_b.is_finite()) {
        return Err(refused("their places are too far apart for numbers"));
    }
    if square_a == 0.0 || square_b == 0.0 {
        return Err(refused("one of them never leaves its place"));
    }
    let horn = [
        [s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]],
        [s[1][2] - s[2][1], s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]],
        [s[2][0] - s[0][2], s[0][1] + s[1][0], s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]],
        [s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1], s[2][2] - s[0][0] - s[1][1]],
    ];
    let (values, vectors) = eigen(horn);
    let mut order = [0, 1, 2, 3];
    order.sort_by(|i, j| values[*j].total_cmp(&values[*i]));
    let (best, second) = (values[order[0]], values[order[1]]);
    // Twice the sum of the two smaller singular values: nothing for a line.
    if best - second <= 1e-10 * sqrt(square_a * square_b) {
        return Err(refused(
            "they lie on a line, or a mirror image fits as well, so that a turn about it is open",
        ));
    }
    let [w, x, y, z] = std::array::from_fn(|row| vectors[row][order[0]]);
    let rotation = unit_quat(Quat::from_xyzw(x, y, z, w)).expect("an eigenvector has a length");
    let scale = match fit {
        Fit::Scaled => {
            // The turned B against A: the trace of what is left.
            let turned = a.iter().zip(b).map(|(p, q)| (rotation * (*q - mean_b)).dot(*p - mean_a));
            turned.sum::<f64>() / square_b
        }
        _ => 1.0,
    };
    let translation = mean_a - rotation * (mean_b * scale);
    Ok(Similarity { rotation, translation, scale })
}

/// Eigenvalues and, in columns, eigenvectors of a symmetric matrix, by Jacobi's rotations.
fn eigen<const N: usize>(mut m: [[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    let mut v: [[f64; N]; N] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
    let size: f64 = m.iter().flatten().map(|x| x * x).sum();
    for _ in 0..60 {
        let off: f64 =
            (0..N).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| m[i][j] * m[i][j]).sum();
        if off <= 1e-34 * size {
            break;
        }
        for p in 0..N {
            for q in p + 1..N {
                if m[p][q] == 0.0 {
                    continue;
                }
                let theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
                let t = theta.signum() / (theta.abs() + sqrt(theta * theta + 1.0));
                let c = 1.0 / sqrt(t * t + 1.0);
                let s = t * c;
                for row in m.iter_mut() {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (row_p, row_q) = (m[p], m[q]);
                m[p] = std::array::from_fn(|k| c * row_p[k] - s * row_q[k]);
                m[q] = std::array::from_fn(|k| s * row_p[k] + c * row_q[k]);
                for row in v.iter_mut() {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
            }
        }
    }
    (std::array::from_fn(|i| m[i][i]), v)
}

/// Distance \[m\] and angle \[rad\] of each pair.
pub fn absolute(a: &[Transform], b: &[Transform]) -> (Vec<f64>, Vec<f64>) {
    let errors = a.iter().zip(b).map(|(a, b)| {
        let apart = b.translation - a.translation;
        (sqrt(apart.dot(apart)), angle_between(a.rotation, b.rotation))
    });
    errors.unzip()
}

/// Distance \[m\] and angle \[rad\] between steps of `delta` pairs, one after the other, and the
/// index each step ends at.
pub fn relative(
    a: &[Transform],
    b: &[Transform],
    delta: usize,
) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
    let ends: Vec<usize> = (delta..a.len()).step_by(delta.max(1)).collect();
    let errors = ends.iter().map(|end| {
        let step = |path: &[Transform]| path[end - delta].inverse() * path[*end];
        let error = step(a).inverse() * step(b);
        let apart = error.translation;
        (sqrt(apart.dot(apart)), angle_between(Quat::IDENTITY, error.rotation))
    });
    let (distances, angles) = errors.unzip();
    (ends, distances, angles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::maths::{cos, quat_from_rpy, sin};

    fn path(n: usize) -> Vec<Transform> {
        let pose = |i: usize| {
            let t = i as f64 * 0.1;
            let place = Vec3::new(cos(t) * 3.0, sin(0.7 * t) * 2.0, 0.1 * t);
            Transform::new(quat_from_rpy(0.1 * sin(t), 0.2, t), place)
        };
        (0..n).map(pose).collect()
    }

    fn places(poses: &[Transform]) -> Vec<Vec3> {
        poses.iter().map(|pose| pose.translation).collect()
    }

    #[test]
    fn a_move_that_was_made_is_found_again() {
        let b = path(60);
        let made = Similarity {
            rotation: quat_from_rpy(0.4, -1.1, 2.9),
            translation: Vec3::new(5.0, -3.0, 0.5),
            scale: 1.7,
        };
        let a: Vec<Transform> = b.iter().map(|pose| made.pose(pose)).collect();
        let found = umeyama(&places(&a), &places(&b), Fit::Scaled).unwrap();
        assert!(angle_between(found.rotation, made.rotation) < 1e-12);
        assert!((found.scale - 1.7).abs() < 1e-12);
        assert!((found.translation - made.translation).length() < 1e-11);
        let moved: Vec<Transform> = b.iter().map(|pose| found.pose(pose)).collect();
        let (distances, angles) = absolute(&a, &moved);
        assert!(distances.iter().chain(&angles).all(|e| *e < 1e-11));
        // A rigid move cannot undo a scale.
        let rigid = umeyama(&places(&a), &places(&b), Fit::Rigid).unwrap();
        assert!(rigid.scale == 1.0 && angle_between(rigid.rotation, made.rotation) < 1e-12);
    }

    #[test]
    fn what_has_no_best_turn_is_refused_with_words() {
        let line: Vec<Vec3> = (0..10).map(|i| Vec3::new(1.0, 2.0, 0.5) * f64::from(i)).collect();
        let still = vec![Vec3::ONE; 10];
        for (b, word) in [(&line, "line"), (&still, "place")] {
            let fault = umeyama(&line, b, Fit::Rigid).unwrap_err();
            assert!(fault.code == "align-degenerate" && fault.message.contains(word), "{fault:?}");
        }
        assert!(umeyama(&line[..2], &line[..2], Fit::Scaled).is_err());
        assert_eq!(umeyama(&line, &line, Fit::None).unwrap(), Similarity::IDENTITY);
        // A mirror image of a solid has a best turn, and it is a turn.
        let solid = places(&path(60));
        let mirror: Vec<Vec3> = solid.iter().map(|p| Vec3::new(p.x, p.y, -p.z)).collect();
        let turn = umeyama(&solid, &mirror, Fit::Rigid).unwrap().rotation;
        assert!((turn.dot(turn) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_rigid_move_leaves_the_steps_alone() {
        let b = path(30);
        let moved = Similarity { rotation: quat_from_rpy(1.0, 0.2, 0.3), ..Similarity::IDENTITY };
        let a: Vec<Transform> = b.iter().map(|pose| moved.pose(pose)).collect();
        for (delta, n) in [(1, 29), (3, 9), (29, 1), (30, 0)] {
            let (ends, distances, angles) = relative(&a, &b, delta);
            assert_eq!((ends.len(), distances.len(), angles.len()), (n, n, n));
            assert!(distances.iter().chain(&angles).all(|e| *e < 1e-12));
        }
    }
}
