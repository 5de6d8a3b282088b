//! How much two signals have in common at every shift, by the fast Fourier transform.
//!
//! Two lists of numbers go in; for every shift the sum of products of what overlaps comes out, as
//! adding them up would give it, to rounding. A block of both is transformed at a time, blocks as
//! long as a few times the shifts, and the products are added up before the one way back: the
//! cost grows with n · log(shifts) and not with n · shifts.
//!
//! The transform is our own because it has to give the same bits everywhere: those of others take
//! their sines from the platform and their order from the processor.

use headland_base::maths::{PI, cos, sin};

/// The shortest block; below it nothing is won.
const BLOCK_MIN: usize = 1024;
/// Stretches up to this length stay in the first cache.
const NEAR: usize = 1 << 11;

/// `Σ a[i] · b[i + s]` over what overlaps, for every s from `-shifts` to `shifts`. Both are as
/// long, and their sizes should be alike: what is small beside the other side drowns in its
/// rounding.
pub(super) fn products(a: &[f64], b: &[f64], shifts: usize) -> Vec<f64> {
    assert!(a.len() == b.len() && shifts < a.len(), "as long, and overlapping");
    let n = a.len();
    // At once, padded by the shifts on one side, or in blocks that see the shifts on both.
    let whole = (n + shifts).next_power_of_two();
    let length = (8 * shifts).next_power_of_two().max(BLOCK_MIN).min(whole.max(2));
    let step = if length == whole { n } else { length - 2 * shifts };
    let waves = Waves::new(length);
    let (mut re, mut im) = (vec![0.0; length], vec![0.0; length]);
    let (mut sum_re, mut sum_im) = (vec![0.0; length], vec![0.0; length]);
    for start in (0..n).step_by(step) {
        let end = (start + step).min(n);
        re.fill(0.0);
        re[..end - start].copy_from_slice(&a[start..end]);
        im.fill(0.0);
        let (from, to) = (start.saturating_sub(shifts), (end + shifts).min(n));
        let at = from + shifts - start;
        im[at..at + to - from].copy_from_slice(&b[from..to]);
        waves.there(&mut re, &mut im);
        add_products(&re, &im, &mut sum_re, &mut sum_im);
    }
    waves.back(&mut sum_re, &mut sum_im);
    let scale = 1.0 / length as f64;
    sum_re[..=2 * shifts].iter().map(|sum| sum * scale).collect()
}

/// Adds conj(A)·B, where z = a + i·b was transformed at once to Z, in the order in which [`Waves`]
/// leaves it. With Y for Z at the opposite frequency it is ½·Im(Y·Z) + ¼·i·(|Y|² − |Z|²).
fn add_products(re: &[f64], im: &[f64], sum_re: &mut [f64], sum_im: &mut [f64]) {
    let mut add = |at: usize, opposite: usize| {
        let (z, y) = ((re[at], im[at]), (re[opposite], im[opposite]));
        sum_re[at] += 0.5 * (y.0 * z.1 + y.1 * z.0);
        sum_im[at] += 0.25 * ((y.0 * y.0 + y.1 * y.1) - (z.0 * z.0 + z.1 * z.1));
    };
    add(0, 0);
    // In that order the opposites of a stretch from 2^k on are the stretch from its end.
    let mut start = 1;
    while start < re.len() {
        (start..2 * start).for_each(|at| add(at, 3 * start - 1 - at));
        start *= 2;
    }
}

/// The roots of unity of a transform. For every half length h those of 2h stand from h on.
struct Waves {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl Waves {
    fn new(length: usize) -> Waves {
        let (mut re, mut im) = (vec![0.0; length], vec![0.0; length]);
        let mut half = length / 2;
        for i in 0..half {
            let angle = -PI * i as f64 / half as f64;
            (re[half + i], im[half + i]) = (cos(angle), sin(angle));
        }
        // Every shorter transform has every other root of the one before.
        while half > 1 {
            half /= 2;
            for i in 0..half {
                (re[half + i], im[half + i]) = (re[2 * (half + i)], im[2 * (half + i)]);
            }
        }
        Waves { re, im }
    }

    /// To frequencies, in the order of their bits reversed (Gentleman and Sande).
    fn there(&self, re: &mut [f64], im: &mut [f64]) {
        if re.len() <= NEAR {
            let mut length = re.len();
            while length > 1 {
                let parts = re.chunks_exact_mut(length).zip(im.chunks_exact_mut(length));
                parts.for_each(|(re, im)| self.part(re, im));
                length /= 2;
            }
            return;
        }
        self.part(re, im);
        let half = re.len() / 2;
        let ((re_a, re_b), (im_a, im_b)) = (re.split_at_mut(half), im.split_at_mut(half));
        self.there(re_a, im_a);
        self.there(re_b, im_b);
    }

    /// Back from frequencies in that order, times the length (Cooley and Tukey).
    fn back(&self, re: &mut [f64], im: &mut [f64]) {
        if re.len() <= NEAR {
            let mut length = 2;
            while length <= re.len() {
                let parts = re.chunks_exact_mut(length).zip(im.chunks_exact_mut(length));
                parts.for_each(|(re, im)| self.join(re, im));
                length *= 2;
            }
            return;
        }
        let half = re.len() / 2;
        let ((re_a, re_b), (im_a, im_b)) = (re.split_at_mut(half), im.split_at_mut(half));
        self.back(re_a, im_a);
        self.back(re_b, im_b);
        self.join(re, im);
    }

    /// One step there: sums into the first half, differences, turned, into the second.
    fn part(&self, re: &mut [f64], im: &mut [f64]) {
        let half = re.len() / 2;
        let (waves_re, waves_im) = (&self.re[half..2 * half], &self.im[half..2 * half]);
        let ((re_a, re_b), (im_a, im_b)) = (re.split_at_mut(half), im.split_at_mut(half));
        let (re_b, im_a, im_b) = (&mut re_b[..half], &mut im_a[..half], &mut im_b[..half]);
        for i in 0..half {
            let (way_re, way_im) = (re_a[i] - re_b[i], im_a[i] - im_b[i]);
            re_a[i] += re_b[i];
            im_a[i] += im_b[i];
            re_b[i] = way_re * waves_re[i] - way_im * waves_im[i];
            im_b[i] = way_re * waves_im[i] + way_im * waves_re[i];
        }
    }

    /// One step back.
    fn join(&self, re: &mut [f64], im: &mut [f64]) {
        let half = re.len() / 2;
        let (waves_re, waves_im) = (&self.re[half..2 * half], &self.im[half..2 * half]);
        let ((re_a, re_b), (im_a, im_b)) = (re.split_at_mut(half), im.split_at_mut(half));
        let (re_b, im_a, im_b) = (&mut re_b[..half], &mut im_a[..half], &mut im_b[..half]);
        for i in 0..half {
            let turned_re = re_b[i] * waves_re[i] + im_b[i] * waves_im[i];
            let turned_im = im_b[i] * waves_re[i] - re_b[i] * waves_im[i];
            re_b[i] = re_a[i] - turned_re;
            im_b[i] = im_a[i] - turned_im;
            re_a[i] += turned_re;
            im_a[i] += turned_im;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::Seed;
    use headland_base::maths::sqrt;
    use rand_chacha::rand_core::Rng as _;

    fn noise(seed: u64, n: usize) -> Vec<f64> {
        let mut rng = Seed::new(seed).child("correlate").rng();
        (0..n).map(|_| (rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0).collect()
    }

    /// As its definition adds it up.
    fn plain(a: &[f64], b: &[f64], shift: i64) -> f64 {
        let (from_a, from_b) = ((-shift).max(0) as usize, shift.max(0) as usize);
        let m = a.len() - from_a.max(from_b);
        a[from_a..from_a + m].iter().zip(&b[from_b..from_b + m]).map(|(a, b)| a * b).sum()
    }

    /// Short and long, shifts from none to all, in one block and in many: the sum itself, to a
    /// few roundings of the sizes of both sides.
    #[test]
    fn it_is_the_sum_to_rounding() {
        let sizes = [
            (1, 0),
            (2, 1),
            (9, 2),
            (100, 66),
            (1000, 0),
            (1500, 200),
            (5000, 3),
            (20_000, 130),
            (33_333, 5000),
            (40_000, 39_000),
        ];
        for (n, shifts) in sizes {
            let (a, b) = (noise(1, n), noise(2, n));
            let size = |values: &[f64]| sqrt(values.iter().map(|v| v * v).sum::<f64>());
            let all = size(&a) * size(&b);
            let found = products(&a, &b, shifts);
            assert_eq!(found.len(), 2 * shifts + 1);
            let stride = (shifts / 40).max(1);
            let wanted = (-(shifts as i64)..=shifts as i64).step_by(stride);
            for shift in wanted.chain([shifts as i64]) {
                let got = found[(shift + shifts as i64) as usize];
                let off = (got - plain(&a, &b, shift)).abs() / all;
                assert!(off < 2e-15, "{n} {shifts}: {off:.1e} at {shift}");
            }
        }
    }
}
