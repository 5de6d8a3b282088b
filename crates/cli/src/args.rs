//! The command line, as data: words go in, one value per command comes out.
//!
//! Help texts teach: each command ends with examples. Help, completions and manual pages are all
//! made from here. Deliberately absent: what a command does; that is `commands`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use headland_base::{SimDuration, SimTime, Vec3, names};
use headland_judge::compare::{KEY_STATISTICS, STATISTICS, statistic_names};
use headland_record::{FORMATS, Format, TimeUnit, parse_seconds};
use headland_sense::camera::{MOST_PIXELS, MOST_PIXELS_A_SIDE};
use headland_sense::overlay::{KINDS, Kind};
use headland_sense::render::RENDERERS;
use headland_sim::Housing;
use headland_validate::source::{CONTACT_COMPONENTS, JOINT_PROPERTIES, POSE_COMPONENTS, VECTORS};
use headland_world::{ContactLaw, Detail, Integrator};

use crate::sensors::Choice;

/// The version with everything in this process that decides the bytes of a recording. Engines
/// are only looked for when somebody asks; programs, which take seconds to answer, not here.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let is_asked = std::env::args_os().any(|arg| arg == "--version" || arg == "-V");
    let here = headland_engines::ENGINES
        .iter()
        .filter(|entry| is_asked && entry.housing != Housing::Program);
    let here: Vec<_> = here.collect();
    let found = crate::chosen::look_for(&here, crate::chosen::PATIENCE);
    let engines = here.iter().zip(found).map(|(entry, found)| {
        format!("\n{} {}", entry.name, found.map_or("not found".into(), |found| found.version))
    });
    let build = crate::context::BUILD.trim_start_matches("headland ");
    format!("{build}{}", engines.collect::<String>())
});

/// A proving ground for robots.
///
/// Headland reads a world, moves it with a physics engine and records everything in one
/// ROS 2 MCAP file, the format that rosbags, evo, Foxglove, Rerun and PlotJuggler read.
#[derive(Debug, Parser)]
#[command(
    name = "headland",
    version = VERSION.as_str(),
    propagate_version = false,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, all green · 1 some test is red · 2 bad usage or input, or a \
                  test at fault · 3 not decided, nothing judged, partial data, or broken off · \
                  4 an engine, the disk or headland itself broke\n\n\
                  HEADLAND_RESOURCE_PATH lists folders, separated by `:`, in which model:// and \
                  package:// names are looked up.\n\n\
                  Start here:\n  headland demo                 drop a ball, judge its bounces\n  \
                  headland check WORLD          is this world sound?\n  \
                  headland run WORLD            move it, record it\n  \
                  headland test TEST --on REC   did it do what it should?"
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Global {
    /// Results and diagnostics as JSON, for programs
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress, no notes: results and what is wrong
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// Every command, in the order help lists them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Move a world and record everything
    Run(Box<RunArgs>),
    /// Judge recordings, or worlds on engines, by tests
    Test(Box<TestArgs>),
    /// Say everything that is wrong with a world, a robot, a recording or a test
    Check(CheckArgs),
    /// Say what is in a recording
    Info(InfoArgs),
    /// Print a recording's messages, one JSON object a line
    Cat(CatArgs),
    /// Write a recording as CSV, TUM or a rosbag2 folder
    Export(ExportArgs),
    /// Make a recording from an MCAP, a bag, a table or a trajectory
    Import(ImportArgs),
    /// Say how far one recording is from another, key by key
    Compare(Box<CompareArgs>),
    /// Repeat a measured experiment with a model, and say how far the model is off
    Validate(Box<ValidateArgs>),
    /// Find the numbers of a model that make it do what was measured
    Tune(Box<TuneArgs>),
    /// Draw a world, or what happened in a recording, as PNG
    Render(Box<RenderArgs>),
    /// Fit the noise of a detector to a table of measurements
    FitNoise(FitNoiseArgs),
    /// List the physics engines: version, limits, how to get them
    Engines(EnginesArgs),
    /// Drop a ball in the embedded engine and judge the bounces
    Demo(DemoArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write one per command into a folder
    Man(ManArgs),
}

/// How worlds are read.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct WorldArgs {
    /// Unknown elements and attributes are warnings, not errors
    #[arg(long)]
    pub lenient: bool,
    /// Give links without inertia one from their shapes at this density, in kg/m³
    #[arg(long, value_name = "DENSITY", allow_negative_numbers = true, value_parser = positive)]
    pub derive_inertia: Option<f64>,
}

/// `headland run`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  headland run ball.sdf\n  \
    headland run ball.sdf --duration 4 -o ball.mcap\n  \
    headland run ball.sdf --until 'ball/pose/z < 0.6'\n  \
    headland run arm.urdf --command moves.csv --gains 100,10\n  \
    headland run ball.sdf --test bounce.lrp --stop-on-red\n\n\
    A condition compares OBJECT/pose/z (x, y), OBJECT/linear_vel/x, OBJECT/angular_vel/x, \
    JOINT/position, JOINT/velocity, JOINT/effort or contacts/count with a number; a link of a \
    model with several is MODEL/LINK.\n\n\
    A table of commands has a column `time` and columns JOINT/position, JOINT/velocity or \
    JOINT/effort; each holds until its next value. `pos`, `vel`, `torque` and `force` are \
    understood, too.\n\n\
    The same world, options, seed and build give the same bytes, on any number of threads.")]
pub struct RunArgs {
    /// The world: SDF, URDF or MJCF
    pub world: PathBuf,
    /// The recording to write, "-" for stdout [default: the world file's name with .mcap, here]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The engine that moves it; `headland engines` lists them [default: rapier; native where the
    /// world or an option asks for details, a contact law or an integrator of it]
    #[arg(long, alias = "physics-engine", value_name = "NAME")]
    pub engine: Option<String>,
    /// Judge the run as it goes by this test; its verdict decides the exit code
    #[arg(long, value_name = "TEST", num_args = 1..)]
    pub test: Vec<PathBuf>,
    /// End the run as soon as a test is red
    #[arg(long, requires = "test")]
    pub stop_on_red: bool,
    #[command(flatten)]
    pub how: HowArgs,
}

/// How a world is moved: what `run` and `test` share.
#[derive(Clone, Debug, PartialEq, Args)]
pub struct HowArgs {
    /// How long, in simulated seconds, up to the next whole step [default: 10, or no end with
    /// --until]
    #[arg(long, short, requires = "world", value_name = "SECS", allow_negative_numbers = true,
        value_parser = positive)]
    pub duration: Option<f64>,
    /// How long, in steps
    #[arg(long, requires = "world", conflicts_with = "duration", value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: Option<u64>,
    /// End as soon as this holds: KEY < NUMBER, or <=, >, >=
    #[arg(long, requires = "world", value_name = "CONDITION")]
    pub until: Option<String>,
    /// The step in seconds [default: the world's]
    #[arg(long, requires = "world", value_name = "SECS", allow_negative_numbers = true,
        value_parser = positive)]
    pub step: Option<f64>,
    /// Samples per simulated second, at most one a step [default: every step]
    #[arg(long, requires = "world", value_name = "HZ", allow_negative_numbers = true,
        value_parser = positive)]
    pub record_rate: Option<f64>,
    /// Leave the engine at its own defaults: what somebody gets who only loads the world
    #[arg(long, requires = "world")]
    pub raw: bool,
    /// Wall-clock seconds an engine may take to load, or for one step, before it is given up
    #[arg(long, requires = "world", value_name = "SECS", default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub patience: u64,
    /// Where all chance comes from
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Threads: with two or more, one compresses and writes; the recording is the same
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
    /// Joint commands over time: a CSV with scoped keys
    #[arg(long, short, requires = "world", value_name = "FILE")]
    pub command: Option<PathBuf>,
    /// Leave out the controllers that the world asks for
    #[arg(long, requires = "world")]
    pub no_controllers: bool,
    /// Sensors of the world that are recorded: usual (no cameras but those that are always on),
    /// all, none, or topics, in which * is anything
    #[arg(long, requires = "world", value_name = "WHICH", default_value_t = Choice::Usual)]
    pub sensors: Choice,
    /// Gains of joints whose model gives none
    #[arg(long, requires = "world", value_name = "KP,KD", allow_hyphen_values = true,
        value_parser = gains)]
    pub gains: Option<(f64, f64)>,
    /// Let the motors go when no command has come for this many seconds
    #[arg(long, requires = "world", value_name = "SECS", allow_negative_numbers = true,
        value_parser = positive)]
    pub watchdog: Option<f64>,
    /// How closely the native engine moves a model, or `all` robots; may be given again
    #[arg(long, requires = "world", value_name = "NAME=LEVEL", value_parser = detail)]
    pub detail: Vec<(String, Detail)>,
    /// How things that touch push each other in the native engine: soft, soft-coulomb or hard
    #[arg(long, requires = "world", value_name = "LAW", value_parser = law)]
    pub law: Option<ContactLaw>,
    /// How the native engine goes from step to step: semi-implicit, rk4, adaptive or
    /// adaptive:TOLERANCE
    #[arg(long, requires = "world", value_name = "NAME", value_parser = integrator)]
    pub integrator: Option<Integrator>,
    #[command(flatten)]
    pub world_args: WorldArgs,
}

impl Default for HowArgs {
    /// What is meant where nothing is said; a test compares it with the command line.
    fn default() -> HowArgs {
        HowArgs {
            duration: None,
            iterations: None,
            until: None,
            step: None,
            record_rate: None,
            raw: false,
            patience: 60,
            seed: 0,
            threads: 2,
            command: None,
            no_controllers: false,
            sensors: Choice::Usual,
            gains: None,
            watchdog: None,
            detail: Vec::new(),
            law: None,
            integrator: None,
            world_args: WorldArgs::default(),
        }
    }
}

impl HowArgs {
    /// The words that say the same to `headland run`.
    pub fn to_args(&self) -> Vec<OsString> {
        let mut out: Vec<OsString> = Vec::new();
        let mut say = |word: &str, value: Option<OsString>| {
            if let Some(value) = value {
                out.extend([word.into(), value]);
            }
        };
        let number = |value: Option<f64>| value.map(|value| value.to_string().into());
        say("--duration", number(self.duration));
        say("--iterations", self.iterations.map(|n| n.to_string().into()));
        say("--until", self.until.as_ref().map(OsString::from));
        say("--step", number(self.step));
        say("--record-rate", number(self.record_rate));
        say("--patience", Some(self.patience.to_string().into()));
        say("--seed", Some(self.seed.to_string().into()));
        say("--threads", Some(self.threads.to_string().into()));
        say("--command", self.command.as_ref().map(OsString::from));
        say("--sensors", Some(self.sensors.to_string().into()));
        say("--gains", self.gains.map(|(kp, kd)| format!("{kp},{kd}").into()));
        say("--watchdog", number(self.watchdog));
        for (name, detail) in &self.detail {
            say("--detail", Some(format!("{name}={}", detail.word()).into()));
        }
        say("--law", self.law.map(|law| law.word().into()));
        say("--integrator", self.integrator.map(|it| integrator_in_words(it).into()));
        say("--derive-inertia", number(self.world_args.derive_inertia));
        out.extend(self.raw.then(|| "--raw".into()));
        out.extend(self.no_controllers.then(|| "--no-controllers".into()));
        out.extend(self.world_args.lenient.then(|| "--lenient".into()));
        out
    }
}

/// `headland test`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  headland test bounce.lrp --on ball.mcap\n  \
    headland test tests/*.lrp --on logs/*.mcap --junit verdicts.xml\n  \
    headland test bounce.lrp --world ball.sdf --engines all\n  \
    headland test bounce.lrp --on ball.mcap --explain --html why.html\n  \
    headland test bounce.lrp --on ball.mcap --watch\n  \
    headland test --vocabulary ball.mcap\n\n\
    A test is a small state machine that watches a recording snapshot by snapshot. It passes when \
    it ends in the state `green` and fails when it touches `red`:\n\n  \
    (machine lands\n    \
      (state falling) (state green)\n    \
      (on [ball touches: ground] falling -> green))\n  \
    (spawn lands falling)\n\n\
    A cell of the table is the verdict and its margin: by how much every comparison could be \
    harder or easier before the verdict flips. ∞ says that no amount flips it.\n\n\
    Exit codes, the first that applies: 2 a test or an input is at fault · 4 an engine broke · \
    1 some test is red · 3 not decided, interrupted, or an engine cannot have the world · 0 all \
    green.")]
pub struct TestArgs {
    /// Tests: programs (.lrp) or formulas (.stl)
    #[arg(value_name = "TEST")]
    pub tests: Vec<PathBuf>,
    /// Recordings to judge: MCAP, rosbag2 folders, CSV or TUM
    #[arg(long, value_name = "RECORDING", num_args = 1..)]
    pub on: Vec<PathBuf>,
    /// Worlds to run first, each on every engine, and then to judge
    #[arg(long, value_name = "WORLD", num_args = 1..)]
    pub world: Vec<PathBuf>,
    /// Engines for the worlds, or `all` [default: for each world the one that `run` takes]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "world")]
    pub engines: Vec<String>,
    /// Keep the recordings of the worlds in this folder
    #[arg(long, value_name = "FOLDER", requires = "world")]
    pub keep: Option<PathBuf>,
    /// Only what happened from this moment on, in seconds
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment)]
    pub start: Option<SimTime>,
    /// Only what happened up to this moment, in seconds
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment)]
    pub end: Option<SimTime>,
    /// Say why what is red is red: parts, values, assignments, the shortest stretch
    #[arg(long)]
    pub explain: bool,
    /// Say which states and transitions no recording reached
    #[arg(long)]
    pub coverage: bool,
    /// Say which small changes of a test no recording notices
    #[arg(long)]
    pub mutate: bool,
    /// Do not look for margins
    #[arg(long)]
    pub no_margin: bool,
    /// Make this an error: action-errors, blocks of a test that had to be abandoned
    #[arg(long, value_name = "WHAT", value_parser = [ACTION_ERRORS])]
    pub deny: Vec<String>,
    /// Write the verdicts as JUnit XML; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write one self-contained page: verdicts, state bands, plots, reasons; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Judge again whenever a test or a recording changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
    /// List what a test can see of this recording, with units
    #[arg(long, value_name = "RECORDING", conflicts_with_all = ["on", "world", "watch"])]
    pub vocabulary: Option<PathBuf>,
    #[command(flatten, next_help_heading = "How worlds are run")]
    pub how: HowArgs,
}

impl TestArgs {
    /// Whether worlds are run on several engines, so that these are compared, too.
    pub fn compares_engines(&self) -> bool {
        !self.world.is_empty() && (self.engines.len() > 1 || self.engines == ["all"])
    }
}

/// What `--deny` takes.
pub const ACTION_ERRORS: &str = "action-errors";

/// `headland check`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  headland check worlds/*.sdf\n  \
    headland check robot.urdf --write-sdf robot.sdf\n  \
    headland check tests/*.lrp\n  \
    headland check --json world.sdf | jq .links")]
pub struct CheckArgs {
    /// Worlds, robots, recordings or tests
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Also say what this engine would realise differently
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    /// Write the world as SDF: includes resolved, defaults applied ("-" for stdout)
    #[arg(long, value_name = "FILE")]
    pub write_sdf: Option<PathBuf>,
    #[command(flatten)]
    pub world_args: WorldArgs,
}

/// `headland info`
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// The recording
    pub recording: PathBuf,
}

/// `headland cat`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  headland cat ball.mcap --topic '/ball/*' | head -3\n  \
    headland cat ball.mcap --topic /ball/pose --start 0.5 --end 0.6 | jq \
    .message.pose.position.z\n  \
    headland cat ball.mcap --attachment world.sdf > again.sdf")]
pub struct CatArgs {
    /// The recording
    pub recording: PathBuf,
    /// Only these topics; `*` stands for anything
    #[arg(long, short, value_name = "GLOB")]
    pub topic: Vec<String>,
    /// From this moment on, in seconds
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment)]
    pub start: Option<SimTime>,
    /// Up to this moment, in seconds
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment)]
    pub end: Option<SimTime>,
    /// Print this attached file as it is, and nothing else
    #[arg(long, value_name = "NAME", conflicts_with_all = ["topic", "start", "end"])]
    pub attachment: Option<String>,
}

/// What a recording can be written as: every format but the recording's own.
pub static EXPORTS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let others = FORMATS.iter().filter(|(_, format)| *format != Format::Mcap);
    others.map(|(name, _)| *name).collect()
});

fn export_format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(EXPORTS.iter())
        .map(|name| Format::from_name(&name).expect("a name of the list"))
}

/// `headland export`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  headland export ball.mcap --to csv -o ball.csv\n  \
    headland export ball.mcap --align linear --rate 50 -o ball.csv\n  \
    headland export ball.mcap --to tum --object ball -o ball.tum\n  \
    headland export ball.mcap --to rosbag2 -o ball_bag")]
pub struct ExportArgs {
    /// The recording
    pub recording: PathBuf,
    /// The format [default: by the output's ending]
    #[arg(long, value_name = "FORMAT", value_parser = export_format())]
    pub to: Option<Format>,
    /// Where to write
    #[arg(long, short, value_name = "PATH")]
    pub output: PathBuf,
    /// The object whose poses a TUM file holds [default: the only one that moves]
    #[arg(long)]
    pub object: Option<String>,
    /// Fill every row of a CSV: hold the last value, or go along the line to the next
    #[arg(long, value_name = "HOW", value_parser = ["hold", "linear"])]
    pub align: Option<String>,
    /// Rows per second of an aligned CSV [default: one at every moment there is a sample]
    #[arg(long, value_name = "HZ", requires = "align", allow_negative_numbers = true,
        value_parser = positive)]
    pub rate: Option<f64>,
}

/// `headland import`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  headland import robot_bag/ -o robot.mcap\n  \
    headland import measured.csv -o measured.mcap\n  \
    headland import trajectory.tum --object robot -o robot.mcap")]
pub struct ImportArgs {
    /// An MCAP, a bag of ROS 1 or 2, a table with scoped keys, a TUM, KITTI or EuRoC file
    pub source: PathBuf,
    /// The recording to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// The name of the object a trajectory describes [default: the file's name]
    #[arg(long)]
    pub object: Option<String>,
}

/// Every statistic of `headland compare`, a line each.
static COMPARE_HELP: LazyLock<String> = LazyLock::new(|| {
    let line = |name: &str, what: &str| format!("  {name:<16} {what}\n");
    let of_errors = STATISTICS.iter().map(|one| line(one.name, one.what));
    let of_keys = KEY_STATISTICS.iter().map(|(name, what, _)| line(name, what));
    let all: String = of_errors.chain(of_keys).collect();
    format!(
        "Examples:\n  headland compare robot.csv sim.mcap\n  \
         headland compare robot.csv sim.mcap --relative --key 'wrist_0/*' --estimate-lag\n  \
         headland compare robot.csv sim.mcap --fail-if 'wrist_0/*:rmse>0.02' --report out.html\n  \
         headland compare truth.tum slam.tum --pairing evo --align rigid\n  \
         headland compare bag/ sim.mcap --map keys.txt --phases phases.csv --json\n\n\
         A is the reference, what was measured; B is compared with it. An error is e = B - A. \
         Either may be a table, an MCAP, a rosbag2 folder, a ROS 1 bag, a TUM, KITTI or EuRoC \
         trajectory.\n\n\
         Times are taken as they are. Each sample of A is paired with the nearest of B within the \
         tolerance, each sample once, the closest pair first; what is left over is counted and \
         said. Samples that go back in time or repeat one are left out and counted, key by key.\n\n\
         Vectors are compared by component and as a distance (KEY/norm, of a pose \
         KEY/pose/position), orientations as an angle in degrees (KEY/pose/orientation), \
         positions of joints without full turns.\n\n\
         A file of phases has a line `START END NAME` for each; one of new names has lines \
         `OLD -> NEW`, where one `*` may stand in both.\n\n\
         Statistics, for --stats and --fail-if:\n{all}\n\
         Exit codes: 1 a --fail-if holds · 2 bad usage or input, or a key of A that B does not \
         have · 3 no pair at all, a limit on what is undefined, numbers too large to compare, or \
         partial data · 0 done."
    )
});

/// What `headland validate` does with time and state, and what keys there are.
static VALIDATE_HELP: LazyLock<String> = LazyLock::new(|| {
    let joint: Vec<&str> = JOINT_PROPERTIES.iter().map(|(word, _)| *word).collect();
    format!(
        "Examples:\n  headland validate pendulum.sdf swing.csv\n  \
         headland validate arm.urdf log.csv -c commands.csv --gains 100,10 --report arm.html\n  \
         headland validate arm.sdf bag/ --map keys.txt --window 0.5 --fail-if \
         'elbow/*:rmse>0.02'\n  \
         headland validate cube.sdf toss.csv --engine rapier --set 'surface/*/mu*=0.4'\n  \
         headland validate arm.sdf log.csv -f simulated.csv && headland compare log.csv \
         simulated.csv\n\n\
         The model repeats what was measured: it starts with the first sample of TABLE, is told \
         what -c says, and is looked at whenever somebody measured. The rest is `headland compare \
         TABLE` with the simulation as B.\n\n\
         Keys are ELEMENT/PROPERTY/COMPONENT. Joints have {}. Models, links and the frames of \
         joints have pose/{{{}}} and {{{}}}/{{x,y,z}}, along the world's axes or with @body behind \
         the property along their own; links and models also contact/{{{}}}. Sensors have what \
         their messages have, or imu/{{ax,…,gz,qx,…}}, force_torque/{{fx,…,tz}}, \
         gps/{{lat,lon,alt}}, range/0, ….\n\n\
         What --state does not say is read off the first rows, velocities where they were not \
         measured by their slopes; what is not measured is as the model has it. Statistics and \
         limits are those of `headland compare --help`.\n\n\
         Exit codes: 1 a --fail-if holds · 2 bad usage or input, or a key the model does not have \
         · 3 no pair at all, a limit on what is undefined, numbers too large to compare, or \
         partial data · 4 an engine broke · 0 done.",
        joint.join(", "),
        POSE_COMPONENTS.join(","),
        VECTORS.join(","),
        CONTACT_COMPONENTS.join(","),
    )
});

/// Where every sample is met nothing is apart.
const VALIDATE_TOLERANCE: &str = "The most the nearest step may be from a sample in time, with \
    --sampling nearest alone [default: half a step]";

fn statistic_name() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(statistic_names().collect::<Vec<_>>())
}

/// What `--live` takes none of, by the names of fields: all that needs every row at once.
const REFUSED_BY_LIVE: &[&str] = &[
    "stats",
    "fail_if",
    "report",
    "plot",
    "phases",
    "align",
    "delta",
    "estimate_lag",
    "pairing",
    "bootstrap",
    "confidence",
    "seed",
    "time_unit",
    "columns",
    "strict_time",
];

/// What it takes none of beside these where a model follows.
const REFUSED_BY_LIVE_MODEL: &[&str] =
    &["outfile", "start", "end", "object", "sampling", "tolerance", "t_offset"];

/// The help of `--live`, with the list it goes by.
fn live_help(what: &str, refused: &[&str], engines: &str) -> String {
    let options: Vec<String> =
        refused.iter().map(|field| format!("--{}", field.replace('_', "-"))).collect();
    let (last, others) = options.split_last().expect("some are refused");
    format!(
        "{what}, a table or an MCAP, still grows, or is \"-\" for standard input: figures as rows \
         come, until Ctrl-C, its end, or nothing has come for SECS. Takes no {} or {last}{engines}",
        others.join(", ")
    )
}

/// `headland compare`
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP.as_str())]
pub struct CompareArgs {
    /// The reference: a table, a recording or a trajectory
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// What is compared with it
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// How B is found for a moment of A: at the same nanosecond, the nearest, or on the way between
    /// two
    #[arg(long, value_name = "HOW", default_value = "nearest",
        value_parser = ["exact", "nearest", "interp"])]
    pub sampling: String,
    /// Both begin at zero: for logs of different clocks that start with the same moment
    #[arg(long)]
    pub relative: bool,
    #[arg(long, value_name = "SECS", num_args = 0..=1, require_equals = true,
        value_parser = above_zero,
        conflicts_with_all = REFUSED_BY_LIVE, help = live_help("B", REFUSED_BY_LIVE, ""))]
    pub live: Option<Option<SimDuration>>,
    #[command(flatten)]
    pub by: ComparisonArgs,
}

/// How two sides are compared, and what is made of it: what `compare` and `validate` share.
#[derive(Clone, Debug, Args)]
pub struct ComparisonArgs {
    /// The most a pair may be apart in time [default: half of B's middle interval; with --pairing
    /// evo 0.01]
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = not_negative)]
    pub tolerance: Option<SimDuration>,
    /// Whether a sample is used once, or as evo does it: the nearest of the longer side, also twice
    #[arg(long, value_name = "HOW", default_value = "one", value_parser = ["one", "evo"])]
    pub pairing: String,
    /// Added to the times of B
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = duration)]
    pub t_offset: Option<SimDuration>,
    /// Also show the statistics with the lag taken out; looks for lags up to SECS [default: 200
    /// intervals of A]
    #[arg(long, value_name = "SECS", num_args = 0..=1, require_equals = true,
        value_parser = not_negative)]
    pub estimate_lag: Option<Option<SimDuration>>,
    /// Only moments of A from here on, in seconds of its own clock
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment)]
    pub start: Option<SimTime>,
    /// Only moments of A up to here, in seconds of its own clock
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment)]
    pub end: Option<SimTime>,
    /// Statistics for each phase, too: a file with lines `START END NAME`, on A's clock
    #[arg(long, value_name = "FILE")]
    pub phases: Option<PathBuf>,
    /// Only these keys; `*` stands for anything
    #[arg(long, short, value_name = "GLOB")]
    pub key: Vec<String>,
    /// New names of keys on either side: a file with lines `OLD -> NEW`
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// Keys of A that B does not have are left out instead of being an error
    #[arg(long)]
    pub ignore_unknown: bool,
    /// Full turns of a joint count: it is a slider, or it counts its turns
    #[arg(long)]
    pub no_wrap: bool,
    /// Compare paths of poses as evo does: APE and RPE, after B was moved onto A in this way
    #[arg(long, value_name = "HOW", value_parser = ["none", "rigid", "scaled"])]
    pub align: Option<String>,
    /// Pairs in a step of the RPE
    #[arg(long, value_name = "N", default_value_t = 1, requires = "align",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub delta: u32,
    /// The name of the object a TUM, KITTI or EuRoC file describes [default: the one the other side
    /// has]
    #[arg(long)]
    pub object: Option<String>,
    /// Which of its two times a message has: that of its header, or when it was recorded
    #[arg(long, value_name = "WHICH", default_value = "header", value_parser = ["header", "log"])]
    pub stamp: String,
    /// The unit of the times of tables that are compared [default: what the header says, else s, or
    /// ns where the first time is beyond 1e14]
    #[arg(long, value_name = "UNIT", value_parser = PossibleValuesParser::new(TimeUnit::NAMES))]
    pub time_unit: Option<String>,
    /// Names of the columns of tables without a header, with commas between: time,elbow/position
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Times that repeat or go back are an error instead of being left out and counted
    #[arg(long)]
    pub strict_time: bool,
    /// What the table shows, with commas between
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = statistic_name())]
    pub stats: Vec<String>,
    /// Intervals of bias, MAE and RMSE from so many draws of blocks of neighbouring errors
    #[arg(long, value_name = "DRAWS", num_args = 0..=1, require_equals = true,
        default_missing_value = "1000",
        value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub bootstrap: Option<u32>,
    /// How often the truth should lie in an interval
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, requires = "bootstrap",
        value_parser = share)]
    pub confidence: f64,
    /// Where the chance of the draws comes from
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Fail (exit 1) where this holds: KEYS:STATISTIC>LIMIT, or >=, <, <=; may be given again
    #[arg(long, value_name = "LIMIT")]
    pub fail_if: Vec<String>,
    /// Write a report: .json, .csv, .md, or a self-contained page .html; may be given again
    #[arg(long, value_name = "FILE")]
    pub report: Vec<PathBuf>,
    /// Draw every key into this folder as SVG
    #[arg(long, value_name = "FOLDER")]
    pub plot: Option<PathBuf>,
    /// Threads; the answer is the same
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
}

/// How a model repeats what was measured: what `validate` and `tune` share.
#[derive(Clone, Debug, Args)]
pub struct RepeatArgs {
    /// The engine that moves the model; `headland engines` lists them [default: native]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    /// The longest step in seconds [default: the model's]
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = positive)]
    pub step: Option<f64>,
    /// Put the model back to what was measured every so many seconds
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = above_zero)]
    pub window: Option<SimDuration>,
    /// Commands hold until the next, or are on a line to it
    #[arg(long, value_name = "HOW", default_value = "zoh", value_parser = ["zoh", "linear"])]
    pub command_interp: String,
    /// How long after their stamps commands reach the motors [default: at once]
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = not_negative)]
    pub command_delay: Option<SimDuration>,
    /// Gains of joints whose model gives none
    #[arg(long, value_name = "KP,KD", allow_hyphen_values = true, value_parser = gains)]
    pub gains: Option<(f64, f64)>,
    /// Another number in the model: link/arm/inertial/mass=1.2; may be given again
    #[arg(long, value_name = "PATH=VALUE", value_parser = setting)]
    pub set: Vec<(String, f64)>,
    /// How the native engine goes from step to step: semi-implicit, rk4, adaptive or
    /// adaptive:TOLERANCE
    #[arg(long, value_name = "NAME", value_parser = integrator)]
    pub integrator: Option<Integrator>,
    /// How things that touch push each other in the native engine: soft, soft-coulomb or hard
    #[arg(long, value_name = "LAW", value_parser = law)]
    pub law: Option<ContactLaw>,
    #[command(flatten)]
    pub world_args: WorldArgs,
}

/// `headland validate`
#[derive(Debug, Args)]
#[command(after_help = VALIDATE_HELP.as_str())]
#[command(mut_arg("tolerance", |arg| arg.help(VALIDATE_TOLERANCE)))]
pub struct ValidateArgs {
    /// The model: SDF, URDF or MJCF
    pub model: PathBuf,
    /// What was measured: a table with scoped keys, a recording, a bag or a trajectory
    pub table: PathBuf,
    /// What joints were told: a table of JOINT/position, JOINT/velocity or JOINT/effort
    #[arg(long, short, value_name = "FILE")]
    pub command: Option<PathBuf>,
    /// Save the simulated signals as a table that `compare` reads, "-" for stdout
    #[arg(long, short = 'f', value_name = "FILE")]
    pub outfile: Option<PathBuf>,
    /// The state to start from: a table of one row, which needs no time, or SDF with a <state>
    /// [default: the first rows of TABLE]
    #[arg(long, short, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// How the model meets a sample: by shortening steps, at the nearest step, or on the way
    /// between two [default: exact, or interp where the engine cannot shorten a step]
    #[arg(long, value_name = "HOW", value_parser = ["exact", "nearest", "interp"])]
    pub sampling: Option<String>,
    #[arg(long, value_name = "SECS", num_args = 0..=1, require_equals = true,
        value_parser = above_zero,
        conflicts_with_all = [REFUSED_BY_LIVE, REFUSED_BY_LIVE_MODEL].concat(),
        help = live_help("TABLE", &[REFUSED_BY_LIVE, REFUSED_BY_LIVE_MODEL].concat(),
            ", and no engine that keeps its own step, such as mujoco and programs at the other \
            end of a pipe"))]
    pub live: Option<Option<SimDuration>>,
    /// Leave the engine at its own defaults: what somebody gets who only loads the model
    #[arg(long)]
    pub raw: bool,
    /// Wall-clock seconds an engine may take to load, or for one step, before it is given up
    #[arg(long, value_name = "SECS", default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub patience: u64,
    #[command(flatten)]
    pub how: RepeatArgs,
    #[command(flatten)]
    pub by: ComparisonArgs,
}

/// `headland tune`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    headland tune pendulum.sdf swing.csv --param 'joint/hinge/dynamics/damping=0..1' -o \
    tuned.sdf\n  \
    headland tune arm.sdf day1.csv day2.csv --hold day3.csv -c moves.csv --param \
    'link/arm/inertial/mass=0.5..3'\n  \
    headland tune arm.sdf moves.csv --inertia forearm=3 --report tuned.html\n  \
    headland tune arm.sdf --list\n\n\
    A path names a number: link/NAME/inertial/mass, .../inertial/com/x, \
    .../inertial/inertia/trace; joint/NAME/dynamics/damping (friction, spring_stiffness, \
    spring_reference, armature), joint/NAME/limit/effort; surface/LINK/mu, restitution; \
    actuator/NAME/kp; physics/step; and, beside the model, command/delay, gains/kp and gains/kd. A \
    star is anything: surface/*/mu* is one value for all, in both directions of friction. \
    `model/NAME/` before it says whose.\n\n\
    Every sample counts; each key is divided by its standard deviation. Errors before and after \
    are both from the start that fits best. The same files, options and seed give the same \
    numbers, on any number of threads.\n\n\
    Exit codes: 2 bad usage or input · 3 not converged, interrupted, too few samples to tell, \
    words among the numbers of a table, or an answer that is not to be trusted: warnings \
    worse-than-given, at-bound, not-seen, rough-error, waves-left, something-missing, \
    no-better-than-mean, start-assumed and starts-unsure · 4 an engine broke · 0 done.")]
pub struct TuneArgs {
    /// The model: SDF, URDF or MJCF
    pub model: PathBuf,
    /// What was measured: tables with scoped keys, recordings or bags
    #[arg(required_unless_present = "list", value_name = "TABLE")]
    pub tables: Vec<PathBuf>,
    /// A number to find, and between which values; may be given again
    #[arg(long, short, value_name = "PATH=LOW..HIGH", allow_hyphen_values = true,
        value_parser = range)]
    pub param: Vec<(String, f64, f64)>,
    /// All of a link's mass, centre and inertia: mass and its spread along each axis up to FACTOR
    /// times more or less, the rest by as much of the link's extent; may be given again
    #[arg(long, value_name = "LINK=FACTOR", value_parser = link_factor)]
    pub inertia: Vec<(String, f64)>,
    /// List every number that has a name, and end
    #[arg(long)]
    pub list: bool,
    /// What joints were told: once for all tables, or once for each
    #[arg(long, short, value_name = "FILE")]
    pub command: Vec<PathBuf>,
    /// The state tables start from, a table of one row, which needs no time, or SDF with a <state>:
    /// once for all, or once for each [default: found, near the first rows]
    #[arg(long, short, value_name = "FILE")]
    pub state: Vec<PathBuf>,
    /// A table that is not fitted, only looked at, from where it was measured to start; may be
    /// given again
    #[arg(long, value_name = "TABLE")]
    pub hold: Vec<PathBuf>,
    /// The share of every table, from its start, that is fitted; the rest is held out
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = whole_share)]
    pub train: f64,
    /// Start from what the first rows say, noise and all, and do not look for a better start
    #[arg(long)]
    pub start_as_measured: bool,
    /// By slopes, quick; or without, for errors that jump
    #[arg(long, value_name = "METHOD", default_value = "lm", value_parser = ["lm", "cma"])]
    pub method: String,
    /// Simulations of the search at most; those that look at its answer afterwards are not limited
    #[arg(long, value_name = "N", default_value_t = 20_000,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub most: u32,
    /// How often intervals are to hold the truth
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share)]
    pub confidence: f64,
    /// Write the search here after every round, and go on from it where it is there
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// The tuned model as SDF, "-" for stdout: MODEL itself with other numbers in it where it is
    /// SDF and they stand in it, else written anew without its comments
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// What changed, as .json, .md, .html or .txt; may be given again
    #[arg(long, value_name = "FILE")]
    pub report: Vec<PathBuf>,
    /// Only these keys; * is anything
    #[arg(long, value_name = "GLOB")]
    pub key: Vec<String>,
    /// New names of keys: a file with lines `OLD -> NEW`
    #[arg(long, value_name = "FILE")]
    pub map: Option<PathBuf>,
    /// Leave out keys that the model does not have
    #[arg(long)]
    pub ignore_unknown: bool,
    /// Only samples from this time on, in seconds of the table's own clock
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment)]
    pub start: Option<SimTime>,
    /// Only samples up to this time, in seconds of the table's own clock
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment)]
    pub end: Option<SimTime>,
    /// Where all chance of `--method cma` comes from
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Simulations side by side; the result is the same
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
    #[command(flatten)]
    pub how: RepeatArgs,
}

/// `joint/elbow/dynamics/damping=0..2`.
fn range(text: &str) -> Result<(String, f64, f64), String> {
    let help = "say PATH=LOW..HIGH: joint/elbow/dynamics/damping=0..2";
    let (path, bounds) = text.rsplit_once('=').ok_or(help)?;
    let (lower, upper) = bounds.split_once("..").ok_or(help)?;
    match (lower.trim().parse::<f64>(), upper.trim().parse::<f64>()) {
        (Ok(lower), Ok(upper)) if !path.trim().is_empty() => {
            Ok((path.trim().to_string(), lower, upper))
        }
        _ => Err(help.to_string()),
    }
}

fn whole_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x <= 1.0 => Ok(x),
        _ => Err("must be above 0 and at most 1".to_string()),
    }
}

/// `link/arm/inertial/mass=1.2`.
fn setting(text: &str) -> Result<(String, f64), String> {
    named_number(text, "say PATH=VALUE: link/arm/inertial/mass=1.2")
}

/// `forearm=3`.
fn link_factor(text: &str) -> Result<(String, f64), String> {
    named_number(text, "say LINK=FACTOR, for a link within a factor of what it has: forearm=3")
}

fn named_number(text: &str, help: &str) -> Result<(String, f64), String> {
    let (path, value) = text.rsplit_once('=').ok_or(help)?;
    match value.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && !path.trim().is_empty() => {
            Ok((path.trim().to_string(), value))
        }
        _ => Err(help.to_string()),
    }
}

fn above_zero(text: &str) -> Result<SimDuration, String> {
    let found = duration(text).map_err(|_| format!("`{text}` is not a number of seconds"))?;
    if found > SimDuration::ZERO { Ok(found) } else { Err("must be above zero".to_string()) }
}

fn duration(text: &str) -> Result<SimDuration, String> {
    moment(text).map(|moment| moment - SimTime::ZERO)
}

fn not_negative(text: &str) -> Result<SimDuration, String> {
    let found = duration(text).map_err(|_| format!("`{text}` is not a number of seconds"))?;
    if found < SimDuration::ZERO { Err("must not be below zero".to_string()) } else { Ok(found) }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("must be a number between 0 and 1".to_string()),
    }
}

/// What `headland render --draw` can draw, a line each.
static RENDER_HELP: LazyLock<String> = LazyLock::new(|| {
    let line = |name: &str, what: &str| format!("  {name:<13} {what}\n");
    let renderers: String = RENDERERS.iter().map(|(name, what, _)| line(name, what)).collect();
    let marks: String = KINDS.iter().map(|(name, what, _)| line(name, what)).collect();
    format!(
        "Examples:\n  headland render worlds/soccer-3v3.sdf\n  \
         headland render soccer.mcap --at-time 2.5 -o soccer.png\n  \
         headland render soccer.mcap --camera blue_striker::head_camera --at-time 2.5\n  \
         headland render kick.mcap --strip 6 --draw trajectories\n  \
         headland render stack.mcap --draw contacts,forces --eye 1,-2,0.8 --at 0,0,0.3\n  \
         headland render walk.mcap --every 0.04 -o walk.png    walk_0000.png, walk_0001.png, …\n\n\
         Where no camera and no eye is given, the view holds everything that moves. A recording is \
         shown at its end unless a moment is given. The same picture comes out on any number of \
         threads.\n\n\
         A camera shows what it takes in a run: colours (grey where its format is); depths in \
         grey, white at its near clip, darker with the logarithm of the distance up to its far \
         clip, black where nothing is seen, red where a depth dropped out; labels in a colour \
         each. Several pictures of one moment (stereo, rgbd) stand side by side.\n\n\
         Renderers:\n{renderers}\nWhat --draw draws over it:\n{marks}"
    )
});

fn renderer_name() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(RENDERERS.iter().map(|(name, _, _)| *name))
}

fn mark_kind() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(KINDS.iter().map(|(name, _, _)| *name)).map(|name| {
        let found = KINDS.iter().find(|(known, _, _)| *known == name);
        found.map(|(_, _, kind)| *kind).expect("a name of the list")
    })
}

/// `headland render`
#[derive(Debug, Args)]
#[command(after_help = RENDER_HELP.as_str())]
pub struct RenderArgs {
    /// A world (SDF, URDF, MJCF) or a recording
    #[arg(value_name = "WORLD|RECORDING")]
    pub source: PathBuf,
    /// The picture to write [default: the source's name with .png, here]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The world of a recording that does not bring its own
    #[arg(long, value_name = "WORLD")]
    pub world: Option<PathBuf>,
    /// Look through this camera of the world, and its lens; a stereo sensor shows both its pictures
    #[arg(long, value_name = "NAME", conflicts_with_all = ["eye", "at", "size", "fov"])]
    pub camera: Option<String>,
    /// Look from here, in metres
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point)]
    pub eye: Option<Vec3>,
    /// Look at this point, in metres
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point)]
    pub at: Option<Vec3>,
    /// Degrees between the left and the right border [default: 50]
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true, value_parser = fov)]
    pub fov: Option<f64>,
    /// Pixels of a picture [default: 960x540, in a strip 480x360]
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<(usize, usize)>,
    /// Show this moment, in seconds [default: the last]
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment,
        conflicts_with_all = ["every", "strip", "start", "end"])]
    pub at_time: Option<SimTime>,
    /// A sequence: a picture every so many seconds, numbered
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = positive,
        conflicts_with = "strip")]
    pub every: Option<f64>,
    /// So many moments side by side in one picture
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub strip: Option<u16>,
    /// A sequence or strip from this moment on, in seconds
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment)]
    pub start: Option<SimTime>,
    /// A sequence or strip up to this moment, in seconds
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, value_parser = moment)]
    pub end: Option<SimTime>,
    /// How it is drawn; that of the camera, or raster, where nobody says
    #[arg(long, value_name = "NAME", value_parser = renderer_name())]
    pub renderer: Option<String>,
    /// What is drawn over it, several with commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = mark_kind())]
    pub draw: Vec<Kind>,
    /// Threads; the picture is the same
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: u16,
    #[command(flatten)]
    pub world_args: WorldArgs,
}

/// `headland fit-noise`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  headland fit-noise captures.csv --unit mm\n  \
    headland fit-noise captures.csv --by part --clusters 3\n  \
    headland fit-noise errors.csv --columns x=err_x,yaw=err_yaw --truth zero\n\n\
    A row is one measurement. Columns x, y, z, roll, pitch and yaw are used where they are there; \
    a unit may stand in the header: `x [mm]`, `yaw [deg]`. An empty cell, or a 0 in a column \
    `found`, is a measurement that did not come; a column `score` is how sure the detector was.\n\n\
    The file that is written is for a sensor of type `headland:detector`: <file>captures.noise.xml\
    </file>.")]
pub struct FitNoiseArgs {
    /// The table: CSV
    pub table: PathBuf,
    /// Columns to use: NAME, or AXIS=NAME [default: those called x, y, z, roll, pitch, yaw]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Unit of lengths whose column says none
    #[arg(long, default_value = "m", value_parser = ["m", "cm", "mm"])]
    pub unit: String,
    /// Unit of angles whose column says none
    #[arg(long, default_value = "rad", value_parser = ["rad", "deg"])]
    pub angle_unit: String,
    /// What deviations are from: `mean` of the measurements, `zero`, or numbers in the units of the
    /// columns
    #[arg(long, default_value = "mean", value_name = "TRUTH", allow_hyphen_values = true)]
    pub truth: String,
    /// The column that tells objects apart; each has a mean of its own
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,
    /// So many clusters [default: the best number by BIC]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=20))]
    pub clusters: Option<u8>,
    /// The most clusters to try
    #[arg(long, value_name = "N", default_value_t = 6,
        value_parser = clap::value_parser!(u8).range(1..=20))]
    pub most: u8,
    /// Where all chance comes from
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// The file for a detector [default: the table's name with .noise.xml, here]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The picture of points and clusters [default: the table's name with .noise.svg, here]
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
}

/// `headland engines`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  headland engines\n  \
    headland engines --report-card --html card.html\n  \
    headland engines --report-card --engines rapier,mujoco --probes ball,slider\n\n\
    The report card runs probe worlds whose outcome is known in closed form on every engine that \
    was found, at several steps. It measures; it does not pass or fail: its exit code is 0 unless \
    an engine broke, is there and does not work, or was named and is not there (4), or it was \
    interrupted or a body went non-finite (3). An engine that cannot have a world has not broken.")]
pub struct EnginesArgs {
    /// Grade every engine found on probe worlds, against closed forms
    #[arg(long)]
    pub report_card: bool,
    /// Only these engines
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        requires = "report_card",
        default_value = "all"
    )]
    pub engines: Vec<String>,
    /// Only these probes [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "report_card")]
    pub probes: Vec<String>,
    /// Leave engines at their own defaults
    #[arg(long, requires = "report_card")]
    pub raw: bool,
    /// Wall-clock seconds an engine may take to load, or for one step, before it is given up
    #[arg(long, value_name = "SECS", default_value_t = 20, requires = "report_card",
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub patience: u64,
    /// Write one self-contained page: the table, curves over one another, state bands; `-` is
    /// standard output
    #[arg(long, value_name = "FILE", requires = "report_card")]
    pub html: Option<PathBuf>,
    /// Keep the recordings in this folder
    #[arg(long, value_name = "FOLDER", requires = "report_card")]
    pub keep: Option<PathBuf>,
}

/// `headland demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// The recording to write
    #[arg(long, short, default_value = "demo.mcap", value_name = "FILE")]
    pub output: PathBuf,
}

/// `headland completions`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  headland completions bash > /etc/bash_completion.d/headland")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `headland man`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  headland man | man -l -\n  headland man --dir share/man/man1")]
pub struct ManArgs {
    /// Write headland.1 and one page per command into this folder
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        Ok(_) => Err("must be a finite number above zero".to_string()),
        Err(_) => Err(format!("`{text}` is not a number")),
    }
}

/// `1,-2.5,0`.
fn point(text: &str) -> Result<Vec3, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([x, y, z]) if [x, y, z].iter().all(|x| x.abs() <= 1e6) => Ok(Vec3::new(*x, *y, *z)),
        _ => {
            Err("write three numbers, up to a million metres, with commas between: 1,-2.5,0".into())
        }
    }
}

fn fov(text: &str) -> Result<f64, String> {
    let degrees = positive(text)?;
    if (0.01..=170.0).contains(&degrees) { Ok(degrees) } else { Err("from 0.01 to 170".into()) }
}

/// `640x480`.
fn size(text: &str) -> Result<(usize, usize), String> {
    let (width, height) = text.split_once(['x', '×']).ok_or("write it as 640x480")?;
    let side = |text: &str| text.trim().parse::<usize>().map_err(|_| "write it as 640x480");
    let (width, height) = (side(width)?, side(height)?);
    if [width, height].iter().any(|n| *n == 0 || *n > MOST_PIXELS_A_SIDE)
        || width * height > MOST_PIXELS
    {
        return Err(format!(
            "from 1x1 up to {MOST_PIXELS_A_SIDE} a side and {MOST_PIXELS} pixels in all"
        ));
    }
    Ok((width, height))
}

/// A moment, to the nanosecond.
fn moment(text: &str) -> Result<SimTime, String> {
    parse_seconds(text).ok_or_else(|| format!("`{text}` is not a moment in seconds"))
}

fn gains(text: &str) -> Result<(f64, f64), String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([kp, kd]) if *kp >= 0.0 && *kd >= 0.0 && kp.is_finite() && kd.is_finite() => {
            Ok((*kp, *kd))
        }
        _ => Err("write two numbers, not below zero, with a comma between: 100,10".to_string()),
    }
}

/// `striker=com`, or `all=com`.
fn detail(text: &str) -> Result<(String, Detail), String> {
    let (name, level) = text.rsplit_once('=').ok_or("write it as NAME=LEVEL: striker=com")?;
    Ok((name.to_string(), one_of(level, Detail::ALL)?))
}

fn law(text: &str) -> Result<ContactLaw, String> {
    one_of(text, ContactLaw::ALL)
}

/// `rk4`, or `adaptive:1e-9`.
fn integrator(text: &str) -> Result<Integrator, String> {
    let Some((name, tolerance)) = text.split_once(':') else {
        return one_of(text, Integrator::ALL);
    };
    match one_of(name, Integrator::ALL)? {
        Integrator::Adaptive { .. } => {
            Ok(Integrator::Adaptive { tolerance: Some(positive(tolerance)?) })
        }
        fixed => Err(format!(
            "`{}` takes the steps it is given; only `adaptive` has a tolerance",
            fixed.word()
        )),
    }
}

/// What [`integrator`] understands as the same.
pub fn integrator_in_words(integrator: Integrator) -> String {
    match integrator.tolerance() {
        Some(tolerance) => format!("{}:{tolerance:?}", integrator.word()),
        None => integrator.word().to_string(),
    }
}

/// One of a list of words, or the nearest to what was meant.
fn one_of<T: Copy>(word: &str, all: &[(&'static str, T)]) -> Result<T, String> {
    let found = all.iter().find(|(known, _)| *known == word).map(|(_, one)| *one);
    found.ok_or_else(|| {
        let near = names::nearest(word, all.iter().map(|(known, _)| *known));
        let known: Vec<_> = all.iter().map(|(known, _)| format!("`{known}`")).collect();
        match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known here: {}", known.join(", ")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn how(words: &[OsString]) -> HowArgs {
        let line = ["headland", "run", "ball.sdf"].iter().map(OsString::from);
        let cli = Cli::try_parse_from(line.chain(words.iter().cloned())).expect("a command line");
        let Command::Run(args) = cli.command else { panic!("a run") };
        args.how
    }

    #[test]
    fn words_for_a_run_apart_say_the_same() {
        assert_eq!(how(&[]), HowArgs::default());
        let every = HowArgs {
            duration: Some(0.1 + 0.2),
            iterations: None,
            until: Some("ball/pose/z < 0.6".into()),
            step: Some(1.0 / 60.0),
            record_rate: Some(50.0),
            raw: true,
            no_controllers: true,
            sensors: Choice::Some(vec!["/a/*".into(), "b::imu".into()]),
            patience: 7,
            seed: u64::MAX,
            threads: 1,
            command: Some("moves.csv".into()),
            gains: Some((100.0, 0.3)),
            watchdog: Some(0.5),
            detail: vec![("all".into(), Detail::ComFixed), ("a=b::c".into(), Detail::Vehicle)],
            law: Some(ContactLaw::SoftCoulomb),
            integrator: Some(Integrator::Adaptive { tolerance: Some(1e-9) }),
            world_args: WorldArgs { lenient: true, derive_inertia: Some(1000.0) },
        };
        assert_eq!(how(&every.to_args()), every);
        let steps = HowArgs { iterations: Some(12), ..HowArgs::default() };
        assert_eq!(how(&steps.to_args()), steps);
    }
}
