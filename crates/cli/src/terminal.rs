//! What a terminal may be given: text, and our own colours.
//!
//! Names in files, words of engines and metadata of recordings are other people's. None of them
//! moves the cursor, clears the screen or rings the bell: this is the door they all go through.

use std::borrow::Cow;

/// The text with every control character replaced but ends of lines, tabs and colours.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_control) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let n_bytes = match colour(rest) {
            Some(n_bytes) => {
                out.push_str(&rest[..n_bytes]);
                n_bytes
            }
            None => {
                out.push(char::REPLACEMENT_CHARACTER);
                rest.chars().next().map_or(0, char::len_utf8)
            }
        };
        rest = &rest[n_bytes..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_control(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

/// How long the colour is that a text begins with: `ESC [ 1;31 m`.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\x1b[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some("\x1b[".len() + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_pass_and_nothing_else_does() {
        let ours = "\x1b[1;31merror\x1b[0m:\tno\n";
        assert_eq!(harmless(ours), ours);
        assert!(matches!(harmless("plain ∞\n"), Cow::Borrowed(_)));
        assert_eq!(harmless("a\x1b[2Jb\x07\rc"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}c");
        assert_eq!(harmless("\x1b[31"), "\u{fffd}[31");
        assert_eq!(harmless("\u{9b}2J\x1b"), "\u{fffd}2J\u{fffd}");
    }
}
