//! Patches sorted into tiles, and tiles shared out to threads.

use std::sync::{Mutex, PoisonError};

use super::project::{Canvas, Patch, Scratch};
use super::tile::{self, HEIGHT, WIDTH};
use crate::scene::Scene;

/// The patches of a frame, and which tile they may touch.
#[derive(Default)]
pub(crate) struct Bins {
    pub patches: Vec<Patch>,
    /// Patches of each tile, in the order they were made.
    bins: Vec<Vec<u32>>,
    n_across: usize,
    scratch: Scratch,
}

impl Bins {
    /// Starts a frame with the items asked for, in the order given.
    pub fn fill(&mut self, scene: &Scene, canvas: &Canvas, items: impl Iterator<Item = usize>) {
        self.patches.clear();
        for item_idx in items {
            canvas.add(scene, item_idx, &mut self.scratch, &mut self.patches);
        }
        self.n_across = canvas.width.div_ceil(WIDTH);
        let n_tiles = self.n_across * canvas.height.div_ceil(HEIGHT);
        self.bins.resize_with(n_tiles, Vec::new);
        self.bins.iter_mut().for_each(Vec::clear);
        for (i, patch) in self.patches.iter().enumerate() {
            let (left, right) =
                (patch.rect.left as usize / WIDTH, (patch.rect.right as usize - 1) / WIDTH);
            let (top, bottom) =
                (patch.rect.top as usize / HEIGHT, (patch.rect.bottom as usize - 1) / HEIGHT);
            for row in top..=bottom {
                for bin in &mut self.bins[row * self.n_across + left..=row * self.n_across + right]
                {
                    bin.push(i as u32);
                }
            }
        }
    }

    /// The patches of a tile with the part of it that each may touch.
    #[inline(always)]
    pub fn of_tile(
        &self,
        column: usize,
        row: usize,
    ) -> impl Iterator<Item = (u32, &Patch, tile::Area)> {
        let (x, y) = ((column * WIDTH) as i32, (row * HEIGHT) as i32);
        self.bins[row * self.n_across + column].iter().filter_map(move |i| {
            let patch = &self.patches[*i as usize];
            Some((*i, patch, tile::area(patch, x, y)?))
        })
    }

    /// Whether nothing touches a tile.
    pub fn is_empty(&self, column: usize, row: usize) -> bool {
        self.bins[row * self.n_across + column].is_empty()
    }
}

/// The tiles of a picture that somebody looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    n_across: usize,
    needed: Vec<bool>,
}

impl Part {
    /// Nothing of a picture.
    pub fn none(width: usize, height: usize) -> Part {
        let n_across = width.div_ceil(WIDTH);
        Part { n_across, needed: vec![false; n_across * height.div_ceil(HEIGHT)] }
    }

    /// Adds the tiles that four pixels are in: one, those to the right and below, and the fourth.
    pub fn add_four(&mut self, column: usize, row: usize) {
        for (u, v) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            self.needed[(row + v) / HEIGHT * self.n_across + (column + u) / WIDTH] = true;
        }
    }

    /// How much of the picture it is.
    pub fn share(&self) -> f64 {
        let n_needed = self.needed.iter().filter(|is_needed| **is_needed).count();
        n_needed as f64 / self.needed.len().max(1) as f64
    }

    /// Whether a tile is needed; all are where nobody says.
    #[inline(always)]
    pub(crate) fn needs(part: Option<&Part>, column: usize, row: usize) -> bool {
        part.is_none_or(|part| part.needed[row * part.n_across + column])
    }
}

/// A row of tiles: where it is in the image, and its part of what is made.
pub(crate) struct Band<'a> {
    /// Which row of tiles.
    pub row: usize,
    /// Its pixels; empty where nobody wants them.
    pub rgb: &'a mut [u8],
    pub depth: &'a mut [f32],
    pub ids: &'a mut [u32],
}

/// Does `work` for every row of tiles on up to `n_threads`. A row belongs to one thread, so which
/// one changes nothing. `room` makes what a thread works with.
pub(crate) fn each_band<R>(
    n_threads: usize,
    (width, height): (usize, usize),
    (rgb, depth, ids): (&mut [u8], &mut [f32], &mut [u32]),
    room: impl Fn() -> R + Sync,
    work: impl Fn(&mut R, Band<'_>) + Sync,
) {
    let n_rows = if width > 0 { height.div_ceil(HEIGHT) } else { 0 };
    let (mut rgb, mut depth, mut ids) = (
        rgb.chunks_mut((width * HEIGHT * 3).max(1)),
        depth.chunks_mut((width * HEIGHT).max(1)),
        ids.chunks_mut((width * HEIGHT).max(1)),
    );
    let bands = (0..n_rows).map(|row| Band {
        row,
        rgb: rgb.next().unwrap_or_default(),
        depth: depth.next().unwrap_or_default(),
        ids: ids.next().unwrap_or_default(),
    });
    if n_threads <= 1 || n_rows <= 1 {
        let mut room = room();
        bands.for_each(|band| work(&mut room, band));
        return;
    }
    let bands: Mutex<std::vec::IntoIter<Band<'_>>> =
        Mutex::new(bands.collect::<Vec<_>>().into_iter());
    std::thread::scope(|scope| {
        for _ in 0..n_threads.min(n_rows) {
            scope.spawn(|| {
                let mut room = room();
                loop {
                    let band = bands.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(band) = band else { break };
                    work(&mut room, band);
                }
            });
        }
    });
}

/// Runs `$body` compiled for the widest vector instructions that this processor has.
macro_rules! wide {
    ($(#[$attribute:meta])* fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block) => {
        $(#[$attribute])*
        #[allow(unsafe_code, reason = "wider instructions are called across a boundary")]
        fn $name($($argument: $kind),*) {
            #[inline(always)]
            fn narrow($($argument: $kind),*) $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn wide($($argument: $kind),*) {
                narrow($($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            if std::is_x86_feature_detected!("avx2") {
                // SAFETY: the line above.
                return unsafe { wide($($argument),*) };
            }
            narrow($($argument),*);
        }
    };
}
pub(crate) use wide;
