//! Rows for whatever must be held: contacts by the hard law, joints at their limits, dry
//! friction, mimics and loops. Found here, solved island by island in solving.rs, and handed to
//! the packs.

use headland_base::Vec3;
use headland_base::maths::sqrt;
use headland_sim::constraint::{Assembly, Blocks};
use headland_sim::contact::hard::{Contact, Row, Strength, is_touching, normal_target};
use headland_sim::motion::{Drive, Pack};
use headland_sim::tree::{Half, V3, V6};
use headland_sim::{Inputs, Model, State};
use headland_world::Integrator;

use super::contacts::{Contacts, Touch, velocity_at};
use super::crew::Crew;
use super::handing::{Solved, is_any};
use super::islands::Islands;
use super::joint_rows::JointRows;
use super::packing::Seat;
use super::patches::{self, Patch, Patching};
use super::solving::{Now, Solver};
use super::strength::{may_step_back, strength_of};
use super::wandering::Wander;

/// The rows of a step, and what solves them.
pub(super) struct Rows {
    joints: JointRows,
    numbering: Numbering,
    pub held: Held,
    /// What was asked about the last links, by side: neighbouring contacts share them.
    asked: [Option<Asked>; 2],
    /// What the rows of each patch will be.
    patching: Vec<Patching>,
    /// Scratch.
    half: Half,
    assembly: Assembly,
    islands: Islands,
    /// One per thread, each with a share of the islands.
    solvers: Vec<Solver>,
    /// Impulses of joint rows, by their slots: of the last step, and of this one. Which stops
    /// hold is half of what the solver has to find out, and seldom changes.
    last: Vec<f64>,
    next: Vec<f64>,
    /// Which step this is.
    n_steps: u64,
    /// Whether steps have several stages, for those that can.
    has_stages: bool,
}

/// What is held in a step, block by block.
#[derive(Default)]
pub(super) struct Held {
    pub blocks: Blocks,
    /// What each block is.
    pub owners: Vec<Owner>,
    /// Per block: the single row, where it is one.
    pub singles: Vec<Row>,
    /// Per block from the first on: the contacts.
    pub contacts: Vec<Contact>,
    pub strengths: Vec<Strength>,
    /// Per contact: whether a robot would step back there if it were too weak.
    pub may_step_back: Vec<bool>,
    /// Points that may hold together, with rows of their own: the last blocks of all, to be taken
    /// in place of theirs.
    pub patches: Vec<Patch>,
    /// Per contact: which of the patches it is part of.
    pub patch_of: Vec<Option<usize>>,
    /// How many blocks there are without those of patches.
    pub n_blocks: usize,
    /// Contacts that rub, those of two links together.
    pub rubbing: Vec<usize>,
    /// What rows that rub are at the points where they do, see [`Owner::Rub`] \[1/s\].
    pub parts: Vec<Vec3>,
}

impl Held {
    /// Whether a block is a row by itself, and no contact.
    pub fn is_single(&self, block: usize) -> bool {
        block >= self.contacts.len()
    }

    /// Whether somebody who moves as told is too weak for this impulse of a contact, and steps back.
    pub fn is_overcome(&self, block: usize, impulse: f64) -> bool {
        self.may_step_back[block] && self.strengths[block].gives_way(impulse)
    }

    /// Whether the impulses of an island, which stand from `at` on, are those of a blow: something
    /// bounces, or is stopped on its way. What hands a blow on is as little to lean on as the blow.
    fn is_struck(&self, blocks: &[usize], solver: &Solver, mut at: usize) -> bool {
        blocks.iter().any(|block| {
            let stops = match self.owners[*block] {
                Owner::Contact { stops, .. } | Owner::Columns { stops, .. } => stops,
                Owner::Links(_) | Owner::Rub { .. } => false,
            };
            let rows = at..at + self.blocks.blocks[*block].n_rows;
            at = rows.end;
            is_any(&solver.bounces[rows.clone()]) || stops && is_any(&solver.impulses[rows])
        })
    }

    /// The rows of a block that is of a patch.
    pub fn patch_rows(&self, block: usize) -> [Row; 3] {
        let patch = &self.patches[(block - self.n_blocks) / 2];
        patch.rows(block)
    }
}

/// What a link answered in this step.
#[derive(Clone, Copy)]
struct Asked {
    seat: Seat,
    /// Where rows act on it.
    source: usize,
    /// How it moves if nothing kicks.
    free: V6<f64>,
}

/// Robots counted through all packs, pack by pack: constant.
pub(super) struct Numbering {
    robots: Vec<Vec<usize>>,
    n_robots: usize,
    /// By pack: whether its robots are fixed to the world by their first joint, and whether they do
    /// as they are told, whatever pushes them.
    is_fixed: Vec<bool>,
    is_told: Vec<bool>,
    /// By pack: whether forces move its robots, but not their joints.
    has_led_limbs: Vec<bool>,
}

impl Numbering {
    fn of(packs: &[Box<dyn Pack>]) -> Numbering {
        let mut n_robots = 0;
        let mut number = || {
            n_robots += 1;
            n_robots - 1
        };
        let robots = packs.iter().map(|pack| pack.robots().iter().map(|_| number()).collect());
        let robots = robots.collect();
        let is_fixed = packs.iter().map(|pack| !pack.tree().is_free());
        let is_told = packs.iter().map(|pack| !pack.gives_way()).collect();
        let has_led_limbs = packs.iter().map(|pack| pack.gives_way() && !pack.joints_give_way());
        let has_led_limbs = has_led_limbs.collect();
        Numbering { robots, n_robots, is_fixed: is_fixed.collect(), is_told, has_led_limbs }
    }

    pub fn robot(&self, (pack, robot, _): Seat) -> usize {
        self.robots[pack][robot]
    }

    /// Whoever carries a link: its robot, or none where that is the world, or moves no more for a
    /// push than that.
    pub fn carrier(&self, seat: Seat) -> Option<usize> {
        (!self.is_fixed[seat.0] && !self.is_told[seat.0]).then(|| self.robot(seat))
    }

    /// Whether forces move who sits there, but not its joints.
    pub fn has_led_limbs(&self, seat: Seat) -> bool {
        self.has_led_limbs[seat.0]
    }
}

/// Whom the impulses of a block move.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    /// A contact, by its index; whether an impulse ends an approach; and whether speeds lag behind
    /// places by half a step, as those of whoever moves without stages.
    Contact { touch: usize, tangents: [Vec3; 2], stops: bool, lags: bool },
    /// Columns, each with its share, the slot in which its impulse is kept, and the same; and how
    /// much the row gives in.
    Columns { shares: [Option<(Seat, f64)>; 2], slot: usize, stops: bool, give: f64 },
    /// Two links, with the force about each one's origin that a unit impulse is.
    Links(Sides),
    /// Two links that rub, in the same form: the contacts they do it at, first and how many in
    /// [`Held::rubbing`]; where in [`Held::parts`] the force of a unit impulse at the first of
    /// them stands, and how far on at the next; and how much the row gives in.
    Rub { points: (usize, usize), parts: (usize, usize), sides: Sides, give: f64 },
}

/// Links a row acts on, each with the force about its robot's origin that a unit impulse is.
pub(super) type Sides = [Option<(Seat, V6<f64>)>; 2];

/// How impulses are handed to the packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hand {
    /// As those of the step.
    Kick,
    /// As forces through the stages that are to come.
    Lean,
}

/// Friction beyond this is this. It holds up to 84°; a wheel that must slip in a curve and is held by
/// a hundred times its load is thrown into the air by the smallest bend of its way.
pub(super) const MU_MAX: f64 = 10.0;

/// Turns of this size in a step are far \[rad\].
const FAR: f64 = 0.1;

/// What overlaps by no more than this is not worth to be stopped before \[m or rad\].
const OVERLAP: f64 = 1e-5;

/// Whether what closes a gap at `speeds` of the step's beginning and end would be found beyond it,
/// by their mean.
pub(super) fn is_approach(gap: f64, speeds: [f64; 2], dt: f64) -> bool {
    gap + 0.5 * dt * (speeds[0] + speeds[1]) < gap.min(0.0) - OVERLAP
}

/// Contacts that close slower than this many steps of gravity do not bounce: a body at rest
/// closes by one in each step.
const N_STEPS_OF_REST: f64 = 3.0;

impl Rows {
    pub fn of(model: &Model, packs: &[Box<dyn Pack>], n_threads: usize) -> Rows {
        let numbering = Numbering::of(packs);
        let joints = JointRows::of(model, packs);
        Rows {
            last: vec![0.0; joints.n_slots()],
            next: vec![0.0; joints.n_slots()],
            n_steps: 0,
            has_stages: false,
            joints,
            islands: Islands::new(numbering.n_robots),
            numbering,
            held: Held::default(),
            asked: [None; 2],
            patching: Vec::new(),
            half: Half::default(),
            assembly: Assembly::default(),
            solvers: (0..n_threads).map(|_| Solver::default()).collect(),
        }
    }

    /// What moves in islands whose contacts found no answer in the last step, and how far off each
    /// island is \[m/s\].
    pub fn unanswered(&self, contacts: &Contacts) -> impl Iterator<Item = (Vec<usize>, f64)> {
        let unanswered = self.solvers.iter().flat_map(|solver| &solver.unanswered);
        unanswered.map(|(island, off)| {
            let owners = self.islands.blocks(*island).iter().map(|block| &self.held.owners[*block]);
            let moved = owners.flat_map(|owner| match owner {
                Owner::Contact { touch, .. } => contacts.touches[*touch].moved(),
                Owner::Columns { .. } | Owner::Links(_) | Owner::Rub { .. } => [None; 2],
            });
            (moved.flatten().collect(), *off)
        })
    }

    pub fn n_sweeps(&self) -> u64 {
        self.solvers.iter().map(|solver| solver.n_sweeps).sum()
    }

    /// Forgets the rows of the last step; this is the n-th.
    pub fn begin(&mut self, n_steps: u64) {
        self.n_steps = n_steps;
        let Held { blocks, owners, singles, contacts, strengths, rubbing, parts, .. } =
            &mut self.held;
        blocks.clear();
        owners.clear();
        singles.clear();
        contacts.clear();
        strengths.clear();
        rubbing.clear();
        parts.clear();
        self.held.may_step_back.clear();
        self.held.patches.clear();
        self.held.patch_of.clear();
        self.patching.clear();
        self.asked = [None; 2];
        std::mem::swap(&mut self.last, &mut self.next);
        self.next.fill(0.0);
    }

    /// What a link answers; asked once for rows that follow each other.
    fn ask(&mut self, packs: &[Box<dyn Pack>], side: usize, seat: Seat) -> Asked {
        if let Some(asked) = self.asked[side].filter(|asked| asked.seat == seat) {
            return asked;
        }
        let (pack, robot, node) = seat;
        packs[pack].half(robot, node, &mut self.half);
        let source = self.held.blocks.source(self.numbering.robot(seat), &self.half);
        let asked = Asked { seat, source, free: packs[pack].free_motion(robot, node) };
        self.asked[side] = Some(asked);
        asked
    }

    /// Every contact: a normal that keeps the sides apart and two tangents that rub.
    pub fn hold_contacts(
        &mut self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        contacts: &Contacts,
        integrator: Integrator,
    ) {
        self.has_stages = integrator != Integrator::SemiImplicit;
        let moves = |seat: &Option<Seat>| seat.is_some_and(|(pack, ..)| packs[pack].gives_way());
        let mut first_touch = 0;
        let of_two_links = contacts.touches.chunk_by(|a, b| a.rigids == b.rigids);
        for (group, touches) in of_two_links.enumerate() {
            if touches[0].seats.iter().any(moves) {
                let first_block = self.held.contacts.len();
                let wander = contacts.wandering.of(&touches[0]).unwrap_or_else(|| Wander {
                    bent: bent(packs, state, touches, drive.dt, integrator),
                    ..Wander::default()
                });
                for (i, touch) in touches.iter().enumerate() {
                    let held = (first_touch + i, group, touch);
                    self.hold_contact(drive, packs, state, held, &wander);
                }
                self.note_patch(packs, state, touches, first_block, &wander);
            }
            first_touch += touches.len();
        }
    }

    /// Contacts of two links that may stand together, see [`super::patches`].
    fn note_patch(
        &mut self,
        packs: &[Box<dyn Pack>],
        state: &State,
        touches: &[Touch],
        first: usize,
        wander: &Wander,
    ) {
        let Held { contacts, strengths, patches, patch_of, .. } = &mut self.held;
        let held = patches::held(touches, &contacts[first..], &strengths[first..]);
        let Some((parts, spread, target)) = held else {
            return patch_of.resize(contacts.len(), None);
        };
        patch_of.resize(contacts.len(), Some(patches.len()));
        patches.push(Patch { first, n: touches.len(), block: 0, parts, spread, target });
        let mut patching = Patching { free: [wander.bent, Vec3::ZERO], sides: [None; 2] };
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let rigid = touches[0].rigids[side];
            let (velocity, spin) = match touches[0].seats[side] {
                Some(seat) => {
                    let asked = self.ask(packs, side, seat);
                    let arm = spread.centre + wander.levers[side] - packs[seat.0].origin(seat.1);
                    patching.sides[side] = Some((asked.source, sign, arm));
                    (asked.free.velocity_at(V3::of(arm)).get(0), asked.free.turn.get(0))
                }
                None => {
                    let spin = state.rigids[rigid].twist.angular;
                    (velocity_at(state, rigid, spread.centre), spin)
                }
            };
            patching.free[0] += sign * velocity;
            patching.free[1] += sign * spin * spread.radius;
        }
        self.patching.push(patching);
    }

    /// Rows of all patches, once all others are there.
    pub fn hold_patches(&mut self) {
        self.held.n_blocks = self.held.blocks.blocks.len();
        for (patch, patching) in self.held.patches.iter_mut().zip(&self.patching) {
            patch.block = self.held.blocks.blocks.len();
            patching.open(patch.spread.radius, &mut self.held.blocks);
        }
    }

    fn hold_contact(
        &mut self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        (touch_idx, group, touch): (usize, usize, &Touch),
        wander: &Wander,
    ) {
        let (normal, at) = (touch.point.normal, touch.point.position);
        let tangents = tangents_of(normal);
        let directions = [normal, tangents[0], tangents[1]];
        let mut free = wander.bent;
        let mut sides = [None; 2];
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            free += sign
                * match touch.seats[side] {
                    Some(seat) => {
                        let asked = self.ask(packs, side, seat);
                        let arm = at + wander.levers[side] - packs[seat.0].origin(seat.1);
                        let rows = directions.map(|direction| {
                            let force = direction * sign;
                            let moment = arm.cross(force);
                            [moment.x, moment.y, moment.z, force.x, force.y, force.z]
                        });
                        sides[side] = Some((asked.source, rows));
                        asked.free.velocity_at(V3::of(arm)).get(0)
                    }
                    None => velocity_at(state, touch.rigids[side], at),
                };
        }
        let before =
            velocity_at(state, touch.rigids[1], at) - velocity_at(state, touch.rigids[0], at);
        let surfaces = &touch.surfaces;
        let (dt, depth) = (drive.dt, touch.point.depth);
        let approach = before.dot(normal);
        let target = normal_target(depth, approach, surfaces.restitution, rest_speed(drive), dt);
        self.held.blocks.open(3, directions.map(|d| free.dot(d)));
        for (source, rows) in sides.iter().flatten() {
            self.held.blocks.side(*source, rows);
        }
        let mu = surfaces.mean_mu().min(MU_MAX);
        self.held.contacts.push(Contact {
            mu,
            mu2: mu,
            restitution: surfaces.restitution,
            target,
            group,
            is_touching: is_touching(depth, approach, dt),
        });
        let strength = strength_of(drive.model, packs, state, touch, dt);
        self.held.strengths.push(strength);
        self.held.may_step_back.push(may_step_back(packs, touch));
        self.held.singles.push(Row::held(0.0));
        // What bounces has no least speed before it hits; a slow hit does not bounce.
        let bounces = -approach > rest_speed(drive);
        let after = if bounces { target.max(-surfaces.restitution * approach) } else { target };
        let stops = is_approach(-depth, [approach, after], dt);
        let mut seats = touch.seats.iter().flatten();
        let lags = !self.has_stages || seats.any(|seat| !packs[seat.0].has_stages());
        self.held.owners.push(Owner::Contact { touch: touch_idx, tangents, stops, lags });
    }

    /// Begins a row between links.
    pub fn open_links(&mut self, packs: &[Box<dyn Pack>], sides: &Sides, free: f64) {
        self.held.blocks.open(1, [free, 0.0, 0.0]);
        for (i, side) in sides.iter().enumerate() {
            let Some((seat, force)) = side else { continue };
            let asked = self.ask(packs, i, *seat);
            self.held.blocks.side(asked.source, &[force.parts()]);
        }
    }

    /// Whether any joint may need holding.
    pub fn may_hold_joints(&self, inputs: &Inputs) -> bool {
        !self.joints.is_empty(inputs)
    }

    /// Whether efforts move an axis of the model.
    pub fn gives_way(&self, dof_idx: usize) -> bool {
        self.joints.gives_way(dof_idx)
    }

    /// Limits, dry friction, motors at their limits, mimics and loops.
    pub fn hold_joints(
        &mut self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        (hand, integrator): (Hand, Integrator),
    ) {
        let joints = std::mem::take(&mut self.joints);
        joints.hold(drive, packs, state, self);
        joints.hold_motors(drive, packs, state, self, |pack| {
            // Who has stages is driven through them, all others are kicked.
            let has_stages = integrator != Integrator::SemiImplicit && pack.has_stages();
            has_stages == (hand == Hand::Lean)
        });
        self.joints = joints;
    }

    /// A row on columns: each with its share; the slot of its impulse; and whether that stops
    /// them on their way.
    pub fn hold_columns(
        &mut self,
        packs: &[Box<dyn Pack>],
        slot: usize,
        shares: [Option<(Seat, f64)>; 2],
        (row, stops): (Row, bool),
    ) {
        self.hold_shares(packs, slot, shares, row, (stops, 0.0));
    }

    /// The same of one, that gives in by so much per impulse.
    pub fn hold_yielding_column(
        &mut self,
        packs: &[Box<dyn Pack>],
        slot: usize,
        share: (Seat, f64),
        row: Row,
        give: f64,
    ) {
        self.hold_shares(packs, slot, [Some(share), None], row, (false, give));
    }

    fn hold_shares(
        &mut self,
        packs: &[Box<dyn Pack>],
        slot: usize,
        shares: [Option<(Seat, f64)>; 2],
        row: Row,
        (stops, give): (bool, f64),
    ) {
        let speed = |((pack, robot, column), share): &(Seat, f64)| {
            packs[*pack].free_speed(*robot, *column) * share
        };
        self.held.blocks.open(1, [shares.iter().flatten().map(speed).sum(), 0.0, 0.0]);
        for (seat, share) in shares.iter().flatten() {
            let (pack, robot, column) = *seat;
            packs[pack].half_of_column(robot, column, &mut self.half);
            let source = self.held.blocks.source(self.numbering.robot(*seat), &self.half);
            self.held.blocks.side(source, &[[*share, 0.0, 0.0, 0.0, 0.0, 0.0]]);
        }
        self.held.singles.push(row);
        self.held.owners.push(Owner::Columns { shares, slot, stops, give });
    }

    /// A row between links: what a unit impulse along it is on each.
    pub fn hold_links(&mut self, packs: &[Box<dyn Pack>], sides: Sides, free: f64, row: Row) {
        self.open_links(packs, &sides, free);
        let size = |force: &V6<f64>| sqrt(force.dot(*force));
        let row_size = sides.iter().flatten().map(|(_, force)| size(force)).fold(0.0, f64::max);
        if self.held.blocks.drop_if_idle(row_size, &mut self.assembly) {
            return;
        }
        self.held.singles.push(row);
        self.held.owners.push(Owner::Links(sides));
    }

    /// Solves every island by itself, as many at once as there are threads, and kicks what it
    /// moves, one after the other.
    pub fn solve(
        &mut self,
        crew: &Crew,
        drive: &Drive<'_>,
        packs: &mut [Box<dyn Pack>],
        state: &State,
        contacts: &mut Contacts,
        hand: Hand,
    ) {
        self.islands.find(&self.held.blocks.blocks[..self.held.n_blocks]);
        self.islands.share_out(&self.held.blocks, &mut self.solvers);
        let now = Now {
            held: &self.held,
            numbering: &self.numbering,
            islands: &self.islands,
            dt: drive.dt,
            n_steps: self.n_steps,
            rest_speed: rest_speed(drive),
            state,
            touches: &contacts.touches,
            last: &self.last,
        };
        crew.each(&mut self.solvers, |solver| solver.solve(&now));
        for solver in &self.solvers {
            let mut at = 0;
            for island in solver.share.clone() {
                let blocks = self.islands.blocks(island);
                let is_struck = self.held.is_struck(blocks, solver, at);
                for &block in blocks {
                    match self.held.owners[block] {
                        Owner::Contact { touch, .. } => {
                            contacts.touches[touch].impulse =
                                [0, 1, 2].map(|k| solver.impulses[at + k]);
                        }
                        Owner::Columns { slot, .. } => self.next[slot] = solver.impulses[at],
                        Owner::Links(_) | Owner::Rub { .. } => {}
                    }
                    let solved = Solved { held: &self.held, block, solver, at };
                    match hand {
                        Hand::Kick => {
                            solved.kick(drive.dt, is_struck, packs, contacts);
                            solved.push_apart(packs, contacts);
                        }
                        // Motors are driven or not at all: no kick stands in for that.
                        Hand::Lean if is_struck && !solved.is_motor() => {}
                        Hand::Lean => solved.lean(drive.dt, packs, contacts),
                    }
                    at += self.held.blocks.blocks[block].n_rows;
                }
            }
        }
    }
}

/// Speeds up to which nothing bounces.
pub(super) fn rest_speed(drive: &Drive<'_>) -> f64 {
    (N_STEPS_OF_REST * drive.dt * drive.model.world.gravity.length()).max(1e-6)
}

/// A force at a point of the world, about the origin of who it acts on.
pub(super) fn about(packs: &[Box<dyn Pack>], seat: Seat, at: Vec3, force: Vec3) -> V6<f64> {
    let arm = at - packs[seat.0].origin(seat.1);
    V6::force_at(V3::of(arm), V3::of(force), V3::ZERO)
}

/// Of b against a at the contact, if nothing kicked.
pub(super) fn free_velocity(packs: &[Box<dyn Pack>], state: &State, touch: &Touch) -> Vec3 {
    let at = touch.point.position;
    let of_side = |side: usize| match touch.seats[side] {
        Some((pack, robot, node)) => {
            let arm = V3::of(at - packs[pack].origin(robot));
            packs[pack].free_motion(robot, node).velocity_at(arm).get(0)
        }
        None => velocity_at(state, touch.rigids[side], at),
    };
    of_side(1) - of_side(0)
}

/// What the bend of its way takes b off a, in the middle of where two links touch \[m/s\]. What
/// sticks by the speeds of a step's end alone goes on straight where the other turns, and creeps. In
/// the middle, for where one turns on the other no motion follows the bends of all points.
///
/// Deliberately absent: bends of links that move as they are told, within a robot, and on what stands
/// still. There a robot that stands takes 6 % longer with them and one that lies 25 %, for feet that
/// creep by some tenths of a millimetre a second while it sways.
fn bent(
    packs: &[Box<dyn Pack>],
    state: &State,
    touches: &[Touch],
    dt: f64,
    integrator: Integrator,
) -> Vec3 {
    let touch = &touches[0];
    let stands = |side: usize| {
        let twist = &state.rigids[touch.rigids[side]].twist;
        touch.seats[side].is_none() && twist.angular == Vec3::ZERO
    };
    let robot = |side: usize| touch.seats[side].map(|(pack, robot, _)| (pack, robot));
    if stands(0) || stands(1) || robot(0) == robot(1) {
        return Vec3::ZERO;
    }
    let sum: Vec3 = touches.iter().map(|touch| touch.point.position).sum();
    let at = sum / touches.len() as f64;
    let is_staged = |side: usize| {
        let has_stages = touch.seats[side].is_none_or(|(pack, ..)| packs[pack].has_stages());
        integrator != Integrator::SemiImplicit && has_stages
    };
    let of_side = |side: usize| {
        let rigid = &state.rigids[touch.rigids[side]];
        let spin = rigid.twist.angular;
        // What turns far in a step has no bend to speak of.
        if spin.length() * dt > FAR {
            return Vec3::ZERO;
        }
        // Stages have left the straight way before the speeds of the step's end are known. What is
        // led does as whom it carries.
        let follows = if touch.seats[side].is_some() { side } else { 1 - side };
        let share = if is_staged(follows) { 1.0 } else { 0.5 };
        share
            * match touch.seats[side] {
                Some((pack, robot, node)) => {
                    let pack = &packs[pack];
                    pack.bend(robot, node, V3::of(at - pack.origin(robot))).line.get(0)
                }
                None => spin.cross(spin.cross(at - rigid.world_from_rigid.translation)),
            }
    };
    across((of_side(1) - of_side(0)) * dt, touch.point.normal)
}

/// The part of a vector that is along a surface with this normal.
fn across(vector: Vec3, normal: Vec3) -> Vec3 {
    vector - normal * vector.dot(normal)
}

/// How fast b turns against a, if nothing kicked.
pub(super) fn free_spin(packs: &[Box<dyn Pack>], state: &State, touch: &Touch) -> Vec3 {
    let of_side = |side: usize| match touch.seats[side] {
        Some((pack, robot, node)) => packs[pack].free_motion(robot, node).turn.get(0),
        None => state.rigids[touch.rigids[side]].twist.angular,
    };
    of_side(1) - of_side(0)
}

/// Two directions across a normal.
pub(super) fn tangents_of(normal: Vec3) -> [Vec3; 2] {
    let helper = if normal.x.abs() < 0.7 { Vec3::X } else { Vec3::Y };
    let first = normal.cross(helper).normalize();
    [first, normal.cross(first)]
}
