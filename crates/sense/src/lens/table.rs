//! What a lens shows: a camera goes in once, a table of where every pixel looks comes out; then a
//! renderer draws the image by it, sample by sample.
//!
//! Where pixels look is said as a place in the picture of a pinhole that is as wide as the image
//! reaches: a barrel's is wider than the camera's. What no single pinhole can see, as with a
//! fisheye, is seen by up to six that look along the sides of a cube.

use std::ops::Range;

use headland_base::maths::{PI, Vec2, atan2, sqrt, tan};
use headland_base::{Diagnostic, Quat, Transform, Vec3};

use super::Lens;
use crate::camera::{Pinhole, View};
use crate::render::{Bent, Frame, Renderer, Wants};
use crate::scene::Scene;

/// Up to this tangent of the angle from the axis one picture will do: 63°.
const ONE_PICTURE: f64 = 2.0;

/// A picture of a pinhole in which pixels of the image look.
#[derive(Clone, Debug)]
struct Picture {
    pinhole: Pinhole,
    /// The camera's optical frame from the picture's.
    turn: Transform,
    /// Where they look in it; those that look elsewhere do not.
    bent: Bent,
}

/// How a camera with a lens sees, worked out once.
#[derive(Clone, Debug)]
pub struct Table {
    width: usize,
    height: usize,
    /// The camera itself, where it has no lens.
    plain: Option<Pinhole>,
    pictures: Vec<Picture>,
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
            return Ok(Table { width, height, plain: Some(*pinhole), pictures: Vec::new() });
        }
        let directions: Vec<Option<Vec3>> = directions(pinhole, lens, cutoff, 1).collect();
        if width * height > 0 && directions.iter().all(Option::is_none) {
            return Err(shows_nothing());
        }
        let widest = directions.iter().flatten().map(|d| {
            if d.z > 0.0 { (d.x / d.z).abs().max((d.y / d.z).abs()) } else { f64::INFINITY }
        });
        let is_one = widest.fold(0.0, f64::max) <= ONE_PICTURE;
        let pinholes = match is_one {
            true => vec![(around(pinhole, &directions), Transform::IDENTITY)],
            false => cube(pinhole, &directions),
        };
        let pictures = pinholes.iter().enumerate().map(|(i, (pinhole, turn))| {
            // The first that sees a direction shows it.
            let place = |direction: &Option<Vec3>| {
                let seen = pinholes.iter().enumerate().find_map(|(k, (pinhole, turn))| {
                    place_in(pinhole, *turn, (*direction)?).map(|place| (k, place))
                });
                seen.filter(|(k, _)| *k == i).map(|(_, place)| place)
            };
            let places: Vec<Option<Vec2>> = directions.iter().map(place).collect();
            Picture { pinhole: *pinhole, turn: *turn, bent: Bent::new(width, height, &places) }
        });
        Ok(Table { width, height, plain: None, pictures: pictures.collect() })
    }

    /// Whether there is a table of a camera; what a few pixels see usually says so.
    pub fn check(pinhole: &Pinhole, lens: &Lens, cutoff: f64) -> Result<(), Diagnostic> {
        let sees = |every: usize| directions(pinhole, lens, cutoff, every).any(|it| it.is_some());
        let is_empty = pinhole.width * pinhole.height == 0;
        if is_empty || sees(1009) || sees(1) { Ok(()) } else { Err(shows_nothing()) }
    }

    /// Width and height of the image.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Draws what the camera sees through its lens. Depth is along the camera's axis.
    pub fn render(
        &self,
        renderer: &mut dyn Renderer,
        scene: &Scene,
        view: &View,
        wants: Wants,
    ) -> Frame {
        if let Some(pinhole) = self.plain {
            return renderer.render(scene, &View { pinhole, ..*view }, wants);
        }
        let mut draw = |picture: &Picture| {
            let seen = picture.view(view);
            let frame = renderer.render_bent(scene, &seen, wants, Some(&picture.bent));
            picture.along_the_axis(frame)
        };
        match &self.pictures[..] {
            [one] => draw(one),
            several => {
                let mut whole = Frame::empty(self.width, self.height, wants);
                for picture in several {
                    picture.lay_into(&mut whole, &draw(picture));
                }
                whole
            }
        }
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
        let Some(mut pinhole) = self.plain else {
            let cut = |picture: &Picture| Picture {
                pinhole: picture.pinhole,
                turn: picture.turn,
                bent: picture.bent.cut(rows.clone()),
            };
            let pictures = self.pictures.iter().map(cut).collect();
            let part = Table { height: rows.len(), pictures, ..*self };
            return part.render(renderer, scene, view, wants);
        };
        pinhole.height = rows.len();
        pinhole.centre.y -= rows.start as f64;
        renderer.render(scene, &View { pinhole, ..*view }, wants)
    }
}

impl Picture {
    fn view(&self, view: &View) -> View {
        View {
            pinhole: self.pinhole,
            world_from_optical: view.world_from_optical * self.turn,
            ..*view
        }
    }

    /// Pixels of the image that look in this picture, with where.
    fn places(&self) -> impl Iterator<Item = (usize, Vec2)> {
        let (width, height) = self.bent.size();
        (0..width * height).filter_map(move |i| Some((i, self.bent.place(i % width, i / width)?)))
    }

    /// A renderer's depths are along the picture's axis; a point's depth along the camera's is
    /// its z there.
    fn along_the_axis(&self, mut frame: Frame) -> Frame {
        if self.turn != Transform::IDENTITY && !frame.depth.is_empty() {
            for (i, place) in self.places() {
                let along = self.turn.vector(self.pinhole.direction(place).extend(1.0));
                frame.depth[i] = (along.z * f64::from(frame.depth[i])) as f32;
            }
        }
        frame
    }

    /// Copies the pixels that look in this picture.
    fn lay_into(&self, whole: &mut Frame, frame: &Frame) {
        for (i, _) in self.places() {
            if !frame.rgb.is_empty() {
                whole.rgb[i * 3..i * 3 + 3].copy_from_slice(&frame.rgb[i * 3..i * 3 + 3]);
            }
            if !frame.depth.is_empty() {
                whole.depth[i] = frame.depth[i];
            }
            if !frame.ids.is_empty() {
                whole.ids[i] = frame.ids[i];
            }
        }
    }
}

fn shows_nothing() -> Diagnostic {
    let message = "the lens shows nothing: its image turns back before the first pixel";
    Diagnostic::error("bad-lens", message)
        .help("check the units and the order of its coefficients: k1 k2 p1 p2 k3")
}

/// The direction of every pixel, or of one in so many; none beyond the fold and the cutoff.
fn directions(
    pinhole: &Pinhole,
    lens: &Lens,
    cutoff: f64,
    every: usize,
) -> impl Iterator<Item = Option<Vec3>> {
    let fold = lens.fold();
    let at = |i: usize| Vec2::new((i % pinhole.width) as f64, (i / pinhole.width) as f64);
    let is_inside =
        move |d: &Vec3| cutoff >= PI || atan2(sqrt(d.x * d.x + d.y * d.y), d.z) <= cutoff;
    (0..pinhole.width * pinhole.height)
        .step_by(every)
        .map(move |i| lens.unproject_within(pinhole.direction(at(i)), fold).filter(is_inside))
}

/// Where a direction is in the picture of a pinhole, if it is.
fn place_in(pinhole: &Pinhole, turn: Transform, direction: Vec3) -> Option<Vec2> {
    let place = pinhole.project(turn.rotation.conjugate() * direction)?;
    let (most_u, most_v) = (pinhole.width as f64 - 1.0, pinhole.height as f64 - 1.0);
    (place.x >= 0.0 && place.y >= 0.0 && place.x <= most_u && place.y <= most_v).then_some(place)
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
/// right angle.
fn cube(pinhole: &Pinhole, directions: &[Option<Vec3>]) -> Vec<(Pinhole, Transform)> {
    let focal = pinhole.focal.x.max(pinhole.focal.y);
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
