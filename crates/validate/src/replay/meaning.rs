//! What an experiment means in a model: what every key is read from, how the model starts, how its
//! motors follow, how samples can be met. What stands in the way is said in full.

use headland_base::Diagnostic;
use headland_judge::compare::{Sampling, UNITS_DIFFER, signal_twice, unknown_unit};
use headland_record::Unit;
use headland_sim::{Commands, Engine, Mode, Model, State};

use super::ReplayOptions;
use crate::experiment::{Experiment, Signal};
use crate::given;
use crate::placing::{Known, place};
use crate::plan::Plan;
use crate::sensing::Sensors;
use crate::source::{Names, Source, Unread, contact_component};

/// A model before anything is measured: as it was written, with the `<state>` of its world.
pub(super) fn initial(model: &Model) -> Result<State, Vec<Diagnostic>> {
    let initial = State::initial(model);
    let given = given::of_world(&model.world)?;
    if given.is_empty() {
        return Ok(initial);
    }
    let (names, mut known) = (Names::of(model), Known::new());
    let mut faults = Vec::new();
    for (key, value) in given {
        match names.find(&key) {
            Ok(source) => _ = known.tell(&source, value),
            Err(unread) => faults.push(unread.told(&key).note("the world's <state> says it")),
        }
    }
    if faults.is_empty() { Ok(place(model, &initial, &known)) } else { Err(faults) }
}

/// What every signal, and every number that was given, means in a model; or all that mean
/// nothing.
#[expect(clippy::type_complexity, reason = "a pair of lists")]
pub(super) fn meanings(
    model: &Model,
    sensors: &Sensors,
    experiment: &Experiment,
) -> Result<(Vec<Source>, Vec<(Source, f64)>), Vec<Diagnostic>> {
    let names = Names::of(model);
    let (mut sources, mut given, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for signal in &experiment.signals {
        match meaning(&names, sensors, &signal.key) {
            Ok(source) => sources.push(source),
            Err(unread) => faults.push(unread.told(&signal.key)),
        }
    }
    for (key, value) in &experiment.known {
        match names.find(key) {
            Ok(source) => given.push((source, *value)),
            Err(unread) => faults.push(unread.told(key)),
        }
    }
    if faults.is_empty() { Ok((sources, given)) } else { Err(faults) }
}

/// What a key means: of the model, else of one of its sensors.
fn meaning(names: &Names<'_>, sensors: &Sensors, key: &str) -> Result<Source, Unread> {
    let unread = match names.find(key) {
        Err(unread) => unread,
        found => return found,
    };
    if let Some(found) = sensors.find(key) {
        return found.map(|(sensor_idx, number)| Source::Sensor(sensor_idx, number));
    }
    // What a sensor of contacts says is what its link feels.
    if let Some((name, part)) = key.rsplit_once('/')
        && contact_component(part).is_some()
        && let Some(link) = sensors.touching_link(name.trim_end_matches("/contact"))
    {
        return names.find(&format!("{link}/contact/{part}"));
    }
    let near = names.nearest(key, sensors.keys());
    Err(if matches!(unread, Unread::Unknown(_)) { Unread::Unknown(near) } else { unread })
}

/// The signals that mean something in a model, and what is to say of each of the others.
pub fn known_signals(model: &Model, experiment: Experiment) -> (Experiment, Vec<Diagnostic>) {
    let names = Names::of(model);
    let sensors = Sensors::of(model, &State::initial(model));
    let mut unread = Vec::new();
    let Experiment { signals, told, known } = experiment;
    let mut taken: Vec<(Source, String)> = Vec::new();
    let mut is_known = |signal: &Signal| {
        let key = &signal.key;
        let fault = match meaning(&names, &sensors, key) {
            Ok(source) => {
                // A model and its link may stand at one place, and both be recorded.
                let is_joint = matches!(source, Source::Joint(..));
                let twice = taken.iter().find(|(known, _)| is_joint && *known == source);
                let twice = twice.map(|(_, other)| signal_twice(other, key));
                let fault =
                    twice.or_else(|| wrong_unit(key, signal.series.unit, source.unit(model)));
                taken.push((source, key.clone()));
                fault
            }
            Err(why) => Some(why.told(key)),
        };
        let is_fine = fault.is_none();
        unread.extend(fault);
        is_fine
    };
    let signals = signals.into_iter().filter(|signal| is_known(signal)).collect();
    (Experiment { signals, told, known }, unread)
}

/// What a table says a key is in, where the model has it in something else.
pub(crate) fn wrong_unit(key: &str, said: Unit, known: &str) -> Option<Diagnostic> {
    match said {
        Unit::Unknown => Some(unknown_unit(key, "the table")),
        Unit::Si(said) if !known.is_empty() && said != known => {
            let message =
                format!("`{key:.120}` is said to be in {said} and the model has it in {known}");
            let help = "put the unit in the header right, or the joint in the model";
            Some(Diagnostic::error(UNITS_DIFFER, message).help(help))
        }
        _ => None,
    }
}

/// The motors at the start, or every joint without gains to follow what it is told.
pub(super) fn motors(
    model: &Model,
    experiment: &Experiment,
    options: &ReplayOptions,
) -> Result<Commands, Vec<Diagnostic>> {
    let commands = Commands::new(model, options.gains, None);
    let mut missing: Vec<Diagnostic> = Vec::new();
    for mode in [Mode::Position, Mode::Velocity] {
        let mut all = commands.clone();
        let of_mode = experiment.told.followed().iter().filter(|(_, last)| last.mode == mode);
        of_mode.for_each(|(dof_idx, command)| all.set(*dof_idx, *command));
        for other in all.missing_gains(model) {
            if !missing.contains(&other) {
                missing.push(other);
            }
        }
    }
    if missing.is_empty() { Ok(commands) } else { Err(missing) }
}

/// What to say of gains where every motor that is told something has its own.
pub(super) fn idle_gains(
    model: &Model,
    experiment: &Experiment,
    options: &ReplayOptions,
) -> Option<Diagnostic> {
    let without = ReplayOptions { gains: None, ..options.clone() };
    let is_idle = options.gains.is_some()
        && !experiment.told.is_empty()
        && motors(model, experiment, &without).is_ok();
    is_idle.then(|| {
        let message = "gains are given, and no joint that is told something is without its own: \
                       they change nothing";
        Diagnostic::remark("option-ignored", message)
    })
}

/// How samples can be met.
pub(super) fn sampling_of(
    plan: &Plan,
    options: &ReplayOptions,
    engine: &dyn Engine,
) -> Result<(Sampling, Vec<Diagnostic>), Vec<Diagnostic>> {
    let can_be_exact = engine.shortens_steps() || plan.fits(options.step);
    match options.sampling {
        Some(Sampling::Exact) if !can_be_exact => {
            let message = format!(
                "samples lie between steps of {}, and this engine cannot shorten a step",
                options.step
            );
            let step = plan.common_step();
            let finer = (step.nanos() >= FINEST).then(|| format!("--step {}, ", step.secs()));
            let help = format!("use {}--sampling interp or nearest", finer.unwrap_or_default());
            Err(vec![Diagnostic::error("cannot-shorten-step", message).help(help)])
        }
        Some(sampling) => Ok((sampling, Vec::new())),
        None if can_be_exact => Ok((Sampling::Exact, Vec::new())),
        None => {
            let message = "this engine cannot shorten a step: samples between two steps are \
                           interpolated";
            Ok((Sampling::Interpolate, vec![Diagnostic::remark("realised", message)]))
        }
    }
}

/// The finest step that is worth suggesting: 10 µs.
const FINEST: i64 = 10_000;
