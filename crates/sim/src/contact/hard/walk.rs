//! Ways through a problem by steps of [`Newton`]: guesses that go all the way, and careful ones.

use super::newton::{Newton, Sought, WHISPER, find_velocities};
use super::{Distance, Task, distance};
use crate::tree::{Kernel, widely};

/// Whole steps from a guess at what contacts do. Of humanoids that lie, each another way, one of
/// the first four was right in 97 of 100 milliseconds; the fourth in three of them.
const N_GUESSES: usize = 4;

/// How often a guess that is right is made exact, at most.
const N_REFINED: usize = 4;

/// How reluctant impulses are to change in careful steps, each tried where the one before brings
/// nothing. Where more points hold than there are ways to move, what they ask for may be at odds
/// by a hair, and a whole step goes very far for very little. Shorter and shorter parts of it,
/// which were tried instead, led nowhere: of a hundred robots that lie a step took 52 µs, not 30.
const DAMPING: [f64; 4] = [WHISPER, 1e-5, 1e-3, 1e-1];

/// What is left of all squares after a careful step that is worth taking.
const NEARER: f64 = 0.9;

/// Share of the tolerance that is as good as nothing: about what rounding leaves of a robot that
/// lies, or a little more.
const ROUNDING: f64 = 3e-5;

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
    let walk = Walk { problem, impulses: &mut *impulses, velocities, newton, tolerance };
    widely(Guess { walk, out: &mut out });
    if out.1 > tolerance {
        impulses.copy_from_slice(&newton.start);
    }
    out
}

/// Takes up to `n_steps` steps; how many were tried, and the residual \[m/s\] they ended at.
/// Velocities follow the impulses.
///
/// Whole steps first: each is a guess at which contacts are open, stick and slide, and guesses
/// may get worse before one is right. If none of them is, the steps are taken back, and then each
/// is held back until it brings the problem nearer to its law.
pub(super) fn descend(
    problem: &Task<'_>,
    impulses: &mut [f64],
    velocities: &mut Vec<f64>,
    tolerance: f64,
    n_steps: usize,
    newton: &mut Newton,
) -> (usize, f64) {
    let mut out = (0, f64::INFINITY);
    let walk = Walk { problem, impulses, velocities, newton, tolerance };
    widely(Descend { walk, n_steps, out: &mut out });
    out
}

/// What steps are taken with.
struct Walk<'a> {
    problem: &'a Task<'a>,
    impulses: &'a mut [f64],
    velocities: &'a mut Vec<f64>,
    newton: &'a mut Newton,
    tolerance: f64,
}

impl Walk<'_> {
    /// Where it begins, kept to come back to.
    #[inline(always)]
    fn begin(&mut self) -> Distance {
        self.newton.start.clear();
        self.newton.start.extend_from_slice(self.impulses);
        self.look()
    }

    #[inline(always)]
    fn look(&mut self) -> Distance {
        find_velocities(self.problem, self.impulses, self.velocities);
        distance(self.problem, self.impulses, self.velocities)
    }

    /// The equations where it is now.
    #[inline(always)]
    fn list(&mut self) {
        self.newton.list(self.problem, Sought::Change, self.impulses, self.velocities);
    }

    /// Where a whole step by them leads whose changes are held back; `None` where there is none.
    #[inline(always)]
    fn damped(&mut self, reluctance: f64) -> Option<Distance> {
        let Walk { problem, impulses, newton, .. } = self;
        newton.find(problem, true, reluctance).then(|| newton.try_found(problem, impulses))
    }

    /// Takes what was tried.
    #[inline(always)]
    fn take(&mut self) {
        self.impulses.copy_from_slice(&self.newton.tried);
        self.velocities.copy_from_slice(&self.newton.velocities);
    }
}

/// Whole steps, in instructions as wide as there are: each row of the matrix is as long as all
/// impulses, and what is done to it is done number by number, to the same bits in any width.
struct Guess<'a> {
    walk: Walk<'a>,
    out: &'a mut (usize, f64),
}

impl Kernel for Guess<'_> {
    #[inline(always)]
    fn run(self) {
        let Guess { mut walk, out } = self;
        let mut here = walk.begin();
        let mut n_taken = 0;
        // No sweeps come after a guess, so it ends near where rounding does: what lies still is
        // weighed by sensors that see a thousandth of the tolerance, divided by a short step.
        let enough = ROUNDING * walk.tolerance;
        while n_taken < N_GUESSES && here.most > enough {
            let is_good = here.most <= walk.tolerance;
            // Where there is friction, impulses that work against each other are best left as
            // they are: the least that holds still may lie beyond some cone. With all of every
            // impulse sought, of the robots that lie a quarter went on to sweeps.
            let is_rows_alone = walk.problem.contacts.is_empty() && !is_good;
            let sought = if is_rows_alone { Sought::Whole } else { Sought::Change };
            let Walk { problem, impulses, velocities, newton, tolerance } = &mut walk;
            newton.list(problem, sought, impulses, velocities);
            // A guess is checked in any case, and goes the quick way; where that loses the digits,
            // as it may between a gram and a ton, the other comes next.
            let by_last = is_good && n_taken > 0 && newton.find_by_last();
            if !by_last && !newton.find(problem, n_taken > 0, WHISPER) {
                break;
            }
            let mut next = newton.try_found(problem, impulses);
            n_taken += 1;
            if by_last && next.most >= here.most {
                if !newton.find(problem, true, WHISPER) {
                    break;
                }
                next = newton.try_found(problem, impulses);
            }
            // Of rows alone there is little to guess: what is off is mostly what was taken for the
            // digits.
            let is_right = next.most <= *tolerance || is_rows_alone;
            for _ in 0..N_REFINED {
                if !is_right || next.most <= enough {
                    break;
                }
                let refined = newton.refine(problem, impulses, next);
                if refined.most >= next.most {
                    break;
                }
                next = refined;
            }
            if is_good && next.most >= here.most {
                break;
            }
            walk.take();
            here = next;
        }
        *out = (n_taken, here.most);
    }
}

/// Whole steps, and careful ones where these lead nowhere.
struct Descend<'a> {
    walk: Walk<'a>,
    n_steps: usize,
    out: &'a mut (usize, f64),
}

impl Kernel for Descend<'_> {
    #[inline(always)]
    fn run(self) {
        let Descend { mut walk, n_steps, out } = self;
        let mut here = walk.begin();
        let mut n_tried = 0;
        for careful in [false, true] {
            let mut level = 0;
            for _ in 0..n_steps {
                if here.most <= 0.1 * walk.tolerance {
                    break;
                }
                walk.list();
                let next = loop {
                    n_tried += 1;
                    let there = walk.damped(DAMPING[level]);
                    let is_nearer = |there: &Distance| there.squares < NEARER * here.squares;
                    let there = there.filter(|there| !careful || is_nearer(there));
                    if there.is_some() || !careful || level + 1 == DAMPING.len() {
                        break there;
                    }
                    level += 1;
                };
                let Some(next) = next else { break };
                level = level.saturating_sub(1);
                walk.take();
                here = next;
            }
            if here.most <= walk.tolerance || careful {
                break;
            }
            walk.impulses.copy_from_slice(&walk.newton.start);
            here = walk.look();
        }
        *out = (n_tried, here.most);
    }
}
