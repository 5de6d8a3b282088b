//! Tracks sampled at different times, brought onto one time base.
//!
//! Exact at sample points; before the first sample there is nothing. After the last one a
//! held value goes on, because what never moves is recorded once; a line has nowhere to go.
//! Of samples with equal times the last one counts, as it would for someone who watches.

use headland_base::maths::{Vec3, slerp};
use headland_base::{SimTime, Transform};

use crate::track::Motion;

/// What stands between two samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The earlier sample, until the next one comes, if ever.
    Hold,
    /// The straight line between them; for orientations the shorter arc. Nothing after the
    /// last sample.
    #[default]
    Interpolate,
}

/// A quantity that can be blended.
pub trait Blend: Copy {
    /// `a` at 0, `b` at 1.
    fn blend(a: Self, b: Self, s: f64) -> Self;
}

impl Blend for f64 {
    fn blend(a: f64, b: f64, s: f64) -> f64 {
        a + (b - a) * s
    }
}

impl Blend for Vec3 {
    fn blend(a: Vec3, b: Vec3, s: f64) -> Vec3 {
        a + (b - a) * s
    }
}

impl Blend for Motion {
    fn blend(a: Motion, b: Motion, s: f64) -> Motion {
        Motion {
            linear: Vec3::blend(a.linear, b.linear, s),
            angular: Vec3::blend(a.angular, b.angular, s),
        }
    }
}

impl Blend for Transform {
    fn blend(a: Transform, b: Transform, s: f64) -> Transform {
        Transform::new(
            slerp(a.rotation, b.rotation, s),
            Vec3::blend(a.translation, b.translation, s),
        )
    }
}

/// The value at `time` of samples whose times never decrease.
pub fn value_at<T: Blend>(
    times: &[SimTime],
    values: &[T],
    time: SimTime,
    method: Method,
) -> Option<T> {
    assert_eq!(times.len(), values.len(), "one value per time");
    let after = times.partition_point(|t| *t <= time);
    let before = after.checked_sub(1)?;
    if times[before] == time {
        return Some(values[before]);
    }
    if method == Method::Hold {
        return Some(values[before]);
    }
    let next = *times.get(after)?;
    let s = (time - times[before]).nanos() as f64 / (next - times[before]).nanos() as f64;
    Some(T::blend(values[before], values[after], s))
}

/// The values at each of `base`, which never decreases; `None` where nothing is known.
/// One pass over both, however long.
pub fn resample<T: Blend>(
    times: &[SimTime],
    values: &[T],
    base: &[SimTime],
    method: Method,
) -> Vec<Option<T>> {
    assert_eq!(times.len(), values.len(), "one value per time");
    assert!(base.is_sorted(), "the time base never decreases");
    let mut start = 0; // no sample before this one matters any more
    let one = |time: &SimTime| {
        while times.get(start + 1).is_some_and(|next| next <= time) {
            start += 1;
        }
        let end = (start + 2).min(times.len());
        value_at(&times[start.min(end)..end], &values[start.min(end)..end], *time, method)
    };
    base.iter().map(one).collect()
}

/// Every moment any of the tracks has a sample at, once.
pub fn union_of_times(tracks: &[&[SimTime]]) -> Vec<SimTime> {
    let mut all: Vec<SimTime> = tracks.concat();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use headland_base::maths::{Quat, quat_from_rpy, rpy_from_quat};

    fn at(nanos: i64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    #[test]
    fn exact_at_samples_nothing_before_and_a_line_between() {
        let times = [at(10), at(20), at(20), at(40)];
        let values = [1.0, 2.0, 3.0, 7.0];
        for (nanos, held, line) in [
            (9, None, None),
            (10, Some(1.0), Some(1.0)),
            (15, Some(1.0), Some(1.5)),
            (20, Some(3.0), Some(3.0)),
            (25, Some(3.0), Some(4.0)),
            (40, Some(7.0), Some(7.0)),
            (41, Some(7.0), None),
            (i64::MAX, Some(7.0), None),
        ] {
            assert_eq!(value_at(&times, &values, at(nanos), Method::Hold), held, "{nanos}");
            assert_eq!(value_at(&times, &values, at(nanos), Method::Interpolate), line, "{nanos}");
        }
        assert_eq!(value_at::<f64>(&[], &[], at(0), Method::Hold), None);
        // What never moves has one sample, and is there all the time.
        let base = [at(10), at(500), at(1000)];
        assert_eq!(resample(&[at(10)], &[2.0], &base, Method::Hold), [Some(2.0); 3]);
    }

    /// Two roads to one answer: the single pass and one search per time.
    #[test]
    fn resampling_is_asking_for_each_time() {
        let times: Vec<SimTime> = [0, 3, 3, 4, 9, 15, 15, 15, 22].map(at).to_vec();
        let values: Vec<f64> = (0..9).map(|i| f64::from(i * i)).collect();
        let base: Vec<SimTime> = (-3..30).map(at).collect();
        for method in [Method::Hold, Method::Interpolate] {
            let single: Vec<_> =
                base.iter().map(|t| value_at(&times, &values, *t, method)).collect();
            assert_eq!(resample(&times, &values, &base, method), single);
        }
        assert_eq!(resample::<f64>(&[], &[], &base, Method::Hold), vec![None; base.len()]);
    }

    #[test]
    fn orientations_turn_at_constant_speed() {
        let pose = |yaw| Transform::from_rotation(quat_from_rpy(0.0, 0.0, yaw));
        let (times, poses) = ([at(0), at(1000)], [pose(0.2), pose(1.8)]);
        for i in 0..=10 {
            let got = value_at(&times, &poses, at(i * 100), Method::Interpolate).unwrap();
            let yaw = rpy_from_quat(got.rotation).z;
            assert!((yaw - (0.2 + 0.16 * i as f64)).abs() < 1e-12);
        }
        // The other sign of a quaternion is the same orientation and no detour.
        let negative = Transform::from_rotation(Quat::from_xyzw(0.0, 0.0, 0.0, -1.0));
        let got = value_at(&times, &[pose(0.0), negative], at(500), Method::Interpolate).unwrap();
        assert!(rpy_from_quat(got.rotation).length() < 1e-12);
    }

    #[test]
    fn one_base_for_all() {
        let (a, b) = ([at(1), at(3)], [at(1), at(2), at(2)]);
        assert_eq!(union_of_times(&[&a, &b]), [at(1), at(2), at(3)]);
    }
}
