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

use super::project::{Form, Linear, Patch, Quadratic};

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
}

/// Of a patch in the tile whose corner is pixel (x, y); `None` where they do not meet.
pub(crate) fn area(patch: &Patch, x: i32, y: i32) -> Option<Area> {
    let clip = |at: i32, n: usize| at.clamp(0, n as i32) as usize;
    let out = Area {
        left: clip(patch.rect.left - x, WIDTH),
        top: clip(patch.rect.top - y, HEIGHT),
        right: clip(patch.rect.right - x, WIDTH),
        bottom: clip(patch.rect.bottom - y, HEIGHT),
    };
    (out.left < out.right && out.top < out.bottom).then_some(out)
}

/// What a tile is drawn with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pen {
    /// Pixel coordinates of the tile's first sample.
    pub u: f64,
    pub v: f64,
    /// Nothing nearer is seen.
    pub nearest: f32,
}

/// Draws a patch under the number `patch_idx`.
#[inline(always)]
pub(crate) fn draw<const EXACT: bool>(
    plane: &mut Plane,
    pen: Pen,
    area: Area,
    patch: &Patch,
    patch_idx: u32,
) {
    let (u, v) = (pen.u + area.left as f64, pen.v + area.top as f64);
    match &patch.form {
        Form::Flat { edges, n_edges, w } => {
            let (across, down) =
                ((area.right - area.left) as f32 - 1.0, (area.bottom - area.top) as f32 - 1.0);
            let mut kept = [[0.0f32; 3]; 4];
            let mut n = 0;
            for edge in &edges[..*n_edges as usize] {
                let [a, b, c] = local(edge, u, v);
                let most = c + (a * across).max(0.0) + (b * down).max(0.0);
                if most < -2.0 * DOUBT {
                    return;
                }
                let least = c + (a * across).min(0.0) + (b * down).min(0.0);
                // An edge that the whole area is inside of need not be asked.
                if least < 2.0 * DOUBT {
                    kept[n] = [a, b, c];
                    n += 1;
                }
            }
            let w = local(w, u, v);
            let rows = Rows { plane, area, nearest: pen.nearest, patch_idx };
            match n {
                0 => flat::<0, EXACT>(rows, kept, w),
                1 => flat::<1, EXACT>(rows, kept, w),
                2 => flat::<2, EXACT>(rows, kept, w),
                3 => flat::<3, EXACT>(rows, kept, w),
                _ => flat::<4, EXACT>(rows, kept, w),
            }
        }
        Form::Disc { inside, w } => {
            let rows = Rows { plane, area, nearest: pen.nearest, patch_idx };
            disc::<EXACT>(rows, &inside.rebased(u, v), local(w, u, v));
        }
        Form::Round { square, beta, k, slab } => {
            let rows = Rows { plane, area, nearest: pen.nearest, patch_idx };
            let (square, beta) = (square.rebased(u, v), local(beta, u, v));
            match slab {
                None => round::<false, EXACT>(rows, &square, beta, *k as f32, [[0.0; 4]; 2]),
                Some(slab) => {
                    let slab = slab.map(|(s, l)| {
                        let [a, b, c] = local(&l, u, v);
                        [s as f32, a, b, c]
                    });
                    round::<true, EXACT>(rows, &square, beta, *k as f32, slab);
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
}

/// Rows of samples with their number from the top.
macro_rules! each_sample {
    ($rows:ident, $row:ident => $per_row:block, ($x:ident, $w:ident, $patch:ident, $doubt:ident) => $body:block) => {
        let Area { left, top, right, bottom } = $rows.area;
        let Plane { w, patch, doubt } = $rows.plane;
        for y in top..bottom {
            let $row = (y - top) as f32;
            $per_row
            let at = y * WIDTH + left..y * WIDTH + right;
            let ws = &mut w[at.clone()];
            let patches = &mut patch[at.clone()];
            let doubts = &mut doubt[at];
            let columns = &COLUMNS[..right - left];
            for ((($x, $w), $patch), $doubt) in columns.iter().zip(ws).zip(patches).zip(doubts) {
                $body
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
fn flat<const N: usize, const EXACT: bool>(rows: Rows<'_>, edges: [[f32; 3]; 4], w: [f32; 3]) {
    let (nearest, patch_idx) = (rows.nearest, rows.patch_idx);
    let mut starts = [0.0f32; N];
    let mut w_start;
    each_sample!(rows, row => {
        for i in 0..N {
            starts[i] = edges[i][2] + edges[i][1] * row;
        }
        w_start = w[2] + w[1] * row;
    }, (x, old, patch, doubt) => {
        let mut inside = f32::INFINITY;
        for i in 0..N {
            let e = starts[i] + edges[i][0] * *x;
            inside = if e < inside { e } else { inside };
        }
        keep!(EXACT, (nearest, patch_idx), inside, DOUBT, w_start + w[0] * *x, old, patch, doubt);
    });
}

#[inline(always)]
fn disc<const EXACT: bool>(rows: Rows<'_>, inside: &Quadratic, w: [f32; 3]) {
    let (nearest, patch_idx) = (rows.nearest, rows.patch_idx);
    let sure = steepest(inside, rows.area) * DOUBT;
    let (uu, uv, vv) = (inside.uu as f32, inside.uv as f32, inside.vv as f32);
    let (u, v, c) = (inside.u as f32, inside.v as f32, inside.c as f32);
    let (mut first, mut second, mut w_start);
    each_sample!(rows, row => {
        first = c + (v + vv * row) * row;
        second = u + uv * row;
        w_start = w[2] + w[1] * row;
    }, (x, old, patch, doubt) => {
        let inside = first + (second + uu * *x) * *x;
        keep!(EXACT, (nearest, patch_idx), inside, sure, w_start + w[0] * *x, old, patch, doubt);
    });
}

#[inline(always)]
fn round<const SLAB: bool, const EXACT: bool>(
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
    let (uu, uv, vv) = (square.uu as f32, square.uv as f32, square.vv as f32);
    let (u, v, c) = (square.u as f32, square.v as f32, square.c as f32);
    let (mut first, mut second, mut beta_start);
    let (mut low_start, mut high_start) = (0.0, 0.0);
    each_sample!(rows, row => {
        first = c + (v + vv * row) * row;
        second = u + uv * row;
        beta_start = beta[2] + beta[1] * row;
        if SLAB {
            low_start = low[3] + low[2] * row;
            high_start = high[3] + high[2] * row;
        }
    }, (x, old, patch, doubt) => {
        let square = first + (second + uu * *x) * *x;
        let root = (if square > 0.0 { square } else { 0.0 }).sqrt();
        let w = (beta_start + beta[0] * *x + root) * k;
        if SLAB {
            let above = low[0] * w + (low_start + low[1] * *x);
            let below = -(high[0] * w + (high_start + high[1] * *x));
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
    let (x, y) = ((area.right - area.left) as f64, (area.bottom - area.top) as f64);
    let along = q.u.abs().max((q.u + 2.0 * q.uu * x).abs()) + (q.uv * y).abs();
    let down = q.v.abs().max((q.v + 2.0 * q.vv * y).abs()) + (q.uv * x).abs();
    (along + down) as f32
}
