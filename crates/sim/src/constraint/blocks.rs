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

    /// How every row of these blocks answers an impulse along every other: row-major, in
    /// their order, in [`Assembly::delassus`].
    pub fn delassus(&self, chosen: &[usize], scratch: &mut Assembly) {
        assemble(self, chosen, scratch);
    }
}
