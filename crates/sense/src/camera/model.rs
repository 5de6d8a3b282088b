//! What a camera is: its place, its lens, what it shows and how that is written.

use headland_base::{Diagnostic, Seed, Transform};

use super::{Pinhole, View};
use crate::imperfect::{Darkroom, Imperfections, Sun};
use crate::lens::{Lens, Table};
use crate::noise::Noise;
use crate::render::{Frame, Renderer, Wants};
use crate::scene::Scene;

/// A camera that a World declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// The whole name: `robot::head::head_camera`; `robot::head::stereo::left` of one of several.
    pub name: String,
    /// Its own name, of one of several in a sensor.
    pub among: Option<String>,
    /// The link that carries it, in the order of [`headland_world::World::links`].
    pub link_idx: usize,
    /// Where its optical frame is in the link.
    pub link_from_optical: Transform,
    /// What it would see without a lens.
    pub pinhole: Pinhole,
    /// What its lens does.
    pub lens: Lens,
    /// Nothing further from the axis is seen \[rad\].
    pub cutoff: f64,
    /// Nothing nearer or further is seen \[m\].
    pub clip: (f64, f64),
    /// What it shows.
    pub shows: Shows,
    /// How a pixel of colour is written.
    pub format: Format,
    /// How a picture of colour is sent.
    pub coding: Coding,
    /// Who draws for it: a name of [`crate::render::RENDERERS`].
    pub renderer: &'static str,
    /// What is wrong with its pictures.
    pub imperfections: Imperfections,
    /// What is wrong with its depths \[m\].
    pub depth_noise: Noise,
    /// The frame of its messages, where the file names one.
    pub optical_frame_id: Option<String>,
}

/// What a camera shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Colours.
    Colour,
    /// Depths.
    Depth,
    /// Colours, depths and points.
    Both,
    /// The class of what is seen.
    Classes,
    /// Which thing is seen.
    Things,
}

/// How a pixel of colour is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Three bytes.
    Rgb8,
    /// Three bytes, blue first.
    Bgr8,
    /// One byte of brightness.
    Mono8,
    /// Two bytes of brightness.
    Mono16,
    /// One byte, of which colour depends on the place: the names say the first two of the first
    /// row and the first two of the second.
    Bayer([u8; 4]),
}

impl Format {
    /// Every format with SDF's word for it.
    pub const ALL: &[(&str, Format)] = &[
        ("R8G8B8", Format::Rgb8),
        ("RGB_INT8", Format::Rgb8),
        ("B8G8R8", Format::Bgr8),
        ("BGR_INT8", Format::Bgr8),
        ("L8", Format::Mono8),
        ("L_INT8", Format::Mono8),
        ("L16", Format::Mono16),
        ("L_INT16", Format::Mono16),
        ("BAYER_RGGB8", Format::Bayer([0, 1, 1, 2])),
        ("BAYER_BGGR8", Format::Bayer([2, 1, 1, 0])),
        ("BAYER_GBRG8", Format::Bayer([1, 2, 0, 1])),
        ("BAYER_GRBG8", Format::Bayer([1, 0, 2, 1])),
    ];
}

/// How a picture of colour is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// As it is.
    Raw,
    /// As a PNG: the same, smaller and slower.
    Png,
    /// As a JPEG of a quality from 1 to 100: nearly the same, much smaller.
    Jpeg(u8),
}

/// From which share of the nearest depth on things are seen, so that they are too near.
const TOO_NEAR: f64 = 1e-3;

impl Camera {
    /// The camera where its link is now.
    pub fn view(&self, world_from_link: &[Transform]) -> View {
        self.view_on(world_from_link[self.link_idx])
    }

    /// The camera on its link.
    pub fn view_on(&self, world_from_link: Transform) -> View {
        // Of one that measures depths, what is too near is seen: it hides what is behind it.
        let near = match self.shows {
            Shows::Depth | Shows::Both => self.clip.0 * TOO_NEAR,
            _ => self.clip.0,
        };
        View {
            pinhole: self.pinhole,
            world_from_optical: world_from_link * self.link_from_optical,
            near,
            far: self.clip.1,
        }
    }

    /// How its lens makes pictures; says so where it shows nothing.
    pub fn table(&self) -> Result<Table, Diagnostic> {
        Table::within(&self.pinhole, &self.lens, self.cutoff)
    }

    /// What is wrong with its pictures, drawn from the seed of its sensor; nothing where they are
    /// perfect.
    pub fn darkroom(&self, sensor: &Seed) -> Option<Darkroom> {
        let Pinhole { width, height, .. } = self.pinhole;
        let wrong = &self.imperfections;
        let seed = self.seed(sensor);
        wrong.changes_pictures().then(|| Darkroom::new(wrong, (width, height), &seed))
    }

    /// Its own seed, of that of its sensor.
    pub(crate) fn seed(&self, sensor: &Seed) -> Seed {
        sensor.child(&self.prefix())
    }

    /// What stands before its topics.
    pub(crate) fn prefix(&self) -> String {
        self.among.as_ref().map_or_else(String::new, |own| format!("/{own}"))
    }

    /// The whole name of its sensor.
    pub fn sensor_name(&self) -> &str {
        let own = self.among.as_deref().and_then(|own| self.name.strip_suffix(own));
        own.map_or(&self.name, |sensor| sensor.trim_end_matches(':'))
    }

    /// Takes a picture, with all that is wrong with it. `place` moves the scene to where it is so
    /// many seconds after the look.
    pub fn take(
        &self,
        (table, darkroom): (&Table, Option<&mut Darkroom>),
        renderer: &mut dyn Renderer,
        scene: &mut Scene,
        wants: Wants,
        place: &mut dyn FnMut(&mut Scene, f64),
    ) -> Frame {
        let mut view_at = |scene: &mut Scene, secs: f64| {
            place(scene, secs);
            self.view(scene.world_from_link())
        };
        let shutter = self.imperfections.shutter;
        let mut frame = shutter.take(table, renderer, scene, wants, &mut view_at);
        if let Some(darkroom) = darkroom.filter(|_| wants.colour) {
            // A shutter that took its time left the scene where it was then.
            let view = view_at(scene, 0.0);
            let sun = Sun::seen(scene, &view, &self.lens);
            darkroom.develop(&mut frame.rgb, sun);
        }
        frame
    }
}

/// Types of sensors that take pictures, each with all its words, and what those show.
pub(crate) const TYPES: [(&[&str], Shows); 6] = [
    (&["camera"], Shows::Colour),
    (&["depth_camera", "depth"], Shows::Depth),
    (&["rgbd_camera", "rgbd"], Shows::Both),
    (&["segmentation_camera", "segmentation"], Shows::Classes),
    (&["multicamera"], Shows::Colour),
    (&["wideanglecamera", "wide_angle_camera"], Shows::Colour),
];

/// What a sensor of a type shows; nothing where it takes no pictures.
pub(crate) fn shows(word: &str) -> Option<Shows> {
    TYPES.iter().find(|(words, _)| words.contains(&word)).map(|(_, shows)| *shows)
}
