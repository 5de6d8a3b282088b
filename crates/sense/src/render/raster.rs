//! `raster`: light, shadow, sky and smooth edges.
//!
//! Four samples a pixel say what is seen; a surface is coloured once per pixel, at the centre
//! where it covers all four, else at the first of the samples that it covers. What is
//! transparent, and marks, are laid over that from back to front, the front of each item only.

use super::exact;
use super::project::Canvas;
use super::shade::{Daylight, Shader};
use super::shadow::ShadowMap;
use super::tile::{self, Area, Grid, NOTHING, Plane, WIDTH};
use super::tiles::{Band, Bins, each_band, grid, wide};
use super::{Bent, Frame, Renderer, Wants};
use crate::camera::View;
use crate::scene::Scene;

/// Samples a pixel.
const N: usize = 4;
/// Where they are: no two in one row or column, so that edges of every slope are smooth.
const SAMPLES: [(f64, f64); N] =
    [(-0.125, -0.375), (0.375, -0.125), (0.125, 0.375), (-0.375, 0.125)];

/// Pixels of a row that are asked at once whether they lie in the sun.
const PIECE: usize = 16;

/// How much of a mark is seen through what hides it.
const HIDDEN_MARK: f32 = 0.35;

const NOTHING_WANTED: Wants = Wants { colour: false, depth: false, ids: false };

/// The renderer people look at.
pub struct Raster {
    n_threads: usize,
    opaque: Bins,
    clear: Bins,
    exact: Bins,
    shadows: ShadowMap,
    plane: Box<Plane>,
}

impl Raster {
    /// On up to so many threads.
    pub fn new(n_threads: usize) -> Raster {
        Raster {
            n_threads,
            opaque: Bins::default(),
            clear: Bins::default(),
            exact: Bins::default(),
            shadows: ShadowMap::default(),
            plane: Plane::new(),
        }
    }
}

impl Renderer for Raster {
    fn render_bent(
        &mut self,
        scene: &Scene,
        view: &View,
        wants: Wants,
        bent: Option<&Bent>,
    ) -> Frame {
        let ideal = Wants { colour: false, ..wants };
        let how = exact::How { n_threads: self.n_threads, wants: ideal, background: [0; 3], bent };
        let mut frame = match wants.depth || wants.ids {
            true => exact::draw(&mut self.exact, scene, view, how),
            false => {
                let pinhole = &view.pinhole;
                let (width, height) = bent.map_or((pinhole.width, pinhole.height), Bent::size);
                Frame::empty(width, height, NOTHING_WANTED)
            }
        };
        if wants.colour {
            frame.rgb = self.colours(scene, view, bent);
        }
        frame
    }
}

/// What the threads of a frame share.
struct Job<'a> {
    view: &'a View,
    opaque: &'a Bins,
    clear: &'a Bins,
    shader: Shader<'a>,
    clear_shader: Shader<'a>,
    width: usize,
    bent: Option<&'a Bent>,
}

/// What a thread works with.
struct Room {
    seen: [Box<Plane>; N],
    over: [Box<Plane>; N],
    colours: Vec<[f32; 3]>,
}

impl Raster {
    fn colours(&mut self, scene: &Scene, view: &View, bent: Option<&Bent>) -> Vec<u8> {
        let pinhole = &view.pinhole;
        let (width, height) = bent.map_or((pinhole.width, pinhole.height), Bent::size);
        let canvas = Canvas::of_view(view);
        let look = |i: usize| &scene.items()[i].look;
        let is_clear = |i: usize| look(i).opacity < 1.0 || look(i).is_mark;
        let n = scene.items().len();
        self.opaque.fill(scene, &canvas, bent, (0..n).filter(|i| !is_clear(*i)));
        self.clear.fill(scene, &canvas, bent, clear_items(scene, view).into_iter());
        let light = Daylight::of(scene);
        match light.shadows {
            true => self.shadows.draw(scene, view, light.direction, &mut self.plane),
            false => self.shadows.clear(),
        }
        // Two shaders: patches are numbered apart.
        let job = Job {
            view,
            opaque: &self.opaque,
            clear: &self.clear,
            shader: Shader::new(scene, &self.opaque.patches, light, &self.shadows, &canvas.rays),
            clear_shader: Shader::new(
                scene,
                &self.clear.patches,
                light,
                &self.shadows,
                &canvas.rays,
            ),
            width,
            bent,
        };
        let mut rgb = vec![0; width * height * 3];
        let room = || Room {
            seen: std::array::from_fn(|_| Plane::new()),
            over: std::array::from_fn(|_| Plane::new()),
            colours: vec![[0.0; 3]; tile::AREA],
        };
        let nothing = (&mut rgb[..], &mut [][..], &mut [][..]);
        each_band(self.n_threads, (width, height), nothing, room, |room, band| {
            band_of(&job, room, band);
        });
        rgb
    }
}

/// What is transparent, the furthest first, and then marks, the furthest first.
fn clear_items(scene: &Scene, view: &View) -> Vec<usize> {
    let optical_from_world = view.world_from_optical.inverse();
    let depth = |i: usize| {
        let bounds = scene.item_bounds(i);
        if bounds.is_empty() { f64::INFINITY } else { optical_from_world.point(bounds.centre()).z }
    };
    let look = |i: usize| &scene.items()[i].look;
    let all = 0..scene.items().len();
    let wanted = |i: &usize| {
        let look = look(*i);
        look.opacity > 0.0 && (look.opacity < 1.0 || look.is_mark)
    };
    let mut keyed: Vec<(bool, f64, usize)> =
        all.filter(wanted).map(|i| (look(i).is_mark, depth(i), i)).collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    keyed.into_iter().map(|(_, _, i)| i).collect()
}

wide! {
    fn band_of(job: &Job<'_>, room: &mut Room, band: Band<'_>) {
        let n_rows = band.rgb.len() / 3 / job.width;
        for column in 0..job.width.div_ceil(WIDTH) {
            let Some(grid) = grid(job.bent, column, band.row) else { continue };
            let n_columns = WIDTH.min(job.width - column * WIDTH);
            let nearest = (1.0 / job.view.near) as f32;
            for (plane, sample) in room.seen.iter_mut().zip(SAMPLES) {
                plane.clear::<false>((1.0 / job.view.far) as f32);
                let pen = grid.pen(sample, nearest);
                for (i, patch, area) in job.opaque.of_tile(column, band.row, grid) {
                    tile::draw::<false>(plane, pen, area, patch, i);
                }
            }
            let size = (n_columns, n_rows);
            colour(&job.shader, &room.seen, &mut room.colours, size, grid);
            if !job.clear.is_empty(column, band.row) {
                overlay(job, room, (column, band.row), size, grid);
            }
            for at in (0..n_rows * WIDTH).filter(|at| !grid.looks(*at)) {
                room.colours[at] = [0.0; 3];
            }
            for y in 0..n_rows {
                let from = &room.colours[y * WIDTH..y * WIDTH + n_columns];
                let at = (y * job.width + column * WIDTH) * 3;
                let to = band.rgb[at..at + n_columns * 3].as_chunks_mut::<3>().0;
                for (pixel, colour) in to.iter_mut().zip(from) {
                    *pixel = colour.map(|c| (c * 255.0 + 0.5) as u8);
                }
            }
        }
    }
}

/// Colours the opaque part of a tile.
#[inline(always)]
fn colour(
    shader: &Shader<'_>,
    seen: &[Box<Plane>; N],
    colours: &mut [[f32; 3]],
    (n_columns, n_rows): (usize, usize),
    grid: Grid<'_>,
) {
    let footprint = grid.footprint();
    for y in 0..n_rows {
        let row = y * WIDTH;
        let patches: [&[u32]; N] = std::array::from_fn(|s| &seen[s].patch[row..row + n_columns]);
        let is_whole = |x: usize| {
            let first = patches[0][x];
            (patches[1][x] == first) & (patches[2][x] == first) & (patches[3][x] == first)
        };
        let mut x = 0;
        while x < n_columns {
            if !is_whole(x) {
                colours[row + x] = mixed(shader, seen, row + x, grid);
                x += 1;
                continue;
            }
            let patch = patches[0][x];
            let start = x;
            while x < n_columns && patches[0][x] == patch && is_whole(x) {
                x += 1;
            }
            let run = &mut colours[row + start..row + x];
            // The centre is in the middle of the samples.
            let w = |i: usize| {
                let at = row + start + i;
                (seen[0].w[at] + seen[1].w[at] + seen[2].w[at] + seen[3].w[at]) * 0.25
            };
            let place = |i: usize| grid.place_single(row + start + i);
            if patch == NOTHING {
                for (i, out) in run.iter_mut().enumerate() {
                    *out = shader.sky(place(i));
                }
            } else if let Some((normal, [shade, sun])) = shader.plain(patch) {
                if shader.shadows.is_empty() || !shader.faces_sun(normal) {
                    run.fill(sun);
                    continue;
                }
                // Most of a floor lies in the sun: ask for a piece at a time.
                for (n, piece) in run.chunks_mut(PIECE).enumerate() {
                    let first = n * PIECE;
                    let (middle, last) = (first + piece.len() / 2, first + piece.len() - 1);
                    let line = [first, middle, last].map(|i| shader.point(place(i), w(i)));
                    let is_straight = matches!(grid, Grid::Even { .. });
                    if shader.shadows.is_clear_along(line, is_straight, normal) {
                        piece.fill(sun);
                        continue;
                    }
                    for (i, out) in piece.iter_mut().enumerate() {
                        let i = first + i;
                        let s = shader.sun_at(normal, place(i), w(i));
                        *out = std::array::from_fn(|c| shade[c] + (sun[c] - shade[c]) * s);
                    }
                }
            } else {
                for (i, out) in run.iter_mut().enumerate() {
                    *out = shader.colour(patch, place(i), w(i), footprint);
                }
            }
        }
    }
}

/// The colour of a pixel on which several patches share.
fn mixed(shader: &Shader<'_>, seen: &[Box<Plane>; N], at: usize, grid: Grid<'_>) -> [f32; 3] {
    let patches: [u32; N] = std::array::from_fn(|s| seen[s].patch[at]);
    let mut sum = [0.0; 3];
    for s in 0..N {
        let patch = patches[s];
        if patches[..s].contains(&patch) {
            continue;
        }
        let n = patches.iter().filter(|other| **other == patch).count();
        let place = sampled(grid, at, s);
        let colour = match patch {
            NOTHING => shader.sky(place),
            _ => shader.colour(patch, place, seen[s].w[at], grid.footprint()),
        };
        let share = n as f32 / N as f32;
        (0..3).for_each(|i| sum[i] += colour[i].min(1.0) * share);
    }
    sum
}

/// Where a sample of a pixel is.
#[inline(always)]
fn sampled(grid: Grid<'_>, at: usize, sample: usize) -> (f32, f32) {
    let ((u, v), (du, dv)) = (grid.place_single(at), grid.offset(SAMPLES[sample]));
    (u + du as f32, v + dv as f32)
}

/// Lays what is transparent, and marks, over a coloured tile, item by item.
#[inline(always)]
fn overlay(
    job: &Job<'_>,
    room: &mut Room,
    (column, row): (usize, usize),
    (n_columns, n_rows): (usize, usize),
    grid: Grid<'_>,
) {
    let mut patches = job.clear.of_tile(column, row, grid).peekable();
    while let Some(first) = patches.next() {
        let item = first.1.item;
        let mut group = vec![first];
        while let Some(next) = patches.next_if(|(_, patch, _)| patch.item == item) {
            group.push(next);
        }
        let nearest = (1.0 / job.view.near) as f32;
        for (plane, sample) in room.over.iter_mut().zip(SAMPLES) {
            plane.clear::<false>((1.0 / job.view.far) as f32);
            let pen = grid.pen(sample, nearest);
            for (i, patch, area) in &group {
                tile::draw::<false>(plane, pen, *area, patch, *i);
            }
        }
        let areas = group.iter().map(|(_, _, area)| *area);
        let area = areas.reduce(|a, b| Area {
            left: a.left.min(b.left),
            top: a.top.min(b.top),
            right: a.right.max(b.right),
            bottom: a.bottom.max(b.bottom),
            span: a.span,
        });
        let Some(area) = area else { continue };
        for y in area.top..area.bottom.min(n_rows) {
            for x in area.left..area.right.min(n_columns) {
                lay(job, room, y * WIDTH + x, grid);
            }
        }
    }
}

fn lay(job: &Job<'_>, room: &mut Room, at: usize, grid: Grid<'_>) {
    let mut share = 0.0;
    let mut shown = None;
    for s in 0..N {
        let (over, w) = (room.over[s].patch[at], room.over[s].w[at]);
        if over == NOTHING {
            continue;
        }
        let is_hidden = w < room.seen[s].w[at];
        let look = job.clear_shader.look(over);
        let weight = match (is_hidden, look.is_mark) {
            (false, _) => 1.0,
            (true, true) => HIDDEN_MARK,
            (true, false) => 0.0,
        };
        share += weight * look.opacity / N as f32;
        shown = shown.or((weight > 0.0).then_some((s, over, w)));
    }
    let Some((s, patch, w)) = shown else { return };
    let colour = job.clear_shader.colour(patch, sampled(grid, at, s), w, grid.footprint());
    let under = room.colours[at];
    room.colours[at] =
        std::array::from_fn(|i| under[i] + (colour[i].min(1.0) - under[i].min(1.0)) * share);
}
