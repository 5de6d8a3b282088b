//! `flat`: plain colours, ids and depths; no light, no shadow, one sample a pixel.

use super::exact;
use super::tiles::Bins;
use super::{Bent, Frame, Renderer, Wants};
use crate::camera::View;
use crate::scene::Scene;

/// Behind everything: a light grey blue.
const BACKGROUND: [u8; 3] = [205, 217, 230];

/// The fastest renderer.
pub struct Flat {
    n_threads: usize,
    bins: Bins,
}

impl Flat {
    /// On up to so many threads.
    pub fn new(n_threads: usize) -> Flat {
        Flat { n_threads, bins: Bins::default() }
    }
}

impl Renderer for Flat {
    fn render_bent(
        &mut self,
        scene: &Scene,
        view: &View,
        wants: Wants,
        bent: Option<&Bent>,
    ) -> Frame {
        let how = exact::How { n_threads: self.n_threads, wants, background: BACKGROUND, bent };
        exact::draw(&mut self.bins, scene, view, how)
    }
}
