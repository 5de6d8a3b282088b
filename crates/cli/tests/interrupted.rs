//! Runs, matrices and cards that somebody breaks off are never green.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{expect, headland, json, text, world};

/// Reaches `green` when the ball lands, and would be believed if the run went on.
const LANDS: &str = "(machine lands (state falling) (state green)\n\
    (on [ball touches: ground] falling -> green))\n(spawn lands falling)\n";

/// Red as soon as the ball is low, which nothing that follows can undo.
const STAYS_UP: &str = "(machine staysUp (state up) (state green) (state red)\n\
    (on [ball pose z < 1] up -> red) (on [recording time >= stopTime] up -> green))\n\
    (spawn staysUp up)\n";

/// Red only where the recording ends before the ball is at a height it never has.
const RISES: &str = "rises := eventually [ball pose z > 100].\n";

/// Starts a command, ends it politely when the file has grown, and waits for it.
fn interrupted(dir: &Path, args: &[&str], grows: &str, signal: &str) -> std::process::Output {
    let child = headland(dir)
        .args(args)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    let grown = || fs::metadata(dir.join(grows)).map_or(0, |meta| meta.len()) > 300_000;
    for _ in 0..6000 {
        if grown() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let told = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(told.expect("kill runs").success());
    child.wait_with_output().expect("ends")
}

#[test]
fn a_run_that_is_interrupted_is_never_green() {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, text) in [("lands.lrp", LANDS), ("up.lrp", STAYS_UP), ("rises.stl", RISES)] {
        fs::write(dir.path().join(name), text).expect("written");
    }
    let ball = world("ball");
    let args = ["run", &ball, "--test", "lands.lrp", "-d", "99999", "-o", "a.mcap", "--json"];
    let ran = interrupted(dir.path(), &args, "a.mcap", "-INT");
    assert_eq!(ran.status.code(), Some(3), "{}", text(&ran.stderr));
    let told = &json(&ran.stdout)["verdicts"][0];
    assert_eq!(told["verdict"], "inconclusive", "{told}");
    assert!(told["reason"].as_str().is_some_and(|why| why.starts_with("interrupted")), "{told}");

    // The recording knows that it was cut short, and so does whoever judges it later.
    let judged = expect(dir.path(), &["test", "lands.lrp", "rises.stl", "--on", "a.mcap"], 3);
    assert!(text(&judged.stdout).contains("interrupted at"), "{}", text(&judged.stdout));
    assert!(text(&judged.stdout).contains("2 inconclusive"), "{}", text(&judged.stdout));
    let judged = expect(dir.path(), &["test", "up.lrp", "--on", "a.mcap"], 1);
    assert!(text(&judged.stdout).contains("up -> red"), "{}", text(&judged.stdout));
    // Of a stretch that ends before that, everything is there.
    expect(dir.path(), &["test", "lands.lrp", "--on", "a.mcap", "--end", "2"], 0);
}

#[test]
fn a_matrix_that_is_interrupted_is_never_green() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("lands.lrp"), LANDS).expect("written");
    let ball = world("ball");
    let args = [
        "test",
        "lands.lrp",
        "--world",
        &ball,
        "--engines",
        "rapier,native",
        "-d",
        "99999",
        "--no-margin",
        "--keep",
        "kept",
        "--json",
    ];
    let ran = interrupted(dir.path(), &args, "kept/ball-rapier.mcap", "-TERM");
    assert_eq!(ran.status.code(), Some(3), "{}", text(&ran.stderr));
    let cells = json(&ran.stdout);
    let cells = cells["results"].as_array().expect("results");
    assert_eq!(cells.len(), 2);
    for cell in cells {
        assert_ne!(cell["verdict"], "green", "{cell}");
        assert!(cell["reason"].as_str().is_some_and(|why| why.contains("interrupted")), "{cell}");
    }
}

#[test]
fn a_card_that_is_interrupted_says_so() {
    let dir = tempfile::tempdir().expect("a folder");
    let args = [
        "engines",
        "--report-card",
        "--engines",
        "native",
        "--probes",
        "free_box_complex,stack",
        "--keep",
        "kept",
        "--json",
    ];
    let ran = interrupted(dir.path(), &args, "kept/free_box_complex-1000us-native.mcap", "-TERM");
    assert_eq!(ran.status.code(), Some(3), "{}", text(&ran.stderr));
    let card = json(&ran.stdout);
    let last = card["probes"].as_array().expect("probes").last().expect("one").clone();
    assert_eq!(last["runs"][0]["went"], "interrupted", "{last}");
    assert_ne!(last["tests"]["results"][0]["verdict"], "green", "{last}");
    assert!(last["measures"][0]["engines"][0]["error"].is_null(), "{last}");
}
