//! `bullet`: the rigid bodies of Bullet, in double precision, through a shim of ours.
//!
//! ```text
//! shim.cpp ─ workshop.rs, compile.rs ─► a library in the cache ─ shim.rs ─► its functions
//! Model ─ start ─► bodies, shapes.rs, joints.rs
//! efforts, ties ─ drive.rs ─► forces, axis targets ─ step ─► State: rigids, contacts
//! ```
//!
//! Bullet is C++ and Debian has no C face for it, so a small one is compiled on first use.
//! What is asked and what is set for it stands in one place, `realise.rs`.
//!
//! One Bullet body per rigid that moves, at its centre of mass and along its principal axes;
//! one per shape of what stands still. One step of Bullet's per step of ours.

mod compile;
mod drive;
mod joints;
mod realise;
mod shapes;
mod shim;
mod workshop;

use std::cell::OnceCell;

use headland_base::{Diagnostic, Mat3, Quat, SimDuration, Transform, Vec3};
use headland_sim::{
    Contact, Engine, EngineEntry, EngineOptions, Fault, Found, Housing, Inputs, Model, Motion,
    Rigid, RigidState, State,
};
use headland_world::Twist;
use headland_world::inertia::principal;

use drive::Drive;
use realise::Surfaces;
use shim::{BodyDef, ContactPoint, Shim, World, pose};
use workshop::{Surroundings, Workshop};

/// How help pages list it.
pub const ENTRY: EngineEntry = EngineEntry {
    name: "bullet",
    summary: "impulse-based contacts and joints in double precision, through a shim compiled on \
              first use",
    housing: Housing::Library,
    source: "",
    preparation: compile::LIMIT,
    find: |_| {
        Workshop::find(&Surroundings::of_this_process()).map(|workshop| Found {
            version: workshop.version_text(),
            place: format!("{}, with {}", workshop.include.display(), workshop.compiler.join(" ")),
        })
    },
    limits: &[
        "a bounce is lost at small steps: Bullet brakes what comes near before it touches",
        "friction is the same in every direction: the mean of mu and mu2",
        "a screw is a piston, and a mimic a joint, tied by forces",
        "the axes of a universal joint are at right angles",
        "planes and heightmaps must stand still",
        "a moving mesh touches as a convex hull of at most 1,030 points, 0.1 mm larger",
        "a body turns by at most 45° in a step",
        "contact stiffness and damping (kp, kd, soft_cfm, soft_erp) are Bullet's own",
        "slip, torsional friction, friction directions and bounce thresholds are left out",
    ],
    install: "apt-get install g++ libbullet-dev",
    make: |entry| Box::new(Bullet { entry: *entry, shim: OnceCell::new(), built: None }),
};

/// Bullet behind our trait.
struct Bullet {
    entry: EngineEntry,
    shim: OnceCell<&'static Shim>,
    built: Option<Built>,
}

/// Bullet's own picture of a model.
struct Built {
    world: World<Surfaces>,
    /// One per rigid of the model.
    seats: Vec<Seat>,
    drive: Drive,
    /// Thirteen numbers per body of Bullet's.
    out: Vec<f64>,
}

/// Where Bullet has a rigid.
struct Seat {
    /// Nothing for what stands still.
    body_idx: Option<usize>,
    /// Its centre of mass and principal axes.
    rigid_from_body: Transform,
    /// It was taken out of the motion.
    is_removed: bool,
}

impl Bullet {
    fn shim(&self) -> Result<&'static Shim, Diagnostic> {
        if let Some(shim) = self.shim.get() {
            return Ok(shim);
        }
        let workshop = Workshop::find(&Surroundings::of_this_process())
            .map_err(|unusable| self.entry.missing(&unusable.why))?;
        let shim = Shim::get(&workshop)?;
        Ok(self.shim.get_or_init(|| shim))
    }
}

impl Engine for Bullet {
    fn check(&self, model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
        let mut out: Vec<Diagnostic> = self.shim().err().into_iter().collect();
        out.extend(realise::check(model, options));
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
        let shim = self.shim().map_err(|diagnostic| Fault(diagnostic.message))?;
        let settings = realise::settings(model.world.gravity, options);
        let mut world = World::new(shim, settings, Surfaces::of(model))?;
        let rotors = headland_sim::lever::rotor_inertias(model);
        let inertias: Vec<Mat3> =
            model.rigids.iter().zip(rotors).map(|(rigid, rotor)| rigid.inertia + rotor).collect();
        let first_shapes = first_shapes(model);
        let mut seats = Vec::with_capacity(model.rigids.len());
        let mut n_bodies = 0;
        for (i, (rigid, now)) in model.rigids.iter().zip(&state.rigids).enumerate() {
            let builder = Builder { model, options, first_shapes: &first_shapes, rigid };
            let seat = if rigid.motion == Motion::Static {
                n_bodies += builder.stand(&mut world, now.world_from_rigid)?;
                Seat { body_idx: None, rigid_from_body: Transform::IDENTITY, is_removed: false }
            } else {
                n_bodies += 1;
                builder.seat(&mut world, now, inertias[i])?
            };
            seats.push(seat);
        }
        joints::insert(model, &seats, &mut world)?;
        let drive = Drive::of(model, inertias, n_bodies);
        self.built = Some(Built { world, seats, drive, out: vec![0.0; 13 * n_bodies] });
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        let Built { world, seats, drive, out } = self.built.as_mut().expect("start comes first");
        for (seat, now) in seats.iter_mut().zip(&state.rigids) {
            if let Some(body_idx) = seat.body_idx
                && now.is_contained
                && !std::mem::replace(&mut seat.is_removed, true)
            {
                world.remove(body_idx)?;
            }
        }
        drive.aim(model, inputs, dt.secs(), state, seats);
        world.step(dt.secs(), &drive.flat_forces, &drive.aims, out)?;
        for (i, (seat, now)) in seats.iter().zip(&mut state.rigids).enumerate() {
            if let Some(body_idx) = seat.body_idx
                && !seat.is_removed
            {
                let numbers = &out[13 * body_idx..13 * (body_idx + 1)];
                read(&model.rigids[i], seat, numbers, now);
            }
        }
        let contacts = world.contacts().iter();
        state.contacts.clear();
        state.contacts.extend(contacts.filter_map(|point| contact(world.pairs(), point)));
        // Points of one pair keep Bullet's order, which is the same in every run.
        state.contacts.sort_by_key(|contact| (contact.body_a, contact.body_b));
        Ok(())
    }
}

/// The index of each body's first shape; shapes are counted through the whole model.
fn first_shapes(model: &Model) -> Vec<usize> {
    let mut n = 0;
    let mut first = |body: &headland_sim::Body| {
        n += body.shapes.len();
        n - body.shapes.len()
    };
    model.bodies.iter().map(&mut first).collect()
}

/// Makes the bodies of one rigid.
struct Builder<'a> {
    model: &'a Model,
    options: &'a EngineOptions,
    first_shapes: &'a [usize],
    rigid: &'a Rigid,
}

impl Builder<'_> {
    /// What stands still: a body for every shape. How many.
    fn stand(
        &self,
        world: &mut World<Surfaces>,
        world_from_rigid: Transform,
    ) -> Result<usize, Fault> {
        let mut n = 0;
        for &body_idx in &self.rigid.body_idxs {
            let body = &self.model.bodies[body_idx];
            for (i, shape) in body.shapes.iter().enumerate() {
                let at = body.rigid_from_body * shape.body_from_shape;
                let shape_idx = self.first_shapes[body_idx] + i;
                shapes::insert(world, shape_idx, shape, Motion::Static, at)?;
                let (friction, restitution) = realise::of_body(std::iter::once(shape));
                let pose = pose(world_from_rigid);
                world.body(&BodyDef { pose, friction, restitution, ..BodyDef::default() })?;
                n += 1;
            }
        }
        Ok(n)
    }

    /// What moves: one body at its centre of mass, along its principal axes. What moves by
    /// itself alone has no use for those, and turns about its own frame.
    fn seat(
        &self,
        world: &mut World<Surfaces>,
        now: &RigidState,
        inertia: Mat3,
    ) -> Result<Seat, Fault> {
        let (rigid, model) = (self.rigid, self.model);
        let is_dynamic = rigid.motion == Motion::Dynamic;
        let (moments, axes) = principal(&inertia);
        let rigid_from_body = if is_dynamic {
            Transform::new(Quat::from_mat3(&axes).normalize(), rigid.centre)
        } else {
            Transform::IDENTITY
        };
        let body_from_rigid = rigid_from_body.inverse();
        for &body_idx in &rigid.body_idxs {
            let body = &model.bodies[body_idx];
            for (i, shape) in body.shapes.iter().enumerate() {
                let at = body_from_rigid * (body.rigid_from_body * shape.body_from_shape);
                shapes::insert(world, self.first_shapes[body_idx] + i, shape, rigid.motion, at)?;
            }
        }
        let shapes = rigid.body_idxs.iter().flat_map(|&i| &model.bodies[i].shapes);
        let (friction, restitution) = realise::of_body(shapes);
        let arm = now.world_from_rigid.vector(rigid_from_body.translation);
        let linear = now.twist.linear + now.twist.angular.cross(arm);
        let mut twist = [0.0; 6];
        twist[..3].copy_from_slice(&linear.to_array());
        twist[3..].copy_from_slice(&now.twist.angular.to_array());
        let gravity = if rigid.gravity { model.world.gravity } else { Vec3::ZERO };
        let body_idx = world.body(&BodyDef {
            pose: pose(now.world_from_rigid * rigid_from_body),
            twist,
            inertia: moments,
            gravity: gravity.to_array(),
            mass: rigid.mass,
            damping: realise::damping(rigid, self.options),
            friction,
            restitution,
            motion: if is_dynamic { 2 } else { 1 },
        })?;
        Ok(Seat { body_idx: Some(body_idx), rigid_from_body, is_removed: false })
    }
}

/// Bullet's pose and velocity are those of the centre of mass, ours of the frame's origin.
fn read(rigid: &Rigid, seat: &Seat, numbers: &[f64], now: &mut RigidState) {
    let vector = |i: usize| Vec3::new(numbers[i], numbers[i + 1], numbers[i + 2]);
    if rigid.motion == Motion::Kinematic {
        // Its velocity is its own.
        now.world_from_rigid = Transform::new(quat(numbers), vector(0));
        return;
    }
    let world_from_body = Transform::new(quat(numbers), vector(0));
    let world_from_rigid = world_from_body * seat.rigid_from_body.inverse();
    let (velocity, omega) = (vector(7), vector(10));
    let arm = world_from_rigid.vector(seat.rigid_from_body.translation);
    now.world_from_rigid = world_from_rigid;
    now.twist = Twist { linear: velocity - omega.cross(arm), angular: omega };
}

fn quat(numbers: &[f64]) -> Quat {
    Quat::from_xyzw(numbers[3], numbers[4], numbers[5], numbers[6])
}

/// A contact in the house's one form.
fn contact(surfaces: &Surfaces, point: &ContactPoint) -> Option<Contact> {
    let body = |shape: i32| surfaces.body_of(usize::try_from(shape).ok()?);
    let (a, b) = (body(point.shape_a)?, body(point.shape_b)?);
    let vector = |v: [f64; 3]| Vec3::from_array(v);
    // Bullet's normal, and the force we read, are those on the first.
    let sign = if a <= b { -1.0 } else { 1.0 };
    Some(Contact {
        body_a: a.min(b),
        body_b: a.max(b),
        position: vector(point.position),
        normal: vector(point.normal) * sign,
        depth: point.depth,
        force: vector(point.force) * sign,
    })
}
