//! `headland tune`: the numbers of a model that make it do what was measured.
//!
//! Reads the model and the tables, has `validate` search, and writes the tuned model and what
//! `report` makes of it. Ctrl-C ends the search within a simulation, with what it has found.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use headland_base::maths::sqrt;
use headland_base::names::suggestion;
use headland_base::{Diagnostic, glob};
use headland_judge::compare::Side;
use headland_record::Recording;
use headland_report::{
    Align, TuneReport, TunedCurve, TunedError, TunedRow, count, table, tuned as tuned_text,
    tuned_json, tuned_markdown, tuned_page,
};
use headland_sim::{EngineEntry, Housing, Model};
use headland_validate::fit::crew::with_crew;
use headland_validate::tune::{
    Course, Curve, KeyError, Method, Plan, Saved, Search, Tuned, TunedNumber, Tuning, Wanted,
    curves, delay_of, search, tuned,
};
use headland_validate::{Experiment, UNITS_DIFFER, known_signals};
use headland_world::parameter::{self, Subject};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::TuneArgs;
use crate::comparing::{key_map, text};
use crate::context::{
    BUILD, Context, Ended, Outcome, is_stdout, refuse_same, refuse_twice, write_file,
};
use crate::prepare::NATIVE;
use crate::repeating::{
    clocks_apart, read_state, read_subject, read_table, read_told, replay_options,
};
use crate::signals::interrupted;
use crate::watchdog::Watchdog;

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
    let courses = courses(context, args, &subject)?;
    let plan = plan(args, &subject)?;
    let make = || (engine.make)(engine);
    let stop = interrupted();
    let nothing_found = || {
        let message = "interrupted before the first simulation had ended: nothing was found";
        context.show(&[Diagnostic::warning("interrupted", message)]);
        Ok(Outcome::Partial)
    };
    let tuning = Tuning::heeding(Arc::clone(&stop), subject, wanted, courses, plan, &make);
    if stop.load(Ordering::Relaxed) {
        return nothing_found();
    }
    let mut tuning = tuning?;
    let watchdog = (engine.housing == Housing::Library)
        .then(|| Watchdog::start(context, engine.name, PATIENCE, None));
    if let Some(watchdog) = watchdog {
        tuning.on_step(Arc::new(move || watchdog.tick()));
    }
    context.show(tuning.notes());
    let is_surface =
        |(path, ..): &(String, f64, f64)| path.split('/').any(|part| part == "surface");
    if method(args) == Method::Lm && args.param.iter().any(is_surface) {
        let message =
            "errors of contacts jump and have many dips, and slopes lead into the nearest";
        context.show(&[Diagnostic::remark("slopes-of-contacts", message)
            .help("`--method cma` looks further, and needs more simulations")]);
    }
    if args.start_as_measured && args.how.window.is_none() {
        let message = "the noise of the first rows is taken for where things started; intervals do \
                       not heed it";
        context.show(&[Diagnostic::warning("start-as-measured", message)
            .help("leave --start-as-measured out where the first rows are noisy")]);
    }
    let mut saved = match args.resume.as_deref().filter(|path| path.exists()) {
        Some(path) => Saved::from_json(&text(path)?, method(args), &tuning, args.seed)?,
        None => Saved::new(method(args), &tuning, args.seed),
    };
    let mut watched = Watched::new(context, args.resume.as_deref());
    let found = with_crew(&tuning, usize::from(args.threads), |crew| {
        let watch = &mut |saved: &Saved| watched.look(saved);
        let linear = search(&mut saved, &tuning, crew, args.most, watch);
        tuned(&tuning, &saved.search, linear, crew, args.confidence)
    });
    watched.finish();
    // A search that cannot be put away has still found something: that is told first.
    let put_away = match &args.resume {
        Some(path) => write_file(path, saved.to_json())
            .inspect(|()| context.say(&format!("wrote {}", path.display()))),
        None => Ok(()),
    };
    let Some(found) = found else {
        put_away?;
        if stop.load(Ordering::Relaxed) {
            return nothing_found();
        }
        let message = "the model cannot be simulated with any of the values that were tried";
        return Err(vec![
            Diagnostic::error("cannot-simulate", message).help(
                "try a smaller --step, narrower bounds, or `headland validate` to see it run",
            ),
        ]);
    };
    context.show(&found.warnings);
    let is_drawn = outputs.iter().any(|(_, form)| *form == Form::Page);
    let drawn = match is_drawn && found.worth.is_some() {
        true => curves(&tuning, saved.search.best().0),
        false => Vec::new(),
    };
    let report = report(args, &saved.search, &tuning, &found, drawn);
    // Files first, since whoever reads the figures may go away; and figures even where a file
    // cannot be written.
    let written = write_all(context, args, &outputs, &found, &report);
    if !outputs.iter().any(|(path, _)| is_stdout(path)) {
        context.print(&match context.json() {
            true => format!("{}\n", tuned_json(&report)),
            false => tuned_text(&report),
        });
    } else {
        context.say(tuned_text(&report).trim_end());
    }
    written?;
    put_away?;
    match found.ended {
        Some(ended) if found.worth.is_some() && ended.is_converged() => Ok(Outcome::Passed),
        Some(_) if found.worth.is_some() => Ok(Outcome::Partial),
        _ => {
            let help = match &args.resume {
                Some(path) => format!("the same command goes on from {}", path.display()),
                None => "with --resume FILE the same command would go on from there".to_string(),
            };
            let message = "interrupted: these are the best values so far, without intervals";
            context.show(&[Diagnostic::warning("interrupted", message).help(help)]);
            Ok(Outcome::Partial)
        }
    }
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
            Ok(one) => wanted.push(one),
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

/// Every table with its commands and its state, those that are held out last.
fn courses(
    context: &Context,
    args: &TuneArgs,
    subject: &Subject,
) -> Result<Vec<Course>, Vec<Diagnostic>> {
    let model = Model::compile(&Arc::new(subject.world.clone()))?;
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
        let message = format!("`{}` is to be fitted and held out", both.display());
        let help = "leave it out of one of them; `--train 0.7` holds a part of each table out";
        return Err(vec![Diagnostic::error("held-and-fitted", message).help(help)]);
    }
    let of = |files: &[PathBuf], i: usize| files.get(i).or(files.first()).cloned();
    let (mut courses, mut patterns) = (Vec::new(), Patterns::default());
    for (i, path) in tables.iter().enumerate() {
        let recording = read_table(context, path)?;
        let mut experiment = measured(context, args, &recording, &model, &mut patterns)?;
        if let Some(file) = of(&args.command, i) {
            experiment.told = read_told(context, &file, &model)?;
            let told = clocks_apart(&file, &experiment, delay_of(subject));
            context.show(told.as_slice());
        }
        if let Some(file) = of(&args.state, i) {
            experiment.known = read_state(context, &file)?;
        }
        courses.push(Course {
            name: path.display().to_string(),
            experiment: Arc::new(experiment),
            is_held_out: i >= args.tables.len(),
        });
    }
    let lost = patterns.lost(&args.key);
    if !lost.is_empty() {
        return Err(lost);
    }
    let empty = courses.iter().filter(|course: &&Course| course.experiment.signals.is_empty());
    let empty: Vec<Diagnostic> = empty.map(nothing_left).collect();
    if empty.is_empty() { Ok(courses) } else { Err(empty) }
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
    // A key in other units is not unknown.
    if unread.iter().any(|fault| !args.ignore_unknown || fault.code == UNITS_DIFFER) {
        return Err(unread);
    }
    if !unread.is_empty() {
        let n = count(unread.len() as u64, "key");
        let message = format!("{n} left out that the model does not have");
        context.show(&[Diagnostic::remark("keys-left-out", message)]);
    }
    Ok(known)
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

    fn finish(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

// --- what comes out ----------------------------------------------------------------------

/// What a file of the outcome is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Model,
    Json,
    Markdown,
    Page,
    Text,
}

fn outputs(args: &TuneArgs) -> Result<Vec<(PathBuf, Form)>, Vec<Diagnostic>> {
    let mut all = Vec::new();
    all.extend(args.out.iter().map(|path| (path.clone(), Form::Model)));
    for path in &args.report {
        let ending = path.extension().map(|end| end.to_string_lossy().to_lowercase());
        let form = match ending.as_deref() {
            Some("json") => Form::Json,
            Some("md") => Form::Markdown,
            Some("html" | "htm") => Form::Page,
            Some("txt") => Form::Text,
            _ => {
                let message = format!("`{}` does not say a form", path.display());
                let help = "a report ends in .json, .md, .html or .txt";
                return Err(vec![Diagnostic::error("which-format", message).help(help)]);
            }
        };
        all.push((path.clone(), form));
    }
    refuse_twice(all.iter().map(|(path, _)| path).chain(&args.resume))?;
    let sources = [&args.model].into_iter().chain(&args.tables).chain(&args.hold);
    for source in sources.chain(&args.command).chain(&args.state) {
        for (path, _) in &all {
            refuse_same(source, path)?;
        }
        args.resume.iter().try_for_each(|path| refuse_same(source, path))?;
    }
    Ok(all)
}

fn write_all(
    context: &Context,
    args: &TuneArgs,
    outputs: &[(PathBuf, Form)],
    found: &Tuned,
    report: &TuneReport,
) -> Result<(), Vec<Diagnostic>> {
    for (path, form) in outputs {
        let content = match form {
            Form::Model => headland_world::sdf::write(&found.subject.world),
            Form::Json => format!("{:#}\n", tuned_json(report)),
            Form::Markdown => tuned_markdown(report, BUILD),
            Form::Page => tuned_page(report, BUILD),
            Form::Text => tuned_text(report),
        };
        if is_stdout(path) {
            context.print(&content);
            continue;
        }
        write_file(path, content)?;
        context.say(&format!("wrote {}", path.display()));
    }
    // What SDF has no place for.
    let beside = |number: &&TunedNumber| {
        number.name.starts_with("command/") || number.name.starts_with("gains/")
    };
    let beside: Vec<String> = found
        .numbers
        .iter()
        .filter(beside)
        .map(|number| format!("{}={}", number.name, number.value))
        .collect();
    if args.out.is_some() && !beside.is_empty() {
        let message = format!("SDF has no place for {}", beside.join(" and "));
        let set: Vec<String> = beside.iter().map(|one| format!("--set {one}")).collect();
        let help =
            format!("give it to whoever runs the model: headland validate {}", set.join(" "));
        context.show(&[Diagnostic::remark("beside-the-model", message).help(help)]);
    }
    Ok(())
}

fn report(
    args: &TuneArgs,
    search: &Search,
    tuning: &Tuning<'_>,
    found: &Tuned,
    drawn: Vec<Curve>,
) -> TuneReport {
    let row = |number: &TunedNumber| TunedRow {
        name: number.name.clone(),
        unit: number.unit.clone(),
        before: number.before.clone(),
        value: number.value,
        half_width: number.half_width,
        joint_half_width: number.joint_half_width,
        step_shift: number.step_shift,
        bounds: Some((number.lower, number.upper)),
    };
    let error = |error: &KeyError| TunedError {
        recording: error.course.clone(),
        key: error.key.clone(),
        unit: error.unit.clone(),
        scale: error.scale,
        fitted: error.fitted,
        held_out: error.held_out,
        n_samples: error.n_samples,
    };
    let curve = |curve: Curve| TunedCurve {
        recording: curve.course,
        key: curve.key,
        unit: curve.unit,
        times: curve.times,
        measured: curve.measured,
        before: curve.before.map(|moved| (moved.values, moved.errors)),
        after: curve.after.map(|moved| (moved.values, moved.errors)),
        n_fitted: curve.n_fitted,
    };
    let n_residuals = found.n_residuals.max(1) as f64;
    let rms = |(n, cost): &(usize, f64)| (*n, sqrt(cost / n_residuals));
    let (numbers, starts): (Vec<_>, Vec<_>) =
        found.numbers.iter().partition(|number| !number.is_start);
    let derived = found.derived.iter().map(|one| TunedRow {
        name: one.name.clone(),
        unit: one.unit.clone(),
        before: vec![one.before],
        value: one.value,
        half_width: one.half_width,
        joint_half_width: one.joint_half_width,
        step_shift: None,
        bounds: None,
    });
    let tables: Vec<String> = args.tables.iter().map(|path| path.display().to_string()).collect();
    let mut made = vec![
        ("fitted to".to_string(), tables.join(", ")),
        ("engine".to_string(), tuning.engine().to_string()),
        ("step".to_string(), tuning.step().to_string()),
        ("method".to_string(), search.method().word().to_string()),
    ];
    if args.train < 1.0 {
        let share = format!("the first {:.0} % of each recording", 100.0 * args.train);
        made.push(("trained on".to_string(), share));
    }
    if let Some(window) = args.how.window {
        made.push(("windows".to_string(), format!("put back to what was measured every {window}")));
    }
    let ended = found.ended.filter(|_| found.worth.is_some());
    TuneReport {
        model: args.model.display().to_string(),
        made,
        numbers: numbers.into_iter().map(row).collect(),
        derived: derived.collect(),
        starts: starts.into_iter().map(row).collect(),
        errors: found.errors.iter().map(error).collect(),
        curves: drawn.into_iter().map(curve).collect(),
        search: search.history().iter().map(rms).collect(),
        rms: found.rms,
        n_residuals: found.n_residuals,
        n_evaluations: found.n_evaluations,
        ended: ended.map_or("interrupted", |ended| ended.words()).to_string(),
        is_converged: ended.is_some_and(|ended| ended.is_converged()),
        warnings: found.warnings.iter().map(|w| (w.code.to_string(), w.message.clone())).collect(),
        confidence: found.confidence,
    }
}

/// Every number that has a name, with its value.
fn listed(context: &Context, subject: &Subject) -> String {
    let all = parameter::list(&subject.world);
    if context.json() {
        let one = |parameter: &parameter::Parameter| {
            serde_json::json!({
                "path": parameter.path(), "unit": parameter.unit(subject),
                "value": parameter.get(subject).filter(|value| value.is_finite()),
            })
        };
        return format!("{}\n", serde_json::Value::from_iter(all.iter().map(one)));
    }
    let value = |parameter: &parameter::Parameter| {
        parameter.get(subject).map_or("not said".to_string(), |value| format!("{value}"))
    };
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|parameter| {
            vec![
                parameter.path().to_string(),
                value(parameter),
                parameter.unit(subject).to_string(),
            ]
        })
        .collect();
    table(&[("path", Align::Left), ("value", Align::Right), ("unit", Align::Left)], &rows)
}
