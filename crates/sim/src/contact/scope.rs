//! The scope: which of the bodies that could touch are looked at, chosen by whoever runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Model;

/// Which contacts are looked for, beyond what the world itself rules out. Starts as all of
/// them; each word takes some away. Bodies are given by their indices in the model.
#[derive(Clone, Debug, Default)]
pub struct ContactScope {
    left_out: BTreeSet<usize>,
    /// Partners of each body it does not touch; every pair stands twice.
    off: BTreeMap<usize, BTreeSet<usize>>,
    led: BTreeSet<usize>,
    whole: BTreeSet<usize>,
}

impl ContactScope {
    /// Everything that may touch.
    pub fn all() -> ContactScope {
        ContactScope::default()
    }

    /// Switches one pair off.
    pub fn without_pair(mut self, a: usize, b: usize) -> ContactScope {
        self.switch_off(a, b);
        self
    }

    /// Switches off every pair of one body of the first set and one of the second. Given the
    /// same set twice, its bodies do not touch one another.
    pub fn without_between(mut self, first: &[usize], second: &[usize]) -> ContactScope {
        for &a in first {
            for &b in second {
                self.switch_off(a, b);
            }
        }
        self
    }

    /// These bodies touch nothing.
    pub fn without_bodies(mut self, bodies: &[usize]) -> ContactScope {
        self.left_out.extend(bodies);
        self
    }

    /// Of one robot only these bodies touch, such as its feet. Other robots are as before.
    pub fn only_of(mut self, model: &Model, robot: &str, bodies: &[usize]) -> ContactScope {
        let own = model.bodies.iter().enumerate().filter(|(_, body)| body.robot == robot);
        self.left_out.extend(own.map(|(i, _)| i).filter(|i| !bodies.contains(i)));
        self
    }

    /// These bodies go where they are told and no force moves them. Their contacts with what a
    /// force moves are looked for, and those that can keep them out of a wall or each other; not
    /// those within one robot, nor those with level ground.
    pub fn with_led(mut self, bodies: impl IntoIterator<Item = usize>) -> ContactScope {
        self.led.extend(bodies);
        self
    }

    /// These bodies belong to robots that forces move as one body each, whatever their joints
    /// do: contacts within one robot cancel out and are not looked for.
    pub fn with_whole(mut self, bodies: impl IntoIterator<Item = usize>) -> ContactScope {
        self.whole.extend(bodies);
        self
    }

    /// Whether a body's robot is moved as one.
    pub fn is_whole(&self, body: usize) -> bool {
        self.whole.contains(&body)
    }

    /// Whether a body goes where it is told.
    pub fn is_led(&self, body: usize) -> bool {
        self.led.contains(&body)
    }

    /// Whether a body touches anything at all.
    pub fn holds(&self, body: usize) -> bool {
        !self.left_out.contains(&body)
    }

    /// Whether a pair of bodies is looked at.
    pub fn holds_pair(&self, a: usize, b: usize) -> bool {
        self.holds(a)
            && self.holds(b)
            && !self.off.get(&a).is_some_and(|partners| partners.contains(&b))
    }

    /// Whether any pair of bodies is switched off on its own.
    pub(super) fn has_pairs_off(&self) -> bool {
        !self.off.is_empty()
    }

    fn switch_off(&mut self, a: usize, b: usize) {
        self.off.entry(a).or_default().insert(b);
        self.off.entry(b).or_default().insert(a);
    }
}
