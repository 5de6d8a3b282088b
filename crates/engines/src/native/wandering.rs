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
//! at speeds that differ by 10⁻⁵ m/s, the casters carry it all. What is led gets no impulse, and its
//! point goes as far as it has grown.
//!
//! Deliberately absent: robots that take no part in stages, and within a robot.

use headland_base::Vec3;
use headland_sim::State;
use headland_sim::motion::{Drive, Pack};
use headland_sim::tree::V3;

use super::contacts::Touch;

/// Turns of this size in a step are far \[rad\]: how a point came says little of where it goes.
const TURNS_FAR: f64 = 0.5;

/// What changes its way by more than this share of it from one step to the next, and by more than
/// this \[m/s\], jumps as from one end of a cylinder to the other, and does not wander.
const JUMP_SHARE: f64 = 0.5;
const JUMP: f64 = 0.1;

/// How a point goes along with the sides it holds, from here to where the step ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Wander {
    /// What the arms of both sides grow by until the middle of the step \[m\].
    pub levers: [Vec3; 2],
    /// What the way of b takes off that of a \[m/s\].
    pub bent: Vec3,
}

/// How points wander: those of two links do so together, for no motion of theirs follows all of
/// them apart.
#[derive(Default)]
pub(super) struct Wandering {
    /// Of every two links that touch; none where it is not to be known.
    wanders: Vec<Option<Wander>>,
    /// Of every point, now and a step ago.
    arms: Vec<Arms>,
    before: Vec<Arms>,
    /// How long that step was \[s\].
    dt_before: f64,
}

impl Wandering {
    /// Finds how points wander that were there a step ago.
    pub fn follow(
        &mut self,
        touches: &mut [Touch],
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
    ) {
        std::mem::swap(&mut self.arms, &mut self.before);
        self.arms.clear();
        self.wanders.clear();
        for of_two in touches.chunk_by_mut(|a, b| a.rigids == b.rigids) {
            let centres = of_two[0].rigids.map(|rigid| centre(drive, state, rigid));
            let first = self.arms.len();
            self.arms.extend(of_two.iter().map(|touch| Arms {
                at: centres.map(|centre| touch.point.position - centre),
                ways: [Vec3::ZERO; 2],
            }));
            let arms = &mut self.arms[first..];
            let wander =
                Middle::of(of_two, arms, &self.before, self.dt_before).and_then(|middle| {
                    arms.iter_mut().for_each(|arms| arms.ways = middle.ways);
                    wander_of(drive, packs, state, &of_two[0], &middle)
                });
            of_two.iter_mut().for_each(|touch| touch.wander = Some(self.wanders.len() as u32));
            self.wanders.push(wander);
        }
        self.dt_before = drive.dt;
    }

    /// How a point wanders; none where nobody asked, or it is not to be known.
    pub fn of(&self, touch: &Touch) -> Option<Wander> {
        self.wanders[touch.wander? as usize]
    }

    /// How far off the point its impulse acts on each side \[m\].
    pub fn levers(&self, touch: &Touch) -> [Vec3; 2] {
        self.of(touch).map_or([Vec3::ZERO; 2], |wander| wander.levers)
    }
}

/// A point seen from the centres of both sides.
#[derive(Clone, Copy, Debug)]
struct Arms {
    at: [Vec3; 2],
    /// How it grew in the last step, in the middle of all points of these links \[m/s\].
    ways: [Vec3; 2],
}

/// All points of two links that hold, in their middle.
#[derive(Default)]
struct Middle {
    arms: [Vec3; 2],
    /// How those grew in the last step, and in the one before \[m/s\].
    ways: [Vec3; 2],
    ways_before: [Vec3; 2],
}

impl Middle {
    /// None where nothing holds, or a point that does was not there a step ago.
    fn of(touches: &[Touch], arms: &[Arms], before: &[Arms], dt_before: f64) -> Option<Middle> {
        let n_near = touches.iter().filter(|touch| touch.is_near()).count();
        let share = 1.0 / n_near as f64;
        let mut out = Middle::default();
        for (touch, arms) in touches.iter().zip(arms).filter(|(touch, _)| touch.is_near()) {
            let before = before.get(touch.before? as usize)?;
            for side in 0..2 {
                out.arms[side] += arms.at[side] * share;
                out.ways[side] += (arms.at[side] - before.at[side]) * (share / dt_before);
                out.ways_before[side] += before.ways[side] * share;
            }
        }
        (n_near > 0).then_some(out)
    }
}

fn centre(drive: &Drive<'_>, state: &State, rigid: usize) -> Vec3 {
    state.rigids[rigid].world_from_rigid.point(drive.model.rigids[rigid].centre)
}

/// None where it is not to be known.
fn wander_of(
    drive: &Drive<'_>,
    packs: &[Box<dyn Pack>],
    state: &State,
    touch: &Touch,
    middle: &Middle,
) -> Option<Wander> {
    let [a, b] = touch.seats.map(|seat| seat.map(|(pack, robot, _)| (pack, robot)));
    let takes_part =
        |side: Option<(usize, usize)>| side.is_none_or(|(pack, _)| packs[pack].has_stages());
    if a == b || !takes_part(a) || !takes_part(b) {
        return None;
    }
    let mut out = Wander::default();
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        let now = &state.rigids[touch.rigids[side]];
        let (spin, way) = (now.twist.angular, middle.ways[side]);
        if touch.seats[side].is_none() && spin == Vec3::ZERO {
            continue;
        }
        let change = (way - middle.ways_before[side]).length();
        if spin.length() * drive.dt > TURNS_FAR || change > JUMP_SHARE * way.length() + JUMP {
            return None;
        }
        let grown = way * drive.dt;
        let centre = centre(drive, state, touch.rigids[side]);
        let bend = match touch.seats[side] {
            Some((pack, robot, node)) => {
                out.levers[side] = grown * 0.5;
                let bend =
                    packs[pack].bend(robot, node, V3::of(centre - packs[pack].origin(robot)));
                bend.line.get(0) + bend.turn.get(0).cross(middle.arms[side])
            }
            // What is led goes straight on with its origin, and round that.
            None => spin.cross(spin.cross(centre - now.world_from_rigid.translation)),
        };
        out.bent += (bend * drive.dt + spin.cross(grown - out.levers[side])) * sign;
    }
    Some(out)
}
