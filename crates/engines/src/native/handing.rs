//! What solved rows are to whom they move: kicks of the step, what is leaned on in the stages to
//! come, and what takes them out of each other.

use headland_base::Vec3;
use headland_sim::motion::Pack;
use headland_sim::tree::V6;

use super::contacts::Contacts;
use super::packing::Seat;
use super::rows::{Held, Owner, about};
use super::solving::Solver;

/// A block whose rows are solved: its impulses stand from `at` on.
#[derive(Clone, Copy)]
pub(super) struct Solved<'a> {
    pub held: &'a Held,
    pub block: usize,
    pub solver: &'a Solver,
    pub at: usize,
}

/// What one of those a block moves gets of it.
enum Share {
    /// A force on a link, about its robot's origin.
    Link(V6<f64>),
    /// An effort on a column.
    Column(f64),
}

impl Solved<'_> {
    /// Gives the packs what the impulses are, and tells whom a blow kicks.
    pub fn kick(
        &self,
        dt: f64,
        is_struck: bool,
        packs: &mut [Box<dyn Pack>],
        contacts: &mut Contacts,
    ) {
        let impulses = self.rows(|row| self.solver.impulses[row] + self.solver.bounces[row]);
        let stops = match self.owner() {
            Owner::Contact { touch, tangents, stops, .. } => {
                let touch = &mut contacts.touches[*touch];
                let is_overcome = self.held.is_overcome(self.block, touch.impulse[0]);
                touch.overcome_for = if is_overcome { touch.overcome_for + dt } else { 0.0 };
                touch.force = total(touch.point.normal, tangents, impulses) / dt;
                *stops
            }
            Owner::Rub { points: (first, n), parts: (part, stride), .. } => {
                let parts = self.held.parts[*part..].iter().step_by(*stride);
                for (touch, part) in self.held.rubbing[*first..first + n].iter().zip(parts) {
                    contacts.touches[*touch].force += *part * impulses[0];
                }
                false
            }
            Owner::Columns { stops, .. } => *stops,
            Owner::Links(_) => false,
        };
        self.share_out(impulses, packs, contacts, |pack, seat, share| {
            match share {
                Share::Link(force) => pack.kick(seat.1, seat.2, force),
                Share::Column(effort) => pack.kick_column(seat.1, seat.2, effort),
            }
            if stops {
                pack.stop(seat.1);
            }
        });
        // Impulse and bounce may be each other's opposite.
        let n_rows = self.held.blocks.blocks[self.block].n_rows;
        let rows = self.at..self.at + n_rows;
        if is_struck
            && (is_any(&self.solver.bounces[rows.clone()]) || is_any(&self.solver.impulses[rows]))
        {
            self.strike(packs, contacts);
        }
    }

    /// Tells whom the block moves that they are struck.
    fn strike(&self, packs: &mut [Box<dyn Pack>], contacts: &Contacts) {
        let mut strike = |seat: &Seat| packs[seat.0].strike(seat.1);
        match self.owner() {
            Owner::Contact { touch, .. } => {
                contacts.touches[*touch].seats.iter().flatten().for_each(strike)
            }
            Owner::Columns { shares, .. } => {
                shares.iter().flatten().for_each(|(seat, _)| strike(seat))
            }
            Owner::Links(sides) | Owner::Rub { sides, .. } => {
                sides.iter().flatten().for_each(|(seat, _)| strike(seat))
            }
        }
    }

    /// Gives the packs what moves them out of each other, without a speed that stays.
    pub fn push_apart(&self, packs: &mut [Box<dyn Pack>], contacts: &Contacts) {
        let push = [self.solver.pushes[self.at], 0.0, 0.0];
        self.share_out(push, packs, contacts, |pack, seat, share| match share {
            Share::Link(force) => pack.nudge(seat.1, seat.2, force),
            Share::Column(effort) => pack.nudge_column(seat.1, seat.2, effort),
        });
    }

    /// Lets the packs lean on what the impulses are.
    pub fn lean(&self, dt: f64, packs: &mut [Box<dyn Pack>], contacts: &Contacts) {
        let impulses = self.rows(|row| self.solver.impulses[row]);
        let is_motor = self.is_motor();
        self.share_out(impulses, packs, contacts, |pack, seat, share| match share {
            Share::Link(force) => pack.lean(seat.1, seat.2, force),
            Share::Column(effort) if is_motor => pack.drive_column(seat.1, seat.2, effort / dt),
            Share::Column(effort) => pack.lean_column(seat.1, seat.2, effort),
        });
    }

    /// Whether it is a motor at its limit.
    pub fn is_motor(&self) -> bool {
        matches!(self.owner(), Owner::Columns { give, .. } if *give > 0.0)
    }

    fn owner(&self) -> &Owner {
        &self.held.owners[self.block]
    }

    fn rows(&self, of_row: impl Fn(usize) -> f64) -> [f64; 3] {
        let n_rows = self.held.blocks.blocks[self.block].n_rows;
        [0, 1, 2].map(|row| if row < n_rows { of_row(self.at + row) } else { 0.0 })
    }

    /// Hands what these impulses are to `act`, side by side. Whoever gets none was not moved: it
    /// goes on as if there were no row.
    fn share_out(
        &self,
        impulses: [f64; 3],
        packs: &mut [Box<dyn Pack>],
        contacts: &Contacts,
        mut act: impl FnMut(&mut dyn Pack, Seat, Share),
    ) {
        if !is_any(&impulses) {
            return;
        }
        match self.owner() {
            Owner::Contact { touch, tangents, .. } => {
                let touch = &contacts.touches[*touch];
                let levers = contacts.wandering.levers(touch);
                let total = total(touch.point.normal, tangents, impulses);
                for (side, sign) in [(0, -1.0), (1, 1.0)] {
                    let Some(seat) = touch.seats[side] else { continue };
                    let force =
                        about(packs, seat, touch.point.position + levers[side], total * sign);
                    act(packs[seat.0].as_mut(), seat, Share::Link(force));
                }
            }
            Owner::Columns { shares, .. } => {
                for (seat, share) in shares.iter().flatten() {
                    act(packs[seat.0].as_mut(), *seat, Share::Column(share * impulses[0]));
                }
            }
            Owner::Links(sides) | Owner::Rub { sides, .. } => {
                for (seat, force) in sides.iter().flatten() {
                    act(packs[seat.0].as_mut(), *seat, Share::Link(*force * impulses[0]));
                }
            }
        }
    }
}

/// The impulse of a contact, by its rows.
fn total(normal: Vec3, tangents: &[Vec3; 2], impulses: [f64; 3]) -> Vec3 {
    normal * impulses[0] + tangents[0] * impulses[1] + tangents[1] * impulses[2]
}

/// Whether there is any impulse.
pub(super) fn is_any(impulses: &[f64]) -> bool {
    impulses.iter().any(|impulse| *impulse != 0.0)
}
