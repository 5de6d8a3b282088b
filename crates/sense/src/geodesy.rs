//! The Earth as WGS 84 has it: latitude, longitude and height to and from its own Cartesian axes.
//!
//! Earth-centred, Earth-fixed: x through Greenwich on the equator, z through the north pole.

use headland_base::maths::{PI, atan2, cos, hypot, sin, sqrt};
use headland_base::{Mat3, Vec3};

/// Half of the longer axis of the ellipsoid \[m\].
const A: f64 = 6_378_137.0;
/// Flattening.
const F: f64 = 1.0 / 298.257_223_563;
/// Half of the shorter axis \[m\].
const B: f64 = A * (1.0 - F);
/// Square of the first eccentricity.
const E2: f64 = F * (2.0 - F);

/// A point by latitude and longitude \[rad\] and height above the ellipsoid \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geodetic {
    /// North of the equator \[rad\].
    pub latitude: f64,
    /// East of Greenwich \[rad\].
    pub longitude: f64,
    /// Above the ellipsoid \[m\].
    pub height: f64,
}

impl Geodetic {
    /// From degrees and metres.
    pub fn from_degrees(latitude: f64, longitude: f64, height: f64) -> Geodetic {
        let to_rad = PI / 180.0;
        Geodetic { latitude: latitude * to_rad, longitude: longitude * to_rad, height }
    }

    /// Where it is in the axes of the Earth.
    pub fn to_ecef(self) -> Vec3 {
        let (s, c) = (sin(self.latitude), cos(self.latitude));
        let n = A / sqrt(1.0 - E2 * s * s); // radius of curvature across the meridian
        let across = (n + self.height) * c;
        let z = (n * (1.0 - E2) + self.height) * s;
        Vec3::new(across * cos(self.longitude), across * sin(self.longitude), z)
    }

    /// Of a point in the axes of the Earth. Bowring's formula for the reduced latitude, applied
    /// until it stands still: four times for anything from the deep sea to the satellites.
    pub fn from_ecef(point: Vec3) -> Geodetic {
        let across = hypot(point.x, point.y);
        let longitude = if across == 0.0 { 0.0 } else { atan2(point.y, point.x) };
        let second_e2 = E2 / (1.0 - E2);
        let mut reduced = atan2(point.z, (1.0 - F) * across);
        let mut latitude = 0.0;
        for _ in 0..4 {
            let (s, c) = (sin(reduced), cos(reduced));
            let up = point.z + second_e2 * B * s * s * s;
            let out = across - E2 * A * c * c * c;
            latitude = atan2(up, out);
            reduced = atan2((1.0 - F) * sin(latitude), cos(latitude));
        }
        let (s, c) = (sin(latitude), cos(latitude));
        let n = A / sqrt(1.0 - E2 * s * s);
        // Along the normal, which is well told at the poles too.
        let height = across * c + point.z * s - A * A / n;
        Geodetic { latitude, longitude, height }
    }

    /// `ecef_from_enu`: the directions east, north and up here, as columns.
    pub fn ecef_from_enu(self) -> Mat3 {
        let (sl, cl) = (sin(self.latitude), cos(self.latitude));
        let (so, co) = (sin(self.longitude), cos(self.longitude));
        Mat3::from_cols(
            Vec3::new(-so, co, 0.0),
            Vec3::new(-sl * co, -sl * so, cl),
            Vec3::new(cl * co, cl * so, sl),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::maths::{FRAC_PI_2, cbrt};

    /// Heikkinen's closed form of 1982: another road to the same point.
    fn heikkinen(point: Vec3) -> Geodetic {
        let (r2, z) = (point.x * point.x + point.y * point.y, point.z);
        let r = sqrt(r2);
        let second_e2 = E2 / (1.0 - E2);
        let f = 54.0 * B * B * z * z;
        let g = r2 + (1.0 - E2) * z * z - E2 * (A * A - B * B);
        let c = E2 * E2 * f * r2 / (g * g * g);
        let s = cbrt(1.0 + c + sqrt(c * c + 2.0 * c));
        let k = s + 1.0 + 1.0 / s;
        let p = f / (3.0 * k * k * g * g);
        let q = sqrt(1.0 + 2.0 * E2 * E2 * p);
        let inner =
            0.5 * A * A * (1.0 + 1.0 / q) - p * (1.0 - E2) * z * z / (q * (1.0 + q)) - 0.5 * p * r2;
        let r0 = -p * E2 * r / (1.0 + q) + sqrt(inner.max(0.0));
        let t = r - E2 * r0;
        let (u, v) = (sqrt(t * t + z * z), sqrt(t * t + (1.0 - E2) * z * z));
        let z0 = B * B * z / (A * v);
        Geodetic {
            latitude: atan2(z + second_e2 * z0, r),
            longitude: atan2(point.y, point.x),
            height: u * (1.0 - B * B / (A * v)),
        }
    }

    /// There and back to a ten-millionth of a metre, and by another road to what that road's own
    /// roots leave of the digits.
    #[test]
    fn there_and_back_by_two_roads() {
        for i in -89..=89 {
            for (j, height) in [(-170, -4000.0), (-3, 0.0), (45, 350.0), (121, 9000.0), (179, 2e7)]
            {
                let point = Geodetic::from_degrees(f64::from(i), f64::from(j), height);
                let ecef = point.to_ecef();
                let back = Geodetic::from_ecef(ecef);
                assert!(back.to_ecef().distance(ecef) < 1e-7, "{point:?} {back:?}");
                assert!((back.height - height).abs() < 1e-7, "{point:?} {back:?}");
                assert!((back.latitude - point.latitude).abs() < 1e-14, "{point:?} {back:?}");
                let other = heikkinen(ecef);
                assert!((back.latitude - other.latitude).abs() < 1e-11, "{back:?} {other:?}");
                assert!((back.height - other.height).abs() < 1e-4, "{back:?} {other:?}");
            }
        }
    }

    #[test]
    fn the_ellipsoid_is_where_its_axes_are() {
        let at = |lat, lon| Geodetic { latitude: lat, longitude: lon, height: 0.0 }.to_ecef();
        assert!(at(0.0, 0.0).distance(Vec3::new(A, 0.0, 0.0)) < 1e-8);
        assert!(at(0.0, FRAC_PI_2).distance(Vec3::new(0.0, A, 0.0)) < 1e-8);
        assert!(at(FRAC_PI_2, 0.3).distance(Vec3::new(0.0, 0.0, B)) < 1e-8);
        let pole = Geodetic::from_ecef(Vec3::new(0.0, 0.0, -B - 10.0));
        assert!((pole.height - 10.0).abs() < 1e-8 && (pole.latitude + FRAC_PI_2).abs() < 1e-15);
    }

    /// A quarter of the meridian is 10 001 965.729 m: the sum of small steps north.
    #[test]
    fn the_way_to_the_pole_is_as_long_as_it_is() {
        let n = 20_000;
        let at = |i: i32| {
            let latitude = FRAC_PI_2 * f64::from(i) / f64::from(n);
            Geodetic { latitude, longitude: 0.4, height: 0.0 }.to_ecef()
        };
        let length: f64 = (0..n).map(|i| at(i).distance(at(i + 1))).sum();
        assert!((length - 10_001_965.729).abs() < 0.01, "{length}");
    }

    #[test]
    fn east_north_and_up_are_the_ways_the_numbers_grow() {
        let here = Geodetic::from_degrees(43.6, 1.4, 150.0);
        let turn = here.ecef_from_enu();
        let after = |enu: Vec3| Geodetic::from_ecef(here.to_ecef() + turn * enu);
        let (east, north, up) = (after(Vec3::X), after(Vec3::Y), after(Vec3::Z));
        assert!(east.longitude > here.longitude && (east.latitude - here.latitude).abs() < 1e-12);
        assert!(north.latitude > here.latitude && (north.longitude - here.longitude).abs() < 1e-15);
        assert!((up.height - here.height - 1.0).abs() < 1e-8);
    }
}
