//! A problem without a first and a last: all contacts move at once.
//!
//! Sweeps answer one contact after the other, and where friction leaves more than one answer the
//! order chooses. Here every contact answers what all others did the time before, so that mirror
//! images stay mirror images; Newton's method, which knows no order either, makes it exact. What
//! both do not find is left to sweeps.

use super::{Outcome, Scratch, Task, Tuning, search, walk};

/// Times that all contacts move: enough to tell most of those that open and slide.
const N_TOGETHER: usize = 30;

/// Steps of Newton's method.
const N_STEPS: usize = 20;

/// Finds the impulses, from those that are there.
pub(super) fn solve(
    problem: &Task<'_>,
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
) -> Outcome {
    scratch.prepare(problem);
    let n_sweeps = scratch.move_together(problem, impulses, tuning);
    let Scratch { velocities, newton, .. } = &mut *scratch;
    let goal = tuning.tolerance;
    if problem.n_equations() <= tuning.n_newton_max {
        let (n_newton, residual) =
            walk::descend(problem, impulses, velocities, goal, N_STEPS, newton);
        if residual <= goal {
            return Outcome { n_sweeps, n_newton, residual };
        }
    }
    search(problem, impulses, tuning, scratch)
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
        let most = (0..n_blocks).map(crowd).max().unwrap_or(1);
        self.damp(problem, most as f64 - 1.0);
        for n in 0..N_TOGETHER {
            self.refresh(problem, impulses);
            if self.answer_at_once(problem, impulses, most as f64) <= tuning.tolerance {
                return n;
            }
        }
        N_TOGETHER
    }

    /// What every contact and row does to the velocities there are.
    fn answer_at_once(&mut self, problem: &Task<'_>, impulses: &mut [f64], crowd: f64) -> f64 {
        let mut largest = 0.0_f64;
        for (i, contact) in problem.contacts.iter().enumerate() {
            let before = super::three(impulses, i);
            let cone = &mut self.cones[i];
            let free = super::three(&self.velocities, i) - cone.block() * before;
            let after = cone.solve_within(free, contact.target, problem.strength(i));
            impulses[3 * i..3 * i + 3].copy_from_slice(&after.to_array());
            largest = largest.max((after - before).length() * cone.scale());
        }
        for (i, row) in problem.rows.iter().enumerate() {
            let at = 3 * problem.contacts.len() + i;
            let w = crowd * problem.delassus[at * problem.n() + at];
            if w > 0.0 {
                let after = row.within(impulses[at] - (self.velocities[at] - row.target) / w);
                largest = largest.max((after - impulses[at]).abs() * w);
                impulses[at] = after;
            }
        }
        largest
    }
}
