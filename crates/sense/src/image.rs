//! Pictures: rows of red, green and blue bytes, to and from PNG.

use std::io::Cursor;

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels along a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green, blue; row by row from the top.
    pub rgb: Vec<u8>,
}

impl Image {
    /// One pixel.
    pub fn pixel(&self, column: usize, row: usize) -> [u8; 3] {
        let at = (row * self.width + column) * 3;
        [self.rgb[at], self.rgb[at + 1], self.rgb[at + 2]]
    }

    /// As a PNG, the same bytes for the same pixels.
    pub fn to_png(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().expect("a size above nothing");
        writer.write_image_data(&self.rgb).expect("memory takes every byte");
        writer.finish().expect("memory takes every byte");
        out
    }

    /// From a PNG of any kind of at most so many pixels a side; `None` where it is none.
    pub fn from_png(bytes: &[u8], most_side: usize) -> Option<Image> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().ok()?;
        // Before there is memory for it: a header may promise anything.
        let (width, height) = reader.info().size();
        if width.max(height) as usize > most_side {
            return None;
        }
        let mut data = vec![0; reader.output_buffer_size()?];
        let frame = reader.next_frame(&mut data).ok()?;
        let (width, height) = (frame.width as usize, frame.height as usize);
        let n = frame.color_type.samples();
        let rgb = data[..frame.buffer_size()].chunks_exact(n).flat_map(|pixel| match pixel {
            [grey] | [grey, _] => [*grey; 3],
            [r, g, b, ..] => [*r, *g, *b],
            [] => [0; 3],
        });
        Some(Image { width, height, rgb: rgb.collect() })
    }

    /// Pictures side by side, with a thin white line between them; each row as high as the
    /// highest.
    pub fn side_by_side(images: &[Image]) -> Image {
        const GAP: usize = 4;
        let height = images.iter().map(|image| image.height).max().unwrap_or(1);
        let n_gaps = images.len().saturating_sub(1);
        let width = images.iter().map(|image| image.width).sum::<usize>() + GAP * n_gaps;
        let mut out = Image { width, height, rgb: vec![255; width * height * 3] };
        let mut left = 0;
        for image in images {
            for row in 0..image.height {
                let at = (row * width + left) * 3;
                let from = row * image.width * 3;
                out.rgb[at..at + image.width * 3]
                    .copy_from_slice(&image.rgb[from..from + image.width * 3]);
            }
            left += image.width + GAP;
        }
        out
    }
}

/// Letters of captions, five rows of three dots each.
const LETTERS: &[(char, [u8; 5])] = &[
    ('0', [7, 5, 5, 5, 7]),
    ('1', [2, 6, 2, 2, 7]),
    ('2', [7, 1, 7, 4, 7]),
    ('3', [7, 1, 7, 1, 7]),
    ('4', [5, 5, 7, 1, 1]),
    ('5', [7, 4, 7, 1, 7]),
    ('6', [7, 4, 7, 5, 7]),
    ('7', [7, 1, 2, 2, 2]),
    ('8', [7, 5, 7, 5, 7]),
    ('9', [7, 5, 7, 1, 7]),
    ('.', [0, 0, 0, 0, 2]),
    ('-', [0, 0, 7, 0, 0]),
    ('s', [3, 4, 2, 1, 6]),
];

impl Image {
    /// Writes a moment, such as `1.25 s`, into the lower left corner, white on grey. Other
    /// letters are blank.
    pub fn caption(&mut self, text: &str) {
        let dot = (self.height / 160).clamp(1, 6);
        let (left, bottom) = (3 * dot, self.height.saturating_sub(3 * dot));
        let top = bottom.saturating_sub(5 * dot);
        let mut put = |column: usize, row: usize, colour: Option<u8>| {
            if column < self.width && row < self.height {
                let at = (row * self.width + column) * 3;
                for c in &mut self.rgb[at..at + 3] {
                    *c = colour.unwrap_or(*c / 3);
                }
            }
        };
        for row in top.saturating_sub(dot)..bottom + dot {
            for column in left - dot..left + text.chars().count() * 4 * dot {
                put(column, row, None);
            }
        }
        for (i, letter) in text.chars().enumerate() {
            let rows = LETTERS.iter().find(|(known, _)| *known == letter).map(|(_, rows)| rows);
            for (y, row) in rows.into_iter().flatten().enumerate() {
                for x in (0..3).filter(|x| row & (4 >> x) != 0) {
                    for k in 0..dot * dot {
                        let column = left + (i * 4 + x) * dot + k % dot;
                        put(column, top + y * dot + k / dot, Some(255));
                    }
                }
            }
        }
    }
}
