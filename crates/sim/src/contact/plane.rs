//! A plane and anything convex, in closed form: the ground is most of what robots touch.

use headland_base::maths::sqrt;
use headland_base::{Transform, Vec3};

use super::form::{Form, TILTED};
use super::touching::{Touch, keep_deepest, thin};

/// Points of `form` that lie within `margin` of a plane or below it; normals out of the plane.
/// A box gives its lowest corners, a disc its deepest rim point and three more around the rim.
pub(super) fn touches(
    (world_normal, world_point): (Vec3, Vec3),
    form: &Form,
    world_from_form: &Transform,
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let first = out.len();
    // The plane in the form's frame: depth of p is `level − p·up`.
    let up = world_from_form.rotation.conjugate() * world_normal;
    let level = (world_point - world_from_form.translation).dot(world_normal);
    let mut offer = |point: Vec3, rounding: f64, feature: u32| {
        let depth = level - point.dot(up) + rounding;
        if depth > -margin {
            let lowest = world_from_form.point(point) - world_normal * rounding;
            let position = lowest + world_normal * (0.5 * depth);
            out.push(Touch { position, normal: world_normal, depth, feature });
        }
    };
    match form {
        Form::Sphere { radius } => offer(Vec3::ZERO, *radius, 0),
        Form::Capsule { half_length, radius } => {
            offer(Vec3::new(0.0, 0.0, -half_length), *radius, 0);
            offer(Vec3::new(0.0, 0.0, *half_length), *radius, 1);
        }
        Form::Box { half } => {
            let reach = half.abs().dot(up.abs());
            if level + reach > -margin {
                for i in 0..8 {
                    let sign = |bit: u32| if i & bit == 0 { -1.0 } else { 1.0 };
                    let corner = *half * Vec3::new(sign(1), sign(2), sign(4));
                    offer(corner, 0.0, i);
                }
            }
        }
        Form::Cylinder { half_length, radius } => {
            let lower = -half_length.copysign(up.z);
            let lowest = lowest_of_rim(*radius, up);
            rim_points(lowest, lower, &mut offer);
            offer(lowest.with_z(-lower), 0.0, 4);
        }
        Form::Cone { half_length, radius } => {
            rim_points(lowest_of_rim(*radius, up), -half_length, &mut offer);
            offer(Vec3::new(0.0, 0.0, *half_length), 0.0, 4);
        }
        Form::Ellipsoid { .. } => offer(form.core_support(-up), 0.0, 0),
        Form::Hull(hull) => {
            for (i, point) in hull.points().iter().enumerate() {
                offer(*point, 0.0, i as u32);
            }
        }
        Form::Plane { .. } | Form::Facet { .. } | Form::Triangles(_) | Form::Heights(_) => {}
    }
    match form {
        Form::Hull(_) => thin(out, first, super::N_POINTS_MAX, margin),
        // A thin plate may have all its corners below: those of its lower face carry it.
        _ => keep_deepest(out, first, 4),
    }
}

fn lowest_of_rim(radius: f64, up: Vec3) -> Vec3 {
    let flat = sqrt(up.x * up.x + up.y * up.y);
    if flat > TILTED {
        Vec3::new(-up.x * radius / flat, -up.y * radius / flat, 0.0)
    } else {
        Vec3::new(radius, 0.0, 0.0)
    }
}

/// Four points a quarter turn apart, the lowest first.
fn rim_points(lowest: Vec3, z: f64, offer: &mut impl FnMut(Vec3, f64, u32)) {
    let aside = Vec3::new(-lowest.y, lowest.x, 0.0);
    for (i, point) in [lowest, aside, -lowest, -aside].into_iter().enumerate() {
        offer(point.with_z(z), 0.0, i as u32);
    }
}
