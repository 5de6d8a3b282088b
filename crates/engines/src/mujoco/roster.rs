//! Who is who: which body and which number of MuJoCo's belongs to which link and axis of ours.
//!
//! Headland's reader of the file and MuJoCo's own go in; bodies are found by name, those
//! without by their number, which is the same in both: both count bodies in the order of the
//! file. Which velocity belongs to which axis is found by trying each and looking what moves.
//! A link that our reader put between two joints of one body has none of MuJoCo's; it is
//! placed by the positions of those joints.

use std::collections::BTreeMap;

use headland_base::{Diagnostic, Vec3};
use headland_sim::{Model, Motion, State};
use headland_world::JointKind;

use super::library::{BodyId, Counts, Sim};
use super::pose_of;

/// Bodies without a name must be where our reader has them \[m\], or they are others.
const NEAR: f64 = 1e-3;

/// What moves less than this at a speed of one does not move.
const STANDS: f64 = 1e-9;

/// Where a rigid's pose comes from.
#[derive(Clone, Debug)]
pub(super) enum Whereabouts {
    /// It stands still.
    Still,
    /// A body of MuJoCo's.
    Body(BodyId),
    /// It is between two joints of one.
    Between(Carrier),
}

/// A link between two joints of one body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carrier {
    /// The joint it hangs on.
    pub(super) joint_idx: usize,
    /// Where the position of that is among MuJoCo's, and its velocity.
    pub(super) position_at: usize,
    pub(super) velocity_at: usize,
    /// MuJoCo's position where ours is zero.
    pub(super) reference: f64,
    /// The body it is part of.
    pub(super) body: BodyId,
}

/// Who is who.
pub(super) struct Roster {
    /// One per rigid.
    pub(super) rigids: Vec<Whereabouts>,
    /// Some rigid is between two joints.
    pub(super) has_carriers: bool,
    /// Of MuJoCo's bodies, the link each belongs to; fixed ones without mass to what they are
    /// fixed to.
    pub(super) link_of_body: BTreeMap<usize, usize>,
    /// Of each axis, where it is among MuJoCo's velocities, and MuJoCo's position where ours
    /// is zero.
    pub(super) axes: Vec<Option<(usize, f64)>>,
}

/// The name of a body by its number.
pub(super) fn body_name(sim: &Sim<'_>, id: usize) -> Option<String> {
    sim.name_of_body(sim.body_numbered(id)?)
}

impl Roster {
    /// Of a model that was just loaded, or every link that MuJoCo does not have. The
    /// simulation is at its start before and after.
    pub(super) fn of(model: &Model, sim: &mut Sim<'_>) -> Result<Roster, Vec<Diagnostic>> {
        sim.place();
        let links = model.world.links();
        let bodies: Vec<Option<BodyId>> =
            links.iter().map(|link| body_of(sim, link.robot, &link.link.name)).collect();
        let mut link_of_body = BTreeMap::new();
        let ids = bodies.iter().enumerate().filter_map(|(i, body)| Some((i, (*body)?)));
        link_of_body.extend(ids.map(|(i, body)| (body.number(), i)));
        add_frames(model, sim, &mut link_of_body);

        let firsts: Vec<Option<BodyId>> =
            model.rigids.iter().map(|rigid| bodies[rigid.body_idxs[0]]).collect();
        let state = State::initial(model);
        let mut edges = Vec::new();
        let mut lost = Vec::new();
        for (i, rigid) in model.rigids.iter().enumerate() {
            if rigid.motion == Motion::Static {
                continue;
            }
            let name = &model.bodies[rigid.body_idxs[0]].name;
            match firsts[i] {
                Some(body) => {
                    let gap = pose_of(sim.pose(body)).translation
                        - state.rigids[i].world_from_rigid.translation;
                    if sim.name_of_body(body).is_none() && gap.length() > NEAR {
                        lost.push(name.clone());
                    }
                    edges.push(Edge::of(model, i, body, &firsts));
                }
                None if !is_between(model, i) => lost.push(name.clone()),
                None => {}
            }
        }
        if !lost.is_empty() {
            return Err(vec![lost_links(&lost)]);
        }
        let positions = find_velocities(sim, &mut edges);
        let axes = axes_of(model, &edges, positions.as_ref());
        let (rigids, lost) = whereabouts(model, &firsts, &edges, positions.as_ref());
        if !lost.is_empty() {
            return Err(vec![lost_links(&lost)]);
        }
        let has_carriers = rigids.iter().any(|place| matches!(place, Whereabouts::Between(_)));
        Ok(Roster { rigids, has_carriers, link_of_body, axes })
    }
}

fn lost_links(names: &[String]) -> Diagnostic {
    let shown: Vec<String> = names.iter().take(6).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 6 { ", …" } else { "" };
    let message = format!("links are not found in what mujoco loads: {}{more}", shown.join(", "));
    Diagnostic::error("engine-cannot", message)
        .note("bodies are found by name, those without by their place in the file, which is known from MuJoCo 2.3.7 on; so are links between two joints of one body")
        .help("give the bodies names, or run headland's translation of the file, without --raw")
}

/// MuJoCo's body for a link, or for a frame that was a body.
fn body_of(sim: &Sim<'_>, robot: &str, name: &str) -> Option<BodyId> {
    if robot == "worldbody" && name == "link" {
        return Some(BodyId::WORLD);
    }
    sim.body(name).or_else(|| {
        // Our reader names a body without a name by its number.
        let id = sim.body_numbered(name.strip_prefix("body_")?.parse().ok()?)?;
        sim.name_of_body(id).is_none().then_some(id)
    })
}

/// Bodies without mass that became frames, as parts of what they are fixed to.
fn add_frames(model: &Model, sim: &Sim<'_>, link_of_body: &mut BTreeMap<usize, usize>) {
    let links = model.world.links();
    let mut by_name = BTreeMap::new();
    for (i, link) in links.iter().enumerate() {
        by_name.insert((link.robot, link.link.name.as_str()), i);
    }
    for thing in &model.world.models {
        for frame in &thing.frames {
            let link = frame.attached_to.as_deref();
            let link = link.and_then(|link| by_name.get(&(thing.name.as_str(), link)));
            let body = body_of(sim, &thing.name, &frame.name);
            let id = body.map(BodyId::number);
            if let (Some(link), Some(id)) = (link, id) {
                link_of_body.entry(id).or_insert(*link);
            }
        }
    }
}

/// Whether a rigid is between two joints of one body: it hangs on one, carries one, and
/// nothing else is known of it.
fn is_between(model: &Model, rigid_idx: usize) -> bool {
    let above = model.joints.iter().filter(|joint| joint.child_rigid == rigid_idx).count();
    let below = model.joints.iter().filter(|joint| joint.parent_rigid == Some(rigid_idx)).count();
    let rigid = &model.rigids[rigid_idx];
    let is_bare = rigid.body_idxs.iter().all(|i| model.bodies[*i].shapes.is_empty());
    above == 1 && below == 1 && is_bare && rigid.body_idxs.len() == 1
}

/// A body of MuJoCo's, what carries it, and the joints between the two.
struct Edge {
    body: BodyId,
    parent: Option<BodyId>,
    /// From what carries it outwards; none of one that floats.
    joints: Vec<usize>,
    n_velocities: usize,
    /// MuJoCo's velocities that move the one against the other, in order.
    velocities: Vec<usize>,
}

fn n_velocities(kind: &JointKind) -> usize {
    if let JointKind::Ball = kind { 3 } else { kind.axes().len() }
}

impl Edge {
    fn of(model: &Model, rigid_idx: usize, body: BodyId, firsts: &[Option<BodyId>]) -> Edge {
        let (mut joints, mut at) = (Vec::new(), Some(rigid_idx));
        let parent = loop {
            let Some(rigid) = at else { break None };
            if rigid != rigid_idx && firsts[rigid].is_some() {
                break firsts[rigid];
            }
            let found = model.joints.iter().position(|joint| joint.child_rigid == rigid);
            let Some(joint_idx) = found.filter(|joint| !joints.contains(joint)) else { break None };
            joints.insert(0, joint_idx);
            at = model.joints[joint_idx].parent_rigid;
        };
        let n = joints.iter().map(|i| n_velocities(&model.joints[*i].kind)).sum();
        let floats = joints.is_empty() && model.rigids[rigid_idx].motion == Motion::Dynamic;
        let n_velocities = if floats { 6 } else { n };
        Edge { body, parent, joints, n_velocities, velocities: Vec::new() }
    }

    /// Whether the body moves against what carries it.
    fn moves(&self, sim: &Sim<'_>) -> bool {
        let motion = |body: BodyId| {
            let [wx, wy, wz, vx, vy, vz] = sim.velocity(body);
            let origin = Vec3::from_array(sim.pose(body).0);
            (Vec3::new(wx, wy, wz), Vec3::new(vx, vy, vz), origin)
        };
        let still = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
        let (turning, moving, origin) = motion(self.body);
        let (turning_on, moving_on, origin_on) = self.parent.map_or(still, motion);
        let carried = moving_on + turning_on.cross(origin - origin_on);
        (turning - turning_on).length() > STANDS || (moving - carried).length() > STANDS
    }
}

/// MuJoCo's positions at the start, and where that of each velocity is.
struct Positions {
    at_start: Vec<f64>,
    of_velocity: Vec<usize>,
}

/// Finds out which velocities move which body. Positions are known where everything that
/// moves is: then their order is that of the velocities.
fn find_velocities(sim: &mut Sim<'_>, edges: &mut [Edge]) -> Option<Positions> {
    let Counts { n_positions, n_velocities, .. } = sim.counts()?;
    let (mut at_start, mut velocities) = (vec![0.0; n_positions], vec![0.0; n_velocities]);
    sim.read_motion(&mut at_start, &mut velocities);
    let mut scratch = at_start.clone();
    for v in 0..n_velocities {
        sim.change_motion(&mut scratch, &mut velocities, |_, velocities| {
            velocities.fill(0.0);
            velocities[v] = 1.0;
        });
        sim.place();
        if let Some(edge) = edges.iter_mut().find(|edge| edge.moves(sim)) {
            edge.velocities.push(v);
        }
    }
    sim.reset();
    sim.place();
    // A quaternion has one number more than a turn.
    let mut of_velocity: Vec<usize> = (0..n_velocities).collect();
    let mut longer = 0;
    for quaternion_end in quaternion_ends(edges) {
        longer += 1;
        of_velocity.iter_mut().skip(quaternion_end).for_each(|position| *position += 1);
    }
    (n_positions == n_velocities + longer).then_some(Positions { at_start, of_velocity })
}

/// Of everything that turns freely, the velocity after its own.
fn quaternion_ends(edges: &[Edge]) -> impl Iterator<Item = usize> {
    edges.iter().filter_map(|edge| {
        let n = edge.velocities.len();
        let turns = edge.n_velocities == n && (n == 6 || n == 3) && edge.joints.len() < 2;
        turns.then(|| edge.velocities[n - 1] + 1)
    })
}

/// Where each axis is among MuJoCo's velocities.
fn axes_of(
    model: &Model,
    edges: &[Edge],
    positions: Option<&Positions>,
) -> Vec<Option<(usize, f64)>> {
    let mut axes = vec![None; model.dofs.len()];
    let Some(positions) = positions else { return axes };
    for edge in edges.iter().filter(|edge| edge.velocities.len() == edge.n_velocities) {
        let mut velocities = edge.velocities.iter();
        for joint_idx in &edge.joints {
            let joint = &model.joints[*joint_idx];
            let own: Vec<usize> =
                velocities.by_ref().take(n_velocities(&joint.kind)).copied().collect();
            for (k, v) in own.into_iter().take(joint.kind.axes().len()).enumerate() {
                let reference = positions.at_start[positions.of_velocity[v]];
                axes[joint.first_dof + k] = Some((v, reference));
            }
        }
    }
    axes
}

/// Where each rigid's pose comes from, and the names of those of which that is not known.
fn whereabouts(
    model: &Model,
    firsts: &[Option<BodyId>],
    edges: &[Edge],
    positions: Option<&Positions>,
) -> (Vec<Whereabouts>, Vec<String>) {
    let axes = axes_of(model, edges, positions);
    let mut lost = Vec::new();
    let mut one = |i: usize| {
        if model.rigids[i].motion == Motion::Static {
            return Whereabouts::Still;
        }
        if let Some(body) = firsts[i] {
            return Whereabouts::Body(body);
        }
        let between = || {
            let joint_idx = model.joints.iter().position(|joint| joint.child_rigid == i)?;
            let joint = &model.joints[joint_idx];
            let edge = edges.iter().find(|edge| edge.joints.contains(&joint_idx))?;
            let is_simple = matches!(
                joint.kind,
                JointKind::Revolute(_) | JointKind::Continuous(_) | JointKind::Prismatic(_)
            );
            let (velocity_at, reference) = axes[joint.first_dof..].first().copied()??;
            let position_at = positions?.of_velocity[velocity_at];
            is_simple.then_some(Carrier {
                joint_idx,
                position_at,
                velocity_at,
                reference,
                body: edge.body,
            })
        };
        if let Some(carrier) = between() {
            return Whereabouts::Between(carrier);
        }
        lost.push(model.bodies[model.rigids[i].body_idxs[0]].name.clone());
        Whereabouts::Still
    };
    let rigids = (0..model.rigids.len()).map(&mut one).collect();
    (rigids, lost)
}
