//! The shortest stretch of a recording that still gives the same red.

use std::ops::Range;
use std::sync::Arc;

use crate::blame::Step;
use crate::code::Code;
use crate::judge::{JudgeOptions, judge};
use crate::scene::Scene;
use crate::verdict::Verdict;

/// Every length of a stretch is tried up to this one; beyond it lengths are halved.
const EXHAUSTIVE: usize = 1000;

/// The shortest stretch found around what decides a formula in which it still does not hold:
/// what decides it alone, or with the snapshot at which it is asked, or growing from there.
pub(super) fn shortest_formula(
    code: &Code,
    scene: &Arc<Scene>,
    name: &str,
    steps: &[Step],
) -> Option<Range<usize>> {
    let is_red = |range: &Range<usize>| {
        let judgement = judge(code, &scene.stretch(range.clone()), &JudgeOptions::default());
        let mut roots = judgement.roots.iter().filter(|root| root.robustness.is_some());
        roots.any(|root| root.name == name && root.verdict == Verdict::Red)
    };
    let around = |steps: &mut dyn Iterator<Item = &Step>| {
        let ticks: Vec<usize> = steps.map(|step| step.tick).collect();
        Some(*ticks.iter().min()?..*ticks.iter().max()? + 1)
    };
    let n = scene.times().len();
    let mut range = around(&mut steps.iter().filter(|step| step.atom.is_some()))
        .filter(&is_red)
        .or_else(|| around(&mut steps.iter()))?;
    let mut more = 1;
    while !is_red(&range) {
        if range == (0..n) {
            return None;
        }
        range = range.start.saturating_sub(more)..(range.end + more).min(n);
        more *= 2;
    }
    // From either side as far as it goes; halving, so the shortest found, not the shortest.
    let (mut works, mut fails) = (range.start, range.end);
    while fails - works > 1 {
        let middle = works + (fails - works) / 2;
        if is_red(&(middle..range.end)) { works = middle } else { fails = middle }
    }
    range.start = works;
    let (mut works, mut fails) = (range.end, range.start);
    while works - fails > 1 {
        let middle = fails + (works - fails) / 2;
        if is_red(&(range.start..middle)) { works = middle } else { fails = middle }
    }
    Some(range.start..works)
}

/// The shortest stretch, ending where it turned red or one snapshot later, that turns red by
/// the same transition. One later, because a test may look out for the end and go to green.
pub(super) fn shortest(
    code: &Code,
    scene: &Arc<Scene>,
    tick: usize,
    by: (u32, u32),
) -> Option<Range<usize>> {
    let mut ends = [tick + 1, tick + 2].into_iter().filter(|end| *end <= scene.times().len());
    // The second costs as much again, and is asked only where the first has no answer.
    ends.find_map(|end| shortest_to(code, scene, end, by))
}

fn shortest_to(
    code: &Code,
    scene: &Arc<Scene>,
    end: usize,
    by: (u32, u32),
) -> Option<Range<usize>> {
    // A stretch of its own: formulas are then computed for it and not for all before it.
    let is_same = |length: usize| {
        let stretch = scene.stretch(end - length..end);
        let judgement = judge(code, &stretch, &JudgeOptions::default());
        judgement.roots.iter().any(|root| root.by == Some(by))
    };
    if let Some(length) = (1..=end.min(EXHAUSTIVE)).find(|length| is_same(*length)) {
        return Some(end - length..end);
    }
    // Beyond that lengths are doubled until one does, which is cheaper than beginning with
    // the longest, and then halved: the shortest found, which need not be the shortest.
    let (mut fails, mut works) = (EXHAUSTIVE.min(end), EXHAUSTIVE.min(end));
    while fails == works {
        if works == end {
            return None;
        }
        works = (works * 2).min(end);
        if !is_same(works) {
            fails = works;
        }
    }
    while works - fails > 1 {
        let middle = fails + (works - fails) / 2;
        if is_same(middle) {
            works = middle;
        } else {
            fails = middle;
        }
    }
    Some(end - works..end)
}
