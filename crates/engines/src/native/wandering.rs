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
use super::rows::{FAR, rest_speed};

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
        for of_two in self.touches.chunk_by_mut(|a, b| a.rigids == b.rigids) {
            let centres = of_two[0].rigids.map(|rigid| {
                let centre = drive.model.rigids[rigid].centre;
                state.rigids[rigid].world_from_rigid.point(centre)
            });
            let wander = wander_of(drive, packs, state, of_two, centres).unwrap_or_default();
            for touch in of_two {
                touch.wander = wander;
                touch.arms = Some(centres.map(|centre| touch.point.position - centre));
            }
        }
    }
}

/// None where it is not known.
fn wander_of(
    drive: &Drive<'_>,
    packs: &[Box<dyn Pack>],
    state: &State,
    touches: &[Touch],
    centres: [Vec3; 2],
) -> Option<Wander> {
    let [a, b] = touches[0].seats.map(|seat| seat.map(|(pack, robot, _)| (pack, robot)));
    let takes_part =
        |side: Option<(usize, usize)>| side.is_none_or(|(pack, _)| packs[pack].has_stages());
    if a == b || !takes_part(a) || !takes_part(b) {
        return None;
    }
    let share = 1.0 / touches.len() as f64;
    let (mut at, mut grown) = (Vec3::ZERO, [Vec3::ZERO; 2]);
    for touch in touches {
        let before = touch.arms.filter(|_| touch.is_near())?;
        at += touch.point.position * share;
        for side in 0..2 {
            grown[side] += (touch.point.position - centres[side] - before[side]) * share;
        }
    }
    let (mut levers, mut bent) = ([Vec3::ZERO; 2], Vec3::ZERO);
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        let Some((pack, robot, node)) = touches[0].seats[side] else { continue };
        let spin = state.rigids[touches[0].rigids[side]].twist.angular;
        // A point that jumps, as from one corner to another, does not wander.
        let is_jump = spin.cross(grown[side]).length() > rest_speed(drive);
        if spin.length() * drive.dt > FAR || is_jump {
            return None;
        }
        let centre = centres[side] - packs[pack].origin(robot);
        let bend = packs[pack].bend(robot, node, V3::of(centre));
        let goes_along = bend.line.get(0) + bend.turn.get(0).cross(at - centres[side]);
        levers[side] = grown[side] * 0.5;
        bent += (goes_along * drive.dt + spin.cross(grown[side] - levers[side])) * sign;
    }
    Some(Wander { levers, bent: Some(bent) })
}
