//! What an experiment is repeated with: the model with its numbers set, what joints were told and
//! where it started. `validate` does it once, `tune` again and again.

use std::path::Path;

use headland_base::{Diagnostic, Findings, Severity, SimDuration};
use headland_judge::compare::{SIGNAL_TWICE, is_of_units};
use headland_record::csv::{self, TableOptions};
use headland_record::{ImportOptions, Recording, import};
use headland_report::count;
use headland_sim::{EngineEntry, Gains, Model};
use headland_validate::{Between, Experiment, ReplayOptions, Told, given};
use headland_world::parameter::{self, Parameter, Settings, Subject};
use headland_world::{Integrator, Places, World};

use crate::args::{RepeatArgs, integrator_in_words};
use crate::comparing::text;
use crate::context::{Context, Outcome};
use crate::prepare::NATIVE;

/// Leaves keys out that cannot be read of the model, and says so, where that was asked for. A key
/// in other units is not unknown.
pub fn leave_out(
    context: &Context,
    unread: Vec<Diagnostic>,
    ignores_unknown: bool,
) -> Result<(), Vec<Diagnostic>> {
    let is_known = |fault: &Diagnostic| is_of_units(fault) || fault.code == SIGNAL_TWICE;
    if unread.iter().any(|fault| !ignores_unknown || is_known(fault)) {
        return Err(unread);
    }
    if !unread.is_empty() {
        let n = count(unread.len() as u64, "key");
        let message = format!("{n} left out that the model does not have");
        context.show(&[Diagnostic::remark("keys-left-out", message)]);
    }
    Ok(())
}

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
    let command_delay = how.command_delay.map_or(0.0, SimDuration::secs);
    let settings = Settings { command_delay, gains: how.gains };
    let mut subject = Subject { world: read.world, settings };
    let mut faults = Vec::new();
    for (path, value) in &how.set {
        match parameter::find(&subject.world, path) {
            Ok(found) => {
                faults.extend(found.iter().filter_map(|number| said_twice(how, "--set", number)));
                let set = found.iter().map(|parameter| parameter.set(&mut subject, *value));
                faults.extend(set.filter_map(Result::err));
            }
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok((subject, read.places)) } else { Err(faults) }
}

/// What to say of a number that an option of its own gives as well.
pub fn said_twice(how: &RepeatArgs, by: &str, number: &Parameter) -> Option<Diagnostic> {
    let (option, is_given) = match number.path() {
        "physics/step" => ("--step", how.step.is_some()),
        "command/delay" => ("--command-delay", how.command_delay.is_some()),
        "gains/kp" | "gains/kd" => ("--gains", how.gains.is_some()),
        _ => return None,
    };
    is_given.then(|| {
        let message = format!("{option} and {by} {} both say the same number", number.path());
        Diagnostic::error("bad-option", message).help("leave one of them out")
    })
}

/// Options that change nothing: of an engine that does not have them, and of commands where there
/// are none.
pub fn without_effect(
    how: &RepeatArgs,
    engine: &EngineEntry,
    world: &World,
    has_commands: bool,
) -> Vec<Diagnostic> {
    let remark = |message: String| Diagnostic::remark("option-ignored", message);
    let of_native = [("--law", how.law.is_some()), ("--integrator", how.integrator.is_some())];
    let of_native = of_native.iter().filter(|(_, is_given)| *is_given && engine.name != NATIVE);
    let mut told: Vec<Diagnostic> = of_native
        .map(|(option, _)| remark(format!("`{option}` is for `native`, and changes nothing here")))
        .collect();
    let is_of_commands = |path: &String| {
        let found = parameter::find(world, path).unwrap_or_default();
        !found.is_empty() && found.iter().all(|number| !number.is_of_world())
    };
    let options = [
        ("--command-delay".to_string(), how.command_delay.is_some()),
        ("--command-interp".to_string(), how.command_interp == "linear"),
        ("--gains".to_string(), how.gains.is_some()),
    ];
    let set = how.set.iter().map(|(path, _)| (format!("--set {path}"), is_of_commands(path)));
    let idle = options.into_iter().chain(set).filter(|(_, is_given)| *is_given && !has_commands);
    told.extend(idle.map(|(option, _)| {
        remark(format!("`{option}` is about commands, of which there are none: -c gives them"))
    }));
    told
}

/// How the engine goes from step to step, where it has a choice.
pub fn integrator_of(engine: &EngineEntry, world: &World) -> Option<String> {
    let chosen = world.physics.native.integrator.unwrap_or(Integrator::SemiImplicit);
    (engine.name == NATIVE).then(|| integrator_in_words(chosen))
}

/// What can be read of what was measured. Words among its numbers are shown, and then nothing is said
/// for certain; a table that is wrong otherwise is refused.
pub fn read_measured(
    context: &Context,
    path: &Path,
) -> Result<(Recording, Outcome), Vec<Diagnostic>> {
    let read = import(path, &ImportOptions::default())?;
    let is_word = |found: &Diagnostic| found.code == "not-a-number";
    let is_refused = |found: &Diagnostic| found.severity == Severity::Error && !is_word(found);
    // Of what was only counted nobody knows what it is.
    let is_counted = read.findings.kept().len() >= Findings::MOST;
    let is_read = !is_counted && !read.findings.kept().iter().any(is_refused);
    let outcome = context.show_findings(read.findings, is_read)?;
    Ok((read.recording, outcome))
}

/// A table without errors; the rest that was found in it is shown.
fn read_table(context: &Context, path: &Path) -> Result<Recording, Vec<Diagnostic>> {
    read_by(context, path, &ImportOptions::default())
}

fn read_by(
    context: &Context,
    path: &Path,
    options: &ImportOptions,
) -> Result<Recording, Vec<Diagnostic>> {
    let read = import(path, options)?;
    if read.findings.has_errors() {
        return Err(read.findings.into_vec());
    }
    context.show(&read.findings.into_vec());
    Ok(read.recording)
}

/// What joints were told.
pub fn read_told(context: &Context, path: &Path, model: &Model) -> Result<Told, Vec<Diagnostic>> {
    let options = TableOptions { tells_nan: true, ..TableOptions::default() };
    let options = ImportOptions { table: options, ..ImportOptions::default() };
    let (table, name) = (read_by(context, path, &options)?, path.display().to_string());
    context.show(Told::ignored_columns(&table, &name).as_slice());
    context.show(Told::empty_columns(&table, &name).as_slice());
    Told::read(&table, &name, model)
}

/// Commands that all come before or after everything that was measured are of another clock; those
/// of one joint may come too late alone.
pub fn clocks_apart(
    path: &Path,
    experiment: &Experiment,
    model: &Model,
    delay: SimDuration,
) -> Option<Diagnostic> {
    let (first, last) = (experiment.first()?, experiment.last()?);
    let told = experiment.told.commands();
    let (given, end) = (told.first()?.0 + delay, told.last()?.0 + delay);
    // A command of shortly before the start is in force at the start.
    if given <= last && (first - end).nanos() <= (last - first).nanos().max(10_000_000_000) {
        return experiment.told.too_late(model, last, delay, &path.display().to_string());
    }
    let message = format!("no command of `{}` comes while something was measured", path.display());
    Some(
        Diagnostic::warning("clocks-apart", message)
            .note(format!("commands are from {given} to {end}, samples from {first} to {last}"))
            .help("give both tables the same clock"),
    )
}

/// The state to start from: of an SDF file, or a row of a table.
pub fn read_state(
    context: &Context,
    path: &Path,
    model: &Model,
) -> Result<given::Given, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let ending = path.extension().map(|end| end.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("sdf" | "xml" | "world") => given::of_sdf(&text(path)?, &name),
        _ => given::of_table(&read_row(context, path)?, &name, model),
    }
}

/// A table of one row: a moment, which needs no time.
fn read_row(context: &Context, path: &Path) -> Result<Recording, Vec<Diagnostic>> {
    let timeless = |fault: &Diagnostic| fault.code == "no-time-column";
    match import(path, &ImportOptions::default()) {
        Err(faults) if faults.iter().all(timeless) => {}
        _ => return read_table(context, path),
    }
    // The same with a time before it.
    let text = text(path)?;
    let mut with_time = String::new();
    let mut sign = None; // of the header, once it was seen
    for line in text.trim_start_matches('\u{feff}').lines() {
        let is_said = !(line.trim().is_empty() || line.trim_start().starts_with('#'));
        if is_said {
            let cell = if sign.is_none() { "time" } else { "0" };
            let of_header = || [',', '\t', ';'].into_iter().find(|sign| line.contains(*sign));
            with_time += cell;
            with_time.push(*sign.get_or_insert_with(|| of_header().unwrap_or(' ')));
        }
        with_time += line;
        with_time.push('\n');
    }
    let name = path.display().to_string();
    let (recording, _, findings) = csv::read(with_time.as_bytes(), &name, &TableOptions::default());
    if findings.has_errors() {
        return Err(findings.into_vec());
    }
    context.show(&findings.into_vec());
    Ok(recording)
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
    let delay = SimDuration::from_secs(settings.command_delay).unwrap_or_default();
    Ok(ReplayOptions {
        window: how.window,
        between: if how.command_interp == "linear" { Between::Linear } else { Between::Held },
        command_delay: delay,
        gains: settings.gains.map(|(kp, kd)| Gains { kp, kd }),
        n_threads: 1,
        ..ReplayOptions::new(step)
    })
}
