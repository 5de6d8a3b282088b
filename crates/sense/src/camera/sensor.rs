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

use headland_base::{Seed, SimTime, Transform};
use headland_record::messages::{
    self, CameraInfo, CompressedImage, Header, Kind as Message, PointCloud2, PointField, encode,
    encode_with_data,
};
use headland_sim::{Look, Model};

use super::labels::{self, Labels};
use super::read::cameras_of;
use super::shutter::poses_after;
use super::{Camera, Coding, Format, Pinhole, Shows, camera_info};
use crate::declare::element::Element;
use crate::declare::{Kind, On, Site};
use crate::image::Image;
use crate::imperfect::{Darkroom, Sun};
use crate::jpeg;
use crate::lens::Table;
use crate::mounted::Measure;
use crate::noise::Channel;
use crate::rays::stage::Stage;
use crate::render::{Frame, Renderer, Wants, renderer};
use crate::scene::{Scene, Show};

macro_rules! kinds {
    ($($name:ident = $words:expr;)*) => {
        $(pub(crate) const $name: Kind = Kind {
            words: &$words,
            on: On::Link,
            elements: &["camera"],
            read,
        };)*
    };
}

kinds! {
    CAMERA = ["camera"];
    DEPTH = ["depth_camera", "depth"];
    BOTH = ["rgbd_camera", "rgbd"];
    SEGMENTATION = ["segmentation_camera", "segmentation"];
    SEVERAL = ["multicamera"];
    WIDE = ["wideanglecamera", "wide_angle_camera"];
}

/// One camera of a sensor, ready to look.
struct Eye {
    camera: Camera,
    /// Made for the first picture: one that nobody takes costs nothing.
    table: Option<Table>,
    /// Of its messages.
    frame_id: String,
    info: CameraInfo,
    /// What stands before its topics.
    prefix: String,
    darkroom: Option<Darkroom>,
    depth_noise: Option<Channel>,
    /// When it looked last.
    last: Option<SimTime>,
    labels: Option<Labels>,
}

struct Cameras {
    eyes: Vec<Eye>,
    /// The scene of all sensors of the run.
    stage: Stage,
    renderers: Vec<Box<dyn Renderer>>,
}

fn read(element: Element<'_>, site: &Site<'_>) -> Option<Box<dyn Measure>> {
    // Where the sensor is in its link.
    let body = &site.model.bodies[site.mount.body_idx];
    let link_from_sensor = body.rigid_from_body.inverse() * site.mount.rigid_from_sensor;
    let cameras = cameras_of(element, site.name, site.mount.body_idx, link_from_sensor);
    let is_several = element.attribute("type") == Some("multicamera");
    let first = cameras.first().map(|camera| camera.link_from_optical);
    let mut eyes = Vec::new();
    for camera in cameras {
        if let Err(fault) = Table::check(&camera.pinhole, &camera.lens, camera.cutoff) {
            element.fault(fault.message, fault.help);
            continue;
        }
        let own = camera.name.rsplit("::").next().unwrap_or_default();
        let (prefix, inner) = match is_several {
            true => (format!("/{own}"), format!("/{own}")),
            false => (String::new(), String::new()),
        };
        let frame_id = camera.optical_frame_id.clone();
        let frame_id =
            frame_id.unwrap_or_else(|| format!("{}{inner}_optical", site.mount.frame_id));
        let baseline = first.map_or(0.0, |first| baseline(element, first, &camera));
        let info = camera_info(&camera.pinhole, &camera.lens, baseline);
        eyes.push(Eye {
            camera,
            table: None,
            frame_id,
            info,
            prefix,
            darkroom: None,
            depth_noise: None,
            last: None,
            labels: None,
        });
    }
    let stage = site.stage.clone();
    (!eyes.is_empty())
        .then(|| Box::new(Cameras { eyes, stage, renderers: Vec::new() }) as Box<dyn Measure>)
}

/// How far a camera stands to the right of the first of a pair \[m\].
fn baseline(element: Element<'_>, first: Transform, camera: &Camera) -> f64 {
    let first_from_it = first.inverse() * camera.link_from_optical;
    let to = first_from_it.translation;
    let turn = first_from_it.rotation.xyz().length();
    if turn > 1e-9 || to.y.abs() > 1e-9 || to.z.abs() > 1e-9 {
        element.remark(format!(
            "camera `{}` does not stand beside the first along its rows; R of its CameraInfo is \
             that of a camera alone",
            camera.name
        ));
    }
    to.x
}

impl Eye {
    fn outputs(&self) -> Vec<(String, Message)> {
        let colour = match self.camera.coding {
            Coding::Raw => ("/image_raw", Message::Image),
            _ => ("/image_raw/compressed", Message::CompressedImage),
        };
        let depth = ("/depth/image_raw", Message::Image);
        let info = ("/camera_info", Message::CameraInfo);
        let all = match self.camera.shows {
            Shows::Colour => vec![colour, info],
            Shows::Depth => vec![depth, info],
            Shows::Both => vec![colour, info, depth, ("/points", Message::PointCloud2)],
            Shows::Classes | Shows::Things => {
                vec![("/labels_map", Message::Image), info, ("/colored_map", Message::Image)]
            }
        };
        all.into_iter().map(|(behind, kind)| (format!("{}{behind}", self.prefix), kind)).collect()
    }

    fn wants(&self) -> Wants {
        let shows = self.camera.shows;
        Wants {
            colour: matches!(shows, Shows::Colour | Shows::Both),
            depth: matches!(shows, Shows::Depth | Shows::Both),
            ids: matches!(shows, Shows::Classes | Shows::Things),
        }
    }

    /// Takes a picture, with all that is wrong with it.
    fn take(&mut self, look: &Look<'_>, scene: &mut Scene, renderer: &mut dyn Renderer) -> Frame {
        let wants = self.wants();
        if wants.ids && self.labels.is_none() {
            self.labels = Some(match self.camera.shows {
                Shows::Things => Labels::things(scene),
                _ => Labels::classes(&look.model.world, scene),
            });
        }
        let camera = &self.camera;
        let mut view_at = |scene: &mut Scene, secs: f64| {
            if secs != 0.0 || !camera.imperfections.shutter.is_instant() {
                scene.place(&poses_after(look.model, look.state, secs));
            }
            camera.view(scene.world_from_link())
        };
        let shutter = camera.imperfections.shutter;
        let table = self
            .table
            .get_or_insert_with(|| camera.table().expect("looked at when the camera was read"));
        let mut frame = shutter.take(table, renderer, scene, wants, &mut view_at);
        if let Some(darkroom) = &mut self.darkroom {
            // A shutter that took its time left the scene where it was then.
            let view = view_at(scene, 0.0);
            let sun = Sun::seen(scene, &view, &camera.lens);
            darkroom.develop(&mut frame.rgb, sun);
        }
        frame
    }

    /// What it says of a frame, in the order of its outputs.
    fn messages(&mut self, header: &Header, time: SimTime, mut frame: Frame) -> Vec<Vec<u8>> {
        let info = encode(&CameraInfo { header: header.clone(), ..self.info.clone() });
        if let Some(noise) = &mut self.depth_noise {
            let mut dt_secs = self.last.map_or(0.0, |last| (time - last).secs());
            for depth in frame.depth.iter_mut() {
                // As many numbers whatever is seen; a bias wanders once a picture.
                let said = noise.read(f64::from(*depth), dt_secs);
                dt_secs = 0.0;
                if depth.is_finite() {
                    *depth = said.map_or(f32::NAN, |said| said as f32);
                }
            }
        }
        self.last = Some(time);
        let depth = |frame: &Frame| {
            let bytes: Vec<u8> = frame.depth.iter().flat_map(|depth| depth.to_le_bytes()).collect();
            image(header, (frame.width, frame.height), "32FC1", 4, &bytes)
        };
        match self.camera.shows {
            Shows::Colour => vec![self.colours(header, frame), info],
            Shows::Depth => vec![depth(&frame), info],
            Shows::Both => {
                let depth = depth(&frame);
                let points = points(header, &self.camera, &frame);
                vec![self.colours(header, frame), info, depth, points]
            }
            Shows::Classes | Shows::Things => {
                let labels = self.labels.as_ref();
                let of = |id: &u32| labels.map_or(0, |labels| labels.of(*id));
                let labels: Vec<u16> = frame.ids.iter().map(of).collect();
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
            )
        };
        match self.camera.coding {
            Coding::Raw => {
                let (encoding, n_bytes, data) = written(self.camera.format, picture);
                let size = (self.camera.pinhole.width, self.camera.pinhole.height);
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
    encode_with_data(&message, data)
}

/// A picture in a format: ROS's name of it, bytes of a pixel, and all of them.
fn written(format: Format, picture: Image) -> (&'static str, usize, Vec<u8>) {
    let pixels = picture.rgb.as_chunks::<3>().0;
    // Weights of Rec. 601, of 65536.
    let grey = |[r, g, b]: &[u8; 3]| {
        19_595 * u32::from(*r) + 38_470 * u32::from(*g) + 7_471 * u32::from(*b)
    };
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

/// One point a pixel, in the optical frame; not numbers where nothing is seen.
fn points(header: &Header, camera: &Camera, frame: &Frame) -> Vec<u8> {
    let field = |(i, name): (usize, &str)| PointField {
        name: name.to_string(),
        offset: 4 * i as u32,
        datatype: 7,
        count: 1,
    };
    let Pinhole { width, height, .. } = camera.pinhole;
    let mut data = Vec::with_capacity(width * height * 16);
    let fold = camera.lens.fold();
    for (i, (depth, rgb)) in frame.depth.iter().zip(frame.rgb.as_chunks::<3>().0).enumerate() {
        let pixel = headland_base::maths::Vec2::new((i % width) as f64, (i / width) as f64);
        let seen = depth.is_finite().then(|| camera.pinhole.direction(pixel));
        let along = seen.and_then(|place| camera.lens.unproject_within(place, fold));
        let point = along.map_or([f32::NAN; 3], |d| {
            // Depth is along the axis.
            (d * (f64::from(*depth) / d.z)).to_array().map(|x| x as f32)
        });
        point.iter().for_each(|x| data.extend_from_slice(&x.to_le_bytes()));
        // As ROS packs it: 0x00RRGGBB in the bits of a float.
        data.extend_from_slice(&[rgb[2], rgb[1], rgb[0], 0]);
    }
    // The only field behind the data is a flag of one byte.
    let message = PointCloud2 {
        header: header.clone(),
        height: height as u32,
        width: width as u32,
        fields: ["x", "y", "z", "rgb"].into_iter().enumerate().map(field).collect(),
        is_bigendian: false,
        point_step: 16,
        row_step: 16 * width as u32,
        data: Vec::new(),
        is_dense: false,
    };
    let mut cdr = encode(&message);
    let flag = cdr.split_off(cdr.len() - 1);
    cdr.truncate(cdr.len() - 4);
    cdr.extend_from_slice(&(data.len() as u32).to_le_bytes());
    cdr.extend_from_slice(&data);
    cdr.extend_from_slice(&flag);
    cdr
}

impl Measure for Cameras {
    fn outputs(&self) -> Vec<(&'static str, Message)> {
        Vec::new()
    }

    fn named_outputs(&self) -> Vec<(String, Message)> {
        self.eyes.iter().flat_map(Eye::outputs).collect()
    }

    fn start(&mut self, _model: &Model, seed: &Seed) {
        for eye in &mut self.eyes {
            let seed = seed.child(&eye.prefix);
            let Pinhole { width, height, .. } = eye.camera.pinhole;
            let imperfections = &eye.camera.imperfections;
            eye.darkroom = (imperfections.changes_pictures() && eye.wants().colour)
                .then(|| Darkroom::new(imperfections, (width, height), &seed));
            let noise = eye.camera.depth_noise;
            let is_noisy = eye.wants().depth && !noise.is_none();
            eye.depth_noise = is_noisy.then(|| noise.channel(&seed.child("depth")));
            eye.last = None;
        }
    }

    fn measure(&mut self, look: &Look<'_>, say: &mut dyn FnMut(usize, Vec<u8>)) {
        if self.renderers.is_empty() {
            let make = |eye: &Eye| {
                renderer(eye.camera.renderer, look.n_threads).expect("a name of the list")
            };
            self.renderers = self.eyes.iter().map(make).collect();
        }
        let stage = self.stage.clone();
        let mut output = 0;
        for (eye, renderer) in self.eyes.iter_mut().zip(&mut self.renderers) {
            let frame =
                stage.lend(Show::Visuals, look, |scene| eye.take(look, scene, &mut **renderer));
            let header = Header::new(look.state.time, &eye.frame_id);
            for message in eye.messages(&header, look.state.time, frame) {
                say(output, message);
                output += 1;
            }
        }
    }
}
