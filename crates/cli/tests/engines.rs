//! One world on every engine: the matrix and the report card.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use common::{ROOT, engines, expect, has, headland, json, own_engine, test, text, world};
use serde_json::Value;

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

/// A test that is not there is told of before any engine has moved.
#[test]
fn a_misspelt_test_starts_no_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let args =
        ["test", "nope.lrp", "--world", &world("ball"), "--engines", "rapier", "--keep", "k"];
    let ran = expect(dir.path(), &args, 2);
    assert!(text(&ran.stderr).contains("nope.lrp"), "{}", text(&ran.stderr));
    assert!(!dir.path().join("k").exists(), "nothing ran");
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
    let of_theirs = |note: &&Value| note["message"].as_str().is_some_and(|m| m.contains("spheres"));
    let realised = notes.iter().find(of_theirs).expect("one");
    assert_eq!(realised["code"], "realised");
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

/// Two that take the same way out of a test need not take it at the same moment.
#[test]
fn engines_that_part_alike_part_at_their_own_moments() {
    let dir = tempfile::tempdir().expect("a folder");
    let name = own_engine(dir.path(), "one.py", "world.rigids[1]['pose'][2] = 100.0");
    let one = fs::read_to_string(dir.path().join(&name)).expect("written");
    fs::write(dir.path().join("two.py"), one.replace("n == 300", "n == 400")).expect("written");
    let high = "(machine high (state low) (state green) (state red)\n\
        (on [ball pose z > 50] low -> red) (on [recording time >= stopTime] low -> green))\n\
        (spawn high low)\n";
    fs::write(dir.path().join("high.lrp"), high).expect("written");
    let args = ["test", "high.lrp", "--world", &world("ball"), "-d", "1", "--no-margin"];
    let ran =
        expect(dir.path(), &[&args[..], &["--engines", "rapier,./one.py,./two.py"]].concat(), 1);
    let words = text(&ran.stdout);
    assert!(words.contains("ball-rapier and ball-one.py, ball-two.py part at 0.300 s"), "{words}");
    assert!(words.contains("; ball-two.py at 0.400 s"), "{words}");
}

/// A probe that is named twice is run once: two runs would write one recording.
#[test]
fn probes_are_run_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let args = ["engines", "--report-card", "--engines", "rapier", "--json", "--probes"];
    let once = json(&expect(dir.path(), &[&args[..], &["slider"]].concat(), 0).stdout);
    let twice = json(&expect(dir.path(), &[&args[..], &["slider,slider"]].concat(), 0).stdout);
    let n_probes = |card: &Value| card["probes"].as_array().expect("probes").len();
    assert_eq!(n_probes(&once), n_probes(&twice));
}
