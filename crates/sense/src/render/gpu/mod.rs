//! `wgpu`: what `raster` shows, drawn by a GPU. A cargo feature, off by default.
//!
//! Every sample of every pixel is a ray through the same surfaces and trees that lidars ask, in
//! single precision, in one compute shader (`draw.wgsl`). So a lens costs nothing, and depths and
//! ids are those of `raster` but where two surfaces are within rounding of each other. Shadows are
//! sharp where those of `raster` are soft.
//!
//! Another GPU may round otherwise: pictures of it are not the same to the bit on every machine,
//! which is why nobody gets it unasked.

mod pack;

use headland_base::maths::Vec2;

use super::project::Rays;
use super::shade::Daylight;
use super::{Bent, Frame, NO_ITEM, Renderer, Wants};
use crate::camera::View;
use crate::scene::Scene;
use pack::{Lasting, Words};

/// Bytes of what is the same for all pixels of a frame.
const N_FRAME_BYTES: u64 = (16 + 10 * 4) * 4;

/// Rows that are drawn at once: a GPU that works for seconds on one order is taken for broken.
const ROWS_AT_ONCE: u32 = 64;

/// A GPU, ready to draw.
pub struct Gpu {
    n_threads: usize,
    device: wgpu::Device,
    queue: wgpu::Queue,
    pipeline: wgpu::ComputePipeline,
    lasting: Lasting,
    form: Option<wgpu::Buffer>,
}

impl Gpu {
    /// The first that there is; says in words why there is none.
    pub fn new(n_threads: usize) -> Result<Gpu, String> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let options = wgpu::RequestAdapterOptions::default();
        let adapter =
            wait(instance.request_adapter(&options)).map_err(|why| format!("no GPU: {why}"))?;
        let about = adapter.get_info().name;
        // As large buffers as it can have; four of them are more than the least of GPUs offer.
        let wanted = wgpu::DeviceDescriptor {
            required_limits: adapter.limits(),
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) =
            wait(adapter.request_device(&wanted)).map_err(|why| format!("{about}: {why}"))?;
        if adapter.limits().max_storage_buffers_per_shader_stage < 4 {
            return Err(format!("{about} cannot compute"));
        }
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("draw"),
            source: wgpu::ShaderSource::Wgsl(include_str!("draw.wgsl").into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("draw"),
            layout: None,
            module: &module,
            entry_point: Some("draw"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        Ok(Gpu { n_threads, device, queue, pipeline, lasting: Lasting::default(), form: None })
    }

    fn buffer(&self, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: size.max(16),
            usage,
            mapped_at_creation: false,
        })
    }

    fn filled(&self, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let buffer = self.buffer(bytes.len() as u64, usage | wgpu::BufferUsages::COPY_DST);
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    /// Draws the pixels of an image: three words each.
    fn draw(
        &mut self,
        scene: &Scene,
        view: &View,
        (width, height): (usize, usize),
        n_samples: u32,
        bent: Option<&Bent>,
    ) -> Vec<u32> {
        use wgpu::BufferUsages as For;
        if self.form.is_none() || !self.lasting.is_of(scene) {
            self.lasting = Lasting::of(scene);
            self.form = Some(self.filled(&bytes_of(&self.lasting.words), For::STORAGE));
        }
        let form = self.form.clone().expect("filled above");
        let eye = view.world_from_optical.translation;
        let (words, parts) = pack::now(scene, &self.lasting, eye);
        let now = self.filled(&bytes_of(&words), For::STORAGE);
        let places = self.filled(&places_of(bent, (width, height)), For::STORAGE);
        let n_bytes = (width * height * 12) as u64;
        let image = self.buffer(n_bytes, For::STORAGE | For::COPY_SRC);
        let read = self.buffer(n_bytes, For::MAP_READ | For::COPY_DST);
        let layout = self.pipeline.get_bind_group_layout(0);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut first_row = 0;
        while first_row < height as u32 {
            let about = about(scene, view, (width, height), &parts, n_samples, first_row, bent);
            let frame = self.filled(&bytes_of(&about), For::UNIFORM);
            let all = [&frame, &form, &now, &places, &image];
            let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
                .zip(all)
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding,
                    resource: buffer.as_entire_binding(),
                })
                .collect();
            let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &layout,
                entries: &entries,
            });
            {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(&self.pipeline);
                pass.set_bind_group(0, &group, &[]);
                let n_rows = ROWS_AT_ONCE.min(height as u32 - first_row);
                pass.dispatch_workgroups((width as u32).div_ceil(8), n_rows.div_ceil(8), 1);
            }
            first_row += ROWS_AT_ONCE;
        }
        encoder.copy_buffer_to_buffer(&image, 0, &read, 0, n_bytes);
        self.queue.submit([encoder.finish()]);
        read.map_async(wgpu::MapMode::Read, .., |_| {});
        let done = self.device.poll(wgpu::PollType::wait_indefinitely());
        let seen = done.ok().and_then(|_| read.get_mapped_range(..).ok());
        // A GPU that was taken away while it drew leaves a black picture.
        let seen = seen.map(|view| view.to_vec()).unwrap_or_default();
        let mut words: Vec<u32> =
            seen.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        words.resize(width * height * 3, 0);
        words
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
        let n_samples = if wants.colour { 4 } else { 0 };
        let words = self.draw(scene, view, (width, height), n_samples, bent);
        for (i, [colour, depth, id]) in words.as_chunks::<3>().0.iter().enumerate() {
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

/// What is the same for all pixels: the struct `Frame` of `draw.wgsl`.
fn about(
    scene: &Scene,
    view: &View,
    (width, height): (usize, usize),
    parts: &pack::Parts,
    n_samples: u32,
    first_row: u32,
    bent: Option<&Bent>,
) -> Words {
    let light = Daylight::of(scene);
    let has_sun = light.sun.iter().any(|c| *c > 0.0);
    let mut words = Words(vec![
        width as u32,
        (first_row + ROWS_AT_ONCE).min(height as u32),
        n_samples,
        u32::from(bent.is_some()),
        scene.items().len() as u32,
        parts.n_nodes,
        parts.n_lamps,
        first_row,
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
    assert_eq!(words.0.len() as u64 * 4, N_FRAME_BYTES, "as many as `Frame` has");
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
