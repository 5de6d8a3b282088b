//! `headland validate`: a model repeats what was measured, and is compared with it.
//!
//! Reads the model and the tables, asks `validate` for the replay, and has the rest done as
//! `compare` does it.

mod growing;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use headland_base::{Diagnostic, SimDuration, SimTime};
use headland_judge::compare::{KeyMap, Options, Sampling, Selection, Side};
use headland_record::{Recording, Unit, csv};
use headland_report::count;
use headland_sim::{EngineEntry, Housing, Model};
use headland_validate::experiment::nothing_measured;
use headland_validate::infer::is_angle;
use headland_validate::source::Source;
use headland_validate::tune::assumed_starts;
use headland_validate::{
    Between, Experiment, Replay, ReplayOptions, Signal, Simulated, Stopped, known_signals,
};
use headland_world::parameter::Settings;

use crate::args::{ComparisonArgs, ValidateArgs};
use crate::commands::compare::{PATH, sampling};
use crate::comparing::{
    Sides, format_of, key_map, options, read_side, refuse_evo, refuse_reversed, report_forms,
    shown, tell, thresholds,
};
use crate::context::{
    Context, Ended, Outcome, engine_remark, is_stdout, refuse_same, refuse_twice,
    refuse_unwritable, write_file,
};
use crate::prepare::NATIVE;
use crate::progress::Progress;
use crate::repeating::{
    clocks_apart, integrator_of, leave_out, read_state, read_subject, read_told, replay_options,
    without_effect,
};
use crate::signals::interrupted;
use crate::watchdog::Watchdog;

pub fn run(context: &Context, args: &ValidateArgs) -> Ended {
    if let Some(idle_most) = args.live {
        return growing::follow(context, args, idle_most);
    }
    let by = &args.by;
    refuse_reversed(by.start, by.end)?;
    let (thresholds, map) = (thresholds(by)?, key_map(by.map.as_deref())?);
    let sources: Vec<&Path> = [Some(&args.model), Some(&args.table), args.command.as_ref()]
        .into_iter()
        .chain([args.state.as_ref(), by.map.as_ref(), by.phases.as_ref()])
        .flatten()
        .map(|path| path.as_path())
        .collect();
    let forms = report_forms(by, &sources)?;
    for source in &sources {
        args.outfile.iter().try_for_each(|outfile| refuse_same(source, outfile))?;
    }
    refuse_twice(args.outfile.iter().chain(&by.report))?;
    refuse_unwritable(&args.outfile)?;
    if context.json() && args.outfile.as_deref().is_some_and(is_stdout) {
        let message = "standard output takes one of --json and --outfile -";
        let help = "name a file for the simulated signals, or a report: `--report figures.json`";
        return Err(vec![Diagnostic::error("output-twice", message).help(help)]);
    }
    let engine = headland_engines::find(args.how.engine.as_deref().unwrap_or(NATIVE))?;
    let (model, settings) = read_model(context, args)?;
    let has_commands = args.command.is_some();
    context.show(&without_effect(&args.how, engine, &model.world, has_commands));
    let (measured, outcome) = read_measured(context, args, &map, &model)?;
    let side = Side::new(&measured, &map);
    let merged = side.merged();
    if !merged.is_empty() {
        return Err(merged);
    }
    let experiment = experiment(context, args, &side, &model)?;
    if experiment.first().is_none() {
        let fault = nothing_measured();
        context.show(&[match side.span() {
            Some((first, last)) => fault.note(format!("the table has from {first} to {last}")),
            None => fault,
        }]);
        return Ok(Outcome::Partial);
    }
    context.show(&experiment.stray_samples(&args.table.display().to_string()));
    let how = options_of(args, &model, settings)?;
    let mut options = options(context, by, Sampling::Nearest)?;
    let mut replay = Replay::new(model, (engine.make)(engine), Arc::new(experiment), how)?;
    context.show(replay.notes());
    pair_as_sampled(&replay, by, &mut options)?;
    let Some(simulated) = repeat(context, args, engine, &mut replay)? else {
        return Ok(Outcome::Partial);
    };
    let mut recording = simulated.recording(replay.experiment());
    say_units(&mut recording, &replay);
    let made = made(args, engine, &replay, &simulated);
    let (name_a, name_b) = (args.table.display().to_string(), name_of(args, engine));
    let b = Side::new(&recording, &KeyMap::default()).shifted(by.t_offset.unwrap_or_default());
    let sides = Sides {
        a: side,
        b,
        names: (&name_a, &name_b),
        made: &made,
        is_quiet: args.outfile.as_deref().is_some_and(is_stdout),
    };
    let written = match &args.outfile {
        Some(outfile) => write_signals(context, outfile, &recording),
        None => Ok(()),
    };
    let told = tell(context, by, &options, (&forms, &thresholds), sides)?;
    written?;
    if let Some(path) = &args.command {
        let delay = replay.options().command_delay;
        context.show(clocks_apart(path, replay.experiment(), replay.model(), delay).as_slice());
    }
    let elsewhere = |replay: &mut Replay| watched(context, args, engine, replay).ok();
    context.show(assumed_starts(&mut replay, &name_a, &simulated, elsewhere).as_slice());
    let contained = contained(&simulated);
    context.show(&contained);
    context.show(remarked(&simulated).as_slice());
    let is_whole = contained.is_empty() && moves(context, replay.plan().landings.len());
    let held = if is_whole { Outcome::Passed } else { Outcome::Partial };
    Ok(outcome.max(told).max(held))
}

// --- what goes in ------------------------------------------------------------------------

/// The model with the numbers that were set, and what is set beside it.
fn read_model(
    context: &Context,
    args: &ValidateArgs,
) -> Result<(Model, Settings), Vec<Diagnostic>> {
    let (subject, places) = read_subject(context, &args.model, &args.how)?;
    let mut model = Model::compile_read(&Arc::new(subject.world), &places)?;
    // An engine that would rather read the file itself would miss the state, and what was set.
    model.file = None;
    Ok((model, subject.settings))
}

fn read_measured(
    context: &Context,
    args: &ValidateArgs,
    map: &KeyMap,
    model: &Model,
) -> Result<(Recording, Outcome), Vec<Diagnostic>> {
    let is_path = format_of(&args.by, &args.table)?.is_trajectory();
    let named = || {
        let moving = model.objects.iter().filter(|object| {
            let is_static = headland_sim::Motion::Static;
            model.rigids[object.rigid_idx].motion != is_static && !object.name.contains("::")
        });
        let names: Vec<&str> = moving.map(|object| object.name.as_str()).collect();
        match names[..] {
            [only] => only.to_string(),
            _ => PATH.to_string(),
        }
    };
    let object = is_path.then(|| args.by.object.clone().unwrap_or_else(named));
    // All of it: the state to start from may be in keys that are not compared.
    shown(context, &args.by, read_side(&args.by, map, &args.table, object, &[])?)
}

/// What was measured of the keys that are wanted, what was told, what is given.
fn experiment(
    context: &Context,
    args: &ValidateArgs,
    side: &Side<'_>,
    model: &Model,
) -> Result<Experiment, Vec<Diagnostic>> {
    let by = &args.by;
    let experiment = Experiment::of(side, by.start, by.end);
    let mut experiment = known_or_refused(context, args, model, experiment)?;
    read_beside(context, args, model, &mut experiment)?;
    Ok(experiment)
}

/// The signals the model has; of those that are to be compared others are refused, or left out
/// and counted.
fn known_or_refused(
    context: &Context,
    args: &ValidateArgs,
    model: &Model,
    experiment: Experiment,
) -> Result<Experiment, Vec<Diagnostic>> {
    let keys: Vec<String> = experiment.signals.iter().map(|signal| signal.key.clone()).collect();
    let selection = Selection { patterns: args.by.key.clone() };
    let mut is_wanted = selection.columns(&keys, &KeyMap::default()).into_iter();
    let Experiment { signals, told, known } = experiment;
    let (wanted, others): (Vec<Signal>, Vec<Signal>) =
        signals.into_iter().partition(|_| is_wanted.next().unwrap_or(true));
    let of = |signals: Vec<Signal>| {
        known_signals(model, Experiment { signals, ..Experiment::default() })
    };
    let ((wanted, unread), (others, _)) = (of(wanted), of(others));
    let mut signals = [wanted.signals, others.signals].concat();
    signals.sort_by(|a, b| a.key.cmp(&b.key));
    let known = Experiment { signals, told, known };
    leave_out(context, unread, args.by.ignore_unknown)?;
    Ok(known)
}

/// What was told, and the state that is given.
fn read_beside(
    context: &Context,
    args: &ValidateArgs,
    model: &Model,
    experiment: &mut Experiment,
) -> Result<(), Vec<Diagnostic>> {
    if let Some(path) = &args.command {
        experiment.told = read_told(context, path, model)?;
    }
    if let Some(path) = &args.state {
        experiment.known = read_state(context, path, model)?;
    }
    Ok(())
}

fn options_of(
    args: &ValidateArgs,
    model: &Model,
    settings: Settings,
) -> Result<ReplayOptions, Vec<Diagnostic>> {
    Ok(ReplayOptions {
        sampling: args.sampling.as_deref().map(sampling),
        raw: args.raw,
        patience: Duration::from_secs(args.patience),
        ..replay_options(&args.how, model.world.physics.step, &settings)?
    })
}

/// Samples that were met are paired at their own times; those of the nearest step within half a
/// step. What the model knows of angles counts.
fn pair_as_sampled(
    replay: &Replay,
    by: &ComparisonArgs,
    options: &mut Options,
) -> Result<(), Vec<Diagnostic>> {
    (options.angles, options.units) = known_of(replay);
    let half = SimDuration::from_nanos(replay.options().step.nanos() / 2);
    match replay.sampling() {
        Sampling::Nearest => options.tolerance = options.tolerance.or(Some(half)),
        _ if by.tolerance.is_some() => {
            let message = "--tolerance is for --sampling nearest: every sample is met here";
            return Err(vec![Diagnostic::error("bad-option", message).help("leave it out")]);
        }
        _ if by.t_offset.is_some_and(|offset| offset != SimDuration::ZERO) => {
            refuse_evo(by)?;
            options.sampling = Sampling::Interpolate;
        }
        _ => options.sampling = Sampling::Exact,
    }
    Ok(())
}

/// What the model knows of keys: which are angles, what turns and not what slides, and what they
/// are measured in.
fn known_of(replay: &Replay) -> (BTreeMap<String, bool>, BTreeMap<String, &'static str>) {
    let signals = replay.experiment().signals.iter().zip(replay.sources());
    let of = |(signal, source): (&Signal, &Source)| {
        let (key, model) = (&signal.key, replay.model());
        ((key.clone(), is_angle(model, source)), (key.clone(), source.unit(model)))
    };
    signals.map(of).unzip()
}

/// What the measured table said of units is said of what was simulated too; and of what slides
/// always, which nobody who reads a table alone could tell from what turns.
fn say_units(recording: &mut Recording, replay: &Replay) {
    let (angles, units) = known_of(replay);
    for signal in &replay.experiment().signals {
        let known = units.get(&signal.key).copied().unwrap_or_default();
        let slides = signal.key.ends_with("/position") && angles.get(&signal.key) == Some(&false);
        if !known.is_empty() && (slides || signal.series.unit != Unit::Unsaid) {
            recording.say_unit(&signal.key, known);
        }
    }
}

/// Whether anything was simulated. The first moment is the start: it is met by construction.
fn moves(context: &Context, n_moments: usize) -> bool {
    let moves = n_moments > 1;
    if !moves {
        let message = "only one moment was measured, and the simulation starts from it: this says \
                       nothing of the model";
        let help = "give a table of at least two rows whose times rise";
        context.show(&[Diagnostic::warning("one-moment", message).help(help)]);
    }
    moves
}

// --- the replay --------------------------------------------------------------------------

/// Repeats the experiment, with a bar where somebody watches; nothing where it was broken off.
fn repeat(
    context: &Context,
    args: &ValidateArgs,
    engine: &EngineEntry,
    replay: &mut Replay,
) -> Result<Option<Simulated>, Vec<Diagnostic>> {
    match watched(context, args, engine, replay) {
        Ok(simulated) => Ok(Some(simulated)),
        Err(Stopped::Fault(time, fault)) => {
            let message = format!("engine `{}` broke at {time}: {}", engine.name, fault.0);
            Err(vec![Diagnostic::error("engine-fault", message)])
        }
        Err(Stopped::Interrupted(time)) => {
            let message = format!("broken off at {time} of {}", replay.plan().duration());
            context.show(&[Diagnostic::warning("replay-interrupted", message)]);
            Ok(None)
        }
    }
}

/// One run, with its progress and somebody who watches it; Ctrl-C ends it.
fn watched(
    context: &Context,
    args: &ValidateArgs,
    engine: &EngineEntry,
    replay: &mut Replay,
) -> Result<Simulated, Stopped> {
    let stop = interrupted();
    let mut progress = Progress::new(context.shows_progress(), Some(replay.plan().duration()));
    let patience = Duration::from_secs(args.patience);
    let watchdog = (engine.housing == Housing::Library)
        .then(|| Watchdog::start(context, engine.name, patience, None));
    let ended = replay.run_until(&mut |time| {
        progress.tick(time);
        if let Some(watchdog) = &watchdog {
            watchdog.tick();
        }
        match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    let ended = ended.cloned();
    drop(watchdog);
    progress.finish();
    ended
}

fn contained(simulated: &Simulated) -> Vec<Diagnostic> {
    let told = simulated.done.contained.iter().map(|(name, time)| {
        let message =
            format!("link `{name}` went non-finite or beyond measure at {time} and was held there");
        Diagnostic::warning("non-finite", message).help("try a smaller --step")
    });
    told.collect()
}

fn remarked(simulated: &Simulated) -> Option<Diagnostic> {
    let (text, time) = simulated.done.remark.as_ref()?;
    let n_more = simulated.done.n_remarks as usize - 1;
    Some(engine_remark(text, *time, n_more, "of the kind"))
}

fn write_signals(
    context: &Context,
    outfile: &Path,
    recording: &Recording,
) -> Result<(), Vec<Diagnostic>> {
    let mut table = Vec::new();
    csv::write(&mut table, recording)?;
    if is_stdout(outfile) {
        context.print(&String::from_utf8_lossy(&table));
        return Ok(());
    }
    write_file(outfile, table)?;
    context.say(&format!("wrote {}", outfile.display()));
    Ok(())
}

// --- what is said ------------------------------------------------------------------------

fn name_of(args: &ValidateArgs, engine: &EngineEntry) -> String {
    format!("{} on {}", args.model.display(), engine.name)
}

/// How the simulation came to be, for the head of every report.
fn made(
    args: &ValidateArgs,
    engine: &EngineEntry,
    replay: &Replay,
    simulated: &Simulated,
) -> Vec<(String, String)> {
    let options = replay.options();
    let done = &simulated.done;
    let mut made = Vec::new();
    let mut say = |name: &str, what: String| made.push((name.to_string(), what));
    let version = engine.version().map(|version| format!(" {version}")).unwrap_or_default();
    say("engine", format!("{}{version}, steps of {}", engine.name, options.step));
    if let Some(integrator) = integrator_of(engine, &replay.model().world) {
        say("integrator", integrator);
    }
    say("start", started(args, replay));
    say("commands", commands(args, replay));
    if let Some(window) = options.window {
        let resets = count(done.n_resets, "time");
        say("window", format!("{window}: put back to what was measured {resets}"));
    }
    if !args.how.set.is_empty() {
        let all = args.how.set.iter().map(|(path, value)| format!("{path} = {value}"));
        say("set", all.collect::<Vec<_>>().join(", "));
    }
    let (n, duration) =
        (count(replay.plan().samples.len() as u64, "sample"), replay.plan().duration());
    let how = match replay.sampling() {
        Sampling::Exact => "met exactly".to_string(),
        sampling => {
            let word =
                if sampling == Sampling::Nearest { "at the nearest step" } else { "between steps" };
            let mean = SimDuration::from_secs(done.dt_mean_secs).unwrap_or_default();
            format!("{word}, at most {} away, {mean} on average", done.dt_max)
        }
    };
    let steps = count(done.n_steps, "step");
    say("samples", format!("{n} over {duration}, {how}, in {steps}"));
    made
}

fn started(args: &ValidateArgs, replay: &Replay) -> String {
    let from = replay.started_from();
    let mut parts = Vec::new();
    if let Some(path) = &args.state {
        let given = count(from.n_given as u64, "number");
        parts.push(format!("{given} given by {}", path.display()));
    }
    if from.n_measured > 0 {
        let measured = count(from.n_measured as u64, "number");
        parts.push(format!("{measured} inferred from the first samples"));
    }
    if from.n_slopes > 0 {
        let slopes = match from.n_slopes {
            1 => "1 velocity".to_string(),
            n => format!("{n} velocities"),
        };
        parts.push(format!("{slopes} from their slopes"));
    }
    match parts.is_empty() {
        true => "as the model has it".to_string(),
        false => parts.join(", "),
    }
}

fn commands(args: &ValidateArgs, replay: &Replay) -> String {
    let Some(path) = &args.command else { return "none".to_string() };
    let options = replay.options();
    let told = replay.experiment().told.commands();
    let between = match options.between {
        Between::Held => "held",
        Between::Linear => "on lines",
    };
    let mut words =
        format!("{} of {}, {between}", count(told.len() as u64, "command"), path.display());
    if options.command_delay > SimDuration::ZERO {
        words += &format!(", {} late", options.command_delay);
    }
    let first = replay.experiment().first().unwrap_or(SimTime::ZERO);
    let n_before = told.iter().filter(|(time, ..)| *time + options.command_delay < first).count();
    if n_before > 0 {
        words += &format!(", {n_before} from before the first sample");
    }
    words
}
