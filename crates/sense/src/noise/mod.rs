//! Noise: what is true goes in, what an instrument would say comes out.
//!
//! ```text
//! truth ─► + white + bias + walk ─► + outlier ─► quantise ─► dropped? ─► reading
//! ```
//!
//! [`Noise`] is what a file declares; [`Noise::channel`] makes of it, with a seed, a [`Channel`],
//! which is asked once per reading. [`mixture`] is noise of several dimensions with clusters.
//! [`sdf`] reads and writes all of it.
//!
//! Every knob draws from a stream of its own, split off by name. Turning one up or down, on or
//! off, therefore shifts no number of another.
//!
//! Deliberately absent: delay. It moves messages, not numbers, and belongs to the run.

pub(crate) mod channel;
mod dice;
mod dropout;
pub mod mixture;
pub mod perception;
pub mod sdf;

pub use channel::{Channel, quantised};
pub use dice::Dice;
pub use dropout::{Dropout, Dropper};
pub use mixture::{Cluster, Mixture, Sampler};
pub use perception::{Perception, Score};

use headland_base::Seed;

/// What is declared of one number that an instrument reads. The default is an instrument
/// without fault.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// Mean of the white noise.
    pub mean: f64,
    /// Standard deviation of the white noise: each reading's own.
    pub stddev: f64,
    /// Mean of the bias that is drawn once, when the instrument is switched on.
    pub bias_mean: f64,
    /// Standard deviation of that bias.
    pub bias_stddev: f64,
    /// What drives the bias that wanders \[unit/√s\]; 0 for none.
    pub walk_density: f64,
    /// After how long a wandering bias forgets where it was \[s\]; never where there is none.
    pub walk_time_secs: Option<f64>,
    /// Readings are multiples of this; 0 for any number.
    pub precision: f64,
    /// Readings that are quite wrong.
    pub outliers: Outliers,
    /// Readings that do not come.
    pub dropout: Dropout,
}

/// Readings that are quite wrong, now and then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outliers {
    /// Which share of the readings, 0 to 1.
    pub rate: f64,
    /// Standard deviation of what is added to those.
    pub spread: f64,
}

impl Noise {
    /// White noise alone.
    pub fn gaussian(stddev: f64) -> Noise {
        Noise { stddev, ..Noise::default() }
    }

    /// Whether readings are the truth.
    pub fn is_none(&self) -> bool {
        *self == Noise::default()
    }

    /// Variance of one reading about the truth as data sheets count it: white noise and the
    /// rounding to multiples. Biases are not in it, for they do not average out, and neither are
    /// outliers. It is what goes into the covariance of a message.
    pub fn variance(&self) -> f64 {
        self.stddev * self.stddev + self.precision * self.precision / 12.0
    }

    /// An instrument with this noise, just switched on.
    pub fn channel(&self, seed: &Seed) -> Channel {
        Channel::new(*self, seed)
    }
}
