//! One beam of light or sound: a scene goes in, the echo that a receiver would report comes out.
//!
//! ```text
//! rays over the width of the beam ─ cast ─► hits ─ first strong one ─► echo
//! echo ─ too weak? missed? ─ noise ─ resolution ─ limits ─► reading
//! ```
//!
//! A beam that spreads is seven rays: the middle, and six around it at two thirds of its width.
//! Hits that follow each other within [`Beam::PULSE`] are one echo, at their mean distance by
//! strength; that is how a beam half on an edge reads between the two sides of it. The first echo
//! that is strong enough counts; else the strongest.
//!
//! Deliberately absent: echoes by way of several surfaces, and light from elsewhere.

use headland_base::Vec3;
use headland_base::maths::{PI, cos, sin, sqrt, tan};

use headland_base::Seed;

use crate::noise::{Channel, Dice, Noise, quantised};
use crate::scene::{Hit, Ray, Scene};

/// What is declared of the beams of a sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// Nothing nearer is measured \[m\].
    pub min: f64,
    /// Nothing further is measured \[m\].
    pub max: f64,
    /// Distances are multiples of this \[m\]; 0 for any.
    pub resolution: f64,
    /// The whole angle over which it spreads \[rad\]; 0 for a line.
    pub divergence: f64,
    /// Echoes that are not noticed.
    pub miss: Miss,
    /// Noise of the distance.
    pub noise: Noise,
}

/// Echoes that are not noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Miss {
    /// Which share of all, 0 to 1.
    pub rate: f64,
    /// An echo below this share of a white wall's is noticed by strength over this: never where
    /// nothing comes back, always from here on. 0 for always.
    pub weak: f64,
}

impl Miss {
    /// The odds of missing an echo.
    pub fn odds(&self, strength: f64) -> f64 {
        let noticed = if self.weak > 0.0 { (strength / self.weak).min(1.0) } else { 1.0 };
        1.0 - (1.0 - self.rate) * noticed
    }
}

/// What comes back to a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Echo {
    /// How far away \[m\].
    pub distance: f64,
    /// As a share of what comes back of a white wall head on.
    pub strength: f64,
    /// What is reported of it.
    pub intensity: f64,
}

/// What a receiver reports of a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// There is nothing up to the largest distance, or it was missed.
    Nothing,
    /// There is something nearer than the smallest distance.
    TooNear,
    /// There is something.
    At {
        /// How far away \[m\].
        distance: f64,
        /// How bright.
        intensity: f64,
    },
}

impl Reading {
    /// The distance as messages write it: REP 117, where nothing is +∞ and too near is −∞.
    pub fn range(&self) -> f64 {
        match self {
            Reading::Nothing => f64::INFINITY,
            Reading::TooNear => f64::NEG_INFINITY,
            Reading::At { distance, .. } => *distance,
        }
    }

    /// How bright; nothing where there is no distance.
    pub fn intensity(&self) -> f64 {
        match self {
            Reading::At { intensity, .. } => *intensity,
            _ => 0.0,
        }
    }
}

/// Rays of a beam that spreads.
const N_RAYS: usize = 7;
/// An echo of this share of a white wall's is strong: what one of the rays brings back of a surface
/// that reflects a third.
const STRONG: f64 = 0.05;

impl Beam {
    /// Hits within this are one echo \[m\]: the length of a pulse of some nanoseconds.
    pub const PULSE: f64 = 0.1;

    /// The echo of a beam from a point along a unit vector. Shapes of the link that carries the
    /// sensor are looked through where they are nearer than the smallest distance.
    pub fn echo(
        &self,
        scene: &Scene,
        origin: Vec3,
        direction: Vec3,
        own_link: usize,
    ) -> Option<Echo> {
        if self.divergence == 0.0 {
            let hit = self.cast(scene, origin, direction, own_link)?;
            return Some(echo_of(scene, direction, &hit));
        }
        let (right, up) = across(direction);
        let reach = tan(0.5 * self.divergence) * 2.0 / 3.0;
        let mut echoes: Vec<Echo> = (0..N_RAYS)
            .filter_map(|i| {
                let turn = (i as f64 - 1.0) * PI / 3.0;
                let aside = if i == 0 { 0.0 } else { reach };
                let ray = direction + (right * cos(turn) + up * sin(turn)) * aside;
                let ray = ray / sqrt(ray.dot(ray));
                Some(echo_of(scene, ray, &self.cast(scene, origin, ray, own_link)?))
            })
            .collect();
        echoes.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        first_strong(&echoes)
    }

    fn cast(&self, scene: &Scene, origin: Vec3, direction: Vec3, own_link: usize) -> Option<Hit> {
        let ray = Ray { origin, direction, min: 0.0, max: self.max };
        let hit = scene.cast(&ray)?;
        let is_own = |i: usize| scene.items()[i].link_idx == own_link;
        if hit.distance >= self.min || !is_own(hit.item_idx) {
            return Some(hit);
        }
        let others = scene.cast_where(&ray, |i| !is_own(i));
        let own = scene.cast_where(&Ray { min: self.min, ..ray }, is_own);
        match (others, own) {
            (Some(a), Some(b)) => Some(if a.distance <= b.distance { a } else { b }),
            (a, b) => a.or(b),
        }
    }
}

fn echo_of(scene: &Scene, direction: Vec3, hit: &Hit) -> Echo {
    let reflection = &scene.items()[hit.item_idx].reflection;
    let strength = reflection.strength(-direction.dot(hit.normal));
    Echo { distance: hit.distance, strength, intensity: reflection.intensity(strength) }
}

/// Two unit vectors across a unit vector and across each other.
fn across(direction: Vec3) -> (Vec3, Vec3) {
    let helper = if direction.z.abs() < 0.9 { Vec3::Z } else { Vec3::X };
    let right = direction.cross(helper);
    let right = right / sqrt(right.dot(right));
    (right, right.cross(direction))
}

/// Of hits by distance, the first group that is strong, or the strongest.
fn first_strong(hits: &[Echo]) -> Option<Echo> {
    let mut best: Option<Echo> = None;
    let mut rest = hits;
    while let Some(first) = rest.first() {
        let n = rest.iter().take_while(|hit| hit.distance - first.distance <= Beam::PULSE).count();
        let (group, beyond) = rest.split_at(n);
        rest = beyond;
        // Without any strength each hit says as much as another.
        let weight = |hit: &Echo| hit.strength.max(1e-12);
        let sum: f64 = group.iter().map(weight).sum();
        let mean =
            |of: fn(&Echo) -> f64| group.iter().map(|h| weight(h) * of(h)).sum::<f64>() / sum;
        let strength = group.iter().map(|hit| hit.strength).sum::<f64>() / N_RAYS as f64;
        let share = n as f64 / N_RAYS as f64;
        let echo = Echo {
            distance: mean(|hit| hit.distance),
            strength,
            intensity: share * mean(|hit| hit.intensity),
        };
        if strength >= STRONG {
            return Some(echo);
        }
        if best.is_none_or(|best| echo.strength > best.strength) {
            best = Some(echo);
        }
    }
    best
}

/// What receives the echoes of a sensor: its noise, drawn beam after beam.
#[derive(Clone, Debug)]
pub struct Receiver {
    beam: Beam,
    channel: Channel,
    missing: Dice,
}

impl Receiver {
    /// Just switched on.
    pub fn new(beam: Beam, seed: &Seed) -> Receiver {
        let channel = beam.noise.channel(&seed.child("range"));
        Receiver { beam, channel, missing: Dice::new(&seed.child("miss")) }
    }

    /// What is reported of an echo, `dt_secs` after the one before. As much is drawn whether
    /// there is one or not, so what stands in one beam moves no number of another.
    pub fn read(&mut self, echo: Option<Echo>, dt_secs: f64) -> Reading {
        let Beam { min, max, resolution, miss, .. } = self.beam;
        let said = self.channel.value(echo.map_or(0.0, |echo| echo.distance), dt_secs);
        let is_lost = self.channel.loses();
        let is_missed = miss != Miss::default() && {
            let odds = miss.odds(echo.map_or(1.0, |echo| echo.strength));
            self.missing.chance(odds)
        };
        let Some(echo) = echo.filter(|_| !is_lost && !is_missed) else { return Reading::Nothing };
        if echo.distance < min {
            return Reading::TooNear;
        }
        let distance = quantised(said, resolution);
        match distance {
            _ if distance < min => Reading::TooNear,
            _ if distance > max => Reading::Nothing,
            _ => Reading::At { distance, intensity: echo.intensity },
        }
    }
}
