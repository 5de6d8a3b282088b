//! Names that must differ: what stands side by side in one scope, and where each was written.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use headland_base::Place;

/// As long as there are no more than this, looking at each is quickest. Nearly every scope
/// but the world stays below.
pub(super) const FEW: usize = 8;

/// The names seen so far, in file order.
#[derive(Default)]
pub(super) struct Siblings {
    seen: Vec<(String, Place)>,
    /// Once there are many: from the hash of a name to its position. Of names that share a
    /// hash only the first is in here, so a find that is not the name proves nothing.
    by_hash: BTreeMap<u64, usize>,
    hasher: RandomState,
}

impl Siblings {
    /// Where a sibling of that name was written.
    pub fn find(&self, name: &str) -> Option<&Place> {
        let by_looking = || self.seen.iter().find(|(seen, _)| seen == name);
        let found = if self.seen.len() <= FEW {
            by_looking()
        } else {
            let first = &self.seen[*self.by_hash.get(&self.hasher.hash_one(name))?];
            if first.0 == name { Some(first) } else { by_looking() }
        };
        found.map(|(_, place)| place)
    }

    /// One more. Its name has been looked for and is not there.
    pub fn insert(&mut self, name: &str, place: Place) {
        self.seen.push((name.to_string(), place));
        let n_indexed = if self.seen.len() == FEW + 1 { 0 } else { self.seen.len() - 1 };
        if self.seen.len() > FEW {
            for (i, (name, _)) in self.seen.iter().enumerate().skip(n_indexed) {
                self.by_hash.entry(self.hasher.hash_one(name)).or_insert(i);
            }
        }
    }

    /// All of them, in file order.
    pub fn iter(&self) -> impl Iterator<Item = &(String, Place)> {
        self.seen.iter()
    }
}

#[cfg(test)]
mod tests {
    use headland_base::Source;

    use super::*;

    #[test]
    fn every_name_is_found_however_many_there_are() {
        let source = Source::new("t", "text");
        let mut siblings = Siblings::default();
        for i in 0..3 * FEW {
            let name = format!("part_{i}");
            assert!(siblings.find(&name).is_none());
            siblings.insert(&name, Place::new(&source, i..i + 1));
            for j in 0..=i {
                let found = siblings.find(&format!("part_{j}")).map(|place| place.span.start);
                assert_eq!(found, Some(j), "after {} names", i + 1);
            }
        }
        assert_eq!(siblings.iter().count(), 3 * FEW);
    }
}
