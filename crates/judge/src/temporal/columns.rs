//! The operators over whole columns: one degree per sample goes in, one comes out.
//!
//! Every operator visits each sample a constant number of times, whatever the window is.
//! Windows slide in two stacks: the older samples wait with the pick of themselves and all
//! younger ones of their batch, the newer ones are kept as a single running pick. No branch
//! depends on the values, so a noisy signal costs what a flat one does.
//!
//! `out` is emptied and filled; its memory is reused.

use std::ops::Range;

use headland_base::SimTime;

use super::degree::Degree;
use crate::lang::ast::Window;

/// `not f`
pub fn not<D: Degree>(child: &[D], out: &mut Vec<D>) {
    out.clear();
    out.extend(child.iter().map(|value| value.not()));
}

/// `f and g`: the lesser.
pub fn and<D: Degree>(left: &[D], right: &[D], out: &mut Vec<D>) {
    zip_with(left, right, out, D::min);
}

/// `f or g`: the greater.
pub fn or<D: Degree>(left: &[D], right: &[D], out: &mut Vec<D>) {
    zip_with(left, right, out, D::max);
}

/// `f implies g`: `not f or g`.
pub fn implies<D: Degree>(left: &[D], right: &[D], out: &mut Vec<D>) {
    zip_with(left, right, out, degree_implies);
}

/// `f iff g`: each implies the other.
pub fn iff<D: Degree>(left: &[D], right: &[D], out: &mut Vec<D>) {
    zip_with(left, right, out, degree_iff);
}

/// `f implies g` at one moment.
pub(super) fn degree_implies<D: Degree>(left: D, right: D) -> D {
    left.not().max(right)
}

/// `f iff g` at one moment.
pub(super) fn degree_iff<D: Degree>(left: D, right: D) -> D {
    degree_implies(left, right).min(degree_implies(right, left))
}

/// `always[a,b] f`: the least of the window ahead; wholly true where that is empty.
pub fn always<D: Degree>(times: &[SimTime], window: Window, child: &[D], out: &mut Vec<D>) {
    pick_ahead(times, window, child, D::TRUE, D::min, out);
}

/// `eventually[a,b] f`: the greatest of the window ahead; wholly false where that is empty.
pub fn eventually<D: Degree>(times: &[SimTime], window: Window, child: &[D], out: &mut Vec<D>) {
    pick_ahead(times, window, child, D::FALSE, D::max, out);
}

/// `historically[a,b] f`: the least of the window behind; wholly true where that is empty.
pub fn historically<D: Degree>(times: &[SimTime], window: Window, child: &[D], out: &mut Vec<D>) {
    let mut behind = Behind::new(times, window);
    slide(|i| behind.at(i), child, D::TRUE, D::min, out);
}

/// `once[a,b] f`: the greatest of the window behind; wholly false where that is empty.
pub fn once<D: Degree>(times: &[SimTime], window: Window, child: &[D], out: &mut Vec<D>) {
    let mut behind = Behind::new(times, window);
    slide(|i| behind.at(i), child, D::FALSE, D::max, out);
}

/// `f until[a,b] g`: the greatest, over samples j of the window ahead, of the least of
/// `g[j]` and every `f[k]` from now up to but not including j.
///
/// Computed as three things that must all hold, the window being the samples lo..=hi:
/// f until lo, `f until g` without a window from lo on, and g somewhere in lo..=hi. If the
/// g found from lo on lies beyond hi then f holds as far as that, so the g within serves.
pub fn until<D: Degree>(
    times: &[SimTime],
    window: Window,
    left: &[D],
    right: &[D],
    out: &mut Vec<D>,
) {
    // u[i] = g[i] or (f[i] and u[i + 1])
    let mut unbounded = right.to_vec();
    let mut next = D::FALSE;
    for (value, held) in unbounded.iter_mut().zip(left).rev() {
        next = (*held).min(next).max(*value);
        *value = next;
    }
    if window.from_nanos <= 0 && window.to_nanos.is_none() {
        *out = unbounded;
        return;
    }
    let mut reached = Vec::new();
    eventually(times, window, right, &mut reached);
    let mut ahead = Ahead::new(times, window);
    slide(|i| i..ahead.first(i), left, D::TRUE, D::min, out);
    let mut ahead = Ahead::new(times, window);
    for (i, (value, reached)) in out.iter_mut().zip(reached).enumerate() {
        let from_window = unbounded.get(ahead.first(i)).copied().unwrap_or(D::FALSE);
        *value = (*value).min(reached).min(from_window);
    }
}

/// `f since[a,b] g`: the greatest, over samples j of the window behind, of the least of
/// `g[j]` and every `f[k]` after j up to now. The mirror of [`until`].
pub fn since<D: Degree>(
    times: &[SimTime],
    window: Window,
    left: &[D],
    right: &[D],
    out: &mut Vec<D>,
) {
    // s[i] = g[i] or (f[i] and s[i - 1])
    let mut unbounded = right.to_vec();
    let mut last = D::FALSE;
    for (value, held) in unbounded.iter_mut().zip(left) {
        last = (*held).min(last).max(*value);
        *value = last;
    }
    if window.from_nanos <= 0 && window.to_nanos.is_none() {
        *out = unbounded;
        return;
    }
    let mut reached = Vec::new();
    once(times, window, right, &mut reached);
    let mut behind = Behind::new(times, window);
    slide(|i| behind.end(i)..i + 1, left, D::TRUE, D::min, out);
    let mut behind = Behind::new(times, window);
    for (i, (value, reached)) in out.iter_mut().zip(reached).enumerate() {
        let to_window = behind.end(i).checked_sub(1).map_or(D::FALSE, |last| unbounded[last]);
        *value = (*value).min(reached).min(to_window);
    }
}

fn zip_with<D: Degree>(left: &[D], right: &[D], out: &mut Vec<D>, f: impl Fn(D, D) -> D) {
    assert_eq!(left.len(), right.len(), "columns of one recording");
    out.clear();
    out.extend(left.iter().zip(right).map(|(left, right)| f(*left, *right)));
}

/// Least or greatest of the window ahead of every sample.
fn pick_ahead<D: Degree>(
    times: &[SimTime],
    window: Window,
    child: &[D],
    of_none: D,
    pick: impl Fn(D, D) -> D,
    out: &mut Vec<D>,
) {
    let mut ahead = Ahead::new(times, window);
    if window.to_nanos.is_some() {
        return slide(|i| ahead.at(i), child, of_none, pick, out);
    }
    // To the end: one pass from behind.
    out.clear();
    out.extend_from_slice(child);
    let mut picked = of_none;
    for value in out.iter_mut().rev() {
        picked = pick(picked, *value);
        *value = picked;
    }
    if window.from_nanos > 0 {
        // The window begins further on, never earlier, so reading runs ahead of writing.
        for i in 0..out.len() {
            out[i] = out.get(ahead.first(i)).copied().unwrap_or(of_none);
        }
    }
}

/// Least or greatest of a stretch of samples whose two ends never go back.
fn slide<D: Degree>(
    mut stretch: impl FnMut(usize) -> Range<usize>,
    child: &[D],
    of_none: D,
    pick: impl Fn(D, D) -> D,
    out: &mut Vec<D>,
) {
    // `older[k]` picks from the last k + 1 samples before `batch_end`; `newer` from
    // `batch_end..end`.
    let (mut older, mut batch_end): (Vec<D>, usize) = (Vec::new(), 0);
    let (mut newer, mut end) = (of_none, 0);
    out.clear();
    out.reserve(child.len());
    for i in 0..child.len() {
        let now = stretch(i);
        if end < now.end {
            newer = child[end..now.end].iter().fold(newer, |picked, value| pick(picked, *value));
            end = now.end;
        }
        if now.start >= batch_end {
            // The whole older batch has left: the newer samples become the older ones.
            older.clear();
            let mut picked = of_none;
            older.extend(child[now.start..end].iter().rev().map(|value| {
                picked = pick(picked, *value);
                picked
            }));
            (batch_end, newer) = (end, of_none);
        }
        out.push(match batch_end - now.start {
            0 => newer,
            n => pick(older[n - 1], newer),
        });
    }
}

/// Which samples the window ahead of a sample holds. Ask in the order of the samples.
struct Ahead<'a> {
    times: &'a [SimTime],
    window: Window,
    start: usize,
    end: usize,
}

impl<'a> Ahead<'a> {
    fn new(times: &'a [SimTime], window: Window) -> Ahead<'a> {
        Ahead { times, window, start: 0, end: 0 }
    }

    /// The first sample that is not before the window; never one before `i`.
    fn first(&mut self, i: usize) -> usize {
        self.start = self.start.max(i);
        // A window that begins past the end of time holds nothing.
        let Some(begins) = self.times[i].nanos().checked_add(self.window.from_nanos.max(0)) else {
            self.start = self.times.len();
            return self.start;
        };
        while self.times.get(self.start).is_some_and(|time| time.nanos() < begins) {
            self.start += 1;
        }
        self.start
    }

    fn at(&mut self, i: usize) -> Range<usize> {
        let start = self.first(i);
        let length = self.window.to_nanos.unwrap_or(i64::MAX);
        let ends = self.times[i].nanos().saturating_add(length);
        while self.times.get(self.end).is_some_and(|time| time.nanos() <= ends) {
            self.end += 1;
        }
        start..self.end.max(start)
    }
}

/// Which samples the window behind a sample holds. Ask in the order of the samples.
struct Behind<'a> {
    times: &'a [SimTime],
    window: Window,
    start: usize,
    end: usize,
}

impl<'a> Behind<'a> {
    fn new(times: &'a [SimTime], window: Window) -> Behind<'a> {
        Behind { times, window, start: 0, end: 0 }
    }

    /// One past the last sample that is not after the window; never past `i` itself.
    fn end(&mut self, i: usize) -> usize {
        // A window that ends before the beginning of time holds nothing.
        if let Some(ends) = self.times[i].nanos().checked_sub(self.window.from_nanos.max(0)) {
            while self.end <= i && self.times[self.end].nanos() <= ends {
                self.end += 1;
            }
        }
        self.end
    }

    fn at(&mut self, i: usize) -> Range<usize> {
        let end = self.end(i);
        if let Some(length) = self.window.to_nanos {
            let begins = self.times[i].nanos().saturating_sub(length);
            while self.start < end && self.times[self.start].nanos() < begins {
                self.start += 1;
            }
        }
        self.start..end
    }
}
