//! Rows, block by block, with what they do to every column.

use super::assembly::{Assembly, assemble};
use crate::tree::Half;

/// Up to three rows that share their sides.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// How many rows.
    pub n_rows: usize,
    /// Velocities without any impulse.
    pub free: [f64; 3],
    /// The robots it moves, counted through all; at most two.
    pub robots: [Option<usize>; 2],
    pub(super) sides: [Option<Side>; 2],
}

/// One side of a block: what a unit impulse along each of its rows is as a force on a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub source: usize,
    pub rows: [[f64; 6]; 3],
}

/// Something that rows act on, a link or a column, with what that does at every column of its
/// robot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub robot: usize,
    first: usize,
    end: usize,
}

/// Every block of a step: scratch that is filled anew.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// In the order they were opened.
    pub blocks: Vec<Block>,
    pub(super) sources: Vec<Source>,
    /// Of all sources, one after the other: columns of their robots, how much these give way,
    /// and what is left there of six unit forces.
    columns: Vec<usize>,
    gives: Vec<f64>,
    lefts: Vec<[f64; 8]>,
}

/// What impulses of some blocks come to at the columns of robots: enough to know what they do to
/// others without the matrix between them.
#[derive(Clone, Debug, Default)]
pub struct Pushed {
    /// Robot by robot; nothing of those that were not pushed.
    places: Vec<Vec<f64>>,
    /// Which were.
    robots: Vec<usize>,
}

impl Pushed {
    /// Forgets what was pushed.
    pub fn clear(&mut self) {
        self.robots.drain(..).for_each(|robot| self.places[robot].clear());
    }

    /// Adds the impulses of a block.
    pub fn add(&mut self, blocks: &Blocks, block: usize, impulses: &[f64]) {
        for side in blocks.blocks[block].sides.iter().flatten() {
            let robot = blocks.sources[side.source].robot;
            if robot >= self.places.len() {
                self.places.resize(robot + 1, Vec::new());
            }
            let places = &mut self.places[robot];
            if places.is_empty() {
                self.robots.push(robot);
            }
            let mut force = [0.0; 6];
            for (row, impulse) in side.rows.iter().zip(impulses) {
                force.iter_mut().zip(row).for_each(|(sum, part)| *sum += part * impulse);
            }
            for (column, _, lefts) in blocks.columns_of(side.source) {
                if column >= places.len() {
                    places.resize(column + 1, 0.0);
                }
                let left: f64 = force.iter().zip(lefts).map(|(part, left)| part * left).sum();
                places[column] += left;
            }
        }
    }

    /// What came to a column of a robot.
    fn at(&self, robot: usize, column: usize) -> f64 {
        self.places.get(robot).and_then(|places| places.get(column)).copied().unwrap_or(0.0)
    }
}

/// Share of what a row could do at most, below which it does nothing.
const IDLE: f64 = 1e-12;

impl Blocks {
    /// Nothing.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.sources.clear();
        self.columns.clear();
        self.gives.clear();
        self.lefts.clear();
    }

    /// A link or a column of a robot, for rows to act on.
    pub fn source(&mut self, robot: usize, half: &Half) -> usize {
        let first = self.columns.len();
        self.columns.extend_from_slice(&half.columns);
        self.gives.extend_from_slice(&half.gives);
        self.lefts.extend_from_slice(&half.lefts);
        self.sources.push(Source { robot, first, end: self.columns.len() });
        self.sources.len() - 1
    }

    /// Begins a block; its sides are added to it before the next one.
    pub fn open(&mut self, n_rows: usize, free: [f64; 3]) {
        self.blocks.push(Block { n_rows, free, robots: [None, None], sides: [None, None] });
    }

    /// A side of the block that was opened last: what its rows are as forces on a source, in its
    /// six directions.
    pub fn side(&mut self, source: usize, rows: &[[f64; 6]]) {
        let block = self.blocks.last_mut().expect("a block was opened");
        let place = usize::from(block.sides[0].is_some());
        assert!(block.sides[place].is_none(), "a block has two sides at most");
        let mut padded = [[0.0; 6]; 3];
        padded[..rows.len()].copy_from_slice(rows);
        block.sides[place] = Some(Side { source, rows: padded });
        let robot = self.sources[source].robot;
        if !block.robots.contains(&Some(robot)) {
            block.robots[place] = Some(robot);
        }
    }

    /// Takes the block that was opened last back where it is one row that nothing answers, as
    /// out of the plane of a planar loop: rounding alone would say how hard to push.
    pub fn drop_if_idle(&mut self, row_size: f64, scratch: &mut Assembly) -> bool {
        let block = self.blocks.len() - 1;
        self.delassus(&[block], scratch);
        let own = scratch.delassus[0];
        let sources = self.blocks[block].sides.iter().flatten().map(|side| side.source);
        let (mut give, mut squares) = (0.0_f64, 0.0);
        for source in sources {
            for (_, one, lefts) in self.columns_of(source) {
                give = give.max(one);
                squares += lefts.iter().map(|left| left * left).sum::<f64>();
            }
        }
        let is_idle = own <= IDLE * (give * squares * row_size * row_size);
        if is_idle {
            self.blocks.pop();
        }
        is_idle
    }

    /// Column, give and lefts of a source, from the link to the base.
    #[inline(always)]
    pub(super) fn columns_of(
        &self,
        source: usize,
    ) -> impl Iterator<Item = (usize, f64, &[f64; 8])> {
        let Source { first, end, .. } = self.sources[source];
        let columns = self.columns[first..end].iter().zip(&self.gives[first..end]);
        columns.zip(&self.lefts[first..end]).map(|((column, give), lefts)| (*column, *give, lefts))
    }

    /// The velocity of a block's first row after impulses were put into [`Pushed`].
    pub fn first_row_after(&self, block: usize, pushed: &Pushed) -> f64 {
        let block = &self.blocks[block];
        let mut velocity = block.free[0];
        for side in block.sides.iter().flatten() {
            let robot = self.sources[side.source].robot;
            for (column, give, lefts) in self.columns_of(side.source) {
                let left: f64 = side.rows[0].iter().zip(lefts).map(|(row, left)| row * left).sum();
                velocity += left * give * pushed.at(robot, column);
            }
        }
        velocity
    }

    /// How every row of these blocks answers an impulse along every other: row-major, in
    /// their order, in [`Assembly::delassus`].
    pub fn delassus(&self, chosen: &[usize], scratch: &mut Assembly) {
        assemble(self, chosen, scratch);
    }
}

#[cfg(test)]
mod tests {
    use headland_base::Seed;
    use rand_chacha::rand_core::Rng;

    use super::*;

    /// The other road: rows of the matrix, times the impulses.
    #[test]
    fn what_is_pushed_answers_as_the_matrix_says() {
        let mut dice = Seed::new(4).rng();
        let mut number = || f64::from(dice.next_u32()) / f64::from(u32::MAX) - 0.5;
        let mut blocks = Blocks::default();
        // Two links of one robot that share the columns of its base, and one of another.
        let sources = [(0, vec![3, 1, 0]), (0, vec![2, 1, 0]), (1, vec![1, 0])];
        let sources = sources.map(|(robot, columns)| {
            let gives = columns.iter().map(|k| 1.0 + *k as f64).collect();
            let lefts = columns.iter().map(|_| [0.0; 8].map(|_: f64| number())).collect();
            blocks.source(robot, &Half { columns, gives, lefts })
        });
        for sides in [&[0][..], &[0, 1], &[1, 2], &[2]] {
            let n_rows = if sides.len() == 2 { 3 } else { 1 };
            blocks.open(n_rows, [number(), number(), number()]);
            for side in sides {
                let rows = [[0.0; 6]; 3].map(|row| row.map(|_: f64| number()));
                blocks.side(sources[*side], &rows[..n_rows]);
            }
        }
        let all = [0, 1, 2, 3];
        let mut assembly = Assembly::default();
        blocks.delassus(&all, &mut assembly);
        let n: usize = blocks.blocks.iter().map(|block| block.n_rows).sum();
        let impulses: Vec<f64> = (0..n).map(|_| number()).collect();
        let mut pushed = Pushed::default();
        pushed.clear();
        let mut first_rows = Vec::new();
        for block in all {
            let first = blocks.blocks[..block].iter().map(|block| block.n_rows).sum();
            first_rows.push(first);
            pushed.add(&blocks, block, &impulses[first..first + blocks.blocks[block].n_rows]);
        }
        for (block, row) in first_rows.into_iter().enumerate() {
            let answers = assembly.delassus[row * n..(row + 1) * n].iter().zip(&impulses);
            let wanted = blocks.blocks[block].free[0] + answers.map(|(w, i)| w * i).sum::<f64>();
            let got = blocks.first_row_after(block, &pushed);
            assert!((got - wanted).abs() < 1e-14, "block {block}: {got}, not {wanted}");
        }
    }
}
