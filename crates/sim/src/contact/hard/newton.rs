//! Newton's method on a whole problem: few steps, each as dear as a dense factorisation.
//!
//! Written as equations (Alart and Curnier 1991), with tangents in units of μ, `r = 1/w`
//! and w the contact's own answer along its normal:
//!
//! ```text
//! open     λ_n − r·u_n ≤ 0:      λ = 0
//! sticks   |λ_t − r·u_t| ≤ λ_n:  u = 0
//! slides   otherwise:            u_n = 0,  λ_t = λ_n·z/|z|  with  z = λ_t − r·u_t
//! ```
//!
//! Four corners of one foot leave the impulses undetermined; a whisper of the identity picks
//! the change that is smallest. A step is taken only as far as it brings the problem nearer to
//! its law.

use headland_base::maths::sqrt;

use super::cone::Law;
use super::{Distance, Stair, Task, distance, three};
use crate::tree::{Kernel, widely};

/// Memory of the method.
#[derive(Debug, Default)]
pub(super) struct Newton {
    /// The problem's own, padded.
    delassus: Square,
    matrix: Square,
    step: Vec<f64>,
    start: Vec<f64>,
    tried: Vec<f64>,
    velocities: Vec<f64>,
}

/// Added to the diagonal of rows of about unit size.
const WHISPER: f64 = 1e-11;

/// Whole steps from a guess at what contacts do. In a robot that stands the first is right
/// nineteen times of twenty, and the next two nearly always.
const N_GUESSES: usize = 3;

/// Takes whole steps from where the impulses are; how many, and the residual \[m/s\] they ended
/// at. Where that is not good enough the impulses are left as they came.
pub(super) fn guess(
    problem: &Task<'_>,
    impulses: &mut [f64],
    velocities: &mut Vec<f64>,
    tolerance: f64,
    newton: &mut Newton,
) -> (usize, f64) {
    let mut out = (0, f64::INFINITY);
    widely(Walk {
        problem,
        impulses: &mut *impulses,
        velocities,
        newton,
        tolerance,
        n_steps: N_GUESSES,
        goes_on: false,
        out: &mut out,
    });
    if out.1 > tolerance {
        impulses.copy_from_slice(&newton.start);
    }
    out
}

/// Takes up to `n_steps` steps; how many were taken, and the residual \[m/s\] they ended at.
/// Velocities follow the impulses.
///
/// Whole steps first: each is a guess at which contacts are open, stick and slide, and guesses
/// may get worse before one is right. If none of them is, the steps are taken back, and then
/// only as far as each brings the problem nearer to its law.
pub(super) fn descend(
    problem: &Task<'_>,
    impulses: &mut [f64],
    velocities: &mut Vec<f64>,
    tolerance: f64,
    n_steps: usize,
    newton: &mut Newton,
) -> (usize, f64) {
    let mut out = (0, f64::INFINITY);
    let goes_on = true;
    let out_ref = &mut out;
    widely(Walk {
        problem,
        impulses,
        velocities,
        newton,
        tolerance,
        n_steps,
        goes_on,
        out: out_ref,
    });
    out
}

/// The steps, in instructions as wide as there are: each row of the matrix is as long as all
/// impulses, and what is done to it is done number by number, to the same bits in any width.
struct Walk<'a> {
    problem: &'a Task<'a>,
    impulses: &'a mut [f64],
    velocities: &'a mut Vec<f64>,
    newton: &'a mut Newton,
    tolerance: f64,
    n_steps: usize,
    /// Whether careful steps follow where whole ones lead nowhere.
    goes_on: bool,
    out: &'a mut (usize, f64),
}

impl Kernel for Walk<'_> {
    #[inline(always)]
    fn run(self) {
        // A width that is known when this is compiled saves most of what small problems take.
        match self.problem.n().div_ceil(CHUNK) {
            1 => self.go(1),
            2 => self.go(2),
            3 => self.go(3),
            4 => self.go(4),
            5 => self.go(5),
            width => self.go(width),
        }
    }
}

impl Walk<'_> {
    /// With rows of so many chunks.
    #[inline(always)]
    fn go(self, width: usize) {
        let Walk { problem, impulses, velocities, newton, tolerance, n_steps, goes_on, out } = self;
        newton.delassus.copy(problem.delassus, problem.n(), width);
        newton.start.clear();
        newton.start.extend_from_slice(impulses);
        newton.delassus.velocities(problem.free, impulses, velocities, width);
        let mut here = distance(problem, impulses, velocities);
        let mut n_taken = 0;
        // No sweeps come after a guess, so it ends where rounding does: what lies still is weighed
        // by sensors that see a thousandth of the tolerance, divided by a short step.
        let enough = tolerance * if goes_on { 0.1 } else { 1e-6 };
        for careful in [false, true] {
            for _ in 0..n_steps {
                if here.most <= enough {
                    break;
                }
                newton.assemble(problem, impulses, velocities, width);
                // A guess is checked in any case, and then goes the quick way.
                if !newton.matrix.solve(&mut newton.step, goes_on, width) {
                    break;
                }
                let next = newton.advance(problem, impulses, careful, here, width);
                let Some(next) = next else { break };
                impulses.copy_from_slice(&newton.tried);
                velocities.copy_from_slice(&newton.velocities);
                here = next;
                n_taken += 1;
            }
            if here.most <= tolerance || careful || !goes_on {
                break;
            }
            impulses.copy_from_slice(&newton.start);
            newton.delassus.velocities(problem.free, impulses, velocities, width);
            here = distance(problem, impulses, velocities);
        }
        *out = (n_taken, here.most);
    }
}

impl Newton {
    /// Tries the step, or shorter and shorter parts of it; where that leads. `None` when a
    /// careful one leads nowhere better.
    #[inline(always)]
    fn advance(
        &mut self,
        problem: &Task<'_>,
        impulses: &[f64],
        careful: bool,
        here: Distance,
        width: usize,
    ) -> Option<Distance> {
        let mut part = 1.0;
        while part > 0.02 {
            self.tried.clear();
            self.tried.extend(impulses.iter().zip(&self.step).map(|(x, d)| x + part * d));
            let Newton { delassus, tried, velocities, .. } = &mut *self;
            delassus.velocities(problem.free, tried, velocities, width);
            let there = distance(problem, &self.tried, &self.velocities);
            if !careful || there.squares < (1.0 - 0.1 * part) * here.squares {
                return Some(there);
            }
            part *= 0.5;
        }
        None
    }

    /// The matrix of the equations and their lack, for the state each contact is in.
    #[inline(always)]
    fn assemble(&mut self, problem: &Task<'_>, impulses: &[f64], velocities: &[f64], width: usize) {
        let n = problem.n();
        self.matrix.clear(n, width);
        self.step.clear();
        self.step.resize(n, 0.0);
        for (i, contact) in problem.contacts.iter().enumerate() {
            self.contact_rows(problem, i, contact.target, impulses, velocities, width);
        }
        for (i, row) in problem.rows.iter().enumerate() {
            let at = 3 * problem.contacts.len() + i;
            let w = problem.delassus[at * n + at];
            let wanted = impulses[at] - (velocities[at] - row.target) / w;
            if w > 0.0 && wanted > row.low && wanted < row.high {
                self.velocity_row(at, 1.0 / w, velocities[at] - row.target, width);
            } else {
                let bound = if w > 0.0 { row.within(wanted) } else { 0.0 };
                self.impulse_row(at, bound - impulses[at], width);
            }
        }
    }

    #[inline(always)]
    fn contact_rows(
        &mut self,
        problem: &Task<'_>,
        i: usize,
        target: f64,
        impulses: &[f64],
        velocities: &[f64],
        width: usize,
    ) {
        let at = 3 * i;
        let (impulse, velocity) = (three(impulses, i), three(velocities, i));
        let Law { w, mu, rubs } = problem.law(i);
        let gap_speed = velocity.x - target;
        let r = 1.0 / w;
        if !(w > 0.0 && impulse.x - gap_speed * r > 0.0) {
            (0..3).for_each(|k| self.impulse_row(at + k, -impulse[k], width));
            return;
        }
        let strength = problem.strength(i);
        let mut pressure = impulse.x.max(0.0);
        match strength.stair(impulse.x - gap_speed * r, w) {
            Stair::Holds => self.velocity_row(at, r, gap_speed, width),
            Stair::Gives => {
                pressure = strength.most;
                self.impulse_row(at, pressure - impulse.x, width);
            }
            Stair::Undone => self.velocity_row(at, r, gap_speed + strength.give, width),
        }
        if !rubs {
            self.impulse_row(at + 1, -impulse.y, width);
            self.impulse_row(at + 2, -impulse.z, width);
            return;
        }
        let held = [impulse.y / mu[0], impulse.z / mu[1]];
        let z = [held[0] - r * velocity.y * mu[0], held[1] - r * velocity.z * mu[1]];
        let length = sqrt(z[0] * z[0] + z[1] * z[1]);
        if length <= pressure {
            self.velocity_row(at + 1, r, velocity.y, width);
            self.velocity_row(at + 2, r, velocity.z, width);
            return;
        }
        // F = λ_t − λ_n·ẑ;  dF = dλ_t − ẑ·dλ_n − (λ_n/|z|)·(1 − ẑ·ẑᵀ)·(dλ_t − r·W_t·dλ)
        let unit = [z[0] / length, z[1] / length];
        let shrink = pressure / length;
        for k in 0..2 {
            self.step[at + 1 + k] = -(held[k] - impulse.x.max(0.0) * unit[k]);
            let into = self.matrix.row_mut(at + 1 + k, width);
            for m in 0..2 {
                let one = if k == m { 1.0 } else { 0.0 };
                let across = shrink * (one - unit[k] * unit[m]);
                add_row(into, across * r * mu[m], self.delassus.row(at + 1 + m, width), width);
                into.as_flattened_mut()[at + 1 + m] -= across / mu[m];
            }
            let into = into.as_flattened_mut();
            into[at] -= unit[k];
            into[at + 1 + k] += 1.0 / mu[k] + WHISPER;
        }
    }

    /// The velocity of a row shall vanish; `scale` brings the row to about unit size.
    #[inline(always)]
    fn velocity_row(&mut self, at: usize, scale: f64, off: f64, width: usize) {
        let into = self.matrix.row_mut(at, width);
        add_row(into, scale, self.delassus.row(at, width), width);
        into.as_flattened_mut()[at] += WHISPER;
        self.step[at] = -scale * off;
    }

    /// The impulse of a row shall change by so much.
    #[inline(always)]
    fn impulse_row(&mut self, at: usize, change: f64, width: usize) {
        self.matrix.row_mut(at, width).as_flattened_mut()[at] = 1.0;
        self.step[at] = change;
    }
}

/// A square matrix whose rows are filled up with zeros to whole chunks: loops without a rest.
#[derive(Debug, Default)]
struct Square {
    n: usize,
    rows: Vec<Chunk>,
    /// Per row: from the first to the last chunk that is not all zeros. Who stands next to whom
    /// in a stack or a crowd stands next to it in the matrix, so most of a long row is nothing.
    spans: Vec<(u32, u32)>,
}

/// Rows of so few chunks are worked on whole.
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
    #[inline(always)]
    fn clear(&mut self, n: usize, width: usize) {
        self.n = n;
        self.rows.clear();
        self.rows.resize(n * width, [0.0; CHUNK]);
    }

    /// From numbers row by row.
    #[inline(always)]
    fn copy(&mut self, from: &[f64], n: usize, width: usize) {
        self.clear(n, width);
        for (row, from) in self.rows.chunks_exact_mut(width).zip(from.chunks_exact(n)) {
            row.as_flattened_mut()[..n].copy_from_slice(from);
        }
        self.find_spans(width);
    }

    #[inline(always)]
    fn row(&self, i: usize, width: usize) -> &[Chunk] {
        &self.rows[i * width..(i + 1) * width]
    }

    #[inline(always)]
    fn row_mut(&mut self, i: usize, width: usize) -> &mut [Chunk] {
        &mut self.rows[i * width..(i + 1) * width]
    }

    /// `W·λ + b` of this symmetric W.
    #[inline(always)]
    fn velocities(&self, free: &[f64], impulses: &[f64], out: &mut Vec<f64>, width: usize) {
        out.clear();
        out.extend_from_slice(free);
        if width > N_WHOLE {
            return self.add_velocities(impulses, out, width);
        }
        for c in 0..width {
            let first = c * CHUNK;
            let n_here = (self.n - first).min(CHUNK);
            let mut sums = [0.0; CHUNK];
            for (row, impulse) in self.rows.chunks_exact(width).zip(impulses) {
                for l in 0..CHUNK {
                    sums[l] += row[c][l] * impulse;
                }
            }
            out[first..first + n_here].iter_mut().zip(sums).for_each(|(v, sum)| *v += sum);
        }
    }

    /// Adds `W·λ`, row by row.
    #[inline(always)]
    fn add_velocities(&self, impulses: &[f64], out: &mut [f64], width: usize) {
        for (i, impulse) in impulses.iter().enumerate().filter(|(_, impulse)| **impulse != 0.0) {
            let (first, end) = (self.spans[i].0 as usize * CHUNK, self.spans[i].1 as usize * CHUNK);
            let end = end.min(self.n);
            let row = &self.row(i, width).as_flattened()[first.min(end)..end];
            let into = out[first.min(end)..end].iter_mut();
            into.zip(row).for_each(|(velocity, w)| *velocity += w * impulse);
        }
    }

    /// Gauss elimination; `false` where it fails. The solution takes the place of the right-hand
    /// side. With the largest pivot of each column first, or, half as dear, as the rows stand:
    /// where contacts are open or stick, that is as exact, for rows that answer each other
    /// equally need no exchange.
    #[inline(always)]
    fn solve(&mut self, right: &mut [f64], exchanges: bool, width: usize) -> bool {
        let n = self.n;
        self.find_spans(width);
        for k in 0..n {
            let (chunk, slot) = (k / CHUNK, k % CHUNK);
            if exchanges && !self.bring_pivot(k, right, width) {
                return false;
            }
            let (upper, lower) = self.rows.split_at_mut((k + 1) * width);
            let pivot_row = &upper[k * width..];
            let inverse = 1.0 / pivot_row[chunk][slot];
            if !inverse.is_finite() {
                return false;
            }
            let above_right = right[k];
            // What is left of the pivot is done; of few chunks all are quicker than some.
            let is_whole = width <= N_WHOLE;
            let end = self.spans[k].1;
            let (from, to) = if is_whole { (0, width) } else { (chunk, end as usize) };
            let below = lower.chunks_exact_mut(width).zip(&mut right[k + 1..]);
            for ((row, right), span) in below.zip(&mut self.spans[k + 1..]) {
                if span.0 > chunk as u32 {
                    continue;
                }
                let factor = -(row[chunk][slot] * inverse);
                // Rows that have nothing to do with each other are many in a stack.
                if factor != 0.0 {
                    add_row(&mut row[from..to], factor, &pivot_row[from..to], to - from);
                    *right += factor * above_right;
                    span.1 = span.1.max(end);
                }
            }
        }
        if width > N_WHOLE {
            self.solve_upwards(right, width);
            return right.iter().all(|x| x.is_finite());
        }
        // From the last on: each solution is taken out of all the rows above it.
        for k in (0..n).rev() {
            let (chunk, slot) = (k / CHUNK, k % CHUNK);
            let solved = right[k] / self.rows[k * width + chunk][slot];
            right[k] = solved;
            for (row, right) in self.rows.chunks_exact(width).zip(&mut right[..k]) {
                *right -= row[chunk][slot] * solved;
            }
        }
        right.iter().all(|x| x.is_finite())
    }

    /// From the last row on, row by row.
    #[inline(always)]
    fn solve_upwards(&self, right: &mut [f64], width: usize) {
        for k in (0..self.n).rev() {
            let row = self.row(k, width).as_flattened();
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
        }
        pivot.0 > 0.0 && pivot.0.is_finite()
    }
}
