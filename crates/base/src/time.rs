//! Simulated time: integer nanoseconds, as every robotics log stores it.
//!
//! A float clock drifts (0.001 added a million times is not 1000), and two logs that
//! drifted differently cannot be paired. So time is an integer everywhere, and becomes
//! a float only inside a formula.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Deserialize, Serialize};

const NANOS_PER_SEC: i64 = 1_000_000_000;

/// A moment, in nanoseconds since the start of the recording's clock.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct SimTime(i64);

/// A distance between two moments, in nanoseconds; may be negative.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct SimDuration(i64);

impl SimTime {
    /// Where every run starts.
    pub const ZERO: SimTime = SimTime(0);

    /// A moment from its nanoseconds.
    pub const fn from_nanos(nanos: i64) -> SimTime {
        SimTime(nanos)
    }

    /// The nearest nanosecond to `secs`; `None` for what no `i64` of nanoseconds can hold.
    pub fn from_secs(secs: f64) -> Option<SimTime> {
        nanos_from_secs(secs).map(SimTime)
    }

    /// Nanoseconds since the start of the clock.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Seconds as a float, for formulas and for people.
    pub fn secs(self) -> f64 {
        secs_from_nanos(self.0)
    }
}

impl SimDuration {
    /// No time at all.
    pub const ZERO: SimDuration = SimDuration(0);

    /// A duration from its nanoseconds.
    pub const fn from_nanos(nanos: i64) -> SimDuration {
        SimDuration(nanos)
    }

    /// The nearest nanosecond to `secs`; `None` for what no `i64` of nanoseconds can hold.
    pub fn from_secs(secs: f64) -> Option<SimDuration> {
        nanos_from_secs(secs).map(SimDuration)
    }

    /// The length in nanoseconds.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// The length in seconds.
    pub fn secs(self) -> f64 {
        secs_from_nanos(self.0)
    }
}

fn nanos_from_secs(secs: f64) -> Option<i64> {
    let nanos = libm::round(secs * NANOS_PER_SEC as f64);
    // The largest f64 below 2^63; everything up to it converts without loss of meaning.
    (nanos.abs() <= 9_223_372_036_854_774_784.0).then_some(nanos as i64)
}

/// Whole seconds and the rest are converted apart, so that a stamp of today's epoch
/// keeps its nanoseconds as well as an `f64` can.
fn secs_from_nanos(nanos: i64) -> f64 {
    (nanos / NANOS_PER_SEC) as f64 + (nanos % NANOS_PER_SEC) as f64 / NANOS_PER_SEC as f64
}

impl Add<SimDuration> for SimTime {
    type Output = SimTime;
    /// Saturates: the end of an `i64` of nanoseconds is 292 years away.
    fn add(self, by: SimDuration) -> SimTime {
        SimTime(self.0.saturating_add(by.0))
    }
}

impl AddAssign<SimDuration> for SimTime {
    fn add_assign(&mut self, by: SimDuration) {
        *self = *self + by;
    }
}

impl Sub for SimTime {
    type Output = SimDuration;
    fn sub(self, earlier: SimTime) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0))
    }
}

impl Sub<SimDuration> for SimTime {
    type Output = SimTime;
    fn sub(self, by: SimDuration) -> SimTime {
        SimTime(self.0.saturating_sub(by.0))
    }
}

impl Mul<i64> for SimDuration {
    type Output = SimDuration;
    fn mul(self, times: i64) -> SimDuration {
        SimDuration(self.0.saturating_mul(times))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_secs(f, self.0)
    }
}

impl fmt::Display for SimDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_secs(f, self.0)
    }
}

/// Exact decimal seconds, without trailing zeros but with at least three places:
/// `0.500 s`, `1.000000001 s`.
fn write_secs(f: &mut fmt::Formatter<'_>, nanos: i64) -> fmt::Result {
    let sign = if nanos < 0 { "-" } else { "" };
    let (secs, rest) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    let digits = format!("{rest:09}");
    let kept = digits.trim_end_matches('0').len().max(3);
    write!(f, "{sign}{secs}.{} s", &digits[..kept])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_steps_of_a_millisecond_are_one_second() {
        let step = SimDuration::from_secs(0.001).expect("representable");
        let end = (0..1000).fold(SimTime::ZERO, |t, _| t + step);
        assert_eq!(end, SimTime::from_nanos(1_000_000_000));
        assert_eq!(end.secs(), 1.0);
    }

    #[test]
    fn what_cannot_be_held_is_refused() {
        for secs in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e300, 1e10] {
            assert_eq!(SimTime::from_secs(secs), None, "{secs}");
        }
        assert!(SimTime::from_secs(9.2e9).is_some());
    }

    #[test]
    fn people_read_exact_seconds() {
        assert_eq!(SimTime::from_nanos(500_000_000).to_string(), "0.500 s");
        assert_eq!(SimTime::from_nanos(1_000_000_001).to_string(), "1.000000001 s");
        assert_eq!(SimDuration::from_nanos(-1_500_000).to_string(), "-0.0015 s");
    }
}
