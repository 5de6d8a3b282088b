//! Textures: a file goes in, a colour at any place and fineness comes out.
//!
//! A texture is kept at its own size and at every half of it down to one pixel, so that what is
//! far away is a mean and does not flicker. Between pixels, and between two of these sizes, it is
//! mixed. Beyond its borders it repeats.
//!
//! How it lies on a form, as Gazebo lays it:
//!
//! | form | the picture |
//! |---|---|
//! | box | once on every face, upright on the sides; on the lid its top is at +y |
//! | plane | once over its size, its top at +y |
//! | sphere, ellipsoid | around z, from pole to pole |
//! | cylinder, capsule, cone | around z; once on the ends |
//! | mesh | where its texture coordinates say; without any, along its x and y |

use headland_base::Vec3;
use headland_base::maths::{PI, asin, atan2};

use super::mesh::Mesh;
use super::solid::{Solid, Surface};
use crate::image::Image;

/// The largest texture, a side \[pixels\].
const MOST_SIDE: usize = 8192;

/// A picture on a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// From the largest to one pixel.
    levels: Vec<Image>,
}

/// A place on a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spot {
    /// 0 to 1 from the left, and from the top.
    pub at: [f32; 2],
    /// How much of the texture a metre is, along its larger side.
    pub per_metre: f32,
}

impl Texture {
    /// From the bytes of a PNG or JPEG; says in words what it cannot be read for.
    pub fn decode(bytes: &[u8]) -> Result<Texture, String> {
        Texture::picture(bytes).map(Texture::of)
    }

    /// The picture in it, or why there is none.
    pub(crate) fn picture(bytes: &[u8]) -> Result<Image, String> {
        let image = match bytes {
            [0x89, b'P', b'N', b'G', ..] => {
                let why = format!("it is a broken PNG, or has more than {MOST_SIDE} pixels a side");
                Image::from_png(bytes, MOST_SIDE).ok_or(why)
            }
            [0xff, 0xd8, ..] => jpeg(bytes),
            _ => Err("it is neither a PNG nor a JPEG".to_string()),
        }?;
        if image.width.max(image.height) > MOST_SIDE || image.width.min(image.height) == 0 {
            return Err(format!("{} × {} pixels are too many", image.width, image.height));
        }
        Ok(image)
    }

    /// Of a picture.
    pub fn of(image: Image) -> Texture {
        let mut levels = vec![image];
        while let Some(last) = levels.last().filter(|last| last.width.max(last.height) > 1) {
            levels.push(halved(last));
        }
        Texture { levels }
    }

    /// Its sizes, from the largest to one pixel.
    #[cfg(feature = "wgpu")]
    pub(crate) fn levels(&self) -> &[Image] {
        &self.levels
    }

    /// The colour, 0 to 1, at a place of which a pixel of the image shows so much.
    pub(crate) fn colour(&self, at: [f32; 2], share_a_pixel: f32) -> [f32; 3] {
        let first = &self.levels[0];
        let n = share_a_pixel * first.width.max(first.height) as f32;
        let (level, rest) = halvings(n);
        let last = self.levels.len() - 1;
        if level >= last {
            return between(&self.levels[last], at);
        }
        let (fine, coarse) =
            (between(&self.levels[level], at), between(&self.levels[level + 1], at));
        std::array::from_fn(|i| fine[i] + (coarse[i] - fine[i]) * rest)
    }
}

/// How often a number can be halved before it is below 1, and how much is left of one more: its
/// logarithm, straight between the powers of two, which is the same on every machine.
fn halvings(n: f32) -> (usize, f32) {
    if n.is_nan() || n <= 1.0 {
        return (0, 0.0);
    }
    let bits = n.to_bits();
    let level = (bits >> 23) as usize - 127;
    (level.min(32), (bits & 0x7f_ffff) as f32 / (1 << 23) as f32)
}

/// Of four pixels one; of an odd row the last is taken twice.
fn halved(image: &Image) -> Image {
    let (width, height) = (image.width.div_ceil(2), image.height.div_ceil(2));
    let mut rgb = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            let four = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(i, j)| {
                image.pixel((2 * x + i).min(image.width - 1), (2 * y + j).min(image.height - 1))
            });
            let mean = |c: usize| four.iter().map(|p| u32::from(p[c])).sum::<u32>();
            rgb.extend((0..3).map(|c| ((mean(c) + 2) / 4) as u8));
        }
    }
    Image { width, height, rgb }
}

/// Mixed of four pixels.
fn between(image: &Image, at: [f32; 2]) -> [f32; 3] {
    let place = |x: f32, n: usize| {
        let x = (x - x.floor()) * n as f32 - 0.5;
        let low = x.floor();
        let first = if low < 0.0 { n - 1 } else { (low as usize).min(n - 1) };
        (first, (first + 1) % n, x - low)
    };
    let (left, right, f) = place(at[0], image.width);
    let (top, bottom, g) = place(at[1], image.height);
    let [a, b, c, d] = [(left, top), (right, top), (left, bottom), (right, bottom)]
        .map(|(x, y)| image.pixel(x, y).map(f32::from));
    std::array::from_fn(|i| {
        let (above, below) = (a[i] + (b[i] - a[i]) * f, c[i] + (d[i] - c[i]) * f);
        // Divided, so that a byte is the share that it stands for to the last bit.
        (above + (below - above) * g) / 255.0
    })
}

fn jpeg(bytes: &[u8]) -> Result<Image, String> {
    use zune_jpeg::zune_core::bytestream::ZCursor;
    use zune_jpeg::zune_core::colorspace::ColorSpace;
    use zune_jpeg::zune_core::options::DecoderOptions;
    let options = DecoderOptions::default()
        .set_max_width(MOST_SIDE)
        .set_max_height(MOST_SIDE)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let rgb = decoder.decode().map_err(|error| format!("it is a broken JPEG: {error:?}"))?;
    let (width, height) = decoder.dimensions().ok_or("it is a broken JPEG")?;
    match rgb.len() == width * height * 3 {
        true => Ok(Image { width, height, rgb }),
        false => Err("it is a broken JPEG".to_string()),
    }
}

/// Where on its texture a point of a form is; `part` is the surface or triangle.
pub(crate) fn spot(solid: &Solid, part: usize, p: Vec3) -> Spot {
    if let Some(mesh) = &solid.mesh {
        return of_mesh(mesh, part, p);
    }
    match solid.surfaces.get(part) {
        Some(Surface::Face { corners, normal, .. }) => of_face(corners, *normal, p),
        Some(Surface::Disc { radius, .. }) => Spot {
            at: [(0.5 + p.x / (2.0 * radius)) as f32, (0.5 - p.y / (2.0 * radius)) as f32],
            per_metre: (0.5 / radius) as f32,
        },
        Some(Surface::Quadric { q, centre, slab, .. }) => {
            let p = p - *centre;
            let around = atan2(p.y, p.x) / (2.0 * PI) + 0.5;
            let radius = 1.0 / headland_base::maths::sqrt(q.x.max(1e-12));
            let down = match slab.0 > f64::NEG_INFINITY {
                true => (slab.1 - (p.z + centre.z)) / (slab.1 - slab.0),
                false => 0.5 - asin((p.z * headland_base::maths::sqrt(q.z)).clamp(-1.0, 1.0)) / PI,
            };
            Spot { at: [around as f32, down as f32], per_metre: (1.0 / (2.0 * PI * radius)) as f32 }
        }
        _ => Spot { at: [p.x as f32, -p.y as f32], per_metre: 1.0 },
    }
}

/// Upright: z is up on it, and on what lies flat y is.
fn of_face(corners: &[Vec3; 4], normal: Vec3, p: Vec3) -> Spot {
    let up = if normal.z.abs() > 0.999 { Vec3::Y } else { Vec3::Z };
    let right = up.cross(normal);
    let right = right / headland_base::maths::sqrt(right.dot(right));
    // Seen from below, a floor is mirrored.
    let up = normal.cross(right);
    let middle = (corners[0] + corners[2]) * 0.5;
    let size = |axis: Vec3| {
        let along = corners.map(|corner| (corner - middle).dot(axis));
        2.0 * along.into_iter().fold(1e-9, f64::max)
    };
    let (width, height) = (size(right), size(up));
    let d = p - middle;
    Spot {
        at: [(0.5 + d.dot(right) / width) as f32, (0.5 - d.dot(up) / height) as f32],
        per_metre: (1.0 / width.max(height)) as f32,
    }
}

fn of_mesh(mesh: &Mesh, triangle: usize, p: Vec3) -> Spot {
    let Some(places) = mesh.texture_places(triangle) else {
        return Spot { at: [p.x as f32, -p.y as f32], per_metre: 1.0 };
    };
    let [a, b, c] = mesh.triangles()[triangle].map(|i| mesh.corners()[i as usize]);
    let face = (b - a).cross(c - a);
    let share = |x: Vec3, y: Vec3| (x - p).cross(y - p).dot(face).max(0.0) as f32;
    let shares = [share(b, c), share(c, a), share(a, b)];
    let sum = (shares[0] + shares[1] + shares[2]).max(1e-30);
    let at = std::array::from_fn(|i| {
        (shares[0] * places[0][i] + shares[1] * places[1][i] + shares[2] * places[2][i]) / sum
    });
    // How long the first two sides are there and here.
    let longest = [(a, b, 0, 1), (b, c, 1, 2)].map(|(x, y, i, j)| {
        let there: [f32; 2] = std::array::from_fn(|k| places[j][k] - places[i][k]);
        let here = headland_base::maths::sqrt((y - x).dot(y - x)).max(1e-9) as f32;
        (there[0] * there[0] + there[1] * there[1]).sqrt() / here
    });
    Spot { at, per_metre: longest[0].max(longest[1]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texture_is_itself_near_and_its_mean_far() {
        let rgb: Vec<u8> =
            (0..64).flat_map(|i| if (i + i / 8) % 2 == 0 { [0; 3] } else { [200; 3] }).collect();
        let texture = Texture::of(Image { width: 8, height: 8, rgb });
        // The middle of its second pixel.
        assert_eq!(texture.colour([1.5 / 8.0, 0.5 / 8.0], 0.0), [200.0 / 255.0; 3]);
        assert_eq!(texture.colour([-6.5 / 8.0, 8.5 / 8.0], 0.0), [200.0 / 255.0; 3]);
        let far = texture.colour([0.3, 0.7], 1.0);
        assert!((far[0] - 100.0 / 255.0).abs() < 0.01, "{far:?}");
        assert_eq!((halvings(1.0), halvings(2.0), halvings(6.0)), ((0, 0.0), (1, 0.0), (2, 0.5)));
    }

    #[test]
    fn files_that_are_no_pictures_are_told() {
        assert!(Texture::decode(b"GIF89a").unwrap_err().contains("neither"));
        assert!(Texture::decode(&[0x89, b'P', b'N', b'G', 1, 2]).unwrap_err().contains("PNG"));
        assert!(Texture::decode(&[0xff, 0xd8, 1, 2]).unwrap_err().contains("JPEG"));
    }

    #[test]
    fn a_jpeg_of_ours_is_read() {
        let rgb: Vec<u8> =
            (0..40 * 24).flat_map(|i| [(i % 40 * 6) as u8, (i / 40 * 10) as u8, 90]).collect();
        let image = Image { width: 40, height: 24, rgb };
        let read = jpeg(&crate::jpeg::encode(&image, 95)).unwrap();
        let off = read.rgb.iter().zip(&image.rgb).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(off < 12, "{off}");
        // What the file shows is what the same steps make of the picture.
        let mut coarse = image.rgb.clone();
        crate::jpeg::coarsen(&mut coarse, (40, 24), 20);
        let shown = jpeg(&crate::jpeg::encode(&image, 20)).unwrap();
        let off = shown.rgb.iter().zip(&coarse).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(off <= 2, "{off}");
    }
}
