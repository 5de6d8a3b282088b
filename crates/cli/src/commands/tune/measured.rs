//! What is fitted and what is held out: tables with their commands and states, of the keys that are
//! wanted.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use headland_base::names::suggestion;
use headland_base::{Diagnostic, Severity, glob};
use headland_judge::compare::Side;
use headland_record::Recording;
use headland_report::count;
use headland_sim::Model;
use headland_validate::tune::{Course, delay_of};
use headland_validate::{Experiment, known_signals};
use headland_world::parameter::Subject;

use crate::args::TuneArgs;
use crate::comparing::{key_map, refuse_reversed};
use crate::context::{Context, Outcome};
use crate::repeating::{clocks_apart, leave_out, read_measured, read_state, read_told};

/// Every table with its commands and its state, those that are held out last, and whether all of
/// them could be read.
pub(super) fn courses(
    context: &Context,
    args: &TuneArgs,
    subject: &Subject,
) -> Result<(Vec<Course>, Outcome), Vec<Diagnostic>> {
    let model = Model::compile(&Arc::new(subject.world.clone()))?;
    refuse_reversed(args.start, args.end)?;
    let tables: Vec<&PathBuf> = args.tables.iter().chain(&args.hold).collect();
    for (option, files) in [("--command", &args.command), ("--state", &args.state)] {
        if !(files.is_empty() || files.len() == 1 || files.len() == tables.len()) {
            let message = format!(
                "{option} is given {} and there are {}",
                count(files.len() as u64, "time"),
                count(tables.len() as u64, "table")
            );
            let help = "give it once for all, or once for each table, those of --hold last";
            return Err(vec![Diagnostic::error("bad-option", message).help(help)]);
        }
    }
    // What was fitted says nothing of how well a model does on what it has not seen.
    let whole = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    if let Some(both) =
        args.hold.iter().find(|hold| args.tables.iter().any(|t| whole(t) == whole(hold)))
    {
        return Err(vec![held_and_fitted(&format!("`{}` is", both.display()))]);
    }
    let of = |files: &[PathBuf], i: usize| files.get(i).or(files.first()).cloned();
    let (mut courses, mut patterns) = (Vec::<Course>::new(), Patterns::default());
    let mut outcome = Outcome::Passed;
    for (i, path) in tables.iter().enumerate() {
        let (recording, read) = read_measured(context, path)?;
        outcome = outcome.max(read);
        let mut experiment = measured(context, args, &recording, &model, &mut patterns)?;
        if let Some(file) = of(&args.command, i) {
            experiment.told = read_told(context, &file, &model)?;
            let told = clocks_apart(&file, &experiment, &model, delay_of(subject));
            context.show(told.as_slice());
        }
        if let Some(file) = of(&args.state, i) {
            experiment.known = read_state(context, &file, &model)?;
        }
        let name = path.display().to_string();
        context.show(&experiment.infinite_samples(&name));
        // Whatever is found would be as near to that sample as can be.
        let stray = experiment.stray_samples(&name).into_iter();
        let stray: Vec<Diagnostic> =
            stray.map(|fault| Diagnostic { severity: Severity::Error, ..fault }).collect();
        if !stray.is_empty() {
            return Err(stray);
        }
        let course =
            Course { name, experiment: Arc::new(experiment), is_held_out: i >= args.tables.len() };
        match courses.iter().find(|other| is_same(&course, other)) {
            Some(other) if other.is_held_out != course.is_held_out => {
                let both = format!("what `{}` and `{}` both say is", other.name, course.name);
                return Err(vec![held_and_fitted(&both)]);
            }
            Some(other) => context.show(&[given_twice(&course, other)]),
            None => courses.push(course),
        }
    }
    let lost = patterns.lost(&args.key);
    if !lost.is_empty() {
        return Err(lost);
    }
    let empty = courses.iter().filter(|course: &&Course| course.experiment.signals.is_empty());
    let empty: Vec<Diagnostic> = empty.map(nothing_left).collect();
    if empty.is_empty() { Ok((courses, outcome)) } else { Err(empty) }
}

fn measured(
    context: &Context,
    args: &TuneArgs,
    recording: &Recording,
    model: &Model,
    patterns: &mut Patterns,
) -> Result<Experiment, Vec<Diagnostic>> {
    let map = key_map(args.map.as_deref())?;
    let side = Side::new(recording, &map);
    let merged = side.merged();
    if !merged.is_empty() {
        return Err(merged);
    }
    let mut experiment = Experiment::of(&side, args.start, args.end);
    patterns.keep(&mut experiment, &args.key);
    let (known, unread) = known_signals(model, experiment);
    leave_out(context, unread, args.ignore_unknown)?;
    Ok(known)
}

/// Whether two tables say the same: noise that is counted twice looks like half the noise.
fn is_same(a: &Course, b: &Course) -> bool {
    a.experiment == b.experiment && !a.experiment.signals.is_empty()
}

fn held_and_fitted(which: &str) -> Diagnostic {
    Diagnostic::error("held-and-fitted", format!("{which} to be fitted and held out"))
        .help("leave it out of one of them; `--train 0.7` holds a part of each table out")
}

fn given_twice(course: &Course, other: &Course) -> Diagnostic {
    let message = format!("`{}` says what `{}` says, and is counted once", course.name, other.name);
    Diagnostic::warning("table-twice", message)
        .help("leave it out; only what was measured anew makes a number surer")
}

/// What to say of a table of which nothing is to be fitted.
fn nothing_left(course: &Course) -> Diagnostic {
    let message = format!("`{}` has no sample of what is wanted", course.name);
    Diagnostic::error("no-samples", message)
        .help("leave the table out; or `--key`, `--start` and `--end` leave nothing of it")
}

/// What each pattern is asked of: all tables together, since one may have what another has not.
#[derive(Default)]
struct Patterns {
    /// Those that a key of some table fits.
    fitting: BTreeSet<String>,
    /// The keys of all tables.
    keys: BTreeSet<String>,
}

impl Patterns {
    /// Leaves the signals that patterns name; all of them where there is no pattern.
    fn keep(&mut self, experiment: &mut Experiment, patterns: &[String]) {
        let signals = &mut experiment.signals;
        self.keys.extend(signals.iter().map(|signal| signal.key.clone()));
        let fits = |pattern: &String| signals.iter().any(|one| glob::matches(pattern, &one.key));
        self.fitting.extend(patterns.iter().filter(|pattern| fits(pattern)).cloned());
        let is_kept = |key: &str| patterns.iter().any(|pattern| glob::matches(pattern, key));
        signals.retain(|signal| patterns.is_empty() || is_kept(&signal.key));
    }

    /// Every pattern that fits nothing anywhere.
    fn lost(&self, patterns: &[String]) -> Vec<Diagnostic> {
        let lost = |pattern: &String| {
            Diagnostic::error("unknown-key", format!("no key of a table fits `{pattern:.120}`"))
                .help_maybe(suggestion(pattern, self.keys.iter().map(String::as_str)))
        };
        let is_lost = |pattern: &&String| !self.fitting.contains(*pattern);
        patterns.iter().filter(is_lost).map(lost).collect()
    }
}
