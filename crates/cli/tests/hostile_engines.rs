//! Engines that break: the others go on, and what was recorded is kept.
//!
//! They are real ones: a library that stands in front of libode and breaks one of its functions,
//! a compiler that does not come to an end, or a program that does not keep to the protocol.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{expect, has, headland, json, own_engine, test, text, world};

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

/// Nothing a program says of itself moves the cursor or clears the screen.
#[test]
fn control_characters_of_an_adapter_stay_out_of_the_matrix() {
    let dir = tempfile::tempdir().expect("a folder");
    let does = r"say({'error': 'no\x1b[2J\x07'}); continue";
    let engine = own_engine(dir.path(), "clears.py", does);
    let args = ["test", &test("ball"), "--world", &world("ball"), "--engines", &engine, "-d", "1"];
    let ran = expect(dir.path(), &args, 4);
    let words = text(&ran.stdout) + &text(&ran.stderr);
    assert!(words.contains("no\u{fffd}[2J"), "{words}");
    assert!(!words.contains('\u{1b}') && !words.contains('\u{7}'), "{words:?}");
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

/// One that is there and does not work has its cells, also where nobody named it.
#[test]
fn a_library_that_does_not_work_is_among_all() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("not.so"), "no library\n").expect("written");
    let ran = headland(dir.path())
        .env("HEADLAND_ODE", dir.path().join("not.so"))
        .args(["test", &test("lower"), "--world", &world("ball"), "-d", "0.1", "--json"])
        .args(["--engines", "all", "--no-margin"])
        .output()
        .expect("it runs");
    let (out, err) = (json(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(4), "{err}");
    let cells = out["results"].as_array().expect("results");
    let ode = cells.iter().find(|cell| cell["recording"] == "ball-ode").expect("a cell");
    assert!(ode["reason"].as_str().is_some_and(|why| why.contains("HEADLAND_ODE")), "{ode}");
}

/// What an engine makes of a body that it had lost is no evidence: nothing is measured on it.
#[test]
fn a_card_measures_nothing_after_a_breach() {
    let dir = tempfile::tempdir().expect("a folder");
    let does = "lost = world.step(message['wrenches']); \
                lost['rigids'] = [[None] * 13 for _ in lost['rigids']]; say(lost); continue";
    let engine = own_engine(dir.path(), "loses.py", does);
    let args = ["engines", "--report-card", "--probes", "ball", "--json", "--engines", &engine];
    let card = json(&expect(dir.path(), &args, 3).stdout);
    let measures = card["probes"][0]["measures"].as_array().expect("measures");
    assert!(!measures.is_empty(), "{card}");
    for measure in measures {
        let why = measure["engines"][0]["missing"].as_str().expect("nothing is measured");
        assert!(why.starts_with("at 0.300 s ") && why.contains("non-finite"), "{measure}");
    }
}
