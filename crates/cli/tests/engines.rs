//! Engines in processes of their own: the matrix, the report card, and engines that break.
//!
//! Engines that break are real ones: a library that stands in front of libode and breaks one
//! of its functions, or a program that does not keep to the protocol.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{ROOT, expect, headland, text};
use serde_json::Value;

fn world(name: &str) -> String {
    format!("{ROOT}/worlds/{name}.sdf")
}

fn test(name: &str) -> String {
    format!("{ROOT}/worlds/tests/{name}.lrp")
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|e| panic!("{e}: {}", text(bytes)))
}

/// Names of the engines that are there; all of them where they are required.
fn engines() -> Vec<String> {
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

fn has(engine: &str) -> bool {
    let is_there = engines().iter().any(|name| name == engine);
    if !is_there {
        eprintln!("skipped: {engine} is not there");
    }
    is_there
}

#[test]
fn at_least_seven_engines_step_and_the_matrix_is_complete() {
    let names = engines();
    if std::env::var("HEADLAND_REQUIRE_FOREIGN").as_deref() == Ok("1") {
        assert!(names.len() >= 7, "{names:?}");
    }
    let dir = tempfile::tempdir().expect("a folder");
    let command = [
        "test",
        &test("slides"),
        "--world",
        &world("cylinders"),
        "--engines",
        "all",
        "--json",
        "--duration",
        "0.5",
        "--no-margin",
    ];
    let output = headland(dir.path()).args(command).output().expect("it runs");
    let cells = json(&output.stdout);
    let cells = cells["results"].as_array().expect("results").clone();
    let judged: BTreeSet<&str> = cells
        .iter()
        .map(|cell| {
            assert!(!cell["verdict"].is_null(), "{cell}");
            cell["recording"].as_str().expect("a name").trim_start_matches("cylinders-")
        })
        .collect();
    assert_eq!(judged, names.iter().map(String::as_str).collect());
}

#[test]
fn every_engine_gives_the_same_bytes_twice() {
    let dir = tempfile::tempdir().expect("a folder");
    for engine in engines() {
        for (name, secs) in [("ball", "1"), ("joints", "0.2")] {
            let record = |output: &str| {
                let args = ["run", &world(name), "--engine", &engine, "-d", secs, "-o", output];
                let ran = headland(dir.path()).args(args).output().expect("it runs");
                (ran.status.code(), fs::read(dir.path().join(output)).unwrap_or_default())
            };
            let (first, second) = (record("first.mcap"), record("second.mcap"));
            // Some cannot have every joint; then they say so both times.
            assert!(first.0 == Some(0) || name == "joints", "{engine}: {:?}", first.0);
            assert!(first == second, "{engine} on {name}: {:?} and {:?}", first.0, second.0);
        }
    }
}

/// A library in front of libode in which one function does something else from its 301st call
/// on.
fn broken_ode(dir: &Path, name: &str, does: &str) -> Option<PathBuf> {
    let source = dir.join(format!("{name}.c"));
    let library = dir.join(format!("{name}.so"));
    let text = format!(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <signal.h>\n#include <stdlib.h>\n\
         #include <unistd.h>\n\
         int dWorldQuickStep(void *world, double step) {{\n\
           static int n;\n\
           if (++n > 300) {{ {does} }}\n\
           int (*real)(void *, double) = dlsym(RTLD_NEXT, \"dWorldQuickStep\");\n\
           return real(world, step);\n}}\n"
    );
    fs::write(&source, text).expect("written");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"])
        .args([&library, &source])
        .args(["-l:libode.so.8", "-ldl"])
        .output()
        .expect("a C compiler");
    assert!(made.status.success(), "{}", common::text(&made.stderr));
    Some(library)
}

/// Runs the ball on an ODE that breaks after 0.3 s; its words, and the end of its recording.
fn run_broken(does: &str, more: &[&str]) -> (String, f64) {
    let dir = tempfile::tempdir().expect("a folder");
    let library = broken_ode(dir.path(), "broken", does).expect("a library");
    let ran = headland(dir.path())
        .env("HEADLAND_ODE", library)
        .args(["run", &world("ball"), "--engine", "ode", "-d", "2", "-o", "ball.mcap"])
        .args(more)
        .output()
        .expect("it runs");
    let words = text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(4), "{words}");
    let info = headland(dir.path()).args(["info", "--json", "ball.mcap"]).output().expect("runs");
    let info = json(&info.stdout);
    let ends = info["topics"].as_array().expect("topics").iter();
    let end_ns = ends.filter_map(|topic| topic["last_ns"].as_i64()).max().expect("a moment");
    (words, end_ns as f64 * 1e-9)
}

#[test]
fn an_engine_that_takes_its_process_down_leaves_its_recording() {
    if !has("ode") {
        return;
    }
    let (words, end_secs) = run_broken("raise(SIGSEGV);", &[]);
    assert!(words.contains("engine-crashed") && words.contains("SIGSEGV"), "{words}");
    assert!(words.contains("kept up to"), "{words}");
    assert!((0.2..=0.3).contains(&end_secs), "{end_secs}");
    let (words, end_secs) = run_broken("exit(0);", &[]);
    assert!(words.contains("exit code 0"), "{words}");
    assert!((0.2..=0.3).contains(&end_secs), "{end_secs}");
}

#[test]
fn an_engine_that_hangs_is_ended() {
    if !has("ode") {
        return;
    }
    let (words, end_secs) = run_broken("for (;;) pause();", &["--patience", "1"]);
    assert!(words.contains("engine-hangs") && words.contains("after 300"), "{words}");
    assert!((0.2..=0.3).contains(&end_secs), "{end_secs}");
}

#[test]
fn a_broken_engine_leaves_the_others_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("garbage.py"), "print('hello there')\n").expect("written");
    fs::write(dir.path().join("empty.c"), "int nothing;\n").expect("written");
    let made = Command::new("cc")
        .current_dir(dir.path())
        .args(["-shared", "-o", "empty.so", "empty.c"])
        .status()
        .expect("a C compiler");
    assert!(made.success());
    let ran = headland(dir.path())
        .env("HEADLAND_ODE", dir.path().join("empty.so"))
        .args(["test", &test("lower"), "--world", &world("ball"), "-d", "1", "--json"])
        .args(["--engines", "rapier,ode,./garbage.py", "--no-margin"])
        .output()
        .expect("it runs");
    let (out, err) = (json(&ran.stdout), text(&ran.stderr));
    assert!(matches!(ran.status.code(), Some(2 | 4)), "{err}");
    let cells = out["results"].as_array().expect("results");
    let cell = |engine: &str| {
        let found = cells
            .iter()
            .find(|cell| cell["recording"].as_str().is_some_and(|name| name.ends_with(engine)));
        found.unwrap_or_else(|| panic!("no {engine} in {out}"))
    };
    assert_eq!(cell("rapier")["verdict"], "green", "{out}");
    for (engine, said) in [("ode", "has no function"), ("garbage.py", "hello there")] {
        assert!(cell(engine)["verdict"].is_null(), "{out}");
        assert!(
            cell(engine)["reason"].as_str().is_some_and(|why| why.contains(said)),
            "{out}\n{err}"
        );
    }
}

/// A Python without packages, and no home: what is missing is named, what is there is found.
#[test]
fn what_is_missing_is_named_and_no_home_is_needed() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a folder");
    let bare = dir.path().join("python");
    fs::write(&bare, "#!/bin/sh\nexec python3 -S -I \"$@\"\n").expect("written");
    fs::set_permissions(&bare, fs::Permissions::from_mode(0o755)).expect("made executable");
    let output = Command::new(env!("CARGO_BIN_EXE_headland"))
        .args(["engines", "--json"])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HEADLAND_PYTHON", &bare)
        .output()
        .expect("runs");
    let listed = json(&output.stdout);
    let of = |name: &str| {
        let all = listed.as_array().expect("a list").iter();
        all.clone().find(|engine| engine["name"] == name).expect("listed").clone()
    };
    for (name, package) in [("dart", "dartpy"), ("drake", "drake"), ("pybullet", "pybullet")] {
        let engine = of(name);
        let why = engine["missing"].as_str().expect("it is not there");
        assert!(why.ends_with(&format!("has no package `{package}`")), "{why}");
        let install = engine["install"].as_str().expect("a command");
        assert!(install.starts_with(&format!("pip install {package}")), "{install}");
    }
    if has("bullet") {
        assert!(of("bullet")["missing"].is_null(), "{}", of("bullet"));
    }
}

#[test]
fn the_report_card_measures_judges_and_draws() {
    let dir = tempfile::tempdir().expect("a folder");
    let args = ["engines", "--report-card", "--engines", "rapier", "--probes", "ball,slider"];
    let made = expect(dir.path(), &[&args[..], &["--json", "--html", "card.html"]].concat(), 0);
    let card = json(&made.stdout);
    let probes = card["probes"].as_array().expect("probes");
    assert_eq!(probes.len(), 6, "two probes at three steps");
    let first = &probes[0];
    assert_eq!(first["probe"], "ball");
    let ratio = &first["measures"][1]["engines"][0];
    assert!((ratio["expected"].as_f64().expect("a number") - 0.49).abs() < 1e-12, "{ratio}");
    assert!(ratio["error"].as_f64().expect("a number") < 0.01, "{ratio}");
    assert_eq!(first["tests"]["results"][0]["verdict"], "green", "{first}");
    let page = fs::read_to_string(dir.path().join("card.html")).expect("a page");
    assert!(page.contains("ball_ratio") && page.contains("<svg"), "drawn and measured");
    let table = text(&expect(dir.path(), &args, 0).stdout);
    assert!(table.contains("slider_distance"), "{table}");
    let refused = expect(dir.path(), &[&args[..4], &["--probes", "bal"]].concat(), 2);
    assert!(text(&refused.stderr).contains("did you mean `ball`"), "{}", text(&refused.stderr));
}
