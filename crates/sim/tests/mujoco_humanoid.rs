//! MuJoCo on a public humanoid: kinematics, centre of mass, momentum, mass matrix, inverse and
//! forward dynamics at random states, in MuJoCo's own coordinates.
//!
//! The humanoid is read where the Python package `pybullet` has it (`mjcf/humanoid.xml`, 40.8 kg,
//! 21 hinges, several in one body) and given the free joint it lacks there. Set
//! `HEADLAND_PYTHON` to an interpreter that has `mujoco` and `pybullet`; without it this test
//! says that it was skipped, and with `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use common::peer::{self, Coordinates, Worst, compare, numbers};
use common::{Dice, random_numbers, tree_of};
use headland_base::maths::Vec3;
use headland_base::{Quat, Source, Transform};
use headland_sim::Model;
use headland_sim::tree::{NodeKind, Tree};
use serde_json::{Value, json};

const N_STATES: u64 = 50;

const SCRIPT: &str = "mujoco_humanoid.py";

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
}

/// Both at one state.
struct At<'a> {
    pair: &'a Pair,
    case: &'a Case,
}

impl At<'_> {
    /// Where the base's link and its node are.
    fn base(&self) -> (Transform, Transform) {
        let link = Transform::new(self.case.turn(), three(&self.case.q));
        (link, link * self.pair.tree.nodes[0].rigid_from_node)
    }

    /// From the link's origin to its node's, along the world's axes.
    fn offset(&self) -> Vec3 {
        let (link, node) = self.base();
        node.translation - link.translation
    }
}

impl Coordinates for At<'_> {
    fn state(&self) -> [&[f64]; 3] {
        [&self.case.v, &self.case.a, &self.case.tau]
    }

    fn positions(&self) -> Vec<f64> {
        let (_, node) = self.base();
        let (p, q) = (node.translation, node.rotation);
        let mut out = vec![p.x, p.y, p.z, q.x, q.y, q.z, q.w];
        out.extend(self.pair.columns.iter().map(|(theirs, sign)| sign * self.case.q[theirs + 1]));
        out
    }

    /// Theirs: velocity of the link's origin along the world's axes, angular velocity along the
    /// link's. Ours: angular velocity and velocity of the node's origin, along the world's.
    fn velocities(&self, theirs: &[f64]) -> Vec<f64> {
        let angular = self.case.turn() * three(&theirs[3..]);
        let linear = three(theirs) + angular.cross(self.offset());
        let mut out = vec![angular.x, angular.y, angular.z, linear.x, linear.y, linear.z];
        out.extend(self.pair.columns.iter().map(|(at, sign)| sign * theirs[*at]));
        out
    }

    /// Theirs is the derivative of that; ours is of the motion about a fixed point.
    fn accelerations(&self, theirs: &[f64]) -> Vec<f64> {
        let mut out = self.velocities(theirs);
        let velocities = self.velocities(&self.case.v);
        let (omega, v) = (three(&velocities), three(&velocities[3..]));
        let swirl = omega.cross(omega.cross(self.offset())) - omega.cross(v);
        for (k, part) in [swirl.x, swirl.y, swirl.z].into_iter().enumerate() {
            out[3 + k] += part;
        }
        out
    }

    fn efforts_to_theirs(&self, ours: &[f64]) -> Vec<f64> {
        let force = three(&ours[3..]);
        let moment = three(ours) + self.offset().cross(force);
        let moment = self.case.turn().conjugate() * moment;
        let mut out = vec![0.0; self.pair.tree.n_dofs];
        out[..6].copy_from_slice(&[force.x, force.y, force.z, moment.x, moment.y, moment.z]);
        for ((at, sign), effort) in self.pair.columns.iter().zip(&ours[6..]) {
            out[*at] = sign * effort;
        }
        out
    }

    fn efforts(&self, theirs: &[f64]) -> Vec<f64> {
        let force = three(theirs);
        let moment = self.case.turn() * three(&theirs[3..]) - self.offset().cross(force);
        let mut out = vec![moment.x, moment.y, moment.z, force.x, force.y, force.z];
        out.extend(self.pair.columns.iter().map(|(at, sign)| sign * theirs[*at]));
        out
    }
}

#[test]
fn a_public_humanoid_moves_as_in_mujoco() {
    let Some(python) = peer::python(SCRIPT) else { return };
    let text = humanoid(&python);
    let cases: Vec<Case> = (0..N_STATES).map(|number| Case::of(number, 27)).collect();
    let question: Vec<Value> = cases
        .iter()
        .map(|case| json!({"q": case.q, "v": case.v, "a": case.a, "tau": case.tau}))
        .collect();
    let question = json!({"xml": text, "cases": question});
    let answers = peer::ask(&python, SCRIPT, question.to_string());
    assert_eq!(answers.len(), cases.len() + 1);
    assert_eq!(answers[0]["nv"], 27);
    let pair = Pair::new(&text, &answers[0]["joints"], &answers[1]["poses"]);
    let (model, tree) = (&pair.model, &pair.tree);
    let mut worst = Worst::default();
    for (i, (case, answer)) in cases.iter().zip(&answers[1..]).enumerate() {
        // What stands between two hinges of one body MuJoCo does not have.
        let pose = |node: usize| {
            let body = body_of(model, &tree.nodes[node])?;
            answer["poses"].get(body).map(numbers)
        };
        let n_poses = (0..tree.nodes.len()).filter_map(pose).count();
        assert_eq!(n_poses, 13, "every body of the file");
        let at = At { pair: &pair, case };
        worst.add(i, compare(tree, model.world.gravity, &at, answer, pose));
    }
    println!("largest relative differences over {N_STATES} states: {worst:?}");
}
