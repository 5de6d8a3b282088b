//! Integrators that look several times in a step.

use headland_sim::motion::{DORMAND_PRINCE, Drive, Method, RK4};
use headland_sim::{DofState, Gains, Inputs, State};
use headland_world::ContactLaw;

use super::Built;
use super::contacts::{Contacts, Turn};
use super::lagging::Look;
use super::limited::copy;
use super::rows::Hand;

impl Built {
    /// One step of the adaptive integrator, in parts where it is long. The friction of the law
    /// `soft`, and whoever moves in a way of its own, go by steps and not by inner ones: over 20 ms
    /// and more a player on soft ground was thrown.
    pub(super) fn step_in_parts(&mut self, drive: &Drive<'_>, state: &mut State, tolerance: f64) {
        let (n_parts, dt) = parts_of(drive.dt, self.watch.time_of_a_radian());
        if self.law == ContactLaw::Hard || n_parts == 1 {
            return self.step_by_stages(drive, state, Some(tolerance));
        }
        let mut parts = std::mem::take(&mut self.parts);
        parts.begin(drive.inputs, &state.dofs);
        self.contacts.begin_parts();
        for _ in 0..n_parts {
            parts.follow(drive.inputs, &state.dofs);
            let part = Drive { inputs: &parts.inputs, dt, ..*drive };
            self.step_by_stages(&part, state, Some(tolerance));
            self.contacts.count_part(dt / drive.dt);
        }
        if !drive.inputs.skips_contacts {
            self.contacts.write(true, state);
        }
        self.parts = parts;
    }

    /// One step by a method of several stages; with a tolerance, as many inner steps as that
    /// asks for, the last of which ends where the step does.
    pub(super) fn step_by_stages(
        &mut self,
        drive: &Drive<'_>,
        state: &mut State,
        tolerance: Option<f64>,
    ) {
        let mut limited = std::mem::take(&mut self.limited);
        let drive =
            &Drive { inputs: limited.of(drive, state, |dof| self.rows.gives_way(dof)), ..*drive };
        let reach = if tolerance.is_some() { ADAPTIVE_REACH } else { RK4_REACH };
        self.packs.iter_mut().for_each(|pack| pack.begin(drive, reach));
        // What would hold everything if the forces stayed as they are is there in the stages, but
        // where something is struck.
        self.find_contacts(drive, state);
        if self.law == ContactLaw::Hard {
            let Contacts { touches, wandering, .. } = &mut self.contacts;
            wandering.follow(touches, drive, &self.packs, state);
        }
        // Who has no stages takes these for the whole step.
        let look = Look { step: drive.dt, share: 1.0, at_stages: Some(false) };
        self.push(drive, state, Some(look), Turn::Begin);
        self.crew.each(&mut self.packs, |pack| pack.accelerate(drive));
        self.hold(drive, state, Hand::Lean);
        self.contacts.begin_to_rub();
        match tolerance {
            None => {
                self.remember();
                self.run_stages(&RK4, drive, drive.dt, state);
                self.contacts.rub_in_inner_step(false);
            }
            Some(tolerance) => self.adapt(drive, state, tolerance),
        }
        // What kicks is seen from where the step began, as by the semi-implicit integrator; what
        // has a way of its own knows it since then.
        for pack in self.packs.iter_mut().filter(|pack| pack.has_stages()) {
            pack.settle(drive.dt);
            pack.write(state);
        }
        if self.law == ContactLaw::Hard {
            // They were looked for here, and nowhere else.
            self.contacts.know_all();
        } else {
            self.find_contacts(drive, state);
            self.push(drive, state, None, Turn::Look);
            self.contacts.rub_as_in_stages(&self.packs);
            self.contacts.pay(&mut self.packs, drive.dt);
        }
        self.hold(drive, state, Hand::Kick);
        self.carry_on(drive, state);
        self.limited = limited;
    }

    /// As many inner steps as a tolerance asks for, the last of which ends where the step does.
    fn adapt(&mut self, drive: &Drive<'_>, state: &mut State, tolerance: f64) {
        let short = drive.dt * SHORT;
        let short =
            self.watch.time_of_a_radian().map_or(short, |swing| short.min(SHORT_SWING * swing));
        let shortest = short * SHORTEST;
        let mut done = 0.0;
        // The inner step before, if it was too long.
        let mut refused = None;
        // Exactly the whole step, whatever the inner ones sum up to.
        while done < drive.dt {
            let rest = drive.dt - done;
            let is_last = self.inner.step * ROUNDING >= rest;
            let dt = if is_last { rest } else { self.inner.step };
            self.remember();
            self.run_stages(&DORMAND_PRINCE, drive, dt, state);
            self.see_errors(&DORMAND_PRINCE, dt);
            self.inner.n_tried += 1;
            let error = self.inner.worst();
            let is_exact = error <= tolerance;
            let slides = self.inner.allowed.iter().any(|allowed| *allowed > 0.0);
            if let Some(before) = refused.filter(|_| dt <= short * ROUNDING) {
                self.inner.see_corners([dt, before], short, tolerance);
            }
            let is_corner = !is_exact && dt <= short * ROUNDING && self.inner.is_corner(tolerance);
            let is_refused = !is_exact && !is_corner && dt > shortest * ROUNDING;
            refused = is_refused.then_some(dt);
            self.contacts.rub_in_inner_step(is_refused);
            if is_refused {
                std::mem::swap(&mut self.inner.errors, &mut self.inner.refused);
                self.go_to(&[], 0.0, state);
            } else {
                done = if is_last { drive.dt } else { done + dt };
                self.inner.leave_corners(tolerance);
                if !is_exact {
                    // Whoever is lost must not make the others go on in tiny steps.
                    self.packs.iter_mut().for_each(|pack| pack.leave_lost());
                }
            }
            let before = self.inner.step;
            let next = if is_corner && slides {
                // Along a corner: a longer step would be refused.
                short
            } else if is_corner {
                // What comes behind a corner may be as smooth as what was before.
                short / SHORTENING
            } else if is_exact || is_refused {
                next_step(dt, error, tolerance, is_last, before)
            } else {
                // As short as it gets and not exact. A longer one will be refused, but tells a
                // motion that is too quick from friction that comes and goes, which is a corner.
                let longer = dt / SHORTENING;
                if is_last { longer.max(before) } else { longer }
            };
            self.inner.step = next.clamp(shortest, drive.dt);
        }
    }

    fn remember(&mut self) {
        self.packs.iter_mut().for_each(|pack| pack.remember());
    }

    /// Every stage: go there, find the forces there, see how fast everything changes.
    fn run_stages(&mut self, method: &Method, drive: &Drive<'_>, dt: f64, state: &mut State) {
        for (stage, weights) in method.stages.iter().enumerate() {
            if stage > 0 {
                self.go_to(weights, dt, state);
            }
            if self.law != ContactLaw::Hard {
                self.find_contacts(drive, state);
                self.watch.note(drive.dt, &self.contacts);
            }
            let share = method.result[stage] * dt / drive.dt;
            // Inner steps are as short as friction needs them.
            let has_inner_steps = !method.error.is_empty();
            let look = Look { step: dt, share, at_stages: Some(true) };
            let look = (!has_inner_steps).then_some(look);
            self.push(drive, state, look, Turn::Stage(share));
            self.contacts.rub_in_stage(share);
            for pack in self.packs.iter_mut().filter(|pack| pack.has_stages()) {
                pack.derive(drive, stage);
            }
        }
        self.go_to(method.result, dt, state);
    }

    fn go_to(&mut self, weights: &[f64], dt: f64, state: &mut State) {
        for pack in self.packs.iter_mut().filter(|pack| pack.has_stages()) {
            pack.set_stage(weights, dt);
            pack.place(state);
            pack.write(state);
        }
    }

    /// The error of every robot in the inner step that was just tried.
    fn see_errors(&mut self, method: &Method, dt: f64) {
        self.inner.errors.clear();
        for pack in &self.packs {
            let of_robot = |robot: usize| pack.error(robot, method.error, dt);
            self.inner.errors.extend((0..pack.robots().len()).map(of_robot));
        }
    }
}

/// What acts in a part of a step: scratch.
#[derive(Default)]
pub(super) struct Parts {
    inputs: Inputs,
    /// Of every axis at the beginning of the step.
    begun: Vec<DofState>,
}

impl Parts {
    fn begin(&mut self, inputs: &Inputs, dofs: &[DofState]) {
        copy(&mut self.inputs, inputs);
        // Contacts are told of the whole step.
        self.inputs.skips_contacts = true;
        self.begun.clear();
        self.begun.extend_from_slice(dofs);
    }

    /// Efforts of a motor are those at the beginning of what it is stepped by.
    fn follow(&mut self, inputs: &Inputs, dofs: &[DofState]) {
        let both = inputs.efforts.iter().zip(&inputs.slopes).zip(&self.begun).zip(dofs);
        let less = |slope: &Gains, begun: &DofState, now: &DofState| {
            let (moved, gained) = (now.position - begun.position, now.velocity - begun.velocity);
            slope.kp * moved + slope.kd * gained
        };
        for (effort, (((told, slope), begun), now)) in self.inputs.efforts.iter_mut().zip(both) {
            *effort = told - less(slope, begun, now);
        }
        for (motor, told) in self.inputs.saturated.iter_mut().zip(&inputs.saturated) {
            let (begun, now) = (&self.begun[told.dof_idx], &dofs[told.dof_idx]);
            motor.beyond = told.beyond - less(&told.slope, begun, now);
        }
    }
}

/// The inner steps of the adaptive integrator.
#[derive(Default)]
pub(super) struct Inner {
    /// How long the last one was \[s\].
    pub step: f64,
    /// How many were tried.
    pub n_tried: u64,
    /// The error of every robot in the one that was tried last.
    errors: Vec<f64>,
    /// Those of the one before, where it was too long.
    refused: Vec<f64>,
    /// The error that is allowed to whoever was found to be at a corner and is not past it.
    allowed: Vec<f64>,
}

impl Inner {
    pub fn of(step: f64) -> Inner {
        Inner { step, ..Inner::default() }
    }

    fn worst(&self) -> f64 {
        self.errors.iter().copied().fold(0.0, f64::max)
    }

    /// Finds who is at a corner. `dt` are the last step and the one before, which was too long.
    fn see_corners(&mut self, dt: [f64; 2], short: f64, tolerance: f64) {
        self.allowed.resize(self.errors.len(), 0.0);
        let both = self.errors.iter().zip(&self.refused);
        for (allowed, (error, before)) in self.allowed.iter_mut().zip(both) {
            if *error > tolerance && is_corner(dt, [*error, *before]) {
                *allowed = allowed.max(GROWTH * error * short / dt[0]);
            }
        }
    }

    /// Whether everybody whose error is too large is at a corner of the forces: what one robot
    /// meets is no excuse for the others.
    fn is_corner(&self, tolerance: f64) -> bool {
        let allowed = |i: usize| self.allowed.get(i).map_or(tolerance, |own| own.max(tolerance));
        self.errors.iter().enumerate().all(|(i, error)| *error <= allowed(i))
    }

    /// Whoever made an exact step has its corner behind it. Others slide along one, as whoever
    /// stands on a ground that pushes harder than it lets go, and it need not be found anew.
    fn leave_corners(&mut self, tolerance: f64) {
        for (allowed, error) in self.allowed.iter_mut().zip(&self.errors) {
            if *error <= tolerance {
                *allowed = 0.0;
            }
        }
    }
}

/// What a step of four stages follows: from 2.8 on, of swings and of decays, it is unstable,
/// and the inertia this is seen against may be more than there is.
const RK4_REACH: f64 = 1.0;

/// What inner steps follow at a bearable price. Beyond it a servo holds its place within the
/// step whatever happens in between.
const ADAPTIVE_REACH: f64 = 100.0;

/// Errors at a corner are as large as where it was found, for the length of the step and but for
/// this. What grows beyond it is no corner but an inner step that is too long.
const GROWTH: f64 = 4.0;

/// Shares of a step are as long as another if they are but for rounding.
const ROUNDING: f64 = 1.0 + 1e-12;

/// With soft contacts a part of a step is no longer than this \[s\], and no shorter than that for a
/// spring's sake. Of 5 s a player stands, 10 ms took it 1.1 mm away, 5 and 1 ms 0.6; two boxes of
/// 12 g on each other, whose springs swing by a radian in 0.6 ms, were thrown in parts of 2 ms.
const PART: f64 = 5e-3;
const SHORTEST_PART: f64 = 1e-4;

/// How many parts a step with soft contacts goes in, whose quickest spring takes so long for a radian
/// of its swing, and how long each is \[s\].
pub(super) fn parts_of(dt: f64, radian: Option<f64>) -> (usize, f64) {
    let part = radian.map_or(PART, |radian| radian.clamp(SHORTEST_PART, PART));
    let n_parts = (dt / (part * ROUNDING)).ceil().max(1.0);
    (n_parts as usize, dt / n_parts)
}

/// An inner step from which on a corner is believed, as a share of the step.
const SHORT: f64 = 0.05;

/// The quickest spring swings by no more than this in such an inner step \[rad\]: the error that
/// was allowed at a corner let long steps throw what lay on soft ground.
const SHORT_SWING: f64 = 0.5;

/// An inner step is not made shorter than this share of one from which on a corner is believed,
/// whatever the error: a thousandth of the step, where springs do not swing faster.
const SHORTEST: f64 = 0.02;

/// An inner step is at most made this much shorter at once, and as much longer.
const SHORTENING: f64 = 0.2;

/// Whether an error fell with the step as at a corner of the forces, where something begins to
/// touch or to slip: by the second power of the step at most, not by the fifth. No step over it
/// gets as exact as it is told, and all would come to a halt.
///
/// Two steps of nearly the same length tell nothing.
fn is_corner([dt, dt_before]: [f64; 2], [error, error_before]: [f64; 2]) -> bool {
    let share = dt / dt_before;
    share < 0.5 && error > error_before * share * share * share
}

/// The step that an error of fifth order asks for next, with some caution.
fn next_step(dt: f64, error: f64, tolerance: f64, was_cut: bool, before: f64) -> f64 {
    let ratio = tolerance / error.max(1e-300);
    let factor = (0.9 * headland_base::maths::pow(ratio, 0.2)).clamp(SHORTENING, 1.0 / SHORTENING);
    // A step cut short by the end says little about how long the next may be.
    if was_cut && error <= tolerance { (dt * factor).max(before) } else { dt * factor }
}
