//! Random robots for the tests of the tree: every kind of joint, free and fixed bases.
#![allow(dead_code, reason = "each test file uses what it needs")]

pub mod peer;

use std::sync::Arc;

use headland_base::maths::{Quat, Vec3, sqrt};
use headland_base::{Mat3, Seed, Transform};
use headland_sim::Model;
use headland_sim::tree::{Forest, NodeKind, Tree};
use headland_world::{Axis, Inertial, Joint, JointKind, Link, Model as WorldModel, World};

/// Numbers from a seed.
pub struct Dice(Box<dyn FnMut() -> u64>);

impl Dice {
    pub fn new(number: u64) -> Dice {
        use rand_chacha::rand_core::Rng;
        let mut rng = Seed::new(number).child("tree").rng();
        Dice(Box::new(move || rng.next_u64()))
    }

    /// Between the two.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.0)() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((self.0)() % n as u64) as usize
    }

    pub fn vector(&mut self, most: f64) -> Vec3 {
        Vec3::new(self.between(-most, most), self.between(-most, most), self.between(-most, most))
    }

    pub fn unit(&mut self) -> Vec3 {
        loop {
            let v = self.vector(1.0);
            if v.length() > 0.1 {
                return v / v.length();
            }
        }
    }

    pub fn turn(&mut self) -> Quat {
        let (v, w) = (self.vector(1.0), self.between(-1.0, 1.0));
        let n = sqrt(v.dot(v) + w * w);
        Quat::from_xyzw(v.x / n, v.y / n, v.z / n, w / n)
    }

    pub fn pose(&mut self, most: f64) -> Transform {
        Transform::new(self.turn(), self.vector(most))
    }
}

/// A robot of up to 24 links, with a free base every other time.
pub fn random_world(dice: &mut Dice, is_free: bool) -> Arc<World> {
    let n_links = 1 + dice.below(24);
    let mut model = WorldModel { name: "robot".into(), ..WorldModel::default() };
    for i in 0..n_links {
        model.links.push(random_link(dice, i));
    }
    for i in usize::from(is_free)..n_links {
        let parent = (i > 0).then(|| dice.below(i)).map(|p| format!("l{p}"));
        model.joints.push(random_joint(dice, i, parent));
    }
    Arc::new(World { models: vec![model], gravity: dice.vector(10.0), ..World::default() })
}

fn random_link(dice: &mut Dice, i: usize) -> Link {
    // Three point masses have an inertia that some body could have.
    let mass = dice.between(0.1, 5.0);
    let mut inertia = Mat3::ZERO;
    for _ in 0..4 {
        let r = dice.vector(0.2);
        let square = Mat3::from_cols(r * r.x, r * r.y, r * r.z);
        inertia += (Mat3::from_diagonal(Vec3::splat(r.dot(r))) - square) * (mass / 4.0);
    }
    Link {
        name: format!("l{i}"),
        model_from_link: dice.pose(0.5),
        inertial: Inertial {
            mass,
            link_from_inertial: dice.pose(0.2),
            inertia,
            origin: headland_world::InertiaOrigin::Given,
        },
        gravity: true,
        ..Link::default()
    }
}

fn random_joint(dice: &mut Dice, i: usize, parent: Option<String>) -> Joint {
    let mut axis = || {
        let mut axis = Axis::along(dice.unit());
        axis.armature = dice.between(0.0, 0.1);
        axis
    };
    let (first, second) = (axis(), axis());
    let kind = match dice.below(7) {
        0 => JointKind::Prismatic(first),
        1 => JointKind::Screw { axis: first, metres_per_radian: dice.between(-0.1, 0.1) },
        2 => JointKind::Ball,
        3 if first.direction.cross(second.direction).length() > 0.3 => {
            JointKind::Universal(first, second)
        }
        4 => JointKind::Continuous(first),
        _ => JointKind::Revolute(first),
    };
    Joint {
        name: format!("j{i}"),
        parent,
        child: format!("l{i}"),
        child_from_joint: dice.pose(0.3),
        kind,
        opaque: Vec::new(),
    }
}

/// Positions anywhere, quaternions of length one.
pub fn random_positions(dice: &mut Dice, tree: &Tree) -> Vec<f64> {
    let mut out = Vec::new();
    for node in &tree.nodes {
        match node.kind {
            NodeKind::Free => {
                let at = dice.vector(3.0);
                let q = dice.turn();
                out.extend([at.x, at.y, at.z, q.x, q.y, q.z, q.w]);
            }
            NodeKind::Ball => {
                let q = dice.turn();
                out.extend([q.x, q.y, q.z, q.w]);
            }
            NodeKind::Slide => out.push(dice.between(-0.5, 0.5)),
            NodeKind::Turn | NodeKind::Screw { .. } => out.push(dice.between(-3.0, 3.0)),
        }
    }
    out
}

pub fn random_numbers(dice: &mut Dice, n: usize, most: f64) -> Vec<f64> {
    (0..n).map(|_| dice.between(-most, most)).collect()
}

/// A world's only tree.
pub fn tree_of(world: &Arc<World>) -> (Model, Tree) {
    let model = Model::compile(world).expect("a robot");
    let mut forest = Forest::of(&model);
    assert_eq!(forest.trees.len(), 1);
    (model, forest.trees.remove(0))
}

/// Far apart, seen against how large they are.
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = a.iter().chain(b).fold(1e-300_f64, |most, x| most.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |most, (x, y)| most.max((x - y).abs())) / size
}
