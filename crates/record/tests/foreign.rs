//! Readers and writers we did not write decide whether a recording is right.
//!
//! They are Python packages (`tests/foreign/requirements.txt`). Set `HEADLAND_PYTHON` to an
//! interpreter that has them; without it these tests say that they were skipped, and with
//! `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{ball_pose, small_run};
use headland_base::maths::Vec3;
use headland_base::{Diagnostic, SimTime, Transform};
use headland_record::door::ImportOptions;
use headland_record::messages::{
    self, Altimeter, Bool, CameraInfo, CompressedImage, Detection3D, Detection3DArray, Float64,
    FluidPressure, FootPressure, Header, Imu, JointCommand, LaserScan, MagneticField, NavSatFix,
    NavSatStatus, ObjectHypothesis, ObjectHypothesisWithPose, Odometry, PointCloud2, PointField,
    Range, Text, TfMessage, TransformStamped,
};
use headland_record::{
    Compression, ContactRef, Decoder, Format, Item, Kind, LoadOptions, Reader, WriteOptions,
    Writer, export, import, load, rosbag2,
};

/// Runs a script with the foreign interpreter and gives what it printed; `None` where there
/// is no interpreter.
fn run(script: &str, arguments: &[&Path]) -> Option<String> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!(
            "skipped: {script} needs foreign readers.\n\
             python3 -m venv .venv && .venv/bin/pip install -r tests/foreign/requirements.txt\n\
             HEADLAND_PYTHON=$PWD/.venv/bin/python cargo test -p headland-record --test foreign"
        );
        return None;
    };
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign");
    let output = Command::new(python)
        .arg("-B") // leaves no compiled files beside the scripts
        .arg(scripts.join(script))
        .args(arguments)
        .output()
        .expect("HEADLAND_PYTHON is an interpreter");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let faults = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script} failed:\n{text}\n{faults}");
    Some(text)
}

/// One message of every kind at each of some moments, with numbers that are hard to print.
fn every_kind(w: &mut Writer) -> Result<(), Diagnostic> {
    let channels: Vec<_> = Kind::ALL
        .iter()
        .map(|kind| w.channel(&format!("/{kind:?}").to_lowercase(), *kind))
        .collect::<Result<_, _>>()?;
    let channel = |kind: Kind| channels[Kind::ALL.iter().position(|k| *k == kind).unwrap()];
    let odd = [0.1, -0.0, f64::NAN, f64::INFINITY, 5e-324, 1.797e308, 1.0 / 3.0];
    for (i, x) in odd.into_iter().enumerate() {
        // Every message of a moment at its own nanosecond, so that order by time is file order.
        let mut nanos = i as i64 * 1_000_000_007;
        let header = Header::new(SimTime::from_nanos(nanos), &"frame"[..i % 6]);
        let mut next = || {
            nanos += 1;
            SimTime::from_nanos(nanos)
        };
        let v = Vec3::new(x, -x, 1.0);
        w.pose(channel(Kind::PoseStamped), next(), "world", &Transform::from_translation(v))?;
        w.twist(channel(Kind::TwistStamped), next(), "w", v, -v)?;
        w.wrench(channel(Kind::WrenchStamped), next(), "", v, v)?;
        let names = ["elbow".to_string(), "ünïcode".to_string()];
        w.joint_states(channel(Kind::JointState), next(), &names, &[x, 1.0], &[], &[2.0, x])?;
        let imu = Imu { header: header.clone(), orientation_covariance: [x; 9], ..Imu::default() };
        w.message(channel(Kind::Imu), next(), &imu)?;
        let status = NavSatStatus { status: NavSatStatus::NO_FIX, service: 65_535 };
        let fix = NavSatFix {
            header: header.clone(),
            status,
            latitude: x,
            position_covariance: [x; 9],
            position_covariance_type: NavSatFix::DIAGONAL_KNOWN,
            ..NavSatFix::default()
        };
        w.message(channel(Kind::NavSatFix), next(), &fix)?;
        let field = MagneticField {
            header: header.clone(),
            magnetic_field: v.into(),
            magnetic_field_covariance: [x; 9],
        };
        w.message(channel(Kind::MagneticField), next(), &field)?;
        let pressure =
            FluidPressure { header: header.clone(), fluid_pressure: x, ..Default::default() };
        w.message(channel(Kind::FluidPressure), next(), &pressure)?;
        let height =
            Altimeter { header: header.clone(), vertical_velocity: x, ..Altimeter::default() };
        w.message(channel(Kind::Altimeter), next(), &height)?;
        let foot = FootPressure {
            header: header.clone(),
            centre_of_pressure: v.into(),
            cells: [x, 1.0, -x, 2.0],
            ..FootPressure::default()
        };
        w.message(channel(Kind::FootPressure), next(), &foot)?;
        let ranges = vec![x as f32; i];
        let scan =
            LaserScan { header: header.clone(), ranges, angle_min: 0.1, ..LaserScan::default() };
        w.message(channel(Kind::LaserScan), next(), &scan)?;
        let field =
            |name: &str| PointField { name: name.into(), datatype: 7, ..Default::default() };
        let cloud = PointCloud2 {
            header: header.clone(),
            fields: ["x", "ring"].map(field).to_vec(),
            data: vec![7; i],
            is_dense: i % 2 == 0,
            ..Default::default()
        };
        w.message(channel(Kind::PointCloud2), next(), &cloud)?;
        let picture = messages::Image {
            header: header.clone(),
            encoding: "rgb8".into(),
            data: vec![i as u8; 3 * i],
            ..Default::default()
        };
        w.message(channel(Kind::Image), next(), &picture)?;
        let file =
            CompressedImage { header: header.clone(), format: "png".into(), data: vec![9; i] };
        w.message(channel(Kind::CompressedImage), next(), &file)?;
        let info = CameraInfo {
            header: header.clone(),
            distortion_model: "plumb_bob".into(),
            d: vec![x; i],
            p: [x; 12],
            ..Default::default()
        };
        w.message(channel(Kind::CameraInfo), next(), &info)?;
        let range = Range { header: header.clone(), range: x as f32, ..Default::default() };
        w.message(channel(Kind::Range), next(), &range)?;
        let hypothesis = ObjectHypothesis { class_id: "gear".into(), score: x };
        let result = ObjectHypothesisWithPose { hypothesis, ..Default::default() };
        let found = Detection3D { id: "7".into(), results: vec![result; i], ..Default::default() };
        let array = Detection3DArray { header: header.clone(), detections: vec![found; i % 3] };
        w.message(channel(Kind::Detection3DArray), next(), &array)?;
        let mut odometry = Odometry { header: header.clone(), ..Odometry::default() };
        odometry.child_frame_id = "base".to_string();
        odometry.twist.covariance[5][5] = x;
        w.message(channel(Kind::Odometry), next(), &odometry)?;
        let child_frame_id = "child".to_string();
        let one = TransformStamped { header: header.clone(), child_frame_id, ..Default::default() };
        w.message(channel(Kind::TfMessage), next(), &TfMessage { transforms: vec![one; i] })?;
        w.message(channel(Kind::Float64), next(), &Float64 { data: x })?;
        w.message(channel(Kind::Bool), next(), &Bool { data: i % 2 == 0 })?;
        w.message(channel(Kind::Text), next(), &Text { data: format!("text {i} é") })?;
        let contact = messages::Contact {
            body_a: "a".repeat(i),
            body_b: "ground".into(),
            depth: x,
            force: v.into(),
            ..messages::Contact::default()
        };
        let contacts = (0..i % 3).map(|_| ContactRef::from(&contact));
        w.contacts(channel(Kind::Contacts), next(), "world", contacts)?;
        let command = JointCommand {
            header,
            name: names.to_vec(),
            mode: vec![JointCommand::VELOCITY, JointCommand::EFFORT],
            target: vec![x, -x],
        };
        w.message(channel(Kind::JointCommand), next(), &command)?;
        w.event(channel(Kind::Event), next(), "ball", "divergence", "went \"away\"\n")?;
    }
    Ok(())
}

/// What we say is in a recording: one line of JSON per message.
fn ours(path: &Path) -> String {
    let mut reader = Reader::open(path).unwrap();
    let mut decoder = Decoder::new();
    let mut out = String::new();
    while let Some(item) = reader.next() {
        let Item::Message(message) = item else { continue };
        let definition = decoder.definition(message.channel).unwrap();
        let value = definition.decode(message.payload).unwrap().to_json();
        let (topic, nanos) = (&message.channel.topic, message.log_time.nanos());
        writeln!(out, r#"{{"topic":"{topic}","time":{nanos},"message":{value}}}"#).unwrap();
    }
    assert!(reader.findings().is_empty());
    out
}

#[test]
fn foreign_readers_decode_every_kind_to_the_bit() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let options = WriteOptions::new("test 1").compression(compression).chunk_bytes(3000);
        let mut writer = Writer::create(at("all.mcap"), &options).unwrap();
        writer.metadata("headland", BTreeMap::from([("seed".into(), "7".into())])).unwrap();
        writer.attach("world.sdf", "application/xml", b"<sdf/>".to_vec()).unwrap();
        every_kind(&mut writer).unwrap();
        let written = writer.finish().unwrap();
        assert!(written.n_chunks > 3);
        fs::write(at("ours.ndjson"), ours(&at("all.mcap"))).unwrap();
        rosbag2::export(&at("all.mcap"), &at("bag"), &options).unwrap();
        let arguments = [at("all.mcap"), at("ours.ndjson"), at("bag")];
        let arguments: Vec<&Path> = arguments.iter().map(PathBuf::as_path).collect();
        let Some(said) = run("read_recording.py", &arguments) else { return };
        let (n, n_kinds) = (written.n_messages, Kind::ALL.len());
        for line in [
            format!("mcap-ros2-support: {n} messages equal"),
            format!("rosbags: {n} messages equal"),
            format!("rosbags, bag folder: {n} messages equal"),
            // The last of seven moments, a nanosecond per kind.
            format!("bag {n} messages, {} ns, {n_kinds} topics", 6 * 1_000_000_007 + n_kinds),
            "attachment world.sdf application/xml 6".to_string(),
            "metadata headland [('seed', '7')]".to_string(),
            format!("statistics {n}"),
        ] {
            assert!(said.lines().any(|said| said == line), "no `{line}` in:\n{said}");
        }
    }
}

/// Two trajectories a tenth of a metre apart: evo must find just that, in the recording and
/// in the TUM files.
#[test]
fn evo_sees_the_same_trajectories() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let options = WriteOptions::new("test 1");
    let mut writer = Writer::create(at("two.mcap"), &options).unwrap();
    let topics = ["/ref/pose", "/ball/pose"];
    let channels = topics.map(|topic| writer.channel(topic, Kind::PoseStamped).unwrap());
    for i in 0..200 {
        let mut pose = ball_pose(i);
        let time = SimTime::from_nanos(i as i64 * 1_000_000);
        writer.pose(channels[0], time, "world", &pose).unwrap();
        pose.translation.x += 0.1;
        writer.pose(channels[1], time, "world", &pose).unwrap();
    }
    writer.finish().unwrap();
    for (object, file) in [("ref", "ref.tum"), ("ball", "ball.tum")] {
        export(&at("two.mcap"), &at(file), Format::Tum, Some(object), &options).unwrap();
    }
    let files = [at("two.mcap"), topics[0].into(), topics[1].into(), at("ref.tum"), at("ball.tum")];
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let Some(said) = run("evo_check.py", &files) else { return };
    assert!(said.contains("poses 200"), "{said}");
    let errors = said.lines().find_map(|line| line.strip_prefix("rmse ")).unwrap();
    for error in errors.split(' ') {
        let error: f64 =
            error.trim_start_matches("np.float64(").trim_end_matches(')').parse().unwrap();
        assert!((error - 0.1).abs() < 1e-12, "{error}");
    }
}

#[test]
fn a_bag_of_others_is_imported_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (bag, expected) = (folder.path().join("bag"), folder.path().join("expected.json"));
    if run("write_bag.py", &[&bag, &expected]).is_none() {
        return;
    }
    let expected: BTreeMap<String, (Vec<i64>, Vec<u64>)> =
        serde_json::from_str(&fs::read_to_string(expected).unwrap()).unwrap();
    assert!(expected.len() > 30);
    // The folder, and the file in it by itself.
    let bare = fs::read_dir(&bag).unwrap().map(|entry| entry.unwrap().path());
    let bare = bare.into_iter().find(|path| path.extension().is_some_and(|end| end == "mcap"));
    // The same in the storages of older releases.
    let at = |name: &str| folder.path().join(name);
    let convert = |target: &Path, options: &[&str]| {
        let options = options.iter().map(Path::new);
        let arguments: Vec<&Path> = [&*bag, target].into_iter().chain(options).collect();
        run("convert_bag.py", &arguments).expect("there is an interpreter");
    };
    convert(&at("plain.bag"), &[]);
    convert(&at("lz4.bag"), &["--compress", "lz4"]);
    convert(&at("bz2.bag"), &["--compress", "bz2"]);
    convert(&at("sql"), &["--dst-storage", "sqlite3", "--dst-version", "8"]);
    convert(
        &at("zstd"),
        &[
            "--dst-storage",
            "sqlite3",
            "--dst-version",
            "8",
            "--compress",
            "zstd",
            "--compress-mode",
            "message",
        ],
    );
    let others = ["plain.bag", "lz4.bag", "bz2.bag", "sql", "sql/sql.db3", "zstd"].map(at);
    for path in [bag.clone(), bare.unwrap()].into_iter().chain(others) {
        let imported = import(&path, &ImportOptions::default()).unwrap();
        assert!(imported.findings.is_empty(), "{path:?}: {:?}", imported.findings.into_vec());
        for (key, (times, values)) in &expected {
            let column = imported.recording.column(key).unwrap_or_else(|| panic!("no {key}"));
            let got: Vec<i64> = column.times.iter().map(|time| time.nanos()).collect();
            assert_eq!(got, *times, "{path:?} {key}");
            let got: Vec<u64> = column.values.iter().map(|value| value.to_bits()).collect();
            assert_eq!(got, *values, "{key}");
        }
    }
}

/// A cut recording is what a killed run leaves; others must be able to read what we make
/// whole of it.
#[test]
fn a_cut_recording_made_whole_is_read_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let options = WriteOptions::new("test 1").chunk_bytes(5000);
    let mut writer = Writer::create(at("whole.mcap"), &options).unwrap();
    small_run(&mut writer, 200).unwrap();
    writer.finish().unwrap();
    let bytes = fs::read(at("whole.mcap")).unwrap();
    fs::write(at("cut.mcap"), &bytes[..bytes.len() * 2 / 3]).unwrap();
    let mut writer = Writer::create(at("again.mcap"), &options).unwrap();
    headland_record::copy(Reader::open(at("cut.mcap")).unwrap(), &mut writer).unwrap();
    assert!(writer.finish().unwrap().n_messages > 200);
    fs::write(at("ours.ndjson"), ours(&at("again.mcap"))).unwrap();
    // Messages of one moment may come in another order from a reader that sorts by time,
    // so only the reader that keeps file order is asked.
    let Some(said) = run("sum_recording.py", &[&at("again.mcap")]) else { return };
    let n_lines = ours(&at("again.mcap")).lines().count();
    assert!(said.starts_with(&format!("{n_lines} ")), "{said}");
}

/// The quick road into columns and a foreign decoder come to the same numbers. How much
/// quicker it is, `benches/read_back.rs` says.
#[test]
fn columns_are_what_others_decode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bodies.mcap");
    let mut writer = Writer::create(&path, &WriteOptions::new("test 1")).unwrap();
    let mut channels = Vec::new();
    for body in 0..20 {
        channels.push((
            writer.channel(&format!("/body_{body}/pose"), Kind::PoseStamped).unwrap(),
            writer.channel(&format!("/body_{body}/twist"), Kind::TwistStamped).unwrap(),
        ));
    }
    for i in 0..1000 {
        let time = SimTime::from_nanos(i as i64 * 1_000_000);
        for (pose, twist) in &channels {
            writer.pose(*pose, time, "world", &ball_pose(i)).unwrap();
            writer.twist(*twist, time, "world", ball_pose(i).translation, Vec3::Z).unwrap();
        }
    }
    let n_messages = writer.finish().unwrap().n_messages;
    let (recording, findings) = load(Reader::open(&path).unwrap(), &LoadOptions::default());
    assert!(findings.is_empty());
    let sum = |key: &str| {
        let all = (0..20).map(|body| recording.column(&format!("body_{body}/{key}")).unwrap());
        all.map(|column| column.values.iter().sum::<f64>()).sum::<f64>()
    };
    let our_check = sum("pose/x") + sum("linear_vel/x");
    let Some(said) = run("sum_recording.py", &[&path]) else { return };
    let (n_theirs, their_check) = said.trim().split_once(' ').unwrap();
    assert_eq!(n_theirs, n_messages.to_string());
    let their_check: f64 = their_check.parse().unwrap();
    assert!((our_check - their_check).abs() < 1e-9 * their_check, "{our_check} {their_check}");
}

/// With and without chunks, indexes, checksums and statistics, and with a channel beside
/// that is not ROS: the numbers come in all the same, and what is left out is said.
#[test]
fn files_of_others_in_every_shape() {
    let folder = tempfile::tempdir().unwrap();
    if run("write_mcap.py", &[folder.path()]).is_none() {
        return;
    }
    let mut n_files = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let imported = import(&path, &ImportOptions::default()).unwrap();
        let findings = imported.findings.into_vec();
        let codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, ["unknown-encoding"], "{}: {findings:?}", path.display());
        let column = imported.recording.column("n").unwrap();
        let wanted: Vec<f64> = (0..20).map(|i| f64::from(i) * 0.5).collect();
        assert_eq!(column.values[..], wanted[..], "{}", path.display());
        assert_eq!(column.times[19].nanos(), 19_000_000);
        assert_eq!(imported.recording.attachments[0].bytes, b"hello");
        assert_eq!(imported.recording.facts.metadata["m"]["k"], "v");
        n_files += 1;
    }
    assert_eq!(n_files, 6);
}
