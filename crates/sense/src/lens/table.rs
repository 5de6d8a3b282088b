//! From pinhole pictures to what a lens shows: a camera goes in once, a table comes out; then a
//! frame costs one look-up and a mix of four pixels each.
//!
//! The pinhole pictures are as wide as the image reaches: a barrel's is wider than the camera's.
//! They have nearly the camera's focal length, so that little is lost where the lens shows most,
//! and only those tiles are drawn that some pixel is mixed of.
//! What no single pinhole can see, as with a fisheye, is seen by up to six that look along the
//! sides of a cube.

use std::ops::Range;

use headland_base::maths::{PI, Vec2, atan2, sqrt, tan};
use headland_base::{Diagnostic, Quat, Transform, Vec3};

use super::Lens;
use crate::camera::{Pinhole, View};
use crate::render::{Frame, NO_ITEM, Part, Renderer, Wants};
use crate::scene::Scene;

/// Up to this tangent of the angle from the axis one picture will do: 63°.
const ONE_PICTURE: f64 = 2.0;

/// The picture is at least this fine, as a share of the camera's focal length.
const COARSEST: f64 = 0.86;

/// Where a pixel of the image comes from: eight bytes, so that a table of them is read quickly.
#[derive(Clone, Copy, Debug)]
struct Source {
    /// Where the upper left of the four pixels is among its picture's pixels.
    at: u32,
    /// How much of the right and of the lower pixels, of 256.
    share_u: u8,
    share_v: u8,
    /// Which picture; none where nothing is seen.
    picture: u8,
}

const BLACK: u8 = u8::MAX;

/// A picture that the image is made of.
#[derive(Clone, Debug)]
struct Picture {
    pinhole: Pinhole,
    /// The camera's optical frame from the picture's.
    turn: Transform,
    /// What of it is read.
    part: Part,
}

/// How a camera with a lens sees, worked out once.
#[derive(Clone, Debug)]
pub struct Table {
    width: usize,
    height: usize,
    pictures: Vec<Picture>,
    sources: Vec<Source>,
    /// Whether the lens is none, and the only picture is the image.
    is_plain: bool,
}

impl Table {
    /// Of a camera; says so where its lens shows nothing.
    pub fn new(pinhole: &Pinhole, lens: &Lens) -> Result<Table, Diagnostic> {
        Table::within(pinhole, lens, f64::INFINITY)
    }

    /// The same of a camera that sees nothing further from its axis than an angle \[rad\].
    pub fn within(pinhole: &Pinhole, lens: &Lens, cutoff: f64) -> Result<Table, Diagnostic> {
        let (width, height) = (pinhole.width, pinhole.height);
        if *lens == Lens::None && cutoff >= PI / 2.0 {
            let part = Part::none(width, height);
            let pictures = vec![Picture { pinhole: *pinhole, turn: Transform::IDENTITY, part }];
            return Ok(Table { width, height, pictures, sources: Vec::new(), is_plain: true });
        }
        let directions = directions(pinhole, lens, cutoff);
        if width * height > 0 && directions.iter().all(Option::is_none) {
            let message = "the lens shows nothing: its image turns back before the first pixel";
            return Err(Diagnostic::error("bad-lens", message)
                .help("check the units and the order of its coefficients: k1 k2 p1 p2 k3"));
        }
        let widest = directions.iter().flatten().map(|d| {
            if d.z > 0.0 { (d.x / d.z).abs().max((d.y / d.z).abs()) } else { f64::INFINITY }
        });
        let is_one = widest.fold(0.0, f64::max) <= ONE_PICTURE;
        let make = |scale: f64| {
            let mut pictures = match is_one {
                true => {
                    let pinhole = Pinhole { focal: pinhole.focal * scale, ..*pinhole };
                    vec![(around(&pinhole, &directions), Transform::IDENTITY)]
                }
                false => cube(pinhole, &directions, scale),
            }
            .into_iter()
            .map(|(pinhole, turn)| {
                let part = Part::none(pinhole.width, pinhole.height);
                Picture { pinhole, turn, part }
            })
            .collect::<Vec<_>>();
            let sources: Vec<Source> =
                directions.iter().map(|direction| source(&mut pictures, *direction)).collect();
            let n_drawn =
                |p: &Picture| p.part.share() * (p.pinhole.width * p.pinhole.height) as f64;
            let n_drawn: f64 = pictures.iter().map(n_drawn).sum();
            (Table { width, height, pictures, sources, is_plain: false }, n_drawn)
        };
        // A barrel squeezes what is far from the axis, so more pixels are drawn than are shown.
        // The picture is made coarser until it is a little less, but never much coarser.
        let (table, n_drawn) = make(1.0);
        let scale = sqrt(0.95 * (width * height) as f64 / n_drawn.max(1.0)).max(COARSEST);
        Ok(if scale < 0.99 { make(scale).0 } else { table })
    }

    /// The share of the image in which something is seen.
    pub fn seen_share(&self) -> f64 {
        let n_seen = self.sources.iter().filter(|source| source.picture != BLACK).count();
        if self.is_plain { 1.0 } else { n_seen as f64 / self.sources.len().max(1) as f64 }
    }

    /// The views that the image is made of.
    pub fn views(&self, view: &View) -> Vec<View> {
        let one = |picture: &Picture| View {
            pinhole: picture.pinhole,
            world_from_optical: view.world_from_optical * picture.turn,
            ..*view
        };
        self.pictures.iter().map(one).collect()
    }

    /// Width and height of the image.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
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
        let views = self.views(view);
        if self.is_plain {
            return renderer.render(scene, &views[0], wants);
        }
        let draw = |(view, picture): (&View, &Picture)| {
            renderer.render_part(scene, view, wants, Some(&picture.part))
        };
        let frames: Vec<Frame> = views.iter().zip(&self.pictures).map(draw).collect();
        self.gathered(&frames, wants, 0..self.height)
    }

    /// Some rows of the same, as a frame of so many rows.
    pub fn render_rows(
        &self,
        renderer: &mut dyn Renderer,
        scene: &Scene,
        view: &View,
        wants: Wants,
        rows: Range<usize>,
    ) -> Frame {
        let mut views = self.views(view);
        if self.is_plain {
            views[0].pinhole.height = rows.len();
            views[0].pinhole.centre.y -= rows.start as f64;
            return renderer.render(scene, &views[0], wants);
        }
        let none = |p: &Picture| Part::none(p.pinhole.width, p.pinhole.height);
        let mut parts: Vec<Part> = self.pictures.iter().map(none).collect();
        for source in &self.sources[rows.start * self.width..rows.end * self.width] {
            if let Some(part) = parts.get_mut(source.picture as usize) {
                let width = self.pictures[source.picture as usize].pinhole.width;
                part.add_four(source.at as usize % width, source.at as usize / width);
            }
        }
        let draw =
            |(view, part): (&View, &Part)| renderer.render_part(scene, view, wants, Some(part));
        let frames: Vec<Frame> = views.iter().zip(&parts).map(draw).collect();
        self.gathered(&frames, wants, rows)
    }

    /// Rows of the image from the pictures that it is made of.
    fn gathered(&self, frames: &[Frame], wants: Wants, rows: Range<usize>) -> Frame {
        let sources = &self.sources[rows.start * self.width..rows.end * self.width];
        let n = |is_wanted: bool| if is_wanted { sources.len() } else { 0 };
        let mut rgb = vec![0; n(wants.colour) * 3];
        mix(frames, sources, &mut rgb);
        let nearest = |source: &Source| {
            let frame = frames.get(source.picture as usize)?;
            let right = usize::from(source.share_u >= 128);
            let below = if source.share_v >= 128 { frame.width } else { 0 };
            Some((frame, source.at as usize + right + below))
        };
        let depth = |source: &Source| {
            let Some((frame, at)) = nearest(source) else { return f32::INFINITY };
            let Picture { pinhole, turn, .. } = &self.pictures[source.picture as usize];
            if *turn == Transform::IDENTITY {
                return frame.depth[at];
            }
            // Along the picture's axis; the point's depth along the camera's is its z there.
            let pixel = Vec2::new((at % frame.width) as f64, (at / frame.width) as f64);
            let along = turn.vector(pinhole.direction(pixel).extend(1.0));
            (along.z * f64::from(frame.depth[at])) as f32
        };
        let id = |source: &Source| nearest(source).map_or(NO_ITEM, |(frame, at)| frame.ids[at]);
        let wanted = |is_wanted: bool| if is_wanted { sources } else { &[] };
        Frame {
            width: self.width,
            height: rows.len(),
            rgb,
            depth: wanted(wants.depth).iter().map(depth).collect(),
            ids: wanted(wants.ids).iter().map(id).collect(),
        }
    }
}

/// The direction of every pixel; none beyond the fold and the cutoff.
fn directions(pinhole: &Pinhole, lens: &Lens, cutoff: f64) -> Vec<Option<Vec3>> {
    let fold = lens.fold();
    let at = |i: usize| Vec2::new((i % pinhole.width) as f64, (i / pinhole.width) as f64);
    let is_inside = |d: &Vec3| cutoff >= PI || atan2(sqrt(d.x * d.x + d.y * d.y), d.z) <= cutoff;
    (0..pinhole.width * pinhole.height)
        .map(|i| lens.unproject_within(pinhole.direction(at(i)), fold).filter(is_inside))
        .collect()
}

/// Finds a direction in the pictures, and notes which tile it reads.
fn source(pictures: &mut [Picture], direction: Option<Vec3>) -> Source {
    let none = Source { picture: BLACK, share_u: 0, share_v: 0, at: 0 };
    let Some(direction) = direction else { return none };
    for (i, picture) in pictures.iter_mut().enumerate() {
        let Pinhole { width, height, .. } = picture.pinhole;
        let in_picture = picture.turn.rotation.conjugate() * direction;
        let Some(pixel) = picture.pinhole.project(in_picture) else { continue };
        // The four pixels around it must be in the picture, and be two bytes more than they are.
        let (most_u, most_v) = (width as f64 - 2.0, height as f64 - 2.0);
        if !(pixel.x >= 0.0 && pixel.y >= 0.0 && pixel.x < most_u && pixel.y < most_v) {
            continue;
        }
        let (column, row) = (pixel.x as usize, pixel.y as usize);
        picture.part.add_four(column, row);
        let share = |x: f64| ((x - x.floor()) * 256.0) as u8;
        return Source {
            picture: i as u8,
            share_u: share(pixel.x),
            share_v: share(pixel.y),
            at: (row * width + column) as u32,
        };
    }
    none
}

/// Mixes every pixel of the image of the four around its place, in integers: 256 shares along v
/// and then along u, of up to four bytes in one word of 16 bits each.
fn mix(frames: &[Frame], sources: &[Source], rgb: &mut [u8]) {
    const BYTES: u64 = 0x00ff_00ff_00ff_00ff;
    const HALVES: u64 = 0x0080_0080_0080_0080;
    for (pixel, source) in rgb.as_chunks_mut::<3>().0.iter_mut().zip(sources) {
        let Some(frame) = frames.get(source.picture as usize) else { continue };
        let eight = |at: usize| frame.rgb.get(at..)?.first_chunk::<8>().copied();
        let at = source.at as usize * 3;
        let (Some(top), Some(bottom)) = (eight(at), eight(at + frame.width * 3)) else { continue };
        let (top, bottom) = (u64::from_le_bytes(top), u64::from_le_bytes(bottom));
        let (f, g) = (u64::from(source.share_u), u64::from(source.share_v));
        let down = |top: u64, bottom: u64| {
            (((top & BYTES) * (256 - g) + (bottom & BYTES) * g + HALVES) >> 8) & BYTES
        };
        // Red, blue and the green of the next; green, and the red and blue of the next.
        let (even, odd) = (down(top, bottom), down(top >> 8, bottom >> 8));
        let left = (even & 0xff) | (odd & 0xff) << 16 | (even & 0xff_0000) << 16;
        let right = (odd >> 16 & 0xff) | (even >> 32 & 0xff) << 16 | (odd & 0xff_0000_0000);
        let mixed = (left * (256 - f) + right * f + HALVES) >> 8;
        *pixel = [mixed as u8, (mixed >> 16) as u8, (mixed >> 32) as u8];
    }
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
    let size = (high - low).ceil() + Vec2::splat(3.0);
    Pinhole { width: size.x as usize, height: size.y as usize, centre: -low, ..plain }
}

/// The sides of a cube that some direction goes through, each a picture of a little more than a
/// right angle, so that mixing at its rim has all four pixels.
fn cube(pinhole: &Pinhole, directions: &[Option<Vec3>], scale: f64) -> Vec<(Pinhole, Transform)> {
    let focal = pinhole.focal.x.max(pinhole.focal.y) * scale;
    let half = (focal * tan(headland_base::maths::PI / 4.0)).ceil() + 3.0;
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
