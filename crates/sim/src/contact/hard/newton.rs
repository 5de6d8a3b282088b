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
//! the smallest. Guesses are whole steps; careful ones hold back what changes, the more the longer
//! that brings the problem no nearer to its law.
//!
//! Of contacts that are open and stops that nothing rests on what is sought is known, so only the
//! others are left as equations.

use headland_base::maths::sqrt;

use super::cone::Law;
use super::square::Square;
use super::{Distance, Stair, Task, distance, three};

/// Memory of the method.
#[derive(Debug, Default)]
pub(super) struct Newton {
    sought: Sought,
    /// What is left to be found.
    equations: Vec<Equation>,
    /// Of which rows, once more by themselves.
    rows: Vec<usize>,
    /// Of what kind each of them was when the matrix was made.
    kinds: Vec<std::mem::Discriminant<Left>>,
    /// The same as rows that stand together: the first of them, and how many.
    runs: Vec<(usize, usize)>,
    /// Other rows, of which what is sought is known and not nothing.
    known: Vec<usize>,
    matrix: Square,
    right: Vec<f64>,
    /// What is sought, of every row.
    found: Vec<f64>,
    /// Of whoever takes the steps: where it began.
    pub start: Vec<f64>,
    /// What is tried, and the velocities it leads to.
    pub tried: Vec<f64>,
    pub velocities: Vec<f64>,
}

/// What the equations are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sought {
    /// All of every impulse. Where corners work against each other without moving anything, the
    /// least of it.
    #[default]
    Whole,
    /// What is to be added to the impulses there are, and the least of that.
    Change,
}

/// An equation for one row: what stands on its right, and what makes its left.
#[derive(Clone, Copy, Debug)]
struct Equation {
    row: usize,
    right: f64,
    left: Left,
}

impl Equation {
    fn kind(&self) -> std::mem::Discriminant<Left> {
        std::mem::discriminant(&self.left)
    }
}

/// A sum of rows of W, times what is sought of all impulses.
#[derive(Clone, Copy, Debug)]
enum Left {
    /// The velocity of its own row, times this.
    Speed(f64),
    /// Of a contact that slides, whose rows begin at `first`: shares of the velocities along its
    /// tangents, and what its own three impulses add.
    Slip { first: usize, shares: [f64; 2], own: [f64; 3] },
}

/// Added to the diagonal of rows of about unit size: how reluctant impulses are. Four corners of a
/// foot are twelve rows on six directions; of what they do against each other, which moves nothing,
/// it picks the least. Where all of every impulse is sought that leaves the corners far from where
/// they slide, the same in every step; what it takes from the impulses that do move something is
/// put back with the same matrix. Where a change is sought it leaves the answer as it is and makes
/// the way there longer, by its size against what a direction answers, a millionth for a ton on a
/// gram. At 1e-11 rounding alone shifted about what moves nothing; 1e-7 did no better.
///
/// Tried instead: contacts that give in by 1e-7 of what they answer, but a gram sank under a ton.
pub(super) const WHISPER: f64 = 1e-9;

/// Rows that are this near to a sum of others, of about unit size, are one: a hundred whispers.
const LOOSE: f64 = 100.0 * WHISPER;

/// `W·λ + b`, by eights that stay in a register; the last eight reach back over the one before.
#[inline(always)]
pub(super) fn find_velocities(problem: &Task<'_>, impulses: &[f64], out: &mut Vec<f64>) {
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
    /// Whether impulses can be exchanged for others that move as much, by the last equations.
    pub fn is_loose(&self) -> bool {
        self.matrix.least_pivot() < LOOSE
    }

    /// Where what was found leads.
    #[inline(always)]
    pub fn try_found(&mut self, problem: &Task<'_>, impulses: &[f64]) -> Distance {
        self.tried.clear();
        match self.sought {
            Sought::Whole => self.tried.extend_from_slice(&self.found),
            Sought::Change => {
                let both = impulses.iter().zip(&self.found);
                self.tried.extend(both.map(|(impulse, change)| impulse + change));
            }
        }
        find_velocities(problem, &self.tried, &mut self.velocities);
        distance(problem, &self.tried, &self.velocities)
    }

    /// The equations, for the state each contact is in, and what is known.
    #[inline(always)]
    pub fn list(
        &mut self,
        problem: &Task<'_>,
        sought: Sought,
        impulses: &[f64],
        velocities: &[f64],
    ) {
        let n = problem.n();
        self.sought = sought;
        self.equations.clear();
        self.known.clear();
        self.found.clear();
        self.found.resize(n, 0.0);
        for (i, contact) in problem.contacts.iter().enumerate() {
            self.list_contact(problem, i, contact.target, impulses, velocities);
        }
        for (i, row) in problem.rows.iter().enumerate() {
            let at = 3 * problem.contacts.len() + i;
            let w = problem.delassus[at * n + at];
            let wanted = impulses[at] - (velocities[at] - row.target) / w;
            if w > 0.0 && wanted > row.low && wanted < row.high {
                self.hold(at, 1.0 / w, row.target, problem, velocities);
            } else {
                let bound = if w > 0.0 { row.within(wanted) } else { 0.0 };
                self.know(at, bound, impulses);
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
            (0..3).for_each(|k| self.know(at + k, 0.0, impulses));
            return;
        }
        let strength = problem.strength(i);
        let mut pressure = impulse.x.max(0.0);
        match strength.stair(impulse.x - gap_speed * r, w) {
            Stair::Holds => self.hold(at, r, target, problem, velocities),
            Stair::Gives => {
                pressure = strength.most;
                self.know(at, pressure, impulses);
            }
            Stair::Undone => self.hold(at, r, target - strength.give, problem, velocities),
        }
        if !rubs {
            self.know(at + 1, 0.0, impulses);
            self.know(at + 2, 0.0, impulses);
            return;
        }
        let held = [impulse.y / mu[0], impulse.z / mu[1]];
        let z = [held[0] - r * velocity.y * mu[0], held[1] - r * velocity.z * mu[1]];
        let length = sqrt(z[0] * z[0] + z[1] * z[1]);
        if length <= pressure {
            self.hold(at + 1, r, 0.0, problem, velocities);
            self.hold(at + 2, r, 0.0, problem, velocities);
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
            own[1 + k] += 1.0 / mu[k];
            let shares = [across[0] * r * mu[0], across[1] * r * mu[1]];
            let left = Left::Slip { first: at, shares, own };
            let mut right = -(held[k] - impulse.x.max(0.0) * unit[k]);
            if self.sought == Sought::Whole {
                right += left.of(at + 1 + k, impulses, velocities, problem.free);
            }
            self.equations.push(Equation { row: at + 1 + k, right, left });
        }
    }

    /// The velocity of a row shall be the target; `scale` brings the equation to about unit size.
    #[inline(always)]
    fn hold(
        &mut self,
        row: usize,
        scale: f64,
        target: f64,
        problem: &Task<'_>,
        velocities: &[f64],
    ) {
        let off = match self.sought {
            Sought::Whole => problem.free[row] - target,
            Sought::Change => velocities[row] - target,
        };
        self.equations.push(Equation { row, right: -scale * off, left: Left::Speed(scale) });
    }

    /// The impulse of a row is known.
    #[inline(always)]
    fn know(&mut self, row: usize, impulse: f64, impulses: &[f64]) {
        let sought = match self.sought {
            Sought::Whole => impulse,
            Sought::Change => impulse - impulses[row],
        };
        self.found[row] = sought;
        if sought != 0.0 {
            self.known.push(row);
        }
    }

    /// Solves the equations, where asked for or where contacts slide with exchanges of rows, and
    /// with impulses as reluctant as asked for; `false` where that fails. Rows that answer each
    /// other equally need no exchange, but where a gram carries a ton it is what keeps the digits.
    #[inline(always)]
    pub fn find(&mut self, problem: &Task<'_>, exchanges: bool, reluctance: f64) -> bool {
        let Newton { equations, rows, kinds, runs, known, matrix, right, found, .. } = self;
        matrix.clear(equations.len());
        right.clear();
        rows.clear();
        rows.extend(equations.iter().map(|equation| equation.row));
        kinds.clear();
        kinds.extend(equations.iter().map(Equation::kind));
        find_runs(rows, runs);
        for (e, equation) in equations.iter().enumerate() {
            let into = matrix.row_mut(e);
            let mut lacking = equation.right;
            match equation.left {
                Left::Speed(scale) => {
                    let w = problem.row(equation.row);
                    fill_runs(runs, into, |run| w[run].iter().map(|w| scale * w));
                    known.iter().for_each(|other| lacking -= scale * w[*other] * found[*other]);
                }
                Left::Slip { first, shares, own } => {
                    let w = [problem.row(first + 1), problem.row(first + 2)];
                    fill_runs(runs, into, |run| {
                        let both = w[0][run.clone()].iter().zip(&w[1][run]);
                        both.map(|(x, y)| shares[0] * x + shares[1] * y)
                    });
                    for (k, own) in own.iter().enumerate() {
                        if let Ok(at) = rows.binary_search(&(first + k)) {
                            into[at] += own;
                        }
                    }
                    for &other in &*known {
                        let own = own.get(other.wrapping_sub(first)).copied().unwrap_or(0.0);
                        let entry = shares[0] * w[0][other] + shares[1] * w[1][other] + own;
                        lacking -= entry * found[other];
                    }
                }
            }
            into[e] += reluctance;
            right.push(lacking);
        }
        let slides = |equation: &Equation| matches!(equation.left, Left::Slip { .. });
        let is_solved = matrix.solve(right, exchanges || equations.iter().any(slides));
        equations.iter().zip(&*right).for_each(|(equation, sought)| found[equation.row] = *sought);
        is_solved
    }

    /// Solves the equations by the matrix of the last ones, where the same contacts stick and slide:
    /// near the end of the way it hardly changes, and to make it anew costs ten times as much.
    /// `false` where they do not.
    #[inline(always)]
    pub fn find_by_last(&mut self) -> bool {
        let Newton { equations, rows, kinds, known, matrix, right, found, .. } = self;
        let same_rows = equations.iter().map(|equation| equation.row).eq(rows.iter().copied());
        let same_kinds = equations.iter().map(Equation::kind).eq(kinds.iter().copied());
        if !same_rows || !same_kinds || !known.is_empty() {
            return false;
        }
        right.clear();
        right.extend(equations.iter().map(|equation| equation.right));
        matrix.solve_again(right);
        equations.iter().zip(&*right).for_each(|(equation, sought)| found[equation.row] = *sought);
        true
    }

    /// Puts back what the whisper took: once more with the same matrix, which costs little. Kept
    /// where it is better. A change is so small that the whisper takes nothing of it.
    #[inline(always)]
    pub fn refine(&mut self, problem: &Task<'_>, impulses: &[f64], before: Distance) -> Distance {
        if self.sought == Sought::Change {
            return before;
        }
        let Newton { equations, matrix, right, found, tried, velocities, .. } = self;
        right.clear();
        right.extend(equations.iter().map(|equation| {
            let Equation { row, right, left } = *equation;
            right - left.of(row, tried, velocities, problem.free)
        }));
        matrix.solve_again(right);
        equations.iter().zip(&*right).for_each(|(equation, more)| found[equation.row] += more);
        let after = self.try_found(problem, impulses);
        if after.most < before.most {
            return after;
        }
        let Newton { equations, right, found, .. } = self;
        equations.iter().zip(&*right).for_each(|(equation, more)| found[equation.row] -= more);
        self.try_found(problem, impulses)
    }
}

/// Rows that stand together, of a list in order.
#[inline(always)]
fn find_runs(rows: &[usize], runs: &mut Vec<(usize, usize)>) {
    runs.clear();
    for &row in rows {
        match runs.last_mut() {
            Some((first, n)) if *first + *n == row => *n += 1,
            _ => runs.push((row, 1)),
        }
    }
}

/// Entries of the rows that are sought, run by run: one by one, looking each up took as long as the
/// elimination.
#[inline(always)]
fn fill_runs<I: Iterator<Item = f64>>(
    runs: &[(usize, usize)],
    into: &mut [f64],
    entries: impl Fn(std::ops::Range<usize>) -> I,
) {
    let mut at = 0;
    for &(first, n) in runs {
        let run = into[at..at + n].iter_mut().zip(entries(first..first + n));
        run.for_each(|(into, entry)| *into = entry);
        at += n;
    }
}

impl Left {
    /// Its value for impulses and the velocities they lead to.
    #[inline(always)]
    fn of(self, row: usize, impulses: &[f64], velocities: &[f64], free: &[f64]) -> f64 {
        let speed = |row: usize| velocities[row] - free[row];
        match self {
            Left::Speed(scale) => scale * speed(row),
            Left::Slip { first, shares, own } => {
                let own = own.iter().zip(&impulses[first..]).map(|(own, impulse)| own * impulse);
                own.sum::<f64>() + shares[0] * speed(first + 1) + shares[1] * speed(first + 2)
            }
        }
    }
}
