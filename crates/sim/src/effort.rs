//! An effort on an axis, and how it gives way within a step: for engines that make forces of it
//! or, where it is too stiff for that, dampers of their own.
//!
//! Deliberately absent: what an engine does with it.

use headland_world::Axis;

use crate::control::Gains;
use crate::engine::Inputs;
use crate::state::DofState;

/// From `d·dt/m` or `k·dt²/m` on, an effort that gives way as its axis moves is stiff. As a force
/// that is held for the step it is exact at rest, but throws a link about from 2 and 4 on.
pub const STIFF: f64 = 0.5;

/// An effort \[N·m or N\], and by how much it is less per position and velocity of the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// At the start of the step.
    pub value: f64,
    /// How it gives way as the axis moves on.
    pub slope: Gains,
}

impl Effort {
    /// What the motor of an axis gives.
    pub fn of_motor(inputs: &Inputs, dof_idx: usize) -> Effort {
        Effort {
            value: inputs.efforts.get(dof_idx).copied().unwrap_or_default(),
            slope: inputs.slopes.get(dof_idx).copied().unwrap_or_default(),
        }
    }

    /// With the spring of its axis.
    pub fn with_spring(mut self, axis: &Axis, now: &DofState) -> Effort {
        if axis.spring_stiffness > 0.0 {
            self.value -= axis.spring_stiffness * (now.position - axis.spring_reference);
            self.slope.kp += axis.spring_stiffness;
        }
        self
    }

    /// With the damper of its axis.
    pub fn with_damper(mut self, axis: &Axis, now: &DofState) -> Effort {
        if axis.damping > 0.0 {
            self.value -= axis.damping * now.velocity;
            self.slope.kd += axis.damping;
        }
        self
    }

    /// Whether it gives way at all.
    pub fn gives_way(&self) -> bool {
        self.slope != Gains::default()
    }

    /// Whether it is too stiff to be a force, against what a unit of it accelerates (`give`).
    pub fn is_stiff(&self, give: f64, dt: f64) -> bool {
        self.slope.kd * give * dt > STIFF || self.slope.kp * give * dt * dt > STIFF
    }

    /// As a damper: `e − kp·dt·q̇⁺ − kd·(q̇⁺ − q̇)` is `push − damping·q̇⁺`, with the velocity `q̇⁺`
    /// that the step ends with. Push first.
    pub fn as_damper(&self, velocity: f64, dt: f64) -> (f64, f64) {
        (self.value + self.slope.kd * velocity, self.slope.kd + self.slope.kp * dt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::Vec3;

    /// Two roads: a spring and a damper read at the end of the step, and the damper they are.
    #[test]
    fn a_damper_is_the_effort_at_the_end_of_the_step() {
        let axis = Axis {
            spring_stiffness: 70.0,
            spring_reference: 0.2,
            damping: 3.0,
            ..Axis::along(Vec3::Z)
        };
        let now = DofState { position: 0.5, velocity: -0.7, effort: 0.0 };
        let motor = Inputs { efforts: vec![1.5], ..Inputs::default() };
        let effort = Effort::of_motor(&motor, 0).with_spring(&axis, &now).with_damper(&axis, &now);
        let (dt, after) = (0.01, -0.4);
        let (push, damping) = effort.as_damper(now.velocity, dt);
        let wanted = 1.5 - 70.0 * (now.position + dt * after - 0.2) - 3.0 * after;
        assert!((push - damping * after - wanted).abs() < 1e-12);
        assert!(effort.gives_way() && !effort.is_stiff(1.0, dt) && effort.is_stiff(100.0, dt));
        assert_eq!(Effort::of_motor(&motor, 7), Effort::default(), "no motor gives nothing");
    }
}
