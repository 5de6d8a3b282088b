//! Where things may squeeze each other, and the answer without it.
//!
//! In a squeeze every body is pushed from opposite sides, so who pushes whom along some way comes
//! round in a circle: wall, cube, other wall, all that stands still being one. So are the links of a
//! robot, for joints hand on what pushes them: two fingers and what they hold are a circle. On a
//! ground nothing pushes down on what does not move, and there is none, however a robot lies on it.
//!
//! Friction pushes, too, either way along a side: a wheel that rolls on a ground beside a wall it
//! touches is squeezed if the wall pushes it and the ground holds it, and then the wall brakes it.
//!
//! Deliberately absent: squeezes by friction alone, which press nothing harder, of a robot's links
//! by each other, and by limbs that move as they are told.

use headland_base::Vec3;
use headland_base::maths::hypot;
use headland_sim::contact::hard::{self, Contact, Outcome};

use super::solving::{HOLDING, N_FEW, Now, Work};

/// Who presses whom: scratch.
#[derive(Default)]
pub(super) struct Presses {
    all: Vec<Press>,
    /// From whom to whom things are pushed along one way; none for what stands still.
    along: Vec<(Option<usize>, Option<usize>)>,
    /// Whom such pushes reach.
    reached: Vec<Option<usize>>,
}

/// A contact that presses: which robot, or what moves freely, presses which other.
#[derive(Clone, Copy, PartialEq)]
struct Press {
    from: Option<usize>,
    to: Option<usize>,
    way: Vec3,
    /// Of its friction; 0 where that is used up.
    mu: f64,
}

/// Cosines of less are those of sides that do not push along a way.
const ACROSS: f64 = 1e-9;

/// Loads that are not unique wander, but slowly: they are shared out anew every so many steps. In
/// each, a team that lies takes 52 µs per robot and step, not 30. Squeezes of a crowd that were taken
/// out once grow again as slowly: of twelve cylinders that are shoved a step took 24 ms, and takes 14.
const N_BETWEEN: u64 = 8;

/// Share of its strength up to which friction holds; beyond, it slides.
const HOLDS: f64 = 1.0 - 1e-6;

impl Work {
    /// Takes out of an answer what squeezes and moves nothing, and shares out evenly what is not
    /// unique where something slides. What limbs that move as they are told squeeze is theirs, and
    /// where no answer was found there is nothing to take out of it. `is_new` tells that nothing was
    /// known of it before.
    pub fn ease(
        &mut self,
        now: &Now<'_>,
        chosen: &[usize],
        found: Outcome,
        is_new: bool,
    ) -> Outcome {
        if found.residual > HOLDING.tolerance {
            return found;
        }
        let is_due = now.n_steps.is_multiple_of(N_BETWEEN);
        let may_squeeze = self.strengths.is_empty()
            && (is_due || is_new || self.contacts.len() <= N_FEW)
            && self.may_squeeze(now, chosen);
        let (problem, strengths, impulses, scratch) = self.posed();
        let may_share = scratch.is_loose() && is_due;
        if !may_squeeze && !may_share {
            return found;
        }
        hard::ease(&problem, strengths, impulses, found, may_squeeze, &HOLDING, scratch)
    }

    fn may_squeeze(&mut self, now: &Now<'_>, chosen: &[usize]) -> bool {
        self.presses.all.clear();
        let contacts = self.contacts.iter().zip(self.impulses.chunks_exact(3));
        for ((contact, impulse), block) in contacts.zip(chosen) {
            let Some(touch) = now.touch_of(*block).filter(|_| impulse[0] > 0.0) else { continue };
            let [from, to] = touch.seats.map(|seat| now.numbering.carrier(seat?));
            if from == to {
                continue;
            }
            let mu = if friction_share(contact, impulse) < HOLDS {
                contact.mu.max(contact.mu2)
            } else {
                0.0
            };
            let press = Press { from, to, way: touch.point.normal, mu };
            // Points of a flat side have one normal.
            match self.presses.all.last_mut() {
                Some(last) if *last == (Press { mu: last.mu, ..press }) => {
                    last.mu = last.mu.max(mu)
                }
                _ => self.presses.all.push(press),
            }
        }
        self.presses.all.len() <= HOLDING.n_newton_max && self.presses.have_a_circle()
    }
}

/// How much of its strength friction has used up, 1 where it slides.
fn friction_share(contact: &Contact, impulse: &[f64]) -> f64 {
    let share = |part: f64, mu: f64| if part == 0.0 { 0.0 } else { part / (mu * impulse[0]) };
    hypot(share(impulse[1], contact.mu), share(impulse[2], contact.mu2))
}

impl Presses {
    /// Whether along the way of any of them who presses whom comes round to it.
    fn have_a_circle(&mut self) -> bool {
        (0..self.all.len()).any(|i| {
            let way = self.all[i].way;
            let is_new = self.all[..i].iter().all(|before| before.way != way);
            is_new && self.have_a_circle_along(way)
        })
    }

    fn have_a_circle_along(&mut self, way: Vec3) -> bool {
        self.along.clear();
        for &Press { from, to, way: normal, mu } in &self.all {
            let (cosine, rub) = (normal.dot(way), mu * normal.cross(way).length());
            if cosine + rub > ACROSS {
                self.along.push((from, to));
            }
            if cosine - rub < -ACROSS {
                self.along.push((to, from));
            }
        }
        let Presses { all, along, reached } = self;
        along.sort_unstable();
        along.dedup();
        let mut those = all.iter().filter(|press| press.way == way);
        those.any(|press| {
            reached.clear();
            reached.push(press.to);
            let mut at = 0;
            while let Some(&here) = reached.get(at) {
                if here == press.from {
                    return true;
                }
                for (_, to) in along.iter().filter(|(from, _)| *from == here) {
                    if !reached.contains(to) {
                        reached.push(*to);
                    }
                }
                at += 1;
            }
            false
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether there is a circle of who presses whom, written as numbers, 0 standing still, where
    /// friction holds.
    fn has_circle_rubbing(mu: f64, presses: &[(usize, usize, Vec3)]) -> bool {
        let name = |number: usize| number.checked_sub(1);
        let press = |(from, to, way): &(usize, usize, Vec3)| Press {
            from: name(*from),
            to: name(*to),
            way: *way,
            mu,
        };
        let all = presses.iter().map(press).collect();
        Presses { all, ..Presses::default() }.have_a_circle()
    }

    /// The same where all slides.
    fn has_circle(presses: &[(usize, usize, Vec3)]) -> bool {
        has_circle_rubbing(0.0, presses)
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
    #[test]
    fn friction_closes_a_circle_only_with_a_push() {
        let up = Vec3::Z;
        assert!(!has_circle_rubbing(1.0, &[(0, 1, up), (0, 2, up)]), "friction alone");
        assert!(has_circle_rubbing(1.0, &[(0, 1, up), (0, 1, Vec3::X)]), "beside a wall");
        assert!(
            has_circle_rubbing(1.0, &[(0, 1, up), (1, 2, Vec3::X), (0, 2, up)]),
            "two on a ground"
        );
        // Uneven ground: friction would have to turn what pushes up into what pulls down.
        let uneven = [(0, 1, up), (0, 1, Vec3::new(0.3, 0.0, 0.95).normalize())];
        assert!(!has_circle_rubbing(1.0, &uneven));
        assert!(has_circle_rubbing(4.0, &uneven));
    }
}
