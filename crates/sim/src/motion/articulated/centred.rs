//! Forces of motion, centrifugal and such, as of the middle of what a step does.
//!
//! The step takes them as of its beginning. For what turns far in it that is not good enough: a top
//! gains and linkages lose to first order in the step, and a robot that is struck goes on for a
//! step at its new speeds without the forces that go with them, so that a chain that bounces at
//! 100 rad/s gained half of its energy in a millisecond.
//!
//! Deliberately absent: what turns little. There it changes next to nothing, for three more passes
//! over all links.

use crate::tree::{Lane, NodeKind, Tree, V3, V6, bias_forces, move_bodies, solve};

use super::{Articulated, Work, free_drift};

/// Turns in a step from which on it is done \[rad\]. A player's joints turn by 0.007 in a millisecond
/// at most.
const CENTRED_FROM: f64 = 0.02;

/// How often the middle is looked for anew, as the change depends on it. Each look is off by the one
/// before times the turn of half a step.
const N_LOOKS: usize = 3;

/// The last look agrees with the one before if the square of their difference, in rad/s and m/s
/// alike, is no more than this share of the first change's. Where it does not, as of links that turn
/// by a radian and not about their own axis, nothing is changed: with a change all the same, 22 links
/// of 40 chains of hinges that fell by 3 m in steps of 4 ms left the finite, without it none.
const AGREED: f64 = 0.1;

/// Scratch.
pub(super) struct Centring<L> {
    /// Columns that turn.
    turning: Vec<usize>,
    /// Which lanes are centred.
    is_marked: Vec<bool>,
    /// The middle as it would be without a change, and the change.
    middle: Vec<L>,
    change: Vec<L>,
    /// The share of the step that the forces act in.
    share: L,
}

impl<L: Lane> Centring<L> {
    pub fn new(tree: &Tree) -> Centring<L> {
        let turns = |k: &usize| {
            let node = &tree.nodes[tree.column_nodes[*k]];
            match node.kind {
                NodeKind::Free => k - node.first_dof < 3,
                NodeKind::Turn | NodeKind::Ball | NodeKind::Screw { .. } => true,
                NodeKind::Slide => false,
            }
        };
        Centring {
            turning: (0..tree.n_dofs).filter(turns).collect(),
            is_marked: vec![false; L::WIDTH],
            middle: vec![L::ZERO; tree.n_dofs],
            change: vec![L::ZERO; tree.n_dofs],
            share: L::ZERO,
        }
    }
}

impl<L: Lane> Articulated<L> {
    /// Changes the velocities of the end by what the forces of motion are in the middle, where
    /// robots have loops or turn far. What this changes is of second order, but where something was
    /// struck, so what is held stays held.
    #[inline(always)]
    pub(super) fn centre_bias(&mut self, dt: f64) {
        self.mark_far(dt);
        if self.work.centring.is_marked.contains(&true) {
            self.find_middle(dt);
            self.find_change();
            let Work { centring, next, .. } = &mut self.work;
            for (next, change) in next.iter_mut().zip(&centring.change) {
                for lane in (0..L::WIDTH).filter(|lane| centring.is_marked[*lane]) {
                    next.set(lane, next.get(lane) + change.get(lane));
                }
            }
        }
    }

    /// Integrators of several stages need it where something is struck; what is struck is all they
    /// do not know.
    #[inline(always)]
    fn mark_far(&mut self, dt: f64) {
        let Work { centring, next, staging, is_struck, .. } = &mut self.work;
        let has_loops = !self.tree.loops.is_empty();
        let mut fastest = L::ZERO;
        for k in &centring.turning {
            let (now, then) = (self.velocities[*k], next[*k]);
            for lane in 0..L::WIDTH {
                let speed = now.get(lane).abs().max(then.get(lane).abs());
                fastest.set(lane, fastest.get(lane).max(speed));
            }
        }
        // Nobody asks for the lanes beyond.
        for ((lane, robot), is_marked) in
            self.robots.iter().enumerate().zip(&mut centring.is_marked)
        {
            let is_far = fastest.get(lane) * dt > CENTRED_FROM;
            let is_new = is_struck[lane] || !staging.is_staged;
            *is_marked = !robot.is_lost && (has_loops || is_far && is_new);
        }
    }

    /// The middle of what goes on at the speeds of the end, or of those after a blow; and for how
    /// long.
    #[inline(always)]
    fn find_middle(&mut self, dt: f64) {
        let (half, has_loops) = (L::of(0.5), !self.tree.loops.is_empty());
        let Work { centring, next, gained, staging, is_struck, is_stopped, is_kicked, .. } =
            &mut self.work;
        centring.share = L::of(dt);
        if staging.is_staged {
            // A blow comes half way, but for whoever it stops.
            centring.middle.copy_from_slice(next);
            for lane in (0..L::WIDTH).filter(|lane| !is_stopped[*lane]) {
                centring.share.set(lane, 0.5 * dt);
            }
            return;
        }
        let both = self.velocities.iter().zip(&*next);
        for (k, (middle, (v, next))) in centring.middle.iter_mut().zip(both).enumerate() {
            *middle = half * (*v + *next);
            // What holds a loop is a kick, too, and no blow.
            let is_struck = |lane: &usize| is_struck[*lane] && is_kicked[*lane] && !has_loops;
            for lane in (0..L::WIDTH).filter(is_struck) {
                middle.set(lane, middle.get(lane) + 0.5 * gained[k].get(lane));
            }
        }
    }

    #[inline(always)]
    fn find_change(&mut self) {
        let (tree, weightless, half) = (&self.tree, V3::ZERO, L::of(0.5));
        let (anchor_motion, work) = (self.work.anchor_motion, &mut self.work);
        let Work { bodies, motions, factor, forces, pushes, gained, centring, .. } = work;
        let Work { staging, column_kicks, .. } = work;
        let begun = if staging.is_staged { &staging.ended.1 } else { &self.velocities };
        if staging.is_staged {
            move_bodies(tree, bodies, anchor_motion, begun, motions);
        }
        let before = free_drift(tree, begun);
        bias_forces(tree, bodies, motions, weightless, pushes);
        centring.change.fill(L::ZERO);
        let n_looks = if tree.loops.is_empty() { N_LOOKS } else { 1 };
        let mut first = L::ZERO;
        for look in 0..n_looks {
            let Centring { middle, change, share, is_marked, .. } = centring;
            for ((at, middle), change) in gained.iter_mut().zip(&*middle).zip(&*change) {
                *at = *middle + half * *change;
            }
            let after = free_drift(tree, gained);
            move_bodies(tree, bodies, anchor_motion, gained, motions);
            bias_forces(tree, bodies, motions, weightless, forces);
            forces.iter_mut().zip(&*pushes).for_each(|(force, push)| *force = *force - *push);
            // The kicks were taken: no efforts are left in there.
            solve(tree, bodies, factor, column_kicks, forces, gained);
            if let (Some(before), Some(after)) = (before, after) {
                let drift = after - before;
                gained[3] += drift.x;
                gained[4] += drift.y;
                gained[5] += drift.z;
            }
            let mut differs = L::ZERO;
            for (change, gained) in change.iter_mut().zip(&*gained) {
                let (now, before) = (*share * *gained, *change);
                differs += (now - before) * (now - before);
                *change = now;
            }
            if look == 0 {
                first = differs;
            } else if look + 1 == n_looks {
                for (lane, is_marked) in is_marked.iter_mut().enumerate() {
                    *is_marked &= differs.get(lane) <= AGREED * first.get(lane);
                }
            }
        }
        pushes.fill(V6::ZERO);
    }
}
