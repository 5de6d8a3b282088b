//! From a few known numbers to a whole state: where everything is, and how it moves.
//!
//! ```text
//! State to start from ─┐
//!                      ├─ place ─► State in which every joint holds
//! Known: some numbers ─┘
//! ```
//!
//! From the world outwards, link by link: what nothing carries stands where it is known to, else
//! where it stood; what a joint carries stands where the joint's known position puts it. Where
//! only the place of a carried link is known, its joint is read off that place, so that a joint
//! never comes apart.

use std::collections::BTreeMap;

use headland_base::maths::{quat_from_axis_angle, quat_from_rpy, unit_quat};
use headland_base::{Quat, Transform, Vec3};
use headland_sim::joint::{RelativeMotion, joint_motion, measure_joint, velocity_at};
use headland_sim::{Joint, Model, RigidState, State};
use headland_world::{JointKind, Twist};

use crate::source::{Frame, FrameQuantity, JointQuantity, Source};

/// Numbers that are known of a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Position and velocity by axis.
    joints: BTreeMap<usize, [Option<f64>; 2]>,
    /// By rigid, in the order they were told.
    frames: BTreeMap<usize, Vec<KnownFrame>>,
}

/// What is known of a frame.
#[derive(Clone, Debug, PartialEq)]
struct KnownFrame {
    frame: Frame,
    /// In the order of `POSE_COMPONENTS`.
    pose: [Option<f64>; 10],
    /// Linear, angular; along the world's axes, then along its own.
    twist: [[Option<f64>; 3]; 4],
}

impl Known {
    /// Nothing is known.
    pub fn new() -> Known {
        Known::default()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty() && self.frames.is_empty()
    }

    /// Adds a number, over what was known before. Says whether it is of use: positions and
    /// velocities are.
    pub fn tell(&mut self, source: &Source, value: f64) -> bool {
        match source {
            Source::Joint(i, JointQuantity::Position) => {
                self.joints.entry(*i).or_default()[0] = Some(value);
            }
            Source::Joint(i, JointQuantity::Velocity) => {
                self.joints.entry(*i).or_default()[1] = Some(value);
            }
            Source::Frame(frame, FrameQuantity::Pose(component)) => {
                self.frame(frame).pose[*component] = Some(value);
            }
            Source::Frame(frame, FrameQuantity::Vector { which, axis, in_body }) if *which < 2 => {
                let at = which + if *in_body { 2 } else { 0 };
                self.frame(frame).twist[at][*axis] = Some(value);
            }
            _ => return false,
        }
        true
    }

    fn frame(&mut self, frame: &Frame) -> &mut KnownFrame {
        let all = self.frames.entry(frame.rigid_idx).or_default();
        let at = all.iter().position(|known| known.frame == *frame).unwrap_or_else(|| {
            all.push(KnownFrame { frame: *frame, pose: [None; 10], twist: [[None; 3]; 4] });
            all.len() - 1
        });
        &mut all[at]
    }

    /// Where a rigid is and how it moves, with what is known of its frames put over `now`.
    fn rigid(&self, rigid_idx: usize, mut now: RigidState) -> RigidState {
        for known in self.frames.get(&rigid_idx).into_iter().flatten() {
            known.put_over(&mut now);
        }
        now
    }

    /// Forgets the numbers of joints that `given` tells by the links they carry.
    pub fn give_way(&mut self, model: &Model, given: &Known) {
        for (i, numbers) in &mut self.joints {
            for (number, quantity) in
                numbers.iter_mut().zip([JointQuantity::Position, JointQuantity::Velocity])
            {
                let is_told = given.tells_by_link(model, &Source::Joint(*i, quantity));
                *number = number.filter(|_| !is_told);
            }
        }
    }

    /// Whether a joint's number is read off its link.
    pub fn tells_by_link(&self, model: &Model, source: &Source) -> bool {
        let Source::Joint(dof_idx, quantity) = source else { return false };
        let has_it = |joint: &&Joint| {
            (joint.first_dof..joint.first_dof + joint.kind.axes().len()).contains(dof_idx)
        };
        model.joints.iter().find(has_it).is_some_and(|joint| match quantity {
            JointQuantity::Position => self.knows_pose(joint.child_rigid),
            JointQuantity::Velocity => self.knows_twist(joint.child_rigid),
            _ => false,
        })
    }

    /// The first joint whose link is not where it was told to be, or does not move so, by more
    /// than a thousandth: the joint does not let it, or was told otherwise.
    pub fn unmet<'m>(&self, model: &'m Model, state: &State) -> Option<&'m Joint> {
        model.joints.iter().find(|joint| {
            let now = state.rigids[joint.child_rigid];
            let told = self.rigid(joint.child_rigid, now);
            let turn = now.world_from_rigid.rotation.conjugate() * told.world_from_rigid.rotation;
            let apart = [
                (told.world_from_rigid.translation - now.world_from_rigid.translation).length(),
                2.0 * Vec3::new(turn.x, turn.y, turn.z).length(),
                (told.twist.linear - now.twist.linear).length()
                    / (1.0 + told.twist.linear.length()),
                (told.twist.angular - now.twist.angular).length()
                    / (1.0 + told.twist.angular.length()),
            ];
            apart.iter().any(|apart| *apart > 1e-3)
        })
    }

    fn knows_pose(&self, rigid_idx: usize) -> bool {
        let frames = self.frames.get(&rigid_idx).into_iter().flatten();
        frames.flat_map(|known| &known.pose).any(Option::is_some)
    }

    fn knows_twist(&self, rigid_idx: usize) -> bool {
        let frames = self.frames.get(&rigid_idx).into_iter().flatten();
        frames.flat_map(|known| known.twist.as_flattened()).any(Option::is_some)
    }
}

impl KnownFrame {
    fn put_over(&self, now: &mut RigidState) {
        let rigid_from_frame = self.frame.rigid_from_frame;
        let was = now.world_from_rigid * rigid_from_frame;
        let place = or_known(was.translation, &self.pose[..3]);
        let pose = Transform::new(self.turn(was.rotation), place);
        let mut angular = or_known(now.twist.angular, &self.twist[1]);
        angular = in_frame(pose.rotation, angular, &self.twist[3]);
        // The velocity of the frame; its arm reaches from the rigid's origin to the frame's.
        let mut linear = now.twist.linear + now.twist.angular.cross(arm_of(now, &self.frame));
        linear = or_known(linear, &self.twist[0]);
        linear = in_frame(pose.rotation, linear, &self.twist[2]);
        now.world_from_rigid = pose * rigid_from_frame.inverse();
        now.twist = Twist { linear: linear - angular.cross(arm_of(now, &self.frame)), angular };
    }

    fn turn(&self, was: Quat) -> Quat {
        let q = &self.pose[3..7];
        if q.iter().any(Option::is_some) {
            let part = |i: usize| q[i].unwrap_or(was.to_array()[i]);
            return unit_quat(Quat::from_xyzw(part(0), part(1), part(2), part(3))).unwrap_or(was);
        }
        if self.pose[7..].iter().any(Option::is_some) {
            let rpy = or_known(headland_base::maths::rpy_from_quat(was), &self.pose[7..]);
            return quat_from_rpy(rpy.x, rpy.y, rpy.z);
        }
        was
    }
}

/// From a rigid's origin to a frame's, in the world.
fn arm_of(now: &RigidState, frame: &Frame) -> Vec3 {
    now.world_from_rigid.vector(frame.rigid_from_frame.translation)
}

fn or_known(was: Vec3, known: &[Option<f64>]) -> Vec3 {
    let part = |i: usize| known[i].unwrap_or(was[i]);
    Vec3::new(part(0), part(1), part(2))
}

/// A vector of the world, with some components along a frame's own axes replaced.
fn in_frame(turn: Quat, vector: Vec3, known: &[Option<f64>; 3]) -> Vec3 {
    match known.iter().any(Option::is_some) {
        true => turn * or_known(turn.conjugate() * vector, known),
        false => vector,
    }
}

/// The state with what is known put over it.
pub fn place(model: &Model, from: &State, known: &Known) -> State {
    let mut state = from.clone();
    let (positions, velocities) = joint_numbers(model, from, known);
    for (i, dof) in state.dofs.iter_mut().enumerate() {
        // A position that only a place tells is read off below; until then it is the old one.
        dof.position = positions[i].unwrap_or(dof.position);
        dof.velocity = velocities[i].unwrap_or(dof.velocity);
    }
    let mut by_parent: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    let mut is_placed = vec![true; model.rigids.len()];
    for (i, joint) in model.joints.iter().enumerate() {
        by_parent.entry(joint.parent_rigid).or_default().push(i);
        is_placed[joint.child_rigid] = false;
    }
    let mut open: Vec<Option<usize>> = Vec::new();
    for i in (0..model.rigids.len()).filter(|i| is_placed[*i]) {
        state.rigids[i] = known.rigid(i, state.rigids[i]);
        open.push(Some(i));
    }
    open.push(None);
    let mut closing = Vec::new();
    while let Some(parent) = open.pop() {
        for &joint_idx in by_parent.get(&parent).map_or(&[] as &[usize], Vec::as_slice) {
            let joint = &model.joints[joint_idx];
            if std::mem::replace(&mut is_placed[joint.child_rigid], true) {
                closing.push(joint_idx);
                continue;
            }
            let dofs = joint.first_dof..joint.first_dof + joint.kind.axes().len();
            let is_told = |told: &[Option<f64>]| told[dofs.clone()].iter().any(Option::is_some);
            let told = (is_told(&positions), is_told(&velocities));
            hang(from, known, joint, told, &mut state);
            open.push(Some(joint.child_rigid));
        }
    }
    for joint_idx in closing {
        state.measure_joint(model, &model.joints[joint_idx]);
    }
    state
}

/// Positions and velocities that are known, followers where their leaders put them.
fn joint_numbers(
    model: &Model,
    from: &State,
    known: &Known,
) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
    let part = |part: usize| -> Vec<Option<f64>> {
        (0..from.dofs.len()).map(|i| known.joints.get(&i).and_then(|both| both[part])).collect()
    };
    let (mut positions, mut velocities) = (part(0), part(1));
    // Leaders may follow leaders.
    for _ in 0..model.dofs.iter().filter(|dof| dof.mimic.is_some()).count() {
        for (i, dof) in model.dofs.iter().enumerate() {
            if let Some(mimic) = dof.mimic {
                let leader = mimic.leader_dof;
                let followed = positions[leader].map(|q| mimic.multiplier * q + mimic.offset);
                positions[i] = positions[i].or(followed);
                velocities[i] = velocities[i].or(velocities[leader].map(|v| mimic.multiplier * v));
            }
        }
    }
    (positions, velocities)
}

/// Puts what a joint carries where the joint has it.
fn hang(
    from: &State,
    known: &Known,
    joint: &Joint,
    (tells_position, tells_velocity): (bool, bool),
    state: &mut State,
) {
    let child = joint.child_rigid;
    let told = known.rigid(child, state.rigids[child]);
    let old = from.relative_motion(joint);
    let now = {
        state.rigids[child] = told;
        state.relative_motion(joint)
    };
    let n_axes = joint.kind.axes().len();
    let dofs = joint.first_dof..joint.first_dof + n_axes;
    let previous = [0, 1].map(|i| state.dofs.get(joint.first_dof + i).map_or(0.0, |d| d.position));
    for (i, (position, velocity)) in
        measure_joint(&joint.kind, &now, &previous).into_iter().enumerate()
    {
        let dof = &mut state.dofs[joint.first_dof + i];
        if known.knows_pose(child) && !tells_position {
            dof.position = position;
        }
        if known.knows_twist(child) && !tells_velocity {
            dof.velocity = velocity;
        }
    }
    // A ball joint has no axes: it is as its link is told, else as it was.
    let mut ball = old;
    if known.knows_pose(child) {
        ball.parent_from_child = now.parent_from_child;
    }
    if known.knows_twist(child) {
        ball.twist = now.twist;
    }
    let numbers: Vec<(f64, f64)> =
        state.dofs[dofs].iter().map(|dof| (dof.position, dof.velocity)).collect();
    let motion = motion_of(&joint.kind, &numbers, &ball);
    state.rigids[child] = carried(joint, &motion, state);
}

/// How a joint's child side stands and moves against its parent side.
fn motion_of(kind: &JointKind, numbers: &[(f64, f64)], ball: &RelativeMotion) -> RelativeMotion {
    let positions: Vec<f64> = numbers.iter().map(|(position, _)| *position).collect();
    let rate = |i: usize| numbers[i].1;
    let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
    match kind {
        JointKind::Fixed => {}
        JointKind::Ball => {
            let turn = ball.parent_from_child.rotation;
            let twist = Twist { linear: Vec3::ZERO, angular: ball.twist.angular };
            return RelativeMotion { parent_from_child: Transform::from_rotation(turn), twist };
        }
        JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
            angular = axis.direction * rate(0);
        }
        JointKind::Prismatic(axis) => linear = axis.direction * rate(0),
        JointKind::Screw { axis, metres_per_radian } => {
            angular = axis.direction * rate(0);
            linear = angular * *metres_per_radian;
        }
        JointKind::Universal(first, second) => {
            let turned = quat_from_axis_angle(first.direction, positions[0]) * second.direction;
            angular = first.direction * rate(0) + turned * rate(1);
        }
    }
    let parent_from_child = joint_motion(kind, &positions);
    RelativeMotion { parent_from_child, twist: Twist { linear, angular } }
}

/// Where the child of a joint is and how it moves, by where its parent is.
fn carried(joint: &Joint, motion: &RelativeMotion, state: &State) -> RigidState {
    let (world_from_parent, parent_twist) = match joint.parent_rigid {
        Some(i) => (state.rigids[i].world_from_rigid, state.rigids[i].twist),
        None => (Transform::IDENTITY, Twist::default()),
    };
    let world_from_p = world_from_parent * joint.parent_from_joint;
    let world_from_c = world_from_p * motion.parent_from_child;
    let point = world_from_c.translation;
    let at_point = velocity_at(parent_twist, world_from_parent.translation, point)
        + world_from_p.vector(motion.twist.linear);
    let angular = parent_twist.angular + world_from_p.vector(motion.twist.angular);
    let world_from_rigid = world_from_c * joint.child_from_joint.inverse();
    let linear = at_point + angular.cross(world_from_rigid.translation - point);
    RigidState { world_from_rigid, twist: Twist { linear, angular }, is_contained: false }
}
