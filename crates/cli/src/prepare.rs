//! From a world and options to a run that may start: what `run` and `test` share.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use headland_base::{Diagnostic, Seed, SimDuration, SimTime};
use headland_sense::declare::with_noise_inside;
use headland_sim::{Cast, Condition, EngineEntry, Gains, Model, Setup};
use headland_world::{ALL_ROBOTS, Detail, World};

use crate::args::HowArgs;
use crate::context::{Context, read_options, resources};
use crate::schedule::Schedule;
use crate::sensors;

/// How long a run without an end lasts.
const DEFAULT_DURATION: SimDuration = SimDuration::from_nanos(10_000_000_000);

/// A run that may start.
pub struct Prepared {
    /// What moves.
    pub model: Model,
    /// How.
    pub setup: Setup,
    /// Who takes part.
    pub cast: Cast,
    /// What is commanded.
    pub commands: Commanded,
    /// What is said of the sensors, by topic.
    pub sensors: BTreeMap<String, String>,
}

/// What the controllers of a run command.
#[derive(Default)]
pub struct Commanded {
    /// The table of commands that is played, as it was read.
    pub table: Option<Vec<u8>>,
    /// The axes that get a command before the run ends.
    pub dof_idxs: BTreeSet<usize>,
}

/// Reads a world and everything a run of it needs, or says everything that is missing.
pub fn prepare(
    context: &Context,
    world: &Path,
    how: &HowArgs,
) -> Result<Prepared, Vec<Diagnostic>> {
    let mut read = context.read_world(world, &how.world_args)?;
    ask_native(&mut read.world, how)?;
    // What is recorded with a run needs no files of noise.
    read.world = with_noise_inside(&read.world, &read.places, &resources());
    if how.no_controllers {
        dismiss(&mut read.world.models);
    }
    let model = Model::compile_read(&Arc::new(read.world), &read.places)?;
    let setup = setup(how, &model)?;
    let mut cast = Cast::default();
    let mut commands = Commanded::default();
    for hired in headland_play::cast(&model, &read.places)? {
        commands.dof_idxs.extend(hired.dof_idxs);
        cast.controllers.push(hired.controller);
    }
    if let Some(path) = &how.command {
        let (schedule, findings, text) = Schedule::read(path, &model, setup.step)?;
        let last_step = last_moment(&setup).map(|end| end - setup.step);
        commands.table = Some(text);
        commands.dof_idxs.extend(schedule.dof_idxs(last_step));
        context.show(&findings);
        schedule.check_gains(&model, &setup)?;
        cast.controllers.push(Box::new(schedule));
    }
    let (taken, sensors) = sensors::take(context, &model, &read.places, &how.sensors)?;
    cast.sensors = taken;
    Ok(Prepared { model, setup, cast, commands, sensors })
}

/// Takes the controllers out of a world. Readers bound the nesting, so the recursion is shallow.
fn dismiss(models: &mut [headland_world::Model]) {
    for model in models {
        model.controllers.clear();
        dismiss(&mut model.models);
    }
}

/// What the command line asks of the native engine, over what the world says. `all` comes
/// first, so that one robot can be an exception wherever it is named.
fn ask_native(world: &mut World, how: &HowArgs) -> Result<(), Vec<Diagnostic>> {
    one_detail_each(&how.detail)?;
    let (of_all, of_one): (Vec<_>, Vec<_>) =
        how.detail.iter().partition(|(name, _)| name == ALL_ROBOTS);
    let asked = of_all.into_iter().chain(of_one);
    let faults: Vec<Diagnostic> =
        asked.filter_map(|(name, detail)| world.set_detail(name, *detail).err()).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let native = &mut world.physics.native;
    native.law = how.law.or(native.law);
    native.integrator = how.integrator.or(native.integrator);
    Ok(())
}

/// A robot has one detail, and nobody knows which of two was meant. The same one again is fine.
fn one_detail_each(asked: &[(String, Detail)]) -> Result<(), Vec<Diagnostic>> {
    let mut first_of: BTreeMap<&str, Detail> = BTreeMap::new();
    let mut faults = Vec::new();
    for (name, detail) in asked {
        let first = *first_of.entry(name).or_insert(*detail);
        if first != *detail {
            let (first, second) = (first.word(), detail.word());
            let message = format!(
                "`--detail {name}={first}` and `--detail {name}={second}` cannot both hold"
            );
            faults.push(Diagnostic::error("detail-twice", message).help("leave one of them out"));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// The engine of a world where nobody names one: our own where the world, or the command line,
/// wants something that only that has.
pub fn default_engine(world: &World) -> &'static EngineEntry {
    let name = if wishes(world).is_empty() { "rapier" } else { NATIVE };
    headland_engines::find(name).expect("it is part of headland")
}

/// The same of a file. One that cannot be read says why when it is run.
pub fn default_engine_of(world: &Path, how: &HowArgs) -> &'static EngineEntry {
    let read = headland_world::read(world, &read_options(&how.world_args)).ok();
    let asked = read.and_then(|mut read| ask_native(&mut read.world, how).ok().map(|()| read));
    match asked {
        Some(read) => default_engine(&read.world),
        None => headland_engines::find("rapier").expect("it is part of headland"),
    }
}

/// The engine that has details, contact laws and integrators to choose from.
pub const NATIVE: &str = "native";

/// What a world wants of the native engine.
pub fn wishes(world: &World) -> Vec<&'static str> {
    let mut has_details = false;
    world.visit_models(&mut |at| has_details |= at.model.detail.is_some());
    let native = &world.physics.native;
    let asked = [
        ("details of robots", has_details),
        ("a contact law", native.law.is_some()),
        ("an integrator", native.integrator.is_some()),
    ];
    asked.into_iter().filter(|(_, is_asked)| *is_asked).map(|(what, _)| what).collect()
}

/// What the world asks, and not the command line, that this engine does not heed.
pub fn unheeded(how: &HowArgs, world: &World, engine: &EngineEntry) -> Option<Diagnostic> {
    let wishes = wishes(world);
    let is_told = !ignored(how, engine).is_empty();
    if engine.name == NATIVE || wishes.is_empty() || is_told {
        return None;
    }
    let name = engine.name;
    let message = format!("the world asks for {}, which `{name}` leaves out", wishes.join(", "));
    Some(Diagnostic::remark("wish-ignored", message).help("the engine `native` has them"))
}

/// What the command line asks that this engine does not heed.
pub fn ignored(how: &HowArgs, engine: &EngineEntry) -> Vec<Diagnostic> {
    let remark = |message: String| Diagnostic::remark("option-ignored", message);
    if engine.name == NATIVE {
        let message =
            "`--raw` changes nothing in `native`: its own defaults are what a world means";
        return how.raw.then(|| remark(message.to_string())).into_iter().collect();
    }
    let asked = [
        ("--detail", !how.detail.is_empty()),
        ("--law", how.law.is_some()),
        ("--integrator", how.integrator.is_some()),
    ];
    let asked = asked.into_iter().filter(|(_, is_asked)| *is_asked);
    asked
        .map(|(option, _)| remark(format!("`{option}` is for `native`, and changes nothing here")))
        .collect()
}

fn setup(how: &HowArgs, model: &Model) -> Result<Setup, Vec<Diagnostic>> {
    let secs = |secs: f64, what: &str| {
        let fits = SimDuration::from_secs(secs).filter(|d| *d > SimDuration::ZERO);
        fits.ok_or_else(|| {
            let why =
                if secs < 1.0 { "shorter than a nanosecond" } else { "longer than 292 years" };
            Diagnostic::error("bad-duration", format!("{what} of {secs:e} s is {why}"))
        })
    };
    let step = how.step.map_or(Ok(model.world.physics.step), |step| secs(step, "a step"))?;
    let duration = match (how.duration, how.iterations, &how.until) {
        (Some(duration), _, _) => Some(secs(duration, "a duration")?),
        (None, Some(n), _) => Some(step * i64::try_from(n).unwrap_or(i64::MAX)),
        (None, None, Some(_)) => None,
        (None, None, None) => Some(DEFAULT_DURATION),
    };
    let until = how.until.as_ref().map(|text| Condition::parse(text, model));
    Ok(Setup {
        step,
        duration,
        record_period: how
            .record_rate
            .map_or(Ok(step), |rate| secs(1.0 / rate, "a sample period"))?,
        seed: Seed::new(how.seed),
        n_threads: usize::from(how.threads),
        raw: how.raw,
        patience: Duration::from_secs(how.patience),
        gains: how.gains.map(|(kp, kd)| Gains { kp, kd }),
        watchdog: how.watchdog.map(|limit| secs(limit, "a watchdog")).transpose()?,
        until: until.transpose()?,
    })
}

/// When the run ends, where that is known beforehand: at the first step that is not before
/// its duration.
pub fn last_moment(setup: &Setup) -> Option<SimTime> {
    let duration = setup.duration.filter(|_| setup.until.is_none())?;
    let n_steps = (duration.nanos() + setup.step.nanos() - 1) / setup.step.nanos();
    Some(SimTime::ZERO + setup.step * n_steps)
}

/// A run ends with a whole step, as in other simulators; where that is later than asked, it
/// is said beforehand.
pub fn odd_end(setup: &Setup) -> Vec<Diagnostic> {
    let (Some(duration), step) = (setup.duration, setup.step) else { return Vec::new() };
    let n_whole = duration.nanos() / step.nanos();
    if duration.nanos() % step.nanos() == 0 {
        return Vec::new();
    }
    let message = format!(
        "{duration} is no whole number of steps of {step}; the run ends at {}",
        step * (n_whole + 1)
    );
    vec![Diagnostic::remark("duration-between-steps", message)]
}
