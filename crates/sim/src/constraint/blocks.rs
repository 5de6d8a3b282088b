//! Rows, block by block, with what they do to every column.

use crate::tree::Half;

/// What a block demands of its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockKind {
    /// Normal and two tangents, tangents already scaled by their friction: the normal impulse
    /// is not negative, the tangents' is no longer than it, and what slides is opposed.
    Contact,
    /// Velocities are as wanted, whatever that takes.
    Held,
    /// One row: the velocity is at least as wanted, and the impulse not negative.
    Stop,
    /// One row: the velocity is as wanted as far as an impulse of this size can make it.
    Rub(f64),
}

/// Up to three rows that share their columns.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// What is demanded.
    pub kind: BlockKind,
    /// How many rows.
    pub n_rows: usize,
    /// Velocities to be reached.
    pub wanted: [f64; 3],
    /// Velocities without any impulse.
    pub free: [f64; 3],
    /// Its entries.
    pub first_entry: usize,
    /// One beyond them.
    pub end_entry: usize,
    /// How its own impulses change its own velocities.
    pub own: [[f64; 3]; 3],
    /// The inverse of that, where it has one.
    pub inverse: Option<[[f64; 3]; 3]>,
}

/// What the rows of a block do at one column.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The column, counted through all robots.
    pub column: usize,
    /// Per unit impulse of each row.
    pub lefts: [f64; 3],
}

/// Every block of a step: scratch that is filled anew.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// In the order they are swept.
    pub blocks: Vec<Block>,
    /// Entries of all blocks.
    pub entries: Vec<Entry>,
    /// How much every column gives way.
    pub give: Vec<f64>,
    /// Impulses, three per block.
    pub impulses: Vec<[f64; 3]>,
    /// What all impulses do at every column.
    pub carried: Vec<f64>,
}

impl Blocks {
    /// Nothing, over as many columns.
    pub fn clear(&mut self, n_columns: usize) {
        self.blocks.clear();
        self.entries.clear();
        self.impulses.clear();
        self.give.clear();
        self.give.resize(n_columns, 0.0);
        self.carried.clear();
        self.carried.resize(n_columns, 0.0);
    }

    /// Begins a block; its sides are added to it before the next one.
    pub fn open(&mut self, kind: BlockKind, n_rows: usize, wanted: [f64; 3], free: [f64; 3]) {
        let at = self.entries.len();
        self.blocks.push(Block {
            kind,
            n_rows,
            wanted,
            free,
            first_entry: at,
            end_entry: at,
            own: [[0.0; 3]; 3],
            inverse: None,
        });
        self.impulses.push([0.0; 3]);
    }

    /// A side of the block that was opened last: what its rows are as forces on a link, in the
    /// six directions of `half`, whose columns begin at `first_column`.
    pub fn side(
        &mut self,
        half: &Half,
        first_column: usize,
        give: impl Fn(usize) -> f64,
        rows: &[[f64; 6]],
    ) {
        let block = self.blocks.last_mut().expect("a block was opened");
        // Where two sides share a robot their columns meet, from the base on.
        let others = block.first_entry..self.entries.len();
        for (column, lefts) in half.columns.iter().zip(&half.lefts) {
            self.give[first_column + column] = give(*column);
            let mut at_rows = [0.0; 3];
            for (at_row, row) in at_rows.iter_mut().zip(rows) {
                *at_row = lefts.iter().zip(row).map(|(left, part)| left * part).sum();
            }
            let column = first_column + column;
            match self.entries[others.clone()].iter_mut().find(|entry| entry.column == column) {
                Some(entry) => {
                    entry.lefts.iter_mut().zip(at_rows).for_each(|(sum, part)| *sum += part);
                }
                None => self.entries.push(Entry { column, lefts: at_rows }),
            }
        }
        block.end_entry = self.entries.len();
    }

    /// Ends the block that was opened last.
    pub fn close(&mut self) {
        let block = self.blocks.last_mut().expect("a block was opened");
        let mut own = [[0.0; 3]; 3];
        for entry in &self.entries[block.first_entry..block.end_entry] {
            for (row, left) in own.iter_mut().zip(entry.lefts) {
                let left = left * self.give[entry.column];
                row.iter_mut().zip(entry.lefts).for_each(|(sum, right)| *sum += left * right);
            }
        }
        block.own = own;
        block.inverse = inverse(&own, block.n_rows);
    }
}

/// Of the first `n` rows and columns; none where they depend on each other.
fn inverse(m: &[[f64; 3]; 3], n: usize) -> Option<[[f64; 3]; 3]> {
    let mut out = [[0.0; 3]; 3];
    let size = (0..n).map(|i| m[i][i]).fold(0.0, f64::max);
    // Rows that depend on each other leave only rounding of a determinant.
    let is_apart = |det: f64, power: i32| det > 1e-12 * (0..power).fold(1.0, |p, _| p * size);
    match n {
        1 => {
            if m[0][0] <= 0.0 {
                return None;
            }
            out[0][0] = 1.0 / m[0][0];
        }
        2 => {
            let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
            if !is_apart(det, 2) {
                return None;
            }
            out[0] = [m[1][1] / det, -m[0][1] / det, 0.0];
            out[1] = [-m[1][0] / det, m[0][0] / det, 0.0];
        }
        _ => {
            let minor =
                |a: usize, b: usize, c: usize, d: usize| m[a][c] * m[b][d] - m[a][d] * m[b][c];
            let det = m[0][0] * minor(1, 2, 1, 2) - m[0][1] * minor(1, 2, 0, 2)
                + m[0][2] * minor(1, 2, 0, 1);
            if !is_apart(det, 3) {
                return None;
            }
            out[0] = [minor(1, 2, 1, 2) / det, -minor(0, 2, 1, 2) / det, minor(0, 1, 1, 2) / det];
            out[1] = [-minor(1, 2, 0, 2) / det, minor(0, 2, 0, 2) / det, -minor(0, 1, 0, 2) / det];
            out[2] = [minor(1, 2, 0, 1) / det, -minor(0, 2, 0, 1) / det, minor(0, 1, 0, 1) / det];
        }
    }
    Some(out)
}
