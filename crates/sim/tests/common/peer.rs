//! What a comparison of trees with another program is made of: asking it, computing the same
//! here, and taking both to the coordinates of the other.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use headland_base::maths::Vec3;
use headland_base::{Mat3, Quat};
use headland_sim::tree::{
    Bodies, Factor, Motions, Tree, Turn, V3, V6, bias_forces, factor, inverse_dynamics,
    mass_matrix, move_bodies, place, solve, whole_body,
};
use serde_json::Value;

use super::difference;

/// The interpreter; `None` where none is set.
pub fn python(script: &str) -> Option<PathBuf> {
    let python = std::env::var_os("HEADLAND_PYTHON").map(PathBuf::from);
    if python.is_none() {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!("skipped: {script} needs packages of Python; ./test installs them");
    }
    python
}

/// What a script of `tests/foreign` answers, line by line.
pub fn ask(python: &Path, script: &str, question: String) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign").join(script);
    let mut child = Command::new(python)
        .arg("-B")
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("HEADLAND_PYTHON is an interpreter");
    let mut to_child = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || to_child.write_all(question.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{script} failed");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How a tree moves in the other's coordinates, at one state.
pub trait Coordinates {
    /// Where every node is, in ours.
    fn positions(&self) -> Vec<f64>;
    /// The state's own velocities, accelerations and efforts, in theirs.
    fn state(&self) -> [&[f64]; 3];
    /// Velocities to ours.
    fn velocities(&self, theirs: &[f64]) -> Vec<f64>;
    /// Accelerations to ours.
    fn accelerations(&self, theirs: &[f64]) -> Vec<f64>;
    /// Efforts to ours: they go the other way, by what they do per unit of a velocity.
    fn efforts(&self, theirs: &[f64]) -> Vec<f64>;
    /// Efforts to theirs.
    fn efforts_to_theirs(&self, ours: &[f64]) -> Vec<f64>;
}

/// The numbers of a JSON list.
pub fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Largest relative differences of what a tree computes and what the other answered, by name.
/// `their_pose` has a link's pose by its node: three rows of a rotation and a translation.
pub fn compare(
    tree: &Tree,
    gravity: Vec3,
    at: &impl Coordinates,
    theirs: &Value,
    their_pose: impl Fn(usize) -> Option<Vec<f64>>,
) -> Vec<(&'static str, f64)> {
    let (n, gravity) = (tree.n_dofs, V3::of(gravity));
    let [velocities, accelerations, efforts] = at.state();
    let mut bodies = Bodies::<f64>::new(tree);
    place(tree, &(Turn::of(Quat::IDENTITY), V3::ZERO), &at.positions(), &mut bodies);
    let mut motions = Motions::new(tree);
    move_bodies(tree, &bodies, V6::ZERO, &at.velocities(velocities), &mut motions);

    let mut poses = 0.0_f64;
    for (i, node) in tree.nodes.iter().enumerate() {
        let Some(theirs) = their_pose(i) else { continue };
        let ours = bodies.world_from_node(i, 0) * node.rigid_from_node.inverse();
        let (r, t) = (Mat3::from_quat(ours.rotation).transpose(), ours.translation);
        let [x, y, z] = [r.x_axis, r.y_axis, r.z_axis];
        let ours = [x.x, x.y, x.z, t.x, y.x, y.y, y.z, t.y, z.x, z.y, z.z, t.z];
        poses = poses.max(difference(&ours, &theirs[..12]));
    }
    let whole = whole_body(&bodies);
    let centre = (whole.centre + bodies.origin).get(0);
    let momentum = motions.momentum_about(&bodies, whole.centre);
    let (l, h) = (momentum.line.get(0), momentum.turn.get(0));
    let matrix = matrix_in_theirs(tree, &bodies, at);

    let mut forces = vec![V6::ZERO; tree.nodes.len()];
    bias_forces(tree, &bodies, &motions, gravity, &mut forces);
    let rotors: Vec<f64> = tree.column_nodes.iter().map(|i| tree.nodes[*i].armature).collect();
    let mut parts = Factor::new(tree);
    factor(tree, &bodies, &rotors, &mut parts);
    let mut forward = vec![0.0; n];
    solve(tree, &bodies, &parts, &at.efforts(efforts), &mut forces, &mut forward);

    let mut inverse = vec![0.0; n];
    let wanted = at.accelerations(accelerations);
    inverse_dynamics(
        tree,
        &bodies,
        gravity,
        &wanted,
        None,
        &mut motions,
        &mut forces,
        &mut inverse,
    );
    let of = |key: &str| numbers(&theirs[key]);
    vec![
        ("forward kinematics", poses),
        ("centre of mass", difference(&[centre.x, centre.y, centre.z], &of("centre"))),
        ("momentum", difference(&[l.x, l.y, l.z, h.x, h.y, h.z], &of("momentum"))),
        ("mass matrix", difference(&matrix, &of("matrix"))),
        ("inverse dynamics", difference(&at.efforts_to_theirs(&inverse), &of("efforts"))),
        ("forward dynamics", difference(&forward, &at.accelerations(&of("accelerations")))),
    ]
}

/// Column by column.
fn matrix_in_theirs(tree: &Tree, bodies: &Bodies<f64>, at: &impl Coordinates) -> Vec<f64> {
    let n = tree.n_dofs;
    let mut matrix = vec![0.0; n * n];
    mass_matrix(tree, bodies, &mut Vec::new(), &mut matrix);
    let mut out = vec![0.0; n * n];
    for k in 0..n {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        let unit = at.velocities(&unit);
        let ours: Vec<f64> =
            (0..n).map(|row| (0..n).map(|j| matrix[row * n + j] * unit[j]).sum()).collect();
        for (row, entry) in at.efforts_to_theirs(&ours).into_iter().enumerate() {
            out[row * n + k] = entry;
        }
    }
    out
}

/// The largest of many comparisons, by name; each below 1e-10.
#[derive(Debug, Default)]
pub struct Worst(Vec<(&'static str, f64)>);

impl Worst {
    /// One more.
    pub fn add(&mut self, case: usize, differences: Vec<(&'static str, f64)>) {
        for (what, error) in differences {
            assert!(error < 1e-10, "{case}: {what} differs by {error}");
            match self.0.iter_mut().find(|(name, _)| *name == what) {
                Some((_, most)) => *most = most.max(error),
                None => self.0.push((what, error)),
            }
        }
    }
}
