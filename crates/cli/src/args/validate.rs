//! `headland validate`, and how an experiment is repeated.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::Args;
use headland_base::SimDuration;
use headland_validate::source::{CONTACT_COMPONENTS, JOINT_PROPERTIES, POSE_COMPONENTS, VECTORS};
use headland_world::{ContactLaw, Integrator};

use super::WorldArgs;
use super::compare::{ComparisonArgs, REFUSED_BY_LIVE, live_help};
use super::values::{above_zero, gains, integrator, law, not_negative, positive, setting};

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

/// What it takes none of beside these where a model follows.
const REFUSED_BY_LIVE_MODEL: &[&str] =
    &["outfile", "start", "end", "object", "sampling", "tolerance", "t_offset"];

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
