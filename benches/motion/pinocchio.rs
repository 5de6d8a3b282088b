//! Pinocchio as a program beside us: gets a tree and states, answers with values and times.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use headland_base::{Quat, Vec3};
use headland_sim::tree::{Node, NodeKind, Tree};

use super::algorithms::{Algorithm, Sample};

/// The running program.
pub struct Pinocchio {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Pinocchio {
    /// Of the program an environment variable names, if it does.
    pub fn start(
        variable: &str,
        gravity: Vec3,
        tree: &Tree,
        samples: &[Sample],
    ) -> Option<Pinocchio> {
        let mut child = Command::new(std::env::var_os(variable)?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it is a program");
        let mut ask = child.stdin.take().expect("piped");
        let answers = BufReader::new(child.stdout.take().expect("piped"));
        ask.write_all(describe(gravity, tree, samples).as_bytes()).expect("it listens");
        Some(Pinocchio { child, ask, answers })
    }

    /// Results of every sample, one after the other.
    pub fn values(&mut self, algorithm: Algorithm) -> Vec<f64> {
        let answer = self.request(&format!("values {}", algorithm.letter()));
        answer.split_whitespace().map(|word| word.parse().expect("a number")).collect()
    }

    /// Seconds of `n` rounds over all samples.
    pub fn time(&mut self, algorithm: Algorithm, n: usize) -> f64 {
        let answer = self.request(&format!("time {} {n}", algorithm.letter()));
        answer.trim().parse::<f64>().expect("a number") * 1e-9
    }

    fn request(&mut self, text: &str) -> String {
        writeln!(self.ask, "{text}").expect("it listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        answer
    }
}

impl Drop for Pinocchio {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// The text `benches/peers/pinocchio.cpp` reads. Its numbers are written so that they are read
/// back to the bit.
fn describe(gravity: Vec3, tree: &Tree, samples: &[Sample]) -> String {
    let mut text = format!("gravity {:?} {:?} {:?}\n", gravity.x, gravity.y, gravity.z);
    _ = writeln!(text, "nodes {}", tree.nodes.len());
    for node in &tree.nodes {
        describe_node(node, &mut text);
    }
    _ = writeln!(text, "states {}", samples.len());
    for sample in samples {
        let theirs = [&sample.velocities, &sample.efforts, &sample.accelerations];
        let theirs = theirs.map(|ours| to_theirs(sample, ours)).concat();
        for number in sample.positions.iter().chain(&theirs) {
            _ = write!(text, "{number:?} ");
        }
        text.push('\n');
    }
    text
}

fn describe_node(node: &Node, text: &mut String) {
    let parent = node.parent.map_or("-1".to_string(), |i| i.to_string());
    let kind = match node.kind {
        NodeKind::Free => "free",
        NodeKind::Turn => "turn",
        _ => unreachable!("a humanoid has hinges"),
    };
    let (p, q, c) =
        (node.parent_from_joint.translation, node.parent_from_joint.rotation, node.centre);
    let placed = [p.x, p.y, p.z, q.x, q.y, q.z, q.w, node.mass, c.x, c.y, c.z];
    let inertia = node.inertia.to_cols_array();
    _ = write!(text, "{parent} {kind}");
    for number in placed.iter().chain(&inertia).chain([&node.armature]) {
        _ = write!(text, " {number:?}");
    }
    text.push('\n');
}

fn base_turn(sample: &Sample) -> Quat {
    let q = &sample.positions;
    Quat::from_xyzw(q[3], q[4], q[5], q[6])
}

/// Ours has a free link's turning first and along the world's axes; Pinocchio has it second and
/// along the link's own. Velocities, accelerations and efforts alike, because the link's frame
/// is at its centre.
pub fn to_theirs(sample: &Sample, ours: &[f64]) -> Vec<f64> {
    let back = base_turn(sample).conjugate();
    let turn = back * Vec3::new(ours[0], ours[1], ours[2]);
    let line = back * Vec3::new(ours[3], ours[4], ours[5]);
    let mut out = ours.to_vec();
    out[..6].copy_from_slice(&[line.x, line.y, line.z, turn.x, turn.y, turn.z]);
    out
}

/// The other way round.
pub fn to_ours(sample: &Sample, theirs: &[f64]) -> Vec<f64> {
    let out = base_turn(sample);
    let line = out * Vec3::new(theirs[0], theirs[1], theirs[2]);
    let turn = out * Vec3::new(theirs[3], theirs[4], theirs[5]);
    let mut ours = theirs.to_vec();
    ours[..6].copy_from_slice(&[turn.x, turn.y, turn.z, line.x, line.y, line.z]);
    ours
}
