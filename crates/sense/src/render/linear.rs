//! The rays of all pixels, and what is linear and quadratic in them; `project` says of what.

use headland_base::maths::sqrt;
use headland_base::{Transform, Vec3};

use crate::camera::View;

/// a·u + b·v + c.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Linear {
    pub a: f64,
    pub b: f64,
    pub c: f64,
}

impl Linear {
    #[inline(always)]
    pub fn at(&self, u: f64, v: f64) -> f64 {
        self.a * u + self.b * v + self.c
    }

    pub fn scaled(self, factor: f64) -> Linear {
        Linear { a: self.a * factor, b: self.b * factor, c: self.c * factor }
    }

    pub fn plus(self, other: Linear) -> Linear {
        Linear { a: self.a + other.a, b: self.b + other.b, c: self.c + other.c }
    }

    pub fn squared(self) -> Quadratic {
        let Linear { a, b, c } = self;
        Quadratic {
            uu: a * a,
            uv: 2.0 * a * b,
            vv: b * b,
            u: 2.0 * a * c,
            v: 2.0 * b * c,
            c: c * c,
        }
    }
}

/// uu·u² + uv·u·v + vv·v² + u·u + v·v + c.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quadratic {
    pub uu: f64,
    pub uv: f64,
    pub vv: f64,
    pub u: f64,
    pub v: f64,
    pub c: f64,
}

impl Quadratic {
    pub fn plus(self, other: Quadratic, factor: f64) -> Quadratic {
        Quadratic {
            uu: self.uu + factor * other.uu,
            uv: self.uv + factor * other.uv,
            vv: self.vv + factor * other.vv,
            u: self.u + factor * other.u,
            v: self.v + factor * other.v,
            c: self.c + factor * other.c,
        }
    }

    /// The same function of (u − u0, v − v0).
    #[inline(always)]
    pub fn rebased(&self, u0: f64, v0: f64) -> Quadratic {
        Quadratic {
            uu: self.uu,
            uv: self.uv,
            vv: self.vv,
            u: self.u + 2.0 * self.uu * u0 + self.uv * v0,
            v: self.v + 2.0 * self.vv * v0 + self.uv * u0,
            c: self.c + (self.u + self.uu * u0 + self.uv * v0) * u0 + (self.v + self.vv * v0) * v0,
        }
    }

    /// The box around where it is not negative, if that is an ellipse: left, top, right, bottom.
    pub fn extent(&self) -> Option<[f64; 4]> {
        let (h, p, q) = (self.uv * 0.5, self.u * 0.5, self.v * 0.5);
        let m33 = self.uu * self.vv - h * h;
        if !(self.uu < 0.0 && self.vv < 0.0 && m33 > 0.0) {
            return None;
        }
        let (m13, m23) = (h * q - self.vv * p, h * p - self.uu * q);
        let (m11, m22) = (self.vv * self.c - q * q, self.uu * self.c - p * p);
        let (su, sv) = (m13 * m13 - m11 * m33, m23 * m23 - m22 * m33);
        if su < 0.0 || sv < 0.0 {
            // Nowhere: a patch without pixels.
            return Some([0.0, 0.0, -1.0, -1.0]);
        }
        let (ru, rv) = (sqrt(su), sqrt(sv));
        let out = [(m13 - ru) / m33, (m23 - rv) / m33, (m13 + ru) / m33, (m23 + rv) / m33];
        out.iter().all(|x| x.is_finite()).then_some(out)
    }
}

/// The rays of all pixels, in some frame: origin and direction at pixel (0, 0), and how they
/// change along u and v.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rays {
    pub origin: [Vec3; 3],
    pub direction: [Vec3; 3],
    pub is_parallel: bool,
}

impl Rays {
    /// Of a camera, in the world.
    pub fn of_view(view: &View) -> Rays {
        let pinhole = &view.pinhole;
        let turn = |x: f64, y: f64, z: f64| view.world_from_optical.vector(Vec3::new(x, y, z));
        let at = pinhole.direction(headland_base::maths::Vec2::ZERO);
        Rays {
            origin: [view.world_from_optical.translation, Vec3::ZERO, Vec3::ZERO],
            direction: [
                turn(at.x, at.y, 1.0),
                turn(1.0 / pinhole.focal.x, 0.0, 0.0),
                turn(-pinhole.skew / pinhole.focal.y, 1.0 / pinhole.focal.y, 0.0),
            ],
            is_parallel: false,
        }
    }

    pub fn moved(&self, into: Transform) -> Rays {
        let [o, ou, ov] = self.origin;
        let direction = self.direction.map(|d| into.vector(d));
        let origin = match self.is_parallel {
            true => [into.point(o), into.vector(ou), into.vector(ov)],
            false => [into.point(o), Vec3::ZERO, Vec3::ZERO],
        };
        Rays { origin, direction, is_parallel: self.is_parallel }
    }

    pub fn along(&self, m: Vec3) -> Linear {
        let [c, a, b] = self.direction.map(|d| m.dot(d));
        Linear { a, b, c }
    }

    pub fn across(&self, m: Vec3) -> Linear {
        let [c, a, b] = self.origin.map(|o| m.dot(o));
        Linear { a, b, c }
    }

    /// Nearness of the plane `normal·p = k`, and whether its outside is seen. `None` for a plane
    /// seen from its edge.
    pub fn plane(&self, normal: Vec3, k: f64) -> Option<(Linear, bool)> {
        if self.is_parallel {
            let steepness = normal.dot(self.direction[0]);
            let mut w = self.across(normal).scaled(1.0 / steepness);
            w.c -= k / steepness;
            return (steepness != 0.0).then_some((w, steepness < 0.0));
        }
        let gap = k - normal.dot(self.origin[0]);
        (gap != 0.0).then(|| (self.along(normal).scaled(1.0 / gap), gap < 0.0))
    }

    /// Positive where rays pass to the left of the edge from `a` to `b`, seen from the eye with
    /// the outside facing it; in pixels, where it can be.
    pub fn edge(&self, a: Vec3, b: Vec3) -> (Linear, f64) {
        let e = if self.is_parallel {
            let d = self.direction[0];
            let mut e = self.across(d.cross(a - b));
            e.c += d.dot(b.cross(a));
            e
        } else {
            let o = self.origin[0];
            self.along((b - o).cross(a - o))
        };
        let length = sqrt(e.a * e.a + e.b * e.b);
        if length > 0.0 { (e.scaled(1.0 / length), length) } else { (e, 0.0) }
    }
}
