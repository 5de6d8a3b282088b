//! Joints that follow their commands without forces, for details that have none in them.

use headland_world::JointKind;

use crate::control::{Command, Mode, servo_lags};
use crate::engine::{Inputs, Order};
use crate::model::Model;
use crate::tree::Lane;

use super::Robot;

/// How long an axis lags behind a position where no servo says \[s\]: as a small servo does.
const USUAL_LAG: f64 = 0.02;

/// How each column of a robot follows: constant.
#[derive(Clone, Debug)]
pub(super) struct Follow {
    /// One per robot and column; none for columns without an axis.
    axes: Vec<Vec<Option<Axis>>>,
    /// Columns of each robot that follow others, leaders first.
    mimics: Vec<Vec<(usize, Mimic)>>,
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
/// counting.
#[derive(Clone, Copy, Debug)]
struct Mimic {
    leader: usize,
    multiplier: f64,
    offset: f64,
}

impl Follow {
    pub fn of(model: &Model, robots: &[Robot]) -> Follow {
        let lags = servo_lags(model);
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
        let of_robot = |robot: &Robot| robot.dofs.iter().map(|dof| dof.map(axis)).collect();
        Follow {
            axes: robots.iter().map(of_robot).collect(),
            mimics: robots.iter().map(|robot| mimics_of(model, robot)).collect(),
        }
    }

    /// The speed of every column from positions on, as orders ask. A position is approached
    /// like `v = (target − q)/lag`, which is how a servo with much damping moves; no faster
    /// than the axis can, and not beyond its limits. A mimic goes where its leader will be.
    /// What no order moves stands still.
    pub fn speeds<L: Lane>(
        &self,
        inputs: &Inputs,
        dt: f64,
        position_of: impl Fn(usize) -> usize,
        positions: &[L],
        speeds: &mut [L],
    ) {
        for (lane, axes) in self.axes.iter().enumerate() {
            for (k, axis) in axes.iter().enumerate() {
                let Some(axis) = axis else { continue };
                let q = axis.sign * positions[position_of(k)].get(lane);
                let asked = axis.asked(inputs, q, dt);
                speeds[k].set(lane, axis.sign * axis.within(asked, q, dt));
            }
            for (k, mimic) in &self.mimics[lane] {
                let (Some(axis), Some(leader)) = (axes[*k], axes[mimic.leader]) else { continue };
                let at = |k: usize| positions[position_of(k)].get(lane);
                let led = at(mimic.leader) + speeds[mimic.leader].get(lane) * dt;
                let (q, target) =
                    (axis.sign * at(*k), mimic.multiplier * (leader.sign * led) + mimic.offset);
                speeds[*k].set(lane, axis.sign * axis.within((target - q) / dt, q, dt));
            }
        }
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
    #[inline(always)]
    fn asked(&self, inputs: &Inputs, q: f64, dt: f64) -> f64 {
        match inputs.orders.get(self.dof) {
            Some(Order::Follow(Command { mode: Mode::Position, target })) => {
                (target - q) / self.lag.max(dt)
            }
            Some(Order::Follow(Command { mode: Mode::Velocity, target })) => *target,
            // A servo that was told nothing holds its zero.
            Some(Order::Nothing) if self.holds_zero => -q / self.lag.max(dt),
            _ => 0.0,
        }
    }

    /// A speed the axis can have and that keeps it within its limits; none for what is none.
    #[inline(always)]
    fn within(&self, asked: f64, q: f64, dt: f64) -> f64 {
        if asked.is_nan() {
            return 0.0;
        }
        let asked = asked.max(-self.speed_max).min(self.speed_max);
        // Most steps end far from any stop, and a division takes as long as all the rest.
        let end = q + asked * dt;
        if end >= self.lower && end <= self.upper {
            return asked;
        }
        let most = ((self.upper - q) / dt).max(0.0);
        let least = ((self.lower - q) / dt).min(0.0);
        asked.min(most).max(least)
    }
}
