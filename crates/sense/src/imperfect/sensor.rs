//! What happens to light on the sensor and behind it. Pictures are numbers from 0 to 255, three a
//! pixel.

use std::sync::LazyLock;

use headland_base::Seed;
use headland_base::maths::{log, pow, sqrt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// Gives every pixel so many stops more light. What is beyond full scale stays there once it
/// becomes bytes.
pub fn expose(light: &mut [f32], stops: f64) {
    if stops != 0.0 {
        let gain = pow(2.0, stops) as f32;
        light.iter_mut().for_each(|value| *value = (*value * gain).min(255.0));
    }
}

/// Takes a share of the contrast away, towards the middle of the scale.
pub fn fade(light: &mut [f32], share: f32) {
    if share > 0.0 {
        light.iter_mut().for_each(|value| *value += (127.5 - *value) * share);
    }
}

/// Noise of every sample, picture after picture.
pub struct Grain {
    rng: ChaCha8Rng,
    bytes: Vec<u8>,
}

impl Grain {
    pub fn new(seed: &Seed) -> Grain {
        Grain { rng: seed.rng(), bytes: Vec::new() }
    }

    /// Adds normal noise; deviation and mean are shares of full scale.
    pub fn add(&mut self, light: &mut [f32], stddev: f64, mean: f64) {
        if stddev <= 0.0 && mean == 0.0 {
            return;
        }
        self.bytes.resize(light.len() * 2, 0);
        self.rng.fill_bytes(&mut self.bytes);
        let (scale, offset) = ((stddev * 255.0) as f32, (mean * 255.0) as f32);
        for (value, [low, high]) in light.iter_mut().zip(self.bytes.as_chunks::<2>().0) {
            let bell = BELL[usize::from(u16::from_le_bytes([*low, *high]))];
            *value += offset + scale * bell;
        }
    }
}

/// The normal law cut into 65536 pieces of equal chance, the middle of each: two random bytes
/// make a number of it, which is ten times as fast as the usual formulas. Its tails end at 4.3
/// deviations.
static BELL: LazyLock<Vec<f32>> =
    LazyLock::new(|| (0..65_536).map(|i| quantile((i as f64 + 0.5) / 65_536.0) as f32).collect());

/// The number that a normal one is below with a chance of `p` (Acklam 2003, to 1e-9).
fn quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] =
        [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0];
    let horner = |k: &[f64], x: f64| k.iter().fold(0.0, |sum, k| sum * x + k);
    let tail = |p: f64| {
        let q = sqrt(-2.0 * log(p));
        horner(&C, q) / horner(&D, q)
    };
    match p {
        p if p < 0.02425 => tail(p),
        p if p > 0.97575 => -tail(1.0 - p),
        p => {
            let (q, r) = (p - 0.5, (p - 0.5) * (p - 0.5));
            q * horner(&A, r) / horner(&B, r)
        }
    }
}

/// Keeps of every pixel the one colour that its filter lets through (red at the first, green
/// beside it, blue below and to the right) and guesses the others as means of the neighbours that
/// have them.
pub fn demosaic(light: &mut [f32], (width, height): (usize, usize)) {
    let colour = |x: usize, y: usize| y % 2 + x % 2;
    let raw: Vec<f32> =
        (0..width * height).map(|i| light[i * 3 + colour(i % width, i / width)]).collect();
    for y in 0..height {
        for x in 0..width {
            for c in 0..3 {
                if c == colour(x, y) {
                    continue;
                }
                let (mut sum, mut n) = (0.0, 0.0);
                for row in y.saturating_sub(1)..(y + 2).min(height) {
                    for column in x.saturating_sub(1)..(x + 2).min(width) {
                        if colour(column, row) == c {
                            sum += raw[row * width + column];
                            n += 1.0;
                        }
                    }
                }
                // A picture of one pixel has no neighbours.
                light[(y * width + x) * 3 + c] = if n > 0.0 { sum / n } else { raw[y * width + x] };
            }
        }
    }
}
