//! Soft contact: bodies may overlap, and the overlap pushes. Two laws over one point.
//!
//! `soft` is that of Friedmann, Petersen and von Stryk (2008), equations 1 and 2, with the signs
//! they leave to the reader: with depth `d`, normal `n`, and `v`, `ω` of b relative to a,
//!
//! ```text
//! F_n = k·d·n        while closing (v·n ≤ 0)
//! F_n = s_b·k·d·n    while separating
//! F_t = −s_μ·|F_n|·v_t
//! τ   = −s_ν·|F_n|·ω
//! ```
//!
//! What follows from it: a ball bounces with restitution √s_b whatever its speed, friction is
//! viscous, so nothing ever quite stands still on a slope. `soft_coulomb` is the same with the
//! sliding force held within `μ·|F_n|`. `docs/src/contact.md` has the consequences and how
//! short a step must be.

use std::collections::BTreeMap;

use headland_base::Vec3;
use headland_base::maths::sqrt;

use crate::model::Model;

/// What two kinds of surface make of each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceLaw {
    /// Spring constant k \[N/m\].
    pub stiffness: f64,
    /// Separation factor s_b, 0 to 1: the spring while separating. Restitution is its root.
    pub separation: f64,
    /// Viscous sliding friction s_μ \[s/m\].
    pub sliding: f64,
    /// Viscous spin friction s_ν \[m·s\].
    pub spinning: f64,
    /// Coulomb's limit μ; only `soft_coulomb` heeds it.
    pub mu: f64,
}

impl Default for SurfaceLaw {
    /// For robots of 3 to 5 kg: they sink in by one or two millimetres.
    fn default() -> SurfaceLaw {
        SurfaceLaw { stiffness: 3e4, separation: 0.1, sliding: 50.0, spinning: 0.05, mu: 1.0 }
    }
}

impl SurfaceLaw {
    /// The coefficient of restitution it gives.
    pub fn restitution(&self) -> f64 {
        sqrt(self.separation)
    }

    /// The longest step \[s\] with which a mass \[kg\] on one point keeps its restitution to a
    /// few percent (`h·√(k/m) ≤ 0.17`) and its friction stays stable under gravity \[m/s²\]
    /// (`h < 2/(s_μ·g)`).
    pub fn step_max(&self, mass: f64, gravity: f64) -> f64 {
        (0.17 * sqrt(mass / self.stiffness)).min(2.0 / (self.sliding * gravity))
    }
}

/// Two bodies at a point where they overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMotion {
    /// How far they overlap \[m\]; nothing happens at zero or less.
    pub depth: f64,
    /// Unit, from a to b.
    pub normal: Vec3,
    /// Of b at the point, seen from a \[m/s\].
    pub velocity: Vec3,
    /// Of b, seen from a \[rad/s\].
    pub angular_velocity: Vec3,
}

/// What a acts on b with, at the point; b acts on a with the opposite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointForce {
    /// \[N\]
    pub force: Vec3,
    /// \[N·m\]
    pub torque: Vec3,
}

/// The law of the document: viscous friction without limit.
#[inline]
pub fn soft(law: &SurfaceLaw, motion: &PointMotion) -> PointForce {
    let Some((pressure, sliding)) = pressed(law, motion) else { return PointForce::default() };
    PointForce {
        force: motion.normal * pressure - sliding * (law.sliding * pressure),
        torque: motion.angular_velocity * (-law.spinning * pressure),
    }
}

/// The same with friction held within Coulomb's limit: the force within `μ·|F_n|`, the torque
/// within that times `√(s_ν/s_μ)`, the radius of the ring whose sliding the spin friction is.
#[inline]
pub fn soft_coulomb(law: &SurfaceLaw, motion: &PointMotion) -> PointForce {
    let Some((pressure, sliding)) = pressed(law, motion) else { return PointForce::default() };
    // By their squares: most points are within the limit, and then no root is needed.
    let force_max = law.mu * pressure;
    let limit = force_max * force_max;
    // Without sliding friction the ring has no end, and holds nothing where nothing is held.
    let ring = if law.sliding > 0.0 { law.spinning / law.sliding } else { f64::INFINITY };
    let spin_limit = if limit > 0.0 { limit * ring } else { 0.0 };
    let friction = held_within(sliding * (-law.sliding * pressure), limit);
    let torque = motion.angular_velocity * (-law.spinning * pressure);
    PointForce {
        force: motion.normal * pressure + friction,
        torque: held_within(torque, spin_limit),
    }
}

/// |F_n| \[N\] and the sliding velocity \[m/s\], where they overlap.
#[inline]
fn pressed(law: &SurfaceLaw, motion: &PointMotion) -> Option<(f64, Vec3)> {
    if motion.depth <= 0.0 {
        return None;
    }
    let separating = motion.velocity.dot(motion.normal);
    let factor = if separating > 0.0 { law.separation } else { 1.0 };
    let sliding = motion.velocity - motion.normal * separating;
    Some((factor * law.stiffness * motion.depth, sliding))
}

/// Not longer than the root of `square_max`; what is no number stays none.
#[inline]
pub fn held_within(v: Vec3, square_max: f64) -> Vec3 {
    let square = v.dot(v);
    if square > square_max { v * sqrt(square_max / square) } else { v }
}

/// Laws per pair of kinds of surface, whichever comes first, with one for all others.
#[derive(Clone, Debug, Default)]
pub struct SurfaceLaws {
    default: SurfaceLaw,
    rows: BTreeMap<(String, String), SurfaceLaw>,
}

impl SurfaceLaws {
    /// One law for everything.
    pub fn new(default: SurfaceLaw) -> SurfaceLaws {
        SurfaceLaws { default, rows: BTreeMap::new() }
    }

    /// Says what two kinds make of each other; the last word counts.
    pub fn with(mut self, one: &str, other: &str, law: SurfaceLaw) -> SurfaceLaws {
        self.rows.insert(unordered(one, other), law);
        self
    }

    /// What two kinds make of each other; a surface of no kind has the default with all.
    pub fn law(&self, one: Option<&str>, other: Option<&str>) -> &SurfaceLaw {
        let row = one.zip(other).and_then(|(one, other)| self.rows.get(&unordered(one, other)));
        row.unwrap_or(&self.default)
    }
}

fn unordered(one: &str, other: &str) -> (String, String) {
    (one.min(other).to_string(), one.max(other).to_string())
}

/// The laws of a model's shapes, found without looking at names again.
#[derive(Clone, Debug)]
pub struct LawTable {
    /// Kind of each shape of each body.
    kinds: Vec<Vec<usize>>,
    n_kinds: usize,
    laws: Vec<SurfaceLaw>,
}

impl LawTable {
    /// Of a model whose surfaces say their kind (`headland:surface_type`).
    pub fn of(model: &Model, laws: &SurfaceLaws) -> LawTable {
        let mut names: Vec<Option<&str>> = Vec::new();
        let mut kind_of = |name| {
            names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            })
        };
        let mut kinds = Vec::with_capacity(model.bodies.len());
        for body in &model.bodies {
            let own =
                body.shapes.iter().map(|shape| kind_of(shape.surface.surface_type.as_deref()));
            kinds.push(own.collect());
        }
        let pairs = names.iter().flat_map(|one| names.iter().map(move |other| (*one, *other)));
        let laws = pairs.map(|(one, other)| *laws.law(one, other)).collect();
        LawTable { kinds, n_kinds: names.len(), laws }
    }

    /// Every law between a shape of one body and any other shape.
    pub fn of_body(&self, body: usize) -> impl Iterator<Item = &SurfaceLaw> {
        let of_kind = |kind: &usize| &self.laws[kind * self.n_kinds..(kind + 1) * self.n_kinds];
        self.kinds[body].iter().flat_map(of_kind)
    }

    /// The law between a shape of one body and a shape of another.
    pub fn law(&self, a: (usize, usize), b: (usize, usize)) -> &SurfaceLaw {
        let (one, other) = (self.kinds[a.0][a.1], self.kinds[b.0][b.1]);
        &self.laws[one * self.n_kinds + other]
    }
}
