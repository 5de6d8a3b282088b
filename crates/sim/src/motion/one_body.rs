//! Centre-of-mass dynamics: the robot is one body whose shape follows its commands.
//!
//! Momentum is the state: `P` of the whole and `H` about the centre of mass, which only forces
//! from outside change. The joints move as told; their momentum relative to the base, `L`, is
//! part of `H`, so the base turns by `ω = I⁻¹·(H − L)`: a cat lands on its feet. The base is
//! then put where the centre of mass is on its own path.
//!
//! With a fixed mass distribution, `I` and the centre stay in the base as they were in the
//! first pose, and `L` is left out: cheaper, and no cat turns.

use headland_base::Vec3;

use crate::model::Model;
use crate::state::State;
use crate::tree::{
    Bodies, Half, Kernel, Lane, M3, Motions, Sym3, Tree, V3, V6, Whole, move_only, place,
    place_only, whole_body,
};

use super::ends::{at_nothing, read_state};
use super::follow::Follow;
use super::links::{Links, alarm, is_alarmed};
use super::nudged::{MOST_OF_BASE, slowing};
use super::turning::advance;
use super::{Drive, Pack, Robot};

/// Robots of one model, each moved as one body.
pub struct OneBody<L> {
    tree: Tree,
    robots: Vec<Robot>,
    follow: Follow<L>,
    /// Mass, centre and inertia in the base's frame, where they stay.
    fixed: Option<Whole<L>>,
    /// The state: positions of base and joints, speeds of joints, and momentum.
    positions: Vec<L>,
    velocities: Vec<L>,
    momentum: V6<L>,
    /// Where the centre of mass is in the world; the base follows from it.
    centre: V3<L>,
    /// Scratch from here on.
    bodies: Bodies<L>,
    motions: Motions<L>,
    whole: Whole<L>,
    /// The inertia's inverse, and its factors: unit lower triangle and diagonal.
    inverse: Sym3<L>,
    lower: V3<L>,
    diagonal: V3<L>,
    pushes: V6<L>,
    /// What the step gives to the momentum about the centre, before any kick.
    gained: V6<L>,
    /// The same as a change of the base's velocity.
    gained_twist: V6<L>,
    kicks: V6<L>,
    nudges: V6<L>,
    is_nudged: bool,
    /// What tells who left the finite.
    alarm: L,
    next_speeds: Vec<L>,
    /// Where a robot that goes non-finite is held.
    held: (Vec<L>, V3<L>),
    links: Links<L>,
}

impl<L: Lane> OneBody<L> {
    /// Of at most as many robots as a lane is wide, where a state has them. Their base must be
    /// free.
    pub fn new(
        model: &Model,
        tree: &Tree,
        robots: Vec<Robot>,
        state: &State,
        is_fixed: bool,
    ) -> OneBody<L> {
        assert!(!robots.is_empty() && robots.len() <= L::WIDTH, "one robot per lane");
        let mut positions = vec![L::ZERO; tree.n_positions];
        let mut velocities = vec![L::ZERO; tree.n_dofs];
        for lane in 0..L::WIDTH {
            let robot = robots.get(lane).unwrap_or(&robots[0]);
            let (q, v) = read_state(model, tree, robot, state);
            positions.iter_mut().zip(q).for_each(|(to, from)| to.set(lane, from));
            velocities.iter_mut().zip(v).for_each(|(to, from)| to.set(lane, from));
        }
        let nothing = Whole { mass: L::ZERO, centre: V3::ZERO, inertia: Sym3::ZERO };
        let mut out = OneBody {
            follow: Follow::of(model, tree, &robots),
            fixed: None,
            held: (positions.clone(), V3::ZERO),
            centre: V3::ZERO,
            next_speeds: velocities.clone(),
            positions,
            velocities,
            momentum: V6::ZERO,
            bodies: Bodies::new(tree),
            motions: Motions::new(tree),
            whole: nothing,
            inverse: Sym3::ZERO,
            lower: V3::ZERO,
            diagonal: V3::ZERO,
            pushes: V6::ZERO,
            gained: V6::ZERO,
            gained_twist: V6::ZERO,
            kicks: V6::ZERO,
            nudges: V6::ZERO,
            is_nudged: false,
            alarm: L::ZERO,
            links: Links::new(tree, &robots),
            tree: tree.clone(),
            robots,
        };
        out.start(is_fixed);
        out
    }

    /// Momentum from the velocities the state gave.
    fn start(&mut self, is_fixed: bool) {
        place(&self.tree, &at_nothing(), &self.positions, &mut self.bodies);
        let whole = whole_body(&self.bodies);
        if is_fixed {
            let back = transposed(&self.bodies.nodes[0].rotation);
            self.fixed = Some(Whole {
                mass: whole.mass,
                centre: back * whole.centre,
                inertia: whole.inertia.turned(&back),
            });
        }
        self.set_whole(whole);
        self.centre = self.bodies.origin + whole.centre;
        let moved = &mut self.motions.velocities;
        move_only(&self.tree, &self.bodies, V6::ZERO, &self.velocities, moved);
        self.momentum = if is_fixed {
            let v = &self.velocities;
            let spin = V3 { x: v[0], y: v[1], z: v[2] };
            let speed = V3 { x: v[3], y: v[4], z: v[5] } + spin.cross(whole.centre);
            V6 { turn: whole.inertia * spin, line: speed * whole.mass }
        } else {
            self.motions.momentum_about(&self.bodies, whole.centre)
        };
    }

    #[inline(always)]
    fn set_whole(&mut self, whole: Whole<L>) {
        self.whole = whole;
        let Sym3 { diag, off } = whole.inertia;
        let one = L::of(1.0);
        // I = N·D·Nᵀ with N a unit lower triangle.
        let (l21, l31) = (off.z / diag.x, off.y / diag.x);
        let d2 = diag.y - l21 * off.z;
        let rest = off.x - l21 * off.y;
        let l32 = rest / d2;
        let d3 = diag.z - l31 * off.y - l32 * rest;
        self.lower = V3 { x: l21, y: l31, z: l32 };
        self.diagonal = V3 { x: one / diag.x, y: one / d2, z: one / d3 };
        self.inverse = whole.inertia.inverse();
    }

    /// Momentum, centre of mass, the base's turn and the joints, at the end of the step.
    #[inline(always)]
    fn step_on(&mut self, dt: f64) {
        let h = L::of(dt);
        self.held.0.copy_from_slice(&self.positions);
        self.held.1 = self.centre;
        let impulse = std::mem::replace(&mut self.kicks, V6::ZERO);
        let gained = std::mem::replace(&mut self.gained, V6::ZERO);
        self.momentum = self.momentum + gained + impulse;
        // The base's velocity with the momentum of the end of the step, in the pose of its start.
        let change = self.base_change(gained + impulse);
        let twist = V6 {
            turn: V3 { x: self.velocities[0], y: self.velocities[1], z: self.velocities[2] },
            line: V3 { x: self.velocities[3], y: self.velocities[4], z: self.velocities[5] },
        } + change;
        let nudges = std::mem::replace(&mut self.nudges, V6::ZERO);
        let nudges =
            if std::mem::take(&mut self.is_nudged) { self.bounded(nudges) } else { nudges };
        let shift = self.base_change(nudges);
        self.centre += (self.momentum.line + nudges.line) * (h / self.whole.mass);
        self.set_base_twist(twist + shift);
        advance(&self.tree, &self.velocities, h, &mut self.positions);
        self.velocities.copy_from_slice(&self.next_speeds);
        self.set_base_twist(twist);
        let centre = [self.centre.x, self.centre.y, self.centre.z];
        self.alarm = alarm(&self.positions[3..], &self.velocities) + alarm(&centre, &[]);
    }

    /// Puts the base under the centre of mass, and gives it the velocity its momentum says.
    #[inline(always)]
    fn settle_base(&mut self) {
        let whole = match self.fixed {
            None => {
                place(&self.tree, &at_nothing(), &self.positions, &mut self.bodies);
                whole_body(&self.bodies)
            }
            Some(fixed) => {
                place_only(&self.tree, &at_nothing(), &self.positions, &mut self.bodies);
                let rotation = self.bodies.nodes[0].rotation;
                Whole {
                    mass: fixed.mass,
                    centre: rotation * fixed.centre,
                    inertia: fixed.inertia.turned(&rotation),
                }
            }
        };
        self.set_whole(whole);
        let origin = self.centre - whole.centre;
        self.bodies.origin = origin;
        (self.positions[0], self.positions[1], self.positions[2]) = (origin.x, origin.y, origin.z);
        self.find_velocities();
    }

    /// Base and links from the momentum and the joints' speeds.
    #[inline(always)]
    fn find_velocities(&mut self) {
        self.set_base_twist(V6::ZERO);
        let moved = &mut self.motions.velocities;
        move_only(&self.tree, &self.bodies, V6::ZERO, &self.velocities, moved);
        let relative = match self.fixed {
            None => self.motions.momentum_about(&self.bodies, self.whole.centre),
            Some(_) => V6::ZERO,
        };
        let twist = self.base_change(self.momentum - relative);
        self.set_base_twist(twist);
        for velocity in &mut self.motions.velocities {
            *velocity += twist;
        }
        self.links.find(&self.bodies, &self.motions.velocities);
    }

    /// Nudges that push no robot faster than it may be.
    fn bounded(&self, nudges: V6<L>) -> V6<L> {
        let V6 { turn, line } = self.base_change(nudges);
        let speeds = [turn.x, turn.y, turn.z, line.x, line.y, line.z];
        nudges * slowing(&speeds, &MOST_OF_BASE)
    }

    /// How a momentum about the centre moves the base.
    #[inline(always)]
    fn base_change(&self, momentum: V6<L>) -> V6<L> {
        let turn = self.inverse * momentum.turn;
        let of_centre = momentum.line * (L::of(1.0) / self.whole.mass);
        V6 { turn, line: of_centre - turn.cross(self.whole.centre) }
    }

    #[inline(always)]
    fn set_base_twist(&mut self, twist: V6<L>) {
        let (t, l) = (twist.turn, twist.line);
        self.velocities[..6].copy_from_slice(&[t.x, t.y, t.z, l.x, l.y, l.z]);
    }

    /// What the step gives, and how fast the joints go from its end on.
    #[inline(always)]
    fn gain(&mut self, drive: &Drive<'_>) {
        let h = L::of(drive.dt);
        let pushes = std::mem::replace(&mut self.pushes, V6::ZERO);
        let weight = V3::of(drive.model.world.gravity) * self.whole.mass;
        let force = self.about_centre(pushes);
        self.gained = V6 { turn: force.turn, line: force.line + weight } * h;
        self.gained_twist = self.base_change(self.gained);
        // The orders of this step are followed from its end on, so that contacts are computed
        // with the speeds the joints really have.
        self.follow.speeds(drive.inputs, drive.dt, &self.positions, &mut self.next_speeds);
    }

    /// A force about the common origin as one about the centre.
    #[inline(always)]
    fn about_centre(&self, force: V6<L>) -> V6<L> {
        V6 { turn: force.turn - self.whole.centre.cross(force.line), line: force.line }
    }

    fn about_centre_of(&self, robot: usize, force: V6<f64>) -> V6<f64> {
        let centre = V3::of(self.whole.centre.get(robot));
        V6 { turn: force.turn - centre.cross(force.line), line: force.line }
    }

    fn contain(&mut self) {
        for (lane, robot) in self.robots.iter_mut().enumerate() {
            if robot.is_lost || is_alarmed(self.alarm, lane) {
                robot.is_lost = true;
                let held = self.positions.iter_mut().zip(&self.held.0);
                held.for_each(|(q, held)| q.set(lane, held.get(lane)));
                self.centre.set(lane, self.held.1.get(lane));
                self.velocities.iter_mut().for_each(|v| v.set(lane, 0.0));
                self.momentum.turn.set(lane, Vec3::ZERO);
                self.momentum.line.set(lane, Vec3::ZERO);
            }
        }
    }
}

fn transposed<L: Lane>(m: &M3<L>) -> M3<L> {
    M3 {
        x: V3 { x: m.x.x, y: m.y.x, z: m.z.x },
        y: V3 { x: m.x.y, y: m.y.y, z: m.z.y },
        z: V3 { x: m.x.z, y: m.y.z, z: m.z.z },
    }
}

/// What is done in instructions as wide as the lane, and with which pack.
struct Wide<'a, L>(&'a mut OneBody<L>, Job<'a>);

enum Job<'a> {
    Settle,
    Gain(&'a Drive<'a>),
    StepOn(f64),
}

impl<L: Lane> Kernel for Wide<'_, L> {
    #[inline(always)]
    fn run(self) {
        match self.1 {
            Job::Settle => self.0.settle_base(),
            Job::Gain(drive) => self.0.gain(drive),
            Job::StepOn(dt) => self.0.step_on(dt),
        }
    }
}

impl<L: Lane + Send> Pack for OneBody<L> {
    fn robots(&self) -> &[Robot] {
        &self.robots
    }

    fn tree(&self) -> &Tree {
        &self.tree
    }

    fn joints_give_way(&self) -> bool {
        false
    }

    fn place(&mut self, _state: &State) {
        L::wide(Wide(self, Job::Settle));
    }

    fn fastest(&self) -> [f64; 2] {
        self.links.fastest(self.robots.len())
    }

    fn origin(&self, robot: usize) -> Vec3 {
        self.bodies.origin.get(robot)
    }

    fn push(&mut self, robot: usize, _node: usize, force: V6<f64>) {
        self.pushes.add_to(robot, force);
    }

    fn accelerate(&mut self, drive: &Drive<'_>) {
        L::wide(Wide(self, Job::Gain(drive)));
    }

    fn lose(&mut self, robot: usize) {
        self.robots[robot].is_lost = true;
        self.contain();
    }

    fn free_motion(&self, robot: usize, node: usize) -> V6<f64> {
        if self.robots[robot].is_lost {
            return V6::ZERO;
        }
        self.motions.velocities[node].get(robot) + self.gained_twist.get(robot)
    }

    /// What its joints do; the base gives way.
    fn led_motion(&self, robot: usize, node: usize) -> V6<f64> {
        let velocities = &self.motions.velocities;
        velocities[node].get(robot) - velocities[0].get(robot)
    }

    fn free_speed(&self, robot: usize, column: usize) -> f64 {
        self.velocities[column].get(robot)
    }

    fn coordinate(&self, robot: usize, column: usize) -> f64 {
        self.positions[self.tree.nodes[self.tree.column_nodes[column]].first_position].get(robot)
    }

    fn half(&self, robot: usize, _node: usize, half: &mut Half) {
        let centre = self.whole.centre.get(robot);
        let lower = self.lower.get(robot);
        let mut lefts = [[0.0; 8]; 6];
        for j in 0..6 {
            let e = [Vec3::X, Vec3::Y, Vec3::Z][j % 3];
            let (moment, force) = if j < 3 { (e, Vec3::ZERO) } else { (-centre.cross(e), e) };
            let y = moment.y - lower.x * moment.x;
            let z = moment.z - lower.y * moment.x - lower.z * y;
            let left = [moment.x, y, z, force.x, force.y, force.z];
            lefts.iter_mut().zip(left).for_each(|(row, left)| row[j] = left);
        }
        let (turning, sliding) = (self.diagonal.get(robot), 1.0 / self.whole.mass.get(robot));
        // Nothing moves who is lost.
        let moves = if self.robots[robot].is_lost { 0.0 } else { 1.0 };
        let gives = [turning.x, turning.y, turning.z, sliding, sliding, sliding];
        half.clear();
        half.columns.extend((0..6).rev());
        half.gives.extend(gives.iter().rev().map(|give| give * moves));
        half.lefts.extend(lefts.into_iter().rev());
    }

    /// Nothing moves a joint but its command.
    fn half_of_column(&self, _robot: usize, _column: usize, half: &mut Half) {
        half.clear();
    }

    fn kick(&mut self, robot: usize, _node: usize, impulse: V6<f64>) {
        let about = self.about_centre_of(robot, impulse);
        self.kicks.add_to(robot, about);
    }

    fn nudge(&mut self, robot: usize, _node: usize, impulse: V6<f64>) {
        let about = self.about_centre_of(robot, impulse);
        self.nudges.add_to(robot, about);
        self.is_nudged = true;
    }

    fn kick_column(&mut self, _robot: usize, _column: usize, _impulse: f64) {}

    fn finish(&mut self, dt: f64) {
        L::wide(Wide(self, Job::StepOn(dt)));
        self.contain();
    }

    fn write(&self, state: &mut State) {
        let moved = (&self.positions[..], &self.velocities[..]);
        self.links.write(&self.robots, moved, state);
    }
}
