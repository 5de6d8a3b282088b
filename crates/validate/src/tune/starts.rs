//! Where recordings start: numbers of the first state that are fitted with those of the model.

use crate::Replay;
use crate::infer::is_angle;
use crate::source::{JointQuantity, Source};

/// A number of the first state of a course that is fitted.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub course: usize,
    pub name: String,
    pub unit: &'static str,
    pub source: Source,
    pub value: f64,
    pub room: f64,
}

/// Positions and velocities of the joints that were measured and nobody gave.
pub(super) fn starts_of((course, replay): (usize, &Replay)) -> Vec<Start> {
    let (model, experiment) = (replay.model(), replay.experiment());
    let mut out = Vec::new();
    for (source, signal) in replay.sources().iter().zip(&experiment.signals) {
        let Source::Joint(dof, JointQuantity::Position) = source else { continue };
        let name = &model.dofs[*dof].name;
        let most = signal.series.values.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let least = signal.series.values.iter().fold(f64::INFINITY, |a, b| a.min(*b));
        let range = (most - least).max(1e-3);
        let now = &replay.start().dofs[*dof];
        let units = if is_angle(model, source) { ["rad", "rad/s"] } else { ["m", "m/s"] };
        let reach = 10.0 * range + now.velocity.abs();
        let numbers = [
            (JointQuantity::Position, "position", units[0], now.position, range),
            (JointQuantity::Velocity, "velocity", units[1], now.velocity, reach),
        ];
        for (quantity, word, unit, value, room) in numbers {
            let source = Source::Joint(*dof, quantity);
            if replay.is_given(&source) {
                continue;
            }
            let name = format!("start/{}/{name}/{word}", course + 1);
            out.push(Start { course, name, unit, source, value, room });
        }
    }
    out
}
