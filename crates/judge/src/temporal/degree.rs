//! How true something is: as a number, or as true, false and not known.
//!
//! Both are a line from wholly false to wholly true with *not known* in its middle, and
//! `not` mirrors the line. So every operator is a least or a greatest of plain ordered
//! values, written once for both, and what is not known needs no rule of its own:
//!
//! ```text
//! -inf … -1 … -0   not known   +0 … 1 … +inf        Robustness
//!       False       Unknown        True              Truth
//! ```
//!
//! A value that is not known therefore matters only where the known ones do not decide:
//! `always` over (-1, NaN) is -1, broken whatever the NaN was; over (1, NaN) it is NaN.
//! A known answer beside something unknown is a bound: at least so true, or so false.

use std::fmt::Debug;

/// A place on the line from false to true. `min` is *and*, `max` is *or*.
pub trait Degree: Copy + Ord + Debug {
    /// Wholly false: what *some moment of none* is.
    const FALSE: Self;
    /// Wholly true: what *every moment of none* is.
    const TRUE: Self;

    /// The mirrored place.
    fn not(self) -> Self;
}

/// True, false, or not known: the logic of Kleene, ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// It does not hold, whatever the unknown values were.
    False,
    /// It depends on a value that is not known.
    Unknown,
    /// It holds, whatever the unknown values were.
    True,
}

impl Degree for Truth {
    const FALSE: Truth = Truth::False;
    const TRUE: Truth = Truth::True;

    fn not(self) -> Truth {
        match self {
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
            Truth::True => Truth::False,
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Truth {
        if holds { Truth::True } else { Truth::False }
    }
}

/// A robustness value: how far a measured value may move before the answer flips.
///
/// Kept as an integer that orders like the number, with NaN at zero, between -0 and +0.
/// Mirroring is then negation, and a least of two is one comparison of integers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Robustness(i64);

/// The bits of a float without its sign.
const MAGNITUDE: i64 = i64::MAX;
/// The magnitude of infinity; whatever is larger is NaN.
const INFINITE: i64 = 0x7FF0_0000_0000_0000;

impl Robustness {
    /// From a number; every NaN is *not known*.
    #[inline]
    pub fn new(value: f64) -> Robustness {
        let bits = value.to_bits().cast_signed();
        let magnitude = bits & MAGNITUDE;
        let place = if magnitude > INFINITE { 0 } else { magnitude + 1 };
        Robustness(if bits < 0 { -place } else { place })
    }

    /// As a number again; NaN is *not known*.
    #[inline]
    pub fn value(self) -> f64 {
        let Some(magnitude) = self.0.unsigned_abs().checked_sub(1) else { return f64::NAN };
        let sign = if self.0 < 0 { 1 << 63 } else { 0 };
        f64::from_bits(magnitude | sign)
    }
}

impl Degree for Robustness {
    const FALSE: Robustness = Robustness(-INFINITE - 1);
    const TRUE: Robustness = Robustness(INFINITE + 1);

    #[inline]
    fn not(self) -> Robustness {
        Robustness(-self.0)
    }
}

impl Debug for Robustness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Debug::fmt(&self.value(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From wholly false to wholly true, NaN in the middle.
    const LINE: [f64; 13] = [
        f64::NEG_INFINITY,
        f64::MIN,
        -1.0,
        -f64::MIN_POSITIVE,
        -5e-324,
        -0.0,
        f64::NAN,
        0.0,
        5e-324,
        f64::MIN_POSITIVE,
        1.0,
        f64::MAX,
        f64::INFINITY,
    ];

    #[test]
    fn numbers_come_back_to_the_bit_and_keep_their_order() {
        for value in LINE.into_iter().filter(|value| !value.is_nan()) {
            assert_eq!(Robustness::new(value).value().to_bits(), value.to_bits(), "{value}");
        }
        assert!(Robustness::new(f64::NAN).value().is_nan());
        assert_eq!(Robustness::new(-f64::NAN), Robustness::new(f64::NAN));
        assert!(LINE.map(Robustness::new).is_sorted_by(|a, b| a < b));
        assert_eq!(Robustness::FALSE.value(), f64::NEG_INFINITY);
        assert_eq!(Robustness::TRUE.value(), f64::INFINITY);
    }

    #[test]
    fn not_mirrors_the_line() {
        for (value, mirrored) in LINE.into_iter().zip(LINE.into_iter().rev()) {
            assert_eq!(Robustness::new(value).not(), Robustness::new(mirrored), "{value}");
        }
        let line = [Truth::False, Truth::Unknown, Truth::True];
        for (truth, mirrored) in line.into_iter().zip(line.into_iter().rev()) {
            assert_eq!(truth.not(), mirrored);
        }
    }
}
