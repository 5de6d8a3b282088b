//! "Did you mean": the nearest known name to a misspelt one.

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
    known
        .into_iter()
        .filter(|name| name.len() <= 200)
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
    let all: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    (!all.is_empty() && all.len() <= 12).then(|| format!("known here: {}", all.join(", ")))
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

    #[test]
    fn without_a_near_name_the_few_known_ones_are_listed() {
        assert_eq!(
            suggestion("zzz", ["box", "sphere"]).as_deref(),
            Some("known here: `box`, `sphere`")
        );
        assert_eq!(suggestion("zzz", [] as [&str; 0]), None);
    }
}
