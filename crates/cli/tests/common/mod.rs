//! What the end-to-end tests share: the program, what ships with it, and which engines are there.

#![allow(dead_code, reason = "each test file uses what it needs")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

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

/// The path of a world that ships.
pub fn world(name: &str) -> String {
    format!("{ROOT}/worlds/{name}.sdf")
}

/// The path of a test that ships.
pub fn test(name: &str) -> String {
    format!("{ROOT}/worlds/tests/{name}.lrp")
}

/// Output as JSON.
pub fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|e| panic!("{e}: {}", text(bytes)))
}

/// Names of the engines that are there; all of them where they are required.
pub fn engines() -> Vec<String> {
    let dir = tempfile::tempdir().expect("a folder");
    let listed = json(&expect(dir.path(), &["engines", "--json"], 0).stdout);
    let listed = listed.as_array().expect("a list").clone();
    let is_required = std::env::var("HEADLAND_REQUIRE_FOREIGN").as_deref() == Ok("1");
    for engine in &listed {
        assert!(!is_required || !engine["version"].is_null(), "{engine}");
    }
    let there = listed.iter().filter(|engine| !engine["version"].is_null());
    there.map(|engine| engine["name"].as_str().expect("a name").to_string()).collect()
}

/// Whether an engine is there; says so where it is not.
pub fn has(engine: &str) -> bool {
    let is_there = engines().iter().any(|name| name == engine);
    if !is_there {
        eprintln!("skipped: {engine} is not there");
    }
    is_there
}

/// The example of the book, which does something else at its 300th step.
pub fn own_engine(dir: &Path, name: &str, does: &str) -> String {
    let example = format!("{ROOT}/crates/engines/examples/bouncing_spheres.py");
    let example = std::fs::read_to_string(example).expect("the example");
    let step = "    elif message[\"do\"] == \"step\":\n";
    assert!(example.contains(step));
    let hooked = format!("{step}        n += 1\n        if n == 300:\n            {does}\n");
    let text = example
        .replace(step, &hooked)
        .replace("for line in sys.stdin", "import os, signal, time\nn = 0\nfor line in sys.stdin");
    std::fs::write(dir.join(name), text).expect("written");
    format!("./{name}")
}
