//! A problem without a first and a last: all contacts move at once.
//!
//! Sweeps answer one contact after the other, and where friction leaves more than one answer the
//! order chooses. Here every contact answers what all others did the time before, so that mirror
//! images stay mirror images; Newton's method, which knows no order either, makes it exact. What
//! both do not find is left to sweeps.

use super::{N_NEWTON_STEPS, Outcome, Scratch, Task, Tuning, three, walk};

/// Times that all contacts move: enough to tell most of those that open and slide.
const N_TOGETHER: usize = 30;

/// Goes from the impulses there are to an answer, or as near as that leads. What the scratch knows
/// of the contacts' answers is left damped.
pub(super) fn begin(
    problem: &Task<'_>,
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
) -> Outcome {
    let n_sweeps = scratch.move_together(problem, impulses, tuning);
    let Scratch { velocities, newton, .. } = scratch;
    let (n_newton, residual) =
        walk::descend(problem, impulses, velocities, tuning.tolerance, N_NEWTON_STEPS, newton);
    Outcome { n_sweeps, n_newton, residual }
}

impl Scratch {
    /// Lets all contacts and rows answer at once, a few times; how many. So many as act on each
    /// other answer with that share of what each would do alone, and do not overshoot together.
    fn move_together(
        &mut self,
        problem: &Task<'_>,
        impulses: &mut [f64],
        tuning: &Tuning,
    ) -> usize {
        let n_blocks = problem.n_blocks();
        let crowd = |i: usize| (0..n_blocks).filter(|j| problem.acts(i, *j)).count();
        let most = (0..n_blocks).map(crowd).max().unwrap_or(1) as f64;
        self.damp(problem, most - 1.0);
        for n in 1..=N_TOGETHER {
            self.refresh(problem, impulses);
            if self.answer_at_once(problem, impulses, most) <= tuning.tolerance {
                return n;
            }
        }
        N_TOGETHER
    }

    /// What every contact and row does to the velocities there are; the largest velocity a change
    /// makes \[m/s\].
    fn answer_at_once(&mut self, problem: &Task<'_>, impulses: &mut [f64], crowd: f64) -> f64 {
        let mut largest = 0.0_f64;
        for (i, contact) in problem.contacts.iter().enumerate() {
            let (before, cone) = (three(impulses, i), &mut self.cones[i]);
            let free = three(&self.velocities, i) - cone.block() * before;
            let after = cone.solve_within(free, contact.target, problem.strength(i));
            impulses[3 * i..3 * i + 3].copy_from_slice(&after.to_array());
            largest = largest.max((after - before).length() * cone.scale());
        }
        for (i, row) in problem.rows.iter().enumerate() {
            let at = 3 * problem.contacts.len() + i;
            let w = crowd * problem.delassus[at * problem.n() + at];
            let wanted = row.within(impulses[at] - (self.velocities[at] - row.target) / w);
            let after = if w > 0.0 && wanted.is_finite() { wanted } else { 0.0 };
            largest = largest.max((after - impulses[at]).abs() * w);
            impulses[at] = after;
        }
        largest
    }
}
