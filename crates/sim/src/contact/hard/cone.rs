//! One contact by itself: the impulse that keeps it from closing, with Coulomb's friction.
//!
//! Given the contact's own 3×3 block `W` (normal first, then two tangents), the velocity `q`
//! it would have without its impulse, and the least normal velocity `c`, find `λ` with
//!
//! ```text
//! u = W·λ + q,   0 ≤ λ_n ⊥ u_n − c ≥ 0,   (λ_1/μ_1)² + (λ_2/μ_2)² ≤ λ_n²,
//! and where u_t ≠ 0 the friction that dissipates most.
//! ```
//!
//! Tangents are measured in units of their μ, which makes the cone round with slope one.
//! Either nothing is needed, or the contact sticks, or it slides. A sliding contact has
//! `u_t = −γ·λ_t` with some γ > 0; with `λ_n` eliminated, `λ_t = −(A + γ)⁻¹·a`, and
//! `|λ_t| = λ_n` leaves one equation for γ, which falls from positive to negative.

use headland_base::maths::{length, sqrt};
use headland_base::{Mat3, Vec3};

use super::{Stair, Strength};

/// What about a contact does not change while a problem is solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cone {
    /// W of the contact; x normal, y and z tangents.
    block: Mat3,
    /// Its inverse; zero where it has none.
    inverse: Mat3,
    mu: [f64; 2],
    /// Whether there is friction at all.
    rubs: bool,
    /// In units of μ: `A = V·diag(stiff)·Vᵀ` with V = (cos −sin; sin cos), and `W_tn`.
    stiff: [f64; 2],
    turn: (f64, f64),
    lever: [f64; 2],
    /// γ of the last sliding, to start the next search at.
    gamma: f64,
}

/// Friction below this counts as none in one direction.
const MU_MIN: f64 = 1e-9;

impl Cone {
    pub(super) fn new(block: Mat3, mu: f64, mu2: f64) -> Cone {
        let rubs = mu.max(mu2) > MU_MIN;
        let mu = [mu.max(MU_MIN), mu2.max(MU_MIN)];
        let determinant = block.determinant();
        let is_regular = determinant > 1e-14 * block.x_axis.x * block.y_axis.y * block.z_axis.z;
        let inverse = if is_regular { block.inverse() } else { Mat3::ZERO };
        let normal = block.x_axis.x;
        let lever = [block.x_axis.y * mu[0], block.x_axis.z * mu[1]];
        let a11 = block.y_axis.y * mu[0] * mu[0] - lever[0] * lever[0] / normal;
        let a22 = block.z_axis.z * mu[1] * mu[1] - lever[1] * lever[1] / normal;
        let a12 = block.y_axis.z * mu[0] * mu[1] - lever[0] * lever[1] / normal;
        let (stiff, turn) = eigen2(a11, a12, a22);
        let stiff = [stiff[0].max(0.0), stiff[1].max(0.0)];
        Cone { block, inverse, mu, rubs, stiff, turn, lever, gamma: 0.0 }
    }

    /// The largest entry on the diagonal: turns an impulse into a velocity \[1/kg\].
    pub(super) fn scale(&self) -> f64 {
        self.block.x_axis.x.max(self.block.y_axis.y).max(self.block.z_axis.z)
    }

    /// The impulse for the velocity `free` and the least normal velocity `target`.
    pub(super) fn solve(&mut self, free: Vec3, target: f64) -> Vec3 {
        let normal = self.block.x_axis.x;
        let lacking = target - free.x;
        // Written so that what is not a number asks for nothing.
        if !(lacking > 0.0 && normal > 0.0) {
            return Vec3::ZERO;
        }
        if !self.rubs {
            return Vec3::new(lacking / normal, 0.0, 0.0);
        }
        let stuck = self.inverse * (Vec3::new(target, 0.0, 0.0) - free);
        let (s1, s2) = (stuck.y / self.mu[0], stuck.z / self.mu[1]);
        if stuck.x > 0.0 && s1 * s1 + s2 * s2 <= stuck.x * stuck.x {
            return stuck;
        }
        self.slide(free, lacking)
    }

    /// The same of a contact that is only so strong: one stair after the other is tried.
    pub(super) fn solve_within(&mut self, free: Vec3, target: f64, strength: Strength) -> Vec3 {
        let held = self.solve(free, target);
        if held.x <= strength.most {
            return held;
        }
        let undone = self.solve(free, target - strength.give);
        if undone.x >= strength.most {
            return undone;
        }
        self.rub_under(free, strength.most)
    }

    /// Friction under a normal impulse that is known: within the disc of its radius, what holds
    /// still, or slides as `(W_tt + γ)·λ_t = −q`. Rare, so γ is found by halving.
    fn rub_under(&self, free: Vec3, pressure: f64) -> Vec3 {
        if !self.rubs {
            return Vec3::new(pressure, 0.0, 0.0);
        }
        let (mu, block) = (self.mu, &self.block);
        let q = [
            (free.y + block.x_axis.y * pressure) * mu[0],
            (free.z + block.x_axis.z * pressure) * mu[1],
        ];
        let a11 = block.y_axis.y * mu[0] * mu[0];
        let a22 = block.z_axis.z * mu[1] * mu[1];
        let a12 = block.y_axis.z * mu[0] * mu[1];
        let at = |gamma: f64| {
            let (d1, d2) = (a11 + gamma, a22 + gamma);
            let determinant = d1 * d2 - a12 * a12;
            let (t1, t2) = (a12 * q[1] - d2 * q[0], a12 * q[0] - d1 * q[1]);
            (t1 / determinant, t2 / determinant)
        };
        let is_within = |gamma: f64| {
            let (t1, t2) = at(gamma);
            t1 * t1 + t2 * t2 <= pressure * pressure
        };
        let least = 1e-12 * (a11 + a22);
        let mut gamma = (least, sqrt(q[0] * q[0] + q[1] * q[1]) / pressure);
        if is_within(least) {
            gamma.1 = least;
        }
        for _ in 0..100 {
            let middle = 0.5 * (gamma.0 + gamma.1);
            if middle <= gamma.0 || middle >= gamma.1 {
                break;
            }
            if is_within(middle) { gamma.1 = middle } else { gamma.0 = middle }
        }
        let (t1, t2) = at(gamma.1);
        if t1.is_finite() && t2.is_finite() {
            Vec3::new(pressure, t1 * mu[0], t2 * mu[1])
        } else {
            Vec3::new(pressure, 0.0, 0.0)
        }
    }

    fn slide(&mut self, free: Vec3, lacking: f64) -> Vec3 {
        let normal = self.block.x_axis.x;
        // What the tangents would do if the normal alone were answered, along A's own axes.
        let push = lacking / normal;
        let a1 = free.y * self.mu[0] + self.lever[0] * push;
        let a2 = free.z * self.mu[1] + self.lever[1] * push;
        let (c, s) = self.turn;
        let (a1, a2) = (c * a1 + s * a2, c * a2 - s * a1);
        let (w1, w2) =
            (c * self.lever[0] + s * self.lever[1], c * self.lever[1] - s * self.lever[0]);
        let at = |gamma: f64| {
            let t1 = -a1 / (self.stiff[0] + gamma);
            let t2 = -a2 / (self.stiff[1] + gamma);
            (t1, t2, push - (w1 * t1 + w2 * t2) / normal)
        };
        // Positive while the tangents ask for more than the normal allows.
        let excess = |gamma: f64| {
            let (t1, t2, n) = at(gamma);
            sqrt(t1 * t1 + t2 * t2) - n
        };
        let slope = |gamma: f64| {
            let (t1, t2, _) = at(gamma);
            let (d1, d2) = (-t1 / (self.stiff[0] + gamma), -t2 / (self.stiff[1] + gamma));
            let length = sqrt(t1 * t1 + t2 * t2);
            (t1 * d1 + t2 * d2) / length + (w1 * d1 + w2 * d2) / normal
        };
        let back =
            |t1: f64, t2: f64| ((c * t1 - s * t2) * self.mu[0], (s * t1 + c * t2) * self.mu[1]);
        // A contact that cannot move in some direction has no inverse, and sticks here.
        let least = 1e-12 * self.stiff[1];
        if excess(least) <= 0.0 {
            let (t1, t2, n) = at(least);
            let (f1, f2) = back(t1, t2);
            return Vec3::new(n, f1, f2);
        }
        let mut low = least;
        let mut high = self.stiff[1].max(self.gamma).max(sqrt(a1 * a1 + a2 * a2) / push);
        for _ in 0..200 {
            if excess(high) <= 0.0 {
                break;
            }
            low = high;
            high *= 2.0;
        }
        let mut gamma = if self.gamma > low && self.gamma < high { self.gamma } else { high };
        for _ in 0..100 {
            let value = excess(gamma);
            if value > 0.0 {
                low = gamma
            } else {
                high = gamma
            }
            let step = value / slope(gamma);
            let next = gamma - step;
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            let moved = (next - gamma).abs();
            gamma = next;
            if moved <= 1e-15 * gamma || value == 0.0 {
                break;
            }
        }
        self.gamma = gamma;
        let (t1, t2, _) = at(gamma);
        let length = sqrt(t1 * t1 + t2 * t2);
        // The direction is found; on the cone and with the normal answered to the last bit.
        let (e1, e2) = if length > 0.0 { (t1 / length, t2 / length) } else { (0.0, 0.0) };
        let pressure = lacking / (normal + w1 * e1 + w2 * e2);
        if pressure.is_nan() || pressure <= 0.0 {
            return Vec3::new(push, 0.0, 0.0);
        }
        let (f1, f2) = back(e1, e2);
        Vec3::new(pressure, pressure * f1, pressure * f2)
    }

    pub(super) fn block(&self) -> Mat3 {
        self.block
    }
}

/// What a contact's law needs to be checked: less than it takes to be solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// Velocity along the normal per impulse along it \[1/kg\].
    pub(super) w: f64,
    pub(super) mu: [f64; 2],
    /// Whether there is friction at all.
    pub(super) rubs: bool,
}

impl Law {
    #[inline(always)]
    pub(super) fn new(w: f64, mu: f64, mu2: f64) -> Law {
        Law { w, mu: [mu.max(MU_MIN), mu2.max(MU_MIN)], rubs: mu.max(mu2) > MU_MIN }
    }

    /// Whether an impulse moves anything.
    pub(super) fn answers(&self) -> bool {
        self.w > 0.0
    }

    /// How far an impulse and the velocity it leaves are from the law \[m/s\]: the length of
    /// `λ − P(λ − (u + |u_t|·n)/w)` times w, tangents in units of μ, P the projection on the
    /// cone. Zero where the law holds, and nowhere else.
    #[inline(always)]
    pub(super) fn residual(
        &self,
        impulse: Vec3,
        velocity: Vec3,
        target: f64,
        strength: Strength,
    ) -> f64 {
        let Law { w, mu, rubs } = *self;
        if w.is_nan() || w <= 0.0 {
            return 0.0;
        }
        let mut gap_speed = velocity.x - target;
        match strength.stair(impulse.x - gap_speed / w, w) {
            Stair::Holds => {}
            Stair::Gives => return self.residual_under(impulse, velocity, strength.most),
            Stair::Undone => gap_speed += strength.give,
        }
        if !rubs {
            let off = impulse.x - (impulse.x - gap_speed / w).max(0.0);
            return (off * w).abs();
        }
        let (u1, u2) = (velocity.y * mu[0], velocity.z * mu[1]);
        let held = Vec3::new(impulse.x, impulse.y / mu[0], impulse.z / mu[1]);
        let u = Vec3::new(gap_speed + sqrt(u1 * u1 + u2 * u2), u1, u2);
        length((held - onto_cone(held - u / w)) * w)
    }

    /// The same where the normal impulse is known.
    fn residual_under(&self, impulse: Vec3, velocity: Vec3, pressure: f64) -> f64 {
        let Law { w, mu, rubs } = *self;
        let off_normal = impulse.x - pressure;
        if !rubs {
            return (off_normal * w).abs();
        }
        let held = [impulse.y / mu[0], impulse.z / mu[1]];
        let z = [held[0] - velocity.y * mu[0] / w, held[1] - velocity.z * mu[1] / w];
        let sliding = sqrt(z[0] * z[0] + z[1] * z[1]);
        let part = if sliding > pressure { pressure / sliding } else { 1.0 };
        length(Vec3::new(off_normal, held[0] - z[0] * part, held[1] - z[1] * part) * w)
    }
}

/// The nearest point of the cone `|t| ≤ n`.
#[inline(always)]
fn onto_cone(p: Vec3) -> Vec3 {
    let length = sqrt(p.y * p.y + p.z * p.z);
    if length <= p.x {
        p
    } else if length <= -p.x {
        Vec3::ZERO
    } else {
        let middle = 0.5 * (p.x + length);
        Vec3::new(middle, p.y / length * middle, p.z / length * middle)
    }
}

/// Eigenvalues, smaller first, and (cos, sin) of the first axis of a symmetric 2×2 matrix.
fn eigen2(a11: f64, a12: f64, a22: f64) -> ([f64; 2], (f64, f64)) {
    let (mean, half) = (0.5 * (a11 + a22), 0.5 * (a11 - a22));
    let radius = sqrt(half * half + a12 * a12);
    if radius == 0.0 {
        return ([mean, mean], (1.0, 0.0));
    }
    // Of the two ways to write the axis the one without cancellation.
    let (x, y) = if half <= 0.0 { (radius - half, -a12) } else { (-a12, radius + half) };
    let length = sqrt(x * x + y * y);
    ([mean - radius, mean + radius], (x / length, y / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_are() {
        for (a, b, c) in
            [(2.0, 0.5, 1.0), (1.0, -0.7, 3.0), (1.0, 0.0, 1.0), (1.0, 0.0, 2.0), (2.0, 0.0, 1.0)]
        {
            let ([small, large], (x, y)) = eigen2(a, b, c);
            assert!(small <= large);
            assert!((a * x + b * y - small * x).abs() < 1e-14);
            assert!((b * x + c * y - small * y).abs() < 1e-14);
        }
    }
}
