//! Every command as a user meets it: what it prints, where, and its exit code.

mod common;

use std::fs;
use std::path::Path;

use common::{ROOT, expect, headland, text};
use serde_json::Value;

fn ball() -> String {
    format!("{ROOT}/worlds/ball.sdf")
}

#[test]
fn demo_shows_bounces_that_lose_half() {
    let dir = tempfile::tempdir().expect("a folder");
    let output = expect(dir.path(), &["demo"], 0);
    let shown = text(&output.stdout);
    assert!(shown.contains("bounce") && shown.contains("0.48"), "{shown}");
    assert!(shown.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "a chart: {shown}");
    assert!(dir.path().join("demo.mcap").exists());
}

#[test]
fn results_go_to_stdout_and_json_is_json() {
    let dir = tempfile::tempdir().expect("a folder");
    for args in
        [vec!["run", "--json", "--duration", "0.2", "-o", "a.mcap"], vec!["check", "--json"]]
    {
        let ball = ball();
        let args: Vec<&str> = args.into_iter().chain([ball.as_str()]).collect();
        let output = expect(dir.path(), &args, 0);
        let _: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    }
    for args in [["info", "--json", "a.mcap"].as_slice(), &["engines", "--json"]] {
        let _: Value = serde_json::from_slice(&expect(dir.path(), args, 0).stdout).expect("JSON");
    }
    let cat = expect(dir.path(), &["cat", "a.mcap", "--topic", "/ball/pose"], 0);
    let lines: Vec<Value> =
        text(&cat.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 201);
    assert_eq!(lines[200]["time_ns"], 200_000_000);
}

#[test]
fn bad_usage_and_bad_input_exit_with_2_and_words() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(
        dir.path().join("typo.sdf"),
        fs::read_to_string(ball()).unwrap().replace("radius", "radios"),
    )
    .unwrap();
    fs::write(dir.path().join("noise.mcap"), b"not a recording").unwrap();
    fs::write(dir.path().join("table.csv"), "time,height\n0,1\n").unwrap();
    for name in ["empty", "empty.mcap"] {
        fs::write(dir.path().join(name), b"").unwrap();
    }
    let ball = ball();
    for (args, words) in [
        (vec!["run"], "WORLD"),
        (vec!["rum"], "run"),
        (vec!["run", "nowhere.sdf"], "nowhere.sdf"),
        (vec!["run", &ball, "--engine", "rapire"], "did you mean `rapier`"),
        (vec!["run", &ball, "--duration", "-1"], "above zero"),
        (vec!["run", &ball, "--duration", "nan"], "above zero"),
        (vec!["run", &ball, "--step", "1e-12"], "nanosecond"),
        (vec!["run", &ball, "--until", "ball/pos/z < 1"], "did you mean `ball/pose/z`"),
        (vec!["run", &ball, "--until", "ball/pose/z"], "KEY < NUMBER"),
        (vec!["run", &ball, "-o", "no/such/folder/a.mcap"], "no/such/folder"),
        (vec!["check", "typo.sdf"], "did you mean `radius`"),
        (vec!["check", "."], "."),
        (vec!["info", "noise.mcap"], "noise.mcap"),
        (vec!["info", "empty"], "`empty` is empty"),
        (vec!["info", "."], "headland import . -o NEW.mcap"),
        (vec!["info", "nowhere.mcap"], "nowhere.mcap"),
        (vec!["info", "table.csv"], "headland import table.csv -o table.mcap"),
        (vec!["cat", "table.csv"], "headland import table.csv -o table.mcap"),
        (vec!["cat", "empty.mcap"], "is empty"),
        (vec!["check", "empty.mcap"], "is empty"),
        (vec!["check", "noise.mcap"], "not-mcap"),
        (vec!["import", "empty.mcap", "-o", "a.mcap"], "is empty"),
        (vec!["import", "nowhere.csv", "-o", "a.mcap"], "nowhere.csv"),
        (vec!["export", "empty.mcap", "-o", "a.csv"], "is empty"),
        (vec!["export", "empty.mcap", "--to", "rosbag2", "-o", "bag"], "is empty"),
        (vec!["export", "nowhere.mcap", "--to", "rosbag2", "-o", "bag"], "nowhere.mcap"),
        (vec!["export", "noise.mcap", "--to", "mcap", "-o", "a"], "rosbag2, csv, tum"),
        (vec!["export", "noise.mcap", "-o", "a.mcap"], "--to"),
        (vec!["check", &ball, "--write-sdf", "no/such/folder.sdf"], "no/such/folder"),
        (vec!["export", "noise.mcap", "-o", "a.csv"], "noise.mcap"),
        (vec!["export", "noise.mcap", "-o", "a.xyz"], "--to"),
    ] {
        let output = expect(dir.path(), &args, 2);
        let said = text(&output.stderr);
        assert!(said.contains(words), "{args:?} says:\n{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    for left in ["a.mcap", "a.csv", "bag"] {
        assert!(!dir.path().join(left).exists(), "{left} was made of nothing");
    }
}

/// One rule for every command that reads recordings: 3 where part of it could be read.
#[test]
fn a_recording_read_in_part_is_3_everywhere() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name);
    expect(dir.path(), &["run", &ball(), "--duration", "3", "-o", "whole.mcap"], 0);
    let bytes = fs::read(at("whole.mcap")).unwrap();
    fs::write(at("cut.mcap"), &bytes[..bytes.len() / 2]).unwrap();
    let mut damaged = bytes.clone();
    let mut chunks = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"zstd"));
    damaged[chunks.nth(1).expect("a second chunk") + 500] ^= 0x10;
    fs::write(at("damaged.mcap"), damaged).unwrap();
    for (name, code, word) in
        [("cut", 3, "recording-cut-off"), ("damaged", 3, "bad-chunk"), ("whole", 0, "")]
    {
        let file = format!("{name}.mcap");
        let out = |ending: &str| format!("{name}_out{ending}");
        for args in [
            vec!["info", &file],
            vec!["cat", &file, "--topic", "/ball/pose"],
            vec!["check", &file],
            vec!["export", &file, "-o", &out(".csv")],
            vec!["export", &file, "-o", &out(".tum")],
            vec!["export", &file, "--to", "rosbag2", "-o", &out("")],
            vec!["import", &file, "-o", &out(".mcap")],
        ] {
            let output = expect(dir.path(), &args, code);
            assert!(text(&output.stderr).contains(word), "{args:?}: {}", text(&output.stderr));
        }
        // What was made of it is whole.
        expect(dir.path(), &["check", &out(".mcap")], 0);
        expect(dir.path(), &["import", &out(""), "-o", "again.mcap"], 0);
    }
    // The worst of several files counts.
    fs::write(at("noise.mcap"), "noise").unwrap();
    expect(dir.path(), &["check", "noise.mcap", "cut.mcap"], 2);
    expect(dir.path(), &["check", "cut.mcap", "whole.mcap"], 3);
}

#[test]
fn a_device_that_takes_nothing_is_4() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    expect(dir.path(), &["run", &ball(), "--duration", "0.1", "-o", "a.mcap"], 0);
    for args in [
        ["export", "a.mcap", "--to", "csv", "-o", "/dev/full"].as_slice(),
        &["export", "a.mcap", "--to", "tum", "-o", "/dev/full"],
        &["import", "a.mcap", "-o", "/dev/full"],
        &["run", &ball(), "-o", "/dev/full"],
    ] {
        assert!(text(&expect(dir.path(), args, 4).stderr).contains("/dev/full"), "{args:?}");
    }
    for args in [["info", "a.mcap"], ["cat", "a.mcap"], ["check", "a.mcap"]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("a full device");
        let output = headland(dir.path()).args(args).stdout(full).output().expect("runs");
        assert_eq!(output.status.code(), Some(4), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("cannot-write"), "{args:?}");
    }
}

/// Message by message: types that are no columns come back as they were.
#[test]
fn a_bag_is_imported_message_by_message() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = format!("{ROOT}/worlds/pendulum.sdf");
    fs::write(dir.path().join("moves.csv"), "time,hinge/effort\n0,1.0\n0.05,2.0\n").unwrap();
    expect(
        dir.path(),
        &["run", &world, "--command", "moves.csv", "--duration", "0.1", "-o", "a.mcap"],
        0,
    );
    expect(dir.path(), &["export", "a.mcap", "--to", "rosbag2", "-o", "bag"], 0);
    expect(dir.path(), &["import", "bag", "-o", "b.mcap"], 0);
    let cat = |file| text(&expect(dir.path(), &["cat", file], 0).stdout);
    assert!(cat("a.mcap").contains("headland_msgs/msg/JointCommand"));
    assert!(cat("a.mcap") == cat("b.mcap"));
    // The bag's own file is its source, too.
    let said = expect(dir.path(), &["import", "bag", "-o", "bag/bag_0.mcap"], 2);
    assert!(text(&said.stderr).contains("same-file"));
}

#[test]
fn the_only_object_that_moves_is_the_trajectory() {
    let dir = tempfile::tempdir().expect("a folder");
    expect(dir.path(), &["run", &ball(), "--duration", "0.1", "-o", "a.mcap"], 0);
    expect(dir.path(), &["export", "a.mcap", "--to", "tum", "-o", "a.tum"], 0);
    let tum = fs::read_to_string(dir.path().join("a.tum")).unwrap();
    assert_eq!(tum.lines().count(), 1 + 101);
    assert!(tum.contains("\n0.000000000 0.0 0.0 3.5 "), "the ball: {tum:.200}");
    let slope = format!("{ROOT}/worlds/slope.sdf");
    expect(dir.path(), &["run", &slope, "--duration", "0.1", "-o", "b.mcap"], 0);
    let said = text(&expect(dir.path(), &["export", "b.mcap", "-o", "b.tum"], 2).stderr);
    assert!(said.contains("--object NAME") && said.contains("slider, sticker"), "{said}");
}

#[test]
fn nothing_is_written_over_its_own_source() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::copy(ball(), dir.path().join("ball.sdf")).unwrap();
    expect(dir.path(), &["run", "ball.sdf", "--duration", "0.1"], 0);
    for (args, file) in [
        (["run", "ball.sdf", "-o", "./ball.sdf"].as_slice(), "ball.sdf"),
        (&["export", "ball.mcap", "--to", "csv", "-o", "ball.mcap"], "ball.mcap"),
        (&["import", "ball.mcap", "-o", "ball.mcap"], "ball.mcap"),
    ] {
        let before = fs::read(dir.path().join(file)).unwrap();
        assert!(text(&expect(dir.path(), args, 2).stderr).contains("same-file"), "{args:?}");
        assert!(fs::read(dir.path().join(file)).unwrap() == before, "{args:?}");
    }
}

#[test]
fn a_joint_several_robots_have_must_be_named_in_full() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = |joint: &str, code| {
        fs::write(dir.path().join("moves.csv"), format!("time,{joint}/effort\n0,1\n")).unwrap();
        let world = format!("{ROOT}/worlds/joints.sdf");
        let args = ["run", &world, "--command", "moves.csv", "--duration", "0.1"];
        text(&expect(dir.path(), &args, code).stderr)
    };
    let said = run("hinge", 2);
    assert!(said.contains("3 joints") && said.contains("`revolute::hinge`"), "{said}");
    run("revolute::hinge", 0);
    run("rail", 0);
}

#[test]
fn a_misspelt_element_is_pointed_at_and_lenient_goes_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = fs::read_to_string(ball())
        .unwrap()
        .replace("<direction>", "<directoin>")
        .replace("</direction>", "</directoin>");
    fs::write(dir.path().join("typo.sdf"), world).unwrap();
    let said = text(&expect(dir.path(), &["check", "typo.sdf"], 2).stderr);
    assert!(said.contains("typo.sdf:12:8") && said.contains("^^^^^^^^^"), "{said}");
    let output = expect(dir.path(), &["check", "--lenient", "typo.sdf"], 0);
    assert!(text(&output.stderr).contains("warning[unknown-element]"));
}

#[test]
fn a_condition_ends_the_run_and_a_rate_thins_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let args = [
        "run",
        "--json",
        &ball(),
        "--until",
        "ball/pose/z < 1.0",
        "--record-rate",
        "50",
        "-o",
        "a.mcap",
    ];
    let ended: Value = serde_json::from_slice(&expect(dir.path(), &args, 0).stdout).expect("JSON");
    assert_eq!(ended["ended"], "condition");
    // z = 3.5 − g·t²/2 reaches 1.0 at t = √(5/9.81) = 0.7139 s; the first step after is 0.714.
    let secs = ended["simulated_secs"].as_f64().expect("a number");
    assert!((secs - 0.714).abs() < 1e-9, "{secs}");
    let cat = text(&expect(dir.path(), &["cat", "a.mcap", "--topic", "/ball/pose"], 0).stdout);
    let times: Vec<u64> = cat
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["time_ns"].as_u64().unwrap() / 1_000_000
        })
        .collect();
    let wanted: Vec<u64> = (0..=35).map(|i| i * 20).chain([714]).collect();
    assert_eq!(times, wanted, "every 20 ms, and the last moment");
}

#[test]
fn commands_from_a_table_move_a_joint_and_a_watchdog_lets_go() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = format!("{ROOT}/worlds/pendulum.sdf");
    fs::write(dir.path().join("moves.csv"), "time,hinge/position\n0,1.0\n1.0,-0.5\n").unwrap();
    let run = |extra: &[&str], code| {
        let args =
            [&["run", &world, "--command", "moves.csv", "--duration", "3", "-o", "a.mcap"], extra]
                .concat();
        expect(dir.path(), &args, code)
    };
    // A model without gains is refused before the run, and told what to do.
    assert!(text(&run(&[], 2).stderr).contains("--gains"));
    run(&["--gains", "400,40"], 0);
    let position = |secs: &str| {
        let cat = expect(
            dir.path(),
            &["cat", "a.mcap", "--topic", "*/joint_states", "--start", secs, "--end", secs],
            0,
        );
        let line: Value = serde_json::from_slice(&cat.stdout).expect("one line");
        line["message"]["position"][0].as_f64().expect("a number")
    };
    // At rest the spring kp·(r − q) carries the weight m·g·l·sin q.
    let resting = |target: f64| {
        (0..100).fold(target, |q: f64, _| target - 9.81 * headland_base::maths::sin(q) / 400.0)
    };
    assert!((position("0.999") - resting(1.0)).abs() < 1e-3, "{}", position("0.999"));
    assert!((position("2.999") - resting(-0.5)).abs() < 1e-3, "{}", position("2.999"));
    run(&["--gains", "400,40", "--watchdog", "0.5"], 0);
    let events = text(&expect(dir.path(), &["cat", "a.mcap", "--topic", "/events"], 0).stdout);
    assert_eq!(events.lines().count(), 2, "{events}");
    assert!(events.contains("watchdog") && events.contains("\"time_ns\":501000000"), "{events}");
}

#[test]
fn what_is_exported_comes_back() {
    let dir = tempfile::tempdir().expect("a folder");
    expect(
        dir.path(),
        &["run", &format!("{ROOT}/worlds/joints.sdf"), "--duration", "0.1", "-o", "a.mcap"],
        0,
    );
    expect(dir.path(), &["export", "a.mcap", "-o", "a.csv"], 0);
    expect(dir.path(), &["import", "a.csv", "-o", "b.mcap"], 0);
    expect(dir.path(), &["export", "b.mcap", "-o", "b.csv"], 0);
    let (a, b) = (
        fs::read_to_string(dir.path().join("a.csv")).unwrap(),
        fs::read_to_string(dir.path().join("b.csv")).unwrap(),
    );
    assert!(a.lines().count() == 102, "{}", a.lines().count());
    assert_eq!(a.lines().next(), b.lines().next());
    assert!(a == b, "the numbers survive to the last bit");
    expect(dir.path(), &["export", "a.mcap", "--to", "tum", "--object", "ball", "-o", "a.tum"], 0);
    expect(dir.path(), &["import", "a.tum", "--object", "ball", "-o", "c.mcap"], 0);
    expect(dir.path(), &["export", "c.mcap", "-o", "c.tum"], 0);
    assert_eq!(
        fs::read(dir.path().join("a.tum")).unwrap(),
        fs::read(dir.path().join("c.tum")).unwrap()
    );
    expect(dir.path(), &["export", "a.mcap", "--to", "rosbag2", "-o", "bag"], 0);
    expect(dir.path(), &["import", "bag", "-o", "d.mcap"], 0);
    let wrong = expect(
        dir.path(),
        &["export", "a.mcap", "--to", "tum", "--object", "bal", "-o", "x.tum"],
        2,
    );
    assert!(text(&wrong.stderr).contains("did you mean `ball`"));
}

#[test]
fn a_world_written_as_sdf_moves_the_same() {
    let dir = tempfile::tempdir().expect("a folder");
    // What a sensor names lies beside its world.
    let noise = "gears.noise.xml";
    fs::copy(format!("{ROOT}/worlds/{noise}"), dir.path().join(noise)).expect("copied");
    for world in common::shipped_worlds() {
        let world = world.to_str().expect("plain");
        expect(dir.path(), &["check", world, "--write-sdf", "again.sdf"], 0);
        let run = |world: &str, out: &str| {
            expect(dir.path(), &["run", world, "--duration", "0.2", "-o", out], 0);
            fs::read(dir.path().join(out)).expect("a recording")
        };
        assert!(run(world, "a.mcap") == run("again.sdf", "b.mcap"), "{world}");
    }
}

#[test]
fn help_version_completions_and_man() {
    let dir = tempfile::tempdir().expect("a folder");
    let help = text(&expect(dir.path(), &["--help"], 0).stdout);
    for command in
        ["run", "check", "info", "cat", "export", "import", "engines", "demo", "completions", "man"]
    {
        assert!(help.contains(command), "{command} is in the help");
        assert!(text(&expect(dir.path(), &[command, "--help"], 0).stdout).contains("Usage"));
    }
    assert!(text(&expect(dir.path(), &["--version"], 0).stdout).contains("rapier"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(text(&expect(dir.path(), &["completions", shell], 0).stdout).contains("headland"));
    }
    assert!(text(&expect(dir.path(), &["man"], 0).stdout).contains(".TH headland"));
    expect(dir.path(), &["man", "--dir", "pages"], 0);
    assert!(dir.path().join("pages/headland-run.1").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let dir = tempfile::tempdir().expect("a folder");
    expect(dir.path(), &["run", &ball(), "--duration", "2", "-o", "a.mcap"], 0);
    let program = env!("CARGO_BIN_EXE_headland");
    let script = format!("set -o pipefail; {program} cat a.mcap | head -1 | wc -l");
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("panicked"));
    _ = headland(dir.path());
}

#[test]
fn a_table_that_cannot_be_meant_is_refused_before_the_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = format!("{ROOT}/worlds/pendulum.sdf");
    for (table, words) in [
        ("time,hinge/position,hinge/effort\n0,1,2\n", "error[two-commands]"),
        ("time,hinge/effort\n0,inf\n", "error["),
        ("time,hing/effort\n0,1\n", "hinge"),
        ("time,battery\n0,1\n", "error[no-commands]"),
        ("", "error["),
    ] {
        fs::write(dir.path().join("moves.csv"), table).unwrap();
        let args = ["run", &world, "--command", "moves.csv", "--gains", "1,1", "-o", "a.mcap"];
        let said = text(&expect(dir.path(), &args, 2).stderr);
        assert!(said.contains(words), "{table:?}\n{said}");
        assert!(!dir.path().join("a.mcap").exists(), "nothing was run");
    }
    fs::write(dir.path().join("moves.csv"), "time,hinge/effort,hinge/temperature\n0,1,20\n")
        .unwrap();
    let args = ["run", &world, "--command", "moves.csv", "-o", "a.mcap", "--duration", "0.1"];
    let said = text(&expect(dir.path(), &args, 0).stderr);
    assert!(said.contains("the column `hinge/temperature` commands nothing"), "{said}");
}

#[test]
fn a_recording_says_enough_to_run_it_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = format!("{ROOT}/worlds/pendulum.sdf");
    fs::write(dir.path().join("moves.csv"), "time,hinge/position\n0,1.0\n").unwrap();
    let args = [
        "run",
        &world,
        "--command",
        "moves.csv",
        "--gains",
        "40,4",
        "--watchdog",
        "2",
        "--duration",
        "0.5",
        "-o",
        "a.mcap",
    ];
    expect(dir.path(), &args, 0);
    let info: Value =
        serde_json::from_slice(&expect(dir.path(), &["info", "--json", "a.mcap"], 0).stdout)
            .unwrap();
    let facts = &info["metadata"]["headland"];
    assert_eq!((&facts["gains"], &facts["watchdog_ns"]), (&"40,4".into(), &"2000000000".into()));
    let attached: Vec<&str> = info["attachments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["name"].as_str().unwrap())
        .collect();
    assert_eq!(attached, ["commands.csv", "world.sdf"]);
}

/// What the command line asks of the native engine is in the facts and in the world that the
/// recording holds, so that running that world again needs no options.
#[test]
fn details_law_and_integrator_are_recorded() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = format!("{ROOT}/worlds/pendulum.sdf");
    let asked =
        ["--detail", "pendulum=articulated", "--detail", "all=com", "--law", "soft-coulomb"];
    let integrator = ["--integrator", "adaptive:1e-9", "--duration", "0.1", "-o", "a.mcap"];
    let args = [&["run", &world][..], &asked, &integrator].concat();
    expect(dir.path(), &args, 0);
    let info = expect(dir.path(), &["info", "--json", "a.mcap"], 0).stdout;
    let info: Value = serde_json::from_slice(&info).unwrap();
    let facts = &info["metadata"]["headland"];
    let of = |key: &str| facts[key].as_str().unwrap_or_default().to_string();
    assert_eq!(of("detail"), "pendulum=articulated", "one robot is an exception to all");
    assert_eq!((of("law"), of("integrator")), ("soft-coulomb".into(), "adaptive:1e-9".into()));
    let attached = expect(dir.path(), &["cat", "a.mcap", "--attachment", "world.sdf"], 0).stdout;
    fs::write(dir.path().join("again.sdf"), &attached).unwrap();
    expect(dir.path(), &["run", "again.sdf", "--duration", "0.1", "-o", "b.mcap"], 0);
    let again = expect(dir.path(), &["info", "--json", "b.mcap"], 0).stdout;
    let again: Value = serde_json::from_slice(&again).unwrap();
    for key in ["detail", "law", "integrator"] {
        assert_eq!(again["metadata"]["headland"][key], facts[key], "{key}");
    }

    for (asked, words) in [
        (["--detail", "pendulm=com"], "did you mean `pendulum`?"),
        (["--detail", "pendulum=comm"], "did you mean `com`?"),
        (["--detail", "pendulum"], "NAME=LEVEL"),
        (["--law", "harf"], "did you mean `hard`?"),
        (["--integrator", "rk4:1e-9"], "only `adaptive` has a tolerance"),
        (["--integrator", "adaptive:0"], "above zero"),
        (["--integrator", "adaptive:1e30"], "0.1 at most"),
    ] {
        let said = text(&expect(dir.path(), &[&["run", &world], &asked[..]].concat(), 2).stderr);
        assert!(said.contains(words), "{asked:?}\n{said}");
    }
    for (name, also) in [("pendulum", "pendulum=com"), ("all", "pendulum=articulated")] {
        let (one, other) = (format!("{name}=com"), format!("{name}=articulated"));
        let args = ["run", &world, "--detail", &one, "--detail", also, "--detail", &other];
        let said = text(&expect(dir.path(), &args, 2).stderr);
        let words = format!("error[detail-twice]: `--detail {one}` and `--detail {other}` cannot");
        assert!(said.contains(&words), "{said}");
    }
    let ball = ball();
    let said = text(&expect(dir.path(), &["run", &ball, "--detail", "all=com"], 2).stderr);
    assert!(said.contains("error[unknown-model]: no model here has joints"), "{said}");
}

#[test]
fn a_world_written_into_another_folder_still_finds_its_meshes() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(dir.path().join("robot/meshes")).unwrap();
    fs::create_dir(dir.path().join("out")).unwrap();
    let facets = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|corners: [usize; 3]| {
        let corner = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"];
        let vertices: String = corners.iter().map(|i| format!("vertex {}\n", corner[*i])).collect();
        format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n")
    });
    fs::write(
        dir.path().join("robot/meshes/t.stl"),
        format!("solid t\n{}endsolid t\n", facets.concat()),
    )
    .unwrap();
    let world = "<sdf version='1.11'><model name='m'><static>true</static><link name='l'><collision name='c'>\
                 <geometry><mesh><uri>meshes/t.stl</uri></mesh></geometry></collision></link></model></sdf>";
    fs::write(dir.path().join("robot/m.sdf"), world).unwrap();
    expect(dir.path(), &["check", "robot/m.sdf", "--write-sdf", "out/m.sdf"], 0);
    expect(dir.path(), &["check", "out/m.sdf"], 0);
    expect(dir.path(), &["check", "robot/m.sdf", "--write-sdf", "robot/again.sdf"], 0);
    assert!(
        fs::read_to_string(dir.path().join("robot/again.sdf"))
            .unwrap()
            .contains("<uri>meshes/t.stl</uri>")
    );
}

#[test]
fn a_shape_of_no_size_is_pointed_at_in_every_format() {
    let dir = tempfile::tempdir().expect("a folder");
    let urdf = "<robot name='flat'>\n <link name='plate'><inertial><mass value='1'/>\
                <inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>\
                <collision><geometry><box size='0 0 0'/></geometry></collision></link></robot>";
    fs::write(dir.path().join("flat.urdf"), urdf).unwrap();
    let said = text(&expect(dir.path(), &["check", "flat.urdf"], 2).stderr);
    assert!(said.contains("bad-size") && said.contains("flat.urdf:2:"), "{said}");
}

#[test]
fn the_demo_speaks_json_too() {
    let dir = tempfile::tempdir().expect("a folder");
    let output = expect(dir.path(), &["demo", "--json"], 0);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(json["recording"], "demo.mcap");
    let bounces = json["bounces"].as_array().expect("a list");
    assert!(bounces.len() >= 5, "{json}");
    for bounce in bounces {
        let ratio = bounce["of_the_one_before"].as_f64().expect("a number");
        assert!((ratio - 0.49).abs() < 0.02, "{bounce}");
    }
}

/// Interrupted, the demo says how far it came. The signal may come too late to matter, so it
/// is tried again until once it does not.
#[cfg(unix)]
#[test]
fn an_interrupted_demo_says_how_far_it_came() {
    for _ in 0..20 {
        let dir = tempfile::tempdir().expect("a folder");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_headland"));
        command.args(["demo", "--json"]).current_dir(dir.path());
        let command = command.stdout(std::process::Stdio::piped());
        let child = command.stderr(std::process::Stdio::null()).spawn().expect("it starts");
        while !dir.path().join("demo.mcap").exists() {
            std::thread::yield_now();
        }
        let kill = ["-INT", &child.id().to_string()];
        assert!(std::process::Command::new("kill").args(kill).status().unwrap().success());
        let output = child.wait_with_output().expect("it ends");
        let json: Value = serde_json::from_slice(&output.stdout).expect("one object");
        let secs = json["simulated_secs"].as_f64().expect("a number");
        if json["ended"] == "interrupted" {
            assert!(secs < 5.0, "{json}");
            assert_ne!(output.status.code(), Some(0), "{json}");
            return;
        }
        assert_eq!((secs, &json["ended"]), (5.0, &Value::from("duration")), "{json}");
    }
    panic!("the demo was never interrupted");
}

/// Where the recording goes to standard output its result stands beside it, also when told
/// to be quiet: that silences words, not results.
#[test]
fn the_result_of_a_piped_run_is_said_even_quietly() {
    let dir = tempfile::tempdir().expect("a folder");
    let ball = ball();
    let args = ["run", &ball, "--duration", "0.1", "-o", "-"];
    let said = |more: &[&str]| text(&expect(dir.path(), &[&args[..], more].concat(), 0).stderr);
    let quiet = said(&["--quiet"]);
    assert!(quiet.starts_with("standard output: 0.100 s of rapier"), "{quiet}");
    assert_eq!(quiet.lines().count(), 1, "{quiet}");
    let json: Value = serde_json::from_str(&said(&["--quiet", "--json"])).expect("one object");
    assert_eq!((&json["recording"], &json["ended"]), (&"-".into(), &"duration".into()));
}

/// A recording opened elsewhere has the meshes of its world, unless they are very many
/// numbers: then it says that it has not.
#[test]
fn the_world_of_a_recording_has_its_meshes() {
    let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let world = "<sdf version='1.11'><world name='w'>\
        <model name='ground'><static>true</static><link name='l'><collision name='c'>\
        <geometry><mesh><uri>meshes/floor.obj</uri><scale>2 2 1</scale></mesh></geometry>\
        </collision></link></model>\
        <model name='ball'><pose>0.1 0.2 0.6 0 0 0</pose><link name='l'>\
        <inertial auto='true'/><collision name='c'><geometry><sphere><radius>0.5</radius>\
        </sphere></geometry></collision></link></model></world></sdf>";
    fs::write(here.path().join("world.sdf"), world).unwrap();
    fs::create_dir(here.path().join("meshes")).unwrap();
    let run = |dir: &Path, world: &str, output: &str| {
        expect(dir, &["run", world, "--duration", "0.5", "-o", output], 0)
    };
    let attached = |dir: &Path, recording: &str| {
        expect(dir, &["cat", recording, "--attachment", "world.sdf"], 0).stdout
    };

    fs::write(here.path().join("meshes/floor.obj"), floor(3)).unwrap();
    run(here.path(), "world.sdf", "a.mcap");
    fs::copy(here.path().join("a.mcap"), elsewhere.path().join("a.mcap")).unwrap();
    let sdf = attached(elsewhere.path(), "a.mcap");
    assert!(text(&sdf).contains("<uri>inline://floor.obj</uri>"), "{}", text(&sdf));
    fs::write(elsewhere.path().join("again.sdf"), sdf).unwrap();
    run(elsewhere.path(), "again.sdf", "b.mcap");
    let [a, b] = ["a.mcap", "b.mcap"].map(|name| fs::read(elsewhere.path().join(name)).unwrap());
    assert!(a == b, "the attached world is the one that was run");

    fs::write(here.path().join("meshes/floor.obj"), floor(160)).unwrap();
    let said = text(&run(here.path(), "world.sdf", "large.mcap").stderr);
    assert!(said.contains("note[shapes-by-name]"), "{said}");
    assert!(text(&attached(here.path(), "large.mcap")).contains("meshes/floor.obj"));
    let info = text(&expect(here.path(), &["info", "large.mcap"], 0).stdout);
    assert!(info.contains("shapes by name, from the folder of world.sdf"), "{info}");
}

/// A square of 2 m in `n` by `n` points, as Wavefront OBJ.
fn floor(n: usize) -> String {
    let mut obj = String::new();
    for i in 0..n * n {
        let at = |k: usize| 2.0 * k as f64 / (n - 1) as f64 - 1.0;
        obj += &format!("v {} {} 0\n", at(i % n), at(i / n));
    }
    for corner in (0..n * (n - 1)).filter(|i| i % n + 1 < n).map(|i| i + 1) {
        let (right, up) = (corner + 1, corner + n);
        obj += &format!("f {corner} {right} {up}\nf {right} {} {up}\n", up + 1);
    }
    obj
}

/// What is found about a world only when it is to move has its place too.
#[test]
fn a_disagreement_of_welded_links_has_its_place() {
    let dir = tempfile::tempdir().expect("a folder");
    let link = |name: &str, inside: &str| {
        let inertial = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz>\
                        </inertia></inertial>";
        format!("<link name='{name}'>{inertial}{inside}</link>\n")
    };
    let world = format!(
        "<sdf version='1.11'><model name='m'>\n{}{}\
         <joint name='j' type='fixed'><parent>a</parent><child>b</child></joint></model></sdf>",
        link("a", ""),
        link("b", "<gravity>false</gravity>")
    );
    fs::write(dir.path().join("two.sdf"), world).unwrap();
    let said = text(&expect(dir.path(), &["check", "two.sdf"], 2).stderr);
    assert!(said.contains("error[weld-disagrees]") && said.contains("--> two.sdf:3:2"), "{said}");
    assert!(said.contains("`m::a` is at two.sdf:2:2"), "{said}");
}

/// A recording in a pipe is the recording in a file, and nothing else is in the pipe.
#[test]
fn a_recording_goes_to_standard_output() {
    let dir = tempfile::tempdir().expect("a folder");
    let run =
        |output: &str| expect(dir.path(), &["run", &ball(), "--duration", "1", "-o", output], 0);
    let piped = run("-");
    run("file.mcap");
    assert!(piped.stdout == fs::read(dir.path().join("file.mcap")).unwrap());
    assert!(text(&piped.stderr).contains("standard output: 1.000 s"), "{}", text(&piped.stderr));
    for args in [
        &["demo", "-o", "-"][..],
        &["export", "file.mcap", "--to", "csv", "-o", "-"],
        &["import", "file.mcap", "-o", "-"],
    ] {
        let said = text(&expect(dir.path(), args, 2).stderr);
        assert!(said.contains("needs-a-file"), "{args:?}: {said}");
    }
    assert!(!dir.path().join("-").exists());
}

/// A run ends with a whole step; where that is not what was asked, it is said.
#[test]
fn a_duration_between_two_steps_is_remarked() {
    let dir = tempfile::tempdir().expect("a folder");
    let run = |step: &str| {
        expect(dir.path(), &["run", &ball(), "-d", "1", "--step", step, "-o", "a.mcap"], 0)
    };
    let said = text(&run("0.3").stderr);
    assert!(said.contains("1.000 s is no whole number of steps of 0.300 s"), "{said}");
    assert!(said.contains("ends at 1.200 s"), "{said}");
    assert!(!text(&run("0.25").stderr).contains("whole number"));
}

/// What is no log is refused in words, and no file is made of it. A pipe must not be waited for.
#[test]
fn garbage_is_not_imported() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name);
    let noise: Vec<u8> =
        (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (name, bytes) in [
        ("garbage.mcap", &noise[..]),
        ("garbage", &noise),
        ("garbage.csv", b"no table\nat all\n"),
        ("rows.csv", b"time,x\nnever,1\nsome day,2\n"),
        ("garbage.tum", b"no trajectory\nat all\n"),
        ("before.csv", b"time,x\n-1,1\n"),
        ("empty", b""),
        ("empty.mcap", b""),
        ("empty.csv", b""),
    ] {
        fs::write(at(name), bytes).unwrap();
    }
    fs::create_dir(at("folder")).unwrap();
    fs::create_dir(at("bag")).unwrap();
    fs::write(at("bag/a.mcap"), &noise).unwrap();
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status();
    assert!(made.expect("mkfifo runs").success());
    for (source, words) in [
        ("garbage.mcap", "not-mcap"),
        ("garbage", "unknown-format"),
        ("garbage.csv", "no-time-column"),
        ("rows.csv", "bad-time"),
        ("garbage.tum", "bad-pose"),
        ("before.csv", "time-out-of-range"),
        ("empty", "empty-table"),
        ("empty.mcap", "is empty"),
        ("empty.csv", "empty-table"),
        ("folder", "no recording in the folder"),
        ("bag", "not-mcap"),
        ("/dev/null", "not-a-file"),
        ("pipe", "not-a-file"),
        ("nowhere", "cannot-open"),
    ] {
        let said = text(&expect(dir.path(), &["import", source, "-o", "a.mcap"], 2).stderr);
        assert!(said.contains(words), "{source}: {said}");
        assert!(!said.contains("panicked"), "{source}: {said}");
        assert!(!at("a.mcap").exists(), "something was made of {source}");
    }
}

/// What stands beside the messages comes out as it went in, and moments are exact.
#[test]
fn attached_files_and_moments_of_today() {
    let dir = tempfile::tempdir().expect("a folder");
    expect(dir.path(), &["run", &ball(), "--duration", "0.1", "-o", "a.mcap"], 0);
    let cat = |name: &str, code| expect(dir.path(), &["cat", "a.mcap", "--attachment", name], code);
    fs::write(dir.path().join("again.sdf"), cat("world.sdf", 0).stdout).unwrap();
    expect(dir.path(), &["run", "again.sdf", "--duration", "0.1", "-o", "b.mcap"], 0);
    let [a, b] = ["a.mcap", "b.mcap"].map(|name| fs::read(dir.path().join(name)).unwrap());
    assert!(a == b, "the attached world is the one that was run");
    let said = text(&cat("world.sfd", 2).stderr);
    assert!(said.contains("did you mean `world.sdf`"), "{said}");

    // As floats, both moments lie beside the stamp.
    let table = "time,x\n1700000001.98,1\n1700000001.99,2\n1700000002.01,3\n";
    fs::write(dir.path().join("today.csv"), table).unwrap();
    expect(dir.path(), &["import", "today.csv", "-o", "today.mcap"], 0);
    let args = ["cat", "today.mcap", "--start", "1700000001.99", "--end", "1700000001.990"];
    let printed = text(&expect(dir.path(), &args, 0).stdout);
    assert_eq!(printed.lines().count(), 1, "{printed}");
    assert!(printed.contains("1700000001990000000"), "{printed}");
}

#[test]
fn every_end_has_a_result_in_json_and_a_closed_pipe_is_no_full_disk() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("bad.sdf"), "<sdf version='1.11'><wurld/></sdf>").unwrap();
    let json = |args: &[&str], code| -> Value {
        serde_json::from_slice(&expect(dir.path(), args, code).stdout).expect("JSON")
    };
    let bad = json(&["check", "--json", "bad.sdf"], 2);
    assert_eq!((&bad["ok"], &bad["file"]), (&Value::from(false), &Value::from("bad.sdf")));
    expect(dir.path(), &["run", &ball(), "--duration", "0.1", "-o", "a.mcap"], 0);
    let done = json(&["export", "--json", "a.mcap", "-o", "a.csv"], 0);
    assert_eq!((&done["output"], &done["format"]), (&Value::from("a.csv"), &Value::from("csv")));
    if cfg!(target_os = "linux") {
        let output = expect(dir.path(), &["check", &ball(), "--write-sdf", "/dev/full"], 4);
        assert!(!text(&output.stderr).contains("1 error"), "{}", text(&output.stderr));
    }
    let program = env!("CARGO_BIN_EXE_headland");
    let script = format!("{program} run {} -o - | head -c 8; exit ${{PIPESTATUS[0]}}", ball());
    let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("output-closed") && !said.contains("free some space"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn names_in_any_bytes_and_a_full_standard_error_change_no_exit_code() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let dir = tempfile::tempdir().expect("a folder");
    let name = OsStr::from_bytes(b"w\xff.sdf");
    fs::copy(format!("{ROOT}/worlds/ball.sdf"), dir.path().join(name)).expect("copied");
    let checked = headland(dir.path()).arg("check").arg(name).output().expect("runs");
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));

    fs::write(dir.path().join("bad.sdf"), "<sdf>").expect("written");
    for (file, code) in [(name, 0), (OsStr::new("bad.sdf"), 2)] {
        let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let ran = headland(dir.path()).arg("check").arg(file).stderr(full).output().expect("runs");
        assert_eq!(ran.status.code(), Some(code), "{file:?}");
    }
}

/// A world that asks for details is moved by the engine that has them, and another says that it
/// has not.
#[test]
fn details_of_a_world_choose_the_engine() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = format!("{ROOT}/worlds/soccer-3v3.sdf");
    let run = |more: &[&str]| {
        let args = [&["run", &world, "-d", "0.02", "-o", "a.mcap"], more].concat();
        let said = text(&expect(dir.path(), &args, 0).stderr);
        let info = text(&expect(dir.path(), &["info", "a.mcap"], 0).stdout);
        (said, info)
    };
    let (said, info) = run(&[]);
    assert!(!said.contains("wish-ignored"), "{said}");
    assert!(info.contains("engine native") && info.contains("blue_supporter=com"), "{info}");
    let (said, info) = run(&["--engine", "rapier"]);
    assert!(said.contains("note[wish-ignored]: the world asks for details of robots"), "{said}");
    assert!(info.contains("engine rapier") && !info.contains("blue_supporter=com"), "{info}");
}

/// What would refuse a run is said by `check`, too, where the world itself asks for the engine.
#[test]
fn check_says_what_a_detail_lacks() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = r#"<sdf version="1.11" xmlns:headland="urn:headland:sdf"><world name="w">
        <model name="walker"><headland:detail>kinematic</headland:detail><link name="body"><inertial>
        <mass>1</mass></inertial></link><link name="leg"><inertial><mass>1</mass></inertial></link>
        <joint name="hip" type="revolute"><parent>body</parent><child>leg</child>
        <axis><xyz>0 1 0</xyz></axis></joint></model></world></sdf>"#;
    fs::write(dir.path().join("w.sdf"), world).expect("written");
    let said = text(&expect(dir.path(), &["check", "w.sdf"], 2).stderr);
    assert!(said.contains("no-feet"), "{said}");
}

/// Robots that lack different things for different details are told of in one go, each by its name
/// with everything it lacks.
#[test]
fn check_says_what_every_robot_lacks_at_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let link =
        |name: &str| format!(r#"<link name="{name}"><inertial><mass>1</mass></inertial></link>"#);
    let pin = |name: &str, parent: &str, child: &str| {
        format!(
            r#"<joint name="{name}" type="revolute"><parent>{parent}</parent><child>{child}</child>
            <axis><xyz>0 1 0</xyz></axis></joint>"#
        )
    };
    let robot = |name: &str, detail: &str, parts: &[String]| {
        format!(
            r#"<model name="{name}"><headland:detail>{detail}</headland:detail>{}{}{}</model>"#,
            link("body"),
            link("part"),
            parts.concat()
        )
    };
    let models = [
        robot("walker", "kinematic", &[pin("hip", "body", "part"), pin("nail", "world", "body")]),
        robot(
            "cart",
            "vehicle",
            &[
                // An axle that stands upright.
                pin("axle", "body", "part").replace("0 1 0", "0 0 1"),
                r#"<headland:wheel joint="axle" radius="0.1"/>"#.to_string(),
            ],
        ),
        robot(
            "ring",
            "com",
            &[
                pin("a", "body", "part"),
                link("third"),
                pin("b", "part", "third"),
                pin("c", "body", "third"),
            ],
        ),
    ];
    let world = format!(
        r#"<sdf version="1.11" xmlns:headland="urn:headland:sdf"><world name="w">{}</world></sdf>"#,
        models.concat()
    );
    fs::write(dir.path().join("w.sdf"), world).expect("written");
    let said = text(&expect(dir.path(), &["check", "w.sdf"], 2).stderr);
    for (code, robot, word) in [
        ("fixed-base", "walker", "kinematic"),
        ("no-feet", "walker", "kinematic"),
        ("bad-wheel", "cart", "vehicle"),
        ("kinematic-loop", "ring", "com"),
    ] {
        let words = format!("error[{code}]: `{robot}` cannot be moved as `{word}`");
        assert!(said.contains(&words), "not said: {words}\n{said}");
    }
}
