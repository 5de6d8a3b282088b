//! A convex form on a surface of triangles: each triangle near it is a convex form of its own.

use headland_base::{Mat3, Transform, Vec3};
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::shape::TrianglePseudoNormals;

use super::N_POINTS_MAX;
use super::convex::{self, Search};
use super::form::Form;
use super::manifold::Side;
use super::touching::{Touch, drop_repeats, thin};

/// Touching points of a convex form and a surface; normals from the form to the surface.
pub(super) fn touches(
    a: &Side<'_>,
    surface: &Side<'_>,
    margin: f64,
    search: &mut Search,
    out: &mut Vec<Touch>,
) {
    let first = out.len();
    let Some(near) = bounds_in(surface.world_from_form, a, margin) else { return };
    let mut on_triangle = |i: u32, corners: [Vec3; 3], cone: Option<TrianglePseudoNormals>| {
        let facet = Form::Facet { corners };
        let b = Side { form: &facet, world_from_form: surface.world_from_form };
        let from = out.len();
        convex::touches(a, &b, cone.as_ref(), margin, search, out);
        for touch in &mut out[from..] {
            touch.feature ^= i << 6;
        }
    };
    match surface.form {
        Form::Triangles(mesh) => {
            for i in mesh.bvh().intersect_aabb(&near) {
                let triangle = mesh.triangle(i);
                let cone = mesh.triangle_normal_constraints(i);
                on_triangle(i, [triangle.a, triangle.b, triangle.c], cone);
            }
        }
        Form::Heights(field) => field.map_elements_in_local_aabb(&near, &mut |i, triangle| {
            let cone = field.triangle_normal_constraints(i);
            on_triangle(i, [triangle.a, triangle.b, triangle.c], cone);
        }),
        _ => {}
    }
    let size = near.half_extents().max_element();
    drop_repeats(out, first, REPEAT * size);
    thin(out, first, N_POINTS_MAX, margin);
}

/// Points closer than this part of the form's size are one.
const REPEAT: f64 = 1e-6;

/// The box along another frame's axes that holds a form and its margin.
fn bounds_in(world_from_frame: &Transform, a: &Side<'_>, margin: f64) -> Option<Aabb> {
    let (low, high) = a.form.bounds()?;
    let frame_from_form = world_from_frame.inverse() * *a.world_from_form;
    let turn = Mat3::from_quat(frame_from_form.rotation);
    let half = (high - low) * 0.5;
    let reach =
        turn.x_axis.abs() * half.x + turn.y_axis.abs() * half.y + turn.z_axis.abs() * half.z;
    let middle = frame_from_form.point((low + high) * 0.5);
    let reach = reach + Vec3::splat(margin);
    Some(Aabb::new(middle - reach, middle + reach))
}
