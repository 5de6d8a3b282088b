//! Points that wander over what they touch: where a flat ellipsoid rocks, a box tips over a corner
//! or a wheel rolls into a bend.
//!
//! Steps of several stages know where a thing goes within the step, and must be told the same of
//! the point that holds it. With the force left at one point and speeds held as where that was, what
//! rocks gains energy in proportion to the step: a spheroid that rocks doubled it in 10 s at 1 ms.
//! So its impulse acts where the point is in the middle of the step, and the speeds it holds are
//! those of the point at the end of it, by how its arm `a` from the centre of the link has changed
//! since the step before:
//!
//! ```text
//! lever = Δa/2                         what the arm grows by until the middle
//! bent  = h·(b + β×a) + ω×(Δa − lever) what the point's speed is at the end, beside that by the lever
//! ```
//!
//! with `b` the bend of the centre's way and `β` that of the turning. The arm of a wheel that rolls
//! stays as it is to rounding, and so must what is asked of it: where wheels and casters are to end
//! at speeds that differ by 10⁻⁵ m/s, the casters carry it all.
//!
//! Deliberately absent: robots that take no part in stages, and within a robot.

use headland_base::Vec3;
use headland_sim::State;
use headland_sim::motion::{Drive, Pack};
use headland_sim::tree::V3;

use super::contacts::{Contacts, Touch};
use super::rows::rest_speed;

/// Turns of this size in a step are far \[rad\]: how a point came says little of where it goes.
const FAR: f64 = 0.5;

/// How a point goes along with the sides it holds, from here to where the step ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Wander {
    /// What the arms of both sides grow by until the middle of the step \[m\].
    pub levers: [Vec3; 2],
    /// What the way of b takes off that of a \[m/s\]; none where nothing is known of the point.
    pub bent: Option<Vec3>,
}

impl Contacts {
    /// Finds how points wander that were there a step ago. The points of two links do so together:
    /// no motion of theirs follows all of them apart.
    pub fn follow_points(&mut self, drive: &Drive<'_>, packs: &[Box<dyn Pack>], state: &State) {
        std::mem::swap(&mut self.arms, &mut self.arms_before);
        self.arms.clear();
        self.wanders.clear();
        for of_two in self.touches.chunk_by_mut(|a, b| a.rigids == b.rigids) {
            let centres = of_two[0].rigids.map(|rigid| {
                let centre = drive.model.rigids[rigid].centre;
                state.rigids[rigid].world_from_rigid.point(centre)
            });
            let first = self.arms.len();
            self.arms.extend(of_two.iter().map(|touch| Arms {
                at: centres.map(|centre| touch.point.position - centre),
                grown: [Vec3::ZERO; 2],
            }));
            let arms = &mut self.arms[first..];
            let wander = Arms::of_all(of_two, arms, &self.arms_before).and_then(|(all, before)| {
                arms.iter_mut().for_each(|arms| arms.grown = all.grown);
                wander_of(drive, packs, state, &of_two[0], (&all, &before))
            });
            of_two.iter_mut().for_each(|touch| touch.wander = self.wanders.len() as u32);
            self.wanders.push(wander.unwrap_or_default());
        }
    }

    /// How a point wanders; not at all where nobody asked.
    pub fn wander(&self, touch: &Touch) -> Wander {
        self.wanders.get(touch.wander as usize).copied().unwrap_or_default()
    }
}

/// A point seen from the centres of both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arms {
    at: [Vec3; 2],
    /// By how much it went in the last step, in the middle of all points of these links \[m\].
    grown: [Vec3; 2],
}

impl Arms {
    /// Of the middle of two links' points, now and, as far as it had grown, a step ago; none where
    /// one was not there.
    fn of_all(touches: &[Touch], arms: &[Arms], before: &[Arms]) -> Option<(Arms, Arms)> {
        let share = 1.0 / touches.len() as f64;
        let mut now = Arms { at: [Vec3::ZERO; 2], grown: [Vec3::ZERO; 2] };
        let mut then = now;
        for (touch, arms) in touches.iter().zip(arms) {
            let before = before.get(touch.before.filter(|_| touch.is_near())? as usize)?;
            for side in 0..2 {
                now.at[side] += arms.at[side] * share;
                now.grown[side] += (arms.at[side] - before.at[side]) * share;
                then.grown[side] += before.grown[side] * share;
            }
        }
        Some((now, then))
    }
}

/// None where it is not to be known.
fn wander_of(
    drive: &Drive<'_>,
    packs: &[Box<dyn Pack>],
    state: &State,
    touch: &Touch,
    (arms, before): (&Arms, &Arms),
) -> Option<Wander> {
    let [a, b] = touch.seats.map(|seat| seat.map(|(pack, robot, _)| (pack, robot)));
    let takes_part =
        |side: Option<(usize, usize)>| side.is_none_or(|(pack, _)| packs[pack].has_stages());
    if a == b || !takes_part(a) || !takes_part(b) {
        return None;
    }
    let (mut levers, mut bent) = ([Vec3::ZERO; 2], Vec3::ZERO);
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        let Some((pack, robot, node)) = touch.seats[side] else { continue };
        let (arm, grown, rigid) = (arms.at[side], arms.grown[side], touch.rigids[side]);
        let spin = state.rigids[rigid].twist.angular;
        // A point that jumps, as from one corner to another, does not wander: what does goes on as
        // it did.
        let is_far = |way: Vec3| spin.cross(way).length() > rest_speed(drive);
        let is_jump = is_far(grown) && is_far(grown - before.grown[side]);
        if spin.length() * drive.dt > FAR || is_jump {
            return None;
        }
        let centre = state.rigids[rigid].world_from_rigid.point(drive.model.rigids[rigid].centre);
        let centre = centre - packs[pack].origin(robot);
        let bend = packs[pack].bend(robot, node, V3::of(centre));
        let goes_along = bend.line.get(0) + bend.turn.get(0).cross(arm);
        levers[side] = grown * 0.5;
        bent += (goes_along * drive.dt + spin.cross(grown - levers[side])) * sign;
    }
    Some(Wander { levers, bent: Some(bent) })
}
