//! Shadows: what the sun sees, as a map of how far it sees.
//!
//! The map is drawn by the same tiles as the image, from a parallel view along the light. Most of
//! it is empty ground, so only tiles that something throws a shadow from are kept, and asking the
//! others costs one look. It spans what throws shadows and may be seen, in [`SIDE`] steps, which
//! makes a step about a pixel; nine of them are weighed, which makes the rim of a shadow soft.

use headland_base::{Mat3, Quat, Transform, Vec3};
use headland_world::geometry::corners_in;

use super::project::Canvas;
use super::tile::{self, AREA, Grid, HEIGHT, Plane, WIDTH};
use super::tiles::{Bins, wide};
use crate::camera::View;
use crate::scene::{Bounds, Scene};

/// Steps along the longer side of the map.
const SIDE: usize = 1024;

/// Steps along a side of a block, of which is known whether anything is in it or beside it.
const BLOCK: usize = 8;

/// No tile here.
const EMPTY: u32 = u32::MAX;

/// What the sun sees.
#[derive(Default)]
pub(crate) struct ShadowMap {
    bins: Bins,
    n_across: usize,
    n_down: usize,
    tiles: Vec<u32>,
    nearness: Vec<f32>,
    blocks: Vec<bool>,
    /// Steps of the map, and nearness, of a point relative to the eye: one row each.
    map_from_eye: [[f32; 4]; 3],
    /// How far a surface is lifted before it asks, so that it does not shade itself \[m\].
    lift: f32,
    /// Nearer than the surface by less is the surface \[m\].
    slack: f32,
}

/// Turns z to a direction.
fn frame_along(direction: Vec3) -> Transform {
    let side = if direction.z.abs() > 0.9 { Vec3::X } else { Vec3::Z };
    let unit = |v: Vec3| v / headland_base::maths::sqrt(v.dot(v));
    let x = unit(side.cross(direction));
    let y = direction.cross(x);
    Transform::from_rotation(Quat::from_mat3(&Mat3::from_cols(x, y, direction)))
}

impl ShadowMap {
    /// Nothing is in the shadow.
    pub fn clear(&mut self) {
        self.n_across = 0;
        self.n_down = 0;
    }

    /// Draws the map for light along `direction`, a unit vector.
    pub fn draw(&mut self, scene: &Scene, view: &View, direction: Vec3, plane: &mut Plane) {
        self.clear();
        let world_from_light = frame_along(direction);
        let light_from_world = world_from_light.inverse();
        let casts = |i: &usize| {
            let item = &scene.items()[*i];
            let look = &item.look;
            look.casts_shadow
                && !look.is_mark
                && !scene.item_bounds(*i).is_empty()
                && !item.solid.is_sheet()
        };
        let casters: Vec<usize> = (0..scene.items().len()).filter(casts).collect();
        let in_light = |bounds: Bounds, pose: Transform| {
            Bounds::of(corners_in(light_from_world * pose, (bounds.low, bounds.high)))
        };
        let around = |wanted: &dyn Fn(Vec3) -> bool| {
            let boxes = casters.iter().filter_map(|i| {
                let bounds = scene.items()[*i].solid.bounds?;
                let size = bounds.high - bounds.low;
                wanted(size).then(|| in_light(bounds, scene.world_from_item(*i)))
            });
            boxes.fold(Bounds::EMPTY, Bounds::union)
        };
        // Floors and walls reach far beyond what stands among them; they throw their shadows
        // there and a little around, where they are looked at.
        let is_slab =
            |size: Vec3| size.min_element() < 0.1 * size.max_element() && size.max_element() > 1.0;
        let things = around(&|size| !is_slab(size));
        let all = around(&|_| true);
        let around = match things.is_empty() {
            true => all,
            false => {
                let room = (things.high - things.low) * 0.5;
                let low = (things.low - room).max(all.low);
                Bounds { low, high: (things.high + room).min(all.high) }
            }
        };
        let Some(seen) = seen(scene, view, light_from_world) else { return };
        let low = around.low.max(seen.low).truncate();
        let high = around.high.min(seen.high).truncate();
        let extent = high - low;
        if !(extent.x > 0.0 && extent.y > 0.0 && extent.is_finite()) {
            return;
        }
        let size = extent.max_element() / (SIDE - 4) as f64;
        // Two steps beyond, so that the rim of the map is empty.
        let corner = [low.x - 2.0 * size, low.y - 2.0 * size];
        let n = |length: f64| ((length / size) as usize + 5).min(SIDE + 4);
        let (width, height) = (n(extent.x), n(extent.y));
        let canvas = Canvas::parallel(world_from_light, corner, size, (width, height));
        self.bins.fill(scene, &canvas, None, casters.into_iter());
        (self.n_across, self.n_down) = (width.div_ceil(WIDTH), height.div_ceil(HEIGHT));
        draw_tiles(self, plane);
        self.mark_blocks();

        let light_from_eye = light_from_world * view.world_from_optical;
        // Points come along the world's axes, from the eye.
        let turn = light_from_world.rotation;
        let eye = light_from_eye.translation;
        let row = |axis: Vec3, scale: f64, offset: f64| {
            let along = turn.conjugate() * axis * scale;
            [along.x, along.y, along.z, offset].map(|x| x as f32)
        };
        self.map_from_eye = [
            row(Vec3::X, 1.0 / size, (eye.x - corner[0]) / size),
            row(Vec3::Y, 1.0 / size, (eye.y - corner[1]) / size),
            row(Vec3::Z, -1.0, -eye.z),
        ];
        self.lift = (1.5 * size) as f32;
        self.slack = size as f32;
    }

    /// Whether nothing throws a shadow at all.
    pub fn is_empty(&self) -> bool {
        self.n_across == 0
    }

    /// Steps of the map, and nearness, of a point along the world's axes from the eye, lifted
    /// along its normal.
    #[inline(always)]
    fn place(&self, point: [f32; 3], normal: [f32; 3]) -> [f32; 3] {
        let p: [f32; 3] = std::array::from_fn(|i| point[i] + normal[i] * self.lift);
        self.map_from_eye.map(|m| m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3])
    }

    /// Whether all of a line on a plane lies in the sun for sure, asked by its ends and its middle:
    /// a straight line is one in the map too, so it stays in the box around them; one that a lens
    /// bends a little leaves it by less than a quarter of its size.
    pub fn is_clear_along(&self, line: [[f32; 3]; 3], is_straight: bool, normal: [f32; 3]) -> bool {
        let places = line.map(|point| self.place(point, normal));
        let over = if is_straight { 0.0 } else { 0.25 };
        // A step more than is weighed; below zero becomes zero.
        let block = |x: f32| (x.max(0.0) as usize) / BLOCK;
        let blocks = |axis: usize| {
            let [a, b, c] = places.map(|place| place[axis]);
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            let more = 1.0 + over * (high - low);
            (block(low - more), block(high + more))
        };
        let ((left, right), (top, bottom)) = (blocks(0), blocks(1));
        let (n_across, n_down) = self.n_blocks();
        let (last, end) =
            (right.saturating_add(1).min(n_across), bottom.saturating_add(1).min(n_down));
        if left >= last || top >= end {
            return true;
        }
        // Far away, a line may cross all of the map.
        if (last - left) * (end - top) > 64 {
            return false;
        }
        (top..end).all(|row| {
            let blocks = &self.blocks[row * n_across..(row + 1) * n_across];
            blocks[left..last].iter().all(|is_met| !is_met)
        })
    }

    fn n_blocks(&self) -> (usize, usize) {
        (self.n_across * (WIDTH / BLOCK), self.n_down * (HEIGHT / BLOCK))
    }

    /// Marks the blocks with something in them, and those around, which weigh steps of these.
    fn mark_blocks(&mut self) {
        const ACROSS: usize = WIDTH / BLOCK;
        let (n_across, n_down) = self.n_blocks();
        self.blocks.clear();
        self.blocks.resize(n_across * n_down, false);
        for (i, slot) in self.tiles.iter().enumerate().filter(|(_, slot)| **slot != EMPTY) {
            let tile = &self.nearness[*slot as usize * AREA..][..AREA];
            let (left, top) = (i % self.n_across * ACROSS, i / self.n_across * (HEIGHT / BLOCK));
            for block in 0..ACROSS * (HEIGHT / BLOCK) {
                let (x, y) = (block % ACROSS, block / ACROSS);
                let row = |j: usize| &tile[(y * BLOCK + j) * WIDTH + x * BLOCK..][..BLOCK];
                if (0..BLOCK).flat_map(row).all(|w| *w == f32::MIN) {
                    continue;
                }
                let (x, y) = (left + x, top + y);
                for row in y.saturating_sub(1)..(y + 2).min(n_down) {
                    let from = row * n_across + x.saturating_sub(1);
                    self.blocks[from..row * n_across + (x + 2).min(n_across)].fill(true);
                }
            }
        }
    }

    /// How much of the sun a point sees, 0 to 1; along the world's axes from the eye, with the
    /// normal of its surface.
    #[inline(always)]
    pub fn light_at(&self, point: [f32; 3], normal: [f32; 3]) -> f32 {
        if self.n_across == 0 {
            return 1.0;
        }
        let [u, v, w] = self.place(point, normal);
        let w = w + self.slack;
        // Step (0, 0) is the centre of the first.
        let (most_u, most_v) =
            ((self.n_across * WIDTH) as f32 - 2.5, (self.n_down * HEIGHT) as f32 - 2.5);
        if !(u >= 0.5 && v >= 0.5 && u <= most_u && v <= most_v) {
            return 1.0;
        }
        let (column, row) = ((u + 0.5) as usize, (v + 0.5) as usize);
        let (first, last) = ((column - 1) / WIDTH, (column + 1) / WIDTH);
        let (top, bottom) = ((row - 1) / HEIGHT, (row + 1) / HEIGHT);
        let tile = |r: usize, c: usize| self.tiles[r * self.n_across + c];
        if !self.blocks[row / BLOCK * (self.n_across * (WIDTH / BLOCK)) + column / BLOCK] {
            return 1.0;
        }
        let is_one = (first == last) & (top == bottom) && tile(top, first) != EMPTY;
        let weights =
            |f: f32| [0.5 * (0.5 - f) * (0.5 - f), 0.75 - f * f, 0.5 * (0.5 + f) * (0.5 + f)];
        let (across, down) = (weights(u - column as f32), weights(v - row as f32));
        let mut lit = 0.0;
        for (j, weight) in down.iter().enumerate() {
            let y = row - 1 + j;
            let near: [f32; 3] = if is_one {
                let start = tile(top, first) as usize * AREA + y % HEIGHT * WIDTH;
                let start = start + (column - 1) % WIDTH;
                std::array::from_fn(|i| self.nearness[start + i])
            } else {
                std::array::from_fn(|i| self.nearness_at(column - 1 + i, y))
            };
            let mut sum = 0.0;
            for (near, weight) in near.iter().zip(across) {
                sum += if *near > w { 0.0 } else { weight };
            }
            lit += sum * weight;
        }
        lit
    }

    #[inline(always)]
    fn nearness_at(&self, column: usize, row: usize) -> f32 {
        match self.tiles[row / HEIGHT * self.n_across + column / WIDTH] {
            EMPTY => f32::MIN,
            slot => self.nearness[slot as usize * AREA + row % HEIGHT * WIDTH + column % WIDTH],
        }
    }
}

wide! {
    fn draw_tiles(map: &mut ShadowMap, plane: &mut Plane) {
        map.tiles.clear();
        map.tiles.resize(map.n_across * map.n_down, EMPTY);
        map.nearness.clear();
        for row in 0..map.n_down {
            for column in 0..map.n_across {
                if map.bins.is_empty(column, row) {
                    continue;
                }
                plane.clear::<false>(f32::MIN);
                let grid = Grid::Even { u: column * WIDTH, v: row * HEIGHT };
                let pen = grid.pen((0.0, 0.0), f32::MAX);
                for (i, patch, area) in map.bins.of_tile(column, row, grid) {
                    tile::draw::<false>(plane, pen, area, patch, i);
                }
                if plane.w.iter().all(|w| *w == f32::MIN) {
                    continue;
                }
                map.tiles[row * map.n_across + column] = (map.nearness.len() / AREA) as u32;
                map.nearness.extend_from_slice(&plane.w);
            }
        }
    }
}

/// A box in the light's frame around all that the camera may see of what has an end.
fn seen(scene: &Scene, view: &View, light_from_world: Transform) -> Option<Bounds> {
    let bounds = scene.bounds();
    if bounds.is_empty() {
        return None;
    }
    let optical_from_world = view.world_from_optical.inverse();
    let corners = corners_in(optical_from_world, (bounds.low, bounds.high));
    let far = corners.iter().map(|corner| corner.z).fold(view.near, f64::max).min(view.far);
    let (width, height) = (view.pinhole.width as f64, view.pinhole.height as f64);
    let borders =
        [(-0.5, -0.5), (width - 0.5, -0.5), (-0.5, height - 0.5), (width - 0.5, height - 0.5)];
    let points = borders.into_iter().flat_map(|(u, v)| {
        let direction = view.direction(headland_base::maths::Vec2::new(u, v));
        [view.near, far]
            .map(|z| light_from_world.point(view.world_from_optical.translation + direction * z))
    });
    Some(Bounds::of(points))
}
