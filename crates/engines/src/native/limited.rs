//! Motors that would come to give more than they can within a step.
//!
//! A servo gives way as its axis moves on, by its gains; where those are stiff for the step that is
//! a great effort, and one that comes past its target at full speed would brake with a hundred times
//! what it can. Who would end beyond its limits is held by a row from the beginning on, as who begins
//! there is (`hold_motor`, joint_rows.rs).

use headland_sim::motion::Drive;
use headland_sim::{Gains, Inputs, Saturated, State};

/// What acts in a step, with such motors among those at their limits: scratch.
#[derive(Default)]
pub(super) struct Limited(Inputs);

impl Limited {
    /// The inputs of a drive, or these where any motor of an axis that gives way is such a one.
    pub fn of<'a>(
        &'a mut self,
        drive: &Drive<'a>,
        state: &State,
        gives_way: impl Fn(usize) -> bool,
    ) -> &'a Inputs {
        let inputs = drive.inputs;
        let n = inputs.limits.len().min(inputs.slopes.len()).min(inputs.efforts.len());
        let is_beyond = |i: usize| {
            let (effort, slope, (low, high)) =
                (inputs.efforts[i], inputs.slopes[i], inputs.limits[i]);
            let ends = effort - slope.kp * drive.dt * state.dofs[i].velocity;
            slope != Gains::default() && (ends < low || ends > high) && gives_way(i)
        };
        let Some(first) = (0..n).find(|i| is_beyond(*i)) else { return inputs };
        copy(&mut self.0, inputs);
        for dof_idx in (first..n).filter(|i| is_beyond(*i)) {
            let (effort, (low, high)) = (inputs.efforts[dof_idx], inputs.limits[dof_idx]);
            let slope = std::mem::take(&mut self.0.slopes[dof_idx]);
            let room = (low - effort, high - effort);
            self.0.saturated.push(Saturated { dof_idx, beyond: 0.0, slope, room });
        }
        &self.0
    }
}

/// Makes some inputs those, in the memory they have.
pub(super) fn copy(into: &mut Inputs, from: &Inputs) {
    let Inputs { efforts, slopes, limits, saturated, wrenches, skips_contacts, orders } = from;
    into.efforts.clone_from(efforts);
    into.slopes.clone_from(slopes);
    into.limits.clone_from(limits);
    into.saturated.clone_from(saturated);
    into.wrenches.clone_from(wrenches);
    into.skips_contacts = *skips_contacts;
    into.orders.clone_from(orders);
}
