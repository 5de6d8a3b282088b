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

use headland_base::maths::{quat_from_rpy, rotation_vector_from_quat, rpy_from_quat};
use headland_base::{Transform, Vec3};

use crate::model::Model;
use crate::state::State;
use crate::tree::{Bodies, Lane, NodeKind, Tree, place_some};

use super::Robot;
use super::commanded::{Commanded, Rule, Step, base_of, put_base};
use super::ends::at_nothing;
use super::soles::{Sole, ground_height, soles_of};

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
    /// The nodes between the base and any sole, parents first.
    legs: Vec<usize>,
    /// Scratch: legs in the base's frame, side by side and for one robot.
    bodies: Bodies<L>,
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
    /// Of the base: angular and linear.
    velocity: (Vec3, Vec3),
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
            let velocity = (Vec3::ZERO, Vec3::ZERO);
            let mut walker = Walker {
                soles,
                stance,
                world_from_stance,
                is_raised,
                floors,
                clearances,
                velocity,
            };
            walker.notice_raised();
            walkers.push(walker);
        }
        Feet { walkers, ground, legs, bodies: Bodies::new(tree), alone }
    }
}

impl<L: Lane + Send> Rule<L> for Feet<L> {
    #[inline(always)]
    fn lead(&mut self, mut step: Step<'_, L>) {
        // With the base at nothing, links are where they are in the base's frame.
        step.next_positions[..6].fill(L::ZERO);
        step.next_positions[6] = L::of(1.0);
        step.move_joints();
        place_some(step.tree, &at_nothing(), step.next_positions, &self.legs, &mut self.bodies);
        for lane in 0..step.robots.len() {
            let before = base_of(step.positions, lane);
            if step.robots[lane].is_lost {
                step.put_base(lane, &before, Vec3::ZERO, Vec3::ZERO);
                continue;
            }
            let stance = self.walkers[lane].stance;
            let now = self.walk(lane, &step);
            let walker = &mut self.walkers[lane];
            // Where a sole takes over it is laid flat, and the base jumps by what that takes:
            // no motion a gyroscope would feel.
            if walker.stance == stance {
                let turned = now.rotation * before.rotation.conjugate();
                let rate = 1.0 / step.drive.dt;
                let angular = rotation_vector_from_quat(turned) * rate;
                walker.velocity = (angular, (now.translation - before.translation) * rate);
            }
            step.put_base(lane, &now, walker.velocity.0, walker.velocity.1);
        }
    }

    fn shove(&mut self, robot: usize, shift: Vec3) {
        self.walkers[robot].world_from_stance.translation += shift;
    }
}

impl<L: Lane> Feet<L> {
    /// The base of a robot at the end of a step, in which other soles may have come to stand.
    #[inline(always)]
    fn walk(&mut self, lane: usize, step: &Step<'_, L>) -> Transform {
        let Feet { walkers, ground, legs, bodies, alone } = self;
        let (walker, ground) = (&mut walkers[lane], *ground);
        let base_from = |sole: &Sole| bodies.world_from_node(sole.node, lane) * sole.node_from_sole;
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
