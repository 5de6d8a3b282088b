//! Joints that follow their commands without forces, for details that have none in them.

use headland_base::maths::exp;
use headland_world::JointKind;

use crate::control::{Command, Mode};
use crate::engine::{Inputs, Order};
use crate::model::Model;
use crate::tree::{Lane, Tree};

use super::Robot;

/// How long an axis lags behind a position where no servo says \[s\]: as a small servo does.
const USUAL_LAG: f64 = 0.02;

/// How each column of a robot follows: constant, but for what depends on the step's length.
#[derive(Clone, Debug)]
pub(super) struct Follow<L> {
    /// The step that the columns' rates are of \[s\].
    dt: f64,
    /// Those that have an axis.
    columns: Vec<Column<L>>,
    /// Columns of each robot that follow others, leaders first.
    mimics: Vec<Vec<(usize, Mimic)>>,
}

/// One column of all robots; lanes beyond them repeat the first one.
#[derive(Clone, Debug)]
struct Column<L> {
    column: usize,
    position: usize,
    /// Lane by lane.
    axes: Vec<Axis>,
    sign: L,
    lag: L,
    /// Speed per what is left to a target: with it the column is, at the end of a step, where
    /// `q̇ = (target − q)/lag` leads, however long the step \[1/s\].
    rate: L,
    speed_max: L,
    lower: L,
    upper: L,
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    dof: usize,
    sign: f64,
    /// A servo holds its zero until it is told otherwise.
    holds_zero: bool,
    /// How long it lags behind \[s\].
    lag: f64,
    speed_max: f64,
    lower: f64,
    upper: f64,
}

/// Goes where another column is: `multiplier · leader + offset`, both in their joints' own
/// counting. Both as indices of [`Follow::columns`].
#[derive(Clone, Copy, Debug)]
struct Mimic {
    leader: usize,
    multiplier: f64,
    offset: f64,
}

impl<L: Lane> Follow<L> {
    pub fn of(model: &Model, tree: &Tree, robots: &[Robot]) -> Follow<L> {
        let lags = &model.servo_lags;
        let axis = |(dof, sign): (usize, f64)| {
            let axis = &model.dofs[dof].axis;
            let joint = &model.joints[model.dofs[dof].joint_idx];
            let has_limits = !matches!(joint.kind, JointKind::Continuous(_));
            let (lower, upper) = if has_limits {
                (axis.lower, axis.upper)
            } else {
                (f64::NEG_INFINITY, f64::INFINITY)
            };
            Axis {
                dof,
                sign,
                lag: lags[dof].unwrap_or(USUAL_LAG),
                holds_zero: lags[dof].is_some(),
                speed_max: axis.velocity_max,
                lower,
                upper,
            }
        };
        let mut columns: Vec<Column<L>> = Vec::new();
        for k in 0..tree.n_dofs {
            let axes = robots.iter().filter_map(|robot| robot.dofs[k].map(axis));
            let axes: Vec<Axis> = axes.collect();
            let Some(first) = axes.first() else { continue };
            let lanes = |of: fn(&Axis) -> f64| {
                let mut out = L::of(of(first));
                axes.iter().enumerate().for_each(|(lane, axis)| out.set(lane, of(axis)));
                out
            };
            columns.push(Column {
                column: k,
                position: tree.nodes[tree.column_nodes[k]].first_position,
                sign: lanes(|axis| axis.sign),
                lag: lanes(|axis| axis.lag),
                rate: L::ZERO,
                speed_max: lanes(|axis| axis.speed_max),
                lower: lanes(|axis| axis.lower),
                upper: lanes(|axis| axis.upper),
                axes,
            });
        }
        let place_of = |k: usize| columns.iter().position(|column| column.column == k);
        let mimics = robots.iter().map(|robot| {
            let placed = mimics_of(model, robot).into_iter().filter_map(|(k, mimic)| {
                Some((place_of(k)?, Mimic { leader: place_of(mimic.leader)?, ..mimic }))
            });
            placed.collect()
        });
        Follow { dt: 0.0, mimics: mimics.collect(), columns }
    }

    /// The speed of every column from positions on, as orders ask. A position is approached
    /// like `q̇ = (target − q)/lag`, which is how a servo with much damping moves; no faster
    /// than the axis can, and not beyond its limits. A mimic goes where its leader will be.
    /// What no order moves stands still.
    #[inline(always)]
    pub fn speeds(&mut self, inputs: &Inputs, dt: f64, positions: &[L], speeds: &mut [L]) {
        if self.dt != dt {
            self.dt = dt;
            let rate = |lag: f64| if lag > 0.0 { (1.0 - exp(-dt / lag)) / dt } else { 1.0 / dt };
            self.columns.iter_mut().for_each(|column| column.rate = column.lag.map(rate));
        }
        // Nearly always all orders are positions. They are gathered for all columns before any is
        // read: what was just written number by number cannot be read at once right away.
        let mut are_all_positions = true;
        for column in &self.columns {
            let target = &mut speeds[column.column];
            for (lane, axis) in column.axes.iter().enumerate().take(L::WIDTH) {
                match inputs.orders.get(axis.dof) {
                    Some(Order::Follow(Command { mode: Mode::Position, target: asked })) => {
                        target.set(lane, *asked);
                    }
                    _ => are_all_positions = false,
                }
            }
        }
        for column in &self.columns {
            let q = column.sign * positions[column.position];
            let asked = if are_all_positions {
                (speeds[column.column] - q) * column.rate
            } else {
                column.asked(inputs, q)
            };
            speeds[column.column] = column.sign * column.within(asked, q, dt);
        }
        for (lane, mimics) in self.mimics.iter().enumerate() {
            for (follower, mimic) in mimics {
                let at = |i: usize| {
                    let column = &self.columns[i];
                    column.axes[lane].sign * positions[column.position].get(lane)
                };
                let leader = &self.columns[mimic.leader];
                let leader_speed = leader.axes[lane].sign * speeds[leader.column].get(lane);
                let led = at(mimic.leader) + leader_speed * dt;
                let (q, target) = (at(*follower), mimic.multiplier * led + mimic.offset);
                let (column, axis) =
                    (&self.columns[*follower], &self.columns[*follower].axes[lane]);
                let speed = axis.within((target - q) / dt, q, dt);
                speeds[column.column].set(lane, axis.sign * speed);
            }
        }
    }
}

impl<L: Lane> Column<L> {
    /// The speeds that orders of all kinds ask for, of axes at `q`.
    fn asked(&self, inputs: &Inputs, q: L) -> L {
        let mut asked = L::ZERO;
        for (lane, axis) in self.axes.iter().enumerate() {
            let (q, rate) = (q.get(lane), self.rate.get(lane));
            asked.set(
                lane,
                match inputs.orders.get(axis.dof) {
                    Some(Order::Follow(Command { mode: Mode::Position, target })) => {
                        (target - q) * rate
                    }
                    Some(Order::Follow(Command { mode: Mode::Velocity, target })) => *target,
                    // A servo that was told nothing holds its zero.
                    Some(Order::Nothing) if axis.holds_zero => -q * rate,
                    _ => 0.0,
                },
            );
        }
        asked
    }

    /// Speeds the axes can have and that keep them within their limits.
    ///
    /// Written in small steps over all lanes, which become one instruction each; as one loop
    /// over the lanes it was done lane by lane, and took a fifth of a walking robot's time.
    #[inline(always)]
    fn within(&self, asked: L, q: L, dt: f64) -> L {
        let number = asked.map(|speed| if speed.is_nan() { 0.0 } else { speed });
        let mut out = number.at_least(-self.speed_max).at_most(self.speed_max);
        let end = q + out * L::of(dt);
        let room = (end - self.lower).at_most(self.upper - end);
        let is_free = (0..L::WIDTH).fold(true, |is_free, lane| is_free & (room.get(lane) >= 0.0));
        // Most steps end far from any stop, and a division takes as long as all the rest.
        if !is_free {
            for (lane, axis) in self.axes.iter().enumerate() {
                out.set(lane, axis.within(out.get(lane), q.get(lane), dt));
            }
        }
        out
    }
}

/// Columns that follow another of the same robot, leaders first.
fn mimics_of(model: &Model, robot: &Robot) -> Vec<(usize, Mimic)> {
    let leader_of = |k: usize| {
        let mimic = model.dofs[robot.dofs[k]?.0].mimic?;
        let has_leader =
            |dof: &Option<(usize, f64)>| dof.is_some_and(|(dof, _)| dof == mimic.leader_dof);
        let leader = robot.dofs.iter().position(has_leader)?;
        Some(Mimic { leader, multiplier: mimic.multiplier, offset: mimic.offset })
    };
    // A chain is no longer than there are columns; a ring would have no beginning.
    let depth = |k: usize| {
        let mut chain = std::iter::successors(Some(k), |k| leader_of(*k).map(|m| m.leader));
        chain.by_ref().take(robot.dofs.len()).count()
    };
    let mimics = (0..robot.dofs.len()).filter_map(|k| Some((k, leader_of(k)?)));
    let mut mimics: Vec<(usize, Mimic)> = mimics.collect();
    mimics.sort_by_key(|(k, _)| depth(*k));
    mimics
}

impl Axis {
    /// A speed the axis can have and that keeps it within its limits; none for what is none.
    fn within(&self, asked: f64, q: f64, dt: f64) -> f64 {
        if asked.is_nan() {
            return 0.0;
        }
        let asked = asked.max(-self.speed_max).min(self.speed_max);
        let end = q + asked * dt;
        if end >= self.lower && end <= self.upper {
            return asked;
        }
        let most = ((self.upper - q) / dt).max(0.0);
        let least = ((self.lower - q) / dt).min(0.0);
        asked.min(most).max(least)
    }
}
