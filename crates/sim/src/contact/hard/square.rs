//! Square matrices whose rows are filled up to whole chunks: loops without a rest, in
//! instructions as wide as there are, number by number to the same bits in any width.
//!
//! `width` is how many chunks a row has.

/// A square matrix.
#[derive(Debug, Default)]
pub struct Square {
    n: usize,
    rows: Vec<Chunk>,
    /// Per row: from the first to the last chunk that is not all zeros. Who stands next to whom
    /// in a stack or a crowd stands next to it in the matrix, so most of a long row is nothing.
    spans: Vec<(u32, u32)>,
    /// To solve again: which row was brought to each place, and by what it was then taken out of
    /// those below it, row by row.
    pivots: Vec<usize>,
    factors: Vec<f64>,
    /// The least of what rows were divided by.
    least_pivot: f64,
}

/// Of rows of so few chunks nobody asks where something stands.
const N_WHOLE: usize = 5;

/// Numbers that are worked on at once.
type Chunk = [f64; CHUNK];

const CHUNK: usize = 8;

/// `into += weight · row`.
#[inline(always)]
fn add_row(into: &mut [Chunk], weight: f64, row: &[Chunk], width: usize) {
    for c in 0..width {
        for l in 0..CHUNK {
            into[c][l] += weight * row[c][l];
        }
    }
}

impl Square {
    /// Room for `n` rows and columns, with nothing in them.
    #[inline(always)]
    pub fn clear(&mut self, n: usize) {
        self.n = n;
        self.rows.clear();
        self.rows.resize(n * n.div_ceil(CHUNK), [0.0; CHUNK]);
    }

    /// A row to be written; what comes after its `n` numbers must stay nothing.
    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        let width = self.n.div_ceil(CHUNK);
        self.rows[i * width..(i + 1) * width].as_flattened_mut()
    }

    #[inline(always)]
    fn row(&self, i: usize, width: usize) -> &[f64] {
        self.rows[i * width..(i + 1) * width].as_flattened()
    }

    /// Gauss elimination; `false` where it fails. The solution takes the place of the right-hand
    /// side. With the largest pivot of each column first, or, half as dear, as the rows stand:
    /// where contacts are open or stick, that is as exact, for rows that answer each other
    /// equally need no exchange.
    #[inline(always)]
    pub fn solve(&mut self, right: &mut [f64], exchanges: bool) -> bool {
        let (n, width) = (self.n, self.n.div_ceil(CHUNK));
        self.find_spans(width);
        self.least_pivot = f64::INFINITY;
        self.pivots.clear();
        self.pivots.extend(0..n);
        if self.factors.len() < n * n {
            self.factors.resize(n * n, 0.0);
        }
        for chunk in 0..width {
            // What is left of the pivot is done; how much is right of it is known when this is
            // compiled where it is little, which saves most of what small matrices take.
            let is_solvable = match width - chunk {
                1 => self.eliminate::<1>(right, exchanges, chunk, width),
                2 => self.eliminate::<2>(right, exchanges, chunk, width),
                3 => self.eliminate::<3>(right, exchanges, chunk, width),
                4 => self.eliminate::<4>(right, exchanges, chunk, width),
                5 => self.eliminate::<5>(right, exchanges, chunk, width),
                _ => self.eliminate::<0>(right, exchanges, chunk, width),
            };
            if !is_solvable {
                return false;
            }
        }
        self.solve_upwards(right, width);
        right.iter().all(|x| x.is_finite())
    }

    /// Takes the rows of a chunk out of all below them. `N` chunks are right of it, itself
    /// included, or any number for 0.
    #[inline(always)]
    fn eliminate<const N: usize>(
        &mut self,
        right: &mut [f64],
        exchanges: bool,
        chunk: usize,
        width: usize,
    ) -> bool {
        let n = self.n;
        for k in chunk * CHUNK..n.min((chunk + 1) * CHUNK) {
            let slot = k % CHUNK;
            if exchanges && !self.bring_pivot(k, right, width) {
                return false;
            }
            let (upper, lower) = self.rows.split_at_mut((k + 1) * width);
            let pivot_row = &upper[k * width + chunk..];
            let pivot = pivot_row[0][slot];
            let inverse = 1.0 / pivot;
            if !inverse.is_finite() {
                return false;
            }
            self.least_pivot = self.least_pivot.min(pivot.abs());
            let (above_right, end) = (right[k], self.spans[k].1);
            let n_chunks = if N > 0 { N } else { end as usize - chunk };
            let pivot_row = &pivot_row[..n_chunks];
            let factors = &mut self.factors[k * n + k + 1..(k + 1) * n];
            let below = lower.chunks_exact_mut(width).zip(&mut right[k + 1..]);
            for (((row, right), span), kept) in below.zip(&mut self.spans[k + 1..]).zip(factors) {
                *kept = 0.0;
                if N == 0 && span.0 > chunk as u32 {
                    continue;
                }
                let row = &mut row[chunk..chunk + n_chunks];
                let factor = -(row[0][slot] * inverse);
                *kept = factor;
                // Rows that have nothing to do with each other are many in a stack.
                if factor != 0.0 {
                    add_row(row, factor, pivot_row, n_chunks);
                    *right += factor * above_right;
                    span.1 = span.1.max(end);
                }
            }
        }
        true
    }

    /// The least of what rows were divided by in the matrix that was solved last: of rows of about
    /// unit size, how far one of them is from a sum of others.
    pub fn least_pivot(&self) -> f64 {
        self.least_pivot
    }

    /// Another right-hand side of the matrix that was solved last.
    #[inline(always)]
    pub fn solve_again(&self, right: &mut [f64]) {
        let width = self.n.div_ceil(CHUNK);
        for k in 0..self.n {
            right.swap(k, self.pivots[k]);
            let (above, below) = right.split_at_mut(k + 1);
            let factors = &self.factors[k * self.n + k + 1..(k + 1) * self.n];
            below.iter_mut().zip(factors).for_each(|(x, factor)| *x += factor * above[k]);
        }
        self.solve_upwards(right, width);
    }

    #[inline(always)]
    fn solve_upwards(&self, right: &mut [f64], width: usize) {
        if width > N_WHOLE {
            return self.solve_by_rows(right, width);
        }
        // From the last on: each solution is taken out of all the rows above it.
        for k in (0..self.n).rev() {
            let (chunk, slot) = (k / CHUNK, k % CHUNK);
            let solved = right[k] / self.rows[k * width + chunk][slot];
            right[k] = solved;
            for (row, right) in self.rows.chunks_exact(width).zip(&mut right[..k]) {
                *right -= row[chunk][slot] * solved;
            }
        }
    }

    /// From the last row on, row by row.
    #[inline(always)]
    fn solve_by_rows(&self, right: &mut [f64], width: usize) {
        for k in (0..self.n).rev() {
            let row = self.row(k, width);
            let end = (self.spans[k].1 as usize * CHUNK).min(self.n);
            let known = row[k + 1..end.max(k + 1)].iter().zip(&right[k + 1..]);
            let known: f64 = known.map(|(entry, solved)| entry * solved).sum();
            right[k] = (right[k] - known) / row[k];
        }
    }

    /// Where in each row something stands.
    #[inline(always)]
    fn find_spans(&mut self, width: usize) {
        self.spans.clear();
        if width <= N_WHOLE {
            self.spans.resize(self.n, (0, width as u32));
            return;
        }
        let is_any = |chunk: &Chunk| *chunk != [0.0; CHUNK];
        self.spans.extend(self.rows.chunks_exact(width).map(|row| {
            let first = row.iter().position(is_any).unwrap_or(width);
            let end = row.iter().rposition(is_any).map_or(first, |last| last + 1);
            (first as u32, end as u32)
        }));
    }

    /// Puts the row with the largest entry of a column in its place; `false` where none has any.
    #[inline(always)]
    fn bring_pivot(&mut self, k: usize, right: &mut [f64], width: usize) -> bool {
        let (chunk, slot) = (k / CHUNK, k % CHUNK);
        let mut pivot = (0.0_f64, k);
        for i in k..self.n {
            if self.spans[i].0 > chunk as u32 {
                continue;
            }
            let size = self.rows[i * width + chunk][slot].abs();
            if size > pivot.0 {
                pivot = (size, i);
            }
        }
        if pivot.1 != k {
            let (upper, lower) = self.rows.split_at_mut(pivot.1 * width);
            upper[k * width..(k + 1) * width].swap_with_slice(&mut lower[..width]);
            right.swap(k, pivot.1);
            self.spans.swap(k, pivot.1);
            self.pivots[k] = pivot.1;
        }
        pivot.0 > 0.0 && pivot.0.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use headland_base::Seed;
    use rand_chacha::rand_core::Rng;

    use super::*;

    /// What comes out, put in again, gives the right-hand side, and so it does once more: of every
    /// width that is compiled by itself and of one more, full and banded, with exchanges and
    /// without.
    #[test]
    fn solutions_solve() {
        for n in [0, 1, 7, 8, 9, 16, 17, 40, 41, 100] {
            for (is_banded, exchanges) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let mut dice = Seed::new(n as u64).rng();
                let mut number = || f64::from(dice.next_u32()) / f64::from(u32::MAX) - 0.5;
                let mut matrix = Square::default();
                matrix.clear(n);
                let mut entries = vec![0.0; n * n];
                // Where rows are exchanged, they must be.
                let large = |i: usize| if exchanges { (i + 3) % n } else { i };
                for i in 0..n {
                    for j in 0..n {
                        let drawn = number();
                        if !is_banded || i.abs_diff(j) < 4 || j == large(i) {
                            entries[i * n + j] = drawn + if j == large(i) { n as f64 } else { 0.0 };
                        }
                    }
                    matrix.row_mut(i)[..n].copy_from_slice(&entries[i * n..(i + 1) * n]);
                }
                let right: Vec<f64> = (0..n).map(|_| number()).collect();
                let mut solved = right.clone();
                assert!(matrix.solve(&mut solved, exchanges), "{n}");
                let mut again = right.clone();
                matrix.solve_again(&mut again);
                let apart = solved.iter().zip(&again).map(|(x, y)| (x - y).abs());
                assert!(apart.fold(0.0, f64::max) < 1e-13, "{n}: {solved:?} and {again:?}");
                for i in 0..n {
                    let row = &entries[i * n..(i + 1) * n];
                    let got: f64 = row.iter().zip(&solved).map(|(a, x)| a * x).sum();
                    assert!(
                        (got - right[i]).abs() < 1e-12,
                        "{n}, row {i}: {got}, not {}",
                        right[i]
                    );
                }
            }
        }
    }

    #[test]
    fn a_matrix_that_cannot_be_solved_is_told() {
        let mut matrix = Square::default();
        matrix.clear(3);
        matrix.row_mut(0)[0] = 1.0;
        matrix.row_mut(2)[2] = 1.0;
        assert!(!matrix.solve(&mut [1.0; 3], true));
    }
}
