//! What the forms share: an object's way through a recording, and the energy of rigid parts.

use headland_base::maths::{Mat3, Vec3};
use headland_base::{SimTime, Transform};
use headland_record::Recording;
use headland_record::track::Motion;

/// An object's poses and velocities, sample by sample.
pub(super) struct Way<'a> {
    /// \[s\]
    pub(super) times: Vec<f64>,
    pub(super) poses: &'a [Transform],
    pub(super) motions: &'a [Motion],
}

impl<'a> Way<'a> {
    /// The way of an object that was recorded for at least `secs`.
    pub(super) fn of(recording: &'a Recording, object: &str, secs: f64) -> Result<Way<'a>, String> {
        let missing = || format!("the recording has no poses and velocities of `{object}`");
        let (times, poses) = recording.poses(object).ok_or_else(missing)?;
        let (motion_times, motions) = recording.motions(object).ok_or_else(missing)?;
        if times != motion_times {
            return Err(format!("poses and velocities of `{object}` were sampled apart"));
        }
        let is_sound = poses.iter().all(Transform::is_finite)
            && motions.iter().all(|m| m.linear.is_finite() && m.angular.is_finite());
        if !is_sound {
            return Err(format!("`{object}` went non-finite"));
        }
        Ok(Way { times: lasting(times, secs)?, poses, motions })
    }

    /// Where it is at a moment, between two samples on the line between them.
    pub(super) fn position_at(&self, secs: f64) -> Vec3 {
        between(&self.times, secs, |i| self.poses[i].translation, |a, b, s| a.lerp(b, s))
    }

    /// How fast it is at a moment.
    pub(super) fn velocity_at(&self, secs: f64) -> Vec3 {
        between(&self.times, secs, |i| self.motions[i].linear, |a, b, s| a.lerp(b, s))
    }

    /// How fast it turns at a moment.
    pub(super) fn turn_rate_at(&self, secs: f64) -> Vec3 {
        between(&self.times, secs, |i| self.motions[i].angular, |a, b, s| a.lerp(b, s))
    }

    /// Samples with a time up to `secs`.
    pub(super) fn n_until(&self, secs: f64) -> usize {
        self.times.partition_point(|time| *time <= secs + CLOCK_SLACK)
    }
}

/// Half a microsecond: steps such as 1/60 s are no whole number of nanoseconds.
const CLOCK_SLACK: f64 = 5e-7;

/// Times in seconds, where they reach to `secs`.
fn lasting(times: &[SimTime], secs: f64) -> Result<Vec<f64>, String> {
    let times: Vec<f64> = times.iter().map(|time| time.secs()).collect();
    match times.last() {
        None => Err("nothing was recorded".to_string()),
        Some(end) if *end + CLOCK_SLACK < secs => {
            Err(format!("the recording ends at {end} s, and {secs} s are needed"))
        }
        Some(_) => Ok(times),
    }
}

/// A column at a moment.
fn between<T>(
    times: &[f64],
    secs: f64,
    at: impl Fn(usize) -> T,
    blend: impl Fn(T, T, f64) -> T,
) -> T {
    let i = times.partition_point(|time| *time < secs);
    if i == 0 {
        return at(0);
    }
    if i == times.len() {
        return at(i - 1);
    }
    let share = (secs - times[i - 1]) / (times[i] - times[i - 1]);
    blend(at(i - 1), at(i), share)
}

/// Position of a joint over time, `(times, positions)`.
pub(super) fn joint_positions(
    recording: &Recording,
    joint: &str,
    secs: f64,
) -> Result<(Vec<f64>, Vec<f64>), String> {
    joint_column(recording, joint, "position", secs)
}

/// A column of a joint over time.
pub(super) fn joint_column(
    recording: &Recording,
    joint: &str,
    property: &str,
    secs: f64,
) -> Result<(Vec<f64>, Vec<f64>), String> {
    let column = recording.require_column(&format!("{joint}/{property}")).map_err(|d| d.message)?;
    if column.values.iter().any(|value| !value.is_finite()) {
        return Err(format!("the {property} of `{joint}` went non-finite"));
    }
    Ok((lasting(column.times, secs)?, column.values.into_owned()))
}

/// The world's gravity, from the facts of the run \[m/s²\].
pub(super) fn gravity(recording: &Recording) -> Result<Vec3, String> {
    let text = recording.facts.get("gravity").ok_or("the recording does not say its gravity")?;
    let numbers: [f64; 3] = serde_json::from_str(text)
        .map_err(|_| format!("the gravity of the recording is `{text}`"))?;
    Ok(Vec3::from_array(numbers))
}

/// A rigid part as formulas know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The object whose frame it moves with.
    pub object: &'static str,
    /// \[kg\]
    pub mass: f64,
    /// Centre of mass in the object's frame \[m\].
    pub centre: Vec3,
    /// About the centre of mass, along the object's axes \[kg·m²\].
    pub inertia: Mat3,
}

impl Part {
    /// A part whose principal axes are the object's.
    pub fn new(object: &'static str, mass: f64, centre: Vec3, moments: Vec3) -> Part {
        Part { object, mass, centre, inertia: Mat3::from_diagonal(moments) }
    }

    /// `R·I·Rᵀ·ω`: angular momentum about the centre of mass, in the world's frame.
    pub(super) fn angular_momentum(&self, pose: &Transform, motion: &Motion) -> Vec3 {
        pose.vector(self.inertia * pose.inverse().vector(motion.angular))
    }
}

/// `m·v²/2 + ω·(R·I·Rᵀ)·ω/2 − m·g·p` of a part, with `v` and `p` of its centre \[J\].
pub fn energy(part: &Part, pose: &Transform, motion: &Motion, gravity: Vec3) -> f64 {
    let arm = pose.vector(part.centre);
    let velocity = motion.linear + motion.angular.cross(arm);
    0.5 * part.mass * velocity.dot(velocity)
        + 0.5 * motion.angular.dot(part.angular_momentum(pose, motion))
        - part.mass * gravity.dot(pose.translation + arm)
}

/// The energy of all parts at each sample, for at least `secs` \[J\].
pub(super) fn energies(
    recording: &Recording,
    parts: &[Part],
    secs: f64,
) -> Result<Vec<f64>, String> {
    let gravity = gravity(recording)?;
    let mut out = Vec::new();
    for part in parts {
        let way = Way::of(recording, part.object, secs)?;
        out.resize(way.poses.len(), 0.0);
        for ((sum, pose), motion) in out.iter_mut().zip(way.poses).zip(way.motions) {
            *sum += energy(part, pose, motion, gravity);
        }
    }
    Ok(out)
}

/// The largest `|E − E(0)|` as a share of `scale`.
pub(super) fn drift(energies: &[f64], scale: f64) -> f64 {
    worst(energies.iter().map(|energy| (energy - energies[0]) / scale))
}

/// The largest in size; NaN where one of them is.
pub(super) fn worst(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |worst: f64, value| {
        if worst.is_nan() || value.is_nan() { f64::NAN } else { value.abs().max(worst) }
    })
}

/// One step of the classical Runge-Kutta method of fourth order.
pub(super) fn runge_kutta<const N: usize>(
    state: [f64; N],
    dt: f64,
    rate: impl Fn(&[f64; N]) -> [f64; N],
) -> [f64; N] {
    let moved = |by: &[f64; N], share: f64| -> [f64; N] {
        std::array::from_fn(|i| state[i] + share * dt * by[i])
    };
    let k1 = rate(&state);
    let k2 = rate(&moved(&k1, 0.5));
    let k3 = rate(&moved(&k2, 0.5));
    let k4 = rate(&moved(&k3, 1.0));
    std::array::from_fn(|i| state[i] + dt / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

/// Follows a motion from sample to sample, in steps of at most `dt_max`, and calls `each` with
/// the index and the state at every one of them.
pub(super) fn follow<const N: usize>(
    times: &[f64],
    start: [f64; N],
    dt_max: f64,
    rate: impl Fn(&[f64; N]) -> [f64; N],
    mut each: impl FnMut(usize, &[f64; N]),
) {
    let mut state = start;
    for i in 0..times.len() {
        if i > 0 {
            let span = times[i] - times[i - 1];
            let n_steps = (span / dt_max).ceil().max(1.0);
            for _ in 0..n_steps as usize {
                state = runge_kutta(state, span / n_steps, &rate);
            }
        }
        each(i, &state);
    }
}
