//! Several points from one normal: the face of one form cut by the sides of the other's.
//!
//! The form whose face lies square to the normal is the reference. The other one's face that
//! looks against it is cut by the sides of the reference, and each corner left is a point of
//! contact as deep as it lies below the reference plane. Where no face lies square to the
//! normal (two edges, something round) nothing is found, and the caller has its one point.

use headland_base::{Transform, Vec3};

use super::form::Form;
use super::polygon::Polygon;
use super::touching::{Touch, thin};

/// A form and where it is.
pub(super) struct Side<'a> {
    pub(super) form: &'a Form,
    pub(super) world_from_form: &'a Transform,
}

/// A face this square to the normal (cosine) is a reference: within 0.014 mrad.
const SQUARE: f64 = 1.0 - 1e-10;

/// Faces of things with flat sides that share no more than an edge, to this \[m\], do not touch, be it
/// along the normal or across it: bricks of a block with those across the corner, or what slides over
/// the seam between two floors with the side of the next. Each may slide past the other along either
/// face, and which one they were taken to hit would be chosen by rounding. What rests may sink by
/// 10 µm.
const GRAZED: f64 = 2e-5;

/// Corners of a round face that is cut, and of one that cuts.
const N_CUT: usize = 4;
const N_CUTTING: usize = 16;

impl Side<'_> {
    /// The point of its core furthest along a direction of the world, in the world.
    pub(super) fn support(&self, dir: Vec3) -> Vec3 {
        let inside = self.form.core_support(self.world_from_form.rotation.conjugate() * dir);
        self.world_from_form.point(inside)
    }

    /// [`Form::flat_normal`] in the world.
    pub(super) fn flat_normal(&self, dir: Vec3) -> Option<Vec3> {
        let inside = self.world_from_form.rotation.conjugate() * dir;
        self.form.flat_normal(inside).map(|normal| self.world_from_form.vector(normal))
    }

    /// Whether its faces are all there is of its sides, and no corners in place of something round.
    fn has_flat_sides(&self) -> bool {
        matches!(self.form, Form::Box { .. } | Form::Hull(_))
    }

    /// Its face towards a direction of the world, in the world.
    fn face(&self, dir: Vec3, hint: Vec3, n_round: usize) -> Polygon {
        let turn_back = self.world_from_form.rotation.conjugate();
        let hint = turn_back * (hint - self.world_from_form.translation);
        let mut polygon = Polygon::new();
        self.form.core_face(turn_back * dir, hint, n_round, &mut polygon);
        for corner in polygon.corners_mut() {
            *corner = self.world_from_form.point(*corner);
        }
        polygon
    }
}

/// What two faces have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Facing {
    /// They share no more than an edge: each goes past the other.
    Past,
    /// They may touch; where they do, points were pushed.
    Maybe,
}

/// Pushes what two forms share along a normal from a to b. The hint for round faces is the
/// middle between the two.
pub(super) fn face_touches(
    a: &Side<'_>,
    b: &Side<'_>,
    normal: Vec3,
    margin: f64,
    out: &mut Vec<Touch>,
) -> Facing {
    let hint_a = b.world_from_form.translation;
    let hint_b = a.world_from_form.translation;
    let face_a = a.face(normal, hint_a, N_CUTTING);
    let face_b = b.face(-normal, hint_b, N_CUTTING);
    let (square_a, square_b) = (squareness(&face_a, normal), squareness(&face_b, normal));
    let roundings = (a.form.rounding(), b.form.rounding());
    if square_a >= square_b && square_a > SQUARE {
        let cut = b.face(-normal, hint_b, N_CUT);
        if a.has_flat_sides() && is_grazed(&face_a, b, &cut, normal) {
            return Facing::Past;
        }
        polygons(&face_a, &cut, normal, roundings, margin, false, out);
    } else if square_b > SQUARE {
        let cut = a.face(normal, hint_a, N_CUT);
        if b.has_flat_sides() && is_grazed(&face_b, a, &cut, normal) {
            return Facing::Past;
        }
        polygons(&face_b, &cut, -normal, (roundings.1, roundings.0), margin, true, out);
    } else if face_a.corners().len() == 2 && face_b.corners().len() == 2 {
        side_by_side(&face_a, &face_b, normal, roundings, margin, out);
    }
    Facing::Maybe
}

/// Whether the face of a side reaches no further over a reference than an edge. Faces that are as
/// narrow as that tell nothing.
fn is_grazed(reference: &Polygon, side: &Side<'_>, face: &Polygon, normal: Vec3) -> bool {
    let is_exact = side.has_flat_sides() || face.corners().len() == 2;
    if !is_exact || side.form.rounding() > 0.0 {
        return false;
    }
    let range = |polygon: &Polygon, along: Vec3| {
        let places = polygon.corners().iter().map(|corner| corner.dot(along));
        places
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
    };
    let corners = reference.corners();
    (0..corners.len()).any(|i| {
        let edge = corners[(i + 1) % corners.len()] - corners[i];
        let Some(across) = edge.cross(normal).try_normalize() else { return false };
        let (own, other) = (range(reference, across), range(face, across));
        let shared = own.1.min(other.1) - own.0.max(other.0);
        let narrowest = (own.1 - own.0).min(other.1 - other.0);
        shared <= GRAZED && narrowest > 2.0 * GRAZED
    })
}

fn squareness(face: &Polygon, normal: Vec3) -> f64 {
    face.normal().map_or(0.0, |own| own.dot(normal).abs())
}

/// Cuts `face` by the sides of `reference`, whose outward normal is `normal`.
pub(super) fn polygons(
    reference: &Polygon,
    face: &Polygon,
    normal: Vec3,
    (rounding, face_rounding): (f64, f64),
    margin: f64,
    is_flipped: bool,
    out: &mut Vec<Touch>,
) {
    let first = out.len();
    let corners = reference.corners();
    let middle = corners.iter().fold(Vec3::ZERO, |sum, p| sum + *p) / corners.len() as f64;
    let mut left = *face;
    for (i, corner) in corners.iter().enumerate() {
        let side = corners[(i + 1) % corners.len()] - *corner;
        let outward = side.cross(normal);
        let outward = if outward.dot(middle - *corner) > 0.0 { -outward } else { outward };
        left = left.cut(*corner, outward);
    }
    for (i, point) in left.corners().iter().enumerate() {
        let depth = (corners[0] - *point).dot(normal) + rounding + face_rounding;
        if depth > -margin {
            let on_face = *point - normal * face_rounding;
            let position = on_face + normal * (0.5 * depth);
            let normal = if is_flipped { -normal } else { normal };
            out.push(Touch { position, normal, depth, feature: i as u32 });
        }
    }
    thin(out, first, super::N_POINTS_MAX, margin);
}

/// Two parallel edges: both ends of what they share.
fn side_by_side(
    a: &Polygon,
    b: &Polygon,
    normal: Vec3,
    (rounding_a, rounding_b): (f64, f64),
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let (a, b) = (a.corners(), b.corners());
    let (d, e) = (a[1] - a[0], b[1] - b[0]);
    let (dd, ee) = (d.dot(d), e.dot(e));
    let across = d.cross(e);
    if dd == 0.0 || ee == 0.0 || across.dot(across) > 1e-6 * dd * ee {
        return;
    }
    let (s, t) = ((b[0] - a[0]).dot(d) / dd, (b[1] - a[0]).dot(d) / dd);
    let (low, high) = (s.min(t).max(0.0), s.max(t).min(1.0));
    if high <= low {
        return;
    }
    for (i, s) in [low, high].into_iter().enumerate() {
        let on_a = a[0] + d * s;
        let on_b = b[0] + e * ((on_a - b[0]).dot(e) / ee).clamp(0.0, 1.0);
        let depth = (on_a - on_b).dot(normal) + rounding_a + rounding_b;
        if depth > -margin {
            let position = on_a + normal * (rounding_a - 0.5 * depth);
            out.push(Touch { position, normal, depth, feature: i as u32 });
        }
    }
}
