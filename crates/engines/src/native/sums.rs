//! What soft contacts do in the stages of a step and in its parts, summed up: what presses for the
//! friction of the whole step, what is told of it, and what those get who have no stages.

use headland_base::Vec3;
use headland_sim::motion::Pack;
use headland_sim::tree::V6;

use super::contacts::{Contacts, Touch, Turn, key, pair};
use super::packing::Seat;

/// Scratch of a step.
#[derive(Default)]
pub(super) struct Sums {
    /// What points did in the stages of a step up to here, each stage by its share, in their order;
    /// and in those of an inner step that may be refused. Points come and go from stage to stage, so
    /// this is not theirs.
    rubbed: Vec<Touch>,
    rubbing: Vec<Touch>,
    /// Of these who is not there at the end.
    pub gone: Vec<Touch>,
    /// Of who has no stages and touches who has: how much more stages put on the other one than it
    /// took at the beginning, up to here; and the same of an inner step that may be refused \[N\].
    owed: Vec<(Seat, V6<f64>)>,
    owing: Vec<(Seat, V6<f64>)>,
    /// What was there in the parts of a step, each by its share, in their order.
    pub in_parts: Vec<Touch>,
}

impl Sums {
    /// Forgets what is owed.
    pub fn begin_to_owe(&mut self) {
        self.owed.clear();
    }

    /// Notes what is put on somebody without stages, by who has some.
    pub fn owe(&mut self, turn: Turn, seat: Seat, push: V6<f64>) {
        match turn {
            Turn::Begin => self.owed.push((seat, push * -1.0)),
            Turn::Stage(share) => self.owing.push((seat, push * share)),
            Turn::Step | Turn::Look => {}
        }
    }
}

impl Contacts {
    /// Begins to sum up what points do in the stages of a step.
    pub fn begin_to_rub(&mut self) {
        self.sums.owing.clear();
        self.sums.rubbed.clear();
        self.sums.rubbing.clear();
    }

    /// Counts what a stage does by its share of the step.
    pub fn rub_in_stage(&mut self, share: f64) {
        for touch in self.touches.iter().filter(|touch| touch.force != Vec3::ZERO) {
            let rub = touch.rub.map(|rub| share * rub);
            add_to(&mut self.sums.rubbing, Touch { rub, force: touch.force * share, ..*touch });
        }
    }

    /// Counts an inner step, unless it was refused.
    pub fn rub_in_inner_step(&mut self, is_refused: bool) {
        for done in self.sums.rubbing.drain(..).filter(|_| !is_refused) {
            add_to(&mut self.sums.rubbed, done);
        }
        self.sums.owed.extend(self.sums.owing.drain(..).filter(|_| !is_refused));
    }

    /// Gives who has no stages what stages put on those it touches, beside what it took at the
    /// beginning. Without, the two were pushed by different forces: a ball that bounced off a robot
    /// at `com` took along a twentieth of its momentum.
    pub fn pay(&mut self, packs: &mut [Box<dyn Pack>], dt: f64) {
        for ((pack, robot, node), force) in self.sums.owed.drain(..) {
            packs[pack].kick(robot, node, force * dt);
        }
    }

    /// What rubs in a whole step is pressed by what its stages did, not by what the first of them
    /// found: where a spring lets go with less than it pushes, that is ten times as much or a
    /// tenth. Stages may count less than nothing, and what is pressed in one of those alone does not
    /// rub. The force that is told is that of the stages, too, but of robots without any, which
    /// felt what is found at the beginning.
    pub fn rub_as_in_stages(&mut self, packs: &[Box<dyn Pack>]) {
        for touch in &mut self.touches {
            let known =
                self.sums.rubbed.binary_search_by_key(&key(&touch.point), |done| key(&done.point));
            let (rub, force) = match known {
                Ok(i) => (self.sums.rubbed[i].rub, self.sums.rubbed[i].force),
                Err(_) if touch.is_known => ([0.0; 2], Vec3::ZERO),
                Err(_) => continue,
            };
            touch.rub = rub.map(|rub| rub.max(0.0));
            if has_stages(touch, packs) {
                touch.force = force;
            }
        }
        let (touches, rubbed) = (&self.touches, &self.sums.rubbed);
        let is_gone = |done: &&Touch| {
            let first = touches.partition_point(|touch| pair(&touch.point) < pair(&done.point));
            let mut of_pair =
                touches[first..].iter().take_while(|touch| pair(&touch.point) == pair(&done.point));
            !of_pair.any(|touch| touch.point.feature == done.point.feature)
        };
        self.sums.gone.clear();
        self.sums.gone.extend(rubbed.iter().filter(is_gone).filter(|done| has_stages(done, packs)));
    }

    /// Forgets what was there in the parts of the step before.
    pub fn begin_parts(&mut self) {
        self.sums.in_parts.clear();
    }

    /// Counts what is there now by this share of the step. What hit in the first of twenty parts and
    /// left is told of the step as well.
    pub fn count_part(&mut self, share: f64) {
        for touch in self.touches.iter().chain(&self.sums.gone) {
            add_to(&mut self.sums.in_parts, Touch { force: touch.force * share, ..*touch });
        }
    }
}

/// Adds to what is known of a point in a list in their order.
fn add_to(list: &mut Vec<Touch>, done: Touch) {
    match list.binary_search_by_key(&key(&done.point), |known| key(&known.point)) {
        Ok(i) => {
            let known = list[i];
            let rub = [known.rub[0] + done.rub[0], known.rub[1] + done.rub[1]];
            list[i] = Touch { rub, force: known.force + done.force, ..done };
        }
        Err(i) => list.insert(i, done),
    }
}

/// Whether anybody who touches there feels what stages find.
fn has_stages(touch: &Touch, packs: &[Box<dyn Pack>]) -> bool {
    touch.seats.iter().flatten().any(|(pack, ..)| packs[*pack].has_stages())
}
