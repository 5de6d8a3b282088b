//! `headland run`: a world goes in, a recording comes out.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use headland_base::{Diagnostic, Seed, Severity, SimDuration};
use headland_record::{WriteOptions, Writer, Written};
use headland_sim::{Cast, Condition, Ending, EngineEntry, Gains, Model, Recorder, RunEnd, Setup};
use headland_world::World;

use crate::args::RunArgs;
use crate::context::{BUILD, Context, Ended, Outcome, refuse_same};
use crate::progress::Progress;
use crate::schedule::Schedule;

/// How long a run without an end lasts.
const DEFAULT_DURATION: SimDuration = SimDuration::from_nanos(10_000_000_000);

pub fn run(context: &Context, args: &RunArgs) -> Ended {
    let engine = headland_engines::find(&args.engine).map_err(|diagnostic| vec![diagnostic])?;
    let world = context.read_world(&args.world, &args.world_args)?.world;
    let model = Model::compile(&Arc::new(world))?;
    let setup = setup(args, &model)?;
    let mut cast = Cast::default();
    if let Some(path) = &args.command {
        let (schedule, findings) = Schedule::read(path, &model, setup.step)?;
        context.show(&findings);
        schedule.check_gains(&model, &setup)?;
        cast.controllers.push(Box::new(schedule));
    }
    let output = args.output.clone().unwrap_or_else(|| default_output(&args.world));
    for source in [Some(&args.world), args.command.as_ref()].into_iter().flatten() {
        refuse_same(source, &output)?;
    }
    let job = Job { engine, model: &model, setup: &setup, seed: args.seed, output: &output };
    let (end, written, secs) = record(context, &job, &mut cast)?;
    report(context, &output, engine, &end, written, secs);
    Ok(match end.ending {
        Ending::Duration | Ending::Condition => Outcome::Passed,
        Ending::Interrupted => Outcome::Partial,
        Ending::Fault(_) => Outcome::Broken,
    })
}

fn setup(args: &RunArgs, model: &Model) -> Result<Setup, Vec<Diagnostic>> {
    let secs = |secs: f64, what: &str| {
        SimDuration::from_secs(secs).filter(|d| *d > SimDuration::ZERO).ok_or_else(|| {
            vec![Diagnostic::error(
                "bad-duration",
                format!("{what} of {secs} s is not a whole nanosecond or more"),
            )]
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
        until: until.transpose().map_err(|diagnostic| vec![diagnostic])?,
    })
}

fn default_output(world: &Path) -> PathBuf {
    let stem = world.file_stem().unwrap_or(world.as_os_str());
    PathBuf::from(stem).with_extension("mcap")
}

/// One run and where it goes.
pub struct Job<'a> {
    /// Moves the model.
    pub engine: &'static EngineEntry,
    /// What moves.
    pub model: &'a Model,
    /// How.
    pub setup: &'a Setup,
    /// The number behind `setup.seed`.
    pub seed: u64,
    /// Where the recording goes.
    pub output: &'a Path,
}

/// Runs and records. Returns how it ended, what was written, and how long it took.
pub fn record(
    context: &Context,
    job: &Job<'_>,
    cast: &mut Cast,
) -> Result<(RunEnd, Written, f64), Vec<Diagnostic>> {
    let mut engine = (job.engine.make)();
    let checked = engine.check(job.model);
    if checked.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(checked);
    }
    context.show(&checked);

    let options = WriteOptions::new(BUILD).threaded(job.setup.n_threads > 1);
    let one = |diagnostic| vec![diagnostic];
    let mut writer = Writer::create(job.output, &options).map_err(one)?;
    describe(&mut writer, job, &checked).map_err(one)?;

    let stop = interrupted();
    let mut progress = Progress::new(context.shows_progress(), job.setup.duration);
    let mut recorder = Recorder::start(&mut writer, job.model, &cast.sensors).map_err(one)?;
    let ended = headland_sim::run(
        job.model,
        job.setup,
        engine.as_mut(),
        cast,
        &mut recorder,
        &mut |time| {
            progress.tick(time);
            if stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    );
    progress.finish();
    // The file is closed even when the run failed: what was recorded stays readable.
    let written = writer.finish();
    let end = ended?;
    Ok((end, written.map_err(one)?, progress.secs()))
}

/// Writes the facts around a run: enough to run it again.
fn describe(writer: &mut Writer, job: &Job<'_>, checked: &[Diagnostic]) -> Result<(), Diagnostic> {
    let world: &World = &job.model.world;
    let (setup, version) = (job.setup, (job.engine.version)());
    let mut facts = BTreeMap::from([
        ("build", BUILD.to_string()),
        ("engine", job.engine.name.to_string()),
        ("engine_version", version.unwrap_or_default()),
        ("world", world.name.clone()),
        ("seed", job.seed.to_string()),
        ("step_ns", setup.step.nanos().to_string()),
        ("record_period_ns", setup.record_period.nanos().to_string()),
        ("gravity", format!("{:?}", world.gravity.to_array())),
    ]);
    if let Some(duration) = setup.duration {
        facts.insert("duration_ns", duration.nanos().to_string());
    }
    if let Some(until) = &setup.until {
        facts.insert("until", until.text.clone());
    }
    let facts = facts.into_iter().map(|(key, value)| (key.to_string(), value));
    writer.metadata(headland_record::recording::FACTS, facts.collect())?;
    let realised = checked.iter().filter(|d| d.code == "realised").enumerate();
    let realised: BTreeMap<String, String> =
        realised.map(|(i, d)| (format!("{:03}", i + 1), d.message.clone())).collect();
    writer.metadata("headland.realised", realised)?;
    writer.attach(
        "world.sdf",
        "application/sdf+xml",
        headland_world::sdf::write(world).into_bytes(),
    )
}

/// Set when somebody presses Ctrl-C or ends the process politely: the run stops after its
/// step and the file is closed properly.
fn interrupted() -> Arc<AtomicBool> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let stop = STOP.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        // Without a handler the signal ends us at once; the file still opens up to its last chunk.
        _ = ctrlc::set_handler(move || seen.store(true, Ordering::Relaxed));
        flag
    });
    Arc::clone(stop)
}

fn report(
    context: &Context,
    output: &Path,
    engine: &EngineEntry,
    end: &RunEnd,
    written: Written,
    secs: f64,
) {
    for (name, time) in &end.contained {
        context.show(&[Diagnostic::warning(
            "non-finite",
            format!("link `{name}` went non-finite at {time}; it was held at its last good pose"),
        )
        .help("a smaller --step often helps; `/events` in the recording has the moment")]);
    }
    if let Ending::Fault(fault) = &end.ending {
        context.show(&[Diagnostic::error("engine-fault", fault.0.clone())
            .note(format!("the recording is kept up to {}", end.state.time))]);
    }
    let simulated = end.state.time;
    if context.json() {
        let json = serde_json::json!({
            "recording": output, "engine": engine.name, "steps": end.n_steps,
            "simulated_secs": simulated.secs(), "ended": ending_word(&end.ending),
            "messages": written.n_messages, "bytes": written.n_bytes,
            "non_finite": end.contained.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        });
        context.print(&format!("{json}\n"));
        return;
    }
    let factor = simulated.secs() / secs.max(1e-9);
    context.print(&format!(
        "{}: {} of {}, {} ({})\n",
        output.display(),
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
