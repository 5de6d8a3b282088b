//! Where the beams of a range finder go: angles in, unit vectors out.
//!
//! A beam at a horizontal angle h and a vertical angle v of a sensor that looks along its own +x,
//! with +z up, goes along `(cos v·cos h, cos v·sin h, sin v)`.

use headland_base::Vec3;
use headland_base::maths::{cos, sin};

/// Angles one after the other, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// How many.
    pub n: usize,
    /// The first \[rad\].
    pub first: f64,
    /// The last \[rad\].
    pub last: f64,
}

impl Sweep {
    /// One angle: straight ahead.
    pub const AHEAD: Sweep = Sweep { n: 1, first: 0.0, last: 0.0 };

    /// Between one and the next \[rad\]; none where there is one.
    pub fn increment(&self) -> f64 {
        if self.n > 1 { (self.last - self.first) / (self.n - 1) as f64 } else { 0.0 }
    }

    /// One of them \[rad\]. A single one is in the middle between first and last.
    pub fn angle(&self, i: usize) -> f64 {
        if self.n > 1 {
            self.first + i as f64 * self.increment()
        } else {
            0.5 * (self.first + self.last)
        }
    }
}

/// The beams of a sensor: row by row from below, each row from right to left where angles grow.
#[derive(Clone, Debug, PartialEq)]
pub struct Fan {
    /// About z.
    pub horizontal: Sweep,
    /// Up from the plane.
    pub vertical: Sweep,
    directions: Vec<Vec3>,
}

impl Fan {
    /// From its angles.
    pub fn new(horizontal: Sweep, vertical: Sweep) -> Fan {
        let row = |v: usize| {
            let (up, flat) = (sin(vertical.angle(v)), cos(vertical.angle(v)));
            (0..horizontal.n).map(move |h| {
                let turn = horizontal.angle(h);
                Vec3::new(flat * cos(turn), flat * sin(turn), up)
            })
        };
        let directions = (0..vertical.n).flat_map(row).collect();
        Fan { horizontal, vertical, directions }
    }

    /// Unit vectors in the frame of the sensor.
    pub fn directions(&self) -> &[Vec3] {
        &self.directions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::maths::PI;

    #[test]
    fn beams_are_evenly_spread_and_the_ends_are_those_declared() {
        let sweep = Sweep { n: 271, first: -0.75 * PI, last: 0.75 * PI };
        assert!((sweep.increment() - PI / 180.0).abs() < 1e-15);
        let fan = Fan::new(sweep, Sweep::AHEAD);
        assert_eq!(fan.directions().len(), 271);
        assert!((fan.directions()[135] - Vec3::X).length() < 1e-12);
        let last = fan.directions()[270];
        assert!((last - Vec3::new(cos(0.75 * PI), sin(0.75 * PI), 0.0)).length() < 1e-12);
    }

    #[test]
    fn one_beam_goes_through_the_middle() {
        let one = |first, last| Fan::new(Sweep { n: 1, first, last }, Sweep::AHEAD).directions()[0];
        assert_eq!(one(-0.5, 0.5), Vec3::X);
        assert!((one(0.3, 0.3) - Vec3::new(cos(0.3), sin(0.3), 0.0)).length() < 1e-15);
    }

    #[test]
    fn rows_go_up() {
        let side = Sweep { n: 3, first: -0.1, last: 0.1 };
        let fan = Fan::new(side, Sweep { n: 2, first: -0.2, last: 0.4 });
        assert!((fan.directions()[1] - Vec3::new(cos(0.2), 0.0, -sin(0.2))).length() < 1e-15);
        assert!((fan.directions()[4] - Vec3::new(cos(0.4), 0.0, sin(0.4))).length() < 1e-15);
        assert!(fan.directions().iter().all(|d| (d.length() - 1.0).abs() < 1e-15));
    }
}
