//! One run, recorded: what `run`, `test` and `demo` share.
//!
//! A model, a setup and an engine go in; a file with the facts around them, how the run ended
//! and what the tests that watched say come out. Deliberately absent: what is said about it;
//! that is each command's own.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

use headland_base::{Diagnostic, Severity};
use headland_record::{WriteOptions, Writer, Written};
use headland_sim::{Cast, Ending, EngineEntry, Model, Recorder, RunEnd, Setup};
use headland_world::World;

use crate::context::{BUILD, Context};
use crate::live::{Judge, LiveCode, LiveVerdict, Names};
use crate::prepare::Table;
use crate::progress::Progress;
use crate::signals::interrupted;
use crate::test_file::TestFile;

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
    /// The table of commands that is played.
    pub commands: Option<Table>,
    /// Tests that watch.
    pub tests: &'a [TestFile],
    /// End the run as soon as one of them is red.
    pub stops_on_red: bool,
}

/// A run that was recorded.
pub struct Recorded {
    /// How it ended.
    pub end: RunEnd,
    /// What was written.
    pub written: Written,
    /// How long it took.
    pub secs: f64,
    /// What the tests that watched say, in their order.
    pub verdicts: Vec<LiveVerdict>,
    /// It ended because a test was red.
    pub is_stopped_by_red: bool,
}

/// Runs and records.
pub fn record(
    context: &Context,
    job: &Job<'_>,
    cast: &mut Cast,
) -> Result<Recorded, Vec<Diagnostic>> {
    let mut engine = (job.engine.make)();
    let mut checked = engine.check(job.model);
    checked.extend(headland_sim::coarse_step(job.model, job.setup.step));
    if checked.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(checked);
    }
    context.show(&checked);
    let code = compile_tests(context, job, cast, &checked)?;
    let is_red = Cell::new(false);
    let watchers = code.watchers(job, &is_red)?;

    let options = WriteOptions::new(BUILD).threaded(job.setup.n_threads > 1);
    let mut writer = open(job.output, &options)?;
    describe(&mut writer, job, &checked)?;

    let stop = interrupted();
    let mut progress = Progress::new(context.shows_progress(), job.setup.duration);
    let recorder = Recorder::start(&mut writer, job.model, &cast.sensors)?;
    let mut observer = Judge::start(recorder, watchers)?;
    let ended = headland_sim::run(
        job.model,
        job.setup,
        engine.as_mut(),
        cast,
        &mut observer,
        &mut |time| {
            progress.tick(time);
            if stop.load(Ordering::Relaxed) || job.stops_on_red && is_red.get() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    );
    progress.finish();
    let verdicts = observer.finish(ended.as_ref().ok());
    // The file is closed even when the run failed: what was recorded stays readable.
    let written = writer.finish();
    let (end, verdicts) = (ended?, verdicts?);
    let is_stopped_by_red = job.stops_on_red && is_red.get() && end.ending == Ending::Interrupted;
    Ok(Recorded { end, written: written?, secs: progress.secs(), verdicts, is_stopped_by_red })
}

/// The tests, compiled for what the recording of this run will hold; says what is wrong with
/// them, and refuses those that cannot be judged as a run goes on.
fn compile_tests(
    context: &Context,
    job: &Job<'_>,
    cast: &Cast,
    checked: &[Diagnostic],
) -> Result<LiveCode, Vec<Diagnostic>> {
    if job.tests.is_empty() {
        return Ok(LiveCode::default());
    }
    let names = Names::of(job, |writer| describe(writer, job, checked))?;
    let topics: Vec<&str> = cast.sensors.iter().map(|sensor| sensor.topic()).collect();
    let (code, findings) = LiveCode::compile(job.tests, names, &topics);
    // A run is not spent on a test whose verdict would be an error.
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    context.show(&findings);
    Ok(code)
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
    for test in job.tests {
        for source in test.sources() {
            let name = source.path.rsplit('/').next().unwrap_or_default();
            writer.attach(name, "text/plain", source.text.clone().into_bytes())?;
        }
    }
    if let Some(table) = &job.commands {
        writer.attach("commands.csv", "text/csv", table.text.clone())?;
    }
    writer.attach(
        "world.sdf",
        "application/sdf+xml",
        headland_world::sdf::write(world).into_bytes(),
    )
}
