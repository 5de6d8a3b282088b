//! Positions moved on by velocities: sums for axes, turns for what turns freely.

use headland_base::maths::sqrt;

use crate::tree::wide;
use crate::tree::{Lane, NodeKind, Tree, Turn, V3};

wide! {
    /// Moves every coordinate on by `velocities` held for `dt`.
    pub fn advance<'a, L>(
    tree: &'a Tree, velocities: &'a [L], dt: L, positions: &'a mut [L]
    ) {
        for node in &tree.nodes {
            let q = &mut positions[node.first_position..node.first_position + node.kind.n_positions()];
            let v = &velocities[node.columns()];
            match node.kind {
                NodeKind::Free => {
                    for k in 0..3 {
                        q[k] += v[3 + k] * dt;
                    }
                    let turn = Turn { v: V3 { x: q[3], y: q[4], z: q[5] }, w: q[6] };
                    let by = turn_by(V3 { x: v[0], y: v[1], z: v[2] } * dt);
                    set_turn(&mut q[3..], by * turn);
                }
                NodeKind::Ball => {
                    let turn = Turn { v: V3 { x: q[0], y: q[1], z: q[2] }, w: q[3] };
                    let by = turn_by(V3 { x: v[0], y: v[1], z: v[2] } * dt);
                    set_turn(q, turn * by);
                }
                NodeKind::Turn | NodeKind::Slide | NodeKind::Screw { .. } => q[0] += v[0] * dt,
            }
        }
    }
}

/// How fast every coordinate changes.
#[inline(always)]
pub fn rates<L: Lane>(tree: &Tree, positions: &[L], velocities: &[L], rates: &mut [L]) {
    let half = L::of(0.5);
    for node in &tree.nodes {
        let q = &positions[node.first_position..node.first_position + node.kind.n_positions()];
        let out = &mut rates[node.first_position..node.first_position + node.kind.n_positions()];
        let v = &velocities[node.columns()];
        let spin = |v: &[L]| Turn { v: V3 { x: v[0], y: v[1], z: v[2] } * half, w: L::ZERO };
        match node.kind {
            NodeKind::Free => {
                out[..3].copy_from_slice(&v[3..6]);
                let turn = Turn { v: V3 { x: q[3], y: q[4], z: q[5] }, w: q[6] };
                put_turn(&mut out[3..], spin(v) * turn);
            }
            NodeKind::Ball => {
                let turn = Turn { v: V3 { x: q[0], y: q[1], z: q[2] }, w: q[3] };
                put_turn(out, turn * spin(v));
            }
            NodeKind::Turn | NodeKind::Slide | NodeKind::Screw { .. } => out[0] = v[0],
        }
    }
}

/// Brings every quaternion back to length one.
#[inline(always)]
pub fn normalise<L: Lane>(tree: &Tree, positions: &mut [L]) {
    for node in &tree.nodes {
        let first = match node.kind {
            NodeKind::Free => node.first_position + 3,
            NodeKind::Ball => node.first_position,
            NodeKind::Turn | NodeKind::Slide | NodeKind::Screw { .. } => continue,
        };
        let q = &mut positions[first..first + 4];
        let square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        let scale = square.map(|x| 1.0 / sqrt(x));
        q.iter_mut().for_each(|part| *part = *part * scale);
    }
}

/// The turn by a rotation vector.
#[inline(always)]
pub fn turn_by<L: Lane>(vector: V3<L>) -> Turn<L> {
    let half = vector * L::of(0.5);
    let square = half.dot(half);
    let angle = square.map(sqrt);
    let (sine, cosine) = angle.sin_cos();
    // sin(x)/x, by its series where the quotient would lose itself.
    let mut ratio = L::ZERO;
    for lane in 0..L::WIDTH {
        let (x, s) = (angle.get(lane), square.get(lane));
        ratio.set(lane, if x > 1e-6 { sine.get(lane) / x } else { 1.0 - s / 6.0 });
    }
    Turn { v: half * ratio, w: cosine }
}

/// Rounding lets the length drift; one step of Newton's brings it back.
#[inline(always)]
pub fn set_turn<L: Lane>(q: &mut [L], turn: Turn<L>) {
    let square = turn.v.dot(turn.v) + turn.w * turn.w;
    let scale = L::of(1.5) - square * L::of(0.5);
    put_turn(q, Turn { v: turn.v * scale, w: turn.w * scale });
}

#[inline(always)]
fn put_turn<L: Lane>(q: &mut [L], turn: Turn<L>) {
    (q[0], q[1], q[2], q[3]) = (turn.v.x, turn.v.y, turn.v.z, turn.w);
}
