//! Physical nonsense, found in a finished World whatever format it came from.
//!
//! ```text
//! World + Places ─ check ─► every defect: bodies (mass, inertia, surfaces, names)
//!                                         joints (ends, loops, axes, limits, mimics)
//!                                         what is said to our own engine
//! ```
//!
//! Deliberately absent: whether a particular engine can move the world. An engine says so
//! itself, before a run.

mod bodies;
mod joints;
mod native;
mod pairs;

use std::collections::BTreeMap;

use headland_base::{Diagnostic, Findings, Place};

use crate::{JointKind, ModelAt, Places, Touches, World};

/// How far from one the length of an axis may be; files round to a few digits.
pub const AXIS_LENGTH_SLACK: f64 = 1e-3;

/// How far principal moments may break the triangle inequality, relative to their sum:
/// rounding of exact values passes, a flat plate given to three digits does not.
pub const INERTIA_SLACK: f64 = 1e-9;

/// Everything physically wrong with a world, with places where they are known.
pub fn check(world: &World, places: &Places) -> Vec<Diagnostic> {
    let links = world.links();
    let joints = world.joints();
    let named = if !joints.is_empty() || has_references(world) { &links[..] } else { &[] };
    let mut checker = Checker {
        places,
        link_index: named.iter().enumerate().map(|(i, link)| (link.name.as_str(), i)).collect(),
        joint_index: joints.iter().enumerate().map(|(i, joint)| (joint.name.as_str(), i)).collect(),
        findings: Findings::new(),
    };
    checker.names(world);
    checker.bodies(world, &links, &joints);
    checker.joints(world, &links, &joints);
    checker.native(world, &links, &joints);
    checker.findings.into_vec()
}

/// What is wrong with the axes of a joint that no world can hold, by its whole name: one
/// whose child is not there.
pub(crate) fn check_axes(joint: &str, kind: &JointKind, places: &Places) -> Vec<Diagnostic> {
    let mut checker = Checker {
        places,
        link_index: BTreeMap::new(),
        joint_index: BTreeMap::new(),
        findings: Findings::new(),
    };
    for (axis, name) in kind.axes().into_iter().zip(["axis", "axis2"]) {
        checker.axis(joint, axis, name);
    }
    checker.findings.into_vec()
}

/// Whether anything but a joint names a link. A yard of boxes refers to nobody, and to sort
/// the names of ten thousand takes its time.
fn has_references(world: &World) -> bool {
    let mut has_some = !world.contact_sets.is_empty();
    world.visit_models(&mut |ModelAt { model, .. }| {
        has_some |= !model.actuators.is_empty()
            || !model.contact_excludes.is_empty()
            || !model.contact_pairs.is_empty()
            || !model.contact_sets.is_empty()
            || !model.feet.is_empty()
            || !model.wheels.is_empty()
            || matches!(model.touches, Touches::Links(_));
    });
    has_some
}

pub(crate) use bodies::is_reserved;
pub(crate) use native::lonely_set;

struct Checker<'w> {
    places: &'w Places,
    /// Whole name to position.
    link_index: BTreeMap<&'w str, usize>,
    joint_index: BTreeMap<&'w str, usize>,
    findings: Findings,
}

impl Checker<'_> {
    fn error(&mut self, code: &'static str, message: String, part: &str) {
        self.push(Diagnostic::error(code, message), part);
    }

    fn warning(&mut self, code: &'static str, message: String, part: &str) {
        self.push(Diagnostic::warning(code, message), part);
    }

    fn push(&mut self, diagnostic: Diagnostic, part: &str) {
        let place = self.place(part);
        self.findings.push(diagnostic.at_maybe(place));
    }

    /// Where a part was written.
    fn place(&self, part: &str) -> Option<Place> {
        self.places.find(part)
    }

    /// The nearest name in one scope, written as that scope writes it.
    fn suggest(&self, index: &BTreeMap<&str, usize>, scope: &str, wrong: &str) -> Option<String> {
        let prefix = if scope.is_empty() { String::new() } else { format!("{scope}::") };
        let known = index.keys().filter_map(|whole| whole.strip_prefix(&prefix));
        self.findings.suggestion(wrong, known)
    }
}

#[cfg(test)]
mod tests;
