//! Rows for whatever must be held: contacts by the hard law, joints at their limits, dry
//! friction, mimics and loops. Found, solved island by island, and handed to the packs.

use headland_base::Vec3;
use headland_base::maths::sqrt;
use headland_sim::constraint::Blocks;
use headland_sim::contact::hard::{
    self, Contact, Problem, Row, Scratch, Tuning, correction_speed, normal_target,
};
use headland_sim::motion::{Drive, Pack};
use headland_sim::tree::{Half, V3, V6};
use headland_sim::{Model, State};

use super::contacts::{Contacts, Touch, velocity_at};
use super::islands::Islands;
use super::joint_rows::JointRows;
use super::packing::Seat;

/// The rows of a step, and what solves them.
pub(super) struct Rows {
    joints: JointRows,
    numbering: Numbering,
    pub(super) blocks: Blocks,
    /// What each block is.
    owners: Vec<Owner>,
    /// Per block: of the single row, or of the contact.
    singles: Vec<Row>,
    contacts: Vec<Contact>,
    halves: [Half; 2],
    islands: Islands,
    work: Work,
}

/// Robots and columns counted through all packs: constant.
pub(super) struct Numbering {
    /// Number of the robot and of its first column, pack by pack.
    robots: Vec<Vec<(usize, usize)>>,
    n_robots: usize,
    n_columns: usize,
}

impl Numbering {
    fn of(packs: &[Box<dyn Pack>]) -> Numbering {
        let (mut n_robots, mut n_columns) = (0, 0);
        let mut robots = Vec::new();
        for pack in packs {
            let mut of_pack = Vec::new();
            for _ in pack.robots() {
                of_pack.push((n_robots, n_columns));
                n_robots += 1;
                // Details without a tree of their own count six for the whole.
                n_columns += pack.tree().n_dofs.max(6);
            }
            robots.push(of_pack);
        }
        Numbering { robots, n_robots, n_columns }
    }

    pub fn robot(&self, (pack, robot, _): Seat) -> (usize, usize) {
        self.robots[pack][robot]
    }
}

/// Whom the impulses of a block move.
#[derive(Clone, Debug)]
pub(super) enum Owner {
    /// A contact, by its index.
    Contact { touch: usize, tangents: [Vec3; 2] },
    /// Columns, each with its share.
    Columns(Vec<(Seat, f64)>),
    /// Two links, with the force about each one's origin that a unit impulse is.
    Links(Vec<(Seat, V6<f64>)>),
    /// The two sides of a contact that rub, in the same form; along what, which is nothing for
    /// spin; and how much the row gives in \[1/kg, or 1/(kg·m²)\].
    Rub { touch: usize, along: Vec3, sides: Vec<(Seat, V6<f64>)>, give: f64 },
}

#[derive(Default)]
struct Work {
    scratch: Scratch,
    columns: Vec<[f64; 3]>,
    delassus: Vec<f64>,
    free: Vec<f64>,
    impulses: Vec<f64>,
    bounces: Vec<f64>,
    contacts: Vec<Contact>,
    rows: Vec<Row>,
}

/// Share of a depth that is made good per step.
const MENDING: f64 = 0.2;

/// Depth that is left alone \[m\]: without it a settled stack would be pushed for ever.
const SLACK: f64 = 1e-5;

/// The fastest anything is pushed out \[m/s\].
const MENDING_SPEED: f64 = 1.0;

/// Contacts that close slower than this many steps of gravity do not bounce: a body at rest
/// closes by one in each step.
const N_STEPS_OF_REST: f64 = 3.0;

impl Rows {
    pub fn of(model: &Model, packs: &[Box<dyn Pack>]) -> Rows {
        let numbering = Numbering::of(packs);
        Rows {
            joints: JointRows::of(model, packs),
            islands: Islands::new(numbering.n_robots),
            numbering,
            blocks: Blocks::default(),
            owners: Vec::new(),
            singles: Vec::new(),
            contacts: Vec::new(),
            halves: [Half::default(), Half::default()],
            work: Work::default(),
        }
    }

    pub fn begin(&mut self) {
        self.blocks.clear();
        self.owners.clear();
        self.singles.clear();
        self.contacts.clear();
    }

    /// Every contact: a normal that keeps the sides apart and two tangents that rub.
    pub fn hold_contacts(
        &mut self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        contacts: &Contacts,
    ) {
        let mut group = 0;
        for (i, touch) in contacts.touches.iter().enumerate() {
            let moves =
                |seat: &Option<Seat>| seat.is_some_and(|(pack, ..)| packs[pack].gives_way());
            if !touch.seats.iter().any(moves) {
                continue;
            }
            let follows = i > 0 && contacts.touches[i - 1].rigids == touch.rigids;
            group += usize::from(!follows);
            self.hold_contact(drive, packs, state, (i, group), touch);
        }
    }

    fn hold_contact(
        &mut self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        (touch_idx, group): (usize, usize),
        touch: &Touch,
    ) {
        let (normal, at) = (touch.point.normal, touch.point.position);
        let tangents = tangents_of(normal);
        let directions = [normal, tangents[0], tangents[1]];
        let free = free_velocity(packs, state, touch);
        let before =
            velocity_at(state, touch.rigids[1], at) - velocity_at(state, touch.rigids[0], at);
        let surfaces = &touch.surfaces;
        let (dt, depth) = (drive.dt, touch.point.depth);
        let approach = before.dot(normal);
        let target = normal_target(depth, approach, surfaces.restitution, rest_speed(drive), dt);
        self.blocks.open(3, directions.map(|d| free.dot(d)));
        for (side, seat) in touch.seats.iter().enumerate() {
            let Some(seat) = *seat else { continue };
            let sign = if side == 1 { 1.0 } else { -1.0 };
            let rows = directions.map(|d| six(about(packs, seat, at, d * sign)));
            link_side(
                &mut self.blocks,
                &self.numbering,
                packs,
                seat,
                &mut self.halves[side],
                &rows,
            );
        }
        self.contacts.push(Contact {
            mu: surfaces.mean_mu(),
            mu2: surfaces.mean_mu(),
            restitution: surfaces.restitution,
            target,
            group,
            is_touching: depth >= 0.0 || depth > approach * dt,
        });
        self.singles.push(Row::held(0.0));
        self.owners.push(Owner::Contact { touch: touch_idx, tangents });
    }

    /// Viscous friction of contacts, as of the end of the step: `λ = −h·c·u` is a row that holds
    /// still and gives in by `1/(h·c)`. As a force it would throw a light foot about as soon as
    /// `h·c` is more than twice what the foot weighs.
    pub fn rub(&mut self, dt: f64, packs: &[Box<dyn Pack>], state: &State, contacts: &Contacts) {
        for (i, touch) in contacts.touches.iter().enumerate() {
            let moves =
                |seat: &Option<Seat>| seat.is_some_and(|(pack, ..)| packs[pack].gives_way());
            if touch.rub == [0.0; 2] || !touch.seats.iter().any(moves) {
                continue;
            }
            let [sliding, spinning] = touch.rub;
            let slip = free_velocity(packs, state, touch);
            for along in tangents_of(touch.point.normal) {
                self.rub_along(
                    packs,
                    (i, touch),
                    (along, Vec3::ZERO),
                    slip.dot(along),
                    dt * sliding,
                );
            }
            let spin = free_spin(packs, state, touch);
            for about in [Vec3::X, Vec3::Y, Vec3::Z] {
                let turn = spin.dot(about);
                self.rub_along(packs, (i, touch), (Vec3::ZERO, about), turn, dt * spinning);
            }
        }
    }

    fn rub_along(
        &mut self,
        packs: &[Box<dyn Pack>],
        (touch_idx, touch): (usize, &Touch),
        (along, about): (Vec3, Vec3),
        free: f64,
        impulse_per_speed: f64,
    ) {
        if impulse_per_speed <= 0.0 {
            return;
        }
        let sides = touch.seats.iter().zip([-1.0, 1.0]).filter_map(|(seat, sign)| {
            let seat = (*seat)?;
            let arm = V3::of(touch.point.position - packs[seat.0].origin(seat.1));
            Some((seat, V6::force_at(arm, V3::of(along * sign), V3::of(about * sign))))
        });
        let sides: Vec<(Seat, V6<f64>)> = sides.collect();
        self.blocks.open(1, [free, 0.0, 0.0]);
        for (i, (seat, force)) in sides.iter().enumerate() {
            let half = &mut self.halves[i];
            link_side(&mut self.blocks, &self.numbering, packs, *seat, half, &[six(*force)]);
        }
        self.singles.push(Row::held(0.0));
        let give = 1.0 / impulse_per_speed;
        self.owners.push(Owner::Rub { touch: touch_idx, along, sides, give });
    }

    /// Limits, dry friction, mimics and loops.
    pub fn hold_joints(&mut self, drive: &Drive<'_>, packs: &[Box<dyn Pack>], state: &State) {
        let joints = std::mem::take(&mut self.joints);
        joints.hold(drive, packs, state, self);
        self.joints = joints;
    }

    /// A row on columns: each with its share.
    pub fn hold_columns(&mut self, packs: &[Box<dyn Pack>], shares: &[(Seat, f64)], row: Row) {
        let speed = |((pack, robot, column), share): &(Seat, f64)| {
            packs[*pack].free_speed(*robot, *column) * share
        };
        self.blocks.open(1, [shares.iter().map(speed).sum(), 0.0, 0.0]);
        for (seat, share) in shares {
            let (pack, robot, column) = *seat;
            let half = &mut self.halves[0];
            packs[pack].half_of_column(robot, column, half);
            let give = |column| packs[pack].give(robot, column);
            let place = self.numbering.robot(*seat);
            self.blocks.side(place, half, give, &[[*share, 0.0, 0.0, 0.0, 0.0, 0.0]]);
        }
        self.singles.push(row);
        self.owners.push(Owner::Columns(shares.to_vec()));
    }

    /// A row between links: what a unit impulse along it is on each.
    pub fn hold_links(
        &mut self,
        packs: &[Box<dyn Pack>],
        sides: Vec<(Seat, V6<f64>)>,
        free: f64,
        row: Row,
    ) {
        self.blocks.open(1, [free, 0.0, 0.0]);
        for (i, (seat, force)) in sides.iter().enumerate() {
            let half = &mut self.halves[i.min(1)];
            link_side(&mut self.blocks, &self.numbering, packs, *seat, half, &[six(*force)]);
        }
        let size = |force: &V6<f64>| sqrt(force.dot(*force));
        let row_size = sides.iter().map(|(_, force)| size(force)).fold(0.0, f64::max);
        if self.blocks.drop_if_idle(&self.halves[..sides.len().min(2)], row_size) {
            return;
        }
        self.singles.push(row);
        self.owners.push(Owner::Links(sides));
    }

    /// Solves every island by itself and kicks what it moves.
    pub fn solve(
        &mut self,
        drive: &Drive<'_>,
        packs: &mut [Box<dyn Pack>],
        state: &State,
        contacts: &mut Contacts,
    ) {
        self.islands.find(&self.blocks);
        for i in 0..self.islands.n() {
            self.solve_island(i, drive, packs, state, contacts);
        }
    }

    fn solve_island(
        &mut self,
        island: usize,
        drive: &Drive<'_>,
        packs: &mut [Box<dyn Pack>],
        state: &State,
        contacts: &mut Contacts,
    ) {
        let chosen = self.islands.blocks(island);
        let work = &mut self.work;
        let n_columns = self.numbering.n_columns;
        self.blocks.delassus(chosen, n_columns, &mut work.columns, &mut work.delassus);
        soften(&self.blocks, &self.owners, chosen, &mut work.delassus);
        work.contacts.clear();
        work.rows.clear();
        work.free.clear();
        work.impulses.clear();
        // Contacts were opened before single rows, which is the order the solver wants.
        for &block in chosen {
            let n_rows = self.blocks.blocks[block].n_rows;
            work.free.extend_from_slice(&self.blocks.blocks[block].free[..n_rows]);
            match &self.owners[block] {
                Owner::Contact { touch, .. } => {
                    work.contacts.push(self.contacts[block]);
                    work.impulses.extend(contacts.touches[*touch].impulse);
                }
                Owner::Columns(_) | Owner::Links(_) | Owner::Rub { .. } => {
                    work.rows.push(self.singles[block]);
                    work.impulses.push(0.0);
                }
            }
        }
        self.bounce(island, drive, packs, state, contacts);
        let work = &mut self.work;
        let problem = Problem {
            delassus: &work.delassus,
            free: &work.free,
            contacts: &work.contacts,
            rows: &work.rows,
        };
        hard::solve(&problem, &mut work.impulses, &Tuning::default(), &mut work.scratch);
        // Whoever left the finite is held for it; those it touches must not follow.
        if !work.impulses.iter().chain(&work.bounces).all(|impulse| impulse.is_finite()) {
            work.impulses.fill(0.0);
            work.bounces.clear();
        }
        self.hand_out(island, drive.dt, packs, contacts);
        self.push_apart(island, drive.dt, packs, contacts);
    }

    /// What strikes bounces first, from the velocities of the step's beginning; what that
    /// changes is where the solver begins.
    fn bounce(
        &mut self,
        island: usize,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        contacts: &Contacts,
    ) {
        let chosen = self.islands.blocks(island);
        let work = &mut self.work;
        work.bounces.clear();
        let strikes = work.contacts.iter().any(|c| c.restitution > 0.0 && c.is_touching);
        if !strikes {
            return;
        }
        let mut before = Vec::with_capacity(work.free.len());
        for &block in chosen {
            match &self.owners[block] {
                Owner::Contact { touch, tangents } => {
                    let touch = &contacts.touches[*touch];
                    let at = touch.point.position;
                    let v = velocity_at(state, touch.rigids[1], at)
                        - velocity_at(state, touch.rigids[0], at);
                    before.extend([touch.point.normal, tangents[0], tangents[1]].map(|d| v.dot(d)));
                }
                Owner::Columns(_) | Owner::Links(_) | Owner::Rub { .. } => before.push(0.0),
            }
        }
        let _ = packs;
        let problem = Problem {
            delassus: &work.delassus,
            free: &before,
            contacts: &work.contacts,
            rows: &work.rows,
        };
        work.bounces.resize(before.len(), 0.0);
        let tuning = Tuning::default();
        let slow = rest_speed(drive);
        let answered = hard::impact(&problem, slow, &mut work.bounces, &tuning, &mut work.scratch);
        if answered.n_answered > 0 {
            let n = work.free.len();
            for (i, free) in work.free.iter_mut().enumerate() {
                let row = &work.delassus[i * n..(i + 1) * n];
                *free += row.iter().zip(&work.bounces).map(|(w, b)| w * b).sum::<f64>();
            }
            // What a bounce took along is not what the contact needs besides.
            work.impulses.fill(0.0);
        } else {
            work.bounces.clear();
        }
    }

    fn hand_out(
        &mut self,
        island: usize,
        dt: f64,
        packs: &mut [Box<dyn Pack>],
        contacts: &mut Contacts,
    ) {
        let mut at = 0;
        for &block in self.islands.blocks(island) {
            let impulse = |k: usize| {
                self.work.impulses[at + k] + self.work.bounces.get(at + k).copied().unwrap_or(0.0)
            };
            match &self.owners[block] {
                Owner::Contact { touch, tangents } => {
                    let touch = &mut contacts.touches[*touch];
                    touch.impulse = [0, 1, 2].map(|k| self.work.impulses[at + k]);
                    let total = touch.point.normal * impulse(0)
                        + tangents[0] * impulse(1)
                        + tangents[1] * impulse(2);
                    touch.force = total / dt;
                    if total != Vec3::ZERO {
                        kick_sides(packs, touch, total, |pack, seat, kick| {
                            pack.kick(seat.1, seat.2, kick);
                        });
                    }
                }
                Owner::Columns(shares) => {
                    for ((pack, robot, column), share) in shares {
                        packs[*pack].kick_column(*robot, *column, share * impulse(0));
                    }
                }
                Owner::Links(sides) => kick_links(packs, sides, impulse(0)),
                Owner::Rub { touch, along, sides, .. } => {
                    contacts.touches[*touch].force += *along * (impulse(0) / dt);
                    kick_links(packs, sides, impulse(0));
                }
            }
            at += self.blocks.blocks[block].n_rows;
        }
    }

    /// A second, frictionless problem for what overlaps: displacements without speed.
    fn push_apart(
        &mut self,
        island: usize,
        dt: f64,
        packs: &mut [Box<dyn Pack>],
        contacts: &Contacts,
    ) {
        let work = &mut self.work;
        let mut any = false;
        let owners = self.islands.blocks(island).iter().map(|block| &self.owners[*block]);
        for (contact, owner) in work.contacts.iter_mut().zip(owners) {
            let Owner::Contact { touch, .. } = owner else { continue };
            let depth = contacts.touches[*touch].point.depth;
            (contact.mu, contact.mu2) = (0.0, 0.0);
            contact.target = if depth > SLACK {
                any = true;
                correction_speed(depth, SLACK, MENDING, MENDING_SPEED, dt)
            } else {
                // Others may be pushed closer, but not into each other.
                (depth / dt).min(0.0)
            };
        }
        if !any {
            return;
        }
        work.rows.iter_mut().for_each(|row| row.target = 0.0);
        work.free.fill(0.0);
        work.impulses.fill(0.0);
        let problem = Problem {
            delassus: &work.delassus,
            free: &work.free,
            contacts: &work.contacts,
            rows: &work.rows,
        };
        hard::solve(&problem, &mut work.impulses, &Tuning::default(), &mut work.scratch);
        let owners = self.islands.blocks(island).iter().map(|block| &self.owners[*block]);
        for (i, owner) in owners.enumerate() {
            let Owner::Contact { touch, .. } = owner else { break };
            let touch = &contacts.touches[*touch];
            let total = touch.point.normal * work.impulses[3 * i];
            if total != Vec3::ZERO {
                kick_sides(packs, touch, total, |pack, seat, nudge| {
                    pack.nudge(seat.1, seat.2, nudge);
                });
            }
        }
    }
}

/// Rows between links may depend on each other: a planar loop is held across its plane at each
/// of its joints. A little give makes the share of each unique.
fn soften(blocks: &Blocks, owners: &[Owner], chosen: &[usize], delassus: &mut [f64]) {
    let n: usize = chosen.iter().map(|block| blocks.blocks[*block].n_rows).sum();
    let mut at = 0;
    for &block in chosen {
        match &owners[block] {
            Owner::Links(_) => delassus[at * n + at] *= 1.0 + GIVE,
            Owner::Rub { give, .. } => delassus[at * n + at] += give,
            Owner::Contact { .. } | Owner::Columns(_) => {}
        }
        at += blocks.blocks[block].n_rows;
    }
}

/// Share of its own response that a row between links gives in.
const GIVE: f64 = 1e-7;

/// Speeds up to which nothing bounces.
fn rest_speed(drive: &Drive<'_>) -> f64 {
    (N_STEPS_OF_REST * drive.dt * drive.model.world.gravity.length()).max(1e-6)
}

/// What an impulse of a contact does to whom it moves, handed to `act` side by side.
fn kick_sides(
    packs: &mut [Box<dyn Pack>],
    touch: &Touch,
    total: Vec3,
    act: impl Fn(&mut dyn Pack, Seat, V6<f64>),
) {
    for (side, seat) in touch.seats.iter().enumerate() {
        let Some(seat) = *seat else { continue };
        let sign = if side == 1 { 1.0 } else { -1.0 };
        let kick = about(packs, seat, touch.point.position, total * sign);
        act(packs[seat.0].as_mut(), seat, kick);
    }
}

/// What an impulse along a row between links does to both.
fn kick_links(packs: &mut [Box<dyn Pack>], sides: &[(Seat, V6<f64>)], impulse: f64) {
    for ((pack, robot, node), force) in sides {
        packs[*pack].kick(*robot, *node, *force * impulse);
    }
}

/// One side of the block that was opened last, on a link.
fn link_side(
    blocks: &mut Blocks,
    numbering: &Numbering,
    packs: &[Box<dyn Pack>],
    seat: Seat,
    half: &mut Half,
    rows: &[[f64; 6]],
) {
    let (pack, robot, node) = seat;
    packs[pack].half(robot, node, half);
    blocks.side(numbering.robot(seat), half, |column| packs[pack].give(robot, column), rows);
}

/// A force at a point of the world, about the origin of who it acts on.
pub(super) fn about(packs: &[Box<dyn Pack>], seat: Seat, at: Vec3, force: Vec3) -> V6<f64> {
    let arm = at - packs[seat.0].origin(seat.1);
    V6::force_at(V3::of(arm), V3::of(force), V3::ZERO)
}

fn six(force: V6<f64>) -> [f64; 6] {
    let (t, l) = (force.turn, force.line);
    [t.x, t.y, t.z, l.x, l.y, l.z]
}

/// Of b against a at the contact, if nothing kicked.
fn free_velocity(packs: &[Box<dyn Pack>], state: &State, touch: &Touch) -> Vec3 {
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

/// How fast b turns against a, if nothing kicked.
fn free_spin(packs: &[Box<dyn Pack>], state: &State, touch: &Touch) -> Vec3 {
    let of_side = |side: usize| match touch.seats[side] {
        Some((pack, robot, node)) => packs[pack].free_motion(robot, node).turn.get(0),
        None => state.rigids[touch.rigids[side]].twist.angular,
    };
    of_side(1) - of_side(0)
}

/// Two directions across a normal.
fn tangents_of(normal: Vec3) -> [Vec3; 2] {
    let helper = if normal.x.abs() < 0.7 { Vec3::X } else { Vec3::Y };
    let first = normal.cross(helper).normalize();
    [first, normal.cross(first)]
}
