//! One run, recorded: what `run` and `demo` share.
//!
//! A model, a setup and an engine go in; a file with the facts around them, and how the run
//! ended, come out. Deliberately absent: what is said about it; that is each command's own.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

use headland_base::{Diagnostic, Severity};
use headland_record::{WriteOptions, Writer, Written};
use headland_sim::{Cast, EngineEntry, Model, Recorder, RunEnd, Setup};
use headland_world::World;

use crate::context::{BUILD, Context};
use crate::progress::Progress;
use crate::signals::interrupted;

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
    /// The table of commands that is played, as it was read.
    pub commands: Option<Vec<u8>>,
}

/// Runs and records. Returns how it ended, what was written, and how long it took.
pub fn record(
    context: &Context,
    job: &Job<'_>,
    cast: &mut Cast,
) -> Result<(RunEnd, Written, f64), Vec<Diagnostic>> {
    let mut engine = (job.engine.make)();
    let mut checked = engine.check(job.model);
    checked.extend(headland_sim::coarse_step(job.model, job.setup.step));
    if checked.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(checked);
    }
    context.show(&checked);

    let options = WriteOptions::new(BUILD).threaded(job.setup.n_threads > 1);
    let mut writer = open(job.output, &options)?;
    describe(&mut writer, job, &checked)?;

    let stop = interrupted();
    let mut progress = Progress::new(context.shows_progress(), job.setup.duration);
    let mut recorder = Recorder::start(&mut writer, job.model, &cast.sensors)?;
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
    Ok((end, written?, progress.secs()))
}

/// Whether an output is standard output.
pub fn is_stdout(output: &Path) -> bool {
    output == Path::new("-")
}

fn open(output: &Path, options: &WriteOptions) -> Result<Writer, Diagnostic> {
    if !is_stdout(output) {
        return Writer::create(output, options);
    }
    if std::io::stdout().is_terminal() {
        let message = "a recording is no text, and standard output is a terminal";
        return Err(Diagnostic::error("output-is-terminal", message)
            .help("write to a file with `-o FILE`, or into a pipe"));
    }
    Writer::new(std::io::stdout(), "standard output", options)
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
    if let Some(gains) = setup.gains {
        facts.insert("gains", format!("{},{}", gains.kp, gains.kd));
    }
    if let Some(watchdog) = setup.watchdog {
        facts.insert("watchdog_ns", watchdog.nanos().to_string());
    }
    let facts = facts.into_iter().map(|(key, value)| (key.to_string(), value));
    writer.metadata(headland_record::recording::FACTS, facts.collect())?;
    let realised = checked.iter().filter(|d| d.code == "realised").enumerate();
    let realised: BTreeMap<String, String> =
        realised.map(|(i, d)| (format!("{:03}", i + 1), d.message.clone())).collect();
    writer.metadata("headland.realised", realised)?;
    if let Some(table) = &job.commands {
        writer.attach("commands.csv", "text/csv", table.clone())?;
    }
    writer.attach(
        "world.sdf",
        "application/sdf+xml",
        headland_world::sdf::write(world).into_bytes(),
    )
}
