//! Contact points with who they are between, and the soft laws.

use headland_base::Vec3;
use headland_sim::contact::ContactPoint;
use headland_sim::motion::Pack;
use headland_sim::tree::{V3, V6};
use headland_sim::{Contact, Model, State, SurfacePair};

use super::packing::Packing;

/// The contacts of a step: scratch but for the warm start.
pub(super) struct Contacts {
    /// In the detector's order.
    pub touches: Vec<Touch>,
}

/// One contact point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub point: ContactPoint,
    /// The rigids of both sides.
    pub rigids: [usize; 2],
    /// Who moves them; none for what no force moves.
    pub seats: [Option<(usize, usize, usize)>; 2],
    pub surfaces: SurfacePair,
    /// What a does to b \[N\].
    pub force: Vec3,
    /// Impulses along normal and tangents: where the next step begins to look.
    pub impulse: [f64; 3],
}

impl Contacts {
    pub fn of(_model: &Model) -> Contacts {
        Contacts { touches: Vec::new() }
    }

    /// Takes what the detector found. A point that was there in the last step keeps its
    /// impulse.
    pub fn take(&mut self, model: &Model, packing: &Packing, points: &[ContactPoint]) {
        let before = std::mem::take(&mut self.touches);
        let mut old = before.iter().peekable();
        for point in points {
            let (a, b) = (&model.bodies[point.body_a], &model.bodies[point.body_b]);
            let rigids = [a.rigid_idx, b.rigid_idx];
            let surfaces = SurfacePair::of(
                &a.shapes[point.shape_a].surface,
                &b.shapes[point.shape_b].surface,
            );
            // Both lists are in the same order, so one walk along the old one finds all.
            while old.peek().is_some_and(|touch| pair(&touch.point) < pair(point)) {
                old.next();
            }
            let same = old.clone().take_while(|touch| pair(&touch.point) == pair(point));
            let kept = same.into_iter().find(|touch| touch.point.feature == point.feature);
            self.touches.push(Touch {
                point: *point,
                rigids,
                seats: rigids.map(|rigid| packing.seats[rigid]),
                surfaces,
                force: Vec3::ZERO,
                impulse: kept.map_or([0.0; 3], |touch| touch.impulse),
            });
        }
    }

    /// Forces by a soft law: a spring, and friction that grows with the sliding speed.
    pub fn push_softly(&mut self, packs: &mut [Box<dyn Pack>], state: &State, is_capped: bool) {
        for touch in &mut self.touches {
            let _ = (&packs, state, is_capped, &touch);
        }
    }

    /// Writes the contacts of the step.
    pub fn write(&self, state: &mut State) {
        state.contacts.clear();
        let shown = self.touches.iter().filter(|t| t.point.depth >= 0.0 || t.force != Vec3::ZERO);
        state.contacts.extend(shown.map(|touch| Contact {
            body_a: touch.point.body_a,
            body_b: touch.point.body_b,
            position: touch.point.position,
            normal: touch.point.normal,
            depth: touch.point.depth,
            force: touch.force,
        }));
    }
}

fn pair(point: &ContactPoint) -> (usize, usize, usize, usize) {
    (point.body_a, point.body_b, point.shape_a, point.shape_b)
}

/// The velocity of a point of a rigid, as the state has it.
pub(super) fn velocity_at(state: &State, rigid: usize, point: Vec3) -> Vec3 {
    let now = &state.rigids[rigid];
    let arm = point - now.world_from_rigid.translation;
    now.twist.linear + now.twist.angular.cross(arm)
}

/// A force at a point of the world as one about a robot's origin.
pub(super) fn about(origin: Vec3, point: Vec3, force: Vec3, moment: Vec3) -> V6<f64> {
    V6::force_at(V3::of(point - origin), V3::of(force), V3::of(moment))
}
