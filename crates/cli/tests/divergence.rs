//! A robot that leaves the finite: the exit code, the words, the JSON and the recording say which
//! one and when, and the others are recorded to the end.

mod common;

use common::{expect, text};
use serde_json::Value;

/// Two arms on hinges, of which the second is told an effort that nothing can follow.
fn folder() -> tempfile::TempDir {
    let arm = |name: &str, x: f64| {
        format!(
            r#"<model name="{name}"><pose>{x} 0 2 0 0 0</pose>
            <link name="arm"><pose>0 0 -0.5 0 0 0</pose><inertial><mass>1</mass><inertia>
            <ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
            <joint name="hinge" type="continuous"><parent>world</parent><child>arm</child>
            <pose>0 0 0.5 0 0 0</pose><axis><xyz>0 1 0</xyz></axis></joint></model>"#
        )
    };
    let world = format!(
        r#"<sdf version="1.11"><world name="arms">{}{}</world></sdf>"#,
        arm("sound", 0.0),
        arm("lost", 2.0)
    );
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("arms.sdf"), world).expect("written");
    let table = "time,sound::hinge/effort,lost::hinge/effort\n0,1,1\n0.1,1,1e300\n";
    std::fs::write(dir.path().join("efforts.csv"), table).expect("written");
    dir
}

#[test]
fn a_robot_that_leaves_is_named_with_its_moment_and_the_others_go_on() {
    let dir = folder();
    let run = ["run", "arms.sdf", "--engine", "native", "--duration", "0.5"];
    let run = [&run[..], &["--command", "efforts.csv", "-o", "arms.mcap", "--json"]].concat();
    let output = expect(dir.path(), &run, 3);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(json["non_finite"], serde_json::json!(["lost::arm"]), "{json}");
    assert_eq!(json["steps"], 500, "{json}");
    let said = text(&output.stderr);
    assert!(
        said.contains("link `lost::arm` went non-finite or beyond measure at 0.101 s"),
        "{said}"
    );
    let events = expect(dir.path(), &["cat", "arms.mcap", "--topic", "/events"], 0);
    let event: Value = serde_json::from_slice(&events.stdout).expect("one event");
    assert_eq!(event["time_ns"], 101_000_000, "{event}");
    assert_eq!(event["message"]["source"], "lost::arm");
    assert_eq!(event["message"]["kind"], "non-finite");
    // A recording read back ends where the run did, and who was not lost moves in it to the end.
    expect(dir.path(), &["export", "arms.mcap", "--to", "csv", "-o", "arms.csv"], 0);
    let table = std::fs::read_to_string(dir.path().join("arms.csv")).expect("a table");
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let column = |name: &str| {
        let found = names.iter().position(|column| *column == name);
        found.unwrap_or_else(|| panic!("no {name} in {names:?}"))
    };
    let (time, sound, lost) =
        (column("time"), column("sound/angular_vel/y"), column("lost/angular_vel/y"));
    let last: Vec<&str> = lines.last().expect("rows").split(',').collect();
    assert_eq!(last[time], "0.500000000");
    assert!(last[sound].parse::<f64>().expect("a number").abs() > 0.1, "{}", last[sound]);
    assert_eq!(last[lost].parse::<f64>().expect("a number"), 0.0);
}
