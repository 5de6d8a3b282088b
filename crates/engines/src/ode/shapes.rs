//! Shapes of ours as ODE's: boxes, balls, cylinders, capsules and planes as they are, all else
//! as triangles.
//!
//! ODE moves a body by its centre of mass, so shapes are placed from there; shapes of what
//! never moves stand in the world by themselves.

use std::ffi::{c_int, c_void};

use headland_base::maths::{TAU, Vec2, cos, sin};
use headland_base::{Diagnostic, Quat, Transform, Vec3};
use headland_sim::form::{Triangles, height_surface, prism_surface, sphere_points};
use headland_sim::{Body, Model, Motion, Shape, TouchFilter, hull};
use headland_world::{Geometry, Surface};
use rapier3d_f64::parry::transformation::try_convex_hull;

use super::ffi::{self, Api, Handle};

/// Sides of the prism a round shape touches as, where ODE has no better.
const N_SIDES: usize = 64;

/// What a contact needs to know of a shape.
pub(super) struct Touch {
    pub body_idx: usize,
    /// ODE's body, or null where it never moves.
    pub ode_body: Handle,
    /// A force moves it.
    pub is_dynamic: bool,
    pub surface: Surface,
    /// How a plane is turned in the world: ODE's planes have no rotation to ask for.
    pub plane_turn: Option<Quat>,
    /// Another shape in the same place, for partners ODE cannot collide this one with.
    pub stand_in: Option<Handle>,
    kind: Kind,
}

impl Touch {
    /// Whether ODE needs a stand-in for one of these two.
    pub(super) fn needs_stand_in(&self, other: &Touch, missing: &Missing) -> bool {
        missing.has(self.kind, other.kind)
    }
}

/// ODE's kinds of shapes, as far as colliders go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Box,
    Sphere,
    Cylinder,
    Capsule,
    Plane,
    Triangles,
}

impl Kind {
    const ALL: [Kind; 6] =
        [Kind::Box, Kind::Sphere, Kind::Cylinder, Kind::Capsule, Kind::Plane, Kind::Triangles];

    fn of(geometry: &Geometry) -> Option<Kind> {
        match geometry {
            Geometry::Box { .. } => Some(Kind::Box),
            Geometry::Sphere { .. } => Some(Kind::Sphere),
            Geometry::Cylinder { .. } => Some(Kind::Cylinder),
            Geometry::Capsule { .. } => Some(Kind::Capsule),
            Geometry::Plane { .. } => Some(Kind::Plane),
            Geometry::Empty => None,
            _ => Some(Kind::Triangles),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Kind::Box => "a box",
            Kind::Sphere => "a sphere",
            Kind::Cylinder => "a cylinder",
            Kind::Capsule => "a capsule",
            Kind::Plane => "a plane",
            Kind::Triangles => "triangles",
        }
    }
}

/// Pairs of kinds this build of ODE has no collider for: that depends on libccd.
pub(super) struct Missing {
    pairs: Vec<(Kind, Kind)>,
}

impl Missing {
    /// An ODE without libccd, for those who have one with it.
    #[cfg(test)]
    pub(super) fn without_libccd() -> Missing {
        Missing { pairs: vec![(Kind::Cylinder, Kind::Cylinder), (Kind::Cylinder, Kind::Capsule)] }
    }

    /// Tries every pair out: two shapes that overlap by far must touch. Whoever asks has the
    /// turn.
    pub(super) fn of(api: &Api) -> Missing {
        let mut pairs = Vec::new();
        for (i, &a) in Kind::ALL.iter().enumerate() {
            for &b in &Kind::ALL[i..] {
                if (a, b) != (Kind::Plane, Kind::Plane) && !do_touch(api, a, b) {
                    pairs.push((a, b));
                }
            }
        }
        Missing { pairs }
    }

    fn has(&self, a: Kind, b: Kind) -> bool {
        self.pairs.contains(&(a, b)) || self.pairs.contains(&(b, a))
    }
}

fn do_touch(api: &Api, a: Kind, b: Kind) -> bool {
    let of = |kind: Kind| match kind {
        Kind::Box => Geometry::Box { size: Vec3::ONE },
        Kind::Sphere => Geometry::Sphere { radius: 0.5 },
        Kind::Cylinder => Geometry::Cylinder { radius: 0.5, length: 1.0 },
        Kind::Capsule => Geometry::Capsule { radius: 0.5, length: 1.0 },
        Kind::Plane => Geometry::Plane { normal: Vec3::Z, size: Vec2::ONE },
        Kind::Triangles => Geometry::Cone { radius: 0.5, length: 1.0 },
    };
    let none = std::ptr::null_mut();
    let mut store = Store::default();
    // SAFETY: two shapes in no space, destroyed here before the triangles they are made of.
    unsafe {
        let [first, second] = [a, b].map(|kind| {
            make(api, none, &of(kind), Transform::IDENTITY, &mut store).expect("a sound shape")
        });
        if b != Kind::Plane {
            // Leaning and askew, so that no pair is parallel.
            let turn = headland_base::maths::quat_from_rpy(0.3, 0.2, 0.1);
            (api.dGeomSetQuaternion)(second, wxyz(turn).as_ptr());
            (api.dGeomSetPosition)(second, 0.35, 0.21, 0.3);
        }
        let mut contacts = [ffi::Contact::EMPTY; 8];
        let n = (api.dCollide)(
            first,
            second,
            contacts.len() as c_int,
            &mut contacts[0].geom,
            size_of::<ffi::Contact>() as c_int,
        );
        (api.dGeomDestroy)(first);
        (api.dGeomDestroy)(second);
        store.destroy(api);
        n > 0
    }
}

/// What cannot be touched as it is, said before the run.
pub(super) fn check(model: &Model, missing: &Missing) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for body in &model.bodies {
        let motion = model.rigids[body.rigid_idx].motion;
        for shape in &body.shapes {
            out.extend(check_shape(body, shape, motion));
        }
    }
    out.extend(check_pairs(model, missing));
    out
}

fn check_shape(body: &Body, shape: &Shape, motion: Motion) -> Option<Diagnostic> {
    let name = &body.name;
    let remark = |message: String| Some(Diagnostic::remark("realised", message));
    let what = shape.geometry.kind();
    match &shape.geometry {
        Geometry::Plane { .. } if motion != Motion::Static => Some(
            Diagnostic::error(
                "engine-cannot",
                format!("link `{name}`: ODE has no plane that moves"),
            )
            .help("give it a box, or make its model static"),
        ),
        Geometry::Cone { .. }
        | Geometry::Ellipsoid { .. }
        | Geometry::Polyline { .. }
        | Geometry::Mesh { .. }
        | Geometry::Heightmap { .. } => match triangles_of(&shape.geometry) {
            None => Some(Diagnostic::error(
                "bad-shape",
                format!("link `{name}`: ODE cannot build its {what}"),
            )),
            Some(made) => match &shape.geometry {
                Geometry::Mesh { convex: true, mesh, .. } => hull::check(name, mesh.vertices()),
                Geometry::Mesh { .. } => None,
                _ => remark(format!(
                    "link `{name}`: its {what} touches as {} triangles, in single precision",
                    made.triangles.len()
                )),
            },
        },
        _ => None,
    }
}

/// Pairs that may touch and cannot: each pair of kinds once, with how many links.
fn check_pairs(model: &Model, missing: &Missing) -> Vec<Diagnostic> {
    if missing.pairs.is_empty() {
        return Vec::new();
    }
    let filter = TouchFilter::of(model);
    let mut out = Vec::new();
    for &(a, b) in &missing.pairs {
        let has = |body: &Body, kind: Kind| {
            body.shapes.iter().any(|shape| Kind::of(&shape.geometry) == Some(kind))
        };
        let meet = |i: usize, j: usize| {
            let (one, other) = (&model.bodies[i], &model.bodies[j]);
            let moves = |body: &Body| model.rigids[body.rigid_idx].motion == Motion::Dynamic;
            (moves(one) || moves(other))
                && filter.may_touch(i, j)
                && ((has(one, a) && has(other, b)) || (has(one, b) && has(other, a)))
        };
        let n = model.bodies.len();
        let first = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).find(|&(i, j)| meet(i, j));
        if let Some((i, j)) = first {
            let names = format!("`{}` and `{}`", model.bodies[i].name, model.bodies[j].name);
            let how = if a == Kind::Cylinder || b == Kind::Cylinder {
                format!("the cylinder touches as a prism of {N_SIDES} sides there")
            } else {
                "they pass through each other".to_string()
            };
            out.push(Diagnostic::remark(
                "realised",
                format!(
                    "this ODE cannot collide {} with {}: of links {names}, and others like them, {how}",
                    a.word(),
                    b.word()
                ),
            ));
        }
    }
    out
}

/// Triangles that shapes of ODE's are made of, boxed because ODE keeps their address, and ODE's own
/// handles of them.
#[derive(Default)]
pub(super) struct Store {
    kept: Vec<(Handle, Box<Triangles>)>,
}

impl Store {
    /// Gives ODE's handles back. The shapes made of them must be gone.
    pub(super) unsafe fn destroy(&mut self, api: &Api) {
        for (data, _) in self.kept.drain(..) {
            // SAFETY: made by `geom_of_triangles`, destroyed once.
            unsafe { (api.dGeomTriMeshDataDestroy)(data) };
        }
    }
}

/// Makes every shape of the model. `bodies` are ODE's, by rigid; null for what never moves.
pub(super) unsafe fn insert(
    api: &Api,
    space: Handle,
    model: &Model,
    bodies: &[Handle],
    missing: &Missing,
    store: &mut Store,
) -> Result<Vec<Touch>, String> {
    let mut out: Vec<Touch> = Vec::new();
    let needs_stand_in = !missing.pairs.is_empty();
    for (body_idx, body) in model.bodies.iter().enumerate() {
        let rigid = &model.rigids[body.rigid_idx];
        for shape in &body.shapes {
            let Some(kind) = Kind::of(&shape.geometry) else { continue };
            let rigid_from_shape = body.rigid_from_body * shape.body_from_shape;
            let ode_body = bodies[body.rigid_idx];
            let place = if ode_body.is_null() {
                rigid.world_from_rigid * rigid_from_shape
            } else {
                Transform::from_translation(-rigid.centre) * rigid_from_shape
            };
            // SAFETY: the caller's promises; `store` outlives the shapes.
            let (geom, stand_in) = unsafe {
                let geom = make(api, space, &shape.geometry, place, store)
                    .ok_or_else(|| format!("link `{}`: ODE cannot build its shape", body.name))?;
                attach(api, geom, ode_body, place, kind);
                let prism = if needs_stand_in { prism_of(&shape.geometry) } else { None };
                let stand_in = prism.map(|triangles| {
                    let none = std::ptr::null_mut(); // it is asked for, never found
                    let stand_in = geom_of_triangles(api, none, triangles, store);
                    attach(api, stand_in, ode_body, place, Kind::Triangles);
                    stand_in
                });
                (geom, stand_in)
            };
            let category = std::ffi::c_ulong::from(shape.surface.category_bitmask());
            let collide = std::ffi::c_ulong::from(shape.surface.collide_bitmask());
            // SAFETY: the shape was just made; its data is a number, not an address.
            unsafe {
                (api.dGeomSetData)(geom, out.len() as *mut c_void);
                (api.dGeomSetCategoryBits)(geom, category);
                (api.dGeomSetCollideBits)(geom, collide);
            }
            out.push(Touch {
                body_idx,
                ode_body,
                is_dynamic: rigid.motion == Motion::Dynamic,
                surface: shape.surface.clone(),
                plane_turn: (kind == Kind::Plane).then_some(place.rotation),
                stand_in,
                kind,
            });
        }
    }
    Ok(out)
}

/// Hangs a shape on its body, or leaves it where it stands.
unsafe fn attach(api: &Api, geom: Handle, ode_body: Handle, place: Transform, kind: Kind) {
    if kind == Kind::Plane {
        return; // its place is in its numbers
    }
    let (at, turn) = (place.translation, wxyz(place.rotation));
    // SAFETY: a shape that has a place, and a body of the same world.
    unsafe {
        if ode_body.is_null() {
            (api.dGeomSetPosition)(geom, at.x, at.y, at.z);
            (api.dGeomSetQuaternion)(geom, turn.as_ptr());
        } else {
            (api.dGeomSetBody)(geom, ode_body);
            (api.dGeomSetOffsetPosition)(geom, at.x, at.y, at.z);
            (api.dGeomSetOffsetQuaternion)(geom, turn.as_ptr());
        }
    }
}

/// A shape of ODE's; none where it cannot be built. `place` is for planes, which have no other.
unsafe fn make(
    api: &Api,
    space: Handle,
    geometry: &Geometry,
    place: Transform,
    store: &mut Store,
) -> Option<Handle> {
    // SAFETY: a space or null, and sizes the world has checked.
    unsafe {
        Some(match geometry {
            Geometry::Box { size } => (api.dCreateBox)(space, size.x, size.y, size.z),
            Geometry::Sphere { radius } => (api.dCreateSphere)(space, *radius),
            Geometry::Cylinder { radius, length } => (api.dCreateCylinder)(space, *radius, *length),
            Geometry::Capsule { radius, length } => (api.dCreateCapsule)(space, *radius, *length),
            Geometry::Plane { normal, .. } => {
                let n = place.vector(*normal);
                (api.dCreatePlane)(space, n.x, n.y, n.z, n.dot(place.translation))
            }
            _ => geom_of_triangles(api, space, triangles_of(geometry)?, store),
        })
    }
}

unsafe fn geom_of_triangles(
    api: &Api,
    space: Handle,
    triangles: Triangles,
    store: &mut Store,
) -> Handle {
    let kept = Box::new(triangles);
    let none = std::ptr::null_mut();
    // SAFETY: ODE keeps the two addresses, and `store` what is there.
    unsafe {
        let data = (api.dGeomTriMeshDataCreate)();
        (api.dGeomTriMeshDataBuildDouble)(
            data,
            kept.corners.as_ptr().cast(),
            size_of::<Vec3>() as c_int,
            kept.corners.len() as c_int,
            kept.triangles.as_ptr().cast(),
            3 * kept.triangles.len() as c_int,
            size_of::<[u32; 3]>() as c_int,
        );
        store.kept.push((data, kept));
        (api.dCreateTriMesh)(space, data, none, none, none)
    }
}

/// A rotation as ODE has it.
pub(super) fn wxyz(turn: Quat) -> [f64; 4] {
    [turn.w, turn.x, turn.y, turn.z]
}

/// What a shape is as triangles; none where that has no volume or no surface.
fn triangles_of(geometry: &Geometry) -> Option<Triangles> {
    match geometry {
        Geometry::Mesh { mesh, convex: false, .. } => Some(Triangles {
            corners: mesh.vertices().to_vec(),
            triangles: mesh.triangles().to_vec(),
        }),
        Geometry::Mesh { mesh, .. } => hull_of(&hull::thinned(mesh.vertices())),
        Geometry::Ellipsoid { radii } => {
            hull_of(&sphere_points().into_iter().map(|p| p * *radii).collect::<Vec<_>>())
        }
        Geometry::Cone { radius, length } => {
            let mut points = rim(*radius, -0.5 * length);
            points.push(Vec3::new(0.0, 0.0, 0.5 * length));
            hull_of(&points)
        }
        Geometry::Heightmap { size, position, heights, .. } => {
            let mut made = height_surface(*size, heights);
            made.corners.iter_mut().for_each(|corner| *corner += *position);
            Some(made)
        }
        Geometry::Polyline { outlines, height } => {
            Some(prism_surface(outlines, *height)).filter(|made| !made.triangles.is_empty())
        }
        _ => None,
    }
}

fn rim(radius: f64, z: f64) -> Vec<Vec3> {
    let turn = |i: usize| TAU * i as f64 / N_SIDES as f64;
    (0..N_SIDES).map(|i| Vec3::new(radius * cos(turn(i)), radius * sin(turn(i)), z)).collect()
}

/// A cylinder as a prism.
fn prism_of(geometry: &Geometry) -> Option<Triangles> {
    let Geometry::Cylinder { radius, length } = geometry else { return None };
    let ends = [-0.5 * length, 0.5 * length];
    hull_of(&ends.into_iter().flat_map(|z| rim(*radius, z)).collect::<Vec<_>>())
}

fn hull_of(points: &[Vec3]) -> Option<Triangles> {
    let (corners, triangles) = try_convex_hull(points).ok()?;
    (!triangles.is_empty()).then_some(Triangles { corners, triangles })
}
