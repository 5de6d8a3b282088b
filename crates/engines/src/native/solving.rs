//! The impulses of some islands: what bounces, what holds, what pushes apart.
//!
//! A solver takes its share of the islands and writes only to itself, so that several can work
//! at once. Each island is a problem of its own and comes out the same whoever solves it.

use std::ops::Range;

use headland_sim::State;
use headland_sim::constraint::{Assembly, Pushed};
use headland_sim::contact::hard::{
    self, Contact, Outcome, Problem, Row, Scratch, Strength, Tuning, correction_speed,
};

use super::attainable::Attainable;
use super::choosing::Role;
use super::contacts::{Touch, velocity_at};
use super::islands::Islands;
use super::patches::Point;
use super::rows::{Held, Numbering, Owner};
use super::squeezing::Presses;

/// What there is to solve.
pub(super) struct Now<'a> {
    pub held: &'a Held,
    pub numbering: &'a Numbering,
    pub islands: &'a Islands,
    pub dt: f64,
    /// Which step since the start this is.
    pub n_steps: u64,
    /// Speeds up to which nothing bounces \[m/s\].
    pub rest_speed: f64,
    /// At the beginning of the step.
    pub state: &'a State,
    pub touches: &'a [Touch],
    /// Impulses of joint rows in the last step, by their slots.
    pub last: &'a [f64],
}

impl Now<'_> {
    /// Whether a block is a contact of limbs that move as they are told, of robots that do not.
    fn is_led(&self, block: usize) -> bool {
        let seats = self.touch_of(block).into_iter().flat_map(|touch| touch.seats);
        seats.flatten().any(|seat| self.numbering.has_led_limbs(seat))
    }

    /// Of a block that is a contact.
    pub fn touch_of(&self, block: usize) -> Option<&Touch> {
        match self.held.owners[block] {
            Owner::Contact { touch, .. } => Some(&self.touches[touch]),
            Owner::Columns { .. } | Owner::Links(_) | Owner::Rub { .. } => None,
        }
    }
}

/// Solves a share of the islands.
#[derive(Default)]
pub(super) struct Solver {
    /// Which ones.
    pub share: Range<usize>,
    /// Of its islands one after the other, row by row: what holds, besides what bounces.
    pub impulses: Vec<f64>,
    pub bounces: Vec<f64>,
    /// Impulses that only move what overlaps.
    pub pushes: Vec<f64>,
    /// Sweeps over contacts that hold, since the start.
    pub n_sweeps: u64,
    /// Islands for which no answer was found, and how far off they are left \[m/s\].
    pub unanswered: Vec<(usize, f64)>,
    work: Work,
}

/// One island: scratch.
#[derive(Default)]
pub(super) struct Work {
    scratch: Scratch,
    pub assembly: Assembly,
    pub free: Vec<f64>,
    pub impulses: Vec<f64>,
    pub bounces: Vec<f64>,
    before: Vec<f64>,
    pub contacts: Vec<Contact>,
    /// Where patches stand for their points: the blocks, and which patches; what the points do.
    pub chosen: Vec<usize>,
    pub patches: Vec<usize>,
    /// Per contact.
    pub roles: Vec<Role>,
    pub pushed: Pushed,
    pub shared_out: Vec<f64>,
    pub points: Vec<Point>,
    pub presses: Presses,
    /// None where nobody was told to close anything.
    pub strengths: Vec<Strength>,
    pub rows: Vec<Row>,
    pub attainable: Attainable,
    /// What is pushed apart: normals, then single rows.
    pushing: Vec<Row>,
    normals: Vec<f64>,
    pushes: Vec<f64>,
}

/// Speeds are right to this \[m/s\]: a thing at rest creeps less than a tenth of a millimetre an
/// hour.
pub(super) const HOLDING: Tuning =
    Tuning { tolerance: 1e-8, leniency: 1.0, n_sweeps_max: 200, n_newton_max: 300 };

/// Of robots whose limbs move as they are told: two soles that are told to stand still on the ground
/// do so but for what their joints lag, and no impulses make them. A player at `com` took 230 µs in
/// every third step to find that out. What touches such a robot may creep by up to 10 µm/s for it.
const HOLDING_LED: Tuning = Tuning { leniency: 1e3, ..HOLDING };

/// From here on what is off is seen \[m/s\]. Heaps that are jammed end at 1e-5, a gram under a
/// hundred tons at 1.
const UNANSWERED: f64 = 1e-2;

/// Displacements: what is left undone is there to be done in the next step.
const PUSHING: Tuning =
    Tuning { tolerance: 1e-5, leniency: 1.0, n_sweeps_max: 50, n_newton_max: 0 };

/// The same of few, for which Newton's method costs little.
const PUSHING_FEW: Tuning =
    Tuning { tolerance: 1e-6, leniency: 1.0, n_sweeps_max: 100, n_newton_max: N_FEW };

/// How many contacts and single rows are few.
pub(super) const N_FEW: usize = 40;

/// Share of a depth that is made good per step.
const MENDING: f64 = 0.2;

/// Depth that is left alone \[m\]: without it a settled stack would be pushed for ever.
pub(super) const SLACK: f64 = 1e-5;

/// The fastest anything is pushed out \[m/s\].
const MENDING_SPEED: f64 = 1.0;

/// Share of what its point answers, along the normal and across it, that an overlap gives in. What
/// is stuck between two things that do not move overlaps on both sides, no displacement mends both,
/// and it stays in between. And what cannot move along the normal, such as a cart on rails that is
/// sunk into a bench, is not sent along the rails for what rounding leaves there.
const PUSH_GIVE: f64 = 1e-3;

/// What answers an impulse by no more than this \[1/kg\] does not move: a hundredth of what the Moon
/// does.
const IDLE: f64 = 1e-25;

/// Nor does what answers by no more than this share of the most that anything of its island does: an
/// arm of a tenth of a nanometre beside one of a metre.
const IDLE_SHARE: f64 = 1e-20;

/// Share of its own response that a row between links gives in.
const GIVE: f64 = 1e-7;

impl Solver {
    /// Solves the share it was given.
    pub fn solve(&mut self, now: &Now<'_>) {
        self.impulses.clear();
        self.bounces.clear();
        self.pushes.clear();
        self.unanswered.clear();
        for island in self.share.clone() {
            let (chosen, work) = (now.islands.blocks(island), &mut self.work);
            let by_patches = work.hold_by_patches(now, chosen);
            if !by_patches {
                work.gather(now, chosen);
                work.bounce(now, chosen);
                work.forget_if_struck(now);
                let is_new = work.impulses.iter().all(|impulse| *impulse == 0.0);
                let is_led = chosen.iter().any(|block| now.is_led(*block));
                let found = work.find_impulses(if is_led { &HOLDING_LED } else { &HOLDING });
                // Whoever left the finite is told of elsewhere.
                if found.residual > UNANSWERED && found.residual.is_finite() {
                    self.unanswered.push((island, found.residual));
                }
                self.n_sweeps += work.ease(now, chosen, found, is_new).n_sweeps as u64;
            }
            // Whoever left the finite is held for it; those it touches must not follow.
            if !work.impulses.iter().chain(&work.bounces).all(|impulse| impulse.is_finite()) {
                work.impulses.fill(0.0);
                work.bounces.fill(0.0);
            }
            self.impulses.extend_from_slice(&work.impulses);
            self.bounces.extend_from_slice(&work.bounces);
            if by_patches {
                work.impulses.fill(0.0);
            } else {
                work.push_apart(now, chosen);
            }
            self.pushes.extend_from_slice(&work.impulses);
        }
    }
}

impl Work {
    /// Impulses of what was gathered.
    pub fn find_impulses(&mut self, tuning: &Tuning) -> Outcome {
        let (problem, strengths, impulses, scratch) = self.posed();
        hard::solve_within(&problem, strengths, impulses, tuning, scratch)
    }

    /// What was gathered as the solver wants it.
    pub fn posed(&mut self) -> (Problem<'_>, &[Strength], &mut [f64], &mut Scratch) {
        let problem = Problem {
            delassus: &self.assembly.delassus,
            free: &self.free,
            contacts: &self.contacts,
            rows: &self.rows,
        };
        (problem, &self.strengths, &mut self.impulses, &mut self.scratch)
    }

    /// The problem of an island, and where to begin to look.
    pub fn gather(&mut self, now: &Now<'_>, chosen: &[usize]) {
        let held = now.held;
        held.blocks.delassus(chosen, &mut self.assembly);
        self.leave_idle(held, chosen);
        self.soften(held, chosen);
        self.contacts.clear();
        self.strengths.clear();
        self.rows.clear();
        self.free.clear();
        self.impulses.clear();
        // Contacts were opened before single rows, which is the order the solver wants.
        for &block in chosen {
            let n_rows = held.blocks.blocks[block].n_rows;
            self.free.extend_from_slice(&held.blocks.blocks[block].free[..n_rows]);
            let Some(owner) = held.owners.get(block) else {
                self.rows.extend(held.patch_rows(block));
                self.impulses.extend([0.0; 3]);
                continue;
            };
            match owner {
                Owner::Contact { touch, .. } => {
                    self.contacts.push(held.contacts[block]);
                    self.strengths.push(held.strengths[block]);
                    self.impulses.extend(now.touches[*touch].impulse);
                }
                Owner::Columns { slot, .. } => {
                    self.rows.push(held.singles[block]);
                    self.impulses.push(now.last[*slot]);
                }
                Owner::Links(_) | Owner::Rub { .. } => {
                    self.rows.push(held.singles[block]);
                    self.impulses.push(0.0);
                }
            }
        }
        if self.strengths.iter().all(|strength| *strength == Strength::ENDLESS) {
            self.strengths.clear();
        }
        self.ask_loops_for_what_can_be(held, chosen);
    }

    /// Contacts that no impulse opens or closes, such as one whose normal goes through the hinge that
    /// carries it, are left alone: rounding would say which way to move, and how far.
    fn leave_idle(&mut self, held: &Held, chosen: &[usize]) {
        let n: usize = chosen.iter().map(|block| held.blocks.blocks[*block].n_rows).sum();
        let most = (0..n).map(|i| self.assembly.delassus[i * n + i]).fold(0.0, f64::max);
        let n_contacts = chosen.iter().filter(|block| !held.is_single(**block)).count();
        for row in (0..3 * n_contacts).step_by(3) {
            let own = &mut self.assembly.delassus[row * n + row];
            if *own <= IDLE.max(IDLE_SHARE * most) {
                *own = 0.0;
            }
        }
    }

    /// Rows between links may depend on each other: a planar loop is held across its plane at
    /// each of its joints. A little give makes the share of each unique. Contacts do too, four
    /// corners of a foot are twelve rows on six directions, but giving in there would sink a gram
    /// under a ton.
    fn soften(&mut self, held: &Held, chosen: &[usize]) {
        let n: usize = chosen.iter().map(|block| held.blocks.blocks[*block].n_rows).sum();
        let mut at = 0;
        for &block in chosen {
            match held.owners.get(block) {
                Some(Owner::Links(_)) => self.assembly.delassus[at * n + at] *= 1.0 + GIVE,
                Some(Owner::Rub { give, .. } | Owner::Columns { give, .. }) => {
                    self.assembly.delassus[at * n + at] += give;
                }
                Some(Owner::Contact { .. }) | None => {}
            }
            at += held.blocks.blocks[block].n_rows;
        }
    }

    /// What strikes bounces first; what that changes is where the solver begins.
    ///
    /// Velocities that lag are of half a step before it begins, and whoever is not stopped goes half
    /// of it as before. What forces change in that half comes before the hit, or a ball would lose
    /// `g·v·dt` in each bounce.
    fn bounce(&mut self, now: &Now<'_>, chosen: &[usize]) {
        self.bounces.clear();
        self.bounces.resize(self.free.len(), 0.0);
        if !self.contacts.iter().any(|c| c.restitution > 0.0 && c.is_touching) {
            return;
        }
        self.before.clear();
        for &block in chosen {
            match &now.held.owners[block] {
                Owner::Contact { touch, tangents, stops, lags } => {
                    let touch = &now.touches[*touch];
                    let at = touch.point.position;
                    let v = velocity_at(now.state, touch.rigids[1], at)
                        - velocity_at(now.state, touch.rigids[0], at);
                    let directions = [touch.point.normal, tangents[0], tangents[1]];
                    let before = directions.map(|direction| v.dot(direction));
                    // What only presses does not hit.
                    let hits = before[0] < -now.rest_speed;
                    let later = if hits && (*lags || !stops) { 0.5 } else { 0.0 };
                    let free = &now.held.blocks.blocks[block].free;
                    self.before
                        .extend([0, 1, 2].map(|k| before[k] + later * (free[k] - before[k])));
                }
                Owner::Columns { .. } | Owner::Links(_) | Owner::Rub { .. } => {
                    self.before.push(0.0)
                }
            }
        }
        let problem = Problem {
            delassus: &self.assembly.delassus,
            free: &self.before,
            contacts: &self.contacts,
            rows: &self.rows,
        };
        let (bounces, scratch) = (&mut self.bounces, &mut self.scratch);
        let answered = hard::impact(&problem, now.rest_speed, bounces, &HOLDING, scratch);
        if answered.n_answered > 0 {
            let n = self.free.len();
            for (i, free) in self.free.iter_mut().enumerate() {
                let row = &self.assembly.delassus[i * n..(i + 1) * n];
                *free += row.iter().zip(&self.bounces).map(|(w, b)| w * b).sum::<f64>();
            }
            // What was struck and closes a gap now hits when it is closed, and is not slowed down
            // before: a row of balls with a hair between them hands the push on all the same.
            let after = self.scratch.velocities().iter().step_by(3);
            for (contact, speed) in self.contacts.iter_mut().zip(after) {
                let bounces = contact.restitution > 0.0 && *speed < -now.rest_speed;
                if bounces && !contact.is_touching && contact.target <= 0.0 {
                    contact.target = f64::NEG_INFINITY;
                }
            }
            // What a bounce took along is not what the contact needs besides.
            self.impulses.fill(0.0);
        }
    }

    /// What held a crowd that is struck tells nothing of what will: it is solved as if new, and then
    /// no order of its contacts chooses among answers. Few are found from where they were.
    fn forget_if_struck(&mut self, now: &Now<'_>) {
        let normals = self.free.iter().step_by(3);
        let closes = |(contact, speed): (&Contact, &f64)| *speed < contact.target - now.rest_speed;
        if self.contacts.len() > N_FEW && self.contacts.iter().zip(normals).any(closes) {
            self.impulses.fill(0.0);
        }
    }

    /// A second, frictionless problem for what overlaps: displacements without speed.
    fn push_apart(&mut self, now: &Now<'_>, chosen: &[usize]) {
        let mut any = false;
        for (i, (contact, block)) in self.contacts.iter_mut().zip(chosen).enumerate() {
            let Some(touch) = now.touch_of(*block) else { continue };
            let depth = touch.point.depth;
            (contact.mu, contact.mu2) = (0.0, 0.0);
            // Who is too weak to push steps back, and pushes nothing out of its way.
            contact.target = if now.held.is_overcome(*block, self.impulses[3 * i]) {
                f64::NEG_INFINITY
            } else if depth > SLACK {
                any = true;
                correction_speed(depth, SLACK, MENDING, MENDING_SPEED, now.dt)
            } else {
                // Others may be pushed closer, but not into each other.
                (depth / now.dt).min(0.0)
            };
        }
        self.impulses.fill(0.0);
        if !any {
            return;
        }
        self.rows.iter_mut().for_each(|row| row.target = 0.0);
        self.free.fill(0.0);
        let n = self.free.len();
        for row in (0..3 * self.contacts.len()).step_by(3) {
            let own = |k: usize| self.assembly.delassus[(row + k) * n + row + k];
            self.assembly.delassus[row * n + row] += PUSH_GIVE * (own(0) + own(1) + own(2));
        }
        if self.contacts.len() + self.rows.len() <= N_FEW {
            return self.push_few();
        }
        let (problem, _, impulses, scratch) = self.posed();
        hard::solve(&problem, impulses, &PUSHING, scratch);
    }

    /// Without friction a contact is one row: a third of the numbers.
    fn push_few(&mut self) {
        let (n, n_contacts) = (self.free.len(), self.contacts.len());
        self.pushing.clear();
        self.pushing.extend(self.contacts.iter().map(|contact| Row::limit(contact.target)));
        self.pushing.extend_from_slice(&self.rows);
        let place = |i: usize| if i < n_contacts { 3 * i } else { 2 * n_contacts + i };
        let n_pushing = self.pushing.len();
        self.normals.clear();
        for i in 0..n_pushing {
            let row = &self.assembly.delassus[place(i) * n..(place(i) + 1) * n];
            self.normals.extend((0..n_pushing).map(|j| row[place(j)]));
        }
        self.pushes.clear();
        self.pushes.resize(n_pushing, 0.0);
        let problem = Problem {
            delassus: &self.normals,
            free: &self.free[..n_pushing],
            contacts: &[],
            rows: &self.pushing,
        };
        hard::solve(&problem, &mut self.pushes, &PUSHING_FEW, &mut self.scratch);
        self.pushes.iter().enumerate().for_each(|(i, push)| self.impulses[place(i)] = *push);
    }
}
