//! Who touches whom, and what two surfaces make of each other: one meaning for every engine.
//!
//! Where an engine combines surfaces by a rule of its own, it is told the result of this one.

use std::collections::{BTreeMap, BTreeSet};

use headland_world::Surface;

use crate::model::Model;

/// What holds between two surfaces that touch: the lesser of the two, which is what SDF's own
/// engine does with friction. A surface that does not bounce is not made to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePair {
    /// Coulomb friction along the first direction.
    pub mu: f64,
    /// Coulomb friction along the second direction.
    pub mu2: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
}

impl SurfacePair {
    /// What two surfaces make of each other.
    pub fn of(a: &Surface, b: &Surface) -> SurfacePair {
        SurfacePair {
            mu: a.mu().min(b.mu()),
            mu2: a.mu2().min(b.mu2()),
            restitution: a.restitution().min(b.restitution()),
        }
    }

    /// Friction for engines that know no direction: the mean of the two.
    pub fn mean_mu(&self) -> f64 {
        0.5 * (self.mu + self.mu2)
    }
}

/// What a surface asks of its contacts beyond friction and restitution, in words: many an engine has
/// nothing for it, and says so.
pub fn asked_of_contacts(surface: &Surface) -> Vec<&'static str> {
    let asked = [
        ("friction direction", surface.friction_direction.is_some()),
        ("slip", surface.slip.is_some_and(|slip| slip != (0.0, 0.0))),
        ("torsional friction", surface.torsional.is_some()),
        ("bounce threshold", surface.bounce_threshold.is_some_and(|speed| speed > 0.0)),
        ("contact stiffness", surface.stiffness.is_some() || surface.damping.is_some()),
    ];
    asked.iter().filter(|(_, is_asked)| *is_asked).map(|(word, _)| *word).collect()
}

/// Which bodies never touch: those of one rigid, links that their robot keeps out of contacts, and
/// the pairs and sets the world excludes; and, but for pairs that the world switches on, neighbours
/// on a joint and links of one robot that does not collide with itself. Masks are a matter of
/// shapes, and each engine's own.
#[derive(Clone, Debug)]
pub struct TouchFilter {
    /// For each body, the later ones it never touches; few, so that looking is quick.
    excluded: Vec<Vec<usize>>,
    /// For each body, the later ones it touches although they are neighbours or of one robot.
    switched_on: Vec<Vec<usize>>,
    /// For each rigid, the later ones a joint ties it to.
    neighbours: Vec<Vec<usize>>,
    bodies: Vec<FilteredBody>,
}

#[derive(Clone, Copy, Debug)]
struct FilteredBody {
    rigid_idx: usize,
    robot_idx: usize,
    self_collide: bool,
    takes_part: bool,
}

impl TouchFilter {
    /// Of a model.
    pub fn of(model: &Model) -> TouchFilter {
        let robots: BTreeSet<&str> = model.bodies.iter().map(|body| body.robot.as_str()).collect();
        let robots: BTreeMap<&str, usize> =
            robots.into_iter().enumerate().map(|(i, name)| (name, i)).collect();
        let neighbours = neighbours(model).into_iter().map(|(a, b)| (a.min(b), a.max(b)));
        TouchFilter {
            excluded: partners(model.bodies.len(), model.contact_excludes.iter().copied()),
            switched_on: partners(model.bodies.len(), model.contact_pairs.iter().copied()),
            neighbours: partners(model.rigids.len(), neighbours),
            bodies: model
                .bodies
                .iter()
                .zip(model.world.touching_links())
                .map(|(body, takes_part)| FilteredBody {
                    takes_part,
                    rigid_idx: body.rigid_idx,
                    robot_idx: robots[body.robot.as_str()],
                    self_collide: body.self_collide,
                })
                .collect(),
        }
    }

    /// Whether two bodies, by their indices, may touch.
    pub fn may_touch(&self, i: usize, j: usize) -> bool {
        let (a, b) = (self.bodies[i], self.bodies[j]);
        let rigids = (a.rigid_idx.min(b.rigid_idx), a.rigid_idx.max(b.rigid_idx));
        let is_one_robot = a.robot_idx == b.robot_idx && !(a.self_collide && b.self_collide);
        let is_apart = !(a.takes_part && b.takes_part)
            || a.rigid_idx == b.rigid_idx
            || self.excluded[i.min(j)].contains(&i.max(j));
        let is_off = is_one_robot || self.neighbours[rigids.0].contains(&rigids.1);
        !is_apart && (!is_off || self.switched_on[i.min(j)].contains(&i.max(j)))
    }
}

/// Rigids that a joint connects, or several joints with nothing between them but links without
/// shapes: a joint of several axes is often written so.
fn neighbours(model: &Model) -> Vec<(usize, usize)> {
    let has_shapes = |rigid: usize| {
        model.rigids[rigid].body_idxs.iter().any(|body| !model.bodies[*body].shapes.is_empty())
    };
    let mut carried_by: Vec<Vec<usize>> = vec![Vec::new(); model.rigids.len()];
    for joint in &model.joints {
        if let Some(parent) = joint.parent_rigid {
            carried_by[parent].push(joint.child_rigid);
        }
    }
    let mut out = Vec::new();
    for joint in &model.joints {
        let Some(parent) = joint.parent_rigid else { continue };
        let mut child = joint.child_rigid;
        out.push((parent, child));
        // Bounded: a ring of empty links would lead round and round.
        for _ in 0..model.rigids.len() {
            let [only] = carried_by[child][..] else { break };
            if has_shapes(child) {
                break;
            }
            child = only;
            out.push((parent, child));
        }
    }
    out
}

/// Pairs, smaller index first, as the partners of each.
fn partners(n: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new(); n];
    pairs.for_each(|(first, second)| out[first].push(second));
    out
}
