//! Foot pressure: what a sole carries, where, and what load cells at its corners say.
//!
//! ```xml
//! <sensor name="sole" type="headland:foot_pressure"><pose>0 0 -0.02 0 0 0</pose>
//!   <headland:foot_pressure><size>0.2 0.1</size></headland:foot_pressure>
//! </sensor>
//! ```
//!
//! The sensor's frame is that of the sole: x forward, y to the left, z up, in its middle. From the
//! contacts of the link, with `f` what is done to it at `p`:
//!
//! ```text
//! N = Σ f_z      centre of pressure = (−τ_y, τ_x)/N   with τ = Σ p×f
//! cell at (±a, ±b) = N/4·(1 ± x/a)·(1 ± y/b)
//! ```
//!
//! The cells carry N and both moments, and are not negative as long as the centre of pressure is
//! on the sole; that it may leave a sole whose size is too small, they say by being so. Noise is
//! that of each cell; force and centre are computed from what the cells say.

use headland_base::{Seed, Vec3};
use headland_record::messages::{FootPressure, Kind as Message, Vector3, encode};
use headland_sim::{Look, Model};

use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::mounted::{Measure, Mount, Since};
use crate::noise::{Channel, Noise};
use crate::touch::contacts_of;

/// `<sensor type="headland:foot_pressure">`.
pub const KIND: Kind = Kind {
    words: &["headland:foot_pressure"],
    on: On::Link,
    elements: &["headland:foot_pressure"],
    read,
};

struct Sole {
    mount: Mount,
    /// Half of its length and of its width \[m\].
    half: [f64; 2],
    noise: Noise,
    channels: Option<[Channel; 4]>,
    since: Since,
}

/// Signs of x and y of the cells: front left, front right, rear left, rear right.
const CORNERS: [[f64; 2]; 4] = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    let settings = element.child("headland:foot_pressure");
    if let Some(settings) = settings {
        settings.only(&["noise", "size"]);
    }
    let said = settings.and_then(|settings| settings.child("size"));
    let size = match said {
        Some(size) => size.values::<2>()?,
        None => match size_of_foot(site) {
            Some(size) => size,
            None => {
                let help = "<headland:foot_pressure><size>LENGTH WIDTH</size>, in metres";
                element.fault("the size of the sole is not known", Some(help.to_string()));
                return None;
            }
        },
    };
    if size.iter().any(|side| *side <= 0.0) {
        let message = format!("a sole of {} m by {} m is none", size[0], size[1]);
        said.unwrap_or(element).error(message);
        return None;
    }
    Some(Box::new(Sole {
        mount: site.mount.clone(),
        half: size.map(|side| side * 0.5),
        noise: settings.map(Element::noise).unwrap_or_default(),
        channels: None,
        since: Since::default(),
    }))
}

/// What `headland:foot` says of the link.
fn size_of_foot(site: &Site<'_>) -> Option<[f64; 2]> {
    let links = site.model.world.links();
    let link = &links[site.mount.body_idx];
    let foot = link.model.feet.iter().find(|foot| foot.link == link.link.name)?;
    foot.size
}

/// What the cells carry of a load `force` whose moments about x and y are given.
fn cells(force: f64, moments: [f64; 2], half: [f64; 2]) -> [f64; 4] {
    if force == 0.0 {
        return [0.0; 4];
    }
    let share = [-moments[1] / (force * half[0]), moments[0] / (force * half[1])];
    CORNERS.map(|[x, y]| 0.25 * force * (1.0 + x * share[0]) * (1.0 + y * share[1]))
}

impl Measure for Sole {
    fn outputs(&self) -> Vec<(String, Message)> {
        vec![(String::new(), Message::FootPressure)]
    }

    fn needs_contacts(&self) -> bool {
        true
    }

    fn start(&mut self, _: &Model, seed: &Seed) {
        self.channels =
            Some([0, 1, 2, 3].map(|i| self.noise.channel(&seed.child(&format!("cell {i}")))));
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        let dt_secs = self.since.secs(look.state.time);
        let sole_from_world = self.mount.world_from_sensor(&look.state.rigids).inverse();
        let (mut force, mut torque) = (0.0, Vec3::ZERO);
        for contact in contacts_of(look, self.mount.body_idx) {
            let is_b = contact.body_b == self.mount.body_idx;
            let push = sole_from_world.vector(if is_b { contact.force } else { -contact.force });
            force += push.z;
            torque += sole_from_world.point(contact.position).cross(push);
        }
        let mut cells = cells(force, [torque.x, torque.y], self.half);
        let channels = self.channels.as_mut().expect("started before it is asked");
        for (cell, channel) in cells.iter_mut().zip(channels) {
            *cell = channel.value(*cell, dt_secs);
        }
        let normal_force: f64 = cells.iter().fold(0.0, |sum, cell| sum + cell);
        let moment = |axis: usize| {
            let arms = CORNERS.iter().map(|corner| corner[axis] * self.half[axis]);
            arms.zip(&cells).fold(0.0, |sum, (arm, cell)| sum + arm * cell)
        };
        let at = |axis| if normal_force == 0.0 { 0.0 } else { moment(axis) / normal_force };
        let centre_of_pressure = Vector3 { x: at(0), y: at(1), z: 0.0 };
        let header = self.mount.header(look);
        say(0, encode(&FootPressure { header, normal_force, centre_of_pressure, cells }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_carry_the_load_and_both_moments() {
        let (half, force, at) = ([0.1, 0.05], 40.0, [0.03, -0.02]);
        let cells = cells(force, [at[1] * force, -at[0] * force], half);
        let sum = |weight: &dyn Fn([f64; 2]) -> f64| -> f64 {
            CORNERS.iter().zip(cells).map(|(corner, cell)| weight(*corner) * cell).sum()
        };
        assert!((sum(&|_| 1.0) - force).abs() < 1e-12);
        assert!((sum(&|c| c[0] * half[0]) - at[0] * force).abs() < 1e-12);
        assert!((sum(&|c| c[1] * half[1]) - at[1] * force).abs() < 1e-12);
        assert!(cells.iter().all(|cell| *cell > 0.0) && cells[1] > cells[0], "{cells:?}");
    }
}
