//! `headland compare` from outside: what it says of two logs, and of logs that are hardly any.

mod common;

use std::fs;
use std::path::Path;

use common::{expect, json, text};
use headland_base::maths::sin;
use serde_json::Value;
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        fs::write(dir.path().join(name), content).expect("written");
    }
    dir
}

/// Compares `a.csv` with `b.csv`, wants this exit code, and gives what is said on both outputs.
fn compared(dir: &TempDir, more: &[&str], code: i32) -> (Value, String) {
    let args = [&["compare", "a.csv", "b.csv", "--json"][..], more].concat();
    let output = expect(dir.path(), &args, code);
    let found = if output.stdout.is_empty() { Value::Null } else { json(&output.stdout) };
    (found, text(&output.stderr))
}

fn key<'v>(found: &'v Value, name: &str) -> &'v Value {
    let keys = found["keys"].as_array().expect("keys");
    keys.iter().find(|key| key["key"] == name).unwrap_or_else(|| panic!("no {name} in {found}"))
}

#[test]
fn hardly_a_log() {
    const GOOD: &str = "time,x\n0,1\n1,2\n2,3\n";
    for (a, code, said) in [
        ("", 2, "empty-table"),
        ("time,x\n", 3, "no-pair"),
        ("x,y\n1,2\n", 2, "no-time-column"),
        ("time,x\n0,\n1,nan\n", 3, "no-numbers"),
        ("time,x\n0,1\n1,two\n2,3\n", 3, "not-a-number"),
        ("time,x\n1700000000000,1\n", 2, "which-time-unit"),
    ] {
        let dir = folder(&[("a.csv", a), ("b.csv", GOOD)]);
        let (_, err) = compared(&dir, &[], code);
        assert!(err.contains(said), "{a:?}: {err}");
        // The other way round as well.
        let output = expect(dir.path(), &["compare", "b.csv", "a.csv", "--ignore-unknown"], code);
        assert!(text(&output.stderr).contains(said), "{a:?}: {}", text(&output.stderr));
    }
    let missing = folder(&[("a.csv", GOOD)]);
    assert!(compared(&missing, &[], 2).1.contains("cannot-open"));
}

/// Numbers that have no digit left behind the point are not a perfect match.
#[test]
fn numbers_too_large_to_compare_are_told() {
    let table = |key: &str, at: f64, by: f64| {
        let row = |i: i32| format!("{},{}\n", i, at + by * f64::from(i));
        format!("time,{key}\n{}", (0..5).map(row).collect::<String>())
    };
    for key in ["j/position", "x"] {
        for (at, code) in [(1e16, 3), (1e6, 0)] {
            let (a, b) = (table(key, at, 0.1), table(key, at, 0.2));
            let dir = folder(&[("a.csv", &a), ("b.csv", &b)]);
            let (_, err) = compared(&dir, &[], code);
            assert_eq!(err.contains("no-digits"), code == 3, "{key} {at}: {err}");
        }
    }
}

#[test]
fn a_side_without_a_sample_is_named() {
    let (head, row) = ("time,x\n", "time,x\n5,1\n");
    for (a, b, said) in
        [(head, head, "neither side has"), (head, row, "A has no"), (row, head, "B has no")]
    {
        let dir = folder(&[("a.csv", a), ("b.csv", b)]);
        let (_, err) = compared(&dir, &["--ignore-unknown"], 3);
        assert!(err.contains("no-pair") && err.contains(said), "{said}: {err}");
    }
    let dir = folder(&[("a.csv", row), ("b.csv", row)]);
    for range in [["--start", "99"], ["--end", "-1"]] {
        let (_, err) = compared(&dir, &range, 3);
        assert!(err.contains("leave no sample of A"), "{range:?}: {err}");
    }
}

#[test]
fn one_row_and_constant_time() {
    let dir = folder(&[("a.csv", "time,x\n5,1\n"), ("b.csv", "time,x\n5,3\n")]);
    let (found, _) = compared(&dir, &[], 0);
    let x = key(&found, "x");
    assert_eq!(x["statistics"]["n"], 1);
    assert_eq!(x["statistics"]["bias"], 2.0);
    assert!(x["statistics"]["r2"].is_null() && x["lag"].is_null(), "{x}");
    let rows = "time,x\n5,1\n5,2\n5,7\n4,9\n";
    let dir = folder(&[("a.csv", rows), ("b.csv", rows)]);
    let (found, _) = compared(&dir, &[], 0);
    let x = key(&found, "x");
    assert_eq!(x["statistics"]["n"], 1);
    assert_eq!(x["dropped_a"]["duplicate"], 2);
    assert_eq!(x["dropped_b"]["backward"], 1);
}

/// 992 rows of which 42 repeat a time and 32 go back: 918 are kept, and each is accounted for.
#[test]
fn corrupted_stamps_are_dropped_and_counted() {
    let mut rows = String::from("time,q/position,i\n");
    let mut t = 0;
    for k in 0..918 {
        t += [8, 10, 12][k % 3];
        rows += &format!("{}e-3,{k},{k}\n", t);
        if k % 21 == 20 && k / 21 < 42 {
            rows += &format!("{}e-3,-5,-5\n", t);
        }
        if k % 28 == 27 && k / 28 < 32 {
            rows += &format!("{}e-3,-9,-9\n", t - 5);
        }
    }
    let n_rows = rows.lines().count() - 1;
    let dir = folder(&[("a.csv", &rows), ("b.csv", &rows)]);
    let (found, _) = compared(&dir, &[], 0);
    for name in ["q/position", "i"] {
        let one = key(&found, name);
        let n = |what: &str| one["dropped_a"][what].as_u64().expect("a count") as usize;
        assert_eq!(one["samples_a"], 918);
        assert_eq!(918 + n("duplicate") + n("backward"), n_rows, "{one}");
        assert_eq!((n("duplicate"), n("backward")), (42, 32));
        assert_eq!(one["statistics"]["rmse"], 0.0);
    }
}

#[test]
fn samples_in_no_pair_are_counted_and_clocks_are_brought_together() {
    let a = "time,x\n100.0,0\n100.1,1\n100.2,2\n100.3,3\n";
    let b = "time,x\n0.0,0.5\n0.1,1.5\n0.104,9\n0.2,2.5\n";
    let dir = folder(&[("a.csv", a), ("b.csv", b)]);
    let (found, err) = compared(&dir, &[], 3);
    assert!(err.contains("from 100.000 s to 100.300 s") && err.contains("from 0.000 s to 0.200 s"));
    assert!(err.contains("--relative"), "{err}");
    assert_eq!(key(&found, "x")["unmatched_a"], 4.0);
    for shift in [&["--relative"][..], &["--t-offset", "100"]] {
        let (found, _) = compared(&dir, &[shift, &["--tolerance", "0.01"]].concat(), 0);
        let x = key(&found, "x");
        assert_eq!((&x["unmatched_a"], &x["unmatched_b"]), (&1.0.into(), &1.0.into()));
        assert_eq!(x["statistics"]["bias"], 0.5);
        assert_eq!(x["coverage_a"], 0.75);
    }
    let trimmed = ["--relative", "--start", "0.05", "--end", "0.25", "--sampling", "exact"];
    let (found, _) = compared(&dir, &trimmed, 0);
    assert_eq!(key(&found, "x")["statistics"]["n"], 2);
    let (_, err) = compared(&dir, &["--sampling", "exact", "--tolerance", "1"], 2);
    assert!(err.contains("bad-option"));
}

#[test]
fn keys_nobody_knows_are_named_with_the_nearest() {
    let dir = folder(&[
        ("a.csv", "time,wrist_0/linear_vel/x,wrist0/linear_vel/y\n0,1,2\n1,2,3\n"),
        ("b.csv", "time,wrist_0/linear_vel/x,wrist_0/linear_vel/y\n0,1,2\n1,2,3\n"),
    ]);
    let (_, err) = compared(&dir, &[], 2);
    assert!(err.contains("unknown-key") && err.contains("`wrist_0/linear_vel/y`"), "{err}");
    let (found, _) = compared(&dir, &["--ignore-unknown"], 0);
    assert_eq!(found["only_a"][0]["nearest"], "wrist_0/linear_vel/y");
    assert_eq!(found["keys"].as_array().map(Vec::len), Some(1));
    fs::write(dir.path().join("map"), "wrist0/* -> wrist_0/*\n").expect("written");
    assert_eq!(compared(&dir, &["--map", "map"], 0).0["keys"].as_array().map(Vec::len), Some(2));
    for (more, said) in [
        (["--key", "wrist_0/linear_vle/x"], "did you mean `wrist_0/linear_vel/x`"),
        (["--fail-if", "*:rsme>1"], "did you mean `rmse`"),
        (["--fail-if", "elbow:rmse>1"], "unknown-key"),
        (["--report", "out.pdf"], "which-format"),
        (["--phases", "map"], "bad-phase"),
        (["--map", "a.csv"], "bad-key-map"),
    ] {
        let (_, err) = compared(&dir, &[&more[..], &["--ignore-unknown"]].concat(), 2);
        assert!(err.contains(said), "{more:?}: {err}");
    }
}

#[test]
fn limits_decide_the_exit_code() {
    let dir = folder(&[
        ("a.csv", "time,x,flat\n0,1,5\n1,2,5\n2,3,5\n"),
        ("b.csv", "time,x,flat\n0,1.1,5\n1,2.1,5\n2,3.1,5\n"),
    ]);
    for (limit, code) in [
        ("x:rmse>0.2", 0),
        ("x:rmse>0.05", 1),
        ("*:max_abs>=0.2", 0),
        ("x:r2<0.9", 0),
        ("x:coverage_a<=1", 1),
        ("flat:r2<0.9", 3), // undefined: nobody can say
    ] {
        let (found, _) = compared(&dir, &["--fail-if", limit], code);
        let broken = [Value::from(false), Value::from(true), Value::Null];
        assert_eq!(
            found["thresholds"][0]["broken"],
            broken[[0, 1, 9, 2][code as usize]],
            "{limit}"
        );
    }
    compared(&dir, &["--fail-if", "flat:r2<0.9", "--fail-if", "x:rmse>0.05"], 1);
    // The page marks the statistic that is broken, and no other whose name begins alike.
    let page = ["--fail-if", "x:max_abs>0.05", "--stats", "max,max_abs", "--report", "r.html"];
    compared(&dir, &page, 1);
    let page = fs::read_to_string(dir.path().join("r.html")).expect("written");
    assert!(page.contains("<td>0.1</td><td class=\"unusual\">0.1</td>"), "{page}");
}

/// Tables without a header, with times in another unit, and such as nobody wants to be lenient
/// with.
#[test]
fn tables_of_others_are_told_of() {
    let eight = "0 1 2 3 4 5 6 7\n10 1 2 3 4 5 6 8\n20 1 2 3 4 5 6 9\n";
    let dir = folder(&[("a.csv", eight), ("b.csv", eight)]);
    let names = "time,b,c,d,e,f,g,h";
    let (found, _) = compared(&dir, &["--columns", names, "--time-unit", "ms"], 0);
    assert_eq!(found["span_a_ns"], Value::from(vec![0, 20_000_000]), "{found}");
    assert_eq!(found["keys"].as_array().map(Vec::len), Some(7));
    assert_eq!(key(&found, "h")["statistics"]["n"], 3);
    let (good, bad) = ("time,x\n0,1\n1,2\n", "time,x\n0,1\n1,2\n1,3\n0.5,4\n");
    let dir = folder(&[("a.csv", good), ("b.csv", bad)]);
    compared(&dir, &[], 0);
    let (_, err) = compared(&dir, &["--strict-time"], 2);
    assert!(err.contains("time-repeated") && err.contains("time-went-back"), "{err}");
    fs::write(dir.path().join("b.csv"), good).expect("written");
    compared(&dir, &["--strict-time"], 0);
}

/// Options of which one would be ignored are refused.
#[test]
fn what_does_not_go_together_is_refused() {
    let rows = "time,x\n0,1\n1,2\n";
    let dir = folder(&[("a.csv", rows), ("b.csv", rows)]);
    let (_, err) = compared(&dir, &["--sampling", "interp", "--pairing", "evo"], 2);
    assert!(err.contains("bad-option") && err.contains("--pairing evo"), "{err}");
}

/// A pose is a place and an orientation; a joint has no full turns; a table meets a recording.
#[test]
fn poses_and_joints_and_any_format() {
    let head = "time,arm::elbow/position [deg],tip/pose/x,tip/pose/y,tip/pose/z,tip/pose/roll,\
                tip/pose/pitch,tip/pose/yaw";
    let rows = |elbow: [f64; 4], yaw: f64| {
        let row = |i: usize| format!("\n{}.5,{},{i},{},0,0,0,{yaw}", i, elbow[i], i * i);
        format!("{head}{}\n", (0..4).map(row).collect::<String>())
    };
    let dir = folder(&[
        ("a.csv", &rows([179.0, 170.0, -179.0, 10.0], 3.1)),
        ("b.csv", &rows([-179.0, 172.0, 179.0, 12.0], -3.1)),
    ]);
    expect(dir.path(), &["import", "b.csv", "-o", "b.mcap"], 0);
    expect(dir.path(), &["export", "b.mcap", "--to", "rosbag2", "-o", "bag"], 0);
    expect(dir.path(), &["export", "b.mcap", "-o", "tip.tum"], 0);
    let mut answers = Vec::new();
    for b in ["b.csv", "b.mcap", "bag"] {
        let output = expect(dir.path(), &["compare", "a.csv", b, "--json"], 0);
        let mut found = json(&output.stdout);
        let elbow = key(&found, "elbow/position")["statistics"]["max_abs"].as_f64();
        assert!((elbow.expect("a number").to_degrees() - 2.0).abs() < 1e-9);
        let turn = key(&found, "tip/pose/orientation");
        assert_eq!(turn["unit"], "deg");
        let turn = turn["statistics"]["rmse"].as_f64().expect("a number");
        assert!((turn - (std::f64::consts::TAU - 6.2).to_degrees()).abs() < 1e-9, "{turn}");
        assert_eq!(key(&found, "tip/pose/position")["statistics"]["rmse"], 0.0);
        found["b"] = Value::Null;
        answers.push(found);
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    let whole = ["compare", "a.csv", "b.csv", "--json", "--no-wrap", "--key", "elbow/*"];
    let found = json(&expect(dir.path(), &whole, 0).stdout);
    assert!(key(&found, "elbow/position")["statistics"]["max_abs"].as_f64() > Some(6.0));
    // A trajectory has no name of its own and takes that of the other side.
    let args = ["compare", "a.csv", "tip.tum", "--json", "--key", "tip/pose/*"];
    let found = json(&expect(dir.path(), &args, 0).stdout);
    assert_eq!(key(&found, "tip/pose/position")["statistics"]["n"], 4);
}

/// A cell that is missing takes its moment from the distance and the angle, and nothing else.
#[test]
fn a_missing_component_is_a_missing_moment() {
    let head = "time,foot/force/x,foot/force/y,foot/force/z,imu/q/x,imu/q/y,imu/q/z,imu/q/w\n";
    let a = format!("{head}0,0,0,0,0,0,0,1\n1,0,,0,0,0,0,1\n2,0,0,0,0,0,0,1\n3,0,0,0,0,0,0,1\n");
    let b = format!("{head}0,3,4,0,0,0,0,1\n1,3,4,0,0,0,0,1\n2,3,4,0,0,0,,1\n3,3,4,0,0,0,0,0\n");
    let dir = folder(&[("a.csv", &a), ("b.csv", &b)]);
    let (found, _) = compared(&dir, &["--sampling", "exact"], 0);
    let norm = key(&found, "foot/force/norm");
    assert_eq!((&norm["statistics"]["n"], &norm["statistics"]["rmse"]), (&3.into(), &5.0.into()));
    assert_eq!(norm["dropped_a"]["incomplete"], 1);
    assert_eq!(key(&found, "foot/force/y")["statistics"]["n"], 3);
    assert_eq!(key(&found, "foot/force/x")["statistics"]["n"], 4);
    let angle = key(&found, "imu/q/angle");
    assert_eq!(angle["statistics"]["n"], 2, "{angle}");
    assert_eq!(angle["dropped_b"]["incomplete"], 1);
    assert_eq!(angle["dropped_b"]["undirected"], 1);
    let said = text(&expect(dir.path(), &["compare", "a.csv", "b.csv"], 0).stdout);
    let words = "foot/force/norm: 1 sample of A left out: some of its components are missing";
    assert!(said.contains(words), "{said}");
}

/// EuRoC and KITTI are the same path as TUM.
#[test]
fn trajectories_of_every_form() {
    let mut tum = String::new();
    let mut kitti = String::new();
    let mut euroc = String::from(
        "#timestamp [ns], p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], \
         q_RS_y [], q_RS_z [], v_RS_R_x [m s^-1]\n",
    );
    for i in 0..6 {
        let (x, y) = (f64::from(i), f64::from(i * i) * 0.1);
        tum += &format!("{i} {x} {y} 1 0 0 0.6 0.8\n");
        kitti += &format!("0.28 -0.96 0 {x} 0.96 0.28 0 {y} 0 0 1 1\n");
        euroc += &format!("{i}000000000,{x},{y},1,0.8,0,0,0.6,1\n");
    }
    let dir = folder(&[("t.tum", &tum), ("k.txt", &kitti), ("e.csv", &euroc)]);
    let answer = |other: &str| {
        let args = ["compare", "t.tum", other, "--json", "--align", "rigid", "--key", "*pose*"];
        json(&expect(dir.path(), &args, 0).stdout)
    };
    for (other, most) in [("k.txt", 1e-6), ("e.csv", 1e-12), ("t.tum", 1e-12)] {
        let found = answer(other);
        for name in ["position", "orientation", "ape", "rpe", "ape_angle", "rpe_angle"] {
            let worst = &key(&found, &format!("trajectory/pose/{name}"))["statistics"]["max_abs"];
            assert!(worst.as_f64().is_some_and(|worst| worst < most), "{other} {name}: {worst}");
        }
    }
    let output = expect(dir.path(), &["import", "e.csv", "-o", "e.mcap"], 0);
    assert!(text(&output.stdout).contains("from euroc"));
}

#[test]
fn a_line_has_no_best_turn() {
    let line: String = (0..5).map(|i| format!("{i} {i} 0 0 0 0 0 1\n")).collect();
    let dir = folder(&[("a.tum", &line), ("b.tum", &line)]);
    let output = expect(dir.path(), &["compare", "a.tum", "b.tum", "--align", "rigid"], 0);
    assert!(text(&output.stderr).contains("align-degenerate"));
    let args = ["compare", "a.tum", "b.tum", "--align", "rigid", "--fail-if", "*/ape:rmse>1"];
    expect(dir.path(), &args, 3);
}

#[test]
fn reports_and_drawings() {
    let rows = |late: f64| {
        let row = |i: i32| {
            let t = f64::from(i) * 0.01;
            format!("{t:.2},{},{}\n", sin(3.0 * (t - late)), t * t)
        };
        format!("time,a<b>/x,y\n{}", (0..300).map(row).collect::<String>())
    };
    let dir = folder(&[("a.csv", &rows(0.0)), ("b.csv", &rows(0.05)), ("p", "0 1 first\n")]);
    let args = [
        "compare",
        "a.csv",
        "b.csv",
        "--report",
        "r.html",
        "--report",
        "r.json",
        "--report",
        "r.csv",
        "--report",
        "r.md",
        "--plot",
        "drawings",
        "--phases",
        "p",
        "--bootstrap",
        "--seed",
        "3",
        "--estimate-lag=0.5",
    ];
    let first = expect(dir.path(), &args, 0);
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).expect(name);
    let found = json(read("r.json").as_bytes());
    let wave = key(&found, "a<b>/x");
    let lag = wave["lag"].as_f64().expect("a lag");
    assert!((lag - 0.05).abs() < 1e-4, "{lag}");
    assert!(wave["intervals"]["rmse"][0].as_f64() < wave["statistics"]["rmse"].as_f64());
    assert_eq!(wave["phases"][0]["statistics"]["n"], 100);
    let page = read("r.html");
    assert!(page.contains("a&lt;b&gt;/x") && !page.contains("a<b>") && !page.contains("<script"));
    assert!(!page.contains("http://") && !page.contains("https://"));
    // Intervals are in every form of a report.
    assert!(page.contains("<h2>How sure</h2>") && read("r.md").contains("## Intervals"));
    let table = read("r.csv");
    let cells: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| cells[0].iter().position(|cell| *cell == name).expect("a column");
    let low: f64 = cells[1][column("rmse_from")].parse().expect("a number");
    assert_eq!(Some(low), wave["intervals"]["rmse"][0].as_f64());
    assert!(cells.iter().all(|row| row.len() == cells[0].len()), "{table}");
    assert_eq!(cells[2][column("rmse_from")], "", "of a phase");
    let svg = read("drawings/a%3cb%3e.x.svg");
    let drawing = roxmltree::Document::parse(&svg).expect("well-formed");
    assert!(drawing.descendants().filter(|node| node.has_tag_name("path")).count() >= 4);
    assert_eq!(read("r.csv").lines().count(), 1 + 2 * 2);
    assert!(read("r.md").contains("| a\\<b>/x |"));
    // The same bytes again, on any number of threads.
    let saved = [page, read("r.json"), read("r.csv"), svg];
    let again = expect(dir.path(), &[&args[..], &["--threads", "7"]].concat(), 0);
    assert_eq!(first.stdout, again.stdout);
    assert!(
        saved == [read("r.html"), read("r.json"), read("r.csv"), read("drawings/a%3cb%3e.x.svg")]
    );
    let same = ["compare", "a.csv", "b.csv", "--report", "a.csv"];
    assert!(text(&expect(dir.path(), &same, 2).stderr).contains("same-file"));
    assert!(Path::new(dir.path()).join("a.csv").exists());
}

/// What a header says slides is not brought round by whole turns, on whichever side it says so;
/// units that contradict one another are refused, and so are two keys of one name.
#[test]
fn units_of_headers_are_heeded() {
    let turn = std::f64::consts::TAU;
    let table =
        |head: &str, factor: f64| format!("time,{head}\n0,0\n1,{}\n", (3.1 + turn) * factor);
    let files = [
        ("zero.csv", "time,rail/position\n0,0\n1,3.1\n".to_string()),
        ("m.csv", table("rail/position [m]", 1.0)),
        ("mm.csv", table("rail/position [mm]", 1e3)),
        ("rad.csv", table("rail/position [rad]", 1.0)),
        ("plain.csv", table("rail/position", 1.0)),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
    let dir = folder(&files);
    for (b, off) in [("m.csv", turn), ("mm.csv", turn), ("rad.csv", 0.0), ("plain.csv", 0.0)] {
        for sides in [["zero.csv", b], [b, "zero.csv"]] {
            let args = [&["compare"][..], &sides, &["--json"]].concat();
            let found = json(&expect(dir.path(), &args, 0).stdout);
            let worst = key(&found, "rail/position")["statistics"]["max_abs"].as_f64().unwrap();
            assert!((worst - off).abs() < 1e-9, "{sides:?}: {worst}");
        }
    }
    let said = text(&expect(dir.path(), &["compare", "m.csv", "rad.csv"], 2).stderr);
    assert!(said.contains("units-differ") && said.contains("in m in A"), "{said}");
    // What nobody knows is compared with nothing, not even with itself.
    fs::write(dir.path().join("odd.csv"), table("rail/position [furlong]", 1.0)).expect("written");
    for sides in [["odd.csv", "plain.csv"], ["plain.csv", "odd.csv"], ["odd.csv", "odd.csv"]] {
        for live in [&[][..], &["--live=0.1"]] {
            let args = [&["compare"][..], &sides, live].concat();
            let said = text(&expect(dir.path(), &args, 2).stderr);
            assert!(said.contains("error[unknown-unit]"), "{args:?}: {said}");
        }
    }
    // Nor are poses: by vector, by orientation, or as a path.
    let pose = |unit: &str| {
        let keys = ["x", "y", "z"].map(|part| format!("b/pose/{part}{unit}")).join(",");
        let rows = [0, 1, 2, 3].map(|i| format!("{i},{i},{},0,0,0,0,1\n", i * i)).concat();
        format!("time,{keys},b/pose/qx,b/pose/qy,b/pose/qz,b/pose/qw\n{rows}")
    };
    for (name, unit) in [("pm.csv", " [m]"), ("ps.csv", " [s]"), ("pf.csv", " [furlong]")] {
        fs::write(dir.path().join(name), pose(unit)).expect("written");
    }
    for (b, code) in [("ps.csv", "error[units-differ]"), ("pf.csv", "error[unknown-unit]")] {
        for more in [&["--key", "b/pose/position"][..], &["--align", "rigid", "--key", "*/ape"]] {
            let args = [&["compare", "pm.csv", b][..], more].concat();
            let said = text(&expect(dir.path(), &args, 2).stderr);
            assert!(said.contains(code), "{args:?}: {said}");
        }
    }
    for (more, code, said) in [
        (&["--start", "1.2", "--end", "1.8"][..], 3, "leave no sample of A"),
        (&["--start", "2", "--end", "1"], 2, "bad-option"),
    ] {
        let args = [&["compare", "pm.csv", "pm.csv"][..], more].concat();
        let err = text(&expect(dir.path(), &args, code).stderr);
        assert!(err.contains(said), "{args:?}: {err}");
    }
    let said =
        text(&expect(dir.path(), &["compare", "m.csv", "m.csv", "--align", "none"], 0).stderr);
    assert!(said.contains("no pose that is compared is on both sides"), "{said}");
    // What is read is not written over.
    fs::write(dir.path().join("phases.csv"), "start,end,name\n0,1,all\n").expect("written");
    let args = ["compare", "m.csv", "m.csv", "--phases", "phases.csv", "--report", "phases.csv"];
    assert!(text(&expect(dir.path(), &args, 2).stderr).contains("same-file"));
    // Turns in a minute, and minutes.
    fs::write(dir.path().join("rpm.csv"), "time [min],w/velocity [rpm]\n0,60\n0.5,30\n").unwrap();
    fs::write(dir.path().join("si.csv"), format!("time,w/velocity\n0,{turn}\n30,{}\n", turn / 2.0))
        .unwrap();
    for live in [&[][..], &["--live=0.1"]] {
        let args = [&["compare", "si.csv", "rpm.csv", "--json"][..], live].concat();
        let found = json(&expect(dir.path(), &args, 0).stdout);
        let one = key(&found, "w/velocity");
        let numbers = if live.is_empty() { &one["statistics"] } else { one };
        assert!(numbers["n"] == 2 && numbers["max_abs"].as_f64().unwrap() < 1e-12, "{found}");
    }
    fs::write(dir.path().join("two.csv"), "time,a,b\n0,1,2\n").expect("written");
    fs::write(dir.path().join("keys.txt"), "a -> c\nb -> c\n").expect("written");
    let args = ["compare", "two.csv", "two.csv", "--map", "keys.txt"];
    let said = text(&expect(dir.path(), &args, 2).stderr);
    assert!(said.contains("keys-merged"), "{said}");
}
