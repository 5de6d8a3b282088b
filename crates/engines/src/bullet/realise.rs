//! Asked and realised: what a world says, and what is set in Bullet for it.
//!
//! | asked | realised | with `--raw` |
//! |---|---|---|
//! | friction, restitution of two surfaces | the lesser of the two, friction the mean of `mu` and `mu2`, written over Bullet's product at every contact point | Bullet's product of one number per body: the first its shapes state, else 0.5 and 0 |
//! | a bounce | restitution at any speed (Bullet's threshold of 0.2 m/s is set to 0), but Bullet brakes what comes near before it touches, so that at small steps little or nothing of it is left: a finding, not made up for | threshold 0.2 m/s |
//! | velocity decay `c` \[1/s\] | Bullet's damping `d = 1 − e^(−c)`, since it scales by `(1 − d)^dt` every step | Bullet's own: 0 |
//! | gravity | per body, zero where it is off | the same |
//! | the step | one of Bullet's per one of ours, `stepSimulation(dt, 0)`; semi-implicit Euler | the same |
//! | friction in every direction | two friction directions per contact point, a pyramid along the slip (`SOLVER_USE_2_FRICTION_DIRECTIONS`) | Bullet's one direction, along the slip |
//! | a solution of joints and contacts | 50 passes, SDF's default for Bullet | Bullet's 10 |
//! | shapes as drawn | margins of 0.1 mm or a hundredth of the shape, taken off inside where Bullet or the shim can (all but hulls, which are larger by it); none on meshes and heightmaps | Bullet's margins: 40 mm, outside on hulls and cones |
//! | contacts of flat faces | perturbed until four points are found | one new point per step |
//! | meshes without seams | normals at edges inside a mesh put right (`btAdjustInternalEdgeContacts`) | as they come |
//! | turning bodies | gyroscopic torque, implicit in the body's frame, on all bodies; Bullet's default | the same |
//! | nothing sleeps | `DISABLE_DEACTIVATION` | Bullet's sleeping |
//! | armature | of a turning axis: added to its child's inertia; of a sliding one: solved with the joint | the same |
//! | springs, dampers, servos | forces; where stiff for the step, solved with the joint | the same |
//! | limits, dry friction | solved with the joint, see `Axis` in shim.cpp | the same |
//! | screws, mimics | a slider that may turn, or the joint as it is, and a force per step that keeps the tie (`sim::tie`) | the same |
//!
//! Random order of contacts is off, and the solver's seed is set to 0 at the start.

use headland_base::maths::exp;
use headland_base::{Diagnostic, Vec3};
use headland_sim::{
    Body, EngineOptions, Joint, Model, Motion, Rigid, Shape, SurfacePair, TouchFilter,
    asked_of_contacts, hull,
};
use headland_world::{Geometry, JointKind, Surface};

use super::shim::{Pairs, Settings};

/// Passes of the solver.
const N_ITERATIONS: i32 = 50;

/// The margin of shapes that need one \[m\]. Bullet's contacts come from the distance between
/// shapes less their margins; without any it falls back to a slower and coarser search.
const MARGIN: f64 = 1e-4;

/// `SOLVER_USE_2_FRICTION_DIRECTIONS`.
const TWO_FRICTION_DIRECTIONS: i32 = 16;

/// Points of a contact between flat faces, found by perturbing it. A box that slides down 20°
/// in steps of 1 ms comes 1.6 % short with Bullet's one, 1.1 % with 3, 0.02 % with 4; cubes of
/// 5 cm to 1 m dropped flat end 1.6 m, 0.14 m and 0.14 m aside at worst.
const N_POINTS: i32 = 4;

/// More friction than that, infinity for one, makes Bullet multiply it by nothing.
const FRICTION_MAX: f64 = 1e10;

/// Axes of a universal joint that are further from a right angle are refused.
const RIGHT_ANGLE: f64 = 1e-6;

/// What is set for the whole world.
pub(super) fn settings(gravity: Vec3, options: &EngineOptions) -> Settings {
    let mut out = Settings::raw(gravity);
    if !options.raw {
        out.restitution_threshold = 0.0;
        out.margin = MARGIN;
        out.n_iterations = N_ITERATIONS;
        out.solver_mode = TWO_FRICTION_DIRECTIONS;
        out.multipoint = N_POINTS;
        out.is_raw = 0;
    }
    out
}

/// Bullet's damping, linear and angular.
pub(super) fn damping(rigid: &Rigid, options: &EngineOptions) -> [f64; 2] {
    if options.raw {
        return [0.0; 2];
    }
    [rigid.velocity_decay.0, rigid.velocity_decay.1].map(|decay| 1.0 - exp(-decay))
}

/// Friction and restitution of a whole body, which Bullet multiplies: the first that is said.
pub(super) fn of_body<'a>(shapes: impl Iterator<Item = &'a Shape> + Clone) -> (f64, f64) {
    let mut surfaces = shapes.map(|shape| &shape.surface);
    let friction = surfaces.clone().find_map(|surface| surface.mu);
    let restitution = surfaces.find_map(|surface| surface.restitution);
    (friction.unwrap_or(0.5), restitution.unwrap_or(0.0))
}

/// Which shapes may touch, and what holds between them.
pub(super) struct Surfaces {
    filter: TouchFilter,
    /// The body and the surface of each shape.
    shapes: Vec<(usize, Surface)>,
}

impl Surfaces {
    pub(super) fn of(model: &Model) -> Surfaces {
        let of_one = |(i, body): (usize, &Body)| {
            body.shapes.iter().map(move |shape| (i, shape.surface.clone())).collect::<Vec<_>>()
        };
        Surfaces {
            filter: TouchFilter::of(model),
            shapes: model.bodies.iter().enumerate().flat_map(of_one).collect(),
        }
    }

    /// The body a shape belongs to.
    pub(super) fn body_of(&self, shape_idx: usize) -> Option<usize> {
        self.shapes.get(shape_idx).map(|(body_idx, _)| *body_idx)
    }
}

impl Pairs for Surfaces {
    fn between(&self, shape_a: usize, shape_b: usize) -> Option<(f64, f64)> {
        let ((i, a), (j, b)) = (self.shapes.get(shape_a)?, self.shapes.get(shape_b)?);
        let may = a.masks_meet(b) && self.filter.may_touch(*i, *j);
        may.then(|| {
            let pair = SurfacePair::of(a, b);
            (pair.mean_mu().min(FRICTION_MAX), pair.restitution)
        })
    }
}

/// What Bullet cannot move, and what it realises differently.
pub(super) fn check(model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
    let mut out = model.massless();
    for rigid in &model.rigids {
        out.extend(too_heavy(model, rigid));
        if !options.raw {
            out.extend(check_decay(model, rigid));
        }
    }
    for body in &model.bodies {
        let motion = model.rigids[body.rigid_idx].motion;
        for shape in &body.shapes {
            check_shape(body, motion, &shape.geometry, &mut out);
            if !options.raw {
                check_surface(body, motion, &shape.surface, options, &mut out);
            }
        }
    }
    for joint in &model.joints {
        out.extend(check_joint(model, joint));
    }
    if options.raw {
        out.push(Diagnostic::remark(
            "realised",
            "raw: Bullet's own margins, damping, sleeping and solver settings; friction and \
             restitution are products of one number per body, 0.5 and 0 where none is said",
        ));
    }
    out
}

fn name_of<'a>(model: &'a Model, rigid: &Rigid) -> &'a str {
    &model.bodies[rigid.body_idxs[0]].name
}

fn too_heavy(model: &Model, rigid: &Rigid) -> Option<Diagnostic> {
    if rigid.motion != Motion::Dynamic {
        return None;
    }
    let name = name_of(model, rigid);
    (rigid.mass > 1e15).then(|| {
        let message =
            format!("link `{name}`: Bullet takes a mass of {:e} kg for infinite", rigid.mass);
        Diagnostic::error("too-heavy", message).help("give masses in kg and inertias in kg·m²")
    })
}

fn check_decay(model: &Model, rigid: &Rigid) -> Option<Diagnostic> {
    let fastest = rigid.velocity_decay.0.max(rigid.velocity_decay.1);
    (rigid.motion == Motion::Dynamic && fastest > 36.0).then(|| {
        let name = name_of(model, rigid);
        let message = format!(
            "link `{name}`: a velocity decay of {fastest} 1/s is more than Bullet can tell from \
             a full stop; it stops at once"
        );
        Diagnostic::remark("realised", message)
    })
}

fn check_shape(body: &Body, motion: Motion, geometry: &Geometry, out: &mut Vec<Diagnostic>) {
    let (name, moves) = (&body.name, motion != Motion::Static);
    let mut remark = |text: String| out.push(Diagnostic::remark("realised", text));
    match geometry {
        Geometry::Mesh { mesh, convex, .. } if *convex || moves => {
            if !convex {
                remark(format!("link `{name}` moves: its mesh touches as its convex hull"));
            }
            out.extend(hull::check(name, mesh.vertices()));
        }
        Geometry::Plane { .. } | Geometry::Heightmap { .. } if moves => {
            let kind = geometry.kind();
            let message = format!("link `{name}` moves: Bullet's {kind} must stand still");
            out.push(
                Diagnostic::error("engine-cannot", message)
                    .help("make the model static, or its shape a box or a mesh"),
            );
        }
        _ => {}
    }
}

fn check_surface(
    body: &Body,
    motion: Motion,
    surface: &Surface,
    options: &EngineOptions,
    out: &mut Vec<Diagnostic>,
) {
    let name = &body.name;
    let mut remark = |text: String| out.push(Diagnostic::remark("realised", text));
    if surface.mu() != surface.mu2() {
        remark(format!(
            "link `{name}`: friction {} and {} by direction becomes {} in every direction",
            surface.mu(),
            surface.mu2(),
            0.5 * (surface.mu() + surface.mu2())
        ));
    }
    let words = asked_of_contacts(surface);
    if !words.is_empty() {
        remark(format!("link `{name}`: {} left out", words.join(", ")));
    }
    if motion == Motion::Dynamic && surface.restitution() > 0.0 {
        remark(format!(
            "link `{name}`: restitution {} is set, but Bullet brakes what comes near before it \
             touches; in steps of {} s little of the bounce may be left",
            surface.restitution(),
            options.step.secs()
        ));
    }
}

fn check_joint(model: &Model, joint: &Joint) -> Vec<Diagnostic> {
    let name = &joint.name;
    let mut out = Vec::new();
    match &joint.kind {
        JointKind::Screw { .. } => {
            let message = format!("joint `{name}`: screw as a piston tied by forces");
            out.push(Diagnostic::remark("realised", message));
        }
        JointKind::Universal(first, second)
            if first.direction.dot(second.direction).abs() > RIGHT_ANGLE =>
        {
            let message = format!(
                "joint `{name}`: Bullet wants the axes of a universal joint at a right angle"
            );
            out.push(Diagnostic::error("engine-cannot", message).help("`--engine rapier` can"));
        }
        _ => {}
    }
    for dof in model.dofs_of(joint) {
        if dof.mimic.is_some() {
            let message = format!("joint `{}`: mimic as a force", dof.name);
            out.push(Diagnostic::remark("realised", message));
        }
    }
    out
}
