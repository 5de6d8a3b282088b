//! Vehicles: wheels roll on the level ground without slipping, as well as they all can.
//!
//! Where a wheel touches, the ground wants it to stand still. Seen from above, that is two
//! conditions per wheel on the base's velocity and yaw rate: along its axle the wheel does not
//! move, and across it as fast as it rolls. All of them together are solved by least squares, so
//! that differential drives, Ackermann steering and skid steering are one thing. A wheel that
//! nobody drives rolls along. Height and tilt of the base stay as they are.
//!
//! Deliberately absent: masses, grip and slopes. The vehicle cannot skid or be stopped.

use headland_base::maths::{quat_from_axis_angle, rpy_from_quat, sqrt};
use headland_base::{Quat, Transform, Vec3};
use headland_world::join_scope;

use crate::control::{Command, Mode};
use crate::engine::{Inputs, Order};
use crate::model::Model;
use crate::state::State;
use crate::tree::{Lane, Tree, V3};

use super::Robot;
use super::commanded::{Commanded, Rule, Step, base_of};
use super::soles::for_models_of;

/// Robots of one model that roll on their wheels.
pub type Vehicle<L> = Commanded<L, Wheels>;

/// The wheels of each robot, and where it is heading.
pub struct Wheels {
    carts: Vec<Cart>,
}

/// One robot.
struct Cart {
    wheels: Vec<Roller>,
    /// The base's attitude when it heads along x.
    level_from_base: Quat,
    /// \[rad\]
    heading: f64,
}

/// One wheel.
struct Roller {
    node: usize,
    column: usize,
    dof: usize,
    radius: f64,
}

/// A wheel as the world declares it, with what the robot has of it.
pub(super) struct DeclaredWheel<'a> {
    pub wheel: &'a headland_world::Wheel,
    /// What its joints' names are relative to.
    pub scope: String,
    /// The column of its joint, where that has one axis in the robot.
    pub column: Option<usize>,
}

/// The wheels of the outermost model a robot comes from, in file order.
pub(super) fn declared_wheels<'a>(model: &'a Model, robot: &Robot) -> Vec<DeclaredWheel<'a>> {
    let mut out = Vec::new();
    for_models_of(model, robot, &mut |scope, part| {
        out.extend(part.wheels.iter().map(|wheel| {
            let column = column_of(model, robot, &join_scope(scope, &wheel.joint));
            DeclaredWheel { wheel, scope: scope.to_string(), column }
        }));
    });
    out
}

/// The first column of a joint by its whole name.
pub(super) fn column_of(model: &Model, robot: &Robot, name: &str) -> Option<usize> {
    robot.dofs.iter().position(|dof| {
        dof.is_some_and(|(dof, _)| model.joints[model.dofs[dof].joint_idx].name == name)
    })
}

impl<L: Lane + Send> Vehicle<L> {
    /// Of at most as many robots as a lane is wide, where a state has them. Needs what
    /// [`needs`](super::needs) lists.
    pub fn new(model: &Model, tree: &Tree, robots: Vec<Robot>, state: &State) -> Vehicle<L> {
        Commanded::led(model, tree, robots, state, |robots, positions| {
            let carts = robots.iter().enumerate().map(|(lane, robot)| {
                let base = base_of(positions, lane).rotation;
                let heading = rpy_from_quat(base).z;
                let level_from_base = quat_from_axis_angle(Vec3::Z, -heading) * base;
                Cart { wheels: rollers_of(model, tree, robot), level_from_base, heading }
            });
            Wheels { carts: carts.collect() }
        })
    }

    /// Where a vehicle is heading \[rad\]; it goes on counting past whole turns.
    pub fn heading(&self, robot: usize) -> f64 {
        self.rule.carts[robot].heading
    }
}

fn rollers_of(model: &Model, tree: &Tree, robot: &Robot) -> Vec<Roller> {
    let wheels = declared_wheels(model, robot).into_iter();
    let rollers = wheels.filter_map(|declared| {
        let column = declared.column?;
        let (dof, _) = robot.dofs[column]?;
        let radius = declared.wheel.radius;
        Some(Roller { node: tree.column_nodes[column], column, dof, radius })
    });
    rollers.collect()
}

/// A motion over the ground, seen from above along the robot's heading.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Glide {
    forward: f64,
    left: f64,
    yaw_rate: f64,
}

/// Where a wheel touches the ground and how it rolls there, seen along the robot's heading.
struct Footing {
    /// Where it touches, from the base.
    at: [f64; 2],
    /// The way the wheel rolls.
    along: [f64; 2],
    /// How joints other than its own move the point.
    carried: [f64; 2],
}

impl<L: Lane + Send> Rule<L> for Wheels {
    #[inline(always)]
    fn lead(&mut self, mut step: Step<'_, L>) {
        for lane in 0..step.robots.len() {
            let (cart, before) = (&mut self.carts[lane], base_of(step.positions, lane));
            if step.robots[lane].is_lost {
                step.put_base(lane, &before, Vec3::ZERO, Vec3::ZERO);
                continue;
            }
            let glide = cart.glide(lane, &mut step);
            // A constant motion is an arc: its chord lies half way between the headings.
            let turned = glide.yaw_rate * step.drive.dt;
            let half = 0.5 * turned;
            let (sine, _) = Lane::sin_cos(half);
            let chord = if half.abs() > 1e-6 { sine / half } else { 1.0 - half * half / 6.0 };
            let way = turn([glide.forward, glide.left], cart.heading + half);
            cart.heading += turned;
            let [x, y] = way.map(|v| v * (step.drive.dt * chord));
            let [vx, vy] = turn([glide.forward, glide.left], cart.heading);
            let now = Transform::new(
                quat_from_axis_angle(Vec3::Z, cart.heading) * cart.level_from_base,
                before.translation + Vec3::new(x, y, 0.0),
            );
            let spin = Vec3::new(0.0, 0.0, glide.yaw_rate);
            step.put_base(lane, &now, spin, Vec3::new(vx, vy, 0.0));
        }
        step.move_joints();
        step.look();
    }

    /// It holds on to nothing.
    fn shove(&mut self, _robot: usize, _shift: Vec3) {}
}

impl Cart {
    /// The motion that suits the wheels best; those that nobody drives then roll along.
    fn glide<L: Lane>(&self, lane: usize, step: &mut Step<'_, L>) -> Glide {
        let mut sums = Sums::default();
        for wheel in &self.wheels {
            let footing = self.footing(wheel, lane, step);
            sums.add(&footing, footing.across(), 0.0);
            if is_driven(step.drive.inputs, wheel.dof) {
                let speed = step.velocities[wheel.column].get(lane) * wheel.radius;
                sums.add(&footing, footing.along, speed);
            }
        }
        let [forward, left, yaw_rate] = sums.solve();
        let glide = Glide { forward, left, yaw_rate };
        for wheel in &self.wheels {
            if !is_driven(step.drive.inputs, wheel.dof) {
                let footing = self.footing(wheel, lane, step);
                step.velocities[wheel.column].set(lane, footing.speed(&glide) / wheel.radius);
            }
        }
        glide
    }

    fn footing<L: Lane>(&self, wheel: &Roller, lane: usize, step: &Step<'_, L>) -> Footing {
        // As the base sees it when the step begins, and then along the world's axes.
        let base = base_of(step.positions, lane).rotation;
        let axle = base * step.seen.axis(step.tree, wheel.column, lane).turn.get(0);
        // The lowest point of a disc is as far down as its plane lets it.
        let down = axle * axle.z - Vec3::Z;
        let down = down / sqrt(down.dot(down)).max(f64::MIN_POSITIVE);
        let at =
            base * step.seen.base_from_node(wheel.node, lane).translation + down * wheel.radius;
        let at_inside = V3::of(base.conjugate() * at);
        let mut carried = Vec3::ZERO;
        let mut column = step.tree.column_parents[wheel.column];
        while let Some(k) = column.filter(|k| *k >= BASE_COLUMNS) {
            let motion = step.seen.axis(step.tree, k, lane) * step.velocities[k].get(lane);
            carried += motion.velocity_at(at_inside).get(0);
            column = step.tree.column_parents[k];
        }
        let carried = base * carried;
        let along = down.cross(axle);
        let seen = |v: Vec3| turn([v.x, v.y], -self.heading);
        Footing { at: seen(at), along: seen(along), carried: seen(carried) }
    }
}

/// Of a free base.
const BASE_COLUMNS: usize = 6;

impl Footing {
    /// To the left of the way it rolls.
    fn across(&self) -> [f64; 2] {
        [-self.along[1], self.along[0]]
    }

    /// How fast it rolls when the base moves like this.
    fn speed(&self, glide: &Glide) -> f64 {
        let [x, y] = self.at;
        let velocity = [
            glide.forward - glide.yaw_rate * y + self.carried[0],
            glide.left + glide.yaw_rate * x + self.carried[1],
        ];
        velocity[0] * self.along[0] + velocity[1] * self.along[1]
    }
}

/// The sums of a least-squares problem in forward speed, speed to the left and yaw rate.
#[derive(Default)]
struct Sums {
    matrix: [[f64; 3]; 3],
    right: [f64; 3],
}

impl Sums {
    /// Asks that a wheel's lowest point moves by `speed` along a direction.
    fn add(&mut self, footing: &Footing, direction: [f64; 2], speed: f64) {
        let ([x, y], [dx, dy]) = (footing.at, direction);
        let row = [dx, dy, x * dy - y * dx];
        let wanted = speed - (dx * footing.carried[0] + dy * footing.carried[1]);
        for (i, a) in row.into_iter().enumerate() {
            self.right[i] += a * wanted;
            for (entry, b) in self.matrix[i].iter_mut().zip(row) {
                *entry += a * b;
            }
        }
    }

    /// By elimination, largest pivot first. What no wheel says anything about is zero.
    fn solve(mut self) -> [f64; 3] {
        let largest = (0..3).fold(0.0_f64, |most, i| most.max(self.matrix[i][i]));
        let mut order = [0, 1, 2];
        let mut rank = 0;
        while rank < 3 {
            let best = (rank..3).fold(rank, |best, i| {
                let value = |i: usize| self.matrix[order[i]][order[i]];
                if value(i) > value(best) { i } else { best }
            });
            order.swap(rank, best);
            let pivot = order[rank];
            if self.matrix[pivot][pivot] <= largest * NOTHING {
                break;
            }
            for &i in &order[rank + 1..] {
                let share = self.matrix[i][pivot] / self.matrix[pivot][pivot];
                for &j in &order[rank..] {
                    self.matrix[i][j] -= share * self.matrix[pivot][j];
                }
                self.right[i] -= share * self.right[pivot];
            }
            rank += 1;
        }
        let mut out = [0.0; 3];
        for n in (0..rank).rev() {
            let pivot = order[n];
            let known: f64 = order[n + 1..].iter().map(|&j| self.matrix[pivot][j] * out[j]).sum();
            out[pivot] = (self.right[pivot] - known) / self.matrix[pivot][pivot];
        }
        out
    }
}

/// Pivots this much smaller than the largest are rounding.
const NOTHING: f64 = 1e-12;

/// Whether somebody drives or brakes an axis. One that was let go, that is given an effort, or
/// that has no motor and no order, rolls as the others make it.
fn is_driven(inputs: &Inputs, dof: usize) -> bool {
    match inputs.orders.get(dof) {
        Some(Order::Follow(Command { mode, .. })) => *mode != Mode::Effort,
        Some(Order::LetGo) => false,
        Some(Order::Nothing) | None => {
            inputs.slopes.get(dof).is_some_and(|gains| gains.kp > 0.0 || gains.kd > 0.0)
        }
    }
}

/// A vector turned to the left.
fn turn([x, y]: [f64; 2], angle: f64) -> [f64; 2] {
    let (s, c) = Lane::sin_cos(angle);
    [c * x - s * y, s * x + c * y]
}
