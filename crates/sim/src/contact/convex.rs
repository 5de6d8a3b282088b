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

use super::manifold::{self, Facing, Side};
use super::touching::Touch;

/// Memory the searches use again.
pub(super) struct Search {
    simplex: VoronoiSimplex,
    epa: EPA,
}

/// Nearest points of two cores, in the first one's frame, and the unit normal from the first
/// to the second.
#[derive(Clone, Copy)]
pub(super) struct Witness {
    pub(super) on_a: Vec3,
    pub(super) on_b: Vec3,
    pub(super) normal: Vec3,
}

/// What the search for the nearest points found.
pub(super) enum Nearest {
    /// They are further apart than was asked for.
    Apart,
    At(Witness),
    /// They overlap, and the search for the way out came to nothing.
    Inside,
}

impl Search {
    pub(super) fn new() -> Search {
        Search { simplex: VoronoiSimplex::new(), epa: EPA::new() }
    }

    /// Of two cores, as far as `reach`.
    pub(super) fn nearest<A: SupportMap, B: SupportMap>(
        &mut self,
        a: &A,
        b: &B,
        a_from_b: &Transform,
        reach: f64,
    ) -> Nearest {
        let pose = Pose::from_parts(a_from_b.translation, a_from_b.rotation);
        let towards = a_from_b.translation.try_normalize().unwrap_or(Vec3::X);
        self.simplex.reset(CsoPoint::from_shapes(&pose, a, b, towards));
        let found = match gjk::closest_points(&pose, a, b, reach, true, &mut self.simplex) {
            GJKResult::ClosestPoints(on_a, on_b, normal) => Some((on_a, on_b, normal)),
            GJKResult::Intersection => self.epa.closest_points(&pose, a, b, &self.simplex),
            GJKResult::Proximity(_) | GJKResult::NoIntersection(_) => return Nearest::Apart,
        };
        let found = found
            .map(|(on_a, on_b, normal)| Witness { on_a, on_b, normal })
            .filter(|found| is_unit(found.normal) && found.depth().is_finite());
        if let Some(found) = found.as_ref().filter(|found| found.depth() < -BARELY) {
            return Nearest::At(*found);
        }
        let is_shallow = |found: &Witness| {
            let overlap = found.overlap(a, b, &pose);
            let thinner = thickness(a, found.normal)
                .min(thickness(b, a_from_b.inverse().vector(found.normal)));
            overlap <= found.depth() + BARELY && overlap < SHALLOW * thinner
        };
        if let Some(found) = found.filter(is_shallow) {
            return Nearest::At(found);
        }
        // What was found is taken unless another way is clearly shorter: it has its points from where
        // the two are, not from where they were pushed to.
        let mut best = found.map(|found| (found, SHORTER * found.overlap(a, b, &pose) - BARELY));
        for start in [found.map(|found| found.normal), Some(towards)].into_iter().flatten() {
            let other = self.least_overlap(a, b, &pose, start);
            let other = other.map(|other| (other, other.overlap(a, b, &pose)));
            best = best.into_iter().chain(other).reduce(|x, y| if y.1 < x.1 { y } else { x });
        }
        best.map_or(Nearest::Inside, |(found, _)| Nearest::At(found))
    }

    /// From a normal on to those along which two cores overlap less: they are pushed apart along it,
    /// and then the nearest points are known, with a normal that is no worse. `None` where that is
    /// not found.
    ///
    /// The search for the way out ends anywhere where there is nothing to get out of: cylinders side
    /// by side that only touch were a whole length in each other, along their axes.
    fn least_overlap<A: SupportMap, B: SupportMap>(
        &mut self,
        a: &A,
        b: &B,
        pose: &Pose,
        start: Vec3,
    ) -> Option<Witness> {
        let mut best: Option<(Witness, f64)> = None;
        let (mut normal, mut overlap) = (start, overlap_along(a, b, pose, start));
        for _ in 0..N_PUSHES {
            let push = normal * (overlap + CLEAR * thickness(a, normal));
            let apart = Pose::from_parts(pose.translation + push, pose.rotation);
            self.simplex.reset(CsoPoint::from_shapes(&apart, a, b, normal));
            let found = gjk::closest_points(&apart, a, b, f64::MAX, true, &mut self.simplex);
            let GJKResult::ClosestPoints(on_a, on_b, next) = found else { break };
            let own = overlap_along(a, b, pose, next);
            if !is_unit(next)
                || !own.is_finite()
                || best.as_ref().is_some_and(|(_, least)| own >= *least)
            {
                break;
            }
            best = Some((Witness { on_a, on_b: on_b - push, normal: next }, own));
            if own >= overlap - BARELY {
                break;
            }
            (normal, overlap) = (next, own);
        }
        best.map(|(witness, _)| witness)
    }
}

impl Witness {
    /// How far the two overlap, as far as the search knows.
    fn depth(&self) -> f64 {
        (self.on_a - self.on_b).dot(self.normal)
    }

    fn overlap<A: SupportMap, B: SupportMap>(&self, a: &A, b: &B, pose: &Pose) -> f64 {
        overlap_along(a, b, pose, self.normal)
    }
}

/// Points that coincide have no direction between them, and a normal of zeros or no numbers.
fn is_unit(normal: Vec3) -> bool {
    (normal.length_squared() - 1.0).abs() < 1e-6
}

/// How far two cores overlap along a normal from the first to the second, in the first one's frame.
fn overlap_along<A: SupportMap, B: SupportMap>(a: &A, b: &B, pose: &Pose, normal: Vec3) -> f64 {
    let on_b = b.local_support_point(pose.rotation.conjugate() * -normal);
    (a.local_support_point(normal) - (pose.rotation * on_b + pose.translation)).dot(normal)
}

/// How thick a core is along a normal, in its own frame.
fn thickness<A: SupportMap>(a: &A, normal: Vec3) -> f64 {
    (a.local_support_point(normal) - a.local_support_point(-normal)).dot(normal).abs()
}

/// A way out of less than this share of the thinner one, that is as short as was said, is the one: where
/// the search for it is lost it ends deep. To look for others takes as long again.
const SHALLOW: f64 = 0.01;

/// A way out that is no more than this share of another is shorter, and not only more exact.
const SHORTER: f64 = 0.9;

/// What is this near \[m\] has no direction from point to point to speak of.
const BARELY: f64 = 1e-9;

/// Share of its thickness by which a core that is pushed out is clear of the other.
const CLEAR: f64 = 0.01;

/// How often two are pushed apart anew, at most.
const N_PUSHES: usize = 8;

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
    let nearest = search.nearest(a.form, b.form, &a_from_b, margin + rounding);
    touches_at(a, b, nearest, cone, margin, out);
}

/// The points around what the search found.
fn touches_at(
    a: &Side<'_>,
    b: &Side<'_>,
    nearest: Nearest,
    cone: Option<&TrianglePseudoNormals>,
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let found = match nearest {
        Nearest::Apart => return,
        Nearest::At(found) => Some(found).filter(|found| {
            found.normal.is_finite() && found.on_a.is_finite() && found.on_b.is_finite()
        }),
        Nearest::Inside => None,
    };
    let (searched, is_found) = trusted(a, b, found.as_ref());
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
    if depth > -margin && manifold::face_touches(a, b, normal, margin, out) == Facing::Past {
        return;
    }
    // Something round has no face to cut, and a polygon in its place may miss the deepest
    // point; no face is preferred for that one. A normal that had to give way speaks for no
    // point of its own.
    let (normal, depth) = polished(a, b, allowed, 0.0, cone.is_some());
    let deepest = out[first..].iter().map(|touch| touch.depth).fold(f64::NEG_INFINITY, f64::max);
    let is_missed = deepest < depth - MISSED * depth.abs() - BARELY;
    let is_meant = is_found && allowed.dot(searched) > 1.0 - 1e-9;
    if let Some(found) = found.filter(|_| is_meant && is_missed && depth > -margin) {
        let between = a.world_from_form.point((found.on_a + found.on_b) * 0.5);
        let level = a.support(normal).dot(normal) + a.form.rounding() - 0.5 * depth;
        let position = between + normal * (level - between.dot(normal));
        out.push(Touch { position, normal, depth, feature: WITNESS });
    }
}

/// The normal that was found, in the world, if the two overlap along it by no more than the
/// search says. Faces that lie on each other to the last bit can end it anywhere, or nowhere; then
/// the normal is that of the face along which they overlap least, and of what has no faces the
/// way from middle to middle.
fn trusted(a: &Side<'_>, b: &Side<'_>, found: Option<&Witness>) -> (Vec3, bool) {
    let depth = |normal: Vec3| (a.support(normal) - b.support(-normal)).dot(normal);
    let mut best = match found {
        Some(found) => {
            let normal = a.world_from_form.vector(found.normal);
            let (claimed, actual) = ((found.on_a - found.on_b).dot(found.normal), depth(normal));
            if actual <= claimed + DOUBTFUL * actual.abs() + 1e-9 {
                return (normal, true);
            }
            (normal, actual)
        }
        None => {
            let apart = b.world_from_form.translation - a.world_from_form.translation;
            let normal = apart.try_normalize().unwrap_or(Vec3::Z);
            (normal, depth(normal))
        }
    };
    let first = best.0;
    let mut see = |normal: Vec3| {
        let own = depth(normal);
        if own < best.1 {
            best = (normal, own);
        }
    };
    a.form.each_face_normal(|normal| see(a.world_from_form.vector(normal)));
    b.form.each_face_normal(|normal| see(-b.world_from_form.vector(normal)));
    (best.0, found.is_some() && best.0 == first)
}

/// An overlap that is more than what was found by this part of itself is another one.
const DOUBTFUL: f64 = 0.1;

/// The normal of least overlap, and that overlap, among the one found and those of the flats
/// it meets. The search ends within a tolerance; a face knows its normal to the last bit, and
/// gives several points that stand still, so it wins over what is hardly better.
fn polished(a: &Side<'_>, b: &Side<'_>, found: Vec3, hardly: f64, only_b: bool) -> (Vec3, f64) {
    let rounding = a.form.rounding() + b.form.rounding();
    let depth = |normal: Vec3| (a.support(normal) - b.support(-normal)).dot(normal) + rounding;
    let searched = (found, depth(found));
    let flats = [(!only_b).then(|| a.flat_normal(found)), Some(b.flat_normal(-found).map(|n| -n))];
    let flats = flats.into_iter().flatten().flatten().map(|normal| (normal, depth(normal)));
    let meant = flats.filter(|(normal, own)| {
        normal.dot(found) > NEARLY && *own <= searched.1 + hardly * own.abs() + 1e-9
    });
    // Of two the better: a tube's flat is a line, and leans as what was found does.
    meant.reduce(|best, other| if other.1 < best.1 { other } else { best }).unwrap_or(searched)
}

/// A flat wins over what is better by less than this part of the depth.
const HARDLY: f64 = 1e-3;

/// Faces within 5° of the normal found may be what it meant.
const NEARLY: f64 = 0.996;

/// A deepest point that lies within this part of the depth, or barely off, is not missed: the one
/// that was searched for is as deep to a hair, but may be millimetres beside where something round
/// touches, and what turns would run into it.
const MISSED: f64 = 1e-3;

/// Number of the one point the search itself found.
const WITNESS: u32 = 1 << 17;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::form::Form;

    fn points(a: &Side<'_>, b: &Side<'_>, nearest: Nearest) -> Vec<Touch> {
        let mut out = Vec::new();
        touches_at(a, b, nearest, None, 1e-3, &mut out);
        out
    }

    /// Two roads: what a search that came to nothing, or to no number, leaves to the faces, is
    /// what a search finds.
    #[test]
    fn faces_stand_in_for_a_search_that_fails() {
        let (slab, plate) =
            (Form::Box { half: Vec3::new(0.5, 0.5, 0.1) }, Form::Box { half: Vec3::splat(0.2) });
        let under = Transform::IDENTITY;
        let turn = headland_base::maths::quat_from_rotation_vector(Vec3::Z * 0.3);
        let over = Transform::new(turn, Vec3::new(0.1, -0.05, 0.29));
        let (a, b) = (
            Side { form: &slab, world_from_form: &under },
            Side { form: &plate, world_from_form: &over },
        );
        let found = Search::new().nearest(&slab, &plate, &over, 1e-3);
        assert!(matches!(found, Nearest::At(_)));
        let wanted = points(&a, &b, found);
        assert_eq!(wanted.len(), 4);
        let nan = Vec3::splat(f64::NAN);
        let no_number = Witness { on_a: nan, on_b: nan, normal: nan };
        for nearest in [Nearest::Inside, Nearest::At(no_number)] {
            let got = points(&a, &b, nearest);
            assert_eq!(got.len(), wanted.len());
            for (got, wanted) in got.iter().zip(&wanted) {
                assert!((got.position - wanted.position).length() < 1e-12);
                assert!((got.normal - Vec3::Z).length() < 1e-12);
                assert!((got.depth - 0.01).abs() < 1e-12, "{}", got.depth);
            }
        }
    }
}
