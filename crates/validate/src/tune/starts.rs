//! Where recordings start: numbers of the first state that are fitted with those of the model.

use headland_base::Diagnostic;

use super::waves::NOTHING;
use crate::infer::is_angle;
use crate::source::{JointQuantity, Source};
use crate::{Replay, Simulated};

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

impl Start {
    /// The joint, and what of its start it is.
    fn in_words<'a>(&'a self, replay: &'a Replay) -> (&'a str, &'static str, &'static str) {
        match self.source {
            Source::Joint(dof, JointQuantity::Velocity) => {
                (&replay.model().dofs[dof].name, "how fast", "velocity")
            }
            Source::Joint(dof, _) => (&replay.model().dofs[dof].name, "where", "position"),
            _ => (&self.name, "how", "position"),
        }
    }
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
    let (joint, how, word) = start.in_words(replay);
    let message = format!(
        "{how} `{joint}` starts is not among what is fitted, and no start is looked for: the \
         model's own {} {} is taken for it, and what is found is as wrong as that",
        start.value, start.unit
    );
    Diagnostic::warning(START_ASSUMED, message).help(format!(
        "say it with --state, fit `{joint}/{word}` as well, or have it looked for: without --window \
         and --start-as-measured"
    ))
}

/// The same of a recording that is compared and not fitted, and of all its starts: the first is
/// named.
pub(super) fn assumed_beside(starts: &[Start], replay: &Replay, recording: &str) -> Diagnostic {
    let start = &starts[0];
    let (joint, how, word) = start.in_words(replay);
    let message = format!(
        "{how} `{joint}` starts in `{recording}` was neither measured nor given: the model's own \
         {} {} is taken for it, and the errors there are as wrong as that",
        start.value, start.unit
    );
    let help = format!("say it with --state, or measure `{joint}/{word}` as well");
    let told = Diagnostic::warning(START_ASSUMED, message).help(help);
    match starts.len() - 1 {
        0 => told,
        n => told.note(format!("so are {n} more of the numbers that it starts from")),
    }
}

/// Of what is compared and not fitted: what to say of starts that matter and that were neither
/// measured nor given. `run` repeats the experiment once more, from elsewhere; `simulated` is what
/// came out of it from the model's own place.
pub fn assumed_starts(
    replay: &mut Replay,
    recording: &str,
    simulated: &Simulated,
    run: impl FnOnce(&mut Replay) -> Option<Simulated>,
) -> Option<Diagnostic> {
    let guesses = guesses_of((0, replay));
    if guesses.is_empty() {
        return None;
    }
    let moved = |start: &Start| (start.source.clone(), start.value + A_LITTLE * start.room);
    let elsewhere: Vec<(Source, f64)> = guesses.iter().map(moved).collect();
    replay.set_model_from(replay.model().clone(), &elsewhere).ok()?;
    let there = run(replay)?;
    is_other(&simulated.values, &there.values).then(|| assumed_beside(&guesses, replay, recording))
}

/// Those of a recording that nobody measured.
pub(super) fn guesses_of(course: (usize, &Replay)) -> Vec<Start> {
    starts_of(course).into_iter().filter(|start| start.is_guess).collect()
}

/// How far a start is moved to see whether it matters, as a share of the room it has.
pub(super) const A_LITTLE: f64 = 0.1;

/// Whether signals differ by more than a millionth of their size.
fn is_other(here: &[Vec<f64>], there: &[Vec<f64>]) -> bool {
    here.iter().zip(there).any(|(here, there)| {
        let size = here.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let apart = here.iter().zip(there).map(|(here, there)| (here - there).abs());
        apart.fold(0.0, f64::max) > NOTHING * size
    })
}

/// The warning's code.
pub(super) const START_ASSUMED: &str = "start-assumed";
