//! A small run every test can write, and a way to look at what was written.
#![allow(dead_code, clippy::unwrap_used)] // each test file uses its share

use headland_base::maths::{Vec3, quat_from_rpy};
use headland_base::{Diagnostic, SimTime, Transform};
use headland_record::messages::Contact;
use headland_record::{ContactRef, Item, Kind, Memory, Reader, WriteOptions, Writer};

pub fn options() -> WriteOptions {
    WriteOptions::new("test 1").threaded(false)
}

/// The bytes of a recording filled by `fill`.
pub fn written(
    options: &WriteOptions,
    fill: impl FnOnce(&mut Writer) -> Result<(), Diagnostic>,
) -> Vec<u8> {
    let memory = Memory::new();
    let mut writer = Writer::new(memory.clone(), "memory", options).unwrap();
    fill(&mut writer).unwrap();
    let written = writer.finish().unwrap();
    assert_eq!(written.n_bytes, memory.bytes().len() as u64);
    memory.bytes()
}

pub fn ball_pose(i: usize) -> Transform {
    let t = i as f64 * 1e-3;
    Transform::new(quat_from_rpy(0.1 * t, 0.2, t), Vec3::new(t, 2.0 * t, 1.0 - 4.905 * t * t))
}

/// A ball, an arm of two joints, now and then a contact, and one last word.
pub fn small_run(writer: &mut Writer, n_steps: usize) -> Result<(), Diagnostic> {
    let pose = writer.channel("/ball/pose", Kind::PoseStamped)?;
    let twist = writer.channel("/ball/twist", Kind::TwistStamped)?;
    let joints = writer.channel("/arm/joint_states", Kind::JointState)?;
    let contacts = writer.channel("/contacts", Kind::Contacts)?;
    let events = writer.channel("/events", Kind::Event)?;
    let names = ["shoulder".to_string(), "elbow".to_string()];
    for i in 0..n_steps {
        let (time, t) = (SimTime::from_nanos(i as i64 * 1_000_000), i as f64 * 1e-3);
        writer.pose(pose, time, "world", &ball_pose(i))?;
        writer.twist(twist, time, "world", Vec3::new(1.0, 2.0, -9.81 * t), Vec3::Z)?;
        writer.joint_states(joints, time, &names, &[t, -t], &[1.0, -1.0], &[])?;
        if i % 10 == 9 {
            let contact = Contact {
                body_a: "ball".into(),
                body_b: "ground".into(),
                position: Vec3::new(t, 0.0, 0.0).into(),
                normal: Vec3::Z.into(),
                depth: 1e-4,
                normal_force: 3.0,
                force: Vec3::new(0.5, 0.0, 3.0).into(),
            };
            writer.contacts(contacts, time, "world", [ContactRef::from(&contact)].into_iter())?;
        }
    }
    let end = SimTime::from_nanos(n_steps as i64 * 1_000_000);
    writer.event(events, end, "run", "end", "the duration is over")
}

/// Topic, time and payload of every message that can be read.
pub fn messages_of(bytes: &[u8]) -> Vec<(String, SimTime, Vec<u8>)> {
    let mut reader = Reader::new(bytes, "memory");
    let mut all = Vec::new();
    while let Some(item) = reader.next() {
        if let Item::Message(m) = item {
            all.push((m.channel.topic.clone(), m.log_time, m.payload.to_vec()));
        }
    }
    all
}
