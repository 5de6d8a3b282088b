//! Recordings in memory: what was written is found again by object and by key, whatever
//! format it went through.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;

use common::{ball_pose, options, small_run, written};
use headland_base::maths::{Quat, Vec3};
use headland_base::{SimDuration, SimTime, Transform};
use headland_record::door::ImportOptions;
use headland_record::messages::{
    Float64, Header, Imu, JointCommand, LaserScan, Odometry, PoseStamped, TfMessage,
    TransformStamped,
};
use headland_record::{
    Format, Item, Kind, LoadOptions, Reader, Recording, Stamp, Writer, convert, export, import,
    load, overview, rosbag2, save,
};

fn loaded(bytes: &[u8]) -> Recording {
    let (recording, findings) = load(Reader::new(bytes, "memory"), &LoadOptions::default());
    assert!(findings.is_empty(), "{:?}", findings.into_vec());
    recording
}

fn small_recording() -> Recording {
    loaded(&written(&options(), |w| {
        let facts = [("engine", "rapier"), ("seed", "42"), ("step_ns", "1000000")];
        let facts = facts.map(|(key, value)| (key.to_string(), value.to_string()));
        w.metadata("headland", BTreeMap::from(facts))?;
        w.attach("world.sdf", "application/xml", b"<sdf/>".to_vec())?;
        small_run(w, 100)
    }))
}

#[test]
fn facts_files_objects_and_columns() {
    let recording = small_recording();
    assert_eq!(recording.facts.engine(), Some("rapier"));
    assert_eq!(recording.facts.seed(), Some(42));
    assert_eq!(recording.facts.step(), Some(SimDuration::from_nanos(1_000_000)));
    assert_eq!(recording.attachments[0].bytes, b"<sdf/>");
    assert_eq!(recording.objects(), ["ball"]);
    let time = SimTime::from_nanos(30_000_000);
    let (times, poses) = recording.poses("ball").unwrap();
    assert_eq!((times[30], poses[30], poses.len()), (time, ball_pose(30), 100));
    assert_eq!(recording.span().unwrap().1, SimTime::from_nanos(100_000_000));
    for (key, index, value, unit) in [
        ("ball/pose/x", 30, 0.030, "m"),
        ("ball/pose/yaw", 30, 0.030, "rad"),
        ("ball/linear_vel/z", 50, -9.81 * 0.05, "m/s"),
        ("ball/angular_vel/z", 0, 1.0, "rad/s"),
        ("elbow/position", 7, -0.007, ""),
        ("arm::shoulder/vel", 7, 1.0, ""),
        ("contacts/count", 3, 1.0, ""),
        ("contacts/normal_force", 3, 3.0, "N"),
    ] {
        let column = recording.column(key).unwrap_or_else(|| panic!("{key}"));
        assert!((column.values[index] - value).abs() < 1e-12, "{key}: {}", column.values[index]);
        assert_eq!((column.unit.word(), column.times.len()), (unit, column.values.len()), "{key}");
    }
    for key in ["ball/pose/w", "bal/pose/x", "elbow/effort", "x", "", "/", "ball/pose", "events/a"]
    {
        assert!(recording.column(key).is_none(), "{key}");
    }
    let missing = recording.require_column("bal/pose/x").unwrap_err();
    assert_eq!(
        (missing.code, &*missing.help.unwrap()),
        ("unknown-key", "did you mean `ball/pose/x`?")
    );
    let keys = recording.keys();
    assert_eq!(keys.len(), 7 + 6 + 4 + 3);
    assert!(keys.iter().all(|key| recording.column(key).is_some()));
    let remark = &recording.track("/events").unwrap().remarks().unwrap()[0];
    assert_eq!((&*remark.source, &*remark.kind), ("run", "end"));
}

#[test]
fn a_joint_several_robots_have_is_found_by_its_full_name() {
    let bytes = written(&options(), |w| {
        for (topic, position, efforts) in
            [("/a/joint_states", 1.0, &[][..]), ("/b/joint_states", 2.0, &[9.0])]
        {
            let channel = w.channel(topic, Kind::JointState)?;
            let names = ["elbow".to_string()];
            w.joint_states(channel, SimTime::ZERO, &names, &[position], &[], efforts)?;
        }
        Ok(())
    });
    let recording = loaded(&bytes);
    let value = |key: &str| recording.column(key).map(|column| column.values[0]);
    assert_eq!(value("a::elbow/position"), Some(1.0));
    assert_eq!(value("b::elbow/position"), Some(2.0));
    assert_eq!(value("elbow/position"), None, "which robot's?");
    assert_eq!(value("elbow/effort"), Some(9.0), "only one robot measures it");
    let fault = recording.require_column("elbow/position").unwrap_err();
    assert_eq!(fault.code, "ambiguous-key");
    let wanted = "say which: `a::elbow/position` or `b::elbow/position`";
    assert_eq!(fault.help.as_deref(), Some(wanted));
    assert_eq!(recording.require_column("elbow/velocity").unwrap_err().code, "unknown-key");
}

#[test]
fn saved_and_loaded_is_the_same_recording() {
    let mut recording = small_recording();
    let again = loaded(&written(&options(), |w| save(&recording, w)));
    recording.facts.library.clone_from(&again.facts.library);
    assert_eq!(recording, again);
}

#[test]
fn messages_of_others_become_tracks() {
    let stamp = |i: i64| SimTime::from_nanos(1_000_000_000 + i * 10_000_000);
    let bytes = written(&options(), |w| {
        let odom = w.channel("/robot/odom", Kind::Odometry)?;
        let tf = w.channel("/tf", Kind::TfMessage)?;
        let imu = w.channel("/imu", Kind::Imu)?;
        let force = w.channel("/wrist/wrench", Kind::WrenchStamped)?;
        let number = w.channel("/battery", Kind::Float64)?;
        for i in 0..5 {
            let (log, t) = (SimTime::from_nanos(i * 10_000_000), i as f64);
            let header = Header::new(stamp(i), "odom");
            let mut both = Odometry { header: header.clone(), ..Odometry::default() };
            both.pose.pose.position.x = t;
            both.pose.pose.orientation.w = 1.0;
            both.twist.twist.linear.x = 2.0 * t;
            w.message(odom, log, &both)?;
            let transforms = ["base", "lidar"].map(|name| {
                let mut one = TransformStamped {
                    header: header.clone(),
                    child_frame_id: name.to_string(),
                    ..TransformStamped::default()
                };
                one.transform.translation.y = t;
                one.transform.rotation.w = 1.0;
                one
            });
            w.message(tf, log, &TfMessage { transforms: transforms.to_vec() })?;
            let mut measured = Imu { header: header.clone(), ..Imu::default() };
            measured.linear_acceleration.z = 9.81;
            w.message(imu, log, &measured)?;
            w.wrench(force, log, "wrist", Vec3::new(t, 0.0, 0.0), Vec3::ZERO)?;
            w.message(number, log, &Float64 { data: 12.0 - t })?;
        }
        Ok(())
    });
    let recording = loaded(&bytes);
    assert_eq!(recording.objects(), ["robot/odom", "tf/base", "tf/lidar"]);
    assert_eq!(recording.poses("tf/lidar").unwrap().1[2].translation.y, 2.0);
    for (key, value, unit) in [
        ("robot/odom/pose/x", 4.0, "m"),
        ("robot/odom/linear_vel/x", 8.0, "m/s"),
        ("imu/linear_acceleration/z", 9.81, "m/s^2"),
        ("wrist/wrench/wrench/force/x", 4.0, "N"),
        ("battery", 8.0, ""),
    ] {
        let column = recording.column(key).unwrap_or_else(|| panic!("{key}"));
        assert_eq!(column.values[4], value, "{key}");
        assert_eq!(column.unit.word(), unit, "{key}");
    }
    // The header says when it was measured; a plain number has none.
    assert_eq!(recording.column("imu/linear_acceleration/z").unwrap().times[0], stamp(0));
    assert_eq!(recording.column("battery").unwrap().times[0], SimTime::ZERO);
    let by_log = LoadOptions { stamp: Stamp::Log, ..LoadOptions::default() };
    let (recording, _) = load(Reader::new(&bytes[..], "memory"), &by_log);
    assert_eq!(recording.column("robot/odom/pose/x").unwrap().times[0], SimTime::ZERO);
}

#[test]
fn samples_that_go_back_are_left_out_and_counted() {
    let bytes = written(&options(), |w| {
        let pose = w.channel("/a/pose", Kind::PoseStamped)?;
        for nanos in [10, 20, 15, 20, 30, 1] {
            w.pose(pose, SimTime::from_nanos(nanos), "world", &Transform::IDENTITY)?;
        }
        Ok(())
    });
    let (recording, findings) = load(Reader::new(&bytes[..], "memory"), &LoadOptions::default());
    assert_eq!(recording.poses("a").unwrap().0.len(), 4);
    let findings = findings.into_vec();
    assert_eq!(findings[0].code, "time-went-back");
    assert!(findings[0].message.contains("2 samples of `/a/pose`"));
}

/// A robot that never fills in an orientation sends zeros; one that rounds sends nearly a
/// unit. Neither may reach a `Transform` as it is.
#[test]
fn poses_of_others_get_unit_quaternions_or_are_left_out() {
    let turns = [[0.0, 0.0, 0.0, 1.0], [0.0; 4], [0.0, 0.0, 0.6, 0.801], [f64::NAN; 4]];
    let bytes = written(&options(), |w| {
        let pose = w.channel("/a/pose", Kind::PoseStamped)?;
        let odom = w.channel("/odom", Kind::Odometry)?;
        let tf = w.channel("/tf", Kind::TfMessage)?;
        for (i, [x, y, z, qw]) in turns.into_iter().enumerate() {
            let time = SimTime::from_nanos(i as i64);
            let turn = Quat::from_xyzw(x, y, z, qw);
            w.pose(pose, time, "world", &Transform::from_rotation(turn))?;
            let mut both = Odometry::default();
            both.pose.pose.orientation = turn.into();
            w.message(odom, time, &both)?;
            let mut one =
                TransformStamped { child_frame_id: "base".into(), ..TransformStamped::default() };
            one.transform.rotation = turn.into();
            w.message(tf, time, &TfMessage { transforms: vec![one] })?;
        }
        Ok(())
    });
    let (recording, findings) = load(Reader::new(&bytes[..], "memory"), &LoadOptions::default());
    for object in ["a", "odom", "tf/base"] {
        let (times, poses) = recording.poses(object).unwrap();
        assert_eq!(times, [0, 2].map(SimTime::from_nanos), "{object}");
        assert!(poses.iter().all(|p| (p.rotation.length() - 1.0).abs() < 1e-14), "{object}");
        assert_eq!(poses[0].rotation, Quat::IDENTITY, "what is a unit is kept to the bit");
    }
    assert_eq!(recording.motions("odom").unwrap().0.len(), 4, "velocities are kept");
    let findings = findings.into_vec();
    assert_eq!(findings.len(), 3, "{findings:?}");
    assert_eq!(findings[0].code, "bad-pose");
    assert!(findings[0].message.contains("2 of 4 poses of `/a/pose`"), "{findings:?}");
}

#[test]
fn a_file_that_unfolds_without_end_is_stopped() {
    let numbers = written(&options(), |w| {
        let number = w.channel("/n", Kind::Float64)?;
        (0..1000)
            .try_for_each(|i| w.message(number, SimTime::from_nanos(i), &Float64 { data: 0.0 }))
    });
    let poses = written(&options(), |w| small_run(w, 1000));
    // Every message with joints of its own: a table that grows with the square of the file.
    let joints = written(&options(), |w| {
        let channel = w.channel("/joint_states", Kind::JointState)?;
        (0..1000).try_for_each(|i| {
            let names: Vec<String> = (0..20).map(|j| format!("j{i}_{j}")).collect();
            w.joint_states(channel, SimTime::from_nanos(i), &names, &[0.0; 20], &[], &[])
        })
    });
    for bytes in [numbers, poses, joints] {
        let options = LoadOptions { n_values_max: 2000, ..LoadOptions::default() };
        let (recording, findings) = load(Reader::new(&bytes[..], "memory"), &options);
        let n_kept: usize = recording.tracks().values().map(|track| track.len()).sum();
        assert!((5..500).contains(&n_kept), "{n_kept}");
        let codes: Vec<_> = findings.into_vec().iter().map(|d| d.code).collect();
        assert_eq!(codes, ["recording-too-large"]);
    }
}

/// A message of more joints or numbers than anyone has is cropped, once said per track.
#[test]
fn too_many_keys_are_cropped() {
    let bytes = written(&options(), |w| {
        let joints = w.channel("/joint_states", Kind::JointState)?;
        let scan = w.channel("/scan", Kind::LaserScan)?;
        let names: Vec<String> = (0..100).map(|j| format!("j{j}")).collect();
        (0..5).try_for_each(|i| {
            let time = SimTime::from_nanos(i);
            w.joint_states(joints, time, &names, &[1.0; 100], &[], &[])?;
            let ranges = vec![1.0; 100];
            w.message(scan, time, &LaserScan { ranges, ..LaserScan::default() })
        })
    });
    let options = LoadOptions { n_keys_max: 20, ..LoadOptions::default() };
    let (recording, findings) = load(Reader::new(&bytes[..], "memory"), &options);
    assert_eq!(recording.joints().len(), 20);
    assert_eq!(recording.track("/scan").unwrap().scalars().unwrap().len(), 20);
    let codes: Vec<_> = findings.into_vec().iter().map(|d| d.code).collect();
    assert_eq!(codes, ["too-many-keys"; 2]);
}

#[test]
fn every_format_comes_back_through_the_door() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.mcap");
    fs::write(&source, written(&options(), |w| small_run(w, 100))).unwrap();
    let recording = import(&source, &ImportOptions::default()).unwrap().recording;
    for (name, format) in headland_record::FORMATS {
        assert_eq!(Format::from_name(name), Some(*format));
        let path = folder.path().join(format!("out_{name}"));
        let findings = export(&source, &path, *format, None, &options()).unwrap();
        assert!(findings.is_empty(), "{name}: {:?}", findings.into_vec());
        let back = import(&path, &ImportOptions::default()).unwrap();
        assert!(back.findings.is_empty(), "{name}: {:?}", back.findings.into_vec());
        assert_eq!(back.format, *format, "{name}");
        let object = if *format == Format::Tum { "out_tum" } else { "ball" };
        // Exactly, to the last bit of each float and each nanosecond.
        assert_eq!(back.recording.poses(object), recording.poses("ball"), "{name}");
        // Converted without going through memory, it says the same.
        let again = folder.path().join("again.mcap");
        let done = convert(&path, &again, &ImportOptions::default(), &options()).unwrap();
        assert!(done.findings.is_empty(), "{name}: {:?}", done.findings.into_vec());
        assert_eq!(done.format, *format, "{name}");
        let converted = loaded(&fs::read(&again).unwrap());
        assert_eq!(converted.poses(object), recording.poses("ball"), "{name}");
        assert_eq!(converted.keys(), back.recording.keys(), "{name}");
        if *format != Format::Tum {
            for key in ["ball/linear_vel/z", "elbow/position", "contacts/count"] {
                let (wanted, got) = (recording.column(key), back.recording.column(key));
                let (wanted, got) = (wanted.unwrap(), got.unwrap_or_else(|| panic!("{key}")));
                assert_eq!((wanted.times, wanted.values), (got.times, got.values), "{name} {key}");
            }
        }
    }
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 4 + 2, "nothing is left lying about");
}

#[test]
fn a_bag_of_a_cut_recording_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (source, bag) = (folder.path().join("cut.mcap"), folder.path().join("bag"));
    let bytes = written(&options().chunk_bytes(2000), |w| small_run(w, 100));
    fs::write(&source, &bytes[..bytes.len() / 2]).unwrap();
    let (seen, _) = overview(Reader::open(&source).unwrap());
    assert!(seen.truncation.is_some() && seen.n_messages > 50);
    let findings = rosbag2::export(&source, &bag, &options()).unwrap();
    assert_eq!(findings.into_vec()[0].code, "recording-cut-off");
    let (whole, findings) = overview(Reader::open(bag.join("bag_0.mcap")).unwrap());
    assert!(findings.is_empty() && whole.truncation.is_none());
    assert_eq!((whole.n_messages, &whole.topics), (seen.n_messages, &seen.topics));
    // A recorder that was killed leaves no metadata; the bag is not lost.
    let imported = import(&bag, &ImportOptions::default()).unwrap();
    assert!(imported.findings.is_empty());
    fs::remove_file(bag.join("metadata.yaml")).unwrap();
    let without = import(&bag, &ImportOptions::default()).unwrap();
    assert_eq!(without.findings.into_vec()[0].code, "no-metadata");
    assert_eq!(without.recording, imported.recording);
    let again = rosbag2::export(&source, &bag, &options()).unwrap_err();
    assert_eq!(again[0].code, "bag-not-created");
}

/// A folder that stays behind would stand in the way of the next try.
#[test]
fn a_bag_that_cannot_be_made_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (source, bag) = (folder.path().join("a.mcap"), folder.path().join("bag"));
    let fault = rosbag2::export(&source, &bag, &options()).unwrap_err();
    assert_eq!((fault[0].code, bag.exists()), ("cannot-open", false));
    fs::write(&source, "noise").unwrap();
    let fault = rosbag2::export(&source, &bag, &options()).unwrap_err();
    assert_eq!((fault[0].code, bag.exists()), ("not-mcap", false));
    fs::write(&source, written(&options(), |w| small_run(w, 10))).unwrap();
    rosbag2::export(&source, &bag, &options()).unwrap();
}

/// What the copy leaves out is said, and is not in the metadata.
#[test]
fn the_metadata_of_a_bag_describes_the_bag() {
    let folder = tempfile::tempdir().unwrap();
    let (source, bag) = (folder.path().join("a.mcap"), folder.path().join("bag"));
    let mut file = std::io::Cursor::new(Vec::new());
    let mut writer = mcap::Writer::new(&mut file).unwrap();
    let none = BTreeMap::new();
    let text = Kind::Float64.definition();
    let schema = writer.add_schema(Kind::Float64.name(), "ros2msg", text.as_bytes()).unwrap();
    let number = writer.add_channel(schema, "/n", "cdr", &none).unwrap();
    let words = writer.add_channel(0, "/words", "json", &none).unwrap();
    for log_time in 0..10 {
        for channel_id in [number, words] {
            let publish_time = log_time;
            let head =
                mcap::records::MessageHeader { channel_id, sequence: 0, log_time, publish_time };
            let payload = headland_record::messages::encode(&Float64 { data: 1.0 });
            writer.write_to_known_channel(&head, &payload).unwrap();
        }
    }
    writer.finish().unwrap();
    drop(writer);
    fs::write(&source, file.into_inner()).unwrap();
    let findings = rosbag2::export(&source, &bag, &options()).unwrap().into_vec();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].code, "unknown-encoding");
    let metadata = fs::read_to_string(bag.join("metadata.yaml")).unwrap();
    assert!(metadata.contains("  message_count: 10\n"), "{metadata}");
    assert!(!metadata.contains("/words") && !metadata.contains("20"), "{metadata}");
}

/// Messages of types we know and of types we do not come through a bag as they are.
#[test]
fn a_bag_becomes_a_recording_message_by_message() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let bytes = written(&options(), |w| {
        let channel = w.channel("/arm/joint_command", Kind::JointCommand)?;
        for i in 0..30 {
            let command = JointCommand {
                header: Header::new(SimTime::from_nanos(i), ""),
                name: vec!["elbow".to_string()],
                mode: vec![JointCommand::POSITION],
                target: vec![i as f64],
            };
            w.message(channel, SimTime::from_nanos(i), &command)?;
        }
        small_run(w, 30)
    });
    fs::write(at("a.mcap"), &bytes).unwrap();
    rosbag2::export(&at("a.mcap"), &at("bag"), &options()).unwrap();
    let back = at("back.mcap");
    let done = convert(&at("bag"), &back, &ImportOptions::default(), &options()).unwrap();
    assert!(done.findings.is_empty());
    assert!(common::messages_of(&fs::read(&back).unwrap()) == common::messages_of(&bytes));
    let (seen, _) = overview(Reader::open(&back).unwrap());
    assert_eq!(seen.topics["/arm/joint_command"].schema, "headland_msgs/msg/JointCommand");
    // A bag of which nothing can be read writes over nothing.
    fs::write(at("bag/bag_0.mcap"), "noise").unwrap();
    let before = fs::read(&back).unwrap();
    let faults = convert(&at("bag"), &back, &ImportOptions::default(), &options()).unwrap_err();
    assert_eq!(faults[0].code, "not-mcap");
    assert!(fs::read(&back).unwrap() == before);
}

#[test]
fn what_cannot_come_in_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    for (bytes, code) in [
        (&b"#ROSBAG V1.1\n"[..], "read-failed"),
        (b"SQLite format 3\0", "bad-bag"),
        (b"\x00\x01binary", "unknown-format"),
        (b"a,b\n1,2\n", "no-time-column"),
        (b"", "empty-table"),
    ] {
        fs::write(&path, bytes).unwrap();
        let faults = import(&path, &ImportOptions::default()).unwrap_err();
        assert_eq!(faults[0].code, code, "{faults:?}");
    }
    let missing = folder.path().join("missing");
    assert_eq!(import(&missing, &ImportOptions::default()).unwrap_err()[0].code, "cannot-open");
    assert_eq!(
        import(folder.path(), &ImportOptions::default()).unwrap_err()[0].code,
        "cannot-open"
    );
}

/// A TUM file holds one object: the one that moves, or the one that is named.
#[test]
fn whose_trajectory_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (folder.path().join("a.mcap"), folder.path().join("a.tum"));
    let with_cube = |n_samples: i64| {
        let bytes = written(&options(), |w| {
            let cube = w.channel("/cube/pose", Kind::PoseStamped)?;
            for i in 0..n_samples {
                w.pose(cube, SimTime::from_nanos(i), "world", &Transform::IDENTITY)?;
            }
            small_run(w, 10)
        });
        fs::write(&source, bytes).unwrap();
    };
    with_cube(1);
    export(&source, &path, Format::Tum, None, &options()).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1 + 10, "the ball");
    with_cube(2);
    let which = export(&source, &path, Format::Tum, None, &options()).unwrap_err().remove(0);
    assert_eq!(which.code, "which-object");
    assert_eq!(which.notes, ["there are: ball, cube"]);
    assert!(which.help.unwrap().contains("--object NAME"));
    let which = export(&source, &path, Format::Tum, Some("cub"), &options()).unwrap_err();
    assert_eq!(which[0].help.as_deref(), Some("did you mean `cube`?"));
    // Where nothing has a pose there is nothing to choose from.
    fs::write(&source, written(&options(), |_| Ok(()))).unwrap();
    let none = export(&source, &path, Format::Tum, None, &options()).unwrap_err().remove(0);
    assert_eq!((none.code, none.help), ("no-poses", None));
}

/// A file that another library wrote, as robots write them: sent before it was recorded,
/// numbered from somewhere, with the quality of service beside the topic.
fn robot_file() -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    let mut writer = mcap::Writer::new(&mut file).unwrap();
    let text = Kind::Float64.definition();
    let schema = writer.add_schema("std_msgs/msg/Float64", "ros2msg", text.as_bytes()).unwrap();
    let qos = "- history: 3\n  depth: 0\n  reliability: 1\n".to_string();
    let metadata = BTreeMap::from([("offered_qos_profiles".to_string(), qos)]);
    let channel_id = writer.add_channel(schema, "/battery", "cdr", &metadata).unwrap();
    for i in 0..20 {
        let publish_time = 1_700_000_000_000_000_000 + u64::from(i) * 1_000_000;
        let log_time = publish_time + 250_000;
        let head =
            mcap::records::MessageHeader { channel_id, sequence: 40 + i, log_time, publish_time };
        let payload = headland_record::messages::encode(&Float64 { data: f64::from(i) });
        writer.write_to_known_channel(&head, &payload).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    file.into_inner()
}

#[test]
fn copies_keep_both_times_numbers_and_quality_of_service() {
    let everything = |bytes: &[u8]| {
        let (mut reader, mut all) = (Reader::new(bytes, "memory"), Vec::new());
        while let Some(item) = reader.next() {
            let Item::Message(m) = item else { continue };
            let metadata = m.channel.metadata.clone();
            all.push((m.sequence, m.log_time, m.publish_time, m.payload.to_vec(), metadata));
        }
        all
    };
    let file = robot_file();
    let copy = written(&options(), |w| {
        headland_record::copy(Reader::new(&file[..], "robot"), w).map(|_| ())
    });
    let wanted = everything(&file);
    assert_eq!(everything(&copy), wanted);
    assert_eq!(wanted.len(), 20);
    let (sequence, log, publish, _, metadata) = &wanted[3];
    assert_eq!((*sequence, (*log - *publish).nanos()), (43, 250_000));
    assert!(metadata["offered_qos_profiles"].contains("reliability"));
}

#[test]
fn copies_keep_the_times_of_files() {
    let mut file = std::io::Cursor::new(Vec::new());
    let mut writer = mcap::Writer::new(&mut file).unwrap();
    let attachment = mcap::Attachment {
        log_time: 7_000_000_007,
        create_time: 1_700_000_000_000_000_001,
        name: "photo.png".to_string(),
        media_type: "image/png".to_string(),
        data: std::borrow::Cow::Borrowed(b"dots"),
    };
    writer.attach(&attachment).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let file = file.into_inner();
    let copy = written(&options(), |w| {
        headland_record::copy(Reader::new(&file[..], "robot"), w).map(|_| ())
    });
    let summary = mcap::Summary::read(&copy).unwrap().unwrap();
    assert_eq!(summary.attachment_indexes.len(), 1);
    let index = &summary.attachment_indexes[0];
    assert_eq!(mcap::read::attachment(&copy, index).unwrap(), attachment);
    assert_eq!((index.log_time, index.create_time), (7_000_000_007, 1_700_000_000_000_000_001));
    let (memory, _) = load(Reader::new(&file[..], "robot"), &LoadOptions::default());
    assert_eq!(memory.attachments[0].create_time.nanos(), 1_700_000_000_000_000_001);
}

/// Stamps are set where things are measured, and messages come when they come: rows are in
/// order all the same, and what falls on one moment is one row.
#[test]
fn rows_are_sorted_by_stamp_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (folder.path().join("a.mcap"), folder.path().join("a.csv"));
    let bytes = written(&options(), |w| {
        let fast = w.channel("/fast", Kind::WrenchStamped)?;
        let slow = w.channel("/slow/pose", Kind::PoseStamped)?;
        for i in 1..50i64 {
            let log = SimTime::from_nanos(i * 10);
            w.wrench(fast, log, "", Vec3::new(i as f64, 0.0, 0.0), Vec3::ZERO)?;
            // Measured five moments ago, sent now.
            let header = Header::new(SimTime::from_nanos((i - 5).max(1) * 10), "world");
            let mut late = PoseStamped { header, ..PoseStamped::default() };
            late.pose.position.x = i as f64;
            late.pose.orientation.w = 1.0;
            w.message(slow, log, &late)?;
        }
        Ok(())
    });
    fs::write(&source, &bytes).unwrap();
    let findings = export(&source, &path, Format::Csv, None, &options()).unwrap();
    assert!(findings.is_empty(), "{:?}", findings.into_vec());
    let text = fs::read_to_string(&path).unwrap();
    let times: Vec<&str> = text.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    // Five early poses share the first stamp, and each is a row.
    assert_eq!(times.len(), 49 + 5);
    // Two roads: message by message, and from memory.
    let mut from_memory = Vec::new();
    headland_record::csv::write(&mut from_memory, &loaded(&bytes)).unwrap();
    assert_eq!(text.as_bytes(), from_memory);
}

/// Copying what others wrote keeps payloads, and the copy of a copy is the same file.
#[test]
fn copies_are_faithful() {
    let bytes = written(&options(), |w| small_run(w, 40));
    let once = written(&options(), |w| {
        headland_record::copy(Reader::new(&bytes[..], "memory"), w).map(|_| ())
    });
    assert!(common::messages_of(&once) == common::messages_of(&bytes));
    let copy_of = |bytes: &[u8], writer: &mut Writer| {
        headland_record::copy(Reader::new(bytes, "memory"), writer).map(|_| ())
    };
    assert_eq!(once, written(&options(), |w| copy_of(&once, w)));
}
