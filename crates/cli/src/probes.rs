//! The probe worlds: what engines are graded on.
//!
//! ```text
//! PROBES ─ write_to ─► world, commands ─ a run ─► Recording ─┬─ tests ─► verdicts
//!                                                            └─ forms ─► errors
//! ```
//!
//! Worlds, commands and tests are those of `worlds/`, embedded, so that a program without its
//! source has them too. Every test is written so that `green` is what physics says.
//!
//! Deliberately absent: engines. A probe is run on whichever there is.

use std::path::{Path, PathBuf};

use headland_base::{Diagnostic, Source};
use headland_judge::ClosedForm;
use headland_judge::closed_form::about;

use crate::context::write_file;
use crate::test_file::TestFile;

/// A file of `worlds/`, embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name in `worlds/` or `worlds/tests/`.
    pub name: &'static str,
    /// Its content.
    pub text: &'static str,
}

/// One world, run in one way.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Unique: the world's name, with the commands' where they matter.
    pub name: &'static str,
    /// In one line.
    pub what: &'static str,
    /// The world.
    pub world: File,
    /// The table of commands that is played.
    pub commands: Option<File>,
    /// How long a run lasts \[s\].
    pub duration_secs: f64,
    /// Steps worth trying, the finest first \[s\].
    pub steps_secs: &'static [f64],
    /// Samples per simulated second; every step where nothing is said.
    pub record_rate: Option<f64>,
    /// What must happen.
    pub tests: &'static [File],
}

/// A probe's files on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The world.
    pub world: PathBuf,
    /// The table of commands.
    pub commands: Option<PathBuf>,
}

/// A millisecond, which most robots use; four; and the 60 Hz that games and some engines were
/// made for.
const STEPS_SECS: &[f64] = &[0.001, 0.004, 1.0 / 60.0];

macro_rules! shipped {
    ($name:literal) => {
        File { name: $name, text: include_str!(concat!("../../../worlds/", $name)) }
    };
}

macro_rules! test {
    ($name:literal) => {
        File { name: $name, text: include_str!(concat!("../../../worlds/tests/", $name)) }
    };
}

const LIGHT: Probe = Probe {
    name: "gripper_light_3n",
    what: "a gripper lifts a ball of 0.1 g with 3 N",
    world: shipped!("gripper_light.sdf"),
    commands: Some(shipped!("gripper_light_3n.csv")),
    duration_secs: 4.0,
    steps_secs: STEPS_SECS,
    record_rate: None,
    tests: &[test!("holds.lrp")],
};

/// Every probe, in the order a report card lists them.
pub const PROBES: &[Probe] = &[
    Probe {
        name: "ball",
        what: "a ball bounces with a restitution of 0.7",
        world: shipped!("ball.sdf"),
        commands: None,
        duration_secs: 5.0,
        tests: &[test!("ball.lrp"), test!("lower.lrp"), test!("ratio.lrp")],
        ..LIGHT
    },
    Probe {
        name: "cylinders",
        what: "on a slope one cylinder slides, one sticks, one tips",
        world: shipped!("cylinders.sdf"),
        commands: None,
        duration_secs: 3.0,
        tests: &[test!("slides.lrp"), test!("sticks.lrp"), test!("tips.lrp")],
        ..LIGHT
    },
    LIGHT,
    Probe {
        name: "gripper_light_4n",
        what: "a gripper lifts a ball of 0.1 g with 4 N",
        commands: Some(shipped!("gripper_light_4n.csv")),
        ..LIGHT
    },
    Probe {
        name: "gripper_heavy_3n",
        what: "a gripper cannot lift a ball of 0.65 kg with 3 N",
        world: shipped!("gripper_heavy.sdf"),
        commands: Some(shipped!("gripper_heavy_3n.csv")),
        tests: &[test!("slips_out.lrp")],
        ..LIGHT
    },
    Probe {
        name: "gripper_heavy_4n",
        what: "a gripper lifts a ball of 0.65 kg with 4 N",
        world: shipped!("gripper_heavy.sdf"),
        commands: Some(shipped!("gripper_heavy_4n.csv")),
        ..LIGHT
    },
    Probe {
        name: "stack",
        what: "twenty boxes stand on top of each other",
        world: shipped!("stack.sdf"),
        commands: None,
        duration_secs: 3.0,
        // Twenty boxes with eighty contacts, which hardly move.
        record_rate: Some(50.0),
        tests: &[test!("stands.lrp")],
        ..LIGHT
    },
    Probe {
        name: "stack_direct",
        what: "the same stack, asking ODE for its direct solver",
        world: shipped!("stack_direct.sdf"),
        commands: None,
        duration_secs: 3.0,
        steps_secs: &[0.001],
        record_rate: Some(50.0),
        tests: &[test!("stands.lrp")],
    },
    Probe {
        name: "free_box_simple",
        what: "a box flies and turns about one axis, without gravity",
        world: shipped!("free_box_simple.sdf"),
        commands: None,
        duration_secs: 10.0,
        tests: &[test!("flies_straight.lrp")],
        ..LIGHT
    },
    Probe {
        name: "free_box_complex",
        what: "a box flies and tumbles",
        world: shipped!("free_box_complex.sdf"),
        commands: None,
        duration_secs: 10.0,
        tests: &[test!("tumbles.lrp")],
        ..LIGHT
    },
    Probe {
        name: "pendulum",
        what: "a pendulum swings",
        world: shipped!("pendulum.sdf"),
        commands: None,
        duration_secs: 10.0,
        tests: &[test!("swings.lrp")],
        ..LIGHT
    },
    Probe {
        name: "double_pendulum",
        what: "a double pendulum swings",
        world: shipped!("double_pendulum.sdf"),
        commands: None,
        duration_secs: 5.0,
        tests: &[test!("keeps_energy.lrp")],
        ..LIGHT
    },
    Probe {
        name: "rolling",
        what: "a ball rolls down a slope, another slides until it rolls",
        world: shipped!("rolling.sdf"),
        commands: None,
        duration_secs: 2.0,
        tests: &[test!("rolls.lrp"), test!("slides_then_rolls.lrp")],
        ..LIGHT
    },
    Probe {
        name: "cradle",
        what: "Newton's cradle passes a push on",
        world: shipped!("cradle.sdf"),
        commands: None,
        duration_secs: 2.0,
        tests: &[test!("passes_it_on.lrp")],
        ..LIGHT
    },
    Probe {
        name: "slider",
        what: "a cart on a rail with dry friction stops",
        world: shipped!("slider.sdf"),
        commands: None,
        duration_secs: 3.0,
        tests: &[test!("stops.lrp")],
        ..LIGHT
    },
    Probe {
        name: "four_bar",
        what: "a crank drives a rocker through a coupler, in a closed loop",
        world: shipped!("four_bar.sdf"),
        commands: None,
        duration_secs: 5.0,
        tests: &[test!("stays_closed.lrp")],
        ..LIGHT
    },
];

impl Probe {
    /// The world's own name, as recordings have it.
    pub fn world_name(&self) -> &'static str {
        self.world.name.trim_end_matches(".sdf")
    }

    /// What is known of it beforehand.
    pub fn forms(&self) -> impl Iterator<Item = &'static ClosedForm> {
        about(self.world_name())
    }

    /// Its tests, as those of a file.
    pub fn test_files(&self) -> Vec<TestFile> {
        let read = |file: &File| {
            TestFile::of_source(&Source::new(file.name, file.text), Path::new(file.name))
        };
        self.tests.iter().map(read).collect()
    }

    /// Writes its world and its commands into a folder, where runs find them.
    pub fn write_to(&self, folder: &Path) -> Result<Written, Vec<Diagnostic>> {
        let write = |file: File| {
            let path = folder.join(file.name);
            write_file(&path, file.text).map(|()| path)
        };
        let commands = self.commands.map(write).transpose()?;
        Ok(Written { world: write(self.world)?, commands })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser as _;
    use headland_judge::{CLOSED_FORMS, Measured};
    use headland_record::{LoadOptions, Reader, Recording, load};

    use super::*;
    use crate::args::{Cli, Command};
    use crate::commands;
    use crate::context::{Context, Outcome};

    /// Rapier's known faults: fingers of 0.5 kg close through a ball of 0.1 g.
    const KNOWN: &[(&str, &str)] = &[
        ("gripper_light_3n", "gripper_gap"),
        ("gripper_light_3n", "gripper_gap_end"),
        ("gripper_light_4n", "gripper_gap"),
        ("gripper_light_4n", "gripper_gap_end"),
        ("gripper_light_4n", "gripper_height"),
    ];

    /// A run as the command line makes it.
    fn run(probe: &Probe, step_secs: f64) -> Recording {
        let folder = tempfile::tempdir().expect("a folder");
        let (files, output) =
            (probe.write_to(folder.path()).expect("written"), folder.path().join("probe.mcap"));
        let mut line = vec!["headland".to_string(), "run".to_string(), "--quiet".to_string()];
        let mut say = |word: &str, value: String| line.extend([word.to_string(), value]);
        say("--engine", "rapier".to_string());
        say("--duration", probe.duration_secs.to_string());
        say("--step", step_secs.to_string());
        say("--output", output.display().to_string());
        probe.record_rate.iter().for_each(|rate| say("--record-rate", rate.to_string()));
        files.commands.iter().for_each(|path| say("--command", path.display().to_string()));
        line.push(files.world.display().to_string());
        let cli = Cli::try_parse_from(line).expect("a command");
        let Command::Run(args) = &cli.command else { panic!("a run") };
        let ended = commands::run::run(&Context::new(&cli.global), args);
        assert_eq!(ended, Ok(Outcome::Passed), "{}", probe.name);
        let reader = Reader::open(&output).expect("a file");
        let (recording, findings) = load(reader, &LoadOptions::default());
        assert!(!findings.has_errors());
        recording
    }

    fn measured(probe: &Probe, step_secs: f64) -> Vec<(&'static ClosedForm, Measured)> {
        let recording = run(probe, step_secs);
        let measure = |form: &'static ClosedForm| {
            let found = form.measure(&recording);
            (form, found.unwrap_or_else(|why| panic!("{} on {}: {why}", form.name, probe.name)))
        };
        probe.forms().map(measure).collect()
    }

    /// `cargo test -p headland probes -- --nocapture` prints what rapier makes of every probe.
    #[test]
    fn rapier_is_as_right_as_usual_at_a_millisecond() {
        let mut wrong = Vec::new();
        for probe in PROBES {
            for (form, found) in measured(probe, 0.001) {
                let is_known = KNOWN.contains(&(probe.name, form.name));
                let Measured { expected, measured, error } = found;
                println!(
                    "{:<18} {:<24} expected {expected:.6} measured {measured:.6} error {error:.3e} {}",
                    probe.name, form.name, form.unit
                );
                if form.is_usual(&found) == is_known {
                    wrong.push(format!("{} {}: {found:?}", probe.name, form.name));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// What the coarser steps give is a finding; that they can be measured is not.
    #[test]
    fn every_step_can_be_measured() {
        for probe in PROBES {
            for step in &probe.steps_secs[1..] {
                for (form, found) in measured(probe, *step) {
                    println!(
                        "{:<18} {step:.4} {:<24} error {:.3e} {}",
                        probe.name, form.name, found.error, form.unit
                    );
                }
            }
        }
    }

    #[test]
    fn the_table_is_whole() {
        let names: BTreeSet<&str> = PROBES.iter().map(|probe| probe.name).collect();
        assert_eq!(names.len(), PROBES.len());
        let graded: BTreeSet<&str> = PROBES.iter().map(Probe::world_name).collect();
        for form in CLOSED_FORMS.iter().copied().flatten() {
            assert!(form.worlds.iter().all(|world| graded.contains(world)), "{}", form.name);
        }
        let forms: Vec<&str> = CLOSED_FORMS.iter().copied().flatten().map(|f| f.name).collect();
        assert_eq!(forms.iter().collect::<BTreeSet<_>>().len(), forms.len());
        for probe in PROBES {
            assert!(probe.forms().count() >= 2, "{}", probe.name);
            assert!(!probe.tests.is_empty() && !probe.what.is_empty(), "{}", probe.name);
            for test in probe.test_files() {
                assert!(test.lint().is_empty(), "{}: {:?}", test.name, test.lint());
            }
        }
    }
}
