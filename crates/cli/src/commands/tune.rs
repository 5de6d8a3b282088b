//! `headland tune`: the numbers of a model that make it do what was measured.
//!
//! Reads the model and the tables, has `validate` search, and writes the tuned model and what
//! `report` makes of it. Ctrl-C ends the search within a simulation, with what it has found.

mod measured;
mod outcome;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use headland_base::Diagnostic;
use headland_report::{count, tuned as tuned_text, tuned_json};
use headland_sim::{EngineEntry, Housing};
use headland_validate::fit::crew::with_crew;
use headland_validate::tune::{Method, Plan, Saved, Tuned, Tuning, Wanted, curves, search, tuned};
use headland_world::parameter::{Parameter, Subject};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::TuneArgs;
use crate::comparing::text;
use crate::context::{Context, Ended, Outcome, is_stdout, write_file};
use crate::prepare::NATIVE;
use crate::repeating::{read_subject, replay_options, said_twice, without_effect};
use crate::signals::interrupted;
use crate::watchdog::Watchdog;
use measured::courses;
use outcome::{Form, listed, outputs, report, write_all};

/// How long a step of an engine that runs inside the process, and is not ours, may take.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn run(context: &Context, args: &TuneArgs) -> Ended {
    let (subject, _) = read_subject(context, &args.model, &args.how)?;
    if args.list {
        context.print(&listed(context, &subject));
        return Ok(Outcome::Passed);
    }
    let outputs = outputs(args)?;
    if context.json() && outputs.iter().any(|(path, _)| is_stdout(path)) {
        let message = "standard output takes one of --json and --out -";
        let help = "name a file for the model, or a report: `--report figures.json`";
        return Err(vec![Diagnostic::error("output-twice", message).help(help)]);
    }
    let engine = engine(args)?;
    let wanted = wanted(args, &subject)?;
    let has_commands = !args.command.is_empty();
    context.show(&without_effect(&args.how, engine, &subject.world, has_commands));
    context.show(&idle_options(args));
    let (courses, read) = match courses(context, args, &subject) {
        // One table without a sample is a slip; where none has any, nothing can be said.
        Err(faults)
            if faults.iter().all(|fault| fault.code == "no-samples")
                && faults.len() == args.tables.len() + args.hold.len() =>
        {
            context.show(&faults);
            return Ok(Outcome::Partial);
        }
        courses => courses?,
    };
    let plan = plan(args, &subject)?;
    let make = || (engine.make)(engine);
    let stop = interrupted();
    let tuning = Tuning::heeding(Arc::clone(&stop), subject, wanted, courses, plan, &make);
    if stop.load(Ordering::Relaxed) {
        return nothing_found(context);
    }
    let mut tuning = match tuning {
        // Data that say too little are no fault of theirs: nothing can be said.
        Err(faults) if faults.iter().all(|fault| fault.code == "too-few-samples") => {
            context.show(&faults);
            return Ok(Outcome::Partial);
        }
        tuning => tuning?,
    };
    let watchdog = (engine.housing == Housing::Library)
        .then(|| Watchdog::start(context, engine.name, PATIENCE, None));
    if let Some(watchdog) = watchdog {
        tuning.on_step(Arc::new(move || watchdog.tick()));
    }
    context.show(tuning.notes());
    context.show(&beforehand(args));
    let (saved, found, put_away) = sought(context, args, &tuning)?;
    context.show(tuning.lacking().as_slice());
    let Some(found) = found else {
        put_away?;
        if stop.load(Ordering::Relaxed) {
            let tried = saved.looking_at(&tuning, args.most as usize);
            return tried
                .map_or_else(|| nothing_found(context), |what| still_trying(context, what));
        }
        let message = "the model cannot be simulated with any of the values that were tried";
        return Err(vec![
            Diagnostic::error("cannot-simulate", message).help(
                "try a smaller --step, narrower bounds, or `headland validate` to see it run",
            ),
        ]);
    };
    told(context, args, &outputs, (&tuning, engine), &saved, &found)?;
    put_away?;
    Ok(ended(context, args, &found)?.max(read))
}

fn nothing_found(context: &Context) -> Ended {
    let message = "interrupted before the first simulation had ended: nothing was found";
    context.show(&[Diagnostic::warning("interrupted", message)]);
    Ok(Outcome::Partial)
}

/// Before a search by slopes, what has many dips is tried all over its range.
fn still_trying(context: &Context, what: &str) -> Ended {
    let message =
        format!("interrupted while {what} were tried all over their range, before the search");
    let help = "the same command begins that anew, with --resume as well: only the search behind \
                it is put away";
    context.show(&[Diagnostic::warning("interrupted", message).help(help)]);
    Ok(Outcome::Partial)
}

/// What is worth knowing before the search.
fn beforehand(args: &TuneArgs) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    let is_surface =
        |(path, ..): &(String, f64, f64)| path.split('/').any(|part| part == "surface");
    if method(args) == Method::Lm && args.param.iter().any(is_surface) {
        let message =
            "errors of contacts jump and have many dips, and slopes lead into the nearest";
        told.push(
            Diagnostic::remark("slopes-of-contacts", message)
                .help("`--method cma` looks further, and needs more simulations"),
        );
    }
    if args.start_as_measured && args.how.window.is_none() {
        let message = "the noise of the first rows is taken for where things started; what that \
                       does to the answer widens its intervals";
        told.push(
            Diagnostic::warning("start-as-measured", message)
                .help("leave --start-as-measured out where the first rows are noisy"),
        );
    }
    told
}

/// Options that change nothing here.
fn idle_options(args: &TuneArgs) -> Vec<Diagnostic> {
    let idle = [
        (
            args.seed != 0 && method(args) == Method::Lm,
            "`--seed` is for `--method cma`: nothing is left to chance here",
        ),
        (
            args.start_as_measured && args.how.window.is_some(),
            "`--start-as-measured` changes nothing with `--window`, which does that anyway",
        ),
    ];
    let remark = |(_, words): (bool, &str)| Diagnostic::remark("option-ignored", words);
    idle.into_iter().filter(|(is_idle, _)| *is_idle).map(remark).collect()
}

/// What came of a search: where it is, what it found, and whether it could be put away.
type Sought = (Saved, Option<Tuned>, Result<(), Vec<Diagnostic>>);

fn sought(
    context: &Context,
    args: &TuneArgs,
    tuning: &Tuning<'_>,
) -> Result<Sought, Vec<Diagnostic>> {
    let mut saved = match args.resume.as_deref().filter(|path| path.exists()) {
        Some(path) => Saved::from_json(&text(path)?, method(args), tuning, args.seed)?,
        None => Saved::new(method(args), tuning, args.seed),
    };
    let mut watched = Watched::new(context, args.resume.as_deref());
    let found = with_crew(tuning, usize::from(args.threads), |crew| {
        let watch = &mut |saved: &Saved| watched.look(saved);
        let linear = search(&mut saved, tuning, crew, args.most as usize, watch);
        watched.look_at_answer();
        tuned(tuning, &saved.search, linear, crew, args.confidence)
    });
    watched.finish();
    // A search that cannot be put away has still found something: that is told first.
    let put_away = match &args.resume {
        Some(path) => write_file(path, saved.to_json())
            .inspect(|()| context.say(&format!("wrote {}", path.display()))),
        None => Ok(()),
    };
    Ok((saved, found, put_away))
}

/// Warnings, files and figures.
fn told(
    context: &Context,
    args: &TuneArgs,
    outputs: &[(PathBuf, Form)],
    (tuning, engine): (&Tuning<'_>, &EngineEntry),
    saved: &Saved,
    found: &Tuned,
) -> Result<(), Vec<Diagnostic>> {
    context.show(&found.warnings);
    let is_drawn = outputs.iter().any(|(_, form)| *form == Form::Page);
    let drawn = match is_drawn && found.worth.is_some() {
        true => curves(tuning, &found.given, saved.search.best().0),
        false => Vec::new(),
    };
    let report = report(args, saved, (tuning, engine), found, drawn);
    // Files first, since whoever reads the figures may go away; and figures even where a file
    // cannot be written.
    let written = write_all(context, args, outputs, found, &report);
    if !outputs.iter().any(|(path, _)| is_stdout(path)) {
        context.print(&match context.json() {
            true => format!("{}\n", tuned_json(&report)),
            false => tuned_text(&report),
        });
    } else {
        context.say(tuned_text(&report).trim_end());
    }
    written
}

/// How it ended: an answer that is not to be trusted says nothing for certain.
fn ended(context: &Context, args: &TuneArgs, found: &Tuned) -> Ended {
    if found.is_trusted() {
        return Ok(Outcome::Passed);
    }
    if found.ended.is_some() && found.worth.is_some() {
        return Ok(Outcome::Partial);
    }
    let help = match &args.resume {
        Some(path) => format!("the same command goes on from {}", path.display()),
        None => "with --resume FILE the same command would go on from there".to_string(),
    };
    let message = match found.ended {
        Some(_) => {
            "interrupted after the search had ended: these are its values, without intervals, and \
             what they leave of the errors is not known"
        }
        None => "interrupted: these are the best values so far, without intervals",
    };
    context.show(&[Diagnostic::warning("interrupted", message).help(help)]);
    Ok(Outcome::Partial)
}

// --- what goes in ------------------------------------------------------------------------

fn engine(args: &TuneArgs) -> Result<&'static EngineEntry, Vec<Diagnostic>> {
    Ok(headland_engines::find(args.how.engine.as_deref().unwrap_or(NATIVE))?)
}

fn method(args: &TuneArgs) -> Method {
    let chosen = Method::ALL.iter().find(|(word, _)| *word == args.method);
    chosen.map_or(Method::Lm, |(_, method)| *method)
}

fn wanted(args: &TuneArgs, subject: &Subject) -> Result<Vec<Wanted>, Vec<Diagnostic>> {
    let (mut wanted, mut faults) = (Vec::new(), Vec::new());
    for (path, lower, upper) in &args.param {
        match Wanted::new(subject, path, *lower, *upper) {
            Ok(one) => {
                faults.extend(cannot_be_sought(args, &one));
                wanted.push(one);
            }
            Err(fault) => faults.push(fault),
        }
    }
    for (link, factor) in &args.inertia {
        match Wanted::inertia(subject, link, *factor) {
            Ok(ten) => wanted.extend(ten),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(wanted) } else { Err(faults) }
}

/// A number of commands where there are none; a step that another option gives.
fn cannot_be_sought(args: &TuneArgs, wanted: &Wanted) -> Option<Diagnostic> {
    let numbers = &wanted.parameters;
    // The others are where the search starts.
    let step = numbers.iter().find(|number| number.path() == "physics/step");
    if let Some(fault) = step.and_then(|step| said_twice(&args.how, "--param", step)) {
        return Some(fault);
    }
    let is_idle = args.command.is_empty() && !numbers.iter().any(Parameter::is_of_world);
    is_idle.then(|| {
        let message = format!("`{}` is about commands, of which there are none", wanted.name);
        Diagnostic::error("no-commands", message).help("-c FILE says what joints were told")
    })
}

fn plan(args: &TuneArgs, subject: &Subject) -> Result<Plan, Vec<Diagnostic>> {
    let options = replay_options(&args.how, subject.world.physics.step, &subject.settings)?;
    let engine = engine(args)?.name.to_string();
    Ok(Plan { engine, options, train_share: args.train, fits_start: !args.start_as_measured })
}

// --- while it searches -------------------------------------------------------------------

/// Shows the best error so far, puts the search away after every round, and hears Ctrl-C.
struct Watched<'a> {
    bar: Option<ProgressBar>,
    stop: Arc<std::sync::atomic::AtomicBool>,
    resume: Option<&'a Path>,
    context: &'a Context,
    /// That the search cannot be put away was said.
    is_told: bool,
}

impl<'a> Watched<'a> {
    fn new(context: &'a Context, resume: Option<&'a Path>) -> Watched<'a> {
        let bar = context.shows_progress().then(|| {
            let style =
                ProgressStyle::with_template("{spinner} {msg}").expect("a template of ours");
            ProgressBar::new_spinner().with_style(style)
        });
        Watched { bar, stop: interrupted(), resume, context, is_told: false }
    }

    fn look(&mut self, saved: &Saved) -> ControlFlow<()> {
        let search = &saved.search;
        if let Some(bar) = &self.bar {
            bar.set_message(format!(
                "round {}, {}, sum of squares {:.6e}",
                search.n_rounds(),
                count(search.n_evaluations() as u64, "simulation"),
                search.best().1.unwrap_or(f64::INFINITY),
            ));
            bar.tick();
        }
        // It goes on where it cannot be put away, and says so once.
        if let Some(Err(faults)) = self.resume.map(|path| write_file(path, saved.to_json()))
            && !std::mem::replace(&mut self.is_told, true)
        {
            let warning = |fault: Diagnostic| Diagnostic::warning(fault.code, fault.message);
            let warnings: Vec<Diagnostic> = faults.into_iter().map(warning).collect();
            self.context.show(&warnings);
        }
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// The search is over, and some simulations more are to come.
    fn look_at_answer(&mut self) {
        if let Some(bar) = &self.bar {
            bar.set_message("how sure the answer is, and what the given model makes of it");
            bar.enable_steady_tick(Duration::from_millis(100));
        }
    }

    fn finish(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
