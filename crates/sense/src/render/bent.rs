//! Where the pixels of an image look when they are not those of the pinhole: through a lens.
//!
//! A lens could be had by drawing a pinhole's picture and moving its pixels. That mixes every
//! pixel of four others, which blurs it, and draws what no pixel shows. Here each sample is asked
//! where it really looks: a tile has two tables, one place of the pinhole's picture for every pixel, and
//! the formulas of patches, which hold anywhere in that picture, are evaluated there.

use std::ops::Range;

use headland_base::maths::Vec2;

use super::project::Patch;
use super::tile::{AREA, Area, HEIGHT, WIDTH};

/// A place for every pixel of an image in the picture of a pinhole; some have none.
#[derive(Clone, Debug)]
pub struct Bent {
    width: usize,
    height: usize,
    n_across: usize,
    /// Row by row; none where no pixel has a place.
    tiles: Vec<Option<Box<BentTile>>>,
    /// What of the picture the tiles of a column and of a row reach.
    columns: Vec<[f64; 2]>,
    rows: Vec<[f64; 2]>,
}

/// A tile of an image and where its pixels look.
#[derive(Clone, Debug)]
pub(crate) struct BentTile {
    /// The middle of where they look.
    pub base: [f64; 2],
    /// Places from there, u and v; no number for pixels without.
    pub places: [[f32; AREA]; 2],
    /// What single precision leaves of them, for depths, which are exact.
    rest: [[f32; AREA]; 2],
    /// How a place moves by a pixel along the row, and down.
    along: [f64; 2],
    down: [f64; 2],
    /// Whether every pixel has one.
    pub is_whole: bool,
    /// What of the picture it reaches, all samples of all pixels: left, top, right, bottom.
    reach: [f64; 4],
    /// From every column on to the right, places are not below the first; up to it, not above the
    /// second. The same of rows.
    columns: Vec<[f32; 2]>,
    rows: Vec<[f32; 2]>,
}

const NONE: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

fn widened(range: [f64; 2], x: f64) -> [f64; 2] {
    [range[0].min(x), range[1].max(x)]
}

impl Bent {
    /// From the place of every pixel, row by row.
    pub fn new(width: usize, height: usize, places: &[Option<Vec2>]) -> Bent {
        assert_eq!(places.len(), width * height, "a place per pixel");
        let (n_across, n_down) = (width.div_ceil(WIDTH), height.div_ceil(HEIGHT));
        let tile = |i: usize| {
            let (left, top) = (i % n_across * WIDTH, i / n_across * HEIGHT);
            let of = |x: usize, y: usize| {
                let (x, y) = (left + x, top + y);
                if x < width && y < height { places[y * width + x] } else { None }
            };
            let n_pixels = WIDTH.min(width - left) * HEIGHT.min(height - top);
            BentTile::new(&of, n_pixels).map(Box::new)
        };
        Bent::of_tiles(width, height, (0..n_across * n_down).map(tile).collect())
    }

    fn of_tiles(width: usize, height: usize, tiles: Vec<Option<Box<BentTile>>>) -> Bent {
        let n_across = width.div_ceil(WIDTH);
        let (mut columns, mut rows) = (vec![NONE; n_across], vec![NONE; height.div_ceil(HEIGHT)]);
        for (i, tile) in tiles.iter().enumerate() {
            let Some(tile) = tile else { continue };
            let [left, top, right, bottom] = tile.reach;
            let (column, row) = (&mut columns[i % n_across], &mut rows[i / n_across]);
            *column = widened(widened(*column, left), right);
            *row = widened(widened(*row, top), bottom);
        }
        Bent { width, height, n_across, tiles, columns, rows }
    }

    /// Width and height of the image.
    pub fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Some rows of it, as an image of so many rows.
    pub fn cut(&self, rows: Range<usize>) -> Bent {
        let places: Vec<Option<Vec2>> = rows
            .clone()
            .flat_map(|y| (0..self.width).map(move |x| (x, y)))
            .map(|(x, y)| self.place(x, y))
            .collect();
        Bent::new(self.width, rows.len(), &places)
    }

    /// Where a pixel looks in the pinhole's picture.
    pub fn place(&self, column: usize, row: usize) -> Option<Vec2> {
        let tile = self.tile(column / WIDTH, row / HEIGHT)?;
        let at = row % HEIGHT * WIDTH + column % WIDTH;
        Some(tile.place(at)).filter(|place| place.is_finite())
    }

    pub(crate) fn tile(&self, column: usize, row: usize) -> Option<&BentTile> {
        self.tiles[row * self.n_across + column].as_deref()
    }

    /// The tiles that a patch may touch.
    pub(crate) fn tiles_of(&self, patch: &Patch) -> impl Iterator<Item = usize> {
        let rect = patch.rect;
        let (left, right) = (f64::from(rect.left) - 1.0, f64::from(rect.right) + 1.0);
        let (top, bottom) = (f64::from(rect.top) - 1.0, f64::from(rect.bottom) + 1.0);
        let meets = |a: &[f64; 2], low: f64, high: f64| a[0] <= high && a[1] >= low;
        let range = |all: &[[f64; 2]], low: f64, high: f64| {
            let first = all.iter().position(|one| meets(one, low, high)).unwrap_or(all.len());
            let last = all.iter().rposition(|one| meets(one, low, high));
            first..last.map_or(first, |last| last + 1)
        };
        let (rows, columns) = (range(&self.rows, top, bottom), range(&self.columns, left, right));
        rows.flat_map(move |row| columns.clone().map(move |column| row * self.n_across + column))
            .filter(move |i| {
                self.tiles[*i].as_ref().is_some_and(|tile| {
                    let [l, t, r, b] = tile.reach;
                    l <= right && r >= left && t <= bottom && b >= top
                })
            })
    }
}

impl BentTile {
    fn new(place: &dyn Fn(usize, usize) -> Option<Vec2>, n_pixels: usize) -> Option<BentTile> {
        let at = |i: usize| place(i % WIDTH, i / WIDTH);
        let all: Vec<Option<Vec2>> = (0..AREA).map(at).collect();
        let seen = || all.iter().flatten();
        let (u, v) = seen().fold((NONE, NONE), |(u, v), p| (widened(u, p.x), widened(v, p.y)));
        if u[0] > u[1] {
            return None;
        }
        let base = [(u[0] + u[1]) * 0.5, (v[0] + v[1]) * 0.5];
        let (mut places, mut rest) = ([[f32::NAN; AREA]; 2], [[f32::NAN; AREA]; 2]);
        for (i, p) in all.iter().enumerate() {
            for (axis, x) in p.iter().flat_map(|p| p.to_array()).enumerate() {
                let from_base = x - base[axis];
                places[axis][i] = from_base as f32;
                rest[axis][i] = (from_base - f64::from(places[axis][i])) as f32;
            }
        }
        // The mean step from a pixel to the next; one of the picture where none has a neighbour.
        let step =
            |i: usize, next: usize, is_one: bool| Some(all[next]? - all[i]?).filter(|_| is_one);
        let mean = |steps: &mut dyn Iterator<Item = Vec2>, alone: Vec2| {
            let (sum, n) = steps.fold((Vec2::ZERO, 0.0), |(sum, n), step| (sum + step, n + 1.0));
            if n > 0.0 { sum / n } else { alone }
        };
        let along =
            mean(&mut (0..AREA - 1).filter_map(|i| step(i, i + 1, i % WIDTH + 1 < WIDTH)), Vec2::X);
        let down = mean(&mut (0..AREA - WIDTH).filter_map(|i| step(i, i + WIDTH, true)), Vec2::Y);
        let (over_u, over_v) =
            ((along.x.abs() + down.x.abs()) * 0.5, (along.y.abs() + down.y.abs()) * 0.5);
        let reach = [u[0] - over_u, v[0] - over_v, u[1] + over_u, v[1] + over_v];
        let lines =
            |axis: usize, n: usize, of: &dyn Fn(usize, usize) -> usize, m: usize, over: f64| {
                let over = over as f32;
                let mut out: Vec<[f32; 2]> = (0..n)
                    .map(|line| {
                        let values = (0..m).map(|k| places[axis][of(line, k)]);
                        values.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], x| {
                            // No number is passed over.
                            [low.min(x - over), high.max(x + over)]
                        })
                    })
                    .collect();
                for i in 1..n {
                    out[i][1] = out[i][1].max(out[i - 1][1]);
                    let back = n - 1 - i;
                    out[back][0] = out[back][0].min(out[back + 1][0]);
                }
                out
            };
        Some(BentTile {
            base,
            is_whole: seen().count() == n_pixels,
            reach,
            columns: lines(0, WIDTH, &|column, row| row * WIDTH + column, HEIGHT, over_u),
            rows: lines(1, HEIGHT, &|row, column| row * WIDTH + column, WIDTH, over_v),
            places,
            rest,
            along: along.to_array(),
            down: down.to_array(),
        })
    }

    /// Where a pixel looks; no numbers where nowhere.
    #[inline(always)]
    pub fn place(&self, at: usize) -> Vec2 {
        let one = |axis: usize| {
            let (near, rest) = (self.places[axis][at], self.rest[axis][at]);
            self.base[axis] + f64::from(near) + f64::from(rest)
        };
        Vec2::new(one(0), one(1))
    }

    /// How far a sample is from the middle of its pixel, which is so far in the image.
    pub fn offset(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.along[0] * x + self.down[0] * y, self.along[1] * x + self.down[1] * y)
    }

    /// Pixels of the picture that one of the image shows, along its side.
    pub fn footprint(&self) -> f32 {
        let [[a, c], [b, d]] = [self.along, self.down];
        headland_base::maths::sqrt((a * d - b * c).abs()) as f32
    }

    /// The part of the tile that a patch may touch.
    pub fn area(&self, patch: &Patch) -> Option<Area> {
        let rect = patch.rect;
        let within = |lines: &[[f32; 2]], base: f64, low: i32, high: i32| {
            let (low, high) =
                ((f64::from(low) - 1.0 - base) as f32, (f64::from(high) + 1.0 - base) as f32);
            let first = lines.partition_point(|line| line[1] < low);
            let end = lines.partition_point(|line| line[0] <= high);
            (first < end).then(|| (first, end, [lines[first][0], lines[end - 1][1]]))
        };
        let (left, right, across) = within(&self.columns, self.base[0], rect.left, rect.right)?;
        let (top, bottom, down) = within(&self.rows, self.base[1], rect.top, rect.bottom)?;
        Some(Area { left, top, right, bottom, span: [across, down] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image that looks where its pinhole does is that pinhole's, and knows which of its
    /// pixels do not look anywhere.
    #[test]
    fn places_are_kept_and_rows_are_cut() {
        let places: Vec<Option<Vec2>> = (0..100 * 40)
            .map(|i| {
                let (x, y) = ((i % 100) as f64, (i / 100) as f64);
                (x < 70.0 || y > 3.0).then(|| Vec2::new(2.0 * x + 7.25, y * 0.5 - 3.0))
            })
            .collect();
        let bent = Bent::new(100, 40, &places);
        for (i, place) in places.iter().enumerate() {
            let kept = bent.place(i % 100, i / 100);
            assert_eq!(kept.is_some(), place.is_some());
            if let (Some(a), Some(b)) = (kept, place) {
                assert!((a - *b).length() < 1e-12, "{a} {b}");
            }
        }
        let cut = bent.cut(17..19);
        assert_eq!(cut.size(), (100, 2));
        let (a, b) = (cut.place(90, 1).unwrap(), bent.place(90, 18).unwrap());
        assert!((a - b).length() < 1e-12);
        let tile = bent.tile(0, 0).unwrap();
        assert!((tile.footprint() - 1.0).abs() < 1e-6 && tile.is_whole);
        assert_eq!(tile.offset((0.5, 0.5)), (1.0, 0.25));
        assert!(!bent.tile(1, 0).unwrap().is_whole);
    }
}
