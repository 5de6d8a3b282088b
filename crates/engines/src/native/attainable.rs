//! Speeds that loops can have: what is asked of rows that depend on each other.
//!
//! A loop is asked to make good what it is off by, and to meet itself at the end of a step though
//! its ends go straight on. Where all its rods are in one line there is a direction in which no
//! impulse moves it, and near there one in which a large impulse moves it a little: to meet the
//! same speed takes energy that grows without end. So of the speeds asked for the part is taken
//! that impulses of a sensible size reach. With the rows' answers `W`, in units of what a row
//! answers where it is free to,
//!
//! ```text
//! t' = W·(W² + δ²)⁻¹·W·t:   t·w²/(w² + δ²) along a direction that answers w
//! ```
//!
//! which leaves well-placed loops what they are asked for but for (δ/w)², and adds at most
//! t²/(3·δ) of energy. That such a direction is held at all is not touched: to take out a speed
//! never makes energy.

use headland_base::Vec3;
use headland_base::maths::sqrt;
use headland_sim::contact::hard::Square;

use super::packing::Seat;
use super::rows::{Held, Owner, Sides};
use super::solving::Work;

/// Answers this small, against those of rows that are free to, are asked for half. With 1e-2 a
/// parallelogram that passes through the line in which it may fold over lost 0.1 J of 6 J in 5 s;
/// with 1e-4 it keeps them, and one that is thrown where it cannot move stops within 7 µm.
const SMALL: f64 = 1e-4;

/// Memory that is used again.
#[derive(Default)]
pub(super) struct Attainable {
    /// One per row: speeds that are asked for, and then those that can be.
    pub targets: Vec<f64>,
    /// One per row: what it would answer if it were free to, in the row's units.
    pub scales: Vec<f64>,
    /// How rows answer each other: row-major.
    pub answers: Vec<f64>,
    squares: Square,
    right: Vec<f64>,
    /// The rows in the problem.
    rows: Vec<LoopRow>,
}

/// A row of a loop.
#[derive(Clone, Copy)]
struct LoopRow {
    /// Which row of the problem.
    at: usize,
    /// The links that the loop is closed between, and whether the row turns them rather than moves
    /// their ends: rows that answer in the same unit.
    of: ([Option<Seat>; 2], bool),
    /// What it answers.
    own: f64,
}

impl LoopRow {
    fn of(at: usize, sides: &Sides, own: f64) -> LoopRow {
        let is_moment = sides.iter().flatten().all(|(_, force)| force.line.get(0) == Vec3::ZERO);
        LoopRow { at, of: (sides.map(|side| side.map(|(seat, _)| seat)), is_moment), own }
    }
}

impl Work {
    /// Rows of loops ask for speeds; where rods are in one line no motion has them.
    pub fn ask_loops_for_what_can_be(&mut self, held: &Held, chosen: &[usize]) {
        let (n, first_row) = (self.free.len(), self.free.len() - self.rows.len());
        let attainable = &mut self.attainable;
        attainable.clear();
        let mut at = 0;
        for &block in chosen {
            if let Some(Owner::Links(sides)) = held.owners.get(block) {
                let own = self.assembly.delassus[at * n + at];
                attainable.rows.push(LoopRow::of(at, sides, own));
            }
            at += held.blocks.blocks[block].n_rows;
        }
        let rows = std::mem::take(&mut attainable.rows);
        for row in &rows {
            // What a loop could answer is seen by itself, not by lighter ones beside it.
            let own = rows.iter().filter(|other| other.of == row.of).map(|other| other.own);
            attainable.scales.push(own.fold(0.0, f64::max));
            attainable.targets.push(self.rows[row.at - first_row].target);
            let answers = &self.assembly.delassus[row.at * n..(row.at + 1) * n];
            attainable.answers.extend(rows.iter().map(|other| answers[other.at]));
        }
        attainable.find();
        for (row, target) in rows.iter().zip(&attainable.targets) {
            self.rows[row.at - first_row].target = *target;
        }
        attainable.rows = rows;
    }
}

impl Attainable {
    pub fn clear(&mut self) {
        self.targets.clear();
        self.scales.clear();
        self.answers.clear();
        self.rows.clear();
    }

    /// Turns the targets into those that can be. Numbers that are none stay what they are: whoever
    /// has them is contained, and its neighbours' loops are held meanwhile.
    pub fn find(&mut self) {
        let Attainable { targets, scales, answers, squares, right, .. } = self;
        let n = targets.len();
        let is_idle = targets.iter().all(|target| *target == 0.0);
        if is_idle || !targets.iter().chain(&*answers).all(|number| number.is_finite()) {
            return;
        }
        // Rows that answer nothing were left out, so none of the scales is nothing.
        scales.iter_mut().for_each(|scale| *scale = sqrt(*scale));
        for (i, row) in answers.chunks_exact_mut(n).enumerate() {
            row.iter_mut().zip(&*scales).for_each(|(w, scale)| *w /= scales[i] * scale);
            targets[i] /= scales[i];
        }
        let row = |i: usize| &answers[i * n..(i + 1) * n];
        squares.clear(n);
        for i in 0..n {
            let into = squares.row_mut(i);
            (0..n).for_each(|j| into[j] = dot(row(i), row(j)));
            into[i] += SMALL * SMALL;
        }
        right.clear();
        right.extend((0..n).map(|i| dot(row(i), targets)));
        // Positive by δ², so solvable but for numbers whose squares leave the finite.
        if !squares.solve(right, false) {
            return targets.fill(0.0);
        }
        for (i, target) in targets.iter_mut().enumerate() {
            *target = scales[i] * dot(row(i), right);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answers: &[f64], scales: &[f64], targets: &[f64]) -> Vec<f64> {
        let mut here = Attainable {
            targets: targets.to_vec(),
            scales: scales.to_vec(),
            answers: answers.to_vec(),
            ..Attainable::default()
        };
        here.find();
        here.targets
    }

    /// Each direction by itself: the closed form, and no energy beyond the bound.
    #[test]
    fn a_direction_that_answers_little_is_asked_for_little() {
        for w in [0.0, 1e-8, 1e-4, 1e-2, 0.1, 1.0] {
            let got = asked(&[2.0, 0.0, 0.0, 2.0 * w], &[2.0, 2.0], &[0.3, 0.4]);
            let share = |w: f64| w * w / (w * w + SMALL * SMALL);
            assert!((got[0] - 0.3 * share(1.0)).abs() < 1e-12, "{got:?}");
            assert!((got[1] - 0.4 * share(w)).abs() < 1e-12, "{w}: {got:?}");
            assert!(w == 0.0 || got[1] * got[1] / w < 0.4 * 0.4 / (3.0 * SMALL), "{w}: {got:?}");
        }
    }

    /// Two rows that are one, at odds: both are asked for the mean.
    #[test]
    fn rows_at_odds_are_asked_for_the_same() {
        let got = asked(&[1.0; 4], &[1.0, 1.0], &[0.2, 0.6]);
        assert!((got[0] - got[1]).abs() < 1e-12 && (got[0] - 0.4).abs() < 1e-4, "{got:?}");
    }

    /// Another unit for a row changes nothing else.
    #[test]
    fn units_do_not_matter() {
        let (w, t) = ([1.0, 0.3, 0.3, 0.2], [0.1, -0.2]);
        let one = asked(&w, &[1.0, 0.2], &t);
        let k = 50.0;
        let other =
            asked(&[1.0, 0.3 * k, 0.3 * k, 0.2 * k * k], &[1.0, 0.2 * k * k], &[0.1, -0.2 * k]);
        assert!((one[0] - other[0]).abs() < 1e-12 && (one[1] - other[1] / k).abs() < 1e-12);
    }
}
