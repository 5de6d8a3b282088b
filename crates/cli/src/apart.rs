//! A run in a process of its own: this program again, watched by the first.
//!
//! ```text
//! world × engine × options ─► headland run … ─► recording, last words, exit code ─► CellEnd
//! ```
//!
//! A library in another language can end its process, or corrupt it; then only its own run is
//! lost, and not even that: chunks that were written stay. What ends without last words was
//! taken down. A run that hangs is ended from within, by `watchdog`; where its process cannot
//! do even that, because it was stopped or spins, it is ended from here once its heart (`beat`)
//! has been silent for as long as its patience and a little more.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use headland_base::Diagnostic;
use headland_record::{Reader, overview};
use headland_sim::{EngineEntry, Found, Housing, Unusable};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use serde_json::{Value, json};

use headland_report::Went;

use crate::args::HowArgs;
use crate::beat::{self, Listener, Stage};
use crate::context::{Context, Ended, Outcome, is_stdout};
use crate::parallel;
use crate::progress::CountProgress;
use crate::said::Said;
use crate::signals::interrupted;

/// Names the file for the last words of a run, and so says that it is one apart.
const LAST_WORDS: &str = "HEADLAND_LAST_WORDS";

/// Says that a run apart is one of many, and need not say how it went.
const IS_CELL: &str = "HEADLAND_IS_CELL";

/// How often somebody looks whether a run is over.
const PERIOD: Duration = Duration::from_millis(3);

/// Room for the last words of a run, taken before it starts: a run that fills the disk can
/// still say so.
const ROOM_FOR_WORDS: usize = 16 << 10;

/// How long a run may take beyond its patience to end by itself, and how long it may take at all
/// once somebody wants it to end.
const GRACE: Duration = Duration::from_secs(5);

/// How long a world may take to be read, however short the patience with its engine.
const READING: Duration = Duration::from_secs(60);

/// What an engine says of a world that it cannot have. It is not broken, and neither is the
/// world: another engine may have it.
const REFUSALS: &[&str] = &["engine-cannot", "bad-shape", "too-heavy"];

/// How much of a fault is left for whoever waits; with every character escaped it has room.
const MOST_OF_A_FAULT: usize = 2000;

/// What is kept of what a run says.
const MAX_SAID: u64 = 1 << 20;

/// Whether this process is a run of another's.
pub fn is_apart() -> bool {
    std::env::var_os(LAST_WORDS).is_some()
}

/// Whether this process is one run of many.
pub fn is_cell() -> bool {
    std::env::var_os(IS_CELL).is_some()
}

/// Whether this process is one run of many, whose words are shown in colour.
pub fn is_coloured_cell() -> bool {
    std::env::var_os(IS_CELL).is_some_and(|value| value == "in colour")
}

/// A run apart ends with the one that wants it.
pub fn end_with_parent() {
    if is_apart() {
        interrupted(); // before there is anything that a signal could cut off
        if let Some(path) = std::env::var_os(LAST_WORDS) {
            beat::write_to(Path::new(&path), ROOM_FOR_WORDS as u64);
        }
        // Where the system has no such thing, the run goes on to its end.
        _ = set_parent_process_death_signal(Some(Signal::TERM));
    }
}

/// What a run says before it ends, to whoever started it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// Why it ended badly: the code of the diagnostic, and what it says.
    pub fault: Option<(String, String)>,
    /// Somebody broke it off.
    pub is_interrupted: bool,
    /// Steps made.
    pub n_steps: u64,
    /// How far it came \[s\].
    pub simulated_secs: f64,
    /// How long that took, recording included \[s\].
    pub wall_secs: f64,
}

impl Words {
    /// Leaves them, if somebody waits for them.
    pub fn leave(&self) {
        if let Some(path) = std::env::var_os(LAST_WORDS) {
            // Without them nobody knows how the run went, and that is said.
            _ = self.write(Path::new(&path));
        }
    }

    /// Over the room that was taken for them, and as long as it: JSON may end in blanks.
    fn write(&self, path: &Path) -> std::io::Result<()> {
        let short = |fault: &String| fault.chars().take(MOST_OF_A_FAULT).collect::<String>();
        let (code, fault) = self.fault.as_ref().map(|(code, fault)| (code, short(fault))).unzip();
        let words = json!({
            "code": code, "fault": fault, "interrupted": self.is_interrupted,
            "steps": self.n_steps,
            "simulated_secs": self.simulated_secs, "wall_secs": self.wall_secs,
        });
        let mut text = words.to_string().into_bytes();
        text.resize(ROOM_FOR_WORDS.max(text.len()), b' ');
        File::options().write(true).open(path)?.write_all(&text)
    }

    fn read(path: &Path) -> Option<Words> {
        let bytes = std::fs::read(path).ok()?;
        let json: Value = serde_json::from_slice(bytes.get(..ROOM_FOR_WORDS)?).ok()?;
        let text = |key: &str| json[key].as_str().map(str::to_string);
        Some(Words {
            fault: text("code").zip(text("fault")),
            is_interrupted: json["interrupted"].as_bool()?,
            n_steps: json["steps"].as_u64()?,
            simulated_secs: json["simulated_secs"].as_f64()?,
            wall_secs: json["wall_secs"].as_f64()?,
        })
    }
}

/// Runs this very command line again, apart; its terminal is ours.
pub fn again(context: &Context, engine: &EngineEntry, output: &Path, patience: Duration) -> Ended {
    let words = room_for_words()?;
    let mut command = this_program()?;
    command.args(std::env::args_os().skip(1)).env(LAST_WORDS, words.path());
    let child = command.spawn().map_err(|error| vec![not_started(&error)])?;
    let (waited, stage) = wait(child, words.path(), engine, patience)?;
    let recording = (stage >= Stage::Starting).then_some(output);
    let fault = match (waited, Words::read(words.path())) {
        (Waited::Ended(status), Some(_)) if outcome_of(status).is_some() => {
            return Ok(outcome_of(status).expect("asked above"));
        }
        (Waited::Ended(status), _) => speechless(engine.name, status, recording),
        (Waited::GivenUp(silent), _) => given_up(engine.name, silent, recording),
        (Waited::Forced, _) => forced(engine.name, recording),
    };
    context.show(&[fault]);
    match interrupted().load(Ordering::Relaxed) {
        true => Ok(Outcome::Partial), // nobody waited for more
        false => Ok(Outcome::Broken),
    }
}

/// One world on one engine.
pub struct Cell<'a> {
    /// The world's file.
    pub world: &'a Path,
    /// Moves it.
    pub engine: &'static EngineEntry,
    /// What was found of it.
    pub found: &'a Result<Found, Unusable>,
    /// How it is moved.
    pub how: &'a HowArgs,
    /// Where the recording goes.
    pub output: PathBuf,
}

/// How a cell went.
#[derive(Clone, Debug)]
pub struct CellEnd {
    /// What its exit code says.
    pub outcome: Outcome,
    /// In a word.
    pub went: Went,
    /// Why there is no whole recording.
    pub fault: Option<String>,
    /// What it said to people.
    pub said: Vec<Said>,
    /// How far it came, if it lived to tell.
    pub words: Option<Words>,
}

impl CellEnd {
    fn interrupted(said: Vec<Said>) -> CellEnd {
        let (went, fault) = (Went::Interrupted, Some("interrupted".to_string()));
        CellEnd { outcome: Outcome::Partial, went, fault, said, words: None }
    }

    /// Of a cell that is not run, because its engine was looked for and cannot be used.
    fn of_missing(context: &Context, engine: &EngineEntry, why: &str) -> CellEnd {
        let fault = headland_engines::pipe::not_there(engine, why);
        let said = vec![Said::of(&fault, context.colour())];
        let (went, fault) = (Went::Broke, Some(fault.message));
        CellEnd { outcome: Outcome::Broken, went, fault, said, words: None }
    }

    /// Of a run that lived to tell.
    fn told(outcome: Outcome, words: Words, said: Vec<Said>) -> CellEnd {
        let (code, fault) = words.fault.clone().unzip();
        let (went, outcome) = match code.as_deref() {
            None if words.is_interrupted => (Went::Interrupted, outcome),
            None => (Went::Whole, outcome),
            Some(code) if REFUSALS.contains(&code) => (Went::Refused, Outcome::Partial),
            // Whoever names an engine for a matrix wants it there.
            Some("engine-missing") => (Went::Broke, Outcome::Broken),
            // Somebody else's run has its place; that says nothing of the engine.
            Some("recording-in-use") => (Went::Broke, Outcome::Broken),
            Some(_) if outcome == Outcome::BadInput => (Went::Refused, outcome),
            Some(_) => (Went::Broke, outcome),
        };
        CellEnd { outcome, went, fault, said, words: Some(words) }
    }
}

/// An engine's name in a file's: one that is a path would name a folder.
pub fn file_name_of(engine: &str) -> String {
    engine.trim_start_matches("./").replace('/', "_")
}

/// Runs all of them, in parallel; their ends in the same order.
pub fn run_all(context: &Context, cells: &[Cell<'_>]) -> Result<Vec<CellEnd>, Vec<Diagnostic>> {
    let progress = CountProgress::new(context.shows_progress(), cells.len(), "runs");
    let ends = parallel::map(cells.len(), |i| {
        let end = match cells[i].found {
            Ok(_) => cells[i].run(context),
            // What was asked when somebody wanted an end had no time to answer.
            Err(_) if interrupted().load(Ordering::Relaxed) => Ok(CellEnd::interrupted(Vec::new())),
            // It was asked once, and is not waited for in every cell again.
            Err(it) => Ok(CellEnd::of_missing(context, cells[i].engine, &it.why)),
        };
        progress.tick();
        end
    });
    progress.finish();
    ends.into_iter().collect()
}

impl Cell<'_> {
    /// Runs it. Nothing it does reaches our terminal; what it said is handed back.
    fn run(&self, context: &Context) -> Result<CellEnd, Vec<Diagnostic>> {
        if interrupted().load(Ordering::Relaxed) {
            return Ok(CellEnd::interrupted(Vec::new()));
        }
        let (words, said) = (room_for_words()?, temporary_file()?);
        let stderr = said.reopen().map_err(|error| vec![not_started(&error)])?;
        let mut command = this_program()?;
        command
            .args(self.arguments(context))
            .env(LAST_WORDS, words.path())
            .env(IS_CELL, if context.colour() { "in colour" } else { "1" })
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr);
        let child = command.spawn().map_err(|error| vec![not_started(&error)])?;
        let patience = Duration::from_secs(self.how.patience);
        let (waited, stage) = wait(child, words.path(), self.engine, patience)?;
        let recording = (stage >= Stage::Starting).then_some(self.output.as_path());
        let words = Words::read(words.path());
        let mut text = Vec::new();
        // What cannot be read was not said.
        _ = File::open(said.path()).and_then(|file| file.take(MAX_SAID).read_to_end(&mut text));
        let mut said = Said::read(&String::from_utf8_lossy(&text));
        let fault = match (waited, words) {
            (Waited::Ended(status), Some(words)) if outcome_of(status).is_some() => {
                let outcome = outcome_of(status).expect("asked above");
                return Ok(CellEnd::told(outcome, words, said));
            }
            // It was told to end before it had anything to tell.
            _ if interrupted().load(Ordering::Relaxed) => return Ok(CellEnd::interrupted(said)),
            (Waited::Ended(status), _) => speechless(self.engine.name, status, recording),
            (Waited::GivenUp(silent), _) => given_up(self.engine.name, silent, recording),
            (Waited::Forced, _) => forced(self.engine.name, recording),
        };
        said.push(Said::of(&fault, context.colour()));
        let (outcome, went) = (Outcome::Broken, Went::Broke);
        Ok(CellEnd { outcome, went, fault: Some(fault.message), said, words: None })
    }

    fn arguments(&self, context: &Context) -> Vec<OsString> {
        let mut out: Vec<OsString> = vec!["run".into(), self.world.into()];
        out.extend(["--engine".into(), self.engine.name.into(), "--output".into()]);
        out.push(self.output.clone().into());
        out.extend(self.how.to_args());
        out.extend(context.to_args());
        out
    }
}

fn this_program() -> Result<Command, Vec<Diagnostic>> {
    let program = std::env::current_exe().map_err(|error| vec![not_started(&error)])?;
    Ok(Command::new(program))
}

fn temporary_file() -> Result<tempfile::NamedTempFile, Vec<Diagnostic>> {
    tempfile::NamedTempFile::new().map_err(|error| vec![not_started(&error)])
}

/// A file that has room for the last words of a run.
fn room_for_words() -> Result<tempfile::NamedTempFile, Vec<Diagnostic>> {
    let mut file = temporary_file()?;
    let room = [[b' '; ROOM_FOR_WORDS].as_slice(), &[0; beat::ROOM]].concat();
    file.write_all(&room).map_err(|error| vec![not_started(&error)])?;
    Ok(file)
}

fn not_started(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("not-started", format!("no process for the run: {error}"))
}

/// How the wait for a run was over.
enum Waited {
    /// It ended.
    Ended(ExitStatus),
    /// It was ended, after it had made no step for so long.
    GivenUp(Duration),
    /// It was ended, because somebody wanted that and it did not end by itself.
    Forced,
}

/// Waits for a run, and hands on that somebody wants it to end. Ctrl-C it hears by itself. One
/// that gives no sign of life for too long is killed, and so is one that does not end. Says how
/// far it came.
fn wait(
    mut child: Child,
    beats: &Path,
    engine: &EngineEntry,
    patience: Duration,
) -> Result<(Waited, Stage), Vec<Diagnostic>> {
    let stop = interrupted();
    let mut heart = Listener::new(beats, ROOM_FOR_WORDS as u64);
    let mut since_told: Option<Duration> = None;
    // A program says hello, and is told the world.
    let n_answers = if engine.housing == Housing::Program { 2 } else { 1 };
    loop {
        if let Some(status) = child.try_wait().map_err(|error| vec![not_started(&error)])? {
            heart.listen_now();
            return Ok((Waited::Ended(status), heart.stage()));
        }
        if stop.load(Ordering::Relaxed) && since_told.is_none() {
            // One that is gone by now needs no telling.
            _ = kill_process(Pid::from_child(&child), Signal::TERM);
            since_told = Some(Duration::ZERO);
        }
        std::thread::sleep(PERIOD);
        heart.listen();
        since_told = since_told.map(|since| since + PERIOD);
        let limit = match heart.stage() {
            Stage::Reading => patience.max(READING),
            Stage::Checking => n_answers * patience + engine.preparation,
            Stage::Starting => n_answers * patience,
            Stage::Stepping => patience,
        };
        let is_forced = since_told.is_some_and(|since| since > GRACE);
        if heart.silent() > limit + GRACE || is_forced {
            // By its own number, which is its own until it is waited for.
            _ = child.kill();
            child.wait().map_err(|error| vec![not_started(&error)])?;
            let waited = if is_forced { Waited::Forced } else { Waited::GivenUp(heart.silent()) };
            return Ok((waited, heart.stage()));
        }
    }
}

/// What is to be said of a run that was stopped, or spins where nothing ends it from within.
fn given_up(engine: &str, silent: Duration, recording: Option<&Path>) -> Diagnostic {
    let secs = silent.as_secs();
    let message = format!("the run on `{engine}` gave no sign of life for {secs} s, and was ended");
    Diagnostic::error("engine-hangs", message)
        .note(kept(recording))
        .help("give it longer with --patience SECS, or a smaller --step")
}

/// What is to be said of a run that somebody wanted to end, and that did not hear it.
fn forced(engine: &str, recording: Option<&Path>) -> Diagnostic {
    let secs = GRACE.as_secs();
    let message =
        format!("the run on `{engine}` was told to end, did not within {secs} s, and was ended");
    Diagnostic::warning("run-forced", message).note(kept(recording))
}

/// What is left of a recording, if one was opened.
pub fn kept(recording: Option<&Path>) -> String {
    if recording.is_some_and(is_stdout) {
        return "what was recorded went to standard output".to_string();
    }
    let span = |path| overview(Reader::open(path).ok()?).0.span;
    match recording.and_then(span) {
        Some((_, end)) => format!("the recording is kept up to {end}"),
        None => "nothing was recorded yet".to_string(),
    }
}

fn outcome_of(status: ExitStatus) -> Option<Outcome> {
    let code = status.code()?;
    Outcome::ALL.into_iter().find(|outcome| i32::from(outcome.code()) == code)
}

/// What is to be said of a run that ended without a word. One that ended as runs end was not
/// taken down by its engine: its words got lost.
fn speechless(engine: &str, status: ExitStatus, recording: Option<&Path>) -> Diagnostic {
    if let Some(outcome) = outcome_of(status) {
        let message = format!(
            "the run on `{engine}` ended with exit code {}, and how it went could not be written",
            outcome.code()
        );
        return Diagnostic::error("run-unheard", message).help(
            "either its engine ended the process, or the folder for temporary files is full: \
                 TMPDIR names another",
        );
    }
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let name = signal_hook::low_level::signal_name(signal);
            name.map_or_else(|| format!("signal {signal}"), str::to_string)
        }
        (None, code) => format!("exit code {}", code.unwrap_or(-1)),
    };
    let message = format!("engine `{engine}` took its process down ({how})");
    Diagnostic::error("engine-crashed", message).note(kept(recording))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Last words fit into the room that was taken for them, however much there is to say.
    #[test]
    fn last_words_need_no_more_room() {
        let room = room_for_words().expect("room");
        assert_eq!(Words::read(room.path()), None);
        for fault in [Some("\u{1}\"\n∞".repeat(9999)), Some("short".to_string()), None] {
            let fault = fault.map(|fault| ("engine-fault".to_string(), fault));
            let (n_steps, simulated_secs, wall_secs) = (7, 0.007, 1e-3);
            let words = Words { fault, is_interrupted: false, n_steps, simulated_secs, wall_secs };
            words.write(room.path()).expect("written");
            let read = Words::read(room.path()).expect("words");
            let start =
                |words: &Words| words.fault.as_ref().map(|it| it.1.chars().take(99).collect());
            assert_eq!(start(&read), start(&words) as Option<String>);
            assert_eq!(read.n_steps, 7);
            let length = std::fs::metadata(room.path()).expect("a file").len();
            assert_eq!(length, (ROOM_FOR_WORDS + beat::ROOM) as u64, "the file does not grow");
        }
    }

    /// Only a run that did not end as runs end was taken down by its engine.
    #[test]
    fn lost_words_are_not_the_engines_fault() {
        let told = |raw: i32| {
            let status = ExitStatus::from_raw(raw);
            speechless("ode", status, None)
        };
        assert_eq!(told(4 << 8).code, "run-unheard");
        assert_eq!(told(headland_engines::EXIT_FATAL << 8).code, "engine-crashed");
        assert!(told(11).message.contains("SIGSEGV"));
    }
}
