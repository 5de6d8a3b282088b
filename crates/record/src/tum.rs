//! The TUM form of a trajectory: `time x y z qx qy qz qw`, one pose per line, blanks between.
//!
//! Lines come and go one at a time. Deliberately absent: whose poses they are; the form has
//! no place for a name, so whoever reads one says it.

use std::io::{BufRead, Write};

use headland_base::maths::{Quat, Vec3, unit_quat};
use headland_base::{Diagnostic, Findings, SimTime, Transform};

use crate::decimal::{TimeUnit, parse_time, write_float, write_seconds};
use crate::layout::Layout;
use crate::load::{Columns, LoadOptions};
use crate::pose_lines;
use crate::recording::{Recording, pose_numbers};
use crate::sample::{Goal, Sample, Sort};
use crate::save::for_each_sample;

/// Reads one trajectory as the poses of `object`. Lines that are no pose are findings.
pub fn read(input: impl BufRead, name: &str, object: &str) -> (Recording, Findings) {
    let mut columns = Columns::new(LoadOptions::default().n_values_max);
    let mut findings = read_samples(input, name, object, &mut columns)
        .expect("memory takes everything or says it is full");
    let recording = columns.finish(&mut findings);
    (recording, findings)
}

/// Reads one trajectory line by line. An `Err` is the goal's.
pub(crate) fn read_samples(
    input: impl BufRead,
    name: &str,
    object: &str,
    goal: &mut dyn Goal,
) -> Result<Findings, Diagnostic> {
    let mut findings = Findings::new();
    let parse = |text: &str, _: &mut Findings| Some(parse_line(text));
    pose_lines::read(input, name, object, goal, &mut findings, parse)?;
    Ok(findings)
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

/// Writes the poses of one object of a recording, or of the only one that moves.
pub fn write(
    out: &mut impl Write,
    recording: &Recording,
    object: Option<&str>,
) -> Result<(), Diagnostic> {
    let mut layout = Layout::default();
    for_each_sample(recording, &mut layout)?;
    let mut goal = TrajectoryGoal::new(out, "trajectory", layout.trajectory(object)?)?;
    for_each_sample(recording, &mut goal)?;
    goal.finish()
}

/// Writes the poses of one track, every float so that it reads back as itself.
pub(crate) struct TrajectoryGoal<W: Write> {
    out: W,
    name: String,
    track: usize,
}

impl<W: Write> TrajectoryGoal<W> {
    /// Starts a trajectory of the poses of `track`; `name` is what diagnostics call it.
    pub fn new(out: W, name: &str, track: usize) -> Result<TrajectoryGoal<W>, Diagnostic> {
        let mut goal = TrajectoryGoal { out, name: name.to_string(), track };
        goal.line(format_args!("# time x y z qx qy qz qw"))?;
        Ok(goal)
    }

    /// Everything is handed to the disk.
    pub fn finish(mut self) -> Result<(), Diagnostic> {
        self.out.flush().map_err(|fault| self.cannot(&fault))
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) -> Result<(), Diagnostic> {
        writeln!(self.out, "{line}").map_err(|fault| self.cannot(&fault))
    }

    fn cannot(&self, fault: &std::io::Error) -> Diagnostic {
        Diagnostic::error("not-written", format!("cannot write `{}`: {fault}", self.name))
    }
}

impl<W: Write> Goal for TrajectoryGoal<W> {
    fn track(&mut self, _: &str, _: &str, _: Sort) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn sample(
        &mut self,
        track: usize,
        time: SimTime,
        _: &str,
        sample: Sample<'_>,
    ) -> Result<(), Diagnostic> {
        let Sample::Pose(pose) = sample else { return Ok(()) };
        if track != self.track {
            return Ok(());
        }
        let numbers = pose_numbers(&pose).map(write_float);
        self.line(format_args!("{} {}", write_seconds(time), numbers.join(" ")))
    }
}
