//! "Did you mean": the nearest known name to a misspelt one.

use std::cmp::Reverse;

/// So many names are compared letter by letter; of more, those most alike at both ends.
/// A robot of 10,000 links must not be searched whole for each of its misspellings.
const MOST_COMPARED: usize = 500;

/// The known name closest to `wrong`, when it is close enough to be a slip of the hand.
///
/// Close enough is a third of the letters, at least one: `radios` finds `radius`,
/// `mass` does not find `pose`. Ties go to the first in `known`.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A name of a megabyte is nobody's slip, and the distance is quadratic.
    if wrong.len() > 100 {
        return None;
    }
    let wrong_lower = wrong.to_lowercase();
    let limit = (wrong.chars().count() / 3).max(1);
    // A name that is longer or shorter by more than the limit is further away than that.
    let length = wrong.chars().count();
    let mut likely: Vec<&str> = known
        .into_iter()
        .filter(|name| name.len() <= 200 && name.chars().count().abs_diff(length) <= limit)
        .collect();
    if likely.len() > MOST_COMPARED {
        likely.sort_by_key(|name| Reverse(n_alike_at_ends(wrong, name)));
        likely.truncate(MOST_COMPARED);
    }
    likely
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&wrong_lower, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `did you mean `radius`?`, or the known names when none is near and they are few.
pub fn suggestion<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    if let Some(name) = nearest(wrong, known.clone()) {
        return Some(format!("did you mean `{name}`?"));
    }
    let few: Vec<String> =
        known.into_iter().take(MOST_LISTED + 1).map(|name| format!("`{name}`")).collect();
    (1..=MOST_LISTED).contains(&few.len()).then(|| format!("known here: {}", few.join(", ")))
}

/// More names than this are not listed: nobody reads them.
const MOST_LISTED: usize = 12;

/// How many letters two names share from the start and from the end: one slip of the hand
/// leaves all but one or two.
fn n_alike_at_ends(a: &str, b: &str) -> usize {
    let same = |(x, y): &(u8, u8)| x.eq_ignore_ascii_case(y);
    let from_start = a.bytes().zip(b.bytes()).take_while(same).count();
    let from_end = a.bytes().rev().zip(b.bytes().rev()).take_while(same).count();
    from_start + from_end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_a_stranger_is_not() {
        let known = ["radius", "length", "pose", "mass"];
        assert_eq!(nearest("radios", known), Some("radius"));
        assert_eq!(nearest("lenght", known), Some("length"));
        assert_eq!(nearest("Pose", known), Some("pose"));
        assert_eq!(nearest("gravity", known), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }

    /// Of many thousand names the right one is still found: the slip is in one place, so
    /// both ends are alike.
    #[test]
    fn the_right_one_of_many_is_found() {
        let many: Vec<String> = (0..20_000).map(|i| format!("link_{i:05}_body")).collect();
        let known = || many.iter().map(String::as_str);
        for (wrong, right) in [
            ("lunk_19998_body", "link_19998_body"),
            ("link_07777_bdoy", "link_07777_body"),
            ("link_1234_body", "link_12340_body"),
        ] {
            let found = nearest(wrong, known()).expect("one is near");
            let distance = |name: &str| strsim::damerau_levenshtein(wrong, name);
            assert_eq!(distance(found), distance(right), "{wrong}: {found}");
        }
    }

    #[test]
    fn without_a_near_name_the_few_known_ones_are_listed() {
        assert_eq!(
            suggestion("zzz", ["box", "sphere"]).as_deref(),
            Some("known here: `box`, `sphere`")
        );
        assert_eq!(suggestion("zzz", [] as [&str; 0]), None);
    }
}
