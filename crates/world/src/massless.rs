//! What becomes of links without mass.
//!
//! ROS and MuJoCo use a link or body without mass, fixed to another, as a frame. Here it
//! becomes a [`Frame`], and its shapes go to the link it is fixed to: nothing moves, and
//! no engine has to weld a body of zero mass. What moves without mass stays as it is, for
//! the check to say so.

use std::collections::{BTreeMap, BTreeSet};

use headland_base::{Mat3, Transform, Vec3};

use crate::check::is_reserved;
use crate::inertia::Inertial;
use crate::joint::{Joint, JointKind};
use crate::world::{Collision, Frame, Model, Visual};

/// Turns every massless link that is fixed to another, or to the world, into a frame.
/// Gives the names of those that went.
pub fn merge(model: &mut Model) -> Vec<String> {
    give_bases_an_inertia(model);
    let targets = targets_of(model);
    let old_names: Vec<String> = model.links.iter().map(|link| link.name.clone()).collect();
    let index: BTreeMap<&str, usize> =
        old_names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let new_name = |name: &str| match index.get(name).map(|i| targets[*i]) {
        Some(Target::Link(into)) => Some(old_names[into].clone()),
        Some(Target::World) => None,
        Some(Target::Itself) | None => Some(name.to_string()),
    };
    if targets.iter().all(|target| *target == Target::Itself) {
        return Vec::new();
    }

    // A joint between two links that are now one is gone; so is one from the world to it.
    let joints = std::mem::take(&mut model.joints);
    for mut joint in joints {
        let parent = joint.parent.as_deref().and_then(&new_name);
        let child = new_name(&joint.child);
        let is_inner = joint.kind == JointKind::Fixed && child == parent;
        if is_inner || child.as_deref() != Some(joint.child.as_str()) {
            continue;
        }
        joint.parent = parent;
        model.joints.push(joint);
    }
    for (a, b) in model.contact_excludes.iter_mut().chain(&mut model.contact_pairs) {
        for name in [a, b] {
            if let Some(new) = new_name(name) {
                *name = new;
            }
        }
    }
    for frame in &mut model.frames {
        frame.attached_to = frame.attached_to.as_deref().and_then(&new_name);
    }
    move_shapes(model, &targets)
}

/// A base with mass and an inertia of zero, fixed to the world: files write it because
/// nothing ever turns it. It gets one that any engine takes.
fn give_bases_an_inertia(model: &mut Model) {
    let is_fixed = |joint: &&Joint| joint.kind == JointKind::Fixed && joint.parent.is_none();
    let bases: BTreeSet<&str> =
        model.joints.iter().filter(is_fixed).map(|joint| joint.child.as_str()).collect();
    for link in model.links.iter_mut().filter(|link| bases.contains(link.name.as_str())) {
        if link.inertial.mass > 0.0 && link.inertial.inertia == Mat3::ZERO {
            link.inertial.inertia = Mat3::from_diagonal(Vec3::splat(link.inertial.mass));
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Target {
    Itself,
    Link(usize),
    World,
}

/// Where each link goes.
fn targets_of(model: &mut Model) -> Vec<Target> {
    let index: BTreeMap<&str, usize> =
        model.links.iter().enumerate().map(|(i, link)| (link.name.as_str(), i)).collect();
    let is_light = |i: usize| model.links[i].inertial.mass == 0.0;
    // For each link: whether its joint is fixed, and its parent (`None` is the world).
    let mut carried: Vec<Option<(bool, Option<usize>)>> = vec![None; model.links.len()];
    for joint in &model.joints {
        let Some(child) = index.get(joint.child.as_str()) else { continue };
        let parent = joint.parent.as_deref().map(|name| index.get(name).copied());
        match parent {
            None => carried[*child] = Some((joint.kind == JointKind::Fixed, None)),
            Some(Some(parent)) => {
                carried[*child] = Some((joint.kind == JointKind::Fixed, Some(parent)));
            }
            Some(None) => {}
        }
    }

    // Up to the first link that has mass or moves.
    let mut ends: Vec<Option<usize>> = vec![None; model.links.len()];
    for start in 0..model.links.len() {
        let (mut way, mut at) = (Vec::new(), start);
        let end = loop {
            if let Some(known) = ends[at] {
                break known;
            }
            match carried[at] {
                Some((true, Some(parent))) if is_light(at) && way.len() <= model.links.len() => {
                    way.push(at);
                    at = parent;
                }
                _ => break at,
            }
        };
        ends[at] = Some(end);
        way.into_iter().for_each(|passed| ends[passed] = Some(end));
    }
    let end_of = |i: usize| ends[i].unwrap_or(i);

    // A root without mass goes into the first link with mass that is fixed to it.
    let mut root_into: BTreeMap<usize, usize> = BTreeMap::new();
    for joint in model.joints.iter().filter(|joint| joint.kind == JointKind::Fixed) {
        let parent = joint.parent.as_deref().and_then(|name| index.get(name).copied());
        let (Some(parent), Some(child)) = (parent, index.get(joint.child.as_str())) else {
            continue;
        };
        let root = end_of(parent);
        if is_light(root) && carried[root].is_none() && !is_light(*child) {
            root_into.entry(root).or_insert(*child);
        }
    }

    let is_bare =
        |i: usize| model.links[i].collisions.is_empty() && model.links[i].visuals.is_empty();
    let mut at_world = Vec::new();
    let mut targets = Vec::new();
    for i in 0..model.links.len() {
        let end = end_of(i);
        targets.push(match root_into.get(&end) {
            Some(into) if *into != i => Target::Link(*into),
            Some(_) => Target::Itself,
            None if is_light(end) && carried[end] == Some((true, None)) => {
                if is_bare(i) {
                    Target::World
                } else {
                    at_world.push(end);
                    if end == i { Target::Itself } else { Target::Link(end) }
                }
            }
            None if end != i => Target::Link(end),
            None => Target::Itself,
        });
    }
    // What is fixed to the world and has shapes stays; its mass has nothing to move.
    for i in at_world {
        targets[i] = Target::Itself;
        model.links[i].inertial = Inertial::default();
    }
    targets
}

fn move_shapes(model: &mut Model, targets: &[Target]) -> Vec<String> {
    let poses: Vec<Transform> = model.links.iter().map(|link| link.model_from_link).collect();
    let names: Vec<String> = model.links.iter().map(|link| link.name.clone()).collect();
    let (mut gone, mut grown) = (Vec::new(), BTreeSet::new());
    for (i, target) in targets.iter().enumerate() {
        let into = match target {
            Target::Itself => continue,
            Target::Link(into) => Some(*into),
            Target::World => None,
        };
        let link = std::mem::take(&mut model.links[i]);
        if let Some(into) = into {
            let target_from_gone = poses[into].inverse() * poses[i];
            let target = &mut model.links[into];
            target.collisions.extend(link.collisions.into_iter().map(|shape| Collision {
                link_from_shape: target_from_gone * shape.link_from_shape,
                ..shape
            }));
            target.visuals.extend(link.visuals.into_iter().map(|shape| Visual {
                link_from_shape: target_from_gone * shape.link_from_shape,
                ..shape
            }));
            target.opaque.extend(link.opaque);
            grown.insert(into);
        }
        model.frames.push(Frame {
            name: names[i].clone(),
            scope_from_frame: poses[i],
            attached_to: into.map(|into| names[into].clone()),
        });
        gone.push(names[i].clone());
    }
    for link in grown {
        let link = &mut model.links[link];
        number_repeats(link.collisions.iter_mut().map(|c| &mut c.name));
        number_repeats(link.visuals.iter_mut().map(|v| &mut v.name));
    }
    let mut keep = targets.iter().map(|target| *target == Target::Itself);
    model.links.retain(|_| keep.next().unwrap_or(true));
    gone
}

/// Numbers names that come twice; URDF and MJCF do not mind them, the World does.
pub fn number_repeats<'a>(names: impl Iterator<Item = &'a mut String>) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        let mut candidate = name.clone();
        while counts.contains_key(&candidate) {
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            candidate = format!("{name}_{count}");
        }
        counts.insert(candidate.clone(), 0);
        *name = candidate;
    }
}

/// Frames whose names SDF keeps for itself get others: a site may be called `world`, and what
/// is written as SDF must be readable.
pub fn free_reserved_names(model: &mut Model) {
    for frame in model.frames.iter_mut().filter(|frame| is_reserved(&frame.name)) {
        frame.name.push_str("_frame");
    }
}

/// Links, joints and frames of a model share one set of names in the World, as in SDF,
/// while URDF and MJCF let a joint be named like its link. Such joints and frames get a
/// suffix; gives the joints that were renamed, old name to new.
pub fn separate_names(model: &mut Model) -> BTreeMap<String, String> {
    free_reserved_names(model);
    let mut taken: BTreeSet<String> = model.links.iter().map(|link| link.name.clone()).collect();
    let mut fresh = |name: &str, suffix: &str| {
        let mut candidate = name.to_string();
        while !taken.insert(candidate.clone()) {
            candidate.push_str(suffix);
        }
        candidate
    };
    let mut renamed = BTreeMap::new();
    for joint in &mut model.joints {
        let new = fresh(&joint.name, "_joint");
        if new != joint.name {
            renamed.insert(std::mem::replace(&mut joint.name, new.clone()), new);
        }
    }
    for frame in &mut model.frames {
        frame.name = fresh(&frame.name, "_frame");
    }
    for actuator in &mut model.actuators {
        if let Some(new) = renamed.get(&actuator.joint) {
            actuator.joint.clone_from(new);
        }
    }
    for joint in &mut model.joints {
        for mimic in joint.kind.axes_mut().into_iter().filter_map(|axis| axis.mimic.as_mut()) {
            if let Some(new) = renamed.get(&mimic.leader) {
                mimic.leader.clone_from(new);
            }
        }
    }
    renamed
}
