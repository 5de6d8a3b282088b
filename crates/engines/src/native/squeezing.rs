//! Where things may squeeze each other, and the answer without it.
//!
//! In a squeeze every body is pushed from opposite sides, so who pushes whom along some way comes
//! round in a circle: wall, cube, other wall, all that stands still being one. On a ground nothing
//! pushes down on what does not move, and there is no circle, however a robot lies on it.
//!
//! Deliberately absent: squeezes in which friction is what pushes, as in a right angle of two sides
//! that rub with more than their weight, and those by limbs that move as they are told.

use headland_base::Vec3;
use headland_sim::contact::hard::{self, Outcome};

use super::solving::{HOLDING, Now, Work};

/// Who presses whom: scratch.
#[derive(Default)]
pub(super) struct Presses {
    /// From whom to whom, and which way; none for what stands still.
    all: Vec<Press>,
    /// Those along one way that may be in a circle.
    along: Vec<(Option<usize>, Option<usize>)>,
}

#[derive(Clone, Copy, PartialEq)]
struct Press {
    from: Option<usize>,
    to: Option<usize>,
    way: Vec3,
}

/// Cosines of less are those of sides that do not push along a way.
const ACROSS: f64 = 1e-9;

impl Work {
    /// Takes out of an answer what squeezes and moves nothing. What limbs that move as they are told
    /// squeeze is theirs, and where no answer was found there is nothing to take out of it.
    pub fn ease(&mut self, now: &Now<'_>, chosen: &[usize], found: Outcome) -> Outcome {
        let is_answer = found.residual <= HOLDING.tolerance;
        if !is_answer || !self.strengths.is_empty() || !self.may_squeeze(now, chosen) {
            return found;
        }
        let (problem, _, impulses, scratch) = self.posed();
        hard::ease(&problem, impulses, found, &HOLDING, scratch)
    }

    fn may_squeeze(&mut self, now: &Now<'_>, chosen: &[usize]) -> bool {
        let pushes = self.impulses.iter().step_by(3).take(self.contacts.len());
        let pressing = chosen.iter().zip(pushes).filter(|(_, push)| **push > 0.0);
        self.presses.all.clear();
        for touch in pressing.filter_map(|(block, _)| now.touch_of(*block)) {
            let [from, to] = touch.moved();
            let press = Press { from, to, way: touch.point.normal };
            // Points of a flat side have one normal.
            if self.presses.all.last() != Some(&press) {
                self.presses.all.push(press);
            }
        }
        self.presses.all.len() <= HOLDING.n_newton_max && self.presses.have_a_circle()
    }
}

impl Presses {
    /// Whether along the way of any of them who presses whom comes round.
    fn have_a_circle(&mut self) -> bool {
        (0..self.all.len()).any(|i| {
            let way = self.all[i].way;
            let is_new = self.all[..i].iter().all(|before| before.way != way);
            is_new && self.have_a_circle_along(way)
        })
    }

    fn have_a_circle_along(&mut self, way: Vec3) -> bool {
        let Presses { all, along } = self;
        along.clear();
        along.extend(all.iter().filter_map(|press| match press.way.dot(way) {
            cosine if cosine > ACROSS => Some((press.from, press.to)),
            cosine if cosine < -ACROSS => Some((press.to, press.from)),
            _ => None,
        }));
        along.sort_unstable();
        along.dedup();
        // Whom nobody presses further is no part of a circle, nor is who pressed only those.
        loop {
            let n_before = along.len();
            let mut at = 0;
            while let Some((_, to)) = along.get(at).copied() {
                let goes_on = along.iter().any(|(from, _)| *from == to);
                if goes_on { at += 1 } else { _ = along.swap_remove(at) }
            }
            if along.len() == n_before {
                return n_before > 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether there is a circle of who presses whom, written as numbers, 0 standing still.
    fn has_circle(presses: &[(usize, usize, Vec3)]) -> bool {
        let name = |number: usize| number.checked_sub(1);
        let press = |(from, to, way): &(usize, usize, Vec3)| Press {
            from: name(*from),
            to: name(*to),
            way: *way,
        };
        let all = presses.iter().map(press).collect();
        Presses { all, along: Vec::new() }.have_a_circle()
    }

    #[test]
    fn what_stands_on_a_ground_is_no_circle() {
        let (up, down) = (Vec3::Z, -Vec3::Z);
        assert!(!has_circle(&[]));
        assert!(!has_circle(&[(0, 1, up), (0, 2, up)]));
        // A stack, whatever order its bodies have; two in a corner.
        assert!(!has_circle(&[(0, 2, up), (1, 2, down), (1, 3, up)]));
        assert!(!has_circle(&[(0, 1, up), (0, 1, Vec3::X), (0, 2, up), (1, 2, Vec3::X)]));
    }

    #[test]
    fn what_is_pressed_from_both_sides_is() {
        let (up, down) = (Vec3::Z, -Vec3::Z);
        assert!(has_circle(&[(0, 1, up), (0, 1, down)]), "under a ceiling");
        assert!(has_circle(&[(0, 3, up), (0, 1, Vec3::X), (1, 2, Vec3::X), (0, 2, -Vec3::X)]));
        assert!(has_circle(&[(1, 2, up), (1, 2, down)]), "in a ring");
        let tray = [(0, 1, up), (1, 2, Vec3::X), (2, 3, Vec3::X), (1, 3, -Vec3::X)];
        assert!(has_circle(&tray), "two in a tray that moves");
        let wedge = Vec3::new(0.8, 0.0, 0.6);
        assert!(has_circle(&[(0, 1, wedge), (0, 1, wedge * Vec3::new(-1.0, 0.0, 1.0))]));
    }
}
