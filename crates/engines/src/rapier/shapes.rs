//! Shapes: ours stand along z, rapier's along y.

use headland_base::maths::{FRAC_PI_2, Vec2, quat_from_axis_angle};
use headland_base::{Diagnostic, Transform, Vec3};
use headland_sim::form::{prisms, sphere_points};
use headland_sim::{Model, Motion, Shape, asked_of_contacts, hull};
use headland_world::{Geometry, HeightGrid, Surface, TriMesh};
use rapier3d_f64::parry::utils::Array2;
use rapier3d_f64::prelude as rp;

use super::pose;

/// What cannot be touched as it is, said before the run.
pub(super) fn check(model: &Model, raw: bool) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for body in &model.bodies {
        let is_fixed = model.rigids[body.rigid_idx].motion == Motion::Static;
        for shape in &body.shapes {
            if collider_shapes(&shape.geometry, is_fixed).is_none() {
                out.push(Diagnostic::error(
                    "bad-shape",
                    format!(
                        "link `{}`: rapier cannot build its {}",
                        body.name,
                        shape.geometry.kind()
                    ),
                ));
            }
            let surface = &shape.surface;
            if surface.mu() != surface.mu2() {
                out.push(Diagnostic::remark(
                    "realised",
                    format!(
                        "link `{}`: friction {} and {} by direction becomes {} in every direction",
                        body.name,
                        surface.mu(),
                        surface.mu2(),
                        friction(shape, raw)
                    ),
                ));
            }
            out.extend(left_out(&body.name, surface));
            if let Geometry::Mesh { mesh, convex, .. } = &shape.geometry
                && (*convex || !is_fixed)
            {
                out.extend(hull::check(&body.name, mesh.vertices()));
            }
            match &shape.geometry {
                Geometry::Mesh { convex: false, .. } if !is_fixed => out.push(Diagnostic::remark(
                    "realised",
                    format!("link `{}` moves: its mesh touches as its convex hull", body.name),
                )),
                Geometry::Ellipsoid { .. } => out.push(Diagnostic::remark(
                    "realised",
                    format!("link `{}`: its ellipsoid touches as a hull of 642 points", body.name),
                )),
                _ => {}
            }
        }
    }
    out
}

/// What a surface asks for that rapier has no word for.
fn left_out(name: &str, surface: &Surface) -> Option<Diagnostic> {
    let words = asked_of_contacts(surface);
    let message = format!("link `{name}`: {} left out", words.join(", "));
    (!words.is_empty()).then(|| Diagnostic::remark("realised", message))
}

/// Friction of a collider nobody said anything about.
const RAW_FRICTION: f64 = 0.5;

/// Friction of a shape in every direction.
fn friction(shape: &Shape, raw: bool) -> f64 {
    match raw {
        true => shape.surface.mu.unwrap_or(RAW_FRICTION),
        false => 0.5 * (shape.surface.mu() + shape.surface.mu2()),
    }
}

/// The colliders of a shape, placed in their rigid.
pub(super) fn colliders(
    shape: &Shape,
    rigid_from_body: Transform,
    body_idx: usize,
    is_fixed: bool,
    raw: bool,
) -> Vec<rp::Collider> {
    let rigid_from_shape = rigid_from_body * shape.body_from_shape;
    let surface = &shape.surface;
    let groups = rp::InteractionGroups::new(
        rp::Group::from_bits_truncate(surface.category_bitmask()),
        rp::Group::from_bits_truncate(surface.collide_bitmask()),
        rp::InteractionTestMode::Or,
    );
    let rule = match raw {
        true => rp::CoefficientCombineRule::Average,
        false => rp::CoefficientCombineRule::Min,
    };
    collider_shapes(&shape.geometry, is_fixed)
        .unwrap_or_default()
        .into_iter()
        .map(|(shape_from_part, part)| {
            rp::ColliderBuilder::new(part)
                .position(pose(rigid_from_shape * shape_from_part))
                .density(0.0) // mass comes from the inertial, never from the shape
                .friction(friction(shape, raw))
                .friction_combine_rule(rule)
                .restitution(surface.restitution())
                .restitution_combine_rule(rule)
                .collision_groups(groups)
                .active_hooks(rp::ActiveHooks::FILTER_CONTACT_PAIRS)
                .user_data(body_idx as u128)
                .build()
        })
        .collect()
}

/// The parts of a geometry; `None` where rapier refuses it.
fn collider_shapes(
    geometry: &Geometry,
    is_fixed: bool,
) -> Option<Vec<(Transform, rp::SharedShape)>> {
    // Takes rapier's y axis to our z.
    let upright = Transform::from_rotation(quat_from_axis_angle(Vec3::X, FRAC_PI_2));
    let plain = |shape| Some(vec![(Transform::IDENTITY, shape)]);
    match geometry {
        Geometry::Box { size } => {
            plain(rp::SharedShape::cuboid(size.x * 0.5, size.y * 0.5, size.z * 0.5))
        }
        Geometry::Sphere { radius } => plain(rp::SharedShape::ball(*radius)),
        Geometry::Cylinder { radius, length } => {
            Some(vec![(upright, rp::SharedShape::cylinder(length * 0.5, *radius))])
        }
        Geometry::Capsule { radius, length } => {
            plain(rp::SharedShape::capsule_z(length * 0.5, *radius))
        }
        Geometry::Cone { radius, length } => {
            Some(vec![(upright, rp::SharedShape::cone(length * 0.5, *radius))])
        }
        Geometry::Ellipsoid { radii } => {
            let points: Vec<Vec3> = sphere_points().into_iter().map(|p| p * *radii).collect();
            plain(rp::SharedShape::convex_hull(&points)?)
        }
        Geometry::Plane { normal, .. } => plain(rp::SharedShape::halfspace(*normal)),
        Geometry::Mesh { mesh, convex, .. } if *convex || !is_fixed => {
            plain(rp::SharedShape::convex_hull(&hull::thinned(mesh.vertices()))?)
        }
        Geometry::Mesh { mesh, .. } => plain(triangles(mesh)?),
        Geometry::Heightmap { size, position, heights, .. } => Some(vec![(
            Transform::from_translation(*position) * upright,
            height_field(*size, heights),
        )]),
        Geometry::Polyline { outlines, height } => hulls(outlines, *height),
        Geometry::Empty => Some(Vec::new()),
    }
}

fn triangles(mesh: &TriMesh) -> Option<rp::SharedShape> {
    // Contacts with the edges between two triangles of one flat face would trip a sliding box.
    let flags = rp::TriMeshFlags::FIX_INTERNAL_EDGES;
    rp::SharedShape::trimesh_with_flags(mesh.vertices().to_vec(), mesh.triangles().to_vec(), flags)
        .ok()
}

/// Rapier's field lies over x and z with y up; after the turn upright its z is our −y, so
/// its first row is our last.
fn height_field(size: Vec3, heights: &HeightGrid) -> rp::SharedShape {
    let (n_rows, n_columns) = (heights.n_rows(), heights.n_columns());
    let mut data = Vec::with_capacity(n_rows * n_columns); // column by column
    for column in 0..n_columns {
        data.extend((0..n_rows).rev().map(|row| heights.height(column, row)));
    }
    let scale = Vec3::new(size.x, 1.0, size.y);
    let flags = rp::HeightFieldFlags::FIX_INTERNAL_EDGES;
    rp::SharedShape::heightfield_with_flags(Array2::new(n_rows, n_columns, data), scale, flags)
}

/// Outlines drawn out as convex prisms of rapier's.
fn hulls(outlines: &[Vec<Vec2>], height: f64) -> Option<Vec<(Transform, rp::SharedShape)>> {
    let prisms = prisms(outlines, height);
    let hull =
        |corners: &[Vec3; 6]| Some((Transform::IDENTITY, rp::SharedShape::convex_hull(corners)?));
    (!prisms.is_empty()).then(|| prisms.iter().map(hull).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::maths::{PI, cos, sin};
    use headland_world::{Collision, Link, Model as Robot, World};

    fn hull_volume(points: &[Vec3]) -> f64 {
        rp::SharedShape::convex_hull(points).expect("a hull").mass_properties(1.0).mass()
    }

    /// What is told of friction by direction is what the collider gets, raw or not.
    #[test]
    fn the_friction_that_is_told_is_the_one_that_is_set() {
        let collision = Collision {
            name: "shape".into(),
            link_from_shape: Transform::IDENTITY,
            geometry: Geometry::Sphere { radius: 0.5 },
            surface: Surface { mu: Some(0.1), mu2: Some(0.5), ..Surface::default() },
        };
        let link = Link { name: "link".into(), collisions: vec![collision], ..Link::default() };
        let robot =
            Robot { name: "ball".into(), is_static: true, links: vec![link], ..Robot::default() };
        let world = World { models: vec![robot], ..World::default() };
        let model = Model::compile(&std::sync::Arc::new(world)).expect("a world that compiles");
        for (raw, wanted) in [(false, 0.3), (true, 0.1)] {
            let told = check(&model, raw);
            let words = format!("friction 0.1 and 0.5 by direction becomes {wanted} in every");
            assert!(told.iter().any(|note| note.message.contains(&words)), "{told:?}");
            let made = colliders(&model.bodies[0].shapes[0], Transform::IDENTITY, 0, true, raw);
            assert_eq!(made[0].friction(), wanted);
        }
    }

    /// A grid on every face, 100,000 points: the corners are what counts.
    #[test]
    fn a_box_of_many_points_keeps_its_corners() {
        let n = 130;
        let size = Vec3::new(1.0, 0.6, 0.2);
        let mut points = Vec::new();
        for i in 0..n {
            for j in 0..n {
                let (a, b) = (i as f64 / (n - 1) as f64 - 0.5, j as f64 / (n - 1) as f64 - 0.5);
                for c in [-0.5, 0.5] {
                    points.extend([Vec3::new(a, b, c), Vec3::new(c, a, b), Vec3::new(b, c, a)]);
                }
            }
        }
        points.iter_mut().for_each(|p| *p *= size);
        assert!(points.len() > 100_000);
        let kept = hull::thinned(&points);
        assert!(kept.len() <= 1030, "{}", kept.len());
        let off = hull_volume(&kept) / (size.x * size.y * size.z) - 1.0;
        assert!(off.abs() < 1e-9, "{off:e}");
        let note = hull::check("crate", &points).expect("points are left out");
        assert!(note.message.contains("0.0e0 m further"), "{}", note.message);
    }

    /// Two rims of 50,000 points: the volume is that of the cylinder within 0.02 %.
    #[test]
    fn a_cylinder_of_many_points_keeps_its_volume() {
        let (radius, length, n) = (0.3, 0.8, 50_000);
        let rim = |i: usize, z: f64| {
            let turn = 2.0 * PI * i as f64 / n as f64;
            Vec3::new(radius * cos(turn), radius * sin(turn), z)
        };
        let points: Vec<Vec3> =
            (0..n).flat_map(|i| [rim(i, -0.5 * length), rim(i, 0.5 * length)]).collect();
        let kept = hull::thinned(&points);
        assert!(kept.len() <= 1030, "{}", kept.len());
        let off = hull_volume(&kept) / (PI * radius * radius * length) - 1.0;
        assert!(off.abs() < 2e-4, "{off:e} of {} points", kept.len());
        assert!(hull::check("drum", &points).is_some(), "points are left out");
    }
}
