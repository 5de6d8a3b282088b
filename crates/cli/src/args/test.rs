//! `headland test`.

use std::path::PathBuf;

use clap::Args;
use headland_base::SimTime;

use super::HowArgs;
use super::values::moment;

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
