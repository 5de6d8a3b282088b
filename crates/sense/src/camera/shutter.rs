//! The shutter: when which row of a picture is taken, and for how long it takes in light.
//!
//! Everything goes on as it moves at the moment of the look: a sub-frame some time before it has
//! every rigid moved back along its velocity. A blurred picture is the mean of sub-frames spread
//! evenly over the exposure, which ends with the look. With a rolling shutter the last row ends
//! with the look and the first row one read-out earlier; rows are taken in slices of
//! [`SLICE`], each at the moment of its middle.

use headland_base::Transform;
use headland_base::maths::quat_from_rotation_vector;
use headland_sim::{Model, State};

use super::View;
use crate::lens::Table;
use crate::render::{Frame, Renderer, Wants};
use crate::scene::Scene;

/// Rows that are taken at one moment.
pub const SLICE: usize = 8;

/// How a picture comes about over time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shutter {
    /// How long every row takes in light \[s\]; 0 is a moment.
    pub exposure_secs: f64,
    /// Pictures that are mixed over that time; 0 is [`Shutter::SAMPLES`].
    pub n_samples: usize,
    /// How much later the last row is taken than the first \[s\].
    pub readout_secs: f64,
}

/// One pose per link some time after a state, before it where negative, as everything moves in it.
pub fn poses_after(model: &Model, state: &State, secs: f64) -> Vec<Transform> {
    let moved = |body: &headland_sim::Body| {
        let rigid = &state.rigids[body.rigid_idx];
        let mut pose = rigid.world_from_rigid;
        if secs != 0.0 {
            let turn = quat_from_rotation_vector(rigid.twist.angular * secs);
            let rotation = (turn * pose.rotation).normalize();
            pose = Transform::new(rotation, pose.translation + rigid.twist.linear * secs);
        }
        pose * body.rigid_from_body
    };
    model.bodies.iter().map(moved).collect()
}

impl Shutter {
    /// Sub-frames of a blurred picture where nobody says.
    pub const SAMPLES: usize = 8;

    /// Whether all of a picture is of one moment.
    pub fn is_instant(&self) -> bool {
        self.exposure_secs <= 0.0 && self.readout_secs <= 0.0
    }

    /// Takes a picture: `view_at` moves the scene and says where the camera is, so many seconds
    /// after the look.
    pub fn take(
        &self,
        table: &Table,
        renderer: &mut dyn Renderer,
        scene: &mut Scene,
        wants: Wants,
        view_at: &mut dyn FnMut(&mut Scene, f64) -> View,
    ) -> Frame {
        if self.is_instant() {
            let view = view_at(scene, 0.0);
            return table.render(renderer, scene, &view, wants);
        }
        let (width, height) = table.size();
        let mut whole = Frame::empty(width, height, wants);
        let n_rows = if self.readout_secs > 0.0 { SLICE } else { height.max(1) };
        for first in (0..height).step_by(n_rows) {
            let rows = first..(first + n_rows).min(height);
            let middle = (rows.start + rows.end) as f64 * 0.5 - 0.5;
            let behind = (height as f64 - 1.0 - middle) / (height as f64 - 1.0).max(1.0);
            let end = if self.readout_secs > 0.0 { -self.readout_secs * behind } else { 0.0 };
            let slice = self.slice(table, renderer, scene, wants, view_at, (rows.clone(), end));
            whole.put(rows, &slice);
        }
        whole
    }

    /// Some rows whose exposure ends at a moment.
    fn slice(
        &self,
        table: &Table,
        renderer: &mut dyn Renderer,
        scene: &mut Scene,
        wants: Wants,
        view_at: &mut dyn FnMut(&mut Scene, f64) -> View,
        (rows, end): (std::ops::Range<usize>, f64),
    ) -> Frame {
        let n_samples = match (self.exposure_secs > 0.0, self.n_samples) {
            (false, _) => 1,
            (true, 0) => Shutter::SAMPLES,
            (true, n) => n,
        };
        let mut sum: Vec<u32> = Vec::new();
        let mut first: Option<Frame> = None;
        for i in 0..n_samples {
            // The last first: depths and labels, which cannot be mixed, are those of the end.
            let before = self.exposure_secs * (i as f64 + 0.5) / n_samples as f64;
            let at = if self.exposure_secs > 0.0 { end - before } else { end };
            let view = view_at(scene, at);
            let wants = if i == 0 { wants } else { Wants { depth: false, ids: false, ..wants } };
            let frame = table.render_rows(renderer, scene, &view, wants, rows.clone());
            sum.resize(frame.rgb.len(), n_samples as u32 / 2);
            sum.iter_mut().zip(&frame.rgb).for_each(|(sum, byte)| *sum += u32::from(*byte));
            first.get_or_insert(frame);
        }
        let mut out = first.expect("at least one sample");
        let n = n_samples as u32;
        out.rgb.iter_mut().zip(sum).for_each(|(byte, sum)| *byte = (sum / n) as u8);
        out
    }
}
