//! Cameras in a run: what a camera sees, at its own rate, as the messages ROS has for it.
//!
//! | shows | topics behind the sensor's own | messages |
//! |---|---|---|
//! | colours | `/image_raw`, or `/image_raw/compressed` | Image, or CompressedImage |
//! | depths | `/depth/image_raw` | Image, `32FC1`, +∞ where nothing is |
//! | points | `/points` | PointCloud2, one point a pixel |
//! | labels | `/labels_map`, `/colored_map` | Image, `16UC1` and `rgb8` |
//! | every one | `/camera_info` | CameraInfo |
//!
//! Of several cameras in one sensor, the name of each stands before: `/left/image_raw`. What a
//! camera sees are the visuals; its own body's too, from outside.

use headland_base::maths::Vec2;
use headland_base::{Diagnostic, Seed, Vec3};
use headland_record::messages::{
    self, CameraInfo, CompressedImage, Header, Kind as Message, PointCloud2, PointField, encode,
    encode_with_data,
};
use headland_sim::{Look, Model};

use super::film::{Film, grey};
use super::labels;
use super::model::TYPES;
use super::read::cameras_of;
use super::shutter::poses_after;
use super::{Camera, Coding, Format, Pinhole, Shows, camera_info};
use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::image::Image;
use crate::jpeg;
use crate::lens::Table;
use crate::mounted::Measure;
use crate::render::{Frame, RENDERERS, Renderer, renderer};
use crate::scene::{Scene, SharedScene, Show};

const fn kind(i: usize) -> Kind {
    Kind { words: TYPES[i].0, on: On::Link, elements: &["camera"], read }
}

/// The kinds, as [`TYPES`] lists them.
pub(crate) const KINDS: [Kind; TYPES.len()] =
    [kind(0), kind(1), kind(2), kind(3), kind(4), kind(5)];

/// One camera of a sensor, ready to look.
struct Eye {
    film: Film,
    /// Where its pixels look, of one that makes points; made for the first picture.
    directions: Option<Vec<Vec3>>,
    /// Of its messages.
    frame_id: String,
    info: CameraInfo,
}

struct Cameras {
    eyes: Vec<Eye>,
    /// The scene of all sensors of the run.
    scene: SharedScene,
    renderers: Vec<Box<dyn Renderer>>,
    /// Who draws on what, where that may make other pictures than on another machine.
    drawn_by: Option<String>,
}

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    // Where the sensor is in its link.
    let body = &site.model.bodies[site.mount.body_idx];
    let link_from_sensor = body.rigid_from_body.inverse() * site.mount.rigid_from_sensor;
    let cameras = cameras_of(element, site.name, site.mount.body_idx, link_from_sensor);
    let mut drawn_by = None;
    for node in element.children("camera") {
        // In a run each camera draws by its own.
        let said = node.child("headland:renderer");
        let is_it = |said: &Element<'_>, name: &str| name.eq_ignore_ascii_case(said.text());
        let named = said.and_then(|said| RENDERERS.iter().find(|(name, ..)| is_it(&said, name)));
        if let (Some(said), Some((name, _, make))) = (said, named) {
            match make(1) {
                Ok(made) => {
                    let on = made.machine().map(|machine| format!("drawn by {name} on {machine}"));
                    drawn_by = drawn_by.or(on);
                }
                Err(why) => element.add(vec![why.at_maybe(said.place())]),
            }
        }
    }
    let baselines = baselines(element, &cameras);
    if cameras.iter().any(|camera| camera.shows == Shows::Classes) {
        element.add(labels::bad_labels(&site.model.world, site.places));
    }
    let mut eyes = Vec::new();
    for (camera, baseline) in cameras.into_iter().zip(baselines) {
        if let Err(fault) = Table::check(&camera.pinhole, &camera.lens, camera.cutoff) {
            element.fault(fault.message, fault.help);
            continue;
        }
        let frame_id = camera
            .optical_frame_id
            .clone()
            .unwrap_or_else(|| format!("{}{}_optical", site.mount.frame_id, camera.prefix()));
        let info = camera_info(&camera.pinhole, &camera.lens, baseline);
        eyes.push(Eye { film: Film::new(camera), directions: None, frame_id, info });
    }
    let scene = site.scene.clone();
    (!eyes.is_empty())
        .then(|| Cameras { eyes, scene, renderers: Vec::new(), drawn_by })
        .map(|cameras| Box::new(cameras) as Box<dyn Measure>)
}

/// How far each camera stands to the right of the leftmost \[m\], whatever their order; 0 of one
/// that cannot be compared with the first row by row, which is said.
fn baselines(element: Element<'_>, cameras: &[Camera]) -> Vec<f64> {
    let Some(first) = cameras.first() else { return Vec::new() };
    let aside = |camera: &Camera| {
        let first_from_it = first.link_from_optical.inverse() * camera.link_from_optical;
        let to = first_from_it.translation;
        let turn = first_from_it.rotation.xyz().length();
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
        let (a, b) = (&first.pinhole, &camera.pinhole);
        let why = if (a.width, a.height) != (b.width, b.height) {
            "its image is of another size"
        } else if !(same(a.focal.x, b.focal.x) && same(a.focal.y, b.focal.y)) {
            "its focal lengths are others"
        } else if turn > 1e-9 {
            "it looks another way"
        } else if to.y.abs() > 1e-9 || to.z.abs() > 1e-9 {
            "it does not stand beside it along its rows"
        } else {
            return Some(to.x);
        };
        let message = format!(
            "camera `{}` makes no pair with `{}`: {why}; P of its CameraInfo is that of a camera \
             alone",
            camera.name, first.name
        );
        element.warn(message, None);
        None
    };
    let all: Vec<Option<f64>> = cameras.iter().map(aside).collect();
    let leftmost = all.iter().flatten().copied().fold(0.0, f64::min);
    all.into_iter().map(|x| x.map_or(0.0, |x| x - leftmost)).collect()
}

impl Eye {
    fn outputs(&self) -> Vec<(String, Message)> {
        let camera = &self.film.camera;
        let colour = match camera.coding {
            Coding::Raw => ("/image_raw", Message::Image),
            _ => ("/image_raw/compressed", Message::CompressedImage),
        };
        let depth = ("/depth/image_raw", Message::Image);
        let info = ("/camera_info", Message::CameraInfo);
        let all = match camera.shows {
            Shows::Colour => vec![colour, info],
            Shows::Depth => vec![depth, info],
            Shows::Both => vec![colour, info, depth, ("/points", Message::PointCloud2)],
            Shows::Classes | Shows::Things => {
                vec![("/labels_map", Message::Image), info, ("/colored_map", Message::Image)]
            }
        };
        let prefix = camera.prefix();
        all.into_iter().map(|(behind, kind)| (format!("{prefix}{behind}"), kind)).collect()
    }

    /// Takes a picture, with all that is wrong with it.
    fn take(&mut self, look: &Look<'_>, scene: &mut Scene, renderer: &mut dyn Renderer) -> Frame {
        let is_instant = self.film.camera.imperfections.shutter.is_instant();
        let mut place = |scene: &mut Scene, secs: f64| {
            if !is_instant {
                scene.place(&poses_after(look.model, look.state, secs));
            }
        };
        let moment = (&*look.model.world, look.state.time);
        self.film.take(moment, renderer, scene, &mut place)
    }

    /// What it says of a frame, in the order of its outputs.
    fn messages(&mut self, header: &Header, frame: Frame) -> Vec<Vec<u8>> {
        let info = encode(&CameraInfo { header: header.clone(), ..self.info.clone() });
        let depth = |frame: &Frame| {
            let bytes: Vec<u8> = frame.depth.iter().flat_map(|depth| depth.to_le_bytes()).collect();
            image(header, (frame.width, frame.height), "32FC1", 4, &bytes)
        };
        match self.film.camera.shows {
            Shows::Colour => vec![self.colours(header, frame), info],
            Shows::Depth => vec![depth(&frame), info],
            Shows::Both => {
                let depth = depth(&frame);
                let camera = &self.film.camera;
                let directions = self.directions.get_or_insert_with(|| directions(camera));
                let points = points(header, directions, &frame);
                vec![self.colours(header, frame), info, depth, points]
            }
            Shows::Classes | Shows::Things => {
                let labels = self.film.labels(&frame);
                let bytes: Vec<u8> = labels.iter().flat_map(|label| label.to_le_bytes()).collect();
                let coloured: Vec<u8> = labels.iter().flat_map(|l| labels::colour(*l)).collect();
                let size = (frame.width, frame.height);
                let numbers = image(header, size, "16UC1", 2, &bytes);
                vec![numbers, info, image(header, size, "rgb8", 3, &coloured)]
            }
        }
    }

    fn colours(&mut self, header: &Header, frame: Frame) -> Vec<u8> {
        let picture = frame.into_image();
        let compressed = |format: &str, data: &[u8]| {
            let format = format.to_string();
            encode_with_data(
                &CompressedImage { header: header.clone(), format, data: Vec::new() },
                data,
                0,
            )
        };
        let camera = &self.film.camera;
        match camera.coding {
            Coding::Raw => {
                let (encoding, n_bytes, data) = written(camera.format, picture);
                let size = (camera.pinhole.width, camera.pinhole.height);
                image(header, size, encoding, n_bytes, &data)
            }
            Coding::Png => compressed("png", &picture.to_png()),
            Coding::Jpeg(quality) => compressed("jpeg", &jpeg::encode(&picture, quality)),
        }
    }
}

fn image(
    header: &Header,
    (width, height): (usize, usize),
    encoding: &str,
    n_bytes: usize,
    data: &[u8],
) -> Vec<u8> {
    let message = messages::Image {
        header: header.clone(),
        height: height as u32,
        width: width as u32,
        encoding: encoding.to_string(),
        is_bigendian: 0,
        step: (width * n_bytes) as u32,
        data: Vec::new(),
    };
    encode_with_data(&message, data, 0)
}

/// A picture in a format: ROS's name of it, bytes of a pixel, and all of them.
fn written(format: Format, picture: Image) -> (&'static str, usize, Vec<u8>) {
    let pixels = picture.rgb.as_chunks::<3>().0;
    match format {
        Format::Rgb8 => ("rgb8", 3, picture.rgb),
        Format::Bgr8 => ("bgr8", 3, pixels.iter().flat_map(|[r, g, b]| [*b, *g, *r]).collect()),
        Format::Mono8 => {
            ("mono8", 1, pixels.iter().map(|p| ((grey(p) + 0x8000) >> 16) as u8).collect())
        }
        Format::Mono16 => {
            // 255 becomes 65535.
            let wide = |p: &[u8; 3]| ((u64::from(grey(p)) * 257 + 0x8000) >> 16) as u16;
            ("mono16", 2, pixels.iter().flat_map(|p| wide(p).to_le_bytes()).collect())
        }
        Format::Bayer(pattern) => {
            let name = match pattern {
                [0, ..] => "bayer_rggb8",
                [2, ..] => "bayer_bggr8",
                [1, 2, ..] => "bayer_gbrg8",
                _ => "bayer_grbg8",
            };
            let at = |(i, pixel): (usize, &[u8; 3])| {
                let (x, y) = (i % picture.width, i / picture.width);
                pixel[usize::from(pattern[y % 2 * 2 + x % 2])]
            };
            (name, 1, pixels.iter().enumerate().map(at).collect())
        }
    }
}

/// Where the pixels of a camera look, in the optical frame; no numbers where nowhere.
fn directions(camera: &Camera) -> Vec<Vec3> {
    let Pinhole { width, height, .. } = camera.pinhole;
    let fold = camera.lens.fold();
    let direction = |i: usize| {
        let pixel = Vec2::new((i % width) as f64, (i / width) as f64);
        let seen = camera.lens.unproject_within(camera.pinhole.direction(pixel), fold);
        seen.unwrap_or(Vec3::NAN)
    };
    (0..width * height).map(direction).collect()
}

/// One point a pixel, in the optical frame; not numbers where nothing is seen.
fn points(header: &Header, directions: &[Vec3], frame: &Frame) -> Vec<u8> {
    let field = |(i, name): (usize, &str)| PointField {
        name: name.to_string(),
        offset: 4 * i as u32,
        datatype: 7,
        count: 1,
    };
    let mut data = Vec::with_capacity(directions.len() * 16);
    let pixels = frame.depth.iter().zip(frame.rgb.as_chunks::<3>().0).zip(directions);
    for ((depth, rgb), d) in pixels {
        // Depth is along the axis.
        let point = match depth.is_finite() && d.is_finite() {
            true => (*d * (f64::from(*depth) / d.z)).to_array().map(|x| x as f32),
            false => [f32::NAN; 3],
        };
        point.iter().for_each(|x| data.extend_from_slice(&x.to_le_bytes()));
        // As ROS packs it: 0x00RRGGBB in the bits of a float.
        data.extend_from_slice(&[rgb[2], rgb[1], rgb[0], 0]);
    }
    let message = PointCloud2 {
        header: header.clone(),
        height: frame.height as u32,
        width: frame.width as u32,
        fields: ["x", "y", "z", "rgb"].into_iter().enumerate().map(field).collect(),
        is_bigendian: false,
        point_step: 16,
        row_step: 16 * frame.width as u32,
        data: Vec::new(),
        is_dense: false,
    };
    encode_with_data(&message, &data, 1)
}

impl Measure for Cameras {
    fn outputs(&self) -> Vec<(String, Message)> {
        self.eyes.iter().flat_map(Eye::outputs).collect()
    }

    fn start(&mut self, _model: &Model, seed: &Seed) {
        self.eyes.iter_mut().for_each(|eye| eye.film.start(seed));
    }

    fn about(&self) -> Option<&str> {
        self.drawn_by.as_deref()
    }

    fn take_findings(&mut self) -> Vec<Diagnostic> {
        let mut findings: Vec<Diagnostic> = Vec::new();
        for finding in self.renderers.iter_mut().flat_map(|renderer| renderer.take_findings()) {
            // The cameras of a pair meet the same.
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        findings
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        if self.renderers.is_empty() {
            let make = |eye: &Eye| {
                renderer(eye.film.camera.renderer, look.n_threads).expect("made when it was read")
            };
            self.renderers = self.eyes.iter().map(make).collect();
        }
        let shared = self.scene.clone();
        let mut output = 0;
        for (eye, renderer) in self.eyes.iter_mut().zip(&mut self.renderers) {
            let frame =
                shared.lend(Show::Visuals, look, |scene| eye.take(look, scene, &mut **renderer));
            let header = Header::new(look.state.time, &eye.frame_id);
            for message in eye.messages(&header, frame) {
                say(output, message);
                output += 1;
            }
        }
    }
}
