//! Welding: links that fixed joints hold together become one rigid, exactly.

use std::collections::BTreeMap;

use headland_base::{Diagnostic, Findings, Mat3, Transform, Vec3};
use headland_world::{JointKind, Link, PlacedLink, Twist};

use super::joints::FoundJoint;
use super::{Body, Links, Motion, Rigid, Shape};
use crate::joint::{turned_inertia, velocity_at};

/// Groups links into rigids and adds up their masses.
pub(super) fn weld(
    links: &Links<'_>,
    joints: &[FoundJoint<'_>],
    findings: &mut Findings,
) -> (Vec<Body>, Vec<Rigid>) {
    let n_links = links.placed.len();
    let world_node = n_links; // what is fixed to the world is static
    let mut sets = UnionFind::new(n_links + 1);
    for joint in joints.iter().filter(|joint| joint.joint.kind == JointKind::Fixed) {
        sets.join(joint.child, joint.parent.unwrap_or(world_node));
    }
    let welded_to_static: Vec<bool> = {
        let mut roots = vec![false; n_links + 1];
        roots[sets.root(world_node)] = true;
        for (i, placed) in links.placed.iter().enumerate() {
            roots[sets.root(i)] |= placed.is_static;
        }
        roots
    };

    let mut rigid_of_root = BTreeMap::new();
    let mut bodies = Vec::with_capacity(n_links);
    let mut rigids: Vec<Rigid> = Vec::new();
    for (i, placed) in links.placed.iter().enumerate() {
        let root = sets.root(i);
        let is_static = welded_to_static[root];
        // Static links stay apart: they need no welding, and each keeps its own frame.
        let key = if is_static { (i, true) } else { (root, false) };
        let rigid_idx = *rigid_of_root.entry(key).or_insert_with(|| {
            rigids.push(new_rigid(placed, is_static));
            rigids.len() - 1
        });
        let rigid = &mut rigids[rigid_idx];
        let rigid_from_body = if rigid.body_idxs.is_empty() {
            Transform::IDENTITY
        } else {
            from_one_to(&links.placed[rigid.body_idxs[0]], placed)
        };
        rigid.body_idxs.push(i);
        bodies.push(Body {
            name: placed.name.clone(),
            robot: placed.robot.to_string(),
            rigid_idx,
            rigid_from_body,
            self_collide: placed.model.self_collide,
            shapes: shapes_of(placed.link),
        });
    }
    for rigid in &mut rigids {
        add_masses(rigid, &bodies, links);
        agree(rigid, &bodies, links, findings);
    }
    (bodies, rigids)
}

/// `one_from_other` of two links. Within a robot it does not depend, not even by rounding, on
/// where the robot stands: robots of one model are the same to whoever moves them side by side.
pub(super) fn from_one_to(one: &PlacedLink<'_>, other: &PlacedLink<'_>) -> Transform {
    if one.robot == other.robot {
        one.robot_from_link.inverse() * other.robot_from_link
    } else {
        one.world_from_link.inverse() * other.world_from_link
    }
}

fn new_rigid(placed: &PlacedLink<'_>, is_static: bool) -> Rigid {
    let motion = match (is_static, placed.link.kinematic) {
        (true, _) => Motion::Static,
        (false, true) => Motion::Kinematic,
        (false, false) => Motion::Dynamic,
    };
    Rigid {
        body_idxs: Vec::new(),
        motion,
        mass: 0.0,
        centre: Vec3::ZERO,
        inertia: Mat3::ZERO,
        gravity: placed.link.gravity,
        velocity_decay: placed.link.velocity_decay,
        world_from_rigid: placed.world_from_link,
        twist: placed.link.initial_twist,
    }
}

fn shapes_of(link: &Link) -> Vec<Shape> {
    link.collisions
        .iter()
        .map(|collision| Shape {
            body_from_shape: collision.link_from_shape,
            geometry: collision.geometry.clone(),
            surface: collision.surface.clone(),
        })
        .collect()
}

/// Mass, centre and inertia of several links in the rigid's frame. With
/// `I' = R·I·Rᵀ` and the parallel-axis theorem `I += m·(d²·1 − d·dᵀ)`.
fn add_masses(rigid: &mut Rigid, bodies: &[Body], links: &Links<'_>) {
    let parts: Vec<(f64, Vec3, Mat3)> = rigid
        .body_idxs
        .iter()
        .map(|&i| {
            let inertial = &links.placed[i].link.inertial;
            let rigid_from_inertial = bodies[i].rigid_from_body * inertial.link_from_inertial;
            let inertia = turned_inertia(rigid_from_inertial.rotation, inertial.inertia);
            (inertial.mass, rigid_from_inertial.translation, inertia)
        })
        .collect();
    if let [(mass, centre, inertia)] = parts[..] {
        (rigid.mass, rigid.centre, rigid.inertia) = (mass, centre, inertia);
        return;
    }
    rigid.mass = parts.iter().map(|(mass, ..)| mass).sum();
    if rigid.mass > 0.0 {
        let moment = parts.iter().fold(Vec3::ZERO, |sum, (mass, centre, _)| sum + *centre * *mass);
        rigid.centre = moment / rigid.mass;
    }
    for (mass, centre, inertia) in parts {
        rigid.inertia += inertia + parallel_axis(mass, centre - rigid.centre);
    }
}

/// `m·(d²·1 − d·dᵀ)`: what a point mass off the centre adds.
fn parallel_axis(mass: f64, d: Vec3) -> Mat3 {
    let outer = Mat3::from_cols(d * d.x, d * d.y, d * d.z);
    (Mat3::from_diagonal(Vec3::splat(d.dot(d))) - outer) * mass
}

/// What the links of one rigid say about its motion must agree: one that moves as told makes
/// all of them move as told, gravity pulls on all or on none, and only one motion starts.
fn agree(rigid: &mut Rigid, bodies: &[Body], links: &Links<'_>, findings: &mut Findings) {
    let parts: Vec<(usize, &Link)> =
        rigid.body_idxs.iter().map(|&i| (i, links.placed[i].link)).collect();
    let first = rigid.body_idxs[0];
    if rigid.motion == Motion::Dynamic && parts.iter().any(|(_, link)| link.kinematic) {
        rigid.motion = Motion::Kinematic;
    }
    if rigid.motion != Motion::Dynamic {
        rigid.twist = starting_twist(rigid, bodies, &parts);
        return;
    }
    if let Some((i, _)) = parts.iter().find(|(_, link)| link.gravity != rigid.gravity) {
        let what = "gravity pulls on one of them only";
        let help = "say <gravity> alike on all links that fixed joints hold together";
        findings.push(disagreement(links, (first, *i), what).help(help));
    }
    // The mean by mass is what the parts would feel together.
    let mean = |of: fn(&Link) -> f64| {
        let sum: f64 = parts.iter().map(|(_, link)| of(link) * link.inertial.mass).sum();
        if parts.len() == 1 || rigid.mass <= 0.0 { of(parts[0].1) } else { sum / rigid.mass }
    };
    rigid.velocity_decay = (mean(|link| link.velocity_decay.0), mean(|link| link.velocity_decay.1));
    rigid.twist = starting_twist(rigid, bodies, &parts);
    for (i, link) in parts.iter().filter(|(_, link)| link.initial_twist != Twist::default()) {
        let there = links.placed[*i].world_from_link.translation;
        let linear = velocity_at(rigid.twist, rigid.world_from_rigid.translation, there);
        let apart = linear.distance(link.initial_twist.linear)
            + rigid.twist.angular.distance(link.initial_twist.angular);
        if apart > 1e-6 {
            let help = "give <headland:twist> to one of the links that fixed joints hold together";
            findings
                .push(disagreement(links, (first, *i), "they start with two motions").help(help));
        }
    }
}

/// Two links of one rigid say different things; at the second, which could say the same.
fn disagreement(links: &Links<'_>, (first, second): (usize, usize), what: &str) -> Diagnostic {
    let [first, second] = [first, second].map(|i| &links.placed[i].name);
    let place_of = |name: &str| links.places.find(&format!("link {name}"));
    let message = format!("`{first}` and `{second}` are one body, but {what}");
    let diagnostic = Diagnostic::error("weld-disagrees", message).at_maybe(place_of(second));
    match place_of(first) {
        Some(place) => diagnostic.note(format!("`{first}` is at {}", place.label())),
        None => diagnostic,
    }
}

/// The motion of the rigid's frame, from the first link that says how it starts.
fn starting_twist(rigid: &Rigid, bodies: &[Body], parts: &[(usize, &Link)]) -> Twist {
    let told = parts.iter().find(|(_, link)| link.initial_twist != Twist::default());
    told.map_or(Twist::default(), |(i, link)| {
        let offset = rigid.world_from_rigid.vector(bodies[*i].rigid_from_body.translation);
        let Twist { linear, angular } = link.initial_twist;
        Twist { linear: linear - angular.cross(offset), angular }
    })
}

/// Sets of indices that are joined one pair at a time.
struct UnionFind(Vec<usize>);

impl UnionFind {
    fn new(n: usize) -> UnionFind {
        UnionFind((0..n).collect())
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    /// The smaller index stays the root, so the result does not depend on the order.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
