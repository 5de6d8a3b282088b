//! The command line, as data: words go in, one value per command comes out.
//!
//! Help texts teach: each command ends with examples. Help, completions and manual pages are all
//! made from here. Deliberately absent: what a command does; that is `commands`.
//!
//! A file holds a command, or a few small ones; `values` what their options have in common.

mod compare;
mod engines;
mod fit_noise;
mod recordings;
mod render;
mod run;
mod shell;
mod test;
mod tune;
mod validate;
mod values;

use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand};
use headland_sim::Housing;

pub use compare::{CompareArgs, ComparisonArgs};
pub use engines::{DemoArgs, EnginesArgs};
pub use fit_noise::FitNoiseArgs;
pub use recordings::{CatArgs, CheckArgs, EXPORTS, ExportArgs, ImportArgs, InfoArgs};
pub use render::RenderArgs;
pub use run::{HowArgs, RunArgs};
pub use shell::{CompletionsArgs, ManArgs};
pub use test::{ACTION_ERRORS, TestArgs};
pub use tune::TuneArgs;
pub use validate::{RepeatArgs, ValidateArgs};
pub use values::integrator_in_words;

use values::positive;

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
