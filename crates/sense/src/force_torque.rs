//! Force and torque through a joint, whatever engine holds it.
//!
//! The joint is cut in thought. On what hangs at its child side act gravity, contacts and the
//! joint, and nothing else; so what the joint transmits is what the others leave open (Newton and
//! Euler):
//!
//! ```text
//! F = dP/dt − Σ m·g − Σ f            P = Σ m·v
//! τ = dL/dt − Σ (r − o)×m·g − Σ (p − o)×f     L = Σ (r − o)×m·v + I·ω,   about the joint's origin o
//! ```
//!
//! Changes are those over the last step, divided by it, so the load is the mean over that step;
//! before the first there is none. Masses are those of the links, so that a fixed joint, which no
//! engine ever sees, is measured as well.
//!
//! What hangs at the child side must hang there alone: where it also reaches the parent or the
//! world another way, the load is shared in a way that poses do not tell, and the sensor is
//! refused.
//!
//! Deliberately absent: forces that are neither gravity, contacts nor joints, such as
//! `<velocity_decay>` and pushes by controllers; rotors that `headland:armature` stands for.

use headland_base::{Mat3, Quat, Seed, Transform, Vec3};
use headland_record::messages::{Header, Kind as Message, Wrench, WrenchStamped, encode};
use headland_sim::sensor::LastStep;
use headland_sim::{Look, Model, Motion, RigidState};
use headland_world::{World, join_scope};

use crate::axes::{AxisChannels, AxisNoise};
use crate::declare::element::Element;
use crate::declare::{JointSite, Kind, On, Site};
use crate::mounted::{Measure, Mount, Since};

/// `<sensor type="force_torque">`.
pub const KIND: Kind =
    Kind { words: &["force_torque"], on: On::Joint, elements: &["force_torque"], read };

/// Along whose axes the load is told.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Along {
    Child,
    Parent,
    Sensor,
}

struct ForceTorque {
    mount: Mount,
    /// The joint's origin, in the child's rigid.
    rigid_from_joint: Transform,
    along: Along,
    /// The body along whose axes it is told; none is the world, or the sensor's own.
    body: Option<usize>,
    frame_id: String,
    /// What the parent does to the child, or the other way round.
    sign: f64,
    parts: Vec<Part>,
    /// Which bodies are at the child side.
    is_part: Vec<bool>,
    has_shapes: bool,
    noise: [AxisNoise; 2],
    channels: Option<[AxisChannels; 2]>,
    since: Since,
}

/// A body at the child side.
struct Part {
    rigid_idx: usize,
    mass: f64,
    /// Of its mass, in its rigid.
    centre: Vec3,
    /// About the centre, in its rigid.
    inertia: Mat3,
    gravity: bool,
}

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let joint = site.joint.as_ref().expect("it is declared on joints alone");
    let settings = element.child("force_torque");
    let along = [("child", Along::Child), ("parent", Along::Parent), ("sensor", Along::Sensor)];
    let ways = [("child_to_parent", -1.0), ("parent_to_child", 1.0)];
    let (mut told_along, mut sign, mut noise) = (Along::Child, -1.0, Default::default());
    if let Some(settings) = settings {
        settings.only(&["force", "frame", "measure_direction", "torque"]);
        told_along = settings.word("frame", &along);
        sign = settings.word("measure_direction", &ways);
        noise = ["force", "torque"]
            .map(|what| settings.child(what).map(AxisNoise::read).unwrap_or_default());
    }
    let model = site.model;
    let is_part = match child_side(model, joint) {
        Ok(is_part) => is_part,
        Err(why) => {
            let help = "measure at a joint that alone carries what hangs at its child";
            element.fault(why, Some(help.to_string()));
            return None;
        }
    };
    let body = match told_along {
        Along::Child => Some(joint.child),
        Along::Parent => joint.parent,
        Along::Sensor => None,
    };
    let frame_id = match (told_along, body) {
        (Along::Sensor, _) => site.mount.frame_id.clone(),
        (_, Some(body)) => model.bodies[body].name.replace("::", "/"),
        (_, None) => "world".to_string(),
    };
    let child = &model.bodies[joint.child];
    Some(Box::new(ForceTorque {
        mount: site.mount.clone(),
        rigid_from_joint: child.rigid_from_body * joint.child_from_joint,
        along: told_along,
        body,
        frame_id,
        sign,
        parts: parts(model, &is_part),
        has_shapes: (0..is_part.len()).any(|i| is_part[i] && !model.bodies[i].shapes.is_empty()),
        is_part,
        noise,
        channels: None,
        since: Since::default(),
    }))
}

/// Which bodies hang at the child of a joint, or why that cannot be said.
fn child_side(model: &Model, joint: &JointSite) -> Result<Vec<bool>, String> {
    let n = model.bodies.len();
    let mut neighbours = vec![Vec::new(); n + 1]; // the last is the world
    for (name, parent, child) in joint_ends(&model.world) {
        let parent = parent.unwrap_or(n);
        if name != joint.name {
            neighbours[parent].push(child);
            neighbours[child].push(parent);
        }
    }
    let links = model.world.links();
    let is_held = |body: usize| {
        links[body].is_static
            || model.rigids[model.bodies[body].rigid_idx].motion == Motion::Kinematic
    };
    let (mut is_part, mut open) = (vec![false; n], vec![joint.child]);
    is_part[joint.child] = true;
    while let Some(body) = open.pop() {
        let name = &model.bodies[body].name;
        if is_held(body) {
            return Err(format!("`{name}` at its child side is held by the world"));
        }
        for next in &neighbours[body] {
            if Some(*next) == joint.parent {
                return Err(format!("`{name}` reaches its parent another way: a closed loop"));
            }
            if *next == n {
                return Err(format!(
                    "`{name}` at its child side is fixed to the world another way"
                ));
            }
            if !std::mem::replace(&mut is_part[*next], true) {
                open.push(*next);
            }
        }
    }
    Ok(is_part)
}

/// Every joint with the bodies it connects.
fn joint_ends(world: &World) -> Vec<(String, Option<usize>, usize)> {
    let links = world.links();
    let find = |scope: &str, name: &str| {
        let whole = join_scope(scope, name);
        links.iter().position(|link| link.name == whole)
    };
    let joints = world.joints().into_iter().filter_map(|placed| {
        let child = find(&placed.scope, &placed.joint.child)?;
        let parent = placed.joint.parent.as_ref().and_then(|name| find(&placed.scope, name));
        Some((placed.name, parent, child))
    });
    joints.collect()
}

fn parts(model: &Model, is_part: &[bool]) -> Vec<Part> {
    let links = model.world.links();
    let part = |i: usize| {
        let (body, inertial) = (&model.bodies[i], &links[i].link.inertial);
        let rigid_from_inertial = body.rigid_from_body * inertial.link_from_inertial;
        let turn = Mat3::from_quat(rigid_from_inertial.rotation);
        Part {
            rigid_idx: body.rigid_idx,
            mass: inertial.mass,
            centre: rigid_from_inertial.translation,
            inertia: turn * inertial.inertia * turn.transpose(),
            gravity: links[i].link.gravity,
        }
    };
    (0..is_part.len()).filter(|i| is_part[*i]).map(part).collect()
}

impl ForceTorque {
    /// Momentum and angular momentum of the child side about a point.
    fn momenta(&self, rigids: &[RigidState], about: Vec3) -> (Vec3, Vec3) {
        let of = |part: &Part| {
            let RigidState { world_from_rigid, twist, .. } = &rigids[part.rigid_idx];
            let arm = world_from_rigid.vector(part.centre);
            let linear = (twist.linear + twist.angular.cross(arm)) * part.mass;
            let turn = world_from_rigid.rotation;
            let spin = turn * (part.inertia * (turn.conjugate() * twist.angular));
            (linear, (world_from_rigid.translation + arm - about).cross(linear) + spin)
        };
        let parts = self.parts.iter().map(of);
        parts.fold((Vec3::ZERO, Vec3::ZERO), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    /// What the parent does to the child, in the world's axes: force, and torque about the
    /// joint's origin.
    fn load(&self, look: &Look<'_>, last: &LastStep<'_>) -> (Vec3, Vec3) {
        let (now, before) = (&look.state.rigids, last.rigids);
        let origin_of = |rigids: &[RigidState]| {
            (rigids[self.mount.rigid_idx].world_from_rigid * self.rigid_from_joint).translation
        };
        let origin = (origin_of(now) + origin_of(before)) * 0.5;
        let (after, earlier) = (self.momenta(now, origin), self.momenta(before, origin));
        let per_sec = 1.0 / last.step.secs();
        let mut force = (after.0 - earlier.0) * per_sec;
        let mut torque = (after.1 - earlier.1) * per_sec;
        for part in self.parts.iter().filter(|part| part.gravity) {
            let centre =
                |rigids: &[RigidState]| rigids[part.rigid_idx].world_from_rigid.point(part.centre);
            let weight = look.model.world.gravity * part.mass;
            let middle = (centre(now) + centre(before)) * 0.5;
            force -= weight;
            torque -= (middle - origin).cross(weight);
        }
        for contact in &look.state.contacts {
            let push = match (self.is_part[contact.body_a], self.is_part[contact.body_b]) {
                (true, false) => -contact.force,
                (false, true) => contact.force,
                _ => continue,
            };
            force -= push;
            torque -= (contact.position - origin).cross(push);
        }
        (force, torque)
    }

    fn world_from_told(&self, look: &Look<'_>) -> Quat {
        let rigids = &look.state.rigids;
        match (self.along, self.body) {
            (Along::Sensor, _) => self.mount.world_from_sensor(rigids).rotation,
            (_, None) => Quat::IDENTITY,
            (_, Some(body)) => {
                let body = &look.model.bodies[body];
                (rigids[body.rigid_idx].world_from_rigid * body.rigid_from_body).rotation
            }
        }
    }
}

impl Measure for ForceTorque {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::WrenchStamped)]
    }

    fn needs_contacts(&self) -> bool {
        self.has_shapes
    }

    fn start(&mut self, _: &Model, seed: &Seed) {
        let [force, torque] = &self.noise;
        let channels =
            (force.channels(&seed.child("force")), torque.channels(&seed.child("torque")));
        self.channels = Some(channels.into());
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let Some(last) = &look.last_step else { return };
        let dt_secs = self.since.secs(look.state.time);
        let (force, torque) = self.load(look, last);
        let told_from_world = self.world_from_told(look).conjugate();
        let [force, torque] = [force, torque].map(|v| told_from_world * (v * self.sign));
        let channels = self.channels.as_mut().expect("started before it is asked");
        let [force_channel, torque_channel] = channels;
        let wrench = Wrench {
            force: force_channel.value(force, dt_secs).into(),
            torque: torque_channel.value(torque, dt_secs).into(),
        };
        let header = Header::new(look.state.time, &self.frame_id);
        say(0, encode(&WrenchStamped { header, wrench }));
    }
}
