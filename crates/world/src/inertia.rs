//! Mass and inertia, and how we know them.

use headland_base::{Mat3, Transform};

/// Mass, centre of mass and inertia of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Inertial {
    /// \[kg\]
    pub mass: f64,
    /// Where the inertial frame (its origin is the centre of mass) is in the link's.
    pub link_from_inertial: Transform,
    /// About the centre of mass, in the inertial frame \[kg·m²\]; symmetric.
    pub inertia: Mat3,
    /// Who says so.
    pub origin: InertiaOrigin,
}

/// How we know an inertia.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InertiaOrigin {
    /// The file gives it.
    Given,
    /// Nobody gave it: SDF's default of 1 kg and 1 kg·m².
    Default,
    /// Computed from the collision shapes at this density \[kg/m³\].
    Derived {
        /// The density used.
        density: f64,
    },
}

impl Default for Inertial {
    fn default() -> Inertial {
        Inertial {
            mass: 1.0,
            link_from_inertial: Transform::IDENTITY,
            inertia: Mat3::IDENTITY,
            origin: InertiaOrigin::Default,
        }
    }
}
