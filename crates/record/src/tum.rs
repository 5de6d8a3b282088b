//! The TUM form of a trajectory: `time x y z qx qy qz qw`, one pose per line, blanks between.

use std::io::{self, BufRead, Write};

use headland_base::maths::{Quat, Vec3, unit_quat};
use headland_base::{Diagnostic, Findings, SimTime, Transform};

use crate::decimal::{TimeUnit, parse_time, write_float, write_seconds};
use crate::lines::Lines;
use crate::messages::Kind;
use crate::recording::Recording;
use crate::track::{Data, Track};

/// Reads one trajectory as the poses of `object`. Lines that are no pose are findings.
pub fn read(input: impl BufRead, name: &str, object: &str) -> (Recording, Findings) {
    let mut findings = Findings::new();
    let mut track = Track::empty(Kind::PoseStamped.name(), Data::Poses(Vec::new()));
    let mut n_backward = 0;
    let mut lines = Lines::new(input, name);
    while let Some(line) = lines.next(&mut findings) {
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match parse_line(text) {
            Ok((time, pose)) if track.accepts(time) => track.push_pose(time, pose),
            Ok(_) => n_backward += 1,
            Err(fault) => findings.push(Diagnostic::error(
                "bad-pose",
                format!("`{name}` line {}: {fault}", line.number),
            )),
        }
    }
    if n_backward > 0 {
        let message = format!("{n_backward} poses of `{name}` are earlier than the one before");
        findings.push(Diagnostic::warning("time-went-back", message).note("they were left out"));
    }
    let mut recording = Recording::new();
    recording.insert(format!("/{object}/pose"), track);
    (recording, findings)
}

fn parse_line(text: &str) -> Result<(SimTime, Transform), String> {
    let cells: Vec<&str> = text.split_whitespace().take(9).collect();
    let [time, numbers @ ..] = &cells[..] else { unreachable!("the line is not empty") };
    if numbers.len() != 7 {
        return Err(format!("a pose is `time x y z qx qy qz qw`, not `{text:.60}`"));
    }
    let time = parse_time(time, TimeUnit::Seconds)
        .ok_or_else(|| format!("`{time:.40}` is no time in seconds"))?;
    let mut values = [0.0; 7];
    for (value, cell) in values.iter_mut().zip(numbers) {
        *value = cell.parse().map_err(|_| format!("`{cell:.40}` is no number"))?;
    }
    let [x, y, z, qx, qy, qz, qw] = values;
    let rotation = unit_quat(Quat::from_xyzw(qx, qy, qz, qw))
        .ok_or_else(|| format!("the quaternion `{qx} {qy} {qz} {qw}` has no direction"))?;
    Ok((time, Transform::new(rotation, Vec3::new(x, y, z))))
}

/// Writes the poses of one object, every float so that it reads back as itself.
pub fn write(out: &mut impl Write, times: &[SimTime], poses: &[Transform]) -> io::Result<()> {
    writeln!(out, "# time x y z qx qy qz qw")?;
    for (time, pose) in times.iter().zip(poses) {
        let (p, q) = (pose.translation, pose.rotation);
        let numbers = [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(write_float);
        writeln!(out, "{} {}", write_seconds(*time), numbers.join(" "))?;
    }
    Ok(())
}
