//! Patterns of names: `*` stands for anything, also across slashes.
//!
//! Deliberately absent: `?`, brackets and braces. Names are short, and one rule is enough.

/// Whether `text` fits `pattern`.
pub fn matches(pattern: &str, text: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, wanted) in [
            ("/ball/pose", "/ball/pose", true),
            ("/ball/*", "/ball/pose", true),
            ("*/pose", "/ball/pose", true),
            ("/*/p*e", "/a/b/pose", true),
            ("*", "", true),
            ("/ball", "/ball/pose", false),
            ("/a*a", "/a", false),
            ("*", "ünï", true),
            ("gear_*", "gea", false),
            ("g*r_*", "gear_1", true),
        ] {
            assert_eq!(matches(pattern, text), wanted, "{pattern} on {text}");
        }
    }
}
