//! Engines that are programs of their own, at the other end of a pipe.
//!
//! ```text
//! Model, State ─ scene.rs ─► {"do":"start",…}  ─┐
//! Inputs ─────── scene.rs ─► {"do":"step",…}   ─┼─ process.rs ─► the program
//! State, remarks ◄─ reply.rs ── a line back    ─┘
//! ```
//!
//! Lock-step: a line there, a line back, nothing in between. `docs/src/engine-protocol.md` is
//! the protocol for whoever writes a program. What is known of DART, Drake and `PyBullet` is in
//! their adapters (`../adapters`); nothing here knows an engine by name.
//!
//! A program is started by `check` and kept for `start`, so that it loads its libraries once.
//! One that breaks its word is ended, with what was seen as a fault.

#[cfg(unix)]
mod process;
mod python;
mod reply;
mod scene;

#[cfg(not(unix))]
mod process {
    //! Pipes with a time limit are there for Unix only.
    use std::process::Command;
    use std::time::Duration;

    pub(super) enum Process {}

    impl Process {
        pub(super) fn start(_: Command) -> Result<Process, String> {
            Err("engines that are programs need a Unix".to_string())
        }

        pub(super) fn exchange<T>(
            &mut self,
            _: &[u8],
            _: Duration,
            _: impl FnOnce(&[u8]) -> Result<T, super::reply::Wrong>,
        ) -> Result<T, String> {
            match *self {}
        }

        pub(super) fn last_words(&self) -> String {
            match *self {}
        }

        pub(super) fn was_silent(&self) -> bool {
            match *self {}
        }
    }

    pub(crate) fn die_with_us(_: &mut Command) {}
}

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use headland_base::{Diagnostic, SimDuration};
use headland_sim::{
    Engine, EngineEntry, EngineOptions, Fault, Found, Housing, Inputs, Model, State, Unusable,
};

pub(crate) use process::die_with_us;

use process::Process;
use reply::Hello;

/// How long an engine may take to load where nobody says how long: Drake needs two seconds
/// from a cold disk.
const LOOK: Duration = Duration::from_secs(20);

/// An engine at the other end of a pipe.
pub struct Piped {
    entry: EngineEntry,
    /// Started by `check`, taken over by `start`.
    process: RefCell<Option<Process>>,
    line: Vec<u8>,
    patience: Duration,
    /// Of the last step.
    remarks: Vec<String>,
}

/// Makes one; it is started when it is first asked something.
pub fn make(entry: &EngineEntry) -> Box<dyn Engine> {
    Box::new(Piped {
        entry: *entry,
        process: RefCell::new(None),
        line: Vec::new(),
        patience: Duration::ZERO,
        remarks: Vec::new(),
    })
}

/// Whether a name of an engine is the path of a program.
pub fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".py")
}

/// An entry for somebody's own program. It stays for as long as headland runs.
pub fn own(path: &str) -> &'static EngineEntry {
    let path: &'static str = Box::leak(path.to_string().into_boxed_str());
    Box::leak(Box::new(EngineEntry {
        name: path,
        summary: "a program of yours, at the other end of a pipe",
        housing: Housing::Program,
        source: path,
        preparation: Duration::ZERO,
        find,
        limits: &[],
        install: "write one: the page `engine-protocol` of the book says how",
        make,
    }))
}

/// What programs said of themselves, by their names: one is asked once.
static SEEN: Mutex<BTreeMap<String, Result<Found, Unusable>>> = Mutex::new(BTreeMap::new());

/// Not held while a program starts: several are looked for at once.
fn seen() -> MutexGuard<'static, BTreeMap<String, Result<Found, Unusable>>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks for an engine by starting it and reading its hello. Asked again, it remembers.
pub fn find(entry: &EngineEntry) -> Result<Found, Unusable> {
    find_within(entry, LOOK)
}

/// The same, with so much time for the hello.
pub fn find_within(entry: &EngineEntry, patience: Duration) -> Result<Found, Unusable> {
    if let Some(found) = seen().get(entry.name) {
        return found.clone();
    }
    let found = open(entry, patience).map(|opened| opened.found(entry));
    seen().insert(entry.name.to_string(), found.clone());
    found
}

/// A program that has said hello.
struct Opened {
    process: Process,
    hello: Hello,
    place: String,
}

impl Opened {
    fn found(&self, entry: &EngineEntry) -> Found {
        let Hello { name, version, .. } = &self.hello;
        // A program of somebody's own is called by its path, and says itself who it is.
        let version =
            if name == entry.name { version.clone() } else { format!("{name} {version}") };
        let version = version.trim().chars().take(MOST_OF_A_NAME).collect();
        Found { version, place: self.place.clone() }
    }
}

/// Why a program was not opened.
struct NotOpened {
    /// What was seen.
    seen: String,
    /// The last line it wrote.
    last: String,
    /// It was waited for in vain, and would be again.
    is_silent: bool,
    /// There was something to start.
    has_started: bool,
}

/// What is kept of what a program calls itself \[characters\].
const MOST_OF_A_NAME: usize = 100;

/// How an adapter of ours, `adapters/common.py`, begins to say that its engine is not installed.
const NO_PACKAGE: &str = "its Python has no package";

/// Starts a program: an adapter of ours or a `.py` with the first Python that can, anything
/// else by itself.
fn open(entry: &EngineEntry, patience: Duration) -> Result<Opened, Unusable> {
    let path = entry.source;
    let is_ours = path.contains('\n');
    if !is_ours && !Path::new(path).is_file() {
        return Err(Unusable::absent(format!("there is no file `{path}`")));
    }
    if !is_ours && !path.ends_with(".py") {
        let program = std::path::absolute(path).map_err(|error| format!("`{path}`: {error}"))?;
        return Ok(greet(Command::new(program), b"", path, patience).map_err(|not| not.seen)?);
    }
    let mut whys: Vec<String> = Vec::new();
    let mut is_there = false;
    for python in python::interpreters() {
        let (command, first) = if is_ours {
            let name = format!("{}.py", entry.name);
            (python::waiting(&python), python::program(&name, entry.source))
        } else {
            (python::running(&python, path), Vec::new())
        };
        match greet(command, &first, &python.display().to_string(), patience) {
            Ok(opened) => return Ok(opened),
            // The last line of a traceback says it all; of a program of yours, all of it.
            Err(NotOpened { seen, last, is_silent, has_started }) => {
                let why = if is_ours && !last.is_empty() && !is_silent { last } else { seen };
                is_there |= has_started && !why.starts_with(NO_PACKAGE);
                whys.push(format!("{}: {why}", python.display()));
                if is_silent {
                    break; // another interpreter would only be waited for, too
                }
            }
        }
    }
    Err(Unusable { why: whys.join("; "), is_there })
}

fn greet(
    command: Command,
    first: &[u8],
    place: &str,
    patience: Duration,
) -> Result<Opened, NotOpened> {
    let not_started =
        |seen| NotOpened { seen, last: String::new(), is_silent: false, has_started: false };
    let mut process = Process::start(command).map_err(not_started)?;
    match process.exchange(first, patience, reply::hello) {
        Ok(hello) => Ok(Opened { process, hello, place: place.to_string() }),
        Err(seen) => {
            let last = process.last_words().lines().last().unwrap_or_default().trim().to_string();
            Err(NotOpened { seen, last, is_silent: process.was_silent(), has_started: true })
        }
    }
}

impl Engine for Piped {
    fn check(&self, model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
        let mut out = model.massless();
        let mut process = match open(&self.entry, options.patience) {
            Ok(opened) => {
                seen().insert(self.entry.name.to_string(), Ok(opened.found(&self.entry)));
                opened.process
            }
            Err(unusable) => {
                out.push(not_there(&self.entry, &unusable.why));
                return out;
            }
        };
        if !out.is_empty() {
            return out; // an engine need not be ready for what has no mass
        }
        let mut line = Vec::new();
        match begin(&mut process, &mut line, model, &State::initial(model), options) {
            Ok(started) => {
                let cannot = |text| Diagnostic::error("engine-cannot", text);
                out.extend(started.cannot.into_iter().map(cannot));
                let realised = |text| Diagnostic::remark("realised", text);
                out.extend(started.realised.into_iter().map(realised));
                *self.process.borrow_mut() = Some(process);
            }
            Err(why) => {
                let text = format!("engine `{}` could not start: {why}", self.entry.name);
                out.push(Diagnostic::error("engine-start", text));
            }
        }
        out
    }

    fn start(
        &mut self,
        model: &Model,
        state: &State,
        options: &EngineOptions,
    ) -> Result<(), Fault> {
        self.patience = options.patience;
        let fault = |why: String| Fault(format!("engine `{}`: {why}", self.entry.name));
        let mut process = match self.process.borrow_mut().take() {
            Some(process) => process,
            None => open(&self.entry, options.patience).map_err(|it| fault(it.why))?.process,
        };
        let started = begin(&mut process, &mut self.line, model, state, options).map_err(fault)?;
        if let Some(first) = started.cannot.first() {
            return Err(fault(first.clone()));
        }
        *self.process.get_mut() = Some(process);
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        _: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        let Some(process) = self.process.get_mut() else {
            return Err(Fault(format!("engine `{}` is no longer there", self.entry.name)));
        };
        write_line(&mut self.line, &scene::Step::of(inputs));
        let done =
            process.exchange(&self.line, self.patience, |line| reply::stepped(line, model, state));
        self.remarks = done.map_err(|why| {
            *self.process.get_mut() = None;
            Fault(format!("engine `{}`: {why}", self.entry.name))
        })?;
        Ok(())
    }

    fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }
}

/// What to say of an engine that was looked for in vain. A program of somebody's own that is
/// there, and does not do its part, is broken and not missing.
pub fn not_there(entry: &EngineEntry, why: &str) -> Diagnostic {
    if !is_path(entry.name) || !Path::new(entry.source).is_file() {
        return entry.missing(why);
    }
    let message = format!("engine `{}` does not start: {why}", entry.name);
    Diagnostic::error("engine-start", message)
        .help("its first line says hello; the page `engine-protocol` of the book has an example")
}

/// Sends the world; the last one sent counts.
fn begin(
    process: &mut Process,
    line: &mut Vec<u8>,
    model: &Model,
    state: &State,
    options: &EngineOptions,
) -> Result<reply::Started, String> {
    write_line(line, &scene::Start::of(model, state, options));
    process.exchange(line, options.patience, reply::started)
}

fn write_line(line: &mut Vec<u8>, message: &impl serde::Serialize) {
    line.clear();
    serde_json::to_writer(&mut *line, message).expect("numbers and names are JSON");
    line.push(b'\n');
}
