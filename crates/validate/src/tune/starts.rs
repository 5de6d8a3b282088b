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
    /// Nobody measured it: the value is the model's own.
    pub is_guess: bool,
}

/// A little less, so that both ends are not the same place \[rad\].
const HALF_A_TURN: f64 = 3.0;

/// Positions and velocities of the joints that were measured and nobody gave. Speeds alone do not say
/// where a joint starts, but how they go on may.
pub(super) fn starts_of((course, replay): (usize, &Replay)) -> Vec<Start> {
    let (model, sources) = (replay.model(), replay.sources());
    // Where links were measured joints follow from them.
    let only_joints = sources.iter().all(|source| matches!(source, Source::Joint(..)));
    let mut out = Vec::new();
    for (i, (source, signal)) in sources.iter().zip(&replay.experiment().signals).enumerate() {
        let Source::Joint(dof, quantity) = source else { continue };
        let (dof, of) = (*dof, |quantity| Source::Joint(*dof, quantity));
        let position = of(JointQuantity::Position);
        let is_measured = sources.contains(&position);
        let has_speed = is_measured || sources.contains(&of(JointQuantity::Velocity));
        let is_first = !sources[..i].iter().any(|s| matches!(s, Source::Joint(d, _) if *d == dof));
        let tells = match quantity {
            JointQuantity::Position => true,
            JointQuantity::Velocity => only_joints && !is_measured,
            _ => only_joints && !has_speed && is_first,
        };
        if !tells {
            continue;
        }
        let is_angle = is_angle(model, &position);
        let series = &signal.series;
        let most = series.values.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let least = series.values.iter().fold(f64::INFINITY, |a, b| a.min(*b));
        let range = (most - least).max(1e-3);
        let now = &replay.start().dofs[dof];
        let secs = replay.plan().duration().secs().max(1e-3);
        let (room, reach) = match quantity {
            JointQuantity::Position => (range, 10.0 * range + now.velocity.abs()),
            JointQuantity::Velocity => (range * secs, range),
            _ => (range * secs * secs, range * secs),
        };
        // Angles are compared within a turn: further off, the same residuals come again from
        // another motion, and the first row knows which turn it is.
        let room = match is_angle {
            true if is_measured => room.min(HALF_A_TURN),
            true => HALF_A_TURN,
            false => room,
        };
        let units = if is_angle { ["rad", "rad/s"] } else { ["m", "m/s"] };
        let numbers = [
            (JointQuantity::Position, "position", units[0], now.position, room),
            (JointQuantity::Velocity, "velocity", units[1], now.velocity, reach),
        ];
        for (quantity, word, unit, value, room) in numbers {
            let is_guess = match quantity {
                JointQuantity::Position => !is_measured,
                _ => !has_speed,
            };
            let source = of(quantity);
            if replay.is_given(&source) || is_guess && replay.is_told(&source) {
                continue;
            }
            let name = format!("start/{}/{}/{word}", course + 1, model.dofs[dof].name);
            out.push(Start { course, name, unit, source, value, room, is_guess });
        }
    }
    out
}

/// What to say where a start that matters was neither measured nor given, and none is looked for.
pub(super) fn assumed(start: &Start, replay: &Replay) -> Diagnostic {
    let (name, how, word) = match start.source {
        Source::Joint(dof, JointQuantity::Velocity) => {
            (&replay.model().dofs[dof].name, "how fast", "velocity")
        }
        Source::Joint(dof, _) => (&replay.model().dofs[dof].name, "where", "position"),
        _ => (&start.name, "how", "position"),
    };
    let message = format!(
        "{how} `{name}` starts is not among what is fitted, and no start is looked for: the model's \
         own {} {} is taken for it, and what is found is as wrong as that",
        start.value, start.unit
    );
    Diagnostic::warning(START_ASSUMED, message).help(format!(
        "say it with --state, fit `{name}/{word}` as well, or have it looked for: without --window \
         and --start-as-measured"
    ))
}

/// The warning's code.
pub(super) const START_ASSUMED: &str = "start-assumed";
