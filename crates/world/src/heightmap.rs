//! Heights from an image: a grey or coloured PNG goes in, a [`HeightGrid`] comes out.
//!
//! White is `size.z` high and black is zero, as in Gazebo. Image row 0 is the north
//! (+y) edge, while row 0 of the grid is the south one.
//!
//! Deliberately absent: georeferenced elevation models and JPEG, whose losses are steps.

use std::io::BufReader;
use std::path::Path;

use headland_base::{Diagnostic, Vec3};
use png::{BitDepth, ColorType, Decoder, Limits, Transformations};

use crate::files::{self, Unread};
use crate::geometry::HeightGrid;

/// The most pixels an image may have: a square of 8193, four times Gazebo's largest.
pub const MOST_PIXELS: u64 = 8193 * 8193;

/// The largest image file that is opened: every pixel as large as they come \[bytes\].
const MOST_BYTES: u64 = MOST_PIXELS * 8;

/// Reads a PNG as heights; `size.z` is the height of a white pixel \[m\].
pub fn load(path: &Path, size: Vec3) -> Result<HeightGrid, Diagnostic> {
    let file = files::open(path, MOST_BYTES).map_err(|why| match why {
        Unread::Irregular(diagnostic) => diagnostic,
        Unread::Failed(error) => bad(path, error.to_string()),
        Unread::TooLarge(n_bytes) => bad(path, format!("{} MiB are too many", n_bytes >> 20)),
    })?;
    let limits = Limits { bytes: MOST_BYTES as usize };
    let mut decoder = Decoder::new_with_limits(BufReader::new(file), limits);
    // Palettes and bits below eight become plain samples; 16 bits stay 16 bits.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|error| bad(path, error.to_string()))?;
    let (width, height) = (reader.info().width, reader.info().height);
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(bad(path, format!("{width} × {height} pixels are too many")));
    }
    let n_bytes = reader.output_buffer_size().ok_or_else(|| bad(path, "it is too large"))?;
    let mut bytes = vec![0; n_bytes];
    let frame = reader.next_frame(&mut bytes).map_err(|error| bad(path, error.to_string()))?;

    let (n_columns, n_rows) = (width as usize, height as usize);
    let sample_len = if frame.bit_depth == BitDepth::Sixteen { 2 } else { 1 };
    let (n_channels, n_colours) = match frame.color_type {
        ColorType::Grayscale => (1, 1),
        ColorType::GrayscaleAlpha => (2, 1),
        ColorType::Rgb => (3, 3),
        ColorType::Rgba => (4, 3),
        ColorType::Indexed => return Err(bad(path, "its palette could not be expanded")),
    };
    let sample = |column: usize, image_row: usize, channel: usize| {
        let at = image_row * frame.line_size + (column * n_channels + channel) * sample_len;
        match sample_len {
            2 => f64::from(u16::from_be_bytes([bytes[at], bytes[at + 1]])) / 65535.0,
            _ => f64::from(bytes[at]) / 255.0,
        }
    };
    let mut heights = Vec::with_capacity(n_columns * n_rows);
    for image_row in (0..n_rows).rev() {
        for column in 0..n_columns {
            let sum: f64 = (0..n_colours).map(|channel| sample(column, image_row, channel)).sum();
            heights.push(sum / n_colours as f64 * size.z);
        }
    }
    HeightGrid::new(n_columns, n_rows, heights)
        .ok_or_else(|| bad(path, format!("{width} × {height} pixels are too few; 2 × 2 at least")))
}

fn bad(path: &Path, why: impl Into<String>) -> Diagnostic {
    Diagnostic::error("bad-heightmap", format!("cannot read the heightmap `{}`", path.display()))
        .note(why)
        .help("a PNG, grey or coloured, 8 or 16 bits per sample")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_of(width: u32, height: u32, colour: ColorType, depth: BitDepth, data: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, width, height);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        encoder.write_header().unwrap().write_image_data(data).unwrap();
        out
    }

    fn loaded(bytes: &[u8], size: Vec3) -> Result<HeightGrid, Diagnostic> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hills.png");
        std::fs::write(&path, bytes).unwrap();
        load(&path, size)
    }

    #[test]
    fn white_is_high_and_the_first_image_row_is_north() {
        let size = Vec3::new(10.0, 10.0, 5.0);
        let grey = png_of(2, 3, ColorType::Grayscale, BitDepth::Eight, &[255, 0, 0, 0, 0, 51]);
        let grid = loaded(&grey, size).unwrap();
        assert_eq!((grid.n_columns(), grid.n_rows()), (2, 3));
        assert_eq!((grid.height(0, 2), grid.height(1, 0), grid.height(1, 2)), (5.0, 1.0, 0.0));
    }

    #[test]
    fn sixteen_bits_and_colours_mean_the_same_height() {
        let size = Vec3::new(1.0, 1.0, 65535.0);
        let deep: Vec<u8> = [1u16, 2, 300, 65535].iter().flat_map(|s| s.to_be_bytes()).collect();
        let grid =
            loaded(&png_of(2, 2, ColorType::Grayscale, BitDepth::Sixteen, &deep), size).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(grid.height(0, 1), 1.0) && close(grid.height(1, 0), 65535.0));
        let rgb: Vec<u8> = [0u8, 100, 200, 255].iter().flat_map(|s| [*s; 3]).collect();
        let colour = loaded(&png_of(2, 2, ColorType::Rgb, BitDepth::Eight, &rgb), size).unwrap();
        let grey = png_of(2, 2, ColorType::Grayscale, BitDepth::Eight, &[0, 100, 200, 255]);
        let grey = loaded(&grey, size).unwrap();
        for (column, row) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            assert!(close(colour.height(column, row), grey.height(column, row)));
        }
    }

    #[test]
    fn broken_images_are_refused_with_words() {
        let size = Vec3::ONE;
        let whole = png_of(4, 4, ColorType::Grayscale, BitDepth::Eight, &[7; 16]);
        for n in 0..whole.len() {
            if let Err(diagnostic) = loaded(&whole[..n], size) {
                assert_eq!(diagnostic.code, "bad-heightmap");
            }
        }
        assert!(loaded(&whole, size).is_ok());
        assert!(
            loaded(&png_of(1, 4, ColorType::Grayscale, BitDepth::Eight, &[7; 4]), size).is_err()
        );
        // A header that promises 2³¹ pixels a side must not be believed.
        let mut huge = whole;
        huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        assert_eq!(loaded(&huge, size).unwrap_err().code, "bad-heightmap");
    }
}
