//! Joints that follow their commands without forces, for details that have none in them.

use headland_world::JointKind;

use crate::control::{Command, Mode, servo_lags};
use crate::engine::{Inputs, Order};
use crate::model::Model;
use crate::tree::Lane;

use super::Robot;

/// How each column of a robot follows: constant.
#[derive(Clone, Debug)]
pub(super) struct Follow {
    /// One per robot and column; none for columns without an axis.
    axes: Vec<Vec<Option<Axis>>>,
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    dof: usize,
    sign: f64,
    /// How long it lags behind \[s\].
    lag: f64,
    speed_max: f64,
    lower: f64,
    upper: f64,
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
            Axis { dof, sign, lag: lags[dof], speed_max: axis.velocity_max, lower, upper }
        };
        let of_robot = |robot: &Robot| robot.dofs.iter().map(|dof| dof.map(axis)).collect();
        Follow { axes: robots.iter().map(of_robot).collect() }
    }

    /// The speed of every column from positions on, as orders ask. A position is approached
    /// like `v = (target − q)/lag`, which is how a servo with much damping moves; no faster
    /// than the axis can, and not beyond its limits. What no order moves stands still.
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
                speeds[k].set(lane, axis.sign * axis.speed(inputs, q, dt));
            }
        }
    }
}

impl Axis {
    fn speed(&self, inputs: &Inputs, q: f64, dt: f64) -> f64 {
        let asked = match inputs.orders.get(self.dof) {
            Some(Order::Follow(Command { mode: Mode::Position, target })) => {
                (target - q) / self.lag.max(dt)
            }
            Some(Order::Follow(Command { mode: Mode::Velocity, target })) => *target,
            // A servo that was told nothing holds its zero.
            Some(Order::Nothing) if inputs.slopes.get(self.dof).is_some_and(|s| s.kp > 0.0) => {
                -q / self.lag.max(dt)
            }
            _ => 0.0,
        };
        let asked = asked.max(-self.speed_max).min(self.speed_max);
        let most = ((self.upper - q) / dt).max(0.0);
        let least = ((self.lower - q) / dt).min(0.0);
        if asked.is_nan() { 0.0 } else { asked.min(most).max(least) }
    }
}
