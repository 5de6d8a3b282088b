//! Two forms and their poses go in, the points where they touch come out.
//!
//! Which road a pair takes: planes, balls and capsules have closed forms; two boxes have their
//! separating axes; triangles are asked one by one; the rest is searched.

use headland_base::{Transform, Vec3};

use super::convex::{self, Search};
use super::form::Form;
use super::manifold::Side;
use super::round::{
    capsule_capsule, nearest_on_box, nearest_on_cylinder, nearest_on_ellipsoid, nearest_on_segment,
    sphere_form, sphere_sphere,
};
use super::touching::Touch;
use super::{boxes, plane, surface};

/// Pushes the points where two forms touch or come within `margin`; normals from a to b.
pub(super) fn touches(
    a: &Side<'_>,
    b: &Side<'_>,
    margin: f64,
    search: &mut Search,
    out: &mut Vec<Touch>,
) {
    let first = out.len();
    if rank(a.form) > rank(b.form) {
        ordered(b, a, margin, search, out);
        out[first..].iter_mut().for_each(|touch| touch.normal = -touch.normal);
    } else {
        ordered(a, b, margin, search, out);
    }
}

/// The simpler form comes first.
fn rank(form: &Form) -> u8 {
    match form {
        Form::Plane { .. } => 0,
        Form::Sphere { .. } => 1,
        Form::Capsule { .. } => 2,
        Form::Box { .. } => 3,
        Form::Cylinder { .. } => 4,
        Form::Cone { .. } => 5,
        Form::Ellipsoid { .. } => 6,
        Form::Hull(_) => 7,
        Form::Facet { .. } => 8,
        Form::Triangles(_) => 9,
        Form::Heights(_) => 10,
    }
}

fn ordered(a: &Side<'_>, b: &Side<'_>, margin: f64, search: &mut Search, out: &mut Vec<Touch>) {
    let (at_a, at_b) = (a.world_from_form, b.world_from_form);
    match (a.form, b.form) {
        (Form::Plane { normal }, form) => {
            plane::touches((at_a.vector(*normal), at_a.translation), form, at_b, margin, out);
        }
        (_, Form::Triangles(_) | Form::Heights(_)) => {
            if rank(a.form) < 8 {
                surface::touches(a, b, margin, search, out);
            }
        }
        (Form::Sphere { radius }, other) => {
            let ball = (at_a.translation, *radius);
            match other {
                Form::Sphere { radius } => {
                    sphere_sphere(ball, (at_b.translation, *radius), margin, 0, out);
                }
                Form::Capsule { half_length, radius } => {
                    let ball = (ball.0, ball.1 + radius);
                    let nearest = |p| nearest_on_segment(*half_length, p);
                    let first = out.len();
                    sphere_form(ball, at_b, margin, nearest, out);
                    // The capsule's radius was the ball's for a moment.
                    for touch in &mut out[first..] {
                        touch.position -= touch.normal * *radius;
                    }
                }
                Form::Box { half } => {
                    sphere_form(ball, at_b, margin, |p| nearest_on_box(*half, p), out);
                }
                Form::Cylinder { half_length, radius } => {
                    let nearest = |p| nearest_on_cylinder(*half_length, *radius, p);
                    sphere_form(ball, at_b, margin, nearest, out);
                }
                Form::Ellipsoid { radii } => {
                    sphere_form(ball, at_b, margin, |p| nearest_on_ellipsoid(*radii, p), out);
                }
                _ => convex::touches(a, b, None, margin, search, out),
            }
        }
        (
            Form::Capsule { half_length: length_a, radius: radius_a },
            Form::Capsule { half_length: length_b, radius: radius_b },
        ) => {
            let axis = |at: &Transform, half_length: f64| at.vector(Vec3::Z * half_length);
            let one = (at_a.translation, axis(at_a, *length_a), *radius_a);
            let other = (at_b.translation, axis(at_b, *length_b), *radius_b);
            capsule_capsule(one, other, margin, out);
        }
        (Form::Box { .. }, Form::Box { .. }) => {
            boxes::touches((a.form, at_a), (b.form, at_b), margin, out);
        }
        _ => convex::touches(a, b, None, margin, search, out),
    }
}
