//! Where two recordings part ways in the eyes of one test.
//!
//! Two timelines of the same test go in; the first moment at which different transitions fire
//! comes out. That the same transition fires a step earlier is no parting: engines differ by
//! that much everywhere. Another transition, or none where the other has one, is. Of a timeline
//! that was cut nobody knows what came behind its last transition, so nothing there is one; nor
//! is it where the recording ended before the other's transition.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Transitions of that machine they share before.
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
    /// What fired, machine by machine: which of two that are side by side fires first is no
    /// difference between recordings.
    fn steps(&self) -> BTreeMap<u32, Vec<&Fired>> {
        let mut out: BTreeMap<u32, Vec<&Fired>> = BTreeMap::new();
        for fired in &self.timeline.fired {
            out.entry(fired.machine).or_default().push(fired);
        }
        out
    }

    fn told(&self, fired: &Fired) -> (SimTime, String) {
        let machine = &self.code.machines[fired.machine as usize];
        let transition = &machine.transitions[fired.transition as usize];
        let time = self.times.get(fired.tick).or(self.times.last()).copied();
        let label = transition.label.as_ref().map_or(String::new(), |label| format!(" ({label})"));
        (time.unwrap_or(SimTime::ZERO), format!("{} {}{label}", machine.name, transition.arc))
    }

    /// A transition as it stands in the test, on one line.
    fn written(&self, fired: &Fired) -> String {
        let machine = &self.code.machines[fired.machine as usize];
        let site = machine.transitions[fired.transition as usize].site;
        self.code.text(site).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// What a course did next, and when.
type Told = Option<(SimTime, String)>;

/// Where two courses of one test part; `None` if they never do, as far as both are kept.
pub fn parting(first: Course<'_>, second: Course<'_>) -> Option<Parting> {
    let (ours, theirs) = (first.steps(), second.steps());
    let machines: BTreeSet<u32> = ours.keys().chain(theirs.keys()).copied().collect();
    let none = Vec::new();
    let of_machine = |machine: u32| {
        let ours = ours.get(&machine).unwrap_or(&none);
        let theirs = theirs.get(&machine).unwrap_or(&none);
        // Two that are written alike are one to whoever reads of them.
        let is_shared = |(a, b): &(&&Fired, &&Fired)| {
            a.transition == b.transition || first.written(a) == second.written(b)
        };
        let n_shared = ours.iter().zip(theirs).take_while(is_shared).count();
        let told = |course: &Course<'_>, steps: &[&Fired]| {
            steps.get(n_shared).map(|fired| course.told(fired))
        };
        // Whether nobody knows what a course would have done when the other did something.
        let is_unknown = |course: &Course<'_>, step: &Told, other: &Told| {
            let ended_before = |(time, _): &(SimTime, String)| course.times.last() < Some(time);
            step.is_none() && (course.timeline.is_cut || other.as_ref().is_some_and(ended_before))
        };
        let (mut told_first, mut told_second) = (told(&first, ours), told(&second, theirs));
        // From one state to another by another way: the ways are what differs.
        if let (Some((_, a)), Some((_, b))) = (&mut told_first, &mut told_second)
            && a == b
        {
            *a = first.written(ours[n_shared]);
            *b = second.written(theirs[n_shared]);
        }
        if is_unknown(&first, &told_first, &told_second)
            || is_unknown(&second, &told_second, &told_first)
        {
            return None;
        }
        let (first, second) = (told_first, told_second);
        let time = [&first, &second].into_iter().flatten().map(|(time, _)| *time).min()?;
        Some(Parting { time, first, second, n_shared })
    };
    machines.into_iter().filter_map(of_machine).min_by_key(|parting| parting.time)
}

/// Courses that never part, by their numbers, in the order of their first members.
pub fn companies(courses: &[Course<'_>]) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = Vec::new();
    for (i, course) in courses.iter().enumerate() {
        let goes_along =
            |company: &&mut Vec<usize>| parting(courses[company[0]], *course).is_none();
        match out.iter_mut().find(goes_along) {
            Some(company) => company.push(i),
            None => out.push(vec![i]),
        }
    }
    out
}
