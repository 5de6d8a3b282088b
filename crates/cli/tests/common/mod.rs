//! What the end-to-end tests share: the program, and a folder of its own for each test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The workspace's root.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The program, to be run in `dir`.
pub fn headland(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headland"));
    command.current_dir(dir).env_remove("HEADLAND_RESOURCE_PATH").env("NO_COLOR", "1");
    command
}

/// Runs it and wants this exit code.
pub fn expect(dir: &Path, args: &[&str], code: i32) -> Output {
    let output = headland(dir).args(args).output().expect("the program runs");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}\nstdout: {out}\nstderr: {err}");
    output
}

/// Output as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every world that ships.
#[allow(dead_code, reason = "each test file uses what it needs")]
pub fn shipped_worlds() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(format!("{ROOT}/worlds")).expect("worlds");
    let mut worlds: Vec<PathBuf> = folder
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "sdf"))
        .collect();
    worlds.sort();
    assert!(worlds.len() >= 5, "{worlds:?}");
    worlds
}
