//! `headland compare`, and how two sides are compared.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use headland_base::{SimDuration, SimTime};
use headland_judge::compare::{KEY_STATISTICS, STATISTICS, statistic_names};
use headland_record::TimeUnit;

use super::values::{above_zero, duration, moment, not_negative, share};

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

fn statistic_name() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(statistic_names().collect::<Vec<_>>())
}

/// What `--live` takes none of, by the names of fields: all that needs every row at once.
pub(super) const REFUSED_BY_LIVE: &[&str] = &[
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

/// The help of `--live`, with the list it goes by.
pub(super) fn live_help(what: &str, refused: &[&str], engines: &str) -> String {
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
