//! The KITTI form of a trajectory: the first three rows of a pose as a matrix, twelve numbers a
//! line, blanks between.
//!
//! The form has no times; they lie in a file of their own, one number of seconds a line. Where
//! `times.txt` is beside the poses it is taken; else the poses are a second apart, and that is
//! said. Whose poses they are, whoever reads them says.

use std::io::BufRead;

use headland_base::maths::{Mat3, Quat, Vec3, unit_quat};
use headland_base::{Diagnostic, Findings, SimDuration, SimTime, Transform};

use crate::decimal::{TimeUnit, parse_time};
use crate::lines::Lines;
use crate::pose_lines;
use crate::sample::Goal;

/// How far a matrix may be from a rotation: the files have seven digits.
const SLACK: f64 = 1e-3;

/// Reads one trajectory line by line, with the lines of a file of times where there is one. An
/// `Err` is the goal's.
pub(crate) fn read_samples(
    input: impl BufRead,
    name: &str,
    times: Option<(impl BufRead, &str)>,
    object: &str,
    goal: &mut dyn Goal,
) -> Result<Findings, Diagnostic> {
    let mut findings = Findings::new();
    let mut clock = Clock::new(times);
    let parse = |text: &str, findings: &mut Findings| {
        let time = clock.next(findings)?;
        Some(parse_line(text).map(|pose| (time, pose)))
    };
    let has_poses = pose_lines::read(input, name, object, goal, &mut findings, parse)?;
    if clock.lines.is_none() && has_poses {
        let message = format!("`{name}` has no times; its poses are taken to be a second apart");
        let help = "put the sequence's `times.txt` beside it";
        findings.push(Diagnostic::remark("no-times", message).help(help));
    }
    Ok(findings)
}

/// Where times come from.
struct Clock<R> {
    lines: Option<(Lines<R>, String)>,
    next: SimTime,
}

impl<R: BufRead> Clock<R> {
    fn new(times: Option<(R, &str)>) -> Clock<R> {
        let lines = times.map(|(input, name)| (Lines::new(input, name), name.to_string()));
        Clock { lines, next: SimTime::ZERO }
    }

    /// The time of the next pose; the end of the times is a finding, and so is a line that is
    /// none.
    fn next(&mut self, findings: &mut Findings) -> Option<SimTime> {
        let Some((lines, name)) = &mut self.lines else {
            let now = self.next;
            self.next += SimDuration::from_nanos(1_000_000_000);
            return Some(now);
        };
        let Some(line) = lines.next(findings) else {
            let message = format!("`{name}` has fewer times than there are poses");
            findings.push(Diagnostic::error("bad-time", message).note("the rest was left out"));
            return None;
        };
        let (number, text) = (line.number, line.text.trim());
        let time = parse_time(text, TimeUnit::Seconds);
        if time.is_none() {
            let message = format!("`{name}` line {number}: `{text:.40}` is no time in seconds");
            findings.push(Diagnostic::error("bad-time", message));
        }
        time
    }
}

fn parse_line(text: &str) -> Result<Transform, String> {
    let cells: Vec<&str> = text.split_whitespace().take(13).collect();
    if cells.len() != 12 {
        return Err(format!("a pose is twelve numbers, not `{text:.60}`"));
    }
    let mut m = [0.0; 12];
    for (value, cell) in m.iter_mut().zip(cells) {
        *value = cell.parse().map_err(|_| format!("`{cell:.40}` is no number"))?;
    }
    let rows = [[m[0], m[1], m[2]], [m[4], m[5], m[6]], [m[8], m[9], m[10]]].map(Vec3::from_array);
    let off = |i: usize, j: usize| (rows[i].dot(rows[j]) - f64::from(i == j)).abs();
    let is_square = (0..3).all(|i| (i..3).all(|j| off(i, j) <= SLACK));
    if !is_square || rows[0].cross(rows[1]).dot(rows[2]) < 0.0 {
        return Err("its first nine numbers are no rotation".to_string());
    }
    let matrix = Mat3::from_cols(rows[0], rows[1], rows[2]).transpose();
    let rotation = unit_quat(Quat::from_mat3(&matrix)).ok_or("a rotation without a direction")?;
    Ok(Transform::new(rotation, Vec3::new(m[3], m[7], m[11])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Columns, LoadOptions};
    use headland_base::maths::{angle_between, quat_from_rpy};

    fn read(text: &str, times: Option<&str>) -> (crate::Recording, Vec<&'static str>) {
        let mut columns = Columns::new(LoadOptions::default().n_values_max);
        let times = times.map(|text| (text.as_bytes(), "times.txt"));
        let mut findings =
            read_samples(text.as_bytes(), "k.txt", times, "car", &mut columns).unwrap();
        let recording = columns.finish(&mut findings);
        (recording, findings.into_vec().iter().map(|d| d.code).collect())
    }

    #[test]
    fn a_matrix_is_a_pose() {
        let turn = quat_from_rpy(0.3, -0.4, 2.5);
        let m = Mat3::from_quat(turn).transpose(); // its columns are the rows
        let line = format!(
            "{} {} {} 1 {} {} {} 2 {} {} {} 3\n",
            m.x_axis.x,
            m.x_axis.y,
            m.x_axis.z,
            m.y_axis.x,
            m.y_axis.y,
            m.y_axis.z,
            m.z_axis.x,
            m.z_axis.y,
            m.z_axis.z
        );
        let (recording, codes) = read(&line.repeat(3), Some("0\n1e-1\n2.5\n"));
        assert!(codes.is_empty());
        let (times, poses) = recording.poses("car").unwrap();
        assert_eq!(times.iter().map(|t| t.secs()).collect::<Vec<_>>(), [0.0, 0.1, 2.5]);
        assert!(angle_between(poses[2].rotation, turn) < 1e-7);
        assert_eq!(poses[2].translation, Vec3::new(1.0, 2.0, 3.0));
        let (recording, codes) = read(&line.repeat(2), None);
        assert_eq!((recording.poses("car").unwrap().0[1].secs(), codes), (1.0, vec!["no-times"]));
        assert_eq!(read(&line.repeat(2), Some("0\n")).1, ["bad-time"]);
        assert_eq!(read(&line.repeat(3), Some("1\n0.5\n2\n")).1, ["time-went-back"]);
    }

    #[test]
    fn what_is_no_pose_is_named() {
        for line in [
            "1 2 3",
            "1 0 0 0 0 1 0 0 0 0 x 0",
            "1 0 0 0 0 1 0 0 0 0 -1 0",
            "2 0 0 0 0 2 0 0 0 0 2 0",
        ] {
            assert_eq!(read(line, Some("0\n")).1, ["bad-pose"], "{line}");
        }
    }
}
