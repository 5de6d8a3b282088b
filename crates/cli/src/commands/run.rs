//! `headland run`: a world goes in, a recording comes out.
//!
//! `prepare` makes a run of the options and refuses before anything moves, `job` runs and
//! records, `live` judges on the way.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use headland_base::{Diagnostic, Severity};
use headland_sim::{Ending, EngineEntry, Housing};

use crate::apart::{self, Words};
use crate::args::RunArgs;
use crate::context::{Context, Ended, Outcome, engine_remark, is_stdout, refuse_same};
use crate::job::{Job, Recorded, record};
use crate::live::LiveVerdict;
use crate::prepare::{Prepared, default_engine, ignored, odd_end, prepare, unheeded};
use crate::test_file::TestFile;

pub fn run(context: &Context, args: &RunArgs) -> Ended {
    let engine = args.engine.as_deref().map(headland_engines::find).transpose()?;
    let output = args.output.clone().unwrap_or_else(|| default_output(&args.world));
    if let Some(engine) = engine
        && engine.housing == Housing::Library
        && !apart::is_apart()
    {
        let patience = Duration::from_secs(args.how.patience);
        return apart::again(context, engine, &output, patience);
    }
    run_here(context, args, engine, &output).inspect_err(|faults| {
        let errors = faults.iter().filter(|fault| fault.severity == Severity::Error);
        let fault = errors.map(|fault| (fault.code.to_string(), fault.message.clone())).next();
        Words { fault, ..Words::default() }.leave();
    })
}

fn run_here(
    context: &Context,
    args: &RunArgs,
    named: Option<&'static EngineEntry>,
    output: &Path,
) -> Ended {
    let Prepared { model, setup, mut cast, commands, sensors } =
        prepare(context, &args.world, &args.how)?;
    let engine = named.unwrap_or_else(|| default_engine(&model.world));
    context.show(&odd_end(&setup));
    context.show(&ignored(&args.how, engine));
    context.show(unheeded(&args.how, &model.world, engine).as_slice());
    let sources = [Some(&args.world), args.how.command.as_ref()].into_iter().flatten();
    for source in sources.chain(&args.test) {
        refuse_same(source, output)?;
    }
    let tests = TestFile::read_all(&args.test)?;
    let job = Job {
        engine,
        model: &model,
        world_file: &args.world,
        setup: &setup,
        seed: args.how.seed,
        output,
        commands,
        sensors,
        tests: &tests,
        stops_on_red: args.stop_on_red,
    };
    let recorded = match record(context, &job, &mut cast) {
        Err(faults) if faults.iter().any(|fault| fault.code == "output-closed") => {
            context.show(&faults);
            Words::default().leave();
            return Ok(Outcome::Partial);
        }
        recorded => recorded?,
    };
    report(context, output, engine, &recorded);
    let end = &recorded.end;
    let fault = match &end.ending {
        Ending::Fault(fault) => Some(("engine-fault".to_string(), fault.0.clone())),
        _ => None,
    };
    Words {
        fault,
        is_interrupted: end.ending == Ending::Interrupted && !recorded.is_stopped_by_red,
        n_steps: end.n_steps,
        simulated_secs: end.state.time.secs(),
        wall_secs: recorded.secs,
    }
    .leave();
    let ended = match end.ending {
        Ending::Duration | Ending::Condition if end.contained.is_empty() => Outcome::Passed,
        // A simulation that broke its own rules is no evidence.
        Ending::Duration | Ending::Condition => Outcome::Partial,
        Ending::Interrupted if recorded.is_stopped_by_red => Outcome::Passed,
        Ending::Interrupted => Outcome::Partial,
        Ending::Fault(_) => Outcome::Broken,
    };
    let verdicts = recorded.verdicts.iter();
    let judged = verdicts.map(|verdict| Outcome::of_verdict(verdict.judgement.verdict));
    Ok(judged.fold(ended, Outcome::max))
}

fn default_output(world: &Path) -> PathBuf {
    let stem = world.file_stem().unwrap_or(world.as_os_str());
    PathBuf::from(stem).with_extension("mcap")
}

fn report(context: &Context, output: &Path, engine: &EngineEntry, recorded: &Recorded) {
    context.show(&faults(recorded));
    for verdict in &recorded.verdicts {
        context.show(&verdict.errors);
    }
    // Where the recording itself is the output, what is said about it goes beside it.
    let result = |text: &str| match is_stdout(output) {
        true => context.print_beside(text),
        false => context.print(text),
    };
    if context.json() {
        return result(&format!("{}\n", as_json(output, engine, recorded)));
    }
    result(&in_words(output, engine, recorded));
    let (end, secs) = (&recorded.end, recorded.secs);
    if apart::is_cell() {
        return;
    }
    context.say(&format!(
        "{} in {}, {:.1} × real time; ended: {}",
        headland_report::count(end.n_steps, "step"),
        headland_report::secs(secs),
        end.state.time.secs() / secs.max(1e-9),
        recorded.ending_word()
    ));
}

/// What went wrong with the simulation itself, and what is missing in its recording.
fn faults(recorded: &Recorded) -> Vec<Diagnostic> {
    let end = &recorded.end;
    let mut faults = end.findings.clone();
    if let Some((name, time)) = end.contained.first() {
        let n_more = end.contained.len() - 1;
        let others =
            if n_more == 0 { String::new() } else { format!(", and {n_more} more after it") };
        let message = format!(
            "link `{name}` went non-finite or beyond measure at {time}{others}; held at the last good pose"
        );
        faults.push(
            Diagnostic::warning("non-finite", message)
                .note("what was recorded before that moment may be wrong already")
                .help("a smaller --step often helps; `/events` in the recording has every moment"),
        );
    }
    if let Some((text, time)) = end.remarks.first() {
        let n_more = end.remarks.len() - 1;
        faults.push(engine_remark(text, *time, n_more, "in `/events` of the recording"));
    }
    if end.n_under_way > 0 {
        let what = headland_report::count(end.n_under_way as u64, "message");
        let message = format!("{what} of sensors had not arrived when the run ended");
        faults.push(
            Diagnostic::remark("under-way", message)
                .note("what a sensor sees is recorded after its latency"),
        );
    }
    if let Ending::Fault(fault) = &end.ending {
        faults.push(
            Diagnostic::error("engine-fault", fault.0.clone())
                .note(format!("the recording is kept up to {}", end.state.time)),
        );
    }
    faults
}

fn as_json(output: &Path, engine: &EngineEntry, recorded: &Recorded) -> serde_json::Value {
    let Recorded { end, written, verdicts, .. } = recorded;
    let mut json = serde_json::json!({
        "recording": output, "engine": engine.name, "steps": end.n_steps,
        "simulated_secs": end.state.time.secs(), "ended": recorded.ending_word(),
        "messages": written.n_messages, "bytes": written.n_bytes,
        "non_finite": end.contained.iter().map(|(name, _)| name).collect::<Vec<_>>(),
    });
    if !verdicts.is_empty() {
        json["verdicts"] = verdicts.iter().map(LiveVerdict::to_json).collect();
    }
    json
}

fn in_words(output: &Path, engine: &EngineEntry, recorded: &Recorded) -> String {
    let shown =
        if is_stdout(output) { "standard output".into() } else { output.display().to_string() };
    let mut text = format!(
        "{shown}: {} of {}, {} ({})\n",
        recorded.end.state.time,
        engine.name,
        headland_report::count(recorded.written.n_messages, "message"),
        headland_report::bytes(recorded.written.n_bytes),
    );
    for verdict in &recorded.verdicts {
        _ = writeln!(text, "{verdict}");
    }
    text
}
