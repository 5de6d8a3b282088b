//! `headland run`: a world goes in, a recording comes out.
//!
//! Options become a [`Setup`] here, and are refused here, before anything moves. `job` runs and
//! records.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use headland_base::{Diagnostic, Seed, SimDuration};
use headland_record::Written;
use headland_sim::{Cast, Condition, Ending, EngineEntry, Gains, Model, RunEnd, Setup};

use crate::args::RunArgs;
use crate::context::{Context, Ended, Outcome, refuse_same};
use crate::job::{Job, is_stdout, record};
use crate::schedule::Schedule;

/// How long a run without an end lasts.
const DEFAULT_DURATION: SimDuration = SimDuration::from_nanos(10_000_000_000);

pub fn run(context: &Context, args: &RunArgs) -> Ended {
    let engine = headland_engines::find(&args.engine)?;
    let world = context.read_world(&args.world, &args.world_args)?.world;
    let model = Model::compile(&Arc::new(world))?;
    let setup = setup(args, &model)?;
    let mut cast = Cast::default();
    let mut commands = None;
    if let Some(path) = &args.command {
        let (schedule, findings, table) = Schedule::read(path, &model, setup.step)?;
        commands = Some(table);
        context.show(&findings);
        schedule.check_gains(&model, &setup)?;
        cast.controllers.push(Box::new(schedule));
    }
    context.show(&odd_end(&setup));
    let output = args.output.clone().unwrap_or_else(|| default_output(&args.world));
    for source in [Some(&args.world), args.command.as_ref()].into_iter().flatten() {
        refuse_same(source, &output)?;
    }
    let job =
        Job { engine, model: &model, setup: &setup, seed: args.seed, output: &output, commands };
    let (end, written, secs) = match record(context, &job, &mut cast) {
        Err(faults) if faults.iter().any(|fault| fault.code == "output-closed") => {
            context.show(&faults);
            return Ok(Outcome::Partial);
        }
        recorded => recorded?,
    };
    report(context, &output, engine, &end, written, secs);
    Ok(match end.ending {
        Ending::Duration | Ending::Condition if end.contained.is_empty() => Outcome::Passed,
        // A simulation that broke its own rules is no evidence.
        Ending::Duration | Ending::Condition => Outcome::Partial,
        Ending::Interrupted => Outcome::Partial,
        Ending::Fault(_) => Outcome::Broken,
    })
}

fn setup(args: &RunArgs, model: &Model) -> Result<Setup, Vec<Diagnostic>> {
    let secs = |secs: f64, what: &str| {
        let fits = SimDuration::from_secs(secs).filter(|d| *d > SimDuration::ZERO);
        fits.ok_or_else(|| {
            let why =
                if secs < 1.0 { "shorter than a nanosecond" } else { "longer than 292 years" };
            Diagnostic::error("bad-duration", format!("{what} of {secs} s is {why}"))
        })
    };
    let step = args.step.map_or(Ok(model.world.physics.step), |step| secs(step, "a step"))?;
    let duration = match (args.duration, args.iterations, &args.until) {
        (Some(duration), _, _) => Some(secs(duration, "a duration")?),
        (None, Some(n), _) => Some(step * i64::try_from(n).unwrap_or(i64::MAX)),
        (None, None, Some(_)) => None,
        (None, None, None) => Some(DEFAULT_DURATION),
    };
    let until = args.until.as_ref().map(|text| Condition::parse(text, model));
    Ok(Setup {
        step,
        duration,
        record_period: args
            .record_rate
            .map_or(Ok(step), |rate| secs(1.0 / rate, "a sample period"))?,
        seed: Seed::new(args.seed),
        n_threads: usize::from(args.threads),
        gains: args.gains.map(|(kp, kd)| Gains { kp, kd }),
        watchdog: args.watchdog.map(|limit| secs(limit, "a watchdog")).transpose()?,
        until: until.transpose()?,
    })
}

/// A run ends with a whole step, as in other simulators; where that is later than asked, it
/// is said beforehand.
fn odd_end(setup: &Setup) -> Vec<Diagnostic> {
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

fn default_output(world: &Path) -> PathBuf {
    let stem = world.file_stem().unwrap_or(world.as_os_str());
    PathBuf::from(stem).with_extension("mcap")
}

fn report(
    context: &Context,
    output: &Path,
    engine: &EngineEntry,
    end: &RunEnd,
    written: Written,
    secs: f64,
) {
    if let Some((name, time)) = end.contained.first() {
        let n_more = end.contained.len() - 1;
        let others =
            if n_more == 0 { String::new() } else { format!(", and {n_more} more after it") };
        context.show(&[Diagnostic::warning(
            "non-finite",
            format!("link `{name}` went non-finite at {time}{others}; held at the last good pose"),
        )
        .note("what was recorded before that moment may be wrong already")
        .help("a smaller --step often helps; `/events` in the recording has every moment")]);
    }
    if let Ending::Fault(fault) = &end.ending {
        context.show(&[Diagnostic::error("engine-fault", fault.0.clone())
            .note(format!("the recording is kept up to {}", end.state.time))]);
    }
    // Where the recording itself is the output, what is said about it goes beside it.
    let result = |text: &str| match is_stdout(output) {
        true => context.note(text),
        false => context.print(text),
    };
    let simulated = end.state.time;
    if context.json() {
        let json = serde_json::json!({
            "recording": output, "engine": engine.name, "steps": end.n_steps,
            "simulated_secs": simulated.secs(), "ended": ending_word(&end.ending),
            "messages": written.n_messages, "bytes": written.n_bytes,
            "non_finite": end.contained.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        });
        result(&format!("{json}\n"));
        return;
    }
    let factor = simulated.secs() / secs.max(1e-9);
    result(&format!(
        "{}: {} of {}, {} ({})\n",
        if is_stdout(output) { "standard output".into() } else { output.display().to_string() },
        simulated,
        engine.name,
        headland_report::count(written.n_messages, "message"),
        headland_report::bytes(written.n_bytes),
    ));
    context.say(&format!(
        "{} in {}, {factor:.1} × real time; ended: {}",
        headland_report::count(end.n_steps, "step"),
        headland_report::secs(secs),
        ending_word(&end.ending)
    ));
}

fn ending_word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Duration => "duration",
        Ending::Condition => "condition",
        Ending::Interrupted => "interrupted",
        Ending::Fault(_) => "engine fault",
    }
}
