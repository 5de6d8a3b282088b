//! Closed forms: what pen and paper say about the worlds that ship, against a recording.
//!
//! ```text
//! Recording of a shipped world ─ ClosedForm::measure ─► expected, measured, error
//! ```
//!
//! Each form is a pure function of a recording. What it must know of its world (a radius, a
//! mass) stands as constants in the file of the form; gravity and efforts are read from the
//! recording. `crates/cli/tests/probes.rs` compares the constants with the world files.
//!
//! Deliberately absent: who made the recording, and whether an error is much. A form says how
//! much is usual ([`ClosedForm::usual`]); judging is for tests.
//!
//! Start reading at [`CLOSED_FORMS`].

pub mod ball;
pub mod cradle;
pub mod cylinders;
pub mod double_pendulum;
pub mod four_bar;
pub mod free_box;
pub mod gripper;
pub mod pendulum;
mod reading;
pub mod rolling;
pub mod slider;
pub mod stack;

use headland_record::Recording;

pub use reading::{Part, energy};

/// A quantity of a shipped world that is known beforehand.
#[derive(Clone, Copy, Debug)]
pub struct ClosedForm {
    /// Stable and unique: `pendulum_period`.
    pub name: &'static str,
    /// The world it is about, as recordings name it; several where they differ in numbers only.
    pub worlds: &'static [&'static str],
    /// What is measured, in one line.
    pub what: &'static str,
    /// The formula, in one line.
    pub formula: &'static str,
    /// Of expected, measured and error alike: `m`, `s`, `rad`; empty for a share.
    pub unit: &'static str,
    /// An error that a sound engine of first order makes at a step of 1 ms, with some room. More
    /// is worth a look.
    pub usual: f64,
    of: fn(&Recording) -> Result<Measured, String>,
}

/// What should be and what is, in the unit of the form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// By the formula. Zero where the form asks for the worst deviation over the whole run.
    pub expected: f64,
    /// In the recording.
    pub measured: f64,
    /// How far they are apart, never negative.
    pub error: f64,
}

impl Measured {
    fn new(expected: f64, measured: f64) -> Measured {
        Measured { expected, measured, error: (measured - expected).abs() }
    }

    /// The worst deviation from what should be.
    fn deviation(worst: f64) -> Measured {
        Measured::new(0.0, worst)
    }
}

impl ClosedForm {
    /// Measures a recording, or says in words why that cannot be done: it is of another world,
    /// too short, lacks a track, or holds numbers that are none.
    pub fn measure(&self, recording: &Recording) -> Result<Measured, String> {
        let world = recording.facts.get("world").unwrap_or("an unknown world");
        if !self.worlds.contains(&world) {
            return Err(format!("`{}` is about {}, not {world}", self.name, self.worlds[0]));
        }
        let measured = (self.of)(recording)?;
        if measured.error.is_finite() {
            Ok(measured)
        } else {
            Err(format!("`{}` came out as {}", self.name, measured.measured))
        }
    }

    /// Whether an error is no larger than usual.
    pub fn is_usual(&self, measured: &Measured) -> bool {
        measured.error <= self.usual
    }
}

/// The forms about a world, in reading order.
pub fn about(world: &str) -> impl Iterator<Item = &'static ClosedForm> {
    CLOSED_FORMS.iter().copied().flatten().filter(move |form| form.worlds.contains(&world))
}

/// Every form there is, world by world.
pub const CLOSED_FORMS: &[&[ClosedForm]] = &[
    ball::FORMS,
    cylinders::FORMS,
    gripper::FORMS,
    stack::FORMS,
    free_box::FORMS,
    pendulum::FORMS,
    double_pendulum::FORMS,
    rolling::FORMS,
    cradle::FORMS,
    slider::FORMS,
    four_bar::FORMS,
];
