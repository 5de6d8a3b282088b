//! JPEG: a picture goes in, a file of a quality comes out, or the picture that such a file shows.
//!
//! Baseline, every colour at full resolution, the tables of the standard (ITU-T T.81, annex K)
//! scaled to a quality as libjpeg does. The same bytes for the same picture: all sums are in one
//! order and cosines are our own.
//!
//! Why not a library: the encoders there are come under the licence of the Independent JPEG
//! Group, which is not among those this project takes; they promise no bytes; and the imperfection
//! `jpeg` needs the coarsening without the file.

use std::sync::LazyLock;

use headland_base::maths::{PI, cos, sqrt};

use crate::image::Image;

/// Steps of brightness, and of colour, at quality 50.
const STEPS: [[u8; 64]; 2] = [
    [
        16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69,
        56, 14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81,
        104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
    ],
    [
        17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99,
        99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    ],
];

/// From the coarsest to the finest, along the diagonals.
const ZIGZAG: [usize; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
    13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59,
    52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// How many codes of each length there are, and what they mean: of means, and of the rest.
const MEAN_LENGTHS: [u8; 16] = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0];
const MEAN_WORDS: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const REST_LENGTHS: [u8; 16] = [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125];
const REST_WORDS: [u8; 162] = [
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07,
    0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0,
    0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25, 0x26, 0x27, 0x28,
    0x29, 0x2a, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49,
    0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69,
    0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
    0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
    0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5,
    0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2,
    0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
    0xf9, 0xfa,
];

/// The waves: `WAVES[frequency][place]`.
static WAVES: LazyLock<[[f32; 8]; 8]> = LazyLock::new(|| {
    std::array::from_fn(|u| {
        let scale = if u == 0 { sqrt(0.125) } else { 0.5 };
        std::array::from_fn(|x| (scale * cos((2 * x + 1) as f64 * u as f64 * PI / 16.0)) as f32)
    })
});

/// Steps at a quality from 1 to 100.
fn steps(quality: u8) -> [[u16; 64]; 2] {
    let quality = u32::from(quality.clamp(1, 100));
    let scale = if quality < 50 { 5000 / quality } else { 200 - 2 * quality };
    STEPS.map(|steps| steps.map(|step| ((u32::from(step) * scale + 50) / 100).clamp(1, 255) as u16))
}

/// Brightness and two colours of a pixel, around zero.
fn to_ycc([r, g, b]: [f32; 3]) -> [f32; 3] {
    [
        0.299 * r + 0.587 * g + 0.114 * b - 128.0,
        -0.168_736 * r - 0.331_264 * g + 0.5 * b,
        0.5 * r - 0.418_688 * g - 0.081_312 * b,
    ]
}

fn from_ycc([y, cb, cr]: [f32; 3]) -> [f32; 3] {
    let y = y + 128.0;
    [y + 1.402 * cr, y - 0.344_136 * cb - 0.714_136 * cr, y + 1.772 * cb]
}

/// A square of 8 × 8 of one colour as waves.
fn forward(block: &[f32; 64]) -> [f32; 64] {
    let waves = &*WAVES;
    let mut rows = [0.0; 64];
    for y in 0..8 {
        for u in 0..8 {
            rows[y * 8 + u] = (0..8).map(|x| block[y * 8 + x] * waves[u][x]).sum();
        }
    }
    let mut out = [0.0; 64];
    for v in 0..8 {
        for u in 0..8 {
            out[v * 8 + u] = (0..8).map(|y| rows[y * 8 + u] * waves[v][y]).sum();
        }
    }
    out
}

fn backward(block: &[f32; 64]) -> [f32; 64] {
    let waves = &*WAVES;
    let mut rows = [0.0; 64];
    for v in 0..8 {
        for x in 0..8 {
            rows[v * 8 + x] = (0..8).map(|u| block[v * 8 + u] * waves[u][x]).sum();
        }
    }
    let mut out = [0.0; 64];
    for y in 0..8 {
        for x in 0..8 {
            out[y * 8 + x] = (0..8).map(|v| rows[v * 8 + x] * waves[v][y]).sum();
        }
    }
    out
}

/// The nearest whole number of steps; halves go away from zero.
fn counted(waves: &[f32; 64], steps: &[u16; 64]) -> [i32; 64] {
    std::array::from_fn(|i| {
        let n = waves[i] / f32::from(steps[i]);
        (if n < 0.0 { n - 0.5 } else { n + 0.5 }) as i32
    })
}

/// The square at a place in three colours; beyond the border it is as at it.
fn square(rgb: &[u8], (width, height): (usize, usize), left: usize, top: usize) -> [[f32; 64]; 3] {
    let mut out = [[0.0; 64]; 3];
    for i in 0..64 {
        let (x, y) = ((left + i % 8).min(width - 1), (top + i / 8).min(height - 1));
        let at = (y * width + x) * 3;
        let ycc = to_ycc([rgb[at], rgb[at + 1], rgb[at + 2]].map(f32::from));
        out.iter_mut().zip(ycc).for_each(|(colour, value)| colour[i] = value);
    }
    out
}

/// Makes of a picture what a JPEG of a quality shows of it.
pub fn coarsen(rgb: &mut [u8], (width, height): (usize, usize), quality: u8) {
    let steps = steps(quality);
    for top in (0..height).step_by(8) {
        for left in (0..width).step_by(8) {
            let mut colours = square(rgb, (width, height), left, top);
            for (c, block) in colours.iter_mut().enumerate() {
                let steps = &steps[usize::from(c > 0)];
                let counts = counted(&forward(block), steps);
                *block = backward(&std::array::from_fn(|i| counts[i] as f32 * f32::from(steps[i])));
            }
            for i in 0..64 {
                let (x, y) = (left + i % 8, top + i / 8);
                if x < width && y < height {
                    let pixel = from_ycc(colours.map(|colour| colour[i]));
                    let at = (y * width + x) * 3;
                    (0..3).for_each(|c| rgb[at + c] = (pixel[c] + 0.5) as u8);
                }
            }
        }
    }
}

/// A file.
pub fn encode(image: &Image, quality: u8) -> Vec<u8> {
    let (width, height) = (image.width, image.height);
    let steps = steps(quality);
    let mut out = vec![0xff, 0xd8];
    let mut segment = |marker: u8, body: &[u8]| {
        out.extend_from_slice(&[0xff, marker]);
        out.extend_from_slice(&(body.len() as u16 + 2).to_be_bytes());
        out.extend_from_slice(body);
    };
    segment(0xe0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0");
    for (i, steps) in steps.iter().enumerate() {
        let in_order = ZIGZAG.iter().map(|at| steps[*at] as u8);
        segment(0xdb, &std::iter::once(i as u8).chain(in_order).collect::<Vec<u8>>());
    }
    let [h, w] = [height as u16, width as u16].map(u16::to_be_bytes);
    let frame = [8, h[0], h[1], w[0], w[1], 3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1];
    segment(0xc0, &frame);
    segment(0xc4, &[&[0x00], &MEAN_LENGTHS[..], &MEAN_WORDS[..]].concat());
    segment(0xc4, &[&[0x10], &REST_LENGTHS[..], &REST_WORDS[..]].concat());
    segment(0xda, &[3, 1, 0, 2, 0, 3, 0, 0, 63, 0]);
    let (means, rest) = (codes(&MEAN_LENGTHS, &MEAN_WORDS), codes(&REST_LENGTHS, &REST_WORDS));
    let mut bits = Bits { out, held: 0, n_held: 0 };
    let mut last = [0; 3];
    for top in (0..height).step_by(8) {
        for left in (0..width).step_by(8) {
            let colours = square(&image.rgb, (width, height), left, top);
            for (c, block) in colours.iter().enumerate() {
                let counts = counted(&forward(block), &steps[usize::from(c > 0)]);
                bits.number(&means, 0, counts[0] - last[c]);
                last[c] = counts[0];
                let mut n_zeros = 0;
                for at in &ZIGZAG[1..] {
                    match counts[*at] {
                        0 => n_zeros += 1,
                        count => {
                            while n_zeros > 15 {
                                bits.put(rest[0xf0]);
                                n_zeros -= 16;
                            }
                            bits.number(&rest, n_zeros, count);
                            n_zeros = 0;
                        }
                    }
                }
                if n_zeros > 0 {
                    bits.put(rest[0]);
                }
            }
        }
    }
    bits.finish()
}

/// Code and length of every word.
fn codes(lengths: &[u8; 16], words: &[u8]) -> [(u16, u8); 256] {
    let mut out = [(0, 0); 256];
    let (mut code, mut next) = (0u16, 0);
    for (i, n) in lengths.iter().enumerate() {
        for _ in 0..*n {
            out[usize::from(words[next])] = (code, i as u8 + 1);
            code += 1;
            next += 1;
        }
        code <<= 1;
    }
    out
}

/// Bits put one behind the other, the highest first.
struct Bits {
    out: Vec<u8>,
    held: u32,
    n_held: u8,
}

impl Bits {
    fn put(&mut self, (code, n_bits): (u16, u8)) {
        self.held = self.held << n_bits | u32::from(code);
        self.n_held += n_bits;
        while self.n_held >= 8 {
            self.n_held -= 8;
            let byte = (self.held >> self.n_held) as u8;
            self.out.push(byte);
            if byte == 0xff {
                self.out.push(0); // so that it is no marker
            }
        }
        self.held &= (1 << self.n_held) - 1;
    }

    /// A number behind so many zeros: how many bits it has, then those.
    fn number(&mut self, codes: &[(u16, u8); 256], n_zeros: usize, value: i32) {
        let n_bits = 32 - value.unsigned_abs().leading_zeros();
        self.put(codes[n_zeros << 4 | n_bits as usize]);
        // What is negative is written as one less.
        let bits = if value < 0 { value - 1 } else { value };
        self.put((bits as u16 & ((1u32 << n_bits) - 1) as u16, n_bits as u8));
    }

    fn finish(mut self) -> Vec<u8> {
        if self.n_held > 0 {
            let n = 8 - self.n_held;
            self.put(((1 << n) - 1, n));
        }
        self.out.extend_from_slice(&[0xff, 0xd9]);
        self.out
    }
}
