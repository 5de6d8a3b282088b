//! What is wrong with pictures: a perfect frame goes in, what a real camera would have made of it
//! comes out.
//!
//! ```text
//! scene ─ shutter: motion blur, rolling shutter ─► frame
//! frame ─ lens: drops, leaf, dirt, defocus, glare, flare
//!       ─ sensor: exposure, low contrast, noise, Bayer mosaic ─► bytes ─ JPEG ─► picture
//! ```
//!
//! Every knob is a number of which 0 is off, changes nothing then, and draws from a seed of its
//! own name, so that turning one shifts no other. What sticks to the lens is drawn once, before
//! the run; noise is drawn for every picture.

mod darkroom;
mod lens;
mod sensor;

use crate::camera::Shutter;
use crate::declare::element::Element;

pub use darkroom::{Darkroom, Sun};

/// What is wrong with the pictures of a camera. The default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Imperfections {
    /// Motion blur and rolling shutter.
    pub shutter: Shutter,
    /// Standard deviation of the noise of every sample, as a share of full scale. None of a camera
    /// that shows depths alone: there it is noise of depths, in metres.
    pub noise: f64,
    /// Its mean, likewise.
    pub noise_mean: f64,
    /// Stops above (or, negative, below) the right exposure: +1 is twice the light.
    pub exposure: f64,
    /// Share of the contrast that is lost towards grey, 0 to 1.
    pub low_contrast: f64,
    /// Standard deviation of the blur of a lens that is out of focus \[pixels\].
    pub defocus: f64,
    /// Share of the light that is scattered around where it should fall, 0 to 1.
    pub glare: f64,
    /// Strength of the spots and the halo that the sun makes in the lens, 0 to 1.
    pub flare: f64,
    /// Drops of water on the lens.
    pub drops: f64,
    /// Share of the light that dirt on the lens takes away, 0 to 1.
    pub dirt: f64,
    /// Share of the picture that a leaf hides, 0 to 1.
    pub leaf: f64,
    /// 1: every pixel measures one colour, and the others are guessed from its neighbours.
    pub bayer: f64,
    /// Quality of the JPEG that the picture went through, 1 to 100; 0 is none.
    pub jpeg: f64,
}

/// A knob: its name in files, the least and the most it may be, and where it is kept.
type Knob = (&'static str, f64, f64, fn(&mut Imperfections) -> &mut f64);

/// Every knob, in the order light meets them. Shares go up to 1, a quality as JPEG counts it; of the
/// others the most is where nothing more is seen: 20 stops are white or black, noise of ten times
/// full scale is nothing else, a blur of 100 pixels is grey, and nobody keeps a shutter open for
/// longer than 10 s. Dirt that takes more than 0.9 of the light is a lid.
pub const KNOBS: &[Knob] = &[
    ("motion_blur", 0.0, 10.0, |all| &mut all.shutter.exposure_secs),
    ("rolling_shutter", 0.0, 10.0, |all| &mut all.shutter.readout_secs),
    ("drops", 0.0, 1000.0, |all| &mut all.drops),
    ("leaf", 0.0, 1.0, |all| &mut all.leaf),
    ("dirt", 0.0, 0.9, |all| &mut all.dirt),
    ("defocus", 0.0, 100.0, |all| &mut all.defocus),
    ("glare", 0.0, 1.0, |all| &mut all.glare),
    ("flare", 0.0, 1.0, |all| &mut all.flare),
    ("exposure", -20.0, 20.0, |all| &mut all.exposure),
    ("low_contrast", 0.0, 1.0, |all| &mut all.low_contrast),
    ("noise", 0.0, 10.0, |all| &mut all.noise),
    ("bayer", 0.0, 1.0, |all| &mut all.bayer),
    ("jpeg", 0.0, 100.0, |all| &mut all.jpeg),
];

impl Imperfections {
    /// Of the `<headland:imperfections>` in an element; what is wrong is said.
    pub fn read(element: Element<'_>) -> Imperfections {
        let mut out = Imperfections::default();
        let Some(all) = element.child("headland:imperfections") else { return out };
        let mut names: Vec<&str> = KNOBS.iter().map(|(name, ..)| *name).collect();
        names.push("motion_blur_samples");
        all.only(&names);
        for (name, least, most, knob) in KNOBS {
            let wanted = format!("from {least} to {most}");
            *knob(&mut out) =
                all.number_that(name, 0.0, &wanted, |value| (*least..=*most).contains(&value));
        }
        let is_whole = |n: f64| (0.0..=256.0).contains(&n) && n.fract() == 0.0;
        let wanted = "a whole number up to 256; 0 chooses";
        let samples = all.number_that("motion_blur_samples", 0.0, wanted, is_whole);
        out.shutter.n_samples = samples as usize;
        out
    }

    /// Whether a picture of one moment is changed.
    pub fn changes_pictures(&self) -> bool {
        let instant = Imperfections { shutter: Shutter::default(), ..*self };
        instant != Imperfections::default()
    }
}
