//! Patches sorted into tiles, and tiles shared out to threads.

use std::sync::{Mutex, PoisonError};

use super::bent::Bent;
use super::project::{Canvas, Patch, Scratch};
use super::tile::{self, Grid, HEIGHT, WIDTH};
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
    /// Starts a frame with the items asked for, in the order given; through a lens where there is
    /// one.
    pub fn fill(
        &mut self,
        scene: &Scene,
        canvas: &Canvas,
        bent: Option<&Bent>,
        items: impl Iterator<Item = usize>,
    ) {
        self.patches.clear();
        for item_idx in items {
            canvas.add(scene, item_idx, &mut self.scratch, &mut self.patches);
        }
        let (width, height) = bent.map_or((canvas.width, canvas.height), Bent::size);
        self.n_across = width.div_ceil(WIDTH);
        let n_tiles = self.n_across * height.div_ceil(HEIGHT);
        self.bins.resize_with(n_tiles, Vec::new);
        self.bins.iter_mut().for_each(Vec::clear);
        for (i, patch) in self.patches.iter().enumerate() {
            if let Some(bent) = bent {
                bent.tiles_of(patch).for_each(|tile| self.bins[tile].push(i as u32));
                continue;
            }
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
    pub fn of_tile<'a>(
        &'a self,
        column: usize,
        row: usize,
        grid: Grid<'a>,
    ) -> impl Iterator<Item = (u32, &'a Patch, tile::Area)> {
        self.bins[row * self.n_across + column].iter().filter_map(move |i| {
            let patch = &self.patches[*i as usize];
            let area = match grid {
                Grid::Even { u, v } => tile::area(patch, u as i32, v as i32),
                Grid::Bent(tile) => tile.area(patch),
            };
            Some((*i, patch, area?))
        })
    }

    /// Whether nothing touches a tile.
    pub fn is_empty(&self, column: usize, row: usize) -> bool {
        self.bins[row * self.n_across + column].is_empty()
    }
}

/// Where the samples of a tile are; nowhere where no pixel of it looks anywhere.
#[inline(always)]
pub(crate) fn grid(bent: Option<&Bent>, column: usize, row: usize) -> Option<Grid<'_>> {
    match bent {
        None => Some(Grid::Even { u: column * WIDTH, v: row * HEIGHT }),
        Some(bent) => bent.tile(column, row).map(Grid::Bent),
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
