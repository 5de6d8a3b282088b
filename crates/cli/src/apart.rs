//! A run in a process of its own: this program again, watched by the first.
//!
//! ```text
//! world × engine × options ─► headland run … ─► recording, last words, exit code ─► CellEnd
//! ```
//!
//! A library in another language can end its process, or corrupt it; then only its own run is
//! lost, and not even that: chunks that were written stay. What ends without last words was
//! taken down. A run that hangs is ended from within, by `watchdog`.

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
use headland_sim::EngineEntry;
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use serde_json::{Value, json};

use crate::args::HowArgs;
use crate::context::{Context, Ended, Outcome};
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

/// A run apart ends with the one that wants it.
pub fn end_with_parent() {
    if is_apart() {
        interrupted(); // before there is anything that a signal could cut off
        // Where the system has no such thing, the run goes on to its end.
        _ = set_parent_process_death_signal(Some(Signal::TERM));
    }
}

/// What a run says before it ends, to whoever started it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// Why it ended badly.
    pub fault: Option<String>,
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
        let words = json!({
            "fault": self.fault.as_ref().map(short), "steps": self.n_steps,
            "simulated_secs": self.simulated_secs, "wall_secs": self.wall_secs,
        });
        let mut text = words.to_string().into_bytes();
        text.resize(ROOM_FOR_WORDS.max(text.len()), b' ');
        File::options().write(true).open(path)?.write_all(&text)
    }

    fn read(path: &Path) -> Option<Words> {
        let json: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        Some(Words {
            fault: json["fault"].as_str().map(str::to_string),
            n_steps: json["steps"].as_u64()?,
            simulated_secs: json["simulated_secs"].as_f64()?,
            wall_secs: json["wall_secs"].as_f64()?,
        })
    }
}

/// Runs this very command line again, apart; its terminal is ours.
pub fn again(context: &Context, engine: &EngineEntry, output: &Path) -> Ended {
    let words = room_for_words()?;
    let mut command = this_program()?;
    command.args(std::env::args_os().skip(1)).env(LAST_WORDS, words.path());
    let status = wait(command.spawn().map_err(|error| vec![not_started(&error)])?)?;
    match (Words::read(words.path()), outcome_of(status)) {
        (Some(_), Some(outcome)) => Ok(outcome),
        (_, outcome) => {
            context.show(&[speechless(engine.name, status, outcome, output)]);
            Ok(Outcome::Broken)
        }
    }
}

/// One world on one engine.
pub struct Cell<'a> {
    /// The world's file.
    pub world: &'a Path,
    /// What `--engine` takes.
    pub engine: &'a str,
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
    /// Why there is no whole recording.
    pub fault: Option<String>,
    /// What it said to people.
    pub said: String,
    /// How far it came, if it lived to tell.
    pub words: Option<Words>,
}

impl CellEnd {
    fn interrupted() -> CellEnd {
        let fault = Some("interrupted".to_string());
        CellEnd { outcome: Outcome::Partial, fault, said: String::new(), words: None }
    }
}

/// An engine's name in a file's: one that is a path would name a folder.
pub fn file_name_of(engine: &str) -> String {
    engine.trim_start_matches("./").replace('/', "_")
}

impl Cell<'_> {
    /// Runs it. Nothing it does reaches our terminal; what it said is handed back.
    pub fn run(&self, context: &Context) -> Result<CellEnd, Vec<Diagnostic>> {
        if interrupted().load(Ordering::Relaxed) {
            return Ok(CellEnd::interrupted());
        }
        let (words, said) = (room_for_words()?, temporary_file()?);
        let stderr = said.reopen().map_err(|error| vec![not_started(&error)])?;
        let mut command = this_program()?;
        command
            .args(self.arguments(context))
            .env(LAST_WORDS, words.path())
            .env(IS_CELL, "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr);
        let status = wait(command.spawn().map_err(|error| vec![not_started(&error)])?)?;
        let words = Words::read(words.path());
        let mut text = Vec::new();
        // What cannot be read was not said.
        _ = File::open(said.path()).and_then(|file| file.take(MAX_SAID).read_to_end(&mut text));
        let mut said = String::from_utf8_lossy(&text).into_owned();
        let (outcome, fault) = match (&words, outcome_of(status)) {
            (Some(words), Some(outcome)) => (outcome, words.fault.clone()),
            // It was told to end before it had anything to tell.
            _ if interrupted().load(Ordering::Relaxed) => return Ok(CellEnd::interrupted()),
            (_, outcome) => {
                let fault = speechless(self.engine, status, outcome, &self.output);
                said += &context.rendered(&fault);
                (Outcome::Broken, Some(fault.message))
            }
        };
        Ok(CellEnd { outcome, fault, said, words })
    }

    fn arguments(&self, context: &Context) -> Vec<OsString> {
        let mut out: Vec<OsString> = vec!["run".into(), self.world.into()];
        out.extend(["--engine".into(), self.engine.into(), "--output".into()]);
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
    file.write_all(&[b' '; ROOM_FOR_WORDS]).map_err(|error| vec![not_started(&error)])?;
    Ok(file)
}

fn not_started(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("not-started", format!("no process for the run: {error}"))
}

/// Waits for a run, and hands on that somebody wants it to end. Ctrl-C it hears by itself.
fn wait(mut child: Child) -> Result<ExitStatus, Vec<Diagnostic>> {
    let stop = interrupted();
    let mut is_told = false;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| vec![not_started(&error)])? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut is_told, true) {
            // One that is gone by now needs no telling.
            _ = kill_process(Pid::from_child(&child), Signal::TERM);
        }
        std::thread::sleep(PERIOD);
    }
}

fn outcome_of(status: ExitStatus) -> Option<Outcome> {
    let code = status.code()?;
    Outcome::ALL.into_iter().find(|outcome| i32::from(outcome.code()) == code)
}

/// What is to be said of a run that ended without a word. One that ended as runs end was not
/// taken down by its engine: its words got lost.
fn speechless(
    engine: &str,
    status: ExitStatus,
    outcome: Option<Outcome>,
    output: &Path,
) -> Diagnostic {
    if let Some(outcome) = outcome {
        let message = format!(
            "the run on `{engine}` ended with exit code {}, and how it went could not be written",
            outcome.code()
        );
        return Diagnostic::error("run-unheard", message)
            .help("is the folder for temporary files full? TMPDIR names another");
    }
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let name = signal_hook::low_level::signal_name(signal);
            name.map_or_else(|| format!("signal {signal}"), str::to_string)
        }
        (None, code) => format!("exit code {}", code.unwrap_or(-1)),
    };
    let message = format!("engine `{engine}` took its process down ({how})");
    let kept = Reader::open(output).ok().and_then(|reader| overview(reader).0.span);
    let note = match kept {
        Some((_, end)) => format!("the recording is kept up to {end}"),
        None => "nothing was recorded yet".to_string(),
    };
    Diagnostic::error("engine-crashed", message).note(note)
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
            let words = Words { fault, n_steps: 7, simulated_secs: 0.007, wall_secs: 1e-3 };
            words.write(room.path()).expect("written");
            let read = Words::read(room.path()).expect("words");
            let start =
                |words: &Words| words.fault.as_ref().map(|it| it.chars().take(99).collect());
            assert_eq!(start(&read), start(&words) as Option<String>);
            assert_eq!(read.n_steps, 7);
            let length = std::fs::metadata(room.path()).expect("a file").len();
            assert_eq!(length, ROOM_FOR_WORDS as u64, "the file does not grow");
        }
    }

    /// Only a run that did not end as runs end was taken down by its engine.
    #[test]
    fn lost_words_are_not_the_engines_fault() {
        let told = |raw: i32| {
            let status = ExitStatus::from_raw(raw);
            speechless("ode", status, outcome_of(status), Path::new("nowhere.mcap"))
        };
        assert_eq!(told(4 << 8).code, "run-unheard");
        assert_eq!(told(headland_engines::EXIT_FATAL << 8).code, "engine-crashed");
        assert!(told(11).message.contains("SIGSEGV"));
    }
}
