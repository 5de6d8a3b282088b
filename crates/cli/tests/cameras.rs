//! The shipped world of cameras, run and read back by readers that are not ours.
//!
//! OpenCV and the MCAP library are Python packages (`tests/foreign/requirements.txt`). Set
//! `HEADLAND_PYTHON` to an interpreter that has them; without it the test says that it was
//! skipped, and with `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.

mod common;

use std::collections::BTreeMap;
use std::process::Command;

use common::{ROOT, expect, text};

/// What a reader found out, by the first word of each line.
fn read(recording: &std::path::Path) -> Option<BTreeMap<String, Vec<String>>> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var_os("HEADLAND_REQUIRE_FOREIGN").is_some();
        assert!(!required, "HEADLAND_PYTHON is not set");
        eprintln!("skipped: HEADLAND_PYTHON is not set");
        return None;
    };
    let script = format!("{ROOT}/tests/foreign/camera_check.py");
    let output = Command::new(python).arg("-B").arg(script).arg(recording).output().expect("ran");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let line = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_string);
        let first = words.next().unwrap_or_default();
        let rest: Vec<String> = words.collect();
        match first.as_str() {
            "compressed" => (format!("{first} {}", rest[0]), rest[1..].to_vec()),
            _ => (first, rest),
        }
    };
    Some(text(&output.stdout).lines().map(line).collect())
}

#[test]
fn pictures_of_a_run_are_what_opencv_expects() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let world = format!("{ROOT}/worlds/cameras.sdf");
    let run = |threads: &str, output: &str| {
        let words = ["run", &world, "-d", "0.3", "--threads", threads, "-o", output, "-q"];
        expect(dir, &words, 0);
        std::fs::read(dir.join(output)).expect("written")
    };
    assert!(run("1", "one.mcap") == run("3", "three.mcap"), "threads change nothing");
    let Some(said) = read(&dir.join("one.mcap")) else { return };
    let number = |key: &str, i: usize| {
        said[key][i].parse::<f64>().unwrap_or_else(|_| panic!("{key}: {:?}", said[key]))
    };
    // Joints between bricks are as fine as pixels: OpenCV, which mixes four into one, leaves 1.7
    // grey levels of them when it distorts and undistorts by itself. Ours is as sharp as the other
    // picture, so it is mixed once, and less is left. That it is below one where the pattern is
    // not that fine is asked in crates/sense/tests/lens.rs.
    let (ours, alone) = (number("undistorted", 0), number("undistorted", 1));
    assert!(ours < 1.5 && ours < alone, "grey levels: {ours} {alone}");
    assert_eq!((number("compressed lens", 0), number("compressed worn", 0)), (4.0, 3.0));
    let (ours, theirs) = (number("disparity", 1), number("disparity", 0));
    assert!((ours - theirs).abs() <= 1.0 && ours > 4.0, "{ours} {theirs}");
    assert!(number("points", 0) < 1e-4, "{:?}", said["points"]);
    assert_eq!(said["labels"].join(" "), "[0, 1, 2, 3]");
    assert!((number("latency", 0) - 0.03).abs() < 1e-9);
    assert_eq!(number("latency", 1), 50e6, "from its phase on");
}

/// What cannot mean anything is refused by `run` as by `check`, also where nobody asks for it.
#[test]
fn a_run_refuses_what_a_check_refuses() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    std::fs::write(dir.join("other.xml"), "<a/>").expect("written");
    let typo = "<headland:perception xmlns:headland='urn:headland:sdf'><headland:mixtur/>\
                </headland:perception>";
    std::fs::write(dir.join("typo.xml"), typo).expect("written");
    let status = Command::new("mkfifo").arg(dir.join("pipe.xml")).status().expect("mkfifo");
    assert!(status.success());
    let detector = |file: &str| {
        format!(
            "<sensor name='d' type='headland:detector'><headland:detector><near>0.1</near>\
             <far>2</far><horizontal_fov>1</horizontal_fov><file>{file}</file>\
             </headland:detector></sensor>"
        )
    };
    for (sensor, why) in [
        (detector("other.xml"), "is no <headland:perception>"),
        (detector("typo.xml"), "<headland:mixtur>"),
        (detector("pipe.xml"), "not a regular file"),
        ("<sensor name='s' type='camera'><imu/></sensor>".to_string(), "no <camera> in it"),
        ("<sensor name='s' type='multicamera'/>".to_string(), "no <camera> in it"),
    ] {
        let world = format!(
            "<sdf version='1.11' xmlns:headland='urn:headland:sdf'><world name='w'>\
             <model name='r'><static>true</static><link name='l'>{sensor}</link></model>\
             </world></sdf>"
        );
        std::fs::write(dir.join("w.sdf"), world).expect("written");
        for words in [&["check", "w.sdf"][..], &["run", "w.sdf", "-d", "0.01", "-o", "r.mcap"]] {
            let said = text(&expect(dir, words, 2).stderr);
            assert!(said.contains(why) && said.matches("error[").count() == 1, "{words:?}: {said}");
        }
    }
}

/// A recording has the textures of its world, wherever it goes: what a camera sees in it is what it
/// sees in the world.
#[test]
fn a_recording_keeps_its_textures() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let world = format!("{ROOT}/worlds/cameras.sdf");
    expect(dir, &["run", &world, "-d", "0.01", "--sensors", "none", "-q", "-o", "r.mcap"], 0);
    let render = |source: &str, output: &str, more: &[&str]| {
        let words = ["render", source, "--camera", "eye", "-o", output];
        let said = expect(dir, &[&words[..], more].concat(), 0);
        assert!(!text(&said.stderr).contains("texture"), "{}", text(&said.stderr));
        std::fs::read(dir.join(output)).expect("drawn")
    };
    assert!(render("r.mcap", "a.png", &["--at-time", "0"]) == render(&world, "b.png", &[]));
}

/// Pictures are large: nobody gets them unasked.
#[test]
fn cameras_wait_until_they_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let world = std::fs::read_to_string(format!("{ROOT}/worlds/cameras.sdf")).expect("shipped");
    let waiting = world.replace("<always_on>true</always_on>", "").replace("textures/", "no/");
    std::fs::write(dir.join("w.sdf"), waiting).expect("written");
    let run = |sensors: &[&str]| {
        let words = [&["run", "w.sdf", "-d", "0.01", "-o", "r.mcap"][..], sensors].concat();
        let said = expect(dir, &words, 0);
        let info = expect(dir, &["--json", "info", "r.mcap"], 0);
        (text(&said.stderr), text(&info.stdout))
    };
    let (said, topics) = run(&[]);
    assert!(said.contains("8 cameras are left out") && !topics.contains("image_raw"), "{said}");
    assert!(said.contains("no texture `no/brick.png`"), "{said}");
    let (said, topics) = run(&["--sensors", "/rig/eye"]);
    assert!(topics.contains("/rig/eye/image_raw") && topics.contains("/rig/eye/camera_info"));
    assert!(!topics.contains("/rig/stereo") && !said.contains("left out"), "{said}");
    let (_, topics) = run(&["--sensors", "all"]);
    assert!(topics.contains("/rig/stereo/right/image_raw") && topics.contains("/rig/fisheye"));
    let (_, topics) = run(&["--sensors", "none"]);
    assert!(!topics.contains("/rig/eye"));
}

/// A GPU that is not there matters to who would draw with it: not to a picture by another renderer,
/// nor to a run without that camera.
#[test]
fn a_renderer_is_asked_for_where_it_would_draw() {
    if headland_sense::render::renderer("wgpu", 1).is_ok() {
        println!("left out: there is a GPU");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let world = std::fs::read_to_string(format!("{ROOT}/worlds/cameras.sdf")).expect("shipped");
    let eye = "<sensor name=\"eye\" type=\"camera\">\n          <always_on>true</always_on>\n          \
               <update_rate>10</update_rate>\n          <camera>";
    assert!(world.contains(eye));
    let on_gpu = format!("{eye}<headland:renderer>WGPU</headland:renderer>");
    std::fs::write(dir.join("gpu.sdf"), world.replace(eye, &on_gpu)).expect("written");
    std::fs::write(dir.join("cpu.sdf"), &world).expect("written");
    let textures = format!("{ROOT}/worlds/textures");
    std::os::unix::fs::symlink(textures, dir.join("textures")).expect("linked");
    let refused = expect(dir, &["render", "gpu.sdf", "--camera", "eye"], 2);
    assert!(text(&refused.stderr).contains("error[no-renderer]"), "{}", text(&refused.stderr));
    let words = ["--camera", "eye", "--renderer", "raster", "-o"];
    for name in ["gpu", "cpu"] {
        let (world, picture) = (format!("{name}.sdf"), format!("{name}.png"));
        expect(dir, &[&["render", &world][..], &words, &[&picture]].concat(), 0);
    }
    let read = |name: &str| std::fs::read(dir.join(name)).expect("written");
    assert!(read("gpu.png") == read("cpu.png"));
    expect(dir, &["render", "gpu.sdf", "--camera", "lens"], 0);
    let run = ["run", "gpu.sdf", "-d", "0.01", "-q", "-o", "r.mcap", "--sensors"];
    expect(dir, &[&run[..], &["/rig/lens"]].concat(), 0);
    let refused = text(&expect(dir, &[&run[..], &["/rig/eye"]].concat(), 2).stderr);
    assert!(refused.contains("error[no-renderer]") && refused.contains("gpu.sdf:"), "{refused}");
}

/// The test that ships for this world, as the run goes and on its recording.
#[test]
fn what_the_cameras_look_at_stays_before_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let (world, test) = (common::world("cameras"), common::test("in_sight"));
    for engine in ["rapier", "native"] {
        let words = ["run", &world, "--engine", engine, "-d", "2", "--sensors", "none"];
        let words = [&words[..], &["--test", &test, "-o", "r.mcap"]].concat();
        let said = text(&expect(folder.path(), &words, 0).stdout);
        assert!(said.contains("green at 2.000 s"), "{engine}: {said}");
        let judged = expect(folder.path(), &["test", &test, "--on", "r.mcap"], 0);
        assert!(text(&judged.stdout).contains("1 green"), "{engine}");
    }
}
