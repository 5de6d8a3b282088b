//! Contacts in the house's one form, read by functions only.
//!
//! From MuJoCo 3.5 on every link has a sensor that lists its contacts, each with all its
//! numbers but without the other side. A contact is in the lists of both sides, with its
//! normal turned around, so the two sides are found by what is the same in both. Before,
//! there is only what MuJoCo prints about itself (printed.rs).
//!
//! MuJoCo asks every sensor about every contact: for a stack of twenty boxes 14 % of the bare
//! step, for one of forty 22 %. So the steps are made by a model whose sensors are switched off,
//! and sensors are read, from the same data, after steps at which somebody looks. One sensor
//! for all contacts would be asked once, but does not say who touches. Seen with `perf`, nearly
//! all of a reading is in MuJoCo's own search of contacts for each sensor and in clearing their
//! slots; what is done here is a thirtieth of it.

use headland_base::Vec3;
use headland_sim::{Contact, Fault};

use super::library::{SensorId, Sim};
use super::mjcf::Written;
use super::printed::Printed;

/// Numbers of a contact in a sensor: found, force 3, dist, pos 3, normal 3, tangent 3.
const N_NUMBERS: usize = 14;

/// How contacts are read.
pub(super) enum Touches {
    /// From a sensor per link.
    Sensed { sensors: Vec<Touch>, scratch: Scratch },
    /// From MuJoCo's own account of its data.
    Printed(Printed),
}

pub(super) struct Touch {
    body_idx: usize,
    sensor: SensorId,
    n_slots: usize,
}

/// A contact as one side sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half {
    body_idx: usize,
    position: [f64; 3],
    depth: f64,
    /// Away from this side.
    normal: Vec3,
    /// What this side does to the other.
    force: Vec3,
}

impl Touches {
    /// Of a model that was written and loaded.
    pub(super) fn of(sim: &Sim<'_>, written: &Written) -> Result<Touches, Fault> {
        if !sim.library().reads_sensors() {
            return Printed::of(sim, &written.body_of_geom).map(Touches::Printed);
        }
        Touches::sensed(sim, &written.touches)
    }

    /// From sensors that are there: of which body, by what name, and how many each holds.
    pub(super) fn sensed(
        sim: &Sim<'_>,
        sensors: &[(usize, String, usize)],
    ) -> Result<Touches, Fault> {
        let sensors = sensors.iter().map(|(body_idx, name, n_slots)| {
            let sensor =
                sim.sensor(name).ok_or_else(|| Fault(format!("mujoco lost sensor `{name}`")))?;
            Ok(Touch { body_idx: *body_idx, sensor, n_slots: *n_slots })
        });
        let sensors = sensors.collect::<Result<Vec<Touch>, Fault>>()?;
        Ok(Touches::Sensed { sensors, scratch: Scratch::default() })
    }

    /// What touched in the last step, by bodies, then by place.
    pub(super) fn read(&mut self, sim: &mut Sim<'_>, out: &mut Vec<Contact>) -> Result<(), Fault> {
        out.clear();
        match self {
            Touches::Sensed { sensors, scratch } => {
                sim.sense();
                scratch.halves.clear();
                sensors.iter().for_each(|touch| touch.read(sim, &mut scratch.halves));
                scratch.pair_up(out);
            }
            Touches::Printed(printed) => {
                printed.read(sim, out)?;
                out.sort_by(|a, b| {
                    let place = |c: &Contact| c.position.to_array().map(f64::to_bits);
                    let by_bodies = (a.body_a, a.body_b).cmp(&(b.body_a, b.body_b));
                    by_bodies.then_with(|| place(a).cmp(&place(b)))
                });
            }
        }
        Ok(())
    }
}

impl Touch {
    fn read(&self, sim: &Sim<'_>, out: &mut Vec<Half>) {
        let found = sim.sensor_values(self.sensor, 1).first().map_or(0.0, |n| *n);
        let n = (found as usize).min(self.n_slots);
        if n > 0 {
            let values = sim.sensor_values(self.sensor, n * N_NUMBERS);
            out.extend(values.chunks_exact(N_NUMBERS).map(|c| Half::of(self.body_idx, c)));
        }
    }
}

impl Half {
    fn of(body_idx: usize, c: &[f64]) -> Half {
        let vector = |i: usize| Vec3::new(c[i], c[i + 1], c[i + 2]);
        let (normal, tangent) = (vector(8), vector(11));
        let second = normal.cross(tangent);
        Half {
            body_idx,
            position: [c[5], c[6], c[7]],
            depth: -c[4],
            normal,
            force: normal * c[1] + tangent * c[2] + second * c[3],
        }
    }

    /// The same for both sides of a contact; nearly always different for two contacts.
    fn key(&self) -> u64 {
        let [x, y, z] = self.position.map(f64::to_bits);
        x ^ y.rotate_left(21) ^ z.rotate_left(42) ^ self.depth.to_bits().rotate_left(11)
    }

    /// Whether the other is this contact seen from its other side. Numbers are the same to
    /// the bit: MuJoCo turns the sign of the normal around, nothing else.
    fn is_across(&self, other: &Half) -> bool {
        self.position == other.position
            && self.depth == other.depth
            && self.normal == -other.normal
            && self.body_idx != other.body_idx
    }
}

/// Room to find the two sides of contacts in. Halves are large, so their numbers are sorted.
#[derive(Default)]
pub(super) struct Scratch {
    halves: Vec<Half>,
    /// Key and number of each half.
    keys: Vec<(u64, usize)>,
    /// Numbers of the two halves of each contact.
    pairs: Vec<(usize, usize)>,
}

impl Scratch {
    /// The contacts, by bodies, then by place. One whose other side was not listed, because
    /// that link has more contacts than its sensor holds, is left out.
    fn pair_up(&mut self, out: &mut Vec<Contact>) {
        let halves = &self.halves;
        self.keys.clear();
        self.keys.extend(halves.iter().enumerate().map(|(i, half)| (half.key(), i)));
        // Sides of one place stay in the order of their bodies.
        self.keys.sort_unstable();
        self.pairs.clear();
        for place in self.keys.chunk_by(|a, b| a.0 == b.0) {
            let mut is_taken = [false; 64];
            for (n, &(_, i)) in place.iter().enumerate().take(64) {
                if is_taken[n] {
                    continue;
                }
                let mut others = n + 1..place.len().min(64);
                let is_other = |m: usize| !is_taken[m] && halves[i].is_across(&halves[place[m].1]);
                if let Some(m) = others.find(|&m| is_other(m)) {
                    is_taken[m] = true;
                    self.pairs.push((i, place[m].1));
                }
            }
        }
        self.pairs.sort_by(|&(i, j), &(k, l)| {
            let bodies = |i: usize, j: usize| (halves[i].body_idx, halves[j].body_idx);
            let place = |i: usize| halves[i].position.map(f64::to_bits);
            bodies(i, j).cmp(&bodies(k, l)).then_with(|| place(i).cmp(&place(k)))
        });
        out.extend(self.pairs.iter().map(|&(i, j)| {
            let half = &halves[i];
            Contact {
                body_a: half.body_idx,
                body_b: halves[j].body_idx,
                position: Vec3::from_array(half.position),
                normal: half.normal,
                depth: half.depth,
                force: half.force,
            }
        }));
    }
}
