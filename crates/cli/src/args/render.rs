//! `headland render`.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use headland_base::{SimTime, Vec3};
use headland_sense::camera::{MOST_PIXELS, MOST_PIXELS_A_SIDE};
use headland_sense::overlay::{KINDS, Kind};
use headland_sense::render::RENDERERS;

use super::WorldArgs;
use super::values::{moment, positive};

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
         Where no camera and no eye is given, the view holds everything that moves, and the \
         trajectories that are drawn. A recording is shown at its end unless a moment is given. \
         The same picture comes out on any number of threads.\n\n\
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
