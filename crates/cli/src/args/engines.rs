//! `headland engines`, and `demo`, which shows one.

use std::path::PathBuf;

use clap::Args;

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
