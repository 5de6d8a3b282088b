//! Noise of a vector, axis by axis.

use headland_base::{Seed, Vec3};

use crate::declare::element::Element;
use crate::noise::{Channel, Noise};

/// What is declared of x, y and z.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AxisNoise([Noise; 3]);

const AXES: [&str; 3] = ["x", "y", "z"];

impl AxisNoise {
    /// The same on every axis.
    pub fn all(noise: Noise) -> AxisNoise {
        AxisNoise([noise; 3])
    }

    /// One on x and y, another on z.
    pub fn level(across: Noise, up: Noise) -> AxisNoise {
        AxisNoise([across, across, up])
    }

    /// `<x><noise>…`, `<y>…` and `<z>…` of an element.
    pub fn read(element: Element<'_>) -> AxisNoise {
        element.only(&AXES);
        AxisNoise(AXES.map(|axis| element.noise_at(&[axis])))
    }

    /// An instrument of three axes, each with its own streams.
    pub fn channels(&self, seed: &Seed) -> AxisChannels {
        let [x, y, z] = &self.0;
        AxisChannels([("x", x), ("y", y), ("z", z)].map(|(axis, n)| n.channel(&seed.child(axis))))
    }

    /// The variance of each axis.
    pub fn variances(&self) -> [f64; 3] {
        self.0.map(|noise| noise.variance())
    }

    /// Row by row, as messages have it.
    pub fn covariance(&self) -> [f64; 9] {
        let [x, y, z] = self.variances();
        [x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z]
    }
}

/// An instrument of three axes.
#[derive(Clone, Debug)]
pub struct AxisChannels([Channel; 3]);

impl AxisChannels {
    /// What it says, where the truth is `truth` and so long has passed since it was last asked.
    pub fn value(&mut self, truth: Vec3, dt_secs: f64) -> Vec3 {
        let [x, y, z] = &mut self.0;
        let of = |channel: &mut Channel, truth| channel.value(truth, dt_secs);
        Vec3::new(of(x, truth.x), of(y, truth.y), of(z, truth.z))
    }
}
