//! Pinocchio, which is what people trust for this, on a thousand random robots.
//!
//! It is a Python package (`tests/foreign/requirements.txt`). Set `HEADLAND_PYTHON` to an
//! interpreter that has it; without it this test says that it was skipped, and with
//! `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Dice, difference, random_numbers, random_positions, random_world, tree_of};
use headland_base::maths::Vec3;
use headland_base::{Mat3, Quat, Transform};
use headland_sim::Model;
use headland_sim::tree::{
    Bodies, Factor, Motions, NodeKind, Tree, Turn, V3, V6, bias_forces, factor, inverse_dynamics,
    mass_matrix, move_bodies, place, solve, whole_body,
};
use headland_world::JointKind;
use serde_json::{Value, json};

const N_ROBOTS: u64 = 1000;

struct Case {
    model: Model,
    tree: Tree,
    positions: Vec<f64>,
    /// In Pinocchio's coordinates, like the two below.
    velocities: Vec<f64>,
    accelerations: Vec<f64>,
    efforts: Vec<f64>,
}

/// Runs the script over all cases; `None` where there is no interpreter.
fn ask_pinocchio(lines: &str) -> Option<Vec<Value>> {
    let Some(python) = std::env::var_os("HEADLAND_PYTHON") else {
        let required = std::env::var("HEADLAND_REQUIRE_FOREIGN").is_ok_and(|value| value == "1");
        assert!(!required, "HEADLAND_REQUIRE_FOREIGN=1 but HEADLAND_PYTHON is not set");
        println!("skipped: pinocchio_trees.py needs Pinocchio; ./test installs it");
        return None;
    };
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/foreign/pinocchio_trees.py");
    let mut child = Command::new(python)
        .arg("-B")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("HEADLAND_PYTHON is an interpreter");
    let mut to_child = child.stdin.take().unwrap();
    let lines = lines.to_string();
    let writer = std::thread::spawn(move || to_child.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "pinocchio_trees.py failed");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn case(number: u64) -> Case {
    let mut dice = Dice::new(number);
    let world = random_world(&mut dice, number.is_multiple_of(2));
    let (model, tree) = tree_of(&world);
    let positions = random_positions(&mut dice, &tree);
    let velocities = random_numbers(&mut dice, tree.n_dofs, 3.0);
    let accelerations = random_numbers(&mut dice, tree.n_dofs, 5.0);
    let efforts = random_numbers(&mut dice, tree.n_dofs, 20.0);
    Case { model, tree, positions, velocities, accelerations, efforts }
}

fn pose(t: Transform) -> Value {
    let (p, q) = (t.translation, t.rotation);
    json!([p.x, p.y, p.z, q.x, q.y, q.z, q.w])
}

fn vector(v: Vec3) -> Value {
    json!([v.x, v.y, v.z])
}

impl Case {
    /// The robot by its joints and links, as the model has them: nothing of the tree but the
    /// order in which the joints come.
    fn describe(&self) -> Value {
        let model = &self.model;
        let links: Vec<Value> = model
            .rigids
            .iter()
            .map(|rigid| {
                let i = rigid.inertia.to_cols_array();
                json!({"mass": rigid.mass, "centre": vector(rigid.centre), "inertia": i})
            })
            .collect();
        let mut joints: Vec<Value> = Vec::new();
        for node in &self.tree.nodes {
            let Some(rigid) = node.rigid_idx else { continue };
            let joint = model.joints.iter().find(|joint| joint.child_rigid == rigid);
            joints.push(joint.map_or_else(
                || {
                    let base = self.base_pose();
                    json!({"parent": null, "child": rigid, "kind": "free", "axes": [],
                           "pitch": 0.0, "parent_from_joint": pose(Transform::IDENTITY),
                           "child_from_joint": pose(Transform::IDENTITY),
                           "q": pose(base), "armature": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]})
                },
                |joint| {
                    let axes = joint.kind.axes();
                    let pitch = match joint.kind {
                        JointKind::Screw { metres_per_radian, .. } => metres_per_radian,
                        _ => 0.0,
                    };
                    let armature: Vec<f64> = match joint.kind {
                        JointKind::Ball => vec![0.0; 3],
                        _ => axes.iter().map(|axis| axis.armature).collect(),
                    };
                    json!({"parent": joint.parent_rigid, "child": rigid, "kind": joint.kind.word(),
                           "axes": axes.iter().map(|a| vector(a.direction)).collect::<Vec<_>>(),
                           "pitch": pitch, "parent_from_joint": pose(joint.parent_from_joint),
                           "child_from_joint": pose(joint.child_from_joint),
                           "q": self.positions_of(rigid), "armature": armature})
                },
            ));
        }
        json!({"gravity": vector(model.world.gravity), "links": links, "joints": joints,
               "v": self.velocities, "a": self.accelerations, "tau": self.efforts})
    }

    /// Of the joint that carries a rigid: its last nodes, as many as it has axes.
    fn positions_of(&self, rigid: usize) -> Vec<f64> {
        let last = self.tree.nodes.iter().position(|n| n.rigid_idx == Some(rigid)).unwrap();
        let mut first = last;
        while let Some(parent) = self.tree.nodes[first].parent
            && self.tree.nodes[parent].rigid_idx.is_none()
        {
            first = parent;
        }
        let of = |i: usize| {
            let node = &self.tree.nodes[i];
            &self.positions[node.first_position..node.first_position + node.kind.n_positions()]
        };
        let mut out = of(first).to_vec();
        if first != last {
            out.extend(of(last));
        }
        out
    }

    fn base_pose(&self) -> Transform {
        let q = &self.positions;
        let turn = Quat::from_xyzw(q[3], q[4], q[5], q[6]);
        Transform::new(turn, Vec3::new(q[0], q[1], q[2]))
            * self.tree.nodes[0].rigid_from_node.inverse()
    }

    /// Pinocchio's base twist (linear, angular, both along the link's axes, at its origin) to
    /// ours (angular, linear, along the world's axes, at its centre of mass).
    fn to_ours(&self, theirs: &[f64]) -> Vec<f64> {
        let mut out = theirs.to_vec();
        if self.tree.nodes[0].kind == NodeKind::Free {
            let turn = self.base_pose().rotation;
            let linear = Vec3::new(theirs[0], theirs[1], theirs[2]);
            let angular = Vec3::new(theirs[3], theirs[4], theirs[5]);
            let centre = self.tree.nodes[0].rigid_from_node.translation;
            let (w, v) = (turn * angular, turn * (linear + angular.cross(centre)));
            out[..6].copy_from_slice(&[w.x, w.y, w.z, v.x, v.y, v.z]);
        }
        out
    }

    /// Efforts go the other way: what they do per unit of their velocities.
    fn efforts_to_theirs(&self, ours: &[f64]) -> Vec<f64> {
        let mut out = ours.to_vec();
        if self.tree.nodes[0].kind == NodeKind::Free {
            let back = self.base_pose().rotation.conjugate();
            let moment = back * Vec3::new(ours[0], ours[1], ours[2]);
            let force = back * Vec3::new(ours[3], ours[4], ours[5]);
            let moment = moment + self.tree.nodes[0].rigid_from_node.translation.cross(force);
            out[..6].copy_from_slice(&[force.x, force.y, force.z, moment.x, moment.y, moment.z]);
        }
        out
    }

    fn efforts_to_ours(&self, theirs: &[f64]) -> Vec<f64> {
        let mut out = theirs.to_vec();
        if self.tree.nodes[0].kind == NodeKind::Free {
            let turn = self.base_pose().rotation;
            let force = Vec3::new(theirs[0], theirs[1], theirs[2]);
            let centre = self.tree.nodes[0].rigid_from_node.translation;
            let moment = Vec3::new(theirs[3], theirs[4], theirs[5]) - centre.cross(force);
            let (m, f) = (turn * moment, turn * force);
            out[..6].copy_from_slice(&[m.x, m.y, m.z, f.x, f.y, f.z]);
        }
        out
    }

    /// The largest relative difference of each thing compared, by name.
    fn compare(&self, theirs: &Value) -> Vec<(&'static str, f64)> {
        let (tree, n) = (&self.tree, self.tree.n_dofs);
        let gravity = V3::of(self.model.world.gravity);
        let at_world = (Turn::of(Quat::IDENTITY), V3::ZERO);
        let numbers = |key: &str| -> Vec<f64> {
            theirs[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
        };
        let mut bodies = Bodies::<f64>::new(tree);
        place(tree, &at_world, &self.positions, &mut bodies);
        let mut motions = Motions::new(tree);
        let velocities = self.to_ours(&self.velocities);
        move_bodies(tree, &bodies, V6::ZERO, &velocities, &mut motions);

        let mut poses = 0.0_f64;
        let links = tree.nodes.iter().enumerate().filter(|(_, node)| node.rigid_idx.is_some());
        for ((i, node), theirs) in links.zip(theirs["poses"].as_array().unwrap()) {
            let ours = bodies.world_from_node(i, 0) * node.rigid_from_node.inverse();
            let (r, t) = (Mat3::from_quat(ours.rotation).transpose(), ours.translation);
            let [x, y, z] = [r.x_axis, r.y_axis, r.z_axis];
            let ours = [x.x, x.y, x.z, t.x, y.x, y.y, y.z, t.y, z.x, z.y, z.z, t.z];
            let theirs: Vec<f64> =
                theirs.as_array().unwrap().iter().take(12).map(|x| x.as_f64().unwrap()).collect();
            poses = poses.max(difference(&ours, &theirs));
        }
        let whole = whole_body(&bodies);
        let centre = (whole.centre + bodies.origin).get(0);
        let momentum = motions.momentum_about(&bodies, whole.centre);
        let (l, h) = (momentum.line.get(0), momentum.turn.get(0));

        let mut matrix = vec![0.0; n * n];
        mass_matrix(tree, &bodies, &mut Vec::new(), &mut matrix);
        // Column by column through their coordinates.
        let mut in_theirs = vec![0.0; n * n];
        for k in 0..n {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            let unit = self.to_ours(&unit);
            let ours: Vec<f64> =
                (0..n).map(|row| (0..n).map(|j| matrix[row * n + j] * unit[j]).sum()).collect();
            for (row, entry) in self.efforts_to_theirs(&ours).into_iter().enumerate() {
                in_theirs[row * n + k] = entry;
            }
        }

        let mut forces = vec![V6::ZERO; tree.nodes.len()];
        bias_forces(tree, &bodies, &motions, gravity, &mut forces);
        let rotors: Vec<f64> = tree.column_nodes.iter().map(|i| tree.nodes[*i].armature).collect();
        let mut parts = Factor::new(tree);
        factor(tree, &bodies, &rotors, &mut parts);
        let mut accelerations = vec![0.0; n];
        let efforts = self.efforts_to_ours(&self.efforts);
        solve(tree, &bodies, &parts, &efforts, &mut forces, &mut accelerations);

        let mut efforts = vec![0.0; n];
        let wanted = self.to_ours(&self.accelerations);
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
        vec![
            ("forward kinematics", poses),
            ("centre of mass", difference(&[centre.x, centre.y, centre.z], &numbers("centre"))),
            ("momentum", difference(&[l.x, l.y, l.z, h.x, h.y, h.z], &numbers("momentum"))),
            ("mass matrix", difference(&in_theirs, &numbers("matrix"))),
            (
                "inverse dynamics",
                difference(&self.efforts_to_theirs(&efforts), &numbers("efforts")),
            ),
            (
                "forward dynamics",
                difference(&accelerations, &self.to_ours(&numbers("accelerations"))),
            ),
        ]
    }
}

#[test]
fn a_thousand_robots_move_as_in_pinocchio() {
    let cases: Vec<Case> = (0..N_ROBOTS).map(case).collect();
    let lines: String = cases.iter().map(|case| format!("{}\n", case.describe())).collect();
    let Some(answers) = ask_pinocchio(&lines) else { return };
    assert_eq!(answers.len(), cases.len());
    let mut worst: Vec<(&str, f64)> = Vec::new();
    for (i, (case, answer)) in cases.iter().zip(&answers).enumerate() {
        for (what, error) in case.compare(answer) {
            assert!(error < 1e-10, "robot {i}: {what} differs by {error}");
            match worst.iter_mut().find(|(name, _)| *name == what) {
                Some((_, most)) => *most = most.max(error),
                None => worst.push((what, error)),
            }
        }
    }
    println!("largest relative differences over {N_ROBOTS} robots: {worst:?}");
}
