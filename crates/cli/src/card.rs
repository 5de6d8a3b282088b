//! The report card: every probe, at every step, on every engine; then judged and measured.
//!
//! ```text
//! PROBES × steps × engines ─ apart (in parallel) ─► recordings ─► verdicts, errors ─► Card
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use headland_base::{Diagnostic, names};
use headland_report::{Card, LeftOut, MeasureRow, Probed, Ran, Went, card, card_json, card_page};
use headland_sim::EngineEntry;

use crate::apart::{Cell, CellEnd, file_name_of, run_all};
use crate::args::{EnginesArgs, HowArgs};
use crate::chosen::{Candidate, Chosen, choose};
use crate::context::{BUILD, Context, Ended, Outcome, is_stdout, write_file};
use crate::judging::{Asked, Loaded, MaybeTest, judge_all};
use crate::parallel;
use crate::prepare::ignored;
use crate::probes::{PROBES, Probe, Written};

/// Runs and shows it.
pub fn run(context: &Context, args: &EnginesArgs) -> Ended {
    let is_printed = args.html.as_deref().is_some_and(is_stdout);
    if is_printed && context.json() {
        let message = "standard output takes one of --json and --html -";
        let fault = Diagnostic::error("output-twice", message);
        return Err(vec![fault.help("name a file for the page")]);
    }
    let chosen = choose(&args.engines, Duration::from_secs(args.patience))?;
    tell_ignored(context, args, &chosen);
    let probes = choose_probes(&args.probes)?;
    let temporary = match &args.keep {
        Some(_) => None,
        None => Some(tempfile::tempdir().map_err(|error| vec![no_folder(&error)])?),
    };
    let folder = args.keep.as_deref().or(temporary.as_ref().map(|folder| folder.path()));
    let folder = folder.expect("one to keep or a temporary one");
    let runs = list_runs(&probes, folder, args)?;
    if let Some(path) = args.html.as_ref().filter(|_| !is_printed) {
        write_file(path, "")?; // where it cannot be written, that is known before the card is run
    }
    let engines = &chosen.engines;
    let ends = run_all(context, &cells(&runs, engines))?;

    let mut made = Card {
        engines: engines.iter().map(named).collect(),
        missing: chosen.missing.iter().map(left_out).collect(),
        probes: Vec::new(),
    };
    let mut outcome = if engines.is_empty() { Outcome::Partial } else { Outcome::Passed };
    for (run, ends) in runs.iter().zip(ends.chunks(engines.len().max(1))) {
        let (probed, findings, loading) = grade(run, engines, ends);
        // A probe is ours: what is wrong with its test is a bug of ours, and loud. So is what is
        // wrong with a recording that was made just now.
        context.show(&findings);
        outcome = outcome.max(loading);
        // An engine that refuses a world has not broken, and a red test is no fault of ours.
        let told = [Outcome::Broken, Outcome::Partial];
        let ends = ends.iter().filter(|end| end.went != Went::Refused);
        let worst = ends.map(|end| end.outcome).filter(|outcome| told.contains(outcome));
        outcome = worst.fold(outcome, Outcome::max);
        made.probes.push(probed);
    }
    if context.json() {
        context.print(&format!("{}\n", card_json(&made)));
    } else if is_printed {
        context.print_beside(&card(&made, false));
    } else {
        context.print(&card(&made, context.paints()));
    }
    match &args.html {
        Some(_) if is_printed => context.print(&card_page(&made, BUILD)),
        Some(path) => {
            write_file(path, card_page(&made, BUILD))?;
            context.say(&format!("the page with the curves: {}", path.display()));
        }
        None => {}
    }
    Ok(outcome)
}

/// Says which engines an option does nothing to; the notes of single runs are not shown.
fn tell_ignored(context: &Context, args: &EnginesArgs, chosen: &Chosen) {
    let how = HowArgs { raw: args.raw, ..HowArgs::default() };
    for (engine, _) in &chosen.engines {
        context.show(&ignored(&how, engine));
    }
}

fn left_out((entry, why): &(&'static EngineEntry, String)) -> LeftOut {
    let why = why.lines().next().unwrap_or_default().to_string();
    LeftOut { name: entry.name.into(), why, install: entry.install.into() }
}

fn named((entry, found): &Candidate) -> (String, String) {
    let version = found.as_ref().map_or("cannot be used", |found| &found.version);
    (entry.name.to_string(), version.to_string())
}

fn choose_probes(asked: &[String]) -> Result<Vec<&'static Probe>, Vec<Diagnostic>> {
    if asked.is_empty() {
        return Ok(PROBES.iter().collect());
    }
    let mut seen = BTreeSet::new();
    let asked = asked.iter().map(|name| name.trim()).filter(|name| seen.insert(*name));
    let one = |name: &str| {
        PROBES.iter().find(|probe| probe.name == name).ok_or_else(|| {
            let known = PROBES.iter().map(|probe| probe.name);
            Diagnostic::error("unknown-probe", format!("no probe `{name}`"))
                .help_maybe(names::suggestion(name, known.clone()))
                .note(format!("there are {}", known.collect::<Vec<_>>().join(", ")))
        })
    };
    let (found, faults): (Vec<_>, Vec<_>) = asked.map(one).partition(Result::is_ok);
    let faults: Vec<Diagnostic> = faults.into_iter().filter_map(Result::err).collect();
    if faults.is_empty() { Ok(found.into_iter().flatten().collect()) } else { Err(faults) }
}

/// One probe at one step.
struct ProbeRun {
    probe: &'static Probe,
    step_secs: f64,
    world: PathBuf,
    how: HowArgs,
    folder: PathBuf,
}

impl ProbeRun {
    fn output(&self, engine: &str) -> PathBuf {
        let (engine, step_us) = (file_name_of(engine), (self.step_secs * 1e6).round());
        self.folder.join(format!("{}-{step_us}us-{engine}.mcap", self.probe.name))
    }
}

/// Writes what runs need into the folder, and lists them.
fn list_runs(
    probes: &[&'static Probe],
    folder: &Path,
    args: &EnginesArgs,
) -> Result<Vec<ProbeRun>, Vec<Diagnostic>> {
    std::fs::create_dir_all(folder).map_err(|error| vec![no_folder(&error)])?;
    let mut out = Vec::new();
    for probe in probes {
        let Written { world, commands } = probe.write_to(folder)?;
        for step_secs in probe.steps_secs {
            let how = HowArgs {
                duration: Some(probe.duration_secs),
                step: Some(*step_secs),
                command: commands.clone(),
                record_rate: probe.record_rate,
                raw: args.raw,
                patience: args.patience,
                threads: 1,
                ..HowArgs::default()
            };
            out.push(ProbeRun {
                probe,
                step_secs: *step_secs,
                world: world.clone(),
                how,
                folder: folder.to_path_buf(),
            });
        }
    }
    Ok(out)
}

/// One per run and engine, engine by engine within each.
fn cells<'a>(runs: &'a [ProbeRun], engines: &'a [Candidate]) -> Vec<Cell<'a>> {
    let of_run = |run: &'a ProbeRun| {
        engines.iter().map(|(engine, found)| {
            let output = run.output(engine.name);
            Cell { world: &run.world, engine, found, how: &run.how, output }
        })
    };
    runs.iter().flat_map(of_run).collect()
}

/// Judges and measures the recordings of one probe at one step; with what is wrong with its tests
/// and its recordings, and what reading those came to.
fn grade(
    run: &ProbeRun,
    engines: &[Candidate],
    ends: &[CellEnd],
) -> (Probed, Vec<Diagnostic>, Outcome) {
    let mut recordings: Vec<Loaded> = parallel::map(engines.len(), |i| {
        let name = engines[i].0.name;
        let path = run.output(name);
        match &ends[i].fault {
            Some(why) => Loaded::missing(name, &path, why),
            None => Loaded::read(name, &path, (None, None)),
        }
    });
    let mut findings: Vec<Diagnostic> = Vec::new();
    let mut outcome = Outcome::Passed;
    for loaded in &mut recordings {
        findings.append(&mut loaded.findings);
        outcome = outcome.max(loaded.outcome);
    }
    let tests: Vec<MaybeTest> = run.probe.test_files().into_iter().map(Ok).collect();
    let asked = Asked::with_timelines();
    let round = judge_all(&tests, &recordings, asked);
    let forms: Vec<_> = run.probe.forms().collect();
    let measures = parallel::map(forms.len(), |i| {
        let cells = recordings.iter().map(|loaded| match &loaded.scene {
            Ok(scene) if scene.interruption().is_some() => Err("interrupted".to_string()),
            // What follows a breach is no evidence, and a form looks at the whole.
            Ok(scene) => match breach(loaded) {
                Some(what) => Err(what),
                None => forms[i].measure(scene.recording()),
            },
            Err(why) => Err(why.clone()),
        });
        MeasureRow { form: forms[i], cells: cells.collect() }
    });
    let runs = ends.iter().zip(&recordings).map(|(end, loaded)| Ran {
        real_time_factor: end
            .words
            .as_ref()
            .filter(|_| end.went == Went::Whole)
            .map(|words| words.simulated_secs / words.wall_secs.max(1e-9)),
        went: end.went,
        fault: end.fault.clone().or_else(|| match end.went {
            Went::Interrupted => Some("interrupted".to_string()),
            _ => breach(loaded),
        }),
        realised: realised(loaded),
    });
    let probed = Probed {
        name: run.probe.name.to_string(),
        what: run.probe.what.to_string(),
        step_secs: run.step_secs,
        measures,
        matrix: round.matrix,
        runs: runs.collect(),
    };
    findings.extend(round.findings);
    (probed, findings, outcome)
}

/// When and how a run broke its own rules.
fn breach(loaded: &Loaded) -> Option<String> {
    let (time, what) = loaded.scene.as_ref().ok()?.breach()?;
    Some(format!("at {time} {what}"))
}

fn realised(loaded: &Loaded) -> Vec<String> {
    let Ok(scene) = &loaded.scene else { return Vec::new() };
    let metadata = &scene.recording().facts.metadata;
    let said = metadata.get("headland.realised").into_iter().flat_map(|said| said.values());
    said.cloned().collect()
}

fn no_folder(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("not-created", format!("no folder for recordings: {error}"))
        .help("name one: --keep FOLDER")
}
