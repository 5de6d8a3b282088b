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
fn every_engine_that_is_there_has_its_cell_in_the_matrix() {
    let names = engines();
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

/// They cannot have all the joints of `joints.sdf`.
const WITHOUT_SCREWS: &[&str] = &["pybullet"];

#[test]
fn every_engine_gives_the_same_bytes_twice() {
    let dir = tempfile::tempdir().expect("a folder");
    for engine in engines() {
        for (name, secs) in [("ball", "1"), ("joints", "0.2")] {
            if name == "joints" && WITHOUT_SCREWS.contains(&engine.as_str()) {
                let args = ["run", &world(name), "--engine", &engine, "-o", "joints.mcap"];
                let words = text(&expect(dir.path(), &args, 2).stderr);
                assert!(words.contains("engine-cannot"), "{words}");
                continue;
            }
            let record = |output: &str| {
                let args = ["run", &world(name), "--engine", &engine, "-d", secs, "-o", output];
                expect(dir.path(), &args, 0);
                fs::read(dir.path().join(output)).expect("a recording")
            };
            assert!(record("first.mcap") == record("second.mcap"), "{engine} on {name}");
        }
    }
}

/// A library in front of libode in which one function does something else from its 301st call
/// on.
fn broken_ode(dir: &Path, name: &str, does: &str) -> PathBuf {
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
    library
}

/// Runs the ball on an ODE that breaks after 0.3 s; its words, and the end of its recording.
fn run_broken(does: &str, more: &[&str]) -> (String, f64) {
    let dir = tempfile::tempdir().expect("a folder");
    let library = broken_ode(dir.path(), "broken", does);
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

/// What a library prints while it is loaded is not taken for its answer, or for its end.
#[test]
fn a_library_that_prints_is_found() {
    if !has("ode") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let library = dir.path().join("talks.so");
    let source = dir.path().join("talks.c");
    let talk = "#include <stdio.h>\n__attribute__((constructor)) static void talk(void) {\n\
                for (int i = 0; i < 9999; ++i) puts(\"this is ODE, {\");\n}\n";
    fs::write(&source, talk).expect("written");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"])
        .args([&library, &source])
        .arg("-l:libode.so.8")
        .status()
        .expect("a C compiler");
    assert!(made.success());
    let listed = headland(dir.path())
        .env("HEADLAND_ODE", &library)
        .args(["engines", "--json"])
        .output()
        .expect("it runs");
    let listed = json(&listed.stdout);
    let ode = listed.as_array().expect("a list").iter().find(|engine| engine["name"] == "ode");
    let ode = ode.expect("ODE is listed");
    assert_eq!(ode["place"].as_str(), library.to_str(), "{ode}");
}

/// Before a recording is opened there is none to keep, though one of an earlier run may be there.
#[test]
fn an_engine_that_hangs_before_it_is_ready_has_recorded_nothing() {
    if !has("ode") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    expect(dir.path(), &["run", &world("ball"), "-d", "0.1", "-o", "ball.mcap"], 0);
    let library = dir.path().join("sleeps.so");
    let source = dir.path().join("sleeps.c");
    // While it is loaded, the loader may hold back the thread that ends the run from within.
    for (sleeps, wanted) in [
        ("int dInitODE2(unsigned flags)", "not ready after 1 s"),
        ("__attribute__((constructor)) static void load(void)", "engine-hangs"),
    ] {
        let sleep = format!("#include <unistd.h>\n{sleeps} {{ for (;;) pause(); }}\n");
        fs::write(&source, sleep).expect("written");
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"])
            .args([&library, &source])
            .arg("-l:libode.so.8")
            .status();
        assert!(made.expect("a C compiler").success());
        let ran = headland(dir.path())
            .env("HEADLAND_ODE", &library)
            .args(["run", &world("ball"), "--engine", "ode", "-o", "ball.mcap", "--patience", "1"])
            .output()
            .expect("it runs");
        let words = text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(4), "{words}");
        assert!(words.contains("engine-hangs") && words.contains(wanted), "{words}");
        assert!(words.contains("nothing was recorded yet"), "{words}");
    }
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
fn an_engine_that_stops_its_process_is_ended_from_outside() {
    if !has("ode") {
        return;
    }
    let (words, end_secs) = run_broken("raise(SIGSTOP);", &["--patience", "1"]);
    assert!(words.contains("engine-hangs") && words.contains("no sign of life"), "{words}");
    assert!(words.contains("kept up to"), "{words}");
    assert!((0.2..=0.3).contains(&end_secs), "{end_secs}");
}

/// One that is told to end and cannot is not waited for either.
#[test]
fn a_run_that_hangs_is_ended_when_somebody_wants_it() {
    if !has("ode") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let stop = "if (n == 3000) { raise(SIGSTOP); }";
    let library = broken_ode(dir.path(), "stops", stop);
    let mut child = headland(dir.path())
        .env("HEADLAND_ODE", library)
        .args(["run", &world("ball"), "--engine", "ode", "-d", "99", "-o", "ball.mcap", "--quiet"])
        .spawn()
        .expect("starts");
    // The one whose engine it is, and which stops itself, is a child of this child.
    let parent = child.id().to_string();
    let is_stopped = || {
        fs::read_dir("/proc").expect("/proc").flatten().any(|entry| {
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let rest = stat.rsplit(')').next().unwrap_or_default();
            let mut fields = rest.split_whitespace();
            fields.next() == Some("T") && fields.next() == Some(&parent)
        })
    };
    let mut n_looks = 0;
    while !is_stopped() {
        n_looks += 1;
        assert!(n_looks < 600, "it never stopped itself");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(told.expect("kill runs").success());
    assert_eq!(child.wait().expect("ends").code(), Some(3));
}

/// A recording that is gone when it is to be read is told, and not only missing in the card.
#[test]
fn a_card_tells_of_recordings_that_cannot_be_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let example = format!("{ROOT}/crates/engines/examples/bouncing_spheres.py");
    let example = fs::read_to_string(example).expect("the example");
    // A program is told to end after its run was recorded.
    let spoils = "import atexit, glob\natexit.register(lambda: [open(name, 'wb').write(b'nothing') \
                  for name in glob.glob('kept/*.mcap')])\n";
    fs::write(dir.path().join("spoils.py"), format!("{spoils}{example}")).expect("written");
    let card = ["engines", "--report-card", "--engines", "./spoils.py", "--probes", "ball"];
    let ran = headland(dir.path()).args(card).args(["--keep", "kept"]).output().expect("it runs");
    let words = text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{words}");
    assert!(words.contains("error[") && words.contains("kept/ball-1000us"), "{words}");
}

/// A compiler that does this where it is to make a shim; whether it was asked before is no matter,
/// for the cache is a new one.
#[cfg(unix)]
fn bullet_compiled_by(dir: &Path, does: &str, patience: &str) -> Command {
    use std::os::unix::fs::PermissionsExt as _;
    let compiler = dir.join("compiler");
    let script = format!("#!/bin/sh\ncase \"$*\" in *-shared*) {does};; esac\nexec c++ \"$@\"\n");
    fs::write(&compiler, script).expect("written");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).expect("executable");
    let mut run = headland(dir);
    run.env("CXX", &compiler).env("HEADLAND_CACHE", dir.join("cache"));
    run.args(["run", &world("ball"), "--engine", "bullet", "-d", "0.1", "-o", "ball.mcap"]);
    run.args(["--patience", patience]);
    run
}

/// To compile a shim may take longer than a step.
#[cfg(unix)]
#[test]
fn compiling_a_shim_has_its_own_patience() {
    if !has("bullet") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    // Longer than patience, what a program may take to start, and the grace after it.
    let ran = bullet_compiled_by(dir.path(), "sleep 8", "1").output().expect("it runs");
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
}

/// A run that is ended takes its compiler along.
#[cfg(unix)]
#[test]
fn a_compiler_ends_with_its_run() {
    if !has("bullet") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let mut run = bullet_compiled_by(dir.path(), "echo $$ > pid; exec sleep 600", "60");
    let mut child = run.spawn().expect("starts");
    let nap = || std::thread::sleep(std::time::Duration::from_millis(50));
    let pid = (0..1000).find_map(|_| {
        nap();
        let pid = fs::read_to_string(dir.path().join("pid")).ok()?.trim().to_string();
        (!pid.is_empty()).then_some(pid)
    });
    let pid = pid.expect("the compiler is started");
    // Who is dead and not yet buried has an empty command line.
    let is_alive = || fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|it| !it.is_empty());
    assert!(is_alive());
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(told.expect("kill runs").success());
    child.wait().expect("ends");
    let is_gone = (0..200).any(|_| {
        nap();
        !is_alive()
    });
    assert!(is_gone, "{pid} is still there");
}

/// The example of the book, which does something else at its 300th step.
fn own_engine(dir: &Path, name: &str, does: &str) -> String {
    let example = format!("{ROOT}/crates/engines/examples/bouncing_spheres.py");
    let example = fs::read_to_string(example).expect("the example");
    let step = "    elif message[\"do\"] == \"step\":\n";
    assert!(example.contains(step));
    let hooked = format!("{step}        n += 1\n        if n == 300:\n            {does}\n");
    let text = example
        .replace(step, &hooked)
        .replace("for line in sys.stdin", "import os, signal, time\nn = 0\nfor line in sys.stdin");
    fs::write(dir.join(name), text).expect("written");
    format!("./{name}")
}

/// The run is stopped by its own adapter, which does not heed that its input ends either.
#[test]
fn a_run_that_gives_no_sign_of_life_is_a_broken_cell() {
    let dir = tempfile::tempdir().expect("a folder");
    let stop = "open('pid', 'w').write(str(os.getpid())); os.kill(os.getppid(), signal.SIGSTOP); time.sleep(999)";
    let engine = own_engine(dir.path(), "stops.py", stop);
    let engines = format!("rapier,{engine}");
    let ran = headland(dir.path())
        .args(["test", &test("lower"), "--world", &world("ball"), "-d", "1", "--json"])
        .args(["--engines", &engines, "--no-margin", "--patience", "1", "--keep", "kept"])
        .output()
        .expect("it runs");
    let (out, err) = (json(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(4), "{err}");
    assert_eq!(out["results"][0]["verdict"], "green", "{out}");
    let why = out["results"][1]["reason"].as_str().expect("a reason");
    assert!(why.contains("no sign of life"), "{out}");
    // What was recorded is kept, and the adapter is gone with its run.
    let kept = headland(dir.path()).args(["info", "--json", "kept/ball-stops.py.mcap"]).output();
    let kept = json(&kept.expect("it runs").stdout);
    assert!(kept["messages"].as_u64().expect("a number") > 500, "{kept}");
    let pid = fs::read_to_string(dir.path().join("pid")).expect("it came so far");
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

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

/// An adapter that fails when it is looked for is asked once, for as long as was said, and its
/// cells are broken; one that was not named is left out.
#[test]
fn adapters_that_do_not_say_hello_break_their_cells_of_a_card() {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, program) in [
        ("garbage.py", "print('hello \"there\"')"),
        ("dies.py", "raise SystemExit('had enough')"),
        ("silent.py", "import time; open('asked', 'a').write('x'); time.sleep(999)"),
    ] {
        fs::write(dir.path().join(name), program).expect("written");
    }
    let engines = "rapier,./garbage.py,./dies.py,./silent.py,./nowhere.py";
    let args = ["engines", "--report-card", "--probes", "slider", "--json", "--patience", "2"];
    let ran = expect(dir.path(), &[&args[..], &["--engines", engines]].concat(), 4);
    let card = json(&ran.stdout);
    for probe in card["probes"].as_array().expect("probes") {
        let runs = probe["runs"].as_array().expect("runs");
        assert_eq!(runs[0]["went"], "whole", "{probe}");
        let said = ["hello \"there\"", "had enough", "within 2 s", "no file `./nowhere.py`"];
        for (run, said) in runs[1..].iter().zip(said) {
            assert_eq!(run["went"], "broke", "{run}");
            let fault = run["fault"].as_str().expect("a reason");
            assert!(fault.contains(said), "{fault}");
        }
    }
    assert_eq!(fs::read_to_string(dir.path().join("asked")).expect("asked"), "x");
    // The same in a matrix, and for a single run.
    let ran = headland(dir.path())
        .args(["test", &test("lower"), "--world", &world("ball"), "-d", "1", "--no-margin"])
        .args(["--engines", "rapier,./dies.py,./nowhere.py"])
        .output()
        .expect("it runs");
    assert_eq!(ran.status.code(), Some(4), "{}", text(&ran.stderr));
    assert!(text(&ran.stdout).contains("1 green, 2 not judged"), "{}", text(&ran.stdout));
    expect(dir.path(), &["run", &world("ball"), "--engine", "./dies.py"], 4);
    expect(dir.path(), &["run", &world("ball"), "--engine", "./nowhere.py"], 2);
}

/// What a program says of itself is shown as it said it.
#[test]
fn words_of_an_adapter_are_not_escaped_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let engine = own_engine(dir.path(), "says.py", "say({'error': 'my \"own\" words'}); continue");
    let ran = expect(dir.path(), &["run", &world("ball"), "--engine", &engine, "-d", "1"], 4);
    let words = text(&ran.stderr);
    assert!(words.contains("says.py`: my \"own\" words\n"), "{words}");
    let engine = own_engine(dir.path(), "odd.py", "print('a \"b\" \\\\ c', flush=True); continue");
    let ran = expect(dir.path(), &["run", &world("ball"), "--engine", &engine, "-d", "1"], 4);
    let words = text(&ran.stderr);
    assert!(words.contains("it said `a \"b\" \\ c`"), "{words}");
}

/// A list is no answer, though its items could be taken for fields; and a program that is gone
/// while something it started holds its pipe is said to be gone.
#[test]
fn odd_ends_of_adapters_are_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let hello = "print('{\"headland_engine\": 1, \"name\": \"l\"}', flush=True)";
    let program = format!("import sys\n{hello}\nfor line in sys.stdin: print('[]', flush=True)\n");
    fs::write(dir.path().join("list.py"), program).expect("written");
    let ball = world("ball");
    let ran = expect(dir.path(), &["run", &ball, "--engine", "./list.py"], 4);
    assert!(text(&ran.stderr).contains("a list is no object"), "{}", text(&ran.stderr));
    let engine = own_engine(dir.path(), "leaves.py", "os.system('sleep 99 &'); os._exit(5)");
    let args = ["run", &ball, "--engine", &engine, "-d", "1", "--patience", "1"];
    let words = text(&expect(dir.path(), &args, 4).stderr);
    assert!(words.contains("exit code 5") && words.contains("holds its pipe open"), "{words}");
}

/// An engine that cannot have a world leaves the others alone, and nothing of it is kept.
#[test]
fn an_engine_that_cannot_have_a_world_is_not_broken() {
    let dir = tempfile::tempdir().expect("a folder");
    own_engine(dir.path(), "spheres.py", "pass");
    let ran = headland(dir.path())
        .args(["test", &test("swings"), "--world", &world("pendulum"), "-d", "10", "--no-margin"])
        .args(["--engines", "rapier,./spheres.py", "--keep", "kept"])
        .output()
        .expect("it runs");
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(3), "{out}{err}");
    assert!(out.contains("1 green, 1 not judged"), "{out}");
    assert!(out.contains("there are no joints here"), "{out}");
    assert!(out.contains("kept/pendulum-rapier.mcap"), "{out}");
    assert!(!out.contains("kept/pendulum-spheres.py.mcap"), "nothing was made: {out}");
    let args = ["engines", "--report-card", "--probes", "pendulum", "--engines", "./spheres.py"];
    let table = text(&expect(dir.path(), &args, 0).stdout);
    assert!(table.contains("cannot") && !table.contains("broke"), "{table}");
}

/// Each note once, with the engines it is about.
#[test]
fn notes_of_a_matrix_name_their_engines() {
    let dir = tempfile::tempdir().expect("a folder");
    own_engine(dir.path(), "one.py", "pass");
    own_engine(dir.path(), "two.py", "pass");
    let args = ["test", &test("lower"), "--world", &world("ball"), "-d", "0.5", "--no-margin"];
    let more = ["--engines", "native,./one.py,./two.py", "--raw", "--law", "soft"];
    let run = |json: &[&str]| {
        let ran = headland(dir.path()).args(args).args(more).args(json).output().expect("runs");
        text(&ran.stderr)
    };
    let words = run(&[]);
    for note in [
        "note[realised] on ./one.py, ./two.py: spheres neither turn nor rub",
        "note[option-ignored] on ./one.py, ./two.py: `--law` is for `native`",
        "note[option-ignored] on native: `--raw` changes nothing",
    ] {
        assert_eq!(words.matches(note).count(), 1, "{note} in {words}");
    }
    let words = run(&["--json"]);
    let notes: Vec<Value> = words.lines().map(|line| json(line.as_bytes())).collect();
    let realised = notes.iter().find(|note| note["code"] == "realised").expect("one");
    assert_eq!(realised["engines"], serde_json::json!(["./one.py", "./two.py"]));
}

#[test]
fn engines_are_named_once_and_in_words() {
    let dir = tempfile::tempdir().expect("a folder");
    let args = ["test", &test("lower"), "--world", &world("ball"), "-d", "0.1", "--no-margin"];
    for nothing in [",", "", "rapier,,native"] {
        let refused = expect(dir.path(), &[&args[..], &["--engines", nothing]].concat(), 2);
        let words = text(&refused.stderr);
        assert!(words.contains("error[no-engine]") && words.contains("rapier,mujoco"), "{words}");
    }
    let listed = engines();
    let columns = |names: &str| {
        let more = ["--engines", names, "--json"];
        let ran = headland(dir.path()).args(args).args(more).output().expect("it runs");
        let of = |name: &Value| name.as_str().expect("a name").replace("ball-", "");
        json(&ran.stdout)["recordings"].as_array().expect("names").iter().map(of).collect()
    };
    let all: Vec<String> = columns("all,rapier");
    assert_eq!(all, listed);
    let first: Vec<String> = columns("native,all");
    assert_eq!(first[0], "native");
    assert_eq!(first.len(), listed.len());
}

#[test]
fn every_engine_says_how_to_get_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let listed = text(&expect(dir.path(), &["engines"], 0).stdout);
    let n_engines = listed.lines().filter(|line| !line.starts_with(' ')).count();
    let n_installs = listed.lines().filter(|line| line.starts_with("  to get it: ")).count();
    assert!(n_engines >= 8 && n_installs == n_engines, "{listed}");
}

/// A linkage that spins ten times as fast as its energy allows does stay closed.
#[test]
fn a_wild_linkage_is_red() {
    let dir = tempfile::tempdir().expect("a folder");
    let calm = fs::read_to_string(world("four_bar")).expect("a world");
    let wild = calm
        .replace("0 0 0 0 -3 0", "0 0 0 0 -30 0")
        .replace("-0.9 0 0 0 0 0", "-9 0 0 0 0 0")
        .replace("0 0 0 0 -1 0", "0 0 0 0 -10 0");
    fs::write(dir.path().join("wild.sdf"), wild).expect("written");
    let args = ["test", &test("stays_closed"), "-d", "2", "--no-margin", "--engines", "native"];
    let red = expect(dir.path(), &[&args[..], &["--world", "wild.sdf"]].concat(), 1);
    assert!(text(&red.stdout).contains("tooFast"), "{}", text(&red.stdout));
    expect(dir.path(), &[&args[..], &["--world", &world("four_bar")]].concat(), 0);
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
    assert_eq!(ran.status.code(), Some(4), "{err}");
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
    // The overview counts what is further off than usual, and `-` is standard output.
    assert!(page.contains("1&nbsp;!</span>"), "slider_distance at 1/60 s");
    let printed = expect(dir.path(), &[&args[..], &["--html", "-"]].concat(), 0);
    assert!(text(&printed.stdout).starts_with("<!doctype html>"), "{}", text(&printed.stdout));
    assert!(text(&printed.stderr).contains("slider_distance"), "the table goes beside it");
    assert!(!dir.path().join("-").exists());
    expect(dir.path(), &[&args[..], &["--html", "-", "--json"]].concat(), 2);
    let refused = expect(dir.path(), &[&args[..4], &["--probes", "bal"]].concat(), 2);
    assert!(text(&refused.stderr).contains("did you mean `ball`"), "{}", text(&refused.stderr));
}
