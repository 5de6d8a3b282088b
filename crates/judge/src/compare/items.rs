//! What is compared: numbers, and what several of them are together.
//!
//! | components | become |
//! |---|---|
//! | `x y z` | the distance between two vectors, `…/norm`; of a pose `…/position` |
//! | `qx qy qz qw`, or `x y z w` | the angle between two orientations, `…/orientation` or `…/angle` |
//! | `0 1 2 …` | the distance between two lists, `…/norm` |
//!
//! The components of a quaternion mean nothing one by one, since q and −q are the same
//! orientation; they are compared only where somebody asks for them by name.

use std::collections::{BTreeMap, BTreeSet};

/// What an item is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The number itself.
    Number,
    /// The keys of its components.
    Vector(Vec<String>),
    /// The keys of x, y, z and w.
    Orientation([String; 4]),
    /// A path of poses, by the key of the pose.
    Path,
}

/// Something to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub key: String,
    pub what: What,
    /// Whether it is compared without being asked for by name.
    pub is_usual: bool,
}

const QUATERNION: [&str; 4] = ["qx", "qy", "qz", "qw"];
const FOUR: [&str; 4] = ["x", "y", "z", "w"];

/// The components of a pose's orientation as angles: they are answered where they are asked for.
const ANGLES: [&str; 3] = ["roll", "pitch", "yaw"];

/// Everything that can be compared of these keys, sorted.
pub(super) fn items<'k>(keys: impl Iterator<Item = &'k str> + Clone) -> Vec<Item> {
    let mut parts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (base, part) in keys.clone().filter_map(|key| key.rsplit_once('/')) {
        parts.entry(base).or_default().insert(part);
    }
    let mut items = Vec::new();
    for key in keys {
        let (base, part) = key.rsplit_once('/').unwrap_or(("", key));
        let has = |wanted: &[&str]| parts.get(base).is_some_and(|all| has_all(all, wanted));
        let is_quaternion = (QUATERNION.contains(&part) && has(&QUATERNION))
            || (FOUR.contains(&part) && has(&FOUR));
        items.push(Item { key: key.to_string(), what: What::Number, is_usual: !is_quaternion });
    }
    for (base, all) in &parts {
        together(base, all, &mut items);
    }
    items.sort_by(|a, b| a.key.cmp(&b.key));
    items.dedup_by(|later, first| later.key == first.key);
    items
}

fn has_all(all: &BTreeSet<&str>, wanted: &[&str]) -> bool {
    wanted.iter().all(|part| all.contains(part))
}

fn together(base: &str, all: &BTreeSet<&str>, items: &mut Vec<Item>) {
    let is_pose = base == "pose" || base.ends_with("/pose");
    let under = |part: &str| format!("{base}/{part}");
    let mut put = |part: &str, what: What, is_usual: bool| {
        items.push(Item { key: under(part), what, is_usual });
    };
    if has_all(all, &QUATERNION) {
        put("orientation", What::Orientation(QUATERNION.map(under)), true);
    }
    if has_all(all, &FOUR) {
        put("angle", What::Orientation(FOUR.map(under)), true);
    } else if has_all(all, &FOUR[..3]) {
        let part = if is_pose { "position" } else { "norm" };
        put(part, What::Vector(FOUR[..3].iter().map(|part| under(part)).collect()), true);
    }
    if is_pose && has_all(all, &QUATERNION) && has_all(all, &FOUR[..3]) {
        put("path", What::Path, true);
        for angle in ANGLES {
            put(angle, What::Number, false);
        }
    }
    let n = all.iter().filter(|part| part.parse::<u32>().is_ok()).count();
    let numbered: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    if n >= 2 && numbered.iter().all(|i| all.contains(i.as_str())) {
        put("norm", What::Vector(numbered.iter().map(|part| under(part)).collect()), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_put_together() {
        let keys = [
            "ball/pose/x",
            "ball/pose/y",
            "ball/pose/z",
            "ball/pose/qx",
            "ball/pose/qy",
            "ball/pose/qz",
            "ball/pose/qw",
            "imu/orientation/x",
            "imu/orientation/y",
            "imu/orientation/z",
            "imu/orientation/w",
            "scan/ranges/0",
            "scan/ranges/1",
            "wrist/linear_vel/x",
            "wrist/linear_vel/y",
            "foot/force/x",
            "foot/force/y",
            "foot/force/z",
            "battery",
        ];
        let items = items(keys.into_iter());
        let usual: Vec<&str> =
            items.iter().filter(|i| i.is_usual).map(|i| i.key.as_str()).collect();
        assert_eq!(
            usual,
            [
                "ball/pose/orientation",
                "ball/pose/path",
                "ball/pose/position",
                "ball/pose/x",
                "ball/pose/y",
                "ball/pose/z",
                "battery",
                "foot/force/norm",
                "foot/force/x",
                "foot/force/y",
                "foot/force/z",
                "imu/orientation/angle",
                "scan/ranges/0",
                "scan/ranges/1",
                "scan/ranges/norm",
                "wrist/linear_vel/x",
                "wrist/linear_vel/y",
            ]
        );
        assert!(items.iter().any(|i| i.key == "ball/pose/qx" && !i.is_usual));
        assert!(items.iter().any(|i| i.key == "ball/pose/yaw" && !i.is_usual));
    }
}
