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

use headland_base::{Diagnostic, Severity, SimDuration, SimTime};
use headland_record::{WriteOptions, Writer, Written};
use headland_sim::{Cast, Ending, EngineEntry, Housing, Model, Recorder, RunEnd, Setup};
use headland_world::{World, sdf};

use crate::args::integrator_in_words;
use crate::beat::{Stage, beat, reached};
use crate::context::{BUILD, Context, is_stdout};
use crate::live::{Judge, LiveCode, LiveVerdict, Names};
use crate::prepare::{Commanded, NATIVE, last_moment};
use crate::progress::Progress;
use crate::signals::interrupted;
use crate::test_file::TestFile;
use crate::watchdog::Watchdog;

/// What an engine of somebody else's that takes its process down, or hangs it, can take with
/// it: what is recorded since the last chunk.
const SPAN_AT_RISK: SimDuration = SimDuration::from_nanos(50_000_000);

/// Name of the metadata record that says which sensors took part.
pub const SENSORS: &str = "headland.sensors";

/// One run and where it goes.
pub struct Job<'a> {
    /// Moves the model.
    pub engine: &'static EngineEntry,
    /// What moves.
    pub model: &'a Model,
    /// The file it was read from.
    pub world_file: &'a Path,
    /// How.
    pub setup: &'a Setup,
    /// The number behind `setup.seed`.
    pub seed: u64,
    /// Where the recording goes.
    pub output: &'a Path,
    /// What is commanded.
    pub commands: Commanded,
    /// What is said of the sensors, by topic.
    pub sensors: BTreeMap<String, String>,
    /// Tests that watch.
    pub tests: &'a [TestFile],
    /// End the run as soon as one of them is red.
    pub stops_on_red: bool,
}

impl Job<'_> {
    /// When the run will end unless it is broken off, or why nobody can say.
    pub fn planned_end(&self) -> Result<SimTime, &'static str> {
        let end = last_moment(self.setup);
        let end = end.ok_or("with `--until` a run ends as soon as the condition holds")?;
        match self.stops_on_red {
            true => Err("with `--stop-on-red` a run ends as soon as a test is red"),
            false => Ok(end),
        }
    }
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

impl Recorded {
    /// Why it ended, in a word or two.
    pub fn ending_word(&self) -> &'static str {
        match self.end.ending {
            Ending::Interrupted if self.is_stopped_by_red => "a test is red",
            Ending::Duration => "duration",
            Ending::Condition => "condition",
            Ending::Interrupted => "interrupted",
            Ending::Fault(_) => "engine fault",
        }
    }
}

/// Runs and records.
pub fn record(
    context: &Context,
    job: &Job<'_>,
    cast: &mut Cast,
) -> Result<Recorded, Vec<Diagnostic>> {
    let is_risky = job.engine.housing == Housing::Library;
    let guard = |patience, recording| {
        is_risky.then(|| Watchdog::start(context, job.engine.name, patience, recording))
    };
    let mut engine = (job.engine.make)(job.engine);
    reached(Stage::Checking);
    let watchdog = guard(job.setup.patience + job.engine.preparation, None);
    let options = job.setup.engine_options();
    let mut checked = headland_sim::checked(engine.as_ref(), job.model, &options);
    drop(watchdog);
    checked.extend(headland_sim::too_fast(cast, job.setup.step));
    if checked.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(checked);
    }
    context.show(&checked);
    context.show(&shapes_by_name(&job.model.world));
    let code = compile_tests(context, job, cast, &checked)?;
    let is_red = Cell::new(false);
    let watchers = code.watchers(job, &is_red)?;

    // What must not go along with a process that is taken down, or ended, is written at once.
    let is_foreign = job.engine.housing != Housing::Embedded;
    let mut options = WriteOptions::new(BUILD).threaded(job.setup.n_threads > 1 && !is_foreign);
    if is_foreign {
        options.chunk_span = SPAN_AT_RISK;
    }
    let stop = interrupted(); // before there is a file that could be left half done
    let mut writer = open(job.output, &options)?;
    reached(Stage::Starting);
    let watchdog = guard(job.setup.patience, Some(job.output));
    describe(&mut writer, job, &checked)?;

    let mut progress = Progress::new(context.shows_progress(), job.setup.duration);
    let recorder = Recorder::start(&mut writer, job.model, &cast.sensors)?;
    let mut observer = Judge::start(recorder, watchers, &cast.sensors)?;
    let ended = headland_sim::run(
        job.model,
        job.setup,
        engine.as_mut(),
        cast,
        &mut observer,
        &mut |time| {
            progress.tick(time);
            beat();
            if let Some(watchdog) = &watchdog {
                watchdog.tick();
            }
            if stop.load(Ordering::Relaxed) || job.stops_on_red && is_red.get() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    );
    drop(watchdog);
    beat();
    progress.finish();
    let is_stopped_by_red = job.stops_on_red && is_red.get() && !stop.load(Ordering::Relaxed);
    let verdicts = observer.finish(ended.as_ref().ok(), is_stopped_by_red);
    // The file is closed even when the run failed: what was recorded stays readable.
    let written = writer.finish();
    let (end, verdicts) = (ended?, verdicts?);
    let is_stopped_by_red = is_stopped_by_red && end.ending == Ending::Interrupted;
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
    let outputs = cast.sensors.iter().flat_map(|sensor| sensor.outputs());
    let topics: Vec<&str> = outputs.map(|output| output.topic.as_str()).collect();
    let (code, findings) = LiveCode::compile(job.tests, names, &topics, job.planned_end());
    // A run is not spent on a test whose verdict would be an error.
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    context.show(&findings);
    Ok(code)
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
    let (setup, version) = (job.setup, job.engine.version());
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
    if let Shapes::ByName(_) = Shapes::of(world) {
        let name = job.world_file.file_name().unwrap_or_default().display();
        facts.insert("shapes", format!("by name, from the folder of {name}"));
    }
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
    facts.extend(cast_facts(world, job.engine));
    let facts = facts.into_iter().map(|(key, value)| (key.to_string(), value));
    writer.metadata(headland_record::recording::FACTS, facts.collect())?;
    let realised = checked.iter().filter(|d| d.code == "realised").enumerate();
    let realised: BTreeMap<String, String> =
        realised.map(|(i, d)| (format!("{:03}", i + 1), d.message.clone())).collect();
    writer.metadata("headland.realised", realised)?;
    if !job.sensors.is_empty() {
        writer.metadata(SENSORS, job.sensors.clone())?;
    }
    for test in job.tests {
        for source in test.sources() {
            let name = source.path.rsplit('/').next().unwrap_or_default();
            writer.attach(name, "text/plain", source.text.clone().into_bytes())?;
        }
    }
    if let Some(table) = &job.commands.table {
        writer.attach("commands.csv", "text/csv", table.clone())?;
    }
    let text = match Shapes::of(world) {
        Shapes::Inside { has_textures } => {
            sdf::write(&sdf::with_shapes_inside(world, has_textures))
        }
        Shapes::ByName(_) => sdf::write(world),
    };
    writer.attach("world.sdf", "application/sdf+xml", text.into_bytes())
}

/// Who moves what, and what the native engine is asked for, by the world or the command line;
/// another engine does not heed that.
fn cast_facts(world: &World, engine: &EngineEntry) -> Vec<(&'static str, String)> {
    let (mut details, mut controllers) = (Vec::new(), Vec::new());
    world.visit_models(&mut |at| {
        details.extend(at.model.detail.map(|detail| format!("{}={}", at.scope, detail.word())));
        let wishes = at.model.controllers.iter();
        controllers.extend(wishes.map(|wish| format!("{}={}", at.scope, wish.kind)));
    });
    let native = &world.physics.native;
    let facts = [
        ("controllers", (!controllers.is_empty()).then(|| controllers.join(" "))),
        ("detail", (!details.is_empty()).then(|| details.join(" "))),
        ("law", native.law.map(|law| law.word().to_string())),
        ("integrator", native.integrator.map(integrator_in_words)),
    ];
    let is_heeded = |key: &str| key == "controllers" || engine.name == NATIVE;
    let facts = facts.into_iter().filter(|(key, _)| is_heeded(key));
    facts.filter_map(|(key, value)| Some((key, value?))).collect()
}

/// The most numbers of meshes and heightmaps that go into a recording with its world: as text
/// two or three megabytes, what a minute of a small robot takes. Detailed robots have more,
/// and a campaign records them a thousand times.
const MOST_SHAPE_NUMBERS: usize = 200_000;

/// How a recording has the meshes, heightmaps and textures of its world.
enum Shapes {
    /// In the world that is attached: it can be read anywhere. Textures, by which nothing moves,
    /// only where there is room for them beside the others.
    Inside { has_textures: bool },
    /// By the names of their files, because they are so many numbers.
    ByName(usize),
}

impl Shapes {
    fn of(world: &World) -> Shapes {
        let (n_shapes, n_textures) =
            (sdf::n_numbers_of_shapes(world), sdf::n_numbers_of_textures(world));
        match n_shapes {
            n if n > MOST_SHAPE_NUMBERS => Shapes::ByName(n),
            n => Shapes::Inside { has_textures: n + n_textures <= MOST_SHAPE_NUMBERS },
        }
    }
}

/// Says that a recording will not have the shapes of its world.
fn shapes_by_name(world: &World) -> Vec<Diagnostic> {
    let (what, n_numbers, help) = match Shapes::of(world) {
        Shapes::Inside { has_textures: true } => return Vec::new(),
        Shapes::Inside { has_textures: false } => {
            let help = "keep the files with the recording to draw its world again";
            ("textures", sdf::n_numbers_of_textures(world), help)
        }
        Shapes::ByName(n) => {
            let help = "keep the files with the recording to run its world again";
            ("meshes, heightmaps and textures", n, help)
        }
    };
    let message = format!("the recording names the files of {what} and does not hold them");
    let note = format!(
        "they are as long as {n_numbers} numbers; up to {MOST_SHAPE_NUMBERS} go with the world"
    );
    vec![Diagnostic::remark("shapes-by-name", message).note(note).help(help)]
}
