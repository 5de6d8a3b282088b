//! Any two convex forms: parry's search for the nearest points or the shortest way out, then
//! the points around them.
//!
//! GJK finds the nearest points of two cores that are apart, EPA the way out of two that
//! overlap. Nothing is carried over from one call to the next but memory, so the answer does
//! not depend on what was asked before.

use headland_base::{Transform, Vec3};
use parry3d_f64::math::Pose;
use parry3d_f64::query::details::NormalConstraints;
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::shape::{SupportMap, TrianglePseudoNormals};

use super::manifold::{self, Side};
use super::touching::Touch;

/// Memory the searches use again.
pub(super) struct Search {
    simplex: VoronoiSimplex,
    epa: EPA,
}

/// Nearest points of two cores, in the first one's frame, and the unit normal from the first
/// to the second.
pub(super) struct Witness {
    pub(super) on_a: Vec3,
    pub(super) on_b: Vec3,
    pub(super) normal: Vec3,
}

impl Search {
    pub(super) fn new() -> Search {
        Search { simplex: VoronoiSimplex::new(), epa: EPA::new() }
    }

    /// `None` when they are further apart than `reach`.
    pub(super) fn nearest<A: SupportMap, B: SupportMap>(
        &mut self,
        a: &A,
        b: &B,
        a_from_b: &Transform,
        reach: f64,
    ) -> Option<Witness> {
        let pose = Pose::from_parts(a_from_b.translation, a_from_b.rotation);
        let towards = a_from_b.translation.try_normalize().unwrap_or(Vec3::X);
        self.simplex.reset(CsoPoint::from_shapes(&pose, a, b, towards));
        match gjk::closest_points(&pose, a, b, reach, true, &mut self.simplex) {
            GJKResult::ClosestPoints(on_a, on_b, normal) => Some(Witness { on_a, on_b, normal }),
            GJKResult::Intersection => {
                let (on_a, on_b, normal) = self.epa.closest_points(&pose, a, b, &self.simplex)?;
                Some(Witness { on_a, on_b, normal })
            }
            GJKResult::Proximity(_) | GJKResult::NoIntersection(_) => None,
        }
    }
}

/// Touching points of two convex forms; normals from a to b.
///
/// Where `b` is a triangle of a surface, `cone` says which normals that triangle may have, in
/// b's frame and out of the surface: an edge between two triangles of one flat face has none
/// of its own.
pub(super) fn touches(
    a: &Side<'_>,
    b: &Side<'_>,
    cone: Option<&TrianglePseudoNormals>,
    margin: f64,
    search: &mut Search,
    out: &mut Vec<Touch>,
) {
    let rounding = a.form.rounding() + b.form.rounding();
    let a_from_b = a.world_from_form.inverse() * *b.world_from_form;
    let Some(found) = search.nearest(a.form, b.form, &a_from_b, margin + rounding) else { return };
    let (searched, is_found) = trusted(a, b, &found);
    let allowed = match cone {
        None => Some(searched),
        Some(cone) => {
            let inside = -(b.world_from_form.rotation.conjugate() * searched);
            cone.project_local_normal(inside).map(|normal| -b.world_from_form.vector(normal))
        }
    };
    let Some(allowed) = allowed.filter(|normal| normal.is_finite()) else { return };
    let first = out.len();
    let (normal, depth) = polished(a, b, allowed, HARDLY, cone.is_some());
    if depth > -margin {
        manifold::face_touches(a, b, normal, margin, out);
    }
    // Something round has no face to cut, and a polygon in its place may miss the deepest
    // point; no face is preferred for that one. A normal that had to give way speaks for no
    // point of its own.
    let (normal, depth) = polished(a, b, allowed, 0.0, cone.is_some());
    let deepest = out[first..].iter().map(|touch| touch.depth).fold(f64::NEG_INFINITY, f64::max);
    let is_missed = deepest < depth - MISSED * depth.abs() - 1e-12;
    if is_found && is_missed && depth > -margin && allowed.dot(searched) > 1.0 - 1e-9 {
        let between = a.world_from_form.point((found.on_a + found.on_b) * 0.5);
        let level = a.support(normal).dot(normal) + a.form.rounding() - 0.5 * depth;
        let position = between + normal * (level - between.dot(normal));
        out.push(Touch { position, normal, depth, feature: WITNESS });
    }
}

/// The normal that was found, in the world, if the two overlap along it by no more than the
/// search says. Faces that lie on each other to the last bit can end it anywhere; then the
/// normal is that of the face along which they overlap least.
fn trusted(a: &Side<'_>, b: &Side<'_>, found: &Witness) -> (Vec3, bool) {
    let depth = |normal: Vec3| (a.support(normal) - b.support(-normal)).dot(normal);
    let normal = a.world_from_form.vector(found.normal);
    let (claimed, actual) = ((found.on_a - found.on_b).dot(found.normal), depth(normal));
    if actual <= claimed + DOUBTFUL * actual.abs() + 1e-9 {
        return (normal, true);
    }
    let mut best = (normal, actual);
    let mut see = |normal: Vec3| {
        let own = depth(normal);
        if own < best.1 {
            best = (normal, own);
        }
    };
    a.form.each_face_normal(|normal| see(a.world_from_form.vector(normal)));
    b.form.each_face_normal(|normal| see(-b.world_from_form.vector(normal)));
    (best.0, best.0 == normal)
}

/// An overlap that is more than what was found by this part of itself is another one.
const DOUBTFUL: f64 = 0.1;

/// The normal of least overlap, and that overlap, among the one found and those of the flats
/// it meets. The search ends within a tolerance; a face knows its normal to the last bit, and
/// gives several points that stand still, so it wins over what is hardly better.
fn polished(a: &Side<'_>, b: &Side<'_>, found: Vec3, hardly: f64, only_b: bool) -> (Vec3, f64) {
    let rounding = a.form.rounding() + b.form.rounding();
    let depth = |normal: Vec3| (a.support(normal) - b.support(-normal)).dot(normal) + rounding;
    let mut best = (found, depth(found));
    let flats = [(!only_b).then(|| a.flat_normal(found)), Some(b.flat_normal(-found).map(|n| -n))];
    for normal in flats.into_iter().flatten().flatten() {
        let own = depth(normal);
        if normal.dot(found) > NEARLY && own <= best.1 + hardly * own.abs() + 1e-9 {
            best = (normal, own);
        }
    }
    best
}

/// A flat wins over what is better by less than this part of the depth.
const HARDLY: f64 = 1e-3;

/// Faces within 5° of the normal found may be what it meant.
const NEARLY: f64 = 0.996;

/// A deepest point that lies within this part of the depth is not missed.
const MISSED: f64 = 1e-3;

/// Number of the one point the search itself found.
const WITNESS: u32 = 1 << 17;
