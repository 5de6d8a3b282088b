//! Spatial algebra over lanes: motions, forces and inertias, all in one common frame.
//!
//! A spatial vector is a turning part and a straight part about the frame's origin. Because the
//! whole tree is expressed in one frame, nothing is ever transformed from link to link: vectors
//! of neighbours are simply added. The formulas are Featherstone's (*Rigid Body Dynamics
//! Algorithms*, 2008, chapter 2).

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use headland_base::{Mat3, Quat, Vec3};

use super::lane::Lane;

/// Three numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct V3<L> {
    /// Along x.
    pub x: L,
    /// Along y.
    pub y: L,
    /// Along z.
    pub z: L,
}

impl<L: Lane> V3<L> {
    /// Nothing.
    pub const ZERO: V3<L> = V3 { x: L::ZERO, y: L::ZERO, z: L::ZERO };

    /// The same vector in every lane.
    #[inline(always)]
    pub fn of(v: Vec3) -> V3<L> {
        V3 { x: L::of(v.x), y: L::of(v.y), z: L::of(v.z) }
    }

    /// One lane.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> Vec3 {
        Vec3::new(self.x.get(lane), self.y.get(lane), self.z.get(lane))
    }

    /// Changes one lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, v: Vec3) {
        self.x.set(lane, v.x);
        self.y.set(lane, v.y);
        self.z.set(lane, v.z);
    }

    /// `a · b`.
    #[inline(always)]
    pub fn dot(self, b: V3<L>) -> L {
        self.x * b.x + self.y * b.y + self.z * b.z
    }

    /// `a × b`.
    #[inline(always)]
    pub fn cross(self, b: V3<L>) -> V3<L> {
        V3 {
            x: self.y * b.z - self.z * b.y,
            y: self.z * b.x - self.x * b.z,
            z: self.x * b.y - self.y * b.x,
        }
    }
}

impl<L: Lane> Add for V3<L> {
    type Output = V3<L>;
    #[inline(always)]
    fn add(self, b: V3<L>) -> V3<L> {
        V3 { x: self.x + b.x, y: self.y + b.y, z: self.z + b.z }
    }
}

impl<L: Lane> Sub for V3<L> {
    type Output = V3<L>;
    #[inline(always)]
    fn sub(self, b: V3<L>) -> V3<L> {
        V3 { x: self.x - b.x, y: self.y - b.y, z: self.z - b.z }
    }
}

impl<L: Lane> Neg for V3<L> {
    type Output = V3<L>;
    #[inline(always)]
    fn neg(self) -> V3<L> {
        V3 { x: -self.x, y: -self.y, z: -self.z }
    }
}

impl<L: Lane> Mul<L> for V3<L> {
    type Output = V3<L>;
    #[inline(always)]
    fn mul(self, s: L) -> V3<L> {
        V3 { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

impl<L: Lane> AddAssign for V3<L> {
    #[inline(always)]
    fn add_assign(&mut self, b: V3<L>) {
        *self = *self + b;
    }
}

/// A unit quaternion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn<L> {
    /// The vector part.
    pub v: V3<L>,
    /// The scalar part.
    pub w: L,
}

impl<L: Lane> Turn<L> {
    /// The same turn in every lane.
    #[inline(always)]
    pub fn of(q: Quat) -> Turn<L> {
        Turn { v: V3::of(Vec3::new(q.x, q.y, q.z)), w: L::of(q.w) }
    }

    /// One lane.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> Quat {
        let v = self.v.get(lane);
        Quat::from_xyzw(v.x, v.y, v.z, self.w.get(lane))
    }

    /// Changes one lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, q: Quat) {
        self.v.set(lane, Vec3::new(q.x, q.y, q.z));
        self.w.set(lane, q.w);
    }

    /// The turn back.
    #[inline(always)]
    pub fn inverse(self) -> Turn<L> {
        Turn { v: -self.v, w: self.w }
    }

    /// A constant turn followed, inside, by one about z, by the sine and cosine of half its angle.
    #[inline(always)]
    pub fn of_then_about_z(q: Quat, (s, c): (L, L)) -> Turn<L> {
        let (x, y, z, w) = (L::of(q.x), L::of(q.y), L::of(q.z), L::of(q.w));
        Turn { v: V3 { x: x * c + y * s, y: y * c - x * s, z: z * c + w * s }, w: w * c - z * s }
    }

    /// As a matrix.
    #[inline(always)]
    pub fn matrix(self) -> M3<L> {
        let (V3 { x, y, z }, w, one) = (self.v, self.w, L::of(1.0));
        // Sums only, of products with either sign: where the same two products are added and
        // subtracted, the compiler does some lanes of both in one register, and what is written
        // in pieces cannot be read at once. The bits are the same.
        let [x2, y2, z2] = [x, y, z].map(|part| part * L::of(2.0));
        let [less_x, less_y, less_z] = [x, y, z].map(|part| part * L::of(-2.0));
        let (xx, yy, zz) = (x * less_x, y * less_y, z * less_z);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        M3 {
            x: V3 { x: one + (yy + zz), y: xy + w * z2, z: xz + w * less_y },
            y: V3 { x: xy + w * less_z, y: one + (xx + zz), z: yz + w * x2 },
            z: V3 { x: xz + w * y2, y: yz + w * less_x, z: one + (xx + yy) },
        }
    }
}

impl<L: Lane> Mul for Turn<L> {
    type Output = Turn<L>;
    #[inline(always)]
    fn mul(self, b: Turn<L>) -> Turn<L> {
        let v = self.v.cross(b.v) + b.v * self.w + self.v * b.w;
        Turn { v, w: self.w * b.w - self.v.dot(b.v) }
    }
}

/// A matrix by its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct M3<L> {
    /// Where x goes.
    pub x: V3<L>,
    /// Where y goes.
    pub y: V3<L>,
    /// Where z goes.
    pub z: V3<L>,
}

impl<L: Lane> M3<L> {
    /// Nothing.
    pub const ZERO: M3<L> = M3 { x: V3::ZERO, y: V3::ZERO, z: V3::ZERO };
}

impl<L: Lane> Mul<V3<L>> for M3<L> {
    type Output = V3<L>;
    #[inline(always)]
    fn mul(self, v: V3<L>) -> V3<L> {
        self.x * v.x + self.y * v.y + self.z * v.z
    }
}

/// A symmetric matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sym3<L> {
    /// On the diagonal.
    pub diag: V3<L>,
    /// Beside it: yz, xz, xy.
    pub off: V3<L>,
}

impl<L: Lane> Sym3<L> {
    /// Nothing.
    pub const ZERO: Sym3<L> = Sym3 { diag: V3::ZERO, off: V3::ZERO };

    /// The same matrix in every lane; its upper half counts.
    pub fn of(m: Mat3) -> Sym3<L> {
        Sym3 {
            diag: V3::of(Vec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z)),
            off: V3::of(Vec3::new(m.z_axis.y, m.z_axis.x, m.y_axis.x)),
        }
    }

    /// One lane.
    pub fn get(&self, lane: usize) -> Mat3 {
        let (d, o) = (self.diag.get(lane), self.off.get(lane));
        Mat3::from_cols(
            Vec3::new(d.x, o.z, o.y),
            Vec3::new(o.z, d.y, o.x),
            Vec3::new(o.y, o.x, d.z),
        )
    }

    /// By cofactors.
    #[inline(always)]
    pub fn inverse(self) -> Sym3<L> {
        let (d, o) = (self.diag, self.off);
        let xx = d.y * d.z - o.x * o.x;
        let yy = d.x * d.z - o.y * o.y;
        let zz = d.x * d.y - o.z * o.z;
        let yz = o.z * o.y - d.x * o.x;
        let xz = o.z * o.x - d.y * o.y;
        let xy = o.y * o.x - d.z * o.z;
        let scale = L::of(1.0) / (d.x * xx + o.z * xy + o.y * xz);
        Sym3 { diag: V3 { x: xx, y: yy, z: zz } * scale, off: V3 { x: yz, y: xz, z: xy } * scale }
    }

    /// The same, seen from outside a frame that is turned: `R·S·Rᵀ`.
    #[inline(always)]
    pub fn turned(self, r: &M3<L>) -> Sym3<L> {
        // T = R·S column by column, then the upper half of T·Rᵀ.
        let tx = r.x * self.diag.x + r.y * self.off.z + r.z * self.off.y;
        let ty = r.x * self.off.z + r.y * self.diag.y + r.z * self.off.x;
        let tz = r.x * self.off.y + r.y * self.off.x + r.z * self.diag.z;
        Sym3 {
            diag: V3 {
                x: tx.x * r.x.x + ty.x * r.y.x + tz.x * r.z.x,
                y: tx.y * r.x.y + ty.y * r.y.y + tz.y * r.z.y,
                z: tx.z * r.x.z + ty.z * r.y.z + tz.z * r.z.z,
            },
            off: V3 {
                x: tx.y * r.x.z + ty.y * r.y.z + tz.y * r.z.z,
                y: tx.x * r.x.z + ty.x * r.y.z + tz.x * r.z.z,
                z: tx.x * r.x.y + ty.x * r.y.y + tz.x * r.z.y,
            },
        }
    }
}

impl<L: Lane> Add for Sym3<L> {
    type Output = Sym3<L>;
    #[inline(always)]
    fn add(self, b: Sym3<L>) -> Sym3<L> {
        Sym3 { diag: self.diag + b.diag, off: self.off + b.off }
    }
}

impl<L: Lane> Mul<V3<L>> for Sym3<L> {
    type Output = V3<L>;
    #[inline(always)]
    fn mul(self, v: V3<L>) -> V3<L> {
        V3 {
            x: self.diag.x * v.x + self.off.z * v.y + self.off.y * v.z,
            y: self.off.z * v.x + self.diag.y * v.y + self.off.x * v.z,
            z: self.off.y * v.x + self.off.x * v.y + self.diag.z * v.z,
        }
    }
}

/// A motion (angular and linear velocity, or acceleration) or a force (moment and force), about
/// the frame's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct V6<L> {
    /// Angular velocity, or moment.
    pub turn: V3<L>,
    /// Velocity of the point at the origin, or force.
    pub line: V3<L>,
}

impl<L: Lane> V6<L> {
    /// Nothing.
    pub const ZERO: V6<L> = V6 { turn: V3::ZERO, line: V3::ZERO };

    /// One lane.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> V6<f64> {
        let (t, l) = (&self.turn, &self.line);
        V6 {
            turn: V3 { x: t.x.get(lane), y: t.y.get(lane), z: t.z.get(lane) },
            line: V3 { x: l.x.get(lane), y: l.y.get(lane), z: l.z.get(lane) },
        }
    }

    /// Adds to one lane.
    #[inline(always)]
    pub fn add_to(&mut self, lane: usize, b: V6<f64>) {
        let sum = self.get(lane) + b;
        self.turn.set(lane, sum.turn.get(0));
        self.line.set(lane, sum.line.get(0));
    }

    /// Its six numbers, turning before straight.
    #[inline(always)]
    pub fn parts(self) -> [L; 6] {
        let V6 { turn: t, line: l } = self;
        [t.x, t.y, t.z, l.x, l.y, l.z]
    }

    /// From its six numbers.
    #[inline(always)]
    pub fn of_parts([a, b, c, x, y, z]: [L; 6]) -> V6<L> {
        V6 { turn: V3 { x: a, y: b, z: c }, line: V3 { x, y, z } }
    }

    /// Power of a force along a motion.
    #[inline(always)]
    pub fn dot(self, b: V6<L>) -> L {
        self.turn.dot(b.turn) + self.line.dot(b.line)
    }

    /// How a motion `b` that moves with this one changes: `v × b`.
    #[inline(always)]
    pub fn cross_motion(self, b: V6<L>) -> V6<L> {
        V6 {
            turn: self.turn.cross(b.turn),
            line: self.turn.cross(b.line) + self.line.cross(b.turn),
        }
    }

    /// How a force `f` that moves with this motion changes: `v ×* f`.
    #[inline(always)]
    pub fn cross_force(self, f: V6<L>) -> V6<L> {
        V6 {
            turn: self.turn.cross(f.turn) + self.line.cross(f.line),
            line: self.turn.cross(f.line),
        }
    }

    /// The motion of the point `at` under this one.
    #[inline(always)]
    pub fn velocity_at(self, at: V3<L>) -> V3<L> {
        self.line + self.turn.cross(at)
    }

    /// A force at a point.
    #[inline(always)]
    pub fn force_at(at: V3<L>, force: V3<L>, moment: V3<L>) -> V6<L> {
        V6 { turn: moment + at.cross(force), line: force }
    }
}

impl<L: Lane> Add for V6<L> {
    type Output = V6<L>;
    #[inline(always)]
    fn add(self, b: V6<L>) -> V6<L> {
        V6 { turn: self.turn + b.turn, line: self.line + b.line }
    }
}

impl<L: Lane> Sub for V6<L> {
    type Output = V6<L>;
    #[inline(always)]
    fn sub(self, b: V6<L>) -> V6<L> {
        V6 { turn: self.turn - b.turn, line: self.line - b.line }
    }
}

impl<L: Lane> Neg for V6<L> {
    type Output = V6<L>;
    #[inline(always)]
    fn neg(self) -> V6<L> {
        V6 { turn: -self.turn, line: -self.line }
    }
}

impl<L: Lane> Mul<L> for V6<L> {
    type Output = V6<L>;
    #[inline(always)]
    fn mul(self, s: L) -> V6<L> {
        V6 { turn: self.turn * s, line: self.line * s }
    }
}

impl<L: Lane> AddAssign for V6<L> {
    #[inline(always)]
    fn add_assign(&mut self, b: V6<L>) {
        *self = *self + b;
    }
}

/// Mass, first moment and inertia about the frame's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia<L> {
    /// \[kg\]
    pub mass: L,
    /// Mass times where its centre is \[kg·m\].
    pub moment: V3<L>,
    /// About the origin \[kg·m²\].
    pub inertia: Sym3<L>,
}

impl<L: Lane> Inertia<L> {
    /// No mass.
    pub const ZERO: Inertia<L> = Inertia { mass: L::ZERO, moment: V3::ZERO, inertia: Sym3::ZERO };

    /// Of a mass whose centre is at `centre`, with its inertia about that, already turned.
    #[inline(always)]
    pub fn about_origin(mass: L, centre: V3<L>, about_centre: Sym3<L>) -> Inertia<L> {
        let moment = centre * mass;
        let (xx, yy, zz) = (moment.x * centre.x, moment.y * centre.y, moment.z * centre.z);
        let shift = Sym3 {
            diag: V3 { x: yy + zz, y: xx + zz, z: xx + yy },
            off: V3 {
                x: -(moment.y * centre.z),
                y: -(moment.x * centre.z),
                z: -(moment.x * centre.y),
            },
        };
        Inertia { mass, moment, inertia: about_centre + shift }
    }

    /// Momentum of a motion.
    #[inline(always)]
    pub fn momentum(&self, v: V6<L>) -> V6<L> {
        V6 {
            turn: self.inertia * v.turn + self.moment.cross(v.line),
            line: v.line * self.mass + v.turn.cross(self.moment),
        }
    }
}

impl<L: Lane> AddAssign for Inertia<L> {
    #[inline(always)]
    fn add_assign(&mut self, b: Inertia<L>) {
        self.mass += b.mass;
        self.moment += b.moment;
        self.inertia = self.inertia + b.inertia;
    }
}

/// What a link and all that hangs on it, free to move at their joints, oppose to being moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia<L> {
    /// Moment per angular acceleration.
    pub turning: Sym3<L>,
    /// Moment per linear acceleration; by columns. Transposed, force per angular acceleration.
    pub mixed: M3<L>,
    /// Force per linear acceleration.
    pub sliding: Sym3<L>,
}

impl<L: Lane> ArticulatedInertia<L> {
    /// No mass.
    pub const ZERO: ArticulatedInertia<L> =
        ArticulatedInertia { turning: Sym3::ZERO, mixed: M3::ZERO, sliding: Sym3::ZERO };

    /// Of one rigid body.
    #[inline(always)]
    pub fn of(rigid: &Inertia<L>) -> ArticulatedInertia<L> {
        let (h, m, zero) = (rigid.moment, rigid.mass, L::ZERO);
        ArticulatedInertia {
            turning: rigid.inertia,
            mixed: M3 {
                x: V3 { x: zero, y: h.z, z: -h.y },
                y: V3 { x: -h.z, y: zero, z: h.x },
                z: V3 { x: h.y, y: -h.x, z: zero },
            },
            sliding: Sym3 { diag: V3 { x: m, y: m, z: m }, off: V3::ZERO },
        }
    }

    /// The force that a motion takes.
    #[inline(always)]
    pub fn force(&self, v: V6<L>) -> V6<L> {
        let m = &self.mixed;
        V6 {
            turn: self.turning * v.turn + *m * v.line,
            line: V3 { x: m.x.dot(v.turn), y: m.y.dot(v.turn), z: m.z.dot(v.turn) }
                + self.sliding * v.line,
        }
    }

    /// The forces that a unit of acceleration about and along each of the frame's axes takes, each
    /// as far as its own entry: what is beyond it stands in the columns after it.
    #[inline(always)]
    pub fn columns(&self) -> [[L; 6]; 6] {
        let (t, m, s, o) = (&self.turning, &self.mixed, &self.sliding, L::ZERO);
        [
            [t.diag.x, o, o, o, o, o],
            [t.off.z, t.diag.y, o, o, o, o],
            [t.off.y, t.off.x, t.diag.z, o, o, o],
            [m.x.x, m.x.y, m.x.z, s.diag.x, o, o],
            [m.y.x, m.y.y, m.y.z, s.off.z, s.diag.y, o],
            [m.z.x, m.z.y, m.z.z, s.off.y, s.off.x, s.diag.z],
        ]
    }

    /// What is left when a direction that takes the force `u` gives way: minus `s·u·uᵀ`.
    #[inline(always)]
    pub fn give_way(&mut self, u: V6<L>, s: L) {
        let (t, l) = (u.turn * s, u.line * s);
        let (ut, ul) = (u.turn, u.line);
        self.turning.diag = self.turning.diag - V3 { x: t.x * ut.x, y: t.y * ut.y, z: t.z * ut.z };
        self.turning.off = self.turning.off - V3 { x: t.y * ut.z, y: t.x * ut.z, z: t.x * ut.y };
        self.mixed.x = self.mixed.x - ut * l.x;
        self.mixed.y = self.mixed.y - ut * l.y;
        self.mixed.z = self.mixed.z - ut * l.z;
        self.sliding.diag = self.sliding.diag - V3 { x: l.x * ul.x, y: l.y * ul.y, z: l.z * ul.z };
        self.sliding.off = self.sliding.off - V3 { x: l.y * ul.z, y: l.x * ul.z, z: l.x * ul.y };
    }
}

impl<L: Lane> AddAssign for ArticulatedInertia<L> {
    #[inline(always)]
    fn add_assign(&mut self, b: ArticulatedInertia<L>) {
        self.turning = self.turning + b.turning;
        self.mixed.x += b.mixed.x;
        self.mixed.y += b.mixed.y;
        self.mixed.z += b.mixed.z;
        self.sliding = self.sliding + b.sliding;
    }
}
