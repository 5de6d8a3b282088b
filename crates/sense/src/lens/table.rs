//! From pinhole pictures to what a lens shows: a camera goes in once, a table comes out; then a
//! frame costs one look-up and a mix of four pixels each.
//!
//! The pinhole pictures have the camera's own focal length, so that nothing is lost where the
//! lens shows most, and are as wide as its image reaches: a barrel's is wider than the camera's.
//! What no single pinhole can see, as with a fisheye, is seen by up to six that look along the
//! sides of a cube.

use headland_base::maths::{Vec2, tan};
use headland_base::{Diagnostic, Quat, Transform, Vec3};

use super::Lens;
use crate::camera::{Pinhole, View};
use crate::render::{Frame, NO_ITEM, Renderer, Wants};
use crate::scene::Scene;

/// Up to this tangent of the angle from the axis one picture will do: 63°.
const ONE_PICTURE: f64 = 2.0;

/// Where a pixel of the image comes from.
#[derive(Clone, Copy, Debug)]
struct Source {
    /// Which picture; none where nothing is seen.
    picture: u8,
    /// How much of the right and of the lower pixels, of 256.
    share_u: u16,
    share_v: u16,
    /// Where the upper left of the four pixels is among its bytes.
    at: u32,
}

const BLACK: u8 = u8::MAX;

/// How a camera with a lens sees, worked out once.
#[derive(Clone, Debug)]
pub struct Table {
    width: usize,
    height: usize,
    pictures: Vec<(Pinhole, Transform)>,
    sources: Vec<Source>,
    /// Whether the lens is none, and the only picture is the image.
    is_plain: bool,
}

impl Table {
    /// Of a camera; says so where its lens shows nothing.
    pub fn new(pinhole: &Pinhole, lens: &Lens) -> Result<Table, Diagnostic> {
        let (width, height) = (pinhole.width, pinhole.height);
        if *lens == Lens::None {
            let pictures = vec![(*pinhole, Transform::IDENTITY)];
            return Ok(Table { width, height, pictures, sources: Vec::new(), is_plain: true });
        }
        let fold = lens.fold();
        let at = |i: usize| Vec2::new((i % width) as f64, (i / width) as f64);
        let directions: Vec<Option<Vec3>> = (0..width * height)
            .map(|i| lens.unproject_within(pinhole.direction(at(i)), fold))
            .collect();
        if width * height > 0 && directions.iter().all(Option::is_none) {
            let message = "the lens shows nothing: its image turns back before the first pixel";
            return Err(Diagnostic::error("bad-lens", message)
                .help("check the units and the order of its coefficients: k1 k2 p1 p2 k3"));
        }
        let widest = directions.iter().flatten().map(|d| {
            if d.z > 0.0 { (d.x / d.z).abs().max((d.y / d.z).abs()) } else { f64::INFINITY }
        });
        let pictures = match widest.fold(0.0, f64::max) {
            widest if widest <= ONE_PICTURE => {
                vec![(around(pinhole, &directions), Transform::IDENTITY)]
            }
            _ => cube(pinhole, &directions),
        };
        let source = |direction: &Option<Vec3>| {
            let none = Source { picture: BLACK, share_u: 0, share_v: 0, at: 0 };
            let Some(direction) = direction else { return none };
            let seen = pictures.iter().enumerate().find_map(|(i, (picture, turn))| {
                let pixel = picture.project(turn.rotation.conjugate() * *direction)?;
                // The four pixels around it must be in the picture.
                let (most_u, most_v) = (picture.width as f64 - 1.0, picture.height as f64 - 1.0);
                let inside =
                    pixel.x >= 0.0 && pixel.y >= 0.0 && pixel.x < most_u && pixel.y < most_v;
                let (column, row) = (pixel.x.floor(), pixel.y.floor());
                let share = |x: f64| (x * 256.0 + 0.5) as u16;
                inside.then(|| Source {
                    picture: i as u8,
                    share_u: share(pixel.x - column),
                    share_v: share(pixel.y - row),
                    at: ((row as usize * picture.width + column as usize) * 3) as u32,
                })
            });
            seen.unwrap_or(none)
        };
        let sources = directions.iter().map(source).collect();
        Ok(Table { width, height, pictures, sources, is_plain: false })
    }

    /// The share of the image in which something is seen.
    pub fn seen_share(&self) -> f64 {
        let n_seen = self.sources.iter().filter(|source| source.picture != BLACK).count();
        if self.is_plain { 1.0 } else { n_seen as f64 / self.sources.len().max(1) as f64 }
    }

    /// The views that the image is made of.
    pub fn views(&self, view: &View) -> Vec<View> {
        let one = |(pinhole, turn): &(Pinhole, Transform)| View {
            pinhole: *pinhole,
            world_from_optical: view.world_from_optical * *turn,
            ..*view
        };
        self.pictures.iter().map(one).collect()
    }

    /// Draws what the camera sees through its lens. Colours are mixed of four pixels; depths and
    /// ids, which cannot be mixed, are those of the nearest. Depth is along the camera's axis.
    pub fn render(
        &self,
        renderer: &mut dyn Renderer,
        scene: &Scene,
        view: &View,
        wants: Wants,
    ) -> Frame {
        let mut frames: Vec<Frame> =
            self.views(view).iter().map(|view| renderer.render(scene, view, wants)).collect();
        if self.is_plain {
            return frames.remove(0);
        }
        let n = |is_wanted: bool| if is_wanted { self.sources.len() } else { 0 };
        let mut rgb = vec![0; n(wants.colour) * 3];
        for (pixel, source) in rgb.as_chunks_mut::<3>().0.iter_mut().zip(&self.sources) {
            if let Some(frame) = frames.get(source.picture as usize) {
                *pixel = mixed(&frame.rgb, frame.width * 3, source);
            }
        }
        let nearest = |source: &Source| {
            let frame = frames.get(source.picture as usize)?;
            let right = usize::from(source.share_u >= 128);
            let below = if source.share_v >= 128 { frame.width } else { 0 };
            Some((frame, source.at as usize / 3 + right + below))
        };
        let depth = |source: &Source| {
            let Some((frame, at)) = nearest(source) else { return f32::INFINITY };
            let (pinhole, turn) = &self.pictures[source.picture as usize];
            if *turn == Transform::IDENTITY {
                return frame.depth[at];
            }
            // Along the picture's axis; the point's depth along the camera's is its z there.
            let pixel = Vec2::new((at % frame.width) as f64, (at / frame.width) as f64);
            let along = turn.vector(pinhole.direction(pixel).extend(1.0));
            (along.z * f64::from(frame.depth[at])) as f32
        };
        let id = |source: &Source| nearest(source).map_or(NO_ITEM, |(frame, at)| frame.ids[at]);
        let wanted = |is_wanted: bool| if is_wanted { &self.sources[..] } else { &[] };
        Frame {
            width: self.width,
            height: self.height,
            rgb,
            depth: wanted(wants.depth).iter().map(depth).collect(),
            ids: wanted(wants.ids).iter().map(id).collect(),
        }
    }
}

/// A mix of the four pixels around a place, in integers: 256 shares along u and along v.
#[inline(always)]
fn mixed(rgb: &[u8], stride: usize, source: &Source) -> [u8; 3] {
    let at = source.at as usize;
    let (Some(top), Some(bottom)) = (rgb.get(at..at + 6), rgb.get(at + stride..at + stride + 6))
    else {
        return [0; 3];
    };
    let (f, g) = (u32::from(source.share_u), u32::from(source.share_v));
    std::array::from_fn(|i| {
        let [a, b, c, d] = [top[i], top[i + 3], bottom[i], bottom[i + 3]].map(u32::from);
        let (above, below) = (a * (256 - f) + b * f, c * (256 - f) + d * f);
        ((above * (256 - g) + below * g + 0x8000) >> 16) as u8
    })
}

/// A pinhole of the same focal length whose picture holds all the directions, and a pixel more.
fn around(pinhole: &Pinhole, directions: &[Option<Vec3>]) -> Pinhole {
    let plain = Pinhole { centre: Vec2::ZERO, skew: 0.0, ..*pinhole };
    let pixels = directions.iter().flatten().map(|d| plain.pixel(Vec2::new(d.x / d.z, d.y / d.z)));
    let (low, high) = pixels
        .fold((Vec2::splat(f64::INFINITY), Vec2::splat(f64::NEG_INFINITY)), |(low, high), p| {
            (low.min(p), high.max(p))
        });
    if low.x > high.x {
        return Pinhole { width: 0, height: 0, ..*pinhole };
    }
    let low = low.floor() - Vec2::ONE;
    let size = (high - low).ceil() + Vec2::splat(2.0);
    Pinhole { width: size.x as usize, height: size.y as usize, centre: -low, ..plain }
}

/// The sides of a cube that some direction goes through, each a picture of a little more than a
/// right angle, so that mixing at its rim has all four pixels.
fn cube(pinhole: &Pinhole, directions: &[Option<Vec3>]) -> Vec<(Pinhole, Transform)> {
    let focal = pinhole.focal.x.max(pinhole.focal.y);
    let half = (focal * tan(headland_base::maths::PI / 4.0)).ceil() + 2.0;
    let side = (2.0 * half) as usize + 1;
    let picture = Pinhole {
        width: side,
        height: side,
        focal: Vec2::splat(focal),
        centre: Vec2::splat(half),
        skew: 0.0,
    };
    let turns = [(0.0, 0.0), (0.5, 0.0), (-0.5, 0.0), (0.0, 0.5), (0.0, -0.5), (1.0, 0.0)];
    let turn = |(yaw, pitch): (f64, f64)| {
        let about = |axis: Vec3, part: f64| {
            headland_base::maths::quat_from_axis_angle(axis, part * headland_base::maths::PI)
        };
        let rotation: Quat = about(Vec3::Y, yaw) * about(Vec3::X, pitch);
        Transform::from_rotation(rotation)
    };
    let largest = |d: &Vec3| {
        let axes = turns.map(|t| turn(t).vector(Vec3::Z).dot(*d));
        (0..6).fold(0, |best, i| if axes[i] > axes[best] { i } else { best })
    };
    let mut used = [false; 6];
    directions.iter().flatten().for_each(|d| used[largest(d)] = true);
    (0..6).filter(|i| used[*i]).map(|i| (picture, turn(turns[i]))).collect()
}
