//! `headland tune` from outside: what it finds in the measurements that ship, what it writes, what
//! it refuses, and that a search goes on where it was left.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{ROOT, expect, json, text};
use serde_json::Value;
use tempfile::TempDir;

const DAMPING: &str = "joint/hinge/dynamics/damping";

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn pendulum() -> [String; 2] {
    [format!("{ROOT}/worlds/pendulum.sdf"), format!("{ROOT}/worlds/measured/pendulum.csv")]
}

fn number<'v>(found: &'v Value, path: &str) -> &'v Value {
    let all = found["parameters"].as_array().expect("a list");
    all.iter().find(|one| one["path"] == path).unwrap_or_else(|| panic!("no {path} in {found}"))
}

/// Whether the truth lies in the interval, and the interval says something.
fn holds(found: &Value, path: &str, truth: f64) -> bool {
    let one = number(found, path);
    let (value, half) = (one["value"].as_f64().unwrap(), one["half_width"].as_f64().unwrap());
    (value - truth).abs() <= half && half < 0.3 * truth
}

#[test]
fn the_pendulum_that_ships_is_tuned_and_written() {
    let (dir, [model, table]) = (folder(), pendulum());
    let param = format!("{DAMPING}=0..1");
    let args = ["tune", &model, &table, "--param", &param, "-o", "tuned.sdf", "--json"];
    let reports =
        ["--report", "r.html", "--report", "r.md", "--report", "r.json", "--report", "r.txt"];
    let found = json(&expect(dir.path(), &[&args[..], &reports].concat(), 0).stdout);
    assert!(holds(&found, DAMPING, 0.08), "{found}");
    assert_eq!(found["converged"], true);
    let written: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("r.json")).unwrap()).unwrap();
    assert_eq!(written, found);
    for (name, word) in [("r.html", "</html>"), ("r.md", "# "), ("r.txt", "rmse before")] {
        let text = fs::read_to_string(dir.path().join(name)).unwrap();
        assert!(text.contains(word) && text.contains(DAMPING), "{name}: {text:.400}");
    }
    // The page draws both keys, before and after, and how the search went.
    let page = fs::read_to_string(dir.path().join("r.html")).unwrap();
    for drawn in
        ["hinge/position [rad]", "hinge/velocity [rad/s]", "error that is left", "least error"]
    {
        assert!(page.contains(drawn), "{drawn}");
    }
    assert_eq!(page.matches("<path class=\"curve l1 d1\"").count(), 4, "before, twice per key");
    let search = found["search"].as_array().unwrap();
    let rms = |point: Option<&Value>| point.unwrap()["rms"].as_f64().unwrap();
    assert!((rms(search.last()) - found["rms"]["after"].as_f64().unwrap()).abs() < 1e-12);
    assert!(rms(search.first()) > rms(search.last()), "{search:?}");
    // The tuned model is as good as the search says.
    let value = number(&found, DAMPING)["value"].as_f64().unwrap();
    let listed = expect(dir.path(), &["tune", "tuned.sdf", "--list", "--json"], 0);
    let listed = json(&listed.stdout);
    let listed = listed.as_array().unwrap().iter().find(|one| one["path"] == DAMPING).unwrap();
    assert_eq!(listed["value"].as_f64(), Some(value));
    // Threads change nothing.
    let again = ["tune", &model, &table, "--param", &param, "--threads", "1", "--json"];
    assert_eq!(json(&expect(dir.path(), &again, 0).stdout)["parameters"], found["parameters"]);
}

#[test]
fn an_arm_with_commands_is_tuned_in_four_numbers() {
    let dir = folder();
    let measured = |name: &str| format!("{ROOT}/worlds/measured/{name}");
    let (model, table, told) =
        (measured("arm.sdf"), measured("arm.csv"), measured("arm_commands.csv"));
    let args = [
        "tune",
        &model,
        &table,
        "-c",
        &told,
        "--json",
        "-o",
        "tuned.sdf",
        "-p",
        "link/forearm/inertial/mass=0.5..3",
        "-p",
        "joint/shoulder/dynamics/damping=0..3",
        "-p",
        "joint/elbow/dynamics/friction=0..2",
        "-p",
        "command/delay=0..0.1",
    ];
    // Also at the model's own step, where steps move numbers much further than noise does.
    for step in [&["--step", "0.00025"][..], &[]] {
        let output = expect(dir.path(), &[&args[..], step].concat(), 0);
        let found = json(&output.stdout);
        for (path, truth) in [
            ("link/forearm/inertial/mass", 1.4),
            ("joint/shoulder/dynamics/damping", 0.8),
            ("joint/elbow/dynamics/friction", 0.3),
            ("command/delay", 0.02),
        ] {
            assert!(holds(&found, path, truth), "{path} is {truth}: {found}");
            let half = |name: &str| number(&found, path)[name].as_f64().unwrap();
            assert!(half("joint_half_width") > half("half_width"), "{path}: {found}");
        }
        assert!(text(&output.stderr).contains("step-error"), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("beside-the-model"), "{}", text(&output.stderr));
    }
}

/// What the engine itself did is found again, though the best delay of the model as it is given is
/// far from the true one and slopes lead from there to an error of 0.045 and no further.
#[test]
fn a_search_in_the_wrong_dip_is_begun_elsewhere() {
    let dir = folder();
    let measured = |name: &str| format!("{ROOT}/worlds/measured/{name}");
    let (model, table, told) =
        (measured("arm.sdf"), measured("arm.csv"), measured("arm_commands.csv"));
    let truth = [
        ("link/forearm/inertial/mass", 1.156, "0.5..3"),
        ("joint/shoulder/dynamics/damping", 1.251, "0..3"),
        ("joint/elbow/dynamics/friction", 0.436, "0..2"),
        ("command/delay", 0.044, "0..0.1"),
    ];
    let sets = truth.map(|(path, value, _)| format!("--set={path}={value}"));
    let repeat = ["validate", &model, &table, "-c", &told, "-f", "did.csv"];
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    expect(dir.path(), &[&repeat[..], &sets].concat(), 0);
    let params = truth.map(|(path, _, range)| format!("--param={path}={range}"));
    let tune = ["tune", &model, "did.csv", "-c", &told, "--json"];
    let params: Vec<&str> = params.iter().map(String::as_str).collect();
    let output = expect(dir.path(), &[&tune[..], &params].concat(), 0);
    let found = json(&output.stdout);
    for (path, value, _) in truth {
        let off = number(&found, path)["value"].as_f64().unwrap() - value;
        assert!(off.abs() < 1e-6 * value, "{path}: {found}");
    }
    assert!(!text(&output.stderr).contains("waves-left"), "{}", text(&output.stderr));
    // One number of four cannot do it, and that is said.
    let output = expect(dir.path(), &[&tune[..], &params[1..2]].concat(), 3);
    assert!(text(&output.stderr).contains("waves-left"), "{}", text(&output.stderr));
}

/// A pattern is asked of all tables together: one may have what another has not.
#[test]
fn a_key_that_one_table_has_and_another_has_not_is_fitted_where_it_is() {
    let (dir, [model, table]) = (folder(), pendulum());
    let rows = fs::read_to_string(&table).unwrap();
    let short = |line: &str| line.split(',').take(2).collect::<Vec<_>>().join(",");
    let positions: Vec<String> = rows.lines().map(short).collect();
    fs::write(dir.path().join("positions.csv"), positions.join("\n")).unwrap();
    let param = format!("{DAMPING}=0..1");
    let base = ["tune", &model, &table, "positions.csv", "-p", &param, "--json"];
    let both = [&base[..], &["--key", "hinge/position", "--key", "hinge/velocity"]].concat();
    let found = json(&expect(dir.path(), &both, 0).stdout);
    assert_eq!(found["errors"].as_array().unwrap().len(), 3, "{found}");
    assert!(holds(&found, DAMPING, 0.08), "{found}");
    // What no table has is an error, and so is a table of which nothing is left.
    for (key, code, names) in [
        ("hinge/positon", "unknown-key", "hinge/position"),
        ("hinge/velocity", "no-samples", "positions.csv"),
    ] {
        let output = expect(dir.path(), &[&base[..], &["--key", key]].concat(), 2);
        let said = text(&output.stderr);
        assert!(said.contains(code) && said.contains(names), "{said}");
    }
}

/// One moment is where a simulation starts: that it fits there says nothing.
#[test]
fn one_moment_that_is_held_out_is_told() {
    let (dir, [model, table]) = (folder(), pendulum());
    fs::write(dir.path().join("one.csv"), "time,hinge/position\n0,0.3\n").unwrap();
    let param = format!("{DAMPING}=0..1");
    let args = ["tune", &model, &table, "--hold", "one.csv", "-p", &param];
    let said = text(&expect(dir.path(), &args, 0).stderr);
    assert!(said.contains("one-moment") && said.contains("one.csv"), "{said}");
}

#[test]
fn a_table_is_not_fitted_and_held_out_at_once() {
    let (dir, [model, table]) = (folder(), pendulum());
    let param = format!("{DAMPING}=0..1");
    let args = ["tune", &model, &table, "--hold", &table, "-p", &param];
    let said = text(&expect(dir.path(), &args, 2).stderr);
    assert!(said.contains("held-and-fitted") && said.contains("--train"), "{said}");
}

/// Commands by another clock move nothing: `tune` says so as `validate` does.
#[test]
fn commands_on_another_clock_are_told() {
    let dir = folder();
    let measured = |name: &str| format!("{ROOT}/worlds/measured/{name}");
    let told = fs::read_to_string(measured("arm_commands.csv")).unwrap();
    let mut lines = told.lines();
    let mut later = format!("{}\n", lines.next().unwrap());
    for line in lines {
        let (time, rest) = line.split_once(',').unwrap();
        later += &format!("{},{rest}\n", time.parse::<f64>().unwrap() + 1000.0);
    }
    fs::write(dir.path().join("later.csv"), later).unwrap();
    let (model, table) = (measured("arm.sdf"), measured("arm.csv"));
    let param = "joint/shoulder/dynamics/damping=0..3";
    let args = ["tune", &model, &table, "-c", "later.csv", "-p", param, "--most", "3"];
    let output = expect(dir.path(), &args, 3);
    let said = text(&output.stderr);
    assert!(said.contains("clocks-apart") && said.contains("1000"), "{said}");
}

/// Left after a few simulations and carried on: the same numbers as in one go.
#[test]
fn a_search_goes_on_where_it_was_left() {
    let (dir, [model, table]) = (folder(), pendulum());
    let param = format!("{DAMPING}=0..1");
    let base = ["tune", &model, &table, "--param", &param, "--json"];
    let whole = json(&expect(dir.path(), &base, 0).stdout);
    let parts = [&base[..], &["--resume", "search.json"]].concat();
    let left = [&parts[..], &["--most", "4"]].concat();
    let first = json(&expect(dir.path(), &left, 3).stdout);
    assert_eq!(first["converged"], false);
    let last = json(&expect(dir.path(), &parts, 0).stdout);
    assert_eq!(last, whole);
    // One that has ended says the same again.
    assert_eq!(json(&expect(dir.path(), &parts, 0).stdout), whole);
    // Another problem's search is refused.
    let other = [
        "tune",
        &model,
        &table,
        "--param",
        "joint/hinge/dynamics/damping=0..2",
        "--resume",
        "search.json",
    ];
    assert!(text(&expect(dir.path(), &other, 2).stderr).contains("other-search"));
}

/// So many steps per simulation that there is time to break one off.
const SLOW: [&str; 6] =
    ["--step", "1e-4", "--param", "joint/hinge/dynamics/damping=0..1", "--resume", "s.json"];

/// Ctrl-C within a simulation ends the search at once, with the best numbers so far.
#[test]
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "how soon it ends is what is asked")]
fn a_search_that_is_interrupted_ends_at_once() {
    let (dir, [model, table]) = (folder(), pendulum());
    let args = [&["tune", &model, &table][..], &SLOW, &["--json"]].concat();
    let child = started(dir.path(), &args);
    wait_for(&dir.path().join("s.json"));
    let began = std::time::Instant::now();
    signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed().as_secs_f64() < 2.0, "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the best values so far"), "{}", text(&output.stderr));
    let found = json(&output.stdout);
    assert_eq!(number(&found, DAMPING)["half_width"], Value::Null);
    assert_eq!(found["ended"], "interrupted");
}

/// Delays are tried before the search begins: then there are no values yet, and that is said.
#[test]
#[cfg(unix)]
fn a_look_at_delays_that_is_interrupted_is_told() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let dir = folder();
    let [model, table, commands] = ["arm.sdf", "arm.csv", "arm_commands.csv"]
        .map(|name| format!("{}/worlds/measured/{name}", ROOT));
    let delay = ["--param", "command/delay=0..0.1", "--start-as-measured", "--step", "5e-6"];
    let args = [&["tune", &model, &table, "-c", &commands][..], &delay].concat();
    let mut child = started(dir.path(), &args);
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    // The last that is said before the first delay is tried.
    while !line.starts_with("warning[start-as-measured]") {
        line.clear();
        assert!(said.read_line(&mut line).expect("read") > 0, "it ended");
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    signal("-INT", child.id());
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("read");
    assert_eq!(child.wait().expect("ended").code(), Some(3), "{rest}");
    let words = "interrupted while delays were tried all over their range, before the search";
    assert!(rest.contains(words) && rest.contains("begins that anew"), "{rest}");
}

/// Who is killed leaves the search of the last round, whole.
#[test]
#[cfg(unix)]
fn a_search_that_is_killed_goes_on_from_its_last_round() {
    let (dir, [model, table]) = (folder(), pendulum());
    let args = [&["tune", &model, &table][..], &SLOW].concat();
    let mut child = started(dir.path(), &args);
    wait_for(&dir.path().join("s.json"));
    child.kill().unwrap();
    child.wait().unwrap();
    let left: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("s.json")).unwrap()).unwrap();
    let n_rounds = left["search"]["n_rounds"].as_u64().unwrap();
    assert!(n_rounds >= 1, "{left}");
    // Allowed no more than it has had, it ends where it was left.
    let most = left["search"]["n_evaluations"].to_string();
    let found =
        json(&expect(dir.path(), &[&args[..], &["--most", &most, "--json"]].concat(), 3).stdout);
    assert_eq!(number(&found, DAMPING)["value"], left["search"]["x"][0]);
}

#[cfg(unix)]
fn started(dir: &std::path::Path, args: &[&str]) -> std::process::Child {
    let piped = std::process::Stdio::piped;
    common::headland(dir).args(args).stdout(piped()).stderr(piped()).spawn().expect("starts")
}

#[cfg(unix)]
fn wait_for(file: &std::path::Path) {
    for _ in 0..6000 {
        if file.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{} was never written", file.display());
}

#[cfg(unix)]
fn signal(name: &str, id: u32) {
    let told = std::process::Command::new("kill").args([name, &id.to_string()]).status();
    assert!(told.expect("kill runs").success());
}

/// Keys under other names are found by a map.
#[test]
fn keys_get_new_names() {
    let (dir, [model, table]) = (folder(), pendulum());
    let renamed = fs::read_to_string(&table).unwrap().replace("hinge/", "axle/");
    fs::write(dir.path().join("t.csv"), renamed).unwrap();
    fs::write(dir.path().join("keys.txt"), "axle/* -> hinge/*\n").unwrap();
    let param = format!("{DAMPING}=0..1");
    let base = ["tune", &model, "t.csv", "--param", &param, "--json"];
    let said = text(&expect(dir.path(), &base, 2).stderr);
    assert!(said.contains("--map"), "{said}");
    let found = json(&expect(dir.path(), &[&base[..], &["--map", "keys.txt"]].concat(), 0).stdout);
    assert!(holds(&found, DAMPING, 0.08), "{found}");
}

#[test]
fn what_cannot_be_tuned_is_refused_in_words() {
    let (dir, [model, table]) = (folder(), pendulum());
    for (more, word) in [
        (&[][..], "nothing-to-tune"),
        (
            &["--param", "joint/hinge/dynamics/dampin=0..1"],
            "did you mean `joint/hinge/dynamics/damping`?",
        ),
        (&["--param", "joint/hinge/dynamics/damping=1..0"], "bad-bounds"),
        (&["--param", "joint/hinge/dynamics/damping=0..inf"], "both ends are numbers"),
        (&["--inertia", "bob"], "LINK=FACTOR"),
        (&["--inertia", "bab=2"], "did you mean `bob`?"),
        (&["--param", "command/delay=0..0.1"], "no-commands"),
        (&["--param", "gains/kp=0..10"], "no-commands"),
        (&["--param", "physics/step=0.001..0.01", "--step", "0.001"], "bad-option"),
        (&["--param", "joint/hinge/dynamics/damping=0..1", "-o", "no/folder.sdf"], "not-created"),
        (&["--param", "joint/hinge/dynamics/damping=0..1", "--report", "a/r.md"], "not-created"),
        (&["--param", "joint/hinge/dynamics/damping"], "PATH=LOW..HIGH"),
        (&["--param", "joint/hinge/dynamics/damping=0..1", "--report", "r.pdf"], "which-format"),
        (&["--param", "joint/hinge/dynamics/damping=0..1", "--engine", "nothing"], "nothing"),
        (
            &["--param", "joint/hinge/dynamics/damping=0..1", "-c", "a.csv", "-c", "b.csv"],
            "once for all",
        ),
        (
            &["--param", "joint/hinge/dynamics/damping=0..1", "--key", "hinge/positon"],
            "did you mean `hinge/position`?",
        ),
        (
            &["--param", "link/bob/inertial/mass=0.5..2", "--inertia", "bob=2"],
            "set the same number",
        ),
        (
            &["--param", "joint/hinge/dynamics/damping=0..1", "-o", "x.md", "--report", "./x.md"],
            "written twice",
        ),
    ] {
        let args = [&["tune", &model, &table][..], more].concat();
        let done = expect(dir.path(), &args, 2);
        let said = text(&done.stderr);
        assert!(said.contains(word), "{more:?}: {said}");
        assert!(done.stdout.is_empty(), "{more:?}: refused before the search");
    }
}

/// Too little to say anything is inconclusive, as with `validate`.
#[test]
fn too_few_samples_are_inconclusive() {
    let (dir, [model, table]) = (folder(), pendulum());
    fs::write(dir.path().join("head.csv"), "time,hinge/position\n").unwrap();
    fs::write(dir.path().join("one.csv"), "time,hinge/position\n0,0.5\n").unwrap();
    let param = format!("{DAMPING}=0..1");
    for (args, word) in [
        (&["head.csv"][..], "no-samples"),
        (&["one.csv"], "too-few-samples"),
        (&[&table, "--start", "99"], "no-samples"),
    ] {
        let args = [&["tune", &model, "--param", &param][..], args].concat();
        let said = text(&expect(dir.path(), &args, 3).stderr);
        assert!(said.contains(word), "{args:?}: {said}");
    }
}

fn rms(found: &Value, when: &str) -> f64 {
    found["rms"][when].as_f64().unwrap_or_else(|| panic!("no {when} in {found}"))
}

/// The given model is the first point of a search, and no more simulations are made than allowed.
#[test]
fn a_search_ends_no_worse_than_it_began_and_keeps_to_its_limit() {
    let (dir, [model, table]) = (folder(), pendulum());
    let param = format!("{DAMPING}=0..1");
    // By another road: the given model from where it was measured.
    let as_given = ["tune", &model, &table, "--param", &param, "--start-as-measured", "--json"];
    let given = rms(&json(&expect(dir.path(), &as_given, 0).stdout), "before");
    for method in ["lm", "cma"] {
        for most in [1, 2, 7, 20] {
            let most_word = most.to_string();
            let limit = ["--method", method, "--most", &most_word, "--json"];
            let args = [&["tune", &model, &table, "--param", &param][..], &limit].concat();
            // A few are enough for nobody; slopes end within twenty.
            let code = if (method, most) == ("lm", 20) { 0 } else { 3 };
            let found = json(&expect(dir.path(), &args, code).stdout);
            let first = found["search"][0]["rms"].as_f64().unwrap();
            assert!((first / given - 1.0).abs() < 1e-9, "{method} {most}: {found}");
            assert!(rms(&found, "after") <= first, "{method} {most}: {found}");
            assert!(found["n_simulations"].as_u64().unwrap() <= most, "{method} {most}: {found}");
            // Looking at the answer takes some more, and not many.
            let after = found["n_simulations_after"].as_u64().unwrap();
            assert!((1..=60).contains(&after), "{method} {most}: {found}");
        }
    }
}

/// A start that fits better is credited to no number: friction of what touches nothing gains
/// nothing. Bounds that do not hold what the model has may make it worse, which is told.
#[test]
fn what_numbers_gain_is_told_apart() {
    let (dir, [model, table]) = (folder(), pendulum());
    let args = ["tune", &model, &table, "--json", "--param"];
    let found = expect(dir.path(), &[&args[..], &["surface/bob/mu=0..1"]].concat(), 3);
    let found = json(&found.stdout);
    let (before, after) = (rms(&found, "before"), rms(&found, "after"));
    assert!((after / before - 1.0).abs() < 1e-3, "{before} {after}");
    assert!(before < 0.1972, "its start was looked for");
    let outside = format!("{DAMPING}=0.5..1");
    let done = expect(dir.path(), &[&args[..], &[&outside]].concat(), 3);
    let (found, said) = (json(&done.stdout), text(&done.stderr));
    assert!(rms(&found, "after") > rms(&found, "before"), "{found}");
    for word in ["outside-bounds", "worse-than-given", "stands at its lower bound 0.5"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

/// Noise that is counted twice looks like half the noise.
#[test]
fn a_table_that_is_given_twice_is_counted_once() {
    let (dir, [model, table]) = (folder(), pendulum());
    fs::copy(&table, dir.path().join("copy.csv")).unwrap();
    let param = format!("{DAMPING}=0..1");
    let args = ["tune", &model, &table, "--param", &param, "--json"];
    let once = json(&expect(dir.path(), &args, 0).stdout);
    let done = expect(dir.path(), &[&args[..], &["copy.csv"]].concat(), 0);
    assert!(text(&done.stderr).contains("table-twice"), "{}", text(&done.stderr));
    assert_eq!(json(&done.stdout)["parameters"], once["parameters"]);
    // The one that was left out is not said to be fitted.
    assert_eq!(json(&done.stdout)["made"]["fitted to"], once["made"]["fitted to"]);
    // What was fitted says nothing of what was not, under whatever name.
    let done = expect(dir.path(), &[&args[..], &["--hold", "copy.csv"]].concat(), 2);
    assert!(text(&done.stderr).contains("held-and-fitted"), "{}", text(&done.stderr));
}

/// What is read is not written over.
#[test]
fn a_map_is_not_replaced_by_what_it_was_read_for() {
    let (dir, [model, table]) = (folder(), pendulum());
    fs::write(dir.path().join("map.txt"), "hinge/position -> hinge/position\n").unwrap();
    let param = format!("{DAMPING}=0..1");
    let args = ["tune", &model, &table, "--param", &param, "--map", "map.txt"];
    for out in [["-o", "map.txt"], ["--report", "map.txt"], ["--resume", "map.txt"]] {
        let said = text(&expect(dir.path(), &[&args[..], &out].concat(), 2).stderr);
        assert!(said.contains("same-file"), "{out:?}: {said}");
    }
    let range = ["--start", "2", "--end", "1"];
    let said = text(&expect(dir.path(), &[&args[..], &range].concat(), 2).stderr);
    assert!(said.contains("bad-option"), "{said}");
}

#[test]
fn the_keys_that_are_named_are_fitted() {
    let (dir, [model, table]) = (folder(), pendulum());
    let param = format!("{DAMPING}=0..1");
    let args = ["tune", &model, &table, "--param", &param, "--json", "--key", "*/position"];
    let found = json(&expect(dir.path(), &args, 0).stdout);
    let keys: Vec<&Value> =
        found["errors"].as_array().unwrap().iter().map(|error| &error["key"]).collect();
    assert_eq!(keys, ["hinge/position"]);
    assert!(holds(&found, DAMPING, 0.08), "{found}");
}

/// Where a search could not be put away, that is told before it is made.
#[test]
fn a_place_that_takes_no_search_is_refused() {
    let (dir, [model, table]) = (folder(), pendulum());
    let param = format!("{DAMPING}=0..1");
    let args = ["tune", &model, &table, "--param", &param, "--json", "-o", "tuned.sdf"];
    // A place that takes no file is told before the search, and nothing is done.
    let nowhere = ["--resume", "no/such/folder/search.json"];
    let output = expect(dir.path(), &[&args[..], &nowhere].concat(), 2);
    let said = text(&output.stderr);
    assert!(said.contains("not-created") && said.contains("search.json"), "{said}");
    assert!(output.stdout.is_empty() && !dir.path().join("tuned.sdf").exists());
}

/// A search that ran out of simulations is not sure of anything.
#[test]
fn numbers_on_the_way_have_no_intervals() {
    let (dir, [model, table]) = (folder(), pendulum());
    let param = format!("{DAMPING}=0..1");
    let args = ["tune", &model, &table, "--param", &param, "--json", "--most", "5"];
    let found = json(&expect(dir.path(), &args, 3).stdout);
    assert_eq!(number(&found, DAMPING)["half_width"], Value::Null);
}

/// Engines of others repeat an experiment as well as our own.
#[test]
fn a_model_is_tuned_on_an_engine_of_others() {
    let (dir, [model, table]) = (folder(), pendulum());
    let param = format!("{DAMPING}=0..1");
    if common::has("mujoco") {
        let args = ["tune", &model, &table, "--param", &param, "--json", "--engine", "mujoco"];
        let found = json(&expect(dir.path(), &args, 0).stdout);
        assert!(holds(&found, DAMPING, 0.08), "{found}");
    }
}

/// A first run may be too short to look at delays; the run that goes on does, and ends the same.
#[test]
fn delays_are_looked_at_once_there_is_room() {
    let dir = folder();
    let [model, table, told] = ["arm.sdf", "arm.csv", "arm_commands.csv"]
        .map(|file| format!("{ROOT}/worlds/measured/{file}"));
    let args = ["tune", &model, &table, "-c", &told, "-p", "command/delay=0..0.1", "--json"];
    // A delay alone does not make the arm right, which is told.
    let whole = json(&expect(dir.path(), &args, 3).stdout);
    let resumed = [&args[..], &["--resume", "s.json"]].concat();
    expect(dir.path(), &[&resumed[..], &["--most", "20"]].concat(), 3);
    let is_scanned = || {
        let left = fs::read_to_string(dir.path().join("s.json")).unwrap();
        serde_json::from_str::<Value>(&left).unwrap()["is_scanned"].clone()
    };
    assert_eq!(is_scanned(), false);
    let found = json(&expect(dir.path(), &resumed, 3).stdout);
    assert_eq!(is_scanned(), true);
    let [once, twice] =
        [&whole, &found].map(|found| number(found, "command/delay")["value"].as_f64().unwrap());
    assert!((once - twice).abs() < 1e-4, "{once} {twice}");
}

/// Warnings that say not to trust an answer are no success; others may stand beside one.
#[test]
fn an_answer_that_is_not_to_be_trusted_ends_with_three() {
    let (dir, [model, table]) = (folder(), pendulum());
    let tuned = |params: &[&str], code: i32| {
        let mut args = vec!["tune", &model, &table, "--json"];
        params.iter().for_each(|param| args.extend(["-p", *param]));
        json(&expect(dir.path(), &args, code).stdout)
    };
    let damping = format!("{DAMPING}=0..1");
    let (low, mass) = (format!("{DAMPING}=0..0.05"), "link/bob/inertial/mass=0.5..2");
    let trace = "link/bob/inertial/inertia/trace=0.01..0.1";
    for (params, code, warning) in [
        (&[damping.as_str()][..], 0, None),
        (&[low.as_str()], 3, Some("at-bound")),
        (&[mass, trace, &damping], 3, Some("not-seen")),
    ] {
        let found = tuned(params, code);
        assert_eq!(found["trusted"], code == 0, "{params:?}: {found}");
        assert_eq!(found["converged"], true, "{params:?}");
        let warnings = found["warnings"].as_array().unwrap();
        let has = |code: &str| warnings.iter().any(|one| one["code"] == code);
        assert!(warning.is_none_or(has), "{params:?}: {warnings:?}");
    }
}

/// The friction of the cube that ships is 0.25; whoever looks for it in windows is told an interval
/// that holds it, however the windows are cut, by either method and whatever the seed.
///
/// The data pin it to a twentieth. What steps of a millisecond add is as much or more, and differs
/// from dip to dip of a rough error, for the cube lands on its corners: which dip the search ends in
/// hangs by the windows, and the interval says so.
#[test]
fn the_friction_of_the_cube_that_ships_lies_in_its_interval() {
    let dir = folder();
    let measured = |name: &str| format!("{ROOT}/worlds/measured/{name}");
    let (model, table) = (measured("cube.sdf"), measured("cube.csv"));
    for (window, how, widest) in [
        ("0.15", &[][..], 0.3),
        ("0.3", &[], 0.15),
        ("0.3", &["--method", "cma", "--seed", "1"], 0.15),
        ("0.3", &["--method", "cma", "--seed", "3"], 0.15),
    ] {
        let args =
            ["tune", &model, &table, "--window", window, "-p", "surface/*/mu*=0.05..1", "--json"];
        let found = json(&expect(dir.path(), &[&args[..], how].concat(), 3).stdout);
        let one = number(&found, "surface/*/mu*");
        let (value, half) = (one["value"].as_f64().unwrap(), one["half_width"].as_f64().unwrap());
        assert!((value - 0.25).abs() <= half && half < widest, "{window} {how:?}: {one}");
        assert!((value - 0.25).abs() < 0.04, "{window} {how:?}: {one}");
        let by_data = half - one["step_shift"].as_f64().unwrap().abs();
        assert!(by_data < 0.05, "{window} {how:?}: {one}");
    }
}

#[test]
fn options_that_change_nothing_are_told() {
    let (dir, [model, table]) = (folder(), pendulum());
    let param = format!("{DAMPING}=0..1");
    let args = ["tune", &model, &table, "-p", &param];
    let quiet = text(&expect(dir.path(), &args, 0).stderr);
    assert!(!quiet.contains("option-ignored"), "{quiet}");
    let said = text(&expect(dir.path(), &[&args[..], &["--seed", "7"]].concat(), 0).stderr);
    assert!(said.contains("option-ignored") && said.contains("`--seed`"), "{said}");
    let windows = ["--window", "2", "--start-as-measured"];
    let output = common::headland(dir.path()).args([&args[..], &windows].concat()).output();
    let said = text(&output.unwrap().stderr);
    assert!(said.contains("`--start-as-measured` changes nothing"), "{said}");
}

/// The tuned model is the file that was given with other numbers in it.
#[test]
fn comments_of_the_model_stay_in_the_tuned_one() {
    let (dir, [model, table]) = (folder(), pendulum());
    let param = format!("{DAMPING}=0..1");
    expect(dir.path(), &["tune", &model, &table, "-p", &param, "-o", "tuned.sdf"], 0);
    let tuned = fs::read_to_string(dir.path().join("tuned.sdf")).unwrap();
    let given = fs::read_to_string(&model).unwrap();
    let is_new = |line: &&str| !given.lines().any(|old| old == *line);
    let new: Vec<&str> = tuned.lines().filter(is_new).collect();
    assert!(new.len() == 1 && new[0].contains("<dynamics><damping>0.08"), "{new:?}");
    assert!(given.lines().all(|old| tuned.contains(old)), "{tuned}");
    // What stands nowhere in the file is written anew, and told.
    let armature = "joint/hinge/dynamics/armature=0..1";
    let args = ["tune", &model, &table, "-p", armature, "-o", "anew.sdf"];
    let said = text(&common::headland(dir.path()).args(args).output().unwrap().stderr);
    assert!(said.contains("note[comments-lost]"), "{said}");
}
