//! Contacts that no motion explains, told to people: a spring that throws within one step, one
//! thing deep inside another, and contacts for which no impulses were found.
//!
//! A spring takes many steps to turn a hit around. Where it does so within one, and sends the two
//! off faster than they came, the step is too long for it and every hit feeds the next: such a
//! robot is held where it was, like one whose numbers left the finite. What is deeper in
//! something than half its own thickness is only told: it may come out on the other side, but the
//! numbers are those of the law.

use std::collections::BTreeSet;

use headland_base::maths::sqrt;
use headland_base::{Diagnostic, SimTime, Vec3};
use headland_sim::contact::soft::LawTable;
use headland_sim::motion::{Drive, Pack};
use headland_sim::tree::{Forest, Half, Tree, V6};
use headland_sim::{Model, Motion, State};
use headland_world::{ContactLaw, Integrator};

use super::contacts::{Contacts, Touch, law_table, stiffest_of, velocity_at};
use super::packing::{self, Seat};
use super::rows::{about, free_velocity};
use super::stages::parts_of;

/// What was told, and what is known to tell by.
pub(super) struct Watch {
    law: ContactLaw,
    /// Whether steps are shortened until a spring is followed, which throws nobody then: but for
    /// robots that move in a way of their own, whose steps are whole ones or parts of long ones.
    is_adaptive: bool,
    /// By body and shape: half of the least thickness, endless for planes \[m\].
    cores: Vec<Vec<f64>>,
    /// The least of them: what is no deeper is in the core of nothing.
    least_core: f64,
    /// Of all that moves the stiffest spring against its own mass \[1/s²\].
    quickest: f64,
    /// Pairs of rigids that were told to lie in each other.
    sunk: BTreeSet<[usize; 2]>,
    /// The lightest of those that were told to be held by no impulses.
    unanswered: BTreeSet<usize>,
    remarks: Vec<String>,
    /// Of pairs that touched in a stage of the step the deepest point, in the order of the pairs.
    noted: Vec<Touch>,
    suspects: Vec<Suspect>,
    /// Scratch.
    half: Half,
}

/// A point that may have thrown.
struct Suspect {
    touch: Touch,
    /// How fast the two moved apart before the step \[m/s\].
    before: f64,
    /// From each rigid's origin to it, before the step \[m\].
    arms: [Vec3; 2],
    /// How fast a unit impulse makes each side \[1/kg\].
    gives: [f64; 2],
    /// Of its spring \[N/m\].
    stiffness: f64,
}

/// Robots for which the step of a run is so long that springs no longer do what their law says.
pub(super) fn check(model: &Model, step_secs: f64) -> Option<Diagnostic> {
    let native = &model.world.physics.native;
    let law = native.law.filter(|law| *law != ContactLaw::Hard)?;
    let is_adaptive = matches!(native.integrator, Some(Integrator::Adaptive { .. }));
    let is_stepped = |tree: &&Tree| {
        let is_followed = is_adaptive && packing::has_stages(model, tree);
        packing::is_moved_by_forces(model, tree) && !is_followed
    };
    let (laws, forest) = (law_table(model), Forest::of(model));
    let (n_parts, step_secs) = match is_adaptive {
        true => parts_of(step_secs, radian_of(quickest(model, &laws))),
        false => (1, step_secs),
    };
    let mut worst: Option<(f64, f64, &str)> = None; // swing, stiffness, robot
    let mut n_told = 0;
    for tree in forest.trees.iter().filter(is_stepped) {
        let links = || tree.nodes.iter().filter_map(|node| node.rigid_idx);
        let mass: f64 = links().map(|link| model.rigids[link].mass).sum();
        let bodies = links().flat_map(|link| model.rigids[link].body_idxs.iter().copied());
        let stiffness = bodies.map(|body| stiffest_of(&laws, body)).fold(0.0, f64::max);
        let swing = step_secs * sqrt(stiffness / mass);
        if swing > SWING_TOLD {
            n_told += 1;
            if worst.is_none_or(|(most, ..)| swing > most) {
                worst = Some((swing, stiffness, &tree.robot));
            }
        }
    }
    let (swing, stiffness, robot) = worst?;
    let others = if n_told == 1 { String::new() } else { format!(" and {} more", n_told - 1) };
    let secs = two_digits(step_secs);
    let what = match n_parts {
        1 => format!("a step of {secs} s"),
        _ => format!("a part of the step, {secs} s,"),
    };
    let message = format!(
        "{what} is too long for a spring of {stiffness} N/m under `{robot}`{others}: hits may throw",
    );
    let note = format!(
        "law `{}`: a mass on one point swings {swing:.2} rad in a step; {SWING_KEPT} keep its \
         restitution",
        law.word()
    );
    let suits = two_digits(step_secs * SWING_KEPT / swing);
    let help = format!("--step {suits} or shorter suits it, or a softer surface, or --law hard");
    Some(Diagnostic::warning("step-too-long", message).note(note).help(help))
}

/// Of all that moves the stiffest spring against its own mass \[1/s²\].
fn quickest(model: &Model, laws: &LawTable) -> f64 {
    let moved = model.rigids.iter().filter(|rigid| rigid.motion == Motion::Dynamic);
    let quickness = |rigid: &headland_sim::Rigid| {
        let bodies = rigid.body_idxs.iter().map(|body| stiffest_of(laws, *body));
        bodies.fold(0.0, f64::max) / rigid.mass
    };
    moved.map(quickness).fold(0.0, f64::max)
}

/// How long such a spring takes for a radian of its swing \[s\], where there is one.
fn radian_of(quickest: f64) -> Option<f64> {
    (quickest > 0.0).then(|| 1.0 / sqrt(quickest))
}

/// Two digits of a number, as people write it.
fn two_digits(number: f64) -> f64 {
    format!("{number:.1e}").parse().unwrap_or(number)
}

/// Slower than this nobody was thrown \[m/s\]: the speed of a fall of 0.2 m. What other forces
/// add in a step is less.
const THROW: f64 = 2.0;

/// A spring that swings by ω·h in a step adds (ω·h)² times the way out of the overlap in one step
/// to the speed, and from 4 on its swings build up whatever is done.
const UNSTABLE: f64 = 4.0;

/// Less than this \[m/s\] is not what threw: a foot that is whipped up by the knee beside it.
const OWN: f64 = 0.5;

/// Springs that swing less than this in a step, on one point, throw nobody.
const SWING: f64 = 0.5;

/// What answers with less than this share of both was not thrown, the other was.
const SHARE: f64 = 0.1;

/// From here on restitution is off by tens of percent, see the table in the book.
const SWING_TOLD: f64 = 0.6;

/// Masses further apart than this leave too few digits of the lighter one's motion. A ton stands
/// on a gram; ten tons were seen to, a hundred not.
const FAR_APART: f64 = 1e7;

/// Swings of so many radians within a step keep a restitution to some percent.
const SWING_KEPT: f64 = 0.17;

impl Watch {
    pub fn of(model: &Model, law: ContactLaw, integrator: Integrator, laws: &LawTable) -> Watch {
        let core = |geometry: &headland_world::Geometry| {
            let thickness = geometry.bounds().map(|(low, high)| (high - low).min_element());
            thickness.filter(|thickness| *thickness > 0.0).map_or(f64::INFINITY, |t| 0.5 * t)
        };
        let cores_of = |body: &headland_sim::Body| {
            body.shapes.iter().map(|shape| core(&shape.geometry)).collect()
        };
        let cores: Vec<Vec<f64>> = model.bodies.iter().map(cores_of).collect();
        Watch {
            law,
            is_adaptive: matches!(integrator, Integrator::Adaptive { .. }),
            least_core: cores.iter().flatten().copied().fold(f64::INFINITY, f64::min),
            cores,
            quickest: quickest(model, laws),
            sunk: BTreeSet::new(),
            unanswered: BTreeSet::new(),
            remarks: Vec::new(),
            noted: Vec::new(),
            suspects: Vec::new(),
            half: Half::default(),
        }
    }

    /// How long the quickest spring takes for a radian of its swing \[s\], where there are any.
    pub fn time_of_a_radian(&self) -> Option<f64> {
        if self.law == ContactLaw::Hard { None } else { radian_of(self.quickest) }
    }

    pub fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// Contacts of a stage within a step: what hits there is not there at its beginning.
    pub fn note(&mut self, dt: f64, contacts: &Contacts) {
        if self.is_adaptive || !self.can_throw(dt) {
            return;
        }
        for touch in deepest_of_pairs(&contacts.touches) {
            match self.noted.binary_search_by_key(&touch.rigids, |noted| noted.rigids) {
                Ok(i) if self.noted[i].point.depth < touch.point.depth => self.noted[i] = *touch,
                Ok(_) => {}
                Err(i) => self.noted.insert(i, *touch),
            }
        }
    }

    /// Looks at the contacts of a step, between what pushed and what holds.
    pub fn look(
        &mut self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        contacts: &Contacts,
    ) {
        for touch in &contacts.touches {
            if touch.point.depth > self.least_core && touch.point.depth > self.core(touch) {
                self.see_sunk(drive, packs, state, touch);
            }
        }
        if !self.can_throw(drive.dt) {
            return;
        }
        if self.noted.is_empty() {
            // Without stages: nothing needs to be kept.
            for touch in deepest_of_pairs(&contacts.touches) {
                self.suspect(drive, packs, state, contacts, touch);
            }
            return;
        }
        self.note(drive.dt, contacts);
        let mut noted = std::mem::take(&mut self.noted);
        for touch in noted.drain(..) {
            self.suspect(drive, packs, state, contacts, &touch);
        }
        self.noted = noted;
    }

    /// Keeps a point in mind where it parts faster than its spring should make it.
    fn suspect(
        &mut self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        contacts: &Contacts,
        touch: &Touch,
    ) {
        let has_own_way = |seat: &Seat| !packs[seat.0].has_stages();
        if self.is_adaptive && !touch.seats.iter().flatten().any(has_own_way) {
            return;
        }
        let (at, normal) = (touch.point.position, touch.point.normal);
        let [u, v] = touch.rigids.map(|rigid| velocity_at(state, rigid, at));
        let before = (v - u).dot(normal);
        let left = free_velocity(packs, state, touch).dot(normal);
        if !is_thrown(touch, [before, left], drive.dt) {
            return;
        }
        let give = |seat: Option<Seat>| seat.map_or(0.0, |seat| self.give(packs, seat, touch));
        let (gives, stiffness) = (touch.seats.map(give), contacts.law(touch).stiffness);
        let own = (gives[0] + gives[1]) * stiffness * touch.point.depth * drive.dt;
        if own > OWN {
            let arm = |rigid: usize| at - state.rigids[rigid].world_from_rigid.translation;
            let arms = touch.rigids.map(arm);
            self.suspects.push(Suspect { touch: *touch, before, arms, gives, stiffness });
        }
    }

    /// Holds whoever was thrown, when the step is made: what joints and loops held was not.
    pub fn confirm(&mut self, drive: &Drive<'_>, packs: &mut [Box<dyn Pack>], state: &mut State) {
        let mut suspects = std::mem::take(&mut self.suspects);
        for suspect in suspects.drain(..) {
            // Of the points that touched: by now they may be elsewhere.
            let [u, v] = [0, 1].map(|side| {
                let twist = state.rigids[suspect.touch.rigids[side]].twist;
                twist.linear + twist.angular.cross(suspect.arms[side])
            });
            let left = (v - u).dot(suspect.touch.point.normal);
            if is_thrown(&suspect.touch, [suspect.before, left], drive.dt) {
                self.hold(drive, packs, state, (&suspect, left));
            }
        }
        self.suspects = suspects;
    }

    /// Whether any spring could: four times, since a rod answers at its end as a quarter of its
    /// mass.
    fn can_throw(&self, dt: f64) -> bool {
        let swing_squared = 4.0 * self.quickest * dt * dt;
        self.law != ContactLaw::Hard && swing_squared > SWING * SWING
    }

    fn core(&self, touch: &Touch) -> f64 {
        let point = &touch.point;
        self.cores[point.body_a][point.shape_a].min(self.cores[point.body_b][point.shape_b])
    }

    /// Limbs that move as they are told overlap with what gives way no further: that is theirs.
    fn see_sunk(
        &mut self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        touch: &Touch,
    ) {
        let gives_way = |seat: &Option<Seat>| seat.is_some_and(|(p, ..)| packs[p].gives_way());
        let is_led = |seat: &Option<Seat>| seat.is_some_and(|(p, ..)| !packs[p].joints_give_way());
        let both_move = touch.seats.iter().all(Option::is_some);
        let is_theirs = both_move && touch.seats.iter().any(is_led);
        if is_theirs || !touch.seats.iter().any(gives_way) || !self.sunk.insert(touch.rigids) {
            return;
        }
        let [a, b] = touch.rigids.map(|rigid| name(drive.model, rigid));
        let depth = two_digits(touch.point.depth);
        let help = match (state.time == SimTime::ZERO, self.law) {
            (true, _) => "start them apart",
            (false, ContactLaw::Hard) => "a shorter --step may help",
            (false, ContactLaw::Soft | ContactLaw::SoftCoulomb) => {
                "a shorter --step, or a stiffer <surface> of headland:native, may help"
            }
        };
        self.remarks.push(format!(
            "`{a}` and `{b}` overlap by {depth} m, more than half of the thinner one, and may come \
             out on the wrong side; {help}"
        ));
    }

    /// Contacts among these found no answer: masses that are too far apart, mostly.
    pub fn see_unanswered(&mut self, model: &Model, rigids: &[usize], off: f64) {
        let mass = |rigid: &usize| model.rigids[*rigid].mass;
        let by_mass = |a: &&usize, b: &&usize| mass(a).total_cmp(&mass(b));
        let (lightest, heaviest) = (rigids.iter().min_by(by_mass), rigids.iter().max_by(by_mass));
        let (Some(light), Some(heavy)) = (lightest, heaviest) else { return };
        // A heap that bursts comes in ever other pieces: once for what is lightest.
        if !self.unanswered.insert(*light) {
            return;
        }
        let [a, b] = [light, heavy].map(|rigid| format!("`{}`", name(model, *rigid)));
        let who = if light == heavy { a } else { format!("{a} and {b}, and what is between") };
        let ratio = mass(heavy) / mass(light);
        let help = match ratio > FAR_APART {
            true => format!("one is {ratio:.0e} times as heavy as the other, which is too much"),
            false => "a shorter --step may help".to_owned(),
        };
        self.remarks.push(format!(
            "no impulses were found that hold {who}, and they are off by {} m/s; {help}",
            two_digits(off),
        ));
    }

    fn hold(
        &mut self,
        drive: &Drive<'_>,
        packs: &mut [Box<dyn Pack>],
        state: &mut State,
        (suspect, left): (&Suspect, f64),
    ) {
        let Suspect { touch, gives, stiffness, .. } = suspect;
        let give = gives[0] + gives[1];
        let mut held = Vec::new();
        for (side, seat) in touch.seats.iter().enumerate() {
            let Some((pack, robot, _)) = *seat else { continue };
            if gives[side] >= SHARE * give && !packs[pack].robots()[robot].is_lost {
                packs[pack].lose(robot);
                packs[pack].place(state);
                packs[pack].write(state);
                held.push(format!("`{}`", name(drive.model, touch.rigids[side])));
            }
        }
        if held.is_empty() {
            return;
        }
        let [a, b] = touch.rigids.map(|rigid| name(drive.model, rigid));
        self.remarks.push(format!(
            "the contact of `{a}` and `{b}` threw them apart at {left:.0} m/s within one step of \
             {} s, so {} {} held; --step {} suits a stiffness of {stiffness} N/m here",
            two_digits(drive.dt),
            held.join(" and "),
            if held.len() == 1 { "is" } else { "are" },
            two_digits(SWING_KEPT / sqrt(give * stiffness)),
        ));
    }

    /// How fast a unit impulse along the normal makes one side of a contact \[1/kg\].
    fn give(&mut self, packs: &[Box<dyn Pack>], seat: Seat, touch: &Touch) -> f64 {
        let push: V6<f64> = about(packs, seat, touch.point.position, touch.point.normal);
        packs[seat.0].half(seat.1, seat.2, &mut self.half);
        let along = push.parts();
        let both = self.half.gives.iter().zip(&self.half.lefts);
        both.map(|(give, lefts)| {
            let left: f64 = lefts.iter().zip(along).map(|(left, part)| left * part).sum();
            give * left * left
        })
        .sum()
    }
}

/// The deepest point of every two rigids that overlap.
fn deepest_of_pairs(touches: &[Touch]) -> impl Iterator<Item = &Touch> {
    let deeper = |a: &Touch, b: &Touch| a.point.depth < b.point.depth;
    let of_two = touches.chunk_by(|a, b| a.rigids == b.rigids);
    let deepest = of_two
        .filter_map(move |points| points.iter().reduce(|a, b| if deeper(a, b) { b } else { a }));
    deepest.filter(|touch| touch.point.depth > 0.0)
}

/// Whether a contact parts faster than any spring that keeps to its law makes it, seen from the
/// speeds apart before and after a step \[m/s\]. What is no number is not thrown but lost.
fn is_thrown(touch: &Touch, [before, after]: [f64; 2], dt: f64) -> bool {
    after > THROW && after - before > UNSTABLE * touch.point.depth / dt + THROW
}

fn name(model: &Model, rigid: usize) -> &str {
    &model.bodies[model.rigids[rigid].body_idxs[0]].name
}
