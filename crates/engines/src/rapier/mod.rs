//! `rapier`: the embedded engine. Pure Rust, always there, the same bytes on every machine.
//!
//! ```text
//! Model ─ start ─► bodies, colliders (shapes.rs), joints (joints.rs) of rapier's own
//! efforts ─ drive.rs ─► forces ─ step ─► State: rigids, contacts (contacts.rs)
//! ```
//!
//! One rapier body per rigid, in the rigid's own frame. Nothing ever sleeps: a body that
//! rests and one that was put to rest by a heuristic look alike in a recording.
//!
//! It uses one thread whatever is offered. Rapier's `parallel` feature gives the same bytes,
//! but with it one falling ball took more than twice as long a step, and a hundred boxes
//! gained nothing from a second core (both timed once, by hand).

mod contacts;
mod drive;
mod joints;
pub(crate) mod shapes;

use std::time::Duration;

use headland_base::{Diagnostic, Mat3, Quat, SimDuration, Transform, Vec3};
use headland_sim::lever::rotor_inertias;
use headland_sim::{
    Engine, EngineEntry, EngineOptions, Fault, Found, Housing, Inputs, Model, Motion, Rigid, State,
    TouchFilter,
};
use headland_world::Twist;
use headland_world::inertia::principal;
use rapier3d_f64::prelude as rp;

/// How help pages list it.
pub const ENTRY: EngineEntry = EngineEntry {
    name: "rapier",
    summary: "embedded; impulse-based contacts and joints, double precision, always there",
    housing: Housing::Embedded,
    source: "",
    preparation: Duration::ZERO,
    find: |_| Ok(Found { version: VERSION.to_string(), place: "part of headland".to_string() }),
    limits: &[
        "friction is the same in every direction: the mean of mu and mu2",
        "a moving mesh touches as a convex hull of at most 1,030 points, an ellipsoid of 642",
        "a universal joint is two hinges with a light cross between them",
        "contact stiffness and damping (kp, kd, soft_cfm, soft_erp) are rapier's own",
        "links on joints turn without the gyroscopic torque ω × I·ω; free bodies have it",
        "the armature of a turning axis is added to its child, that of a sliding one is left out",
        "springs, dampers and servos that are stiff for the step and the link give in a little",
        "slip, torsional friction, friction directions and bounce thresholds are left out",
    ],
    install: "nothing to install: it is part of headland",
    make: |_| Box::new(Rapier::default()),
};

/// The version Cargo.lock holds; a test compares the two.
pub const VERSION: &str = "0.36.1";

/// What `--raw` means here.
const RAW: &str = "raw: rapier's own averages of friction and restitution, its friction of 0.5 \
                   where the world says none, its solver settings, its sleeping";

/// Steps rapier makes inside one of ours: its own default. With one, a screw's thread
/// slips and a universal joint's cross bends; with eight nothing measured here improves.
const N_SUBSTEPS: usize = 4;

/// How stiff a contact between two moving bodies is \[Hz\]; with the ground, twice that.
/// At rapier's 30 Hz a stack of ten boxes sinks by 26 mm, at 120 Hz by 1.6 mm.
const CONTACT_HERTZ: f64 = 120.0;

/// The embedded engine.
#[derive(Default)]
pub struct Rapier {
    world: Option<Built>,
}

/// Rapier's own picture of a model.
struct Built {
    physics: rp::PhysicsWorld,
    /// One per rigid of the model.
    handles: Vec<rp::RigidBodyHandle>,
    drive: drive::Drive,
    filter: PairFilter,
    raw: bool,
}

impl Engine for Rapier {
    fn check(&self, model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
        let mut out = Vec::new();
        if options.raw {
            out.push(Diagnostic::remark("realised", RAW));
        }
        out.extend(model.massless());
        out.extend(model.rigids.iter().filter_map(|rigid| too_heavy(model, rigid)));
        out.extend(shapes::check(model, options.raw));
        out.extend(joints::check(model));
        out
    }

    fn shortens_steps(&self) -> bool {
        true
    }

    fn start(
        &mut self,
        model: &Model,
        state: &State,
        options: &EngineOptions,
    ) -> Result<(), Fault> {
        let mut physics = rp::PhysicsWorld { gravity: model.world.gravity, ..Default::default() };
        let rotors = rotor_inertias(model);
        let inertias: Vec<Mat3> =
            model.rigids.iter().zip(rotors).map(|(rigid, rotor)| rigid.inertia + rotor).collect();
        let mut handles = Vec::with_capacity(model.rigids.len());
        let mut is_jointed = vec![false; model.rigids.len()];
        for joint in &model.joints {
            is_jointed[joint.child_rigid] = true;
            joint.parent_rigid.into_iter().for_each(|i| is_jointed[i] = true);
        }
        for (i, (rigid, now)) in model.rigids.iter().zip(&state.rigids).enumerate() {
            let mut body =
                body_of(rigid, inertias[i], now.world_from_rigid, now.twist, options.raw);
            // With rapier's gyroscopic torque on links, four public robots were tried and all
            // went non-finite within two seconds; without it three of them stay whole.
            body.enable_gyroscopic_forces(options.raw || !is_jointed[i]);
            handles.push(physics.insert_body(body));
        }
        for (body_idx, body) in model.bodies.iter().enumerate() {
            let is_fixed = model.rigids[body.rigid_idx].motion == Motion::Static;
            for shape in &body.shapes {
                let place = body.rigid_from_body;
                for collider in shapes::colliders(shape, place, body_idx, is_fixed, options.raw) {
                    physics.insert_collider(collider, Some(handles[body.rigid_idx]));
                }
            }
        }
        if !options.raw {
            weigh(model, state, &mut physics, &handles);
        }
        let inserted = joints::insert(model, state, &mut physics, &handles);
        let drive = drive::Drive::of(model, inertias, inserted);
        self.world = Some(Built {
            physics,
            handles,
            drive,
            filter: PairFilter(TouchFilter::of(model)),
            raw: options.raw,
        });
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        let Built { physics, handles, drive, filter, raw } =
            self.world.as_mut().expect("start comes first");
        match raw {
            true => physics.integration_parameters.dt = dt.secs(),
            false => tune(&mut physics.integration_parameters, dt.secs()),
        }
        for (i, rigid) in model.rigids.iter().enumerate() {
            if rigid.motion == Motion::Kinematic {
                let now = &state.rigids[i];
                let velocity = centre_velocity(rigid, now.world_from_rigid, now.twist);
                physics.bodies[handles[i]].set_linvel(velocity, true);
            }
        }
        drive.apply(model, inputs, dt.secs(), state, physics, handles);
        physics.step_with_events(filter, &());
        for (i, rigid) in model.rigids.iter().enumerate() {
            if rigid.motion != Motion::Static {
                let body = &physics.bodies[handles[i]];
                let now = &mut state.rigids[i];
                now.world_from_rigid = Transform::new(*body.rotation(), body.translation());
                now.twist = origin_twist(body);
                now.is_contained |= !body.is_enabled();
            }
        }
        if !inputs.skips_contacts {
            contacts::read(physics, dt.secs() / N_SUBSTEPS as f64, dt.secs(), &mut state.contacts);
        }
        Ok(())
    }
}

/// Rapier takes an inverse below 1e-20 for zero: such a body would hang in the air.
fn too_heavy(model: &Model, rigid: &Rigid) -> Option<Diagnostic> {
    let name = &model.bodies[rigid.body_idxs[0]].name;
    let heaviest =
        rigid.inertia.to_cols_array().iter().fold(rigid.mass, |most, x| most.max(x.abs()));
    (rigid.motion == Motion::Dynamic && heaviest > 1e18).then(|| {
        let message =
            format!("link `{name}`: rapier takes a mass or inertia of {heaviest:e} for infinite");
        Diagnostic::error("too-heavy", message).help("give masses in kg and inertias in kg·m²")
    })
}

/// What differs from rapier's defaults, which are made for games at 60 Hz.
///
/// Tried and left: the friction model `Coulomb`, one cone per contact point, lets a box
/// slide 7.5 % too far down a slope; the default, one cone per four points, is right to
/// 0.1 %. The allowed overlap makes no difference between 5 mm and 10 µm.
fn tune(parameters: &mut rp::IntegrationParameters, dt: f64) {
    parameters.dt = dt;
    parameters.min_ccd_dt = dt / 100.0;
    parameters.num_solver_iterations = N_SUBSTEPS;
    // The default clamps every speed to 400 m/s without a word.
    parameters.normalized_max_linear_velocity = f64::MAX;
    // A contact stiffer than a quarter of the substep rate rings; at 60 Hz this is rapier's
    // own default.
    let hertz_static = (2.0 * CONTACT_HERTZ).min(0.25 * N_SUBSTEPS as f64 / dt);
    parameters.contact_softness.natural_frequency = 0.5 * hertz_static;
    parameters.static_contact_softness.natural_frequency = hertz_static;
    // Contacts are computed afresh, not carried along with an approximate motion.
    parameters.contact_recycling = false;
    parameters.contact_clustering = false;
    // Contact points are solved one after another, so an impact leaves a box with a little
    // spin that the next pass takes away again. With friction in that pass only, which is
    // rapier's default, it sees the spin as slip and shoves with the whole impact: cubes
    // dropped flat drifted by up to 12 cm. With friction in both passes, 0.2 mm; and a stack
    // of twenty creeps less, not more.
    parameters.friction_in_bias_pass = true;
}

fn body_of(
    rigid: &Rigid,
    inertia: Mat3,
    world_from_rigid: Transform,
    twist: Twist,
    raw: bool,
) -> rp::RigidBody {
    let kind = match rigid.motion {
        Motion::Static => rp::RigidBodyType::Fixed,
        Motion::Kinematic => rp::RigidBodyType::KinematicVelocityBased,
        Motion::Dynamic => rp::RigidBodyType::Dynamic,
    };
    let mass = mass_of(rigid.centre, rigid.mass, inertia);
    rp::RigidBodyBuilder::new(kind)
        .pose(pose(world_from_rigid))
        .additional_mass_properties(mass)
        .linvel(centre_velocity(rigid, world_from_rigid, twist))
        .angvel(twist.angular)
        .gravity_scale(if rigid.gravity { 1.0 } else { 0.0 })
        .linear_damping(rigid.velocity_decay.0)
        .angular_damping(rigid.velocity_decay.1)
        .allow_fast_rotation(!raw)
        .can_sleep(raw)
        .build()
}

/// A mass with an inertia about its centre. Rapier would look for the principal axes by
/// formulas that want the smallest moment to be the only one of its size, and none much below
/// 1e-5 kg·m²: a disc about x turned by half its moment. So they are found here.
fn mass_of(centre: Vec3, mass: f64, inertia: Mat3) -> rp::MassProperties {
    let (moments, axes) = principal(&inertia);
    let moments = Vec3::from_array(moments.map(|moment| moment.max(0.0)));
    let frame = Quat::from_mat3(&axes).normalize();
    rp::MassProperties::with_principal_inertia_frame(centre, mass, moments, frame)
}

/// Lets rapier take in its bodies and colliders, and then gives bodies their masses alone.
///
/// Rapier adds up what colliders weigh, which is nothing here, and looks for principal axes
/// again on the way; see [`mass_of`]. It does so in the first step after a collider is put in,
/// so a step is made in which nothing moves or touches.
fn weigh(
    model: &Model,
    state: &State,
    physics: &mut rp::PhysicsWorld,
    handles: &[rp::RigidBodyHandle],
) {
    struct Nothing;
    impl rp::PhysicsHooks for Nothing {
        fn filter_contact_pair(&self, _: &rp::PairFilterContext) -> Option<rp::SolverFlags> {
            None
        }
    }
    for handle in handles {
        physics.bodies[*handle].set_linvel(Vec3::ZERO, false);
        physics.bodies[*handle].set_angvel(Vec3::ZERO, false);
    }
    let gravity = std::mem::replace(&mut physics.gravity, Vec3::ZERO);
    physics.step_with_events(&Nothing, &());
    physics.gravity = gravity;
    let none = rp::ColliderSet::new();
    for ((rigid, now), handle) in model.rigids.iter().zip(&state.rigids).zip(handles) {
        let body = &mut physics.bodies[*handle];
        if rigid.motion != Motion::Static {
            body.set_position(pose(now.world_from_rigid), false);
            body.recompute_mass_properties_from_colliders(&none);
            body.set_linvel(centre_velocity(rigid, now.world_from_rigid, now.twist), true);
            body.set_angvel(now.twist.angular, true);
        }
    }
}

/// Rapier's velocities are those of the centre of mass, ours of the frame's origin.
fn centre_velocity(rigid: &Rigid, world_from_rigid: Transform, twist: Twist) -> Vec3 {
    twist.linear + twist.angular.cross(world_from_rigid.vector(rigid.centre))
}

fn origin_twist(body: &rp::RigidBody) -> Twist {
    let to_origin = body.translation() - body.center_of_mass();
    Twist { linear: body.linvel() + body.angvel().cross(to_origin), angular: body.angvel() }
}

/// A transform in rapier's own type.
fn pose(transform: Transform) -> rp::Pose {
    rp::Pose::from_parts(transform.translation, transform.rotation)
}

/// Rapier asks this of every pair of colliders.
struct PairFilter(TouchFilter);

impl rp::PhysicsHooks for PairFilter {
    fn filter_contact_pair(&self, context: &rp::PairFilterContext) -> Option<rp::SolverFlags> {
        let index = |handle: rp::ColliderHandle| context.colliders[handle].user_data as usize;
        let (i, j) = (index(context.collider1), index(context.collider2));
        self.0.may_touch(i, j).then_some(rp::SolverFlags::COMPUTE_RIGID_IMPULSES)
    }
}
