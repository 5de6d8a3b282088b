//! Positions moved on by velocities: sums for axes, turns for what turns freely.

use headland_base::maths::{atan2, sqrt};

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

/// The rotation vector of a turn: what [`turn_by`] makes the turn of.
#[inline(always)]
pub fn vector_of<L: Lane>(turn: Turn<L>) -> V3<L> {
    let square = turn.v.dot(turn.v);
    // Twice the arc sine of the half angle's sine over that sine, by its series: exact to
    // rounding for the little that anything turns within a step.
    let mut ratio = L::of(2.0 * 63.0 / 2816.0);
    for coefficient in [35.0 / 1152.0, 5.0 / 112.0, 3.0 / 40.0, 1.0 / 6.0, 1.0] {
        ratio = L::of(2.0 * coefficient) + square * ratio;
    }
    let mut room = turn.w;
    for lane in 0..L::WIDTH {
        room.set(lane, room.get(lane).min(LITTLE - square.get(lane)));
    }
    for lane in 0..L::WIDTH {
        if room.get(lane) < 0.0 {
            let (s, w) = (square.get(lane), turn.w.get(lane));
            let length = sqrt(s);
            let angle = 2.0 * atan2(length, w.abs());
            let sign = if w < 0.0 { -1.0 } else { 1.0 };
            ratio.set(lane, if length > 0.0 { sign * angle / length } else { 2.0 * sign });
        }
    }
    turn.v * ratio
}

/// Square of the half angle's sine up to which the series is exact.
const LITTLE: f64 = 1.6e-3;

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

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::Vec3;
    use headland_base::maths::{quat_from_rotation_vector, rotation_vector_from_quat};

    #[test]
    fn vectors_of_turns_are_those_of_the_house() {
        for i in 0..400 {
            let angle = 1e-9 * headland_base::maths::pow(1.057, f64::from(i));
            let vector = Vec3::new(0.6, -0.48, 0.64) * angle.min(3.1);
            let turn = quat_from_rotation_vector(vector);
            for turn in [turn, -turn] {
                let (ours, theirs) =
                    (vector_of(Turn::<f64>::of(turn)), rotation_vector_from_quat(turn));
                assert!((ours.get(0) - theirs).length() <= 4e-16 * theirs.length(), "{vector}");
            }
        }
    }
}
