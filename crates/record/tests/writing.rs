//! What is written comes back, the same bytes every time, and a failing disk loses only
//! what was not written yet.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use common::{messages_of, options, small_run, written};
use headland_base::maths::{Quat, Vec3};
use headland_base::{SimTime, Transform};
use headland_record::messages::{self, Header, PoseStamped, TwistStamped};
use headland_record::{
    Compression, ContactRef, Item, Kind, Memory, Reader, Sink, WriteOptions, Writer,
};

#[test]
fn background_and_inline_give_the_same_bytes() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let make = |threaded| {
            written(&options().compression(compression).threaded(threaded), |w| small_run(w, 700))
        };
        let (inline, threaded, again) = (make(false), make(true), make(true));
        assert_eq!(inline, threaded, "{compression:?}");
        assert_eq!(threaded, again, "{compression:?}");
        assert!(inline.len() > 10_000);
    }
}

#[test]
fn everything_comes_back_in_order() {
    let bytes = written(&options(), |w| {
        w.metadata("headland", BTreeMap::from([("seed".into(), "7".into())]))?;
        w.attach("world.sdf", "application/xml", b"<sdf/>".to_vec())?;
        small_run(w, 50)
    });
    let mut reader = Reader::new(&bytes[..], "memory");
    let (mut topics, mut times, mut others) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(item) = reader.next() {
        match item {
            Item::Header { profile, library } => others.push(format!("{profile} {library}")),
            Item::Channel(channel) => {
                let schema = channel.schema.as_ref().expect("always embedded");
                assert_eq!((&*schema.encoding, &*channel.message_encoding), ("ros2msg", "cdr"));
                topics.push(channel.topic.clone());
            }
            Item::Message(message) => {
                assert_eq!(message.log_time, message.publish_time);
                times.push(message.log_time);
            }
            Item::Attachment(file) => others.push(format!("{} {}", file.name, file.bytes.len())),
            Item::Metadata { name, entries } => others.push(format!("{name} {entries:?}")),
        }
    }
    assert_eq!(topics, ["/ball/pose", "/ball/twist", "/arm/joint_states", "/contacts", "/events"]);
    assert_eq!(others, ["ros2 test 1", "headland {\"seed\": \"7\"}", "world.sdf 6"]);
    assert!(times.is_sorted() && times.len() == 50 * 3 + 5 + 1);
    assert!(reader.truncation().is_none() && reader.findings().is_empty());
}

/// The quick road for poses, twists and contacts must be the road of the encoder, to the byte, for
/// every length of the frame's name and so every padding.
#[test]
fn hand_encoding_is_the_encoding() {
    for n in 0..20 {
        let frame = "frame_of_some_length"[..n].to_string();
        let time = SimTime::from_nanos(12_345_678_901);
        let transform = Transform::new(
            Quat::from_xyzw(0.1, -0.2, 0.3, 0.9),
            Vec3::new(1.5, f64::NEG_INFINITY, -0.0),
        );
        let (linear, angular) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(-4.0, 5e-300, 6.0));
        let touching: Vec<messages::Contact> = (0..n)
            .map(|i| messages::Contact {
                body_a: frame[..i].to_string(),
                body_b: "ground".into(),
                position: linear.into(),
                normal: Vec3::Z.into(),
                depth: -0.0,
                normal_force: 3.0,
                force: angular.into(),
            })
            .collect();
        let bytes = written(&options(), |w| {
            let pose = w.channel("/p", Kind::PoseStamped)?;
            let twist = w.channel("/t", Kind::TwistStamped)?;
            w.pose(pose, time, &frame, &transform)?;
            w.twist(twist, time, &frame, linear, angular)?;
            let contacts = w.channel("/c", Kind::Contacts)?;
            let all = touching.iter().map(ContactRef::from);
            w.contacts(contacts, time, &frame, all)
        });
        let payloads: Vec<Vec<u8>> = messages_of(&bytes).into_iter().map(|(_, _, p)| p).collect();
        let header = Header::new(time, &frame);
        let pose = PoseStamped { header: header.clone(), pose: (&transform).into() };
        let contacts = messages::Contacts { header: header.clone(), contacts: touching.clone() };
        let twist = TwistStamped {
            header,
            twist: messages::Twist { linear: linear.into(), angular: angular.into() },
        };
        let encoded =
            [messages::encode(&pose), messages::encode(&twist), messages::encode(&contacts)];
        assert_eq!(payloads, encoded, "{n}");
    }
}

/// A disk with room for only so many bytes.
#[derive(Clone, Default)]
struct SmallDisk {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Write for SmallDisk {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut bytes = self.bytes.lock().unwrap();
        let n = data.len().min(self.room - bytes.len());
        if n == 0 && !data.is_empty() {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        bytes.extend_from_slice(&data[..n]);
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for SmallDisk {
    fn truncate(&mut self, n_bytes: u64) -> io::Result<()> {
        self.bytes.lock().unwrap().truncate(n_bytes as usize);
        Ok(())
    }
}

#[test]
fn a_full_disk_is_said_and_leaves_whole_chunks() {
    let options = options().chunk_bytes(1000);
    let whole = written(&options, |w| small_run(w, 60));
    let all = messages_of(&whole);
    let mut kept_some = 0;
    for room in (0..whole.len()).step_by(97) {
        for threaded in [false, true] {
            let disk = SmallDisk { room, ..SmallDisk::default() };
            let options = options.clone().threaded(threaded);
            let failure = Writer::new(disk.clone(), "small.mcap", &options)
                .and_then(|mut writer| small_run(&mut writer, 60).and_then(|()| writer.finish()))
                .expect_err("the disk is too small");
            assert_eq!(failure.code, "recording-not-written");
            assert!(failure.message.contains("small.mcap"), "{failure:?}");
            let left = disk.bytes.lock().unwrap().clone();
            assert!(failure.notes[0].contains(&format!("first {} bytes", left.len())));
            assert!(whole.starts_with(&left));
            let kept = messages_of(&left);
            assert!(all.starts_with(&kept));
            // Nothing but whole records: the reader stops exactly at the end.
            let mut reader = Reader::new(&left[..], "left");
            while reader.next().is_some() {}
            let cut = reader.truncation().expect("there is no end of the file");
            assert_eq!(cut.whole_bytes, left.len() as u64);
            kept_some += usize::from(!kept.is_empty());
        }
    }
    assert!(kept_some > 50);
}

#[test]
fn a_device_that_is_full_from_the_start() {
    if cfg!(target_os = "linux") {
        let failure = Writer::create("/dev/full", &options()).err().expect("no room at all");
        assert_eq!(failure.code, "recording-not-written");
        assert!(failure.message.contains("/dev/full"));
    }
    let missing = tempfile::tempdir().unwrap().path().join("no/such/folder.mcap");
    assert_eq!(Writer::create(missing, &options()).err().unwrap().code, "recording-not-created");
}

#[test]
fn a_writer_that_is_dropped_still_closes_the_file() {
    let memory = Memory::new();
    let mut writer = Writer::new(memory.clone(), "memory", &options()).unwrap();
    small_run(&mut writer, 20).unwrap();
    drop(writer);
    let bytes = memory.bytes();
    assert_eq!(messages_of(&bytes).len(), 20 * 3 + 2 + 1);
    assert!(mcap::Summary::read(&bytes).unwrap().is_some());
}

#[test]
fn what_cannot_be_written_is_refused() {
    let mut writer = Writer::new(Memory::new(), "memory", &options()).unwrap();
    let pose = writer.channel("/a", Kind::PoseStamped).unwrap();
    assert_eq!(writer.channel("/a", Kind::PoseStamped).unwrap(), pose);
    assert_eq!(writer.channel("/a", Kind::Event).unwrap_err().code, "topic-has-two-types");
    for nanos in [-1, i64::MAX] {
        let time = SimTime::from_nanos(nanos);
        let refused = writer.pose(pose, time, "world", &Transform::IDENTITY).unwrap_err();
        assert_eq!(refused.code, "time-out-of-range");
    }
    for n in 0..65533 {
        writer.channel(&format!("/n{n}"), Kind::Float64).unwrap();
    }
    assert_eq!(writer.channel("/last", Kind::Float64).unwrap_err().code, "too-many-channels");
    writer.finish().unwrap();
}

/// A chunk ends after a simulated second even when little happens, so a killed run loses
/// at most that.
#[test]
fn chunks_end_by_bytes_or_by_time() {
    let slow = |n: i64, step_nanos: i64| {
        let memory = Memory::new();
        let mut writer = Writer::new(memory, "memory", &WriteOptions::new("test 1")).unwrap();
        let channel = writer.channel("/x", Kind::PoseStamped).unwrap();
        for i in 0..n {
            let time = SimTime::from_nanos(i * step_nanos);
            writer.pose(channel, time, "world", &Transform::IDENTITY).unwrap();
        }
        writer.finish().unwrap()
    };
    assert_eq!(slow(100, 100_000_000).n_chunks, 10);
    // 115 bytes each: a mebibyte is reached after 9119 of them.
    assert_eq!(slow(30_000, 1_000).n_chunks, 4);
}

/// The library that defines the format reads our files, every checksum checked.
#[test]
fn the_reference_library_finds_nothing_wrong() {
    use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let bytes = written(&options().compression(compression).chunk_bytes(4000), |w| {
            w.attach("a.txt", "text/plain", vec![7; 5000])?;
            small_run(w, 60)?;
            w.metadata("m", BTreeMap::from([("k".to_string(), "v".to_string())]))
        });
        let checks = LinearReaderOptions {
            check_finishes_after_end_magic: true,
            prevalidate_chunk_crcs: true,
            validate_data_section_crc: true,
            validate_summary_section_crc: true,
            ..LinearReaderOptions::default()
        };
        let mut reader = LinearReader::new_with_options(checks);
        let (mut rest, mut n_messages) = (&bytes[..], 0);
        while let Some(event) = reader.next_event() {
            match event.unwrap() {
                LinearReadEvent::ReadRequest(n) => {
                    let n = io::Read::read(&mut rest, reader.insert(n)).unwrap();
                    reader.notify_read(n);
                }
                LinearReadEvent::Record { data, opcode } => {
                    mcap::parse_record(opcode, data).unwrap();
                    n_messages += usize::from(opcode == mcap::records::op::MESSAGE);
                }
            }
        }
        assert_eq!(n_messages, messages_of(&bytes).len());
        // By the index: every message of a topic, found through the chunks that hold it.
        let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
        let indexed: usize = (summary.chunk_indexes.iter())
            .flat_map(|chunk| summary.read_message_indexes(&bytes, chunk).unwrap())
            .map(|(_, entries)| entries.len())
            .sum();
        assert_eq!(indexed, n_messages);
        for chunk in &summary.chunk_indexes {
            let indexes = summary.read_message_indexes(&bytes, chunk).unwrap();
            assert!(indexes.into_iter().all(|(channel, entries)| {
                let message = summary.seek_message(&bytes, chunk, &entries[0]).unwrap();
                message.channel.id == channel.id && message.log_time == entries[0].log_time
            }));
        }
        let statistics = summary.stats.unwrap();
        assert_eq!(statistics.message_count, n_messages as u64);
        assert_eq!((statistics.attachment_count, statistics.metadata_count), (1, 1));
        let file = mcap::read::attachment(&bytes, &summary.attachment_indexes[0]).unwrap();
        assert_eq!(file.data[..], vec![7; 5000][..]);
        let facts = mcap::read::metadata(&bytes, &summary.metadata_indexes[0]).unwrap();
        assert_eq!(facts.metadata["k"], "v");
    }
}

/// Writes until it is killed.
fn write_without_end(path: std::ffi::OsString) {
    let mut writer = Writer::create(path, &WriteOptions::new("test 1")).unwrap();
    let channel = writer.channel("/x/pose", Kind::PoseStamped).unwrap();
    for i in 0.. {
        let time = SimTime::from_nanos(i * 1_000_000);
        let pose = Transform::from_translation(Vec3::new(i as f64, 0.0, 0.0));
        writer.pose(channel, time, "world", &pose).unwrap();
    }
}

/// Killed without a chance to say goodbye, a run leaves a file with every sample up to its
/// last chunk. The test starts itself again, and what it starts is what it kills.
#[test]
fn a_killed_run_leaves_a_readable_file() {
    if let Some(path) = std::env::var_os("HEADLAND_TEST_ENDLESS") {
        return write_without_end(path);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.mcap");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_killed_run_leaves_a_readable_file"])
        .env("HEADLAND_TEST_ENDLESS", &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let length = || std::fs::metadata(&path).map_or(0, |about| about.len());
    while length() < 200_000 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let all = messages_of(&bytes);
    assert!(all.len() > 5000, "{}", all.len());
    for (i, (_, time, payload)) in all.iter().enumerate() {
        assert_eq!(time.nanos(), i as i64 * 1_000_000);
        let pose: PoseStamped = messages::decode(payload).unwrap();
        assert_eq!(pose.pose.position.x, i as f64);
    }
}

#[test]
fn two_writers_cannot_share_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mcap");
    std::fs::write(&path, b"something older and longer than a header").unwrap();
    let first = Writer::create(&path, &options()).unwrap();
    let second = Writer::create(&path, &options()).map(|_| ()).unwrap_err();
    assert_eq!(second.code, "recording-in-use");
    first.finish().unwrap();
    Writer::create(&path, &options()).unwrap().finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"\x89MCAP") && bytes.ends_with(b"\x89MCAP0\r\n"));
}
