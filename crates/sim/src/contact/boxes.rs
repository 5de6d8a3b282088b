//! Two boxes: separating axes, then one face cut by the sides of the other.
//!
//! Fifteen axes can part two boxes: three normals of each and nine cross products of edges.
//! The one with the least overlap is the normal. A face normal wins over an edge pair that is
//! hardly better, because a face gives several points and stands still.

use headland_base::maths::sqrt;
use headland_base::{Mat3, Transform, Vec3};

use super::form::Form;
use super::manifold::{self, Side};
use super::touching::Touch;

/// An edge pair must beat the best face by this part of the smaller half length.
const EDGE_BIAS: f64 = 1e-3;

/// Touching points of two boxes given by half lengths and poses; normals from a to b.
pub(super) fn touches(
    (form_a, world_from_a): (&Form, &Transform),
    (form_b, world_from_b): (&Form, &Transform),
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let (Form::Box { half: half_a }, Form::Box { half: half_b }) = (form_a, form_b) else { return };
    let (turn_a, turn_b) =
        (Mat3::from_quat(world_from_a.rotation), Mat3::from_quat(world_from_b.rotation));
    let between = world_from_b.translation - world_from_a.translation;
    let Some(axis) = least_overlap((&turn_a, *half_a), (&turn_b, *half_b), between, margin) else {
        return;
    };
    match axis {
        Axis::Face { normal } => {
            let a = Side { form: form_a, world_from_form: world_from_a };
            let b = Side { form: form_b, world_from_form: world_from_b };
            manifold::face_touches(&a, &b, normal, margin, out);
        }
        Axis::Edges { normal, depth, along_a, along_b } => {
            // The middles of the two edges that face each other, and their half directions.
            let middle = |turn: &Mat3, half: Vec3, centre: Vec3, towards: Vec3, along: usize| {
                let inside = turn.transpose() * towards;
                let mut corner = Vec3::new(
                    half.x.copysign(inside.x),
                    half.y.copysign(inside.y),
                    half.z.copysign(inside.z),
                );
                corner[along] = 0.0;
                (centre + *turn * corner, turn.col(along) * half[along])
            };
            let (p, d) = middle(&turn_a, *half_a, world_from_a.translation, normal, along_a);
            let (q, e) = middle(&turn_b, *half_b, world_from_b.translation, -normal, along_b);
            let (s, t) = crossing(p, d, q, e);
            let position = (p + d * s + q + e * t) * 0.5;
            let feature = EDGES + (along_a * 3 + along_b) as u32;
            out.push(Touch { position, normal, depth, feature });
        }
    }
}

/// Features of edge pairs are numbered from here, after all faces and corners.
const EDGES: u32 = 1 << 16;

enum Axis {
    Face { normal: Vec3 },
    Edges { normal: Vec3, depth: f64, along_a: usize, along_b: usize },
}

/// `None` when some axis parts them by more than the margin.
fn least_overlap(
    (turn_a, half_a): (&Mat3, Vec3),
    (turn_b, half_b): (&Mat3, Vec3),
    between: Vec3,
    margin: f64,
) -> Option<Axis> {
    // b's axes and place in a's frame.
    let a_from_b = turn_a.transpose() * *turn_b;
    let offset = turn_a.transpose() * between;
    let columns = [a_from_b.col(0), a_from_b.col(1), a_from_b.col(2)];
    let mut face = (f64::INFINITY, Vec3::ZERO);
    for i in 0..3 {
        let reach = half_a[i]
            + columns[0][i].abs() * half_b.x
            + columns[1][i].abs() * half_b.y
            + columns[2][i].abs() * half_b.z;
        let overlap = reach - offset[i].abs();
        if overlap < -margin {
            return None;
        }
        if overlap < face.0 {
            face = (overlap, turn_a.col(i) * 1.0_f64.copysign(offset[i]));
        }
    }
    for (i, column) in columns.iter().enumerate() {
        let along = offset.dot(*column);
        let overlap = half_b[i] + column.abs().dot(half_a) - along.abs();
        if overlap < -margin {
            return None;
        }
        if overlap < face.0 {
            face = (overlap, turn_b.col(i) * 1.0_f64.copysign(along));
        }
    }
    let bias = EDGE_BIAS * half_a.min_element().min(half_b.min_element());
    let mut best = (face.0 - bias, Axis::Face { normal: face.1 });
    for i in 0..3 {
        for (j, column) in columns.iter().enumerate() {
            let mut unit = Vec3::ZERO;
            unit[i] = 1.0;
            let across = unit.cross(*column);
            let length = sqrt(across.dot(across));
            // Nearly parallel edges span no direction of their own.
            if length < 1e-6 {
                continue;
            }
            let axis = across / length;
            let along = offset.dot(axis);
            let reach = axis.abs().dot(half_a)
                + columns[0].dot(axis).abs() * half_b.x
                + columns[1].dot(axis).abs() * half_b.y
                + columns[2].dot(axis).abs() * half_b.z;
            let overlap = reach - along.abs();
            if overlap < -margin {
                return None;
            }
            if overlap < best.0 {
                let normal = *turn_a * (axis * 1.0_f64.copysign(along));
                best = (overlap, Axis::Edges { normal, depth: overlap, along_a: i, along_b: j });
            }
        }
    }
    Some(best.1)
}

/// Where two edges `p ± d` and `q ± e` pass each other, as parts of their half lengths.
fn crossing(p: Vec3, d: Vec3, q: Vec3, e: Vec3) -> (f64, f64) {
    let between = p - q;
    let (dd, ee, de) = (d.dot(d), e.dot(e), d.dot(e));
    let cross = dd * ee - de * de;
    if cross <= 0.0 {
        return (0.0, 0.0);
    }
    let s = (de * e.dot(between) - ee * d.dot(between)) / cross;
    let t = (dd * e.dot(between) - de * d.dot(between)) / cross;
    (s.clamp(-1.0, 1.0), t.clamp(-1.0, 1.0))
}
