//! Impacts: what closes fast bounces, one pair of bodies after another.
//!
//! The pair that closes fastest is answered first: at all its points at once the normal
//! velocity becomes −e times what it was (Newton's law), with friction within the cone. What
//! that does to other pairs is answered next, until nothing closes faster than the threshold.
//! So a box lands flat, and a row of balls hands the push on to its end.

use super::{Problem, Scratch, Task, Tuning};

/// What hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impacts {
    /// Pairs answered, each time counted.
    pub n_answered: usize,
    /// Whether pairs were still closing when patience ended; [`solve`](super::solve) then
    /// stops them without a bounce.
    pub is_unfinished: bool,
}

/// Answers everything that touches and closes faster than `threshold` \[m/s\]. The problem's
/// free velocities are those just before; impulses go out, and with them the velocities just
/// after, in [`Scratch::velocities`]. Loops are held meanwhile.
pub fn impact(
    problem: &Problem<'_>,
    threshold: f64,
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
) -> Impacts {
    problem.check(impulses);
    // A hit is over before anybody gives way.
    let problem = &Task { problem: *problem, strengths: &[] };
    impulses.fill(0.0);
    scratch.velocities.clear();
    scratch.velocities.extend_from_slice(problem.free);
    if fastest(problem, &scratch.velocities, threshold).is_none() {
        return Impacts { n_answered: 0, is_unfinished: false };
    }
    scratch.prepare(problem);
    let n_most = N_ROUNDS * (problem.contacts.len() + 1);
    for n_answered in 0..n_most {
        let Some(group) = fastest(problem, &scratch.velocities, threshold) else {
            return Impacts { n_answered, is_unfinished: false };
        };
        answer(problem, group, threshold, impulses, tuning, scratch);
    }
    Impacts { n_answered: n_most, is_unfinished: true }
}

/// Rounds through all contacts before the rest is left to the solver.
const N_ROUNDS: usize = 50;

/// The pair that closes fastest; the first of equals.
fn fastest(problem: &Problem<'_>, velocities: &[f64], threshold: f64) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for (i, contact) in problem.contacts.iter().enumerate() {
        let closing = -velocities[3 * i];
        let is_faster = best.is_none_or(|(speed, _)| closing > speed);
        if contact.is_touching && closing > threshold && is_faster {
            best = Some((closing, contact.group));
        }
    }
    best.map(|(_, group)| group)
}

fn answer(
    problem: &Task<'_>,
    group: usize,
    threshold: f64,
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
) {
    let n_contacts = problem.contacts.len();
    let first = problem.contacts.iter().position(|c| c.group == group).unwrap_or(0);
    let end =
        (first..n_contacts).find(|&i| problem.contacts[i].group != group).unwrap_or(n_contacts);
    // Each impact is answered with fresh impulses, within a cone of its own.
    let mut own = std::mem::take(&mut scratch.fresh);
    own.clear();
    own.resize(problem.n(), 0.0);
    let mut targets = std::mem::take(&mut scratch.targets);
    targets.clear();
    targets.extend((first..end).map(|i| {
        let closing = -scratch.velocities[3 * i];
        if closing > threshold { problem.contacts[i].restitution * closing } else { 0.0 }
    }));
    for _ in 0..tuning.n_sweeps_max {
        let mut change = 0.0_f64;
        for i in first..end {
            if problem.contacts[i].is_touching {
                let target = targets[i - first];
                change = change.max(scratch.sweep_contact(problem, &mut own, i, target));
            }
        }
        change = change.max(scratch.hold_loops(problem, &mut own));
        if change <= tuning.tolerance {
            break;
        }
    }
    impulses.iter_mut().zip(&own).for_each(|(sum, own)| *sum += own);
    (scratch.fresh, scratch.targets) = (own, targets);
}

impl Scratch {
    /// Keeps loops closed: rows that may push and pull without end.
    fn hold_loops(&mut self, problem: &Problem<'_>, impulses: &mut [f64]) -> f64 {
        let (n, n_contacts) = (problem.n(), problem.contacts.len());
        let mut largest = 0.0_f64;
        for (i, row) in problem.rows.iter().enumerate() {
            let at = 3 * n_contacts + i;
            let w = problem.delassus[at * n + at];
            if row.low == f64::NEG_INFINITY && row.high == f64::INFINITY && w > 0.0 {
                // What the loop does by itself is the solver's business.
                let change = (problem.free[at] - self.velocities[at]) / w;
                impulses[at] += change;
                self.act(problem, n_contacts + i, &[change]);
                largest = largest.max((change * w).abs());
            }
        }
        largest
    }
}
