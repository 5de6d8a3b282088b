//! Pairs that are switched on: both links are there, they are two, may move against each other,
//! and nothing else keeps them apart.

use std::collections::{BTreeMap, BTreeSet};

use super::Checker;
use crate::{JointKind, ModelAt, PlacedJoint, PlacedLink, World, join_scope};

impl Checker<'_> {
    pub(super) fn contact_pairs(
        &mut self,
        world: &World,
        links: &[PlacedLink<'_>],
        joints: &[PlacedJoint<'_>],
    ) {
        let mut has_some = false;
        world.visit_models(&mut |at| has_some |= !at.model.contact_pairs.is_empty());
        if !has_some {
            return;
        }
        let (apart, held) = (Apart::of(world, links), Held::of(joints));
        world.visit_models(&mut |at| {
            for (first, second) in &at.model.contact_pairs {
                self.contact_pair(&at, (first, second), &apart, &held);
            }
        });
    }

    fn contact_pair(
        &mut self,
        at: &ModelAt<'_, '_>,
        (first, second): (&String, &String),
        apart: &Apart,
        held: &Held,
    ) {
        let [a, b] = [first, second].map(|name| join_scope(at.scope, name));
        for (name, whole) in [(first, &a), (second, &b)] {
            let part = self.noted_or_model(format!("contact_pair {whole}"), at.scope);
            let message = format!("`{name}` is to touch in a pair, and is not a link");
            self.link_of(at.scope, name, &message, &part, "");
        }
        if [&a, &b].iter().any(|whole| !self.link_index.contains_key(whole.as_str())) {
            return;
        }
        let why = if a == b {
            format!("`{first}` cannot touch itself")
        } else if held.last(&a) == held.last(&b) {
            format!("`{first}` and `{second}` are held together by fixed joints: they never touch")
        } else if let Some(by) = apart.by(&a, &b) {
            format!("`{first}` and `{second}` are to touch, and a {by} keeps them apart")
        } else if let Some((name, why)) = apart.idle([(first, &a), (second, &b)]) {
            let part = self.noted_or_model(format!("contact_pair {a} {b}"), at.scope);
            let message = format!("`{first}` and `{second}` are to touch, and `{name}` {why}");
            return self.warning("idle-contact-pair", message, &part);
        } else {
            return;
        };
        let part = self.noted_or_model(format!("contact_pair {a} {b}"), at.scope);
        self.error("bad-contact-pair", why, &part);
    }

    /// A part where its place is known, else the model it is in.
    fn noted_or_model(&self, part: String, scope: &str) -> String {
        if self.places.is_noted(&part) { part } else { format!("model {scope}") }
    }
}

/// What keeps links apart, by whole names.
struct Apart {
    pairs: BTreeSet<(String, String)>,
    sets: Vec<BTreeSet<String>>,
    /// Links that touch nothing, and why.
    idle: BTreeMap<String, &'static str>,
}

impl Apart {
    fn of(world: &World, links: &[PlacedLink<'_>]) -> Apart {
        let why = |(placed, touches): (&PlacedLink<'_>, bool)| match touches {
            true => placed.link.collisions.is_empty().then_some("has no collision"),
            false => Some("is kept out of contacts by `headland:touches`"),
        };
        let idle = links.iter().zip(world.touching_links());
        let idle = idle.filter_map(|both| Some((both.0.name.clone(), why(both)?))).collect();
        let mut out = Apart { pairs: BTreeSet::new(), sets: Vec::new(), idle };
        out.add_sets("", &world.contact_sets);
        world.visit_models(&mut |at| {
            for (a, b) in &at.model.contact_excludes {
                out.pairs.insert((join_scope(at.scope, a), join_scope(at.scope, b)));
            }
            out.add_sets(at.scope, &at.model.contact_sets);
        });
        out
    }

    fn add_sets(&mut self, scope: &str, sets: &[Vec<String>]) {
        let whole = |set: &Vec<String>| set.iter().map(|name| join_scope(scope, name)).collect();
        self.sets.extend(sets.iter().map(whole));
    }

    /// The first of some links, by name and whole name, that touches nothing, and why.
    fn idle<'a>(&self, links: [(&'a str, &str); 2]) -> Option<(&'a str, &'static str)> {
        links.into_iter().find_map(|(name, whole)| Some((name, *self.idle.get(whole)?)))
    }

    /// The element that keeps two links apart.
    fn by(&self, a: &str, b: &str) -> Option<&'static str> {
        let pair = |a: &str, b: &str| self.pairs.contains(&(a.to_string(), b.to_string()));
        if pair(a, b) || pair(b, a) {
            return Some("`headland:contact_exclude`");
        }
        let is_in_set = self.sets.iter().any(|set| set.contains(a) && set.contains(b));
        is_in_set.then_some("`headland:contact_set`")
    }
}

/// Links that fixed joints hold together: each leads to another of its own, and one of them to
/// none.
struct Held(BTreeMap<String, String>);

impl Held {
    fn of(joints: &[PlacedJoint<'_>]) -> Held {
        let mut out = Held(BTreeMap::new());
        for placed in joints.iter().filter(|placed| placed.joint.kind == JointKind::Fixed) {
            let Some(parent) = &placed.joint.parent else { continue };
            let ends = [parent, &placed.joint.child].map(|name| join_scope(&placed.scope, name));
            let [one, other] = ends.map(|end| out.last(&end).to_string());
            if one != other {
                out.0.insert(other, one);
            }
        }
        out
    }

    /// The one that stands for all it is held together with.
    fn last<'a>(&'a self, link: &'a str) -> &'a str {
        let mut at = link;
        while let Some(next) = self.0.get(at) {
            at = next;
        }
        at
    }
}
