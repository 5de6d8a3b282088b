//! A camera with film in it: it takes one picture after the other, with all that is wrong with
//! each, and shows them to people.
//!
//! What a run records and what `headland render` shows are taken here, so they are the same. The
//! noise of a picture is drawn from its moment, so that one can be shown without those before it;
//! only a bias of depths that wanders is that of a run.

use headland_base::{Seed, SimTime};
use headland_world::World;

use super::labels::{self, Labels};
use super::{Camera, Format, Shows};
use crate::image::Image;
use crate::imperfect::Darkroom;
use crate::lens::Table;
use crate::mounted::Since;
use crate::noise::Channel;
use crate::render::{Frame, Renderer, Wants};
use crate::scene::Scene;

/// How bright the nearest depth that a camera sees is, and the furthest. What is black is nothing.
const BRIGHTEST: f64 = 255.0;
const DARKEST: f64 = 32.0;

/// The colour of a depth that dropped out: no grey is like it.
const LOST: [u8; 3] = [255, 0, 0];

/// A camera that takes pictures.
pub struct Film {
    /// Whose.
    pub camera: Camera,
    /// Made for the first picture: one that nobody takes costs nothing.
    table: Option<Table>,
    darkroom: Option<Darkroom>,
    depth_noise: Option<Channel>,
    depth_seed: Seed,
    since: Since,
    labels: Option<Labels>,
}

impl Film {
    /// Of a camera whose lens was checked, [`Table::check`]; perfect until it is started.
    pub fn new(camera: Camera) -> Film {
        let (table, darkroom, depth_noise, labels) = (None, None, None, None);
        let (depth_seed, since) = (Seed::new(0), Since::default());
        Film { camera, table, darkroom, depth_noise, depth_seed, since, labels }
    }

    /// Begins anew: all chance comes from the seed of its sensor.
    pub fn start(&mut self, sensor: &Seed) {
        let (camera, wants) = (&self.camera, self.wants());
        self.darkroom = camera.darkroom(sensor).filter(|_| wants.colour);
        let noise = camera.depth_noise;
        let is_noisy = wants.depth && !noise.is_none();
        self.depth_seed = camera.seed(sensor).child("depth");
        self.depth_noise = is_noisy.then(|| noise.channel(&self.depth_seed));
        self.since = Since::default();
    }

    /// What its frames hold.
    pub fn wants(&self) -> Wants {
        let shows = self.camera.shows;
        Wants {
            colour: matches!(shows, Shows::Colour | Shows::Both),
            depth: matches!(shows, Shows::Depth | Shows::Both),
            ids: matches!(shows, Shows::Classes | Shows::Things),
        }
    }

    /// Takes a picture at a moment. `place` moves the scene to where it is so many seconds after it.
    pub fn take(
        &mut self,
        (world, time): (&World, SimTime),
        renderer: &mut dyn Renderer,
        scene: &mut Scene,
        place: &mut dyn FnMut(&mut Scene, f64),
    ) -> Frame {
        let wants = self.wants();
        if wants.ids && self.labels.is_none() {
            self.labels = Some(match self.camera.shows {
                Shows::Things => Labels::things(scene),
                _ => Labels::classes(world, scene),
            });
        }
        let camera = &self.camera;
        let table =
            self.table.get_or_insert_with(|| camera.table().expect("a lens that was checked"));
        if let Some(darkroom) = &mut self.darkroom {
            darkroom.turn_to(time);
        }
        let film = (&*table, self.darkroom.as_mut());
        let mut frame = camera.take(film, renderer, scene, wants, place);
        self.spoil(time, &mut frame.depth);
        let (near, far) = self.camera.clip;
        for depth in &mut frame.depth {
            // As REP 117 has it. What is no number stays none.
            if f64::from(*depth) < near {
                *depth = f32::NEG_INFINITY;
            } else if f64::from(*depth) > far {
                *depth = f32::INFINITY;
            }
        }
        frame
    }

    /// Gives depths their noise.
    fn spoil(&mut self, time: SimTime, depths: &mut [f32]) {
        let Some(noise) = &mut self.depth_noise else { return };
        noise.turn_to(&self.depth_seed.child(&time.nanos().to_string()));
        let mut dt_secs = self.since.secs(time);
        for depth in depths {
            // As many numbers whatever is seen; a bias wanders once a picture.
            let said = noise.read(f64::from(*depth), dt_secs);
            dt_secs = 0.0;
            if depth.is_finite() {
                *depth = said.map_or(f32::NAN, |said| said as f32);
            }
        }
    }

    /// The labels of a frame, one a pixel.
    pub fn labels(&self, frame: &Frame) -> Vec<u16> {
        let of = |id: &u32| self.labels.as_ref().map_or(0, |labels| labels.of(*id));
        frame.ids.iter().map(of).collect()
    }

    /// A frame for people: colours, grey where its format has none, depths by
    /// [`depth_colour`] and labels each in a colour; what it shows of several kinds, each.
    pub fn images(&self, frame: Frame) -> Vec<Image> {
        let (width, height) = (frame.width, frame.height);
        let image = |rgb: Vec<u8>| Image { width, height, rgb };
        let depths = || {
            let pixels =
                frame.depth.iter().flat_map(|depth| depth_colour(*depth, self.camera.clip));
            image(pixels.collect())
        };
        match self.camera.shows {
            Shows::Depth => vec![depths()],
            Shows::Both => {
                let depths = depths();
                vec![seen_by(self.camera.format, frame.into_image()), depths]
            }
            Shows::Classes | Shows::Things => {
                let labels = self.labels(&frame);
                vec![image(labels.into_iter().flat_map(labels::colour).collect())]
            }
            Shows::Colour => vec![seen_by(self.camera.format, frame.into_image())],
        }
    }
}

/// How a depth is shown to people \[m\]: grey, the nearer the brighter, from white at the nearest
/// that the camera sees to dark at the furthest. By the logarithm, so that a tenth more is as
/// many greys near as far. Black where nothing is, red where it dropped out.
pub fn depth_colour(depth: f32, (near, far): (f64, f64)) -> [u8; 3] {
    if depth.is_nan() {
        return LOST;
    }
    if depth == f32::INFINITY {
        return [0; 3];
    }
    // Too near is as near as can be.
    let depth = f64::from(depth).clamp(near, far);
    let log = headland_base::maths::log;
    let share = log(depth / near) / log(far / near);
    [(BRIGHTEST + (DARKEST - BRIGHTEST) * share + 0.5) as u8; 3]
}

/// Grey where the format has no colours.
fn seen_by(format: Format, mut picture: Image) -> Image {
    if matches!(format, Format::Mono8 | Format::Mono16) {
        for pixel in picture.rgb.as_chunks_mut::<3>().0 {
            *pixel = [((grey(pixel) + 0x8000) >> 16) as u8; 3];
        }
    }
    picture
}

/// The brightness of a pixel, of 65536 times 255: weights of Rec. 601.
pub(super) fn grey([r, g, b]: &[u8; 3]) -> u32 {
    19_595 * u32::from(*r) + 38_470 * u32::from(*g) + 7_471 * u32::from(*b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearer_is_brighter_and_nothing_is_black() {
        let clip = (0.2, 6.0);
        let of = |depth: f32| depth_colour(depth, clip)[0];
        assert_eq!((of(0.2), of(6.0), of(f32::INFINITY)), (255, 32, 0));
        assert_eq!((of(f32::NEG_INFINITY), of(0.0), of(9.0)), (255, 255, 32), "beyond its clip");
        assert_eq!(depth_colour(f32::NAN, clip), LOST);
        // Halves are as far apart near as far; 223 greys are log2(30) = 4.907 halves.
        for depth in [0.4, 1.0, 2.3] {
            let step = f64::from(of(depth)) - f64::from(of(2.0 * depth));
            assert!((step - 223.0 / 4.907).abs() <= 1.0, "{depth}: {step}");
        }
    }
}
