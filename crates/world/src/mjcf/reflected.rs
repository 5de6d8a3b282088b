//! What MJCF gives as a ratio instead of a number: `springdamper` of a joint and `dampratio`
//! of a position servo. Both depend on how heavy the rest of the model is at the joint, with
//! the model as the file draws it, so they wait until every body has its mass.
//!
//! ```text
//! links, joints ─ J ─► M = Σ JᵀIJ + armature ─► M[i][i]      all other joints held: dampratio
//!                                            └► 1/M⁻¹[i][i]  all others free: springdamper
//! ```
//!
//! The formulas are those of MuJoCo's compiler: a spring with time constant `t` and ratio `d`
//! has stiffness `m/(t·d)²` and damping `2·m/t`; a servo with ratio `d` has damping
//! `2·d·√(kp·m)`, where `m` is what the joint feels, seen through the gear.

use std::collections::BTreeMap;

use headland_base::maths::sqrt;
use headland_base::{Diagnostic, Mat3, Place, Transform, Vec3};
use roxmltree::Node;

use super::Reader;
use super::left_out::inherited;
use crate::joint::JointKind;
use crate::world::{ActuatorKind, Model, World};

/// The most axes of one model; the matrix is dense, and a robot has a hundred.
const MOST_AXES: usize = 300;

/// What is given as ratios, until the masses are known.
#[derive(Default)]
pub struct Ratios {
    springs: Vec<Spring>,
    servos: Vec<Servo>,
}

/// A `springdamper`.
struct Spring {
    model: String,
    joint: String,
    axis_idx: usize,
    /// \[s\]
    time_constant: f64,
    ratio: f64,
    place: Place,
}

/// A `dampratio`.
struct Servo {
    model_idx: usize,
    actuator_idx: usize,
    ratio: f64,
    place: Place,
}

impl Reader<'_> {
    /// Remembers the `springdamper`s of a joint, whose axes these elements are.
    pub(super) fn note_springs(&mut self, model: &Model, joint: &str, nodes: &[Node<'_, '_>]) {
        let kind = model.joints.iter().rfind(|known| known.name == joint).map(|known| &known.kind);
        let n_axes = kind.map_or(0, |kind| kind.axes().len());
        for (axis_idx, node) in nodes.iter().enumerate() {
            let Some(text) = inherited(*node, "springdamper") else { continue };
            let place = self.xml.attribute_place(*node, "springdamper");
            let numbers = self.xml.numbers(text, &place, false);
            // What is wrong with it is told where values are looked at.
            let Some(&[time_constant, ratio]) = numbers.as_deref() else { continue };
            if time_constant <= 0.0 || ratio <= 0.0 {
                continue; // then the stiffness and damping count
            }
            if axis_idx >= n_axes {
                let why = "a joint without an axis has no spring here";
                self.left_out("springdamper", why, place);
                continue;
            }
            let (model, joint) = (model.name.clone(), joint.to_string());
            let spring = Spring { model, joint, axis_idx, time_constant, ratio, place };
            self.ratios.springs.push(spring);
        }
    }

    /// Remembers the damping ratio of the servo that was added last to a model.
    pub(super) fn note_servo(&mut self, node: Node<'_, '_>, model_idx: usize, model: &mut Model) {
        let Some(actuator) = model.actuators.last_mut() else { return };
        let ActuatorKind::Position { kv, .. } = &mut actuator.kind else { return };
        let is_general = node.has_tag_name("general");
        let text = inherited(node, "dampratio").filter(|_| !is_general);
        let name = if is_general { "biasprm" } else { "dampratio" };
        let place = self.xml.attribute_place(node, name);
        let given = text.and_then(|text| self.xml.numbers(text, &place, false));
        // A `general` that damps the wrong way says a ratio.
        let ratio = match given.as_deref() {
            Some([ratio, ..]) => *ratio,
            _ if is_general && *kv < 0.0 => -std::mem::take(kv),
            _ => return,
        };
        if ratio > 0.0 && *kv != 0.0 {
            let message = "`kv` and `dampratio` cannot both be given";
            self.xml.findings.push(Diagnostic::error("bad-actuator", message).at(place));
        } else if ratio > 0.0 {
            let actuator_idx = model.actuators.len() - 1;
            self.ratios.servos.push(Servo { model_idx, actuator_idx, ratio, place });
        }
    }

    /// Turns every ratio into its number.
    pub(super) fn resolve_ratios(&mut self, world: &mut World) {
        let Ratios { springs, servos } = std::mem::take(&mut self.ratios);
        // Each model is weighed once, before any of them changes.
        let of_servos = servos.iter().map(|servo| servo.model_idx);
        let of_springs = springs.iter().filter_map(|s| position(world, &s.model));
        let mut felt: BTreeMap<usize, Option<JointSpace>> = BTreeMap::new();
        for model_idx in of_servos.chain(of_springs) {
            felt.entry(model_idx).or_insert_with(|| JointSpace::of(&world.models[model_idx]));
        }
        let none = "the model cannot be weighed at this joint";
        for spring in springs {
            let model_idx = position(world, &spring.model);
            let space = model_idx.and_then(|i| felt.get(&i)).and_then(Option::as_ref);
            let mass = space.and_then(|space| space.when_free(&spring.joint, spring.axis_idx));
            match (mass, model_idx) {
                (Some(mass), Some(i)) => self.set_spring(&mut world.models[i], &spring, mass),
                _ => self.left_out("springdamper", none, spring.place),
            }
        }
        for servo in servos {
            let model = &mut world.models[servo.model_idx];
            let actuator = &mut model.actuators[servo.actuator_idx];
            let space = felt.get(&servo.model_idx).and_then(Option::as_ref);
            let mass = space.and_then(|space| space.when_held(&actuator.joint, 0));
            let gear = actuator.gear;
            match (mass, &mut actuator.kind) {
                (Some(mass), ActuatorKind::Position { kp, kv }) if gear != 0.0 => {
                    *kv = 2.0 * servo.ratio * sqrt(*kp * mass / (gear * gear));
                }
                _ => self.left_out("dampratio", none, servo.place),
            }
        }
    }

    fn set_spring(&mut self, model: &mut Model, spring: &Spring, mass: f64) {
        let joint = model.joints.iter_mut().find(|joint| joint.name == spring.joint);
        let axis = joint.and_then(|joint| joint.kind.axes_mut().into_iter().nth(spring.axis_idx));
        let Some(axis) = axis else { return };
        let (t, d) = (spring.time_constant, spring.ratio);
        let unless = |flag: &str, value: f64| if self.flags.is_off(flag) { 0.0 } else { value };
        axis.spring_stiffness = unless("spring", mass / (t * t * d * d));
        axis.damping = unless("damper", 2.0 * mass / t);
    }

    fn left_out(&mut self, name: &str, why: &str, place: Place) {
        let message = format!("`{name}` left out: {why}");
        self.xml.findings.push(Diagnostic::warning("left-out", message).at(place));
    }
}

fn position(world: &World, name: &str) -> Option<usize> {
    world.models.iter().position(|model| model.name == name)
}

/// The inertia of a model as its axes feel it, as the file draws it.
struct JointSpace {
    /// Joint to its first axis, and how many it has.
    axes_of: BTreeMap<String, (usize, usize)>,
    /// Row by row.
    matrix: Vec<Vec<f64>>,
    /// The lower half of `L·Lᵀ = M`; `None` where an axis feels nothing.
    root: Option<Vec<Vec<f64>>>,
}

/// How a point `p` moves with an axis: `slides + turns × (p − at)`, all in the model's frame.
#[derive(Clone, Copy)]
struct Motion {
    turns: Vec3,
    slides: Vec3,
    at: Vec3,
}

impl Motion {
    fn of_point(&self, p: Vec3) -> Vec3 {
        self.slides + self.turns.cross(p - self.at)
    }
}

impl JointSpace {
    /// `None` where a model has more axes than anybody waits for.
    fn of(model: &Model) -> Option<JointSpace> {
        let (mut motions, mut armatures, mut axes_of) = (Vec::new(), Vec::new(), BTreeMap::new());
        let carried: BTreeMap<&str, usize> =
            model.joints.iter().enumerate().map(|(i, joint)| (joint.child.as_str(), i)).collect();
        let mut path_of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        // Readers put a body behind the one that carries it.
        for link in &model.links {
            let joint = carried.get(link.name.as_str()).map(|i| &model.joints[*i]);
            let parent = joint.and_then(|joint| joint.parent.as_deref());
            let mut path = parent.and_then(|name| path_of.get(name)).cloned().unwrap_or_default();
            let first = motions.len();
            match joint {
                Some(joint) => {
                    let model_from_joint = link.model_from_link * joint.child_from_joint;
                    motions.extend(motions_of(&joint.kind, model_from_joint));
                    let axes = joint.kind.axes();
                    armatures.extend(axes.iter().map(|axis| axis.armature));
                    armatures.resize(motions.len(), 0.0); // a ball has three and no axis
                    axes_of.insert(joint.name.clone(), (first, axes.len()));
                }
                None if link.kinematic || model.is_static => {}
                None => {
                    let at = link.model_from_link.translation;
                    let still = Motion { turns: Vec3::ZERO, slides: Vec3::ZERO, at };
                    motions.extend(Vec3::AXES.map(|slides| Motion { slides, ..still }));
                    motions.extend(Vec3::AXES.map(|turns| Motion { turns, ..still }));
                    armatures.resize(motions.len(), 0.0);
                }
            }
            if motions.len() > MOST_AXES {
                return None;
            }
            path.extend(first..motions.len());
            path_of.insert(&link.name, path);
        }
        let mut matrix = vec![vec![0.0; motions.len()]; motions.len()];
        for (i, armature) in armatures.into_iter().enumerate() {
            matrix[i][i] = armature;
        }
        for link in &model.links {
            let inertial = &link.inertial;
            let model_from_inertial = link.model_from_link * inertial.link_from_inertial;
            let turn = Mat3::from_quat(model_from_inertial.rotation);
            let inertia = turn * inertial.inertia * turn.transpose();
            let centre = model_from_inertial.translation;
            let path = &path_of[link.name.as_str()];
            let moved: Vec<(Vec3, Vec3)> = path
                .iter()
                .map(|i| {
                    (motions[*i].of_point(centre) * inertial.mass, inertia * motions[*i].turns)
                })
                .collect();
            for (i, (momentum, spin)) in path.iter().zip(moved) {
                for j in path {
                    matrix[*i][*j] +=
                        momentum.dot(motions[*j].of_point(centre)) + spin.dot(motions[*j].turns);
                }
            }
        }
        let root = lower_root(&matrix);
        Some(JointSpace { axes_of, matrix, root })
    }

    fn index(&self, joint: &str, axis_idx: usize) -> Option<usize> {
        let (first, n_axes) = *self.axes_of.get(joint)?;
        (axis_idx < n_axes).then_some(first + axis_idx)
    }

    /// What an axis feels while all others are held: `M[i][i]` \[kg or kg·m²\].
    fn when_held(&self, joint: &str, axis_idx: usize) -> Option<f64> {
        let i = self.index(joint, axis_idx)?;
        Some(self.matrix[i][i]).filter(|mass| *mass > 0.0 && mass.is_finite())
    }

    /// What an axis feels while all others are free: `1/M⁻¹[i][i]`, where
    /// `M⁻¹[i][i] = |L⁻¹·eᵢ|²` \[kg or kg·m²\].
    fn when_free(&self, joint: &str, axis_idx: usize) -> Option<f64> {
        let (i, root) = (self.index(joint, axis_idx)?, self.root.as_ref()?);
        let mut y = vec![0.0; root.len()];
        for row in i..root.len() {
            let wanted = if row == i { 1.0 } else { 0.0 };
            let known: f64 = (i..row).map(|k| root[row][k] * y[k]).sum();
            y[row] = (wanted - known) / root[row][row];
        }
        let inverse: f64 = y.iter().map(|x| x * x).sum();
        Some(1.0 / inverse).filter(|mass| *mass > 0.0 && mass.is_finite())
    }
}

/// How what a joint carries moves with each of its axes.
fn motions_of(kind: &JointKind, model_from_joint: Transform) -> Vec<Motion> {
    let at = model_from_joint.translation;
    let still = Motion { turns: Vec3::ZERO, slides: Vec3::ZERO, at };
    let turning = |axis: Vec3| Motion { turns: model_from_joint.vector(axis), ..still };
    match kind {
        JointKind::Fixed => Vec::new(),
        JointKind::Ball => Vec3::AXES.map(turning).to_vec(),
        JointKind::Prismatic(axis) => {
            vec![Motion { slides: model_from_joint.vector(axis.direction), ..still }]
        }
        JointKind::Screw { axis, metres_per_radian } => {
            let slides = model_from_joint.vector(axis.direction) * *metres_per_radian;
            vec![Motion { slides, ..turning(axis.direction) }]
        }
        JointKind::Revolute(_) | JointKind::Continuous(_) | JointKind::Universal(..) => {
            kind.axes().iter().map(|axis| turning(axis.direction)).collect()
        }
    }
}

/// Cholesky: the lower half whose product with its own transpose is the matrix.
fn lower_root(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let mut root = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| root[i][k] * root[j][k]).sum();
            let rest = matrix[i][j] - known;
            root[i][j] = match i == j {
                // What is left of a diagonal entry that rounding alone could have left is none.
                true if rest.is_nan() || rest <= matrix[i][i] * 1e-14 => return None,
                true => sqrt(rest),
                false => rest / root[j][j],
            };
        }
    }
    Some(root)
}
