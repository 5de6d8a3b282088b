//! Sweeps over the blocks, each solved for itself with the others as they are, until nothing
//! moves any more.
//!
//! A contact is Coulomb's: inside the cone nothing slides, on its rim the friction opposes the
//! sliding and the normal velocity is what it should be. The local solution is exact where it
//! sticks or lifts off; where it slides, one projected step is made per sweep, whose fixed point
//! is the law itself.

use headland_base::maths::sqrt;

use super::blocks::{Block, BlockKind, Blocks};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// At most as many sweeps.
    pub n_sweeps: usize,
    /// A sweep that changes no velocity by more is the last \[m/s or rad/s\].
    pub tolerance: f64,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Sweeps made.
    pub n_sweeps: usize,
    /// What the last one changed a velocity by, at most.
    pub change: f64,
}

/// Finds the impulses of the blocks in `order`, from those they have. Blocks that share no
/// column do not notice each other, so islands may be solved apart.
pub fn solve(blocks: &mut Blocks, order: &[usize], settings: Settings) -> Outcome {
    for &i in order {
        let impulse = blocks.impulses[i];
        carry(blocks, i, impulse);
    }
    let mut outcome = Outcome { n_sweeps: 0, change: f64::INFINITY };
    while outcome.n_sweeps < settings.n_sweeps && outcome.change > settings.tolerance {
        outcome.change = 0.0;
        for &i in order {
            let change = improve(blocks, i);
            outcome.change = outcome.change.max(change);
        }
        outcome.n_sweeps += 1;
    }
    outcome
}

/// Adds what an impulse of a block does at every column.
fn carry(blocks: &mut Blocks, i: usize, impulse: [f64; 3]) {
    let Block { first_entry, end_entry, .. } = blocks.blocks[i];
    for entry in &blocks.entries[first_entry..end_entry] {
        let [a, b, c] = entry.lefts;
        let sum = a * impulse[0] + b * impulse[1] + c * impulse[2];
        blocks.carried[entry.column] += blocks.give[entry.column] * sum;
    }
}

/// Velocities of a block's rows, less those that are wanted.
fn velocities(blocks: &Blocks, i: usize) -> [f64; 3] {
    let block = &blocks.blocks[i];
    let mut v = [0, 1, 2].map(|k| block.free[k] - block.wanted[k]);
    for entry in &blocks.entries[block.first_entry..block.end_entry] {
        let carried = blocks.carried[entry.column];
        v.iter_mut().zip(entry.lefts).for_each(|(v, left)| *v += left * carried);
    }
    v
}

/// Solves one block, and says by how much that changed its velocities.
fn improve(blocks: &mut Blocks, i: usize) -> f64 {
    let v = velocities(blocks, i);
    let (block, old) = (blocks.blocks[i], blocks.impulses[i]);
    let new = match block.kind {
        BlockKind::Contact => contact(&block, v, old),
        BlockKind::Held => held(&block, v, old),
        BlockKind::Stop => [(old[0] - ratio(v[0], block.own[0][0])).max(0.0), 0.0, 0.0],
        BlockKind::Rub(most) => {
            [(old[0] - ratio(v[0], block.own[0][0])).clamp(-most, most), 0.0, 0.0]
        }
    };
    let change = [0, 1, 2].map(|k| new[k] - old[k]);
    if change == [0.0; 3] {
        return 0.0;
    }
    blocks.impulses[i] = new;
    carry(blocks, i, change);
    (0..block.n_rows).map(|k| (change[k] * block.own[k][k]).abs()).fold(0.0, f64::max)
}

/// Nothing where nothing gives way.
fn ratio(v: f64, own: f64) -> f64 {
    if own > 0.0 { v / own } else { 0.0 }
}

fn held(block: &Block, v: [f64; 3], old: [f64; 3]) -> [f64; 3] {
    match &block.inverse {
        Some(inverse) => {
            let step = times(inverse, v);
            [0, 1, 2].map(|k| old[k] - step[k])
        }
        // Rows that depend on each other, one after another.
        None => [0, 1, 2].map(|k| old[k] - 0.5 * ratio(v[k], block.own[k][k])),
    }
}

fn contact(block: &Block, v: [f64; 3], old: [f64; 3]) -> [f64; 3] {
    let own = &block.own;
    // Velocities if this contact gave nothing.
    let back = times(own, old);
    let without = [0, 1, 2].map(|k| v[k] - back[k]);
    if without[0] >= 0.0 {
        return [0.0; 3];
    }
    if let Some(inverse) = &block.inverse {
        let stick = times(inverse, without).map(|x| -x);
        if stick[0] >= 0.0 && stick[1] * stick[1] + stick[2] * stick[2] <= stick[0] * stick[0] {
            return stick;
        }
    }
    slide(block, without, old)
}

/// On the rim of the cone: friction points somewhere, and the velocity it leaves points the
/// other way. The direction is turned until it does, the normal following each time.
fn slide(block: &Block, without: [f64; 3], old: [f64; 3]) -> [f64; 3] {
    let own = &block.own;
    let [mut normal, mut t1, mut t2] = old;
    // An upper bound of how strongly tangents answer makes the step a contraction.
    let strength = own[1][1] + own[2][2];
    for _ in 0..N_SLIDES {
        normal = (-(without[0] + own[0][1] * t1 + own[0][2] * t2) / own[0][0]).max(0.0);
        if strength <= 0.0 {
            return [normal, 0.0, 0.0];
        }
        let v1 = without[1] + own[1][0] * normal + own[1][1] * t1 + own[1][2] * t2;
        let v2 = without[2] + own[2][0] * normal + own[2][1] * t1 + own[2][2] * t2;
        let (a, b) = (t1 - v1 / strength, t2 - v2 / strength);
        let length = sqrt(a * a + b * b);
        let scale = if length > normal { normal / length } else { 1.0 };
        let change = (a * scale - t1).abs() + (b * scale - t2).abs();
        (t1, t2) = (a * scale, b * scale);
        if change <= 1e-15 * normal {
            break;
        }
    }
    [normal, t1, t2]
}

/// Steps on the rim per visit; the sweeps around it do the rest.
const N_SLIDES: usize = 8;

fn times(m: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}
