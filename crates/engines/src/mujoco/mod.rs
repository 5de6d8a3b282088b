//! `mujoco`: MuJoCo from 2.2.2 to 4.0, whichever is installed.
//!
//! ```text
//! Model, State ─ mjcf.rs ─► MJCF ─ libmujoco ─► its own model and data
//! efforts, wrenches ─ drive.rs ─► applied forces ─ step ─► State: rigids, contacts
//! ```
//!
//! With `raw`, a world that was read from an MJCF file takes another road: MuJoCo loads that
//! file itself (native.rs).
//!
//! The library is loaded at run time (find.rs, library.rs) and called by functions only; what
//! is asked of it and what it makes of that is one table, in realise.rs.
//!
//! A step here is the second half of one of MuJoCo's and the first half of the next, which is
//! the same work as its `mj_step` and leaves poses and velocities of the same moment.

mod contacts;
mod drive;
mod find;
mod library;
mod mjcf;
mod native;
mod orders;
mod passed;
mod printed;
mod realise;
mod roster;
mod shapes;
mod tree;

use std::time::Duration;

use headland_base::{Diagnostic, Mat3, Quat, SimDuration, Transform, Vec3};
use headland_sim::{
    Engine, EngineEntry, EngineOptions, Fault, Found, Housing, Inputs, Model, Motion, State,
};
use headland_world::{JointKind, Twist};

use contacts::Touches;
use drive::Drive;
use library::{BodyId, Library, Sim, take_warning};
use native::Native;

/// How help pages list it.
pub const ENTRY: EngineEntry = EngineEntry {
    name: "mujoco",
    summary: "library; generalised coordinates, soft convex contacts, double precision",
    housing: Housing::Library,
    source: "",
    preparation: Duration::ZERO,
    find: |_| {
        let library = Library::get()?;
        Ok(Found {
            version: library.version().to_string(),
            place: library.place().display().to_string(),
        })
    },
    limits: &[
        "restitution is a spring and a damper: an impact lasts 16 steps, returns e ± 0.04 of the speed, by where in a step it begins, and sinks in meanwhile; up to 0.05 it is 0",
        "friction is the same in every direction: the mean of mu and mu2, at most 1,000",
        "a moving mesh touches as its convex hull, a still one as thin slabs, or as its hull above 5,000 triangles",
        "an inertia whose greatest moment is above the sum of the others is refused",
        "a plane or a heightmap cannot move",
        "a kinematic link weighs 10⁴ times all others and is put right after every step; it cannot be before 2.3.7",
        "a loop can be closed by a ball joint, or by a hinge without limits, friction and armature",
        "slip, torsional friction, friction directions, contact stiffness and bounce thresholds are left out",
        "of a moving link 24 contact points are recorded, of a still one 8 per moving link",
        "an MJCF file is loaded as it is with --raw; without, what headland's reader leaves out is not there",
        "before 3.5 reading contacts is slow, before 2.3.7 stiff servos are not implicit",
    ],
    install: "pip install mujoco, or apt-get install libmujoco-dev; HEADLAND_MUJOCO may name the file",
    make: |entry| Box::new(MuJoCo { entry: *entry, built: None, native: None }),
};

/// The MJCF that MuJoCo is given for a model at its start, or why there is no MuJoCo. Files
/// of heights, which it names, are not part of it.
pub fn mjcf_of(model: &Model, options: &EngineOptions) -> Result<String, String> {
    let library = Library::get().map_err(|unusable| unusable.why)?;
    Ok(mjcf::write(model, &State::initial(model), options, library).text)
}

/// The engine.
pub struct MuJoCo {
    entry: EngineEntry,
    built: Option<Built>,
    /// Instead, where MuJoCo loads the file itself.
    native: Option<Native>,
}

/// MuJoCo's own picture of a model.
struct Built {
    sim: Sim<'static>,
    /// One per rigid of the model.
    bodies: Vec<BodyId>,
    /// Of each rigid, where the frame of its body is in it.
    offsets: Vec<Vec3>,
    drive: Drive,
    led: Led,
    touches: Touches,
    step: SimDuration,
}

impl Engine for MuJoCo {
    fn check(&self, model: &Model, options: &EngineOptions) -> Vec<Diagnostic> {
        let library = match Library::get() {
            Ok(library) => library,
            Err(unusable) => return vec![self.entry.missing(&unusable.why)],
        };
        if let Some(file) = native::file_of(model, options) {
            return native::check(file, model, options, library);
        }
        let mut out = cannot(model, library);
        if out.is_empty() {
            let written = mjcf::write(model, &State::initial(model), options, library);
            if let Err(why) = Sim::from_text(library, &written.text, &written.files) {
                out.push(
                    Diagnostic::error("engine-cannot", format!("mujoco refuses this world: {why}"))
                        .help("run it on another engine, or change what it names"),
                );
            }
        }
        out.extend(realise::remarks(model, options, library));
        out
    }

    fn start(
        &mut self,
        model: &Model,
        state: &State,
        options: &EngineOptions,
    ) -> Result<(), Fault> {
        let library = Library::get().map_err(|unusable| Fault(unusable.why))?;
        if let Some(file) = native::file_of(model, options) {
            self.native = Some(Native::start(file, model, options, library)?);
            return Ok(());
        }
        let written = mjcf::write(model, state, options, library);
        let mut sim = Sim::sensing(library, &written.text, &written.files)
            .map_err(|why| Fault(format!("mujoco: {why}")))?;
        let body = |body_idx: usize| {
            let name = &model.bodies[body_idx].name;
            sim.body(name).ok_or_else(|| Fault(format!("mujoco lost link `{name}`")))
        };
        let bodies = model.rigids.iter().map(|rigid| body(rigid.body_idxs[0]));
        let bodies = bodies.collect::<Result<Vec<BodyId>, Fault>>()?;
        let touches = Touches::of(&sim, &written)?;
        let drive = Drive::of(model, options, library, &written, &bodies);
        let led = Led::of(model, state, &written);
        sim.reset_to_key();
        sim.step1();
        whole()?;
        let (offsets, step) = (written.offsets, options.step);
        self.built = Some(Built { sim, bodies, offsets, drive, led, touches, step });
        Ok(())
    }

    fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        if let Some(native) = &mut self.native {
            return native.step(model, inputs, dt, state);
        }
        let built = self.built.as_mut().expect("start comes first");
        assert_eq!(dt, built.step, "the step is the same from beginning to end");
        let Built { sim, bodies, offsets, drive, led, touches, .. } = built;
        let applied = drive.act(model, inputs, state);
        sim.apply(applied);
        sim.step2(applied);
        whole()?;
        if !inputs.skips_contacts {
            touches.read(sim, &mut state.contacts)?;
        }
        led.put_right(sim, dt.secs());
        sim.step1();
        whole()?;
        for (i, rigid) in model.rigids.iter().enumerate() {
            if rigid.motion != Motion::Static {
                let now = &mut state.rigids[i];
                let frame = pose_of(sim.pose(bodies[i]));
                let to_origin = frame.vector(-offsets[i]);
                let [wx, wy, wz, vx, vy, vz] = sim.velocity(bodies[i]);
                let angular = Vec3::new(wx, wy, wz);
                let linear = Vec3::new(vx, vy, vz) + angular.cross(to_origin);
                now.world_from_rigid =
                    Transform::new(frame.rotation, frame.translation + to_origin);
                now.twist = Twist { linear, angular };
            }
        }
        Ok(())
    }
}

/// What moves as told: a straight line and a constant spin, of its centre of mass.
struct Led {
    rigids: Vec<LedRigid>,
    positions: Vec<f64>,
    velocities: Vec<f64>,
    n_steps: u64,
}

struct LedRigid {
    /// Where its positions and velocities begin among MuJoCo's.
    at: (usize, usize),
    start: Vec3,
    linear: Vec3,
    /// In its own frame, where it is constant.
    angular: Vec3,
}

impl Led {
    fn of(model: &Model, state: &State, written: &mjcf::Written) -> Led {
        let rigids = model.rigids.iter().enumerate().filter_map(|(i, rigid)| {
            let at = written.floats_at[i].filter(|_| rigid.motion == Motion::Kinematic)?;
            let now = &state.rigids[i];
            let arm = now.world_from_rigid.vector(rigid.centre);
            Some(LedRigid {
                at,
                start: now.world_from_rigid.translation + arm,
                linear: now.twist.linear + now.twist.angular.cross(arm),
                angular: now.world_from_rigid.rotation.conjugate() * now.twist.angular,
            })
        });
        Led {
            rigids: rigids.collect(),
            positions: vec![0.0; written.n_positions],
            velocities: vec![0.0; written.n_velocities],
            n_steps: 0,
        }
    }

    /// Undoes what a step has done to them.
    fn put_right(&mut self, sim: &mut Sim<'_>, dt: f64) {
        self.n_steps += 1;
        if self.rigids.is_empty() {
            return;
        }
        let t = self.n_steps as f64 * dt;
        let rigids = &self.rigids;
        sim.change_motion(&mut self.positions, &mut self.velocities, |positions, velocities| {
            for rigid in rigids {
                let (p, v) = rigid.at;
                let place = rigid.start + rigid.linear * t;
                positions[p..p + 3].copy_from_slice(&place.to_array());
                velocities[v..v + 3].copy_from_slice(&rigid.linear.to_array());
                velocities[v + 3..v + 6].copy_from_slice(&rigid.angular.to_array());
            }
        });
    }
}

/// A warning in a step means that MuJoCo went back to the start, or left something out.
fn whole() -> Result<(), Fault> {
    take_warning().map_or(Ok(()), |words| Err(Fault(format!("mujoco: {words}"))))
}

fn pose_of((position, turn): ([f64; 3], [f64; 9])) -> Transform {
    // MuJoCo's matrices go row by row.
    let matrix = Mat3::from_cols_array(&turn).transpose();
    Transform::new(Quat::from_mat3(&matrix), Vec3::from_array(position))
}

/// What MuJoCo cannot move at all, before it is asked.
fn cannot(model: &Model, library: &Library) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for rigid in model.rigids.iter().filter(|rigid| rigid.motion == Motion::Kinematic) {
        if library.needs_force_actuators() {
            let name = &model.bodies[rigid.body_idxs[0]].name;
            let message = format!(
                "link `{name}` moves as told, which MuJoCo {} has no function for",
                library.version()
            );
            out.push(Diagnostic::error("engine-cannot", message).help("use MuJoCo 2.3.7 or newer"));
        }
    }
    out.extend(model.massless());
    for joint_idx in tree::Forest::of(model).closing {
        if !tree::can_close(model, joint_idx) {
            let joint = &model.joints[joint_idx];
            let what = match joint.kind {
                JointKind::Revolute(_) | JointKind::Continuous(_) => {
                    "a hinge with limits, friction, armature or a mimic"
                }
                _ => joint.kind.word(),
            };
            let message = format!(
                "joint `{}` closes a loop, and mujoco cannot close one with {what}",
                joint.name
            );
            out.push(
                Diagnostic::error("engine-cannot", message)
                    .help("let a plain hinge or a ball joint be one joint of the loop"),
            );
        }
    }
    out
}
