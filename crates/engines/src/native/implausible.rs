//! Contacts that no motion explains, told to people: a spring that throws within one step, and
//! one thing deep inside another.
//!
//! A spring takes many steps to turn a hit around. Where it does so within one, and sends the two
//! off faster than they came, the step is too long for it and every hit feeds the next: such a
//! robot is held where it was, like one whose numbers left the finite. What lies deeper in
//! something than half its own thickness is only told: it may come out on the other side, but the
//! numbers are those of the law.

use std::collections::BTreeSet;

use headland_base::Diagnostic;
use headland_base::maths::sqrt;
use headland_sim::contact::soft::SurfaceLaw;
use headland_sim::motion::{Drive, Pack};
use headland_sim::tree::{Forest, Half, Tree, V6};
use headland_sim::{Model, Motion, State};
use headland_world::ContactLaw;

use super::contacts::{Contacts, Touch, velocity_at};
use super::packing::Seat;
use super::rows::{about, free_velocity, six};

/// What was told, and what is known to tell by.
pub(super) struct Watch {
    law: ContactLaw,
    /// By body and shape: half of the least thickness, endless for planes \[m\].
    cores: Vec<Vec<f64>>,
    /// The stiffest spring against the lightest thing \[1/s²\].
    stiffest: f64,
    /// Pairs of rigids that were told to lie in each other.
    sunk: BTreeSet<[usize; 2]>,
    remarks: Vec<String>,
    /// Contacts that were there within the step only.
    noted: Vec<Touch>,
    /// Scratch.
    half: Half,
}

/// Robots for which the step of a run is so long that springs no longer do what their law says.
pub(super) fn check(model: &Model, step_secs: f64) -> Option<Diagnostic> {
    let law = model.world.physics.native.law?;
    if law == ContactLaw::Hard {
        return None;
    }
    let stiffest = Contacts::of(model).stiffest();
    let forest = Forest::of(model);
    let swing = |tree: &Tree| {
        let links = tree.nodes.iter().filter_map(|node| node.rigid_idx);
        let mass: f64 = links.map(|link| model.rigids[link].mass).sum();
        step_secs * sqrt(stiffest / mass)
    };
    let all = forest.trees.iter().map(|tree| (tree.robot.as_str(), swing(tree)));
    let mut robots: Vec<(&str, f64)> = all.filter(|(_, swing)| *swing > SWING_TOLD).collect();
    robots.sort_by(|one, other| other.1.total_cmp(&one.1));
    let (worst, swing) = *robots.first()?;
    let suits = 1e3 * step_secs * SWING_KEPT / swing;
    let message = format!(
        "a step of {} ms is too long for a spring of {stiffest} N/m under {}: hits will throw",
        1e3 * step_secs,
        match robots.len() {
            1 => format!("`{worst}`"),
            n => format!("`{worst}` and {} more", n - 1),
        },
    );
    Some(
        Diagnostic::warning("step-too-long", message)
            .note(format!(
                "a mass on one point swings {swing:.2} rad in a step; 0.17 keep its restitution"
            ))
            .help(format!(
                "--step {:.5} suits it, or a softer surface, or --law hard",
                1e-3 * suits
            )),
    )
}

/// Slower than this nobody was thrown \[m/s\]: the speed of a fall of a metre.
const THROW: f64 = 4.5;

/// As many times what explains a speed, and it is not explained: what came in, and the way out
/// of the overlap within one step.
const UNEXPLAINED: f64 = 4.0;

/// A spring that could swing more than this within a step, in radians, may be what threw.
const SWING: f64 = 1.0;

/// What answers with less than this share of both was not thrown, the other was.
const SHARE: f64 = 0.1;

/// From here on restitution is off by tens of percent, see the table in the book.
const SWING_TOLD: f64 = 0.6;

/// Swings of so many radians within a step keep a restitution to some percent.
const SWING_KEPT: f64 = 0.17;

impl Watch {
    pub fn of(model: &Model, law: ContactLaw, contacts: &Contacts) -> Watch {
        let core = |geometry: &headland_world::Geometry| {
            let thickness = geometry.bounds().map(|(low, high)| (high - low).min_element());
            thickness.filter(|thickness| *thickness > 0.0).map_or(f64::INFINITY, |t| 0.5 * t)
        };
        let cores_of = |body: &headland_sim::Body| {
            body.shapes.iter().map(|shape| core(&shape.geometry)).collect()
        };
        let moved = model.rigids.iter().filter(|rigid| rigid.motion == Motion::Dynamic);
        let lightest = moved.map(|rigid| rigid.mass).fold(f64::INFINITY, f64::min);
        Watch {
            law,
            cores: model.bodies.iter().map(cores_of).collect(),
            stiffest: contacts.stiffest() / lightest,
            sunk: BTreeSet::new(),
            remarks: Vec::new(),
            noted: Vec::new(),
            half: Half::default(),
        }
    }

    pub fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// Contacts of a stage within a step: what hits there is not there at its beginning.
    pub fn note(&mut self, dt: f64, contacts: &Contacts) {
        if self.can_throw(dt) {
            self.noted.extend(contacts.touches.iter().filter(|touch| touch.point.depth > 0.0));
        }
    }

    /// Looks at the contacts of a step, between what pushed and what holds.
    pub fn look(
        &mut self,
        drive: &Drive<'_>,
        packs: &mut [Box<dyn Pack>],
        state: &State,
        contacts: &Contacts,
    ) {
        for touch in &contacts.touches {
            if touch.point.depth > self.core(touch) {
                self.see_sunk(drive, packs, touch);
            }
        }
        if !self.can_throw(drive.dt) {
            return;
        }
        self.note(drive.dt, contacts);
        let noted = std::mem::take(&mut self.noted);
        for touches in noted.chunk_by(|a, b| a.rigids == b.rigids) {
            let depth = |touch: &&Touch| touch.point.depth;
            let deepest = touches.iter().max_by(|a, b| depth(a).total_cmp(&depth(b)));
            let touch = deepest.expect("a chunk has one");
            self.see_thrown(drive, packs, state, (touch, touches.len()), contacts.law(touch));
        }
        self.noted = noted;
        self.noted.clear();
    }

    /// Whether any spring could. Four times: a rod answers at its end as a quarter of its mass.
    fn can_throw(&self, dt: f64) -> bool {
        self.law != ContactLaw::Hard && 4.0 * self.stiffest * dt * dt > SWING * SWING
    }

    fn core(&self, touch: &Touch) -> f64 {
        let point = &touch.point;
        self.cores[point.body_a][point.shape_a].min(self.cores[point.body_b][point.shape_b])
    }

    /// Limbs that move as they are told overlap with what gives way no further: that is theirs.
    fn see_sunk(&mut self, drive: &Drive<'_>, packs: &[Box<dyn Pack>], touch: &Touch) {
        let gives_way = |seat: &Option<Seat>| seat.is_some_and(|(p, ..)| packs[p].gives_way());
        let is_led = |seat: &Option<Seat>| seat.is_some_and(|(p, ..)| !packs[p].joints_give_way());
        let both_move = touch.seats.iter().all(Option::is_some);
        let is_theirs = both_move && touch.seats.iter().any(is_led);
        if is_theirs || !touch.seats.iter().any(gives_way) || !self.sunk.insert(touch.rigids) {
            return;
        }
        let [a, b] = touch.rigids.map(|rigid| name(drive.model, rigid));
        let depth = millimetres(touch.point.depth);
        let help = match self.law {
            ContactLaw::Hard => "take a shorter --step",
            ContactLaw::Soft | ContactLaw::SoftCoulomb => {
                "take a shorter --step, or a stiffer <surface> of headland:native for this weight"
            }
        };
        self.remarks.push(format!(
            "`{a}` and `{b}` overlap by {depth}, more than half of the thinner one: what comes of \
             it means nothing; {help}"
        ));
    }

    fn see_thrown(
        &mut self,
        drive: &Drive<'_>,
        packs: &mut [Box<dyn Pack>],
        state: &State,
        (touch, n_points): (&Touch, usize),
        law: &SurfaceLaw,
    ) {
        let (at, normal, dt) = (touch.point.position, touch.point.normal, drive.dt);
        let [u, v] = touch.rigids.map(|rigid| velocity_at(state, rigid, at));
        let came = (u - v).dot(normal).max(0.0) + touch.point.depth / dt;
        let left = free_velocity(packs, state, touch).dot(normal);
        if left.is_nan() || left <= THROW.max(UNEXPLAINED * came) {
            return;
        }
        let gives = touch.seats.map(|seat| seat.map_or(0.0, |seat| self.give(packs, seat, touch)));
        let give = gives[0] + gives[1];
        let stiffness = law.stiffness * n_points as f64;
        if give * stiffness * dt * dt <= SWING * SWING {
            return;
        }
        let mut held = Vec::new();
        for (side, seat) in touch.seats.iter().enumerate() {
            let Some((pack, robot, _)) = *seat else { continue };
            if gives[side] >= SHARE * give && !packs[pack].robots()[robot].is_lost {
                packs[pack].lose(robot);
                held.push(format!("`{}`", name(drive.model, touch.rigids[side])));
            }
        }
        if held.is_empty() {
            return;
        }
        let [a, b] = touch.rigids.map(|rigid| name(drive.model, rigid));
        let suits = 1e3 * SWING_KEPT / sqrt(give * stiffness);
        self.remarks.push(format!(
            "the contact of `{a}` and `{b}` threw them apart at {left:.0} m/s within one step of \
             {:.3} ms, so {} is held where it was; a --step of {suits:.2} ms suits a stiffness of \
             {} N/m here",
            1e3 * dt,
            held.join(" and "),
            law.stiffness,
        ));
    }

    /// How fast a unit impulse along the normal makes one side of a contact \[1/kg\].
    fn give(&mut self, packs: &[Box<dyn Pack>], seat: Seat, touch: &Touch) -> f64 {
        let push: V6<f64> = about(packs, seat, touch.point.position, touch.point.normal);
        packs[seat.0].half(seat.1, seat.2, &mut self.half);
        let along = six(push);
        let both = self.half.gives.iter().zip(&self.half.lefts);
        both.map(|(give, lefts)| {
            let left: f64 = lefts.iter().zip(along).map(|(left, part)| left * part).sum();
            give * left * left
        })
        .sum()
    }
}

fn name(model: &Model, rigid: usize) -> &str {
    &model.bodies[model.rigids[rigid].body_idxs[0]].name
}

fn millimetres(depth: f64) -> String {
    format!("{:.3} mm", 1e3 * depth)
}
