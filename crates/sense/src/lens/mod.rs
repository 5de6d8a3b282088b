//! Lenses: directions to distorted image coordinates and back.
//!
//! Two models, both OpenCV's. With x = X/Z, y = Y/Z and r² = x² + y²:
//!
//! - [`Lens::Bouguet`], five coefficients, the model of the Matlab calibration toolbox:
//!   `xd = x·(1 + k1·r² + k2·r⁴ + k3·r⁶) + 2·p1·x·y + p2·(r² + 2·x²)`,
//!   `yd = y·(…) + p1·(r² + 2·y²) + 2·p2·x·y`;
//! - [`Lens::Fisheye`], four coefficients (Kannala and Brandt 2006): the angle θ from the axis
//!   becomes the radius `θ·(1 + k1·θ² + k2·θ⁴ + k3·θ⁶ + k4·θ⁸)`, up to half a turn.
//!
//! Both polynomials turn back at some radius: beyond this *fold* two directions would be seen at
//! one place. Nothing is seen there; pixels that only such directions reach are black.
//!
//! The inverse has no closed form. It is solved by Newton's method from a bracketed start to the
//! last bits; OpenCV's own five rounds of a fixed point are off by half a pixel at wide angles.
//!
//! Focal lengths, the principal point and skew are the [`Pinhole`](crate::camera::Pinhole)'s.
//! [`Table`] makes images.

mod table;

use headland_base::Vec3;
use headland_base::maths::{PI, Vec2, atan2, cos, sin, sqrt};

pub use table::Table;

/// What a lens does to directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens {
    /// Nothing: a pinhole.
    None,
    /// Radial and tangential distortion.
    Bouguet {
        /// k1, k2, k3 of r², r⁴, r⁶.
        k: [f64; 3],
        /// p1, p2: a lens that is not quite parallel to the sensor.
        p: [f64; 2],
    },
    /// Radius by angle.
    Fisheye {
        /// k1 to k4 of θ², θ⁴, θ⁶, θ⁸.
        k: [f64; 4],
    },
}

/// Beyond this radius a pinhole's image is too large to be thought of: 89.4° from the axis.
const MOST_RADIUS: f64 = 100.0;

impl Lens {
    /// The same lens; [`Lens::None`] where its coefficients are nothing.
    pub fn or_none(self) -> Lens {
        match self {
            Lens::Bouguet { k: [0.0, 0.0, 0.0], p: [0.0, 0.0] } => Lens::None,
            other => other,
        }
    }

    /// The radius (of a fisheye: the angle \[rad\]) at which the image turns back, or where there
    /// is nothing more to see.
    pub fn fold(&self) -> f64 {
        match self {
            Lens::None => f64::INFINITY,
            Lens::Bouguet { k, .. } => {
                let fold = first_zero(&[1.0, 3.0 * k[0], 5.0 * k[1], 7.0 * k[2]]);
                sqrt(fold.min(MOST_RADIUS * MOST_RADIUS))
            }
            Lens::Fisheye { k } => {
                let fold = first_zero(&[1.0, 3.0 * k[0], 5.0 * k[1], 7.0 * k[2], 9.0 * k[3]]);
                sqrt(fold.min(PI * PI))
            }
        }
    }

    /// Where a direction, in the optical frame, lands: image coordinates of focal length 1.
    /// `None` for what no pinhole sees and what is beyond the fold.
    pub fn project(&self, direction: Vec3) -> Option<Vec2> {
        self.project_within(direction, self.fold())
    }

    /// The same for whoever has worked out the fold, which takes longer than the rest.
    pub fn project_within(&self, d: Vec3, fold: f64) -> Option<Vec2> {
        match self {
            Lens::Fisheye { k } => {
                let r = sqrt(d.x * d.x + d.y * d.y);
                let angle = atan2(r, d.z);
                if angle >= fold {
                    return None;
                }
                // On the axis the radius is the angle.
                let scale = if r > 0.0 { angle * even(k, angle * angle) / r } else { 1.0 / d.z };
                Some(Vec2::new(d.x * scale, d.y * scale))
            }
            _ => {
                let p = Vec2::new(d.x / d.z, d.y / d.z);
                (d.z > 0.0 && p.length_squared() < fold * fold).then(|| self.bent(p).0)
            }
        }
    }

    /// The direction that lands at a place, as a vector of length 1 or, of what a pinhole sees,
    /// with z = 1. `None` where nothing lands.
    pub fn unproject(&self, place: Vec2) -> Option<Vec3> {
        self.unproject_within(place, self.fold())
    }

    /// The same for whoever has worked out the fold.
    pub fn unproject_within(&self, place: Vec2, fold: f64) -> Option<Vec3> {
        let radius = place.length();
        match self {
            Lens::None => Some(place.extend(1.0)),
            Lens::Fisheye { k } => {
                let angle = inverse_odd(k, radius, fold)?;
                let (s, c) = (sin(angle), cos(angle));
                let scale = if radius > 0.0 { s / radius } else { 1.0 };
                Some(Vec3::new(place.x * scale, place.y * scale, c))
            }
            Lens::Bouguet { k, .. } => {
                // Without the tangential part first; beyond the fold, its rim, from which that
                // part may still lead back.
                let rim = fold * even(k, fold * fold);
                let r = match radius < rim {
                    true => inverse_odd(k, radius, fold)?,
                    false if radius < rim * 1.1 => fold * 0.999,
                    false => return None,
                };
                let start = if radius > 0.0 { place * (r / radius) } else { place };
                self.newton(place, start, fold)
            }
        }
    }

    /// The distorted place of Bouguet's model, and how it changes with x and with y.
    fn bent(&self, at: Vec2) -> (Vec2, [Vec2; 2]) {
        let Lens::Bouguet { k, p } = self else { return (at, [Vec2::X, Vec2::Y]) };
        let Vec2 { x, y } = at;
        let r2 = x * x + y * y;
        let radial = even(k, r2);
        // d(radial)/d(r²)
        let slope = k[0] + r2 * (2.0 * k[1] + r2 * 3.0 * k[2]);
        let [p1, p2] = *p;
        let place = Vec2::new(
            x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x),
            y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y,
        );
        let cross = 2.0 * x * y * slope + 2.0 * p1 * x + 2.0 * p2 * y;
        let by_x = Vec2::new(radial + 2.0 * x * x * slope + 2.0 * p1 * y + 6.0 * p2 * x, cross);
        let by_y = Vec2::new(cross, radial + 2.0 * y * y * slope + 6.0 * p1 * y + 2.0 * p2 * x);
        (place, [by_x, by_y])
    }

    fn newton(&self, place: Vec2, start: Vec2, fold: f64) -> Option<Vec3> {
        let mut at = start;
        let mut off = f64::INFINITY;
        for _ in 0..50 {
            let (here, [by_x, by_y]) = self.bent(at);
            let error = here - place;
            let before = off;
            off = error.length();
            // Quadratic until rounding is all that is left.
            if off < 1e-15 * (1.0 + place.length()) || (off < 1e-13 && off >= before) {
                break;
            }
            let size = by_x.perp_dot(by_y);
            if size <= 0.0 {
                return None;
            }
            // The inverse of a matrix of two columns.
            let step = Vec2::new(error.perp_dot(by_y), by_x.perp_dot(error)) / size;
            at -= step;
        }
        (off < 1e-12 && at.length_squared() < fold * fold).then(|| at.extend(1.0))
    }
}

/// 1 + k1·s + k2·s² + …
fn even(k: &[f64], s: f64) -> f64 {
    1.0 + s * k.iter().rev().fold(0.0, |sum, k| k + s * sum)
}

/// The r below `fold` with r·even(r²) = `value`: Newton, kept between bounds that close in.
fn inverse_odd(k: &[f64], value: f64, fold: f64) -> Option<f64> {
    let (mut low, mut high) = (0.0, fold);
    let at = |r: f64| r * even(k, r * r) - value;
    if at(high) <= 0.0 {
        return None;
    }
    let slope = |r: f64| {
        let s = r * r;
        let n = k.len();
        1.0 + s * (0..n).rev().fold(0.0, |sum, i| (2 * i + 3) as f64 * k[i] + s * sum)
    };
    let mut r = value.min(high * 0.5);
    for _ in 0..200 {
        let error = at(r);
        if error > 0.0 {
            high = r
        } else {
            low = r
        }
        let next = r - error / slope(r);
        let next = if next > low && next < high { next } else { (low + high) * 0.5 };
        if (next - r).abs() <= 4e-16 * (1.0 + r) {
            return Some(next);
        }
        r = next;
    }
    Some(r)
}

/// Where a polynomial that is 1 at zero first becomes zero for a positive argument; infinite
/// where it never does.
fn first_zero(coefficients: &[f64]) -> f64 {
    zeros(coefficients).into_iter().next().unwrap_or(f64::INFINITY)
}

/// Every positive zero of a polynomial at which it changes its sign, in order: between zeros of
/// its slope it is monotone, so one lies between every two values of unlike sign.
fn zeros(coefficients: &[f64]) -> Vec<f64> {
    let n = coefficients.iter().rposition(|c| *c != 0.0).map_or(0, |last| last + 1);
    let coefficients = &coefficients[..n];
    if n < 2 {
        return Vec::new();
    }
    let at = |s: f64| coefficients.iter().rev().fold(0.0, |sum, c| c + s * sum);
    let slope: Vec<f64> =
        coefficients.iter().enumerate().skip(1).map(|(i, c)| i as f64 * c).collect();
    // Beyond Cauchy's bound there is none.
    let last = coefficients[n - 1].abs();
    let bound = 1.0 + coefficients.iter().fold(0.0f64, |most, c| most.max(c.abs() / last));
    let turns = zeros(&slope).into_iter().filter(|turn| *turn < bound);
    let stops: Vec<f64> = std::iter::once(0.0).chain(turns).chain(std::iter::once(bound)).collect();
    let mut out = Vec::new();
    for pair in stops.windows(2) {
        let (mut low, mut high) = (pair[0], pair[1]);
        let is_up = at(high) > 0.0;
        if (at(low) > 0.0) == is_up {
            continue;
        }
        for _ in 0..1200 {
            let middle = (low + high) * 0.5;
            if middle <= low || middle >= high {
                break;
            }
            if (at(middle) > 0.0) == is_up { high = middle } else { low = middle }
        }
        out.push(low);
    }
    out
}
