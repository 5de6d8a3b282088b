//! `validate --live` and `compare --live` from outside: logs that still grow, pipes that nobody
//! closes, somebody who wants it to end.

mod common;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use common::{expect, headland, json, text, world};
use headland_base::maths::cos;
use serde_json::Value;
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        fs::write(dir.path().join(name), content).expect("written");
    }
    dir
}

fn start(dir: &Path, args: &[&str]) -> Child {
    let mut command = headland(dir);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it runs")
}

/// Waits for its end, for half a minute at most: a pipe that nobody closes may hold up nobody.
fn ended(mut child: Child) -> Output {
    for _ in 0..600 {
        if child.try_wait().expect("asked").is_some() {
            return child.wait_with_output().expect("it ended");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().expect("ended");
    panic!("it does not end");
}

/// The last line that programs read.
fn last(output: &Output) -> Value {
    let out = text(&output.stdout);
    let line = out.lines().last().unwrap_or_else(|| panic!("nothing: {}", text(&output.stderr)));
    serde_json::from_str(line).expect("JSON")
}

fn key<'v>(found: &'v Value, name: &str) -> &'v Value {
    let keys = found["keys"].as_array().expect("keys");
    keys.iter().find(|key| key["key"] == name).unwrap_or_else(|| panic!("no {name} in {found}"))
}

fn swing(n: i32) -> String {
    let row = |i: i32| format!("{:.2},{}\n", f64::from(i) * 0.01, 0.5 * cos(f64::from(i) * 0.031));
    format!("time,hinge/position\n{}", (0..n).map(row).collect::<String>())
}

fn interrupt(child: &Child) {
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(told.expect("kill runs").success());
}

/// Nothing comes for as long as was said, and the pipe stays open.
#[test]
fn a_pipe_that_nobody_closes_ends_when_nothing_comes() {
    let dir = folder(&[]);
    let mut child =
        start(dir.path(), &["validate", &world("pendulum"), "-", "--live=0.5", "--json"]);
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(swing(50).as_bytes()).expect("written");
    let output = ended(child);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(key(&last(&output), "hinge/position")["n"], 50);
    drop(pipe);
    // Not even a header.
    let mut child = start(dir.path(), &["validate", &world("pendulum"), "-", "--live=0.2"]);
    let pipe = child.stdin.take().expect("a pipe");
    let output = ended(child);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("empty-table"), "{}", text(&output.stderr));
    drop(pipe);
}

/// Ctrl-C ends it with the figures so far: while it waits, and on a way that has no end.
#[test]
fn an_interrupt_leaves_the_figures_so_far() {
    let dir = folder(&[]);
    let day = format!("{}86400,0.5\n", swing(50));
    for (table, rows) in [(swing(50), 50), (day, 51)] {
        let mut child =
            start(dir.path(), &["validate", &world("pendulum"), "-", "--live", "--json"]);
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(table.as_bytes()).expect("written");
        std::thread::sleep(Duration::from_millis(1500));
        interrupt(&child);
        let output = ended(child);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let found = last(&output);
        assert_eq!(
            (&key(&found, "hinge/position")["n"], &found["rows"]),
            (&50.into(), &rows.into())
        );
        drop(pipe);
    }
}

/// A recording of a run, given bit by bit: its beginning, then the rest, or never more.
#[test]
fn a_recording_that_still_grows_is_followed() {
    let dir = folder(&[]);
    let model = world("pendulum");
    let args = ["run", &model, "--engine", "native", "--duration", "6", "-o", "whole.mcap"];
    expect(dir.path(), &args, 0);
    let set = "joint/hinge/dynamics/damping=0.08";
    let whole = ["validate", &model, "whole.mcap", "--set", set, "--json"];
    let whole = json(&expect(dir.path(), &whole, 0).stdout);
    let bytes = fs::read(dir.path().join("whole.mcap")).expect("read");
    let grows = dir.path().join("grows.mcap");
    let args = ["validate", &model, "grows.mcap", "--set", set, "--live=3", "--json"];
    let (head, tail) = bytes.split_at(bytes.len() / 2 + 7);
    fs::write(&grows, head).expect("written");
    let child = start(dir.path(), &args);
    std::thread::sleep(Duration::from_millis(400));
    let mut file = File::options().append(true).open(&grows).expect("opened");
    for part in tail.chunks(tail.len() / 3 + 1) {
        file.write_all(part).expect("written");
        file.flush().expect("flushed");
        std::thread::sleep(Duration::from_millis(60));
    }
    let output = ended(child);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found = last(&output);
    for name in ["hinge/position", "hinge/velocity", "pendulum/pose/x"] {
        let (live, wanted) = (key(&found, name), &key(&whole, name)["statistics"]);
        assert_eq!(live["n"], wanted["n"], "{name}");
        let [live, wanted] = [live, wanted].map(|of| of["rmse"].as_f64().expect("a number"));
        assert!(wanted > 1e-4 || name.ends_with("pose/x"), "{name}: {wanted}");
        assert!((live - wanted).abs() <= 1e-12, "{name}: {live} and {wanted}");
    }
    assert_eq!((&found["late"], &found["lost"]), (&0.into(), &0.into()), "{found}");
    // One that ends in the middle of a chunk is no fault of anybody's.
    fs::write(&grows, head).expect("written");
    let args = ["validate", &model, "grows.mcap", "--live=0.2", "--json"];
    let output = ended(start(dir.path(), &args));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("cut-off"), "{}", text(&output.stderr));
    let half = key(&last(&output), "hinge/position")["n"].as_u64().expect("a count");
    assert!(half > 500 && half < 5900, "{half}");
    // Against a finished recording, too.
    let args = ["compare", "whole.mcap", "grows.mcap", "--live=0.2", "--ignore-unknown", "--json"];
    let output = ended(start(dir.path(), &args));
    let found = last(&output);
    let position = key(&found, "hinge/position");
    assert_eq!((&position["n"], &position["rmse"]), (&half.into(), &0.0.into()), "{position}");
}

/// B grows line by line beside a finished A: the figures of the whole, and what had no pair.
#[test]
fn a_table_that_grows_is_compared_with_a_finished_one() {
    let rows = |late: f64, from: i32, to: i32| -> String {
        let row = |i: i32| {
            let t = f64::from(i) * 0.01;
            format!("{t:.2},{},{}\n", cos(3.0 * (t - late)), f64::from(i % 7))
        };
        (from..to).map(row).collect()
    };
    let head = "time,swing/position,step\n";
    let a = format!("{head}{}", rows(0.0, 0, 300));
    let whole = format!("{head}{}0.5,9,9\n{}", rows(0.02, 10, 200), rows(0.02, 200, 290));
    let dir = folder(&[("a.csv", &a), ("whole.csv", &whole)]);
    let more = ["--json", "--t-offset", "-0.001", "--no-wrap"];
    let wanted = [&["compare", "a.csv", "whole.csv"][..], &more].concat();
    let wanted = json(&expect(dir.path(), &wanted, 0).stdout);
    let mut child =
        start(dir.path(), &[&["compare", "a.csv", "-", "--live=5"][..], &more].concat());
    let mut pipe = child.stdin.take().expect("a pipe");
    let (first, second) = whole.split_at(whole.len() / 2);
    pipe.write_all(first.as_bytes()).expect("written");
    std::thread::sleep(Duration::from_millis(300));
    pipe.write_all(second.as_bytes()).expect("written");
    drop(pipe);
    let output = ended(child);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found = last(&output);
    for name in ["swing/position", "step"] {
        let (live, wanted) = (key(&found, name), &key(&wanted, name)["statistics"]);
        assert_eq!(live["n"], wanted["n"], "{name}");
        let [live, wanted] = [live, wanted].map(|of| of["rmse"].as_f64().expect("a number"));
        assert!((live - wanted).abs() < 1e-12, "{name}: {live} and {wanted}");
    }
    assert_eq!((&found["backward"], &found["unmatched_b"]), (&2.into(), &0.into()), "{found}");
    assert_eq!(found["unmatched_a"], 20, "ten of each key before B begins");
}

/// Units in a header that still grows are heeded as those of a whole table.
#[test]
fn units_of_a_growing_header_are_heeded() {
    let degrees = |millis: u32| format!("{},28.64788975654116\n", f64::from(millis) * 1e-3);
    let rows: String = (0..20).map(|i| degrees(10 * i)).collect();
    let dir = folder(&[
        ("deg.csv", &format!("time,hinge/position [deg]\n{rows}")),
        ("rad.csv", &format!("time,hinge/position [rad]\n{rows}")),
        ("metres.csv", &format!("time,hinge/position [mm]\n{rows}")),
    ]);
    let validate = |table: &str| {
        let model = world("pendulum");
        let args = ["validate", &model, table, "--live=0.1", "--json", "--ignore-unknown"];
        ended(start(dir.path(), &args))
    };
    let found = last(&validate("deg.csv"));
    let least = key(&found, "hinge/position")["rmse"].as_f64().expect("a number");
    assert!(least < 0.2, "half a radian at first: {found}");
    let refused = validate("metres.csv");
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("units-differ"), "{}", text(&refused.stderr));
    // So are those of the two sides of a comparison.
    let compare = |b: &str| ended(start(dir.path(), &["compare", "rad.csv", b, "--live=0.1"]));
    assert_eq!(compare("deg.csv").status.code(), Some(0));
    let refused = compare("metres.csv");
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("units-differ"), "{}", text(&refused.stderr));
}

/// What --live cannot heed it refuses.
#[test]
fn options_that_would_be_ignored_are_refused() {
    let (dir, model) = (folder(&[("a.csv", &swing(5))]), world("pendulum"));
    for more in [
        ["--object", "x"],
        ["--confidence", "0.9"],
        ["--seed", "1"],
        ["--delta", "2"],
        ["--time-unit", "ms"],
        ["--columns", "time,x"],
        ["--report", "r.html"],
    ] {
        let args = [&["validate", &model, "a.csv", "--live=0.1"][..], &more].concat();
        let said = text(&expect(dir.path(), &args, 2).stderr);
        assert!(said.contains("cannot be used with"), "{more:?}: {said}");
    }
}

/// What never pauses ends all the same: a pipe that is fed faster than anybody reads.
#[test]
fn an_interrupt_ends_what_never_pauses() {
    let dir = folder(&[("a.csv", &swing(50))]);
    let mut child = start(dir.path(), &["compare", "a.csv", "-", "--live", "--json"]);
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(b"time,hinge/position\n").expect("written");
    let feeder = std::thread::spawn(move || {
        let rows = "0.01,0.5\n".repeat(10_000);
        // Until nobody reads any more.
        while pipe.write_all(rows.as_bytes()).is_ok() {}
    });
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&child);
    let output = ended(child);
    feeder.join().expect("it ends too");
    assert!(output.status.code().is_some(), "{}", text(&output.stderr));
    assert_eq!(key(&last(&output), "hinge/position")["n"], 1, "{}", text(&output.stdout));
}

/// Half a line, a stamp of today and one in nanoseconds, and what cannot be told.
#[test]
fn lines_and_stamps_mean_what_they_mean_in_a_whole_table() {
    let stamps = "time,x\n1700000000.25,1\n1700000000.50,2\n";
    let nanos = "time,x\n1700000000250000000,1\n1700000000500000000,2\n";
    let torn = format!("{stamps},7\n1700000000.75,3\n1700000001.00,0.9");
    let whole = "time,x\n1700000000.25,1\n1700000000.50,2\n1700000000.75,3\n1700000001.00,0.95\n";
    let files = [("s.csv", stamps), ("n.csv", nanos), ("torn.csv", &torn), ("whole.csv", whole)];
    let dir = folder(&files);
    let live = |a: &str, b: &str| {
        let args = ["compare", a, b, "--live=0.2", "--sampling", "exact", "--json"];
        let output = ended(start(dir.path(), &args));
        assert_eq!(output.status.code(), Some(0), "{a} {b}: {}", text(&output.stderr));
        last(&output)
    };
    for (a, b) in [("s.csv", "s.csv"), ("n.csv", "n.csv")] {
        let found = live(a, b);
        assert_eq!(key(&found, "x")["n"], 2, "{found}");
    }
    let found = live("whole.csv", "torn.csv");
    assert_eq!(key(&found, "x")["n"], 3, "{found}");
    assert_eq!(key(&found, "x")["max_abs"], 0.0, "{found}");
    assert!(found.to_string().contains("\"torn\":1"), "{found}");
    assert!(found.to_string().contains("\"timeless\":1"), "{found}");
}

/// Compares `whole.csv` with what comes through a pipe that is then closed.
fn piped(dir: &TempDir, table: &str) -> Output {
    let args = ["compare", "whole.csv", "-", "--live", "--sampling", "exact", "--json"];
    let mut child = start(dir.path(), &args);
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(table.as_bytes()).expect("written");
    drop(pipe);
    ended(child)
}

/// A pipe that is closed within a number looks like one whose last number is another.
#[test]
fn a_pipe_that_is_cut_within_a_row_is_told_as_a_file_is() {
    let whole = "time,x,y\n0,1,0.51\n1,2,0.52\n2,3,0.53\n";
    let dir = folder(&[("whole.csv", whole)]);
    let output = piped(&dir, whole);
    assert!(!text(&output.stderr).contains("cut-line"), "{}", text(&output.stderr));
    for (n_lacking, n_rows, words) in [
        (2, 3, "line 4, column 8: no line end: `0.5` may be a part of a number"),
        (6, 2, "line 4, column 4: 2 of 3 cells, and no line end"),
    ] {
        let output = piped(&dir, &whole[..whole.len() - n_lacking]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("cut-line") && said.contains(words), "{said}");
        assert_eq!(key(&last(&output), "x")["n"], n_rows, "{said}");
    }
}

/// What is wrong with rows is told in the words for a file: those that end too early, columns of
/// words, and numbers without digits.
#[test]
fn what_is_told_of_the_rows_of_a_file_is_told_of_those_that_come() {
    let dir = folder(&[("whole.csv", "time,x,y\n0,1,4\n1,2,5\n2,3,6\n")]);
    for (table, code, told) in [
        ("time,x,y\n0,1\n1,2,\n2,3,\n", 0, "short-row"),
        ("time,x,y,note\n0,1,,began\n1,2,,\n2,3,,slipped\n", 0, "column-of-words"),
        ("time,x,y,note\n0,1,,began\n1,2,,7\n", 3, "not-a-number"),
        ("time,x,y\n0,,\n1,,nan\n", 3, "no-numbers"),
        ("time,x,y\n0,1,4\n1,2,1e17\n", 3, "no-digits"),
    ] {
        let output = piped(&dir, table);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{table}: {said}");
        assert!(said.contains(told), "{table}: {said}");
    }
    let table = "time,hinge/position\n0,1e17\n0.1,1e17\n0.2,1e17\n0.3,1e17\n";
    let mut child = start(dir.path(), &["validate", &world("pendulum"), "-", "--live"]);
    child.stdin.take().expect("a pipe").write_all(table.as_bytes()).expect("written");
    let output = ended(child);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("no-digits"), "{said}");
}

/// What is no file is not waited for, and a key that fits nothing is told before anything is.
#[test]
fn what_would_be_waited_for_in_vain_is_refused() {
    let dir = folder(&[("a.csv", &swing(5))]);
    let made = Command::new("mkfifo").arg(dir.path().join("p")).status();
    assert!(made.expect("mkfifo runs").success());
    let output = ended(start(dir.path(), &["compare", "a.csv", "p", "--live=0.2"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("comes in by `-`"), "{}", text(&output.stderr));
    let args = ["compare", "a.csv", "a.csv", "--live", "--key", "hinge/positon"];
    let output = ended(start(dir.path(), &args));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("hinge/position"), "{}", text(&output.stderr));
}

/// Somebody takes the table away, or writes another in its place: what came until then is told,
/// and that nothing after it was.
#[test]
fn a_table_that_is_cut_replaced_or_removed_while_it_is_followed_is_told() {
    type Breaks = fn(&Path);
    let breaks: [(&str, Breaks); 4] = [
        ("was removed", |table| fs::remove_file(table).expect("removed")),
        ("was cut", |table| fs::write(table, "time,hinge/position\n").expect("written")),
        ("was replaced", |table| {
            let other = table.with_extension("new");
            fs::write(&other, swing(500)).expect("written");
            fs::rename(&other, table).expect("moved");
        }),
        ("was written anew", |table| {
            let other = swing(500).replace(",0.", ",0.1").replace("0.1499", "0.7");
            let mut file = fs::OpenOptions::new().write(true).open(table).expect("opened");
            file.write_all(other.as_bytes()).expect("written");
        }),
    ];
    for (what, breaks) in breaks {
        let dir = folder(&[("t.csv", &swing(50))]);
        let model = world("pendulum");
        let child = start(dir.path(), &["validate", &model, "t.csv", "--live=20", "--json"]);
        std::thread::sleep(Duration::from_millis(3000));
        breaks(&dir.path().join("t.csv"));
        let output = ended(child);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{what}: {said}");
        assert!(said.contains("log-broken") && said.contains(what), "{what}: {said}");
        assert_eq!(key(&last(&output), "hinge/position")["n"], 50, "{what}");
    }
}

/// As where nothing still grows.
#[test]
fn where_nothing_that_comes_has_a_pair_both_time_ranges_are_told() {
    let later = "time,hinge/position\n100,1\n101,2\n";
    let dir = folder(&[("a.csv", &swing(50)), ("b.csv", later)]);
    for live in [&[][..], &["--live=0.2"]] {
        let args = [&["compare", "a.csv", "b.csv"][..], live].concat();
        let said = text(&expect(dir.path(), &args, 3).stderr);
        for range in ["A has from 0.000 s to 0.490 s", "B has from 100.000 s to 101.000 s"] {
            assert!(said.contains(range), "{live:?}: {said}");
        }
    }
}

/// What help says that `--live` does not take is what it refuses: both are made of one list.
#[test]
fn the_help_of_live_names_what_it_refuses() {
    let dir = folder(&[("t.csv", &swing(50))]);
    let model = world("pendulum");
    for (command, first) in [("validate", model.as_str()), ("compare", "t.csv")] {
        let help = text(&expect(dir.path(), &[command, "--help"], 0).stdout);
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, list) = help.split_once("Takes no ").expect("a list");
        for (option, value) in [
            ("--stats", "n"),
            ("--fail-if", "*:rmse>1"),
            ("--report", "r.json"),
            ("--plot", "plots"),
            ("--phases", "t.csv"),
            ("--time-unit", "s"),
            ("--outfile", "o.csv"),
            ("--sampling", "exact"),
            ("--start", "0.1"),
        ] {
            let is_taken = command == "compare" && matches!(option, "--sampling" | "--start");
            if command == "compare" && option == "--outfile" {
                continue;
            }
            let args = [command, first, "t.csv", "--live=0.1", option, value];
            let output = headland(dir.path()).args(args).output().expect("it runs");
            let said = text(&output.stderr);
            assert_eq!(!is_taken, said.contains("cannot be used with"), "{args:?}: {said}");
            let listed = list.split("--").any(|one| one.starts_with(&option[2..]));
            assert!(is_taken || listed, "{option} in {list}");
        }
        assert_eq!(command == "validate", help.contains("no engine that keeps its own step"));
    }
}
