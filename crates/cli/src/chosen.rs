//! Which engines are meant, and which of them are there.
//!
//! A library in another language can end the process that only looks for it, so those are
//! looked for in a process of their own.

use std::collections::BTreeSet;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use headland_base::Diagnostic;
use headland_engines::ENGINES;
use headland_sim::{EngineEntry, Found, Housing, Unusable};
use serde_json::{Value, json};

use crate::context::Context;
use crate::signals::interrupted;

/// Names the engine a process is to look for.
const LOOK_FOR: &str = "HEADLAND_LOOK_FOR";

/// Names the file for what it found.
const ANSWER: &str = "HEADLAND_LOOKED_FOR";

/// How long an engine may take to answer where nobody says how long: Drake needs two seconds
/// from a cold disk.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// An engine, and what looking for it gave.
pub type Candidate = (&'static EngineEntry, Result<Found, Unusable>);

/// Engines that were asked for.
pub struct Chosen {
    /// Those that take part, each with what was found.
    pub engines: Vec<Candidate>,
    /// Those that `all` leaves out because they are not there, and why.
    pub missing: Vec<(&'static EngineEntry, String)>,
}

/// The engines of these names; `all` are those that are there, working or not. Each has `patience` to answer.
pub fn choose(names: &[String], patience: Duration) -> Result<Chosen, Vec<Diagnostic>> {
    interrupted(); // heard from here on: nothing that is started is left behind
    let names: Vec<&str> = names.iter().map(|name| name.trim()).collect();
    if names.iter().any(|name| name.is_empty()) {
        let message = match names.iter().all(|name| name.is_empty()) {
            true => "`--engines` names no engine",
            false => "`--engines` has nothing between two commas",
        };
        let help = "write names with commas between, or `all`: --engines rapier,mujoco";
        return Err(vec![Diagnostic::error("no-engine", message).help(help)]);
    }
    let (mut asked, mut faults, mut by_name) = (Vec::new(), Vec::new(), BTreeSet::new());
    for name in names {
        if name == "all" {
            asked.extend(ENGINES);
            continue;
        }
        match headland_engines::find(name) {
            Ok(entry) => {
                by_name.insert(entry.name);
                asked.push(entry);
            }
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    // Each stands where it is first meant, and once.
    let mut seen = BTreeSet::new();
    asked.retain(|entry| seen.insert(entry.name));
    let found = look_for(&asked, patience);
    let mut chosen = Chosen { engines: Vec::new(), missing: Vec::new() };
    for (entry, found) in asked.into_iter().zip(found) {
        match found {
            // One that was named, or is there and does not work, has its place and says why.
            Err(Unusable { why, is_there: false }) if !by_name.contains(entry.name) => {
                chosen.missing.push((entry, why));
            }
            found => chosen.engines.push((entry, found)),
        }
    }
    Ok(chosen)
}

impl Chosen {
    /// Says which engines were left out.
    pub fn tell_missing(&self, context: &Context) {
        for (entry, why) in &self.missing {
            let why = why.lines().next().unwrap_or_default();
            context.say(&format!("left out: {}: {why}; to get it: {}", entry.name, entry.install));
        }
    }
}

/// Looks for each, all at once, and gives up on one that does not answer in time.
pub fn look_for(
    entries: &[&'static EngineEntry],
    patience: Duration,
) -> Vec<Result<Found, Unusable>> {
    let look = |entry: &'static EngineEntry| match entry.housing {
        Housing::Library => look_apart(entry, patience),
        Housing::Program => headland_engines::pipe::find_within(entry, patience),
        Housing::Embedded => (entry.find)(entry),
    };
    // Each on a thread of its own, however few cores there are: most of it is waiting.
    std::thread::scope(|scope| {
        let looks: Vec<_> = entries.iter().map(|entry| scope.spawn(move || look(entry))).collect();
        looks.into_iter().map(|look| look.join().expect("looking does not panic")).collect()
    })
}

/// Answers a process that looks for a library; whether this is such a one.
pub fn answer() -> bool {
    let Some((name, path)) = std::env::var_os(LOOK_FOR).zip(std::env::var_os(ANSWER)) else {
        return false;
    };
    let entry = ENGINES.iter().find(|entry| name == entry.name);
    let answer = match entry.map(|entry| (entry.find)(entry)) {
        Some(Ok(Found { version, place })) => json!({"version": version, "place": place}),
        Some(Err(Unusable { why, is_there })) => json!({"why": why, "is_there": is_there}),
        None => json!({"why": "no such engine"}),
    };
    // Without it whoever waits says how this process ended.
    _ = std::fs::write(path, answer.to_string());
    true
}

fn look_apart(entry: &EngineEntry, patience: Duration) -> Result<Found, Unusable> {
    match ask(entry, patience) {
        Ok(Looked::Answered(found)) => found,
        Ok(Looked::Ended(status)) => {
            Err(format!("loading it ended the process that tried, with {status}").into())
        }
        Ok(Looked::Held) => {
            let secs = patience.as_secs();
            let why = "loading it held the process that tried";
            Err(format!("{why} for {secs} s, which was ended").into())
        }
        Err(error) => Err(format!("no process to look for it: {error}").into()),
    }
}

/// What came of a process that looks for a library.
enum Looked {
    /// It said what it found, or why it is not there.
    Answered(Result<Found, Unusable>),
    /// It ended without an answer.
    Ended(ExitStatus),
    /// It did not end in time.
    Held,
}

/// The answer comes in a file of its own: what a library prints is none.
fn ask(entry: &EngineEntry, patience: Duration) -> std::io::Result<Looked> {
    let file = tempfile::NamedTempFile::new()?;
    let mut child = Command::new(std::env::current_exe()?)
        .env(LOOK_FOR, entry.name)
        .env(ANSWER, file.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let began = now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > patience || interrupted().load(Ordering::Relaxed) {
            child.kill()?;
            child.wait()?;
            return Ok(Looked::Held);
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let answer: Option<Value> = serde_json::from_slice(&std::fs::read(file.path())?).ok();
    Ok(answer.map_or(Looked::Ended(status), |answer| Looked::Answered(found_in(&answer))))
}

fn found_in(answer: &Value) -> Result<Found, Unusable> {
    match (answer["version"].as_str(), answer["place"].as_str()) {
        (Some(version), Some(place)) => {
            Ok(Found { version: version.to_string(), place: place.to_string() })
        }
        _ => Err(Unusable {
            why: answer["why"].as_str().unwrap_or("it gave no reason").to_string(),
            is_there: answer["is_there"].as_bool().unwrap_or(true),
        }),
    }
}

#[expect(clippy::disallowed_methods, reason = "a time limit; it reaches no recording")]
fn now() -> Instant {
    Instant::now()
}
