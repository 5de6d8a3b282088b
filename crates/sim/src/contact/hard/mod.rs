//! Hard contact: impulses that keep bodies from closing, with true Coulomb friction.
//!
//! ```text
//! Problem (how every contact and row answers an impulse, and moves without one)
//!    ├─ impact ─► impulses of what hits and bounces, the fastest pairs of bodies first
//!    ├─ solve ──► impulses that hold: contacts, loops, limits, dry friction
//!    └─ ease ───► the same without what moves nothing, and evenly shared out
//! ```
//!
//! The law at each contact: the normal velocity is at least `target`, the normal impulse
//! pushes and only while that speed is met exactly, the friction impulse lies within the cone
//! `(λ_1/μ_1)² + (λ_2/μ_2)² ≤ λ_n²`, holds the contact still if that is enough, and otherwise
//! takes out the most energy it can. The cone is round: no pyramid, no favoured direction.
//!
//! The road: the impulses of the last step tell which contacts are open, stick and slide, and
//! with that known the whole problem is one set of equations: mostly one step of Newton's method
//! (newton.rs, walk.rs), whose end is taken if it keeps the law. That is how a robot that stands
//! or lies is solved, at less than half of what sweeps take. Otherwise block Gauss–Seidel, each
//! contact solved exactly by itself (cone.rs). Light things squeezed between heavy ones make that crawl, so
//! when a sweep no longer gains, Newton's method takes over again and the sweeps finish. Where
//! nothing is known of the impulses, all contacts move at once before (together.rs).
//! Everything runs in the order given: same problem, same bytes.
//!
//! Overlap is not the velocity's business. [`correction_speed`] says how fast to push apart,
//! and a second problem with that as its targets, no friction and no free velocity gives
//! displacements that are applied to positions only (split impulse): no speed, and so no
//! kinetic energy, comes of it.
//!
//! What moves as it is told has no mass of its own to give way, and two such sides can ask for
//! what cannot be: a ball squeezed between a leg and a wall. So whoever has such sides says how
//! strong they are ([`Strength`], [`solve_within`]), and where an impulse reaches that, the
//! contact closes by as much as it was told to. Then there always is an answer.
//!
//! Deliberately absent: bodies, masses and time steps. Whoever moves bodies has the matrix.

mod cone;
mod ease;
mod impact;
mod newton;
mod square;
mod together;
mod walk;

pub use ease::ease;
pub use impact::{Impacts, impact};
pub use square::Square;

use headland_base::{Mat3, Vec3};

use cone::{Cone, Law};
use ease::Easing;
use newton::Newton;

/// What is to be solved. Rows come in this order: normal, first and second tangent of each
/// contact, then the single rows.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// Row-major, symmetric: velocity of each row per impulse of each \[1/kg\]. `n·n` numbers
    /// for `n = 3·contacts + rows`.
    pub delassus: &'a [f64],
    /// Velocity of each row without impulses \[m/s\].
    pub free: &'a [f64],
    /// The contacts.
    pub contacts: &'a [Contact],
    /// Loops, limits, dry friction.
    pub rows: &'a [Row],
}

/// One point of contact. Its normal velocity is that of b away from a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Coulomb friction along the first tangent.
    pub mu: f64,
    /// Along the second.
    pub mu2: f64,
    /// Coefficient of restitution; only [`impact`] heeds it.
    pub restitution: f64,
    /// The least normal velocity \[m/s\]; see [`normal_target`].
    pub target: f64,
    /// Points of one pair of bodies share a number and stand together.
    pub group: usize,
    /// Whether the bodies touch, rather than only come near: only then can they hit.
    pub is_touching: bool,
}

/// A single row: one impulse, one velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Least impulse \[N·s\]: 0 for a limit, −τ·dt for dry friction, −∞ for a loop.
    pub low: f64,
    /// Largest impulse \[N·s\].
    pub high: f64,
    /// The velocity that is held \[m/s\].
    pub target: f64,
}

impl Row {
    /// Holds a velocity whatever it takes: a loop, a mimic.
    pub const fn held(target: f64) -> Row {
        Row { low: f64::NEG_INFINITY, high: f64::INFINITY, target }
    }

    /// Keeps a velocity from falling below: a joint at its limit.
    pub const fn limit(target: f64) -> Row {
        Row { low: 0.0, high: f64::INFINITY, target }
    }

    /// Holds still as long as an impulse of this size is enough: dry friction.
    pub const fn dry(impulse_max: f64) -> Row {
        Row { low: -impulse_max, high: impulse_max, target: 0.0 }
    }

    fn within(&self, impulse: f64) -> f64 {
        impulse.max(self.low).min(self.high)
    }
}

/// How strongly a contact holds whose sides move as they are told. The normal impulse against the
/// normal velocity beyond the target is a staircase:
///
/// ```text
/// λ_n = 0            u_n ≥ 0
/// 0 < λ_n < most     u_n = 0
/// λ_n = most         −give ≤ u_n ≤ 0: it gives way
/// λ_n > most         u_n = −give: what was told is undone, and bodies still do not pass
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// The normal impulse from which on it gives way \[N·s\].
    pub most: f64,
    /// How fast it gives way at most: as fast as it was told to close \[m/s\].
    pub give: f64,
}

impl Strength {
    /// Gives way to nothing.
    pub const ENDLESS: Strength = Strength { most: f64::INFINITY, give: 0.0 };

    /// Whether it gives way at this impulse, to rounding.
    pub fn gives_way(&self, impulse: f64) -> bool {
        impulse > 0.0 && impulse >= self.most * (1.0 - 1e-9)
    }

    /// How much is given in, by what would be the impulse if nothing were.
    #[inline(always)]
    fn stair(&self, wanted: f64, w: f64) -> Stair {
        if wanted <= self.most {
            Stair::Holds
        } else if (wanted - self.most) * w <= self.give {
            Stair::Gives
        } else {
            Stair::Undone
        }
    }
}

/// Where on its staircase a contact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stair {
    Holds,
    Gives,
    Undone,
}

/// A problem with the strength of its contacts; none where all are endless.
#[derive(Clone, Copy, Debug)]
struct Task<'a> {
    problem: Problem<'a>,
    strengths: &'a [Strength],
}

impl<'a> std::ops::Deref for Task<'a> {
    type Target = Problem<'a>;

    #[inline(always)]
    fn deref(&self) -> &Problem<'a> {
        &self.problem
    }
}

impl Task<'_> {
    #[inline(always)]
    fn strength(&self, i: usize) -> Strength {
        self.strengths.get(i).copied().unwrap_or(Strength::ENDLESS)
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Good enough \[m/s\].
    pub tolerance: f64,
    /// How many times the tolerance is good enough where Newton ended short of it; one at least.
    pub leniency: f64,
    /// Sweeps at most, and times that all contacts move at once.
    pub n_sweeps_max: usize,
    /// Newton takes over where the problem has at most this many equations, three for a contact that
    /// rubs and one for one that does not; its cost grows with the third power.
    pub n_newton_max: usize,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { tolerance: 1e-10, leniency: 1.0, n_sweeps_max: 200, n_newton_max: 300 }
    }
}

/// How a solution came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Gauss–Seidel sweeps.
    pub n_sweeps: usize,
    /// Newton steps that were tried.
    pub n_newton: usize,
    /// The largest distance of any contact or row from its law \[m/s\].
    pub residual: f64,
}

/// Memory that is used again from one problem to the next; never needed to solve one. [`ease`] reads
/// what the search before it left there.
#[derive(Debug, Default)]
pub struct Scratch {
    cones: Vec<Cone>,
    /// Velocities that go with the impulses.
    velocities: Vec<f64>,
    /// For each block (contacts, then rows) the blocks it acts on, one list after another.
    partners: Vec<u32>,
    partner_ends: Vec<usize>,
    /// Entries of the matrix between each block whose partners are picked and these, together: in
    /// the matrix of a pile they lie so far apart that most of a sweep was waiting for them.
    picked_entries: Vec<f64>,
    picked_starts: Vec<usize>,
    newton: Newton,
    /// Whether the last answer is one of many, as far as is known.
    is_loose: bool,
    easing: Easing,
    /// The best impulses so far, where Newton ended short of the tolerance.
    kept: Vec<f64>,
    /// Strengths of what is held back.
    capped: Vec<Strength>,
    /// Of impacts.
    blow: impact::Blow,
}

impl Scratch {
    /// None yet.
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Whether the last answer is one of many: other impulses move as much. Known only of what was
    /// solved at once.
    pub fn is_loose(&self) -> bool {
        self.is_loose
    }

    /// Velocity of each row after [`solve`] \[m/s\].
    pub fn velocities(&self) -> &[f64] {
        &self.velocities
    }
}

/// Sweeps in which the change must fall to a quarter, or Newton takes over: the more, the
/// dearer a step of his is. Twice as many each time he ends short.
fn patience(n_rows: usize, n_short: usize) -> usize {
    (1 + n_rows / 16) << n_short.min(6)
}

/// How reluctant contacts are made in turn, each time Newton ends short: free and damped sweeps
/// leave it at different places to start from.
const RELUCTANCE: [f64; 6] = [0.0, 0.3, 0.0, 1.0, 0.1, 3.0];

/// From this many blocks on it pays to know who acts on whom.
const N_PICKED_MIN: usize = 24;

/// Up to this many rows Newton's method goes first: of a robot that stands or lies. Of a stack of
/// twenty boxes, 240 rows, three steps of his would cost as much as two hundred sweeps.
const N_GUESSED_MAX: usize = 48;

/// Newton steps in one go.
const N_NEWTON_STEPS: usize = 20;

/// Finds the impulses. They come in as a guess (those of the last step, or zeros) and go out
/// as the answer; what is not a number comes out as zero.
pub fn solve(
    problem: &Problem<'_>,
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
) -> Outcome {
    solve_within(problem, &[], impulses, tuning, scratch)
}

/// Finds the impulses, with contacts that are only so strong: one each, or none at all.
pub fn solve_within(
    problem: &Problem<'_>,
    strengths: &[Strength],
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
) -> Outcome {
    problem.check(impulses);
    assert!(strengths.is_empty() || strengths.len() == problem.contacts.len(), "one per contact");
    let problem = &Task { problem: *problem, strengths };
    for impulse in impulses.iter_mut().filter(|impulse| !impulse.is_finite()) {
        *impulse = 0.0;
    }
    // What nothing moves is not pushed, whatever it was when it still moved.
    for i in (0..problem.contacts.len()).filter(|i| !problem.law(*i).answers()) {
        impulses[3 * i..3 * i + 3].fill(0.0);
    }
    let outcome = search(problem, impulses, tuning, scratch);
    if strengths.is_empty() || outcome.residual <= LOST {
        return outcome;
    }
    hold_back(problem, impulses, tuning, scratch, outcome)
}

/// From a distance like this \[m/s\] on, no answer was found; what is there may be anything.
const LOST: f64 = 1e-3;

/// Sweeps of what is held back.
const N_HELD_BACK: usize = 50;

/// Sides that were told what to do may also ask for what cannot be by dragging: a ball that a
/// moving leg rubs into a corner. Then nobody pushes more than it is strong, from nothing on.
fn hold_back(
    problem: &Task<'_>,
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
    before: Outcome,
) -> Outcome {
    let mut capped = std::mem::take(&mut scratch.capped);
    capped.clear();
    let cap = |strength: &Strength| Strength { give: f64::INFINITY, ..*strength };
    capped.extend(problem.strengths.iter().map(cap));
    let problem = &Task { strengths: &capped, ..*problem };
    impulses.fill(0.0);
    scratch.damp(problem, 0.0);
    scratch.refresh(problem, impulses);
    let mut outcome = before;
    for _ in 0..N_HELD_BACK {
        outcome.n_sweeps += 1;
        if scratch.sweep(problem, impulses) <= tuning.tolerance {
            break;
        }
    }
    scratch.refresh(problem, impulses);
    outcome.residual = distance(problem, impulses, &scratch.velocities).most;
    scratch.capped = capped;
    outcome
}

/// By Newton's method and sweeps.
fn search(
    problem: &Task<'_>,
    impulses: &mut [f64],
    tuning: &Tuning,
    scratch: &mut Scratch,
) -> Outcome {
    let mut outcome = Outcome { n_sweeps: 0, n_newton: 0, residual: 0.0 };
    // Rows that rub are linear, so the first guess is right, and sweeps would crawl; stops and dry
    // friction beside them change little of that.
    let n_most = if problem.contacts.is_empty() { usize::MAX } else { N_GUESSED_MAX };
    scratch.is_loose = false;
    let may_guess = 0 < problem.n() && problem.n() <= n_most.min(tuning.n_newton_max);
    if may_guess && problem.has_a_guess(impulses) {
        let Scratch { velocities, newton, .. } = &mut *scratch;
        let goal = tuning.tolerance;
        let (n_steps, reached) = walk::guess(problem, impulses, velocities, goal, newton);
        outcome = Outcome { n_sweeps: 0, n_newton: n_steps, residual: reached };
        if reached <= goal {
            scratch.is_loose = n_steps > 0 && scratch.newton.is_loose();
            return outcome;
        }
    }
    scratch.prepare(problem);
    let mut best = f64::INFINITY; // residual of `scratch.kept`
    // Where nothing is known of the impulses, sweeps would be the first to choose among answers.
    let is_cold = impulses.iter().all(|impulse| *impulse == 0.0);
    // Who allows no sweeps has another way where the guess is wrong.
    if is_cold && tuning.n_sweeps_max > 0 && problem.n_equations() <= tuning.n_newton_max {
        let n_guessed = outcome.n_newton;
        outcome = together::begin(problem, impulses, tuning, scratch);
        outcome.n_newton += n_guessed;
        if outcome.residual <= tuning.tolerance {
            return outcome;
        }
        best = outcome.residual;
        scratch.kept.clear();
        scratch.kept.extend_from_slice(impulses);
        impulses.fill(0.0);
        scratch.damp(problem, 0.0);
    }
    scratch.refresh(problem, impulses);
    let mut milestone = (f64::INFINITY, 0); // change, and the sweep it was seen in
    let mut n_short = 0; // how often Newton ended short
    while outcome.n_sweeps < tuning.n_sweeps_max {
        let change = scratch.sweep(problem, impulses);
        outcome.n_sweeps += 1;
        if change <= tuning.tolerance {
            break;
        }
        if change < 0.25 * milestone.0 {
            milestone = (change, outcome.n_sweeps);
        } else if outcome.n_sweeps >= milestone.1 + patience(problem.n(), n_short) {
            milestone = (f64::INFINITY, outcome.n_sweeps);
            if problem.n_equations() > tuning.n_newton_max {
                continue;
            }
            let (n_steps, reached) = walk::descend(
                problem,
                impulses,
                &mut scratch.velocities,
                tuning.tolerance,
                N_NEWTON_STEPS,
                &mut scratch.newton,
            );
            outcome.n_newton += n_steps;
            // A sweep may leave a solution again: one contact alone can have several.
            if reached <= tuning.tolerance {
                break;
            }
            if reached < best {
                best = reached;
                scratch.kept.clear();
                scratch.kept.extend_from_slice(impulses);
            }
            if best <= tuning.leniency * tuning.tolerance {
                break;
            }
            n_short += 1;
            scratch.damp(problem, RELUCTANCE[n_short % RELUCTANCE.len()]);
        }
    }
    // Velocities were added up change by change; once more from the impulses themselves.
    scratch.refresh(problem, impulses);
    outcome.residual = distance(problem, impulses, &scratch.velocities).most;
    if best < outcome.residual {
        impulses.copy_from_slice(&scratch.kept);
        scratch.refresh(problem, impulses);
        outcome.residual = best;
    }
    outcome
}

/// How far contacts and rows are from their laws \[m/s\].
#[derive(Clone, Copy, Debug)]
struct Distance {
    /// The furthest.
    most: f64,
    /// Of all together: the sum of squares.
    squares: f64,
}

#[inline(always)]
fn distance(problem: &Task<'_>, impulses: &[f64], velocities: &[f64]) -> Distance {
    let mut out = Distance { most: 0.0, squares: 0.0 };
    let mut see = |off: f64| {
        // What is not a number is infinitely far.
        let off = if off.is_nan() { f64::INFINITY } else { off };
        out.most = out.most.max(off);
        out.squares += off * off;
    };
    for (i, contact) in problem.contacts.iter().enumerate() {
        let (impulse, velocity) = (three(impulses, i), three(velocities, i));
        see(problem.law(i).residual(impulse, velocity, contact.target, problem.strength(i)));
    }
    for (i, row) in problem.rows.iter().enumerate() {
        let at = 3 * problem.contacts.len() + i;
        let w = problem.delassus[at * problem.n() + at];
        if w > 0.0 {
            let wanted = impulses[at] - (velocities[at] - row.target) / w;
            see((impulses[at] - row.within(wanted)).abs() * w);
        }
    }
    out
}

/// The least normal velocity \[m/s\] of a contact: one that touches must not close, one that
/// has a gap (negative depth \[m\]) may close it within the step \[s\]. What is going to
/// bounce (`approach` \[m/s\], negative while closing, beyond the threshold) is not slowed down
/// before it hits.
pub fn normal_target(depth: f64, approach: f64, restitution: f64, threshold: f64, dt: f64) -> f64 {
    if depth >= -NEAR {
        0.0
    } else if restitution > 0.0 && approach < -threshold {
        f64::NEG_INFINITY
    } else {
        (depth + NEAR) / dt
    }
}

/// Whether two bodies touch, or will within the step, so that they can hit. All corners of a side
/// do, though rounding leaves a hair under some: a push would be handed on at the others alone.
pub fn is_touching(depth: f64, approach: f64, dt: f64) -> bool {
    depth >= -NEAR || depth > approach * dt
}

/// Nearer than this is as good as touching \[m\]: the size of a few atoms. What rests is some
/// 1e-12 m off by rounding, and closing such a gap within a millisecond would be seen by whoever
/// weighs it to 1e-6 N.
const NEAR: f64 = 1e-9;

/// How fast to push two bodies apart that overlap by `depth` \[m\]: a part of what is beyond
/// the slack, per step, and no faster than `speed_max` \[m/s\]. For the second problem only.
pub fn correction_speed(depth: f64, slack: f64, part: f64, speed_max: f64, dt: f64) -> f64 {
    ((depth - slack).max(0.0) * part / dt).min(speed_max)
}

#[inline(always)]
fn three(numbers: &[f64], contact_idx: usize) -> Vec3 {
    let at = 3 * contact_idx;
    Vec3::new(numbers[at], numbers[at + 1], numbers[at + 2])
}

impl Problem<'_> {
    /// Rows in all.
    pub fn n(&self) -> usize {
        3 * self.contacts.len() + self.rows.len()
    }

    /// How all rows answer an impulse along one, or, as the matrix is symmetric, one along all.
    #[inline(always)]
    fn row(&self, i: usize) -> &[f64] {
        let n = self.n();
        &self.delassus[i * n..(i + 1) * n]
    }

    fn check(&self, impulses: &[f64]) {
        let n = self.n();
        assert_eq!(self.delassus.len(), n * n, "the matrix is square");
        assert_eq!((self.free.len(), impulses.len()), (n, n), "one number per row");
    }

    /// What a contact's law is checked by.
    #[inline(always)]
    fn law(&self, i: usize) -> Law {
        let contact = &self.contacts[i];
        Law::new(self.delassus[3 * i * self.n() + 3 * i], contact.mu, contact.mu2)
    }

    fn block(&self, i: usize) -> Mat3 {
        let n = self.n();
        let row = |k: usize| three(&self.delassus[(3 * i + k) * n..], i);
        // Symmetric: rows are columns.
        Mat3::from_cols(row(0), row(1), row(2))
    }

    /// Whether impulses tell which contacts stick and which slide: those of the last step do,
    /// and without friction there is nothing to tell.
    fn has_a_guess(&self, impulses: &[f64]) -> bool {
        let is_warm = |i: usize| impulses[3 * i] != 0.0 || !self.law(i).rubs;
        self.contacts.is_empty() || (0..self.contacts.len()).any(is_warm)
    }

    /// How many equations there may be: without friction a contact is one.
    fn n_equations(&self) -> usize {
        let of_contact = |i: usize| if self.law(i).rubs { 3 } else { 1 };
        (0..self.contacts.len()).map(of_contact).sum::<usize>() + self.rows.len()
    }

    /// Whether an impulse of one block moves another.
    fn acts(&self, block: usize, other: usize) -> bool {
        let ((first, size), (at, width)) = (self.span(block), self.span(other));
        (first..first + size).any(|row| self.row(row)[at..at + width].iter().any(|w| *w != 0.0))
    }

    /// Contacts and single rows.
    fn n_blocks(&self) -> usize {
        self.contacts.len() + self.rows.len()
    }

    /// First row and number of rows of a block: contacts, then single rows.
    fn span(&self, block: usize) -> (usize, usize) {
        let n_contacts = self.contacts.len();
        if block < n_contacts { (3 * block, 3) } else { (2 * n_contacts + block, 1) }
    }
}

impl Scratch {
    fn prepare(&mut self, problem: &Problem<'_>) {
        self.cones.clear();
        self.cones.extend(
            problem
                .contacts
                .iter()
                .enumerate()
                .map(|(i, contact)| Cone::new(problem.block(i), contact.mu, contact.mu2)),
        );
        self.list_partners(problem);
    }

    /// Who acts on whom, where there are so many that picking pays.
    fn list_partners(&mut self, problem: &Problem<'_>) {
        self.partners.clear();
        self.partner_ends.clear();
        let (n, n_blocks) = (problem.n(), problem.n_blocks());
        if n_blocks < N_PICKED_MIN {
            return;
        }
        for i in 0..n_blocks {
            let partners = (0..n_blocks).filter(|j| problem.acts(i, *j));
            self.partners.extend(partners.map(|j| j as u32));
            self.partner_ends.push(self.partners.len());
        }
        self.picked_entries.clear();
        self.picked_starts.clear();
        for i in 0..n_blocks {
            self.picked_starts.push(self.picked_entries.len());
            let (first, size) = problem.span(i);
            for partner in self.picked(i).into_iter().flatten() {
                let (at, width) = problem.span(self.partners[partner] as usize);
                for row in first..first + size {
                    let row = &problem.delassus[row * n + at..row * n + at + width];
                    self.picked_entries.extend_from_slice(row);
                }
            }
        }
    }

    /// Velocities from the impulses alone.
    fn refresh(&mut self, problem: &Problem<'_>, impulses: &[f64]) {
        self.velocities.clear();
        self.velocities.extend_from_slice(problem.free);
        for block in 0..problem.n_blocks() {
            let (at, width) = problem.span(block);
            let impulse = &impulses[at..at + width];
            if impulse.iter().any(|impulse| *impulse != 0.0) {
                self.act(problem, block, impulse);
            }
        }
    }

    /// Makes every contact reluctant to change, by so many times its own answer: sweeps that
    /// run in circles come to rest, later but at the same place.
    fn damp(&mut self, problem: &Problem<'_>, times: f64) {
        for (i, (cone, contact)) in self.cones.iter_mut().zip(problem.contacts).enumerate() {
            let block = problem.block(i);
            let reluctance = Mat3::from_diagonal(Vec3::splat(times * block.x_axis.x));
            *cone = Cone::new(block + reluctance, contact.mu, contact.mu2);
        }
    }

    /// One pass over all contacts and rows; the largest velocity a change made \[m/s\].
    fn sweep(&mut self, problem: &Task<'_>, impulses: &mut [f64]) -> f64 {
        let mut largest = 0.0_f64;
        let n_contacts = problem.contacts.len();
        for i in 0..n_contacts {
            largest =
                largest.max(self.sweep_contact(problem, impulses, i, problem.contacts[i].target));
        }
        let n = problem.n();
        for (i, row) in problem.rows.iter().enumerate() {
            let at = 3 * n_contacts + i;
            let w = problem.delassus[at * n + at];
            if w.is_nan() || w <= 0.0 {
                continue;
            }
            let wanted = impulses[at] - (self.velocities[at] - row.target) / w;
            let wanted = if wanted.is_finite() { row.within(wanted) } else { 0.0 };
            let change = wanted - impulses[at];
            impulses[at] = wanted;
            if change != 0.0 {
                self.act(problem, n_contacts + i, &[change]);
            }
            largest = largest.max((change * w).abs());
        }
        largest
    }

    /// Solves one contact with all others held; the velocity its change made \[m/s\].
    fn sweep_contact(
        &mut self,
        problem: &Task<'_>,
        impulses: &mut [f64],
        i: usize,
        target: f64,
    ) -> f64 {
        let before = three(impulses, i);
        let free = three(&self.velocities, i) - self.cones[i].block() * before;
        let after = self.cones[i].solve_within(free, target, problem.strength(i));
        let change = after - before;
        if change == Vec3::ZERO {
            return 0.0;
        }
        impulses[3 * i..3 * i + 3].copy_from_slice(&after.to_array());
        self.act(problem, i, &change.to_array());
        change.length() * self.cones[i].scale()
    }

    /// Adds what a change of one block's impulse does to all velocities.
    fn act(&mut self, problem: &Problem<'_>, block: usize, change: &[f64]) {
        let n = problem.n();
        let (from, _) = problem.span(block);
        // Symmetric: the column is the row, which lies together.
        let row = |k: usize| &problem.delassus[(from + k) * n..(from + k + 1) * n];
        let Some(partners) = self.picked(block) else {
            match *change {
                [a, b, c] => {
                    let rows = row(0).iter().zip(row(1)).zip(row(2));
                    for (velocity, ((x, y), z)) in self.velocities.iter_mut().zip(rows) {
                        *velocity += x * a + y * b + z * c;
                    }
                }
                _ => {
                    let both = self.velocities.iter_mut().zip(row(0));
                    both.for_each(|(velocity, w)| *velocity += w * change[0]);
                }
            }
            return;
        };
        let mut entries = &self.picked_entries[self.picked_starts[block]..];
        for partner in partners {
            let (at, width) = problem.span(self.partners[partner] as usize);
            let velocities = &mut self.velocities[at..at + width];
            let (own, rest) = entries.split_at(width * change.len());
            entries = rest;
            if let ([x, y, z], [a, b, c], Some((w, []))) =
                (&mut *velocities, change, own.as_chunks::<9>().0.split_first())
            {
                // Two contacts, most of the time: as below, without loops.
                *x = *x + w[0] * a + w[3] * b + w[6] * c;
                *y = *y + w[1] * a + w[4] * b + w[7] * c;
                *z = *z + w[2] * a + w[5] * b + w[8] * c;
                continue;
            }
            for (row, change) in own.chunks_exact(width).zip(change) {
                velocities.iter_mut().zip(row).for_each(|(velocity, w)| *velocity += w * change);
            }
        }
    }

    /// Where the partners of a block are, if they are so few that picking them is quicker than
    /// going straight through.
    fn picked(&self, block: usize) -> Option<std::ops::Range<usize>> {
        let end = *self.partner_ends.get(block)?;
        let first = if block == 0 { 0 } else { self.partner_ends[block - 1] };
        (2 * (end - first) <= self.partner_ends.len()).then_some(first..end)
    }
}
