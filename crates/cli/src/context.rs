//! What every command shares: where results go, where diagnostics go, and how it ends.

use std::io::{IsTerminal, Write as _};
use std::path::Path;

use headland_base::{Diagnostic, Severity};
use headland_world::{Read, ReadOptions, resource::Resources};

use crate::args::{Global, WorldArgs};

/// How a command ended. `main` alone turns this into an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// 0: it ran and all is well.
    Passed,
    /// 2: we could not do what was asked.
    BadInput,
    /// 3: it ran, but on partial data, or was broken off.
    Partial,
    /// 4: an engine, or headland itself, broke.
    Broken,
}

impl Outcome {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Outcome::Passed => 0,
            Outcome::BadInput => 2,
            Outcome::Partial => 3,
            Outcome::Broken => 4,
        }
    }
}

/// How a command's own function ends: an outcome, or every reason why not.
pub type Ended = Result<Outcome, Vec<Diagnostic>>;

/// Results on stdout, everything else on stderr.
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
            colour: !no_colour && std::io::stderr().is_terminal(),
        }
    }

    /// Whether a program reads the results.
    pub fn json(&self) -> bool {
        self.json
    }

    /// Whether a person watches.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && !self.json && std::io::stderr().is_terminal()
    }

    /// A result. A reader that went away (`| head`) ends the program without a word.
    pub fn print(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            std::process::exit(0);
        }
    }

    /// A word to the person, not a result.
    pub fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            eprintln!("{text}");
        }
    }

    /// Diagnostics: rendered for people, or one JSON object per line.
    pub fn show(&self, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            if self.quiet && diagnostic.severity == Severity::Note {
                continue;
            }
            if self.json {
                eprintln!("{}", diagnostic.to_json());
            } else {
                eprint!("{}", diagnostic.render(self.colour));
            }
        }
    }

    /// Reads a world with the options of the command line and the environment, and shows
    /// what was found on the way.
    pub fn read_world(&self, path: &Path, args: &WorldArgs) -> Result<Read, Vec<Diagnostic>> {
        let read = headland_world::read(path, &read_options(args))?;
        self.show(&read.findings);
        Ok(read)
    }
}

/// The options a world is read with.
pub fn read_options(args: &WorldArgs) -> ReadOptions {
    let search = std::env::var_os("HEADLAND_RESOURCE_PATH");
    let search = search.iter().flat_map(std::env::split_paths);
    // An empty variable is no folder, and so is nothing between two colons.
    let search = search.filter(|folder| !folder.as_os_str().is_empty()).collect();
    ReadOptions {
        lenient: args.lenient,
        resources: Resources::new(search),
        derive_inertia: args.derive_inertia,
    }
}

/// `headland 0.1.0 (0123456789ab)`: in `--version`, and in every recording.
pub const BUILD: &str =
    concat!("headland ", env!("CARGO_PKG_VERSION"), " (", env!("HEADLAND_COMMIT"), ")");

/// Refuses to write over what is being read.
pub fn refuse_same(source: &Path, output: &Path) -> Result<(), Vec<Diagnostic>> {
    match (source.canonicalize(), output.canonicalize()) {
        (Ok(source), Ok(same)) if source == same => {
            let message = format!("`{}` cannot replace its own source", output.display());
            Err(vec![Diagnostic::error("same-file", message).help("write it under another name")])
        }
        _ => Ok(()),
    }
}
