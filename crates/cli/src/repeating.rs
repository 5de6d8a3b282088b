//! What an experiment is repeated with: the model with its numbers set, what joints were told and
//! where it started. `validate` does it once, `tune` again and again.

use std::path::Path;

use headland_base::{Diagnostic, SimDuration};
use headland_record::{ImportOptions, Recording, import};
use headland_sim::{Gains, Model};
use headland_validate::{Between, Experiment, ReplayOptions, Told, given};
use headland_world::Places;
use headland_world::parameter::{self, Settings, Subject};

use crate::args::RepeatArgs;
use crate::comparing::text;
use crate::context::Context;

/// The model with the numbers that were set, what is set beside it, and where its parts were
/// written.
pub fn read_subject(
    context: &Context,
    model: &Path,
    how: &RepeatArgs,
) -> Result<(Subject, Places), Vec<Diagnostic>> {
    let mut read = context.read_world(model, &how.world_args)?;
    let native = &mut read.world.physics.native;
    native.law = how.law.or(native.law);
    native.integrator = how.integrator.or(native.integrator);
    let settings = Settings { command_delay: how.command_delay.secs(), gains: how.gains };
    let mut subject = Subject { world: read.world, settings };
    let mut faults = Vec::new();
    for (path, value) in &how.set {
        match parameter::find(&subject.world, path) {
            Ok(found) => {
                let set = found.iter().map(|parameter| parameter.set(&mut subject, *value));
                faults.extend(set.filter_map(Result::err));
            }
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok((subject, read.places)) } else { Err(faults) }
}

/// A table without errors; the rest that was found in it is shown.
pub fn read_table(context: &Context, path: &Path) -> Result<Recording, Vec<Diagnostic>> {
    let read = import(path, &ImportOptions::default())?;
    if read.findings.has_errors() {
        return Err(read.findings.into_vec());
    }
    context.show(&read.findings.into_vec());
    Ok(read.recording)
}

/// What joints were told.
pub fn read_told(context: &Context, path: &Path, model: &Model) -> Result<Told, Vec<Diagnostic>> {
    let (table, name) = (read_table(context, path)?, path.display().to_string());
    context.show(Told::ignored_columns(&table, &name).as_slice());
    Told::read(&table, &name, model)
}

/// Commands that all come before or after everything that was measured are of another clock.
pub fn clocks_apart(
    path: &Path,
    experiment: &Experiment,
    delay: SimDuration,
) -> Option<Diagnostic> {
    let (first, last) = (experiment.first()?, experiment.last()?);
    let told = experiment.told.commands();
    let (given, end) = (told.first()?.0 + delay, told.last()?.0 + delay);
    // A command of shortly before the start is in force at the start.
    if given <= last && (first - end).nanos() <= (last - first).nanos().max(10_000_000_000) {
        return None;
    }
    let message = format!("no command of `{}` comes while something was measured", path.display());
    Some(
        Diagnostic::warning("clocks-apart", message)
            .note(format!("commands are from {given} to {end}, samples from {first} to {last}"))
            .help("give both tables the same clock"),
    )
}

/// The state to start from: of an SDF file, or a row of a table.
pub fn read_state(context: &Context, path: &Path) -> Result<given::Given, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let ending = path.extension().map(|end| end.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("sdf" | "xml" | "world") => given::of_sdf(&text(path)?, &name),
        _ => given::of_table(&read_table(context, path)?, &name),
    }
}

/// How it is repeated; `step` is the model's own.
pub fn replay_options(
    how: &RepeatArgs,
    step: SimDuration,
    settings: &Settings,
) -> Result<ReplayOptions, Vec<Diagnostic>> {
    let step = match how.step {
        None => step,
        Some(secs) => SimDuration::from_secs(secs)
            .filter(|step| *step > SimDuration::ZERO)
            .ok_or_else(|| {
                let message =
                    format!("a step of {secs} s is shorter than a nanosecond, or no time");
                vec![Diagnostic::error("bad-duration", message)]
            })?,
    };
    let delay = SimDuration::from_secs(settings.command_delay).unwrap_or(how.command_delay);
    Ok(ReplayOptions {
        window: how.window,
        between: if how.command_interp == "linear" { Between::Linear } else { Between::Held },
        command_delay: delay,
        gains: settings.gains.map(|(kp, kd)| Gains { kp, kd }),
        n_threads: 1,
        ..ReplayOptions::new(step)
    })
}
