//! Balls and capsules, in closed form.
//!
//! Each is a point or a segment and a radius, so all that is asked is the point of the other
//! form that lies nearest to it, or the way out where it lies inside.

use headland_base::maths::sqrt;
use headland_base::{Transform, Vec3};

use super::form::longest;
use super::touching::Touch;

/// The point of a surface nearest to a given point, the unit normal out of the surface
/// towards it, and how far outside it is \[m\]; negative is inside.
pub(super) struct Nearest {
    pub(super) normal: Vec3,
    pub(super) distance: f64,
}

/// Two balls.
pub(super) fn sphere_sphere(
    (centre_a, radius_a): (Vec3, f64),
    (centre_b, radius_b): (Vec3, f64),
    margin: f64,
    feature: u32,
    out: &mut Vec<Touch>,
) {
    let between = centre_b - centre_a;
    let distance = sqrt(between.dot(between));
    let depth = radius_a + radius_b - distance;
    if depth > -margin {
        // Of two balls about one point neither knows the way out; up is as good as any.
        let normal = if distance > 0.0 { between / distance } else { Vec3::Z };
        let position = centre_a + normal * (radius_a - 0.5 * depth);
        out.push(Touch { position, normal, depth, feature });
    }
}

/// A ball and a form whose nearest point is known; normals from the ball to the form.
pub(super) fn sphere_form(
    (centre, radius): (Vec3, f64),
    world_from_form: &Transform,
    margin: f64,
    nearest: impl Fn(Vec3) -> Nearest,
    out: &mut Vec<Touch>,
) {
    let inside = world_from_form.rotation.conjugate() * (centre - world_from_form.translation);
    let Nearest { normal, distance } = nearest(inside);
    let depth = radius - distance;
    if depth > -margin {
        let normal = -world_from_form.vector(normal);
        out.push(Touch {
            position: centre + normal * (radius - 0.5 * depth),
            normal,
            depth,
            feature: 0,
        });
    }
}

/// From the nearest point `on` of a form to `point`, outside it.
fn outside(on: Vec3, point: Vec3) -> Option<Nearest> {
    let out = point - on;
    let distance = sqrt(out.dot(out));
    (distance > 0.0).then(|| Nearest { normal: out / distance, distance })
}

/// Of a box.
pub(super) fn nearest_on_box(half: Vec3, point: Vec3) -> Nearest {
    if let Some(nearest) = outside(point.clamp(-half, half), point) {
        return nearest;
    }
    // Inside, or on a face: the nearest face is the way out.
    let room = half - point.abs();
    let axis = longest(-room);
    let mut normal = Vec3::ZERO;
    normal[axis] = 1.0_f64.copysign(point[axis]);
    Nearest { normal, distance: -room[axis] }
}

/// Of a cylinder.
pub(super) fn nearest_on_cylinder(half_length: f64, radius: f64, point: Vec3) -> Nearest {
    let flat = sqrt(point.x * point.x + point.y * point.y);
    let shrink = if flat > radius { radius / flat } else { 1.0 };
    let on =
        Vec3::new(point.x * shrink, point.y * shrink, point.z.clamp(-half_length, half_length));
    if (flat > radius || point.z.abs() > half_length)
        && let Some(nearest) = outside(on, point)
    {
        return nearest;
    }
    let (room_side, room_end) = (radius - flat, half_length - point.z.abs());
    if room_side < room_end && flat > 0.0 {
        Nearest { normal: Vec3::new(point.x / flat, point.y / flat, 0.0), distance: -room_side }
    } else {
        Nearest { normal: Vec3::Z * 1.0_f64.copysign(point.z), distance: -room_end }
    }
}

/// Of a segment along z.
pub(super) fn nearest_on_segment(half_length: f64, point: Vec3) -> Nearest {
    let on = Vec3::new(0.0, 0.0, point.z.clamp(-half_length, half_length));
    outside(on, point).unwrap_or(Nearest { normal: Vec3::X, distance: 0.0 })
}

/// Of an ellipsoid.
///
/// The nearest point is `x_i = a_i²·p_i/(t + a_i²)` with `t` the largest root of
/// `Σ (a_i·p_i/(t + a_i²))² = 1`. The sum falls and is convex to the right of `−a_min²`, so
/// Newton from the left of the root never oversteps it.
pub(super) fn nearest_on_ellipsoid(radii: Vec3, point: Vec3) -> Nearest {
    let squares = radii * radii;
    let smallest = squares.min_element();
    // Work in the first octant; a coordinate of zero stays zero unless the point is so deep
    // that the smallest half axis is the way out.
    let p = point.abs();
    let ap = radii * p;
    // Left of the root: one term alone already reaches one there.
    let mut t = (0..3).map(|i| ap[i] - squares[i]).fold(-smallest, f64::max);
    for _ in 0..100 {
        let ratio = ap / (squares + Vec3::splat(t)).max(Vec3::splat(f64::MIN_POSITIVE));
        let (mut value, mut slope) = (-1.0, 0.0);
        for i in 0..3 {
            if ap[i] > 0.0 {
                value += ratio[i] * ratio[i];
                slope -= 2.0 * ratio[i] * ratio[i] / (squares[i] + t);
            }
        }
        if value <= 0.0 || slope == 0.0 {
            break;
        }
        let step = value / slope;
        t -= step;
        if step.abs() <= 1e-16 * (t.abs() + smallest) {
            break;
        }
    }
    let mut on = Vec3::ZERO;
    for i in 0..3 {
        let below = squares[i] + t;
        on[i] = if ap[i] > 0.0 && below > 0.0 { squares[i] * p[i] / below } else { 0.0 };
    }
    // What is missing to the surface goes along the smallest half axis, where p is zero.
    let missing = 1.0 - (on / radii).length_squared();
    if missing > 1e-12 {
        let axis = (0..3).find(|&i| squares[i] == smallest).unwrap_or(0);
        let own = on[axis] / radii[axis];
        on[axis] = radii[axis] * sqrt(missing + own * own);
    }
    let on = Vec3::new(on.x.copysign(point.x), on.y.copysign(point.y), on.z.copysign(point.z));
    let gradient = on / squares;
    let normal = gradient / sqrt(gradient.dot(gradient));
    Nearest { normal, distance: (point - on).dot(normal) }
}

/// The nearest points of two segments `p ± d`; the way to both along their half lengths, in
/// −1 to 1.
fn nearest_of_segments(p: Vec3, d: Vec3, q: Vec3, e: Vec3) -> (f64, f64) {
    let between = p - q;
    let (dd, ee, de) = (d.dot(d), e.dot(e), d.dot(e));
    let (db, eb) = (d.dot(between), e.dot(between));
    let cross = dd * ee - de * de;
    let mut s = if cross > 1e-14 * dd * ee {
        ((de * eb - ee * db) / cross).clamp(-1.0, 1.0)
    } else if dd > 0.0 {
        (-db / dd).clamp(-1.0, 1.0)
    } else {
        0.0
    };
    let mut t = if ee > 0.0 { (eb + s * de) / ee } else { 0.0 };
    if t.abs() > 1.0 {
        t = t.clamp(-1.0, 1.0);
        s = if dd > 0.0 { ((t * de - db) / dd).clamp(-1.0, 1.0) } else { 0.0 };
    }
    (s, t)
}

/// What is between two capsules, each given by its middle, half its axis and its radius \[m\].
pub(super) fn gap_of_segments(
    (p, d, radius_a): (Vec3, Vec3, f64),
    (q, e, radius_b): (Vec3, Vec3, f64),
) -> f64 {
    let (s, t) = nearest_of_segments(p, d, q, e);
    (p + d * s).distance(q + e * t) - (radius_a + radius_b)
}

/// Two capsules, each given by its middle, half its axis and its radius. Lying side by side
/// they touch at both ends of what they share.
pub(super) fn capsule_capsule(
    (p, d, radius_a): (Vec3, Vec3, f64),
    (q, e, radius_b): (Vec3, Vec3, f64),
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let (dd, ee) = (d.dot(d), e.dot(e));
    let across = d.cross(e);
    if dd > 0.0 && ee > 0.0 && across.dot(across) < PARALLEL * PARALLEL * dd * ee {
        // The second segment along the first, from its middle in units of its half length.
        let (middle, reach) = ((q - p).dot(d) / dd, e.dot(d).abs() / dd);
        let (low, high) = ((middle - reach).max(-1.0), (middle + reach).min(1.0));
        if high > low {
            for (i, s) in [low, high].into_iter().enumerate() {
                let on_a = p + d * s;
                let t = ((on_a - q).dot(e) / ee).clamp(-1.0, 1.0);
                sphere_sphere((on_a, radius_a), (q + e * t, radius_b), margin, i as u32, out);
            }
            return;
        }
    }
    let (s, t) = nearest_of_segments(p, d, q, e);
    sphere_sphere((p + d * s, radius_a), (q + e * t, radius_b), margin, 0, out);
}

/// Axes within this angle \[rad\] count as parallel. The ends of what they share are then
/// apart from the nearest points by no more than this part of the length.
const PARALLEL: f64 = 1e-3;
