//! Which patches hold: a choice, what comes of it, and a better one.
//!
//! ```text
//! what held in the last step ─► choice ─ solve ─► shared out over points ─► idle points asked
//!                                 ▲                    │ cannot hold             │ close
//!                                 └── left out ◄───────┴──────── taken in ◄──────┘
//! ```
//!
//! Points that did nothing in the last step are left out of the problem: of bricks that touch on all
//! sides most do nothing. What comes out is the answer if none of them closes. If one does, its patch
//! is taken in and all is solved again; where no choice is right, the whole problem is solved, point
//! by point.

use headland_base::Vec3;
use headland_sim::contact::hard::{Strength, Tuning};

use super::patches::{Parts, Patch, Point, share_out};
use super::rows::Owner;
use super::solving::{HOLDING, Now, SLACK, Work};

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
pub(super) enum Role {
    /// Its patch does.
    Holds,
    /// Nothing, until it closes.
    Idle,
    /// Nothing: its patch cannot hold.
    LeftOut,
}

/// As [`HOLDING`], where there is another way if the first guess is wrong. Rows of patches are few beside
/// those of their points, and most of a pile's are nothing to each other: of a pyramid of 55 boxes
/// that stands free, 600 rows, a step takes a third of what sweeps over all points take. With twice
/// as many the matrix takes 11 MB.
const HOLDING_AT_ONCE: Tuning = Tuning { n_sweeps_max: 0, n_newton_max: 1_200, ..HOLDING };

/// So often a choice of patches is mended: a pile is found layer by layer when it is new.
const N_TRIES: usize = 32;

/// Share of the largest normal impulse of an island up to which a point did nothing.
const IDLE: f64 = 1e-7;

impl Work {
    /// The impulses of an island in which some points held together, with the patches in place of
    /// these; `false` where that is no answer.
    pub fn hold_by_patches(&mut self, now: &Now<'_>, chosen: &[usize]) -> bool {
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
            let n_rows = |block: &usize| now.held.blocks.blocks[*block].n_rows;
            if self.chosen.iter().map(n_rows).sum::<usize>() > HOLDING_AT_ONCE.n_newton_max {
                return false;
            }
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
        self.pushed.clear();
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
}
