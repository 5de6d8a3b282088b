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
//!
//! Of contacts that are open and stops that nothing rests on the change is known, so only the
//! others are left as equations.

use headland_base::maths::sqrt;

use super::cone::Law;
use super::square::Square;
use super::{Distance, Stair, Task, distance, three};
use crate::tree::{Kernel, widely};

/// Memory of the method.
#[derive(Debug, Default)]
pub(super) struct Newton {
    /// What is left to be found.
    equations: Vec<Equation>,
    /// Of which rows, once more by themselves.
    rows: Vec<usize>,
    /// Other rows, whose change is known and not nothing.
    moved: Vec<usize>,
    matrix: Square,
    right: Vec<f64>,
    /// The change of every row.
    step: Vec<f64>,
    start: Vec<f64>,
    tried: Vec<f64>,
    velocities: Vec<f64>,
}

/// An equation for the change of one row: what stands on its right, and what makes its left.
#[derive(Clone, Copy, Debug)]
struct Equation {
    row: usize,
    right: f64,
    left: Left,
}

/// A sum of rows of W, times the changes of all impulses.
#[derive(Clone, Copy, Debug)]
enum Left {
    /// The velocity of its own row, times this.
    Speed(f64),
    /// Of a contact that slides, whose rows begin at `first`: shares of the velocities along its
    /// tangents, and what its own three impulses add.
    Slip { first: usize, shares: [f64; 2], own: [f64; 3] },
}

/// Added to the diagonal of rows of about unit size: how reluctant impulses are to change. It
/// leaves the answer as it is and makes the way there longer, by its size against what a
/// direction answers, a millionth for a ton on a gram. Four corners of a foot are twelve rows on
/// six directions; what they do against each other moves nothing, and at 1e-11 rounding alone
/// shifted it about, until contacts slid that should stick. Of a humanoid that stood, fell and
/// lay, 62 steps of 2,500 took more than twenty of Newton's then, 18 do now; 1e-7 did no better.
///
/// Tried instead: contacts that give in by 1e-7 of what they answer. Half as many steps of
/// Newton's where a robot stands, but a gram sank under a ton.
const WHISPER: f64 = 1e-9;

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
        let Walk { problem, impulses, velocities, newton, tolerance, n_steps, goes_on, out } = self;
        newton.start.clear();
        newton.start.extend_from_slice(impulses);
        find_velocities(problem, impulses, velocities);
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
                newton.list(problem, impulses, velocities);
                // A guess is checked in any case, and then goes the quick way.
                if !newton.find_step(problem, goes_on) {
                    break;
                }
                let next = newton.advance(problem, impulses, careful, here);
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
            find_velocities(problem, impulses, velocities);
            here = distance(problem, impulses, velocities);
        }
        *out = (n_taken, here.most);
    }
}

/// `W·λ + b`, by eights that stay in a register; the last eight reach back over the one before.
#[inline(always)]
fn find_velocities(problem: &Task<'_>, impulses: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(problem.free);
    let n = problem.n();
    if n < EIGHT {
        for (i, impulse) in impulses.iter().enumerate() {
            out.iter_mut().zip(problem.row(i)).for_each(|(velocity, w)| *velocity += w * impulse);
        }
        return;
    }
    for first in (0..n).step_by(EIGHT) {
        let first = first.min(n - EIGHT);
        let mut sums = [0.0; EIGHT];
        sums.copy_from_slice(&problem.free[first..first + EIGHT]);
        for (i, impulse) in impulses.iter().enumerate() {
            // Symmetric: the column is the row, which lies together.
            let row = &problem.delassus[i * n + first..i * n + first + EIGHT];
            for l in 0..EIGHT {
                sums[l] += row[l] * impulse;
            }
        }
        out[first..first + EIGHT].copy_from_slice(&sums);
    }
}

const EIGHT: usize = 8;

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
    ) -> Option<Distance> {
        let mut part = 1.0;
        while part > 0.02 {
            self.tried.clear();
            self.tried.extend(impulses.iter().zip(&self.step).map(|(x, d)| x + part * d));
            find_velocities(problem, &self.tried, &mut self.velocities);
            let there = distance(problem, &self.tried, &self.velocities);
            if !careful || there.squares < (1.0 - 0.1 * part) * here.squares {
                return Some(there);
            }
            part *= 0.5;
        }
        None
    }

    /// The equations, for the state each contact is in, and the changes that are known.
    #[inline(always)]
    fn list(&mut self, problem: &Task<'_>, impulses: &[f64], velocities: &[f64]) {
        let n = problem.n();
        self.equations.clear();
        self.moved.clear();
        self.step.clear();
        self.step.resize(n, 0.0);
        for (i, contact) in problem.contacts.iter().enumerate() {
            self.list_contact(problem, i, contact.target, impulses, velocities);
        }
        for (i, row) in problem.rows.iter().enumerate() {
            let at = 3 * problem.contacts.len() + i;
            let w = problem.delassus[at * n + at];
            let wanted = impulses[at] - (velocities[at] - row.target) / w;
            if w > 0.0 && wanted > row.low && wanted < row.high {
                self.hold(at, 1.0 / w, velocities[at] - row.target);
            } else {
                let bound = if w > 0.0 { row.within(wanted) } else { 0.0 };
                self.change(at, bound - impulses[at]);
            }
        }
    }

    #[inline(always)]
    fn list_contact(
        &mut self,
        problem: &Task<'_>,
        i: usize,
        target: f64,
        impulses: &[f64],
        velocities: &[f64],
    ) {
        let at = 3 * i;
        let (impulse, velocity) = (three(impulses, i), three(velocities, i));
        let Law { w, mu, rubs } = problem.law(i);
        let gap_speed = velocity.x - target;
        let r = 1.0 / w;
        if !(w > 0.0 && impulse.x - gap_speed * r > 0.0) {
            (0..3).for_each(|k| self.change(at + k, -impulse[k]));
            return;
        }
        let strength = problem.strength(i);
        let mut pressure = impulse.x.max(0.0);
        match strength.stair(impulse.x - gap_speed * r, w) {
            Stair::Holds => self.hold(at, r, gap_speed),
            Stair::Gives => {
                pressure = strength.most;
                self.change(at, pressure - impulse.x);
            }
            Stair::Undone => self.hold(at, r, gap_speed + strength.give),
        }
        if !rubs {
            self.change(at + 1, -impulse.y);
            self.change(at + 2, -impulse.z);
            return;
        }
        let held = [impulse.y / mu[0], impulse.z / mu[1]];
        let z = [held[0] - r * velocity.y * mu[0], held[1] - r * velocity.z * mu[1]];
        let length = sqrt(z[0] * z[0] + z[1] * z[1]);
        if length <= pressure {
            self.hold(at + 1, r, velocity.y);
            self.hold(at + 2, r, velocity.z);
            return;
        }
        // F = λ_t − λ_n·ẑ;  dF = dλ_t − ẑ·dλ_n − (λ_n/|z|)·(1 − ẑ·ẑᵀ)·(dλ_t − r·W_t·dλ)
        let unit = [z[0] / length, z[1] / length];
        let shrink = pressure / length;
        for k in 0..2 {
            let across = [0, 1].map(|m| {
                let one = if k == m { 1.0 } else { 0.0 };
                shrink * (one - unit[k] * unit[m])
            });
            let mut own = [-unit[k], -across[0] / mu[0], -across[1] / mu[1]];
            own[1 + k] += 1.0 / mu[k] + WHISPER;
            let shares = [across[0] * r * mu[0], across[1] * r * mu[1]];
            let right = -(held[k] - impulse.x.max(0.0) * unit[k]);
            let left = Left::Slip { first: at, shares, own };
            self.equations.push(Equation { row: at + 1 + k, right, left });
        }
    }

    /// The velocity of a row shall vanish; `scale` brings the equation to about unit size.
    #[inline(always)]
    fn hold(&mut self, row: usize, scale: f64, off: f64) {
        self.equations.push(Equation { row, right: -scale * off, left: Left::Speed(scale) });
    }

    /// The impulse of a row shall change by so much.
    #[inline(always)]
    fn change(&mut self, row: usize, change: f64) {
        self.step[row] = change;
        if change != 0.0 {
            self.moved.push(row);
        }
    }

    /// Solves the equations; `false` where that fails.
    #[inline(always)]
    fn find_step(&mut self, problem: &Task<'_>, exchanges: bool) -> bool {
        let Newton { equations, rows, moved, matrix, right, step, .. } = self;
        matrix.clear(equations.len());
        right.clear();
        rows.clear();
        rows.extend(equations.iter().map(|equation| equation.row));
        for (e, equation) in equations.iter().enumerate() {
            let into = matrix.row_mut(e);
            let mut lacking = equation.right;
            match equation.left {
                Left::Speed(scale) => {
                    let w = problem.row(equation.row);
                    let both = into.iter_mut().zip(&*rows);
                    both.for_each(|(entry, row)| *entry = scale * w[*row]);
                    into[e] += WHISPER;
                    moved.iter().for_each(|other| lacking -= scale * w[*other] * step[*other]);
                }
                Left::Slip { first, shares, own } => {
                    let w = [problem.row(first + 1), problem.row(first + 2)];
                    let entry = |row: usize| {
                        let own = own.get(row.wrapping_sub(first)).copied().unwrap_or(0.0);
                        shares[0] * w[0][row] + shares[1] * w[1][row] + own
                    };
                    into.iter_mut().zip(&*rows).for_each(|(into, row)| *into = entry(*row));
                    moved.iter().for_each(|other| lacking -= entry(*other) * step[*other]);
                }
            }
            right.push(lacking);
        }
        let is_solved = matrix.solve(right, exchanges);
        equations.iter().zip(&*right).for_each(|(equation, change)| step[equation.row] = *change);
        is_solved
    }
}
