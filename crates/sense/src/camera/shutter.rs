//! The shutter: when which row of a picture is taken, and for how long it takes in light.
//!
//! Everything goes on as it moves at the moment of the look: a sub-frame some time before it has
//! every rigid moved back along its velocity. A blurred picture is the mean of sub-frames spread
//! evenly over the exposure, which ends with the look. With a rolling shutter the last row ends
//! with the look and the first row one read-out earlier. Rows are taken one by one; but while
//! nothing moves by more than [`STILL`] in the picture, several are taken together, at the moment
//! of their middle, which nobody can tell apart and is as many times as fast.

use headland_base::maths::angle_between;
use headland_base::{Transform, Vec3};
use headland_sim::{Model, State};
use headland_world::geometry::corners_in;

use super::View;
use crate::lens::Table;
use crate::poses::moved_on;
use crate::render::{Frame, Renderer, Wants};
use crate::scene::Scene;

/// What moves by less in the picture stands still \[pixels\].
pub const STILL: f64 = 0.25;

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
        moved_on(rigid.world_from_rigid, rigid.twist, secs) * body.rigid_from_body
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
        let n_rows = match self.readout_secs > 0.0 {
            true => self.rows_at_once(height, scene, view_at),
            false => height.max(1),
        };
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

    /// How many rows can be taken together: as many as pass before something has moved in the
    /// picture.
    fn rows_at_once(
        &self,
        height: usize,
        scene: &mut Scene,
        view_at: &mut dyn FnMut(&mut Scene, f64) -> View,
    ) -> usize {
        let first = view_at(scene, -self.readout_secs);
        let before: Vec<Transform> =
            (0..scene.items().len()).map(|i| scene.world_from_item(i)).collect();
        let last = view_at(scene, 0.0);
        let focal = first.pinhole.focal.x.max(first.pinhole.focal.y);
        let most = most_turned(scene, &before, &first, &last) * focal;
        // Towards the border of a picture a radian is more pixels than in its middle: twice as
        // many at 45°.
        let n_slices = (2.0 * most / STILL).ceil().clamp(1.0, height.max(1) as f64) as usize;
        (height / n_slices).max(1)
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

/// By how much, at most, the direction changes in which a camera sees any point \[rad\].
///
/// Seen from a thing, the camera turns and moves: a direction turns by as much as the camera, and
/// by the way of the eye over the distance. And of a thing that has an end no point moves further,
/// before the camera, than the corners of the box around it do.
fn most_turned(scene: &Scene, before: &[Transform], first: &View, last: &View) -> f64 {
    let angle = |from: Transform, to: Transform| angle_between(from.rotation, to.rotation);
    // What is far away only turns.
    let mut most = angle(first.world_from_optical, last.world_from_optical);
    for (i, item) in scene.items().iter().enumerate() {
        let poses = [(before[i], first), (scene.world_from_item(i), last)];
        let [from, to] = poses.map(|(item, view)| item.inverse() * view.world_from_optical);
        if !(from.is_finite() && to.is_finite()) || from == to {
            continue;
        }
        let (a, b) = (from.translation, to.translation);
        let away = |eye: Vec3| match item.solid.bounds {
            Some(bounds) => (eye - eye.clamp(bounds.low, bounds.high)).length(),
            None => 0.0,
        };
        let distance = away(a).min(away(b)).max(first.near);
        let by_the_eye = angle(from, to) + (b - a).length() / distance;
        let by_corners = item.solid.bounds.map_or(f64::INFINITY, |bounds| {
            let corners = |pose: Transform| corners_in(pose.inverse(), (bounds.low, bounds.high));
            let moved = corners(from).into_iter().zip(corners(to)).map(|(a, b)| (b - a).length());
            moved.fold(0.0, f64::max) / distance
        });
        most = most.max(by_the_eye.min(by_corners));
    }
    most
}
