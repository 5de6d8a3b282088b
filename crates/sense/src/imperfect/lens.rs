//! What happens to light before it reaches the sensor. Pictures are numbers from 0 to 255, three
//! a pixel.

use headland_base::Seed;
use headland_base::maths::{TAU, cos, exp, sin};

use super::Sun;
use crate::noise::Dice;

/// A drop of water: a little lens that turns what is behind it upside down.
#[derive(Clone, Copy, Debug)]
pub struct Drop {
    x: f32,
    y: f32,
    radius: f32,
}

/// Drops, anywhere on the picture, from a hundredth to a twentieth of its width.
pub fn drops(n: usize, (width, height): (usize, usize), seed: &Seed) -> Vec<Drop> {
    let mut dice = Dice::new(seed);
    let mut one = || Drop {
        x: (dice.uniform() * width as f64) as f32,
        y: (dice.uniform() * height as f64) as f32,
        radius: (width as f64 * (0.01 + 0.04 * dice.uniform())) as f32,
    };
    (0..n).map(|_| one()).collect()
}

/// Shows the picture through the drops.
pub fn refract(drops: &[Drop], light: &mut [f32], (width, height): (usize, usize)) {
    if drops.is_empty() {
        return;
    }
    let behind = light.to_vec();
    let at = |x: f32, y: f32| {
        let column = (x.max(0.0) as usize).min(width - 1);
        let row = (y.max(0.0) as usize).min(height - 1);
        &behind[(row * width + column) * 3..][..3]
    };
    for drop in drops {
        let span = |middle: f32, n: usize| {
            let low = (middle - drop.radius).ceil().max(0.0) as usize;
            low..((middle + drop.radius).floor() + 1.0).clamp(0.0, n as f32) as usize
        };
        for row in span(drop.y, height) {
            for column in span(drop.x, width) {
                let (dx, dy) = (column as f32 - drop.x, row as f32 - drop.y);
                let r2 = (dx * dx + dy * dy) / (drop.radius * drop.radius);
                if r2 >= 1.0 {
                    continue;
                }
                // What is seen lies on the other side, the further the nearer to the rim.
                let bend = 1.5 + 3.0 * r2;
                let seen = at(drop.x - dx * bend, drop.y - dy * bend);
                let rim = 1.0 - 0.5 * r2 * r2 * r2;
                let pixel = &mut light[(row * width + column) * 3..][..3];
                pixel.iter_mut().zip(seen).for_each(|(out, seen)| *out = seen * rim);
            }
        }
    }
}

/// Something before the picture that hides some of it: how much, pixel by pixel, and its colour.
pub struct Veil {
    hides: Vec<f32>,
    colour: [f32; 3],
}

impl Veil {
    /// Hides what is behind.
    pub fn lay_over(&self, light: &mut [f32]) {
        for (pixel, hides) in light.as_chunks_mut::<3>().0.iter_mut().zip(&self.hides) {
            for (out, own) in pixel.iter_mut().zip(self.colour) {
                *out += (own - *out) * hides;
            }
        }
    }
}

/// The size at which a mask has the mean that is asked for: it grows with its size.
fn sized(mean: f64, most: f64, mask: impl Fn(f64) -> Vec<f32>) -> Vec<f32> {
    let mean_of =
        |mask: &[f32]| mask.iter().map(|x| f64::from(*x)).sum::<f64>() / mask.len().max(1) as f64;
    let (mut low, mut high) = (0.0, most);
    let mut best = mask(high);
    for _ in 0..14 {
        let middle = (low + high) * 0.5;
        best = mask(middle);
        if mean_of(&best) < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    best
}

/// A leaf that reaches into the picture from a side, out of focus.
pub fn leaf(share: f64, (width, height): (usize, usize), seed: &Seed) -> Veil {
    let mut dice = Dice::new(seed);
    let (turn, around) = (TAU * dice.uniform(), TAU * dice.uniform());
    let (w, h) = (width as f64, height as f64);
    // Its middle is on an ellipse between the middle of the picture and its border.
    let (x, y) = (w * (0.5 + 0.38 * cos(around)), h * (0.5 + 0.38 * sin(around)));
    let (c, s) = (cos(turn) as f32, sin(turn) as f32);
    let (x, y) = (x as f32, y as f32);
    let soft = (0.012 * w).max(1.0) as f32;
    // What two circles share, whose middles are apart: pointed at both ends.
    let mask = |radius: f64| {
        let (radius, apart) = (radius as f32, 0.78 * radius as f32);
        let at = |i: usize| {
            let (dx, dy) = ((i % width) as f32 - x, (i / width) as f32 - y);
            let (along, across) = (dx * c + dy * s, dy * c - dx * s);
            let inside = |middle: f32| {
                let off = across - middle;
                radius - (along * along + off * off).sqrt()
            };
            let depth = inside(apart).min(inside(-apart));
            (depth / soft + 0.5).clamp(0.0, 1.0)
        };
        (0..width * height).map(at).collect()
    };
    Veil { hides: sized(share, 8.0 * (w + h), mask), colour: [48.0, 74.0, 26.0] }
}

/// Specks and smears of mud, all of them out of focus.
pub fn dirt(share: f64, (width, height): (usize, usize), seed: &Seed) -> Veil {
    let mut dice = Dice::new(seed);
    let mut density = vec![0.0f32; width * height];
    for _ in 0..60 {
        let (x, y) = (dice.uniform() * width as f64, dice.uniform() * height as f64);
        let size = width as f64 * (0.006 + 0.05 * dice.uniform() * dice.uniform());
        let weight = 0.3 + 0.7 * dice.uniform();
        let reach = 3.0 * size;
        let span = |middle: f64, n: usize| {
            let low = (middle - reach).max(0.0) as usize;
            low..((middle + reach).max(0.0) as usize + 1).min(n)
        };
        for row in span(y, height) {
            for column in span(x, width) {
                let (dx, dy) = (column as f64 - x, row as f64 - y);
                let fall = exp(-0.5 * (dx * dx + dy * dy) / (size * size));
                density[row * width + column] += (weight * fall) as f32;
            }
        }
    }
    // A thin film everywhere, so that any share can be reached.
    let film = |strength: f64| {
        density.iter().map(|d| ((d + 0.02) * strength as f32).min(0.97)).collect::<Vec<f32>>()
    };
    Veil { hides: sized(share, 64.0, film), colour: [70.0, 58.0, 44.0] }
}

/// Blurs by a bell of a standard deviation in pixels; what is beyond the border is as at it.
pub fn blur(light: &mut [f32], (width, height): (usize, usize), sigma: f64) {
    if sigma <= 0.0 {
        return;
    }
    let reach = (3.0 * sigma).ceil() as usize;
    let weight = |i: usize| exp(-0.5 * (i * i) as f64 / (sigma * sigma));
    let sum = weight(0) + 2.0 * (1..=reach).map(weight).sum::<f64>();
    let kernel: Vec<f32> = (0..=reach).map(|i| (weight(i) / sum) as f32).collect();
    let rows = light.to_vec();
    for row in 0..height {
        let (from, to) = (&rows[row * width * 3..][..width * 3], row * width * 3);
        for column in 0..width {
            for c in 0..3 {
                let at = |x: usize| from[x * 3 + c];
                let mut sum = at(column) * kernel[0];
                for (i, weight) in kernel.iter().enumerate().skip(1) {
                    let (left, right) = (column.saturating_sub(i), (column + i).min(width - 1));
                    sum += (at(left) + at(right)) * weight;
                }
                light[to + column * 3 + c] = sum;
            }
        }
    }
    let columns = light.to_vec();
    let n = width * 3;
    for row in 0..height {
        let out = &mut light[row * n..(row + 1) * n];
        let line = |row: usize| &columns[row * n..(row + 1) * n];
        out.iter_mut().zip(line(row)).for_each(|(out, value)| *out = value * kernel[0]);
        for (i, weight) in kernel.iter().enumerate().skip(1) {
            let (above, below) = (line(row.saturating_sub(i)), line((row + i).min(height - 1)));
            for ((out, above), below) in out.iter_mut().zip(above).zip(below) {
                *out += (above + below) * weight;
            }
        }
    }
}

/// Squares that scattered light is spread over.
const CELL: usize = 16;

/// Scatters a share of the light over an eighth of the picture's width around.
pub fn glare(light: &mut [f32], (width, height): (usize, usize), share: f32) {
    if share <= 0.0 {
        return;
    }
    let (across, down) = (width.div_ceil(CELL), height.div_ceil(CELL));
    let mut cells = vec![0.0f32; across * down * 3];
    let mut counts = vec![0.0f32; across * down];
    for row in 0..height {
        for column in 0..width {
            let cell = row / CELL * across + column / CELL;
            counts[cell] += 1.0;
            for c in 0..3 {
                cells[cell * 3 + c] += light[(row * width + column) * 3 + c];
            }
        }
    }
    for (cell, n) in cells.as_chunks_mut::<3>().0.iter_mut().zip(counts) {
        cell.iter_mut().for_each(|sum| *sum /= n);
    }
    blur(&mut cells, (across, down), across as f64 / 8.0);
    for row in 0..height {
        for column in 0..width {
            // Between the middles of four cells.
            let place = |x: usize, n: usize| {
                let x = ((x as f32 + 0.5) / CELL as f32 - 0.5).clamp(0.0, n as f32 - 1.0);
                let low = (x as usize).min(n.saturating_sub(2));
                (low, (low + 1).min(n - 1), x - low as f32)
            };
            let ((left, right, f), (top, bottom, g)) = (place(column, across), place(row, down));
            for c in 0..3 {
                let at = |r: usize, k: usize| cells[(r * across + k) * 3 + c];
                let above = at(top, left) + (at(top, right) - at(top, left)) * f;
                let below = at(bottom, left) + (at(bottom, right) - at(bottom, left)) * f;
                let scattered = above + (below - above) * g;
                let out = &mut light[(row * width + column) * 3 + c];
                *out += (scattered - *out) * share;
            }
        }
    }
}

/// Adds the halo of the sun and the spots that it makes between the glasses of a lens: on the
/// line from the sun through the middle of the picture, at places and in sizes of a common zoom.
pub fn flare(light: &mut [f32], (width, height): (usize, usize), strength: f32, sun: Option<Sun>) {
    let Some(sun) = sun.filter(|_| strength > 0.0) else { return };
    let (middle_x, middle_y) = (width as f32 * 0.5, height as f32 * 0.5);
    let (x, y) = (sun.pixel.x as f32, sun.pixel.y as f32);
    let size = width.max(height) as f32;
    let (dx, dy) = (x - middle_x, y - middle_y);
    let far = (dx * dx + dy * dy).sqrt();
    // A sun far outside of the picture does not reach the sensor.
    let fall = (1.0 - (far / size - 0.6).max(0.0) / 0.8).clamp(0.0, 1.0);
    if fall <= 0.0 {
        return;
    }
    let strength = strength * fall * 255.0;
    const GHOSTS: [(f32, f32, [f32; 3]); 5] = [
        (0.5, 0.035, [0.5, 0.9, 0.6]),
        (-0.3, 0.06, [0.9, 0.6, 0.4]),
        (-0.6, 0.03, [0.5, 0.6, 1.0]),
        (-0.9, 0.09, [0.6, 0.9, 0.9]),
        (-1.4, 0.14, [0.8, 0.5, 0.7]),
    ];
    for row in 0..height {
        for column in 0..width {
            let (px, py) = (column as f32, row as f32);
            let r = ((px - x) * (px - x) + (py - y) * (py - y)).sqrt() / size;
            let halo = 1.0 / (1.0 + 900.0 * r * r) + 0.25 / (1.0 + 30.0 * r * r);
            let mut add = sun.colour.map(|c| halo * c);
            for (along, radius, tint) in GHOSTS {
                let (gx, gy) = (middle_x + dx * along, middle_y + dy * along);
                let d = ((px - gx) * (px - gx) + (py - gy) * (py - gy)).sqrt() / (radius * size);
                let spot = ((1.0 - d) * 12.0).clamp(0.0, 1.0) * 0.16;
                (0..3).for_each(|c| add[c] += spot * tint[c]);
            }
            let pixel = &mut light[(row * width + column) * 3..][..3];
            pixel.iter_mut().zip(add).for_each(|(out, add)| *out += add * strength);
        }
    }
}
