//! Numbers side by side: one robot, or several robots of one model at once.
//!
//! Every algorithm of the tree is written once, over a [`Lane`]. With `f64` it computes one
//! robot; with [`Lanes`] it computes as many as the lane is wide, each with the very operations
//! in the very order of the single one. IEEE 754 fixes the result of each operation and nothing
//! here is fused, so a robot comes out the same to the last bit whoever stands beside it.
//!
//! The compiler turns the loops over lanes into the vector instructions of whatever function
//! they are inlined into: [`Lane::wide`] is such a function for each kind of lane.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A number, or several of them that go through the same arithmetic.
pub trait Lane:
    Copy
    + std::fmt::Debug
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// How many numbers it holds.
    const WIDTH: usize;
    /// Nothing, in every lane.
    const ZERO: Self;

    /// The same number in every lane.
    fn of(value: f64) -> Self;
    /// One lane. By reference: a copy of all lanes, made to take one, was a third of a step's
    /// time.
    fn get(&self, lane: usize) -> f64;
    /// Changes one lane.
    fn set(&mut self, lane: usize, value: f64);
    /// Each lane by itself.
    fn map(self, f: impl Fn(f64) -> f64) -> Self;

    /// The larger of two numbers, lane by lane; the second where either is none.
    fn at_least(self, least: Self) -> Self;
    /// The smaller of two numbers, lane by lane; the second where either is none.
    fn at_most(self, most: Self) -> Self;

    /// Sine and cosine of every lane, by the one formula of this module.
    fn sin_cos(self) -> (Self, Self);

    /// The same of half of many angles, the same bits.
    #[inline(always)]
    fn half_sin_cos_each(angles: &[Self], sines: &mut [Self], cosines: &mut [Self]) {
        for ((angle, sine), cosine) in angles.iter().zip(sines).zip(cosines) {
            (*sine, *cosine) = (*angle * Self::of(0.5)).sin_cos();
        }
    }

    /// Runs a kernel with instructions that suit the lane. The processor must have those of wide
    /// lanes; ask [`widest`] before making such.
    fn wide(kernel: impl Kernel);
}

/// Work over lanes, to be compiled for instructions as wide as they are.
///
/// `run` must be marked `#[inline(always)]`, and so must all it calls: what is not inlined is
/// compiled for narrow instructions. That is why this is no closure. Large ones are not inlined
/// and nobody says so; forward dynamics took 1.8 µs per robot in 16 lanes instead of 0.7.
pub trait Kernel {
    /// Does the work.
    fn run(self);
}

/// A function over lanes whose body is a [`Kernel`] of its own: compiled once for each kind of
/// lane and width, and not again wherever it is called, which took minutes.
macro_rules! wide {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident<$a:lifetime, L>(
        $($argument:ident: $kind:ty),* $(,)?
    ) $body:block) => {
        $(#[$attribute])*
        $visibility fn $name<$a, L: Lane>($($argument: $kind),*) {
            struct Call<$a, L: Lane> { $($argument: $kind),* }
            impl<$a, L: Lane> $crate::tree::Kernel for Call<$a, L> {
                #[inline(always)]
                fn run(self) {
                    let Call { $($argument),* } = self;
                    $body
                }
            }
            L::wide(Call { $($argument),* });
        }
    };
}
pub(crate) use wide;

/// How many lanes pay on this processor: 8 where it has AVX2 or AVX-512, else one.
///
/// Lanes wider than a register leave the processor something to do while it waits. Per robot,
/// forward dynamics of 27 axes took 1.9 µs in 4 lanes of AVX2, 1.2 in 8, 1.0 in 8 of AVX-512
/// and 0.7 in 16. Each width takes its time to compile, so there is only one.
pub fn widest() -> usize {
    if has_avx2() { 8 } else { 1 }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2(kernel: impl Kernel) {
    kernel.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn with_avx512(kernel: impl Kernel) {
    kernel.run();
}

/// Runs a kernel with the widest instructions this processor has, where no lane says how wide
/// they are. What it does number by number comes out the same in any width.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "wider instructions are called across a boundary")]
pub fn widely(kernel: impl Kernel) {
    if has_avx512() {
        // SAFETY: the line above.
        unsafe { with_avx512(kernel) };
    } else if has_avx2() {
        // SAFETY: the line above.
        unsafe { with_avx2(kernel) };
    } else {
        kernel.run();
    }
}

/// Runs a kernel.
#[cfg(not(target_arch = "x86_64"))]
pub fn widely(kernel: impl Kernel) {
    kernel.run();
}

impl Lane for f64 {
    const WIDTH: usize = 1;
    const ZERO: f64 = 0.0;

    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn get(&self, _lane: usize) -> f64 {
        *self
    }
    #[inline(always)]
    fn set(&mut self, _lane: usize, value: f64) {
        *self = value;
    }
    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> f64 {
        f(self)
    }
    #[inline(always)]
    fn at_least(self, least: f64) -> f64 {
        if self > least { self } else { least }
    }
    #[inline(always)]
    fn at_most(self, most: f64) -> f64 {
        if self < most { self } else { most }
    }
    #[inline(always)]
    fn sin_cos(self) -> (f64, f64) {
        sin_cos(self)
    }
    /// Side by side, though there is but one robot: sines are a third of what its links take.
    fn half_sin_cos_each(angles: &[f64], sines: &mut [f64], cosines: &mut [f64]) {
        widely(SideBySide { angles, sines, cosines });
    }
    /// With AVX2, whose instructions leave their operands alone: forward dynamics of one robot took
    /// 4.54 µs where it took 4.72. With AVX-512 it took 4.9: the compiler then gathers numbers that
    /// lie apart into registers for which there is nothing else to do.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[allow(unsafe_code, reason = "wider instructions are called across a boundary")]
    fn wide(kernel: impl Kernel) {
        if has_avx2() {
            // SAFETY: the line above.
            unsafe { with_avx2(kernel) };
        } else {
            kernel.run();
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn wide(kernel: impl Kernel) {
        kernel.run();
    }
}

/// Sines and cosines of half of one robot's angles, a register of them at a time.
struct SideBySide<'a> {
    angles: &'a [f64],
    sines: &'a mut [f64],
    cosines: &'a mut [f64],
}

impl Kernel for SideBySide<'_> {
    #[inline(always)]
    fn run(self) {
        const N: usize = 8;
        let all = self.angles.chunks(N);
        for ((angles, sines), cosines) in
            all.zip(self.sines.chunks_mut(N)).zip(self.cosines.chunks_mut(N))
        {
            let mut lanes = Lanes([0.0; N]);
            lanes.0[..angles.len()].copy_from_slice(angles);
            let (s, c) = (lanes * Lanes::of(0.5)).sin_cos();
            sines.copy_from_slice(&s.0[..angles.len()]);
            cosines.copy_from_slice(&c.0[..angles.len()]);
        }
    }
}

/// `N` numbers side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes<const N: usize>(pub [f64; N]);

impl<const N: usize> Lanes<N> {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self;
        for (a, b) in out.0.iter_mut().zip(other.0) {
            *a = f(*a, b);
        }
        out
    }
}

macro_rules! elementwise {
    ($($trait:ident $method:ident),*) => {$(
        impl<const N: usize> $trait for Lanes<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |a, b| a.$method(b))
            }
        }
    )*};
}
elementwise!(Add add, Sub sub, Mul mul, Div div);

impl<const N: usize> Neg for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Lanes(self.0.map(|a| -a))
    }
}

impl<const N: usize> AddAssign for Lanes<N> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<const N: usize> SubAssign for Lanes<N> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<const N: usize> Lane for Lanes<N> {
    const WIDTH: usize = N;
    const ZERO: Self = Lanes([0.0; N]);

    #[inline(always)]
    fn of(value: f64) -> Self {
        Lanes([value; N])
    }
    #[inline(always)]
    fn get(&self, lane: usize) -> f64 {
        self.0[lane]
    }
    #[inline(always)]
    fn set(&mut self, lane: usize, value: f64) {
        self.0[lane] = value;
    }
    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Lanes(self.0.map(f))
    }
    #[inline(always)]
    fn at_least(self, least: Self) -> Self {
        self.zip(least, f64::at_least)
    }
    #[inline(always)]
    fn at_most(self, most: Self) -> Self {
        self.zip(most, f64::at_most)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (mut sines, mut cosines) = (self, self);
        for (sine, cosine) in sines.0.iter_mut().zip(&mut cosines.0) {
            (*sine, *cosine) = sin_cos_small(*sine);
        }
        // Rare, and outside the loop above so that it does not keep it from being vectorised. All
        // lanes are asked at once: one after the other took as long as the series.
        if self.0.iter().fold(false, |is_any, x| is_any | !is_small(*x)) {
            for (lane, x) in self.0.iter().enumerate().filter(|(_, x)| !is_small(**x)) {
                (sines.0[lane], cosines.0[lane]) = libm::sincos(*x);
            }
        }
        (sines, cosines)
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[allow(unsafe_code, reason = "wider instructions are called across a boundary")]
    fn wide(kernel: impl Kernel) {
        if has_avx512() {
            // SAFETY: the line above.
            unsafe { with_avx512(kernel) };
        } else {
            assert!(has_avx2(), "lanes are made only where they pay");
            // SAFETY: the line above.
            unsafe { with_avx2(kernel) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn wide(kernel: impl Kernel) {
        kernel.run();
    }
}

/// Angles that are reduced by three products without loss; beyond, `libm` does it.
const MOST: f64 = 1e5;

#[inline(always)]
fn is_small(x: f64) -> bool {
    x.abs() < MOST
}

#[inline(always)]
fn sin_cos(x: f64) -> (f64, f64) {
    if is_small(x) { sin_cos_small(x) } else { libm::sincos(x) }
}

/// π/2 in three pieces; the first two have 33 bits each, so that their product with a quadrant
/// below 2²⁰ is exact.
const HALF_PI: [f64; 3] = [
    f64::from_bits(0x3FF9_21FB_5440_0000),
    f64::from_bits(0x3DD0_B461_1A60_0000),
    f64::from_bits(0x3BA3_198A_2E03_7073),
];

/// Adding it rounds to a whole number, whose lowest bits then stand in the lowest bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²

/// Sine and cosine of an angle below [`MOST`], without a branch, by their series on ±π/4: the
/// terms left out are below 1e-19. `libm` is as exact but branches, and so cannot be done in
/// lanes; its coefficients save three terms of eighteen.
#[inline(always)]
fn sin_cos_small(x: f64) -> (f64, f64) {
    let rounded = x * std::f64::consts::FRAC_2_PI + ROUNDER;
    let quadrant = rounded.to_bits();
    let turns = rounded - ROUNDER;
    let r = ((x - turns * HALF_PI[0]) - turns * HALF_PI[1]) - turns * HALF_PI[2];
    let s = r * r;
    let mut sine = 1.0 / 355_687_428_096_000.0; // 17!
    for n in [1_307_674_368_000.0, 6_227_020_800.0, 39_916_800.0, 362_880.0, 5_040.0, 120.0, 6.0] {
        sine = 1.0 / n - s * sine;
    }
    let sine = r - r * (s * sine);
    let mut cosine = 1.0 / 20_922_789_888_000.0; // 16!
    for n in [87_178_291_200.0, 479_001_600.0, 3_628_800.0, 40_320.0, 720.0, 24.0, 2.0] {
        cosine = 1.0 / n - s * cosine;
    }
    let cosine = 1.0 - s * cosine;
    // An odd quadrant swaps the two; the signs follow from its two bits.
    let swaps = 0u64.wrapping_sub(quadrant & 1);
    let (sine, cosine) = (sine.to_bits(), cosine.to_bits());
    let exchanged = (sine ^ cosine) & swaps;
    let sine_sign = (quadrant & 2) << 62;
    let cosine_sign = (quadrant.wrapping_add(1) & 2) << 62;
    (
        f64::from_bits((sine ^ exchanged) ^ sine_sign),
        f64::from_bits((cosine ^ exchanged) ^ cosine_sign),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_and_cosine_are_those_of_libm() {
        let mut worst = 0.0_f64;
        for i in -200_000..200_000 {
            let x = f64::from(i) * 0.000_731 + f64::from(i % 7) * 1e-9;
            for x in [x, x * 600.0] {
                let ((s, c), (sine, cosine)) = (x.sin_cos_lane(), libm::sincos(x));
                worst = worst.max((s - sine).abs()).max((c - cosine).abs());
            }
        }
        assert!(worst < 2.3e-16, "{worst}");
    }

    #[test]
    fn lanes_give_the_bits_of_each_alone() {
        let xs = [0.3, -700.0, 1e7, -0.0];
        let (sines, cosines) = Lane::sin_cos(Lanes(xs));
        for (lane, x) in xs.into_iter().enumerate() {
            let (sine, cosine) = x.sin_cos_lane();
            assert_eq!(sines.get(lane).to_bits(), sine.to_bits());
            assert_eq!(cosines.get(lane).to_bits(), cosine.to_bits());
        }
    }

    trait Alone {
        fn sin_cos_lane(self) -> (f64, f64);
    }
    impl Alone for f64 {
        fn sin_cos_lane(self) -> (f64, f64) {
            Lane::sin_cos(self)
        }
    }
}
