//! Squeezes: normal impulses that move nothing, and the answer without them. And loads that are not
//! unique, by the same road.
//!
//! A cube between two walls that it fits exactly may be pushed by both, as hard as they like: the
//! pushes cancel out, and friction that they allow holds the cube in the air. That keeps the law,
//! and so does a cube that falls. Rigid things have no memory of having been pressed, so the second
//! is meant. It is what comes out of contacts that give in, as that fades: opposite walls cannot
//! both have given in.
//!
//! ```text
//! answer ─ all sticks ─► the least impulses that move as much ─ push as hard ─► it stays
//!    │ something slides          │ push less: a squeeze
//!    └───────────────────────────┴─► search with contacts that give in, less and less ─► the answer
//! ```
//!
//! What slides may be wedged: the friction of a squeeze needs the squeeze. Then no less impulses
//! move as much, and another answer is another place.

use super::newton::{WHISPER, find_velocities};
use super::square::Square;
use super::{Outcome, Problem, Scratch, Strength, Task, Tuning, distance, search, three};

/// Memory that is used again; never needed for the answer.
#[derive(Debug, Default)]
pub(super) struct Easing {
    /// Rows whose impulses may be exchanged for others: of contacts that press and, along their
    /// tangents, stick; and single rows that hold.
    rows: Vec<usize>,
    /// Whether any contact slides and presses.
    slides: bool,
    matrix: Square,
    right: Vec<f64>,
    /// What of the impulses is not found in `least` yet.
    missing: Vec<f64>,
    least: Vec<f64>,
    kept: Vec<f64>,
    /// The matrix of contacts that give in, and velocities that these give in from.
    softened: Vec<f64>,
    free: Vec<f64>,
    velocities: Vec<f64>,
}

/// Share of all pushes that is no squeeze but rounding.
const NO_SQUEEZE: f64 = 1e-6;

/// What slides faster does not stick, in tolerances: far above what an answer is off by, and still
/// too slow to be seen.
const STILL: f64 = 100.0;

/// Share of what it answers that a contact gives in: so much more than the reluctance of a step of
/// Newton's that one or two of them take a squeeze out, and so little that the contacts which open
/// and slide are those of the answer.
const GIVE: f64 = 1e-5;

/// The same along its tangents. Friction gives in first: what stands is carried by what it stands on,
/// and not by the friction of whoever pushes it from the side.
const GIVE_ALONG: f64 = 1e-3;

/// How well that is solved \[m/s\]: a squeeze shows only as what it makes contacts give in.
const GIVING_TOLERANCE: f64 = 1e-12;

/// How often contacts give in anew: each leaves what it gave in by, against what a direction
/// answers, a thousandth of most.
const N_GIVING: usize = 6;

/// How often what the reluctance took is put back.
const N_REFINED: usize = 2;

/// Takes out of an answer what it need not have, and shares out evenly what is not unique where
/// something slides; what came of both searches. The scratch is the one it was found with. If nothing
/// slides there must be a squeeze, which is looked for if there may be any. Where there is none, or
/// too many rows, or no other answer, the impulses stay as they are.
pub fn ease(
    problem: &Problem<'_>,
    strengths: &[Strength],
    impulses: &mut [f64],
    found: Outcome,
    may_squeeze: bool,
    tuning: &Tuning,
    scratch: &mut Scratch,
) -> Outcome {
    problem.check(impulses);
    let task = &Task { problem: *problem, strengths };
    let easing = &mut scratch.easing;
    easing.list(task, impulses, &scratch.velocities, tuning.tolerance);
    let is_small = easing.rows.len() <= tuning.n_newton_max;
    let squeezes =
        is_small && may_squeeze && easing.finds_a_squeeze(task, impulses, tuning.tolerance);
    if !is_small || !(easing.slides || squeezes) {
        return found;
    }
    easing.kept.clear();
    easing.kept.extend_from_slice(impulses);
    // What is squeezed hard enough would be stuck for contacts that give in, too.
    if squeezes {
        impulses.fill(0.0);
    }
    let eased = search_giving(task, impulses, tuning, scratch);
    let is_eased = eased.residual <= tuning.tolerance;
    if !is_eased {
        impulses.copy_from_slice(&scratch.easing.kept);
    }
    // Who acts on whom may be known of another problem only.
    find_velocities(task, impulses, &mut scratch.velocities);
    Outcome {
        n_sweeps: found.n_sweeps + eased.n_sweeps,
        n_newton: found.n_newton + eased.n_newton,
        residual: if is_eased { eased.residual } else { found.residual },
    }
}

/// The answer of contacts that give in, and from there that of contacts that do not: time and again
/// they give in only from where they were, which leaves less and less of it and squeezes nothing
/// anew. A search without it could end in a squeeze again: a peg that spins in a pipe was stopped
/// dead.
fn search_giving(
    task: &Task<'_>,
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
) -> Outcome {
    let (problem, strengths) = (&task.problem, task.strengths);
    let Easing { softened, free, velocities, .. } = &mut scratch.easing;
    let [mut softened, mut free, mut velocities] = [softened, free, velocities].map(std::mem::take);
    soften(problem, &mut softened);
    free.clear();
    free.extend_from_slice(problem.free);
    let easily = Tuning { tolerance: GIVING_TOLERANCE, ..*tuning };
    let mut out = Outcome { n_sweeps: 0, n_newton: 0, residual: f64::INFINITY };
    for _ in 0..N_GIVING {
        let giving = Problem { delassus: &softened, free: &free, ..*problem };
        let found = search(&Task { problem: giving, strengths }, impulses, &easily, scratch);
        out.n_sweeps += found.n_sweeps;
        out.n_newton += found.n_newton;
        find_velocities(task, impulses, &mut velocities);
        out.residual = distance(task, impulses, &velocities).most;
        if out.residual <= tuning.tolerance {
            break;
        }
        for row in 0..3 * problem.contacts.len() {
            free[row] = problem.free[row] - give(problem, row) * impulses[row];
        }
    }
    // Where something gives in for good, as a gram under a ton, it is long on its way.
    if out.residual > tuning.tolerance {
        let found = search(task, impulses, tuning, scratch);
        out = Outcome {
            n_sweeps: out.n_sweeps + found.n_sweeps,
            n_newton: out.n_newton + found.n_newton,
            ..found
        };
    }
    let easing = &mut scratch.easing;
    (easing.softened, easing.free, easing.velocities) = (softened, free, velocities);
    out
}

/// The matrix of contacts that give in.
fn soften(problem: &Problem<'_>, out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(problem.delassus);
    let n = problem.n();
    for row in 0..3 * problem.contacts.len() {
        out[row * n + row] += give(problem, row);
    }
}

/// How much the row of a contact gives in \[1/kg\].
fn give(problem: &Problem<'_>, row: usize) -> f64 {
    let share = if row.is_multiple_of(3) { GIVE } else { GIVE_ALONG };
    share * own_answer(problem, row)
}

/// What the block of a row answers: a contact along its normal, for along a tangent it may be
/// unable to move.
fn own_answer(problem: &Problem<'_>, row: usize) -> f64 {
    let first = if row < 3 * problem.contacts.len() { row - row % 3 } else { row };
    problem.row(first)[first]
}

impl Easing {
    fn list(&mut self, problem: &Task<'_>, impulses: &[f64], velocities: &[f64], tolerance: f64) {
        self.rows.clear();
        self.slides = false;
        for i in 0..problem.contacts.len() {
            let (impulse, velocity) = (three(impulses, i), three(velocities, i));
            if impulse.x <= 0.0 {
                continue;
            }
            self.rows.push(3 * i);
            if problem.law(i).rubs && velocity.y.abs().max(velocity.z.abs()) < STILL * tolerance {
                self.rows.extend([3 * i + 1, 3 * i + 2]);
            } else {
                self.slides |= problem.law(i).rubs;
            }
        }
        let first = 3 * problem.contacts.len();
        let holds = problem.rows.iter().zip(first..).filter(|(row, at)| {
            impulses[*at] != 0.0 && row.low < impulses[*at] && impulses[*at] < row.high
        });
        self.rows.extend(holds.map(|(_, at)| at));
    }

    /// Whether contacts push harder than they need to, seen by what their pushes would move.
    fn finds_a_squeeze(&mut self, problem: &Task<'_>, impulses: &[f64], tolerance: f64) -> bool {
        let speeds = |impulses: &[f64]| -> f64 {
            (0..problem.contacts.len()).map(|i| impulses[3 * i] * problem.law(i).w).sum()
        };
        let before = speeds(impulses);
        self.find_least(problem, impulses)
            && before - speeds(&self.least) > tolerance.max(NO_SQUEEZE * before)
    }

    /// The least impulses of the listed rows that move as much as those there are. `false` where
    /// that fails.
    fn find_least(&mut self, problem: &Task<'_>, impulses: &[f64]) -> bool {
        let Easing { rows, matrix, right, missing, least, .. } = self;
        matrix.clear(rows.len());
        for (e, &row) in rows.iter().enumerate() {
            let (w, scale) = (problem.row(row), 1.0 / own_answer(problem, row));
            let into = matrix.row_mut(e);
            into.iter_mut().zip(&*rows).for_each(|(entry, other)| *entry = scale * w[*other]);
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
                speed / own_answer(problem, row)
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
