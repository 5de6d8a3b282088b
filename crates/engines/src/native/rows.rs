//! Rows for whatever must be held: contacts by the hard law, joints at their limits, dry
//! friction, mimics and loops.

use headland_base::Vec3;
use headland_sim::constraint::{BlockKind, Blocks, Settings, solve};
use headland_sim::motion::{Drive, Pack};
use headland_sim::tree::{Half, V3, V6};
use headland_sim::{Model, State};

use super::contacts::{Contacts, Touch, velocity_at};

/// The rows of a step, and which axes have some: constant lists and scratch.
pub(super) struct Rows {
    /// Axes that may need a row.
    axes: Vec<AxisRow>,
    mimics: Vec<MimicRow>,
    /// Where the columns of every robot begin, pack by pack.
    first_columns: Vec<Vec<usize>>,
    n_columns: usize,
    blocks: Blocks,
    /// What each block is, to be kicked by.
    owners: Vec<Owner>,
    order: Vec<usize>,
    halves: [Half; 2],
}

#[derive(Clone, Copy, Debug)]
struct AxisRow {
    pack: usize,
    robot: usize,
    column: usize,
    /// In the tree's coordinate.
    lower: f64,
    upper: f64,
    friction: f64,
}

#[derive(Clone, Copy, Debug)]
struct MimicRow {
    follower: (usize, usize, usize),
    leader: (usize, usize, usize),
    /// Of the tree's coordinates.
    multiplier: f64,
    offset: f64,
}

/// Whom the impulses of a block move.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Contact { touch: usize, tangents: [Vec3; 2], scales: [f64; 2] },
    /// Impulse times sign along one axis, and times the second number along another.
    Axis { at: (usize, usize, usize), sign: f64 },
    Mimic { follower: (usize, usize, usize), leader: (usize, usize, usize), multiplier: f64 },
}

/// Share of a depth, or of what a mimic is off by, that is made good per step.
const MENDING: f64 = 0.1;

/// Depth that is left alone \[m\]: what rounding and a settled stack leave.
const SLOP: f64 = 1e-6;

/// The fastest anything is pushed out \[m/s\].
const MENDING_SPEED: f64 = 1.0;

/// Contacts that close slower than this many steps of gravity do not bounce: a body at rest
/// closes by one in each step.
const N_STEPS_OF_REST: f64 = 3.0;

const SETTINGS: Settings = Settings { n_sweeps: 200, tolerance: 1e-10 };

impl Rows {
    pub fn of(model: &Model, packs: &[Box<dyn Pack>]) -> Rows {
        let mut first_columns = Vec::new();
        let mut n_columns = 0;
        let mut places = vec![None; model.dofs.len()];
        for (p, pack) in packs.iter().enumerate() {
            let n = pack.tree().n_dofs;
            let of_pack = (0..pack.robots().len()).map(|robot| n_columns + robot * n).collect();
            first_columns.push(of_pack);
            n_columns += n * pack.robots().len();
            for (r, robot) in pack.robots().iter().enumerate() {
                for (k, dof) in robot.dofs.iter().enumerate() {
                    if let Some((dof, sign)) = *dof {
                        places[dof] = Some(((p, r, k), sign));
                    }
                }
            }
        }
        let axes = model.dofs.iter().zip(&places).filter_map(|(dof, place)| {
            let ((pack, robot, column), sign) = (*place)?;
            let axis = &dof.axis;
            let (lower, upper) =
                if sign > 0.0 { (axis.lower, axis.upper) } else { (-axis.upper, -axis.lower) };
            let needs = lower.is_finite() || upper.is_finite() || axis.friction > 0.0;
            let friction = axis.friction;
            needs.then_some(AxisRow { pack, robot, column, lower, upper, friction })
        });
        let mimics = model.dofs.iter().zip(&places).filter_map(|(dof, place)| {
            let mimic = dof.mimic?;
            let (follower, sign) = (*place)?;
            let (leader, leader_sign) = places[mimic.leader_dof]?;
            let multiplier = sign * mimic.multiplier * leader_sign;
            Some(MimicRow { follower, leader, multiplier, offset: sign * mimic.offset })
        });
        Rows {
            axes: axes.collect(),
            mimics: mimics.collect(),
            first_columns,
            n_columns,
            blocks: Blocks::default(),
            owners: Vec::new(),
            order: Vec::new(),
            halves: [Half::default(), Half::default()],
        }
    }

    pub fn begin(&mut self, _packs: &[Box<dyn Pack>]) {
        self.blocks.clear(self.n_columns);
        self.owners.clear();
    }

    /// Every contact: a normal that keeps the sides apart and two tangents that rub.
    pub fn hold_contacts(
        &mut self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        contacts: &Contacts,
    ) {
        for (i, touch) in contacts.touches.iter().enumerate() {
            if touch.seats == [None, None] {
                continue;
            }
            self.hold_contact(drive, packs, state, i, touch);
        }
    }

    fn hold_contact(
        &mut self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        touch_idx: usize,
        touch: &Touch,
    ) {
        let (normal, at) = (touch.point.normal, touch.point.position);
        let free = self.free_velocity(packs, state, touch);
        let closing = free.dot(normal);
        let dt = drive.dt;
        // Still apart at the end of the step, and would be without any impulse.
        if touch.point.depth < 0.0 && closing * dt > touch.point.depth && touch.impulse[0] == 0.0 {
            return;
        }
        let tangents = tangents_of(normal);
        let scales = [touch.surfaces.mu, touch.surfaces.mu2];
        let before = velocity_at(state, touch.rigids[1], at) - velocity_at(state, touch.rigids[0], at);
        let wanted = wanted_speed(drive, touch, closing, before.dot(normal));
        let directions = [normal, tangents[0] * scales[0], tangents[1] * scales[1]];
        let free = directions.map(|d| free.dot(d));
        self.blocks.open(BlockKind::Contact, 3, [wanted, 0.0, 0.0], free);
        for (side, seat) in touch.seats.iter().enumerate() {
            let Some((pack, robot, node)) = *seat else { continue };
            let sign = if side == 1 { 1.0 } else { -1.0 };
            let arm = at - packs[pack].origin(robot);
            let rows = directions.map(|d| {
                let (d, moment) = (d * sign, arm.cross(d * sign));
                [moment.x, moment.y, moment.z, d.x, d.y, d.z]
            });
            let half = &mut self.halves[side];
            packs[pack].half(robot, node, half);
            let give = |column| packs[pack].give(robot, column);
            self.blocks.side(half, self.first_columns[pack][robot], give, &rows);
        }
        self.blocks.close();
        *self.blocks.impulses.last_mut().expect("just opened") = touch.impulse;
        self.owners.push(Owner::Contact { touch: touch_idx, tangents, scales });
    }

    /// Of b against a at the contact, if nothing kicked.
    fn free_velocity(&self, packs: &[Box<dyn Pack>], state: &State, touch: &Touch) -> Vec3 {
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

    /// Limits, dry friction and mimics.
    pub fn hold_joints(&mut self, drive: &Drive<'_>, packs: &[Box<dyn Pack>], _state: &State) {
        let dt = drive.dt;
        for i in 0..self.axes.len() {
            let axis = self.axes[i];
            let pack = &packs[axis.pack];
            let (q, v) = (
                pack.coordinate(axis.robot, axis.column),
                pack.free_speed(axis.robot, axis.column),
            );
            let at = (axis.pack, axis.robot, axis.column);
            for (room, sign) in [(q - axis.lower, 1.0), (axis.upper - q, -1.0)] {
                // A generous look: another row may push an axis against its stop.
                if room < (4.0 * dt * v.abs()).max(NEAR_A_STOP) {
                    self.hold_axis(packs, at, sign, BlockKind::Stop, stop_speed(room, dt));
                }
            }
            if axis.friction > 0.0 {
                self.hold_axis(packs, at, 1.0, BlockKind::Rub(axis.friction * dt), 0.0);
            }
        }
        for i in 0..self.mimics.len() {
            self.hold_mimic(packs, self.mimics[i], dt);
        }
    }

    fn hold_axis(
        &mut self,
        packs: &[Box<dyn Pack>],
        at: (usize, usize, usize),
        sign: f64,
        kind: BlockKind,
        wanted: f64,
    ) {
        let (pack, robot, column) = at;
        let free = sign * packs[pack].free_speed(robot, column);
        self.blocks.open(kind, 1, [wanted, 0.0, 0.0], [free, 0.0, 0.0]);
        self.column_side(packs, at, sign);
        self.blocks.close();
        self.owners.push(Owner::Axis { at, sign });
    }

    fn column_side(&mut self, packs: &[Box<dyn Pack>], at: (usize, usize, usize), share: f64) {
        let (pack, robot, column) = at;
        let half = &mut self.halves[0];
        packs[pack].half_of_column(robot, column, half);
        let give = |column| packs[pack].give(robot, column);
        let first = self.first_columns[pack][robot];
        self.blocks.side(half, first, give, &[[share, 0.0, 0.0, 0.0, 0.0, 0.0]]);
    }

    fn hold_mimic(&mut self, packs: &[Box<dyn Pack>], mimic: MimicRow, dt: f64) {
        let at = |(pack, robot, column): (usize, usize, usize)| {
            (packs[pack].coordinate(robot, column), packs[pack].free_speed(robot, column))
        };
        let ((q, v), (leader_q, leader_v)) = (at(mimic.follower), at(mimic.leader));
        let error = q - mimic.multiplier * leader_q - mimic.offset;
        let free = v - mimic.multiplier * leader_v;
        let wanted = -MENDING * error / dt;
        self.blocks.open(BlockKind::Held, 1, [wanted, 0.0, 0.0], [free, 0.0, 0.0]);
        self.column_side(packs, mimic.follower, 1.0);
        self.column_side(packs, mimic.leader, -mimic.multiplier);
        self.blocks.close();
        let MimicRow { follower, leader, multiplier, .. } = mimic;
        self.owners.push(Owner::Mimic { follower, leader, multiplier });
    }

    pub fn solve(&mut self) {
        self.order.clear();
        self.order.extend(0..self.blocks.blocks.len());
        solve(&mut self.blocks, &self.order, SETTINGS);
    }

    /// Hands the impulses to the packs, and to the contacts what became of them.
    pub fn kick(&mut self, packs: &mut [Box<dyn Pack>], dt: f64, contacts: &mut Contacts) {
        for (owner, impulse) in self.owners.iter().zip(&self.blocks.impulses) {
            if *impulse == [0.0; 3] {
                if let Owner::Contact { touch, .. } = owner {
                    contacts.touches[*touch].impulse = [0.0; 3];
                }
                continue;
            }
            match *owner {
                Owner::Contact { touch, tangents, scales } => {
                    let touch = &mut contacts.touches[touch];
                    touch.impulse = *impulse;
                    let total = touch.point.normal * impulse[0]
                        + tangents[0] * (impulse[1] * scales[0])
                        + tangents[1] * (impulse[2] * scales[1]);
                    touch.force = total / dt;
                    for (side, seat) in touch.seats.iter().enumerate() {
                        let Some((pack, robot, node)) = *seat else { continue };
                        let sign = if side == 1 { 1.0 } else { -1.0 };
                        let arm = touch.point.position - packs[pack].origin(robot);
                        let kick = V6::force_at(V3::of(arm), V3::of(total * sign), V3::ZERO);
                        packs[pack].kick(robot, node, kick);
                    }
                }
                Owner::Axis { at: (pack, robot, column), sign } => {
                    packs[pack].kick_column(robot, column, sign * impulse[0]);
                }
                Owner::Mimic { follower, leader, multiplier } => {
                    let (pack, robot, column) = follower;
                    packs[pack].kick_column(robot, column, impulse[0]);
                    let (pack, robot, column) = leader;
                    packs[pack].kick_column(robot, column, -multiplier * impulse[0]);
                }
            }
        }
    }
}

/// An axis nearer to its stop than this may be pushed against it by other rows \[rad or m\].
const NEAR_A_STOP: f64 = 1e-3;

/// The least speed away from a stop with this much room: it may close what there is.
fn stop_speed(room: f64, dt: f64) -> f64 {
    if room >= 0.0 { -room / dt } else { (-room * MENDING / dt).min(MENDING_SPEED) }
}

/// The normal speed a contact should have at least: what closes the gap, what makes the depth
/// good, or what a bounce gives back.
fn wanted_speed(drive: &Drive<'_>, touch: &Touch, closing: f64, before: f64) -> f64 {
    let (dt, depth) = (drive.dt, touch.point.depth);
    let rest = if depth <= 0.0 {
        depth / dt
    } else {
        ((depth - SLOP).max(0.0) * MENDING / dt).min(MENDING_SPEED)
    };
    let slow = N_STEPS_OF_REST * dt * drive.model.world.gravity.length();
    let strikes = before < -slow.max(1e-6) && closing * dt <= depth.min(0.0);
    let bounce = -touch.surfaces.restitution * before;
    if strikes && touch.surfaces.restitution > 0.0 { rest.max(bounce) } else { rest }
}

/// Two directions across a normal.
fn tangents_of(normal: Vec3) -> [Vec3; 2] {
    let helper = if normal.x.abs() < 0.7 { Vec3::X } else { Vec3::Y };
    let first = normal.cross(helper).normalize();
    [first, normal.cross(first)]
}
