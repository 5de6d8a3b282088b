//! `ode`: the Open Dynamics Engine, a C library that is opened when it is there.
//!
//! ```text
//! Model ─ start ─► bodies, shapes (shapes.rs), joints (joints.rs) of ODE's own
//! efforts ─ drive.rs ─► forces ─┐
//! shapes ─ contacts.rs ─► joints ┴─ step ─► State: rigids, contacts
//! ```
//!
//! One ODE body per rigid, at its centre of mass, turned as the rigid is. What never moves has
//! no body. `realise.rs` says what becomes of what is asked; `ffi.rs` is the library itself.
//!
//! Of all files under this one: the unsafe calls are sound because every handle is one ODE made
//! for this engine's world, which is destroyed last and by nobody else, and because whoever
//! calls has the turn.

#![allow(unsafe_code, reason = "a C library")]

mod contacts;
mod drive;
mod ffi;
mod joints;
mod messages;
mod realise;
mod shapes;

use std::time::Duration;

use headland_base::{Diagnostic, Mat3, Quat, SimDuration, Transform, Vec3};
use headland_sim::lever::rotor_inertias;
use headland_sim::{
    Engine, EngineEntry, EngineOptions, Fault, Found, Housing, Inputs, Model, Motion, Rigid, State,
    TouchFilter,
};
use headland_world::{OdeSolver, Twist};

use contacts::Contacts;
use drive::Drive;
use ffi::{Api, Handle, Turn};
use joints::Joints;
use realise::Settings;
use shapes::{Missing, Store, wxyz};

/// How help pages list it.
pub const ENTRY: EngineEntry = EngineEntry {
    name: "ode",
    summary: "the Open Dynamics Engine; constraints with friction pyramids, double precision",
    housing: Housing::Library,
    source: "",
    preparation: Duration::ZERO,
    find: |_| {
        let api = ffi::api()?;
        Ok(Found { version: ffi::version(api), place: api.place.display().to_string() })
    },
    limits: &[
        "friction is a pyramid: between its directions it is up to √2 stronger",
        "meshes, heightmaps, cones, ellipsoids and polylines touch as triangles, which ODE keeps \
         in single precision",
        "a plane cannot move",
        "the axes of a universal joint are at right angles",
        "a screw is a piston, and a mimic a joint, tied by forces",
        "the armature of a turning axis is added to its child, that of a sliding one is left out",
        "the quick solver creeps; `world` loses stacks of fifteen boxes, and says so",
    ],
    install: "apt-get install libode8   (or name the library in HEADLAND_ODE)",
    make: |entry| Box::new(Ode { entry: *entry, built: None, remarks: Vec::new() }),
};

/// `dSAP_AXES_XYZ`: in which order bounds are compared.
const X_THEN_Y_THEN_Z: i32 = 1 << 2 | 2 << 4;

/// Beyond this \[m/s or rad/s\] a body counts as non-finite: ODE ends the process once a rotation
/// overflows, and one that is out of hand gets there within steps.
const FASTEST: f64 = 1e12;

/// The engine.
pub struct Ode {
    entry: EngineEntry,
    built: Option<Built>,
    /// What ODE said in the last step.
    remarks: Vec<String>,
}

/// ODE's own picture of a model.
struct Built {
    api: &'static Api,
    world: Handle,
    space: Handle,
    group: Handle,
    /// One per rigid of the model; null for what never moves.
    bodies: Vec<Handle>,
    /// Rigids that went non-finite and were taken out of the motion.
    is_out: Vec<bool>,
    /// Boxed: ODE is given its address.
    contacts: Box<Contacts>,
    joints: Joints,
    drive: Drive,
    store: Store,
    settings: Settings,
    /// Of the quick solver, which shuffles its rows. ODE has one for all worlds.
    seed: std::ffi::c_ulong,
    heard: messages::Counts,
}

impl Engine for Ode {
    fn check(&self, model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
        let missing = match ffi::api().and_then(|api| Ok((api, Turn::of(api)?))) {
            Ok((api, _turn)) => Missing::of(api),
            Err(unusable) => return vec![self.entry.missing(&unusable.why)],
        };
        let mut out = model.massless();
        for rigid in model.rigids.iter().filter(|rigid| rigid.motion == Motion::Dynamic) {
            out.extend(check_inertia(model, rigid));
        }
        out.extend(realise::check(model, options.raw));
        out.extend(shapes::check(model, &missing));
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
        let api = ffi::api().map_err(|unusable| Fault(unusable.why))?;
        self.built = None;
        let _turn = Turn::of(api).map_err(Fault)?;
        messages::Counts::clear();
        // SAFETY: see the head of this file.
        self.built =
            Some(unsafe { build(api, model, state, options, Missing::of(api)) }.map_err(Fault)?);
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        let built = self.built.as_mut().expect("start comes first");
        let _turn = Turn::of(built.api).map_err(Fault)?;
        // SAFETY: see the head of this file.
        let done = unsafe { built.step(model, inputs, dt.secs(), state) };
        self.remarks.extend(built.heard.take());
        done
    }

    fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }
}

impl Built {
    unsafe fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: f64,
        state: &mut State,
    ) -> Result<(), Fault> {
        let (api, bodies) = (self.api, &self.bodies);
        // SAFETY: see the head of this file.
        unsafe {
            for (i, rigid) in model.rigids.iter().enumerate() {
                if state.rigids[i].is_contained && !self.is_out[i] {
                    self.is_out[i] = true;
                    take_out(api, bodies[i], rigid, &state.rigids[i].world_from_rigid);
                } else if rigid.motion == Motion::Kinematic {
                    set_motion(
                        api,
                        bodies[i],
                        rigid,
                        &state.rigids[i].world_from_rigid,
                        state.rigids[i].twist,
                    );
                }
            }
            self.joints.count(api, state);
            self.drive.apply(api, self.world, bodies, &mut self.joints, model, inputs, dt, state);
            self.contacts.find(self.space, dt);
            (api.dRandSetSeed)(self.seed);
            let (done, name) = match self.settings.solver {
                OdeSolver::Quick => ((api.dWorldQuickStep)(self.world, dt), "dWorldQuickStep"),
                OdeSolver::World => ((api.dWorldStep)(self.world, dt), "dWorldStep"),
            };
            self.seed = (api.dRandGetSeed)();
            if done == 0 {
                return Err(Fault(format!("ODE's {name} had no memory for the step")));
            }
            if !inputs.skips_contacts {
                self.contacts.read(&mut state.contacts);
            }
            self.contacts.forget();
            for (i, rigid) in model.rigids.iter().enumerate() {
                if !bodies[i].is_null() && !self.is_out[i] {
                    let (place, twist) = read_motion(api, bodies[i], rigid);
                    let now = &mut state.rigids[i];
                    (now.world_from_rigid, now.twist) = (place, twist);
                    if !(twist.linear.length() < FASTEST && twist.angular.length() < FASTEST) {
                        now.twist.linear = Vec3::NAN; // the run loop contains it
                    }
                }
            }
        }
        for &i in &self.drive.torn {
            state.rigids[i].twist.linear = Vec3::NAN;
        }
        Ok(())
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        let Ok(_turn) = Turn::of(self.api) else { return };
        // SAFETY: shapes before the triangles they are made of, joints before the world.
        unsafe {
            for stand_in in self.contacts.touches().iter().filter_map(|touch| touch.stand_in) {
                (self.api.dGeomDestroy)(stand_in);
            }
            (self.api.dJointGroupDestroy)(self.group);
            (self.api.dSpaceDestroy)(self.space);
            (self.api.dWorldDestroy)(self.world);
            self.store.destroy(self.api);
        }
    }
}

unsafe fn build(
    api: &'static Api,
    model: &Model,
    state: &State,
    options: &EngineOptions,
    missing: Missing,
) -> Result<Built, String> {
    let settings = Settings::of(model, options.raw);
    let none = std::ptr::null_mut();
    // SAFETY: see the head of this file.
    unsafe {
        let world = (api.dWorldCreate)();
        let g = model.world.gravity;
        (api.dWorldSetGravity)(world, g.x, g.y, g.z);
        (api.dWorldSetERP)(world, settings.erp);
        (api.dWorldSetCFM)(world, settings.cfm);
        (api.dWorldSetContactMaxCorrectingVel)(world, settings.max_correction_speed);
        (api.dWorldSetContactSurfaceLayer)(world, settings.surface_layer);
        (api.dWorldSetQuickStepNumIterations)(world, settings.n_iterations as i32);
        (api.dWorldSetQuickStepW)(world, settings.over_relaxation);
        (api.dWorldSetAutoDisableFlag)(world, 0);
        // Its other spaces cannot: the hashed one ends the process for what is far away.
        let space = (api.dSweepAndPruneSpaceCreate)(none, X_THEN_Y_THEN_Z);
        let group = (api.dJointGroupCreate)(0);
        let rotors = rotor_inertias(model);
        let inertias: Vec<Mat3> =
            model.rigids.iter().zip(rotors).map(|(rigid, rotor)| rigid.inertia + rotor).collect();
        let bodies: Vec<Handle> = model
            .rigids
            .iter()
            .enumerate()
            .map(|(i, rigid)| match rigid.motion {
                Motion::Static => none,
                _ => {
                    let now = &state.rigids[i];
                    let place = &now.world_from_rigid;
                    let body = make_body(api, world, rigid, inertias[i], &settings, options);
                    put_at(api, body, rigid, place);
                    set_motion(api, body, rigid, place, now.twist);
                    body
                }
            })
            .collect();
        let mut store = Store::default();
        let touches = shapes::insert(api, space, model, &bodies, &missing, &mut store)?;
        let joints = joints::insert(api, world, model, state, &bodies, settings.stop_erp);
        let filter = TouchFilter::of(model);
        let contacts = Contacts::new(api, world, group, touches, missing, filter, settings);
        Ok(Built {
            api,
            world,
            space,
            group,
            is_out: vec![false; bodies.len()],
            bodies,
            contacts: Box::new(contacts),
            joints,
            drive: Drive::of(model, inertias),
            store,
            settings,
            seed: 0,
            heard: messages::Counts::default(),
        })
    }
}

unsafe fn make_body(
    api: &Api,
    world: Handle,
    rigid: &Rigid,
    inertia: Mat3,
    settings: &Settings,
    options: &EngineOptions,
) -> Handle {
    // SAFETY: see the head of this file.
    unsafe {
        let body = (api.dBodyCreate)(world);
        (api.dBodySetGravityMode)(body, i32::from(rigid.gravity));
        (api.dBodySetFiniteRotationMode)(body, i32::from(settings.finite_rotation));
        if rigid.motion == Motion::Kinematic {
            (api.dBodySetKinematic)(body);
            return body;
        }
        (api.dBodySetMass)(body, &mass_of(rigid.mass, inertia));
        let (linear, angular) = rigid.velocity_decay;
        if !options.raw {
            let dt = options.step.secs();
            (api.dBodySetLinearDamping)(body, realise::decay_per_step(linear, dt));
            (api.dBodySetAngularDamping)(body, realise::decay_per_step(angular, dt));
            // ODE leaves what is slow undamped, unless told not to.
            (api.dBodySetLinearDampingThreshold)(body, 0.0);
            (api.dBodySetAngularDampingThreshold)(body, 0.0);
        }
        body
    }
}

fn mass_of(mass: f64, inertia: Mat3) -> ffi::Mass {
    let mut rows = [0.0; 12];
    for (i, row) in rows.chunks_exact_mut(4).enumerate() {
        row[..3].copy_from_slice(&inertia.row(i).to_array());
    }
    ffi::Mass { mass, centre: [0.0; 4], inertia: rows }
}

/// ODE's bodies are where their centres of mass are.
unsafe fn put_at(api: &Api, body: Handle, rigid: &Rigid, world_from_rigid: &Transform) {
    let centre = world_from_rigid.point(rigid.centre);
    let turn = wxyz(world_from_rigid.rotation);
    // SAFETY: see the head of this file.
    unsafe {
        (api.dBodySetPosition)(body, centre.x, centre.y, centre.z);
        (api.dBodySetQuaternion)(body, turn.as_ptr());
    }
}

/// ODE's velocities are those of the centre of mass, ours of the frame's origin.
unsafe fn set_motion(
    api: &Api,
    body: Handle,
    rigid: &Rigid,
    world_from_rigid: &Transform,
    twist: Twist,
) {
    let omega = twist.angular;
    let v = twist.linear + omega.cross(world_from_rigid.vector(rigid.centre));
    // SAFETY: see the head of this file.
    unsafe {
        (api.dBodySetLinearVel)(body, v.x, v.y, v.z);
        (api.dBodySetAngularVel)(body, omega.x, omega.y, omega.z);
    }
}

unsafe fn read_motion(api: &Api, body: Handle, rigid: &Rigid) -> (Transform, Twist) {
    // SAFETY: ODE answers with addresses of three and four numbers of the body's.
    let (p, q, v, w) = unsafe {
        let three = |at: *const f64| Vec3::new(*at, *at.add(1), *at.add(2));
        let q = (api.dBodyGetQuaternion)(body);
        let turn = Quat::from_xyzw(*q.add(1), *q.add(2), *q.add(3), *q);
        (
            three((api.dBodyGetPosition)(body)),
            turn,
            three((api.dBodyGetLinearVel)(body)),
            three((api.dBodyGetAngularVel)(body)),
        )
    };
    let arm = q * rigid.centre; // from the frame's origin to the centre of mass
    (Transform::new(q, p - arm), Twist { linear: v - w.cross(arm), angular: w })
}

/// Holds a body that went non-finite where it was last sound. ODE wakes what is only disabled.
unsafe fn take_out(api: &Api, body: Handle, rigid: &Rigid, world_from_rigid: &Transform) {
    if body.is_null() {
        return;
    }
    // SAFETY: see the head of this file.
    unsafe {
        (api.dBodySetKinematic)(body);
        put_at(api, body, rigid, world_from_rigid);
        set_motion(api, body, rigid, world_from_rigid, Twist::default());
    }
}

/// ODE inverts the inertia. What has no mass is told already.
fn check_inertia(model: &Model, rigid: &Rigid) -> Option<Diagnostic> {
    let name = &model.bodies[rigid.body_idxs[0]].name;
    if rigid.mass <= 0.0 {
        return None;
    }
    let columns = rigid.inertia;
    let (a, b) = (columns.x_axis, columns.y_axis);
    let is_definite = a.x > 0.0 && a.x * b.y - a.y * b.x > 0.0 && rigid.inertia.determinant() > 0.0;
    (!is_definite).then(|| {
        let message =
            format!("link `{name}`: ODE needs an inertia that is positive about every axis");
        Diagnostic::error("engine-cannot", message).help("give it a full <inertia>")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_world::{
        Collision, Geometry, Inertial, Link, Model as WorldModel, Surface, World,
    };

    fn thing(name: &str, z: f64, is_static: bool, geometry: Geometry) -> WorldModel {
        let collision = Collision {
            name: "shape".into(),
            link_from_shape: Transform::IDENTITY,
            geometry,
            surface: Surface::default(),
        };
        let inertial = Inertial {
            mass: 1.0,
            inertia: Mat3::from_diagonal(Vec3::splat(0.02)),
            ..Inertial::default()
        };
        let link = Link {
            name: "link".into(),
            inertial,
            collisions: vec![collision],
            gravity: true,
            ..Link::default()
        };
        WorldModel {
            name: name.into(),
            parent_from_model: Transform::from_translation(Vec3::Z * z),
            is_static,
            links: vec![link],
            ..WorldModel::default()
        }
    }

    /// An ODE without a collider for a cylinder on a cylinder, or a capsule on one: a prism
    /// stands in, and what lies on top rests there within 2 mm.
    #[test]
    fn a_prism_stands_in_where_ode_has_no_collider() {
        let Ok(api) = ffi::api() else { return }; // `tests/ode.rs` says so
        let below = Geometry::Cylinder { radius: 0.3, length: 0.4 };
        for (above, rest) in [
            (Geometry::Cylinder { radius: 0.2, length: 0.4 }, 0.4),
            (Geometry::Capsule { radius: 0.2, length: 0.2 }, 0.5),
        ] {
            let models =
                vec![thing("below", 0.0, true, below.clone()), thing("above", rest, false, above)];
            let world = World { models, ..World::default() };
            let model = Model::compile(&std::sync::Arc::new(world)).expect("compiles");
            let step = SimDuration::from_secs(1e-3).expect("a millisecond");
            let mut state = State::initial(&model);
            let mut built = {
                let _turn = Turn::of(api).expect("a turn");
                let missing = Missing::without_libccd();
                let notes = shapes::check(&model, &missing);
                assert!(notes[0].message.contains("touches as a prism of 64 sides"), "{notes:?}");
                // SAFETY: see the head of this file.
                unsafe { build(api, &model, &state, &EngineOptions::new(step), missing) }
                    .expect("builds")
            };
            for _ in 0..300 {
                let _turn = Turn::of(api).expect("a turn");
                // SAFETY: see the head of this file.
                unsafe { built.step(&model, &Inputs::default(), step.secs(), &mut state) }
                    .expect("a step");
            }
            let z = state.rigids[1].world_from_rigid.translation.z;
            assert!((z - rest).abs() < 2e-3 && !state.contacts.is_empty(), "{z} of {rest}");
            let pull: f64 = state.contacts.iter().map(|contact| contact.force.z).sum();
            assert!((pull - 9.8).abs() < 0.1, "{pull} N carry it");
        }
    }
}
