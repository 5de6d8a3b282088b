//! MuJoCo on a public humanoid: kinematics, centre of mass, momentum, mass matrix, inverse and
//! forward dynamics at random states, in MuJoCo's own coordinates.
//!
//! The humanoid is read where the Python package `pybullet` has it (`mjcf/humanoid.xml`, 40.8 kg,
//! 21 hinges, several in one body) and given the free joint it lacks there. Set
//! `HEADLAND_PYTHON` to an interpreter that has `mujoco` and `pybullet`; without it this test
//! says that it was skipped, and with `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use common::{Dice, difference, random_numbers, tree_of};
use headland_base::maths::Vec3;
use headland_base::{Mat3, Quat, Source, Transform};
use headland_sim::Model;
use headland_sim::tree::{
    Bodies, Factor, Motions, NodeKind, Tree, Turn, V3, V6, bias_forces, factor, inverse_dynamics,
    mass_matrix, move_bodies, place, solve, whole_body,
};
use serde_json::{Value, json};

const N_STATES: u64 = 50;

/// The interpreter; `None` where none is set.
fn python() -> Option<PathBuf> {
    let python = std::env::var_os("HEADLAND_PYTHON").map(PathBuf::from);
    if python.is_none() {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!("skipped: mujoco_humanoid.py needs MuJoCo and PyBullet; ./test installs them");
    }
    python
}

/// The humanoid with a free joint.
fn humanoid(python: &Path) -> String {
    let asked = "import pybullet_data; print(pybullet_data.getDataPath())";
    let output = Command::new(python).args(["-B", "-c", asked]).output().unwrap();
    assert!(output.status.success(), "pybullet_data is not installed");
    let folder = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
    let text = std::fs::read_to_string(folder.join("mjcf/humanoid.xml")).unwrap();
    let hung = "<body name='torso' pos='0 0 1.4'>";
    assert!(text.contains(hung));
    text.replace(hung, &format!("{hung}<freejoint/>"))
}

fn ask(python: &Path, question: &Value) -> Vec<Value> {
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign/mujoco_humanoid.py");
    let mut child = Command::new(python)
        .arg("-B")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to_child = child.stdin.take().unwrap();
    let question = question.to_string();
    let writer = std::thread::spawn(move || to_child.write_all(question.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "mujoco_humanoid.py failed");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Our tree beside MuJoCo's list of joints.
struct Pair {
    model: Model,
    tree: Tree,
    /// For every column but the base's six: its place in MuJoCo's velocities, and our sign.
    columns: Vec<(usize, f64)>,
}

/// A state in MuJoCo's coordinates.
struct Case {
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    tau: Vec<f64>,
}

impl Case {
    fn of(number: u64, n: usize) -> Case {
        let mut dice = Dice::new(number);
        let (at, turn) = (dice.vector(2.0), dice.turn());
        let mut q = vec![at.x, at.y, at.z, turn.w, turn.x, turn.y, turn.z];
        q.extend(random_numbers(&mut dice, n - 6, 1.2));
        let v = random_numbers(&mut dice, n, 3.0);
        let a = random_numbers(&mut dice, n, 5.0);
        let tau = random_numbers(&mut dice, n, 20.0);
        Case { q, v, a, tau }
    }

    fn turn(&self) -> Quat {
        Quat::from_xyzw(self.q[4], self.q[5], self.q[6], self.q[3])
    }
}

fn three(v: &[f64]) -> Vec3 {
    Vec3::new(v[0], v[1], v[2])
}

/// The name MuJoCo has for a node's link, if it is a body of the file.
fn body_of<'a>(model: &'a Model, node: &headland_sim::tree::Node) -> Option<&'a str> {
    let rigid = &model.rigids[node.rigid_idx?];
    model.bodies[rigid.body_idxs[0]].name.rsplit("::").next()
}

/// Between two hinges of one body stands a link here, with a thousandth of the body's mass, so
/// that engines other than ours can move it. What it has goes back to the body.
fn put_right_masses(model: &Model, tree: &mut Tree, bodies: &Value) {
    let is_carrier = |node: &headland_sim::tree::Node| {
        body_of(model, node).is_some_and(|name| bodies.get(name).is_none())
    };
    let carriers: Vec<bool> = tree.nodes.iter().map(is_carrier).collect();
    for i in 0..tree.nodes.len() {
        let (mut n_before, mut at) = (0, tree.nodes[i].parent);
        while let Some(parent) = at
            && carriers[parent]
        {
            n_before += 1;
            at = tree.nodes[parent].parent;
        }
        let share = if carriers[i] { 0.0 } else { 1.0 / (1.0 - 1e-3 * f64::from(n_before)) };
        let node = &mut tree.nodes[i];
        node.mass *= share;
        node.inertia *= share;
    }
}

impl Pair {
    fn new(text: &str, joints: &Value, bodies: &Value) -> Pair {
        let source = Source::new("humanoid.xml", text.to_string());
        let read = headland_world::read_text(source, Path::new(""), &Default::default()).unwrap();
        let mut world = read.world;
        // The ground stands beside it in the file and is nothing to a tree.
        world.models.retain(|model| !model.is_static);
        let (model, mut tree) = tree_of(&Arc::new(world));
        put_right_masses(&model, &mut tree, bodies);
        let mut columns = Vec::new();
        for node in tree.nodes.iter().filter(|node| node.kind != NodeKind::Free) {
            let (dof, sign) = node.dof.expect("hinges only");
            let name = model.dofs[dof].name.rsplit("::").next().unwrap();
            let joints = joints.as_array().unwrap();
            let theirs = joints.iter().find(|joint| joint["name"] == name).expect(name);
            columns.push((theirs["v"].as_u64().unwrap() as usize, sign));
        }
        assert_eq!(columns.len() + 6, tree.n_dofs);
        Pair { model, tree, columns }
    }

    /// Where the base's link and its node are.
    fn base(&self, case: &Case) -> (Transform, Transform) {
        let link = Transform::new(case.turn(), three(&case.q));
        (link, link * self.tree.nodes[0].rigid_from_node)
    }

    fn positions(&self, case: &Case) -> Vec<f64> {
        let (_, node) = self.base(case);
        let (p, q) = (node.translation, node.rotation);
        let mut out = vec![p.x, p.y, p.z, q.x, q.y, q.z, q.w];
        out.extend(self.columns.iter().map(|(theirs, sign)| sign * case.q[theirs + 1]));
        out
    }

    /// From the link's origin to its node's, along the world's axes.
    fn offset(&self, case: &Case) -> Vec3 {
        let (link, node) = self.base(case);
        node.translation - link.translation
    }

    /// Theirs: velocity of the link's origin along the world's axes, angular velocity along the
    /// link's. Ours: angular velocity and velocity of the node's origin, along the world's.
    fn velocities(&self, case: &Case, theirs: &[f64]) -> Vec<f64> {
        let angular = case.turn() * three(&theirs[3..]);
        let linear = three(theirs) + angular.cross(self.offset(case));
        let mut out = vec![angular.x, angular.y, angular.z, linear.x, linear.y, linear.z];
        out.extend(self.columns.iter().map(|(at, sign)| sign * theirs[*at]));
        out
    }

    /// Theirs is the derivative of that; ours is of the motion about a fixed point.
    fn accelerations(&self, case: &Case, theirs: &[f64]) -> Vec<f64> {
        let mut out = self.velocities(case, theirs);
        let velocities = self.velocities(case, &case.v);
        let (omega, v) = (three(&velocities), three(&velocities[3..]));
        let swirl = omega.cross(omega.cross(self.offset(case))) - omega.cross(v);
        for (k, part) in [swirl.x, swirl.y, swirl.z].into_iter().enumerate() {
            out[3 + k] += part;
        }
        out
    }

    fn efforts_to_theirs(&self, case: &Case, ours: &[f64]) -> Vec<f64> {
        let force = three(&ours[3..]);
        let moment = three(ours) + self.offset(case).cross(force);
        let moment = case.turn().conjugate() * moment;
        let mut out = vec![0.0; self.tree.n_dofs];
        out[..6].copy_from_slice(&[force.x, force.y, force.z, moment.x, moment.y, moment.z]);
        for ((at, sign), effort) in self.columns.iter().zip(&ours[6..]) {
            out[*at] = sign * effort;
        }
        out
    }

    fn efforts_to_ours(&self, case: &Case, theirs: &[f64]) -> Vec<f64> {
        let force = three(theirs);
        let moment = case.turn() * three(&theirs[3..]) - self.offset(case).cross(force);
        let mut out = vec![moment.x, moment.y, moment.z, force.x, force.y, force.z];
        out.extend(self.columns.iter().map(|(at, sign)| sign * theirs[*at]));
        out
    }

    /// The largest relative difference of each thing compared, by name.
    fn compare(&self, case: &Case, theirs: &Value) -> Vec<(&'static str, f64)> {
        let (tree, n) = (&self.tree, self.tree.n_dofs);
        let gravity = V3::of(self.model.world.gravity);
        let numbers = |value: &Value| -> Vec<f64> {
            value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
        };
        let mut bodies = Bodies::<f64>::new(tree);
        let at_world = (Turn::of(Quat::IDENTITY), V3::ZERO);
        place(tree, &at_world, &self.positions(case), &mut bodies);
        let mut motions = Motions::new(tree);
        move_bodies(tree, &bodies, V6::ZERO, &self.velocities(case, &case.v), &mut motions);

        let (mut poses, mut n_poses) = (0.0_f64, 0);
        for (i, node) in tree.nodes.iter().enumerate() {
            let Some(body) = body_of(&self.model, node) else { continue };
            // What stands between two hinges of one body MuJoCo does not have.
            let Some(theirs) = theirs["poses"].get(body) else { continue };
            let ours = bodies.world_from_node(i, 0) * node.rigid_from_node.inverse();
            let (r, t) = (Mat3::from_quat(ours.rotation).transpose(), ours.translation);
            let [x, y, z] = [r.x_axis, r.y_axis, r.z_axis];
            let ours = [x.x, x.y, x.z, t.x, y.x, y.y, y.z, t.y, z.x, z.y, z.z, t.z];
            poses = poses.max(difference(&ours, &numbers(theirs)));
            n_poses += 1;
        }
        assert_eq!(n_poses, 13, "every body of the file");
        let whole = whole_body(&bodies);
        let centre = (whole.centre + bodies.origin).get(0);
        let momentum = motions.momentum_about(&bodies, whole.centre);
        let (l, h) = (momentum.line.get(0), momentum.turn.get(0));

        let mut matrix = vec![0.0; n * n];
        mass_matrix(tree, &bodies, &mut Vec::new(), &mut matrix);
        let mut in_theirs = vec![0.0; n * n];
        for k in 0..n {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            let unit = self.velocities(case, &unit);
            let ours: Vec<f64> =
                (0..n).map(|row| (0..n).map(|j| matrix[row * n + j] * unit[j]).sum()).collect();
            for (row, entry) in self.efforts_to_theirs(case, &ours).into_iter().enumerate() {
                in_theirs[row * n + k] = entry;
            }
        }

        let mut forces = vec![V6::ZERO; tree.nodes.len()];
        bias_forces(tree, &bodies, &motions, gravity, &mut forces);
        let rotors: Vec<f64> = tree.column_nodes.iter().map(|i| tree.nodes[*i].armature).collect();
        let mut parts = Factor::new(tree);
        factor(tree, &bodies, &rotors, &mut parts);
        let mut accelerations = vec![0.0; n];
        let efforts = self.efforts_to_ours(case, &case.tau);
        solve(tree, &bodies, &parts, &efforts, &mut forces, &mut accelerations);

        let mut efforts = vec![0.0; n];
        let wanted = self.accelerations(case, &case.a);
        inverse_dynamics(
            tree,
            &bodies,
            gravity,
            &wanted,
            None,
            &mut motions,
            &mut forces,
            &mut efforts,
        );
        let of = |key: &str| numbers(&theirs[key]);
        let forward = self.accelerations(case, &of("accelerations"));
        let inverse = self.efforts_to_theirs(case, &efforts);
        vec![
            ("forward kinematics", poses),
            ("centre of mass", difference(&[centre.x, centre.y, centre.z], &of("centre"))),
            ("momentum", difference(&[l.x, l.y, l.z, h.x, h.y, h.z], &of("momentum"))),
            ("mass matrix", difference(&in_theirs, &of("matrix"))),
            ("inverse dynamics", difference(&inverse, &of("efforts"))),
            ("forward dynamics", difference(&accelerations, &forward)),
        ]
    }
}

#[test]
fn a_public_humanoid_moves_as_in_mujoco() {
    let Some(python) = python() else { return };
    let text = humanoid(&python);
    let cases: Vec<Case> = (0..N_STATES).map(|number| Case::of(number, 27)).collect();
    let question: Vec<Value> = cases
        .iter()
        .map(|case| json!({"q": case.q, "v": case.v, "a": case.a, "tau": case.tau}))
        .collect();
    let answers = ask(&python, &json!({"xml": text, "cases": question}));
    assert_eq!(answers.len(), cases.len() + 1);
    assert_eq!(answers[0]["nv"], 27);
    let pair = Pair::new(&text, &answers[0]["joints"], &answers[1]["poses"]);
    let mut worst: Vec<(&str, f64)> = Vec::new();
    for (i, (case, answer)) in cases.iter().zip(&answers[1..]).enumerate() {
        for (what, error) in pair.compare(case, answer) {
            assert!(error < 1e-10, "state {i}: {what} differs by {error}");
            match worst.iter_mut().find(|(name, _)| *name == what) {
                Some((_, most)) => *most = most.max(error),
                None => worst.push((what, error)),
            }
        }
    }
    println!("largest relative differences over {N_STATES} states: {worst:?}");
}
