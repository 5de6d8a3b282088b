//! Inertia by ten numbers of which every choice is a body.
//!
//! The pseudo-inertia of a body is the 4×4 matrix of its moments of mass of degree zero, one and
//! two about the link's origin:
//!
//! ```text
//! P = [ Σ  h ]    m mass, h = m·c first moment, Σ = ∫ p·pᵀ dm
//!     [ hᵀ m ]
//! ```
//!
//! A body has these moments exactly if P is positive definite, which is the same as a positive
//! mass and principal moments that keep the triangle inequality. So P is written as `U·Uᵀ` with
//!
//! ```text
//!         [ e^d1  s12   s13   t1 ]
//! U = e^α·[  0    e^d2  s23   t2 ]
//!         [  0     0    e^d3  t3 ]
//!         [  0     0     0    1  ]
//! ```
//!
//! and the ten numbers are free (Rucker and Wensing, 2022). `e^{2α}` is the mass and `t` the centre
//! of mass; `d` and `s` say how the mass is spread about it \[m\]. α alone scales mass and
//! inertia together, as a change of density does.

use headland_base::maths::{exp, log, sqrt};
use headland_base::{Mat3, Vec3};

use crate::check::INERTIA_SLACK;
use crate::inertia::principal_moments;
use crate::{InertiaOrigin, Inertial};

/// How many numbers a body has.
pub const N_COORDINATES: usize = 10;

/// Their names, in order.
pub const NAMES: [&str; N_COORDINATES] =
    ["alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3"];

/// Thinner than this share of a body's extent counts as this thick: a plate or a rod of no
/// thickness stands at the edge of what is a body, where logarithms have no value.
const THINNEST: f64 = 1e-9;

/// The ten numbers of a body, along the axes of its link.
///
/// One at the edge (a rod without thickness, a point) is taken for one just inside.
pub fn coordinates(inertial: &Inertial) -> [f64; N_COORDINATES] {
    let spread = spread(inertial);
    let least = (THINNEST * trace(&spread)).max(1e-18);
    let at = |row: usize, column: usize| spread.col(column)[row];
    // Upper triangular factor of the spread, from the last row up.
    let e3 = sqrt(at(2, 2).max(least));
    let (s23, s13) = (at(1, 2) / e3, at(0, 2) / e3);
    let e2 = sqrt((at(1, 1) - s23 * s23).max(least));
    let s12 = (at(0, 1) - s13 * s23) / e2;
    let e1 = sqrt((at(0, 0) - s12 * s12 - s13 * s13).max(least));
    let t = inertial.link_from_inertial.translation;
    let alpha = 0.5 * log(inertial.mass.max(f64::MIN_POSITIVE));
    [alpha, log(e1), log(e2), log(e3), s12, s23, s13, t.x, t.y, t.z]
}

/// The body of ten numbers, its inertial frame turned as `like`'s.
pub fn body(coordinates: &[f64; N_COORDINATES], like: &Inertial) -> Inertial {
    let [alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3] = *coordinates;
    let factor = Mat3::from_cols(
        Vec3::new(exp(d1), 0.0, 0.0),
        Vec3::new(s12, exp(d2), 0.0),
        Vec3::new(s13, s23, exp(d3)),
    );
    let mass = exp(2.0 * alpha);
    let turn = Mat3::from_quat(like.link_from_inertial.rotation);
    let spread = turn.transpose() * (factor * factor.transpose()) * turn;
    let mut inertia = inertia_of(&spread, mass);
    if !is_physical(mass, &inertia) {
        // Rounding ate the thin side.
        let thick = Mat3::from_diagonal(Vec3::splat(THINNEST * trace(&spread)));
        inertia = inertia_of(&(spread + thick), mass);
    }
    let mut link_from_inertial = like.link_from_inertial;
    link_from_inertial.translation = Vec3::new(t1, t2, t3);
    Inertial { mass, link_from_inertial, inertia, origin: InertiaOrigin::Given }
}

/// Whether some body has this mass and inertia: all positive, and no principal moment larger
/// than the other two together, up to rounding.
pub fn is_physical(mass: f64, inertia: &Mat3) -> bool {
    let mut moments = principal_moments(inertia);
    moments.sort_by(f64::total_cmp);
    let [a, b, c] = moments;
    let is_finite = mass.is_finite() && inertia.is_finite();
    is_finite && mass > 0.0 && a > 0.0 && a + b >= c - INERTIA_SLACK * (a + b + c)
}

/// How far the mass of a body is from its centre, on average along each side: a length \[m\].
pub fn extent(inertial: &Inertial) -> f64 {
    sqrt(trace(&spread(inertial)).max(0.0))
}

/// Second moments about the centre of mass, per mass, along the link's axes \[m²\].
fn spread(inertial: &Inertial) -> Mat3 {
    let turn = Mat3::from_quat(inertial.link_from_inertial.rotation);
    let inertia = turn * inertial.inertia * turn.transpose();
    let half = 0.5 * trace(&inertia);
    (Mat3::from_diagonal(Vec3::splat(half)) - inertia) * (1.0 / inertial.mass)
}

fn inertia_of(spread: &Mat3, mass: f64) -> Mat3 {
    let about = Mat3::from_diagonal(Vec3::splat(trace(spread))) - *spread;
    // Equal across the diagonal to the bit, as files have it.
    (about + about.transpose()) * (0.5 * mass)
}

fn trace(matrix: &Mat3) -> f64 {
    matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z
}

#[cfg(test)]
mod tests {
    use headland_base::Transform;
    use headland_base::maths::quat_from_rpy;
    use proptest::prelude::*;

    use super::*;

    fn arm() -> Inertial {
        let at = Transform::new(quat_from_rpy(0.3, -0.8, 1.9), Vec3::new(0.1, -0.2, 0.4));
        let inertia = Mat3::from_diagonal(Vec3::new(0.02, 0.03, 0.045));
        Inertial { mass: 2.5, link_from_inertial: at, inertia, origin: InertiaOrigin::Given }
    }

    fn difference(a: &Inertial, b: &Inertial) -> f64 {
        let parts = (a.inertia - b.inertia).to_cols_array();
        let largest = parts.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let centre = a.link_from_inertial.translation - b.link_from_inertial.translation;
        (largest / a.inertia.x_axis.x).max((a.mass - b.mass).abs() / a.mass).max(centre.length())
    }

    #[test]
    fn a_body_is_given_back() {
        assert!(difference(&arm(), &body(&coordinates(&arm()), &arm())) < 1e-13);
    }

    /// The textbook matrix, built by hand, is the product of the factor with itself.
    #[test]
    fn the_factor_is_that_of_the_pseudo_inertia() {
        let (arm, mut wanted) = (arm(), [[0.0; 4]; 4]);
        let turn = Mat3::from_quat(arm.link_from_inertial.rotation);
        let c = arm.link_from_inertial.translation;
        let about_centre = turn * arm.inertia * turn.transpose();
        let steiner =
            Mat3::from_diagonal(Vec3::splat(c.dot(c))) - Mat3::from_cols(c * c.x, c * c.y, c * c.z);
        let about_origin = about_centre + steiner * arm.mass;
        let half = 0.5 * trace(&about_origin);
        for (i, row) in wanted.iter_mut().enumerate().take(3) {
            for (j, entry) in row.iter_mut().enumerate().take(3) {
                *entry = if i == j { half } else { 0.0 } - about_origin.col(j)[i];
            }
            row[3] = arm.mass * c[i];
        }
        wanted[3] = [wanted[0][3], wanted[1][3], wanted[2][3], 0.0];
        wanted[3][3] = arm.mass;
        let [alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3] = coordinates(&arm);
        let u = [
            [exp(d1), s12, s13, t1],
            [0.0, exp(d2), s23, t2],
            [0.0, 0.0, exp(d3), t3],
            [0.0, 0.0, 0.0, 1.0],
        ];
        for i in 0..4 {
            for j in 0..4 {
                let product: f64 =
                    (0..4).map(|k| u[i][k] * u[j][k]).sum::<f64>() * exp(2.0 * alpha);
                assert!((product - wanted[i][j]).abs() < 1e-14, "{i} {j}");
            }
        }
    }

    #[test]
    fn alpha_alone_is_density() {
        let mut numbers = coordinates(&arm());
        numbers[0] += 0.5 * log(3.0);
        let heavy = body(&numbers, &arm());
        assert!((heavy.mass - 7.5).abs() < 1e-13);
        let apart = (heavy.inertia - arm().inertia * 3.0).to_cols_array();
        assert!(apart.iter().all(|x| x.abs() < 1e-15));
    }

    #[test]
    fn a_rod_and_a_point_are_taken_for_thin_bodies() {
        for diagonal in [Vec3::new(0.1, 0.1, 0.0), Vec3::ZERO, Vec3::new(0.0, 0.1, 0.1)] {
            let thin = Inertial { inertia: Mat3::from_diagonal(diagonal), ..arm() };
            let again = body(&coordinates(&thin), &thin);
            assert!(is_physical(again.mass, &again.inertia), "{again:?}");
            let apart = (again.inertia - thin.inertia).to_cols_array();
            assert!(apart.iter().all(|x| x.abs() < 1e-8));
        }
    }

    proptest! {
        /// Whatever a search tries is a body.
        #[test]
        fn every_choice_is_a_body(
            logarithms in prop::array::uniform4(-20.0..20.0_f64),
            lengths in prop::array::uniform6(-1e3..1e3_f64),
        ) {
            let ([a, d1, d2, d3], [s12, s23, s13, t1, t2, t3]) = (logarithms, lengths);
            let numbers = [a, d1, d2, d3, s12, s23, s13, t1, t2, t3];
            let found = body(&numbers, &arm());
            prop_assert!(is_physical(found.mass, &found.inertia), "{found:?}");
        }

        /// There and back, for bodies that are no thinner than a thousandth of their size.
        #[test]
        fn there_and_back(
            logarithms in prop::array::uniform4(-2.0..2.0_f64),
            lengths in prop::array::uniform6(-1.0..1.0_f64),
        ) {
            let ([a, d1, d2, d3], [s12, s23, s13, t1, t2, t3]) = (logarithms, lengths);
            let numbers = [a, d1, d2, d3, s12, s23, s13, t1, t2, t3];
            let again = coordinates(&body(&numbers, &arm()));
            for (found, wanted) in again.iter().zip(numbers) {
                prop_assert!((found - wanted).abs() < 1e-9, "{again:?} for {numbers:?}");
            }
        }
    }
}
