//! Joint encoders: positions in whole counts.
//!
//! ```xml
//! <joint …><sensor name="encoder" type="headland:encoder"><update_rate>100</update_rate>
//!   <headland:encoder><counts_per_turn>4096</counts_per_turn></headland:encoder>
//! </sensor></joint>
//! ```
//!
//! On a joint it reads that joint; on a link those that `<joint>` elements name, or all of the
//! robot. A count is completed before it is read: the position said is the largest multiple of
//! the resolution that is not above the true one, and at most one count below it. The velocity
//! is the difference to the position said before over the time between, as a driver computes it.
//!
//! `<form>toggle</form>` is the plainest encoder there is, and the odometer of many field robots:
//! one bit that flips with every count and knows no direction. It is said as a position of 0 or
//! 1, without a velocity; flips between two looks are not seen.
//!
//! Deliberately absent: the index pulse, and counts that are lost at high speed.

use headland_base::maths::TAU;
use headland_base::{Seed, names};
use headland_record::messages::{Header, JointState, Kind as Message, encode};
use headland_sim::{Look, Model};
use headland_world::JointKind;

use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Since};
use crate::noise::{Channel, Noise};

/// `<sensor type="headland:encoder">`.
pub const KIND: Kind =
    Kind { words: &["headland:encoder"], on: On::Both, elements: &["headland:encoder"], read };

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Counts,
    Toggle,
}

struct Encoder {
    frame_id: String,
    form: Form,
    axes: Vec<Axis>,
    noise: Noise,
    since: Since,
}

struct Axis {
    dof_idx: usize,
    name: String,
    /// \[rad or m\]; 0 for any number.
    resolution: f64,
    channel: Option<Channel>,
    /// The position said before.
    before: Option<f64>,
}

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let settings = element.child("headland:encoder");
    if let Some(settings) = settings {
        settings.only(&["counts_per_turn", "form", "joint", "noise", "resolution"]);
    }
    let dof_idxs = dofs(element, settings, site)?;
    let form = [("counts", Form::Counts), ("toggle", Form::Toggle)];
    let form = settings.map_or(Form::Counts, |settings| settings.word("form", &form));
    let positive = |value: f64| value > 0.0;
    let number = |name: &str| {
        settings.map_or(0.0, |it| it.number_that(name, 0.0, "more than zero", positive))
    };
    let (resolution, counts) = (number("resolution"), number("counts_per_turn"));
    if let (true, Some(settings)) = (resolution > 0.0 && counts > 0.0, settings) {
        settings.error("it has <resolution> and <counts_per_turn>, which say the same");
    }
    if form == Form::Toggle && resolution == 0.0 && counts == 0.0 {
        let help = "<counts_per_turn>14</counts_per_turn>, or a <resolution> in radians or metres";
        element.fault("a toggle flips with every count, and no count is given", Some(help.into()));
    }
    let model = site.model;
    let axes = dof_idxs.into_iter().map(|dof_idx| {
        let dof = &model.dofs[dof_idx];
        let is_straight = matches!(model.joints[dof.joint_idx].kind, JointKind::Prismatic(_));
        if counts > 0.0 && is_straight {
            let message = format!("`{}` slides and has no turns; give a <resolution>", dof.name);
            element.error(message);
        }
        let resolution = if counts > 0.0 { TAU / counts } else { resolution };
        let name = dof.name_in_robot.clone();
        Axis { dof_idx, name, resolution, channel: None, before: None }
    });
    Some(Box::new(Encoder {
        frame_id: site.mount.frame_id.clone(),
        form,
        axes: axes.collect(),
        noise: settings.map(Element::noise).unwrap_or_default(),
        since: Since::default(),
    }))
}

/// The axes it reads; none where there are none, which is said.
fn dofs(
    element: Element<'_>,
    settings: Option<Element<'_>>,
    site: &Site<'_>,
) -> Option<Vec<usize>> {
    let model = site.model;
    let of_joint = |name: &str| {
        let is_it = |i: &usize| model.joints[model.dofs[*i].joint_idx].name == name;
        (0..model.dofs.len()).filter(is_it).collect::<Vec<usize>>()
    };
    if let Some(joint) = &site.joint {
        let dofs = of_joint(&joint.name);
        if dofs.is_empty() {
            element.error(format!("`{}` has no axis to read", joint.name));
        }
        return Some(dofs).filter(|dofs| !dofs.is_empty());
    }
    let robot = &model.bodies[site.mount.body_idx].robot;
    let own = model.joints.iter().filter(|joint| joint.robot == *robot);
    let own: Vec<&str> = own.map(|joint| joint.name.as_str()).collect();
    let named: Vec<Element<'_>> =
        settings.map(|it| it.children("joint").collect()).unwrap_or_default();
    if named.is_empty() {
        let dofs: Vec<usize> = own.iter().flat_map(|name| of_joint(name)).collect();
        if dofs.is_empty() {
            element.error(format!("`{robot}` has no joint that moves"));
        }
        return Some(dofs).filter(|dofs| !dofs.is_empty());
    }
    let mut dofs = Vec::new();
    for joint in named {
        let text = joint.text();
        let is_it =
            |name: &&&str| **name == text || name.strip_prefix(&format!("{robot}::")) == Some(text);
        match own.iter().find(is_it) {
            Some(name) => dofs.extend(of_joint(name)),
            None => {
                let near = names::suggestion(text, own.iter().copied());
                joint.fault(format!("`{robot}` has no joint `{text:.60}` that moves"), near);
            }
        }
    }
    Some(dofs)
}

/// The largest multiple of `resolution` that is not above.
fn counted(position: f64, resolution: f64) -> f64 {
    if resolution > 0.0 { (position / resolution).floor() * resolution } else { position }
}

impl Measure for Encoder {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::JointState)]
    }

    fn start(&mut self, _: &Model, seed: &Seed) {
        for axis in &mut self.axes {
            axis.channel = Some(self.noise.channel(&seed.child(&axis.name)));
        }
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let dt_secs = self.since.secs(look.state.time);
        let mut message = JointState {
            header: Header::new(look.state.time, &self.frame_id),
            ..JointState::default()
        };
        for axis in &mut self.axes {
            let truth = look.state.dofs[axis.dof_idx].position;
            let channel = axis.channel.as_mut().expect("started before it is asked");
            let read = channel.value(truth, dt_secs);
            message.name.push(axis.name.clone());
            match self.form {
                Form::Toggle => {
                    message.position.push((read / axis.resolution).floor().rem_euclid(2.0));
                }
                Form::Counts => {
                    let position = counted(read, axis.resolution);
                    let before = axis.before.replace(position);
                    let moved = before.map_or(0.0, |before| position - before);
                    message.position.push(position);
                    message.velocity.push(if dt_secs > 0.0 { moved / dt_secs } else { 0.0 });
                }
            }
        }
        say(0, encode(&message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_completed_and_at_most_one_behind() {
        let resolution = TAU / 4096.0;
        for i in -1000..1000 {
            let position = f64::from(i) * 0.0137;
            let behind = position - counted(position, resolution);
            assert!((-1e-12..resolution + 1e-12).contains(&behind), "{position}: {behind}");
        }
        assert_eq!(counted(-0.4, 0.0), -0.4);
    }
}
