//! The matrix of an island: how every row answers an impulse along every other.
//!
//! Robot by robot, because rows meet in the columns of a robot they share. Of a robot, all rows
//! that act on it stand side by side: first what they do at each of its columns, then the
//! products of these, row by row, each in instructions as wide as there are. What comes out are
//! sums of squares, so no rounding makes of something stiff something that gives the wrong way.
//!
//! Tried instead: the answer of links to links (six by six), turned into that of rows. A third
//! less arithmetic, but differences of large numbers where a link can hardly move.

use super::blocks::Blocks;
use crate::tree::{Kernel, widely};

/// Numbers that are worked on at once; rows are filled up with zeros to whole chunks.
type Chunk = [f64; CHUNK];

const CHUNK: usize = 8;

/// The matrix, and memory to make it.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// Row-major.
    pub delassus: Vec<f64>,
    sides: Vec<SidePlace>,
    robot: OfRobot,
}

/// One side of a block of the island.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SidePlace {
    robot: usize,
    first_row: usize,
    source: usize,
    block: usize,
    side: usize,
}

/// What acts on one robot.
#[derive(Clone, Debug, Default)]
struct OfRobot {
    /// Its rows among those of the island.
    rows: Vec<usize>,
    /// Which of `gives` is of a column; none so far.
    places: Vec<Option<u32>>,
    columns: Vec<usize>,
    gives: Vec<f64>,
    /// The rows as forces on one source: six directions, row by row.
    forces: Vec<Chunk>,
    /// What the rows do at each column.
    lefts: Vec<Chunk>,
    /// Per column: the chunks in which anything is done, bit by bit; the last bit stands for all
    /// chunks from there on. Of an arm's columns only the arm's own rows know.
    chunks: Vec<u64>,
    /// How the rows answer each other.
    products: Vec<Chunk>,
}

pub(super) fn assemble(blocks: &Blocks, chosen: &[usize], scratch: &mut Assembly) {
    let Assembly { delassus, sides, robot } = scratch;
    let mut n = 0;
    sides.clear();
    for &block in chosen {
        for (i, side) in blocks.blocks[block].sides.iter().enumerate() {
            let Some(side) = side else { continue };
            let robot = blocks.sources[side.source].robot;
            sides.push(SidePlace { robot, first_row: n, source: side.source, block, side: i });
        }
        n += blocks.blocks[block].n_rows;
    }
    delassus.clear();
    delassus.resize(n * n, 0.0);
    sides.sort_unstable();
    let is_alone = sides.first().map(|side| side.robot) == sides.last().map(|side| side.robot);
    for sides in sides.chunk_by(|a, b| a.robot == b.robot) {
        widely(OneRobot { blocks, sides, robot, n, is_alone, delassus });
    }
}

/// Adds what one robot does.
struct OneRobot<'a> {
    blocks: &'a Blocks,
    sides: &'a [SidePlace],
    robot: &'a mut OfRobot,
    /// Rows of the island.
    n: usize,
    /// It is the only robot of the island, so that all rows are its own.
    is_alone: bool,
    delassus: &'a mut [f64],
}

impl Kernel for OneRobot<'_> {
    #[inline(always)]
    fn run(mut self) {
        self.list_rows();
        // A width that is known when this is compiled saves most of what few rows take.
        match self.robot.rows.len().div_ceil(CHUNK) {
            1 => self.add(1),
            2 => self.add(2),
            3 => self.add(3),
            4 => self.add(4),
            width => self.add(width),
        }
    }
}

impl OneRobot<'_> {
    #[inline(always)]
    fn list_rows(&mut self) {
        let rows = &mut self.robot.rows;
        rows.clear();
        for place in self.sides {
            // Both sides of a block may be of one robot.
            if rows.last().is_none_or(|last| *last < place.first_row) {
                let n_rows = self.blocks.blocks[place.block].n_rows;
                rows.extend(place.first_row..place.first_row + n_rows);
            }
        }
    }

    #[inline(always)]
    fn add(&mut self, width: usize) {
        self.find_lefts(width);
        self.multiply(width);
    }

    /// What all rows do at every column, source by source.
    #[inline(always)]
    fn find_lefts(&mut self, width: usize) {
        let OfRobot { rows, places, columns, gives, forces, lefts, chunks, .. } = &mut *self.robot;
        columns.iter().for_each(|column| places[*column] = None);
        columns.clear();
        gives.clear();
        lefts.clear();
        chunks.clear();
        for (i, place) in self.sides.iter().enumerate() {
            let source = place.source;
            if self.sides[..i].iter().any(|before| before.source == source) {
                continue;
            }
            forces.clear();
            forces.resize(6 * width, [0.0; CHUNK]);
            // Rows of one source stand together, and those of a joint have one direction: most
            // of the chunks, and of the six, have nothing in them.
            let (mut first, mut end, mut n_directions) = (width, 0, 1);
            let of_source = self.sides[i..].iter().filter(|other| other.source == source);
            for SidePlace { first_row, block, side, .. } in of_source {
                let block = &self.blocks.blocks[*block];
                let side = block.sides[*side].as_ref().expect("a side that was listed");
                let at = rows.partition_point(|row| row < first_row);
                first = first.min(at / CHUNK);
                end = end.max((at + block.n_rows - 1) / CHUNK + 1);
                for (r, row) in side.rows.iter().enumerate().take(block.n_rows) {
                    for (direction, part) in row.iter().enumerate() {
                        let chunk = direction * width + (at + r) / CHUNK;
                        forces[chunk][(at + r) % CHUNK] += part;
                        if *part != 0.0 {
                            n_directions = n_directions.max(direction + 1);
                        }
                    }
                }
            }
            for (column, give, left) in self.blocks.columns_of(source) {
                if column >= places.len() {
                    places.resize(column + 1, None);
                }
                let place = *places[column].get_or_insert_with(|| {
                    columns.push(column);
                    gives.push(give);
                    lefts.resize(lefts.len() + width, [0.0; CHUNK]);
                    chunks.push(0);
                    columns.len() as u32 - 1
                });
                for c in first..end {
                    chunks[place as usize] |= bit(c);
                    let mut sum = [0.0; CHUNK];
                    for direction in 0..n_directions {
                        let force = &forces[direction * width + c];
                        for l in 0..CHUNK {
                            sum[l] += left[direction] * force[l];
                        }
                    }
                    let into = &mut lefts[place as usize * width + c];
                    for l in 0..CHUNK {
                        into[l] += sum[l];
                    }
                }
            }
        }
    }

    /// Sums over columns of `left · give · left`: square by square of the upper half, and the
    /// same below.
    #[inline(always)]
    fn multiply(&mut self, width: usize) {
        let OfRobot { rows, gives, lefts, chunks, products, .. } = &mut *self.robot;
        products.resize(width * CHUNK * width, [0.0; CHUNK]);
        for upper in 0..width {
            for right in upper..width {
                let mut sums = [[0.0; CHUNK]; CHUNK];
                let columns = gives.iter().zip(lefts.chunks_exact(width)).zip(&*chunks);
                for ((give, lefts), chunks) in columns {
                    if chunks & bit(upper) == 0 || chunks & bit(right) == 0 {
                        continue;
                    }
                    let (weights, beside) = (lefts[upper].map(|left| left * give), lefts[right]);
                    for r in 0..CHUNK {
                        for l in 0..CHUNK {
                            sums[r][l] += weights[r] * beside[l];
                        }
                    }
                }
                for r in 0..CHUNK {
                    products[(upper * CHUNK + r) * width + right] = sums[r];
                }
            }
        }
        // By index: iterators that skip and step took as long as the products.
        let (n, n_own) = (self.n, rows.len());
        let (products, rows) = (products.as_flattened(), &rows[..n_own]);
        for i in 0..n_own {
            let of_row = &products[i * width * CHUNK..i * width * CHUNK + n_own];
            // Nothing is there yet, and rows stand where they stand.
            if self.is_alone {
                self.delassus[i * n + i..(i + 1) * n].copy_from_slice(&of_row[i..]);
                let below = self.delassus[i * n + i..].iter_mut().step_by(n);
                below.zip(&of_row[i..]).for_each(|(entry, product)| *entry = *product);
                continue;
            }
            let row = rows[i] * n;
            for j in i..n_own {
                let sum = self.delassus[row + rows[j]] + of_row[j];
                self.delassus[row + rows[j]] = sum;
                self.delassus[rows[j] * n + rows[i]] = sum;
            }
        }
    }
}

/// The bit that stands for a chunk.
#[inline(always)]
fn bit(chunk: usize) -> u64 {
    1 << chunk.min(63)
}
