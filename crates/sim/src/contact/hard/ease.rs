//! Squeezes: normal impulses that move nothing, and the answer without them.
//!
//! A cube between two walls that it fits exactly may be pushed by both, as hard as they like: the
//! pushes cancel out, and friction that they allow holds the cube in the air. That keeps the law,
//! and so does a cube that falls. Rigid things have no memory of having been pressed, so the second
//! is meant. It is what comes out of contacts that give in by a whisper, as that fades: opposite
//! walls cannot both have given in.
//!
//! ```text
//! answer ─► the least impulses that move as much ─ push as hard ─► it stays
//!                    │ push less: a squeeze
//!                    └─► cut to the cones ─ search ─► the answer
//! ```

use super::newton::{WHISPER, find_velocities};
use super::square::Square;
use super::{Outcome, Problem, Scratch, Task, Tuning, search, three};

/// Memory that is used again; never needed for the answer.
#[derive(Debug, Default)]
pub(super) struct Easing {
    /// Rows whose impulses may be exchanged for others: of contacts that press and, along their
    /// tangents, stick; and single rows that hold.
    rows: Vec<usize>,
    matrix: Square,
    right: Vec<f64>,
    /// What of the impulses is not found in `least` yet.
    missing: Vec<f64>,
    least: Vec<f64>,
    kept: Vec<f64>,
    /// The matrix of contacts that give in.
    softened: Vec<f64>,
    velocities: Vec<f64>,
}

/// Share of all pushes that is no squeeze but rounding.
const NO_SQUEEZE: f64 = 1e-6;

/// What slides faster does not stick, in tolerances.
const STILL: f64 = 100.0;

/// Share of what it answers that a contact gives in.
const GIVE: f64 = 1e-4;

/// How well that is solved \[m/s\]: a squeeze shows as what it makes contacts give in.
const GIVING_TOLERANCE: f64 = 1e-12;

/// How often what the whisper took is put back.
const N_REFINED: usize = 2;

/// Takes squeezes out of an answer; what came of it, or nothing where there are none, or too many
/// rows to look for them, or no other answer.
pub fn ease(
    problem: &Problem<'_>,
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
) -> Option<Outcome> {
    problem.check(impulses);
    let task = &Task { problem: *problem, strengths: &[] };
    let easing = &mut scratch.easing;
    easing.list(task, impulses, tuning.tolerance);
    let is_eased = easing.rows.len() <= tuning.n_newton_max && easing.find_least(task, impulses);
    if !is_eased || !squeezes(task, impulses, &easing.least, tuning.tolerance) {
        return None;
    }
    easing.kept.clear();
    easing.kept.extend_from_slice(impulses);
    let mut softened = std::mem::take(&mut easing.softened);
    soften(problem, &mut softened);
    let giving = Problem { delassus: &softened, ..*problem };
    let easily = Tuning { tolerance: GIVING_TOLERANCE, ..*tuning };
    let first = search(&Task { problem: giving, strengths: &[] }, impulses, &easily, scratch);
    scratch.easing.softened = softened;
    let outcome = search(task, impulses, tuning, scratch);
    if outcome.residual <= tuning.tolerance {
        return Some(Outcome {
            n_sweeps: first.n_sweeps + outcome.n_sweeps,
            n_newton: first.n_newton + outcome.n_newton,
            ..outcome
        });
    }
    impulses.copy_from_slice(&scratch.easing.kept);
    None
}

/// Whether contacts push harder than they need to, seen by what their pushes would move.
fn squeezes(problem: &Task<'_>, impulses: &[f64], least: &[f64], tolerance: f64) -> bool {
    let speeds = |impulses: &[f64]| -> f64 {
        (0..problem.contacts.len()).map(|i| impulses[3 * i] * problem.law(i).w).sum()
    };
    let before = speeds(impulses);
    before - speeds(least) > tolerance.max(NO_SQUEEZE * before)
}

/// The matrix of contacts that give in.
fn soften(problem: &Problem<'_>, out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(problem.delassus);
    let n = problem.n();
    for i in 0..problem.contacts.len() {
        let give = GIVE * problem.delassus[3 * i * n + 3 * i];
        (3 * i..3 * i + 3).for_each(|row| out[row * n + row] += give);
    }
}

impl Easing {
    fn list(&mut self, problem: &Task<'_>, impulses: &[f64], tolerance: f64) {
        find_velocities(problem, impulses, &mut self.velocities);
        self.rows.clear();
        for i in 0..problem.contacts.len() {
            let (impulse, velocity) = (three(impulses, i), three(&self.velocities, i));
            if impulse.x <= 0.0 {
                continue;
            }
            self.rows.push(3 * i);
            if problem.law(i).rubs && velocity.y.abs().max(velocity.z.abs()) < STILL * tolerance {
                self.rows.extend([3 * i + 1, 3 * i + 2]);
            }
        }
        let first = 3 * problem.contacts.len();
        let holds = problem.rows.iter().zip(first..).filter(|(row, at)| {
            impulses[*at] != 0.0 && row.low < impulses[*at] && impulses[*at] < row.high
        });
        self.rows.extend(holds.map(|(_, at)| at));
    }

    /// The least impulses of the listed rows that move as much as those there are. `false` where
    /// that fails.
    fn find_least(&mut self, problem: &Task<'_>, impulses: &[f64]) -> bool {
        let Easing { rows, matrix, right, missing, least, .. } = self;
        matrix.clear(rows.len());
        for (e, &row) in rows.iter().enumerate() {
            let (w, into) = (problem.row(row), matrix.row_mut(e));
            into.iter_mut().zip(&*rows).for_each(|(entry, other)| *entry = w[*other] / w[row]);
            into[e] += WHISPER;
        }
        least.clear();
        least.extend_from_slice(impulses);
        rows.iter().for_each(|row| least[*row] = 0.0);
        missing.clear();
        missing.extend(rows.iter().map(|row| impulses[*row]));
        for round in 0..=N_REFINED {
            right.clear();
            right.extend(rows.iter().map(|&row| {
                let w = problem.row(row);
                let speed: f64 = rows.iter().zip(&*missing).map(|(k, part)| w[*k] * part).sum();
                speed / w[row]
            }));
            if round > 0 {
                matrix.solve_again(right);
            } else if !matrix.solve(right, false) {
                return false;
            }
            for ((row, missing), found) in rows.iter().zip(&mut *missing).zip(&*right) {
                least[*row] += found;
                *missing -= found;
            }
        }
        least.iter().all(|impulse| impulse.is_finite())
    }
}
