//! The little linear algebra that fitting needs, on matrices kept column by column.
//!
//! Tall matrices (a row per sample) are reduced to small triangles by Householder reflections,
//! which keeps what normal equations square away; the small ones are decomposed by Jacobi
//! rotations, which give small singular values as exactly as large ones. Sums run in one order,
//! so the bits are the same everywhere.

use headland_base::maths::{dot, hypot, sqrt};

/// Columns of equal length.
pub type Columns = Vec<Vec<f64>>;

/// `√Σ a²`.
pub fn norm(a: &[f64]) -> f64 {
    sqrt(dot(a, a))
}

/// Rows that are reflected together: what they take stays in the caches next to a core.
const N_ROWS: usize = 512;

/// `Q·R = A` by Householder: the triangle R, and the first entries of `Qᵀ·b` for a right side,
/// those beside R. Block of rows by block of rows, each with the triangle of those before it.
pub fn triangle(columns: &[&[f64]], right: &[f64]) -> (Columns, Vec<f64>) {
    let mut r: Columns = vec![Vec::new(); columns.len()];
    let mut q = Vec::new();
    for from in (0..right.len()).step_by(N_ROWS) {
        let rows = from..(from + N_ROWS).min(right.len());
        r.iter_mut().zip(columns).for_each(|(r, column)| r.extend(&column[rows.clone()]));
        q.extend(&right[rows]);
        reflect(&mut r, &mut q);
        r.iter_mut().for_each(|r| r.truncate(columns.len()));
        q.truncate(columns.len());
    }
    r.iter_mut().for_each(|r| r.resize(columns.len(), 0.0));
    q.resize(columns.len(), 0.0);
    (r, q)
}

/// Turns columns into a triangle with zeros below it, and a right side with them.
fn reflect(columns: &mut Columns, right: &mut [f64]) {
    let mut v = Vec::new();
    for k in 0..columns.len().min(right.len()) {
        let (done, rest) = columns.split_at_mut(k + 1);
        let pivot = &mut done[k];
        let length = norm(&pivot[k..]);
        if length == 0.0 {
            continue;
        }
        let corner = if pivot[k] > 0.0 { -length } else { length };
        v.clear();
        v.extend_from_slice(&pivot[k..]);
        v[0] -= corner;
        let factor = 2.0 / dot(&v, &v);
        pivot[k] = corner;
        pivot[k + 1..].fill(0.0);
        for column in rest.iter_mut().map(Vec::as_mut_slice).chain([&mut *right]) {
            let along = factor * dot(&v, &column[k..]);
            column[k..].iter_mut().zip(&v).for_each(|(x, v)| *x -= along * v);
        }
    }
}

/// Columns `L` of `L·Lᵀ`, of a symmetric matrix that is positive (Cholesky). A direction in which it
/// is nothing has none.
pub fn root(matrix: &Columns) -> Columns {
    let n = matrix.len();
    let mut rest = matrix.clone();
    let mut out = vec![vec![0.0; n]; n];
    for k in 0..n {
        let pivot = rest[k][k];
        if pivot.is_nan() || pivot <= 1e-12 * matrix[k][k] {
            continue;
        }
        let entry = |i: usize| if i < k { 0.0 } else { rest[k][i] / sqrt(pivot) };
        let column: Vec<f64> = (0..n).map(entry).collect();
        for (j, row) in rest.iter_mut().enumerate().skip(k + 1) {
            let both = row.iter_mut().zip(&column).skip(j);
            both.for_each(|(entry, other)| *entry -= column[j] * other);
        }
        out[k] = column;
    }
    out
}

/// Columns as slices.
pub fn slices(columns: &Columns) -> Vec<&[f64]> {
    columns.iter().map(Vec::as_slice).collect()
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
        // More rows than are reflected together, and not a whole number of such blocks.
        let n_rows = 3 * N_ROWS / 2;
        let (a, b) = (random(n_rows, 5), random(n_rows, 1).remove(0));
        let (r, qb) = triangle(&slices(&a), &b);
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
            (0..n_rows).map(|row| b[row] - (0..5).map(|k| a[k][row] * x[k]).sum::<f64>()).collect();
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

    #[test]
    fn a_root_times_itself_is_the_matrix() {
        let mut dice = Seed::new(3).rng();
        let mut number = || f64::from(dice.next_u32()) / f64::from(u32::MAX) - 0.5;
        // Three columns of which one is the sum of the others: a direction of nothing.
        let (a, b): (Vec<f64>, Vec<f64>) = (0..9).map(|_| (number(), number())).unzip();
        let sum: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        let columns = [a, b, sum];
        let gram: Columns =
            columns.iter().map(|x| columns.iter().map(|y| dot(x, y)).collect()).collect();
        let root = root(&gram);
        for i in 0..3 {
            for j in 0..3 {
                let got: f64 = root.iter().map(|column| column[i] * column[j]).sum();
                assert!((got - gram[i][j]).abs() < 1e-12, "{i} {j}: {got}, not {}", gram[i][j]);
            }
        }
    }
}
