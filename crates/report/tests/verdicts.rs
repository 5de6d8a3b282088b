//! Verdicts as text, JSON, XML and HTML, over real judgements of small logs.

use std::sync::Arc;

use headland_base::{Findings, SimTime, Source, Transform, Vec3};
use headland_judge::lang::parse;
use headland_judge::{JudgeOptions, Scene, compile, explain, margin, timeline};
use headland_record::{Data, Recording, Track};
use headland_report::{
    Cell, Judged, Matrix, Row, cell_text, explained, junit, matrix, page, summary, verdicts_json,
};

/// A ball at these heights, one every millisecond.
fn heights(heights: impl Iterator<Item = f64>) -> Arc<Scene> {
    let pose = |z: f64| Transform { translation: Vec3::new(0.0, 0.0, z), ..Transform::IDENTITY };
    let poses: Vec<Transform> = heights.map(pose).collect();
    let times = (0i64..).map(|i| SimTime::from_nanos(i * 1_000_000)).take(poses.len()).collect();
    let name = "geometry_msgs/msg/PoseStamped";
    let track = Track::new(name, "world", times, Data::Poses(poses));
    let mut recording = Recording::new();
    recording.insert("/ball/pose", track.expect("as many poses as times"));
    Arc::new(Scene::new(recording))
}

/// A ball that falls from 3 m by 1 m/s, over `n` snapshots.
fn log(n: u32) -> Arc<Scene> {
    heights((0..n).map(|i| 3.0 - f64::from(i) * 1e-3))
}

fn judged(test: &str, scene: &Arc<Scene>) -> Cell {
    let mut findings = Findings::new();
    let program = parse(&Source::new("a<b>.lrp", test), &mut findings);
    let import = |_: &str| unreachable!("nothing is imported");
    let code = compile(&program, scene.vocabulary(), &import, &mut findings);
    let (judgement, timeline) = timeline(&code, scene, &JudgeOptions::default());
    let sureness = margin(&code, scene, &judgement);
    let explanations = explain(&code, scene, &judgement);
    let (code, scene) = (Arc::new(code), Arc::clone(scene));
    let timeline = Some(timeline);
    Cell::Judged(Box::new(Judged { code, scene, judgement, sureness, explanations, timeline }))
}

fn above(limit: f64) -> String {
    format!(
        "(machine m (state a) (state red) (state green)\n  (on [ball pose z < {limit}] a -> red)\n  \
         (on [recording time >= stopTime] a -> green))\n(spawn m a)"
    )
}

fn table(names: &[&str], scenes: &[Arc<Scene>], limits: &[f64]) -> Matrix {
    let row = |limit: &f64| Row {
        test: format!("above-{limit}.lrp"),
        cells: scenes.iter().map(|scene| judged(&above(*limit), scene)).collect(),
        coverage: None,
        survivors: None,
    };
    let recordings = names.iter().map(|name| (*name).to_string()).collect();
    Matrix { recordings, rows: limits.iter().map(row).collect() }
}

#[test]
fn a_cell_has_the_verdict_the_moment_and_the_margin() {
    let scene = log(1001);
    // It ends at 2 m: half a metre above 1.5 m, and a quarter below 2.25 m, first at 751 ms.
    assert_eq!(cell_text(&judged(&above(1.5), &scene)), "green 500 mm");
    assert_eq!(cell_text(&judged(&above(2.25), &scene)), "red at 0.751 s by 250 mm");
    assert_eq!(cell_text(&Cell::Missing("gone".into())), "not judged");
}

/// A condition that fails each time is seen wherever verdicts are read, and is no green.
#[test]
fn action_errors_are_counted_in_the_table_and_in_junit() {
    let slip = above(1.5).replace("ball pose z", "bal pose z");
    let scene = log(3);
    let cells = vec![judged(&slip, &scene)];
    assert_eq!(cell_text(&cells[0]), "inconclusive, 3 action errors");
    let row = Row { test: "slip.lrp".into(), cells, coverage: None, survivors: None };
    let xml = junit(&Matrix { recordings: vec!["log".into()], rows: vec![row] });
    let document = roxmltree::Document::parse(&xml).expect("well-formed");
    let property = document
        .descendants()
        .find(|node| node.attribute("name") == Some("action_errors"))
        .expect("a property");
    assert_eq!(property.attribute("value"), Some("3"));
    let out = document.descendants().find(|node| node.has_tag_name("system-out")).expect("one");
    let said = out.text().expect("words");
    assert!(said.contains(":2:8, 3 times, first at 0.000 s in m:a"), "{said}");
    assert!(said.contains("did you mean `ball`?"), "{said}");
}

#[test]
fn rows_are_tests_unless_that_is_too_wide() {
    let scenes = [log(501), log(1001)];
    let small = table(&["short.csv", "long.csv"], &scenes, &[1.5, 2.25]);
    let text = matrix(&small, false);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "test            short.csv     long.csv");
    assert_eq!(lines[2], "above-1.5.lrp   green 1 m     green 500 mm");
    assert_eq!(lines[3], "above-2.25.lrp  green 250 mm  red at 0.751 s by 250 mm");
    let coloured = matrix(&small, true);
    assert!(coloured.contains("\x1b[32mgreen 1 m\x1b[0m     \x1b[32m"), "{coloured:?}");
    assert!(summary(&small, false).ends_with("a -> red\n3 green, 1 red\n"));

    let names: Vec<String> = (0..12).map(|i| format!("recordings/run-{i:02}.mcap")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many: Vec<Arc<Scene>> = (0..12).map(|_| Arc::clone(&scenes[0])).collect();
    let wide = matrix(&table(&names, &many, &[1.5]), false);
    assert!(wide.starts_with("recording               above-1.5.lrp\n"), "{wide}");
    assert_eq!(wide.lines().count(), 14);
}

#[test]
fn every_form_is_well_formed_whatever_the_names() {
    let scenes = [log(1001)];
    let mut all = table(&["a \"<&>' \u{1b}.csv"], &scenes, &[1.5, 2.25]);
    all.rows.push(Row {
        test: "gone & lost.lrp".into(),
        cells: vec![Cell::Missing("<no>".into())],
        coverage: None,
        survivors: None,
    });
    let xml = junit(&all);
    let document = roxmltree::Document::parse(&xml).expect("well-formed");
    let counts =
        ["tests", "failures", "errors"].map(|name| document.root_element().attribute(name));
    assert_eq!(counts, [Some("3"), Some("1"), Some("1")]);
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("one");
    assert!(failure.text().expect("why").contains("ball pose z < 2.25  true"), "{xml}");

    let json = verdicts_json(&all);
    assert_eq!(json["results"][1]["explanations"][0]["stretch"]["start_secs"], 0.751);
    assert_eq!(json["results"][2]["verdict"], serde_json::Value::Null);

    let html = page(&all, "build <x>");
    let body = html.split_once("<body>").expect("a body").1.replace("</html>", "");
    let body = format!("<body>{body}");
    roxmltree::Document::parse(&body).expect("every tag is closed, every text is escaped");
    assert!(explained(&all).contains("the same red with 1 snapshot alone"), "{}", explained(&all));
}

#[test]
fn a_million_snapshots_are_a_small_page() {
    let flips = "(machine m (state a) (state b) (state green)\n  (on [ball pose z < 0.5] a -> b)\n  \
        (on [ball pose z > 0.5] b -> a)\n  (on [recording time >= stopTime] *-> green))\n(spawn m a)";
    let scene = heights((0..1_000_000).map(|i| f64::from(u8::from(i % 3 == 0))));
    let matrix = Matrix {
        recordings: vec!["long".into()],
        rows: vec![Row {
            test: "flips.lrp".into(),
            cells: vec![judged(flips, &scene)],
            coverage: None,
            survivors: None,
        }],
    };
    let html = page(&matrix, "");
    assert!(html.len() < 200_000, "{} bytes", html.len());
}
