//! How hard a robot pushes that moves as it is told.
//!
//! Its joints know no forces, so nothing would stop them: a leg told to go through a wall, or
//! two robots at `com` that hook into each other, ask for what cannot be. A real limb stalls
//! instead. How strong it is, is what its motors can hold against a push at that place, over
//! the lever each of them has; within bounds, for a straight limb carries by its bones, and
//! whoever stands and gets up carries its weight.

use headland_base::Vec3;
use headland_sim::contact::hard::Strength;
use headland_sim::motion::Pack;
use headland_sim::tree::{NodeKind, V3};
use headland_sim::{Model, Motion, State};

use super::contacts::{STEEP, Touch, velocity_at};
use super::packing::Seat;

/// Weights of itself that a limb pushes with at least: who walks carries itself on one leg, and
/// comes down on it.
const WEIGHTS_MIN: f64 = 2.0;

/// And at most, where efforts have no limit or no lever.
const WEIGHTS_MAX: f64 = 10.0;

/// Weights of whom it meets that something pushes with which moves at its own velocity: a press
/// or a conveyor, beyond anything that a robot withstands.
const WEIGHTS_OF_THE_MET: f64 = 100.0;

/// A limb is as strong on the Moon \[m/s²\].
const EARTH: f64 = 9.81;

/// Slower than this nobody was told to move \[m/s\].
const STILL: f64 = 1e-9;

/// A little more is given than was told, in parts of it and in \[m/s\]: what is pinched would
/// otherwise be held still from both sides with any force at all.
const SLACK: f64 = 1e-2;
const SLACK_SPEED: f64 = 1e-4;

/// Levers shorter than this are none \[m\].
const LEVER_MIN: f64 = 1e-9;

/// Of a contact; endless where nobody was told to move.
pub(super) fn strength_of(
    model: &Model,
    packs: &[Box<dyn Pack>],
    state: &State,
    touch: &Touch,
    dt: f64,
) -> Strength {
    let (normal, at) = (touch.point.normal, touch.point.position);
    let is_led = |rigid: usize| model.rigids[rigid].motion == Motion::Kinematic;
    let mut told = Vec3::ZERO;
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        told += sign
            * match touch.seats[side] {
                Some((pack, robot, node)) if !packs[pack].joints_give_way() => {
                    let arm = V3::of(at - packs[pack].origin(robot));
                    packs[pack].led_motion(robot, node).velocity_at(arm).get(0)
                }
                None if is_led(touch.rigids[side]) => velocity_at(state, touch.rigids[side], at),
                _ => Vec3::ZERO,
            };
    }
    // Along the surface counts too: what is dragged into a corner is wedged there.
    let give = told.length();
    if !(give > STILL && give.is_finite()) {
        return Strength::ENDLESS;
    }
    let mut most = f64::INFINITY;
    for (side, rigid) in touch.rigids.into_iter().enumerate() {
        match (touch.seats[side], touch.seats[1 - side]) {
            (Some(seat), _) if !packs[seat.0].joints_give_way() => {
                most = most.min(of_limb(model, packs, state, seat, at, normal));
            }
            (None, Some(met)) if is_led(rigid) => {
                most = most.min(WEIGHTS_OF_THE_MET * weight(packs[met.0].as_ref()));
            }
            _ => {}
        }
    }
    Strength { most: most * dt, give: give * (1.0 + SLACK) + SLACK_SPEED }
}

/// Whether a robot that no force moves would step back here if it were too weak: it goes towards the
/// other side, and across the ground.
pub(super) fn may_step_back(packs: &[Box<dyn Pack>], touch: &Touch) -> bool {
    let (normal, at) = (touch.point.normal, touch.point.position);
    let closes = |side: usize, sign: f64| {
        touch.seats[side].is_some_and(|(pack, robot, node)| {
            let pack = packs[pack].as_ref();
            let arm = V3::of(at - pack.origin(robot));
            let told = || pack.led_motion(robot, node).velocity_at(arm).get(0);
            !pack.gives_way() && sign * told().dot(normal) < -STILL
        })
    };
    normal.with_z(0.0).length() >= STEEP && (closes(0, -1.0) || closes(1, 1.0))
}

/// What a robot weighs on Earth \[N\]. Those of a pack weigh the same.
fn weight(pack: &dyn Pack) -> f64 {
    EARTH * pack.tree().nodes.iter().map(|node| node.mass).sum::<f64>()
}

/// What the motors between the base and a link hold against a push at a point of it \[N\].
fn of_limb(
    model: &Model,
    packs: &[Box<dyn Pack>],
    state: &State,
    (pack, robot, node): Seat,
    at: Vec3,
    along: Vec3,
) -> f64 {
    let pack = packs[pack].as_ref();
    let (tree, robot) = (pack.tree(), &pack.robots()[robot]);
    let mut held = f64::INFINITY;
    let mut next = Some(node);
    while let Some(i) = next {
        let node = &tree.nodes[i];
        next = node.parent;
        let (Some(rigid), Some((dof, _))) =
            (robot.rigids[i], robot.dofs.get(node.first_dof).copied().flatten())
        else {
            continue;
        };
        let world_from_node = state.rigids[rigid].world_from_rigid * node.rigid_from_node;
        let axis = world_from_node.vector(Vec3::Z);
        let lever = match node.kind {
            NodeKind::Turn | NodeKind::Screw { .. } => {
                axis.dot((at - world_from_node.translation).cross(along)).abs()
            }
            NodeKind::Slide => axis.dot(along).abs(),
            NodeKind::Free | NodeKind::Ball => continue,
        };
        if lever > LEVER_MIN {
            held = held.min(model.dofs[dof].axis.effort_max / lever);
        }
    }
    let weight = weight(pack);
    held.max(WEIGHTS_MIN * weight).min(WEIGHTS_MAX * weight)
}
