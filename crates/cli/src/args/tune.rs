//! `headland tune`.

use std::path::PathBuf;

use clap::Args;
use headland_base::SimTime;

use super::RepeatArgs;
use super::values::{moment, named_number, share};

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

/// `forearm=3`.
fn link_factor(text: &str) -> Result<(String, f64), String> {
    named_number(text, "say LINK=FACTOR, for a link within a factor of what it has: forearm=3")
}
