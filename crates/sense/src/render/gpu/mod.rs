//! `wgpu`: what `raster` shows, drawn by a GPU. A cargo feature, off by default.
//!
//! Every sample of every pixel is a ray through the same surfaces and trees that lidars ask, in
//! single precision, in one compute shader (`words.wgsl` and what follows it). So a lens costs nothing, and depths and
//! ids are those of `raster` but where two surfaces are within rounding of each other. Shadows are
//! sharp where those of `raster` are soft.
//!
//! Another GPU may round otherwise: pictures of it are not the same to the bit on every machine,
//! which is why nobody gets it unasked. What does not fit into a GPU's memory, and what one does
//! not finish because it was taken away or hangs, `raster` draws, and that is said.

mod pack;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use headland_base::Diagnostic;
use headland_base::maths::Vec2;

use super::linear::Rays;
use super::shade::Daylight;
use super::{Bent, Frame, NO_ITEM, Raster, Renderer, Wants};
use crate::camera::View;
use crate::scene::Scene;
use pack::{Lasting, Words};

/// The program that draws.
const PROGRAM: &str = concat!(
    include_str!("words.wgsl"),
    include_str!("meet.wgsl"),
    include_str!("colour.wgsl"),
    include_str!("draw.wgsl"),
);

/// Bytes of what is the same for all pixels of a frame.
const N_FRAME_BYTES: usize = (16 + 10 * 4) * 4;

/// Pixels that are drawn by one order: a GPU that works for seconds on one is taken for broken.
const PIXELS_AT_ONCE: usize = 1 << 16;

/// Words of a pixel: its colour, depth and item.
const N_PIXEL_WORDS: usize = 3;

/// How long a GPU may take for one order, before it is taken for broken. One in software takes
/// less than a second for the largest scene that ships.
const LONGEST_ORDER: Duration = Duration::from_secs(30);

/// The GPU of this process, which all cameras share.
struct Device {
    /// What its driver calls it.
    name: String,
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    /// The largest buffer that it can be asked about \[bytes\].
    most_bytes: u64,
    /// What it said first that went wrong.
    fault: Arc<Mutex<Option<String>>>,
    /// Held by whoever draws: one at a time, so that what goes wrong goes wrong with its picture.
    turn: Mutex<()>,
}

/// Why a picture was not drawn.
enum Failed {
    /// It is too much; another may not be.
    TooLarge(String),
    /// The GPU cannot be asked again.
    Broken(String),
}

impl Device {
    /// The first that there is; says in words why there is none. Looked for once.
    fn get() -> Result<&'static Device, String> {
        static FOUND: OnceLock<Result<Device, String>> = OnceLock::new();
        FOUND.get_or_init(Device::find).as_ref().map_err(String::clone)
    }

    fn adapter(backends: wgpu::Backends) -> Result<wgpu::Adapter, wgpu::RequestAdapterError> {
        let mut wanted = wgpu::InstanceDescriptor::new_without_display_handle();
        wanted.backends = backends;
        let options = wgpu::RequestAdapterOptions::default();
        wait(wgpu::Instance::new(wanted).request_adapter(&options))
    }

    fn find() -> Result<Device, String> {
        let adapter = Device::adapter(wgpu::Backends::VULKAN)
            .or_else(|_| Device::adapter(wgpu::Backends::GL))
            .map_err(|why| why.to_string())?;
        let (name, limits) = (adapter.get_info().name, adapter.limits());
        if limits.max_storage_buffers_per_shader_stage < 4 {
            return Err(format!("{name} cannot compute"));
        }
        let most_bytes = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let wanted = wgpu::DeviceDescriptor {
            // As large buffers as it can have.
            required_limits: limits,
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            wait(adapter.request_device(&wanted)).map_err(|why| format!("{name}: {why}"))?;
        let fault: Arc<Mutex<Option<String>>> = Arc::default();
        let told = Arc::clone(&fault);
        device.on_uncaptured_error(Arc::new(move |error| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.get_or_insert_with(|| error.to_string());
        }));
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("draw"),
            source: wgpu::ShaderSource::Wgsl(PROGRAM.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("draw"),
            layout: None,
            module: &module,
            entry_point: Some("draw"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let turn = Mutex::default();
        let out = Device { name, device, queue, pipeline, most_bytes, fault, turn };
        match out.take_fault() {
            Some(why) => Err(format!("{} does not take the program that draws: {why}", out.name)),
            None => Ok(out),
        }
    }

    fn take_turn(&self) -> MutexGuard<'_, ()> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.take_fault();
        turn
    }

    fn take_fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn buffer(&self, n_bytes: usize, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: n_bytes.max(16) as u64,
            usage,
            mapped_at_creation: false,
        })
    }

    fn filled(&self, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let buffer = self.buffer(bytes.len(), usage | wgpu::BufferUsages::COPY_DST);
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    /// Lets pixels from a row on be drawn, as many rows as the frame says.
    fn order(&self, buffers: [&wgpu::Buffer; 5], (width, n_rows): (usize, usize)) {
        let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &group, &[]);
            let [across, down] = [width, n_rows].map(|n| n.div_ceil(8) as u32);
            pass.dispatch_workgroups(across, down, 1);
        }
        self.queue.submit([encoder.finish()]);
    }

    /// What is in a buffer when all of so many orders is done, or why it is not.
    fn read(
        &self,
        buffer: &wgpu::Buffer,
        n_words: usize,
        n_orders: usize,
    ) -> Result<Vec<u32>, String> {
        use wgpu::BufferUsages as For;
        let read = self.buffer(n_words * 4, For::MAP_READ | For::COPY_DST);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &read, 0, (n_words * 4) as u64);
        self.queue.submit([encoder.finish()]);
        read.map_async(wgpu::MapMode::Read, .., |_| {});
        let patience = LONGEST_ORDER * n_orders.min(1000) as u32;
        let wait = wgpu::PollType::Wait { submission_index: None, timeout: Some(patience) };
        let polled = self.device.poll(wait);
        // What it said before it stopped says more than that it stopped.
        if let Some(why) = self.take_fault() {
            return Err(why);
        }
        polled.map_err(|why| match why {
            wgpu::PollError::Timeout => format!("it was not done in {} s", patience.as_secs()),
            other => other.to_string(),
        })?;
        let bytes = read.get_mapped_range(..).map_err(|why| why.to_string())?;
        let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        Ok(words.collect())
    }
}

/// A scene on the GPU, ready to be drawn.
pub struct Gpu {
    device: &'static Device,
    lasting: Lasting,
    form: Option<wgpu::Buffer>,
    /// The largest buffer that it is asked for \[bytes\].
    most_bytes: u64,
    /// For what the GPU cannot hold.
    raster: Raster,
    /// It broke: it is not waited for again.
    is_broken: bool,
    /// Why `raster` drew, and whether that was said.
    fell_back: Option<Diagnostic>,
    has_told: bool,
}

impl Gpu {
    /// On the first GPU that there is; says in words why there is none.
    pub fn new(n_threads: usize) -> Result<Gpu, String> {
        Gpu::with_at_most(n_threads, u64::MAX)
    }

    /// The same, of which no more is used than buffers of so many bytes.
    pub fn with_at_most(n_threads: usize, most_bytes: u64) -> Result<Gpu, String> {
        let device = Device::get()?;
        Ok(Gpu {
            device,
            lasting: Lasting::default(),
            form: None,
            most_bytes: device.most_bytes.min(most_bytes),
            raster: Raster::new(n_threads),
            is_broken: false,
            fell_back: None,
            has_told: false,
        })
    }

    /// Refuses a buffer that is too large.
    fn fits(&self, what: &str, n_words: usize) -> Result<(), Failed> {
        let n_bytes = n_words as u64 * 4;
        if n_bytes <= self.most_bytes {
            return Ok(());
        }
        let most = self.most_bytes;
        Err(Failed::TooLarge(format!("{what} takes {n_bytes} bytes, and it holds {most} at once")))
    }

    /// Draws the pixels of an image, [`N_PIXEL_WORDS`] each, or says why that cannot be done.
    fn draw(
        &mut self,
        scene: &Scene,
        view: &View,
        (width, height): (usize, usize),
        wants: Wants,
        bent: Option<&Bent>,
    ) -> Result<Vec<u32>, Failed> {
        use wgpu::BufferUsages as For;
        let device = self.device;
        let _turn = device.take_turn();
        if self.form.is_none() || !self.lasting.is_of(scene) {
            self.form = None;
            self.lasting = Lasting::of(scene);
            self.fits("what there is to see", self.lasting.words.0.len())?;
        }
        let form = self
            .form
            .get_or_insert_with(|| device.filled(&bytes_of(&self.lasting.words), For::STORAGE))
            .clone();
        let (words, parts) = pack::now(scene, &self.lasting, view.world_from_optical.translation);
        let n_words = width * height * N_PIXEL_WORDS;
        self.fits("where everything is", words.0.len())?;
        self.fits("the picture", n_words)?;
        let now = device.filled(&bytes_of(&words), For::STORAGE);
        let places = device.filled(&places_of(bent, (width, height)), For::STORAGE);
        let image = device.buffer(n_words * 4, For::STORAGE | For::COPY_SRC);
        let rows_at_once = (PIXELS_AT_ONCE / width).max(1);
        for first_row in (0..height).step_by(rows_at_once) {
            let rows = first_row..(first_row + rows_at_once).min(height);
            let n_rows = rows.len();
            let about = about(scene, view, (width, rows), &parts, wants, bent);
            let frame = device.filled(&bytes_of(&about), For::UNIFORM);
            device.order([&frame, &form, &now, &places, &image], (width, n_rows));
        }
        let n_orders = height.div_ceil(rows_at_once);
        device.read(&image, n_words, n_orders).map_err(Failed::Broken)
    }

    /// Remembers that `raster` draws, and why: the first time, for somebody to tell.
    fn fall_back(&mut self, failed: Failed) {
        let why = match failed {
            Failed::TooLarge(why) => why,
            Failed::Broken(why) => {
                (self.is_broken, self.form) = (true, None);
                why
            }
        };
        if !std::mem::replace(&mut self.has_told, true) {
            let message =
                format!("`raster` draws what `wgpu` cannot on {}: {why}", self.device.name);
            let note = "shadows have soft rims by the one and sharp ones by the other";
            let told = Diagnostic::warning("renderer-fell-back", message).note(note);
            self.fell_back = Some(told.help("say `raster`, which draws on any machine"));
        }
    }
}

impl Renderer for Gpu {
    fn render_bent(
        &mut self,
        scene: &Scene,
        view: &View,
        wants: Wants,
        bent: Option<&Bent>,
    ) -> Frame {
        let pinhole = &view.pinhole;
        let (width, height) = bent.map_or((pinhole.width, pinhole.height), Bent::size);
        let mut frame = Frame::empty(width, height, wants);
        if width * height == 0 {
            return frame;
        }
        let drawn = match self.is_broken {
            true => None,
            false => {
                let drawn = self.draw(scene, view, (width, height), wants, bent);
                drawn.map_err(|failed| self.fall_back(failed)).ok()
            }
        };
        let Some(words) = drawn else {
            return self.raster.render_bent(scene, view, wants, bent);
        };
        for (i, [colour, depth, id]) in words.as_chunks::<N_PIXEL_WORDS>().0.iter().enumerate() {
            if wants.colour {
                let [r, g, b, _] = colour.to_le_bytes();
                frame.rgb[i * 3..i * 3 + 3].copy_from_slice(&[r, g, b]);
            }
            if *id != NO_ITEM && wants.depth {
                frame.depth[i] = f32::from_bits(*depth);
            }
            if wants.ids {
                frame.ids[i] = *id;
            }
        }
        frame
    }

    fn machine(&self) -> Option<&str> {
        Some(&self.device.name)
    }

    fn take_findings(&mut self) -> Vec<Diagnostic> {
        self.fell_back.take().into_iter().collect()
    }
}

fn bytes_of(words: &Words) -> Vec<u8> {
    words.0.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Where pixels look; those that look nowhere do far outside of any picture.
fn places_of(bent: Option<&Bent>, (width, height): (usize, usize)) -> Vec<u8> {
    let Some(bent) = bent else { return vec![0; 16] };
    let pixels = (0..width * height).map(|i| bent.place(i % width, i / width));
    let place = |place: Option<Vec2>| place.unwrap_or(Vec2::splat(-1e9)).to_array();
    pixels.flat_map(place).flat_map(|x| (x as f32).to_le_bytes()).collect()
}

/// What is the same for all pixels: the struct `Frame` of `words.wgsl`.
fn about(
    scene: &Scene,
    view: &View,
    (width, rows): (usize, std::ops::Range<usize>),
    parts: &pack::Parts,
    wants: Wants,
    bent: Option<&Bent>,
) -> Words {
    let light = Daylight::of(scene);
    let has_sun = light.sun.iter().any(|c| *c > 0.0);
    let n_rows = bent.map_or(view.pinhole.height, |bent| bent.size().1);
    let mut words = Words(vec![
        width as u32,
        n_rows as u32,
        rows.start as u32,
        rows.end as u32,
        u32::from(bent.is_some()),
        u32::from(wants.colour),
        parts.n_nodes,
        parts.n_lamps,
        parts.items,
        parts.nodes,
        parts.order,
        parts.lamps,
        parts.endless,
        parts.n_endless,
        u32::from(light.shadows),
        u32::from(has_sun),
    ]);
    let mut four = |v: [f32; 3], w: f32| {
        words.0.extend([v[0], v[1], v[2], w].map(f32::to_bits));
    };
    let single = |v: headland_base::Vec3| v.to_array().map(|x| x as f32);
    let [d, du, dv] = Rays::of_view(view).direction;
    four(single(d), view.near as f32);
    four(single(du), view.far as f32);
    four(single(dv), 0.0);
    four(single(-light.direction), 0.0);
    four(light.sun, 0.0);
    for colour in light.ambient.into_iter().chain(light.sky) {
        four(colour, 0.0);
    }
    assert_eq!(words.0.len() * 4, N_FRAME_BYTES, "as many as `Frame` has");
    words
}

/// Waits for what a GPU's driver has at once: nothing here is polled by anybody else.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return done;
        }
        std::thread::yield_now();
    }
}
