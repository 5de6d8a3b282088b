//! Ids and depths as rays would find them.
//!
//! The nearest patch is found at the centre of every pixel; of the pixels that the tile is not
//! sure of, a ray decides. Depth is then computed in double precision with the patch that won.

use headland_base::maths::Vec2;

use super::bent::Bent;
use super::linear::Rays;
use super::project::{Canvas, Form};
use super::tile::{self, Grid, NOTHING, Plane, WIDTH};
use super::tiles::{Band, Bins, each_band, grid, wide};
use super::{Frame, NO_ITEM, Wants};
use crate::camera::View;
use crate::scene::{Ray, Scene};

/// What is less opaque is looked through.
pub(crate) const OPAQUE: f32 = 0.5;

/// Whether an item counts for depths and ids.
pub(crate) fn counts(scene: &Scene, item_idx: usize) -> bool {
    let look = &scene.items()[item_idx].look;
    look.opacity >= OPAQUE && !look.is_mark
}

/// How a frame is drawn.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    pub n_threads: usize,
    pub wants: Wants,
    pub background: [u8; 3],
    pub bent: Option<&'a Bent>,
}

/// What there is to know of a frame whose tiles are drawn.
struct Job<'a> {
    scene: &'a Scene,
    view: &'a View,
    bins: &'a Bins,
    rays: Rays,
    how: How<'a>,
    width: usize,
}

/// Draws ids, depths and plain colours.
pub(crate) fn draw(bins: &mut Bins, scene: &Scene, view: &View, how: How<'_>) -> Frame {
    let wants = how.wants;
    let pinhole = &view.pinhole;
    let (width, height) = how.bent.map_or((pinhole.width, pinhole.height), Bent::size);
    let canvas = Canvas::of_view(view);
    bins.fill(scene, &canvas, how.bent, (0..scene.items().len()).filter(|i| counts(scene, *i)));
    let mut frame = Frame::empty(width, height, wants);
    let job = Job { scene, view, bins, rays: canvas.rays, how, width };
    let Frame { rgb, depth, ids, .. } = &mut frame;
    each_band(how.n_threads, (width, height), (rgb, depth, ids), Plane::new, |plane, band| {
        band_of(&job, plane, band);
    });
    frame
}

wide! {
    fn band_of(job: &Job<'_>, plane: &mut Plane, band: Band<'_>) {
        let mut band = band;
        for column in 0..job.width.div_ceil(WIDTH) {
            let Some(grid) = grid(job.how.bent, column, band.row) else { continue };
            plane.clear::<true>((1.0 / job.view.far) as f32);
            let pen = grid.pen((0.0, 0.0), (1.0 / job.view.near) as f32);
            for (i, patch, area) in job.bins.of_tile(column, band.row, grid) {
                tile::draw::<true>(plane, pen, area, patch, i);
            }
            finish(job, plane, &mut band, column, grid);
        }
    }
}

/// Puts a finished tile into the frame.
fn finish(job: &Job<'_>, plane: &Plane, band: &mut Band<'_>, column: usize, grid: Grid<'_>) {
    let left = column * WIDTH;
    let n_columns = WIDTH.min(job.width - left);
    let n_rows = (band.rgb.len() / 3).max(band.depth.len()).max(band.ids.len()) / job.width;
    for y in 0..n_rows {
        let (mut last, mut colour, mut item) = (NOTHING, job.how.background, NO_ITEM);
        for x in 0..n_columns {
            let at = y * WIDTH + x;
            if !grid.looks(at) {
                (last, colour, item) = (NOTHING, job.how.background, NO_ITEM);
                continue;
            }
            let patch = plane.patch[at];
            let (mut item_here, mut depth) = (item, None);
            if plane.doubt[at] != 0 {
                let hit = cast(job, grid.place(at));
                item_here = hit.map_or(NO_ITEM, |(item, _)| item);
                depth = Some(hit.map_or(f64::INFINITY, |(_, depth)| depth));
            } else if patch != last {
                item_here = match patch {
                    NOTHING => NO_ITEM,
                    _ => job.bins.patches[patch as usize].item,
                };
                last = patch;
            }
            if item_here != item {
                item = item_here;
                colour = match item {
                    NO_ITEM => job.how.background,
                    _ => bytes(job.scene.items()[item as usize].look.colour),
                };
            }
            let out = y * job.width + left + x;
            if job.how.wants.colour {
                band.rgb[out * 3..out * 3 + 3].copy_from_slice(&colour);
            }
            if job.how.wants.ids {
                band.ids[out] = item;
            }
            if job.how.wants.depth && item != NO_ITEM {
                let deep = depth.unwrap_or_else(|| depth_of(job, patch, grid.place(at)));
                band.depth[out] = deep as f32;
            }
            if plane.doubt[at] != 0 {
                // The next pixel is not this one's.
                last = NOTHING;
                item = NO_ITEM;
                colour = job.how.background;
            }
        }
    }
}

pub(crate) fn bytes(colour: [f32; 3]) -> [u8; 3] {
    colour.map(|c| (c * 255.0 + 0.5) as u8)
}

/// What a ray through a pixel's centre meets: the item and its depth.
fn cast(job: &Job<'_>, (u, v): (f64, f64)) -> Option<(u32, f64)> {
    let ray = Ray {
        origin: job.view.world_from_optical.translation,
        direction: job.view.direction(Vec2::new(u, v)),
        min: job.view.near,
        max: job.view.far,
    };
    let hit = job.scene.cast_where(&ray, |i| counts(job.scene, i))?;
    Some((hit.item_idx as u32, hit.distance))
}

/// Depth at a pixel of the patch that is seen there.
fn depth_of(job: &Job<'_>, patch: u32, (u, v): (f64, f64)) -> f64 {
    let patch = &job.bins.patches[patch as usize];
    match &patch.form {
        Form::Flat { w, .. } | Form::Disc { w, .. } => 1.0 / w.at(u, v),
        Form::Round { .. } => {
            let item_idx = patch.item as usize;
            let inside = job.scene.item_from_world(item_idx);
            let [origin, _, _] = job.rays.origin;
            let [d, du, dv] = job.rays.direction;
            let ray = Ray::new(inside.point(origin), inside.vector(d + du * u + dv * v));
            let surface = &job.scene.items()[item_idx].solid.surfaces[patch.part as usize];
            surface.cast(&ray).map_or(f64::INFINITY, |(distance, _)| distance)
        }
    }
}
