//! A recording as a table.

use std::io::{self, Write};

use headland_base::{SimTime, Transform};

use crate::decimal::{write_float, write_seconds};
use crate::recording::{MOTION_KEYS, POSE_KEYS, Recording, object_name};
use crate::track::{Data, Motion};

/// A column to be written: its times and its values.
struct Written<'a> {
    key: String,
    times: &'a [SimTime],
    value: Box<dyn Fn(usize) -> f64 + 'a>,
}

/// Writes every number of a recording, one row per moment, a cell only where there is a
/// sample. Contacts are written as their count, depth and force; texts are not numbers.
pub fn write(out: &mut impl Write, recording: &Recording) -> io::Result<()> {
    let columns = written_columns(recording);
    let mut writer = ::csv::Writer::from_writer(out);
    let names = columns.iter().map(|column| column.key.as_str());
    writer.write_record(["time"].into_iter().chain(names))?;
    let mut next = vec![0; columns.len()];
    let mut row: Vec<String> = Vec::new();
    loop {
        let waiting = columns.iter().zip(&next).filter_map(|(column, at)| column.times.get(*at));
        let Some(time) = waiting.min().copied() else { break };
        row.clear();
        row.push(write_seconds(time));
        for (column, at) in columns.iter().zip(&mut next) {
            row.push(match column.times.get(*at) {
                Some(t) if *t == time => {
                    *at += 1;
                    write_float((column.value)(*at - 1))
                }
                _ => String::new(),
            });
        }
        writer.write_record(&row)?;
    }
    writer.flush()
}

fn written_columns(recording: &Recording) -> Vec<Written<'_>> {
    let mut columns: Vec<Written<'_>> = Vec::new();
    for (topic, track) in recording.tracks() {
        let (times, object) = (track.times(), object_name(topic));
        match track.data() {
            Data::Poses(poses) => columns.extend(POSE_KEYS.iter().enumerate().map(|(i, key)| {
                let value = Box::new(move |at: usize| pose_number(&poses[at], i));
                Written { key: format!("{object}/{key}"), times, value }
            })),
            Data::Motions(list) => {
                columns.extend(MOTION_KEYS.iter().enumerate().map(|(i, key)| {
                    let value = Box::new(move |at: usize| motion_number(&list[at], i));
                    Written { key: format!("{object}/{key}"), times, value }
                }))
            }
            Data::Scalars(scalars) => columns.extend(scalars.iter().map(|(key, values)| {
                let topic = topic.trim_start_matches('/');
                let key = if key == "data" { topic.to_string() } else { format!("{topic}/{key}") };
                Written { key, times, value: Box::new(move |at| values[at]) }
            })),
            Data::Contacts(_) => {
                for what in ["count", "depth", "normal_force"] {
                    let key = format!("{object}/{what}");
                    if let Some(column) = recording.column(&key) {
                        let value = Box::new(move |at: usize| column.values[at]);
                        columns.push(Written { key, times, value });
                    }
                }
            }
            Data::Joints(_) | Data::Remarks(_) => {}
        }
    }
    for (name, track, joint) in recording.joints() {
        for property in ["position", "velocity", "effort"] {
            if let Some(values) = joint.property(property) {
                let (key, times) = (format!("{name}/{property}"), track.times());
                columns.push(Written { key, times, value: Box::new(move |at| values[at]) });
            }
        }
    }
    columns
}

fn pose_number(pose: &Transform, i: usize) -> f64 {
    let (p, q) = (pose.translation, pose.rotation);
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w][i]
}

fn motion_number(motion: &Motion, i: usize) -> f64 {
    if i < 3 { motion.linear[i] } else { motion.angular[i - 3] }
}
