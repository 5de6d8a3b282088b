//! The darkroom: one frame after the other goes in and is made imperfect.

use headland_base::maths::Vec2;
use headland_base::{Seed, SimTime};

use super::Imperfections;
use super::lens::{Drop, Veil, blur, dirt, drops, flare, glare, leaf, refract};
use super::sensor::{Grain, demosaic, expose, fade};
use crate::camera::View;
use crate::jpeg;
use crate::lens::Lens;
use crate::render::Daylight;
use crate::scene::{Ray, Scene};

/// Where the sun is in a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Its pixel, maybe outside of the picture.
    pub pixel: Vec2,
    /// Its colour, 0 to 1.
    pub colour: [f32; 3],
}

impl Sun {
    /// The sun of a scene as a camera sees it; none where it is behind, or something is before it.
    pub fn seen(scene: &Scene, view: &View, lens: &Lens) -> Option<Sun> {
        let light = Daylight::of(scene);
        let to_sun = -light.direction;
        let in_optical = view.world_from_optical.rotation.conjugate() * to_sun;
        let pixel = view.pinhole.pixel(lens.project(in_optical)?);
        let ray = Ray { min: view.near, ..Ray::new(view.world_from_optical.translation, to_sun) };
        let is_hidden = scene.cast_where(&ray, |i| scene.items()[i].look.opacity > 0.5).is_some();
        (!is_hidden).then_some(Sun { pixel, colour: light.sun.map(|c| c.clamp(0.0, 1.0)) })
    }
}

/// Makes the pictures of one camera imperfect.
pub struct Darkroom {
    how: Imperfections,
    width: usize,
    height: usize,
    drops: Vec<Drop>,
    leaf: Option<Veil>,
    dirt: Option<Veil>,
    grain: Grain,
    grain_seed: Seed,
    /// The picture in numbers from 0 to 255, kept from frame to frame.
    light: Vec<f32>,
}

impl Darkroom {
    /// For pictures of a size. What sticks to the lens is drawn now.
    pub fn new(how: &Imperfections, (width, height): (usize, usize), seed: &Seed) -> Darkroom {
        let size = (width, height);
        Darkroom {
            how: *how,
            width,
            height,
            drops: drops(how.drops as usize, size, &seed.child("drops")),
            leaf: (how.leaf > 0.0).then(|| leaf(how.leaf, size, &seed.child("leaf"))),
            dirt: (how.dirt > 0.0).then(|| dirt(how.dirt, size, &seed.child("dirt"))),
            grain: Grain::new(&seed.child("noise")),
            grain_seed: seed.child("noise"),
            light: Vec::new(),
        }
    }

    /// The noise of the next picture is that of a moment, whatever was taken before.
    pub fn turn_to(&mut self, time: SimTime) {
        self.grain = Grain::new(&self.grain_seed.child(&time.nanos().to_string()));
    }

    /// Changes a picture: red, green and blue bytes, row by row.
    pub fn develop(&mut self, rgb: &mut [u8], sun: Option<Sun>) {
        let (how, size) = (self.how, (self.width, self.height));
        if size.0 * size.1 == 0 {
            return;
        }
        let is_analogue = Imperfections { jpeg: 0.0, ..how }.changes_pictures();
        if is_analogue {
            let light = &mut self.light;
            light.clear();
            light.extend(rgb.iter().map(|byte| f32::from(*byte)));
            refract(&self.drops, light, size);
            self.leaf.iter().chain(&self.dirt).for_each(|veil| veil.lay_over(light));
            blur(light, size, how.defocus);
            glare(light, size, how.glare as f32);
            flare(light, size, how.flare as f32, sun);
            expose(light, how.exposure);
            fade(light, how.low_contrast as f32);
            self.grain.add(light, how.noise, how.noise_mean);
            if how.bayer > 0.0 {
                demosaic(light, size);
            }
            // Half a grey level up, so that what is cut off is rounded.
            rgb.iter_mut().zip(light).for_each(|(byte, value)| *byte = (*value + 0.5) as u8);
        }
        if how.jpeg > 0.0 {
            jpeg::coarsen(rgb, size, how.jpeg as u8);
        }
    }
}
