//! `headland run`, and how a world is moved.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use headland_world::{ContactLaw, Detail, Integrator};

use super::WorldArgs;
use super::values::{detail, gains, integrator, integrator_in_words, law, positive};
use crate::sensors::Choice;

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

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

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
