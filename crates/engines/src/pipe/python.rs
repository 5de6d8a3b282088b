//! Which Python runs the adapters, and how one is given its program.

use std::path::PathBuf;
use std::process::Command;

/// Reads its program as the first line of its input and becomes it: no file is written, and a
/// traceback still shows the lines.
const BOOTSTRAP: &str = "\
import sys, json, linecache
name, text = json.loads(sys.stdin.readline())
linecache.cache[name] = (len(text), None, text.splitlines(True), name)
exec(compile(text, name, 'exec'), {'__name__': '__main__', '__file__': name})";

/// The interpreters to try, best first: `HEADLAND_PYTHON` alone if it is set, else that of the
/// virtual environment that is active, of the one in this folder, and those on the path.
pub(super) fn interpreters() -> Vec<PathBuf> {
    if let Some(chosen) = std::env::var_os("HEADLAND_PYTHON").filter(|name| !name.is_empty()) {
        return vec![PathBuf::from(chosen)];
    }
    let active =
        std::env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("bin/python"));
    let here = Some(PathBuf::from("./.venv/bin/python"));
    let environments = active.into_iter().chain(here).filter(|python| python.is_file());
    environments.chain(["python3", "python"].map(PathBuf::from)).collect()
}

/// An interpreter that waits for its program.
pub(super) fn waiting(python: &std::path::Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-c", BOOTSTRAP]);
    // Modules from where they are installed, not from the folder somebody happens to be in.
    command.env("PYTHONSAFEPATH", "1");
    steadied(command)
}

/// The first line of its input.
pub(super) fn program(name: &str, text: &str) -> Vec<u8> {
    let mut line = serde_json::to_vec(&(name, text)).expect("text is JSON");
    line.push(b'\n');
    line
}

/// An interpreter for a file.
pub(super) fn running(python: &std::path::Path, file: &str) -> Command {
    let mut command = Command::new(python);
    command.arg(file);
    steadied(command)
}

/// What makes two runs alike: no random hashes, one thread for sums.
fn steadied(mut command: Command) -> Command {
    for (key, value) in [
        ("PYTHONHASHSEED", "0"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("OMP_NUM_THREADS", "1"),
        ("OPENBLAS_NUM_THREADS", "1"),
    ] {
        command.env(key, value);
    }
    command
}
