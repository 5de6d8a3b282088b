//! Robots that do as they are told: joints follow their orders without forces, and a rule says
//! where the base is then. They are as heavy as the ground: nothing that touches them moves
//! them.

use headland_base::{Transform, Vec3};

use crate::model::Model;
use crate::state::State;
use crate::tree::{Half, Kernel, Lane, NodeKind, Tree, Turn, V3, V6};

use super::ends::read_state;
use super::follow::Follow;
use super::links::{Links, alarm, is_alarmed};
use super::seen::{Base, Seen, put_links, see};
use super::{Drive, Pack, Robot};

/// Robots of one model, led by a rule: [`Stance`](super::Stance) or
/// [`Vehicle`](super::Vehicle).
pub struct Commanded<L, R> {
    tree: Tree,
    robots: Vec<Robot>,
    follow: Follow<L>,
    pub(super) rule: R,
    /// The state.
    positions: Vec<L>,
    velocities: Vec<L>,
    /// The end of the step, swapped with the above when it is there; what no step writes is the same
    /// in both.
    next_positions: Vec<L>,
    next_velocities: Vec<L>,
    /// Scratch from here on. Links as the base sees them: of the end of the step from `accelerate` on.
    seen: Seen<L>,
    shoves: Vec<Vec3>,
    links: Links<L>,
    /// What tells who left the finite.
    alarm: L,
}

/// Where the base is once the joints have moved.
pub trait Rule<L>: Send {
    /// Puts base and joints of every robot where they are at the end of a step, and looks at
    /// the links there.
    fn lead(&mut self, step: Step<'_, L>);

    /// Moves what a robot holds on to over the ground.
    fn shove(&mut self, robot: usize, shift: Vec3);
}

/// A step as a rule sees it.
pub struct Step<'a, L> {
    /// What acts.
    pub drive: &'a Drive<'a>,
    /// Who moves.
    pub tree: &'a Tree,
    /// The robots, lane by lane.
    pub robots: &'a [Robot],
    /// Where the links are for the base: when it begins, until the rule looks anew.
    pub seen: &'a mut Seen<L>,
    /// When it begins.
    pub positions: &'a [L],
    /// When it ends: the rule writes all of it. Joints that do not turn or slide stay.
    pub next_positions: &'a mut [L],
    /// The joints' speeds are there; the base's are the rule's.
    pub velocities: &'a mut [L],
}

impl<L: Lane> Step<'_, L> {
    /// Joints at the end of the step, by their speeds.
    #[inline(always)]
    pub fn move_joints(&mut self) {
        let h = L::of(self.drive.dt);
        for node in &self.tree.nodes {
            if let NodeKind::Turn | NodeKind::Slide | NodeKind::Screw { .. } = node.kind {
                let p = node.first_position;
                self.next_positions[p] = self.positions[p] + self.velocities[node.first_dof] * h;
            }
        }
    }

    /// Looks at the links of the end of the step.
    #[inline(always)]
    pub fn look(&mut self) {
        see(self.tree, self.next_positions, self.velocities, self.seen);
    }

    /// Puts the base of one robot.
    #[inline(always)]
    pub fn put_base(
        &mut self,
        lane: usize,
        world_from_base: &Transform,
        angular: Vec3,
        linear: Vec3,
    ) {
        put_base(self.next_positions, lane, world_from_base);
        let velocity = angular.to_array().into_iter().chain(linear.to_array());
        self.velocities.iter_mut().zip(velocity).for_each(|(to, v)| to.set(lane, v));
    }
}

/// Puts a free tree's first node.
#[inline(always)]
pub(super) fn put_base<L: Lane>(positions: &mut [L], lane: usize, pose: &Transform) {
    let parts = pose.translation.to_array().into_iter().chain(pose.rotation.to_array());
    positions.iter_mut().zip(parts).for_each(|(to, part)| to.set(lane, part));
}

/// Where a free tree's first node is.
#[inline(always)]
pub(super) fn base_of<L: Lane>(positions: &[L], lane: usize) -> Transform {
    let q = |i: usize| positions[i].get(lane);
    Transform::new(
        headland_base::Quat::from_xyzw(q(3), q(4), q(5), q(6)),
        Vec3::new(q(0), q(1), q(2)),
    )
}

impl<L: Lane, R: Rule<L>> Commanded<L, R> {
    /// Of at most as many robots as a lane is wide, where a state has them and a rule takes
    /// them up. Their base must be free.
    pub(super) fn led(
        model: &Model,
        tree: &Tree,
        robots: Vec<Robot>,
        state: &State,
        rule: impl FnOnce(&[Robot], &mut [L]) -> R,
    ) -> Commanded<L, R> {
        assert!(!robots.is_empty() && robots.len() <= L::WIDTH, "one robot per lane");
        assert!(tree.is_free(), "a base that can be put");
        let mut positions = vec![L::ZERO; tree.n_positions];
        let mut velocities = vec![L::ZERO; tree.n_dofs];
        for lane in 0..L::WIDTH {
            // Lanes nobody stands in hold the first robot, and nobody asks for them.
            let robot = robots.get(lane).unwrap_or(&robots[0]);
            let (q, v) = read_state(model, tree, robot, state);
            positions.iter_mut().zip(q).for_each(|(to, from)| to.set(lane, from));
            velocities.iter_mut().zip(v).for_each(|(to, from)| to.set(lane, from));
        }
        // A base that only ever is where the joints put it has no velocity of its own to bring.
        velocities[..6].fill(L::ZERO);
        let rule = rule(&robots, &mut positions);
        let mut seen = Seen::new(tree);
        see(tree, &positions, &velocities, &mut seen);
        Commanded {
            follow: Follow::of(model, tree, &robots),
            rule,
            next_positions: positions.clone(),
            next_velocities: velocities.clone(),
            positions,
            velocities,
            seen,
            shoves: vec![Vec3::ZERO; robots.len()],
            links: Links::new(tree, &robots),
            alarm: L::ZERO,
            tree: tree.clone(),
            robots,
        }
    }

    /// Holds robots whose numbers left the finite; the others do not notice.
    fn contain(&mut self) {
        let mut is_any_lost = false;
        for (lane, robot) in self.robots.iter_mut().enumerate() {
            if robot.is_lost || is_alarmed(self.alarm, lane) {
                (robot.is_lost, is_any_lost) = (true, true);
                let held = self.next_positions.iter_mut().zip(&self.positions);
                held.for_each(|(q, held)| q.set(lane, held.get(lane)));
                self.next_velocities.iter_mut().for_each(|v| v.set(lane, 0.0));
            }
        }
        if is_any_lost {
            see(&self.tree, &self.next_positions, &self.next_velocities, &mut self.seen);
        }
    }
}

/// Where a free tree's first node is and how it moves, side by side.
#[inline(always)]
fn base_in_lanes<L: Lane>(q: &[L], v: &[L]) -> Base<L> {
    Base {
        turn: Turn { v: V3 { x: q[3], y: q[4], z: q[5] }, w: q[6] },
        at: V3 { x: q[0], y: q[1], z: q[2] },
        motion: V6 {
            turn: V3 { x: v[0], y: v[1], z: v[2] },
            line: V3 { x: v[3], y: v[4], z: v[5] },
        },
    }
}

/// The step, done in instructions as wide as the lane.
struct Wide<'a, L, R>(&'a mut Commanded<L, R>, &'a Drive<'a>);

impl<L: Lane, R: Rule<L>> Kernel for Wide<'_, L, R> {
    #[inline(always)]
    fn run(self) {
        let Wide(it, drive) = self;
        it.follow.speeds(drive.inputs, drive.dt, &it.positions, &mut it.next_velocities);
        it.rule.lead(Step {
            drive,
            tree: &it.tree,
            robots: &it.robots,
            seen: &mut it.seen,
            positions: &it.positions,
            next_positions: &mut it.next_positions,
            velocities: &mut it.next_velocities,
        });
        it.alarm = alarm(&it.next_positions, &it.next_velocities);
    }
}

impl<L: Lane + Send, R: Rule<L>> Pack for Commanded<L, R> {
    fn robots(&self) -> &[Robot] {
        &self.robots
    }

    fn gives_way(&self) -> bool {
        false
    }

    fn tree(&self) -> &Tree {
        &self.tree
    }

    fn joints_give_way(&self) -> bool {
        false
    }

    fn place(&mut self, _state: &State) {
        let base = base_in_lanes(&self.positions, &self.velocities);
        put_links(&self.seen, &base, &mut self.links);
    }

    fn fastest(&self) -> [f64; 2] {
        self.links.fastest(self.robots.len())
    }

    fn origin(&self, robot: usize) -> Vec3 {
        base_of(&self.positions, robot).translation
    }

    /// Nothing pushes it.
    fn push(&mut self, _robot: usize, _node: usize, _force: V6<f64>) {}

    fn accelerate(&mut self, drive: &Drive<'_>) {
        L::wide(Wide(self, drive));
        self.contain();
    }

    fn free_motion(&self, robot: usize, node: usize) -> V6<f64> {
        let base = base_in_lanes(&self.next_positions, &self.next_velocities);
        let (turn, seen) = (base.turn.get(robot), self.seen.motion(node, robot));
        let turned = |v: V3<f64>| V3::of(turn * v.get(0));
        V6 { turn: turned(seen.turn), line: turned(seen.line) } + base.motion.get(robot)
    }

    /// All of it.
    fn led_motion(&self, robot: usize, node: usize) -> V6<f64> {
        self.free_motion(robot, node)
    }

    fn free_speed(&self, robot: usize, column: usize) -> f64 {
        self.next_velocities[column].get(robot)
    }

    fn coordinate(&self, robot: usize, column: usize) -> f64 {
        self.positions[self.tree.nodes[self.tree.column_nodes[column]].first_position].get(robot)
    }

    fn half(&self, _robot: usize, _node: usize, half: &mut Half) {
        half.clear();
    }

    fn half_of_column(&self, _robot: usize, _column: usize, half: &mut Half) {
        half.clear();
    }

    fn nudge(&mut self, _robot: usize, _node: usize, _impulse: V6<f64>) {}

    fn kick(&mut self, _robot: usize, _node: usize, _impulse: V6<f64>) {}

    fn kick_column(&mut self, _robot: usize, _column: usize, _impulse: f64) {}

    fn shove(&mut self, robot: usize, shift: Vec3) {
        self.shoves[robot] += Vec3::new(shift.x, shift.y, 0.0);
    }

    /// The velocities leave shoves out: to a gyro or an accelerometer they are no motion.
    fn finish(&mut self, _dt: f64) {
        // What no step writes, as a ball joint's position, is the same in both.
        std::mem::swap(&mut self.positions, &mut self.next_positions);
        std::mem::swap(&mut self.velocities, &mut self.next_velocities);
        for (lane, robot) in self.robots.iter().enumerate() {
            let shift = std::mem::replace(&mut self.shoves[lane], Vec3::ZERO);
            if shift == Vec3::ZERO || !shift.is_finite() || robot.is_lost {
                continue;
            }
            self.rule.shove(lane, shift);
            let (x, y) = (self.positions[0].get(lane), self.positions[1].get(lane));
            self.positions[0].set(lane, x + shift.x);
            self.positions[1].set(lane, y + shift.y);
        }
    }

    fn write(&self, state: &mut State) {
        let moved = (&self.positions[..], &self.velocities[..]);
        self.links.write(&self.robots, moved, state);
    }
}
