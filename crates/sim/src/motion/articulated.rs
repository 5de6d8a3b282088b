//! The full thing: every joint moves as masses and efforts make it.

mod centred;
mod staged;

use headland_base::Vec3;

use crate::model::Model;
use crate::state::State;
use crate::tree::{
    Bodies, Factor, Half, Kernel, Lane, M3, Motions, Sym3, Tree, Turn, V3, V6, bias_forces, factor,
    move_bodies, place, solve,
};

use super::columns::{Columns, Motors};
use super::ends::{anchor_of, read_state};
use super::links::{Links, alarm, is_alarmed};
use super::nudged::{fastest_nudges, slowing};
use super::turning::{advance, normalise, set_turn, turn_by};
use super::{Drive, Pack, Robot};
use centred::Centring;
use staged::Staging;

/// Robots of one model with full multibody dynamics. Free bodies are such robots of one link.
pub struct Articulated<L> {
    tree: Tree,
    robots: Vec<Robot>,
    columns: Columns<L>,
    /// The state.
    positions: Vec<L>,
    velocities: Vec<L>,
    /// Scratch from here on.
    work: Work<L>,
    /// Where a robot that goes non-finite is held.
    held: Vec<L>,
    links: Links<L>,
    /// One free body without joints.
    is_single: bool,
}

/// What is computed in a step and not needed after it.
struct Work<L> {
    anchor: (Turn<L>, V3<L>),
    anchor_motion: V6<L>,
    bodies: Bodies<L>,
    motions: Motions<L>,
    motors: Motors<L>,
    factor: Factor<L>,
    forces: Vec<V6<L>>,
    /// From outside, for the coming acceleration.
    pushes: Vec<V6<L>>,
    efforts: Vec<L>,
    stiffening: Vec<L>,
    gained: Vec<L>,
    /// Velocities at the end of the step.
    next: Vec<L>,
    kicks: Vec<V6<L>>,
    column_kicks: Vec<L>,
    /// Which lanes were kicked.
    is_kicked: Vec<bool>,
    /// Which of them were stopped on their way to something, and which were struck.
    is_stopped: Vec<bool>,
    is_struck: Vec<bool>,
    nudges: Vec<V6<L>>,
    column_nudges: Vec<L>,
    /// The fastest nudges of each column.
    nudges_most: Vec<f64>,
    /// Which lanes were nudged.
    is_nudged: Vec<bool>,
    /// Of integrators of several stages.
    staging: Staging<L>,
    centring: Centring<L>,
    /// What tells who left the finite.
    alarm: L,
    /// Positions tried for some of the lanes.
    moved: Vec<L>,
}

impl<L: Lane> Articulated<L> {
    /// Of at most as many robots as a lane is wide, where a state has them.
    pub fn new(model: &Model, tree: &Tree, robots: Vec<Robot>, state: &State) -> Articulated<L> {
        assert!(!robots.is_empty() && robots.len() <= L::WIDTH, "one robot per lane");
        let columns = Columns::of(model, tree, &robots);
        let (n, n_nodes) = (tree.n_dofs, tree.nodes.len());
        let mut positions = vec![L::ZERO; tree.n_positions];
        let mut velocities = vec![L::ZERO; n];
        for lane in 0..L::WIDTH {
            // Lanes nobody stands in compute the first robot again, which costs nothing.
            let robot = robots.get(lane).unwrap_or(&robots[0]);
            let (q, v) = read_state(model, tree, robot, state);
            positions.iter_mut().zip(q).for_each(|(to, from)| to.set(lane, from));
            velocities.iter_mut().zip(v).for_each(|(to, from)| to.set(lane, from));
        }
        let work = Work {
            anchor: (Turn::of(headland_base::Quat::IDENTITY), V3::ZERO),
            anchor_motion: V6::ZERO,
            bodies: Bodies::new(tree),
            motions: Motions::new(tree),
            motors: Motors::new(n),
            factor: Factor::new(tree),
            forces: vec![V6::ZERO; n_nodes],
            pushes: vec![V6::ZERO; n_nodes],
            efforts: vec![L::ZERO; n],
            stiffening: vec![L::ZERO; n],
            gained: vec![L::ZERO; n],
            next: velocities.clone(),
            kicks: vec![V6::ZERO; n_nodes],
            column_kicks: vec![L::ZERO; n],
            is_kicked: vec![false; L::WIDTH],
            is_stopped: vec![false; L::WIDTH],
            is_struck: vec![false; L::WIDTH],
            nudges: vec![V6::ZERO; n_nodes],
            column_nudges: vec![L::ZERO; n],
            nudges_most: fastest_nudges(tree),
            is_nudged: vec![false; L::WIDTH],
            staging: Staging::new(tree),
            centring: Centring::new(tree),
            alarm: L::ZERO,
            moved: positions.clone(),
        };
        Articulated {
            links: Links::new(tree, &robots),
            held: positions.clone(),
            is_single: tree.nodes.len() == 1 && tree.is_free(),
            tree: tree.clone(),
            robots,
            columns,
            positions,
            velocities,
            work,
        }
    }
}

impl<L: Lane> Articulated<L> {
    /// Efforts of springs, dampers and motors as they will be at the end of the step, as far as
    /// they are linear: what depends on the coming velocity moves to the left-hand side.
    ///
    /// With `τ(q, v) = τ₀ − k·(q − q₀) − d·(v − v₀)` and `q = q₀ + h·v`, the step
    /// `M·(v − v₀)/h = τ` becomes `(M + h·d + h²·k)·a = τ₀ − h·k·v₀`: stiff gains stay stable.
    /// That damps, so a spring that is not stiff for the step keeps its `τ₀`, with which this
    /// integrator neither loses nor gains.
    #[inline(always)]
    fn gather_efforts(&mut self, dt: f64) {
        for k in 0..self.tree.n_dofs {
            let node = &self.tree.nodes[self.tree.column_nodes[k]];
            let at = (self.positions[node.first_position], self.velocities[k]);
            let (effort, slope) = self.end_effort(k, at, dt);
            self.work.efforts[k] = effort;
            self.work.stiffening[k] = self.columns.armature[k] + slope;
        }
    }

    /// What a column does by itself at the end of a step that begins at `(q, v)`: what is known
    /// of it, and what it opposes to the acceleration.
    #[inline(always)]
    fn end_effort(&self, k: usize, (q, v): (L, L), dt: f64) -> (L, L) {
        let (h, columns, motors) = (L::of(dt), &self.columns, &self.work.motors);
        let (damping, stiffness) = (columns.damping[k], columns.stiffness[k]);
        let mut soft = stiffness + motors.kp[k];
        for lane in 0..L::WIDTH {
            if soft.get(lane) * dt * dt < STIFF * columns.least_inertia[k].get(lane) {
                soft.set(lane, 0.0);
            }
        }
        let own = match self.tree.nodes[self.tree.column_nodes[k]].dof {
            Some(_) => -(damping * v) - stiffness * (q - columns.rest[k]),
            None => L::ZERO,
        };
        let effort = motors.efforts[k] + own - h * (soft * v);
        (effort, h * (damping + motors.kd[k]) + h * (h * soft))
    }

    /// What slows free motion: `−d·v` of every link that has it, within the step.
    #[inline(always)]
    fn gather_decay(&mut self, dt: f64) {
        let work = &mut self.work;
        for (i, node) in self.tree.nodes.iter().enumerate() {
            let (linear, angular) = node.velocity_decay;
            if linear == 0.0 && angular == 0.0 {
                continue;
            }
            let placed = &work.bodies.nodes[i];
            let centre = placed.at + placed.rotation * V3::of(node.centre);
            let motion = work.motions.velocities[i];
            let share = |decay: f64| L::of(-decay / (1.0 + dt * decay));
            let force = motion.velocity_at(centre) * (L::of(node.mass) * share(linear));
            let inertia = Sym3::<L>::of(node.inertia).turned(&placed.rotation);
            let moment = (inertia * motion.turn) * share(angular);
            work.pushes[i] += V6::force_at(centre, force, moment);
        }
    }

    /// Accelerations at the present state, from efforts and stiffening already gathered.
    #[inline(always)]
    fn solve_motion(&mut self, gravity: Vec3) {
        let (tree, work) = (&self.tree, &mut self.work);
        bias_forces(tree, &work.bodies, &work.motions, V3::of(gravity), &mut work.forces);
        for (force, push) in work.forces.iter_mut().zip(&mut work.pushes) {
            *force = *force - std::mem::replace(push, V6::ZERO);
        }
        factor(tree, &work.bodies, &work.stiffening, &mut work.factor);
        let Work { bodies, factor, efforts, forces, gained, .. } = work;
        solve(tree, bodies, factor, efforts, forces, gained);
    }

    /// Speeds at the end of the step. A free link's acceleration is that of the motion about a
    /// fixed point; its own origin moves, which adds `ω × v`.
    #[inline(always)]
    fn next_velocities(&mut self, dt: f64) {
        let (h, work) = (L::of(dt), &mut self.work);
        for ((next, v), a) in work.next.iter_mut().zip(&self.velocities).zip(&work.gained) {
            *next = *v + h * *a;
        }
        if let Some(drift) = free_drift(&self.tree, &self.velocities) {
            work.next[3] += h * drift.x;
            work.next[4] += h * drift.y;
            work.next[5] += h * drift.z;
        }
        if self.is_single {
            self.keep_spin(h);
        }
    }

    /// A body by itself turns by its momentum, see [`Articulated::spin_on`]; what the explicit
    /// step made of `ω × I·ω` is taken back.
    #[inline(always)]
    fn keep_spin(&mut self, h: L) {
        let inertia = self.single_inertia(&self.work.bodies.nodes[0].rotation);
        let v = &self.velocities;
        let spin = V3 { x: v[0], y: v[1], z: v[2] };
        let back = inertia.inverse() * spin.cross(inertia * spin) * h;
        let next = &mut self.work.next;
        (next[0], next[1], next[2]) = (next[0] + back.x, next[1] + back.y, next[2] + back.z);
    }

    #[inline(always)]
    fn single_inertia(&self, rotation: &M3<L>) -> Sym3<L> {
        Sym3::of(self.tree.nodes[0].inertia).turned(rotation)
    }

    /// Turns a body by itself through the step: its angular momentum stays what it is, and the
    /// angular velocity is what goes with it half way. Momentum is kept to rounding and energy
    /// to second order, where the explicit step loses both to first.
    #[inline(always)]
    fn spin_on(&mut self, h: L) {
        let v = &self.velocities;
        let spin = V3 { x: v[0], y: v[1], z: v[2] };
        let momentum = self.single_inertia(&self.work.bodies.nodes[0].rotation) * spin;
        let q = &mut self.positions;
        for k in 0..3 {
            q[k] += v[3 + k] * h;
        }
        let start = Turn { v: V3 { x: q[3], y: q[4], z: q[5] }, w: q[6] };
        let half_way = turn_by(spin * (h * L::of(0.5))) * start;
        let middle = self.single_inertia(&half_way.matrix()).inverse() * momentum;
        let end = turn_by(middle * h) * start;
        set_turn(&mut self.positions[3..7], end);
        let spin = self.single_inertia(&end.matrix()).inverse() * momentum;
        self.velocities[..3].copy_from_slice(&[spin.x, spin.y, spin.z]);
    }

    #[inline(always)]
    fn place_all(&mut self) {
        let work = &mut self.work;
        place(&self.tree, &work.anchor, &self.positions, &mut work.bodies);
        let Work { bodies, motions, anchor_motion, .. } = work;
        move_bodies(&self.tree, bodies, *anchor_motion, &self.velocities, motions);
        self.links.find(bodies, &motions.velocities);
    }

    /// Adds what the kicks did to the next velocities; it stays in `gained`.
    #[inline(always)]
    fn take_kicks(&mut self) {
        let work = &mut self.work;
        for (force, kick) in work.forces.iter_mut().zip(&mut work.kicks) {
            *force = -std::mem::replace(kick, V6::ZERO);
        }
        let Work { bodies, factor, column_kicks, forces, gained, .. } = work;
        solve(&self.tree, bodies, factor, column_kicks, forces, gained);
        work.column_kicks.fill(L::ZERO);
        keep_lanes(&work.is_kicked, &mut work.gained);
        add_where_any(&mut work.next, &work.gained);
    }

    /// Moves on by what the nudges did, which no velocity keeps.
    #[inline(always)]
    fn take_nudges(&mut self, dt: f64) {
        let work = &mut self.work;
        for (force, nudge) in work.forces.iter_mut().zip(&mut work.nudges) {
            *force = -std::mem::replace(nudge, V6::ZERO);
        }
        let Work { bodies, factor, column_nudges, forces, gained, .. } = work;
        solve(&self.tree, bodies, factor, column_nudges, forces, gained);
        work.column_nudges.fill(L::ZERO);
        let slowing = slowing(&work.gained, &work.nudges_most);
        work.gained.iter_mut().for_each(|speed| *speed = *speed * slowing);
        let nudged = std::mem::take(&mut work.is_nudged);
        self.move_some(&nudged, dt);
        self.work.is_nudged = nudged;
        self.work.is_nudged.fill(false);
    }

    /// Moves the marked lanes on by what is in `gained`. The others stay as they are to the last
    /// bit: going nowhere would bring their quaternions back to length one once more.
    #[inline(always)]
    fn move_some(&mut self, is_marked: &[bool], dt: f64) {
        let Work { moved, gained, .. } = &mut self.work;
        moved.copy_from_slice(&self.positions);
        advance(&self.tree, gained, L::of(dt), moved);
        self.take_moved(is_marked);
    }

    #[inline(always)]
    fn take_moved(&mut self, is_marked: &[bool]) {
        for (lane, _) in is_marked.iter().enumerate().filter(|(_, is_marked)| **is_marked) {
            for (q, moved) in self.positions.iter_mut().zip(&self.work.moved) {
                q.set(lane, moved.get(lane));
            }
        }
    }

    /// Holds robots whose numbers left the finite; the others do not notice.
    fn contain(&mut self) {
        let alarm = self.work.alarm;
        self.hold_where_lost(|robot, lane| robot.is_lost || is_alarmed(alarm, lane));
    }

    fn hold_where_lost(&mut self, is_lost: impl Fn(&Robot, usize) -> bool) {
        for (lane, robot) in self.robots.iter_mut().enumerate() {
            if is_lost(robot, lane) {
                robot.is_lost = true;
                let held = self.positions.iter_mut().zip(&self.held);
                held.for_each(|(q, held)| q.set(lane, held.get(lane)));
                self.velocities.iter_mut().for_each(|v| v.set(lane, 0.0));
            }
        }
    }

    /// Nothing moves who is lost.
    fn hold_lost(&self, robot: usize, half: &mut Half) {
        if self.robots[robot].is_lost {
            half.gives.fill(0.0);
        }
    }

    /// The motion of a link by these velocities.
    fn motion_by(&self, velocities: &[L], lane: usize, node: usize) -> V6<f64> {
        let mut sum = self.work.anchor_motion.get(lane);
        let mut column = Some(self.tree.nodes[node].columns().end - 1);
        while let Some(k) = column {
            sum += self.work.bodies.axes[k].get(lane) * velocities[k].get(lane);
            column = self.tree.column_parents[k];
        }
        sum
    }
}

/// Leaves only the lanes that are marked.
fn keep_lanes<L: Lane>(is_marked: &[bool], values: &mut [L]) {
    for (lane, is_marked) in is_marked.iter().enumerate() {
        if !is_marked {
            values.iter_mut().for_each(|value| value.set(lane, 0.0));
        }
    }
}

/// Adds, lane by lane, what is not zero: adding a zero may change the sign of one, and a robot
/// must not notice who stands beside it.
fn add_where_any<L: Lane>(sums: &mut [L], parts: &[L]) {
    for (sum, part) in sums.iter_mut().zip(parts) {
        for lane in 0..L::WIDTH {
            if part.get(lane) != 0.0 {
                sum.set(lane, sum.get(lane) + part.get(lane));
            }
        }
    }
}

/// From `k·h²/m` on a spring is taken as of the end of the step. Its swings are exact to 1 %
/// below, and at 4 they would build up.
const STIFF: f64 = 0.5;

/// `ω × v` of a tree's free first link.
#[inline(always)]
fn free_drift<L: Lane>(tree: &Tree, v: &[L]) -> Option<V3<L>> {
    tree.is_free().then(|| V3 { x: v[0], y: v[1], z: v[2] }.cross(V3 { x: v[3], y: v[4], z: v[5] }))
}

/// What is done in instructions as wide as the lane, and with which pack.
struct Wide<'a, L>(&'a mut Articulated<L>, Job<'a>);

enum Job<'a> {
    Place,
    Accelerate(&'a Drive<'a>),
    Finish(f64),
    Derive(&'a Drive<'a>, usize),
    SetStage(&'a [f64], f64),
    Settle(f64),
}

impl<L: Lane> Kernel for Wide<'_, L> {
    #[inline(always)]
    fn run(self) {
        let it = self.0;
        match self.1 {
            Job::Place => it.place_all(),
            Job::Accelerate(drive) => {
                it.gather_efforts(drive.dt);
                it.gather_decay(drive.dt);
                it.solve_motion(drive.model.world.gravity);
                it.next_velocities(drive.dt);
            }
            Job::Finish(dt) => {
                let is_kicked = it.work.is_kicked.contains(&true);
                if is_kicked {
                    it.take_kicks();
                }
                if !it.is_single {
                    it.centre_bias(dt);
                }
                it.velocities.copy_from_slice(&it.work.next);
                if it.work.staging.is_staged {
                    it.end_stages(dt, is_kicked);
                } else {
                    it.held.copy_from_slice(&it.positions);
                    if it.is_single {
                        it.spin_on(L::of(dt));
                    } else {
                        advance(&it.tree, &it.velocities, L::of(dt), &mut it.positions);
                    }
                }
                it.work.is_kicked.fill(false);
                it.work.is_stopped.fill(false);
                it.work.is_struck.fill(false);
                if it.work.is_nudged.contains(&true) {
                    it.take_nudges(dt);
                }
                it.work.alarm = alarm(&it.positions, &it.velocities);
            }
            Job::Derive(drive, stage) => it.derive_stage(drive, stage),
            Job::SetStage(weights, dt) => {
                it.work.staging.stages.blend(weights, dt, &mut it.positions, &mut it.velocities);
                normalise(&it.tree, &mut it.positions);
            }
            Job::Settle(dt) => it.settle_stages(dt),
        }
    }
}

impl<L: Lane + Send> Pack for Articulated<L> {
    fn robots(&self) -> &[Robot] {
        &self.robots
    }

    fn tree(&self) -> &Tree {
        &self.tree
    }

    fn place(&mut self, state: &State) {
        for (lane, robot) in self.robots.iter().enumerate() {
            let (pose, angular, linear) = anchor_of(robot, state);
            let work = &mut self.work;
            work.anchor.0.set(lane, pose.rotation);
            work.anchor.1.set(lane, pose.translation);
            // About the tree's origin, which is where its first joint is.
            let joint = pose.vector(self.tree.nodes[0].parent_from_joint.translation);
            work.anchor_motion.turn.set(lane, angular);
            work.anchor_motion.line.set(lane, linear + angular.cross(joint));
        }
        L::wide(Wide(self, Job::Place));
    }

    fn fastest(&self) -> [f64; 2] {
        self.links.fastest(self.robots.len())
    }

    fn origin(&self, robot: usize) -> Vec3 {
        self.work.bodies.origin.get(robot)
    }

    fn push(&mut self, robot: usize, node: usize, force: V6<f64>) {
        self.work.pushes[node].add_to(robot, force);
    }

    fn accelerate(&mut self, drive: &Drive<'_>) {
        self.work.motors.gather(drive.inputs, &self.robots);
        L::wide(Wide(self, Job::Accelerate(drive)));
    }

    fn lose(&mut self, robot: usize) {
        self.robots[robot].is_lost = true;
        self.contain();
    }

    fn free_motion(&self, robot: usize, node: usize) -> V6<f64> {
        if self.robots[robot].is_lost {
            return self.work.anchor_motion.get(robot);
        }
        self.motion_by(&self.work.next, robot, node)
    }

    fn bend(&self, robot: usize, node: usize, at: V3<f64>) -> V6<f64> {
        let motion = self.work.motions.velocities[node].get(robot);
        let acceleration = self.work.motions.accelerations[node].get(robot);
        let bend = acceleration.velocity_at(at) + motion.turn.cross(motion.velocity_at(at));
        // A free link keeps the speed of its own origin, not of the fixed point it is at.
        let drift = free_drift(&self.tree, &self.velocities).map_or(V3::ZERO, |drift| V3 {
            x: drift.x.get(robot),
            y: drift.y.get(robot),
            z: drift.z.get(robot),
        });
        V6 { turn: acceleration.turn, line: bend - drift }
    }

    fn free_speed(&self, robot: usize, column: usize) -> f64 {
        self.work.next[column].get(robot)
    }

    fn coordinate(&self, robot: usize, column: usize) -> f64 {
        self.positions[self.tree.nodes[self.tree.column_nodes[column]].first_position].get(robot)
    }

    fn half(&self, robot: usize, node: usize, half: &mut Half) {
        half.of(&self.tree, &self.work.bodies, &self.work.factor, node, robot);
        self.hold_lost(robot, half);
    }

    fn half_of_column(&self, robot: usize, column: usize, half: &mut Half) {
        half.of_column(&self.tree, &self.work.bodies, &self.work.factor, column, robot);
        self.hold_lost(robot, half);
    }

    fn kick(&mut self, robot: usize, node: usize, impulse: V6<f64>) {
        self.work.kicks[node].add_to(robot, impulse);
        self.work.is_kicked[robot] = true;
    }

    fn kick_column(&mut self, robot: usize, column: usize, impulse: f64) {
        let kick = &mut self.work.column_kicks[column];
        kick.set(robot, kick.get(robot) + impulse);
        self.work.is_kicked[robot] = true;
    }

    fn stop(&mut self, robot: usize) {
        self.work.is_stopped[robot] = true;
    }

    fn strike(&mut self, robot: usize) {
        self.work.is_struck[robot] = true;
    }

    fn nudge(&mut self, robot: usize, node: usize, impulse: V6<f64>) {
        self.work.nudges[node].add_to(robot, impulse);
        self.work.is_nudged[robot] = true;
    }

    fn nudge_column(&mut self, robot: usize, column: usize, impulse: f64) {
        let nudge = &mut self.work.column_nudges[column];
        nudge.set(robot, nudge.get(robot) + impulse);
        self.work.is_nudged[robot] = true;
    }

    fn finish(&mut self, dt: f64) {
        L::wide(Wide(self, Job::Finish(dt)));
        self.work.staging.is_staged = false;
        self.contain();
    }

    /// What holds a loop is an impulse: forces of stages between would be without it.
    fn has_stages(&self) -> bool {
        self.tree.loops.is_empty()
    }

    fn begin(&mut self, drive: &Drive<'_>, reach: f64) {
        self.work.motors.gather(drive.inputs, &self.robots);
        self.begin_stages(drive.dt, reach);
    }

    fn lean(&mut self, robot: usize, node: usize, impulse: V6<f64>) {
        if self.has_stages() {
            self.work.staging.loads[node].add_to(robot, impulse);
            self.work.staging.leans[robot] = true;
        }
    }

    fn lean_column(&mut self, robot: usize, column: usize, impulse: f64) {
        if self.has_stages() {
            let load = &mut self.work.staging.column_loads[column];
            load.set(robot, load.get(robot) + impulse);
            self.work.staging.leans[robot] = true;
        }
    }

    fn drive_column(&mut self, robot: usize, column: usize, effort: f64) {
        let Work { motors, staging, .. } = &mut self.work;
        let motor = &mut motors.efforts[column];
        motor.set(robot, motor.get(robot) + effort);
        staging.drive_late(robot, column, effort);
    }

    fn remember(&mut self) {
        self.held.copy_from_slice(&self.positions);
        self.work.staging.stages.positions.copy_from_slice(&self.positions);
        self.work.staging.stages.velocities.copy_from_slice(&self.velocities);
    }

    fn derive(&mut self, drive: &Drive<'_>, stage: usize) {
        L::wide(Wide(self, Job::Derive(drive, stage)));
    }

    fn set_stage(&mut self, weights: &[f64], dt: f64) {
        L::wide(Wide(self, Job::SetStage(weights, dt)));
        self.hold_where_lost(|robot, _| robot.is_lost);
    }

    fn error(&self, robot: usize, weights: &[f64], dt: f64) -> f64 {
        let is_counted = self.has_stages() && !self.robots[robot].is_lost;
        if is_counted { self.work.staging.stages.error(weights, dt, robot) } else { 0.0 }
    }

    fn leave_lost(&mut self) {
        self.work.alarm = alarm(&self.positions, &self.velocities);
        self.contain();
    }

    fn settle(&mut self, dt: f64) {
        L::wide(Wide(self, Job::Settle(dt)));
    }

    fn write(&self, state: &mut State) {
        let moved = (&self.positions[..], &self.velocities[..]);
        self.links.write(&self.robots, moved, state);
    }
}
