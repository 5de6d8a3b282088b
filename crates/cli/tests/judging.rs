//! `headland test`, `run --test` and `check` of tests, as a user meets them.

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use common::{ROOT, expect, headland, shipped_worlds, text};
use serde_json::Value;

const GREEN: &str = "(machine lands (state falling) (state green)\n  \
    (on [ball pose z < 0.6] falling -> green))\n(spawn lands falling)\n";
const RED: &str = "(machine stays (state above) (state red) (state green)\n  \
    (on [ball pose z < 0.6] above -> red low)\n  \
    (on [ball time >= stopTime] above -> green))\n(spawn stays above)\n";
const ERRORS: &str = "(machine m (state a (onentry [nil foo])) (state green) (eps a -> green))\n\
    (spawn m a)\n";
const BROKEN: &str = "(machine m (state a) (state green) (on [1 < ] a -> green))\n(spawn m a)\n";

/// A folder with two recordings of the ball and some tests.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let ball = format!("{ROOT}/worlds/ball.sdf");
    expect(dir.path(), &["run", &ball, "--duration", "1", "-o", "ball.mcap", "-q"], 0);
    expect(dir.path(), &["run", &ball, "--duration", "0.1", "-o", "short.mcap", "-q"], 0);
    for (name, content) in [("green", GREEN), ("red", RED), ("errors", ERRORS), ("broken", BROKEN)]
    {
        fs::write(dir.path().join(format!("{name}.lrp")), content).expect("written");
    }
    fs::write(dir.path().join("low.stl"), "low := eventually [ball pose z < 0.6].\n")
        .expect("written");
    fs::write(dir.path().join("empty.csv"), "time,ball/pose/z\n").expect("written");
    dir
}

#[test]
fn exit_codes_tell_what_kind_of_answer_it_is() {
    let dir = folder();
    for (args, code) in [
        (&["green.lrp", "--on", "ball.mcap"][..], 0),
        (&["low.stl", "--on", "ball.mcap"], 0),
        (&["green.lrp", "red.lrp", "--on", "ball.mcap"], 1),
        (&["low.stl", "--on", "short.mcap"], 1),
        (&["broken.lrp", "--on", "ball.mcap"], 2),
        (&["broken.lrp", "red.lrp", "--on", "ball.mcap"], 2),
        (&["errors.lrp", "--on", "ball.mcap"], 0),
        (&["errors.lrp", "--on", "ball.mcap", "--deny", "action-errors"], 2),
        (&["green.lrp", "--on", "nowhere.mcap"], 2),
        (&["nowhere.lrp", "--on", "ball.mcap"], 2),
        (&["ball.mcap", "--on", "ball.mcap"], 2),
        (&["green.lrp"], 2),
        (&["green.lrp", "--on", "ball.mcap", "--engines", "rapier"], 2),
        (&["green.lrp", "--on", "empty.csv"], 3),
        (&["green.lrp", "--on", "ball.mcap", "--start", "5"], 3),
        (&["green.lrp", "--on", "ball.mcap", "--start", "nan"], 2),
        (&["green.lrp", "--on", "ball.mcap", "--html", "no/such/folder.html"], 2),
        (&["green.lrp", "--on", "ball.mcap", "--html", "ball.mcap"], 2),
    ] {
        let args: Vec<&str> = ["test"].iter().chain(args).copied().collect();
        let output = expect(dir.path(), &args, code);
        assert!(!text(&output.stderr).contains("panicked"));
    }
}

#[test]
fn the_matrix_has_a_row_per_test_and_a_column_per_recording() {
    let dir = folder();
    let args = ["test", "green.lrp", "red.lrp", "--on", "ball.mcap", "short.mcap"];
    let shown = text(&expect(dir.path(), &args, 1).stdout);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("test ") && lines[0].contains("ball.mcap"), "{shown}");
    assert!(lines[2].starts_with("green.lrp  green "), "{shown}");
    assert!(lines[2].contains("red at 0.100 s by "), "{shown}");
    assert!(lines[3].starts_with("red.lrp    red at 0.7"), "{shown}");
    assert!(lines[3].contains("green 2."), "2.85 m above: {shown}");
    assert!(shown.contains("red.lrp on ball.mcap: red at 0.7"), "{shown}");
    assert!(shown.contains("above -> red (low)"), "{shown}");
    assert!(shown.ends_with("2 green, 2 red\n"), "{shown}");
    // The same question again, and in parallel or not, the same bytes.
    assert_eq!(text(&expect(dir.path(), &args, 1).stdout), shown);
}

#[test]
fn junit_is_read_back() {
    let dir = folder();
    let args = ["test", "green.lrp", "red.lrp", "broken.lrp", "--on", "ball.mcap", "gone.mcap"];
    let args: Vec<&str> = args.into_iter().chain(["--junit", "out.xml"]).collect();
    expect(dir.path(), &args, 2);
    let xml = fs::read_to_string(dir.path().join("out.xml")).expect("written");
    let document = roxmltree::Document::parse(&xml).expect("well-formed");
    let root = document.root_element();
    assert_eq!(root.attribute("tests"), Some("6"), "{xml}");
    assert_eq!(root.attribute("failures"), Some("1"), "{xml}");
    assert_eq!(root.attribute("errors"), Some("4"), "{xml}");
    let suites: Vec<_> = root.children().filter(|n| n.has_tag_name("testsuite")).collect();
    assert_eq!(suites.len(), 3);
    assert_eq!(suites[1].attribute("name"), Some("red.lrp"));
    let failure = document.descendants().find(|n| n.has_tag_name("failure")).expect("one");
    assert!(failure.attribute("message").unwrap().contains("above -> red (low)"), "{xml}");
    let case = failure.parent().expect("a case");
    assert_eq!(case.attribute("name"), Some("ball.mcap"));
    let margin = document.descendants().find(|n| n.attribute("name") == Some("margin"));
    let margin: f64 = margin.unwrap().attribute("value").unwrap().parse().expect("a number");
    assert!(margin > 0.0);
}

#[test]
fn json_says_everything_to_programs() {
    let dir = folder();
    let args = ["test", "green.lrp", "red.lrp", "--on", "ball.mcap", "--json", "--explain"];
    let args: Vec<&str> = args.into_iter().chain(["--coverage", "--mutate"]).collect();
    let output = expect(dir.path(), &args, 1);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let results = json["results"].as_array().expect("results");
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["verdict"], "green");
    assert_eq!(results[0]["margin"]["unit"], "m");
    let red = &results[1];
    assert_eq!(red["verdict"], "red");
    assert_eq!(red["roots"][0]["reason"], "above -> red (low)");
    let lines = red["explanations"][0]["lines"].as_array().expect("lines");
    let line = lines.iter().find(|line| line["text"] == "ball pose z").expect("the number");
    assert!(line["value"].as_str().unwrap().starts_with("0.5"), "{line}");
    assert_eq!(line["place"]["line"], 2);
    assert!(red["explanations"][0]["stretch"]["snapshots"].as_u64().unwrap() >= 1);
    let missed = json["tests"][1]["coverage"]["missed"].as_array().expect("missed");
    assert!(missed.iter().any(|spot| spot["what"] == "state green of stays"), "{missed:?}");
    assert!(json["tests"][0]["mutation"]["tried"].as_u64().unwrap() >= 2);
}

#[test]
fn why_red_is_shown_with_places_and_the_stretch_gives_the_same_red() {
    let dir = folder();
    let output = expect(dir.path(), &["test", "red.lrp", "--on", "ball.mcap", "--explain"], 1);
    let shown = text(&output.stdout);
    assert!(shown.contains("red.lrp:2:8"), "{shown}");
    let again = shown.lines().find(|line| line.contains("headland test")).expect("how to cut it");
    let args: Vec<&str> = again.split_whitespace().skip(1).collect();
    let cut = text(&expect(dir.path(), &args, 1).stdout);
    assert!(cut.contains("above -> red (low)"), "{cut}");
}

#[test]
fn every_defect_of_a_test_goes_to_stderr_with_its_place() {
    let dir = folder();
    let broken = "(machine m (state a) (state green)\n  (on [ball pose z < ] a -> green)\n  \
        (on [bal pose z < 1] a -> green)\n  (on [true] a -> gren))\n(spawn m a)\n";
    fs::write(dir.path().join("many.lrp"), broken).unwrap();
    let output = expect(dir.path(), &["test", "many.lrp", "--on", "ball.mcap"], 2);
    let said = text(&output.stderr);
    for words in ["many.lrp:2:", "many.lrp:3:", "many.lrp:4:", "did you mean `ball`"] {
        assert!(said.contains(words), "{words}:\n{said}");
    }
    let output = expect(dir.path(), &["test", "errors.lrp", "--on", "ball.mcap"], 0);
    let said = text(&output.stderr);
    assert!(said.contains("warning[action-error]") && said.contains("errors.lrp:1:"), "{said}");
    assert!(said.contains("once on ball.mcap, first at 0.000 s in m:a"), "{said}");
}

#[test]
fn check_lints_tests() {
    let dir = folder();
    let shown = text(&expect(dir.path(), &["check", "green.lrp", "low.stl"], 0).stdout);
    assert_eq!(shown, "green.lrp: ok, test: 1 machine\nlow.stl: ok, test: 1 formula\n");
    let said = text(&expect(dir.path(), &["check", "broken.lrp"], 2).stderr);
    assert!(said.contains("broken.lrp:1:"), "{said}");
    fs::write(dir.path().join("dangling.lrp"), GREEN.replace("-> green", "-> gren")).unwrap();
    let said = text(&expect(dir.path(), &["check", "dangling.lrp"], 0).stderr);
    assert!(said.contains("did you mean `green`"), "{said}");
}

#[test]
fn the_vocabulary_lists_what_there_is() {
    let dir = folder();
    let shown = text(&expect(dir.path(), &["test", "--vocabulary", "ball.mcap"], 0).stdout);
    for words in ["ball", "ground", "distanceTo: other", "[m/s]", "fact: 'engine'", "stopTime"] {
        assert!(shown.contains(words), "{words}:\n{shown}");
    }
    let output = expect(dir.path(), &["test", "--vocabulary", "ball.mcap", "--json"], 0);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names = json["names"].as_array().expect("names");
    assert!(names.iter().any(|name| name["kind"] == "object" && name["name"] == "ball"));
    assert!(names.iter().any(|name| name["name"] == "contacts/depth" && name["unit"] == "m"));
    assert!(json["words"].as_array().unwrap().len() > 20);
    expect(dir.path(), &["test", "--vocabulary", "gone.mcap"], 2);
}

#[test]
fn worlds_are_run_on_engines_and_judged() {
    let dir = folder();
    let ball = format!("{ROOT}/worlds/ball.sdf");
    let args = ["test", "green.lrp", "--world", &ball, "--engines", "rapier", "--duration", "1"];
    let shown = text(&expect(dir.path(), &args, 0).stdout);
    assert!(shown.contains("ball-rapier") && shown.contains("green "), "{shown}");
    assert!(!dir.path().join("ball-rapier.mcap").exists());
    let args: Vec<&str> = args.into_iter().chain(["--keep", "kept"]).collect();
    let kept = text(&expect(dir.path(), &args, 0).stdout);
    assert!(kept.contains("kept/ball-rapier.mcap"), "{kept}");
    expect(dir.path(), &["test", "green.lrp", "--on", "kept/ball-rapier.mcap"], 0);
    let said = expect(dir.path(), &["test", "green.lrp", "--world", &ball, "--engines", "x"], 2);
    assert!(text(&said.stderr).contains("no engine `x`"));
    expect(dir.path(), &["test", "green.lrp", "--world", "gone.sdf", "--engines", "all"], 2);
}

/// Where nobody names an engine, each world is run on the one that `run` takes for it.
#[test]
fn worlds_are_judged_on_the_engine_that_runs_them() {
    let dir = folder();
    let ball = format!("{ROOT}/worlds/ball.sdf");
    let soft = fs::read_to_string(&ball)
        .expect("shipped")
        .replace("<sdf ", "<sdf xmlns:headland=\"urn:headland:sdf\" ")
        .replace("</physics>", "<headland:native><law>soft</law></headland:native></physics>");
    fs::write(dir.path().join("soft.sdf"), soft).expect("written");
    let judged = |args: &[&str]| -> String {
        text(
            &expect(dir.path(), &[&["test", "green.lrp", "--duration", "1"], args].concat(), 0)
                .stdout,
        )
    };
    let shown = judged(&["--world", &ball, "soft.sdf"]);
    assert!(shown.contains("ball-rapier") && shown.contains("soft-native"), "{shown}");
    assert!(!shown.contains("ball-native") && !shown.contains("soft-rapier"), "{shown}");
    let asked = judged(&["--law", "hard", "--world", &ball]);
    assert!(asked.contains("ball-native"), "{asked}");
}

#[test]
fn the_page_holds_everything_and_needs_nothing_else() {
    let dir = folder();
    let args = ["test", "red.lrp", "green.lrp", "errors.lrp", "--on", "ball.mcap"];
    let args: Vec<&str> = args.into_iter().chain(["--html", "out.html", "--coverage"]).collect();
    expect(dir.path(), &args, 1);
    let page = fs::read_to_string(dir.path().join("out.html")).expect("written");
    assert!(!page.contains("http") && !page.contains("<script"), "no outside resources");
    for words in
        ["above -&gt; red (low)", "ball pose z [m]", "mark red", "never reached", "abandoned"]
    {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.len() < 300_000, "{} bytes", page.len());
}

/// The matrix of one round of `--watch`: everything up to the line that counts.
fn round(lines: &mut impl Iterator<Item = String>) -> String {
    let mut out = String::new();
    for line in lines {
        out += &format!("{line}\n");
        let is_last = ["green", "red", "error"].iter().any(|word| line.ends_with(word));
        if is_last && line.starts_with(|c: char| c.is_ascii_digit()) {
            return out;
        }
    }
    panic!("no matrix: {out}");
}

#[test]
fn watching_judges_again_when_a_test_or_a_recording_changes() {
    let dir = folder();
    let mut child = headland(dir.path())
        .args(["test", "green.lrp", "--on", "ball.mcap", "--watch", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("runs");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(Result::unwrap);
    assert!(round(&mut lines).contains("1 green"));
    fs::write(dir.path().join("green.lrp"), GREEN.replace("0.6", "0.1")).expect("edited");
    assert!(round(&mut lines).contains("1 red"), "a ball of 0.5 m never is that low");
    fs::write(dir.path().join("green.lrp"), GREEN).expect("mended");
    assert!(round(&mut lines).contains("1 green"));
    fs::copy(dir.path().join("short.mcap"), dir.path().join("ball.mcap")).expect("replaced");
    assert!(round(&mut lines).contains("1 red"), "it has not fallen yet");
    child.kill().expect("ends");
    child.wait().expect("ended");
}

/// What the tests of this project say of a world while it runs and afterwards.
fn both(dir: &Path, world: &Path, test: &str, more: &[&str]) -> (Value, Value) {
    let world = world.display().to_string();
    let args = ["run", &world, "--test", test, "-o", "a.mcap", "--json"];
    let args: Vec<&str> = args.iter().chain(more).copied().collect();
    let live = headland(dir).args(&args).output().expect("runs");
    let live: Value =
        serde_json::from_slice(&live.stdout).unwrap_or_else(|_| panic!("{}", text(&live.stderr)));
    let after =
        headland(dir).args(["test", test, "--on", "a.mcap", "--json"]).output().expect("runs");
    let after: Value = serde_json::from_slice(&after.stdout).expect("JSON");
    (live["verdicts"][0].clone(), after["results"][0].clone())
}

#[test]
fn the_live_verdict_is_the_one_of_the_recording() {
    let dir = folder();
    // One test that looks at everything a run has, in every world there is: it turns red
    // or green at a moment that depends on every number.
    let mut n_red = 0;
    for world in shipped_worlds() {
        // Of the names only those that are no sensor's: what sensors say is not judged live.
        let world_text = world.display().to_string();
        let run = ["run", &world_text, "--duration", "0.01", "--sensors", "none", "-o", "n.mcap"];
        expect(dir.path(), &run, 0);
        let names = expect(dir.path(), &["test", "--vocabulary", "n.mcap", "--json"], 0);
        let names: Value = serde_json::from_slice(&names.stdout).expect("JSON");
        let of = |kind: &str| -> Vec<String> {
            let names = names["names"].as_array().unwrap().iter();
            let names = names.filter(|name| name["kind"] == kind);
            names.map(|name| name["write"].as_str().unwrap().to_string()).collect()
        };
        let objects = of("object");
        let mut terms = Vec::new();
        for object in &objects {
            for part in ["pose x", "pose rz", "pose qw", "velocity z", "velocity rx", "contacts"] {
                terms.push(format!("({object} {part})"));
            }
            terms.push(format!("({object} contactForce)"));
            terms.push(format!("({object} distanceTo: {})", objects[0]));
            terms.push(format!(
                "(({object} acceleration z) isNil ifTrue: [0] ifFalse: [{object} acceleration z])"
            ));
            terms.push(format!("(({object} touches: {}) ifTrue: [1] ifFalse: [0])", objects[0]));
        }
        for joint in of("joint") {
            for part in ["position", "velocity", "effort"] {
                terms.push(format!("({joint} {part})"));
            }
        }
        terms.push("(recording channel: 'contacts/depth')".to_string());
        // In groups: an expression of a thousand terms in a row is too deep to be read.
        let groups = terms.chunks(40).map(|some| format!("({})", some.join(" + ")));
        let sum = groups.collect::<Vec<_>>().join(" + ");
        let test = format!(
            "(var total := [0])\n(machine sums\n  (state going (running [total := total + ({sum}) abs]))\n  \
             (state red) (state green)\n  (on [recording time > 0.2 and: [total \\\\ 1 < 0.01]] going -> red)\n  \
             (on [recording time >= stopTime] going -> green))\n(spawn sums going)\n"
        );
        fs::write(dir.path().join("sums.lrp"), test).unwrap();
        for more in [&["--duration", "1"][..], &["--duration", "0.7005", "--record-rate", "70"]] {
            let (live, after) = both(dir.path(), &world, "sums.lrp", more);
            for key in ["verdict", "reason", "time_secs"] {
                assert_eq!(live[key], after[key], "{key} of {} {more:?}", world.display());
            }
            assert_eq!(live["action_errors"], 0, "{live}");
            n_red += usize::from(live["verdict"] == "red");
        }
    }
    assert!(n_red > 2, "{n_red} runs ended at a moment that the numbers decide");
}

/// Commands come between samples, and then the recording has a snapshot there.
#[test]
fn the_live_verdict_is_the_one_of_the_recording_with_commands_between_samples() {
    let dir = folder();
    let mut table = "time,hinge/effort\n".to_string();
    for i in 0..40 {
        table += &format!("{},{}\n", f64::from(i) * 0.0173, f64::from(i % 7) - 3.0);
    }
    fs::write(dir.path().join("moves.csv"), table).unwrap();
    let test = "(var total := [0])\n(machine sums\n  \
        (state going (running [total := total + 1 + (hinge effort) abs + (recording time * 10)]))\n  \
        (state red) (state green)\n  (on [recording time > 0.3 and: [total \\\\ 7 < 2]] going -> red)\n  \
        (on [recording time >= stopTime] going -> green))\n(spawn sums going)\n";
    fs::write(dir.path().join("sums.lrp"), test).unwrap();
    let world = Path::new(ROOT).join("worlds/pendulum.sdf");
    for rate in ["10", "30", "1000"] {
        let more = ["--duration", "1", "--record-rate", rate, "--command", "moves.csv"];
        let (live, after) = both(dir.path(), &world, "sums.lrp", &more);
        for key in ["verdict", "reason", "time_secs"] {
            assert_eq!(live[key], after[key], "{key} at {rate} Hz");
        }
        assert_eq!(live["action_errors"], 0, "{live}");
        assert_eq!(live["verdict"], "red", "{live}");
    }
}

/// What was commanded is read as a channel: nothing before the first command, held between
/// commands, none where a later message has fewer.
#[test]
fn commands_are_seen_live_as_in_the_recording() {
    let dir = folder();
    let targets = |i: usize| format!("(recording channel: 'gripper/joint_command/target/{i}')");
    let or_one = |i: usize| format!("({0} isNil ifTrue: [1] ifFalse: [{0} abs])", targets(i));
    let sum = [or_one(0), or_one(1), or_one(2)].join(" + ");
    let sums = format!(
        "(var total := [0])\n(machine sums\n  \
         (state going (running [{sum} < 1e9 ifTrue: [total := total + ({sum}) + (recording time)]]))\n  \
         (state red) (state green)\n  (on [total \\\\ 3 < 0.2 and: [total > 30]] going -> red)\n  \
         (on [recording time >= stopTime] going -> green))\n(spawn sums going)\n"
    );
    let lifted = format!(
        "(formula told := once [{} > 0.1])\n(machine m (state wait) (state up) (state red) (state green)\n  \
         (on [told] wait -> up)\n  (on [{} isNaN] *-> red)\n  (on [recording time >= stopTime] up -> green))\n\
         (spawn m wait)\n",
        targets(0),
        targets(1)
    );
    fs::write(dir.path().join("sums.lrp"), sums).unwrap();
    fs::write(dir.path().join("lifted.lrp"), lifted).unwrap();
    let late = "time,lift/velocity,close_left/effort,close_right/effort\n\
        0.013,0,4,\n0.21,0.2,4,3\n0.45,-0.1,2,3\n3,0,0,0\n";
    fs::write(dir.path().join("late.csv"), late).unwrap();
    fs::copy(format!("{ROOT}/worlds/gripper.csv"), dir.path().join("gripper.csv")).unwrap();
    let world = Path::new(ROOT).join("worlds/gripper.sdf");
    let mut seen = Vec::new();
    for test in ["sums.lrp", "lifted.lrp"] {
        for (table, rate) in [("gripper.csv", "1000"), ("late.csv", "1000"), ("late.csv", "37")] {
            for more in [&["--duration", "1.2"][..], &["--duration", "2", "--watchdog", "0.3"]] {
                let how = ["--command", table, "--record-rate", rate];
                let more: Vec<&str> = how.iter().chain(more).copied().collect();
                let (live, after) = both(dir.path(), &world, test, &more);
                for key in ["verdict", "reason", "time_secs"] {
                    assert_eq!(live[key], after[key], "{key} of {test} {more:?}\n{live}\n{after}");
                }
                seen.push(live["verdict"].as_str().unwrap().to_string());
            }
        }
    }
    assert!(seen.iter().any(|v| v == "red") && seen.iter().any(|v| v == "green"), "{seen:?}");
}

/// What can no longer hold ends the run; what still may does not.
#[test]
fn a_formula_that_can_no_longer_hold_stops_the_run() {
    let dir = folder();
    let world = format!("{ROOT}/worlds/ball.sdf");
    let run = |formula: &str, rc: i32| -> Value {
        fs::write(dir.path().join("f.stl"), formula).unwrap();
        let args = ["run", &world, "--test", "f.stl", "--stop-on-red", "--duration", "2"];
        let args: Vec<&str> = args.iter().chain(&["-o", "a.mcap", "--json"]).copied().collect();
        let out = expect(dir.path(), &args, rc);
        serde_json::from_slice(&out.stdout).expect("JSON")
    };
    let stopped = run("f := historically [ball pose z > 1].\n", 1);
    assert_eq!(stopped["ended"], "a test is red", "{stopped}");
    // Falls from 3.5 m: z = 1 after √(2·2.5/9.81) s.
    let secs = stopped["simulated_secs"].as_f64().unwrap();
    assert!((secs - 0.714).abs() < 0.003, "{secs}");
    let said = expect(dir.path(), &["cat", "a.mcap", "--topic", "/verdicts"], 0);
    assert!(text(&said.stdout).contains("f can no longer hold"), "{}", text(&said.stdout));
    let after = headland(dir.path()).args(["test", "f.stl", "--on", "a.mcap", "--json"]).output();
    let after: Value = serde_json::from_slice(&after.expect("runs").stdout).expect("JSON");
    for key in ["verdict", "time_secs"] {
        assert_eq!(stopped["verdicts"][0][key], after["results"][0][key], "{key}");
    }
    // This may come true at the last moment, and is red only then.
    let whole = run("f := once[0, 0.1] [ball pose z > 3].\n", 1);
    assert_eq!((&whole["ended"], &whole["simulated_secs"]), (&"duration".into(), &2.0.into()));
}

/// Verdicts are written by the run itself: a test that reads them has to wait for it.
#[test]
fn what_a_run_does_not_show_is_refused_before_it() {
    let dir = folder();
    let test = "(machine m (state a) (state green) (on [verdicts kind = 'red'] a -> green))\n\
        (spawn m a)\n";
    fs::write(dir.path().join("meta.lrp"), test).unwrap();
    let world = format!("{ROOT}/worlds/ball.sdf");
    let out = expect(dir.path(), &["run", &world, "--test", "meta.lrp", "-o", "a.mcap"], 2);
    let said = text(&out.stderr);
    assert!(said.contains("error[not-seen-live]: `verdicts` reads verdicts"), "{said}");
    assert!(said.contains("meta.lrp:1:41"), "{said}");
    assert!(!dir.path().join("a.mcap").exists(), "nothing was run");
    let test = "(machine m (state a) (state green)\n\
        (on [pod odometry pose x > 1] a -> green)\n\
        (on [(recording joint: 'mast::encoder::hinge') position > 1] a -> green))\n(spawn m a)\n";
    fs::write(dir.path().join("sensed.lrp"), test).unwrap();
    let world = format!("{ROOT}/worlds/sensors.sdf");
    let said = text(&expect(dir.path(), &["run", &world, "--test", "sensed.lrp"], 2).stderr);
    assert!(said.contains("`pod odometry` reads a sensor"), "{said}");
    assert!(said.contains("sensed.lrp:3:6") && said.contains("encoder::hinge')` reads"), "{said}");
}

/// A test that reckons with the end of the run would be told otherwise by the recording.
#[test]
fn an_end_that_is_not_known_is_not_reckoned_with() {
    let dir = folder();
    let test = "(machine m (state a) (state green) (state red)\n\
        (on [recording time > (stopTime - 0.5)] a -> red)\n\
        (on [ball pose z < 3] a -> green))\n(spawn m a)\n";
    fs::write(dir.path().join("late.lrp"), test).unwrap();
    let world = format!("{ROOT}/worlds/ball.sdf");
    let run = ["run", &world, "--test", "late.lrp", "-o", "a.mcap"];
    for how in [&["--until", "ball/pose/z < 1"][..], &["--duration", "2", "--stop-on-red"]] {
        let args: Vec<&str> = run.iter().chain(how).copied().collect();
        let said = text(&expect(dir.path(), &args, 2).stderr);
        assert!(said.contains("error[not-seen-live]: `stopTime` asks when"), "{said}");
        assert!(said.contains("late.lrp:2:24") && said.contains(how[how.len() - 2]), "{said}");
        assert!(!dir.path().join("a.mcap").exists(), "nothing was run");
    }
    let (live, after) = both(dir.path(), world.as_ref(), "late.lrp", &["--duration", "2"]);
    assert_eq!((&live["verdict"], &live["time_secs"]), (&"green".into(), &after["time_secs"]));
}

/// Whether a snapshot is the last is seen when it is judged, so what comes first in the text
/// comes first there too, and nothing is counted there that the recording does not count.
#[test]
fn the_last_snapshot_is_seen_as_such_whatever_ends_the_run() {
    let dir = folder();
    let test = "(var n := [0])\n(machine m (state a (running [n := n + 1])) (state b)\n\
        (state green) (state red)\n\
        (on [ball time = stopTime] a -> b)\n\
        (on [ball pose z < 1] a -> red)\n\
        (on [n = 714] b -> green))\n\
        (spawn m a)\n";
    fs::write(dir.path().join("last.lrp"), test).unwrap();
    let world = format!("{ROOT}/worlds/ball.sdf");
    for how in [&["--until", "ball/pose/z < 1"][..], &["--duration", "0.714", "--stop-on-red"]] {
        let (live, after) = both(dir.path(), world.as_ref(), "last.lrp", how);
        assert_eq!(live["verdict"], "green", "{live}");
        for key in ["verdict", "time_secs"] {
            assert_eq!(live[key], after[key], "{how:?}");
        }
    }
}

/// Neither a pipe nor a device is waited for.
#[test]
fn pipes_and_devices_are_refused() {
    let dir = folder();
    let made = std::process::Command::new("mkfifo").arg(dir.path().join("pipe.mcap")).status();
    assert!(made.expect("mkfifo runs").success());
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero.lrp")).unwrap();
    fs::write(dir.path().join("t.lrp"), "(machine m (state green)) (spawn m green)").unwrap();
    let world = format!("{ROOT}/worlds/ball.sdf");
    for args in [
        &["test", "t.lrp", "--on", "pipe.mcap"][..],
        &["test", "t.lrp", "--on", "/dev/zero"],
        &["test", "zero.lrp", "--on", "pipe.mcap"],
        &["run", &world, "--command", "/dev/zero", "-o", "a.mcap"],
        &["run", &world, "--test", "zero.lrp", "-o", "a.mcap"],
    ] {
        let said = text(&expect(dir.path(), args, 2).stderr);
        assert!(said.contains("not-a-file"), "{args:?}: {said}");
    }
}

/// A formula in a circle is the test's fault, on a recording as without one.
#[test]
fn a_circular_formula_is_an_error() {
    let dir = folder();
    fs::write(dir.path().join("f.stl"), "f := g and f.\ng := f.\n").unwrap();
    fs::write(dir.path().join("a.csv"), "time,h\n0,1\n1,2\n").unwrap();
    for args in [&["check", "f.stl"][..], &["test", "f.stl", "--on", "a.csv"]] {
        let said = text(&expect(dir.path(), args, 2).stderr);
        assert!(said.contains("error[circular-formula]"), "{said}");
    }
}

/// Tests that ship: the world, how it is run, the test, and what it says.
const SHIPPED: &[(&str, &[&str], &str, &str)] = &[
    ("ball", &["--duration", "5"], "ball", "green"),
    ("ball", &["--duration", "5"], "lower", "green"),
    ("ball", &["--duration", "5"], "ratio", "green"),
    ("cylinders", &["--duration", "3"], "slides", "green"),
    ("cylinders", &["--duration", "3"], "sticks", "green"),
    ("cylinders", &["--duration", "3"], "tips", "green"),
    ("stack", &["--duration", "1"], "stands", "green"),
    ("free_box_simple", &["--duration", "3"], "flies_straight", "green"),
    ("free_box_complex", &["--duration", "3"], "tumbles", "green"),
    ("free_box_simple", &["--duration", "3"], "tumbles", "red"),
    ("pendulum", &["--duration", "10"], "swings", "green"),
    ("pendulum", &["--duration", "8"], "swings", "red"),
    ("double_pendulum", &["--duration", "5"], "keeps_energy", "green"),
    ("double_pendulum", &["--duration", "5", "--step", "0.02"], "keeps_energy", "red"),
    ("rolling", &["--duration", "2"], "rolls", "green"),
    ("rolling", &["--duration", "2"], "slides_then_rolls", "green"),
    ("cradle", &["--duration", "2"], "passes_it_on", "green"),
    ("cradle", &["--duration", "2", "--step", "0.02"], "passes_it_on", "red"),
    ("slider", &["--duration", "3"], "stops", "green"),
    ("slider", &["--duration", "1.5"], "stops", "red"),
    ("four_bar", &["--duration", "5"], "stays_closed", "green"),
    ("gripper_heavy", &["--duration", "4", "--command", "gripper_heavy_4n.csv"], "holds", "green"),
    (
        "gripper_heavy",
        &["--duration", "4", "--command", "gripper_heavy_4n.csv"],
        "slips_out",
        "red",
    ),
    (
        "gripper_heavy",
        &["--duration", "4", "--command", "gripper_heavy_3n.csv"],
        "slips_out",
        "green",
    ),
    ("gripper_heavy", &["--duration", "4", "--command", "gripper_heavy_3n.csv"], "holds", "red"),
    // Rapier's fault: the fingers close through a ball that is 5,000 times lighter.
    ("gripper_light", &["--duration", "4", "--command", "gripper_light_3n.csv"], "holds", "red"),
    ("gripper_light", &["--duration", "4", "--command", "gripper_light_4n.csv"], "holds", "red"),
    ("gripper", &["--duration", "4", "--command", "gripper.csv"], "lifts", "green"),
    ("gripper", &["--duration", "4", "--command", "gripper.csv"], "keeps_lifting", "green"),
    ("gripper", &["--duration", "4", "--command", "gripper_weak.csv"], "lifts", "red"),
    ("gripper", &["--duration", "4", "--command", "gripper_weak.csv"], "passes_height", "red"),
];

#[test]
fn tests_that_ship_say_what_they_should_live_and_on_the_recording() {
    let dir = folder();
    for entry in fs::read_dir(format!("{ROOT}/worlds")).expect("worlds") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|ending| ending == "csv") {
            fs::copy(&path, dir.path().join(path.file_name().expect("a name"))).expect("copied");
        }
    }
    for (world, how, test, wanted) in SHIPPED {
        let world = Path::new(ROOT).join(format!("worlds/{world}.sdf"));
        let test = format!("{ROOT}/worlds/tests/{test}.lrp");
        let (live, after) = both(dir.path(), &world, &test, how);
        assert_eq!(live["verdict"], *wanted, "{test}: {live}");
        for key in ["verdict", "reason", "time_secs"] {
            assert_eq!(live[key], after[key], "{key} of {test}");
        }
        let checked = expect(dir.path(), &["check", &test], 0);
        assert_eq!(text(&checked.stderr), "", "{test}");
    }
}

/// Worlds that play, how and for how long, and what is wanted of them.
const PLAYED: &[(&str, &str, &str, &str)] = &[
    ("penalty_kick", "--engine rapier", "10", "scores"),
    ("penalty_kick", "--engine native", "10", "stays_up"),
    ("penalty_kick", "--law soft", "10", "scores"),
    ("penalty_kick", "--law soft-coulomb", "10", "scores"),
    ("slalom", "--engine native", "44", "passes_poles"),
    ("slalom", "--detail walker=com", "60", "passes_poles"),
    ("slalom", "--detail walker=com-fixed", "60", "passes_poles"),
    ("slalom", "--detail walker=kinematic", "60", "passes_poles"),
    ("soccer-3v3", "--engine native", "20", "kicks_off plays_fair both_kick"),
];

#[test]
fn players_do_what_their_worlds_want() {
    let dir = tempfile::tempdir().expect("a folder");
    for (world, how, secs, tests) in PLAYED {
        let world = format!("{ROOT}/worlds/{world}.sdf");
        let tests: Vec<String> =
            tests.split(' ').map(|test| format!("{ROOT}/worlds/tests/{test}.lrp")).collect();
        let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
        let how: Vec<&str> = how.split(' ').collect();
        let always = ["--duration", secs, "--record-rate", "50", "-o", "played.mcap", "-q"];
        let judged = [&["run", &world, "--test"], &tests[..], &how[..], &always].concat();
        expect(dir.path(), &judged, 0);
        let checked = expect(dir.path(), &[&["check"], &tests[..]].concat(), 0);
        assert_eq!(text(&checked.stderr), "", "{tests:?}");
    }
}

#[test]
fn the_command_line_of_a_test_says_what_is_wrong_with_it() {
    let dir = folder();
    let said = |args: &[&str]| text(&expect(dir.path(), args, 2).stderr).to_string();
    assert!(said(&["test"]).contains("error[no-test]: no test is named"));
    let swallowed = said(&["test", "--on", "a.mcap", "low.lrp"]);
    assert!(swallowed.contains("`low.lrp` is a test, and `--on` takes it for a recording"));
    for args in [&["--json", "test"][..], &["test", "--json", "--bogus"]] {
        let fault: Value = serde_json::from_str(&said(args)).expect("one JSON object");
        assert_eq!(fault["severity"], "error", "{fault}");
    }
    fs::write(dir.path().join("blank.csv"), "time,h\n0,nan\n1,\n").unwrap();
    fs::write(dir.path().join("low.lrp"), "(machine m (state green))\n(spawn m green)\n").unwrap();
    let blank = expect(dir.path(), &["test", "low.lrp", "--on", "blank.csv"], 3);
    assert!(text(&blank.stderr).contains("`blank.csv` has 2 rows and not one number in them"));
    fs::write(dir.path().join("h.csv"), "time,h\n0,1\n1,2\n").unwrap();
    let page = expect(dir.path(), &["test", "low.lrp", "--on", "h.csv", "--html", "-"], 0);
    assert!(text(&page.stdout).starts_with("<!doctype html>"));
    assert!(text(&page.stderr).contains("1 green"), "the table goes beside it");
    assert!(!dir.path().join("-").exists());
    assert!(
        said(&["--json", "test", "low.lrp", "--on", "h.csv", "--html", "-"])
            .contains("output-twice")
    );
}

#[test]
fn regions_and_events_are_seen_live_as_in_the_recording() {
    let dir = folder();
    let world = fs::read_to_string(format!("{ROOT}/worlds/ball.sdf")).unwrap();
    let region = "<headland:region name=\"low\"><pose>0 0 1 0 0 0</pose><geometry><box>\
        <size>1 1 1</size></box></geometry></headland:region>";
    let world = world.replace("<sdf ", "<sdf xmlns:headland=\"urn:headland:sdf\" ");
    let world = world.replace("</world>", &format!("{region}</world>"));
    fs::write(dir.path().join("goal.sdf"), world).unwrap();
    let test = "(machine m (state out) (state in) (state red) (state green)\n  \
        (on [ball inside: low] out -> in)\n  (on [(ball inside: low) not] in -> red)\n  \
        (on [events kind = 'condition'] *-> green))\n(spawn m out)\n";
    fs::write(dir.path().join("inside.lrp"), test).unwrap();
    let world = dir.path().join("goal.sdf");
    // Into the region at 1.5 m, and out of it again after the bounce.
    let (live, after) = both(dir.path(), &world, "inside.lrp", &["--duration", "2"]);
    assert_eq!((&live["verdict"], &live["reason"]), (&"red".into(), &"in -> red".into()), "{live}");
    assert_eq!(live["time_secs"], after["time_secs"]);
    let (live, after) = both(dir.path(), &world, "inside.lrp", &["--until", "ball/pose/z < 1"]);
    assert_eq!((&live["verdict"], &after["verdict"]), (&"green".into(), &"green".into()), "{live}");
    assert_eq!(live["time_secs"], after["time_secs"]);
}

#[test]
fn a_simulation_that_broke_its_rules_passes_no_test() {
    let dir = folder();
    let lost = r#"<sdf version="1.11" xmlns:headland="urn:headland:sdf"><world name="lost">
        <model name="lost"><link name="link">
        <headland:twist>1e308 1e308 0 0 0 0</headland:twist>
        <inertial auto="true"><density>1000</density></inertial>
        <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
        </link></model></world></sdf>"#;
    fs::write(dir.path().join("lost.sdf"), lost).unwrap();
    let ends = "(machine m (state a) (state green) (on [recording time >= stopTime] a -> green))\n\
        (spawn m a)\n";
    fs::write(dir.path().join("ends.lrp"), ends).unwrap();
    let args =
        ["run", "lost.sdf", "--test", "ends.lrp", "--duration", "3", "--json", "-o", "l.mcap"];
    let run = expect(dir.path(), &args, 3);
    let live: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let after = expect(dir.path(), &["test", "ends.lrp", "--on", "l.mcap", "--json"], 3);
    let after: Value = serde_json::from_slice(&after.stdout).expect("JSON");
    for (judged, key) in [(&live, "verdicts"), (&after, "results")] {
        assert_eq!(judged[key][0]["verdict"], "inconclusive", "{judged}");
        let reason = judged[key][0]["reason"].as_str().expect("a reason");
        assert!(reason.contains("lost::link: position or velocity went non-finite"), "{reason}");
    }
    assert_eq!(live["verdicts"][0]["time_secs"], after["results"][0]["time_secs"]);
}

#[test]
fn a_red_test_ends_the_run_and_is_in_the_recording() {
    let dir = folder();
    let ball = format!("{ROOT}/worlds/ball.sdf");
    let args = ["run", &ball, "--test", "red.lrp", "--stop-on-red", "-o", "a.mcap", "--json"];
    let output = expect(dir.path(), &args, 1);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["verdicts"][0]["verdict"], "red");
    assert_eq!(json["ended"], "a test is red");
    let simulated = json["simulated_secs"].as_f64().unwrap();
    let red = json["verdicts"][0]["time_secs"].as_f64().unwrap();
    assert!(simulated - red < 0.0025, "red at {red}, ended at {simulated}");
    let said = expect(dir.path(), &["cat", "a.mcap", "--topic", "/verdicts"], 0);
    let said: Value = serde_json::from_slice(&said.stdout).expect("one verdict");
    assert_eq!(said["message"]["kind"], "red");
    assert_eq!(said["message"]["source"], "red.lrp");
    let info = text(&expect(dir.path(), &["info", "a.mcap"], 0).stdout);
    assert!(info.contains("red.lrp"), "attached: {info}");
    // What looks ahead cannot be judged as a run goes on, and is refused before it starts.
    let args = ["run", &ball, "--test", "low.stl", "-o", "b.mcap"];
    let said = text(&expect(dir.path(), &args, 2).stderr);
    assert!(said.contains("formula-looks-ahead"), "{said}");
    let args = ["run", &ball, "--test", "broken.lrp", "gone.lrp", "-o", "b.mcap"];
    assert!(text(&expect(dir.path(), &args, 2).stderr).contains("gone.lrp"));
    let args = ["run", &ball, "--test", "broken.lrp", "-o", "b.mcap"];
    assert!(text(&expect(dir.path(), &args, 2).stderr).contains("broken.lrp:1:"));
    expect(dir.path(), &["run", &ball, "--test", "green.lrp", "-o", "green.lrp"], 2);
    assert!(!dir.path().join("b.mcap").exists());
}
