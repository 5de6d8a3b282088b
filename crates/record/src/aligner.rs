//! Samples on their way, brought onto one time base: every track has a sample in every row.
//!
//! ```text
//! any source ─► Aligner ─► at each moment of the base, one sample per track ─► Goal
//! ```
//!
//! A moment is answered once nothing can come before it any more, and where lines are drawn,
//! once every track that goes on has its next sample. What waits till then is all that is
//! kept, and too much of it is refused. The rules are those of [`crate::align`]. Contacts are
//! always held: half a contact means nothing. Texts are left out.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use headland_base::{Diagnostic, SimDuration, SimTime, Transform};

use crate::align::{Blend, Method};
use crate::layout::Layout;
use crate::messages::Contact;
use crate::sample::{Goal, Sample, Sort};
use crate::track::Motion;

/// How tracks are brought onto one time base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// What stands between two samples.
    pub method: Method,
    /// The distance of the rows, from the first sample on; by default there is a row at every
    /// moment any track has a sample.
    pub period: Option<SimDuration>,
}

/// Most numbers that wait for the next sample of another track: 64 MiB.
const WAITING_MAX: usize = 8 << 20;

/// A sample that is kept.
#[derive(Clone)]
enum Kept {
    Pose(Transform),
    Motion(Motion),
    Joints { names: Vec<String>, lists: [Vec<f64>; 3] },
    Numbers(Vec<(String, f64)>),
    Contacts(Vec<Contact>),
}

#[derive(Default)]
struct Waiting {
    /// The last sample at or before the moment at hand, and all after it.
    samples: VecDeque<(SimTime, Kept)>,
    /// When its last sample comes.
    last: Option<SimTime>,
}

/// Hands samples on at the moments of one time base.
pub(crate) struct Aligner<'g> {
    goal: &'g mut dyn Goal,
    alignment: Alignment,
    tracks: Vec<Waiting>,
    /// Moments that were not answered yet; with a period, the next one.
    base: BTreeSet<SimTime>,
    lateness: SimDuration,
    newest: SimTime,
    end: SimTime,
    n_waiting: usize,
    n_waiting_max: usize,
}

impl<'g> Aligner<'g> {
    /// For the tracks of a layout.
    pub fn new(goal: &'g mut dyn Goal, layout: &Layout, alignment: Alignment) -> Aligner<'g> {
        let track = |last| Waiting { last, ..Waiting::default() };
        let first = layout.tracks.iter().filter_map(|seen| Some(seen.span?.0)).min();
        let end = layout.tracks.iter().filter_map(|seen| Some(seen.span?.1)).max();
        Aligner {
            goal,
            alignment,
            tracks: layout.tracks.iter().map(|seen| track(seen.span.map(|s| s.1))).collect(),
            base: first.filter(|_| alignment.period.is_some()).into_iter().collect(),
            lateness: layout.lateness,
            newest: SimTime::from_nanos(i64::MIN),
            end: end.unwrap_or(SimTime::ZERO),
            n_waiting: 0,
            n_waiting_max: WAITING_MAX,
        }
    }

    /// Answers the moments that are left, once all samples passed.
    pub fn finish(mut self) -> Result<(), Diagnostic> {
        while let Some(moment) = self.base.first().copied() {
            self.answer(moment)?;
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<(), Diagnostic> {
        while let Some(moment) = self.base.first().copied() {
            if moment >= self.newest - self.lateness || !self.is_known(moment) {
                break;
            }
            self.answer(moment)?;
        }
        if self.n_waiting <= self.n_waiting_max {
            return Ok(());
        }
        let message = "the samples of one topic are too far apart to draw lines between them";
        Err(Diagnostic::error("align-too-far", message)
            .help("hold the last value instead: `--align hold`"))
    }

    /// Whether every track that goes on has a sample at or after a moment.
    fn is_known(&self, moment: SimTime) -> bool {
        self.alignment.method == Method::Hold
            || self.tracks.iter().all(|track| match track.samples.back() {
                Some((time, _)) => *time >= moment || Some(*time) >= track.last,
                None => track.last.is_none(),
            })
    }

    fn answer(&mut self, moment: SimTime) -> Result<(), Diagnostic> {
        self.base.pop_first();
        if let Some(period) = self.alignment.period
            && moment + period <= self.end
        {
            self.base.insert(moment + period);
        }
        for at in 0..self.tracks.len() {
            let samples = &mut self.tracks[at].samples;
            while samples.get(1).is_some_and(|(time, _)| *time <= moment) {
                let gone = samples.pop_front().expect("two are there");
                self.n_waiting -= gone.1.n_numbers();
            }
            if let Some(kept) = value_at(samples, moment, self.alignment.method) {
                kept.give(at, moment, self.goal)?;
            }
        }
        Ok(())
    }
}

/// As [`crate::align::value_at`], of a queue whose second sample is later than the moment.
fn value_at(samples: &VecDeque<(SimTime, Kept)>, moment: SimTime, method: Method) -> Option<Kept> {
    let (time, kept) = samples.front().filter(|(time, _)| *time <= moment)?;
    if *time == moment || method == Method::Hold || matches!(kept, Kept::Contacts(_)) {
        return Some(kept.clone());
    }
    let (next_time, next) = samples.get(1)?;
    let s = (moment - *time).nanos() as f64 / (*next_time - *time).nanos() as f64;
    Some(kept.blended(next, s))
}

impl Kept {
    fn of(sample: Sample<'_>) -> Option<Kept> {
        Some(match sample {
            Sample::Pose(pose) => Kept::Pose(pose),
            Sample::Motion(motion) => Kept::Motion(motion),
            Sample::Joints { names, lists } => {
                Kept::Joints { names: names.to_vec(), lists: lists.map(<[f64]>::to_vec) }
            }
            Sample::Numbers(numbers) => {
                Kept::Numbers(numbers.iter().map(|(key, n)| (key.to_string(), *n)).collect())
            }
            Sample::Contacts(contacts) => Kept::Contacts(contacts),
            Sample::Remark(_) => return None,
        })
    }

    fn n_numbers(&self) -> usize {
        match self {
            Kept::Pose(_) | Kept::Motion(_) => 8,
            // A name weighs more than its number.
            Kept::Joints { names, lists } => {
                8 + names.len() * 4 + lists.iter().map(Vec::len).sum::<usize>()
            }
            Kept::Numbers(numbers) => 8 + numbers.len() * 6,
            Kept::Contacts(contacts) => 8 + contacts.len() * 24,
        }
    }

    /// The way to the next sample, gone this far. Where the two have not the same keys, the
    /// first one counts.
    fn blended(&self, next: &Kept, s: f64) -> Kept {
        match (self, next) {
            (Kept::Pose(a), Kept::Pose(b)) => Kept::Pose(Transform::blend(*a, *b, s)),
            (Kept::Motion(a), Kept::Motion(b)) => Kept::Motion(Motion::blend(*a, *b, s)),
            (Kept::Joints { names, lists: a }, Kept::Joints { names: others, lists: b })
                if names == others =>
            {
                let blend = |i: usize| match a[i].len() == b[i].len() {
                    true => a[i].iter().zip(&b[i]).map(|(a, b)| f64::blend(*a, *b, s)).collect(),
                    false => a[i].clone(),
                };
                Kept::Joints { names: names.clone(), lists: [0, 1, 2].map(blend) }
            }
            (Kept::Numbers(a), Kept::Numbers(b))
                if a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0) =>
            {
                let pairs = a.iter().zip(b);
                let blended = pairs.map(|((key, a), (_, b))| (key.clone(), f64::blend(*a, *b, s)));
                Kept::Numbers(blended.collect())
            }
            _ => self.clone(),
        }
    }

    fn give(self, track: usize, time: SimTime, goal: &mut dyn Goal) -> Result<(), Diagnostic> {
        match self {
            Kept::Pose(pose) => goal.sample(track, time, "", Sample::Pose(pose)),
            Kept::Motion(motion) => goal.sample(track, time, "", Sample::Motion(motion)),
            Kept::Joints { names, lists } => {
                let lists = [&lists[0][..], &lists[1], &lists[2]];
                goal.sample(track, time, "", Sample::Joints { names: &names, lists })
            }
            Kept::Numbers(numbers) => {
                let numbers: Vec<_> =
                    numbers.into_iter().map(|(key, number)| (Cow::from(key), number)).collect();
                goal.sample(track, time, "", Sample::Numbers(&numbers))
            }
            Kept::Contacts(contacts) => goal.sample(track, time, "", Sample::Contacts(contacts)),
        }
    }
}

impl Goal for Aligner<'_> {
    fn track(&mut self, topic: &str, schema: &str, sort: Sort) -> Result<(), Diagnostic> {
        self.goal.track(topic, schema, sort)
    }

    fn sample(
        &mut self,
        track: usize,
        time: SimTime,
        _: &str,
        sample: Sample<'_>,
    ) -> Result<(), Diagnostic> {
        self.newest = self.newest.max(time);
        if let Some(kept) = Kept::of(sample) {
            self.n_waiting += kept.n_numbers();
            self.tracks[track].samples.push_back((time, kept));
            if self.alignment.period.is_none() {
                self.base.insert(time);
            }
        }
        self.advance()
    }
}

#[cfg(test)]
mod tests {
    use headland_base::maths::{Vec3, quat_from_rpy, rpy_from_quat};

    use super::*;
    use crate::align::resample;
    use crate::load::Columns;
    use crate::recording::Recording;

    fn at(nanos: i64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    fn pose(x: f64) -> Transform {
        Transform::new(quat_from_rpy(0.0, 0.0, x / 100.0), Vec3::new(x, 0.0, 0.0))
    }

    /// Poses every 10 ns, a number every 35 ns that comes late, and one that never changes.
    fn pour(goal: &mut dyn Goal) {
        goal.track("/a/pose", "", Sort::Poses).unwrap();
        goal.track("/n", "", Sort::Numbers).unwrap();
        goal.track("/still/pose", "", Sort::Poses).unwrap();
        goal.sample(2, at(0), "", Sample::Pose(pose(7.0))).unwrap();
        for i in 0..21 {
            goal.sample(0, at(i * 10), "", Sample::Pose(pose(i as f64))).unwrap();
            if i % 4 == 3 {
                let numbers = [("data".into(), i as f64)];
                goal.sample(1, at(i / 4 * 35), "", Sample::Numbers(&numbers)).unwrap();
            }
        }
    }

    fn aligned(alignment: Alignment) -> Recording {
        let mut layout = Layout::default();
        pour(&mut layout);
        let mut columns = Columns::new(1 << 20);
        let mut aligner = Aligner::new(&mut columns, &layout, alignment);
        pour(&mut aligner);
        aligner.finish().unwrap();
        columns.finish(&mut headland_base::Findings::new())
    }

    /// Two roads to one table: on the way, and with everything in memory.
    #[test]
    fn on_the_way_is_as_in_memory() {
        let times: Vec<SimTime> = (0..21).map(|i| at(i * 10)).collect();
        let poses: Vec<Transform> = (0..21).map(|i| pose(f64::from(i))).collect();
        let (slow, numbers) = ([0, 35, 70, 105, 140].map(at), [3.0, 7.0, 11.0, 15.0, 19.0]);
        for method in [Method::Hold, Method::Interpolate] {
            for period in [None, Some(SimDuration::from_nanos(7))] {
                let recording = aligned(Alignment { method, period });
                let mut base: BTreeSet<SimTime> = times.iter().chain(&slow).copied().collect();
                if period.is_some() {
                    base = (0..=200).step_by(7).map(at).collect();
                }
                let base: Vec<SimTime> = base.into_iter().collect();
                let (got_times, got) = recording.poses("a").unwrap();
                assert_eq!(got_times, base);
                let wanted = resample(&times, &poses, &base, method);
                assert_eq!(got.iter().copied().map(Some).collect::<Vec<_>>(), wanted);
                let wanted: Vec<f64> =
                    resample(&slow, &numbers, &base, method).into_iter().flatten().collect();
                assert_eq!(recording.column("n").unwrap().values, wanted);
                let n_still = recording.poses("still").unwrap().0.len();
                assert_eq!(n_still, if method == Method::Hold { base.len() } else { 1 });
            }
        }
        let line = aligned(Alignment { method: Method::Interpolate, period: None });
        let column = line.poses("a").unwrap();
        let between = column.0.iter().position(|time| *time == at(35)).unwrap();
        let turn = rpy_from_quat(column.1[between].rotation).z;
        assert!((turn - 0.035).abs() < 1e-12, "{turn}");
    }

    /// A line to a sample that is far away would keep the whole log.
    #[test]
    fn what_would_wait_for_ever_is_refused() {
        let mut layout = Layout::default();
        pour(&mut layout);
        let mut columns = Columns::new(1 << 20);
        let alignment = Alignment { method: Method::Interpolate, period: None };
        let mut aligner = Aligner::new(&mut columns, &layout, alignment);
        aligner.n_waiting_max = 40;
        aligner.track("/a/pose", "", Sort::Poses).unwrap();
        let refused =
            (0..21).find_map(|i| aligner.sample(0, at(i * 10), "", Sample::Pose(pose(0.0))).err());
        assert_eq!(refused.unwrap().code, "align-too-far");
    }
}
