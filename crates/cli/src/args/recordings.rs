//! `headland check`, `info`, `cat`, `export` and `import`: what is in files, and in which form.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use headland_base::SimTime;
use headland_record::{FORMATS, Format};

use super::WorldArgs;
use super::values::{moment, positive};

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
