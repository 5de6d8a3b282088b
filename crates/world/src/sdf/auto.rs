//! Mass and inertia from the shapes, each at its own density: `inertial auto="true"`, or
//! because the caller asks for it.
//!
//! A shape may stand in any frame of its model, so a link's inertia waits with the shapes'
//! poses until the frames are known.

use headland_base::{Diagnostic, Findings, Place};

use crate::{Collision, InertiaOrigin, Inertial, inertia};

/// An inertia that is still to be computed.
pub(super) struct Derive {
    /// Each shape's own density \[kg/m³\], where it says one.
    pub densities: Vec<Option<f64>>,
    /// Of the shapes that say none \[kg/m³\].
    pub density_of_link: f64,
    /// What the whole is scaled to, where the file gives it \[kg\].
    pub mass: Option<f64>,
    /// The element that asks for it; `None` where the caller does.
    pub place: Option<Place>,
}

impl Derive {
    /// The inertia of shapes that are in their places. Where there is none, and the file
    /// asked for it, that is reported; what the caller asked for is tried once more when the
    /// whole world is known, and reported there.
    pub fn inertial(self, collisions: &[Collision], findings: &mut Findings) -> Option<Inertial> {
        match (self.summed(collisions), self.place) {
            (Ok(inertial), _) => Some(inertial),
            (Err(diagnostic), Some(place)) => {
                findings.push(diagnostic.at(place));
                Some(Inertial::stand_in())
            }
            (Err(_), None) => None,
        }
    }

    /// What each shape weighs, summed; scaled to the mass where the file gives one.
    fn summed(&self, collisions: &[Collision]) -> Result<Inertial, Diagnostic> {
        assert_eq!(collisions.len(), self.densities.len(), "one density, or none, per collision");
        let densities = self.densities.iter().map(|own| own.unwrap_or(self.density_of_link));
        let parts: Vec<_> = collisions.iter().zip(densities).collect();
        let mut whole = inertia::derive_each(&parts)?;
        if let Some(mass) = self.mass
            && whole.mass > 0.0
        {
            if let InertiaOrigin::Derived { density } = &mut whole.origin {
                *density *= mass / whole.mass;
            }
            whole.inertia *= mass / whole.mass;
            whole.mass = mass;
        }
        Ok(whole)
    }
}
