//! Where recordings start: numbers of the first state that are fitted with those of the model.

use headland_base::Diagnostic;

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

/// A little less, so that both ends are not the same place \[rad\].
const HALF_A_TURN: f64 = 3.0;

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
        // Angles are compared within a turn: further off, the same residuals come again from
        // another motion, and the first row knows which turn it is.
        let room = if is_angle(model, source) { range.min(HALF_A_TURN) } else { range };
        let numbers = [
            (JointQuantity::Position, "position", units[0], now.position, room),
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

/// Warns of joints that were measured, but not where they are: they start where the model has them,
/// and a model that has them elsewhere is fitted to that.
pub(super) fn assumed(replay: &Replay) -> Vec<Diagnostic> {
    let (model, sources) = (replay.model(), replay.sources());
    // Where links were measured or given, joints follow from them.
    if sources.iter().any(|source| !matches!(source, Source::Joint(..))) {
        return Vec::new();
    }
    let is_known = |source: &Source| sources.contains(source) || replay.is_told(source);
    let joint = |source: &Source| match source {
        Source::Joint(dof, _) => Some(*dof),
        _ => None,
    };
    let mut dofs: Vec<usize> = sources.iter().filter_map(joint).collect();
    dofs.sort_unstable();
    dofs.dedup();
    dofs.retain(|dof| !is_known(&Source::Joint(*dof, JointQuantity::Position)));
    let warn = |dof: usize| {
        let (name, at) = (&model.dofs[dof].name, replay.start().dofs[dof].position);
        let is_angle = is_angle(model, &Source::Joint(dof, JointQuantity::Position));
        let unit = if is_angle { "rad" } else { "m" };
        let message = format!(
            "where `{name}` starts is not among what is fitted: the model's own {at} {unit} is \
             taken for it, and what is found is as wrong as that"
        );
        Diagnostic::warning("start-assumed", message)
            .help(format!("fit `{name}/position` as well, or say it with --state"))
    };
    dofs.into_iter().map(warn).collect()
}
