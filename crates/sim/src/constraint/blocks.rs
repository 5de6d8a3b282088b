//! Rows, block by block, with what they do to every column.

use crate::tree::Half;

/// Up to three rows that share their columns.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// How many rows.
    pub n_rows: usize,
    /// Velocities without any impulse.
    pub free: [f64; 3],
    /// The robots it moves, counted through all; at most two.
    pub robots: [Option<usize>; 2],
    first_entry: usize,
    end_entry: usize,
}

/// What the rows of a block do at one column.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The column, counted through all robots.
    pub column: usize,
    /// How much it gives way.
    pub give: f64,
    /// Per unit impulse of each row.
    pub lefts: [f64; 3],
}

/// Every block of a step: scratch that is filled anew.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// In the order they were opened.
    pub blocks: Vec<Block>,
    entries: Vec<Entry>,
}

/// Share of what a row could do at most, below which it does nothing.
const IDLE: f64 = 1e-12;

impl Blocks {
    /// Nothing.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.entries.clear();
    }

    /// Begins a block; its sides are added to it before the next one.
    pub fn open(&mut self, n_rows: usize, free: [f64; 3]) {
        let at = self.entries.len();
        let robots = [None, None];
        self.blocks.push(Block { n_rows, free, robots, first_entry: at, end_entry: at });
    }

    /// A side of the block that was opened last: what its rows are as forces on a link, in the
    /// six directions of `half`, whose columns begin at `first_column`.
    pub fn side(
        &mut self,
        (robot, first_column): (usize, usize),
        half: &Half,
        give: impl Fn(usize) -> f64,
        rows: &[[f64; 6]],
    ) {
        let block = self.blocks.last_mut().expect("a block was opened");
        let others = block.first_entry..self.entries.len();
        let shares_robot = block.robots.contains(&Some(robot));
        if !shares_robot {
            let free_place = block.robots.iter_mut().find(|place| place.is_none());
            *free_place.expect("a block has two sides at most") = Some(robot);
        }
        for (column, lefts) in half.columns.iter().zip(&half.lefts) {
            let mut at_rows = [0.0; 3];
            for (at_row, row) in at_rows.iter_mut().zip(rows) {
                *at_row = lefts.iter().zip(row).map(|(left, part)| left * part).sum();
            }
            let (column, give) = (first_column + column, give(*column));
            // Where both sides are of one robot their columns meet, from the base on.
            let same = self.entries[others.clone()]
                .iter_mut()
                .find(|entry| shares_robot && entry.column == column);
            match same {
                Some(entry) => {
                    entry.lefts.iter_mut().zip(at_rows).for_each(|(sum, part)| *sum += part);
                }
                None => self.entries.push(Entry { column, give, lefts: at_rows }),
            }
        }
        block.end_entry = self.entries.len();
    }

    /// Takes the block that was opened last back where it is one row that nothing answers, as
    /// out of the plane of a planar loop: rounding alone would say how hard to push.
    pub fn drop_if_idle(&mut self, halves: &[Half], row_size: f64) -> bool {
        let block = self.blocks.len() - 1;
        let own: f64 = self.entries(block).iter().map(|e| e.give * e.lefts[0] * e.lefts[0]).sum();
        let give = self.entries(block).iter().map(|e| e.give).fold(0.0, f64::max);
        let lefts = halves.iter().flat_map(|half| half.lefts.iter().flatten());
        let most = give * lefts.map(|left| left * left).sum::<f64>() * row_size * row_size;
        let is_idle = own <= IDLE * most;
        if is_idle {
            self.entries.truncate(self.blocks[block].first_entry);
            self.blocks.pop();
        }
        is_idle
    }

    /// What a block does to every column.
    pub fn entries(&self, block: usize) -> &[Entry] {
        let Block { first_entry, end_entry, .. } = self.blocks[block];
        &self.entries[first_entry..end_entry]
    }

    /// How every row of these blocks answers an impulse along every other: row-major, in
    /// their order. `scratch` holds one triple per column of all robots.
    pub fn delassus(
        &self,
        chosen: &[usize],
        n_columns: usize,
        scratch: &mut Vec<[f64; 3]>,
        out: &mut Vec<f64>,
    ) {
        let n: usize = chosen.iter().map(|block| self.blocks[*block].n_rows).sum();
        out.clear();
        out.resize(n * n, 0.0);
        scratch.resize(n_columns, [0.0; 3]);
        let mut first = 0;
        for (a, block) in chosen.iter().enumerate() {
            for entry in self.entries(*block) {
                scratch[entry.column] = entry.lefts.map(|left| left * entry.give);
            }
            let mut other_first = first;
            for other in &chosen[a..] {
                if self.share_robot(*block, *other) {
                    let products = self.products(*other, scratch);
                    self.put((*block, first), (*other, other_first), n, &products, out);
                }
                other_first += self.blocks[*other].n_rows;
            }
            first += self.blocks[*block].n_rows;
            for entry in self.entries(*block) {
                scratch[entry.column] = [0.0; 3];
            }
        }
    }

    fn share_robot(&self, a: usize, b: usize) -> bool {
        let others = self.blocks[b].robots;
        self.blocks[a].robots.iter().flatten().any(|robot| others.contains(&Some(*robot)))
    }

    /// Of the rows in `scratch` with those of a block: row of the former, then of the latter.
    fn products(&self, block: usize, scratch: &[[f64; 3]]) -> [[f64; 3]; 3] {
        let mut sums = [[0.0; 3]; 3];
        for entry in self.entries(block) {
            for (row, left) in sums.iter_mut().zip(scratch[entry.column]) {
                row.iter_mut().zip(entry.lefts).for_each(|(sum, right)| *sum += left * right);
            }
        }
        sums
    }

    /// Writes what two blocks, each with its first row, do to one another.
    fn put(
        &self,
        (a, first_a): (usize, usize),
        (b, first_b): (usize, usize),
        n: usize,
        products: &[[f64; 3]; 3],
        out: &mut [f64],
    ) {
        for (i, of_row) in products.iter().enumerate().take(self.blocks[a].n_rows) {
            for (j, product) in of_row.iter().enumerate().take(self.blocks[b].n_rows) {
                let (row, column) = (first_a + i, first_b + j);
                out[row * n + column] = *product;
                out[column * n + row] = *product;
            }
        }
    }
}
