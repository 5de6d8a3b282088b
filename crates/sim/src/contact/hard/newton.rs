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

use super::cone::Cone;
use super::{Distance, Problem, distance, three};

/// Memory of the method.
#[derive(Debug, Default)]
pub(super) struct Newton {
    /// The matrix, row-major, and then its factors.
    matrix: Vec<f64>,
    step: Vec<f64>,
    start: Vec<f64>,
    tried: Vec<f64>,
    velocities: Vec<f64>,
}

/// Added to the diagonal of rows of about unit size.
const WHISPER: f64 = 1e-11;

/// Takes up to `n_steps` steps; how many were taken, and the residual \[m/s\] they ended at.
/// Velocities follow the impulses.
///
/// Whole steps first: each is a guess at which contacts are open, stick and slide, and guesses
/// may get worse before one is right. If none of them is, the steps are taken back, and then
/// only as far as each brings the problem nearer to its law.
pub(super) fn descend(
    problem: &Problem<'_>,
    impulses: &mut [f64],
    cones: &[Cone],
    velocities: &mut Vec<f64>,
    tolerance: f64,
    n_steps: usize,
    newton: &mut Newton,
) -> (usize, f64) {
    problem.velocities(impulses, velocities);
    newton.start.clear();
    newton.start.extend_from_slice(impulses);
    let mut here = distance(problem, impulses, cones, velocities);
    let mut n_taken = 0;
    for careful in [false, true] {
        for _ in 0..n_steps {
            if here.most <= 0.1 * tolerance {
                return (n_taken, here.most);
            }
            newton.assemble(problem, impulses, cones, velocities);
            if !solve_in_place(&mut newton.matrix, &mut newton.step) {
                break;
            }
            let Some(next) = newton.advance(problem, impulses, cones, careful, here) else { break };
            impulses.copy_from_slice(&newton.tried);
            velocities.copy_from_slice(&newton.velocities);
            here = next;
            n_taken += 1;
        }
        if here.most <= tolerance {
            return (n_taken, here.most);
        }
        if !careful {
            impulses.copy_from_slice(&newton.start);
            problem.velocities(impulses, velocities);
            here = distance(problem, impulses, cones, velocities);
        }
    }
    (n_taken, here.most)
}

impl Newton {
    /// Tries the step, or shorter and shorter parts of it; where that leads. `None` when a
    /// careful one leads nowhere better.
    fn advance(
        &mut self,
        problem: &Problem<'_>,
        impulses: &[f64],
        cones: &[Cone],
        careful: bool,
        here: Distance,
    ) -> Option<Distance> {
        let mut part = 1.0;
        while part > 0.02 {
            self.tried.clear();
            self.tried.extend(impulses.iter().zip(&self.step).map(|(x, d)| x + part * d));
            problem.velocities(&self.tried, &mut self.velocities);
            let there = distance(problem, &self.tried, cones, &self.velocities);
            if !careful || there.squares < (1.0 - 0.1 * part) * here.squares {
                return Some(there);
            }
            part *= 0.5;
        }
        None
    }

    /// The matrix of the equations and their lack, for the state each contact is in.
    fn assemble(
        &mut self,
        problem: &Problem<'_>,
        impulses: &[f64],
        cones: &[Cone],
        velocities: &[f64],
    ) {
        let n = problem.n();
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        self.step.clear();
        self.step.resize(n, 0.0);
        for (i, (contact, cone)) in problem.contacts.iter().zip(cones).enumerate() {
            self.contact_rows(problem, i, contact.target, cone, impulses, velocities);
        }
        for (i, row) in problem.rows.iter().enumerate() {
            let at = 3 * problem.contacts.len() + i;
            let w = problem.delassus[at * n + at];
            let wanted = impulses[at] - (velocities[at] - row.target) / w;
            if w > 0.0 && wanted > row.low && wanted < row.high {
                self.velocity_row(problem, at, 1.0 / w, velocities[at] - row.target);
            } else {
                let bound = if w > 0.0 { row.within(wanted) } else { 0.0 };
                self.impulse_row(n, at, bound - impulses[at]);
            }
        }
    }

    fn contact_rows(
        &mut self,
        problem: &Problem<'_>,
        i: usize,
        target: f64,
        cone: &Cone,
        impulses: &[f64],
        velocities: &[f64],
    ) {
        let (n, at) = (problem.n(), 3 * i);
        let (impulse, velocity) = (three(impulses, i), three(velocities, i));
        let w = problem.delassus[at * n + at];
        let gap_speed = velocity.x - target;
        let r = 1.0 / w;
        if !(w > 0.0 && impulse.x - gap_speed * r > 0.0) {
            (0..3).for_each(|k| self.impulse_row(n, at + k, -impulse[k]));
            return;
        }
        self.velocity_row(problem, at, 1.0 / w, gap_speed);
        if !cone.rubs() {
            self.impulse_row(n, at + 1, -impulse.y);
            self.impulse_row(n, at + 2, -impulse.z);
            return;
        }
        let mu = cone.mu();
        let pressure = impulse.x.max(0.0);
        let held = [impulse.y / mu[0], impulse.z / mu[1]];
        let z = [held[0] - r * velocity.y * mu[0], held[1] - r * velocity.z * mu[1]];
        let length = sqrt(z[0] * z[0] + z[1] * z[1]);
        if length <= pressure {
            self.velocity_row(problem, at + 1, 1.0 / w, velocity.y);
            self.velocity_row(problem, at + 2, 1.0 / w, velocity.z);
            return;
        }
        // F = λ_t − λ_n·ẑ;  dF = dλ_t − ẑ·dλ_n − (λ_n/|z|)·(1 − ẑ·ẑᵀ)·(dλ_t − r·W_t·dλ)
        let unit = [z[0] / length, z[1] / length];
        let shrink = pressure / length;
        for k in 0..2 {
            let to = (at + 1 + k) * n;
            self.step[at + 1 + k] = -(held[k] - pressure * unit[k]);
            self.matrix[to + at] -= unit[k];
            self.matrix[to + at + 1 + k] += 1.0 / mu[k] + WHISPER;
            for m in 0..2 {
                let one = if k == m { 1.0 } else { 0.0 };
                let across = shrink * (one - unit[k] * unit[m]);
                self.matrix[to + at + 1 + m] -= across / mu[m];
                let row = &problem.delassus[(at + 1 + m) * n..(at + 2 + m) * n];
                let weight = across * r * mu[m];
                let into = &mut self.matrix[to..to + n];
                into.iter_mut().zip(row).for_each(|(entry, w)| *entry += weight * w);
            }
        }
    }

    /// The velocity of a row shall vanish; `scale` brings the row to about unit size.
    fn velocity_row(&mut self, problem: &Problem<'_>, at: usize, scale: f64, off: f64) {
        let n = problem.n();
        let row = &problem.delassus[at * n..(at + 1) * n];
        let into = &mut self.matrix[at * n..(at + 1) * n];
        into.iter_mut().zip(row).for_each(|(entry, w)| *entry = scale * w);
        self.matrix[at * n + at] += WHISPER;
        self.step[at] = -scale * off;
    }

    /// The impulse of a row shall change by so much.
    fn impulse_row(&mut self, n: usize, at: usize, change: f64) {
        self.matrix[at * n + at] = 1.0;
        self.step[at] = change;
    }
}

/// Gauss elimination with the largest pivot of each column; `false` where there is none.
fn solve_in_place(matrix: &mut [f64], right: &mut [f64]) -> bool {
    let n = right.len();
    for k in 0..n {
        let mut pivot = (0.0_f64, k);
        for i in k..n {
            let size = matrix[i * n + k].abs();
            if size > pivot.0 {
                pivot = (size, i);
            }
        }
        if !(pivot.0 > 0.0 && pivot.0.is_finite()) {
            return false;
        }
        if pivot.1 != k {
            let (upper, lower) = matrix.split_at_mut(pivot.1 * n);
            upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
            right.swap(k, pivot.1);
        }
        let (upper, lower) = matrix.split_at_mut((k + 1) * n);
        let pivot_row = &upper[k * n..];
        let inverse = 1.0 / pivot_row[k];
        for (i, row) in lower.chunks_exact_mut(n).enumerate() {
            let factor = row[k] * inverse;
            if factor != 0.0 {
                for (entry, above) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                    *entry -= factor * above;
                }
                right[k + 1 + i] -= factor * right[k];
            }
        }
    }
    for k in (0..n).rev() {
        let row = &matrix[k * n..(k + 1) * n];
        let known: f64 = row[k + 1..].iter().zip(&right[k + 1..]).map(|(a, x)| a * x).sum();
        right[k] = (right[k] - known) / row[k];
    }
    right.iter().all(|x| x.is_finite())
}
