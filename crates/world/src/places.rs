//! Where each part of a world was written, so that a check of the finished world can
//! point into the file it came from.
//!
//! Kept beside the World and not in it: two worlds are equal when they say the same,
//! wherever they say it.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use headland_base::Place;

/// From the whole name of a part to where it was written.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// In the order they were noted. Nearly all worlds are sound and nobody asks, so noting
    /// one is a push, and sorting waits for the first question.
    noted: Vec<(String, Place)>,
    by_part: OnceCell<BTreeMap<String, usize>>,
}

impl Places {
    /// Remembers where a part was written. Parts are named by kind and whole name, and
    /// details by what follows a `#`:
    ///
    /// ```text
    /// model robot::arm
    /// link robot::arm::wrist       #inertial  #mass  #inertia
    /// collision robot::arm::wrist::shape
    /// joint robot::arm::elbow      #parent  #child  #axis  #axis2  #axis limit
    /// ```
    pub fn insert(&mut self, part: impl Into<String>, place: Place) {
        self.by_part.take();
        self.noted.push((part.into(), place));
    }

    /// Where a part was written, or else the part it is a detail of.
    pub fn find(&self, part: &str) -> Option<Place> {
        let whole = part.split_once('#').map_or(part, |(whole, _)| whole);
        // A shape whose own place nobody noted is in its link.
        let link = whole
            .strip_prefix("collision ")
            .and_then(|shape| shape.rsplit_once("::"))
            .map(|(link, _)| format!("link {link}"));
        let by_part = self.by_part.get_or_init(|| {
            self.noted.iter().enumerate().map(|(i, (part, _))| (part.clone(), i)).collect()
        });
        let noted =
            by_part.get(part).or_else(|| by_part.get(whole)).or_else(|| by_part.get(&link?));
        noted.map(|i| self.noted[*i].1.clone())
    }
}
