//! `headland fit-noise`.

use std::path::PathBuf;

use clap::Args;

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
