//! The impulses of some islands: what bounces, what holds, what pushes apart.
//!
//! A solver takes its share of the islands and writes only to itself, so that several can work
//! at once. Each island is a problem of its own and comes out the same whoever solves it.

use std::ops::Range;

use headland_base::Vec3;
use headland_sim::State;
use headland_sim::constraint::{Assembly, Pushed};
use headland_sim::contact::hard::{
    self, Contact, Outcome, Problem, Row, Scratch, Strength, Tuning, correction_speed,
};

use super::contacts::{Touch, velocity_at};
use super::islands::Islands;
use super::patches::{Parts, Patch, Point, share_out};
use super::rows::{Held, Owner};

/// What came of a choice of patches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tried {
    /// An answer.
    Right,
    /// Another choice, to be solved.
    Again,
    /// Nothing.
    Wrong,
}

/// What a contact is taken to do in a choice of patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Its patch does.
    Holds,
    /// Nothing, until it closes.
    Idle,
    /// Nothing: its patch cannot hold.
    LeftOut,
}

/// What there is to solve.
pub(super) struct Now<'a> {
    pub held: &'a Held,
    pub islands: &'a Islands,
    pub n_robots: usize,
    pub dt: f64,
    /// Speeds up to which nothing bounces \[m/s\].
    pub rest_speed: f64,
    /// At the beginning of the step.
    pub state: &'a State,
    pub touches: &'a [Touch],
    /// Impulses of joint rows in the last step, by their slots.
    pub last: &'a [f64],
}

impl Now<'_> {
    /// Of a block that is a contact.
    fn touch_of(&self, block: usize) -> Option<&Touch> {
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
    work: Work,
}

/// One island: scratch.
#[derive(Default)]
struct Work {
    scratch: Scratch,
    assembly: Assembly,
    free: Vec<f64>,
    impulses: Vec<f64>,
    bounces: Vec<f64>,
    before: Vec<f64>,
    contacts: Vec<Contact>,
    /// Where patches stand for their points: the blocks, and which patches; what the points do.
    chosen: Vec<usize>,
    patches: Vec<usize>,
    /// Per contact.
    roles: Vec<Role>,
    pushed: Pushed,
    shared_out: Vec<f64>,
    points: Vec<Point>,
    /// None where nobody was told to close anything.
    strengths: Vec<Strength>,
    rows: Vec<Row>,
    /// What is pushed apart: normals, then single rows.
    pushing: Vec<Row>,
    normals: Vec<f64>,
    pushes: Vec<f64>,
}

/// Speeds are right to this \[m/s\]: a thing at rest creeps less than a tenth of a millimetre an
/// hour.
const HOLDING: Tuning = Tuning { tolerance: 1e-8, n_sweeps_max: 200, n_newton_max: 300 };

/// The same, where there is another way if the first guess is wrong. Rows of patches are few beside
/// those of their points, and most of a pile's are nothing to each other: of a pyramid of 55 boxes
/// that stands free, 600 rows, a step takes a third of what sweeps over all points take. With twice
/// as many the matrix takes 11 MB.
const HOLDING_AT_ONCE: Tuning = Tuning { n_sweeps_max: 0, n_newton_max: 1_200, ..HOLDING };

/// So often a choice of patches is mended: a pile is found layer by layer when it is new.
const N_TRIES: usize = 32;

/// Share of the largest normal impulse of an island up to which a point did nothing.
const IDLE: f64 = 1e-7;

/// Displacements: what is left undone is there to be done in the next step.
const PUSHING: Tuning = Tuning { tolerance: 1e-5, n_sweeps_max: 50, n_newton_max: 0 };

/// The same of few, for which Newton's method costs little.
const PUSHING_FEW: Tuning = Tuning { tolerance: 1e-6, n_sweeps_max: 100, n_newton_max: N_FEW };

/// How many contacts and single rows are few.
const N_FEW: usize = 40;

/// Share of a depth that is made good per step.
const MENDING: f64 = 0.2;

/// Depth that is left alone \[m\]: without it a settled stack would be pushed for ever.
const SLACK: f64 = 1e-5;

/// The fastest anything is pushed out \[m/s\].
const MENDING_SPEED: f64 = 1.0;

/// Share of its own response that an overlap gives in: what is stuck between two things that do
/// not move overlaps on both sides, no displacement mends both, and it stays in between.
const PUSH_GIVE: f64 = 1e-3;

/// Share of its own response that a row between links gives in.
const GIVE: f64 = 1e-7;

impl Solver {
    /// Solves the share it was given.
    pub fn solve(&mut self, now: &Now<'_>) {
        self.impulses.clear();
        self.bounces.clear();
        self.pushes.clear();
        for island in self.share.clone() {
            let (chosen, work) = (now.islands.blocks(island), &mut self.work);
            let by_patches = work.hold_by_patches(now, chosen);
            if !by_patches {
                work.gather(now, chosen);
                work.bounce(now, chosen);
                self.n_sweeps += work.find_impulses(&HOLDING).n_sweeps as u64;
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
    fn find_impulses(&mut self, tuning: &Tuning) -> Outcome {
        let problem = Problem {
            delassus: &self.assembly.delassus,
            free: &self.free,
            contacts: &self.contacts,
            rows: &self.rows,
        };
        let (impulses, scratch) = (&mut self.impulses, &mut self.scratch);
        hard::solve_within(&problem, &self.strengths, impulses, tuning, scratch)
    }

    /// The impulses of an island in which some points held together, with the patches in place of
    /// these; `false` where that is no answer.
    fn hold_by_patches(&mut self, now: &Now<'_>, chosen: &[usize]) -> bool {
        // A new pile stands as a whole, unless its things also touch side by side.
        let Some(n_new) = self.choose_patches(now, chosen, true) else { return false };
        if n_new > 0 && self.find_choice(now, chosen, 1) {
            return true;
        }
        let is_chosen = n_new == 0 || self.choose_patches(now, chosen, false).is_some();
        is_chosen && self.find_choice(now, chosen, N_TRIES)
    }

    /// Solves for the patches that are chosen. Those that cannot hold are left out, those whose
    /// points close are taken in, and what there is then is solved again.
    fn find_choice(&mut self, now: &Now<'_>, chosen: &[usize], n_tries: usize) -> bool {
        for _ in 0..n_tries {
            self.chosen.clear();
            self.chosen.extend(chosen.iter().filter(|block| now.held.is_single(**block)));
            let blocks = self.patches.iter().map(|patch| now.held.patches[*patch].block);
            self.chosen.extend(blocks.flat_map(|block| [block, block + 1]));
            let chosen_here = std::mem::take(&mut self.chosen);
            self.gather(now, &chosen_here);
            self.chosen = chosen_here;
            if self.find_impulses(&HOLDING_AT_ONCE).residual > HOLDING.tolerance {
                return false;
            }
            let mut tried = self.share_out(now, chosen);
            if tried == Tried::Right {
                tried = self.take_in(now, chosen);
            }
            match tried {
                Tried::Right => return true,
                Tried::Again => {}
                Tried::Wrong => return false,
            }
        }
        false
    }

    /// Which patches stand for their points, and which points are idle: those that did nothing in
    /// the last step, and new ones that nothing closes, but for those of patches where these are to
    /// hold. How many of such patches there are; none where there is no patch at all, or more to be
    /// done than to hold.
    fn choose_patches(
        &mut self,
        now: &Now<'_>,
        chosen: &[usize],
        new_ones_hold: bool,
    ) -> Option<usize> {
        let held = now.held;
        self.patches.clear();
        self.roles.resize(held.contacts.len(), Role::Holds);
        let most = chosen.iter().filter_map(|block| Some(now.touch_of(*block)?.impulse[0]));
        let little = IDLE * most.fold(0.0, f64::max);
        let is_plain = |block: usize| {
            let contact = &held.contacts[block];
            contact.restitution == 0.0 && held.strengths[block] == Strength::ENDLESS
        };
        let did_nothing = |block: usize| {
            let touch = now.touch_of(block);
            touch.is_some_and(|touch| touch.is_known && touch.impulse[0] <= little)
        };
        let is_new = |block: usize| {
            let stays = held.contacts[block].target - HOLDING.tolerance;
            now.touch_of(block).is_some_and(|touch| !touch.is_known)
                && held.blocks.blocks[block].free[0] >= stays
        };
        let is_idle = |block: usize| is_plain(block) && (did_nothing(block) || is_new(block));
        let mut n_new = 0;
        for &block in chosen {
            let Some(touch) = now.touch_of(block) else { continue };
            // What overlaps is pushed apart, point by point.
            if touch.point.depth > SLACK {
                return None;
            }
            let Some(idx) = held.patch_of[block] else {
                if !is_idle(block) {
                    return None;
                }
                self.roles[block] = Role::Idle;
                continue;
            };
            let Patch { first, n, .. } = held.patches[idx];
            if first != block {
                self.roles[block] = self.roles[first];
                continue;
            }
            let mut points = first..first + n;
            let is_idle = points.clone().all(is_idle);
            let is_new = is_idle && points.any(is_new);
            n_new += usize::from(is_new);
            self.roles[block] = match is_idle && !(is_new && new_ones_hold) {
                true => Role::Idle,
                false => {
                    self.patches.push(idx);
                    Role::Holds
                }
            };
        }
        (!self.patches.is_empty()).then_some(n_new)
    }

    /// Asks those who were taken to do nothing whether they close: then their patch has to hold.
    fn take_in(&mut self, now: &Now<'_>, chosen: &[usize]) -> Tried {
        let held = now.held;
        let contacts = || chosen.iter().copied().filter(|block| !held.is_single(*block));
        if contacts().all(|block| self.roles[block] == Role::Holds) {
            return Tried::Right;
        }
        self.pushed.clear(now.n_robots);
        let mut at = 0;
        for &block in chosen {
            let n_rows = held.blocks.blocks[block].n_rows;
            self.pushed.add(&held.blocks, block, &self.impulses[at..at + n_rows]);
            at += n_rows;
        }
        let (n_before, mut has_others) = (self.patches.len(), false);
        for block in contacts() {
            let speed = held.blocks.first_row_after(block, &self.pushed);
            let closes = speed < held.contacts[block].target - HOLDING.tolerance;
            if !closes || self.roles[block] == Role::Holds {
                continue;
            }
            match held.patch_of[block].filter(|_| self.roles[block] == Role::Idle) {
                Some(idx) => {
                    let Patch { first, n, .. } = held.patches[idx];
                    self.roles[first..first + n].fill(Role::Holds);
                    self.patches.push(idx);
                }
                // An edge, or what cannot hold: a patch beside it may stop it.
                None => has_others = true,
            }
        }
        self.patches.sort_unstable();
        match self.patches.len() > n_before {
            true => Tried::Again,
            false if has_others => Tried::Wrong,
            false => Tried::Right,
        }
    }

    /// What the points of patches have of it, and everything in the order of the blocks. A patch
    /// whose points cannot have it, and that did nothing before or would pull, is left out.
    fn share_out(&mut self, now: &Now<'_>, chosen: &[usize]) -> Tried {
        let held = now.held;
        self.shared_out.clear();
        let (mut at, mut at_patch) = (0, self.impulses.len() - 6 * self.patches.len());
        let mut is_without = false;
        for &block in chosen {
            let n_rows = held.blocks.blocks[block].n_rows;
            if held.is_single(block) {
                self.shared_out.extend_from_slice(&self.impulses[at..at + n_rows]);
                at += n_rows;
                continue;
            }
            if self.roles[block] != Role::Holds {
                self.shared_out.extend([0.0; 3]);
                continue;
            }
            let patch = &held.patches[held.patch_of[block].expect("chosen for its patch")];
            if patch.first != block {
                continue;
            }
            let part = |first: usize| Vec3::from_slice(&self.impulses[first..first + 3]);
            let (force, moment) = (part(at_patch), part(at_patch + 3));
            at_patch += 6;
            self.points.clear();
            self.points.extend((patch.first..patch.first + patch.n).map(|block| {
                let Owner::Contact { touch, tangents, .. } = held.owners[block] else {
                    unreachable!("patches are of contacts")
                };
                let (point, contact) = (&now.touches[touch].point, &held.contacts[block]);
                Point {
                    position: point.position,
                    directions: [point.normal, tangents[0], tangents[1]],
                    mu: contact.mu,
                    is_part: patch.parts.has(&now.touches[touch], contact),
                    impulse: None,
                }
            }));
            let moment = moment * patch.spread.radius;
            if !share_out(&patch.spread, force, moment, &mut self.points) {
                let pulls = force.dot(self.points[0].directions[0]) <= 0.0;
                if !pulls && patch.parts == Parts::Pressed {
                    return Tried::Wrong;
                }
                self.roles[block..block + patch.n].fill(Role::LeftOut);
                is_without = true;
            }
            self.shared_out.extend(self.points.iter().flat_map(|point| {
                let impulse = point.impulse.unwrap_or(Vec3::ZERO);
                point.directions.map(|direction| impulse.dot(direction))
            }));
        }
        if is_without {
            let roles = &self.roles;
            self.patches.retain(|patch| roles[held.patches[*patch].first] == Role::Holds);
            return if self.patches.is_empty() { Tried::Wrong } else { Tried::Again };
        }
        std::mem::swap(&mut self.impulses, &mut self.shared_out);
        self.bounces.clear();
        self.bounces.resize(self.impulses.len(), 0.0);
        Tried::Right
    }

    /// The problem of an island, and where to begin to look.
    fn gather(&mut self, now: &Now<'_>, chosen: &[usize]) {
        let held = now.held;
        held.blocks.delassus(chosen, &mut self.assembly);
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
                Some(Owner::Rub { give, .. }) => self.assembly.delassus[at * n + at] += give,
                Some(Owner::Contact { .. } | Owner::Columns { .. }) | None => {}
            }
            at += held.blocks.blocks[block].n_rows;
        }
    }

    /// What strikes bounces first, from the velocities of the step's beginning; what that
    /// changes is where the solver begins.
    fn bounce(&mut self, now: &Now<'_>, chosen: &[usize]) {
        self.bounces.clear();
        self.bounces.resize(self.free.len(), 0.0);
        if !self.contacts.iter().any(|c| c.restitution > 0.0 && c.is_touching) {
            return;
        }
        self.before.clear();
        for &block in chosen {
            match &now.held.owners[block] {
                Owner::Contact { touch, tangents, .. } => {
                    let touch = &now.touches[*touch];
                    let at = touch.point.position;
                    let v = velocity_at(now.state, touch.rigids[1], at)
                        - velocity_at(now.state, touch.rigids[0], at);
                    let directions = [touch.point.normal, tangents[0], tangents[1]];
                    self.before.extend(directions.map(|direction| v.dot(direction)));
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

    /// A second, frictionless problem for what overlaps: displacements without speed.
    fn push_apart(&mut self, now: &Now<'_>, chosen: &[usize]) {
        self.impulses.fill(0.0);
        let mut any = false;
        for (contact, block) in self.contacts.iter_mut().zip(chosen) {
            let Owner::Contact { touch, .. } = &now.held.owners[*block] else { continue };
            let depth = now.touches[*touch].point.depth;
            (contact.mu, contact.mu2) = (0.0, 0.0);
            contact.target = if depth > SLACK {
                any = true;
                correction_speed(depth, SLACK, MENDING, MENDING_SPEED, now.dt)
            } else {
                // Others may be pushed closer, but not into each other.
                (depth / now.dt).min(0.0)
            };
        }
        if !any {
            return;
        }
        self.rows.iter_mut().for_each(|row| row.target = 0.0);
        self.free.fill(0.0);
        if self.contacts.len() + self.rows.len() <= N_FEW {
            return self.push_few();
        }
        let problem = Problem {
            delassus: &self.assembly.delassus,
            free: &self.free,
            contacts: &self.contacts,
            rows: &self.rows,
        };
        hard::solve(&problem, &mut self.impulses, &PUSHING, &mut self.scratch);
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
            self.normals[i * n_pushing + i] *= 1.0 + PUSH_GIVE;
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
