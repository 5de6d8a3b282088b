//! Pinocchio, which is what people trust for this, on a thousand random robots.
//!
//! It is a Python package (`tests/foreign/requirements.txt`). Set `HEADLAND_PYTHON` to an
//! interpreter that has it; without it this test says that it was skipped, and with
//! `HEADLAND_REQUIRE_FOREIGN=1` that is a failure.
#![allow(clippy::unwrap_used)]

mod common;

use common::peer::{self, Coordinates, Worst, compare, numbers};
use common::{Dice, difference, random_numbers, random_positions, random_world, tree_of};
use headland_base::maths::Vec3;
use headland_base::{Quat, Transform};
use headland_sim::Model;
use headland_sim::tree::{Bodies, Tree, Turn, V3, place, whole_body};
use headland_world::JointKind;
use serde_json::{Value, json};

const N_ROBOTS: u64 = 1000;

const SCRIPT: &str = "pinocchio_trees.py";

struct Case {
    model: Model,
    tree: Tree,
    positions: Vec<f64>,
    /// In Pinocchio's coordinates, like the two below.
    velocities: Vec<f64>,
    accelerations: Vec<f64>,
    efforts: Vec<f64>,
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
}

impl Coordinates for Case {
    fn positions(&self) -> Vec<f64> {
        self.positions.clone()
    }

    fn state(&self) -> [&[f64]; 3] {
        [&self.velocities, &self.accelerations, &self.efforts]
    }

    /// Pinocchio's base twist (linear, angular, both along the link's axes, at its origin) to
    /// ours (angular, linear, along the world's axes, at its centre of mass).
    fn velocities(&self, theirs: &[f64]) -> Vec<f64> {
        let mut out = theirs.to_vec();
        if self.tree.is_free() {
            let turn = self.base_pose().rotation;
            let linear = Vec3::new(theirs[0], theirs[1], theirs[2]);
            let angular = Vec3::new(theirs[3], theirs[4], theirs[5]);
            let centre = self.tree.nodes[0].rigid_from_node.translation;
            let (w, v) = (turn * angular, turn * (linear + angular.cross(centre)));
            out[..6].copy_from_slice(&[w.x, w.y, w.z, v.x, v.y, v.z]);
        }
        out
    }

    /// Both are of the motion about a fixed point.
    fn accelerations(&self, theirs: &[f64]) -> Vec<f64> {
        self.velocities(theirs)
    }

    fn efforts(&self, theirs: &[f64]) -> Vec<f64> {
        let mut out = theirs.to_vec();
        if self.tree.is_free() {
            let turn = self.base_pose().rotation;
            let force = Vec3::new(theirs[0], theirs[1], theirs[2]);
            let centre = self.tree.nodes[0].rigid_from_node.translation;
            let moment = Vec3::new(theirs[3], theirs[4], theirs[5]) - centre.cross(force);
            let (m, f) = (turn * moment, turn * force);
            out[..6].copy_from_slice(&[m.x, m.y, m.z, f.x, f.y, f.z]);
        }
        out
    }

    fn efforts_to_theirs(&self, ours: &[f64]) -> Vec<f64> {
        let mut out = ours.to_vec();
        if self.tree.is_free() {
            let back = self.base_pose().rotation.conjugate();
            let moment = back * Vec3::new(ours[0], ours[1], ours[2]);
            let force = back * Vec3::new(ours[3], ours[4], ours[5]);
            let moment = moment + self.tree.nodes[0].rigid_from_node.translation.cross(force);
            out[..6].copy_from_slice(&[force.x, force.y, force.z, moment.x, moment.y, moment.z]);
        }
        out
    }
}

/// How far the inertia of a whole robot about its centre of mass is from theirs: nine numbers.
fn inertia_apart(case: &Case, theirs: &[f64]) -> f64 {
    let mut bodies = Bodies::<f64>::new(&case.tree);
    place(&case.tree, &(Turn::of(Quat::IDENTITY), V3::ZERO), &case.positions, &mut bodies);
    difference(&whole_body(&bodies).inertia.get(0).to_cols_array(), theirs)
}

#[test]
fn a_thousand_robots_move_as_in_pinocchio() {
    let Some(python) = peer::python(SCRIPT) else { return };
    let cases: Vec<Case> = (0..N_ROBOTS).map(case).collect();
    let lines: String = cases.iter().map(|case| format!("{}\n", case.describe())).collect();
    let answers = peer::ask(&python, SCRIPT, lines);
    assert_eq!(answers.len(), cases.len());
    let mut worst = Worst::default();
    for (i, (case, answer)) in cases.iter().zip(&answers).enumerate() {
        let tree = &case.tree;
        // Pinocchio has the links in the order of the nodes that carry one.
        let links: Vec<usize> =
            (0..tree.nodes.len()).filter(|i| tree.nodes[*i].rigid_idx.is_some()).collect();
        let pose = |node: usize| {
            let link = links.binary_search(&node).ok()?;
            Some(numbers(&answer["poses"][link]))
        };
        worst.add(i, compare(tree, case.model.world.gravity, case, answer, pose));
        worst.add(
            i,
            vec![("inertia of the whole", inertia_apart(case, &numbers(&answer["inertia"])))],
        );
    }
    println!("largest relative differences over {N_ROBOTS} robots: {worst:?}");
}
