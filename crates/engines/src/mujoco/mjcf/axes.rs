//! Joints in MuJoCo's words: what hangs on what, what ties axes to one another, and the actuators
//! that efforts go through. The rest of the text is next door.

use std::fmt::Write;

use headland_base::maths::quat_from_axis_angle;
use headland_base::{Transform, Vec3};
use headland_sim::Joint;
use headland_world::{Axis, JointKind};

use super::{Writer, escaped, pair_of, triple};
use crate::mujoco::realise::{self, SOLIMP};
use crate::mujoco::tree::Hanger;

/// How far apart the two points are that keep a hinge which closes a loop \[m\].
const HINGE_SPAN: f64 = 0.1;

/// Beyond every limit that is meant \[rad or m\].
const FAR: f64 = 1e9;

impl Writer<'_> {
    /// The joints a rigid hangs on, in MuJoCo's order: from what it hangs on outwards.
    pub(super) fn hang(&mut self, rigid_idx: usize, hanger: Hanger, indent: &str) {
        let now = &self.state.rigids[rigid_idx];
        let local = now.world_from_rigid.rotation.conjugate();
        let Hanger::Joint { joint_idx, on, is_reversed } = hanger else {
            let name = format!("free {rigid_idx}");
            let _ = writeln!(self.text, "{indent}  <freejoint name=\"{name}\"/>");
            self.floats_at[rigid_idx] = Some((self.n_positions, self.velocities.len()));
            self.n_positions += 1; // a quaternion has one number more than a turn
            let omega = local * now.twist.angular;
            let arm = now.world_from_rigid.vector(self.offsets[rigid_idx]);
            let linear = now.twist.linear + now.twist.angular.cross(arm);
            for (i, speed) in linear.to_array().into_iter().enumerate() {
                self.velocity(speed, &name, i);
            }
            for (i, speed) in omega.to_array().into_iter().enumerate() {
                self.velocity(speed, &name, i + 3);
            }
            return;
        };
        let joint = &self.model.joints[joint_idx];
        let body_from_joint =
            if is_reversed { joint.parent_from_joint } else { joint.child_from_joint };
        let sign = if is_reversed { -1.0 } else { 1.0 };
        let direction = |axis: &Axis| body_from_joint.vector(axis.direction) * sign;
        let at = body_from_joint.translation;
        let first = joint.first_dof;
        match &joint.kind {
            JointKind::Fixed => unreachable!("welded when the model was compiled"),
            JointKind::Ball => {
                let name = format!("ball {joint_idx}");
                let _ = writeln!(
                    self.text,
                    "{indent}  <joint name=\"{name}\" type=\"ball\" pos=\"{}\"/>",
                    triple(at)
                );
                self.n_positions += 1;
                let carrier = on.map_or(Vec3::ZERO, |i| self.state.rigids[i].twist.angular);
                let omega = local * (now.twist.angular - carrier);
                for (i, speed) in omega.to_array().into_iter().enumerate() {
                    self.velocity(speed, &name, i);
                }
            }
            JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
                self.axis(joint, 0, "hinge", at, direction(axis), indent);
            }
            JointKind::Prismatic(axis) => {
                self.axis(joint, 0, "slide", at, direction(axis), indent);
            }
            JointKind::Screw { axis, metres_per_radian } => {
                let slid = self.state.dofs[first].position * metres_per_radian;
                let name = thread_of(joint);
                let _ = writeln!(
                    self.text,
                    "{indent}  <joint name=\"{}\" type=\"slide\" axis=\"{}\" ref=\"{slid}\"/>",
                    escaped(&name),
                    triple(direction(axis))
                );
                self.velocity(self.state.dofs[first].velocity * metres_per_radian, &name, 0);
                self.axis(joint, 0, "hinge", at, direction(axis), indent);
            }
            JointKind::Universal(a, b) => {
                // MuJoCo's axes are those of the body as it is written here, at q₁ and q₂.
                // R = P·R₁(q₁)·R₂(q₂)·C⁻¹ = R(now)·Rot(l₁, q₁ − now)·Rot(l₂, q₂ − now) holds
                // for l₂ = C·a₂ and l₁ = C·R₂(−q₂)·a₁; backwards the same from the other end.
                let [q1, q2] = [0, 1].map(|i| self.state.dofs[first + i].position);
                if is_reversed {
                    let turned = quat_from_axis_angle(a.direction, q1) * b.direction;
                    let outer = -body_from_joint.vector(turned);
                    self.axis(joint, 1, "hinge", at, outer, indent);
                    self.axis(joint, 0, "hinge", at, direction(a), indent);
                } else {
                    let turned = quat_from_axis_angle(b.direction, -q2) * a.direction;
                    let outer = body_from_joint.vector(turned);
                    self.axis(joint, 0, "hinge", at, outer, indent);
                    self.axis(joint, 1, "hinge", at, direction(b), indent);
                }
            }
        }
    }

    /// One axis as a joint of MuJoCo's.
    fn axis(
        &mut self,
        joint: &Joint,
        axis_idx: usize,
        kind: &str,
        at: Vec3,
        direction: Vec3,
        indent: &str,
    ) {
        let dof_idx = joint.first_dof + axis_idx;
        let dof = &self.model.dofs[dof_idx];
        let (axis, now) = (&dof.axis, self.state.dofs[dof_idx]);
        let _ = write!(
            self.text,
            "{indent}  <joint name=\"{}\" type=\"{kind}\" pos=\"{}\" axis=\"{}\" ref=\"{}\"",
            escaped(&dof.name),
            triple(at),
            triple(direction),
            now.position
        );
        let with_number = [
            ("damping", axis.damping),
            ("stiffness", axis.spring_stiffness),
            ("armature", axis.armature),
            ("frictionloss", axis.friction),
        ];
        for (word, number) in with_number.iter().filter(|(_, number)| *number != 0.0) {
            let _ = write!(self.text, " {word}=\"{number}\"");
        }
        if axis.spring_stiffness != 0.0 {
            let _ = write!(self.text, " springref=\"{}\"", axis.spring_reference);
        }
        let hard = (!self.options.raw).then(|| pair_of(realise::hard_solref(self.dt())));
        if axis.friction != 0.0
            && let Some(hard) = &hard
        {
            let _ = write!(self.text, " solreffriction=\"{hard}\" solimpfriction=\"{SOLIMP}\"");
        }
        if axis.lower.is_finite() || axis.upper.is_finite() {
            // MuJoCo has two ends or none.
            let (low, high) = (axis.lower.max(-FAR), axis.upper.min(FAR));
            let _ = write!(self.text, " limited=\"true\" range=\"{low} {high}\"");
            if let Some(hard) = &hard {
                let _ = write!(self.text, " solreflimit=\"{hard}\" solimplimit=\"{SOLIMP}\"");
            }
        }
        self.text.push_str("/>\n");
        self.velocity_of[dof_idx] = Some(self.velocities.len());
        self.velocity(now.velocity, &dof.name, 0);
    }

    fn velocity(&mut self, speed: f64, joint_name: &str, place: usize) {
        let gear: Vec<&str> = (0..6).map(|i| if i == place { "1" } else { "0" }).collect();
        self.n_positions += 1;
        self.velocities.push(speed);
        self.velocity_words.push(format!(
            "joint=\"{}\" gear=\"{}\"",
            escaped(joint_name),
            gear.join(" ")
        ));
    }

    /// Screws, mimics and loops.
    pub(super) fn ties(&self, text: &mut String) {
        let mut out = String::new();
        let feel = if self.options.raw {
            String::new()
        } else {
            format!(" solref=\"{}\" solimp=\"{SOLIMP}\"", pair_of(realise::hard_solref(self.dt())))
        };
        // MuJoCo's polynomial is of what both differ from where they are written.
        for (joint_idx, joint) in self.model.joints.iter().enumerate() {
            if let JointKind::Screw { metres_per_radian, .. } = &joint.kind
                && !self.forest.closing.contains(&joint_idx)
            {
                let _ = writeln!(
                    out,
                    "    <joint joint1=\"{}\" joint2=\"{}\" polycoef=\"0 {metres_per_radian} 0 0 \
                     0\"{feel}/>",
                    escaped(&thread_of(joint)),
                    escaped(&self.model.dofs[joint.first_dof].name)
                );
            }
        }
        for (i, dof) in self.model.dofs.iter().enumerate() {
            if let Some(mimic) = dof.mimic {
                let now = |i: usize| self.state.dofs[i].position;
                let start = mimic.multiplier * now(mimic.leader_dof) + mimic.offset - now(i);
                let _ = writeln!(
                    out,
                    "    <joint joint1=\"{}\" joint2=\"{}\" polycoef=\"{start} {} 0 0 0\"{feel}/>",
                    escaped(&dof.name),
                    escaped(&self.model.dofs[mimic.leader_dof].name),
                    mimic.multiplier
                );
            }
        }
        for &joint_idx in &self.forest.closing {
            let joint = &self.model.joints[joint_idx];
            let main = |rigid_idx: usize| {
                let rigid = &self.model.rigids[rigid_idx];
                escaped(&self.model.bodies[rigid.body_idxs[0]].name)
            };
            let on =
                joint.parent_rigid.map_or_else(String::new, |i| format!(" body2=\"{}\"", main(i)));
            let offset = self.offsets[joint.child_rigid];
            let at = Transform::from_translation(-offset) * joint.child_from_joint;
            let along = joint.kind.axes().first().map(|axis| axis.direction * HINGE_SPAN);
            for point in [Some(Vec3::ZERO), along].into_iter().flatten() {
                let _ = writeln!(
                    out,
                    "    <connect body1=\"{}\"{on} anchor=\"{}\"{feel}/>",
                    main(joint.child_rigid),
                    triple(at.point(point))
                );
            }
        }
        if !out.is_empty() {
            let _ = writeln!(text, "  <equality>\n{out}  </equality>");
        }
    }

    /// What efforts go through: which damper is whose, and how many actuators there are.
    pub(super) fn actuators(&self, text: &mut String) -> (Vec<Option<usize>>, usize) {
        let mut out = String::new();
        let mut brake_of = vec![None; self.model.dofs.len()];
        let mut n_actuators = 0;
        if self.library.needs_force_actuators() {
            for words in &self.velocity_words {
                let _ = writeln!(
                    out,
                    "    <general {words} gaintype=\"fixed\" gainprm=\"0\" biastype=\"user\"/>"
                );
            }
            n_actuators = self.velocity_words.len();
        } else if !self.options.raw {
            for (i, velocity) in self.velocity_of.iter().enumerate() {
                if let Some(velocity) = velocity {
                    let words = &self.velocity_words[*velocity];
                    // Its force is −control·velocity, and MuJoCo knows the slope of that.
                    let _ = writeln!(
                        out,
                        "    <general {words} gaintype=\"affine\" gainprm=\"0 0 -1\" \
                         biastype=\"none\"/>"
                    );
                    brake_of[i] = Some(n_actuators);
                    n_actuators += 1;
                }
            }
        }
        if !out.is_empty() {
            let _ = writeln!(text, "  <actuator>\n{out}  </actuator>");
        }
        (brake_of, n_actuators)
    }
}

/// The slide of a screw.
fn thread_of(joint: &Joint) -> String {
    format!("{} thread", joint.name)
}
