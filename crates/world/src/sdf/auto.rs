//! `inertial auto="true"`: mass and inertia from the shapes, each at its own density.

use headland_base::Diagnostic;

use crate::{Collision, InertiaOrigin, Inertial, inertia};

/// Sums what each shape weighs; scaled to `mass` where the file gives one.
pub(super) fn derive(
    collisions: &[Collision],
    densities: &[Option<f64>],
    density_of_link: f64,
    mass: Option<f64>,
) -> Result<Inertial, Diagnostic> {
    assert_eq!(collisions.len(), densities.len(), "one density, or none, per collision");
    let densities = densities.iter().map(|density| density.unwrap_or(density_of_link));
    let parts: Vec<_> = collisions.iter().zip(densities).collect();
    let mut whole = inertia::derive_each(&parts)?;
    if let Some(mass) = mass
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
