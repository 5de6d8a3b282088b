//! `headland validate` from outside: pendulums on every engine, what it starts from, what it
//! refuses, what it writes, and rows that still come.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use common::{ROOT, engines, expect, headland, json, text, world};
use headland_base::maths::{cos, sqrt};
use serde_json::Value;
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        fs::write(dir.path().join(name), content).expect("written");
    }
    dir
}

fn measured(name: &str) -> String {
    format!("{ROOT}/worlds/measured/{name}")
}

/// What is said of a model and a table, as JSON.
fn validated(dir: &TempDir, model: &str, table: &str, more: &[&str], code: i32) -> Value {
    let args = [&["validate", model, table, "--json"][..], more].concat();
    json(&expect(dir.path(), &args, code).stdout)
}

fn key<'v>(found: &'v Value, name: &str) -> &'v Value {
    let keys = found["keys"].as_array().expect("keys");
    keys.iter().find(|key| key["key"] == name).unwrap_or_else(|| panic!("no {name} in {found}"))
}

fn rmse(found: &Value, name: &str) -> f64 {
    key(found, name)["statistics"]["rmse"].as_f64().expect("a number")
}

/// A small swing: θ = 0.05·cos(ωt)·(1 + …) with ω² = m·g·l/I and the period of 0.05 rad.
fn swing(times: &[f64]) -> String {
    let amplitude: f64 = 0.05;
    let (second, third_power) = (amplitude * amplitude, amplitude * amplitude * amplitude);
    // The period of a swing is longer by 1 + a²/16 + 11·a⁴/3072.
    let longer = 1.0 + second / 16.0 + 11.0 * second * second / 3072.0;
    let omega = sqrt(9.81 / 1.0104) / longer;
    let mut out = String::from("time hinge/position hinge/velocity\n");
    for t in times {
        // The third harmonic of a pendulum is a³/192.
        let third = third_power / 192.0;
        let angle = (amplitude + third) * cos(omega * t) - third * cos(3.0 * omega * t);
        let rate = -(amplitude + third) * omega * headland_base::maths::sin(omega * t)
            + 3.0 * third * omega * headland_base::maths::sin(3.0 * omega * t);
        _ = writeln!(out, "{t} {angle:.12} {rate:.12}");
    }
    out
}

/// One table on every engine that is there; stamps that are steps, and stamps that are none.
#[test]
fn pendulums_agree_with_the_closed_form_on_every_engine() {
    let even: Vec<f64> = (0..300).map(|i| f64::from(i) * 0.01).collect();
    let odd: Vec<f64> = (0..300).map(|i| f64::from(i) * 0.0123 + f64::from(i % 7) * 1e-4).collect();
    let dir = folder(&[("even.txt", &swing(&even)), ("odd.txt", &swing(&odd))]);
    let model = world("pendulum");
    for engine in engines() {
        for table in ["even.txt", "odd.txt"] {
            let found = validated(&dir, &model, table, &["--engine", &engine], 0);
            let far = rmse(&found, "hinge/position");
            println!("{engine} {table}: off by {far:.1e} rad in the root mean square");
            // A thousandth of the swing's 35 mrad rms would be 3.5e-5 for engines of order one.
            assert!(far < 1e-4, "{engine} {table}: {far}");
            assert_eq!(key(&found, "hinge/position")["coverage_a"], 1.0, "{engine} {table}");
        }
    }
    let exact = ["--engine", "native", "--integrator", "rk4"];
    let found = validated(&dir, &model, "odd.txt", &exact, 0);
    // What is left is the fifth harmonic of the formula.
    assert!(rmse(&found, "hinge/position") < 2e-9, "{}", rmse(&found, "hinge/position"));
}

/// With the truth that made them, the measurements are met to their noise.
#[test]
fn measurements_that_ship_are_met_to_their_noise() {
    let dir = folder(&[]);
    let found = validated(
        &dir,
        &world("pendulum"),
        &measured("pendulum.csv"),
        &["--set", "joint/hinge/dynamics/damping=0.08", "--state", &measured_state(&dir)],
        0,
    );
    assert!((rmse(&found, "hinge/position") - 0.001).abs() < 1e-4, "{found}");
    let (arm, log, told) = (measured("arm.sdf"), measured("arm.csv"), measured("arm_commands.csv"));
    let truth = [
        "-c",
        &told,
        "--command-delay",
        "0.02",
        "--set",
        "link/forearm/inertial/mass=1.4",
        "--set",
        "joint/shoulder/dynamics/damping=0.8",
        "--set",
        "joint/elbow/dynamics/friction=0.3",
    ];
    let found = validated(&dir, &arm, &log, &truth, 0);
    for joint in ["shoulder/position", "elbow/position"] {
        assert!(rmse(&found, joint) < 1e-3, "{joint}: {}", rmse(&found, joint));
    }
    let wrong = validated(&dir, &arm, &log, &["-c", &told], 0);
    assert!(rmse(&wrong, "elbow/position") > 10.0 * rmse(&found, "elbow/position"));
    assert!(key(&wrong, "elbow/position")["lag"].as_f64().expect("a lag") < -0.01, "too early");
}

fn measured_state(dir: &TempDir) -> String {
    let path = dir.path().join("released.csv");
    fs::write(&path, "time,hinge/position,hinge/velocity\n0,0.5,0\n").expect("written");
    path.display().to_string()
}

/// A chaotic pendulum can only be forecast for a while, and windows say how well.
#[test]
fn windows_make_chaos_comparable() {
    let dir = folder(&[]);
    let (model, log) = (world("double_pendulum"), measured("double_pendulum.csv"));
    let whole = validated(&dir, &model, &log, &[], 0);
    let windows = validated(&dir, &model, &log, &["--window", "0.1"], 0);
    for joint in ["shoulder/position", "elbow/position"] {
        let (all, part) = (rmse(&whole, joint), rmse(&windows, joint));
        assert!(part < 0.05 && all > 10.0 * part, "{joint}: {all} {part}");
    }
    assert!(windows["made"]["window"].as_str().expect("said").contains("times"));
}

#[test]
fn the_same_bytes_twice() {
    let dir = folder(&[]);
    let args = |name: &str| {
        [
            "validate",
            &measured("cube.sdf"),
            &measured("cube.csv"),
            "--engine",
            "rapier",
            "--window",
            "0.5",
            "-f",
            &format!("{name}.csv"),
            "--report",
            &format!("{name}.html"),
            "--report",
            &format!("{name}.json"),
        ]
        .map(str::to_string)
    };
    for name in ["one", "two"] {
        let args = args(name);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        expect(dir.path(), &args, 0);
    }
    for ending in ["csv", "html", "json"] {
        let read = |name: &str| fs::read(dir.path().join(format!("{name}.{ending}"))).expect("it");
        assert!(read("one") == read("two"), "{ending} differs");
    }
    // What was saved is what was compared.
    let direct = validated(
        &dir,
        &measured("cube.sdf"),
        &measured("cube.csv"),
        &["--engine", "rapier", "--window", "0.5"],
        0,
    );
    let table = measured("cube.csv");
    let args = ["compare", &table, "one.csv", "--sampling", "exact", "--json"];
    let again = json(&expect(dir.path(), &args, 0).stdout);
    for name in ["cube/pose/position", "cube/pose/orientation"] {
        assert_eq!(rmse(&direct, name), rmse(&again, name), "{name}");
    }
}

/// Where it starts: from the first rows, from a table, from SDF, from the world.
#[test]
fn where_it_starts_is_said() {
    let state = "<sdf version='1.11'><world name='w'><state world_name='w'>\
        <model name='pendulum'><joint name='hinge'><angle axis='0'>0.5</angle></joint></model>\
        </state></world></sdf>";
    let own = fs::read_to_string(world("pendulum")).expect("the world");
    let own = own.replace(
        "</world>",
        "<state world_name='pendulum'><model name='pendulum'>\
        <joint name='hinge'><angle axis='0'>0.3</angle></joint></model></state></world>",
    );
    let dir = folder(&[
        ("rows.csv", "time,hinge/position\n5,0.5\n5.01,0.49976\n5.02,0.49903\n5.03,0.49782\n"),
        ("state.csv", "time,hinge/velocity\n0,1\n"),
        ("state.sdf", state),
        ("own.sdf", &own),
        ("effort.csv", "time,hinge/acceleration\n0,-2.8\n0.1,-2.7\n"),
    ]);
    let start = |model: &str, table: &str, more: &[&str]| {
        let found = validated(&dir, model, table, more, 0);
        found["made"]["start"].as_str().expect("said").to_string()
    };
    let model = world("pendulum");
    let inferred = start(&model, "rows.csv", &[]);
    assert_eq!(inferred, "1 number inferred from the first samples, 1 velocity from their slopes");
    let given = start(&model, "rows.csv", &["--state", "state.csv"]);
    assert!(given.starts_with("1 number given by state.csv"), "{given}");
    let sdf = start(&model, "rows.csv", &["-s", "state.sdf"]);
    assert!(sdf.starts_with("1 number given by state.sdf"), "{sdf}");
    assert_eq!(start("own.sdf", "effort.csv", &[]), "as the model has it");
    // The world's own state is 0.3 rad: less acceleration than at 0.5.
    let first = |model: &str| {
        let args = ["validate", model, "effort.csv", "-f", "-"];
        let out = text(&expect(dir.path(), &args, 0).stdout);
        let row = out.lines().nth(1).expect("a row").to_string();
        row.split(',').nth(1).expect("a cell").parse::<f64>().expect("a number")
    };
    let (at_half, at_less) = (first(&model), first("own.sdf"));
    assert!((at_half + 9.81 / 1.0104 * 0.479).abs() < 0.05, "{at_half}");
    assert!((at_less + 9.81 / 1.0104 * 0.2955).abs() < 0.05, "{at_less}");
}

/// The table goes to standard output alone, and the figures are not lost.
#[test]
fn standard_output_takes_one_thing() {
    let dir = folder(&[]);
    let (model, table) = (world("pendulum"), measured("pendulum.csv"));
    let args = ["validate", &model, &table, "--outfile", "-"];
    let done = expect(dir.path(), &args, 0);
    let (out, err) = (text(&done.stdout), text(&done.stderr));
    assert!(out.starts_with("time,hinge/position") && !out.contains("rmse"), "{out}");
    assert!(err.contains("rmse") && err.contains("hinge/velocity"), "{err}");
    let done = expect(dir.path(), &[&args[..], &["--json"]].concat(), 2);
    assert!(text(&done.stderr).contains("output-twice") && done.stdout.is_empty());
    let damping = "joint/hinge/dynamics/damping=0..1";
    let args = ["tune", &model, &table, "-p", damping, "--out", "-"];
    let done = expect(dir.path(), &args, 0);
    let (out, err) = (text(&done.stdout), text(&done.stderr));
    assert!(out.contains("<sdf") && out.trim_end().ends_with("</sdf>"), "{out}");
    assert!(err.contains("converged") && err.contains("0..1"), "{err}");
    let done = expect(dir.path(), &[&args[..], &["--json"]].concat(), 2);
    assert!(text(&done.stderr).contains("output-twice") && done.stdout.is_empty());
}

#[test]
fn what_is_refused_and_with_which_code() {
    let rows = "time,hinge/position,other/thing\n0,0.5,1\n0.01,0.49,1\n0.02,0.48,1\n";
    let dir = folder(&[
        ("rows.csv", rows),
        ("good.csv", "time,hinge/position\n0,0.5\n0.01,0.49\n0.02,0.48\n"),
        ("empty.csv", ""),
        ("head.csv", "time,hinge/position\n"),
        ("text.csv", "time,hinge/position\n0,half\n"),
        ("state.csv", "time,hinge/position\n0,0.5\n1,0.4\n"),
        ("told.csv", "time,elbow/position\n0,0.5\n"),
        ("wants_gains.csv", "time,hinge/position\n0,0.5\n"),
        ("one.csv", "time,hinge/position\n0,0.5\n"),
        ("stray.csv", "time,hinge/position\n0,0.5\n1700000000,0.5\n1700000000.1,0.45\n"),
        ("furlong.csv", "time,hinge/position [furlong]\n0,0.5\n0.1,0.45\n"),
        ("metres.csv", "time,hinge/position [m]\n0,0.5\n"),
        ("map.txt", "hinge/position -> hinge/position\n"),
        ("phases.csv", "start,end,name\n0,1,all\n"),
        ("rest.csv", "time,hinge/position\n0,0.5\n0.05,0.48\n0.1,0.45\n120,0\n"),
        ("litre.csv", "time [l],hinge/position\n0,0.5\n0.1,0.45\n"),
        ("slip.txt", "O 0.01 first\n0.01 0.02 second\n"),
    ]);
    let model = world("pendulum");
    let epoch = ["--start", "1700000000"];
    for (table, more, code, said) in [
        ("one.csv", &[][..], 3, "one-moment"),
        ("one.csv", &["--live=0.1"], 3, "one-moment"),
        ("stray.csv", &[], 2, "--start 1700000000"),
        ("stray.csv", &epoch, 0, ""),
        ("stray.csv", &["--live=0.1"], 2, "stray-time"),
        ("furlong.csv", &[], 2, "unknown-unit"),
        ("furlong.csv", &["--ignore-unknown"], 2, "unknown-unit"),
        ("furlong.csv", &["--live=0.1"], 2, "unknown-unit"),
        ("good.csv", &["--state", "metres.csv"], 2, "units-differ"),
        ("good.csv", &["--start", "0.02", "--end", "0.01"], 2, "bad-option"),
        ("good.csv", &["--map", "map.txt", "-f", "map.txt"], 2, "same-file"),
        ("good.csv", &["--phases", "phases.csv", "-f", "phases.csv"], 2, "same-file"),
        ("good.csv", &["--phases", "phases.csv", "--report", "phases.csv"], 2, "same-file"),
        ("rest.csv", &[], 0, ""),
        ("good.csv", &["--state", "furlong.csv"], 2, "unknown-unit"),
        ("litre.csv", &[], 2, "which-time-unit"),
        ("litre.csv", &["--live=0.1"], 2, "which-time-unit"),
        ("good.csv", &["--phases", "slip.txt"], 2, "`slip.txt` line 1"),
        ("good.csv", &["-f", "no/such/folder.csv"], 2, "not-created"),
        ("good.csv", &["--report", "no/such/folder.md"], 2, "not-created"),
        ("good.csv", &["--plot", "good.csv/folder"], 2, "not-created"),
        ("good.csv", &["--step", "0.001", "--set", "physics/step=0.002"], 2, "--step and --set"),
        ("good.csv", &["--command-delay", "0", "--set", "command/delay=0.1"], 2, "bad-option"),
        ("good.csv", &["--gains", "1,1", "--set", "gains/kp=2"], 2, "bad-option"),
        ("rows.csv", &[][..], 2, "unknown-key"),
        ("rows.csv", &["--ignore-unknown"][..], 0, "keys-left-out"),
        ("missing.csv", &[], 2, "cannot-open"),
        ("empty.csv", &[], 2, "empty-table"),
        ("head.csv", &[], 3, "no-samples"),
        ("text.csv", &[], 2, "not-a-number"),
        ("good.csv", &["--start", "99"], 3, "no-samples"),
        ("good.csv", &["--state", "state.csv"], 2, "state-has-rows"),
        ("good.csv", &["--state", "told.csv"], 2, "unknown-key"),
        ("good.csv", &["-c", "told.csv"], 2, "unknown-joint"),
        ("good.csv", &["-c", "wants_gains.csv"], 2, "no-gains"),
        ("good.csv", &["-c", "wants_gains.csv", "--gains", "10,1"], 0, ""),
        ("good.csv", &["--set", "joint/hinge/dynamics/dampin=1"], 2, "did you mean"),
        ("good.csv", &["--engine", "nativ"], 2, "unknown-engine"),
        ("good.csv", &["--sampling", "nearest", "--step", "0.05"], 2, "step-too-coarse"),
        ("good.csv", &["--tolerance", "0.1"], 2, "bad-option"),
        ("good.csv", &["--key", "hinge/positon"], 2, "unknown-key"),
        ("good.csv", &["--window", "0"], 2, "above zero"),
        ("good.csv", &["--fail-if", "hinge/*:rmse>1e-9"], 1, ""),
        ("good.csv", &["--fail-if", "hinge/*:rmse>9"], 0, ""),
        ("good.csv", &["--t-offset", "100"], 3, "no-pair"),
        ("good.csv", &["--report", "good.csv"], 2, "same-file"),
        ("good.csv", &["-f", "good.csv"], 2, "same-file"),
    ] {
        let args = [&["validate", &model, table][..], more].concat();
        let output = expect(dir.path(), &args, code);
        let err = text(&output.stderr);
        assert!(err.contains(said), "{args:?}: {err}");
        assert!(code != 2 || output.stdout.is_empty(), "{args:?}: refused before the run");
    }
}

/// A row whose clock jumps is left out and counted: what was compared until then is told, and what
/// comes after it is compared as well.
#[test]
fn a_stray_row_costs_no_figure() {
    let rows = "time,hinge/position\n0,0.5\n0.01,0.49\n0.02,0.48\n0.03,0.47\n1700000000,0.4\n\
                0.04,0.46\n0.05,0.45\n";
    let dir = folder(&[("rows.csv", rows)]);
    let args = ["validate", &world("pendulum"), "rows.csv", "--live=0.1", "--json"];
    let found = json(&expect(dir.path(), &args, 3).stdout);
    assert_eq!(found["stray"], 1, "{found}");
    assert_eq!(found["backward"], 0, "{found}");
    assert_eq!(found["rows"], 6, "{found}");
}

/// An option that changes nothing is told, and one that does is in the head of every report.
#[test]
fn what_is_heeded_and_what_is_not() {
    let dir = folder(&[("good.csv", "time,hinge/position\n0,0.5\n0.01,0.49\n0.02,0.48\n")]);
    let model = world("pendulum");
    for (more, said) in [
        (&["--engine", "rapier", "--integrator", "rk4"][..], "`--integrator` is for `native`"),
        (&["--engine", "rapier", "--law", "hard"], "`--law` is for `native`"),
        (&["--gains", "1,1"], "`--gains` is about commands"),
        (&["--command-delay", "0.1"], "`--command-delay` is about commands"),
        (&["--command-interp", "linear"], "`--command-interp` is about commands"),
        (&["--set", "command/delay=0.1"], "`--set command/delay` is about commands"),
        (&["--set", "gains/*=1"], "`--set gains/*` is about commands"),
        (&["--align", "rigid"], "`--align` is for poses"),
    ] {
        let args = [&["validate", &model, "good.csv"][..], more].concat();
        let err = text(&expect(dir.path(), &args, 0).stderr);
        assert!(err.contains("option-ignored") && err.contains(said), "{more:?}: {err}");
    }
    for (more, word) in [(&[][..], "semi-implicit"), (&["--integrator", "rk4"], "rk4")] {
        let found = validated(&dir, &model, "good.csv", more, 0);
        assert_eq!(found["made"]["integrator"], word);
        let args = [&["validate", &model, "good.csv"][..], more].concat();
        let done = expect(dir.path(), &args, 0);
        assert!(text(&done.stdout).contains(word) && !text(&done.stderr).contains("ignored"));
    }
    let found = validated(&dir, &model, "good.csv", &["--engine", "rapier"], 0);
    assert_eq!(found["made"].get("integrator"), None);
}

/// Rows from a pipe, and a file that grows while it is read.
#[test]
fn rows_that_still_come() {
    let times: Vec<f64> = (0..500).map(|i| f64::from(i) * 0.01).collect();
    let table = swing(&times);
    let dir = folder(&[("whole.txt", &table)]);
    let model = world("pendulum");
    let whole = validated(&dir, &model, "whole.txt", &[], 0);
    let wanted = rmse(&whole, "hinge/position");
    let is_same = |out: &[u8]| {
        let out = text(out);
        let last: Value = serde_json::from_str(out.lines().last().expect("a line")).expect("JSON");
        assert_eq!((&last["rows"], &last["lost"]), (&500.into(), &0.into()), "{last}");
        let found = key(&last, "hinge/position")["rmse"].as_f64().expect("a number");
        assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
    };
    let mut child = headland(dir.path())
        .args(["validate", &model, "-", "--live", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(table.as_bytes()).expect("written");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    is_same(&output.stdout);

    // A file that somebody else still writes, half a line at a time.
    let path = dir.path().join("grows.txt");
    let (head, tail) = table.split_at(table.len() / 2);
    fs::write(&path, head).expect("written");
    let child = headland(dir.path())
        .args(["validate", &model, "grows.txt", "--live=2", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    std::thread::sleep(Duration::from_millis(300));
    let mut file = fs::OpenOptions::new().append(true).open(&path).expect("opened");
    file.write_all(tail.as_bytes()).expect("written");
    drop(file);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    is_same(&output.stdout);
    // Nothing but a header says nothing.
    fs::write(&path, "time,hinge/position\n").expect("written");
    let output = expect(dir.path(), &["validate", &model, "grows.txt", "--live=0.1"], 3);
    assert!(text(&output.stderr).contains("no-samples"));
}

/// What headland recorded itself is repeated to the bit: joints, poses, velocities, contacts, and
/// what sensors without noise say.
#[test]
fn a_recording_of_a_run_is_repeated_to_the_bit() {
    let dir = folder(&[]);
    for (name, engine) in [("pendulum", "rapier"), ("pendulum", "native"), ("sensors", "rapier")] {
        let log = format!("{name}_{engine}.mcap");
        let args = ["run", &world(name), "--engine", engine, "--duration", "1", "-o", &log];
        expect(dir.path(), &args, 0);
        let found = validated(&dir, &world(name), &log, &["--engine", engine], 0);
        let keys = found["keys"].as_array().expect("keys");
        let (mut n_same, mut n_noisy) = (0, 0);
        for key in keys {
            let name = key["key"].as_str().expect("a name");
            let far = key["statistics"]["max_abs"].as_f64().expect("a number");
            // Before the first step an engine has felt nothing, and the replay asks after it.
            let is_felt =
                ["contact", "touch", "bumper", "pressure"].iter().any(|w| name.contains(w));
            // These have noise of their own, which the replay leaves out.
            let is_noisy =
                ["gps", "imu", "barometer", "encoder", "odome"].iter().any(|w| name.contains(w));
            if is_felt || is_noisy {
                n_noisy += 1;
            } else {
                // An angle is computed from turns that are made of length one on the way.
                let most = if name.ends_with("/orientation") { 1e-13 } else { 0.0 };
                assert!(far <= most, "{log}: {name}: {far}");
                n_same += 1;
            }
        }
        assert!(n_same >= 10, "{log}: {n_same} of {}", keys.len());
        assert!(name != "sensors" || n_noisy > 20, "{n_noisy} of sensors");
    }
}

/// What is simulated of a slider says that it slides, so that it can be compared again; what a
/// header says wrongly of the model is refused; commands of another clock are told; one moment
/// says nothing.
#[test]
fn tables_say_what_they_are_in() {
    let dir = folder(&[
        ("rail.csv", "time,rail/position\n0,0\n0.1,9\n0.2,20\n"),
        ("wrong.csv", "time,hinge/position [m]\n0,0.1\n0.1,0.1\n"),
        ("one.csv", "time,hinge/position\n0,0.1\n"),
        ("swing.csv", "time,hinge/position\n0,0.1\n0.1,0.1\n"),
        ("late.csv", "time,hinge/effort\n1700000000,0.1\n1700000001,0.1\n"),
    ]);
    let said = validated(&dir, &world("slider"), "rail.csv", &["-f", "out.csv"], 0);
    let head = fs::read_to_string(dir.path().join("out.csv")).expect("written");
    assert!(head.starts_with("time,rail/position [m]\n"), "{head:.40}");
    let again = json(&expect(dir.path(), &["compare", "rail.csv", "out.csv", "--json"], 0).stdout);
    assert_eq!(rmse(&said, "rail/position"), rmse(&again, "rail/position"));
    let pendulum = world("pendulum");
    let words = |args: &[&str], code: i32| {
        let args = [&["validate", &pendulum][..], args].concat();
        text(&expect(dir.path(), &args, code).stderr)
    };
    for more in [&[][..], &["--ignore-unknown"]] {
        let said = words(&[&["wrong.csv"][..], more].concat(), 2);
        assert!(said.contains("said to be in m and the model has it in rad"), "{said}");
    }
    assert!(words(&["one.csv", "--fail-if", "*:rmse>1"], 3).contains("one-moment"));
    assert!(words(&["swing.csv", "-c", "late.csv"], 0).contains("clocks-apart"));
}

/// Commands that never come into force, and gains that nobody needs, are told.
#[test]
fn what_is_told_in_vain_is_said() {
    let table = "time,shoulder/position,elbow/position\n0,0,0\n0.1,0,0\n0.2,0,0\n";
    let dir = folder(&[
        ("t.csv", table),
        ("late.csv", "time,shoulder/position,elbow/position\n0,0.1,\n5,0.1,0.2\n"),
        ("empty.csv", "time,shoulder/position,elbow/position\n0,0.1,\n0.1,0.1,\n"),
        ("fine.csv", "time,shoulder/position,elbow/position\n0,0.1,0.1\n"),
    ]);
    let arm = measured("arm.sdf");
    for (commands, more, said) in [
        ("late.csv", &[][..], "elbow` nothing before"),
        ("empty.csv", &[], "without a command for `elbow`"),
        ("fine.csv", &["--gains", "10,1"], "they change nothing"),
    ] {
        let args = [&["validate", &arm, "t.csv", "-c", commands][..], more].concat();
        let words = text(&expect(dir.path(), &args, 0).stderr);
        assert!(words.contains(said), "{commands}: {words}");
    }
    let args = ["validate", &arm, "t.csv", "-c", "fine.csv"];
    let words = text(&expect(dir.path(), &args, 0).stderr);
    assert!(!words.contains("unused") && !words.contains("option-ignored"), "{words}");
}

/// Words in a column of numbers: what can be read is used, and nothing is said for certain. A column
/// of remarks is in nobody's way.
#[test]
fn words_in_a_table_are_the_same_to_validate_and_tune() {
    let shipped = fs::read_to_string(measured("pendulum.csv")).expect("ships");
    let mut lines = shipped.lines();
    let head = lines.next().expect("a header");
    let rows: Vec<&str> = lines.collect();
    let remarks = |i: usize| if i == 3 { "slipped" } else { "" };
    let with = |(i, row): (usize, &&str)| format!("{row},{}\n", remarks(i));
    let noted = format!("{head},note\n{}", rows.iter().enumerate().map(with).collect::<String>());
    let spoilt = shipped.replacen(rows[5], "0.05,slipped,0", 1);
    // However many there are.
    let very = shipped.replace(",0.4", ",slipped");
    let dir = folder(&[("noted.csv", &noted), ("spoilt.csv", &spoilt), ("very.csv", &very)]);
    let pendulum = world("pendulum");
    let validate = ["validate", &pendulum];
    let tune = ["tune", &pendulum, "-p", "joint/hinge/dynamics/damping=0..1"];
    for base in [&validate[..], &tune] {
        for (table, code, word) in [
            ("noted.csv", 0, "column-of-words"),
            ("spoilt.csv", 3, "not-a-number"),
            ("very.csv", 3, "more like these"),
        ] {
            let said = text(&expect(dir.path(), &[base, &[table]].concat(), code).stderr);
            assert!(said.contains(word), "{base:?} {table}: {said}");
        }
    }
}

/// Speeds do not say where a joint was: that the model's own place is taken is told, unless somebody
/// gave it or nothing depends on it. Nothing is fitted to it, so that it is no doubt.
#[test]
fn a_start_that_was_not_measured_is_told() {
    let row = |i: i32| format!("{},{}\n", f64::from(i) * 0.02, -0.3 * f64::from(i) * 0.02);
    let table = format!("time,hinge/velocity\n{}", (0..30).map(row).collect::<String>());
    let dir = folder(&[("speeds.csv", &table), ("state.csv", "hinge/position\n0.2\n")]);
    let model = world("pendulum");
    let validate = ["validate", &model, "speeds.csv"];
    let said = text(&expect(dir.path(), &validate, 0).stderr);
    let words = "starts in `speeds.csv` was neither measured nor given: the model's own 0.5 rad";
    assert!(said.contains("warning[start-assumed]") && said.contains(words), "{said}");
    let given = [&validate[..], &["--state", "state.csv"]].concat();
    let said = text(&expect(dir.path(), &given, 0).stderr);
    assert!(!said.contains("start-assumed"), "{said}");
    let weightless = [&validate[..], &["--set", "physics/gravity/z=0"]].concat();
    let said = text(&expect(dir.path(), &weightless, 0).stderr);
    assert!(!said.contains("start-assumed"), "{said}");
}

/// One sample that nobody measured is named, and not the step blamed; what is infinite is left out,
/// and told.
#[test]
fn absurd_samples_are_named_by_validate_and_tune() {
    let shipped = fs::read_to_string(measured("pendulum.csv")).expect("ships");
    let row = shipped.lines().nth(99).expect("a row");
    let cells: Vec<&str> = row.split(',').collect();
    let with = |cell: &str| shipped.replacen(row, &format!("{},{cell},{}", cells[0], cells[2]), 1);
    let dir = folder(&[("far.csv", &with("1e300")), ("infinite.csv", &with("inf"))]);
    let pendulum = world("pendulum");
    let validate = ["validate", &pendulum];
    let tune = ["tune", &pendulum, "-p", "joint/hinge/dynamics/damping=0..1"];
    let named =
        format!("`far.csv` has 1e300 for `hinge/position` at {}", cells[0].trim_end_matches('0'));
    for (base, code) in [(&validate[..], 3), (&tune, 2)] {
        let said = text(&expect(dir.path(), &[base, &["far.csv"]].concat(), code).stderr);
        assert!(said.contains("stray-sample") && said.contains(&named), "{base:?}: {said}");
        let told = expect(dir.path(), &[base, &["infinite.csv"]].concat(), 0);
        let said = text(&told.stderr) + &text(&told.stdout);
        assert!(said.contains("left out: not finite"), "{base:?}: {said}");
    }
}

/// `pos` and `position` are one signal: neither is left out without a word, growing or not.
#[test]
fn two_columns_of_one_signal_are_told_by_name() {
    let table = "time,hinge/pos,hinge/position\n0,0.5,0.5\n0.1,0.4,0.4\n0.2,0.3,0.3\n";
    let dir = folder(&[("t.csv", table)]);
    let model = world("pendulum");
    for (live, code) in [(&[][..], 3), (&["--live=0.2"], 2)] {
        let args = [&["validate", &model, "t.csv", "--ignore-unknown"][..], live].concat();
        let said = text(&expect(dir.path(), &args, code).stderr);
        assert!(said.contains("`hinge/pos` and `hinge/position`"), "{live:?}: {said}");
    }
}

/// So do those who fit it or compare two tables; and a short word alone is known to all of them.
#[test]
fn two_columns_of_one_signal_are_told_by_tune_and_compare() {
    let one = "time,hinge/pos\n0,0.5\n0.1,0.4\n0.2,0.3\n";
    let two = "time,hinge/pos,hinge/position\n0,0.5,0.6\n0.1,0.4,0.5\n0.2,0.3,0.4\n";
    let dir = folder(&[("one.csv", one), ("two.csv", two)]);
    let (model, damping) = (world("pendulum"), "joint/hinge/dynamics/damping=0..1");
    for (args, code) in [
        (&["tune", &model, "two.csv", "-p", damping][..], 2),
        (&["tune", &model, "two.csv", "-p", damping, "--ignore-unknown"], 2),
        (&["compare", "one.csv", "two.csv"], 3),
        (&["compare", "two.csv", "one.csv"], 3),
        (&["compare", "two.csv", "one.csv", "--live=0.2"], 3),
        (&["compare", "one.csv", "two.csv", "--live=0.2"], 2),
        (&["compare", "one.csv", "two.csv", "--live=0.2", "--ignore-unknown"], 2),
    ] {
        let said = text(&expect(dir.path(), args, code).stderr);
        assert!(said.contains("`hinge/pos` and `hinge/position`"), "{args:?}: {said}");
    }
    for live in [&[][..], &["--live=0.2"]] {
        let args = [&["compare", "one.csv", "one.csv"][..], live].concat();
        let shown = text(&expect(dir.path(), &args, 0).stdout);
        assert!(shown.contains("hinge/position  "), "{live:?}: {shown}");
    }
}

/// A state is of one moment: with a time or without, in any delimiter.
#[test]
fn a_state_needs_no_time() {
    let row = "time,hinge/position,hinge/velocity\n0,0.5,0\n";
    let dir = folder(&[
        ("timed.csv", row),
        ("commas.csv", "# released\nhinge/position [deg],hinge/velocity\n28.64788975654116,0\n"),
        ("blanks.txt", "hinge/position  hinge/velocity\n0.5 0\n"),
    ]);
    let found = |state: &str| {
        let more = ["--state", state];
        let found = validated(&dir, &world("pendulum"), &measured("pendulum.csv"), &more, 0);
        rmse(&found, "hinge/position")
    };
    let timed = found("timed.csv");
    assert!((found("commas.csv") - timed).abs() < 1e-9 && found("blanks.txt") == timed);
}

/// Of a measurement `nan` is a sample that is not there; in commands somebody meant something.
#[test]
fn nan_in_commands_is_told_with_line_and_column() {
    let table = "time,hinge/position\n0,0.5\n0.1,0.4\n0.2,nan\n0.3,0.3\n";
    let told = "time,hinge/effort\n0,0.1\n0.1,nan\n";
    let dir = folder(&[("t.csv", table), ("told.csv", told)]);
    let model = world("pendulum");
    let wanted = "`told.csv` line 3: `nan` in column `hinge/effort`";
    for args in [
        &["validate", &model, "t.csv", "-c", "told.csv"][..],
        &["run", &model, "--duration", "0.1", "--command", "told.csv"],
    ] {
        let said = text(&expect(dir.path(), args, 0).stderr);
        assert!(said.contains("warning[nan-cell]") && said.contains(wanted), "{said}");
        assert!(!said.contains("t.csv` line 4"), "{said}");
    }
}

/// What the engine has to say of the experiment is told here as it is after a run.
#[test]
fn what_the_engine_says_is_told() {
    let sunk = r#"<sdf version="1.11"><world name="sunk">
        <model name="ground"><static>true</static><link name="link"><collision name="plane">
        <geometry><plane><normal>0 0 1</normal><size>9 9</size></plane></geometry></collision></link>
        </model><model name="cube"><pose>0 0 -0.02 0 0 0</pose><link name="link">
        <inertial auto="true"><density>1000</density></inertial><collision name="box"><geometry><box>
        <size>0.1 0.1 0.1</size></box></geometry></collision></link></model></world></sdf>"#;
    let rows = "time,cube/pose/z\n0,-0.02\n0.01,-0.02\n0.02,-0.02\n";
    let dir = folder(&[("sunk.sdf", sunk), ("rows.csv", rows)]);
    let mut command = headland(dir.path());
    command.args(["validate", "sunk.sdf", "rows.csv", "--engine", "native"]);
    let said = text(&command.output().expect("runs").stderr);
    assert!(said.contains("engine-remark") && said.contains("overlap"), "{said}");
}
