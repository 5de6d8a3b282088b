//! Where the links of a pack are as a state has them: worked out side by side, told robot by
//! robot.

use headland_base::{Quat, Transform};

use crate::state::State;
use crate::tree::{Bodies, Lane, NodeKind, Tree, Turn, V3, V6};

use super::{FASTEST, Robot};

/// Every link of every robot: scratch, made by [`Links::find`] or [`Links::put`].
#[derive(Clone, Debug)]
pub(super) struct Links<L> {
    links: Vec<Link<L>>,
    /// Rigids of the model, link by link and there lane by lane.
    rigids: Vec<usize>,
    axes: Vec<AxisPlace>,
    /// Axes of the model and the way they count, axis by axis and there lane by lane.
    dofs: Vec<(usize, f64)>,
    /// Squares of the largest two speeds of each robot's links.
    fastest: [L; 2],
}

/// One link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link<L> {
    /// Which node it is. Only nodes that are rigids have a link: nobody asks where nothing is.
    pub node: usize,
    /// The rigid in its node's frame, where that is not the frame itself.
    pub offset: Option<Transform>,
    turn: Turn<L>,
    at: V3<L>,
    angular: V3<L>,
    linear: V3<L>,
}

/// Where a joint's coordinate and speed stand.
#[derive(Clone, Copy, Debug)]
struct AxisPlace {
    position: usize,
    column: usize,
}

impl<L: Lane> Links<L> {
    pub fn new(tree: &Tree, robots: &[Robot]) -> Links<L> {
        let mut out = Links {
            links: Vec::new(),
            rigids: Vec::new(),
            axes: Vec::new(),
            dofs: Vec::new(),
            fastest: [L::ZERO; 2],
        };
        for (i, node) in tree.nodes.iter().enumerate() {
            if node.rigid_idx.is_some() {
                let node_from_rigid = node.rigid_from_node.inverse();
                out.links.push(Link {
                    node: i,
                    offset: (node.rigid_from_node != Transform::IDENTITY)
                        .then_some(node_from_rigid),
                    turn: Turn::of(Quat::IDENTITY),
                    at: V3::ZERO,
                    angular: V3::ZERO,
                    linear: V3::ZERO,
                });
                let rigid = |robot: &Robot| robot.rigids[i].expect("robots of one model");
                out.rigids.extend(robots.iter().map(rigid));
            }
            if !matches!(node.kind, NodeKind::Free | NodeKind::Ball) {
                let (position, column) = (node.first_position, node.first_dof);
                out.axes.push(AxisPlace { position, column });
                let dof = |robot: &Robot| robot.dofs[column].expect("a joint with one axis has it");
                out.dofs.extend(robots.iter().map(dof));
            }
        }
        out
    }

    /// Of nodes that are placed and move like this, about the bodies' origin.
    #[inline(always)]
    pub fn find(&mut self, bodies: &Bodies<L>, motions: &[V6<L>]) {
        for link in &mut self.links {
            let (placed, motion) = (&bodies.nodes[link.node], motions[link.node]);
            let (turn, at) = match link.offset {
                None => (placed.turn, placed.at),
                Some(offset) => (
                    placed.turn * Turn::of(offset.rotation),
                    placed.at + placed.rotation * V3::of(offset.translation),
                ),
            };
            link.put(turn, at + bodies.origin, motion.turn, motion.velocity_at(at));
        }
        self.find_fastest();
    }

    /// Every link, to be put somewhere; then [`Links::find_fastest`]. No closure, which would be
    /// compiled for narrow instructions.
    pub fn each(&mut self) -> impl Iterator<Item = &mut Link<L>> {
        self.links.iter_mut()
    }

    /// How fast the fastest are, once all are put.
    #[inline(always)]
    pub fn find_fastest(&mut self) {
        let [mut first, mut second] = [L::ZERO; 2];
        for link in &self.links {
            let square = link.linear.dot(link.linear);
            for lane in 0..L::WIDTH {
                // Written so that what is no number does not count.
                let (most, next, here) = (first.get(lane), second.get(lane), square.get(lane));
                let lesser = if here < most { here } else { most };
                second.set(lane, if lesser > next { lesser } else { next });
                first.set(lane, if here > most { here } else { most });
            }
        }
        self.fastest = [first, second];
    }

    /// Squares of the largest two speeds of all links \[m²/s²\].
    pub fn fastest(&self, n_robots: usize) -> [f64; 2] {
        let mut out = [0.0; 2];
        for lane in 0..n_robots.min(L::WIDTH) {
            self.fastest.iter().for_each(|speeds| take_faster(&mut out, speeds.get(lane)));
        }
        out
    }

    /// Writes poses, twists and axes.
    pub fn write(
        &self,
        robots: &[Robot],
        (positions, velocities): (&[L], &[L]),
        state: &mut State,
    ) {
        // Both bounds said, so that no lane is asked for that might not be there: asking
        // before every number took longer than copying it.
        let lanes = || 0..robots.len().min(L::WIDTH);
        for (link, rigids) in self.links.iter().zip(self.rigids.chunks_exact(robots.len())) {
            for lane in lanes() {
                let rigid = &mut state.rigids[rigids[lane]];
                rigid.world_from_rigid = Transform::new(link.turn.get(lane), link.at.get(lane));
                rigid.twist.linear = link.linear.get(lane);
                rigid.twist.angular = link.angular.get(lane);
            }
        }
        for (axis, dofs) in self.axes.iter().zip(self.dofs.chunks_exact(robots.len())) {
            let (q, v) = (&positions[axis.position], &velocities[axis.column]);
            for lane in lanes() {
                let (dof, sign) = dofs[lane];
                let dof = &mut state.dofs[dof];
                (dof.position, dof.velocity) = (sign * q.get(lane), sign * v.get(lane));
            }
        }
        for robot in robots.iter().filter(|robot| robot.is_lost) {
            robot.rigids.iter().flatten().for_each(|i| state.rigids[*i].is_contained = true);
        }
    }
}

impl<L: Lane> Link<L> {
    /// Where it is in the world and how it moves.
    #[inline(always)]
    pub fn put(&mut self, turn: Turn<L>, at: V3<L>, angular: V3<L>, linear: V3<L>) {
        (self.turn, self.at, self.angular, self.linear) = (turn, at, angular, linear);
    }
}

/// Keeps the larger two. What is not finite does not count.
pub fn take_faster(fastest: &mut [f64; 2], square: f64) {
    if square > fastest[1] && square.is_finite() {
        fastest[1] = square;
        if fastest[1] > fastest[0] {
            fastest.swap(0, 1);
        }
    }
}

/// What is a number in every lane whose numbers are all finite and no speed beyond what moves.
#[inline(always)]
#[expect(clippy::eq_op, reason = "what is not finite is no zero here")]
pub(super) fn alarm<L: Lane>(positions: &[L], velocities: &[L]) -> L {
    let mut sum = L::ZERO;
    for q in positions {
        sum += *q - *q;
    }
    let mut squares = L::ZERO;
    for v in velocities {
        squares += *v * *v;
    }
    sum + squares.map(|square| if square <= FASTEST * FASTEST { 0.0 } else { f64::NAN })
}

/// Whether a lane's alarm went off.
pub(super) fn is_alarmed<L: Lane>(alarm: L, lane: usize) -> bool {
    alarm.get(lane).is_nan()
}
