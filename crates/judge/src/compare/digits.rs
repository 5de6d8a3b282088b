//! Numbers so large that nothing can be told between them.

use headland_base::Diagnostic;

/// The finest that is asked of an angle \[rad\], and of another number as a share of the range of A.
const FINEST: f64 = 1e-3;

/// What is smaller has digits enough, and may be a constant with nothing but rounding in it.
const LARGE: f64 = 1e12;

/// The code of what is said of such numbers.
pub const NO_DIGITS: &str = "no-digits";

/// How large the numbers of one key are so far: nothing else of them is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Digits {
    /// The largest size on either side.
    largest: f64,
    /// The ends of what A has.
    lowest_a: f64,
    highest_a: f64,
}

impl Default for Digits {
    fn default() -> Digits {
        Digits { largest: 0.0, lowest_a: f64::INFINITY, highest_a: f64::NEG_INFINITY }
    }
}

impl Digits {
    /// Of two sides that are whole.
    pub fn of(a: &[f64], b: &[f64]) -> Digits {
        let mut digits = Digits::default();
        a.iter().for_each(|value| digits.add_a(*value));
        b.iter().for_each(|value| digits.add_b(*value));
        digits
    }

    /// One more of A.
    pub fn add_a(&mut self, value: f64) {
        self.largest = self.largest.max(value.abs());
        self.lowest_a = self.lowest_a.min(value);
        self.highest_a = self.highest_a.max(value);
    }

    /// One more of B.
    pub fn add_b(&mut self, value: f64) {
        self.largest = self.largest.max(value.abs());
    }

    /// A number of sixteen digits that is very large has none left behind the point: two that
    /// differ are then the same, and their error is a perfect zero.
    pub fn lacking(&self, key: &str, is_angle: bool) -> Option<Diagnostic> {
        let largest = self.largest;
        if largest < LARGE {
            return None;
        }
        let gap = largest * f64::EPSILON;
        let range = self.highest_a - self.lowest_a;
        let wanted = match is_angle {
            true => FINEST,
            // All may have become one number.
            false if range <= 0.0 => 1.0,
            false => FINEST * range,
        };
        (gap > wanted).then(|| {
            let message = format!(
                "`{key:.120}` goes up to {largest:.1e}, where neighbouring numbers are {gap:.1e} \
                 apart: its errors say nothing"
            );
            Diagnostic::warning(NO_DIGITS, message)
                .help("measure from a nearer zero; of an angle leave full turns out")
        })
    }
}
