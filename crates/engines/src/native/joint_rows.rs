//! What joints need held: limits, dry friction, motors at their limits, mimics, and the ends of loops.

use headland_base::maths::rotation_vector_from_quat;
use headland_base::{Transform, Vec3};
use headland_sim::contact::hard::Row;
use headland_sim::motion::{Drive, Pack};
use headland_sim::tree::{V3, V6};
use headland_sim::{Inputs, Joint, Model, Saturated, State};
use headland_world::JointKind;

use super::contacts::velocity_at;
use super::packing::Seat;
use super::rows::{Rows, is_approach};

/// Which joints need rows: constant.
#[derive(Default)]
pub(super) struct JointRows {
    axes: Vec<AxisRow>,
    /// Of every axis of the model whose joint gives way: pack, robot and column, and the way the
    /// tree's coordinate counts it.
    places: Vec<Option<(Seat, f64)>>,
    mimics: Vec<MimicRow>,
    loops: Vec<LoopRow>,
}

struct AxisRow {
    /// Pack, robot and column.
    at: Seat,
    /// The model's axis, and the way the tree's coordinate counts it.
    dof: (usize, f64),
    /// In the tree's coordinate.
    lower: f64,
    upper: f64,
    friction: f64,
}

struct MimicRow {
    follower: Seat,
    leader: Seat,
    /// Of the tree's coordinates.
    multiplier: f64,
    offset: f64,
}

struct LoopRow {
    joint_idx: usize,
    /// Parent and child; none for what no force moves.
    seats: [Option<Seat>; 2],
}

/// Share of what a mimic or a loop is off by that is made good per step.
const MENDING: f64 = 0.2;

/// The fastest an axis is pushed back from beyond its stop \[rad/s or m/s\].
const MENDING_SPEED: f64 = 1.0;

/// An axis nearer to its stop than this may be pushed against it by other rows \[rad or m\].
const NEAR_A_STOP: f64 = 1e-3;

impl JointRows {
    pub fn of(model: &Model, packs: &[Box<dyn Pack>]) -> JointRows {
        let mut places = vec![None; model.dofs.len()];
        let mut seats = vec![None; model.rigids.len()];
        let mut loops = Vec::new();
        for (p, pack) in packs.iter().enumerate() {
            for (r, robot) in pack.robots().iter().enumerate() {
                for (k, dof) in robot.dofs.iter().enumerate() {
                    if let Some((dof, sign)) = *dof {
                        places[dof] = Some(((p, r, k), sign));
                    }
                }
                for (node, rigid) in robot.rigids.iter().enumerate() {
                    if let Some(rigid) = *rigid {
                        seats[rigid] = Some((p, r, node));
                    }
                }
                loops.extend(&robot.loops);
            }
        }
        let axes = places.iter().enumerate().filter_map(|(dof, place)| {
            let (at, sign) = (*place)?;
            let axis = &model.dofs[dof].axis;
            let (lower, upper) =
                if sign > 0.0 { (axis.lower, axis.upper) } else { (-axis.upper, -axis.lower) };
            // What goes where it is told keeps to its limits by itself.
            let is_needed = packs[at.0].joints_give_way()
                && (lower.is_finite() || upper.is_finite() || axis.friction > 0.0);
            let (dof, friction) = ((dof, sign), axis.friction);
            is_needed.then_some(AxisRow { at, dof, lower, upper, friction })
        });
        let mimics = model.dofs.iter().zip(&places).filter_map(|(dof, place)| {
            let mimic = dof.mimic?;
            let (follower, sign) =
                (*place).filter(|((pack, ..), _)| packs[*pack].joints_give_way())?;
            let (leader, leader_sign) = places[mimic.leader_dof]?;
            let multiplier = sign * mimic.multiplier * leader_sign;
            Some(MimicRow { follower, leader, multiplier, offset: sign * mimic.offset })
        });
        let loops = loops.into_iter().map(|joint_idx: usize| {
            let joint = &model.joints[joint_idx];
            let parent = joint.parent_rigid.and_then(|rigid| seats[rigid]);
            LoopRow { joint_idx, seats: [parent, seats[joint.child_rigid]] }
        });
        let (axes, mimics, loops) = (axes.collect(), mimics.collect(), loops.collect());
        for place in &mut places {
            *place = place.filter(|((pack, ..), _)| packs[*pack].joints_give_way());
        }
        JointRows { axes, places, mimics, loops }
    }

    /// Whether efforts move an axis of the model.
    pub fn gives_way(&self, dof_idx: usize) -> bool {
        self.places[dof_idx].is_some()
    }

    /// Whether no joint needs any.
    pub fn is_empty(&self, inputs: &Inputs) -> bool {
        let is_free = self.axes.is_empty() && self.mimics.is_empty() && self.loops.is_empty();
        is_free && inputs.saturated.is_empty()
    }

    /// How many rows on columns there may be.
    pub fn n_slots(&self) -> usize {
        self.first_of_motors() + self.places.len()
    }

    fn first_of_motors(&self) -> usize {
        AxisRow::N_SLOTS * self.axes.len() + self.mimics.len()
    }

    pub fn hold(&self, drive: &Drive<'_>, packs: &[Box<dyn Pack>], state: &State, rows: &mut Rows) {
        for (i, axis) in self.axes.iter().enumerate() {
            axis.hold(drive.dt, packs, state, AxisRow::N_SLOTS * i, rows);
        }
        for (i, mimic) in self.mimics.iter().enumerate() {
            mimic.hold(drive.dt, packs, AxisRow::N_SLOTS * self.axes.len() + i, rows);
        }
        self.loops.iter().for_each(|cut| cut.hold(drive, packs, state, rows));
    }

    /// Motors at their limits, of whose turn it is.
    pub fn hold_motors(
        &self,
        drive: &Drive<'_>,
        packs: &[Box<dyn Pack>],
        state: &State,
        rows: &mut Rows,
        is_turn: impl Fn(&dyn Pack) -> bool,
    ) {
        for motor in &drive.inputs.saturated {
            let place = self.places[motor.dof_idx];
            let Some((at, sign)) = place.filter(|(at, _)| is_turn(packs[at.0].as_ref())) else {
                continue;
            };
            let slot = self.first_of_motors() + motor.dof_idx;
            let velocity = state.dofs[motor.dof_idx].velocity;
            hold_motor(motor, (at, sign), velocity, (slot, drive.dt), packs, rows);
        }
    }
}

/// A motor at its limit gives less from where it comes near enough. Added to what it gives at the
/// start of the step, an impulse λ within its room for which at the end
///
/// ```text
/// λ/dt = beyond − kd·(v⁺ − v) − kp·dt·v⁺
/// ```
fn hold_motor(
    motor: &Saturated,
    (at, sign): (Seat, f64),
    velocity: f64,
    (slot, dt): (usize, f64),
    packs: &[Box<dyn Pack>],
    rows: &mut Rows,
) {
    let Saturated { beyond, slope, room, .. } = *motor;
    let damping = slope.kd + slope.kp * dt;
    let target = sign * (beyond + slope.kd * velocity) / damping;
    let (low, high) = if sign > 0.0 { room } else { (-room.1, -room.0) };
    let row = Row { low: low * dt, high: high * dt, target };
    rows.hold_yielding_column(packs, slot, (at, 1.0), row, 1.0 / (damping * dt));
}

fn coordinate(packs: &[Box<dyn Pack>], (pack, robot, column): Seat) -> f64 {
    packs[pack].coordinate(robot, column)
}

impl AxisRow {
    /// The lower stop, the upper stop, dry friction.
    const N_SLOTS: usize = 3;

    fn hold(
        &self,
        dt: f64,
        packs: &[Box<dyn Pack>],
        state: &State,
        first_slot: usize,
        rows: &mut Rows,
    ) {
        let (pack, robot, column) = self.at;
        let q = coordinate(packs, self.at);
        let v = packs[pack].free_speed(robot, column);
        let before = self.dof.1 * state.dofs[self.dof.0].velocity;
        let stops = [(q - self.lower, 1.0), (self.upper - q, -1.0)];
        for (slot, (room, sign)) in (first_slot..).zip(stops) {
            // A generous look: another row may push an axis against its stop.
            if room < (4.0 * dt * v.abs()).max(NEAR_A_STOP) {
                let (share, after) = (Some((self.at, sign)), stop_speed(room, dt));
                let stops = is_approach(room, [sign * before, after], dt);
                rows.hold_columns(packs, slot, [share, None], (Row::limit(after), stops));
            }
        }
        if self.friction > 0.0 {
            let share = Some((self.at, 1.0));
            let slot = first_slot + stops.len();
            let row = Row::dry(self.friction * dt);
            rows.hold_columns(packs, slot, [share, None], (row, false));
        }
    }
}

/// The least speed away from a stop with this much room: it may close what there is.
fn stop_speed(room: f64, dt: f64) -> f64 {
    if room >= 0.0 { -room / dt } else { (-room * MENDING / dt).min(MENDING_SPEED) }
}

impl MimicRow {
    fn hold(&self, dt: f64, packs: &[Box<dyn Pack>], slot: usize, rows: &mut Rows) {
        let error = coordinate(packs, self.follower)
            - self.multiplier * coordinate(packs, self.leader)
            - self.offset;
        let shares = [Some((self.follower, 1.0)), Some((self.leader, -self.multiplier))];
        rows.hold_columns(packs, slot, shares, (Row::held(-MENDING * error / dt), false));
    }
}

/// One direction in which a loop is held: how far it is off, and along or about what; and how much
/// of the bend of its error is that of the direction, which turns with the links.
#[derive(Clone, Copy)]
struct Hold {
    error: f64,
    force: Vec3,
    moment: Vec3,
    bend: f64,
}

/// How the two links of a joint move at the beginning of a step.
struct Moves {
    /// Parent and child \[rad/s\].
    spins: [Vec3; 2],
    /// Of the child at the joint, seen from the parent there \[m/s\].
    slip: Vec3,
}

impl Moves {
    fn of(joint: &Joint, state: &State, at: Vec3) -> Moves {
        let of = |rigid: usize| (state.rigids[rigid].twist.angular, velocity_at(state, rigid, at));
        let (spin, velocity) = joint.parent_rigid.map_or((Vec3::ZERO, Vec3::ZERO), of);
        let (child_spin, child_velocity) = of(joint.child_rigid);
        Moves { spins: [spin, child_spin], slip: child_velocity - velocity }
    }

    /// Of the child's turning, seen about a direction that changes so fast.
    fn bend_about(&self, change: Vec3) -> f64 {
        (self.spins[1] - self.spins[0]).dot(change)
    }
}

impl LoopRow {
    fn hold(&self, drive: &Drive<'_>, packs: &[Box<dyn Pack>], state: &State, rows: &mut Rows) {
        let joint = &drive.model.joints[self.joint_idx];
        let pose = |rigid: usize| state.rigids[rigid].world_from_rigid;
        let parent = joint.parent_rigid.map_or(Transform::IDENTITY, pose) * joint.parent_from_joint;
        let child = pose(joint.child_rigid) * joint.child_from_joint;
        let moves = Moves::of(joint, state, child.translation);
        for hold in holds(joint, &parent, &child, &moves).into_iter().flatten() {
            let mut sides = [None; 2];
            let mut free = 0.0;
            let mut bend = hold.bend;
            for (i, (seat, sign)) in self.seats.iter().zip([-1.0, 1.0]).enumerate() {
                let Some((pack, robot, node)) = *seat else { continue };
                let arm = V3::of(child.translation - packs[pack].origin(robot));
                let force =
                    V6::force_at(arm, V3::of(hold.force * sign), V3::of(hold.moment * sign));
                free += packs[pack].free_motion(robot, node).dot(force);
                let of_link = packs[pack].bend(robot, node, arm);
                bend += of_link.line.dot(V3::of(hold.force)) * sign;
                bend += of_link.turn.dot(V3::of(hold.moment)) * sign;
                sides[i] = Some(((pack, robot, node), force));
            }
            // What no force moves, moves as the state says.
            if self.seats[0].is_none()
                && let Some(rigid) = joint.parent_rigid
            {
                let twist = state.rigids[rigid].twist;
                let arm = child.translation - pose(rigid).translation;
                let velocity = twist.linear + twist.angular.cross(arm);
                free -= velocity.dot(hold.force) + twist.angular.dot(hold.moment);
            }
            // Ends that go straight on for the step leave their way by half of its bend. Of both
            // is asked what the loop can do: see attainable.rs.
            let wanted = -MENDING * hold.error / drive.dt - 0.5 * drive.dt * bend;
            rows.hold_links(packs, sides, free, Row::held(wanted));
        }
    }
}

/// The directions in which a joint holds its child to its parent: five at most.
fn holds(joint: &Joint, parent: &Transform, child: &Transform, moves: &Moves) -> [Option<Hold>; 5] {
    let apart = child.translation - parent.translation;
    let [spin, child_spin] = moves.spins;
    let along = |direction: Vec3, bend: f64| {
        let error = apart.dot(direction);
        Some(Hold { error, force: direction, moment: Vec3::ZERO, bend })
    };
    let about = |direction: Vec3, error: f64, change: Vec3| {
        let bend = moves.bend_about(change);
        Some(Hold { error, force: Vec3::ZERO, moment: direction, bend })
    };
    let world = [Vec3::X, Vec3::Y, Vec3::Z];
    let [x, y, z] = world.map(|direction| along(direction, 0.0));
    match &joint.kind {
        JointKind::Ball => [x, y, z, None, None],
        JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
            let (here, there) = (parent.vector(axis.direction), child.vector(axis.direction));
            let off = here.cross(there);
            let first = here.any_orthonormal_vector();
            // They turn with the parent.
            let turns = [first, here.cross(first)]
                .map(|across| about(across, off.dot(across), spin.cross(across)));
            [x, y, z, turns[0], turns[1]]
        }
        JointKind::Prismatic(axis) => {
            let here = parent.vector(axis.direction);
            let across = here.any_orthonormal_vector();
            let turned = child.rotation * parent.rotation.conjugate();
            let off = rotation_vector_from_quat(turned);
            let [a, b, c] = world.map(|direction| about(direction, off.dot(direction), Vec3::ZERO));
            // They turn with the parent, as does what slides: Coriolis' part.
            let coriolis = spin.cross(moves.slip) * -2.0;
            let slides =
                [across, here.cross(across)].map(|across| along(across, across.dot(coriolis)));
            [slides[0], slides[1], a, b, c]
        }
        JointKind::Universal(first, second) => {
            let (a, b) = (parent.vector(first.direction), child.vector(second.direction));
            let off = first.direction.dot(second.direction) - a.dot(b);
            let change = spin.cross(a).cross(b) + a.cross(child_spin.cross(b));
            [x, y, z, about(a.cross(b), off, change), None]
        }
        JointKind::Screw { .. } | JointKind::Fixed => [None; 5],
    }
}
