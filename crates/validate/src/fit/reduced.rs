//! The linear problem that a round of a search solves: slopes and residuals reduced to a triangle,
//! corrected after each step, and solved for a step within bounds.
//!
//! There are as many rows as samples, and a pass through all slopes takes as long as a tenth of a
//! simulation of their robot. So all that can be is read off the triangle, and corrections are
//! kept beside the slopes, which stay as they were taken.

use headland_base::maths::{dot, sqrt};

use super::Bounds;
use super::dense::{Columns, back_substitute, norm, slices, triangle};

/// Rows of which all slopes stay next to a core.
const N_ROWS: usize = 1024;

/// `J = Q·R` of all residuals, their gradient and `Qᵀ·r`.
pub(super) struct Reduced<'s> {
    /// As they were taken.
    slopes: &'s Columns,
    /// What was added to them since: `m·wᵀ` each, a number per residual and one per parameter.
    added: Vec<(Vec<f64>, Vec<f64>)>,
    r: Columns,
    right: Vec<f64>,
    gradient: Vec<f64>,
}

impl<'s> Reduced<'s> {
    pub fn of(slopes: &'s Columns, residuals: &[f64]) -> Reduced<'s> {
        let (r, right) = triangle(&slices(slopes), residuals);
        let gradient = r.iter().map(|column| dot(column, &right)).collect();
        Reduced { slopes, added: Vec::new(), r, right, gradient }
    }

    /// `Jᵀ·r`.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// How long each column of J is.
    pub fn lengths(&self) -> Vec<f64> {
        self.r.iter().map(|column| norm(column)).collect()
    }

    /// Broyden's correction after a step from `before` to `residuals`: the least change of the
    /// slopes, in the units of `scale`, with which they would have told what the residuals did on
    /// the way `moved`. It is `m·wᵀ` for what they missed, so the triangle follows from that of
    /// before: with `y = Qᵀ·m` and what of `m` is beside all slopes below it, `R + y·wᵀ` is made a
    /// triangle again. `Qᵀ` is `R⁻ᵀ·Jᵀ` here, exact enough for slopes that are not; a whole
    /// reduction takes as long as half a simulation.
    pub fn correct(&mut self, scale: &[f64], moved: &[f64], before: &[f64], residuals: &[f64]) {
        let weights: Vec<f64> = moved.iter().zip(scale).map(|(p, d)| p * d * d).collect();
        let size = dot(&weights, moved);
        let (missed, pulls) = self.missed(moved, before, residuals);
        let [of_missed, mut gradient] = pulls;
        if size > 0.0 {
            let shares: Vec<f64> = weights.iter().map(|weight| weight / size).collect();
            let mut y = self.turned(of_missed);
            y.push(sqrt((dot(&missed, &missed) - dot(&y, &y)).max(0.0)));
            for (column, share) in self.r.iter_mut().zip(&shares) {
                column.push(0.0);
                column.iter_mut().zip(&y).for_each(|(r, y)| *r += y * share);
            }
            (self.r, _) = triangle(&slices(&self.r), &vec![0.0; y.len()]);
            let by = dot(&missed, residuals);
            gradient.iter_mut().zip(&shares).for_each(|(sum, share)| *sum += by * share);
            self.added.push((missed, shares));
        }
        self.right = self.turned(gradient.clone());
        self.gradient = gradient;
    }

    /// What the slopes did not tell of a step, and `Jᵀ` times that and times the residuals after it.
    /// Some rows at a time, which are then next to a core: three passes through all slopes took as
    /// long as a quarter of a simulation.
    fn missed(
        &self,
        moved: &[f64],
        before: &[f64],
        residuals: &[f64],
    ) -> (Vec<f64>, [Vec<f64>; 2]) {
        let mut missed = vec![0.0; residuals.len()];
        let mut pulls = [vec![0.0; moved.len()], vec![0.0; moved.len()]];
        let by_added: Vec<f64> = self.added.iter().map(|(_, shares)| dot(shares, moved)).collect();
        for from in (0..residuals.len()).step_by(N_ROWS) {
            let rows = from..(from + N_ROWS).min(residuals.len());
            let missed = &mut missed[rows.clone()];
            let slopes = self.slopes.iter().zip(moved);
            let added = self.added.iter().map(|(missed, _)| missed).zip(&by_added);
            for (column, by) in slopes.chain(added) {
                missed.iter_mut().zip(&column[rows.clone()]).for_each(|(sum, j)| *sum += j * by);
            }
            let after = &residuals[rows.clone()];
            let gone = after.iter().zip(&before[rows.clone()]);
            for (missed, (new, r)) in missed.iter_mut().zip(gone) {
                *missed = new - r - *missed;
            }
            for (pull, b) in pulls.iter_mut().zip([&*missed, after]) {
                for (sum, column) in pull.iter_mut().zip(self.slopes) {
                    *sum += dot(&column[rows.clone()], b);
                }
                for (of_added, shares) in &self.added {
                    let by = dot(&of_added[rows.clone()], b);
                    pull.iter_mut().zip(shares).for_each(|(sum, share)| *sum += by * share);
                }
            }
        }
        (missed, pulls)
    }

    /// `Qᵀ·b` from `Jᵀ·b`.
    fn turned(&self, mut y: Vec<f64>) -> Vec<f64> {
        for (k, column) in self.r.iter().enumerate() {
            let above: f64 = column[..k].iter().zip(&y).map(|(r, y)| r * y).sum();
            y[k] = if column[k] == 0.0 { 0.0 } else { (y[k] - above) / column[k] };
        }
        y
    }
}

/// `J·p`. Some rows at a time, so that the sums stay next to a core.
pub(crate) fn product(slopes: &Columns, step: &[f64]) -> Vec<f64> {
    let mut moved = vec![0.0; slopes.first().map_or(0, Vec::len)];
    for (block, sums) in moved.chunks_mut(N_ROWS).enumerate() {
        let from = block * N_ROWS;
        for (column, p) in slopes.iter().zip(step) {
            sums.iter_mut().zip(&column[from..]).for_each(|(sum, j)| *sum += j * p);
        }
    }
    moved
}

/// The linear problem of one round, reduced to a triangle.
pub(super) struct System {
    /// Of the free parameters: which they are.
    free: Vec<usize>,
    r: Columns,
    right: Vec<f64>,
    scale: Vec<f64>,
    /// Their scale with a λ of one or more, at least.
    seen: Vec<f64>,
    n: usize,
}

impl System {
    pub fn new(reduced: &Reduced<'_>, is_free: &[bool], scale: &[f64], seen: &[f64]) -> System {
        let free: Vec<usize> = (0..is_free.len()).filter(|i| is_free[*i]).collect();
        let columns: Vec<&[f64]> = free.iter().map(|i| reduced.r[*i].as_slice()).collect();
        let (r, mut right) = triangle(&columns, &reduced.right);
        right.iter_mut().for_each(|q| *q = -*q);
        let of_free = |all: &[f64]| free.iter().map(|i| all[*i]).collect();
        let (scale, seen) = (of_free(scale), of_free(seen));
        System { free, r, right, scale, seen, n: is_free.len() }
    }

    /// `|J·p|²` of a step of the free parameters, by the triangle: `|R·p|²`.
    pub fn length_squared(&self, step: &[f64]) -> f64 {
        let p: Vec<f64> = self.free.iter().map(|i| step[*i]).collect();
        let moved = product(&self.r, &p);
        dot(&moved, &moved)
    }

    /// The step for a λ. Parameters that meet a bound stop there and the others are solved for
    /// again, at most once for each.
    pub fn step(&self, lambda: f64, x: &[f64], bounds: &Bounds) -> Vec<f64> {
        let mut fixed: Vec<Option<f64>> = vec![None; self.free.len()];
        loop {
            let p = self.solve(lambda, &fixed);
            let mut is_changed = false;
            for (k, i) in self.free.iter().enumerate() {
                let room = (bounds.lower[*i] - x[*i], bounds.upper[*i] - x[*i]);
                if fixed[k].is_none() && !(room.0..=room.1).contains(&p[k]) {
                    fixed[k] = Some(p[k].max(room.0).min(room.1));
                    is_changed = true;
                }
            }
            if !is_changed {
                let mut step = vec![0.0; self.n];
                self.free.iter().zip(p).for_each(|(i, p)| step[*i] = p);
                return step;
            }
        }
    }

    /// `min |R·p - q|² + λ·|D·p|²` over what is not fixed, with no `D` below `√λ` of what is seen.
    fn solve(&self, lambda: f64, fixed: &[Option<f64>]) -> Vec<f64> {
        let open: Vec<usize> = (0..fixed.len()).filter(|k| fixed[*k].is_none()).collect();
        let mut right = self.right.clone();
        for (column, value) in self.r.iter().zip(fixed) {
            if let Some(value) = value {
                right.iter_mut().zip(column).for_each(|(q, r)| *q -= r * value);
            }
        }
        right.resize(right.len() + open.len(), 0.0);
        let held = sqrt(lambda);
        let scale = |k: usize| self.scale[k].max(held.min(1.0) * self.seen[k]);
        let columns: Columns = open
            .iter()
            .enumerate()
            .map(|(row, k)| {
                let mut column = self.r[*k].clone();
                column
                    .extend((0..open.len()).map(|i| if i == row { held * scale(*k) } else { 0.0 }));
                column
            })
            .collect();
        let (r, right) = triangle(&slices(&columns), &right);
        let found = back_substitute(&r, &right);
        let mut p: Vec<f64> = fixed.iter().map(|value| value.unwrap_or(0.0)).collect();
        open.iter().zip(found).for_each(|(k, value)| p[*k] = value);
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::Seed;
    use headland_sense::noise::Dice;

    /// Some blocks of rows and a part of one.
    const N: usize = 5 * N_ROWS / 2;

    fn drawn(dice: &mut Dice, n: usize) -> Vec<f64> {
        (0..n).map(|_| dice.normal()).collect()
    }

    /// The other road: slopes written out, with every correction added to them.
    fn corrected(slopes: &mut Columns, scale: &[f64], moved: &[f64], change: &[f64]) {
        let told = product(slopes, moved);
        let size: f64 = moved.iter().zip(scale).map(|(p, d)| p * p * d * d).sum();
        for (i, column) in slopes.iter_mut().enumerate() {
            let share = moved[i] * scale[i] * scale[i] / size;
            for (row, entry) in column.iter_mut().enumerate() {
                *entry += (change[row] - told[row]) * share;
            }
        }
    }

    fn close(a: f64, b: f64, what: &str) {
        assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{what}: {a} and {b}");
    }

    /// What is read off the triangle is what the slopes themselves say: RᵀR = JᵀJ, the gradient
    /// Jᵀr and the lengths of the columns, before and after every correction.
    #[test]
    fn the_triangle_says_what_the_slopes_say() {
        let mut dice = Dice::new(&Seed::new(11).child("reduced"));
        let fresh: Columns = (0..5).map(|_| drawn(&mut dice, N)).collect();
        let scale: Vec<f64> = fresh.iter().map(|column| norm(column)).collect();
        let (mut residuals, mut whole) = (drawn(&mut dice, N), fresh.clone());
        let mut reduced = Reduced::of(&fresh, &residuals);
        for round in 0..5 {
            let (gradient, lengths) = (reduced.gradient().to_vec(), reduced.lengths());
            for i in 0..fresh.len() {
                close(gradient[i], dot(&whole[i], &residuals), "gradient");
                close(lengths[i], norm(&whole[i]), "length");
                for j in 0..fresh.len() {
                    let what = format!("round {round}, entry {i} {j}");
                    close(dot(&reduced.r[i], &reduced.r[j]), dot(&whole[i], &whole[j]), &what);
                }
            }
            let (moved, before) = (drawn(&mut dice, fresh.len()), residuals.clone());
            // Mostly as the slopes say, and a little not.
            let told = product(&whole, &moved);
            let change: Vec<f64> = told.iter().map(|told| told + 0.1 * dice.normal()).collect();
            residuals = before.iter().zip(&change).map(|(r, c)| r + c).collect();
            reduced.correct(&scale, &moved, &before, &residuals);
            corrected(&mut whole, &scale, &moved, &change);
            // With the correction they would have told what the residuals did.
            let (missed, _) = reduced.missed(&moved, &before, &residuals);
            missed.iter().for_each(|missed| close(*missed, 0.0, "on the way gone"));
        }
    }

    /// A step is the solution of `(JᵀJ + λ·D²)·p = -Jᵀr`, put in.
    #[test]
    fn a_step_solves_the_normal_equations() {
        let mut dice = Dice::new(&Seed::new(12).child("reduced"));
        let slopes: Columns = (0..4).map(|_| drawn(&mut dice, N)).collect();
        let residuals = drawn(&mut dice, N);
        let scale = [1.0, 2.0, 0.5, 3.0];
        let reduced = Reduced::of(&slopes, &residuals);
        let system = System::new(&reduced, &[true; 4], &scale, &[0.0; 4]);
        for lambda in [0.0, 1e-3, 1.0, 50.0] {
            let step = system.step(lambda, &[0.0; 4], &Bounds::none(4));
            let told = product(&slopes, &step);
            close(system.length_squared(&step), dot(&told, &told), "length");
            for i in 0..4 {
                let left = dot(&slopes[i], &told) + lambda * scale[i] * scale[i] * step[i];
                close(left, -dot(&slopes[i], &residuals), "row");
            }
        }
    }

    /// A parameter that no residual sees: nothing of it is told, the others are as without it, and
    /// corrections leave it so.
    #[test]
    fn a_column_of_zeros_stays_apart() {
        let mut dice = Dice::new(&Seed::new(13).child("reduced"));
        let seen: Columns = (0..2).map(|_| drawn(&mut dice, N)).collect();
        let all = vec![seen[0].clone(), vec![0.0; N], seen[1].clone()];
        let (before, after) = (drawn(&mut dice, N), drawn(&mut dice, N));
        let (mut with, mut without) = (Reduced::of(&all, &before), Reduced::of(&seen, &before));
        for _ in 0..2 {
            assert_eq!((with.gradient()[1], with.lengths()[1]), (0.0, 0.0));
            for (i, j) in [(0, 0), (2, 1)] {
                close(with.gradient()[i], without.gradient()[j], "gradient");
                close(with.lengths()[i], without.lengths()[j], "length");
            }
            let free = [true, false, true];
            let step = System::new(&with, &free, &[1.0, 0.0, 1.0], &[0.0; 3]).step(
                1e-3,
                &[0.0; 3],
                &Bounds::none(3),
            );
            let other = System::new(&without, &[true; 2], &[1.0; 2], &[0.0; 2]).step(
                1e-3,
                &[0.0; 2],
                &Bounds::none(2),
            );
            assert_eq!(step[1], 0.0);
            close(step[0], other[0], "step");
            close(step[2], other[1], "step");
            with.correct(&[1.0, 0.0, 1.0], &[0.3, 0.7, -0.2], &before, &after);
            without.correct(&[1.0, 1.0], &[0.3, -0.2], &before, &after);
        }
    }
}
