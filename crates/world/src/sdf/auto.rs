//! `inertial auto="true"`: mass and inertia from the shapes, each at its own density.

use headland_base::{Diagnostic, Mat3, Transform, Vec3};

use crate::{Collision, InertiaOrigin, Inertial, inertia};

/// Sums what each shape weighs; scaled to `mass` where the file gives one.
pub(super) fn derive(
    collisions: &[Collision],
    densities: &[Option<f64>],
    density_of_link: f64,
    mass: Option<f64>,
) -> Result<Inertial, Diagnostic> {
    assert_eq!(collisions.len(), densities.len(), "one density, or none, per collision");
    let all_alike = densities.iter().all(|d| d.unwrap_or(density_of_link) == density_of_link);
    let mut whole = if all_alike {
        inertia::derive(collisions, density_of_link)?
    } else {
        let mut parts = Vec::new();
        for (collision, density) in collisions.iter().zip(densities) {
            let shape = std::slice::from_ref(collision);
            parts.push(inertia::derive(shape, density.unwrap_or(density_of_link))?);
        }
        sum(&parts, density_of_link)
    };
    if let Some(mass) = mass
        && whole.mass > 0.0
    {
        whole.inertia *= mass / whole.mass;
        whole.mass = mass;
    }
    Ok(whole)
}

/// Several bodies as one, by the parallel-axis theorem about the common centre of mass.
fn sum(parts: &[Inertial], density: f64) -> Inertial {
    let mass: f64 = parts.iter().map(|part| part.mass).sum();
    let moment = parts
        .iter()
        .fold(Vec3::ZERO, |sum, part| sum + part.link_from_inertial.translation * part.mass);
    let centre = moment / mass;
    let inertia = parts.iter().fold(Mat3::ZERO, |sum, part| {
        let turn = Mat3::from_quat(part.link_from_inertial.rotation);
        let d = part.link_from_inertial.translation - centre;
        let outer = Mat3::from_cols(d * d.x, d * d.y, d * d.z);
        let moved = (Mat3::from_diagonal(Vec3::splat(d.dot(d))) - outer) * part.mass;
        sum + turn * part.inertia * turn.transpose() + moved
    });
    // Symmetric to the last bit, so that what is written is what is read.
    let inertia = (inertia + inertia.transpose()) * 0.5;
    Inertial {
        mass,
        link_from_inertial: Transform::from_translation(centre),
        inertia,
        origin: InertiaOrigin::Derived { density },
    }
}
