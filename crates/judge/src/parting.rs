//! Where two recordings part ways in the eyes of one test.
//!
//! Two timelines of the same test go in; the first moment at which different transitions fire
//! comes out. That the same transition fires a step earlier is no parting: engines differ by
//! that much everywhere. Another transition, or none where the other has one, is.

use headland_base::SimTime;

use crate::code::Code;
use crate::timeline::{Fired, Timeline};

/// The first transition two recordings do not share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// When the first of the two fired.
    pub time: SimTime,
    /// What the first did, and when; nothing any more if `None`.
    pub first: Option<(SimTime, String)>,
    /// What the second did.
    pub second: Option<(SimTime, String)>,
    /// Transitions they share before that.
    pub n_shared: usize,
}

/// What a test did on one recording, and when its snapshots were.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The test.
    pub code: &'a Code,
    /// What it did.
    pub timeline: &'a Timeline,
    /// The snapshots it did it on.
    pub times: &'a [SimTime],
}

impl Course<'_> {
    fn steps(&self) -> impl Iterator<Item = (u32, u32)> {
        self.timeline.fired.iter().map(|fired| (fired.machine, fired.transition))
    }

    fn told(&self, fired: &Fired) -> (SimTime, String) {
        let machine = &self.code.machines[fired.machine as usize];
        let transition = &machine.transitions[fired.transition as usize];
        let time = self.times.get(fired.tick).or(self.times.last()).copied();
        (time.unwrap_or(SimTime::ZERO), format!("{} {}", machine.name, transition.arc))
    }
}

/// Where two courses of one test part; `None` if they never do.
pub fn parting(first: Course<'_>, second: Course<'_>) -> Option<Parting> {
    let n_shared = first.steps().zip(second.steps()).take_while(|(a, b)| a == b).count();
    let next =
        |course: Course<'_>| course.timeline.fired.get(n_shared).map(|fired| course.told(fired));
    let (first, second) = (next(first), next(second));
    let time = [&first, &second].into_iter().flatten().map(|(time, _)| *time).min()?;
    Some(Parting { time, first, second, n_shared })
}

/// Courses that never part, by their numbers, in the order of their first members.
pub fn companies(courses: &[Course<'_>]) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = Vec::new();
    for (i, course) in courses.iter().enumerate() {
        let goes_along = |company: &&mut Vec<usize>| courses[company[0]].steps().eq(course.steps());
        match out.iter_mut().find(goes_along) {
            Some(company) => company.push(i),
            None => out.push(vec![i]),
        }
    }
    out
}
