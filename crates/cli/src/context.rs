//! What every command shares: where results go, where diagnostics go, and how it ends.
//!
//! Results are for programs and go to standard output; everything else is for people and goes
//! to standard error. [`Outcome`] is the one list of exit codes.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, ErrorKind, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use headland_base::{Diagnostic, Findings, Severity, SimTime};
use headland_judge::Verdict;
use headland_record::{Format, Reader};
use headland_world::{Read, ReadOptions, resource::Resources};

use crate::apart;
use crate::args::{Global, WorldArgs};
use crate::said::Said;
use crate::terminal::harmless;

/// How a command ended, the worst last. `main` alone turns this into an exit code.
///
/// Bad input outweighs a broken engine, because nothing said about it can be trusted before it
/// is mended; both outweigh a red test, which is a finding; and a finding outweighs what could
/// not be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// 0: it ran and all is well.
    Passed,
    /// 3: it ran, but on partial data, was broken off, or could not be decided.
    Partial,
    /// 1: it ran and the robot is at fault. A finding, not an error of ours.
    Failed,
    /// 4: an engine, the disk or headland itself broke.
    Broken,
    /// 2: we could not do what was asked.
    BadInput,
}

/// The diagnostics that mean that writing failed half way: a full disk, a pulled stick.
const NOT_WRITTEN: &[&str] =
    &["recording-not-written", "bag-not-written", "not-written", "cannot-write"];

/// The diagnostics that mean that an engine which is there does not work.
const ENGINE_BROKE: &[&str] = &["engine-shim", "engine-start", "engine-fault"];

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 5] =
        [Outcome::Passed, Outcome::Partial, Outcome::Failed, Outcome::Broken, Outcome::BadInput];

    /// Of a command that gave up for these reasons.
    pub fn of_faults(faults: &[Diagnostic]) -> Outcome {
        let is_broken = |code: &str| NOT_WRITTEN.contains(&code) || ENGINE_BROKE.contains(&code);
        if faults.iter().any(|fault| is_broken(fault.code)) {
            Outcome::Broken
        } else {
            Outcome::BadInput
        }
    }

    /// Of a verdict.
    pub fn of_verdict(verdict: Verdict) -> Outcome {
        match verdict {
            Verdict::Green => Outcome::Passed,
            Verdict::Red => Outcome::Failed,
            Verdict::Inconclusive => Outcome::Partial,
            Verdict::Error => Outcome::BadInput,
        }
    }

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Outcome::Passed => 0,
            Outcome::Failed => 1,
            Outcome::BadInput => 2,
            Outcome::Partial => 3,
            Outcome::Broken => 4,
        }
    }
}

/// How a command's own function ends: an outcome, or every reason why not.
pub type Ended = Result<Outcome, Vec<Diagnostic>>;

/// Results on stdout, everything else on stderr.
#[derive(Clone)]
pub struct Context {
    json: bool,
    quiet: bool,
    colour: bool,
}

impl Context {
    /// From the options every command takes.
    pub fn new(global: &Global) -> Context {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Context {
            json: global.json,
            quiet: global.quiet,
            colour: !no_colour && (std::io::stderr().is_terminal() || apart::is_coloured_cell()),
        }
    }

    /// The options that give a run apart the same context.
    pub fn to_args(&self) -> Vec<std::ffi::OsString> {
        let asked = [("--json", self.json), ("--quiet", self.quiet)];
        asked.iter().filter(|(_, is_asked)| *is_asked).map(|(word, _)| (*word).into()).collect()
    }

    /// A diagnostic as it is shown.
    fn rendered(&self, diagnostic: &Diagnostic) -> String {
        match self.json {
            true => format!("{}\n", diagnostic.to_json()),
            false => diagnostic.render(self.colour),
        }
    }

    /// Whether diagnostics are in colour.
    pub fn colour(&self) -> bool {
        self.colour
    }

    /// Whether a program reads the results.
    pub fn json(&self) -> bool {
        self.json
    }

    /// Whether a person watches.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && !self.json && std::io::stderr().is_terminal()
    }

    /// Whether results may be in colour.
    pub fn paints(&self) -> bool {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        !no_colour && !self.json && std::io::stdout().is_terminal()
    }

    /// A result. A reader that went away (`| head`) ends the program without a word.
    pub fn print(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        if let Err(error) = out.write_all(harmless(text).as_bytes()).and_then(|()| out.flush()) {
            let outcome = self.output_stopped(&error);
            std::process::exit(outcome.code().into());
        }
    }

    /// Says why standard output takes no more, unless its reader just went away.
    pub fn output_stopped(&self, error: &std::io::Error) -> Outcome {
        if error.kind() == ErrorKind::BrokenPipe {
            return Outcome::Passed;
        }
        let faults = [Diagnostic::error("cannot-write", format!("cannot write: {error}"))];
        self.show(&faults);
        Outcome::of_faults(&faults)
    }

    /// A result, beside a recording that goes to standard output. `--quiet` silences words,
    /// not results.
    pub fn print_beside(&self, text: &str) {
        to_stderr(text);
    }

    /// A word to the person, not a result.
    pub fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            to_stderr(&format!("{text}\n"));
        }
    }

    /// Diagnostics: rendered for people, or one JSON object per line; from one run of many, both.
    pub fn show(&self, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            if self.quiet && diagnostic.severity == Severity::Note {
                continue;
            }
            to_stderr(&match apart::is_cell() {
                true => Said::of(diagnostic, self.colour).to_line(),
                false => self.rendered(diagnostic),
            });
        }
    }

    /// Shows what was found wrong with a recording. Errors say what is missing: with them it
    /// was read in part, and in vain where `is_anything` says that nothing was read.
    pub fn show_findings(&self, findings: Findings, is_anything: bool) -> Ended {
        let has_errors = findings.has_errors();
        let findings = findings.into_vec();
        if has_errors && !is_anything {
            return Err(findings);
        }
        self.show(&findings);
        Ok(if has_errors { Outcome::Partial } else { Outcome::Passed })
    }

    /// Reads a world with the options of the command line and the environment, and shows
    /// what was found on the way.
    pub fn read_world(&self, path: &Path, args: &WorldArgs) -> Result<Read, Vec<Diagnostic>> {
        let read = headland_world::read(path, &read_options(args))?;
        self.show(&read.findings);
        Ok(read)
    }
}

/// The first of what an engine said during a run or a replay, and where the others are.
pub fn engine_remark(text: &str, time: SimTime, n_more: usize, place: &str) -> Diagnostic {
    let said = Diagnostic::warning("engine-remark", format!("at {time}: {text}"));
    match n_more {
        0 => said,
        n => said.note(format!("{n} more {place}")),
    }
}

/// Words to the person. Where nobody can be told, there is nobody to tell that either, and the
/// exit code still says how it went.
pub fn to_stderr(text: &str) {
    _ = std::io::stderr().lock().write_all(harmless(text).as_bytes());
}

/// The options a world is read with.
pub fn read_options(args: &WorldArgs) -> ReadOptions {
    ReadOptions {
        lenient: args.lenient,
        resources: resources(),
        derive_inertia: args.derive_inertia,
    }
}

/// The folders that the environment says to look for files in.
pub fn resources() -> Resources {
    let search = std::env::var_os("HEADLAND_RESOURCE_PATH");
    let search = search.iter().flat_map(std::env::split_paths);
    // An empty variable is no folder, and so is nothing between two colons.
    Resources::new(search.filter(|folder| !folder.as_os_str().is_empty()).collect())
}

/// A test or a table, whole. A pipe or a device may have no end and is refused.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let name = path.display();
    let cannot = |fault: std::io::Error| {
        Diagnostic::error("missing-file", format!("cannot open `{name}`: {fault}"))
    };
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        let message = format!("`{name}` is no regular file");
        return Err(Diagnostic::error("not-a-file", message)
            .help("save what comes out of it to a file, and give that file's name"));
    }
    std::fs::read(path).map_err(cannot)
}

/// Writes a file that a command makes beside its results: beside its place first, and onto the
/// disk before it takes it, so that whatever ends the writing leaves the file that was there. What
/// is no plain file, such as a pipe, and what a link leads to is written to.
pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Vec<Diagnostic>> {
    let cannot = |code, what: &str, error: std::io::Error| {
        vec![Diagnostic::error(code, format!("cannot {what} `{}`: {error}", path.display()))]
    };
    let known = path.symlink_metadata().ok();
    let is_plain = known.as_ref().is_none_or(|about| about.is_file());
    if known.is_some() && is_plain {
        // Whoever may not write it may not replace it either.
        OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(|error| cannot("not-created", "create", error))?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.part", std::process::id()));
    let new = match is_plain.then(|| File::create_new(&beside)) {
        Some(Ok(file)) => Some(file),
        // A folder that takes no new file: there is only the file itself.
        Some(Err(error)) if known.is_none() || error.kind() != ErrorKind::PermissionDenied => {
            return Err(cannot("not-created", "create", error));
        }
        _ => None,
    };
    if let Some(mut file) = new {
        let kept = known.map_or(Ok(()), |about| file.set_permissions(about.permissions()));
        let written = kept
            .and_then(|()| file.write_all(content.as_ref()))
            .and_then(|()| file.sync_all())
            .and_then(|()| std::fs::rename(&beside, path));
        return written.map_err(|error| {
            _ = std::fs::remove_file(&beside);
            cannot("cannot-write", "write", error)
        });
    }
    let mut file = File::create(path).map_err(|error| cannot("not-created", "create", error))?;
    file.write_all(content.as_ref()).map_err(|error| cannot("cannot-write", "write", error))
}

/// Refuses every output that could not be written, before anything is done for it. What is no plain
/// file, such as a pipe, is known when it is written.
pub fn refuse_unwritable<'p>(
    outputs: impl IntoIterator<Item = &'p PathBuf>,
) -> Result<(), Vec<Diagnostic>> {
    let fault = |path: &PathBuf| {
        let why = match path.metadata() {
            _ if is_stdout(path) => return None,
            Ok(about) if about.is_dir() => "it is a folder".to_string(),
            Ok(about) if about.is_file() => {
                OpenOptions::new().write(true).open(path).err()?.to_string()
            }
            Ok(_) => return None,
            Err(_) => takes_files(parent(path)).err()?.to_string(),
        };
        let message = format!("cannot create `{}`: {why}", path.display());
        Some(Diagnostic::error("not-created", message))
    };
    let faults: Vec<Diagnostic> = outputs.into_iter().filter_map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// The same of a folder that is made where it is not there.
pub fn refuse_unwritable_folder(folder: &Path) -> Result<(), Vec<Diagnostic>> {
    let there = folder.ancestors().map(|part| match part.as_os_str().is_empty() {
        true => Path::new("."),
        false => part,
    });
    let nearest = there.into_iter().find(|part| part.exists()).unwrap_or(Path::new("."));
    takes_files(nearest).map_err(|fault| {
        let message = format!("cannot create the folder `{}`: {fault}", folder.display());
        vec![Diagnostic::error("not-created", message)]
    })
}

/// The folder a file is in.
fn parent(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Whether a folder takes a new file: one is made and taken away again.
fn takes_files(folder: &Path) -> std::io::Result<()> {
    let trial = folder.join(format!(".headland.{}.part", std::process::id()));
    File::create_new(&trial)?;
    std::fs::remove_file(&trial)
}

/// Whether two names are those of one file, there or not.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| {
        path.canonicalize()
            .ok()
            .or_else(|| Some(parent(path).canonicalize().ok()?.join(path.file_name()?)))
    };
    a == b || whole(a).is_some_and(|a| whole(b) == Some(a))
}

/// `headland 0.1.0 (0123456789ab)`: in `--version`, and in every recording.
pub const BUILD: &str =
    concat!("headland ", env!("CARGO_PKG_VERSION"), " (", env!("HEADLAND_COMMIT"), ")");

/// Opens a recording. Of what is none, it says how to make one.
pub fn open_recording(path: &Path) -> Result<Reader<BufReader<File>>, Vec<Diagnostic>> {
    let format = Format::detect(path).map_err(|fault| vec![fault])?;
    let is_empty = path.metadata().is_ok_and(|about| about.is_file() && about.len() == 0);
    if format == Format::Mcap || is_empty {
        return Reader::open(path).map_err(|fault| vec![fault]);
    }
    let made = path.file_stem().map(|stem| Path::new(stem).with_extension("mcap"));
    // Nobody is told to write over a recording.
    let made = made.filter(|made| !made.exists()).unwrap_or_else(|| "NEW.mcap".into());
    let (shown, name) = (path.display(), format.name());
    let help = format!(
        "if it is {name}, make a recording of it: `headland import {shown} -o {}`",
        made.display()
    );
    Err(vec![Diagnostic::error("not-mcap", format!("`{shown}` is not an MCAP file")).help(help)])
}

/// Whether an output is standard output.
pub fn is_stdout(output: &Path) -> bool {
    output == Path::new("-")
}

/// Refuses standard output where a file is needed: `-` is no name anybody means.
pub fn refuse_stdout(output: &Path, why: &str) -> Result<(), Vec<Diagnostic>> {
    if !is_stdout(output) {
        return Ok(());
    }
    let message = format!("`-` for standard output is not possible here: {why}");
    let help = "give a file name; a file that is really called `-` is `./-`";
    Err(vec![Diagnostic::error("needs-a-file", message).help(help)])
}

/// Refuses to write over what is being read, or into the bag that is.
pub fn refuse_same(source: &Path, output: &Path) -> Result<(), Vec<Diagnostic>> {
    match (source.canonicalize(), output.canonicalize()) {
        (Ok(source), Ok(same)) if same.starts_with(&source) => {
            let message = format!("`{}` cannot replace its own source", output.display());
            Err(vec![Diagnostic::error("same-file", message).help("write it under another name")])
        }
        _ => Ok(()),
    }
}

/// Refuses two outputs of one name: the later would replace the earlier.
pub fn refuse_twice<'p>(
    outputs: impl IntoIterator<Item = &'p PathBuf>,
) -> Result<(), Vec<Diagnostic>> {
    let mut seen: Vec<&PathBuf> = Vec::new();
    for path in outputs.into_iter().filter(|path| !is_stdout(path)) {
        if seen.iter().any(|other| is_same_file(other, path)) {
            let message = format!("`{}` is to be written twice", path.display());
            return Err(vec![
                Diagnostic::error("same-file", message).help("give each output its own name"),
            ]);
        }
        seen.push(path);
    }
    Ok(())
}
