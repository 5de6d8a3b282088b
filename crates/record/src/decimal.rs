//! Times and floats as people write them, without the rounding a float would bring: text goes
//! in, nanoseconds come out, and back.

use headland_base::SimTime;

/// What one unit of a written time is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
}

impl TimeUnit {
    /// What units are called, the usual ones first.
    pub const NAMES: [&str; 6] = ["s", "ms", "us", "ns", "min", "h"];

    /// The unit of a name: one of [`TimeUnit::NAMES`], or of some that mean the same.
    pub fn from_name(name: &str) -> Option<TimeUnit> {
        Some(match name {
            "s" | "sec" | "secs" => TimeUnit::Seconds,
            "ms" => TimeUnit::Millis,
            "us" | "µs" => TimeUnit::Micros,
            "ns" => TimeUnit::Nanos,
            "min" => TimeUnit::Minutes,
            "h" => TimeUnit::Hours,
            _ => return None,
        })
    }

    /// It has so many times ten to this many nanoseconds.
    fn nanos(self) -> (i128, i32) {
        match self {
            TimeUnit::Seconds => (1, 9),
            TimeUnit::Millis => (1, 6),
            TimeUnit::Micros => (1, 3),
            TimeUnit::Nanos => (1, 0),
            TimeUnit::Minutes => (6, 10),
            TimeUnit::Hours => (36, 11),
        }
    }
}

/// The nearest nanosecond to a decimal number of units. A float has 53 bits and a stamp of
/// today in nanoseconds needs 61, so the digits are read as they stand.
pub(crate) fn parse_time(text: &str, unit: TimeUnit) -> Option<SimTime> {
    let nanos = match unit.nanos() {
        (1, exponent) => parse_decimal(text, exponent)?,
        // What is no power of ten is taken to a hundredth, and then times so many.
        (times, exponent) => {
            let hundredths = parse_decimal(text, exponent + 2)? * times;
            hundredths.signum() * ((hundredths.abs() + 50) / 100)
        }
    };
    i64::try_from(nanos).ok().map(SimTime::from_nanos)
}

/// Digits before the point, at most: more than any time has, and times anything here far less
/// than the whole number that holds them.
const DIGITS_MAX: i64 = 22;

/// The whole number nearest to a decimal one times ten to an exponent; of two the one further
/// from zero.
fn parse_decimal(text: &str, of_unit: i32) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = whole.len() + fraction.len() > 0
        && whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit());
    if !is_number {
        return None;
    }
    // How many of the digits stand before the point once it is in nanoseconds.
    let n_kept = i64::try_from(whole.len()).ok()? + i64::from(exponent) + i64::from(of_unit);
    let digits = || whole.bytes().chain(fraction.bytes());
    let n_leading = digits().take_while(|b| *b == b'0').count() as i64;
    if n_kept - n_leading > DIGITS_MAX {
        // Zero is zero however many digits it has; anything else is too large.
        let is_zero = n_leading == (whole.len() + fraction.len()) as i64;
        return is_zero.then_some(0);
    }
    let mut number: i128 = 0;
    let mut left = digits().skip(n_leading as usize).map(|b| i128::from(b - b'0'));
    for _ in n_leading..n_kept {
        number = number * 10 + left.next().unwrap_or(0);
    }
    // Where fewer digits are kept than zeros lead, the next is a zero as well.
    let rounds_up = n_kept >= n_leading && left.next().is_some_and(|next| next >= 5);
    Some(sign * (number + i128::from(rounds_up)))
}

/// The unit in which a bare time looks like a moment of this century, where that is neither
/// seconds nor nanoseconds, and the year. Nothing else would make it of these sizes but weeks
/// in nanoseconds and ages in seconds.
pub(crate) fn look_of_time(text: &str) -> Option<(&'static str, i64)> {
    const SECS_PER_YEAR: f64 = 31_556_952.0;
    let number: f64 = text.parse().ok()?;
    let year = |per_sec: f64| 1970.0 + number / per_sec / SECS_PER_YEAR;
    [("ms", 1e3), ("us", 1e6)].into_iter().find_map(|(unit, per_sec)| {
        let year = year(per_sec);
        (2000.0..2100.0).contains(&year).then_some((unit, year as i64))
    })
}

/// A moment as people write it, in decimal seconds, to the nanosecond: `1700000001.99` as a
/// float lies 5 ns before the stamp it means.
pub fn parse_seconds(text: &str) -> Option<SimTime> {
    parse_time(text, TimeUnit::Seconds)
}

/// Exact seconds with nine places.
pub(crate) fn write_seconds(time: SimTime) -> String {
    let nanos = time.nanos();
    let (sign, size) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    format!("{sign}{}.{:09}", size / 1_000_000_000, size % 1_000_000_000)
}

/// The shortest decimal that reads back as the same float.
pub(crate) fn write_float(number: f64) -> String {
    match number {
        x if x.is_nan() => "nan".to_string(),
        // The debug form switches to exponents where the plain one would run to 300 digits.
        x => format!("{x:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str, unit: TimeUnit) -> Option<i64> {
        parse_time(text, unit).map(SimTime::nanos)
    }

    #[test]
    fn digits_are_kept_where_a_float_would_lose_them() {
        assert_eq!(nanos("1403636579.763555584", TimeUnit::Seconds), Some(1403636579763555584));
        assert_eq!(nanos("1403636579763555584", TimeUnit::Nanos), Some(1403636579763555584));
        assert_eq!(nanos("-0.5", TimeUnit::Millis), Some(-500_000));
        assert_eq!(nanos("1.5e-3", TimeUnit::Seconds), Some(1_500_000));
        assert_eq!(nanos("2E2", TimeUnit::Micros), Some(200_000));
        assert_eq!(nanos(".25", TimeUnit::Nanos), Some(0));
        assert_eq!(nanos("0.0000000005", TimeUnit::Seconds), Some(1));
        assert_eq!(nanos("7.", TimeUnit::Seconds), Some(7_000_000_000));
        assert_eq!(nanos("0000000000000000000000000000001", TimeUnit::Nanos), Some(1));
        assert_eq!(nanos("0.5", TimeUnit::Minutes), Some(30_000_000_000));
        assert_eq!(nanos("-0.0000000001", TimeUnit::Minutes), Some(-6));
        assert_eq!(nanos("1.25", TimeUnit::Hours), Some(4_500_000_000_000));
    }

    /// Moments of today in minutes and hours; halves go away from zero on either side of it.
    #[test]
    fn minutes_and_hours_reach_as_far_as_nanoseconds_do() {
        let today = Some(1_700_000_040_000_000_000);
        assert_eq!(nanos("28333334", TimeUnit::Minutes), today);
        assert_eq!(nanos("472222.233333333333333", TimeUnit::Hours), today);
        // The last nanosecond there is, and the one after it.
        assert_eq!(nanos("153722867.280912930116", TimeUnit::Minutes), Some(i64::MAX));
        assert_eq!(nanos("153722867.280912930134", TimeUnit::Minutes), None);
        assert_eq!(nanos("2562048", TimeUnit::Hours), None);
        assert_eq!(nanos("9223372036.854775807", TimeUnit::Seconds), Some(i64::MAX));
        assert_eq!(nanos("9223372036.854775808", TimeUnit::Seconds), None);
        for (text, wanted) in [("0.000000000025", 2), ("-0.000000000025", -2)] {
            assert_eq!(nanos(text, TimeUnit::Minutes), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in
            ["", ".", "-", "x", "1e", "1e999999", "1_0", "9e9999999999", "nan", "inf", "1.2.3"]
        {
            assert_eq!(nanos(text, TimeUnit::Seconds), None, "{text}");
        }
        assert_eq!(nanos("99999999999", TimeUnit::Seconds), None);
        assert_eq!(nanos("0e999999", TimeUnit::Seconds), Some(0));
    }

    #[test]
    fn what_is_written_reads_back() {
        for n in [0, 1, -1, 999_999_999, i64::MAX, i64::MIN + 1, 1_403_636_579_763_555_584] {
            let text = write_seconds(SimTime::from_nanos(n));
            assert_eq!(nanos(&text, TimeUnit::Seconds), Some(n), "{text}");
        }
    }
}
