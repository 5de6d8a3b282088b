//! One piece of the image: patches go in, for every sample the nearest of them comes out.
//!
//! All of it is single precision in loops over a row that the compiler turns into vector
//! instructions, as wide as the processor has: nothing is fused, so every width gives the same
//! bits. Coefficients are moved to the corner of the loop before they are rounded, which makes
//! the error of an edge some 10⁻⁵ of a pixel.
//!
//! Where that is not good enough, an *exact* tile also says which pixels it is not sure of: an
//! edge passes within [`DOUBT`] of a pixel of the sample, or two surfaces are within [`TIE`] of
//! each other. Those few are decided by a ray in double precision, so that the answer is that of
//! ray casting everywhere.

use super::bent::BentTile;
use super::linear::{Linear, Quadratic};
use super::project::{Form, Patch};

/// Pixels along a row of a tile.
pub(crate) const WIDTH: usize = 64;
/// Rows of a tile.
pub(crate) const HEIGHT: usize = 16;
/// Samples of a plane.
pub(crate) const AREA: usize = WIDTH * HEIGHT;
/// No patch.
pub(crate) const NOTHING: u32 = u32::MAX;

/// Edges are sure beyond this \[pixels\].
const DOUBT: f32 = 4e-4;
/// Surfaces are in order beyond this share of their nearness.
const TIE: f32 = 4e-6;

/// 0, 1, 2, … along a row.
const COLUMNS: [f32; WIDTH] = {
    let mut out = [0.0; WIDTH];
    let mut i = 0;
    while i < WIDTH {
        out[i] = i as f32;
        i += 1;
    }
    out
};

/// What was seen at one sample of every pixel of a tile.
pub(crate) struct Plane {
    /// Nearness.
    pub w: [f32; AREA],
    /// Index of the patch.
    pub patch: [u32; AREA],
    /// Whether it is not sure; of exact tiles.
    pub doubt: [u32; AREA],
}

impl Plane {
    pub fn new() -> Box<Plane> {
        Box::new(Plane { w: [0.0; AREA], patch: [NOTHING; AREA], doubt: [0; AREA] })
    }

    pub fn clear<const EXACT: bool>(&mut self, furthest: f32) {
        self.w.fill(furthest);
        self.patch.fill(NOTHING);
        if EXACT {
            self.doubt.fill(0);
        }
    }
}

/// The part of a tile that a patch may touch, its right and bottom border not in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub left: usize,
    pub top: usize,
    pub right: usize,
    pub bottom: usize,
    /// From where to where its samples reach along u and v: from its first sample where the
    /// pixels are the pinhole's, else from the tile's base.
    pub span: [[f32; 2]; 2],
}

/// Where the samples of a tile are in the pinhole's picture.
#[derive(Clone, Copy)]
pub(crate) enum Grid<'a> {
    /// At its pixels, from this one on.
    Even { u: usize, v: usize },
    /// Wherever a lens makes them look.
    Bent(&'a BentTile),
}

impl Grid<'_> {
    /// What places are counted from.
    pub fn base(&self) -> (f64, f64) {
        match self {
            Grid::Even { u, v } => (*u as f64, *v as f64),
            Grid::Bent(tile) => (tile.base[0], tile.base[1]),
        }
    }

    /// Where the middle of a pixel of the tile is.
    #[inline(always)]
    pub fn place(&self, at: usize) -> (f64, f64) {
        match self {
            Grid::Even { u, v } => ((u + at % WIDTH) as f64, (v + at / WIDTH) as f64),
            Grid::Bent(tile) => tile.place(at).into(),
        }
    }

    /// The same in single precision.
    #[inline(always)]
    pub fn place_single(&self, at: usize) -> (f32, f32) {
        match self {
            Grid::Even { u, v } => ((u + at % WIDTH) as f32, (v + at / WIDTH) as f32),
            Grid::Bent(tile) => {
                let [u, v] = [0, 1].map(|axis| tile.base[axis] as f32 + tile.places[axis][at]);
                (u, v)
            }
        }
    }

    /// How far from the middle of a pixel a sample is, which is so far from it in the image.
    #[inline(always)]
    pub fn offset(&self, sample: (f64, f64)) -> (f64, f64) {
        match self {
            Grid::Even { .. } => sample,
            Grid::Bent(tile) => tile.offset(sample),
        }
    }

    /// Pixels of the picture that one of the image shows, along its side.
    #[inline(always)]
    pub fn footprint(&self) -> f32 {
        match self {
            Grid::Even { .. } => 1.0,
            Grid::Bent(tile) => tile.footprint(),
        }
    }

    /// Whether a pixel looks anywhere.
    #[inline(always)]
    pub fn looks(&self, at: usize) -> bool {
        match self {
            Grid::Even { .. } => true,
            Grid::Bent(tile) => tile.is_whole || !tile.places[0][at].is_nan(),
        }
    }

    /// What a sample so far from the middle of its pixel is drawn with.
    pub fn pen(&self, sample: (f64, f64), nearest: f32) -> Pen<'_> {
        let ((u, v), (du, dv)) = (self.base(), self.offset(sample));
        Pen { u: u + du, v: v + dv, nearest, grid: *self }
    }
}

/// Of a patch in the tile whose corner is pixel (x, y); `None` where they do not meet.
pub(crate) fn area(patch: &Patch, x: i32, y: i32) -> Option<Area> {
    let clip = |at: i32, n: usize| at.clamp(0, n as i32) as usize;
    let (left, right) = (clip(patch.rect.left - x, WIDTH), clip(patch.rect.right - x, WIDTH));
    let (top, bottom) = (clip(patch.rect.top - y, HEIGHT), clip(patch.rect.bottom - y, HEIGHT));
    (left < right && top < bottom).then(|| {
        let span = [[0.0, (right - left) as f32 - 1.0], [0.0, (bottom - top) as f32 - 1.0]];
        Area { left, top, right, bottom, span }
    })
}

/// What a tile is drawn with.
#[derive(Clone, Copy)]
pub(crate) struct Pen<'a> {
    /// Pixel coordinates of the tile's first sample, or of what its samples are counted from.
    pub u: f64,
    pub v: f64,
    /// Nothing nearer is seen.
    pub nearest: f32,
    /// Where the samples are.
    pub grid: Grid<'a>,
}

/// Draws a patch under the number `patch_idx`.
#[inline(always)]
pub(crate) fn draw<const EXACT: bool>(
    plane: &mut Plane,
    pen: Pen<'_>,
    area: Area,
    patch: &Patch,
    patch_idx: u32,
) {
    match pen.grid {
        Grid::Even { .. } => {
            let at = (pen.u + area.left as f64, pen.v + area.top as f64);
            let rows = Rows { plane, area, nearest: pen.nearest, patch_idx, places: [&[], &[]] };
            draw_at::<EXACT, false>(rows, at, patch);
        }
        Grid::Bent(tile) => {
            let [u, v] = &tile.places;
            let rows = Rows { plane, area, nearest: pen.nearest, patch_idx, places: [u, v] };
            draw_at::<EXACT, true>(rows, (pen.u, pen.v), patch);
        }
    }
}

#[inline(always)]
fn draw_at<const EXACT: bool, const BENT: bool>(rows: Rows<'_>, (u, v): (f64, f64), patch: &Patch) {
    let [[left, right], [top, bottom]] = rows.area.span;
    match &patch.form {
        Form::Flat { edges, n_edges, w } => {
            let mut kept = [[0.0f32; 3]; 4];
            let mut n = 0;
            for edge in &edges[..*n_edges as usize] {
                let [a, b, c] = local(edge, u, v);
                let most = c + (a * left).max(a * right) + (b * top).max(b * bottom);
                if most < -2.0 * DOUBT {
                    return;
                }
                let least = c + (a * left).min(a * right) + (b * top).min(b * bottom);
                // An edge that the whole area is inside of need not be asked.
                if least < 2.0 * DOUBT {
                    kept[n] = [a, b, c];
                    n += 1;
                }
            }
            let w = local(w, u, v);
            match n {
                0 => flat::<0, EXACT, BENT>(rows, kept, w),
                1 => flat::<1, EXACT, BENT>(rows, kept, w),
                2 => flat::<2, EXACT, BENT>(rows, kept, w),
                3 => flat::<3, EXACT, BENT>(rows, kept, w),
                _ => flat::<4, EXACT, BENT>(rows, kept, w),
            }
        }
        Form::Disc { inside, w } => {
            disc::<EXACT, BENT>(rows, &inside.rebased(u, v), local(w, u, v));
        }
        Form::Round { square, beta, k, slab } => {
            let (square, beta) = (square.rebased(u, v), local(beta, u, v));
            match slab {
                None => round::<false, EXACT, BENT>(rows, &square, beta, *k as f32, [[0.0; 4]; 2]),
                Some(slab) => {
                    let slab = slab.map(|(s, l)| {
                        let [a, b, c] = local(&l, u, v);
                        [s as f32, a, b, c]
                    });
                    round::<true, EXACT, BENT>(rows, &square, beta, *k as f32, slab);
                }
            }
        }
    }
}

#[inline(always)]
fn local(f: &Linear, u: f64, v: f64) -> [f32; 3] {
    [f.a as f32, f.b as f32, f.at(u, v) as f32]
}

struct Rows<'a> {
    plane: &'a mut Plane,
    area: Area,
    nearest: f32,
    patch_idx: u32,
    /// Where the samples are, u and v, where they are bent; else nothing.
    places: [&'a [f32]; 2],
}

/// Every sample with its place.
macro_rules! each_sample {
    ($rows:ident, $bent:ident, ($x:ident, $y:ident, $w:ident, $patch:ident, $doubt:ident) => $body:block) => {
        let Area { left, top, right, bottom, .. } = $rows.area;
        let Plane { w, patch, doubt } = $rows.plane;
        for row in top..bottom {
            let at = row * WIDTH + left..row * WIDTH + right;
            let ws = &mut w[at.clone()];
            let patches = &mut patch[at.clone()];
            let doubts = &mut doubt[at.clone()];
            let kept = ws.iter_mut().zip(patches).zip(doubts);
            if $bent {
                let [us, vs] = $rows.places;
                for (($x, $y), (($w, $patch), $doubt)) in
                    us[at.clone()].iter().zip(&vs[at]).zip(kept)
                {
                    let ($x, $y) = (*$x, *$y);
                    $body
                }
            } else {
                let $y = (row - top) as f32;
                for ($x, (($w, $patch), $doubt)) in COLUMNS[..right - left].iter().zip(kept) {
                    let $x = *$x;
                    $body
                }
            }
        }
    };
}

/// Keeps the nearer of what is there and a patch of nearness `w`. `inside` is not negative where
/// the patch is, and beyond `sure` from zero that is sure. Everything is a value before anything
/// is chosen: a choice between two places in memory is no vector instruction.
macro_rules! keep {
    ($exact:ident, ($nearest:ident, $patch_idx:ident), $inside:expr, $sure:expr, $w:expr, $old:ident, $patch:ident, $doubt:ident) => {
        let (inside, w): (f32, f32) = ($inside, $w);
        let (old, patch) = (*$old, *$patch);
        let is_nearer = (inside >= 0.0) & (w > old) & (w <= $nearest);
        if $exact {
            let sure: f32 = $sure;
            let tie = w.abs() * TIE;
            let may_be = (inside > -sure) & (w > old - tie) & (w <= $nearest + tie);
            let unsure = (inside < sure) | (w < old + tie) | (w > $nearest - tie);
            *$doubt |= (may_be & unsure) as u32;
        }
        *$old = if is_nearer { w } else { old };
        *$patch = if is_nearer { $patch_idx } else { patch };
    };
}

#[inline(always)]
fn flat<const N: usize, const EXACT: bool, const BENT: bool>(
    rows: Rows<'_>,
    edges: [[f32; 3]; 4],
    w: [f32; 3],
) {
    let (nearest, patch_idx) = (rows.nearest, rows.patch_idx);
    each_sample!(rows, BENT, (x, y, old, patch, doubt) => {
        let mut inside = f32::INFINITY;
        for edge in &edges[..N] {
            let e = linear(edge, x, y);
            inside = if e < inside { e } else { inside };
        }
        keep!(EXACT, (nearest, patch_idx), inside, DOUBT, linear(&w, x, y), old, patch, doubt);
    });
}

/// What stays the same along a row comes first, so that it is worked out once.
#[inline(always)]
fn linear(f: &[f32; 3], x: f32, y: f32) -> f32 {
    (f[2] + f[1] * y) + f[0] * x
}

/// The same of six: of u², uv, v², u, v and 1.
#[inline(always)]
fn quadratic(q: &[f32; 6], x: f32, y: f32) -> f32 {
    (q[5] + (q[4] + q[2] * y) * y) + ((q[3] + q[1] * y) + q[0] * x) * x
}

fn single(q: &Quadratic) -> [f32; 6] {
    [q.uu, q.uv, q.vv, q.u, q.v, q.c].map(|x| x as f32)
}

#[inline(always)]
fn disc<const EXACT: bool, const BENT: bool>(rows: Rows<'_>, inside: &Quadratic, w: [f32; 3]) {
    let (nearest, patch_idx) = (rows.nearest, rows.patch_idx);
    let sure = steepest(inside, rows.area) * DOUBT;
    let inside = single(inside);
    each_sample!(rows, BENT, (x, y, old, patch, doubt) => {
        let inside = quadratic(&inside, x, y);
        keep!(EXACT, (nearest, patch_idx), inside, sure, linear(&w, x, y), old, patch, doubt);
    });
}

#[inline(always)]
fn round<const SLAB: bool, const EXACT: bool, const BENT: bool>(
    rows: Rows<'_>,
    square: &Quadratic,
    beta: [f32; 3],
    k: f32,
    [low, high]: [[f32; 4]; 2],
) {
    let (nearest, patch_idx) = (rows.nearest, rows.patch_idx);
    let sure_square = steepest(square, rows.area) * DOUBT;
    let sure_slab =
        (low[1].abs() + low[2].abs()) * 4.0 * DOUBT + 1e-6 * (low[0].abs() + high[0].abs());
    let square = single(square);
    let [low_place, high_place] = [low, high].map(|s| [s[1], s[2], s[3]]);
    each_sample!(rows, BENT, (x, y, old, patch, doubt) => {
        let square = quadratic(&square, x, y);
        let root = (if square > 0.0 { square } else { 0.0 }).sqrt();
        let w = (linear(&beta, x, y) + root) * k;
        if SLAB {
            let above = low[0] * w + linear(&low_place, x, y);
            let below = -(high[0] * w + linear(&high_place, x, y));
            let between = if above < below { above } else { below };
            // Outside of either is outside.
            let inside = if square < 0.0 { -1e30 } else { between };
            if EXACT {
                let near_rim = (square.abs() < sure_square) & (between > -sure_slab);
                let tie = w.abs() * TIE;
                *doubt |= (near_rim & (w > *old - tie)) as u32;
            }
            keep!(EXACT, (nearest, patch_idx), inside, sure_slab, w, old, patch, doubt);
        } else {
            keep!(EXACT, (nearest, patch_idx), square, sure_square, w, old, patch, doubt);
        }
    });
}

/// How much a quadratic changes per pixel at most in an area.
#[inline(always)]
fn steepest(q: &Quadratic, area: Area) -> f32 {
    let [[left, right], [top, bottom]] =
        area.span.map(|[low, high]| [f64::from(low), f64::from(high) + 1.0]);
    let slope = |linear: f64, square: f64, low: f64, high: f64| {
        (linear + 2.0 * square * low).abs().max((linear + 2.0 * square * high).abs())
    };
    let (far_u, far_v) = (left.abs().max(right.abs()), top.abs().max(bottom.abs()));
    let along = slope(q.u, q.uu, left, right) + (q.uv * far_v).abs();
    let down = slope(q.v, q.vv, top, bottom) + (q.uv * far_u).abs();
    (along + down) as f32
}
