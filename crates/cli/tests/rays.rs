//! Ray sensors from a world to a recording that others read, and `headland fit-noise`.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use common::{ROOT, expect, text};
use serde_json::Value;

/// What two readers that we did not write say is in a recording, by topic; nothing where there
/// is no interpreter.
fn foreign(recording: &Path) -> Option<BTreeMap<String, Value>> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let is_required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!is_required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!("skipped: read_rays.py needs rosbags; ./test installs it");
        return None;
    };
    let script = format!("{ROOT}/tests/foreign/read_rays.py");
    let output = Command::new(python).arg("-B").arg(script).arg(recording).output();
    let output = output.expect("HEADLAND_PYTHON is an interpreter");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let line = |line: &str| {
        let value: Value = serde_json::from_str(line).expect("JSON");
        (value["topic"].as_str().expect("a topic").to_string(), value)
    };
    Some(text(&output.stdout).lines().map(line).collect())
}

/// The shipped cell, run for a second: every sensor says as much as its rate allows, in messages
/// that others decode, and what it says is of the cell.
#[test]
fn a_cell_full_of_rays_is_read_by_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let world = format!("{ROOT}/worlds/beams.sdf");
    let args = ["run", &world, "--duration", "1", "--record-rate", "10", "-o", "b.mcap", "-q"];
    expect(folder.path(), &args, 0);
    let Some(topics) = foreign(&folder.path().join("b.mcap")) else { return };
    let sums = |topic: &str| -> (u64, u64, u64, f64) {
        let it = topics.get(topic).unwrap_or_else(|| panic!("no {topic} in {:?}", topics.keys()));
        let sums = &it["sums"];
        let count = |i: usize| sums[i].as_u64().expect("a count");
        (it["messages"].as_u64().expect("n"), count(0), count(1), sums[2].as_f64().expect("sum"))
    };
    let (n, n_beams, n_finite, _) = sums("/cart/lidar");
    assert_eq!((n, n_beams), (15, 15 * 271));
    assert!(n_finite > n_beams / 10 && n_finite < n_beams, "{n_finite}");
    let (n, n_points, n_finite, sum) = sums("/gantry/lidar_3d");
    assert_eq!((n, n_points), (6, 6 * 2500));
    let mean = sum / n_finite as f64;
    assert!(n_finite > n_points / 2 && (0.7..1.8).contains(&mean), "{n_finite} {mean}");
    let (n, n_beams, n_finite, _) = sums("/gantry/profiler");
    assert!(n == 31 && n_beams == 31 * 400 && n_finite > n_beams / 2, "{n} {n_finite}");
    let (n, _, n_broken, _) = sums("/gantry/break_beam");
    assert!(n == 31 && n_broken > 0 && n_broken < n, "parts pass: {n_broken} of {n}");
    assert_eq!(sums("/gantry/break_beam/range").0, 31);
    let (n, _, n_near, _) = sums("/gantry/proximity");
    assert!(n == 11 && n_near > 0 && n_near < n, "{n_near}");
    assert_eq!(sums("/cart/sonar").0, 21);
    let (n, n_objects, ..) = sums("/gantry/logical_camera");
    assert_eq!((n, n_objects), (11, 11 * 6), "five gears and the table");
    // 80 ms late: what was seen at the end has not arrived.
    let (n, n_found, _, scores) = sums("/gantry/vision");
    assert_eq!(n, 10);
    assert!(n_found > 30 && n_found <= 50, "{n_found}");
    assert!((scores / n_found as f64 - 0.93).abs() < 0.02, "{scores}");
    assert_eq!(topics["/gantry/vision"]["late"], 80_000_000);
}

fn csv(rows: usize, cell: impl Fn(usize) -> (f64, f64)) -> String {
    let mut out = "x [mm],y [mm]\n".to_string();
    for i in 0..rows {
        let (x, y) = cell(i);
        writeln!(out, "{x},{y}").expect("a String");
    }
    out
}

/// Numbers without a pattern, but the same everywhere.
fn spread(i: usize) -> f64 {
    let x = headland_base::maths::sin(i as f64 * 12.9898) * 43_758.545_3;
    x - x.floor() - 0.5
}

#[test]
fn what_was_fitted_is_what_a_detector_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let table = format!("{ROOT}/worlds/gears.csv");
    let said = expect(dir, &["fit-noise", &table, "--by", "part", "--json"], 0);
    let json: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!(json["axes"], serde_json::json!(["x", "y"]));
    assert_eq!(json["clusters"].as_array().map(Vec::len), Some(3), "{json}");
    assert_eq!(json["rows"], 1600);
    assert!(json["dropout"]["burst"].as_f64().is_some_and(|burst| burst > 1.5), "{json}");
    // The file that ships beside the world is this one.
    let written = std::fs::read_to_string(dir.join("gears.noise.xml")).expect("written");
    let shipped = format!("{ROOT}/worlds/gears.noise.xml");
    let picture = format!("{ROOT}/docs/src/pictures/gears.noise.svg");
    let drawn = std::fs::read_to_string(dir.join("gears.noise.svg")).expect("drawn");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&shipped, &written).expect("kept");
        std::fs::write(&picture, drawn.replace(&table, "worlds/gears.csv")).expect("kept");
    }
    assert_eq!(written, std::fs::read_to_string(&shipped).expect("it ships"));
    let kept = std::fs::read_to_string(&picture).expect("the book shows it");
    assert_eq!(drawn.replace(&table, "worlds/gears.csv"), kept);
    assert!(roxmltree::Document::parse(&drawn).is_ok());
}

/// The truth is in the units of the table, whether its header or an option says them; and angles go
/// round.
#[test]
fn the_truth_has_the_units_of_the_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let rows = |header: &str, millimetre: f64, degree: f64| {
        let row = |i: usize| {
            // Normal enough: a sum of four.
            let bell = |k: usize| (0..4).map(|j| spread(4 * i + j + k)).sum::<f64>();
            let yaw = (180.0 + 3.0 * bell(100_000) + 180.0).rem_euclid(360.0) - 180.0;
            format!("{},{}\n", (1000.0 + bell(0)) * millimetre, yaw * degree)
        };
        header.to_string() + &(0..400).map(row).collect::<String>()
    };
    let radian = headland_base::maths::PI / 180.0;
    let mut fitted = Vec::new();
    for (header, scale, truth, options) in [
        ("x [mm],yaw [deg]\n", (1.0, 1.0), "1000,180".to_string(), &[][..]),
        ("x [m],yaw [rad]\n", (1e-3, radian), format!("1,{}", 180.0 * radian), &[]),
        ("x,yaw\n", (1.0, 1.0), "1000,-180".to_string(), &["--unit", "mm", "--angle-unit", "deg"]),
        ("x [mm],yaw [deg]\n", (1.0, 1.0), "mean".to_string(), &[]),
    ] {
        std::fs::write(dir.join("t.csv"), rows(header, scale.0, scale.1)).expect("written");
        let words = ["fit-noise", "t.csv", "--json", "--truth", &truth];
        let said = expect(dir, &[&words[..], options].concat(), 0);
        let json: Value = serde_json::from_slice(&said.stdout).expect("JSON");
        let clusters = json["clusters"].as_array().expect("clusters").clone();
        assert_eq!(clusters.len(), 1, "{truth}: {json}");
        let numbers = |key: &str| -> Vec<f64> {
            let all = clusters[0][key].as_array().expect("numbers");
            all.iter().map(|x| x.as_f64().expect("a number")).collect()
        };
        let (mean, covariance) = (numbers("mean"), numbers("covariance"));
        let stddev = [covariance[0], covariance[3]].map(headland_base::maths::sqrt);
        // A sum of four even ones from −½ to ½ has a variance of a third.
        assert!(mean[0].abs() < 1e-4 && mean[1].abs() < 0.5 * radian, "{truth}: {mean:?}");
        assert!((stddev[0] / 5.77e-4 - 1.0).abs() < 0.15, "{truth}: {stddev:?}");
        assert!((stddev[1] / (1.732 * radian) - 1.0).abs() < 0.15, "{truth}: {stddev:?}");
        fitted.push(mean);
    }
    assert!(
        (fitted[0][0] - fitted[1][0]).abs() < 1e-9 && (fitted[0][1] - fitted[2][1]).abs() < 1e-9
    );
    for picture in ["same.xml", "./same.xml"] {
        let words = ["fit-noise", "t.csv", "-o", "same.xml", "--picture", picture];
        let refused = expect(dir, &words, 2);
        assert!(text(&refused.stderr).contains("error[same-file]"), "{}", text(&refused.stderr));
        assert!(!dir.join("same.xml").exists());
    }
}

#[test]
fn tables_that_are_none_are_answered_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let cases: [(&str, String, &[&str], &str); 12] = [
        ("empty", String::new(), &[], "error[empty-table]"),
        ("header", "x,y\n".to_string(), &[], "error[too-few-rows]"),
        ("one", "x,y\n1,2\n".to_string(), &[], "error[too-few-rows]"),
        ("text", "x,y\n1,2\na,3\nb,4\n".to_string(), &[], "line 4: `b` in column `x`"),
        ("nan", "x,y\nnan,2\nNaN,3\n".to_string(), &[], "error[too-few-rows]"),
        ("inf", "x,y\n1,2\n1e999,3\n".to_string(), &[], "error[not-finite]"),
        ("same", csv(50, |i| (spread(i), 416.65)), &[], "error[constant-column]: `y`"),
        ("names", "a,b\n1,2\n".to_string(), &[], "error[unknown-column]"),
        (
            "near",
            csv(50, |i| (spread(i), spread(i + 99))),
            &["--columns", "x,yy"],
            "did you mean `y`?",
        ),
        ("axis", "a,b\n1,2\n".to_string(), &["--columns", "a"], "error[unknown-axis]"),
        ("truth", csv(50, |i| (spread(i), spread(i + 99))), &["--truth", "1"], "error[bad-truth]"),
        (
            "many",
            csv(20, |i| (spread(i), spread(i + 99))),
            &["--clusters", "15"],
            "error[too-many-clusters]",
        ),
    ];
    for (name, table, more, wanted) in cases {
        let file = format!("{name}.csv");
        std::fs::write(dir.join(&file), table).expect("written");
        let refused = expect(dir, &[&["fit-noise", &file], more].concat(), 2);
        let said = text(&refused.stderr);
        assert!(said.contains(wanted), "{name}: {said}");
        assert!(!dir.join(format!("{name}.noise.xml")).exists());
    }
    let missing = expect(dir, &["fit-noise", "none.csv"], 2);
    assert!(text(&missing.stderr).contains("error[missing-file]"));
}

/// A table that is longer than what is kept of it: in bounded time, and what it says is true.
#[test]
fn a_long_table_is_thinned_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let table = csv(90_000, |i| (3.0 + spread(i) * 0.2, 7.0 + spread(i + 7_000_000)));
    std::fs::write(dir.join("long.csv"), table).expect("written");
    let said = expect(dir, &["fit-noise", "long.csv", "--json", "--clusters", "1"], 0);
    let json: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    assert_eq!((&json["rows"], &json["fitted"]), (&90_000.into(), &22_500.into()));
    let variance = json["clusters"][0]["covariance"][3].as_f64().expect("a number");
    // A twelfth of a square millimetre.
    assert!((variance * 1e6 - 1.0 / 12.0).abs() < 0.002, "{variance}");
}

/// A detector's file of noise is found beside the world or on the search path; a world written
/// into another folder, and the one in a recording, hold what it says and say the same without it.
#[test]
fn noise_goes_with_the_world() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    for name in ["here", "there", "shelf"] {
        std::fs::create_dir(dir.join(name)).expect("made");
    }
    let shipped = std::fs::read_to_string(format!("{ROOT}/worlds/beams.sdf")).expect("shipped");
    std::fs::write(dir.join("here/beams.sdf"), &shipped).expect("written");
    let noise = format!("{ROOT}/worlds/gears.noise.xml");
    let failed = expect(dir, &["check", "here/beams.sdf"], 2);
    let said = text(&failed.stderr);
    assert!(said.contains("cannot use `gears.noise.xml`: it is not there"), "{said}");
    assert!(said.contains("HEADLAND_RESOURCE_PATH"), "{said}");
    std::fs::copy(noise, dir.join("shelf/gears.noise.xml")).expect("copied");
    let with_shelf = |args: &[&str]| {
        let mut command = common::headland(dir);
        let output = command.env("HEADLAND_RESOURCE_PATH", "shelf").args(args).output();
        let output = output.expect("the program runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    };
    with_shelf(&["check", "here/beams.sdf", "--write-sdf", "there/beams.sdf"]);
    let run = ["-d", "0.3", "--sensors", "*vision*", "--record-rate", "10", "-q"];
    with_shelf(&[&["run", "here/beams.sdf", "-o", "a.mcap"][..], &run].concat());
    // From here on nobody knows the file.
    std::fs::remove_file(dir.join("shelf/gears.noise.xml")).expect("removed");
    expect(dir, &[&["run", "there/beams.sdf", "-o", "b.mcap"][..], &run].concat(), 0);
    let attached = expect(dir, &["cat", "a.mcap", "--attachment", "world.sdf"], 0);
    std::fs::write(dir.join("there/again.sdf"), attached.stdout).expect("written");
    expect(dir, &[&["run", "there/again.sdf", "-o", "c.mcap"][..], &run].concat(), 0);
    let seen = |recording: &str| {
        let topic = "/gantry/vision";
        text(&expect(dir, &["cat", recording, "--topic", topic], 0).stdout)
    };
    let (a, b, c) = (seen("a.mcap"), seen("b.mcap"), seen("c.mcap"));
    assert!(a.contains("gear_") && a == b && a == c, "{a}\n{b}\n{c}");
}
