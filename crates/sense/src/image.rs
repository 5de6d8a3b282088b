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
    /// All black.
    pub fn black(width: usize, height: usize) -> Image {
        Image { width, height, rgb: vec![0; width * height * 3] }
    }

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

    /// From a PNG of any kind; `None` where it is none.
    pub fn from_png(bytes: &[u8]) -> Option<Image> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().ok()?;
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
