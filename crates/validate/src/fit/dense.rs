//! The little linear algebra that fitting needs, on matrices kept column by column.
//!
//! Tall matrices (a row per sample) are reduced to small triangles by Householder reflections,
//! which keeps what normal equations square away; the small ones are decomposed by Jacobi
//! rotations, which give small singular values as exactly as large ones. Sums run in one order,
//! so the bits are the same everywhere.

use headland_base::maths::{hypot, sqrt};

/// Columns of equal length.
pub type Columns = Vec<Vec<f64>>;

/// `Σ a·b`.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four sums side by side: one long chain of additions would wait for itself.
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a4.zip(b4) {
        for i in 0..4 {
            sums[i] += x[i] * y[i];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// `√Σ a²`.
pub fn norm(a: &[f64]) -> f64 {
    sqrt(dot(a, a))
}

/// `Q·R = A` by Householder: leaves the triangle R in the upper part and gives `Qᵀ·b` for a
/// right side, its first entries beside R.
pub fn triangle(mut columns: Columns, mut right: Vec<f64>) -> (Columns, Vec<f64>) {
    let n_columns = columns.len();
    for k in 0..n_columns.min(right.len()) {
        let (done, rest) = columns.split_at_mut(k + 1);
        let pivot = &mut done[k];
        let length = norm(&pivot[k..]);
        if length == 0.0 {
            continue;
        }
        let corner = if pivot[k] > 0.0 { -length } else { length };
        let mut v = pivot[k..].to_vec();
        v[0] -= corner;
        let factor = 2.0 / dot(&v, &v);
        pivot[k] = corner;
        pivot[k + 1..].fill(0.0);
        for column in rest.iter_mut().map(Vec::as_mut_slice).chain([right.as_mut_slice()]) {
            let along = factor * dot(&v, &column[k..]);
            column[k..].iter_mut().zip(&v).for_each(|(x, v)| *x -= along * v);
        }
    }
    for column in &mut columns {
        column.resize(n_columns, 0.0);
    }
    right.resize(n_columns, 0.0);
    (columns, right)
}

/// Solves `R·x = b` for an upper triangle; zero along a pivot that is zero.
pub fn back_substitute(r: &Columns, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for k in (0..r.len()).rev() {
        x[k] = if r[k][k] == 0.0 { 0.0 } else { x[k] / r[k][k] };
        let (value, column) = (x[k], &r[k]);
        x[..k].iter_mut().zip(column).for_each(|(x, r)| *x -= value * r);
    }
    x
}

/// `A = U·S·Vᵀ` of a small matrix by one-sided Jacobi rotations: singular values, largest first,
/// and the right singular vectors that belong to them.
pub fn singular(columns: &Columns) -> (Vec<f64>, Columns) {
    let n = columns.len();
    let mut a = columns.clone();
    let mut v: Columns = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
    for _sweep in 0..60 {
        let mut is_turned = false;
        for i in 0..n {
            for j in i + 1..n {
                let (aa, bb, ab) = (dot(&a[i], &a[i]), dot(&a[j], &a[j]), dot(&a[i], &a[j]));
                if ab.abs() <= 1e-15 * sqrt(aa * bb) || ab == 0.0 {
                    continue;
                }
                is_turned = true;
                let zeta = (bb - aa) / (2.0 * ab);
                let t = zeta.signum() / (zeta.abs() + hypot(1.0, zeta));
                let (c, s) = (1.0 / hypot(1.0, t), t / hypot(1.0, t));
                turn(&mut a, i, j, c, s);
                turn(&mut v, i, j, c, s);
            }
        }
        if !is_turned {
            break;
        }
    }
    let lengths: Vec<f64> = a.iter().map(|column| norm(column)).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|i, j| lengths[*j].total_cmp(&lengths[*i]));
    (order.iter().map(|i| lengths[*i]).collect(), order.iter().map(|i| v[*i].clone()).collect())
}

/// Eigenvalues of a symmetric positive matrix, largest first, and their vectors: its singular
/// values, since it is its own transpose.
pub fn eigen(columns: &Columns) -> (Vec<f64>, Columns) {
    singular(columns)
}

fn turn(columns: &mut Columns, i: usize, j: usize, c: f64, s: f64) {
    let (left, right) = columns.split_at_mut(j);
    for (x, y) in left[i].iter_mut().zip(&mut right[0]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use headland_base::Seed;
    use rand_chacha::rand_core::Rng as _;

    use super::*;

    fn random(n_rows: usize, n_columns: usize) -> Columns {
        let mut rng = Seed::new(3).child("matrix").rng();
        let mut number = || (rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        (0..n_columns).map(|_| (0..n_rows).map(|_| number()).collect()).collect()
    }

    #[test]
    fn a_triangle_keeps_all_products() {
        let (a, b) = (random(50, 5), random(50, 1).remove(0));
        let (r, qb) = triangle(a.clone(), b.clone());
        for i in 0..5 {
            for j in 0..5 {
                assert!((dot(&r[i], &r[j]) - dot(&a[i], &a[j])).abs() < 1e-12);
            }
            assert!((dot(&r[i], &qb) - dot(&a[i], &b)).abs() < 1e-12);
            assert!(r[i][i + 1..].iter().all(|x| *x == 0.0));
        }
        // The normal equations hold at its solution.
        let x = back_substitute(&r, &qb);
        let rest: Vec<f64> =
            (0..50).map(|row| b[row] - (0..5).map(|k| a[k][row] * x[k]).sum::<f64>()).collect();
        assert!(a.iter().all(|column| dot(column, &rest).abs() < 1e-12));
    }

    /// Singular values of a product with known ones, over twelve orders.
    #[test]
    fn small_singular_values_are_found() {
        let (_, v) = singular(&random(4, 4));
        let wanted = [1e3, 1.0, 1e-4, 1e-9];
        // Columns of S·Vᵀ.
        let a: Columns = (0..4).map(|j| (0..4).map(|i| wanted[i] * v[i][j]).collect()).collect();
        let (found, right) = singular(&a);
        for (k, (found, wanted)) in found.iter().zip(wanted).enumerate() {
            assert!(
                (found - wanted).abs() < 1e-12 * 1e3_f64.min(wanted * 1e12),
                "{found} {wanted}"
            );
            assert!((dot(&right[k], &v[k]).abs() - 1.0).abs() < 1e-6);
        }
    }
}
