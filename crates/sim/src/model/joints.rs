//! Joints by index: the links they connect, their axes, who follows whom, where they start.

use std::collections::BTreeMap;

use headland_base::{Diagnostic, Findings, Transform, names};
use headland_world::{Axis, Joint as WorldJoint, JointKind, World, join_scope};

use super::weld::from_one_to;
use super::{Body, Dof, DofMimic, Joint, Links, Rigid};
use crate::joint::joint_motion;

/// A joint with its links found.
pub(super) struct FoundJoint<'a> {
    name: String,
    robot: &'a str,
    scope: String,
    pub(super) joint: &'a WorldJoint,
    pub(super) parent: Option<usize>,
    pub(super) child: usize,
}

pub(super) fn found_joints<'a>(
    world: &'a World,
    links: &Links<'a>,
    findings: &mut Findings,
) -> Vec<FoundJoint<'a>> {
    let mut out = Vec::new();
    for placed in world.joints() {
        let what = format!("joint `{}`", placed.name);
        let child = links.find(&placed.scope, &placed.joint.child, &what, findings);
        let parent = match &placed.joint.parent {
            Some(name) => links.find(&placed.scope, name, &what, findings).map(Some),
            None => Some(None),
        };
        if let (Some(child), Some(parent)) = (child, parent) {
            let (name, robot, scope) = (placed.name, placed.robot, placed.scope);
            out.push(FoundJoint { name, robot, scope, joint: placed.joint, parent, child });
        }
    }
    out
}

pub(super) fn moving_joints(
    found: &[FoundJoint<'_>],
    links: &Links<'_>,
    bodies: &[Body],
    rigids: &[Rigid],
) -> Vec<Joint> {
    found
        .iter()
        .filter(|found| found.joint.kind != JointKind::Fixed)
        .filter(|found| {
            found.parent.map(|i| bodies[i].rigid_idx) != Some(bodies[found.child].rigid_idx)
        })
        .map(|found| {
            let child = &bodies[found.child];
            let placed_child = &links.placed[found.child];
            let parent_rigid = found.parent.map(|i| bodies[i].rigid_idx);
            // A rigid's frame is that of its first link.
            let parent_from_child = parent_rigid.map_or(placed_child.world_from_link, |i| {
                from_one_to(&links.placed[rigids[i].body_idxs[0]], placed_child)
            });
            Joint {
                name: found.name.clone(),
                robot: if found.robot.is_empty() {
                    child.robot.clone()
                } else {
                    found.robot.to_string()
                },
                parent_rigid,
                child_rigid: child.rigid_idx,
                parent_from_joint: parent_from_child * found.joint.child_from_joint,
                child_from_joint: child.rigid_from_body * found.joint.child_from_joint,
                kind: with_whole_mimics(&found.joint.kind, &found.scope),
                first_dof: 0,
            }
        })
        .collect()
}

/// Mimics name their leader within the scope; from here on names are whole.
fn with_whole_mimics(kind: &JointKind, scope: &str) -> JointKind {
    let mut kind = kind.clone();
    for axis in kind.axes_mut() {
        if let Some(mimic) = &mut axis.mimic {
            mimic.leader = join_scope(scope, &mimic.leader);
        }
    }
    kind
}

pub(super) fn list_dofs(joints: &mut [Joint], findings: &mut Findings) -> Vec<Dof> {
    let mut dofs = Vec::new();
    for (joint_idx, joint) in joints.iter_mut().enumerate() {
        joint.first_dof = dofs.len();
        let axes: Vec<Axis> = joint.kind.axes().into_iter().cloned().collect();
        let n_axes = axes.len();
        for (axis_idx, axis) in axes.into_iter().enumerate() {
            let suffix = if n_axes > 1 { format!("_axis{}", axis_idx + 1) } else { String::new() };
            let name = format!("{}{suffix}", joint.name);
            let in_robot =
                name.strip_prefix(&format!("{}::", joint.robot)).unwrap_or(&name).to_string();
            dofs.push(Dof {
                name,
                name_in_robot: in_robot,
                joint_idx,
                axis_idx,
                axis,
                mimic: None,
            });
        }
    }
    let starts: BTreeMap<&str, (usize, usize)> =
        joints.iter().map(|j| (j.name.as_str(), (j.first_dof, j.kind.axes().len()))).collect();
    let mut followers = Vec::new();
    for (i, dof) in dofs.iter().enumerate() {
        let Some(mimic) = &dof.axis.mimic else { continue };
        let leader = starts.get(mimic.leader.as_str()).filter(|(_, n)| mimic.leader_axis < *n);
        if let Some((start, _)) = leader {
            let offset = mimic.offset - mimic.multiplier * mimic.reference;
            let leader_dof = start + mimic.leader_axis;
            followers.push((i, DofMimic { leader_dof, multiplier: mimic.multiplier, offset }));
        } else {
            let message =
                format!("joint `{}` follows `{}`, which does not move", dof.name, mimic.leader);
            let near = names::suggestion(&mimic.leader, starts.keys().copied());
            findings.push(Diagnostic::error("unknown-joint", message).help_maybe(near));
        }
    }
    follow_from_the_start(&mut dofs, &followers);
    dofs
}

/// Link poses are given with every joint at zero; this moves whatever a joint carries to
/// where the joint starts.
pub(super) fn place_at_initial_positions(joints: &[Joint], dofs: &[Dof], rigids: &mut [Rigid]) {
    if dofs.iter().all(|dof| dof.axis.initial_position == 0.0) {
        return;
    }
    let mut joints_by_parent: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    let mut is_placed = vec![true; rigids.len()];
    for (i, joint) in joints.iter().enumerate() {
        joints_by_parent.entry(joint.parent_rigid).or_default().push(i);
        is_placed[joint.child_rigid] = false;
    }
    // From the world and every rigid nothing carries, outwards; each rigid is placed once,
    // so a loop is cut where it closes.
    let mut open: Vec<Option<usize>> =
        (0..rigids.len()).filter(|i| is_placed[*i]).map(Some).collect();
    open.push(None);
    while let Some(parent) = open.pop() {
        for &i in joints_by_parent.get(&parent).map_or(&[] as &[usize], Vec::as_slice) {
            let joint = &joints[i];
            if std::mem::replace(&mut is_placed[joint.child_rigid], true) {
                continue;
            }
            let positions: Vec<f64> = dofs
                [joint.first_dof..joint.first_dof + joint.kind.axes().len()]
                .iter()
                .map(|dof| dof.axis.initial_position)
                .collect();
            let world_from_parent =
                parent.map_or(Transform::IDENTITY, |i| rigids[i].world_from_rigid);
            rigids[joint.child_rigid].world_from_rigid = world_from_parent
                * joint.parent_from_joint
                * joint_motion(&joint.kind, &positions)
                * joint.child_from_joint.inverse();
            open.push(Some(joint.child_rigid));
        }
    }
}

/// A follower starts where its leader puts it, whatever the file says of it; anything else
/// would be a jolt at the first step. Leaders may follow leaders.
fn follow_from_the_start(dofs: &mut [Dof], followers: &[(usize, DofMimic)]) {
    for (i, mimic) in followers {
        dofs[*i].mimic = Some(*mimic);
    }
    for _ in followers {
        let mut changed = false;
        for (i, mimic) in followers {
            let wanted =
                mimic.multiplier * dofs[mimic.leader_dof].axis.initial_position + mimic.offset;
            changed |= dofs[*i].axis.initial_position != wanted;
            dofs[*i].axis.initial_position = wanted;
        }
        if !changed {
            return;
        }
    }
}
