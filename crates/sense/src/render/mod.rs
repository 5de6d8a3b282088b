//! Renderers: a scene and a view go in, a frame comes out.
//!
//! ```text
//! scene, view ─ project ─► patches ─ bins by tile ─► tile by tile, on all threads:
//!     nearest patch of every sample ─► ids, depth
//!                                   └► colours: light, shadow, sky, several samples a pixel
//! ```
//!
//! The frame does not depend on the number of threads, nor on how wide the processor's vector
//! instructions are. Start reading at [`Renderer`]; `project` has the formulas.

pub(crate) mod bent;
mod exact;
mod flat;
#[cfg(feature = "wgpu")]
mod gpu;
mod linear;
mod project;
mod raster;
mod shade;
mod shadow;
mod tile;
pub(crate) mod tiles;

use headland_base::Diagnostic;

use crate::camera::View;
use crate::image::Image;
use crate::scene::Scene;

pub use bent::Bent;
pub use flat::Flat;
#[cfg(feature = "wgpu")]
pub use gpu::Gpu;
pub use raster::Raster;
pub use shade::Daylight;

/// What a frame should hold; what nobody wants costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// Colours.
    pub colour: bool,
    /// Depths along the optical axis.
    pub depth: bool,
    /// Which item is seen.
    pub ids: bool,
}

impl Wants {
    /// Colours alone.
    pub const COLOUR: Wants = Wants { colour: true, depth: false, ids: false };
    /// All there is.
    pub const ALL: Wants = Wants { colour: true, depth: true, ids: true };
}

/// In [`Frame::ids`]: nothing is seen there.
pub const NO_ITEM: u32 = u32::MAX;

/// What a camera saw at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Pixels along a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green, blue of every pixel; empty where nobody wants them.
    pub rgb: Vec<u8>,
    /// Distance along the optical axis at every pixel's centre \[m\]; infinite where nothing is
    /// seen. Empty where nobody wants it. What is less than half opaque is looked through.
    pub depth: Vec<f32>,
    /// Which item of the scene is seen at every pixel's centre, or [`NO_ITEM`].
    pub ids: Vec<u32>,
}

impl Frame {
    /// Black, with nothing in it.
    pub fn empty(width: usize, height: usize, wants: Wants) -> Frame {
        let n = |is_wanted: bool| if is_wanted { width * height } else { 0 };
        Frame {
            width,
            height,
            rgb: vec![0; n(wants.colour) * 3],
            depth: vec![f32::INFINITY; n(wants.depth)],
            ids: vec![NO_ITEM; n(wants.ids)],
        }
    }

    /// Puts rows of another frame into this one.
    pub(crate) fn put(&mut self, rows: std::ops::Range<usize>, slice: &Frame) {
        let at = rows.start * self.width..rows.end * self.width;
        if !self.rgb.is_empty() {
            self.rgb[at.start * 3..at.end * 3].copy_from_slice(&slice.rgb);
        }
        if !self.depth.is_empty() {
            self.depth[at.clone()].copy_from_slice(&slice.depth);
        }
        if !self.ids.is_empty() {
            self.ids[at].copy_from_slice(&slice.ids);
        }
    }

    /// Its colours as a picture.
    pub fn into_image(self) -> Image {
        Image { width: self.width, height: self.height, rgb: self.rgb }
    }
}

/// One way to draw.
///
/// It keeps room to work in and nothing else: what was drawn before changes nothing. A view of
/// no pixels gives a frame of none.
pub trait Renderer: Send {
    /// Draws.
    fn render(&mut self, scene: &Scene, view: &View, wants: Wants) -> Frame {
        self.render_bent(scene, view, wants, None)
    }

    /// Draws an image each pixel of which looks where it is said to in the pinhole's picture, as
    /// through a lens; what looks nowhere is black, without depth and id.
    fn render_bent(
        &mut self,
        scene: &Scene,
        view: &View,
        wants: Wants,
        bent: Option<&Bent>,
    ) -> Frame;

    /// What it draws on, where that is not the processor: its pictures may differ by it.
    fn machine(&self) -> Option<&str> {
        None
    }

    /// What was worth a word about how it drew since the last call: that another had to do it.
    fn take_findings(&mut self) -> Vec<Diagnostic> {
        Vec::new()
    }
}

/// Makes a renderer that uses up to so many threads; says in words why this machine has none.
pub type MakeRenderer = fn(n_threads: usize) -> Result<Box<dyn Renderer>, Diagnostic>;

/// Every renderer there is with what it is for, in the order help lists them.
pub const RENDERERS: &[(&str, &str, MakeRenderer)] = &[
    ("raster", "light, shadows, sky, smooth edges", |n| Ok(Box::new(Raster::new(n)))),
    ("flat", "plain colours, the fastest", |n| Ok(Box::new(Flat::new(n)))),
    ("wgpu", "what raster shows, by a GPU; only in builds with the feature `wgpu`", on_gpu),
];

/// The renderer of a name.
pub fn renderer(name: &str, n_threads: usize) -> Result<Box<dyn Renderer>, Diagnostic> {
    match RENDERERS.iter().find(|(known, _, _)| *known == name) {
        Some((_, _, make)) => make(n_threads),
        None => Err(no_renderer(format!("no renderer is called `{name:.40}`"))),
    }
}

fn no_renderer(why: String) -> Diagnostic {
    Diagnostic::error("no-renderer", why).help("say `raster`, which draws on any machine")
}

#[cfg(feature = "wgpu")]
fn on_gpu(n_threads: usize) -> Result<Box<dyn Renderer>, Diagnostic> {
    let no_gpu = |why| no_renderer(format!("the renderer `wgpu` finds no GPU: {why}"));
    Ok(Box::new(Gpu::new(n_threads).map_err(no_gpu)?))
}

#[cfg(not(feature = "wgpu"))]
fn on_gpu(_: usize) -> Result<Box<dyn Renderer>, Diagnostic> {
    let why = "the renderer `wgpu` is not in this build: cargo's feature `wgpu` was off";
    Err(no_renderer(why.to_string()))
}
