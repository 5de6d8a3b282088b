//! `headland test`: tests and recordings go in, verdicts come out.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use headland_base::Diagnostic;
use headland_report::{
    Matrix, explained, junit, matrix, noticed, page, partings, reached, summary, verdicts_json,
};
use headland_sim::EngineEntry;

use crate::apart::{Cell, file_name_of, run_all};
use crate::args::TestArgs;
use crate::chosen::{Candidate, choose};
use crate::context::{BUILD, Context, Ended, Outcome, is_stdout, refuse_same, write_file};
use crate::judging::{Asked, Loaded, MaybeTest, Round, Unread, judge_all};
use crate::parallel;
use crate::prepare::default_engine_of;
use crate::said::{self, Said};
use crate::signals::interrupted;
use crate::test_file::TestFile;
use crate::watching::{PERIOD, SETTLING, Watched};

pub fn run(context: &Context, args: &TestArgs) -> Ended {
    if let Some(recording) = &args.vocabulary {
        return vocabulary(context, recording);
    }
    refuse_tests_elsewhere(args)?;
    if args.tests.is_empty() {
        let help = "name tests first: headland test TEST… --on RECORDING…";
        return Err(vec![Diagnostic::error("no-test", "no test is named").help(help)]);
    }
    if args.on.is_empty() && args.world.is_empty() {
        let message = "nothing to judge: no recording and no world";
        let help = "name recordings with --on, or worlds to run with --world";
        return Err(vec![Diagnostic::error("nothing-to-judge", message).help(help)]);
    }
    let made = [&args.junit, &args.html].into_iter().flatten();
    let n_printed = made.clone().filter(|path| is_stdout(path)).count();
    if n_printed + usize::from(context.json()) > 1 {
        let message = "standard output takes one of --json, --junit - and --html -";
        return Err(vec![
            Diagnostic::error("output-twice", message).help("name files for the rest"),
        ]);
    }
    for made in made.filter(|path| !is_stdout(path)) {
        for source in args.tests.iter().chain(&args.on).chain(&args.world) {
            refuse_same(source, made)?;
        }
    }
    let mut session = Session::open(context, args)?;
    let mut outcome = session.round(context)?;
    if args.watch {
        context.say("watching; Ctrl-C ends");
        let stop = interrupted();
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(PERIOD);
            if session.reload() {
                // A file that is being written is left to settle.
                loop {
                    std::thread::sleep(SETTLING);
                    if !session.reload() {
                        break;
                    }
                }
                outcome = session.round(context)?;
            }
        }
    }
    Ok(outcome)
}

/// `--on` and `--world` take all that follows, so a test that stands behind them is lost there.
fn refuse_tests_elsewhere(args: &TestArgs) -> Result<(), Vec<Diagnostic>> {
    let on = args.on.iter().map(|path| ("--on", "recording", path));
    let world = args.world.iter().map(|path| ("--world", "world", path));
    let lost = on.chain(world).filter(|(_, _, path)| TestFile::is_one(path));
    let faults: Vec<Diagnostic> = lost
        .map(|(option, kind, path)| {
            let name = path.display();
            let message = format!("`{name}` is a test, and `{option}` takes it for a {kind}");
            Diagnostic::error("test-as-input", message)
                .note(format!("`{option}` takes everything that follows it"))
                .help(format!(
                    "name tests first: headland test {name} {option} {}",
                    kind.to_uppercase()
                ))
        })
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Tests and recordings that stay in memory while somebody works on them.
struct Session<'a> {
    args: &'a TestArgs,
    tests: Vec<MaybeTest>,
    recordings: Vec<Loaded>,
    /// What is wrong apart from verdicts: runs that broke.
    outcome: Outcome,
    watched: Watched,
    /// Holds the recordings of worlds that nobody wants to keep.
    _folder: Option<tempfile::TempDir>,
}

impl<'a> Session<'a> {
    fn open(context: &Context, args: &'a TestArgs) -> Result<Session<'a>, Vec<Diagnostic>> {
        let mut outcome = Outcome::Passed;
        let given = |path: &PathBuf| Origin {
            name: path.display().to_string(),
            path: path.clone(),
            fault: None,
        };
        let mut origins: Vec<Origin> = args.on.iter().map(given).collect();
        let mut engines = Vec::new();
        // One for each world, where nobody names any.
        let mut usual: Vec<&EngineEntry> = Vec::new();
        if !args.world.is_empty() {
            // Nobody wants to hear of a misspelt name when the runs are done.
            TestFile::read_all(&args.tests)?;
            if args.engines.is_empty() {
                usual.extend(args.world.iter().map(|world| default_engine_of(world, &args.how)));
            }
            let names = match usual.is_empty() {
                true => args.engines.clone(),
                false => usual.iter().map(|engine| engine.name.to_string()).collect(),
            };
            let chosen = choose(&names, Duration::from_secs(args.how.patience))?;
            chosen.tell_missing(context);
            engines.extend(chosen.engines);
        }
        let folder = match (&args.keep, args.world.is_empty()) {
            (None, false) => Some(temporary()?),
            _ => None,
        };
        if !args.world.is_empty() {
            let place = args.keep.as_deref().or(folder.as_ref().map(|f| f.path()));
            let place = place.expect("a folder to keep or a temporary one");
            make_folder(place)?;
            let (made, ended) = run_worlds(context, args, (&engines, &usual), place)?;
            origins.extend(made);
            outcome = outcome.max(ended);
        }
        let stretch = (args.start, args.end);
        let recordings = parallel::map(origins.len(), |i| {
            let Origin { name, path, fault } = &origins[i];
            match fault {
                Some(why) => Loaded::missing(name, path, why),
                None => Loaded::read(name, path, stretch),
            }
        });
        let tests = args.tests.iter().map(|path| read_test(path)).collect();
        let mut session = Session {
            args,
            tests,
            recordings,
            outcome,
            watched: Watched::default(),
            _folder: folder,
        };
        session.reload();
        Ok(session)
    }

    /// Judges, shows and writes.
    fn round(&mut self, context: &Context) -> Ended {
        let mut outcome = self.outcome;
        for loaded in &mut self.recordings {
            context.show(&std::mem::take(&mut loaded.findings));
            outcome = outcome.max(loaded.outcome);
        }
        let round = judge_all(&self.tests, &self.recordings, Asked::new(self.args));
        context.show(&round.findings);
        self.publish(context, &round)?;
        Ok(outcome.max(round.outcome))
    }

    fn publish(&self, context: &Context, round: &Round) -> Result<(), Vec<Diagnostic>> {
        if context.json() {
            context.print(&format!("{}\n", verdicts_json(&round.matrix)));
        } else {
            let colour = context.paints();
            let mut text = matrix(&round.matrix, colour) + "\n" + &summary(&round.matrix, colour);
            let asked = [
                (self.args.explain, explained as fn(&Matrix) -> String),
                (self.args.coverage, reached),
                (self.args.mutate, noticed),
            ];
            for (_, words) in asked.iter().filter(|(is_asked, _)| *is_asked) {
                text += &words(&round.matrix);
            }
            if self.args.compares_engines() {
                text += &partings(&round.matrix, &self.worlds());
            }
            // Where standard output is a file of ours, the table goes beside it.
            match [&self.args.junit, &self.args.html].into_iter().flatten().any(|p| is_stdout(p)) {
                true => context.print_beside(&text),
                false => context.print(&text),
            }
        }
        let write = |path: &Path, text: &str| match is_stdout(path) {
            true => {
                context.print(text);
                Ok(())
            }
            false => write_file(path, text),
        };
        if let Some(path) = &self.args.junit {
            write(path, &junit(&round.matrix))?;
        }
        if let Some(path) = &self.args.html {
            write(path, &page(&round.matrix, BUILD))?;
        }
        Ok(())
    }

    /// The columns of each world: its engines, after the recordings that were given.
    fn worlds(&self) -> Vec<Range<usize>> {
        let (first, n) = (self.args.on.len(), self.recordings.len());
        let n_engines = (n - first) / self.args.world.len().max(1);
        let start = |world: usize| first + world * n_engines;
        (0..self.args.world.len()).map(|world| start(world)..start(world + 1)).collect()
    }

    /// Reads again what has changed. Whether anything has.
    fn reload(&mut self) -> bool {
        let mut has_changed = false;
        for (test, path) in self.tests.iter_mut().zip(&self.args.tests) {
            let imports = test.as_ref().map(TestFile::imports).unwrap_or_default();
            let mut is_new = self.watched.has_changed(path);
            for import in &imports {
                // Every file is looked at, so that none is seen as new only later.
                is_new |= self.watched.has_changed(import);
            }
            if is_new {
                *test = read_test(path);
                has_changed = true;
            }
        }
        for loaded in &mut self.recordings {
            if self.watched.has_changed(&loaded.path) {
                let stretch = (self.args.start, self.args.end);
                *loaded = Loaded::read(&loaded.name, &loaded.path, stretch);
                has_changed = true;
            }
        }
        has_changed
    }
}

fn read_test(path: &Path) -> MaybeTest {
    TestFile::read(path).map_err(|faults| Unread { name: path.display().to_string(), faults })
}

/// Where a recording comes from, or why there is none.
struct Origin {
    name: String,
    path: PathBuf,
    fault: Option<String>,
}

/// Runs every world on every engine, or on its usual one, each in a process of its own.
fn run_worlds(
    context: &Context,
    args: &TestArgs,
    (engines, usual): (&[Candidate], &[&EngineEntry]),
    folder: &Path,
) -> Result<(Vec<Origin>, Outcome), Vec<Diagnostic>> {
    let mut cells: Vec<Cell> = Vec::new();
    for (i, world) in args.world.iter().enumerate() {
        let is_meant =
            |engine: &EngineEntry| usual.get(i).is_none_or(|usual| usual.name == engine.name);
        for (engine, found) in engines.iter().filter(|(engine, _)| is_meant(engine)) {
            let stem = world.file_stem().unwrap_or(world.as_os_str()).to_string_lossy();
            let base = format!("{stem}-{}", file_name_of(engine.name));
            let numbered = (2..).map(|n| format!("{base}-{n}"));
            let place = |name: String| folder.join(format!("{name}.mcap"));
            let is_free = |path: &PathBuf| cells.iter().all(|cell| cell.output != *path);
            let output = std::iter::once(base.clone()).chain(numbered).map(place).find(is_free);
            let output = output.expect("numbers do not end");
            cells.push(Cell { world, engine, found, how: &args.how, output });
        }
    }
    let ends = run_all(context, &cells)?;
    let short =
        |cell: &Cell| cell.output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let said: Vec<(String, &[Said])> = cells
        .iter()
        .zip(&ends)
        .map(|(cell, end)| {
            let name =
                if args.world.len() > 1 { short(cell) } else { cell.engine.name.to_string() };
            (name, end.said.as_slice())
        })
        .collect();
    said::show(context, &said);
    let (mut outcome, mut made) = (Outcome::Passed, Vec::new());
    for (cell, end) in cells.into_iter().zip(ends) {
        outcome = outcome.max(end.outcome);
        // Only what is there can be kept.
        let name = match &args.keep {
            Some(_) if cell.output.is_file() => cell.output.display().to_string(),
            _ => short(&cell),
        };
        made.push(Origin { name, path: cell.output, fault: end.fault });
    }
    Ok((made, outcome))
}

fn temporary() -> Result<tempfile::TempDir, Vec<Diagnostic>> {
    tempfile::tempdir().map_err(|error| {
        let message = format!("no folder for recordings: {error}");
        vec![Diagnostic::error("not-created", message).help("name one: --keep FOLDER")]
    })
}

fn make_folder(path: &Path) -> Result<(), Vec<Diagnostic>> {
    std::fs::create_dir_all(path).map_err(|error| {
        let message = format!("cannot create `{}`: {error}", path.display());
        vec![Diagnostic::error("not-created", message)]
    })
}

fn vocabulary(context: &Context, recording: &Path) -> Ended {
    let name = recording.display().to_string();
    let loaded = Loaded::read(&name, recording, (None, None));
    let Ok(scene) = &loaded.scene else { return Err(loaded.findings) };
    context.show(&loaded.findings);
    if context.json() {
        let json = headland_report::vocabulary_json(scene.vocabulary());
        context.print(&format!("{json}\n"));
    } else {
        context.print(&headland_report::vocabulary(scene.vocabulary()));
    }
    Ok(loaded.outcome)
}
