//! Kinematic walking: one sole stands, and everything else is where the joints put it.
//!
//! ```text
//! joints follow ─► soles in the base's frame ─► base = stance sole · inverse ─► swing soles
//!                                    ▲                                             │
//!                                    └── another sole stands from then on ◄─ one touches
//! ```
//!
//! The stance sole is frozen flat on the ground. When another sole's lowest corner comes down
//! to the ground, the moment of touching is searched in the step, and from then on that sole is
//! the one that stands, laid flat where it was. A sole that is down has to rise above
//! [`TOUCH`], or sink by as much, before it can stand again: in double support nobody
//! chatters, and who stands goes on standing. A foot that lands tilted is laid flat and tilts
//! the robot; how far that brings other soles under the ground is no reason to stand on them.
//!
//! Deliberately absent: masses and forces. The robot cannot fall, slide or be stopped.

use headland_base::maths::{quat_from_rpy, rpy_from_quat};
use headland_base::{Transform, Vec3};

use crate::model::Model;
use crate::state::State;
use crate::tree::{Bodies, Lane, NodeKind, Tree, Turn, V3, V6, place_some};

use super::Robot;
use super::commanded::{Commanded, Rule, Step, base_of, put_base};
use super::ends::at_nothing;
use super::soles::{Sole, ground_height, soles_of};
use super::turning::vector_of;

/// So close to the ground a sole touches it; so far above it has left it \[m\].
pub const TOUCH: f64 = 1e-3;

/// Halvings of a step in search of the moment of touching.
const HALVINGS: usize = 8;

/// Robots of one model that walk on their feet and cannot fall.
pub type Stance<L> = Commanded<L, Feet<L>>;

/// Which foot of each robot stands, and where.
pub struct Feet<L> {
    walkers: Vec<Walker>,
    ground: f64,
    /// What all robots stand on, side by side; none where they have different feet.
    team: Option<Team<L>>,
    /// Of the bases.
    velocities: V6<L>,
    /// The nodes between the base and any sole, parents first.
    legs: Vec<usize>,
    /// Scratch: legs in the base's frame, of one robot.
    alone: Alone,
}

/// One robot.
struct Walker {
    soles: Vec<Sole>,
    stance: usize,
    /// Flat on the ground.
    world_from_stance: Transform,
    /// Soles that may take over as soon as they are down.
    is_raised: Vec<bool>,
    /// How far under the ground the others were when this one came to stand; not above it.
    floors: Vec<f64>,
    /// Scratch: how high each sole is.
    clearances: Vec<f64>,
}

/// Robots with the same feet, side by side: what their walkers say, in lanes. Nearly every step
/// ends as it began, on the same soles, and is done here; a robot of which something else may
/// be true walks by itself.
struct Team<L> {
    soles: Vec<SoleInLanes<L>>,
    /// Per sole: one where it stands, else nothing.
    stands: Vec<L>,
    world_from_stance: (Turn<L>, V3<L>),
    /// Per sole: from below which height on, and from above which, there is more to do.
    calm: Vec<(L, L)>,
    /// Scratch: the soles as the base sees them.
    base_from: Vec<(Turn<L>, V3<L>)>,
}

/// One sole of every robot: on the same node, but each where its own foot has it.
struct SoleInLanes<L> {
    node: usize,
    node_from_sole: (Turn<L>, V3<L>),
    half: [L; 2],
}

/// Scratch for one robot.
struct Alone {
    positions: Vec<f64>,
    bodies: Bodies<f64>,
}

impl<L: Lane + Send> Stance<L> {
    /// Of at most as many robots as a lane is wide, where a state has them: each stands on the
    /// lowest of its soles, which is put flat on the ground. Needs what
    /// [`needs`](super::needs) lists.
    pub fn new(model: &Model, tree: &Tree, robots: Vec<Robot>, state: &State) -> Stance<L> {
        Commanded::led(model, tree, robots, state, |robots, positions| {
            Feet::stand(model, tree, robots, positions)
        })
    }

    /// Which of its feet a robot stands on, in the order of its world, and where that sole is.
    pub fn stance(&self, robot: usize) -> (usize, Transform) {
        let walker = &self.rule.walkers[robot];
        (walker.stance, walker.world_from_stance)
    }
}

impl<L: Lane> Feet<L> {
    /// Puts every robot on its lowest sole.
    fn stand(model: &Model, tree: &Tree, robots: &[Robot], positions: &mut [L]) -> Feet<L> {
        let ground = ground_height(model);
        let soles: Vec<Vec<Sole>> =
            robots.iter().map(|robot| soles_of(model, tree, robot)).collect();
        let legs = legs_of(tree, soles.iter().flatten());
        let mut alone = Alone { positions: vec![0.0; tree.n_positions], bodies: Bodies::new(tree) };
        let mut walkers = Vec::new();
        for (lane, soles) in soles.into_iter().enumerate() {
            assert!(!soles.is_empty(), "a robot that walks has feet");
            let world_from_base = base_of(positions, lane);
            alone.take_up(positions, lane);
            alone.place(tree, &legs, |p, _| positions[p].get(lane));
            let base_from: Vec<Transform> =
                soles.iter().map(|sole| alone.base_from(sole)).collect();
            let clearances = |world_from_base: Transform| -> Vec<f64> {
                let both = soles.iter().zip(&base_from);
                both.map(|(sole, from)| sole.clearance(&(world_from_base * *from), ground))
                    .collect()
            };
            let heights = clearances(world_from_base);
            let stance =
                (1..soles.len()).fold(0, |low, i| if heights[i] < heights[low] { i } else { low });
            let world_from_stance = flat(&(world_from_base * base_from[stance]), ground);
            let world_from_base = world_from_stance * base_from[stance].inverse();
            put_base(positions, lane, &world_from_base);
            let clearances = clearances(world_from_base);
            let (is_raised, floors) = (vec![false; soles.len()], vec![0.0; soles.len()]);
            let mut walker =
                Walker { soles, stance, world_from_stance, is_raised, floors, clearances };
            walker.notice_raised();
            walkers.push(walker);
        }
        let team = Team::of(&walkers);
        Feet { walkers, ground, team, velocities: V6::ZERO, legs, alone }
    }
}

impl<L: Lane + Send> Rule<L> for Feet<L> {
    #[inline(always)]
    fn lead(&mut self, mut step: Step<'_, L>) {
        step.move_joints();
        step.look();
        let q = step.positions;
        let before = Turn { v: V3 { x: q[3], y: q[4], z: q[5] }, w: q[6] };
        let (mut turn, mut at) = (before, V3 { x: q[0], y: q[1], z: q[2] });
        let before_at = at;
        let mut has_more = [self.team.is_none(); N_LANES_MAX];
        if let Some(team) = &mut self.team {
            (turn, at) = team.stand(&step, self.ground, &mut has_more);
        }
        // Where a sole takes over it is laid flat, and the base jumps by what that takes: no
        // motion a gyroscope would feel. Such a robot goes on as fast as before.
        let mut has_jumped = [false; N_LANES_MAX];
        for lane in (0..step.robots.len()).filter(|lane| has_more[*lane]) {
            if step.robots[lane].is_lost {
                continue;
            }
            let stance = self.walkers[lane].stance;
            let now = self.walk(lane, &step);
            turn.set(lane, now.rotation);
            at.set(lane, now.translation);
            has_jumped[lane] = self.walkers[lane].stance != stance;
            if let Some(team) = &mut self.team {
                team.take(lane, &self.walkers[lane]);
            }
        }
        let rate = L::of(1.0 / step.drive.dt);
        let mut velocities =
            V6 { turn: vector_of(turn * before.inverse()) * rate, line: (at - before_at) * rate };
        for lane in (0..step.robots.len()).filter(|lane| has_jumped[*lane]) {
            velocities.turn.set(lane, self.velocities.turn.get(lane));
            velocities.line.set(lane, self.velocities.line.get(lane));
        }
        self.velocities = velocities;
        step.next_positions[..7]
            .copy_from_slice(&[at.x, at.y, at.z, turn.v.x, turn.v.y, turn.v.z, turn.w]);
        let (t, l) = (velocities.turn, velocities.line);
        step.velocities[..6].copy_from_slice(&[t.x, t.y, t.z, l.x, l.y, l.z]);
    }

    fn shove(&mut self, robot: usize, shift: Vec3) {
        self.walkers[robot].world_from_stance.translation += shift;
        if let Some(team) = &mut self.team {
            team.take(robot, &self.walkers[robot]);
        }
    }
}

/// No lane is wider.
const N_LANES_MAX: usize = 16;

impl<L: Lane> Team<L> {
    /// Of robots that all have soles on the same nodes.
    fn of(walkers: &[Walker]) -> Option<Team<L>> {
        let first = &walkers[0];
        let nodes = |walker: &Walker| walker.soles.iter().map(|sole| sole.node).collect::<Vec<_>>();
        if walkers.iter().any(|walker| nodes(walker) != nodes(first)) {
            return None;
        }
        let nothing = (Turn::of(headland_base::Quat::IDENTITY), V3::ZERO);
        let in_lanes = |i: usize| {
            let node = first.soles[i].node;
            let mut out = SoleInLanes { node, node_from_sole: nothing, half: [L::ZERO; 2] };
            for lane in 0..L::WIDTH {
                let sole = &walkers.get(lane).unwrap_or(first).soles[i];
                out.node_from_sole.0.set(lane, sole.node_from_sole.rotation);
                out.node_from_sole.1.set(lane, sole.node_from_sole.translation);
                (0..2).for_each(|k| out.half[k].set(lane, sole.half[k]));
            }
            out
        };
        let soles: Vec<SoleInLanes<L>> = (0..first.soles.len()).map(in_lanes).collect();
        let mut team = Team {
            stands: vec![L::ZERO; soles.len()],
            world_from_stance: nothing,
            calm: vec![(L::ZERO, L::ZERO); soles.len()],
            base_from: vec![nothing; soles.len()],
            soles,
        };
        // Lanes nobody stands in hold the first robot, and nobody asks for them.
        (0..L::WIDTH).for_each(|lane| team.take(lane, walkers.get(lane).unwrap_or(first)));
        Some(team)
    }

    /// Takes over what a walker says.
    fn take(&mut self, lane: usize, walker: &Walker) {
        for (i, stands) in self.stands.iter_mut().enumerate() {
            stands.set(lane, if i == walker.stance { 1.0 } else { 0.0 });
        }
        self.world_from_stance.0.set(lane, walker.world_from_stance.rotation);
        self.world_from_stance.1.set(lane, walker.world_from_stance.translation);
        for (i, calm) in self.calm.iter_mut().enumerate() {
            let (low, high) = if i == walker.stance {
                (f64::NEG_INFINITY, f64::INFINITY)
            } else if walker.is_raised[i] {
                (0.0, f64::INFINITY)
            } else {
                (walker.floors[i] - TOUCH, TOUCH)
            };
            calm.0.set(lane, low);
            calm.1.set(lane, high);
        }
    }

    /// The bases on the soles that stand, and for whom there is more to do.
    #[inline(always)]
    fn stand(
        &mut self,
        step: &Step<'_, L>,
        ground: f64,
        has_more: &mut [bool; N_LANES_MAX],
    ) -> (Turn<L>, V3<L>) {
        let (mut stance_turn, mut stance_at) = (Turn { v: V3::ZERO, w: L::ZERO }, V3::ZERO);
        for ((sole, from), stands) in self.soles.iter().zip(&mut self.base_from).zip(&self.stands) {
            *from = step.seen.base_from(sole.node, &sole.node_from_sole);
            stance_turn.v += from.0.v * *stands;
            stance_turn.w += from.0.w * *stands;
            stance_at += from.1 * *stands;
        }
        let turn = self.world_from_stance.0 * stance_turn.inverse();
        let rotation = turn.matrix();
        let at = self.world_from_stance.1 - rotation * stance_at;
        let mut room_left = L::of(f64::INFINITY);
        for ((sole, from), calm) in self.soles.iter().zip(&self.base_from).zip(&self.calm) {
            let height = (at + rotation * from.1).z - L::of(ground);
            let clearance = sole.clearance(turn * from.0, height);
            for lane in 0..L::WIDTH {
                let clearance = clearance.get(lane);
                let room = (clearance - calm.0.get(lane)).min(calm.1.get(lane) - clearance);
                room_left.set(lane, room_left.get(lane).min(room));
            }
        }
        for (lane, has_more) in has_more.iter_mut().enumerate().take(L::WIDTH) {
            *has_more = room_left.get(lane) < 0.0;
        }
        (turn, at)
    }
}

impl<L: Lane> SoleInLanes<L> {
    /// [`Sole::clearance`] of soles that are turned like this, their middles so high.
    #[inline(always)]
    fn clearance(&self, turn: Turn<L>, height: L) -> L {
        let (V3 { x, y, z }, w, two) = (turn.v, turn.w, L::of(2.0));
        let rise_x = ((x * z - w * y) * two).map(f64::abs) * self.half[0];
        let rise_y = ((y * z + w * x) * two).map(f64::abs) * self.half[1];
        height - (rise_x + rise_y)
    }
}

impl<L: Lane> Feet<L> {
    /// The base of a robot at the end of a step, in which other soles may have come to stand.
    fn walk(&mut self, lane: usize, step: &Step<'_, L>) -> Transform {
        let Feet { walkers, ground, legs, alone, .. } = self;
        let (walker, ground) = (&mut walkers[lane], *ground);
        let base_from =
            |sole: &Sole| step.seen.base_from_node(sole.node, lane) * sole.node_from_sole;
        let mut world_from_base =
            walker.world_from_stance * base_from(&walker.soles[walker.stance]).inverse();
        let mut past = 0.0;
        // Only raised soles can take over from one another, each once, so one more is enough.
        for _ in 0..=walker.soles.len() {
            let mut first: Option<Touch> = None;
            for i in (0..walker.soles.len()).filter(|i| *i != walker.stance) {
                let world_from_sole = world_from_base * base_from(&walker.soles[i]);
                let clearance = walker.soles[i].clearance(&world_from_sole, ground);
                walker.clearances[i] = clearance;
                if past > 0.0 && !walker.is_raised[i] {
                    walker.floors[i] = clearance.min(0.0);
                }
                let (floor, sole) = (walker.floors[i], &walker.soles[i]);
                let is_down = clearance < if walker.is_raised[i] { 0.0 } else { floor - TOUCH };
                if !is_down {
                    continue;
                }
                let at_end = Touch { sole: i, share: 1.0, world_from_sole };
                let touch = if clearance - floor > -TOUCH {
                    at_end
                } else {
                    alone.take_up(step.positions, lane);
                    let at = |share: f64| {
                        let h = share * step.drive.dt;
                        let moved = |p: usize, k: usize| {
                            step.positions[p].get(lane) + step.velocities[k].get(lane) * h
                        };
                        alone.place(step.tree, legs, moved);
                        walker.sole_in_world(alone, i)
                    };
                    first_touch(past, at_end, |pose| sole.clearance(pose, ground) - floor, at)
                };
                if first.as_ref().is_none_or(|first| touch.share < first.share) {
                    first = Some(touch);
                }
            }
            let Some(touch) = first else {
                walker.notice_raised();
                break;
            };
            walker.take_over(touch.sole, flat(&touch.world_from_sole, ground));
            past = touch.share.max(f64::MIN_POSITIVE);
            world_from_base =
                walker.world_from_stance * base_from(&walker.soles[walker.stance]).inverse();
        }
        world_from_base
    }
}

/// A sole that comes down on the ground.
struct Touch {
    sole: usize,
    /// When, as a share of the step.
    share: f64,
    /// Where, as it comes down.
    world_from_sole: Transform,
}

/// The moment of touching, between `past` and an end where the sole is too far down.
fn first_touch(
    past: f64,
    end: Touch,
    clearance: impl Fn(&Transform) -> f64,
    mut at: impl FnMut(f64) -> Transform,
) -> Touch {
    let (mut above, mut below) = (past, end);
    for _ in 0..HALVINGS {
        let share = 0.5 * (above + below.share);
        let world_from_sole = at(share);
        let height = clearance(&world_from_sole);
        if height < TOUCH {
            below = Touch { share, world_from_sole, ..below };
            if height > -TOUCH {
                break;
            }
        } else {
            above = share;
        }
    }
    below
}

impl Walker {
    fn take_over(&mut self, sole: usize, world_from_stance: Transform) {
        (self.is_raised[self.stance], self.is_raised[sole]) = (false, false);
        self.stance = sole;
        self.world_from_stance = world_from_stance;
    }

    /// Soles that have left the ground may come down on it again.
    fn notice_raised(&mut self) {
        for (i, clearance) in self.clearances.iter().enumerate() {
            if i != self.stance && *clearance > TOUCH {
                (self.is_raised[i], self.floors[i]) = (true, 0.0);
            }
        }
    }

    /// A sole while the stance sole stands, with the legs as they are in `alone`.
    fn sole_in_world(&self, alone: &Alone, sole: usize) -> Transform {
        let base_from_stance = alone.base_from(&self.soles[self.stance]);
        self.world_from_stance * (base_from_stance.inverse() * alone.base_from(&self.soles[sole]))
    }
}

impl Alone {
    /// Takes over what no order moves; the base stays at nothing.
    fn take_up<L: Lane>(&mut self, positions: &[L], lane: usize) {
        self.positions.iter_mut().zip(positions).for_each(|(to, from)| *to = from.get(lane));
        put_base(&mut self.positions, 0, &Transform::IDENTITY);
    }

    /// Legs in the base's frame, by positions of their axes as place and column have them.
    fn place(&mut self, tree: &Tree, legs: &[usize], position: impl Fn(usize, usize) -> f64) {
        for i in legs {
            let node = &tree.nodes[*i];
            if let NodeKind::Turn | NodeKind::Slide | NodeKind::Screw { .. } = node.kind {
                let p = node.first_position;
                self.positions[p] = position(p, node.first_dof);
            }
        }
        place_some(tree, &at_nothing(), &self.positions, legs, &mut self.bodies);
    }

    fn base_from(&self, sole: &Sole) -> Transform {
        self.bodies.world_from_node(sole.node, 0) * sole.node_from_sole
    }
}

/// Every node that carries a sole, parents first.
fn legs_of<'a>(tree: &Tree, soles: impl Iterator<Item = &'a Sole>) -> Vec<usize> {
    let mut is_leg = vec![false; tree.nodes.len()];
    for sole in soles {
        let mut node = Some(sole.node);
        while let Some(i) = node {
            is_leg[i] = true;
            node = tree.nodes[i].parent;
        }
    }
    (0..tree.nodes.len()).filter(|i| is_leg[*i]).collect()
}

/// A pose laid flat on the ground: place and heading are kept.
fn flat(pose: &Transform, ground: f64) -> Transform {
    let at = pose.translation;
    let yaw = rpy_from_quat(pose.rotation).z;
    Transform::new(quat_from_rpy(0.0, 0.0, yaw), Vec3::new(at.x, at.y, ground))
}
