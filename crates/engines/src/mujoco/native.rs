//! A user's own MJCF file, run by MuJoCo as MuJoCo reads it.
//!
//! ```text
//! file ─ passed.rs ─► libmujoco ─► its own model ─ roster.rs ─► which of its bodies is which link
//! orders, efforts, wrenches ─ orders.rs ─► controls, forces ─ mj_step ─► State: rigids, contacts
//! ```
//!
//! Includes, defaults, assets, options, tendons, equalities and actuators are the file's; only
//! the step is ours. Headland's own reading of the file gives links and joints their names
//! and recordings their shapes.

use std::fmt::Write as _;
use std::path::Path;

use headland_base::maths::angle_between;
use headland_base::{Diagnostic, SimDuration, Transform, Vec3};
use headland_sim::joint::{joint_motion, velocity_at};
use headland_sim::{EngineOptions, Fault, Inputs, Model, Motion, RigidState, State};
use headland_world::{Format, JointKind, Twist};

use super::contacts::Touches;
use super::library::{Library, Sim};
use super::orders::Orders;
use super::passed::pass;
use super::printed::{Printed, touching_bodies};
use super::roster::{Carrier, Roster, Whereabouts, body_name};
use super::{mjcf, pose_of, whole};

/// How far apart the two readings of a file may have a link at the start \[m and rad\].
const SAME_PLACE: f64 = 1e-6;

/// The file that MuJoCo is to load itself, where a model has one and it is asked for.
pub(super) fn file_of<'a>(model: &'a Model, options: &EngineOptions) -> Option<&'a Path> {
    let file = model.file.as_ref().filter(|file| file.format == Format::Mjcf)?;
    options.raw.then_some(file.path.as_path())
}

/// The name of a file without its folder, which is another on every machine.
pub(super) fn shown(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// MuJoCo's own model of a file, and who is who in it.
pub(super) struct Native {
    sim: Sim<'static>,
    roster: Roster,
    orders: Orders,
    touches: Touches,
    positions: Vec<f64>,
    velocities: Vec<f64>,
    step: SimDuration,
}

/// What MuJoCo makes of a file, before a run.
pub(super) fn check(
    file: &Path,
    model: &Model,
    options: &EngineOptions,
    library: &'static Library,
) -> Vec<Diagnostic> {
    let remark = |message: String| Diagnostic::remark("realised", message);
    let mut sim = match load(file, &settings(options), library) {
        Ok(sim) => sim,
        Err(why) => {
            let message = format!("mujoco refuses `{}`: {why}", shown(file));
            return vec![
                Diagnostic::error("engine-cannot", message)
                    .help("mend the file, or run headland's translation of it, without --raw"),
            ];
        }
    };
    let roster = match Roster::of(model, &mut sim) {
        Ok(roster) => roster,
        Err(found) => return found,
    };
    let step = options.step.secs();
    let own_step = model.world.physics.step.secs();
    let of_step = if options.step == model.world.physics.step {
        format!("its step is {step} s")
    } else {
        format!("the step is {step} s instead of the file's {own_step} s")
    };
    let mut out = vec![remark(format!(
        "mujoco loads `{}` itself: everything is as the file and MuJoCo have it; {of_step}",
        shown(file)
    ))];
    out.extend(elsewhere(model, &sim, &roster).map(remark));
    if !can_sense(&sim) {
        out.push(remark(format!(
            "contacts are read from what MuJoCo {} prints about itself, which takes time: {}",
            library.version(),
            if library.reads_sensors() {
                "bodies of the file have no name"
            } else {
                "from 3.5 on it has sensors for them"
            }
        )));
    }
    if library.needs_force_actuators() {
        out.push(remark(format!(
            "MuJoCo {} has no function that hands commands and forces to a file of its own; 2.3.7 \
             has",
            library.version()
        )));
    }
    out
}

/// Links that MuJoCo has somewhere else than headland's reader, before time starts.
fn elsewhere(model: &Model, sim: &Sim<'_>, roster: &Roster) -> Option<String> {
    let state = State::initial(model);
    let far = roster.rigids.iter().enumerate().filter_map(|(i, place)| {
        let Whereabouts::Body(body) = *place else { return None };
        let (theirs, ours) = (pose_of(sim.pose(body)), state.rigids[i].world_from_rigid);
        let gap = (theirs.translation - ours.translation).length();
        let turn = angle_between(theirs.rotation, ours.rotation);
        let name = &model.bodies[model.rigids[i].body_idxs[0]].name;
        (gap > SAME_PLACE || turn > SAME_PLACE)
            .then(|| format!("`{name}` by {gap:.3e} m and {turn:.3e} rad"))
    });
    let far: Vec<String> = far.collect();
    let shown = far.iter().take(6).cloned().collect::<Vec<_>>().join(", ");
    let more = if far.len() > 6 { ", …" } else { "" };
    (!far.is_empty()).then(|| {
        format!("MuJoCo starts links elsewhere than headland's reader has them: {shown}{more}")
    })
}

/// What is put at the end of the file: MuJoCo lets a later word overrule an earlier one.
fn settings(options: &EngineOptions) -> String {
    format!("<option timestep=\"{}\"/>\n", options.step.secs())
}

fn load(file: &Path, added: &str, library: &'static Library) -> Result<Sim<'static>, String> {
    let passed = pass(file, added)?;
    // What MuJoCo says of a file in our folder is true of the user's.
    let folder = passed.folder().to_string_lossy().into_owned();
    Sim::from_file(library, &passed.file).map_err(|why| why.replace(&folder, ""))
}

/// Whether every body that touches can have a sensor for its contacts: it takes a name.
fn can_sense(sim: &Sim<'_>) -> bool {
    let Some(counts) = sim.counts().filter(|_| sim.library().reads_sensors()) else {
        return false;
    };
    let mut nameless = (0..counts.n_bodies).filter(|id| body_name(sim, *id).is_none()).peekable();
    if nameless.peek().is_none() {
        return true;
    }
    let touching = touching_bodies(sim).unwrap_or_default();
    !touching.is_empty() && nameless.all(|id| !touching.contains(&id))
}

/// A sensor for the contacts of every body that belongs to a link one can see or touch: its
/// words, and whose it is, by what name, and how many contacts it holds. What headland's
/// reader takes for mere looks may touch by a `<pair>`.
fn sensors(model: &Model, sim: &Sim<'_>, roster: &Roster) -> (String, Vec<(usize, String, usize)>) {
    let motion = |body_idx: usize| model.rigids[model.bodies[body_idx].rigid_idx].motion;
    let links = model.world.links();
    let is_bare =
        |i: usize| links[i].link.collisions.is_empty() && links[i].link.visuals.is_empty();
    let touching = roster.link_of_body.iter().filter(|(_, i)| !is_bare(**i));
    let n_moving = touching.clone().filter(|(_, i)| motion(**i) != Motion::Static).count();
    let (mut words, mut out) = (String::new(), Vec::new());
    for (&id, &body_idx) in touching.filter(|_| n_moving > 0) {
        let Some(body) = body_name(sim, id) else { continue };
        let n = mjcf::n_touches(motion(body_idx) == Motion::Static, n_moving);
        let name = format!("headland touch {id}");
        let _ = writeln!(words, "{}", mjcf::touch_sensor(&name, &body, n));
        out.push((body_idx, name, n));
    }
    let words = if out.is_empty() { words } else { format!("<sensor>\n{words}</sensor>\n") };
    (words, out)
}

impl Native {
    /// Loads the file and puts everything where it starts.
    pub(super) fn start(
        file: &Path,
        model: &Model,
        options: &EngineOptions,
        library: &'static Library,
    ) -> Result<Native, Fault> {
        let fault = |why: String| Fault(format!("mujoco refuses `{}`: {why}", shown(file)));
        let mut sim = load(file, &settings(options), library).map_err(fault)?;
        let roster = Roster::of(model, &mut sim)
            .map_err(|found| Fault(found.first().map_or(String::new(), |d| d.message.clone())))?;
        let touches = if can_sense(&sim) {
            let (words, sensors) = sensors(model, &sim, &roster);
            if !words.is_empty() {
                sim =
                    load(file, &format!("{}{words}", settings(options)), library).map_err(fault)?;
            }
            Touches::sensed(&sim, &sensors)?
        } else {
            Touches::Printed(Printed::of_bodies(&sim, &roster.link_of_body)?)
        };
        let counts = sim.counts().unwrap_or_default();
        let orders = Orders::of(model, &sim, &roster);
        whole()?;
        Ok(Native {
            sim,
            roster,
            orders,
            touches,
            positions: vec![0.0; counts.n_positions],
            velocities: vec![0.0; counts.n_velocities],
            step: options.step,
        })
    }

    /// One step of MuJoCo's, whatever its integrator.
    pub(super) fn step(
        &mut self,
        model: &Model,
        inputs: &Inputs,
        dt: SimDuration,
        state: &mut State,
    ) -> Result<(), Fault> {
        assert_eq!(dt, self.step, "the step is the same from beginning to end");
        let applied = self.orders.act(model, inputs, state, &self.sim, &self.roster)?;
        self.sim.apply(applied);
        self.sim.step();
        whole()?;
        if !inputs.skips_contacts {
            self.touches.read(&mut self.sim, &mut state.contacts)?;
        }
        self.sim.place();
        if self.roster.has_carriers {
            self.sim.read_motion(&mut self.positions, &mut self.velocities);
        }
        for (i, place) in self.roster.rigids.iter().enumerate() {
            match place {
                Whereabouts::Still => {}
                Whereabouts::Body(body) => {
                    let frame = pose_of(self.sim.pose(*body));
                    let [wx, wy, wz, vx, vy, vz] = self.sim.velocity(*body);
                    let now = &mut state.rigids[i];
                    now.world_from_rigid = frame;
                    now.twist =
                        Twist { linear: Vec3::new(vx, vy, vz), angular: Vec3::new(wx, wy, wz) };
                }
                Whereabouts::Between(_) => {}
            }
        }
        // Between two joints of one body: after all that MuJoCo knows, from the inside out.
        for (i, place) in self.roster.rigids.iter().enumerate() {
            if let Whereabouts::Between(carrier) = place {
                let position = self.positions[carrier.position_at] - carrier.reference;
                let speed = self.velocities[carrier.velocity_at];
                carry(model, carrier, position, speed, i, &mut state.rigids);
            }
        }
        Ok(())
    }
}

/// Places a link that stands between two joints of one body of MuJoCo's.
fn carry(
    model: &Model,
    carrier: &Carrier,
    position: f64,
    speed: f64,
    rigid_idx: usize,
    rigids: &mut [RigidState],
) {
    let joint = &model.joints[carrier.joint_idx];
    let still = (Transform::IDENTITY, Twist::default());
    let (world_from_parent, twist) =
        joint.parent_rigid.map_or(still, |i| (rigids[i].world_from_rigid, rigids[i].twist));
    let world_from_joint = world_from_parent * joint.parent_from_joint;
    let world_from_rigid = world_from_joint
        * joint_motion(&joint.kind, &[position])
        * joint.child_from_joint.inverse();
    let at = |point: Vec3| velocity_at(twist, world_from_parent.translation, point);
    let now = &mut rigids[rigid_idx];
    now.world_from_rigid = world_from_rigid;
    let origin = world_from_rigid.translation;
    now.twist = match &joint.kind {
        JointKind::Prismatic(axis) => {
            let along = world_from_joint.vector(axis.direction) * speed;
            Twist { linear: at(origin) + along, angular: twist.angular }
        }
        JointKind::Revolute(axis) | JointKind::Continuous(axis) => {
            let angular = twist.angular + world_from_joint.vector(axis.direction) * speed;
            let anchor = world_from_joint.translation;
            Twist { linear: at(anchor) + angular.cross(origin - anchor), angular }
        }
        _ => unreachable!("refused when the file was loaded"),
    };
}
