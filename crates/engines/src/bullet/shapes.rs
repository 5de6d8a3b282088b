//! Shapes of ours as shapes of Bullet's. Both stand along z.

use headland_base::Transform;
use headland_sim::form::prisms;
use headland_sim::{Fault, Motion, Shape, hull};
use headland_world::Geometry;

use super::realise::Surfaces;
use super::shim::{Form, World};

/// Puts a shape down for the next body of Bullet's world.
pub(super) fn insert(
    world: &mut World<Surfaces>,
    shape_idx: usize,
    shape: &Shape,
    motion: Motion,
    at: Transform,
) -> Result<(), Fault> {
    let mut plain = |form, numbers| world.primitive(shape_idx, form, numbers, at);
    match &shape.geometry {
        Geometry::Box { size } => plain(Form::Box, size.to_array()),
        Geometry::Sphere { radius } => plain(Form::Sphere, [*radius, 0.0, 0.0]),
        Geometry::Cylinder { radius, length } => plain(Form::Cylinder, [*radius, *length, 0.0]),
        Geometry::Capsule { radius, length } => plain(Form::Capsule, [*radius, *length, 0.0]),
        Geometry::Cone { radius, length } => plain(Form::Cone, [*radius, *length, 0.0]),
        Geometry::Ellipsoid { radii } => plain(Form::Ellipsoid, radii.to_array()),
        Geometry::Plane { normal, .. } => plain(Form::Plane, normal.to_array()),
        Geometry::Mesh { mesh, convex, .. } if *convex || motion != Motion::Static => {
            world.hull(shape_idx, &hull::thinned(mesh.vertices()), at)
        }
        Geometry::Mesh { mesh, .. } => world.mesh(shape_idx, mesh.vertices(), mesh.triangles(), at),
        Geometry::Heightmap { size, position, heights, .. } => {
            let (n_columns, n_rows) = (heights.n_columns(), heights.n_rows());
            let row = |row| (0..n_columns).map(move |column| heights.height(column, row));
            let data: Vec<f64> = (0..n_rows).flat_map(row).collect();
            let at = at * Transform::from_translation(*position);
            world.heights(shape_idx, &data, n_columns, n_rows, [size.x, size.y], at)
        }
        Geometry::Polyline { outlines, height } => {
            let prisms = prisms(outlines, *height);
            if prisms.is_empty() {
                return Err(Fault("an outline without an inside".to_string()));
            }
            prisms.iter().try_for_each(|corners| world.hull(shape_idx, corners, at))
        }
        Geometry::Empty => Ok(()),
    }
}
