//! Trajectories with one pose a line: what TUM's and KITTI's forms have in common.

use std::io::BufRead;

use headland_base::{Diagnostic, Findings, SimTime, Transform};

use crate::lines::{FEW, Lines};
use crate::messages::Kind;
use crate::sample::{Goal, Sample, Sort};
use crate::track::LeftOut;

/// Reads the poses of `object` line by line and says whether there are any. A line is parsed
/// into a pose, into what is wrong with it, or into `None`, the end. An `Err` is the goal's.
pub(crate) fn read(
    input: impl BufRead,
    name: &str,
    object: &str,
    goal: &mut dyn Goal,
    findings: &mut Findings,
    mut parse: impl FnMut(&str, &mut Findings) -> Option<Result<(SimTime, Transform), String>>,
) -> Result<bool, Diagnostic> {
    let mut lines = Lines::new(input, name);
    let (mut last, mut n_backward, mut bad) = (None, 0, Findings::at_most(FEW));
    goal.track(&format!("/{object}/pose"), Kind::PoseStamped.name(), Sort::Poses)?;
    while let Some(line) = lines.next(findings) {
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if goal.is_full() {
            break;
        }
        let number = line.number;
        match parse(text, findings) {
            None => break,
            Some(Ok((time, pose))) if last.is_none_or(|last| time >= last) => {
                last = Some(time);
                goal.sample(0, time, "", Sample::Pose(pose))?;
            }
            Some(Ok(_)) => n_backward += 1,
            Some(Err(fault)) => {
                bad.push(Diagnostic::error("bad-pose", format!("`{name}` line {number}: {fault}")));
            }
        }
    }
    findings.extend(bad.into_vec());
    if n_backward > 0 {
        goal.left_out(0, LeftOut { n_backward, n_duplicate: 0 });
        let message = format!("{n_backward} poses of `{name}` are earlier than the one before");
        findings.push(Diagnostic::warning("time-went-back", message).note("they were left out"));
    }
    Ok(last.is_some())
}
