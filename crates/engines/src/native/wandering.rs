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
        std::mem::swap(&mut self.arms, &mut self.arms_before);
        self.arms.clear();
        self.wanders.clear();
        for of_two in self.touches.chunk_by_mut(|a, b| a.rigids == b.rigids) {
            let centres = of_two[0].rigids.map(|rigid| {
                let centre = drive.model.rigids[rigid].centre;
                state.rigids[rigid].world_from_rigid.point(centre)
            });
            let first = self.arms.len();
            let arms = |touch: &Touch| centres.map(|centre| touch.point.position - centre);
            self.arms.extend(of_two.iter().map(arms));
            let grown = grown(of_two, &self.arms[first..], &self.arms_before);
            let wander = grown.and_then(|grown| wander_of(drive, packs, state, &of_two[0], grown));
            of_two.iter_mut().for_each(|touch| touch.wander = self.wanders.len() as u32);
            self.wanders.push(wander.unwrap_or_default());
        }
    }

    /// How a point wanders; not at all where nobody asked.
    pub fn wander(&self, touch: &Touch) -> Wander {
        self.wanders.get(touch.wander as usize).copied().unwrap_or_default()
    }
}

/// The arms of two links' points in the middle of all, and what they have grown by since the step
/// before; none where one was not there.
type Grown = [[Vec3; 2]; 2];

fn grown(touches: &[Touch], arms: &[[Vec3; 2]], before: &[[Vec3; 2]]) -> Option<Grown> {
    let share = 1.0 / touches.len() as f64;
    let mut out = [[Vec3::ZERO; 2]; 2];
    for (touch, arms) in touches.iter().zip(arms) {
        let before = before.get(touch.before.filter(|_| touch.is_near())? as usize)?;
        for side in 0..2 {
            out[side][0] += arms[side] * share;
            out[side][1] += (arms[side] - before[side]) * share;
        }
    }
    Some(out)
}

/// None where it is not to be known.
fn wander_of(
    drive: &Drive<'_>,
    packs: &[Box<dyn Pack>],
    state: &State,
    touch: &Touch,
    grown: Grown,
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
        let ([arm, grown], rigid) = (grown[side], touch.rigids[side]);
        let spin = state.rigids[rigid].twist.angular;
        // A point that jumps, as from one corner to another, does not wander.
        let is_jump = spin.cross(grown).length() > rest_speed(drive);
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
